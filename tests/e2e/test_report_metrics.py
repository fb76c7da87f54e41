# SPDX-License-Identifier: Apache-2.0
"""nvtxt-report metrics: every listed metric of F1, and of random events what report/slow_metrics.py says."""
import json
import math
import os
import random
import sys

from client import Folder
from lib import equal, run
from report import F1, f1, query, report
from report_random import captures

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "report"))
import slow  # noqa: E402
import slow_metrics  # noqa: E402


def metrics(path, *words, status=0):
    got, said, err = report("metrics", "--format", "json", *words, path)
    equal(got, status, err)
    return json.loads(said)["scopes"]


def as_number(value):
    return int(value) if isinstance(value, str) and value.isdigit() else value


def same(found, wanted):
    found = as_number(found)
    if isinstance(wanted, float) or isinstance(found, float):
        return wanted is not None and found is not None and math.isclose(found, wanted, rel_tol=1e-12, abs_tol=1e-9)
    return found == wanted


def check_metric(found, wanted):
    """`wanted`: (value, instances, reason); a value None without a reason is infinite or no number."""
    value, instances, why = wanted
    name = found["name"]
    if why:
        equal((found["value"], found["na"], found["instances"]), (None, why, None), name)
        return
    assert same(found["value"], value), "%s is %r, not %r" % (name, found["value"], value)
    equal(found["na"] is None, value is not None, name)
    if instances is None:
        equal(found["instances"], None, name)
        return
    got = [(one["id"], one["value"]) for one in found["instances"]]
    equal([one for one, _ in got], list(instances), name)
    for one, number in got:
        assert same(number, instances[one]), "%s of %r is %r, not %r" % (name, one, number, instances[one])


def test_ids_of_two_stores_are_never_the_same():
    with Folder() as folder:
        stores = f1(folder), f1(folder, "second.sqlite")
        far = 1 << 56
        listed = ("thread__busy_time_per_thread.sum,process__busy_time_per_process.sum,"
                  "range__time_duration_per_event.sum,source__event_count_per_source.sum,"
                  "range__count_per_name.sum,capture__attribute_threads,"
                  "capture__attribute_processes")
        one = metrics(stores[0], "--metrics", listed)[0]["metrics"]
        both = metrics(stores[0], stores[1], "--metrics", listed)[0]["metrics"]
        for before, after in zip(one[:4], both):
            ids = [each["id"] for each in before["instances"]]
            second = [each + "@1" if isinstance(each, str) else each + far for each in ids]
            equal({each["id"]: each["value"] for each in after["instances"]},
                  {each["id"]: each["value"] for each in before["instances"]} |
                  {other: each["value"] for other, each in zip(second, before["instances"])},
                  after["name"])
            equal(len(after["instances"]), 2 * len(ids))
        equal([each["id"] for each in both[4]["instances"]],
              [each["id"] for each in one[4]["instances"]], "names are those of all stores")
        equal([each["value"] for each in both[5:]], [2 * each["value"] for each in one[5:]])
        scopes = metrics(*stores, "--scope", "thread", "--metrics", "range__count.sum")
        equal([each["scope"]["id"] for each in scopes],
              ["100:1", "100:1@1", "100:2", "100:2@1"])


def check(found, wanted):
    known = {metric["name"]: metric for metric in found}
    for name, one in wanted.items():
        check_metric(known[name], one)
    return set(known) - set(wanted)


# What slow_metrics.py does not compute: it is of sources, flags and files.
BESIDE = ("source__", "capture__attribute_", "capture__loss_count", "payload__", "range__unclosed_count")


def test_random_events_have_the_metrics_of_a_slow_computation():
    for chance, path, capture in captures(4):
        ours = path.endswith("store.sqlite")
        for event in capture.events:
            event.source = 1 if ours else None
        words, markers = [], None
        if chance.random() < 0.5:
            words = ["--iterations", "step"]
            markers = [e for e in capture.events
                       if e.is_range() and not e.open and (e.domain, e.message) == ("", "step")]
        if chance.random() < 0.3:
            words += ["--nvtx-include", "regex:[a-l]/"]
            slow.select(capture, ["regex:[a-l]/"])
        wanted = slow_metrics.Metrics(capture, markers, ours).all
        scope, = metrics(path, *words)
        equal(scope["scope"], {"kind": "capture", "id": None})
        left = check(scope["metrics"], wanted)
        assert all(name.startswith(BESIDE) for name in left), sorted(left)[:10]


# ---- F1 -------------------------------------------------------------------------------------------

def f1_of_sources(path):
    """The metrics of F1 that are not of its events."""
    found = {"range__unclosed_count.sum": 0, "payload__value.sum": 0.0, "payload__count.sum": 0,
             "capture__loss_count.sum": 0, "source__line_count.sum": 40, "source__event_count.sum": 15,
             "source__error_count.sum": 0, "source__warning_count.sum": 0, "source__diagnostic_count.sum": 0,
             "capture__attribute_display_name": "f1.sqlite", "capture__attribute_path": path,
             "capture__attribute_start_time": "1970-01-01T00:00:00.000000000Z",
             "capture__attribute_segments": 1, "capture__attribute_threads": 2,
             "capture__attribute_processes": 1, "capture__attribute_domains": 1}
    for name in "range__unclosed_count", "payload__value", "payload__count":
        found[name + "_per_name.sum"] = found[name + ".sum"], {}
    for name in "line", "event", "error", "warning", "diagnostic":
        total = found["source__%s_count.sum" % name]
        found["source__%s_count_per_source.sum" % name] = total, {1: total}
    found["source__diagnostic_count_per_line.sum"] = 0, {}
    wanted = {name: (one if isinstance(one, tuple) else (one, None)) + (None,) for name, one in found.items()}
    for rollup in "avg", "min", "max", "last":
        for key in "", "_per_name":
            wanted["payload__value%s.%s" % (key, rollup)] = None, None, "fewer than 1 instances"
    return wanted


def lines_of(path):
    """What the store says of its one source and of itself."""
    (lines,), = query(path, "SELECT lines FROM NVTXT_SOURCES")
    (version,), = query(path, "PRAGMA user_version")
    return lines, version


def test_every_listed_metric_has_a_value_on_f1():
    with Folder() as folder:
        path = f1(folder)
        listed, = [json.loads(report("list", "metrics", "--format", "json")[1])["items"]]
        names = [name + key + ("." + rollup if rollup else "")
                 for one in listed for name in [one["name"]]
                 for key in ([] if name in ("thread__busy_time", "process__busy_time") else [""]) +
                 ["_per_" + key for key in one["keys"]]
                 for rollup in one["rollups"] or [""]]
        for words, marker in ([], None), (["--iterations", "step"], "step"):
            capture = slow.Capture([(path, True)])
            for event in capture.events:
                event.source = 1
            markers = marker and [e for e in capture.events if e.message == marker]
            wanted = slow_metrics.Metrics(capture, markers, True).all
            lines, version = lines_of(path)
            wanted.update(f1_of_sources(path))
            wanted["source__line_count.sum"] = lines, None, None
            wanted["source__line_count_per_source.sum"] = lines, {1: lines}, None
            wanted["capture__attribute_store_version"] = version, None, None
            scope, = metrics(path, *words)
            equal([metric["name"] for metric in scope["metrics"]], names)
            equal(check(scope["metrics"], wanted), {"capture__attribute_product_version"})


def test_lines_are_told_apart_when_the_file_is_at_hand():
    with Folder() as folder:
        name = "range__time_duration_per_line.sum"
        (metric,), = [scope["metrics"] for scope in metrics(
            f1(folder), "--metrics", name, "--resolve-source-file", F1)]
        with open(F1) as file:
            lines = file.read().splitlines()
        found = {int(one["id"].rpartition(":")[2]): one["value"] for one in metric["instances"]}
        equal(metric["value"], 700)
        for line, value in found.items():
            assert lines[line - 1].startswith(("RangePush", "RangeStart")), lines[line - 1]
        equal(found[lines.index('RangePush, 0, 1, "step"') + 1], 100)
        equal(len(found), 12)


# Values of the page that can be seen on the picture of F1.
SEEN = {"event__count.sum": 15, "capture__time_elapsed.sum": 260, "capture__busy_time.sum": 245,
        "thread__busy_time_per_thread.sum": 290, "gap__time_duration.sum": 20, "range__concurrency.max": 5,
        "range__overlap_time.sum": 20, "mark__interval.avg": 50.0, "chain__time_duration.sum": 240,
        "range__time_duration.p90": 110, "range__time_duration.p99.9": 140, "pushpop__depth.max": 2}


def test_values_of_f1_are_those_of_the_page():
    with Folder() as folder:
        scope, = metrics(f1(folder), "--metrics", ",".join(SEEN))
        equal({metric["name"]: metric["value"] for metric in scope["metrics"]}, SEEN)


# ---- Scopes, formats, names -----------------------------------------------------------------------

def test_scopes_are_parts_in_order_of_their_ids():
    with Folder() as folder:
        path = f1(folder)

        def counts(kind, *words):
            return [(scope["scope"]["id"], scope["metrics"][0]["value"])
                    for scope in metrics(path, "--scope", kind, "--metrics", "event__count.sum", *words)]
        equal(counts("process"), [(100, 15)])
        equal(counts("thread"), [("100:1", 10), ("100:2", 5)])
        equal(counts("name"), [(":compute", 2), (":kernel", 3), (":load", 2), (":request", 2), (":step", 2),
                               (":tick", 3), (":wait", 1)])
        equal(counts("iteration", "--iterations", "step"), [(0, 10), (1, 5)])
        equal(counts("iteration"), [])
        equal(counts("thread", "--nvtx-include", "wait/"), [("100:2", 2)])


def test_csv_and_tsv_have_a_line_for_each_instance():
    with Folder() as folder:
        path = f1(folder)
        words = "--metrics", "mark__count_per_name.sum,payload__value.avg,mark__interval.avg"
        status, said, err = report("metrics", "--csv", *words, path)
        equal((status, err), (0, ""))
        equal(said, "Scope,Metric,Id,Unit,Type,Value\n"
                    "capture,mark__count_per_name.sum,,mark,u64,3\n"
                    "capture,mark__count_per_name.sum,:tick,mark,u64,3\n"
                    "capture,payload__value.avg,,,double,N/A\n"
                    "capture,mark__interval.avg,,ns,double,50.0\n")
        equal(report("metrics", "--format", "tsv", *words, path)[1], said.replace(",", "\t"))


def test_text_shows_instances_when_asked():
    with Folder() as folder:
        path = f1(folder)
        words = "metrics", "--metrics", "mark__count_per_process.sum", path
        equal(report(*words)[1], "capture:\n  mark__count_per_process.sum  3\n")
        equal(report(*words, "--print-metric-instances", "values")[1],
              "capture:\n  mark__count_per_process.sum  3 (3)\n")
        equal(report(*words, "--print-metric-instances", "details")[1],
              "capture:\n  mark__count_per_process.sum  3 (100: 3)\n")


def test_a_metric_that_is_not_there_is_an_error_in_its_place():
    with Folder() as folder:
        path = f1(folder)
        scope, = metrics(path, "--metrics", "event__count.sum,evnt__count.sum,mark__count.sum", status=1)
        equal([(metric["name"], metric["value"], metric["na"]) for metric in scope["metrics"]],
              [("event__count.sum", 15, None), ("evnt__count.sum", None, "no such metric"),
               ("mark__count.sum", 3, None)])
        status, said, err = report("metrics", "--metrics", "evnt__count.sum", path)
        equal((status, said), (1, "capture:\n  evnt__count.sum  N/A (no such metric)\n"))
        assert "did you mean 'event__count.sum'?" in err, err


def test_regex_is_expanded_in_the_order_of_the_list():
    with Folder() as folder:
        path = f1(folder)
        scope, = metrics(path, "--define", "my__count.sum=2*event__count.sum", "--metrics", "regex:__count\\.sum$")
        equal([metric["name"] for metric in scope["metrics"]],
              ["event__count.sum", "range__count.sum", "pushpop__count.sum", "startend__count.sum",
               "mark__count.sum", "gap__count.sum", "payload__count.sum", "iteration__count.sum", "my__count.sum"])
        status, _, err = report("metrics", "--metrics", "regex:(", path)
        equal(status, 64)
        assert "  regex:(\n         ^" in err, err


# ---- Derived metrics and files --------------------------------------------------------------------

def test_definitions_of_options_and_files_come_after_the_catalogue():
    with Folder() as folder:
        path = f1(folder)
        file = folder.write("more.json", json.dumps({"metrics": [
            {"name": "A", "type": "u64", "unit": "B", "instances": [{"id": 0, "value": 4}, {"id": "x", "value": 5}]},
            {"name": "big", "type": "u64", "value": "18446744073709551615"}]}))
        scope, = metrics(path, "--define", "d = A / 2.0", "--metrics-from", file)
        equal([metric["name"] for metric in scope["metrics"][-3:]], ["A", "big", "d"])
        equal([(metric["type"], metric["value"], metric["instances"]) for metric in scope["metrics"][-3:]],
              [("u64", 9, [{"id": 0, "value": 4}, {"id": "x", "value": 5}]),
               ("u64", "18446744073709551615", None),
               ("double", 4.5, [{"id": 0, "value": 2.0}, {"id": "x", "value": 2.5}])])


def test_derived_aggregate_operands_holds_for_all_that_do_not_say():
    with Folder() as folder:
        path = f1(folder)
        words = ["--define", "r = range__time_duration_per_name.sum / range__count_per_name.sum", "--metrics", "r"]
        (first,), = [scope["metrics"] for scope in metrics(path, *words)]
        equal((first["value"], first["notes"]),
              (85 + 30 + 15 + 60 + 120 + 50, ["sum of ratios; consider revise_avg()"]))
        (second,), = [scope["metrics"] for scope in metrics(path, *words, "--derived-aggregate", "operands")]
        equal((second["value"], second["notes"]), (700 // 12, []))
        equal(second["instances"], first["instances"])


def test_faults_of_definitions():
    with Folder() as folder:
        path = f1(folder)
        status, said, err = report("metrics", "--define", "a=1 + * 2", path)
        equal((status, said), (64, ""))
        assert "--define 'a=1 + * 2'" in err and "\n  a=1 + * 2\n        ^" in err, err
        status, said, err = report("metrics", "--define", "a=b", "--define", "b=a + 1", path)
        equal((status, said), (64, ""))
        assert "a -> b -> a" in err, err
        file = folder.write("bad.json", '{"metrics":[{"name":"event__count.sum","type":"u64","value":1},'
                                        '{"name":"good","type":"u64","value":1}]}')
        status, said, err = report("metrics", "--metrics-from", file, "--metrics", "good", "--format", "json", path)
        equal((status, json.loads(said)["scopes"][0]["metrics"][0]["value"]), (1, 1))
        assert "bad.json:1:13: error: " in err and "[bad-metrics]" in err, err
        file = folder.write("places.json", '{"x": "metrics", "\\"[": [{"metrics": [3]}, 1],\n "metrics" : [\n'
                                           ' 1, {"name": "good", "type": "u64", "value": 1},\n'
                                           '\t{"name": "a,[{\\"", "type": "u64", "value": -1}, [[]], "n"\n]}')
        err = report("metrics", "--metrics-from", file, "--metrics", "good", path)[2]
        equal([line.split(": error")[0] for line in err.splitlines()],
              [file + place for place in (":3:2", ":4:2", ":4:50", ":4:56")], err)


run(globals())
