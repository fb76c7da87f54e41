# SPDX-License-Identifier: Apache-2.0
"""The extension nvtx of a session: asked for, answered, kept; and sessions with an expiry."""
import sqlite3

from client import Folder, contains, run_client
from lib import Daemon, equal, rows, run, wait_for

ID = "3f0d8c52-6a44-4f0f-9c1e-5d2f0b7a9e31"
OTHER = "a1b2c3d4-0000-4000-8000-00000000000f"
HELLO = '#nvtxt-session {"protocol":1,"nvtx":1}\n'
STACKS = ("@RangePush, Time, Message, Domain\n@RangePop, Time, Domain\n"
          'RangePush, 1, "in \\"A\\"", A\nRangePush, 2, "in B", B\n')
RANGES = "SELECT text, start, end FROM NVTX_EVENTS WHERE eventType = 59 ORDER BY rowid"


# ---- The hello ------------------------------------------------------------------------------------

def test_only_who_asks_gets_the_extension():
    with Daemon() as daemon:
        for asked in (1, 2, 2 ** 62):
            with daemon.session(nvtx=asked) as session:
                equal(session.welcome["nvtx"], 1)
                session.send(STACKS + "SetCounter, c\n#nvtxt-end\n")
                equal([reply["code"] for reply in session.replies() if reply["type"] == "diagnostic"],
                      ["never-closed", "never-closed"])
        with daemon.session(escapes=True) as session:
            assert "nvtx" not in session.welcome, session.welcome
            session.send(STACKS + "SetCounter, c\nMarker, 1, Manual, 1, 1, 0, 0, '', 'u32:1'\n")
            equal([(one["line"], one["code"]) for one in session.ack(6)],
                  [(1, "unknown-argument"), (2, "unknown-argument"), (3, "wrong-value-count"),
                   (4, "wrong-value-count"), (5, "unknown-command"), (6, "bad-payload")])


def test_a_hello_that_asks_wrongly_is_refused():
    with Daemon() as daemon:
        for member in ({"nvtx": 0}, {"nvtx": -1}, {"nvtx": "1"}, {"nvtx": 1.5}, {"nvtx": True},
                       {"expiry": 0}, {"expiry": -1}, {"expiry": "60"}, {"expiry": 1.5}):
            with daemon.session(**member) as session:
                equal(session.welcome["code"], "bad-hello", member)
                contains(session.welcome["message"], "'%s' of the hello must be an integer of 1 or more"
                         % list(member)[0])


def test_the_extension_is_kept_with_the_session():
    with Daemon() as daemon:
        with daemon.session(ID, nvtx=1) as session:
            session.send(STACKS)
            session.ack(4)
        daemon.kill()
        daemon.start()
        with daemon.session(ID) as session:  # what its first hello said holds
            equal((session.welcome["line"], session.welcome["nvtx"]), (4, 1))
            session.send("RangePop, 3, A\n")
            equal(session.ack(5), [])
        daemon.control("rotate")
        with daemon.session(ID, nvtx=1) as session:
            session.send("RangePop, 4, A\nRangePop, 5, B\n#nvtxt-end\n")
            equal([one["code"] for one in session.ack(7)], ["pop-without-push"])
        with daemon.session(ID, nvtx=1) as session:  # the end again
            equal((session.welcome["nvtx"], session.reply()["type"]), (1, "end"))
        equal(daemon.everywhere(RANGES), [('in "A"', 1, 3), ("in B", 2, 5)])
        equal(daemon.everywhere("SELECT nvtx FROM NVTXT_SOURCES"), [(1,), (1,)])
        with daemon.session(OTHER) as session:
            session.send("Marker, 1, Manual, 1, 1, 0, 0, '', 0\n")
            session.ack(1)
        with daemon.session(OTHER, nvtx=1) as session:  # too late to ask
            assert "nvtx" not in session.welcome, session.welcome


# ---- The store --------------------------------------------------------------------------------------

COLUMNS = "uint64Value, int64Value, doubleValue, uint32Value, int32Value, floatValue, jsonText"
OPENS = ("@RangePush, Time, Message, Payload, Json, Domain\n@RangePop, Time, Json, Domain\n"
         "@SetCounter, Name, Json, Domain\n@SetResourceName, Kind, Handle, Name, Domain, ProcessId\n"
         'RangePush, 1, "a", "u64:18446744073709551615", \'{"x":1}\', D\n'
         'RangePush, 2, "b", "f32:0.5", "", D\nRangePush, 3, "c", 7, "[3]", ""\n')
NAMED = "SELECT globalPid >> 24, domainId, kind, handle, name FROM NVTXT_RESOURCES ORDER BY rowid"
COUNTED = "SELECT globalPid >> 24, domainId, name, description, unit, json FROM NVTXT_COUNTERS ORDER BY rowid"


def test_payloads_and_json_of_open_ranges_outlive_daemon_and_segment():
    with Daemon() as daemon:
        with daemon.session(ID, nvtx=1) as session:
            session.send(OPENS)
            session.ack(7)
            equal(daemon.query("SELECT %s FROM NVTXT_OPEN_RANGES ORDER BY seq" % COLUMNS),
                  [(-1, None, None, None, None, None, '{"x":1}'),
                   (None, None, None, None, None, 0.5, None), (None, 7, None, None, None, None, "[3]")])
        daemon.kill()
        daemon.start()
        daemon.control("rotate")
        with daemon.session(ID) as session:
            session.send("RangePop, 4, '5', D\nRangePop, 5, '', D\n#nvtxt-end\n")
            equal([reply["code"] for reply in session.replies() if reply["type"] == "diagnostic"],
                  ["never-closed"])
        equal(daemon.query("SELECT text, %s FROM NVTX_EVENTS WHERE eventType = 59 ORDER BY rowid" % COLUMNS),
              [("b", None, None, None, None, None, 0.5, '{"begin":null,"end":5}'),
               ("a", -1, None, None, None, None, None, '{"x":1}'),
               ("c", None, 7, None, None, None, None, "[3]")])
        equal(daemon.query("SELECT message, payload FROM NVTXT_TIMELINE ORDER BY start"),
              [("a", "18446744073709551615"), ("b", 0.5), ("c", 7)])


def test_a_range_of_a_killed_daemon_keeps_payload_and_json():
    with Daemon() as daemon:
        with daemon.session(ID, nvtx=1) as session:
            session.send(OPENS)
            session.ack(7)
        daemon.stop()
        store = sqlite3.connect(daemon.store)
        store.execute("DELETE FROM NVTXT_SESSIONS")  # nobody can go on with it
        store.commit()
        store.close()
        daemon.start()
        wait_for(lambda: daemon.query("SELECT ended FROM NVTXT_SOURCES") == [("lost",)], "it is lost")
        equal(daemon.query("SELECT text, %s FROM NVTX_EVENTS WHERE eventType = 59 ORDER BY rowid" % COLUMNS),
              [("a", -1, None, None, None, None, None, '{"x":1}'),
               ("b", None, None, None, None, None, 0.5, None),
               ("c", None, 7, None, None, None, None, "[3]")])


def test_resources_and_counters_go_on_in_the_next_segments():
    with Daemon() as daemon:
        with daemon.session(ID, nvtx=1) as session:
            session.send(OPENS + '@Marker, Time, Message\nSetResourceName, cuStream, '
                         '"0xffffffffffffffff", last, D, 7\n'
                         "SetResourceName, cuStream, 1, one, '', 8\n"
                         'ProcessId = 9\nSetCounter, loss, \'{"unit":"1","description":"of it"}\', D\n')
            session.ack(12)
            resources = [(7, 1, "cuStream", -1, "last"), (8, 0, "cuStream", 1, "one")]
            counters = [(9, 1, "loss", "of it", "1", '{"unit":"1","description":"of it"}')]
            for line in range(13, 16):
                equal((daemon.query(NAMED), daemon.query(COUNTED)), (resources, counters))
                equal(daemon.query("SELECT pid FROM PROCESSES WHERE pid > 0 AND pid < 10 ORDER BY pid"),
                      [(7,), (8,), (9,)])
                session.send("Marker, 9, m\n")
                session.ack(line)
                daemon.control("rotate")
            session.send("SetResourceName, cuStream, 1, again, '', 8\nSetCounter, loss, '', D\n")
            session.ack(17)
            equal(daemon.query(NAMED), [resources[0], (8, 0, "cuStream", 1, "again")])
            equal(daemon.query(COUNTED), [(9, 1, "loss", None, None, None)])
            session.end()


# ---- Files ----------------------------------------------------------------------------------------

def test_a_file_with_a_hello_is_checked_and_imported_with_it():
    with Folder() as folder:
        good = folder.write("good.nvtxt", HELLO + STACKS + "RangePop, 3, A\nRangePop, 4, B\n")
        for arguments in ((), ("--mode", "lin", "--ns-a", "1", "--freq", "1000000000")):
            equal(run_client("nvtxt-check", *arguments, good)[0], 0)
        store = folder.name("store")
        equal(run_client("nvtxt-import", "create", "-n", good, "-o", store, "-q")[0], 0)
        equal(rows(store, RANGES), [('in "A"', 1, 3), ("in B", 2, 4)])
        equal(rows(store, "SELECT lines, nvtx FROM NVTXT_SOURCES"), [(7, 1)])
        for first in ("", "\n" + HELLO, " " + HELLO, HELLO.replace("1}", "0}"),
                      HELLO.replace("1}", "1"), HELLO.replace("session", "sessions")):
            path = folder.write("bad.nvtxt", first + STACKS)
            contains(run_client("nvtxt-check", path)[2], "[unknown-argument]")
        only = folder.write("escapes.nvtxt", HELLO.replace('"nvtx":1', '"escapes":true') +
                            '@Marker, Time, Message\nMarker, 1, "a\\"b"\nSetCounter, c\n')
        status, _, err = run_client("nvtxt-check", only)
        equal((status, err.count("error:")), (1, 1), err)
        contains(err, "escapes.nvtxt:4:1: error: unknown command")


# ---- Expiry ---------------------------------------------------------------------------------------

def ended(daemon, session):
    return daemon.query("SELECT ended FROM NVTXT_SOURCES WHERE sessionId = ?", session) == [("expired",)]


def test_a_session_says_when_it_expires():
    with Daemon() as daemon:
        with daemon.session(OTHER) as session:
            session.send("a = 1\n")
            session.ack(1)
        with daemon.session(ID, nvtx=1, expiry=1) as session:
            session.send(STACKS)
            session.ack(4)
        wait_for(lambda: ended(daemon, ID), "it expired")
        equal(daemon.query(RANGES), [('in "A"', 1, 2), ("in B", 2, 2)])
        equal(daemon.query("SELECT sessionId FROM NVTXT_SESSIONS"), [(OTHER,)])
        with daemon.session(ID, nvtx=1) as session:
            equal(session.welcome["line"], 4)
            equal([reply.get("how") for reply in session.replies()], ["expired"])


def test_an_expiry_lasts_while_nobody_is_connected():
    with Daemon() as daemon:
        with daemon.session(ID, expiry=1) as session, daemon.session(OTHER, expiry=1) as gone:
            session.send("a = 1\n")
            session.ack(1)
            gone.send("a = 1\n")
            gone.ack(1)
            gone.close()
            wait_for(lambda: ended(daemon, OTHER), "the one without a client expired")
            wait_for(lambda: daemon.control("status")["sessions_expired"] == 1, "it is counted")
            session.send("b = 1\n")
            session.ack(2)
        with daemon.session(ID) as session:
            equal(session.welcome["line"], 2)


def test_an_expiry_is_known_after_a_restart():
    with Daemon() as daemon:
        with daemon.session(ID, nvtx=1, expiry=2) as session, daemon.session(OTHER, expiry=10 ** 15) as other:
            session.send("a = 1\n")  # nothing that is kept open
            session.ack(1)
            other.send(STACKS)
            other.ack(4)
            daemon.kill()
        daemon.start()
        wait_for(lambda: ended(daemon, ID), "it expired")
        with daemon.session(OTHER) as other:
            equal(other.welcome["line"], 4)


if __name__ == "__main__":
    run(globals())
