# SPDX-License-Identifier: Apache-2.0
"""nvtxt-export of what only sources with the extension nvtx have: out and in again it is the same,
and nobody else sees anything of it."""
import json
import os
import random
import sqlite3
import sys

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))
import stored

from client import Folder, contains, run_client
from lib import Daemon, equal, run

HELLO = '#nvtxt-session {"protocol":1,"nvtx":1}\n'
MARKER = "@Marker, Time, ProcessId, ThreadId, CategoryId, Message, Payload, Domain, Json\n"


def export(store, form, *filters):
    status, out, err = run_client("nvtxt-export", "-q", "--store", store, "--format", form, *filters)
    equal((status, err), (0, ""))
    return out


def create(folder, text, name="store.sqlite"):
    """A store of these lines. Lines with errors are no fault of it."""
    status, _, err = run_client("nvtxt-import", "create", "-q", "--force", "-n",
                                folder.write(name + ".nvtxt", text), "-o", folder.name(name))
    equal(status in (0, 1), True, err)
    return folder.name(name)


# ---- There and back -----------------------------------------------------------------------------

TEXTS = ["plain", "it's", 'say "x"', "", "\u00e4\u20ac\U0001F600", "back\\slash\\", "a,b", "\\n",
         'both \' and "', "two\nlines", '\\"', "\\\\n\n\\", "x" * 300, "$x @y", "\r cr"]
VALUES = ['1', '-0.5e+3', '"s\\u0041\\n"', '{}', '[]', '{"a":[1,{"b":null}]}', 'null', 'true',
          ' { "x" : 1 } ', '{"begin":1,"end":2}', '{"begin":null,"end":"it\'s"}', '[1,\n2]',
          '"\u20ac \\" }"', '[' * 64 + ']' * 64, '{"end":1}', '12345678901234567890123', '1e999']
PAYLOADS = ['""', "5", "-9223372036854775808", '"0.1"', '"1e999"', '"7"', '"u64:18446744073709551615"',
            '"u64:0"', '"i64:-9"', '"u32:4294967295"', '"i32:-2147483648"', '"f64:-0.0"', '"f64:nan"',
            '"f32:0.1"', '"f32:-inf"', '"f32:1e30"', '"f64:inf"']
DOMAINS = ["", "", "one", "two", "it's \"three\""]


def quoted(text):
    """A string as a session with escapes has it."""
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


class Stream:
    """Random lines; many of them open and close ranges on stacks of several domains."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lines = [
            MARKER.strip(),
            "@RangePush, Time, ProcessId, ThreadId, Color, Message, Payload, Domain, Json",
            "@RangePop, Time, ProcessId, ThreadId, Domain, Json",
            "@RangeStart, Time, RangeId, ProcessId, ThreadId, Message, Payload, Domain, Json",
            "@RangeEnd, Time, RangeId, ProcessId, ThreadId, Json",
            "@RangeStartEnd, Start, End, ProcessId, ThreadId, Message, Payload, Domain, Json",
            "@SetCategoryName, CategoryId, Name, Domain",
            "@SetResourceName, ProcessId, Kind, Handle, Name, Domain",
            "@SetCounter, Name, Domain, Json"]
        self.open = []

    def one_of(self, values):
        return self.rng.choice(values)

    def text(self):
        return quoted(self.one_of(TEXTS) + self.one_of(["", str(self.rng.randrange(9))]))

    def domain(self):
        return quoted(self.one_of(DOMAINS))

    def json(self):
        return quoted(self.one_of(VALUES)) if self.rng.random() < .4 else '""'

    def thread(self):
        return "%d, %d" % (self.one_of([0, 7, 7, 0xFFFFFF]), self.one_of([0, 7, 8, 0xFFFFFF]))

    def attributes(self):
        return "%s, %s, %s, %s" % (self.text(), self.one_of(PAYLOADS), self.domain(), self.json())

    def event(self, kind):
        at = self.one_of([self.rng.randrange(-10**6, 10**6), self.rng.randrange(-2**62, 2**62)])
        thread = self.thread()
        if kind < 3:
            return "Marker, %d, %s, %d, %s" % (at, thread, self.rng.randrange(3), self.attributes())
        if kind < 6:
            return "RangePush, %d, %s, Red, %s" % (at, thread, self.attributes())
        if kind < 9:
            return "RangePop, %d, %s, %s, %s" % (at, thread, self.domain(), self.json())
        if kind == 9:
            self.open.append(len(self.lines))
            return "RangeStart, %d, %d, %s, %s" % (at, self.open[-1], thread, self.attributes())
        if kind == 10 and self.open:
            number = self.open.pop(self.rng.randrange(len(self.open)))
            return "RangeEnd, %d, %d, %s, %s" % (at, number, thread, self.json())
        return "RangeStartEnd, %d, %d, %s, %s" % (at, at + self.rng.randrange(-5, 10**6), thread,
                                                 self.attributes())

    def name(self):
        return self.one_of([
            "SetFileDisplayName, " + self.domain(),
            "ProcessId = %d" % self.one_of([0, 7, 9]),
            "Domain = " + self.domain(),
            "SetCategoryName, %d, %s, %s" % (self.rng.randrange(3), self.text(), self.domain()),
            "SetThreadName, %s, %s" % (self.thread(), self.text()),
            "SetProcessName, %d, %s" % (self.one_of([0, 7]), self.text()),
            "SetCounter, %s, %s, %s" % (self.text(), self.domain(), self.json()),
            "SetResourceName, %d, %s, %s, %s, %s" % (
                self.one_of([7, 11]), self.one_of(["cuStream", "generic", "x" * 31]),
                self.one_of(["0", "-1", "0x7FFF", '"0xFFFFFFFFFFFFFFFF"', '"0x1"']), self.text(),
                self.domain())])

    def write(self, count):
        for _ in range(count):
            kind = self.rng.randrange(14)
            self.lines.append(self.event(kind) if kind < 12 else self.name())
        return HELLO + "\n".join(self.lines) + "\n"


TABLES = {
    # Ids are those of texts and domains; a range that was open at the end is closed like the others.
    "events": "SELECT start, end, eventType, text, category, color, globalTid, endGlobalTid, "
              "(SELECT name FROM NVTXT_DOMAINS d WHERE d.id = domainId), uint64Value, int64Value, "
              "doubleValue, uint32Value, int32Value, floatValue, jsonText FROM NVTX_EVENTS "
              "WHERE eventType IN (34, 59, 60) ORDER BY rowid",
    "names": "SELECT start, end, eventType, text, category, color, globalTid, endGlobalTid, "
             "(SELECT name FROM NVTXT_DOMAINS d WHERE d.id = domainId) FROM NVTX_EVENTS "
             "WHERE eventType NOT IN (34, 59, 60) ORDER BY 3, 4, 9, 7, 5",
    "threads": "SELECT globalTid, value FROM ThreadNames JOIN StringIds ON id = nameId ORDER BY 1",
    "processes": "SELECT globalPid, pid, name FROM PROCESSES ORDER BY 1",
    "domains": "SELECT name FROM NVTXT_DOMAINS ORDER BY 1",
    "resources": "SELECT globalPid, (SELECT name FROM NVTXT_DOMAINS WHERE id = domainId), kind, "
                 "handle, name FROM NVTXT_RESOURCES ORDER BY 1, 2, 3, 4",
    "counters": "SELECT globalPid, (SELECT d.name FROM NVTXT_DOMAINS d WHERE id = domainId), c.name, "
                "description, unit, json FROM NVTXT_COUNTERS c ORDER BY 1, 2, 3",
}


def content(store):
    with stored.reading(store) as reader:
        equal(stored.broken_rules(reader), [])
        return {table: [json.dumps(tuple(row)) for row in reader.execute(sql)]
                for table, sql in TABLES.items()}


def comes_back(folder, first, what=""):
    """Out and in again: every table is the same, and so is the text."""
    text = export(first, "nvtxt")
    second = create(folder, text, "second")
    wanted, found = content(first), content(second)
    for table in TABLES:
        for a, b in zip(wanted[table], found[table]):
            equal(b, a, "%s of %s" % (table, what))
        equal(len(found[table]), len(wanted[table]), "%s of %s" % (table, what))
    return text


def test_random_streams_come_back_the_same():
    for seed in range(200 if os.environ.get("NVTXT_TEST_LONG") else 5):
        with Folder() as folder:
            text = comes_back(folder, create(folder, Stream(seed).write(300), "first"),
                              "seed %d" % seed)
            equal(text.startswith(HELLO), True)


def test_what_has_no_need_of_the_extension_does_without():
    plain = ('SetFileDisplayName, "shop"\n@Marker, Time, ProcessId, ThreadId, Message, Payload\n'
             'Marker, 1, 7, 8, "a", 5\nSetCategoryName, 3, "io"\nMarker, 2, 8, 8, "b", "0.5"\n'
             'SetFileDisplayName, ""\nMarker, 3, 8, 8, "c", -1\nSetFileDisplayName, "shop"\n'
             'Marker, 4, 7, 8, "it\'s", 0\n')
    with Folder() as folder:
        text = export(create(folder, plain, "plain"), "nvtxt")
        equal(text.startswith("# NVTXT of nvtxt-export "), True, text)
        equal(comes_back(folder, create(folder, HELLO + plain, "asked")), text)
        for line in ('@Marker, Time, ProcessId, ThreadId, Message, Payload, Domain\n'
                     'Marker, 5, 9, 9, "d", 5, "another"\n',
                     '@Marker, Time, ProcessId, ThreadId, Message, Json\nMarker, 5, 9, 9, "d", "1"\n',
                     'Marker, 5, 9, 9, "d", "u32:1"\n', 'Marker, 5, 9, 9, "d\\n", 1\n',
                     'SetCounter, c\n', 'SetResourceName, generic, 1, c\n'):
            text = comes_back(folder, create(folder, HELLO + plain + line, "needs"), line)
            equal(text.startswith(HELLO + "# NVTXT of nvtxt-export "), True, text)


def test_long_texts_go_into_variables():
    """Each fits a line alone; a range's JSON that was joined fits none."""
    long = "it's " + "\\\\x" * 20000
    value = '["' + "v" * 40000 + '"]'
    text = (HELLO + '@Marker, Time, ProcessId, ThreadId, Message, Domain, Json\n'
            "@RangePush, Time, ProcessId, ThreadId, Message, Json\n@RangePop, Time, ProcessId, "
            'ThreadId, Json\n@SetCounter, Name, Json\n@SetResourceName, Kind, Handle, Name\n'
            'Text="%s"\nValue=\'%s\'\nMarker, 1, 7, 7, $Text, $Text, $Value\n'
            "RangePush, 2, 7, 7, $Text, $Value\nRangePop, 3, 7, 7, $Value\n"
            "SetCounter, $Text, $Value\nSetResourceName, generic, 1, $Text\n" % (long, value))
    with Folder() as folder:
        store = create(folder, text)
        with stored.reading(store) as reader:
            equal(reader.execute("SELECT max(length(jsonText)) FROM NVTX_EVENTS").fetchone()[0] > 80000,
                  True)
        lines = comes_back(folder, store).splitlines()
        equal(max(map(len, lines)) <= 65536, True)
        contains("\n".join(lines), "\nDomain=$M\n")


def test_nvtxt_says_it_in_few_words():
    text = (HELLO + 'SetProcessName, 7, "prog"\n' + MARKER +
            'Marker, 1, 7, 8, 3, "a", "u32:1", "gpu", ""\n'
            '@SetCategoryName, CategoryId, Name, Domain\nSetCategoryName, 3, "io", "gpu"\n'
            'Marker, 2, 7, 8, 0, "it\'s \\"b\\"", "f32:-inf", "", \'{"s":1}\'\n'
            'Marker, 3, 7, 8, 0, "c\\\\n", "", "", ""\n'
            '@RangePush, Time, ProcessId, ThreadId, Message, Domain, Json\n'
            '@RangePop, Time, ProcessId, ThreadId, Domain, Json\n'
            'RangePush, 4, 7, 8, "d", "gpu", "[1]"\nRangePop, 5, 7, 8, "gpu", "2"\n'
            '@RangeStart, Time, RangeId, ProcessId, ThreadId, Message\n'
            '@RangeEnd, Time, RangeId, ProcessId, ThreadId, Json\n'
            'RangeStart, 6, 5, 7, 8, "e"\nRangeEnd, 7, 5, 7, 8, "null"\n'
            'ProcessId = 7\n@SetCounter, Name, Domain, Json\nSetCounter, "a", "gpu", \'{"unit":"J"}\'\n'
            '@SetResourceName, Kind, Handle, Name\nSetResourceName, cuStream, -1, "main"\n')
    attributes = "CategoryId, Color, Message"
    with Folder() as folder:
        lines = comes_back(folder, create(folder, text)).splitlines()
        equal([lines[0], *lines[2:]], [
            HELLO.strip(),
            'SetProcessName, 7, "prog"',
            'Domain="gpu"',
            "@Marker, Time, ProcessId, ThreadId, %s, Payload" % attributes,
            'Marker, 1, 7, 8, 3, 0x00000000, "a", "u32:1"',
            'SetCategoryName, 3, "io"',
            'Domain=""',
            "@Marker, Time, ProcessId, ThreadId, %s, Payload, Json" % attributes,
            'Marker, 2, 7, 8, 0, 0x00000000, "it\'s \\"b\\"", "f32:-inf", \'{"s":1}\'',
            'Marker, 3, 7, 8, 0, 0x00000000, \'c\\n\', "", ""',
            'Domain="gpu"',
            "@RangePush, Time, ProcessId, ThreadId, %s, Json" % attributes,
            'RangePush, 4, 7, 8, 0, 0x00000000, "d", "[1]"',
            "@RangePop, Time, ProcessId, ThreadId, Json",
            'RangePop, 5, 7, 8, "2"',
            'Domain=""',
            "@RangeStart, Time, RangeId, ProcessId, ThreadId, %s" % attributes,
            'RangeStart, 6, 1, 7, 8, 0, 0x00000000, "e"',
            "@RangeEnd, Time, RangeId, ProcessId, ThreadId, Json",
            'RangeEnd, 7, 1, 7, 8, "null"',
            'Domain="gpu"',
            "@SetCounter, Name, Json",
            "ProcessId = 7",
            'SetCounter, "a", \'{"unit":"J"}\'',
            'Domain=""',
            "@SetResourceName, ProcessId, Kind, Handle, Name",
            'SetResourceName, 7, "cuStream", "0xFFFFFFFFFFFFFFFF", "main"'])


def test_what_is_left_out_needs_nothing():
    text = (HELLO + MARKER + 'Marker, 1, 6, 6, 0, "plain", 1, "", ""\n'
            'Marker, 1, 7, 7, 0, "plain", 1, "", ""\n'
            'Marker, 2, 8, 8, 0, "json", 2, "gpu", "[1]"\n'
            'Marker, 3, 9, 9, 0, "loss", 3, "gpu", ""\n'
            '@SetCounter, Name, Domain\nProcessId = 9\nSetCounter, "loss", "gpu"\n'
            'SetCounter, "unused", "gpu"\n'
            '@SetResourceName, ProcessId, Kind, Handle, Name\nSetResourceName, 8, generic, 1, r8\n'
            'SetResourceName, 7, generic, 1, r7\n')
    with Folder() as folder:
        store = create(folder, text)
        equal(export(store, "nvtxt", "--pid", "6").startswith("# NVTXT of"), True)
        eight = export(store, "nvtxt", "--pid", "8")
        contains(eight, HELLO)
        equal([word in eight for word in ("r7", "r8", "loss", "unused")],
              [False, True, False, False])
        nine = export(store, "nvtxt", "--pid", "9")
        contains(nine, 'ProcessId = 9\nSetCounter, "loss", ""\n')
        equal([word in nine for word in ("r7", "r8", "unused")], [False] * 3)


def test_a_store_of_many_sources_and_segments_comes_back():
    """Two sources of two processes in one domain each, with a segment between."""
    with Folder() as folder, Daemon() as daemon:
        for number in (1, 2):
            with daemon.session(nvtx=1) as session:
                session.send(MARKER + 'Marker, %d, 7, 7, 0, "a", "u32:1", "one", ""\n' % number
                             + "ProcessId = 7\n@SetCounter, Name, Domain, Json\n"
                             'SetCounter, "a", "one", "%d"\n#nvtxt-end\n' % number)
                session.replies()
            daemon.send("@Marker, Time, ProcessId, ThreadId, Message\nSetFileDisplayName, \"two\"\n"
                        'Marker, %d, 8, 8, "b"\n' % (10 + number))
            if number == 1:
                daemon.control("rotate")
        second = create(folder, export(daemon.store, "nvtxt"))
        with stored.reading(second) as reader:
            equal([tuple(row) for row in reader.execute(
                "SELECT start, message, domain, payload FROM NVTXT_TIMELINE")],
                  [(1, "a", "one", 1), (11, "b", "two", None), (2, "a", "one", 1),
                   (12, "b", "two", None)])
            equal([tuple(row) for row in reader.execute("SELECT name, json FROM NVTXT_COUNTERS")],
                  [("a", "2")])
        trace = json.loads(export(daemon.store, "chrome"))["traceEvents"]
        equal([event["ph"] for event in trace if event["name"] == "a"], ["C", "C"])


# ---- Others -------------------------------------------------------------------------------------

def test_chrome_has_counters_and_json():
    text = (HELLO + MARKER + 'Marker, 1, 7, 8, 0, "loss", "f32:0.25", "gpu", ""\n'
            'Marker, 2, 7, 8, 0, "loss", "i64:9223372036854775807", "", ""\n'
            'Marker, 3, 7, 8, 0, "loss", 3, "cpu", ""\n'  # no counter of that domain,
            'Marker, 4, 9, 8, 0, "loss", 3, "", ""\n'  # nor of that process
            'Marker, 5, 7, 8, 2, "group", "", "gpu", \'{"a" : 1.5, "b":-2, "c":{"d":3}, "e":"f"}\'\n'
            'Marker, 6, 7, 8, 0, "group", "", "gpu", \'{"a":null}\'\n'
            'Marker, 7, 7, 8, 0, "loss", "f64:inf", "gpu", ""\n'
            'Marker, 8, 7, 8, 0, "json", "u64:1", "", \'{"s":[1,{"t":"\\u20ac"}]}\'\n'
            '@RangeStartEnd, Start, End, ProcessId, ThreadId, Message\n'
            'RangeStartEnd, 9, 10, 7, 8, "loss"\nProcessId = 7\n@SetCounter, Name, Domain\n'
            'SetCounter, "loss", "gpu"\nSetCounter, "loss", ""\nSetCounter, "group", "gpu"\n')
    with Folder() as folder:
        trace = json.loads(export(create(folder, text), "chrome"))["traceEvents"]
        found = [event for event in trace if event["ph"] != "M"]
        equal([event["ph"] for event in found], list("CCiiCiiiX"))
        equal([(event["name"], event.get("id"), event["cat"], event["ts"], event["args"])
               for event in found if event["ph"] == "C"],
              [("loss", "gpu", "", 0, {"value": 0.25}),
               ("loss", None, "", 0.001, {"value": 2**63 - 1}),
               ("group", "gpu", "2", 0.004, {"a": 1.5, "b": -2})])
        equal(found[5]["args"]["json"], {"a": None})
        equal(found[6]["args"]["payload"], "Infinity")
        equal([found[7]["args"][name] for name in ("payload", "json")], [1, {"s": [1, {"t": "\u20ac"}]}])


def test_a_store_of_an_older_version_is_as_before():
    """As version 4 had it: without the columns and tables of the extension."""
    with Folder() as folder:
        store = create(folder, '@Marker, Time, Message, Payload\nMarker, 1, "a", 5\n')
        before = {form: export(store, form) for form in ("nvtxt", "csv", "jsonl", "chrome")}
        database = sqlite3.connect(store)
        database.executescript(
            "ALTER TABLE NVTXT_SOURCES DROP COLUMN nvtx; DROP TABLE NVTXT_RESOURCES;"
            "DROP TABLE NVTXT_COUNTERS; PRAGMA user_version = 4;")
        database.close()
        for form, text in before.items():
            equal(export(store, form), text)


def test_what_other_programs_store_comes_back_or_is_counted():
    """An export of Nsight Systems: values that do not fit their columns, JSON that is none."""
    with Folder() as folder:
        path = folder.name("report.sqlite")
        database = sqlite3.connect(path)
        database.execute("CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, "
                         "text TEXT, globalTid INTEGER, domainId INTEGER, uint64Value INTEGER, "
                         "uint32Value INTEGER, floatValue REAL, jsonText TEXT)")
        rows = [(-1, None, None, None), (None, -5, None, '{"a":1}'), (None, 5, None, None),
                (None, None, 0.1, None), (None, None, 0.5, '{"a":'), (None, None, None, b"\xff"),
                (None, None, None, "{\"begin\":1,\"end\":\n2}")]
        database.executemany("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, 'x', 117440520, 0, ?, ?, ?, ?)",
                             [(at, at, *row) for at, row in enumerate(rows)])
        database.commit()
        database.close()
        status, out, err = run_client("nvtxt-export", "-q", "--store", path, "--format", "nvtxt")
        equal(status, 1)
        contains(err, "2 texts or payloads were changed")
        with stored.reading(create(folder, out)) as reader:
            equal([tuple(row) for row in reader.execute(
                "SELECT uint64Value, int64Value, uint32Value, doubleValue, floatValue, jsonText "
                "FROM NVTX_EVENTS WHERE eventType = 59 ORDER BY rowid")],
                  [(-1, None, None, None, None, None), (None, -5, None, None, None, '{"a":1}'),
                   (None, None, 5, None, None, None), (None, None, None, 0.1, None, None),
                   (None, None, None, None, 0.5, None), (None, None, None, None, None, None),
                   (None, None, None, None, None, '{"begin":1,"end":\n2}')])
        for form in ("csv", "jsonl", "folded", "speedscope"):
            export(path, form)
        trace = json.loads(export(path, "chrome"))["traceEvents"]
        equal([event["args"].get("json") for event in trace if event["ph"] == "X"],
              [None, {"a": 1}, None, None, '{"a":', "\ufffd", {"begin": 1, "end": 2}])


if __name__ == "__main__":
    run(globals())
