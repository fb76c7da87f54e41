# SPDX-License-Identifier: Apache-2.0
"""nvtxt-send --repeat: runs that can be compared, with their figures at the end."""
import os
import re
import signal
import statistics
import subprocess

from client import ENV, Folder, Running, contains, patience, run_client
from lib import DEADLINE, Daemon, Skip, equal, program, run, wait_for

UNITS = {"s": 1e9, "ms": 1e6, "µs": 1e3}


def send(daemon, *args, **more):
    return run_client("nvtxt-send", "--socket", daemon.socket, *patience(daemon), *args, **more)


def runs(daemon, columns="text"):
    found = daemon.query("SELECT %s FROM NVTX_EVENTS WHERE eventType = 60 ORDER BY rowid" % columns)
    return [row[0] for row in found] if "," not in columns else found


def repeat(daemon, count, script, *options, name="work", **more):
    return send(daemon, "--repeat", str(count), *options, "--range", name, "--", "sh", "-c", script,
                **more)


def counter(folder):
    """A script that counts its runs in a file, and the function that reads it."""
    path = folder.write("runs", "")
    return "echo run >> %s; " % path, lambda: len(open(path, encoding="utf-8").readlines())


def figures(text):
    """mean, deviation, user, system, least, median, most, in ns, with what is lost by rounding."""
    found = re.findall(r"([\d.]+) (s|ms|µs)", text)
    equal(len(found), 7, text)
    equal(len({unit for _, unit in found}), 1, text)
    return [(float(number) * UNITS[unit], UNITS[unit] * (0.051 if "." in number else 0.51))
            for number, unit in found]


def test_one_run_has_no_deviation():
    with Daemon() as daemon:
        status, _, err = repeat(daemon, 1, "true")
        equal((status, "±" in err), (0, False), err)
        contains(err, "  mean                 ")


def test_each_run_is_a_range_and_the_figures_are_those_of_the_store():
    with Daemon() as daemon, Folder() as folder:
        script, count = counter(folder)
        status, out, err = repeat(daemon, 5, script + "echo out")
        equal((status, out, count()), (0, "out\n" * 5, 5))
        rows = runs(daemon, "text, int64Value, globalTid, start, end")
        equal({row[:3] for row in rows}, {("work", 0, rows[0][2])})
        equal(all(end <= start for (*_, end), (*_, start, _) in zip(rows, rows[1:])), True, rows)
        took = [end - start for *_, start, end in rows]
        lines = err.splitlines()
        equal((len(lines), lines[0]), (4, "nvtxt-send: work: 5 runs"))
        said = figures(err)
        wanted = (statistics.mean(took), statistics.stdev(took), None, None, min(took),
                  statistics.median(took), max(took))
        for (value, slack), one in zip(said, wanted):
            equal(one is None or abs(value - one) <= slack, True, (value, one, err))
        equal(daemon.query("SELECT events, errors, ended FROM NVTXT_SOURCES"), [(5, 0, "end")])


def test_the_hint_shows_the_runs_as_iterations():
    report = program("client", "nvtxt-report")
    if not os.path.exists(report):
        raise Skip("nvtxt-report is not built")
    with Daemon() as daemon:
        status, _, err = repeat(daemon, 3, ":", name="it's a@b")
        equal(status, 0, err)
        hint = err.splitlines()[-1]
        command = hint.removeprefix("nvtxt-send: each run: nvtxt-report ")
        done = subprocess.run("%s %s --csv %s" % (report, command, daemon.store), shell=True,
                              env=ENV, check=True, stdout=subprocess.PIPE, text=True,
                              timeout=DEADLINE)
        equal([line.split(",")[0] for line in done.stdout.splitlines()],
              ["Iteration", "0", "1", "2"], hint)


def test_runs_for_warm_up_are_not_recorded():
    with Daemon() as daemon, Folder() as folder:
        script, count = counter(folder)
        status, _, err = repeat(daemon, 2, script, "--warmup", "3")
        equal((status, count(), runs(daemon)), (0, 5, ["work"] * 2))
        contains(err, "work: 2 runs, after 3 for warm-up\n")


def test_a_run_that_fails_is_the_last_and_what_ran_is_kept():
    with Daemon() as daemon, Folder() as folder:
        script, count = counter(folder)
        fails = script + "test $(wc -l < %s) -lt 3 || exit 7" % folder.name("runs")
        status, _, err = repeat(daemon, 5, fails)
        equal((status, count(), runs(daemon, "text, int64Value")),
              (7, 3, [("work", 0), ("work", 0), ("work (failed)", 7)]))
        contains(err, "run 3 of 5 ended with status 7, and is left out; --ignore-failure goes on")
        contains(err, "work: 2 runs\n")


def test_failures_are_ignored_if_one_says_so():
    with Daemon() as daemon:
        status, _, err = repeat(daemon, 3, "kill -9 $$", "--ignore-failure", "--warmup=1")
        equal((status, runs(daemon, "text, int64Value")), (0, [("work", 137)] * 3))
        contains(err, "3 of 3 runs failed\n")


def test_a_warm_up_that_fails_ends_it_before_anything_is_recorded():
    with Daemon() as daemon, Folder() as folder:
        script, count = counter(folder)
        status, _, err = repeat(daemon, 3, script + "exit 4", "--warmup", "2")
        equal((status, count()), (4, 1))
        contains(err, "a run for warm-up ended with status 4")
        equal(daemon.query("SELECT count(*) FROM NVTXT_SOURCES"), [(0,)])


def test_a_command_that_is_not_there():
    with Daemon() as daemon:
        for options in ((), ("--warmup", "2")):
            status, _, err = send(daemon, "--repeat", "2", *options, "--range", "a", "--",
                                  "/nonexistent/program")
            equal((status, err), (127, "nvtxt-send: /nonexistent/program: No such file or directory\n"))


def test_a_command_that_goes_away_keeps_what_ran():
    with Daemon() as daemon, Folder() as folder:
        path = folder.write("own", "#!/bin/sh\nrm \"$0\"\n")
        os.chmod(path, 0o755)
        status, _, err = send(daemon, "--repeat", "3", "--range", "own", "--", path)
        equal((status, runs(daemon)), (127, ["own"]))
        contains(err, "own: 1 run\n")
        contains(err, ": No such file or directory\n")


def stopped_by(number, options, wanted):
    """A signal in the second run: the command gets it, and the first run is kept."""
    with Daemon() as daemon, Folder() as folder:
        script, count = counter(folder)
        script += "test $(wc -l < %s) -lt 2 || exec sleep %d" % (folder.name("runs"), DEADLINE)
        with Running("nvtxt-send", "--socket", daemon.socket, "--repeat", "9", *options, "--range",
                     "work", "--", "sh", "-c", script) as sender:
            wait_for(lambda: count() == 2, "the second run")
            sender.signal(number)
            sender.expect(-number)
            contains(sender.stderr(), "stopped after 1 of 9 runs\n")
            contains(sender.stderr(), "work: 1 run\n")
        equal((count(), runs(daemon)), (2, wanted))


def test_a_signal_ends_it_and_what_ran_is_kept():
    stopped_by(signal.SIGINT, (), ["work", "work (stopped)"])
    stopped_by(signal.SIGTERM, ("--ignore-failure",), ["work", "work (stopped)"])


def test_each_run_reads_the_same_file_and_no_pipe():
    with Daemon() as daemon, Folder() as folder:
        path = folder.write("in", "one\ntwo\n")
        with open(path, "rb", buffering=0) as file:
            file.seek(4)
            done = subprocess.run([program("client", "nvtxt-send"), "--socket", daemon.socket, "-q",
                                   "--repeat", "3", "--warmup", "1", "--range", "cat", "--", "cat"],
                                  stdin=file, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  env=ENV, timeout=DEADLINE)
        equal((done.returncode, done.stdout, done.stderr), (0, b"two\n" * 4, b""))
        equal(repeat(daemon, 2, "cat", "--quiet", stdin="a pipe"), (0, "", ""))


def test_without_a_daemon_all_runs_run_and_a_spool_keeps_them():
    with Folder() as folder, Daemon() as daemon:
        script, count = counter(folder)
        absent = folder.name("no-daemon")
        status, _, err = run_client("nvtxt-send", "--socket", absent, "--repeat", "3", "--range", "a",
                                    "--", "sh", "-c", script)
        equal((status, count(), "each run:" in err), (0, 3, False), err)
        contains(err, "runs on without being recorded")
        status, _, err = run_client("nvtxt-send", "--socket", absent, "--spool", folder.name("spool"),
                                    "--repeat", "3", "--range", "a", "--", "sh", "-c", script)
        equal((status, count()), (0, 6), err)
        equal(send(daemon, "--resume", folder.name("spool"))[0], 0)
        equal(runs(daemon), ["a"] * 3)


def test_what_does_not_go_together():
    with Daemon() as daemon:
        for words, sentence in (
                (("--repeat=2", "--", "true"), "--repeat belongs to --range"),
                (("--warmup=2", "--range=a", "--", "true"), "belong to --repeat"),
                (("--ignore-failure", "--range=a", "--", "true"), "belong to --repeat"),
                (("--repeat=2", "--range=a"), "are followed by '--' and a command"),
                (("--repeat=0", "--range=a", "--", "true"), "1 to 100000, not '0'"),
                (("--repeat=100001", "--range=a", "--", "true"), "1 to 100000, not '100001'"),
                (("--repeat=-1", "--range=a", "--", "true"), "1 to 100000, not '-1'"),
                (("--repeat=two", "--range=a", "--", "true"), "1 to 100000, not 'two'"),
                (("--repeat=2", "--warmup=x", "--range=a", "--", "true"), "not 'x'")):
            status, _, err = send(daemon, *words)
            equal(status, 64, words)
            contains(err, sentence)


if __name__ == "__main__":
    run(globals())
