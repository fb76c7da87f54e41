# SPDX-License-Identifier: Apache-2.0
"""nvtxt-ship while it follows: what is new comes, what fails is tried again, each row once."""
import contextlib
import os
import signal
import sqlite3
import time

from lib import Daemon, FaultyDaemon, equal, run, wait_for
from postgres import database
from proxy import Proxy
from ship import Shipper, compare_store, good, refused, run_ship, snapshot

HEAD = "TimeBase = Manual\n@Marker, Time, ProcessId, ThreadId, Message\n"


def marker(text):
    return HEAD + 'Marker, 1, 7, 8, "%s"\n' % text


def texts(server):
    return [row[0] for row in server.rows("SELECT text FROM nvtxt.events ORDER BY segment, row_id")]


def arrived(server, wanted):
    wait_for(lambda: texts(server) == wanted, "the rows are there: %r" % wanted)


@contextlib.contextmanager
def fleet(*options, tcp=False):
    with database(tcp) as server, Daemon() as daemon:
        good("init", "--target", server.target())
        yield server, daemon, ("--target", server.target(), "--store", daemon.store,
                               "--interval", "50ms", *options)


def test_new_rows_come_through_rotations():
    with fleet() as (server, daemon, args), Shipper(*args) as shipper:
        wanted = []
        for number in range(12):
            daemon.send(marker("m%d" % number))
            wanted.append("m%d" % number)
            if number % 3:
                daemon.control("rotate")
            if number % 4 == 0:
                arrived(server, wanted)
        arrived(server, wanted)
        equal(server.one("SELECT count(*) FROM nvtxt.losses"), "0")
        equal(shipper.said(), "")
        holder = server.one("SELECT shipper FROM nvtxt.cursors")
        equal(holder.split(":")[3], str(shipper.process.pid))
        equal(shipper.stop(), 0, shipper.said())
        equal(server.rows("SELECT shipper FROM nvtxt.cursors"), [(None,)])
        good("--once", *args)
        compare_store(server, daemon.segments())


def test_a_batch_of_a_quiet_store_comes():
    # The shipper sees the bytes of a batch before it is committed; nothing wakes it after that.
    with database() as server, FaultyDaemon("slow-sync:3000") as daemon, \
            daemon.session() as session:
        good("init", "--target", server.target())
        with Shipper("--target", server.target(), "--store", daemon.store, "--interval", "50ms",
                     "--lease", "1h") as shipper:
            session.send(marker("a"))
            arrived(server, ["a"])
            time.sleep(11)  # twice the 5 s after which it looks at what changes without events
            daemon.tell_fault()
            log = os.path.realpath(daemon.store) + "-wal"
            before = os.stat(log).st_mtime_ns
            shipper.process.send_signal(signal.SIGSTOP)
            session.send('Marker, 2, 7, 8, "b"\n')  # one transaction
            wait_for(lambda: os.stat(log).st_mtime_ns != before, "it is written")
            time.sleep(0.5)  # all of it; then the shipper wakes once
            shipper.process.send_signal(signal.SIGCONT)
            arrived(server, ["a", "b"])


def test_a_folder_that_comes_back_is_followed():
    with fleet("--lease", "1h") as (server, daemon, args), Shipper(*args):
        daemon.send(marker("a"))
        arrived(server, ["a"])
        daemon.stop()
        os.rename(daemon.folder, daemon.folder + ".moved")
        time.sleep(1)
        os.rename(daemon.folder + ".moved", daemon.folder)
        daemon.start()
        for number in range(2):
            daemon.send(marker("b%d" % number))
            arrived(server, ["a", "b0", "b1"][:number + 2])


def test_changes_without_events_come_too():
    with fleet() as (server, daemon, args), Shipper(*args), daemon.session() as session:
        session.send(HEAD + '@RangePush, Time, ProcessId, ThreadId, Message\n'
                     '@RangePop, Time, ProcessId, ThreadId\nRangePush, 1, 7, 8, "runs"\n')
        wait_for(lambda: server.rows("SELECT message, pid FROM nvtxt.running") == [("runs", "7")],
                 "the open range is there")
        session.send('RangePop, 2, 7, 8\nSetThreadName, 7, 8, "renamed"\n')
        wait_for(lambda: server.rows("SELECT message, thread FROM nvtxt.timeline")
                 == [("runs", "renamed")], "the new name is there")
        wait_for(lambda: server.rows("SELECT 1 FROM nvtxt.running") == [], "nothing is open")
        session.end()
        wait_for(lambda: server.rows("SELECT ended FROM nvtxt.sources") == [("end",)],
                 "the source has ended")


def test_open_ranges_can_be_left_out():
    with fleet() as (server, daemon, args), daemon.session() as session:
        session.send('TimeBase = Manual\n@RangePush, Time, Message\nRangePush, 1, "runs"\n')
        session.ack(3)
        path = os.path.join(daemon.folder, "c.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write("[nvtxt-ship]\nOpenRanges=no\n")
        good("--once", "-c", path, *args)
        equal(server.rows("SELECT * FROM nvtxt.open_ranges"), [])
        good("--once", *args)
        equal(len(server.rows("SELECT * FROM nvtxt.open_ranges")), 1)
        good("--once", "-c", path, *args)
        equal(server.rows("SELECT * FROM nvtxt.open_ranges"), [])


def test_one_of_several_ships():
    with fleet("--host", "h") as (server, daemon, args):
        daemon.send(marker("a"))
        with Shipper(*args) as first:
            arrived(server, ["a"])
            pid = first.process.pid
            for mode in ([], ["--once"]):
                said = refused(75, "the store of h is being shipped by process %d, seen " % pid,
                               *mode, *args)
                equal(said.rstrip().endswith(" s ago"), True, said)
            good("--dry-run", *args)
            daemon.send(marker("b"))
            arrived(server, ["a", "b"])
            first.kill()
            good("--once", *args)  # it waits for nothing: the holder is known to be gone
        # A holder elsewhere is waited for.
        server.rows("UPDATE nvtxt.cursors SET shipper = 'm:b:1:2:3', seen = clock_timestamp()")
        refused(75, "by process 2, seen 0 s ago", "--once", *args)
        server.rows("UPDATE nvtxt.cursors SET seen = seen - interval '31 s'")
        good("--once", *args)
        equal(texts(server), ["a", "b"])
        # However the database writes times: IST is read as another zone than the one that wrote it.
        server.rows("ALTER DATABASE %s SET datestyle = 'SQL, DMY'; ALTER DATABASE %s SET timezone = "
                    "'Asia/Kolkata'" % (server.database, server.database))
        for seen in ("now() - interval '31 s'", "'-infinity'", "NULL"):
            server.rows("UPDATE nvtxt.cursors SET shipper = 'm:b:1:2:3', seen = %s" % seen)
            good("--once", *args)


def test_a_lease_is_given_back_while_rounds_fail():
    with fleet() as (server, daemon, args), Shipper(*args) as shipper:
        daemon.send(marker("a"))
        arrived(server, ["a"])
        server.rows("CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE "
                    "'not now'; END $$; CREATE TRIGGER no BEFORE INSERT ON nvtxt.segments "
                    "FOR EACH ROW EXECUTE FUNCTION no()")
        daemon.send(marker("b"))
        wait_for(lambda: "not now" in shipper.said(), "a round fails")
        equal(shipper.stop(), 0, shipper.said())
        equal(server.rows("SELECT shipper FROM nvtxt.cursors"), [(None,)])


def test_a_shipper_that_ends_while_it_waits_for_a_lock_takes_no_lease():
    waits = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'nvtxt-ship' AND datname = " \
        "current_database()"
    with fleet() as (server, daemon, args):
        daemon.send(marker("a"))
        good("--once", *args)
        with server.held("SELECT 1 FROM nvtxt.cursors FOR UPDATE"), Shipper(*args) as shipper:
            wait_for(lambda: server.rows(waits + " AND wait_event_type = 'Lock'"), "it waits")
            equal(shipper.stop(), 0, shipper.said())
        wait_for(lambda: not server.rows(waits), "the engine has ended its statement")
        equal(server.rows("SELECT shipper FROM nvtxt.cursors"), [(None,)])


def test_a_round_that_waits_for_a_lock_is_broken_off_and_the_lease_given_back():
    waits = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'nvtxt-ship' AND datname = " \
        "current_database()"
    with fleet() as (server, daemon, args), Shipper(*args) as shipper:
        daemon.send(marker("a"))
        arrived(server, ["a"])
        with server.held("SELECT 1 FROM nvtxt.segments FOR UPDATE"):
            daemon.send(marker("b"))
            wait_for(lambda: server.rows(waits + " AND wait_event_type = 'Lock'"), "it waits")
            equal(shipper.stop(), 0, shipper.said())
            equal(server.rows("SELECT shipper FROM nvtxt.cursors"), [(None,)])
        shipper.start()
        arrived(server, ["a", "b"])
        # The row of the lease itself: the engine gives it back once it can.
        with server.held("SELECT 1 FROM nvtxt.cursors FOR UPDATE"):
            daemon.send(marker("c"))
            wait_for(lambda: server.rows(waits + " AND wait_event_type = 'Lock'"), "it waits")
            equal(shipper.stop(), 0, shipper.said())
        wait_for(lambda: not server.rows(waits), "the engine has ended its statement")
        equal(server.rows("SELECT shipper FROM nvtxt.cursors"), [(None,)])
        equal(shipper.said(), "")


def test_a_lease_is_given_back_on_a_connection_of_its_own():
    with fleet(tcp=True) as (server, daemon, args):
        proxy = Proxy(server.port)
        args = ("--target", server.target(host="127.0.0.1", port=proxy.own_port), *args[2:])
        with Shipper(*args) as shipper:
            daemon.send(marker("a"))
            arrived(server, ["a"])
            proxy.refuses = True
            server.rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
                        "application_name = 'nvtxt-ship'")
            wait_for(lambda: proxy.refused > 7, "it waits for seconds before it tries again")
            proxy.refuses = False
            equal(shipper.stop(), 0, shipper.said())
        equal(server.rows("SELECT shipper FROM nvtxt.cursors"), [(None,)])
        proxy.close()


def test_a_shipper_that_lost_its_lease_writes_nothing():
    with fleet() as (server, daemon, args), Shipper(*args) as shipper:
        daemon.send(marker("a"))
        arrived(server, ["a"])
        server.rows("UPDATE nvtxt.cursors SET shipper = 'm:b:1:2:3', "
                    "seen = clock_timestamp() + interval '1 day'")
        before = snapshot(server)
        daemon.send(marker("b"))
        equal(shipper.process.wait(240), 75, shipper.said())
        equal(snapshot(server), before)
        equal("by process 2, seen " in shipper.said(), True, shipper.said())
        server.rows("UPDATE nvtxt.cursors SET shipper = NULL")
        good("--once", *args)
        equal(texts(server), ["a", "b"])


def test_a_server_that_comes_back_gets_everything():
    with fleet() as (server, daemon, args), Shipper(*args) as shipper:
        daemon.send(marker("a"))
        arrived(server, ["a"])
        server.stop()
        daemon.send(marker("b"))
        wait_for(lambda: "cannot be reached" in shipper.said(), "the failure is logged")
        daemon.control("rotate")
        daemon.send(marker("c"))
        server.start()
        arrived(server, ["a", "b", "c"])
        wait_for(lambda: "shipping goes on after" in shipper.said(), "its end is logged")
        server.rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
                    "application_name = 'nvtxt-ship'")
        daemon.send(marker("d"))
        arrived(server, ["a", "b", "c", "d"])


def test_a_server_that_dies_in_a_backlog_loses_rows_and_cursor_together():
    count = 150_000
    together = "SELECT coalesce(sum(c.events), 0), coalesce(sum(c.events), 0) = (SELECT count(*) " \
               "FROM nvtxt.events) FROM nvtxt.cursors AS c"
    with fleet() as (server, daemon, args):
        # What nobody waits for stays in the server's memory as long as possible.
        server.rows("ALTER SYSTEM SET wal_writer_delay = '10s'")
        server.rows("ALTER SYSTEM SET wal_writer_flush_after = '1GB'")
        server.rows("SELECT pg_reload_conf()")
        lines = "".join("Marker, %d, %d\n" % (time, time) for time in range(count))
        with daemon.plain() as connection:
            connection.send("TimeBase = Manual\n@Marker, Time, Message\n" + lines)
        daemon.settled()
        with Shipper(*args):
            for shipped in (1, 60_000, 100_000):
                wait_for(lambda shipped=shipped: int(server.rows(together)[0][0]) >= shipped,
                         "a part is there")
                server.stop()
                server.start()
                equal(server.rows(together)[0][1], "t")
            wait_for(lambda: server.rows(together)[0] == (str(count), "t"), "everything is there")
        equal(server.rows("SELECT count(DISTINCT row_id), count(DISTINCT text) FROM nvtxt.events"),
              [(str(count), str(count))])
        server.rows("ALTER SYSTEM RESET ALL")


REFUSES = """
CREATE FUNCTION nvtxt.refuse() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE 'refused by a trigger'; END $$;
"""
TRIGGERS = (
    "CREATE TRIGGER refuse BEFORE UPDATE ON nvtxt.cursors FOR EACH ROW WHEN (new.event_row > 1) "
    "EXECUTE FUNCTION nvtxt.refuse()",
    "CREATE TRIGGER refuse AFTER INSERT ON nvtxt.events FOR EACH STATEMENT "
    "EXECUTE FUNCTION nvtxt.refuse()",
    "CREATE TRIGGER refuse BEFORE INSERT ON nvtxt.threads FOR EACH ROW "
    "EXECUTE FUNCTION nvtxt.refuse()",
    "CREATE CONSTRAINT TRIGGER refuse AFTER UPDATE ON nvtxt.cursors DEFERRABLE INITIALLY DEFERRED "
    "FOR EACH ROW WHEN (new.event_row > 1) EXECUTE FUNCTION nvtxt.refuse()",
)


def test_what_the_engine_refuses_is_rolled_back_whole():
    with fleet() as (server, daemon, args), Shipper(*args) as shipper:
        server.rows(REFUSES)
        wanted = ["first"]
        daemon.send(marker("first"))
        arrived(server, wanted)
        for number, trigger in enumerate(TRIGGERS):
            table = trigger.split(" ON ")[1].split()[0]
            server.rows(trigger)
            before = snapshot(server, but=("seen", "shipper"))
            text = "m%d" % number
            daemon.send(HEAD + 'Marker, 1, 7, %d, "%s"\n' % (100 + number, text))
            equal(run_ship("--once", *args)[0], 75)
            said = shipper.said().count("refused by a trigger")
            wait_for(lambda: shipper.said().count("refused by a trigger") > 0, "it is logged")
            time.sleep(0.3)
            # The rows, or the lease after them.
            equal(shipper.said().count("refused by a trigger") - said <= 2, True, shipper.said())
            equal(snapshot(server, but=("seen", "shipper")), before, trigger)
            server.rows("DROP TRIGGER refuse ON " + table)
            wanted.append(text)
            arrived(server, wanted)
        equal(shipper.stop(), 0)
        good("--once", *args)
        compare_store(server, daemon.segments())


def test_an_answer_to_commit_that_is_lost_doubles_nothing():
    with fleet(tcp=True) as (server, daemon, args):
        proxy = Proxy(server.port)
        args = ("--target", server.target(host="127.0.0.1", port=proxy.own_port), *args[2:])
        with Shipper(*args) as shipper:
            wanted = []
            for number in range(5):
                proxy.lose = True
                daemon.send(marker("m%d" % number))
                wanted.append("m%d" % number)
                arrived(server, wanted)
                wait_for(lambda: proxy.lost > number, "an answer was lost")
            equal(shipper.stop(), 0, shipper.said())
        good("--once", *args)
        compare_store(server, daemon.segments())
        proxy.close()


def test_a_connection_that_is_cut_anywhere_leaves_all_or_nothing():
    with fleet(tcp=True) as (server, daemon, args):
        proxy = Proxy(server.port)
        cut = ("--once", "--target", server.target(host="127.0.0.1", port=proxy.own_port), *args[2:])
        sent = pieces = 0
        status = None
        while status != 0:
            daemon.send(HEAD + 'Marker, 1, 7, %d, "m%d"\n' % (100 + sent, sent))
            sent += 1
            proxy.cut = pieces
            status, _, said = run_ship(*cut)
            equal(status in (0, 69), True, said)
            there = server.one("SELECT count(*) FROM nvtxt.events")
            equal(there in (str(sent - 1), str(sent)), True, pieces)
            for sql in ("SELECT coalesce(max(events), 0) FROM nvtxt.cursors",
                        "SELECT coalesce(sum(events), 0) FROM nvtxt.segments",
                        "SELECT count(*) FROM nvtxt.threads"):
                equal(server.one(sql), there, "%d: %s" % (pieces, sql))
            proxy.cut = None
            good("--once", *args)
            equal(server.one("SELECT count(*) FROM nvtxt.events"), str(sent))
            pieces += 1
        equal(pieces > 10, True, pieces)
        compare_store(server, daemon.segments())
        proxy.close()


def test_sigterm_ends_it_whatever_the_engine_does():
    with fleet(tcp=True) as (server, daemon, args):
        proxy = Proxy(server.port)
        args = ("--target", server.target(host="127.0.0.1", port=proxy.own_port), *args[2:])
        with Shipper(*args) as shipper:
            daemon.send(marker("a"))
            arrived(server, ["a"])
            proxy.silent = True
            daemon.send(marker("b"))
            time.sleep(0.5)  # it waits for an answer
            began = time.monotonic()
            equal(shipper.stop(), 0, shipper.said())
            # 3 s are promised; a busy machine adds to that.
            equal(time.monotonic() - began < 60, True)
            proxy.silent = False
        server.stop()
        with Shipper("--target", server.target(), *args[2:]) as shipper:
            wait_for(lambda: "cannot be reached" in shipper.said(), "it tries")
            equal(shipper.stop(), 0, shipper.said())
        server.start()
        good("--once", "--target", server.target(), *args[2:])
        equal(texts(server), ["a", "b"])
        proxy.close()


def test_segments_that_went_are_a_loss_with_their_number():
    with fleet("--host", "h") as (server, daemon, args):
        daemon.send(marker("a"))
        good("--once", *args)
        for text in "bcd":
            daemon.send(marker(text) + 'Marker, 2, 7, 8, "%s2"\n' % text)
            daemon.control("rotate")
        daemon.send(marker("e"))
        paths = daemon.segments()
        daemon.stop()
        for path in paths[:2]:
            for end in ("", "-wal", "-shm"):
                with contextlib.suppress(FileNotFoundError):
                    os.remove(path + end)
        daemon.start()
        said = run_ship("--once", *args)
        equal(texts(server), ["a", "d", "d2", "e"])
        equal(server.rows("SELECT segment, row_id, reason, count > 0 FROM nvtxt.losses"),
              [("1", "0", "retention", "t")])
        lost = int(server.one("SELECT lost FROM nvtxt.fleet"))
        equal(lost >= 4, True, lost)
        equal(said, (0, "", "nvtxt-ship: warning: %d rows from segment 1 on were removed before they "
                            "were shipped\n" % lost))
        good("--once", *args)
        equal(server.one("SELECT count(*) FROM nvtxt.losses"), "1")


def test_a_shipper_that_follows_says_what_went():
    with fleet("--host", "h") as (server, daemon, args):
        daemon.send(marker("a"))
        with Shipper(*args) as shipper:
            arrived(server, ["a"])
            shipper.process.send_signal(signal.SIGSTOP)
            for text in "bcd":
                daemon.control("rotate")
                daemon.send(marker(text))
            for path in daemon.segments()[1:3]:
                for end in ("", "-wal", "-shm"):
                    with contextlib.suppress(FileNotFoundError):
                        os.remove(path + end)
            shipper.process.send_signal(signal.SIGCONT)
            arrived(server, ["a", "d"])
            said = shipper.said()
        equal("2 rows from segment 1 on were removed before they were shipped" in said, True, said)
        equal(server.one("SELECT lost FROM nvtxt.fleet"), "2")


def test_a_store_that_another_one_follows_is_shipped_whole():
    with fleet("--host", "h") as (server, daemon, args):
        daemon.send(marker("a"))
        with Shipper(*args) as shipper:
            arrived(server, ["a"])
            shipper.process.send_signal(signal.SIGSTOP)
            daemon.send(marker("b"))
            daemon.control("rotate")
            daemon.send(marker("c"))
            daemon.stop()
            paths = daemon.segments()
            store = sqlite3.connect(paths[-1])
            store.execute("UPDATE META_DATA_EXPORT SET value = "
                          "'00000000-0000-4000-8000-000000000000' WHERE name = 'STORE_ID'")
            store.commit()
            store.close()
            for end in ("", "-wal", "-shm"):
                with contextlib.suppress(FileNotFoundError):
                    os.remove(paths[0] + end)
            shipper.process.send_signal(signal.SIGCONT)
            arrived(server, ["a", "b", "c"])
        equal(server.rows("SELECT store_id, segment, text FROM nvtxt.events ORDER BY text"),
              [("1", "1", "a"), ("1", "1", "b"), ("2", "2", "c")])


def store_with_two_identities(daemon):
    """The last of three segments has another one, as after a time when none could be read."""
    daemon.send(marker("b"))
    daemon.control("rotate")
    daemon.send(marker("c"))
    daemon.control("rotate")
    daemon.send(marker("d"))
    daemon.stop()
    store = sqlite3.connect(daemon.segments()[-1])
    store.execute("UPDATE META_DATA_EXPORT SET value = '00000000-0000-4000-8000-000000000000' "
                  "WHERE name = 'STORE_ID'")
    store.commit()
    store.close()


OWNED = "SELECT store_id, segment, text FROM nvtxt.events ORDER BY 1, 2, row_id"
OF_TWO = [("1", "1", "a"), ("1", "1", "b"), ("1", "2", "c"), ("2", "3", "d")]


def test_segments_of_an_older_identity_are_not_shipped_again():
    with fleet("--host", "h") as (server, daemon, args):
        daemon.send(marker("a"))
        with Shipper(*args) as shipper:
            arrived(server, ["a"])
            shipper.process.send_signal(signal.SIGSTOP)
            store_with_two_identities(daemon)
            shipper.process.send_signal(signal.SIGCONT)
            wait_for(lambda: server.rows(OWNED) == OF_TWO, "each row is there once")
        good("--once", *args)
        equal(server.rows(OWNED), OF_TWO)


def test_what_an_older_identity_still_has_comes_first():
    with fleet("--host", "h") as (server, daemon, args):
        daemon.send(marker("a"))
        good("--once", *args)
        store_with_two_identities(daemon)
        equal(good("--dry-run", *args), "1 events of segment 3\n")
        good("--once", *args)
        equal(server.rows(OWNED), OF_TWO)
        daemon.start()
        daemon.send(marker("e"))
        with Shipper(*args):
            wait_for(lambda: server.rows(OWNED) == [*OF_TWO, ("2", "3", "e")], "it goes on")
        equal(server.rows("SELECT store_id, segment, complete FROM nvtxt.segments ORDER BY 1, 2"),
              [("1", "1", "t"), ("1", "2", "t"), ("2", "3", "f")])
        equal(server.rows("SELECT 1 FROM nvtxt.losses"), [])


def test_a_new_identity_is_seen_after_the_older_segments_went():
    with fleet("--host", "h") as (server, daemon, args):
        daemon.send(marker("a"))
        with Shipper(*args) as shipper:
            arrived(server, ["a"])
            shipper.process.send_signal(signal.SIGSTOP)
            store_with_two_identities(daemon)
            for path in daemon.segments()[:-1]:
                for end in ("", "-wal", "-shm"):
                    with contextlib.suppress(FileNotFoundError):
                        os.remove(path + end)
            server.rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
                        "application_name = 'nvtxt-ship'")
            shipper.process.send_signal(signal.SIGCONT)
            wait_for(lambda: server.rows(OWNED) == [OF_TWO[0], OF_TWO[3]], "each store has its own")
        good("--once", *args)
        equal(server.rows(OWNED), [OF_TWO[0], OF_TWO[3]])


def test_an_older_identity_that_nobody_knows_is_no_matter():
    with fleet("--host", "h") as (server, daemon, args):
        daemon.send(marker("a"))
        store_with_two_identities(daemon)
        good("--once", *args)
        equal(server.rows(OWNED), [("1", *row[1:]) for row in OF_TWO])


def test_a_store_that_comes_back_after_the_connection_is_shipped():
    with fleet() as (server, daemon, args):
        daemon.send(marker("a"))
        with Shipper(*args) as shipper:
            arrived(server, ["a"])
            daemon.stop()
            os.rename(daemon.store, daemon.store + ".away")
            server.psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
                        "application_name = 'nvtxt-ship'")
            wait_for(lambda: "is not there at the moment" in shipper.said(), "it is missed")
            os.rename(daemon.store + ".away", daemon.store)
            daemon.start()
            daemon.send(marker("b"))
            arrived(server, ["a", "b"])


def test_the_position_is_written_for_the_daemon():
    with fleet() as (server, daemon, args):
        position = os.path.join(daemon.folder, "position")
        path = os.path.join(daemon.folder, "c.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write("[nvtxt-ship]\nPosition=%s\n" % position)
        (identity,), = daemon.query("SELECT value FROM META_DATA_EXPORT WHERE name = 'STORE_ID'")

        def content():
            with contextlib.suppress(FileNotFoundError), open(position, encoding="utf-8") as file:
                return file.read()
            return None
        with Shipper("-c", path, *args) as shipper:
            daemon.send(marker("a"))
            wait_for(lambda: content() == identity + " 1\n", "the position is 1")
            daemon.control("rotate")
            wait_for(lambda: content() == identity + " 2\n", "the position is 2")
            equal(shipper.said(), "")


run(globals())
