# SPDX-License-Identifier: Apache-2.0
"""What crash/record_io.c wrote down of a program's calls, and what of it was on the disk when."""
import collections
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import lib  # noqa: E402

LIBRARY = os.path.join(lib.TOP_BUILD, "tests", "crash", "record_io.so")

# A call: `file` is device and inode, `at` and `size` in bytes, `data` its first bytes, `source` the
# name before a rename or of a link's other name.
Call = collections.namedtuple("Call", "pid what file path at size data source")


def need_recorder():
    """A preloaded library and a sanitizer's, or valgrind's, do not go together."""
    if lib.SANITIZERS or lib.WRAPPER:
        raise lib.Skip("calls are recorded without sanitizers and valgrind only")


def recording(log, fail=None, data=None):
    """The environment of a program whose calls go into the file `log`."""
    need_recorder()
    env = {**os.environ, "LD_PRELOAD": os.path.abspath(LIBRARY), "NVTXT_IO_LOG": log}
    if fail:
        env["NVTXT_IO_FAIL"] = fail
    if data:
        env["NVTXT_IO_DATA"] = str(data)
    return env


def read(log):
    """Of a program that still runs: the calls whose lines are whole."""
    calls = []
    with open(log, encoding="utf-8") as file:
        for line in file:
            if not line.endswith("\n"):
                break
            pid, what, *rest = line.rstrip("\n").split("\t")
            if what in ("rename", "link", "create", "unlink"):
                calls.append(Call(pid, what, rest[0], rest[1], 0, 0, b"", rest[2]))
            elif what == "exit":
                calls.append(Call(pid, what, "", "", 0, 0, b"", ""))
            else:
                calls.append(Call(pid, what, rest[0], rest[1], int(rest[2]), int(rest[3]),
                                  bytes.fromhex(rest[4]), ""))
    if not calls:
        raise AssertionError("nothing was recorded in " + log)
    return calls


class Unsynced:
    """What a disk need not have: bytes of files, and names in folders."""

    def __init__(self):
        self.files = {}  # those with bytes that are not synced: their newest path
        self.names = collections.defaultdict(set)  # folder: names that are new or changed
        self.paths = {}  # path: file

    def name(self, path):
        folder, name = os.path.split(path)
        self.names[folder].add(name)

    def take(self, call):
        if call.what in ("write", "truncate"):
            self.files[call.file] = call.path
        elif call.what == "sync":
            self.files.pop(call.file, None)
            self.names.pop(call.path, None)
        elif call.what == "create":
            self.files.pop(call.file, None)  # the number of a file that is gone
            self.paths[call.path] = call.file
            self.name(call.path)
        elif call.what in ("rename", "link"):
            self.paths[call.path] = call.file
            if call.what == "rename":
                self.paths.pop(call.source, None)
                self.names[os.path.dirname(call.source)].discard(os.path.basename(call.source))
            self.name(call.path)
        elif call.what == "unlink":
            self.files.pop(self.paths.pop(call.path, None), None)
            folder, name = os.path.split(call.path)
            self.names[folder].discard(name)  # that it is still there does no harm

    def lacks(self, path):
        """Why a file that has this name may be without its bytes or name after a loss of power."""
        folder, name = os.path.split(path)
        if name in self.names.get(folder, ()):
            return "the name %s is not synced" % path
        if self.paths.get(path) in self.files:
            return "the bytes of %s are not synced" % path
        return None
