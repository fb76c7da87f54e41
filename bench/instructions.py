# SPDX-License-Identifier: Apache-2.0
"""Instructions an event and cache misses, counted by callgrind: figures that a busy machine does not
shake.

A figure is the difference of two runs, with N and with 2 N events, divided by N: what a program does
once at its start and end is in neither. bench/instructions.tsv has the figures of the last commit
that meant to change them, and what they are bound to: the compiler, its options, the libraries.
tests/e2e/test_instructions.py counts the exact ones again. The others depend a little on how threads
take turns.
"""
import contextlib
import ctypes
import glob
import os
import platform
import re
import shutil
import sqlite3
import subprocess
import sys

import library
import ship

EVENTS = 2000
TSV = os.path.join(os.path.dirname(os.path.abspath(__file__)), "instructions.tsv")
CACHE = ["--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64"]
MISSES = {"first": ("I1mr", "D1mr", "D1mw"), "last": ("ILmr", "DLmr", "DLmw")}

# ---- Lines --------------------------------------------------------------------------------------

START = 1790000000000000000
WHERE = "ProcessId = 77\nThreadId = 78\nTimeBase = Manual\n"
RANGE = "RangeStartEnd, %d, %d, Red, \"request handled, step %d\"\n"
KINDS = {
    "unique": ("@RangeStartEnd, Start, End, Color, Message\n",
               lambda at, i: RANGE % (at, at + 500, i)),
    "repeated": ("@RangeStartEnd, Start, End, Color, Message\n",
                 lambda at, i: RANGE % (at, at + 500, i % 20)),
    "pushpop": ("@RangePush, Time, Message\n@RangePop, Time\n",
                lambda at, i: "RangePush, %d, \"request handled, step %d\"\nRangePop, %d\n"
                % (at, i % 20, at + 500)),
    "markers": ("@Marker, Time, ThreadId, CategoryId, Color, Message, Payload\n",
                lambda at, i: "Marker, %d, %d, %d, %s, \"queue length\", %s\n"
                % (at, 78 + i % 3, i % 5, ("Red", "Green", "\"#80FF8000\"")[i % 3],
                   i if i % 4 else "'%d.25'" % i)),
    "short": ("@Marker, Time\n", lambda at, i: "Marker, %d\n" % at),
    "long": ("@Marker, Time, Message\n",
             lambda at, i: "Marker, %d, \"%s %d\"\n" % (at, "a line of a log " * 60, i % 20)),
}


def lines(kit, kind, events):
    path = kit.path("%s-%d.nvtxt" % (kind, events))
    if not os.path.exists(path):
        definitions, line = KINDS[kind]
        with open(path, "w", encoding="ascii") as file:
            file.write(definitions + WHERE)
            file.writelines(line(START + i * 1000, i) for i in range(events))
    return path


def store(kit, kind, events):
    path = kit.path("%s-%d.sqlite" % (kind, events))
    if not os.path.exists(path):
        kit.run("nvtxt-import", "create", "-q", "-n", lines(kit, kind, events), "-o", path)
    return path


# ---- Counts -------------------------------------------------------------------------------------

def callgrind(kit, *options):
    return ["valgrind", "-q", "--log-file=" + kit.path("valgrind.log"), "--tool=callgrind", *options,
            "--callgrind-out-file=" + kit.path("callgrind.%p")]


def counts_of(path):
    """The sums of a file of callgrind, by the names of its events."""
    with open(path, encoding="utf-8", errors="replace") as file:
        found = dict(re.findall("^(events|totals|summary): (.*)$", file.read(), re.M))
    os.unlink(path)
    return dict(zip(found["events"].split(), map(int, found["totals"].split()), strict=False))


def take_counts(kit, process):
    return counts_of(kit.path("callgrind.%d" % process.pid))


def count(kit, options, *command, status=0, **more):
    process = kit.spawn([*callgrind(kit, *options), kit.program(command[0]), *map(str, command[1:])],
                        stdout=subprocess.DEVNULL, **more)
    process.wait()
    kit.processes.remove(process)
    if process.returncode != status:
        raise RuntimeError("%s: status %d" % (" ".join(map(str, command)), process.returncode))
    return process


# ---- Workloads ----------------------------------------------------------------------------------
# Each is called with the number of events, and returns the counts of one run, or of several programs,
# with their names.

def check(kit, options, kind, events):
    return take_counts(kit, count(kit, options, "nvtxt-check", "-q", lines(kit, kind, events)))


def create(kit, options, kind, events):
    out = kit.path("created.sqlite")
    kit.remove_store(out)
    return take_counts(kit, count(kit, options, "nvtxt-import", "create", "-q", "-n",
                                  lines(kit, kind, events), "-o", out))


def export(kit, options, kind, events, form):
    out = kit.path("exported")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(out)
    return take_counts(kit, count(kit, options, "nvtxt-export", "-q", "--store",
                                  store(kit, kind, events), "--format", form, "-o", out))


def report(kit, options, kind, events, *words):
    if words[0] == "html":
        words += ("-o", kit.path("page.html"))
    return take_counts(kit, count(kit, options, "nvtxt-report", *words, store(kit, kind, events)))


def daemon(kit, options, kind, events):
    """The daemon, whose batches are as large as they may be, and nvtxt-send."""
    source = lines(kit, kind, events)
    conf = kit.path("slow.conf")
    with open(conf, "w", encoding="ascii") as file:
        file.write("[nvtxtd]\nCommitInterval=60s\n")
    with kit.daemon(options=["-c", conf], under=callgrind(kit, *options)) as running:
        sender = take_counts(kit, count(kit, options, "nvtxt-send", "--socket", running.socket, source))
    return {"daemon": take_counts(kit, running.process), "nvtxt-send": sender}


def pair(kit, options, kind, events):
    """The calls of a program alone: its thread, not the one that sends."""
    with kit.daemon() as running:
        process = count(kit, [*options, "--separate-threads=yes"], "calls", "flood", events,
                        env=library.environment(kit, running, NVTXT_RING="64M", NVTXT_WINDOW="256M"))
    found = counts_of(kit.path("callgrind.%d-01" % process.pid))
    for path in glob.glob(kit.path("callgrind.%d*" % process.pid)):
        os.unlink(path)
    return found


def shipped(kit, options, kind, events, server):
    with ship.Schemas(kit, server) as schema:
        return take_counts(kit, count(
            kit, options, "nvtxt-ship", "--once", "--store", store(kit, kind, events), "--store-id",
            ship.IDENTITY, "--target", server.target(), "--schema", schema))


STATS = ("stats", "--percentiles", "50,90,99")

# Those that the test counts: one thread, the same each time.
EXACT = {
    "check unique": (check, "unique"),
    "check markers": (check, "markers"),
    "create unique": (create, "unique"),
    "export csv": (export, "unique", "csv"),
    "stats repeated": (report, "repeated", *STATS),
    "html repeated": (report, "repeated", "html"),
}
OTHERS = {
    "check repeated": (check, "repeated"),
    "check pushpop": (check, "pushpop"),
    "check short": (check, "short"),
    "check long": (check, "long"),
    "create repeated": (create, "repeated"),
    "create pushpop": (create, "pushpop"),
    "create markers": (create, "markers"),
    **{"export " + form: (export, kind, form) for form, kind in (
        ("chrome", "unique"), ("jsonl", "unique"), ("nvtxt", "unique"), ("otlp", "unique"),
        ("nsys", "unique"), ("perfetto", "unique"), ("speedscope", "pushpop"),
        ("folded", "pushpop"))},
    "stats unique": (report, "unique", *STATS),
    "report pushpop": (report, "pushpop", "report"),
    "html unique": (report, "unique", "html"),
    "filter push/pop": (report, "pushpop", "stats", "--nvtx-include", "regex:step 1[0-9]$/"),
    "filter match": (report, "repeated", "stats", "--match", "step .*7$", "--min-duration", "100ns"),
    "send unique": (daemon, "unique"),
    "send pushpop": (daemon, "pushpop"),
    "libnvtxt, a pair": (pair, "pair"),
}


def an_event(kit, options, workload, *more):
    """The counts of an event, by the name of the program; one program has the name ""."""
    what, kind, *words = workload
    one, two = (what(kit, options, kind, events, *words, *more) for events in (EVENTS, 2 * EVENTS))
    if "Ir" in one:
        one, two = {"": one}, {"": two}
    return {name: {event: (two[name][event] - one[name][event]) / EVENTS for event in one[name]}
            for name in one}


# ---- What the figures are bound to --------------------------------------------------------------

def first_line(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")[0]


def bound_to(build):
    """What else may change a count: name and value."""
    with open(os.path.join(build, "Makefile"), encoding="utf-8") as file:
        made = dict(re.findall(r"^(\w+) =(.*)$", file.read(), re.M))
    defined = re.findall(r"-D\S+", made["CPPFLAGS"] + made["NVTXT_CPPFLAGS"])
    words = defined + (made["CFLAGS"] + made["NVTXT_CFLAGS"] + made["NVTXT_LDFLAGS"]).split()
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        avx2 = " avx2" in file.read()
    zlib = ctypes.CDLL("libz.so.1")
    zlib.zlibVersion.restype = ctypes.c_char_p
    return {
        "machine": platform.machine() + (" with AVX2" if avx2 else ""),
        "compiler": first_line(*made["CC"].split(), "--version"),
        "options": " ".join(word for word in words if not re.match("-(g|W|no-pie)", word)),
        "libc": platform.libc_ver()[1],
        "SQLite": sqlite3.sqlite_version,
        "zlib": zlib.zlibVersion().decode(),
        "valgrind": first_line("valgrind", "--version"),
    }


def recorded():
    """What the figures of the file are bound to, and the figures: instructions an event by name."""
    bound, figures = {}, {}
    with open(TSV, encoding="utf-8") as file:
        for line in file.read().splitlines():
            words = line.split("\t")
            if line.startswith("# ") and len(words) == 2:
                bound[words[0][2:]] = words[1]
            elif not line.startswith("#"):
                figures[words[0]] = float(words[1])
    return bound, figures


def write(build, rows):
    with open(TSV, "w", encoding="utf-8") as file:
        file.write("# SPDX-License-Identifier: Apache-2.0\n"
                   "# scripts/bench instructions wrote this. A commit that raises a figure says why.\n")
        file.writelines("# %s\t%s\n" % fact for fact in bound_to(build).items())
        file.write("# workload\tinstructions an event\tmisses of the first cache\tof the last\n")
        file.writelines("\t".join(row) + "\n" for row in rows)


# ---- The benchmark ------------------------------------------------------------------------------

def instructions(kit):
    """Instructions and cache misses of an event by callgrind; writes bench/instructions.tsv"""
    if not shutil.which("valgrind"):
        print("instructions: left out, valgrind is not installed", file=sys.stderr)
        return
    rows = []

    def tell(name, workload, *more):
        for program, found in an_event(kit, CACHE, workload, *more).items():
            misses = {cache: sum(found[event] for event in events)
                      for cache, events in MISSES.items()}
            what = (name + ", " if program else name) + program
            rows.append([what, "%.1f" % found["Ir"], *("%.2f" % misses[cache] for cache in MISSES)])
            kit.tell("instructions: " + what, "", ("an event", found["Ir"]),
                     ("misses of the first cache", misses["first"]), ("of the last", misses["last"]))

    for name, workload in {**EXACT, **({} if kit.quick else OTHERS)}.items():
        tell(name, workload)
    if not kit.quick:
        try:
            with ship.server_of(kit.top) as server:
                tell("ship unique", (shipped, "unique"), server)
        except RuntimeError as error:
            print("instructions: ship is left out: %s" % error, file=sys.stderr)
        write(kit.build, rows)
