# SPDX-License-Identifier: Apache-2.0
"""Two real users without any privilege: what is one's is not the other's, nor root's to send. As root
only, who can become both."""
import os
import shutil
import socket
import subprocess
import sys
import tempfile

import lib

if os.getuid() != 0:
    print("root is needed, to become two other users")
    sys.exit(77)

ONE, OTHER = 65534, 65533
HEADER = "TimeBase = Manual\n@Marker, Time, Message\n"
CONFIG = "SocketMode=0666\n"


class Shared(lib.Daemon):
    """A daemon whose data socket everybody may use."""

    def __init__(self, config="", start=True):
        super().__init__(config=CONFIG + config, start=False)
        os.chmod(self.folder, 0o755)
        if start:
            self.start()


def as_user(uid, *words, stdin="", groups=()):
    """Runs a program of ours as a user; (exit status, what it said)."""
    def drop():
        os.setgroups(groups)
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    try:
        done = subprocess.run([os.path.abspath(lib.program("client", words[0])), *words[1:]], input=stdin, text=True, cwd="/",
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=lib.DEADLINE,
                              check=False, preexec_fn=drop)
    except PermissionError as error:
        raise lib.Skip("another user cannot run what was built here") from error
    return done.returncode, done.stdout + done.stderr


def connect_as(uid, daemon):
    """A connection of that user: the kernel tells the daemon who connected, whoever uses it then."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        try:
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            data = socket.socket(socket.AF_UNIX)
            data.connect(daemon.socket)
            socket.send_fds(theirs, [b"x"], [data.fileno()])
            os._exit(0)
        finally:
            os._exit(1)
    theirs.close()
    _, fds, _, _ = socket.recv_fds(ours, 1, 1)
    lib.equal(os.waitpid(child, 0)[1], 0)
    ours.close()
    return socket.socket(fileno=fds[0])


def ask(uid, daemon, session, lines="", more=""):
    """Says hello as that user; the replies until there is an ack of all lines, an end or an error."""
    with connect_as(uid, daemon) as data:
        data.settimeout(lib.DEADLINE)
        data.sendall(('#nvtxt-session {"protocol":1,"session":"%s"%s}\n%s' % (session, more, lines)).encode())
        replies = data.makefile("r", encoding="utf-8")
        for reply in replies:
            if '"error"' in reply or '"end"' in reply or '"ack"' in reply or not lines and "welcome" in reply:
                return reply
    raise AssertionError("no answer")


ID = "5f2a1e9c-77b0-4d7e-9a55-0c3b8d1e2f40"


def test_the_same_id_of_two_users_is_two_sessions():
    texts = ("SELECT text FROM NVTX_EVENTS e JOIN NVTXT_EVENT_SOURCES x ON e.rowid BETWEEN firstRow AND lastRow"
             " JOIN NVTXT_SOURCES s ON s.id = x.sourceId WHERE eventType = 34 AND sessionId = ? AND peerUid = ?"
             " ORDER BY start")
    for claim in ("none", "peer"):
        with Shared("Claim=%s\n" % claim) as daemon:
            users = (ONE, OTHER, 0)
            for number, uid in enumerate(users):  # the first one knows the id, and is there first
                reply = ask(uid, daemon, ID, HEADER + "Mine = 'v%d'\n" % uid * (number + 1) + "Marker, 1, $Mine\n")
                assert '"line":%d' % (4 + number) in reply, reply
            for again in range(2):
                for number, uid in enumerate(users):
                    reply = ask(uid, daemon, ID, "Marker, %d, $Mine\n" % (again + 2))
                    assert '"line":%d' % (5 + number + again) in reply, reply
                daemon.control("rotate")
                daemon.stop()
                daemon.start()
            for number, uid in enumerate(users):
                reply = ask(uid, daemon, ID, "#nvtxt-end\n")
                assert '"end"' in reply and '"events":3' in reply, reply
                lib.wait_for(lambda: daemon.query("SELECT count(*) FROM NVTXT_SESSIONS") == [(2 - number,)], "it ended")
            lib.equal(sorted(daemon.query("SELECT peerUid, lines, ended FROM NVTXT_SOURCES WHERE sessionId = ?", ID)),
                      sorted((uid, 6 + number, "end") for number, uid in enumerate(users)))
            for _ in range(2):
                for uid in users:  # ended ones are known by both, too
                    reply = ask(uid, daemon, ID, "Marker, 9, $Mine\n")
                    assert '"end"' in reply and '"events":3' in reply, reply
                reply = ask(12345, daemon, ID, HEADER)
                assert '"ack"' in reply, reply
                daemon.control("rotate")
            found = {uid: [] for uid in users}
            for segment in daemon.segments():
                for uid in users:
                    found[uid] += lib.rows(segment, texts, ID, uid)
            lib.equal(found, {uid: [("v%d" % uid,)] * 3 for uid in users})


def test_a_token_of_another_users_session_leads_nowhere():
    """Both users have a session of that id, each with a range of that key: each gets its own."""
    with Shared() as daemon:
        text = "TimeBase = Manual\n@RangeStartEnd, Start, End, Message\n"
        parent = ',"parent":"%s:run"' % ID
        for uid in (ONE, OTHER):
            ask(uid, daemon, ID, '%s#nvtxt-range {"key":"run"}\nRangeStartEnd, 0, 9, "of %d"\n' % (text, uid))
        for number, uid in enumerate((ONE, OTHER, 0)):
            child = ID[:-1] + "%d" % (number + 1)
            reply = ask(uid, daemon, child, text + "RangeStartEnd, 1, 2, child\n", parent)
            assert '"ack"' in reply, reply
        daemon.settled()
        lib.equal(daemon.query("SELECT path FROM NVTXT_TREE ORDER BY row"),
                  [("of %d" % ONE,), ("of %d" % OTHER,), ("of %d;child" % ONE,), ("of %d;child" % OTHER,), ("child",)])
        lib.equal(daemon.query("SELECT DISTINCT parent FROM NVTXT_SOURCES WHERE sessionId <> ?", ID), [(ID + ":run",)])


def test_the_same_name_is_another_session_of_another_user():
    with Shared() as daemon:
        for uid in (ONE, OTHER, ONE):
            status, told = as_user(uid, "nvtxt-send", "--socket", daemon.socket, "--session-name", "job 1",
                                   stdin=HEADER + 'Marker, 1, "of %d"\n' % uid)
            lib.equal((status, told), (0, ""))
        lib.equal(sorted(daemon.query("SELECT text FROM NVTX_EVENTS WHERE eventType = 34")),
                  [("of %d" % OTHER,), ("of %d" % ONE,)])


def test_a_stranger_neither_rotates_nor_disconnects():
    with Shared() as daemon:
        with connect_as(ONE, daemon) as data:
            data.sendall((HEADER + 'Marker, 1, "one"\n').encode())
            source = lib.wait_for(lambda: [row["source"] for row in daemon.control("sources")["sources"]],
                                  "it is known")[0]
            for words in (["rotate"], ["disconnect", str(source)], ["disconnect", "--source", str(source)]):
                for uid in (OTHER, ONE):
                    status, told = as_user(uid, "nvtxt-ctl", "--socket", daemon.control_socket, *words)
                    assert status in (64, 69, 77), (status, told)
            lib.equal(len(daemon.segments()), 1)
            lib.equal([row["source"] for row in daemon.control("sources")["sources"]], [source])
            daemon.control("disconnect", source=source)
            lib.wait_for(lambda: not daemon.control("sources")["sources"], "root may")


def test_a_spool_is_sent_by_its_owner_only():
    folder = tempfile.mkdtemp(prefix="nvtxt-owners-")
    os.chmod(folder, 0o1777)
    try:
        with Shared(start=False) as daemon:
            for uid in (ONE, OTHER):
                status, told = as_user(uid, "nvtxt-send", "--socket", daemon.socket, "--spool", folder,
                                       "--wait=0", stdin=HEADER + 'Marker, 1, "of %d"\n' % uid)
                lib.equal(status, 0, told)
            files = sorted(os.listdir(folder))
            daemon.start()
            status, told = as_user(0, "nvtxt-send", "--socket", daemon.socket, "--resume", folder)
            lib.equal((status, told.count("left alone")), (0, 2), told)
            assert "uid %d" % ONE in told and "uid %d" % OTHER in told, told
            lib.equal(sorted(os.listdir(folder)), files)
            status, told = as_user(OTHER, "nvtxt-send", "--socket", daemon.socket, "--resume", folder)
            lib.equal((status, told.count("left alone")), (0, 1), told)
            assert "uid %d" % ONE in told, told
            lib.equal(daemon.query("SELECT text FROM NVTX_EVENTS WHERE eventType = 34"), [("of %d" % OTHER,)])
            lib.equal({os.stat(os.path.join(folder, name)).st_uid for name in os.listdir(folder)}, {ONE})
            lib.equal(as_user(ONE, "nvtxt-send", "--socket", daemon.socket, "--resume", folder), (0, ""))
            lib.equal(os.listdir(folder), [])
            lib.equal(daemon.query("SELECT text, peerUid FROM NVTX_EVENTS JOIN NVTXT_EVENT_SOURCES e ON"
                                   " NVTX_EVENTS.rowid BETWEEN firstRow AND lastRow JOIN NVTXT_SOURCES s"
                                   " ON s.id = e.sourceId WHERE eventType = 34 ORDER BY peerUid"),
                      [("of %d" % OTHER, OTHER), ("of %d" % ONE, ONE)])
    finally:
        shutil.rmtree(folder)


def spooled(uid, daemon, folder, text="kept"):
    """Leaves a spool of that user behind while no daemon is there; its session."""
    before = set(os.listdir(folder))
    status, told = as_user(uid, "nvtxt-send", "--socket", daemon.socket, "--spool", folder, "--wait=0",
                           stdin=HEADER + 'Marker, 1, "%s"\n' % text)
    lib.equal(status, 0, told)
    name, = (name for name in set(os.listdir(folder)) - before if name.endswith(".session"))
    return name[:-len(".session")]


def open_folder():
    folder = tempfile.TemporaryDirectory(prefix="nvtxt-owners-")
    os.chmod(folder.name, 0o1777)
    return folder


def test_an_id_that_another_user_took_ahead_stops_nobody():
    with open_folder() as folder, Shared(start=False) as daemon:
        texts = {spooled(ONE, daemon, folder, text=text): text for text in ("a", "b")}
        first, second = sorted(texts)
        daemon.start()
        reply = ask(OTHER, daemon, first, HEADER)
        assert '"ack"' in reply, reply
        lib.equal(as_user(ONE, "nvtxt-send", "--socket", daemon.socket, "--resume", folder), (0, ""))
        lib.equal(os.listdir(folder), [])
        lib.equal(as_user(OTHER, "nvtxt-send", "--socket", daemon.socket, "--session", second,
                          stdin=HEADER + 'Marker, 2, "c"\n'), (0, ""))
        daemon.settled()
        lib.equal(sorted(daemon.query("SELECT text FROM NVTX_EVENTS WHERE eventType = 34")),
                  [("a",), ("b",), ("c",)])


def test_segments_of_another_owner_are_left_alone():
    for lost in (False, True):  # with its session file and without
        with open_folder() as folder, Shared(start=False) as daemon:
            session = spooled(ONE, daemon, folder)
            segment, = (name for name in os.listdir(folder) if name.endswith(".segment"))
            os.chown(os.path.join(folder, segment), OTHER, OTHER)
            os.chmod(os.path.join(folder, segment), 0o666)
            if lost:
                os.unlink(os.path.join(folder, session + ".session"))
            daemon.start()
            files = sorted(os.listdir(folder))
            for uid in (ONE, 0):
                status, told = as_user(uid, "nvtxt-send", "--socket", daemon.socket, "--resume", folder)
                lib.equal((status, told.count("left alone")), (0, 1), told)
            assert "uid %d" % OTHER in told or not lost, told
            lib.equal(sorted(os.listdir(folder)), files)
            daemon.settled()
            lib.equal(daemon.query("SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 34"), [(0,)])


def test_a_member_of_the_group_may_look_and_no_more():
    member = subprocess.run(["getent", "group", "daemon"], stdout=subprocess.PIPE, text=True, check=False).stdout
    if not member:
        raise lib.Skip("there is no group to be a member of")
    gid = int(member.split(":")[2])
    with lib.Daemon(config=CONFIG + "StoreGroup=daemon\n", start=False) as daemon:
        os.chmod(daemon.folder, 0o755)
        daemon.start()
        with connect_as(ONE, daemon) as data:
            data.sendall((HEADER + 'Marker, 1, "one"\n').encode())
            source = lib.wait_for(lambda: [row["source"] for row in daemon.control("sources")["sources"]],
                                  "it is known")[0]

            def control(*words, groups=(gid,)):
                return as_user(OTHER, "nvtxt-ctl", "--socket", daemon.control_socket, *words, groups=groups)
            for words in (["status"], ["sources"]):
                status, told = control(*words)
                lib.equal(status, 0, told)
            for words in (["rotate"], ["disconnect", str(source)]):
                status, told = control(*words)
                lib.equal(status, 77, told)
                assert told.count("\n") == 1, told
            status, told = control("status", groups=())
            lib.equal(status, 77, told)
            lib.equal(len(daemon.segments()), 1)
            lib.equal([row["source"] for row in daemon.control("sources")["sources"]], [source])


lib.run(globals())
