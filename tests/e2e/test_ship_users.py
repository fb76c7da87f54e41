# SPDX-License-Identifier: Apache-2.0
"""Rights between users of one machine: nvtxtd runs as one, nvtxt-ship as another one, which the
group of the store lets read it, and the database knows by its name (peer authentication)."""
import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile

import ship
from lib import DEADLINE, Daemon, Skip, equal, program, run, wait_for
from postgres import Postgres
from ship import compare_store

KEEPER, SHIPPER, OTHER = "daemon", "nobody", "games"
HBA = ["local all postgres trust", "local all all peer"]
MARKER = 'TimeBase = Manual\n@Marker, Time, ProcessId, ThreadId, Message\nMarker, 1, 7, 8, "%s"\n'


def user(name):
    try:
        return pwd.getpwnam(name)
    except KeyError as reason:
        raise Skip("there is no user " + name) from reason


def become(name):
    """For a child, before it is another program."""
    entry = user(name)

    def act():
        os.setgroups([])
        os.setgid(entry.pw_gid)
        os.setuid(entry.pw_uid)
    return act


class Users:
    """A daemon of KEEPER, a server, and a program that every user may start."""

    def __init__(self, server, daemon, folder):
        self.server, self.daemon = server, daemon
        self.program = shutil.copy(program("ship", "nvtxt-ship"), folder)
        self.env = {**os.environ, "CONFIGURATION_DIRECTORY": folder, "HOME": folder}

    def command(self, name, groups, *args):
        entry = user(name)
        groups = "--groups=%d" % user(KEEPER).pw_gid if groups else "--clear-groups"
        return ["setpriv", "--reuid=%d" % entry.pw_uid, "--regid=%d" % entry.pw_gid, groups,
                self.program, "--store", self.daemon.store, "--interval", "50ms", *args]

    def once(self, name, groups=True, role=None, more=("--once",)):
        target = self.server.target(user=role or name)
        done = subprocess.run(self.command(name, groups, "--target", target, *more), env=self.env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd="/",
                              stderr=subprocess.PIPE, timeout=DEADLINE, check=False)
        return done.returncode, done.stdout.decode() + done.stderr.decode()

    def refused(self, status, words, *args, **more):
        got, said = self.once(*args, **more)
        equal(got, status, said)
        equal((said.startswith(ship.ERROR), said.count("\n"), words in said), (True, 1, True),
              "%r in %r" % (words, said))

    def lets(self, mode):
        """What the group of the daemon and others may do in the folder of the store."""
        os.chmod(self.daemon.folder, mode)

    def texts(self):
        return [row[0] for row in self.server.rows("SELECT text FROM nvtxt.events ORDER BY segment, "
                                                   "row_id")]


@contextlib.contextmanager
def users():
    if os.geteuid() != 0:
        raise Skip("only root can become two other users")
    keeper = user(KEEPER)
    with Postgres(hba=HBA) as server, tempfile.TemporaryDirectory(prefix="nvtxt-users-") as folder, \
            Daemon(start=False, limits=become(KEEPER)) as daemon:
        os.chmod(folder, 0o755)
        daemon.program = shutil.copy(program("daemon", "nvtxtd"), folder)
        for path in (daemon.folder, daemon.log):
            os.chown(path, keeper.pw_uid, keeper.pw_gid)
        daemon.start()
        ship.good("init", "--target", server.target())
        daemon.send(MARKER % "a")
        yield Users(server, daemon, folder)


def test_the_group_of_the_store_may_ship_it():
    with users() as all_of:
        all_of.server.rows('CREATE ROLE "%s" LOGIN IN ROLE nvtxt_ship' % SHIPPER)
        store = all_of.daemon.store
        all_of.lets(0o700)
        all_of.refused(66, store, SHIPPER)
        all_of.lets(0o750)
        all_of.refused(66, "may not be read by you: ask its owner, or join the group", SHIPPER, groups=False)
        all_of.lets(0o755)  # it may look into the folder, not into the store
        all_of.refused(66, "may not be read by you: ask its owner, or join the group", SHIPPER, groups=False)
        equal(all_of.server.rows("SELECT * FROM nvtxt.stores"), [])
        all_of.lets(0o750)
        equal(all_of.once(SHIPPER), (0, ""))
        equal(all_of.texts(), ["a"])
        # What a killed daemon leaves can be read without a right to write.
        all_of.daemon.send(MARKER % "b")
        all_of.daemon.kill()
        equal(all_of.once(SHIPPER), (0, ""))
        equal(all_of.texts(), ["a", "b"])
        all_of.daemon.start()
        all_of.daemon.stop()
        equal(all_of.once(SHIPPER), (0, ""))
        compare_store(all_of.server, all_of.daemon.segments())
        all_of.daemon.start()
        all_of.daemon.store = all_of.program  # every user may read it
        all_of.refused(65, all_of.program, SHIPPER)
        all_of.daemon.store = store


def test_a_home_that_another_user_has_is_no_fault():
    """As after su."""
    if os.geteuid() != 0:
        raise Skip("only root can become another user")
    with tempfile.TemporaryDirectory(prefix="nvtxt-users-") as folder:
        os.chmod(folder, 0o755)
        copy = shutil.copy(program("ship", "nvtxt-ship"), folder)
        home = os.path.join(folder, "home")
        os.mkdir(home, 0o700)
        env = {key: value for key, value in os.environ.items()
               if key not in ("XDG_CONFIG_HOME", "CONFIGURATION_DIRECTORY")}
        for more, wanted in (({}, 0), ({"XDG_CONFIG_HOME": home}, 78)):
            done = subprocess.run([copy, "--check-config"], env={**env, "HOME": home, **more}, cwd="/",
                                  preexec_fn=become(SHIPPER), timeout=DEADLINE, check=False,
                                  stderr=subprocess.PIPE)
            equal(done.returncode, wanted, done.stderr)


def test_a_role_is_who_the_system_says():
    with users() as all_of:
        all_of.lets(0o750)
        server = all_of.server
        all_of.refused(77, 'role "%s" does not exist' % SHIPPER, SHIPPER)
        for name in (SHIPPER, OTHER):
            server.rows('CREATE ROLE "%s" LOGIN' % name)
        all_of.refused(77, "GRANT nvtxt_ship TO " + SHIPPER, SHIPPER)
        server.rows('GRANT nvtxt_ship TO "%s", "%s"' % (SHIPPER, OTHER))
        all_of.refused(77, 'eer authentication failed for user "%s"' % SHIPPER, OTHER, role=SHIPPER)
        equal(server.rows("SELECT * FROM nvtxt.stores"), [])
        equal(all_of.once(SHIPPER), (0, ""))
        equal(server.rows("SELECT owner FROM nvtxt.stores"), [(SHIPPER,)])
        all_of.refused(77, "belongs to another role than " + OTHER, OTHER)
        all_of.refused(77, "belongs to another role than " + OTHER, OTHER, more=("--dry-run",))
        for command in ("init", "maintain"):
            got, said = all_of.once(SHIPPER, more=(command,))
            equal((got, said.count("\n")), (77, 1), said)
        equal(all_of.texts(), ["a"])


def test_a_right_that_is_away_for_a_while_is_waited_for():
    with users() as all_of:
        all_of.lets(0o750)
        all_of.server.rows('CREATE ROLE "%s" LOGIN IN ROLE nvtxt_ship' % SHIPPER)
        log = os.path.join(os.path.dirname(all_of.program), "log")

        def said():
            with open(log, encoding="utf-8") as file:
                return file.read()
        with open(log, "wb") as out:
            process = subprocess.Popen(
                all_of.command(SHIPPER, True, "--target", all_of.server.target(user=SHIPPER)),
                env=all_of.env, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd="/")
        try:
            wait_for(lambda: all_of.texts() == ["a"], "it ships")
            all_of.lets(0o700)
            all_of.daemon.control("rotate")
            all_of.daemon.send(MARKER % "b")
            wait_for(lambda: "ermission denied" in said(), "the failure is logged")
            all_of.lets(0o750)
            wait_for(lambda: all_of.texts() == ["a", "b"], "it ships again")
            process.terminate()
            equal(process.wait(DEADLINE), 0, said())
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        equal(all_of.server.rows("SELECT shipper FROM nvtxt.cursors"), [(None,)])


run(globals())
