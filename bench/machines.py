# SPDX-License-Identifier: Apache-2.0
"""A fleet on several machines (Citus) beside one PostgreSQL with the same settings: a coordinator and
two workers, all on this machine, so only ratios mean something. See tests/e2e/citus.py."""
import json
import os
import subprocess
import time

import fleet
import ship

SHIPPERS = 8
SAME = ("wal_level = logical", "max_connections = 300", "max_worker_processes = 32")
SHARDS = 32  # as without a word of the user's
NODES = ("coordinator", "worker 1", "worker 2")


def ticks():
    """Of each process: its parent, and the CPU seconds of it and of those of its children that ended."""
    found, a_second = {}, os.sysconf("SC_CLK_TCK")
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name, encoding="utf-8", errors="replace") as file:
                    words = file.read().rsplit(")", 1)[1].split()
            except OSError:  # it has ended
                continue
            found[int(name)] = int(words[1]), sum(map(int, words[11:15])) / a_second
    return found


class Engine:
    """A database with a schema: one server, or several as one. The first is the coordinator."""

    def __init__(self, kit, nodes, *more):
        self.kit, self.nodes, self.first = kit, nodes, nodes[0]
        kit.run("nvtxt-ship", "init", *more, "--target", self.first.target())

    def target(self, nodes):
        return self.first.target(host=",".join(node.folder for node in nodes))

    def cpu(self):
        """CPU seconds of each node until now."""
        found, pids = ticks(), [node.started[-1].pid for node in self.nodes]
        return [sum(seconds for pid, (parent, seconds) in found.items() if first in (pid, parent))
                for first in pids]

    def clear(self):
        self.first.rows("TRUNCATE nvtxt.events; DELETE FROM nvtxt.stores")

    def measured(self, commands, rows):
        """Runs commands at once; returns rows a second, and of each node the CPU in us a row."""
        before, started = self.cpu(), time.monotonic()
        processes = [self.kit.spawn(command) for command in commands]
        statuses = [process.wait() for process in processes]
        seconds = time.monotonic() - started
        used = [(now - then) / rows * 1e6 for now, then in zip(self.cpu(), before)]
        for process in processes:
            self.kit.processes.remove(process)
        there = int(self.first.one("SELECT count(*) FROM nvtxt.events"))
        if any(statuses) or there != rows:
            raise RuntimeError("%d rows are there, not %d; status %s" % (there, rows, statuses))
        return rows / seconds, used

    def shipped(self, stores, nodes, rows):
        self.clear()
        return self.measured([[self.kit.program("nvtxt-ship"), "--once", "--target", self.target(nodes),
                               "--store", path, "--store-id", identity, "--host", "h" + identity[-1]]
                              for identity, path in stores], rows)

    def copied(self, rows):
        """What was shipped, again, each store's rows by a psql."""
        psql = [os.path.join(self.first.bin, "psql"), "-X", "-q", self.first.target(), "-c"]
        files = []
        for (number,) in self.first.rows("SELECT store_id FROM nvtxt.stores"):
            files.append(self.kit.path("rows-" + number))
            subprocess.run(psql + ["\\copy (SELECT * FROM nvtxt.events WHERE store_id = %s) TO '%s' "
                                   "(FORMAT binary)" % (number, files[-1])], check=True)
        self.first.rows("TRUNCATE nvtxt.events")
        found = self.measured([psql + ["\\copy nvtxt.events FROM '%s' (FORMAT binary)" % file]
                               for file in files], rows)
        for file in files:
            os.unlink(file)
        return found


def beside(kit, work):
    """Gives a function one server, and several as one. Without Citus it is left out, with a sentence."""
    with ship.server_of(kit.top, SAME) as server:
        import citus as cluster  # pylint: disable=import-outside-toplevel
        with cluster.Cluster((*ship.SETTINGS, "citus.shard_count = %d" % SHARDS)) as machines:
            work(kit, Engine(kit, [server]),
                 Engine(kit, machines.make("bench"), "--distributed", "--shards", SHARDS))


def rates(kit, one, several):
    """Rows a second of shippers and of \\copy, and whose CPU they take."""
    each = 5_000 if kit.quick else 100_000
    rows, now = each * SHIPPERS, time.time_ns()
    stores = [(ship.IDENTITY[:-1] + str(number), kit.path("host%d.sqlite" % number))
              for number in range(SHIPPERS)]
    for _, path in stores:
        kit.run("fill_store", "pushpop", each, path, now - 60 * 10**9, now)
    turns = {
        "one": lambda: one.shipped(stores, one.nodes, rows), "one copied": lambda: one.copied(rows),
        "all": lambda: several.shipped(stores, several.nodes, rows),
        "first": lambda: several.shipped(stores, several.nodes[:1], rows),
        "copied": lambda: several.copied(rows)}
    for turn in turns.values():  # connections and plans are there afterwards
        turn()
    found = {name: [] for name in turns}
    for _ in range(kit.rounds):
        for name, turn in turns.items():
            found[name].append(turn())
    rate = {name: [values[0] for values in taken] for name, taken in found.items()}
    note = "%d shippers, %s rows" % (SHIPPERS, "{:,}".format(rows))
    for name, other, words in (("all", "copied", ("through all nodes", "\\copy")),
                               ("first", "copied", ("through the coordinator", "\\copy")),
                               ("one", "one copied", ("one PostgreSQL", "\\copy")),
                               ("all", "one", ("through all nodes", "one PostgreSQL")),
                               ("copied", "one copied", ("\\copy into Citus", "into one PostgreSQL"))):
        kit.compare("citus: rows", "rows/s", (words[0], rate[name]), (words[1], rate[other]), note)
    for name, words in (("all", "through all nodes"), ("first", "through the coordinator"),
                        ("copied", "\\copy, through the coordinator"), ("one", "one PostgreSQL"),
                        ("one copied", "\\copy, one PostgreSQL")):
        used = zip(*(values[1] for values in found[name]))
        names = NODES if len(found[name][0][1]) > 1 else ("server",)
        kit.tell("citus: CPU, " + words, "us/row", *((node, list(values)) for node, values
                                                     in zip(names, used)), note=note)
    for engine in (one, several):
        engine.clear()


def cost(engine, nodes, seconds):
    """The CPU in us that a round and a row take of the nodes through which hosts come: two runs, of
    few and of many rows a round."""
    runs = []
    for rate in (10, 300):
        said = json.loads("".join(engine.kit.run(
            "nvtxt-ship", "simulate", "--target", engine.target(nodes), "--hosts", 100, "--rate",
            rate, "--interval", "1s", "--for", "%ds" % seconds, "--json")))
        runs.append((said["rounds"], said["rows"], said["engine_cpu_seconds"] * 1e6))
        engine.clear()
    (rounds, rows, used), (more_rounds, more_rows, more_used) = runs
    a_row = (more_used / more_rounds - used / rounds) / (more_rows / more_rounds - rows / rounds)
    return used / rounds - a_row * rows / rounds, a_row


def costs(kit, one, several):
    """What a round and a row cost."""
    seconds = 3 if kit.quick else 15
    note = "simulated: 100 hosts, 10 and 300 events/s, each for %d s" % seconds
    found = [(cost(several, several.nodes, seconds), cost(several, several.nodes[:1], seconds),
              cost(one, one.nodes, seconds)) for _ in range(kit.rounds)]
    for number, (what, unit) in enumerate((("a round", "us/round"), ("a row", "us/row"))):
        everywhere, entrance, server = ([turn[side][number] for turn in found] for side in range(3))
        for name, values in (("all nodes", everywhere), ("the coordinator as entrance", entrance)):
            kit.compare("citus: CPU of " + what, unit, (name, values), ("one PostgreSQL", server), note)


def queries(kit, one, several):
    """The queries of the dashboard over the same rows."""
    import fleet_board  # pylint: disable=import-outside-toplevel
    import fleet_rows  # pylint: disable=import-outside-toplevel
    rows = 60 if kit.quick else 6000
    for engine in (one, several):
        fleet_rows.generate(engine.first, fleet.HOSTS, rows)
        engine.first.rows("VACUUM (ANALYZE) nvtxt.events")  # indexes of shards are summarized, too
    for name in fleet_board.names():
        found = {several: [], one: []}
        for turn in range(kit.rounds + 1):
            for engine, values in found.items():
                seconds = fleet.asked(engine.first, fleet_board, name)
                values += [seconds] if turn else []  # not the first one
        kit.compare("citus: " + name, "s", ("Citus", found[several]), ("one PostgreSQL", found[one]),
                    "{:,} hosts, {:,} rows".format(fleet.HOSTS, fleet.HOSTS * rows))


def citus(kit):
    """A fleet on a coordinator and two workers (Citus) beside one PostgreSQL: rows and CPU"""
    beside(kit, rates)


def citus_rounds(kit):
    """What a round and a row cost there and on one PostgreSQL, by simulated hosts"""
    beside(kit, costs)


def citus_queries(kit):
    """The queries of the dashboard there and on one PostgreSQL"""
    beside(kit, queries)
