# SPDX-License-Identifier: Apache-2.0
"""What fails while nvtxt-ship follows is tried again: a round is there whole or not at all, and in the
end each row is there once."""
import time

from following import arrived, disconnect, fleet, proxied, texts
from lib import equal, run, wait_for
from postgres import one_server
from ship import HEAD, Shipper, compare_store, good, marker, run_ship, snapshot


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
    one_server("one server dies")
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
    one_server("its triggers are on one server")
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
    with fleet(tcp=True) as (server, daemon, args), \
            proxied(server, args) as (proxy, through):
        with Shipper(*through) as shipper:
            wanted = []
            for number in range(5):
                proxy.lose = True
                daemon.send(marker("m%d" % number))
                wanted.append("m%d" % number)
                arrived(server, wanted)
                wait_for(lambda: proxy.lost > number, "an answer was lost")
            equal(shipper.stop(), 0, shipper.said())
        good("--once", *through)
        compare_store(server, daemon.segments())


def test_a_connection_that_is_cut_anywhere_leaves_all_or_nothing():
    with fleet(tcp=True) as (server, daemon, args), \
            proxied(server, args) as (proxy, through):
        sent = pieces = 0
        status = None
        while status != 0:
            daemon.send(HEAD + 'Marker, 1, 7, %d, "m%d"\n' % (100 + sent, sent))
            sent += 1
            proxy.cut = pieces
            status, _, said = run_ship("--once", *through)
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


def test_sigterm_ends_it_whatever_the_engine_does():
    with fleet(tcp=True) as (server, daemon, args), \
            proxied(server, args) as (proxy, through):
        with Shipper(*through) as shipper:
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
        with Shipper(*args) as shipper:
            wait_for(lambda: "cannot be reached" in shipper.said(), "it tries")
            equal(shipper.stop(), 0, shipper.said())
        server.start()
        good("--once", *args)
        equal(texts(server), ["a", "b"])


run(globals())
