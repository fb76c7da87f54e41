# SPDX-License-Identifier: Apache-2.0
"""NVTXT_CHAIN: another library sees the same calls, with its own handles; our rows are the same."""
import functools
import glob
import os
import shutil
import tempfile

from client import contains
from inject import CHAIN_TOOL, INJECTION, LIBRARIES, TOP_BUILD, Run
from lib import SHORT, Skip, equal, run

CASES = ("core", "nulls", "payloads", "attributes", "wide", "domains", "resources", "sync", "naming")


class Chained(Run):
    """A run with the tests' own library behind ours, and the lines that it wrote."""

    def __init__(self, case, name="calls", mode="early", **more):
        with tempfile.TemporaryDirectory(prefix="nvtxtd-test-") as folder:
            log = os.path.join(folder, "log")
            super().__init__(name, *case.split(), NVTXT_CHAIN=CHAIN_TOOL, CHAIN_TOOL_LOG=log,
                             CHAIN_TOOL_MODE=mode, **more)
            with open(log, encoding="utf-8", errors="replace") as file:
                self.lines = file.read().splitlines()


@functools.lru_cache(None)
def alone(case):
    done = Run("calls", case)
    return done.said, done.seen()


def ids_of(said):
    return [line for line in said if not line.startswith("ender")]


def same(done, case):
    said, seen = alone(case)
    equal(ids_of(done.said), ids_of(said), case)
    equal(done.seen(), seen, case)


def test_the_program_and_our_rows_are_the_same():
    modes = ("early", "late", "refuse")
    for number, case in enumerate(CASES):
        for mode in modes[number % len(modes)::len(modes)] if SHORT else modes:
            done = Chained(case, mode=mode)
            same(done, case)
            assert not [line for line in done.lines if "FOREIGN" in line], done.lines


def test_calls_without_a_domain_come_in_order_with_ids_of_its_own():
    for name in ("calls", "calls_real"):
        done = Chained("core", name)
        equal(done.lines, [
            "version 3, tables 0 0", "Initialize 0", "MarkA mark a", "MarkW mark w",
            "MarkEx none mark ex 0", "RangePop", "RangePushA push a", "RangePushW push w",
            "RangePushEx none push ex 0", "RangePop", "RangePop", "RangePop", "RangePop",
            "RangeStartA start a", "RangeStartW start w", "RangeStartEx none start ex 0",
            "RangeEnd 900001", "RangeEnd 900002", "RangeEnd 900003", "NameCategoryA 1 category a",
            "NameCategoryW 2 category w", "NameOsThreadA thread a", "NameOsThreadW thread w"])


def test_calls_with_a_domain_come_with_handles_of_its_own():
    equal(Chained("domains").lines[1:], [
        "DomainCreateA alpha", "DomainCreateW b?ta", "DomainCreateA alpha", "DomainCreateA ",
        "DomainNameCategoryA D1 3 three of alpha", "DomainNameCategoryW D2 3 three of b?ta",
        "DomainMarkEx D1 in alpha 3", "DomainRegisterStringA D1 registered",
        "DomainRangePushEx D1 S1 3", "DomainRangePushEx D2 S1 3", "DomainRangePushEx D3 S1 3",
        "DomainRangePushEx D4 S1 3", "RangePushA without", "DomainRangePop D2", "DomainRangePop D2",
        "DomainRangePop D1", "DomainRangePop D1", "RangePop", "RangePop",
        "DomainRangeStartEx D2 S1 3", "DomainDestroy D2", "DomainRangeEnd D1 900001",
        "DomainMarkEx D2 S1 3", "DomainDestroy D2"])


def test_resources_and_locks_come_with_handles_of_its_own():
    lines = Chained("resources").lines
    equal(lines[2:4], ["DomainResourceCreate D1 1000 narrow", "DomainResourceDestroy R1"])
    equal(lines[-5:], ["DomainResourceCreate none ffffffffffffffff wide",
                       "DomainRegisterStringA D1 registered", "DomainResourceCreate none 1 S1",
                       "DomainResourceCreate none 2 -", "DomainResourceCreate none 2 -"])
    equal(Chained("sync").lines[1:], [
        "DomainCreateA locks", "SyncUserCreate D1 mine", "DomainRegisterStringA D1 yours",
        "SyncUserCreate D1 S1", "SyncUserCreate none wide", "SyncUserAcquireStart L1",
        "SyncUserAcquireSuccess L1", "SyncUserReleasing L1", "SyncUserReleasing L1",
        "SyncUserAcquireStart L2", "SyncUserAcquireFailed L2", "SyncUserAcquireFailed L2",
        "SyncUserAcquireStart L3", "SyncUserAcquireStart L3", "SyncUserAcquireSuccess L3",
        "SyncUserReleasing L3", "SyncUserDestroy L1", "SyncUserAcquireSuccess L1",
        "SyncUserReleasing L1"])


def test_names_of_cuda_and_opencl_come_as_they_are():
    done = Chained("naming")
    modules = (("cuda", 8), ("cudart", 6), ("opencl", 14))
    equal(done.lines[1:], ["%s %d %x %s" % (module, number, 16 * place + number,
                                            "wide" if number % 2 == 0 else "narrow")
                           for place, (module, count) in enumerate(modules, 1)
                           for number in range(1, count + 1)])


def test_slots_that_are_filled_late_are_used_from_then_on():
    done = Chained("late", mode="late")
    equal(done.lines[1:], ["Initialize 0", "Initialize 0", "MarkA after", "DomainMarkEx none null 0",
                           "DomainCreateA later", "DomainMarkEx D1 null 0", "RangePop",
                           "RangeStartA started after", "DomainRangeEnd none 900001"])
    equal(done.got("text"), [("before",), ("started before",), ("pushed before",), ("after",), ("",),
                             ("",), ("started after",)])


def test_it_gets_calls_of_domains_that_are_left_out():
    done = Chained("excluded", NVTXT_DOMAIN_EXCLUDE="out")
    equal(done.got("domain"), [("in",), ("in",)])
    equal([line for line in done.lines if line.startswith("Domain")],
          ["DomainCreateA out", "DomainCreateA in", "DomainRangePushEx D1 event 0",
           "DomainRangePushEx D2 event 0", "DomainRangePop D1", "DomainRangePop D2",
           "DomainRangeStartEx D1 event 0", "DomainRangeStartEx D1 event 0",
           "DomainRangeEnd D1 900002", "DomainRangeEnd D1 900001", "DomainMarkEx D1 event 0",
           "DomainMarkEx D2 event 0"])


def test_two_units_have_one_library_behind_them():
    done = Chained("units " + os.path.join(TOP_BUILD, "tests", "nvtx", "unit.so"))
    equal(done.lines, [
        "version 3, tables 0 0", "DomainCreateA shared", "MarkA of the program",
        "DomainRegisterStringA D1 string of the program", "MarkA of the unit",
        "DomainRangePushEx D1 S1 0", "DomainCreateA shared", "DomainMarkEx D2 S1 0",
        "DomainRangePop D1"])


def test_it_may_call_nvtx_while_it_starts():
    unit = os.path.join(TOP_BUILD, "tests", "nvtx", "unit.so")
    for mode in ("calls", "waits"):
        done = Chained("late", mode=mode, CHAIN_TOOL_UNIT=unit)
        equal(done.lines[1:6], ["MarkA of the unit", "DomainRangePushEx none none 0",
                                "DomainCreateA shared", "DomainMarkEx D1 none 0",
                                "DomainRangePop none"])
        equal(done.got("text")[:3], [("of the unit",), ("",), ("",)])
        contains(str(done.got("text")), "pushed before")


# A tool that is there before us, for the whole program, has the names that NVTX looks up in ours.
IN_SCOPE = (
    ("linked", "calls_with_tool", {"LD_LIBRARY_PATH": LIBRARIES + ":" + os.path.dirname(CHAIN_TOOL)}),
    ("preloaded", "calls", {"LD_PRELOAD": CHAIN_TOOL}),
    ("loaded for all", "calls", {}),
    ("preloaded, and we are linked in", "calls_linked", {"LD_PRELOAD": CHAIN_TOOL, "injection": None}),
    ("preloaded, and we are linked in as well", "calls_linked", {"LD_PRELOAD": CHAIN_TOOL}),
    ("behind us, and we are linked in as well", "calls_linked", {}))
ORDER = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}


def test_a_tool_in_the_scope_of_the_program_gets_each_call_once():
    wanted = Chained("core").lines
    for how, name, more in IN_SCOPE:
        done = Chained("core " + CHAIN_TOOL if how == "loaded for all" else "core", name,
                       **{**ORDER, **more})
        same(done, "core")
        equal((done.errors, done.lines), ("", wanted), how)


def cupti():
    for pattern in (os.environ.get("CUDA_HOME", "/nonexistent") + "/**/", "/usr/local/cuda*/**/",
                    "/opt/cuda/**/", "/usr/lib/*/"):
        for path in glob.glob(pattern + "libcupti.so*", recursive=True):
            return path
    raise Skip("no libcupti of a CUDA toolkit")


def test_cupti_in_the_scope_of_the_program_is_not_taken_for_us():
    path = cupti()
    done = Run("calls", "core", NVTXT_CHAIN=path, LD_PRELOAD=path, **ORDER)
    same(done, "core")
    assert "it is this library itself" not in done.errors, done.errors


def test_ranges_of_many_threads_are_ended_by_ids_of_its_own():
    done = Chained("threads")
    ended = [int(line.split()[-1]) for line in done.lines if line.startswith("DomainRangeEnd ")]
    equal(sorted(ended), list(range(900001, 900001 + 1600)))
    equal(len(done.events), 4 * 1600)
    assert not [line for line in done.lines if "FOREIGN" in line], done.lines


def test_it_is_given_the_extension():
    done = Chained("extension")
    equal(done.said, ["enabled 1", "time 1"])  # ours
    equal(done.lines[1:], ["DomainCreateA extended", "Initialize 0",
                           "extension 2 with 63 slots", "DomainIsEnabled D1", "Initialize 0",
                           "TimestampGet"])
    equal(Chained("extension", mode="extension").lines[-1], "Initialize 0")
    done = Chained("extension", STAND_IN="other", NVTXT_LOG="stderr")
    equal((done.said, done.lines[-1]), (["enabled -1", "time -1"], "Initialize 0"))
    contains(done.errors, "NVTX's extension 2, version 0x909, is not known: its calls are not recorded")


def test_what_cannot_be_a_library_behind_us_is_said_once():
    with tempfile.TemporaryDirectory(prefix="nvtxtd-test-") as folder:
        text = os.path.join(folder, "text.so")
        with open(text, "w", encoding="ascii") as file:
            file.write("no library")
        copy = os.path.join(folder, "another name.so")
        shutil.copy(INJECTION, copy)
        link = os.path.join(folder, "link.so")
        os.symlink(INJECTION, link)
        ourselves = "it is this library itself"
        for path, reason in (
                ("/nonexistent/x.so", "cannot open shared object file: No such file or directory"),
                (text, "file too short"), (INJECTION, ourselves), (copy, ourselves),
                (link, ourselves),
                (os.path.join(LIBRARIES, "libnvtxt.so.0"), "it has no InitializeInjectionNvtx2")):
            done = Run("calls", "core", NVTXT_CHAIN=path, LC_ALL="C")
            same(done, "core")
            equal(done.errors, "nvtxt: NVTXT_CHAIN=%s: %s; going on without it\n" % (path, reason))
    for more in {"injection": None}, {}, {"LD_PRELOAD": CHAIN_TOOL, **ORDER}:
        done = Run("calls_linked", "core", NVTXT_CHAIN=INJECTION, **more)
        contains(done.errors, ourselves)
    done = Chained("core", mode="refuse")
    equal(done.errors, "nvtxt: NVTXT_CHAIN=%s: it refused to start; going on without it\n" % CHAIN_TOOL)
    equal(done.lines, ["version 3, tables 0 0"])
    equal(Run("calls", "core", NVTXT_CHAIN="").errors, "")


if __name__ == "__main__":
    run(globals())
