# SPDX-License-Identifier: Apache-2.0
"""What NVTX events say, of stores, exports and report files.

A script that was written for ncu_report and lists ranges, actions, metrics
and NVTX states runs after ``import nvtxt_report as ncu_report``:

    import nvtxt_report

    with nvtxt_report.load_report("events.sqlite") as report:
        for thread in report:
            for event in thread:
                print(event.name(), event["event__attribute_start"].value())

A *range* is one thread, an *action* one event: a push/pop range, a
start/end range or a mark. Of a report file of kernels (.ncu-rep) a range is
one stream of one context, an action the result of one kernel. Times are in
ns. nvtxt-metrics(7) has the metrics of an event and those of
IContext.summary().

The figures come from the program nvtxt-report, which this module starts
with the command serve: the one that the environment variable NVTXT_REPORT
names, else the installed one. Values are fetched for many actions at once,
ahead of a loop; IRange.values() gives all of them as a list. Objects may be
used by one thread at a time.

Wrong calls raise what Python raises for its own sequences and dictionaries:
IndexError, KeyError, TypeError, ValueError. Methods that take an index or
an id, such as range_by_idx(), return None where there is nothing, as in
ncu_report. What nvtxt-report refuses is an Error.
"""
import enum
import errno
import json
import os
import shutil
import struct
import subprocess
import tempfile
from typing import (Any, BinaryIO, Dict, Iterator, List, Optional, Sequence, Tuple, TypeVar, Union)

__all__ = ["Error", "FocusSeverity", "IAction", "IContext", "IMetric", "IMutableMetric",
           "INvtxDomainInfo", "INvtxRange", "INvtxState", "IRange", "ISourceInfo", "MarkerKind",
           "MissingFile", "MsgType", "SpeedupType", "load_report"]

Value = Union[int, float, str]
Texts = Sequence[str]
Indexes = Tuple[int, ...]
Path = Union[str, "os.PathLike[str]"]
_Reply = Dict[str, Any]
_Item = TypeVar("_Item")


class Error(Exception):
    """What nvtxt-report refuses, or why it cannot be asked.

    The member code is that of the reply: "bad-request", "unknown-method",
    "bad-params", "not-found"; None when there was no reply.
    """

    def __init__(self, message: str, code: Optional[str] = None) -> None:
        super().__init__(message)
        self.code = code


class MissingFile(Error, FileNotFoundError):
    """There is no such file: an Error, and a FileNotFoundError with its filename."""

    def __init__(self, message: str, path: str) -> None:
        super().__init__(message)
        self.errno = errno.ENOENT
        self.strerror = os.strerror(errno.ENOENT)
        self.filename = path


# ---- Words --------------------------------------------------------------------------------------

class MsgType(enum.IntEnum):
    """What a message of a rule is.

    Also IFrontend.MsgType_OK and IFrontend.MsgType_MSG_OK, and so on.
    """

    NONE = 0
    OK = 1
    OPTIMIZATION = 2
    WARNING = 3
    ERROR = 4


class MarkerKind(enum.IntEnum):
    """What a source marker marks; also IFrontend.MarkerKind_SASS, and so on.

    SASS: an instruction, by its address. SOURCE: a line of a file.
    """

    SASS = 0
    SOURCE = 1
    NONE = 2


class SpeedupType(enum.IntEnum):
    """What an estimate is of; also IFrontend.SpeedupType_LOCAL, and so on.

    LOCAL: of this range in isolation. GLOBAL: of the whole.
    """

    LOCAL = 1
    GLOBAL = 2


class FocusSeverity(enum.IntEnum):
    """How much a focus metric weighs."""

    DEFAULT = 0
    LOW = 1
    HIGH = 2


class _Known:
    """Says what to use in place of what is of ncu alone."""

    _INSTEAD: Dict[str, str] = {}

    def __getattr__(self, name: str) -> Any:
        kinds = [kind.__name__ for kind in type(self).__mro__ if kind.__name__[0] != "_"]
        raise AttributeError(_no_attribute("'%s' object" % kinds[0], name, self._INSTEAD))


def _no_attribute(owner: str, name: str, instead: Dict[str, str]) -> str:
    hint = instead.get(name)
    return "%s has no attribute '%s'%s" % (owner, name, "; " + hint if hint else "")


_MODULE_INSTEAD = {
    "IRuleResult": "IAction.rule_results_as_dicts() has the results of rules",
    "ITimelines": "IContext.events() has what happened at which time",
    "StallReason": "events do not stall",
}


def __getattr__(name: str) -> Any:
    raise AttributeError(_no_attribute("module '%s'" % __name__, name, _MODULE_INSTEAD))


# ---- Requests -----------------------------------------------------------------------------------

_MOST_LINE = 1 << 20  # bytes of a request
_PIECE = 1 << 16  # bytes to read at once


class Transport:
    """Requests as lines on one binary file, replies as lines from another.

    The two may be pipes of a program or the sides of a socket. They are
    closed by ``close()``.
    """

    # An interrupt is an exception between any two steps of the interpreter, also right after a
    # system call that did its work. So the results of read and write go into a list within one
    # step, list.extend() over map(), and counts change together with what they count. The call
    # after an interrupted one sends the rest of its request and passes over its reply.

    kind = ""  # of the report: see IContext.kind()

    def __init__(self, replies: BinaryIO, requests: BinaryIO) -> None:
        self._replies = replies
        self._requests = requests
        # The number of the newest request, its line, how much of that each write took.
        self._request: Tuple[int, bytes, List[int]] = (0, b"", [])
        # How many replies were taken, and the bytes of the next one as they were read; b"" is the
        # end of all.
        self._replied: Tuple[int, List[bytes]] = (0, [])
        self._closed = False

    def call(self, method: str, **params: Any) -> Any:
        """The result of a method.

        Raises Error for a refusal and for a broken connection, ValueError
        for a request that is too long to be sent.
        """
        if self._closed:
            raise Error("the report is closed")
        while self._replied[0] < self._request[0]:
            self._reply()
        number = self._request[0] + 1
        line = json.dumps({"id": number, "method": method, "params": params}).encode() + b"\n"
        if len(line) > _MOST_LINE + 1:
            raise ValueError("a request of %d bytes; at most %d" % (len(line) - 1, _MOST_LINE))
        self._request = number, line, []
        reply = self._reply()
        if "error" in reply:
            raise Error(reply["error"]["message"], reply["error"]["code"])
        if reply.get("id") != number:
            raise Error("a reply to another request")
        return reply["result"]

    def _reply(self) -> Dict[str, Any]:
        """Sends what was not sent yet, and takes the next reply."""
        try:
            self._send()
            line = self._receive()
        except (OSError, ValueError) as error:
            raise Error(self._why("the connection is broken: %s" % error)) from error
        if line is None:
            raise Error(self._why("nvtxt-report ended"))
        return self._read(line)

    def _send(self) -> None:
        _, line, taken = self._request
        while sum(taken) < len(line):
            taken.extend(map(os.write, (self._requests.fileno(),), (line[sum(taken):],)))

    def _receive(self) -> Optional[bytes]:
        """A line; None when there is none any more."""
        count, pieces = self._replied
        looked_at = 0
        while looked_at == len(pieces) or b"\n" not in pieces[looked_at]:
            if looked_at < len(pieces):
                if not pieces[looked_at]:
                    return None
                looked_at += 1
            else:
                pieces.extend(map(os.read, (self._replies.fileno(),), (_PIECE,)))
        line, _, rest = b"".join(pieces).partition(b"\n")
        self._replied = count + 1, [rest] if rest else []
        return line

    @staticmethod
    def _read(answer: bytes) -> Dict[str, Any]:
        try:
            reply = json.loads(answer.decode("utf-8"))
        except ValueError as error:
            raise Error("no reply: %s" % ascii(answer[:60].decode("utf-8", "replace"))) from error
        if not isinstance(reply, dict):
            raise Error("no reply: %s" % ascii(reply)[:60])
        return reply

    def _why(self, instead: str) -> str:
        return instead

    def close(self) -> None:
        """Closes both files. A second call does nothing."""
        self._closed = True
        for file in (self._requests, self._replies):
            try:
                file.close()
            except OSError:  # what was not written yet has no reader
                pass


class _Program(Transport):
    """nvtxt-report serve, with pipes to it.

    It has a session of its own: Ctrl-C in a terminal interrupts the script
    only. It ends when its standard input does.
    """

    def __init__(self, path: str, options: Sequence[str]) -> None:
        self._said = tempfile.TemporaryFile()
        command = [_find_program(), "serve"] + [str(option) for option in options] + ["--", path]
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                             stderr=self._said, start_new_session=True)
        except OSError as error:
            self._said.close()
            raise Error("cannot start %s: %s" % (command[0], error.strerror)) from error
        assert self._process.stdout and self._process.stdin
        super().__init__(self._process.stdout, self._process.stdin)

    def _why(self, instead: str) -> str:
        self._process.wait()
        self._said.seek(0)
        said = self._said.read().decode("utf-8", "replace").strip()
        prefix = "nvtxt-report: "
        return said[len(prefix):] if said.startswith(prefix) else said or instead

    def close(self) -> None:
        if not self._closed:
            super().close()
            self._process.wait()
            self._said.close()


def _find_program() -> str:
    named = os.environ.get("NVTXT_REPORT")
    if named:
        return named
    here = os.path.dirname(os.path.realpath(__file__))  # PREFIX/share/nvtxtd/python
    beside = os.path.normpath(os.path.join(here, "..", "..", "..", "bin", "nvtxt-report"))
    return beside if os.access(beside, os.X_OK) else shutil.which("nvtxt-report") or "nvtxt-report"


def load_report(path: "Path", options: "Texts" = ()) -> "IContext":
    """Opens a store, an export or an .ncu-rep file and returns its context.

    The options are those that select events, as on the command line of
    nvtxt-report: load_report(path, options=["--last", "5m",
    "--nvtx-include", "step/"]). A report file of kernels takes
    --nvtx-include and --nvtx-exclude only.

    Raises FileNotFoundError (MissingFile) when there is no such file, Error
    when it is none that can be read, and for an option that cannot be read.
    """
    if isinstance(options, str):
        raise TypeError("options is a list of words")
    transport = _Program(os.fspath(path), options)
    try:
        return IContext(transport)
    except Error as error:
        transport.close()
        if error.code is None and not os.path.lexists(path):
            raise MissingFile(str(error), os.fspath(path)) from None
        raise
    except BaseException:
        transport.close()
        raise


# ---- Sequences ----------------------------------------------------------------------------------

class _Sequence(_Known):
    """len(), iteration, indexes (also negative ones) and slices over
    _get(index).
    """

    def __len__(self) -> int:
        raise NotImplementedError

    def _get(self, index: int) -> Any:
        raise NotImplementedError

    def _at(self, index: int) -> Any:
        """The item of an index. Raises IndexError, TypeError."""
        if isinstance(index, bool) or not hasattr(index, "__index__"):
            raise TypeError("an index is an integer, not %s" % type(index).__name__)
        number = index.__index__()
        count = len(self)
        if not -count <= number < count:
            raise IndexError("there is no item %d; there are %d" % (number, count))
        return self._get(number % count)

    def _find(self, index: int) -> Any:
        """The item of an index; None: there is none. Raises TypeError."""
        try:
            return self._at(index)
        except IndexError:
            return None

    def __getitem__(self, index: Union[int, slice]) -> Any:
        """The item of an index, or the tuple of items of a slice.

        Negative indexes count from the end. Raises IndexError, and
        TypeError for what is neither.
        """
        if isinstance(index, slice):
            return tuple(self._get(i) for i in range(*index.indices(len(self))))
        return self._at(index)

    def __iter__(self) -> Iterator[Any]:
        for index in range(len(self)):
            yield self._get(index)


# ---- Contexts and ranges ------------------------------------------------------------------------

class IContext(_Sequence):
    """A report: the selected events of a store, by thread.

    Of a report file of kernels (.ncu-rep): the results, by context and stream.

    A context is a sequence of its ranges, and a context manager: it is
    closed at the end of a with statement.
    """

    def __init__(self, transport: "Transport") -> None:
        self._transport = transport
        self._hello = transport.call("hello")
        transport.kind = self.kind()
        self._ranges: Dict[int, IRange] = {}
        self._summary: Optional[IAction] = None

    def __enter__(self) -> "IContext":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Ends nvtxt-report. What was fetched stays; other calls raise Error."""
        self._transport.close()

    def __repr__(self) -> str:
        return "<IContext %s, %d ranges>" % (self.path(), len(self))

    def __len__(self) -> int:
        return int(self._hello["ranges"])

    def _get(self, index: int) -> "IRange":
        if index not in self._ranges:
            self._ranges[index] = IRange(self._transport, index)
        return self._ranges[index]

    def path(self) -> str:
        """The file, as it was named."""
        return str(self._hello["path"])

    def kind(self) -> str:
        """What the file is.

        "nvtxt" for a store of nvtxtd, "nsys" for an export of Nsight
        Systems, "ncu-rep" for a report file of kernels.
        """
        return str(self._hello["kind"])

    def version(self) -> str:
        """The version of nvtxt-report."""
        return str(self._hello["version"])

    def num_ranges(self) -> int:
        """The number of ranges: threads with a selected event, or streams."""
        return len(self)

    def range_by_idx(self, index: int) -> "Optional[IRange]":
        """The range of an index, or None; a negative one counts from the end.

        Raises TypeError for what is no integer.
        """
        return self._find(index)

    def events(self) -> Iterator[Dict[str, Any]]:
        """The events of all ranges as dictionaries: see IRange.events()."""
        for one in self:
            yield from one.events()

    def summary(self) -> "IAction":
        """All selected events as one action.

        It has the metrics of the catalogue: nvtxt-metrics(7).
        Raises Error for a report file of kernels: it has no events.
        """
        if self._summary is None:
            self._summary = _Summary(self._transport)
        return self._summary


def _texts(filters: "Texts") -> List[str]:
    texts = [] if isinstance(filters, (str, bytes)) else list(filters)
    if isinstance(filters, (str, bytes)) or not all(isinstance(text, str) for text in texts):
        raise TypeError("filters are a list of texts")
    return texts


def _is_name(name: object) -> bool:
    """Whether a metric may be called so: JSON has other texts, no metric has them."""
    if not isinstance(name, str):
        raise TypeError("the name of a metric is a text, not %s" % type(name).__name__)
    return not any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in name)


class _Column:
    """A metric of neighbouring actions."""

    def __init__(self, first: int, reply: Dict[str, Any]) -> None:
        self.first = first
        self.reply = reply
        self.values = reply["values"]
        types = reply["types"]
        self.types = types if isinstance(types, list) else [types] * len(self.values)


_FIRST_PART, _MOST_PART = 16, 4096  # actions whose values are fetched together


class _Ahead:
    """How many actions to fetch: more, while one after the other is asked for."""

    def __init__(self) -> None:
        self.count = _FIRST_PART
        self.next = 0

    def size(self, index: int) -> int:
        follows = self.next and 0 <= index - self.next < _FIRST_PART
        self.count = min(self.count * 4, _MOST_PART) if follows else _FIRST_PART
        self.next = index + self.count
        return self.count


class IRange(_Sequence):
    """A thread: a sequence of its actions, the selected events in order.

    Of a report file of kernels: a stream, and its results.
    """

    def __init__(self, transport: "Transport", index: int) -> None:
        self._transport = transport
        self._index = index
        reply = transport.call("range", range=index)
        self._count = int(reply["actions"])
        self._name = reply["name"]
        self._columns: Dict[str, _Column] = {}
        self._ahead: Dict[str, _Ahead] = {}
        self._names: Tuple[int, List[str]] = (0, [])
        self._added: Dict[int, Dict[str, IMetric]] = {}  # by action

    def __repr__(self) -> str:
        return "<IRange %s, %d actions>" % (self._name, self._count)

    def __len__(self) -> int:
        return self._count

    def _get(self, index: int) -> "IAction":
        return IAction(self._transport, self, index)

    def name(self) -> str:
        """The name of the thread, or "PID:TID"; of a stream its numbers."""
        return str(self._name)

    def num_actions(self) -> int:
        """How many actions there are."""
        return self._count

    def action_by_idx(self, index: int) -> "Optional[IAction]":
        """The action of an index, or None; a negative one counts from the end.

        Raises TypeError for what is no integer.
        """
        return self._find(index)

    def actions_by_nvtx(self, includes: "Texts", excludes: "Texts") -> "Indexes":
        """The indexes of the actions that filters take, ascending.

        Filters are a list of texts, as of --nvtx-include and
        --nvtx-exclude: nvtxt-filter(7). An action is taken if there is no
        include or one matches, and no exclude matches. Raises Error for a
        filter that cannot be read, and TypeError for what is no list of
        texts.
        """
        return tuple(self._transport.call("actions_by_nvtx", range=self._index,
                                          include=_texts(includes),
                                          exclude=_texts(excludes))["actions"])

    def values(self, name: str) -> List[Optional[Value]]:
        """The values of a metric: a list, as long as the range.

        None stands where an action has no such metric, or one without a
        value. Times are in ns. This is the quickest way to the figures of
        many actions. Raises TypeError for a name that is no text.
        """
        if not _is_name(name):
            return [None] * self._count
        found: List[Optional[Value]] = []
        while len(found) < self._count:
            reply = self._part(len(found), 65536, [name])["metrics"][0]
            column = _Column(len(found), reply)
            found += [_number(value, kind) for value, kind in zip(column.values, column.types)]
        return found

    def events(self) -> Iterator[Dict[str, Any]]:
        """The actions as dictionaries.

        They have the members of nvtxt-report events, format jsonl. Times
        are in ns; what an event does not have is absent. Raises Error for a
        report file of kernels.
        """
        first = 0
        while first < self._count:
            part = self._transport.call("events", range=self._index, first=first,
                                        count=_MOST_PART)["events"]
            yield from part
            first += len(part)

    def _part(self, first: int, count: int, names: List[str]) -> Dict[str, Any]:
        return self._transport.call("values", range=self._index, first=first, count=count,
                                    names=names)

    def _size(self, name: str, index: int) -> int:
        return self._ahead.setdefault(name, _Ahead()).size(index)

    def _action_name(self, index: int) -> str:
        first, names = self._names
        if not first <= index < first + len(names):
            names = self._part(index, self._size("", index), [])["names"]
            self._names = (index, names)
            first = index
        return names[index - first]

    def _column(self, name: str, index: int) -> _Column:
        column = self._columns.get(name)
        if not column or not column.first <= index < column.first + len(column.values):
            reply = self._part(index, self._size(name, index), [name])["metrics"][0]
            column = self._columns[name] = _Column(index, reply)
        return column


# ---- Actions ------------------------------------------------------------------------------------

class ISourceInfo:
    """Where an address is from: what IAction.source_info() would give."""

    def __init__(self, file: str, line: int) -> None:
        self._place = file, line

    def file_name(self) -> str:
        """The name of the file."""
        return self._place[0]

    def line(self) -> int:
        """The line, counted from 1."""
        return self._place[1]


class IAction(_Known):
    """An event, or with IContext.summary() all of them.

    action[name] is the metric of that name, or raises KeyError; iteration
    is over the names of the metrics, and len() is their number.
    """

    NameBase_FUNCTION = 0
    NameBase_DEMANGLED = 1
    NameBase_MANGLED = 2

    WorkloadType_KERNEL = 0
    WorkloadType_RANGE = 1
    WorkloadType_CMDLIST = 2
    WorkloadType_GRAPH = 3
    WorkloadType_SUBGRID_SCHEDULE = 4

    _INSTEAD = {
        "rule_results": "rule_results_as_dicts() has them",
        "source_markers": "the results of rule_results_as_dicts() have \"sourceMarkers\"",
        "timelines": "IContext.events() has what happened at which time",
    }

    def __init__(self, transport: "Transport", parent: "Optional[IRange]" = None,
                 index: "Optional[int]" = None) -> None:
        self._transport = transport
        self._range = parent
        self._index = index
        self._listed: Optional[List[str]] = None
        self._own: Dict[str, IMetric] = {}  # that it was given, without a range

    def __str__(self) -> str:
        return self.name()

    def __repr__(self) -> str:
        return "<%s %r>" % (type(self).__name__, self.name())

    def name(self, base: int = NameBase_FUNCTION) -> str:
        """The message of the event, for every base.

        Of a kernel its name: NameBase_FUNCTION alone, NameBase_DEMANGLED
        with its parameters, NameBase_MANGLED for a linker.
        """
        assert self._range and self._index is not None
        if base == IAction.NameBase_FUNCTION or not self._is_kernel():
            return self._range._action_name(self._index)
        reply = self._transport.call("action", **self._where())
        return str(reply["demangledName" if base == IAction.NameBase_DEMANGLED else "mangledName"])

    def _is_kernel(self) -> bool:
        return self._transport.kind == "ncu-rep"

    def workload_type(self) -> int:
        """WorkloadType_RANGE; of a kernel WorkloadType_KERNEL."""
        return IAction.WorkloadType_KERNEL if self._is_kernel() else IAction.WorkloadType_RANGE

    def metric_names(self) -> Tuple[str, ...]:
        """The names of all metrics of the action, those it was given last."""
        if self._listed is None:
            self._listed = self._list_names()
        return tuple(self._listed) + tuple(
            name for name in self._added() if name not in self._listed)

    def _list_names(self) -> List[str]:
        return list(self._transport.call("action", **self._where())["metricNames"])

    def _where(self) -> Dict[str, int]:
        assert self._range and self._index is not None
        return {"range": self._range._index, "action": self._index}

    def metric_by_name(self, name: str) -> "Optional[IMetric]":
        """The metric of that name, or None: the action has none.

        Raises TypeError for a name that is no text.
        """
        is_name = _is_name(name)
        given = self._added().get(name)
        return given if given is not None else self._fetch(name) if is_name else None

    def _fetch(self, name: str) -> "Optional[IMetric]":
        if self._range is not None and self._index is not None:
            column = self._range._column(name, self._index)
            at = self._index - column.first
            if column.types[at] is not None:
                return None if column.types[at] == "none" else \
                    IMetric(column.reply, column.values[at], column.types[at])
        reply = self._transport.call("metrics", names=[name], **self._where())["metrics"][0]
        return None if reply["na"] == "no such metric" else IMetric(reply)

    def __getitem__(self, name: str) -> "IMetric":
        """The metric of that name. Raises KeyError, and TypeError for no text."""
        metric = self.metric_by_name(name)
        if metric is None:
            raise KeyError(name)
        return metric

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.metric_by_name(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.metric_names())

    def __len__(self) -> int:
        return len(self.metric_names())

    def _added(self) -> "Dict[str, IMetric]":
        """The metrics that were given to the action, by all objects for it."""
        if self._range is None or self._index is None:
            return self._own
        return self._range._added.get(self._index, self._own)

    def _add(self, name: str, kind: str, value: "Optional[Value]") -> "IMutableMetric":
        if not isinstance(name, str):
            raise TypeError("the name of a metric is a text, not %s" % type(name).__name__)
        metric = IMutableMetric(name, kind, value)
        if self._range is None or self._index is None:
            self._own[name] = metric
        else:
            self._range._added.setdefault(self._index, {})[name] = metric
        return metric

    def add_metric(self, name: str) -> "IMutableMetric":
        """Adds a metric without a value, or one with what is there of that name.

        Its value can be set: IMutableMetric. What is added lives as long as
        the report is open, and is written nowhere.
        """
        metric = self.metric_by_name(name)
        if isinstance(metric, IMutableMetric):
            return metric
        added = self._add(name, "double", None)
        if metric is not None:
            added._copy(metric)
        return added

    def add_integer_metric(self, name: str, *args: Any) -> "IMutableMetric":
        """add_integer_metric(name[, kind], value); it hides one of that name.

        The kind is ValueKind_UINT64, the default, UINT32 or ANY. Raises
        TypeError for what is no integer, ValueError for one that is not from
        0 to 2**64 - 1, and for another kind.
        """
        kind, value = _take_kind(args, IMetric.ValueKind_UINT64)
        return self._add(name, *_check_value(kind, _integer(value), _INTEGERS))

    def add_double_metric(self, name: str, *args: Any) -> "IMutableMetric":
        """add_double_metric(name[, kind], value); it hides one of that name.

        The kind is ValueKind_DOUBLE, the default, FLOAT or ANY. Raises
        TypeError for what is no number, ValueError for another kind.
        """
        kind, value = _take_kind(args, IMetric.ValueKind_DOUBLE)
        return self._add(name, *_check_value(kind, _real(value), _REALS))

    def add_string_metric(self, name: str, *args: Any) -> "IMutableMetric":
        """add_string_metric(name[, kind], value); it hides one of that name.

        The kind is ValueKind_STRING, the default, or ANY. Raises TypeError
        for what is no text, ValueError for another kind.
        """
        kind, value = _take_kind(args, IMetric.ValueKind_STRING)
        return self._add(name, *_check_value(kind, _string(value), _STRINGS))

    def nvtx_state(self) -> "Optional[INvtxState]":
        """What is open at the start of the action, itself included.

        None: it has no state, as a kernel that was profiled without NVTX.
        """
        reply = self._transport.call("nvtx_state", **self._where())
        return INvtxState(reply["domains"]) if reply.get("hasState", True) else None

    def source_files(self) -> Dict[str, str]:
        """Texts by the names of files: none, a report has no files in it."""
        return {}

    def source_info(self, address: int) -> "Optional[ISourceInfo]":
        """None: a report has no lines in it."""
        del address
        return None

    def rule_results_as_dicts(self) -> List[Dict[str, Any]]:
        """The results of rules: none, they are not applied here."""
        return []

    def _code_by_pc(self) -> str:
        if not self._is_kernel():
            raise NotImplementedError("events have no machine code")
        return ""

    def sass_by_pc(self, address: int) -> str:
        """Empty: a report has no machine code in it.

        Raises NotImplementedError for events, which are none of a processor.
        """
        del address
        return self._code_by_pc()

    def ptx_by_pc(self, address: int) -> str:
        """Empty: a report has no machine code in it.

        Raises NotImplementedError for events, which are none of a processor.
        """
        del address
        return self._code_by_pc()


class _Summary(IAction):
    """Everything as one action."""

    def __init__(self, transport: "Transport") -> None:
        super().__init__(transport)
        reply = transport.call("action")
        self._name = reply["name"]
        self._listed = reply["metricNames"]

    def name(self, base: int = IAction.NameBase_FUNCTION) -> str:
        """The word capture, for every base."""
        del base
        return str(self._name)

    def _where(self) -> Dict[str, int]:
        return {}

    def nvtx_state(self) -> "Optional[INvtxState]":
        """None: a whole capture has no start."""
        return None


# ---- Metrics ------------------------------------------------------------------------------------

def _number(value: Any, kind: Optional[str]) -> Optional[Value]:
    """A value of a reply; an integer that JSON cannot hold comes as digits."""
    if kind in ("u32", "u64") and isinstance(value, str):
        return int(value)
    return float(value) if kind in ("float", "double") and value is not None else value


_NOT_FINITE = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}


class _ValueKind(int):
    """A ValueKind_*: has_value() tells it from the index of an instance."""


class IMetric(_Known):
    """A figure: one value, and instances if it has them, each with an id.

    Times are in ns. Access by another type converts: the text of a number,
    0 for a text, a double is cut to an integer.
    """

    ValueKind_UNKNOWN = _ValueKind(0)
    ValueKind_ANY = _ValueKind(1)
    ValueKind_STRING = _ValueKind(2)
    ValueKind_FLOAT = _ValueKind(3)
    ValueKind_DOUBLE = _ValueKind(4)
    ValueKind_UINT32 = _ValueKind(5)
    ValueKind_UINT64 = _ValueKind(6)

    MetricType_OTHER = 0
    MetricType_COUNTER = 1
    MetricType_RATIO = 2
    MetricType_THROUGHPUT = 3

    MetricSubtype_NONE = 0
    MetricSubtype_PEAK_SUSTAINED = 1
    MetricSubtype_PEAK_SUSTAINED_ACTIVE = 2
    MetricSubtype_PEAK_SUSTAINED_ACTIVE_PER_SECOND = 3
    MetricSubtype_PEAK_SUSTAINED_ELAPSED = 4
    MetricSubtype_PEAK_SUSTAINED_ELAPSED_PER_SECOND = 5
    MetricSubtype_PEAK_SUSTAINED_FRAME = 6
    MetricSubtype_PEAK_SUSTAINED_FRAME_PER_SECOND = 7
    MetricSubtype_PEAK_SUSTAINED_REGION = 8
    MetricSubtype_PEAK_SUSTAINED_REGION_PER_SECOND = 9
    MetricSubtype_PER_CYCLE_ACTIVE = 10
    MetricSubtype_PER_CYCLE_ELAPSED = 11
    MetricSubtype_PER_CYCLE_IN_FRAME = 12
    MetricSubtype_PER_CYCLE_IN_REGION = 13
    MetricSubtype_PER_SECOND = 14
    MetricSubtype_PCT_OF_PEAK_SUSTAINED_ACTIVE = 15
    MetricSubtype_PCT_OF_PEAK_SUSTAINED_ELAPSED = 16
    MetricSubtype_PCT_OF_PEAK_SUSTAINED_FRAME = 17
    MetricSubtype_PCT_OF_PEAK_SUSTAINED_REGION = 18
    MetricSubtype_MAX_RATE = 19
    MetricSubtype_PCT = 20
    MetricSubtype_RATIO = 21
    MetricSubtype_PER_REGION = 22

    RollupOperation_NONE = 0
    RollupOperation_AVG = 1
    RollupOperation_MAX = 2
    RollupOperation_MIN = 3
    RollupOperation_SUM = 4

    _KINDS = {"string": ValueKind_STRING, "float": ValueKind_FLOAT, "double": ValueKind_DOUBLE,
              "u32": ValueKind_UINT32, "u64": ValueKind_UINT64}

    def __init__(self, reply: "_Reply", value: Any = None, kind: Optional[str] = None) -> None:
        self._reply = reply
        self._type = kind or reply["type"]
        self._na = None if kind else reply["na"]
        self._value = self._finite(reply["value"], self._na) if kind is None \
            else _number(value, kind)
        self._instances: List[Dict[str, Any]] = (not kind and reply["instances"]) or []

    def _finite(self, value: Any, na: Optional[str], kind: Optional[str] = None) -> Optional[Value]:
        return _NOT_FINITE[na] if na in _NOT_FINITE else _number(value, kind or self._type)

    def __len__(self) -> int:
        return len(self._instances)

    def __str__(self) -> str:
        return self.name()

    def __repr__(self) -> str:
        value = self.as_string()
        return "<%s %s: %s>" % (type(self).__name__, self, "N/A" if value is None else value)

    def __bool__(self) -> bool:
        return True

    def name(self) -> str:
        """The name, such as "range__time_duration.sum"."""
        return str(self._reply["name"])

    def unit(self) -> str:
        """The unit, such as "ns"; empty: it has none."""
        return str(self._reply["unit"])

    def description(self) -> str:
        """What the metric is, in a sentence or more."""
        return str(self._reply["description"])

    def metric_type(self) -> int:
        """One of MetricType_*: that of the base, whatever is computed of it.

        A counter is one per second and in percent of its peak, too.
        """
        return {"counter": self.MetricType_COUNTER, "ratio": self.MetricType_RATIO,
                "throughput": self.MetricType_THROUGHPUT}.get(self._reply["metricType"],
                                                              self.MetricType_OTHER)

    def metric_subtype(self) -> Optional[int]:
        """One of MetricSubtype_*, or None.

        It is what stands behind the rollup: MetricSubtype_PER_SECOND of
        "dram__cycles_elapsed.avg.per_second".
        """
        word = self._reply["subtype"]
        subtype = getattr(type(self), "MetricSubtype_" + word.upper(), None) if word else None
        return None if subtype is None else int(subtype)

    def rollup_operation(self) -> Optional[int]:
        """One of RollupOperation_AVG, MAX, MIN, SUM, or None."""
        return {"avg": self.RollupOperation_AVG, "max": self.RollupOperation_MAX,
                "min": self.RollupOperation_MIN,
                "sum": self.RollupOperation_SUM}.get(self._reply["rollup"])

    def num_instances(self) -> int:
        """How many instances there are; 0: it is one value."""
        return len(self._instances)

    def has_correlation_ids(self) -> bool:
        """Whether the instances have ids."""
        return any(one["id"] is not None for one in self._instances)

    def correlation_ids(self) -> "Optional[IMetric]":
        """A metric whose instances have the ids as values; None: no ids."""
        if not self.has_correlation_ids():
            return None
        ids = self.ids()
        kinds = ["string" if isinstance(one, str) else "u64" for one in ids]
        return IMetric({"name": self.name(), "unit": "", "value": None,
                        "type": "string" if "string" in kinds else "u64",
                        "na": "ids of instances", "description": "Ids of the instances.",
                        "metricType": "other", "subtype": None, "rollup": None,
                        "instances": [{"id": i, "value": one, "type": kind}
                                      for i, (one, kind) in enumerate(zip(ids, kinds))]})

    def has_value(self, instance: Optional[int] = None) -> bool:
        """Whether the metric, or an instance, has a value; else it is N/A.

        With one of ValueKind_*: whether the metric has a value of that kind.
        """
        if isinstance(instance, _ValueKind):
            return self.has_value() and instance in (self.ValueKind_ANY, self.kind())
        return self.value(instance) is not None

    def na_reason(self) -> Optional[str]:
        """Why there is no value; None: there is one."""
        return None if self._na in _NOT_FINITE else self._na

    def kind(self, instance: Optional[int] = None) -> int:
        """The type of the value, one of ValueKind_*; UNKNOWN: there is none."""
        kind = self._type if instance is None else self._instances[instance].get("type", self._type)
        return self._KINDS[kind] if self.has_value(instance) else self.ValueKind_UNKNOWN

    def value(self, instance: Optional[int] = None) -> "Optional[Value]":
        """The value of the metric, or of an instance; None: there is none.

        An int, a float or a str: see kind(). Times are in ns. Raises
        IndexError for an instance that is not there.
        """
        if instance is None:
            return self._value
        one = _Sequence._at(_List(self._instances), instance)
        return self._finite(one["value"], one.get("na"), one.get("type"))

    def as_string(self, instance: Optional[int] = None) -> Optional[str]:
        """The value as a text; None: there is none.

        Raises IndexError for an instance that is not there.
        """
        value = self.value(instance)
        return None if value is None else str(value)

    def as_double(self, instance: Optional[int] = None) -> float:
        """The value as a float; 0.0 for a text, and when there is no value.

        Raises IndexError for an instance that is not there.
        """
        value = self.value(instance)
        return 0.0 if value is None or isinstance(value, str) else float(value)

    def as_uint64(self, instance: Optional[int] = None) -> int:
        """The value as an integer from 0 to 2**64 - 1.

        A double is cut; 0 for a text, and when there is no value. Raises
        IndexError for an instance that is not there.
        """
        value = self.value(instance)
        if value is None or isinstance(value, str) or value != value:
            return 0
        return int(min(max(value, 0), 2 ** 64 - 1))

    def values(self) -> List[Optional[Value]]:
        """The values of all instances."""
        return [self.value(i) for i in range(len(self._instances))]

    def ids(self) -> List[Value]:
        """The ids of all instances: integers or texts; None of one without an id."""
        return [one["id"] for one in self._instances]


# What kinds a value may be given as: the words of a reply.
_STRINGS = {IMetric.ValueKind_STRING: "string", IMetric.ValueKind_ANY: "string"}
_REALS = {IMetric.ValueKind_DOUBLE: "double", IMetric.ValueKind_FLOAT: "float",
          IMetric.ValueKind_ANY: "double"}
_INTEGERS = {IMetric.ValueKind_UINT64: "u64", IMetric.ValueKind_UINT32: "u32",
             IMetric.ValueKind_ANY: "u64"}

_MOST_INSTANCES = 1 << 20  # of a metric that a script fills


def _integer(value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError("the value is an integer, not %s" % type(value).__name__)
    return int(value.__index__())


def _real(value: Any) -> float:
    if isinstance(value, (bool, str, bytes)) or not hasattr(value, "__float__"):
        raise TypeError("the value is a number, not %s" % type(value).__name__)
    return float(value)


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("the value is a text, not %s" % type(value).__name__)
    return value


def _take_kind(args: Sequence[Any], kind: int) -> Tuple[int, Any]:
    """(kind, value) of ([kind,] value)."""
    if not 1 <= len(args) <= 2:
        raise TypeError("a kind and a value are taken, or a value alone; not %d" % len(args))
    return (_integer(args[0]), args[1]) if len(args) == 2 else (kind, args[0])


def _check_value(kind: int, value: Value, kinds: Dict[int, str]) -> Tuple[str, Value]:
    """The word and the value of a kind. Raises ValueError."""
    word = kinds.get(kind)
    if word is None:
        raise ValueError("the value is of no such kind: %d" % kind)
    if word == "float":
        try:
            value = struct.unpack("<f", struct.pack("<f", value))[0]
        except OverflowError:
            value = float("inf") if float(value) > 0 else float("-inf")
    bits = {"u32": 32, "u64": 64}.get(word)
    if bits and not 0 <= int(value) < 2 ** bits:
        raise ValueError("the value is not from 0 to 2**%d - 1: %d" % (bits, int(value)))
    return word, value


class IMutableMetric(IMetric):
    """A metric that was added to an action: its values can be set.

    set_double([instance,] kind, value), set_uint64() and set_string() set
    the value, or that of an instance: the next one, or one that is there.
    They return whether they did: False for a kind that is none of theirs,
    and for a value that the kind cannot hold.
    """

    def __init__(self, name: str, kind: str = "double", value: "Optional[Value]" = None) -> None:
        super().__init__({"name": name, "unit": "", "type": kind, "value": value, "description": "",
                          "na": "no value was given" if value is None else None,
                          "metricType": "other", "subtype": None, "rollup": None,
                          "instances": None})

    def _copy(self, metric: IMetric) -> None:
        """Has all that the other has."""
        self._reply, self._type = metric._reply, metric._type
        self._na, self._value = metric._na, metric._value
        self._instances = [dict(one) for one in metric._instances]

    def _instance(self, index: int) -> "Optional[Dict[str, Any]]":
        """The instance of an index, which is made if it is not there; None: it cannot be."""
        number = _integer(index)
        if not 0 <= number < _MOST_INSTANCES:
            return None
        while len(self._instances) <= number:
            self._instances.append({"id": None, "value": None, "type": self._type})
        return self._instances[number]

    def _put(self, instance: "Optional[int]", kind: str, value: Value) -> bool:
        if instance is None:
            self._type, self._value, self._na = kind, value, None
            return True
        one = self._instance(instance)
        if one is not None:
            one.update(value=value, type=kind)
            one.pop("na", None)
        return one is not None

    def _set(self, args: Sequence[Any], check: Any, kinds: Dict[int, str]) -> bool:
        if not 2 <= len(args) <= 3:
            raise TypeError("an instance, a kind and a value are taken, or the last two")
        instance = args[0] if len(args) == 3 else None
        try:
            kind, value = _check_value(_integer(args[-2]), check(args[-1]), kinds)
        except ValueError:
            return False
        return self._put(instance, kind, value)

    def set_double(self, *args: Any) -> bool:
        """set_double([instance,] kind, value): ValueKind_DOUBLE, FLOAT or ANY.

        Raises TypeError for what is no number.
        """
        return self._set(args, _real, _REALS)

    def set_uint64(self, *args: Any) -> bool:
        """set_uint64([instance,] kind, value): ValueKind_UINT64, UINT32 or ANY.

        Raises TypeError for what is no integer.
        """
        return self._set(args, _integer, _INTEGERS)

    def set_string(self, *args: Any) -> bool:
        """set_string([instance,] kind, value): ValueKind_STRING or ANY.

        Raises TypeError for what is no text.
        """
        return self._set(args, _string, _STRINGS)

    def mutable_correlation_ids(self) -> "IMutableMetric":
        """A metric whose instances are the ids of this one's; they can be set."""
        return _MutableIds(self)


class _MutableIds(IMutableMetric):
    """The ids of the instances of a metric, as instances."""

    def __init__(self, owner: IMutableMetric) -> None:
        super().__init__(owner.name(), "u64")
        self._na = "ids of instances"
        self._owner = owner
        for index, one in enumerate(owner._instances):
            kind = "string" if isinstance(one["id"], str) else "u64"
            self._instances.append({"id": index, "value": one["id"], "type": kind})

    def _put(self, instance: "Optional[int]", kind: str, value: Value) -> bool:
        one = None if instance is None else self._owner._instance(instance)
        if one is None or kind in ("double", "float"):
            return False
        one["id"] = value
        return super()._put(instance, kind, value)


class _List(_Sequence):
    def __init__(self, items: Sequence[Any]) -> None:
        self._items = items

    def __len__(self) -> int:
        return len(self._items)

    def _get(self, index: int) -> Any:
        return self._items[index]


# ---- NVTX states --------------------------------------------------------------------------------

class INvtxRange(_Known):
    """A range that is open: its name and attributes."""

    PayloadType_PAYLOAD_UNKNOWN = PayloadType_NONE = 0
    PayloadType_PAYLOAD_UINT64 = 1
    PayloadType_PAYLOAD_INT64 = PayloadType_INTEGER = 2
    PayloadType_PAYLOAD_DOUBLE = PayloadType_DOUBLE = 3
    PayloadType_PAYLOAD_UINT32 = 4
    PayloadType_PAYLOAD_INT32 = 5
    PayloadType_PAYLOAD_FLOAT = 6
    PayloadType_PAYLOAD_JSON = 7

    def __init__(self, reply: Dict[str, Any]) -> None:
        self._reply = reply

    def __str__(self) -> str:
        return self.name()

    def __repr__(self) -> str:
        return "<INvtxRange %r>" % self.name()

    def name(self) -> str:
        """The message."""
        return str(self._reply["name"])

    def message(self) -> str:
        """The message; empty: a range of a kernel that has none as attribute."""
        message = self._reply.get("message", self._reply["name"])
        return "" if message is None else str(message)

    def has_attributes(self) -> bool:
        """Whether it has a category, a colour or a payload, or other attributes."""
        return bool(self._reply.get("hasAttributes") or self._reply["category"]
                    or self._reply["color"] is not None or self.payload() is not None)

    def category(self) -> int:
        """The number of the category; 0: it has none."""
        return int(self._reply["category"] or 0)

    def color(self) -> int:
        """The colour as 0xAARRGGBB; 0: it has none."""
        color = self._reply["color"]
        return 0 if color is None else int(color[1:], 16)

    def payload_type(self) -> int:
        """One of PayloadType_PAYLOAD_*; UNKNOWN: it has none."""
        payload = self.payload()
        if payload is None:
            return self.PayloadType_PAYLOAD_UNKNOWN
        word = self._reply.get("payloadType") or \
            ("double" if isinstance(payload, float) else "int64")
        return int(getattr(self, "PayloadType_PAYLOAD_" + word.upper()))

    def payload_as_double(self) -> float:
        """The payload as a float; 0.0: it has none."""
        payload = self.payload()
        return 0.0 if payload is None else float(payload)

    def payload_as_uint64(self) -> int:
        """The payload as an integer from 0 to 2**64 - 1.

        A double is cut; 0 for one that is negative, and when there is none.
        """
        payload = self.payload()
        if payload is None or payload != payload:
            return 0
        return int(min(max(payload, 0), 2 ** 64 - 1))

    def payload_as_string(self) -> str:
        """The payload as a text; empty: it has none."""
        payload = self.payload()
        return "" if payload is None else str(payload)

    def payload(self) -> Union[int, float, None]:
        """The number; None: there is none."""
        payload = self._reply["payload"]
        if payload is None:
            return _NOT_FINITE.get(self._reply.get("na", ""))
        return int(payload) if isinstance(payload, str) else payload

    def row(self) -> Optional[int]:
        """The row in the store, as event__attribute_row; None in a report file."""
        return self._reply.get("row")


class INvtxDomainInfo(_Known):
    """What is open in one domain."""

    def __init__(self, reply: Dict[str, Any]) -> None:
        self._reply = reply
        self._push_pop = _List([INvtxRange(one) for one in reply["pushPop"]])
        self._start_end = _List([INvtxRange(one) for one in reply["startEnd"]])

    def __str__(self) -> str:
        return self.name()

    def __repr__(self) -> str:
        return "<INvtxDomainInfo %r>" % self.name()

    def name(self) -> str:
        """The name; "<default domain>" of the default one."""
        return str(self._reply["name"])

    def push_pop_ranges(self) -> Tuple[str, ...]:
        """The names of the push/pop ranges, from the bottom of the stack."""
        return tuple(one.name() for one in self._push_pop)

    def push_pop_range(self, index: int) -> Optional[INvtxRange]:
        """A push/pop range, or None; 0 is the bottom of the stack."""
        return self._push_pop._find(index)

    def start_end_ranges(self) -> Tuple[str, ...]:
        """The names of the start/end ranges, by their start."""
        return tuple(one.name() for one in self._start_end)

    def start_end_range(self, index: int) -> Optional[INvtxRange]:
        """A start/end range, or None."""
        return self._start_end._find(index)


class INvtxState(_Known):
    """What is open at the start of an action, by domain.

    state[id] is the domain of that id, or raises KeyError; iteration is
    over the domains, and len() is their number.
    """

    def __init__(self, domains: List[Dict[str, Any]]) -> None:
        self._domains = {int(one["id"]): INvtxDomainInfo(one) for one in domains}

    def __repr__(self) -> str:
        return "<INvtxState %s>" % (self.domains(),)

    def domains(self) -> Tuple[int, ...]:
        """The ids of the domains in which something is open, ascending."""
        return tuple(self._domains)

    def domain_by_id(self, number: int) -> Optional[INvtxDomainInfo]:
        """The domain of an id, or None."""
        return self._domains.get(number)

    def __getitem__(self, number: int) -> INvtxDomainInfo:
        """The domain of an id. Raises KeyError, and TypeError for no integer."""
        if isinstance(number, bool) or not hasattr(number, "__index__"):
            raise TypeError("the id of a domain is an integer, not %s" % type(number).__name__)
        return self._domains[number.__index__()]

    def __contains__(self, number: object) -> bool:
        return number in self._domains

    def __iter__(self) -> Iterator[INvtxDomainInfo]:
        return iter(self._domains.values())

    def __len__(self) -> int:
        return len(self._domains)
