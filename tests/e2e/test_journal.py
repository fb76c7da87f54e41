# SPDX-License-Identifier: Apache-2.0
"""nvtxt-send --journal: entries of systemd's journal become markers, each once, whoever stops
when."""
import contextlib
import os
import random
import signal
import socket
import stat
import subprocess
import sys

import journal
from client import Folder, Running, contains, run_client
from lib import Daemon, Skip, equal, program, run, wait_for


def send(daemon, *args, **more):
    return run_client("nvtxt-send", "--socket", daemon.socket, "--journal", *args, **more)


def running(daemon, *args, **more):
    return Running("nvtxt-send", "--socket", daemon.socket, "--journal", *args, **more)


def lines(daemon, columns="message"):
    return daemon.query("SELECT %s FROM NVTXT_TIMELINE ORDER BY eventRow" % columns)


def messages(daemon):
    return [text for text, in lines(daemon)]


def count(daemon):
    return daemon.query("SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 34")[0][0]


def numbered(first, last):
    return [journal.entry(number) for number in range(first, last)]


def texts(first, last):
    return ["entry %d" % number for number in range(first, last)]


def sessions(daemon, columns="ended"):
    return daemon.query("SELECT %s FROM NVTXT_SOURCES WHERE kind = 'session' ORDER BY id" % columns)


# ---- What comes of entries ------------------------------------------------------------------------

def test_entries_become_markers_with_their_own_time_level_unit_and_process():
    with Daemon() as daemon, Folder() as folder:
        path = journal.write(folder.name("a.journal"), [
            journal.entry(0, PRIORITY=3, _PID=4200007, TID=4200009),
            journal.entry(1, PRIORITY=None, _PID=None, _SYSTEMD_UNIT=None, SYSLOG_IDENTIFIER="kernel"),
            journal.entry(2, _PID=1, UNIT="cron.service", _SYSTEMD_UNIT="init.scope"),
            journal.entry(3, UNIT="forged.service"),
            journal.entry(4, _SYSTEMD_UNIT="user@7.service", _SYSTEMD_USER_UNIT="app.service"),
            journal.entry(5, _HOSTNAME="elsewhere", PRIORITY=4)])
        equal(send(daemon, "--journal-file", path), (0, "", ""))
        start = journal.BEGIN_US * 1000
        equal(lines(daemon, "message, level, category, pid, tid, start - %d, domain" % start), [
            ("entry 0", "err", "ssh.service", 4200007, 4200009, 0, None),
            ("entry 1", None, "kernel", 0, 0, 10 ** 6, None),
            ("entry 2", "info", "cron.service", 1, 1, 2 * 10 ** 6, None),
            ("entry 3", "info", "ssh.service", 4200000, 4200000, 3 * 10 ** 6, None),
            ("entry 4", "info", "app.service", 4200001, 4200001, 4 * 10 ** 6, None),
            ("entry 5", "warning", "ssh.service", 4200002, 4200002, 5 * 10 ** 6, "elsewhere")])
        equal(lines(daemon, "color")[0], ("#FFFF0000",))
        equal(sessions(daemon, "name, ended, errors, warnings, levels"), [(path, "end", 0, 0, 1)])


def test_any_message_arrives_whole():
    odd = ["two\nlines", "it's \"both\" \\ and \\n", "", "\u20ac\t\x1b[1m", "#nvtxt-end", "trailing\r"]
    with Daemon() as daemon, Folder() as folder:
        path = journal.write(folder.name("a.journal"), [
            *(journal.entry(number, MESSAGE=text) for number, text in enumerate(odd)),
            journal.entry(90, MESSAGE=None, OTHER="no message"),
            journal.entry(91, MESSAGE=b"\xff\0x"), journal.entry(92, MESSAGE="x" * 200000)])
        equal(send(daemon, "--journal-file", path), (0, "", ""))
        got = messages(daemon)
        equal(got[:len(odd) + 1], odd + ["\\xff\\x00x"])
        equal("".join(got[len(odd) + 1:]), "x" * 200000)
        equal(daemon.query("SELECT count(*) FROM NVTXT_DIAGNOSTICS"), [(0,)])


def test_a_folder_is_read_as_a_file_is_and_colours_are_ones_own():
    with Daemon() as daemon, Folder() as folder:
        journal.write(folder.name("a.journal"), numbered(0, 2))
        journal.write(folder.name("b.journal"), numbered(2, 4))
        equal(send(daemon, "--journal-file", folder.path, "--level-pattern", "3$=#010203",
                   "--category", "all"), (0, "", ""))
        equal(messages(daemon), texts(0, 4))
        equal(lines(daemon, "color, category")[2:], [("#FF1E90FF", "all"), ("#FF010203", "all")])


def test_units_levels_and_times_choose_entries():
    def chosen(*args):
        with Daemon() as daemon:
            equal(send(daemon, "--journal-file", path, *args), (0, "", ""))
            return [int(text[6:]) for text in messages(daemon)]

    with Folder() as folder:
        path = journal.write(folder.name("a.journal"), [
            *(journal.entry(level, PRIORITY=level) for level in range(8)), journal.entry(8, PRIORITY=None),
            journal.entry(9, _SYSTEMD_UNIT="cron.service"),
            journal.entry(10, _SYSTEMD_UNIT="a.timer"),
            journal.entry(11, _PID=1, UNIT="cron.service", _SYSTEMD_UNIT="init.scope"),
            journal.entry(12, UNIT="cron.service"),
            journal.entry(13, _UID=0, OBJECT_SYSTEMD_UNIT="cron.service", PRIORITY=2)])
        equal(chosen("-u", "cron"), [9, 11, 13])
        equal(chosen("--unit", "cron.service", "-u", "a.timer"), [9, 10, 11, 13])
        equal(chosen("-u", "cron", "-p", "err"), [13])
        equal(chosen("-p", "err"), [0, 1, 2, 3, 13])
        equal(chosen("--priority", "warning..notice"), [4, 5])
        equal(chosen("-p", "0"), [0])
        equal(chosen("--since", "@%.3f" % (journal.BEGIN_US / 1e6 + 0.010)), [10, 11, 12, 13])
        equal(chosen("-S", "-1h"), [])


# ---- Once -----------------------------------------------------------------------------------------

def test_a_second_run_begins_where_the_first_one_ended():
    with Daemon() as daemon, Folder() as folder:
        path = journal.write(folder.name("a.journal"), numbered(0, 10))
        args = ("--journal-file", path, "--state", folder.name("state"))
        equal(send(daemon, *args, "--since", "@0"), (0, "", ""))
        journal.write(path, numbered(10, 13))
        equal(send(daemon, *args, "--since", "@0"), (0, "", ""))
        equal(messages(daemon), texts(0, 13))
        equal(stat.S_IMODE(os.stat(folder.name("state")).st_mode), 0o600)
        equal(send(daemon, "--journal-file", path), (0, "", ""))  # without a state: all of it
        equal(count(daemon), 26)


def test_each_entry_is_stored_once_over_twenty_kills():
    chance = random.Random(29)
    with Daemon(config="MaxLine = 4096\n") as daemon, Folder() as folder:
        long = {40 * n + 7: "%d " % n + "y" * chance.randrange(20000) for n in range(100)}
        entries = [journal.entry(n, MESSAGE=long.get(n, "entry %d" % n),
                                 _SYSTEMD_UNIT="%d.service" % chance.randrange(40))
                   for n in range(4000)]
        path = journal.write(folder.name("a.journal"), entries[:500])
        args = ("--journal-file", path, "--state", folder.name("state"), "--follow", "--since", "@0")
        written = 500
        for turn in range(20):
            with running(daemon, *args) as client:
                if turn % 4 == 1:  # at any moment: before it is connected, or while it sends
                    wait_for(lambda: os.path.exists(folder.name("state")), "there is a state")
                else:
                    goal = min(count(daemon) + chance.randrange(1, 250), written)
                    wait_for(lambda: count(daemon) >= goal, "%d are stored" % goal)
                    journal.write(path, entries[written:written + 170])
                    written = min(written + 170, 4000)
                client.process.kill()
                client.wait()
            if turn == 10:
                daemon.kill()
                daemon.start()
        journal.write(path, entries[written:])
        equal(send(daemon, *args[:4]), (0, "", ""))
        whole = "".join(long.get(n, "entry %d" % n) for n in range(4000))
        got = "".join(messages(daemon))
        assert got == whole, "%d bytes of %d; these are not there: %r" % (
            len(got), len(whole), [n for n in range(4000) if entries[n]["MESSAGE"] not in got])
        equal(daemon.query("SELECT count(*) FROM NVTXT_DIAGNOSTICS"), [(0,)])


def test_an_entry_that_is_read_while_it_is_written_is_not_lost():
    with Daemon() as daemon, Folder() as folder:
        path = journal.write(folder.name("a.journal"), numbered(0, 4))
        writer = journal.Unlinked(path, b"MESSAGE=entry 3")
        with running(daemon, "--journal-file", path, "--follow", "--since", "@0") as client:
            wait_for(lambda: count(daemon) == 3, "the others are stored")
            writer.link()
            journal.write(path, numbered(4, 5))
            wait_for(lambda: messages(daemon)[-1] == "entry 4", "the next one is stored")
            client.process.kill()
        equal(messages(daemon), texts(0, 5))


def test_a_file_that_is_left_while_an_entry_is_written_loses_none():
    def has_opened(client, path):
        def target(fd):
            with contextlib.suppress(FileNotFoundError):
                return os.readlink(os.path.join(folder, fd))
        folder = "/proc/%d/fd" % client.process.pid
        return any(target(fd) == path for fd in os.listdir(folder))

    with Daemon() as daemon, Folder() as folder:
        path = journal.write(folder.name("a.journal"), numbered(1, 4))
        os.mkdir(folder.name("apart"))
        new = journal.write(folder.name("apart/a.journal"), numbered(0, 1))  # older, by another writer
        writer = journal.Unlinked(path, b"MESSAGE=entry 3")
        with running(daemon, "--journal-file", folder.path, "--follow", "--since", "@0") as client:
            wait_for(lambda: count(daemon) == 2, "the others are stored")
            left = folder.name("a@1.journal")
            os.rename(path, left)  # as a rotation does
            os.rename(new, path)
            wait_for(lambda: client.process.poll() is not None or has_opened(client, left) and
                     has_opened(client, path), "it has both files")
            writer.link()
            journal.write(path, numbered(4, 5))
            wait_for(lambda: client.process.poll() is not None or messages(daemon)[-1] == "entry 4",
                     "the next one is stored")
            client.process.kill()
            equal(client.stderr(), "")
        equal(messages(daemon), texts(1, 5))


def test_the_newest_entry_may_have_no_message():
    def silent(number):
        return journal.entry(number, MESSAGE=None, OTHER="no message")

    with Daemon() as daemon, Folder() as folder:
        path = journal.write(folder.name("a.journal"), [silent(0), journal.entry(1), silent(2)])
        equal(send(daemon, "--journal-file", path), (0, "", ""))
        equal(messages(daemon), texts(1, 2))
        with running(daemon, "--journal-file", path, "--follow", "--since", "@0") as client:
            wait_for(lambda: count(daemon) == 2, "it is stored again")
            journal.write(path, [silent(3), journal.entry(4)])
            wait_for(lambda: count(daemon) == 3, "what follows is stored")
            client.signal(signal.SIGTERM)
            client.expect(128 + signal.SIGTERM)
        equal(messages(daemon), texts(1, 2) * 2 + texts(4, 5))


def test_a_signal_ends_the_session_in_order_and_the_next_run_goes_on():
    with Daemon() as daemon, Folder() as folder:
        path = journal.write(folder.name("a.journal"), numbered(0, 5))
        args = ("--journal-file", path, "--state", folder.name("state"), "--follow")
        for first in (0, 5):
            with running(daemon, *args, "--since", "@0") as client:
                wait_for(lambda: count(daemon) == first + 5, "all are stored")
                client.signal(signal.SIGTERM)
                equal(client.wait(), 128 + signal.SIGTERM)
                equal(client.stderr(), "")
            journal.write(path, numbered(first + 5, first + 10))
        equal(messages(daemon), texts(0, 10))
        equal(sessions(daemon), [("end",), ("end",)])


def test_what_follows_without_a_time_begins_with_new_entries():
    with Daemon() as daemon, Folder() as folder:
        path = journal.write(folder.name("a.journal"), numbered(0, 5))
        with running(daemon, "--journal-file", path, "-f", "--state", folder.name("s")) as client:
            wait_for(lambda: sessions(daemon), "it is connected")
            journal.write(path, numbered(5, 7))
            wait_for(lambda: count(daemon) == 2, "the new ones are stored")
            client.process.kill()
        equal(messages(daemon), texts(5, 7))


def test_a_session_that_is_closed_is_followed_by_a_new_one():
    with Daemon(config="SessionExpiry = 1\n") as daemon, Folder() as folder:
        path = journal.write(folder.name("a.journal"), numbered(0, 5))
        args = ("--journal-file", path, "--state", folder.name("state"))
        with running(daemon, *args, "--since", "@0", "--follow") as client:
            wait_for(lambda: count(daemon) == 5, "all are stored")
            client.process.kill()
        wait_for(lambda: sessions(daemon) == [("expired",)], "the session has expired")
        journal.write(path, numbered(5, 8))
        equal(send(daemon, *args)[0], 0)
        equal(messages(daemon), texts(0, 8))
        equal(sessions(daemon), [("expired",), ("end",)])


def test_a_new_store_gets_what_the_old_one_had_not_acknowledged():
    with Folder() as folder:
        path = journal.write(folder.name("a.journal"), numbered(0, 5))
        args = ("--journal-file", path, "--state", folder.name("state"))
        with Daemon() as daemon, running(daemon, *args, "-f", "--since", "@0") as client:
            wait_for(lambda: count(daemon) == 5, "all are stored")
            client.process.kill()
            client.wait()
            with running(daemon, *args, "-f") as client:  # notes what is stored
                wait_for(lambda: daemon.control("status")["connections"] == 1, "it is connected")
                journal.write(path, numbered(5, 6))
                wait_for(lambda: count(daemon) == 6, "it goes on")
                client.process.kill()
        journal.write(path, numbered(6, 9))
        with Daemon() as daemon:
            status, _, err = send(daemon, *args)
            equal(status, 0)
            contains(err, "forgot the session")
            equal(messages(daemon), texts(5, 9))


def test_a_daemon_that_is_killed_takes_nothing_twice():
    with Daemon() as daemon, Folder() as folder:
        path = journal.write(folder.name("a.journal"), numbered(0, 2000))
        with running(daemon, "--journal-file", path, "--follow", "--since", "@0", "-q") as client:
            for goal in (1, 2000, 2100):
                wait_for(lambda: count(daemon) >= goal, "%d are stored" % goal)
                daemon.kill()
                journal.write(path, numbered(2000, 2100) if goal == 2000 else [])
                daemon.start()
            client.signal(signal.SIGTERM)
            client.expect(128 + signal.SIGTERM)
        equal(messages(daemon), texts(0, 2100))


def test_an_entry_that_is_gone_is_told_with_the_gap():
    with Daemon() as daemon, Folder() as folder:
        old = journal.write(folder.name("old.journal"), numbered(0, 3))
        args = ("--state", folder.name("state"))
        equal(send(daemon, "--journal-file", old, *args), (0, "", ""))
        new = journal.write(folder.name("new.journal"), numbered(60000, 60002))
        status, _, err = send(daemon, "--journal-file", new, *args)
        equal(status, 0)
        said = ("the journal no longer has the entry of 2023-11-14T22:13:20 UTC, which was the last one: "
                "entries between then and 2023-11-14T22:14:20 UTC may be missing")
        contains(err, said)
        equal(messages(daemon), texts(0, 3) + [said] + texts(60000, 60002))
        equal(lines(daemon, "level")[3], ("warning",))
        equal(send(daemon, "--journal-file", new, *args), (0, "", ""))  # it is told once
        equal(count(daemon), 6)


def test_other_units_than_before_are_no_gap():
    with Daemon() as daemon, Folder() as folder:
        path = journal.write(folder.name("a.journal"), numbered(0, 3))
        args = ("--journal-file", path, "--state", folder.name("state"))
        equal(send(daemon, *args), (0, "", ""))
        journal.write(path, [journal.entry(3), journal.entry(4, _SYSTEMD_UNIT="cron.service")])
        equal(send(daemon, *args, "-u", "cron"), (0, "", ""))
        equal(messages(daemon), texts(0, 3) + texts(4, 5))


# ---- Waiting --------------------------------------------------------------------------------------

def test_a_file_of_this_folder_is_followed():
    with Daemon() as daemon, Folder() as folder:
        journal.write(folder.name("a.journal"), numbered(0, 3))
        with running(daemon, "--journal-file", "a.journal", "--follow", "--since", "@0", cwd=folder.path) as client:
            wait_for(lambda: count(daemon) == 3, "all are stored")
            client.signal(signal.SIGTERM)
            client.expect(128 + signal.SIGTERM)


def test_who_follows_sleeps_without_an_end():
    def call():  # the system call that it is in, and its arguments
        with open("/proc/%d/syscall" % client.process.pid, encoding="ascii") as file:
            return file.read().split()

    def sleeps():  # in poll(2), without a timeout
        words = call()
        return len(words) > 4 and words[0] == "7" and int(words[3], 16) & 0xffffffff == 0xffffffff

    if os.uname().machine != "x86_64":
        raise Skip("the number of poll(2) is that of x86_64")
    with Daemon() as daemon, Folder() as folder:
        path = journal.write(folder.name("a.journal"), numbered(0, 3))
        with running(daemon, "--journal-file", path, "--follow", "--since", "@0") as client:
            wait_for(lambda: count(daemon) == 3, "all are stored")
            try:
                call()
            except OSError as error:
                raise Skip("the system call of a process cannot be seen: %s" % error) from None
            wait_for(sleeps, "it waits for ever")
            client.process.kill()


# ---- What is wrong --------------------------------------------------------------------------------

def test_a_state_that_is_none_is_left_alone():
    with Daemon() as daemon, Folder() as folder:
        path = journal.write(folder.name("a.journal"), numbered(0, 3))
        good = "nvtxt-journal 1\nsession 5e4dd484-0249-4102-aadf-b74ce3e1112b\n"
        for text in ("notes of mine\n", good, good + "0 0 0 -\n0 0 zero -\n0 0 0 -\n",
                     good + "9 0 0 -\n8 0 0 -\n", good + "0 0 0 %s\n" % ("c" * 256)):
            state = folder.write("state", text)
            status, _, err = send(daemon, "--journal-file", path, "--state", state)
            equal(status, 65)
            contains(err, "is damaged, or is no state of a journal")
            with open(state, encoding="utf-8") as file:
                equal(file.read(), text)
        state = folder.write("state", good.replace("journal 1", "journal 12"))
        status, _, err = send(daemon, "--journal-file", path, "--state", state)
        equal((status, err), (65, "nvtxt-send: %s is a state of a journal of version 12, and this program reads "
                              "up to version 1: install a newer package nvtxt-tools\n" % state))
        equal(count(daemon), 0)
        for text in ("", good + "0 0 0 -\n1 0 0 s=c81b", good + "0 0 0 -\n\0\0\0\0\n"):  # cut by a crash
            state = folder.write("state", text)
            equal(send(daemon, "--journal-file", path, "--state", state), (0, "", ""))
        equal(count(daemon), 9)
        equal(send(daemon, "--journal-file", path, "--state", folder.name("no/folder"))[0], 74)
        bound = socket.socket(socket.AF_UNIX)  # no device: a program that is wrong would replace it
        bound.bind(folder.name("socket"))
        for state in (bound.getsockname(), folder.path):
            status, _, err = send(daemon, "--journal-file", path, "--state", state)
            equal((status, count(daemon)), (65, 9))
            contains(err, state + " is no regular file: --state takes the name of a file")
        bound.close()


def test_two_at_a_time_do_not_share_a_state():
    with Daemon() as daemon, Folder() as folder:
        path = journal.write(folder.name("a.journal"), numbered(0, 3))
        args = ("--journal-file", path, "--state", folder.name("state"))
        with running(daemon, *args, "--follow", "--since", "@0") as client:
            wait_for(lambda: count(daemon) == 3, "all are stored")
            status, _, err = send(daemon, *args)
            equal(status, 75)
            contains(err, "another nvtxt-send uses it")
            client.process.kill()


def test_who_may_not_read_it_learns_which_group_may():
    def limited(*args):  # as who may read little
        if os.getuid() != 0:
            return send(daemon, *args)
        code = "import os, sys; os.setgroups([]); os.setgid(65534); os.setuid(65534); " \
               "os.execv(sys.argv[1], sys.argv[1:])"
        done = subprocess.run([sys.executable, "-c", code, program("client", "nvtxt-send"), "--socket",
                               daemon.socket, "--journal", *args], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    with Daemon() as daemon, Folder() as folder:
        for path in (daemon.folder, folder.path):
            os.chmod(path, 0o755)
        os.chmod(daemon.socket, 0o666)
        path = journal.write(folder.name("system.journal"), numbered(0, 3))
        os.chmod(path, 0)
        for source in (path, folder.path):
            status, _, err = limited("--journal-file", source)
            equal(status, 77, err)
            contains(err, "members of the group systemd-journal may")
        own = journal.write(folder.name("user-1.journal"), numbered(5, 7))
        os.chmod(own, 0o644)
        status, _, err = limited("--journal-file", folder.path)
        equal(status, 0, err)
        contains(err, "only your own entries can be read: 1 of 2 files")
        equal(messages(daemon), texts(5, 7))


def test_what_is_no_journal_is_said():
    with Daemon() as daemon, Folder() as folder:
        equal(send(daemon, "--journal-file", folder.name("none"))[::2],
              (66, "nvtxt-send: %s: No such file or directory\n" % folder.name("none")))
        equal(send(daemon, "--journal-file", folder.path)[0], 66)
        for text in ("", "no journal", "no journal\n" * 1000):
            status, _, err = send(daemon, "--journal-file", folder.write("a.journal", text))
            equal(status, 65)
            contains(err, "a.journal is no journal, or a broken one: ")
            contains(err, "--text sends a log")
        path = journal.write(folder.name("b.journal"), numbered(0, 1))
    with Folder() as folder:
        path = journal.write(folder.name("b.journal"), numbered(0, 1))
        equal(run_client("nvtxt-send", "--socket", folder.name("s"), "--journal", "--journal-file",
                         path, "--state", folder.name("state"))[0], 69)


def test_options_that_make_no_sense_are_refused():
    for args, part in [(("--follow",), "belong to --journal"), (("-u", "x"), "belong to --journal"),
                       (("--journal", "file"), "--journal takes no FILE"),
                       (("--journal", "--", "true"), "--journal takes no FILE"),
                       (("--journal", "--spool", "d"), "--journal needs no --spool"),
                       (("--journal", "--pid", "3"), "--journal takes no --pid"),
                       (("--journal", "-u", "a*"), "the name of a unit"),
                       (("--journal", "-p", "loud"), "there are emerg, alert"),
                       (("--journal", "-S", "soon"), "2026-11-21T06:24:00Z, or -1h")]:
        status, _, err = run_client("nvtxt-send", *args)
        equal(status, 64, args)
        contains(err, part)


def test_without_libsystemd_it_says_what_is_missing():
    if journal.has_libsystemd():
        raise Skip("this nvtxt-send has libsystemd")
    status, _, err = run_client("nvtxt-send", "--journal")
    equal(status, 69)
    contains(err, "needs libsystemd")


run(globals())
