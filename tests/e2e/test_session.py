# SPDX-License-Identifier: Apache-2.0
"""Sessions: acknowledged, resumable, every line exactly once."""
import json
import os
import signal
import sqlite3
import uuid

import lib

HEADER = 'TimeBase = Manual\n@Marker, Time, Message\n'


def refused(daemon, first_line, code):
    with daemon.plain() as connection:
        connection.send(first_line)
        reply = connection.expect("error")
        lib.equal(reply["code"], code, reply)
        connection.expect_end_of_stream()
        return reply["message"]


def hello(**members):
    return "#nvtxt-session " + json.dumps(members) + "\n"


def test_welcomes_and_acknowledges_after_the_commit():
    with lib.Daemon() as daemon:
        with daemon.session(name="a.nvtxt", pid=77) as session:
            lib.equal(session.welcome["type"], "welcome")
            lib.equal((session.welcome["protocol"], session.welcome["session"],
                       session.welcome["line"], session.welcome["synchronous"]),
                      (1, session.id, 0, "full"))
            lib.equal(session.welcome["limits"]["line"], 65536)
            session.send(HEADER + 'Marker, 5, "hi"\n')
            session.ack(3)
            lib.equal(daemon.query("SELECT text, globalTid FROM NVTX_EVENTS"),
                      [("hi", 77 << 24 | 77)])
            lib.equal(daemon.query("SELECT id, name, kind FROM NVTXT_SOURCES WHERE sessionId = ?",
                                   session.id), [(session.welcome["source"], "a.nvtxt", "session")])


def test_tells_the_store_mode_in_the_welcome():
    with lib.Daemon(config="Synchronous=normal\n") as daemon:
        with daemon.session() as session:
            lib.equal(session.welcome["synchronous"], "normal")


def test_ends_with_figures_and_closes():
    with lib.Daemon() as daemon:
        with daemon.session() as session:
            session.send(HEADER + 'Marker, 5, "hi"\nbad\n@Marker, Time, Color\nMarker, 6, NoColor\n')
            session.send("#nvtxt-end\nMarker, 7, ignored\n")
            replies = session.replies()
            lib.equal([reply["type"] for reply in replies if reply["type"] != "ack"],
                      ["diagnostic", "diagnostic", "end"])
            lib.equal(replies[-1], {"type": "end", "line": 6, "events": 2, "warnings": 1,
                                    "errors": 1})
        lib.equal(daemon.query("SELECT ended, lines, events, warnings, errors FROM NVTXT_SOURCES "
                               "WHERE sessionId = ?", session.id), [("end", 6, 2, 1, 1)])
        lib.equal(daemon.query("SELECT * FROM NVTXT_SESSIONS"), [])


def test_diagnostics_come_before_the_ack_that_covers_them():
    with lib.Daemon() as daemon:
        with daemon.session() as session:
            session.send("bad\n" + HEADER + "worse\n")
            first = session.ack(4)
            lib.equal([(d["line"], d["code"], d["severity"], d["stage"]) for d in first],
                      [(1, "unknown-command", "error", "parsing"),
                       (4, "unknown-command", "error", "parsing")])
            session.send("third\n")
            lib.equal([d["line"] for d in session.ack(5)], [5])


def test_sends_no_diagnostics_when_not_wanted():
    with lib.Daemon() as daemon:
        with daemon.session(diagnostics=False) as session:
            session.send("bad\n")
            lib.equal(session.ack(1), [])


def test_goes_on_after_a_broken_connection():
    with lib.Daemon() as daemon:
        with daemon.session() as session:
            session.send('TimeBase = Manual\nProcessId = 3\n@Marker, Time, Message\nMarker, 1, "a"\n')
            session.ack(4)
        with daemon.session(session.id) as again:
            lib.equal((again.welcome["line"], again.welcome["source"]),
                      (4, session.welcome["source"]))
            again.send('Marker, 2, "b"\nbad\n')
            lib.equal([d["line"] for d in again.ack(6)], [6])
            again.end()
        lib.equal(daemon.query("SELECT text, globalTid >> 24 FROM NVTX_EVENTS ORDER BY start"),
                  [("a", 3), ("b", 3)])
        lib.equal(daemon.query("SELECT count(*) FROM NVTXT_SOURCES WHERE kind = 'session'"), [(1,)])


def test_a_reconnect_sees_what_was_not_yet_committed():
    with lib.Daemon(config="CommitInterval=60s\n") as daemon:
        with daemon.session() as session:
            session.send(HEADER + 'Marker, 1, "a"\n')
            lib.wait_for(lambda: daemon.control("status")["lines"] >= 0 and
                         daemon.control("sources")["sources"][0]["lines"] == 3, "lines are read")
        with daemon.session(session.id) as again:
            lib.equal(again.welcome["line"], 3)
            lib.equal(daemon.query("SELECT text FROM NVTX_EVENTS"), [("a",)],
                      "what the welcome speaks of is committed")


def test_goes_on_after_the_daemon_was_killed():
    with lib.Daemon() as daemon:
        with daemon.session(pid=9) as session:
            session.send('TimeBase = Manual\nColor = Red\n@Marker, Time, Message\n'
                         '@RangePush, Time, Message\n@RangePop, Time\n'
                         'RangePush, 1, "outer"\nRangePush, 2, "inner"\nMarker, 3, "a"\n')
            session.ack(8)
            daemon.kill()
        daemon.start()
        lib.equal(daemon.query("SELECT text FROM NVTXT_OPEN_RANGES ORDER BY start"),
                  [("outer",), ("inner",)])
        with daemon.session(session.id) as again:
            lib.equal((again.welcome["line"], again.welcome["source"]),
                      (8, session.welcome["source"]))
            again.send('RangePop, 4\nMarker, 5, "b"\nRangePop, 6\n')
            lib.equal(again.end()["events"], 4)
        lib.equal(daemon.query('SELECT text, start, "end", color, globalTid >> 24 FROM NVTX_EVENTS '
                               "ORDER BY start"),
                  [("outer", 1, 6, 0xFFFF0000, 9), ("inner", 2, 4, 0xFFFF0000, 9),
                   ("a", 3, 3, 0xFFFF0000, 9), ("b", 5, 5, 0xFFFF0000, 9)])
        lib.equal(daemon.query("SELECT * FROM NVTXT_OPEN_RANGES"), [])


def test_who_resumes_a_session_may_send_what_its_beginner_claims():
    with lib.Daemon(config="Claim=peer\n") as daemon:
        id = str(uuid.uuid4())
        beginner = os.fork()
        if beginner == 0:
            with daemon.session(id) as session:
                session.send(HEADER + '@RangePush, Time, Message\n@RangePop, Time\nRangePush, 1, "open"\n')
                session.ack(5)
                os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(beginner, 0)
        for _ in range(2):  # the second time its row is one that an earlier life wrote
            daemon.kill()
            daemon.start()
            with daemon.session(id) as session:
                session.send('Marker, 2, "its own"\nProcessId = %d\nMarker, 3, "the new one"\n'
                             'ProcessId = 1\nMarker, 4, "foreign"\nProcessId = %d\n'
                             % (os.getpid(), beginner))
                session.ack(session.welcome["line"] + 6)
        with daemon.session(id) as session:
            session.send("RangePop, 9\n")
            session.end()
        lib.equal(daemon.query("SELECT text, globalTid >> 24, count(*) FROM NVTX_EVENTS GROUP BY 1"),
                  [("its own", beginner, 2), ("open", beginner, 1), ("the new one", os.getpid(), 2)])
        lib.equal(daemon.query("SELECT DISTINCT code FROM NVTXT_DIAGNOSTICS"), [("foreign-process",)])


def test_a_partial_last_line_is_dropped_at_a_break():
    with lib.Daemon() as daemon:
        with daemon.session() as session:
            session.send(HEADER + 'Marker, 1, "a"\nMarker, 2')
            session.ack(3)
        with daemon.session(session.id) as again:
            lib.equal(again.welcome["line"], 3)
            again.send('Marker, 22, "b"\n')
            again.end()
        lib.equal(daemon.query("SELECT start, text FROM NVTX_EVENTS"), [(1, "a"), (22, "b")])


def test_sends_stored_diagnostics_again_after_the_last_ack_seen():
    with lib.Daemon() as daemon:
        with daemon.session() as session:
            session.send("bad\nworse\n")
            session.ack(2)
        with daemon.session(session.id, acked=1) as again:
            lib.equal(again.welcome["line"], 2)
            lib.equal(again.expect("diagnostic")["line"], 2)
            lib.equal([r["type"] for r in [again.end()]], ["end"])
        with daemon.session(session.id, acked=0, diagnostics=False) as once_more:
            lib.equal(once_more.welcome["line"], 2)
            once_more.expect("end")


def test_a_late_duplicate_gets_the_same_end_and_stores_nothing():
    with lib.Daemon() as daemon:
        with daemon.session() as session:
            session.send(HEADER + 'Marker, 1, "a"\nbad\n')
            end = session.end()
        for restart in (False, True):
            if restart:
                daemon.kill()
                daemon.start()
            with daemon.session(session.id) as late:
                lib.equal((late.welcome["type"], late.welcome["line"]), ("welcome", 4))
                lib.equal(late.expect("end"), end)
                late.expect_end_of_stream()
                late.send("#nvtxt-end\n")  # it may have been on its way already
        lib.equal(daemon.query("SELECT text FROM NVTX_EVENTS"), [("a",)])
        lib.equal(daemon.query("SELECT count(*) FROM NVTXT_SOURCES WHERE kind = 'session'"), [(1,)])


def test_a_late_duplicate_may_say_it_all_again():
    text = HEADER + "".join('Marker, %d, "%s"\n' % (n, "x" * 500) for n in range(2000))
    with lib.Daemon() as daemon:
        with daemon.session() as session:
            session.send(text)
            end = session.end()
        with daemon.session(session.id) as late:
            late.send(text + "#nvtxt-end\n")
            lib.equal(late.expect("end"), end)
            lib.equal(late.file.readline(), b"", "an end, not a reset")
            with daemon.session(session.id) as at_once:  # the one before is not in its way
                lib.equal(at_once.expect("end"), end)
            # Who does not close is not waited for.
            lib.wait_for(lambda: daemon.control("status")["connections"] == 0, "it is closed")
        with daemon.session(session.id) as last:
            last.expect("end")
            daemon.stop()  # nor at a stop
        lib.equal(daemon.query("SELECT count(*) FROM NVTX_EVENTS"), [(2000,)])


def test_a_connected_session_is_busy():
    with lib.Daemon() as daemon:
        with daemon.session() as session:
            with daemon.session(session.id) as second:
                lib.equal((second.welcome["type"], second.welcome["code"]),
                          ("error", "busy-session"))
                second.expect_end_of_stream()
            session.send(HEADER)
            session.ack(2)


def test_a_dead_older_connection_is_noticed_before_it_is_called_busy():
    # Above its memory budget the daemon reads nothing, so it does not see the hang-up by itself.
    with lib.Daemon() as daemon:
        for _ in range(50):
            session = daemon.session()
            lib.equal(session.welcome["type"], "welcome")
            session.send(HEADER)
            session.socket.shutdown(2)
            with daemon.session(session.id) as again:
                lib.equal(again.welcome["type"], "welcome", again.welcome)
            session.close()


def test_refuses_a_protocol_that_it_does_not_speak():
    with lib.Daemon() as daemon:
        lib.equal(refused(daemon, hello(protocol=99, session=str(uuid.uuid4())),
                          "unsupported-protocol"),
                  "protocol 99 is not supported; this daemon speaks protocol 1")


def test_refuses_bad_hellos():
    with lib.Daemon() as daemon:
        good = str(uuid.uuid4())
        for line in ("#nvtxt-session\n", "#nvtxt-session {\n", "#nvtxt-session []\n",
                     hello(session=good), hello(protocol=1), hello(protocol=1, session="x"),
                     hello(protocol=1, session=good, pid=-1), hello(protocol="1", session=good),
                     hello(protocol=1, session=good, mapping={"mode": "lin", "ns_a": 0, "freq": 0}),
                     "#nvtxt-session " + "x" * 5000 + "\n",
                     "#nvtxt-session " + "x" * 100000,
                     "#nvtxt-session " + "[" * 2000 + "\n"):
            message = refused(daemon, line, "bad-hello")
            assert message.endswith("; this daemon speaks protocol 1"), message
        lib.equal(daemon.control("status")["sessions"], 0)
        lib.equal(daemon.query("SELECT count(*) FROM NVTXT_SOURCES WHERE kind = 'session'"), [(0,)])


def test_a_hello_that_is_cut_is_refused_too():
    with lib.Daemon() as daemon:
        for line in ("#nvtxt-session", '#nvtxt-session {"protocol":1',
                     hello(protocol=1, session=str(uuid.uuid4())).rstrip("\n")):
            with daemon.plain() as connection:
                connection.send(line)
                connection.socket.shutdown(1)
                lib.equal(connection.expect("error")["code"], "bad-hello")
                connection.expect_end_of_stream()
        lib.equal(daemon.query("SELECT count(*) FROM NVTXT_SOURCES"), [(0,)])


def test_who_is_refused_may_send_on_and_read_why():
    with lib.Daemon() as daemon:
        with daemon.session(protocol=99) as session:
            for _ in range(20):
                session.send(HEADER * 1000)
            lib.equal(session.welcome["code"], "unsupported-protocol")
            lib.equal(session.socket.recv(1), b"")
        lib.equal(daemon.query("SELECT count(*) FROM NVTXT_SOURCES"), [(0,)])


def test_a_hello_may_come_byte_by_byte_and_with_lines_behind_it():
    with lib.Daemon() as daemon:
        session = str(uuid.uuid4())
        text = hello(protocol=1, session=session) + HEADER + 'Marker, 1, "a"\n'
        with daemon.plain() as connection:
            for byte in text.encode():
                connection.send(bytes([byte]))
            connection.expect("welcome")
            lib.Session.ack(connection, 3)
        with daemon.plain() as connection:  # all in one piece, end included
            connection.send(hello(protocol=1, session=str(uuid.uuid4())) + HEADER +
                            'Marker, 2, "b"\n#nvtxt-end\n')
            kinds = [reply["type"] for reply in connection.replies()]
            lib.equal((kinds[0], kinds[-1]), ("welcome", "end"))
        lib.equal(daemon.query("SELECT text FROM NVTX_EVENTS ORDER BY start"), [("a",), ("b",)])


def test_a_mapping_moves_times():
    with lib.Daemon() as daemon:
        with daemon.session(mapping={"mode": "lin", "ns_a": 1000, "nvtxt_a": 10,
                                     "freq": 500000000}) as session:
            session.send(HEADER + 'Marker, 20, "a"\n')
            session.ack(3)
        with daemon.session(session.id) as again:  # the state holds it, not the hello
            again.send('Marker, 30, "b"\n')
            again.end()
        lib.equal(daemon.query("SELECT start FROM NVTX_EVENTS ORDER BY start"), [(1020,), (1040,)])


def test_end_is_sent_to_a_client_that_half_closed():
    with lib.Daemon() as daemon:
        with daemon.session() as session:
            session.send(HEADER + 'Marker, 1, "a"\n#nvtxt-end\n')
            session.socket.shutdown(1)
            lib.equal(session.replies()[-1]["type"], "end")


def test_a_client_that_half_closed_hears_what_was_committed():
    with lib.Daemon(config="CommitInterval=60s\n") as daemon:
        with daemon.session() as session:
            session.send(HEADER + 'Marker, 1, "a"\nbad\nMarker, 2, "cut')
            session.socket.shutdown(1)
            lib.equal([(reply["type"], reply["line"]) for reply in session.replies()],
                      [("diagnostic", 4), ("ack", 4)])
        with daemon.session(session.id) as again:
            lib.equal(again.welcome["line"], 4)
            again.socket.shutdown(1)
            again.expect_end_of_stream()


def test_a_client_that_half_closed_reads_all_that_was_on_its_way():
    with lib.Daemon(config="DiagnosticsPerSource=10000\n") as daemon:
        with daemon.session() as session:
            session.send("".join("bad%d%s\n" % (n, "x" * 300) for n in range(2000)))
            lib.wait_for(lambda: daemon.control("status")["lines"] == 2000, "all is read")
            daemon.flush()  # more was acknowledged now than the socket holds
            session.socket.shutdown(1)
            replies = session.replies()
            lib.equal(sum(reply["type"] == "diagnostic" for reply in replies), 2000)
            lib.equal((replies[-1]["type"], replies[-1]["line"]), ("ack", 2000))


def test_one_ack_a_commit_not_one_a_line():
    with lib.Daemon() as daemon:
        with daemon.session() as session:
            session.send(HEADER + "".join('Marker, %d, "m"\n' % i for i in range(5000)))
            acks = 0
            while True:
                reply = session.expect("ack")
                acks += 1
                if reply["line"] == 5002:
                    break
            assert acks < 50, acks


def test_line_numbers_go_on_over_many_breaks():
    with lib.Daemon() as daemon:
        session_id, line = str(uuid.uuid4()), 0
        for turn in range(12):
            if turn % 4 == 3:
                daemon.kill()
                daemon.start()
            with daemon.session(session_id) as session:
                lib.equal(session.welcome["line"], line)
                session.send('N%d = "v%d"\nbad%d\nTimeBase = Manual\n' % (turn, turn, turn))
                line += 3
                lib.equal([d["line"] for d in session.ack(line)], [line - 1])
        with daemon.session(session_id) as session:
            session.send("@Marker, Time, Message\n" +
                         "".join("Marker, %d, $N%d\n" % (turn, turn) for turn in range(12)))
            session.end()
        lib.equal(daemon.query("SELECT text FROM NVTX_EVENTS ORDER BY start"),
                  [("v%d" % turn,) for turn in range(12)])


def test_an_expired_session_is_closed_with_its_open_ranges():
    with lib.Daemon(config="SessionExpiry=1s\n") as daemon:
        with daemon.session() as session:
            session.send('TimeBase = Manual\n@RangePush, Time, Message\nRangePush, 4, "left"\n')
            session.ack(3)
        lib.wait_for(lambda: daemon.query("SELECT ended FROM NVTXT_SOURCES WHERE sessionId = ?",
                                          session.id) == [("expired",)], "the session expired")
        lib.equal(daemon.query('SELECT text, start, "end" FROM NVTX_EVENTS'), [("left", 4, 4)])
        lib.equal(daemon.query("SELECT * FROM NVTXT_SESSIONS"), [])
        with daemon.session(session.id) as late:
            late.expect("end")


def break_state(daemon, session, state):
    store = sqlite3.connect(daemon.store, isolation_level=None, timeout=lib.DEADLINE)
    store.execute("UPDATE NVTXT_SESSIONS SET state = ? WHERE sessionId = ?", (state, session.id))
    store.close()


LEFT = 'SetFileDisplayName, "shown"\n@RangePush, Time, Message\nRangePush, 4, "left"\nRangePush, 9, "in"\n'


def test_an_unreadable_state_does_not_keep_other_sessions_from_expiring():
    with lib.Daemon(config="SessionExpiry=1s\n", shared=True) as daemon:
        with daemon.session() as oldest, daemon.session() as other:
            oldest.send("TimeBase = Manual\n" + LEFT)
            oldest.ack(5)
            other.send(HEADER)
            other.ack(2)
            break_state(daemon, oldest, '{"version":1,"conf')
        lib.wait_for(lambda: daemon.query("SELECT ended FROM NVTXT_SOURCES ORDER BY id") ==
                     [("expired",)] * 2, "both sessions expired")
        lib.equal(daemon.query("SELECT * FROM NVTXT_SESSIONS"), [])
        lib.equal(daemon.query("SELECT reason, count, uid, sourceId FROM NVTXT_LOSSES"),
                  [("session-state", 1, os.getuid(), oldest.welcome["source"])])
        lib.equal(daemon.query('SELECT text, start, "end" FROM NVTX_EVENTS WHERE eventType = 59'),
                  [("left", 4, 9), ("in", 9, 9)])
        lib.equal(daemon.query("SELECT line, code FROM NVTXT_DIAGNOSTICS"),
                  [(4, "never-closed"), (5, "never-closed")])
        assert oldest.id in daemon.log_text(), daemon.log_text()


def test_a_session_whose_state_is_unreadable_is_over_for_its_client():
    with lib.Daemon(shared=True) as daemon:
        with daemon.session() as session:
            session.send("TimeBase = Manual\n" + LEFT)
            session.ack(5)
            break_state(daemon, session, None)
        for _ in range(2):  # the second time it is one that ended long ago
            with daemon.session(session.id) as again:
                lib.equal(again.welcome["line"], 5)
                lib.equal(again.expect("end"), {"type": "end", "line": 5, "events": 2,
                                                "warnings": 2, "errors": 0})
                again.expect_end_of_stream()
        lib.equal(daemon.query("SELECT ended, displayName, lines, events FROM NVTXT_SOURCES"
                               " WHERE kind = 'session'"), [("lost", "shown", 5, 2)])
        lib.equal(daemon.query("SELECT reason, count FROM NVTXT_LOSSES"), [("session-state", 1)])


def test_a_connected_session_does_not_expire():
    with lib.Daemon(config="SessionExpiry=1s\n") as daemon:
        with daemon.session() as idle, daemon.session() as other:
            other.send(HEADER)
            other.ack(2)
            other.close()
            lib.wait_for(lambda: daemon.query("SELECT ended FROM NVTXT_SOURCES WHERE sessionId = ?",
                                              other.id) == [("expired",)], "the other one expired")
            idle.send(HEADER + 'Marker, 1, "alive"\n')
            idle.ack(3)
            idle.end()
        lib.equal(daemon.query("SELECT text FROM NVTX_EVENTS"), [("alive",)])


def test_orderly_stop_leaves_sessions_resumable():
    with lib.Daemon() as daemon:
        with daemon.session() as session:
            session.send(HEADER + 'Marker, 1, "a"\n')
            session.ack(3)
            daemon.stop(signal.SIGINT)
            lib.equal([(r["type"], r.get("code")) for r in session.replies()],
                      [("error", "shutting-down")])
        daemon.start()
        with daemon.session(session.id) as again:
            lib.equal(again.welcome["line"], 3)
            again.end()


def test_lines_that_a_client_dropped_are_a_row_once_also_over_a_break():
    text = '@Marker, Time, Message\nMarker, 1, "a"\n'
    lost = '#nvtxt-lost {"lines":12,"reason":"full"}\n'
    with lib.Daemon() as daemon:
        with daemon.session(name="s") as session:
            session.send(text + lost)
            lib.equal(session.ack(3), [])
            daemon.kill()
        daemon.start()
        with daemon.session(session.id) as session:
            lib.equal(session.welcome["line"], 3)
            session.send(lost + " " + lost + '#nvtxt-lost {"lines":0,"reason":"full"}\n')
            lib.equal(session.end(), {"type": "end", "line": 6, "events": 1, "warnings": 0,
                                      "errors": 0})
        daemon.send(text + lost)  # in a plain source it is a comment
        lib.equal(daemon.query("SELECT sessionId, uid, l.pid = ?, reason, count"
                               " FROM NVTXT_LOSSES AS l JOIN NVTXT_SOURCES AS s"
                               " ON s.id = l.sourceId", os.getpid()),
                  [(session.id, os.getuid(), 1, "full", 12)] * 2)


def test_many_lines_that_tell_of_losses_are_few_rows():
    with lib.Daemon(config="CommitInterval=1s\n") as daemon:
        with daemon.session() as session:
            session.send('#nvtxt-lost {"lines":2,"reason":"full"}\n' * 3000)
            words = [chr(97 + n % 26) + chr(97 + n // 26) for n in range(600)]
            session.send("".join('#nvtxt-lost {"lines":1,"reason":"%s"}\n' % w for w in words))
            lib.equal(session.end()["line"], 3600)
        rows, count = daemon.query("SELECT count(*), sum(count) FROM NVTXT_LOSSES")[0]
        lib.equal(count, 6600)
        assert rows < 200, rows  # a few in each batch


def test_takes_everything_of_a_client_that_never_reads_and_closes_at_once():
    with lib.Daemon() as daemon:
        for number in range(20):
            with daemon.plain() as connection:
                connection.send('#nvtxt-session {"protocol":1,"session":"%s"}\n@Marker, Time\n'
                                "ProcessId = 1\nMarker, %d\n#nvtxt-end\n" % (uuid.uuid4(), number))
        lib.wait_for(lambda: daemon.query("SELECT count(*) FROM NVTX_EVENTS") == [(20,)],
                     "all markers are stored")
        daemon.settled()
        lib.equal(daemon.query("SELECT DISTINCT ended, lines, events FROM NVTXT_SOURCES"),
                  [("end", 3, 1)])


def test_sends_a_never_closed_again_that_a_break_hid():
    with lib.Daemon() as daemon:
        session = daemon.session()
        session.send("@RangePush, Time\nRangePush, 1\n# more\n")
        session.ack(3)
        session.send("#nvtxt-end\n")
        session.close()
        daemon.settled()
        with daemon.session(session.id, acked=3) as again:
            lib.equal([(r["type"], r.get("line"), r.get("code")) for r in again.replies()],
                      [("diagnostic", 2, "never-closed"), ("end", 3, None)])


lib.run(globals())
