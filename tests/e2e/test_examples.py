# SPDX-License-Identifier: Apache-2.0
"""The programs of doc/examples, built as their heads say: with what is installed, and nothing but
pkg-config. Each call is its row in the store. Those with NVTX are left out where its headers are
not, but for one that takes the stand-in of the tests."""
import atexit
import os
import shutil
import subprocess
import sys
import tempfile

from lib import SANITIZERS, TOP_BUILD, Daemon, Skip, equal, run
from python_program import events, preloaded

TOP = os.environ.get("top_srcdir") or os.path.join(os.path.dirname(__file__), "..", "..")
EXAMPLES = os.path.join(TOP, "doc", "examples")
OUTPUT = b"333833500\n2668667000\n9004500500\n"
EVENTS = """
    SELECT eventType, text, ifnull(NVTXT_DOMAINS.name, ''), category, printf('%08X', color),
           uint32Value, int64Value, jsonText
    FROM NVTX_EVENTS LEFT JOIN NVTXT_DOMAINS ON NVTXT_DOMAINS.id = domainId AND domainId <> 0
    WHERE eventType IN (34, 59, 60) ORDER BY start"""
MARK, PUSHPOP, STARTEND = 34, 59, 60
installed = None


def make_installed():
    """A folder with the libraries, as `make install` leaves them; made once. But libtool would link
    libnvtxt-inject.so again, in place, under the tests that use it: it is copied."""
    global installed
    if not installed:
        installed = tempfile.mkdtemp(prefix="nvtxtd-test-")
        atexit.register(shutil.rmtree, installed, ignore_errors=True)
        for folder, target in (("lib", "install"), ("inject", "install-nodist_archiveDATA"),
                               ("inject", "install-pkgconfigDATA")):
            done = subprocess.run(["make", "-C", os.path.join(TOP_BUILD, folder), target,
                                   "DESTDIR=" + installed], capture_output=True, text=True)
            equal(done.returncode, 0, done.stdout + done.stderr)
        shutil.copy(os.path.join(TOP_BUILD, "inject", ".libs", "libnvtxt-inject.so"),
                    place_of("libnvtxt.a"))
    return installed


def place_of(name):
    for folder, _, files in os.walk(make_installed()):
        if name in files:
            return folder
    raise AssertionError(name + " is not installed")


def pkg_config(*words):
    if not shutil.which("pkg-config"):
        raise Skip("pkg-config is not installed")
    libdir = place_of("libnvtxt.a")
    return subprocess.run(
        ["pkg-config", "--define-variable=libdir=" + libdir,
         "--define-variable=includedir=" + place_of("nvtxt.h"), *words],
        env={**os.environ, "PKG_CONFIG_PATH": os.path.join(libdir, "pkgconfig")},
        check=True, capture_output=True, text=True).stdout.split()


def compiler(language):
    found = os.environ.get(*(("CC", "cc") if language == "c" else ("CXX", "c++")))
    if not shutil.which(found.split()[-1]):
        raise Skip("there is no compiler for %s" % language)
    return found.split() + ["-Wall", "-O1"] + (["-fsanitize=" + SANITIZERS] if SANITIZERS else [])


def nvtx_flags():
    """Where NVTX's headers are, as configure found them."""
    flags = os.environ.get("NVTX3_CFLAGS", "").split()
    probe = subprocess.run(compiler("c") + flags + ["-E", "-x", "c", "-", "-o", os.devnull],
                           input=b"#include <nvtx3/nvToolsExt.h>\n", capture_output=True)
    if probe.returncode != 0:
        raise Skip("configure found no headers of NVTX")
    return flags + ["-ldl"]


def stand_in_flags():
    """What does as the headers do, for machines without them."""
    folder = os.path.join(make_installed(), "nvtx3")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "nvToolsExt.h"), "w", encoding="utf-8") as file:
        file.write('#include "tests/nvtx/stand_in.h"\n')
    return ["-D_GNU_SOURCE", "-I" + make_installed(), "-I" + TOP,
            os.path.join(TOP, "tests", "nvtx", "stand_in.c"), "-ldl"]


def build(source, *flags):
    program = os.path.join(make_installed(), source.replace(".", "-"))
    command = compiler(source.rsplit(".", 1)[1]) + [os.path.join(EXAMPLES, source), "-o", program]
    done = subprocess.run(command + list(flags), capture_output=True, text=True)
    equal((done.returncode, done.stderr), (0, ""), " ".join(command + list(flags)))
    return program


def events_of(program, **variables):
    with Daemon() as daemon:
        done = subprocess.run([program], capture_output=True, timeout=240, env={
            **os.environ, "NVTXT_SOCKET": daemon.socket, "NVTXT_EXIT_WAIT": "60", **variables})
        equal((done.returncode, done.stdout, done.stderr), (0, OUTPUT, b""), "the program alone")
        daemon.settled()
        equal(daemon.query("SELECT code FROM NVTXT_DIAGNOSTICS"), [])
        equal(daemon.query("SELECT reason FROM NVTXT_LOSSES"), [])
        equal(daemon.query("SELECT DISTINCT text, category FROM NVTX_EVENTS WHERE eventType = 33"),
              [("arithmetic", 1)])
        return daemon.query(EVENTS)


def rounds(json, *between):
    """The three ranges of the rounds, and what comes after each."""
    for number in (1, 2, 3):
        yield (PUSHPOP, "sum of squares", "example", 1, "FF00A000", number * 1000, None, json)
        yield from ((MARK, name, "example", 0, "00000000", None, number, None) for name in between)


def inside(*middle):
    return [(STARTEND, "all rounds", "", 0, "00000000", None, None, None), *middle,
            (MARK, "the last round is done", "", 0, "00000000", None, None, None)]


def injection():
    return os.path.join(place_of("libnvtxt.a"), "libnvtxt-inject.so")


def test_a_program_that_uses_the_library():
    wanted = inside(*rounds('{"begin":null,"end":{"method":"loop"}}', "rounds"))
    program = build("libnvtxt.c", *pkg_config("--cflags", "--libs", "nvtxt"))
    equal(events_of(program, LD_LIBRARY_PATH=place_of("libnvtxt.a")), wanted)


def test_a_c_program_with_nvtx():
    program = build("nvtx.c", *nvtx_flags())
    equal(events_of(program, NVTX_INJECTION64_PATH=injection(),
                    LD_LIBRARY_PATH=place_of("libnvtxt.a")), inside(*rounds(None)))


def test_a_cpp_program_with_nvtx():
    program = build("nvtx.cpp", *nvtx_flags())
    equal(events_of(program, NVTX_INJECTION64_PATH=injection(),
                    LD_LIBRARY_PATH=place_of("libnvtxt.a")), inside(*rounds(None)))


def test_a_c_program_with_the_stand_in():
    program = build("nvtx.c", *stand_in_flags())
    equal(events_of(program, NVTX_INJECTION64_PATH=injection(),
                    LD_LIBRARY_PATH=place_of("libnvtxt.a")), inside(*rounds(None)))


def test_a_program_that_has_the_injection_linked_into_it():
    program = build("nvtx.c", *nvtx_flags(), *pkg_config("--static", "--libs", "nvtxt-inject"))
    equal(events_of(program), inside(*rounds(None)))


def test_a_program_in_python():
    modules = os.path.dirname(place_of("_event.py"))
    with Daemon() as daemon:
        done = subprocess.run(
            [sys.executable, os.path.join(EXAMPLES, "annotated.py")], capture_output=True, timeout=240,
            env={**os.environ, "PYTHONPATH": modules, "PYTHONDONTWRITEBYTECODE": "1",
                 "NVTXT_SOCKET": daemon.socket, "NVTXT_EXIT_WAIT": "60", **preloaded()})
        equal((done.returncode, done.stdout, done.stderr), (0, OUTPUT, b""), "the program alone")
        got = events(daemon)
        equal([row for row in got if row[1] in ("first", "second")],
              [(STARTEND, name, None, None, "00000000", None) for name in ("first", "second")])
        equal([row[5] for row in got if row[1] == "round"], [1, 2, 3])
        equal([row for row in got if row[1] == "sum_of_squares"],
              3 * [(PUSHPOP, "sum_of_squares", "example", "arithmetic", "FF00A000", None)])
        equal(daemon.query("SELECT message, level FROM NVTXT_TIMELINE WHERE level IS NOT NULL"),
              [("the last round is done", "warning")])
        equal(len(got), 12)


if __name__ == "__main__":
    run(globals())
