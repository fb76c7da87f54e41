# SPDX-License-Identifier: Apache-2.0
"""nvtxt_report.py: scripts over stores."""
import ast
import inspect
import os
import re
import subprocess
import sys

from client import ENV, Folder, contains
from lib import Skip, equal, program, run
from report import f1, make_store, report

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
MODULE = os.path.join(TOP, "report", "python")
EXAMPLES = os.path.join(TOP, "doc", "examples", "report")
os.environ["NVTXT_REPORT"] = program("client", "nvtxt-report")
os.environ.pop("NVTXT_SOCKET", None)
sys.dont_write_bytecode = True
sys.path.insert(0, MODULE)

import nvtxt_report  # noqa: E402  after the path of the tree
from nvtxt_report import IAction, IMetric  # noqa: E402

# The guide's script after its import line was changed; the last line is the print it leaves out.
GUIDE = """\
import sys
import nvtxt_report as ncu_report

if len(sys.argv) != 2:
    print("usage: {} report_file".format(sys.argv[0]), file=sys.stderr)

report = ncu_report.load_report(sys.argv[1])

for range_idx in range(report.num_ranges()):
    current_range = report.range_by_idx(range_idx)
    for action_idx in current_range.actions_by_nvtx(["BottomRange/*/TopRange"], []):
        action = current_range.action_by_idx(action_idx)
        print(action.name())
"""

STACKS = """\
ProcessId = 5
@RangePush, Time, ThreadId, Message
@RangePop, Time, ThreadId
@Marker, Time, ThreadId, Message
RangePush, 1, 1, "BottomRange"
RangePush, 2, 1, "Between"
RangePush, 3, 1, "TopRange"
Marker, 4, 1, "within"
RangePop, 5, 1
RangePop, 6, 1
Marker, 7, 1, "after"
RangePop, 8, 1
RangePush, 9, 1, "TopRange"
RangePop, 10, 1
"""


RECIPE_CHECK = """
kernels = frame[frame.message == "kernel"].duration.sum()
steps = frame[frame.name == ":step"].duration.sum()
print(len(frame), kernels, steps, frame.row.nunique(), frame.start.dtype)
"""


def python(*args, program=sys.executable, **env):
    done = subprocess.run([program, *args], env={**ENV, "PYTHONPATH": MODULE,
                          "NVTXT_REPORT": os.environ["NVTXT_REPORT"], **env},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def raises(kind, call, *args):
    try:
        call(*args)
    except kind as error:
        return str(error)
    raise AssertionError("%r does not raise %s" % (call, kind.__name__))


# ---- Scripts ------------------------------------------------------------------------------------

def test_names_that_no_metric_has():
    with Folder() as folder, nvtxt_report.load_report(f1(folder)) as report:
        for name in ("none", "", "a\0b", "\ud800"):
            equal(report[0][0].metric_by_name(name), None)
            equal(report.summary().metric_by_name(name), None)
            equal(set(report[0].values(name)), {None})
            raises(KeyError, lambda: report[0][0][name])
        raises(TypeError, lambda: report[0].values(5))
        raises(TypeError, lambda: report[0][0][5])


def test_the_script_of_the_guide_runs():
    with Folder() as folder:
        store = make_store(folder, "s.sqlite", folder.write("s.nvtxt", STACKS))
        script = folder.write("script.py", GUIDE)
        equal(python(script, store), (0, "TopRange\nwithin\n", ""))
        status, said, err = python(script)
        equal((status, said), (1, ""))
        contains(err, "usage: ")


def test_the_examples_run():
    with Folder() as folder:
        store = f1(folder)
        equal(python(os.path.join(EXAMPLES, "slowest.py"), store, "2"),
              (0, "140 ns  step (Thread 1)\n110 ns  compute (Thread 1)\n", ""))
        equal(python(os.path.join(EXAMPLES, "by_filter.py"), store, "step/compute/kernel"),
              (0, "3 events\n90 ns in ranges\n", ""))
        status, said, err = python(os.path.join(EXAMPLES, "ratios.py"), store)
        equal((status, err), (0, ""))
        contains(said, "range__time_duration.sum.pct_of_elapsed")


def with_pandas():
    """A Python that has pandas; the system's may have it where another one comes first."""
    for found in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(found) and subprocess.run([found, "-c", "import pandas"],
                                                    stderr=subprocess.DEVNULL).returncode == 0:
            return found
    raise Skip("no pandas")


def examples_of_manual():
    """The blocks of Python of the section SCRIPTS."""
    with open(os.path.join(TOP, "man", "nvtxt-report.1.in"), encoding="utf-8") as file:
        page = file.read().split(".Sh SCRIPTS")[1].split("\n.Sh ")[0]
    blocks = re.findall(r"^\.Bd .*?\n(.*?)^\.Ed", page, re.M | re.S)
    return [block.replace("\\e", "\\").replace("\\-", "-") for block in blocks]


def test_the_recipe_for_pandas():
    found = with_pandas()
    recipe = [block for block in examples_of_manual() if "pandas" in block]
    equal(len(recipe), 1)
    with Folder() as folder:
        text = recipe[0].replace("events.sqlite", f1(folder)) + RECIPE_CHECK
        equal(python(folder.write("recipe.py", text), program=found), (0, "15 90 240 15 int64\n", ""))


def test_the_scripts_of_the_manual_run():
    with Folder() as folder:
        store = f1(folder)
        for number, block in enumerate(examples_of_manual()):
            if "load_report" in block and "pandas" not in block:
                script = folder.write("m%d.py" % number, block.replace("events.sqlite", store))
                status, said, err = python(script, store)
                equal((status, err), (0, ""), block)
                assert said, block


# ---- Objects ------------------------------------------------------------------------------------

def test_contexts_and_ranges_are_sequences():
    with Folder() as folder:
        store = f1(folder)
        with nvtxt_report.load_report(store) as loaded:
            equal((len(loaded), loaded.num_ranges(), loaded.path(), loaded.kind()),
                  (2, 2, store, "nvtxt"))
            equal([len(one) for one in loaded], [10, 5])
            equal([len(one) for one in loaded[::-1]], [5, 10])
            thread = loaded[-1]
            equal((thread.num_actions(), thread.name()), (5, loaded.range_by_idx(1).name()))
            equal([a.name() for a in thread], ["wait", "tick", "request", "tick", "tick"])
            equal([a.name() for a in thread[1:3]], ["tick", "request"])
            equal(thread[-5].name(), "wait")
            equal(thread[4:99][0].name(), "tick")
            equal(str(thread.action_by_idx(2)), "request")
            for index in (5, -6, 1 << 70):
                raises(IndexError, thread.__getitem__, index)
                equal(thread.action_by_idx(index), None)
            equal((loaded.range_by_idx(2), loaded.range_by_idx(-3)), (None, None))
            equal(loaded.range_by_idx(-1) is thread, True)
            raises(TypeError, loaded.range_by_idx, "0")
            raises(TypeError, thread.__getitem__, 1.0)


def test_actions_have_metrics_by_name():
    with Folder() as folder, nvtxt_report.load_report(f1(folder)) as loaded:
        action = loaded[0][3]
        equal((action.name(), action.name(IAction.NameBase_MANGLED)), ("compute", "compute"))
        metric = action["range__time_duration.sum"]
        equal((metric.name(), metric.value(), metric.unit(), metric.kind(), metric.has_value()),
              ("range__time_duration.sum", 60, "ns", IMetric.ValueKind_UINT64, True))
        equal((metric.as_string(), metric.as_double(), metric.as_uint64()), ("60", 60.0, 60))
        equal((metric.metric_type(), metric.metric_subtype(), metric.rollup_operation()),
              (IMetric.MetricType_COUNTER, None, IMetric.RollupOperation_SUM))
        name = action["event__attribute_name"]
        equal((name.value(), name.as_uint64(), name.as_double(), name.kind()),
              (":compute", 0, 0.0, IMetric.ValueKind_STRING))
        equal((name.metric_type(), name.rollup_operation()), (IMetric.MetricType_OTHER, None))
        equal((metric.num_instances(), metric.has_correlation_ids(), metric.correlation_ids()),
              (0, False, None))
        equal(list(action), list(action.metric_names()))
        equal(len(action), 17)
        equal("pushpop__depth.max" in action, True)
        raises(KeyError, action.__getitem__, "nothing")
        equal(action.metric_by_name("nothing"), None)
        equal(loaded[1][1].metric_by_name("range__time_duration.sum"), None)
        raises(TypeError, action.metric_by_name, 7)
        raises(NotImplementedError, action.sass_by_pc, 0)
        raises(NotImplementedError, action.ptx_by_pc, 0)
        for one in loaded[0]:
            for metric_name in one:
                equal(one[metric_name].name(), metric_name)


def test_the_summary_has_the_catalogue():
    with Folder() as folder, nvtxt_report.load_report(f1(folder)) as loaded:
        summary = loaded.summary()
        metric = summary["range__time_duration_per_name.sum"]
        equal(dict(zip(metric.ids(), metric.values())),
              {":compute": 170, ":kernel": 90, ":load": 30, ":request": 120, ":step": 240,
               ":wait": 50})
        ids = metric.correlation_ids()
        equal([ids.value(i) for i in range(ids.num_instances())], metric.ids())
        equal((metric.value(0), metric.value(-1), metric.kind(0)), (170, 50, metric.kind()))
        raises(IndexError, metric.value, 6)
        equal(summary["range__time_duration.p90"].has_value(), True)
        none = summary["iteration__time_duration.avg"]
        equal((none.has_value(), none.value(), none.na_reason(), none.kind()),
              (False, None, "no iterations declared", IMetric.ValueKind_UNKNOWN))
        found = [m for m in map(summary.metric_by_name, summary)
                 if m.metric_type() == IMetric.MetricType_COUNTER
                 and m.metric_subtype() == IMetric.MetricSubtype_PER_SECOND
                 and m.rollup_operation() == IMetric.RollupOperation_SUM]
        contains([m.name() for m in found], "event__count.sum.per_second")


def test_scripts_add_metrics_to_actions():
    with Folder() as folder, nvtxt_report.load_report(f1(folder)) as loaded:
        for action, again in ((loaded[0][3], loaded[0][3]), (loaded.summary(), loaded.summary())):
            names = action.metric_names()
            added = action.add_integer_metric("my__count", 2 ** 64 - 1)
            equal((added.name(), added.value(), added.kind(), added.unit(), added.metric_type()),
                  ("my__count", 2 ** 64 - 1, IMetric.ValueKind_UINT64, "", IMetric.MetricType_OTHER))
            action.add_double_metric("my__ratio", 2)
            action.add_string_metric("my__text", "t")
            equal((again["my__ratio"].value(), again["my__ratio"].kind(), again["my__text"].value()),
                  (2.0, IMetric.ValueKind_DOUBLE, "t"))
            empty = action.add_metric("my__empty")
            equal((empty.has_value(), empty.value(), empty.as_uint64(), empty.kind()),
                  (False, None, 0, IMetric.ValueKind_UNKNOWN))
            equal(action.add_metric("my__count").value(), 2 ** 64 - 1)
            equal(again.metric_names(), names + ("my__count", "my__ratio", "my__text", "my__empty"))
            equal((len(again), "my__empty" in again), (len(names) + 4, True))
            action.add_string_metric("my__count", "now a text")
            equal(again["my__count"].as_string(), "now a text")
            for call, value, error in ((action.add_integer_metric, "1", TypeError),
                                       (action.add_integer_metric, 1.0, TypeError),
                                       (action.add_integer_metric, -1, ValueError),
                                       (action.add_integer_metric, 2 ** 64, ValueError),
                                       (action.add_double_metric, "1", TypeError),
                                       (action.add_string_metric, 1, TypeError)):
                raises(error, call, "my__wrong", value)
            raises(TypeError, action.add_metric, 1)
        equal(loaded[0][2].metric_by_name("my__count"), None)


def test_values_are_converted():
    with Folder() as folder, nvtxt_report.load_report(f1(folder)) as loaded:
        action = loaded.summary()
        for value, text, double, integer in ((2.75, "2.75", 2.75, 2), (-3.5, "-3.5", -3.5, 0),
                                             (1e300, "1e+300", 1e300, 2 ** 64 - 1)):
            metric = action.add_double_metric("x", value)
            equal((metric.as_string(), metric.as_double(), metric.as_uint64()),
                  (text, double, integer))
        for value in (float("inf"), float("nan")):
            assert action.add_double_metric("x", value).has_value()
            action["x"].as_uint64()
        text = action.add_string_metric("x", "17 apples")
        equal((text.as_string(), text.as_double(), text.as_uint64()), ("17 apples", 0.0, 0))
        number = action.add_integer_metric("x", 17)
        equal((number.as_string(), number.as_double(), number.as_uint64()), ("17", 17.0, 17))
        metric = action["range__time_duration_per_name.avg"]
        equal((metric.as_string(2), metric.as_double(-1), metric.as_uint64(0), metric.has_value(1)),
              ("15.0", 50.0, 85, True))
        for call in (metric.as_string, metric.as_double, metric.as_uint64, metric.kind,
                     metric.has_value):
            raises(IndexError, call, 6)
            raises(TypeError, call, "0")


def test_a_value_is_asked_for_by_its_kind():
    with Folder() as folder, nvtxt_report.load_report(f1(folder)) as loaded:
        action, kinds = loaded[0][0], [name for name in dir(IMetric) if name.startswith("ValueKind_")]
        metrics = {action.add_string_metric("text", "17"): {"ANY", "STRING"},
                   action.add_double_metric("real", 0.5): {"ANY", "DOUBLE"},
                   action.add_integer_metric("number", 17): {"ANY", "UINT64"},
                   loaded.summary()["iteration__time_duration.avg"]: set()}
        for metric, wanted in metrics.items():
            equal({kind[10:] for kind in kinds if metric.has_value(getattr(IMetric, kind))}, wanted)
        instanced = loaded.summary()["range__time_duration_per_name.avg"]
        equal((instanced.has_value(IMetric.ValueKind_UINT64), instanced.has_value(2)), (False, True))
        equal("%d %s" % (2 * (IMetric.ValueKind_STRING,)), "2 2")


def test_constants_and_what_reports_lack():
    with Folder() as folder, nvtxt_report.load_report(f1(folder)) as loaded:
        action = loaded[0][0]
        equal(action.workload_type(), IAction.WorkloadType_RANGE)
        equal((action.source_files(), action.source_info(0), action.rule_results_as_dicts()),
              ({}, None, []))
        bases = [IAction.NameBase_FUNCTION, IAction.NameBase_DEMANGLED, IAction.NameBase_MANGLED]
        equal(({action.name(base) for base in bases}, len(set(bases))), ({"step"}, 3))
        for prefix, names in (("ValueKind_", "UNKNOWN STRING FLOAT DOUBLE UINT32 UINT64"),
                              ("MetricType_", "OTHER COUNTER RATIO THROUGHPUT"),
                              ("RollupOperation_", "AVG MAX MIN SUM")):
            numbers = [getattr(IMetric, prefix + name) for name in names.split()]
            equal(len(set(numbers)), len(numbers))


def test_states_have_domains_and_ranges():
    with Folder() as folder, nvtxt_report.load_report(f1(folder)) as loaded:
        state = loaded[0][5].nvtx_state()
        equal((state.domains(), len(state)), ((0,), 1))
        equal([one.name() for one in state], ["<default domain>"])
        domain = state.domain_by_id(0)
        equal((domain.name(), state[0].name()), ("<default domain>", "<default domain>"))
        equal(domain.push_pop_ranges(), ("step", "compute", "kernel"))
        equal(domain.start_end_ranges(), ("request", "request"))
        top = domain.push_pop_range(-1)
        equal((top.name(), top.message(), top.has_attributes(), top.category(), top.color(),
               top.payload(), top.payload_type()),
              ("kernel", "kernel", False, 0, 0, None, top.PayloadType_PAYLOAD_UNKNOWN))
        equal((top.payload_as_double(), top.payload_as_uint64(), top.payload_as_string()),
              (0.0, 0, ""))
        equal((domain.push_pop_range(3), domain.start_end_range(2)), (None, None))
        equal((state.domain_by_id(1), 1 in state), (None, False))
        raises(KeyError, state.__getitem__, 1)
        raises(TypeError, state.__getitem__, "0")
        equal(loaded.summary().nvtx_state(), None)
        equal(loaded[1][4].nvtx_state().domains(), ())


def test_filters_take_lists():
    with Folder() as folder, nvtxt_report.load_report(f1(folder)) as loaded:
        equal(loaded[0].actions_by_nvtx(["kernel]"], []), (4, 5, 9))
        equal(loaded[0].actions_by_nvtx([], ["request", "step/"]), ())
        raises(TypeError, loaded[0].actions_by_nvtx, "kernel]", [])
        contains(raises(nvtxt_report.Error, loaded[0].actions_by_nvtx, ["a,b/"], []), "a,b/")


def test_values_come_in_bulk():
    lines = ["ProcessId = 3", "@RangePush, Time, ThreadId, Message, Payload",
             "@RangePop, Time, ThreadId"]
    for i in range(9000):
        lines += ['RangePush, %d, 1, "n%d", "%d"' % (10 * i, i % 7, i), "RangePop, %d, 1" % (10 * i + 3)]
    with Folder() as folder:
        store = make_store(folder, "many.sqlite", folder.write("m.nvtxt", "\n".join(lines) + "\n"))
        with nvtxt_report.load_report(store) as loaded:
            thread = loaded[0]
            calls = loaded._transport._request[0]
            for i, action in enumerate(thread):
                equal((action.name(), action["range__time_duration.sum"].value(),
                       action["event__attribute_payload"].value()), ("n%d" % (i % 7), 3, i))
            calls = loaded._transport._request[0] - calls
            assert calls < 60, calls
            calls = loaded._transport._request[0]
            equal([a.metric_by_name("nothing") for a in thread], [None] * 9000)
            calls = loaded._transport._request[0] - calls
            assert calls < 20, calls
            equal(thread.values("event__attribute_payload"), list(range(9000)))
            equal(sum(event["duration"] for event in thread.events()), 27000)
            for i in (8000, 3, 4999, 0, 8999):
                equal(thread[i]["event__attribute_start"].value(), 10 * i)


STRANGE = """\
#nvtxt-session {"protocol":1,"nvtx":1}
ProcessId = 3
@Marker, Time, ThreadId, Message, Payload
@RangePush, Time, ThreadId, Message
Marker, 1, 1, "a", "f64:-inf"
Marker, 2, 1, "b", "f64:nan"
Marker, 3, 1, "c", "u64:18446744073709551615"
Marker, 4, 1, "d", "i64:-5"
@Marker, Time, ThreadId, Message
Marker, 5, 1, "e"
@RangePop, Time, ThreadId
RangePush, 6, 1, "range"
RangePop, 6, 1
"""


def test_values_without_a_plain_number():
    with Folder() as folder:
        store = make_store(folder, "s.sqlite", folder.write("s.nvtxt", STRANGE))
        with nvtxt_report.load_report(store) as loaded:
            thread, name = loaded[0], "event__attribute_payload"
            one_by_one = [action.metric_by_name(name) for action in thread]
            got = [metric.value() if metric else None for metric in one_by_one]
            equal(repr(got), "[-inf, None, 18446744073709551615, -5.0, None, None]")
            equal(repr(thread.values(name)), repr(got))
            equal(thread.values("range__time_duration.sum"), [None] * 5 + [0])


# ---- Errors, help ------------------------------------------------------------------------------

def test_what_cannot_be_loaded_is_an_error():
    with Folder() as folder:
        contains(raises(nvtxt_report.Error, nvtxt_report.load_report, folder.name("none")), "none")
        load = nvtxt_report.load_report
        store = f1(folder)
        contains(raises(nvtxt_report.Error, load, store, ["--tid", "x"]), "--tid")
        raises(nvtxt_report.Error, load, store, ["--version"])
        raises(TypeError, load, store, "--tid")
        equal(len(load(store, options=["--tid", "2"])), 1)
        loaded = load(store)
        loaded.close()
        loaded.close()
        contains(raises(nvtxt_report.Error, loaded.range_by_idx, 0), "closed")
        os.environ["NVTXT_REPORT"] = folder.name("no-program")
        try:
            contains(raises(nvtxt_report.Error, load, store), "cannot start")
        finally:
            os.environ["NVTXT_REPORT"] = program("client", "nvtxt-report")


# Stands between the module and nvtxt-report serve. While it holds the reply to the request whose
# number is $AT, whole or after half of its bytes, the group of the script gets SIGINT, as from a
# terminal; then it waits until the script says that it was interrupted.
INTERRUPTER = """\
#!%s
import os, signal, subprocess, sys
real = subprocess.Popen([os.environ["REAL"]] + sys.argv[1:], stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE)
for number, line in enumerate(sys.stdin.buffer, 1):
    real.stdin.write(line)
    real.stdin.flush()
    reply = real.stdout.readline()
    half = len(reply) // 2 if os.environ["HALF"] else 0
    if number == int(os.environ["AT"]):
        os.write(1, reply[:half])
        os.killpg(os.getppid(), signal.SIGINT)
        open(os.environ["HELD"]).read()
        reply = reply[half:]
    while reply:
        reply = reply[os.write(1, reply):]
"""

INTERRUPTED = """\
import os, nvtxt_report
report = nvtxt_report.load_report(%r)
thread = report[0]
name = "event__attribute_start"
try:
    thread.values(name)
    raise SystemExit("no interrupt came")
except KeyboardInterrupt:
    open(os.environ["HELD"], "w").close()
again = thread.values(name)
with nvtxt_report.load_report(%r) as other:
    assert again == other[0].values(name) and len(again) == 3000, again
print(report.summary().name(), len(again))
"""


def test_a_call_after_an_interrupt_works():
    with Folder() as folder:
        lines = "".join("Marker, %d, 1, \"m %d\"\n" % (at, at) for at in range(1, 3001))
        text = folder.write("a.nvtxt", "ProcessId = 5\n@Marker, Time, ThreadId, Message\n" + lines)
        store = make_store(folder, "a.sqlite", text)
        between = folder.write("between", INTERRUPTER % sys.executable)
        os.chmod(between, 0o755)
        for half in "", "1":
            held = folder.name("held" + half)
            os.mkfifo(held)
            script = INTERRUPTED % (store, store)
            script = script.replace("with nvtxt", "os.environ['AT'] = '0'\nwith nvtxt")
            env = {"NVTXT_REPORT": between, "REAL": program("client", "nvtxt-report"), "AT": "3",
                   "HALF": half, "HELD": held}
            result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                                    env=dict(ENV, PYTHONPATH=MODULE, **env), timeout=120,
                                    start_new_session=True)
            equal((result.returncode, result.stderr), (0, ""))
            contains(result.stdout, " 3000")


def test_every_public_name_has_a_docstring_and_types():
    with open(os.path.join(MODULE, "nvtxt_report.py"), encoding="utf-8") as file:
        ast.parse(file.read(), feature_version=(3, 7))
    for name in nvtxt_report.__all__:
        thing = getattr(nvtxt_report, name)
        assert thing.__doc__, name
        for member, what in vars(thing).items() if inspect.isclass(thing) else ():
            if inspect.isfunction(what) and not member.startswith("_"):
                assert what.__doc__, (name, member)
                assert "return" in what.__annotations__, (name, member)
    equal(report("--version")[0], 0)


def fits(what, name, indent):
    """Lines of documentation stand further right than the name of a function."""
    function = inspect.isfunction(what)
    for line in inspect.getdoc(what).splitlines():
        assert indent + (3 if function else 0) + len(line) <= 80, (name, line)
    assert not function or indent + len("%s%s" % (name, inspect.signature(what))) <= 80, name


def test_help_fits_80_columns():
    fits(nvtxt_report, "nvtxt_report", 4)
    for name in nvtxt_report.__all__:
        thing = getattr(nvtxt_report, name)
        fits(thing, name, 5)
        for member, what in vars(thing).items() if inspect.isclass(thing) else ():
            if inspect.isfunction(what) and not member.startswith("_"):
                fits(what, member, 5)


if __name__ == "__main__":
    run(globals())
