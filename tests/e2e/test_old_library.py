# SPDX-License-Identifier: Apache-2.0
"""A program that was built for the libnvtxt of 0.1 runs unchanged on today's library."""
import os
import re
import shutil
import subprocess

from client import Folder, contains
from inject import LIBRARIES, TOP_BUILD
from lib import DEADLINE, Daemon, Skip, equal, run

FOLDER = os.path.join(TOP_BUILD, "tests", "compat")
OLD = os.path.join(FOLDER, "old_program")  # header and symbol versions of 0.1
NEW = os.path.join(FOLDER, "new_program")  # the same source with those of today
MAP = os.path.join(os.environ["top_srcdir"], "tests", "compat", "old-lib", "nvtxt.map")

# What each call returned with the library of 0.1 itself, but for the last line: 0.1 counted each call
# as recorded (12), and no pop as ignored. Since then these are rows and calls of no meaning.
PRINTED = """\
init 0
domain same
push 0
push_ex 0
pop_ex 0
pop 0
pop of none ENOENT
init EALREADY
flush 0
stats 8 0 1 1
"""
ROWS = [
    ("counter", 0, 0, 3, None), ("counter", 0, 0, 4.5, None),
    ("mark", 0, 0, None, None),
    ("mark_ex", 7, 0xFF102030, 0.5, '{"old":1}'),
    ("push", 0, 0, None, None),
    ("push_ex", 7, 0xFF102030, -1, '{"begin":{"old":1},"end":{"end":2}}'),  # -1: as SQLite shows 2^64 - 1
    ("start", 0, 0, None, None),
    ("start_ex", 7, 0xFF102030, -3, '{"begin":{"old":1},"end":{}}'),
]


def outcome(program, what, **environment):
    """What it prints; all of its symbols are looked up at the start, also those it does not call."""
    names = {**os.environ, "LD_LIBRARY_PATH": LIBRARIES, "LD_BIND_NOW": "1", **environment}
    done = subprocess.run([program, what], env=names, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=DEADLINE)
    equal((done.returncode, done.stderr), (0, ""), done.stdout)
    return done.stdout


def events(daemon):
    return daemon.query("""
        SELECT coalesce(e.text, s.value), category, color,
               coalesce(uint64Value, int64Value, doubleValue, int32Value, floatValue), jsonText
        FROM NVTX_EVENTS e LEFT JOIN StringIds s ON s.id = e.textId
        WHERE eventType IN (34, 59, 60) ORDER BY 1, 4""")


def symbols(*arguments):
    if not shutil.which("nm"):
        raise Skip("no nm")
    out = subprocess.run(["nm", "-D", *arguments], stdout=subprocess.PIPE, text=True, check=True)
    return {line.split()[-1] for line in out.stdout.splitlines() if " nvtxt_" in line}


def check_run(program):
    with Daemon() as daemon:
        equal(outcome(program, "run", NVTXT_SOCKET=daemon.socket), PRINTED)
        daemon.settled()
        equal(events(daemon), ROWS)
        equal(daemon.query("SELECT name, ended, levels FROM NVTXT_SOURCES"), [("old name", "end", None)])
        equal(daemon.query("SELECT code FROM NVTXT_DIAGNOSTICS"), [])


def test_a_program_that_was_built_for_0_1_runs_and_its_events_arrive():
    check_run(OLD)


def test_the_variables_of_0_1_mean_what_they_meant():
    # Those of 0.1, with NVTXT_SOCKET; all of them win over nvtxt_init().
    with Daemon() as daemon, Folder() as folder:
        log, spool = folder.name("log"), folder.name("spool")
        os.mkdir(spool, 0o700)
        outcome(OLD, "run", NVTXT_SOCKET=daemon.socket, NVTXT_NAME="named", NVTXT_SPOOL=spool,
                NVTXT_RING="128K", NVTXT_WINDOW="2M", NVTXT_EXIT_WAIT="60", NVTXT_LOG=log,
                NVTXT_DOMAIN_INCLUDE="old,default", NVTXT_DOMAIN_EXCLUDE="default")
        daemon.settled()
        equal(daemon.query("SELECT name FROM NVTXT_SOURCES"), [("named",)])
        equal(events(daemon), [row for row in ROWS if row[0] not in ("mark", "push", "start")])
        equal(os.listdir(spool), [])  # it ended in order
        with open(log, encoding="utf-8") as file:
            contains(file.read(), "nvtxt[")


def test_its_source_is_built_with_todays_header_and_does_the_same():
    check_run(NEW)


def test_it_was_linked_with_every_symbol_of_0_1():
    with open(MAP, encoding="utf-8") as file:
        promised = set(re.findall(r"^ +(nvtxt_\w+);$", file.read(), re.M))
    equal(symbols("--undefined-only", OLD), {name + "@NVTXT_0.1" for name in promised})


def test_the_library_has_every_symbol_under_the_version_that_it_came_with():
    got = symbols("--defined-only", os.path.join(LIBRARIES, "libnvtxt.so"))
    assert {name.replace("@", "@@") for name in symbols("--undefined-only", OLD)} <= got, got
    assert {"nvtxt_color@NVTXT_0.2", "nvtxt_color@@NVTXT_1.0", "nvtxt_finish@NVTXT_0.2",
            "nvtxt_finish@@NVTXT_1.0"} <= got, got


def test_structs_and_values_are_where_they_were():
    equal(outcome(NEW, "layout"), outcome(OLD, "layout"))
    old, new = (list(map(int, outcome(program, "sizes").split())) for program in (OLD, NEW))
    assert all(now >= then for then, now in zip(old, new)), (old, new)


def test_what_came_after_0_1_is_found_by_both_of_its_versions():
    with Daemon() as daemon:
        equal(outcome(OLD, "later", NVTXT_SOCKET=daemon.socket),
              "NVTXT_0.2 FFFF0000\nNVTXT_1.0 FFFF0000\n")
        daemon.settled()
        equal(daemon.query("SELECT text FROM NVTX_EVENTS"), [("NVTXT_0.2",)])  # nothing after its end


if __name__ == "__main__":
    run(globals())
