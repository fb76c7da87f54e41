# SPDX-License-Identifier: Apache-2.0
"""Programs of older commits: how they are built, and what they leave behind. tests/compat/old/make
keeps that; scripts/test-compat tries them with the programs of today."""
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile

import lib
from client import ENV, version_in
from lib import DEADLINE, Daemon, equal, wait_for

NO_DATA = ("-shm", ".lock")  # endings of files: memory that processes share, and locks
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def build(commit, folder):
    """Builds the programs of a commit below a folder, once; returns the folder of the build. They are
    not optimized much, and have no pages: nobody measures them."""
    tree = os.path.join(folder, commit[:12])
    made = os.path.join(tree, "build")
    done = os.path.join(made, "done")
    if os.path.exists(done):
        return made
    shutil.rmtree(tree, ignore_errors=True)
    os.makedirs(tree)
    archive = subprocess.Popen(["git", "-C", TOP, "archive", commit], stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", tree], stdin=archive.stdout, check=True)
    equal(archive.wait(), 0, "git archive " + commit)
    os.mkdir(made)
    compiler = "ccache gcc" if shutil.which("ccache") else "gcc"
    env = {**os.environ, "CCACHE_BASEDIR": folder, "CCACHE_NOHASHDIR": "1"}
    with open(os.path.join(tree, "log"), "wb") as log:
        def step(*command):
            done = subprocess.run(command, cwd=made, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                  check=False)
            if done.returncode:
                sys.exit("%s of commit %s failed: see %s" % (command[0], commit, log.name))
        step("../autogen.sh")
        with open(os.path.join(tree, "configure"), encoding="utf-8") as file:
            without = ["--disable-report"] if "enable_report" in file.read() else []
        step("../configure", "-q", "CC=" + compiler, "CFLAGS=-O1", *without)
        step("make", "-s", "-j%s" % (os.environ.get("NVTXT_JOBS") or os.cpu_count()))
    with open(done, "wb"):
        pass
    return made


class Programs:
    """The programs of a build; None: those of today."""

    def __init__(self, folder=None):
        self.folder = folder
        status, out = self.run("nvtxt-send", "--version")[:2]
        equal(status, 0)
        self.version = version_in(out)

    def path(self, name):
        folder = {"nvtxtd": "daemon", "nvtxt-ship": "ship"}.get(name, "client")
        return os.path.join(self.folder, folder, name) if self.folder else lib.program(folder, name)

    def has(self, name):
        return os.access(self.path(name), os.X_OK)

    def run(self, name, *args, stdin=b"", env=None):
        """Exit status, stdout, stderr."""
        done = subprocess.run([self.path(name), *args], input=stdin, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env={**ENV, **(env or {})}, timeout=DEADLINE, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode(errors="replace")


class OldDaemon(Daemon):
    """A daemon of other programs; its store is `store`, by default one in its folder."""

    def __init__(self, programs, store=None, start=True):
        super().__init__(start=False)
        self.program = programs.path("nvtxtd")
        self.store = store or self.store
        if start:
            self.start()


class Sender:
    """An nvtxt-send with a spool, which is told what to send."""

    def __init__(self, programs, daemon, spool):
        self.spool = spool
        self.process = subprocess.Popen(
            [programs.path("nvtxt-send"), "--socket", daemon.socket, "--spool", spool, "-q"],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENV)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def say(self, text):
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def spools(self, text):
        """Waits until a text is in the spool."""
        def found():
            for name in os.listdir(self.spool):
                if name.endswith(".segment"):
                    with open(os.path.join(self.spool, name), "rb") as file:
                        if text.encode() in file.read():
                            return True
            return False
        wait_for(found, "%s is in the spool" % text)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


# ---- What is left behind --------------------------------------------------------------------------

PLAIN = """\
SetFileDisplayName, "old"
Marker, 10, Manual, 41, 42, 3, Red, "a mark", 4
RangePush, 20, Manual, 41, 42, 3, "#112233", "outer", 5
RangePush, 25, Manual, 41, 42, 3, Blue, "inner", 6
RangePop, 30, Manual, 41, 42
RangePop, 40, Manual, 41, 42
RangeStart, 50, 77, Manual, 41, 43, 0, Green, "started", -7
RangeEnd, 60, 77, Manual, 41, 43
RangeStartEnd, 70, 80, Manual, 41, 43, 3, 0, "both \u00fc", 8
SetCategoryName, 3, "io"
SetThreadName, 41, 42, "worker"
SetProcessName, 41, "build"
not a command
"""
HEAD = "TimeBase = Manual\nProcessId = 51\nThreadId = 52\n" \
       "@Marker, Time, Message\n@RangePush, Time, Message\n@RangePop, Time\n"
BEFORE = HEAD + 'Kept = "kept"\nMarker, 100, "before"\nRangePush, 110, "over the break"\n'
AFTER = "Marker, 120, $Kept\nRangePop, 130\nMarker, 140, \"after\"\n"
BEFORE_LINES, AFTER_LINES = BEFORE.count("\n"), AFTER.count("\n")
HALF = [("before", 100, 100), ("kept", 120, 120), ("over the break", 110, 130), ("after", 140, 140)]
LEVELS = '@Marker, Time, Message, Payload\nMarker, 200, "a warning", 4\n'
NVTX = ("TimeBase = Manual\nProcessId = 61\nThreadId = 62\n"
        "@RangePush, Time, Message, Payload, Json, Domain\n@RangePop, Time, Json, Domain\n"
        "@SetCounter, Name, Json, Domain\n@SetResourceName, Kind, Handle, Name, Domain, ProcessId\n"
        'RangePush, 300, "of 64 bits", "u64:18446744073709551615", \'{"x":1}\', D\n'
        'RangePush, 301, "real", "f32:0.5", "", D\nRangePop, 302, "", D\nRangePop, 303, "", D\n'
        "SetResourceName, cuStream, 1, one, '', 8\n"
        'SetCounter, loss, \'{"unit":"1","description":"of it"}\', D\n')
KEY = '#nvtxt-range {"key":"k"}\n@RangeStartEnd, Start, End, Message\nRangeStartEnd, 400, 401, "has a key"\n'
TOKEN = "0190c0f6-7d3a-7b41-9f36-12cbb0f1a001:run"


def schema_of(store):
    """The version of a store, as the header has it: 0 while it is in the log alone."""
    with open(store, "rb") as file:
        head = file.read(100)
    return int.from_bytes(head[60:64], "big")


def committed(daemon, session, line):
    """Waits until the store has a session up to a line."""
    def is_there():
        daemon.flush()
        return daemon.query("SELECT line FROM NVTXT_SESSIONS WHERE sessionId = ?", session) == [(line,)]
    wait_for(is_there, "line %d of %s is committed" % (line, session))


def session_of(spool):
    """The session of a spool with one."""
    def name():
        names = os.listdir(spool) if os.path.isdir(spool) else []
        return [name[:-len(".session")] for name in names if name.endswith(".session")]
    return wait_for(name, "there is a session file")[0]


def leave_behind(programs, folder, killed):
    """Runs a daemon and its senders, and puts store and spool into `folder`: a plain source, sessions
    that have ended, one of a sender that was killed with lines that nobody acknowledged, and one whose
    client is away. Segments, as far as that daemon has them. Returns the ids of the two sessions."""
    store = os.path.join(folder, "store.sqlite")
    spool = os.path.join(folder, "spool")
    with OldDaemon(programs, store) as daemon:
        version = schema_of(os.path.realpath(store)) or daemon.query("PRAGMA user_version")[0][0]
        daemon.send(PLAIN)
        if version >= 4:
            with daemon.session(levels=True) as session:
                session.send(HEAD + LEVELS)
                session.end()
        if version >= 5:
            with daemon.session(nvtx=1) as session:
                session.send(NVTX)
                session.end()
        if version >= 7:
            with daemon.session(parent=TOKEN) as session:
                session.send(HEAD + KEY)
                session.end()
        with Sender(programs, daemon, spool) as sender:
            sender.say(BEFORE)
            half = session_of(spool)
            committed(daemon, half, BEFORE_LINES)
            if version >= 2:
                daemon.control("rotate")
            with daemon.session() as session:
                away = session.id
                session.send(BEFORE)
                session.ack(BEFORE_LINES)
            daemon.flush()
            if killed:
                daemon.kill()
            else:
                daemon.stop()
            sender.say(AFTER)
            sender.spools('"after"')
            sender.kill()
    return half, away


# ---- Rows -----------------------------------------------------------------------------------------

EVENTS = ("start", "end", "eventType", "rangeId", "text", "category", "color", "globalTid", "domainId",
          "uint64Value", "int64Value", "doubleValue", "uint32Value", "int32Value", "floatValue", "jsonText")
TIMELINE = ("utcTime", "kind", "message", "category", "color", "process", "thread", "domain", "payload", "pid",
            "tid", "start", "end")
TABLES = {
    "events": "SELECT %s FROM NVTX_EVENTS ORDER BY rowid" % ", ".join('"%s"' % name for name in EVENTS),
    "timeline": "SELECT %s FROM NVTXT_TIMELINE ORDER BY eventRow" % ", ".join('"%s"' % name for name in TIMELINE),
    "sources": "SELECT kind, name, displayName, closedNs IS NULL, ended, lines, events, warnings, errors, firstNs, "
               "lastNs FROM NVTXT_SOURCES WHERE kind <> 'daemon' ORDER BY id",
    "diagnostics": 'SELECT line, "column", severity, stage, code, message, excerpt FROM NVTXT_DIAGNOSTICS '
                   "ORDER BY rowid",
    "sessions": "SELECT sessionId, line FROM NVTXT_SESSIONS ORDER BY sessionId",
    "open": "SELECT kind, depth, start, text, category, color, line FROM NVTXT_OPEN_RANGES ORDER BY sourceId, seq",
}


def segments_of(folder):
    """The files of a store in a folder, oldest first."""
    names = [name for name in os.listdir(folder) if name.startswith("store") and name.endswith(".sqlite")]
    plain = [name for name in names if name != "store.sqlite"]
    return [os.path.join(folder, name) for name in
            (sorted(plain, key=lambda name: int(name[:-len(".sqlite")].rsplit("-", 1)[1])) or ["store.sqlite"])]


def rows_of(path, table):
    db = sqlite3.connect("file:%s?mode=ro" % path, uri=True, timeout=DEADLINE)
    try:
        return [list(row) for row in db.execute(TABLES[table])]
    finally:
        db.close()


def record(folder):
    """The rows of a store as lines: segment, table, row. A copy is read, so the files stay."""
    lines = []
    with tempfile.TemporaryDirectory(prefix="nvtxt-old-") as copy:
        shutil.copytree(folder, os.path.join(copy, "store"), symlinks=True)
        for number, path in enumerate(segments_of(os.path.join(copy, "store")), 1):
            for table in TABLES:
                lines += [json.dumps([number, table, *row], ensure_ascii=False) for row in rows_of(path, table)]
    return lines


# ---- Programs that annotate themselves ------------------------------------------------------------

RING_PROGRAM = r"""
#include <nvtxt.h>
#include <signal.h>
#include <stdlib.h>

// Without arguments it is killed before anything was sent; else it waits until all is committed.
int main(int argc, char **argv) {
    struct nvtxt_domain *domain = nvtxt_domain_get("library");
    struct nvtxt_attr attr = {.size = sizeof(attr), .message = "of a library", .category = 2,
                              .color = 0xFF00FF00, .value_kind = NVTXT_I64, .value.i64 = -9};
    (void)argv;
    nvtxt_name_process("old program");
    nvtxt_name_thread(0, "old thread");
    nvtxt_name_category(domain, 2, "old category");
    nvtxt_push("outer");
    nvtxt_mark("inside");
    nvtxt_mark_ex(domain, &attr);
    nvtxt_pop();
    nvtxt_end(nvtxt_start("started"));
    nvtxt_sample_i64(domain, nvtxt_string_get("counter"), 7);
    if (argc > 1) {
        return nvtxt_flush(60000) ? EXIT_FAILURE : EXIT_SUCCESS;
    }
    nvtxt_start("never ended");
    raise(SIGKILL);
}
"""
RECORDED = ["inside", "of a library", "outer", "started"]  # and a sample of the counter


def library_of(programs):
    """The folder of the library of a build; None: that version had none."""
    folder = os.path.join(os.path.abspath(programs.folder or lib.TOP_BUILD), "lib", ".libs")
    return folder if os.path.exists(os.path.join(folder, "libnvtxt.so")) else None


def build_program(programs, folder, rpath=True):
    """Builds it with the header and the library of a build; returns its path. Without `rpath` it does not
    know where its library is."""
    path = os.path.join(folder, "program")
    with open(path + ".c", "w", encoding="utf-8") as file:
        file.write(RING_PROGRAM)
    library = library_of(programs)
    header = os.path.join(os.path.dirname(programs.folder) if programs.folder else TOP, "lib")
    subprocess.run(["gcc", "-pthread", "-I", header, "-o", path, path + ".c", "-L", library, "-lnvtxt", "-lm",
                    *(["-Wl,-rpath," + library] if rpath else [])], check=True)
    return path


def leave_ring(program, folder, socket="/nonexistent/socket"):
    """A program that was killed, with a ring file of what it recorded."""
    done = subprocess.run([program], env={**ENV, "NVTXT_SOCKET": socket, "NVTXT_SPOOL": folder,
                                          "NVTXT_RING": "64K", "NVTXT_WINDOW": "1M", "NVTXT_NAME": "old"},
                          check=False, timeout=DEADLINE)
    equal(done.returncode, -signal.SIGKILL)


def data_of(path):
    """What a sparse file has, and where."""
    found, at = [], 0
    with open(path, "rb") as file:
        while True:
            try:
                at = os.lseek(file.fileno(), at, os.SEEK_DATA)
            except OSError:
                return found
            end = os.lseek(file.fileno(), at, os.SEEK_HOLE)
            found.append((at, os.pread(file.fileno(), end - at, at)))
            at = end
