# SPDX-License-Identifier: Apache-2.0
"""From a shell: --mark, --range, and --steps with make, whose output and status stay its own."""
import json
import os
import re
import shutil
import signal
import subprocess

from client import ENV, Folder, contains, patience, run_client
from lib import DEADLINE, Daemon, Skip, equal, program, run, wait_for

GREEN, RED, DARK_RED = 0xff008000, 0xffff0000, 0xff8b0000


def send(daemon, *args, **more):
    return run_client("nvtxt-send", "--socket", daemon.socket, *patience(daemon), *args, **more)


def marks(daemon, columns):
    return daemon.query("SELECT %s FROM NVTX_EVENTS WHERE eventType = 34 ORDER BY rowid" % columns)


def ranges(daemon, columns="text"):
    found = daemon.query("SELECT %s FROM NVTX_EVENTS WHERE eventType = 60 ORDER BY rowid" % columns)
    return [row[0] for row in found] if columns == "text" else found


def steps(daemon):
    """What the steps of make say of themselves, in the order of their ends."""
    return [json.loads(text) for text, in daemon.query(
        "SELECT jsonText FROM NVTX_EVENTS WHERE eventType = 60 AND jsonText IS NOT NULL ORDER BY rowid")]


def category_of(daemon, kind):
    return daemon.query("SELECT n.text FROM NVTX_EVENTS m JOIN NVTX_EVENTS n USING (category)"
                        " WHERE m.eventType = ? AND n.eventType = 33", kind)


# ---- --mark and --range -------------------------------------------------------------------------

def test_a_mark_is_one_marker_and_nothing_is_said():
    text = "it's \"done\"\nat last \\ \xe9"
    with Daemon() as daemon:
        equal(send(daemon, "--mark", text), (0, "", ""))
        equal(marks(daemon, "text, color, int64Value, globalTid >> 24 & 0xffffff"),
              [(text, 0, None, os.getpid())])
        equal(daemon.query("SELECT abs(julianday('now') - julianday(start / 1e9, 'unixepoch')) < 1"
                           " FROM NVTX_EVENTS WHERE eventType = 34"), [(1,)])


def test_a_mark_has_a_color_a_payload_a_category_and_a_process():
    with Daemon() as daemon:
        equal(send(daemon, "--mark", "a", "--color", "Red", "--payload", "-7", "--category", "CI",
                   "--pid", "4711"), (0, "", ""))
        equal(send(daemon, "--mark=b", "--payload=2.5"), (0, "", ""))
        equal(marks(daemon, "text, color, int64Value, doubleValue, globalTid >> 24 & 0xffffff"),
              [("a", RED, -7, None, 4711), ("b", 0, None, 2.5, os.getpid())])
        equal(category_of(daemon, 34), [("CI",)])


def test_with_a_claim_a_mark_is_of_its_own_process():
    for words in ((), ("--quiet",)):
        with Daemon(config="Claim=peer\n") as daemon:
            equal(send(daemon, "--mark", "a", "--color", "Red", "--category", "CI", *words), (0, "", ""))
            own = daemon.query("SELECT peerPid FROM NVTXT_SOURCES")
            equal(len(set(own)), 1, own)
            equal(marks(daemon, "text, color, globalTid >> 24 & 0xffffff"), [("a", RED, own[0][0])])
            equal(daemon.query("SELECT category FROM NVTXT_TIMELINE"), [("CI",)])
            code, _, err = send(daemon, "--mark", "b", "--pid", str(os.getpid()), *words)
            equal((code, "[foreign-process]" in err), (1, not words), err)
            equal(marks(daemon, "text"), [("a",)])


def test_a_mark_longer_than_a_line_is_cut_and_says_so():
    with Daemon() as daemon:
        equal(send(daemon, "--mark", "x" * 100000), (0, "", ""))
        text = marks(daemon, "text")[0][0]
        found = re.fullmatch(r"(x+) \(and (\d+) bytes\)", text)
        equal(len(found[1]) + int(found[2]), 100000)


def test_a_range_has_its_text_and_no_lines():
    with Daemon() as daemon:
        equal(send(daemon, "--range", "the build", "--", "sh", "-c", "cat; echo err >&2; exit 3",
                   stdin="out\n"), (3, "out\n", "err\n"))
        equal(send(daemon, "--range=r", "--color=Blue", "--category=CI", "--", "true"), (0, "", ""))
        equal(marks(daemon, "text"), [])
        equal(ranges(daemon, "text, int64Value, color, start < end"),
              [("the build", 3, RED, 1), ("r", 0, 0xff0000ff, 1)])
        equal(category_of(daemon, 60), [("CI",)])


def test_marks_of_a_script_stand_in_its_range():
    with Daemon() as daemon:
        script = 'echo $$; "$0" --socket "$1" --mark inside; exit 0'
        code, out, err = send(daemon, "--range", "script", "--", "sh", "-c", script,
                              program("client", "nvtxt-send"), daemon.socket)
        equal((code, err), (0, ""))
        equal(daemon.query("SELECT text, globalTid >> 24 & 0xffffff FROM NVTX_EVENTS"
                           " WHERE eventType IN (34, 60) ORDER BY 1"),
              [("inside", int(out)), ("script", int(out))])


def test_without_a_daemon_a_mark_fails_and_a_command_runs():
    with Folder() as folder:
        socket = folder.name("s")
        code, out, err = run_client("nvtxt-send", "--socket", socket, "--mark", "x")
        equal((code, out), (69, ""))
        contains(err, "no daemon at " + socket)
        code, out, err = run_client("nvtxt-send", "--socket", socket, "--range", "x", "--", "sh",
                                    "-c", "echo ran; exit 5")
        equal((code, out), (5, "ran\n"))
        contains(err, "no daemon at " + socket)
        code, out, err = run_client("nvtxt-send", "--socket", socket, "--spool", folder.path,
                                    "--mark", "x")
        equal((code, out), (0, ""), err)


def test_what_does_not_go_together():
    for args, part in (
            (["--mark", "x", "file"], "takes no FILE"),
            (["--mark", "x", "--", "true"], "no command"),
            (["--mark", "x", "--text"], "no --text"),
            (["--mark", "x", "--payload", "much"], "--payload takes a decimal number"),
            (["--mark", "x", "--color", "blurple"], "--color takes"),
            (["--payload", "1"], "--payload belongs to --mark"),
            (["--range", "x"], "followed by '--' and a command"),
            (["--steps", "make"], "followed by '--' and a command"),
            (["--range", "x", "--time-format", "iso", "--", "true"], "no lines are recorded"),
            (["--color", "red"], "need --text or a command")):
        code, _, err = run_client("nvtxt-send", *args)
        equal(code, 64, (args, err))
        contains(err, part)


# ---- --steps ------------------------------------------------------------------------------------

def have_make():
    if not shutil.which("make"):
        raise Skip("there is no make")


def make(daemon, folder, *args, steps=True, **env):
    """(exit status, stdout, stderr) of make in the folder, with --steps or by itself."""
    head = [program("client", "nvtxt-send"), "--socket", daemon.socket, *patience(daemon), "--steps", "--"]
    done = subprocess.run((head if steps else []) + ["make", *args], cwd=folder.path,
                          env={**clean(), **env}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=DEADLINE)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def clean():
    """Make may be what runs these tests."""
    return {key: value for key, value in ENV.items()
            if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "GPATH", "MAKEOVERRIDES")}


def both(daemon, folder, *args):
    """The result with --steps, which is that without."""
    got = make(daemon, folder, *args)
    equal(got, make(daemon, folder, *args, steps=False))
    return got


def test_each_command_line_of_make_is_a_range_of_its_own_process():
    have_make()
    with Daemon() as daemon, Folder() as folder:
        folder.write("Makefile", "all: a b\n\t@echo \"all it's $$((1 + 2))\"; sleep 0.1\n"
                                 "a:\n\techo one\n\techo two\nb:\n\t@true | cat\n")
        code, out, err = both(daemon, folder)
        equal((code, out, err), (0, "echo one\none\necho two\ntwo\nall it's 3\n", ""))
        found = ranges(daemon, "text, int64Value, color, globalTid, start, end")
        equal(sorted(row[0] for row in found),
              sorted(["echo one", "echo two", "cat", "make", "sleep 0.1"]))
        equal({row[1:3] for row in found}, {(0, GREEN)})
        equal(len({row[3] for row in found}), 5)
        took = {row[0][:4]: row[5] - row[4] for row in found}
        assert took["make"] > 100000000, took
        equal(sorted((step["command"], step["target"], step["directory"], step["status"])
                     for step in steps(daemon)),
              sorted((command, target, os.path.realpath(folder.path), 0) for command, target in (
                  ("echo one", "a"), ("echo two", "a"), ("true | cat", "b"),
                  ("echo \"all it's $((1 + 2))\"; sleep 0.1", "all"))))
        equal(daemon.query("SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 34"), [(0,)])
        names = {name for name, in daemon.query("SELECT name FROM PROCESSES")}
        assert {"echo", "cat", "make"} <= names, names


def test_a_makefiles_own_shell_and_flags_stay():
    have_make()
    bash = shutil.which("bash")
    if not bash:
        raise Skip("there is no bash")
    with Daemon() as daemon, Folder() as folder:
        folder.write("Makefile", "SHELL := %s\n.SHELLFLAGS := -e -o pipefail -c\n"
                                 "all:\n\t@[[ $$- == *e* ]] && set -o | grep pipefail\n"
                                 "\t@echo $(SHELL) $(.SHELLFLAGS)\n\t-false | true\n" % bash)
        code, out, err = make(daemon, folder)
        equal((code, out.split(), "Error 1 (ignored)" in err),
              (0, ["pipefail", "on", bash, *out.split()[3:]], True))
        equal([step["status"] for step in steps(daemon) if step["command"] == "false | true"], [1])


def test_oneshell_and_shells_that_are_none():
    have_make()
    python = shutil.which("python3")
    with Daemon() as daemon, Folder() as folder:
        folder.write("Makefile", ".ONESHELL:\nall:\n\t@v=2\n\t@echo \"two $$v\"\n\techo it\\'s\n")
        equal(both(daemon, folder)[:2], (0, "two 2\nit's\n"))
        assert any("echo \"two $v\"\n" in step["command"] for step in steps(daemon)), steps(daemon)
        folder.write("python.mk", ".ONESHELL:\nSHELL := %s\n.SHELLFLAGS := -c\nall:\n"
                                  "\t@a = 1\n\tfor i in range(2):\n\t    print('p', i + a)\n" % python)
        folder.write("line.mk", "SHELL := %s\n.SHELLFLAGS := -c\nall:\n\t@print('a b')\n" % python)
        before = len(ranges(daemon))
        for name in ("python.mk", "line.mk"):
            both(daemon, folder, "-f", name)
        equal(len(ranges(daemon)) - before, 4)
        equal(ranges(daemon)[-2], "python3 all")
        equal(steps(daemon)[-1]["command"], "print('a b')")


def test_lines_of_sub_makes_are_there_too():
    have_make()
    with Daemon() as daemon, Folder() as folder:
        os.makedirs(folder.name("sub/below"))
        folder.write("Makefile", "all: x\n\t@$(MAKE) -s --no-print-directory -C sub\n"
                                 "x:\n\t@echo x\n")
        folder.write("sub/Makefile", "all:\n\t@echo sub\n\t@$(MAKE) -C below\n")
        folder.write("sub/below/Makefile", "SHELL = /bin/sh\nall: p q r\np q r:\n\t@echo $@\n")
        code, out, err = make(daemon, folder, "-j8")
        equal((code, sorted(out.split()), err), (0, sorted(["x", "sub", "p", "q", "r"]), ""))
        found = set(ranges(daemon))
        assert {"echo x", "echo sub", "echo p", "echo q", "echo r"} <= found, found
        equal(len(found), 8)


def test_what_the_function_shell_runs_is_no_step():
    have_make()
    with Daemon() as daemon, Folder() as folder:
        os.makedirs(folder.name("sub"))
        folder.write("Makefile", "A := $(shell echo read)\nall:\n\t@echo $(A) $(shell echo 'a b'; false)\n"
                                 "\t@$(MAKE) -s --no-print-directory -C sub\n")
        folder.write("sub/Makefile", "all: x/y\nx/%: ; @echo $@ $(shell echo $@)\n")
        equal(both(daemon, folder), (0, "read a b\nx/y x/y\n", ""))
        equal(sorted(step["command"] for step in steps(daemon)),
              ["echo read a b", "echo x/y x/y", "make -s --no-print-directory -C sub"])


def test_failures_are_makes_own():
    have_make()
    with Daemon() as daemon, Folder() as folder:
        folder.write("Makefile", "all: a b\na:\n\texit 7\nb:\n\tkill -KILL $$$$\n")
        code, out, err = both(daemon, folder, "-k")
        equal(code, 2)
        contains(err, "Error 7")
        contains(err, "Killed")
        equal(sorted(daemon.query("SELECT DISTINCT text, int64Value, color FROM NVTX_EVENTS"
                                  " WHERE eventType = 60")),
              [("exit 7", 7, RED), ("kill -KILL $$", 137, DARK_RED), ("make -k", 2, RED)])
        equal(both(daemon, folder, "-n")[0], 0)


def test_a_long_line_is_cut_and_says_so():
    have_make()
    with Daemon() as daemon, Folder() as folder:
        folder.write("Makefile", "all:\n\t@: %s end\n" % ("x" * 9000))
        equal(both(daemon, folder), (0, "", ""))
        command, = (step["command"] for step in steps(daemon))
        assert re.fullmatch(r": x{3000,4000}…", command), command[-60:]
        whole = ": " + "'\"\\'" * 3000 + " end"  # a byte of it takes up to four on the way
        folder.write("Makefile", "all:\n\t@%s\n" % whole)
        equal(both(daemon, folder), (0, "", ""))
        command = steps(daemon)[-1]["command"]
        assert whole.startswith(command[:-1]) and command[-1] == "…", command[-60:]
        assert len(command) > 700, len(command)


def test_a_folder_that_leaves_no_room_costs_the_json_alone():
    have_make()
    with Daemon() as daemon, Folder() as folder:
        odd = "/".join(["\x01" * 200] * 3)  # a byte of it takes seven on the way
        folder.write("Makefile", "all:\n\t@: step\n")
        os.makedirs(os.path.join(folder.path, odd))
        os.rename(folder.name("Makefile"), os.path.join(folder.path, odd, "Makefile"))
        equal(make(daemon, folder, "-s", "-C", odd), (0, "", ""))
        assert ": step" in ranges(daemon), ranges(daemon)
        equal(daemon.query("SELECT jsonText FROM NVTX_EVENTS WHERE text = ': step'"), [(None,)])
        equal(daemon.query("SELECT errors, warnings FROM NVTXT_SOURCES WHERE kind = 'session'"), [(0, 0)])


def test_many_lines_at_once_all_arrive():
    have_make()
    with Daemon() as daemon, Folder() as folder:
        names = " ".join("t%d" % number for number in range(60))
        folder.write("Makefile", "all: %s\n%s:\n\t@: $@\n" % (names, names))
        equal(make(daemon, folder, "-j8"), (0, "", ""))
        equal(sorted(ranges(daemon)), sorted(["make -j8"] + [": t%d" % n for n in range(60)]))
        equal(daemon.query("SELECT errors, warnings FROM NVTXT_SOURCES WHERE kind = 'session'"), [(0, 0)])


def test_nothing_is_left_behind_and_nothing_is_needed():
    have_make()
    with Daemon() as daemon, Folder() as folder:
        folder.write("Makefile", "all:\n\t@ls -A '%s'\n" % folder.name("tmp"))
        os.mkdir(folder.name("tmp"))
        code, out, err = make(daemon, folder, TMPDIR=folder.name("tmp"))
        equal((code, out[:12], err), (0, "nvtxt-steps-", ""))
        equal(os.listdir(folder.name("tmp")), [])
        # A program that is no make, a folder that cannot be made, a daemon that is not there.
        equal(send(daemon, "--steps", "--", "sh", "-c", "exit 4"), (4, "", ""))
        code, out, err = make(daemon, folder, TMPDIR=folder.name("nothing"))
        equal(code, 0)
        contains(err, "for --steps: No such file or directory")
        daemon.stop()
        code, out, err = make(daemon, folder, TMPDIR=folder.name("tmp"))
        equal((code, out[:12]), (0, "nvtxt-steps-"))
        contains(err, "no daemon at")
        daemon.start()


def test_a_make_that_goes_on_alone_is_not_disturbed():
    have_make()
    with Daemon() as daemon, Folder() as folder:
        folder.write("Makefile", "all: a b\na:\n\t@echo a; while [ ! -e go ]; do sleep 0.05; done\n"
                                 "b: a\n\t@echo b; echo done >b.new; mv b.new b.done\n")
        sender = subprocess.Popen([program("client", "nvtxt-send"), "--socket", daemon.socket,
                                   "--steps", "--", "make"], cwd=folder.path,
                                  env={**clean(), "TMPDIR": folder.path},
                                  stdout=subprocess.PIPE)
        try:
            equal(sender.stdout.readline(), b"a\n")
            sender.send_signal(signal.SIGKILL)
            sender.wait(DEADLINE)
            folder.write("go", "")
            wait_for(lambda: os.path.exists(folder.name("b.done")), "make has gone on")
            equal(sender.stdout.read(), b"b\n")
        finally:
            if sender.poll() is None:
                sender.kill()
            sender.stdout.close()


run(globals())
