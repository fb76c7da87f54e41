# SPDX-License-Identifier: Apache-2.0
"""The module nvtxt: each call of a program is its row, whatever the program does; the program is
never held up and never sees an error; without the library it is as if it was not annotated."""
import os
import signal
import subprocess
import sys

from lib import SANITIZERS, SHORT, TOP_BUILD, Daemon, Skip, equal, halt, program, run, wait_for
from lib_program import dropped, texts
from python_program import FORKS_AT_ANY_TIME, MODULES, SETTLED, Folder, events, run_python, start

MARK, PUSHPOP, STARTEND = 34, 59, 60
NONE = "00000000"
LATER = os.path.abspath(os.path.join(TOP_BUILD, "tests", "nvtx", "later.so"))
EACH = """
    import asyncio
    import nvtxt

    @nvtxt.annotate
    def plain():
        return 1

    @nvtxt.annotate("named", color="red", category="c", payload=2.5, domain="d")
    def named(a, *, b):
        return a + b

    class Kind:
        @nvtxt.annotate
        def method(self):
            return 3

        @nvtxt.annotate
        @classmethod
        def of_class(cls):
            return cls.of_none()

        @nvtxt.annotate("of none")
        @staticmethod
        def of_none():
            return 8

        @nvtxt.annotate
        @property
        def none(self):
            return 9

    @nvtxt.annotate
    class Other(Kind):
        pass

    @nvtxt.annotate
    def steps(n):
        got = yield n
        yield got
        return 5

    @nvtxt.annotate
    async def waits():
        await asyncio.sleep(0)
        return 6

    @nvtxt.annotate
    async def gives():
        yield 7

    async def all_of():
        return [await waits()] + [one async for one in gives()]

    def collect():
        made = steps(4)
        said = [next(made), made.send("sent")]
        try:
            next(made)
        except StopIteration as end:
            said.append(end.value)
        return said

    print(Kind.of_class(), Kind().none, isinstance(Other(), Kind))
    print(plain(), named(1, b=1), Kind().method(), collect(), asyncio.run(all_of()))
    print(plain.__name__, named.__module__, asyncio.iscoroutinefunction(waits))
    with nvtxt.range("outer"):
        with nvtxt.range("inner", color="#102030", category=7, payload={"a": [1, None]}):
            nvtxt.mark("mark")
    nvtxt.mark("all", color=0x80112233, category="c", payload=-1, domain="d")
    nvtxt.mark("large", payload=2 ** 64 - 1)
    number = nvtxt.start("started", payload=(1, "two"))
    nvtxt.end(number)
    nvtxt.end(number)
    nvtxt.end(0)
    nvtxt.counter("queue", 3)
    nvtxt.counter("load", 0.5, domain="d")
    nvtxt.name_thread("first")
    print(nvtxt.enabled(), nvtxt.flush(100))
"""
SAID = "8 9 True\n1 2 3 [4, 'sent', 5] [6, 7]\nplain __main__ True\n"


def test_each_call_is_its_row():
    with Daemon() as daemon:
        equal(run_python(daemon, EACH), SAID + "True True\n")
        equal(events(daemon), [
            (PUSHPOP, "Kind.of_class", None, None, NONE, None),
            (PUSHPOP, "of none", None, None, NONE, None),
            (PUSHPOP, "plain", None, None, NONE, None),
            (PUSHPOP, "named", "d", "c", "FFFF0000", 2.5),
            (PUSHPOP, "Kind.method", None, None, NONE, None),
            (STARTEND, "steps", None, None, NONE, None),
            (STARTEND, "waits", None, None, NONE, None),
            (PUSHPOP, "outer", None, None, NONE, None),
            (PUSHPOP, "inner", None, None, "FF102030", '{"a": [1, null]}'),
            (MARK, "mark", None, None, NONE, None),
            (MARK, "all", "d", "c", "80112233", -1),
            (MARK, "large", None, None, NONE, -1),  # the column's two's complement
            (STARTEND, "started", None, None, NONE, '[1, "two"]'),
            (MARK, "queue", None, None, NONE, 3),
            (MARK, "load", "d", None, NONE, 0.5)])
        equal(daemon.query("SELECT category FROM NVTX_EVENTS WHERE text = 'inner'"), [(7,)])
        equal(daemon.query("SELECT name FROM NVTXT_COUNTERS ORDER BY name"), [("load",), ("queue",)])
        equal(daemon.query("SELECT text FROM NVTX_EVENTS WHERE eventType = 39"), [("first",)])
        equal(daemon.query("SELECT ended FROM NVTXT_SOURCES"), [("end",)])


def test_without_the_library_the_program_is_the_same():
    with Daemon() as daemon, Folder() as none:
        equal(run_python(daemon, EACH, library=none.path), SAID + "False False\n")
        equal(daemon.query("SELECT count(*) FROM NVTXT_SOURCES"), [(0,)])


def test_without_the_library_a_call_takes_less_than_a_microsecond():
    with Daemon(start=False) as daemon, Folder() as none:
        run_python(daemon, """
            import logging, time, timeit
            import nvtxt
            import nvtxt.compat.nvtx as nvtx

            @nvtxt.annotate("f", color="red")
            def f():
                pass

            def use():
                with nvtxt.range("r", color="red", category="c", payload=1, domain="d"):
                    pass

            def annotate():
                with nvtx.annotate("r", color="red"):
                    pass

            calls = [f, use, annotate, lambda: nvtxt.mark("m", payload=1), lambda: nvtxt.start("s"),
                     lambda: nvtxt.end(1), lambda: nvtxt.counter("c", 1), lambda: nvtx.mark("m"),
                     lambda: nvtx.push_range("p"), nvtx.pop_range]
            for call in calls:  # the fastest of many: the machine may do other things
                ns = min(timeit.repeat(call, timer=time.thread_time_ns, number=100, repeat=200)) / 100
                assert ns < 1000, (call, ns)
        """, library=none.path)


def test_nothing_raises_into_the_program():
    with Daemon() as daemon:
        run_python(daemon, r"""
            import nvtxt

            class Bad:
                def __str__(self): raise RuntimeError("str")
                __repr__ = __index__ = __float__ = __hash__ = __eq__ = __str__

            values = [Bad(), None, 7, b"\xff\x00x", "\ud800", "a\0b", "", [1], {}, object, 1e400,
                      float("nan"), 2 ** 200, -2 ** 200, "no such colour", -1, "x" * 100000]
            for value in values:
                nvtxt.mark(value)
                with nvtxt.range(value):
                    pass
                nvtxt.end(nvtxt.start(value))
                nvtxt.counter(value, value)
                nvtxt.name_thread(value)
                nvtxt.end(value)
                for name in ("color", "category", "payload", "domain"):
                    nvtxt.mark("m " + name, **{name: value})
                    with nvtxt.range("r " + name, **{name: value}):
                        pass
                    nvtxt.end(nvtxt.start("s " + name, **{name: value}))
            with nvtxt.range("last"):
                pass
        """)
        got = texts(daemon)
        most = {name: got.get(name) for name in ("m color", "r category", "s payload", "r domain")}
        equal((most, got.get("last"), got.get("a\ufffdb")),
              ({"m color": 17, "r category": 17, "s payload": 17, "r domain": 17}, 1, 3))
        equal(daemon.query("SELECT count(*) FROM NVTXT_UNCLOSED"), [(0,)])
        equal(daemon.query("SELECT count(*) FROM NVTX_EVENTS WHERE end < start"), [(0,)])


def test_a_signal_handler_may_record():
    with Daemon() as daemon:
        said = run_python(daemon, """
            import signal
            import nvtxt

            count = 0

            def handler(number, frame):
                global count
                count += 1
                nvtxt.mark("in a handler", category="handler %d" % count, domain="d")
            signal.signal(signal.SIGALRM, handler)
            signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
            made = 0
            while count < 50:
                nvtxt.mark("outside", category="category %d" % made, domain="d")
                made += 1
            signal.setitimer(signal.ITIMER_REAL, 0)
            print(made + count)
        """)
        daemon.settled()  # each name has a number of its own
        equal(daemon.query("SELECT count(*), count(DISTINCT category), count(DISTINCT text) "
                           "FROM NVTX_EVENTS WHERE eventType = 33"), [(int(said),) * 3])


def test_a_range_belongs_to_its_task():
    with Daemon() as daemon:
        run_python(daemon, """
            import asyncio, contextlib
            import nvtxt
            shared = nvtxt.range("shared")

            async def task(name, begun, go_on):
                with nvtxt.range(name), contextlib.ExitStack() as stack:
                    stack.enter_context(nvtxt.range("stack of " + name))
                    with shared:
                        begun.set()
                        await go_on.wait()
                        nvtxt.mark("end of " + name)

            async def main():
                events = [asyncio.Event() for _ in range(4)]
                first = asyncio.ensure_future(task("first", events[0], events[1]))
                await events[0].wait()
                second = asyncio.ensure_future(task("second", events[2], events[3]))
                await events[2].wait()
                events[1].set()
                await first
                nvtxt.mark("between")
                events[3].set()
                await second
            with nvtxt.range("main"):
                asyncio.run(main())
        """)
        daemon.settled()
        at = dict(daemon.query("SELECT text, start FROM NVTX_EVENTS WHERE eventType = 34"))
        ends = {}
        for text, end in daemon.query("SELECT text, end FROM NVTX_EVENTS WHERE eventType IN (59, 60)"
                                      " ORDER BY start"):
            ends.setdefault(text, []).append(end)
        for name, least, most in (("first", "end of first", "between"),
                                  ("second", "end of second", None)):
            for end in (ends[name][0], ends["stack of " + name][0],
                        ends["shared"][name == "second"]):
                equal((at[least] <= end, most is None or end <= at[most]), (True, True), name)
        equal(daemon.query("SELECT eventType, count(*) FROM NVTX_EVENTS WHERE eventType IN (59, 60) "
                           "GROUP BY 1 ORDER BY 1"), [(PUSHPOP, 1), (STARTEND, 6)])


def test_a_range_that_is_shared_ends_where_it_was_begun():
    with Daemon() as daemon:
        run_python(daemon, """
            import threading
            import nvtxt
            shared = nvtxt.range("shared", payload=1)

            def paused():
                with shared:
                    yield
                    nvtxt.mark("end of paused")
            generator = paused()
            next(generator)
            with nvtxt.range("outer"), shared:  # on the stack, while the other one is open
                nvtxt.mark("inside")
            nvtxt.mark("outside")
            list(generator)
        """)
        daemon.settled()
        got = daemon.query("SELECT eventType, text, start, ifnull(end, start) FROM NVTX_EVENTS "
                           "WHERE eventType IN (34, 59, 60) ORDER BY start")
        equal([row[:2] for row in got],
              [(STARTEND, "shared"), (PUSHPOP, "outer"), (PUSHPOP, "shared"), (MARK, "inside"),
               (MARK, "outside"), (MARK, "end of paused")])
        paused, outer, pushed, inside, outside, last = [row[2:] for row in got]
        equal((inside[0] <= pushed[1] <= outer[1] <= outside[0], paused[1] >= last[0]), (True, True))


def test_threads_have_their_names():
    with Daemon() as daemon:
        run_python(daemon, """
            import threading
            import nvtxt

            def work(number):
                for i in range(500):
                    with nvtxt.range("thread %d" % number):
                        nvtxt.mark("mark %d" % number)
            threads = [threading.Thread(target=work, args=(i,), name="worker %d" % i)
                       for i in range(8)]
            [thread.start() for thread in threads]
            work(8)
            [thread.join() for thread in threads]
        """, NVTXT_RING="4M")
        wanted = {name % i: 500 for i in range(9) for name in ("thread %d", "mark %d")}
        equal(texts(daemon), wanted)
        equal(daemon.query("""
            SELECT DISTINCT n.text, e.text FROM NVTX_EVENTS e JOIN NVTX_EVENTS n
            ON n.eventType = 39 AND n.globalTid = e.globalTid
            WHERE e.eventType = 59 ORDER BY 1"""),
              [("worker %d" % i, "thread %d" % i) for i in range(8)])


def test_children_by_fork():
    with Daemon() as daemon:
        run_python(daemon, """
            import os, sys, threading
            import nvtxt

            def fork(number):
                with nvtxt.range("parent %d" % number):
                    child = os.fork()
                    if child == 0:
                        nvtxt.mark("child %d" % number)
                        if number % 2:
                            sys.exit(0)
                        nvtxt.flush(100)
                        os._exit(0)
                    os.waitpid(child, 0)
            nvtxt.mark("first")
            """ + SETTLED + """
            for i in range(10):
                fork(i)
            threads = [threading.Thread(target=fork, args=(i,)) for i in range(10, 14, 2)]
            for thread in threads:
                thread.start()
                """ + ("pass" if FORKS_AT_ANY_TIME else "thread.join()") + """
            [thread.join() for thread in threads]
        """, PYTHONWARNINGS="ignore::DeprecationWarning")  # from 3.12 on: the library has a thread
        numbers = [*range(10), 10, 12]
        wanted = {name % i: 1 for i in numbers for name in ("parent %d", "child %d")}
        equal(texts(daemon), {**wanted, "first": 1})


def workers(method):
    with Daemon() as daemon:
        run_python(daemon, """
            import multiprocessing, sys
            import nvtxt

            @nvtxt.annotate
            def square(n):
                nvtxt.mark("task %d" % n)
                return n * n

            def alone():
                nvtxt.mark("alone")

            if __name__ == "__main__":
                context = multiprocessing.get_context(sys.argv[1])
                with nvtxt.range("main"):
                    """ + SETTLED + """
                    pool = context.Pool(2)
                    assert pool.map(square, range(40)) == [n * n for n in range(40)]
                    pool.close()
                    pool.join()
                    process = context.Process(target=alone)
                    process.start()
                    process.join()
        """, method)
        equal(texts(daemon), {**{"task %d" % n: 1 for n in range(40)}, "square": 40, "alone": 1,
                              "main": 1})
        equal(daemon.query("SELECT DISTINCT ended FROM NVTXT_SOURCES"), [("end",)])


def test_workers_that_are_forked_lose_nothing():
    workers("fork")


def test_workers_of_a_server_lose_nothing():
    workers("forkserver")


def test_workers_that_are_spawned_lose_nothing():
    workers("spawn")


def test_a_pool_of_futures_loses_nothing():
    with Daemon() as daemon:
        run_python(daemon, """
            import nvtxt  # before multiprocessing
            from concurrent.futures import ProcessPoolExecutor

            def work(n):
                with nvtxt.range("task", payload=n):
                    return n

            if __name__ == "__main__":
                with ProcessPoolExecutor(2) as pool:
                    assert list(pool.map(work, range(30))) == list(range(30))
        """)
        equal(texts(daemon), {"task": 30})


def test_workers_without_a_daemon_wait_for_nothing():
    with Daemon(start=False) as daemon:  # NVTXT_EXIT_WAIT is a minute
        said = run_python(daemon, """
            import multiprocessing, time
            import nvtxt
            before = time.monotonic()
            for i in range(8):
                process = multiprocessing.get_context("fork").Process(target=nvtxt.mark, args=("m",))
                process.start()
                process.join()
            print(time.monotonic() - before < 240)
        """)
        equal(said, "True\n")


def test_the_status_of_a_program_is_its_own():
    for ending, status in (("sys.exit(3)", 3), ("os.kill(os.getpid(), 15)", -signal.SIGTERM),
                           ("threading.Thread(target=nvtxt.mark, args=('thread',)).start()", 0)):
        with Daemon() as daemon:
            run_python(daemon, """
                import os, sys, threading
                import nvtxt
                nvtxt.mark("one")
                nvtxt.flush(100)
                %s
            """ % ending, status=status)
            equal(texts(daemon), {"one": 1, **({"thread": 1} if status == 0 else {})})


def test_what_had_returned_is_stored_after_a_kill():
    resume = program("client", "nvtxt-send")
    for killed_after in (1, 100) if SHORT else (1, 50, 100, 200, 300):
        with Daemon() as daemon, Folder() as spool:
            process = start(daemon, """
                import logging, os
                import nvtxt
                logging.getLogger().addHandler(nvtxt.Handler())

                def steps(numbers):
                    for i in numbers:
                        with nvtxt.range("range %d" % i):
                            logging.error("mark %d", i)
                        os.write(1, b".")
                steps(range(100))
                nvtxt.flush(100)
                os.write(1, b"!")
                os.read(0, 1)  # the daemon is stopped: nobody takes what comes now
                steps(range(100, 400))
                os.read(0, 1)
            """, NVTXT_SPOOL=spool.path, stdin=subprocess.PIPE)
            said = ""
            while not said.endswith("!"):
                said += process.stdout.read(1)
            halt(daemon.process)
            process.stdin.write("\n")
            process.stdin.flush()
            said += process.stdout.read(killed_after)
            process.kill()
            said += process.communicate()[0]
            daemon.process.send_signal(signal.SIGCONT)
            ended = subprocess.run([resume, "--socket", daemon.socket, "--resume", spool.path],
                                   capture_output=True, text=True)
            equal(ended.returncode, 0, ended.stderr)  # which may tell of a range without an end
            got, done = texts(daemon), said.count(".")
            equal([name for i in range(done) for name in ("range %d" % i, "mark %d" % i)
                   if got.get(name) != 1], [])
            equal((done > 100, dropped(daemon), spool.files()), (True, 0, []))
            equal(daemon.query("SELECT DISTINCT level FROM NVTXT_TIMELINE WHERE message LIKE 'mark %'"),
                  [("err",)])


def test_a_log_that_no_daemon_saw_has_its_levels_when_it_is_resumed():
    with Daemon(start=False) as daemon, Folder() as spool:
        run_python(daemon, """
            import logging, os
            import nvtxt
            logging.getLogger().addHandler(nvtxt.Handler())
            logging.error("alone")
            os.kill(os.getpid(), 9)
        """, NVTXT_SPOOL=spool.path, status=-signal.SIGKILL)
        daemon.start()
        ended = subprocess.run([program("client", "nvtxt-send"), "--socket", daemon.socket,
                                "--resume", spool.path], capture_output=True, text=True)
        equal((ended.returncode, ended.stderr), (0, ""))
        daemon.settled()
        equal(daemon.query("SELECT message, level FROM NVTXT_TIMELINE"), [("alone", "err")])


def test_the_clock_goes_on_after_2038():
    if SANITIZERS:
        raise Skip("another library is preloaded")
    with Daemon() as daemon:
        said = run_python(daemon, """
            import time
            import nvtxt
            before = time.time_ns()
            with nvtxt.range("r"):
                nvtxt.mark("m")
            number = nvtxt.start("s")
            nvtxt.end(number)
            print(before, time.time_ns())
        """, LD_PRELOAD=LATER)
        before, after = map(int, said.split())
        daemon.settled()
        got = daemon.query("SELECT text, start, end FROM NVTX_EVENTS "
                           "WHERE eventType IN (34, 59, 60) ORDER BY start")
        equal([row[0] for row in got], ["r", "m", "s"])
        slack = 5000000  # the library's clock is compared with the wall clock once a second
        for text, begin, end in got:
            assert 2 ** 31 * 10 ** 9 < before - slack <= begin <= (end or begin) <= after + slack, \
                (text, begin, end, before, after)


def test_a_log_has_levels():
    with Daemon() as daemon:
        run_python(daemon, """
            import logging
            import nvtxt
            log = logging.getLogger("app.part")
            log.addHandler(nvtxt.Handler())
            log.setLevel(1)
            nvtxt.mark("no line", payload=3)
            nvtxt.counter("queue", 2)
            for level in (5, 10, 20, 25, 30, 40, 50, 60):
                log.log(level, "level %d", level)
            try:
                raise ValueError("reason")
            except ValueError:
                log.exception("failed")
            logging.getLogger("other").addHandler(nvtxt.Handler(logging.ERROR))
            logging.getLogger("other").warning("not so bad")
            logging.getLogger("other").error("bad")
        """)
        daemon.settled()
        got = daemon.query("SELECT t.message, t.level FROM NVTXT_TIMELINE t ORDER BY t.start")
        equal([row for row in got if not row[0].startswith("failed")],
              [("no line", None), ("queue", None), ("level 5", "debug"), ("level 10", "debug"),
               ("level 20", "info"), ("level 25", "notice"), ("level 30", "warning"),
               ("level 40", "err"), ("level 50", "crit"), ("level 60", "crit"), ("bad", "err")])
        failed = [row for row in got if row[0].startswith("failed\nTraceback")]
        equal([(text.splitlines()[-1], level) for text, level in failed],
              [("ValueError: reason", "err")])
        equal(daemon.query("SELECT text FROM NVTX_EVENTS WHERE eventType = 33 ORDER BY text"),
              [("app.part",), ("other",)])
        equal(events(daemon)[6], (MARK, "level 30", None, "app.part", "FFFFA500", 4))


def test_a_handler_after_the_first_event_has_its_levels_as_payloads():
    with Daemon() as daemon:
        run_python(daemon, """
            import logging
            import nvtxt
            nvtxt.mark("first", payload=3)
            logging.getLogger().addHandler(nvtxt.Handler())
            logging.error("late")
        """)
        equal(events(daemon), [(MARK, "first", None, None, NONE, 3),
                               (MARK, "late", None, "root", "FFFF0000", 3)])
        equal(daemon.query("SELECT level FROM NVTXT_TIMELINE"), [(None,), (None,)])


def test_the_grammar_is_that_of_python_3_7():
    import ast
    for folder, _, files in os.walk(os.path.join(MODULES, "nvtxt")):
        for name in files:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                ast.parse(file.read(), name, feature_version=(3, 7))
    assert sys.version_info >= (3, 8), "this test needs feature_version"


if __name__ == "__main__":
    run(globals())
