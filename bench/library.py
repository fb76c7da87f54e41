# SPDX-License-Identifier: Apache-2.0
"""What libnvtxt costs a program, and what its lines cost the daemon."""
import os
import shutil
import subprocess
import time

import kit as shared

RATES = (100_000, 200_000, 400_000)


def environment(kit, daemon, **variables):
    """A program that is recorded by this daemon; no daemon: its socket is not there."""
    folder = os.path.join(kit.build, "inject", ".libs")
    return {**os.environ, "NVTXT_SOCKET": daemon.socket if daemon else kit.path("no.sock"),
            "NVTX_INJECTION64_PATH": os.path.join(folder, "libnvtxt-inject.so"), **variables}


def calls(kit, daemon, *arguments, **variables):
    """The lines that calls prints, as lists of words."""
    command = [kit.program("calls")] + [str(argument) for argument in arguments]
    process = kit.spawn(command, stdout=subprocess.PIPE, text=True,
                        env=environment(kit, daemon, **variables))
    output, _ = process.communicate()
    kit.processes.remove(process)
    if process.returncode != 0:
        raise RuntimeError("%s: status %d" % (" ".join(command), process.returncode))
    return [line.split() for line in output.splitlines()]


def figures(lines, into):
    for name, ns in lines:
        into.setdefault(name, []).append(float(ns))


# ---- LTTng --------------------------------------------------------------------------------------

class Lttng:
    """A session of LTTng into a folder that is removed, and the library with its tracepoints; the
    library is None where LTTng is not installed."""

    def __init__(self, kit):
        self.kit = kit
        self.library = None
        self.home = kit.path("lttng")

    def command(self, *words):
        return subprocess.run(words, capture_output=True, check=True, env=self.environment())

    def environment(self):
        return {**os.environ, "LTTNG_HOME": self.home}

    def __enter__(self):
        if not shutil.which("lttng") or not shutil.which("lttng-sessiond"):
            return self
        top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        library = self.kit.path("lttng_pair.so")
        os.makedirs(self.home, exist_ok=True)
        try:
            flags = self.command("pkg-config", "--cflags", "--libs", "lttng-ust").stdout.decode()
            self.command("cc", "-shared", "-fPIC", "-O2", "-g", "-I" + top,
                         os.path.join(top, "bench", "lttng_pair.c"), "-o", library, *flags.split())
            self.sessions = self.kit.spawn(["lttng-sessiond", "--quiet", "--no-kernel"],
                                           env=self.environment(), stderr=subprocess.DEVNULL)
            shared.wait_for(self.is_ready, "LTTng's session daemon is ready", pause=0.05)
            for words in (("create", "nvtxt-bench", "--output", self.kit.path("trace")),
                          ("enable-event", "--userspace", "nvtxt_bench:*"), ("start",)):
                self.command("lttng", *words)
            self.library = library
        except (OSError, subprocess.CalledProcessError) as error:
            shared.warn("lttng: %s" % error)
        return self

    def is_ready(self):
        return subprocess.run(["lttng", "list"], capture_output=True,
                              env=self.environment()).returncode == 0

    def __exit__(self, kind, value, trace):
        if self.library:
            subprocess.run(["lttng", "destroy"], capture_output=True, env=self.environment())
            self.sessions.terminate()
            self.sessions.wait()
            self.kit.processes.remove(self.sessions)


# ---- Benchmarks ---------------------------------------------------------------------------------

def pairs(kit):
    """A pair of push and pop of libnvtxt against the clock, LTTng, and a line under a lock"""
    bursts = 40 if kit.quick else 200
    one, two, alone = {}, {}, {}
    with Lttng(kit) as lttng, kit.daemon() as daemon:
        for _ in range(3):
            extra = [lttng.library] if lttng.library else []
            figures(calls(kit, daemon, "pairs", bursts, kit.path("written"), *extra,
                          LTTNG_HOME=lttng.home), one)
            figures(calls(kit, daemon, "two", bursts), two)
            figures(calls(kit, None, "pairs", bursts, kit.path("written"), NVTXT_WINDOW="2G"),
                    alone)
    note = "lower quartile of bursts of 1,000, thread CPU time"
    kit.compare("pair: push and pop, one thread", "ns", ("pair", one["pair"]),
                ("clock twice", one["clocks"]), note)
    kit.compare("pair: push and pop, two threads", "ns", ("pair", two["pair"]),
                ("clock twice", two["clocks"]), "each of two threads at once")
    kit.compare("pair: without a daemon", "ns", ("pair", alone["pair"]),
                ("clock twice", alone["clocks"]))
    if "lttng" in one:
        kit.compare("pair: against LTTng", "ns", ("pair", one["pair"]),
                    ("lttng-ust", one["lttng"]), "two tracepoints with a string and an integer")
    else:
        kit.tell("pair: against LTTng", "ns", ("pair", one["pair"]),
                 note="left out: lttng-tools and liblttng-ust-dev are not installed")
    kit.compare("pair: against a line under a lock", "ns", ("pair", one["pair"]),
                ("mutex, snprintf, write", one["written"]), "into a file")
    for name, what in (("registered", "registered string"), ("typed", "payload of 64 bits"),
                       ("full", "category, colour, payload")):
        kit.compare("pair: with %s" % what, "ns", (what, one[name]), ("plain", one["pair"]),
                    "against a text of 15 bytes")
    if "nvtx" in one:
        kit.compare("pair: of NVTX, injected", "ns", ("nvtxRangePush, Pop", one["nvtx"]),
                    ("libnvtxt", one["pair"]))
    else:
        kit.tell("pair: of NVTX, injected", "ns", ("libnvtxt", one["pair"]),
                 note="left out: configure found no headers of NVTX")


def rates(kit):
    """Pairs a second of one thread beside the daemon: how many are dropped"""
    seconds = 2 if kit.quick else 5
    for rate in RATES:
        dropped, written = [], []
        for _ in range(2 if kit.quick else 3):
            with kit.daemon() as daemon:
                (took, made, lost), = calls(kit, daemon, "rate", rate, seconds)
                daemon.check(int(made) - int(lost))
            dropped.append(100 * int(lost) / int(made))
            written.append(int(made) / float(took))
        kit.tell("rate: %s pairs a second" % "{:,}".format(rate), "", ("written", written),
                 ("dropped %", dropped), note="for %d s; all others are stored" % seconds)


def rest(kit):
    """Memory of a thread, wake-ups of a quiet program, the end of a short one"""
    rounds = range(2 if kit.quick else 3)
    with kit.daemon() as daemon:
        kit.tell("rest: memory a thread", "KiB", ("of 200, 10 pairs each", [
            float(calls(kit, daemon, "threads", 200)[0][0]) / 1024 for _ in rounds]),
            note="difference of RSS")
        kit.tell("rest: wake-ups in 4 s", "", ("after one pair", [
            int(calls(kit, daemon, "quiet", 4)[0][0]) for _ in rounds]), note="the library's thread")
        ends = {"one": [], "none": []}
        for _ in range(5 if kit.quick else 20):
            for what, found in ends.items():
                main = int(calls(kit, daemon, what)[0][0])
                found.append((time.monotonic_ns() - main) / 1e6)
    kit.tell("rest: from the end of main to the end", "ms", ("one event", ends["one"]),
             ("no event", ends["none"]), note="with a daemon: all is committed")


def spent(daemon, events):
    """Nanoseconds of the daemon's CPU for each of the events that it has taken since its start."""
    daemon.control("flush")
    daemon.check(events)
    return daemon.activity()[2] * 1e9 / events


def share(kit):
    """CPU of the daemon for an event of libnvtxt, against lines of nvtxt-send"""
    events = 100_000 if kit.quick else 400_000
    source = kit.input("pushpop", events)
    library, lines = [], []
    for _ in range(kit.rounds):
        with kit.daemon() as daemon:
            (dropped,), = calls(kit, daemon, "flood", events, NVTXT_RING="64M", NVTXT_WINDOW="256M")
            library.append(spent(daemon, events - int(dropped)))
        with kit.daemon() as daemon:
            kit.seconds([kit.program("nvtxt-send"), "--socket", daemon.socket, source])
            lines.append(spent(daemon, events))
    kit.compare("share: CPU of the daemon, an event", "ns", ("libnvtxt", library),
                ("nvtxt-send", lines), "push and pop; all threads of the daemon")
