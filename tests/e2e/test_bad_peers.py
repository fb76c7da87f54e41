# SPDX-License-Identifier: Apache-2.0
"""All bad peers at once, and a good one among them.

One source floods, one session never reads its replies, one sends 10 MB without a line end, one
sends a byte now and then, and 2,000 connections want in under a limit of 256 descriptors. What a
well-behaved session waits for an acknowledgement meanwhile is measured and printed, with the
daemon's memory; only memory and service are asserted. NVTXT_TEST_LONG makes it longer.
"""
import multiprocessing
import os
import resource
import socket
import time

import lib

HEADER = 'TimeBase = Manual\n@Marker, Time, Message\n'
LONG = bool(os.environ.get("NVTXT_TEST_LONG"))
LINES = 600 if LONG else 40
CROWD = 2000


def connect(path):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    return connection


def flood(path):
    connection = connect(path)
    connection.sendall(HEADER.encode())
    text = ('Marker, 1, "%s"\n' % ("f" * 60) * 2000).encode()
    while True:
        connection.sendall(text)


def never_read(path):
    while True:
        connection = connect(path)
        hello = '#nvtxt-session {"protocol":1,"session":"%s"}\n' % os.urandom(16).hex()
        try:
            connection.sendall(hello.encode())
            while True:
                connection.sendall(b"bad " + b"x" * 150 + b"\n")
        except OSError:
            connection.close()


def never_end(path):
    while True:
        connection = connect(path)
        for _ in range(160):
            connection.sendall(b"x" * 65536)
        connection.close()


def drip(path):
    connection = connect(path)
    while True:
        connection.sendall(b"#")
        time.sleep(0.05)


def crowd(path):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    held = []
    for _ in range(CROWD):
        connection = socket.socket(socket.AF_UNIX)
        connection.setblocking(False)
        try:
            connection.connect(path)
            held.append(connection)
        except BlockingIOError:  # the backlog is full
            connection.close()
    while True:
        time.sleep(60)


def few_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))


def memory(daemon, field):
    with open("/proc/%d/status" % daemon.process.pid, encoding="utf-8") as file:
        for line in file:
            if line.startswith(field):
                return int(line.split()[1]) * 1024
    raise AssertionError("no " + field)


def measure(session):
    waits = []
    for number in range(LINES):
        started = time.monotonic()
        session.send('Marker, %d, "good"\n' % number)
        session.ack(number + 3)
        waits.append(time.monotonic() - started)
    waits.sort()
    return waits[len(waits) // 2], waits[int(len(waits) * 0.99)], waits[-1]


def test_a_good_session_is_served_among_bad_peers():
    with lib.Daemon(limits=few_descriptors) as daemon:
        with daemon.session(name="good") as session:
            session.send(HEADER)
            session.ack(2)
            peers = [multiprocessing.Process(target=target, args=(daemon.socket,), daemon=True)
                     for target in (flood, never_read, never_end, drip, crowd)]
            for peer in peers:
                peer.start()
            lib.wait_for(lambda: "connections wait" in daemon.log_text(), "the crowd is there")
            figures = measure(session)
            print("# %d lines: wait for the ack p50 %.3f s, p99 %.3f s, longest %.3f s"
                  % (LINES, *figures))
            status = daemon.control("status")
            for peer in peers:
                peer.kill()
                peer.join()
            lib.equal(session.end()["events"], LINES)
        daemon.settled()
        print("# %d lines in all; VmRSS %.1f MiB, at most %.1f MiB"
              % (status["lines"], memory(daemon, "VmRSS:") / 2**20,
                 memory(daemon, "VmHWM:") / 2**20))
        if not lib.SANITIZERS:
            assert memory(daemon, "VmHWM:") < 96 << 20, memory(daemon, "VmHWM:")
        daemon.send(HEADER + 'Marker, 1, "afterwards"\n')
        # The flood may have filled more than one segment.
        good = daemon.everywhere("SELECT start FROM NVTX_EVENTS WHERE text = 'good'")
        lib.equal((len(good), len(set(good))), (LINES, LINES))
        lib.equal(daemon.everywhere("SELECT text FROM NVTX_EVENTS WHERE text = 'afterwards'"),
                  [("afterwards",)])
        lib.equal(daemon.everywhere("SELECT * FROM NVTXT_LOSSES"), [])


lib.run(globals())
