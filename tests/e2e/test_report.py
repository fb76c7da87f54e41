# SPDX-License-Identifier: Apache-2.0
"""nvtxt-report from outside: its command line, its output and its exit statuses."""
import hashlib
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess

from client import ENV, Folder, Running, contains, run_client, run_in_terminal, small_files
from lib import DEADLINE, TOP_BUILD, Daemon, Skip, equal, program, run, wait_for
from report import f1, make_store, query, report

STEP, COMPUTE, LOAD, KERNEL = "step", "compute", "load", "kernel"


def test_the_fixture_has_its_fifteen_events():
    with Folder() as folder:
        equal(query(f1(folder), "SELECT eventType, start, end, globalTid >> 24, "
                                "globalTid & 0xFFFFFF, endGlobalTid & 0xFFFFFF, text "
                                "FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60) "
                                "ORDER BY globalTid, start, end DESC"),
              [(59, 0, 100, 100, 1, None, STEP),
               (60, 5, 105, 100, 1, 2, "request"),
               (59, 10, 30, 100, 1, None, LOAD),
               (59, 30, 90, 100, 1, None, COMPUTE),
               (59, 40, 60, 100, 1, None, KERNEL),
               (59, 60, 80, 100, 1, None, KERNEL),
               (59, 120, 260, 100, 1, None, STEP),
               (59, 130, 140, 100, 1, None, LOAD),
               (59, 140, 250, 100, 1, None, COMPUTE),
               (59, 150, 200, 100, 1, None, KERNEL),
               (59, 0, 50, 100, 2, None, "wait"),
               (34, 20, 20, 100, 2, None, "tick"),
               (60, 50, 70, 100, 2, None, "request"),
               (34, 60, 60, 100, 2, None, "tick"),
               (34, 120, 120, 100, 2, None, "tick")])



def refuses(status, part, *args, **more):
    got = report(*args, **more)
    equal(got[:2], (status, ""), got[2])
    contains(got[2], part)
    return got[2]


def columns(line):
    return max(len(row) for row in line.splitlines())


def commands():
    table = report("--help")[1].split("Commands", 1)[1].split("\n\n")[0]
    return re.findall(r"^  ([a-z-]+) ", table, re.M)


def state(folder):
    """Names, sizes and bytes of all files of a folder."""
    found = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            found[name] = hashlib.sha256(file.read()).hexdigest()
    return found


# ---- The command line ---------------------------------------------------------------------------

def test_the_help_fits_a_screen_and_names_every_command():
    status, said, err = report("--help")
    equal((status, err), (0, ""))
    equal((columns(said) <= 80, said.count("\n") <= 24), (True, True), said)
    equal(set(commands()), {"report", "summary", "stats", "events", "logs", "metrics", "source", "diff",
                            "html", "check", "list", "nvtx-state", "serve"})
    for topic in ("nvtxt-filter(7)", "nvtxt-section(5)", "nvtxt-rule(5)", "nvtxt-metrics(7)"):
        contains(said, topic)
    for command in commands():
        for args in ((command, "--help"), ("--csv", command, "--help")):
            status, said, err = report(*args)
            equal((status, err, columns(said) <= 80), (0, "", True), said)
            contains(said, "Usage: nvtxt-report %s " % command)
    contains(report("--version")[1], "nvtxt-report (nvtxtd) ")


def test_the_first_word_is_a_command_or_a_store():
    with Folder() as folder:
        store = f1(folder)
        wanted = report("report", store)
        equal(wanted[0], 0, wanted[2])
        equal(report(store), wanted)
        shutil.copy(store, folder.name("stats"))
        contains(report("stats", "./stats", cwd=folder.path)[1], "step")
        contains(report("./stats", "--format", "json", cwd=folder.path)[1], '"command":"report"')
        contains(report("--", "stats", "./stats", cwd=folder.path)[1], "nvtx_sum")


def test_options_stand_anywhere():
    with Folder() as folder:
        store = f1(folder)
        wanted = report("stats", "--csv", "-r", "nvtx_sum", store)
        equal(wanted[0], 0)
        for args in (("--csv", "stats", store), ("stats", store, "--csv"),
                     ("--format=csv", "-r", "nvtx_sum", "stats", store),
                     ("stats", "--format", "csv", store, "-rnvtx_sum"),
                     ("stats", "--csv", "--format", "csv", "--", store)):
            equal(report(*args), wanted, args)


def test_a_store_may_be_named_by_an_option():
    with Folder() as folder:
        store = f1(folder)
        wanted = report("stats", "--csv", store)
        for args in (("stats", "--csv", "--store", store), ("--store=" + store, "stats", "--csv"),
                     ("--csv", "stats", "--store", store)):
            equal(report(*args, env={"NVTXT_STORE": folder.name("gone")}), wanted, args)
        equal(report("diff", "--store", store, store), report("diff", store, store))
        refuses(66, "gone does not exist", "--store", folder.name("gone"))
        refuses(64, "list does not take the option --store", "list", "sections", "--store", store)


def test_the_default_store_is_the_one_that_ctl_names():
    with Folder() as folder:
        store = f1(folder)
        env = {"NVTXT_STORE": store, "XDG_RUNTIME_DIR": folder.path, "HOME": folder.path,
               "NVTXT_SOCKET": folder.name("none")}
        equal(report("stats", "--csv", env=env), report("stats", "--csv", store))
        status, shown = run_in_terminal("nvtxt-report", "stats", "--csv", env=env)
        equal(status, 0)
        contains(shown, "nvtxt-report: the store is %s\r\n" % store)
        nothing = {**env, "NVTXT_STORE": folder.name("gone"), "XDG_STATE_HOME": folder.path}
        if not os.path.exists("/var/lib/nvtxtd/nvtxt.sqlite"):
            refuses(66, "no store can be read at", "stats", env=nothing)


def test_command_lines_that_are_wrong():
    with Folder() as folder:
        store = f1(folder)
        refuses(64, "unrecognized option '--sektion'", "--sektion", "x", store)
        contains(refuses(64, "Try 'nvtxt-report --help'", "--sektion", "x"),
                 "nvtxt-report: did you mean '--section'?")
        refuses(64, "--format takes text, csv, tsv, json, jsonl, markdown, junit, github or html, not 'jsn'; did you mean "
                "'json'?", "--format", "jsn", store)
        refuses(64, "--timeunit takes nsec, usec, msec or sec, not 'weeks'", "stats", "--timeunit",
                "weeks", store)
        refuses(64, "stats does not take the option --gate; it is for diff", "stats", "--gate", "2",
                store)
        refuses(64, "events does not take the option --percentiles; it is for stats", "events",
                "--percentiles", "50", store)
        refuses(64, "list does not take the option --pid", "list", "metrics", "--pid", "1")
        refuses(64, "--csv and --format json contradict", "stats", "--csv", "--format", "json", store)
        refuses(64, "diff needs BASE NEW", "diff", store)
        refuses(64, "'c' is too much", "diff", "a", "b", "c")
        refuses(64, "list needs", "list")
        refuses(64, "--percentiles takes", "stats", "--percentiles", "50,x", store)
        for wrong in ("0", "100.1", "-1", "50,", "nan", "0x10", "1e1", ""):
            refuses(64, "--percentiles takes", "stats", "--percentiles=" + wrong, store)
        refuses(64, "requires an argument", "stats", "--pid")
        refuses(64, "--max-memory takes bytes", "stats", "--max-memory", "much", store)
        for wrong in ("0", "257", "-1", "two", ""):
            refuses(64, "--threads takes a number from 1 to 256", "stats", "--threads", wrong, store)
        for good in ("1", "2", "256"):
            equal(report("stats", "--threads", good, store), report("stats", store))
        refuses(64, "list does not take the option --threads", "list", "sections", "--threads", "1")
        refuses(64, "there is no report 'nvtx_summ'; did you mean 'nvtx_sum'?", "stats", "-r",
                "nvtx_summ", store)
        refuses(64, "", "stats", "-r", "", store)
        err = refuses(66, "stast", "stast", store)
        contains(err, "did you mean the command 'stats'?")


def test_each_command_has_its_formats():
    formats = ("text", "csv", "tsv", "json", "jsonl", "markdown", "junit", "github")
    tables = {"text", "csv", "tsv", "json", "markdown"}
    wanted = {name: {"text", "json", "markdown"} for name in commands() if name != "serve"}
    wanted.update(stats=tables, logs=tables, metrics=tables, source=tables,
                  events={"text", "csv", "tsv", "json", "jsonl"})
    wanted["diff"] = wanted["check"] = {"text", "json", "markdown", "junit", "github"}
    with Folder() as folder:
        store = f1(folder)
        kernels = folder.write("a.ncu-rep", b"NVR\0\2\0\0\0\x08\7")
        for name in wanted:
            if name == "html":
                refuses(64, "html does not take the option --format; it is for ", "html",
                        "--format", "json", store)
                continue
            words = {"diff": (store, store), "list": ("reports",),
                     "nvtx-state": (kernels,)}.get(name, (store,))
            for form in formats:
                got = report(name, "--format", form, *words)
                if form in wanted[name]:
                    equal(got[0] < 4, True, (name, form, got))
                    equal(bool(got[1]), True, (name, form))
                else:
                    equal((got[0], got[1]), (64, ""), (name, form))
                    contains(got[2], "%s has no format %s; it is for " % (name, form))


def test_a_wrong_filter_is_shown_with_its_place():
    with Folder() as folder:
        store = f1(folder)
        equal(refuses(64, "", "stats", "--nvtx-include", "A/,B", store),
              "nvtxt-report: --nvtx-include 'A/,B': ',' in a push/pop expression; write '\\,' if it "
              "belongs to the name\n  A/,B\n    ^\n")
        refuses(64, "", "stats", "--nvtx-domain-include", "a", "--nvtx-domain-exclude", "b", store)


def test_nothing_selected_is_said_and_may_be_a_fault():
    with Folder() as folder:
        store = f1(folder)
        status, _, err = report("stats", "--nvtx-include", "step", store)
        equal(status, 0)
        contains(err, "nvtxt-report: note: --nvtx-include 'step' selects nothing: no start/end range "
                 "'step' in the default domain, but 2 push/pop ranges of that name: did you mean "
                 "'step/'?")
        equal(report("stats", "--nvtx-include", "step", "--expect-some", store)[0], 1)
        equal(report("stats", "--nvtx-include", "step/", "--expect-some", store)[0], 0)


# ---- Stores -------------------------------------------------------------------------------------

def test_iterations_that_are_not_there_are_said():
    with Folder() as folder:
        store = f1(folder)
        for words, wanted in (([], "no iterations declared"), (["--iterations", "zz"], "there is no iteration")):
            status, out, err = report("--scope", "iteration", *words, store)
            equal((status, out), (0, ""))
            contains(err, "note: --scope iteration shows nothing: " + wanted)
        equal(report("--scope", "iteration", "--iterations", "step", store)[2], "")


def test_stores_that_are_none():
    with Folder() as folder:
        good = f1(folder)

        def sentence(path, status, part=""):
            before = sorted(os.listdir(folder.path))
            err = refuses(status, part, "stats", path)
            contains(err, path)
            equal(err.startswith("nvtxt-report: "), True, err)
            equal(sorted(os.listdir(folder.path)), before, "nothing is created beside it")
            refuses(status, part, "diff", good, path)
        sentence(folder.name("none"), 66)
        sentence(folder.path, 66)
        sentence("/dev/null", 66)
        sentence(folder.write("text", "hello" * 100), 65)
        sentence(folder.write("empty", ""), 65)
        os.symlink("nowhere", folder.name("link"))
        sentence(folder.name("link"), 66)
        other = folder.name("other.sqlite")
        with sqlite3.connect(other) as store:
            store.execute("CREATE TABLE t (x)")
        sentence(other, 65)
        with open(good, "rb") as file:
            data = file.read()
        sentence(folder.write("cut", data[:len(data) // 2]), 65)
        newer = bytearray(data)
        newer[60:64] = (99).to_bytes(4, "big")
        sentence(folder.write("newer", bytes(newer)), 65, "newer version")
        os.mkfifo(folder.name("pipe"))
        sentence(folder.name("pipe"), 66)
        bound = socket.socket(socket.AF_UNIX)
        bound.bind(folder.name("socket"))
        sentence(folder.name("socket"), 66)
        bound.close()


def test_standard_input_is_no_store():
    with Folder() as folder:
        equal(report("stats", "-", stdin="x", cwd=folder.path)[0], 66)


def test_a_locked_store_is_said():
    with Folder() as folder:
        store = f1(folder)
        lock = sqlite3.connect(store, isolation_level=None)
        lock.execute("BEGIN EXCLUSIVE")
        refuses(75, store, "stats", store)
        lock.close()


def test_too_little_memory_is_said():
    with Folder() as folder:
        refuses(71, "", "stats", "--max-memory", "64", f1(folder))


def test_a_read_only_folder_is_enough():
    with Folder() as folder, Daemon() as daemon:
        daemon.send("@Marker, Time, Message\nMarker, 1, one\n@RangePush, Time, Message\n"
                    "@RangePop, Time\nRangePush, 1, two\nRangePop, 2\n")
        daemon.stop()
        with open(os.path.realpath(daemon.store), "rb") as file:
            alone = folder.write("alone", file.read())
        os.chmod(alone, 0o444)
        os.chmod(folder.path, 0o555)
        before = state(folder.path)
        try:
            for command in commands():
                if command not in ("list", "nvtx-state"):
                    words = [alone] * (2 if command == "diff" else 1)
                    equal(report(command, *words)[0] in (0, 2, 3), True, command)
            contains(report("stats", "--csv", alone)[1], ":two")
        finally:
            os.chmod(folder.path, 0o755)
        equal(state(folder.path), before, "nothing is changed, nothing left behind")


def test_a_log_without_its_index_is_read():
    """What a copy of a store and its -wal is: nothing is made beside it, nobody has to write."""
    with Folder() as folder, Daemon() as daemon:
        daemon.send("@Marker, Time, Message\nMarker, 1, one\n")
        wait_for(lambda: daemon.query("SELECT 1 FROM NVTX_EVENTS WHERE eventType = 34"), "event")
        for ending in ("", "-wal"):
            shutil.copy(os.path.realpath(daemon.store) + ending, folder.name("s" + ending))
            os.chmod(folder.name("s" + ending), 0o444)
        equal(os.path.getsize(folder.name("s-wal")) > 0, True)
        shutil.copy(os.path.join(TOP_BUILD, "client", "nvtxt-report"), folder.name("program"))
        os.chmod(folder.path, 0o555)
        before = state(folder.path)
        users = (None, 65534) if os.getuid() == 0 else (None,)
        try:
            for user in users:
                done = subprocess.run([folder.name("program"), "events", "--csv",
                                       folder.name("s")], capture_output=True, user=user,
                                      env=dict(ENV, HOME="/nonexistent"))
                equal((done.returncode, done.stderr), (0, b""))
                contains(done.stdout, b":one")
                equal(state(folder.path), before, "nothing is changed, nothing left behind")
        finally:
            os.chmod(folder.path, 0o755)


def test_another_user_needs_no_more_than_to_read():
    if os.getuid() != 0:
        raise Skip("only root can be somebody else")
    with Folder() as folder:
        store = f1(folder)
        shutil.copy(os.path.join(TOP_BUILD, "client", "nvtxt-report"), folder.name("program"))
        os.chmod(store, 0o644)
        os.chmod(folder.path, 0o755)
        before = state(folder.path)

        def ask(*args):
            done = subprocess.run([folder.name("program"), *args], env=ENV, user=65534, group=65534,
                                  extra_groups=[], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  timeout=DEADLINE)
            return done.returncode, done.stdout.decode(), done.stderr.decode()
        equal(ask("stats", "--csv", store), report("stats", "--csv", store))
        equal(state(folder.path), before)
        equal(ask("stats", "--csv", "-o", folder.name("out"), store)[0], 73)
        os.chmod(store, 0o600)
        status, said, err = ask("stats", store)
        equal((status, said), (66, ""), err)
        contains(err, store)


def test_a_store_in_use_is_read_and_left_as_it_is():
    with Daemon() as daemon:
        daemon.send("@RangePush, Time, Message\n@RangePop, Time\nRangePush, 1, two\nRangePop, 2\n")
        for command in ("stats", "events", "summary"):
            status, said, err = report(command, "--format", "json", daemon.store)
            equal(status, 0, err)
            contains(said, '"two"' if command == "events" else "")
        equal(daemon.query("SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 59"), [(1,)])


# ---- The output ---------------------------------------------------------------------------------

def test_the_output_appears_whole_or_not_at_all():
    with Folder() as folder:
        store = f1(folder)
        out = folder.write("out", "old")
        os.chmod(out, 0o600)
        before = state(folder.path)
        refuses(66, "", "stats", folder.name("none"), "-o", out)
        refuses(64, "", "stats", "-r", "none", store, "-o", out)
        done = subprocess.run([program("client", "nvtxt-report"), "stats", store, "-o", out], env=ENV,
                              stderr=subprocess.PIPE, preexec_fn=small_files, timeout=DEADLINE)
        equal(done.returncode, 74, done.stderr)
        equal(state(folder.path), before)
        wanted = report("stats", "--csv", store)
        equal(report("stats", "--csv", store, "-o", out), (0, "", ""))
        equal((open(out).read(), os.stat(out).st_mode & 0o777), (wanted[1], 0o600))
        os.symlink("out", folder.name("link"))
        equal(report("events", "--csv", store, "--output", folder.name("link"))[0], 0)
        equal((os.path.islink(folder.name("link")), open(out).read(5)), (True, "Start"))
        equal(report("stats", "--csv", "-o", "-", store, cwd=folder.path), wanted)
        equal(sorted(os.listdir(folder.path)), ["f1.sqlite", "link", "out"])


def test_a_store_is_never_the_output():
    with Folder() as folder:
        store = f1(folder)
        other = f1(folder, "other.sqlite")
        log = folder.write("f1.sqlite-wal", "")
        os.symlink("f1.sqlite", folder.name("link"))
        os.link(store, folder.name("second name"))
        before = state(folder.path)
        for path in (store, log, folder.name("link"), folder.name("second name")):
            refuses(64, "belongs to the store itself", "stats", store, "-o", path)
        refuses(64, "belongs to the store itself", "diff", other, store, "-o", store)
        refuses(73, "it is not replaced", "stats", store, "-o", other)
        refuses(73, "it is not replaced", "list", "reports", "-o", other)
        equal(state(folder.path), before)


def test_an_output_that_cannot_be_made_is_said():
    with Folder() as folder:
        store = f1(folder)
        refuses(73, "Is a directory", "stats", store, "-o", folder.path)
        refuses(73, "No such file", "stats", store, "-o", folder.name("no/where"))
        refuses(64, "cannot be a file's name", "stats", store, "-o", "")
        refuses(74, "cannot write to /dev/full: No space left", "stats", store, "-o", "/dev/full")
        with open("/dev/full", "wb") as full:
            done = subprocess.run([program("client", "nvtxt-report"), "stats", store], stdout=full,
                                  stderr=subprocess.PIPE, env=ENV)
        equal((done.returncode, done.stderr),
              (74, b"nvtxt-report: cannot write to stdout: No space left on device\n"))
        done = subprocess.run([program("client", "nvtxt-report"), "stats", store], env=ENV,
                              stdout=None, stderr=subprocess.PIPE, close_fds=True,
                              preexec_fn=lambda: os.close(1))
        equal(done.returncode, 0, "a closed stdout is /dev/null")


def many(folder, events):
    return make_store(folder, "many.sqlite", folder.write("many.nvtxt", "".join(
        ["@Marker, Time, Message\n"] +
        ['Marker, %d, "message %d"\n' % (i, i) for i in range(events)])))


def test_a_reader_that_goes_away_is_no_fault():
    with Folder() as folder:
        store = many(folder, 20000)
        for args in (("events", "--csv"), ("events", "--format", "json"),
                     ("stats", "-r", "nvtx_mark_sum")):
            with Running("nvtxt-report", *args, store) as running:
                running.process.stdout.read(100)
                running.process.stdout.close()
                equal(running.expect(0), "")


def interrupted(process):
    """Whether it has ended. A signal that comes just before a write begins to wait is not seen by
    that write; people press Ctrl-C again, and so does this."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    return process.poll() is not None


def test_a_signal_leaves_nothing_behind():
    with Folder() as folder:
        store = many(folder, 20000)
        with Running("nvtxt-report", "events", "--csv", store) as running:
            running.process.stdout.read(100)  # it waits for us then, or will soon
            running.signal(signal.SIGINT)
            wait_for(lambda: interrupted(running.process), "it ends")
            equal(running.expect(130), "")
        before = os.listdir(folder.path)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            with Running("nvtxt-report", "events", "--format", "json", store, "-o",
                         folder.name("out")) as running:
                wait_for(lambda process=running.process: os.listdir(folder.path) != before or
                         process.poll() is not None, "the output is begun")
                running.signal(number)
                equal(running.wait() in (128 + number, 0), True)
            equal(sorted(set(os.listdir(folder.path)) - {"out"}), sorted(before))
            if os.path.exists(folder.name("out")):
                os.unlink(folder.name("out"))


if __name__ == "__main__":
    run(globals())
