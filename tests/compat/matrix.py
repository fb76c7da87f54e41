#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What scripts/test-compat runs: clients, daemons and stores of an older commit and of this tree, each
with each. Daemons and senders are killed on the way, and each line must be stored once. Where one is
refused, no file may change.

usage: matrix.py BUILDS COMMIT...    BUILDS: a folder that has, or gets, the builds of the commits
"""
import collections
import contextlib
import io
import itertools
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))

import older  # noqa: E402
from client import ENV, files  # noqa: E402
from lib import DEADLINE, equal, rows, wait_for  # noqa: E402

LINES = 300  # of a stream that goes on while daemons are killed
RING_TEXTS = sorted([*older.RECORDED, "counter", "never ended"])


class Refused(Exception):
    """A program ended with a status and a sentence."""

    def __init__(self, status, said):
        super().__init__("%s: %s" % (status, said))
        self.status, self.said = status, " / ".join(said.strip().splitlines())


class Side:
    """The programs of one age."""

    def __init__(self, name, folder):
        self.name = name
        self.programs = older.Programs(folder)
        with tempfile.TemporaryDirectory(prefix="nvtxt-age-") as place:
            with older.OldDaemon(self.programs, os.path.join(place, "s.sqlite")) as daemon:
                daemon.send(older.PLAIN)
                self.schema = daemon.query("PRAGMA user_version")[0][0]


class Tried(older.OldDaemon):
    """A daemon that may refuse its store."""

    def __init__(self, side, store):
        super().__init__(side.programs, store, start=False)

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_for(lambda: self.process.poll() is not None or self.is_ready(), "it listens, or has ended")
        if self.process.poll() is not None:
            raise Refused(self.process.returncode, self.log_text())

    def __exit__(self, kind, value, trace):
        """A refusal is what is looked for: its log is in the table."""
        refused = kind and issubclass(kind, Refused)
        super().__exit__(*((None, None, None) if refused else (kind, value, trace)))

    def is_ready(self):
        with contextlib.suppress(AssertionError):  # it has ended: start() says so
            return super().is_ready()
        return False


def run(side, name, *args, stdin=b""):
    """stdout of a program that must succeed, or Refused."""
    status, out, said = side.programs.run(name, *args, stdin=stdin)
    if status:
        raise Refused(status, said)
    return out


# ---- What is tried ----------------------------------------------------------------------------------

def stream(client, daemon, spool, programs):
    """Sends lines; the daemon is killed, and those programs take its place, one after the other."""
    with older.Sender(client.programs, daemon, spool) as sender:
        sender.say(older.HEAD)
        for number in range(LINES):
            sender.say('Marker, %d, "s%d"\n' % (1000 + number, number))
            if number % (LINES // (len(programs) + 1)) == LINES // 8 and programs:
                daemon.kill()
                daemon.program = programs.pop(0)
                daemon.start()
        sender.process.stdin.close()
        equal(sender.process.wait(DEADLINE), 0, "the sender's status")
        sender.process.stdin = None
    equal(programs, [])


def each_once(store, folder):
    """Every line that was sent is a row, once."""
    texts = collections.Counter(
        row[0] for path in older.segments_of(folder) for row in rows(path, "SELECT text FROM NVTX_EVENTS WHERE "
                                                                     "eventType IN (34, 59, 60)"))
    wanted = collections.Counter({"s%d" % number: 1 for number in range(LINES)})
    wanted.update({text: 2 for text, _, _ in older.HALF})
    wanted.update(["a mark", "outer", "inner", "started", "both \u00fc"])
    lacking, more = wanted - texts, texts - wanted
    for text in ("a warning", "of 64 bits", "real", "has a key"):  # of what this store's version knows
        more.pop(text, None)
    equal((lacking, more), (collections.Counter(), collections.Counter()), "lines of %s" % store)
    lost = sum(rows(path, "SELECT count(*) FROM NVTXT_LOSSES")[0][0] for path in older.segments_of(folder)[-1:])
    equal(lost, 0, "losses")


def finish(client, daemon_side, away, folder, programs):
    """A daemon ends what was left behind, and takes a stream while it is killed."""
    store, spool = os.path.join(folder, "store.sqlite"), os.path.join(folder, "spool")
    with Tried(daemon_side, store) as daemon:
        daemon.start()
        run(client, "nvtxt-send", "-q", "--socket", daemon.socket, "--resume", spool)
        equal(os.listdir(spool), [], "the spool")
        with daemon.session(away) as session:
            equal(session.welcome.get("line"), older.BEFORE_LINES, session.welcome)
            session.send(older.AFTER)
            equal(session.end()["errors"], 0)
        stream(client, daemon, os.path.join(folder, "spool-2"), programs or [daemon.program] * 2)
        daemon.settled()
        daemon.stop()
    each_once(store, folder)


def write(client, daemon_side, store_side, folder):
    """The daemon goes on with a store whose daemon and sender were killed, the client with its spool. If it
    refuses the store, the daemon that wrote it finds everything afterwards."""
    _, away = older.leave_behind(store_side.programs, folder, True)
    before = files(folder, older.NO_DATA)
    try:
        with Tried(daemon_side, os.path.join(folder, "store.sqlite")) as daemon:
            daemon.start()
            daemon.kill()  # at once: it may have begun to change the store
    except Refused:
        equal(files(folder, older.NO_DATA), before, "a refusal changes no file")
        finish(client, store_side, away, folder, None)
        raise
    finish(client, daemon_side, away, folder, None)


def upgrade(client, old, new, folder):
    """While a client sends, the old daemon is killed and the new one goes on; then, where the schema is the
    same, the old one again, and the new one."""
    _, away = older.leave_behind(old.programs, folder, True)
    back = [old, new] if old.schema == new.schema else []
    finish(client, old, away, folder, [side.programs.path("nvtxtd") for side in [new, *back]])


def read(reader, store_side, folder):
    """The reader's nvtxt-export reads what the other wrote, while its log is not moved yet."""
    if not reader.programs.has("nvtxt-export"):
        return "has no nvtxt-export"
    older.leave_behind(store_side.programs, folder, True)
    before = files(folder, older.NO_DATA)
    try:
        out = run(reader, "nvtxt-export", "--format", "jsonl", "--store", os.path.join(folder, "store.sqlite"))
    finally:
        equal(files(folder, older.NO_DATA), before, "a reader changes no file")
    lines = [line for line in out.splitlines() if '"start"' in line]
    wanted = sum(rows(path, "SELECT count(*) FROM NVTXT_TIMELINE")[0][0] for path in older.segments_of(folder))
    equal(len(lines), wanted, "events of nvtxt-export")
    return None


def annotate(header_side, library_side, daemon_side, folder):
    """A program that was built with one library runs with another one, and another daemon."""
    program = older.build_program(header_side.programs, folder, rpath=False)
    library = older.library_of(library_side.programs)
    with Tried(daemon_side, os.path.join(folder, "store.sqlite")) as daemon:
        daemon.start()
        done = subprocess.run([program, "live"], env={**ENV, "NVTXT_SOCKET": daemon.socket, "LD_LIBRARY_PATH": library},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE, check=False)
        if done.returncode:
            raise Refused(done.returncode, done.stderr.decode())
        daemon.settled()
        texts = sorted(row[0] for row in daemon.query("SELECT message FROM NVTXT_TIMELINE"))
        equal(texts, sorted([*older.RECORDED, "counter"]))


def adopt(sender, library_side, folder):
    """A ring file of a killed program becomes a session."""
    rings = os.path.join(folder, "rings")
    os.mkdir(rings)
    program = older.build_program(library_side.programs, folder)
    older.leave_ring(program, rings)
    path, = [os.path.join(rings, name) for name in os.listdir(rings)]
    before = older.data_of(path)
    with Tried(sender, os.path.join(folder, "store.sqlite")) as daemon:
        daemon.start()
        try:
            run(sender, "nvtxt-send", "-q", "--socket", daemon.socket, "--resume", rings)
        except Refused:
            equal(older.data_of(path), before, "a refusal changes no file")
            raise
        daemon.settled()
        equal(sorted(row[0] for row in daemon.query("SELECT message FROM NVTXT_TIMELINE")), RING_TEXTS)


# ---- What nvtxt-compat(7) promises --------------------------------------------------------------------

def may_refuse(what, sides):
    """Whether a refusal is in order: only an older program of something newer."""
    if what in ("write", "read"):
        reader, written = sides[-2], sides[-1]
        return reader.schema < written.schema
    if what == "adopt":
        return sides[0].name != "today" and sides[1].name == "today"
    return False


def takes_rings(side):
    """Whether its nvtxt-send takes the ring files of its own library: the first ones did not."""
    if not older.library_of(side.programs):
        return False
    with tempfile.TemporaryDirectory(prefix="nvtxt-compat-") as folder, \
            contextlib.redirect_stdout(io.StringIO()):
        try:
            adopt(side, side, folder)
        except AssertionError:
            return False
        except Refused:
            pass  # the table has it
    return True


def try_it(what, function, sides):
    """One line of the table; returns whether it is as promised."""
    with tempfile.TemporaryDirectory(prefix="nvtxt-compat-") as folder:
        try:
            note = function(*sides, folder)
            good, result = True, note or "works"
        except Refused as refused:
            one = refused.said.count(" / ") == 0
            good = may_refuse(what, sides) and refused.status in (65, 76) and one
            result = "refuses (%s): %s" % (refused.status, refused.said.replace(folder, "..."))
        except AssertionError as error:
            good, result = False, "FAILS: %s" % error
    print("| %-8s | %s | %s%s |" % (what, " | ".join("%-12s" % side.name for side in sides) +
                                    " | %-12s" % "" * (3 - len(sides)), result, "" if good else " | NOT PROMISED SO"))
    sys.stdout.flush()
    return good


def main():
    builds, commits = sys.argv[1], sys.argv[2:]
    today = Side("today", None)
    good = True
    for commit in commits:
        old = Side(commit[:12], older.build(commit, builds))
        print("%s is version %s with schema %d, today is %s with schema %d\n"
              % (old.name, old.programs.version, old.schema, today.programs.version, today.schema))
        print("| what     | client       | daemon, from | store, to    | result |\n|---|---|---|---|---|")
        ages = (old, today)
        for sides in itertools.product(ages, ages, ages):
            good &= try_it("write", write, sides)
        for sides in ((old, old, today), (today, old, today)):
            good &= try_it("upgrade", upgrade, sides)
        for sides in itertools.product(ages, ages):
            good &= try_it("read", read, sides)
        if older.library_of(old.programs):
            print("\n| what     | built with   | library      | daemon       | result |\n|---|---|---|---|---|")
            for sides in ((old, old, today), (old, today, today), (old, today, old), (today, today, old)):
                good &= try_it("annotate", annotate, sides)
        if not takes_rings(old):
            print("\nnvtxt-send of %s takes no ring files." % old.name)
        else:
            print("\n| what     | nvtxt-send   | library      |              | result |\n|---|---|---|---|---|")
            for sides in itertools.product(ages, ages):
                good &= try_it("adopt", adopt, sides)
        print()
    return 0 if good else 1


sys.exit(main())
