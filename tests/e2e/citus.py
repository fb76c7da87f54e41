# SPDX-License-Identifier: Apache-2.0
"""A distributed database of the test's own: a coordinator and two workers, each a server in a folder
of its own, which find each other by their Unix sockets. Without Citus in the server's folder of
extensions the tests skip."""
import atexit
import contextlib
import copy
import itertools
import os
import subprocess

from lib import Skip
from postgres import Postgres, bin_folder, cluster_folders, is_fleet

# Few shards: each is a table on a worker, and each day's partition has as many.
SHARDS = 4
SETTINGS = ("shared_preload_libraries = 'citus'", "wal_level = logical", "max_connections = 300",
            "max_prepared_transactions = 300", "max_worker_processes = 32", "citus.shard_count = %d" % SHARDS,
            "citus.recover_2pc_interval = '1s'")


def need_citus():
    """Skips where the extension is not installed."""
    folder = subprocess.run([os.path.join(bin_folder(), "pg_config"), "--sharedir"], text=True,
                            stdout=subprocess.PIPE, check=True).stdout.strip()
    if not os.path.exists(os.path.join(folder, "extension", "citus.control")):
        raise Skip("Citus is not installed for this PostgreSQL server")


class Cluster:
    """Three servers; a context manager. The first is the coordinator."""

    def __init__(self, settings=(), tcp=False):
        need_citus()
        self.nodes = [Postgres(settings=(*SETTINGS, *settings), tcp=tcp and not number)
                      for number in range(3)]

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            for node in self.nodes:
                node.settings.append("citus.local_hostname = '%s'" % node.folder)
                stack.enter_context(node)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, kind, value, trace):
        self.stack.close()

    def make(self, name):
        """A database on all nodes; returns the nodes as servers of it."""
        found = []
        for node in self.nodes:
            node.rows("CREATE DATABASE %s TEMPLATE template0" % name, database="postgres")
            server = copy.copy(node)
            server.database = name
            server.rows("CREATE EXTENSION citus")
            found.append(server)
        first, *workers = found
        first.rows("SELECT citus_set_coordinator_host('%s', %d)" % (first.folder, first.port))
        for worker in workers:
            first.rows("SELECT citus_add_node('%s', %d)" % (worker.folder, worker.port))
        return found

    def drop(self, servers):
        for server in servers:
            server.forget()
        for server in servers:
            with contextlib.suppress(AssertionError):
                server.rows("DROP DATABASE %s WITH (FORCE)" % server.database, database="postgres")


shared = {}
numbers = itertools.count(1)


def end_shared():
    for cluster in shared.values():
        cluster.__exit__(None, None, None)


@contextlib.contextmanager
def distributed_database(tcp=False):
    """A database of its own on a cluster that all cases of a file share; the coordinator, which has
    all nodes. Roles are the servers', as with one server."""
    if not shared:
        need_citus()
        atexit.register(end_shared)
    if tcp not in shared:
        # The usual tests have triggers of their own.
        shared[tcp] = Cluster(("citus.enable_unsafe_triggers = on",) if is_fleet() else (), tcp).__enter__()
    if is_fleet():
        cluster_folders.update(node.folder for node in shared[tcp].nodes)
    nodes = shared[tcp].make("case%d" % next(numbers))
    server = nodes[0]
    server.nodes = nodes
    try:
        yield server
    finally:
        shared[tcp].drop(nodes)
