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


def test_a_checkpoint_that_is_locked_out_gives_no_figures():
    with Readable() as daemon:
        daemon.mark("one")
        with locked(daemon.segment(), first=121, last=121):
            done = daemon.control("checkpoint")
            lib.equal((done["pinned"], done["pages"], done["pages_moved"]), (True, -1, -1))
            text = subprocess.run([lib.program("client", "nvtxt-ctl"), "--socket", daemon.control_socket, "checkpoint"],
                                  stdout=subprocess.PIPE, text=True, timeout=lib.DEADLINE, check=True).stdout
            assert "holds a lock of the log: nothing was moved" in text and "551" not in text, text
        lib.equal(daemon.control("checkpoint")["pinned"], False)


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


def test_a_segment_whose_maker_was_killed_before_it_was_linked_can_be_read():
    with lib.Daemon(config="StoreMode=0644\n") as daemon:
        daemon.kill()
        files = [os.path.realpath(daemon.store) + ending for ending in ("", "-wal", "-shm")]
        lib.equal([os.stat(path).st_mode & 0o777 for path in files], [0o644] * 3)
        os.unlink(daemon.store)
        for path in files:
            os.chmod(path, 0o600)
        daemon.start()
        lib.equal(os.path.realpath(daemon.store), files[0])
        lib.equal([os.stat(path).st_mode & 0o777 for path in files], [0o644] * 3)


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
    with Readable("LockTimeout=600s\n") as daemon:
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


def test_a_start_needs_no_recovery_when_the_log_is_empty():
    """The byte of checkpoints is held over the stop as well: the log is emptied all the same."""
    with Readable("LockTimeout=600s\n") as daemon:
        segment = daemon.segment()
        for byte in (121, 122):
            daemon.mark("%d" % byte)
            with locked(segment, first=byte, last=byte):
                daemon.stop()
                lib.equal(os.path.getsize(segment + "-wal"), 0)
                daemon.start()
                daemon.mark("again")
                lib.equal(os.stat(segment + "-shm").st_mode & 0o777, 0o644)
        lib.equal((daemon.segment(), daemon.texts()), (segment, ["121", "again", "122", "again"]))
        assert "locked" not in daemon.log_text(), daemon.log_text()


def test_who_holds_what_recovery_needs_is_named_and_left_behind():
    """Once the stranger locks the byte that says that others have the store open, too. What he
    cannot do is write a header: where it is broken, recovery is needed all the same."""
    for first, last in ((121, 121), (122, 122), (122, 128)):
        with Readable("LockTimeout=300ms\n") as daemon:
            daemon.mark("one")
            daemon.kill()
            segment = daemon.segment()
            with locked(segment, first=first, last=last) as stranger:
                os.truncate(segment + "-shm", 0)
                daemon.start()
                assert "locked by process %d (python3" % stranger.pid in daemon.log_text()
                assert daemon.segment() != segment
                daemon.mark("two")
            lib.equal(daemon.texts(), ["one", "two"])


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


def sql(daemon, script):
    """Somebody else's writes; a deadline for who has to wait for the daemon to give way."""
    store = sqlite3.connect(daemon.store, isolation_level=None, timeout=lib.DEADLINE)
    store.executescript(script)
    store.close()


def with_trigger(daemon, body, table="NVTX_EVENTS"):
    daemon.stop()
    sql(daemon, "CREATE TRIGGER theirs AFTER INSERT ON %s BEGIN %s; END" % (table, body))
    daemon.start()


LACKS = {"SELECT nope(new.rowid)": "no such function: nope",
         "SELECT 1 FROM NVTX_EVENTS WHERE text = 'x' COLLATE theirs": "no such collation sequence"}


def test_a_trigger_that_calls_what_is_not_there_can_be_dropped():
    for body, why in LACKS.items():
        with lib.Daemon() as daemon:
            daemon.send(HEADER + 'Marker, 1, "before"\n')
            segment = os.path.realpath(daemon.store)
            with_trigger(daemon, body)
            with daemon.session() as session:
                session.send(HEADER + 'Marker, 2, "waits"\n')
                status = lib.wait_for(lambda: (lambda s: s["in_trouble"] and s)
                                      (daemon.control("status")), "it says so")
                assert why in status["last_error"] and "drop" in status["last_error"], status
                sql(daemon, "DROP TRIGGER theirs")
                session.ack(4)
                session.end()
            lib.equal(daemon.query("SELECT text FROM NVTX_EVENTS WHERE eventType = 34"),
                      [("before",), ("waits",)])
            lib.equal((os.path.realpath(daemon.store), daemon.control("status")["losses"]),
                      (segment, 0))
            try:  # the lock is the daemon's again
                store = sqlite3.connect(daemon.store, timeout=0)
                store.execute("CREATE TABLE theirs (a)")
                raise AssertionError("somebody else could write")
            except sqlite3.OperationalError as error:
                assert "locked" in str(error), error
            finally:
                store.close()


def test_who_keeps_the_lock_that_was_given_back_is_left_behind():
    with lib.Daemon(config="LockTimeout=100ms\n") as daemon:
        with_trigger(daemon, "SELECT nope(1)")
        with daemon.session() as session:
            session.send(HEADER + '@RangeStart, Time, RangeId, Message\nMarker, 1, "waits"\n'
                         'RangeStart, 2, 7, "open"\n')
            store = sqlite3.connect(daemon.store, isolation_level=None, timeout=lib.DEADLINE)
            first = os.path.realpath(daemon.store)
            store.execute("BEGIN IMMEDIATE")
            session.ack(6)
            assert os.path.realpath(daemon.store) != first
            lib.equal(daemon.query("SELECT text FROM NVTX_EVENTS WHERE eventType = 34"),
                      [("waits",)])
            lib.equal(daemon.query("SELECT text FROM NVTXT_OPEN_RANGES"), [("open",)])
            assert "locked by process %d " % os.getpid() in daemon.log_text(), daemon.log_text()
            store.close()
        lib.equal(daemon.control("status")["losses"], 0)


def test_a_start_after_a_kill_waits_for_such_a_trigger_too():
    with lib.Daemon() as daemon:
        with daemon.plain() as plain:
            plain.send(HEADER + 'RangePush, 1, "open"\n')
            lib.wait_for(lambda: daemon.query("SELECT text FROM NVTXT_OPEN_RANGES"), "it is stored")
            daemon.kill()
        sql(daemon, "CREATE TRIGGER theirs AFTER UPDATE ON NVTXT_SOURCES BEGIN SELECT nope(1); END")
        daemon.start()
        assert "no such function: nope" in daemon.log_text(), daemon.log_text()
        sql(daemon, "DROP TRIGGER theirs")
        daemon.send(HEADER + 'Marker, 1, "on"\n')
        daemon.stop()
        daemon.start()
        lib.equal(daemon.query("SELECT text, ended FROM NVTX_EVENTS, NVTXT_SOURCES s WHERE "
                               "eventType = 59 AND s.id = 1"), [("open", "lost")])


lib.run(globals())
