# SPDX-License-Identifier: Apache-2.0
"""nvtxt-check: diagnostics without a daemon."""
import os
import signal
import subprocess

from client import Folder, Running, contains, run_client, run_in_terminal
from lib import equal, run

MARKER = 'Marker, %s, %s, 7, 8, 1, Blue, "m", 5\n'


def check(*args, **more):
    return run_client("nvtxt-check", *args, **more)


def test_a_good_file_is_passed_over_in_silence():
    with Folder() as folder:
        equal(check(folder.write("good", "\n# c\nx = 1\n" + MARKER % (1, "Manual"))), (0, "", ""))
        equal(check(folder.write("empty", "")), (0, "", ""))


def test_diagnostics_name_file_line_and_column():
    with Folder() as folder:
        folder.write("a.nvtxt", "x = 1\nx = $Pid\n" + MARKER % (1, "Manual"))
        folder.write("b.nvtxt", 'Marker, 1, Manual, 7, 8, 1, Blau, "m", 5\n')
        status, out, err = check("a.nvtxt", "./b.nvtxt", cwd=folder.path)
        equal((status, out), (1, ""))
        lines = err.splitlines()
        equal(lines[0], "a.nvtxt:2:5: error: undefined variable '$Pid' [undefined-variable]")
        equal(lines[1], "a.nvtxt: 1 error in 3 lines, 1 event")
        contains(lines[2], "./b.nvtxt:1:29: warning: ")
        equal(lines[3], "./b.nvtxt: 1 warning in 1 line, 1 event")
        equal(len(lines), 4)
        equal(check("./b.nvtxt", cwd=folder.path)[0], 0, "warnings alone")


def test_files_share_nothing():
    with Folder() as folder:
        folder.write("a", "Pid = 7\n")
        folder.write("b", "x = $Pid\n")
        status, _, err = check("a", "b", cwd=folder.path)
        equal(status, 1)
        contains(err, "b:1:5: error: ")


def test_a_file_that_ends_is_told_what_it_left_open():
    with Folder() as folder:
        path = folder.write("open", "x = 1\n" + 'RangePush, 1, Manual, 7, 8, 1, Blue, "m", 5\n')
        status, _, err = check(path)
        equal(status, 0)
        contains(err, "%s:2:" % path)
        contains(err, "[never-closed]")


def test_stdin_is_a_dash():
    status, out, err = check("-", stdin="x = $y")
    equal((status, out), (1, ""))
    contains(err, "<stdin>:1:5: error: ")


def test_lines_may_be_long_and_hold_anything():
    junk = bytes(range(256)).replace(b"\n", b"") * 40 + b"\n"
    text = b"x" * 70000 + b"\n" + junk + b"y = $z\r\n" + b"# " + junk
    status, _, err = check("-", stdin=text)
    equal(status, 1)
    contains(err, "<stdin>:1:1: error: ")
    contains(err, "[line-too-long]")
    contains(err, "<stdin>:3:5: error: ")
    equal(err.isprintable() or all(c.isprintable() or c == "\n" for c in err), True, repr(err))


def test_only_so_many_diagnostics_are_printed_but_all_are_counted():
    status, _, err = check("-", stdin="x = $y\n" * 5000)
    equal(status, 1)
    lines = err.splitlines()
    equal(lines[-1], "<stdin>: 5,000 errors (1,000 shown) in 5,000 lines, 0 events")
    equal(len(lines), 1001)


def test_a_missing_file_does_not_keep_the_others_from_being_checked():
    with Folder() as folder:
        bad = folder.write("bad", "x = $y\n")
        status, _, err = check(folder.name("none"), folder.path, bad)
        equal(status, 66)
        contains(err, "nvtxt-check: %s: No such file or directory\n" % folder.name("none"))
        contains(err, "nvtxt-check: %s: Is a directory\n" % folder.path)
        contains(err, "%s:1:5: error: " % bad)


def test_quiet_says_it_with_the_exit_status_alone():
    equal(check("-q", "-", stdin="x = $y\n"), (1, "", ""))


def test_clocks_are_known_only_when_the_file_was_written_here():
    text = MARKER % (1000, "ClockMonotonicRaw") + MARKER % (1000, "ClockBoottime")
    status, _, err = check("-", stdin=text)
    equal(status, 0)
    contains(err, "[no-clock]")
    equal(check("--clock=here", "-", stdin=text), (0, "", ""))


def test_a_mapping_takes_what_it_lacks_from_the_file():
    text = MARKER % (10, "Qpc") + MARKER % (30, "Qpc")
    contains(check("-", stdin=text)[2], "[unknown-timebase]")
    equal(check("--mode", "lerp", "--ns-a", "100", "--ns-b", "200", "-", stdin=text), (0, "", ""))
    equal(check("--mode", "lin", "--ns-a", "100", "--freq", "1000", "-", stdin=text), (0, "", ""))
    with Folder() as folder:
        path = folder.write("f", text + "x = $y\n")
        status, _, err = check("--mode", "lerp", "--ns-a", "100", "--ns-b", "200", path)
        equal(status, 1)
        equal(err.count("undefined-variable"), 1, "the first pass is silent")
        # A result beyond Int64 is an error of the line that asked for it.
        status, _, err = check("--mode", "lin", "--ns-a", "9223372036854775807", "--freq", "1",
                               "--nvtxt-a", "10", path)
        equal(status, 1)
        contains(err, "[time-out-of-range]")


def test_an_impossible_mapping_is_a_usage_error():
    flat = MARKER % (10, "Manual")
    status, _, err = check("--mode", "lerp", "--ns-a", "100", "--ns-b", "200", "-", stdin=flat)
    equal(status, 64)
    contains(err, "<stdin>: the time mapping is impossible: ")
    contains(err, "--nvtxt-a")
    equal(check("--mode", "lerp", "--ns-a", "100", "--ns-b", "200", "-", stdin="# none\n"),
          (0, "", ""))
    for args in (["--mode", "lerp", "--ns-a", "2", "--ns-b", "2"],
                 ["--mode", "lin", "--ns-a", "1", "--freq", "0"], ["--mode", "lin"],
                 ["--freq", "1"], ["--clock=there"], ["--origin", "now"], ["--nonsense"], []):
        status, out, err = check(*args, *(["-"] if args else []), stdin=flat)
        equal((status, out), (64, ""), args)
        contains(err, "nvtxt-check: ")


def test_the_default_process_can_be_named():
    text = "@RangePush, Time\n@RangePop, Time, ProcessId\nRangePush, 1\nRangePop, 2, 9\n"
    equal(check("--pid", "9", "-", stdin="ThreadId = 1\n" + text), (0, "", ""))
    equal(check("-", stdin="ThreadId = 1\n" + text)[0], 1)


def test_a_signal_ends_it():
    with Running("nvtxt-check", "-") as client:
        client.say("x = 1\n")
        client.signal(signal.SIGTERM)
        equal(client.wait(), -signal.SIGTERM)


def test_colour_is_for_terminals_only():
    with Folder() as folder:
        path = folder.write("bad", "x = $y\n" + 'Marker, 1, Manual, 7, 8, 1, Blau, "m", 5\n')
        status, text = run_in_terminal("nvtxt-check", path)
        equal(status, 1)
        contains(text, "\033[1m%s\033[0m:1:5: \033[1;31merror\033[0m: " % path)
        contains(text, "\033[1;35mwarning\033[0m: ")


def test_a_name_with_control_characters_is_harmless():
    with Folder() as folder:
        name = "a\033[31m\nb"
        folder.write(name, "x = $y\n")
        _, _, err = check(name, cwd=folder.path)
        equal(len(err.splitlines()), 2)
        contains(err, "a [31m b:1:5: error: ")
        assert "\033" not in err, err


def test_a_mapping_over_a_known_clock_is_warned_of():
    lin = ["--mode", "lin", "--ns-a", "100", "--freq", "1000", "-"]
    status, _, err = check(*lin, stdin=MARKER % (1, "ClockRealtime"))
    equal(status, 0)
    contains(err, "warning: --mode maps times of ClockRealtime, too, whose clock is known")
    equal(check("-q", *lin, stdin=MARKER % (1, "ClockRealtime")), (0, "", ""))
    equal(check(*lin, stdin=MARKER % (1, "ClockMonotonic")), (0, "", ""))
    _, _, err = check("--clock=here", *lin, stdin=MARKER % (1, "ClockMonotonic"))
    contains(err, "ClockMonotonic, too")


if __name__ == "__main__":
    run(globals())
