# SPDX-License-Identifier: Apache-2.0
"""Readers without any right to write: another user, in the group of the store, opens it in three
ways, while the daemon writes, after a rotation, after a clean stop and after a kill. As root only:
the reader is somebody else."""
import grp
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile

import lib

if os.getuid() != 0:
    print("root is needed, to become another user")
    sys.exit(77)

READER, GROUP, STRANGER = 65533, 61234, 65532
HEADER = 'TimeBase = Manual\n@Marker, Time, Message\n'

# What the reader runs: opens each way, and says how many events it found or why it could not.
PROGRAM = """
import json, os, sqlite3, sys
path, found = sys.argv[1], {}
for name, how in (("plain", path), ("ro", "file:%s?mode=ro" % path),
                  ("immutable", "file:%s?immutable=1" % path)):
    try:
        store = sqlite3.connect(how, uri=name != "plain", timeout=240)
        found[name], = store.execute("SELECT count(*) FROM NVTX_EVENTS").fetchone()
        store.close()
    except sqlite3.Error as error:
        found[name] = str(error)
folder = os.path.dirname(os.path.realpath(path))
writes = [name for name in os.listdir(folder) + ["."] if os.access(os.path.join(folder, name), os.W_OK)
          and not os.path.islink(os.path.join(folder, name))]
print(json.dumps([found, writes]))
"""


class Readable(lib.Daemon):
    """A store in a folder for readers, which belongs to the daemon's user and their group."""

    def __init__(self, config="", mode=0o2750, group=GROUP):
        super().__init__(config=config, start=False)
        os.chmod(self.folder, 0o755)
        folder = os.path.join(self.folder, "store")
        os.mkdir(folder)
        os.chown(folder, -1, group)
        os.chmod(folder, mode)
        self.store = os.path.join(folder, "store.sqlite")
        self.start()

    def read(self, user=READER, groups=(GROUP,)):
        """What another user finds: {way: events or fault}; nothing may be writable for it."""
        def drop():
            os.setgroups(groups)
            os.setresgid(*(groups[:1] or (STRANGER,)) * 3)
            os.setresuid(user, user, user)
        done = subprocess.run(["/usr/bin/env", "python3", "-c", PROGRAM, self.store], cwd="/",
                              preexec_fn=drop, stdout=subprocess.PIPE, check=True,
                              stderr=subprocess.DEVNULL, timeout=lib.DEADLINE)
        found, writes = json.loads(done.stdout)
        lib.equal(writes, [], "nothing is writable for a reader")
        return found


def can_become_another_user():
    folder = tempfile.mkdtemp()
    try:
        os.chmod(folder, 0o755)
        done = subprocess.run(["/usr/bin/env", "python3", "-c", "import sqlite3"], cwd=folder, user=READER,
                              check=False, stderr=subprocess.DEVNULL)
        return done.returncode == 0
    except OSError:
        return False
    finally:
        shutil.rmtree(folder)


def modes(daemon):
    path = os.path.realpath(daemon.store)
    return {(stat.S_IMODE(os.stat(path + ending).st_mode), os.stat(path + ending).st_gid)
            for ending in ("", "-wal", "-shm")}


def test_readers_see_the_store_in_every_state():
    with Readable() as daemon:
        lib.equal(modes(daemon), {(0o640, GROUP)})
        lib.equal(daemon.read(), {"plain": 0, "ro": 0, "immutable": 0})  # ready: all files are there
        with daemon.session() as session:
            session.send(HEADER + 'Marker, 1, "one"\n')
            session.ack(3)
            found = daemon.read()
            lib.equal((found["plain"], found["ro"]), (1, 1))
            lib.equal(type(found["immutable"]), int)  # what was checkpointed: it ignores the log
            daemon.control("rotate")
            lib.equal(modes(daemon), {(0o640, GROUP)})
            lib.equal(daemon.read(), {"plain": 0, "ro": 0, "immutable": 0})
            session.send('Marker, 2, "two"\nMarker, 3, "three"\n')
            session.ack(5)
            found = daemon.read()
            lib.equal((found["plain"], found["ro"]), (2, 2))
            daemon.kill()
            found = daemon.read()
            lib.equal((found["plain"], found["ro"]), (2, 2))
            lib.equal(type(found["immutable"]), int)
            daemon.start()
        daemon.stop()
        lib.equal(daemon.read(), {"plain": 2, "ro": 2, "immutable": 2})
        lib.equal(modes(daemon), {(0o640, GROUP)})
        old, = [path for path in daemon.segments() if path != os.path.realpath(daemon.store)]
        daemon.store = old
        lib.equal(daemon.read(), {"plain": 1, "ro": 1, "immutable": 1})


def test_who_is_not_in_the_group_sees_nothing():
    with Readable() as daemon:
        faults = daemon_faults(daemon)
        lib.equal(len(faults), 3, faults)


def daemon_faults(daemon):
    try:
        return [fault for fault in daemon.read(STRANGER, ()).values() if isinstance(fault, str)]
    except subprocess.CalledProcessError:  # it cannot even list the folder
        return ["", "", ""]


def test_store_group_gives_the_files_of_a_folder_that_does_not():
    with Readable("StoreGroup=%s\n" % group_name(), 0o755, 0) as daemon:
        wanted = group_id(group_name())
        lib.equal(modes(daemon), {(0o640, wanted)})
        daemon.send(HEADER + 'Marker, 1, "one"\n')
        daemon.control("rotate")
        lib.equal(modes(daemon), {(0o640, wanted)})
        found = daemon.read(groups=(wanted,))
        lib.equal(found, {"plain": 0, "ro": 0, "immutable": 0})


def group_name():
    return next(group.gr_name for group in grp.getgrall() if group.gr_gid not in (0, GROUP))


def group_id(name):
    return grp.getgrnam(name).gr_gid


def test_a_group_that_is_not_there_is_named():
    with lib.Daemon(config="StoreGroup=no-such-group\n", start=False) as daemon:
        try:
            daemon.start()
        except AssertionError as fault:
            assert "there is no group 'no-such-group' (StoreGroup)" in str(fault), fault
        lib.equal(daemon.process.wait(), 78)


def test_a_folder_where_nothing_can_be_made_is_named():
    with lib.Daemon(start=False) as daemon:
        os.chmod(daemon.folder, 0o755)
        folder = os.path.join(daemon.folder, "others")
        os.mkdir(folder)
        sockets = os.path.join(daemon.folder, "own")
        os.mkdir(sockets)
        os.chown(sockets, READER, -1)
        store = os.path.join(folder, "store.sqlite")
        try:
            done = subprocess.run([os.path.abspath(daemon.program), "--socket", sockets + "/s",
                                   "--control-socket", sockets + "/c", "--store", store],
                                  capture_output=True, text=True, user=READER, cwd="/",
                                  env={"HOME": sockets},
                                  timeout=lib.DEADLINE, check=False)
        except PermissionError:
            raise lib.Skip("another user cannot run the program where it was built") from None
        lib.equal((done.returncode, len(done.stderr.splitlines())), (73, 1), done.stderr)
        for word in (store, "cannot be written", "name another path"):
            assert word in done.stderr, done.stderr
        lib.equal((os.listdir(folder), os.listdir(sockets)), ([], []))


if not can_become_another_user():
    print("another user cannot run python3 here")
    sys.exit(77)
lib.run(globals())
