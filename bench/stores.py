# SPDX-License-Identifier: Apache-2.0
"""Big stores, and readers that stay."""
import os
import sqlite3
import statistics
import struct
import threading
import time

WINDOW = 300 * 10**9  # "the last five minutes"
HUGE = 10 << 30


def forget(path):
    """Drops a file from the page cache, as far as the kernel likes to."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(fd)


def timed(path, sql, cold):
    """Milliseconds of a query on a connection of its own, and the one number it answers with."""
    if cold:
        forget(path)
    reader = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    try:
        started = time.monotonic()
        (answer,), = reader.execute(sql).fetchall()
        return (time.monotonic() - started) * 1e3, answer
    finally:
        reader.close()


def queries(kit):
    """The last five minutes of a big store: through NVTXT_BATCHES against a scan"""
    path, last = kit.big_store()
    window = {"from_ns": last - WINDOW}
    batches = ("FROM NVTXT_BATCHES b CROSS JOIN NVTX_EVENTS e ON e.rowid BETWEEN b.firstRow AND "
               "b.lastRow WHERE b.maxEnd >= %(from_ns)d AND e.end >= %(from_ns)d" % window)
    asked = {
        "batches": "SELECT count(e.text) " + batches,
        "scan": "SELECT count(e.text) FROM NVTX_EVENTS e WHERE e.end >= %(from_ns)d" % window,
        "recent": "SELECT count(message) FROM NVTXT_RECENT WHERE batchEnd >= %(from_ns)d AND "
                  "\"end\" >= %(from_ns)d" % window,
    }
    for cold in (True, False):
        found = {name: [] for name in asked}
        answers = set()
        for _ in range(3):
            for name, sql in asked.items():
                ms, answer = timed(path, sql, cold)
                found[name].append(ms)
                answers.add(answer)
        if len(answers) != 1:
            raise RuntimeError("the queries do not agree: %r" % answers)
        state = "cold" if cold else "warm"
        note = "{:,} of {:,} events, page cache {}".format(answers.pop(), kit.big_events, state)
        for name, title in (("batches", "NVTXT_BATCHES"), ("recent", "NVTXT_RECENT")):
            kit.compare("queries: five minutes by %s" % title, "ms", (title, found[name]),
                        ("scan", found["scan"]), note)


QUERIES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "doc", "queries")


def answered(path, sql, last):
    """Milliseconds of a ready query on a connection of its own, and how many rows it gave."""
    reader = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    try:
        started = time.monotonic()
        rows = reader.execute(sql, {"from_ns": last - WINDOW, "to_ns": last, "rows": None,
                                    "minutes": None}).fetchall()
        return (time.monotonic() - started) * 1e3, len(rows)
    finally:
        reader.close()


def dashboards(kit):
    """The ready queries of doc/queries over the last five minutes of a big store"""
    path, last = kit.big_store()
    for name in sorted(os.listdir(QUERIES)):
        with open(os.path.join(QUERIES, name), encoding="utf-8") as file:
            sql = file.read()
        if "older." in sql:  # wants a second store
            continue
        rounds = 1 if "-- Reads every event" in sql else kit.rounds
        found = [answered(path, sql, last) for _ in range(rounds)]
        kit.tell("dashboards: %s" % name[:-4], "ms", ("took", [ms for ms, _ in found]),
                 note="{:,} rows, {:,} events in the store".format(found[0][1], kit.big_events))


class Pin(threading.Thread):
    """A reader that holds a snapshot, and how large the write-ahead log gets meanwhile."""

    def __init__(self, peer, hold):
        super().__init__(daemon=True)
        self.peer, self.hold = peer, hold
        self.largest = 0
        self.done = threading.Event()

    def run(self):
        reader = sqlite3.connect("file:%s?mode=ro" % self.peer.store, uri=True, timeout=60,
                                 isolation_level=None)
        if self.hold:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM NVTX_EVENTS").fetchall()
        while not self.done.wait(0.01):
            logs = [path + "-wal" for path in self.peer.segments()]
            self.largest = max([self.largest] + [os.stat(log).st_size for log in logs
                                                 if os.path.exists(log)])
        reader.close()


def gaps(daemon):
    """Milliseconds between one commit and the next."""
    times = [ns for ns, in daemon.everywhere("SELECT committedNs FROM NVTXT_BATCHES ORDER BY id")]
    return [(b - a) / 1e6 for a, b in zip(times, times[1:])]


def pinned_run(kit, events, hold):
    with kit.daemon() as daemon:
        pin = Pin(daemon, hold)
        pin.start()
        seconds = kit.seconds([kit.program("nvtxt-send"), "--socket", daemon.socket,
                               kit.input("same", events)])
        found = gaps(daemon)
        pin.done.set()
        pin.join()
        daemon.check(events)
    return events / seconds, pin.largest / 2**20, found


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))]


def pinned(kit):
    """A reader holds a snapshot while 5 M events come in: rate, WAL size, gaps between commits"""
    events = 5 * kit.events
    runs = {True: [], False: []}
    kit.input("same", events)
    for _ in range(3):
        for hold, found in runs.items():
            found.append(pinned_run(kit, events, hold))
    rate, wal, pauses = ({hold: [run[i] for run in found] for hold, found in runs.items()}
                         for i in range(3))
    note = "{:,} events".format(events)
    kit.compare("pinned: nvtxt-send", "events/s", ("pinned", rate[True]), ("free", rate[False]),
                note)
    kit.compare("pinned: largest WAL", "MiB", ("pinned", wal[True]), ("free", wal[False]), note)
    for title, share in (("median", 0.5), ("p99.9", 0.999)):
        kit.compare("pinned: from commit to commit, %s" % title, "ms",
                    *((name, [percentile(found, share) for found in pauses[hold]])
                      for name, hold in (("pinned", True), ("free", False))),
                    "about %d commits" % statistics.median(len(found) for found in pauses[True]))


# ---- Out again ----------------------------------------------------------------------------------

def export(kit):
    """The big store out: nvtxt-export against sqlite3 -csv, and its other formats and memory"""
    path, _ = kit.big_store()
    program = [kit.program("nvtxt-export"), "--store", path, "--format"]
    shell = ["sqlite3", "-readonly", "-csv", path,
             "SELECT * FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60)"]
    others = ("chrome", "perfetto", "jsonl", "nvtxt", "otlp")
    commands = {form: program + [form] for form in ("csv", *others)}
    copy = os.path.join(kit.work, "copy.sqlite")
    commands["nsys"] = program + ["nsys", "-o", copy]
    rates = {name: [] for name in (*commands, "sqlite3")}
    peaks = {name: [] for name in rates}
    with open(os.devnull, "wb") as null:
        for _ in range(3):
            for name, command in (*commands.items(), ("sqlite3", shell)):
                seconds, peak = kit.watched(command, stdout=null)
                rates[name].append(kit.big_events / seconds)
                peaks[name].append(peak / 1024)
            size = os.path.getsize(copy)
            os.unlink(copy)
    note = "{:,} events, to /dev/null".format(kit.big_events)
    kit.compare("export: csv", "events/s", ("nvtxt-export", rates["csv"]),
                ("sqlite3 -csv", rates["sqlite3"]), note + "; sqlite3: the columns of NVTX_EVENTS")
    kit.tell("export: other formats", "events/s",
             *((name, rates[name]) for name in others), note=note)
    kit.compare("export: nsys", "events/s", ("nsys", rates["nsys"]), ("chrome", rates["chrome"]),
                note + "; nsys: a file of %d bytes an event" % (size // kit.big_events))
    kit.tell("export: peak memory", "MiB", *peaks.items(), note=note + ", VmHWM")


# ---- Start-up -----------------------------------------------------------------------------------

def grow(path, size):
    """Makes a store that is as large as this and still whole: the pages that are added are free
    ones. Their list (https://www.sqlite.org/fileformat2.html, 1.5) is written; they are holes."""
    with open(path, "r+b") as file:
        header = file.read(100)
        page, = struct.unpack(">H", header[16:18])
        page = 65536 if page == 1 else page
        change, pages, trunk, free = struct.unpack(">IIII", header[24:40])
        wanted = size // page
        lock = (1 << 30) // page + 1  # SQLite never uses this page
        added = [number for number in range(pages + 1, wanted + 1) if number != lock]
        leaves = page // 4 - 8
        for at in reversed(range(0, len(added), leaves + 1)):
            group = added[at:at + leaves + 1]
            file.seek((group[0] - 1) * page)
            file.write(struct.pack(">%dI" % (len(group) + 1), trunk, len(group) - 1, *group[1:]))
            trunk = group[0]
        file.truncate(wanted * page)
        file.seek(24)
        file.write(struct.pack(">IIII", change + 1, wanted, trunk, free + len(added)))
        file.seek(92)
        file.write(struct.pack(">I", change + 1))


def started(kit, store):
    with kit.daemon(store=store) as daemon:
        return daemon.start_seconds * 1e3


def startup(kit):
    """From start to ready: a store of 10 GB against an empty one"""
    path, _ = kit.big_store()
    grow(path, HUGE)
    small = kit.path("empty.sqlite")
    started(kit, small)
    large, empty = [], []
    for _ in range(kit.rounds):
        forget(path)
        large.append(started(kit, path))
        forget(small)
        empty.append(started(kit, small))
    kit.compare("startup: to ready", "ms", ("10 GB", large), ("empty", empty),
                "{:,} events and free pages, page cache cold".format(kit.big_events))
