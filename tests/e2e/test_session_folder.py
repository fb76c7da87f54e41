# SPDX-License-Identifier: Apache-2.0
"""nvtxt-send -- COMMAND: the files that the command puts into its session's folder are sent, each
once, whatever becomes of nvtxt-send and the daemon."""
import contextlib
import os
import random
import re
import shutil
import signal
import stat
import subprocess
import uuid

from client import Fake, Folder, Running, contains, patience, run_client
from lib import Daemon, equal, run, wait_for

VARIABLE = "NSIGHT_ANALYSIS_SESSION_OUTPUT_PATH"
ID = "6f1c2a34-9d0e-4b57-8c21-3e4f5a6b7c8d"
SPACE = uuid.UUID("5b1c0f6e-8d2a-4b37-9e54-c073a1d86f12")  # in nvtxt-send(1)
HEADER = "TimeBase = Manual\n@Marker, Time, Message\n"
COPY = ["sh", "-c", 'cp -P "$0"/* "$%s"; exit 3' % VARIABLE]


PATIENT = ("--timeout", "60")  # else a daemon that a busy machine holds up for 5 s is given up
LAST = 60000  # lines enough to fill a socket, which nobody reads


def marks(*numbers):
    return "".join('Marker, %d, "%d"\n' % (number, number) for number in numbers)


class Job(Folder):
    """What a command puts into its folder, and a place for the folder."""

    def __enter__(self):
        super().__enter__()
        self.tmp, self.files = self.name("tmp"), self.name("files")
        os.mkdir(self.tmp)
        os.mkdir(self.files)
        self.env = {"TMPDIR": self.tmp, VARIABLE: ""}
        return self

    def put(self, name, *numbers):
        return self.write("files/" + name, HEADER + marks(*numbers))

    def left(self):
        return sorted(os.listdir(self.tmp))

    def send(self, place, *words, command=None, **more):
        return run_client("nvtxt-send", "--socket", place.socket, *patience(place), *words, "--",
                          *(command or [*COPY, self.files]), env=self.env, **more)

    def running(self, path, *words, command=None):
        return Running("nvtxt-send", "--socket", path, *words, "--", *(command or [*COPY, self.files]),
                       env=self.env)

    def resume(self, place, *words):
        status, _, said = run_client("nvtxt-send", "--socket", place.socket, *words, "--resume",
                                     os.path.join(self.tmp, self.left()[0]), env=self.env)
        return status, said


def stored(daemon):
    """The times of markers that are not of now."""
    return [row[0] for row in daemon.query(
        "SELECT start FROM NVTX_EVENTS WHERE eventType = 34 AND start < 1000000 ORDER BY start")]


def sources(daemon, columns="name, events, ended"):
    """Those of files, by the last part of their names."""
    return [(os.path.basename(row[0]), *row[1:]) for row in daemon.query(
        "SELECT %s FROM NVTXT_SOURCES WHERE name GLOB '*.nvtxt' ORDER BY id" % columns)]


def test_each_file_is_a_session_of_its_own_in_the_order_of_names():
    with Daemon() as daemon, Job() as job:
        for number, name in enumerate(("b.nvtxt", "a.nvtxt", "B.nvtxt", "empty.nvtxt")):
            job.put(name, number) if name != "empty.nvtxt" else job.write("files/empty.nvtxt", "")
        job.write("files/a.nvtxt", HEADER + "nonsense\n" + marks(1))
        script = COPY[2].replace("exit", 'stat -c "%%a %%U" "$%s"; echo "$$ $%s"; exit'
                                 % (VARIABLE, VARIABLE))
        status, out, said = job.send(daemon, command=["sh", "-c", script, job.files])
        mode, pid, path = re.fullmatch(r"(\d+) \S+\n(\d+) (.*)\n", out).groups()
        equal((status, mode, os.path.dirname(path)), (3, "700", job.tmp))
        equal(said, "%s/a.nvtxt:3:1: error: unknown command 'nonsense' [unknown-command]\n"
                    "%s/a.nvtxt: 1 error in 4 lines, 1 event\n" % (path, path))
        equal(sources(daemon), [("B.nvtxt", 1, "end"), ("a.nvtxt", 1, "end"), ("b.nvtxt", 1, "end"),
                                ("empty.nvtxt", 0, "end")])
        session, = daemon.query("SELECT sessionId FROM NVTXT_SOURCES WHERE name = 'sh'")
        names = ("B.nvtxt", "a.nvtxt", "b.nvtxt", "empty.nvtxt")
        equal([row[1] for row in sources(daemon, "name, sessionId")],
              [str(uuid.uuid5(SPACE, "%d:%s/%s" % (os.geteuid(), session[0], name))) for name in names])
        equal({row[0] for row in daemon.query("SELECT globalTid >> 24 FROM NVTX_EVENTS WHERE text = '1'")},
              {int(pid)})
        equal(job.left(), [])


def test_a_variable_that_is_set_stays_and_nothing_is_sent():
    with Daemon() as daemon, Job() as job:
        job.put("a.nvtxt", 1)
        job.env[VARIABLE] = job.name("tmp")
        equal(job.send(daemon)[0::2], (3, ""))
        equal((job.left(), stored(daemon)), (["a.nvtxt"], []))
        equal(job.send(daemon, "--session-folder", job.name("mine"))[0::2], (3, ""))  # a named one wins
        equal((os.listdir(job.name("mine")), stored(daemon)), (["a.nvtxt"], [1]))


def test_only_regular_files_of_the_user_are_taken():
    with Daemon() as daemon, Job() as job:
        job.put("z.nvtxt", 1)
        os.symlink(job.put("../secret.nvtxt", 9), job.files + "/link.nvtxt")
        script = 'mkfifo "$%s/pipe.nvtxt"; %s' % (VARIABLE, COPY[2])
        status, _, said = job.send(daemon, command=["sh", "-c", script, job.files])
        equal((status, stored(daemon), job.left()), (3, [1], []))
        for name, what in (("link", "a link"), ("pipe", "no regular file")):
            contains(said, "/%s.nvtxt is left out: it is %s\n" % (name, what))
        if os.geteuid() == 0:
            named = job.name("named")
            os.mkdir(named)
            os.chown(job.put("../named/theirs.nvtxt", 8), 12345, 12345)
            status, _, said = job.send(daemon, "--session-folder", named, command=["true"])
            equal((status, said), (0, "nvtxt-send: %s/theirs.nvtxt is left out: it is another user's\n" % named))
            equal(stored(daemon), [1])


def test_other_files_are_not_deleted():
    with Daemon() as daemon, Job() as job:
        job.put("a.nvtxt", 1)
        for name in ("log.txt", ".hidden.nvtxt", "folder.nvtxt/in"):
            os.makedirs(os.path.dirname(job.name("files/" + name)), exist_ok=True)
            job.write("files/" + name, HEADER + marks(5))
        script = 'cp -R "$0"/. "$%s"; exit 3' % VARIABLE
        status, _, said = job.send(daemon, command=["sh", "-c", script, job.files])
        equal((status, stored(daemon)), (3, [1]))
        path = os.path.join(job.tmp, job.left()[0])
        contains(said, "nvtxt-send: %s stays: it has other files; its files *.nvtxt are sent\n" % path)
        equal(sorted(os.listdir(path)), [".hidden.nvtxt", "folder.nvtxt", "log.txt"])


def test_a_folder_that_is_named_stays_and_sends_nothing_twice():
    with Daemon() as daemon, Job() as job:
        job.put("a.nvtxt", 1)
        command = ["sh", "-c", 'cd /; echo "$%s"; %s' % (VARIABLE, COPY[2]), job.files]
        status, out, said = job.send(daemon, "--session-folder", "kept", command=command, cwd=job.path)
        kept = job.name("kept")
        equal((status, out, said), (3, os.path.realpath(kept) + "\n", ""))
        equal(stat.S_IMODE(os.stat(kept).st_mode), 0o700)
        equal(run_client("nvtxt-send", "--socket", daemon.socket, "--resume", kept), (0, "", ""))
        equal((stored(daemon), os.listdir(kept)), ([1], ["a.nvtxt"]))
        daemon.stop()
        equal(job.send(daemon, "--session-folder", kept)[0], 3)
        equal(sorted(os.listdir(kept)), [".nvtxt-session", "a.nvtxt"])
        daemon.start()
        equal(run_client("nvtxt-send", "--socket", daemon.socket, "--resume", kept), (0, "", ""))
        equal((stored(daemon), os.listdir(kept)), ([1, 1], ["a.nvtxt"]))


def test_a_folder_is_of_one_run_at_a_time():
    with Daemon() as daemon, Job() as job:
        job.put("a.nvtxt", 1)
        kept = job.name("kept")
        with job.running(daemon.socket, "--session-folder", kept, command=["cat"]) as first:
            wait_for(lambda: os.path.exists(kept + "/.nvtxt-session") and
                     os.path.getsize(kept + "/.nvtxt-session") > 0, "the run")
            status, _, said = job.send(daemon, "--session-folder", kept,
                                       command=["sh", "-c", 'test -z "$%s"' % VARIABLE])
            equal((status, said), (0, "nvtxt-send: warning: %s cannot be the session folder: another nvtxt-send "
                                      "uses it; the command runs without it\n" % os.path.realpath(kept)))
            equal(run_client("nvtxt-send", "--socket", daemon.socket, "--resume", kept),
                  (0, "", "nvtxt-send: %s: another nvtxt-send uses it\n" % kept))
            shutil.copy(job.files + "/a.nvtxt", kept)
            first.close()
            first.expect(0)
        equal(stored(daemon), [1])


def test_without_a_daemon_the_folder_stays_and_is_named():
    with Daemon(start=False) as daemon, Job() as job:
        job.put("a.nvtxt", 1)
        job.put("b.nvtxt", 2)
        status, _, said = job.send(daemon)
        path = os.path.join(job.tmp, job.left()[0])
        contains(said, "not all files in %s are sent: 'nvtxt-send --resume %s' sends the rest\n" % (path, path))
        equal((status, sorted(os.listdir(path))), (3, [".nvtxt-session", "a.nvtxt", "b.nvtxt"]))
        status, said = job.resume(daemon)
        equal(status, 69)
        contains(said, "no daemon at ")
        daemon.start()
        equal(job.resume(daemon), (0, ""))
        equal((stored(daemon), job.left()), ([1, 2], []))
        for row in sources(daemon):
            equal(row[1:], (1, "end"))
        equal(job.send(daemon, command=["true"]), (0, "", ""))
        equal(job.left(), [])


def test_what_is_in_a_spool_need_not_stay():
    with Daemon(start=False) as daemon, Job() as job:
        job.put("a.nvtxt", 1)
        job.put("b.nvtxt", 2)
        spool = job.name("spool")
        status, _, said = job.send(daemon, "--spool", spool)
        equal((status, job.left()), (3, []), said)
        contains(said, "b.nvtxt is kept: 'nvtxt-send --resume %s' sends it" % spool)
        daemon.start()
        equal(run_client("nvtxt-send", "--socket", daemon.socket, "--resume", spool)[0], 0)
        equal((stored(daemon), os.listdir(spool)), ([1, 2], []))
        job.put("c.nvtxt", 3)
        equal(job.send(daemon, "--spool", spool), (3, "", ""))
        equal((stored(daemon), os.listdir(spool), job.left()), ([1, 1, 2, 2, 3], [], []))


def until_the_second_file(job, fake, runner):
    """The run and a.nvtxt are taken, and the first four lines of b.nvtxt. Returns the id of that."""
    with fake.accept(0) as peer:
        while peer.line() != "#nvtxt-end":
            pass
        peer.end(2)
    with fake.accept(0) as peer:
        equal(peer.lines(4)[2:], marks(1).splitlines() + ["#nvtxt-end"])
        peer.end(3)
    peer = fake.accept(0)
    equal(peer.lines(4)[2:], marks(2, 3).splitlines())
    peer.ack(4)
    return peer


def broken_off(number):
    with Fake() as fake, Job() as job:
        job.put("a.nvtxt", 1)
        job.put("b.nvtxt", *range(2, LAST))
        with job.running(fake.path, *PATIENT) as client:
            with until_the_second_file(job, fake, client) as peer:
                session = peer.hello["session"]
                client.signal(number)
                with contextlib.suppress(ConnectionResetError):
                    while (line := peer.line()) is not None:
                        equal(line == "#nvtxt-end", False)  # the session is not ended
                equal(client.wait(), -number if number == signal.SIGKILL else 3)
                if number != signal.SIGKILL:
                    contains(client.stderr(), "not all files in %s are sent" % os.path.join(job.tmp, job.left()[0]))
        path = os.path.join(job.tmp, job.left()[0])
        equal(sorted(os.listdir(path)), [".nvtxt-session", "b.nvtxt"])
        with Running("nvtxt-send", "--socket", fake.path, "--resume", path, env=job.env) as client:
            with fake.accept() as peer:
                equal(peer.hello["session"], session)
                equal("pid" in peer.hello, True)
                peer.welcome(4)
                equal(peer.lines(LAST - 3), marks(*range(4, LAST)).splitlines() + ["#nvtxt-end"])
                peer.end(LAST)
            client.expect(0)
        equal(job.left(), [])


def test_a_kill_in_the_midst_leaves_what_goes_on():
    broken_off(signal.SIGKILL)


def test_a_ctrl_c_in_the_midst_leaves_what_goes_on():
    broken_off(signal.SIGINT)


def test_a_daemon_that_dies_in_the_midst_leaves_what_goes_on():
    with Fake() as fake, Job() as job:
        job.put("a.nvtxt", 1)
        job.put("b.nvtxt", *range(2, LAST))
        with job.running(fake.path, "--timeout", "1") as client:
            with until_the_second_file(job, fake, client):
                fake.vanish()
            said = client.expect(3)
            contains(said, "giving up on the daemon")
            contains(said, "not all files in %s are sent" % os.path.join(job.tmp, job.left()[0]))
            equal("--session " in said, False, said)


def test_a_signal_after_the_command_s_end_leaves_the_folder():
    with Fake() as fake, Job() as job:
        job.put("a.nvtxt", 1)
        with job.running(fake.path) as client:
            with fake.accept(0) as peer:
                while peer.line() != "#nvtxt-end":
                    pass
                client.signal(signal.SIGTERM)
                said = client.expect(3)
            fake.listener.settimeout(0)
            try:
                raise AssertionError("it connected again: %r" % fake.listener.accept())
            except BlockingIOError:
                pass
            path = os.path.join(job.tmp, job.left()[0])
            contains(said, "not all files in %s are sent" % path)
            equal(sorted(os.listdir(path)), [".nvtxt-session", "a.nvtxt"])


def test_a_file_that_grows_meanwhile_stays():
    with Fake() as fake, Job() as job:
        job.put("a.nvtxt", 1)
        with job.running(fake.path, *PATIENT) as client:
            with fake.accept(0) as peer:
                while peer.line() != "#nvtxt-end":
                    pass
                peer.end(2)
            with fake.accept(0) as peer:
                equal(peer.lines(4)[-1], "#nvtxt-end")
                path = os.path.join(job.tmp, job.left()[0])
                with open(path + "/a.nvtxt", "a", encoding="utf-8") as file:
                    file.write(marks(2))
                peer.end(3)
            contains(client.expect(3), "not all files in %s are sent" % path)
            equal(sorted(os.listdir(path)), [".nvtxt-session", "a.nvtxt"])


def test_a_file_that_has_no_room_in_the_spool_stays():
    with Daemon(start=False) as daemon, Job() as job:
        job.write("files/a.nvtxt", HEADER + "# %s\n" % ("x" * 1000) * 6000)
        job.put("b.nvtxt", 1)
        status, _, said = job.send(daemon, "--spool", job.name("spool"), "--spool-limit", "4M")
        path = os.path.join(job.tmp, job.left()[0])
        equal((status, sorted(os.listdir(path))), (3, [".nvtxt-session", "a.nvtxt"]))
        contains(said, "not all files in %s are sent" % path)
        equal("a.nvtxt is kept" in said, False, said)
        daemon.start()
        equal(run_client("nvtxt-send", "--socket", daemon.socket, "--resume", job.name("spool"))[0], 0)
        equal(job.resume(daemon), (0, ""))
        equal([row[1] for row in sorted(sources(daemon, "name, lines"))], [6002, 3])


def test_a_run_that_is_repeated_and_broken_off_goes_on_under_its_name():
    with Daemon(start=False) as daemon, Job() as job:
        job.put("a.nvtxt", 1)
        equal(job.send(daemon, "--session", ID)[0], 3)
        daemon.start()
        equal(job.resume(daemon), (0, ""))
        equal(job.send(daemon, "--session", ID)[0], 3)
        equal(stored(daemon), [1])


def test_kills_double_nothing_and_lose_nothing():
    dice = random.Random(28)
    script = "trap '' INT; %s" % COPY[2].replace("exit 3", 'touch "$0.done"')
    with Daemon() as daemon, Job() as job:
        files, events, killed = 6, 4000, 0
        for number in range(30 if os.environ.get("NVTXT_TEST_LONG") else 5):
            first = number * files * events
            for file in range(files):
                job.put("%d.nvtxt" % file, *range(first + file * events, first + (file + 1) * events))
            with job.running(daemon.socket, "--range", "r", command=["sh", "-c", script, job.files]) as client:
                wait_for(lambda: os.path.exists(job.files + ".done"), "the command's end")
                with contextlib.suppress(subprocess.TimeoutExpired):
                    client.process.wait(dice.random() * 0.1)
                client.signal(dice.choice((signal.SIGKILL, signal.SIGINT)))
                client.wait()
            os.unlink(job.files + ".done")
            if job.left():
                killed += 1
                equal(job.resume(daemon), (0, ""))
            equal(job.left(), [])
            equal(daemon.query("SELECT count(*), count(DISTINCT start) FROM NVTX_EVENTS WHERE eventType = 34"),
                  [(first + files * events, first + files * events)])
        equal(killed > 0, True)


def test_a_kill_by_the_command_itself_leaves_what_can_be_sent():
    script = 'test -s "$%s/.nvtxt-session" && cp "$0"/* "$%s" && kill -KILL $PPID' % (VARIABLE, VARIABLE)
    with Daemon() as daemon, Job() as job:
        job.put("a.nvtxt", 1)
        equal(job.send(daemon, command=["sh", "-c", script, job.files])[0], -signal.SIGKILL)
        equal(job.resume(daemon), (0, ""))
        equal((stored(daemon), job.left()), ([1], []))


def test_a_folder_that_cannot_be_made_is_a_warning():
    with Daemon() as daemon, Job() as job:
        file = job.write("file", "")
        for words, tmp, told in ((["--session-folder", file + "/x"], job.tmp, file + "/x"),
                                 (["--session-folder", file], job.tmp, file),
                                 ([], job.name("none"), job.name("none") + "/nvtxt-traces-")):
            job.env["TMPDIR"] = tmp
            status, out, said = job.send(daemon, *words, command=["sh", "-c", 'echo "<$%s>"; exit 5' % VARIABLE])
            equal((status, out), (5, "<>\n"))
            equal(said.startswith("nvtxt-send: warning: " + told), True, said)
            contains(said, " cannot be the session folder: ")
            contains(said, "; the command runs without it\n")
        equal(len(daemon.query("SELECT 1 FROM NVTX_EVENTS WHERE eventType = 60")), 3)


def test_a_run_that_is_repeated_stores_its_files_once():
    with Daemon() as daemon, Job() as job:
        job.put("a.nvtxt", 1)
        for words in (["--session", ID], ["--session", ID], ["--session", ID, "--range", "r"]):
            equal(job.send(daemon, *words)[0::2], (3, ""))
        equal(stored(daemon), [1])
        equal(daemon.query("SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 60"), [(3,)])
        for _ in range(2):
            equal(job.send(daemon, "--session-name", "job 7")[0::2], (3, ""))
        equal(stored(daemon), [1, 1])
        path = job.put("a.nvtxt", 1)
        equal(run_client("nvtxt-send", "--socket", daemon.socket, "--session-name", ID + "/a.nvtxt", path)[0], 0)
        equal(stored(daemon), [1, 1])
        job.put("a.nvtxt", 1, 2)
        status, _, said = job.send(daemon, "--session", ID)
        equal(status, 3)
        contains(said, "a.nvtxt has 4 lines, but its session ended with 3 lines")
        path = os.path.join(job.tmp, job.left()[0])
        contains(said, "not all files in %s are sent: 'nvtxt-send --resume" % path)
        equal(job.resume(daemon)[0], 65)
        equal(stored(daemon), [1, 1])


def test_it_goes_with_ranges_steps_and_nvtx():
    with Daemon() as daemon, Job() as job:
        for number, words in enumerate((["--range", "r"], ["--steps"], ["--nvtx"], ["--nvtx", "--record-output"],
                                        ["--text"], ["--on-full=drop"], ["-q"], ["--name", "n"])):
            job.put("a.nvtxt", number)
            equal(job.send(daemon, *words)[0::2], (3, ""), words)
            equal((stored(daemon), job.left()), (list(range(number + 1)), []), words)


def test_a_file_that_is_a_log_is_not_sent_and_the_others_are():
    with Daemon() as daemon, Job() as job:
        job.write("files/a.nvtxt", "one\ntwo words\n")
        job.put("b.nvtxt", 1)
        status, _, said = job.send(daemon)
        path = os.path.join(job.tmp, job.left()[0])
        equal((status, stored(daemon), sorted(os.listdir(path))), (3, [1], [".nvtxt-session", "a.nvtxt"]))
        contains(said, "%s/a.nvtxt: no line of its beginning is NVTXT" % path)


def test_a_command_that_does_not_exist_leaves_no_folder():
    with Daemon() as daemon, Job() as job:
        equal(job.send(daemon, command=[job.name("none")])[0], 127)
        equal(job.left(), [])


def test_bad_usage_is_status_64():
    for words, told in ((["--session-folder", "x"], "--session-folder is followed by '--' and a command"),
                        (["--session-folder", "", "--", "true"], "--session-folder takes a folder"),
                        (["--session-folder", "x", "--resume", "y"], "no option that describes a new session"),
                        (["--session-folder", "x", "--nvtx", "--print"], "it prints variables"),
                        (["--session", ID, "--spool", "s", "--", "true"], "--session does not go with --spool")):
        status, out, said = run_client("nvtxt-send", *words)
        equal((status, out), (64, ""), words)
        contains(said, told)


if __name__ == "__main__":
    run(globals())
