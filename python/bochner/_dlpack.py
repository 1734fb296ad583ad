"""Arrays of other libraries, such as tensors of torch, where they lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import validate_data

if TYPE_CHECKING:
    from typing import Any

#: Devices of DLPack whose memory numpy reads: host memory, that of CUDA and ROCm, and managed memory.
_HOST = (1, 3, 11, 13)


def host(array: Any, name: str = "X") -> Any:
    """What has `__dlpack__` as an array of numpy that shares its memory; anything else as it is.

    Parameters
    ----------
    array : object

    name : str, default='X'
        What an error calls it.
    """
    if isinstance(array, np.ndarray) or not hasattr(type(array), "__dlpack_device__"):
        return array
    kind = int(array.__dlpack_device__()[0])
    if kind not in _HOST:
        raise ValueError(
            f"{name} lies in the memory of a device (DLPack's kind {kind}); move it to the host's first, "
            "in torch by .cpu()"
        )
    try:
        return np.from_dlpack(array)
    except (BufferError, RuntimeError, TypeError) as reason:
        # A library's own way may take what DLPack does not, such as text.
        if hasattr(type(array), "__array__"):
            return array
        raise ValueError(
            f"{name} is no array that numpy can read ({reason}); give float32 or float64 numbers"
        ) from reason


def validated(estimator: Any, X: Any, *y: Any, **checks: Any) -> Any:
    """`validate_data` of scikit-learn, of anything that `host` takes."""
    return validate_data(estimator, host(X), *(host(each, "y") for each in y), **checks)
