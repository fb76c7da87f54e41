# SPDX-License-Identifier: Apache-2.0
"""A store that is broken, gone, or refuses rows: the daemon needs nobody, and nothing is deleted."""
import glob
import os
import shutil
import sqlite3
import subprocess
import tempfile
import uuid

import lib

HEADER = 'TimeBase = Manual\n@Marker, Time, Message\n'


def sql(path, script):
    store = sqlite3.connect(path, isolation_level=None, timeout=lib.DEADLINE)
    store.executescript(script)
    store.close()


def losses(daemon):
    return daemon.query("SELECT reason, count FROM NVTXT_LOSSES")


def put_aside(daemon):
    return sorted(name for name in glob.glob(daemon.store + ".broken-*")
                  if not name.endswith(("-wal", "-shm")))


def texts(daemon):
    return [text for text, in daemon.query("SELECT text FROM NVTX_EVENTS WHERE eventType = 34"
                                           " ORDER BY start")]


def filled_store(daemon):
    """A store with an event in it, as a stopped daemon leaves it; its bytes."""
    daemon.send(HEADER + 'Marker, 1, "before"\n')
    daemon.stop()
    with open(daemon.store, "rb") as file:
        return file.read()


def write_file(path, data):
    with open(path, "wb") as file:
        file.write(data)


def test_a_broken_store_is_put_aside_at_the_start():
    with lib.Daemon() as daemon:
        whole = filled_store(daemon)
        page = 4096
        for number, broken in enumerate((
                b"not a database, just text that is long enough for a header" * 5,
                whole[:100] + b"\xff" * (page - 100) + whole[page:],  # the root of the schema
                whole[:page] + b"\xa5" * (len(whole) - page),         # everything but it
                whole[:page],                                         # cut off
                whole[:-1000],
                whole[:-1])):
            write_file(daemon.store, broken)
            daemon.start()
            aside = put_aside(daemon)
            lib.equal(len(aside), number + 1, daemon.log_text())
            kept = [open(name, "rb").read() for name in aside]
            assert broken in kept, "the broken file is kept as it was"
            log = daemon.log_text()
            assert all(name in log for name in aside) and "new store takes its place" in log, log
            lib.equal(losses(daemon), [("store-broken", 1)])
            daemon.send(HEADER + 'Marker, 2, "after"\n')
            lib.equal(texts(daemon), ["after"])
            lib.equal(daemon.control("health")["healthy"], False)
            daemon.stop()
        daemon.start()  # it is whole: nothing more is put aside
        lib.equal(len(put_aside(daemon)), 6)


def test_a_store_that_was_emptied_is_put_aside_with_its_log():
    with lib.Daemon() as daemon:
        daemon.send(HEADER + 'Marker, 1, "before"\n')
        daemon.kill()
        os.truncate(os.path.realpath(daemon.store), 0)
        daemon.start()
        aside = put_aside(daemon)
        lib.equal([os.path.getsize(name) for name in aside], [0])
        assert os.path.getsize(aside[0] + "-wal") > 0, "what was not moved yet is not lost"
        lib.equal(losses(daemon), [("store-broken", 1)])
        daemon.send(HEADER + 'Marker, 2, "after"\n')
        lib.equal(texts(daemon), ["after"])


def test_a_store_that_is_not_of_its_version_is_put_aside():
    for version in (0, 1, 2):
        with lib.Daemon() as daemon:
            filled_store(daemon)
            sql(daemon.store, "PRAGMA user_version = %d" % version)
            daemon.start()
            lib.equal(lib.rows(put_aside(daemon)[0], "SELECT text FROM NVTX_EVENTS"), [("before",)])
            lib.equal(losses(daemon), [("store-broken", 1)])
            daemon.stop()


# SQLite answers SQLITE_CORRUPT to whoever reads the schema next.
MALFORMED = ("PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = 99999"
             " WHERE name = 'NVTXT_SOURCES'; PRAGMA schema_version = 4242;")


def break_while_running(script, readable):
    with lib.Daemon(shared=True) as daemon:
        with daemon.session() as session, daemon.session() as other:
            other.send(HEADER + 'Kept = "kept"\n@RangePush, Time, Message\n@RangePop, Time\nRangePush, 7, "open"\n')
            other.ack(6)
            session.send(HEADER + 'Kept = "it has"\nMarker, 1, "before"\n')
            session.ack(4)
            sql(daemon.store, script)
            session.send('Marker, 2, "after"\nbad\n')
            diagnostics = session.ack(6)
            lib.equal([row["line"] for row in diagnostics], [6])
            lib.equal(losses(daemon), [("store-broken", 1)])
            lib.equal(texts(daemon), ["after"])
            aside = put_aside(daemon)
            lib.equal(len(aside), 1, daemon.log_text())
            if readable:
                old = sqlite3.connect(aside[0])
                lib.equal(old.execute("SELECT text FROM NVTX_EVENTS").fetchall(), [("before",)])
                old.close()
            lib.wait_for(lambda: daemon.query("SELECT count(*) FROM NVTXT_STATE WHERE part = 1") == [(2,)],
                         "the state of both is in the new store, though one sent nothing")
        with daemon.session(session.id) as session, daemon.session(other.id) as other:
            session.send('Marker, 3, $Kept\n')
            lib.equal((session.end()["line"], texts(daemon)), (7, ["after", "it has"]))
            other.send('Marker, 4, $Kept\nRangePop, 9\n')
            end = other.end()
            lib.equal((end["line"], end["errors"]), (8, 0))
            lib.equal(texts(daemon), ["after", "it has", "kept"])
            lib.equal(daemon.query("SELECT text, start, end FROM NVTX_EVENTS WHERE eventType = 59"), [("open", 7, 9)])
            lib.equal(daemon.query("SELECT count(*) FROM NVTXT_OPEN_RANGES"), [(0,)])
        lib.equal(daemon.control("status")["in_trouble"], False)
        log = daemon.log_text()
        lib.equal((log.count("were put aside"), log.count("trying again")), (1, 0), log)
        lib.equal(daemon.query("PRAGMA integrity_check"), [("ok",)])


def test_a_store_found_broken_while_running_is_put_aside():
    break_while_running(MALFORMED, False)


def test_a_store_that_lost_a_table_is_put_aside():
    break_while_running("DROP TABLE NVTXT_SOURCES;", True)


def write_over(path):
    size = os.path.getsize(path)
    with open(path, "r+b") as file:
        file.write(b"\xa5" * size)


def test_a_store_that_is_cut_or_written_over_in_place_is_put_aside():
    for spoil in (write_over, lambda path: os.truncate(path, 0),
                  lambda path: os.truncate(path, os.path.getsize(path) - 4096)):
        with lib.Daemon() as daemon:
            with daemon.session() as session:
                session.send(HEADER + 'Marker, 1, "before"\n')
                session.ack(3)
                daemon.control("checkpoint")
                spoil(os.path.realpath(daemon.store))
                checkpointed = daemon.control_raw(b'{"id": 1, "command": "checkpoint"}')
                lib.equal(checkpointed["ok"], False, checkpointed)
                session.send('Marker, 2, "after"\n')
                session.end()
            lib.equal((losses(daemon), texts(daemon)), ([("store-broken", 1)], ["after"]))
            lib.equal(len(put_aside(daemon)), 1)
            lib.equal(daemon.control("health")["healthy"], False)
            assert "was cut or written over" in daemon.log_text(), daemon.log_text()


def test_the_log_of_a_store_that_is_written_over_outlives_the_stop():
    with lib.Daemon() as daemon:
        daemon.send(HEADER + 'Marker, 1, "before"\n')
        write_over(os.path.realpath(daemon.store))
        daemon.stop()
        daemon.start()
        lib.equal(losses(daemon), [("store-broken", 1)])
        log, = glob.glob(daemon.store + ".broken-*-wal")
        assert b"before" in open(log, "rb").read(), "what was not moved yet is not lost"


def test_a_store_that_is_found_broken_by_reading_is_put_aside():
    with lib.Daemon(shared=True) as daemon:
        daemon.send(HEADER + 'Marker, 1, "before"\n')
        sql(daemon.store, MALFORMED)
        with daemon.session() as session:
            lib.equal((session.welcome["type"], session.welcome["line"]), ("welcome", 0))
            session.send(HEADER + 'Marker, 2, "after"\n')
            session.end()
        lib.equal((texts(daemon), len(put_aside(daemon))), (["after"], 1))


def began(daemon, session_id):
    return daemon.query("SELECT count(*) FROM NVTXT_SOURCES WHERE sessionId = '%s'" % session_id)


def test_a_session_that_was_put_aside_is_not_begun_anew():
    with lib.Daemon() as daemon:
        with daemon.session() as session:
            session.send(HEADER + 'Marker, 1, "before"\n')
            session.ack(3)
        daemon.stop()
        sql(daemon.store, "PRAGMA user_version = 2")
        daemon.start()
        for _ in range(2):
            with daemon.session(session.id) as again:
                equal = (again.welcome["line"], again.reply())
                lib.equal((equal[0], equal[1]["type"], equal[1]["line"], equal[1].get("how")),
                          (3, "end", 3, "lost"))
        lib.equal(began(daemon, session.id), [(0,)])
        with daemon.session() as other:
            lib.equal(other.welcome["line"], 0)


def test_a_named_session_that_may_be_in_what_cannot_be_read_is_not_begun():
    named = str(uuid.uuid5(uuid.NAMESPACE_URL, "nightly"))
    with lib.Daemon() as daemon:
        with daemon.session(named) as session:
            session.send(HEADER + 'Marker, 1, "before"\n')
            session.ack(3)
        daemon.stop()
        write_over(os.path.realpath(daemon.store))
        daemon.start()
        with daemon.session(named) as refused:
            lib.equal(refused.welcome["code"], "unreadable-session")
        lib.equal(began(daemon, named), [(0,)])
        with daemon.session() as other:  # nobody has its id yet
            lib.equal(other.welcome["line"], 0)
        done = subprocess.run([lib.program("client", "nvtxt-send"), "--socket", daemon.socket,
                               "--session", named], input=b"", stderr=subprocess.PIPE,
                              timeout=lib.DEADLINE, check=False)
        lib.equal(done.returncode, 76, done.stderr)
        aside, = glob.glob(daemon.store + ".broken-*[0-9]")
        assert b"may be in %s, which cannot be read" % aside.encode() in done.stderr, done.stderr
        lib.equal(daemon.control("health")["put_aside"], aside)
        told = subprocess.run([lib.program("client", "nvtxt-ctl"), "--socket", daemon.control_socket, "health"],
                              stdout=subprocess.PIPE, timeout=lib.DEADLINE, check=False).stdout
        assert b"note: put aside: " + aside.encode() + b"\n" in told, told
        for name in glob.glob(daemon.store + ".broken-*"):
            os.rename(name, name.replace(".broken-", ".away-"))
        with daemon.session(named) as session:
            lib.equal(session.welcome["line"], 0)


def test_no_session_that_may_have_lines_in_what_cannot_be_read_is_begun_anew():
    with lib.Daemon() as daemon:
        with daemon.session() as session:
            session.send(HEADER + 'Marker, 1, "before"\n')
            session.ack(3)
        daemon.stop()
        write_over(os.path.realpath(daemon.store))
        daemon.start()
        for acked in (3, 0):  # 0: no acknowledgement came through, but lines may be there
            with daemon.session(session.id, acked=acked) as refused:
                lib.equal(refused.welcome["code"], "unreadable-session")
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"#\n")
            file.flush()
            for words in (["--session", session.id], ["--session", session.id, "--new-session"]):
                done = subprocess.run([lib.program("client", "nvtxt-send"), "--socket", daemon.socket, *words,
                                       file.name], stderr=subprocess.PIPE, timeout=lib.DEADLINE, check=False)
                lib.equal(done.returncode, 76, done.stderr)
                assert b"cannot be read" in done.stderr, done.stderr
        lib.equal(began(daemon, session.id), [(0,)])


def test_what_is_left_of_a_spool_goes_on_beside_what_cannot_be_read():
    with lib.Daemon() as daemon:
        folder = os.path.join(daemon.folder, "spool")
        send = [lib.program("client", "nvtxt-send"), "--socket", daemon.socket]
        client = subprocess.Popen(send + ["--spool", folder], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        client.stdin.write((HEADER + 'Marker, 1, "before"\n').encode())
        client.stdin.flush()
        lib.wait_for(lambda: texts(daemon) == ["before"], "it is stored")
        daemon.stop()
        client.kill()
        client.communicate()
        write_over(os.path.realpath(daemon.store))
        daemon.start()

        def resume(*words):
            return subprocess.run(send + ["--resume", folder, *words], stderr=subprocess.PIPE,
                                  timeout=lib.DEADLINE, check=False)
        done = resume()
        lib.equal(done.returncode, 76, done.stderr)
        assert b"cannot be read" in done.stderr and b"is kept" in done.stderr, done.stderr
        lib.equal(texts(daemon), [])
        done = resume("--new-session")
        lib.equal(done.returncode, 0, done.stderr)
        lib.equal(texts(daemon), ["before"])


def test_a_folder_that_vanishes_is_made_again():
    with lib.Daemon(start=False) as daemon:
        daemon.store = os.path.join(daemon.folder, "deep", "er", "store.sqlite")
        os.makedirs(os.path.dirname(daemon.store))
        daemon.start()
        with daemon.session() as session:
            session.send(HEADER + 'Marker, 1, "before"\n')
            session.ack(3)
            shutil.rmtree(os.path.join(daemon.folder, "deep"))
            session.send('Marker, 2, "after"\n')
            session.ack(4)
            lib.equal((losses(daemon), texts(daemon)), ([("store-vanished", 1)], ["after"]))
            session.end()
        with lib.Daemon(start=False) as second:  # the lock is in the new folder, too
            second.store = daemon.store
            done = subprocess.run(second.command(), stderr=subprocess.PIPE, timeout=lib.DEADLINE,
                                  check=False)
            lib.equal(done.returncode, 73, done.stderr)
            assert b"process %d) uses the store" % daemon.process.pid in done.stderr, done.stderr
        assert "moved or removed" in daemon.log_text(), daemon.log_text()


def test_a_store_that_is_moved_away_stays_whole():
    with lib.Daemon() as daemon:
        with daemon.session() as session:
            session.send(HEADER + 'Marker, 1, "before"\n')
            session.ack(3)
            os.rename(os.path.realpath(daemon.store), daemon.store + "-moved")
            session.send('Marker, 2, "after"\n')
            session.ack(4)
            lib.equal((losses(daemon), texts(daemon)), ([("store-vanished", 1)], ["after"]))
            moved = sqlite3.connect(daemon.store + "-moved")
            lib.equal(moved.execute("SELECT text FROM NVTX_EVENTS").fetchall(), [("before",)])
            moved.close()


def test_a_log_that_is_removed_costs_nothing():
    with lib.Daemon() as daemon:
        with daemon.session() as session:
            session.send(HEADER + 'Marker, 1, "before"\n')
            session.ack(3)
            for ending in ("-wal", "-shm"):
                os.unlink(os.path.realpath(daemon.store) + ending)
            session.send('Marker, 2, "after"\n')
            session.ack(4)
            lib.equal((losses(daemon), texts(daemon)), ([], ["before", "after"]))
            session.end()
        daemon.stop()
        lib.equal((losses(daemon), texts(daemon)), ([], ["before", "after"]))
        daemon.start()


def test_a_link_that_is_taken_away_is_made_again():
    with lib.Daemon() as daemon:
        segment = os.path.realpath(daemon.store)
        with daemon.session() as session:
            session.send(HEADER + 'Marker, 1, "before"\n')
            session.ack(3)
            os.rename(daemon.store, daemon.store + "-moved")
            session.send('Marker, 2, "after"\n')
            session.ack(4)
            lib.wait_for(lambda: os.path.realpath(daemon.store) == segment, "the link is back")
            lib.equal((losses(daemon), texts(daemon)), ([], ["before", "after"]))
            os.unlink(daemon.store)
            with open(daemon.store, "w", encoding="utf-8") as file:
                file.write("precious")
            for number in (5, 6):
                session.send('Marker, 3, "and on"\n')
                session.ack(number)
            lib.equal(open(daemon.store, encoding="utf-8").read(), "precious")
            session.end()
        lib.equal(daemon.log_text().count("move it away"), 1)


def test_rows_that_the_store_refuses_do_not_hold_up_the_others():
    with lib.Daemon(config="CommitInterval=200ms\n", shared=True) as daemon:
        with daemon.session() as bad, daemon.session() as good:
            bad.send(HEADER + 'Marker, 1, "once"\n')
            bad.ack(3)
            sql(daemon.store, "CREATE UNIQUE INDEX foreign_one ON NVTX_EVENTS (text)")
            bad.send('Marker, 2, "once"\nMarker, 3, "more"\nbad\n')
            good.send(HEADER + 'Marker, 4, "good"\n')
            good.ack(3)
            bad.ack(6)  # it goes on, and its client is not asked for the lines again
            lib.equal(texts(daemon), ["once", "good"])
            lib.equal(daemon.query("SELECT reason, count, sourceId FROM NVTXT_LOSSES"),
                      [("refused", 3, bad.welcome["source"])])
            sql(daemon.store, "DROP INDEX foreign_one")
            bad.send('Marker, 7, "once"\n')
            lib.equal((bad.end()["line"], good.end()["line"]), (7, 3))
            lib.equal(texts(daemon), ["once", "good", "once"])
        status = daemon.control("status")
        lib.equal((status["in_trouble"], status["losses"]), (False, 1))
        assert "refuses a row" in daemon.log_text(), daemon.log_text()


def test_a_session_that_is_refused_as_a_whole_comes_again():
    with lib.Daemon(config="CommitInterval=5ms\n", shared=True) as daemon:
        with daemon.session() as session:
            session.send(HEADER)
            session.ack(2)
            sql(daemon.store, "CREATE TRIGGER foreign_one BEFORE UPDATE ON NVTXT_SOURCES"
                              " BEGIN SELECT raise(ABORT, 'no progress'); END")
            session.send('Marker, 1, "again"\n#nvtxt-end\n')
            lib.equal(session.replies(), [])  # it is closed, and told of nothing
        sql(daemon.store, "DROP TRIGGER foreign_one")
        with daemon.session(session.id) as again:
            lib.equal(again.welcome["line"], 2)
            again.send('Marker, 1, "again"\n')
            lib.equal(again.end()["events"], 1)
        lib.equal((texts(daemon), daemon.control("status")["in_trouble"]), (["again"], False))


def test_refused_rows_of_no_source_hold_up_nothing():
    with lib.Daemon(config="CommitInterval=5ms\n", shared=True) as daemon:
        sql(daemon.store, "CREATE TRIGGER foreign_one BEFORE INSERT ON NVTXT_CLOCKS"
                          " BEGIN SELECT raise(ABORT, 'no clocks'); END")
        daemon.send('TimeBase = ClockMonotonic\n@Marker, Time, Message\nMarker, 1, "kept"\n')
        lib.equal(texts(daemon), ["kept"])
        lib.equal([reason for reason, _ in losses(daemon)], ["refused"])
        sql(daemon.store, "CREATE TRIGGER foreign_two BEFORE INSERT ON NVTXT_LOSSES"
                          " BEGIN SELECT raise(ABORT, 'no losses'); END")
        with daemon.session() as session:
            session.send(HEADER + 'Marker, 2, "kept"\n#nvtxt-lost {"lines":1,"reason":"full"}\n')
            session.end()
        lib.equal(daemon.control("status")["in_trouble"], False)


lib.run(globals())
