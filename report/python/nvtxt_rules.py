# SPDX-License-Identifier: Apache-2.0
"""What rules in Python call: nvtxt-rule(5), "PYTHON RULES".

In a rule ``import NvRules`` and ``import nvtxt_rules`` give this module:

    import NvRules

    def get_identifier():
        return "Threads"

    def get_name():
        return "Number of threads"

    def get_description():
        return "Says how many threads there are."

    def apply(handle):
        ctx = NvRules.get_context(handle)
        action = ctx.range_by_idx(0).action_by_idx(0)
        threads = action["capture__attribute_threads"].as_uint64()
        ctx.frontend().message("There are %d threads" % threads)

The one range of a rule's context has one action: the scope that
nvtxt-report shows, such as the whole capture, with the metrics of
nvtxt-metrics(7). IContext.capture() has the threads and their events. Times
are in ns.

A call with a wrong argument raises TypeError, ValueError, IndexError or
KeyError; what nvtxt-report refuses is an Error. The rule then fails, with
the file and line, unless it catches that. raise_exception() makes it fail
with a text of its own. The names of 2024 and later, such as MsgType.WARNING,
and the older ones, such as IFrontend.MsgType_MSG_WARNING, are the same.
"""
import enum
import functools
import json
import math
import numbers
import os
import socket
import threading
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Set, Tuple, Type, Union

import nvtxt_report
from nvtxt_report import (Error, FocusSeverity, IAction, IMetric, IMutableMetric, INvtxDomainInfo,
                          INvtxRange, INvtxState, IRange, ISourceInfo, MarkerKind, MsgType,
                          SpeedupType)

__all__ = ["Error", "FocusSeverity", "IAction", "IBaseContext", "IContext", "IController",
           "IEvaluator", "IFrontend", "IMessageVault", "IMetric", "IMutableMetric",
           "INvtxDomainInfo", "INvtxRange", "INvtxState", "IRange", "ISourceInfo", "MarkerKind",
           "MsgType", "Severity", "SpeedupType", "get_context", "get_evaluator", "get_version",
           "raise_exception", "require_metrics", "require_rules"]


Texts = Iterable[str]
Rows = Iterable[Sequence[Any]]
Dictionary = Mapping[str, Any]
Settings = Optional[Dictionary]


class Severity(enum.IntEnum):
    """How much a focus metric weighs.

    Also IFrontend.Severity_SEVERITY_LOW, and so on.
    """

    SEVERITY_DEFAULT = 0
    SEVERITY_LOW = 1
    SEVERITY_HIGH = 2


_INSTEAD = {
    "load_report": "get_context(handle) has the report",
    "IRuleResult": "IAction.rule_results_as_dicts() has the results of rules",
}


def __getattr__(name: str) -> Any:
    raise AttributeError(nvtxt_report._no_attribute("module 'NvRules'", name, _INSTEAD))


# ---- Arguments ----------------------------------------------------------------------------------

def _text(value: Any, what: str) -> str:
    """A text that can be sent; half of a surrogate pair becomes a question mark."""
    if not isinstance(value, str):
        raise TypeError("%s is a text, not %s" % (what, type(value).__name__))
    if "\0" in value:
        raise ValueError("%s has a NUL character" % what)
    return value.encode("utf-8", "replace").decode("utf-8")


def _texts(values: Any, what: str) -> List[str]:
    if isinstance(values, (str, bytes)):
        raise TypeError("%s are a list of texts, not one" % what)
    return [_text(value, "each of %s" % what) for value in values]


def _integer(value: Any, what: str) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError("%s is an integer, not %s" % (what, type(value).__name__))
    return int(value.__index__())


def _fits(number: int) -> bool:
    return -2 ** 63 <= number < 2 ** 63


def _finite(value: Any, what: str) -> Union[int, float]:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError("%s is a number, not %s" % (what, type(value).__name__))
    if isinstance(value, numbers.Integral) and _fits(int(value)):
        return int(value)
    number = float(value)
    if not math.isfinite(number):
        raise ValueError("%s is not finite" % what)
    return number


def _word(value: Any, words: "Type[enum.IntEnum]") -> str:
    """The word of a constant, as nvtxt-report(1) has it."""
    number = _integer(value, words.__name__)
    return words(number).name.replace("SEVERITY_", "").lower()


def _cell(value: Any) -> Union[int, float, str, None]:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int) and not isinstance(value, bool):
        return value if _fits(value) else str(value)
    return _text(value if isinstance(value, str) else str(value), "a cell")


def _check_rows(header: List[str], rows: List[List[Any]]) -> None:
    for row in rows:
        if len(row) != len(header):
            raise ValueError("a row has %d cells, the header %d" % (len(row), len(header)))
    for name, column in zip(header, zip(*rows)):
        types = sorted({type(cell).__name__ for cell in column})
        if len(types) > 1:
            raise TypeError("column %r has cells of several types: %s" % (name, ", ".join(types)))


def _dictionary(values: Any) -> Dict[str, Any]:
    if not isinstance(values, Mapping):
        raise TypeError("a dictionary is sent, not %s" % type(values).__name__)
    for key in values:
        if not isinstance(key, str):
            raise TypeError("a key is a text, not %s" % type(key).__name__)
    return dict(values)


# Dictionaries travel as one text, so that they may have any number that Python has.
def _pack(values: Dict[str, Any]) -> Dict[str, str]:
    return {"json": json.dumps(values)}


def _unpack(packed: Optional[Dict[str, str]]) -> Dict[str, Any]:
    return dict(json.loads(packed["json"])) if packed else {}


# ---- The program at the other end ---------------------------------------------------------------

class Connection(nvtxt_report.Transport):
    """The socket to nvtxt-report. Threads of a rule may use it, one at a time."""

    def __init__(self, link: socket.socket) -> None:
        super().__init__(link.makefile("rb"), link.makefile("wb"))
        self._link = link
        self._lock = threading.Lock()

    def leave(self) -> None:
        """In a child of the process: the connection stays the parent's alone."""
        self._closed = True
        os.close(self._link.detach())

    def call(self, method: str, **params: Any) -> Any:
        """The result of a method. Raises Error."""
        with self._lock:
            return super().call(method, **params)

    def say(self, method: str, missing: "Type[Exception]" = KeyError, **params: Any) -> Any:
        """The same; raises ValueError for what is refused, `missing` for what is not there."""
        try:
            return self.call(method, **params)
        except Error as error:
            kinds = {"bad-params": ValueError, "not-found": missing}
            if error.code not in kinds:
                raise
            raise kinds[error.code](str(error)) from None


class Handle:
    """What evaluate() and apply() of a rule are given; for the functions of this module."""

    def __init__(self, connection: Connection, version: str) -> None:
        self.connection = connection
        self.version = version
        self.evaluating = False
        self.required_rules: Set[str] = set()
        self.context = IContext(self)


def _take(handle: Any) -> Handle:
    if not isinstance(handle, Handle):
        raise TypeError("the handle is what evaluate() and apply() are given, not %s" %
                        type(handle).__name__)
    return handle


def get_context(handle: Handle) -> "IContext":
    """The context of the rule: its range, its frontend, its controller."""
    return _take(handle).context


def get_version(handle: Handle) -> str:
    """The version of nvtxt-report."""
    return _take(handle).version


def raise_exception(handle: Any, text: str) -> None:
    """Ends the rule, which has failed for that reason: raises SystemError."""
    if not isinstance(handle, IBaseContext):
        _take(handle)
    raise SystemError(_text(text, "the text of an exception"))


def get_evaluator(handle: Handle) -> "IEvaluator":
    """What evaluate() asks for what the rule needs.

    require_metrics() and require_rules() do the same.
    """
    return IEvaluator(_take(handle))


def require_metrics(handle: Handle, names: "Texts") -> None:
    """For evaluate(): what metrics the rule needs.

    The rule is not applicable if one of them is N/A. Raises TypeError.
    """
    get_evaluator(handle).require_metrics(names)


def require_rules(handle: Handle, ids: "Texts") -> None:
    """For evaluate(): what rules the rule needs.

    The rule is not applicable if one of them is not loaded. Only these can
    be proposed by IController.propose_rule(). Raises TypeError.
    """
    get_evaluator(handle).require_rules(ids)


class IBaseContext(nvtxt_report._Known):
    """What IContext and IEvaluator have in common."""

    _handle: Handle

    def get_version(self) -> str:
        """The version of nvtxt-report."""
        return self._handle.version


class IEvaluator(IBaseContext):
    """What a rule needs. Calls outside evaluate() change nothing."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def require_metric(self, name: str) -> None:
        """The rule is not applicable if this metric is N/A.

        Raises TypeError.
        """
        self.require_metrics([name])

    def require_metrics(self, names: "Texts") -> None:
        """The rule is not applicable if one of these metrics is N/A.

        Raises TypeError.
        """
        self._handle.connection.say("require_metrics", names=_texts(names, "metrics"))

    def require_rule(self, id: str) -> None:
        """The rule is not applicable if this rule is not loaded.

        Raises TypeError.
        """
        self.require_rules([id])

    def require_rules(self, ids: "Texts") -> None:
        """The rule is not applicable if one of these rules is not loaded.

        Raises TypeError.
        """
        names = _texts(ids, "rules")
        self._handle.connection.say("require_rules", ids=names)
        if self._handle.evaluating:
            self._handle.required_rules.update(names)


# ---- Context ------------------------------------------------------------------------------------

class _Scope(IAction):
    """The scope: the capture, a process, thread, name or iteration, a kernel."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, None, None)
        self._said: Optional[Dict[str, Any]] = None

    def _describe(self) -> Dict[str, Any]:
        if self._said is None:
            self._said = self._transport.call("action", range=None, action=None)
        return self._said

    def name(self, base: int = IAction.NameBase_FUNCTION) -> str:
        """What the scope is called, for every NameBase.

        Of a kernel its name, as IAction.name() gives it.
        """
        member = {self.NameBase_DEMANGLED: "demangledName", self.NameBase_MANGLED: "mangledName"}
        said = self._describe()
        return str(said.get(member.get(base, "name"), said["name"]))

    def _list_names(self) -> List[str]:
        return list(self._describe()["metricNames"])

    def _where(self) -> Dict[str, Any]:
        return {"range": None, "action": None}

    def _is_kernel(self) -> bool:
        if not self._transport.kind:
            self._transport.kind = str(self._transport.call("hello")["kind"])
        return super()._is_kernel()

    def nvtx_state(self) -> Optional[INvtxState]:
        """None: a scope is no event. Of a kernel what was open when it began."""
        try:
            return super().nvtx_state() if self._is_kernel() else None
        except Error:
            return None

    def rule_results_as_dicts(self) -> List[Dict[str, Any]]:
        """What rules said of the scope so far.

        Each has the members of a rule in the JSON of nvtxt-report check.
        """
        try:
            return list(self._transport.call("rule_results")["rules"])
        except Error:
            return []


class _ScopeRange(IRange):
    """The range that holds the scope."""

    def __init__(self, connection: Connection) -> None:
        self._transport = connection
        self._scope = _Scope(connection)

    def __repr__(self) -> str:
        return "<IRange %s>" % self.name()

    def __len__(self) -> int:
        return 1

    def _get(self, index: int) -> IAction:
        return self._scope

    def name(self) -> str:
        """What the scope is called."""
        return self._scope.name()

    def num_actions(self) -> int:
        """1: the scope."""
        return 1

    def actions_by_nvtx(self, includes: Sequence[str], excludes: Sequence[str]) -> Tuple[int, ...]:
        """(0,) if filters take an action in which nothing is open, else ().

        Of a kernel: if they take what was open when it began.
        Filters are those of nvtxt-filter(7). Raises Error for one that
        cannot be read, and TypeError for what is no list of texts. Events
        are in IContext.capture().
        """
        return tuple(self._transport.call("actions_by_nvtx", range=None,
                                          include=_texts(includes, "filters"),
                                          exclude=_texts(excludes, "filters"))["actions"])

    def values(self, name: str) -> List[Optional[nvtxt_report.Value]]:
        """The value of a metric of the scope, in a list."""
        metric = self._scope.metric_by_name(name)
        return [metric.value() if metric else None]

    def events(self) -> Any:
        """Nothing: a scope is no event."""
        return iter(())


class _Capture(nvtxt_report.IContext):
    """Threads and events. The connection is the rule's and stays open."""

    def close(self) -> None:
        """Does nothing."""


class IContext(nvtxt_report.IContext, IBaseContext):
    """What a rule judges.

    A sequence of one range, which has one action: the scope.
    """

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._transport = handle.connection
        self._range = _ScopeRange(handle.connection)
        self._frontend = IFrontend(handle)
        self._controller = IController(handle)
        self._capture: Optional[_Capture] = None

    def __repr__(self) -> str:
        return "<IContext of a rule>"

    def __len__(self) -> int:
        return 1

    def _get(self, index: int) -> IRange:
        return self._range

    def close(self) -> None:
        """Does nothing: the context is open as long as the rule runs."""

    def num_ranges(self) -> int:
        """1: the range that holds the scope."""
        return 1

    def path(self) -> str:
        """The file, as it was named."""
        return self.capture().path()

    def kind(self) -> str:
        """What the file is.

        "nvtxt" for a store of nvtxtd, "nsys" for an export of Nsight
        Systems.
        """
        return self.capture().kind()

    def version(self) -> str:
        """The version of nvtxt-report."""
        return self._handle.version

    def summary(self) -> IAction:
        """The scope."""
        return self._range[0]

    def frontend(self) -> "IFrontend":
        """What shows messages, tables, estimates and marks."""
        return self._frontend

    def controller(self) -> "IController":
        """What passes proposals and dictionaries to other rules."""
        return self._controller

    def capture(self) -> nvtxt_report.IContext:
        """The threads of the capture and their events, as scripts have them.

        Each range is a thread, each action an event, whatever the scope
        is. Its summary() is the scope. Of a report file of kernels these
        are its results.
        """
        if self._capture is None:
            self._capture = _Capture(self._transport)
        return self._capture


# ---- Tables -------------------------------------------------------------------------------------

_STYLES = ("bold", "italic")


class _Look:
    """The config of a table: in which order, and how, it is shown."""

    def __init__(self, names: List[str], settings: Dict[str, Any], note: Any) -> None:
        self.names = names
        self.settings = settings
        self._note = note
        self._know(settings, ("title", "description", "sort_by", "style", "per_column_configs"))

    def _know(self, values: Any, keys: Sequence[str], where: str = "") -> Dict[str, Any]:
        """A dictionary with these keys alone; what else there is, is noted."""
        if not isinstance(values, Mapping):
            self._note("%sis no dictionary" % where)
            return {}
        for key in values:
            if key not in keys:
                self._note("%s%r is not shown" % (where, key))
        return {key: values[key] for key in values if key in keys}

    def _column(self, column: Any) -> Optional[int]:
        """The index of a column, by its name or index; None: there is none."""
        if isinstance(column, str) and column in self.names:
            return self.names.index(column)
        if isinstance(column, int) and not isinstance(column, bool) and \
                0 <= column < len(self.names):
            return column
        self._note("there is no column %r" % (column,))
        return None

    def sort(self, rows: List[List[Any]]) -> List[List[Any]]:
        """The rows in the order that is asked for; what is no number comes last."""
        wanted = self._know(self.settings.get("sort_by") or {}, ("column", "order"), "sort_by: ")
        index = self._column(wanted["column"]) if "column" in wanted else None
        order = wanted.get("order", "ascending")
        if order not in ("ascending", "descending"):
            self._note("sort_by: there is no order %r" % (order,))
        if index is None:
            return rows
        odd = [row for row in rows if row[index] != row[index]]
        even = [row for row in rows if row[index] == row[index]]
        even.sort(key=lambda row: row[index] if isinstance(row[index], (int, float, str))
                  else str(row[index]), reverse=order == "descending")
        return even + odd

    def _words(self, style: Any, part: str) -> List[str]:
        known = self._know(style.get(part, {}), _STYLES, "style of %s: " % part)
        return [word for word in _STYLES if known.get(word)]

    def _style(self, style: Any) -> Dict[str, List[str]]:
        known = self._know(style, ("header", "data"), "style: ")
        return {part: self._words(known, part) for part in known}

    def columns(self) -> List[Dict[str, Any]]:
        """What each column looks like; [] if nothing is said of that."""
        own: Dict[int, Dict[str, Any]] = {}
        configs = self.settings.get("per_column_configs") or {}
        for column, config in self._know(configs, list(configs)).items():
            index = self._column(column)
            if index is not None:
                own[index] = self._know(config, ("tooltip", "relative_width", "style"),
                                        "per_column_configs: ")
        if not own and "style" not in self.settings:
            return []
        return [self._one(own.get(i, {}), self._widths(own)) for i in range(len(self.names))]

    def _widths(self, own: Dict[int, Dict[str, Any]]) -> float:
        """The sum of the relative widths: 1 of a column without one; 0 if no column has one."""
        given = [_finite(one["relative_width"], "a relative width") for one in own.values()
                 if "relative_width" in one]
        return sum(given) + len(self.names) - len(given) if given else 0

    def _one(self, config: Dict[str, Any], widths: float) -> Dict[str, Any]:
        looks: Dict[str, Any] = {"header": [], "data": []}
        looks.update(self._style(self.settings.get("style") or {}))
        looks.update(self._style(config.get("style") or {}))
        width = _finite(config.get("relative_width", 1), "a relative width")
        looks["tooltip"] = _text(config.get("tooltip", ""), "a tooltip")
        looks["percent"] = round(100 * width / widths, 2) if widths > 0 and width >= 0 else 0
        return looks


# ---- Frontend and controller --------------------------------------------------------------------

def _also_named(**ours: str) -> Any:
    """Takes arguments by the names that NvRules has, too."""
    def decorate(function: Any) -> Any:
        @functools.wraps(function)
        def call(*args: Any, **named: Any) -> Any:
            return function(*args, **{ours.get(name, name): value for name, value in named.items()})
        return call
    return decorate


class IFrontend(nvtxt_report._Known):
    """What a rule says.

    Texts and cells may have links: nvtxt-rule(5), "LINKS". The ids of
    messages are those that message() returned.
    """

    MarkerKind_SASS = MarkerKind.SASS
    MarkerKind_SOURCE = MarkerKind.SOURCE
    MarkerKind_NONE = MarkerKind.NONE

    MsgType_NONE = MsgType_MSG_NONE = MsgType.NONE
    MsgType_OK = MsgType_MSG_OK = MsgType.OK
    MsgType_OPTIMIZATION = MsgType_MSG_OPTIMIZATION = MsgType.OPTIMIZATION
    MsgType_WARNING = MsgType_MSG_WARNING = MsgType.WARNING
    MsgType_ERROR = MsgType_MSG_ERROR = MsgType.ERROR

    SpeedupType_LOCAL = SpeedupType.LOCAL
    SpeedupType_GLOBAL = SpeedupType.GLOBAL

    Severity_SEVERITY_DEFAULT = Severity.SEVERITY_DEFAULT
    Severity_SEVERITY_LOW = Severity.SEVERITY_LOW
    Severity_SEVERITY_HIGH = Severity.SEVERITY_HIGH

    def __init__(self, handle: Handle) -> None:
        self._connection = handle.connection
        self._messages: Set[int] = set()
        self._notes: Set[str] = set()
        self._sent: Dict[str, Any] = {}

    def message(self, *args: Any, **named: Any) -> int:
        """message([type,] text[, title]): adds a message and returns its id.

        The type is one of MsgType_*; without it MsgType_NONE. Raises
        TypeError for arguments of other types, ValueError for a number that
        is no type.
        """
        if args and isinstance(args[0], str):
            args = (named.pop("type", MsgType.NONE),) + args
        return self._message(*args, **named)

    def _message(self, type: int = MsgType.NONE, text: Optional[str] = None,
                 title: Optional[str] = None) -> int:
        said = _text(text, "the text of a message")
        named = None if title is None else _text(title, "the title of a message")
        reply = self._connection.say("message", type=_word(type, MsgType), text=said, title=named)
        self._messages.add(reply["id"])
        return int(reply["id"])

    def _known(self, message: int) -> int:
        number = _integer(message, "the id of a message")
        if number not in self._messages:
            raise IndexError("there is no message %d" % number)
        return number

    def _tell(self, method: str, id: int, **params: Any) -> bool:
        """Says something of a message; False: there is no such message."""
        if _integer(id, "the id of a message") not in self._messages:
            return False
        self._connection.say(method, message=self._known(id), **params)
        return True

    def speedup(self, id: int, type: int, percent: float) -> bool:
        """Estimates what a message could save, in percent.

        The type is SpeedupType_LOCAL, of this range in isolation, or
        SpeedupType_GLOBAL, of the whole; percent is a finite number. False:
        there is no message of that id. Raises TypeError, ValueError.
        """
        return self._tell("speedup", id, **{"global": _word(type, SpeedupType) == "global",
                                            "percent": _finite(percent, "percent")})

    def focus_metric(self, id: int, name: str, value: float, severity: int,
                     info: str) -> bool:
        """Names a metric that a message is about.

        Its value is a finite number, severity one of Severity_*, info a
        text for readers. False: there is no message of that id. Raises
        TypeError, ValueError.
        """
        return self._tell("focus_metric", id, name=_text(name, "the name of a metric"),
                          value=_finite(value, "the value of a focus metric"),
                          severity=_word(severity, Severity), info=_text(info, "info"))

    @_also_named(message_id="id", data="rows")
    def generate_table(self, id: int, header: "Texts", rows: "Rows",
                       config: "Settings" = None) -> None:
        """Adds a table to a message.

        The header is a list of names of columns, rows a list of lists, each
        as long as the header. Cells are integers, floats or texts; of
        anything else str() is shown.

        config may have "title", "description", "sort_by" with "column" (a
        name or an index) and "order" ("ascending" or "descending"), "style"
        of all columns, and "per_column_configs", by name or index: "tooltip",
        "relative_width", "style". A style has "header" and "data", each with
        "bold" and "italic". What else there is, is said once, as a note in
        the output of the rule.

        Raises TypeError when a column has cells of several types,
        ValueError when a row has more or fewer cells than the header, and
        IndexError.
        """
        names = _texts(header, "the names of columns")
        cells = [list(row) for row in rows]
        look = _Look(names, _dictionary(config or {}), self._note)
        if not names:
            raise ValueError("a table has at least one column")
        _check_rows(names, cells)
        more = look.columns()
        cells = look.sort(cells)
        title = _text(look.settings.get("title", ""), "the title of a table")
        said = _text(look.settings.get("description", ""), "the description of a table")
        self._connection.say("table", message=self._known(id), title=title, description=said,
                             header=names, rows=[[_cell(cell) for cell in row] for row in cells],
                             **({"columns": more} if more else {}))

    def _note(self, text: str) -> None:
        """Says once what is not done."""
        if text not in self._notes:
            self._notes.add(text)
            print("note: generate_table: " + text)

    def source_marker(self, *args: Any, **named: Any) -> None:
        """Marks a line of a source file, or an instruction.

        source_marker(text, line_or_address, kind[, file[, type]]) is that of
        NvRules: the kind is one of MarkerKind_*, the type one of MsgType_*;
        the file may be left out. source_marker(id, file, line, text) marks a
        line for a message. Lines are counted from 1.

        Raises IndexError, TypeError, ValueError.
        """
        if args and isinstance(args[0], str):
            self._mark(*args, **named)
        else:
            self._mark_for(*args, **named)

    def _mark_for(self, id: int, file: str, line: int, text: str) -> None:
        number = _integer(line, "a line")
        if not 1 <= number < 2 ** 63:
            raise ValueError("there is no line %d; lines are counted from 1" % number)
        self._connection.say("source_marker", message=self._known(id),
                             file=_text(file, "the name of a file"), line=number,
                             text=_text(text, "the text of a marker"))

    def _mark(self, text: str, address_or_line: int, kind: int, file_name: Any = "",
              type: int = MsgType.NONE) -> None:
        if isinstance(file_name, int) and not isinstance(file_name, bool):
            file_name, type = "", file_name
        number = _integer(address_or_line, "a line or an address")
        if not 0 <= number < 2 ** 64:
            raise ValueError("there is no line and no address %d" % number)
        sass = MarkerKind(_integer(kind, "MarkerKind")) == MarkerKind.SASS
        self._connection.say("source_marker", kind="sass" if sass else "source",
                             address=str(number), type=_word(type, MsgType),
                             file=_text(file_name, "the name of a file"),
                             text=_text(text, "the text of a marker"))

    def raise_exception(self, text: str) -> None:
        """Ends the rule, which has failed for that reason: raises SystemError."""
        raise SystemError(_text(text, "the text of an exception"))

    def load_chart_from_file(self, name: str) -> None:
        """Shows the table or chart of a file beside the rule.

        The file has one Item of nvtxt-section(5). Raises FileNotFoundError,
        and ValueError for a file that cannot be read as one.
        """
        self._connection.say("chart", FileNotFoundError, name=_text(name, "the name of a file"))

    def send_dict_to_children(self, dict: "Dictionary") -> None:
        """Gives a dictionary to the rules that name this one as a parent.

        Keys are texts, values what JSON can hold. A later call adds keys,
        and replaces the values of those that are there. Raises TypeError,
        and ValueError for more than 1 MiB.
        """
        self._sent.update(_dictionary(dict))
        self._connection.say("send_dict", dict=_pack(self._sent))

    def receive_dict_from_parent(self, id: str) -> Dict[str, Any]:
        """What a parent sent; {}: nothing, or it did not run.

        Raises TypeError.
        """
        try:
            return _unpack(self._connection.say("receive_dict",
                                                id=_text(id, "a rule"))["dict"])
        except KeyError:
            return {}


class IMessageVault(nvtxt_report._Known):
    """Dictionaries that rules leave for rules that are applied later.

    Each stands under an id, such as the identifier of a rule.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def Get(self, id: str) -> Dict[str, Any]:
        """The dictionary of an id; {}: there is none. Raises TypeError."""
        return _unpack(self._connection.say("vault_get", id=_text(id, "an id"))["dict"])

    def Put(self, id: str, dict: "Dictionary") -> None:
        """Adds to the dictionary of an id.

        Keys are texts, values what JSON can hold; values of keys that are
        there are replaced. Raises TypeError, and ValueError for more than
        1 MiB.
        """
        added = _dictionary(dict)
        merged = self.Get(id)
        merged.update(added)
        self._connection.say("vault_put", id=id, dict=_pack(merged))


class IController(nvtxt_report._Known):
    """What a rule has to do with other rules."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def propose_rule(self, id: str) -> None:
        """Tells readers to look at that rule too.

        Raises KeyError for a rule that evaluate() did not name in
        require_rules(), and TypeError.
        """
        name = _text(id, "a rule")
        if name not in self._handle.required_rules:
            raise KeyError(name)
        self._handle.connection.say("propose", id=name)

    def get_message_vault(self) -> IMessageVault:
        """The dictionaries that all rules share."""
        return IMessageVault(self._handle.connection)
