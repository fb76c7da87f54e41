# SPDX-License-Identifier: Apache-2.0
"""nvtxt in the spelling of NVIDIA's package nvtx.

A program for that package runs unchanged after

    import nvtxt.compat.nvtx as nvtx

Its events have the messages, colours, categories, payloads and domains that
they have there. Two things are kinder: nothing raises, and a range in a
coroutine belongs to its task. As there, NVTX_DISABLE switches all off.
"""
import operator
import os
import sys
import threading
from typing import Any, Dict, Optional

import nvtxt
from nvtxt import _event, _library, _life

__all__ = ["Domain", "DummyDomain", "EventAttributes", "Profile", "RegisteredString", "annotate",
           "enabled", "end_range", "get_domain", "mark", "pop_range", "push_range", "start_range"]

_ENABLED = nvtxt.enabled() and not os.environ.get("NVTX_DISABLE")
_BLUE, _RAPIDS = 0x0000FF, 0x7400FF  # what None is; the one name that is none of CSS


def enabled() -> bool:
    """Whether events are recorded: libnvtxt is there, and NVTX_DISABLE is not set."""
    return _ENABLED


# ---- What an event bears ------------------------------------------------------------------------

def _read_color(color: Any) -> int:
    """As the package has them: names have no alpha."""
    if color is None:
        return _BLUE
    if isinstance(color, str):
        known = _RAPIDS if color == "rapids" else int(_library.color(_event.text(color)))
        return known & 0xFFFFFF if known else _ask_matplotlib(color)
    try:
        return operator.index(color) & 0xFFFFFFFF
    except TypeError:
        return _ask_matplotlib(color)


def _ask_matplotlib(color: Any) -> int:
    from matplotlib import colors  # type: ignore
    red, green, blue, alpha = (round(part * 255) for part in colors.to_rgba(color))
    return int(alpha << 24 | red << 16 | green << 8 | blue)


class RegisteredString:
    """A text that events share."""

    def __init__(self, domain: Any, string: Optional[str] = None) -> None:
        self.domain = domain
        self.string = string


class EventAttributes:
    """What an event bears. Its members may be changed."""

    __slots__ = ("message", "color", "category", "payload", "_domain")

    def __init__(self, message: Any = None, color: Any = None, category: Any = None,
                 payload: Any = None, domain: Optional[str] = None) -> None:
        self.message = message
        self.color = color
        self.category = category
        self.payload = payload
        self._domain = domain

    def _record(self, call: Any) -> Any:
        try:
            _life.here.seen
            message = self.message
            text = message.string if isinstance(message, RegisteredString) else message
            event = _event.find(text, self.color, self.category, self._domain, _read_color)
            return event.record(call, self.payload)
        except Exception:
            return 0


# ---- Ranges and marks ---------------------------------------------------------------------------

class annotate(nvtxt.Range):
    """Annotates a function, as its decorator, or a range of code, as a context manager.

    A decorator without a message takes the function's name.
    """

    _NAME = "__name__"
    __slots__ = ()

    def __init__(self, message: Any = None, color: Any = None, domain: Optional[str] = None,
                 category: Any = None, payload: Any = None) -> None:
        self._event = _event.find(message, color, category, domain, _read_color)
        self._payload = payload
        self._open = None
        self._arguments = message, color, domain, category, payload


def mark(message: Any = None, color: Any = "blue", domain: Optional[str] = None,
         category: Any = None, payload: Any = None) -> None:
    """Records this moment."""
    get_domain(domain).mark(EventAttributes(message, color, category, payload, domain))


def push_range(message: Any = None, color: Any = "blue", domain: Optional[str] = None,
               category: Any = None, payload: Any = None) -> None:
    """Begins a range of this thread."""
    get_domain(domain).push_range(EventAttributes(message, color, category, payload, domain))


def pop_range(domain: Optional[str] = None) -> None:
    """Ends the newest range of this thread and domain."""
    get_domain(domain).pop_range()


def start_range(message: Any = None, color: Any = "blue", domain: Optional[str] = None,
                category: Any = None, payload: Any = None) -> int:
    """Begins a range that any thread may end; returns what end_range() takes."""
    attributes = EventAttributes(message, color, category, payload, domain)
    return get_domain(domain).start_range(attributes)


def end_range(range_id: int) -> None:
    """Ends a range of start_range()."""
    nvtxt.end(range_id)


# ---- Domains ------------------------------------------------------------------------------------

class DummyDomain:
    """A domain that records nothing; get_domain() returns it when all is switched off."""

    def __init__(self, name: Optional[str] = None) -> None:
        self.name = name

    def get_registered_string(self, string: Optional[str] = None) -> RegisteredString:
        """A text that events of this domain share."""
        return RegisteredString(self, string)

    def get_category_id(self, name: Any) -> int:
        """The number of a category's name; the same name always has the same."""
        return 0

    def get_event_attributes(self, message: Any = None, color: Any = None, category: Any = None,
                             payload: Any = None) -> EventAttributes:
        """What an event of this domain bears."""
        return EventAttributes(message, color, category, payload, self.name)

    def mark(self, attributes: EventAttributes) -> None:
        """Records this moment."""

    def push_range(self, attributes: EventAttributes) -> None:
        """Begins a range of this thread."""

    def pop_range(self) -> None:
        """Ends the newest range of this thread."""

    def start_range(self, attributes: EventAttributes) -> int:
        """Begins a range that any thread may end; returns what end_range() takes."""
        return 0

    def end_range(self, range_id: int) -> None:
        """Ends a range of start_range()."""


class Domain(DummyDomain):
    """A domain; get_domain() returns the same one for the same name."""

    def get_category_id(self, name: Any) -> int:
        """The number of a category's name; the same name always has the same."""
        try:
            return _event.find_category(_event.find_domain(self.name), str(name))
        except Exception:
            return 0

    def mark(self, attributes: EventAttributes) -> None:
        """Records this moment."""
        attributes._record(_library.mark_ex)

    def push_range(self, attributes: EventAttributes) -> None:
        """Begins a range of this thread."""
        attributes._record(_library.push_ex)

    def pop_range(self) -> None:
        """Ends the newest range of this thread."""
        try:
            _library.pop_ex(_event.find_domain(self.name), None)
        except Exception:
            pass

    def start_range(self, attributes: EventAttributes) -> int:
        """Begins a range that any thread may end; returns what end_range() takes."""
        return int(attributes._record(_library.start_ex))

    def end_range(self, range_id: int) -> None:
        """Ends a range of start_range()."""
        nvtxt.end(range_id)


_domains: Dict[Any, DummyDomain] = {}


def get_domain(name: Optional[str] = None) -> DummyDomain:
    """The domain of a name; None is the default one."""
    try:
        return _domains[name]
    except KeyError:
        return _domains.setdefault(name, (Domain if _ENABLED else DummyDomain)(name))
    except Exception:  # what can be no name
        return get_domain()


# ---- Profile ------------------------------------------------------------------------------------

class Profile:
    """Makes each call of a function a range of the domain "nvtx.py", from enable() to disable()."""

    def __init__(self, linenos: bool = True, annotate_cfuncs: bool = True) -> None:
        self.linenos = linenos
        self.annotate_cfuncs = annotate_cfuncs
        self._domain = get_domain("nvtx.py")

    def _name(self, frame: Any) -> str:
        code = frame.f_code
        if not self.linenos:
            return str(code.co_name)
        return "%s:%d(%s)" % (os.path.basename(code.co_filename), frame.f_lineno, code.co_name)

    def _profile(self, frame: Any, event: str, argument: Any) -> None:
        if frame.f_code.co_filename.startswith(_OWN_FOLDER):  # disable() would have no end
            return
        if event == "call":
            self._domain.push_range(EventAttributes(self._name(frame), "blue", domain="nvtx.py"))
        elif event == "return":
            self._domain.pop_range()
        elif self.annotate_cfuncs and event == "c_call":
            name = getattr(argument, "__name__", "")
            self._domain.push_range(EventAttributes(name, "blue", domain="nvtx.py"))
        elif self.annotate_cfuncs:
            self._domain.pop_range()

    def enable(self) -> None:
        """Begins, in this thread and in those that start later."""
        if _ENABLED:
            threading.setprofile(self._profile)
            sys.setprofile(self._profile)

    def disable(self) -> None:
        """Ends it, in this thread and for those that start later."""
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore


_OWN_FOLDER = os.path.join(os.path.dirname(nvtxt.start.__code__.co_filename), "")

if not _ENABLED:
    annotate = nvtxt._no_range  # type: ignore
    mark = push_range = pop_range = end_range = nvtxt._do_nothing  # type: ignore
    start_range = nvtxt._start_nothing
