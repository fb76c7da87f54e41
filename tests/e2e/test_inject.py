# SPDX-License-Identifier: Apache-2.0
"""Programs with NVTX in them, unchanged: each call is the row that it has to be."""
import collections
import functools
import os
import shutil
import subprocess
import sys

from inject import TOP_BUILD, Run, client, environment
from lib import SANITIZERS, Daemon, Skip, equal, rows, run

MARK, PUSH, START = 34, 59, 60
BAD = "a\ufffd\ufffdb\ufffdc\ufffd\U0010ffffd\u00e9\u20ac\U0001f600"


def clients(check):
    """Checks the client with the stand-in, with us linked in, and with the real headers if it is
    there (test_the_real_headers_were_used says so)."""
    def case():
        for name, more in (("calls", {}), ("calls_linked", {"injection": None}), ("calls_real", {})):
            try:
                check(functools.partial(Run, name, **more))
            except Skip:
                continue
            except AssertionError as error:
                raise AssertionError("%s: %s" % (name, error)) from error
    case.__name__ = check.__name__
    return case


def test_the_real_headers_were_used():
    client("calls_real")


# ---- Without a domain -----------------------------------------------------------------------------

@clients
def test_every_call_without_a_domain_is_its_row(program):
    done = program("core")
    ender = int(done.said[-1].split()[1])
    equal(done.said[:-1],
          ["pop of none -1", "push a 0", "push w 1", "push ex 2", "pop 2", "pop 1", "pop 0",
           "pop of none -1", "id 3", "id 5", "id 7"])
    equal(done.got("kind", "text", "domain"),
          [(MARK, "mark a", None), (MARK, "mark w", None), (MARK, "mark ex", None),
           (PUSH, "push a", None), (PUSH, "push w", None), (PUSH, "push ex", None),
           (START, "start a", None), (START, "start w", None), (START, "start ex", None)])
    equal(done.got("tid", "end_tid")[6:],
          [(done.pid, ender), (done.pid, None), (done.pid, None)])
    pushes = done.events[3:6]
    assert pushes[0]["end"] >= pushes[1]["end"] >= pushes[2]["end"], pushes
    equal(done.categories, [("", 1, "category a"), ("", 2, "category w")])
    equal(done.threads[:1], [(done.pid, "thread w")])
    equal(done.losses, [])


@clients
def test_null_is_no_text_and_no_handle(program):
    done = program("nulls")
    equal(done.said, ["push %d" % level for level in range(4)] +
          ["pop %d" % level for level in (3, 2, 1, 0)] +
          ["domain 1", "domain 1", "string 1", "string 1", "resource 1", "sync 1"])
    equal(sorted(done.got("kind", "text", "domain")),
          [(MARK, "", None)] * 7 + [(PUSH, "", None)] * 4 + [(START, "", None)] * 4)


@clients
def test_threads_are_named_by_all_their_numbers(program):
    done = program("named")
    tids = [int(line.split()[1]) for line in done.said]
    equal(done.threads, sorted(zip([done.pid] + tids, ("itself", "by its number", "as a native one",
                                                       "as one of POSIX", "by the system"))))
    equal(done.losses, [("unsupported", 8)])
    equal(sorted((kind, name) for _, kind, _, name in done.resources),
          sorted(("generic", name) for name in ("none", "none", "none", "as one of POSIX",
                                                "as a native one", "a number", "itself")))


def test_a_name_of_no_thread_is_told_if_it_is_all_there_is():
    done = Run("calls", "nobody")
    equal((done.events, done.losses), ([], [("unsupported", 1)]))


# ---- Attributes -----------------------------------------------------------------------------------

@clients
def test_payloads_have_columns_of_their_own(program):
    done = program("payloads")
    equal(done.values(),
          [("uint64Value", -1), ("int64Value", -2 ** 63), ("doubleValue", -0.5), None,
           ("uint32Value", 2 ** 32 - 1), ("int32Value", -2 ** 31), ("floatValue", 0.25),
           ("floatValue", 0.25)])


@clients
def test_what_lies_inside_of_the_size_counts(program):
    done = program("attributes")
    got = [event + (value,) for event, value in
           zip(done.got("text", "category", "color"), done.values())]
    whole = ("all of it", 5, 0x80FF0000, ("int32Value", -7))
    equal(got[:3], [whole, ("", 5, 0, None), whole], "as it is; unknown types; version 1")
    inside = [("", 0, 0, None), ("", 5, 0, None), ("", 5, 0, None), ("", 5, 0x80FF0000, None)]
    inside += [inside[3]] * 3 + [("", 5, 0x80FF0000, ("int32Value", -7))] * 4 + [whole]
    equal(got[3:15], inside, "sizes from 4 to 48")
    equal(got[15:], [whole], "a later version is longer")


@clients
def test_wide_texts_are_repaired(program):
    done = program("wide")
    equal(done.got("text"),
          [(BAD,), (BAD,), (BAD,), ("\u20ac" * 5461,), ("\u00e9" * 8192,),
           ("quote \" back \\ line\nend\ttab \ufffd not UTF-8",)])


# ---- Domains --------------------------------------------------------------------------------------

@clients
def test_domains_have_stacks_and_categories_of_their_own(program):
    done = program("domains")
    equal(done.said, ["push 0", "push 0", "push 1", "push 0", "push 1",
                      "pop 0", "pop -1", "pop 1", "pop 0", "pop 1", "pop 0"])
    equal(done.got("kind", "text", "domain", "category"),
          [(MARK, "in alpha", "alpha", 3), (PUSH, "registered", "alpha", 3),
           (PUSH, "registered", "b\u00e9ta", 3), (PUSH, "registered", "alpha", 3),
           (PUSH, "registered", None, 3), (PUSH, "without", None, 0),
           (START, "registered", "b\u00e9ta", 3), (MARK, "registered", "b\u00e9ta", 3)])
    equal(done.categories, [("alpha", 3, "three of alpha"), ("b\u00e9ta", 3, "three of b\u00e9ta")])
    equal(sorted(filter(None, done.domains.values())), ["alpha", "b\u00e9ta"])


@clients
def test_a_domain_that_is_left_out_leaves_nothing(program):
    for variables in ({"NVTXT_DOMAIN_EXCLUDE": "out"}, {"NVTXT_DOMAIN_INCLUDE": "in,default"}):
        done = program("excluded", **variables)
        equal(done.said, ["push out -2", "push in 0", "pop out -2", "pop in 0", "even 1"])
        equal(done.got("kind", "domain"), [(PUSH, "in"), (MARK, "in")])
        equal(done.losses, [])


@clients
def test_resources_have_kinds_and_names(program):
    done = program("resources")
    kinds = ["generic", "syncOs", "syncPthread", "cuDevice", "cuContext", "cuStream", "cuEvent",
             "cudaDevice", "cudaStream", "cudaEvent", "clDevice", "clContext", "clCommandQueue",
             "clMemObject", "clSampler", "clProgram", "clEvent", "unknown", "unknown", "unknown"]
    equal(done.said, ["resource 1"] * 4)
    equal(done.resources,
          sorted([("owner", kind, 0x1000 + i, "narrow") for i, kind in enumerate(kinds)] +
                 [("", "generic", -1, "wide"), ("", "generic", 1, "registered"),
                  ("", "generic", 2, "")]))


def test_names_of_cuda_and_opencl_are_resources():
    done = Run("calls", "naming")
    kinds = [(0x10, ["cuDevice", "cuContext", "cuStream", "cuEvent"]),
             (0x20, ["cudaDevice", "cudaStream", "cudaEvent"]),
             (0x30, ["clDevice", "clContext", "clCommandQueue", "clMemObject", "clSampler",
                     "clProgram", "clEvent"])]
    equal(done.resources,
          sorted(("", kind, first + 2 * i + width, ("narrow", "wide")[width - 1])
                 for first, names in kinds for i, kind in enumerate(names) for width in (1, 2)))
    equal(done.events, [])


@clients
def test_locks_are_ranges_of_waiting_and_holding(program):
    done = program("sync")
    equal(done.got("kind", "text", "domain"),
          [(START, "acquire mine", "locks"), (START, "hold mine", "locks"),
           (START, "acquire yours", "locks"), (START, "acquire wide", None),
           (START, "acquire wide", None), (START, "hold wide", None), (START, "hold mine", "locks")])
    equal([end is None for end, in done.got("end_tid")], [True] * 5 + [False, True])
    for before, after in ((0, 1), (4, 5)):
        assert done.events[before]["end"] <= done.events[after]["start"], done.events


# ---- The rest -------------------------------------------------------------------------------------

@clients
def test_errno_stays(program):
    equal(program("errno").said, ["errno 12345"])


@clients
def test_strings_beyond_the_tables_keep_their_text(program):
    equal(program("strings").got("text"), [("string 69999",)])


@clients
def test_threads_share_domains_locks_and_ranges(program):
    done = program("threads")
    counts = collections.Counter(done.got("kind", "text", "domain"))
    equal(counts, {(kind, text, "crowd"): 1600 for kind, text in (
        (START, "of many"), (PUSH, "of many"), (START, "acquire"), (START, "hold"))})
    for event in done.events:
        assert (event["end_tid"] is not None) == ((event["kind"], event["text"]) == (START, "of many"))


def test_a_program_that_uses_libnvtxt_as_well_has_one_stack():
    done = Run("calls", "both")
    equal(done.said, ["push 0", "push 1", "pop 1", "pop 0"])
    equal(done.got("kind", "text"), [(PUSH, "by NVTX"), (PUSH, "by libnvtxt")])


def two_units(name, unit):
    done = Run(name, "units", os.path.join(TOP_BUILD, "tests", "nvtx", unit))
    equal(done.said, ["pop 0"])
    equal(done.got("kind", "text", "domain"),
          [(MARK, "of the program", None), (MARK, "of the unit", None),
           (PUSH, "string of the program", "shared"), (MARK, "string of the program", "shared")])


def test_two_units_of_a_process_share_domains_and_stacks():
    two_units("calls", "unit.so")


def test_two_units_with_the_real_headers_share_domains_and_stacks():
    two_units("calls_real", "unit_real.so")


def test_an_older_nvtx_has_fewer_calls():
    done = Run("calls", "core", STAND_IN="v1")
    equal(len(done.events), 9)
    done = Run("calls", "domains", STAND_IN="v1")
    equal(done.got("kind", "text"), [(PUSH, "without")])
    done = Run("calls", "core", STAND_IN="v2")  # three quarters of each table
    equal((len(done.events), done.categories), (9, []))
    done = Run("calls", "core", STAND_IN="holes")
    equal(done.got("text"), [("mark w",), ("mark ex",), ("push a",), ("start a",)])


def test_a_table_that_is_too_small_is_refused():
    done = Run("calls", "core", STAND_IN="small")
    equal((done.said[0], done.events), ("pop of none -2", []))


def test_a_cpp_program_is_its_rows():
    done = Run("calls_cpp")
    equal(done.got("kind", "text", "domain", "category", "color"),
          [(PUSH, "registered message", "my domain", 11, 0xFFFF8000),
           (MARK, "mark in the domain", "my domain", 0, 0), (PUSH, "function", None, 0, 0),
           (MARK, "wide \u00e9", None, 0, 0), (START, "from thread to thread", None, 0, 0)])
    equal(done.values(), [("int64Value", -42), ("doubleValue", 3.5), None, None, None])
    equal(done.categories, [("my domain", 11, "my category")])
    assert done.events[4]["end_tid"] not in (None, done.pid), done.events[4]


def test_a_python_program_is_its_rows():
    script = """if True:
        import os, nvtx
        print("pid", os.getpid())
        with nvtx.annotate("annotated", color="red", domain="python", category="kind"):
            nvtx.mark("mark", domain="python")
        nvtx.push_range("pushed")
        nvtx.pop_range()
        nvtx.end_range(nvtx.start_range("started", domain="python"))
        """
    # -I: the folder nvtx of the tests is not the module.
    if subprocess.run([sys.executable, "-I", "-c", "import nvtx"], stderr=subprocess.DEVNULL,
                      check=False).returncode != 0:
        raise Skip("Python has no module nvtx")
    if SANITIZERS:
        raise Skip("Python is built without the sanitizer")
    done = Run([sys.executable, "-I", "-c", script])
    equal(sorted(done.got("kind", "text")),
          [(MARK, "mark"), (PUSH, "annotated"), (PUSH, "pushed"), (START, "started")])
    annotated, = [event for event in done.events if event["text"] == "annotated"]
    equal((annotated["domain"], annotated["color"] != 0), ("python", True))
    equal([(domain, name) for domain, _, name in done.categories], [("python", "kind")])


def test_a_program_with_other_rights_is_left_alone():
    if os.getuid() != 0:
        raise Skip("only root can make a program of another user")
    with Daemon() as daemon:
        path = os.path.join(daemon.folder, "calls")
        shutil.copy(os.path.join(TOP_BUILD, "tests", "nvtx", "calls_linked"), path)
        client("calls_linked")
        os.chmod(daemon.folder, 0o755)
        os.chown(path, 0, 0)
        os.chmod(path, 0o4755)
        if os.statvfs(path).f_flag & os.ST_NOSUID:
            raise Skip("programs do not change their user in %s" % daemon.folder)
        env = environment(daemon, None, NVTXT_RING="12x", NVTXT_LOG="stderr")
        del env["LD_LIBRARY_PATH"]
        done = subprocess.run([path, "core"], env=env, user=65534, stdin=subprocess.DEVNULL,
                              capture_output=True, check=True, text=True)
        equal((done.stdout.splitlines()[1], done.stderr), ("pop of none -2", ""))
        equal(rows(daemon.store, "SELECT count(*) FROM NVTX_EVENTS"), [(0,)])


if __name__ == "__main__":
    run(globals())
