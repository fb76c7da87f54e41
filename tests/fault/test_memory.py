# SPDX-License-Identifier: Apache-2.0
"""Memory runs out again and again in a daemon at work: connections are dropped, the daemon lives,
sessions lose nothing, and what plain sources lose is written down."""
import contextlib
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "crash"))
import recorder  # noqa: E402
from recorder import lib  # noqa: E402


PLAIN = 200


def test_a_daemon_without_memory_lives_and_loses_nothing_of_a_session():
    for every in (300, 30, 9):
        with lib.FaultyDaemon("alloc-every:%d" % every, "CommitInterval=5ms\n") as daemon:
            daemon.tell_fault()
            clients = [recorder.Recorder(daemon, 5000, every + i) for i in range(3)]
            for client in clients:
                client.start()
            for number in range(PLAIN):
                try:
                    with daemon.plain() as plain:
                        plain.send("TimeBase = Manual\n@Marker, Time, Message\n"
                                   + 'Marker, 1, "plain"\n' * 50)
                except OSError:
                    pass
                lib.equal(daemon.process.poll(), None, "the daemon lives")
            daemon.tell_fault()
            for client in clients:
                client.check_all()
            daemon.settled()
            stored = daemon.query("SELECT count(*) FROM NVTX_EVENTS WHERE text = 'plain'")[0][0]
            lost = daemon.query("SELECT count(*) FROM NVTXT_LOSSES WHERE reason = 'memory'")[0][0]
            refused = daemon.log_text().count("out of memory")
            print("# every %d. allocation: %d of %d plain events stored, %d losses, %d log lines"
                  % (every, stored, PLAIN * 50, lost, refused))


def test_connections_that_wait_for_memory_are_taken_when_there_is_some():
    """Nobody else leaves meanwhile, so nothing but the listeners themselves can ask again."""
    with lib.FaultyDaemon("alloc-every:1") as daemon, contextlib.ExitStack() as open_ones:
        daemon.tell_fault()

        def is_left_waiting():
            waiting.append(open_ones.enter_context(daemon.plain()))
            return "could not be accepted" in daemon.log_text()
        waiting = []
        lib.wait_for(is_left_waiting, "a connection finds no memory")
        control = open_ones.enter_context(lib.Connection(daemon.control_socket))
        daemon.tell_fault()
        control.send('{"id":1,"command":"help"}\n')
        lib.equal(control.reply()["ok"], True, "the control socket serves")
        with daemon.session() as session:
            lib.equal(session.welcome["type"], "welcome", "so does the data socket")
            session.end()


lib.run(globals())
