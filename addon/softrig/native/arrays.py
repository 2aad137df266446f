# SPDX-License-Identifier: GPL-3.0-or-later
"""Arrays on their way to C: contiguous float32 and int32, kept alive by the caller for the call."""

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]
IntArray = NDArray[np.int32]


def as_floats(values: Any) -> FloatArray:
    """A contiguous float32 array; the same object when it is one already."""
    return np.ascontiguousarray(values, dtype=np.float32)


def as_ints(values: Any) -> IntArray:
    """A contiguous int32 array; the same object when it is one already."""
    return np.ascontiguousarray(values, dtype=np.int32)


def float_pointer(array: FloatArray | None) -> Any:
    """Null for None and for nothing inside. Refuses what would have to be copied."""
    return _pointer(array, np.float32, ctypes.c_float)


def int_pointer(array: IntArray | None) -> Any:
    """Null for None and for nothing inside. Refuses what would have to be copied."""
    return _pointer(array, np.int32, ctypes.c_int32)


def _pointer(array: Any, kind: type, c_kind: type) -> Any:
    if array is None or array.size == 0:
        return None
    if array.dtype != kind or not array.flags.c_contiguous:
        raise TypeError(f"expected a contiguous array of {kind.__name__}, got {array.dtype}")
    return array.ctypes.data_as(ctypes.POINTER(c_kind))
