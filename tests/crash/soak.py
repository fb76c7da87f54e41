# SPDX-License-Identifier: Apache-2.0
"""Everything at once, for a long time: soak.py [SECONDS], 20 minutes without.

Sessions that record what was acknowledged, one after the other; a flood, a client that never reads
its replies, lines that never end; and a daemon that is killed again and again. What was acknowledged
is looked for after each kill, and in the end every line of every session must be there once.
"""
import multiprocessing
import os
import random
import socket
import sys
import time

import recorder
from recorder import lib

SESSIONS = 3
LINES = 20000


def endlessly(act, path):
    while True:
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(path)
                act(connection)
        except OSError:
            time.sleep(0.05)


def flood(connection):
    text = ('TimeBase = Manual\n@Marker, Time, Message\n'
            + 'Marker, 1, "%s"\n' % ("f" * 60) * 500).encode()
    for _ in range(200):
        connection.sendall(text)
        time.sleep(0.02)  # the disk is to last


def never_read(connection):
    hello = '#nvtxt-session {"protocol":1,"session":"%s"}\n' % os.urandom(16).hex()
    connection.sendall(hello.encode())
    for _ in range(20000):
        connection.sendall(b"bad " + b"x" * 150 + b"\n")


def never_end(connection):
    for _ in range(160):
        connection.sendall(b"x" * 65536)
        time.sleep(0.01)


def memory_mib(daemon):
    with open("/proc/%d/status" % daemon.process.pid, encoding="utf-8") as file:
        return max(int(line.split()[1]) for line in file if line.startswith("VmRSS:")) / 1024


def soak(seconds):
    seed = random.randrange(2**32)
    rng = random.Random(seed)
    print("# seed %d, %d s" % (seed, seconds), flush=True)
    end = time.monotonic() + seconds
    kills, most = 0, 0
    with lib.Daemon() as daemon:
        peers = [multiprocessing.Process(target=endlessly, args=(act, daemon.socket), daemon=True)
                 for act in (flood, never_read, never_end)]
        for peer in peers:
            peer.start()
        running, done = [], []
        while time.monotonic() < end:
            done += [client for client in running if client.finished or client.fault]
            running = [client for client in running if client not in done]
            while len(running) < SESSIONS:
                running.append(recorder.Recorder(daemon, LINES, rng.random()))
                running[-1].start()
            time.sleep(rng.uniform(0.2, 5))
            most = max(most, memory_mib(daemon))
            daemon.kill()
            kills += 1
            for client in running:
                client.check()
            daemon.start()
        for peer in peers:
            peer.kill()
            peer.join()
        for client in done + running:
            client.check_lines()
        daemon.settled()
        lib.equal(set(daemon.everywhere("PRAGMA integrity_check")), {("ok",)}, "the store is sound")
        lib.equal(set(daemon.everywhere("SELECT count(*) FROM NVTXT_LOSSES")), {(0,)}, "losses")
        status = daemon.control("status")
        events = status["store_bytes"] + status["old_segments_bytes"] >> 20
        print("# %d kills, %d sessions of %d lines, a store of %d MiB, at most %.1f MiB of memory"
              % (kills, len(done) + len(running), LINES, events, most))


def main():
    soak(float(sys.argv[1]) if len(sys.argv) > 1 else 1200)
    print("1..1\nok 1 - nothing lost, nothing doubled")


if __name__ == "__main__":
    main()
