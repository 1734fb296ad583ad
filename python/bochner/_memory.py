"""Memory for large results, reused between calls.

The system clears new memory pages before they are written, which takes as long as the computation
of features of few columns. The memory of one large result is therefore kept for the next one when
the result is deleted. The system can reclaim it at any time (``MADV_FREE``). It is page-aligned,
which allows non-temporal stores of whole cache lines.
"""

import mmap
import sys
from contextlib import suppress

import numpy as np

#: Results of fewer bytes are allocated by NumPy, whose allocator reuses such blocks.
LARGE = 16 << 20
_CAN_KEEP = sys.platform == "linux" and hasattr(mmap, "MADV_FREE")
#: Memory of the last deleted large result; at most one entry.
_kept: list = []


class _Block:
    """Base object of one array; returns the memory to `_kept` when its last view is deleted."""

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
    """Uninitialised array, like ``np.empty``, in reused memory if it is large.

    Parameters
    ----------
    rows, columns : int
        Shape of the array.

    dtype : dtype
        float32 or float64.

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
    # Do not reuse memory of more than twice the size.
    if memory is None or not bytes <= len(memory) <= 2 * bytes:
        memory = _fresh(bytes)
    return np.asarray(_Block(memory, (rows, columns), dtype))


def _fresh(bytes):
    try:
        memory = mmap.mmap(-1, bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(f"no memory for a result of {bytes} bytes: {error.strerror}") from error
    # Some systems do not support huge pages.
    with suppress(OSError):
        memory.madvise(mmap.MADV_HUGEPAGE)
    return memory
