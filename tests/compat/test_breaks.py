# SPDX-License-Identifier: Apache-2.0
"""Each kind of break of an interface is made once, in a copy, and the comparison says what it is. What
can be changed without a build is really changed: the header and its structs, a library, a store, a
schema, a module, the SQL of a fleet. Of tables of the code what their program prints is changed."""
import importlib.util
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from unittest import mock

import interfaces
from facts import HERE, TOP, compare, faults, path_of, read
from lib import Daemon, Skip, equal, program, run

NEWS = """Noteworthy changes in nvtxtd

1.1 (not released yet)

* nvtxt-ctl takes --frob; the table NVTXT_FROBS is new; struct nvtxt_attr has a frob.

1.0.0 (December 2026)

* Older things, such as --old.
"""


def known(interface, *beginnings):
    """The facts that are written down; only those of a part, if beginnings of keys are given."""
    facts = read(path_of(interface))
    return {key: value for key, value in facts.items() if not beginnings or key.startswith(beginnings)}


def kinds(interface, now, *beginnings):
    """What differs, as {key: kind}; all of it is told, and only additions may pass."""
    was = known(interface, *beginnings)
    changes = compare(was, now)
    told, final = faults(interface, was, now, NEWS, "1.1.0")
    equal(len(told), len(changes))
    breaks = [change for change in changes if change.kind != "added"]
    assert len(final) >= len(breaks), final
    for change in breaks:
        assert any(": %s: %s: it was '%s'" % (change.kind, change.key, change.was) in text and
                   text.endswith(". Not within 1.x") for text in final), (change, final)
    return {change.key: change.kind for change in changes}


class Copy:
    """A copy of files of the tree, with changes; gone after the case."""

    def __init__(self, *names):
        self.names = names

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="nvtxt-breaks-")
        for name in self.names:
            shutil.copy(os.path.join(TOP, name), self.folder)
        return self

    def __exit__(self, kind, value, trace):
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def change(self, name, was, now):
        text = interfaces.read(self.path(name))
        equal(text.count(was), 1, was)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text.replace(was, now))


# ---- The library --------------------------------------------------------------------------------

LAYOUT = ("struct ", "constant ")
MESSAGE = "    const char *message;               /* or: */\n"
LAST = "        float f32;\n    } value;\n"


def layout_with(*changes):
    with Copy("lib/nvtxt.h") as copy:
        for was, now in changes:
            copy.change("nvtxt.h", was, now)
        return kinds("library", interfaces.layout(copy.folder), *LAYOUT)


def test_the_header_as_it_is_is_no_break():
    equal(layout_with(), {})


def test_a_struct_that_grows_in_the_middle():
    found = layout_with((MESSAGE, MESSAGE + "    const char *frob;\n"))
    moved = {"struct nvtxt_attr." + name: "changed"
             for name in ("string", "json", "category", "color", "value_kind", "reserved", "value")}
    equal(found, {**moved, "struct nvtxt_attr": "added", "struct nvtxt_attr.frob": "added"})


def test_a_struct_that_grows_at_its_end_has_an_addition():
    change = (LAST, LAST + "    uint64_t frob;\n")
    equal(layout_with(change), {"struct nvtxt_attr": "added", "struct nvtxt_attr.frob": "added"})
    with Copy("lib/nvtxt.h") as copy:
        copy.change("nvtxt.h", *change)
        told, final = faults("library", known("library", *LAYOUT), interfaces.layout(copy.folder), NEWS, "1.1.0")
    equal((len(told), final), (2, []), "NEWS names both")


def test_a_struct_that_shrinks_and_a_member_that_is_gone():
    equal(layout_with((LAST, LAST.replace("value;", "frob;"))),
          {"struct nvtxt_attr.value": "gone", "struct nvtxt_attr.frob": "added"})
    equal(layout_with(("    int connected;        /* 1: a session is open now */\n", "")),
          {"struct nvtxt_stats": "changed", "struct nvtxt_stats.connected": "gone"})


def test_a_constant_that_moves():
    found = layout_with(("    NVTXT_U64,\n", "    NVTXT_FROB,\n    NVTXT_U64,\n"))
    equal(found["constant NVTXT_U64"], "changed")
    equal(found["constant NVTXT_FROB"], "added")


def test_a_function_with_another_argument():
    with Copy("lib/nvtxt.h") as copy:
        copy.change("nvtxt.h", "int nvtxt_flush(int timeout_ms);", "int nvtxt_flush(long timeout_ms);")
        copy.change("nvtxt.h", "void nvtxt_finish(void);", "void nvtxt_finish(void);\nvoid nvtxt_frob(const char *a);")
        copy.change("nvtxt.h", "void nvtxt_name_process(const char *name);", "void nvtxt_name_process(const char *who);")
        header = interfaces.without_comments(interfaces.read(copy.path("nvtxt.h")))
    equal(kinds("library", interfaces.functions(header), "function "),
          {"function nvtxt_flush": "changed", "function nvtxt_frob": "added"})


def test_a_symbol_that_is_gone_or_moves():
    """In a library of three functions: `nodes` has their names by version."""
    def symbols(**nodes):
        with Copy() as copy:
            with open(copy.path("map"), "w", encoding="utf-8") as file:
                file.write("".join("%s { global: %s; };\n" % (node, "; ".join(names)) for node, names in nodes.items()))
            return interfaces.symbols_of_text(
                "void nvtxt_a(void) {}\nvoid nvtxt_b(void) {}\nvoid nvtxt_c(void) {}\n", "-shared", "-fPIC",
                "-nostdlib", "-Wl,-soname,libnvtxt.so.0", "-Wl,--version-script=" + copy.path("map"))

    was = symbols(NVTXT_0=["nvtxt_a", "nvtxt_b"], NVTXT_PRIVATE=["nvtxt_c"])
    equal(set(was), {"symbol NVTXT_0 nvtxt_a", "symbol NVTXT_0 nvtxt_b", "symbol of the library"})
    now = symbols(NVTXT_0=["nvtxt_c"], NVTXT_1=["nvtxt_b"], NVTXT_PRIVATE=["nvtxt_a"])
    equal({change.key: change.kind for change in compare(was, now)},
          {"symbol NVTXT_0 nvtxt_a": "gone", "symbol NVTXT_0 nvtxt_b": "gone",
           "symbol NVTXT_1 nvtxt_b": "added", "symbol NVTXT_0 nvtxt_c": "added"})


# ---- The store and the fleet --------------------------------------------------------------------

def test_columns_that_are_renamed_retyped_or_new():
    with Daemon() as daemon:
        daemon.stop()
        equal(kinds("store", interfaces.store_facts(daemon.store)), {})
        db = sqlite3.connect(daemon.store, isolation_level=None)
        db.execute("ALTER TABLE NVTXT_DIAGNOSTICS RENAME COLUMN excerpt TO part")
        db.execute("ALTER TABLE NVTXT_SOURCES ADD COLUMN frob TEXT")
        db.execute("DROP TABLE NVTXT_CLOCKS")
        db.execute("CREATE TABLE NVTXT_CLOCKS (clock TEXT, clockNs TEXT, realtimeNs INTEGER, uncertaintyNs INTEGER)")
        db.execute("DROP VIEW ANALYSIS_DETAILS")
        db.execute("CREATE VIEW ANALYSIS_DETAILS AS SELECT 0 AS globalVid, 0 AS duration, 0 AS startTime")
        db.close()
        equal(kinds("store", interfaces.store_facts(daemon.store)),
              {"store NVTXT_DIAGNOSTICS.excerpt": "gone", "store NVTXT_DIAGNOSTICS.part": "added",
               "store NVTXT_SOURCES.frob": "added", "store NVTXT_CLOCKS.clockNs": "changed",
               "store ANALYSIS_DETAILS.stopTime": "gone"})


def test_a_table_of_the_fleet_that_changes():
    interfaces.need("ship", "nvtxt-ship")
    sql = interfaces.run_ship("init", "--print")[1]
    for was, now in (("peer_comm text", "comm text"), ("labels jsonb NOT NULL", "labels text NOT NULL"),
                     ("AS seconds", "AS length"), ("FUNCTION ns(timestamptz)", "FUNCTION ns(timestamp)")):
        assert was in sql, was
        sql = sql.replace(was, now)
    equal(kinds("fleet", interfaces.fleet_facts(sql)),
          {"fleet sources.peer_comm": "gone", "fleet sources.comm": "added", "fleet stores.labels": "changed",
           "fleet running.seconds": "gone", "fleet running.length": "added", "fleet ns()": "changed"})


# ---- JSON, CSV ----------------------------------------------------------------------------------

def test_a_member_of_json_that_is_gone_or_may_be_absent():
    with Copy("schema/nvtxt-ctl-1.schema.json") as copy:
        path = copy.path("nvtxt-ctl-1.schema.json")
        with open(path, encoding="utf-8") as file:
            schema = json.load(file)
        status = schema["$defs"]["status"]
        del status["properties"]["pid"]
        status["required"] = [name for name in status["required"] if name not in ("pid", "uptime_s")]
        status["properties"]["store"] = {"type": ["string", "null"]}
        status["properties"]["frob"] = {"type": "integer"}
        schema["$defs"]["event"]["properties"]["kind"]["enum"].remove("mark")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(schema, file)
        equal(kinds("json_ctl", interfaces.json_of(path)),
              {"status.pid": "gone", "status.uptime_s": "changed", "status.store": "changed",
               "status.frob": "added", 'event.kind "mark"': "gone"})


def test_a_column_of_csv_that_is_renamed():
    interfaces.need("client", "nvtxt-report")
    with interfaces.Story() as story:
        header = story.report("events", "--csv").splitlines()[0]
    key = "nvtxt-report events"
    equal(kinds("csv", interfaces.header_of(key, header), key + " "), {})
    equal(kinds("csv", interfaces.header_of(key, header.replace("PID", "Process") + ",Frob"), key + " "),
          {key + ' "PID"': "gone", key + ' "Process"': "added", key + ' "Frob"': "added"})
    moved = kinds("csv", interfaces.header_of(key, "Frob," + header), key + " ")
    equal((moved.pop(key + ' "Frob"'), set(moved.values())), ("added", {"changed"}))


# ---- Programs -----------------------------------------------------------------------------------

class Wrapped:
    """A program before which a script looks at its arguments."""

    def __init__(self, name, script):
        self.name, self.script = name, script

    def __enter__(self):
        self.copy = Copy().__enter__()
        path = self.copy.path(self.name)
        with open(path, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\n%s\nexec "%s" "$@"\n'
                       % (self.script, os.path.abspath(program("client", self.name))))
        os.chmod(path, 0o755)
        return path

    def __exit__(self, kind, value, trace):
        self.copy.__exit__(kind, value, trace)


def options_with(name, script):
    """What differs in the options, words and statuses of a program that is wrapped so."""
    with Wrapped(name, script) as path, mock.patch.object(interfaces, "need", lambda folder, wanted: path):
        now = interfaces.options_of("client", name)
        runs = interfaces.statuses_of_runs(name, path)
    return {**kinds("options", now, name + " "), **kinds("statuses", runs, "run %s " % name)}


def test_an_option_whose_argument_becomes_optional():
    with Wrapped("nvtxt-ctl", '[ "$*" = --timeout ] && exit\ncase "$1" in --json*) shift ;; esac') as path:
        now = {"nvtxt-ctl " + option: interfaces.argument_of(path, option, ())
               for option in ("--timeout", "--json", "--utc", "-n")}
    equal(kinds("options", now, *now), {"nvtxt-ctl --timeout": "changed", "nvtxt-ctl --json": "changed"})


def test_an_option_that_the_program_does_not_know():
    """With and without an argument, long and short; and a word that it does not take, and a status."""
    forget = """for a; do
case $a in
--mode=lin) echo "nvtxt-check: --mode takes lerp" >&2; exit 64 ;;
%s) echo "nvtxt-check: %s" >&2; exit 64 ;;
/nonexistent/f) exit 70 ;;
esac
done"""
    equal(options_with("nvtxt-check", ""), {}, "a wrapper alone is no break")
    other = {"nvtxt-check --mode lin": "gone", "run nvtxt-check /nonexistent/f": "changed"}
    for option, said in (("-q", "invalid option -- 'q'"), ("--quiet", "unrecognized option '--quiet'"),
                         ("--clock", "unrecognized option '--clock'")):
        found = options_with("nvtxt-check", forget % (option + "*", said))
        assert all(kind == "gone" for key, kind in found.items() if not key.startswith("run ")), found
        equal(found.pop("nvtxt-check " + option), "gone")
        equal({key: kind for key, kind in found.items() if not key.startswith("nvtxt-check %s " % option)}, other)


PLAIN = ("control ", "line ", "error code ", "refusal code ")  # of the wire: no members


def test_what_a_program_prints_of_its_tables():
    """An exit status changed, a key dropped, a default changed, a code renamed, words of the wire
    changed, an argument that becomes required."""
    core = interfaces.tables("core")

    def changed(interface, was, now):
        text = "\n".join(core[interface])
        equal(len(re.findall(was, text)), 1, was)
        lines = [line for line in re.sub(was, now, text).split("\n") if line]
        return interfaces.facts_of(lines)

    equal(kinds("statuses", changed("statuses", "NO_DAEMON: 69", "NO_DAEMON: 70"), "clients "),
          {"clients NO_DAEMON": "changed"})
    equal(kinds("conf", changed("conf", r"nvtxtd.conf KeepAge: .*\n", ""), "nvtxtd.conf "),
          {"nvtxtd.conf KeepAge": "gone"})
    equal(kinds("conf", changed("conf", 'default "30s"', 'default "31s"'), "nvtxtd.conf "),
          {"nvtxtd.conf LockTimeout": "changed"})
    equal(kinds("codes", changed("codes", " never-closed:", " not-closed:"), "nvtxt "),
          {"nvtxt loading never-closed": "gone", "nvtxt loading not-closed": "added"})
    equal(kinds("wire", changed("wire", "source: integer, required", "source: string, required"), *PLAIN),
          {"control disconnect source": "changed"})
    equal(kinds("language", changed("language", r"(SetThreadName ThreadId: value . of the default definition)",
                                    r"\1, required")), {"SetThreadName ThreadId": "changed"})


def test_a_word_of_a_message():
    core = interfaces.tables("core")
    lines = [line.replace('"escapes":', '"escape":') for line in core["messages"]]
    now = interfaces.facts_of_wire({"wire": core["wire"], "messages": lines})
    equal(kinds("wire", now), {"hello.escapes": "gone", "hello.escape": "added",
                               "welcome.escapes": "gone", "welcome.escape": "added"})
    lines = [line.replace('"protocol":1', '"protocol":2') for line in core["messages"]]
    now = interfaces.facts_of_wire({"wire": core["wire"], "messages": lines})
    equal(kinds("wire", now), {"hello protocol": "changed", "welcome protocol": "changed"})


def test_an_argument_of_a_module():
    with Copy("report/python/nvtxt_report.py") as copy:
        copy.change("nvtxt_report.py", "def metric_by_name(self, name: str)", "def metric_by_name(self, metric: str)")
        copy.change("nvtxt_report.py", "    def num_actions(self)", "    def num_action(self)")
        copy.change("nvtxt_report.py", "def load_report(path: \"Path\", options: \"Texts\" = ())",
                    "def load_report(path: \"Path\", frob: int, options: \"Texts\" = ())")
        place = importlib.util.spec_from_file_location("nvtxt_report", copy.path("nvtxt_report.py"))
        module = importlib.util.module_from_spec(place)
        sys.modules["nvtxt_report"] = module
        place.loader.exec_module(module)
        del sys.modules["nvtxt_report"]
        key = "nvtxt_report."
        equal(kinds("python", interfaces.module_facts(module), key),
              {key + "IAction.metric_by_name.name": "gone", key + "IAction.metric_by_name.metric": "added",
               key + "IRange.num_actions": "gone", key + "IRange.num_action": "added",
               key + "load_report.options": "changed", key + "load_report.frob": "added"})


# ---- What NEWS must say -------------------------------------------------------------------------

def final(added, built="1.1.0", news=NEWS):
    was = known("options") if added.startswith("nvtxt") else known("store")
    return faults("x", was, {**was, added: "new"}, news, built)[1]


def test_an_addition_needs_its_name_in_news():
    equal(final("nvtxt-ctl --frob"), [])
    assert "NEWS does not name --frobs" in final("nvtxt-ctl --frobs")[0]
    assert "NEWS does not name --old" in final("nvtxt-ctl --old")[0], "that is another version's"
    assert "NEWS does not name --fro " in final("nvtxt-ctl --fro")[0]


def test_a_number_at_the_beginning_of_a_line_is_no_head():
    wrapped = NEWS.replace("has a frob.\n", "has a frob. Others are as in\n1.1. and\n1.0.0, but --frobs is new.\n")
    assert wrapped != NEWS
    equal(final("nvtxt-ctl --frobs", news=wrapped), [])
    assert "NEWS does not name --frobs" in final("nvtxt-ctl --frobs", "1.0.0", wrapped.replace("(December 2026)", "(x)"))[0]


def test_the_name_of_what_is_new_as_a_whole_is_enough():
    equal(final("store NVTXT_FROBS.row"), [])
    assert "NEWS does not name row" in final("store NVTXT_SOURCES.row")[0]
    assert "NEWS does not name row or NVTXT_OTHERS" in final("store NVTXT_OTHERS.row")[0]


def test_a_released_version_gets_no_addition():
    assert "another one in configure.ac" in final("nvtxt-ctl --old", "1.0")[0]
    assert "NEWS has no part of version 1.2.0" in final("nvtxt-ctl --frob", "1.2.0")[0]


def test_what_differs_since_a_commit_is_told():
    if not shutil.which("git"):
        raise Skip("there is no git")
    with Copy() as copy:
        def git(*words):
            subprocess.run(["git", "-C", copy.folder, "-c", "user.name=n", "-c", "user.email=e", *words],
                           check=True, stdout=subprocess.DEVNULL,
                           env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"})

        def put(name, text):
            os.makedirs(os.path.dirname(copy.path(name)), exist_ok=True)
            with open(copy.path(name), "w", encoding="utf-8") as file:
                file.write(text)

        def since():
            program = copy.path("tests/compat/facts.py")
            done = subprocess.run([sys.executable, program, "HEAD"], stdout=subprocess.PIPE, text=True,
                                  check=False, env={**os.environ, "top_srcdir": copy.folder})
            return done.returncode, done.stdout.splitlines()

        def state(version, facts):
            put("configure.ac", "AC_INIT([nvtxtd], [%s])\n" % version)
            put("tests/compat/wire.facts", facts)

        put("tests/compat/facts.py", interfaces.read(HERE, "facts.py"))
        put("NEWS", NEWS)
        state("1.0.0", "ack.line: integer\nack.old: integer\n")
        git("init", "-q")
        git("add", "-A")
        git("commit", "-qm", "x")
        equal(since(), (0, []))
        state("1.1.0", "ack.line: string\nack.frobs: integer\nNVTXT_FROBS: table\n")
        code, lines = since()
        equal((code, lines), (1, [
            "wire: added: NVTXT_FROBS: it is 'table'",
            "wire: added: ack.frobs: it is 'integer': NEWS does not name frobs after its part of 1.0.0",
            "wire: changed: ack.line: it was 'integer', it is 'string'. Not within 1.x",
            "wire: gone: ack.old: it was 'integer'. Not within 1.x"]))
        state("2.0.0", "ack.line: string\nNVTXT_FROBS: table\n")
        equal((since()[0], len(since()[1])), (0, 3))


if __name__ == "__main__":
    run(globals())
