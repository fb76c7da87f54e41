# SPDX-License-Identifier: Apache-2.0
"""The engine's disk is full, for real: what cannot be kept is rolled back whole, the store waits,
and when there is room again each row is there once."""
import contextlib
import os
import subprocess
import tempfile

from lib import Daemon, equal, run, wait_for
from postgres import Postgres
from ship import HEAD, Shipper, compare_store, good
from small_disk import SmallDisk

ROWS = 6000  # of one send: more than the room that is left in pages of a table


class Lines:
    """Numbered events, so that one that is missing or there twice can be seen."""

    def __init__(self, daemon):
        self.daemon, self.sent = daemon, 0

    def send(self, count):
        with self.daemon.plain() as connection:
            connection.send(HEAD + "".join('Marker, %d, 7, 8, "m"\n' % (self.sent + number)
                                           for number in range(count)))
        self.sent += count
        self.daemon.settled()

    def are_there(self, server):
        wait_for(lambda: server.psql("SELECT count(*) FROM nvtxt.events")[1] == [(str(self.sent),)],
                 "all %d events are there" % self.sent)
        equal(server.rows("SELECT count(DISTINCT start_ns), min(start_ns), max(start_ns) FROM "
                          "nvtxt.events"), [(str(self.sent), "0", str(self.sent - 1))])


def are_together(server):
    """Rows and cursor say the same; returns how many events there are."""
    (found,), = server.rows("SELECT count(*) FROM nvtxt.events")
    equal(server.one("SELECT sum(events) FROM nvtxt.cursors"), found)
    equal(server.one("SELECT sum(events) FROM nvtxt.segments"), found)
    return int(found)


@contextlib.contextmanager
def small_disk(options):
    """One that the server's user can get to."""
    with tempfile.TemporaryDirectory(prefix="nvtxt-full-") as folder:
        os.chmod(folder, 0o755)
        with SmallDisk(folder, options + ",mode=777") as disk:
            yield disk


@contextlib.contextmanager
def without_room(server, disk):
    """A store that is followed until the disk is full; the test makes room. In the end each line is
    there once."""
    with Daemon() as daemon:
        good("init", "--target", server.target())
        args = ("--target", server.target(), "--store", daemon.store, "--interval", "50ms")
        lines = Lines(daemon)
        with Shipper(*args) as shipper:
            lines.send(10)
            lines.are_there(server)
            wait_while_full(disk, lambda: disk.room() == 0, "the disk is full")
            yield daemon, lines, shipper
            equal(shipper.stop(), 0, shipper.said())
        good("--once", *args)
        equal(are_together(server), lines.sent)
        compare_store(server, daemon.segments())
        equal(server.one("SELECT count(*) FROM nvtxt.losses"), "0")


def wait_while_full(disk, condition, what):
    """The disk stays full, whatever the server removes meanwhile."""
    def is_so():
        disk.fill()
        return condition()
    wait_for(is_so, what)


def log_size(daemon):
    return sum(os.path.getsize(os.path.join(daemon.folder, name))
               for name in os.listdir(daemon.folder) if name.endswith("-wal"))


def test_a_full_tablespace_is_waited_for():
    with small_disk("size=48m") as disk, Postgres() as server:
        folder = os.path.join(disk.folder, "tables")
        subprocess.run([*server.as_server, "mkdir", folder], check=True)
        server.rows("CREATE TABLESPACE small LOCATION '%s'" % folder)
        server.rows("CREATE DATABASE fleet TEMPLATE template0 TABLESPACE small")
        server.database = "fleet"
        with without_room(server, disk) as (daemon, lines, shipper):
            lines.send(ROWS)
            wait_while_full(disk, lambda: "No space left on device" in shipper.said(), "a row has no room")
            there = are_together(server)
            equal(there < lines.sent, True, there)
            lines.send(ROWS)
            daemon.control("rotate")
            lines.send(ROWS)
            # Some tries later nothing else is there or said.
            tries = "SELECT xact_rollback FROM pg_stat_database WHERE datname = 'fleet'"
            before = int(server.one(tries, database="postgres"))
            wait_while_full(disk, lambda: int(server.one(tries, database="postgres")) >= before + 2, "it tries")
            equal(are_together(server), there)
            equal(shipper.said().count("No space left on device"), 1, shipper.said())
            equal(log_size(daemon) <= 64 << 20, True, "the log of the store")
            disk.empty()
            lines.are_there(server)
            wait_for(lambda: "shipping goes on after" in shipper.said(), "its end is logged")
            equal(shipper.said().count("\n"), 2, shipper.said())


class SmallServer(Postgres):
    """Its log of transactions is on the small disk: without room it cannot even roll back, and
    ends. It keeps all of the log: what it used again, or removed, would be room."""

    def __init__(self, disk):
        super().__init__(init=["--wal-segsize=1", "--waldir=" + os.path.join(disk.folder, "log")],
                         settings=["min_wal_size = 2MB", "max_wal_size = 1GB", "checkpoint_timeout = 1d"])

    def is_back(self):
        """Starts it when it has ended."""
        if not self.runs():
            with contextlib.suppress(AssertionError):
                self.start()
        return self.psql("SELECT 1")[0] == 0


def test_a_server_that_a_full_disk_ended_gets_everything():
    with small_disk("size=32m") as disk, SmallServer(disk) as server:
        with without_room(server, disk) as (_, lines, shipper):
            for _ in range(8):
                lines.send(ROWS)
            wait_while_full(disk, lambda: "the engine cannot be reached" in shipper.said(),
                            "the server has ended")
            disk.empty()
            wait_for(server.is_back, "the server is there again")
            lines.are_there(server)


run(globals())
