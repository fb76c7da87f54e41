# SPDX-License-Identifier: Apache-2.0
"""nvtxt-send --session: an input that is sent again is stored once, whatever became of it before."""
import contextlib
import json
import os
import signal
import sqlite3
import uuid

from client import Fake, Folder, Running, contains, run_client
from lib import Daemon, equal, run, wait_for

ID = "6f1c2a34-9d0e-4b57-8c21-3e4f5a6b7c8d"
SPACE = uuid.UUID("5b1c0f6e-8d2a-4b37-9e54-c073a1d86f12")  # in nvtxt-send(1)
HEADER = "TimeBase = Manual\n@Marker, Time, Message\n"


def marks(*numbers):
    return "".join('Marker, %d, "%d"\n' % (number, number) for number in numbers)


def send(daemon, *args, **more):
    return run_client("nvtxt-send", "--socket", daemon.socket, *args, **more)


def stored(daemon):
    return [row[0] for row in daemon.query("SELECT start FROM NVTX_EVENTS WHERE eventType = 34 ORDER BY rowid")]


def test_a_file_that_is_sent_twice_is_stored_once():
    with Daemon() as daemon, Folder() as folder:
        path = folder.write("a.nvtxt", HEADER + marks(1, 2) + "bad\n" + marks(3))
        first = send(daemon, "--session", ID, path)
        equal(first[0], 1)
        contains(first[2], "a.nvtxt:5:")
        for spelling in (ID, ID.upper(), ID.replace("-", "")):
            equal(send(daemon, "--session", spelling, path), first)
        daemon.stop()
        daemon.start()
        daemon.control("rotate")
        equal(send(daemon, "--session", ID, path), first)
        equal([row[0] for row in daemon.everywhere("SELECT start FROM NVTX_EVENTS WHERE eventType = 34")],
              [1, 2, 3])


def test_what_was_broken_off_goes_on_with_the_first_line_that_is_missing():
    with Daemon() as daemon, Folder() as folder:
        with daemon.session(ID) as session:  # one that did not come to its end
            session.send(HEADER + "x = 7\n" + marks(1) + "bad\nRangePush, 1, Manual, 4, 4, 0, 0, 'r', 0\n")
            session.ack(6)
        rest = marks(2, 3)
        path = folder.write("a.nvtxt", HEADER + "x = 7\n" + marks(1) +
                            "bad\nRangePush, 1, Manual, 4, 4, 0, 0, 'r', 0\n" + rest + 'Marker, $x, "x"')
        status, _, err = send(daemon, "--session", ID, path)
        equal(status, 1)
        equal(err.count("a.nvtxt:5:"), 1, err)
        equal(stored(daemon), [1, 2, 3, 7])
        equal(daemon.query("SELECT lines, events, ended FROM NVTXT_SOURCES WHERE sessionId = ?", ID)[0][0::2],
              (9, "end"))


def test_a_client_that_was_killed_is_run_again():
    with Daemon() as daemon, Folder() as folder:
        count = 30000
        text = HEADER + "".join('Marker, %d, "%s"\n' % (number, "x" * 60) for number in range(count))
        path = folder.write("big.nvtxt", text)
        words = ("--session-name", "job 17", path)
        with Running("nvtxt-send", "--socket", daemon.socket, *words[:2], "-") as client:
            client.say(text[:len(text) // 2])
            wait_for(lambda: daemon.control("status")["events"] > 1000, "some are read")
            client.process.kill()
            client.wait()
        for _ in range(2):
            equal(send(daemon, *words), (0, "", ""))
        equal(stored(daemon), list(range(count)))


def test_a_log_is_repeatable_too():
    with Daemon() as daemon, Folder() as folder:
        lines = ["2026-11-21T06:%02d:%02dZ line %d" % (n // 60, n % 60, n) for n in range(600)]
        path = folder.write("app.log", "\n".join(lines[:300]) + "\n")
        with Running("nvtxt-send", "--socket", daemon.socket, "--text", "--time-format", "auto",
                     "--session", ID, "-") as client:
            client.say("\n".join(lines[:300]) + "\n")
            wait_for(lambda: daemon.control("status")["events"] == 300, "they are read")
            client.process.kill()
            client.wait()
        path = folder.write("app.log", "\n".join(lines) + "\n")
        for _ in range(2):
            equal(send(daemon, "--text", "--time-format", "auto", "--session", ID, path), (0, "", ""))
        texts = daemon.query("SELECT text FROM NVTX_EVENTS WHERE eventType = 34 ORDER BY rowid")
        equal([row[0].split(" ")[-1] for row in texts], ["%d" % n for n in range(600)])


def test_an_input_that_is_not_what_its_session_had_is_refused():
    with Daemon() as daemon, Folder() as folder:
        path = folder.write("a.nvtxt", HEADER + marks(1, 2))
        equal(send(daemon, "--session", ID, path), (0, "", ""))
        folder.write("a.nvtxt", HEADER + marks(1, 2, 3, 4))
        status, _, err = send(daemon, "--session", ID, path)
        equal(status, 65)
        contains(err, "a.nvtxt has 6 lines, but its session ended with 4 lines: what it has grown by is not stored")
        folder.write("a.nvtxt", HEADER)
        status, _, err = send(daemon, "--session", ID, path)
        equal(status, 65)
        contains(err, "a.nvtxt has 2 lines, but its session ended with 4 lines: is it the same input")
        with daemon.session() as session:
            session.send(HEADER + marks(5, 6))
            session.ack(4)
        status, _, err = send(daemon, "--session", session.id, path)
        equal(status, 65)
        contains(err, "a.nvtxt has 2 lines, but its session has stored 4 lines: is it the same input")
        equal(stored(daemon), [1, 2, 5, 6])


def test_a_session_that_expired_is_a_closed_one():
    with Daemon(config="SessionExpiry=1s\n") as daemon, Folder() as folder:
        with daemon.session(ID) as session:
            session.send(HEADER + marks(1))
            session.ack(3)
        wait_for(lambda: daemon.query("SELECT ended FROM NVTXT_SOURCES WHERE sessionId = ?", ID) == [("expired",)],
                 "it expired")
        path = folder.write("a.nvtxt", HEADER + marks(1, 2))
        status, _, err = send(daemon, "--session", ID, path)
        equal(status, 76)
        contains(err, "has closed the session of %s at line 3" % path)
        equal(stored(daemon), [1])


def test_a_name_is_a_uuid_that_others_can_reckon():
    wanted = [str(uuid.uuid5(SPACE, "%d:%s" % (os.geteuid(), name)))
              for name in ["ci/1", "x" * 18, "x" * 30, "x" * 37, "x" * 38, "x" * 39, "x" * 46, "x" * 47,
                           "x" * 48, "x" * 300, "ä ö"]]
    with Daemon() as daemon:
        for name in ["ci/1", "x" * 18, "x" * 30, "x" * 37, "x" * 38, "x" * 39, "x" * 46, "x" * 47, "x" * 48,
                     "x" * 300, "ä ö"]:
            equal(send(daemon, "--session-name", name, stdin=HEADER), (0, "", ""))
        equal(daemon.query("SELECT sessionId FROM NVTXT_SOURCES WHERE kind = 'session' ORDER BY id"),
              [(session,) for session in wanted])


def test_what_does_not_go_together_is_refused():
    for words, told in ((["--session", "17", "a"], "--session takes a UUID"),
                        (["--session", ID[:-1] + "g"], "--session takes a UUID"),
                        (["--session", ID.replace("-", "_")], "--session takes a UUID"),
                        (["--session-name", ""], "--session-name takes a name"),
                        (["--session", ID, "--session-name", "x"], "one --session or --session-name"),
                        (["--session", ID, "a", "b"], "there are 2 files"),
                        (["--session", ID, "--spool", "s"], "--resume goes on with it"),
                        (["--session", ID, "--on-full=drop"], "does not go with --on-full=drop"),
                        (["--session", ID, "--resume", "s"], "no option that describes a new session")):
        status, out, err = run_client("nvtxt-send", *words)
        equal((status, out, err.count("\n")), (64, "", 1), err)
        contains(err, told)


def test_giving_up_says_how_to_go_on():
    with Fake() as fake, Folder() as folder:
        path = folder.write("it's here.nvtxt", HEADER + marks(1, 2))
        with Running("nvtxt-send", "--socket", fake.path, "--timeout", "1", path) as client:
            with fake.accept(welcome=0) as peer:
                equal(len(peer.lines(5)), 5)
                peer.ack(1)
                err = client.expect(75)
        contains(err, "lines of it may be stored already; continue with 'nvtxt-send --session %s \"%s\"'"
                 % (peer.hello["session"], path))
        with Running("nvtxt-send", "--socket", fake.path, "--session", peer.hello["session"], path) as client:
            with fake.accept(welcome=3) as peer:
                equal(peer.lines(2), ['Marker, 2, "2"', "#nvtxt-end"])
                peer.end(4, events=2)
                equal(client.expect(0), "")
        with Running("nvtxt-send", "--socket", fake.path, "--timeout", "1", "--mark", "x") as client:
            with fake.accept(welcome=0) as peer:
                err = client.expect(75)
        equal("--session" in err, False, err)
        with Running("nvtxt-send", "--socket", fake.path, "--text") as client:
            with fake.accept(welcome=0) as peer:
                client.say("one\n")
                wait_for(lambda: peer.line().startswith("Marker"), "it is sent")
                client.signal(signal.SIGTERM)
                client.signal(signal.SIGTERM)
                err = client.expect(128 + signal.SIGTERM)
        contains(err, "continue with '... | nvtxt-send --text --session %s'" % peer.hello["session"])


def test_a_break_while_known_lines_are_left_out():
    with Fake() as fake, Running("nvtxt-send", "--socket", fake.path, "--session", ID) as client:
        with fake.accept(welcome=3) as peer:
            equal((peer.hello["session"], peer.hello["acked"]), (ID, 0))
            peer.diagnostic(2)
            client.say("a\nb\n")
        with fake.accept(welcome=3) as peer:
            peer.diagnostic(2)
            client.say("c\nd\ne")
            equal(peer.line(), "d")
        with fake.accept(welcome=4) as peer:
            client.close()
            equal(peer.lines(2), ["e", "#nvtxt-end"])
            peer.end(5, errors=1)
            equal(client.expect(1).count("<stdin>:2:1: error"), 1)


STATE = "SELECT count(*), ifnull(sum(length(state)), 0) FROM NVTXT_STATE"


def assign(first, last, text):
    return "".join('v%d = "%s %d"\n' % (number, text, number) for number in range(first, last))


def values(session, line, names):
    """Lines of markers with the values of variables; `line`: the last one before."""
    session.send("".join("Marker, %d, $%s\n" % (number, name) for number, name in enumerate(names)))
    session.ack(line + len(names))


def test_only_what_changed_of_a_state_is_saved():
    with Daemon() as daemon:
        with daemon.session(ID) as session:
            session.send(HEADER + assign(0, 1000, "x" * 100) + "SetCategoryName, 4, 'waits'\n")
            session.ack(1003)
            (parts, size), = daemon.query(STATE)
            assert size > 100000, size
            for line in range(1004, 1024):
                session.send("# nothing\n" if line % 2 else "v5 = $v5\nMarker, 1, $v5\n")
                session.ack(line + (line - 1002) // 2)
            (after, longer), = daemon.query(STATE)
            assert after <= parts + 1 and longer <= size + 20, (parts, size, after, longer)  # the name waits no more
            head, = daemon.query("SELECT state FROM NVTXT_SESSIONS")
            assert len(head[0]) < 1000, head
            session.send("v7 = 'new'\nv8 = 1\nSetFileDisplayName, 'shown'\n@Marker, Message, Time\n@Marker, Time, Message\n")
            session.ack(1038)
            (last, longest), = daemon.query(STATE)
            assert (last, longest < longer + 200) == (after + 1, True), (last, longest, longer)
        daemon.kill()
        daemon.start()
        with daemon.session(ID) as session:
            values(session, 1038, ["v7", "v8", "v9"])
            session.end()
        equal(daemon.query("SELECT text, domainId FROM NVTX_EVENTS WHERE eventType = 34 ORDER BY rowid DESC LIMIT 3"),
              [("x" * 100 + " 9", 1), ("1", 1), ("new", 1)])
        equal(daemon.query(STATE), [(0, 0)])


def test_changes_of_a_state_are_folded_and_go_over_rotations():
    with Daemon() as daemon:
        with daemon.session(ID) as session:
            session.send(HEADER)
            line, most, folds = 2, 0, 0
            for turn in range(60):
                session.send(assign(0, 20, "%d %s" % (turn, "y" * 100)) + "Marker, 1, 'one'\n")
                line += 21
                session.ack(line)
                (parts, size), = daemon.query(STATE)
                folds += parts == 1
                most = max(most, size)
                if turn % 20 == 19:
                    daemon.control("rotate")
            equal(len(daemon.segments()), 4)
            assert folds > 3 and most < 30000, (folds, most)  # a whole one has 3 KB
        daemon.stop()
        daemon.start()
        with daemon.session(ID) as session:
            values(session, line, ["v0", "v19"])
        equal(daemon.query("SELECT text FROM NVTX_EVENTS WHERE eventType = 34 AND text <> 'one' ORDER BY rowid"),
              [("59 %s %d" % ("y" * 100, number),) for number in (0, 19)])


def change_store(daemon, change):
    """Stops the daemon and lets `change` work on its store."""
    daemon.stop()
    with contextlib.closing(sqlite3.connect(daemon.store)) as store, store:
        change(store)
    daemon.start()


def into_one(store):
    """The state as a daemon of the schema's version 5 wrote it."""
    head, = store.execute("SELECT state FROM NVTXT_SESSIONS").fetchone()
    part, = store.execute("SELECT state FROM NVTXT_STATE").fetchone()
    state = {**json.loads(head), **json.loads(part), "version": 1, "ranges": []}
    del state["parts"]
    store.execute("UPDATE NVTXT_SESSIONS SET state = ?, uid = NULL", (json.dumps(state),))
    store.execute("DELETE FROM NVTXT_STATE")


def test_a_state_of_an_older_version_goes_on():
    with Daemon() as daemon:
        with daemon.session(ID) as session:
            session.send(HEADER + "Mine = 'kept'\nSetFileDisplayName, 'shown'\n")
            session.ack(4)
        change_store(daemon, into_one)
        with daemon.session(ID) as session:
            values(session, 4, ["Mine"])
            equal(daemon.query("SELECT count(*), max(uid) FROM NVTXT_SESSIONS"), [(1, os.getuid())])
            equal(daemon.query("SELECT part FROM NVTXT_STATE"), [(1,)])
        daemon.kill()
        daemon.start()
        with daemon.session(ID) as session:
            values(session, 5, ["Mine"])
            session.end()
        equal(daemon.query("SELECT text, domainId FROM NVTX_EVENTS WHERE eventType = 34"), [("kept", 1)] * 2)


def test_a_state_that_lacks_a_part_is_given_up():
    with Daemon() as daemon:
        with daemon.session(ID) as session:
            session.send(HEADER + "Mine = 1\n")
            session.ack(3)
            session.send("Mine = 2\n")
            session.ack(4)
        change_store(daemon, lambda store: store.execute("DELETE FROM NVTXT_STATE WHERE part = 2"))
        with daemon.session(ID) as session:
            equal(session.welcome["line"], 4)
            equal(session.reply()["how"], "lost")
        equal(daemon.query(STATE), [(0, 0)])


run(globals())
