# SPDX-License-Identifier: Apache-2.0
"""Another user who may only read the store locks every byte of it that can be locked for reading.
That may hold up checkpoints. It stops no commit, no stop, no start, and nothing is lost."""
import contextlib
import os
import re
import sqlite3
import subprocess
import sys

import lib

STRANGER = 65534
HEADER = 'TimeBase = Manual\n@Marker, Time, Message\n@RangePush, Time, Message\n'

# What the stranger is: locks bytes of each file for reading, says so, keeps them, and goes on trying
# to get those that somebody else has.
PROGRAM = """
import fcntl, os, select, sys
first, last, user = map(int, sys.argv[1:4])
os.setgroups([])
os.setresgid(user, user, user)
os.setresuid(user, user, user)
assert not any(os.access(path, os.W_OK) for path in sys.argv[4:])
files = [os.open(path, os.O_RDONLY) for path in sys.argv[4:]]
wanted = [(file, byte) for file in files for byte in range(first, last + 1)]
said = False
while not said or not select.select([0], [], [], 0.002 if wanted else None)[0]:
    missing = []
    for file, byte in wanted:
        try:
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, byte)
        except OSError:
            missing.append((file, byte))
    wanted = missing
    if not said:
        print("locked", flush=True)
    said = True
"""


@contextlib.contextmanager
def locked(*segments, first=120, last=127):
    """As long as it lasts, another user has locked bytes of the -shm of each segment."""
    with subprocess.Popen([sys.executable, "-c", PROGRAM, str(first), str(last), str(STRANGER)]
                          + [segment + "-shm" for segment in segments], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as stranger:
        try:
            lib.equal(stranger.stdout.readline(), b"locked\n")
            yield stranger
        finally:
            stranger.kill()


class Readable(lib.Daemon):
    """A daemon whose store anybody may read."""

    def __init__(self, config="", **more):
        if os.geteuid() != 0:
            raise lib.Skip("only root can be somebody else")
        super().__init__(config="StoreMode=0644\n" + config, start=False, **more)
        os.chmod(self.folder, 0o755)
        self.start()

    def segment(self):
        return os.path.realpath(self.store)

    def mark(self, *texts):
        self.send(HEADER + "".join('Marker, %d, "%s"\n' % (i, text) for i, text in enumerate(texts)))

    def texts(self):
        return [text for text, in self.everywhere(
            "SELECT text FROM NVTX_EVENTS WHERE eventType = 34 ORDER BY rowid")]

    def is_well(self):
        status = self.control("status")
        lib.equal((status["in_trouble"], status["losses"], status["last_error"]), (False, 0, None))


def test_commits_and_a_stop_go_on():
    with Readable() as daemon:
        with locked(daemon.segment()), daemon.session() as session:
            session.send(HEADER + 'Marker, 1, "one"\n')
            session.ack(4)
            session.send('Marker, 2, "two"\n')
            session.ack(5)
            with daemon.plain() as plain:
                plain.send(HEADER + "".join('Marker, %d, "plain"\n' % i for i in range(100)))
            daemon.is_well()
            lib.wait_for(lambda: daemon.control("status")["connections"] == 1, "it is read")
            daemon.stop()
        lib.equal(sorted(daemon.texts()), ["one"] + ["plain"] * 100 + ["two"])
        assert "lost" not in daemon.log_text(), daemon.log_text()
        daemon.start()
        daemon.is_well()
        lib.equal(sorted(daemon.texts()), ["one"] + ["plain"] * 100 + ["two"])


def test_the_log_of_a_store_that_is_read_may_be_emptied_and_filled_again():
    with Readable() as daemon:
        for number in range(3):
            daemon.mark("before %d" % number)
            lib.equal(daemon.control("checkpoint")["wal_bytes"], 0)
            with locked(daemon.segment()):
                daemon.mark("after %d" % number)
                assert daemon.control("checkpoint")["wal_bytes"] > 0
                daemon.is_well()
        lib.equal(len(daemon.texts()), 6)


def test_a_segment_is_begun_and_the_one_before_completed_later():
    with Readable() as daemon:
        with daemon.session() as session:
            session.send(HEADER + 'Marker, 1, "one"\nRangePush, 2, "open"\n')
            session.ack(5)
            first = daemon.segment()
            with locked(first):
                daemon.control("rotate")
                second = daemon.segment()
                with locked(second):
                    session.send('Marker, 3, "two"\n')
                    session.ack(6)
                    daemon.control("rotate")
                    session.send('Marker, 4, "three"\n')
                    session.ack(7)
                    daemon.is_well()
                    daemon.stop()
        lib.equal(daemon.texts(), ["one", "two", "three"])
        daemon.start()
        lib.wait_for(lambda: not any(os.path.getsize(path + "-wal") for path in (first, second)),
                     "those before are complete")
        for path in (first, second):
            lib.wait_for(lambda: lib.rows(path, "SELECT count(*) FROM NVTXT_OPEN_RANGES") ==
                         [(0,)], "nothing is open there")
        lib.equal(daemon.query("SELECT text FROM NVTXT_OPEN_RANGES"), [("open",)])


def test_a_snapshot_is_made_and_a_reload_done():
    with Readable() as daemon:
        daemon.mark("one")
        with locked(daemon.segment()):
            copy = os.path.join(daemon.folder, "copy.sqlite")
            daemon.control("snapshot", file=copy)
            lib.equal(lib.rows(copy, "SELECT text FROM NVTX_EVENTS"), [("one",)])
            daemon.tell_to_reload()
            daemon.mark("two")
            daemon.is_well()
            daemon.stop()
        lib.equal(daemon.texts(), ["one", "two"])


def starts_beside(daemon, session, begin):
    """The daemon ended with an open range; it starts while its segment is locked."""
    segment = daemon.segment()
    with locked(segment) as stranger:
        begin()
        daemon.start()
        log = daemon.log_text()
        assert "process %d (python3" % stranger.pid in log and "uid %d)" % STRANGER in log, log
        assert "goes on beside it" in log, log
        assert daemon.segment() != segment
        with daemon.session(session.id) as again:
            lib.equal(again.welcome["line"], 5)
            again.send('Marker, 3, "two"\n@RangePop, Time\nRangePop, 9\n')
            again.ack(8)
        daemon.mark("three")
        daemon.is_well()
        lib.equal(sorted(os.path.basename(path) for path in os.listdir(daemon.folder)
                         if path.endswith(".new")), [])
    daemon.stop()
    lib.equal(daemon.texts(), ["one", "two", "three"])
    lib.equal(daemon.query('SELECT text, start, "end" FROM NVTX_EVENTS WHERE eventType = 59'),
              [("open", 2, 9)])
    daemon.start()  # nobody is in the way now
    lib.wait_for(lambda: lib.rows(segment, "SELECT DISTINCT ended FROM NVTXT_SOURCES") ==
                 [("rotated",)], "the locked one is left")
    lib.wait_for(lambda: os.path.getsize(segment + "-wal") == 0, "it is complete")
    lib.equal(lib.rows(segment, "SELECT count(*) FROM NVTXT_SESSIONS"), [(0,)])
    lib.equal(len(set(daemon.everywhere("SELECT id FROM NVTXT_SOURCES"))), 2)


def test_a_start_goes_on_beside_a_locked_segment():
    with Readable("LockTimeout=300ms\n") as daemon:
        with daemon.session() as session:
            session.send(HEADER + 'Marker, 1, "one"\nRangePush, 2, "open"\n')
            session.ack(5)
        daemon.stop()
        starts_beside(daemon, session, lambda: None)


def test_a_start_after_a_kill_goes_on_beside_a_locked_segment():
    with Readable("LockTimeout=300ms\n") as daemon:
        with daemon.session() as session:
            session.send(HEADER + 'Marker, 1, "one"\nRangePush, 2, "open"\n')
            session.ack(5)
        starts_beside(daemon, session, daemon.kill)


def test_a_start_waits_for_a_lock():
    with Readable() as daemon:
        daemon.mark("one")
        daemon.kill()
        segment = daemon.segment()
        with locked(segment) as stranger, open(daemon.log, "ab") as log:
            daemon.process = subprocess.Popen(daemon.command(), stdout=log, stderr=log)
            lib.wait_for(lambda: "it is waited for" in daemon.log_text(), "it says so")
            stranger.kill()
            lib.wait_for(daemon.is_ready, "it goes on")
        lib.equal(daemon.segment(), segment)
        daemon.mark("two")
        lib.equal(daemon.texts(), ["one", "two"])
        lib.equal(daemon.log_text().count("is locked by"), 1)


def test_a_plain_file_that_stays_locked_ends_the_start():
    with Readable("LockTimeout=100ms\n") as daemon:
        daemon.mark("one")
        daemon.stop()
        segment = daemon.segment()
        os.unlink(daemon.store)
        os.rename(segment, daemon.store)
        for ending in ("-wal", "-shm"):
            os.unlink(segment + ending)
        store = sqlite3.connect(daemon.store, isolation_level=None)
        store.execute("BEGIN IMMEDIATE")
        done = subprocess.run(daemon.command(), stderr=subprocess.PIPE, timeout=lib.DEADLINE,
                              check=False)
        lib.equal(done.returncode, 75, done.stderr)
        assert re.search(rb"locked by process %d " % os.getpid(), done.stderr), done.stderr
        store.execute("ROLLBACK")
        store.close()
        daemon.start()
        lib.equal(daemon.texts(), ["one"])


lib.run(globals())
