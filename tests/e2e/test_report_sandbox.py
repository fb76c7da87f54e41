# SPDX-License-Identifier: Apache-2.0
"""What a Python rule cannot do, tried from within: in a sandbox, and as root without one. Each is
tried as whoever runs the tests and, if that is root, as another user too."""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

from client import ENV, Folder
from lib import Skip, equal, program, run, wait_for
from report import f1

NOBODY, OTHER = 65534, 65533
HEAD = """\
import ctypes, errno, json, os, signal, socket, sys, time
def get_identifier(): return "%s"
def get_name(): return "N"
def get_description(): return "D"
def apply(handle):
"""


def can_start(uid):
    """Whether bubblewrap starts for that user."""
    if not shutil.which("bwrap"):
        return False
    words = ["bwrap", "--ro-bind", "/", "/", "--unshare-all", "--size", "4096", "--tmpfs", "/tmp",
             "true"]
    change = {"user": uid, "group": uid, "extra_groups": []} if os.getuid() == 0 else {}
    return subprocess.run(words, cwd="/", stderr=subprocess.DEVNULL, **change).returncode == 0


def is_open(path):
    """Whether every user can go to it."""
    path = os.path.realpath(path)
    return all(os.stat(path[:at]).st_mode & 0o001 for at in range(1, len(path)) if path[at] == "/")


def users():
    """Who tries: None is the user of the tests, and as root another one too."""
    if not can_start(NOBODY):
        raise Skip("bubblewrap does not start")
    needed = program("client", "nvtxt-report"), os.environ["NVTXT_REPORT_DATA"]
    return [None, OTHER] if os.getuid() == 0 and all(map(is_open, needed)) else [None]


def python():
    """An interpreter that every user can go to."""
    return sys.executable if is_open(sys.executable) or os.getuid() != 0 else "/usr/bin/python3"


class Rules:
    """A store, and a folder with rules, that all users can read."""

    def __init__(self, folder, **bodies):
        self.folder = folder
        os.chmod(folder.path, 0o755)
        self.store = f1(folder)
        os.chmod(self.store, 0o644)
        self.path = folder.name("rules")
        os.mkdir(self.path, 0o755)
        for name, body in bodies.items():
            self.write(name, body)

    def write(self, name, body):
        path = os.path.join(self.path, name + ".py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(HEAD % name + "".join("    %s\n" % line for line in body.split("\n")))
        os.chmod(path, 0o644)

    def words(self, *more):
        return [program("client", "nvtxt-report"), "check", "--format", "json",
                "--section-folder=" + self.path, self.store, "--rule-timeout=600", *more]

    def start(self, *more, user=None, env=None, **kind):
        more = more if any(word.startswith("--python") for word in more) \
            else ("--python=" + python(), *more)
        if user is not None:
            kind = {**kind, "user": user, "group": user, "extra_groups": []}
        return subprocess.Popen(self.words(*more), env={**os.environ, **ENV, **(env or {})},
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kind)

    def run(self, *more, **kind):
        """The rules by identifier, and what was said."""
        with self.start(*more, **kind) as child:
            out, said = child.communicate()
        assert child.returncode in (0, 1), (child.returncode, said)
        return {rule["identifier"]: rule for rule in json.loads(out)["rules"]}, said


def tried(rules, body, user=None, sandbox="always"):
    """What the body printed as its last line, of JSON, when it was tried as that user."""
    rules.write("tries", body)
    found, said = rules.run("--rule=tries", "--sandbox=" + sandbox, user=user)
    equal((found["tries"]["status"], found["tries"]["reason"], said), ("no-issue", None, ""),
          found["tries"])
    return json.loads(found["tries"]["output"].splitlines()[-1])


WRITES = """\
wrote = []
for path in %r:
    for flags in (os.O_WRONLY | os.O_CREAT, os.O_WRONLY):
        try:
            os.close(os.open(path, flags))
            wrote.append(path)
        except OSError:
            pass
for name in ("/", "/proc", "/dev", "/tmp", "/usr"):
    if ctypes.CDLL(None).mount(b"none", name.encode(), None, 32, None) == 0:
        wrote.append("remounted " + name)
print(json.dumps([wrote, os.path.isdir("/sys/kernel")]))"""


def test_nothing_can_be_written_to():
    with Folder() as folder:
        rules = Rules(folder)
        etc = "/etc/nvtxt-was-here-%d" % os.getpid()
        names = ["/nvtxt-was-here", etc, "/usr/nvtxt-was-here",
                 "/dev/shm/nvtxt-was-here", "/dev/nvtxt-was-here", rules.path + "/tries.py",
                 rules.path + "/nvtxt-was-here", "/proc/sys/kernel/core_pattern",
                 "/proc/sys/kernel/domainname", "/proc/sysrq-trigger", "/proc/self/oom_score_adj",
                 "/proc/1/mem"]
        for user in users():
            equal(tried(rules, WRITES % names, user), [[], False])
            assert not os.path.exists(etc)
        # One that does not look at what it gets has failed, and the kernel's words are the reason.
        rules.write("leaves", "open('/etc/nvtxt-was-here', 'w')")
        found, _ = rules.run("--rule=leaves", "--sandbox=always")
        equal((found["leaves"]["status"], found["leaves"]["reason"]),
              ("failed", "raised OSError: [Errno 30] Read-only file system: '/etc/nvtxt-was-here' "
                         "(%s:6)" % os.path.join(rules.path, "leaves.py")))


CONNECTS = """\
reached = []
for kind, address in %r:
    for way in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        try:
            with socket.socket(kind, way) as link:
                link.settimeout(60)
                link.connect(tuple(address) if isinstance(address, list) else address)
                link.send(b"x")
            way == socket.SOCK_DGRAM and kind == socket.AF_INET or reached.append(address)
        except OSError:
            pass
left, right = socket.socketpair()
left.send(b"x")
print(json.dumps([reached, right.recv(1).decode(), os.path.exists("/run"), os.path.exists("/var")]))"""


def test_no_socket_of_the_host_is_reached():
    with Folder() as folder:
        rules = Rules(folder)
        abstract = "\0nvtxt-rule-%d" % os.getpid()
        places = [folder.name("socket"), os.path.join(rules.path, "socket"), abstract]
        open_ = []
        for place in places:
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(place)
            listener.listen()
            open_.append(listener)
            if place != abstract:
                os.chmod(place, 0o777)
        network = socket.socket()
        network.bind(("127.0.0.1", 0))
        network.listen()
        open_.append(network)
        addresses = [(int(socket.AF_UNIX), place) for place in places] \
            + [(int(socket.AF_INET), list(network.getsockname()))]
        for user in users():
            equal(tried(rules, CONNECTS % addresses, user), [[], "x", False, False])
        for listener in open_:
            listener.close()


def test_folders_anywhere_are_shown():
    users()
    for place in ("/dev/shm", "/var/tmp"):
        if not os.access(place, os.W_OK):
            continue
        with tempfile.TemporaryDirectory(dir=place) as path, Folder() as folder:
            rules = Rules(folder)
            os.chmod(path, 0o755)
            rules.path = path
            equal(tried(rules, "print(json.dumps(os.listdir(%r)))" % path), ["tries.py"])


def test_the_number_of_processes_is_bounded():
    body = """\
made = []
try:
    while len(made) < 400:
        pid = os.fork()
        if pid == 0:
            time.sleep(600)
        made.append(pid)
except BlockingIOError:
    pass
print(json.dumps(len(made)))"""
    with Folder() as folder:
        rules = Rules(folder)
        for user in users():
            made = tried(rules, body, user)
            assert 30 < made < 200, made
        # Another program of that user is not in the way.
        if os.getuid() == 0:
            others = [subprocess.Popen(["sleep", "600"], user=NOBODY, group=NOBODY)
                      for _ in range(20)]
            try:
                assert tried(rules, body) > 30
            finally:
                for other in others:
                    other.kill()
                    other.wait()


def test_the_files_of_a_rule_are_bounded():
    body = """\
wrote, full = 0, None
for number in range(300):
    try:
        with open("/tmp/%d" % number, "wb", buffering=0) as file:
            for _ in range(10):
                wrote += file.write(b"x" * (1 << 20))
    except OSError as error:
        full = error.errno
        break
print(json.dumps([wrote <= 64 << 20, wrote >= 60 << 20, full == errno.ENOSPC]))"""
    with Folder() as folder:
        rules = Rules(folder)
        for user in users():
            equal(tried(rules, body, user), [True, True, True])


EATS = """\
for _ in range(8):
    if os.fork() == 0:
        kept = bytearray(200 << 20)
        for at in range(0, len(kept), 4096):
            kept[at] = 1
        time.sleep(600)
time.sleep(600)"""


# What the kernel keeps for a rule, and no process is seen to have.
NAMES = """\
number = 0
while True:
    os.mknod("/tmp/%d" % number)
    number += 1"""
PAIRS = """\
for _ in range(60):
    if os.fork() == 0:
        pairs = []
        try:
            while True:
                pairs.append(socket.socketpair())
                for end in pairs[-1]:
                    end.setblocking(False)
                    try:
                        while True:
                            end.send(b"x" * 65536)
                    except BlockingIOError:
                        pass
        except OSError:
            time.sleep(600)
time.sleep(600)"""


def test_what_the_kernel_keeps_for_a_rule_is_bounded():
    with Folder() as folder:
        rules = Rules(folder, names=NAMES, pairs=PAIRS)
        for user in users():
            found, _ = rules.run("--rule=names,pairs", "--rule-timeout=60", "--sandbox=always",
                                 user=user)
            for rule in found.values():
                if rule["kind"] == "python":
                    equal(rule["status"], "failed", rule)
                    assert rule["reason"].startswith("killed by signal 9: more than 512 MiB"), rule


def test_a_slow_start_is_not_held_against_a_rule():
    users()
    with Folder() as folder:
        rules = Rules(folder, first="print('here')")
        slow = folder.name("slow")
        os.mkdir(slow, 0o755)
        # As where the machine is busy: what is seen of it is the host's for a while.
        path = os.path.join(slow, "bwrap")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nsleep 0.5\nexec %s \"$@\"\n" % shutil.which("bwrap"))
        os.chmod(path, 0o755)
        found, said = rules.run("--rule=first", "--sandbox=always",
                                env={"PATH": slow + ":" + os.environ["PATH"]})
        equal((found["first"]["output"], said), ("here\n", ""))


def test_the_memory_of_all_processes_is_bounded():
    with Folder() as folder:
        rules = Rules(folder, eats=EATS, good="pass")
        for user in users():
            for sandbox in ("always", "never"):
                found, _ = rules.run("--rule=eats,good", "--rule-timeout=60",
                                     "--sandbox=" + sandbox, user=user)
                equal((found["eats"]["status"], found["good"]["status"]), ("failed", "no-issue"))
                assert found["eats"]["reason"].startswith("killed by signal 9: more than 512 MiB"), \
                    found["eats"]
        # What processes share counts once.
        shares = ("kept = bytearray(b'x') * (100 << 20)\n"
                  "for _ in range(8):\n    if os.fork() == 0:\n        time.sleep(600)\n"
                  "time.sleep(0.5)\nprint(json.dumps(len(kept)))")
        equal(tried(rules, shares), 100 << 20)


HIDES = """\
libc = ctypes.CDLL(None, use_errno=True)
calls = {"memfd_create": lambda: libc.memfd_create(b"x", 0),
         "shmget": lambda: libc.shmget(0, 1 << 20, 0o1600),
         "ptrace": lambda: libc.ptrace(0, 0, 0, 0), "unshare": lambda: libc.unshare(0x10000000),
         "TIOCSTI": lambda: libc.ioctl(1, 0x5412, b"x"), "TIOCLINUX": lambda: libc.ioctl(1, 0x541c, b"x"),
         "AF_VSOCK": lambda: libc.socket(40, 1, 0),
         "AF_NETLINK": lambda: libc.socket(16, 3, 0)}
said = {}
for name, call in calls.items():
    ctypes.set_errno(0)
    said[name] = [call() >= 0, errno.errorcode.get(ctypes.get_errno())]
print(json.dumps(said))"""


def test_calls_that_lead_out_are_refused():
    if os.uname().machine not in ("x86_64", "aarch64"):
        raise Skip("no filter for this processor")
    with Folder() as folder:
        rules = Rules(folder)
        for user in users():
            for name, said in tried(rules, HIDES, user).items():
                equal(said, [False, "EPERM"], name)


def test_no_other_process_is_seen():
    body = """\
told = []
for pid in %r:
    try:
        os.kill(pid, signal.SIGTERM)
        told.append(pid)
    except OSError:
        pass
print(json.dumps([told, len([1 for name in os.listdir("/proc") if name.isdigit()])]))"""
    with Folder() as folder:
        rules = Rules(folder)
        for user in users():
            victim = subprocess.Popen(["sleep", "600"], **({"user": NOBODY if user is None else user}
                                                          if os.getuid() == 0 else {}))
            told, seen = tried(rules, body % [victim.pid], user)
            equal(told, [])
            assert seen <= 3, seen
            equal(victim.poll(), None)
            victim.kill()
            victim.wait()


def processes_with(text):
    """The processes that run a rule of that path."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open("/proc/%s/cmdline" % name, "rb") as file:
                line = file.read()
            if name.isdigit() and b"rule_host.py\0" in line and text.encode() in line:
                found.append(int(name))
        except OSError:
            pass
    return found


def status_of(pid):
    try:
        with open("/proc/%d/status" % pid, encoding="ascii") as file:
            return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    except OSError:
        return {}


def test_root_is_nobody_for_the_kernel():
    if os.getuid() != 0:
        raise Skip("only root changes the user")
    with Folder() as folder:
        rules = Rules(folder, waits="print('here', flush=True)\ntime.sleep(600)")
        path = os.path.join(rules.path, "waits.py")
        for sandbox in ("always", "never"):
            if sandbox == "always" and not can_start(NOBODY):
                continue
            child = rules.start("--rule=waits", "--sandbox=" + sandbox)
            wait_for(lambda: any("python" in status_of(pid).get("Name", "")
                                 for pid in processes_with(path)), "the rule to run")
            for pid in processes_with(path):
                status = status_of(pid)
                if status:
                    equal(status["Uid"].split(), [str(NOBODY)] * 4, sandbox)
                    equal(status["Gid"].split(), [str(NOBODY)] * 4, sandbox)
                    equal(status["Groups"].strip(), "", sandbox)
                if "python" in status.get("Name", ""):
                    equal({status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd")},
                          {"0" * 16}, sandbox)
                    equal(status["NoNewPrivs"], "1", sandbox)
            child.send_signal(signal.SIGTERM)
            child.communicate()
            wait_for(lambda: not processes_with(path), "the rule to end")


def test_rules_of_root_may_lie_where_nobody_can_read():
    if os.getuid() != 0:
        raise Skip("only root changes the user")
    with Folder() as folder:
        rules = Rules(folder, closed="import helper\nprint(helper.WORD)\n"
                                     "print(os.access(%r, os.R_OK))" % folder.name("secret"))
        with open(os.path.join(rules.path, "helper.py"), "w", encoding="utf-8") as file:
            file.write("WORD = 'a word'\n")
        for name in ("helper.py", "secret"):
            path = os.path.join(rules.path, name) if name != "secret" else folder.name(name)
            open(path, "a", encoding="utf-8").close()
            os.chmod(path, 0o644)
        os.chmod(os.path.join(rules.path, "closed.py"), 0o600)
        for mode in (0o755, 0o700):
            os.chmod(rules.path, mode)
            os.chmod(folder.path, 0o700)
            for sandbox in ["always"] * can_start(NOBODY) + ["never"]:
                # The interpreter may be closed as well, as in /root.
                found, _ = rules.run("--rule=closed", "--sandbox=" + sandbox,
                                     "--python=" + sys.executable)
                equal((found["closed"]["status"], found["closed"]["output"]),
                      ("no-issue", "a word\nFalse\n"), (sandbox, mode, found["closed"]))
            os.chmod(folder.path, 0o755)


def test_a_closed_folder_without_the_right_to_mount_is_said():
    if os.getuid() != 0 or not shutil.which("setpriv"):
        raise Skip("only root changes the user")
    with Folder() as folder:
        rules = Rules(folder, first="print('here')")
        os.chmod(folder.path, 0o700)
        words = rules.words("--rule=first", "--sandbox=never", "--python=" + python())
        got = subprocess.run(["setpriv", "--bounding-set", "-sys_admin", *words],
                             env={**os.environ, **ENV}, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
        equal(got.returncode, 1, got.stderr)
        found = {rule["identifier"]: rule for rule in json.loads(got.stdout)["rules"]}
        equal((found["first"]["status"], found["first"]["reason"]),
              ("failed", "cannot be started as the user nobody: Operation not permitted "
                         "(%s is closed to others)" % folder.path))


def test_what_is_missing_is_said_once():
    with Folder() as folder:
        rules = Rules(folder, first="print(os.getuid())", second="print(os.getuid())")
        empty = folder.name("empty")
        os.mkdir(empty, 0o755)
        env = {"PATH": empty}
        found, said = rules.run("--rule=first,second", "--python=" + python(), env=env)
        equal(said, "nvtxt-report: rules in Python run without a sandbox: bubblewrap (bwrap) is "
                    "not installed\n")
        uid = os.getuid() or NOBODY
        equal([found[name]["output"] for name in ("first", "second")], ["%d\n" % uid] * 2)
        with open(os.path.join(empty, "bwrap"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
        os.chmod(os.path.join(empty, "bwrap"), 0o755)
        _, said = rules.run("--rule=first,second", "--python=" + python(), env=env)
        equal(said, "nvtxt-report: rules in Python run without a sandbox: bubblewrap does not "
                    "start: bwrap: No permissions to create new namespace\n")
        with rules.start("--rule=first", "--sandbox=always", env=env) as child:
            out, said = child.communicate()
        equal((child.returncode, out), (69, ""))
        equal(said, "nvtxt-report: --sandbox=always: there is no sandbox here: bubblewrap does not "
                    "start: bwrap: No permissions to create new namespace\n")
        _, said = rules.run("--rule=first", "--sandbox=never", "--python=" + python(), env=env)
        equal(said, "")


if __name__ == "__main__":
    run(globals())
