# SPDX-License-Identifier: Apache-2.0
"""A manager that wants signs of life gets them wherever nvtxt-ship waits, and does not end one that
works."""
import contextlib
import socket
import tempfile
import time

from lib import DEADLINE, Daemon, Skip, run, wait_for
from manager import Notify, has_libsystemd
from postgres import database
from ship import Shipper, good

SIGNS = 60  # three a watchdog time
WATCHDOG = {"WATCHDOG_USEC": "300000"}


@contextlib.contextmanager
def watched(*args):
    """A shipper with a manager."""
    if not has_libsystemd():
        raise Skip("built without libsystemd")
    with tempfile.TemporaryDirectory(prefix="nvtxt-notify-") as folder:
        notify = Notify(folder)
        with contextlib.closing(notify.socket), \
                Shipper(*args, env={**WATCHDOG, "NOTIFY_SOCKET": notify.path}) as shipper:
            notify.expect("READY=1")
            yield shipper, notify


def lives(notify):
    """Signs of life come one after the other, far more than there are steps of its work."""
    end = time.monotonic() + DEADLINE
    for number in range(SIGNS):
        notify.expect("WATCHDOG=1")
        assert time.monotonic() < end, "%d signs of life in %d s" % (number, DEADLINE)


def test_a_round_that_waits_for_the_engine_is_alive():
    with database() as server, Daemon() as daemon:
        good("init", "--target", server.target())
        daemon.send('@Marker, Message\nMarker, "a"\n')
        with server.held("LOCK TABLE nvtxt.segments IN ACCESS EXCLUSIVE MODE"), \
                watched("--target", server.target(), "--store", daemon.store) as (_, notify):
            wait_for(lambda: server.one("SELECT count(*) FROM pg_stat_activity WHERE "
                                        "wait_event_type = 'Lock'") == "1", "the round waits")
            lives(notify)


def test_a_shipper_that_connects_is_alive():
    with Daemon() as daemon, socket.create_server(("127.0.0.1", 0)) as silent, \
            watched("--target", "host=127.0.0.1 port=%d" % silent.getsockname()[1], "--store",
                    daemon.store, "--connect-timeout", "1h") as (_, notify):
        lives(notify)


def test_a_shipper_that_will_try_again_is_alive():
    with Daemon() as daemon, \
            watched("--target", "host=/nonexistent", "--store", daemon.store) as (_, notify):
        lives(notify)


run(globals())
