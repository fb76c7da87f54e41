# SPDX-License-Identifier: Apache-2.0
"""libnvtxt's functions, as nvtxt.h has them; None in their places where it is not installed.

Calls that record keep the interpreter's lock: they never wait, and to give
the lock away costs more than they do. Those that wait give it away.
"""
import ctypes
import os
from typing import Any


def _load(kind: Any) -> Any:
    here = os.path.dirname(os.path.realpath(__file__))  # PREFIX/share/nvtxtd/python/nvtxt
    prefix = os.path.normpath(os.path.join(here, "..", "..", "..", ".."))
    try:
        return kind("libnvtxt.so.0")
    except OSError:
        return kind(os.path.join(prefix, "lib", "libnvtxt.so.0"))


def _take(library: Any, name: str, result: Any, *arguments: Any) -> Any:
    function = getattr(library, name)
    function.restype = result
    function.argtypes = arguments
    return function


class Options(ctypes.Structure):
    """struct nvtxt_options."""

    _fields_ = [("size", ctypes.c_size_t), ("socket", ctypes.c_char_p), ("name", ctypes.c_char_p),
                ("spool", ctypes.c_char_p), ("ring_bytes", ctypes.c_uint64),
                ("window_bytes", ctypes.c_uint64), ("exit_ms", ctypes.c_uint32),
                ("levels", ctypes.c_uint32)]


_text, _handle = ctypes.c_char_p, ctypes.c_void_p
_u32, _u64, _i64 = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int64

try:
    _quick = _load(ctypes.PyDLL)
    _waiting = _load(ctypes.CDLL)
    mark = _take(_quick, "nvtxt_mark", None, _text)
    mark_ex = _take(_quick, "nvtxt_mark_ex", None, _handle, _text)
    push = _take(_quick, "nvtxt_push", None, _text)
    push_ex = _take(_quick, "nvtxt_push_ex", None, _handle, _text)
    pop = _take(_quick, "nvtxt_pop", None)
    pop_ex = _take(_quick, "nvtxt_pop_ex", None, _handle, _text)
    start_ex = _take(_quick, "nvtxt_start_ex", _u64, _handle, _text)
    end = _take(_quick, "nvtxt_end", None, _u64)
    domain_get = _take(_quick, "nvtxt_domain_get", _handle, _text)
    string_get = _take(_quick, "nvtxt_string_get", _handle, _text)
    sample_i64 = _take(_quick, "nvtxt_sample_i64", None, _handle, _handle, _i64)
    sample_f64 = _take(_quick, "nvtxt_sample_f64", None, _handle, _handle, ctypes.c_double)
    name_category = _take(_quick, "nvtxt_name_category", None, _handle, _u32, _text)
    name_thread = _take(_quick, "nvtxt_name_thread", None, _u32, _text)
    color = _take(_quick, "nvtxt_color", _u32, _text)
    init = _take(_quick, "nvtxt_init", ctypes.c_int, ctypes.POINTER(Options))
    flush = _take(_waiting, "nvtxt_flush", ctypes.c_int, ctypes.c_int)
    finish = _take(_waiting, "nvtxt_finish", None)
    IS_THERE = True
except (AttributeError, OSError):  # none, or one that is too old
    mark = mark_ex = push = push_ex = pop = pop_ex = start_ex = end = domain_get = None
    string_get = sample_i64 = sample_f64 = name_category = name_thread = color = None
    init = flush = finish = None
    IS_THERE = False
