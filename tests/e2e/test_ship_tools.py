# SPDX-License-Identifier: Apache-2.0
"""nvtxt-ship status, metrics and maintain."""
import concurrent.futures
import json
import os
import re
import signal

from lib import Daemon, equal, run, wait_for
from postgres import database, one_server
from ship import Shipper, good, marker, refused, run_ship, snapshot

TODAY = "(now() AT TIME ZONE 'UTC')::date"
MEMBERS = ["store", "segment", "event_row", "events", "behind_rows", "lag_seconds", "lost", "shipper",
           "node"]


def status(*args):
    code, out, said = run_ship("status", "--json", *args)
    equal(said, "")
    found = json.loads(out)
    equal(list(found), MEMBERS)
    return code, found


def test_status_says_how_far_it_is():
    with database() as server, Daemon() as daemon:
        args = ("--target", server.target(), "--store", daemon.store)
        good("init", *args)
        (identity,), = daemon.query("SELECT value FROM META_DATA_EXPORT WHERE name = 'STORE_ID'")
        daemon.send(marker("a"))
        before = snapshot(server)
        code, found = status(*args)
        equal((code, found["store"], found["events"], found["shipper"]), (1, identity, 0, None))
        equal((found["behind_rows"] > 0, found["lag_seconds"]), (True, None), found)
        equal(found["node"], server.folder + "/.s.PGSQL.5432")
        equal("\nnvtxt_ship_lag_seconds NaN\n" in good("metrics", *args), True)
        equal(snapshot(server), before)
        good("--once", *args)
        code, found = status(*args)
        equal((code, found["segment"], found["event_row"], found["events"], found["behind_rows"],
               found["lost"], found["shipper"]), (0, 1, 1, 1, 0, 0, None))
        daemon.send(marker("b"))
        daemon.control("rotate")
        daemon.send(marker("c"))
        code, found = status(*args)
        equal((code, found["behind_rows"], found["lag_seconds"] >= 0), (0, 2, True), found)
        with Shipper("--interval", "50ms", *args) as shipper:
            while status(*args)[1]["behind_rows"]:
                pass
            code, found = status(*args)
            equal((code, found["events"], found["segment"]), (0, 3, 2))
            equal(":%d:" % shipper.process.pid in found["shipper"], True, found)
        text = good("status", *args)
        equal([line.split()[0] for line in text.splitlines()], MEMBERS)
        server.rows("INSERT INTO nvtxt.losses VALUES (1, 1, 0, now(), NULL, NULL, NULL, 'x', 5)")
        equal(status(*args)[1]["lost"], 5)
        # Numbers that a host wrote itself, as the view fleet has them.
        server.rows("UPDATE nvtxt.losses SET count = 9223372036854775807; INSERT INTO nvtxt.losses "
                    "VALUES (1, 1, -1, now(), NULL, NULL, NULL, 'x', 9), "
                    "(1, 1, -2, now(), NULL, NULL, NULL, 'x', -9); "
                    "UPDATE nvtxt.cursors SET seen = '-infinity'")
        code, found = status(*args)
        equal((code, found["lost"], found["lag_seconds"]), (0, 2**63 - 1, None), found)
        equal(server.rows("SELECT lost, lag_seconds FROM nvtxt.fleet"), [(str(2**63 - 1), None)])
        equal(server.one("SELECT count(*) FROM nvtxt.events"), "3")


def test_who_may_read_everything_may_look():
    with database() as server, Daemon() as daemon:
        args = ("--target", server.target(), "--store", daemon.store)
        good("init", *args)
        server.rows("CREATE ROLE grafana LOGIN IN ROLE nvtxt_read; CREATE ROLE nobody1 LOGIN")
        reader = ("--target", server.target(user="grafana"), "--store", daemon.store)
        daemon.send(marker("a"))
        equal(status(*reader)[0], 1)
        good("--once", *args)
        code, found = status(*reader)
        equal((code, found["events"], found["behind_rows"]), (0, 1, 0))
        equal("nvtxt_ship_up 1\n" in good("metrics", *reader), True)
        refused(77, "GRANT nvtxt_ship TO grafana", "--once", *reader)
        refused(77, "GRANT nvtxt_ship TO grafana", "--dry-run", *reader)
        refused(77, "GRANT nvtxt_ship TO nobody1", "status", "--target",
                server.target(user="nobody1"), "--store", daemon.store)


def test_metrics_are_text_for_prometheus():
    with database() as server, Daemon() as daemon:
        args = ("--target", server.target(), "--store", daemon.store)
        good("init", *args)
        daemon.send(marker("a"))
        good("--once", *args)
        text = good("metrics", *args)
        values = dict(re.findall(r"^(nvtxt_ship_\w+) (\S+)$", text, re.M))
        equal(sorted(values), ["nvtxt_ship_" + name for name in (
            "behind_rows", "events_total", "lag_seconds", "lost_total", "segment", "up")])
        equal((values["nvtxt_ship_up"], values["nvtxt_ship_events_total"],
               values["nvtxt_ship_segment"]), ("1", "1", "1"))
        for name in values:
            equal(re.search("^# TYPE %s (gauge|counter)$" % name, text, re.M) is not None, True, name)
        path = os.path.join(daemon.folder, "ship.prom")
        good("metrics", "--output", path, *args)
        with open(path, encoding="utf-8") as file:
            equal("nvtxt_ship_up 1\n" in file.read(), True)
        equal(os.stat(path).st_mode & 0o777, 0o644)
        refused(73, "nowhere", "metrics", "--output", "/nowhere/file", *args)
        code, text, said = run_ship("metrics", "--output", path, "--store", daemon.store, "--target",
                                    "host=127.0.0.1 port=1")
        equal((code, said.count("\n")), (69, 1), said)
        with open(path, encoding="utf-8") as file:
            equal(re.findall("^nvtxt.*$", file.read(), re.M), ["nvtxt_ship_up 0"])


def test_a_command_that_a_signal_ends_says_so():
    with database() as server, Daemon() as daemon:
        args = ("--target", server.target(), "--store", daemon.store)
        path = os.path.join(daemon.folder, "ship.prom")
        good("init", *args)
        daemon.send(marker("a"))
        runs = [["--once"], ["--dry-run"], ["init"], ["status"], ["maintain"],
                ["metrics", "--output", path]]
        with server.held("LOCK nvtxt.meta IN ACCESS EXCLUSIVE MODE"):
            for command in runs:
                with Shipper(*command, *args) as shipper:
                    wait_for(lambda: server.rows(
                        "SELECT 1 FROM pg_stat_activity WHERE application_name = 'nvtxt-ship' AND "
                        "wait_event_type = 'Lock'"), "it waits")
                    equal((shipper.stop(), shipper.said()),
                          (0 if command == ["--once"] else 128 + signal.SIGTERM, ""), command)
                wait_for(lambda: not server.rows(
                    "SELECT 1 FROM pg_stat_activity WHERE application_name = 'nvtxt-ship'"),
                    "its statement is broken off")
        equal(os.path.exists(path), False)


def days(server):
    return [row[0] for row in server.rows(
        "SELECT to_date(substr(relname, 8), 'YYYYMMDD') - %s FROM pg_class WHERE relname ~ "
        "'^events_[0-9]{8}$' AND relkind = 'r' ORDER BY relname" % TODAY)]


def test_maintain_removes_old_days_and_makes_the_next():
    one_server("it changes rows in a way of its own")
    with database() as server, Daemon() as daemon:
        args = ("--target", server.target(), "--store", daemon.store)
        good("init", *args, "--keep-days", "5")
        daemon.send(marker("a"))
        daemon.control("rotate")
        daemon.send(marker("b"))
        good("--once", *args)
        server.rows("SELECT nvtxt.make_partitions(%s - 5, %s)" % (TODAY, TODAY))
        equal(days(server), [str(day) for day in range(-5, 8)])
        good("maintain", *args)
        equal(days(server), [str(day) for day in range(-5, 8)])
        before = snapshot(server)
        good("maintain", *args)
        equal(snapshot(server), before)
        good("init", *args, "--keep-days", "1")
        name = server.one("SELECT 'nvtxt.events_' || to_char(%s - 4, 'YYYYMMDD')" % TODAY)
        server.rows("ALTER TABLE nvtxt.events DETACH PARTITION " + name)  # a break before DROP
        server.rows("UPDATE nvtxt.segments SET last = last - interval '3 days' WHERE complete; "
                    "INSERT INTO nvtxt.losses VALUES (1, 1, 0, now() - interval '3 days', NULL, NULL, "
                    "NULL, 'old', 5), (1, 1, 1, now(), NULL, NULL, NULL, 'new', 5); "
                    "INSERT INTO nvtxt.diagnostics (store_id, segment, row_id, at) VALUES "
                    "(1, 1, 1, now() - interval '3 days'), (1, 1, 2, now())")
        good("maintain", *args)
        equal(days(server), [str(day) for day in range(-1, 8)])
        equal(server.rows("SELECT segment FROM nvtxt.segments"), [("2",)])
        equal(server.rows("SELECT DISTINCT segment FROM nvtxt.threads"), [("2",)])
        equal(server.rows("SELECT reason FROM nvtxt.losses"), [("new",)])
        equal(server.rows("SELECT row_id FROM nvtxt.diagnostics"), [("2",)])
        server.rows("CREATE ROLE other LOGIN")
        refused(77, "permission denied", "maintain", "--target", server.target(user="other"))
        refused(76, "run nvtxt-ship init", "maintain", *args, "--schema", "none")


def test_several_may_maintain_at_once():
    with database() as server:
        args = ("--target", server.target())
        good("init", *args)
        for _ in range(3):
            server.rows("UPDATE nvtxt.meta SET keep_days = 30")
            server.rows("SELECT nvtxt.make_partitions(%s - 30, %s)" % (TODAY, TODAY))
            server.rows("UPDATE nvtxt.meta SET keep_days = 2")
            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                ends = list(pool.map(lambda _: run_ship("maintain", *args), range(4)))
            equal(ends, [(0, "", "")] * 4)
            good("maintain", *args)
            equal(days(server), [str(day) for day in range(-2, 8)])


def test_maintain_takes_its_time():
    with database() as server:
        good("init", "--target", server.target())
        server.rows("CREATE FUNCTION nvtxt.slow() RETURNS trigger LANGUAGE plpgsql AS "
                    "'BEGIN PERFORM pg_sleep(3); RETURN OLD; END'; "
                    "CREATE TRIGGER slow BEFORE DELETE ON nvtxt.losses FOR EACH STATEMENT EXECUTE "
                    "FUNCTION nvtxt.slow(); ALTER DATABASE %s SET statement_timeout = '2s'"
                    % server.database)
        good("maintain", "--target", server.target())


def test_maintain_removes_segments_that_get_no_more_rows():
    one_server("it changes rows in a way of its own")
    with database() as server, Daemon() as daemon:
        args = ("--target", server.target(), "--store", daemon.store)
        good("init", *args, "--keep-days", "1")
        for text in "ab":
            daemon.send(marker(text))
            good("--once", *args)
            daemon.control("rotate")
            daemon.send("no command\n")  # a segment without events
            daemon.control("rotate")
        daemon.send(marker("c"))
        good("--once", *args)
        equal(server.rows("SELECT segment, last IS NULL FROM nvtxt.segments ORDER BY 1"),
              [("1", "f"), ("2", "t"), ("3", "f"), ("4", "t"), ("5", "f")])
        before = snapshot(server)
        good("maintain", *args)
        equal(snapshot(server), before)
        # Retention took the rest of the first; the last one is still written.
        server.rows("UPDATE nvtxt.segments SET complete = segment IN (2, 4), started = started - "
                    "interval '9 days', last = last - CASE segment WHEN 3 THEN interval '0' ELSE "
                    "interval '9 days' END")
        good("maintain", *args)
        equal(server.rows("SELECT segment FROM nvtxt.segments ORDER BY 1"), [("3",), ("5",)])
        equal(server.rows("SELECT DISTINCT segment FROM nvtxt.threads ORDER BY 1"),
              [("3",), ("5",)])


def test_maintain_leaves_plain_events_alone():
    one_server("it changes rows in a way of its own")
    with database() as server, Daemon() as daemon:
        args = ("--target", server.target(), "--store", daemon.store)
        good("init", *args, "--plain-events", "--keep-days", "1")
        daemon.send(marker("a"))
        daemon.stop()
        good("--once", *args)
        server.rows("UPDATE nvtxt.events SET committed = committed - interval '9 days'; "
                    "UPDATE nvtxt.segments SET complete = true, last = last - interval '9 days'")
        before = snapshot(server)
        good("maintain", *args)
        equal(snapshot(server), before)
        daemon.start()


run(globals())
