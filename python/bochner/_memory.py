"""Memory of large results.

Fresh memory costs: the system clears every page before it is written, which for features of few
columns takes as long as the features themselves. So the memory of one large result is kept when the
result goes, for the next one, as allocators keep small blocks. The system takes it back whenever it
runs short (``MADV_FREE``). It begins at a page, so that rows of whole cache lines can be written past
the caches.
"""

import mmap
import sys
from contextlib import suppress

import numpy as np

#: Results of fewer bytes come from numpy, which keeps such blocks by itself.
LARGE = 16 << 20
_CAN_KEEP = sys.platform == "linux" and hasattr(mmap, "MADV_FREE")
#: The memory of the last large result that went, at most one.
_kept: list = []


class _Block:
    """Memory of one array, its base; what it has goes back when the last view of the array does."""

    def __init__(self, memory, shape, dtype):
        self.memory = memory
        address = np.frombuffer(memory, np.uint8).ctypes.data
        self.__array_interface__ = {
            "version": 3,
            "shape": shape,
            "typestr": np.dtype(dtype).str,
            "data": (address, False),
        }

    def __del__(self):
        with suppress(OSError):
            self.memory.madvise(mmap.MADV_FREE)
            _kept[:] = [self.memory]


def empty(rows, columns, dtype):
    """An array that nothing is written to yet, as ``np.empty``.

    Parameters
    ----------
    rows, columns : int
        Its shape.

    dtype : dtype
        Of float32 or float64.

    Returns
    -------
    ndarray of shape (rows, columns)
    """
    bytes = rows * columns * np.dtype(dtype).itemsize
    if not _CAN_KEEP or bytes < LARGE:
        return np.empty((rows, columns), dtype)
    try:
        memory = _kept.pop()
    except IndexError:
        memory = None
    # Twice what is needed would hold more than the result says.
    if memory is None or not bytes <= len(memory) <= 2 * bytes:
        memory = _fresh(bytes)
    return np.asarray(_Block(memory, (rows, columns), dtype))


def _fresh(bytes):
    try:
        memory = mmap.mmap(-1, bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(f"no memory for a result of {bytes} bytes: {error.strerror}") from error
    # Not every system has large pages.
    with suppress(OSError):
        memory.madvise(mmap.MADV_HUGEPAGE)
    return memory
