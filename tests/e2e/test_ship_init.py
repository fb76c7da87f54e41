# SPDX-License-Identifier: Apache-2.0
"""nvtxt-ship init: schema, roles and rights; its command line and configuration; what a connection
is refused for."""
import concurrent.futures
import contextlib
import os
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "compat"))
import facts  # noqa: E402
from lib import DEADLINE, equal, program, run, wait_for
from postgres import Postgres, database, one_server
from ship import good, refused, register, run_ship

TODAY = "(now() AT TIME ZONE 'UTC')::date"
ROW = ("INSERT INTO nvtxt.events (committed, start_ns, end_ns, row_id, global_tid, source_id, "
       "store_id, segment, event_type, unclosed, text) "
       "VALUES (now(), 1, 2, 1, 16777217, 1, %d, 0, 34, false, 'x')")


def columns(server, table):
    return {row[0] for row in server.rows("SELECT attname FROM pg_attribute WHERE attrelid = "
                                          "'nvtxt.%s'::regclass AND attnum > 0" % table)}


def promised():
    """Tables and views with their columns, as tests/compat has them."""
    found = {}
    for key in facts.read(facts.path_of("fleet")):
        table, point, column = key.partition(" ")[2].partition(".")
        if "(" not in key:
            found.setdefault(table, set()).update([column] if point else [])
    return found


def everything(server):
    """What a second init must not change."""
    return [server.rows(sql) for sql in (
        "SELECT oid, relname, relkind, relacl FROM pg_class WHERE relnamespace = "
        "'nvtxt'::regnamespace ORDER BY oid",
        "SELECT oid, polname FROM pg_policy ORDER BY oid",
        "SELECT oid, proname, proacl FROM pg_proc WHERE pronamespace = 'nvtxt'::regnamespace "
        "ORDER BY oid",
        "SELECT oid, tgname FROM pg_trigger ORDER BY oid",
        "SELECT rolname FROM pg_roles ORDER BY oid",
        "SELECT * FROM nvtxt.meta")]


def test_init_makes_the_schema_once():
    with Postgres() as server:
        target = server.target()
        good("init", "--target", target)
        for table, wanted in promised().items():
            equal(columns(server, table), wanted, table)
        equal(server.rows("SELECT version, compatible, keep_days FROM nvtxt.meta"),
              [("4", "4", "30")])
        equal(server.one("SELECT count(*) FROM pg_inherits WHERE inhparent = "
                         "'nvtxt.events'::regclass"), "8")
        before = everything(server)
        good("init", "--target", target)
        equal(everything(server), before)
        server.rows("DROP TABLE nvtxt.logs")  # as it was before there was one
        good("init", "--target", target)
        equal(columns(server, "logs"), promised()["logs"])
        equal(server.rows("SELECT relrowsecurity, relacl::text ~ 'nvtxt_ship=ar/' FROM pg_class WHERE "
                          "oid = 'nvtxt.logs'::regclass"), [("t", "t")])
        timeline = "SELECT pg_get_viewdef('nvtxt.timeline'::regclass)"
        wanted = server.one(timeline)
        server.rows("CREATE OR REPLACE VIEW nvtxt.timeline AS " + wanted.replace("ca.name, ", ""))
        good("init", "--target", target)  # likewise
        equal(server.one(timeline), wanted)
        good("init", "--target", target, "--keep-days=7")
        equal(server.one("SELECT keep_days FROM nvtxt.meta"), "7")
        good("init", "--target", target, "--schema", "user", "--no-roles", "--plain-events",
             "--keep-days", "3")
        equal(server.rows('SELECT keep_days, "user".make_partitions(%s, %s + 1) FROM "user".meta'
                          % (TODAY, TODAY)), [("3", "0")])
        before = everything(server)
        good("init", "--target", target, "--schema", "user")
        equal(everything(server), before)
        equal(server.rows("SELECT rolname FROM pg_roles WHERE rolname LIKE 'user_%'"), [])
        good("init", "--target", target, "--schema", "other", "--no-own-rows")
        equal(server.rows("SELECT tgrelid::regclass FROM pg_trigger WHERE tgname = 'own_rows'"),
              [("nvtxt.events",)])
        server.rows("CREATE SCHEMA printed_before; " +
                    good("init", "--print", "--schema", "printed", "--keep-days=9"))
        equal(server.one("SELECT keep_days FROM printed.meta"), "9")


def test_init_of_two_databases_at_once_makes_the_roles_once():
    with database() as server, database() as other:
        args = ("init", "--schema", "twice", "--target", other.target())
        with server.held("CREATE ROLE twice_ship", end="COMMIT") as held, \
                concurrent.futures.ThreadPoolExecutor(1) as pool:
            second = pool.submit(run_ship, *args)
            wait_for(lambda: server.one("SELECT count(*) FROM pg_stat_activity WHERE "
                                        "wait_event_type = 'Lock'") == "1", "the other one waits")
            held()
            equal(second.result(), (0, "", ""))


def test_functions_are_exact():
    with database() as server:
        good("init", "--target", server.target())
        equal(server.rows(
            "SET timezone = 'America/New_York'; SET intervalstyle = sql_standard; "
            "SELECT nvtxt.ns(nvtxt.at(n)) FROM unnest('{9223372036854775807,1795242240123456789,"
            "1,0,-8640000000000123456,-9223372036854775807}'::bigint[]) AS n"),
              [("9223372036854775000",), ("1795242240123456000",), ("0",), ("0",),
               ("-8640000000000123000",), ("-9223372036854775000",)])
        equal(server.one("SET timezone = 'UTC'; SELECT nvtxt.at(1795242240123456789)"),
              "2026-11-21 06:24:00.123456+00")
        made = "SELECT nvtxt.make_partitions(%s)"
        for ahead in range(5, 8):
            server.rows("DROP TABLE nvtxt." + server.one("SELECT 'events_' || to_char(%s + %d, 'YYYYMMDD')"
                                                         % (TODAY, ahead)))
        equal([server.one(made % days) for days in (
            "%s, %s + 9" % (TODAY, TODAY), "%s - 2, %s" % (TODAY, TODAY),
            "%s - 1000, %s" % (TODAY, TODAY), "%s + 8, %s + 9" % (TODAY, TODAY),
            "%s, %s - 1" % (TODAY, TODAY))], ["3", "2", "28", "0", "0"])


def test_a_shipper_can_only_add_rows_of_its_own():
    one_server("rows come from a query of its own")
    with database() as server:
        good("init", "--target", server.target())
        server.rows("CREATE ROLE a LOGIN IN ROLE nvtxt_ship; CREATE ROLE b LOGIN IN ROLE "
                    "nvtxt_ship; CREATE ROLE r LOGIN IN ROLE nvtxt_read; CREATE ROLE nobody LOGIN")
        for user, number in (("a", 1), ("b", 2)):
            register(server, user, user)
            server.rows("INSERT INTO nvtxt.losses VALUES (%d, 0, 0, NULL, NULL, NULL, NULL, 'r', 1);"
                        % number + ROW % number, user=user)
        today = server.one("SELECT 'events_' || to_char(%s, 'YYYYMMDD')" % TODAY)
        forbidden = [
            ROW % 2, ROW % 3, ROW.replace("events", today) % 1,
            "SELECT count(*) FROM nvtxt.events", "SELECT count(*) FROM nvtxt.timeline",
            "SELECT count(*) FROM nvtxt." + today, "DELETE FROM nvtxt.events",
            "UPDATE nvtxt.events SET text = ''", "TRUNCATE nvtxt.events",
            "DELETE FROM nvtxt.losses", "DELETE FROM nvtxt.stores", "UPDATE nvtxt.losses SET count = 0",
            "UPDATE nvtxt.meta SET keep_days = 1", "INSERT INTO nvtxt.cursors (store_id) VALUES (3)",
            "INSERT INTO nvtxt.losses VALUES (2, 0, 1, NULL, NULL, NULL, NULL, 'r', 1)",
            "INSERT INTO nvtxt.logs VALUES (2, 1)", "DELETE FROM nvtxt.logs",
            "UPDATE nvtxt.stores SET owner = 'b'", "UPDATE nvtxt.stores SET host = 'b'",
            "INSERT INTO nvtxt.stores (store, host) VALUES (gen_random_uuid(), 'x')",
            "DELETE FROM nvtxt.open_ranges", "DELETE FROM nvtxt.cursors", "TRUNCATE nvtxt.segments",
            "UPDATE nvtxt.cursors SET store_id = 2", "SELECT * FROM nvtxt.hosts",
            "INSERT INTO nvtxt.hosts VALUES ('x', 'a')", "SELECT nvtxt.take_host('x')",
            "SELECT nvtxt.host_owner('b')", "SELECT nextval('nvtxt.store_numbers')",
            "SELECT setval('nvtxt.stores_store_id_seq', 900)",
            "DROP TABLE nvtxt.events", "CREATE TABLE nvtxt.mine (x integer)",
        ]
        for sql in forbidden:
            status, _, said = server.psql(sql, user="a")
            equal(status != 0, True, "%s: %s" % (sql, said))
        equal(server.rows("UPDATE nvtxt.cursors SET events = 9 RETURNING store_id", user="a"),
              [("1",)])
        equal(server.rows("SELECT host FROM nvtxt.stores", user="a"), [("a",)])
        equal(server.rows("SELECT store_id, reason FROM nvtxt.losses", user="b"), [("2", "r")])
        equal(server.rows("SELECT host, events, lost FROM nvtxt.fleet ORDER BY host", user="r"),
              [("a", "9", "1"), ("b", "0", "1")])
        equal(server.one("SELECT count(*) FROM nvtxt.timeline", user="r"), "2")
        # What one host says of itself breaks no view.
        server.rows("INSERT INTO nvtxt.losses SELECT 2, 1, g, now(), NULL, NULL, NULL, 'x', "
                    "9223372036854775807 FROM generate_series(1, 2) AS g; UPDATE nvtxt.cursors SET "
                    "seen = '-infinity', committed = 'infinity'", user="b")
        equal(server.rows("SELECT lag_seconds, lost FROM nvtxt.fleet WHERE host = 'b'", user="r"),
              [(None, "9223372036854775807")])
        for sql in (ROW % 1, "DELETE FROM nvtxt.losses", "UPDATE nvtxt.cursors SET events = 0",
                    "DELETE FROM nvtxt.events", "SELECT nvtxt.make_partitions(%s, %s)"
                    % (TODAY, TODAY)):
            equal(server.psql(sql, user="r")[0] != 0, True, sql)
        for sql in ("SELECT count(*) FROM nvtxt.events", "SELECT nvtxt.mine(1)"):
            equal(server.psql(sql, user="nobody")[0] != 0, True, sql)


def test_what_a_connection_is_refused_for():
    hba = ["local all postgres trust", "local all all scram-sha-256",
           "host all all 127.0.0.1/32 scram-sha-256"]
    with Postgres(tcp=True, hba=hba) as server:
        target = server.target()
        refused(77, 'database "none" does not exist', "init", "--target",
                server.target(dbname="none"))
        server.rows("CREATE ROLE u LOGIN PASSWORD 'right'")
        said = refused(77, "password", "init", "--target", server.target(user="u"),
                       env={"PGPASSWORD": "wrong-secret"})
        equal("wrong-secret" in said, False)
        refused(77, "password", "init", "--target", server.target(user="u"))
        passwords = os.path.join(server.folder, "pgpass")
        with open(passwords, "w", encoding="utf-8") as file:
            file.write("*:*:*:u:wrong-secret\n")
        for mode in (0o644, 0o660):
            os.chmod(passwords, mode)
            for target_of, env in ((server.target(user="u"), {"PGPASSFILE": passwords}),
                                   (server.target(user="u", passfile=passwords), {})):
                refused(77, "; the password file %s has group or world access and is not read\n"
                        % passwords, "init", "--target", target_of, env=env)
        as_u = ("--target", server.target(user="u"))
        right = {"PGPASSWORD": "right"}
        refused(77, "GRANT CREATE ON DATABASE postgres TO u", "init", *as_u, env=right)
        server.rows("GRANT CREATE ON DATABASE postgres TO u")
        refused(77, "ALTER ROLE u CREATEROLE", "init", *as_u, env=right)
        server.rows("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'")
        refused(76, "LATIN1", "init", "--target", server.target(dbname="latin"))
        good("init", "--target", target)
        server.rows("GRANT nvtxt_read TO u")
        for command in ("init", "maintain"):
            refused(77, ": run it as postgres, the owner of the schema (GRANT postgres TO u would "
                    "give all rights)\n", command, *as_u, env=right)
        server.rows("UPDATE nvtxt.meta SET version = 7, compatible = 5")
        said = refused(76, "has version 7, ", "init", "--target", target)
        for sql in ("DELETE FROM other.meta", "DROP TABLE other.events CASCADE"):
            good("init", "--target", target, "--schema", "other")
            server.rows(sql)
            refused(76, "the schema other is there, but lacks tables, or the row of meta\n", "init",
                    "--target", target, "--schema", "other")
            server.rows("DROP SCHEMA other CASCADE")
        equal("speaks version 4: install a newer package nvtxt-ship" in said, True, said)
        # Loopback needs no TLS; another address does, which this server does not have.
        refused(77, "password", "init", "--target", server.target(host="127.0.0.1", user="u"))
        server.stop()
        refused(69, "the engine cannot be reached: ", "init", "--target", target)
        refused(69, "refused", "init", "--target", server.target(host="127.0.0.1"))
        refused(69, "nowhere.invalid", "init", "--target", "host=nowhere.invalid")


def test_a_target_has_no_password():
    for target in ("password=secret host=/nowhere", "postgres://u:secret@h/db",
                   "postgresql://h/db?password=secret", "host=h sslpassword='secret'",
                   "host=/nowhere dbname='host=h password=secret'",
                   "host=/nowhere dbname=postgres://u:secret@h/db",
                   "postgresql:///host%3Dh%20password%3Dsecret",
                   "postgresql://u:secret/@h/db", "postgresql://u:secret@x@h/db",
                   "postgresql://u@secret:secret@h/db", "postgresql://u@secret@h/db",
                   "password=secret password=", "postgresql://u:secret@h/db?password="):
        said = refused(64, "can be read by everyone", "init", "--target", target)
        equal("secret" in said, False)
    said = refused(64, "target", "init", "--target", "host=h password=se'cret =")
    equal("cret" in said, False)
    refused(64, "nonsense", "init", "--target", "nonsense")
    refused(64, "sslmode", "init", "--target", "sslmode=wrong")
    for target in ("port=secret host=/nowhere", "postgresql://h:secret", "port=1,secret"):
        said = refused(64, "port", "--check-config", "--target", target)
        equal("secret" in said, False)
    refused(69, "/nowhere", "init", "--target", "host=/nowhere,@x port=,7")


def test_wrong_command_lines():
    refused(64, "'--nonsense' is not known", "--nonsense")
    refused(64, "'-x' is not known", "-x")
    refused(64, "'--host' lacks its value", "--host")
    refused(64, "'-o' lacks its value", "-o")
    refused(64, "'--once=1' takes no value", "--once=1")
    for name in ("--store", "--host", "--store-id"):
        refused(64, name, name, "")
    refused(64, "initt", "initt")
    refused(64, "status", "init", "status")
    refused(64, "--interval", "--interval", "49ms")
    refused(64, "and not information_schema", "--schema", "information_schema")
    for name in ("Nvtxt", "pg_team", "information_schema"):
        refused(64, "--schema", "--schema", name)
    refused(64, "--keep-days", "init", "--keep-days", "0")
    refused(64, "--since", "pull", "--since", "soon")
    refused(64, "--since", "pull", "-o", "/nowhere", "--since", "2026-01-01T00:00:01Z", "--until",
            "2026-01-01T00:00:00Z")
    refused(64, "--store-id", "--store-id", "7")
    refused(64, "--label", "--label", "rack")
    for option in ("--help", "--version"):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([program("ship", "nvtxt-ship"), option], stdout=full,
                                  stderr=subprocess.PIPE, timeout=DEADLINE, check=False)
        equal((done.returncode, b"cannot write to stdout: " in done.stderr), (74, True), done.stderr)
    status, out, said = run_ship("--help")
    equal((status, said), (0, ""))
    equal(out.startswith("Usage: nvtxt-ship "), True)


@contextlib.contextmanager
def configuration(*lines, drop_in=()):
    with tempfile.TemporaryDirectory(prefix="nvtxt-ship-") as folder:
        path = os.path.join(folder, "c.conf")
        os.mkdir(path + ".d")
        for name, text in ((path, lines), (os.path.join(path + ".d", "7.conf"), drop_in)):
            with open(name, "w", encoding="utf-8") as file:
                file.write("".join(line + "\n" for line in text))
        yield path


def test_a_configuration_has_all_its_faults_named():
    with configuration("# comment", "[nvtxt-ship]", "Target=host=/nowhere ; comment",
                       "Interval = 2s", "Label=a=1", drop_in=["[nvtxt-ship]", "Label=b=2"]) as path:
        equal(run_ship("--check-config", "-c", path), (0, "", ""))
    with configuration("Store=/x", "[nvtxt-ship]", "Intervall=1s", "Interval=1", "Interval=soon",
                       "Store=relative", "nonsense", "[nvtxtd]", "Any=1",
                       drop_in=["[nvtxt-ship]", "LogLevel=loud"]) as path:
        status, _, said = run_ship("--check-config", "--config", path)
        lines = said.splitlines()
        equal(status, 78, said)
        wanted = [("%s:1: " % path, "'Store'"), ("%s:3: " % path, "did you mean 'Interval'?"),
                  ("%s:5: " % path, "'soon'"), ("%s:6: " % path, "an absolute path"),
                  ("%s:7: " % path, "Key=Value"), ("%s:8: " % path, "[nvtxtd]"),
                  ("%s.d/7.conf:2: " % path, "error|warning|info|debug")]
        equal(len(lines), len(wanted), said)
        for line, (where, words) in zip(lines, wanted):
            equal((line.startswith("nvtxt-ship: error: " + where), words in line), (True, True),
                  line)
    with configuration("[nvtxt-ship]", "Target=password=secret") as path:
        said = refused(64, "can be read by everyone", "--check-config", "-c", path)
        equal(said.startswith("nvtxt-ship: error: %s:2: " % path), True, said)
    with configuration("[nvtxt-ship]", "Bogus=1", "Target=password=secret", "Target=nonsense",
                       "Interval=1s", "Interval=1ms") as path:
        status, _, said = run_ship("--check-config", "-c", path)
        equal((status, [line.split(":")[3] for line in said.splitlines()]), (78, list("2346")), said)
    refused(78, "/nowhere", "--check-config", "-c", "/nowhere")


run(globals())
