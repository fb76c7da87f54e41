# SPDX-License-Identifier: Apache-2.0
"""Report files of Nsight Compute in report, metrics, check and diff: a result is a scope."""
import json
import os
import sys

from client import Folder, contains
from lib import equal, run
from report import FIXTURES, f1, report
from schema import INSTALLED, Schema
from test_report_rule_python import folder_of, rule

sys.path.insert(0, FIXTURES)
import ncurep as n  # noqa: E402  (its folder is named above)

MAJOR, MINOR = ("device__attribute_compute_capability_" + word for word in ("major", "minor"))
DRAM = "dram__cycles_elapsed.avg.per_second"
TIME = "gpu__time_duration.sum"
PLAIN = {MAJOR: ("uint32", 7), MINOR: ("uint32", 0), TIME: ("uint64", 700),
         DRAM: ("double", 2.5), "launch__grid_size": ("uint32", 64),
         "smsp__active_warps_avg": ("double", 3.5), "smsp__active_cycles_avg": ("uint64", 9),
         "smsp__inst_issued_avg": ("double", 1.5), "smsp__inst_executed_avg": ("double", 1.25),
         "a__elapsed_cycles_sum": ("uint64", 5), "b__elapsed_cycles_sum": ("uint64", 6)}
INSTANCED = {"thread_inst_executed_true": [12, 20], "inst_executed": [3, 4]}


def launch(name="kernel", ranges=("outer",), instanced=None, **changed):
    """A result and the names of its metrics; a metric that is None is not there."""
    metrics = dict(PLAIN)
    metrics.update({{"major": MAJOR, "minor": MINOR, "time": TIME}.get(key, key): what
                    for key, what in changed.items()})
    return name, ranges, {key: what for key, what in metrics.items() if what is not None}, \
        INSTANCED if instanced is None else instanced


def write(folder, *launches, name="a.ncu-rep"):
    names, results = [], []

    def number(text):
        if text not in names:
            names.append(text)
        return names.index(text)
    for kernel, ranges, metrics, instanced in launches:
        made = [n.metric(number(key), what) for key, what in metrics.items()]
        for key, values in instanced.items():
            made.append(n.metric(number(key), ("uint64", sum(values)),
                                 [(("uint64", 16 * i), ("uint64", value))
                                  for i, value in enumerate(values)]))
        state = n.state([n.domain(0)], [(1, [(0, [n.push(one) for one in ranges])])])
        results.append(n.result(kernel, 1, made, state))
    path = folder.name(name)
    with open(path, "wb") as file:
        file.write(n.report(n.block(results, header=[(4, n.strings(*names))])))
    return path


def sections(folder, **texts):
    os.makedirs(folder.name("sections"), exist_ok=True)
    for name, text in texts.items():
        folder.write("sections/%s.section" % name, text)
    return "--section-folder=" + folder.name("sections")


def ask(command, *words, status=0):
    got, out, errors = report(command, "--format=json", *words)
    equal(got, status, errors)
    document = json.loads(out)
    equal(Schema(INSTALLED).faults(document), [])
    return document, errors


def header(*metrics):
    return 'Identifier: "S" DisplayName: "S" Header { %s }' % " ".join(
        "Metrics { %s }" % one for one in metrics)


def shown(folder, text, *words, status=0):
    """The values of the header, page by page."""
    document, errors = ask("report", sections(folder, s=text), *words, status=status)
    return [{one["name"]: one["value"] for at in page["sections"] for one in at["header"]}
            for page in document["scopes"]], errors


# ---- Sections of the guide ----------------------------------------------------------------------

SAMPLE_HEADER = """\
Identifier: "SampleSection"
DisplayName: "Sample Section"
Description: "This sample section shows information on active warps and cycles."
Header {
  Metrics {
    Label: "Active Warps"
    Name: "smsp__active_warps_avg"
  }
  Metrics {
    Label: "Active Cycles"
    Name: "smsp__active_cycles_avg"
  }
}
"""
SAMPLE_BODY = SAMPLE_HEADER + """\
Body {
  Items {
    Table {
      Label: "Example Table"
      Rows: 2
      Columns: 1
      Metrics {
        Label: "Avg. Issued Instructions Per Scheduler"
        Name: "smsp__inst_issued_avg"
      }
      Metrics {
        Label: "Avg. Executed Instructions Per Scheduler"
        Name: "smsp__inst_executed_avg"
      }
    }
  }
  Items {
    Table {
      Label: "Metrics Table"
      Columns: 2
      Order: ColumnMajor
      Metrics {
        Name: "regex:.*__elapsed_cycles_sum"
      }
    }
  }
  Items {
    BarChart {
      Label: "Metrics Chart"
      CategoryAxis {
        Label: "Units"
      }
      ValueAxis {
        Label: "Cycles"
      }
      Metrics {
        Name: "regex:.*__elapsed_cycles_sum"
      }
    }
  }
}
"""


def test_the_sample_sections_of_the_guide():
    with Folder() as folder:
        path = write(folder, launch())
        for text in (SAMPLE_HEADER, SAMPLE_BODY):
            option = sections(folder, s=text)
            status, out, errors = report("report", option, path)
            equal((status, errors), (0, ""))
            equal(out.splitlines()[:5], [
                "** result 0: kernel:", "", "Section: Sample Section (SampleSection)",
                "    Active Warps   3.5", "    Active Cycles  9 cycle"])
        contains(out, "    Avg. Executed Instructions Per Scheduler  1.25\n")
        contains(out, "    a__elapsed_cycles_sum  5 cycle  b__elapsed_cycles_sum  6 cycle\n")
        contains(out, "    b__elapsed_cycles_sum  6 cycle  " + 40 * "#")
        contains(report("report", option, "--format", "markdown", path)[1], "# result 0: kernel")
        page = ask("report", option, path)[0]["scopes"][0]
        equal(page["scope"], {"kind": "result", "id": 0, "name": "kernel", "path": path})
        equal([item["type"] for body in page["sections"][0]["bodies"] for item in body["items"]],
              ["Table", "Table", "BarChart"])


def test_what_the_file_has_not_is_na():
    with Folder() as folder:
        path = write(folder, launch())
        got, errors = shown(folder, header('Name: "no__such.sum"', 'Name: "launch__grid_size"'), path)
        equal(got, [{"no__such.sum": None, "launch__grid_size": 64}])
        contains(errors, "warning: no metric 'no__such.sum'")
        need = 'Name: "%s" Filter { CollectionFilter { Importance: Required } }'
        got, errors = shown(folder, header(need % "no__such.sum"), path, status=1)
        contains(errors, "error: the required metric 'no__such.sum' is missing: no such metric")
        shown(folder, header(need % "launch__grid_size"), path)


def test_the_device_decides_the_architecture():
    text = header('Name: "%s" Filter { MaxArch: CC_70 } '
                  'Options { Name: "%s" Filter { MinArch: CC_75 MaxArch: CC_86 } }' % (DRAM, DRAM))
    text += 'MetricDefinitions { MetricDefinitions { Name: "new" Expression: "inst_executed * 2" ' \
        'Filter { MinArch: CC_80 } } }'
    with Folder() as folder:
        path = write(folder, launch(), launch(minor=("uint32", 2)), launch(minor=("uint64", 5)),
                     launch(major=("uint32", 8), minor=("double", 6)),
                     launch(major=("uint32", 9)), launch(major=None))
        got, _ = shown(folder, text, path)
        equal([DRAM in page for page in got], [True, False, True, True, False, False])
        got, _ = shown(folder, text, "--arch", "CC_72", path)
        equal([DRAM in page for page in got], 6 * [False])
        document, _ = ask("metrics", "--metrics=regex:^new$", sections(folder), path, status=1)
        equal([[one["value"] for one in page["metrics"]] for page in document["scopes"]],
              [[], [], [], [14], [14], []])


def test_a_result_is_a_launch():
    with Folder() as folder:
        scopes = "Name: '%s' Filter { CollectionFilter { CollectionScopes: CollectionScope_%s } }"
        text = header(*(scopes % pair for pair in (("launch__grid_size", "Launch"),
                                                   (MAJOR, "Range"), (MINOR, "Capture"))),
                      "Name: '%s' Filter { HasTable: 'NVTX_EVENTS' }" % TIME)
        equal(shown(folder, text, write(folder, launch()))[0], [{"launch__grid_size": 64}])


def test_derived_metrics():
    define = 'MetricDefinitions { MetricDefinitions { Name: "%s" Expression: "%s" } }'
    with Folder() as folder:
        path = write(folder, launch())
        text = header('Name: "derived__avg_thread_executed"', 'Name: "launch__grid_size"', 'Name: "sum"')
        text += define % ("derived__avg_thread_executed", "thread_inst_executed_true / inst_executed")
        # What the result has goes before what defines it.
        text += define % ("launch__grid_size", "1 + 1") + define % ("sum", "launch__grid_size + 1.5")
        got, errors = shown(folder, text, path)
        equal(got, [{"derived__avg_thread_executed": 9, "launch__grid_size": 64, "sum": 65.5}])
        document, _ = ask("metrics", "--define", "x=revise_max(inst_executed + 1)",
                          "--metrics=x,launch__grid_size", path)
        x, grid = document["scopes"][0]["metrics"]
        equal((x["value"], [(one["id"], one["value"]) for one in x["instances"]]),
              (5, [(0, 4), (16, 5)]))
        equal((grid["type"], grid["value"]), ("u32", 64))


def test_without_folders_the_package_shows_a_kernel():
    with Folder() as folder:
        path = write(folder, launch())
        status, out, errors = report(path)
        equal((status, errors), (0, ""))
        contains(out, "Section: Kernel (KernelStats)")
        contains(out, "    launch__grid_size  64\n")
        equal(report("report", "--section-folder", "builtin", path)[1], out)
        contains(report("check", path)[1], "** result 0: kernel:\n\nThe worst message: none;")


# ---- Which results ------------------------------------------------------------------------------

def test_results_are_chosen():
    with Folder() as folder:
        path = write(folder, launch("add"), launch("mul", ("outer", "inner")), launch("add2", ()))

        def chosen(*words, status=0):
            document, errors = ask("metrics", *words, path, status=status)
            return [page["scope"]["id"] for page in document["scopes"]], errors
        for words, wanted in (((), [0, 1, 2]), (("--kernel=^add",), [0, 2]), (("--kernel=^add$",), [0]),
                              (("--kernel=l$", "--kernel=2"), [1, 2]), (("--result=1",), [1]),
                              (("--kernel=2.int",), [2]), (("--result=2", "--result=0"), [0, 2]),
                              (("--kernel=add", "--result=1"), []),
                              (("--nvtx-include=outer/",), [0, 1]), (("--nvtx-include=inner]",), [1]),
                              (("--nvtx-exclude=inner/", "--kernel=add"), [0, 2])):
            equal(chosen(*words)[0], wanted, words)
        equal(chosen("--kernel=none", "--expect-some", status=1)[0], [])
        said = report("serve", "--kernel=mul", path, stdin='{"id":1,"method":"range","params":{"range":0}}\n')
        equal(json.loads(said[1])["result"]["actions"], 1)
        contains(chosen("--kernel=none")[1], "note: no result is selected")
        contains(chosen("--nvtx-include=outer")[1], "did you mean 'outer/'?")
        for words, text in ((["--result=3"], "--result 3: there is none; the file has 3 results"),
                            (["--result=x"], "a number from 0 on"), (["--kernel=("], "--kernel '('"),
                            (["--pid=1"], "has results, and no events"),
                            (["--scope=thread"], "has results, and no events"),
                            ([f1(folder)], "is no report file of Nsight Compute")):
            status, out, errors = report("metrics", *words, path)
            equal((status, out), (64, ""), words)
            contains(errors, text)
        status, _, errors = report("metrics", "--kernel=a", folder.name("f1.sqlite"))
        equal(status, 64)
        contains(errors, "--kernel and --result are for report files of Nsight Compute")


def test_several_files():
    with Folder() as folder:
        a, b = (write(folder, launch(name), name=name + ".ncu-rep") for name in "ab")
        status, out, _ = report("metrics", "--metrics=launch__grid_size", "--csv", a, b)
        equal((status, out), (0, "Scope,Metric,Id,Unit,Type,Value\n" + "".join(
            "result 0 of %s: %s,launch__grid_size,,,u32,64\n" % (path, name)
            for path, name in ((a, "a"), (b, "b")))))
        contains(report("metrics", "--result=1", a, b)[2], "there is none; the largest file has 1 result, ")


# ---- Metrics ------------------------------------------------------------------------------------

def test_metrics_are_those_of_each_result():
    with Folder() as folder:
        path = write(folder, launch(), launch(**{"launch__grid_size": None, "more": ("string", "t")}))
        pages = ask("metrics", path)[0]["scopes"]
        names = [[one["name"] for one in page["metrics"]] for page in pages]
        equal(names[0], list(PLAIN) + list(INSTANCED))
        equal(("launch__grid_size" in names[1], "more" in names[1]), (False, True))
        document, errors = ask("metrics", "--metrics=launch__grid_size,moer", path, status=1)
        equal([[(one["value"], one["na"]) for one in page["metrics"]] for page in document["scopes"]],
              [[(64, None), (None, "no such metric")], 2 * [(None, "no such metric")]])
        equal(errors.count("no metric 'moer'; did you mean 'more'?") +
              errors.count("there is no metric 'moer'"), 1, errors)
        equal(errors.count("there is no metric 'launch__grid_size'"), 1)
        page = ask("report", "--metrics=regex:^launch__", "--result=0", path)[0]["scopes"][0]
        equal([one["value"] for one in page["metrics"]], [64])


def test_units_and_descriptions_follow_the_names():
    units = {TIME: "ns", "gpu__time_duration": "ns", DRAM: "cycle/s", "dram__bytes.sum": "byte",
             "dram__bytes.sum.per_second": "byte/s", "sm__cycles_elapsed.max": "cycle",
             "smsp__active_cycles_avg": "cycle", "smsp__inst_executed.sum.per_second": "/s",
             "sm__throughput.avg.pct_of_peak_sustained_elapsed": "%", "lts__t_sector_hit_rate.pct": "%",
             "sm__maximum_warps_per_active_cycle_pct": "%", "launch__grid_size": "",
             "device__attribute_clock_rate": "", "l1tex__data_bytes_per_sector.avg": "",
             "smsp__inst_executed.sum": "", "plain": "", "dram__bytes.sum.peak_sustained": ""}
    says = {DRAM: "device memory: cycles elapsed, avg, per second", TIME: "GPU: time duration, sum",
            "launch__grid_size": "", "plain": "", "device__attribute_clock_rate": ""}
    with Folder() as folder:
        path = write(folder, launch(**{name: ("double", 1) for name in units}))
        pages = ask("metrics", path)[0]["scopes"]
        equal({one["name"]: one["unit"] for one in pages[0]["metrics"] if one["name"] in units}, units)
        request = {"id": 1, "method": "metrics", "params": {"range": 0, "action": 0,
                                                            "names": list(says)}}
        got = json.loads(report("serve", path, stdin=json.dumps(request) + "\n")[1])
        equal({one["name"]: one["description"] for one in got["result"]["metrics"]}, says)


def test_instances_of_another_kind():
    odd = {"odd": 0, "wide": 0}
    with Folder() as folder:
        names = list(odd)
        result = n.result("kernel", 1, [
            n.metric(0, ("uint64", 3), [(("uint64", 1), ("string", "x" * 99))]),
            n.metric(1, ("uint32", 3), [(("uint64", 1), ("double", 0.5)), (("uint64", 2), ("uint64", 2))])])
        path = folder.name("a.ncu-rep")
        with open(path, "wb") as file:
            file.write(n.report(n.block([result], header=[(4, n.strings(*names))])))
        document, _ = ask("metrics", "--define=a=odd + 1", "--define=b=wide + 1", path)
        got = {one["name"]: one for one in document["scopes"][0]["metrics"]}
        equal((got["odd"]["instances"], got["odd"]["value"], got["a"]["value"]), (None, 3, 4))
        equal(got["odd"]["notes"], ["instances of another kind than the value are left out"])
        equal((got["wide"]["type"], [one["value"] for one in got["wide"]["instances"]]),
              ("double", [0.5, 2]))
        equal(got["b"]["value"], 4.5)


# ---- Rules --------------------------------------------------------------------------------------

GPU_ARCH = """\
import NvRules

def get_identifier():
  return "GpuArch"

def apply(handle):
  ctx = NvRules.get_context(handle)
  action = ctx.range_by_idx(0).action_by_idx(0)
  ccMajor = action.metric_by_name("device__attribute_compute_capability_major").as_uint64()
  ctx.frontend().message("Running on major compute capability " + str(ccMajor))
"""
SLOW = """\
Identifier: "Slow" DisplayName: "Slow" RequiredMetrics { Name: "gpu__time_duration.sum" }
Findings { Condition: "gpu__time_duration.sum > 1000" Type: Warning
           Message: "took {gpu__time_duration.sum|ns}" }
"""
ASKS = """\
Identifier: "Asks" DisplayName: "Asks"
Findings { Condition: "gpu__time_duration.sum > 0" Type: Warning Message: "m"
           Query { Sql: "SELECT 1" } }
"""
STATE = """\
state = action.nvtx_state()
domain = state.domain_by_id(state.domains()[0])
fe.message(" ".join((action.name(), action.name(action.NameBase_DEMANGLED),
                     str(domain.push_pop_ranges()), str(ctx.range_by_idx(0).actions_by_nvtx(["outer/"], [])),
                     str(action.workload_type() == NvRules.IAction.WorkloadType_KERNEL),
                     action["gpu__time_duration.sum"].unit(), action["sum"].as_string(),
                     str("sum" in action.metric_names()), str(ctx.capture().num_ranges()),
                     ctx.capture()[0][-1].name(), action["gpu__time_duration.sum"].description())))"""
NEEDS = 'def evaluate(handle):\n    NvRules.require_metrics(handle, ["no__such.sum"])\n'


def test_rules_judge_each_result():
    with Folder() as folder:
        option = folder_of(folder, needs=rule("Needs", "", NEEDS), state=rule("State", STATE))
        folder.write("rules/arch.py", GPU_ARCH)
        folder.write("rules/slow.rule", SLOW)
        folder.write("rules/asks.rule", ASKS)
        path = write(folder, launch("one"), launch("two", time=("uint64", 3000), major=("uint32", 9)))
        words = option, "--rule-timeout=200", "--define=sum=launch__grid_size + 1", path
        document, errors = ask("check", *words, status=2)
        rules = {(one["scope"]["id"], one["identifier"]): one for one in document["rules"]}
        equal((len(rules), document["worst"]), (10, "warning"))
        for number, name, arch, slow in ((0, "one", 7, []), (1, "two", 9, ["took 3 us"])):
            texts = {rule: [said["text"] for said in one["messages"]]
                     for (scope, rule), one in rules.items() if scope == number}
            equal((texts["GpuArch"], texts["Slow"]),
                  (["Running on major compute capability %d" % arch], slow))
            equal(texts["State"], [
                "%s %s(int) ('outer',) (0,) True ns 65 True 1 two GPU: time duration, sum" %
                (name, name)], rules[number, "State"]["reason"])
            needs, asks = rules[number, "Needs"], rules[number, "Asks"]
            equal((needs["status"], needs["reason"]),
                  ("not-applicable", "no__such.sum N/A: no such metric"))
            equal((asks["status"], asks["reason"], asks["messages"]),
                  ("not-applicable", "a query needs a store, and no report file", []))
        equal("no metric" in errors, False, errors)
        text = report("check", *words)[1]
        equal([line for line in text.splitlines() if line.startswith("**")],
              ["** result 0: one:", "** result 1: two:"])
        contains(report("check", "--format=markdown", *words)[1], "# result 1: two\n")
        equal(report("check", "--rule=GpuArch,Slow", "--result=0", *words)[0], 0)
        equal(report("check", "--rule=GpuArch,Slow", *words)[0], 2)
        page = ask("report", *words)[0]["scopes"][1]
        equal(sorted(one["identifier"] for one in page["rules"]),
              ["Asks", "GpuArch", "Needs", "Slow", "State"])


# ---- Differences --------------------------------------------------------------------------------

def test_diff_compares_kernels_by_name():
    with Folder() as folder:
        base = write(folder, launch("a", time=("uint64", 1000)), launch("b", time=("double", 499.6)),
                     launch("gone"), launch("without", time=None), launch("a", time=("uint64", 990)),
                     launch("a", time=("uint64", 1010)))
        new = write(folder, launch("b", time=("uint64", 500)), launch("a", time=("uint64", 1610)),
                    launch("a", time=("uint64", 1600)), launch("a", time=("uint64", 1590)),
                    name="b.ncu-rep")
        document, errors = ask("diff", "--gate=5", base, new, status=2)
        equal([(row["name"], row["kind"], row["verdict"], row["deltaPct"]) for row in document["rows"]],
              [("a", "kernel", "slower", 60), ("gone", "kernel", "removed", None),
               ("b", "kernel", "same", 0)])
        equal(document["warnings"],
              ["results without gpu__time_duration.sum are left out: 1 of BASE, 0 of NEW"])
        equal((document["verdict"], document["reason"]), ("regression", "a got slower (+60.0 %)"))
        equal(ask("diff", "--kernel=b", base, new)[0]["verdict"], "neutral")
        document, _ = ask("diff", "--kernel=without", base, new, status=3)
        equal(document["reason"], "BASE has no kernels with a duration")
        lines = report("diff", base, new)[1].splitlines()
        equal(lines[2].split()[-1], "Kernel")


# ---- Bad files ----------------------------------------------------------------------------------

def test_bad_files():
    with Folder() as folder:
        good = write(folder, launch())
        with open(good, "rb") as file:
            data = file.read()
        bad = folder.name("bad.ncu-rep")
        with open(bad, "wb") as file:
            file.write(data[:-3])
        for command, words in (("report", []), ("metrics", []), ("check", []), ("diff", [good])):
            status, out, errors = report(command, bad, *words)
            equal((status, out), (65, ""), command)
            contains(errors, "bad.ncu-rep: offset ")
            equal(report(command, folder.name("none.ncu-rep"), *words)[0], 66)
        status, _, errors = report("stats", good)
        equal(status, 65)
        contains(errors, "report, metrics, check, diff, nvtx-state and serve read it")
        status, _, errors = report("metrics", "-o", good, good)
        equal(status, 64)


if __name__ == "__main__":
    run(globals())
