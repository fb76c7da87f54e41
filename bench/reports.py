# SPDX-License-Identifier: Apache-2.0
"""nvtxt-report: against SQL, memory, filters, scripts, rules, and what a daemon beside it notices."""
import json
import os
import re
import sqlite3
import subprocess
import sys
import threading
import time

import kit as shared

# What nvtx_sum has, with three percentiles, as one query.
SQL = """
WITH ranges AS (
    SELECT coalesce(e.text, s.value) AS name, eventType, end - start AS d
    FROM NVTX_EVENTS e LEFT JOIN StringIds s ON s.id = e.textId
    WHERE eventType IN (59, 60) AND end IS NOT NULL),
ranked AS (
    SELECT name, eventType, d, row_number() OVER (PARTITION BY name, eventType ORDER BY d) AS i,
           count(*) OVER (PARTITION BY name, eventType) AS n
    FROM ranges)
SELECT 100.0 * sum(d) / sum(sum(d)) OVER () AS part, sum(d) AS total, n, avg(d),
       avg(d) FILTER (WHERE i IN ((n + 1) / 2, (n + 2) / 2)), min(d), max(d),
       sqrt(max(0, sum(1.0 * d * d) - 1.0 * sum(d) * sum(d) / n) / max(1, n - 1)),
       max(d) FILTER (WHERE i = (n * 50 + 99) / 100), max(d) FILTER (WHERE i = (n * 90 + 99) / 100),
       max(d) FILTER (WHERE i = (n * 99 + 99) / 100), eventType, name
FROM ranked GROUP BY name, eventType ORDER BY total DESC, name
"""
FIXED_BYTES = 32 << 20
PERCENTILES = ["stats", "-r", "nvtx_sum", "--percentiles", "50,90,99", "--csv"]


def store_of(kit):
    """A store of push/pop ranges of many lengths; made once."""
    path = kit.path("ranges.sqlite")
    if not os.path.exists(path):
        kit.run("fill_store", "pushpop", kit.events, path)
        store = sqlite3.connect(path)
        store.execute("UPDATE NVTX_EVENTS SET end = start + 1 + rowid * 2654435761 % 4093 "
                      "WHERE eventType = 59")
        store.commit()
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        store.close()
    return path


def ask(path):
    """Seconds of the query, and its rows as (total, count, p50, p90, p99)."""
    reader = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    try:
        started = time.monotonic()
        rows = reader.execute(SQL).fetchall()
        return time.monotonic() - started, [(row[1], row[2], row[8], row[9], row[10]) for row in rows]
    finally:
        reader.close()


def rows_of(text):
    lines = text.splitlines()
    at = [lines[0].split(",").index(name) for name in
          ("Total Time (ns)", "Instances", "P50 (ns)", "P90 (ns)", "P99 (ns)")]
    return [tuple(int(line.split(",")[i]) for i in at) for line in lines[1:]]


def report(kit):
    """nvtxt-report stats with percentiles against a window query; its memory; 16 filters"""
    path = store_of(kit)
    program = kit.program("nvtxt-report")
    said = subprocess.run([program, *PERCENTILES, path], capture_output=True, text=True, check=True)
    answers = {name: sorted(rows) for name, rows in (("sql", ask(path)[1]),
                                                     ("report", rows_of(said.stdout)))}
    if answers["sql"] != answers["report"]:
        raise RuntimeError("nvtxt-report and the query do not agree")
    filters = []
    for number in range(16):
        filters += ["--nvtx-include", "regex:^message number %d/" % number]
    found = {name: [] for name in ("sql", "report", "plain", "filters")}
    peaks = []
    with open(os.devnull, "wb") as null:
        for _ in range(kit.rounds):
            found["sql"].append(1 / ask(path)[0])
            found["report"].append(1 / kit.seconds([program, *PERCENTILES, path], stdout=null))
            found["plain"].append(kit.seconds([program, "stats", path], stdout=null))
            found["filters"].append(kit.seconds([program, "stats", *filters, path], stdout=null))
            peaks.append((kit.watched([program, *PERCENTILES, path], stdout=null)[1] * 1024 -
                          FIXED_BYTES) / kit.events)
    note = "{:,} ranges".format(kit.events)
    kit.compare("report: stats with three percentiles", "times/s", ("nvtxt-report", found["report"]),
                ("window query", found["sql"]), note + "; the query: no start of a process")
    kit.compare("report: stats with 16 filters", "s", ("16 filters", found["filters"]),
                ("none", found["plain"]), note)
    kit.tell("report: peak memory above 32 MiB", "bytes/row", ("nvtxt-report", peaks),
             note=note + ", VmHWM")


class Beside(threading.Thread):
    """Something that is done again and again until it is told to stop."""

    def __init__(self, action):
        super().__init__(daemon=True)
        self.action = action
        self.times = 0
        self.done = threading.Event()

    def run(self):
        while not self.done.is_set():
            self.action()
            self.times += 1


def rate_beside(kit, events, action):
    """Events a second that a daemon takes, and how often the action was done meanwhile."""
    with kit.daemon() as daemon:
        kit.seconds([kit.program("nvtxt-send"), "--socket", daemon.socket, kit.input("pushpop", events)])
        beside = Beside(lambda: action(daemon.store))
        beside.start()
        seconds = kit.seconds([kit.program("nvtxt-send"), "--socket", daemon.socket,
                               kit.input("pushpop", events)])
        beside.done.set()
        beside.join()
        daemon.check(2 * events)
        logs = [path + "-wal" for path in daemon.segments() if os.path.exists(path + "-wal")]
        return events / seconds, beside.times, max([os.stat(log).st_size for log in logs] + [0])


def beside(kit):
    """Commits of a daemon while nvtxt-report reads its store, and while a plain reader does"""
    program = kit.program("nvtxt-report")

    def by_report(store):
        subprocess.run([program, "stats", store], stdout=subprocess.DEVNULL, check=True)

    # In a process of its own, as nvtxt-report is.
    def by_reader(store):
        subprocess.run(["sqlite3", "-readonly", store, "SELECT * FROM NVTX_EVENTS"],
                       stdout=subprocess.DEVNULL, check=True)

    rates = {name: [] for name in ("report", "reader")}
    times = {name: [] for name in rates}
    logs = []
    for _ in range(kit.rounds):
        for name, action in (("report", by_report), ("reader", by_reader)):
            rate, count, log = rate_beside(kit, kit.events, action)
            rates[name].append(rate)
            times[name].append(count)
            if name == "report":
                logs.append(log / 2**20)
    note = "{:,} ranges come in, {:,} are there; {:g} reports, {:g} reads".format(
        kit.events, kit.events, sum(times["report"]), sum(times["reader"]))
    kit.compare("report: a daemon beside it", "events/s", ("nvtxt-report", rates["report"]),
                ("sqlite3", rates["reader"]), note)
    kit.tell("report: the log afterwards", "MiB", ("WAL", logs))


METRICS = ("range__time_duration.sum", "pushpop__self_time.sum", "event__attribute_start")
TRIPS, ACTIONS = 20000, 100000


def scripts(kit):
    """Scripts over nvtxt-report serve: round trips; a walk over actions with three metrics each"""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "report",
                                    "python"))
    import nvtxt_report
    os.environ["NVTXT_REPORT"] = kit.program("nvtxt-report")
    trips, walks = [], []
    with nvtxt_report.load_report(store_of(kit)) as loaded:
        for _ in range(kit.rounds):
            started = time.monotonic()
            for _ in range(TRIPS):
                loaded._transport.call("hello")
            trips.append(TRIPS / (time.monotonic() - started))
            started, count = time.monotonic(), 0
            for number in range(len(loaded)):
                for action in nvtxt_report.IRange(loaded._transport, number)[:ACTIONS - count]:
                    figures = [action[name].value() for name in METRICS]
                    count += len(figures) == len(METRICS)
            walks.append(time.monotonic() - started)
    kit.tell("scripts: round trips", "requests/s", ("nvtxt_report", trips))
    kit.tell("scripts: a walk with three metrics each", "s", ("nvtxt_report", walks),
             note="{:,} actions".format(count))


DRAWN = 2_000_000  # more events are merged, if --max-events does not say otherwise


def random_store(kit, name, events):
    """A store of push/pop ranges whose times have nothing that repeats."""
    path = kit.path(name)
    kit.run("fill_store", "pushpop", events, path)
    store = sqlite3.connect(path)
    store.execute("UPDATE NVTX_EVENTS SET start = rowid * 4000000 + abs(random() % 1000000)")
    store.execute("UPDATE NVTX_EVENTS SET end = start + 1 + abs(random() % 3000000)")
    store.commit()
    store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()
    return path


def page(kit):
    """nvtxt-report html: its times against nvtxt-export --format chrome, its size, many events"""
    path, output = random_store(kit, "random.sqlite", kit.events), kit.path("random.html")
    program, export = kit.program("nvtxt-report"), kit.program("nvtxt-export")
    found = {"html": [], "chrome": []}
    with open(os.devnull, "wb") as null:
        for _ in range(kit.rounds):
            found["html"].append(kit.times([program, "html", "-o", output, path]))
            found["chrome"].append(kit.times([export, "--format", "chrome", "--store", path],
                                             stdout=null))
    note = "{:,} ranges of random lengths".format(kit.events)
    for at, what, most in ((0, "time to write it", 1.5), (1, "processor time to write it", 1.7)):
        kit.compare("page: " + what, "s", *((name, [times[at] for times in found[name]]) for name in found),
                    "%s; at most %g" % (note, most))
    kit.tell("page: size", "bytes/event", ("above 220 KB",
             max(0, os.stat(output).st_size - 220_000) / kit.events), note=note + "; at most 12")
    events = DRAWN * 5 // 4 if not kit.quick else kit.events * 5 // 4
    path = random_store(kit, "more.sqlite", events)
    started = time.monotonic()
    done = subprocess.run([program, "html", "-o", output, "--max-events",
                           str(events * 4 // 5), path], stderr=subprocess.PIPE, text=True, check=True)
    seconds = time.monotonic() - started
    said = re.search(r"(\d+) of (\d+) events are drawn singly", done.stderr)
    kit.tell("page: more than --max-events", "s", ("html", seconds),
             note="{:,} of {:,} events are drawn singly, {:.1f} MB".format(
                 int(said[1]), int(said[2]), os.stat(output).st_size / 1e6))


def browse(kit):
    """The page of nvtxt-report html in Chromium: time to ready, redraws, names of a span"""
    pages = []
    for name, program in (("page", kit.program("nvtxt-report")), ("older", kit.older)):
        if program:
            pages.append(kit.path(name + ".html"))
            subprocess.run([program, "html", "-o", pages[-1], store_of(kit)], check=True)
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "browser_times.py")
    done = subprocess.run([sys.executable, script, str(kit.rounds), *pages], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode == 77:
        shared.warn("browse: skipped, " + done.stdout.strip())
        return
    if done.returncode != 0:
        raise RuntimeError("browser_times.py: status %d" % done.returncode)
    found = json.loads(done.stdout)
    note = "{:,} ranges of 8 threads".format(kit.events)
    if kit.older:
        kit.compare("page: open to ready", "ms", ("this one", found["ready"]), ("older one", found["older"]),
                    note=note + "; at most 1.5")
    else:
        kit.tell("page: open to ready", "ms", ("Chromium", found["ready"]), note=note)
    kit.tell("page: redraw, median of 20", "ms", ("whole", found["whole"]), ("1/100", found["zoomed"]),
             ("1/10,000", found["close"]), note=note + "; at most 16")
    kit.tell("page: a frame while panning", "ms", ("1/100", found["frames"]), note=note + "; 16.7 at 60 Hz")
    kit.tell("page: names of a new span, median of 20", "ms", ("any", found["names"]), ("9/10 of the time", found["most"]),
             ("the first", found["first"]), note=note + "; at most 100")


DECLARATIVE = """\
Identifier: "Bench" DisplayName: "Bench"
Findings { Condition: "event__count.sum > 0" Type: Ok Message: "{event__count.sum} events" }
"""
PYTHON = """\
import NvRules
def get_identifier(): return "Bench"
def get_name(): return "Bench"
def get_description(): return ""
def apply(handle):
    ctx = NvRules.get_context(handle)
    count = ctx[0][0]["event__count.sum"].value()
    ctx.frontend().message(NvRules.IFrontend.MsgType_OK, "%d events" % count)
"""


def rules(kit):
    """A rule in Python that asks for one metric against the same declarative rule"""
    store = kit.path("small.sqlite")
    if not os.path.exists(store):
        kit.run("fill_store", "pushpop", 1000, store)
    os.environ["NVTXT_REPORT_DATA"] = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                                                   "report")
    words = {"declarative": [], "python": [], "alone": ["--sandbox=never"]}
    for name, text in (("declarative.rule", DECLARATIVE), ("python.py", PYTHON)):
        folder = kit.path("rules." + name.split(".")[0])
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    found = {name: [] for name in words}
    for _ in range(kit.rounds):
        for name, more in words.items():
            folder = kit.path("rules." + ("declarative" if name == "declarative" else "python"))
            command = [kit.program("nvtxt-report"), "check", "--rule=Bench",
                       "--section-folder=" + folder, *more, store]
            if "1000 events" not in subprocess.run(command, capture_output=True, text=True).stdout:
                raise RuntimeError("the rule says nothing")
            found[name].append(kit.seconds(command, stdout=subprocess.DEVNULL))
    kit.compare("rules: check with one rule of one metric", "s", ("Python", found["python"]),
                ("declarative", found["declarative"]), "described and applied: two processes")
    kit.tell("rules: the same without bubblewrap", "s", ("Python", found["alone"]))


KERNELS_BYTES = 50_000_000


def kernels_of(kit):
    """A report file of results with 400 metrics each, some with instances, and five open ranges."""
    path = kit.path("kernels.ncu-rep")
    if os.path.exists(path):
        return path
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests",
                                    "report"))
    import ncurep as n
    values = [("uint64", 123456789012), ("double", 98.7654321), ("uint32", 32), ("float", 0.5)]
    metrics = [n.metric(i, values[i % 4], [(("uint64", 0x7F0000000000 + 16 * j), ("uint64", j))
                                           for j in range(20)] if i % 40 == 0 else ())
               for i in range(400)]
    state = n.state([n.domain(1, "Library", [(7, "registered")])],
                    [(1, [(0, [n.push("epoch"), n.push("step"), n.push("forward", category=3)]),
                          (1, [n.push(handle=7, payload=("uint64", 5))])])],
                    [(0, [n.start(1, "request", 1)])])
    result = n.result("saxpy_kernel", metrics=metrics, nvtx=state)
    count = KERNELS_BYTES // len(n.message(result))
    block = n.block([result] * 100)
    names = n.strings(*("group%d__metric_of_some_kind_%d.avg" % (i % 9, i) for i in range(400)))
    with open(path, "wb") as file:
        file.write(n.report())
        for _ in range(count // 100):
            file.write(block)
        file.write(n.block(header=[(4, names), (3, n.session(1, 2, [("Compute", "2024.1")]))]))
    return path


def kernels(kit):
    """nvtxt-report nvtx-state of a report file of 50 MB against reading it; its memory"""
    path = kernels_of(kit)
    size = os.path.getsize(path)
    state = [kit.program("nvtxt-report"), "nvtx-state"]
    found = {"cat": [], "decoded": [], "listed": []}
    peaks = []
    with open(os.devnull, "wb") as null:
        for _ in range(kit.rounds):
            found["cat"].append(kit.seconds(["cat", path], stdout=null))
            found["decoded"].append(kit.seconds([*state, "--nvtx-include", "nothing/", path],
                                                stdout=null, stderr=null))
            found["listed"].append(kit.seconds([*state, "--format", "json", path], stdout=null))
            peaks.append(kit.watched([*state, "--format", "json", path],
                                     stdout=null)[1] * 1024 / size)
    note = "{:.0f} MB in the page cache".format(size / 1e6)
    kit.compare("kernels: decode a report file, select nothing", "s",
                ("nvtx-state", found["decoded"]), ("cat", found["cat"]), note)
    kit.compare("kernels: print it as JSON", "s", ("nvtx-state", found["listed"]),
                ("cat", found["cat"]), note)
    kit.tell("kernels: peak memory", "times its size", ("nvtx-state", peaks), note=note + ", VmHWM")
