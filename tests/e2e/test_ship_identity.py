# SPDX-License-Identifier: Apache-2.0
"""nvtxt-ship, stores that get another identity, and the position that it writes."""
import contextlib
import os
import signal
import stat

from client import run_client
from following import arrived, change, disconnect, fleet, remove, texts, waiting
from lib import DEADLINE, equal, run, wait_for
from ship import Shipper, good, marker, run_ship, write

OTHER = "00000000-0000-4000-8000-000000000000"
SET_ID = "UPDATE META_DATA_EXPORT SET value = '%s' WHERE name = 'STORE_ID'"
NEW_ID = SET_ID % OTHER
MIDDLE_ID = SET_ID % "11111111-1111-4111-8111-111111111111"
IDENTITY = "SELECT value FROM META_DATA_EXPORT WHERE name = 'STORE_ID'"
NO_ID = "DELETE FROM META_DATA_EXPORT WHERE name = 'STORE_ID'"


def test_a_store_that_another_one_follows_is_shipped_whole():
    with fleet("--host", "h") as (server, daemon, args):
        daemon.send(marker("a"))
        with Shipper(*args) as shipper:
            arrived(server, ["a"])
            with shipper.stopped():
                daemon.send(marker("b"))
                daemon.control("rotate")
                daemon.send(marker("c"))
                daemon.stop()
                paths = daemon.segments()
                change(paths[-1], NEW_ID)
                remove(paths[0])
            arrived(server, ["a", "b", "c"])
        equal(server.rows("SELECT store_id, segment, text FROM nvtxt.events ORDER BY text"),
              [("1", "1", "a"), ("1", "1", "b"), ("2", "2", "c")])


def store_with_two_identities(daemon):
    """The last of three segments has another one, as after a time when none could be read."""
    daemon.send(marker("b"))
    daemon.control("rotate")
    daemon.send(marker("c"))
    daemon.control("rotate")
    daemon.send(marker("d"))
    daemon.stop()
    change(daemon.segments()[-1], NEW_ID)


OWNED = "SELECT store_id, segment, text FROM nvtxt.events ORDER BY 1, 2, row_id"
OF_TWO = [("1", "1", "a"), ("1", "1", "b"), ("1", "2", "c"), ("2", "3", "d")]
OF_THREE = [*OF_TWO[:2], ("2", "2", "c"), OF_TWO[3]]


def test_segments_of_an_older_identity_are_not_shipped_again():
    with fleet("--host", "h") as (server, daemon, args):
        daemon.send(marker("a"))
        with Shipper(*args) as shipper:
            arrived(server, ["a"])
            with shipper.stopped():
                store_with_two_identities(daemon)
            wait_for(lambda: server.rows(OWNED) == OF_TWO, "each row is there once")
        good("--once", *args)
        equal(server.rows(OWNED), OF_TWO)


def test_what_an_older_identity_still_has_comes_first():
    with fleet("--host", "h") as (server, daemon, args):
        daemon.send(marker("a"))
        good("--once", *args)
        store_with_two_identities(daemon)
        equal(good("--dry-run", *args), "1 events of segment 1\n1 events of segment 2\n"
              "1 events of segment 3\n")
        good("--once", *args)
        equal(good("--dry-run", *args), "0 events of segment 3\n")
        equal(server.rows(OWNED), OF_TWO)
        daemon.start()
        daemon.send(marker("e"))
        with Shipper(*args):
            wait_for(lambda: server.rows(OWNED) == [*OF_TWO, ("2", "3", "e")], "it goes on")
        equal(server.rows("SELECT store_id, segment, complete FROM nvtxt.segments ORDER BY 1, 2"),
              [("1", "1", "t"), ("1", "2", "t"), ("2", "3", "f")])
        equal(server.rows("SELECT 1 FROM nvtxt.losses"), [])


def test_a_new_identity_is_seen_after_the_older_segments_went():
    with fleet("--host", "h") as (server, daemon, args):
        daemon.send(marker("a"))
        with Shipper(*args) as shipper:
            arrived(server, ["a"])
            with shipper.stopped():
                store_with_two_identities(daemon)
                remove(*daemon.segments()[:-1])
                disconnect(server)
            wait_for(lambda: server.rows(OWNED) == [OF_TWO[0], OF_TWO[3]], "each store has its own")
        good("--once", *args)
        equal(server.rows(OWNED), [OF_TWO[0], OF_TWO[3]])


def test_an_older_identity_that_nobody_knows_is_no_matter():
    with fleet("--host", "h") as (server, daemon, args):
        daemon.send(marker("a"))
        store_with_two_identities(daemon)
        good("--once", *args)
        equal(server.rows(OWNED), [("1", *row[1:]) for row in OF_TWO])


def test_an_identity_that_changed_twice_brings_no_row_again():
    with fleet("--host", "h") as (server, daemon, args):
        daemon.send(marker("a"))
        with Shipper(*args) as shipper:
            arrived(server, ["a"])
            with shipper.stopped():
                store_with_two_identities(daemon)
                change(daemon.segments()[1], MIDDLE_ID)
            wait_for(lambda: server.rows(OWNED) == OF_THREE, "each row is there once")
        good("--once", *args)
        equal(server.rows(OWNED), OF_THREE)


def plain_store(folder, path, text):
    """A store in one file, with one event."""
    lines = write(folder, "lines.nvtxt", marker(text))
    equal(run_client("nvtxt-import", "create", "-q", "-n", lines, "-o", path)[0], 0)


def point(link, folder):
    os.symlink(folder, link + ".new")
    os.replace(link + ".new", link)


def test_a_store_that_takes_the_place_of_another_is_shipped_to_its_end():
    with fleet("--host", "h") as (server, daemon, args):
        daemon.send(marker("a"))
        good("--once", *args)
        store_with_two_identities(daemon)
        link, folder = os.path.join(daemon.folder, "link"), os.path.join(daemon.folder, "folder")
        os.mkdir(folder)
        plain_store(folder, os.path.join(folder, "store.sqlite"), "x")
        point(link, folder)
        with Shipper(*args, "--store", os.path.join(link, "store.sqlite")) as shipper:
            plain = ("2", "0", "x")
            wait_for(lambda: plain in server.rows(OWNED), "the file is shipped")
            with shipper.stopped():
                point(link, daemon.folder)
                disconnect(server)
            wait_for(lambda: server.rows(OWNED) == [*OF_TWO[:3], plain, ("3", "3", "d")],
                     "the older identity of the other store comes first")


def test_a_file_without_an_identity_is_not_shipped_as_the_one_before():
    with fleet("--host", "h") as (server, daemon, args):
        plain = os.path.join(daemon.folder, "plain.sqlite")
        plain_store(daemon.folder, plain, "b")
        change(plain, NO_ID)
        daemon.send(marker("a"))
        with Shipper(*args) as shipper:
            arrived(server, ["a"])
            daemon.stop()
            os.replace(plain, daemon.store)
            wait_for(lambda: "has no STORE_ID: start nvtxtd once; it is tried again"
                     in shipper.said(), "it says so")
            equal(texts(server), ["a"])
            change(daemon.store, "INSERT INTO META_DATA_EXPORT VALUES ('STORE_ID', '%s')" % OTHER)
            wait_for(lambda: server.rows("SELECT store_id, text FROM nvtxt.events ORDER BY 1") ==
                     [("1", "a"), ("2", "b")], "it is a store of its own")


def positions(daemon):
    """A configuration, and the file that is written with it."""
    position = os.path.join(daemon.folder, "position")
    return write(daemon.folder, "ship.conf", "[nvtxt-ship]\nPosition=%s\n" % position), position


def read(path):
    with contextlib.suppress(FileNotFoundError), open(path, encoding="utf-8") as file:
        return file.read()
    return None


def test_the_position_is_written_for_the_daemon():
    with fleet() as (server, daemon, args):
        path, position = positions(daemon)
        (identity,), = daemon.query(IDENTITY)

        with Shipper("-c", path, *args) as shipper:
            daemon.send(marker("a"))
            wait_for(lambda: read(position) == identity + " 1\n", "the position is 1")
            daemon.control("rotate")
            wait_for(lambda: read(position) == identity + " 2\n", "the position is 2")
            equal(shipper.said(), "")


def test_the_position_replaces_no_device():
    with fleet() as (_, daemon, args):
        path, position = positions(daemon)
        os.mkfifo(position)
        daemon.send(marker("a"))
        equal(run_ship("--once", "-c", path, *args),
              (0, "", "nvtxt-ship: warning: the position cannot be written to %s: Invalid argument\n"
               % position))
        equal(stat.S_ISFIFO(os.stat(position).st_mode), True)


def test_a_signal_between_two_identities_leaves_the_position_of_the_first():
    with fleet("--host", "h") as (server, daemon, args):
        path, position = positions(daemon)
        args = ("--once", "-c", path, *args)
        (identity,), = daemon.query(IDENTITY)
        daemon.send(marker("a"))
        good(*args)
        daemon.send(marker("b"))
        daemon.control("rotate")
        daemon.send(marker("c"))
        daemon.stop()
        change(daemon.segments()[-1], NEW_ID)
        for _ in range(9):  # on a machine that is too busy the round is broken off
            with contextlib.ExitStack() as lock:
                lock.enter_context(server.held("SELECT 1 FROM nvtxt.segments FOR UPDATE"))
                with Shipper(*args) as shipper:
                    wait_for(lambda: waiting(server), "its last round of the first one waits")
                    shipper.process.send_signal(signal.SIGTERM)
                    lock.close()
                    equal(shipper.process.wait(DEADLINE), 0, shipper.said())
            equal(read(position), identity + " 1\n")
            if texts(server) == ["a", "b"]:
                break
        equal(texts(server), ["a", "b"])
        good(*args)
        equal(read(position), OTHER + " 2\n")


run(globals())
