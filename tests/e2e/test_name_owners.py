# SPDX-License-Identifier: Apache-2.0
"""Names are the owner's: what another user says of a process, its threads and categories has no
effect, over rotation and restart, until the kernel says that the process is another's now."""
import os
import socket

import lib

FIRST, SECOND = 65534, 65533
HEADER = "TimeBase = Manual\n@Marker, Time, ProcessId, ThreadId, CategoryId, Message\n"
USED = HEADER + "Marker, 1, 700, 701, 5, m\n"
NAMES = ("@SetThreadName, ProcessId, ThreadId, Name\n@SetProcessName, ProcessId, Name\n"
         "ProcessId = 700\nSetProcessName, 700, {0}\nSetThreadName, 700, 701, {0}\n"
         "SetCategoryName, 5, {0}\n")
SHOWN = "SELECT process, thread, category FROM NVTXT_TIMELINE WHERE pid = 700 AND message = 'm'"


def send(path, uid, text, keep=False):
    """Sends it as that user from a process of its own. Returns its pid, and what ends it when it is
    to stay connected, once all was taken."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            ours.close()
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(path)
                connection.sendall(text.replace("{pid}", str(os.getpid())).encode())
                theirs.sendall(b".")
                if keep:
                    theirs.recv(1)
            status = 0
        finally:
            os._exit(status)
    theirs.close()
    lib.equal(ours.recv(1), b".", "the lines are sent")
    if keep:
        return child, ours
    ours.close()
    lib.equal(os.waitpid(child, 0)[1], 0, "exit status of a user's process")
    return child, None


def end(child, pipe):
    pipe.close()
    lib.equal(os.waitpid(child, 0)[1], 0)


class Shared(lib.Daemon):
    def __init__(self, config=""):
        if os.getuid() != 0:
            raise lib.Skip("only root can be others")
        super().__init__(config="SocketMode=0666\n" + config)
        os.chmod(self.folder, 0o755)

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


def test_only_the_first_user_of_a_process_names_it():
    with Shared() as daemon:
        send(daemon.socket, FIRST, USED)
        daemon.ended(1)
        send(daemon.socket, SECOND, NAMES.format("hostile") + HEADER + "Marker, 2, 900, 900, 5, o\n")
        daemon.ended(2)
        lib.equal(daemon.query(SHOWN), [("Process 700", "Thread 701", 5)])
        lib.equal(daemon.query("SELECT severity, stage, line FROM NVTXT_DIAGNOSTICS "
                               "WHERE code = 'foreign-name' ORDER BY line"),
                  [("warning", "loading", line) for line in (4, 5, 6)])
        lib.equal(daemon.query("SELECT count(*) FROM NVTX_EVENTS WHERE eventType IN (33, 39)"),
                  [(0,)])
        send(daemon.socket, FIRST, NAMES.format("own"))
        daemon.ended(3)
        lib.equal(daemon.query(SHOWN), [("own", "own", "own")])
        send(daemon.socket, 0, NAMES.format("administrator"))
        daemon.ended(4)
        lib.equal(daemon.query(SHOWN), [("administrator",) * 3])


def test_who_names_first_owns_and_a_category_that_waited_too():
    with Shared() as daemon:
        send(daemon.socket, FIRST, NAMES.format("own"))
        daemon.ended(1)
        # No ProcessId: the category is that of its first event, which is of another's process.
        send(daemon.socket, SECOND, "SetCategoryName, 5, hostile\n" + USED)
        daemon.ended(2)
        lib.equal(daemon.query(SHOWN), [("own", "own", "own")])
        lib.equal(warned(daemon), [4])


def test_resources_and_counters_belong_to_the_first_user_too():
    said = ('#nvtxt-session {"protocol":1,"nvtx":1,"session":"3f0d8c52-6a44-4f0f-9c1e-5d2f0b7a9e3%d"}\n'
            "ProcessId = 700\nSetResourceName, cuStream, 1, %s\n"
            "@SetCounter, Name, Json\nSetCounter, c, '\"%s\"'\n#nvtxt-end\n")
    shown = "SELECT r.name, c.json FROM NVTXT_RESOURCES r, NVTXT_COUNTERS c"
    with Shared() as daemon:
        send(daemon.socket, FIRST, said % (0, "own", "own"))
        daemon.ended(1)
        send(daemon.socket, SECOND, said % (1, "hostile", "hostile"))
        daemon.ended(2)
        lib.equal(daemon.query(shown), [("own", '"own"')])
        lib.equal(warned(daemon), [2, 4])
        daemon.control("rotate")
        send(daemon.socket, SECOND, said % (2, "hostile", "hostile"))
        daemon.ended(3)
        lib.equal(daemon.query(shown), [("own", '"own"')])


def test_owners_are_known_after_rotation_and_restart():
    with Shared() as daemon:
        send(daemon.socket, FIRST, USED + NAMES.format("own"))
        daemon.ended(1)
        daemon.control("rotate")
        send(daemon.socket, SECOND, USED + NAMES.format("hostile"))
        daemon.ended(2)
        lib.equal(daemon.query(SHOWN), [("own", "own", "own")])
        daemon.stop()
        daemon.start()
        send(daemon.socket, SECOND, USED + NAMES.format("hostile"))
        daemon.ended(3)
        lib.equal(daemon.query(SHOWN), [("own", "own", "own")] * 2)
        lib.equal(daemon.query("SELECT uid FROM NVTXT_OWNERS WHERE pid = 700"), [(FIRST,)])


OWN = HEADER + "Marker, 3, {pid}, {pid}, 5, mine\n"


def test_a_process_that_has_the_number_takes_it_over():
    with Shared() as daemon:
        ours, theirs = socket.socketpair()
        child = os.fork()  # its number is known before it connects
        if child == 0:
            status = 1
            try:
                ours.close()
                os.setgroups([])
                os.setgid(SECOND)
                os.setuid(SECOND)
                theirs.recv(1)
                with socket.socket(socket.AF_UNIX) as connection:
                    connection.connect(daemon.socket)
                    connection.sendall(OWN.replace("{pid}", str(os.getpid())).encode())
                status = 0
            finally:
                os._exit(status)
        theirs.close()
        forged = NAMES.format("forged").replace("700", str(child)).replace("701", str(child))
        squatter, pipe = send(daemon.socket, FIRST,
                              OWN.replace("{pid}", str(child)) + forged, keep=True)
        lib.wait_for(lambda: daemon.query("SELECT count(*) FROM PROCESSES WHERE name = 'forged'")
                     == [(1,)], "it is named")
        ours.sendall(b".")
        lib.equal(os.waitpid(child, 0)[1], 0)
        daemon.ended(1)
        shown = daemon.query("SELECT DISTINCT process, thread, category FROM NVTXT_TIMELINE "
                             "WHERE pid = ?", child)
        assert "forged" not in str(shown), shown
        lib.equal([row[1] for row in shown], ["Thread %d" % child])
        lib.equal(daemon.query("SELECT uid FROM NVTXT_OWNERS WHERE pid = ?", child), [(SECOND,)])
        lib.equal(daemon.control("verify")["problems"], [])
        end(squatter, pipe)


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
