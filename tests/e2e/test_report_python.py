# SPDX-License-Identifier: Apache-2.0
"""nvtxt_report.py: scripts over stores."""
import ast
import inspect
import os
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


def python(*args, **env):
    done = subprocess.run([sys.executable, *args], env={**ENV, "PYTHONPATH": MODULE,
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

def test_the_script_of_the_guide_runs():
    with Folder() as folder:
        store = make_store(folder, "s.sqlite", folder.write("s.nvtxt", STACKS))
        script = folder.write("script.py", GUIDE)
        equal(python(script, store), (0, "TopRange\nwithin\n", ""))


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


def test_the_recipe_for_pandas():
    try:
        import pandas
    except ImportError:
        raise Skip("no pandas")
    with Folder() as folder, nvtxt_report.load_report(f1(folder)) as loaded:
        frame = pandas.DataFrame(event for thread in loaded for event in thread.events())
        equal(len(frame), 15)
        equal(int(frame[frame.message == "kernel"].duration.sum()), 90)


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
                raises(IndexError, thread.action_by_idx, index)
            raises(IndexError, loaded.range_by_idx, 2)
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
                 if m.metric_type() == IMetric.MetricType_THROUGHPUT
                 and m.metric_subtype() == IMetric.MetricSubtype_PER_SECOND
                 and m.rollup_operation() == IMetric.RollupOperation_SUM]
        contains([m.name() for m in found], "event__count.sum.per_second")


def test_states_have_domains_and_ranges():
    with Folder() as folder, nvtxt_report.load_report(f1(folder)) as loaded:
        state = loaded[0][5].nvtx_state()
        equal((state.domains(), len(state), list(state)), ((0,), 1, [0]))
        domain = state.domain_by_id(0)
        equal((domain.name(), state[0].name()), ("<default domain>", "<default domain>"))
        equal(domain.push_pop_ranges(), ("step", "compute", "kernel"))
        equal(domain.start_end_ranges(), ("request", "request"))
        top = domain.push_pop_range(-1)
        equal((top.name(), top.message(), top.has_attributes(), top.category(), top.color(),
               top.payload(), top.payload_type()),
              ("kernel", "kernel", False, 0, None, None, top.PayloadType_NONE))
        raises(IndexError, domain.push_pop_range, 3)
        raises(IndexError, domain.start_end_range, 2)
        raises(KeyError, state.domain_by_id, 1)
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
            calls = loaded._transport._number
            for i, action in enumerate(thread):
                equal((action.name(), action["range__time_duration.sum"].value(),
                       action["event__attribute_payload"].value()), ("n%d" % (i % 7), 3, i))
            calls = loaded._transport._number - calls
            assert calls < 60, calls
            equal(thread.values("event__attribute_payload"), list(range(9000)))
            equal(sum(event["duration"] for event in thread.events()), 27000)
            for i in (8000, 3, 4999, 0, 8999):
                equal(thread[i]["event__attribute_start"].value(), 10 * i)


# ---- Errors, help ------------------------------------------------------------------------------

def test_what_cannot_be_loaded_is_an_error():
    with Folder() as folder:
        contains(raises(nvtxt_report.Error, nvtxt_report.load_report, folder.name("none")), "none")
        load = nvtxt_report.load_report
        store = f1(folder)
        contains(raises(nvtxt_report.Error, load, store, ["--tid", "x"]), "--tid")
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


if __name__ == "__main__":
    run(globals())
