# SPDX-License-Identifier: Apache-2.0
"""One of several shippers ships a store: who has the lease, and how it is given back."""
import contextlib
import os
import re
import subprocess

from following import arrived, connected, disconnect, fleet, proxied, texts, waiting
from lib import DEADLINE, equal, run, wait_for
from postgres import one_server
from ship import Shipper, good, marker, refused, snapshot


def seen_now(said):
    """A holder was seen a moment ago: 0 s, or what a busy machine adds to that; not an hour, nor since
    another time."""
    found = re.search(r", seen (\d+) s ago", said)
    equal(found is not None and int(found.group(1)) < 30, True, said)


def test_one_of_several_ships():
    one_server("it asks in a way of its own")
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
        seen_now(refused(75, "by process 2, seen ", "--once", *args))
        server.rows("UPDATE nvtxt.cursors SET seen = seen + interval '1 h'")  # by another clock
        seen_now(refused(75, "by process 2, seen ", "--once", *args))
        server.rows("UPDATE nvtxt.cursors SET seen = seen - interval '1 h 31 s'")
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
    one_server("the lock is on another machine")
    with fleet() as (server, daemon, args):
        daemon.send(marker("a"))
        good("--once", *args)
        with server.held("SELECT 1 FROM nvtxt.cursors FOR UPDATE"), Shipper(*args) as shipper:
            wait_for(lambda: waiting(server), "it waits")
            equal(shipper.stop(), 0, shipper.said())
        wait_for(lambda: not connected(server), "the engine has ended its statement")
        equal(server.rows("SELECT shipper FROM nvtxt.cursors"), [(None,)])


def test_a_round_that_waits_for_a_lock_is_broken_off_and_the_lease_given_back():
    one_server("the lock is on another machine")
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


def test_the_lease_is_not_taken_from_one_who_is_amid_its_rows():
    one_server("the lock is on another machine")
    with fleet("--host", "h") as (server, daemon, args), Shipper(*args) as first:
        daemon.send(marker("a"))
        arrived(server, ["a"])
        with server.held("SELECT 1 FROM nvtxt.segments FOR UPDATE") as let_go:
            server.rows("UPDATE nvtxt.cursors SET seen = seen - interval '1 h'")
            daemon.send(marker("b"))
            wait_for(lambda: len(waiting(server)) == 1, "the first waits amid its rows")
            with Shipper("--once", *args) as second:
                wait_for(lambda: len(waiting(server)) == 2, "the second waits for the lease")
                let_go()
                equal(second.process.wait(DEADLINE), 75, second.said())
                equal("by process %d, seen " % first.process.pid in second.said(), True, second.said())
                seen_now(second.said())
        equal(texts(server), ["a", "b"])


@contextlib.contextmanager
def locked(server, **more):
    """Someone holds the row of the lease, amid a COPY that no limit of the server's ends."""
    with subprocess.Popen([os.path.join(server.bin, "psql"), "-Xq", server.target(**more)],
                          stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as client:
        client.stdin.write("BEGIN; UPDATE nvtxt.cursors SET segment = 7;\n"
                           "COPY nvtxt.losses FROM STDIN;\n")
        client.stdin.flush()
        wait_for(lambda: server.rows("SELECT 1 FROM pg_stat_activity WHERE query ~ '^COPY' AND "
                                     "wait_event = 'ClientRead'"), "it waits for rows")
        try:
            yield
        finally:
            client.communicate("\\.\n", DEADLINE)


def test_who_falls_silent_amid_rows_does_not_keep_others_out():
    one_server("there it does (nvtxt-fleet(7))")
    with fleet("--host", "h") as (server, daemon, args):
        daemon.send(marker("a"))
        good("--once", *args)
        daemon.send(marker("b"))
        server.rows("UPDATE nvtxt.cursors SET shipper = 'm:b:1:2:3', seen = now() - interval '1 h'")
        with locked(server):  # not a shipper: nobody ends it
            refused(75, "the store of h is being shipped by process 2, seen 36", "--once", *args)
        with locked(server, application_name="nvtxt-ship"):
            good("--once", *args)
        equal(texts(server), ["a", "b"])


def test_who_keeps_partitions_from_being_made_is_not_waited_for_without_end():
    one_server("the lock is on another machine")
    with fleet() as (server, daemon, args):
        daemon.send(marker("a"))
        for (name,) in server.rows("SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = "
                                   "'nvtxt.events'::regclass"):
            server.rows("DROP TABLE " + name)
        with server.held("SELECT FROM nvtxt.meta FOR UPDATE"):
            refused(69, "lock timeout", "--once", *args)
        good("--once", *args)
        equal(texts(server), ["a"])


def test_a_server_notices_that_the_network_is_gone():
    one_server("its trigger writes a table of one server")
    with fleet(tcp=True) as (server, daemon, args):
        good("--once", *args)
        server.rows("CREATE TABLE limits AS SELECT now() AS at, '' AS value; CREATE FUNCTION note() "
                    "RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO limits SELECT now(), "
                    "string_agg(current_setting('tcp_' || name), ' ') FROM unnest('{keepalives_idle,"
                    "keepalives_interval,keepalives_count,user_timeout}'::text[]) AS name; RETURN NEW; "
                    "END $$; CREATE TRIGGER note BEFORE INSERT ON nvtxt.segments FOR EACH ROW EXECUTE "
                    "FUNCTION note()")
        daemon.send(marker("a"))
        good("--once", "--target", server.target(host="127.0.0.1"), *args[2:])
        equal(server.rows("SELECT DISTINCT value FROM limits WHERE value <> ''"), [("5 1 5 10000",)])


def test_a_lease_is_given_back_on_a_connection_of_its_own():
    with fleet(tcp=True) as (server, daemon, args), \
            proxied(server, args) as (proxy, through):
        for turn in range(3):  # a shipper that stops waits 2 s, too short for a very busy machine
            with Shipper(*through) as shipper:
                daemon.send(marker("abc"[turn]))
                arrived(server, list("abc"[:turn + 1]))
                enough = proxy.refused + 7
                proxy.refuses = True
                disconnect(server)
                wait_for(lambda: proxy.refused > enough, "it waits for seconds before it tries again")
                proxy.refuses = False
                equal(shipper.stop(), 0, shipper.said())
            owner = server.rows("SELECT shipper FROM nvtxt.cursors")
            if owner == [(None,)]:
                break
        equal(owner, [(None,)])


def test_a_shipper_that_lost_its_lease_writes_nothing():
    one_server("it changes rows in a way of its own")
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


run(globals())
