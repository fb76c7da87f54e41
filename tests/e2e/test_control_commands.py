# SPDX-License-Identifier: Apache-2.0
"""Control commands with arguments: what they do, what they refuse, and how nvtxt-ctl shows it."""
import json
import os
import re
import signal
import sqlite3
import stat
import subprocess

import lib

HEADER = 'TimeBase = Manual\n@Marker, Time, Message\n'


def ctl(daemon, *arguments, status=0, **more):
    result = subprocess.run([lib.program("client", "nvtxt-ctl"), "--socket", daemon.control_socket,
                             *arguments], capture_output=True, text=True, timeout=lib.DEADLINE,
                            check=False, **more)
    lib.equal(result.returncode, status, (arguments, result.stdout, result.stderr))
    wide = [line for line in result.stdout.splitlines() if len(line) > 80]
    assert "--json" in arguments or not wide, wide
    return result


def refused(daemon, command, **arguments):
    reply = daemon.control_raw(json.dumps({"id": 4, "command": command, **arguments}).encode())
    lib.equal((reply["id"], reply["ok"]), (4, False), reply)
    return reply["error"]["code"], reply["error"]["message"]


def test_arguments_that_are_wrong_are_named():
    with lib.Daemon() as daemon:
        for command, arguments, name in (
                ("status", {"limit": 1}, "limit"), ("flush", {"Id": 1}, "Id"),
                ("diagnostics", {"limit": 0}, "limit"), ("diagnostics", {"limit": "5"}, "limit"),
                ("diagnostics", {"limit": 1001}, "limit"), ("diagnostics", {"source": 1.5}, "source"),
                ("disconnect", {}, "source"), ("disconnect", {"source": None}, "source"),
                ("log-level", {"level": "loud"}, "level"), ("log-level", {"level": 3}, "level")):
            code, message = refused(daemon, command, **arguments)
            lib.equal(code, "bad-argument", (command, arguments))
            assert '"%s"' % name in message, (command, arguments, message)
        assert "error|warning|info|debug" in refused(daemon, "log-level", level="x")[1]
        commands = {row["name"]: row for row in daemon.control("help")["commands"]}
        lib.equal(commands["disconnect"]["arguments"],
                  [{"name": "source", "type": "integer", "required": True}])
        lib.equal(commands["status"]["arguments"], [])


def test_diagnostics_of_all_and_of_one_source():
    with lib.Daemon() as daemon:
        daemon.send("bad\x1b[2J line\n" * 3)
        with daemon.session(name="named.nvtxt") as session:
            session.send(HEADER + "\n" + "Marker, $nowhere, \"m\"\n")
            session.ack(4)
            rows = daemon.control("diagnostics")["diagnostics"]
            lib.equal([(row["source"], row["line"]) for row in rows],
                      [(1, 1), (1, 2), (1, 3), (session.welcome["source"], 4)])
            last = rows[-1]
            lib.equal((last["name"], last["column"], last["severity"], last["stage"]),
                      ("named.nvtxt", 9, "error", "lexing"))
            lib.equal(last["code"], daemon.query("SELECT code FROM NVTXT_DIAGNOSTICS "
                                                 "WHERE sourceId = ?", last["source"])[0][0])
            assert last["message"] and last["at_ns"] > 10 ** 18 and "$nowhere" in last["excerpt"]
        lib.equal([row["line"] for row in daemon.control("diagnostics", limit=2, source=1)["diagnostics"]],
                  [2, 3])
        lib.equal(daemon.control("diagnostics", source=99), {"diagnostics": []})
        text = ctl(daemon, "diagnostics").stdout
        assert "named.nvtxt:4:9: error, source 2" in text and "[%s]" % last["code"] in text, text
        assert "\x1b" not in text, text
        with daemon.session(name="a/long/folder/of/many/parts/f.nvtxt") as session:
            session.send("bad\n")
            session.ack(1)
        assert " f.nvtxt:1:1: error" in ctl(daemon, "diagnostics", "-n", "1").stdout
        lib.equal(len(ctl(daemon, "diagnostics", "-n", "1", "--source", "1").stdout.splitlines()), 2)
        lib.equal(ctl(daemon, "diagnostics", "--source", "99").stdout, "no diagnostics\n")
        told = json.loads(ctl(daemon, "--json", "diagnostics", "-n", "1", "--source",
                              str(last["source"])).stdout)["diagnostics"]
        lib.equal(told, [last])


def test_diagnostics_in_trouble_say_so_at_once():
    with lib.Daemon(shared=True) as daemon:
        lock = lib.LockedStore(daemon)
        with daemon.plain() as connection:
            connection.send("bad\n")
            lib.wait_for(lambda: daemon.control("status")["in_trouble"], "commits fail")
            code, message = refused(daemon, "diagnostics")
            lib.equal(code, "failed")
            assert "cannot be written" in message, message
            lock.release()
            lib.wait_for(lambda: not daemon.control("status")["in_trouble"], "commits work")
        lib.equal(len(daemon.control("diagnostics")["diagnostics"]), 1)


def parse_metrics(text):
    """Every sample by name; fails where the text is not Prometheus' format."""
    samples, types = {}, {}
    assert text.endswith("\n"), text
    for line in text.splitlines():
        if line.startswith("# HELP "):
            name = line.split(" ")[2]
            assert name not in types and len(line.split(" ")) > 3, line
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            lib.equal(kind == "counter", name.endswith("_total"), name)
            assert kind in ("counter", "gauge"), line
            types[name] = kind
        else:
            match = re.fullmatch(r'(nvtxtd_[a-z_]+)(\{(?:[a-z]+="(?:[^"\\\n]|\\[\\n"])*",?)*\})? '
                                 r'(-?[0-9]+(?:\.[0-9]+)?)', line)
            assert match and match[1] in types and match[1] not in samples, line
            samples[match[1] + (match[2] if "_removed_" in match[1] else "")] = (match[2], float(match[3]))
    lib.equal({name.split("{by=")[0] for name in samples}, set(types))
    return samples


def test_metrics_are_prometheus_text():
    with lib.Daemon() as daemon:
        daemon.send(HEADER + 'Marker, 1, "a"\nbad\n')
        samples = parse_metrics(daemon.control("metrics")["text"])
        status = daemon.control("status")
        for name in ("lines", "events", "errors", "connections_refused", "commits"):
            lib.equal(samples["nvtxtd_%s_total" % name][1], status[name], name)
        lib.equal(samples["nvtxtd_bytes_total"][1], status["bytes"])
        assert samples["nvtxtd_connections_total"][1] >= 1
        assert samples["nvtxtd_store_size_bytes"][1] > 0 and samples["nvtxtd_uptime_seconds"][1] > 0
        lib.equal(samples["nvtxtd_last_commit_timestamp_seconds"][1] // 1, status["committed_ns"] // 10 ** 9)
        lib.equal((samples["nvtxtd_store_in_trouble"][1], samples["nvtxtd_loss_rows"][1]), (0, 0))
        parse_metrics(ctl_raw(daemon, "metrics"))


def ctl_raw(daemon, *arguments):
    """Metrics are for programs: their lines may be longer than a screen's."""
    return subprocess.run([lib.program("client", "nvtxt-ctl"), "--socket", daemon.control_socket,
                           *arguments], capture_output=True, text=True, check=True).stdout


def test_labels_of_metrics_are_escaped():
    with lib.Daemon(start=False) as daemon:
        daemon.store = os.path.join(daemon.folder, 'a"b\\c\nd.sqlite')
        daemon.start()
        labels = parse_metrics(daemon.control("metrics")["text"])["nvtxtd_info"][0]
        assert 'a\\"b\\\\c\\nd.sqlite"' in labels, labels


def test_metrics_go_into_a_file_at_once():
    with lib.Daemon() as daemon:
        path = os.path.join(daemon.folder, "nvtxtd.prom")
        for _ in range(2):
            lib.equal(ctl(daemon, "metrics", "--output", path, umask=0o077).stdout, "")
            lib.equal(stat.S_IMODE(os.stat(path).st_mode), 0o644)
            with open(path, encoding="utf-8") as file:
                parse_metrics(file.read())
        lib.equal([name for name in os.listdir(daemon.folder) if "prom" in name], ["nvtxtd.prom"])
        assert "regular" in ctl(daemon, "metrics", "--output", daemon.folder, status=73).stderr
        ctl(daemon, "metrics", "--output", os.path.join(daemon.folder, "no", "x"), status=73)


def test_checkpoint_tells_what_became_of_the_log():
    with lib.Daemon() as daemon:
        daemon.send(HEADER + 'Marker, 1, "a"\n' * 100)
        done = daemon.control("checkpoint")
        lib.equal((done["pinned"], done["wal_bytes"]), (False, 0), done)
        assert done["wal_bytes_before"] > 0, done
        with open(daemon.store, "rb") as file:
            assert len(file.read()) > 4096
        reader = sqlite3.connect(daemon.store, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM NVTX_EVENTS").fetchall()
        daemon.send(HEADER + 'Marker, 1, "a"\n' * 100)
        done = daemon.control("checkpoint")
        lib.equal(done["pinned"], True)
        assert done["wal_bytes"] > 0 and done["pages_moved"] < done["pages"], done
        text = ctl(daemon, "checkpoint").stdout
        assert "A reader holds on to it: " in text and "lsof" in text, text
        reader.close()
        text = ctl(daemon, "checkpoint").stdout
        assert text.splitlines()[1] == "write-ahead log now:    0 bytes", text
        daemon.send(HEADER + 'Marker, 1, "b"\n')
        lib.equal(daemon.query("SELECT count(*) FROM NVTX_EVENTS"), [(201,)])


def source_of(daemon, kind):
    return lib.wait_for(lambda: [row for row in daemon.control("sources")["sources"]
                                 if row["kind"] == kind and row["lines"] >= 3], kind)[0]


def test_disconnect_of_a_plain_source_commits_what_was_read():
    with lib.Daemon(config="CommitInterval=60s\n") as daemon:
        with daemon.plain() as connection:
            connection.send(HEADER + 'Marker, 1, "a"\nMarker, 2, "cut in the mid')
            source = source_of(daemon, "plain")
            lib.equal(source["bytes"], len(HEADER) + 15)
            told = daemon.control("disconnect", source=source["source"])["source"]
            lib.equal((told["source"], told["lines"]), (source["source"], 3))
            lib.equal(daemon.query("SELECT text FROM NVTX_EVENTS"), [("a",)])
            lib.equal(daemon.query("SELECT ended, lines FROM NVTXT_SOURCES"), [("disconnected", 3)])
            connection.expect_end_of_stream()
        lib.equal([row["reason"] for row in daemon.control("health")["losses"]], ["partial-line"])
        lib.equal(daemon.control("status")["connections_refused"], 0)


def test_disconnect_of_a_session_leaves_it_resumable():
    with lib.Daemon(config="CommitInterval=60s\n") as daemon:
        with daemon.session() as session:
            session.send(HEADER + 'Marker, 1, "a"\nMarker, 2, "cut in the mid')
            source = source_of(daemon, "session")
            text = ctl(daemon, "disconnect", str(source["source"])).stdout
            lib.equal(text, "source %d is disconnected at line 3; its session can be resumed\n" %
                      source["source"])
            replies = session.replies()
            lib.equal([reply["code"] for reply in replies if reply["type"] == "error"],
                      ["disconnected"])
            lib.equal(daemon.query("SELECT text FROM NVTX_EVENTS"), [("a",)])
        with daemon.session(session.id) as again:
            lib.equal(again.welcome["line"], 3)
            again.send('Marker, 2, "b"\n')
            lib.equal(again.end()["events"], 2)
        lib.equal(daemon.control("health")["losses"], [])


def test_disconnect_does_not_wait_for_a_client_that_does_not_read():
    with lib.Daemon() as daemon:
        with daemon.session() as session:
            session.send(HEADER + "bad\n" * 3000)
            source = source_of(daemon, "session")
            daemon.control("disconnect", source=source["source"])
            lib.equal(daemon.control("sources")["sources"], [])
            code, message = refused(daemon, "disconnect", source=source["source"])
            lib.equal(code, "failed")
            assert "no source %d is connected" % source["source"] in message, message


def test_a_sender_comes_again_after_a_disconnect():
    with lib.Daemon() as daemon:
        sender = subprocess.Popen([lib.program("client", "nvtxt-send"), "--socket", daemon.socket, "-"],
                                  stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        sender.stdin.write((HEADER + 'Marker, 1, "a"\n').encode())
        sender.stdin.flush()
        source = source_of(daemon, "session")
        daemon.control("disconnect", source=source["source"])
        sender.stdin.write(b'Marker, 2, "b"\n')
        errors = sender.communicate(timeout=lib.DEADLINE)[1]
        lib.equal(sender.returncode, 0, errors)
        lib.equal(daemon.query("SELECT text FROM NVTX_EVENTS"), [("a",), ("b",)])


def test_status_fits_a_screen():
    with lib.Daemon(start=False) as daemon:
        daemon.store = os.path.join(daemon.folder, "long" * 20 + "\x1b[2J.sqlite")
        daemon.start()
        daemon.send(HEADER + 'Marker, 1, "a"\n')
        lines = subprocess.run([lib.program("client", "nvtxt-ctl"), "--socket",
                                daemon.control_socket, "status"], capture_output=True, text=True,
                               check=True).stdout.splitlines()
        long = [line for line in lines if len(line) > 80]
        assert all("long" in line and "\x1b" not in line for line in long), long
        assert len(lines) < 30 and any(line.split()[:3] == ["events:", "1", "warnings:"] or
                                       line.split()[-2:] == ["events:", "1"] for line in lines), lines


def test_log_level_is_told_and_set():
    with lib.Daemon() as daemon:
        lib.equal(daemon.control("log-level"), {"level": "info", "before": "info"})
        lib.equal(ctl(daemon, "log-level").stdout, "info\n")
        lib.equal(ctl(daemon, "log-level", "error").stdout, "error (was info)\n")
        with daemon.session(session="no uuid") as session:
            lib.equal(session.welcome["code"], "bad-hello")
        assert "connection refused" not in daemon.log_text()
        lib.equal(ctl(daemon, "log-level", "warning").stdout, "warning (was error)\n")
        with daemon.session(session="no uuid"):
            lib.wait_for(lambda: "connection refused" in daemon.log_text(), "it is logged")
        assert "one of" in ctl(daemon, "log-level", "loud", status=64).stderr


def test_refused_hellos_are_counted():
    with lib.Daemon() as daemon:
        with daemon.session() as session:
            for number, hello in enumerate(({"session": session.id}, {"session": "no uuid"},
                                            {"protocol": 9}), 1):
                with daemon.session(**hello) as other:
                    lib.equal(other.welcome["type"], "error")
                lib.equal(daemon.control("status")["connections_refused"], number)


def test_what_nvtxt_ctl_refuses_by_itself():
    with lib.Daemon() as daemon:
        for arguments, word in ((("disconnect",), "needs a source"), (("disconnect", "x"), "number"),
                                (("snapshot",), "needs a file"), (("snapshot", ""), "needs a file"),
                                (("disconnect", "1", "2"), "one command"),
                                (("status", "--source", "1"), "--source"),
                                (("diagnostics", "-n", "0"), "-n"), (("diagnostics", "-n", "x"), "-n"),
                                (("diagnostics", "7"), "too much"), (("metrics", "-n", "3"), "-n"),
                                (("sing", "song"), "too much")):
            error = ctl(daemon, *arguments, status=64).stderr
            assert word in error and error.startswith("nvtxt-ctl: "), (arguments, error)
        assert "1000" in ctl(daemon, "diagnostics", "-n", "1001", status=64).stderr
        assert "no source 7" in ctl(daemon, "disconnect", "7", status=1).stderr


def test_a_daemon_that_does_not_answer_is_not_waited_for_longer_than_asked():
    with lib.Daemon() as daemon:
        lib.halt(daemon.process)
        try:
            error = ctl(daemon, "--timeout", "0.05", "status", status=69).stderr
        finally:
            daemon.process.send_signal(signal.SIGCONT)
        assert "has not answered for 0.05 s" in error and daemon.control_socket in error, error
        assert "seconds" in ctl(daemon, "--timeout", "soon", "status", status=64).stderr


def test_a_daemon_that_hangs_up_is_no_answer():
    with lib.Daemon() as daemon:
        lib.halt(daemon.process)
        asking = subprocess.Popen([lib.program("client", "nvtxt-ctl"), "--socket",
                                   daemon.control_socket, "status"], stderr=subprocess.PIPE)
        daemon.kill()
        error = asking.communicate(timeout=lib.DEADLINE)[1]
        lib.equal(asking.returncode, 69, error)
        daemon.start()


lib.run(globals())
