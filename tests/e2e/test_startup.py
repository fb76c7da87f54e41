# SPDX-License-Identifier: Apache-2.0
"""Starts that work, and starts that are refused with one sentence and leave nothing behind."""
import os
import re
import shutil
import socket
import sqlite3
import stat
import subprocess
import tempfile

import lib


def refused(arguments, status, *words, env=None, lines=1):
    """Runs nvtxtd to its end; it must fail with one sentence, or `lines`, that hold the words."""
    result = subprocess.run([lib.program("daemon", "nvtxtd"), *arguments], capture_output=True,
                            text=True, timeout=lib.DEADLINE, check=False, env=env)
    lib.equal(result.returncode, status, (arguments, result.stderr))
    told = [line for line in result.stderr.splitlines() if line.startswith("nvtxtd: ")]
    lib.equal(len(told), lines, result.stderr)
    for word in words:
        assert word in result.stderr, (word, result.stderr)
    lib.equal(result.stdout, "")
    return result.stderr


def test_usage_faults_exit_64():
    refused(["--frobnicate"], 64, "--frobnicate")
    refused(["-x"], 64, "-x")
    refused(["--socket"], 64, "--socket")
    refused(["stray"], 64, "stray")
    refused(["--log-level", "loud"], 64, "loud", "error|warning|info|debug")


def test_help_fits_a_screen_and_version_is_told():
    for option in ("--help", "--version"):
        result = subprocess.run([lib.program("daemon", "nvtxtd"), option], capture_output=True,
                                text=True, timeout=lib.DEADLINE, check=True)
        lines = result.stdout.splitlines()
        assert 0 < len(lines) <= 24 and max(map(len, lines)) <= 80, result.stdout
    for option in ("--help", "--version", "--check-config"):
        with open("/dev/full", "wb") as full:
            result = subprocess.run([lib.program("daemon", "nvtxtd"), option], stdout=full,
                                    stderr=subprocess.PIPE, text=True, timeout=lib.DEADLINE)
        lib.equal((result.returncode, result.stderr),
                  (74, "nvtxtd: cannot write to stdout: No space left on device\n"))


def test_version_says_the_commit_of_a_checkout():
    for name in (("daemon", "nvtxtd"), ("client", "nvtxt-check")):
        told = subprocess.run([lib.program(*name), "--version"], capture_output=True, text=True,
                              timeout=lib.DEADLINE, check=True).stdout
        commit = told.partition(" (git ")[2]
        if not os.path.exists(os.path.join(os.environ.get("top_srcdir", "."), ".git")):
            lib.equal(commit, "")
        elif shutil.which("git"):
            assert re.fullmatch(r"[0-9a-f]{7,}[+]?\)\n", commit), told
        assert re.fullmatch(r"%s( \(nvtxtd\))? [0-9]+[.][0-9]+[.][0-9]+( \(git .*\))?\n" % name[1], told), told


def test_too_few_descriptors_are_refused():
    if lib.WRAPPER:
        raise lib.Skip("what wraps the program takes descriptors of its own")
    with lib.Daemon(start=False) as daemon:
        result = subprocess.run(["sh", "-c", 'ulimit -n 47 && exec "$@"', "sh"] + daemon.command(),
                                stderr=subprocess.PIPE, text=True, timeout=lib.DEADLINE)
        lib.equal((result.returncode, result.stderr),
                  (71, "nvtxtd: the limit of 47 descriptors is too low (ulimit -n, LimitNOFILE=): "
                       "nvtxtd needs at least 48\n"))
        lib.equal(os.listdir(daemon.folder), ["log"])


def test_a_second_daemon_on_the_same_socket_is_refused():
    with lib.Daemon() as daemon:
        other = os.path.join(daemon.folder, "other")
        refused(["--socket", daemon.socket, "--control-socket", other + ".c", "--store",
                 other + ".sqlite"], 73, daemon.socket, str(daemon.process.pid))
        lib.equal(os.path.exists(other + ".sqlite"), False)
        daemon.send("TimeBase = Manual\n@Marker, Time\nMarker, 1\n")
        lib.equal(daemon.query("SELECT count(*) FROM NVTX_EVENTS"), [(1,)])


def test_a_second_daemon_on_the_same_store_is_refused():
    with lib.Daemon() as daemon:
        other = os.path.join(daemon.folder, "other")
        refused(["--socket", other, "--control-socket", other + ".c", "--store", daemon.store], 73,
                daemon.store)
        lib.equal([name for name in os.listdir(daemon.folder) if name.startswith("other")], [])


def test_a_second_daemon_on_a_segment_in_use_is_refused():
    for ending in (".sqlite", ""):
        with lib.Daemon(start=False) as daemon:
            daemon.store = os.path.join(daemon.folder, "my-store" + ending)
            daemon.start()
            daemon.send("TimeBase = Manual\n@Marker, Time\nMarker, 1\n")
            segment = os.path.realpath(daemon.store)
            before = sorted(os.listdir(daemon.folder))
            other = os.path.join(daemon.folder, "other")
            refused(["--socket", other, "--control-socket", other + ".c", "--store", segment], 73,
                    daemon.store, segment, str(daemon.process.pid))
            lib.equal((sorted(os.listdir(daemon.folder)), os.path.islink(segment)), (before, False))
            daemon.stop()
            daemon.store = segment  # nobody uses it: as good as any file
            daemon.start()
            lib.equal(daemon.query("SELECT count(*) FROM NVTX_EVENTS"), [(1,)])


def test_a_second_daemon_on_the_same_control_socket_is_refused():
    with lib.Daemon() as daemon:
        other = os.path.join(daemon.folder, "other")
        refused(["--socket", other, "--control-socket", daemon.control_socket, "--store",
                 other + ".sqlite"], 73, daemon.control_socket, str(daemon.process.pid))
        lib.equal([name for name in os.listdir(daemon.folder) if name.startswith("other")], [])
        daemon.control("status")


def test_a_stale_socket_is_replaced():
    with lib.Daemon() as daemon:
        daemon.kill()
        assert os.path.exists(daemon.socket)
        daemon.start()
        daemon.send("# back\n")


def test_a_file_that_is_no_socket_is_left_alone():
    with lib.Daemon(start=False) as daemon:
        with open(daemon.socket, "w", encoding="utf-8") as file:
            file.write("precious")
        refused(daemon.command()[1:], 73, daemon.socket, "no socket")
        with open(daemon.socket, encoding="utf-8") as file:
            lib.equal(file.read(), "precious")
        os.rename(daemon.socket, daemon.control_socket)
        refused(daemon.command()[1:], 73, daemon.control_socket, "no socket")
        lib.equal(sorted(os.listdir(daemon.folder)), ["ctl.sock", "log"])


def test_a_group_that_is_not_there_is_told_before_anything_is_made():
    for key in ("SocketGroup", "StoreGroup"):
        with lib.Daemon(start=False, config=key + "=no-such-group\n") as daemon:
            for more in ([], ["--check-config"]):
                refused(daemon.command()[1:] + more, 78, "no-such-group", key)
                lib.equal(sorted(os.listdir(daemon.folder)), ["log", "nvtxtd.conf"])


def test_a_live_socket_of_another_program_is_left_alone():
    with lib.Daemon(start=False) as daemon:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(daemon.socket)
        listener.listen()
        refused(daemon.command()[1:], 73, daemon.socket)
        probe = socket.socket(socket.AF_UNIX)
        probe.connect(daemon.socket)
        probe.close()
        listener.close()
        lib.equal(sorted(os.listdir(daemon.folder)), ["data.sock", "log"])


def test_a_socket_path_that_is_too_long_is_refused():
    folder = tempfile.mkdtemp()
    try:
        for length in (108, 200, 4000):
            path = (folder + "/" + "s" * 200 + "/" * 5000)[:length - 1] + "s"
            refused(["--socket", path, "--store", folder + "/x.sqlite"], 73, str(length), "107",
                    path[:300])
        refused(["--socket", folder + "/s", "--control-socket", folder + "/" + "c" * 120,
                 "--store", folder + "/x.sqlite"], 73, "107")
        for option in ("--socket", "--control-socket"):
            refused([option, folder + "/" + "s" * 107, "--check-config"], 73, "107")
        lib.equal(os.listdir(folder), [])
        config = folder + "/c"
        with open(config, "w", encoding="utf-8") as file:
            file.write("[nvtxtd]\n\nSocket=/" + "s" * 107 + "\n")
        for more in ([], ["--check-config"]):
            refused(["-c", config] + more, 78, config + ":3: ", "Socket", "107")
    finally:
        shutil.rmtree(folder)


def test_an_empty_path_is_no_wish_for_the_default():
    for option in ("--socket", "--control-socket", "--store"):
        refused([option, "", "--check-config"], 64, option, "path")


def test_a_socket_path_of_107_bytes_works():
    with lib.Daemon(start=False) as daemon:
        daemon.socket = (daemon.folder + "/").ljust(107, "s")
        daemon.start()
        daemon.send("# fits\n")


def test_a_folder_that_is_not_there_is_named():
    with lib.Daemon(start=False) as daemon:
        missing = os.path.join(daemon.folder, "missing")
        refused(["--socket", missing + "/s", "--store", daemon.store], 73, missing)
        message = refused(["--socket", daemon.socket, "--control-socket", daemon.control_socket,
                           "--store", missing + "/x.sqlite"], 73, missing)
        assert "store" in message, message
        lib.equal(os.listdir(daemon.folder), ["log"])


def test_a_store_of_a_newer_version_is_refused_untouched():
    with lib.Daemon() as daemon:
        daemon.stop()
        store = sqlite3.connect(daemon.store)
        store.execute("PRAGMA user_version = 9999")
        store.close()
        with open(daemon.store, "rb") as file:
            before = file.read()
        refused(daemon.command()[1:], 65, daemon.store, "newer")
        with open(daemon.store, "rb") as file:
            assert file.read() == before
        lib.equal(os.path.exists(daemon.socket), False)


def test_a_database_of_another_application_is_refused_untouched():
    with lib.Daemon(start=False) as daemon:
        store = sqlite3.connect(daemon.store)
        store.execute("CREATE TABLE precious (a)")
        store.execute("PRAGMA application_id = 1234")
        store.commit()
        store.close()
        refused(daemon.command()[1:], 65, daemon.store)
        lib.equal(daemon.query("SELECT name FROM sqlite_master"), [("precious",)])
        lib.equal(os.path.exists(daemon.socket), False)


def test_a_file_that_is_no_store_is_refused_untouched():
    for data in (b"milk, bread\n", b"notes that are longer than the header of a database is\n" * 9,
                 b"SQLite format 3\0" + bytes(84), b"SQLite format 3\0" + bytes(range(256)) * 40):
        with lib.Daemon(start=False) as daemon:
            daemon.store = os.path.join(daemon.folder, "notes.txt")
            with open(daemon.store, "wb") as file:
                file.write(data)
            before = sorted(os.listdir(daemon.folder))
            for _ in range(2):
                refused(daemon.command()[1:], 65, daemon.store, "another application's", "name another store")
            lib.equal(sorted(os.listdir(daemon.folder)), before)
            with open(daemon.store, "rb") as file:
                lib.equal(file.read(), data)


def test_an_empty_file_becomes_a_store():
    with lib.Daemon(start=False) as daemon:
        with open(daemon.store, "wb"):
            pass
        daemon.start()
        lib.equal(daemon.query("SELECT count(*) FROM NVTX_EVENTS"), [(0,)])
        lib.equal((os.path.islink(daemon.store), len(daemon.segments())), (True, 1))


def test_a_plain_store_that_is_broken_is_put_aside():
    with lib.Daemon() as daemon:
        daemon.stop()
        segment = os.path.realpath(daemon.store)
        with open(segment, "rb") as file:
            data = file.read()
        os.unlink(daemon.store)
        for ending in ("", "-wal", "-shm"):
            os.unlink(segment + ending)
        with open(daemon.store, "wb") as file:
            file.write(data[:200] + b"\xa5" * (len(data) - 200))
        daemon.start()
        lib.equal(daemon.query("SELECT reason FROM NVTXT_LOSSES"), [("store-broken",)])


def test_faults_of_the_configuration_are_told_with_their_lines():
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "n.conf")
    try:
        for text, line, word in (("[nvtxtd]\nSokcet=/x\n", 2, "Sokcet"),
                                 ("[nvtxtd]\n\n# c\nMaxLine=many\n", 4, "many"),
                                 ("[other]\nSocket=/x\n", 1, "other"),
                                 ("[nvtxtd]\nnonsense\n", 2, "Key=Value"),
                                 ("[nvtxtd]\nCommitInterval=0\n", 2, "CommitInterval"),
                                 ("[nvtxtd]\nSocketMode=0999\n", 2, "0999")):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            refused(["-c", path], 78, "%s:%d: " % (path, line), word)
            refused(["-c", path, "--check-config"], 78, "%s:%d: " % (path, line), word)
        refused(["-c", folder + "/missing"], 66, folder + "/missing")
        with open(path, "w", encoding="utf-8") as file:
            file.write("; a comment\n[nvtxtd]\nCommitInterval = 20ms\nSynchronous=normal\n")
        result = subprocess.run([lib.program("daemon", "nvtxtd"), "-c", path, "--check-config"],
                                capture_output=True, text=True, timeout=lib.DEADLINE, check=True)
        lib.equal((result.stdout, result.stderr), ("ok\n", ""))
        lib.equal(os.listdir(folder), ["n.conf"])
    finally:
        shutil.rmtree(folder)


def test_every_fault_is_told_at_once_also_those_of_drop_ins():
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "n.conf")
    try:
        os.mkdir(path + ".d")
        with open(path, "w", encoding="utf-8") as file:
            file.write("[nvtxtd]\nSokcet=/x\nMaxLine=many\nnonsense\n")
        with open(path + ".d/b.conf", "w", encoding="utf-8") as file:
            file.write("[nvtxtd]\nLogLevel=loud\n")
        message = refused(["-c", path, "--check-config"], 78, lines=4)
        for line, (place, allowed) in zip(message.splitlines(), (
                (":2: ", "Socket"), (":3: ", "4096"), (":4: ", "Key=Value"),
                (".d/b.conf:2: ", "error|warning|info|debug"))):
            assert path + place in line and allowed in line, line
        with open(path, "w", encoding="utf-8") as file:
            file.write("[nvtxtd]\nMaxLine=2M\n")
        with open(path + ".d/b.conf", "w", encoding="utf-8") as file:
            file.write("[nvtxtd]\nMemoryBudget=1M\n")
        refused(["-c", path], 78, path + ".d/b.conf:2: ", "MaxLine", "MemoryBudget")
    finally:
        shutil.rmtree(folder)


def test_the_installed_configuration_says_the_defaults():
    with open(lib.program("daemon", "nvtxtd.conf"), encoding="utf-8") as file:
        text = file.read()
    assert max(map(len, text.splitlines())) <= 80
    with lib.Daemon(config="", start=False) as daemon:
        path = os.path.join(daemon.folder, "nvtxtd.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(re.sub(r"(?m)^#(?=[A-Z])", "", text))
        daemon.start()
        with daemon.session() as session:
            limits = session.welcome["limits"]
            lib.equal((limits["line"], limits["push_depth"]), (65536, 1024))


def test_folders_of_a_service_manager_come_first():
    folder = tempfile.mkdtemp()
    for name in ("run", "state"):
        os.mkdir(os.path.join(folder, name))
    env = {**os.environ, "RUNTIME_DIRECTORY": folder + "/run:/nonexistent",
           "STATE_DIRECTORY": folder + "/state"}
    process = subprocess.Popen([lib.program("daemon", "nvtxtd")], env=env, cwd="/")
    try:
        lib.wait_for(lambda: os.path.exists(folder + "/run/nvtxtd.sock"), "it is ready")
        assert os.path.exists(folder + "/run/control.sock")
        assert os.path.exists(folder + "/state/nvtxt.sqlite")
    finally:
        status = lib.terminate(process)
        shutil.rmtree(folder)
    lib.equal(status, 0)


def test_the_usual_file_is_read_without_an_option():
    folder = tempfile.mkdtemp()
    os.mkdir(folder + "/nvtxtd.conf.d")
    with open(folder + "/nvtxtd.conf.d/a.conf", "w", encoding="utf-8") as file:
        file.write("[nvtxtd]\nMaxLine=8K\n")
    try:
        with lib.Daemon(env={**os.environ, "CONFIGURATION_DIRECTORY": folder}) as daemon:
            with daemon.session() as session:
                lib.equal(session.welcome["limits"]["line"], 8192)
    finally:
        shutil.rmtree(folder)


def test_the_command_line_beats_the_file():
    with lib.Daemon(config="Socket=/nowhere/s\nStore=/nowhere/x\nControlSocket=/nowhere/c\n") as daemon:
        daemon.control("status")


def test_a_person_gets_folders_of_their_own():
    user = 65534 if os.getuid() == 0 else None  # as root: somebody who is not
    folder = tempfile.mkdtemp()
    os.mkdir(folder + "/run", 0o700)
    os.chmod(folder, 0o755)
    if user:
        os.chown(folder, user, -1)
        os.chown(folder + "/run", user, -1)
    env = {**os.environ, "XDG_RUNTIME_DIR": folder + "/run", "XDG_STATE_HOME": folder + "/state",
           "XDG_CONFIG_HOME": folder}
    try:
        process = subprocess.Popen([lib.program("daemon", "nvtxtd")], env=env, user=user, cwd="/")
    except PermissionError:
        raise lib.Skip("another user cannot run the program where it was built") from None
    try:
        lib.wait_for(lambda: os.path.exists(folder + "/run/nvtxtd/nvtxtd.sock"), "it is ready")
        assert os.path.exists(folder + "/run/nvtxtd/control.sock")
        assert os.path.exists(folder + "/state/nvtxtd/nvtxt.sqlite")
        for path, mode in (("run/nvtxtd", 0o700), ("state/nvtxtd", 0o700),
                           ("run/nvtxtd/nvtxtd.sock", 0o600), ("run/nvtxtd/control.sock", 0o600)):
            lib.equal(stat.S_IMODE(os.stat(os.path.join(folder, path)).st_mode), mode, path)
    finally:
        status = lib.terminate(process)
        shutil.rmtree(folder)
    lib.equal(status, 0)


def start_as_nobody(args, **env):
    """Exit status and words of a daemon of a user without any rights that does not come up."""
    if os.getuid() != 0:
        raise lib.Skip("needs root: another user")
    outer = {key: value for key, value in os.environ.items()
             if not key.startswith("XDG_") and not key.endswith("_DIRECTORY")}
    try:
        done = subprocess.run([lib.program("daemon", "nvtxtd"), *args], env={**outer, **env}, user=65534,
                              group=65534, extra_groups=[], cwd="/", text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=lib.DEADLINE)
    except PermissionError:
        raise lib.Skip("another user cannot run the program where it was built") from None
    return done.returncode, done.stdout


def test_a_folder_in_tmp_that_another_user_took_is_named_with_the_way_out():
    taken = "/tmp/nvtxtd-65534"
    if os.path.lexists(taken):
        raise lib.Skip(taken + " is there")
    with tempfile.TemporaryDirectory() as home:
        os.chown(home, 65534, 65534)
        os.mkdir(taken, 0o700)
        try:
            status, told = start_as_nobody([], HOME=home)
            lib.equal(status, 73, told)
            for word in (taken, "root (uid 0)", "XDG_RUNTIME_DIR", "--socket"):
                assert word in told, told
            os.chown(taken, 65534, 65534)
            os.chmod(taken, 0o750)
            status, told = start_as_nobody([], HOME=home)
            lib.equal((status, "chmod 700 " + taken in told), (73, True), told)
        finally:
            os.rmdir(taken)


def test_a_home_that_cannot_be_read_is_no_fault_of_the_configuration():
    with tempfile.TemporaryDirectory() as home:
        os.chmod(home, 0o700)
        lib.equal(start_as_nobody(["--check-config"], HOME=home), (0, "ok\n"))
        status, told = start_as_nobody(["--socket", "/tmp/nowhere-s"], HOME=home)
        lib.equal((status, "--store" in told), (73, True), told)
        for args, env in ((["--config", home + "/nvtxtd.conf"], {}), ([], {"XDG_CONFIG_HOME": home}),
                          ([], {"CONFIGURATION_DIRECTORY": home})):
            status, told = start_as_nobody(["--check-config", *args], HOME=home, **env)
            lib.equal((status, "Permission denied" in told), (66, True), told)


lib.run(globals())
