# SPDX-License-Identifier: Apache-2.0
"""nvtxt-ctl top: plain samples, and a whole terminal that is given back whatever happens."""
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import lib

HEADER = 'TimeBase = Manual\n@Marker, Time, Message\n'
ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"


def command(daemon, *arguments):
    return [lib.program("client", "nvtxt-ctl"), "--socket", daemon.control_socket, *arguments]


def run(daemon, *arguments, status=0):
    done = subprocess.run(command(daemon, *arguments), capture_output=True, text=True,
                          timeout=lib.DEADLINE, check=False)
    lib.equal(done.returncode, status, (done.stdout, done.stderr))
    return done


class Terminal:
    """nvtxt-ctl top on a terminal of its own; `text` is all that it wrote."""

    def __init__(self, daemon, rows=24, columns=80, jobs=False):
        """With `jobs` it belongs to a session with job control, as under a shell."""
        self.master, slave = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.text = ""
        begin = os.setpgrp if jobs else lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        self.process = subprocess.Popen(command(daemon, "top", "--interval", "0.1"), stdin=slave,
                                        stdout=slave, stderr=slave, start_new_session=not jobs,
                                        preexec_fn=begin)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self):
        if select.select([self.master], [], [], 0.01)[0]:
            self.text += os.read(self.master, 65536).decode("utf-8", "replace")
        return self.text

    def wait(self, text):
        """Until this was written; forgets what was written up to there."""
        end = time.monotonic() + lib.DEADLINE
        while text not in self.read():
            assert time.monotonic() < end, "%r not in %r" % (text, self.text[-3000:])
        self.text = self.text[self.text.index(text) + len(text):]

    def screen(self):
        """The lines of the next whole picture."""
        self.wait("\x1b[J")
        self.wait("\x1b[H")
        lib.wait_for(lambda: "\x1b[J" in self.read(), "a picture")
        return [re.sub(r"\x1b\[[A-Z]", "", line).rstrip("\r")
                for line in self.text[:self.text.index("\x1b[J")].split("\r\n")]

    def key(self, key):
        os.write(self.master, key.encode())

    def end(self, status):
        self.wait(LEAVE)
        lib.equal(self.process.wait(lib.DEADLINE), status)
        lib.equal(termios.tcgetattr(self.slave), self.before, "the terminal is as it was")


def three_samples(daemon, quick):
    """What it prints while events of the one source come all the time."""
    top = subprocess.Popen(command(daemon, "top", "--interval", "0.3", "--count", "3"),
                           stdout=subprocess.PIPE, text=True)
    while top.poll() is None:
        quick.send(HEADER + 'Marker, 1, "a"\n')
        time.sleep(0.005)  # a pace, not a wait
    text = top.communicate()[0]
    lib.equal(top.returncode, 0, text)
    return text


def last_rates(text):
    """The rows of the last sample; None when no event came in its interval."""
    rows = text.split("EVENTS/S")[-1].splitlines()[1:]
    return rows if float(rows[0].split()[0].replace(",", "")) > 0 else None


def test_one_plain_sample_with_rates():
    with lib.Daemon() as daemon:
        with daemon.plain() as quick, daemon.session(name="slow\x1b[2J") as slow:
            slow.send(HEADER + "bad\n")
            slow.ack(3)
            text = three_samples(daemon, quick)
            lib.equal(text.count("EVENTS/S"), 3, text)
            assert "\x1b" not in text, text
            # On a busy machine we may stand still for the whole of the last interval.
            rows = lib.wait_for(lambda: last_rates(three_samples(daemon, quick)), "a rate")
            lib.equal([row.split()[5] for row in rows], [str(os.getpid())] * 2, rows)
            lib.equal((rows[1].split()[:5], rows[1].split()[6]), (["0", "0", "0", "0", "1"], "slow"),
                      rows)
            lib.equal(len(run(daemon, "top").stdout.splitlines()), 7)


def test_samples_for_programs():
    with lib.Daemon() as daemon:
        with daemon.session(name="a.nvtxt") as session:
            session.send(HEADER)
            session.ack(2)
            lines = run(daemon, "--json", "top", "--interval", "0.1", "--count", "2").stdout.splitlines()
            lib.equal(len(lines), 2)
            told = json.loads(lines[1])
            lib.equal((told["lines_per_second"], told["sources"][0]["name"],
                       told["sources"][0]["events_per_second"], told["status"]["sessions"]),
                      (0, "a.nvtxt", 0, 1))


def test_a_daemon_that_is_not_there():
    with lib.Daemon() as daemon:
        endless = subprocess.Popen(command(daemon, "top", "--interval", "0.1"),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert endless.stdout.readline()
        daemon.stop()
        error = endless.communicate(timeout=lib.DEADLINE)[1]
        lib.equal(endless.returncode, 69)
        assert "no daemon at" in error, error
        assert "no daemon" in run(daemon, "top", status=69).stderr
        daemon.start()


def test_a_terminal_is_given_back_after_q():
    with lib.Daemon() as daemon:
        for key in ("q", "\x03"):
            with Terminal(daemon) as terminal:
                terminal.wait(ENTER)
                terminal.screen()
                terminal.key("x")
                terminal.screen()
                terminal.key(key)
                terminal.end(0)


def test_a_terminal_is_given_back_after_a_signal():
    with lib.Daemon() as daemon:
        for number, status in ((signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 74),
                               (signal.SIGQUIT, 74)):
            with Terminal(daemon) as terminal:
                terminal.wait(ENTER)
                terminal.screen()
                terminal.process.send_signal(number)
                terminal.end(status)


def test_a_terminal_is_given_back_while_it_is_stopped():
    with lib.Daemon() as daemon:
        with Terminal(daemon, jobs=True) as terminal:
            terminal.screen()
            terminal.key("\x1a")
            terminal.wait(LEAVE)
            how = os.WSTOPPED | os.WNOWAIT | os.WNOHANG
            lib.wait_for(lambda: os.waitid(os.P_PID, terminal.process.pid, how), "it is stopped")
            lib.equal(termios.tcgetattr(terminal.slave), terminal.before)
            terminal.process.send_signal(signal.SIGCONT)
            terminal.wait(ENTER)
            terminal.screen()
            terminal.key("q")
            terminal.end(0)


def test_a_picture_fits_its_terminal():
    with lib.Daemon() as daemon:
        sessions = [daemon.session(name="%d " % number + "n" * 100) for number in range(12)]
        with Terminal(daemon, rows=10, columns=60) as terminal:
            lines = terminal.screen()
            lib.equal((len(lines), lines[-1]), (10, "and 8 more"), lines)
            assert max(len(line) for line in lines) == 60, lines
            terminal.resize(30, 100)
            lines = lib.wait_for(lambda: [lines for lines in [terminal.screen()] if len(lines) == 17],
                                 "a bigger picture")[0]
            assert max(len(line) for line in lines) == 100, lines
            terminal.resize(1, 1)
            lib.wait_for(lambda: terminal.screen() == ["n"], "the smallest picture")
            terminal.key("q")
            terminal.end(0)
        for session in sessions:
            session.close()


def test_a_daemon_that_goes_away_is_said_and_tried_again():
    with lib.Daemon() as daemon:
        with Terminal(daemon) as terminal:
            terminal.screen()
            daemon.stop()
            terminal.wait("trying again")
            daemon.start()
            lib.wait_for(lambda: "trying again" not in "".join(terminal.screen()), "it is back")
            terminal.key("q")
            terminal.end(0)


lib.run(globals())
