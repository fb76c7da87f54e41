# SPDX-License-Identifier: Apache-2.0
"""A daemon, a database and what the tests of a shipper between them ask and do."""
import contextlib
import os
import sqlite3

from lib import Daemon, wait_for
from postgres import database
from proxy import Proxy
from ship import good


def texts(server):
    return [row[0] for row in server.rows("SELECT text FROM nvtxt.events ORDER BY segment, row_id")]


def arrived(server, wanted):
    wait_for(lambda: texts(server) == wanted, "the rows are there: %r" % wanted)


def remove(*segments):
    """Removes segments, as retention does."""
    for path in segments:
        for end in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.remove(path + end)


def change(path, sql):
    """Runs SQL in a store that nobody has open."""
    store = sqlite3.connect(path)
    store.execute(sql)
    store.commit()
    store.close()


OF_SHIPPER = ("FROM pg_stat_activity WHERE application_name = 'nvtxt-ship' AND datname = "
              "current_database()")


def connected(server):
    return server.rows("SELECT 1 " + OF_SHIPPER)


def waiting(server):
    """Whether a shipper waits for a lock."""
    return server.rows("SELECT 1 %s AND wait_event_type = 'Lock'" % OF_SHIPPER)


def disconnect(server):
    server.rows("SELECT pg_terminate_backend(pid) " + OF_SHIPPER)


@contextlib.contextmanager
def fleet(*options, tcp=False):
    """A server with the schema, a daemon, and the arguments that bring its store there."""
    with database(tcp) as server, Daemon() as daemon:
        good("init", "--target", server.target())
        yield server, daemon, ("--target", server.target(), "--store", daemon.store,
                               "--interval", "50ms", *options)


@contextlib.contextmanager
def proxied(server, args):
    """A proxy before a server that listens on TCP, and the arguments that lead through it. It reads
    what it passes; Citus turns TLS on."""
    with contextlib.closing(Proxy(server.port)) as proxy:
        target = server.target(host="127.0.0.1", port=proxy.own_port, sslmode="disable")
        yield proxy, ("--target", target, *args[2:])
