# SPDX-License-Identifier: Apache-2.0
"""What the rules of Nsight Compute call, in rules of our own words: over a store, and over a report
file of kernels; and how what they say looks in each format."""
import json
import os
import sys

from client import Folder, contains
from lib import equal, run
from report import FIXTURES, f1, report
from schema import INSTALLED, Schema
from test_report_html import page
from test_report_rule_python import applied, checked, failure, folder_of, rule

sys.path.insert(0, FIXTURES)
import ncurep as n  # noqa: E402  (its folder is named above)

# ---- Tables and charts --------------------------------------------------------------------------

TABLE = """\
m = fe.message(NvRules.MsgType.OPTIMIZATION, "text", "title")
fe.generate_table(message_id=m, header=["name", "count", "x"],
                  data=[["b", 2, 0.5], ["a", 10, float("nan")], ["c", 1, 0.25]],
                  config={"title": "T", "sort_by": {"column": %s, "order": "%s"},
                          "style": {"data": {"italic": True}},
                          "per_column_configs": {
                              "name": {"tooltip": "What it is", "relative_width": 0.5,
                                       "style": {"header": {"italic": True}, "data": {"bold": True}}},
                              1: {"relative_width": 1.5}}})
"""


def test_tables_are_sorted():
    for column, order, names in (('"count"', "ascending", "cba"), ("1", "descending", "abc"),
                                 ("0", "ascending", "abc"), ('"name"', "descending", "cba"),
                                 ('"x"', "ascending", "cba"), ("2", "descending", "bca")):
        said = applied(TABLE % (column, order))
        equal(("".join(row[0] for row in said["tables"][0]["rows"]), said["output"]), (names, ""),
              (column, order))


def test_columns_look_as_the_rule_says():
    with Folder() as folder:
        option, store = folder_of(folder, r=rule("R", TABLE % ('"count"', "ascending"))), f1(folder)
        table = checked(0, option, "--rule=R", store)[0]["R"]["tables"][0]
        equal(table["columns"], [
            {"tooltip": "What it is", "percent": 16.67, "header": ["italic"], "data": ["bold"]},
            {"tooltip": "", "percent": 50, "header": [], "data": ["italic"]},
            {"tooltip": "", "percent": 33.33, "header": [], "data": ["italic"]}])
        _, root = page(store, option, "--rule=R", "--rule-timeout=200")
        shown = root.one("rule-R").all("table")[0]
        equal([col["width"] for col in shown.all("col")], ["16.67%", "50.0%", "33.33%"])
        equal([head["title"] for head in shown.all("th")], ["What it is", None, None])
        equal([[one.text() for one in shown.all(tag)] for tag in ("strong", "em")],
              [["c", "b", "a"], ["name", "1", "0.25", "2", "0.50", "10"]])


def test_what_a_table_cannot_show_is_a_note():
    said = applied("""\
m = fe.message("m")
for _ in range(2):
    fe.generate_table(m, ["a"], [[1]], {"sort_by": {"column": "none", "how": 1}, "shape": 5,
                                        "per_column_configs": {"b": {}, 0: {"color": "red"}},
                                        "style": {"data": {"underline": True}}})
fe.generate_table(m, ["a"], [[2], [1]], {"sort_by": {"column": 0, "order": "sideways"}})""")
    equal(said["output"].splitlines(), ["note: generate_table: " + text for text in (
        "'shape' is not shown", "there is no column 'b'",
        "per_column_configs: 'color' is not shown", "style of data: 'underline' is not shown",
        "sort_by: 'how' is not shown", "there is no column 'none'",
        "sort_by: there is no order 'sideways'")])
    equal([table["rows"] for table in said["tables"]], [[[1]], [[1]], [[1], [2]]])


CHARTS = {
    "bars": "BarChart { Label: 'Bars' Metrics { Name: 'event__count.sum' } "
            "Metrics { Name: 'range__count.sum' } }",
    "line": "LineChart { Label: 'Line' Metrics { Name: 'range__time_duration_per_name.sum' } }",
    "table": "Table { Label: 'Table' Columns: 1 Metrics { Name: 'event__count.sum' } }",
}


def test_charts_are_drawn():
    with Folder() as folder:
        body = "fe.message('m')\n" + "".join("fe.load_chart_from_file('%s.chart')\n" % name
                                             for name in CHARTS)
        option, store = folder_of(folder, r=rule("R", body)), f1(folder)
        for name, text in CHARTS.items():
            folder.write("rules/%s.chart" % name, text)
        options = option, "--rule=R", "--rule-timeout=200", store
        tables = json.loads(report("check", "--format=json", *options)[1])["rules"][0]["tables"]
        equal([(table["title"], table.get("chart")) for table in tables],
              [("Bars", "BarChart"), ("Line", "LineChart"), ("Table", None)])
        equal(tables[0]["rows"][0][::2], ["event__count.sum", 15])
        for words in (["check"], ["report", "--section-folder", "builtin", "--section", "CaptureStats"],
                      ["check", "--format", "markdown"]):
            lines = report(*words, *options)[1].splitlines()
            bars = [line.replace("\\", "").strip(" |").split()[0] for line in lines
                    if "#" * 30 in line]
            equal(bars, ["event__count.sum", "range__count.sum", ":step"], lines)
        _, root = page(store, *options[:3])
        article = root.one("rule-R")
        equal([item["data-type"] for item in article.all("div", data_type=True)], ["BarChart", "LineChart"])
        equal(len(article.all("polyline")), 1)


PROPOSES = """\
def evaluate(handle):
    NvRules.require_rules(handle, ["Other", "CaptureOnly"])
"""


def test_proposals_are_said_in_every_format():
    with Folder() as folder:
        body = "ctx.controller().propose_rule('Other')\nctx.controller().propose_rule('CaptureOnly')"
        option = folder_of(folder, r=rule("R", body, PROPOSES), o=rule("Other", ""),
                           c=rule("CaptureOnly", ""))
        store = f1(folder)
        options = option, "--rule-timeout=200", store
        for words in (["check"], ["check", "--print-rule-details"], ["report"],
                      ["check", "--format", "markdown"], ["report", "--format", "markdown"]):
            contains(report(*words, *options)[1], "See also: Other, CaptureOnly\n")
        rules = json.loads(report("check", "--format=json", *options)[1])["rules"]
        equal({one["identifier"]: one["proposals"] for one in rules}["R"], ["Other", "CaptureOnly"])
        _, root = page(store, *options[:2])
        article = root.one("rule-R")
        contains(article.text(), "See also: Other, CaptureOnly")
        equal([link["href"] for link in article.all("a", href=True)],
              ["#rule-Other", "#rule-CaptureOnly"])


# ---- Rules with the calls of those of Nsight Compute --------------------------------------------

# A module beside the rules: which metrics a rule wants, by a name of its own.
WANTED = """\
import NvRules

class Wanted:
    def __init__(self, name, alias=None, needed=True, instead=None):
        self.name, self.alias, self.needed, self.instead = name, alias or name, needed, instead

def find(handle, action, wanted):
    frontend, found, missing = NvRules.get_context(handle).frontend(), {}, []
    for one in wanted:
        try:
            found[one.alias] = action[one.name]
        except KeyError:
            if one.needed:
                frontend.message(NvRules.MsgType.ERROR, "needs " + one.name)
                missing.append(one.name)
            elif one.instead is None:
                found[one.alias] = None
            else:
                found[one.alias] = instead(action, one)
    if missing:
        NvRules.raise_exception(handle, "missing: " + ", ".join(missing))
    return found

def instead(action, one):
    made, kinds = action.add_metric(one.name), NvRules.IMetric
    if isinstance(one.instead, int):
        assert made.set_uint64(kinds.ValueKind_UINT64, one.instead) is True
    elif isinstance(one.instead, float):
        assert made.set_double(kinds.ValueKind_DOUBLE, one.instead) is True
    else:
        assert made.set_string(kinds.ValueKind_STRING, one.instead) is True
    return made
"""

# Metrics by what the rules call them: of a store, and of a kernel.
OF_STORE = {"COUNT": "event__count.sum", "PER": "range__time_duration_per_name.sum",
            "RATE": "event__count.sum.per_second", "TIME": "range__time_duration.sum"}
OF_KERNEL = {"COUNT": "launch__grid_size", "PER": "memory_l1_wavefronts_shared",
             "RATE": "dram__cycles_elapsed.avg.per_second", "TIME": "gpu__time_duration.sum"}

RULES = {
    "Template": ("", """\
metric = action.metric_by_name("$COUNT")
if metric is None: raise AssertionError
fe.message("a plain message")
fe.message(NvRules.IFrontend.MsgType_MSG_WARNING, "count " + metric.as_string(), "Title")
assert fe.message(fe.MsgType_MSG_OK, "fine") == 2
assert action.name(NvRules.IAction.NameBase_FUNCTION) == action.name()
ctx.get_version(), NvRules.get_version(handle)"""),
    "Speedup": ("", """\
first = action["$TIME"].value()
m = fe.message(NvRules.MsgType.OPTIMIZATION, "See @url:the guide:https://example.org/g#x@.", "Guide")
assert fe.speedup(m, fe.SpeedupType_LOCAL, 12.5) is True
assert fe.speedup(m, NvRules.IFrontend.SpeedupType_GLOBAL, 1) is True
assert fe.focus_metric(m, "$TIME", first, fe.Severity_SEVERITY_HIGH, "Decrease it") is True
assert fe.speedup(m + 1, fe.SpeedupType_LOCAL, 1) is False
fe.send_dict_to_children({"share": 0.5})"""),
    "Wavefronts": ("", """\
import collections
per = action.metric_by_name("$PER")
ids, count = per.correlation_ids(), per.num_instances()
assert per.has_correlation_ids() and ids.num_instances() == count > 1
lines = collections.defaultdict(int)
for i in range(count):
    address = ids.as_uint64(i)
    assert action.source_info(address) is None
    fe.source_marker("{:.1f}%".format(100 * per.as_uint64(i) / per.as_uint64()), address,
                     NvRules.IFrontend.MarkerKind_SASS, NvRules.IFrontend.MsgType_MSG_WARNING)
fe.source_marker("a line", 7, NvRules.MarkerKind.SOURCE, "a.cu", NvRules.MsgType.OK)
m = fe.message(fe.MsgType_MSG_OPTIMIZATION, "See @section:SourceCounters:the table@.", "Lines")
fe.generate_table(m, ["Location", "Value", "Value (%)"],
                  [["@sass:%d:%s@" % (ids.as_uint64(i), ids.as_string(i)), per.value(i), 1.5]
                   for i in range(count)],
                  {"title": "Lines", "description": "The largest", "per_column_configs": {
                      "Value": {"relative_width": 0.2, "tooltip": "T"}}})"""),
    "Roofline": ("def get_parent_rules_identifiers(): return ['Speedup']\n", """\
weights = fe.receive_dict_from_parent("Speedup")
assert weights == {"share": 0.5} and fe.receive_dict_from_parent("Nothing") == {}
rate = action["$RATE"]
kinds = NvRules.IMetric
assert (rate.metric_type(), rate.metric_subtype()) == \\
    (kinds.MetricType_COUNTER, kinds.MetricSubtype_PER_SECOND)
achieved = rate.as_double() * weights["share"]
peak = 2 * rate.as_double()
made = action.add_double_metric("roofline__peak", kinds.ValueKind_DOUBLE, peak)
assert action["roofline__peak"].value() == peak and made.kind() == kinds.ValueKind_DOUBLE
fe.message("The ratio is {:.0f}".format(peak / achieved))
fe.load_chart_from_file("roofline.chart")"""),
    "Wants": ("from wanted import Wanted, find\n", """\
got = find(handle, action, [Wanted("$COUNT", "count"), Wanted("no__such.sum", "none", False),
                            Wanted("no__other.sum", "five", False, 5),
                            Wanted("no__real.avg", "half", False, 0.5),
                            Wanted("no__text", "text", False, "t")])
assert got["none"] is None and got["count"].value() > 0
fe.message("{} {} {}".format(got["five"].value(), got["half"].value(), got["text"].as_string()))
assert "no__other.sum" in action and action["no__other.sum"].as_uint64() == 5"""),
    "Misses": ("from wanted import Wanted, find\n", """\
find(handle, action, [Wanted("no__such.sum"), Wanted("$COUNT")])"""),
    "Newer": ("", """\
state = action.nvtx_state()
for number in state.domains() if state else ():
    domain = state.domain_by_id(number)
    for i in range(len(domain.push_pop_ranges())):
        one = domain.push_pop_range(i)
        assert one.payload_type() >= one.PayloadType_PAYLOAD_UNKNOWN
        one.payload_as_double(), one.payload_as_uint64(), one.payload_as_string()
assert ctx.range_by_idx(1) is None and ctx.range_by_idx(0).action_by_idx(1) is None
made = action.add_metric("newer__sum.sum")
for i in range(3):
    assert made.set_uint64(i, NvRules.IMetric.ValueKind_UINT64, 10 * i)
    assert made.mutable_correlation_ids().set_uint64(i, NvRules.IMetric.ValueKind_UINT64, 100 + i)
assert made.set_uint64(NvRules.IMetric.ValueKind_UINT64, 30)
assert not made.set_uint64(NvRules.IMetric.ValueKind_STRING, 1)
assert [made.as_uint64(i) for i in range(3)] == [0, 10, 20] and made.as_uint64() == 30
assert made.correlation_ids().as_uint64(2) == 102
vault = ctx.controller().get_message_vault()
vault.Put("Newer", {"a": 1})
assert vault.Get("Newer") == {"a": 1} and vault.Get("Nothing") == {}
fe.message(NvRules.MsgType.OK, "{}".format(made))"""),
}


def rule_files(folder, names):
    texts = {}
    for name, (more, body) in RULES.items():
        for word, metric in names.items():
            body = body.replace("$" + word, metric)
        texts[name] = rule(name, body, more)
    option = folder_of(folder, wanted=WANTED, **texts)
    folder.write("rules/roofline.chart", "BarChart { Label: 'Roof' Metrics { Name: '%s' } }" %
                 names["RATE"])
    return option


def looks_right(rules, instances):
    wanted = {name: "findings" for name in ("Template", "Speedup", "Wavefronts")}
    wanted.update(Roofline="no-issue", Wants="no-issue", Misses="failed", Newer="no-issue")
    equal({name: rules[name]["status"] for name in wanted}, wanted,
          {name: rules[name]["reason"] for name in wanted})
    contains(rules["Misses"]["reason"], "raised SystemError: missing: no__such.sum (")
    equal(rules["Wants"]["messages"][0]["text"], "5 0.5 t")
    equal(rules["Roofline"]["messages"][0]["text"], "The ratio is 4")
    equal(rules["Roofline"]["tables"][0]["chart"], "BarChart")
    equal(rules["Newer"]["messages"][0]["text"], "newer__sum.sum")
    equal([(one["type"], one["percent"]) for one in rules["Speedup"]["speedups"]],
          [("local", 12.5), ("global", 1)])
    markers = rules["Wavefronts"]["sourceMarkers"]
    equal(len(markers), instances + 1)
    equal((markers[0]["message"], markers[0]["kind"], markers[0]["type"], markers[0]["file"]),
          (None, "sass", "warning", ""))
    equal({key: markers[-1][key] for key in ("file", "line", "text", "kind", "type")},
          {"file": "a.cu", "line": 7, "text": "a line", "kind": "source", "type": "ok"})
    equal(len(rules["Wavefronts"]["tables"][0]["rows"]), instances)


def test_their_calls_work_over_a_store():
    with Folder() as folder:
        store = f1(folder)
        option = rule_files(folder, OF_STORE)
        rules, _ = checked(1, option, store)
        looks_right(rules, 6)
        for words in (["check"], ["check", "--format=markdown"]):
            text = report(*words, option, "--rule-timeout=200", store)[1]
            contains(text, "See the guide.")
            contains(text, "warning: at 0:")
            contains(text, "a.cu:7: a line")
            equal([part for part in ("@url", "@sass", "@section", "//example") if part in text], [])
        _, root = page(store, option, "--rule-timeout=200", status=1)
        links = {at.text(): at["href"] for at in root.one("rule-Speedup").all("a", href=True)}
        equal(links, {"the guide": "https://example.org/g#x"})
        for name in RULES:
            equal([part for part in ("@url", "@sass", "@section") if part in
                   root.one("rule-" + name).text()], [])
        contains(root.one("rule-Wavefronts").text(), "a.cu:7: a line")


def kernel(folder):
    """A report of one kernel, with the metrics of OF_KERNEL."""
    names = list(OF_KERNEL.values())
    metrics = [n.metric(0, ("uint32", 64)),
               n.metric(1, ("uint64", 30), [(("uint64", 16), ("uint64", 10)),
                                            (("uint64", 32), ("uint64", 20))]),
               n.metric(2, ("double", 2.5)), n.metric(3, ("uint64", 700))]
    state = n.state([n.domain(3, "Lib")], [(1, [(3, [n.push("outer", payload=("uint32", 5))])])])
    path = folder.name("kernel.ncu-rep")
    with open(path, "wb") as file:
        file.write(n.report(n.block([n.result("kernel", 1, metrics, state)],
                                    header=[(4, n.strings(*names))])))
    return path


def test_their_calls_work_over_a_report_file():
    with Folder() as folder:
        path = kernel(folder)
        option = rule_files(folder, OF_KERNEL)
        status, out, _ = report("check", "--format=json", option, "--rule-timeout=200", path)
        document = json.loads(out)
        equal((status, Schema(INSTALLED).faults(document)), (2, []))
        rules = {one["identifier"]: one for one in document["rules"]}
        looks_right(rules, 2)
        equal(rules["Newer"]["scope"], {"kind": "result", "id": 0, "name": "kernel", "path": path})


if __name__ == "__main__":
    run(globals())
