# SPDX-License-Identifier: Apache-2.0
"""Names are the owner's: a process that is alive is its user's, by the word of the kernel; one that
is gone is of the user for whom it was proven, or who used it first, until another user uses it, too:
then it has no name. So a name may be lost, never forged, over rotation and restart."""
import os
import socket
import sqlite3
import subprocess

import lib

FIRST, SECOND = 65534, 65533
GONE = 5000700  # larger than any number of a process
HEADER = "TimeBase = Manual\n@Marker, Time, ProcessId, ThreadId, CategoryId, Message\n"
USED = HEADER + "Marker, 1, 5000700, 701, 5, m\n"
NAMES = ("@SetThreadName, ProcessId, ThreadId, Name\n@SetProcessName, ProcessId, Name\n"
         "ProcessId = 5000700\nSetProcessName, 5000700, {0}\nSetThreadName, 5000700, 701, {0}\n"
         "SetCategoryName, 5, {0}\n")
SHOWN = "SELECT process, thread, category FROM NVTXT_TIMELINE WHERE pid = 5000700 AND message = 'm'"
NEUTRAL = ("Process 5000700", "Thread 701", "[Unknown]")


def become(uid):
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def send(path, uid, text):
    """Sends it as that user from a process of its own."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            become(uid)
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(path)
                connection.sendall(text.replace("{pid}", str(os.getpid())).encode())
            status = 0
        finally:
            os._exit(status)
    lib.equal(os.waitpid(child, 0)[1], 0, "exit status of a user's process")


class Shared(lib.Daemon):
    def __init__(self, config="", start=True):
        if os.getuid() != 0:
            raise lib.Skip("only root can be others")
        super().__init__(config="SocketMode=0666\n" + config, start=False)
        os.chmod(self.folder, 0o755)
        if start:
            self.start()

    def ended(self, count):
        """All of so many sources is in the store."""
        lib.wait_for(lambda: self.everywhere("SELECT count(DISTINCT id) FROM NVTXT_SOURCES "
                                             "WHERE closedNs IS NOT NULL AND ended <> 'rotated'")
                     and sum(row[0] for row in self.everywhere(
                         "SELECT count(*) FROM NVTXT_SOURCES WHERE closedNs IS NOT NULL AND "
                         "ended <> 'rotated'")) >= count, "%d sources have ended" % count)


def warned(daemon):
    return [row[0] for row in daemon.everywhere(
        "SELECT line FROM NVTXT_DIAGNOSTICS WHERE code = 'foreign-name' ORDER BY rowid")]


def said(daemon):
    return [row[0] for row in daemon.everywhere(
        "SELECT message FROM NVTXT_DIAGNOSTICS WHERE code = 'foreign-name' ORDER BY rowid")]


def owner(daemon, pid=GONE):
    return daemon.query("SELECT uid, proven FROM NVTXT_OWNERS WHERE pid = ?", pid)


def nvtxt_send(uid, daemon, *words):
    """Runs it as a user; (exit status, what it said). Our folder for temporary files may not be theirs."""
    try:
        done = subprocess.run([os.path.abspath(lib.program("client", "nvtxt-send")), "--socket",
                               daemon.socket, *words], stdin=subprocess.DEVNULL, text=True, cwd="/",
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=lib.DEADLINE,
                              env={**os.environ, "TMPDIR": "/tmp"}, check=False,
                              preexec_fn=lambda: become(uid))
    except PermissionError as error:
        raise lib.Skip("another user cannot run what was built here") from error
    return done.returncode, done.stdout + done.stderr


class Waiting:
    """A process of a user that does nothing until it is told to end."""

    def __init__(self, uid):
        self.ours, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                self.ours.close()
                become(uid)
                theirs.sendall(b".")
                theirs.recv(1)
            finally:
                os._exit(0)
        theirs.close()
        lib.equal(self.ours.recv(1), b".", "it is the user's")

    def end(self):
        """It is a zombie then."""
        self.ours.close()
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)

    def reap(self):
        self.ours.close()
        lib.equal(os.waitpid(self.pid, 0)[1], 0)


class Hello:
    """A session of a user, from a process of its own; each piece of lines is acknowledged."""

    def __init__(self, daemon, uid):
        self.pipe, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                self.pipe.close()
                become(uid)
                with socket.socket(socket.AF_UNIX) as data:
                    data.connect(daemon.socket)
                    socket.send_fds(theirs, [b"."], [data.fileno()])
                theirs.recv(1)
            finally:
                os._exit(0)
        theirs.close()
        _, fds, _, _ = socket.recv_fds(self.pipe, 1, 1)
        self.data = socket.socket(fileno=fds[0])
        self.data.settimeout(lib.DEADLINE)

    def begin(self):
        self.replies = self.data.makefile("r", encoding="utf-8")
        self.data.sendall(b'#nvtxt-session {"protocol":1,"diagnostics":false,'
                          b'"session":"3f0d8c52-6a44-4f0f-9c1e-5d2f0b7a9e50"}\n')
        self.line = int(self.replies.readline().split('"line":')[1].split(",")[0])
        return self

    def lines(self, text):
        self.line += text.count("\n")
        self.data.sendall(text.encode())
        reply = ""
        while '"line":%d' % self.line not in reply:
            reply = self.replies.readline()
            assert reply, "the daemon closed the connection before line %d" % self.line

    def end_process(self):
        self.pipe.close()
        lib.equal(os.waitpid(self.pid, 0)[1], 0)

    def close(self):
        if self.pipe.fileno() >= 0:
            self.end_process()
        self.data.close()


def about(text, pid):
    return text.replace(str(GONE), str(pid))


# ---- Processes that nobody proved ----------------------------------------------------------------

def test_only_the_first_user_of_a_process_names_it():
    with Shared() as daemon:
        send(daemon.socket, FIRST, USED)
        daemon.ended(1)
        send(daemon.socket, SECOND, NAMES.format("hostile") + HEADER + "Marker, 2, 5000900, 900, 5, o\n")
        daemon.ended(2)
        lib.equal(daemon.query(SHOWN), [("Process 5000700", "Thread 701", 5)])
        lib.equal(daemon.query("SELECT severity, stage, line, message FROM NVTXT_DIAGNOSTICS "
                               "WHERE code = 'foreign-name'"),
                  [("warning", "loading", 4, "process 5000700 was used or named by another user "
                    "first: this user may not name it, its threads and its categories")])
        lib.equal(daemon.query("SELECT count(*) FROM NVTX_EVENTS WHERE eventType IN (33, 39)"),
                  [(0,)])
        send(daemon.socket, FIRST, NAMES.format("own"))
        daemon.ended(3)
        lib.equal(daemon.query(SHOWN), [("own", "own", "own")])
        # Root changes what it names, and takes nothing away.
        send(daemon.socket, 0, "@SetProcessName, ProcessId, Name\nSetProcessName, 5000700, administrator\n")
        daemon.ended(4)
        lib.equal(daemon.query(SHOWN), [("administrator", "own", "own")])
        lib.equal(owner(daemon), [(FIRST, 0)])
        send(daemon.socket, FIRST, NAMES.format("again"))
        daemon.ended(5)
        lib.equal(daemon.query(SHOWN), [("again",) * 3])
        send(daemon.socket, 0, NAMES.format("administrator"))
        daemon.ended(6)
        lib.equal(daemon.query(SHOWN), [("administrator",) * 3])


def test_a_process_that_two_users_use_has_no_name():
    with Shared() as daemon:
        send(daemon.socket, FIRST, USED + NAMES.format("own"))
        daemon.ended(1)
        send(daemon.socket, SECOND, NAMES.format("hostile") + USED + NAMES.format("hostile"))
        daemon.ended(2)
        lib.equal(daemon.query(SHOWN), [NEUTRAL] * 2)
        lib.equal(warned(daemon), [4])
        lib.equal(owner(daemon), [(-1, 0)])
        send(daemon.socket, FIRST, USED + NAMES.format("own"))
        daemon.ended(3)
        lib.equal(daemon.query(SHOWN), [NEUTRAL] * 3)
        lib.equal(said(daemon)[1:], ["process 5000700 was used by two users, and neither can prove "
                                     "now that it is theirs: it has no name"])
        send(daemon.socket, 0, NAMES.format("administrator"))
        daemon.ended(4)
        lib.equal(daemon.query(SHOWN), [("administrator",) * 3] * 3)
        lib.equal(daemon.control("verify")["problems"], [])


def test_who_only_uses_it_hears_once_that_it_has_no_name():
    uses = ("Marker, 2, 5000700, 701, 5, m\nMarker, 3, 5000700, 701, 5, m\n",
            "@RangePush, Time, ProcessId, Message\nRangePush, 1, 5000700, m\n")
    for number, use in enumerate(uses):
        with Shared() as daemon:
            send(daemon.socket, FIRST, NAMES.format("own"))
            daemon.ended(1)
            send(daemon.socket, SECOND, HEADER + use)
            daemon.ended(2)
            lib.equal({row[0] for row in daemon.query(SHOWN)}, {"Process 5000700"})
            lib.equal(warned(daemon), [3 + number])


def test_a_category_that_waited_is_not_given_to_another():
    with Shared() as daemon:
        send(daemon.socket, FIRST, NAMES.format("own"))
        daemon.ended(1)
        # No ProcessId: the category is that of its first event, which is of another's process.
        send(daemon.socket, SECOND, "SetCategoryName, 5, hostile\n" + USED)
        daemon.ended(2)
        lib.equal(daemon.query(SHOWN), [NEUTRAL])
        lib.equal(warned(daemon), [4])


def test_resources_and_counters_belong_to_the_first_user_too():
    lines = ('#nvtxt-session {"protocol":1,"nvtx":1,"session":"3f0d8c52-6a44-4f0f-9c1e-5d2f0b7a9e3%d"}\n'
             "ProcessId = 5000700\nSetResourceName, cuStream, 1, %s\n"
             "@SetCounter, Name, Json\nSetCounter, c, '\"%s\"'\n#nvtxt-end\n")
    shown = "SELECT r.name, c.json FROM NVTXT_RESOURCES r, NVTXT_COUNTERS c"
    with Shared() as daemon:
        send(daemon.socket, FIRST, lines % (0, "own", "own"))
        daemon.ended(1)
        send(daemon.socket, SECOND, lines % (1, "hostile", "hostile"))
        daemon.ended(2)
        lib.equal(daemon.query(shown), [("own", '"own"')])
        lib.equal(warned(daemon), [2])
        daemon.control("rotate")
        send(daemon.socket, SECOND, lines % (2, "hostile", "hostile"))
        daemon.ended(3)
        lib.equal(daemon.query(shown), [("own", '"own"')])


def test_owners_are_known_after_rotation_and_restart():
    with Shared() as daemon:
        send(daemon.socket, FIRST, USED + NAMES.format("own"))
        daemon.ended(1)
        daemon.control("rotate")
        send(daemon.socket, SECOND, NAMES.format("hostile") + HEADER + "Marker, 2, 5000900, 900, 5, o\n")
        daemon.ended(2)
        send(daemon.socket, FIRST, USED)
        daemon.ended(3)
        lib.equal(daemon.query(SHOWN), [("own", "own", "own")])
        daemon.stop()
        daemon.start()
        send(daemon.socket, SECOND, NAMES.format("hostile"))
        daemon.ended(4)
        lib.equal(daemon.query(SHOWN), [("own", "own", "own")])
        lib.equal(owner(daemon), [(FIRST, 0)])
        send(daemon.socket, SECOND, USED)
        daemon.ended(5)
        for number in range(2):
            lib.equal(daemon.query(SHOWN)[-1], NEUTRAL)
            daemon.control("rotate")
            daemon.stop()
            daemon.start()
            for uid in (FIRST, SECOND):
                send(daemon.socket, uid, NAMES.format("forged") + USED + NAMES.format("forged"))
            daemon.ended(7 + 2 * number)
        lib.equal(daemon.query(SHOWN), [NEUTRAL] * 2)


def test_names_of_the_same_batch_are_not_forged_either():
    with Shared("CommitInterval=10s\n") as daemon:
        send(daemon.socket, FIRST, USED + NAMES.format("forged"))
        send(daemon.socket, SECOND, USED)
        daemon.settled()
        lib.equal(daemon.query(SHOWN), [("Process 5000700", "Thread 701", 5)] * 2)
        lib.equal(daemon.query("SELECT count(*) FROM NVTX_EVENTS WHERE eventType IN (33, 39)"), [(0,)])


def test_a_name_that_waits_for_an_event_is_looked_at_again():
    with Shared() as daemon:
        first = Hello(daemon, FIRST).begin()
        first.lines("@SetThreadName, ProcessId, ThreadId, Name\nSetThreadName, 5000700, 701, forged\n"
                    "ProcessId = 5000700\nSetCategoryName, 5, forged\n")
        send(daemon.socket, SECOND, USED)
        daemon.ended(1)
        daemon.stop()
        first.close()
        daemon.start()
        first = Hello(daemon, FIRST).begin()
        first.lines(HEADER + "Marker, 5, 5000900, 1, 1, other\n")
        daemon.stop()
        first.close()
        daemon.start()
        first = Hello(daemon, FIRST).begin()  # it heard that it may not, once
        first.lines("SetThreadName, 5000700, 701, forged\n")
        first.close()
        lib.equal(daemon.query(SHOWN), [("Process 5000700", "Thread 701", 5)])
        lib.equal(len(warned(daemon)), 2)


def test_the_names_of_a_process_are_found_beside_any_number_of_others():
    with Shared() as daemon:
        for kind, bits in ((2, 24), (3, 32), (39, 24)):
            plan = daemon.query("EXPLAIN QUERY PLAN SELECT row FROM NVTXT_NAME_ROWS WHERE kind = %d %s AND key "
                                "BETWEEN 7 << %d AND (8 << %d) - 1" % (kind, "" if kind == 3 else "AND domainId = 0",
                                                                       bits, bits))
            assert "key>? AND key<?" in plan[0][3], plan


# ---- Processes that are alive --------------------------------------------------------------------

def test_a_living_process_is_its_users_whoever_named_it():
    for zombie in (False, True):
        with Shared() as daemon:
            process = Waiting(SECOND)
            shown = about(SHOWN, process.pid)
            if zombie:
                process.end()
            send(daemon.socket, FIRST, about(NAMES.format("forged") + USED, process.pid))
            daemon.ended(1)
            lib.equal(daemon.query(shown), [("Process %d" % process.pid, "Thread 701", 5)])
            lib.equal(said(daemon), ["process %d is another user's, as the kernel says: only its user "
                                     "may name it, its threads and its categories" % process.pid])
            lib.equal(owner(daemon, process.pid), [(SECOND, 1)])
            send(daemon.socket, SECOND, about(NAMES.format("own"), process.pid))
            daemon.ended(2)
            lib.equal(daemon.query(shown), [("own",) * 3])
            process.reap()
            daemon.control("rotate")
            daemon.stop()
            daemon.start()
            # What was proven stays so, whoever names it.
            send(daemon.socket, FIRST, about(NAMES.format("forged"), process.pid))
            send(daemon.socket, SECOND, about(USED, process.pid))
            daemon.ended(4)
            lib.equal(daemon.query(shown), [("own",) * 3])
            lib.equal(owner(daemon, process.pid), [(SECOND, 1)])
            lib.equal(said(daemon)[1:], ["process %d was another user's, as the kernel said: this user may "
                                         "not name it, its threads and its categories" % process.pid])


def prove_and_end(daemon):
    """A process of the second user, with a name, that is gone."""
    process = Waiting(SECOND)
    send(daemon.socket, SECOND, about(USED + NAMES.format("forged"), process.pid))
    daemon.ended(1)
    lib.equal(owner(daemon, process.pid), [(SECOND, 1)])
    process.reap()
    return process.pid


def test_a_number_that_was_proven_gives_no_name_to_anothers_events():
    uses = ("Marker, 2, 5000700, 701, 5, m\nMarker, 3, 5000700, 701, 5, m\n",
            "@RangePush, Time, ProcessId, Message\nRangePush, 1, 5000700, m\n")
    for number, use in enumerate(uses):
        with Shared() as daemon:
            pid = prove_and_end(daemon)
            send(daemon.socket, FIRST, about(HEADER + use, pid))
            daemon.ended(2)
            lib.equal(warned(daemon), [3 + number])
            lib.equal(said(daemon), ["process %d was used by two users, and neither can prove now that it is "
                                     "theirs: it has no name" % pid])
            for step in range(3):
                has_no_name(daemon, pid)
                if step == 0:
                    daemon.control("rotate")
                daemon.stop()
                daemon.start()
                for uid in (FIRST, SECOND):
                    send(daemon.socket, uid, about(NAMES.format("forged") + USED, pid))
                daemon.ended(4 + 2 * step)
            has_no_name(daemon, pid)


def has_no_name(daemon, pid):
    lib.equal(daemon.query("SELECT DISTINCT process, 'forged' IN (process, thread, ifnull(category, 0)) FROM "
                           "NVTXT_TIMELINE WHERE pid = ?", pid), [("Process %d" % pid, 0)])
    lib.equal(owner(daemon, pid), [(-1, 0)])


def test_what_nobody_could_prove_is_of_who_proves_it_alive():
    with Shared() as daemon:
        process = Waiting(SECOND)
        send(daemon.socket, SECOND, about(USED, process.pid))
        daemon.ended(1)
        daemon.stop()
        with sqlite3.connect(daemon.store) as store:
            store.execute("UPDATE NVTXT_OWNERS SET uid = -1, proven = 0 WHERE pid = ?", (process.pid,))
        store.close()
        daemon.start()
        send(daemon.socket, SECOND, about(NAMES.format("own"), process.pid))
        daemon.ended(2)
        lib.equal(daemon.query(about(SHOWN, process.pid)), [("own",) * 3])
        lib.equal(owner(daemon, process.pid), [(SECOND, 1)])
        process.reap()


def test_what_was_named_ahead_is_looked_at_again_when_it_is_used():
    with Shared() as daemon:
        for _ in range(10):  # others take numbers, too
            first, last = Hello(daemon, FIRST).begin(), Waiting(FIRST)
            last.reap()
            numbers = range(last.pid + 1, last.pid + 3000)
            first.lines("@SetProcessName, ProcessId, Name\n" +
                        "".join("SetProcessName, %d, ahead\n" % number for number in numbers))
            alive, gone = Waiting(SECOND), Waiting(SECOND)
            if alive.pid in numbers and gone.pid in numbers:
                break
            alive.reap()
            gone.reap()
            first.close()
        for process in (alive, gone):
            send(daemon.socket, SECOND, about(NAMES.format("forged") + USED, process.pid))
        daemon.ended(2)
        gone.reap()
        for process in (alive, gone):
            first.lines(about(USED, process.pid))
        lib.equal(set(daemon.query(about(SHOWN, alive.pid))), {("forged",) * 3})
        lib.equal(owner(daemon, alive.pid), [(SECOND, 1)])
        has_no_name(daemon, gone.pid)
        alive.reap()
        first.close()


def squat(daemon, count):
    """The first user names every number that a process may get next."""
    with open("/proc/sys/kernel/pid_max", encoding="ascii") as file:
        end = int(file.read())
    process = Waiting(FIRST)
    process.reap()
    numbers = {300 + (process.pid + i - 300) % (end - 300) for i in range(count)}
    send(daemon.socket, FIRST, "@SetProcessName, ProcessId, Name\n" +
         "".join("SetProcessName, %d, forged\n" % number for number in sorted(numbers)))
    daemon.ended(1)


def test_numbers_that_were_named_ahead_are_their_users_when_they_come():
    with Shared() as daemon:
        squat(daemon, 60000)
        forged, = daemon.query("SELECT count(*) FROM PROCESSES WHERE name = 'forged'")[0]
        assert forged > 10000, forged
        for words in (["--", "true"], ["--range", "r", "--", "sh", "-c", "exit 0"], ["--steps", "--", "true"]):
            lib.equal(nvtxt_send(SECOND, daemon, *words), (0, ""))
        second = Hello(daemon, SECOND)
        second.end_process()  # the kernel has named it
        second.data.sendall(about(USED, second.pid).encode())
        second.close()
        daemon.ended(5)
        lib.equal(owner(daemon, second.pid), [(SECOND, 1)])
        shown = [row[0] for row in daemon.query("SELECT process FROM NVTXT_TIMELINE ORDER BY eventRow")]
        lib.equal(shown[:3], ["true", "sh", "true"])
        assert "forged" not in shown, shown
        lib.equal(daemon.query("SELECT message FROM NVTXT_DIAGNOSTICS d JOIN NVTXT_SOURCES s ON s.id = "
                               "d.sourceId WHERE s.peerUid = ?", SECOND), [])
        lib.equal(daemon.control("verify")["problems"], [])


def test_an_old_connection_of_a_number_is_no_proof():
    with Shared() as daemon:
        lib.wait_for(lambda: daemon.control("status")["connections"] == 0, "the probe is gone")
        first = Hello(daemon, FIRST)  # it says nothing, and its number is used by another then
        lib.wait_for(lambda: daemon.control("status")["connections"] == 1, "it is accepted")
        first.end_process()
        send(daemon.socket, SECOND, about(USED + NAMES.format("own"), first.pid))
        daemon.ended(1)
        lib.equal(owner(daemon, first.pid), [(SECOND, 0)])
        first.data.sendall(about(NAMES.format("forged") + HEADER, first.pid).encode())
        first.close()
        daemon.ended(2)
        lib.equal(daemon.query(about(SHOWN, first.pid)), [("own",) * 3])


# ---- Claim=peer ----------------------------------------------------------------------------------

def refused(daemon):
    return [row[0].split(": ")[1] for row in daemon.everywhere(
        "SELECT message FROM NVTXT_DIAGNOSTICS WHERE code = 'foreign-process'")]


def test_with_a_claim_commands_steps_and_spools_lose_nothing():
    with Shared("Claim=peer\n", start=False) as daemon:
        folder = os.path.join(daemon.folder, "spool")
        makefile = os.path.join(daemon.folder, "Makefile")
        os.mkdir(folder)
        os.chown(folder, SECOND, SECOND)
        with open(makefile, "w", encoding="ascii") as file:
            file.write("all: a b\na b:\n\t@true $@\n")
        lib.equal(nvtxt_send(SECOND, daemon, "--spool", folder, "--wait=0", "--", "sh", "-c",
                             "echo spooled")[0], 0)
        daemon.start()
        for _ in range(10):
            lib.equal(nvtxt_send(SECOND, daemon, "--", "echo", "short"), (0, "short\n"))
        lib.equal(nvtxt_send(SECOND, daemon, "--steps", "--", "env", "-u", "MAKEFLAGS", "-u", "MAKELEVEL", "make",
                             "-f", makefile), (0, ""))
        lib.equal(nvtxt_send(SECOND, daemon, "--resume", folder), (0, ""))
        daemon.settled()
        lib.equal(daemon.query("SELECT text, count(*) FROM NVTX_EVENTS WHERE eventType = 34 GROUP BY 1 "
                               "ORDER BY 1"), [("short", 10), ("spooled", 1)])
        lib.equal([row[0] for row in daemon.query("SELECT text FROM NVTX_EVENTS WHERE eventType = 60 AND "
                                                  "text <> 'echo short' ORDER BY text")],
                  ["env -u MAKEFLAGS -u MAKELEVEL make -f " + makefile, "sh -c echo spooled", "true a", "true b"])
        lib.equal(daemon.query("SELECT count(*) FROM NVTXT_DIAGNOSTICS"), [(0,)])


GROWN = """
import os, socket, sys
r, w = os.pipe()
child = os.fork()
if child == 0:
    grandchild = os.fork()
    if grandchild:
        os.write(w, b"%d" % grandchild)
    os.read(0, 1)
    os._exit(0)
grandchild = int(os.read(r, 100))
pids = os.getpid(), child, grandchild, os.getppid(), 5000700, int(sys.argv[2])
with socket.socket(socket.AF_UNIX) as data:
    data.connect(sys.argv[1])
    data.sendall(sys.argv[3].encode() + b"".join(b"Marker, 1, %d, 1, 1, %d\\n" % (pid, pid) for pid in pids))
    data.shutdown(socket.SHUT_WR)
    data.recv(1)
print(*pids[:3], flush=True)
"""


def test_with_a_claim_a_living_process_must_be_a_descendant():
    with Shared("Claim=peer\n") as daemon:
        process = Waiting(FIRST)
        grown = subprocess.Popen(["python3", "-c", GROWN, daemon.socket, str(process.pid), HEADER], cwd="/",
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 preexec_fn=lambda: become(SECOND))
        own = grown.stdout.readline().decode().split()
        grown.communicate()
        daemon.ended(1)
        lib.equal([row[0] for row in daemon.query("SELECT text FROM NVTX_EVENTS WHERE eventType = 34 "
                                                  "ORDER BY rowid")], own + ["5000700"])
        lib.equal(refused(daemon), ["it is alive, and the sender has not started it"] * 2)
        process.reap()


def test_with_a_claim_what_was_proven_anothers_is_refused_later_too():
    with Shared("Claim=peer\n") as daemon:
        first = Hello(daemon, FIRST).begin()
        used = about(USED, first.pid)
        first.lines(used)
        lib.equal(owner(daemon, first.pid), [(FIRST, 1)])
        first.close()
        for step in range(3):
            if step == 1:
                daemon.control("rotate")
            if step == 2:
                daemon.stop()
                daemon.start()
            send(daemon.socket, SECOND, used)
            daemon.ended(1 + 2 * step)
            send(daemon.socket, FIRST, used)
            daemon.ended(2 + 2 * step)
        lib.equal(refused(daemon), ["it was another user's"] * 3)
        lib.equal(len(daemon.everywhere(about(SHOWN, first.pid))), 4)


def one_line(path):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        connection.sendall(b"#\n")


def test_names_and_sources_count_for_the_rate():
    with Shared("MaxEventsPerSecond=10\n") as daemon:  # slower than any machine connects
        names = "".join("SetCategoryName, %d, n\n" % number for number in range(200))
        send(daemon.socket, FIRST, USED + names)
        lib.wait_for(lambda: daemon.control("status")["pauses"] > 0, "it is paused")
        before = daemon.control("status")["pauses"]
        for _ in range(300):  # of another user, root: none of them has an event
            one_line(daemon.socket)
        lib.wait_for(lambda: daemon.control("status")["pauses"] > before,
                     "sources are paused")


lib.run(globals())
