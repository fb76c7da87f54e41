# SPDX-License-Identifier: Apache-2.0
"""nvtxt-ship: against psql's \\copy of the same rows, its memory and CPU, how far it is behind, and
what the daemon notices of it. The server is a PostgreSQL of the benchmark's own."""
import contextlib
import os
import subprocess
import sys
import time

from kit import activity

IDENTITY = "0190c0f6-7d3a-7b41-9f36-12cbb0f1a001"
INSERT = 200_000  # rows at most by INSERT, which is slow
RATE = 50_000     # events a second for the lag
SAMPLES = """DO $$ DECLARE ending timestamptz := clock_timestamp() + interval '%d s'; BEGIN
    WHILE clock_timestamp() < ending LOOP
        INSERT INTO samples SELECT extract(epoch FROM clock_timestamp() - committed)
            FROM nvtxt.cursors;
        PERFORM pg_sleep(0.02);
    END LOOP; END $$"""
SETTINGS = ("max_wal_size = 4GB", "shared_buffers = 256MB")


@contextlib.contextmanager
def server_of(top, more=()):
    sys.path.insert(1, os.path.join(top, "tests", "e2e"))
    import lib
    import postgres
    try:
        with postgres.Postgres(settings=(*SETTINGS, *more)) as server:
            yield server
    except lib.Skip as reason:
        print("left out: %s" % reason, file=sys.stderr)


ANOTHER_STORE = "INSERT INTO %s.stores (store_id, store, host) SELECT %s.next_store(), gen_random_uuid(), 'bench'"


class Schemas:
    """A schema with empty tables for each turn."""

    def __init__(self, kit, server):
        self.kit, self.server, self.count = kit, server, 0

    def __enter__(self):
        self.count += 1
        self.name = "turn%d" % self.count
        self.kit.run("nvtxt-ship", "init", "--target", self.server.target(), "--schema", self.name,
                     "--no-roles", "--keep-days", 20000)
        # The store of the copied rows is the second one.
        self.server.rows(ANOTHER_STORE % (self.name, self.name) + "; SELECT %s.make_partitions("
                         "date '2026-01-01' - 1, current_date)" % self.name)
        return self.name

    def __exit__(self, kind, value, trace):
        self.server.rows("DROP SCHEMA %s CASCADE" % self.name)


def cpu(command):
    """Seconds that a command takes, its CPU seconds, and the KiB that it held at most."""
    started = time.monotonic()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError("%s: status %d" % (" ".join(command), process.returncode))
    return time.monotonic() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def once(kit, server, store, schema):
    return cpu([kit.program("nvtxt-ship"), "--once", "--store", store, "--store-id", IDENTITY,
                "--target", server.target(), "--schema", schema])


def ship(kit):
    """nvtxt-ship --once against psql's \\copy, binary and text, and INSERT of the same rows"""
    store = kit.path("ship.sqlite")
    kit.run("fill_store", "pushpop", kit.events, store)
    with server_of(kit.top) as server:
        schemas = Schemas(kit, server)
        files = {form: os.path.join(server.folder, form) for form in ("binary", "text")}
        with schemas as schema:
            once(kit, server, store, schema)
            for form, path in files.items():
                server.rows("COPY (SELECT * FROM %s.events) TO '%s' (FORMAT %s)" % (schema, path, form))
            inserts = min(kit.events, INSERT)
            server.rows("CREATE TABLE public.rows AS SELECT * FROM %s.events LIMIT %d"
                        % (schema, inserts))
        found = {name: [] for name in ("ship", "binary", "text", "insert")}
        cost, peak = [], []
        psql = [os.path.join(server.bin, "psql"), "-X", "-q", server.target(), "-c"]
        for _ in range(kit.rounds):
            with schemas as schema:
                seconds, used, most = once(kit, server, store, schema)
                found["ship"].append(kit.events / seconds)
                cost.append(used / kit.events * 1e6)
                peak.append(most / 1024)
            for form, path in files.items():
                with schemas as schema:
                    server.rows(ANOTHER_STORE % (schema, schema))
                    found[form].append(kit.events / kit.seconds(
                        psql + ["\\copy %s.events FROM '%s' (FORMAT %s)" % (schema, path, form)]))
            with schemas as schema:
                server.rows(ANOTHER_STORE % (schema, schema))
                text = "DO $$ DECLARE n bigint := 0; BEGIN WHILE n < %d LOOP INSERT INTO %s.events " \
                       "SELECT * FROM public.rows OFFSET n LIMIT 500; n := n + 500; END LOOP; END $$" \
                       % (min(inserts, 10_000), schema)
                found["insert"].append(min(inserts, 10_000) / kit.seconds(psql + [text]))
    note = "{:,} ranges".format(kit.events)
    for form in ("binary", "text"):
        kit.compare("ship: --once", "rows/s", ("nvtxt-ship", found["ship"]),
                    ("\\copy, " + form, found[form]), note)
    kit.compare("ship: --once", "rows/s", ("nvtxt-ship", found["ship"]),
                ("INSERT of 500", found["insert"]), note)
    kit.tell("ship: CPU of the shipper", "us/row", ("nvtxt-ship", cost), note=note + "; at most 1.5")
    kit.tell("ship: peak memory", "MiB", ("nvtxt-ship", peak), note=note + "; at most 64")


def rate_with(kit, command):
    """Events a second that a daemon takes beside a shipper, the largest log, and the segments."""
    with kit.daemon() as daemon:
        if command:
            shipper = kit.spawn(command + ["--store", daemon.store], stderr=subprocess.PIPE)
            shipper.stderr.readline()  # it says that there is no engine
        seconds = kit.seconds([kit.program("nvtxt-send"), "--socket", daemon.socket,
                               kit.input("pushpop", kit.events)])
        segments = daemon.segments()
        logs = [path + "-wal" for path in segments if os.path.exists(path + "-wal")]
        most = max([os.stat(log).st_size for log in logs] + [0])
        if command:
            shipper.terminate()
            shipper.wait()
            kit.processes.remove(shipper)
        return kit.events / seconds, most / 2**20, len(segments)


def shipping(kit):
    """A daemon beside a shipper whose engine is stopped, and beside none; the log of its store"""
    rates = {"stopped": [], "none": []}
    logs, segments = [], []
    with server_of(kit.top) as server:
        kit.run("nvtxt-ship", "init", "--target", server.target())
        command = [kit.program("nvtxt-ship"), "--target", server.target()]
        server.stop()
        for turn in range(kit.rounds):
            if turn % 2:  # each of them is the first one in turns
                rates["none"].append(rate_with(kit, None)[0])
            rate, log, count = rate_with(kit, command)
            rates["stopped"].append(rate)
            logs.append(log)
            segments.append(count)
            if turn % 2 == 0:
                rates["none"].append(rate_with(kit, None)[0])
    note = "{:,} ranges come in".format(kit.events)
    kit.compare("ship: a daemon beside it", "events/s", ("engine stopped", rates["stopped"]),
                ("no shipper", rates["none"]), note)
    kit.tell("ship: the log meanwhile", "MiB", ("WAL", logs), note="%d segment; at most 64" % max(segments))


def feed(command, file, seconds):
    """Gives a program the lines of a file, over and over, RATE events a second."""
    with open(file, "rb") as lines:
        every = lines.readlines()
    head = [line for line in every if line.startswith(b"@") or b"=" in line]
    tenth = b"".join([line for line in every if line not in head][:RATE // 10])
    process = subprocess.Popen(command, stdin=subprocess.PIPE)
    process.stdin.write(b"".join(head))
    started = time.monotonic()
    for turn in range(seconds * 10):
        process.stdin.write(tenth)
        process.stdin.flush()
        time.sleep(max(0, started + (turn + 1) / 10 - time.monotonic()))
    took = time.monotonic() - started
    process.stdin.close()
    if process.wait() != 0:
        raise RuntimeError("nvtxt-send: status %d" % process.returncode)
    return seconds * RATE / took


def lag(kit):
    """How old the newest shipped row is, while a daemon takes 50,000 events a second"""
    seconds = 5 if kit.quick else 20
    with server_of(kit.top) as server, kit.daemon() as daemon:
        kit.run("nvtxt-ship", "init", "--target", server.target())
        server.rows("CREATE TABLE samples (seconds double precision)")
        shipper = kit.spawn([kit.program("nvtxt-ship"), "--target", server.target(), "--store",
                             daemon.store])
        send = [kit.program("nvtxt-send"), "--socket", daemon.socket]
        lines = kit.input("markers", RATE)
        feed(send, lines, 3)  # until all is under way
        sampler = kit.spawn([os.path.join(server.bin, "psql"), "-X", "-q", server.target(), "-c",
                             SAMPLES % (seconds - 1)])
        rate = feed(send, lines, seconds)
        sampler.wait()
        ages = sorted(float(row[0]) for row in server.rows("SELECT seconds FROM samples"))
        for process in (shipper, sampler):
            process.terminate()
            process.wait()
            kit.processes.remove(process)
    kit.tell("ship: age of the newest shipped row", "s", ("median", ages[len(ages) // 2]),
             ("99 %", ages[len(ages) * 99 // 100]),
             note="{:,.0f} events/s, an Interval of 1 s; 99 % at most 2.5".format(rate))


def resting(kit):
    """A shipper whose store is quiet: context switches and CPU time"""
    seconds = 3 if kit.quick else 10
    with server_of(kit.top) as server, kit.daemon() as daemon:
        kit.run("nvtxt-ship", "init", "--target", server.target())
        shipper = kit.spawn([kit.program("nvtxt-ship"), "--target", server.target(), "--store",
                             daemon.store])
        feed([kit.program("nvtxt-send"), "--socket", daemon.socket], kit.input("markers", RATE), 1)
        while int(server.rows("SELECT count(*) FROM nvtxt.events")[0][0]) < RATE:
            time.sleep(0.1)
        time.sleep(3)  # the last round and the last change of a lease are over
        before = activity(shipper)
        time.sleep(seconds)
        after = activity(shipper)
        shipper.terminate()
        shipper.wait()
        kit.processes.remove(shipper)
    kit.tell("ship: idle, %d s" % seconds, "", ("voluntary switches", after[0] - before[0]),
             ("others", after[1] - before[1]), ("CPU ms", (after[2] - before[2]) * 1e3), note="at most 30 and 100 ms")
