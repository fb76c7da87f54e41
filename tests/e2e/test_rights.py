# SPDX-License-Identifier: Apache-2.0
"""Who may do what on the control socket: root, members of the store's group, strangers; and how
much one user may have of it."""
import contextlib
import grp
import json
import os
import shutil
import socket
import stat
import time

import lib

USER = 65533
LOOK = {"help", "status", "sources", "health", "diagnostics", "events", "metrics", "verify", "flush"}
ALL = {"rotate", "disconnect", "reload", "snapshot", "checkpoint", "log-level"}
ARGUMENTS = {"disconnect": {"source": 1}, "snapshot": {"file": "/nonexistent/x"}}


def a_group():
    """Of this machine, and not root's; its name and number."""
    return next((group.gr_name, group.gr_gid) for group in grp.getgrall() if group.gr_gid > 0)


def daemon_for_group(more=""):
    if os.getuid() != 0:
        raise lib.Skip("only root can be somebody else")
    daemon = lib.Daemon(config="StoreGroup=%s\n%s" % (a_group()[0], more))
    os.chmod(daemon.folder, 0o755)
    return daemon


def as_user(groups, act, *args):
    """act(*args) in a process of another user with these supplementary groups."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setgroups(groups)
            os.setgid(USER)
            os.setuid(USER)
            os.write(theirs, json.dumps(act(*args)).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(theirs)
    with os.fdopen(ours, "rb") as file:
        result = file.read()
    lib.equal(os.waitpid(child, 0)[1], 0, "exit status of the user's process")
    return json.loads(result)


def ask(path, command):
    """What comes back: `ok`, or the code of the error."""
    with lib.Connection(path) as connection:
        with contextlib.suppress(BrokenPipeError):  # refused before it asked
            connection.send(json.dumps({"command": command, **ARGUMENTS.get(command, {})}) + "\n")
        reply = connection.reply()
        return "ok" if reply["ok"] else reply["error"]["code"]


def ask_all(path):
    return {command: ask(path, command) for command in sorted(LOOK | ALL)}


def try_to_connect(path):
    with socket.socket(socket.AF_UNIX) as connection:
        return connection.connect_ex(path)


def test_help_says_which_is_whose():
    with lib.Daemon() as daemon:
        commands = {command["name"]: command["for"]
                    for command in daemon.control("help")["commands"]}
        lib.equal({name for name, whose in commands.items() if whose == "operators"}, ALL)
        lib.equal({name for name, whose in commands.items() if whose == "readers"} - {"where"}, LOOK)


def test_a_member_may_look_and_no_more():
    with daemon_for_group() as daemon:
        status = os.stat(daemon.control_socket)
        lib.equal((stat.S_IMODE(status.st_mode), status.st_gid), (0o660, a_group()[1]))
        got = as_user([a_group()[1]], ask_all, daemon.control_socket)
        lib.equal(got, {**dict.fromkeys(LOOK, "ok"), **dict.fromkeys(ALL, "forbidden")})
        lib.equal(daemon.control("log-level")["level"], "info")  # root goes on


def test_who_is_in_many_groups_is_a_member_too():
    with daemon_for_group() as daemon:
        groups = list(range(100000, 101000)) + [a_group()[1]]
        lib.equal(as_user(groups, ask, daemon.control_socket, "status"), "ok")


def test_a_stranger_is_told_that_it_may_not():
    with daemon_for_group() as daemon:
        assert as_user([], try_to_connect, daemon.control_socket) != 0
        os.chmod(daemon.control_socket, 0o666)  # as an administrator's socket unit may
        lib.equal(as_user([], ask, daemon.control_socket, "status"), "forbidden")
        lib.equal(as_user([], ask, daemon.control_socket, "rotate"), "forbidden")
    with daemon_for_group("StoreMode=0600\n") as daemon:  # nobody may read it
        os.chmod(daemon.control_socket, 0o666)
        lib.equal(as_user([a_group()[1]], ask, daemon.control_socket, "status"), "forbidden")
    with daemon_for_group("StoreMode=0644\n") as daemon:  # everybody may
        os.chmod(daemon.control_socket, 0o666)
        lib.equal(as_user([], ask, daemon.control_socket, "status"), "ok")
        lib.equal(as_user([], ask, daemon.control_socket, "rotate"), "forbidden")


def run_ctl(path, socket_path, command):
    return os.spawnve(os.P_WAIT, path, ["nvtxt-ctl", "--control-socket", socket_path, command],
                      {**os.environ, "HOME": "/"})


def test_nvtxt_ctl_ends_with_77_when_it_may_not():
    with daemon_for_group() as daemon:
        if lib.WRAPPER:
            raise lib.Skip("the program is copied")
        ctl = os.path.join(daemon.folder, "nvtxt-ctl")
        shutil.copy(lib.program("client", "nvtxt-ctl"), ctl)
        os.chmod(ctl, 0o755)
        member = [a_group()[1]]
        lib.equal(as_user(member, run_ctl, ctl, daemon.control_socket, "flush"), 0)
        lib.equal(as_user(member, run_ctl, ctl, daemon.control_socket, "rotate"), 77)
        lib.equal(as_user([], run_ctl, ctl, daemon.control_socket, "flush"), 77)
        os.chmod(daemon.control_socket, 0o666)
        for _ in range(5):
            lib.equal(as_user([], run_ctl, ctl, daemon.control_socket, "flush"), 77)


def hold_many(path):
    """How many connections are served at once, and what the next one hears."""
    held = []
    while len(held) < 100:
        connection = lib.Connection(path)
        with contextlib.suppress(BrokenPipeError):
            connection.send(b'{"command":"help"}\n')
        reply = connection.reply()
        if not reply["ok"]:
            return len(held), reply["error"]["code"]
        held.append(connection)
    return len(held), None


def test_a_members_connections_are_bounded():
    with daemon_for_group() as daemon:
        lib.equal(as_user([a_group()[1]], hold_many, daemon.control_socket), [16, "busy"])
        lib.wait_for(lambda: as_user([a_group()[1]], ask, daemon.control_socket, "status") == "ok",
                     "there is room again")


def flush_many(path, connections, each):
    """So many answered flushes; returns how long they took."""
    started = time.monotonic()
    for _ in range(each):
        held = [lib.Connection(path) for _ in range(connections)]
        for connection in held:
            connection.send(b'{"command":"flush"}\n')
        for connection in held:
            assert connection.reply()["ok"]
            connection.close()
    return time.monotonic() - started


def test_flushes_that_wait_together_are_one_commit():
    row = "Marker, 1, 'm'\n"
    with lib.Daemon(config="CommitInterval = 2s\n", shared=True) as daemon, daemon.plain() as source:
        source.send("@Marker, Time, Message\n" + row)
        daemon.flush()
        before = daemon.control("status")
        lock = lib.LockedStore(daemon)
        source.send(row)
        lib.wait_for(lambda: daemon.control("status")["lines"] > before["lines"], "its commit waits")
        calls = [lib.Connection(daemon.control_socket) for _ in range(100)]
        for call in calls:
            call.send(b'{"command":"flush"}\n')
        daemon.control("status")  # by now it has read them
        lock.release()
        for call in calls:  # were there more commits, these rows would be in them
            assert call.reply()["ok"]
            call.close()
            source.send(row)
        commits = daemon.control("status")["commits"] - before["commits"]
        print("# 100 flushes: %d commits" % commits)
        assert 0 < commits < 20, commits  # one each two seconds comes by itself


def test_a_user_has_ten_commits_a_second():
    with daemon_for_group() as daemon:
        took = as_user([a_group()[1]], flush_many, daemon.control_socket, 1, 25)
        print("# 25 flushes: %.2f s" % took)
        assert took > 1, took


def test_one_verify_runs_at_a_time():
    with lib.Daemon() as daemon:
        daemon.send("@Marker, Time, Message\n" +
                    "".join("Marker, %d, 'm'\n" % number for number in range(50000)))
        callers = [lib.Connection(daemon.control_socket) for _ in range(8)]
        for caller in callers:
            caller.send(b'{"command":"verify"}\n')
        replies = [caller.reply() for caller in callers]
        served = [reply["result"]["sound"] for reply in replies if reply["ok"]]
        assert served and all(served), replies
        for reply in replies:
            if not reply["ok"]:
                lib.equal(reply["error"]["code"], "busy")
        for caller in callers:
            caller.close()
        lib.equal(daemon.control("verify")["sound"], True)


lib.run(globals())
