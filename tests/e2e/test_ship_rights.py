# SPDX-License-Identifier: Apache-2.0
"""One host's key stops no other: what a role that ships can lock, take and hold up; whose the names of
hosts are; and the step of the schema from version 1, in which it could."""
import contextlib
import os
import subprocess

from following import arrived, fleet, texts
from lib import DEADLINE, Daemon, equal, run, wait_for
from postgres import database, one_server
from ship import (TODAY, Shipper, compare_store, good, marker, refused, register, role, run_ship,
                  sql_of, version_1)

TABLES = ("meta", "stores", "cursors", "segments", "events", "sources", "logs", "domains", "categories",
          "threads", "processes", "diagnostics", "losses", "open_ranges", "source_parents", "range_keys", "hosts",
          "timeline", "fleet", "tree",
          "running")
MODES = ("ACCESS SHARE", "ROW SHARE", "ROW EXCLUSIVE", "SHARE UPDATE EXCLUSIVE", "SHARE",
         "SHARE ROW EXCLUSIVE", "EXCLUSIVE", "ACCESS EXCLUSIVE")


class Thief:
    """A psql of a role that ships, in a transaction that it leaves open; a context manager. What is
    refused is undone alone."""

    def __init__(self, server, name, *statements):
        self.process = subprocess.Popen(
            [os.path.join(server.bin, "psql"), "-XAtq", "-v", "ON_ERROR_ROLLBACK=on",
             server.target(user=name)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        self.say("BEGIN; %s;" % "; ".join(statements))

    def say(self, sql):
        self.process.stdin.write(sql + "\n\\echo done\n")
        self.process.stdin.flush()
        while self.process.stdout.readline() not in ("done\n", ""):
            pass

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.process.kill()
        self.process.communicate()


def all_that_it_can_hold():
    """As much as a stolen key can hold at once."""
    yield "SET lock_timeout = '50ms'"
    for table in TABLES:
        for mode in MODES:
            yield "LOCK TABLE nvtxt.%s IN %s MODE" % (table, mode)
        yield "SELECT count(*) FROM (SELECT FROM nvtxt.%s FOR UPDATE) AS rows" % table
        yield "SELECT pg_advisory_xact_lock('nvtxt.%s'::regclass::oid::bigint)" % table
    yield "SELECT pg_advisory_xact_lock(hashtext('nvtxt-ship init'))"
    yield "SELECT pg_advisory_lock(n) FROM generate_series(1, 100) AS n"
    for table in TABLES:
        yield "CREATE TEMP TABLE %s (host text, owner name, store_id int, keep_days int)" % table
    yield ("CREATE FUNCTION pg_temp.mine(integer) RETURNS boolean LANGUAGE sql AS 'SELECT true'; "
           "CREATE FUNCTION pg_temp.session_user() RETURNS name LANGUAGE sql AS $$SELECT 'b'::name$$; "
           "SET search_path = pg_temp, nvtxt")
    yield "SELECT nvtxt.make_partitions(%s - 30, %s + 7)" % (TODAY, TODAY)
    yield "UPDATE nvtxt.cursors SET seen = now()"


def remove_days(server):
    for (name,) in server.rows("SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = "
                               "'nvtxt.events'::regclass"):
        server.rows("DROP TABLE " + name)


def test_no_right_allows_a_lock_that_others_wait_for():
    one_server("rights are of tables")
    with database() as server:
        good("init", "--target", server.target())
        role(server, "thief")
        equal(server.rows("SELECT relname FROM pg_class WHERE relnamespace = 'nvtxt'::regnamespace AND "
                          "relkind IN ('r', 'p', 'v', 'S') AND has_table_privilege('thief', oid, "
                          "'UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')"), [])
        for table in TABLES:
            allowed = {mode for mode in MODES if server.psql(
                "BEGIN; LOCK TABLE nvtxt.%s IN %s MODE" % (table, mode), user="thief")[0] == 0}
            # Nobody writes, reads, or makes a day in another mode than these go with.
            equal(allowed - {"ACCESS SHARE", "ROW SHARE", "ROW EXCLUSIVE"}, set(), table)


def lock_waits(server):
    """What the server has said of roles that log it: who waited for a lock for a second."""
    with open(os.path.join(server.folder, "log"), encoding="utf-8", errors="replace") as log:
        return [line for line in log if " still waiting for " in line]


def test_an_open_transaction_stops_no_other_host():
    one_server("rights are of tables")
    with fleet() as (server, daemon, args), Daemon() as other:
        for name in ("thief", "a"):
            role(server, name)
        for name in ("a", "postgres"):
            server.rows("ALTER ROLE %s SET log_lock_waits = on" % name)
        other.send(marker("1"))
        as_a = ("--target", server.target(user="a"), "--store", other.store, "--host", "a")
        register(server, "thief", "thief")
        good("--once", *as_a)
        with Thief(server, "thief", *all_that_it_can_hold()) as thief:
            daemon.send(marker("2"))
            other.send(marker("2"))
            before = len(lock_waits(server))
            good("--once", *as_a)  # one that is known
            good("--once", *args)  # one that is new
            equal(server.one("SELECT count(*) FROM nvtxt.timeline"), "3")
            server.rows("SELECT * FROM nvtxt.fleet")
            equal(lock_waits(server)[before:], [], "nobody waited for a lock")
            equal(thief.process.poll(), None)
        # A lock of its own choice does not keep a day from being made.
        remove_days(server)
        with Thief(server, "thief", *list(all_that_it_can_hold())[:-2]):
            other.send(marker("3"))
            good("--once", *as_a)
        equal(server.one("SELECT count(*) FROM nvtxt.events"), "1")


def test_functions_refuse_what_is_of_others():
    with database() as server:
        good("init", "--target", server.target())
        role(server, "a")
        role(server, "b")
        register(server, "a", "web1", "'11111111-1111-1111-1111-111111111111'")
        register(server, "b", "web2")
        before = server.rows("SELECT * FROM nvtxt.stores ORDER BY 1")
        describe = "SELECT nvtxt.describe_store(%s, '%s', '{}', NULL, NULL, NULL)"
        attack = ("SET search_path = pg_temp, nvtxt; CREATE TEMP TABLE hosts AS SELECT 'web1' AS host, "
                  "'b'::name AS owner; CREATE TEMP TABLE stores AS SELECT 1 AS store_id, 'b'::name AS "
                  "owner, 'web1' AS host, gen_random_uuid() AS store; CREATE FUNCTION "
                  "pg_temp.mine(integer) RETURNS boolean LANGUAGE sql AS 'SELECT true'; ")
        for begin in ("", attack, "SET default_transaction_isolation = serializable; "):
            for sql, words in (
                    (describe % (1, "web1"), "belongs to another role than b"),
                    (describe % (1, "web3"), "belongs to another role than b"),
                    (describe % (2, "web1"), "the host name web1 belongs to another role than b: to a"),
                    (describe % ("NULL", "web1"), "belongs to another role than b"),
                    ("SELECT nvtxt.register_store(gen_random_uuid(), 'web1', '{}', NULL, NULL, NULL, 0, "
                     "0, 0, 0, 0, 0, 0)", "the host name web1 belongs to another role than b: to a"),
                    ("SELECT nvtxt.register_store('11111111-1111-1111-1111-111111111111', 'web2', '{}', "
                     "NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0)", "belongs to another role than b"),
                    ("SELECT nvtxt.register_store(gen_random_uuid(), repeat('x', 256), '{}', NULL, NULL, "
                     "NULL, 0, 0, 0, 0, 0, 0, 0)", "more than 255 bytes"),
                    ("SELECT nvtxt.register_store(gen_random_uuid(), NULL, '{}', NULL, NULL, NULL, 0, 0, "
                     "0, 0, 0, 0, 0)", "null value")):
                status, _, said = server.psql(begin + sql, user="b")
                equal((status, words in said), (3, True), "%s: %s" % (sql, said))
            equal(server.rows(begin + "SELECT nvtxt.mine(1), nvtxt.mine(2)", user="b"), [("f", "t")])
        equal(server.rows("SELECT * FROM nvtxt.stores ORDER BY 1"), before)
        # What runs as the owner makes days where the owner wants them.
        remove_days(server)
        server.rows("SET search_path = pg_temp; SET datestyle = 'SQL, "
                    "DMY'; CREATE TEMP TABLE events (i int) ; SELECT nvtxt.make_partitions(%s, %s)"
                    % (TODAY, TODAY), user="b")
        equal(server.one("SELECT count(*) FROM pg_inherits WHERE inhparent = 'nvtxt.events'::regclass"),
              "1")
        for days in ("'-infinity', 'infinity'", "NULL, NULL"):
            server.rows("SELECT nvtxt.make_partitions(%s)" % days, user="b")
        equal(server.one("SELECT count(*) FROM pg_inherits WHERE inhparent = 'nvtxt.events'::regclass"),
              "38")


def test_a_name_of_a_host_belongs_to_a_role():
    one_server("who waits is seen on one server")
    with fleet() as (server, daemon, args), Daemon() as other:
        target, store = args[:2], ("--store", daemon.store)
        for name in ("a", "b"):
            role(server, name)

        def of(name, *more):
            return ("--once", "--target", server.target(user=name), *more)
        daemon.send(marker("1"))
        other.send(marker("2"))
        good(*of("a", *store, "--host", "web1"))
        wanted = "the host name web1 belongs to another role than b: to a"
        second = ("--store", other.store)
        refused(77, wanted, *of("b", *second, "--host", "web1"))
        refused(77, wanted, "--dry-run", *of("b", *second, "--host", "web1")[1:])
        equal(server.rows("SELECT count(*) FROM nvtxt.stores"), [("1",)])
        good(*of("b", *second, "--host", "web2"))
        refused(77, wanted, *of("b", *second, "--host", "web1"))  # nor later
        good(*of("a", *store, "--host", "web3"))
        refused(77, wanted, *of("b", *second, "--host", "web1"))  # which it keeps
        # Given away, and ahead, with quotes in it, to a role that is not there yet.
        good("init", *target, "--host", "web1=b", "--host", "it's\\=late")
        good(*of("b", *second, "--host", "web1"))
        role(server, "late")
        refused(77, "the host name it's\\ belongs to another role than a: to late",
                *of("a", *store, "--host", "it's\\"))
        refused(77, "the host name web1 belongs to another role than a: to b",
                *of("a", *store, "--host", "web1"))
        equal(server.rows("SELECT host, owner FROM nvtxt.fleet ORDER BY host"),
              [("web1", "b"), ("web3", "a")])
        good("init", *target, "--host", "alone", "--host", "first=a=b")  # options of others, and a role "a=b"
        equal(server.rows("SELECT host, owner FROM nvtxt.hosts WHERE host IN ('alone', 'first', 'first=a')"),
              [("first", "a=b")])
        for wrong in ("=b", "web1="):
            refused(64, "NAME=ROLE", "init", *target, "--host", wrong)
        equal("('it' || 'x')" in good("init", "--print", "--host", "x=y"), False)
        # Two that take the same name at once: the second waits for the first, and is refused.
        with Thief(server, "a", "SELECT nvtxt.register_store(gen_random_uuid(), 'new', '{}', NULL, NULL, "
                                "NULL, 0, 0, 0, 0, 0, 0, 0)") as first:
            with subprocess.Popen(server.psql_command(user="b"), env=server.env, stdin=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) as late:
                late.stdin.write("SELECT nvtxt.register_store(gen_random_uuid(), 'new', '{}', NULL, NULL, "
                                 "NULL, 0, 0, 0, 0, 0, 0, 0);\n")
                late.stdin.close()
                late.stdin = None
                wait_for(lambda: server.one("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type "
                                            "= 'Lock'") == "1", "the second one waits")
                first.say("COMMIT;")
                said = late.communicate(timeout=DEADLINE)[1]
        equal("the host name new belongs to another role than b: to a" in said, True, said)


def test_a_schema_of_version_1_is_brought_up():
    with database() as server, Daemon() as daemon, daemon.session() as session:
        args = ("--target", server.target(user="a"), "--store", daemon.store, "--host", "h")
        server.rows("BEGIN; %s; SELECT nvtxt.make_partitions(%s, %s + 1); COMMIT" % (version_1(), TODAY, TODAY))
        role(server, "a")
        role(server, "b")
        session.send('TimeBase = Manual\nProcessId = 7\nThreadId = 8\n@RangePush, Time, Message\n'
                     '@RangePop, Time\nRangePush, 1, "one"\nRangePush, 2, "two"\n')
        session.ack(7)
        # This program ships into what it finds.
        good("--dry-run", *args)
        good("--once", *args)
        refused(77, "belongs to another role than b", "--dry-run", "--target", server.target(user="b"),
                *args[2:])
        with Shipper(*args, "--interval", "50ms") as shipper:
            session.send("RangePop, 3\n")
            arrived(server, ["two"])
            pid = server.one("SELECT pid FROM pg_stat_activity WHERE application_name = 'nvtxt-ship'")
            equal(server.one("SELECT compatible FROM nvtxt.meta"), "1")
            wait_for(lambda: server.one("SELECT count(*) FROM nvtxt.open_ranges") == "1", "it is removed")
            good("init", "--target", server.target())
            # Whoever ships is asked to look again.
            wait_for(lambda: server.rows("SELECT pid FROM pg_stat_activity WHERE application_name = "
                                         "'nvtxt-ship' AND pid <> %s" % pid), "it connected anew")
            session.send('RangePop, 4\nRangePush, 5, "three"\n')
            arrived(server, ["two", "one"])
            wait_for(lambda: server.rows("SELECT message FROM nvtxt.running") == [("three",)],
                     "what is open is known")
            shipper.process.poll()
        equal(server.rows("SELECT version, compatible FROM nvtxt.meta"), [("4", "4")])
        equal(server.rows("SELECT owner FROM nvtxt.fleet"), [("a",)])
        good("--once", *args)
        compare_store(server, daemon.segments())
        equal(texts(server), ["two", "one"])
        # It has the same rights as one that is made now.
        with database() as fresh:
            good("init", "--target", fresh.target())
            for sql in ("SELECT relname, relkind, relacl FROM pg_class WHERE relnamespace = "
                        "'nvtxt'::regnamespace AND relkind IN ('r', 'p', 'v') AND relname !~ '^events_' "
                        "ORDER BY 1",
                        "SELECT attrelid::regclass::text, attname, attacl FROM pg_attribute WHERE attacl "
                        "IS NOT NULL AND attrelid::regclass::text ~ '^nvtxt' ORDER BY 1, 2",
                        "SELECT proname, proargtypes::text, prosrc, proacl, proconfig, prosecdef FROM "
                        "pg_proc WHERE pronamespace = 'nvtxt'::regnamespace ORDER BY 1",
                        "SELECT viewname, definition FROM pg_views WHERE schemaname = 'nvtxt' ORDER BY 1"):
                equal(sorted(map(acl_sorted, server.rows(sql))), sorted(map(acl_sorted, fresh.rows(sql))),
                      sql)


def keeper_of_version_1(server):
    """An owner of the schema who is no superuser; the role a ships there."""
    server.rows("DROP ROLE IF EXISTS keeper; CREATE ROLE keeper LOGIN CREATEROLE; "
                "GRANT CREATE ON DATABASE %s TO keeper" % server.database)
    server.rows("BEGIN; %s; SELECT nvtxt.make_partitions(%s, %s + 1); COMMIT" % (version_1(), TODAY, TODAY),
                user="keeper")
    role(server, "a")


# What a round of version 1 asked first, and how its lease was renewed.
OF_VERSION_1 = ("SELECT c.shipper FROM nvtxt.cursors AS c WHERE c.store_id = 1 FOR UPDATE",
                "UPDATE nvtxt.cursors SET seen = clock_timestamp() WHERE store_id = 1 AND shipper = "
                "'old' RETURNING shipper")


def test_a_shipper_that_may_not_be_ended_stops_nevertheless():
    one_server("the roles of a case before are on the workers")
    with database() as server, Daemon() as daemon:
        keeper_of_version_1(server)
        args = ("--target", server.target(user="a"), "--store", daemon.store, "--host", "h")
        daemon.send(marker("1"))
        good("--once", *args)
        server.rows("UPDATE nvtxt.cursors SET shipper = 'old'")
        with Thief(server, "a", "COMMIT") as old:
            pid = server.one("SELECT pid FROM pg_stat_activity WHERE usename = 'a'")
            status, out, said = run_ship("init", "--target", server.target(user="keeper"))
            equal((status, out, said.count("\n")), (0, "", 1), said)
            equal([words in said for words in (
                "nvtxt-ship: warning: ", "process %s of the role a (host h);" % pid, "pg_signal_backend")],
                  [True] * 3, said)
            equal(old.process.poll(), None)
            # It finds that the lease is not its own.
            equal([server.rows(sql, user="a") for sql in OF_VERSION_1], [[(None,)], []])
            good("init", "--target", server.target(user="keeper"))


def test_a_round_goes_on_when_its_rights_change():
    """The step's text alone, which ends no session and takes no lease back."""
    one_server("the roles of a case before are on the workers")
    with database() as server, Daemon() as daemon, daemon.session() as session:
        keeper_of_version_1(server)
        args = ("--target", server.target(user="a"), "--store", daemon.store, "--host", "h")
        session.send('TimeBase = Manual\nProcessId = 7\nThreadId = 8\n@RangePush, Time, Message\n'
                     '@RangePop, Time\nRangePush, 1, "one"\n')
        session.ack(6)
        with Shipper(*args, "--interval", "50ms") as shipper:
            wait_for(lambda: server.one("SELECT count(*) FROM nvtxt.open_ranges") == "1", "it is shipped")
            server.rows("BEGIN; %s; COMMIT" % sql_of("2.sql", "3.sql", "4.sql", "roles.sql"), user="keeper")
            session.send("RangePop, 3\n")
            arrived(server, ["one"])
            wait_for(lambda: shipper.process.poll() is not None or server.one(
                "SELECT count(*) FROM nvtxt.running") == "0", "its end is known")
            equal(shipper.process.poll(), None, shipper.said())


def acl_sorted(row):
    return tuple("".join(sorted(value)) if value and value.startswith("{") else value or "" for value in row)


def test_a_step_belongs_to_whom_the_schema_belongs():
    one_server("the roles of a case before are on the workers")
    with database() as server, Daemon() as daemon:
        server.rows("DROP ROLE IF EXISTS keeper; CREATE ROLE keeper LOGIN CREATEROLE; "
                    "GRANT CREATE ON DATABASE %s TO keeper" % server.database)
        server.rows("BEGIN; %s; COMMIT" % version_1(), user="keeper")
        role(server, "a")
        good("init", "--target", server.target())  # a superuser
        equal(server.rows("SELECT DISTINCT relowner::regrole FROM pg_class WHERE relnamespace = "
                          "'nvtxt'::regnamespace UNION SELECT proowner::regrole FROM pg_proc WHERE "
                          "pronamespace = 'nvtxt'::regnamespace"), [("keeper",)])
        daemon.send(marker("1"))
        good("--once", "--target", server.target(user="a"), "--store", daemon.store)
        good("init", "--target", server.target(user="keeper"), "--host", "x=a")
        good("maintain", "--target", server.target(user="keeper"))
        equal(texts(server), ["1"])


def test_two_that_make_the_schema_at_once():
    one_server("who waits is seen on one server")
    with database() as server:
        target = server.target()
        with contextlib.ExitStack() as stack:
            held = stack.enter_context(server.held("CREATE SCHEMA nvtxt", end="COMMIT"))
            both = [subprocess.Popen([*good_command(), "init", "--target", target],
                                     stderr=subprocess.PIPE) for _ in range(2)]
            wait_for(lambda: server.one("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = "
                                        "'Lock'") == "2", "both wait")
            held()
            equal([(process.communicate(timeout=DEADLINE)[1], process.returncode) for process in both],
                  [(b"", 0)] * 2)
        good("init", "--target", target)


def good_command():
    from lib import program
    return ["env", "CONFIGURATION_DIRECTORY=/nonexistent", program("ship", "nvtxt-ship")]


OLD = ("UPDATE nvtxt.meta SET keep_days = 30; SELECT nvtxt.make_partitions(%s - 9, %s); "
       "UPDATE nvtxt.meta SET keep_days = 5" % (TODAY, TODAY))
INSERT = ("INSERT INTO nvtxt.events (committed, start_ns, end_ns, row_id, global_tid, source_id, store_id, "
          "segment, event_type, unclosed, text) VALUES (now() - interval '8 days', 1, 2, 1, 16777217, 1, 1, 0, 34, false, 'x')")


def test_maintain_ends_what_is_open_for_a_minute():
    """Its own clock counts where it may not see since when a transaction is open; so this takes one."""
    one_server("it ends the sessions of one server")
    with database() as server:
        server.rows("DROP ROLE IF EXISTS keeper; CREATE ROLE keeper LOGIN CREATEROLE; "
                    "GRANT CREATE ON DATABASE %s TO keeper" % server.database)
        keeper = ("maintain", "--target", server.target(user="keeper"))
        good("init", "--target", server.target(user="keeper"))
        role(server, "thief")
        register(server, "thief", "thief")
        server.rows(OLD)
        ahead = server.one("SELECT 'events_' || to_char(%s + 7, 'YYYYMMDD')" % TODAY)
        server.rows("DROP TABLE nvtxt." + ahead)
        with Thief(server, "thief", INSERT) as thief:
            status, _, said = run_ship(*keeper, timeout=4 * DEADLINE)
            equal((status, said.count("\n"), " of the role thief has a transaction open for at least " in said,
                   "GRANT pg_signal_backend" in said), (69, 1, True, True), said)
            equal(thief.process.poll(), None)
            equal(server.one("SELECT relkind FROM pg_class WHERE relname = '%s'" % ahead), "r")
            # Who sees its age need not wait.
            server.rows("GRANT pg_read_all_stats, pg_signal_backend TO keeper")
            good(*keeper)
            equal(server.rows("SELECT FROM pg_stat_activity WHERE usename = 'thief' AND state <> 'idle'"), [])
        equal(server.one("SELECT count(*) FROM pg_inherits WHERE inhparent = 'nvtxt.events'::regclass"), "13")
        server.rows("DROP OWNED BY keeper CASCADE; REVOKE pg_read_all_stats, pg_signal_backend FROM keeper")


run(globals())
