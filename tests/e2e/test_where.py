# SPDX-License-Identifier: Apache-2.0
"""One search for daemon and store: its order, what is said of what is passed over, and statuses.

Each case has folders of its own for XDG_RUNTIME_DIR and XDG_STATE_HOME. A daemon of the machine
itself would come first for root, so as root the programs run as another user."""
import contextlib
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import tempfile

import lib
from lib import DEADLINE, Skip, equal, run, wait_for

USER = 65533 if os.getuid() == 0 else os.getuid()
AS_USER = {"user": USER, "group": USER, "extra_groups": []} if os.getuid() == 0 else {}
SYSTEM = "/run/nvtxtd/nvtxtd.sock", "/var/lib/nvtxtd/nvtxt.sqlite"


def program(folder, name):
    return os.path.abspath(lib.program(folder, name))


class Home:
    """A person with folders of their own."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="nvtxt-where-")
        self.env = {key: value for key, value in os.environ.items()
                    if not key.startswith(("NVTXT_S", "XDG_"))}
        self.env.update(HOME=self.folder, XDG_RUNTIME_DIR=self.name("run"),
                        XDG_STATE_HOME=self.name("state"))
        for name in ("run", "state", "other"):
            os.mkdir(self.name(name), 0o700)
            os.chown(self.name(name), USER, -1)
        os.chown(self.folder, USER, -1)
        self.daemons = []
        return self

    def __exit__(self, kind, value, trace):
        for process in self.daemons:
            if process.poll() is None:
                lib.terminate(process)
        shutil.rmtree(self.folder, ignore_errors=True)

    def name(self, *parts):
        return os.path.join(self.folder, *parts)

    def run(self, name, *args, stdin="", cwd=None, **env):
        try:
            done = subprocess.run([program("client", name), *args], cwd=cwd or self.folder,
                                  env={**self.env, **env}, input=stdin.encode(), **AS_USER,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE)
        except PermissionError as reason:
            raise Skip("the build is not for others to read") from reason
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def daemon(self, socket_path=None, store=None):
        """Starts one; without paths it is the person's own."""
        options = ["--socket", socket_path] if socket_path else []
        options += ["--store", store] if store else []
        try:
            process = subprocess.Popen([program("daemon", "nvtxtd"), *options], env=self.env,
                                       stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       cwd=self.folder, **AS_USER)
        except PermissionError as reason:
            raise Skip("the build is not for others to read") from reason
        self.daemons.append(process)
        path = socket_path or self.name("run", "nvtxtd", "nvtxtd.sock")
        wait_for(lambda: accepts(path) or process.poll() is not None, "the daemon listens")
        equal(process.poll(), None, "the daemon runs")
        return process

    def where(self, status, **env):
        code, out, err = self.run("nvtxt-ctl", "where", "--json", **env)
        equal((code, err), (status, ""))
        return json.loads(out)


def contains_all(text, *parts):
    for part in parts:
        assert part in text, "%r lacks %r" % (text, part)


def accepts(path):
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as probe:
        try:
            probe.connect(path)
            return True
        except OSError:
            return False


def listen(path):
    """A daemon of which only the listening is there."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(8)
    return listener


def states(places):
    return {place["path"]: place["state"] for place in places}


def winner(places):
    return [place["path"] for place in places if place["wins"]]


def messages(store):
    return lib.rows(store, "SELECT text FROM NVTX_EVENTS WHERE eventType = 34 ORDER BY 1")


MARK = "@Marker, Time, Message\nMarker, 1, '%s'\n"


# ---- Sending ------------------------------------------------------------------------------------

def test_a_daemon_of_ones_own_comes_before_the_systems():
    with Home() as home:
        home.daemon()
        own = home.name("run", "nvtxtd", "nvtxtd.sock")
        equal(home.run("nvtxt-send", stdin=MARK % "mine"), (0, "", ""))
        code, out, err = home.run("nvtxt-send", "-v", stdin="")
        equal((code, out), (0, ""))
        assert err.startswith("nvtxt-send: <stdin> goes to the daemon at %s (yours)" % own), err
        equal(messages(home.name("state", "nvtxtd", "nvtxt.sqlite")), [("mine",)])
        found = home.where(0)
        equal(winner(found["sockets"]), [own])
        assert winner(found["controls"]) and winner(found["stores"]), found
        order = [place["path"] for place in found["sockets"]]
        equal(order, [own, "/tmp/nvtxtd-%d/nvtxtd.sock" % USER, SYSTEM[0]])


def test_the_environment_comes_first_and_is_not_passed_over_in_silence():
    with Home() as home:
        home.daemon()
        named = home.name("other", "nvtxtd.sock")
        code, out, err = home.run("nvtxt-send", "-q", stdin=MARK % "first", NVTXT_SOCKET=named)
        equal((code, out), (0, ""))
        contains_all(err, "warning: no daemon at " + named, "$NVTXT_SOCKET", "using " +
                     home.name("run", "nvtxtd", "nvtxtd.sock"))
        home.daemon(named, home.name("other", "nvtxt.sqlite"))
        code, out, err = home.run("nvtxt-send", "-v", stdin=MARK % "second", NVTXT_SOCKET=named)
        equal((code, out), (0, ""))
        contains_all(err, "goes to the daemon at %s ($NVTXT_SOCKET)" % named, "a daemon is live at",
                     home.name("run", "nvtxtd", "nvtxtd.sock"))
        equal(messages(home.name("other", "nvtxt.sqlite")), [("second",)])
        # The store is the one that the daemon says.
        equal(winner(home.where(0, NVTXT_SOCKET=named)["stores"]),
              [home.name("other", "nvtxt.sqlite")])
        code, out, err = home.run("nvtxt-export", "--format", "csv", NVTXT_SOCKET=named)
        equal((code, err, out.count("second"), out.count("first")), (0, "", 1, 0))


def test_an_option_is_the_only_place():
    with Home() as home:
        home.daemon()
        path = home.name("other", "s")
        code, _, err = home.run("nvtxt-send", "--socket", path)
        equal((code, err.split("\n")[0]),
              (69, "nvtxt-send: no daemon at %s: No such file or directory" % path))
        code, _, err = home.run("nvtxt-ctl", "--socket", path, "status")
        equal(code, 69)
        contains_all(err, "no daemon at %s: No such file or directory" % path)
        code, out, _ = home.run("nvtxt-ctl", "--socket", path, "where")
        equal((code, "accepts" in out), (69, False))


def test_what_was_tried_is_named_and_absent_is_not_forbidden():
    with Home() as home:
        if accepts(SYSTEM[0]) or os.path.exists(SYSTEM[0]):
            raise Skip("this machine has a daemon")
        for name, args in (("nvtxt-send", []), ("nvtxt-ctl", ["status"])):
            code, out, err = home.run(name, *args)
            equal((code, out), (69, ""), err)
            contains_all(err, "no daemon at ", home.name("run", "nvtxtd"), "/tmp/nvtxtd-%d/" % USER,
                         "/run/nvtxtd/", "No such file or directory", "nvtxtd &")
        equal(winner(home.where(69)["sockets"]), [])
        os.mkdir(home.name("run", "nvtxtd"))
        with listen(home.name("run", "nvtxtd", "nvtxtd.sock")), \
                listen(home.name("run", "nvtxtd", "control.sock")):
            if os.getuid() != 0:
                raise Skip("needs root: sockets of another user")
            for name in ("nvtxtd.sock", "control.sock"):
                os.chmod(home.name("run", "nvtxtd", name), 0o660)
            for name, args in (("nvtxt-send", []), ("nvtxt-ctl", ["status"])):
                code, out, err = home.run(name, *args)
                equal((code, out), (77, ""), err)
                contains_all(err, "you may not use the daemon at " + home.name("run", "nvtxtd"),
                             "Permission denied", "sk for the group", "there is none at /tmp/")
            equal(states(home.where(69)["sockets"])[home.name("run", "nvtxtd", "nvtxtd.sock")],
                  "forbidden")


def test_a_spool_does_not_wait_for_a_forbidden_daemon():
    if os.getuid() != 0:
        raise Skip("needs root: sockets of another user")
    with Home() as home:
        os.mkdir(home.name("run", "nvtxtd"))
        with listen(home.name("run", "nvtxtd", "nvtxtd.sock")):
            os.chmod(home.name("run", "nvtxtd", "nvtxtd.sock"), 0o600)
            code, _, err = home.run("nvtxt-send", "--spool", "state", "--wait=0", stdin=MARK % "kept")
            equal(code, 0, err)
            contains_all(err, "is kept")


def test_a_folder_in_tmp_that_is_another_users_is_not_used():
    if os.getuid() != 0:
        raise Skip("needs root: a folder of another user")
    folder = "/tmp/nvtxtd-%d" % USER
    if os.path.lexists(folder):
        raise Skip(folder + " is there")
    with Home() as home:
        os.mkdir(folder, 0o777)
        os.chmod(folder, 0o777)
        try:
            with listen(folder + "/nvtxtd.sock"):
                os.chmod(folder + "/nvtxtd.sock", 0o666)
                code, _, err = home.run("nvtxt-send", stdin=MARK % "secret")
                assert code in (69, 0 if accepts(SYSTEM[0]) else 69), (code, err)
                contains_all(err, folder + "/nvtxtd.sock (its folder is not one of yours alone)")
                if code:
                    contains_all(err, folder + " belongs to user root (uid 0)", "XDG_RUNTIME_DIR", "--socket")
                    contains_all(home.run("nvtxt-ctl", "status")[2], folder + " belongs to user root")
                equal(folder + "/nvtxtd.sock" in winner(home.where(code)["sockets"]), False)
            os.chown(folder, USER, -1)
            os.chmod(folder, 0o700)
            os.unlink(folder + "/nvtxtd.sock")
            with listen(folder + "/nvtxtd.sock"):
                os.chown(folder + "/nvtxtd.sock", USER, -1)
                equal(winner(home.where(0)["sockets"]), [folder + "/nvtxtd.sock"])
        finally:
            shutil.rmtree(folder)


def test_it_stays_with_the_daemon_that_accepted():
    with Home() as home:
        named = home.name("other", "nvtxtd.sock")
        store = home.name("other", "nvtxt.sqlite")
        first = home.daemon(named, store)
        home.daemon()
        env = {**home.env, "NVTXT_SOCKET": named}
        sender = subprocess.Popen([program("client", "nvtxt-send"), "-q"], env=env,
                                  stdin=subprocess.PIPE, cwd=home.folder, **AS_USER)
        try:
            sender.stdin.write((MARK % "before").encode())
            sender.stdin.flush()
            wait_for(lambda: os.path.exists(store) and messages(store) == [("before",)],
                     "the first line is there")
            first.send_signal(signal.SIGKILL)
            first.wait()
            sender.stdin.write(b"Marker, 2, 'behind'\n")
            sender.stdin.close()
            home.daemon(named, store)
            equal(sender.wait(DEADLINE), 0)
        finally:
            if sender.poll() is None:
                sender.kill()
                sender.wait()
        equal(messages(store), [("before",), ("behind",)])
        equal(messages(home.name("state", "nvtxtd", "nvtxt.sqlite")), [])


# ---- Reading ------------------------------------------------------------------------------------

def create(home, path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(home.name("in.nvtxt"), "w", encoding="utf-8") as file:
        file.write(MARK % text)
    subprocess.run([program("client", "nvtxt-import"), "create", "-q", "-n", home.name("in.nvtxt"),
                    "-o", path], check=True, timeout=DEADLINE, stderr=subprocess.DEVNULL)
    os.chmod(path, 0o644)
    os.chmod(os.path.dirname(path), 0o755)


def export(home, *args, **env):
    return home.run("nvtxt-export", "--format", "csv", *args, **env)


def test_without_a_daemon_the_first_store_that_can_be_read():
    with Home() as home:
        if os.path.exists(SYSTEM[1]) or accepts(SYSTEM[0]):
            raise Skip("this machine has a store")
        code, out, err = export(home)
        equal((code, out), (66, ""))
        own = home.name("state", "nvtxtd", "nvtxt.sqlite")
        contains_all(err, "no store", own, SYSTEM[1], "No such file or directory", "--store")
        create(home, own, "own")
        code, out, err = export(home)
        equal((code, err, "own" in out), (0, "", True))
        create(home, home.name("other", "x.sqlite"), "named")
        code, out, err = export(home, NVTXT_STORE=home.name("other", "x.sqlite"))
        equal((code, err, "named" in out, "own" in out), (0, "", True, False))
        # The option is the only one.
        equal(export(home, "--store", home.name("nothing"))[0], 66)
        equal(winner(home.where(69)["stores"]), [own])


def test_an_nvtxt_store_that_cannot_be_read_is_said():
    with Home() as home:
        own = home.name("state", "nvtxtd", "nvtxt.sqlite")
        create(home, own, "own")
        missing = home.name("nothing.sqlite")
        code, out, err = export(home, NVTXT_STORE=missing)
        equal((code, "own" in out), (0, True))
        equal(err, "nvtxt-export: warning: the store %s ($NVTXT_STORE) cannot be read: "
              "No such file or directory\n" % missing)
        found = home.where(69, NVTXT_STORE=missing)["stores"]
        equal((found[0]["whose"], found[0]["state"]), ("$NVTXT_STORE", "absent"))


def test_a_named_daemon_that_does_not_say_has_no_other_store():
    with Home() as home:
        own = home.name("state", "nvtxtd", "nvtxt.sqlite")
        create(home, own, "own")
        named = home.name("other", "s")
        with listen(named):
            os.chmod(named, 0o666)
            code, out, err = export(home, NVTXT_SOCKET=named)
            equal((code, out), (66, ""), err)
            contains_all(err, "the daemon at " + named, "does not say where its store is")
            code, out, err = export(home, NVTXT_SOCKET=named, NVTXT_STORE=own)
            equal((code, err, "own" in out), (0, "", True))


def test_where_says_it_to_people():
    with Home() as home:
        home.daemon()
        code, out, err = home.run("nvtxt-ctl", "where")
        equal((code, err), (0, ""))
        own = home.name("run", "nvtxtd", "nvtxtd.sock")
        lines = out.splitlines()
        equal([line.split()[0] for line in lines if not line.startswith(" ")],
              ["data", "control", "store"])
        contains_all(lines[0], "data", "* " + own, "yours", "accepts")
        store = home.name("state", "nvtxtd", "nvtxt.sqlite")
        contains_all(out, "* " + store, "the daemon's", "can be read", "/tmp/nvtxtd-%d" % USER)
        equal(stat.S_ISLNK(os.lstat(store).st_mode), True)


run(globals())
