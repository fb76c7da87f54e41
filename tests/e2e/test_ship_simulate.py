# SPDX-License-Identifier: Apache-2.0
"""nvtxt-ship simulate: hosts that are none, each row of them once, through kills; what it refuses, how
it ends, and that its check notices what is wrong. With NVTXT_TEST_LONG=1 there are 1,000 hosts."""
import json
import os
import re
import resource
import signal
import socket
import subprocess

from following import disconnect
from lib import DEADLINE, Daemon, Skip, equal, program, run, wait_for
from postgres import Postgres, database
from ship import ERROR, Shipper, good, marker, refused, role, run_ship

HOSTS = 1000 if os.environ.get("NVTXT_TEST_LONG") else 50
FAST = ("--interval", "100ms", "--rate", "20", "--json")
NUMBERS = {"missing_rows": 0, "doubled_rows": 0, "strange_rows": 0}
ROWS = "SELECT count(*) FROM nvtxt.events"


def simulate(server, *args, hosts=HOSTS, seconds=2):
    """A run that must end well: what it says."""
    return json.loads(good("simulate", "--target", server.target(), "--hosts", str(hosts), "--for",
                           "%ds" % seconds, *FAST, *args))


def endless(server, *args):
    return Shipper("simulate", "--target", server.target(), "--hosts", str(HOSTS), "--for", "1h", *FAST,
                   *args)


def report(shipper):
    """The one line of stdout, which comes last."""
    return json.loads(shipper.said().splitlines()[-1])


def warnings(shipper):
    return [line for line in shipper.said().splitlines() if line.startswith("nvtxt-ship: warning: ")]


def ended(shipper, status=0, number=signal.SIGINT):
    """Its report, once a signal has ended it."""
    equal(shipper.stop(number), status, shipper.said())
    return report(shipper)


def ships(server, more=0):
    """It ships: so many rows more than there are."""
    rows = int(server.one(ROWS))
    wait_for(lambda: int(server.one(ROWS)) > rows + more, "rows come")


def each_row_is_there_once(server):
    """By the test's own count: the rows 1 to the cursor's, and their payload is their number."""
    equal(server.rows(
        "SELECT s.host FROM nvtxt.stores AS s JOIN nvtxt.cursors AS c USING (store_id) LEFT JOIN (SELECT "
        "store_id, count(*) AS n, count(DISTINCT row_id) AS d, min(row_id) AS low, max(row_id) AS high, "
        "bool_and(int64_value = row_id) AS same FROM nvtxt.events GROUP BY store_id) AS e USING "
        "(store_id) WHERE (e.n, e.d, e.low, e.high, e.same) IS DISTINCT FROM (c.event_row, c.event_row, "
        "1::bigint, c.event_row, true) AND (c.event_row, e.n) IS DISTINCT FROM (0, NULL)"), [])
    equal(server.rows("SELECT sum(events) - sum(event_row) FROM nvtxt.cursors"), [("0",)])
    equal(server.one("SELECT sum(events) FROM nvtxt.segments"), server.one(ROWS))


def test_hosts_ship_and_each_row_is_there_once():
    with database() as server:
        good("init", "--target", server.target())
        found = simulate(server, "--connections", "7", "--label", "rack=5")
        equal({name: found[name] for name in NUMBERS}, NUMBERS)
        equal((found["hosts"], found["connections"], found["rate"], found["failures"]),
              (HOSTS, 7, 20, 0))
        equal(found["rows"] > 0 and found["rounds"] > 0 and found["engine_cpu_seconds"] > 0, True, found)
        equal(found["checked_rows"], int(server.one(ROWS)))
        equal(found["round_p50_ms"] <= found["round_p99_ms"], True, found)
        equal(found["lag_p50_seconds"] <= found["lag_p99_seconds"] <= found["lag_max_seconds"], True)
        equal(found["memory_kib"] < 64 << 10, True, found)
        each_row_is_there_once(server)
        equal(server.rows("SELECT count(*), count(DISTINCT host), bool_and(host ~ '^simulated-[0-9]+$'), "
                          "count(DISTINCT labels), min(labels::text) FROM nvtxt.stores"),
              [(str(HOSTS), str(HOSTS), "t", "1", '{"rack": "5", "simulated": "yes"}')])
        equal(server.rows("SELECT DISTINCT shipper FROM nvtxt.cursors"), [(None,)])
        equal(server.rows("SELECT DISTINCT process, thread FROM nvtxt.timeline"),
              [("simulated", "main")])
        # The next run goes on with them.
        more = simulate(server, hosts=HOSTS + 5)
        equal(more["checked_rows"], int(server.one(ROWS)))
        equal(more["checked_rows"], found["checked_rows"] + more["rows"])
        equal(server.one("SELECT count(*) FROM nvtxt.stores"), str(HOSTS + 5))
        each_row_is_there_once(server)
        # As nvtxt-fleet(7) says how to remove them.
        server.rows("DELETE FROM nvtxt.events WHERE store_id IN (SELECT store_id FROM nvtxt.stores WHERE "
                    "labels ? 'simulated'); DELETE FROM nvtxt.stores WHERE labels ? 'simulated'")
        equal((server.one(ROWS), server.one("SELECT count(*) FROM nvtxt.cursors")), ("0", "0"))


def test_the_report_for_people_has_the_same_lines():
    with database() as server:
        good("init", "--target", server.target())
        args = ("simulate", "--target", server.target(), "--hosts", "3", "--rate", "5", "--for", "1s")
        lines = [line.split(None, 1) for line in good(*args).splitlines()]
        equal([name for name, _ in lines], list(json.loads(good(*args, "--json"))))
        equal(dict(lines)["missing_rows"], "0")
    with database(tcp=True) as server:
        good("init", "--target", server.target())
        args = ("simulate", "--target", server.target(host="127.0.0.1"), *args[3:])
        equal("\nengine_cpu_seconds     not known: " in good(*args), True)
        equal(json.loads(good(*args, "--json"))["engine_cpu_seconds"], None)


def test_a_schema_of_real_hosts_is_refused():
    with database() as server, Daemon() as daemon:
        target = ("--target", server.target())
        good("init", *target)
        daemon.send(marker("a"))
        good("--once", "--store", daemon.store, "--host", "real", *target)
        args = ("simulate", *target, "--hosts", "5", "--for", "1s", *FAST)
        refused(64, "the schema nvtxt has 1 store that no simulation made, such as that of real: name "
                    "another --schema, or say --mixed", *args)
        equal(server.one("SELECT count(*) FROM nvtxt.stores"), "1")
        found = json.loads(good(*args, "--mixed"))
        equal({name: found[name] for name in NUMBERS}, NUMBERS)
        equal(server.rows("SELECT host, message FROM nvtxt.timeline WHERE NOT labels ? 'simulated'"),
              [("real", "a")])


def test_who_only_ships_may_not_simulate():
    with database() as server:
        good("init", "--target", server.target())
        role(server, "only_ships")
        args = ("simulate", "--target", server.target(user="only_ships"), "--hosts", "5", "--for", "1s",
                *FAST)
        refused(77, "GRANT nvtxt_read TO only_ships", *args)
        server.rows("GRANT nvtxt_read TO only_ships")
        equal(json.loads(good(*args))["missing_rows"], 0)
        role(server, "other_ships")
        server.rows("GRANT nvtxt_read TO other_ships")
        refused(77, "belongs to another role", "simulate", "--target", server.target(user="other_ships"),
                *args[3:])


def test_wrong_command_lines():
    whole = {"--hosts": "5", "--rate": "1", "--for": "1s"}
    for name in whole:
        words = [word for pair in whole.items() if pair[0] != name for word in pair]
        refused(64, "simulate needs --hosts N, --rate R and --for TIME", "simulate", *words)
    for name, values in {"--hosts": ("0", "100001", "many"), "--rate": ("0", "1000001", "-1"),
                         "--for": ("0s", "999ms", "1001h", "soon"),
                         "--connections": ("0", "1001")}.items():
        words = [word for pair in whole.items() for word in pair]
        for value in values:
            refused(64, "bad value '%s' for %s: a " % (value, name), "simulate", *words, name, value)
    refused(69, "", "simulate", *words, "--target", "host=/nonexistent")


def test_a_signal_ends_it_in_order():
    with database() as server:
        good("init", "--target", server.target())
        for number in (signal.SIGINT, signal.SIGTERM):
            with endless(server) as shipper:
                ships(server, HOSTS)
                found = ended(shipper, 0, number)
                equal({name: found[name] for name in NUMBERS}, NUMBERS)
                equal(found["checked_rows"], int(server.one(ROWS)))
                equal(warnings(shipper), [])
            equal(server.rows("SELECT DISTINCT shipper FROM nvtxt.cursors"), [(None,)])
        # While an engine does not answer, a second one breaks off.
        with endless(server) as shipper:
            ships(server)
            with server.held("LOCK nvtxt.segments IN ACCESS EXCLUSIVE MODE"):
                wait_for(lambda: server.rows("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = "
                                             "'Lock'"), "rounds wait")
                shipper.process.send_signal(signal.SIGINT)
                wait_for(lambda: interrupts(shipper.process.pid) == 0, "it has heard the first one")
                equal(shipper.stop(signal.SIGINT), 128 + signal.SIGINT, shipper.said())
            shipper.process.returncode = 0
        each_row_is_there_once(server)


def interrupts(pid):
    """Signals that wait to be taken by a process."""
    with open("/proc/%d/status" % pid, encoding="utf-8") as file:
        lines = dict(line.split(":", 1) for line in file)
    return int(lines["ShdPnd"], 16) | int(lines["SigPnd"], 16)


def test_kills_double_nothing():
    with Postgres(settings=["max_connections = 60"]) as server:
        good("init", "--target", server.target())
        with endless(server) as shipper:
            ships(server, HOSTS)
            shipper.kill()  # its leases are those of a process that is gone
            shipper.start()
            ships(server, HOSTS)
            disconnect(server)
            ships(server, HOSTS)
            server.kill()
            server.forget()
            server.start()
            ships(server, HOSTS)
            found = ended(shipper)
            equal({name: found[name] for name in NUMBERS}, NUMBERS)
            equal(found["failures"] > 0 and len(warnings(shipper)) > 0, True, shipper.said())
            equal(all("; it is tried again" in line for line in warnings(shipper)), True, shipper.said())
            equal(found["engine_cpu_seconds"], None)  # another server
        each_row_is_there_once(server)
        equal(simulate(server)["checked_rows"], int(server.one(ROWS)))


def test_a_second_one_is_refused():
    with database() as server:
        good("init", "--target", server.target())
        with endless(server) as shipper:
            ships(server)
            status, out, said = run_ship("simulate", "--target", server.target(), "--hosts", "5",
                                         "--for", "1s", *FAST)
            equal((status, out), (75, ""), said)
            equal("is being shipped by process %d, seen " % shipper.process.pid in said, True, said)
            equal(ended(shipper)["missing_rows"], 0)


def locked(server):
    return server.rows("SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'")


def test_a_host_that_waits_holds_up_no_other():
    with database() as server:
        good("init", "--target", server.target())
        with endless(server, "--connections", "8") as shipper:
            ships(server, HOSTS)
            store = server.one("SELECT min(store_id) FROM nvtxt.stores")
            slowest = "SELECT min(event_row) FROM nvtxt.cursors WHERE store_id <> " + store
            with server.held("SELECT FROM nvtxt.cursors WHERE store_id = %s FOR UPDATE" % store):
                wait_for(lambda: locked(server), "the host waits")
                row = int(server.one(slowest))
                wait_for(lambda: int(server.one(slowest)) > row + 40, "all others ship")
                # Others may wait for a moment, as for room in a table.
                wait_for(lambda: len(locked(server)) == 1, "it is the only one")
            equal(ended(shipper)["missing_rows"], 0)
        each_row_is_there_once(server)


# Its second entrance takes connections and says nothing.
def test_a_connection_that_is_made_holds_up_no_other():
    with database(tcp=True) as server, socket.create_server(("127.0.0.1", 0)) as silent:
        good("init", "--target", server.target())
        args = ("--target", server.target(host=server.folder + ",127.0.0.1",
                                          port="%s,%d" % (server.port, silent.getsockname()[1])))
        with Shipper("simulate", *args, "--hosts", str(HOSTS), "--for", "1h", "--connections", "8",
                     "--connect-timeout", "1h", *FAST) as shipper:
            wait_for(lambda: int(server.one("SELECT count(*) FROM nvtxt.stores")) == HOSTS - 4,
                     "all are there but those of four connections")
            silent.close()
            ships(server, HOSTS)
            equal(ended(shipper)["missing_rows"], 0)


def test_a_server_that_stands_still_is_given_up():
    if not os.environ.get("NVTXT_TEST_LONG"):
        raise Skip("it takes 75 seconds; set NVTXT_TEST_LONG=1")
    with database() as server:
        good("init", "--target", server.target())
        with endless(server, "--connections", "2") as shipper:
            ships(server)
            pid = int(server.one("SELECT min(pid) FROM pg_stat_activity WHERE application_name = "
                                 "'nvtxt-ship'"))
            os.kill(pid, signal.SIGSTOP)
            try:
                wait_for(lambda: any("did not answer in time" in line for line in warnings(shipper)),
                         "it gives up", deadline=2 * DEADLINE + 75)
            finally:
                os.kill(pid, signal.SIGCONT)
            equal(ended(shipper)["missing_rows"], 0)


def refuse(server, table, condition="true", words="refused %", number="nextval('public.tries') % 2"):
    """The engine refuses rows of a table, in words with a number."""
    server.rows("CREATE SEQUENCE tries; CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
                "$$BEGIN IF %s THEN RAISE EXCEPTION '%s', %s; END IF; RETURN NEW; END$$; CREATE TRIGGER "
                "refuse BEFORE INSERT ON %s FOR EACH ROW EXECUTE FUNCTION refuse()" %
                (condition, words, number, table))


def tries(server):
    """How many rows it has refused."""
    return int(server.one("SELECT last_value FROM tries"))


def reasons(server, count):
    """The warnings of a run that cannot register its hosts: so many come, and later ones are not told."""
    with endless(server) as shipper:
        wait_for(lambda: len(warnings(shipper)) >= count, "%d reasons are told" % count)
        before = tries(server)
        wait_for(lambda: tries(server) > before + 10, "it goes on trying")
        said = warnings(shipper)
        shipper.kill()
    equal(len(said), count, said)
    return said


def test_hosts_that_cannot_be_registered_end_it():
    with database() as server:
        good("init", "--target", server.target())
        refuse(server, "nvtxt.stores", "NEW.host <> 'simulated-3'")
        status, out, said = run_ship("simulate", "--target", server.target(), "--hosts", str(HOSTS), "--for",
                                     "5s", *FAST)
        equal((status, out), (69, ""), said)
        *before, last = said.splitlines()
        found = re.search("error: ([01]) of %d hosts are registered, and for 5 s no other could be: " % HOSTS, last)
        assert found and int(found[1]) <= int(server.one("SELECT count(*) FROM nvtxt.stores")), last
        equal(all(line.startswith("nvtxt-ship: warning: ") for line in before), True, said)


def test_each_reason_is_told_once():
    with database() as server:
        good("init", "--target", server.target())
        refuse(server, "nvtxt.stores", "NEW.host <> 'simulated-3'")
        said = reasons(server, 2)  # though they come in turns
        equal(sorted(line.split(": refused ")[1] for line in said),
              ["0; it is tried again", "1; it is tried again"], said)
        equal(server.one("SELECT count(*) FROM nvtxt.stores"), "1")


def test_reasons_without_end_are_not_all_told():
    with database() as server:
        good("init", "--target", server.target())
        refuse(server, "nvtxt.stores", number="nextval('public.tries')")
        said = reasons(server, 16)
        equal(said[-1].endswith("; it is tried again; no other reason is told"), True, said)


def test_rounds_that_fail_end_in_time():
    with database() as server:
        good("init", "--target", server.target())
        refuse(server, "nvtxt.events")
        status, out, said = run_ship("simulate", "--target", server.target(), "--hosts", "5", "--for",
                                     "1s", *FAST)
        equal((status, len(said.splitlines()) <= 2), (0, True), said)
        found = json.loads(out)
        equal((found["rounds"], found["checked_rows"], found["missing_rows"]), (0, 0, 0))
        equal(found["behind_rows"] > 0, True, found)
        if server.one("SELECT is_called FROM tries") == "t":  # on a busy machine the time may be over before
            equal(found["failures"] > 0, True, found)


def test_a_limit_of_open_files_that_is_too_low():
    with database() as server:
        good("init", "--target", server.target())
        done = subprocess.run(
            [program("ship", "nvtxt-ship"), "simulate", "--target", server.target(), "--hosts", "100",
             "--connections", "100", "--for", "1s", *FAST], stdin=subprocess.DEVNULL,
            capture_output=True, timeout=DEADLINE, check=False, text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200)))
        equal((done.returncode, done.stdout, done.stderr),
              (71, "", ERROR + "100 connections need a limit of 264 open files (ulimit -n), and the hard "
                               "limit is lower: raise it, or say fewer --connections\n"))
        equal(server.one("SELECT count(*) FROM nvtxt.stores"), "0")


def test_the_check_notices_what_is_wrong():
    wrongs = {
        "missing_rows": "DELETE FROM nvtxt.events WHERE store_id = (SELECT min(store_id) FROM "
                        "nvtxt.stores) AND row_id = 3",
        "doubled_rows": "INSERT INTO nvtxt.events SELECT * FROM nvtxt.events WHERE store_id = (SELECT "
                        "max(store_id) FROM nvtxt.stores) AND row_id = 2",
        "strange_rows": "INSERT INTO nvtxt.events (committed, start_ns, end_ns, row_id, global_tid, "
                        "source_id, store_id, segment, event_type, unclosed, text) SELECT now(), 0, 0, "
                        "1000000000, 0, 0, min(store_id), 1, 34, false, '' FROM nvtxt.stores"}
    expected = dict(NUMBERS)
    with database() as server:
        good("init", "--target", server.target())
        server.rows("ALTER TABLE nvtxt.events DISABLE TRIGGER ALL")
        with endless(server) as shipper:
            ships(server, 5 * HOSTS)
            for name, sql in wrongs.items():
                server.rows(sql)
                expected[name] = 1
                found = ended(shipper, 1)
                equal({name: found[name] for name in NUMBERS}, expected)
                shipper.start()
                ships(server)
            equal(shipper.stop(), 1, shipper.said())
            shipper.process.returncode = 0


run(globals())
