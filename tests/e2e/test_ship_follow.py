# SPDX-License-Identifier: Apache-2.0
"""nvtxt-ship while it follows: what is new comes, from wherever it is; what went is counted."""
import os
import subprocess
import time

from following import arrived, disconnect, fleet, remove, texts
from lib import DEADLINE, FaultyDaemon, Skip, equal, run, wait_for
from postgres import database
from ship import HEAD, Shipper, compare_store, good, marker, run_ship, write


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
            with shipper.stopped():
                session.send('Marker, 2, 7, 8, "b"\n')  # one transaction
                wait_for(lambda: os.stat(log).st_mtime_ns != before, "it is written")
                time.sleep(0.5)  # all of it; then the shipper wakes once
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


def test_a_schema_that_goes_ends_it():
    with fleet() as (server, daemon, args), Shipper(*args) as shipper:
        daemon.send(marker("a"))
        arrived(server, ["a"])
        server.rows("DROP SCHEMA nvtxt CASCADE")
        daemon.send(marker("b"))
        equal(shipper.process.wait(DEADLINE), 76, shipper.said())
        equal(shipper.said(), 'nvtxt-ship: error: relation "nvtxt.cursors" does not exist: run '
              "nvtxt-ship init\n")


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
        path = write(daemon.folder, "ship.conf", "[nvtxt-ship]\nOpenRanges=no\n")
        good("--once", "-c", path, *args)
        equal(server.rows("SELECT * FROM nvtxt.open_ranges"), [])
        good("--once", *args)
        equal(server.rows("SELECT message FROM nvtxt.running"), [("runs",)])
        good("--once", "-c", path, *args)
        equal(server.rows("SELECT * FROM nvtxt.running"), [])
        equal(server.rows("SELECT start_ns, text FROM nvtxt.open_ranges"), [(None, None)])


def test_rows_of_open_ranges_are_used_again():
    with fleet() as (server, daemon, args), daemon.session() as session:
        lines = 0

        def send(text):
            nonlocal lines
            session.send(text)
            lines += text.count("\n")
            session.ack(lines)

        def kept(first, count):
            """Opens ranges, ships them, ends all but the first, ships that; the table's rows."""
            send("".join('RangePush, %d, "r%d"\n' % (first + n, first + n) for n in range(count)))
            good("--once", *args)
            compare_store(server, daemon.segments())
            send("".join("RangePop, %d\n" % (first + n) for n in range(1, count)))
            good("--once", *args)
            compare_store(server, daemon.segments())
            return int(server.one("SELECT count(*) FROM nvtxt.open_ranges"))

        send("TimeBase = Manual\nProcessId = 7\nThreadId = 8\n@RangePush, Time, Message\n"
             "@RangePop, Time\n")
        equal([kept(1, 40), kept(100, 39), kept(200, 3), kept(300, 60)], [40, 40, 40, 63])
        equal(server.rows("SELECT message FROM nvtxt.running ORDER BY start_ns"),
              [("r1",), ("r100",), ("r200",), ("r300",)])


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


def test_names_after_the_last_event_are_no_loss():
    names = 'SetCategoryName, %d, "n"\nSetThreadName, 7, %d, "n"\n'
    with fleet("--host", "h") as (server, daemon, args):
        daemon.send(marker("a"))
        daemon.flush()
        daemon.send(names % (1, 8))
        good("--once", *args)
        daemon.control("rotate")
        daemon.send(marker("b"))
        daemon.flush()
        daemon.send(names % (2, 9))
        daemon.flush()
        (last, event), = daemon.query("SELECT max(rowid), max(rowid) FILTER (WHERE eventType = 34) "
                                      "FROM NVTX_EVENTS")
        equal(last > event, True, (last, event))
        remove(daemon.segments()[0])
        with Shipper(*args):
            arrived(server, ["a", "b"])
            wait_for(lambda: server.one("SELECT event_row FROM nvtxt.cursors") == str(last),
                     "names are passed")
        daemon.control("rotate")
        daemon.send(marker("c"))
        remove(daemon.segments()[0])
        good("--once", *args)
        equal(texts(server), ["a", "b", "c"])
        equal(server.rows("SELECT * FROM nvtxt.losses"), [])


def test_a_shipper_that_follows_says_what_went():
    with fleet("--host", "h") as (server, daemon, args):
        daemon.send(marker("a"))
        with Shipper(*args) as shipper:
            arrived(server, ["a"])
            with shipper.stopped():
                for text in "bcd":
                    daemon.control("rotate")
                    daemon.send(marker(text))
                remove(*daemon.segments()[1:3])
            arrived(server, ["a", "d"])
            wait_for(lambda: "2 rows from segment 1 on were removed before they were shipped" in shipper.said(),
                     "it says so")
        equal(server.one("SELECT lost FROM nvtxt.fleet"), "2")


run(globals())
