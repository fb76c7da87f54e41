#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the golden corpus one way and prints TAP, one result a case.

    run.py MODE [CASE...]

MODE is interp, split, check, import, export, daemon, lines, plain, send or watch; README.md beside
this file says what each goes through. Programs are found below $top_builddir, the corpus beside
this file.
"""
import contextlib
import json
import os
import re
import select
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

import corpus
import stored

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.join(os.path.dirname(HERE), "e2e"))
import lib  # a daemon, and a client of its socket that is not ours
TIMEOUT = 120  # seconds a program may take for one case; only a hang comes near it
WORKERS = 4
# Where each case starts programs of its own, valgrind sees some of the cases: others in each mode.
VALGRIND_STRIDES = {"interp": 20, "split": 20, "check": 10, "import": 10, "export": 30, "lines": 20,
                    "plain": 10, "send": 10}
# AddressSanitizer a third of the slowest, again others in each mode, and a sixth in scripts/test; all
# with NVTXT_TEST_LONG set.
SANITIZED_STRIDES = {"check": 3, "import": 3, "export": 3, "lines": 3, "send": 3}
MEMORY, MEMORY_LEAST = "/dev/shm", 1 << 30

# What people are shown: file:line:column: severity: sentence [code]
SHOWN = re.compile(r"(.*):(\d+):(\d+): (error|warning): .+ \[([a-z0-9-]+)\]")
LIKE_A_LOG = b": is it a log? use --text\n"


def program(path):
    found = lib.program(*os.path.split(path))
    if not os.access(found, os.X_OK):
        print(f"Bail out! {found} is not there", flush=True)
        os._exit(1)
    return found


def run(arguments, **options):
    return subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=TIMEOUT, **options)


def unexpected_status(result, wanted):
    if result.returncode == wanted:
        return []
    return [f"exit status {result.returncode}, expected {wanted}",
            *result.stderr.decode(errors="replace").splitlines()[-20:]]


def shown_diags(case, name, text):
    """The diagnostics among what a program printed, without their stage, which is not shown."""
    found = []
    for line in text.decode(errors="replace").split("\n"):
        match = SHOWN.fullmatch(line)
        if match and match[1] == name:
            found.append(f"{match[2]}:{match[3]} {match[4]} {match[5]}")
    shown = corpus.normal_diags(corpus.without_stage(case.diags))
    return corpus.difference("messages", shown, corpus.normal_diags(found))


# ---- Modes: each gives a function from a case to the lines that say what is wrong ----------------


class Dumps:
    """An interp_dump for each thread, which takes one case after another."""

    def __init__(self):
        self.own = threading.local()
        self.processes = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """What the memory of all its cases says, comes when it ends."""
        left = [process.communicate(timeout=TIMEOUT)[0] for process in self.processes]
        for process, text in zip(self.processes, left):
            if process.returncode and not process.is_known:
                raise AssertionError(f"interp_dump: exit status {process.returncode}\n"
                                     + text.decode(errors="replace"))

    def start(self):
        self.own.process = subprocess.Popen(
            [program("tests/golden/interp_dump")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        self.own.process.is_known = False
        self.processes.append(self.own.process)

    def ask(self, *words):
        """Returns the status and what was printed."""
        if not hasattr(self.own, "process") or self.own.process.poll() is not None:
            self.start()
        process = self.own.process
        process.stdin.write("\t".join(words).encode() + b"\n")
        process.stdin.flush()
        found = b""
        while not (end := re.search(rb"^= (\d+)\n\Z", found[-20:], re.MULTILINE)):
            if not select.select([process.stdout], [], [], TIMEOUT)[0]:
                process.kill()
            more = os.read(process.stdout.fileno(), 1 << 20)
            if not more:
                process.is_known = True
                return process.wait(), found.decode(errors="replace")
            found += more
        return int(end[1]), found[:found.rindex(b"= ")].decode(errors="replace")

    def case(self, case, *options):
        """The status of a case, its lines, and the events among them."""
        status, text = self.ask(*options, *case.arguments(), case.path)
        lines = text.split("\n")
        rows = [json.loads(line) for line in lines if line.startswith("[")]
        return status, lines, [row for row in rows if row[0] in corpus.EVENT_KINDS]


def dump(dumps, case, *options):
    status, lines, events = dumps.case(case, *options)
    if status:
        return [f"exit status {status}", *lines[-20:]]
    figures = lines[-2].split(" ")[1:] if len(lines) > 1 else []
    return (corpus.compare_events(case, events)
            + corpus.compare_diags(case, [line for line in lines if line[:1].isdigit()])
            + corpus.compare_counters(case, dict(zip(figures[::2], map(int, figures[1::2])))))


@contextlib.contextmanager
def mode_interp(_):
    with Dumps() as dumps:
        yield lambda case: dump(dumps, case)


@contextlib.contextmanager
def mode_split(_):
    with Dumps() as dumps:
        yield lambda case: dump(dumps, case, "--split-all")


@contextlib.contextmanager
def mode_check(_):
    def check(case):
        result = run([program("client/nvtxt-check"), *case.arguments(), case.path])
        return (unexpected_status(result, int(case.has_errors()))
                + shown_diags(case, case.path, result.stderr))
    yield check


def compare_source(case, store, source, events=None):
    """Everything that the store says of one source but its names."""
    return (corpus.compare_events(case, stored.events(store, source["id"]), events)
            + corpus.compare_diags(case, stored.diags(store, source["id"]))
            + corpus.compare_counters(case, dict(source))
            + stored.wrong_excerpts(store, source["id"], case.input))


@contextlib.contextmanager
def mode_import(_):
    def import_(case):
        with tempfile.TemporaryDirectory(prefix="nvtxt-golden-") as folder:
            path = os.path.join(folder, "store.sqlite")
            result = run([program("client/nvtxt-import"), "create", "-n", case.path, "-o", path,
                          *case.arguments()])
            wrong = (unexpected_status(result, int(case.has_errors()))
                     + shown_diags(case, case.path, result.stderr))
            if not os.path.exists(path):
                return wrong + ["no store was made"]
            if os.listdir(folder) != ["store.sqlite"]:
                wrong.append(f"more than one plain file: {os.listdir(folder)}")
            with stored.reading(path) as store:
                source = stored.source(store, "kind", "file")
                return (wrong + compare_source(case, store, source)
                        + corpus.compare_names(case, stored.names(store, source["openedNs"]))
                        + stored.broken_rules(store))
    yield import_


def content(path):
    """The events of a store and its names, in terms that do not depend on when it was made."""
    with stored.reading(path) as store:
        source = stored.source(store, "kind", "file")
        events = [[item for item in row if item != "unclosed"]
                  for row in stored.events(store, source["id"])]
        names = sorted(stored.names(store, source["openedNs"]), key=json.dumps)
        return events, names, stored.broken_rules(store)


@contextlib.contextmanager
def mode_export(_):
    """Into a store, out as NVTXT, into another store: it holds the same."""
    def export(case):
        with tempfile.TemporaryDirectory(prefix="nvtxt-golden-") as folder:
            first, text, second = (os.path.join(folder, name) for name in ("a", "nvtxt", "b"))
            run([program("client/nvtxt-import"), "create", "-n", case.path, "-o", first,
                 *case.arguments()])
            events, names, _ = content(first)
            out = run([program("client/nvtxt-export"), "--store", first, "--format", "nvtxt",
                       "-o", text])
            wrong = unexpected_status(out, 0)
            if os.path.exists(text):
                back = run([program("client/nvtxt-import"), "create", "-n", text, "-o", second])
                wrong += unexpected_status(back, 0)
            if wrong:
                return wrong
            found, found_names, rules = content(second)
            return (corpus.difference("rows", events, found)
                    + corpus.difference("names", names, found_names) + rules)
    yield export


def compare_replies(case, replies):
    diags = [f"{r['line']}:{r['column']} {r['severity']} {r['stage']} {r['code']}"
             for r in replies if r["type"] == "diagnostic"]
    end = replies[-1] if replies and replies[-1]["type"] == "end" else {}
    counters = {name: end.get("line" if name == "lines" else name) for name in case.counters()}
    return corpus.compare_diags(case, diags) + corpus.compare_counters(case, counters)


def open_session(daemon, case):
    hello = {"name": case.name, "pid": int(case.option("--pid") or 0), **case.hello}
    if case.mapping():
        hello["mapping"] = case.mapping()
    return daemon.session(**hello)


def compare_session(daemon, case, session, replies, with_names=False):
    wrong = compare_replies(case, replies)
    with stored.reading(daemon.store) as store:
        source = stored.source(store, "id", session.welcome["source"])
        if source["name"] != case.name or source["sessionId"] != session.id:
            wrong.append(f"the source is {dict(source)}")
        if with_names:
            names = stored.names(store, source["openedNs"], without_process=os.getpid())
            wrong += corpus.compare_names(case, names)
        return wrong + compare_source(case, store, source)


def send_session(daemon, case):
    with open_session(daemon, case) as session:
        session.send(b"".join(case.session_lines()) + b"#nvtxt-end\n")
        return compare_session(daemon, case, session, session.replies())


def compare_open(daemon, case, source):
    """What the store shows as open before the source ends is what is never closed."""
    unclosed = sum(row[-1] == "unclosed" for row in case.events())
    found = daemon.query("SELECT count(*) FROM NVTXT_OPEN_RANGES WHERE sourceId = ?", source)
    return corpus.difference("open ranges", [unclosed], [found[0][0]])


def send_by_lines(daemon, case, alone):
    """Every line is a commit of its own (of a long stream: every few lines)."""
    lines = case.session_lines()
    step = 1 + len(lines) // 100
    with open_session(daemon, case) as session:
        replies = []
        for at in range(0, len(lines), step):
            session.send(b"".join(lines[at:at + step]))
            replies += session.ack(min(at + step, len(lines)))
        wrong = compare_open(daemon, case, session.welcome["source"])
        session.send(b"#nvtxt-end\n")
        replies += session.replies()
        return wrong + compare_session(daemon, case, session, replies, alone)


@contextlib.contextmanager
def running_daemon(config=None):
    """A daemon that must stop well, and whose store must keep all rules when it has."""
    program("daemon/nvtxtd")
    with lib.Daemon(config=config) as daemon:
        yield daemon
        daemon.stop()
        with stored.reading(daemon.store) as store:
            wrong = stored.broken_rules(store)
            if wrong:
                raise AssertionError("\n".join(wrong))


@contextlib.contextmanager
def mode_daemon(_):
    with running_daemon() as daemon:
        yield lambda case: send_session(daemon, case)


@contextlib.contextmanager
def mode_lines(_):
    config = "CommitInterval = 1ms\n"

    def alone(case):
        with running_daemon(config) as daemon:
            return send_by_lines(daemon, case, True)

    # Whose name rows are which can be told only in a store of one source.
    with running_daemon(config) as daemon:
        yield lambda case: alone(case) if case.names() else send_by_lines(daemon, case, False)


def send_input(daemon, case, *arguments, **options):
    return subprocess.run([program("client/nvtxt-send"), "--pid", case.option("--pid") or "0",
                           *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, "NVTXT_SOCKET": daemon.socket}, timeout=TIMEOUT,
                          **options)


def send_file(daemon, case):
    """A file in which nothing has an effect is refused; standard input is only warned of."""
    result = send_input(daemon, case, case.path, stdin=subprocess.DEVNULL)
    name = case.path
    wrong = []
    if result.returncode == 65 and LIKE_A_LOG in result.stderr:
        name = "<stdin>"
        result = send_input(daemon, case, "--name", case.path, input=case.input)
        if result.stderr.count(LIKE_A_LOG) != 1:
            wrong = ["not warned of once"]
    wrong += (unexpected_status(result, int(case.has_errors()))
              + shown_diags(case, name, result.stderr))
    with stored.reading(daemon.store) as store:
        return wrong + compare_source(case, store, stored.source(store, "name", case.path))


@contextlib.contextmanager
def mode_send(_):
    with running_daemon() as daemon:
        yield lambda case: send_file(daemon, case)


def send_plainly(daemon, case):
    """Sends a case from a process of its own, whose id tells its source; returns that id."""
    pid = os.fork()
    if pid == 0:
        status = 1
        with contextlib.suppress(OSError), daemon.plain() as connection:
            connection.send(case.input)
            status = 0
        os._exit(status)
    return pid


def compare_plain(daemon, dumps, case, pid):
    """The process of a plain connection is the peer's: the interpreter says what that makes."""
    _, _, events = dumps.case(case, "--pid", str(pid))
    with stored.reading(daemon.store) as store:
        return compare_source(case, store, stored.source(store, "peerPid", pid), events)


@contextlib.contextmanager
def mode_plain(cases):
    with running_daemon() as daemon, Dumps() as dumps:
        pids = {case.name: send_plainly(daemon, case) for case in cases}
        for name, pid in pids.items():
            if os.waitpid(pid, 0)[1] != 0:
                raise AssertionError(f"{name} could not be sent")
        daemon.settled()
        yield lambda case: compare_plain(daemon, dumps, case, pids[case.name])


def compare_followed(daemon, case, path):
    with stored.reading(daemon.store) as store:
        source = stored.source(store, "name", path)
        return ([] if source["ended"] == "removed" else [f"the source is {dict(source)}"]) \
            + compare_source(case, store, source)


@contextlib.contextmanager
def mode_watch(cases):
    """Files of a watched folder; the last line counts when they are removed."""
    with tempfile.TemporaryDirectory(prefix="nvtxt-golden-") as folder, \
            running_daemon(f"WatchDirectory={folder}\n") as daemon:
        paths = {case.name: os.path.join(folder, case.name + ".nvtxt") for case in cases}
        for case in cases:
            with open(paths[case.name], "wb") as file:
                file.write(case.input)
        bytes_ = sum(len(case.input) for case in cases)
        lib.wait_for(lambda: daemon.control("status")["bytes"] == bytes_, "all is read")
        for path in paths.values():
            os.unlink(path)
        # One that rested for ten seconds was closed, and stays known for a time.
        lib.wait_for(lambda: daemon.control("status")["files_ended"] == len(paths),
                     "all sources end")
        daemon.flush()
        yield lambda case: compare_followed(daemon, case, paths[case.name])


MODES = {name.removeprefix("mode_"): value for name, value in list(globals().items())
         if name.startswith("mode_")}


# ---- TAP ----------------------------------------------------------------------------------------


def guarded(test, case):
    """The complaints of one case; whatever goes wrong in it is one of them."""
    try:
        return test(case)
    except Exception as error:  # the other cases go on
        return [f"{type(error).__name__}: {error}"]


def report(number, title, wrong):
    print(("not ok" if wrong else "ok"), number, "-", title, flush=True)
    for line in wrong:
        for part in line.split("\n"):
            print("#   " + part.encode("utf-8", "backslashreplace").decode(), flush=True)
    return bool(wrong)


def stride(mode):
    """Every how many cases is run."""
    if lib.WRAPPER:
        return VALGRIND_STRIDES.get(mode, 1)
    if "address" in os.environ.get("SANITIZERS", "") and not os.environ.get("NVTXT_TEST_LONG"):
        return SANITIZED_STRIDES.get(mode, 1) * (2 if lib.SHORT and mode in SANITIZED_STRIDES else 1)
    return 1


def use_memory():
    """Puts the hundreds of stores into memory, if there is room: nothing here is about a disk."""
    with contextlib.suppress(OSError):
        room = os.statvfs(MEMORY)
        if os.access(MEMORY, os.W_OK) and room.f_bavail * room.f_frsize >= MEMORY_LEAST:
            tempfile.tempdir = MEMORY


def main(mode, wanted=()):
    use_memory()
    cases = corpus.load(HERE, wanted)
    chosen = [case for case in cases if case.why_not(mode) is None]
    chosen = chosen[len(mode) % stride(mode)::stride(mode)]
    print(f"1..{len(chosen) + 1}", flush=True)
    failed = 0
    number = 0
    whole = []  # complaints about the run as a whole
    try:
        with MODES[mode](chosen) as test, ThreadPoolExecutor(WORKERS) as pool:
            results = pool.map(lambda case: guarded(test, case), chosen)
            for number, (case, wrong) in enumerate(zip(chosen, results), 1):
                failed += report(number, f"{mode} {case.name}", wrong)
    except Exception as error:  # of the daemon around the cases
        whole = [f"{type(error).__name__}: {error}"]
    for number, case in enumerate(chosen[number:], number + 1):
        failed += report(number, f"{mode} {case.name}", ["not run"])
    failed += report(len(chosen) + 1, f"{mode} as a whole", whole)
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in MODES:
        sys.exit(f"usage: run.py {'|'.join(sorted(MODES))} [CASE]...")
    sys.exit(main(sys.argv[1], sys.argv[2:]))
