# SPDX-License-Identifier: Apache-2.0
"""Records what a program does: moments, ranges of time, counters, its log.

    import nvtxt

    @nvtxt.annotate
    def load(path):
        with nvtxt.range("parse", color="green", category="input"):
            ...
        nvtxt.mark("loaded", payload=17)
        nvtxt.counter("queue", 3)

The events are rows of the store of nvtxtd(1) a moment later. A call writes
into memory and returns: it never waits, and it never raises into the
program. Where libnvtxt is not installed, all of this does nothing.

All events take the same arguments. message is a text; color is a CSS name,
"#RRGGBB", "#AARRGGBB" or an integer, 0xRRGGBB or 0xAARRGGBB; category is a
name or a number; payload is a number, or anything that JSON can say; domain
is the name of a library, which keeps its categories and its ranges apart.
What cannot be read is left out; the event is recorded.

logging.getLogger().addHandler(nvtxt.Handler()) records the log. Programs
for NVIDIA's package nvtx run after ``import nvtxt.compat.nvtx as nvtx``.
nvtxt-python(7) says all of it.
"""
import contextlib
import functools
import sys
from typing import Any, Callable, List, Optional, Tuple

from nvtxt import _event, _library, _life
from nvtxt._log import Handler

__all__ = ["Handler", "Range", "annotate", "counter", "enabled", "end", "flush", "mark",
           "name_thread", "range", "start"]

_Function = Callable[..., Any]

# The calls of each event, without a look into another module.
_mark, _push, _push_ex = _library.mark, _library.push, _library.push_ex
_pop, _pop_ex, _end = _library.pop, _library.pop_ex, _library.end
_here, _getframe = _life.here, sys._getframe


def enabled() -> bool:
    """Whether events are recorded: libnvtxt is there."""
    return _library.IS_THERE


# ---- Ranges -------------------------------------------------------------------------------------

_COROUTINE, _GENERATOR, _ASYNC_GENERATOR = 0x80, 0x20, 0x200  # in the flags of code
_CAN_PAUSE = _COROUTINE | _GENERATOR | _ASYNC_GENERATOR | 0x100
_CONTEXTLIB = contextlib.contextmanager.__code__.co_filename  # an ExitStack may be anybody's


def _can_pause(frame: Any) -> bool:
    """Whether other code of the thread may run before the end of a with statement there."""
    code = frame.f_code
    return bool(code.co_flags & _CAN_PAUSE) or code.co_filename == _CONTEXTLIB


class Range:
    """A range of time: a context manager, and a decorator.

    In a coroutine or a generator it belongs to that one, and any thread may
    end it (a start/end range); else it is on the stack of its thread.
    """

    _NAME = "__qualname__"  # of what is decorated without a message
    __slots__ = ("_message", "_event", "_payload", "_open", "_arguments", "__weakref__")

    def __init__(self, message: Any = "", color: Any = None, category: Any = None,
                 payload: Any = None, domain: Optional[str] = None) -> None:
        self._event: Optional[_event.Event] = None
        self._payload = payload
        self._open: Optional[List[Tuple[int, int]]] = None
        self._arguments = message, color, category, payload, domain
        try:
            if color is None and category is None and payload is None and domain is None:
                self._message = message.encode()
                if b"\0" in self._message:
                    self._message = _event.text(message)
            else:
                self._event = _event.find(message, color, category, domain)
        except Exception:
            self._message = _event.text(message)

    def __reduce__(self) -> Any:
        return type(self), self._arguments

    # On the stack of its thread a range of code that pauses could end another task's.
    def __enter__(self) -> "Range":
        try:
            _here.seen
            frame = _getframe(1)
            if _can_pause(frame):
                self._open = self._open or []
                self._open.append((id(frame), self._start()))
            elif self._event is None:
                _push(self._message)
            elif self._payload is None:
                _push_ex(self._event.domain, self._event.attr)
            else:
                self._event.record(_push_ex, self._payload)
        except Exception:
            pass
        return self

    def __exit__(self, *_: Any) -> None:
        try:
            if self._open and self._end_own(_getframe(1)):
                pass
            elif self._event is None:
                _pop()
            else:
                _pop_ex(self._event.domain, None)
        except Exception:
            pass

    def _end_own(self, frame: Any) -> bool:
        """Ends the newest that this frame began; where another one may have, the newest of all."""
        assert self._open
        own = [one for one in self._open if one[0] == id(frame)]
        if not own and not _can_pause(frame):
            return False
        ended = (own or self._open)[-1]
        self._open.remove(ended)  # by its number: other threads may use the list
        _end(ended[1])
        return True

    def _start(self) -> int:
        try:
            _here.seen
            event = self._event or _event.find(self._message, None, None, None)
            return int(event.record(_library.start_ex, self._payload))
        except Exception:
            return 0

    def _push(self) -> None:
        try:
            _here.seen
            if self._event is None:
                _push(self._message)
            else:
                self._event.record(_push_ex, self._payload)
        except Exception:
            pass

    def _pop(self) -> None:
        if self._event is None:
            _pop()
        else:
            _pop_ex(self._event.domain, None)

    def _named(self, function: _Function) -> "Range":
        """With a function's name, if it has none."""
        message = self._arguments[0]
        if message is not None and not (isinstance(message, (str, bytes)) and not message):
            return self
        name = getattr(function, self._NAME, type(function).__name__)
        return type(self)(name, *self._arguments[1:])

    def __call__(self, function: _Function) -> _Function:
        """Decorates a function: each call is a range. What is no function is left as it is."""
        if isinstance(function, (classmethod, staticmethod)):
            return type(function)(self(function.__func__))
        if isinstance(function, type) or not callable(function):
            return function
        made = self._named(function)
        flags = getattr(getattr(function, "__code__", None), "co_flags", 0)
        if flags & _ASYNC_GENERATOR:  # a wrapper would lose asend() and athrow()
            return function
        kind = (_of_coroutine if flags & _COROUTINE else
                _of_generator if flags & _GENERATOR else _of_function)
        return functools.wraps(function)(kind(made, function))


# What is decorated knows its range by that object alone, so that it can be pickled by value.
def _of_function(made: Range, function: _Function) -> _Function:
    def decorated(*args: Any, **kwargs: Any) -> Any:
        made._push()
        try:
            return function(*args, **kwargs)
        finally:
            made._pop()
    return decorated


def _of_coroutine(made: Range, function: _Function) -> _Function:
    async def decorated(*args: Any, **kwargs: Any) -> Any:
        number = made._start()
        try:
            return await function(*args, **kwargs)
        finally:
            end(number)
    return decorated


def _of_generator(made: Range, function: _Function) -> _Function:
    def decorated(*args: Any, **kwargs: Any) -> Any:
        number = made._start()
        try:
            return (yield from function(*args, **kwargs))
        finally:
            end(number)
    return decorated


def _is_function(message: Any) -> bool:
    """Whether it was decorated without parentheses: descriptors are."""
    return callable(message) or hasattr(message, "__get__")


def annotate(message: Any = "", color: Any = None, category: Any = None, payload: Any = None,
             domain: Optional[str] = None) -> Any:
    """Decorates a function: each call is a range, by default of its name.

    @annotate, or @annotate("name", color="red"). Coroutines and generators
    are ranges from their first step to their last; async generators are
    left as they are. With arguments it is a context manager, too.
    """
    if _is_function(message):
        return Range()(message)
    return Range(message, color, category, payload, domain)


# ---- Events -------------------------------------------------------------------------------------

def mark(message: Any = "", color: Any = None, category: Any = None, payload: Any = None,
         domain: Optional[str] = None) -> None:
    """Records this moment."""
    try:
        _here.seen
        if color is None and category is None and payload is None and domain is None:
            _mark(_event.text(message))
        else:
            _event.find(message, color, category, domain).record(_library.mark_ex, payload)
    except Exception:
        pass


def start(message: Any = "", color: Any = None, category: Any = None, payload: Any = None,
          domain: Optional[str] = None) -> int:
    """Begins a range that any thread or task may end; returns its number for end().

    0, which end() takes as well: nothing was recorded.
    """
    try:
        _here.seen
        event = _event.find(message, color, category, domain)
        return int(event.record(_library.start_ex, payload))
    except Exception:
        return 0


def end(number: int) -> None:
    """Ends the range of start().

    0, a number that is not known, or one for the second time: does nothing.
    """
    try:
        _end(number)
    except Exception:
        pass


def counter(name: str, value: float, domain: Optional[str] = None) -> None:
    """Records the value of a counter at this moment. What is no number is left out."""
    try:
        _here.seen
        number = _event.read_number(value)
        if number and _event.is_int64(number):
            _library.sample_i64(_event.find_domain(domain), _string(name), number[2])
        elif number:
            _library.sample_f64(_event.find_domain(domain), _string(name), float(number[2]))
    except Exception:
        pass


@functools.lru_cache(None)  # libnvtxt keeps them as long
def _string(name: str) -> int:
    return int(_library.string_get(_event.text(name)))


def name_thread(name: Any) -> None:
    """Names the thread that calls. A Thread of threading brings its name."""
    try:
        _here.seen
        _library.name_thread(0, _event.text(name))
    except Exception:
        pass


def flush(timeout: float = 1.0) -> bool:
    """Waits until all that was recorded is stored, for so many seconds at most.

    Returns whether it is. Nobody needs it for an orderly end, nor in a
    worker of multiprocessing; os._exit() alone is no orderly end.
    """
    try:
        most_ms = int(max(0.0, min(timeout * 1000, 2.0 ** 31 - 1)))
        return bool(_library.flush(most_ms) == 0)
    except Exception:
        return False


# ---- Without the library ------------------------------------------------------------------------

class _Nothing:
    """A range that is none; as a decorator it gives the function back."""

    def __enter__(self) -> "_Nothing":
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def __call__(self, function: _Function) -> _Function:
        return function


_NOTHING = _Nothing()


def _no_range(*_: Any, **__: Any) -> _Nothing:
    return _NOTHING


def _no_annotate(message: Any = "", *_: Any, **__: Any) -> Any:
    return message if _is_function(message) else _NOTHING


def _do_nothing(*_: Any, **__: Any) -> None:
    pass


def _start_nothing(*_: Any, **__: Any) -> int:
    return 0


def _store_nothing(timeout: float = 1.0) -> bool:
    return False


range: Any = Range
if _library.IS_THERE:
    _life.begin()
else:
    range, annotate, mark, start = _no_range, _no_annotate, _do_nothing, _start_nothing
    end = counter = name_thread = _do_nothing  # type: ignore
    flush = _store_nothing
