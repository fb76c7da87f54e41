# SPDX-License-Identifier: Apache-2.0
"""nvtxt-report html --follow without a browser: when it writes the page again, that each page is
whole, what goes away meanwhile, how it ends."""
import os
import random
import re
import shutil
import signal
import sys
import time

from client import Folder, Running, contains, run_client
from lib import Daemon, SHORT, Skip, equal, run, wait_for
from report import F1, f1, make_export, make_store, report
from small_disk import SmallDisk

EVENTS = re.compile(r'"version":1,"events":(\d+),')
FIRST = re.compile(r'"first":"(\d+)"')
FOLLOWS = re.compile(r'"follow":\{"interval":(\d+),"written":"(\d+)","newest":"(\d+)"\}\}</script>')
MOST = 200000
# Takes longer than a program may go on after a signal that is to end it.
SLOW = """\
import time
import NvRules
def get_identifier():
    return "Slow"
def get_name():
    return "Slow"
def get_description():
    return "Slow"
def apply(handle):
    time.sleep(1)
    NvRules.get_context(handle).frontend().message(NvRules.IFrontend.MsgType_OK, "slept")
"""
KILLS = 50 if os.environ.get("NVTXT_TEST_LONG") else 3 if SHORT else 10


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def page_of(path):
    """The text of a page, which is whole, and how many events it has."""
    text = text_of(path)
    equal((text[:15], text[-8:]), ("<!DOCTYPE html>", "</html>\n"))
    return text, int(EVENTS.search(text)[1])


def is_following(text):
    follows = '<html lang="en" data-follows="1"' in text
    equal(not follows or FOLLOWS.search(text) is not None, True)
    return follows


class Follower(Running):
    def __init__(self, path, *args, interval="0.1s"):
        super().__init__("nvtxt-report", "html", "--follow=" + interval, "-o", path, *args)
        self.path = path

    def __enter__(self):
        wait_for(lambda: os.path.exists(self.path) or self.process.poll() is not None, "there is a page")
        return self

    def shows(self, count):
        """Waits for a page with so many events; returns its text."""
        wait_for(lambda: os.path.exists(self.path) and page_of(self.path)[1] == count or self.process.poll() is not None,
                 "a page has %d events" % count)
        return page_of(self.path)[0]

    def says(self, part, times=1):
        wait_for(lambda: self.stderr().count(part) >= times, "it says %r: %r" % (part, self.stderr()))
        equal(self.stderr().count(part), times, self.stderr())

    def written_again(self):
        before = os.stat(self.path).st_ino
        wait_for(lambda: os.path.exists(self.path) and os.stat(self.path).st_ino != before, "the page is written again")

    def ends(self, number=signal.SIGTERM, status=0):
        """Ends with a page that does not follow."""
        self.signal(number)
        self.expect(status)
        equal(is_following(page_of(self.path)[0]), False)


def marks(count, name="mark"):
    now = time.time_ns()
    return ("ProcessId = 7\n@Marker, Time, ThreadId, Message\n" +
            "".join('Marker, %d, 1, "%s %d"\n' % (now + i, name, i) for i in range(count)))


def send(daemon, folder, count):
    got = run_client("nvtxt-send", "--socket", daemon.socket, folder.write("marks.nvtxt", marks(count)))
    equal(got[0], 0, got)


def temporary(folder):
    return [name for name in os.listdir(folder) if ".part-" in name]


def test_what_it_needs_is_said():
    with Folder() as folder:
        store = f1(folder)
        page = folder.name("page.html")
        for args, part in (((), "-o FILE, such as -o page.html"), (("-o", "-"), "not standard output: -o FILE"),
                           (("-o", "/dev/stdout"), "no file that --follow can write"),
                           (("-o", "/dev/null"), "no file that --follow can write")):
            status, out, err = report("html", "--follow", *args, store)
            equal((status, out), (64, ""), err)
            contains(err, part)
        for value in ("0", "0s", "0.05s", "99ms", "2d", "-5s", "", "often"):
            status, _, err = report("html", "--follow=" + value, "-o", page, store)
            equal((value, status), (value, 64), err)
            contains(err, "from 0.1s to 1d, such as 5s")
        status, _, err = report("html", "--follow", "5s", "-o", page, store)
        equal(status, 64, err)
        contains(err, "--follow=5s")
        for command in ("stats", "report", "diff", "check"):
            status, _, err = report(command, "--follow", store, *[store] * (command == "diff"))
            equal(status, 64, err)
            contains(err, "it is for html")
        equal(report("html", "--follow", "-o", store, store)[0], 64)
        equal(report("html", "--follow", "-o", page, folder.name("none.sqlite"))[0], 66)
        equal(report("html", "--follow", "-o", page, folder.write("text.sqlite", "no store"))[0], 65)
        equal(report("html", "--follow", "-o", page, "--rule", "Nope", store)[0], 64)
        equal(report("html", "--follow", "-o", folder.name("none/page.html"), store)[0], 73)
        equal(os.path.exists(page), False)
        equal(temporary(folder.path), [])


def test_it_writes_when_there_are_new_events():
    with Folder() as folder, Daemon() as daemon:
        send(daemon, folder, 3)
        with Follower(folder.name("page.html"), daemon.store) as follower:
            text = follower.shows(3)
            interval, written, newest = map(int, FOLLOWS.search(text).groups())
            equal(interval >= 100 and newest < written <= time.time_ns(), True, (interval, written, newest))
            os.chmod(follower.path, 0o604)
            for count in (4, 5, 6):
                send(daemon, folder, 1)
                follower.shows(count)
            equal(os.stat(follower.path).st_mode & 0o777, 0o604, "the permissions stay")
            with daemon.session() as session:
                session.send('ProcessId = 8\n@RangePush, Time, ThreadId, Message\nRangePush, %d, 1, "open"\n' %
                             time.time_ns())
                follower.shows(7)  # an open range, which is in no batch
                session.end()
            follower.ends()
            equal(follower.stderr(), "")
            equal(temporary(folder.path), [])


def test_each_signal_ends_it_with_a_last_page():
    with Folder() as folder:
        store = f1(folder)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with Follower(folder.name("page.html"), store, interval="1d") as follower:
                wait_for(lambda: is_following(page_of(follower.path)[0]), "it follows")
                follower.ends(number)
        plain = folder.name("plain.html")
        equal(report("html", "-o", plain, store)[0], 0)

        def without(text):  # the command line
            return re.sub(r"<dt>Command line.*?</dd>", "", text)
        equal(without(text_of(follower.path)) == without(text_of(plain)), True, "the last page is like any other")


def test_a_quiet_end_keeps_what_the_page_shows():
    """With --last a page of now would have nothing of what one has looked at."""
    with Folder() as folder:
        now = time.time_ns()
        text = '@Marker, Time, Message\nMarker, %d, "kept"\n' % now
        store = make_store(folder, "now.sqlite", folder.write("now.nvtxt", text))
        with Follower(folder.name("page.html"), "--last", "2s", store, interval="0.1s") as follower:
            wait_for(lambda: is_following(page_of(follower.path)[0]) and "kept" in text_of(follower.path), "the event is shown")
            wait_for(lambda: time.time_ns() > now + 3 * 10**9, "it is no more of the last two seconds")
            follower.ends(signal.SIGINT)
        equal(is_following(page_of(follower.path)[0]), False)
        assert "kept" in text_of(follower.path)


def test_the_last_page_has_its_time_and_a_second_signal_ends_it():
    with Folder() as folder:
        store = f1(folder)
        os.mkdir(folder.name("rules"), 0o755)
        rule = folder.write("rules/slow.py", SLOW)
        os.chmod(rule, 0o644)
        slow = ("--section-folder", folder.name("rules"), "--sandbox", "never", "--python", sys.executable)
        with Follower(folder.name("page.html"), *slow, store, interval="1d") as follower:
            follower.shows(15)
            contains(page_of(follower.path)[0], "slept")
            follower.ends()
            contains(page_of(follower.path)[0], "slept")
        with Follower(folder.name("other.html"), *slow, store, interval="1d") as follower:
            before = follower.shows(15)
            follower.signal(signal.SIGTERM)
            wait_for(lambda: temporary(folder.path), "the last page is begun")
            follower.signal(signal.SIGINT)
            equal(follower.wait(), 128 + signal.SIGTERM)
            equal((text_of(follower.path), temporary(folder.path)), (before, []))


def test_it_is_whole_whenever_it_is_killed():
    chance = random.Random(30)
    with Folder() as folder, Daemon() as daemon:
        send(daemon, folder, 2000)
        path = folder.name("page.html")
        equal(report("html", "-o", path, daemon.store)[0], 0)
        plain = text_of(path)
        for _ in range(KILLS):
            with Follower(path, daemon.store) as follower:
                for _ in range(chance.randrange(1, 3)):
                    send(daemon, folder, chance.randrange(1, 500))
                until = time.monotonic() + chance.random() * 0.3
                while time.monotonic() < until:
                    page_of(path)
                follower.process.kill()
                follower.wait()
                page_of(path)
        folder.write("page.html.part-0123abcd", plain[:1000])  # what a kill in the middle leaves
        left = temporary(folder.path)
        with open(path, "w", encoding="utf-8") as file:
            file.write(plain)
        for name in left:  # they are old enough to be nobody's
            os.utime(folder.name(name), (1, 1))
        with Follower(path, daemon.store) as follower:
            wait_for(lambda: is_following(page_of(path)[0]) and temporary(folder.path) == [], "what was left is removed: %s" % left)
            follower.ends()


def test_it_wakes_up_for_nothing():
    with Folder() as folder, Daemon() as daemon:
        send(daemon, folder, 3)

        def switches(process):
            text = text_of("/proc/%d/status" % process.pid)
            return [int(count) for count in re.findall(r"ctxt_switches:\s+(\d+)", text)]

        def rests(process, seconds=8):
            before, end = switches(process), time.monotonic() + seconds
            wait_for(lambda: time.monotonic() > end or switches(process) != before, "the time is over")
            return switches(process) == before

        with Follower(folder.name("page.html"), daemon.store) as follower:
            follower.shows(3)
            wait_for(lambda: rests(follower.process), "it rests")
            send(daemon, folder, 1)
            follower.shows(4)


def test_a_store_that_is_rotated_is_followed():
    with Folder() as folder, Daemon() as daemon:
        send(daemon, folder, 3)
        with Follower(folder.name("page.html"), daemon.store) as follower:
            follower.shows(3)
            daemon.control("rotate")
            send(daemon, folder, 2)
            follower.shows(5)
            first = daemon.segments()[0]
            for end in ("", "-wal", "-shm"):
                if os.path.exists(first + end):
                    os.remove(first + end)
            send(daemon, folder, 1)
            follower.shows(3)
            follower.ends()
            equal(follower.stderr(), "")


def test_a_store_that_goes_is_waited_for():
    with Folder() as folder:
        os.mkdir(folder.name("stores"))
        store = make_store(folder, "stores/s.sqlite", F1)
        other = make_store(folder, "other.sqlite", folder.write("one.nvtxt", marks(1)))
        events = int(EVENTS.search(page_text(folder, store))[1])
        with Follower(folder.name("page.html"), store) as follower:
            before = follower.shows(events)
            os.remove(store)
            follower.says("is not there at the moment: %s stays as it is" % follower.path)
            equal(text_of(follower.path), before)
            shutil.copy(other, store)
            follower.shows(1)
            os.replace(make_store(folder, "stores/new.sqlite", F1), store)
            follower.shows(events)
            follower.says("is not there at the moment")
            os.rename(folder.name("stores"), folder.name("away"))
            follower.says("is not there at the moment", 2)
            os.rename(folder.name("away"), folder.name("stores"))
            os.replace(other, store)
            follower.shows(1)
            os.remove(store)
            follower.says("is not there at the moment", 3)
            before = text_of(follower.path)
            follower.ends()
            equal(text_of(follower.path), before.replace(' data-follows="1"', ""))


def page_text(folder, *args):
    equal(report("html", "-o", folder.name("plain.html"), *args)[0], 0)
    return text_of(folder.name("plain.html"))


def test_of_two_stores_one_may_go():
    with Folder() as folder:
        one = make_store(folder, "one.sqlite", folder.write("one.nvtxt", marks(1)))
        two = make_store(folder, "two.sqlite", folder.write("two.nvtxt", marks(2)))
        export = make_export(folder, "export.sqlite", one)
        with Follower(folder.name("page.html"), one, two, export) as follower:
            follower.shows(4)
            os.remove(two)
            follower.shows(2)
            follower.says("is made of the others until it is back")
            os.replace(make_export(folder, "new.sqlite", f1(folder)), export)
            wait_for(lambda: page_of(follower.path)[1] > 5, "another export is shown")
            follower.ends()


def test_the_last_seconds_are_those_of_each_page():
    with Folder() as folder, Daemon() as daemon:
        send(daemon, folder, 3)
        with Follower(folder.name("page.html"), "--last", "2s", daemon.store) as follower:
            def first_ns():
                """Of the events of the page, one of which is new."""
                send(daemon, folder, 1)
                return int((FIRST.search(page_of(follower.path)[0]) or [0, 0])[1])
            before = wait_for(first_ns, "an event is not too old")
            wait_for(lambda: first_ns() > before, "these events are too old")
            follower.ends()


def test_a_large_store_wants_a_bound():
    with Folder() as folder, Daemon() as daemon:
        send(daemon, folder, MOST - 10)
        path = folder.name("page.html")
        with Follower(path, daemon.store, interval="0.2s") as follower:
            equal(' data-cut="1"' in follower.shows(MOST - 10), False)
            send(daemon, folder, 20)
            equal(' data-cut="1"' in follower.shows(MOST + 10), True)
            send(daemon, folder, 5)
            follower.shows(MOST + 15)
            follower.says("there are more than 200000 events now")
            equal(follower.stderr().count("\n"), 1, follower.stderr())
            equal(int(FOLLOWS.search(text_of(path))[1]) > 200, True, "ten times as long as a page takes")
            follower.ends()
        os.remove(path)
        status, _, err = report("html", "--follow", "-o", path, daemon.store)
        equal(status, 64, err)
        contains(err, "--follow needs --last or --max-events: there are 200,015 events, more than 200,000")
        equal(os.path.exists(path), False)
        for bound in (("--last", "1d"), ("--max-events", "1000")):
            with Follower(path, *bound, daemon.store, interval="1d") as follower:
                follower.shows(MOST + 15)
                follower.ends()
            os.remove(path)


def test_a_full_disk_is_said_once():
    with Folder() as folder, Daemon() as daemon, SmallDisk(folder.path) as disk:
        send(daemon, folder, 3)
        with Follower(os.path.join(disk.folder, "page.html"), daemon.store) as follower:
            before = follower.shows(3)
            disk.fill()
            for _ in range(3):
                send(daemon, folder, 1)
                follower.says("No space left on device")
                equal(text_of(follower.path), before)
            wait_for(lambda: temporary(disk.folder) == [], "no part of a page stays")
            equal(follower.process.poll(), None)
            for _ in range(12):  # more often than it looks for a late commit
                tried = os.stat(disk.folder).st_mtime_ns
                wait_for(lambda: os.stat(disk.folder).st_mtime_ns != tried, "it tries again")
            disk.empty()
            follower.shows(6)
            follower.says("is written again")
            disk.fill()
            send(daemon, folder, 1)
            follower.says("No space left on device", 2)
            disk.empty()
            follower.shows(7)
            follower.ends()
        disk.fill()  # before the first page
        with Running("nvtxt-report", "html", "--follow=0.1s", "-o", os.path.join(disk.folder, "other.html"),
                     daemon.store) as follower:
            wait_for(lambda: "No space left on device" in follower.stderr(), "it says so")
            disk.empty()
            wait_for(lambda: os.path.exists(os.path.join(disk.folder, "other.html")), "there is a page")


def test_a_page_without_a_store_that_went_is_tried_again_on_a_full_disk():
    with Folder() as folder, SmallDisk(folder.path) as disk:
        one = make_store(folder, "one.sqlite", folder.write("one.nvtxt", marks(1)))
        two = make_store(folder, "two.sqlite", folder.write("two.nvtxt", marks(2)))
        with Follower(os.path.join(disk.folder, "page.html"), one, two) as follower:
            follower.shows(3)
            disk.fill()
            os.remove(two)
            follower.says("No space left on device")
            equal(page_of(follower.path)[1], 3)
            disk.empty()
            follower.shows(1)
            follower.says("is written again")
            follower.ends()


def test_a_folder_that_vanished_is_waited_for():
    with Folder() as folder, Daemon() as daemon:
        send(daemon, folder, 3)
        os.mkdir(folder.name("pages"))
        with Follower(folder.name("pages/page.html"), daemon.store) as follower:
            follower.shows(3)
            shutil.rmtree(folder.name("pages"))
            for _ in range(3):
                send(daemon, folder, 1)
                follower.says("cannot create")
            os.mkdir(folder.name("pages"))
            follower.shows(6)
            follower.says("is written again")
            follower.ends()


def test_notes_are_said_once():
    with Folder() as folder, Daemon() as daemon:
        send(daemon, folder, 3)
        with Follower(folder.name("page.html"), "--category", "nothing", daemon.store) as follower:
            follower.shows(0)
            for _ in range(3):
                send(daemon, folder, 1)
                follower.written_again()
            text = follower.stderr()
            equal(len(text.splitlines()), len(set(text.splitlines())), text)
            equal(text.count("note: "), 1, text)
            follower.ends()


if __name__ == "__main__":
    run(globals())
