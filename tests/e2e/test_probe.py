# SPDX-License-Identifier: Apache-2.0
"""A hello that asks who is there: its answer, and that nothing is left of it."""
import os
import uuid

import lib
from lib import Connection, Daemon, equal, run


def probe(path, **hello):
    """The replies to a probe, up to the end of the stream; [] if that came before all was sent."""
    with Connection(path) as connection:
        try:
            connection.send("#nvtxt-session " + lib.json.dumps({"protocol": 1, "probe": 1, **hello}) + "\n")
            return connection.replies()
        except (BrokenPipeError, ConnectionResetError):
            return []  # refused before


def test_it_is_answered_by_a_welcome_and_the_end():
    with Daemon() as daemon:
        version = daemon.control("status")["version"]
        for hello in ({}, {"session": str(uuid.uuid4())}, {"nvtx": 1, "levels": True, "name": "n"}):
            welcome, end = probe(daemon.socket, **hello)
            equal((welcome["type"], welcome["protocol"], welcome["version"]), ("welcome", 1, version))
            equal((welcome["control"], welcome["store"]), (daemon.control_socket, daemon.store))
            equal((welcome["session"], welcome["source"], welcome["line"]), (hello.get("session", ""), 0, 0))
            has = {key: welcome.get(key) for key in ("nvtx", "levels", "escapes")}
            equal(has, {"nvtx": 1, "levels": True, "escapes": True} if "nvtx" in hello else
                  {"nvtx": None, "levels": None, "escapes": None})
            equal(end, {"type": "end", "line": 0, "events": 0, "warnings": 0, "errors": 0})
        for wrong in ({"probe": 0}, {"probe": "x"}, {"session": "x"}, {"protocol": 9}):
            equal([reply["type"] for reply in probe(daemon.socket, **wrong)], ["error"])


def test_nothing_is_left_of_it():
    with Daemon() as daemon:
        lib.wait_for(lambda: daemon.control("status")["connections"] == 0, "the probe of the start is gone")
        before = daemon.control("status")
        name = str(uuid.uuid4())
        for _ in range(3):
            equal(probe(daemon.socket, session=name)[0]["line"], 0)
        after = daemon.control("status")
        for key in before:
            if "session" in key or "source" in key or key in ("events", "lines"):
                equal(after[key], before[key], key)
        equal(daemon.query("SELECT count(*) FROM NVTXT_SOURCES"), [(0,)])
        # The id is free, and a session that is connected does not mind.
        with daemon.session(name) as session:
            equal((session.welcome["type"], session.welcome["line"]), ("welcome", 0))
            equal(probe(daemon.socket, session=name)[0]["line"], 0)
            session.send("# a comment\n")
            session.ack(1)
            equal(session.end()["line"], 1)
        equal(probe(daemon.socket, session=name)[0]["line"], 0)
        equal(daemon.query("SELECT count(*) FROM NVTXT_SOURCES"), [(1,)])


def test_quotas_of_connections_hold():
    with Daemon(config="MaxConnectionsPerUser=1\n") as daemon:
        lib.wait_for(lambda: [reply["type"] for reply in probe(daemon.socket)] == ["welcome", "end"],
                     "no other connection is left")
        lib.wait_for(lambda: daemon.control("status")["connections"] == 0, "nor this one")
        with daemon.session():
            with Connection(daemon.socket) as another:
                try:
                    another.send('#nvtxt-session {"protocol":1,"probe":1}\n')
                except (BrokenPipeError, ConnectionResetError):
                    pass  # it was refused before that
                equal(another.expect("error")["code"], "quota")


def test_a_session_learns_what_it_has_and_where():
    with Daemon() as daemon:
        asked = {"levels": True, "escapes": True}
        for hello, has in (({}, {}), (asked, asked), ({"nvtx": 1}, {"nvtx": 1, "escapes": True})):
            with daemon.session(**hello) as session:
                session.send("# a comment\n")
                session.ack(1)
            # When it is resumed the daemon says what it has, not what is asked for.
            with daemon.session(session.id, levels=True) as resumed:
                welcome = resumed.welcome
                equal({key: welcome[key] for key in ("nvtx", "levels", "escapes") if key in welcome}, has)
                equal((welcome["control"], welcome["store"]), (daemon.control_socket, daemon.store))
                resumed.end()


def test_paths_are_those_of_everybody():
    with Daemon(start=False) as daemon:
        daemon.command = lambda: [os.path.abspath(daemon.program), "--socket", "data.sock", "--control-socket",
                                  "ctl.sock", "--store", "store.sqlite"]
        before = os.getcwd()
        os.chdir(daemon.folder)
        try:
            daemon.start()
        finally:
            os.chdir(before)
        welcome = probe(daemon.socket)[0]
        equal((welcome["control"], welcome["store"]), (daemon.control_socket, daemon.store))
        equal(daemon.control("status")["store"], daemon.store)


run(globals())
