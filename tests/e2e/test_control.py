# SPDX-License-Identifier: Apache-2.0
"""The control socket and nvtxt-ctl."""
import contextlib
import json
import os
import pty
import select
import sqlite3
import stat
import subprocess
import tempfile

import lib

HEADER = 'TimeBase = Manual\n@Marker, Time, Message\n'


def ctl(daemon, *arguments, status=0, env=None, socket=True):
    options = ["--socket", daemon.control_socket] if socket else []
    result = subprocess.run([lib.program("client", "nvtxt-ctl"), *options, *arguments],
                            capture_output=True, text=True, timeout=lib.DEADLINE, check=False,
                            env=env)
    lib.equal(result.returncode, status, (arguments, result.stdout, result.stderr))
    return result


def test_status_tells_the_daemons_state():
    with lib.Daemon() as daemon:
        daemon.send(HEADER + 'Marker, 1, "a"\nbad\n')
        status = daemon.control("status")
        lib.equal((status["pid"], status["store"], status["synchronous"], status["last_error"]),
                  (daemon.process.pid, daemon.store, "full", None))
        lib.equal((status["lines"], status["events"], status["errors"], status["warnings"]),
                  (4, 1, 1, 0))
        lib.equal((status["bytes_in_flight"], status["queue_depth"], status["connections"]),
                  (0, 0, 0))
        assert status["store_bytes"] > 0 and status["wal_bytes"] > 0, status
        assert status["commits"] >= 1, status


def test_sources_lists_open_ones_with_counters():
    with lib.Daemon() as daemon:
        with daemon.plain() as plain, daemon.session(name="a.nvtxt") as session:
            plain.send(HEADER + 'SetFileDisplayName, "shown"\n')
            session.send(HEADER + "bad\n")
            session.ack(3)
            daemon.flush()
            rows = {row["kind"]: row for row in daemon.control("sources")["sources"]}
            lib.equal((rows["session"]["name"], rows["session"]["session"],
                       rows["session"]["lines"], rows["session"]["errors"]),
                      ("a.nvtxt", session.id, 3, 1))
            lib.equal((rows["plain"]["display_name"], rows["plain"]["pid"], rows["plain"]["uid"]),
                      ("shown", os.getpid(), os.getuid()))


def test_flush_answers_when_it_is_committed():
    with lib.Daemon(config="CommitInterval=60s\n") as daemon:
        with daemon.plain() as connection:
            for number in range(20):
                connection.send((HEADER if not number else "") + 'Marker, %d, "m"\n' % number)
                lib.wait_for(lambda wanted=number: [s for s in daemon.control("sources")["sources"]
                                                    if s["events"] == wanted + 1], "it is read")
                daemon.flush()
                lib.equal(daemon.query("SELECT count(*) FROM NVTX_EVENTS"), [(number + 1,)])


def test_help_lists_the_commands():
    with lib.Daemon() as daemon:
        names = [row["name"] for row in daemon.control("help")["commands"]]
        assert {"help", "status", "sources", "flush"} <= set(names), names


def test_answers_bad_requests_and_goes_on():
    with lib.Daemon() as daemon:
        with lib.Connection(daemon.control_socket) as connection:
            for line, code in ((b"nonsense", "bad-request"), (b"[]", "bad-request"),
                               (b'{"id":5}', "bad-request"), (b'{"command":7}', "bad-request"),
                               (b'{"command":"%s"}' % (b"x" * 500), "bad-request"),
                               (b"\xff\xfe", "bad-request"), (b"[" * 5000, "bad-request"),
                               (b"x" * 200000, "bad-request"),
                               (b'{"id":6,"command":"sing"}', "unknown-command")):
                connection.send(line + b"\n")
                reply = connection.reply()
                lib.equal((reply["ok"], reply["error"]["code"]), (False, code), line[:40])
            connection.send(b'{"id":7,"command":"status"}\n{"id":8,"comm')
            lib.equal(connection.reply()["id"], 7)
            connection.send(b'and":"help"}\n')
            lib.equal(connection.reply()["id"], 8)


def test_answers_come_in_the_order_of_the_requests():
    with lib.Daemon() as daemon:
        daemon.send(HEADER)
        commands = ["status", "flush", "sing", "checkpoint", "help", "diagnostics", "flush"] * 5
        lines = [json.dumps({"id": number, "command": command})
                 for number, command in enumerate(commands)]
        with lib.Connection(daemon.control_socket) as connection:
            connection.send("\n".join(lines))  # the last one without its end
            connection.socket.shutdown(1)
            lib.equal([reply["id"] for reply in connection.replies()], list(range(len(lines))))


def test_a_request_is_served_when_those_before_it_are_answered():
    with lib.Daemon(shared=True) as daemon:
        lock = lib.LockedStore(daemon)
        with daemon.plain() as plain, lib.Connection(daemon.control_socket) as connection:
            plain.send(HEADER)
            lib.wait_for(lambda: daemon.control("status")["in_trouble"], "commits fail")
            connection.send(b'{"id":1,"command":"flush"}\n' +
                            b'{"id":2,"command":"status"}\n' * 1000)
            lock.release()
            lib.equal(connection.reply()["id"], 1)
            lib.equal([connection.reply()["result"]["in_trouble"] for _ in range(1000)],
                      [False] * 1000)


def test_answers_are_not_made_faster_than_they_are_read():
    with lib.Daemon() as daemon, lib.Connection(daemon.control_socket) as connection:
        sources = [daemon.plain() for _ in range(100)]
        for source in sources:
            source.send(HEADER)
        lib.wait_for(lambda: len(daemon.control("sources")["sources"]) == 100, "all are known")
        connection.send(b'{"command":"sources"}\n' * 4000)
        for _ in range(60):  # turns in which it may go on with those: more than 64 MiB of replies
            daemon.control("log-level")
        for _ in range(50):
            lib.equal(len(connection.reply()["result"]["sources"]), 100)
        for source in sources:
            source.close()


def test_an_id_is_repeated_as_it_is():
    with lib.Daemon() as daemon:
        with lib.Connection(daemon.control_socket) as connection:
            for number in ("a", 1.5, None, [1, {"b": True}], -2 ** 63):
                connection.send(json.dumps({"id": number, "command": "log-level"}) + "\n")
                reply = connection.reply()
                lib.equal((reply["id"], reply["ok"]), (number, True))
            for line in ('{"command":"sing"}', "nonsense"):
                connection.send(line + "\n")
                reply = connection.reply()
                lib.equal((reply["id"], reply["ok"]), (None, False))


def test_events_that_do_not_wait_come_to_a_caller_that_half_closed():
    with lib.Daemon() as daemon:
        daemon.send(HEADER + 'Marker, 1, "a"\n')
        callers = [lib.Connection(daemon.control_socket) for _ in range(20)]
        for caller in callers:
            caller.send(b'{"id":1,"command":"events","after":"0:0"}\n')
            caller.socket.shutdown(1)
        for caller in callers:
            lib.equal([event["message"] for event in caller.reply()["result"]["events"]], ["a"])
            caller.close()


def test_callers_that_are_gone_are_not_in_the_way():
    with lib.Daemon(shared=True) as daemon:
        lock = lib.LockedStore(daemon)
        with daemon.plain() as plain:
            plain.send(HEADER)
            lib.wait_for(lambda: daemon.control("status")["in_trouble"], "commits fail")
            halves = [lib.Connection(daemon.control_socket) for _ in range(20)]
            for number in range(40):
                with lib.Connection(daemon.control_socket) as connection:
                    connection.send(b'{"id":1,"command":"flush"}\n')
            for half in halves:
                half.send(b'{"id":1,"command":"flush"}\n')
                half.socket.shutdown(1)
            for half in halves:
                half.close()
            for number in range(20):
                lib.equal(daemon.control("status")["in_trouble"], True)
            lock.release()


def test_takes_a_last_request_without_line_end():
    with lib.Daemon() as daemon:
        with lib.Connection(daemon.control_socket) as connection:
            connection.send(b'{"id":3,"command":"flush"}')
            connection.socket.shutdown(1)
            lib.equal(connection.reply(), {"id": 3, "ok": True, "result": {}})
            connection.expect_end_of_stream()


def test_a_caller_that_left_does_no_harm():
    with lib.Daemon() as daemon:
        for _ in range(50):
            with lib.Connection(daemon.control_socket) as connection:
                connection.send(b'{"id":3,"command":"flush"}\n{"id":4,"command":"status"}\n')
        daemon.flush()


def test_many_callers_are_served_at_once():
    with lib.Daemon() as daemon:
        callers = [lib.Connection(daemon.control_socket) for _ in range(80)]
        for caller in callers:
            caller.send(b'{"id":1,"command":"help"}\n')
        for caller in callers:
            lib.equal(caller.reply()["ok"], True)
            caller.close()


def test_modes_of_the_sockets():
    with lib.Daemon(config="SocketMode=0640\n") as daemon:
        wanted = 0o660 if os.getuid() == 0 else 0o600  # a person's is that person's alone
        lib.equal(stat.S_IMODE(os.stat(daemon.control_socket).st_mode), wanted)
        lib.equal(stat.S_IMODE(os.stat(daemon.socket).st_mode), 0o640)


def test_a_slip_in_a_command_is_answered_with_what_was_meant():
    with lib.Daemon() as daemon:
        for word, meant in (("stauts", "status"), ("Rotat", "rotate")):
            said = ctl(daemon, word, status=64).stderr
            assert 'did you mean "%s"?' % meant in said, said
        assert "mean" not in ctl(daemon, "sessions", status=64).stderr


def test_each_fault_of_a_reload_is_a_line():
    with lib.Daemon(config="MaxLine=8K\n") as daemon:
        with open(os.path.join(daemon.folder, "nvtxtd.conf"), "a", encoding="utf-8") as file:
            file.write("MaxVariables=many\nSokcet=/x\n")
        said = ctl(daemon, "reload", status=1).stderr.splitlines()
        lib.equal(len(said), 2, said)
        for line, word in zip(said, ("MaxVariables", "Sokcet")):
            assert line.startswith("nvtxt-ctl: reload: ") and word in line, said


def in_terminal(daemon, *arguments, until):
    """stdout, which is a pipe, and what stderr, a terminal, got up to a text."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([lib.program("client", "nvtxt-ctl"), "--socket",
                                daemon.control_socket, *arguments],
                               stdout=subprocess.PIPE, stderr=theirs,
                               env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    said = b""
    try:
        while until not in said:
            assert select.select([ours], [], [], lib.DEADLINE)[0], said
            said += os.read(ours, 4096)
    finally:
        process.terminate()
        out = process.communicate(timeout=lib.DEADLINE)[0]
        os.close(ours)
    return out.decode()


def test_what_is_empty_says_so_to_people():
    with lib.Daemon() as daemon:
        lib.equal(in_terminal(daemon, "tail", until=b"no event yet\r\n"), "")
        lib.equal(in_terminal(daemon, "tail", "--kind", "mark", until=b"no event yet that fits"), "")
        out = in_terminal(daemon, "top", "--interval", "0.1", until=b"nothing is connected")
        assert "nothing" not in out, out
        done = ctl(daemon, "top", "--interval", "0.1", "--count", "1")
        lib.equal(done.stderr, "")


def test_nvtxt_ctl_prints_text_and_json():
    with lib.Daemon() as daemon:
        daemon.send(HEADER + 'Marker, 1, "a"\n')
        with daemon.session(name="evil\x1b[2Jname" + "x" * 200) as session:
            session.send(HEADER)
            session.ack(2)
            text = ctl(daemon, "status").stdout
            assert "uptime:" in text and daemon.store in text, text
            lib.equal(json.loads(ctl(daemon, "--json", "status").stdout)["events"], 1)
            table = ctl(daemon, "sources").stdout
            assert "\x1b" not in table and "evil" in table, table
            assert max(len(line) for line in table.splitlines()) <= 80, table
        lib.wait_for(lambda: daemon.control("status")["connections"] == 0, "it is closed")
        daemon.control("flush")
        lib.equal(ctl(daemon, "sources").stdout, "nothing is connected\n")
        lib.equal(ctl(daemon, "flush").stdout, "")
        assert "status" in ctl(daemon, "help").stdout


def test_nvtxt_ctl_finds_the_socket_beside_the_data_socket():
    with lib.Daemon() as daemon:
        os.symlink(daemon.control_socket, os.path.join(daemon.folder, "control.sock"))
        ctl(daemon, "status", socket=False, env={**os.environ, "NVTXT_SOCKET": daemon.socket})


def test_nvtxt_ctl_takes_the_data_socket_for_the_one_beside_it():
    with tempfile.TemporaryDirectory() as folder, lib.Daemon(start=False) as daemon:
        daemon.socket = os.path.join(folder, "nvtxtd.sock")
        daemon.control_socket = os.path.join(folder, "control.sock")
        daemon.start()
        done = subprocess.run([lib.program("client", "nvtxt-ctl"), "--socket", daemon.socket,
                               "--json", "status"], capture_output=True, check=True)
        lib.equal(json.loads(done.stdout)["pid"], daemon.process.pid)
        daemon.stop()
        daemon.process = None


def test_health_tells_what_was_lost():
    with lib.Daemon(shared=True) as daemon:
        daemon.send(HEADER + 'SetFileDisplayName, "shown\x1b"\nMarker, 1, "a"\n')
        lib.equal(ctl(daemon, "health").stdout, "nothing was lost\n")
        lib.equal(daemon.control("status")["losses"], 0)
        store = sqlite3.connect(daemon.store, isolation_level=None, timeout=lib.DEADLINE)
        store.execute("INSERT INTO NVTXT_LOSSES VALUES (1700000000000000000, 1, 42, 7, 'memory', 12)")
        store.execute("INSERT INTO NVTXT_LOSSES (reason) VALUES ('partial-line')")
        store.close()
        text = ctl(daemon, "health", status=1).stdout.splitlines()
        lib.equal((len(text), text[1].split()[-5:-3], text[2].split()[2:6]),
                  (3, ["partial-line", "0"], ["memory", "12", "1", "7"]), text)
        assert "shown" in text[2] and "\x1b" not in text[2], text
        assert max(len(line) for line in text) <= 80, text
        told = json.loads(ctl(daemon, "--json", "health", status=1).stdout)
        lib.equal((told["healthy"], told["total"], told["last_error"], told["losses"][1]),
                  (False, 2, None, {"at_ns": 1700000000000000000, "reason": "memory", "count": 12,
                                    "source": 1, "uid": 42, "pid": 7, "name": "shown\x1b"}))
        daemon.send("# another transaction\n")
        lib.equal(daemon.control("status")["losses"], 2)


def note_losses(daemon, count):
    with contextlib.closing(sqlite3.connect(daemon.store, isolation_level=None,
                                            timeout=lib.DEADLINE)) as store:
        store.execute("WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT ?) INSERT INTO "
                      "NVTXT_LOSSES SELECT i, 1, 1, 1, 'memory', 1 FROM n", (count,))


def test_health_counts_losses_whose_segment_is_gone():
    gone = "in segments that are not kept any more"
    with lib.Daemon(config="KeepFiles=2\n", shared=True) as daemon:
        first = daemon.segments()[0]
        note_losses(daemon, 1)
        daemon.control("rotate")
        daemon.send(HEADER + 'Marker, 1, "x"\n')
        daemon.control("rotate")
        daemon.send(HEADER + 'Marker, 2, "x"\n')
        lib.wait_for(lambda: first not in daemon.segments(), "the first segment is removed")
        for _ in range(2):
            lib.equal(ctl(daemon, "health", status=1).stdout.splitlines()[0], "1 loss, %s" % gone)
            told = daemon.control("health")
            lib.equal((told["healthy"], told["total"], told["losses"]), (False, 1, []))
            daemon.stop()
            daemon.start()
        note_losses(daemon, 2)
        text = ctl(daemon, "health", status=1).stdout.splitlines()
        lib.equal((len(text), text[3]), (4, "1 more loss, " + gone), text)
        note_losses(daemon, 1000)
        text = ctl(daemon, "health", status=1).stdout.splitlines()
        lib.equal((len(text), text[-1]), (1002, "3 older losses"))


def test_health_tells_what_the_start_had_no_room_to_tell():
    with lib.Daemon() as daemon:
        note = daemon.store + ".lost"
        os.symlink("1700000000000000000 5", note)
        told = daemon.control("health")
        lib.equal((told["healthy"], told["total"], told["losses"][0]["count"]), (False, 1, 5))
        os.symlink("1700000000000000000 6", note)
        daemon.send(HEADER + 'Marker, 1, "a"\n')
        lib.equal(daemon.control("status")["losses"], 2)
        lib.equal(os.path.lexists(note), False)
        os.mkdir(note)  # nobody knows what it is to say
        lib.equal(ctl(daemon, "health", status=1).stdout,
                  "losses: 2; the store cannot be asked for them now\n")
        os.rmdir(note)


def test_nvtxt_ctl_faults():
    with lib.Daemon() as daemon:
        assert "no such command" in ctl(daemon, "sing", status=64).stderr
        assert "command" in ctl(daemon, status=64).stderr
        ctl(daemon, "status", "more", status=64)
        ctl(daemon, "--frobnicate", status=64)
        daemon.stop()
        error = ctl(daemon, "status", status=69).stderr
        lib.equal(error, "nvtxt-ctl: no daemon at %s: No such file or directory (--socket names it)\n"
                  % daemon.control_socket)
        daemon.start()


def test_a_socket_that_is_not_for_us_is_no_reason_to_start_a_daemon():
    user = 65534 if os.getuid() == 0 else None  # as root: somebody who is not
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o700 if user else 0)
        for program in "nvtxt-ctl", "nvtxt-send":
            try:
                done = subprocess.run([lib.program("client", program), "--socket", folder + "/s"]
                                      + ["status"] * (program == "nvtxt-ctl"), user=user, cwd="/",
                                      stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                      timeout=lib.DEADLINE, check=False)
            except PermissionError as reason:
                raise lib.Skip("the build is not for others to read") from reason
            lib.equal(done.returncode, 77, done.stderr)
            assert "Permission denied" in done.stderr, done.stderr
            assert not user or "nly its owner root may" in done.stderr, done.stderr
            assert "nvtxtd'" not in done.stderr and "tart " not in done.stderr, done.stderr
        os.chmod(folder, 0o700)


def ask_as(uid, path, request='{"id": 1, "command": "status"}\n'):
    """The first reply that a process of this user gets."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            with lib.Connection(path) as connection:
                with contextlib.suppress(BrokenPipeError):
                    connection.send(request)
                os.write(theirs, json.dumps(connection.reply()).encode())
        finally:
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text)


def test_another_user_is_told_that_it_is_not_served():
    if os.getuid() != 0:
        raise lib.Skip("only root can be somebody else")
    with lib.Daemon() as daemon:
        os.chmod(daemon.folder, 0o755)
        os.chmod(daemon.control_socket, 0o666)  # as if its mode were wrong: the uid counts
        for request in ('{"id": 1, "command": "status"}\n', ""):  # it is told before it asks
            reply = ask_as(65534, daemon.control_socket, request)
            lib.equal((reply["ok"], reply["error"]["code"]), (False, "forbidden"))
        lib.equal(ask_as(0, daemon.control_socket)["ok"], True)


lib.run(globals())
