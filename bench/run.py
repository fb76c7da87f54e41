# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmarks and prints a table of ratios; see scripts/bench. Never a verdict."""
import argparse
import datetime
import os
import platform
import signal
import sqlite3
import subprocess
import sys
import time

import end_to_end
import fleet
import follow
import footprint
import in_python
import instructions
import kit as shared
import latency
import library
import logs
import machines
import reports
import ship
import stores

BENCHMARKS = {function.__name__: function for function in (
    end_to_end.same, end_to_end.unique, end_to_end.pushpop, end_to_end.markers, end_to_end.parse,
    end_to_end.send, end_to_end.store, end_to_end.connections, latency.latency, footprint.memory,
    footprint.idle, library.pairs, library.rates, library.rest, library.share, in_python.python,
    stores.pinned, stores.queries, stores.dashboards, stores.export, stores.startup, reports.report,
    logs.logs, reports.beside, reports.scripts, reports.rules, reports.kernels,
    reports.page, reports.browse, follow.follow, ship.ship, ship.shipping, ship.lag,
    ship.resting, fleet.fleet, machines.citus, machines.citus_rounds,
    machines.citus_queries, instructions.instructions)}


def parse_arguments():
    listing = "\n".join("  %-13s %s" % (name, function.__doc__)
                        for name, function in BENCHMARKS.items())
    parser = argparse.ArgumentParser(
        prog="scripts/bench", description="Measures side by side and prints ratios.",
        epilog="benchmarks (default: all):\n" + listing,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--top", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="small sizes: does it work at all?")
    parser.add_argument("--record", action="store_true", help="rewrite doc/BENCHMARKS.md")
    parser.add_argument("--rounds", type=int, metavar="N", help="how often a pair takes turns")
    parser.add_argument("--big-events", type=int, metavar="N",
                        help="events of the big store (default 10,000,000)")
    parser.add_argument("--older", metavar="PROGRAM",
                        help="an older nvtxt-report, whose page is opened in turns with ours")
    parser.add_argument("names", nargs="*", metavar="NAME", help="what to run")
    arguments = parser.parse_args()
    for name in arguments.names:
        if name not in BENCHMARKS:
            parser.error("there is no benchmark '%s'" % name)
    return arguments


# ---- What it ran on -----------------------------------------------------------------------------

def first_of(path, key):
    with open(path, errors="replace") as file:
        for line in file:
            name, _, value = line.partition(":")
            if name.strip() == key:
                return value.strip()
    return "?"


def output_of(*command, default="?"):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return default


def machine(top, work):
    memory = int(first_of("/proc/meminfo", "MemTotal").split()[0]) / 2**20
    file_system = output_of("stat", "-f", "-c", "%T", work)
    return {
        "Date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "Version": output_of("git", "-C", top, "describe", "--always", "--dirty", "--tags"),
        "Command": "scripts/bench " + " ".join(sys.argv[5:]),
        "Processor": "%s, %d cores" % (first_of("/proc/cpuinfo", "model name"), os.cpu_count()),
        "Memory, disk": "%.0f GiB, %s" % (memory, file_system),
        "Kernel": "%s %s" % (platform.system(), platform.release()),
        "SQLite": sqlite3.sqlite_version,
        "libuv": output_of("pkg-config", "--modversion", "libuv"),
        "Load at start": "%.2f" % os.getloadavg()[0],
    }


# ---- The table ----------------------------------------------------------------------------------

def ratio_of(row, strong=""):
    ratio = row["ratio"]
    if ratio is None:
        return ""
    median, least, most = map(shared.figure, (ratio["median"], ratio["min"], ratio["max"]))
    return "%s%s%s (%s..%s)" % (strong, median, strong, least, most)


def cell(column):
    text = "%s %s" % (column["name"], shared.figure(column["median"]))
    if column["rounds"] > 1:
        text += " (%s..%s)" % (shared.figure(column["min"]), shared.figure(column["max"]))
    return text


def print_row(row):
    print("%-44s %-17s  %s%s%s" % (row["what"], ratio_of(row),
                                   " | ".join(map(cell, row["columns"])),
                                   " " + row["unit"] if row["unit"] else "",
                                   "; " + row["note"] if row["note"] else ""), flush=True)


def record(path, facts, rows, rounds):
    lines = ["# Benchmarks", "",
             "`scripts/bench --record` wrote this page: one run, on the machine below. Programs that are",
             "compared ran in turns, so their ratio is meaningful; a figure of one run cannot be compared",
             "with a figure of another. A figure is the median of its rounds (usually %d), with the" % rounds,
             "smallest and the largest of them; a ratio is the median of the ratios of the rounds. The",
             "plain loop is `bench/plain_loop.c`. Its clock starts when its rows are made and its store is",
             "open, and ends with the last commit; the clock of `nvtxt-send` runs from the start of the",
             "process to its end.", ""]
    lines += ["| | |", "|---|---|"] + ["| %s | %s |" % fact for fact in facts.items()]
    lines += ["", "| what | ratio | figures | |", "|---|---|---|---|"]
    for row in rows:
        lines.append("| %s | %s | %s%s | %s |" % (
            row["what"], ratio_of(row, "**"), "; ".join(map(cell, row["columns"])),
            " " + row["unit"] if row["unit"] else "", row["note"]))
    with open(path, encoding="utf-8") as file:
        after = file.read().partition("\n## ")  # what people wrote below the table stays
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines).replace("cat | socat", "cat, socat") + "\n" + "".join(after[1:]))


def main():
    arguments = parse_arguments()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    rows = []

    def report(row):
        rows.append(row)
        print_row(row)

    kit = shared.Kit(arguments.build, arguments.quick, arguments.rounds, arguments.big_events,
                     report, arguments.top, arguments.older)
    try:
        facts = machine(arguments.top, kit.work)
        for name, value in facts.items():
            print("%-14s %s" % (name, value))
        print("\n%-44s %-17s  %s" % ("what", "ratio", "median (min..max)"), flush=True)
        begun = time.monotonic()
        for name, function in BENCHMARKS.items():
            if not arguments.names or name in arguments.names:
                function(kit)
        facts["Took"] = "%.0f s" % (time.monotonic() - begun)
        print("\n%-14s %s" % ("Took", facts["Took"]))
        if arguments.record:
            record(os.path.join(arguments.top, "doc", "BENCHMARKS.md"), facts, rows, kit.rounds)
    finally:
        kit.close()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
    except RuntimeError as error:
        sys.exit("bench: %s" % error)
