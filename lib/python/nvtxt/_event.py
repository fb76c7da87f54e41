# SPDX-License-Identifier: Apache-2.0
"""What an event bears, as the bytes of struct nvtxt_attr.

The events of one place in a program differ in their payload only: the rest
is made once, and kept for the newest places.
"""
import ctypes
import functools
import itertools
import json
import operator
import struct
from typing import Any, Callable, Dict, Iterator, Optional, Tuple

from nvtxt import _library

# By the type of the value: size, message, string, json, category, color, value_kind, reserved,
# value.
_SIGNED, _UNSIGNED, _DOUBLE = (struct.Struct("NPPPIIII" + value).pack for value in "qQd")
_ATTR_BYTES = struct.calcsize("NPPPIIIIq")
_U64, _I64, _F64 = 1, 2, 3  # enum nvtxt_value_kind
_NO_NUMBER = _SIGNED, 0, 0

_PLACES = 1024            # whose events are kept
_MOST_CATEGORIES = 65536  # so many names libnvtxt keeps
_NUL = "\ufffd".encode()  # what stands for it: a text of C ends there

_domains: Dict[str, Optional[int]] = {}
_categories: Dict[Tuple[Optional[int], str], int] = {}
_numbers: Dict[Optional[int], Iterator[int]] = {}  # for the next categories of a domain
_has_levels = False  # of a log: 64-bit integers from 0 to 7 are levels, so no other value is one


def text(value: Any) -> bytes:
    """A text of C: UTF-8 without NUL. None is empty, and what has no text."""
    if value is None:
        return b""
    try:
        raw = value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
    except Exception:
        return b""
    return raw.replace(b"\0", _NUL)


def find_domain(name: Optional[str]) -> Optional[int]:
    """The handle; None for none, and when there are too many."""
    if name is None:
        return None
    handle = _domains.get(name)
    if handle is None:
        handle = _library.domain_get(text(name))
        if handle is not None:
            _domains[name] = handle
    return handle


def find_category(domain: Optional[int], category: Any) -> int:
    """The number of a name, which is named in its domain; a number is its own. 0: none."""
    if category is None:
        return 0
    if not isinstance(category, str):
        return operator.index(category) & 0xFFFFFFFF
    # Without a lock: a signal handler, or another thread, may be here too. Then a number is unused.
    number = _categories.get((domain, category), 0)
    if not number and len(_categories) < _MOST_CATEGORIES:
        made = next(_numbers.setdefault(domain, itertools.count(1)))
        number = _categories.setdefault((domain, category), made)
        if number == made:
            _library.name_category(domain, number, text(category))
    return number


def begin_levels() -> None:
    """Says that the program has a log, if it is not too late."""
    global _has_levels
    options = _library.Options(size=ctypes.sizeof(_library.Options), levels=1)
    _has_levels = _has_levels or _library.init(ctypes.byref(options)) == 0


def read_color(color: Any) -> int:
    """0xAARRGGBB; 0 for none."""
    if color is None:
        return 0
    if isinstance(color, str):
        return int(_library.color(text(color)))
    number = operator.index(color)
    return (number if number >> 24 else number | 0xFF000000) & 0xFFFFFFFF


def _try(read: Callable[..., Any], *arguments: Any) -> Any:
    """What is read; None for what cannot be."""
    try:
        return read(*arguments)
    except Exception:
        return None


class Event:
    """What the events of one place have in common; `attr` is one without a payload."""

    __slots__ = ("domain", "attr", "_text", "_address", "_category", "_color")

    def __init__(self, message: Any, color: Any, category: Any, domain: Optional[str],
                 reader: Callable[[Any], int] = read_color) -> None:
        self.domain: Optional[int] = _try(find_domain, domain)
        self._text = ctypes.create_string_buffer(text(message))
        self._address = ctypes.addressof(self._text)
        self._category: int = _try(find_category, self.domain, category) or 0
        self._color: int = _try(reader, color) or 0
        self.attr = self._pack(*_NO_NUMBER)

    def _pack(self, pack: Any, kind: int, value: Any, json_address: int = 0) -> bytes:
        attr: bytes = pack(_ATTR_BYTES, self._address, 0, json_address, self._category,
                           self._color, kind, 0, value)
        return attr

    def record_line(self, call: Any, line: str, level: int) -> None:
        """A line of a log, in place of the message; see nvtxt-protocol(7), levels."""
        kept = ctypes.create_string_buffer(text(line))
        call(self.domain, _SIGNED(_ATTR_BYTES, ctypes.addressof(kept), 0, 0, self._category,
                                  self._color, _I64, 0, level))

    def record(self, call: Any, payload: Any) -> Any:
        """Calls with the domain and the attributes; returns what the call does."""
        if payload is None:
            return call(self.domain, self.attr)
        attr, value = self.attr, None
        try:
            number = read_number(payload)
            if number:
                attr = self._pack(*number)
            else:
                value = ctypes.create_string_buffer(_json(payload))
                attr = self._pack(*_NO_NUMBER, ctypes.addressof(value))
        except Exception:  # it is left out
            pass
        return call(self.domain, attr)


def read_number(payload: Any) -> Optional[Tuple[Any, int, Any]]:
    """How a number is packed, its kind, its value; None for what is none."""
    if isinstance(payload, (str, bytes, list, tuple, dict)):
        return None
    try:
        value = operator.index(payload)
    except TypeError:
        try:
            return _DOUBLE, _F64, float(payload)
        except (TypeError, ValueError):
            return None
    if -1 << 63 <= value < 1 << 63 and not (_has_levels and 0 <= value < 8):
        return _SIGNED, _I64, value
    if 0 <= value < 1 << 64:
        return _UNSIGNED, _U64, value
    return _DOUBLE, _F64, float(value)


def is_int64(number: Tuple[Any, int, Any]) -> bool:
    """Whether a number goes as an int64 wherever it stands: a log's values do not."""
    return number[1] == _I64 and not _has_levels


def _plain(value: Any) -> Any:
    """What JSON does not know: an array as its values, anything else as its text."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _json(payload: Any) -> bytes:
    if isinstance(payload, bytes):
        payload = payload.decode("utf-8", "replace")
    return json.dumps(payload, default=_plain, allow_nan=False).encode()


_kept = functools.lru_cache(_PLACES)(Event)


def find(message: Any, color: Any, category: Any, domain: Optional[str],
         reader: Callable[[Any], int] = read_color) -> Event:
    """The event of a place; `reader` reads its colour. What cannot be read is left out."""
    try:
        return _kept(message, color, category, domain, reader)
    except Exception:  # what cannot be a key
        return Event(message, color, category, domain, reader)
