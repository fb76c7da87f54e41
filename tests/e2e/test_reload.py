# SPDX-License-Identifier: Apache-2.0
"""Reading the configuration again while the daemon runs: SIGHUP and the control command."""
import os
import signal
import subprocess

import lib
import manager


def write(daemon, text, name="nvtxtd.conf"):
    path = os.path.join(daemon.folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write("[nvtxtd]\n" + text)


def line_limit(daemon):
    with daemon.session() as session:
        return session.welcome["limits"]["line"]


def test_what_can_change_is_applied_and_what_cannot_is_named():
    with lib.Daemon(config="") as daemon:
        lib.equal(daemon.control("reload"), {"applied": [], "needs_restart": []})
        old = daemon.session()
        lib.equal(old.welcome["limits"]["line"], 65536)
        write(daemon, "MaxLine=8K\nCommitInterval=20ms\nMemoryBudget=32M\nSynchronous=normal\n")
        result = daemon.control("reload")
        lib.equal(sorted(result["applied"]), ["CommitInterval", "MaxLine"])
        lib.equal(sorted(result["needs_restart"]), ["MemoryBudget", "Synchronous"])
        lib.equal(line_limit(daemon), 8192)
        old.send("# " + "x" * 20000 + "\n")  # an open source keeps its limits
        lib.equal(old.end()["errors"], 0)
        old.close()
        lib.equal(daemon.control("status")["synchronous"], "full")
        result = daemon.control("reload")
        lib.equal(result["applied"], [])
        lib.equal(sorted(result["needs_restart"]), ["MemoryBudget", "Synchronous"])
        write(daemon, "")
        lib.equal(daemon.control("reload"),
                  {"applied": ["CommitInterval", "MaxLine"], "needs_restart": []})
        lib.equal(line_limit(daemon), 65536)


def test_values_must_fit_what_stays_until_a_restart():
    with lib.Daemon(config="MemoryBudget=1M\n") as daemon:
        write(daemon, "MemoryBudget=8M\nMaxLine=4M\nCommitInterval=20ms\n")
        reply = daemon.control_raw(b'{"id":1,"command":"reload"}')
        lib.equal(reply["ok"], False)
        for word in ("until then MaxLine (4194304)", "MemoryBudget (1048576)", "restart"):
            assert word in reply["error"]["message"], reply
        lib.equal(line_limit(daemon), 65536)


def test_any_fault_keeps_the_old_configuration():
    with lib.Daemon(config="MaxLine=8K\n") as daemon:
        write(daemon, "MaxLine=16K\nMaxVariables=many\nSokcet=/x\n")
        reply = daemon.control_raw(b'{"id":1,"command":"reload"}')
        lib.equal(reply["ok"], False)
        message = reply["error"]["message"]
        path = os.path.join(daemon.folder, "nvtxtd.conf")
        for word in (path + ":3: ", path + ":4: ", "MaxVariables", "Sokcet"):
            assert word in message, message
            assert word in daemon.log_text(), daemon.log_text()
        lib.equal(line_limit(daemon), 8192)
        os.unlink(path)  # it was named with -c
        reply = daemon.control_raw(b'{"id":1,"command":"reload"}')
        assert path in reply["error"]["message"], reply
        lib.equal(line_limit(daemon), 8192)


def test_sighup_reloads_and_tells_the_manager():
    with manager.Managed(config="") as daemon:
        daemon.notify.expect("READY=1")
        write(daemon, "MaxLine=8K\nStoreMode=0600\n", "nvtxtd.conf.d/limits.conf")
        lib.equal(line_limit(daemon), 65536)
        # The file of -c is nvtxtd.conf, its drop-ins stand in nvtxtd.conf.d.
        daemon.tell_to_reload()
        message = daemon.notify.expect("RELOADING=1")
        assert any(word.startswith("MONOTONIC_USEC=") for word in message), message
        daemon.notify.expect("READY=1")
        lib.equal(line_limit(daemon), 8192)
        assert "applied=MaxLine needs_restart=StoreMode" in daemon.log_text(), daemon.log_text()
        write(daemon, "MaxLine=1\n", "nvtxtd.conf.d/limits.conf")
        daemon.tell_to_reload()
        daemon.notify.expect("RELOADING=1")
        message = daemon.notify.expect("READY=1")
        assert any("refused" in word for word in message), message
        lib.equal(line_limit(daemon), 8192)


def test_the_command_line_beats_the_file_at_a_reload_as_well():
    with lib.Daemon(config="", options=["--log-level", "error"]) as daemon:
        write(daemon, "LogLevel=debug\nSocket=/nowhere/s\n")
        lib.equal(daemon.control("reload"), {"applied": [], "needs_restart": []})
        lib.equal(daemon.log_text(), "")


def test_a_shorter_expiry_closes_sessions_soon():
    with lib.Daemon(config="") as daemon:
        with daemon.session() as session:
            session.send("# left behind\n")
            session.ack(1)
        write(daemon, "SessionExpiry=1s\n")
        lib.equal(daemon.control("reload")["applied"], ["SessionExpiry"])
        lib.wait_for(lambda: daemon.query("SELECT count(*) FROM NVTXT_SESSIONS WHERE state IS NOT "
                                          "NULL") == [(0,)], "the session is closed")


def test_a_hangup_while_it_starts_does_no_harm():
    with lib.Daemon(config="", start=False) as daemon:
        with open(daemon.log, "ab") as log:
            daemon.process = subprocess.Popen(daemon.command(), stdin=subprocess.DEVNULL,
                                              stdout=log, stderr=log)
        status = "/proc/%d/status" % daemon.process.pid

        def minds_it_not():  # bit 0 of the masks is SIGHUP
            daemon.is_ready()  # fails when the daemon is gone
            with open(status, encoding="utf-8") as file:
                masks = dict(line.split(":\t") for line in file if line.startswith("Sig"))
            return (int(masks["SigIgn"], 16) | int(masks["SigCgt"], 16)) & 1

        lib.wait_for(minds_it_not, "it minds no hangup")
        for _ in range(100):
            daemon.process.send_signal(signal.SIGHUP)
        lib.wait_for(daemon.is_ready, "the daemon is ready")


def test_many_reloads_under_load_lose_nothing():
    with lib.Daemon(config="") as daemon:
        with daemon.session() as session:
            session.send("TimeBase = Manual\n@Marker, Time\n")
            for number in range(200):
                write(daemon, "CommitInterval=%dms\nMaxLine=%dK\n" % (number + 1, number + 4))
                daemon.tell_to_reload()
                session.send("Marker, %d\n" % number)
            lib.equal(session.end()["events"], 200)
        lib.equal(daemon.query("SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 34"), [(200,)])


lib.run(globals())
