# SPDX-License-Identifier: Apache-2.0
"""Parents in other processes: what NVTXT_PARENT holds is handed on, by whoever records, and what a
command starts has the command's range as its parent; the steps of make have those of their make."""
import os
import re
import shutil
import signal
import subprocess

from client import ENV, Fake, Folder, Running, contains, patience, run_client
from lib import DEADLINE, Daemon, Skip, equal, program, run, wait_for
from lib_program import NO_LEAKS, PATH, PATIENT, needs_threads_in_children
from python_program import run_python

ABOVE = "0190c0f6-7d3a-7b41-9f36-12cbb0f1a001:4711.12"
SEND = program("client", "nvtxt-send")


def send(daemon, *args, parent=ABOVE, **more):
    """Exit status and stderr of nvtxt-send under a parent."""
    env = {"NVTXT_SOCKET": daemon.socket, **({"NVTXT_PARENT": parent} if parent else {})}
    code, _, err = run_client("nvtxt-send", *patience(daemon, args), *args, env=env, **more)
    return code, err


def parents(daemon):
    """{name of the source: its parent}"""
    daemon.settled()
    return dict(daemon.query("SELECT name, parent FROM NVTXT_SOURCES WHERE kind = 'session'"))


def run_of(daemon, name):
    """The token of the run of a command."""
    (session,), = daemon.query("SELECT s.sessionId FROM NVTXT_SOURCES s JOIN NVTXT_RANGE_KEYS k"
                               " ON k.sourceId = s.id WHERE s.name = ? AND k.key = 'run'", name)
    return session + ":run"


# ---- Handing on -----------------------------------------------------------------------------------

def test_each_way_to_record_hands_the_parent_on():
    with Daemon() as daemon, Folder() as folder:
        path = folder.write("a.nvtxt", "Marker,1,Manual,1,1,0,Red,'x',1\n")
        for args, stdin in ((["--mark", "m", "--name", "mark"], ""), ([path, "--name", "file"], ""),
                            (["--text", "--name", "text"], "a line\n"),
                            (["--name", "command", "--", "true"], ""),
                            (["--range", "r", "--name", "range", "--", "true"], ""),
                            (["--steps", "--name", "steps", "--", "true"], "")):
            equal(send(daemon, *args, stdin=stdin), (0, ""))
        equal(parents(daemon), {name: ABOVE for name in
                                ("mark", "file", "text", "command", "range", "steps")})
        equal(daemon.query("SELECT count(*) FROM NVTXT_DIAGNOSTICS"), [(0,)])


def test_without_a_parent_there_is_none():
    with Daemon() as daemon:
        equal(send(daemon, "--mark", "m", "--name", "mark", parent=None), (0, ""))
        equal(send(daemon, "--mark", "m", "--name", "empty", parent=""), (0, ""))
        equal(parents(daemon), {"mark": None, "empty": None})


def test_a_parent_that_cannot_be_read_is_one_warning():
    with Daemon() as daemon:
        for number, odd in enumerate(("run", ABOVE + " ", ABOVE + "x" * 300, "\x1b[31m:run", "x" * 5000)):
            name = "odd %d" % number
            code, err = send(daemon, "--range", "r", "--name", name, "--", "true", parent=odd)
            equal(code, 0)
            equal(err.count("\n"), 1, err)
            contains(err, "cannot be read: what is recorded has no parent")
            equal("\x1b" in err, False)
            equal(parents(daemon)[name], None)


def test_the_library_hands_it_on_and_so_do_its_children():
    needs_threads_in_children()
    with Daemon() as daemon:
        env = {**ENV, **PATIENT, **NO_LEAKS, "NVTXT_SOCKET": daemon.socket, "NVTXT_NAME": "lib",
               "NVTXT_PARENT": ABOVE}
        done = subprocess.run([PATH, "storm", "5", "fork", "exit"], env=env, timeout=DEADLINE, stderr=subprocess.PIPE)
        equal((done.returncode, done.stderr), (0, b""))
        daemon.settled()
        rows = daemon.query("SELECT parent, count(*) > 5 FROM NVTXT_SOURCES WHERE name = 'lib' GROUP BY 1")
        equal(rows, [(ABOVE, 1)])
        done = subprocess.run([PATH, "one"], env={**env, "NVTXT_NAME": "odd", "NVTXT_PARENT": "odd"},
                              timeout=DEADLINE, stderr=subprocess.PIPE)
        equal((done.returncode, done.stderr),
              (0, b"nvtxt: NVTXT_PARENT=odd cannot be read: what is recorded has no parent\n"))
        equal(parents(daemon)["odd"], None)


def test_an_injected_program_and_a_program_in_python_hand_it_on():
    with Daemon() as daemon, Folder() as folder:
        client = program("tests/nvtx", "run_client")
        code, err = send(daemon, "--nvtx", "--name", "outer", "--", client, folder.name("notes"), "1", "5", "exit")
        equal((code, err), (0, ""))
        equal(parents(daemon), {"outer": ABOVE, "run_client": run_of(daemon, "outer")})
    with Daemon() as daemon:
        run_python(daemon, "import nvtxt\nnvtxt.mark('m')\n", NVTXT_NAME="python", NVTXT_PARENT=ABOVE)
        equal(parents(daemon), {"python": ABOVE})


def test_it_is_kept_where_a_killed_process_leaves_its_calls():
    with Daemon(start=False) as daemon, Folder() as folder:
        env = {**ENV, "NVTXT_SOCKET": daemon.socket, "NVTXT_NAME": "killed", "NVTXT_SPOOL": folder.path,
               "NVTXT_PARENT": ABOVE}
        subprocess.run([PATH, "gone", "3", "0"], env=env, timeout=DEADLINE, check=True)
        code, _ = send(daemon, "--spool", folder.path, "--name", "spooled", "--", "true")
        equal(code, 0)
        daemon.start()
        run_client("nvtxt-send", "-q", "--resume", folder.path, env={"NVTXT_SOCKET": daemon.socket,
                                                                    "NVTXT_PARENT": ABOVE + "x"})
        equal(parents(daemon), {"killed": ABOVE, "spooled": ABOVE})


# ---- Giving ---------------------------------------------------------------------------------------

def what_a_command_starts(*mode):
    with Daemon() as daemon:
        inner = "%s --mark m --name inner; %s --range r2 --name middle -- sh -c '%s --mark m2 --name deep'" \
            % (SEND, SEND, SEND)
        equal(send(daemon, *mode, "--name", "outer", "--", "sh", "-c", inner), (0, ""))
        equal(parents(daemon), {"outer": ABOVE, "inner": run_of(daemon, "outer"),
                                "middle": run_of(daemon, "outer"), "deep": run_of(daemon, "middle")})
        equal([row[0] for row in daemon.query("SELECT e.text FROM NVTXT_RANGE_KEYS k JOIN NVTX_EVENTS e"
                                              " ON e.rowid = k.eventRow ORDER BY e.rowid")][0], "r2")


def test_what_a_command_starts_has_its_run_as_parent():
    what_a_command_starts()


def test_with_range_and_with_steps_too():
    what_a_command_starts("--range", "r")
    what_a_command_starts("--steps")


def test_each_run_of_a_command_that_is_repeated_has_a_key_of_its_own():
    with Daemon() as daemon:
        equal(send(daemon, "-q", "--repeat", "3", "--warmup", "1", "--range", "r", "--name", "outer", "--",
                   "sh", "-c", "%s --mark m --name inner" % SEND), (0, ""))
        daemon.settled()
        equal([key for key, in daemon.query("SELECT key FROM NVTXT_RANGE_KEYS ORDER BY eventRow")],
              ["run-1", "run-2", "run-3"])
        (session,), = daemon.query("SELECT sessionId FROM NVTXT_SOURCES WHERE name = 'outer'")
        equal([parent for parent, in daemon.query("SELECT parent FROM NVTXT_SOURCES WHERE name = 'inner'"
                                                  " ORDER BY id")],
              [ABOVE] + ["%s:run-%d" % (session, number) for number in (1, 2, 3)])


def test_a_command_that_is_not_recorded_leaves_the_parent_that_is():
    with Daemon(start=False) as daemon, Folder() as folder:
        code, out, _ = run_client("nvtxt-send", "--range", "r", "--", "sh", "-c", "echo $NVTXT_PARENT",
                                  env={"NVTXT_SOCKET": daemon.socket, "NVTXT_PARENT": ABOVE})
        equal((code, out), (0, ABOVE + "\n"))
        # A socket that nobody listens at any more; and a spool, which records.
        daemon.start()
        daemon.kill()
        assert os.path.exists(daemon.socket)
        _, out, _ = run_client("nvtxt-send", "--range", "r", "--", "sh", "-c", "echo $NVTXT_PARENT",
                               env={"NVTXT_SOCKET": daemon.socket, "NVTXT_PARENT": ABOVE})
        equal(out, ABOVE + "\n")
        _, out, _ = run_client("nvtxt-send", "--range", "r", "--spool", folder.path, "--", "sh", "-c",
                               "echo $NVTXT_PARENT", env={"NVTXT_SOCKET": daemon.socket})
        assert re.fullmatch(r"[0-9a-f-]{36}:run\n", out), out


def test_files_of_a_command_have_its_run_as_parent_also_when_they_are_sent_later():
    script = "echo \"Marker,1,Manual,1,1,0,Red,'x',1\" >$NSIGHT_ANALYSIS_SESSION_OUTPUT_PATH/%s.nvtxt"
    with Daemon() as daemon, Folder() as folder:
        equal(send(daemon, "--range", "r", "--name", "now", "--", "sh", "-c", script % "now")[0], 0)
        (found,), = daemon.query("SELECT parent FROM NVTXT_SOURCES WHERE name LIKE '%/now.nvtxt'")
        equal(found, run_of(daemon, "now"))
        daemon.stop()
        args = ["--session-folder", folder.name("f"), "--spool", folder.name("s"), "--timeout", "0"]
        code, err = send(daemon, *args, "--range", "r", "--name", "later", "--", "sh", "-c",
                         "while ! grep -q session %s; do sleep 0.02; done; kill -9 $PPID; "
                         % folder.name("f/.nvtxt-session") + script % "later")
        equal(code, -signal.SIGKILL)
        wait_for(lambda: os.path.exists(folder.name("f/later.nvtxt")), "the command has written")
        daemon.start()
        env = {"NVTXT_SOCKET": daemon.socket, "NVTXT_PARENT": ABOVE + "x"}
        code, _, err = run_client("nvtxt-send", "--resume", folder.name("f"), env=env)
        equal((code, err), (0, ""))
        (found,), = daemon.query("SELECT parent FROM NVTXT_SOURCES WHERE name LIKE '%/later.nvtxt'")
        assert re.fullmatch(r"[0-9a-f-]{36}:run", found) and found != run_of(daemon, "now"), found


def test_the_run_of_a_killed_sender_is_known_by_its_session():
    with Daemon() as daemon, Folder() as folder:
        script = ("while [ ! -e %s ]; do sleep 0.05; done; %s --mark m --name inner; kill -9 $PPID; "
                  "%s --mark m --name after; touch %s" % (folder.name("go"), SEND, SEND, folder.name("done")))
        with Running("nvtxt-send", "--range", "middle", "--name", "middle", "--", "sh", "-c", script,
                     env={"NVTXT_SOCKET": daemon.socket, "NVTXT_PARENT": ABOVE}) as middle:
            wait_for(lambda: daemon.query("SELECT 1 FROM NVTXT_SOURCES WHERE name = 'middle'"),
                     "the daemon knows it")
            folder.write("go", "")
            equal(middle.wait(), -signal.SIGKILL)
        wait_for(lambda: os.path.exists(folder.name("done")), "what it had started has ended")
        found = parents(daemon)
        equal((found["middle"], found["inner"]), (ABOVE, found["after"]))
        (session,), = daemon.query("SELECT sessionId FROM NVTXT_SOURCES WHERE name = 'middle'")
        equal(found["inner"], session + ":run")
        equal(daemon.query("SELECT count(*) FROM NVTXT_RANGE_KEYS"), [(0,)])


def test_a_daemon_that_starts_again_meanwhile_takes_nothing_away():
    with Daemon() as daemon, Folder() as folder:
        script = "touch %s; while [ ! -e %s ]; do sleep 0.05; done; %s --mark m --name inner" % (
            folder.name("begun"), folder.name("go"), SEND)
        with Running("nvtxt-send", "--range", "r", "--name", "outer", "--", "sh", "-c", script,
                     env={"NVTXT_SOCKET": daemon.socket, "NVTXT_PARENT": ABOVE}) as outer:
            wait_for(lambda: os.path.exists(folder.name("begun")), "the command runs")
            wait_for(lambda: daemon.query("SELECT 1 FROM NVTXT_SOURCES WHERE name = 'outer'"),
                     "the daemon knows it")
            daemon.kill()
            daemon.start()
            folder.write("go", "")
            outer.expect(0)
        equal(parents(daemon), {"outer": ABOVE, "inner": run_of(daemon, "outer")})


# ---- Steps of make --------------------------------------------------------------------------------

# Each command line that make runs goes through this shell, which counts.
COUNTING = "#!/bin/sh\ncase $1 in -*) echo \"$PPID\" >>'%s';; esac\nexec /bin/sh \"$@\"\n"

TOP = """\
SHELL := %(shell)s
all: gen sub/done other x1 x2 x3 x4
\t@echo done
gen:
\t@touch gen.c; \\
\techo made
sub/done: gen
\t@$(MAKE) -C sub all
other: gen
\t@cd other && { if true; then $(MAKE) sub=1; fi; }
x1 x2 x3 x4: gen
\t@sleep 0.02
\t@: $@
.PHONY: all gen sub/done other x1 x2 x3 x4
"""
SUB = """\
SHELL := %(shell)s
all: a b
a b:
\t@true
\t@$(MAKE) -s -C below $@
.PHONY: all a b
"""
BELOW = "a b:\n\t@test -n '$@'\n\t@printf ''\n.PHONY: a b\n"


def make_project(folder):
    """Files of a project with makes in makes; the file that counts its command lines."""
    if not shutil.which("make"):
        raise Skip("there is no make")
    shell, count = folder.write("sh", COUNTING % folder.name("count")), folder.name("count")
    os.chmod(shell, 0o755)
    os.makedirs(folder.name("sub/below"))
    os.makedirs(folder.name("other"))
    for name, text in (("Makefile", TOP), ("sub/Makefile", SUB), ("sub/below/Makefile", "SHELL := %(shell)s\n" + BELOW),
                       ("other/Makefile", "SHELL := %(shell)s\nall:\n\t@env -i /bin/sh -c 'true # alone'\n")):
        folder.write(name, text % {"shell": shell})
    return count


def clean():
    """Make may be what runs these tests."""
    return {key: value for key, value in ENV.items()
            if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "GPATH", "MAKEOVERRIDES")}


def build(daemon, folder, *command):
    done = subprocess.run([SEND, "--socket", daemon.socket, *patience(daemon), "--steps", "--", *command],
                          cwd=folder.path, env={**clean(), "NVTXT_PARENT": ABOVE}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=DEADLINE)
    equal(done.returncode, 0, done.stdout.decode())


def steps_of(daemon):
    """{key: (text, parent's key, target, folder)} of the steps; the run has the key 'run'."""
    daemon.settled()
    rows = daemon.query("SELECT k.key, e.text, k.parent, s.parent, s.sessionId, e.jsonText ->> 'target',"
                        " e.jsonText ->> 'directory', e.int64Value FROM NVTXT_RANGE_KEYS k"
                        " JOIN NVTX_EVENTS e ON e.rowid = k.eventRow JOIN NVTXT_SOURCES s ON s.id = k.sourceId")
    found = {}
    for key, text, parent, above, session, target, directory, status in rows:
        equal(status, 0, text)
        equal(key == "run", parent is None, key)
        assert parent is None or parent.startswith(session + ":"), parent
        found[key] = (text, parent.split(":")[1] if parent else above, target, directory)
    return found


def test_each_command_line_is_one_step_and_its_make_is_its_parent():
    with Daemon() as daemon, Folder() as folder:
        count = make_project(folder)
        build(daemon, folder, "make", "-j4", "--no-print-directory")
        found = steps_of(daemon)
        with open(count, encoding="ascii") as lines:
            equal(len(found) - 1, len(lines.readlines()))
        equal(found["run"][1], ABOVE)
        top = os.path.realpath(folder.path)
        places = {(os.path.relpath(step[3], top), step[2]): step for key, step in found.items() if key != "run"}
        for place, above in ((("sub", "a"), (".", "sub/done")), (("other", "all"), (".", "other")),
                             (("sub/below", "b"), ("sub", "b"))):
            parent = found[places[place][1]]
            equal((os.path.relpath(parent[3], top), parent[2]), above)
            assert parent[0].startswith("make"), parent
        for target in ("gen", "x1", "all", "other"):
            equal(places[".", target][1], "run", target)
        equal(daemon.query("SELECT errors, warnings FROM NVTXT_SOURCES WHERE name = 'make'"), [(0, 0)])


def test_variables_that_are_dropped_on_the_way_are_no_fault():
    with Daemon() as daemon, Folder() as folder:
        make_project(folder)
        folder.write("drop.mk", "all:\n\t@env -u NVTXT_PARENT $(MAKE) -C sub a\n\t@env -i %s --socket %s"
                                " --mark alone --name alone\n" % (SEND, daemon.socket))
        build(daemon, folder, "make", "-f", "drop.mk")
        found = steps_of(daemon)
        equal({step[1] for step in found.values() if step[3] and step[3].endswith("sub")}, {"run"})
        equal(parents(daemon)["alone"], None)


def test_a_target_may_hold_any_bytes():
    names = ["o'd\"d`$x;|&*?[]~\\#", "blank and\ttab", "é\x01", "100%%done"]
    with Daemon() as daemon, Folder() as folder:
        make_project(folder)
        folder.write("odd.mk", ".DEFAULT:\n\t@true\n")
        build(daemon, folder, "make", "-r", "-f", "odd.mk", *names)
        targets = {step[2] for key, step in steps_of(daemon).items() if key != "run"}
        equal(targets, set(names))


def test_a_daemon_without_json_gets_the_steps_without_it():
    with Fake() as fake, Folder() as folder:
        make_project(folder)
        folder.write("small.mk", "all:\n\t@: 'it'\"s\" \"x\\y\"\n")
        with Running("nvtxt-send", "--socket", fake.path, "--steps", "--", "make", "-f", "small.mk",
                     cwd=folder.path, env={key: "" for key in ENV if key not in clean()}) as client:
            with fake.accept() as peer:
                equal((peer.hello["nvtx"], peer.hello["escapes"]), (1, True))
                peer.old_welcome(0, version="0.1.9", escapes=True)
                lines = []
                while not lines or lines[-1] != "#nvtxt-end":
                    lines.append(peer.line())
                    peer.ack(len(lines)) if lines[-1] != "#nvtxt-end" else peer.end(len(lines) - 1)
            equal(client.expect(0), "")
        commands = [line.split(",")[0] for line in lines if not line.startswith("#")]
        equal(commands, ["SetProcessName", "SetProcessName", "RangeStartEnd", "RangeStartEnd"])
        equal([line[:5] for line in lines if "son=" in line[:6]], ["#son=", "#son="])
        keys = [number for number, line in enumerate(lines) if line.startswith("#nvtxt-range")]
        equal([lines[number + 1][:14] for number in keys], ["RangeStartEnd,"] * 2)


run(globals())
