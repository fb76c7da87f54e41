# SPDX-License-Identifier: Apache-2.0
"""What the daemon takes: memory, and rest."""
import time
import uuid

import kit as shared

IDLE_CONNECTIONS = 1000
LINE = b"RangeStartEnd, 1, 2, Manual, 1234, 1, 1, Blue, 'idle', 1\n"


def open_idle(daemon, count, session):
    """Connections that sent one line each and are quiet then; their lines are committed."""
    connections = []
    for _ in range(count):
        connection = daemon.connect()
        if session:
            connection.sendall(b'#nvtxt-session {"protocol":1,"session":"%s"}\n'
                               % str(uuid.uuid4()).encode())
        connection.sendall(LINE)
        connections.append(connection)
    daemon.wait_visible(count)
    daemon.control("flush")
    if session:
        for connection in connections:  # welcome and ack
            got = b""
            while b'"ack"' not in got:
                got += connection.recv(4096)
    return connections


def settle(daemon):
    """Waits until the daemon rests: no switch of a thread for half a second."""
    last, since = daemon.activity()[0], time.monotonic()
    end = since + 10
    while time.monotonic() < min(since + 0.5, end):
        time.sleep(0.05)
        now = daemon.activity()[0]
        if now != last:
            last, since = now, time.monotonic()


def per_connection(kit, session):
    with kit.daemon() as daemon:
        for connection in open_idle(daemon, 1, session):  # what is made once is there
            connection.close()
        settle(daemon)
        before = daemon.memory()["VmRSS"]
        connections = open_idle_after(daemon, session)
        settle(daemon)
        after = daemon.memory()["VmRSS"]
        for connection in connections:
            connection.close()
    return (after - before) / IDLE_CONNECTIONS


def open_idle_after(daemon, session):
    """As open_idle(), beside the one event that is stored already."""
    connections = open_idle(daemon, IDLE_CONNECTIONS, session)
    daemon.wait_visible(IDLE_CONNECTIONS + 1)
    return connections


def peak(kit, connections, how):
    with kit.daemon() as daemon:
        kit.run("drive", daemon.socket, "same", kit.events, connections, how)
        daemon.wait_visible(kit.events)
        return daemon.memory()["VmHWM"] / 1024


def memory(kit):
    """RSS: per idle connection (1,000 of them), and the peak under full load"""
    shared.raise_descriptors(IDLE_CONNECTIONS + 100)
    rounds = range(2 if kit.quick else 3)
    kit.tell("memory: an idle connection of %s" % "{:,}".format(IDLE_CONNECTIONS), "KiB",
             ("plain", [per_connection(kit, False) for _ in rounds]),
             ("session", [per_connection(kit, True) for _ in rounds]),
             note="difference of VmRSS; each had sent a line")
    kit.tell("memory: peak under full load", "MiB",
             ("200 sessions", [peak(kit, 200, "session") for _ in rounds]),
             ("200 plain", [peak(kit, 200, "plain") for _ in rounds]),
             ("1 session", [peak(kit, 1, "session") for _ in rounds]), note="VmHWM")


def idle(kit):
    """50 connections that are quiet: context switches and CPU time of the daemon"""
    seconds = 3 if kit.quick else 10
    with kit.daemon() as daemon:
        connections = open_idle(daemon, 25, False) + open_idle(daemon, 25, True)
        settle(daemon)
        before = daemon.activity()
        time.sleep(seconds)
        after = daemon.activity()
        for connection in connections:
            connection.close()
    kit.tell("idle: 50 connections, %d s" % seconds, "",
             ("voluntary switches", after[0] - before[0]), ("others", after[1] - before[1]),
             ("CPU ms", (after[2] - before[2]) * 1e3), note="all threads; 25 plain, 25 sessions")
