# SPDX-License-Identifier: Apache-2.0
"""nvtxt-ship while it follows: what is new comes, what fails is tried again, each row once."""
import os
import signal
import subprocess
import time

from following import (HEAD, arrived, connected, disconnect, fleet, marker, remove, texts,
                       waiting)
from lib import FaultyDaemon, Skip, equal, run, wait_for
from postgres import database
from proxy import Proxy
from ship import Shipper, compare_store, good, refused, run_ship, snapshot


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
    with fleet() as (server, daemon, args):
        daemon.send(marker("a"))
        good("--once", *args)
        with server.held("SELECT 1 FROM nvtxt.cursors FOR UPDATE"), Shipper(*args) as shipper:
            wait_for(lambda: waiting(server), "it waits")
            equal(shipper.stop(), 0, shipper.said())
        wait_for(lambda: not connected(server), "the engine has ended its statement")
        equal(server.rows("SELECT shipper FROM nvtxt.cursors"), [(None,)])


def test_a_round_that_waits_for_a_lock_is_broken_off_and_the_lease_given_back():
    with fleet() as (server, daemon, args), Shipper(*args) as shipper:
        daemon.send(marker("a"))
        arrived(server, ["a"])
        with server.held("SELECT 1 FROM nvtxt.segments FOR UPDATE"):
            daemon.send(marker("b"))
            wait_for(lambda: waiting(server), "it waits")
            equal(shipper.stop(), 0, shipper.said())
            equal(server.rows("SELECT shipper FROM nvtxt.cursors"), [(None,)])
        shipper.start()
        arrived(server, ["a", "b"])
        # The row of the lease itself: the engine gives it back once it can.
        with server.held("SELECT 1 FROM nvtxt.cursors FOR UPDATE"):
            daemon.send(marker("c"))
            wait_for(lambda: waiting(server), "it waits")
            equal(shipper.stop(), 0, shipper.said())
        wait_for(lambda: not connected(server), "the engine has ended its statement")
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
            disconnect(server)
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
        disconnect(server)
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
        remove(*paths[:2])
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
            remove(*daemon.segments()[1:3])
            shipper.process.send_signal(signal.SIGCONT)
            arrived(server, ["a", "d"])
            said = shipper.said()
        equal("2 rows from segment 1 on were removed before they were shipped" in said, True, said)
        equal(server.one("SELECT lost FROM nvtxt.fleet"), "2")


def test_a_store_that_comes_back_after_the_connection_is_shipped():
    with fleet() as (server, daemon, args):
        daemon.send(marker("a"))
        with Shipper(*args) as shipper:
            arrived(server, ["a"])
            daemon.stop()
            os.rename(daemon.store, daemon.store + ".away")
            disconnect(server)
            wait_for(lambda: "is not there at the moment" in shipper.said(), "it is missed")
            os.rename(daemon.store + ".away", daemon.store)
            daemon.start()
            daemon.send(marker("b"))
            arrived(server, ["a", "b"])


# What stands between the shipper and the store's folder: no watch can be had.
WITHOUT_WATCH = ("unshare", "-Ur", "sh", "-c",
                 'echo 0 >/proc/sys/user/max_inotify_instances && exec "$0" "$@"')


def test_without_a_watch_each_interval_looks():
    if subprocess.run([*WITHOUT_WATCH, "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        raise Skip("no namespace of one's own can be had")
    with fleet("--lease", "1h") as (server, daemon, args):
        server.rows("CREATE FUNCTION public.wait() RETURNS trigger LANGUAGE plpgsql AS "
                    "'BEGIN PERFORM pg_sleep(0.3); RETURN NEW; END'; CREATE TRIGGER wait BEFORE "
                    "UPDATE OF event_row ON nvtxt.cursors FOR EACH ROW EXECUTE FUNCTION public.wait()")
        with Shipper(*args, under=WITHOUT_WATCH):
            time.sleep(2)  # it does not look again because of its start
            for wanted in (["a"], ["a", "b"], ["a", "b", "c"]):  # each round takes six intervals
                daemon.send(marker(wanted[-1]))
                arrived(server, wanted)
                time.sleep(0.5)


run(globals())
