# SPDX-License-Identifier: Apache-2.0
"""nvtxt-report serve: a reply to every line, what the replies say, and how it ends."""
import json
import os
import random
import signal

from client import Folder, Running, contains, run_client
from lib import equal, program, run
from report import f1, report
from schema import SERVED

MIB = 1 << 20


class Served(Running):
    """serve over a store, asked line by line."""

    def __init__(self, store, *options):
        super().__init__("nvtxt-report", "serve", *options, store)
        self.number = 0

    def line(self, text):
        self.say(text if isinstance(text, bytes) else text + "\n")
        return self.reply()

    def reply(self):
        text = self.process.stdout.readline()
        assert text.endswith(b"\n"), self.stderr()
        got = json.loads(text)
        if "error" in got:
            SERVED.must_fit(got, "refusal")
        return got

    def ask(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        got = self.line(json.dumps(request))
        equal(got["id"], self.number)
        if "result" in got:
            equal(list(got), ["id", "result"])
            SERVED.must_fit(request, "request")
            SERVED.must_fit(got["result"], method)
        return got

    def result(self, method, **params):
        got = self.ask(method, **params)
        assert "result" in got, got
        return got["result"]

    def refused(self, code, method, **params):
        got = self.ask(method, **params)
        equal(sorted(got), ["error", "id"])
        equal((sorted(got["error"]), got["error"]["code"]), (["code", "message"], code))
        return got["error"]["message"]

    def end(self):
        self.close()
        equal(self.process.stdout.read(), b"")
        equal(self.expect(0), "")


def values(reply):
    return {metric["name"]: metric["value"] for metric in reply["metrics"]}


# ---- Methods ------------------------------------------------------------------------------------

def test_the_methods_say_what_the_fixture_has():
    with Folder() as folder, Served(f1(folder)) as serve:
        hello = serve.result("hello")
        equal(list(hello), ["protocol", "version", "path", "kind", "ranges"])
        equal((hello["protocol"], hello["kind"], hello["ranges"]), (1, "nvtxt", 2))
        contains(report("--version")[1], hello["version"])
        equal(hello["path"], folder.name("f1.sqlite"))
        equal([serve.result("range", range=i)["actions"] for i in (0, 1)], [10, 5])
        action = serve.result("action", range=0, action=3)
        equal(action["name"], "compute")
        equal(action["metricNames"], [
            "event__attribute_" + name for name in
            "message name kind domain category_name row pid tid category color start end".split()]
            + ["range__time_duration.sum", "pushpop__self_time.sum", "pushpop__child_time.sum",
               "pushpop__depth.max", "pushpop__child_count.sum"])
        names = [serve.result("action", range=1, action=i)["name"] for i in range(5)]
        equal(names, ["wait", "tick", "request", "tick", "tick"])
        serve.end()


def test_metrics_of_an_event():
    with Folder() as folder, Served(f1(folder)) as serve:
        got = serve.result("metrics", range=0, action=3)
        all_of_it = values(got)
        row = all_of_it.pop("event__attribute_row")
        equal(all_of_it, {
            "event__attribute_message": "compute", "event__attribute_name": ":compute",
            "event__attribute_kind": "push/pop", "event__attribute_domain": "<default domain>",
            "event__attribute_category_name": "", "event__attribute_pid": 100,
            "event__attribute_tid": 1, "event__attribute_category": 0,
            "event__attribute_color": 0, "event__attribute_start": 30,
            "event__attribute_end": 90, "range__time_duration.sum": 60,
            "pushpop__self_time.sum": 20, "pushpop__child_time.sum": 40,
            "pushpop__depth.max": 1, "pushpop__child_count.sum": 2})
        events = serve.result("events", range=0, first=3, count=1)["events"]
        equal((len(events), events[0]["row"]), (1, row))
        duration = [m for m in got["metrics"] if m["name"] == "range__time_duration.sum"][0]
        equal(list(duration), ["name", "label", "unit", "type", "value", "na", "instances", "notes",
                               "description", "metricType", "subtype", "rollup"])
        equal((duration["unit"], duration["type"], duration["metricType"], duration["subtype"],
               duration["rollup"]), ("ns", "u64", "counter", None, "sum"))
        mark = serve.result("metrics", range=1, action=1, names=["range__time_duration.sum"])
        equal((mark["metrics"][0]["value"], mark["metrics"][0]["na"]), (None, "no such metric"))
        serve.end()


def test_metrics_of_everything_are_those_of_the_command():
    with Folder() as folder:
        store = f1(folder)
        wanted = json.loads(report("metrics", "--format", "json", store)[1])["scopes"][0]["metrics"]
        with Served(store) as serve:
            got = serve.result("metrics")["metrics"]
            equal([{name: metric[name] for name in wanted[0]} for metric in got], wanted)
            kinds = {m["name"]: (m["metricType"], m["subtype"], m["rollup"]) for m in got}
            for name, said in (("event__count.sum", ("counter", None, "sum")),
                               ("event__count.sum.per_second", ("counter", "per_second", "sum")),
                               ("range__time_duration.sum.pct_of_elapsed", ("ratio", None, "sum")),
                               ("range__time_duration.med", ("counter", None, None)),
                               ("range__variation.ratio", ("ratio", "ratio", None)),
                               ("capture__attribute_path", ("other", None, None))):
                equal(kinds[name], said, name)
            serve.end()


def test_filters_take_what_the_options_take():
    with Folder() as folder:
        store = f1(folder)
        with Served(store) as serve:
            for include, exclude in ((["step/"], []), (["kernel]"], []), (["step/compute/kernel"], []),
                                     (["request"], []), ([], ["request"]), (["step/"], ["request"]),
                                     (["regex:^(load|kernel)$]"], []), (["wait/"], []),
                                     (["step"], []), ([], []), (["load]", "kernel]"], ["request"]),
                                     (["request", "tick"], []), (["request\ntick"], [])):
                options = [word for text in include for word in ("--nvtx-include", text)]
                options += [word for text in exclude for word in ("--nvtx-exclude", text)]
                lines = report("events", "--format", "jsonl", *options, store)[1].splitlines()
                wanted = {json.loads(line)["row"] for line in lines}
                rows = set()
                for number in (0, 1):
                    events = serve.result("events", range=number)["events"]
                    taken = serve.result("actions_by_nvtx", range=number, include=include,
                                         exclude=exclude)["actions"]
                    equal(taken, sorted(taken))
                    rows |= {events[i]["row"] for i in taken}
                equal(rows, wanted, (include, exclude))
            contains(serve.refused("bad-params", "actions_by_nvtx", range=0, include=["a,b/"]),
                     "write")
            serve.end()


def test_the_state_of_an_event():
    with Folder() as folder, Served(f1(folder)) as serve:
        got = serve.result("nvtx_state", range=0, action=5)["domains"]
        equal([(d["id"], d["name"]) for d in got], [(0, "<default domain>")])
        equal([r["name"] for r in got[0]["pushPop"]], ["step", "compute", "kernel"])
        equal([r["name"] for r in got[0]["startEnd"]], ["request", "request"])
        equal(list(got[0]["pushPop"][0]), ["name", "row", "category", "color", "payload"])
        equal(serve.result("nvtx_state", range=1, action=4)["domains"], [])
        serve.end()


def slow_state(events, event):
    """The ranges open at the start of an event, by the words of the manual; events in order."""
    place, found = events.index(event), {}
    for number, other in enumerate(events):
        if other["kind"] == "mark" or other["pid"] != event["pid"]:
            continue
        is_open = other["start"] <= event["start"] < other["end"] or other is event
        if other["kind"] == "push/pop":
            own = (event["kind"] == "push/pop" and other.get("domain") == event.get("domain"))
            is_open = is_open and other["tid"] == event["tid"] and (not own or number <= place)
        if is_open:
            found.setdefault(other.get("domain", "<default domain>"), ([], []))[
                other["kind"] != "push/pop"].append(other["row"])
    return found


def random_lines(seed):
    rand = random.Random(seed)
    lines = ['#nvtxt-session {"protocol":1,"nvtx":1}', "ProcessId = 7",
             "@RangePush, Time, ThreadId, Domain, Color, Message, Payload",
             "@RangePop, Time, ThreadId, Domain", "@Marker, Time, ThreadId, Domain, Message"]
    time = 0
    for number in range(150):
        time += rand.choice((0, 0, 1, 3))
        tid, domain = rand.randint(1, 2), rand.choice(('""', '"D"', '"E"'))
        what = rand.random()
        if what < 0.4:
            lines.append('RangePush, %d, %d, %s, 0xFF00FF00, "p%d", "%d"'
                         % (time, tid, domain, number, number - 50))
        elif what < 0.7:
            lines.append("RangePop, %d, %d, %s" % (time, tid, domain))
        elif what < 0.85:
            lines.append('Marker, %d, %d, %s, "m%d"' % (time, tid, domain, number))
        else:
            lines.append('RangeStartEnd, %d, %d, Manual, 7, %d, 0, 0, "s%d", 0'
                         % (time, time + rand.choice((0, 5, 40)), tid, number))
    return "\n".join(lines) + "\n"


def test_states_of_random_stores_are_those_of_the_manual():
    with Folder() as folder:
        for seed in range(4):
            name = folder.write("r%d.nvtxt" % seed, random_lines(seed))
            status = report("events", make_any(folder, seed, name))[0]
            equal(status, 0)
            store = folder.name("r%d.sqlite" % seed)
            lines = report("events", "--format", "jsonl", store)[1].splitlines()
            events = [json.loads(line) for line in lines]
            by_row = {event["row"]: event for event in events}
            assert len(events) > 50
            with Served(store) as serve:
                for number in range(serve.result("hello")["ranges"]):
                    rows = [e["row"] for e in serve.result("events", range=number)["events"]]
                    for action, row in enumerate(rows):
                        domains = serve.result("nvtx_state", range=number, action=action)["domains"]
                        got = {d["name"]: ([r["row"] for r in d["pushPop"]],
                                           [r["row"] for r in d["startEnd"]]) for d in domains}
                        equal(got, slow_state(events, by_row[row]), (seed, by_row[row]))
                serve.end()


def make_any(folder, seed, name):
    path = folder.name("r%d.sqlite" % seed)
    status, _, err = run_client("nvtxt-import", "create", "-n", name, "-o", path)
    assert status in (0, 1), err
    return path


def test_values_of_many_actions_are_their_metrics():
    with Folder() as folder, Served(f1(folder)) as serve:
        names = ["event__attribute_name", "range__time_duration.sum", "nothing"]
        for number, count in ((0, 10), (1, 5)):
            got = serve.result("values", range=number, first=0, count=99, names=names)
            equal(len(got["names"]), count)
            for action in range(count):
                single = serve.result("metrics", range=number, action=action, names=names)
                for column, metric in zip(got["metrics"], single["metrics"]):
                    types = column["types"]
                    equal(column["values"][action], metric["value"])
                    equal(types[action] if isinstance(types, list) else types,
                          "none" if metric["na"] else metric["type"])
        equal(serve.result("values", range=0, first=8, count=1, names=[]),
              {"names": ["compute"], "metrics": []})
        equal(serve.result("values", range=0, first=99), {"names": [], "metrics": []})
        serve.end()


def test_a_selection_is_all_that_is_served():
    with Folder() as folder:
        with Served(f1(folder), "--kind", "mark") as serve:
            equal(serve.result("hello")["ranges"], 1)
            equal(serve.result("range", range=0)["actions"], 3)
            equal(len(serve.result("events", range=0, first=1, count=9)["events"]), 2)
            equal(values(serve.result("metrics", names=["event__count.sum"])),
                  {"event__count.sum": 3})
            serve.end()


# ---- What is wrong ------------------------------------------------------------------------------

BROKEN = [b"\n", b"{\n", b"null\n", b"[]\n", b"7\n", b"\xff\xfe\n", b"\0\n", b"{}\n", b'"x"\n',
          b'{"id":"1","method":"hello"}\n', b'{"id":1.5,"method":"hello"}\n',
          b'{"id":99999999999999999999,"method":"hello"}\n', b'{"method":"hello"}\n',
          b'{"id":1,"method":"hello"} x\n', b"[" * 100000 + b"\n"]


def test_every_broken_line_gets_a_reply_and_the_next_is_answered():
    with Folder() as folder, Served(f1(folder)) as serve:
        for text in BROKEN:
            got = serve.line(text)
            equal((got["id"], got["error"]["code"]), (None, "bad-request"), text[:40])
            serve.result("hello")
        equal(serve.line('{"id":4}')["error"]["code"], "bad-request")
        equal(serve.line('{"id":4,"method":7}')["id"], 4)
        contains(serve.refused("unknown-method", "Hello"), "Hello")
        equal(serve.line('{"id":5,"method":"hello","params":[]}')["error"]["code"], "bad-params")
        equal(serve.line('{"id":5,"method":"hello","params":null}')["id"], 5)
        for method, params in (("range", {}), ("range", {"range": "0"}), ("range", {"range": None}),
                               ("action", {"range": 0}), ("action", {"range": 0, "action": 1.0}),
                               ("metrics", {"action": 0}),
                               ("metrics", {"range": 0, "action": 0, "names": "x"}),
                               ("metrics", {"range": 0, "action": 0, "names": [1]}),
                               ("events", {"range": 0, "first": -1}),
                               ("values", {"range": 0, "count": "all"}),
                               ("actions_by_nvtx", {"range": 0, "include": "x"}),
                               ("actions_by_nvtx", {"range": 0, "exclude": [""]})):
            serve.refused("bad-params", method, **params)
        for method, params in (("range", {"range": 2}), ("range", {"range": -1}),
                               ("action", {"range": 0, "action": 10}),
                               ("nvtx_state", {"range": 1, "action": 5}),
                               ("events", {"range": 1 << 40})):
            serve.refused("not-found", method, **params)
        serve.end()


def test_a_line_of_a_mebibyte_is_read_and_a_longer_one_refused():
    with Folder() as folder, Served(f1(folder)) as serve:
        start = b'{"id":1,"method":"hello"'
        for pad in (MIB - len(start) - 1, 0):
            equal(serve.line(start + b" " * pad + b"}\n")["result"]["ranges"], 2)
        for size in (MIB + 1, 2 * MIB, 3 * MIB + 7):
            got = serve.line(start + b" " * (size - len(start) - 1) + b"}\n")
            equal((got["id"], got["error"]["code"]), (None, "bad-request"))
            contains(got["error"]["message"], "1048576")
            serve.result("hello")
        serve.say(b"x" * (2 * MIB))
        serve.close()
        equal(serve.reply()["id"], None)
        equal(serve.expect(0), "")


# ---- How it ends, and what it costs -------------------------------------------------------------

def test_the_end_of_the_input_ends_it():
    with Folder() as folder:
        store = f1(folder)
        equal(report("serve", store), (0, "", ""))
        with Served(store) as serve:
            serve.say(b'{"id":1,"method":"hello"}\n{"id":2,"method":"hello"}')
            serve.close()
            equal([serve.reply()["id"], serve.reply()["id"]], [1, 2])
            equal(serve.expect(0), "")


def test_a_closed_pipe_ends_it():
    with Folder() as folder, Served(f1(folder)) as serve:
        serve.result("hello")
        serve.process.stdout.close()
        try:
            os.write(serve.process.stdin.fileno(), b'{"id":1,"method":"hello"}\n')
        except BrokenPipeError:
            pass  # it saw that nobody reads before the request
        equal(serve.expect(0), "")


def test_a_reader_that_goes_away_ends_it():
    with Folder() as folder, Served(f1(folder)) as serve:
        serve.result("hello")
        serve.process.stdout.close()  # no request follows
        equal(serve.expect(0), "")


def test_a_signal_ends_it():
    with Folder() as folder, Served(f1(folder)) as serve:
        serve.result("hello")
        serve.signal(signal.SIGTERM)
        equal(serve.expect(128 + signal.SIGTERM), "")


def test_what_is_no_store_is_refused():
    with Folder() as folder:
        equal(report("serve", folder.name("none"))[:2], (66, ""))
        equal(report("serve", folder.write("x", "no store"))[:2], (65, ""))
        equal(report("serve", f1(folder), f1(folder, "b.sqlite"))[:2], (64, ""))
        equal(report("serve", "--format", "json", f1(folder, "c.sqlite"))[:2], (64, ""))


def resident(process):
    with open("/proc/%d/status" % process.pid, encoding="ascii") as file:
        return [int(line.split()[1]) for line in file if line.startswith("VmRSS")][0]


def test_memory_stays_the_same_over_100000_round_trips():
    batch = b"".join(json.dumps({"id": i, "method": method, "params": params}).encode() + b"\n"
                     for i, (method, params) in enumerate([
                         ("hello", {}), ("range", {"range": 0}), ("action", {"range": 0, "action": 3}),
                         ("metrics", {"range": 0, "action": 3}), ("nvtx_state", {"range": 0, "action": 5}),
                         ("actions_by_nvtx", {"range": 0, "include": ["step/"]}),
                         ("events", {"range": 1, "first": 0, "count": 2}), ("none", {}),
                         ("values", {"range": 1, "names": ["event__attribute_name"]}),
                         ("metrics", {"names": ["event__count_per_name.sum"]})]))
    with Folder() as folder, Served(f1(folder)) as serve:
        def rounds(count):
            for _ in range(count):
                serve.say(batch)
                for i in range(10):
                    equal(serve.reply()["id"], i)
        rounds(500)
        before = resident(serve.process)
        rounds(500 if sanitized() else 9500)  # memory is looked at without sanitizers only
        after = resident(serve.process)
        assert sanitized() or after <= before + 512, "%d KiB, then %d KiB" % (before, after)
        serve.end()


def sanitized():
    """Sanitizers and valgrind keep freed memory for a while."""
    path = program("client", "nvtxt-report")
    if "wrap" in os.path.basename(os.path.realpath(path)):
        return True
    with open(path, "rb") as file:
        text = file.read()
    return b"__asan_init" in text or b"__tsan_init" in text


if __name__ == "__main__":
    run(globals())
