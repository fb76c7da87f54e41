# SPDX-License-Identifier: Apache-2.0
"""nvtxt-send: against a real daemon for what it is for, against a scripted one for what goes wrong."""
import os
import select
import signal
import subprocess
import time

from client import Fake, Folder, Running, contains, run_client, run_in_terminal, version_in
from lib import DEADLINE, Daemon, equal, halt, program, run, wait_for

GOOD = 'Marker, %d, Manual, 7, 8, 1, Blue, "%s", 5\n'


def marker(time, text):
    return GOOD % (time, text)


def send(daemon, *args, **more):
    return run_client("nvtxt-send", "--socket", daemon.socket, *args, **more)


def running(daemon, *args, **more):
    path = daemon.path if isinstance(daemon, Fake) else daemon.socket
    return Running("nvtxt-send", "--socket", path, *args, **more)


def texts(daemon):
    return [row[0] for row in
            daemon.query("SELECT text FROM NVTX_EVENTS WHERE eventType = 34 ORDER BY rowid")]


# ---- A real daemon --------------------------------------------------------------------------------

def test_each_file_is_a_source_of_its_own_in_order():
    with Daemon() as daemon, Folder() as folder:
        folder.write("one.nvtxt", "x = 1\n" + marker(1, "a") + marker(2, "b"))
        folder.write("two.nvtxt", 'Marker, $x, Manual, 7, 8, 1, Blue, "no", 5\n' + marker(3, "c"))
        status, out, err = send(daemon, "one.nvtxt", "./two.nvtxt", cwd=folder.path)
        equal((status, out), (1, ""))
        contains(err, "./two.nvtxt:1:9: error: ")
        equal(texts(daemon), ["a", "b", "c"])
        equal(daemon.query("SELECT kind, name, lines, events, errors, ended FROM NVTXT_SOURCES WHERE kind = 'session'"),
              [("session", "one.nvtxt", 3, 2, 0, "end"),
               ("session", "./two.nvtxt", 2, 1, 1, "end")])


def test_stdin_is_sent_when_no_file_is_named_or_a_dash_is():
    with Daemon() as daemon:
        equal(send(daemon, stdin=marker(1, "a")), (0, "", ""))
        equal(send(daemon, "-", stdin=marker(2, "b")), (0, "", ""))
        equal(send(daemon, "--name", "mine", stdin=marker(3, "c")), (0, "", ""))
        equal(daemon.query("SELECT name FROM NVTXT_SOURCES WHERE kind = 'session'"), [("<stdin>",), ("<stdin>",), ("mine",)])
        equal(texts(daemon), ["a", "b", "c"])


def test_the_environment_names_the_socket():
    with Daemon() as daemon:
        equal(run_client("nvtxt-send", stdin=marker(1, "a"), env={"NVTXT_SOCKET": daemon.socket}),
              (0, "", ""))
        equal(texts(daemon), ["a"])


def test_diagnostics_look_like_a_compilers_and_errors_make_the_exit_status_1():
    with Daemon() as daemon:
        status, out, err = send(daemon, stdin="\n# c\nx = $Pid\n" + marker(1, "a") + "Marker, 1")
        equal((status, out), (1, ""))
        lines = err.splitlines()
        equal(lines[0][:17], "<stdin>:3:5: erro")
        contains(lines[0], "[undefined-variable]")
        equal(lines[1][:16], "<stdin>:5:10: er")
        equal(lines[2], "<stdin>: 2 errors in 5 lines, 1 event")
        equal(len(lines), 3)
        equal(texts(daemon), ["a"])


def test_warnings_alone_make_the_exit_status_0():
    with Daemon() as daemon:
        status, _, err = send(daemon, stdin='Marker, 1, Manual, 7, 8, 1, Blau, "a", 5\n')
        equal(status, 0)
        contains(err, "<stdin>:1:29: warning: ")
        contains(err, "<stdin>: 1 warning in 1 line, 1 event\n")


def test_quiet_says_it_with_the_exit_status_alone():
    with Daemon() as daemon:
        equal(send(daemon, "-q", stdin="x = $y\n" + marker(1, "a")), (1, "", ""))
        equal(texts(daemon), ["a"])


def test_a_missing_file_does_not_keep_the_others_back():
    with Daemon() as daemon, Folder() as folder:
        good = folder.write("good.nvtxt", marker(1, "a"))
        bad = folder.write("bad.nvtxt", "z = 1\nx = $y\n")
        status, _, err = send(daemon, folder.name("none"), bad, folder.path, good)
        equal(status, 66)
        contains(err, "nvtxt-send: %s: No such file or directory\n" % folder.name("none"))
        contains(err, "nvtxt-send: %s: Is a directory\n" % folder.path)
        equal(texts(daemon), ["a"])


def test_reserved_lines_of_the_input_are_comments():
    with Daemon() as daemon:
        text = ('#nvtxt-session {"protocol":1}\n#nvtxt-end\n' + marker(1, "a") + "#nvtxt-end\n" +
                marker(2, "b") + "x = $y\n#nvtxt-end")
        status, _, err = send(daemon, stdin=text)
        equal(status, 1)
        contains(err, "<stdin>:6:5: error: ")
        equal(texts(daemon), ["a", "b"])
        equal(daemon.query("SELECT lines, ended FROM NVTXT_SOURCES WHERE kind = 'session'"), [(7, "end")])


def test_the_last_line_may_lack_its_line_end():
    with Daemon() as daemon:
        equal(send(daemon, stdin=marker(1, "a") + marker(2, "b")[:-1]), (0, "", ""))
        equal(texts(daemon), ["a", "b"])
        equal(send(daemon, stdin=marker(3, "c")[:-1] + "\r"), (0, "", ""))
        equal(texts(daemon), ["a", "b", "c"])


def test_an_empty_input_is_a_source_without_lines():
    with Daemon() as daemon:
        equal(send(daemon, "/dev/null"), (0, "", ""))
        equal(daemon.query("SELECT name, lines, events FROM NVTXT_SOURCES WHERE kind = 'session'"), [("/dev/null", 0, 0)])


def test_the_default_process_is_the_client_or_the_one_named():
    with Daemon() as daemon:
        text = "@Marker, Time, Message\nMarker, 1, m\n"
        with running(daemon) as client:
            pid = client.process.pid
            client.say(text)
            client.close()
            client.expect(0)
        equal(send(daemon, "--pid", "0x10", stdin=text), (0, "", ""))
        equal(daemon.query("SELECT globalTid / 0x1000000 FROM NVTX_EVENTS WHERE eventType = 34"),
              [(pid,), (16,)])


def test_a_mapping_moves_the_times():
    with Daemon() as daemon:
        equal(send(daemon, "--mode", "lin", "--ns-a", "1000", "--freq", "1000000", "--nvtxt-a", "5",
                   stdin=marker(7, "a")), (0, "", ""))
        equal(send(daemon, "--mode=lerp", "--ns-a=100", "--ns-b=200", "--nvtxt-a=0", "--nvtxt-b=10",
                   stdin=marker(5, "b")), (0, "", ""))
        equal(daemon.query("SELECT start FROM NVTX_EVENTS WHERE eventType = 34 ORDER BY rowid"),
              [(3000,), (150,)])


def test_lines_of_a_live_pipe_are_committed_while_it_is_open():
    with Daemon() as daemon, running(daemon) as client:
        client.say(marker(1, "a") + marker(2, "b")[:10])
        wait_for(lambda: texts(daemon) == ["a"], "the first line is committed")
        client.say(marker(2, "b")[10:])
        wait_for(lambda: texts(daemon) == ["a", "b"], "the second line is committed")
        equal(client.process.poll(), None)
        client.close()
        client.expect(0)


def test_many_lines_arrive_whole():
    with Daemon() as daemon, Folder() as folder:
        count = 100000
        path = folder.write("many", "".join(marker(i, "m%d" % i) for i in range(count)))
        with open(path, "rb") as file:
            client = running(daemon, stdin=file)
        with client:
            client.expect(0)
        equal(send(daemon, path), (0, "", ""))
        equal(daemon.query("SELECT count(*), count(DISTINCT text) FROM NVTX_EVENTS "
                           "WHERE eventType = 34"), [(2 * count, count)])
        equal(daemon.query("SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 34 AND "
                           "text <> 'm' || start"), [(0,)])


def test_a_line_without_end_costs_only_itself():
    with Daemon() as daemon, running(daemon) as client:
        client.say(marker(1, "a"))
        for _ in range(40):
            client.say(b"x" * (1 << 20))
        client.say("\n" + marker(2, "b") + "x = $y\n")
        client.close()
        err = client.expect(1)
        contains(err, "<stdin>:2:")
        contains(err, "[line-too-long]")
        contains(err, "<stdin>:4:5: error: ")
        equal(texts(daemon), ["a", "b"])


def test_waiting_finds_a_daemon_that_comes_later():
    daemon = Daemon(start=False)
    with daemon, running(daemon, "--wait") as client:
        client.say(marker(1, "a"))
        client.close()
        wait_for(lambda: "waiting" in client.stderr(), "it says that it waits")
        daemon.start()
        client.expect(0)
        equal(texts(daemon), ["a"])


def test_a_signal_ends_a_stream_in_order():
    for number in (signal.SIGTERM, signal.SIGINT):
        with Daemon() as daemon, running(daemon) as client:
            client.say(marker(1, "a"))
            wait_for(lambda: texts(daemon) == ["a"], "it reads")
            halt(client.process)  # so that what it was told before waits in the pipe
            client.say(marker(2, "b") + marker(3, "c")[:-1])
            client.signal(number)
            client.signal(signal.SIGCONT)
            # A line that its producer has not ended may mean anything: it is no line.
            contains(client.expect(128 + number), "<stdin> is stored up to line 2")
            equal(texts(daemon), ["a", "b"])
            equal(daemon.query("SELECT ended FROM NVTXT_SOURCES WHERE kind = 'session'"), [("end",)])


# ---- An older daemon ------------------------------------------------------------------------------

def version():
    return version_in(run_client("nvtxt-send", "--version")[1])


def test_a_log_loses_nothing_at_a_daemon_without_levels():
    with Fake() as fake:
        with Running("nvtxt-send", "--socket", fake.path, "--text", "-") as client:
            client.say("plain\nERROR: it's bad\n")
            client.close()
            with fake.accept() as peer:
                equal((peer.hello["levels"], peer.hello["escapes"]), (True, True))
                peer.old_welcome(0)
                lines = [line.split(",", 7) for line in peer.lines(2)]
                equal([line[7] for line in lines], ["'plain',-1", '"ERROR: it\'s bad",3'])
                equal(peer.line(), "#nvtxt-end")
                peer.ack(2)
                peer.end(2, 2)
            err = client.expect(0)
            equal(err.count("\n"), 1, err)
            contains(err, "warning: the daemon at %s (a version before 0.2.0) has no levels" % fake.path)
            contains(err, version())


def test_a_line_that_an_older_daemon_cannot_take_is_not_sent():
    with Fake() as fake:
        with Running("nvtxt-send", "-q", "--socket", fake.path, "--text", "-") as client:
            client.say("plain\nit's \"quoted\"\nplain\n")
            client.close()
            with fake.accept() as peer:
                peer.old_welcome(0, version="0.1.9", levels=True)
                contains(peer.line(), "'plain',''")
                peer.ack(1)
                equal(peer.line(), None)
            err = client.expect(76)
            for part in ("(version 0.1.9)", "nvtxt-send " + version(), "no escapes", "line 2 of <stdin>"):
                contains(err, part)
        with Running("nvtxt-send", "--socket", fake.path, "--mark", "it's \"quoted\"") as client:
            with fake.accept() as peer:
                peer.old_welcome(0)
                contains(peer.line(), "@Marker,")
                peer.ack(1)
                equal(peer.line(), None)
            contains(client.expect(76), "line 2 of --mark")


def test_a_spool_that_an_older_daemon_cannot_take_stays():
    with Fake() as fake, Folder() as folder:
        fake.vanish()
        spool = folder.name("spool")
        text = "plain\nit's \"quoted\"\nplain\n"
        equal(run_client("nvtxt-send", "-q", "--socket", fake.path, "--text", "--wait=0", "--spool", spool,
                         stdin=text)[0], 0)
        fake.listen()
        with Running("nvtxt-send", "--socket", fake.path, "--resume", spool) as client:
            with fake.accept() as peer:
                peer.old_welcome(0)
                contains(peer.line(), "'plain',-1")
                peer.ack(1)
                equal(peer.line(), None)
            err = client.expect(76)
            contains(err, "line 2 of <stdin>")
            contains(err, "is kept: 'nvtxt-send --resume %s' sends it" % spool)
        fake.vanish()
        with Daemon() as daemon:
            equal(run_client("nvtxt-send", "--socket", daemon.socket, "--resume", spool)[0], 0)
            equal(daemon.query("SELECT text FROM NVTX_EVENTS WHERE eventType = 34 ORDER BY rowid")[-2:],
                  [("it's \"quoted\"",), ("plain",)])
            equal(os.listdir(spool), [])


def test_a_command_at_a_daemon_without_escapes_runs_to_its_end():
    quoted = "it's \"quoted\""
    with Fake() as fake, Folder() as folder:
        spool = folder.name("spool")
        for options in ([], ["--timeout", "60"], ["--steps"], ["--spool", spool]):
            with Running("nvtxt-send", "--socket", fake.path, *options, "--range", quoted, "--",
                         "sh", "-c", "exit 3") as client:
                with fake.accept() as peer:
                    peer.old_welcome(0)
                    contains(peer.line(), "SetProcessName,")
                    equal(peer.line(), '#nvtxt-range {"key":"run"}')  # a comment there
                    peer.ack(2)
                    equal(peer.line(), None)
                err = client.expect(3)
                contains(err, "no escapes, which line 3 of sh needs")
                equal("runs on" in err, False, err)
        equal(len(os.listdir(spool)), 2)
        with Running("nvtxt-send", "-q", "--socket", fake.path, "--", "sh", "-c",
                     "echo '%s'; read word; echo $word; exit 4" % quoted.replace("'", "'\\''")) as client:
            with fake.accept() as peer:
                peer.old_welcome(0, levels=True)
                contains(peer.line(), "SetProcessName,")
                contains(peer.line(), "SetCategoryName,")
                peer.ack(2)
                equal(peer.line(), None)
            client.say("done\n")
            err = client.expect(4)
            contains(err, "line 3 of sh needs")
            contains(err, "sh runs on without being recorded")


def test_nvtx_at_a_daemon_without_it_is_refused_and_the_command_runs():
    with Fake() as fake:
        for command, wanted in (("true", 76), ("exit 5", 5)):
            with Running("nvtxt-send", "--socket", fake.path, "--nvtx", "--", "sh", "-c", command) as client:
                with fake.accept() as peer:
                    equal(peer.hello["nvtx"], 1)
                    peer.old_welcome(0)
                    equal(peer.line(), None)
                err = client.expect(wanted)
                contains(err, "(a version before 0.2.0) is too old for nvtxt-send %s: it has no extension nvtx"
                         % version())


# ---- No daemon, bad usage ---------------------------------------------------------------------------

def test_a_daemon_that_was_named_and_is_absent_is_said_in_one_sentence():
    with Folder() as folder:
        path = folder.name("none.sock")
        status, out, err = run_client("nvtxt-send", "--socket", path, stdin="x = 1\n")
        equal((status, out), (69, ""))
        equal(err, "nvtxt-send: no daemon at %s: No such file or directory (--socket names it)\n" % path)
        start = time.monotonic()
        status, _, err = run_client("nvtxt-send", "--wait=0.2", "--socket", path, stdin="x = 1\n")
        equal(status, 69)
        assert time.monotonic() - start >= 0.2


def test_a_path_that_no_socket_can_have_is_named():
    path = "/tmp/" + "p" * 103
    status, _, err = run_client("nvtxt-send", "--socket", path)
    equal(status, 64)
    contains(err, path)
    contains(err, "107")
    equal(len(err.splitlines()), 1)
    equal(run_client("nvtxt-send", "--socket", path[:-1])[0], 69)
    equal(run_client("nvtxt-send", "--socket", "")[0], 64)


def test_bad_usage_is_status_64_and_one_sentence():
    for args in (["--nonsense"], ["--pid", "x"], ["--pid", "16777216"], ["--wait=soon"],
                 ["--timeout", "-1"], ["--timeout"], ["--mode", "lin"], ["--name", "n", "a", "b"],
                 ["--mode", "lin", "--ns-a", "1", "--freq", "5"]):
        status, out, err = run_client("nvtxt-send", *args)
        equal((status, out), (64, ""), args)
        contains(err, "nvtxt-send: ")


def test_help_fits_a_screen():
    for name in ("nvtxt-send", "nvtxt-check", "nvtxt-import"):
        status, out, err = run_client(name, "--help")
        equal((status, err), (0, ""))
        assert len(out.splitlines()) <= 24, out
        assert max(len(line) for line in out.splitlines()) <= 80, out
        status, out, _ = run_client(name, "--version")
        equal((status, out[:len(name) + 9]), (0, name + " (nvtxtd)"))


def test_help_that_cannot_be_written_is_a_fault():
    for name in ("nvtxt-send", "nvtxt-check", "nvtxt-import", "nvtxt-export", "nvtxt-ctl"):
        for option in ("--help", "--version"):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([program("client", name), option], stdout=full,
                                      stderr=subprocess.PIPE, timeout=DEADLINE)
            equal((done.returncode, done.stderr.decode()),
                  (74, name + ": cannot write to stdout: No space left on device\n"))


# ---- A scripted daemon ------------------------------------------------------------------------------

def test_a_broken_connection_is_resumed_behind_the_committed_line():
    with Fake() as fake, running(fake) as client:
        client.say("1\n2\n3\n4\n")
        with fake.accept(welcome=0) as peer:
            equal(peer.hello["name"], "<stdin>")
            equal(peer.hello["pid"], client.process.pid)
            assert "acked" not in peer.hello, peer.hello
            session = peer.hello["session"]
            equal(peer.lines(4), ["1", "2", "3", "4"])
            peer.diagnostic(1)
            peer.ack(1)
            peer.diagnostic(2)
        # Gone without a word; lines up to 3 were committed.
        client.say("5\n6")
        with fake.accept() as peer:
            equal((peer.hello["session"], peer.hello["acked"]), (session, 1))
            peer.welcome(3)
            peer.diagnostic(2)
            peer.diagnostic(3)
            equal(peer.lines(2), ["4", "5"])
            client.close()
            equal(peer.lines(2), ["6", "#nvtxt-end"])
            peer.ack(6)
            peer.end(6, errors=3, events=3)
            err = client.expect(1)
        equal([line.split(" ")[0] for line in err.splitlines() if "stray-byte" in line],
              ["<stdin>:1:1:", "<stdin>:2:1:", "<stdin>:3:1:"])


def test_a_session_survives_break_after_break():
    with Fake() as fake, running(fake, "-q") as client:
        client.say("".join("%d\n" % i for i in range(1, 301)))
        client.close()
        committed = 0
        got = []
        while True:
            peer = fake.accept()
            with peer:
                equal(peer.hello.get("acked", 0) <= committed, True)
                peer.welcome(committed)
                line = None
                for line in iter(peer.line, None):
                    if line == "#nvtxt-end":
                        break
                    got.append(line)
                    committed += 1
                    if committed % 7 == 0:
                        peer.ack(committed - 3)
                    if committed % 31 == 0:
                        peer.socket.sendall(b'{"type":"ack","li')
                        break
                if line == "#nvtxt-end":
                    peer.end(committed)
                    break
        client.expect(0)
        equal(got, [str(i) for i in range(1, 301)])


def test_input_goes_on_while_the_daemon_is_away():
    with Fake() as fake, running(fake) as client:
        client.say("1\n")
        with fake.accept(welcome=0) as peer:
            equal(peer.line(), "1")
            fake.vanish()
        wait_for(lambda: "gone" in client.stderr(), "it says that the daemon is gone")
        client.say("".join("%d\n" % i for i in range(2, 100001)))
        fake.listen()
        with fake.accept(welcome=0) as peer:
            equal(peer.lines(100000), [str(i) for i in range(1, 100001)])
            client.close()
            equal(peer.line(), "#nvtxt-end")
            peer.end(100000)
            contains(client.expect(0), "connected to " + fake.path)


def test_memory_is_bounded_when_nothing_is_acknowledged():
    with Fake() as fake, running(fake, "-q") as client:
        line = b"x" * 1023 + b"\n"
        total = 40 << 10  # lines, 40 MiB
        os.set_blocking(client.process.stdin.fileno(), False)
        peer = fake.accept(welcome=0)
        peer.socket.setblocking(False)
        given = taken = idle = 0
        rest = b""
        # Until both sides stand still; a busy machine may stand still before that.
        while idle < 20 or taken <= 15 << 20:
            moved = False
            try:
                rest = rest or line * 64 * (given < total)
                n = os.write(client.process.stdin.fileno(), rest) if rest else 0
                rest = rest[n:]
                given += 64 * (n > 0 and not rest)
                moved = n > 0
            except BlockingIOError:
                pass
            try:
                n = len(peer.socket.recv(1 << 20))
                taken += n
                moved = moved or n > 0
            except BlockingIOError:
                pass
            idle = 0 if moved else idle + 1
            assert idle < 50 * DEADLINE, taken
            if not moved:
                select.select([peer.socket], [], [], 0.02)
        assert taken < 18 << 20, taken
        with open("/proc/%d/status" % client.process.pid) as file:
            rss = [int(row.split()[1]) for row in file if row.startswith("VmRSS")][0]
        assert rss < 200 << 10, "%d KiB" % rss  # a sanitizer's share included
        peer.socket.setblocking(True)
        peer.ack(taken // 1024)
        wait_for(lambda: select.select([peer.socket], [], [], 0)[0], "it goes on")
        peer.close()


def test_both_directions_may_be_full():
    """The daemon answers for long before it reads on: the client must read what it says."""
    with Fake() as fake, Folder() as folder:
        path = folder.write("f", "x = 1\n" + ("z" * 99 + "\n") * 80000)
        with running(fake, "-q", path) as client, fake.accept(welcome=0) as peer:
            wait_for(lambda: select.select([peer.socket], [], [], 0)[0], "it sends")
            for _ in range(200000):
                peer.ack(0)
            equal(peer.lines(80001)[-1], "z" * 99)
            equal(peer.line(), "#nvtxt-end")
            peer.end(80001)
            client.expect(0)


def test_refusals_that_pass_are_temporary_failures():
    for code in ("quota", "shutting-down", "busy-session"):
        with Fake() as fake, running(fake) as client:
            with fake.accept() as peer:
                peer.error(code, "come back later")
                err = client.expect(75)
        contains(err, "come back later [%s]" % code)
        with Fake() as fake, running(fake, "--wait", "-q") as client:
            with fake.accept() as peer:
                peer.error(code)
            client.close()
            with fake.accept(welcome=0) as peer:
                equal(peer.line(), "#nvtxt-end")
                peer.end(0)
                equal(client.expect(0), "")


def test_a_daemon_that_dies_before_its_welcome_is_awaited_for_a_while():
    with Fake() as fake, running(fake, "-q") as client:
        client.close()
        fake.accept().close()
        with fake.accept(welcome=0) as peer:
            equal(peer.line(), "#nvtxt-end")
            peer.end(0)
            equal(client.expect(0), "")
    with Fake() as fake, running(fake, "--timeout", "0.1") as client:
        fake.accept().close()
        fake.vanish()
        contains(client.expect(69), "no daemon at %s: " % fake.path)


def test_a_daemon_that_shuts_down_is_awaited():
    with Fake() as fake, running(fake) as client:
        client.say("1\n2\n")
        with fake.accept(welcome=0) as peer:
            equal(peer.lines(2), ["1", "2"])
            peer.ack(1)
            peer.error("shutting-down", "the daemon stops")
        with fake.accept(welcome=1) as peer:
            equal(peer.line(), "2")
            client.close()
            equal(peer.line(), "#nvtxt-end")
            peer.end(2)
            client.expect(0)


def test_refusals_that_stay_end_it():
    for code in ("unsupported-protocol", "bad-hello", "something-new"):
        with Fake() as fake, running(fake, "--wait") as client:
            with fake.accept() as peer:
                peer.error(code, "not with you")
                err = client.expect(76)
        contains(err, "not with you [%s]" % code)


def test_answers_that_make_no_sense_end_it():
    with Fake() as fake, running(fake) as client:
        with fake.accept() as peer:
            peer.socket.sendall(b"220 mail.example.org ESMTP\n")
            contains(client.expect(76), "no reply")
    with Fake() as fake, running(fake) as client:
        client.say("1\n2\n")
        with fake.accept(welcome=0) as peer:
            peer.lines(2)
            peer.ack(2)
        with fake.accept(welcome=1) as peer:
            contains(client.expect(76), "forgot")


def test_a_timeout_bounds_the_wait_for_a_lost_daemon():
    with Fake() as fake, running(fake, "--timeout", "0.3") as client:
        client.say("1\n2\n3\n")
        with fake.accept(welcome=0) as peer:
            peer.lines(3)
            peer.ack(1)
            fake.vanish()
        err = client.expect(69)
        contains(err, "2 lines of <stdin> not acknowledged")


def leaves_at_once():
    """Whether a second signal ends it before the 5 s that the first one gives have passed."""
    with Fake() as fake, running(fake) as client:
        client.say("1\n")
        with fake.accept(welcome=0) as peer:
            equal(peer.line(), "1")
            start = time.monotonic()
            client.signal(signal.SIGTERM)
            equal(peer.line(), "#nvtxt-end", "it has seen the first one")
            client.signal(signal.SIGINT)
            equal(client.wait(), 128 + signal.SIGTERM)
            return time.monotonic() - start < 5


def test_a_second_signal_leaves_at_once():
    # One that waits for its deadline never does; one that a busy machine holds up may not.
    assert any(leaves_at_once() for _ in range(5))


def test_a_signal_waits_for_the_acknowledgement_up_to_a_deadline():
    with Fake() as fake, running(fake) as client:
        client.say("1\n2\n")
        with fake.accept(welcome=0) as peer:
            equal(peer.lines(2), ["1", "2"])
            peer.ack(1)
            start = time.monotonic()
            client.signal(signal.SIGTERM)
            equal(client.wait(), 128 + signal.SIGTERM)
            assert time.monotonic() - start > 4
            contains(client.stderr(), "1 line of <stdin> not acknowledged")


def test_a_signal_does_not_wait_for_a_daemon_that_is_stopped():
    with Daemon() as daemon, running(daemon) as client:
        client.say(marker(1, "a"))
        wait_for(lambda: texts(daemon) == ["a"], "it reads")
        halt(daemon.process)
        try:
            client.say(marker(2, "b"))
            client.signal(signal.SIGINT)
            said = client.expect(128 + signal.SIGINT)
        finally:
            daemon.process.send_signal(signal.SIGCONT)
        contains(said, "not acknowledged; the daemon is stopped, too")
        wait_for(lambda: texts(daemon) == ["a", "b"], "what was sent is stored")


def test_a_signal_at_the_end_of_a_stream_changes_nothing():
    with Daemon() as daemon, running(daemon) as client:
        client.say(marker(1, "a"))
        wait_for(lambda: texts(daemon) == ["a"], "it reads")
        halt(client.process)
        client.say(marker(2, "b")[:-1])
        client.close()
        client.signal(signal.SIGTERM)
        client.signal(signal.SIGCONT)
        client.expect(0)
        equal(texts(daemon), ["a", "b"])


def test_a_file_that_a_signal_cuts_short_ends_with_a_whole_line():
    with Daemon() as daemon, Folder() as folder:
        path = folder.write("big", "@Marker, Time\n" + "Marker, 1234567890123456789\n" * 1500000)
        with running(daemon, path) as client:
            wait_for(lambda: daemon.query("SELECT 1 FROM NVTX_EVENTS LIMIT 1"), "it sends")
            client.signal(signal.SIGINT)
            client.wait()
        equal(daemon.query("SELECT DISTINCT start FROM NVTX_EVENTS"), [(1234567890123456789,)])
        equal(daemon.query("SELECT sum(errors) FROM NVTXT_SOURCES"), [(0,)])


def test_a_file_that_a_signal_cuts_short_is_not_done():
    with Fake() as fake, Folder() as folder:
        # Long lines: what is on its way has to be read before the 5 s after a signal are over.
        path = folder.write("big", "x = 1\n" + ("x" * 3999 + "\n") * 10000)
        with running(fake, path, path) as client, fake.accept(welcome=0) as peer:
            peer.lines(10)
            client.signal(signal.SIGINT)
            count = 10
            for line in iter(peer.line, None):
                if line == "#nvtxt-end":
                    break
                count += 1
            peer.end(count)
            equal(client.wait(), 128 + signal.SIGINT)
            contains(client.stderr(), "is stored up to line")


def test_a_closed_stderr_does_not_speak_into_the_session():
    with Fake() as fake, Folder() as folder:
        path = folder.write("f", "x = 1\n")
        client = subprocess.Popen(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh",
                                   program("client", "nvtxt-send"), "--socket", fake.path, path])
        with fake.accept(welcome=0) as peer:
            equal(peer.lines(2), ["x = 1", "#nvtxt-end"])
            peer.diagnostic(1)
            peer.end(1, errors=1)
            equal(client.wait(DEADLINE), 1)
            equal(peer.line(), None)


def test_nobody_is_asked_for_input_before_a_daemon_is_there():
    read, write = os.pipe()
    os.write(write, b"precious\n")
    with Folder() as folder, open(read, "rb", buffering=0) as end:
        for args in ([], ["--wait=0.2"]):
            with Running("nvtxt-send", "--socket", folder.name("none"), *args, stdin=end) as client:
                client.expect(69)
        os.close(write)
        equal(end.read(), b"precious\n")


# ---- A terminal -------------------------------------------------------------------------------------

def test_colour_is_for_terminals_only():
    with Daemon() as daemon, Folder() as folder:
        path = folder.write("bad", "z = 1\nx = $y\n")
        status, text = run_in_terminal("nvtxt-send", "--socket", daemon.socket, path)
        equal(status, 1)
        contains(text, "\033[1;31merror\033[0m: ")
        for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            _, text = run_in_terminal("nvtxt-send", "--socket", daemon.socket, path, env=env)
            contains(text, ":2:5: error: ")
            assert "\033[1" not in text, text


def test_progress_is_shown_for_long_files_and_wiped():
    with Fake() as fake, Folder() as folder:
        path = folder.write("long", "x = 1\n2\n")
        peers = []

        def until(process, text):
            if not peers:
                peers.append(fake.accept(welcome=0))
                peers[0].lines(3)
                peers[0].ack(1)
            if b"2 lines read, 1 committed" in text:
                peers[0].end(2)
                return True
            return False

        status, text = run_in_terminal("nvtxt-send", "--socket", fake.path, path, until=until)
        peers[0].close()
        equal(status, 0)
        contains(text, "100% 2 lines read, 1 committed")
        assert text.endswith("\r\033[K"), repr(text)


if __name__ == "__main__":
    run(globals())
