# SPDX-License-Identifier: Apache-2.0
"""Programs with NVTX in them, with libnvtxt-inject loaded, and what of them is in the store."""
import os
import subprocess

from lib import DEADLINE, TOP_BUILD, Daemon, Skip, program, rows

INJECTION = os.path.join(TOP_BUILD, "inject", ".libs", "libnvtxt-inject.so")
LIBRARIES = os.path.join(TOP_BUILD, "lib", ".libs")
CHAIN_TOOL = os.path.join(TOP_BUILD, "tests", "nvtx", "chain_tool.so")
VALUES = ("uint64Value", "int64Value", "doubleValue", "uint32Value", "int32Value", "floatValue")
OURS = ("NVTX_INJECTION64_PATH", "NVTXT_")


def client(name):
    """A client of tests/nvtx; those with the real headers are not everywhere."""
    path = os.path.join(TOP_BUILD, "tests", "nvtx", name)
    if name.endswith(("_real", "_cpp")) and not os.path.exists(path):
        raise Skip("no %s: configure found no headers of NVTX 3.2%s" %
                   (name, " or no C++ compiler" if name == "calls_cpp" else ""))
    return program("tests/nvtx", name)


def environment(daemon, injection=INJECTION, **more):
    """The environment of a program whose events go to the daemon; it waits at its end until they
    are committed."""
    env = {key: value for key, value in os.environ.items() if not key.startswith(OURS)}
    env.update({"NVTXT_SOCKET": daemon.socket, "NVTXT_EXIT_WAIT": "60", "LD_LIBRARY_PATH": LIBRARIES})
    if injection:
        env["NVTX_INJECTION64_PATH"] = injection
    env.update(more)
    return env


class Run:
    """One run of a client, by its name, or of a command, and its rows."""

    def __init__(self, name, *args, daemon=None, injection=INJECTION, status=0, **more):
        command = [client(name), *args] if isinstance(name, str) else name
        if daemon:
            self.start(command, daemon, injection, status, more)
            return
        with Daemon() as own:
            self.start(command, own, injection, status, more)

    def start(self, command, daemon, injection, status, more):
        done = subprocess.run(command, env=environment(daemon, injection, **more), timeout=DEADLINE,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        self.errors = done.stderr.decode()
        lines = done.stdout.decode().splitlines()
        assert done.returncode == status, "%s: %d\n%s" % (command, done.returncode, self.errors)
        self.pid = int(lines[0].split()[1])
        self.said = lines[1:]
        self.read(daemon.store)

    def read(self, store):
        self.domains = dict(rows(store, "SELECT id, name FROM NVTXT_DOMAINS"))
        self.domains[0] = None
        self.events = [dict(zip(("kind", "text", "domain", "category", "color", "start", "end", "tid",
                                 "pid", "end_tid", "json") + VALUES, row)) for row in rows(
            store, "SELECT eventType, text, domainId, category, color, start, end, "
            "globalTid & 0xFFFFFF, globalTid >> 24 & 0xFFFFFF, endGlobalTid & 0xFFFFFF, jsonText, "
            + ", ".join(VALUES) + " FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60) "
            "ORDER BY start, rowid")]
        for event in self.events:
            event["domain"] = self.domains[event["domain"]]
            assert event["pid"] == self.pid, event
            assert event["kind"] == 34 or event["start"] <= event["end"], event
        self.categories = sorted((self.domains[domain] or "", category, text) for domain, category, text
                                 in rows(store, "SELECT domainId, category, text FROM NVTX_EVENTS "
                                         "WHERE eventType = 33"))
        self.threads = sorted(rows(
            store, "SELECT globalTid & 0xFFFFFF, value FROM ThreadNames "
            "JOIN StringIds ON StringIds.id = nameId"))
        self.resources = sorted((self.domains[domain] or "", kind, handle, name) for
                                domain, kind, handle, name in rows(
            store, "SELECT domainId, kind, handle, name FROM NVTXT_RESOURCES"))
        self.diagnostics = rows(store, "SELECT code, message, excerpt FROM NVTXT_DIAGNOSTICS")
        assert not self.diagnostics, self.diagnostics
        # Losses are told each second: a slow program has more than one row of a reason.
        self.losses = rows(store, "SELECT reason, sum(count) FROM NVTXT_LOSSES GROUP BY reason")

    def got(self, *names):
        """What the events have in these columns."""
        return [tuple(event[name] for name in names) for event in self.events]

    def values(self):
        """The payload of each event: (column, value), None without."""
        return [next(((name, event[name]) for name in VALUES if event[name] is not None), None)
                for event in self.events]

    def seen(self):
        """All that does not change from run to run."""
        return (self.got("kind", "text", "domain", "category", "color", "json", *VALUES), self.categories,
                self.resources, [name for tid, name in self.threads if name != "Thread %d" % tid])
