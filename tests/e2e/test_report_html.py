# SPDX-License-Identifier: Apache-2.0
"""The page of nvtxt-report html without a browser: its elements, its data, its policy."""
import base64
import hashlib
import html.parser
import json
import os
import re
import subprocess
import zlib

from client import Folder, contains, program
from lib import equal, run
from report import F1, f1, make_store, report

U64 = 1 << 64
PLACES = ["report-summary", "findings", "timeline", "flame-graph", "sections", "source",
          "session-summary", "about"]
VOID = {"meta", "link", "input", "br", "hr", "img"}

# Texts that want to be more than texts.
HOSTILE = """\
#nvtxt-session {"protocol":1,"nvtx":1,"escapes":1}
ProcessId = 7
@RangePush, Time, ThreadId, CategoryId, Color, Message
@RangePop, Time, ThreadId
@Marker, Time, ThreadId, Message
@SetThreadName, ThreadId, Name
@SetCategoryName, CategoryId, Name
SetThreadName, 1, "</script><b>thread"
SetCategoryName, 3, "</script><b>category"
RangePush, 10, 1, 3, Red, "</script><b>x"
Marker, 20, 1, "<!--"
Marker, 30, 1, "\\"quotes' & `ticks`"
Marker, 40, 1, "line\u2028paragraph\u2029end"
Marker, 50, 1, "\u202eright to left"
Marker, 60, 1, "%s"
RangePop, 70, 1
RangeBush, 1, "</td><script>alert(1)</script>"
""" % ("long " * 12288)


class Element:
    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent, self.parts = tag, dict(attributes), parent, []

    def __getitem__(self, name):
        return self.attributes.get(name)

    def walk(self):
        yield self
        for part in self.parts:
            if isinstance(part, Element):
                yield from part.walk()

    def text(self):
        return "".join(part if isinstance(part, str) else part.text() for part in self.parts)

    def all(self, tag, **wanted):
        """The elements of that tag that have these attributes; True: with any value."""
        names = {key.replace("_", "-"): value for key, value in wanted.items()}
        return [at for at in self.walk() if at.tag == tag and all(
            at[name] is not None and value in (True, at[name]) for name, value in names.items())]

    def one(self, name):
        found = [at for at in self.walk() if at["id"] == name]
        equal(len(found), 1, "elements with the id " + name)
        return found[0]


class Parser(html.parser.HTMLParser):
    """A tree of elements. Each end has its beginning, or the page is wrong."""

    def __init__(self, text):
        super().__init__()
        self.root = self.at = Element("", (), None)
        self.feed(text)
        self.close()
        equal(self.at is self.root, True, "an element is not closed: " + self.at.tag)

    def handle_starttag(self, tag, attrs):
        new = Element(tag, attrs, self.at)
        equal(len(new.attributes), len(attrs), "an attribute stands twice")
        self.at.parts.append(new)
        if tag not in VOID:
            self.at = new

    def handle_startendtag(self, tag, attrs):
        self.at.parts.append(Element(tag, attrs, self.at))

    def handle_endtag(self, tag):
        equal(tag, self.at.tag)
        self.at = self.at.parent

    def handle_data(self, data):
        self.at.parts.append(data)

    def handle_comment(self, data):
        raise AssertionError("a comment: " + data[:80])


def page(*args, status=0):
    """The page of `html -o - ARGS` as text and as a tree."""
    got = report("html", "-o", "-", *args)
    equal(got[0], status, got[2])
    return got[1], Parser(got[1]).root


def answer(command, *args, status=0):
    got = report(command, "--format", "json", *args)
    equal(got[0], status, got[2])
    return json.loads(got[1])


def varints(text):
    found, value, shift = [], 0, 0
    for byte in zlib.decompress(base64.b64decode(text, validate=True), -15):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(value)
            value = shift = 0
    return found


def zigzag(value):
    return (value >> 1) ^ -(value & 1)


def signed(value):
    value %= U64
    return value - U64 if value >> 63 else value


def data_of(root):
    element = root.one("nvtxt-data")
    equal(element["type"], "application/json")
    for byte in "<>&\u2028\u2029":
        equal(byte in element.text(), False, "data has " + repr(byte))
    return json.loads(element.text())


def items_of(data):
    """The items of the data, each as a dict."""
    count = data["items"]
    columns = {name: varints(text) for name, text in data["columns"].items()}
    for name in columns:
        equal(len(columns[name]), count, name)
        equal(any(columns[name]), True, name + " has nothing")

    def value(name, i):
        return columns[name][i] if name in columns else 0
    found, start, row, last = [], int(data["first"]), 0, {}
    for i in range(count):
        start, row = signed(start + value("start", i)), signed(row + zigzag(value("row", i)))
        lane, depth, parent = value("lane", i), value("depth", i), value("parent", i)
        guess = last.get((lane, depth - 1)) if depth > 0 else None
        up = guess if parent == 0 else None if parent == 1 else i - (parent - 1)
        last[lane, depth] = i
        found.append({"start": start, "duration": value("duration", i), "row": row,
                      "name": data["names"][value("name", i)], "lane": data["lanes"][lane],
                      "flags": value("flags", i), "depth": depth, "parent": up,
                      "self": value("self", i), "color": value("color", i),
                      "category": value("category", i), "merged": value("merged", i)})
    children = [0] * count
    for item in found:
        if item["parent"] is not None:
            children[item["parent"]] += item["duration"]
    for item, below in zip(found, children):
        item["self"] = (item["duration"] - below + zigzag(item["self"])) % U64
    return found


def compare_events(root, *args):
    """The data says what `events` says."""
    data, events = data_of(root), answer("events", *args)["events"]
    items, selected = items_of(data), {(event["store"], event["row"]) for event in events}
    equal((data["version"], data["events"], len(items)), (1, len(events), len(events)))
    for item, event in zip(items, events):
        lane = item["lane"]
        domain, message = item["name"]
        kind = ("Mark", "PushPop", "StartEnd")[lane["kind"]]
        equal(lane["kind"], {"mark": 0, "push/pop": 1, "start/end": 2}[event["kind"]], kind)
        equal((item["start"], item["row"], message), (event["start"], event["row"],
                                                      event["message"]))
        equal(":".join((data["domains"][domain], message)), event["name"])
        equal(data["processes"][lane["process"]]["pid"], event["pid"])
        equal(data["processes"][lane["process"]]["store"], event["store"])
        equal(bool(item["flags"] & 1), event.get("open", False))
        if "thread" in lane:
            equal(data["threads"][lane["thread"]]["tid"], event["tid"])
        if event["kind"] != "mark" and not event.get("open"):
            equal(item["duration"], int(event["duration"]))
        if event["kind"] == "push/pop":
            parent = None if item["parent"] is None else items[item["parent"]]["row"]
            wanted = event.get("parent")
            wanted = wanted if (event["store"], wanted) in selected else None
            equal((item["depth"], parent), (event["depth"], wanted))
            if not event.get("open"):
                equal(item["self"], int(event["selfTime"]))
        color = None if item["color"] == 0 else data["colors"][item["color"] - 1]
        equal(color, event.get("color"))
        category = 0 if not item["category"] else data["categories"][item["category"] - 1]["id"]
        equal(category, event.get("categoryId", 0))


def compare_summary(root, *args):
    said = answer("summary", *args)
    rows = root.one("report-summary").all("tr", data_store=True, data_events=True)
    equal([(int(row["data-store"]), int(row["data-events"]), int(row["data-errors"]))
           for row in rows],
          [(i, store["events"], store["errors"]) for i, store in enumerate(said["stores"])])
    session = root.one("session-summary")
    sections = session.all("section", data_source=True)
    equal(len(sections), len(said["sources"]))
    for section, source in zip(sections, said["sources"]):
        equal((section["data-store"], section["data-source"], section["id"]),
              (str(source["store"]), str(source["id"]),
               "source-%d-%d" % (source["store"], source["id"])))
        lines = section.all("tr", data_line=True)
        equal([(int(at["data-line"]), int(at["data-column"]), at["data-code"],
                at["data-severity"], at["data-stage"]) for at in lines],
              [(at["line"], at["column"], at["code"], at["severity"], at["stage"])
               for at in source["diagnostics"]])
        for line, diagnostic in zip(lines, source["diagnostics"]):
            cells = [cell.text() for cell in line.all("td")]
            equal(cells[5:], [diagnostic["message"], diagnostic["excerpt"] or ""])
        if source["errors"] > 0:
            links = [at["href"] for at in root.one("report-summary").all("a", href=True)]
            equal("#" + section["id"] in links, True, "a warning links to the source")


def compare_findings(root, *args):
    said = [(rule["identifier"], rule["status"]) for scope in answer("report", *args)["scopes"]
            for rule in scope["rules"] + [of for at in scope["sections"] for of in at["rules"]]]
    shown = [(at["data-rule"], at["data-status"])
             for at in root.one("findings").all("article", data_rule=True, data_status=True)]
    equal(set(said) <= set(shown), True, (said, shown))


def compare_sections(root, *args):
    said = answer("report", *args)["scopes"][0]["sections"]
    shown = root.one("sections").all("section", data_section=True)
    equal([at["data-section"] for at in shown], [at["identifier"] for at in said])
    for element, section in zip(shown, said):
        names = [at["data-metric"] for at in element.all("th", data_metric=True)]
        for metric in section["header"]:
            equal(metric["name"] in names, True, metric["name"])


def check_shape(text, root):
    equal(text.count("\n") > 0, True)
    equal(root.all("html")[0]["lang"], "en")
    ids = [at["id"] for at in root.walk() if at["id"] is not None]
    equal(len(ids), len(set(ids)), "an id stands twice")
    for name in PLACES:
        equal(root.one(name).tag, "section")
    for at in root.walk():
        equal([name for name in at.attributes if name == "style" or name.startswith("on")], [])
        if at.tag == "a" and at["href"].startswith("#") and not re.match("#(sel|t)=", at["href"]):
            root.one(at["href"][1:])
    level = 0
    for at in root.walk():
        if re.fullmatch("h[1-6]", at.tag) and at.parent.tag != "dialog":
            equal(int(at.tag[1]) <= level + 1, True, "a headline skips a level: " + at.text())
            level = int(at.tag[1])
    scripts, styles = root.all("script"), root.all("style")
    equal((len(scripts), len(styles)), (2, 1))
    policy = root.all("meta", http_equiv="Content-Security-Policy")[0]["content"]

    def digest(element):
        sha = hashlib.sha256(element.text().encode()).digest()
        return "'sha256-%s'" % base64.b64encode(sha).decode()
    equal(policy, "default-src 'none'; script-src %s; style-src %s; img-src data:; "
          "base-uri 'none'; form-action 'none'" % (digest(scripts[1]), digest(styles[0])))


def check_page(*args, shown=()):
    """The page of stores and options for all commands, and of those for sections alone."""
    text, root = page(*args, *shown)
    check_shape(text, root)
    compare_events(root, *args)
    compare_summary(root, *args)
    compare_findings(root, *args, *shown)
    compare_sections(root, *args, *shown)
    equal(root.all("html")[0]["data-cut"], None)
    return text, root


# ---- Tests --------------------------------------------------------------------------------------

def test_the_page_of_the_fixture_says_what_the_commands_say():
    with Folder() as folder:
        store = f1(folder)
        text, root = check_page(store)
        contains(root.one("about").text(), "nvtxt-report/1")
        contains(root.one("about").text(), "html -o - " + store)
        contains(root.one("flame-graph").text(), "step;compute;kernel")
        equal(page(store)[0], text, "the same bytes again")
        check_page("--nvtx-include", "compute/", store)
        check_page("--iterations", "step", store, shown=("--set", "full"))


def test_lines_of_a_resolved_file_are_those_of_source():
    with Folder() as folder:
        store = f1(folder)
        options = ("--resolve-source-file", F1, store)
        _, root = check_page(store, shown=options[:2])
        said = answer("source", *options)["files"]
        shown = root.one("source").all("section", data_file_of_source=True)
        equal(len(shown), len(said))
        for element, file in zip(shown, said):
            rows = [[cell.text() for cell in row.all("td")] for row in element.all("tr")][1:]
            equal([(int(row[0]), row[-1]) for row in rows],
                  [(line["line"], line["text"]) for line in file["lines"]])
        contains(page(store)[1].one("source").text(), "--resolve-source-file")


def test_two_stores_are_told_apart():
    with Folder() as folder:
        first, second = f1(folder), make_store(folder, "two.sqlite", F1)
        check_page(first, second)


def test_hostile_texts_stay_texts():
    with Folder() as folder:
        name = folder.name("hostile.nvtxt")
        with open(name, "w", encoding="utf-8") as file:
            file.write(HOSTILE)
        store = make_store(folder, "hostile.sqlite", name, status=1)
        text, root = check_page(store)
        equal([at.tag for at in root.walk() if at.tag in ("b",)], [])
        equal("</script><b>" in text, False)
        equal("\u2028" in root.one("nvtxt-data").text(), False)
        messages = [name[1] for name in data_of(root)["names"]]
        for message in ("</script><b>x", "<!--", "line\u2028paragraph\u2029end",
                        "\u202eright to left", "long " * 12288):
            equal(message in messages, True, message[:40])


def test_a_store_without_events_has_a_page():
    with Folder() as folder:
        name = folder.name("none.nvtxt")
        with open(name, "w", encoding="utf-8") as file:
            file.write("# nothing\n")
        _, root = check_page(make_store(folder, "none.sqlite", name))
        for picture in ("timeline", "flame-graph"):
            contains(root.one(picture).text(), "no events")


def test_times_at_the_ends_are_exact():
    with Folder() as folder:
        name = folder.name("ends.nvtxt")
        with open(name, "w", encoding="utf-8") as file:
            file.write("ProcessId = 1\n@RangePush, Time, ThreadId, Message\n"
                       "@RangePop, Time, ThreadId\n@Marker, Time, ThreadId, Message\n"
                       "RangePush, -9223372036854775808, 1, \"all\"\n"
                       "RangePush, 5, 1, \"inner\"\nRangePop, 6, 1\nMarker, 7, 1, \"m\"\n"
                       "RangePop, 9223372036854775807, 1\n")
        store = make_store(folder, "ends.sqlite", name)
        _, root = check_page(store)
        data = data_of(root)
        equal((data["first"], data["last"]), (str(-2 ** 63), str(2 ** 63 - 1)))
        equal(items_of(data)[0]["duration"], U64 - 1)


def many(folder, count):
    """A store with many short ranges and few long ones."""
    lines = ["ProcessId = 100\n@RangePush, Time, ThreadId, Message\n@RangePop, Time, ThreadId\n"]
    lines += ['RangePush, %d, 9, "name %d"\nRangePop, %d, 9\n'
              % (1000 + i * 100, i % 20, 1060 + i * 100 + i % 7) for i in range(count)]
    return make_store(folder, "many.sqlite", F1, folder.write("many.nvtxt", "".join(lines)))


def test_more_events_than_wanted_are_merged_and_counted():
    with Folder() as folder:
        store = many(folder, 60000)
        status, said, err = report("html", "-o", "-", "--max-events", "10000", store)
        equal(status, 0, err)
        root = Parser(said).root
        check_shape(said, root)
        equal(root.all("html")[0]["data-cut"] is not None, True)
        data = data_of(root)
        items = items_of(data)
        equal(data["events"], 60015)
        single = sum(item["merged"] == 0 for item in items)
        equal(single + sum(item["merged"] for item in items), data["events"])
        equal(len(items) <= 4096 * 4, True, len(items))
        sentence = "%d of %d events are drawn singly" % (single, data["events"])
        for place in ("banner", "about"):
            contains(root.one(place).text(), sentence)
        compare_summary(root, store)
        compare_sections(root, store)
        equal(page(store)[1].all("html")[0]["data-cut"], None)


def test_the_size_of_many_events():
    with Folder() as folder:
        count = 60000
        store = many(folder, count)
        size = len(report("html", "-o", "-", store)[1])
        equal(size <= 12 * count + 200000, True, size)


def test_the_file_appears_whole_or_not_at_all():
    with Folder() as folder:
        store = f1(folder)
        done = subprocess.run([program("client", "nvtxt-report"), "html", store],
                              cwd=folder.path, stderr=subprocess.PIPE, check=False)
        equal((done.returncode, done.stderr), (0, b""))
        with open(folder.name("nvtxt-report.html"), encoding="utf-8") as file:
            text = file.read()
        equal(text.startswith("<!DOCTYPE html>"), True)
        before = sorted(os.listdir(folder.path))
        status, said, err = report("html", "-o", folder.name("no/such/page.html"), store)
        equal((status, said), (73, ""), err)
        equal(report("html", "-o", store, store)[0], 64)
        # The page does not fit.
        limited = ("ulimit -f 8; trap '' XFSZ; exec \"$0\" html -o \"$1\" \"$2\"")
        done = subprocess.run(["sh", "-c", limited, program("client", "nvtxt-report"),
                               folder.name("large.html"), store], stderr=subprocess.PIPE,
                              check=False)
        equal(done.returncode, 74, done.stderr)
        equal(sorted(os.listdir(folder.path)), before)


if __name__ == "__main__":
    run(globals())
