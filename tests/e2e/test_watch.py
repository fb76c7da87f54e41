# SPDX-License-Identifier: Apache-2.0
"""Watched folders: files that are there, that grow, are cut, moved, replaced, or come again."""
import contextlib
import os
import shutil
import signal
import sqlite3
import stat
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
import lib  # noqa: E402
from lib import equal, wait_for  # noqa: E402

HEAD = ("@Marker, Time, ThreadId, Message\n@RangePush, Time, ThreadId, Message\n"
        "@RangePop, Time, ThreadId\n")


class Watched(lib.Daemon):
    """A daemon that watches the folder `in` of its own folder."""

    def __init__(self, config="", make=True, start=True, **options):
        super().__init__(config="", start=False, **options)
        self.inside = os.path.join(self.folder, "in")
        if make:
            os.mkdir(self.inside)
        self.configure("WatchDirectory=%s\n%s" % (self.inside, config))
        if start:
            self.start()

    def configure(self, text):
        with open(os.path.join(self.folder, "nvtxtd.conf"), "w", encoding="utf-8") as file:
            file.write("[nvtxtd]\nCommitInterval=5ms\n" + text)

    def path(self, name):
        return os.path.join(self.inside, name)

    def write(self, name, text, mode="w"):
        with open(self.path(name), mode, encoding="utf-8") as file:
            file.write(text)

    def append(self, name, text):
        self.write(name, text, "a")

    def messages(self):
        return [row[0] for row in self.query(
            "SELECT text FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60) ORDER BY rowid")]

    def has(self, *messages):
        """Waits for these events, in any order; and that there are no others."""
        wanted = sorted(messages)
        wait_for(lambda: len(self.messages()) >= len(wanted), "%d events" % len(wanted))
        equal(sorted(self.messages()), wanted, "events")

    def sources(self, columns="name, ended"):
        return self.query("SELECT %s FROM NVTXT_SOURCES ORDER BY id" % columns)

    def ended(self, *wanted):
        """Waits until the sources have ended like this, oldest first; None: open."""
        wait_for(lambda: [row[0] for row in self.sources("ended")] == list(wanted),
                 "the sources end as %r" % (wanted,))

    def says(self, text):
        wait_for(lambda: text in self.log_text(), "the log says " + text)

    def places(self):
        return self.query("SELECT path, offset FROM NVTXT_FILES ORDER BY sourceId")


def marker(message, time=1):
    return "Marker, %d, 7, '%s'\n" % (time, message)


def test_a_file_that_is_there_and_one_that_comes_are_read():
    with Watched(start=False) as daemon:
        daemon.write("a.nvtxt", HEAD + marker("one", 5))
        daemon.write("other.txt", HEAD + marker("no"))
        daemon.write(".hidden.nvtxt", HEAD + marker("no"))
        daemon.start()
        daemon.has("one")
        daemon.write("b.nvtxt", HEAD + marker("two"))
        daemon.has("one", "two")
        rows = daemon.sources("kind, name, peerPid, peerUid, lines, events, closedNs")
        equal(rows, [("file", daemon.path(name), None, os.getuid(), 4, 1, None)
                     for name in ("a.nvtxt", "b.nvtxt")])
        equal(daemon.query("SELECT globalTid, start FROM NVTX_EVENTS WHERE text = 'one'"), [(7, 5)])
        listed = daemon.control("sources")["sources"]
        equal(sorted((row["kind"], row["name"], row["lines"]) for row in listed),
              [("file", daemon.path(name), 4) for name in ("a.nvtxt", "b.nvtxt")])
        reply = daemon.control_raw(b'{"id": 1, "command": "disconnect", "source": 1}')
        assert "followed file" in reply["error"]["message"], reply
        equal(daemon.control("status")["files"], 2)
        equal(daemon.control("status")["folders"],
              [{"path": daemon.inside, "watched": True, "files": 2}])


def test_a_growing_file_is_read_line_by_line_and_part_of_a_line_waits():
    with Watched() as daemon:
        daemon.write("a.nvtxt", HEAD + "Marker, 1, 7")
        wait_for(daemon.places, "the whole lines are taken")
        equal(daemon.places(), [(daemon.path("a.nvtxt"), len(HEAD))])
        daemon.append("a.nvtxt", ", 'one'\nMarker, 2")
        daemon.has("one")
        daemon.append("a.nvtxt", ", 7, 'two'\n")
        daemon.has("one", "two")
        equal(daemon.sources("events, errors, lines"), [(2, 0, 5)])


def test_a_restart_reads_no_byte_again_and_goes_on_with_the_state():
    with Watched() as daemon:
        daemon.write("a.nvtxt", HEAD + "RangePush, 1, 7, 'open'\n" + marker("one") + "Mark")
        daemon.has("one")
        for number in (signal.SIGTERM, signal.SIGKILL):
            daemon.stop(number, status=0 if number == signal.SIGTERM else -signal.SIGKILL)
            daemon.append("a.nvtxt", "er, 3, 7, '%d'\nMark" % number)
            daemon.start()
        daemon.has("one", "15", "9")
        daemon.append("a.nvtxt", "er, 9, 7, 'last'\nRangePop, 10, 7\n")
        daemon.has("one", "15", "9", "last", "open")
        equal(daemon.sources("ended, events, errors, warnings"), [(None, 5, 0, 0)])
        equal(daemon.query("SELECT start, end FROM NVTX_EVENTS WHERE text = 'open'"), [(1, 10)])


def test_a_file_whose_state_is_unreadable_is_not_read_on_and_that_is_a_loss():
    for state in ('{"version":1,"conf', None):
        with Watched() as daemon:
            daemon.write("a.nvtxt", HEAD + "SetFileDisplayName, 'shown'\nRangePush, 1, 7, 'left'\n"
                         + marker("one", 5))
            daemon.has("one")
            daemon.write("b.nvtxt", HEAD + marker("other"))
            daemon.has("one", "other")
            daemon.stop()
            with contextlib.closing(sqlite3.connect(daemon.store)) as store, store:
                store.execute("UPDATE NVTXT_FILES SET state = ? WHERE path GLOB '*/a.nvtxt'", (state,))
            daemon.append("a.nvtxt", marker("never"))
            for _ in range(2):  # it is told of once
                daemon.start()
                daemon.says("a copy of it is read from its start path=\"%s\"" % daemon.path("a.nvtxt"))
                daemon.append("a.nvtxt", marker("nor this"))
                daemon.append("b.nvtxt", marker("more"))
                wait_for(lambda: "more" in daemon.messages(), "the other file goes on")
                daemon.settled()
                equal(daemon.query("SELECT reason, count, uid, sourceId FROM NVTXT_LOSSES"),
                      [("file-state", 1, os.getuid(), 1)])
                equal(daemon.sources("name, displayName, ended, events")[0],
                      (daemon.path("a.nvtxt"), "shown", "lost", 2))
                equal(daemon.query("SELECT start, end FROM NVTX_EVENTS WHERE text = 'left'"), [(1, 5)])
                daemon.stop()
                os.truncate(daemon.log, 0)
            daemon.start()
            daemon.write("a.nvtxt", HEAD + marker("anew"))
            wait_for(lambda: "anew" in daemon.messages(), "a file that was cut is read again")
            equal([text for text in daemon.messages() if text.startswith("n")], [])
            os.unlink(daemon.path("a.nvtxt"))
            daemon.ended("lost", None, "removed")


def test_a_file_that_is_cut_begins_a_new_source():
    with Watched() as daemon:
        daemon.write("a.nvtxt", HEAD + "RangePush, 1, 7, 'open'\n" + marker("one", 4) + "Marker, 2")
        daemon.has("one")
        daemon.write("a.nvtxt", HEAD + marker("two"))
        daemon.has("one", "open", "two")
        daemon.ended("truncated", None)
        daemon.says("begins anew: it was truncated")
        equal(daemon.query("SELECT end FROM NVTX_EVENTS WHERE text = 'open'"), [(4,)])
        equal(daemon.sources("events, warnings, errors"), [(2, 1, 0), (1, 0, 0)])


def test_a_file_that_is_written_anew_over_its_old_size_is_noticed():
    with Watched() as daemon:
        daemon.write("a.nvtxt", HEAD + marker("one"))
        daemon.has("one")
        text = HEAD + marker("two") + marker("three")
        lib.halt(daemon.process)
        try:
            daemon.write("a.nvtxt", text)
        finally:
            daemon.process.send_signal(signal.SIGCONT)
        daemon.has("one", "two", "three")
        daemon.ended("truncated", None)


def test_a_file_that_is_replaced_is_read_to_its_end_first():
    with Watched() as daemon:
        daemon.write("a.nvtxt", HEAD + marker("one"))
        daemon.has("one")
        with open(daemon.path("new"), "w", encoding="utf-8") as file:
            file.write(HEAD + marker("new"))
        lib.halt(daemon.process)
        try:
            daemon.append("a.nvtxt", marker("two") + "Marker, 9, 7, 'three'")
            os.rename(daemon.path("new"), daemon.path("a.nvtxt"))
        finally:
            daemon.process.send_signal(signal.SIGCONT)
        daemon.has("one", "two", "three", "new")
        daemon.ended("replaced", None)


def test_a_file_that_is_renamed_goes_on():
    with Watched() as daemon:
        daemon.write("a.nvtxt", HEAD + marker("one"))
        daemon.has("one")
        os.rename(daemon.path("a.nvtxt"), daemon.path("b.nvtxt"))
        daemon.append("b.nvtxt", marker("two"))
        daemon.has("one", "two")
        daemon.ended(None)
        wait_for(lambda: daemon.places()[0][0] == daemon.path("b.nvtxt"), "its new name is known")
        daemon.stop()
        os.rename(daemon.path("b.nvtxt"), daemon.path("c.nvtxt"))
        daemon.append("c.nvtxt", marker("three"))
        daemon.start()
        daemon.has("one", "two", "three")
        daemon.ended(None)


def test_a_file_that_is_removed_ends_its_source_with_its_last_line():
    with Watched() as daemon:
        daemon.write("a.nvtxt", HEAD + marker("one") + "RangePush, 3, 7, 'open'")
        daemon.write("b.nvtxt", HEAD + marker("two"))
        daemon.has("one", "two")
        os.unlink(daemon.path("a.nvtxt"))
        daemon.has("one", "two", "open")
        wait_for(lambda: daemon.sources("name, ended").count((daemon.path("a.nvtxt"), "removed")),
                 "its source ends")
        wait_for(lambda: len(daemon.places()) == 1, "its place is forgotten")
        daemon.stop()
        os.unlink(daemon.path("b.nvtxt"))
        daemon.start()
        daemon.ended("removed", "removed")


def test_a_file_that_was_moved_away_goes_on_when_it_comes_again():
    with Watched() as daemon:
        daemon.write("a.nvtxt", HEAD + marker("one"))
        daemon.has("one")
        away = os.path.join(daemon.folder, "away")
        os.rename(daemon.path("a.nvtxt"), away)
        daemon.ended("removed")
        with open(away, "a", encoding="utf-8") as file:
            file.write(marker("two"))
        os.rename(away, daemon.path("a.nvtxt"))
        daemon.has("one", "two")
        daemon.ended(None)
        equal(daemon.sources("events, errors"), [(2, 0)])


def test_a_file_that_was_closed_when_it_went_goes_on_after_a_restart():
    with Watched() as daemon:
        daemon.write("a.nvtxt", HEAD + marker("one"))
        daemon.has("one")
        for _ in range(2):  # a file that did not grow is closed; what ended is not read again
            daemon.stop()
            daemon.start()
            daemon.says("watching")
            os.rename(daemon.path("a.nvtxt"), daemon.folder + "/away")
            daemon.ended("removed")
            os.rename(daemon.folder + "/away", daemon.path("a.nvtxt"))
        daemon.stop()
        daemon.append("a.nvtxt", marker("two"))
        daemon.start()
        daemon.has("one", "two")
        daemon.ended(None)
        equal(daemon.sources("events, errors"), [(2, 0)])


def test_another_file_in_its_place_while_nobody_looked_is_known():
    with Watched() as daemon:
        daemon.write("a.nvtxt", HEAD + marker("one"))
        daemon.has("one")
        daemon.stop()
        daemon.write("a.nvtxt", HEAD + marker("two") + marker("three"))  # the same inode
        daemon.start()
        daemon.has("one", "two", "three")
        daemon.ended("replaced", None)


def test_what_did_not_change_for_long_ends_and_goes_on_when_it_grows():
    with Watched("FileExpiry=1s\n") as daemon:
        daemon.write("a.nvtxt", HEAD + "RangePush, 1, 7, 'open'\nMarker, 4, 7, 'one'")
        daemon.ended("idle")
        daemon.has("open", "one")
        daemon.append("a.nvtxt", "\n" + marker("two"))
        daemon.has("open", "one", "two")
        wait_for(lambda: daemon.sources("events") == [(3,)], "one source")


def test_what_is_no_file_or_cannot_be_read_is_left_alone_and_said_once():
    with Watched(start=False) as daemon:
        with open(os.path.join(daemon.folder, "secret"), "w", encoding="utf-8") as file:
            file.write(HEAD + marker("no"))
        daemon.write("a.nvtxt", HEAD + marker("one"))
        daemon.write("b.nvtxt", HEAD + marker("two"))
        os.chmod(daemon.path("b.nvtxt"), 0)
        daemon.start()
        readable = os.access(daemon.path("b.nvtxt"), os.R_OK)  # root reads everything
        daemon.has(*(["one", "two"] if readable else ["one"]))
        if not readable:
            daemon.says("cannot be read: Permission denied path=\"%s" % daemon.path("b.nvtxt"))
        os.chmod(daemon.path("b.nvtxt"), stat.S_IRUSR)
        daemon.has("one", "two")
        for name, make in (("pipe", os.mkfifo), ("folder", os.mkdir),
                           ("link", lambda path: os.symlink(daemon.folder + "/secret", path))):
            time.sleep(1.1)  # one line a second
            make(daemon.path(name + ".nvtxt"))
            daemon.says("not followed: it is no regular file path=\"%s" % daemon.path(name))
        os.utime(daemon.path("folder.nvtxt"))
        daemon.write("c.nvtxt", HEAD + marker("three"))
        daemon.has("one", "two", "three")
        equal(daemon.log_text().count("not followed"), 3)


def test_who_renames_in_a_folder_cannot_flood_the_log():
    with Watched() as daemon:
        daemon.says("watching")
        started = time.monotonic()
        os.mkdir(daemon.path("0.nvtxt"))
        for number in range(500):
            os.rename(daemon.path("%d.nvtxt" % number), daemon.path("%d.nvtxt" % (number + 1)))
        daemon.write("a.nvtxt", HEAD + marker("one"))
        daemon.has("one")
        said = daemon.log_text().count("not followed")
        assert 1 <= said <= time.monotonic() - started + 2, said
        time.sleep(1.1)
        os.mkdir(daemon.path("last.nvtxt"))
        daemon.says(daemon.path("last.nvtxt"))


def test_files_that_never_held_a_byte_are_forgotten_with_their_folder():
    with Watched() as daemon:
        for take_away in (shutil.rmtree, lambda path: os.rename(path, path + "-moved")):
            for number in range(100):
                daemon.write("%d.nvtxt" % number, "")
            wait_for(lambda: daemon.control("status")["files"] == 100, "all are known")
            take_away(daemon.inside)
            wait_for(lambda: daemon.control("status")["files"] == 0, "none is")
            os.mkdir(daemon.inside)
            wait_for(lambda: daemon.control("status")["folders"][0]["watched"], "it is there again")
        daemon.write("a.nvtxt", HEAD + marker("one"))
        daemon.has("one")


def test_empty_files_beyond_the_bound_are_passed_over_until_they_have_a_byte():
    with Watched() as daemon:
        def folder():
            return daemon.control("status")["folders"][0]
        for number in range(4200):
            daemon.write("%04d.nvtxt" % number, "")
        wait_for(lambda: (folder()["files"], folder().get("passed_over")) == (4096, 104),
                 "some are passed over")
        equal(daemon.control("status")["files"], 4096)
        equal(daemon.log_text().count("more than 4096 empty files"), 1)
        for number in range(4200):
            if number % 100 == 99:
                daemon.append("%04d.nvtxt" % number, HEAD + marker("%d" % number))
        wanted = ["%d" % number for number in range(99, 4200, 100)]
        daemon.has(*wanted)
        os.rename(daemon.path("0099.nvtxt"), daemon.path("old"))
        daemon.write("0099.nvtxt", "")  # another one; there is room for it now
        daemon.append("0099.nvtxt", HEAD + marker("again"))
        daemon.has(*wanted, "again")


def test_a_folder_may_come_late_and_come_again():
    with Watched(make=False) as daemon:
        daemon.says("a folder cannot be watched: No such file or directory")
        os.mkdir(daemon.inside)
        daemon.write("a.nvtxt", HEAD + marker("one"))
        daemon.has("one")
        away = os.path.join(daemon.folder, "away")
        os.rename(daemon.inside, away)
        wait_for(lambda: daemon.log_text().count("cannot be watched") == 2, "it is missed")
        with open(os.path.join(away, "a.nvtxt"), "a", encoding="utf-8") as file:
            file.write(marker("two"))
        os.rename(away, daemon.inside)
        daemon.has("one", "two")
        os.unlink(daemon.path("a.nvtxt"))
        os.rmdir(daemon.inside)
        os.mkdir(daemon.inside)
        daemon.write("b.nvtxt", HEAD + marker("three"))
        daemon.has("one", "two", "three")


def test_a_reload_adds_and_takes_away_folders():
    with Watched() as daemon:
        other = os.path.join(daemon.folder, "other")
        os.mkdir(other)
        daemon.write("a.nvtxt", HEAD + marker("one"))
        with open(os.path.join(other, "b.nvtxt"), "w", encoding="utf-8") as file:
            file.write(HEAD + marker("two"))
        daemon.has("one")
        daemon.configure("WatchDirectory=%s/\n" % other)
        equal(daemon.control("reload")["applied"], ["WatchDirectory"])
        daemon.has("one", "two")
        daemon.ended("unwatched", None)
        daemon.append("a.nvtxt", marker("three"))
        daemon.configure("WatchDirectory=%s\nWatchDirectory=%s\n" % (other, daemon.inside))
        daemon.control("reload")
        daemon.has("one", "two", "three")
        daemon.ended(None, None)


def test_the_folder_of_the_environment_is_the_default():
    folder = lib.tempfile.mkdtemp(prefix="nvtxtd-test-")
    try:
        with open(os.path.join(folder, "a.nvtxt"), "w", encoding="utf-8") as file:
            file.write(HEAD + marker("one"))
        env = dict(os.environ, NSIGHT_ANALYSIS_SESSION_OUTPUT_PATH=folder)
        with Watched("WatchDirectory=\n", env=env) as daemon:
            daemon.has("one")
    finally:
        lib.shutil.rmtree(folder)


class Session(Watched):
    """A session's folder with a capture folder, whose files are followed."""

    def __init__(self, config="WatchCaptures=yes\n", start=True, **options):
        super().__init__(config, start=False, **options)
        os.mkdir(self.path("p_Capture_000"))
        self.write("all.nvtxt", HEAD + marker("session"))
        self.write("p_Capture_000/one.nvtxt", HEAD + marker("one"))
        if start:
            self.start()

    def folders(self):
        return sorted(row["path"] for row in self.control("status")["folders"])


def test_capture_folders_of_a_session_are_followed_and_those_that_come():
    with Session() as daemon:
        daemon.has("session", "one")
        for name in ("p_Capture_000/sub_capture", "other", ".capture", "p_CAPTURE_001"):
            os.mkdir(daemon.path(name))
        os.symlink("other", daemon.path("link_capture"))
        daemon.write("other/no.nvtxt", HEAD + marker("no"))
        daemon.write("capture.txt", HEAD + marker("no"))
        daemon.write("capture.nvtxt", HEAD + marker("file"))
        daemon.write("p_Capture_000/sub_capture/no.nvtxt", HEAD + marker("no"))
        daemon.write("p_CAPTURE_001/two.nvtxt", HEAD + marker("two"))
        daemon.append("p_Capture_000/one.nvtxt", marker("more"))
        daemon.has("session", "one", "two", "more", "file")
        equal(sorted(daemon.sources("kind, name, events")),
              [("file", daemon.path(name), events) for name, events in (
                  ("all.nvtxt", 1), ("capture.nvtxt", 1), ("p_CAPTURE_001/two.nvtxt", 1),
                  ("p_Capture_000/one.nvtxt", 2))])
        equal(daemon.folders(), [daemon.inside, daemon.path("p_CAPTURE_001"), daemon.path("p_Capture_000")])
        assert "not followed" not in daemon.log_text(), daemon.log_text()


def test_a_kill_reads_no_byte_of_a_capture_again():
    with Session() as daemon:
        daemon.has("session", "one")
        daemon.stop(signal.SIGKILL, status=-signal.SIGKILL)
        daemon.append("p_Capture_000/one.nvtxt", marker("more"))
        daemon.start()
        daemon.has("session", "one", "more")
        equal([row[1] for row in daemon.sources()], [None, None])


def test_a_capture_folder_that_goes_or_gets_another_name():
    with Session() as daemon:
        daemon.has("session", "one")
        os.rename(daemon.path("p_Capture_000"), daemon.path("p_Capture_001"))
        wait_for(lambda: daemon.folders() == [daemon.inside, daemon.path("p_Capture_001")], "the name")
        daemon.append("p_Capture_001/one.nvtxt", marker("more"))
        daemon.has("session", "one", "more")
        equal(sorted(daemon.sources("ended")), [(None,), (None,)])
        os.mkdir(daemon.path("p_Capture_002"))
        daemon.write("p_Capture_002/two.nvtxt", HEAD + marker("two"))
        daemon.has("session", "one", "more", "two")
        for name in ("p_Capture_001", "p_Capture_002"):
            shutil.rmtree(daemon.path(name))
        daemon.append("all.nvtxt", marker("still"))
        wait_for(lambda: sorted(row[1] or "" for row in daemon.sources()) == ["", "removed", "removed"],
                 "the sources end")
        wait_for(lambda: daemon.folders() == [daemon.inside], "the folders are closed")
        os.mkdir(daemon.path("p_Capture_001"))
        daemon.write("p_Capture_001/one.nvtxt", HEAD + marker("again"))
        daemon.has("session", "one", "more", "two", "still", "again")


def test_a_user_who_makes_many_capture_folders_is_bounded():
    with Session(start=False) as daemon:
        for number in range(1, 1003):
            os.mkdir(daemon.path("p_Capture_%03d" % number))
        daemon.start()
        daemon.says("there are more than 1000 capture folders: the others are not watched folder=\"%s\""
                    % daemon.inside)
        wait_for(lambda: len(daemon.folders()) == 1001, "a thousand of them")
        equal(daemon.log_text().count("capture"), 1)
        for folder in daemon.folders()[1:]:
            shutil.rmtree(folder)
        wait_for(lambda: len(daemon.folders()) == 4, "the others have room")


def test_captures_are_followed_by_default_in_the_folder_of_the_environment_only():
    with Session("") as daemon:
        daemon.has("session")
        daemon.settled()
        equal(daemon.folders(), [daemon.inside])
        folder = daemon.inside
        env = dict(os.environ, NSIGHT_ANALYSIS_SESSION_OUTPUT_PATH=folder + "//")
        for config, wanted in (("WatchDirectory=\n", ["one", "session"]),
                               ("WatchDirectory=\nWatchDirectory=%s\n" % folder, ["one", "session"]),
                               ("WatchDirectory=\nWatchCaptures=\n", ["one", "session"]),
                               ("WatchDirectory=\nWatchCaptures=no\n", ["session"])):
            with Watched(config, env=env) as other:
                other.has(*wanted)
                other.settled()
                equal(len(other.control("status")["folders"]), len(wanted), config)


def test_a_reload_takes_captures_and_leaves_them():
    with Session("") as daemon:
        daemon.has("session")
        for _ in range(2):
            daemon.configure("WatchDirectory=%s\nWatchCaptures=yes\n" % daemon.inside)
            daemon.tell_to_reload()
            daemon.has("session", "one")
            wait_for(lambda: len(daemon.folders()) == 2, "the capture folder")
            daemon.configure("WatchDirectory=%s\n" % daemon.inside)
            daemon.tell_to_reload()
            wait_for(lambda: daemon.folders() == [daemon.inside], "no capture folder")
        wait_for(lambda: sorted(row[1] or "" for row in daemon.sources()) == ["", "unwatched"], "the end")
        both = "WatchDirectory=%s\nWatchCaptures=yes\n" % daemon.inside
        for config in (both, both + "WatchDirectory=%s\n" % daemon.path("p_Capture_000")):
            daemon.configure(config)
            daemon.tell_to_reload()
            wait_for(lambda: len(daemon.folders()) == 2, "the capture folder")
        daemon.append("p_Capture_000/one.nvtxt", marker("more"))
        daemon.has("session", "one", "more")
        shutil.move(daemon.path("p_Capture_000"), daemon.folder + "/elsewhere")
        daemon.says("a folder cannot be watched")  # one that was named is waited for
        shutil.move(daemon.folder + "/elsewhere", daemon.path("p_Capture_000"))
        daemon.append("p_Capture_000/one.nvtxt", marker("back"))
        daemon.has("session", "one", "more", "back")


def test_events_that_the_kernel_dropped_cost_no_line():
    with open("/proc/sys/fs/inotify/max_queued_events", encoding="ascii") as file:
        most = int(file.read())
    if most > 20000:
        raise lib.Skip("the kernel keeps %d events" % most)
    with Watched() as daemon:
        files = [open(daemon.path(name), "w", encoding="utf-8") for name in ("a.nvtxt", "b.nvtxt")]
        for file in files:
            file.write(HEAD)
            file.flush()
        wait_for(lambda: len(daemon.places()) == 2, "both are followed")
        lib.halt(daemon.process)
        try:
            for i in range(most + 10):
                os.write(files[i % 2].fileno(), b"\n")
            daemon.write("late.nvtxt", HEAD + marker("late"))
            daemon.append("a.nvtxt", marker("one"))
        finally:
            daemon.process.send_signal(signal.SIGCONT)
        daemon.has("late", "one")
        for file in files:
            file.close()


def test_a_rotation_takes_the_places_along():
    with Watched("FileExpiry=1s\n") as daemon:
        daemon.write("old.nvtxt", HEAD + marker("old"))
        daemon.ended("idle")
        daemon.configure("WatchDirectory=%s\n" % daemon.inside)
        daemon.control("reload")
        daemon.write("a.nvtxt", HEAD + "RangePush, 1, 7, 'open'\n" + marker("one") + "Mark")
        daemon.has("old", "one")
        daemon.control("rotate")
        daemon.append("a.nvtxt", "er, 1, 7, 'two'\nRangePop, 5, 7\n")
        daemon.has("two", "open")  # of the new segment
        daemon.stop()
        daemon.start()
        daemon.append("a.nvtxt", marker("three"))
        daemon.append("old.nvtxt", marker("again"))
        daemon.has("two", "open", "three", "again")
        equal(daemon.sources("name, events, errors, ended"),
              [(daemon.path("old.nvtxt"), 2, 0, None), (daemon.path("a.nvtxt"), 4, 0, None)])


def test_a_file_that_is_named_twice_is_read_once():
    with Watched() as daemon:
        daemon.write("a.nvtxt", HEAD + marker("one"))
        os.link(daemon.path("a.nvtxt"), daemon.path("b.nvtxt"))
        daemon.has("one")
        os.unlink(daemon.path("a.nvtxt"))
        daemon.append("b.nvtxt", marker("two"))
        daemon.has("one", "two")
        daemon.ended(None)


def test_more_files_than_descriptors_are_read():
    def few():
        import resource
        resource.setrlimit(resource.RLIMIT_NOFILE, (160, 160))

    with Watched(start=False, limits=few) as daemon:
        names = ["f%03d" % i for i in range(300)]
        for name in names:
            daemon.write(name + ".nvtxt", HEAD + marker(name))
        daemon.start()
        daemon.has(*names)
        for name in names[::7]:
            daemon.append(name + ".nvtxt", marker(name + "+"))
        daemon.has(*names, *[name + "+" for name in names[::7]])
        equal(daemon.sources("sum(errors), count(*), sum(ended IS NOT NULL)"), [(0, 300, 0)])
        taken = len(os.listdir("/proc/%d/fd" % daemon.process.pid))
        assert taken < 100, "%d descriptors" % taken


lib.run(globals())
