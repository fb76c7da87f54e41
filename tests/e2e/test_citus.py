# SPDX-License-Identifier: Apache-2.0
"""A fleet on several machines: what nvtxt-ship init --distributed makes, and of what; that each machine
is an entrance; that a round stays on one machine; what a role may there; and that older schemas are
brought up, and over, with each row once. Without Citus it skips."""
import contextlib
import os
import re
import subprocess
import tempfile

from citus import Cluster, distributed_database
from following import arrived
from lib import Daemon, equal, program, run, wait_for
from ship import (HEAD, TABLES, TODAY, Shipper, compare_store, good, marker, refused, register, role,
                  rows_of, run_ship, version_1, version_2, version_3)

CUT = ("init", "--distributed", "--shards", "4", "--target")


@contextlib.contextmanager
def cut_fleet():
    """The nodes, with the schema, and a role that ships."""
    with distributed_database() as server:
        good(*CUT, server.target())
        role(server, "a")
        yield server.nodes


def on_node(node, daemon, *more):
    return ("--target", node.target(user="a"), "--store", daemon.store, "--interval", "50ms", *more)


def everywhere(nodes, sql):
    """The rows, which must be the same asked of each node."""
    first, *others = [sorted(node.rows(sql)) for node in nodes]
    for other in others:
        equal(other, first, sql)
    return first


def test_each_machine_is_an_entrance():
    with cut_fleet() as nodes, contextlib.ExitStack() as stack:
        daemons = [stack.enter_context(Daemon()) for _ in nodes]
        for number, (node, daemon) in enumerate(reversed(list(zip(nodes, daemons)))):
            daemon.send(marker("first of %d" % number))
            good("--once", *on_node(node, daemon, "--host", "h%d" % number))
        # Each goes on through another one.
        for number, (node, daemon) in enumerate(zip(nodes, daemons)):
            daemon.send(marker("second"))
            good("--once", *on_node(node, daemon, "--host", "h%d" % (2 - number)))
            good("--once", *on_node(nodes[number - 1], daemon, "--host", "h%d" % (2 - number)))
            equal(run_ship("status", *on_node(nodes[number - 1], daemon))[0], 0)
        equal(everywhere(nodes, "SELECT store_id, host, owner FROM nvtxt.stores"),
              [("1", "h0", "a"), ("2", "h1", "a"), ("3", "h2", "a")])
        equal(everywhere(nodes, "SELECT host, owner FROM nvtxt.hosts"),
              [("h0", "a"), ("h1", "a"), ("h2", "a")])
        equal(everywhere(nodes, "SELECT host, events, owner FROM nvtxt.fleet"),
              [("h%d" % number, "2", "a") for number in range(3)])
        equal(len(everywhere(nodes, "SELECT host, message FROM nvtxt.timeline")), 6)
        equal(len(everywhere(nodes, "SELECT host, path FROM nvtxt.tree")), 6)
        # A name of a host is whoever's it was first, whichever machine is asked.
        role(nodes[0], "b")
        for node in nodes:
            _, _, said = node.psql("SELECT nvtxt.register_store(gen_random_uuid(), 'h0', '{}', NULL, NULL, "
                                   "NULL, 0, 0, 0, 0, 0, 0, 0)", user="b")
            equal("the host name h0 belongs to another role than b: to a" in said, True, said)


def test_a_day_that_is_missing_is_made_through_each_machine():
    with cut_fleet() as nodes, Daemon() as daemon:
        for number, node in enumerate(nodes):
            nodes[0].rows("DROP TABLE " + nodes[0].one("SELECT 'nvtxt.events_' || to_char(%s, 'YYYYMMDD')"
                                                       % TODAY))
            daemon.send(marker("%d" % number))
            good("--once", *on_node(node, daemon))
            equal(nodes[0].rows("SELECT message FROM nvtxt.timeline"), [("%d" % number,)])


def shipping_through(nodes):
    """The nodes that a shipper is connected to."""
    return [number for number, node in enumerate(nodes) if node.runs() and node.rows(
        "SELECT 1 FROM pg_stat_activity WHERE application_name = 'nvtxt-ship'")]


def test_a_store_has_an_entrance_of_its_own_and_a_next_one():
    with cut_fleet() as nodes, Daemon() as daemon:
        words = "host=%s port=5432 user=a dbname=%s" % (",".join(node.folder for node in nodes),
                                                        nodes[0].database)
        with Shipper("--target", words, "--store", daemon.store, "--interval", "50ms"):
            daemon.send(marker("1"))
            arrived(nodes[0], ["1"])
            first = shipping_through(nodes)
            equal(len(first), 1)
            nodes[first[0]].rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
                                 "application_name = 'nvtxt-ship'")
            daemon.send(marker("2"))
            arrived(nodes[0], ["1", "2"])
            equal(shipping_through(nodes), first, "it comes back to where it was")
        refused(64, "this is done on the coordinator of the database, %s:5432" % nodes[0].folder,
                "maintain", "--target", words.replace(nodes[0].folder + ",", "").replace("user=a", "user=postgres"))
        refused(64, nodes[0].folder, "init", "--target", nodes[1].target())
        backwards = "host=%s port=5432 user=postgres dbname=%s" % (
            ",".join(node.folder for node in reversed(nodes)), nodes[0].database)
        good("maintain", "--target", backwards)
        good("init", "--target", backwards)


def test_who_holds_a_lock_for_long_ends_no_shipper():
    with cut_fleet() as nodes, Daemon() as daemon:
        args = on_node(nodes[0], daemon)
        daemon.send(marker("1"))
        good("--once", *args)
        daemon.send(marker("2"))
        with nodes[0].held("LOCK TABLE nvtxt.cursors IN EXCLUSIVE MODE") as let_go:
            with Shipper(*args) as shipper:
                wait_for(lambda: "lock timeout" in shipper.said() or shipper.process.poll() is not None,
                         "it says what it waits for")
                equal((shipper.process.poll(), "it is tried again" in shipper.said()), (None, True),
                      shipper.said())
                let_go()
                arrived(nodes[0], ["1", "2"])


def remote(server, begin):
    """What the server has sent to others since, each as its statement and its node."""
    with open(os.path.join(server.folder, "log"), encoding="utf-8", errors="replace") as log:
        log.seek(begin)
        return re.findall(r"issuing ([^\n]*)\n.*?DETAIL:  on server a@(\S+) ", log.read(), re.S)


def test_a_round_is_of_one_machine():
    with cut_fleet() as nodes, Daemon() as daemon:
        args = on_node(nodes[0], daemon)
        daemon.send(marker("1"))
        good("--once", *args)
        nodes[0].rows("ALTER ROLE a SET citus.log_remote_commands = on; ALTER ROLE a SET log_min_messages = notice")
        daemon.send(marker("2") + "wrong\n")
        begin = os.path.getsize(os.path.join(nodes[0].folder, "log"))
        good("--once", *args)
        sent = remote(nodes[0], begin)
        equal(len({node for _, node in sent}), 1, sent)
        for words in ("FOR UPDATE", "COPY nvtxt.events_", "INSERT INTO nvtxt.segments_",
                      "INSERT INTO nvtxt.diagnostics_", "INSERT INTO nvtxt.sources_",
                      "UPDATE nvtxt.cursors_"):
            equal(any(words in said for said, _ in sent), True, (words, sent))
        # Nothing is brought to a machine that another one has; but the engine prepares what COPY wrote.
        equal([said for said, _ in sent if "intermediate_result" in said], [])
        equal(sum("PREPARE TRANSACTION" in said for said, _ in sent),
              sum(said.startswith("COPY") for said, _ in sent))
        for view in ("timeline", "running", "fleet"):
            for node in nodes:
                plan = "\n".join(row[0] for row in node.rows("EXPLAIN SELECT * FROM nvtxt." + view))
                equal(("Task Count: 4" in plan, "Subplan" in plan), (True, False), plan)


def test_init_says_what_is_missing():
    with Cluster() as cluster:
        node = cluster.nodes[0]
        refused(76, "run CREATE EXTENSION citus", *CUT, node.target())
        nodes = cluster.make("fleet")
        server = nodes[0]
        server.rows("CREATE ROLE u LOGIN")
        refused(77, "permission denied for database fleet: GRANT CREATE ON DATABASE fleet TO u", *CUT,
                server.target(user="u"))
        status, out, said = run_ship("init", "--target", server.target())
        equal((status, out), (0, ""))
        equal("the schema is on this machine alone: run nvtxt-ship init --distributed" in said, True, said)
        refused(77, "run it as postgres, the owner of the schema", *CUT, server.target(user="u"))
        # An older release is said, and goes on.
        server.rows("ALTER FUNCTION pg_catalog.citus_version() RENAME TO citus_version_of_now; CREATE "
                    "FUNCTION pg_catalog.citus_version() RETURNS text LANGUAGE sql AS "
                    "$$SELECT 'Citus 12.1.4 on x'$$")
        status, out, said = run_ship(*CUT, server.target())
        equal((status, said), (0, "nvtxt-ship: warning: Citus 12.1.4 is older than 13.0.3, which this "
                                  "program was run with\n"))
        equal(out.splitlines()[-1], "events: on all machines (17 of 17)")
        before = server.rows("SELECT relname, relacl FROM pg_class WHERE relnamespace = "
                             "'nvtxt'::regnamespace ORDER BY 1")
        good("init", "--target", server.target())
        equal(server.rows("SELECT relname, relacl FROM pg_class WHERE relnamespace = "
                          "'nvtxt'::regnamespace ORDER BY 1"), before)
        # What is printed makes the same.
        server.rows(good("init", "--print", "--distributed", "--shards", "2", "--schema", "printed"))
        equal(server.rows("SELECT table_name, shard_count FROM citus_tables WHERE table_name::text IN "
                          "('nvtxt.events', 'printed.events', 'printed.stores') ORDER BY table_name::text"),
              [("nvtxt.events", "4"), ("printed.events", "2"), ("printed.stores", "1")])


def test_what_a_role_may():
    with cut_fleet() as nodes, Daemon() as daemon:
        role(nodes[0], "b")
        role(nodes[0], "r", "nvtxt_read")
        daemon.send(marker("1"))
        good("--once", *on_node(nodes[1], daemon, "--host", "h"))
        register(nodes[2], "b", "other")
        wanted = [("h", "1")]
        row = ("INSERT INTO nvtxt.events (committed, start_ns, end_ns, row_id, global_tid, source_id, "
               "store_id, segment, event_type, unclosed, text) VALUES (now(), 1, 2, 1, 16777217, 1, %s, 0, "
               "34, false, 'x')")
        for node in nodes:
            equal(node.rows("SELECT host, message FROM nvtxt.timeline WHERE host = 'h'", user="r"), wanted)
            refusals = {
                "SELECT * FROM nvtxt.events": "permission denied",
                "DELETE FROM nvtxt.events": "permission denied",
                "TRUNCATE nvtxt.events": "permission denied",
                "SELECT * FROM nvtxt.fleet": "permission denied",
                "DELETE FROM nvtxt.cursors": "permission denied",
                "UPDATE nvtxt.stores SET host = 'x'": "permission denied",
                "INSERT INTO nvtxt.domains VALUES (1, 1, 'x')": "row-level security",
                row % 1: "belongs to another role than b",
                "SELECT nvtxt.describe_store(1, 'x', '{}', NULL, NULL, NULL)": "another role than b"}
            for sql, words in refusals.items():
                status, _, said = node.psql(sql, user="b")
                equal((status, words in said), (3, True), "%s: %s" % (sql, said))
            # No row of others is seen or changed, and its own is.
            equal(node.rows("SELECT store_id FROM nvtxt.cursors", user="b"), [("2",)])
            node.rows("UPDATE nvtxt.cursors SET batch = 9", user="b")
            node.rows(row % 2, user="b")
        equal(nodes[0].rows("SELECT store_id, batch FROM nvtxt.cursors WHERE batch = 9"), [("2", "9")])
        # Here, as nvtxt-fleet(7) says, a key can lock the tables that it updates: one way only.
        locks = [table for table in TABLES if nodes[0].psql(
            "BEGIN; LOCK TABLE nvtxt.%s IN ACCESS EXCLUSIVE MODE" % table, user="b")[0] == 0]
        equal(sorted(locks), ["categories", "cursors", "domains", "open_ranges", "processes", "segments",
                              "sources", "threads"])


def test_maintain_names_what_is_prepared_and_stays():
    with cut_fleet() as nodes:
        maintain = "maintain", "--target", nodes[0].target()
        nodes[0].rows("BEGIN; SELECT pg_advisory_xact_lock(1); PREPARE TRANSACTION 'it''s'", user="a")
        try:
            equal(run_ship(*maintain), (0, "", ""))
            nodes[0].rows(
                "SET allow_system_table_mods = on; CREATE OR REPLACE VIEW pg_catalog.pg_prepared_xacts AS "
                "SELECT p.transaction, p.gid, p.prepared - interval '1 min' AS prepared, r.rolname AS owner, "
                "d.datname AS database FROM pg_prepared_xact() AS p JOIN pg_roles AS r ON r.oid = p.ownerid "
                "JOIN pg_database AS d ON d.oid = p.dbid")
            status, out, said = run_ship(*maintain)
            equal((status, out), (0, ""), said)
            equal(bool(re.fullmatch("nvtxt-ship: warning: a transaction that the role a prepared [0-9]+ s ago keeps "
                                    "its locks: as a superuser, ROLLBACK PREPARED 'it''s'\n", said)), True, said)
        finally:
            nodes[0].rows("ROLLBACK PREPARED 'it''s'")
        nodes[0].rows("BEGIN; SELECT pg_advisory_xact_lock(1); PREPARE TRANSACTION 'citus_9'", user="a")
        try:
            equal(run_ship(*maintain), (0, "", ""), "it may be the engine's, and is not that old")
        finally:
            nodes[0].rows("ROLLBACK PREPARED 'citus_9'")
        # As nvtxt-fleet(7) says: a lock of a part stays on the machine that has it.
        part = "nvtxt.cursors_%s" % nodes[0].one(
            "SELECT min(shardid) FROM citus_shards WHERE table_name = 'nvtxt.cursors'::regclass AND nodename = '%s'"
            % nodes[1].folder)
        nodes[1].rows("SET citus.enable_manual_changes_to_shards = on; BEGIN; LOCK TABLE %s IN EXCLUSIVE "
                      "MODE; PREPARE TRANSACTION 'p'" % part, user="a")
        equal(nodes[1].rows("SELECT relation::regclass::text FROM pg_locks WHERE pid IS NULL AND locktype = "
                            "'relation' AND mode = 'ExclusiveLock'"), [(part,)])
        nodes[1].rows("ROLLBACK PREPARED 'p'")


def test_the_owner_need_not_be_a_superuser():
    with Cluster() as cluster, Daemon() as daemon:
        nodes = cluster.make("fleet")
        server = nodes[0]
        server.rows("CREATE ROLE keeper LOGIN CREATEROLE; GRANT CREATE ON DATABASE fleet TO keeper")
        good(*CUT, server.target(user="keeper"))
        role(server, "a")
        server.rows("CREATE TABLE nvtxt.events_20200101 (LIKE nvtxt.events); ALTER TABLE nvtxt.events ATTACH "
                    "PARTITION nvtxt.events_20200101 FOR VALUES FROM ('2020-01-01') TO ('2020-01-02')",
                    user="keeper")
        daemon.send(marker("1"))
        good("--once", *on_node(nodes[1], daemon))
        good("maintain", "--target", server.target(user="keeper"))
        equal([node.rows("SELECT relname FROM pg_class WHERE relname ~ '20200101'") for node in nodes],
              [[], [], []])
        equal(server.rows("SELECT message FROM nvtxt.timeline", user="keeper"), [("1",)])
        # Roles that the workers have already, of another database, only a superuser may bring there.
        other = cluster.make("other")[0]
        other.rows("GRANT CREATE ON DATABASE other TO keeper")
        refused(77, "must be superuser to alter superuser roles or change superuser attribute: run it as a "
                    "superuser", *CUT, other.target(user="keeper"))


def of_views(server):
    return [sorted(server.rows("SELECT * FROM nvtxt." + view)) for view in ("timeline", "running", "tree")] + [
        sorted(server.rows("SELECT store_id, host, labels, events, committed, behind_rows, lost FROM "
                           "nvtxt.fleet"))]


def files_of_events(server):
    return server.rows("SELECT relname, relfilenode FROM pg_class WHERE relname ~ '^events_[0-9]{8}$' ORDER BY 1")


def pulled(server, folder, name):
    path = os.path.join(folder, name)
    good("pull", "--target", server.target(), "--host", "h", "-o", path)
    return rows_of(path, "SELECT start, text, globalTid FROM NVTX_EVENTS ORDER BY start, text")


def bring_up(text, folder):
    """A schema of an older program, filled, is brought up and then over, which is broken off once."""
    with distributed_database() as server, Daemon() as daemon:
        server.rows("BEGIN; %s; SELECT nvtxt.make_partitions(%s, %s + 1); COMMIT" % (text, TODAY, TODAY))
        role(server, "old")
        args = ("--target", server.target(user="old"), "--store", daemon.store, "--host", "h")
        daemon.send(marker("1") + 'Marker, 2, 7, 8, "2"\nwrong\n')
        good("--once", *args)
        has_tree = server.one("SELECT version > 2 FROM nvtxt.meta") == "t"
        before = of_views(server) if has_tree else None
        files, rows = files_of_events(server), pulled(server, folder, "before")
        status, out, said = run_ship("init", "--target", server.target())
        equal((status, out), (0, ""), said)
        equal(files_of_events(server)[:len(files)], files, "events are not written anew")
        equal(server.rows("SELECT version, compatible FROM nvtxt.meta"), [("4", "4")])
        before = before or of_views(server)
        equal(of_views(server), before)
        with subprocess.Popen([program("ship", "nvtxt-ship"), *CUT, server.target()],
                              stdout=subprocess.PIPE) as broken:
            equal(broken.stdout.readline(), b"meta: on all machines (1 of 17)\n")
            broken.kill()
        wait_for(lambda: not server.rows("SELECT 1 FROM pg_stat_activity WHERE application_name = "
                                         "'nvtxt-ship'"), "its session has ended")
        status, _, said = run_ship("init", "--target", server.target())
        equal((status, "the schema is half way from this machine to all" in said), (0, True), said)
        out = good(*CUT, server.target())
        equal(("meta:" in out, out.splitlines()[-1].startswith("events: on all machines")), (False, True), out)
        equal(of_views(server), before)
        equal(pulled(server, folder, "after"), rows)
        equal(server.one("SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND connamespace = "
                         "'nvtxt'::regnamespace"), "13")
        # The role is known everywhere, and ships on from where it was.
        daemon.send(marker("3"))
        good("--once", "--target", server.nodes[1].target(user="old"), *args[2:])
        compare_store(server, daemon.segments())
        register(server.nodes[2], "old", "next")
        equal(server.rows("SELECT store_id FROM nvtxt.stores ORDER BY 1"), [("1",), ("2",)])


def test_keys_that_were_not_added_are_said():
    """It was broken off after the last table, before the keys."""
    keys = ("SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) FROM "
            "pg_constraint WHERE contype = 'f' AND connamespace = 'nvtxt'::regnamespace AND conparentid = 0")
    with distributed_database() as server:
        good(*CUT, server.target())
        made = server.rows(keys)
        equal(len(made), 13)
        for (drop,) in made:
            server.rows(drop)
        status, out, said = run_ship("init", "--target", server.target())
        equal((status, out, "the schema is half way from this machine to all" in said), (0, "", True), said)
        equal(good(*CUT, server.target()), "")
        equal(len(server.rows(keys)), 13)
        equal(run_ship("init", "--target", server.target()), (0, "", ""))


def test_a_schema_of_version_1_is_brought_over():
    with tempfile.TemporaryDirectory() as folder:
        bring_up(version_1(), folder)


def test_a_schema_of_version_2_is_brought_over():
    with tempfile.TemporaryDirectory() as folder:
        bring_up(version_2(), folder)


def test_a_schema_of_version_3_is_brought_over():
    with tempfile.TemporaryDirectory() as folder:
        bring_up(version_3(), folder)


run(globals())
