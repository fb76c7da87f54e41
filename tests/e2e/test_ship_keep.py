# SPDX-License-Identifier: Apache-2.0
"""Retention beside a shipper: segments wait for it up to a size, and a follower loses nothing."""
import contextlib
import os

from following import fleet
from lib import Daemon, equal, run, wait_for
from postgres import database
from ship import HEAD, Shipper, compare_store, good, write

KEEP = "[nvtxtd]\nKeepFiles=1\nKeepFree=0\nShippedFile=%s\nKeepUnshipped=%s\n"


@contextlib.contextmanager
def kept(limit):
    """A daemon that keeps one segment, and up to `limit` that wait for a shipper: the file that says
    how far the shipper is, and the shipper's arguments."""
    with database() as server, Daemon(config="", start=False) as daemon:
        place = os.path.join(daemon.folder, "position")
        write(daemon.folder, "nvtxtd.conf", KEEP % (place, limit))
        daemon.start()
        conf = write(daemon.folder, "ship.conf", "[nvtxt-ship]\nPosition=%s\nInterval=50ms\n" % place)
        args = ("-c", conf, "--target", server.target(), "--store", daemon.store, "--host", "h")
        good("init", *args)
        yield server, daemon, place, args


def send(daemon, number):
    daemon.send(HEAD + "".join('Marker, %d, 7, 8, "%d"\n' % (number * 100 + n, number * 100 + n)
                               for n in range(100)))


def shipped(server, count):
    wait_for(lambda: server.one("SELECT count(DISTINCT text) FROM nvtxt.events") == str(count),
             "%d events" % count)
    equal(server.one("SELECT count(*) FROM nvtxt.events"), str(count))


def test_segments_wait_for_a_shipper_that_is_away():
    with kept("64M") as (server, daemon, place, args):
        with Shipper(*args):
            send(daemon, 0)
            shipped(server, 100)
            wait_for(lambda: os.path.exists(place), "the shipper says how far it is")
        for number in range(1, 6):
            daemon.control("rotate")
            send(daemon, number)
        equal(len(daemon.segments()), 6, "none that was not shipped went")
        daemon.settled()
        paths = daemon.segments()
        with Shipper(*args):
            shipped(server, 600)
            wait_for(lambda: open(place, encoding="utf-8").read().endswith(" 6\n"), "all but the last")
        compare_store(server, paths)
        equal(server.rows("SELECT * FROM nvtxt.losses"), [])
        daemon.control("rotate")
        wait_for(lambda: len(daemon.segments()) == 2, "what was shipped may go")


def test_a_full_store_waits_no_longer_and_the_loss_is_counted():
    with kept("1K") as (server, daemon, _, args):
        with Shipper(*args):
            send(daemon, 0)
            shipped(server, 100)
        for number in range(1, 4):
            daemon.control("rotate")
            send(daemon, number)
        wait_for(lambda: len(daemon.segments()) == 1, "all but one went")
        with Shipper(*args):
            shipped(server, 200)
        equal(server.rows("SELECT segment, reason, count FROM nvtxt.losses"), [("1", "retention", "200")])


def test_a_follower_through_ten_rotations_loses_nothing():
    with fleet("--host", "h") as (server, daemon, args):
        with Shipper(*args):
            for number in range(10):
                send(daemon, number)
                daemon.control("rotate")
            send(daemon, 10)
            shipped(server, 1100)
        equal(server.rows("SELECT * FROM nvtxt.losses"), [])
        equal(server.one("SELECT count(*) FROM nvtxt.segments WHERE complete"), "10")


def test_a_store_that_was_put_aside_does_not_stop_its_shipper():
    with fleet("--host", "h") as (server, daemon, args):
        with Shipper(*args) as shipper:
            send(daemon, 0)
            daemon.control("rotate")
            send(daemon, 1)
            shipped(server, 200)
            daemon.kill()
            with open(os.path.realpath(daemon.store), "r+b") as file:
                file.write(b"\xa5" * 4096)
            os.remove(os.path.realpath(daemon.store) + "-wal")
            daemon.start()
            send(daemon, 2)
            shipped(server, 300)
            equal(shipper.said(), "")
        equal(server.rows("SELECT segment, reason FROM nvtxt.losses"), [("3", "store-broken")])
        equal(server.one("SELECT count(*) FROM nvtxt.stores"), "1")


def test_a_store_that_was_removed_is_followed_by_a_new_one():
    with fleet("--host", "h") as (server, daemon, args):
        with Shipper(*args):
            send(daemon, 0)
            shipped(server, 100)
            daemon.stop()
            for name in os.listdir(daemon.folder):
                if name.startswith("store"):
                    os.remove(os.path.join(daemon.folder, name))
            daemon.start()
            send(daemon, 1)
            shipped(server, 200)
        equal(server.rows("SELECT host, segment FROM nvtxt.stores JOIN nvtxt.cursors USING (store_id)"),
              [("h", "1"), ("h", "1")])


run(globals())
