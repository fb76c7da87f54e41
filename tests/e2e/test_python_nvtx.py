# SPDX-License-Identifier: Apache-2.0
"""nvtxt.compat.nvtx: a program for NVIDIA's package nvtx runs with another import line, and its
rows are those that the package itself gives (0.2.10, under libnvtxt-inject)."""
from lib import Daemon, equal, run
from python_program import Folder, events, run_python

MARK, PUSHPOP, STARTEND = 34, 59, 60
BLUE = "000000FF"
PROGRAM = """
    import asyncio, pickle, threading
    import nvtxt.compat.nvtx as nvtx

    @nvtx.annotate()
    def unnamed(n):
        return n

    @nvtx.annotate("named", color="red", domain="d", category="c", payload=3)
    def named():
        return unnamed(2)

    class Kind:
        @nvtx.annotate()
        def method(self):
            return 3

    @nvtx.annotate()
    async def waits():
        await asyncio.sleep(0)
        return 4

    print(unnamed(1), named(), Kind().method(), asyncio.run(waits()))
    print(unnamed.__name__, named.__doc__, nvtx.enabled())
    with nvtx.annotate():
        pass
    with nvtx.annotate("with", "rapids", "d", "c", 0.5) as made:
        with made:
            pass
    with nvtx.annotate(message="number", color=0x12345678, category=42):
        pass
    with pickle.loads(pickle.dumps(nvtx.annotate("again", domain="d", category="other"))):
        pass
    nvtx.mark("mark", color="green", domain="d", category="c", payload=7)
    nvtx.mark()
    nvtx.push_range("outer")
    nvtx.push_range("inner", domain="d")
    nvtx.pop_range()
    nvtx.pop_range(domain="d")
    nvtx.pop_range()
    number = nvtx.start_range("from here", domain="d")
    thread = threading.Thread(target=nvtx.end_range, args=(number,))
    thread.start()
    thread.join()

    domain = nvtx.get_domain("of its own")
    print(domain is nvtx.get_domain("of its own"), nvtx.get_domain().name)
    print(domain.get_category_id("first"), domain.get_category_id("second"),
          domain.get_category_id("first"))
    text = domain.get_registered_string("registered")
    attributes = domain.get_event_attributes(message=text, color="purple",
                                             category=domain.get_category_id("second"), payload=1)
    domain.push_range(attributes)
    attributes.message = "changed"
    attributes.payload = 2.5
    attributes.category = 1
    attributes.color = "white"
    domain.mark(attributes)
    domain.pop_range()
    domain.end_range(domain.start_range(attributes))
"""
SAID = """1 2 3 4
unnamed None %s
%s None
%s
"""


def test_a_program_for_the_package_has_the_same_rows():
    with Daemon() as daemon:
        equal(run_python(daemon, PROGRAM), SAID % (True, True, "1 2 1"))
        equal(events(daemon), [
            (PUSHPOP, "unnamed", None, None, BLUE, None),
            (PUSHPOP, "named", "d", "c", "00FF0000", 3),
            (PUSHPOP, "unnamed", None, None, BLUE, None),
            (PUSHPOP, "method", None, None, BLUE, None),
            (STARTEND, "waits", None, None, BLUE, None),  # the package: a moment of the thread
            (PUSHPOP, "", None, None, BLUE, None),
            (PUSHPOP, "with", "d", "c", "007400FF", 0.5),
            (PUSHPOP, "with", "d", "c", "007400FF", 0.5),
            (PUSHPOP, "number", None, None, "12345678", None),
            (PUSHPOP, "again", "d", "other", BLUE, None),
            (MARK, "mark", "d", "c", "00008000", 7),
            (MARK, "", None, None, BLUE, None),
            (PUSHPOP, "outer", None, None, BLUE, None),
            (PUSHPOP, "inner", "d", None, BLUE, None),
            (STARTEND, "from here", "d", None, BLUE, None),
            (PUSHPOP, "registered", "of its own", "second", "00800080", 1),
            (MARK, "changed", "of its own", "first", "00FFFFFF", 2.5),
            (STARTEND, "changed", "of its own", "first", "00FFFFFF", 2.5)])
        equal(daemon.query("SELECT category FROM NVTX_EVENTS WHERE text = 'number'"), [(42,)])


def test_it_can_be_switched_off():
    said = SAID % (False, True, "0 0 0")
    with Daemon() as daemon, Folder() as none:
        equal(run_python(daemon, PROGRAM, NVTX_DISABLE="1"), said)
        equal(run_python(daemon, PROGRAM, library=none.path), said)
        equal(daemon.query("SELECT count(*) FROM NVTXT_SOURCES"), [(0,)])


def test_it_does_not_raise():
    with Daemon() as daemon:
        run_python(daemon, r"""
            import nvtxt.compat.nvtx as nvtx

            class Bad:
                def __str__(self): raise RuntimeError("str")
                __repr__ = __index__ = __float__ = __hash__ = __eq__ = __str__

            for value in (Bad(), b"\xff", "\ud800", [1], {}, 1e400, 2 ** 70, "no such colour", -1):
                for name in ("message", "color", "domain", "category", "payload"):
                    nvtx.mark(**{name: value})
                    with nvtx.annotate(**{name: value}):
                        pass
                    nvtx.push_range(**{name: value})
                    nvtx.pop_range(value if name == "domain" else None)
                    nvtx.end_range(nvtx.start_range(**{name: value}))
                domain = nvtx.get_domain(value)
                domain.get_category_id(value)
                domain.mark(domain.get_event_attributes(value, value, value, value))
                domain.end_range(value)
            nvtx.mark("last")
        """)
        equal([row for row in events(daemon) if row[1] == "last"],
              [(MARK, "last", None, None, BLUE, None)])


def test_a_profile_has_each_call_of_a_function():
    with Daemon() as daemon:
        run_python(daemon, """
            import sys
            import nvtxt
            import nvtxt.compat.nvtx as nvtx

            def inner():
                return sorted([2, 1])

            def steps():
                yield 1

            def outer():
                nvtxt.mark("our own calls are not seen")
                list(steps())
                return inner()
            for profile in (nvtx.Profile(), nvtx.Profile(linenos=False, annotate_cfuncs=False)):
                profile.enable()
                outer()
                profile.disable()
                outer()
        """)
        got = [row[1] for row in events(daemon) if row[0] == PUSHPOP]
        equal(got, ["program.py:12(outer)", "program.py:9(steps)", "program.py:10(steps)",
                    "program.py:6(inner)", "sorted", "outer", "steps", "steps", "inner"])
        equal({row[2:5] for row in events(daemon) if row[0] == PUSHPOP},
              {("nvtx.py", None, BLUE)})
        equal(daemon.query("SELECT count(*) FROM NVTXT_UNCLOSED"), [(0,)])


if __name__ == "__main__":
    run(globals())
