# SPDX-License-Identifier: Apache-2.0
"""Rules in Python, in the real program: what they say, in every format, and why they fail."""
import json
import os

from client import Folder, contains
from lib import equal, run
from report import f1, make_store, report
from schema import INSTALLED, Schema, parse

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
EXAMPLES = os.path.join(TOP, "doc", "examples", "rules")

# The guide's rule; the metric is one of ours.
GUIDE = """\
import NvRules

def get_identifier():
  return "GpuArch"

def apply(handle):
  ctx = NvRules.get_context(handle)
  action = ctx.range_by_idx(0).action_by_idx(0)
  ccMajor = action.metric_by_name("capture__attribute_threads").as_uint64()
  ctx.frontend().message("Running on major compute capability " + str(ccMajor))
"""

HEAD = """\
import NvRules
def get_identifier(): return %r
def get_name(): return "Name of " + get_identifier()
def get_description(): return "What it says."
%s
def apply(handle):
    ctx = NvRules.get_context(handle)
    action = ctx.range_by_idx(0).action_by_idx(0)
    fe = ctx.frontend()
"""


def rule(identifier, body, more=""):
    return HEAD % (identifier, more) + "".join("    %s\n" % line for line in body.splitlines())


def parents(*ids):
    return "def get_parent_rules_identifiers(): return %r" % (ids,)


def folder_of(folder, **texts):
    """A folder of rule files, as the option that reads it and nothing else."""
    path = folder.name("rules")
    os.makedirs(path, mode=0o755)
    for name, text in texts.items():
        with open(os.path.join(path, name + ".py"), "w", encoding="utf-8") as file:
            file.write(text)
    return "--section-folder=" + path


def checked(status, *args):
    """The rules of `check` that are Python, by identifier; and what was said on standard error."""
    got = report("check", "--format=json", "--fail-on=error", "--rule-timeout=200", *args)
    equal(got[0], status, got[2])
    rules = json.loads(got[1])["rules"]
    return {one["identifier"]: one for one in rules if one["kind"] == "python"}, got[2]


def applied(body, *args, status=0, more=""):
    """What a rule with this body says of F1."""
    with Folder() as folder:
        option = folder_of(folder, r=rule("R", body, more))
        return checked(status, option, "--rule=R", f1(folder), *args)[0]["R"]


def failure(body, more=""):
    """Why a rule with this body fails; LINE: that of its last line."""
    with Folder() as folder:
        text = rule("R", body, more)
        option = folder_of(folder, r=text)
        said = checked(1, option, "--rule=R", f1(folder))[0]["R"]
        equal((said["status"], said["messages"]), ("failed", []))
        place = "%s:%d" % (os.path.join(option.split("=")[1], "r.py"), text.count("\n"))
        return said["reason"].replace(place, "LINE")


# ---- Examples -----------------------------------------------------------------------------------

def test_the_rule_of_the_guide_says_its_message():
    with Folder() as folder:
        option = folder_of(folder, GpuArch=GUIDE)
        rules, err = checked(0, option, "--rule=GpuArch", f1(folder))
        said = rules["GpuArch"]
        equal((said["name"], said["description"], said["section"], said["status"], said["reason"]),
              ("GpuArch", "", None, "no-issue", None))
        equal(said["messages"], [{"id": 0, "type": "none", "title": "",
                                  "text": "Running on major compute capability 2"}])
        for name in ("get_name", "get_description"):
            equal(len([line for line in err.splitlines()
                       if name in line and line.endswith("[bad-rule]") and "warning" in line]), 1)


def test_the_rule_of_the_manual_says_its_message():
    with open(os.path.join(TOP, "man", "nvtxt-rule.5.in"), encoding="utf-8") as page:
        text = page.read()
    text = text[text.index(".Sh PYTHON RULES"):]
    text = text[text.index(".Bd -literal\n") + len(".Bd -literal\n"):text.index("\n.Ed")]
    with Folder() as folder:
        rules, err = checked(0, folder_of(folder, threads=text), "--rule=Threads", f1(folder))
        equal((rules["Threads"]["messages"][0]["text"], err), ("Events of 2 threads", ""))


def examples(folder):
    """A copy: others may be allowed to change the tree, and then its rules are not run."""
    texts = {}
    for name in os.listdir(EXAMPLES):
        with open(os.path.join(EXAMPLES, name), encoding="utf-8") as file:
            texts[name[:-len(".py")]] = file.read()
    return folder_of(folder, **texts)


def test_the_examples_say_what_they_are_for():
    with Folder() as folder:
        rules, err = checked(0, examples(folder), f1(folder))
        equal((sorted(rules), err), (["SlowestEvent", "SlowestNames", "Threads"], ""))
        equal([one["text"] for one in rules["Threads"]["messages"]], ["Events of 2 threads"])
        slowest = rules["SlowestNames"]
        equal(slowest["messages"][0]["text"], ":step takes 34.3 % of the time of all ranges.")
        equal(slowest["tables"][0]["rows"][0], [":step", 240, 34.3])
        equal(slowest["speedups"], [{"message": 0, "type": "global", "percent": 17.1}])
        event = rules["SlowestEvent"]
        contains(event["messages"][0]["text"], "The longest :step@ takes 140 ns; it is in step of")
        equal(event["proposals"], ["SlowestNames"])


def test_the_examples_stand_a_store_without_ranges():
    with Folder() as folder:
        store = make_store(folder, "s.sqlite", folder.write("s.nvtxt", (
            "@Marker, Time, Message\nMarker, 1, \"m\"\n")))
        rules, _ = checked(0, examples(folder), store)
        equal({one["status"] for one in rules.values()}, {"no-issue"})


# ---- What rules say -----------------------------------------------------------------------------

EVERYTHING = """\
F = NvRules.IFrontend
m = fe.message(F.MsgType_OPTIMIZATION, "text @url:https://example.org:a link@", "title")
fe.message(F.MsgType_OK, "fine")
fe.speedup(m, F.SpeedupType_LOCAL, 12.5)
fe.speedup(m, F.SpeedupType_GLOBAL, 3)
fe.focus_metric(m, "event__count.sum", 15, F.Severity_SEVERITY_LOW, "fewer")
fe.generate_table(m, ["n", "x", "t"], [[1, 0.5, "a"], [1 << 63, float("nan"), "b"]],
                  {"title": "T", "description": "D"})
fe.source_marker(m, "a.nvtxt", 3, "here")
print("printed")
"""


def test_everything_is_in_json():
    said = applied(EVERYTHING)
    equal((said["kind"], said["name"], said["description"], said["status"], said["output"]),
          ("python", "Name of R", "What it says.", "findings", "printed\n"))
    equal(said["messages"], [{"id": 0, "type": "optimization", "title": "title",
                              "text": "text @url:https://example.org:a link@"},
                             {"id": 1, "type": "ok", "title": "", "text": "fine"}])
    equal(said["speedups"], [{"message": 0, "type": "local", "percent": 12.5},
                             {"message": 0, "type": "global", "percent": 3}])
    equal(said["focusMetrics"], [{"message": 0, "name": "event__count.sum", "value": 15,
                                  "severity": "low", "info": "fewer"}])
    table = said["tables"][0]
    equal((table["title"], table["description"], table["header"]), ("T", "D", ["n", "x", "t"]))
    equal(table["rows"], [[1, 0.5, "a"], [str(1 << 63), None, "b"]])
    equal(said["sourceMarkers"], [{"message": 0, "file": "a.nvtxt", "line": 3, "text": "here"}])


# Requests at random, of which most are nearly right; the program answers each.
RANDOM = """\
import json, random
WORDS = {
    "text": ["", "x", "\\u2028", "@url:http://a:b@", "@range:1:x@", "@", "a" * 3000],
    "type": ["none", "ok", "error", "high"], "severity": ["default", "low", "high", "ok"],
    "message": [0, 1, 99, -1, "0"], "percent": [0, -1, 1e300, 1 << 62, True], "global": [True, 0],
    "line": [0, 1, 1 << 62, -1], "name": ["event__count.sum", "x", "bars.chart", "..", ""],
    "header": [[], ["a"], ["a", "b"], [5]], "rows": [[], [[1]], [[None, {}]], [["x", 0.5]] * 3],
    "names": [[], ["event__count.sum", "x"], "x"], "range": [None, 0, 1, 9], "id": ["R", "", 5],
    "action": [None, 0, 99], "first": [0, 3, 1 << 62], "count": [0, 3, 1 << 62],
    "include": [[], ["*/"], ["A,"], [5]], "exclude": [[], ["regex:("], ["step/"]],
    "dict": [{"json": "{}"}, {}, 5], "ids": [["R"], []], "value": [1, -1, 1e-320, None]}
for also in ("title", "info", "file", "description"):
    WORDS[also] = WORDS["text"]
METHODS = {
    "message": "type text title", "speedup": "message percent global", "chart": "name",
    "focus_metric": "message name value severity info", "table": "message title header rows",
    "source_marker": "message file line text", "propose": "id", "send_dict": "dict",
    "receive_dict": "id", "vault_get": "id", "vault_put": "id dict", "require_rules": "ids",
    "require_metrics": "names", "metrics": "range action names", "action": "range action",
    "actions_by_nvtx": "range include exclude", "values": "range first count names",
    "events": "range first count", "nvtx_state": "range action", "rule_results": "",
    "rule_begin": "", "rule_describe": "", "rule_raised": "", "hello": "", "nothing": ""}
random.seed(17)
connection, refused = handle.connection, 0
for number in range(1500):
    method = random.choice(sorted(METHODS))
    params = {}
    for name in METHODS[method].split():
        kind = name if random.random() < 0.9 else random.choice(sorted(WORDS))
        params[name] = random.choice(WORDS[kind])
    if method != "rule_raised" or "type" in params:
        try:
            connection.call(method, **params)
        except NvRules.Error as error:
            assert error.code in ("bad-request", "bad-params", "not-found", "unknown-method"), error
            refused += 1
print(100 < refused < 1400)
"""


def test_requests_at_random_get_replies():
    with Folder() as folder:
        option = folder_of(folder, r=rule("R", RANDOM))
        folder.write("rules/bars.chart", "BarChart { Metrics { Name: 'event__count_per_name.sum' } }")
        args = ("--rule=R", "--rule-timeout=200", option, f1(folder))
        status, out, err = report("check", "--format=json", *args)
        equal((status, err), (2, ""))
        document = parse(out)
        equal(Schema(INSTALLED).faults(document), [])
        said = document["rules"][0]
        equal((said["reason"], said["output"]), (None, "True\n"))
        for words in (("check", "--print-rule-details"), ("check", "--format=markdown"),
                      ("html", "-o", "-")):
            equal((report(*words, *args)[::2]), (2 if words[0] == "check" else 0, ""))


def test_everything_is_in_texts_and_on_the_page():
    with Folder() as folder:
        option = folder_of(folder, r=rule("R", EVERYTHING))
        args = (option, "--rule=R", "--section-folder=builtin", f1(folder))
        for words in (("check", "--fail-on=error", "--print-rule-details"), ("report", "--print-rule-details"),
                      ("report", "--format=markdown"), ("check", "--fail-on=error",
                                                        "--format=markdown"),
                      ("html", "-o", "-")):
            status, out, err = report(*words, *args)
            equal((words, status, err), (words, 0, ""))
            for text in ("title", "text", "a link", "fine", "here", "12.5", "event__count", "fewer",
                         "printed"):
                contains(out.replace("\\", ""), text)  # Markdown has _ as \_


def test_rules_of_a_section_are_shown_with_it():
    with Folder() as folder:
        option = folder_of(folder, r=rule(
            "R", "fe.message('with the section')",
            "def get_section_identifier(): return 'RangeSummary'"))
        args = ("--format=json", option, "--section-folder=builtin", "--rule=R", f1(folder))
        for section, count in (("RangeSummary", 1), ("Markers", 0)):
            status, out, err = report("report", "--section=" + section, *args)
            equal(status, 0, err)
            equal(len(json.loads(out)["scopes"][0]["sections"][0]["rules"]), count)


def test_rules_are_listed():
    with Folder() as folder:
        option = folder_of(folder, r=rule("R", ""), helper="LIMIT = 5\n", n=GUIDE)
        status, out, err = report("list", "rules", "--format=json", option)
        equal(status, 0, err)
        items = {one["identifier"]: one for one in json.loads(out)["items"]
                 if one["kind"] == "python"}
        equal(sorted(items), ["GpuArch", "R"])
        equal((items["R"]["name"], items["R"]["description"], items["R"]["hiddenBy"]),
              ("Name of R", "What it says.", None))


def test_charts_with_faults_are_refused():
    body = """\
for name in ("columns", "bins", "regex", "rows"):
    try:
        fe.load_chart_from_file(name + ".chart")
    except ValueError as error:
        fe.message(str(error).split("/")[-1])"""
    with Folder() as folder:
        option = folder_of(folder, r=rule("R", body))
        for name, text in (
                ("columns", "Table { Columns: 0 }"),
                ("bins", "HistogramChart { HistogramAxis { BinCount: 0 } Metric { Name: 'm' } }"),
                ("regex", "Table { Columns: 1 Metrics { Name: 'regex:(' } }"),
                ("rows", "TopTable { Rows: 99999 Metrics { Name: 'm' } }")):
            folder.write("rules/%s.chart" % name, text)
        said = checked(0, option, "--rule=R", f1(folder))[0]["R"]
        equal([one["text"] for one in said["messages"]],
              ["columns.chart:1: 1 to 100 are possible", "bins.chart:1: 1 to 10000 are possible",
               "regex.chart:1: missing closing parenthesis",
               "rows.chart:1: 0 to 10000 are possible"])


# ---- What rules see -----------------------------------------------------------------------------

def test_the_scope_is_the_one_action():
    body = """\
fe.message("%s: %s events" % (action.name(), action["event__count.sum"].value()))
fe.message(str((len(ctx), len(ctx[0]), len(list(ctx.capture())))))
taken = ctx[0].actions_by_nvtx
assert [taken(*filters) for filters in (
    (["*/"], []), ([], []), (["A/", "[*]"], []), (["A/"], []), (["+/"], []), (["A"], []),
    ([], ["*/"]), ([], ["A/"]))] == [(0,)] * 3 + [()] * 4 + [(0,)]
assert action["no_such"] if "no_such" in action else action.metric_by_name("no_such") is None
"""
    with Folder() as folder:
        option = folder_of(folder, r=rule("R", body))
        status, out, err = report("report", "--format=json", "--scope=thread", option,
                                  "--section-folder=builtin", "--rule=R", f1(folder))
        equal(status, 0, err)
        counts = []
        for scope in json.loads(out)["scopes"]:
            said = scope["rules"][0]
            equal((said["reason"], said["messages"][1]["text"]), (None, "(1, 1, 2)"))
            counts.append(said["messages"][0]["text"].rsplit(": ", 1)[1])
        equal(counts, ["10 events", "5 events"])


def test_metrics_have_instances_states_and_reasons():
    said = applied("""\
metric = action["range__time_duration_per_name.sum"]
fe.message(str(dict(zip(metric.ids(), metric.values()))[":step"]))
ids = metric.correlation_ids()
assert [ids.value(i) for i in range(ids.num_instances())] == metric.ids()
assert not action["iteration__count.sum"].has_value()
event = ctx.capture()[0][3]
fe.message("%s %s" % (event.name(), event.nvtx_state()[0].push_pop_ranges()))
assert action.source_files() == {} and action.rule_results_as_dicts() == []
assert action.add_integer_metric("own", 5).as_uint64() == action["own"].value() == 5
assert action.add_double_metric("real", 0.5).value() == 0.5
assert action.add_string_metric("text", "x").as_string() == "x"
assert action.add_metric("none").has_value() is False
assert {"own", "real", "text", "none"} <= set(action.metric_names())""")
    equal((said["reason"], [one["text"] for one in said["messages"]]),
          (None, ["240", "compute ('step', 'compute')"]))


def test_a_required_metric_that_is_missing_is_the_reason():
    require = "def evaluate(handle): NvRules.require_metrics(handle, ['event__count.sum', %r])"
    for name, reason in (("iteration__count.sum", "no iterations declared"),
                         ("no__such", "no such metric")):
        said = applied("raise ValueError", more=require % name)
        equal((said["status"], said["reason"]),
              ("not-applicable", "%s N/A: %s" % (name, reason)))
    said = applied("", more="def evaluate(handle): NvRules.require_rules(handle, ['Other'])")
    equal(said["status"], "not-applicable")
    contains(said["reason"], "Other")


# ---- Rules together -----------------------------------------------------------------------------

def test_parents_send_dictionaries_to_children():
    with Folder() as folder:
        option = folder_of(
            folder, a=rule("Child", "fe.message(str(fe.receive_dict_from_parent('Parent')))",
                           parents("Parent")),
            b=rule("Orphan", "fe.message(str(fe.receive_dict_from_parent('Fails')))",
                   parents("Fails")),
            c=rule("Fails", "fe.send_dict_to_children({'x': 1})\nraise ValueError"),
            z=rule("Parent", "fe.send_dict_to_children({'a': 1, 'b': 1 << 70})\n"
                   "fe.send_dict_to_children({'a': 0.5})"))
        rules, _ = checked(1, option, f1(folder))
        equal(rules["Child"]["messages"][0]["text"], str({"a": 0.5, "b": 1 << 70}))
        equal(rules["Fails"]["status"], "failed")
        equal(rules["Orphan"]["status"], "no-issue")


def test_cycles_fail():
    with Folder() as folder:
        option = folder_of(folder, a=rule("A", "", parents("B")), b=rule("B", "", parents("A")),
                           c=rule("C", "fe.message('still')"))
        rules, _ = checked(1, option, f1(folder))
        equal([rules[one]["status"] for one in "ABC"], ["failed", "failed", "no-issue"])


def test_rules_share_a_vault():
    with Folder() as folder:
        vault = "vault = ctx.controller().get_message_vault()\n"
        option = folder_of(
            folder, a=rule("A", vault + "assert vault.Get('X') == {}\nvault.Put('X', {'a': 1})"),
            b=rule("B", vault + "vault.Put('X', {'b': 2})\nfe.message(str(vault.Get('X')))",
                   parents("A")))
        rules, _ = checked(0, option, f1(folder))
        equal(rules["B"]["messages"][0]["text"], "{'a': 1, 'b': 2}")


def test_rules_propose_what_they_require():
    with Folder() as folder:
        require = "def evaluate(handle): NvRules.require_rules(handle, ['B'])"
        option = folder_of(folder, a=rule("A", "ctx.controller().propose_rule('B')", require),
                           b=rule("B", "ctx.controller().propose_rule('A')"))
        rules, _ = checked(1, option, f1(folder))
        equal((rules["A"]["proposals"], rules["A"]["status"]), (["B"], "no-issue"))
        contains(rules["B"]["reason"], "raised KeyError: 'A' (")


# ---- What goes wrong ----------------------------------------------------------------------------

def test_the_reason_has_the_exception_and_its_place():
    equal(failure("x = 5\nraise ValueError('not %d' % x)"), "raised ValueError: not 5 (LINE)")
    equal(failure("import sys\nsys.exit(3)"), "raised SystemExit: 3 (LINE)")
    equal(failure("fe.message('x')\nfe.generate_table(1, ['a'], [])"),
          "raised IndexError: there is no message 1 (LINE)")
    equal(failure("NvRules.raise_exception(handle, 'a text')"), "raised SystemError: a text (LINE)")
    equal(failure("action.rule_results()"),
          "raised AttributeError: 'IAction' object has no attribute 'rule_results'; "
          "rule_results_as_dicts() has them (LINE)")
    equal(failure("NvRules.load_report('x')"), "raised AttributeError: module 'NvRules' has no "
          "attribute 'load_report'; get_context(handle) has the report (LINE)")
    equal(failure("action['nothing']"), "raised KeyError: 'nothing' (LINE)")
    contains(failure("fe.generate_table(fe.message('m'), ['a'], [[1], [1.5]])"),
             "raised TypeError: column 'a' has cells of several types: float, int (LINE)")
    equal(failure("x = b'x' * (1 << 30)"), "raised MemoryError (LINE)")
    equal(failure("import os; os._exit(3)"), "ended by itself with status 3")


def test_a_rule_that_cannot_be_read_is_no_obstacle():
    with Folder() as folder:
        option = folder_of(folder, syntax="def get_identifier(:\n", good=rule("Good", ""),
                           alone="def apply(handle): pass\n", raises="x = 1 / 0\n",
                           number=GUIDE.replace('"GpuArch"', "5"))
        rules, err = checked(1, option, f1(folder))
        equal(rules["Good"]["status"], "no-issue")
        for text in ("SyntaxError", "syntax.py:1", "get_identifier() is missing",
                     "ZeroDivisionError", "raises.py:1", "get_identifier() returns int, not a text"):
            contains(err, text)


def test_help_can_be_called_from_a_rule():
    contains(applied("help(fe.message)")["output"], "message([type,] text[, title])")


if __name__ == "__main__":
    run(globals())
