# SPDX-License-Identifier: Apache-2.0
"""A target with several hosts: what one of them cannot do, the next one does at once."""
import contextlib
import json
import uuid

from following import arrived
from lib import Daemon, equal, run
from postgres import database, held_port
from proxy import Proxy
from ship import Shipper, good, marker, refused, run_ship


# From the first one on that a shipper sends to the one that makes a store its own.
STATEMENTS = (b".meta", b".stores AS s", b".register_store(", b".cursors SET shipper",
              b".describe_store(")


def target(server, *ports):
    """Without TLS, which Citus switches on: a proxy has to read what is said."""
    return server.target(host=",".join(["127.0.0.1"] * len(ports)), port=",".join(map(str, ports)),
                         sslmode="disable")


HELD = []  # sockets


def nobody():
    """A port at which nobody listens, up to the end of the test."""
    holder, port = held_port()
    HELD.append(holder)
    return port


@contextlib.contextmanager
def entrances():
    """A server, a daemon with a row, and something before the server that may fail."""
    with database(tcp=True) as server, Daemon() as daemon:
        good("init", "--target", server.target())
        daemon.send(marker("a"))
        proxy = Proxy(server.port)
        yield server, daemon, proxy
        proxy.close()


def each_is_there_once(server, stores):
    equal(server.rows("SELECT count(*), count(DISTINCT store_id) FROM nvtxt.events"),
          [(str(stores), str(stores))])


def test_one_that_is_away_is_passed_over():
    with entrances() as (server, daemon, proxy):
        stores = [str(uuid.uuid4()) for _ in range(6)]  # an identity decides the order
        proxy.refuses = True
        for number, store in enumerate(stores):
            ports = [nobody(), proxy.own_port, server.port]
            args = ("--target", target(server, *ports[number % 3:], *ports[:number % 3]), "--store",
                    daemon.store, "--store-id", store)
            good("--once", *args)
            status, out, said = run_ship("status", "--json", *args)
            equal((status, said, json.loads(out)["node"]), (0, "", "127.0.0.1:%d" % server.port))
        equal(proxy.refused > 0, True)
        each_is_there_once(server, len(stores))
        refused(69, "", "--once", "--target", target(server, nobody(), nobody()), "--store",
                daemon.store)


def test_one_that_fails_while_a_store_is_registered_is_passed_over():
    with entrances() as (server, daemon, proxy):
        for number, word in enumerate(STATEMENTS):
            proxy.word, proxy.said, stores = word, 0, 0
            while proxy.said == 0:  # an identity decides the order
                stores += 1
                equal(stores < 30, True, "no shipper says %r" % word)
                good("--once", "--target", target(server, proxy.own_port, server.port), "--store",
                     daemon.store, "--store-id", "%08d-0000-4000-8000-%012d" % (number, stores))
        equal(server.one("SELECT count(*) - count(DISTINCT store_id) FROM nvtxt.events"), "0")
        equal(server.one("SELECT (SELECT count(*) FROM nvtxt.events) - (SELECT count(*) FROM "
                         "nvtxt.stores)"), "0")


def test_one_that_says_nothing_is_passed_over():
    with entrances() as (server, daemon, proxy):
        args = ("--target", target(server, proxy.own_port, server.port), "--store", daemon.store)
        proxy.silent = True
        for _ in range(6):  # in half of them it comes first; the other one may be busy for seconds
            good("--once", "--connect-timeout", "5s", *args, "--store-id", str(uuid.uuid4()))
        proxy.silent = False
        each_is_there_once(server, 6)


def test_a_shipper_goes_on_through_the_other_one():
    with entrances() as (server, daemon, proxy):
        args = ("--target", target(server, proxy.own_port, server.port), "--store", daemon.store,
                "--interval", "50ms")
        with Shipper(*args):
            arrived(server, ["a"])
            proxy.refuses = True
            server.rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name "
                        "= 'nvtxt-ship'")
            daemon.send(marker("b"))
            arrived(server, ["a", "b"])
            proxy.refuses = False


def test_a_simulation_goes_through_all_of_them():
    with entrances() as (server, _, proxy):
        found = json.loads(good(
            "simulate", "--target", target(server, proxy.own_port, server.port), "--hosts", "20",
            "--rate", "10", "--for", "1s", "--interval", "100ms", "--connections", "4", "--json"))
        equal((found["missing_rows"], found["doubled_rows"], found["failures"]), (0, 0, 0))
        found = run_ship("simulate", "--target", target(server, nobody(), server.port), "--hosts", "20",
                         "--rate", "10", "--for", "1s", "--interval", "100ms", "--connections", "4",
                         "--json")
        equal((found[0], json.loads(found[1])["missing_rows"]), (0, 0), found)


run(globals())
