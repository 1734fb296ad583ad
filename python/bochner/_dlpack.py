"""Arrays of other libraries, such as torch tensors, without copies (DLPack)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import validate_data

if TYPE_CHECKING:
    from typing import Any

#: DLPack device types that NumPy can read: CPU, and pinned or managed memory of CUDA and ROCm.
_HOST = (1, 3, 11, 13)


def host(array: Any, name: str = "X") -> Any:
    """Convert an object with `__dlpack__` to a NumPy array that shares its memory.

    Parameters
    ----------
    array : object
        Array of any library. Objects without `__dlpack__` are returned unchanged.

    name : str, default='X'
        Name of the argument in error messages.
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
        # `__array__` may support data that DLPack does not, such as text.
        if hasattr(type(array), "__array__"):
            return array
        raise ValueError(
            f"{name} is no array that numpy can read ({reason}); give float32 or float64 numbers"
        ) from reason


def validated(estimator: Any, X: Any, *y: Any, **checks: Any) -> Any:
    """`sklearn.utils.validation.validate_data`, after `host`."""
    return validate_data(estimator, host(X), *(host(each, "y") for each in y), **checks)
