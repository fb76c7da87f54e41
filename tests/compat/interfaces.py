# SPDX-License-Identifier: Apache-2.0
"""What the programs of this build promise (nvtxt-compat(7)), asked of the programs themselves: for each
interface a function that returns its facts, "key: value". Skip: this build lacks a part of it."""
import csv as csv_of
import enum
import importlib
import inspect
import json
import os
import re
import sqlite3
import struct
import subprocess
import sys
import tempfile
from unittest import mock
from xml.etree import ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
from client import run_client  # noqa: E402
from lib import DEADLINE, SANITIZERS, TOP_BUILD, Daemon, Skip, equal, program  # noqa: E402
from report import F1  # noqa: E402
from schema import CONTROL, FOLDER, INSTALLED, SERVED, Schema  # noqa: E402
from ship import run_ship  # noqa: E402

TOP = os.path.join(HERE, "..", "..")
PROGRAMS = (("daemon", "nvtxtd"), ("client", "nvtxt-send"), ("client", "nvtxt-check"), ("client", "nvtxt-ctl"),
            ("client", "nvtxt-import"), ("client", "nvtxt-export"), ("client", "nvtxt-report"),
            ("ship", "nvtxt-ship"))


def need(folder, name):
    """The path of a program of the build."""
    path = program(folder, name)
    if not os.path.exists(path):
        raise Skip("this build has no " + name)
    return path


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def page_of(name):
    """A manual page, from the tree or, if it is made, from the build."""
    paths = [os.path.join(top, "man", name) for top in (TOP, TOP_BUILD)]
    return next(path for path in paths if os.path.exists(path))


def section_of(page, title):
    return re.search(r"^\.Sh %s\n(.*?)(?=^\.Sh |\Z)" % title, page, re.M | re.S)[1]


# ---- What tables of the code have ---------------------------------------------------------------

def tables(name):
    """The lines of one of the programs of this folder, by what stands before the tab."""
    done = subprocess.run([need("tests/compat", name + "_tables")], stdout=subprocess.PIPE, text=True, check=True)
    found = {}
    for line in done.stdout.splitlines():
        interface, tab, fact = line.partition("\t")
        found.setdefault(interface if tab else "", []).append(fact if tab else line)
    return found


def facts_of(lines):
    facts = dict(line.split(": ", 1) for line in lines)
    equal(len(facts), len(lines), "no key twice in %r" % lines[:1])
    return facts


def language():
    return facts_of(tables("core")["language"])


def codes():
    return facts_of(tables("core")["codes"] + tables("report")["codes"])


def conf():
    return facts_of(tables("core")["conf"] + tables("ship")["conf"])


def files():
    """Fields of section and rule files; and what the package has in such files."""
    facts = facts_of(tables("report")["files"])
    for what in ("sections", "sets", "rules", "reports"):
        got = run_client("nvtxt-report", "list", what, "--format", "json")
        equal(got[0], 0, got)
        for item in json.loads(got[1])["items"]:
            facts["list %s %s" % (what, item.get("identifier") or item["name"])] = "name"
    return facts


# ---- The sockets --------------------------------------------------------------------------------

def type_of(value):
    return {bool: "boolean", int: "integer", str: "string", dict: "object", list: "array",
            float: "number", type(None): "null"}[type(value)]


def members(name, message):
    """A fact for each member of a message, those in objects, too."""
    facts = {}
    for key, value in message.items():
        facts["%s.%s" % (name, key)] = type_of(value)
        if isinstance(value, dict):
            facts.update(members("%s.%s" % (name, key), value))
    return facts


def facts_of_wire(found):
    facts = facts_of(found["wire"])
    for line in found["messages"]:
        name, text = line.split(": ", 1)
        message = json.loads(text[text.index("{"):])
        facts.update(members(name, message))
        for word in ("protocol", "type"):
            if word in message:
                facts["%s %s" % (name, word)] = str(message[word])
    return facts


def wire():
    return facts_of_wire(tables("core"))


# ---- JSON ---------------------------------------------------------------------------------------

def is_plain(schema):
    """Whether it says no more than a type: its name is no promise."""
    return schema.get("type") != "object" and not {"items", "enum", "anyOf", "oneOf"} & set(schema)


def words_of(schema, definitions):
    """The types of a value, without its enumerated words."""
    if "$ref" in schema:
        place, name = schema["$ref"].rsplit("/", 1)
        known = definitions.get(name) if place.startswith("#") else None
        return words_of(known, definitions) if known and is_plain(known) else name
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " or ".join(words_of(part, definitions) for part in schema[several])
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " or ".join(sorted({type_of(value) for value in schema["enum"]}))
    types = schema.get("type", "anything")
    return types if isinstance(types, str) else " or ".join(types)


def add_schema(facts, key, schema, definitions, note=""):
    facts[key] = words_of(schema, definitions) + note
    for word in schema.get("enum", ()):
        facts["%s %s" % (key, json.dumps(word))] = "value"
    for several in ("anyOf", "oneOf"):
        for number, part in enumerate(schema.get(several, ()), 1):
            if "properties" in part or "items" in part:
                add_schema(facts, "%s (%d)" % (key, number), part, definitions)
    for name, part in schema.get("properties", {}).items():
        always = name in schema.get("required", ())
        add_schema(facts, "%s.%s" % (key, name), part, definitions, ", always" if always else "")
    if "items" in schema:
        add_schema(facts, key + "[]", schema["items"], definitions)


def json_of(path, *others):
    root = Schema(path, *others).root
    facts = {"schema": root["$id"]}
    for name, definition in root["$defs"].items():
        if not is_plain(definition):
            add_schema(facts, name, definition, root["$defs"])
    for part in root.get("oneOf", []) + root.get("anyOf", []):
        facts["output %s" % words_of(part, root["$defs"])] = "one of several"
    return facts


def json_ctl():
    return json_of(CONTROL)


def json_report():
    facts = json_of(INSTALLED)
    served = json_of(os.path.join(FOLDER, SERVED.root["$id"].split(":")[1] + "-1.schema.json"), INSTALLED)
    facts.update(("serve " + key, value) for key, value in served.items())
    return facts


def json_ship():
    facts = {}
    for line in tables("ship")["messages"]:
        name, text = line.split(": ", 1)
        facts.update(members(name, json.loads(text)))
    return facts


# ---- Programs -----------------------------------------------------------------------------------

# Where no option can do harm.
NOWHERE = {"NVTXT_SOCKET": "/nonexistent/s", "NVTXT_STORE": "/nonexistent/s", "XDG_RUNTIME_DIR": "/nonexistent",
           "CONFIGURATION_DIRECTORY": "/nonexistent", "HOME": "/nonexistent", "NVTXT_SPOOL": "/nonexistent"}
NO_ARGUMENT = re.compile(r"doesn't allow an argument|takes no value|is not known|invalid option")
UNKNOWN = re.compile(r"unrecognized option|is not known|invalid option -- '[^\x01]'")
LACKS_ARGUMENT = re.compile(r"requires an argument|lacks its value")


def run_nowhere(path, *words):
    done = subprocess.run([path, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, timeout=DEADLINE, env={**os.environ, **NOWHERE}, check=False)
    return done.returncode, done.stderr.decode(errors="replace")


def says(path, *words):
    return run_nowhere(path, *words)[1]


def with_value(option, value):
    return option + ("=" if option.startswith("--") else "") + value


def argument_of(path, option, optional):
    """Whether an option takes an argument; None: the program does not know it. None of these runs does
    anything: one has an option that is refused, or --help; the other ends at the option, which is
    refused because it needs one. What the help calls optional is not tried: it would work."""
    said = says(path, with_value(option, "\x01"), "--help")
    if NO_ARGUMENT.search(said) or UNKNOWN.search(said):
        return None if UNKNOWN.search(says(path, option, "--help")) else "no argument"
    if option in optional:
        return "argument optional"
    return "argument required" if LACKS_ARGUMENT.search(says(path, option)) else "argument optional"


def takes_word(path, option, word):
    """Some look at a word later, or the daemon does: they complain of none here."""
    return not says(path, with_value(option, word), "--help")


def help_of(path, *command):
    return subprocess.run([path, *command, "--help"], stdout=subprocess.PIPE, text=True, check=True,
                          stdin=subprocess.DEVNULL).stdout


def helps_of(name, path):
    """The help of a program by command, "" for itself: of nvtxt-report alone, commands have one each."""
    commands = commands_of(name, path) if name == "nvtxt-report" else []
    return {"": help_of(path), **{command: help_of(path, command) for command in commands}}


def options_of_page(name):
    done = subprocess.run(["awk", "-f", os.path.join(HERE, "..", "options_of_page.awk"), page_of(name + ".1")],
                          stdout=subprocess.PIPE, text=True, check=True)
    return {word for word in done.stdout.split() if re.fullmatch(r"-\w|--[\w-]+", word)}


def commands_of(name, path):
    """The commands of a program, as completion/nvtxt.bash finds them."""
    script = '. "$0" && program=$1 && _nvtxt_commands "$2"'
    done = subprocess.run(["bash", "-c", script, os.path.join(TOP, "completion", "nvtxt.bash"), name, path],
                          stdout=subprocess.PIPE, text=True, check=True, env={**os.environ, **NOWHERE})
    return done.stdout.split()


def words_of_options(name):
    """The words of options in completion/nvtxt.bash: of this program and of all."""
    text = read(TOP, "completion", "nvtxt.bash")
    body = dict(re.findall(r"^(_nvtxt\w*)\(\) \{.*?\n(.*?)^\}", text, re.M | re.S))
    own = body.get("_nvtxt_%s_value" % name.rsplit("-", 1)[-1], "")
    found = {}
    for part in (own, body["_nvtxt"]):  # its own ones win
        for names, words in re.findall(r"^ +(-[^)\n]*)\)[^\n]*?_nvtxt_words ([^;$\"]+?);;", part, re.M):
            for option in names.split(" | "):
                found.setdefault(option, words.split())
    return found


def environment_of(name):
    page = read(page_of(name + ".1"))
    text = section_of(page, "ENVIRONMENT") if ".Sh ENVIRONMENT" in page else ""
    lines = re.findall(r"^\.It (Ev .*)$", text, re.M)
    return {word for line in lines for word in re.findall(r"\b[A-Z][A-Z0-9_]+\b", line)}


def options_of(folder, name):
    path = need(folder, name)
    helps = helps_of(name, path)
    optional = set(re.findall(r"(--[a-z-]+)\[=", " ".join(helps.values())))
    known = {option: argument_of(path, option, optional) for option in options_of_page(name)}
    known = {option: kind for option, kind in known.items() if kind}
    facts = {"%s %s" % (name, option): kind for option, kind in known.items()}
    for command in commands_of(name, path):
        facts["%s command %s" % (name, command)] = "command"
        for option in set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", helps.get(command, ""))) & set(known):
            facts["%s command %s %s" % (name, command, option)] = known[option]
    for option, words in words_of_options(name).items():
        if option in known:
            facts.update(("%s %s %s" % (name, option, word), "word") for word in words
                         if takes_word(path, option, word))
    facts.update(("%s $%s" % (name, word), "environment") for word in environment_of(name))
    return facts


def options():
    if SANITIZERS:
        raise Skip("the programs start hundreds of times, and do nothing")
    facts = {}
    for folder, name in PROGRAMS:
        need(folder, name)
        facts.update(options_of(folder, name))
    return facts


# Runs that end at once, wherever there is no daemon and no store.
RUNS = {"": (["--version"], ["--frob"]),
        "nvtxtd": (["-c", "/nonexistent/c", "--check-config"],),
        "nvtxt-send": ([],), "nvtxt-check": (["/nonexistent/f"],), "nvtxt-ctl": (["status"], ["where", "--store"]),
        "nvtxt-import": (["info", "-i", "/nonexistent/s"],), "nvtxt-export": (["--format", "csv"],),
        "nvtxt-report": (["summary", "/nonexistent/s"],),
        "nvtxt-ship": (["--once", "--target", "host=/nonexistent"],)}


def statuses_of_runs(name, path):
    return {"run " + " ".join([name, *words]): str(run_nowhere(path, *words)[0]) for words in RUNS[""] + RUNS[name]}


def statuses():
    facts = facts_of(tables("core")["statuses"])
    for folder, name in PROGRAMS:
        facts.update(statuses_of_runs(name, need(folder, name)))
        for line in re.findall(r"^\.It (.*)$", section_of(read(page_of(name + ".1")), "EXIT STATUS"), re.M):
            words = re.sub(r"\bAr n\b|\bNo\b", "n", line).split(",")
            facts.update(("%s %s" % (name, " ".join(word.split())), "status") for word in words)
    return facts


# ---- CSV and lines of JSON ----------------------------------------------------------------------

# All payloads, a domain, a range that another thread ends, a line that is wrong.
ALL = r"""#nvtxt-session {"protocol":1,"session":"0b5d2c9e6f0c4d0a9d5e0d1f7a3b8c21","nvtx":1}
TimeBase = ClockRealtime
ProcessId = 1
ThreadId = 1
@SetCategoryName, CategoryId, Name
SetCategoryName, 3, "input"
@Marker, Time, Message, Payload, Json, Domain, CategoryId, Color
Marker, 1, "u", 'u64:1', '{"a":1}', "net", 3, "red"
Marker, 2, "i", 1, '', "", 0, ""
Marker, 3, "d", '1.5', '', "", 0, ""
Marker, 4, "u", 'u32:1', '', "", 0, ""
Marker, 5, "i", 'i32:1', '', "", 0, ""
Marker, 6, "f", 'f32:1.5', '', "", 0, ""
@RangeStart, Time, RangeId
RangeStart, 7, 1
@RangeEnd, Time, RangeId, ThreadId
RangeEnd, 9, 1, 2
"""


def header_of(key, text):
    """A fact for each column of the first line of CSV."""
    columns = next(csv_of.reader(text.splitlines()))
    return {'%s "%s"' % (key, name): "column %d" % number for number, name in enumerate(columns, 1)}


class Story:
    """A store with events of all kinds, for as long as the with statement lasts."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="nvtxt-compat-")
        self.store, source = (os.path.join(self.folder.name, name) for name in ("s.sqlite", "all.nvtxt"))
        with open(source, "w", encoding="utf-8") as file:
            file.write(ALL)
        self.run("nvtxt-import", "create", "-n", F1, source, "-o", self.store)
        return self

    def __exit__(self, kind, value, trace):
        self.folder.cleanup()

    @staticmethod
    def run(*command):
        status, out, err = run_client(*command)
        equal(status, 0, (command, err))
        return out

    def export(self, form):
        return self.run("nvtxt-export", "--store", self.store, "--format", form)

    def report(self, *command):
        return self.run("nvtxt-report", *command, self.store)


def csv():
    facts = {}
    need("client", "nvtxt-report")
    with Story() as story:
        facts.update(header_of("nvtxt-export csv", story.export("csv")))
        for line in story.export("jsonl").splitlines():
            facts.update(members("nvtxt-export jsonl", json.loads(line)))
        for command in ("events", "logs", "metrics", "source"):
            facts.update(header_of("nvtxt-report " + command, story.report(command, "--csv")))
        for item in json.loads(story.run("nvtxt-report", "list", "reports", "--format", "json"))["items"]:
            name = item["name"]
            facts.update(header_of("nvtxt-report stats " + name, story.report("stats", "-r", name, "--csv")))
    return facts


# ---- Metrics ------------------------------------------------------------------------------------

def prometheus(text):
    """Types, and labels of samples."""
    facts = {}
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M):
        facts["prometheus " + name] = kind
    for name, labels in re.findall(r"^(\w+)\{(.*)\} ", text, re.M):
        for label in re.findall(r'(\w+)="', labels):
            facts["prometheus %s label %s" % (name, label)] = "label"
    return facts


def metrics():
    facts = facts_of(tables("report")["metrics"])
    facts.update(prometheus("\n".join(tables("ship")[""])))
    with Daemon() as daemon:
        facts.update(prometheus(daemon.control("metrics")["text"]))
    return facts


# ---- The store and the fleet --------------------------------------------------------------------

# Nobody else reads these: nvtxt-store(5) says so. A pattern is TABLE.COLUMN.
INTERNAL = re.compile(r"(NVTXT_NAME_ROWS|NVTXT_STATE)\.|NVTXT_SESSIONS\.state$|"
                      r"NVTXT_FILES\.(headBytes|headHash|tailBytes|tailHash|state)$")


def store_facts(path):
    db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    facts = {"header application_id": "%#x" % db.execute("PRAGMA application_id").fetchone()[0]}
    for name, kind in db.execute("SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view')").fetchall():
        if INTERNAL.match(name + "."):
            continue
        facts["store %s" % name] = kind
        for _, column, declared, notnull, _, key, hidden in db.execute("PRAGMA table_xinfo(\"%s\")" % name):
            note = (", never null" if notnull else "") + (", key %d" % key if key else "")
            if not INTERNAL.match("%s.%s" % (name, column)) and not hidden:
                facts["store %s.%s" % (name, column)] = declared + note if kind == "table" else "of a view"
    for number, name in db.execute("SELECT id, name FROM ENUM_NSYS_EVENT_TYPE"):
        facts["store eventType %d" % number] = name
    for name, in db.execute("SELECT name FROM META_DATA_EXPORT"):
        facts["store META_DATA_EXPORT %s" % name] = "row"
    db.close()
    return facts


def store():
    with Daemon() as daemon:
        daemon.stop()
        return store_facts(daemon.store)


def closing(text, at):
    """Where the bracket that opens at `at` closes. Texts in quotes have no bracket that counts."""
    depth = 0
    for match in re.finditer(r"'[^']*'|[()]", text[at:]):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth == 0:
            return at + match.start()
    raise AssertionError("no ) after %r" % text[at:at + 40])


def items(text):
    """What stands between commas that are in no brackets."""
    found, depth = [""], 0
    for part in re.findall(r"'[^']*'|[(),\[\]]|[^'(),\[\]]+", text):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(part, 0)
        if part == "," and depth == 0:
            found.append("")
        else:
            found[-1] += part
    return [" ".join(item.split()) for item in found]


NO_COLUMN = re.compile(r"(PRIMARY KEY|FOREIGN KEY|UNIQUE|CHECK|CONSTRAINT)\b")
NOT_OF_TYPE = re.compile(r" (COLLATE|NOT NULL|NULL|PRIMARY|REFERENCES|DEFAULT|GENERATED|UNIQUE|CHECK)\b.*$")
NAME = r'(?:"\w+"\.)?(\w+)'


def columns_of_table(body):
    for item in items(body):
        if not NO_COLUMN.match(item):
            name, kind = NOT_OF_TYPE.sub("", item).split(" ", 1)
            yield name, kind + (", never null" if re.search(r"NOT NULL|PRIMARY KEY", item) else "")


def columns_of_view(query, facts):
    """The names of what a query chooses. ALIAS.* stands for the columns of a table."""
    chosen = re.match(r"SELECT\s+(.*)", query, re.S)[1]
    depth, end = 0, len(chosen)
    for match in re.finditer(r"'[^']*'|[()]|\bFROM\b", chosen):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if match[0] == "FROM" and depth == 0:
            end = match.start()
            break
    for item in items(chosen[:end]):
        if not item.endswith(".*"):
            yield re.search(r'(\w+)"?$', item)[1]
            continue
        table = re.search(r"\b(\w+) AS %s\b" % item[:-2], chosen)[1]
        yield from (key.split(".")[1] for key in list(facts) if key.startswith("fleet %s." % table))


def without_bodies(sql):
    """The statements alone: no comments, and no code of functions."""
    return re.sub(r"\$(\w*)\$.*?\$\1\$", "''", re.sub(r"--.*", "", sql), flags=re.S)


def fleet_facts(sql):
    facts = {}
    sql = without_bodies(sql)
    for match in re.finditer(r"\bCREATE TABLE (?:IF NOT EXISTS )?%s \(" % NAME, sql):
        facts["fleet " + match[1]] = "table"
        for name, kind in columns_of_table(sql[match.end():closing(sql, match.end() - 1)]):
            facts["fleet %s.%s" % (match[1], name)] = kind
    for match in re.finditer(r"\bCREATE (?:OR REPLACE )?VIEW %s (?:WITH \([^)]*\) )?AS\s+([^;]*);" % NAME, sql):
        facts["fleet " + match[1]] = "view"
        facts.update(("fleet %s.%s" % (match[1], name), "of a view") for name in columns_of_view(match[2], facts))
    documented = set(re.findall(r"\bFn (\w+)", read(page_of("nvtxt-fleet.7"))))
    for match in re.finditer(r"\bCREATE (?:OR REPLACE )?FUNCTION %s\(([^)]*)\)\s+RETURNS\s+(\w+)" % NAME, sql):
        if match[1] in documented:
            facts["fleet %s()" % match[1]] = "%s, of (%s)" % (match[3], ", ".join(items(match[2])))
    for match in re.finditer(r"\bALTER TABLE %s ADD (?:COLUMN )?(\w+) ([^;,]*)" % NAME, sql):
        if not NO_COLUMN.match(match[2]):
            facts.update(("fleet %s.%s" % (match[1], name), kind)
                         for name, kind in columns_of_table("%s %s" % (match[2], match[3])))
    return facts


def fleet():
    need("ship", "nvtxt-ship")
    status, out, err = run_ship("init", "--print")
    equal((status, err), (0, ""), "init --print")
    return fleet_facts(out)


# ---- The library --------------------------------------------------------------------------------

def run_tool(*command):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    except FileNotFoundError as reason:
        raise Skip("%s is not there" % command[0]) from reason


def symbols(path, prefix):
    """What a library exports, in each of its versions: programs that were linked ask for one of them."""
    facts = {}
    for line in run_tool("nm", "-D", "--defined-only", "--with-symbol-versions", path).splitlines():
        _, kind, name = line.split()
        name, _, node = name.partition("@")
        if kind != "A" and "PRIVATE" not in node:
            facts[" ".join([prefix, node.lstrip("@"), name] if node else [prefix, name])] = "exported"
    soname = re.search(r"SONAME.*\[(.*)\]", run_tool("readelf", "-d", path))
    facts["%s of the library" % prefix] = soname[1] if soname else "no SONAME"
    return facts


def symbols_of_text(text, *options):
    """The same of a library that is made from a text."""
    with tempfile.TemporaryDirectory(prefix="nvtxt-compat-") as place:
        path = os.path.join(place, "library.so")
        compile_text(path, text, *options)
        return symbols(path, "symbol")


def variables(path):
    """What the library asks the environment for: its strings that look like names."""
    with open(path, "rb") as file:
        found = set(re.findall(rb"(?<=\0)(NVTXT_[A-Z_]+)(?=\0)", file.read()))
    return {"environment $" + name.decode(): "read" for name in found - {b"NVTXT_PRIVATE"}}


def without_comments(header):
    return re.sub(r"/\*.*?\*/", "", header, flags=re.S)


def functions(header):
    """Types alone: names of parameters are no promise."""
    facts = {}
    for result, name, text in re.findall(r"^([\w ]+[ *]+)(nvtxt_\w+)\(([^)]*)\);", header, re.M):
        kinds = [re.sub(r"(?<=[ *])\w+$", "", " ".join(part.split())).strip() for part in text.split(",")]
        facts["function %s" % name] = "%s (%s)" % (result.strip(), "void" if text == "void" else ", ".join(kinds))
    return facts


def structs(header):
    """The names of the members of each struct, a union as one member."""
    for name, body in re.findall(r"^struct (\w+) \{\n(.*?)^\};", header, re.M | re.S):
        body = re.sub(r"\bunion \{.*?\} (\w+);", r"union \1;", body, flags=re.S)
        yield name, [re.search(r"(\w+)$", part.strip())[1]
                     for line in body.split(";") if line.strip() for part in line.split(",")]


def enums(header):
    return [name for body in re.findall(r"^enum \w+ \{\n(.*?)^\};", header, re.M | re.S)
            for name in re.findall(r"(\w+)", body)]


def layout_program(header):
    lines = ["#include <stdio.h>", "#include <nvtxt.h>", "int main(void) {"]
    for name, parts in structs(header):
        size = "at least %zu bytes" if "size" in parts else "%zu bytes"
        lines.append('printf("struct %s: %s\\n", sizeof(struct %s));' % (name, size, name))
        for part in parts:
            lines.append('printf("struct %s.%s: offset %%zu, %%zu bytes\\n", offsetof(struct %s, %s), '
                         "sizeof(((struct %s *)0)->%s));" % (name, part, name, part, name, part))
    for name in enums(header):
        lines.append('printf("constant %s: %%d\\n", (int)%s);' % (name, name))
    return "\n".join(lines + ["return 0;", "}", ""])


def compile_text(path, text, *options):
    with open(path + ".c", "w", encoding="utf-8") as file:
        file.write(text)
    run_tool(*(os.environ.get("CC") or "cc").split(), *options, "-o", path, path + ".c")


def compile_and_run(text, *options, tool=()):
    """What a program prints, or what a tool prints of a program."""
    with tempfile.TemporaryDirectory(prefix="nvtxt-compat-") as place:
        path = os.path.join(place, "layout")
        compile_text(path, text, *options)
        return run_tool(*tool, path)


def layout(folder):
    """Sizes, offsets and constants of the nvtxt.h in a folder, as the compiler has them."""
    if struct.calcsize("P") != 8:
        raise Skip("the layouts that are written down are those of 64 bits")
    program_text = layout_program(without_comments(read(folder, "nvtxt.h")))
    return facts_of(compile_and_run(program_text, "-I", folder).splitlines())


def offsets_of_abidw(folder):
    """The offset of each member of each struct of nvtxt.h, as libabigail reads them."""
    names = [name for name, _ in structs(without_comments(read(folder, "nvtxt.h")))]
    text = "#include <nvtxt.h>\n" + "".join("struct %s v_%s;\n" % (name, name) for name in names)
    xml = compile_and_run(text, "-g", "-shared", "-fPIC", "-I", folder, tool=("abidw",))
    return {"%s.%s" % (kind.get("name"), member.find("var-decl").get("name")):
            int(member.get("layout-offset-in-bits")) // 8
            for kind in ElementTree.fromstring(xml).iter("class-decl") if kind.get("name") in names
            for member in kind.findall("data-member")}


def library():
    shared = os.path.join(TOP_BUILD, "lib", ".libs", "libnvtxt.so")
    inject = os.path.join(TOP_BUILD, "inject", ".libs", "libnvtxt-inject.so")
    facts = symbols(shared, "symbol")
    facts.update(symbols(inject, "inject symbol"))
    facts.update(variables(shared))
    facts.update(variables(inject))
    facts.update(functions(without_comments(read(TOP, "lib", "nvtxt.h"))))
    facts.update(layout(os.path.join(TOP, "lib")))
    return facts


# ---- Python -------------------------------------------------------------------------------------

MODULES = (("lib", "nvtxt"), ("report", "nvtxt_report"), ("report", "nvtxt_rules"))
HOW = {inspect.Parameter.KEYWORD_ONLY: "by name", inspect.Parameter.VAR_POSITIONAL: "any more",
       inspect.Parameter.VAR_KEYWORD: "any more by name"}


def arguments(key, function, first=0):
    facts = {}
    parameters = list(inspect.signature(function).parameters.values())[first:]
    for number, one in enumerate(parameters, 1):
        value = HOW.get(one.kind, "argument %d" % number)
        if one.default is not one.empty:
            plain = isinstance(one.default, (int, float, str, type(None)))
            value += ", default %s" % (repr(one.default) if plain else "an object")
        facts["%s.%s" % (key, one.name)] = value
    return facts


def class_facts(key, kind):
    """What a class of ours has, with what it inherits from ours."""
    facts = {key: "class"}
    for base in kind.__bases__:
        if base.__name__[0] != "_" and base is not object:
            facts["%s base %s" % (key, base.__name__)] = "class"
    ours = [base for base in kind.__mro__ if base.__module__.startswith("nvtxt")]
    seen = {name: value for base in reversed(ours) for name, value in vars(base).items()}
    for name, value in seen.items():
        plain = getattr(value, "__func__", value)
        if name == "__init__" and key.startswith("nvtxt."):  # other objects are made by their module
            facts.update(arguments(key + "()", plain, 1))
        elif name.startswith("_"):
            continue
        elif isinstance(value, property):
            facts["%s.%s" % (key, name)] = "property"
        elif inspect.isfunction(plain):
            facts["%s.%s" % (key, name)] = "method"
            facts.update(arguments("%s.%s" % (key, name), plain, 0 if isinstance(value, staticmethod) else 1))
        elif isinstance(value, (int, str, enum.Enum)):
            facts["%s.%s" % (key, name)] = "%d" % value if isinstance(value, int) else str(value)
    return facts


def module_facts(module):
    facts = {}
    for name in module.__all__:
        key, value = "%s.%s" % (module.__name__, name), getattr(module, name)
        if inspect.isclass(value):
            facts.update(class_facts(key, value))
        elif callable(value):
            facts[key] = "function"
            facts.update(arguments(key, value))
        else:
            facts[key] = "%d" % value if isinstance(value, int) else "value"
    return facts


def python():
    facts = {}
    sys.path[:0] = [os.path.join(TOP, folder, "python") for folder, _ in MODULES[:2]]
    # Without the library, functions of the module nvtxt do nothing, with any arguments.
    with mock.patch("ctypes.PyDLL"), mock.patch("ctypes.CDLL"):
        for _, name in MODULES:
            facts.update(module_facts(importlib.import_module(name)))
    return facts


ALL_INTERFACES = {
    "codes": (codes, "Codes of diagnostics, and of faults in files of sections and rules."),
    "conf": (conf, "Keys of nvtxtd.conf and nvtxt-ship.conf: types, defaults, ranges, words."),
    "csv": (csv, "Columns of CSV, and members of the lines of nvtxt-export's jsonl."),
    "files": (files, "Fields of section and rule files, and the names that the package has in such files."),
    "fleet": (fleet, "Tables, views and columns of a fleet, as nvtxt-ship init --print has them."),
    "json_ctl": (json_ctl, "Members of what nvtxt-ctl --json prints, and of results of the control socket."),
    "json_report": (json_report, "Members of the JSON of nvtxt-report."),
    "json_ship": (json_ship, "Members of what nvtxt-ship status --json prints."),
    "language": (language, "Commands and arguments of the language."),
    "library": (library, "libnvtxt: symbols, functions, layout of structs, environment."),
    "metrics": (metrics, "Metrics: those for Prometheus, and those of nvtxt-report."),
    "options": (options, "Options of the programs, their arguments and words; commands; the environment."),
    "python": (python, "Names and arguments of the Python modules."),
    "statuses": (statuses, "Exit statuses."),
    "store": (store, "Tables, views and columns of a store."),
    "wire": (wire, "Words and members of both sockets."),
}
