# SPDX-License-Identifier: Apache-2.0
"""The sender of libnvtxt: each call is a row, once, whatever happens to daemon and program."""
import json
import os
import signal
import socket

from lib import DEADLINE, SANITIZERS, Daemon, equal, halt, run, wait_for
from lib_program import (NO_LEAKS, PATH, Program, dropped, needs_a_table_of_the_sender,
                         needs_threads_in_children, no_diagnostics, texts)

STORM = "SELECT text, globalTid >> 24 & 0xffffff FROM NVTX_EVENTS WHERE text LIKE 'child %'"


def test_one_event_is_there_when_the_program_has_ended():
    with Daemon() as daemon:
        with Program(daemon.socket, "one") as program:
            equal(program.end(), [])
        equal(texts(daemon), {"one": 1})
        equal(daemon.query("SELECT name, ended FROM NVTXT_SOURCES"), [("lib_client", "end")])
        no_diagnostics(daemon)


def test_a_program_that_finishes_may_leave_by__exit():
    with Daemon() as daemon:
        with Program(daemon.socket, "finish") as program:
            equal(program.end(), [])
        equal(texts(daemon), {"mark %d" % i: 1 for i in range(1000)})
        equal(daemon.query("SELECT ended, levels FROM NVTXT_SOURCES"), [("end", 1)])
        no_diagnostics(daemon)


def test_a_program_that_finishes_without_a_daemon_waits_for_nothing():
    with Daemon(start=False) as daemon:
        with Program(daemon.socket, "finish", NVTXT_EXIT_WAIT="60") as program:
            equal(program.end(), [])


def test_a_program_without_events_opens_nothing():
    with Daemon() as daemon:
        with Program(daemon.socket, "nothing") as program:
            equal(program.end(), [])
        equal(daemon.query("SELECT count(*) FROM NVTXT_SOURCES"), [(0,)])


def test_a_daemon_that_is_killed_twenty_times_loses_and_doubles_nothing():
    # So few events that even a busy machine has room for them in the rings, and brings them in while
    # the end of the program waits.
    pause_us = 40000 if SANITIZERS else 2000
    with Daemon() as daemon:
        with Program(daemon.socket, "pairs", 4, 0, pause_us, 5) as program:
            program.line("started")
            for _ in range(20):
                seen = daemon.query("SELECT count(*) FROM NVTX_EVENTS")[0][0]
                wait_for(lambda: daemon.query("SELECT count(*) FROM NVTX_EVENTS")[0][0] > seen,
                         "events come again")
                daemon.kill()
                daemon.start()
            lines = program.end()
        made = [int(line.split()[-1]) for line in lines[:4]]
        wanted = {"thread %d pair %d" % (thread, pair): 1
                  for thread in range(4) for pair in range(made[thread])}
        got = texts(daemon)
        equal(lines[4].split()[-1], str(dropped(daemon)))  # none, but on a machine that is very busy
        equal((len(got) + dropped(daemon), set(got.values()), got.keys() - wanted.keys()),
              (len(wanted), {1}, set()))
        equal(daemon.query("SELECT count(*) FROM NVTX_EVENTS WHERE end IS NULL AND eventType = 59"),
              [(0,)])
        no_diagnostics(daemon)


def test_a_daemon_may_come_late():
    with Daemon(start=False) as daemon:
        with Program(daemon.socket, "steps") as program:
            program.do("push open", "mark first")
            daemon.start()
            program.do("flush", "mark second", "pop")
            program.end()
        equal(texts(daemon), {"first": 1, "open": 1, "second": 1})


def test_another_store_gets_a_session_of_its_own_with_names_and_settings():
    with Daemon() as daemon:
        with Program(daemon.socket, "steps") as program:
            program.do("domain d", "category c", "mark first", "json second", "flush")
            daemon.kill()
            for path in daemon.segments() + [daemon.store]:
                for suffix in ("", "-wal", "-shm"):
                    if os.path.lexists(path + suffix):
                        os.unlink(path + suffix)
            daemon.start()
            program.do("mark third", "domain", "json fourth", "domain d", "push open", "mark fifth",
                       "pop", "flush")
            program.end()
        equal(texts(daemon), {name: 1 for name in ("third", "fourth", "fifth", "open")})
        equal(daemon.query("SELECT e.text, d.text, e.jsonText FROM NVTX_EVENTS e LEFT JOIN NVTX_EVENTS d "
                           "ON d.eventType = 75 AND d.domainId = e.domainId AND e.domainId <> 0 "
                           "WHERE e.eventType IN (34, 59) ORDER BY e.start"),
              [("third", "d", None), ("fourth", None, '{"a":1}'), ("open", "d", None),
               ("fifth", "d", None)])
        equal(daemon.query("SELECT text FROM NVTX_EVENTS WHERE eventType = 33"), [("c",)])
        equal(daemon.query("SELECT count(*), count(DISTINCT sessionId) FROM NVTXT_SOURCES"), [(2, 2)])
        no_diagnostics(daemon)


class ScriptedDaemon:
    """Takes one connection after the other and does what the test says."""

    def __init__(self, path):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.settimeout(DEADLINE)
        self.listener.bind(path)
        self.listener.listen()
        self.connection = self.file = None

    def accept(self, line, **members):
        """Greets the next connection; returns the id of its session."""
        self.connection = self.listener.accept()[0]
        self.connection.settimeout(DEADLINE)
        self.file = self.connection.makefile("rb")
        hello = json.loads(self.file.readline().split(b" ", 1)[1])
        equal((hello["nvtx"], hello["expiry"]), (1, 60))
        self.say(type="welcome", protocol=1, session=hello["session"], line=line, **members)
        return hello["session"]

    def say(self, **reply):
        self.connection.sendall(json.dumps(reply).encode() + b"\n")

    def line(self):
        return self.file.readline().decode().rstrip("\n")

    def lines_to(self, text):
        lines = [self.line()]
        while text not in lines[-1]:
            lines.append(self.line())
        return lines

    def close(self):
        self.file.close()
        self.connection.close()

    def has_more(self):
        self.listener.setblocking(False)
        try:
            self.listener.accept()
            return True
        except BlockingIOError:
            return False


def test_a_daemon_without_the_extension_gets_no_line():
    with Daemon(start=False) as daemon:
        old = ScriptedDaemon(daemon.socket)
        with Program(daemon.socket, "steps") as program:
            program.do("push open", "mark one", "pop")
            old.accept(0)
            equal(old.file.read(), b"#nvtxt-end\n")
            old.close()
            program.do("mark two")
            program.end()
        equal(old.has_more(), False)
        old.listener.close()


def test_a_session_that_has_expired_goes_on_in_a_new_one():
    with Daemon(start=False) as daemon:
        scripted = ScriptedDaemon(daemon.socket)
        with Program(daemon.socket, "steps") as program:
            program.do("domain d", "mark first", "json second", "mark third")
            old = scripted.accept(0, nvtx=1)
            lines = scripted.lines_to('"third"')
            definitions, settings = lines[:6], lines[6:8]
            equal(([line.split("=")[0] for line in settings], lines[9][:6]),
                  (["ThreadId", "Domain"], 'Json="'))
            scripted.say(type="ack", line=9)
            scripted.close()
            equal(scripted.accept(10, nvtx=1), old)  # up to the JSON of the second event
            scripted.say(type="end", line=10, events=1, warnings=0, errors=0)
            scripted.close()
            new = scripted.accept(0, nvtx=1)
            assert new != old, new
            equal(scripted.lines_to('"third"'), definitions + settings + lines[9:])
            scripted.close()
            equal(scripted.accept(7, nvtx=1), new)  # in the middle of what is said again
            equal(scripted.lines_to('"third"'), settings[1:] + lines[9:])
            scripted.close()
            equal(scripted.accept(10, nvtx=1), new)
            program.do("mark fourth")
            rest = scripted.lines_to('"fourth"')
            equal((rest[:-1], "fourth" in rest[-1]), (lines[11:], True))
            program.process.stdin.close()
            equal(scripted.line(), "#nvtxt-end")
            scripted.say(type="end", line=8 + len(lines[9:]) + 1, events=4, warnings=0, errors=0)
            program.process.stdin = None
            program.end()
        scripted.listener.close()


def test_without_a_daemon_the_end_waits_for_nothing():
    with Daemon(start=False) as daemon:
        with Program(daemon.socket, "one", NVTXT_EXIT_WAIT="60") as program:
            equal(program.end(), [])


def test_a_stopped_daemon_holds_the_end_only_as_long_as_it_may():
    with Daemon() as daemon:
        halt(daemon.process)
        try:
            with Program(daemon.socket, "one", NVTXT_EXIT_WAIT="0.3") as program:
                equal(program.end(), [])
        finally:
            daemon.process.send_signal(signal.SIGCONT)
        daemon.settled()


def storm(how, end):
    needs_threads_in_children()
    with Daemon() as daemon:
        with Program(daemon.socket, "storm", 200, how, end, **NO_LEAKS) as program:
            lines = [line.split() for line in program.end()]
        pids = {"child %s" % line[1]: int(line[3]) for line in lines if line[2:3] == ["is"]}
        got = texts(daemon)
        equal(dict(daemon.query(STORM)), pids)
        equal(got, {**{"child %d" % i: 1 for i in range(200)}, "own": 200, "parent": 1,
                    "after the storm": 1})
        equal(daemon.query("SELECT m.start < r.end FROM NVTX_EVENTS m, NVTX_EVENTS r "
                           "WHERE m.text = 'after the storm' AND r.text = 'parent'"), [(1,)])
        equal(dropped(daemon), 0)
        no_diagnostics(daemon)


def test_two_hundred_children_by_fork():
    storm("fork", "exit")


def test_two_hundred_children_that_libc_did_not_make():
    storm("clone", "_exit")


def test_a_child_in_which_another_thread_records_first():
    needs_threads_in_children()
    for how in ("fork", "clone"):
        with Daemon() as daemon:
            with Program(daemon.socket, "second", how, **NO_LEAKS) as program:
                child = int(program.end()[0])
            equal(texts(daemon), {"parent": 1, "short 0": 1, "child 0": 1, "own": 1})
            equal(daemon.query("SELECT text FROM NVTX_EVENTS WHERE globalTid & 0xffffff = %d "
                               "ORDER BY text" % child), [("child 0",), ("own",)])
            no_diagnostics(daemon)


def test_children_by_other_ways():
    with Daemon() as daemon:
        with Program(daemon.socket, "spawn", PATH) as program:
            equal(program.end(), [])
        wait_for(lambda: len(daemon.query("SELECT 1 FROM NVTX_EVENTS")) == 5, "five events")
        equal(texts(daemon), {name: 1 for name in
                              ("before", "spawned", "vforked", "between", "execed")})
        no_diagnostics(daemon)


def test_threads_that_nobody_named_have_the_names_of_the_system():
    needs_a_table_of_the_sender()
    with Daemon() as daemon:
        with Program(daemon.socket, "names") as program:
            tids = [program.line() for _ in range(7)]
            program.line("stays")
            program.end()
        daemon.settled()
        names = dict(daemon.query("SELECT cast(globalTid & 0xffffff AS TEXT), value FROM ThreadNames "
                                  "JOIN StringIds ON StringIds.id = nameId"))
        equal([names[tid] for tid in tids], ["early", "late", "late too", "before", "after",
                                             "Thread " + tids[5], "at the end"])
        no_diagnostics(daemon)


def test_four_hundred_short_threads():
    with Daemon() as daemon:
        with Program(daemon.socket, "threads", 400) as program:
            equal(program.end(), ["recorded 400 dropped 0"])
        equal(texts(daemon), {"short %d" % i: 1 for i in range(400)})
        equal(daemon.query("SELECT count(DISTINCT globalTid) FROM NVTX_EVENTS WHERE eventType = 34"),
              [(400,)])


if __name__ == "__main__":
    run(globals())
