# SPDX-License-Identifier: Apache-2.0
"""What must be on the disk before the next thing happens: programs run under a recorder of their
calls, and the order of these is judged. Each case also judges its record without some of the syncs:
a judge that does not miss them would see nothing."""
import os
import re
import shutil
import subprocess

import io_log
from io_log import Unsynced, lib

import journal
from client import Folder, Running, run_client

HEADER = "TimeBase = Manual\n@Marker, Time, Message\n"


def markers(first, last):
    return "".join('Marker, %d, "m%d"\n' % (n, n) for n in range(first, last + 1))


# ---- Laws: each is asked before a call takes effect, and says what is wrong or nothing -------------

class Law:
    """One recorded run is judged by new laws: they may remember."""

    def check(self, disk, call):
        raise NotImplementedError

    def end(self):
        return None


class Acknowledged(Law):
    """Each acknowledgement stands behind a sync of the log that its lines were committed to, and
    the names of the store are on the disk. For a sender that waits for it before it goes on."""

    def __init__(self, store):
        self.store = store
        self.acks = 0
        self.synced = False

    def check(self, disk, call):
        if call.what == "sync" and call.path.endswith("-wal"):
            self.synced = True
        if call.what != "send" or b'"ack"' not in call.data:
            return None
        self.acks += 1
        synced, self.synced = self.synced, False
        if not synced:
            return "acknowledged before the log is synced"
        return disk.lacks(self.store)

    def end(self):
        return None if self.acks else "nothing was acknowledged"


class Swung(Law):
    """When the link swings, the segment is on the disk, bytes and name; and the link before anything
    else is written to a segment."""

    def __init__(self, store, swings):
        self.store = store
        self.left = swings

    def check(self, disk, call):
        stem = re.escape(self.store[:-len(".sqlite")])
        if call.what == "write" and re.fullmatch(stem + r"-\d+T\d+Z-\d+\.sqlite(-wal)?", call.path):
            return disk.lacks(self.store)
        if call.what != "rename" or call.path != self.store:
            return None
        self.left -= 1
        faults = [disk.lacks(path) for path in disk.paths
                  if re.fullmatch(stem + r"-\d+T\d+Z-\d+\.sqlite", path)]
        return next(filter(None, faults), None)

    def end(self):
        return "%d swings are missing" % self.left if self.left > 0 else None


class Logged(Law):
    """The log is emptied or begun anew when the main file has all of it, and no sooner."""

    def check(self, disk, call):
        if not call.path.endswith("-wal") or call.what not in ("truncate", "write") or call.at > 0:
            return None
        if call.what == "write" and call.size < 32:
            return None
        main = call.path[:-len("-wal")]
        return "%s lacks bytes of its log" % main if disk.paths.get(main) in disk.files else None


class Whole(Law):
    """A program that ends leaves nothing behind in memory of what these files are to have."""

    def __init__(self, pattern):
        self.pattern = re.compile(pattern)
        self.ended = False

    def check(self, disk, call):
        if call.what != "exit":
            return None
        self.ended = True
        faults = [disk.lacks(path) for path in disk.paths if self.pattern.fullmatch(path)]
        if not faults:
            return "no file %s at the end" % self.pattern.pattern
        return next(filter(None, faults), None)

    def end(self):
        return None if self.ended else "there is no end"


class Published(Law):
    """A file gets its last name when it is whole on the disk, and this is before the answer."""

    def __init__(self, path, answer=None):
        self.path = path
        self.answer = answer
        self.there = self.answered = False

    def check(self, disk, call):
        if call.what in ("rename", "link") and call.path == self.path:
            self.there = True
            if call.file in disk.files:
                return "published before its bytes are synced"
        told = self.answer in call.data if self.answer else call.what == "exit"
        if self.there and not self.answered and told:
            self.answered = True
            return disk.lacks(self.path)
        return None

    def end(self):
        return None if self.there and self.answered else "it was not published"


class Spooled(Law):
    """A segment is on the disk before the next one begins."""

    def __init__(self, segments):
        self.left = segments

    def check(self, disk, call):
        if call.what != "create" or not call.path.endswith(".segment"):
            return None
        self.left -= 1
        faults = [disk.lacks(path) for path in disk.paths if path.endswith(".segment")]
        return next(filter(None, faults), None)

    def end(self):
        return "%d segments are missing" % self.left if self.left > 0 else None


class Placed(Law):
    """What is sent of a journal has its places on the disk, in a file that has its name there."""

    def __init__(self, state):
        self.state = state
        self.sent = 0

    def check(self, disk, call):
        if call.what != "send":
            return None
        self.sent += 1
        return disk.lacks(self.state)

    def end(self):
        return None if self.sent > 2 else "nothing was sent"


def faults(calls, laws):
    disk = Unsynced()
    found = []
    for call in calls:
        found += filter(None, (law.check(disk, call) for law in laws))
        disk.take(call)
    return found + list(filter(None, (law.end() for law in laws)))


def without(calls, pattern):
    """As if the syncs of these files and folders were not in the program."""
    rest = [call for call in calls
            if call.what != "sync" or not re.search(pattern + "$", call.path)]
    assert len(rest) < len(calls), "nothing is synced that is called " + pattern
    return rest


def judge(log, laws, needed):
    """`laws` makes new ones; `needed`: patterns of paths whose syncs the laws must miss."""
    calls = io_log.read(log)
    lib.equal(faults(calls, laws()), [], "all is on the disk in time")
    for pattern in needed:
        assert faults(without(calls, pattern), laws()), "nobody misses the sync of " + pattern


# ---- The store -------------------------------------------------------------------------------------

class Recorded(lib.Daemon):
    def __init__(self, config=""):
        io_log.need_recorder()
        super().__init__(start=False, config="CommitInterval=5ms\n" + config)
        self.calls = os.path.join(self.folder, "calls")
        self.env = io_log.recording(self.calls)

    def acknowledge(self, session, first, last):
        session.send((HEADER if first == 3 else "") + markers(first, last))
        session.ack(last)


def test_commits_and_the_stop():
    with Recorded() as daemon:
        daemon.start()
        with daemon.session() as session:
            for last in range(10, 60, 10):
                daemon.acknowledge(session, 3 if last == 10 else last - 9, last)
            session.end()
        daemon.stop()
        judge(daemon.calls, lambda: [Acknowledged(daemon.store), Swung(daemon.store, 1), Logged(),
                                     Whole(r".*Z-1\.sqlite")],
              ["-wal", r"Z-1\.sqlite", r"\.sqlite\.new", re.escape(daemon.folder)])


def test_a_store_that_is_not_synced_at_commits_is_noticed():
    with Recorded("Synchronous=normal\n") as daemon:
        daemon.start()
        with daemon.session() as session:
            daemon.acknowledge(session, 3, 10)
            daemon.acknowledge(session, 11, 20)
        daemon.stop()
        found = faults(io_log.read(daemon.calls), [Acknowledged(daemon.store)])
        assert "acknowledged before the log is synced" in found, found


def test_a_rotation():
    with Recorded() as daemon:
        daemon.start()
        with daemon.session() as session:
            daemon.acknowledge(session, 3, 10)
            for last in (20, 30):
                daemon.control("rotate")
                daemon.acknowledge(session, last - 9, last)
            session.end()
        daemon.stop()
        calls = io_log.read(daemon.calls)
        judge(daemon.calls, lambda: [Acknowledged(daemon.store), Swung(daemon.store, 3), Logged(),
                                     Whole(r".*Z-[123]\.sqlite")],
              [r"Z-3\.sqlite\.new", re.escape(daemon.folder)])
        # The syncs of the folder between the segment's name and the link, and the one behind it.
        names = [i for i, call in enumerate(calls) if call.what == "rename" and
                 call.path in (daemon.store, daemon.segments()[-1])]
        syncs = [i for i, call in enumerate(calls)
                 if call.what == "sync" and call.path == daemon.folder]
        before = [i for i in syncs if names[-2] < i < names[-1]]
        after = [i for i in syncs if i > names[-1]][:1]
        for left_out in (before, after):
            assert left_out, names
            rest = [call for i, call in enumerate(calls) if i not in left_out]
            assert faults(rest, [Acknowledged(daemon.store), Swung(daemon.store, 3)]), left_out


def test_a_broken_store_that_is_put_aside():
    with Recorded() as daemon:
        daemon.start()
        daemon.stop()
        os.unlink(daemon.calls)
        segment = daemon.segments()[0]
        with open(segment, "r+b") as file:
            file.seek(4096)
            file.write(b"\xff" * 65536)
        daemon.start()
        with daemon.session() as session:
            daemon.acknowledge(session, 3, 10)
            session.end()
        daemon.stop()
        calls = io_log.read(daemon.calls)
        assert any(call.what == "rename" and ".broken-" in call.path for call in calls)
        judge(daemon.calls, lambda: [Acknowledged(daemon.store), Swung(daemon.store, 1), Logged()],
              ["-wal", r"\.sqlite\.new", re.escape(daemon.folder)])


def test_a_snapshot():
    with Recorded() as daemon:
        daemon.start()
        daemon.send(HEADER + markers(1, 100))
        folder = os.path.join(daemon.folder, "out")
        os.mkdir(folder)
        copy = os.path.join(folder, "copy.sqlite")
        daemon.control("snapshot", file=copy)
        daemon.stop()
        judge(daemon.calls, lambda: [Published(copy, b'"ok":true')],
              [r"copy\.sqlite.+", re.escape(folder)])


# ---- Files that programs make -----------------------------------------------------------------------

def publishes(name, arguments, path, statuses=(0,)):
    with Folder() as logs:
        log = logs.name("calls")
        status, _, err = run_client(name, *arguments, env=io_log.recording(log))
        assert status in statuses, (status, err)
        judge(log, lambda: [Published(path)], [re.escape(path) + ".+",
                                               re.escape(os.path.dirname(path))])


def test_an_import_and_an_export():
    io_log.need_recorder()
    with Folder() as folder:
        text = folder.write("x.nvtxt", HEADER + markers(1, 100))
        store = folder.name("x.sqlite")
        publishes("nvtxt-import", ["create", "-n", text, "-o", store], store)
        publishes("nvtxt-import", ["merge", "-i", store, "-n", text, "-o", folder.name("y.sqlite")],
                  folder.name("y.sqlite"))
        for kind in ("chrome", "csv", "jsonl", "nvtxt", "otlp"):
            out = folder.name("out." + kind)
            publishes("nvtxt-export", ["--format", kind, "-o", out, "--store", store], out)


# ---- The spool --------------------------------------------------------------------------------------

def spool(folder, lines, *more, fail=None):
    """Sends to nobody; returns exit status, what was said, and the file of the calls."""
    log = folder.name("calls")
    status, _, err = run_client("nvtxt-send", "--socket", folder.name("none"), "--spool",
                                folder.name("spool"), "--spool-limit", "4M", "--wait=0", *more,
                                stdin=HEADER + lines, env=io_log.recording(log, fail))
    return status, err, log


def spool_laws(segments):
    return lambda: [Spooled(segments), Whole(r".*/spool"), Whole(r".*\.segment"),
                    Whole(r".*\.session")]


def test_a_spool():
    io_log.need_recorder()
    with Folder() as folder:
        long = "# %s\n" % ("x" * 60000)
        status, err, log = spool(folder, markers(1, 1000) + 20 * long, "--spool-sync", "1000")
        lib.equal(status, 0, err)
        assert "is kept" in err, err
        judge(log, spool_laws(3), [r"\.segment", r"\.000001\.segment", r"\.session\.new|\.new",
                                   re.escape(folder.name("spool")), re.escape(folder.path)])


def test_a_spool_whose_folder_was_there():
    io_log.need_recorder()
    with Folder() as folder:
        os.mkdir(folder.name("spool"))
        status, err, log = spool(folder, markers(1, 10), "--spool-sync", "1000")
        lib.equal(status, 0, err)
        judge(log, lambda: [Whole(r".*\.segment"), Whole(r".*\.session")],
              [r"\.segment", r"\.new", re.escape(folder.name("spool"))])


def test_a_sync_that_fails_is_an_i_o_error():
    io_log.need_recorder()
    long = "# %s\n" % ("x" * 60000)
    for fail, lines in (("fdatasync .segment 1", "x = 1\n"),  # at the end
                        ("fdatasync .000001.segment 1", 20 * long),  # at a segment change
                        ("fdatasync .000002.segment 1", 20 * long),
                        ("fsync /spool 2", "x = 1\n")):
        with Folder() as folder:
            status, err, _ = spool(folder, lines, "--spool-sync", "1000", fail=fail)
            lib.equal(status, 74, "%s: %s" % (fail, err))
            assert "cannot be synced: Input/output error" in err, err
            assert "is kept" not in err, err
            shutil.rmtree(folder.name("spool"))
    for fail in ("fdatasync .new 1", "fsync /spool 1"):  # of the session file, before a line is read
        with Folder() as folder:
            status, err, _ = spool(folder, "x = 1\n", "--spool-sync", "1000", fail=fail)
            lib.equal(status, 73, "%s: %s" % (fail, err))
            lib.equal(os.listdir(folder.name("spool")), [], fail)


def counted(err, pattern):
    found = re.search(r"([\d,]+) lines? of \S+ " + pattern, err)
    return int(found.group(1).replace(",", "")) if found else 0


def test_a_spool_that_cannot_be_synced_says_where_each_line_is():
    io_log.need_recorder()
    long = "# %s\n" % ("x" * 60000)
    with Folder() as folder:
        total = HEADER.count("\n") + 200
        path = folder.name("file.nvtxt")
        with open(path, "w", encoding="ascii") as file:
            file.write(HEADER + 200 * long)
        for args, stdin in (([path], ""), (["--text", path], ""), ([], HEADER + 200 * long)):
            status, _, err = run_client(
                "nvtxt-send", "--socket", folder.name("none"), "--spool", folder.name("spool"),
                "--spool-limit", "4M", "--wait=0", *args, stdin=stdin,
                env=io_log.recording(folder.name("calls"), "fdatasync .000001.segment 1"))
            lib.equal(status, 74, err)
            here = counted(err, "are in"), counted(err, "(was|were) read and (is|are) lost")
            assert min(here) > 0, err
            if args:
                lib.equal(sum(here) + counted(err, "(was|were) not read"), total, err)
            else:
                assert "the rest of <stdin> was not read" in err, err
            with lib.Daemon() as daemon:
                lib.equal(run_client("nvtxt-send", "--socket", daemon.socket, "--resume",
                                     folder.name("spool"))[0], 0)
                lib.equal(daemon.query("SELECT lines FROM NVTXT_SOURCES"), [(here[0],)])
        # Nobody has written anything when it is time to sync.
        with subprocess.Popen([lib.program("client", "nvtxt-send"), "--socket",
                               folder.name("none"), "--spool", folder.name("spool"),
                               "--spool-sync", "0.01"], stdin=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=dict(os.environ, **io_log.recording(
                                  folder.name("calls"), "fdatasync .segment 1"))) as idle:
            lib.equal(idle.wait(lib.DEADLINE), 73)
            err = idle.stderr.read().decode()
            assert "no line of <stdin> is in" in err and "the rest of <stdin>" in err, err
        lib.equal(os.listdir(folder.name("spool")), [])


def test_a_sync_at_a_segment_change_counts_without_the_option_too():
    io_log.need_recorder()
    with Folder() as folder:
        long = "# %s\n" % ("x" * 60000)
        status, err, _ = spool(folder, 20 * long, fail="fdatasync .000001.segment 1")
        lib.equal(status, 74, err)


# ---- The journal ------------------------------------------------------------------------------------

def test_the_places_of_a_journal():
    io_log.need_recorder()
    with lib.Daemon() as daemon, Folder() as folder:
        path = journal.write(folder.name("a.journal"), [journal.entry(n) for n in range(3000)])
        os.mkdir(folder.name("s"))
        state, log = folder.name("s/state"), folder.name("calls")
        status, _, err = run_client("nvtxt-send", "--socket", daemon.socket, "--journal",
                                    "--journal-file", path, "--state", state,
                                    env=io_log.recording(log))
        lib.equal((status, err), (0, ""))
        judge(log, lambda: [Placed(state)],
              [r"state\.nvtxt-new", "/state", re.escape(folder.name("s"))])


lib.run(globals())
