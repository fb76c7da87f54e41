# SPDX-License-Identifier: Apache-2.0
"""How fast: the whole way, and its parts."""
import shutil
import subprocess
import time

import kit as shared


def through_daemon(kit, kind, events):
    """Events per second of one nvtxt-send, from its start to its end: then all is committed."""
    source = kit.input(kind, events)
    with kit.daemon() as daemon:
        seconds = kit.seconds([kit.program("nvtxt-send"), "--socket", daemon.socket, source])
        daemon.check(events)
    return events / seconds


def plain_loop(kit, kind, events):
    path = kit.path("plain.sqlite")
    kit.remove_store(path)
    rate = float(kit.run("plain_loop", kind, events, path)[0])
    kit.remove_store(path)
    return rate


def against_plain_loop(kit, kind, note):
    kit.input(kind, kit.events)
    ours, theirs = [], []
    for _ in range(kit.rounds):
        theirs.append(plain_loop(kit, kind, kit.events))
        ours.append(through_daemon(kit, kind, kit.events))
    kit.compare("%s: nvtxt-send, exit to exit" % kind, "events/s", ("nvtxt-send", ours),
                ("plain loop", theirs), note)


def same(kit):
    """RangeStartEnd, 100 distinct messages: nvtxt-send against the plain loop"""
    against_plain_loop(kit, "same", "100 distinct messages")


def unique(kit):
    """The same with every message its own; the plain loop fills StringIds too"""
    against_plain_loop(kit, "unique", "the loop fills StringIds too, without looking up")


def pushpop(kit):
    """RangePush and RangePop; per event stored, which is two lines"""
    against_plain_loop(kit, "pushpop", "two lines an event")


def markers(kit):
    """Markers with category, colour and payload"""
    against_plain_loop(kit, "markers", "category, colour and payload")


def parse(kit):
    """Framing and interpreting alone against wc -l and a memchr walk, same bytes"""
    source = kit.input("same", kit.events)
    with open(source, "rb") as file:
        size = len(file.read())  # and it is in the page cache
    ours, walk, wc = [], [], []
    for _ in range(kit.rounds):
        interpreted, walked = kit.run("parse", source)
        ours.append(float(interpreted))
        walk.append(float(walked))
        wc.append(size / kit.seconds(["wc", "-l", source], stdout=subprocess.DEVNULL) / 1e6)
    kit.compare("parse: frame and interp, one core", "MB/s", ("interp", ours), ("wc -l", wc))
    kit.compare("parse: frame and interp, one core", "MB/s", ("interp", ours), ("memchr", walk))
    kinds = {kind: kit.input(kind, kit.events) for kind in ("unique", "pushpop", "markers")}
    kit.tell("parse: other lines", "MB/s", *(
        (kind, [float(kit.run("parse", path)[0]) for _ in range(kit.rounds)])
        for kind, path in kinds.items()))


def send(kit):
    """nvtxt-send against cat | socat into a plain connection until all is visible"""
    if not shutil.which("socat"):
        shared.warn("send: skipped, socat is not installed")
        return
    source = kit.input("same", kit.events)
    ours, theirs = [], []
    for _ in range(kit.rounds):
        ours.append(through_daemon(kit, "same", kit.events))
        with kit.daemon() as daemon:
            started = time.monotonic()
            with subprocess.Popen(["cat", source], stdout=subprocess.PIPE) as cat:
                kit.seconds(["socat", "-u", "-", "UNIX-CONNECT:" + daemon.socket],
                            stdin=cat.stdout)
            daemon.wait_visible(kit.events)
            theirs.append(kit.events / (time.monotonic() - started))
            daemon.check(kit.events)
    kit.compare("send: nvtxt-send, exit to exit", "events/s", ("nvtxt-send", ours),
                ("cat | socat", theirs), "socat: until all events are visible")


def store(kit):
    """The store alone (batch, write, commit) against the plain loop"""
    path = kit.path("alone.sqlite")
    for kind in ("same", "unique"):
        ours, theirs = [], []
        for _ in range(kit.rounds):
            theirs.append(plain_loop(kit, kind, kit.events))
            kit.remove_store(path)
            ours.append(float(kit.run("fill_store", kind, kit.events, path)[0]))
            kit.remove_store(path)
        kit.compare("store: alone, %s" % kind, "events/s", ("store", ours),
                    ("plain loop", theirs), "10,000 events a transaction, both")


def drive(kit, connections, how):
    with kit.daemon() as daemon:
        started, ended = map(float, kit.run("drive", daemon.socket, "same", kit.events,
                                            connections, how))
        if how == "plain":
            daemon.wait_visible(kit.events)
            ended = max(ended, time.monotonic())
        daemon.check(kit.events)
    return kit.events / (ended - started)


def connections(kit):
    """The same total over 1, 10 and 200 connections, as sessions and as plain connections"""
    for how in ("session", "plain"):
        rates = {1: [], 10: [], 200: []}
        for _ in range(kit.rounds):
            for count, values in rates.items():
                values.append(drive(kit, count, how))
        for count in (10, 200):
            kit.compare("connections: %d against 1, %s" % (count, how), "events/s",
                        (str(count), rates[count]), ("1", rates[1]))
