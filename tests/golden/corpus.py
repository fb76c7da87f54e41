# SPDX-License-Identifier: Apache-2.0
"""The golden corpus: reads the cases and compares what a run gave with what they expect.

README.md beside this file describes the folders. Nothing here runs a program.
"""
import difflib
import json
import os
import platform
import shlex

EVENT_KINDS = ("mark", "push-pop", "start-end")
MAPPING_OPTIONS = ("--mode", "--ns-a", "--ns-b", "--nvtxt-a", "--nvtxt-b", "--freq")
HELLO = b"#nvtxt-session "
KEPT_DIAGNOSTICS = 1000  # a source's further diagnostics are only counted


class Case:
    """One folder of the corpus."""

    def __init__(self, folder):
        self.folder = folder
        self.name = os.path.basename(folder)
        self.path = os.path.join(folder, "input.nvtxt")
        with open(self.path, "rb") as file:
            self.input = file.read()
        self.rows = [json.loads(line) for line in self._lines("rows")]
        self.diags = self._lines("diags")
        arguments = shlex.split(" ".join(self._lines("args")))
        self.options = list(zip(arguments[::2], arguments[1::2]))
        self.offline = os.path.exists(os.path.join(folder, "offline"))
        self.not_aarch64 = os.path.exists(os.path.join(folder, "not-aarch64"))

        self.hello = self._hello()

    def _hello(self):
        """What the first line says about the lines after it, as members of a hello."""
        first = self.input.split(b"\n")[0]
        try:
            members = json.loads(first[len(HELLO):]) if first.startswith(HELLO) else {}
        except ValueError:
            return {}
        return {name: members[name] for name in ("nvtx", "escapes") if members.get(name)}

    def _lines(self, name):
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8", newline="\n") as file:
            return file.read().rstrip("\n").split("\n") if os.path.getsize(path) else []

    def arguments(self):
        return [word for option in self.options for word in option]

    def option(self, name):
        """The value of an option, or None."""
        return dict(self.options).get(name)

    def mapping(self):
        """The member of a hello that says what the mapping options say, or None."""
        found = {name[2:].replace("-", "_"): value for name, value in self.options
                 if name in MAPPING_OPTIONS}
        return {name: value if name == "mode" else int(value)
                for name, value in found.items()} or None

    def lines(self):
        """The stream's lines with their ends; the last one gets one, as a session asks for."""
        lines = self.input.split(b"\n")
        return [line + b"\n" for line in (lines if lines[-1] else lines[:-1])]

    def session_lines(self):
        """The same in a session, where a line must not begin as the session's own lines do."""
        return [b" " + line if line.startswith(b"#nvtxt-") else line for line in self.lines()]

    def events(self):
        return [row for row in self.rows if row[0] in EVENT_KINDS]

    def names(self):
        return [row for row in self.rows if row[0] not in EVENT_KINDS]

    def counters(self):
        """What the source's counters must say; a figure that the case does not tell is None."""
        kept_all = len(self.diags) < KEPT_DIAGNOSTICS
        return {
            "lines": len(self.lines()),
            "events": len(self.events()),
            "warnings": sum(" warning " in d for d in self.diags) if kept_all else None,
            "errors": sum(" error " in d for d in self.diags) if kept_all else None,
        }

    def has_errors(self):
        return any(" error " in diag for diag in self.diags)

    def why_not(self, mode):
        """Why the case means nothing in a mode (it is not run then), or None."""
        names = [name for name, _ in self.options]
        if self.not_aarch64 and platform.machine() == "aarch64":
            return "not for aarch64"
        if mode in ("interp", "split"):
            return None
        if "--claim" in names or "--limit" in names:
            return "needs a configuration of its own"
        if mode in ("import", "export", "check"):
            return "a file has no default process" if "--pid" in names else None
        if mode == "watch" and self.hello:
            return "a hello in the file means nothing there"
        if mode == "watch":
            return "a followed file has no options, and needs a byte" \
                if names or not self.input else None
        if self.offline:
            return "a rule of files"
        if self.hello and mode in ("send", "plain", "watch"):
            return "a hello in the file means nothing there"
        if mode == "plain" and self.input.startswith(HELLO):
            return "the daemon reads the first line as a hello"
        if mode in ("send", "plain") and self.mapping():
            return "cannot declare a mapping"
        if mode == "plain" and "--pid" in names:
            return "cannot declare a process"
        if mode == "plain" and not self.input:
            return "a connection that says nothing is no source"
        return None


def load(top, wanted=()):
    """The cases below `top`, all or the wanted ones, by name."""
    names = sorted(name for name in os.listdir(top)
                   if os.path.exists(os.path.join(top, name, "input.nvtxt")))
    missing = sorted(set(wanted) - set(names))
    if missing:
        raise SystemExit("no such case: " + ", ".join(missing))
    return [Case(os.path.join(top, name)) for name in names if not wanted or name in wanted]


def normal_events(rows):
    """Rows with the unclosed ones, whose order is free, in a fixed order at the end."""
    closed = [row for row in rows if row[-1] != "unclosed"]
    unclosed = [row for row in rows if row[-1] == "unclosed"]
    if rows[len(closed):] != unclosed:
        return rows  # an unclosed row before a closed one is wrong: let it be seen
    return closed + sorted(unclosed, key=json.dumps)


def normal_diags(diags):
    """Diagnostics with those of one line in a fixed order."""
    groups = []
    for diag in diags:
        key = (diag.partition(":")[0], diag.endswith(" never-closed"))
        if not groups or groups[-1][0] != key:
            groups.append((key, []))
        groups[-1][1].append(diag)
    return [diag for _, group in groups for diag in sorted(group)]


def without_stage(diags):
    """What people see of a diagnostic: all but the stage."""
    return [" ".join(diag.split(" ")[i] for i in (0, 1, 3)) for diag in diags]


def _text(items):
    return [item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)
            for item in items]


def difference(what, expected, found):
    """Lines that say how two lists differ; none when they are the same, types included."""
    if _text(expected) == _text(found):
        return []
    lines = difflib.unified_diff(_text(expected), _text(found), "expected " + what,
                                 "found " + what, n=1, lineterm="")
    return [line if len(line) < 300 else line[:300] + "…" for line in lines][:40]


def compare_events(case, found, expected=None):
    expected = case.events() if expected is None else expected
    return difference("rows", normal_events(expected), normal_events(found))


def compare_names(case, found):
    key = lambda row: json.dumps(row, ensure_ascii=False)
    return difference("names", sorted(case.names(), key=key), sorted(found, key=key))


def compare_diags(case, found):
    return difference("diagnostics", normal_diags(case.diags), normal_diags(found))


def compare_counters(case, found):
    expected = {name: value for name, value in case.counters().items() if value is not None}
    return difference("counters", [f"{name} {value}" for name, value in expected.items()],
                      [f"{name} {found.get(name)}" for name in expected])
