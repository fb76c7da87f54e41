# SPDX-License-Identifier: Apache-2.0
"""The page of nvtxt-report html without a browser: its elements, its data, its policy."""
import base64
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import tempfile
import zlib

from builds import Build, Store
from client import Folder, contains, program
from lib import Daemon, equal, run, wait_for
from report import F1, OLD_EXPORT, f1, make_export, make_segments, make_store, report
from report_page import Element, Parser, answer, page
from report_random import make_export as make_random_export
from test_report_logs import send_lines

U64 = 1 << 64
PLACES = ["head", "findings-line", "timeline", "names", "flame-graph", "findings", "sections", "source", "report-summary",
          "session-summary", "about"]

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
Marker, 30, 1, '"quotes" & `ticks`'
Marker, 31, 1, "it's"
Marker, 40, 1, "line\u2028paragraph\u2029end"
Marker, 50, 1, "\u202eright to left"
Marker, 60, 1, "%s"
RangePop, 70, 1
RangeBush, 1, "</td><script>alert(1)</script>"
""" % ("long " * 12288)


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
                      "category": value("category", i), "merged": value("merged", i),
                      "thread": value("thread", i)})
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
        thread = lane["thread"] if "thread" in lane else item["thread"] - 1
        equal(data["threads"][thread]["tid"], event["tid"])
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


def number_of(text):
    """What data-value says, as JSON does."""
    return float(text) if re.search("[.einf]", text) else int(text)


def same_value(element, value, na, what):
    """The cell of a metric or instance says that value, or why there is none."""
    if value is None and element["data-value"] is None:
        equal(element.text(), "N/A: " + na, what)
    elif value is None:
        equal(element["data-value"], na, what)
    else:
        shown = element["data-value"]
        equal(shown if isinstance(value, str) else number_of(shown), value, what)


def metrics_in(element):
    """(name, cell of its value) of each metric that stands beside its value, row by row."""
    found = []
    for row in element.all("tr"):
        cells = [at for at in row.parts if isinstance(at, Element)]
        found += [(at["data-metric"], after) for at, after in zip(cells, cells[1:])
                  if at["data-metric"] is not None and at["scope"] == "row"]
    return found


def compare_metrics(shown, metrics):
    equal([name for name, _ in shown], [metric["name"] for metric in metrics])
    for (name, cell), metric in zip(shown, metrics):
        same_value(cell, metric["value"], metric.get("na"), name)


def same_decimals(table):
    """The numbers of each column have as many decimals and one unit."""
    for column in zip(*[row.all("td") for row in table.all("tbody")[0].all("tr")]):
        said = [cell.text().lstrip("<>-") for cell in column if cell["class"] == "n" and cell.text()]
        shapes = {re.sub(r"^[\d,]+", "", re.sub(r"\d", "0", text)) for text in said
                  if not text.startswith(("inf", "nan"))}
        equal(len({re.sub(r"^0+", "", shape) for shape in shapes}) <= 1, True, said)


def compare_instances(table, metric):
    """Rows of an id and a value: all instances, or the largest ones."""
    by_id = {str(at["id"]): at["value"] for at in metric["instances"]}
    rows = [row.all("td") for row in table.all("tr") if row.all("td", data_value=True)]
    same_decimals(table)
    for cells in rows:
        same_value(cells[1], by_id.pop(cells[0].text()), None, metric["name"])
    return len(rows)


def compare_top(element, item):
    by_id = [{str(at["id"]): at["value"] for at in metric["instances"] or []}
             for metric in item["metrics"]]
    shown = [value for value in by_id[0].values()  # sources without bad lines are left out
             if item["metrics"][0]["unit"] != "diagnostic" or value > 0]
    if not shown and by_id[0]:
        equal((element.all("table"), element.text().split()[-1]), ([], "none"))
        return
    columns = [at["data-metric"] for at in element.all("th", data_metric=True)]
    equal(columns, [metric["name"] for metric in item["metrics"]])
    rows = element.all("tbody")[0].all("tr")
    same_decimals(element.all("table")[0])
    least = None
    for row in rows:
        cells = row.all("td")
        for values, cell, metric in zip(by_id, cells[1:], item["metrics"]):
            value = values.get(cells[0].text())
            if value is None and metric["na"] is None:
                equal(cell.text(), "", metric["name"])
            else:
                same_value(cell, value, metric["na"], metric["name"])
        first = number_of(cells[1]["data-value"])
        equal(least is None or first <= least, True, "the largest first")
        least = first
    equal(len(rows), min(item.get("rows") or 10, len(shown)))


def compare_item(element, item):
    kind = item["type"]
    equal(element["data-type"], kind)
    metrics = item.get("metrics", [])
    if kind == "Table":
        compare_metrics(metrics_in(element), [metrics[at] for row in item["cells"] for at in row
                                              if at is not None])
    elif kind == "HistogramChart" and item.get("bins"):
        rows = element.all("tbody")[0].all("tr")
        same_decimals(element.all("table")[0])
        equal([[number_of(cell["data-value"]) for cell in row.all("td")[:3]] for row in rows],
              [[at["from"], at["to"], at["count"]] for at in item["bins"]])
    elif kind == "FlameGraph" and not metrics:
        pass  # its figures are those of nvtx_tree
    elif not metrics or not metrics[0]["instances"]:
        compare_metrics(metrics_in(element), metrics)
    elif kind == "TopTable":
        compare_top(element, item)
    elif kind == "LineChart" or kind == "BarChart":
        tables = element.all("table")
        equal([compare_instances(table, metric) for table, metric in zip(tables, metrics)],
              [len(metric["instances"]) for metric in metrics])
    elif kind == "FlameGraph":
        compare_instances(element.all("table")[0], metrics[0])


def compare_sections(root, *args):
    said = answer("report", *args)["scopes"][0]["sections"]
    shown = root.one("sections").all("section", data_section=True)
    equal([at["data-section"] for at in shown], [at["identifier"] for at in said])
    for element, section in zip(shown, said):
        contains(element.text(), section["displayName"])
        contains(element.text(), section["description"] or "")
        items = element.all("div", data_type=True)
        inside = {id(at) for item in items for at in item.walk()}
        header = [at for at in metrics_in(element) if id(at[1]) not in inside]
        groups = sum(len(group["metrics"]) for group in section["groups"])
        header = header[:len(header) - groups]
        compare_metrics(sorted(header, key=lambda at: at[0]),
                        sorted(section["header"], key=lambda at: at["name"]))
        wanted = [item for body in section["bodies"] for item in body["items"]]
        equal(len(items), len(wanted))
        for at, item in zip(items, wanted):
            compare_item(at, item)


LINK = re.compile(r"@(?:url:(?:https?://[^@:]*(?::\d+[^@:]*)?|[^@]*)|section:[^:@]*|range:-?\d+|"
                  r"time:-?\d+|source:[^@]*?:\d+):([^@]*)@")


def plain(text):
    """A text of a rule without its links."""
    return LINK.sub(r"\1", text or "")


def compare_rule(element, rule):
    """All texts and figures of a rule's result are in its article."""
    text = element.text()
    status = "" if rule["status"] == "findings" else rule["status"].replace("-", " ")
    for part in (rule["name"], rule["description"], status, rule["reason"] or "", rule["output"]):
        contains(text, part)
    # One is a paragraph, several are a table.
    messages = element.all("tr" if len(rule["messages"]) > 1 else "p", data_type=True)
    equal([at["data-type"] for at in messages], [at["type"] for at in rule["messages"]])
    for at, message in zip(messages, rule["messages"]):
        title, words = plain(message["title"]), plain(message["text"])
        contains(at.text() if title != rule["name"] else text, title)
        contains(at.text(), words)
        if not words.lower().count(title.lower()) and title != rule["name"]:
            equal(at.text().count(title), 1, "a title is said once")
    for estimate in rule["speedups"]:
        said = [float(at) for at in re.findall(r"([\d.]+) %", text)]
        equal(any(abs(at - estimate["percent"]) <= 0.051 for at in said), True, text)
    for metric in rule["focusMetrics"]:
        contains(text, metric["name"])
        contains(text, metric["info"])
    tables = [at for at in element.all("table") if at["class"] != "messages"]
    equal(len(tables), len(rule["tables"]))
    for at, table in zip(tables, rule["tables"]):
        equal([head.text() for head in at.all("th")], [title.removesuffix(" (ns)") for title in table["header"]])
        # A number is exact in data-value; people see as many decimals in all of a column.
        cells = [[cell.text() if cell["data-value"] is None else cell["data-value"] for cell in row.all("td")]
                 for row in at.all("tbody")[0].all("tr")]
        equal(cells, [["" if cell is None else plain(cell) if isinstance(cell, str) else
                       json.dumps(cell) for cell in row] for row in table["rows"]])
        same_decimals(at)
        contains(text, plain(table["title"]))
        contains(text, plain(table["description"]))
    for marker in rule["sourceMarkers"]:
        contains(text, "%s:%d: %s" % (marker["file"], marker["line"], plain(marker["text"])))


def compare_line(root, rules):
    """All findings in one line: how many, and a link to each."""
    levels = ["error", "warning", "optimization"]
    groups = [[] for _ in range(4)]
    for rule in rules:
        types = [message["type"] for message in rule["messages"]]
        if rule["status"] == "findings":
            groups[min(levels.index(at) for at in types if at in levels)].append(rule)
        elif rule["status"] == "failed":
            groups[3].append(rule)
    counts = ["%d %s" % (len(group), word if len(group) == 1 else word.replace("rule", "rules", 1)
                         if "rule" in word else word + "s")
              for group, word in zip(groups, levels + ["rule that failed"]) if group]
    found = sum(len(group) for group in groups[:3])
    said = ("%d finding%s: " % (found, "" if found == 1 else "s") if found else
            "No findings" + (", " if groups[3] else "")) + ", ".join(counts)
    links = [(plain(rule["messages"][0]["title"]) if len(rule["messages"]) == 1 and rule["messages"][0]["title"]
              else rule["name"], "#rule-" + rule["identifier"]) for group in groups for rule in group]
    line = root.one("findings-line")
    equal(sorted((at.text(), at["href"]) for at in line.all("a")), sorted(links))
    equal(line.text(), said + (". " + " \u00b7 ".join(at.text() for at in line.all("a")) if links else ""))
    order = [at["href"] for at in line.all("a")]
    places = {"#rule-" + rule["identifier"]: number for number, group in enumerate(groups) for rule in group}
    equal([places[at] for at in order], sorted(places[at] for at in order), "errors first")


def compare_findings(root, *args):
    scope = answer("report", *args)["scopes"][0]
    said = scope["rules"] + [rule for at in scope["sections"] for rule in at["rules"]]
    shown = root.one("findings").all("article", data_rule=True, data_status=True)
    equal(sorted((at["data-rule"], at["data-status"]) for at in shown),
          sorted((rule["identifier"], rule["status"]) for rule in said))
    compare_line(root, said)
    rules = {rule["identifier"]: rule for rule in said}
    for element in shown:
        compare_rule(element, rules[element["data-rule"]])
    levels = ["error", "warning", "optimization"]
    worst = [min([levels.index(at["type"]) for at in rules[element["data-rule"]]["messages"]
                  if at["type"] in levels], default=3) for element in shown]
    equal(worst, sorted(worst), "by severity")


def check_shape(text, root):
    equal(text.count("\n") > 0, True)
    equal(root.all("html")[0]["lang"], "en")
    ids = [at["id"] for at in root.walk() if at["id"] is not None]
    equal(len(ids), len(set(ids)), "an id stands twice")
    equal([at["id"] for at in root.walk() if at["id"] in PLACES], PLACES)
    for name in PLACES[2:]:
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
    for table in root.one("flame-graph").all("table"):
        if "data-value" in str([cell.attributes for cell in table.all("td")]):
            same_decimals(table)
    equal(root.all("html")[0]["data-cut"], None)
    return text, root


# ---- Tests --------------------------------------------------------------------------------------

def test_patterns_of_logs_have_times_as_the_summary_has():
    with Daemon() as daemon:
        send_lines(daemon, [(10 ** 18 + 1, 6, "job 1"), (10 ** 18 + 2, 6, "job 2")])
        root = page(daemon.store)[1]
        rows = [[cell.text() for cell in row.all("th") + row.all("td")] for row in root.one("logs").all("tr")]
        equal([row[3:5] for row in rows],
              [["First", "Last"], ["2001-09-09T01:46:40.000000001Z", "2001-09-09T01:46:40.000000002Z"]])


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


def test_lines_have_their_messages_or_why_there_are_none():
    with Folder() as folder:
        bad = folder.write("bad.nvtxt", 'ProcessId = 1\n@Marker, Time, Message\nMarker, 1, "a"\n'
                           'Marker, x, "<b>"\n')
        store = make_store(folder, "bad.sqlite", bad, status=1)
        options = ("--resolve-source-file", bad, store)
        _, root = page(*options)
        lines = answer("source", *options)["files"][0]["lines"]
        said = ["%d:%d: %s (%s): %s [%s]" % (line["line"], at["column"], at["severity"],
                                             at["stage"], at["message"], at["code"])
                for line in lines for at in line["diagnostics"]]
        equal([at.text() for at in root.one("source").all("li")], said)
        equal(len(said), 1)
        _, root = page("--resolve-source-file", bad + "=" + F1, store, status=1)
        contains(root.one("source").text(), "Warning: ")
        contains(root.one("source").text(), "does not match source 1")


def test_two_stores_are_told_apart():
    with Folder() as folder:
        first, second = f1(folder), make_store(folder, "two.sqlite", F1)
        check_page(first, second)


def test_colours_may_come_in_any_order():
    with Folder() as folder:
        for case, colors in enumerate((("Red", "Red", "Blue"), ("Red", "0", "Blue", "Blue", "0", "Red", "Green"))):
            path = folder.name("colors%d.nvtxt" % case)
            with open(path, "w", encoding="utf-8") as file:
                file.write("@Marker, Time, Color, Message\n")
                file.writelines("Marker, %d, %s, m%d\n" % (i, color, i)
                                for i, color in enumerate(colors))
            store = make_store(folder, "colors%d.sqlite" % case, path)
            compare_events(page(store)[1], store)


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
        for message in ("</script><b>x", "<!--", '"quotes" & `ticks`', "it's", "line\u2028paragraph\u2029end",
                        "\u202eright to left", "long " * 12288):
            equal(message in messages, True, message[:40])


RULE = """\
Identifier: "Links" DisplayName: "</h3><b>Links" Description: "'&quot; <i>"
Findings {
  Condition: "1" Type: Error
  Title: '@url:https://example.org/a?b=1&c="d":the web@'
  Message: '@section:CaptureStats:shown@ @section:Nowhere:hidden@ @range:5:row five@ @time:60:then@ '
           '@source:NAME:9:line nine@ @source:NAME:8:line eight@ @source:none.nvtxt:3:no source@ '
           '@url:javascript:alert(1):a script@ @url:data:text/html,x:some data@ <b>bold</b> @time:x'
  Query { Sql: "SELECT '@range:4:</td><b>four@' AS [<u>], 1.5 AS real, 2 AS whole, NULL AS none"
          Title: "@time:9223372036854775807:the end@" }
}
Findings { Condition: "1" Type: Ok Message: "fine @url:http://example.org:80/:six@" }
"""
FAILING = """\
Identifier: "Failing" DisplayName: "Failing"
Findings { Condition: "1" Type: Warning Message: "m" Query { Sql: "SELECT abs(-9223372036854775807 - 1)" } }
"""


def rule_options(folder):
    os.mkdir(folder.name("rules"))
    folder.write("rules/links.rule", RULE.replace("NAME", F1))
    folder.write("rules/failing.rule", FAILING)
    return ("--section-folder", "builtin", "--section-folder", folder.name("rules"))


def test_links_in_texts_of_rules_lead_to_what_is_there():
    with Folder() as folder:
        store = f1(folder)
        options = rule_options(folder)
        _, root = page(store, *options, status=1)
        article = root.one("rule-Links")
        said = {rule["identifier"]: rule for rule in answer("check", store, *options,
                                                            status=2)["rules"]}
        equal(said["Failing"]["status"], "failed")
        for name in ("Links", "Failing"):
            compare_rule(root.one("rule-" + name), said[name])
        equal(root.one("rule-Failing")["data-status"], "failed")
        compare_line(root, said.values())
        equal([at.tag for at in article.walk() if at.tag in "biu"], [])
        links = {at.text(): at["href"] for at in article.all("a", href=True)}
        equal(links, {"the web": 'https://example.org/a?b=1&c="d"', "shown": "#section-CaptureStats",
                      "row five": "#sel=5", "then": "#t=54..66", "line nine": "#source-0-1",
                      "line eight": "#source-0-1", "</td><b>four": "#sel=4",
                      "the end": "#t=9223372036854775801..9223372036854775807",
                      "six": "http://example.org:80/"})
        for at in article.all("a", href=True):
            equal(at["rel"] is not None, at["href"].startswith("http"), at["href"])
        contains(article.text(), "a script some data <b>bold</b> @time:x")
        _, root = page(store, *options, "--resolve-source-file", F1, status=1)
        links = {at.text(): at["href"] for at in root.one("rule-Links").all("a", href=True)}
        equal((links["line nine"], links["line eight"]), ("#line-0-1-9", "#source-0-1"))
        contains(root.one("line-0-1-9").text(), "RangePush, 0, 1")


SEVERAL = """\
Identifier: "Several" DisplayName: "Several things"
Findings { Condition: "1" Type: Warning Title: "First" Message: "one" Speedup { Type: Global Expression: "12.25" }
           Query { Sql: "SELECT 1.5 AS a, 2 AS b, 0.25 AS c UNION SELECT 10, 3, 7.125" } }
Findings { Condition: "1" Type: Error Title: "Second thing" Message: "Second thing, told once" }
Findings { Condition: "1" Type: Optimization Title: "Third" Message: "three"
           Speedup { Type: Local Expression: "3" } }
"""


def test_several_messages_of_a_rule_are_one_table():
    with Folder() as folder:
        os.mkdir(folder.name("rules"))
        folder.write("rules/several.rule", SEVERAL)
        _, root = page("--section-folder", folder.name("rules"), f1(folder))
        article = root.one("rule-Several")
        equal([at.text() for at in article.walk() if re.fullmatch("h[1-6]", at.tag)], ["Several things"])
        messages, table = article.all("table")
        equal([[cell.text() for cell in row.all("th") + row.all("td")] for row in messages.all("tr")],
              [["Level", "Finding", "What it says", "Estimated saving", "Of"],
               ["warning", "First", "one", "12.3 %", "the whole"],
               ["error", "", "Second thing, told once", "", ""],
               ["optimization", "Third", "three", "3.0 %", "this range in isolation"]])
        equal(table.all("caption")[0].text(), "First")
        equal([[cell.text() for cell in row.all("td")] for row in table.all("tbody")[0].all("tr")],
              [["1.5", "2", "0.250"], ["10.0", "3", "7.125"]])
        equal(root.one("findings-line").text(), "1 finding: 1 error. Several things")
        _, root = page("--section-folder", folder.name("rules"), "--apply-rules", "no", f1(folder, "again.sqlite"))
        contains(root.one("findings-line").text(), "rules are not applied")


def test_times_have_one_unit_and_are_exact():
    with Folder() as folder:
        lines = ["@RangeStartEnd, Start, End, Message"]
        lines += ["RangeStartEnd, 0, %d, %s" % (end, name) for end, name in
                  ((577123456, "a"), (1200000, "b"), (999, "c"))]
        store = make_store(folder, "x.sqlite", folder.write("x.nvtxt", "\n".join(lines) + "\n"))
        cells = {row.all("td")[0].text(): row.all("td")[1] for row in
                 page(store)[1].one("section-RangeSummary").all("tr") if len(row.all("td")) > 2}
        equal({name: (cell.text(), cell["data-value"], cell["title"]) for name, cell in cells.items()},
              {":a": ("577.123 ms", "577123456", "577123456 ns"), ":b": ("1.200 ms", "1200000", "1200000 ns"),
               ":c": ("<0.001 ms", "999", "999 ns")})


def test_a_page_has_one_word_for_a_unit():
    with Folder() as folder:
        lines = ["@RangeStartEnd, Start, End, Message"]
        lines += ["RangeStartEnd, %d, %d, a" % (at, at + at // 3 + 2500) for at in range(0, 99000, 3000)]
        store = make_store(folder, "x.sqlite", folder.write("x.nvtxt", "\n".join(lines) + "\n"))
        text, root = page("--set", "full", "--apply-rules", "no", store)
        equal(root.one("capture").text().split(" \u00b7 ")[0], "130 \u00b5s")
        equal(root.one("capture").all("span")[0]["title"], "130500 ns")
        equal(re.findall(r".{20}[0-9] us\b", text), [])
        contains(root.one("section-RangeSummary").text(), " \u00b5s")
        short = make_store(folder, "y.sqlite", folder.write("y.nvtxt", lines[0] + "\nRangeStartEnd, 0, 42, a\n"))
        equal(page(short)[1].one("capture").text().split(" \u00b7 ")[0], "42 ns")


def test_figures_that_are_no_numbers_are_named():
    with Folder() as folder:
        section = ('Identifier: "Odd" DisplayName: "Odd" Header { Metrics { Name: "up" } '
                   'Metrics { Name: "none" } Metrics { Name: "gone" } }')
        os.mkdir(folder.name("sections"))
        folder.write("sections/odd.section", section)
        options = ("--section-folder", folder.name("sections"), "--section", "Odd", "--define",
                   "up=1.0 / 0", "--define", "none=0.0 / 0")
        _, root = page(f1(folder), *options)
        compare_sections(root, f1(folder, "again.sqlite"), *options)
        cells = [cell for _, cell in metrics_in(root.one("section-Odd"))]
        equal([cell["data-value"] for cell in cells], ["inf", "nan", None])
        contains(root.one("about").text(), "sections/odd.section:1:")


def test_segments_and_exports_have_pages():
    with Folder() as folder:
        link, names = make_segments(folder)
        _, root = check_page(link)
        for name in names:
            contains(root.one("report-summary").text(), os.path.basename(name))
        export = make_export(folder, "export.sqlite", f1(folder))
        _, root = check_page(export)
        contains(root.one("session-summary").text(), "an export of Nsight Systems has no sources")
        equal(data_of(root)["utcBase"], None)
        equal(data_of(page(link)[1])["utcBase"], "0")
        equal(data_of(page(link, export)[1])["utcBase"], None)
        check_page(link, export, f1(folder, "third.sqlite"))
        check_page(make_export(folder, "old.sqlite", folder.name("f1.sqlite"), columns=OLD_EXPORT,
                               mark_ends=False))


def test_ranges_that_cross_or_never_end_are_on_the_page():
    with Folder() as folder:
        for seed, variant in enumerate(("old", "mixed", "full", "ids")):
            name = folder.name(variant + ".sqlite")
            make_random_export(name, random.Random(seed), 100, variant)
            check_page(name, shown=("--set", "full"))


def test_a_live_store_has_a_page():
    with Daemon() as daemon:
        with open(F1, encoding="utf-8") as file:
            daemon.send(file.read())
        with daemon.plain() as connection:
            connection.send("ProcessId = 7\n@RangePush, Time, ThreadId, Message\n"
                            "RangePush, 300, 1, \"open\"\n@RangePop, Time, ThreadId\n"
                            "RangePush, 310, 1, \"closed\"\nRangePop, 320, 1\n")
            wait_for(lambda: answer("summary", daemon.store)["stores"][0]["events"] >= 16,
                     "a range of a source that goes on is stored")
            _, root = page(daemon.store)
            contains(root.one("session-summary").text(), "not closed")
            equal(data_of(root)["events"] >= 16, True)
        daemon.settled()
        check_page(daemon.store)


def test_steps_are_in_the_lanes_of_their_jobs():
    with Folder() as folder:
        store = Store()
        build = Build(store, 4, jobs=3)
        other = store.source()
        store.range(other, build.start, build.end, "no step", 77)
        path = store.save(folder, "a.sqlite")
        data = data_of(page(path)[1])
        equal(data["builds"], ["make -j3"])
        lanes = data["lanes"]
        jobs = [lane["job"] for lane in lanes if "build" in lane]
        equal(jobs, list(range(len(jobs))))
        equal({lane["process"] for lane in lanes if "build" in lane},
              {lane["process"] for lane in lanes if lane.get("job") == 0})
        items = {item["row"]: item for item in items_of(data)}
        makes = {step["under"] for step in build.steps}
        ends = {}
        for step in sorted(build.steps, key=lambda step: (step["start"], step["row"])):
            lane = items[step["row"]]["lane"]
            equal(lane["job"] == 0, step["key"] in makes, step)
            if lane["job"]:
                # One step at a time; the process that is shown is the step's own.
                equal(ends.get(lane["job"], 0) <= step["start"], True, step)
                ends[lane["job"]] = step["end"]
        equal((items[build.head]["lane"]["job"], "build" in items[len(store.events)]["lane"]), (0, False))
    with Folder() as folder:
        equal("builds" in data_of(page(f1(folder))[1]), False)


def test_columns_without_values_say_why():
    with Folder() as folder:
        name = folder.write("na.nvtxt", 'ProcessId = 1\n@Marker, Time, Message\nMarker, 1, "a"\n'
                            'Marker, 2, "b"\n')
        _, root = check_page(make_store(folder, "na.sqlite", name), shown=("--set", "full"))
        contains(root.one("section-Markers").text(), "N/A: fewer than 2 instances")


def test_the_head_says_what_the_capture_is():
    with Folder() as folder:
        store, bad = f1(folder), folder.name("bad.nvtxt")
        host, place = os.uname().nodename, os.path.dirname(folder.path)
        _, root = page(store)
        equal(root.one("capture").text(), "260 ns \u00b7 15 events \u00b7 1 process \u00b7 2 threads")
        equal([link["href"] for link in root.one("capture").all("a")], ["#names", "#timeline", "#timeline"])
        equal(root.all("title")[0].text(), "%s: f1.sqlite - nvtxt-report" % host, "a temporary folder (%s) is not named" % place)
        equal(root.one("capture").all("time"), [], "its times count from a beginning of its own")
        got = report("html", "-o", "-", "--title", "", store)
        equal(got[:2], (64, ""))
        contains(got[2], "--title takes a text that is not empty, not ''")
        _, root = page("--title", "Tuesday's <run>", store)
        equal([root.all(tag)[0].text() for tag in ("title", "h1")], ["Tuesday's <run>"] * 2)
        # Of another folder it is the last one; two stores are both named.
        with tempfile.TemporaryDirectory(dir=os.environ["top_builddir"]) as other:
            copy = os.path.join(other, "kept.sqlite")
            shutil.copy(store, copy)
            is_temporary = os.path.realpath(copy).startswith(("/tmp/", "/var/tmp/", "/dev/shm/", "/run/", os.path.realpath(os.environ.get("TMPDIR", "/tmp")) + "/"))
            _, root = page(copy, store)
            equal(root.all("h1")[0].text(), "%s: %skept.sqlite, f1.sqlite" % (host, "" if is_temporary else os.path.basename(other) + "/"))
        with open(bad, "w", encoding="utf-8") as file:
            file.write("@Marker, Time, Message\nMarker, 1, $none\nMarker, 1795242240123456789, \"kept\"\n")
        _, root = page(make_store(folder, "bad.sqlite", bad, status=1))
        equal(root.one("capture").text(), "0 ns, 21 Nov 2026 06:24:00 UTC \u00b7 1 event \u00b7 1 process \u00b7 1 thread \u00b7 1 error")
        equal(root.one("capture").all("a")[-1]["href"], "#session-summary")


def test_the_names_without_javascript_are_those_of_stats():
    with Folder() as folder:
        store = f1(folder)
        _, root = page(store)
        wanted = answer("stats", "-r", "nvtx_sum", "--percentiles", "90,99", store)["tables"][0]
        rows = [[cell["data-value"] or cell.text() for cell in row.all("td")] for row in root.one("names-static").all("tbody")[0].all("tr")]
        equal(rows, [[cell if isinstance(cell, str) else str(cell) if isinstance(cell, int) else repr(cell) for cell in row] for row in wanted["rows"]])
        many = folder.name("many.nvtxt")
        with open(many, "w", encoding="utf-8") as file:
            file.write("@RangeStartEnd, Start, End, Message\n" + "".join("RangeStartEnd, 1, %d, \"name %d\"\n" % (i + 2, i) for i in range(1002)))
        _, root = page(make_store(folder, "many.sqlite", many))
        static = root.one("names-static")
        equal(len(static.all("tbody")[0].all("tr")), 1000)
        contains(static.text(), "2 more rows are not shown here.")
        contains(static.all("tbody")[0].all("tr")[0].text(), "name 1001")


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
        equal(page("--max-events", "60015", store)[1].all("html")[0]["data-cut"], None)


def test_few_events_that_are_too_many_stay_single():
    with Folder() as folder:
        store = f1(folder)
        status, said, err = report("html", "-o", "-", "--max-events", "14", store)
        equal((status, err), (0, "nvtxt-report: note: 15 of 15 events are drawn singly; "
                                 "see --max-events\n"))
        root = Parser(said).root
        equal(root.all("html")[0]["data-cut"] is not None, True)
        for place in ("banner", "about"):
            contains(root.one(place).text(), "15 of 15 events are drawn singly")
        compare_events(root, store)


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
        equal(report("html", "-o", folder.name("none.html"), "--rule", "Nope", store)[0], 64)
        # The page does not fit.
        limited = ("ulimit -f 8; trap '' XFSZ; exec \"$0\" html -o \"$1\" \"$2\"")
        done = subprocess.run(["sh", "-c", limited, program("client", "nvtxt-report"),
                               folder.name("large.html"), store], stderr=subprocess.PIPE,
                              check=False)
        equal(done.returncode, 74, done.stderr)
        equal(sorted(os.listdir(folder.path)), before)
        with open("/dev/full", "wb") as full:
            done = subprocess.run([program("client", "nvtxt-report"), "html", "-o", "-", store],
                                  stdout=full, stderr=subprocess.PIPE, check=False)
        equal(done.returncode, 74, done.stderr)
        equal(report("html", "-o", folder.path, store)[0], 73)
        equal(sorted(os.listdir(folder.path)), before)


if __name__ == "__main__":
    run(globals())
