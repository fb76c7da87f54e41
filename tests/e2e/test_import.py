# SPDX-License-Identifier: Apache-2.0
"""nvtxt-import: files into a store without a daemon."""
import os
import signal
import sqlite3
import subprocess

from client import Folder, Running, contains, run_client
from lib import Daemon, equal, program, run, wait_for

MARKER = 'Marker, %d, Manual, 7, 8, 1, Blue, "%s", 5\n'
SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "samples")


def load(*args, **more):
    return run_client("nvtxt-import", *args, **more)


def query(path, sql):
    store = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    try:
        return store.execute(sql).fetchall()
    finally:
        store.close()


def marks(path):
    return query(path, "SELECT start, text FROM NVTX_EVENTS WHERE eventType = 34 ORDER BY rowid")


def test_the_official_example_gives_its_one_row():
    with Folder() as folder:
        out = folder.name("out.sqlite")
        sample = os.path.join(SAMPLES, "official-example.nvtxt")
        status, said, err = load("create", "-n", sample, "-o", out)
        equal((status, said), (0, ""))
        contains(err, "%s:7:1: warning: " % sample)
        equal(query(out, "SELECT eventType, text, globalTid / 0x1000000 % 0x1000000, "
                         "globalTid % 0x1000000, category, color, start, end FROM NVTX_EVENTS"),
              [(60, "My Message", 1844, 4880, 1, 0xFF0000FF, 8236719005, 8236928073)])
        equal(load("info", "-i", out),
              (0, "Analysis start (ns)\t8236719005\nAnalysis end (ns)\t8236928073\n", ""))


def test_files_are_sources_of_their_own_in_order():
    with Folder() as folder:
        folder.write("a", "x = 1\n" + MARKER % (1, "a"))
        folder.write("b", 'Marker, $x, Manual, 7, 8, 1, Blue, "no", 5\n' + MARKER % (2, "b"))
        folder.write("c", MARKER % (3, "c"))
        status, _, err = load("create", "-n", "a", "b", "-o", "out", "--nvtxt", "./c", "-n", "-",
                              cwd=folder.path, stdin=MARKER % (4, "d"))
        equal(status, 1)
        contains(err, "b:1:9: error: ")
        contains(err, "b: 1 error in 2 lines, 1 event\n")
        out = folder.name("out")
        equal(marks(out), [(1, "a"), (2, "b"), (3, "c"), (4, "d")])
        equal(query(out, "SELECT kind, name, lines, events, errors, ended FROM NVTXT_SOURCES"),
              [("file", "a", 2, 1, 0, "end"), ("file", "b", 2, 1, 1, "end"),
               ("file", "./c", 1, 1, 0, "end"), ("file", "<stdin>", 1, 1, 0, "end")])
        equal(query(out, "SELECT sourceId, line, \"column\", code FROM NVTXT_DIAGNOSTICS"),
              [(2, 1, 9, "undefined-variable")])


def test_the_result_is_one_plain_file():
    with Folder() as folder:
        folder.write("a", MARKER % (1, "a"))
        equal(load("create", "-n", "a", "-o", "out", cwd=folder.path), (0, "", ""))
        equal(sorted(os.listdir(folder.path)), ["a", "out"])
        equal(query(folder.name("out"), "PRAGMA journal_mode"), [("delete",)])
        equal(query(folder.name("out"), "PRAGMA integrity_check"), [("ok",)])
        equal(os.stat(folder.name("out")).st_mode & 0o111, 0)


def test_a_missing_file_does_not_keep_the_others_from_being_loaded():
    with Folder() as folder:
        good = folder.write("good", MARKER % (1, "a"))
        out = folder.name("out")
        status, _, err = load("create", "-n", folder.name("none"), good, "-o", out)
        equal(status, 1)
        contains(err, "nvtxt-import: %s: No such file or directory\n" % folder.name("none"))
        equal(marks(out), [(1, "a")])


def test_nothing_is_made_of_nothing():
    with Folder() as folder:
        equal(load("create", "-n", "none", "-o", "out", cwd=folder.path)[0], 66)
        equal(os.listdir(folder.path), [])
        folder.write("empty", "")
        equal(load("create", "-n", "empty", "-o", "out", cwd=folder.path), (0, "", ""))
        equal(load("info", "-i", folder.name("out"))[1],
              "Analysis start (ns)\t0\nAnalysis end (ns)\t0\n")


def test_a_store_is_replaced_on_demand_only():
    with Folder() as folder:
        folder.write("a", MARKER % (1, "a"))
        folder.write("b", MARKER % (2, "b"))
        equal(load("create", "-n", "a", "-o", "out", cwd=folder.path), (0, "", ""))
        status, _, err = load("create", "-n", "b", "-o", "out", cwd=folder.path)
        equal(status, 73)
        contains(err, "out exists")
        equal(marks(folder.name("out")), [(1, "a")])
        equal(load("create", "--force", "-n", "b", "-o", "out", cwd=folder.path), (0, "", ""))
        equal(marks(folder.name("out")), [(2, "b")])
        status, _, err = load("create", "--force", "-n", "b", "-o", "a", cwd=folder.path)
        equal(status, 73)
        contains(err, "a is no store")
        with sqlite3.connect(folder.name("theirs")) as theirs:
            theirs.execute("CREATE TABLE photos (name TEXT)")
        theirs.close()
        before = open(folder.name("theirs"), "rb").read()
        status, _, err = load("create", "--force", "-n", "b", "-o", "theirs", cwd=folder.path)
        equal(status, 73)
        contains(err, "theirs is another program's database")
        equal(open(folder.name("theirs"), "rb").read(), before)
        equal(sorted(os.listdir(folder.path)), ["a", "b", "out", "theirs"])


def test_a_store_in_use_is_not_replaced():
    with Daemon() as daemon, Folder() as folder:
        path = folder.write("a", MARKER % (1, "a"))
        store = os.path.realpath(daemon.store)
        for name in {daemon.store, store}:
            status, _, err = load("create", "--force", "-n", path, "-o", name)
            equal(status, 73, err)
        daemon.flush()


def test_a_place_that_cannot_be_written_is_named():
    with Folder() as folder:
        path = folder.write("a", MARKER % (1, "a"))
        status, _, err = load("create", "-n", path, "-o", folder.name("none/out"))
        equal(status, 73)
        contains(err, folder.name("none"))
        equal(len(err.splitlines()), 1)
        equal(load("create", "-n", path, "-o", folder.path)[0], 73)


def test_mappings_move_the_times():
    with Folder() as folder:
        folder.write("a", MARKER % (10, "a") + MARKER % (20, "b") + MARKER % (30, "c"))
        out = folder.name("out")

        def mapped(*args):
            equal(load("create", "--force", "-n", folder.name("a"), "-o", out, *args), (0, "", ""))
            return [row[0] for row in marks(out)]

        equal(mapped("--mode", "lerp", "--ns-a", "100", "--ns-b", "200"), [100, 150, 200])
        equal(mapped("--mode", "lerp", "--ns-a", "100", "--ns-b", "200", "--nvtxt-a", "0",
                     "--nvtxt-b", "40"), [125, 150, 175])
        equal(mapped("--mode", "lerp", "--ns-a", "100", "--ns-b", "200", "--nvtxt-b", "40"),
              [100, 133, 166])
        equal(mapped("--mode", "lin", "--ns-a", "5", "--freq", "1000000000"), [5, 15, 25])
        equal(mapped("--mode", "lin", "--ns-a", "5", "--freq", "0x3B9ACA00", "--nvtxt-a", "-5"),
              [20, 30, 40])


def test_a_mapping_reads_stdin_twice():
    with Folder() as folder:
        text = "".join(MARKER % (i, "m") for i in range(10, 20011))
        equal(load("create", "-n", "-", "-o", folder.name("out"), "--mode", "lerp", "--ns-a", "0",
                   "--ns-b", "40000", stdin=text), (0, "", ""))
        rows = marks(folder.name("out"))
        equal((rows[0][0], rows[1][0], rows[-1][0], len(rows)), (0, 2, 40000, 20001))


def test_each_file_has_its_own_smallest_time():
    with Folder() as folder:
        folder.write("a", MARKER % (1000, "a") + MARKER % (1010, "b"))
        folder.write("b", MARKER % (5000, "c") + MARKER % (5020, "d"))
        equal(load("create", "-n", "a", "b", "-o", "out", "--mode", "lin", "--ns-a", "0", "--freq",
                   "1000000000", cwd=folder.path), (0, "", ""))
        equal([row[0] for row in marks(folder.name("out"))], [0, 10, 0, 20])


def test_an_impossible_mapping_makes_no_store():
    with Folder() as folder:
        folder.write("flat", MARKER % (10, "a"))
        status, _, err = load("create", "-n", "flat", "-o", "out", "--mode", "lerp", "--ns-a", "0",
                              "--ns-b", "9", cwd=folder.path)
        equal(status, 64)
        contains(err, "flat: the time mapping is impossible")
        equal(os.listdir(folder.path), ["flat"])


def test_relative_times_count_from_the_origin():
    with Folder() as folder:
        path = folder.write("a", 'Marker, 5, Relative, 7, 8, 1, Blue, "m", 5\n')
        equal(load("create", "-n", path, "-o", folder.name("zero")), (0, "", ""))
        equal(load("create", "-n", path, "-o", folder.name("out"), "--origin", "1000"), (0, "", ""))
        equal(marks(folder.name("zero")), [(5, "m")])
        equal(marks(folder.name("out")), [(1005, "m")])


def test_clock_here_measures_the_clocks_and_keeps_what_it_measured():
    with Folder() as folder:
        path = folder.write("a", 'Marker, 5, ClockMonotonic, 7, 8, 1, Blue, "m", 5\n')
        out = folder.name("out")
        equal(load("create", "-n", path, "-o", out, "--clock=here"), (0, "", ""))
        (offset,) = query(out, "SELECT realtimeNs - clockNs FROM NVTXT_CLOCKS "
                               "WHERE clock = 'ClockMonotonic'")[0]
        equal(marks(out), [(5 + offset, "m")])
        assert offset > 1500000000 * 10**9, offset


def test_the_spelling_of_ImportNvtxt_is_understood():
    with Folder() as folder:
        folder.write("a", MARKER % (10, "a") + MARKER % (30, "b"))
        equal(load("--cmd", "create", "--nvtxt", "a", "--output", "out", "-m", "lerp", "--ns_a",
                   "0", "--ns_b", "40", "--nvtxt_a", "0", "--nvtxt_b", "40", cwd=folder.path),
              (0, "", ""))
        equal([row[0] for row in marks(folder.name("out"))], [10, 30])
        equal(load("--cmd", "info", "--input", "out", cwd=folder.path)[1],
              "Analysis start (ns)\t10\nAnalysis end (ns)\t30\n")


def test_a_letter_asks_for_help_where_ImportNvtxt_has_it():
    for args in (["-h"], ["create", "-h"], ["-qh"]):
        equal(load(*args), load("--help"), args)


def test_bad_usage_is_status_64_and_a_sentence():
    for args in ([], ["create"], ["create", "-n", "a"], ["create", "-o", "b"], ["info"],
                 ["explode"], ["create", "a", "-o", "b"], ["info", "-i", "a", "-o", "b"],
                 ["create", "-n", "a", "-o", "b", "stray"], ["create", "-n", "a", "-o", "b", "--x"],
                 ["create", "-n", "a", "-i", "x", "-o", "b"],
                 ["create", "-n", "a", "-o", "-"], ["collect", "a", "-o", "-"],
                 ["merge", "-i", "x", "-n", "a", "-o", "-"],
                 ["create", "-n", "a", "-o", "b", "--mode", "lin"]):
        status, out, err = load(*args)
        equal((status, out), (64, ""), args)
        contains(err, "nvtxt-import: ")


def test_info_says_what_a_file_is_not():
    with Folder() as folder:
        equal(load("info", "-i", folder.name("none"))[0], 66)
        status, _, err = load("info", "-i", folder.write("empty", ""))
        equal(status, 65)
        contains(err, "is empty")
        text = folder.write("text", "not a database, just some text that is long enough" * 20)
        status, out, err = load("info", "-i", text)
        equal((status, out), (65, ""))
        contains(err, text)
        other = folder.name("other")
        database = sqlite3.connect(other)
        database.execute("CREATE TABLE t (x)")
        database.commit()
        database.close()
        with open(other, "rb") as file:
            before = file.read()
        status, _, err = load("info", "-i", other)
        equal(status, 65)
        contains(err, other)
        with open(other, "rb") as file:
            equal(file.read(), before)


def test_info_looks_at_a_live_store():
    with Daemon() as daemon:
        daemon.send(MARKER % (5, "a") + MARKER % (9, "b"))
        equal(load("info", "-i", daemon.store),
              (0, "Analysis start (ns)\t5\nAnalysis end (ns)\t9\n", ""))


def test_info_leaves_nothing_beside_a_store_that_lies_there():
    with Folder() as folder:
        path = folder.write("n", MARKER % (5, "a"))
        out = folder.name("out")
        equal(load("create", "-n", path, "-o", out)[0], 0)
        database = sqlite3.connect(out)
        database.execute("PRAGMA journal_mode = WAL")  # as a copy of a daemon's store is
        database.close()
        there = os.listdir(folder.path)
        equal(load("info", "-i", out), (0, "Analysis start (ns)\t5\nAnalysis end (ns)\t5\n", ""))
        equal(os.listdir(folder.path), there)


def test_info_says_that_a_store_is_locked():
    with Folder() as folder:
        path = folder.write("n", MARKER % (5, "a"))
        out = folder.name("out")
        equal(load("create", "-n", path, "-o", out)[0], 0)
        database = sqlite3.connect(out, isolation_level=None)
        database.execute("BEGIN EXCLUSIVE")
        status, _, said = load("info", "-i", out)
        equal(status, 75)
        contains(said, "%s is locked by another process: try again" % out)
        database.close()


def test_many_lines_give_every_event_once():
    with Folder() as folder:
        count = 300000  # more than one transaction
        path = folder.write("many", "".join(MARKER % (i, "m%d" % i) for i in range(count)))
        out = folder.name("out")
        equal(load("create", "-n", path, "-o", out), (0, "", ""))
        equal(query(out, "SELECT count(*), count(DISTINCT start) FROM NVTX_EVENTS "
                         "WHERE eventType = 34 AND text = 'm' || start"), [(count, count)])
        equal(query(out, "SELECT count(*) > 1, max(lastRow) >= %d FROM NVTXT_BATCHES" % count),
              [(1, 1)])


def test_a_signal_leaves_nothing_behind():
    with Folder() as folder:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with Running("nvtxt-import", "create", "-n", "-", "-o", folder.name("out")) as client:
                client.say(MARKER % (1, "a"))
                wait_for(lambda: os.listdir(folder.path), "it has begun")
                client.signal(number)
                equal(client.wait(), 128 + number)
            equal(os.listdir(folder.path), [])


def test_a_full_disk_leaves_nothing_behind():
    with Folder() as folder:
        path = folder.write("many", "".join(MARKER % (i, "m%d" % i) for i in range(100000)))
        command = "ulimit -f 1000; exec %s create -n %s -o %s" % (
            program("client", "nvtxt-import"), path, folder.name("out"))
        done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE)
        equal(done.returncode, 74, done.stderr)
        equal(os.listdir(folder.path), ["many"])


def test_slips_are_answered_with_what_was_meant():
    with Folder() as folder:
        path = folder.write("slips", "Maker, 1\n@RangePush, Time, Mesage\nStart, 1\n")
        status, _, said = run_client("nvtxt-import", "creat", "-n", path, "-o", folder.name("o"))
        equal(status, 64)
        contains(said, "no command 'creat', did you mean 'create'?")
        status, _, said = run_client("nvtxt-import", "create", "-n", path, "-o", folder.name("o"))
        equal(status, 1)
        contains(said, "unknown command 'Maker'; did you mean 'Marker'? ")
        contains(said, "takes no argument 'Mesage'; did you mean 'Message'? ")
        contains(said, "unknown command 'Start' [")


def test_slips_in_values_are_answered_too():
    with Folder() as folder:
        path = folder.write("slips", "@Marker, Time, TimeBase, Color, Message\n"
                            "Marker, 1, ClockMonotonicRwa, gren, a\n"
                            "Marker, 1, Manual, 'Mauve', a\n")
        _, _, said = run_client("nvtxt-import", "create", "-n", path, "-o", folder.name("o"))
        contains(said, "nanoseconds; did you mean 'ClockMonotonicRaw'? ")
        contains(said, "gren; the event has colour 0; did you mean 'green'? ")
        contains(said, "Mauve'; the event has colour 0 [")
    status, _, said = run_client("nvtxt-send", "--mark", "a", "--color", "gren")
    equal(status, 64)
    contains(said, "not 'gren': did you mean 'green'?")


def test_two_inputs_are_one_too_many():
    status, _, said = run_client("nvtxt-import", "info", "-i", "a", "-i", "b")
    equal(status, 64)
    contains(said, "-i is given twice: a and b")


if __name__ == "__main__":
    run(globals())
