# SPDX-License-Identifier: Apache-2.0
"""Exactly once: shipper and server are killed again and again while the daemon writes and rotates,
and answers to COMMIT are lost. With NVTXT_TEST_LONG=1 as often as the promise says."""
import contextlib
import os
import random
import threading
import time

from following import disconnect
from lib import Daemon, equal, run, wait_for
from postgres import Postgres
from proxy import Proxy
from ship import HEAD, Shipper, compare_store, good

LONG = os.environ.get("NVTXT_TEST_LONG")
SECONDS = 16 if LONG else 5
LINES = 120000 if LONG else 20000
KILLS = 30 if LONG else 4


def send(daemon, first, count):
    with daemon.plain() as connection:
        connection.send(HEAD + "".join('Marker, %d, 7, 8, "m"\n' % number
                                       for number in range(first, first + count)))


def all_are_there_once(server, daemon, sent):
    daemon.settled()
    wait_for(lambda: server.one("SELECT count(*) FROM nvtxt.events") == str(sent),
             "all %d events are there" % sent)
    equal(server.rows("SELECT count(*), count(DISTINCT start_ns), min(start_ns), max(start_ns) FROM "
                      "nvtxt.events"), [(str(sent), str(sent), "0", str(sent - 1))])
    equal(server.one("SELECT count(*) FROM nvtxt.losses"), "0")


def test_each_event_is_there_once_after_kills_of_both_sides():
    with Postgres() as server, Daemon() as daemon:
        good("init", "--target", server.target())
        args = ("--target", server.target(), "--store", daemon.store, "--interval", "50ms")
        step = LINES // (SECONDS * 10)
        sent = 0
        with Shipper(*args) as shipper:
            began = time.monotonic()
            for tick in range(SECONDS * 10):
                send(daemon, sent, step)
                sent += step
                if tick % 10 == 9:
                    shipper.kill()
                    shipper.start()
                if tick % (SECONDS * 10 // 3) == 7:
                    server.stop()
                    server.start()
                if tick % 13 == 5:
                    disconnect(server)
                if tick % (SECONDS * 10 // 4) == 3:
                    daemon.control("rotate")
                left = began + (tick + 1) * 0.1 - time.monotonic()
                if left > 0:
                    time.sleep(left)
            all_are_there_once(server, daemon, sent)
            equal(shipper.stop(), 0, shipper.said())
        good("--once", *args)
        compare_store(server, daemon.segments())


class Load(threading.Thread):
    """Sends all the time; a context manager. `sent` counts the events."""

    def __init__(self, daemon):
        super().__init__(daemon=True)
        self.target, self.sent, self.ends = daemon, 0, threading.Event()

    def run(self):
        while not self.ends.wait(0.02):
            send(self.target, self.sent, 100)
            self.sent += 100

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, value, trace):
        self.ends.set()
        self.join()


def test_kills_while_answers_are_lost_double_and_lose_nothing():
    dice = random.Random(KILLS)
    with Postgres(tcp=True) as server, Daemon() as daemon, \
            contextlib.closing(Proxy(server.port)) as proxy:
        good("init", "--target", server.target())
        args = ("--store", daemon.store, "--interval", "50ms", "--target")
        between = server.target(host="127.0.0.1", port=proxy.own_port)
        with Load(daemon) as load, Shipper(*args, between) as shipper:
            wait_for(lambda: server.one("SELECT count(*) FROM nvtxt.events") != "0", "it ships")
            for number in range(KILLS):
                lost, proxy.lose = proxy.lost, True
                if number % 3 != 2:  # while an answer is lost, else at any moment
                    wait_for(lambda before=lost: proxy.lost > before, "an answer was lost")
                time.sleep(dice.random() / 4)
                if number % 3 != 0:
                    shipper.kill()
                    shipper.start()
                if number % 3 != 1:
                    server.kill()
                    server.start()
                if number % 4 == 3:
                    daemon.control("rotate")
            load.ends.set()
            load.join()
            all_are_there_once(server, daemon, load.sent)
            equal(proxy.lost >= KILLS // 2, True, proxy.lost)
            equal(shipper.stop(), 0, shipper.said())
        good("--once", *args, server.target())
        compare_store(server, daemon.segments())


run(globals())
