# SPDX-License-Identifier: Apache-2.0
"""The control command `events`, and nvtxt-ctl tail, which shows them as they are committed."""
import json
import os
import select
import signal
import subprocess
import unicodedata

import lib
from client import run_in_terminal

HEADER = 'TimeBase = Manual\n@Marker, Time, Message\n'


def marks(*names):
    return HEADER + "".join('Marker, %d, "%s"\n' % (number, name)
                            for number, name in enumerate(names, 1))


def messages(result):
    return [event["message"] for event in result["events"]]


class Tail:
    """A running nvtxt-ctl tail whose lines are read one by one."""

    def __init__(self, daemon, *arguments):
        self.process = subprocess.Popen(
            [lib.program("client", "nvtxt-ctl"), "--socket", daemon.control_socket, "tail",
             *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "TZ": "UTC"})

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def line(self):
        return self.process.stdout.readline().rstrip("\n")

    def messages(self, count):
        return [json.loads(self.line())["message"] for _ in range(count)]

    def end(self, status, number=None):
        if number:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=lib.DEADLINE)
        lib.equal(self.process.returncode, status, (out, err))
        return out, err


def is_waiting(daemon, control):
    """Requests of one connection are taken in order: this one is behind the waiting one."""
    control.send('{"id":99,"command":"help"}\n')
    lib.equal(control.reply()["id"], 99)


def test_events_behind_a_cursor():
    with lib.Daemon() as daemon:
        daemon.send(marks("a", "b", "c"))
        first = daemon.control("events", before="end", limit=2)
        lib.equal((messages(first), first["more"]), (["c", "b"], True))
        lib.equal(messages(daemon.control("events", before=first["cursor"])), ["a"])
        now = daemon.control("events")
        lib.equal((now["events"], now["cursor"], now["skipped"], now["gone"]),
                  ([], first["end"], 0, False))
        daemon.send(marks("d"))
        event = daemon.control("events", after=now["cursor"])["events"][0]
        lib.equal((event["message"], event["kind"], event["start_ns"], event["duration_ns"]),
                  ("d", "mark", 1, 0))
        lib.equal((event["pid"], event["source_id"]), (os.getpid(), 2))


def test_a_request_waits_for_what_it_wants():
    with lib.Daemon() as daemon:
        with lib.Connection(daemon.control_socket) as control:
            control.send('{"id":1,"command":"events","wait_ms":3600000,"message":"wanted"}\n')
            is_waiting(daemon, control)
            daemon.send(marks("other"))
            daemon.send(marks("wanted 1", "other", "wanted 2"))
            reply = control.reply()
            lib.equal((reply["id"], messages(reply["result"])), (1, ["wanted 1", "wanted 2"]))
            control.send(json.dumps({"id": 2, "command": "events", "wait_ms": 30,
                                     "after": reply["result"]["cursor"]}) + "\n")
            again = control.reply()["result"]
            lib.equal((again["events"], again["cursor"]), ([], reply["result"]["cursor"]))


def test_many_requests_wait_and_take_turns():
    with lib.Daemon() as daemon:
        callers = [lib.Connection(daemon.control_socket) for _ in range(20)]
        for caller in callers:
            caller.send('{"id":1,"command":"events","wait_ms":3600000,"after":"1:0"}\n')
            is_waiting(daemon, caller)
        daemon.send(marks("a"))
        for caller in callers:
            lib.equal(messages(caller.reply()["result"]), ["a"])
            caller.close()


def test_who_sends_no_more_is_answered_at_once():
    with lib.Daemon() as daemon:
        with lib.Connection(daemon.control_socket) as control:
            control.send('{"id":1,"command":"events","wait_ms":3600000}\n' * 3)
            control.socket.shutdown(1)
            lib.equal([reply["result"]["events"] for reply in control.replies()], [[], [], []])
        for _ in range(50):
            with lib.Connection(daemon.control_socket) as control:
                control.send('{"id":1,"command":"events","wait_ms":3600000}\n' * 64)
        # More than a user may have unanswered, until the daemon has seen that they are gone.
        lib.wait_for(lambda: daemon.control_raw(b'{"command":"help"}')["ok"], "none is left")
        daemon.send(marks("a"))
        lib.equal(len(daemon.control("events", before="end")["events"]), 1)


def test_a_daemon_that_stops_lets_nobody_wait():
    with lib.Daemon() as daemon:
        with lib.Connection(daemon.control_socket) as control:
            control.send('{"id":1,"command":"events","wait_ms":3600000}\n')
            is_waiting(daemon, control)
            daemon.stop()
            lib.equal([reply["result"]["events"] for reply in control.replies()], [])
        daemon.start()


def test_a_store_that_cannot_be_written_does_not_keep_them():
    with lib.Daemon(shared=True) as daemon:
        lock = lib.LockedStore(daemon)
        with daemon.plain() as connection:
            connection.send(marks("a"))
            lib.wait_for(lambda: daemon.control("status")["in_trouble"], "commits fail")
            lib.equal(daemon.control("events", after="1:0", wait_ms=30)["events"], [])
            with lib.Connection(daemon.control_socket) as control:
                control.send('{"id":1,"command":"events","after":"1:0","wait_ms":3600000}\n')
                is_waiting(daemon, control)
                lock.release()
                lib.equal(messages(control.reply()["result"]), ["a"])


def test_cursors_that_are_none():
    with lib.Daemon() as daemon:
        for name in ("after", "before"):
            for cursor in ("", "x", "1", ":", "1:", "1:2:3", "-1:2", "1:-2", " 1:2", "01:2",
                           "99999999999999999999:1", "18446744073709551615:1", "1:99999999999999999999"):
                reply = daemon.control_raw(json.dumps({"command": "events", name: cursor}).encode())
                lib.equal((reply["ok"], reply["error"]["code"]), (False, "bad-argument"), cursor)
                assert '"%s"' % name in reply["error"]["message"], reply
        reply = daemon.control_raw(b'{"command":"events","after":"0:1","before":"0:1"}')
        lib.equal(reply["error"]["code"], "bad-argument")
        lib.equal(daemon.control("events", after="7:1")["gone"], True)


def sends_and_sees(daemon, tail):
    """It may have come after all that was sent so far."""
    daemon.send(marks("r"))
    return select.select([tail.process.stdout], [], [], 0.1)[0]


def test_tail_shows_the_last_ones_and_what_comes():
    with lib.Daemon() as daemon:
        daemon.send(marks(*"abcdefghijklmno"))
        with Tail(daemon, "--json", "-n", "3") as tail, Tail(daemon, "--json", "-n", "0") as new, \
                Tail(daemon, "--json", "--count", "12") as usual:
            lib.equal(tail.messages(3), list("mno"))
            lib.equal(usual.messages(10), list("fghijklmno"))
            daemon.send(marks("p"))
            lib.equal(tail.messages(1), ["p"])
            daemon.send(marks("q"))
            lib.equal(tail.messages(1), ["q"])
            lib.equal(usual.messages(2), ["p", "q"])
            usual.end(0)
            lib.wait_for(lambda: sends_and_sees(daemon, new), "what is new")
            assert new.messages(1)[0] in ("p", "q", "r")
            tail.end(130, signal.SIGINT)
            new.end(143, signal.SIGTERM)


def test_tail_filters():
    with lib.Daemon() as daemon:
        daemon.send('TimeBase = Manual\nSetCategoryName, 3, "disk"\n'
                    '@Marker, Time, Message, CategoryId, ProcessId\n'
                    '@RangeStartEnd, Start, End, Message, ProcessId, ThreadId\n'
                    'Marker, 1, "read 17", 3, 10\nMarker, 2, "write", 4, 10\n'
                    'RangeStartEnd, 3, 9, "a run", 20, 20\n')
        for options, wanted in ((("--pid", "10"), ["read 17", "write"]),
                                (("--category", "disk"), ["read 17"]), (("--category", "4"), ["write"]),
                                (("--message", "r"), ["read 17", "write", "a run"]),
                                (("--message", "."), []), (("--regex", "[0-9]+$"), ["read 17"]),
                                (("--regex", "^w|run"), ["write", "a run"]),
                                (("--kind", "range"), ["a run"]),
                                (("--kind", "mark", "--message", "w"), ["write"])):
            with Tail(daemon, "--json", *options, "--count", str(len(wanted) + 1)) as tail:
                lib.equal(tail.messages(len(wanted)), wanted, options)


def test_tail_for_people():
    with lib.Daemon() as daemon:
        daemon.send('TimeBase = Manual\nSetProcessName, 10, "server\x1b[31m"\nSetThreadName, 10, 11, "worker"\n'
                    '@Marker, Time, Message, ProcessId, ThreadId\n'
                    '@RangeStartEnd, Start, End, Message, ProcessId, ThreadId\n'
                    'Marker, 86400000000000, "x\x1b[2J\ty", 10, 11\n'
                    'RangeStartEnd, 86401500000000, 86401500001230, "r", 20, 20\n')
        with Tail(daemon, "-n", "2") as tail:
            lib.equal([tail.line() for _ in range(3)],
                      ["-- 1970-01-02 --",
                       "00:00:00.000        - server [31m/worke -          x [2J y",
                       "00:00:01.500   1.23us 20                -          r"])


PAYLOADS = """\
@Marker, Time, Message, Payload, Json
Marker, 1, "big", "u64:18446744073709551615", ""
Marker, 2, "both", "u32:5", "5"
Marker, 3, "json", "", '{"step":\t3}'
Marker, 4, "loss", "f64:0.5", ""
Marker, 5, "none", "", ""
@RangePush, Time, Message, Json
@RangePop, Time, Json
RangePush, 6, "range", "[1]"
RangePop, 7, "2"
"""


def test_tail_shows_payloads_and_json():
    with lib.Daemon() as daemon:
        with daemon.session(nvtx=1) as session:
            session.send(PAYLOADS + "#nvtxt-end\n")
            session.replies()
        with daemon.session(levels=True) as session:
            session.send('@Marker, Time, Message, Payload\nMarker, 8, "a line", 3\n#nvtxt-end\n')
            session.replies()
        with Tail(daemon, "-n", "7") as tail:
            tail.line()  # the day
            lib.equal([tail.line()[51:] for _ in range(7)],
                      ["big = 18446744073709551615", "both = 5 5", 'json {"step": 3}', "loss = 0.5",
                       "none", 'range {"begin":[1],"end":2}', "a line"])
        with Tail(daemon, "-n", "7", "--json") as tail:
            events = [json.loads(tail.line()) for _ in range(7)]
            lib.equal([(one["payload"], one["payload_type"], one["json"], one["level"])
                       for one in events],
                      [("18446744073709551615", "u64", None, None), ("5", "u32", "5", None),
                       ('{"step":\t3}', None, '{"step":\t3}', None), ("0.5", "f64", None, None),
                       (None, None, None, None),
                       ('{"begin":[1],"end":2}', None, '{"begin":[1],"end":2}', None),
                       ("3", "i64", None, "err")])


def test_tail_goes_on_in_the_next_segment():
    with lib.Daemon() as daemon:
        daemon.send(marks("a"))
        with Tail(daemon, "--json") as tail:
            lib.equal(tail.messages(1), ["a"])
            daemon.control("rotate")
            lib.halt(tail.process)
            daemon.send(marks("b"))
            daemon.control("rotate")
            daemon.send(marks("c"))
            daemon.control("rotate")
            daemon.send(marks("d"))
            tail.process.send_signal(signal.SIGCONT)
            lib.equal(tail.messages(3), ["b", "c", "d"])
        with Tail(daemon, "--json", "-n", "3") as tail:
            lib.equal(tail.messages(3), ["b", "c", "d"])


def test_tail_goes_on_when_the_daemon_comes_back():
    with lib.Daemon() as daemon:
        daemon.send(marks("a"))
        with Tail(daemon, "--json") as tail:
            lib.equal(tail.messages(1), ["a"])
            daemon.stop()
            assert "went away" in tail.process.stderr.readline()
            daemon.start()
            daemon.send(marks("b"))
            daemon.send(marks("c"))
            lib.equal(tail.messages(2), ["b", "c"])
            assert "is back" in tail.process.stderr.readline()
            daemon.kill()
            assert "went away" in tail.process.stderr.readline()
            tail.end(130, signal.SIGINT)
            daemon.start()
        error = subprocess.run([lib.program("client", "nvtxt-ctl"), "--socket", "/nonexistent/s",
                                "tail"], stderr=subprocess.PIPE, check=False)
        lib.equal(error.returncode, 69)


def test_tail_says_what_it_passed_over():
    with lib.Daemon() as daemon:
        daemon.send(marks("ab"))
        with Tail(daemon, "--json") as tail, Tail(daemon, "--regex", "b") as text:
            lib.equal(tail.messages(1), ["ab"])
            assert text.line() and text.line()
            for one in (tail, text):
                lib.halt(one.process)
            daemon.send(marks(*["m"] * 120000))
            told = daemon.control("events", after="1:1", limit=1)
            lib.equal((told["skipped"], told["cursor"]), (110000, "1:110002"))
            for one in (tail, text):
                one.process.send_signal(signal.SIGCONT)
            # The first read behind "ab" may come at any commit of them.
            lines = iter(lambda: json.loads(tail.line()), None)
            gap = next(line for line in lines if "message" not in line)
            assert 90000 <= gap["skipped"] <= 110000 and gap["gone"] is False, gap
            lib.equal(next(lines)["message"], "m")
            assert "rows were passed over" in text.process.stderr.readline()


def test_tail_ends_with_its_reader():
    with lib.Daemon() as daemon:
        with Tail(daemon) as tail:
            tail.process.stdout.close()
            tail.process.stdout = None
            tail.end(141)
        lib.equal(daemon.control("status")["in_trouble"], False)


def test_tail_refuses_what_it_cannot_do():
    with lib.Daemon() as daemon:
        for options, word in ((("--regex", "("), "--regex"), (("--kind", "x"), "kind"),
                              (("--pid", "x"), "pid"), (("--count", "0"), "--count"),
                              (("-n", "-1"), "-n"), (("--category", "99999999999"), "category")):
            with Tail(daemon, *options) as tail:
                assert word in tail.end(64)[1], options


def test_a_terminal_keeps_its_width_and_shows_the_times_of_reports():
    begin = 1795428000 * 10 ** 9
    with lib.Daemon() as daemon:
        daemon.send('TimeBase = Manual\n@RangeStartEnd, Start, End, Message\n'
                    'RangeStartEnd, %d, %d, "begin %s end"\n' % (begin, begin + 12345678, "\u65e5x" * 90))
        args = ["--socket", daemon.control_socket, "tail", "-n", "1", "--count", "1"]
        env = {"TZ": "CET-1", "NO_COLOR": "1"}
        for columns in (10, 20, 30, 49, 50, 60, 80):
            status, text = run_in_terminal("nvtxt-ctl", *args, columns=columns, env=env)
            shown = text.replace("\r\n", "\n").splitlines()
            wide = [sum(2 if unicodedata.east_asian_width(c) == "W" else 1 for c in line) for line in shown]
            lib.equal((status, [width > columns for width in wide]), (0, [False, False]), text)
            lib.equal([part in shown[1] for part in ("11:00:00.000 ", " 12.3ms ", " -  ", "d")],
                      [columns >= 20, columns >= 30, columns >= 50, True], shown)  # the rest has no room
        for columns in (60, 80):
            for utc, day, clock in (([], "2026-11-23", "11:00:00.000"),
                                    (["--utc"], "2026-11-23 UTC", "10:00:00.000")):
                status, text = run_in_terminal("nvtxt-ctl", *args, *utc, columns=columns, env=env)
                shown = text.replace("\r\n", "\n").splitlines()
                lib.equal((status, shown[0]), (0, "-- %s --" % day))
                lib.equal(shown[1].startswith(clock + "   12.3ms "), True, shown)
                width = sum(2 if unicodedata.east_asian_width(c) == "W" else 1 for c in shown[1])
                lib.equal((columns - 2 <= width <= columns, shown[1].endswith("end"), "\u2026" in shown[1]),
                          (True, True, True), shown)
        lib.equal(run_in_terminal("nvtxt-ctl", *args, columns=80, env={**env, "COLUMNS": "60"}),
                  run_in_terminal("nvtxt-ctl", *args, columns=60, env=env))


lib.run(globals())
