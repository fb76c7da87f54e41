# SPDX-License-Identifier: Apache-2.0
"""Files that somebody else made: what their schema says is done to nobody, and a signal ends it."""
import os
import signal
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "nsight"))

from client import Folder, Running, contains, run_client  # noqa: E402
from exports import load, make  # noqa: E402
from lib import SANITIZERS, WRAPPER, Daemon, Skip, equal, run, wait_for  # noqa: E402

MARK = "@Marker, Time, Message\nMarker, %d, '%s'\n"
FAR = 2**63 - 1
# A table's rows that never come: whoever asks for the first one waits for ever.
NEVER = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT %s FROM n WHERE i > 1"


def store(folder, change="", name="store.sqlite"):
    path = folder.name(name)
    equal(load("create", "-n", folder.write("first", MARK % (5, "first")), "-o", path)[0], 0)
    with sqlite3.connect(path) as database:
        database.executescript(change)
    database.close()
    return path


def readers(folder, path):
    """What reads it: each is a program and its arguments."""
    text = folder.write("more", MARK % (7, "more"))
    return (("nvtxt-export", "--store", path, "--format", "csv"),
            ("nvtxt-import", "info", "-i", path),
            ("nvtxt-import", "merge", "-i", path, "-n", text, "-o", folder.name("out")))


def refused(folder, path, *parts):
    for command in readers(folder, path):
        status, _, said = run_client(*command)
        equal((status, said.count("\n")), (65, 1), said)
        for part in (path,) + parts:
            contains(said, part)
    equal(os.path.exists(folder.name("out")), False)


def test_events_that_are_a_view_are_none():
    with Folder() as folder:
        view = "ALTER TABLE NVTX_EVENTS RENAME TO n; CREATE VIEW NVTX_EVENTS AS SELECT * FROM n"
        refused(folder, make(folder.name("export"), "2022", change=view), "NVTX")
        refused(folder, store(folder, view))


def test_numbers_at_the_end_of_all_are_damage():
    for change in ("UPDATE NVTX_EVENTS SET rowid = %d" % FAR,
                   "UPDATE NVTX_EVENTS SET rowid = %d" % -FAR,
                   "INSERT INTO StringIds VALUES (%d, 'last')" % FAR,
                   "UPDATE NVTXT_SOURCES SET id = %d" % FAR,
                   "INSERT INTO NVTXT_DOMAINS VALUES (%d, 'last')" % FAR,
                   "UPDATE NVTXT_BATCHES SET id = %d" % FAR):
        with Folder() as folder:
            refused(folder, store(folder, change))


def test_a_daemon_puts_such_a_store_aside():
    with Folder() as folder, Daemon(start=False) as daemon:
        made = store(folder, "UPDATE NVTX_EVENTS SET rowid = %d" % FAR)
        os.rename(made, daemon.store)
        daemon.start()
        contains(daemon.log_text(), "aside")
        daemon.send(MARK % (9, "after"))
        equal(daemon.query("SELECT rowid, text FROM NVTX_EVENTS"), [(1, "after")])


def test_an_export_that_is_full_is_not_merged_into():
    with Folder() as folder:
        export = make(folder.name("e"), "2022",
                      change="UPDATE NVTX_EVENTS SET rowid = %d WHERE rowid = 1" % FAR)
        status, _, said = run_client(*readers(folder, export)[2])
        equal(status, 65, said)
        contains(said, export)


def test_a_store_with_a_trigger_is_read_but_not_merged_into():
    with Folder() as folder:
        path = store(folder, "CREATE TABLE log (x); CREATE TRIGGER spy AFTER INSERT ON NVTX_EVENTS "
                             "BEGIN INSERT INTO log VALUES (new.text); END")
        export, info, merge = readers(folder, path)
        equal([run_client(*command)[0] for command in (export, info)], [0, 0])
        status, _, said = run_client(*merge)
        equal(status, 65, said)
        contains(said, path)
        contains(said, "trigger, 'spy'")
        equal(os.path.exists(folder.name("out")), False)


def cpu_ticks(pid):
    with open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def ends_by_a_signal(folder, *command):
    if "thread" in SANITIZERS or WRAPPER:  # they take signals first, and start for long
        raise Skip("signals come late")
    before = set(os.listdir(folder.path))
    with Running(*command, stdin=None) as running:
        wait_for(lambda: running.process.poll() is not None or
                 cpu_ticks(running.process.pid) > 30, "it computes")
        running.signal(signal.SIGINT)
        equal(running.expect(128 + signal.SIGINT), "", "there is nothing to say")
    equal(set(os.listdir(folder.path)), before, "nothing is left")


def test_a_signal_ends_a_question_that_has_no_end():
    with Folder() as folder:
        path = store(folder, "DROP TABLE NVTXT_SEGMENT; CREATE VIEW NVTXT_SEGMENT AS " + NEVER %
                     "i AS rangeBase, i AS sourceBase, i AS domainBase")
        for command in readers(folder, path):
            ends_by_a_signal(folder, *command)


def test_a_signal_ends_the_reading_of_an_export():
    with Folder() as folder:
        export = make(folder.name("e"), "2022", change="DROP TABLE StringIds; CREATE VIEW StringIds "
                      "AS " + NEVER % "i AS id, '' AS value")
        ends_by_a_signal(folder, *readers(folder, export)[0])


def test_a_signal_ends_an_expression_that_has_no_end():
    with Folder() as folder:  # back-references make glibc try every way to take the text apart
        path = folder.name("long")
        text = folder.write("long.nvtxt", MARK % (5, "x" * 60000))
        equal(load("create", "-n", text, "-o", path)[0], 0)
        ends_by_a_signal(folder, "nvtxt-export", "--store", path, "--format", "csv", "--match",
                         r"((x*)*(x*))*\1\2y")


if __name__ == "__main__":
    run(globals())
