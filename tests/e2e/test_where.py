# SPDX-License-Identifier: Apache-2.0
"""One search for daemon and store: its order, what is said of what is passed over, and statuses.

Each case has folders of its own for XDG_RUNTIME_DIR and XDG_STATE_HOME. A daemon of the machine
itself would come first for root, so as root the programs run as another user."""
import contextlib
import glob
import grp
import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import threading

import lib
from client import Fake
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

    def daemon(self, socket_path=None, store=None, control=None, cwd=None):
        """Starts one; without paths it is the person's own."""
        options = ["--socket", socket_path] if socket_path else []
        options += ["--store", store] if store else []
        options += ["--control-socket", control] if control else []
        try:
            process = subprocess.Popen([program("daemon", "nvtxtd"), *options], env=self.env,
                                       stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       cwd=cwd or self.folder, **AS_USER)
        except PermissionError as reason:
            raise Skip("the build is not for others to read") from reason
        self.daemons.append(process)
        path = os.path.join(cwd or "", socket_path or self.name("run", "nvtxtd", "nvtxtd.sock"))
        wait_for(lambda: accepts(path) or process.poll() is not None, "the daemon listens")
        equal(process.poll(), None, "the daemon runs")
        return process

    def where(self, status, args=(), **env):
        code, out, err = self.run("nvtxt-ctl", *args, "where", "--json", **env)
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


def test_the_daemon_that_the_environment_names_is_the_only_one():
    with Home() as home:
        own = home.name("run", "nvtxtd", "nvtxtd.sock")
        home.daemon()
        named = home.name("other", "nvtxtd.sock")
        before = sorted(os.listdir(home.name("state", "nvtxtd")))
        for name, *args in (("nvtxt-send",), ("nvtxt-send", "--mark", "x"), ("nvtxt-ctl", "rotate"),
                            ("nvtxt-ctl", "status"), ("nvtxt-ctl", "top", "--count", "1"),
                            ("nvtxt-export", "--format", "csv"), ("nvtxt-report",),
                            ("nvtxt-ctl", "where", "--store")):
            code, out, err = home.run(name, *args, stdin=MARK % "first", NVTXT_SOCKET=named)
            equal((code, out, err),
                  (69, "", "%s: no daemon at %s: No such file or directory ($NVTXT_SOCKET names it)\n"
                   % (name, named)))
        equal(sorted(os.listdir(home.name("state", "nvtxtd"))), before, "nothing was rotated")
        code, out, err = home.run("nvtxt-ctl", "where", NVTXT_SOCKET=named)
        equal((code, "accepts" in out), (69, False), out)
        contains_all(err, "no daemon at " + named, "$NVTXT_SOCKET")
        # A spool needs no daemon, and an empty variable names none.
        code, out, err = home.run("nvtxt-send", "--spool", "other", "--wait=0",
                                  stdin=MARK % "kept", NVTXT_SOCKET=named)
        equal((code, out), (0, ""), err)
        contains_all(err, "is kept")
        code, out, err = home.run("nvtxt-send", "-v", stdin="", NVTXT_SOCKET="")
        equal((code, out), (0, ""), err)
        contains_all(err, own + " (yours)")
        home.daemon(named, home.name("other", "nvtxt.sqlite"))
        code, out, err = home.run("nvtxt-send", "-v", stdin=MARK % "second", NVTXT_SOCKET=named)
        equal((code, out), (0, ""))
        contains_all(err, "goes to the daemon at %s ($NVTXT_SOCKET)" % named)
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
        sentence = ": no daemon at %s: No such file or directory (--socket names it)\n" % path
        equal((code, err), (69, "nvtxt-send" + sentence))
        # The option also comes before the environment.
        code, _, err = home.run("nvtxt-ctl", "--socket", path, "status",
                                NVTXT_SOCKET=home.name("run", "nvtxtd", "nvtxtd.sock"))
        equal((code, err), (69, "nvtxt-ctl" + sentence))
        code, out, _ = home.run("nvtxt-ctl", "--socket", path, "where")
        equal((code, "accepts" in out), (69, False))


def test_a_daemon_says_where_its_other_files_are():
    """Two daemons in one folder: what stands beside a socket may be the other one's."""
    with Home() as home:
        second = [home.name("other", name) for name in ("b", "b.ctl", "b.sqlite")]
        home.daemon(home.name("other", "a"), home.name("other", "a.sqlite"))
        home.daemon("b", "b.sqlite", "b.ctl", cwd=home.name("other"))
        assert os.path.exists(home.name("other", "control.sock")), "the first has the usual name"
        for socket_path in second[:2]:
            for env in ({}, {"NVTXT_SOCKET": home.name("other", "a")}):
                code, out, err = home.run("nvtxt-ctl", "--socket", socket_path, "--json", "status", **env)
                equal((code, err, json.loads(out)["store"]), (0, "", second[2]))
                found = home.where(0, args=["--socket", socket_path], **env)
                equal([winner(found[kind]) for kind in ("sockets", "controls", "stores")],
                      [[path] for path in second])
                equal(found["different_daemons"], False)
        before = glob.glob(home.name("other", "a-*.sqlite"))
        equal(home.run("nvtxt-send", stdin=MARK % "to b", NVTXT_SOCKET=second[0]), (0, "", ""))
        code, out, err = home.run("nvtxt-ctl", "rotate", NVTXT_SOCKET=second[0])
        equal((code, err), (0, ""))
        equal(len(glob.glob(home.name("other", "b-*-?.sqlite"))), 2)
        equal(glob.glob(home.name("other", "a-*.sqlite")), before)
        for name, *args in (("nvtxt-export", "--format", "csv"), ("nvtxt-report", "events")):
            code, out, err = home.run(name, *args, NVTXT_SOCKET=second[0])
            equal((code, err, "to b" in out), (0, "", True), out)
        # A store that was named comes first, and where says whose it is not.
        code, out, err = home.run("nvtxt-ctl", "where", NVTXT_SOCKET=second[0],
                                  NVTXT_STORE=home.name("other", "a.sqlite"))
        equal((code, err), (0, ""))
        contains_all(out, "data and store are of different daemons", second[2])
        code, out, err = home.run("nvtxt-ctl", "where", NVTXT_SOCKET=second[0],
                                  NVTXT_STORE=glob.glob(home.name("other", "b-*-1.sqlite"))[0])
        equal((code, err, "different daemons" in out), (0, "", False))
        equal(home.run("nvtxt-ctl", "where", "--store", NVTXT_SOCKET=second[0]), (0, second[2] + "\n", ""))


def test_a_usual_daemon_with_an_unusual_control_socket_is_found():
    with Home() as home:
        own = home.name("run", "nvtxtd", "nvtxtd.sock")
        os.mkdir(home.name("run", "nvtxtd"), 0o700)
        os.chown(home.name("run", "nvtxtd"), USER, -1)
        home.daemon(own, home.name("other", "x.sqlite"), home.name("other", "elsewhere"))
        code, out, err = home.run("nvtxt-ctl", "--json", "status")
        equal((code, err, json.loads(out)["socket"]), (0, "", own))
        equal(winner(home.where(0)["controls"]), [home.name("other", "elsewhere")])


def test_an_older_daemon_is_not_taken_for_another():
    """It does not say where its control socket is: the one beside it is asked whose it is."""
    with Home() as home, Fake() as older:
        home.daemon(home.name("other", "new"), home.name("other", "new.sqlite"))
        os.chmod(older.folder, 0o755)
        os.chmod(older.path, 0o666)
        other = home.name("other", "old")
        before = sorted(os.listdir(home.name("other")))
        os.rename(older.path, other)
        for args, status in ((["rotate"], 69), (["where", "--store"], 66)):
            asked = threading.Thread(target=answer_as_older, args=(older,), daemon=True)
            asked.start()
            code, out, err = home.run("nvtxt-ctl", "--socket", other, *args)
            asked.join(DEADLINE)
            equal((code, out), (status, ""), err)
            contains_all(err, other, home.name("other", "control.sock"))
        os.rename(other, older.path)
        equal(sorted(os.listdir(home.name("other"))), before, "nothing was rotated")


def answer_as_older(fake):
    """Version 0.1.0 misses the session in the question who is there."""
    with fake.accept() as peer:
        equal("session" in peer.hello, False)
        peer.error("bad-hello", "the hello lacks 'session'; this daemon speaks protocol 1")


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
            named = next(entry for entry in grp.getgrall() if entry.gr_gid not in (0, USER))
            for group, advice in ((named.gr_gid, "sk for the group %s ('adduser YOU" % named.gr_name),
                                  (0, "nly its owner root may")):
                for name in ("nvtxtd.sock", "control.sock"):
                    os.chown(home.name("run", "nvtxtd", name), 0, group)
                    os.chmod(home.name("run", "nvtxtd", name), 0o660)
                for name, args in (("nvtxt-send", []), ("nvtxt-ctl", ["status"])):
                    code, out, err = home.run(name, *args)
                    equal((code, out), (77, ""), err)
                    contains_all(err, "you may not use the daemon at " + home.name("run", "nvtxtd"),
                                 "Permission denied", advice, "there is none at /tmp/")
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


def test_a_named_store_that_cannot_be_read_is_not_replaced():
    with Home() as home:
        own = home.name("state", "nvtxtd", "nvtxt.sqlite")
        create(home, own, "own")
        missing = home.name("nothing.sqlite")
        code, out, err = export(home, NVTXT_STORE=missing)
        sentence = "no store can be read at %s: No such file or directory ($NVTXT_STORE names it)\n" % missing
        equal((code, out, err), (66, "", "nvtxt-export: " + sentence))
        code, out, err = home.run("nvtxt-report", NVTXT_STORE=missing)
        equal((code, out, err), (66, "", "nvtxt-report: " + sentence))
        found = home.where(69, NVTXT_STORE=missing)["stores"]
        equal([(place["whose"], place["state"]) for place in found], [("$NVTXT_STORE", "absent")])
        code, out, err = export(home, NVTXT_STORE="")
        equal((code, err, "own" in out), (0, "", True))


def test_a_path_that_is_no_store_is_not_printed_as_one():
    with Home() as home:
        names = [home.name(name) for name in ("other", "empty", "garbage", "fifo")]
        os.mkfifo(names[3])
        for name, text in zip(names[1:3], ("", "no database")):
            with open(name, "w", encoding="utf-8") as file:
                file.write(text)
        for name, status in zip(names, (66, 65, 65, 66)):
            code, out, err = home.run("nvtxt-ctl", "where", "--store", NVTXT_STORE=name)
            equal((code, out, err), (status, "", export(home, NVTXT_STORE=name)[2].replace("-export:", "-ctl:")))
            contains_all(err, name)
            place, = home.where(69, NVTXT_STORE=name)["stores"]
            equal((place["state"], place["wins"]), ("refused", True), place)
            contains_all(err, name + " " + place["why"])
        own = home.name("state", "nvtxtd", "nvtxt.sqlite")
        create(home, own, "own")
        equal(home.run("nvtxt-ctl", "where", "--store"), (0, own + "\n", ""))


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


def test_a_path_that_cannot_be_a_sockets_is_wrong_usage_for_every_program():
    with Home() as home:
        path = "/tmp/" + 110 * "x"
        for words in (["nvtxt-send"], ["nvtxt-ctl", "status"], ["nvtxt-ctl", "where", "--store"],
                      ["nvtxt-export", "--format", "csv"], ["nvtxt-report"]):
            code, out, err = home.run(*words, NVTXT_SOCKET=path)
            equal((code, out), (64, ""), err)
            contains_all(err, path, "$NVTXT_SOCKET", "cannot be a socket's path")
        for words in (["nvtxt-export", "--format", "csv"], ["nvtxt-report", "summary"]):
            code, out, err = home.run(*words, "--store", "")
            equal((code, out), (64, ""), err)
            contains_all(err, "--store takes a path, not ''")
        code, out, err = home.run("nvtxt-ctl", "--store", "x", "where")
        equal((code, out), (64, ""))
        contains_all(err, "--store is an option of 'where' and takes no value")


def test_what_is_no_socket_is_said():
    with Home() as home:
        with open(home.name("plain"), "w", encoding="ascii") as file:
            os.fchmod(file.fileno(), 0o666)
        for name, why in (("other", "it is a folder, not a socket"), ("plain", "it is not a socket")):
            for words in (["nvtxt-send"], ["nvtxt-ctl", "status"]):
                code, out, err = home.run(*words, NVTXT_SOCKET=home.name(name))
                equal((code, out), (69, ""), err)
                contains_all(err, home.name(name) + ": " + why)


def test_only_what_was_named_is_listed():
    with Home() as home, Fake() as fake:
        found = home.where(69, ("--socket", home.name("none")))
        equal((found["controls"], found["stores"]), ([], []))
        os.chmod(fake.folder, 0o755)
        os.chmod(fake.path, 0o666)
        thread = threading.Thread(target=answer_as_older, args=(fake,), daemon=True)
        thread.start()
        code, out, err = home.run("nvtxt-ctl", "where", "--socket", fake.path)
        thread.join(DEADLINE)
        equal((code, "store" in out), (0, False), out)
        contains_all(err, "the daemon at %s (--socket) does not say where its store is" % fake.path)


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
