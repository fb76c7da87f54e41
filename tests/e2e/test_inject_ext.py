# SPDX-License-Identifier: Apache-2.0
"""Programs that use NVTX's extensions: payloads, counters, memory; each call is the row that it has
to be."""
import functools
import json

from inject import Run
from lib import equal, rows, run

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
    equal(done.said, ["from 2^32 on 1", "push 0", "pop 0"])
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


@clients
def check_long_payloads_are_whole_until_they_are_too_long(program):
    done = program("long")
    equal(done.said, ["errno 77"])
    texts = ["x" * length for length in (5, 1015, 1500, 10000)]
    equal(done.texts()[:4], [(text, {"n": len(text), "text": text}) for text in texts])
    equal(done.texts()[4], ("x" * 16384, {"truncated": 30000}))


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


if __name__ == "__main__":
    run(globals())
