# SPDX-License-Identifier: Apache-2.0
"""Section files from outside: what is listed, what is shown of them, and what is said of bad ones.

Outputs are in tests/report/sections/*.out; with NVTXT_GOLDEN_UPDATE set they are written."""
import json
import os
import re
import shutil
import subprocess

from client import Folder, contains, version_in
from lib import equal, run
from report import FIXTURES, f1, report

SECTIONS = os.path.join(FIXTURES, "sections")
BUILT_IN = [
    ("CaptureStats", 10, "basic"), ("SourceHealth", 12, "basic"), ("RangeSummary", 20, "basic"),
    ("Markers", 25, "basic"), ("RangeDistribution", 30, "detailed"), ("RangeTree", 40, "detailed"),
    ("IterationStats", 50, "detailed"), ("ThreadActivity", 60, "detailed"),
    ("Concurrency", 70, "detailed"), ("Categories", 90, "full"), ("Domains", 92, "full"),
    ("Payloads", 100, "full"), ("BlockingChain", 110, "full"), ("SourceMetrics", 120, "full")]
SETS = {"basic": ["basic", "detailed", "full"], "detailed": ["detailed", "full"], "full": ["full"]}


def without_rules(page):
    """Which rules there are is no concern of these tests."""
    return page.split("\nRules without a section\n")[0].split("\n## Rules\n")[0]


def golden(name, got, *replaced):
    version = version_in(report("--version")[1])
    for text, shown_as in (*replaced, ("Written By  " + version, "Written By  VERSION"),
                           ("| %s |" % version, "| VERSION |")):
        got = got.replace(text, shown_as)
    got = re.sub("-{60,}", "-" * 60, got)  # as long as the folder's name, which is not the same everywhere
    path = os.path.join(SECTIONS, name)
    if os.environ.get("NVTXT_GOLDEN_UPDATE"):
        with open(path, "w", encoding="utf-8") as file:
            file.write(got)
    with open(path, encoding="utf-8") as file:
        equal(got, file.read())


def environment(folder, **more):
    """No configuration but that of the case."""
    return {"XDG_CONFIG_HOME": folder.name("none"), "NVTXT_SECTIONS": "", **more}


def listed(*args, status=0, env=None):
    got = report("list", *args, "--format", "json", env=env)
    equal((got[0], got[2]), (status, ""))
    return json.loads(got[1])


def shown(store, *args, status=0, env=None):
    got = report("report", *args, "--apply-rules", "no", "--format", "json", store, env=env)
    equal(got[0], status, got[2])
    return json.loads(got[1])


def sections_of(page):
    return [section["identifier"] for section in page["sections"]]


def test_built_in_sections_parse_without_a_message():
    with Folder() as folder:
        got = listed("sections", env=environment(folder))
        equal(got["messages"], [])
        equal([(item["identifier"], item["order"], item["sets"]) for item in got["items"]],
              [(name, order, SETS[level]) for name, order, level in BUILT_IN])
        status, said, _ = report("list", "sections", env=environment(folder))
        equal(status, 0)
        contains(said, "(built in)")


def test_every_built_in_section_shows_only_metrics_that_exist():
    with Folder() as folder:
        env = environment(folder)
        got = shown(f1(folder), "--set", "full", "--iterations", "step", env=env)
        equal(got["messages"], [])
        text = json.dumps(got)
        assert "no such metric" not in text, text


def test_f1_is_shown_as_text_and_markdown():
    with Folder() as folder:
        store, env = f1(folder), environment(folder)
        for name, args in (("f1.out", []), ("f1_markdown.out", ["--format", "markdown"]),
                           ("f1_details.out", ["--print-details", "header", "--print-units", "base",
                                               "--print-metric-name", "label-name",
                                               "--print-metric-instances", "details"])):
            status, said, wrong = report("--set", "full", "--apply-rules", "no", "--iterations",
                                         "step", *args, store, env=env)
            equal((status, wrong), (0, ""))
            assert all(len(run_) <= 40 for run_ in said.split() if set(run_) == {"#"})
            golden(name, without_rules(said), (store, "STORE"))


def test_descriptions_of_sections_are_details():
    with Folder() as folder:
        store, env = f1(folder), environment(folder)
        got = shown(store, "--section", "CaptureStats", env=env)
        what = got["scopes"][0]["sections"][0]["description"]
        assert what, what
        for words, has in (([], False), (["--print-details", "all"], True),
                           (["--print-rule-details"], True), (["--print-details", "body"], False),
                           (["--format", "markdown"], True)):
            said = report("--section", "CaptureStats", "--apply-rules", "no", *words, store,
                          env=env)[1]
            equal(what in said, has, words)


def test_every_field_of_every_message_is_taken():
    with Folder() as folder:
        store = f1(folder)
        mine = os.path.join(SECTIONS, "all")
        equal(listed("sections", "--section-folder", mine)["messages"], [])
        args = ["--section-folder", mine, "--set", "mine", "--apply-rules", "no"]
        missing = ("all/All.section:17:19: warning: no metric 'no_such_metric' [unknown-metric]\n"
                   "all/All.section:75:42: warning: the optional metric 'event__count_per_line.sum' "
                   "is missing: no source file [missing-metric]\n")
        status, said, wrong = report(*args, store)
        equal((status, wrong.replace(mine, "all")), (0, missing))
        golden("all.out", without_rules(said), (store, "STORE"))
        status, said, wrong = report(*args, "--format", "json", store)
        equal((status, wrong.replace(mine, "all")), (0, missing))
        page = json.loads(said)
        page["scopes"][0].pop("rules")
        golden("all_json.out", json.dumps(page, indent=1) + "\n", (mine, "all"))


def test_tables_are_laid_out_by_row_and_by_column():
    with Folder() as folder:
        page = shown(f1(folder), "--section-folder", os.path.join(SECTIONS, "all"), "--section",
                     "All-1.x_y")["scopes"][0]["sections"][0]
        rows, columns = page["bodies"][0]["items"][:2]
        equal((rows["rows"], rows["columns"], rows["order"], rows["cells"]),
              (3, 2, "RowMajor", [[0, 1], [2, None], [None, None]]))
        equal((columns["rows"], columns["columns"], columns["order"], columns["cells"]),
              (2, 2, "ColumnMajor", [[0, 2], [1, None]]))
        bins = page["bodies"][0]["items"][3]["bins"]
        equal([(each["from"], each["to"], each["count"]) for each in bins],
              [(10, 42.5, 5), (42.5, 75, 3), (75, 107.5, 2), (107.5, 140, 2)])
        micro = page["header"][1]
        equal((micro["label"], micro["unit"], micro["type"], round(micro["value"], 9)),
              ("Micro", "us", "double", 0.7))


def test_groups_have_an_order_and_bins_any_width():
    with Folder() as folder:
        os.mkdir(folder.name("s"))
        folder.write("s/g.section", """\
Identifier: "G" DisplayName: "G"
Metrics { Order: 3 Metrics { Name: "event__count.sum" Label: "three" } }
Metrics { Order: 1 Metrics { Name: "mark__count.sum" Label: "one" } }
Body { Items { HistogramChart { HistogramAxis { BinCount: 2 } Metric { Name: "big" } } } }
""")
        big = folder.write("big.json", json.dumps({"metrics": [
            {"name": "big", "type": "double", "instances": [{"id": 1, "value": -1.7e308},
                                                            {"id": 2, "value": 1.7e308}]}]}))
        got, = shown(f1(folder), "--section-folder", folder.name("s"), "--section", "G", "--metrics-from", big,
                     env=environment(folder))["scopes"]
        section, = got["sections"]
        equal([group["order"] for group in section["groups"]], [1, 3])
        equal(section["bodies"][0]["items"][0]["bins"], [{"from": -1.7e308, "to": 0.0, "count": 1},
                                                         {"from": 0.0, "to": 1.7e308, "count": 1}])


def test_sections_of_the_guide_parse_and_print():
    with Folder() as folder:
        store = f1(folder)
        args = ["--section-folder", os.path.join(SECTIONS, "guide"), "--section", "regex:.",
                "--apply-rules", "no"]
        status, said, wrong = report(*args, store)
        equal(status, 1)  # the required metric
        golden("guide.out", without_rules(said) + wrong, (store, "STORE"), (SECTIONS, "SECTIONS"))


def test_options_of_metrics_stand_by_architecture():
    with Folder() as folder:
        store = f1(folder)
        for arch, count in (("70", 1), ("CC_72", 0), ("75", 1), ("CC_86", 1), ("90", 0), (None, 0)):
            got = shown(store, "--section-folder", os.path.join(SECTIONS, "guide"), "--section",
                        "Options", *(["--arch", arch] if arch else []))
            equal((arch, len(got["scopes"][0]["sections"][0]["header"])), (arch, count))


def test_a_broken_file_that_is_asked_for_tells_its_own_fault():
    with Folder() as folder:
        store = f1(folder)
        own = folder.name("own")
        os.mkdir(own)
        folder.write("own/x.section", 'Identifier: "X" DisplayName: "X" Foo: 1\n')
        folder.write("own/x.rule", 'Identifier: "RX" DisplayName: "X" Foo: 1\n')
        for words, what in ((("--section", "X"), "no section 'X'"), (("--set", "basic"), "no set"),
                            (("--rule", "RX"), "--rule 'RX': there is no such rule")):
            for command in (("report", store), ("list", "sections"), ("check", store)):
                if command[0] == "check" and words[0] != "--rule":
                    continue
                status, said, err = report(*command, "--section-folder", own, *words)
                equal((status, said), (64, ""), err)
                lines = err.splitlines()
                contains(lines[0], "x.section:1:34: error: unknown field 'Foo'")
                contains(lines[-1], "nvtxt-report: " + what)
                equal(sum("x.rule:1:35: error: " in line for line in lines), 1, err)


def test_a_definition_whose_filter_does_not_match_is_said():
    with Folder() as folder:
        own = folder.name("own")
        os.mkdir(own)
        folder.write("own/b.section", 'Identifier: "B" DisplayName: "B"\n'
                     'MetricDefinitions { MetricDefinitions { Name: "da" Expression: "1" }\n'
                     '  MetricDefinitions { Name: "db" Expression: "1" Filter { MinArch: CC_70 } } }\n'
                     'Header { Metrics { Name: "db" } }\n')
        words = ("report", f1(folder), "--section-folder", own, "--section", "B")
        status, _, err = report(*words)
        equal(status, 0, err)
        contains(err, "warning: no metric 'db': the filter of its definition does not match "
                      "[unknown-metric]")
        equal(report(*words, "--arch", "70")[2], "")


def test_a_broken_file_is_told_with_each_fault_and_the_others_work():
    with Folder() as folder:
        broken = os.path.join(SECTIONS, "broken")
        status, said, wrong = report("list", "sections", "--section-folder", broken)
        equal((status, wrong), (1, ""))
        golden("broken.out", said, (SECTIONS, "SECTIONS"))
        got = listed("sections", "--section-folder", broken, status=1)
        equal([(item["identifier"], item["displayName"], item["hiddenBy"]) for item in got["items"]],
              [("Good", "Good", None), ("Warned", "Warned", None),
               ("Good", "Hidden", os.path.join(broken, "00-good.section"))])
        got = shown(f1(folder), "--section-folder", broken, status=1)
        equal(sections_of(got["scopes"][0]), ["Good"])
        equal(got["scopes"][0]["sections"][0]["header"][0]["value"], 15)


SECTION = 'Identifier: "%s" DisplayName: "%s" Sets { Identifier: "basic" }\n'


def test_of_two_sections_with_one_identifier_the_first_on_the_path_counts():
    with Folder() as folder:
        os.makedirs(folder.name("first"))
        os.makedirs(folder.name("config/nvtxt/sections"))
        folder.write("first/b.section", SECTION % ("Markers", "My Marks"))
        folder.write("config/nvtxt/sections/a.section", SECTION % ("Markers", "Hidden Marks"))
        env = environment(folder, XDG_CONFIG_HOME=folder.name("config"),
                          NVTXT_SECTIONS="%s::%s" % (folder.name("missing"), folder.name("first")))
        got = listed("sections", env=env)
        equal([(item["displayName"], item["hiddenBy"]) for item in got["items"]
               if item["identifier"] == "Markers"],
              [("My Marks", None), ("Hidden Marks", folder.name("first/b.section")),
               ("Marks", folder.name("first/b.section"))])
        equal([(message["severity"], message["code"]) for message in got["messages"]],
              [("warning", "duplicate-identifier")] * 2)


def test_folders_that_are_given_replace_the_path():
    with Folder() as folder:
        os.makedirs(folder.name("mine/inner"))
        folder.write("mine/one.section", SECTION % ("One", "1"))
        folder.write("mine/inner/two.section", SECTION % ("Two", "2"))
        env = environment(folder)

        def names(*args):
            return [item["identifier"] for item in listed("sections", *args, env=env)["items"]]

        mine = folder.name("mine")
        equal(names("--section-folder", mine), ["One"])
        equal(names("--section-folder-recursive", mine), ["One", "Two"])
        equal(len(names("--section-folder", mine, "--section-folder", "builtin")),
              len(BUILT_IN) + 1)
        status, _, wrong = report("list", "sections", "--section-folder", folder.name("none"))
        equal(status, 66)
        contains(wrong, "No such file")


def test_sections_and_sets_are_chosen_and_near_names_offered():
    with Folder() as folder:
        store, env = f1(folder), environment(folder)

        def names(*args):
            return sections_of(shown(store, *args, env=env)["scopes"][0])

        equal(names(), [name for name, _, level in BUILT_IN if level == "basic"])
        equal(names("--set", "full"), [name for name, _, _ in BUILT_IN])
        equal(names("--section", "Markers,CaptureStats"), ["CaptureStats", "Markers"])
        equal(names("--section", "regex:^Range"), ["RangeSummary", "RangeDistribution", "RangeTree"])
        equal(names("--section", "Markers", "--set", "basic"), names())
        for args, said in ((["--section", "Makers"], "did you mean 'Markers'?"),
                           (["--section", "regex:^x$"], "no section matches"),
                           (["--section", "regex:("], "parenthesis"),
                           (["--set", "ful"], "did you mean 'full'?")):
            status, out, wrong = report(*args, store, env=env)
            equal((status, out), (64, ""))
            contains(wrong, said)


def test_a_page_of_sections_is_made_for_each_scope():
    with Folder() as folder:
        store, env = f1(folder), environment(folder)

        def events(*args):
            return [(page["scope"]["id"], page["sections"][0]["header"][0]["value"])
                    for page in shown(store, "--section", "CaptureStats", *args, env=env)["scopes"]]

        equal(events(), [(None, 15)])
        equal(events("--scope", "process"), [(100, 15)])
        equal(events("--scope", "thread"), [("100:1", 10), ("100:2", 5)])
        equal(events("--scope", "name")[0], (":compute", 2))
        equal([scope for scope, _ in events("--scope", "iteration", "--iterations", "step")], [0, 1])


def test_definitions_of_sections_and_options_are_metrics():
    with Folder() as folder:
        store = f1(folder)
        os.makedirs(folder.name("mine"))
        folder.write("mine/a.section", SECTION % ("A", "A") + """
Header { Metrics { Name: "mine__double" } Metrics { Name: "mine__quarter" } }
MetricDefinitions { MetricDefinitions { Name: "mine__double" Expression: "event__count.sum * 2" } }
""")
        args = ["--section-folder", folder.name("mine")]
        got = shown(store, *args, "--define", "mine__quarter=mine__double / 8")
        equal([metric["value"] for metric in got["scopes"][0]["sections"][0]["header"]], [30, 3])
        status, _, wrong = report("--define", "x=y", "--define", "y=x", *args, store)
        equal(status, 64)
        contains(wrong, "cycle")


def test_metrics_that_are_asked_for_stand_beside_sections():
    with Folder() as folder:
        store, env = f1(folder), environment(folder)
        got = shown(store, "--section", "Markers", "--metrics", "event__count.sum,nosuch",
                    status=1, env=env)
        equal([(metric["name"], metric["value"], metric["na"])
               for metric in got["scopes"][0]["metrics"]],
              [("event__count.sum", 15, None), ("nosuch", None, "no such metric")])
        status, said, _ = report("--section", "Markers", "--metrics", "event__count.sum", store,
                                 env=env)
        equal(status, 0)
        contains(said, "event__count.sum  15")


def test_lists_are_cut_by_the_options_that_choose():
    with Folder() as folder:
        env = environment(folder)

        def names(what, *args):
            items = listed(what, *args, env=env)["items"]
            return [item.get("identifier", item.get("name")) for item in items]

        equal(names("sections", "--section", "Markers"), ["Markers"])
        equal(names("sets", "--set", "basic"), ["basic", "detailed", "full"])
        equal(names("metrics", "--metrics", "regex:^gap__"), ["gap__time_duration", "gap__count"])
        equal(len(names("metrics")) > 30, True)
        equal(names("reports")[:2], ["nvtx_sum", "nvtx_pushpop_sum"])
        for args, said in ((["sections", "--section", "Makers"], "Markers"),
                           (["rules", "--rule", "IdleGap"], "IdleGaps"),
                           (["sectoins"], "sections")):
            status, out, wrong = report("list", *args, env=env)
            equal((status, out), (64, ""))
            contains(wrong, said)


def test_long_texts_of_lists_are_wrapped():
    for what in ("sets", "metrics", "reports"):
        status, said, _ = report("list", what)
        equal(status, 0)
        equal([line for line in said.split("\n") if len(line) > 80], [])


def test_a_child_stands_after_its_parent():
    with Folder() as folder:
        os.makedirs(folder.name("mine"))
        for name, order, parent in (("A", 1, "C"), ("B", 2, ""), ("C", 3, ""), ("D", 0, "D"),
                                    ("E", 9, "F"), ("F", 9, "E")):
            extends = 'Extends: "%s"' % parent if parent else ""
            folder.write("mine/%s.section" % name,
                         SECTION % (name, name) + "Order: %d %s" % (order, extends))
        got = shown(f1(folder), "--section-folder", folder.name("mine"))
        equal(sections_of(got["scopes"][0]), ["B", "C", "A", "D", "E", "F"])


def test_folders_may_lie_in_each_other_as_deep_as_a_path_can_name():
    with Folder() as folder:
        top = folder.name("deep")
        os.mkdir(top)
        here = os.open(top, os.O_RDONLY)
        for _ in range((4000 - len(top)) // 2):
            os.mkdir("a", dir_fd=here)
            inner = os.open("a", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = inner
        with open(os.open("x.section", os.O_WRONLY | os.O_CREAT, dir_fd=here), "w") as file:
            file.write('Identifier: "Deep" DisplayName: "x"')
        os.close(here)
        try:
            got = listed("sections", "--section-folder-recursive", top)
            equal([section["identifier"] for section in got["items"]], ["Deep"])
        finally:
            subprocess.run(["rm", "-rf", top], check=True)


def test_a_file_that_cannot_be_read_is_told():
    with Folder() as folder:
        os.makedirs(folder.name("mine"))
        folder.write("mine/a.section", b"#" * (1024 * 1024 + 1))
        os.mkfifo(folder.name("mine/b.section"))
        os.makedirs(folder.name("mine/c.section"))
        got = listed("sections", "--section-folder", folder.name("mine"), status=1)
        equal([(message["code"], message["line"]) for message in got["messages"]],
              [("too-large", 1)])
        shutil.rmtree(folder.name("mine"))


if __name__ == "__main__":
    run(globals())
