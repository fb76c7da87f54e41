# SPDX-License-Identifier: Apache-2.0
"""Runs one Python rule for nvtxt-report, which starts it: rule_host.py FD FILE [TEXT [PROCESSES]].

FD is a socket to nvtxt-report: requests go out, replies come in, as lines of JSON. The
first request, rule_begin, asks for the task: to describe the rule, or to apply it. TEXT is
a descriptor with what is in FILE, which need not be readable here. PROCESSES is the most
that the user may have, threads too.

The process belongs to the rule from then on. It may leave at any place, also by the end
of the process itself; nvtxt-report knows from the last request how far it came.
"""
import sys

sys.dont_write_bytecode = True  # before the first import of our own: folders are not written to

import gc  # noqa: E402
import importlib.machinery  # noqa: E402
import os  # noqa: E402
import resource  # noqa: E402
import socket  # noqa: E402
import stat  # noqa: E402
import types  # noqa: E402
from importlib.machinery import ModuleSpec, PathFinder  # noqa: E402
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import nvtxt_report  # noqa: E402
import nvtxt_rules  # noqa: E402

sys.path.remove(HERE)
sys.modules["NvRules"] = nvtxt_rules

MOST_TEXT = 4096  # bytes of the text of an exception
RESERVE = 4 << 20  # bytes to say that memory was short
LOST = 76  # the exit status when nvtxt-report is gone, or does not understand


# ---- What a rule raises -------------------------------------------------------------------------

def _text_of(error: BaseException) -> str:
    try:
        said = error.msg if isinstance(error, SyntaxError) else str(error)
        sent = str(said).replace("\0", "\\0").encode("utf-8", "replace")
    except Exception:  # a __str__ of the rule's own
        return ""
    return sent[:MOST_TEXT].decode("utf-8", "ignore")


def _is_of(file: str, folder: str) -> bool:
    return file.startswith(os.path.join(folder, "")) and os.path.dirname(file) != HERE


def _place_of(error: BaseException, file: str, line: int) -> Tuple[str, int]:
    """The innermost place within the folder of the rule, or that of the function called."""
    folder = os.path.dirname(file)
    place = file, line
    trace = error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if name == file or _is_of(name, folder):
            place = name, trace.tb_lineno
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.lineno:
        name = error.filename or ""
        if name == file or _is_of(name, folder):
            place = name, error.lineno
    return place


# ---- What a rule imports ------------------------------------------------------------------------

class _Source(importlib.machinery.SourceFileLoader):
    """Reads the source only: who may write a cached file was not asked."""

    def get_code(self, fullname: str) -> types.CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


class Modules:
    """Finds modules in the folder of the rule. Those that others may write are refused, as rules."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def find_spec(self, name: str, path: Optional[Sequence[str]] = None,
                  target: Optional[types.ModuleType] = None) -> Optional[ModuleSpec]:
        """What the import system asks for; None: the module is not in the folder."""
        spec = PathFinder.find_spec(name, [self._folder] if path is None else path, target)
        if spec is None or not spec.origin or not _is_of(spec.origin, self._folder):
            return None
        for place in (spec.origin, os.path.dirname(spec.origin)):
            if os.stat(place).st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                raise ImportError("others may write to %s" % place)
        if isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = _Source(spec.name, spec.origin)
        return spec


# ---- The rule -----------------------------------------------------------------------------------

class Raised(Exception):
    """A rule raised; what is sent of it. The exception itself is gone, with all it held."""


class Rule:
    """A rule file, and the functions that it has."""

    def __init__(self, file: str, text: Optional[bytes] = None) -> None:
        self.file = file
        self._text = text
        self._reserve: Optional[bytearray] = bytearray(RESERVE)
        self._module = types.ModuleType(os.path.splitext(os.path.basename(file))[0])
        self._module.__file__ = file

    def load(self) -> None:
        """Runs the file. Raises Raised."""
        folder = os.path.dirname(self.file)
        sys.path.insert(0, folder)
        sys.meta_path.insert(sys.meta_path.index(PathFinder), Modules(folder))
        sys.argv = [self.file]
        sys.modules[self._module.__name__] = self._module
        self._run(self._execute, 1)

    def _execute(self) -> None:
        if self._text is None:
            with open(self.file, "rb") as source:
                self._text = source.read()
        code = compile(self._text, self.file, "exec", dont_inherit=True)
        exec(code, self._module.__dict__)

    def has(self, name: str) -> bool:
        """Whether the file has a function of that name."""
        return hasattr(self._module, name)

    def call(self, name: str, *args: Any) -> Any:
        """Calls a function of the file. Raises Raised."""
        function = getattr(self._module, name)
        code = getattr(function, "__code__", None)
        return self._run(lambda: function(*args), code.co_firstlineno if code else 1)

    def text(self, name: str) -> str:
        """The text that a function returns. Raises Raised."""
        value = self.call(name)
        return self._check(name, value, isinstance(value, str), "a text",
                           lambda text: nvtxt_rules._text(text, "what %s() returns" % name))

    def texts(self, name: str) -> List[str]:
        """The list of texts that a function returns. Raises Raised."""
        value = self.call(name)
        fits = isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value)
        what = "what %s() returns" % name
        return self._check(name, value, fits, "a list of texts",
                           lambda texts: [nvtxt_rules._text(text, what) for text in texts])

    def _check(self, name: str, value: Any, fits: bool, what: str,
               kind: Callable[[Any], Any]) -> Any:
        def check(*_: Any) -> Any:
            if not fits:
                raise TypeError("%s() returns %s, not %s" % (name, type(value).__name__, what))
            return kind(value)
        function = getattr(self._module, name)
        code = getattr(function, "__code__", None)
        return self._run(check, code.co_firstlineno if code else 1)

    def _run(self, function: Callable[[], Any], line: int) -> Any:
        me = os.getpid()
        found: Dict[str, Any] = {}
        try:
            return function()
        except BaseException as error:
            self._reserve = None
            if os.getpid() != me:  # a child of the rule comes no further than this
                os._exit(1)
            file, line = _place_of(error, self.file, line)
            found = {"type": type(error).__name__, "text": _text_of(error), "file": file,
                     "line": line}
        gc.collect()
        raise Raised(found)


# ---- Tasks --------------------------------------------------------------------------------------

def describe(rule: Rule) -> Dict[str, Any]:
    """What rule_describe sends."""
    said: Dict[str, Any] = {"helper": False, "identifier": None, "name": None, "description": None,
                            "section": None, "parents": [], "missing": []}
    needed = ("get_identifier", "apply", "get_name", "get_description")
    if not rule.has("get_identifier") and not rule.has("apply"):
        said["helper"] = True
        return said
    said["missing"] = [name for name in needed if not rule.has(name)]
    if rule.has("get_identifier"):
        said["identifier"] = rule.text("get_identifier")
    said["name"] = rule.text("get_name") if rule.has("get_name") else said["identifier"]
    said["description"] = rule.text("get_description") if rule.has("get_description") else ""
    if rule.has("get_section_identifier"):
        said["section"] = rule.text("get_section_identifier") or None
    if rule.has("get_parent_rules_identifiers"):
        said["parents"] = rule.texts("get_parent_rules_identifiers")
    return said


def apply(rule: Rule, handle: nvtxt_rules.Handle) -> None:
    """Evaluates the rule, and applies it unless nvtxt-report says that it cannot be."""
    if rule.has("evaluate"):
        handle.evaluating = True
        rule.call("evaluate", handle)
        handle.evaluating = False
        flush()
        if not handle.connection.call("rule_evaluated")["go"]:
            return
    rule.call("apply", handle)
    flush()
    handle.connection.call("rule_done")


def run(connection: nvtxt_rules.Connection, file: str, text: Optional[bytes]) -> None:
    """Does what nvtxt-report asks for. Raises Raised."""
    begin = connection.call("rule_begin")
    rule = Rule(file, text)
    rule.load()
    if begin["task"] == "describe":
        said = describe(rule)
        flush()
        connection.call("rule_describe", **said)
    else:
        apply(rule, nvtxt_rules.Handle(connection, begin["version"]))


def open_connection(number: int) -> nvtxt_rules.Connection:
    """The socket of a number; programs and children that the rule starts do not have it."""
    link = socket.socket(fileno=number)
    link.set_inheritable(False)
    connection = nvtxt_rules.Connection(link)
    os.register_at_fork(after_in_child=connection.leave)
    return connection


def read_text(number: int) -> bytes:
    """What the descriptor has; it is closed then."""
    with open(number, "rb") as source:
        return source.read()


STREAMS = sys.stdout, sys.stderr


def flush() -> None:
    """Writes what the rule printed: after the last request nvtxt-report ends the process."""
    for stream in STREAMS + (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # the rule closed it, or put something of its own there
            pass


def main() -> int:
    """The exit status: 1 when the rule raised."""
    for name in set(os.environ) - {"PATH", "LANG", "HOME"}:  # bubblewrap and Python set some
        del os.environ[name]
    for stream in STREAMS:
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
    connection = open_connection(int(sys.argv[1]))
    text = read_text(int(sys.argv[3])) if len(sys.argv) > 3 else None
    if len(sys.argv) > 4:
        resource.setrlimit(resource.RLIMIT_NPROC, (int(sys.argv[4]),) * 2)
    try:
        run(connection, os.path.abspath(sys.argv[2]), text)
        return 0
    except Raised as raised:
        flush()
        connection.call("rule_raised", **raised.args[0])
        return 1


if __name__ == "__main__":
    try:
        STATUS = main()
    except (nvtxt_report.Error, ValueError):
        STATUS = LOST
    flush()
    os._exit(STATUS)  # without threads of the rule and what it left for the end
