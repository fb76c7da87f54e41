# SPDX-License-Identifier: Apache-2.0
"""nvtxt-ctl snapshot and verify: a copy of one moment while the store is written, and books that
agree with the rows, or not."""
import json
import os
import pwd
import socket
import sqlite3
import stat
import subprocess
import tempfile
import threading
import types

import lib
from small_disk import SmallDisk

HEADER = 'TimeBase = Manual\n@Marker, Time, Message\n'


def ctl(daemon, *arguments, cwd=None):
    done = subprocess.run([os.path.abspath(lib.program("client", "nvtxt-ctl")), "--socket",
                           daemon.control_socket, *arguments], capture_output=True, text=True,
                          timeout=lib.DEADLINE, check=False, cwd=cwd)
    return done.returncode, done.stdout, done.stderr


class Sender(threading.Thread):
    """Sends events until it is told to end."""

    def __init__(self, daemon):
        super().__init__(daemon=True)
        self.peer = daemon
        self.done = threading.Event()
        self.sent = 0

    def run(self):
        with self.peer.plain() as connection:
            connection.send(HEADER)
            while not self.done.is_set():
                connection.send("".join('Marker, %d, "event %d"\n' % (n, n)
                                        for n in range(self.sent, self.sent + 500)))
                self.sent += 500


def test_a_snapshot_is_whole_plain_and_of_one_moment():
    with lib.Daemon(config="CommitInterval=5ms\n") as daemon:
        sender = Sender(daemon)
        sender.start()
        lib.wait_for(lambda: daemon.query("SELECT count(*) FROM NVTX_EVENTS")[0][0] > 1000, "events")
        status, out, err = ctl(daemon, "snapshot", "copy.sqlite", cwd=daemon.folder)
        lib.equal((status, err), (0, ""), out)
        copy = os.path.join(daemon.folder, "copy.sqlite")
        assert copy in out, out
        sender.done.set()
        sender.join(lib.DEADLINE)
        with open(copy, "rb") as file:
            lib.equal(file.read(20)[18:], b"\x01\x01", "no WAL")
        lib.equal(stat.S_IMODE(os.stat(copy).st_mode), 0o640)
        (rows, least, most), = lib.rows(copy, "SELECT count(*), min(start), max(start)"
                                        " FROM NVTX_EVENTS")
        lib.equal((least, most), (0, rows - 1), "a beginning of what was sent")
        assert rows > 1000, rows
        lib.equal(lib.rows(copy, "SELECT sum(events) FROM NVTXT_BATCHES"), [(rows,)])
        lib.equal(lib.rows(copy, "PRAGMA integrity_check"), [("ok",)])
        lib.equal(sorted(name for name in os.listdir(daemon.folder) if name.startswith("copy")),
                  ["copy.sqlite"])


def test_a_snapshot_replaces_nothing_and_leaves_nothing():
    with lib.Daemon() as daemon:
        before = sorted(os.listdir(daemon.folder))
        for target, word in (("log", "exists already"), ("store.sqlite", "exists already"),
                             ("no/where", "No such file"), ("", "File exists")):
            path = os.path.join(daemon.folder, target) if target else "/"
            status, out, err = ctl(daemon, "snapshot", path)
            lib.equal((status, out), (1, ""), err)
            assert path in err and (word in err or not target), err
        lib.equal(sorted(os.listdir(daemon.folder)), before)
        reply = daemon.control_raw(b'{"command":"snapshot","file":"relative"}')
        lib.equal(reply["error"]["code"], "bad-argument")
        lib.equal(ctl(daemon, "snapshot")[0], 64)


def test_a_snapshot_into_a_file_of_the_callers():
    """The daemon's user may not write there: the descriptor is the right to do so."""
    user = 65533 if os.getuid() == 0 else os.getuid()
    with lib.Daemon(start=False) as daemon, tempfile.TemporaryDirectory() as private:
        if os.getuid() == 0:
            os.chown(daemon.folder, user, user)
            daemon.limits = lambda: (os.setgroups([]), os.setgid(user), os.setuid(user))
        try:
            daemon.start()
        except subprocess.SubprocessError as reason:
            raise lib.Skip("the build is not for others to read") from reason
        name = pwd_name(user)
        sender = Sender(daemon)
        sender.start()
        lib.wait_for(lambda: daemon.query("SELECT count(*) FROM NVTX_EVENTS")[0][0] > 1000, "events")
        status, out, err = ctl(daemon, "snapshot", "-o", "copy.sqlite", cwd=private)
        lib.equal((status, err), (0, ""), out)
        assert out.startswith("copy.sqlite: "), out
        sender.done.set()
        sender.join(lib.DEADLINE)
        lib.equal(os.listdir(private), ["copy.sqlite"])
        copy = os.path.join(private, "copy.sqlite")
        lib.equal((os.stat(copy).st_uid, stat.S_IMODE(os.stat(copy).st_mode) & ~0o640), (os.getuid(), 0))
        with open(copy, "rb") as file:
            lib.equal(file.read(20)[18:], b"\x01\x01", "no WAL")
        (rows, most), = lib.rows(copy, "SELECT count(*), max(start) FROM NVTX_EVENTS")
        assert rows > 1000 and most == rows - 1, (rows, most)
        lib.equal(lib.rows(copy, "SELECT sum(events) FROM NVTXT_BATCHES"), [(rows,)])
        lib.equal(lib.rows(copy, "PRAGMA integrity_check; "), [("ok",)])
        lib.equal(lib.rows(copy, "PRAGMA journal_mode"), [("delete",)])
        # It replaces nothing, and without a file of ours the daemon's user is named.
        status, out, err = ctl(daemon, "snapshot", "--output", copy)
        lib.equal((status, out, err), (73, "", "nvtxt-ctl: %s exists already: name another file, or move "
                                       "that one away\n" % copy))
        lib.equal(ctl(daemon, "snapshot", "-o", "x", "y")[0], 64)
        status, out, err = ctl(daemon, "snapshot", os.path.join(daemon.folder, "own.sqlite"))
        lib.equal((status, err), (0, ""))
        assert out.endswith(", written by the daemon's user %s\n" % name), out
        if os.getuid() == 0:
            status, out, err = ctl(daemon, "snapshot", os.path.join(private, "no.sqlite"))
            lib.equal((status, out), (1, ""))
            for part in ("Permission denied", "the daemon writes as user " + name, "-o FILE"):
                assert part in err, err
        lib.equal(os.listdir(private), ["copy.sqlite"])


def test_a_daemon_that_cannot_write_into_it_is_said_with_the_files_name():
    def answer(listener):
        """As version 0.1.0: a probe closes without a request."""
        for _ in range(2):
            link = listener.accept()[0]
            link.settimeout(lib.DEADLINE)
            with link, link.makefile("rb") as requests:
                if requests.readline():
                    link.sendall(b'{"id":1,"ok":false,"error":{"code":"bad-argument","message":'
                                 b'"the command takes no argument \\"into\\""}}\n')

    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        older = types.SimpleNamespace(control_socket=os.path.join(folder, "control.sock"))
        listener.bind(older.control_socket)
        listener.listen(8)
        listener.settimeout(lib.DEADLINE)
        lib.equal(ctl(older, "snapshot", "-o", "-", cwd=folder),
                  (64, "", "nvtxt-ctl: -o takes a file, not '-': a store cannot be written to stdout\n"))
        asked = threading.Thread(target=answer, args=(listener,), daemon=True)
        asked.start()
        status, out, err = ctl(older, "snapshot", "-o", "copy", cwd=folder)
        asked.join(lib.DEADLINE)
        lib.equal((status, out), (76, ""), err)
        assert "too old for 'snapshot -o': 'copy' is not made" in err, err
        lib.equal(os.listdir(folder), ["control.sock"])
    with lib.Daemon() as daemon, SmallDisk(daemon.folder, "size=64k") as disk:
        disk.fill()
        path = os.path.join(disk.folder, "copy")
        status, out, err = ctl(daemon, "snapshot", "-o", path)
        lib.equal((status, out), (1, ""), err)
        assert "snapshot: %s is not made\n" % path in err, err


def pwd_name(uid):
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def test_descriptors_that_cannot_be_written_are_refused_and_none_is_kept():
    with lib.Daemon() as daemon, tempfile.TemporaryDirectory() as folder:
        def opened():
            return len(os.listdir("/proc/%d/fd" % daemon.process.pid))

        def snapshot(descriptors, **request):
            with socket.socket(socket.AF_UNIX) as link:
                link.settimeout(lib.DEADLINE)
                link.connect(daemon.control_socket)
                line = json.dumps({"command": "snapshot", **request}).encode() + b"\n"
                socket.send_fds(link, [line], descriptors)
                return json.loads(link.makefile("rb").readline())

        before = opened()
        full = os.path.join(folder, "full")
        with open(full, "wb") as file:
            file.write(b"x")
        flags = {"pipe": None, "full": os.O_RDWR, "new": os.O_WRONLY | os.O_CREAT,
                 "log": os.O_RDWR | os.O_APPEND | os.O_CREAT}
        for name, flag in flags.items():
            pair = os.pipe() if flag is None else (os.open(os.path.join(folder, name), flag, 0o600),)
            error = snapshot(pair[-1:], into="descriptor")["error"]
            assert "no empty regular file" in error["message"], (name, error)
            for fd in pair:
                os.close(fd)
        with open(full, "rb") as file:
            lib.equal(file.read(), b"x")
        for request, word in (({"into": "descriptor"}, "needs a descriptor"), ({}, "missing"),
                              ({"into": "x"}, "into"), ({"into": "descriptor", "file": "/x"}, "together")):
            error = snapshot([], **request)["error"]
            lib.equal((error["code"], word in error["message"]), ("bad-argument", True), error)
        # What nobody asked for is closed, however many there are.
        with socket.socket(socket.AF_UNIX) as link, open(full, "rb") as file:
            link.settimeout(lib.DEADLINE)
            link.connect(daemon.control_socket)
            for _ in range(50):
                socket.send_fds(link, [b'{"command":"flush"}\n'], [file.fileno()] * 20)
                json.loads(link.recv(4096))
            assert opened() < before + 10, opened()
        lib.wait_for(lambda: os.path.realpath(full) not in (
            os.path.realpath("/proc/%d/fd/%s" % (daemon.process.pid, name))
            for name in os.listdir("/proc/%d/fd" % daemon.process.pid)), "all are closed")


def test_the_store_is_locked_as_before_after_a_snapshot():
    with lib.Daemon() as daemon:
        daemon.send(HEADER + 'Marker, 1, "x"\n')
        ctl(daemon, "snapshot", os.path.join(daemon.folder, "copy.sqlite"))
        ctl(daemon, "verify")
        # Whoever closes a store last removes its log; the daemon still has it open.
        other = sqlite3.connect(daemon.store)
        lib.equal(other.execute("SELECT count(*) FROM NVTX_EVENTS").fetchall(), [(1,)])
        try:
            other.execute("PRAGMA journal_mode = DELETE")
        except sqlite3.OperationalError as error:
            assert "locked" in str(error), error
        else:
            raise AssertionError("the daemon's lock is gone")
        other.close()
        daemon.send(HEADER + 'Marker, 2, "y"\n')
        lib.equal(daemon.query("SELECT count(*) FROM NVTX_EVENTS"), [(2,)])


STORY = HEADER + ('@RangePush, Time, Message\n@RangeStart, Time, RangeId, Message\n'
                  '@RangeEnd, Time, RangeId\nSetCategoryName, 7, "seven"\n'
                  'SetFileDisplayName, "shown"\nRangePush, 1, "open"\nRangeStart, 2, 5, "r"\n'
                  'RangeEnd, 3, 5\nRangeStart, 4, 6, "also open"\nMarker, 5, "m"\nbad\n')


def test_a_store_that_is_used_is_sound():
    with lib.Daemon() as daemon:
        lib.equal(ctl(daemon, "verify")[0], 0)
        for _ in range(2):
            daemon.send(STORY)
            daemon.control("rotate")
        with daemon.session() as session:
            session.send(STORY)
            session.ack(13)
            daemon.control("rotate")
            session.send('Marker, 6, "n"\n')
            session.ack(14)
            result = daemon.control("verify")
            lib.equal((result["sound"], result["problems"], result["segments"]), (True, [], 4))
            events = sum(n for n, in daemon.everywhere("SELECT total(events) FROM NVTXT_BATCHES"))
            lib.equal(result["events"], int(events))
            daemon.kill()
        daemon.start()
        status, out, _ = ctl(daemon, "verify")
        lib.equal(status, 0, out)
        assert out.startswith("sound: 0 problems; segments: 4, events: "), out
        lib.equal(lib.json.loads(ctl(daemon, "--json", "verify")[1])["problems"], [])


def test_a_segment_that_cannot_be_opened_is_found():
    with lib.Daemon() as daemon:
        daemon.send(STORY)
        daemon.control("rotate")
        lib.wait_for(lambda: daemon.control("status")["old_segments"] == 1, "it was left")
        old = daemon.segments()[0]
        for ending in ("", "-wal", "-shm"):
            os.unlink(old + ending)
        lib.equal(daemon.control("verify")["segments"], 1)
        os.symlink(old, old)
        result = daemon.control("verify")
        lib.equal((result["sound"], result["segments"]), (False, 2))
        assert os.path.basename(old) in result["problems"][0], result
        os.unlink(old)


def test_what_does_not_agree_is_found():
    faults = {
        "DELETE FROM NVTX_EVENTS WHERE text = 'm'": "events more or less",
        "UPDATE NVTX_EVENTS SET text = 'n' WHERE text = 'm'": "textId",
        "UPDATE NVTX_EVENTS SET start = 0 WHERE text = 'm'": "NVTXT_BATCHES",
        "UPDATE NVTX_EVENTS SET rangeId = 9 WHERE text = 'r'": "rangeId",
        "UPDATE NVTXT_EVENT_SOURCES SET lastRow = lastRow + 1": "NVTXT_EVENT_SOURCES",
        "UPDATE NVTXT_EVENT_SOURCES SET sourceId = 77": "source is not known",
        "UPDATE NVTXT_SOURCES SET events = events + 1": "counted more or fewer",
        "UPDATE NVTXT_SOURCES SET warnings = 0, errors = 0": "diagnostics",
        "UPDATE NVTXT_SESSIONS SET line = line + 1": "sessions",
        "UPDATE NVTXT_OPEN_RANGES SET sourceId = 77": "not open",
        "INSERT INTO NVTXT_UNCLOSED VALUES (999)": "NVTXT_UNCLOSED",
        "INSERT INTO NVTXT_RANGE_KEYS VALUES (999, 1, 'k', NULL)": "NVTXT_RANGE_KEYS",
        "UPDATE NVTXT_NAME_ROWS SET row = 999 WHERE kind = 3": "lead nowhere",
        "DELETE FROM ThreadNames": "without a name",
        "UPDATE NVTXT_SEGMENT SET sourceBase = 0": "do not go on",
    }
    with lib.Daemon(shared=True) as daemon:
        daemon.send(HEADER + 'Marker, 1, "before"\n')
        daemon.control("rotate")
        with daemon.session() as session:
            session.send(STORY)
            session.ack(13)
            for sql, word in faults.items():
                store = sqlite3.connect(daemon.store, isolation_level=None, timeout=lib.DEADLINE)
                store.execute("CREATE TABLE IF NOT EXISTS undo (sql)")
                names = [name for name, in store.execute("SELECT name FROM sqlite_master WHERE"
                                                         " type = 'table' AND name <> 'undo'")]
                table = next(name for name in names if name in sql.split())
                store.execute("CREATE TABLE kept AS SELECT %s* FROM %s"
                              % ("rowid AS r, " if table == "NVTX_EVENTS" else "", table))
                store.execute(sql)
                status, out, _ = ctl(daemon, "verify")
                lib.equal(status, 1, sql + "\n" + out)
                assert word in out and "not sound" in out, (sql, out)
                store.execute("DELETE FROM " + table)
                columns = [row[1] for row in store.execute("PRAGMA table_info(%s)" % table)]
                listed = ", ".join('"%s"' % column for column in columns)
                into, of = ("rowid, " + listed, "r, " + listed) if table == "NVTX_EVENTS" \
                    else (listed, listed)
                store.execute("INSERT INTO %s (%s) SELECT %s FROM kept" % (table, into, of))
                store.execute("DROP TABLE kept")
                store.close()
            lib.equal(ctl(daemon, "verify")[0], 0)
            session.end()


lib.run(globals())
