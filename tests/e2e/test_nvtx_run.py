# SPDX-License-Identifier: Apache-2.0
"""nvtxt-send --nvtx: what a program had recorded when it was killed is stored, once, by who started
it or by who comes later; and the program is what it is alone."""
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import threading
import time

from client import ENV, Folder, contains, patience, run_client
from lib import (DEADLINE, SANITIZERS, SHORT, TOP_BUILD, WRAPPER, Daemon, Skip, equal, program, run,
                 wait_for)

CLIENT = program("tests/nvtx", "run_client")
GONE = [program("tests/nvtx", "lib_client"), "gone", "1600"]
SEND = program("client", "nvtxt-send")
MARKS, PUSHES = 34, 59
RECORDED = '[ -s "$1" ] && [ -n "$(tr -d "\\0" <"$1")" ]'  # a call of the client "$1" notes for has returned


class Place:
    """A folder with the notes of a client, a spool, and a place that stands for $XDG_RUNTIME_DIR."""

    def __enter__(self):
        self.folder = Folder().__enter__()
        self.spool = self.folder.name("spool")
        self.notes = self.folder.name("notes")
        return self

    def __exit__(self, *why):
        return self.folder.__exit__(*why)

    def noted(self):
        with open(self.notes, "rb") as file:
            return struct.unpack("64Q", file.read(512))

    def rings(self):
        return sorted(name for name in os.listdir(self.spool) if name.endswith(".ring"))

    def files(self):
        return sorted(os.listdir(self.spool))


def texts(daemon, kind=MARKS):
    return sorted(row[0] for row in daemon.query(
        "SELECT coalesce(text, (SELECT value FROM StringIds WHERE id = textId)) FROM NVTX_EVENTS"
        " WHERE eventType = ?", kind))


def send(daemon, *args, env=None, socket=None, patient=True, **more):
    waits = patience(daemon, args) if patient else ()
    done = subprocess.run([SEND, "--socket", socket or daemon.socket, *waits, *args], stdin=subprocess.DEVNULL,
                          env={**ENV, **(env or {})}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=DEADLINE, **more)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def each_once(found, noted, what):
    """Each call that had returned is there once; the one under way may be."""
    for thread, count in enumerate(noted):
        mine = sorted(int(text.split()[1]) for text in found if text.split()[0] == str(thread))
        assert mine in (list(range(count)), list(range(count + 1))), \
            "%s: thread %d: %d calls had returned, %d rows, missing %r, too many %r" % (
                what, thread, count, len(mine), sorted(set(range(count)) - set(mine))[:5],
                [n for n in set(mine) if mine.count(n) > 1][:5])


def killed_client(place, daemon, end="kill", threads=2, count=300, socket=None):
    """A client without a runner that leaves its ring file."""
    os.makedirs(place.spool, exist_ok=True)
    env = {**ENV, "NVTXT_SPOOL": place.spool, "NVTXT_SOCKET": socket or daemon.socket}
    return subprocess.run([CLIENT, place.notes, str(threads), str(count), end], env=env,
                          timeout=DEADLINE).returncode


def test_what_a_killed_program_had_recorded_is_stored_once():
    with Daemon() as daemon, Place() as place:
        equal(send(daemon, "--nvtx", "--", CLIENT, place.notes, "4", "500", "kill")[0], -9)
        each_once(texts(daemon), place.noted(), "marks")
        daemon.settled()
        equal(daemon.query("SELECT count(*) FROM NVTXT_SOURCES WHERE ended != 'end'"), [(0,)])
        equal(daemon.query("SELECT count(*) FROM NVTXT_DIAGNOSTICS"), [(0,)])


def test_a_short_program_that_libc_does_not_see_end_loses_nothing():
    runs = 3 if SHORT or SANITIZERS or WRAPPER else 15
    with Daemon() as daemon, Place() as place:
        os.makedirs(place.spool)
        for _ in range(runs):
            equal(send(daemon, "--nvtx", "--", *GONE), (0, "", ""))
            subprocess.run(GONE, check=True, timeout=DEADLINE, env={
                **ENV, "NVTXT_SPOOL": place.spool, "NVTXT_SOCKET": daemon.socket})
        equal(resume(daemon, place), (0, "", ""))
        daemon.settled()
        counts = daemon.query("SELECT globalTid, count(*), count(end) FROM NVTX_EVENTS "
                              "WHERE eventType = 59 GROUP BY 1")
        equal([row[1:] for row in counts], [(1600, 1600)] * 2 * runs)
        equal(daemon.query("SELECT count(*) FROM NVTXT_LOSSES"), [(0,)])


def test_warnings_of_a_killed_program_are_said_only_with_verbose():
    with Daemon() as daemon, Place() as place:
        for words in [], ["--verbose"]:
            status, _, err = send(daemon, "--nvtx", *words, "--", CLIENT, place.notes, "1", "10", "open")
            equal((status, err.count("1 warning (0 shown)")), (-9, len(words)), err)
            equal(bool(err), bool(words), err)
        daemon.settled()
        equal(daemon.query("SELECT code FROM NVTXT_DIAGNOSTICS"), [("never-closed",)] * 2)


def test_a_session_of_a_program_that_is_gone_is_resumed_by_hand():
    with Daemon() as daemon, Place() as place:
        for end in "kill", "_exit":
            killed_client(place, daemon, end)
            equal(len(place.rings()), 1)
            equal(run_client("nvtxt-send", "--socket", daemon.socket, "--resume", place.spool), (0, "", ""))
            equal(place.files(), [])
        found = texts(daemon)
        equal(len(found), 1200)
        each_once(found[::2], place.noted(), "marks")


def kill_often(daemon, stop):
    """Kills the daemon at random moments and starts it again, until told to stop. In the end it
    lets it live: on a busy machine it would do too little in so short a life."""
    chance = random.Random(5)
    for _ in range(15 if "thread" in SANITIZERS else 40):
        stop.wait(chance.uniform(0.02, 0.3))
        if stop.is_set():
            break
        daemon.kill()
        daemon.start()


def test_programs_killed_at_random_moments_while_the_daemon_is_killed_too():
    chance = random.Random(7)
    recorded = 0
    for _ in range(2 if SHORT else 6):
        with Daemon() as daemon, Place() as place:
            stop = threading.Event()
            killer = threading.Thread(target=kill_often, args=(daemon, stop))
            killer.start()
            try:
                script = '"$0" "$1" 4 0 return & until %s; do sleep 0.01; done; sleep %f;' \
                         'kill -9 $!; wait' % (RECORDED, chance.uniform(0.05, 1))
                status, _, err = send(daemon, "--nvtx", "--timeout", "200", "--spool", place.spool, "--",
                                      "sh", "-c", script, CLIENT, place.notes)
            finally:
                stop.set()
                killer.join()
            equal(status, 0, err)
            done = resume(daemon, place)
            equal(done[0], 0, err + done[2])
            equal(place.files(), [])
            # On a busy machine a ring may be full; then the calls that it dropped are counted.
            if not daemon.query("SELECT count(*) FROM NVTXT_LOSSES")[0][0]:
                each_once(texts(daemon), place.noted(), "marks")
            equal(len(texts(daemon)), len(set(texts(daemon))))
            equal(daemon.query("SELECT count(*) FROM NVTXT_DIAGNOSTICS WHERE code != 'never-closed'"), [(0,)])
            recorded += sum(place.noted())
    assert recorded > (300 if SHORT else 1000), recorded


def test_a_salvager_that_is_killed_is_followed_by_another():
    chance = random.Random(11)
    with Daemon() as daemon, Place() as place:
        for number in range(12):
            killed_client(place, daemon, threads=4, count=200, socket="/nonexistent/s")
        rings = len(place.rings())
        equal(rings, 12)
        kills = 0
        while place.files():
            resume = subprocess.Popen([SEND, "--socket", daemon.socket, "--resume", place.spool],
                                      env=ENV, stderr=subprocess.PIPE)
            time.sleep(chance.uniform(0, 0.02 + 0.01 * kills))
            kills += resume.poll() is None
            resume.kill()
            resume.communicate()
            if chance.random() < 0.2:
                daemon.kill()
                daemon.start()
        daemon.settled()
        print("# killed %d salvagers" % kills)
        found = texts(daemon)
        equal([found.count(text) for text in sorted(set(found))], [12] * 800)
        equal(daemon.query("SELECT count(*) FROM NVTXT_SOURCES WHERE ended != 'end'"), [(0,)])


# ---- The command and its environment --------------------------------------------------------------

def built(folder):
    """A program beside a library of its own, as in a build that is not installed."""
    os.makedirs(folder.name("inject/.libs"))
    os.makedirs(folder.name("client"))
    shutil.copy(os.path.join(TOP_BUILD, "client", "nvtxt-send"), folder.name("client/nvtxt-send"))
    return folder.name("client/nvtxt-send"), folder.write("inject/.libs/libnvtxt-inject.so", "")


SHOW = 'for n in NVTX_INJECTION64_PATH NVTXT_CHAIN NVTXT_SOCKET; do eval "echo \\"$n=\\${$n-}\\""; done'


def test_the_command_gets_the_variables_and_the_other_tool_becomes_the_chain():
    with Daemon() as daemon, Folder() as folder:
        client, library = built(folder)
        other = folder.write("other.so", "")
        for before, chain in (("", ""), (other, other), (library, "kept"), ("/gone.so", "/gone.so")):
            out = subprocess.run([client, "--socket", "data.sock", "--nvtx", "--", "sh", "-c", SHOW],
                                 stdout=subprocess.PIPE, cwd=daemon.folder, check=True, env={
                                     **ENV, "NVTX_INJECTION64_PATH": before,
                                     **({"NVTXT_CHAIN": "kept"} if chain == "kept" else {})}).stdout
            equal(out.decode().splitlines(), ["NVTX_INJECTION64_PATH=" + library, "NVTXT_CHAIN=" + chain,
                                              "NVTXT_SOCKET=" + daemon.socket])
        equal(send(daemon, "--nvtx", "--", "true", env={"NVTXT_SOCKET": "/x"})[0], 0)


def test_the_daemon_that_is_there_is_the_commands():
    with Daemon() as daemon, Folder() as folder:
        os.makedirs(folder.name("nvtxtd"))
        os.symlink(daemon.socket, folder.name("nvtxtd/nvtxtd.sock"))
        env = {**ENV, "XDG_RUNTIME_DIR": folder.path}
        for named, wanted in ((None, folder.name("nvtxtd/nvtxtd.sock")),
                              (folder.name("gone.sock"), folder.name("gone.sock")),
                              (daemon.socket, daemon.socket)):
            out = subprocess.run([SEND, "--nvtx", "--", "sh", "-c", 'echo "$NVTXT_SOCKET"'], check=True,
                                 env={**env, **({"NVTXT_SOCKET": named} if named else {})},
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout.decode()
            if not os.path.exists("/run/nvtxtd/nvtxtd.sock"):  # root would look there before
                equal(out, wanted + "\n")
        daemon.settled()
        if not os.path.exists("/run/nvtxtd/nvtxtd.sock"):
            equal(daemon.query("SELECT count(*) FROM NVTXT_SOURCES"), [(2,)])


def test_a_library_that_is_missing_is_said_and_the_command_runs():
    with Daemon() as daemon, Folder() as folder:
        client, library = built(folder)
        os.unlink(library)
        done = subprocess.run([client, "--socket", daemon.socket, "--nvtx", "--", "sh", "-c",
                               'echo "$NVTX_INJECTION64_PATH"'], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env={**ENV, "NVTX_INJECTION64_PATH": "/other.so"})
        if b"libnvtxt-inject.so" in done.stderr:  # else it is installed on this machine
            contains(done.stderr.decode(), "NVTX calls are not recorded")
            equal((done.returncode, done.stdout), (0, b"/other.so\n"))
            equal(subprocess.run([client, "--nvtx", "--print"], env=ENV, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE).returncode, 66)


def in_memory(path):
    return subprocess.run(["stat", "-f", "-c", "%T", path], stdout=subprocess.PIPE, text=True,
                          check=True).stdout == "tmpfs\n"


def test_the_folder_is_private_in_memory_and_gone_after_the_run():
    script = 'echo "$NVTXT_SPOOL"; stat -c %a "$NVTXT_SPOOL"; stat -f -c %T "$NVTXT_SPOOL"'
    with Daemon() as daemon, Folder() as folder:
        for runtime in ("/dev/shm", folder.path, "relative", ""):
            status, out, err = send(daemon, "--nvtx", "--", "sh", "-c", script,
                                    env={"XDG_RUNTIME_DIR": runtime})
            path, mode, system = out.splitlines()
            equal((status, mode, system, err), (0, "700", "tmpfs", ""))
            given = runtime == folder.path and in_memory(folder.path)
            assert re.match("%s/nvtxt-run-" % (runtime if given else "/dev/shm"), path), path
            assert not os.path.exists(path)
        status, out, err = send(daemon, "--nvtx", "--spool", "made", "--", "sh", "-c", script,
                                cwd=folder.path)
        equal((status, out.splitlines()[:2], err), (0, [folder.name("made"), "700"], ""))
        equal(os.listdir(folder.name("made")), [])


def test_the_run_is_a_range_and_the_output_is_not_recorded_unless_asked_for():
    with Daemon() as daemon:
        out = send(daemon, "--nvtx", "--range", "night", "--", "sh", "-c", "echo one; echo two >&2")
        equal(out, (0, "one\n", "two\n"))
        equal((texts(daemon), texts(daemon, 60)), ([], ["night"]))
        equal(send(daemon, "--nvtx", "--", "sh", "-c", "echo one"), (0, "one\n", ""))
        equal((texts(daemon), texts(daemon, 60)), ([], ["night", "sh -c echo one"]))
        equal(send(daemon, "--nvtx", "--record-output", "--", "sh", "-c", "echo one; echo two >&2"),
              (0, "one\n", "two\n"))
        equal(texts(daemon), ["one", "two"])


def test_the_command_keeps_our_descriptors():
    with Daemon() as daemon, Folder() as folder:
        with open(folder.name("out"), "wb") as out:
            subprocess.run([SEND, "--socket", daemon.socket, "--nvtx", "--", "sh", "-c",
                            "readlink /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2; ls /proc/$$/fd"],
                           stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env=ENV,
                           check=True)
        with open(folder.name("out"), encoding="utf-8") as file:
            equal(file.read().split()[:6], ["/dev/null", out.name, out.name, "0", "1", "2"])


def test_the_end_of_the_command_is_ours():
    with Daemon() as daemon:
        equal(send(daemon, "--nvtx", "--", "sh", "-c", "exit 7"), (7, "", ""))
        for number in signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV:
            equal(send(daemon, "--nvtx", "--", "sh", "-c", "kill -%d $$" % number)[0], -number)


def test_a_command_that_cannot_be_started_leaves_no_folder():
    with Daemon() as daemon, Folder() as folder, \
            tempfile.TemporaryDirectory(prefix="nvtxtd-test-", dir="/dev/shm") as runtime:
        for args, status, why in ((["/gone/x"], 127, "No such file or directory"),
                                  ([folder.path], 126, "Permission denied")):
            got = send(daemon, "--nvtx", "--", *args, env={"XDG_RUNTIME_DIR": runtime})
            equal(got, (status, "", "nvtxt-send: %s: %s\n" % (args[0], why)))
            equal(send(daemon, "--", *args), got)
        # It would be there: that of a command that can be started is.
        left = send(daemon, "--nvtx", "--", "sh", "-c", 'dirname "$NVTXT_SPOOL"', env={"XDG_RUNTIME_DIR": runtime})
        equal((left, os.listdir(runtime)), ((0, runtime + "\n", ""), []))


def test_print_goes_through_a_shell_unchanged():
    with Folder() as folder:
        client, library = built(folder)
        odd = "it's a \"$place\" \\ with\n*"
        os.makedirs(folder.name("other"))
        other = folder.write("other/%s.so" % odd, "")
        done = subprocess.run([client, "--nvtx", "--print", "--socket", "sock'et", "--spool", odd],
                              cwd=folder.path, env={**ENV, "NVTX_INJECTION64_PATH": other},
                              stdout=subprocess.PIPE, check=True)
        assert os.path.isdir(folder.name(odd))
        out = subprocess.run(["sh", "-c", 'eval "$1"; env -0', "sh", done.stdout],
                             env=ENV, stdout=subprocess.PIPE, check=True).stdout.decode()
        names = "NVTX_INJECTION64_PATH", "NVTXT_CHAIN", "NVTXT_SOCKET", "NVTXT_SPOOL"
        variables = dict(line.split("=", 1) for line in out.split("\0") if line.startswith(names))
        equal(variables, {"NVTX_INJECTION64_PATH": library, "NVTXT_CHAIN": other,
                          "NVTXT_SOCKET": folder.name("sock'et"), "NVTXT_SPOOL": folder.name(odd)})
        done = subprocess.run([client, "--nvtx", "--print", "--socket", "/s"], stdout=subprocess.PIPE,
                              env=ENV, check=True)
        equal(done.stdout.decode(), "export NVTX_INJECTION64_PATH='%s'\nexport NVTXT_SOCKET='/s'\n" % library)
        with open("/dev/full", "wb") as full:
            done = subprocess.run([client, "--nvtx", "--print"], stdout=full, stderr=subprocess.PIPE, env=ENV)
        equal((done.returncode, done.stderr), (74, b"nvtxt-send: stdout: No space left on device\n"))


def test_options_that_do_not_go_together_are_named():
    for words, sentence in ((["--nvtx"], "--nvtx is followed by '--' and a command, or by --print"),
                            (["--nvtx", "--"], "--nvtx is followed by"),
                            (["--nvtx", "a.nvtxt"], "--nvtx takes no FILE"),
                            (["--nvtx", "a.nvtxt", "--", "true"], "--nvtx takes no FILE"),
                            (["--nvtx", "--text", "--", "true"], "--nvtx does not go with --text"),
                            (["--nvtx", "--print", "--", "true"], "--print goes with --nvtx, --socket and --spool"),
                            (["--nvtx", "--print", "--record-output"], "--print goes with --nvtx"),
                            (["--print"], "--print and --record-output belong to --nvtx"),
                            (["--record-output", "--", "true"], "belong to --nvtx"),
                            (["--nvtx", "--record-output", "--range", "x", "--", "true"], "--record-output has"),
                            (["--nvtx", "--time-format", "iso", "--", "true"], "only with --record-output"),
                            (["--nvtx", "--mark", "x", "--", "true"], "--mark says all there is"),
                            (["--nvtx", "--pid", "3", "--", "true"], "--pid does not go with a command"),
                            (["--nvtx", "--resume", "dir"], "--nvtx is followed by"),
                            (["--nvtx", "--resume", "dir", "--", "true"], "--resume goes on with")):
        status, out, err = run_client("nvtxt-send", *words)
        equal((status, out), (64, ""), words)
        contains(err, sentence)


# ---- What is left ---------------------------------------------------------------------------------

def test_without_a_daemon_the_command_runs_and_what_it_recorded_is_kept():
    for end, status in (("return", 0), ("kill", -9)):
        with Daemon(start=False) as daemon, Place() as place:
            got, _, err = send(daemon, "--nvtx", "--", CLIENT, place.notes, "2", "100", end)
            equal(got, status)
            contains(err, "runs on; its run will be no range")
            left = re.search("'nvtxt-send --resume (/dev/shm/nvtxt-run-[^']*)' sends the rest", err).group(1)
            daemon.start()
            equal(run_client("nvtxt-send", "--socket", daemon.socket, "--resume", left), (0, "", ""))
            each_once(texts(daemon), place.noted(), "marks")
            assert not os.path.exists(left), left


def test_a_daemon_that_is_given_up_is_not_waited_for_again():
    with Daemon() as daemon, Place() as place:
        script = "for i in 1 2 3 4 5 6; do \"$0\" \"$1\" 1 10 kill 2>/dev/null; done; kill -9 %d" % daemon.process.pid
        status, _, err = send(daemon, "--nvtx", "--timeout", "2", "--spool", place.spool, "--", "sh", "-c",
                              script, CLIENT, place.notes)
        equal(status, 0)
        equal(err.count("giving up on the daemon at"), 1, err)
        daemon.process.wait()
        daemon.start()
        equal(resume(daemon, place)[0], 0)
        found = texts(daemon)
        equal([found.count(text) for text in sorted(set(found))], [6] * 10)


def test_a_daemon_that_is_stopped_is_waited_for_once():
    for spool in [], ["--spool"]:
        with Daemon() as daemon, Place() as place:
            words = spool and spool + [place.spool]
            script = 'kill -STOP $2; exec "$0" "$1" 1 10 kill'
            status, _, err = send(daemon, "--nvtx", *words, "--", "sh", "-c", script, CLIENT, place.notes,
                                  str(daemon.process.pid), patient=False)
            daemon.process.send_signal(signal.SIGCONT)
            equal((status, err.count("giving up on"), err.count("--resume")), (-9, 0, 1), err)
            left = re.search("'nvtxt-send --resume ([^']*)'", err).group(1)
            equal(run_client("nvtxt-send", "--socket", daemon.socket, "--resume", left)[0], 0)
            each_once(texts(daemon), place.noted(), "marks")


def test_a_process_that_outlives_the_command_is_named_and_sent_later():
    if "thread" in SANITIZERS:
        raise Skip("ThreadSanitizer does not know threads in a child")
    with Daemon() as daemon, Place() as place, open(place.folder.name("said"), "w+b") as said:
        equal(subprocess.run([SEND, "--socket", daemon.socket, "--nvtx", "--", CLIENT, place.notes, "1", "10",
                              "leave"], env=ENV, stdin=subprocess.DEVNULL, stdout=said, stderr=said).returncode, 0)
        said.seek(0)
        left = re.search("a process that .* started still records: 'nvtxt-send --resume ([^']*)'",
                         said.read().decode()).group(1)
        name, = os.listdir(left)
        pid = int(name.split("-")[1])
        ring = os.path.join(left, name)
        equal(run_client("nvtxt-send", "--socket", daemon.socket, "--resume", left),
              (65, "", "nvtxt-send: %s is still in use by process %d\n" % (ring, pid)))
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: run_client("nvtxt-send", "--socket", daemon.socket, "--resume", left)[0] == 0,
                 "its process is gone")
        equal([text for text in texts(daemon) if text == "left"], ["left"])
        assert not os.path.exists(left), left


def test_resume_removes_a_folder_of_a_run_that_is_empty_and_no_other():
    with Daemon() as daemon, Folder() as folder:
        for name, goes in (("nvtxt-run-aB3dE6", True), ("nvtxt-run-aB3dE67", False), ("nvtxt-run-", False),
                           ("my-nvtxt-run-aB3dE6", False), ("spool", False)):
            for end in "", "/":
                path = folder.name(name)
                os.makedirs(path, exist_ok=True)
                equal(run_client("nvtxt-send", "--socket", daemon.socket, "--resume", path + end), (0, "", ""))
                equal(os.path.exists(path), not goes, path)
        os.makedirs(folder.name("nvtxt-run-aB3dE6"))
        kept = folder.write("nvtxt-run-aB3dE6/notes", "")
        equal(run_client("nvtxt-send", "--socket", daemon.socket, "--resume", "nvtxt-run-aB3dE6",
                         cwd=folder.path), (0, "", ""))
        assert os.path.exists(kept)


def test_processes_that_are_just_ending_are_waited_for():
    script = '"$0" "$1" 2 0 return >/dev/null 2>&1 & until %s; do sleep 0.01; done;' \
             ' (sleep 0.1; kill -9 $!) &' % RECORDED
    for _ in range(100):  # a busy machine may take more than the second that the runner waits
        with Daemon() as daemon, Place() as place:
            status, out, err = send(daemon, "--nvtx", "--spool", place.spool, "--", "sh", "-c", script, CLIENT,
                                    place.notes)
            equal((status, out), (0, ""))
            gave_up = "still records" in err  # not, when its session only was busy for a moment
            if gave_up:
                contains(err, "a process that sh started still records: 'nvtxt-send --resume %s'" % place.spool)
                wait_for(lambda: resume(daemon, place)[0] == 0, "its process is gone")
            equal(place.files(), [])
            each_once(texts(daemon), place.noted(), "marks")
        if not gave_up:
            return
    raise AssertionError("it never waited")


def test_a_program_with_nvtx_in_it_is_recorded():
    client = program("tests/nvtx", "calls")
    with Daemon() as daemon:
        status, _, err = send(daemon, "--nvtx", "--", client, "core")
        equal((status, err), (0, ""))
        rows = daemon.query("SELECT eventType, count(*) FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60)"
                            " GROUP BY eventType")
        equal([row[0] for row in rows], [34, 59, 60])
        equal(daemon.query("SELECT count(*) FROM NVTXT_DIAGNOSTICS"), [(0,)])


def test_a_program_that_takes_the_place_of_another_gives_its_rings_free():
    with Daemon() as daemon, Place() as place:
        os.makedirs(place.spool)
        sleeper = folder_script(place, "exec sleep 1000")
        process = subprocess.Popen([CLIENT, place.notes, "1", "10", sleeper],
                                   env={**ENV, "NVTXT_SPOOL": place.spool, "NVTXT_SOCKET": "/nonexistent"})
        try:
            wait_for(lambda: b"sleep" in read_some("/proc/%d/cmdline" % process.pid), "exec")
            equal(run_client("nvtxt-send", "--socket", daemon.socket, "--resume", place.spool), (0, "", ""))
        finally:
            process.kill()
            process.wait()
        each_once(texts(daemon), place.noted(), "marks")
        equal(place.files(), [])


def read_some(path, most=-1):
    with open(path, "rb") as file:
        return file.read(most)


def folder_script(place, script):
    path = place.folder.write("script", "#!/bin/sh\n" + script + "\n")
    os.chmod(path, 0o755)
    return path


def resume(daemon, place):
    return run_client("nvtxt-send", "--socket", daemon.socket, "--resume", place.spool)


def write_at(path, offset, data):
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(data)


def traced(call, count, action, daemon, place):
    """A salvager to which `action` happens at its count-th `call`."""
    return subprocess.run(["strace", "-o", "/dev/null", "-e", "trace=" + call, "-e",
                           "inject=%s:%s:when=%d" % (call, action, count), SEND, "--socket", daemon.socket,
                           "--resume", place.spool], env=ENV, stderr=subprocess.PIPE, timeout=DEADLINE)


def need_strace():
    if SANITIZERS or WRAPPER or not shutil.which("strace") or \
            subprocess.run(["strace", "-o", "/dev/null", "true"], stderr=subprocess.DEVNULL).returncode:
        raise Skip("no strace, or one that sanitizers and valgrind do not bear")


def test_a_salvager_that_is_killed_at_any_of_its_steps_is_followed_by_another():
    need_strace()
    with Daemon() as daemon, Place() as place:
        left = kills = 0
        for call in ("openat", "pread64", "write", "renameat", "unlinkat", "flock", "sendmsg", "close"):
            killed_client(place, daemon, threads=2, count=50, socket="/nonexistent")
            left += 1
            for count in range(1, 200):
                done = traced(call, count, "signal=KILL", daemon, place)
                if done.returncode >= 0:
                    break
                kills += 1
            equal((done.returncode, done.stderr, place.files()), (0, b"", []), call)
        assert kills > 30, kills
        daemon.settled()
        found = texts(daemon)
        equal([found.count(text) for text in sorted(set(found))], [left] * 100)
        equal(daemon.query("SELECT count(*) FROM NVTXT_SOURCES WHERE ended != 'end'"), [(0,)])
        equal(daemon.query("SELECT count(*) FROM NVTXT_DIAGNOSTICS"), [(0,)])


def test_a_disk_that_fails_or_is_full_costs_nothing_and_is_said():
    need_strace()
    with Daemon() as daemon, Place() as place:
        left = 0
        for call, action, why in (("write", "error=ENOSPC", "No space left on device"),
                                  ("pread64", "error=EIO", "Input/output error"),
                                  ("openat", "error=EMFILE", "Too many open files"),
                                  ("renameat", "error=EIO", "Input/output error"),
                                  ("unlinkat", "error=EIO", "Input/output error")):
            killed_client(place, daemon, threads=1, count=20, socket="/nonexistent")
            left += 1
            for count in range(1, 100):
                done = traced(call, count, action, daemon, place)
                if done.returncode == 0:
                    break
                if done.returncode == 127:  # not even its libraries could be loaded
                    continue
                assert done.returncode in (65, 66, 71, 73, 74), (call, count, done)
                contains(done.stderr.decode(), why)
            resume(daemon, place)
            equal(place.files(), [], call)
        found = texts(daemon)
        equal([found.count(text) for text in sorted(set(found))], [left] * 20)


def test_files_that_do_not_fit_are_named_and_stay_and_the_others_are_sent():
    with Daemon() as daemon, Place() as place:
        for _ in range(8):
            killed_client(place, daemon, threads=1, count=10, socket="/nonexistent")
        rings = [os.path.join(place.spool, name) for name in place.rings()]
        size = os.path.getsize(rings[0])
        faults = {}

        def spoil(why, action):
            path = rings[len(faults)]
            action(path)
            faults[path] = why

        spoil("was cut: it has 5000000 bytes of %d" % size, lambda path: os.truncate(path, 5000000))
        spoil("was cut: it has 100 bytes, its head alone", lambda path: os.truncate(path, 100))
        spoil("is of version 77 ", lambda path: write_at(path, 8, b"\x4d\0\0\0"))
        spoil("was overwritten: it does not begin as a ring file", lambda path: write_at(path, 0, b"hello"))
        spoil("was overwritten: it has %d bytes of %d" % (size + 1, size), lambda path: os.truncate(path, size + 1))

        def make_link(path):
            os.rename(path, place.folder.name("away"))
            os.symlink(place.folder.name("away"), path)

        spoil("is a link, which is not followed", make_link)
        if os.geteuid() == 0:
            spoil("belongs to another user (uid 12345), who can send it", lambda path: os.chown(path, 12345, -1))
        os.mkdir(os.path.join(place.spool, "folder.ring"))
        faults[os.path.join(place.spool, "folder.ring")] = "is no file"
        for _ in range(2):
            status, _, err = resume(daemon, place)
            equal(status, 65, err)
            said = err.splitlines()
            equal(len(said), len(faults), err)
            for path, why in faults.items():
                assert any(line.startswith("nvtxt-send: %s %s" % (path, why)) for line in said), (path, why, err)
            equal(place.files(), sorted(os.path.basename(path) for path in faults))
        equal(len(texts(daemon)), 10 * (8 - len(faults) + 1))


def test_any_change_of_a_ring_file_is_refused_or_harmless():
    chance = random.Random(3)
    with Daemon() as daemon, Place() as place:
        for number in range(10 if SHORT else 40):
            killed_client(place, daemon, threads=1, count=5, socket="/nonexistent")
            path = os.path.join(place.spool, place.rings()[0])
            with open(path, "rb") as file:
                extents = [0]
                for _ in range(10):
                    try:
                        extents.append(os.lseek(file.fileno(), extents[-1] + 65536, os.SEEK_DATA))
                    except OSError:
                        break
            for _ in range(1 + number % 4):
                write_at(path, chance.choice(extents) + chance.randrange(4096), chance.randbytes(chance.choice((1, 8, 64))))
            status, _, err = resume(daemon, place)
            assert status in (0, 1, 65, 76), (status, err)
            for name in place.files():
                os.unlink(os.path.join(place.spool, name))


def test_a_session_that_the_daemon_has_closed_stays():
    with Daemon() as daemon, Place() as place:
        killed_client(place, daemon, threads=1, count=10, socket="/nonexistent")
        head = read_some(os.path.join(place.spool, place.rings()[0]), 16384)
        session = re.search(rb"[0-9a-f]{8}-[0-9a-f-]{27}", head).group(0).decode()
        with daemon.session(session, nvtx=1) as other:
            other.send("TimeBase=ClockRealtime\n" * 3)
            other.end()
        for _ in range(2):
            status, _, err = resume(daemon, place)
            equal((status, len([name for name in place.files() if name.endswith(".session")])), (76, 1), err)
            contains(err, "the daemon at %s has closed the session of run_client at line 3" % daemon.socket)


def test_two_salvagers_at_a_time_do_not_meet():
    with Daemon() as daemon, Place() as place:
        for _ in range(10):
            killed_client(place, daemon, threads=2, count=100, socket="/nonexistent")
        salvagers = [subprocess.Popen([SEND, "--socket", daemon.socket, "--resume", place.spool], env=ENV,
                                      stderr=subprocess.PIPE) for _ in range(4)]
        for salvager in salvagers:
            err = salvager.communicate()[1]
            equal((salvager.returncode, err), (0, b""))
        equal(resume(daemon, place), (0, "", ""))
        found = texts(daemon)
        equal([found.count(text) for text in sorted(set(found))], [10] * 200)
        equal(place.files(), [])


if __name__ == "__main__":
    run(globals())
