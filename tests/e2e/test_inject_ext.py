# SPDX-License-Identifier: Apache-2.0
"""Programs that use NVTX's extensions: payloads, counters, memory; each call is the row that it has
to be."""
import functools
import json
import os
import tempfile

from inject import CHAIN_TOOL, Run
from lib import SHORT, Skip, equal, rows, run

MARK, PUSH, START = 34, 59, 60


class Extended(Run):
    """A run, and its counters."""

    def read(self, store):
        super().read(store)
        self.counters = sorted(
            (self.domains[domain] or "", name, description, unit, text and json.loads(text))
            for domain, name, description, unit, text in rows(
                store, "SELECT domainId, name, description, unit, json FROM NVTXT_COUNTERS"))

    def texts(self):
        """Text and JSON of each event."""
        return [(event["text"], event["json"] and json.loads(event["json"])) for event in self.events]


def clients(check):
    """A case for each client: with the stand-in, and with the real headers."""
    name = check.__name__.replace("check_", "test_")

    def make(suffix, client):
        def case():
            check(functools.partial(Extended, client))
        case.__name__ = name + suffix
        globals()[case.__name__] = case
    make("_with_the_stand_in", "extensions")
    make("_with_the_real_headers", "extensions_real")
    return check


# ---- Payloads -------------------------------------------------------------------------------------

@clients
def check_payloads_are_json_by_their_schema(program):
    done = program("payloads")
    step = {"step": 1, "loss": 0.5, "phase": "backward"}
    equal(done.said, ["from 2^32 on 1", "the same again 1", "another in another domain 1", "push 0",
                      "pop 0"])
    equal(done.texts(), [
        ("attached", step),
        ("two", {"begin": [step, {"step": 2, "loss": 0.25, "phase": 9}], "end": step}),
        ("short", {"step": 1}),
        ("unknown", {"schema": 0x1000008}),
        ("another domain", step)])
    equal(done.got("kind", "domain"),
          [(MARK, "trainer"), (PUSH, "trainer"), (MARK, "trainer"), (MARK, "trainer"), (MARK, None)])
    equal(done.losses, [])


@clients
def check_calls_with_payloads_are_events(program):
    done = program("events")
    equal(done.said, ["own scope 0", "own schema 0", "push 0", "push 1", "pop 1", "pop 0",
                      "pop of none -1", "id 3", "enabled 1", "time 1"])
    logged = {"message": "from the payload", "category": 5, "color": 0xFF0000FF,
              "scope": "node[1]/gpu"}
    text = "from the payload"
    equal(done.texts(), [
        (text, logged), (text, logged), ("", {"begin": None, "end": logged}),
        (text, {"begin": logged, "end": logged}), (text, logged)])
    equal(done.got("kind", "text", "category", "color"),
          [(MARK, text, 5, 0xFF0000FF), (PUSH, text, 5, 0xFF0000FF), (PUSH, "", 0, 0),
           (START, text, 5, 0xFF0000FF), (MARK, text, 5, 0xFF0000FF)])


def test_a_domain_that_is_left_out_has_no_rows():
    done = Extended("extensions", "events", NVTXT_DOMAIN_EXCLUDE="own")
    equal(done.said[2:], ["push -2", "push -2", "pop -2", "pop -2", "pop of none -2", "id 2",
                          "enabled 0", "time 1"])
    equal((done.events, done.losses), ([], []))
    done = Extended("extensions", "counters", NVTXT_DOMAIN_EXCLUDE="meters")
    equal(done.got("text"), [("total",)])


@clients
def check_long_payloads_are_whole_until_they_are_too_long(program):
    done = program("long")
    equal(done.said, ["errno 77"])
    texts = ["x" * length for length in (5, 1015, 1500, 10000)]
    equal(done.texts()[:4], [(text, {"n": len(text), "text": text}) for text in texts])
    equal(done.texts()[4], ("x" * 16384, {"truncated": 30000}))


def test_the_macros_of_the_headers_give_json():
    tensor = {"rank": 3, "norm": 0.75, "layer": "conv1"}
    equal(Extended("extensions_real", "helpers").texts(), [("helped", tensor)])


# ---- Counters -------------------------------------------------------------------------------------

@clients
def check_counters_have_rows_and_samples_are_marks(program):
    done = program("counters")
    equal(done.said, ["from 2^32 on 1", "own 0", "no name 2"])
    equal(done.counters, [
        ("", "total", None, None, None),
        ("meters", "counter 16777225", None, None, None),
        ("meters", "power", 'what it "counts"', "W",
         {"description": 'what it "counts"', "unit": "W", "scale": [1, 1000], "min": 0, "max": 250.5,
          "value": "delta"}),
        ("meters", "queue", None, None, None),
        ("meters", "traffic", None, None, None)])
    equal(list(zip(done.got("text", "domain"), done.values())), [
        (("power", "meters"), ("doubleValue", 99.5)),
        (("queue", "meters"), ("int64Value", -7)),
        (("queue", "meters"), None)] +
        [(("queue", "meters"), ("int64Value", depth)) for depth in (1, 1, 2, 3)] +
        [(("traffic", "meters"), None)] * 3 + [
        (("counter 16777224", "meters"), ("int64Value", 5)),
        (("total", None), ("uint64Value", -1))])
    one, two = {"in": 0.1, "out": 1}, {"in": 0.2, "out": 2}
    equal([text for _, text in done.texts()], [None] * 7 + [one, one, two, None, None])
    assert all(event["kind"] == MARK for event in done.events), done.events


# ---- Memory ---------------------------------------------------------------------------------------

@clients
def check_memory_has_names(program):
    done = program("mem")
    memory = int(done.said[0].split()[1])
    equal(done.said[1:], ["heap is its address 1", "other heap 1", "regions are their addresses 1",
                          "permissions 1"])
    equal(done.resources, [("allocator", "memHeap", memory, "pool"),
                           ("allocator", "memRegion", memory + 16, "one"),
                           ("allocator", "memRegion", memory + 32, "zw\u00f6lf"),
                           ("allocator", "memRegion", memory + 48, "registered")])
    equal(done.losses, [("unsupported", 9)])


# ---- What the store cannot hold -------------------------------------------------------------------

@clients
def check_events_of_other_clocks_are_counted(program):
    done = program("deferred")
    equal(done.said, ["time domain 1", "own time domain 0"])
    equal(done.got("text"), [("still here",)])
    equal(done.losses, [("unsupported", 5)])


# ---- Again and again ------------------------------------------------------------------------------

@clients
def check_what_is_registered_again_is_the_same(program):
    done = program("again")
    equal(done.said, ["another in another domain 1", "the same 1", "memory stays 1"])
    equal(done.counters, [("", "again", None, None, None), ("often", "again", None, None, None)])
    equal(done.got("text"), [("again",)])
    equal(done.losses, [])


@clients
def check_counters_beyond_the_bound_are_counted(program):
    if SHORT and program.args == ("extensions_real",):
        raise Skip("65,000 times the same call as with the stand-in")
    done = program("too_many")
    equal(list(zip(done.got("text"), done.values())),
          [(("first",), ("int64Value", 2)), (("first",), ("int64Value", 3))])
    equal(done.losses, [("unsupported", 11)])  # ten counters, one sample


# ---- NULLs and short sizes ------------------------------------------------------------------------

@clients
def check_null_and_empty_payloads_are_events(program):
    done = program("null_payloads")
    equal(done.said, ["schema 0", "enum 0", "scope 0", "empty 1", "push 0", "pop 0", "enabled 1"])
    equal(done.got("kind", "text"),
          [(MARK, "")] * 4 + [(PUSH, ""), (START, "")] + [(MARK, "no payloads")] * 3)
    equal([event["json"] for event in done.events],
          [None, None, "null", "[{},5]"] + [None] * 5)


@clients
def check_null_and_short_counters_are_taken(program):
    done = program("null_counters")
    equal(done.said, ["counter 0", "short 1", "short 1"])
    equal(len(done.events), 6)
    equal({text for text, _ in done.texts()}, {"counter 0"})


@clients
def check_null_and_short_memory_is_taken(program):
    done = program("null_mem")
    equal(done.said, ["heaps 1", "regions 1", "permissions 1"])
    equal(done.resources, [])


def test_permissions_of_cuda_have_handles():
    done = Extended("extensions", "cuda")
    equal(done.said, ["process 1", "devices 1"])


# ---- Another library behind ours ------------------------------------------------------------------

CASES = ("payloads", "events", "long", "counters", "mem", "deferred", "null_payloads",
         "null_counters", "null_mem", "cuda")


def chained(case, mode, name="extensions"):
    """A run with the tests' own library behind ours, and the lines that it wrote."""
    with tempfile.TemporaryDirectory(prefix="nvtxtd-test-") as folder:
        log = os.path.join(folder, "log")
        done = Extended(name, case, NVTXT_CHAIN=CHAIN_TOOL, CHAIN_TOOL_LOG=log, CHAIN_TOOL_MODE=mode)
        with open(log, encoding="utf-8") as file:
            lines = file.read().splitlines()
    assert not [line for line in lines if "FOREIGN" in line], lines
    return done, [line for line in lines if line.split()[0] not in
                  ("version", "extension", "Initialize", "DomainCreateA", "DomainRegisterStringA")]


def test_our_rows_are_the_same_with_another_library():
    modes = ("early", "late", "small", "refuse", "extension")
    for number, case in enumerate(CASES):
        alone = Extended("extensions", case)
        for mode in modes[number % len(modes)::len(modes)] if SHORT else modes:
            done, lines = chained(case, mode)
            if case != "mem":  # has addresses
                equal(done.said, alone.said, case)
                equal(done.resources, alone.resources, case)
            equal(done.texts(), alone.texts(), case)
            equal(done.values(), alone.values(), case)
            equal(done.counters, alone.counters, case)
            equal(done.losses, alone.losses, case)
            if mode == "extension":
                lines = [line for line in lines if line.split()[0] not in ("DomainMarkEx", "MarkEx",
                                                                           "DomainRangePushEx")]
            if mode in ("refuse", "extension"):
                equal(lines, [], (case, mode))


def test_another_library_gets_payloads_with_its_numbers_and_handles():
    for name in ("extensions", "extensions_real"):
        _, lines = chained("payloads", "early", name)
        event = "DomainMarkEx D1"
        schema = "PayloadSchemaRegister %s type 15 type 20 %d: %d"
        equal([line for line in lines if not line.startswith(event)],
              ["PayloadEnumRegister D1: 501", schema % ("D1", 501, 502),
               "PayloadEnumRegister D1: 503", schema % ("D1", 501, 504),
               "PayloadEnumRegister none: 505", schema % ("none", 505, 506),
               "DomainRangePushEx D1 two 0", "RangePopPayload D1 502", "MarkEx none another domain 0"])
        _, lines = chained("events", "early", name)
        equal(lines, [
            "ScopeRegister D1 701", "ScopeRegister D1 own",
            "PayloadSchemaRegister D1 type 80 type 68 type 69 type 70: own", "MarkPayload D1 own S1",
            "RangePushPayload D1 own S1", "RangePushPayload D1", "RangePopPayload D1 own S1",
            "RangePopPayload D1", "RangePopPayload D1 own S1", "RangeStartPayload D1 own S1",
            "RangeEndPayload D1 910001 own S1", "DomainMarkEx D1 in the attributes 0",
            "DomainIsEnabled D1", "TimestampGet"])


def test_another_library_gets_no_payload_whose_handles_cannot_be_replaced():
    for name in ("extensions", "extensions_real"):
        done, lines = chained("large", "early", name)
        equal(done.said, ["push 0", "pop 0"])
        equal([text for text, _ in done.texts()], ["small", "large", "large", "large"])
        equal(lines[2:], ["MarkPayload D1 own S1", "MarkPayload D1", "MarkPayload D1",
                          "RangePushPayload D1", "RangePopPayload D1 own S1"])


def test_another_library_may_give_small_numbers():
    _, lines = chained("payloads", "small")
    schema = "PayloadSchemaRegister %s type 15 type 20 type %d: type %d"
    equal([line for line in lines if "Payload" in line][:6],
          ["PayloadEnumRegister D1: type 501", schema % ("D1", 501, 502),
           "PayloadEnumRegister D1: type 503", schema % ("D1", 501, 504),
           "PayloadEnumRegister none: type 505", schema % ("none", 505, 506)])
    equal([line for line in lines if line.startswith("RangePop")], ["RangePopPayload D1 type 502"])
    _, lines = chained("counters", "small")
    equal([line.replace("type ", "") for line in lines if "601" in line],
          ["CounterRegister D1 power: 601", "CounterSampleFloat64 D1 601 99.5"])


def test_another_library_gets_counters_and_memory():
    _, lines = chained("counters", "early")
    equal(lines[:9], [
        "CounterRegister D1 power: 601", "CounterRegister D1 queue: own",
        "CounterSampleFloat64 D1 601 99.5", "CounterSampleInt64 D1 own -7",
        "CounterSampleNoValue D1 own 2", "CounterSample D1 own 1 8", "CounterBatchSubmit D1 own 24",
        "PayloadSchemaRegister D1 type 19 type 12: 501", "CounterRegister D1 traffic: 602"])
    done, lines = chained("mem", "early")
    equal(done.said[1:], ["heap is its address 1", "other heap 1", "regions are their addresses 1",
                          "permissions 1"])
    equal(lines, ["MemHeapRegister D1 1", "MemHeapRegister D1 1", "MemRegionsName D1 3", "  one",
                  "  zw?lf", "  S1", "MemPermissionsCreate D1 0", "MemPermissionsBind D1 H2 1 0",
                  "MemHeapReset D1 1"])
    _, lines = chained("deferred", "early")
    equal(lines[-4:], ["EventSubmit D1 501", "EventBatchSubmit D1 501 24",
                       "EventBatchSubmit D1 type 0 0",
                       "DomainMarkEx D1 still here 0"])


if __name__ == "__main__":
    run(globals())
