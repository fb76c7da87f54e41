# SPDX-License-Identifier: Apache-2.0
"""Report files of Nsight Compute in nvtxt-report serve and in nvtxt_report.py."""
import json
import math
import os
import random
import shutil
import subprocess
import sys

from client import Folder, Running, contains
from lib import Skip, equal, program, run
from report import FIXTURES, f1, report
from schema import SERVED

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
os.environ["NVTXT_REPORT"] = program("client", "nvtxt-report")
sys.dont_write_bytecode = True
sys.path[:0] = [FIXTURES, os.path.join(TOP, "report", "python")]
import ncurep as n  # noqa: E402  (their folders are named above)
import nvtxt_report  # noqa: E402
from nvtxt_report import IAction, IMetric  # noqa: E402

NAMES = ("cycles", "rate", "share", "lanes", "arch", "bytes", "cycles", "nothing", "only ids")
BIG = 2 ** 64 - 1


def metrics():
    return [n.metric(0, ("uint64", BIG)), n.metric(1, ("double", 2.5)), n.metric(2, ("float", 0.5)),
            n.metric(3, ("uint32", 32)), n.metric(4, ("string", "sm_90")),
            n.metric(5, ("uint64", 30), [(("uint64", 0x7F0010), ("uint64", 10)),
                                         (("uint64", 0x7F0020), ("uint64", 20))]),
            n.metric(6, ("uint64", 5)),  # of the name of 0
            n.metric(7),
            n.metric(8, None, [(("string", "a"), ("double", 1.5)), (("string", "b"), ("uint32", 3))]),
            n.metric(99, ("uint64", 1))]  # without a name


def stack(*names, tid=1, **more):
    return n.state([n.domain(3, "Lib", [(5, "registered")])],
                   [(tid, [(0, [n.push(name) for name in names])])], **more)


# Four results; the strings of the first are in the last block.
DATA = n.report(
    n.block([n.result("first", 1, metrics(), stack("BottomRange", "Between", "TopRange"), 1, 7),
             n.result("second", 1, [n.metric(1, ("double", 1.0))], stack("TopRange"), 1, 13)]),
    n.block([n.result("third", 2, [n.metric(3, ("uint32", 64)), n.metric(1, ("double", math.inf))],
                      None, 2, 7)]),
    n.block([n.result("fourth", 1, [n.metric(1, ("double", math.nan))], n.state(
        [n.domain(9, "Nine"), n.domain(2 ** 63 + 5, "Far"), n.domain(3, "Lib", [(5, "registered")])],
        [(1, [(9, [n.push("nine", category=4, color=0x80FF0001, payload=("int32", -7))]),
              (2 ** 63 + 5, [n.push(handle=1), n.push("named", text="message")])])],
        [(3, [n.start(1 << 40, "open", 41, payload=("double", 2.5)),
              n.start(2, handle=5, payload=("float", -math.inf))])]),
        1, 7)], header=[(4, n.strings(*NAMES))]))


def write(folder, data=DATA, name="a.ncu-rep"):
    path = folder.name(name)
    with open(path, "wb") as file:
        file.write(data)
    return path


def raises(kind, call, *args, **named):
    try:
        call(*args, **named)
    except kind as error:
        return str(error)
    raise AssertionError("no %s" % kind.__name__)


def load(folder, options=()):
    return nvtxt_report.load_report(write(folder), options)


def ask(path, *requests, options=()):
    """The replies of serve."""
    with Running("nvtxt-report", "serve", *options, path) as serve:
        replies = []
        for number, (method, params) in enumerate(requests):
            serve.say(json.dumps({"id": number, "method": method, "params": params}) + "\n")
            replies.append(json.loads(serve.process.stdout.readline()))
            equal(replies[-1]["id"], number)
            if "result" in replies[-1]:
                SERVED.must_fit(replies[-1]["result"], method)
        serve.close()
        equal(serve.expect(0), "")
    return [reply.get("result", reply.get("error")) for reply in replies]


def test_ranges_are_contexts_with_streams_and_actions_are_results():
    with Folder() as folder, load(folder) as loaded:
        equal((loaded.kind(), len(loaded)), ("ncu-rep", 3))
        equal([[action.name() for action in part] for part in loaded],
              [["first", "fourth"], ["second"], ["third"]])
        equal([part.name() for part in loaded],
              ["context 1, stream 7", "context 1, stream 13", "context 2, stream 7"])
        action = loaded[0][0]
        equal([action.name(base) for base in (
            IAction.NameBase_FUNCTION, IAction.NameBase_DEMANGLED, IAction.NameBase_MANGLED)],
            ["first", "first(int)", "_Zfirst"])
        equal(action.workload_type(), IAction.WorkloadType_KERNEL)
        equal((loaded.range_by_idx(3), loaded[1].action_by_idx(1)), (None, None))
        equal((action.sass_by_pc(0x7F0010), action.ptx_by_pc(0x7F0010)), ("", ""))
        equal(action.source_info(0x7F0010), None)
        raises(nvtxt_report.Error, loaded.summary)
        raises(nvtxt_report.Error, lambda: list(loaded[0].events()))


def test_metrics_have_all_kinds_of_values():
    with Folder() as folder, load(folder) as loaded:
        action = loaded[0][0]
        equal(action.metric_names(),
              ("cycles", "rate", "share", "lanes", "arch", "bytes", "nothing", "only ids"))
        equal([action[name].value() for name in action],
              [BIG, 2.5, 0.5, 32, "sm_90", 30, None, None])
        equal([action[name].kind() for name in action], [
            IMetric.ValueKind_UINT64, IMetric.ValueKind_DOUBLE, IMetric.ValueKind_FLOAT,
            IMetric.ValueKind_UINT32, IMetric.ValueKind_STRING, IMetric.ValueKind_UINT64,
            IMetric.ValueKind_UNKNOWN, IMetric.ValueKind_UNKNOWN])
        equal(action["nothing"].na_reason(), "no value")
        equal(action.metric_by_name("lan"), None)
        raises(KeyError, lambda: action["none"])
        equal(loaded[2][0]["rate"].value(), math.inf)
        equal(math.isnan(loaded[0][1]["rate"].value()), True)
        equal([type(value) for value in loaded[0].values("rate")], [float, float])
        equal(loaded[0].values("cycles"), [BIG, None])
        equal(list(loaded[2][0]), ["lanes", "rate"])


def test_instances_have_ids():
    with Folder() as folder, load(folder) as loaded:
        metric = loaded[0][0]["bytes"]
        equal((metric.num_instances(), metric.has_correlation_ids()), (2, True))
        equal((metric.values(), metric.ids()), ([10, 20], [0x7F0010, 0x7F0020]))
        ids = metric.correlation_ids()
        equal([ids.as_uint64(i) for i in range(2)], [0x7F0010, 0x7F0020])
        equal(ids.kind(0), IMetric.ValueKind_UINT64)
        metric = loaded[0][0]["only ids"]
        equal((metric.has_value(), metric.values(), metric.ids()), (False, [1.5, 3], ["a", "b"]))
        equal([metric.kind(i) for i in range(2)],
              [IMetric.ValueKind_DOUBLE, IMetric.ValueKind_UINT32])
        equal(loaded[0][0]["rate"].correlation_ids(), None)
    mixed = IMetric({"name": "m", "unit": "", "type": "u64", "value": 3, "na": None,
                     "description": "", "metricType": "other", "subtype": None, "rollup": None,
                     "instances": [{"id": "a", "value": 1}, {"id": 3, "value": 2}]})
    ids = mixed.correlation_ids()
    equal([(ids.value(i), ids.kind(i)) for i in range(2)],
          [("a", IMetric.ValueKind_STRING), (3, IMetric.ValueKind_UINT64)])


KINDS = {
    "dram__cycles_elapsed.avg.per_second": ("COUNTER", "PER_SECOND", "AVG"),
    "dram__cycles_elapsed.max": ("COUNTER", None, "MAX"),
    "dram__bytes.sum.peak_sustained": ("COUNTER", "PEAK_SUSTAINED", "SUM"),
    "dram__bytes.sum.peak_sustained_elapsed.per_second":
        ("COUNTER", "PEAK_SUSTAINED_ELAPSED_PER_SECOND", "SUM"),
    "smsp__inst_executed.avg.per_cycle_active": ("COUNTER", "PER_CYCLE_ACTIVE", "AVG"),
    "smsp__inst_executed.min.per_cycle_elapsed": ("COUNTER", "PER_CYCLE_ELAPSED", "MIN"),
    "smsp__inst_executed.sum.per_cycle_in_frame": ("COUNTER", "PER_CYCLE_IN_FRAME", "SUM"),
    "smsp__inst_executed.sum.per_cycle_in_region": ("COUNTER", "PER_CYCLE_IN_REGION", "SUM"),
    "sm__warps_active.avg.pct_of_peak_sustained_active":
        ("COUNTER", "PCT_OF_PEAK_SUSTAINED_ACTIVE", "AVG"),
    "sm__throughput.avg.pct_of_peak_sustained_elapsed":
        ("THROUGHPUT", "PCT_OF_PEAK_SUSTAINED_ELAPSED", "AVG"),
    "gpu__compute_memory_throughput.max.pct_of_peak_sustained_region":
        ("THROUGHPUT", "PCT_OF_PEAK_SUSTAINED_REGION", "MAX"),
    "smsp__thread_inst_executed_per_inst_executed.ratio": ("RATIO", "RATIO", None),
    "l1tex__t_sector_hit_rate.pct": ("RATIO", "PCT", None),
    "l1tex__t_sector_hit_rate.max_rate": ("RATIO", "MAX_RATE", None),
    "smsp__inst_executed.avg.unheard_of": ("COUNTER", None, "AVG"),
    "device__attribute_compute_capability_major": ("OTHER", None, None),
    "launch__grid_size": ("OTHER", None, None),
    "inst_executed": ("OTHER", None, None),
}


def test_kinds_of_metrics_are_those_of_their_bases():
    data = n.report(n.block([n.result(metrics=[n.metric(i, ("uint64", i))
                                               for i in range(len(KINDS))])],
                            header=[(4, n.strings(*KINDS))]))
    with Folder() as folder, nvtxt_report.load_report(write(folder, data)) as loaded:
        action = loaded[0][0]
        for name, words in KINDS.items():
            wanted = tuple(word and getattr(IMetric, kind + word) for kind, word in zip(
                ("MetricType_", "MetricSubtype_", "RollupOperation_"), words))
            metric = action[name]
            equal((metric.metric_type(), metric.metric_subtype(), metric.rollup_operation()),
                  wanted, name)
            equal(str(metric), name)
        said = ["%s: %s %s" % (metric.name(), metric.value(), metric.unit())  # the guide's filter
                for metric in map(action.metric_by_name, action.metric_names())
                if metric.metric_type() == IMetric.MetricType_COUNTER
                and metric.metric_subtype() == IMetric.MetricSubtype_PER_SECOND
                and metric.rollup_operation() == IMetric.RollupOperation_AVG]
        equal([line.split(":")[0] for line in said], ["dram__cycles_elapsed.avg.per_second"])
    numbers = {name: value for name, value in vars(IMetric).items()
               if name.startswith("MetricSubtype_")}
    equal((len(numbers), len(set(numbers.values()))), (23, 23))


def test_payloads_have_the_types_of_nvtx():
    kinds = {"uint64": BIG, "int64": -7, "double": 2.5, "uint32": 7, "int32": -8, "float": 0.5}
    state = n.state([n.domain(3, "Lib")], [(1, [(3, [
        n.push(kind, payload=(kind, number)) for kind, number in kinds.items()]
        + [n.push("none")])])])
    data = n.report(n.block([n.result("k", 1, [], state)]))
    with Folder() as folder, nvtxt_report.load_report(write(folder, data)) as loaded:
        domain = loaded[0][0].nvtx_state()[3]
        for index, (kind, number) in enumerate(kinds.items()):
            one = domain.push_pop_range(index)
            equal(one.payload_type(), getattr(one, "PayloadType_PAYLOAD_" + kind.upper()), kind)
            equal((one.payload(), one.payload_as_double(), one.payload_as_uint64(),
                   one.payload_as_string()),
                  (number, float(number), max(0, int(number)), str(number)))
        none = domain.push_pop_range(len(kinds))
        equal((none.payload_type(), none.payload_as_double(), none.payload_as_uint64(),
               none.payload_as_string(), none.color(), none.message()), (0, 0.0, 0, "", 0, ""))
        equal(domain.push_pop_range(len(kinds) + 1), None)


def test_scripts_run_unchanged_with_the_folder_compat():
    script = ("import sys, ncu_report, NvRules\n"
              "report = ncu_report.load_report(sys.argv[1])\n"
              "for i in range(report.num_ranges()):\n"
              "    current = report.range_by_idx(i)\n"
              "    for j in current.actions_by_nvtx(['BottomRange/*/TopRange'], []):\n"
              "        print(current.action_by_idx(j).name(), ncu_report.IMetric.MetricType_RATIO)\n"
              "assert NvRules.IMetric is ncu_report.IMetric\n"
              "assert NvRules.MsgType.OK == NvRules.IFrontend.MsgType_MSG_OK == 1\n"
              "help(ncu_report.IMetric)\n")
    with Folder() as folder:
        compat = os.path.join(TOP, "report", "python", "compat")
        got = subprocess.run([sys.executable, "-B", "-c", script, write(folder)], text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env={**os.environ, "PYTHONPATH": compat})
        equal((got.returncode, got.stderr, got.stdout.split("\n")[0]), (0, "", "first 2"))
        contains(got.stdout, "MetricSubtype_PEAK_SUSTAINED_ACTIVE")
        for name in os.listdir(compat):
            if name.endswith(".py"):
                with open(os.path.join(compat, name), encoding="utf-8") as file:
                    equal(len(file.readlines()), 3, name)  # one of them is the licence's
        got = subprocess.run([sys.executable, "-B", "-c", "import nvtxt_report, NvRules"],
                             stderr=subprocess.PIPE, text=True,
                             env={**os.environ, "PYTHONPATH": os.path.dirname(compat)})
        contains(got.stderr, "ModuleNotFoundError: No module named 'NvRules'")


NCU_OPTIONS = {
    ("--list-sections",): "list sections", ("--query-metrics",): "list metrics",
    ("--list-rules",): "list rules", ("--list-sets",): "list sets",
    ("--import", "a.ncu-rep"): "report a.ncu-rep", ("--import=a.ncu-rep",): "report a.ncu-rep",
    ("a.ncu-rep", "--import"): "report FILE", ("--import", "--page"): "report FILE",
    ("--page", "details"): "report", ("--page", "raw"): "metrics", ("--page=source",): "source",
}


def test_options_of_ncu_are_64_with_the_command_of_ours():
    for words, use in NCU_OPTIONS.items():
        status, out, err = report(*words)
        equal((status, out), (64, ""), words)
        equal(err.splitlines()[1:2],
              ["nvtxt-report: that is an option of ncu; use 'nvtxt-report %s'" % use])
    err = report("--pages")[2]
    equal("ncu" in err, False, err)


def test_a_missing_file_is_not_found():
    with Folder() as folder:
        for name in ("none.ncu-rep", "none.sqlite"):
            path = folder.name(name)
            try:
                nvtxt_report.load_report(path)
            except FileNotFoundError as error:
                equal((error.filename, isinstance(error, nvtxt_report.Error)), (path, True))
                equal(str(error), "[Errno 2] No such file or directory: %r" % path)
            else:
                raise AssertionError("loaded " + path)
        raises(nvtxt_report.Error, nvtxt_report.load_report, folder.write("x.ncu-rep", "none"))


def test_states_have_domains_and_ranges():
    with Folder() as folder, load(folder) as loaded:
        equal(loaded[2][0].nvtx_state(), None)
        state = loaded[0][0].nvtx_state()
        equal(state.domains(), (0,))
        equal([domain.name() for domain in state], ["<default domain>"])
        equal(state[0].push_pop_ranges(), ("BottomRange", "Between", "TopRange"))
        equal(state[0].push_pop_range(-1).has_attributes(), False)
        state = loaded[0][1].nvtx_state()
        equal([(number, state[number].name()) for number in state.domains()],
              [(3, "Lib"), (9, "Nine"), (2 ** 63 + 5, "Far")])
        raises(KeyError, state.__getitem__, 0)
        equal(state.domain_by_id(0), None)
        nine = state[9].push_pop_range(0)
        equal((nine.name(), nine.category(), nine.color(), nine.payload(), nine.row()),
              ("nine", 4, 0x80FF0001, -7, None))
        equal(state[3].start_end_ranges(), ("open", "registered"))
        equal(state[3].start_end_range(0).payload(), 2.5)
        equal(state[3].start_end_range(1).payload(), -math.inf)
        equal([one.message() for one in (state[2 ** 63 + 5].push_pop_range(1), nine)],
              ["message", ""])


def test_filters_take_results():
    with Folder() as folder, load(folder) as loaded:
        equal([part.actions_by_nvtx(["BottomRange/*/TopRange"], []) for part in loaded],
              [(0,), (), ()])
        equal([part.actions_by_nvtx(["TopRange/"], ["BottomRange/"]) for part in loaded],
              [(), (0,), ()])
        equal(loaded[0].actions_by_nvtx(["Lib@open,registered", "[TopRange"], []), (1,))
        equal(loaded[0].actions_by_nvtx([], []), (0, 1))
        contains(raises(nvtxt_report.Error, loaded[0].actions_by_nvtx, ["a/,b"], []), "','")
        chosen = nvtxt_report.load_report(folder.name("a.ncu-rep"), ["--nvtx-include", "TopRange/"])
        equal([[action.name() for action in part] for part in chosen], [["first"], ["second"]])
        chosen.close()
        contains(raises(nvtxt_report.Error, nvtxt_report.load_report, folder.name("a.ncu-rep"),
                        ["--tid", "1"]), "no events")


def test_the_replies_of_serve():
    with Folder() as folder:
        where = {"range": 1, "action": 0}
        hello, action, got, state, events, summary, values = ask(
            write(folder), ("hello", {}), ("action", where), ("metrics", dict(where, names=["rate"])),
            ("nvtx_state", where), ("events", {"range": 0}), ("metrics", {}),
            ("values", {"range": 0, "names": ["lanes"]}))
        equal((hello["path"], hello["kind"], hello["ranges"]),
              (folder.name("a.ncu-rep"), "ncu-rep", 3))
        equal(action, {"name": "second", "metricNames": ["rate"], "demangledName": "second(int)",
                       "mangledName": "_Zsecond"})
        equal(got["metrics"], [{
            "name": "rate", "label": None, "unit": "", "type": "double", "value": 1.0, "na": None,
            "instances": None, "notes": [], "description": "", "metricType": "other",
            "subtype": None, "rollup": None}])
        equal(state["domains"], [{"id": 0, "name": "<default domain>", "pushPop": [{
            "name": "TopRange", "row": None, "category": 0, "color": None, "payload": None,
            "message": None, "hasAttributes": False}], "startEnd": []}])
        equal([events["code"], summary["code"]], ["not-found"] * 2)
        equal(values["names"], ["first", "fourth"])
        equal((values["metrics"][0]["values"], values["metrics"][0]["types"]),
              ([32, None], ["u32", "none"]))


def test_files_that_are_none():
    with Folder() as folder:
        for data, what in ((b"", "offset 0: "), (DATA[:-1], "offset "), (b"no report", "offset 0: "),
                           (n.report(version=8), "version 8 is not supported, only 7")):
            path = write(folder, data, "bad.ncu-rep")
            status, out, err = report("serve", path)
            equal((status, out), (65, ""), err)
            contains(err, "nvtxt-report: %s: offset" % path)
            contains(err, what)
            contains(raises(nvtxt_report.Error, nvtxt_report.load_report, path), what)
        equal(report("serve", folder.name("none.ncu-rep"))[:2], (66, ""))
        equal(report("serve", write(folder), write(folder))[:2], (64, ""))
        equal(report("serve", write(folder, n.report()))[:2], (0, ""))
        equal(report("stats", write(folder))[:2], (65, ""))
        # By its first bytes, too; and a store may have any name.
        equal(ask(write(folder, DATA, "report"), ("hello", {}))[0]["kind"], "ncu-rep")
        equal(ask(f1(folder, "store.db"), ("hello", {}))[0]["kind"], "nvtxt")


def test_a_compressed_file():
    zstd = shutil.which("zstd")
    if not zstd:
        raise Skip("there is no zstd")
    with Folder() as folder:
        subprocess.run([zstd, "-q", write(folder), "-o", folder.name("a.ncu-repz")], check=True)
        status, _, err = report("serve", folder.name("a.ncu-repz"))
        if status == 65 and "built without libzstd" in err:
            raise Skip("built without libzstd")
        with nvtxt_report.load_report(folder.name("a.ncu-repz")) as loaded:
            equal([len(part) for part in loaded], [2, 1, 1])


def test_random_files_say_what_was_put_in():
    rng = random.Random(5)
    with Folder() as folder:
        texts = ["m%d" % i for i in range(40)]
        rng.shuffle(texts)
        wanted, blocks = {}, []
        for number in range(200):
            where = (rng.randrange(3), rng.randrange(4))
            chosen = rng.sample(range(40), rng.randrange(12))
            values = {texts[i]: rng.randrange(1 << rng.choice((1, 31, 64))) for i in chosen}
            wanted.setdefault(where, []).append(("k%d" % number, values))
            blocks.append(n.block([n.result(
                "k%d" % number, metrics=[n.metric(texts.index(name), ("uint64", value))
                                         for name, value in values.items()],
                context=where[0], stream=where[1])]))
        blocks.insert(90, n.block(header=[(4, n.strings(*texts[:10])), (4, n.strings(*texts[10:33]))]))
        blocks.append(n.block(header=[(4, n.strings(*texts[33:]))]))
        with nvtxt_report.load_report(write(folder, n.report(*blocks))) as loaded:
            got = {}
            for part in loaded:
                for action in part:
                    values = {name: action[name].value() for name in action}
                    got.setdefault(part.name(), []).append((action.name(), values))
        equal(list(got.items()), [("context %d, stream %d" % where, results)
                                  for where, results in wanted.items()])


if __name__ == "__main__":
    run(globals())
