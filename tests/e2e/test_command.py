# SPDX-License-Identifier: Apache-2.0
"""nvtxt-send -- COMMAND: what it writes passes through and becomes markers, its run a range, its end
ours; and the daemon never keeps it from running."""
import os
import pty
import random
import signal
import subprocess
import sys

from client import ENV, Fake, Folder, Running, contains, patience, run_client
from lib import DEADLINE, Daemon, LockedStore, equal, program, run, wait_for

GREEN, RED, DARK_RED = 0xff008000, 0xffff0000, 0xff8b0000


def send(socket, *args, stdin=b"", **more):
    """(exit status, stdout, stderr) as bytes; a signal's status is negative."""
    done = subprocess.run([program("client", "nvtxt-send"), "--socket", socket, *args], input=stdin,
                          env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE,
                          **more)
    return done.returncode, done.stdout, done.stderr


def shell(daemon, script, *options, **more):
    return send(daemon.socket, *patience(daemon), *options, "--", "sh", "-c", script, **more)


def running(socket, *args):
    return Running("nvtxt-send", "--socket", socket, *args)


def ranges(daemon, columns):
    return daemon.query("SELECT %s FROM NVTX_EVENTS WHERE eventType = 60 ORDER BY rowid" % columns)


def lines(daemon, columns="text"):
    found = daemon.query("SELECT %s FROM NVTX_EVENTS WHERE eventType = 34 ORDER BY rowid" % columns)
    return [row[0] for row in found] if columns == "text" else found


# ---- Through, and into the store ------------------------------------------------------------------

def test_a_run_is_a_range_and_its_lines_are_markers():
    with Daemon() as daemon:
        equal(shell(daemon, "echo $$; echo \"can't \\\"x\\\"\" >&2; printf part; exit 3"),
              (3, lines_of := b"%d\npart" % ranges(daemon, "globalTid >> 24")[0][0], b"can't \"x\"\n"))
        pid = int(lines_of.split()[0])
        equal(ranges(daemon, "text, color, int64Value, globalTid, endGlobalTid"),
              [("sh -c echo $$; echo \"can't \\\"x\\\"\" >&2; printf part; exit 3", RED, 3,
                pid << 24 | pid, None)])
        equal(sorted(lines(daemon)), sorted([str(pid), "can't \"x\"", "part"]))
        equal(daemon.query("SELECT m.text FROM NVTX_EVENTS m JOIN NVTX_EVENTS n USING (category)"
                           " WHERE m.eventType = 34 AND n.eventType = 33 AND n.text = 'stderr'"),
              [("can't \"x\"",)])
        equal(daemon.query("SELECT name FROM PROCESSES WHERE pid = ?", pid), [("sh",)])
        equal(daemon.query("SELECT name, events, errors, warnings, ended FROM NVTXT_SOURCES"
                           " WHERE kind = 'session'"), [("sh", 4, 0, 0, "end")])
        start, end = ranges(daemon, "start, end")[0]
        for time, in lines(daemon, "start"):
            assert start <= time, (start, time, end)
        assert start < end, (start, end)


def test_streams_pass_through_unchanged_each_to_its_own():
    chance = random.Random(3)
    data = chance.randbytes(700000), chance.randbytes(300000)
    script = ("import os, sys\n"
              "for fd, size in ((1, 700000), (2, 300000)):\n"
              "    left = sys.stdin.buffer.read(size)\n"
              "    while left:\n"
              "        left = left[os.write(fd, left):]\n")
    with Daemon() as daemon:
        equal(send(daemon.socket, "--", sys.executable, "-c", script, stdin=data[0] + data[1]), (0, *data))
        equal(len(lines(daemon)) > 3000, True)
        equal(ranges(daemon, "color, int64Value"), [(GREEN, 0)])
        equal(daemon.query("SELECT errors, warnings FROM NVTXT_SOURCES WHERE kind = 'session'"), [(0, 0)])


def test_a_flood_arrives_whole_and_in_order():
    with Daemon() as daemon:
        status, out, err = send(daemon.socket, "--category", "c", "--", "seq", "20000")
        equal((status, out.count(b"\n"), err), (0, 20000, b""))
        equal(lines(daemon), [str(i) for i in range(1, 20001)])
        equal(ranges(daemon, "text, category != 0"), [("seq 20000", 1)])


def test_options_of_text_hold_for_a_command_too():
    with Daemon() as daemon:
        equal(shell(daemon, "echo 1763730000 WARN a; echo b", "--text", "--time-format", "epoch",
                    "--color", "Lime", "--name", "job")[0], 0)
        equal(lines(daemon, "start / 1000000000, color"), [(1763730000, 0xffffa500), (1763730000, 0xff00ff00)])
        equal(daemon.query("SELECT name FROM NVTXT_SOURCES WHERE kind = 'session'"), [("job",)])


# ---- Its end --------------------------------------------------------------------------------------

def test_a_command_that_cannot_be_run_is_126_or_127():
    with Daemon() as daemon, Folder() as folder:
        status, _, err = send(daemon.socket, "--", "/nonexistent/command")
        equal((status, err), (127, b"nvtxt-send: /nonexistent/command: No such file or directory\n"))
        equal(send(daemon.socket, "--", folder.path)[0], 126)
        equal(daemon.query("SELECT count(*) FROM NVTXT_SOURCES WHERE kind = 'session'"), [(0,)])


def test_the_signal_that_ends_it_ends_us():
    with Daemon() as daemon:
        equal(shell(daemon, "echo x; kill -TERM $$"), (-signal.SIGTERM, b"x\n", b""))
        equal(shell(daemon, "kill -KILL $$")[0], -signal.SIGKILL)
        equal(shell(daemon, "kill -XFSZ $$")[0], -signal.SIGXFSZ)
        equal(shell(daemon, "exit 200")[0], 200)
        equal(ranges(daemon, "color, int64Value"),
              [(DARK_RED, 143), (DARK_RED, 137), (DARK_RED, 128 + signal.SIGXFSZ), (RED, 200)])


def test_signals_are_passed_on():
    script = ("import os, signal, sys, time\n"
              "def said(number, _):\n"
              "    os.write(1, signal.Signals(number).name.encode() + b'\\n')\n"
              "    if number == signal.SIGINT: sys.exit(9)\n"
              "for name in ('HUP', 'USR1', 'USR2', 'TERM', 'INT'):\n"
              "    signal.signal(getattr(signal, 'SIG' + name), said)\n"
              "os.write(1, b'ready\\n')\n"
              "while True: time.sleep(60)\n")
    with Daemon() as daemon, running(daemon.socket, "--", sys.executable, "-c", script) as client:
        out = client.process.stdout
        equal(out.readline(), b"ready\n")
        for name in ("HUP", "USR1", "USR2", "TERM", "INT"):
            client.signal(getattr(signal, "SIG" + name))
            equal(out.readline(), b"SIG" + name.encode() + b"\n")
        client.expect(9)
        equal(lines(daemon), ["ready", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGTERM", "SIGINT"])


def test_ctrl_c_on_a_terminal_reaches_the_command_once():
    script = ("import signal, sys, time\n"
              "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])\n"
              "signal.alarm(60)\n"
              "print('ready', flush=True)\n"
              "signal.sigwait([signal.SIGINT])\n"
              "time.sleep(0.2)\n"  # another one would be there by then
              "sys.exit(2 if signal.SIGINT in signal.sigpending() else 1)\n")
    with Daemon() as daemon:
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(program("client", "nvtxt-send"), ["nvtxt-send", "--socket", daemon.socket, "--",
                                                        sys.executable, "-c", script], ENV)
        seen = b""
        while b"ready" not in seen:
            seen += os.read(terminal, 1000)
        os.write(terminal, b"\x03")
        equal(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 1)
        os.close(terminal)


def test_it_may_close_its_output_early():
    with Daemon() as daemon:
        equal(shell(daemon, "echo x; exec >&- 2>&-; cat >/dev/null; exit 4"), (4, b"x\n", b""))
        equal(lines(daemon), ["x"])


def test_what_it_leaves_in_the_background_holds_up_nobody():
    with Daemon() as daemon:
        status, out, err = shell(daemon, "sleep 600 & echo $!")
        os.kill(int(out), signal.SIGTERM)
        equal((status, err), (0, b""))
        equal(lines(daemon), [out.decode().strip()])


def test_whoever_reads_us_may_stop_and_the_command_learns_it():
    with Daemon() as daemon, running(daemon.socket, "--", "yes") as client:
        equal(client.process.stdout.readline(), b"y\n")
        client.process.stdout.close()
        equal(client.wait(), -signal.SIGPIPE)
        equal(ranges(daemon, "text, color"), [("yes", DARK_RED)])


# ---- The daemon -----------------------------------------------------------------------------------

def test_without_a_daemon_the_command_runs_all_the_same():
    with Folder() as folder:
        status, out, err = send(folder.name("s"), "--", "sh", "-c", "cat; exit 5", stdin=b"x" * 500000)
        equal((status, out), (5, b"x" * 500000))
        contains(err.decode(), "no daemon at " + folder.name("s"))
        contains(err.decode(), "sh runs on without being recorded\n")
        equal(err.count(b"\n"), 2)


def test_with_a_spool_it_is_kept_and_sent_later():
    daemon = Daemon(start=False)
    with daemon, Folder() as folder:
        status, out, err = shell(daemon, "echo x; exit 5", "--spool", folder.name("spool"))
        equal((status, out), (5, b"x\n"))
        contains(err.decode(), "nvtxt-send --resume")
        daemon.start()
        equal(run_client("nvtxt-send", "--socket", daemon.socket, "--resume", folder.name("spool")), (0, "", ""))
        equal((lines(daemon), ranges(daemon, "color")), (["x"], [(RED,)]))


def test_a_spool_that_cannot_be_made_keeps_it_from_nothing():
    with Daemon() as daemon:
        status, out, err = shell(daemon, "echo x; exit 5", "--spool", "/dev/null/spool")
        equal((status, out), (5, b"x\n"))
        contains(err.decode(), "sh runs on without being recorded")


def test_a_daemon_that_answers_nonsense_keeps_it_from_nothing():
    with Fake() as fake, running(fake.path, "--", "sh", "-c", "read x; echo $x; exit 5") as client:
        fake.accept().reply(type="ack", line=1)
        wait_for(lambda: "without being recorded" in client.stderr(), "it is said")
        client.say("go on\n")
        equal(client.process.stdout.readline(), b"go on\n")
        client.expect(5)


def test_a_killed_daemon_doubles_and_loses_nothing():
    with Daemon() as daemon, running(daemon.socket, "-q", "--", "cat") as client:
        for number in range(3):
            client.say(b"".join(b"%d\n" % (number * 200 + i) for i in range(100)))
            wait_for(lambda: number or lines(daemon), "it is connected")
            daemon.kill()
            client.say(b"".join(b"%d\n" % (number * 200 + 100 + i) for i in range(100)))
            daemon.start()
        client.close()
        client.expect(0)
        equal(lines(daemon), [str(i) for i in range(600)])
        equal(client.process.stdout.read().count(b"\n"), 600)


def test_a_stuck_daemon_holds_up_nothing_when_lines_may_be_dropped():
    with Daemon(shared=True) as daemon:
        lock = LockedStore(daemon)
        with running(daemon.socket, "--on-full=drop", "--", "head", "-c", "30000000", "/dev/zero") as client:
            left = 30000000
            while left > 0:
                left -= len(client.process.stdout.read(min(left, 1 << 20)))
            lock.release()
            contains(client.expect(0), "dropped: there was no room")
        equal(ranges(daemon, "int64Value"), [(0,)])
        assert daemon.query("SELECT sum(count) FROM NVTXT_LOSSES")[0][0] > 0


def held_up_for_seconds_and_no_longer():
    with Daemon(shared=True) as daemon:
        lock = LockedStore(daemon)
        status, out, err = send(daemon.socket, "--", "head", "-c", "30000000", "/dev/zero")
        equal((status, len(out)), (0, 30000000))
        contains(err.decode(), "does not answer: ")
        lock.release()


if os.environ.get("NVTXT_TEST_LONG"):  # that takes ten seconds
    test_a_stuck_daemon_holds_it_up_for_seconds_and_no_longer = held_up_for_seconds_and_no_longer


# ---- The command line -----------------------------------------------------------------------------

def test_wrong_options_are_refused_with_one_sentence():
    for args in (["--"], ["file", "--", "true"], ["--pid", "1", "--", "true"], ["--resume", "d", "--", "true"],
                 ["--mode", "lin", "--ns-a", "1", "--freq", "1", "--nvtxt-a", "1", "--", "true"],
                 ["--color", "Blau", "--", "true"], ["--name", "--"]):
        stdin = "" if args != ["--name", "--"] else None
        status, out, err = run_client("nvtxt-send", "--socket", "/nonexistent/s", *args, stdin=stdin or "")
        if args == ["--name", "--"]:  # the value of an option, no beginning of a command
            equal(status, 69, err)
            continue
        equal((status, out, err.count("\n")), (64, "", 1), "%r: %s" % (args, err))


run(globals())
