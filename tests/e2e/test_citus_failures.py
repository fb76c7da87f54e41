# SPDX-License-Identifier: Apache-2.0
"""Exactly once on several machines: workers, the coordinator, shippers and connections are killed,
shards are moved and rebalanced, while shippers go on; a machine that is away is said, and holds up only
the stores whose rows it has. With NVTXT_TEST_LONG=1 with as many shippers and as long as the promise
says. Without Citus it skips."""
import contextlib
import os
import random
import time

from citus import Cluster
from lib import DEADLINE, Daemon, equal, run, wait_for
from ship import HEAD, Shipper, good, marker, role, run_ship

LONG = os.environ.get("NVTXT_TEST_LONG")
HOSTS = 20 if LONG else 3
SECONDS = 60 if LONG else 6
STEP = 40  # events of a host at a time


@contextlib.contextmanager
def cluster_with_schema():
    with Cluster() as cluster:
        nodes = cluster.make("fleet")
        good("init", "--distributed", "--shards", "4", "--target", nodes[0].target())
        role(nodes[0], "a")
        yield nodes


def target(nodes):
    return "host=%s port=5432 user=a dbname=fleet" % ",".join(node.folder for node in nodes)


def is_up(node):
    return node.psql("SELECT 1")[0] == 0


def node_of(nodes, store_id):
    """The worker that has the rows of a store."""
    name = nodes[0].one("SELECT nodename FROM citus_shards WHERE shardid = "
                        "get_shard_id_for_distribution_column('nvtxt.cursors', %s)" % store_id)
    return next(node for node in nodes if node.folder == name)


def nothing_is_prepared(nodes):
    wait_for(lambda: all(not node.rows("SELECT gid FROM pg_prepared_xacts") for node in nodes),
             "no round is left prepared")


# ---- A machine that is away ----------------------------------------------------------------------

def test_a_worker_that_is_away_holds_up_its_own_stores():
    with cluster_with_schema() as nodes, contextlib.ExitStack() as stack:
        daemons, args, workers = [], [], []
        while len(set(workers)) < 2:  # stores of both workers
            number = len(daemons)
            daemons.append(stack.enter_context(Daemon()))
            daemons[-1].send(marker("1"))
            args.append(("--once", "--target", nodes[0].target(user="a"), "--store", daemons[-1].store,
                         "--host", "h%d" % number))
            good(*args[-1])
            workers.append(node_of(nodes, number + 1).folder)
        away = next(node for node in nodes if node.folder == workers[0])
        for daemon in daemons:
            daemon.send(marker("2"))
        away.stop()
        for folder, arguments in zip(workers, args):
            status, _, said = run_ship(*arguments)
            equal(status, 75 if folder == away.folder else 0, said)
            equal((said.count("\n"), "connection to the remote node" in said),
                  (1, True) if folder == away.folder else (0, False), said)
        for number in range(len(args)):  # whichever host is wanted
            status, _, said = run_ship("pull", "--target", nodes[0].target(), "--host", "h%d" % number, "-o",
                                       os.path.join(daemons[0].folder, "pulled"))
            equal((status, said.count("\n")), (75, 1), said)
        away.start()
        wait_for(lambda: is_up(away), "it is back")
        for arguments in args:
            good(*arguments)
        equal(nodes[0].rows("SELECT host, count(*), count(DISTINCT message) FROM nvtxt.timeline GROUP BY 1 "
                            "ORDER BY 1"), [("h%d" % number, "2", "2") for number in range(len(args))])


def test_whichever_entrance_is_tried_last_it_is_said_that_a_machine_is_away():
    with cluster_with_schema() as nodes, Daemon() as daemon:
        daemon.send(marker("1"))
        args = ("--once", "--store", daemon.store, "--connect-timeout", "120s", "--target")
        good(*args, target(nodes))
        daemon.send(marker("2"))
        away = node_of(nodes, 1)
        others = [node.folder for node in nodes if node is not away]
        away.stop()
        # The order is that of names, so the machine has some: each is the last one somewhere.
        for number in range(6):
            names = others + [away.folder + "/" * (4 * number + slashes) for slashes in range(4)]
            status, _, said = run_ship(*args, "host=%s port=5432 user=a dbname=fleet" % ",".join(names))
            equal((status, "connection to the remote node" in said), (75, True), said)
        away.start()
        wait_for(lambda: is_up(away), "it is back")
        good(*args, target(nodes))
        equal(sorted(nodes[0].rows("SELECT message FROM nvtxt.timeline")), [("1",), ("2",)])


def test_a_worker_that_dies_before_the_commit():
    with cluster_with_schema() as nodes, Daemon() as daemon:
        args = ("--target", nodes[0].target(user="a"), "--store", daemon.store, "--host", "h",
                "--interval", "50ms")
        daemon.send(marker("1"))
        good("--once", *args)
        worker = node_of(nodes, 1)
        with Shipper(*args) as shipper:
            wait_for(lambda: nodes[0].rows("SELECT 1 FROM nvtxt.cursors WHERE shipper IS NOT NULL"), "it ships")
            # The round waits behind its COPY, whose rows the worker has.
            with nodes[0].held("LOCK TABLE nvtxt.segments IN ACCESS EXCLUSIVE MODE"):
                daemon.send(marker("2"))
                wait_for(lambda: nodes[0].rows("SELECT 1 FROM pg_stat_activity WHERE usename = 'a' AND "
                                               "wait_event_type = 'Lock'"), "the round waits")
                worker.kill()
            worker.start()
            wait_for(lambda: "it is tried again" in shipper.said(), "it says so")
            wait_for(lambda: is_up(worker) and nodes[0].psql("SELECT message FROM nvtxt.timeline")[1]
                     and nodes[0].one("SELECT count(*) FROM nvtxt.events") == "2", "it goes on")
        equal(sorted(nodes[0].rows("SELECT message FROM nvtxt.timeline")), [("1",), ("2",)])
        nothing_is_prepared(nodes)


# ---- Anything at any time ------------------------------------------------------------------------

class Host:
    """A daemon, its shipper, and how many events it was sent."""

    def __init__(self, stack, nodes, number):
        self.name, self.sent = "h%d" % number, 0
        self.daemon = stack.enter_context(Daemon())
        self.shipper = stack.enter_context(Shipper(
            "--target", target(nodes), "--store", self.daemon.store, "--host", self.name, "--interval",
            "100ms", "--lease", "2s"))

    def send(self):
        with self.daemon.plain() as connection:
            connection.send(HEAD + "".join('Marker, %d, 7, 8, "m"\n' % number for number in range(
                self.sent, self.sent + STEP)))
        self.sent += STEP


def kill_node(node):
    node.kill()
    node.start()


WAYS = "block_writes", "force_logical"  # to move a part


def move_shard(nodes, way):
    """Whether it went well: a machine may be away."""
    return nodes[0].psql(
        "SELECT citus_move_shard_placement(s.shardid, s.nodename, s.nodeport, o.nodename, o.nodeport, "
        "'%s') FROM (SELECT * FROM citus_shards WHERE table_name = 'nvtxt.cursors'::regclass "
        "ORDER BY random() LIMIT 1) AS s JOIN pg_dist_node AS o ON o.groupid > 0 AND o.nodename <> "
        "s.nodename" % way)[0] == 0


def rebalance(nodes):
    nodes[0].psql("SELECT citus_rebalance_start(shard_transfer_mode := 'block_writes')")


def disturb(nodes, hosts, tick):
    """What is done at each tick: all of it in turn, to whomever chance chooses."""
    things = (lambda: kill_node(random.choice(nodes[1:])),
              lambda: random.choice(hosts).shipper.kill(),
              lambda: move_shard(nodes, random.choice(WAYS)),
              lambda: random.choice(nodes).psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                                                "WHERE usename = 'a'"),
              lambda: kill_node(nodes[0]),
              lambda: rebalance(nodes))
    things[tick % len(things)]()
    for host in hosts:
        if host.shipper.process.poll() is not None:
            host.shipper.start()


def all_are_there(nodes, hosts):
    wanted = [(host.name, str(host.sent), str(host.sent), "0", str(host.sent - 1)) for host in hosts]
    asked = ("SELECT host, count(*), count(DISTINCT start_ns), min(start_ns), max(start_ns) FROM "
             "nvtxt.timeline GROUP BY host ORDER BY length(host), host")
    wait_for(lambda: nodes[0].psql(asked)[1] == wanted, "all rows are there once: %r of %r" % (
        nodes[0].psql(asked), wanted), 3 * DEADLINE)
    equal(nodes[0].rows("SELECT host, events, lost FROM nvtxt.fleet ORDER BY length(host), host"),
          [(host.name, str(host.sent), "0") for host in hosts])


def test_each_event_is_there_once_whatever_dies_and_moves():
    with cluster_with_schema() as nodes, contextlib.ExitStack() as stack:
        hosts = [Host(stack, nodes, number) for number in range(HOSTS)]
        end, tick = time.monotonic() + SECONDS, 0
        while tick < 6 or time.monotonic() < end:  # each thing once, however slow the machine is
            for host in hosts:
                host.send()
            disturb(nodes, hosts, tick)
            tick += 1
        for way in WAYS:
            for host in hosts:
                host.send()
            wait_for(lambda way=way: move_shard(nodes, way), "a part moves by " + way)
        for host in hosts:
            host.send()
            host.daemon.settled()
        all_are_there(nodes, hosts)
        nothing_is_prepared(nodes)


run(globals())
