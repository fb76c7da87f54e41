# SPDX-License-Identifier: Apache-2.0
"""nvtxt-send --spool and --resume: whatever dies, each line takes effect exactly once."""
import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import termios
import threading

from client import Fake, Folder, Running, contains, run_client
from lib import DEADLINE, SANITIZERS, WRAPPER, Daemon, Skip, equal, halt, program, run, wait_for

HEAD = 80  # bytes of a segment before its first record
HEADS = HEAD + 12  # ... before its first line
HEADER = "@Marker, Time, Message\n"


def marker(number):
    return 'Marker, %d, "m%d"\n' % (number, number)


def markers(first, last):
    return "".join(marker(number) for number in range(first, last + 1))


def numbers(daemon):
    return [row[0] for row in
            daemon.query("SELECT start FROM NVTX_EVENTS WHERE eventType = 34 ORDER BY rowid")]


def losses(daemon):
    return daemon.query("SELECT reason, count FROM NVTXT_LOSSES")


def ended(daemon):
    return daemon.query("SELECT lines, ended FROM NVTXT_SOURCES WHERE kind = 'session'")


def spooling(path, folder, *args, **more):
    return Running("nvtxt-send", "--socket", path, "--spool", folder.name("spool"), *args, **more)


def resume(daemon, folder, *args):
    return run_client("nvtxt-send", "--socket", daemon.socket, "--resume", folder.name("spool"),
                      *args)


def full_listener(path):
    """A socket that listens, and has no room for another connection."""
    listener, client = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(0)
    client.connect(path)
    return listener, client


def bytes_of_lines(path):
    """Those of a segment's whole records, without their heads: an input comes in any number of them."""
    total, at = 0, HEAD
    with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
        end = os.fstat(file.fileno()).st_size
        while at + 12 <= end:
            size = int.from_bytes(os.pread(file.fileno(), 4, at), "little")
            at += 12 + size
            total += size if at <= end else 0
    return total


def spooled_bytes(folder, least):
    """Waits until the segments hold lines of so many bytes."""
    wait_for(lambda: os.path.isdir(folder.name("spool"))
             and sum(map(bytes_of_lines, segments(folder))) >= least,
             "%d bytes are in the spool" % least)


def size_of(path):
    """0 when the sender has removed it."""
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def segments(folder):
    names = [name for name in os.listdir(folder.name("spool")) if name.endswith(".segment")]
    return [os.path.join(folder.name("spool"), name) for name in sorted(names)]


def leave_behind(folder, text, *args):
    """A session whose sender was killed when it had spooled all of the text."""
    with spooling(folder.name("none"), folder, *args) as client:
        client.say(text)
        spooled_bytes(folder, len(text))
        client.signal(signal.SIGKILL)
        client.wait()


# ---- Sending with a spool -------------------------------------------------------------------------

def test_a_daemon_that_comes_later_gets_everything_and_the_spool_goes():
    daemon = Daemon(start=False)
    with daemon, Folder() as folder, spooling(daemon.socket, folder) as client:
        client.say(HEADER + markers(1, 1000))
        spooled_bytes(folder, 15000)
        equal(os.stat(folder.name("spool")).st_mode & 0o777, 0o700)
        equal({os.stat(path).st_mode & 0o777 for path in segments(folder)}, {0o600})
        daemon.start()
        client.say(markers(1001, 1010))
        client.close()
        client.expect(0)
        equal(numbers(daemon), list(range(1, 1011)))
        equal(ended(daemon), [(1011, "end")])
        equal(os.listdir(folder.name("spool")), [])


def test_with_a_daemon_it_is_like_no_spool():
    with Daemon() as daemon, Folder() as folder:
        path = folder.write("f", HEADER + markers(1, 50000) + "x = $y\n#nvtxt-end\n" + marker(7)[:-1])
        status, _, err = run_client("nvtxt-send", "--socket", daemon.socket, "--spool",
                                    folder.name("spool"), "--spool-sync", "0.01", path, path)
        equal(status, 1)
        contains(err, "%s:50002:5: error: " % path)
        equal(len([line for line in err.splitlines() if ": error: " in line]), 2)
        equal(numbers(daemon), (list(range(1, 50001)) + [7]) * 2)
        equal(os.listdir(folder.name("spool")), [])


def test_input_far_beyond_the_memory_is_taken_while_the_daemon_is_away():
    daemon = Daemon(start=False)
    line = 'Marker, 1, "%s"\n' % ("x" * 1000)
    count = 40000  # 40 MB; the memory window has 16
    with daemon, Folder() as folder, spooling(daemon.socket, folder) as client:
        client.say(HEADER)
        for _ in range(count // 1000):
            client.say(line * 1000)
        spooled_bytes(folder, len(line) * count)
        with open("/proc/%d/status" % client.process.pid) as file:
            rss = [int(row.split()[1]) for row in file if row.startswith("VmRSS")][0]
        assert rss < 200 << 10, "%d KiB" % rss  # a sanitizer's share included
        daemon.start()
        client.close()
        client.expect(0)
        equal(daemon.query("SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 34"), [(count,)])


def test_a_daemon_that_dies_in_the_middle_is_survived():
    with Daemon() as daemon, Folder() as folder, spooling(daemon.socket, folder, "-q") as client:
        client.say(HEADER)
        for round in range(5):
            client.say(markers(round * 100 + 1, round * 100 + 50))
            daemon.kill()
            client.say(markers(round * 100 + 51, round * 100 + 100))
            daemon.start()
        client.close()
        client.expect(0)
        equal(numbers(daemon), list(range(1, 501)))


# ---- Killed and resumed -----------------------------------------------------------------------------

def test_a_sender_that_was_killed_is_resumed_in_its_session():
    with Daemon() as daemon, Folder() as folder:
        with spooling(daemon.socket, folder, "--name", "mine", "--pid", "77") as client:
            client.say(HEADER + "CategoryId = 5\n" + markers(1, 10))
            wait_for(lambda: len(numbers(daemon)) == 10, "the first lines are committed")
            daemon.kill()
            client.say(markers(11, 20) + "x = $y\n" + marker(21)[:5])
            wait_for(lambda: "gone" in client.stderr(), "it knows that the daemon is gone")
            spooled_bytes(folder, len(HEADER + markers(1, 20)))
            client.signal(signal.SIGKILL)
            client.wait()
        status, _, err = resume(daemon, folder)
        equal(status, 69)  # there is still no daemon
        contains(err, "kept")
        daemon.start()
        status, _, err = resume(daemon, folder)
        equal(status, 1)
        contains(err, "mine:23:5: error: ")
        equal(numbers(daemon), list(range(1, 21)))
        equal(daemon.query("SELECT DISTINCT category, globalTid / 0x1000000 FROM NVTX_EVENTS"
                           " WHERE eventType = 34"), [(5, 77)])
        equal(daemon.query("SELECT name, lines, ended FROM NVTXT_SOURCES WHERE kind = 'session'"),
              [("mine", 23, "end")])
        equal(os.listdir(folder.name("spool")), [])
        equal(resume(daemon, folder), (0, "", ""))


def test_killed_again_and_again_nothing_is_lost_or_doubled():
    count = 100000 if "thread" in SANITIZERS else 300000
    with Daemon() as daemon, Folder() as folder:
        def there():
            return daemon.query("SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 34")[0][0]

        leave_behind(folder, HEADER + markers(1, count))
        status = None
        while status != 0:
            with Running("nvtxt-send", "--socket", daemon.socket, "--resume",
                         folder.name("spool")) as client:
                before = there()
                wait_for(lambda: client.process.poll() is not None or
                         there() > before + 20000, "it gets further")
                client.signal(signal.SIGKILL)
                status = client.wait()
        equal(numbers(daemon), list(range(1, count + 1)))
        equal(len(ended(daemon)), 1)


def test_a_session_of_which_only_the_end_was_missed_ends():
    with Fake() as fake, Folder() as folder, spooling(fake.path, folder) as client:
        client.say("1\n2\n")
        client.close()
        with fake.accept(welcome=0) as peer:
            equal(peer.lines(3), ["1", "2", "#nvtxt-end"])
            session = peer.hello["session"]
            client.signal(signal.SIGKILL)
            client.wait()
        with Running("nvtxt-send", "--socket", fake.path, "--resume", folder.name("spool")) as again:
            with fake.accept(welcome=2) as peer:
                equal((peer.hello["session"], peer.hello["name"]), (session, "<stdin>"))
                peer.end(2, events=2)
                equal(again.expect(0), "")
        equal(os.listdir(folder.name("spool")), [])


def test_a_busy_session_is_tried_again_for_a_while():
    with Fake() as fake, Folder() as folder:
        leave_behind(folder, "1\n")
        with Running("nvtxt-send", "--socket", fake.path, "--resume", folder.name("spool")) as client:
            for _ in range(3):
                with fake.accept() as peer:
                    peer.error("busy-session", "it is connected already")
            with fake.accept(welcome=0) as peer:
                equal(peer.lines(2), ["1", "#nvtxt-end"])
                peer.end(1)
            client.expect(0)


def whole(number):
    """A marker that needs no definition."""
    return 'Marker, %d, Manual, 7, 7, 0, 0, "m%d", 0\n' % (number, number)


def session_of(folder):
    name, = [name for name in os.listdir(folder.name("spool")) if name.endswith(".session")]
    return name[:-len(".session")]


def test_the_rest_of_a_session_that_was_closed_is_sent_in_another_one_when_asked_for():
    with Daemon() as daemon, Folder() as folder:
        lines = [whole(number) for number in range(1, 21)] + ["bad\n"]
        leave_behind(folder, "".join(lines))
        with daemon.session(session_of(folder)) as session:
            session.send("".join(lines[:5]))
            session.end()
        for _ in range(2):
            status, _, err = resume(daemon, folder)
            equal(status, 76, err)
            contains(err, "has closed the session of <stdin> at line 5")
            contains(err, "16 lines of <stdin> not acknowledged")
            contains(err, "'nvtxt-send --resume %s --new-session' sends it" % folder.name("spool"))
        status, _, err = resume(daemon, folder, "--new-session")
        equal(status, 1, err)
        contains(err, "lacks the variables, definitions and open ranges of the lines before")
        contains(err, "<stdin>:21:")
        equal(numbers(daemon), list(range(1, 21)))
        equal(ended(daemon), [(5, "end"), (16, "end")])
        equal(os.listdir(folder.name("spool")), [])


def test_a_new_session_for_the_rest_survives_its_sender():
    with Fake() as fake, Folder() as folder:
        leave_behind(folder, "1\n2\n3\n4\n")
        resuming = ["nvtxt-send", "--socket", fake.path, "--resume", folder.name("spool")]
        with Running(*resuming, "--new-session") as client:
            with fake.accept(welcome=1) as peer:
                old = peer.hello["session"]
                peer.end(1)
            with fake.accept(welcome=0) as peer:
                new = peer.hello["session"]
                assert new != old, new
                equal(peer.lines(4), ["2", "3", "4", "#nvtxt-end"])
                client.signal(signal.SIGKILL)
                client.wait()
        with Running(*resuming) as client:
            with fake.accept(welcome=1) as peer:
                equal((peer.hello["session"], peer.hello["acked"]), (new, 0))
                equal(peer.lines(3), ["3", "4", "#nvtxt-end"])
                peer.end(3)
            client.expect(0)
        equal(os.listdir(folder.name("spool")), [])


def test_a_spool_that_somebody_removed_is_not_said_to_be_kept():
    for remove in (shutil.rmtree, lambda path: os.rename(path, path + ".moved"),
                   lambda path: os.unlink(os.path.join(path, sorted(os.listdir(path))[0]))):
        with Folder() as folder, spooling(folder.name("none"), folder) as client:
            client.say(markers(1, 1000))
            spooled_bytes(folder, len(markers(1, 1000)))
            remove(folder.name("spool"))
            client.signal(signal.SIGTERM)
            err = client.expect(143)
            contains(err, "1,000 lines of <stdin> not acknowledged")
            contains(err, "is not kept: its files in %s were removed or moved" % folder.name("spool"))


def test_a_sender_whose_session_was_forgotten_goes_on_in_another_one_when_asked_for():
    for args in ((), ("--new-session",)):
        with Fake() as fake, Running("nvtxt-send", "--socket", fake.path, *args) as client:
            client.say("1\n2\n")
            with fake.accept(welcome=0) as peer:
                equal(peer.lines(2), ["1", "2"])
                peer.ack(2)
            client.say("3\n")
            client.close()
            with fake.accept(welcome=1) as peer:
                old = peer.hello["session"]
                if not args:
                    err = client.expect(76)
                    contains(err, "it knows 1 line, but had acknowledged 2; was its store replaced?")
                    contains(err, "--new-session sends what is left")
                    continue
            with fake.accept(welcome=0) as peer:
                assert peer.hello["session"] != old, old
                equal(peer.lines(2), ["3", "#nvtxt-end"])
                peer.end(1)
            contains(client.expect(0), "forgot the session")


def test_a_sender_whose_session_was_closed_goes_on_in_another_one():
    with Fake() as fake, Running("nvtxt-send", "--socket", fake.path, "--new-session") as client:
        client.say("1\n2\n")
        with fake.accept(welcome=0) as peer:
            equal(peer.lines(2), ["1", "2"])
            peer.ack(1)
        with fake.accept(welcome=2) as peer:
            peer.end(2)
        client.say("3\n")
        client.close()
        with fake.accept(welcome=0) as peer:
            equal(peer.lines(2), ["3", "#nvtxt-end"])
            peer.end(1)
        contains(client.expect(0), "has closed the session")
        # One that closes every session gets no third one.
    with Fake() as fake, Running("nvtxt-send", "--socket", fake.path, "--new-session") as client:
        client.say("1\n")
        for _ in range(2):
            with fake.accept(welcome=0) as peer:
                peer.end(0)
        contains(client.expect(76), "1 line of <stdin> not acknowledged")


def test_two_senders_share_a_folder_and_a_living_one_is_left_alone():
    with Daemon() as daemon, Folder() as folder:
        with spooling(daemon.socket, folder, "--name", "alive") as alive:
            alive.say(HEADER + markers(1, 10))
            wait_for(lambda: len(numbers(daemon)) == 10, "it is at work")
            with spooling(folder.name("none"), folder, "--name", "dead") as dead:
                dead.say(HEADER + markers(101, 110))
                wait_for(lambda: len(segments(folder)) == 2, "both have files")
                spooled_bytes(folder, len(HEADER * 2 + markers(1, 10) + markers(101, 110)))
                equal(resume(daemon, folder), (0, "", ""))
                equal(numbers(daemon), list(range(1, 11)))
                dead.signal(signal.SIGKILL)
                dead.wait()
            equal(resume(daemon, folder), (0, "", ""))
            equal(numbers(daemon), list(range(1, 11)) + list(range(101, 111)))
            alive.say(markers(11, 20))
            alive.close()
            alive.expect(0)
        equal(numbers(daemon), list(range(1, 11)) + list(range(101, 111)) + list(range(11, 21)))
        equal(os.listdir(folder.name("spool")), [])


# ---- Damage -------------------------------------------------------------------------------------------

def test_a_damaged_tail_costs_only_itself_and_is_said():
    for damage in ("cut", "zeros"):
        with Daemon() as daemon, Folder() as folder:
            with spooling(folder.name("none"), folder) as client:
                client.say(HEADER + markers(1, 10))
                spooled_bytes(folder, len(HEADER + markers(1, 10)))
                path = segments(folder)[0]
                end = os.stat(path).st_size
                client.say(markers(11, 12))
                wait_for(lambda: os.stat(path).st_size > end, "a second record")
                client.signal(signal.SIGKILL)
                client.wait()
            size = os.stat(path).st_size
            with open(path, "r+b") as file:
                if damage == "cut":
                    file.truncate(size - 3)
                    size -= 3
                else:
                    file.seek(end)
                    file.write(bytes(size - end))
            status, _, err = resume(daemon, folder)
            equal(status, 0)
            equal(err, "nvtxt-send: %s: %d bytes from offset %d on are no whole record: left out\n"
                  % (path, size - end, end))
            equal(numbers(daemon), list(range(1, 11)))
            equal(os.listdir(folder.name("spool")), [])


def test_a_spool_whose_only_record_is_cut_is_said():
    for left in (1, HEADS - 1, HEADS + 5):
        with Daemon() as daemon, Folder() as folder:
            leave_behind(folder, HEADER + markers(1, 10))
            path = segments(folder)[0]
            os.truncate(path, left)
            offset = 80 if left > 80 else 0
            status, _, err = resume(daemon, folder)
            equal((status, err), (
                0, "nvtxt-send: %s: %d bytes from offset %d on are no whole record: left out\n"
                % (path, left - offset, offset)))
            equal(numbers(daemon), [])
            equal(os.listdir(folder.name("spool")), [])


def test_a_changed_byte_costs_nothing_and_is_said():
    with Daemon() as daemon, Folder() as folder:
        leave_behind(folder, HEADER + markers(1, 50000))
        path = segments(folder)[0]
        names = sorted(os.listdir(folder.name("spool")))
        for place in (1000, os.stat(path).st_size - 3):
            with open(path, "r+b") as file:
                file.seek(place)
                byte = file.read(1)
                file.seek(place)
                file.write(b"\0")
            status, _, err = resume(daemon, folder)
            equal(status, 65, err)
            assert err.startswith("nvtxt-send: %s: the record at offset " % path), err
            equal(len(err.splitlines()), 1, err)
            equal(sorted(os.listdir(folder.name("spool"))), names)
            with open(path, "r+b") as file:
                file.seek(place)
                file.write(byte)
        equal(resume(daemon, folder), (0, "", ""))
        equal(numbers(daemon), list(range(1, 50001)))


def test_damage_that_is_met_on_the_way_is_no_promise():
    with Daemon() as daemon, Folder() as folder:
        leave_behind(folder, HEADER + markers(1, 50000), "--spool-limit=4M")
        path = segments(folder)[0]
        assert len(segments(folder)) > 1
        with open(path, "r+b") as file:
            file.seek(1000)
            file.write(b"\0")
        status, _, err = resume(daemon, folder)
        equal((status, err), (65, "nvtxt-send: %s: the record at offset 80 is damaged\n" % path))
        assert os.path.exists(path)


def test_a_session_file_that_is_missing_is_said():
    with Daemon() as daemon, Folder() as folder:
        leave_behind(folder, HEADER + markers(1, 10))
        session = folder.name("spool/" + session_of(folder) + ".session")
        os.rename(session, folder.name("kept"))
        equal(resume(daemon, folder),
              (65, "", "nvtxt-send: %s: it is missing, and lines of it are left\n" % session))
        os.rename(folder.name("kept"), session)
        equal(resume(daemon, folder), (0, "", ""))
        equal(numbers(daemon), list(range(1, 11)))


def test_a_disk_that_fails_costs_nothing_and_is_said():
    strace = ["strace", "-o", "/dev/null"]
    if SANITIZERS or WRAPPER or not shutil.which("strace") or \
            subprocess.run([*strace, "true"], stderr=subprocess.DEVNULL).returncode:
        raise Skip("no strace, or one that sanitizers and valgrind do not bear")
    for call in ("getdents64", "pread64", "unlinkat"):
        with Daemon() as daemon, Folder() as folder:
            leave_behind(folder, HEADER + markers(1, 20000), "--spool-limit=4M")
            said = ""
            for count in range(1, 100):
                client = subprocess.run(
                    [*strace, "-e", "trace=" + call, "-e", "inject=%s:error=EIO:when=%d" %
                     (call, count), program("client", "nvtxt-send"), "--socket", daemon.socket,
                     "--resume", folder.name("spool")], stderr=subprocess.PIPE, timeout=DEADLINE)
                if client.returncode == 0:
                    break
                err = client.stderr.decode()
                contains(err, "Input/output error")
                if client.returncode != 127:  # then not even its libraries could be loaded
                    equal(client.returncode, 74, err)
                    said += err
            if call == "pread64":
                contains(said, "cannot be read")
            assert "nvtxt-send: %s" % folder.name("spool") in said, (call, said)
            equal(resume(daemon, folder), (0, "", ""))
            equal(os.listdir(folder.name("spool")), [])
            equal(numbers(daemon), list(range(1, 20001)))


def test_a_malformed_spool_is_named_and_left_as_it_is():
    with Daemon() as daemon, Folder() as folder:
        leave_behind(folder, HEADER + markers(1, 10))
        names = sorted(os.listdir(folder.name("spool")))
        session = [name for name in names if name.endswith(".session")][0]
        path = folder.name("spool/" + session)
        with open(path, "rb") as file:
            good = file.read()
        for text, why in ((b"", "it does not begin"), (b"nvtxt-spools 1\n" + good[14:], "begin"),
                          (good[:-1], "cut"), (good[:-2] + b"\n", "JSON"),
                          (good.replace(b'"protocol":1', b'"protocol":9'), "protocol 9")):
            with open(path, "wb") as file:
                file.write(text)
            status, _, err = resume(daemon, folder)
            equal(status, 65, err)
            contains(err, "nvtxt-send: %s: " % path)
            contains(err, why)
            equal(len(err.splitlines()), 1, err)
        with open(path, "wb") as file:
            file.write(good)
        with open(segments(folder)[0], "r+b") as file:
            file.write(b"x")
        status, _, err = resume(daemon, folder)
        equal(status, 65)
        contains(err, "nvtxt-send: %s: the head, bytes 0 to 79, is damaged\n" % segments(folder)[0])
        equal(sorted(os.listdir(folder.name("spool"))), names)
        equal(numbers(daemon), [])
        other = Folder()
        with other:  # a broken one does not keep another from being sent
            with open(segments(folder)[0], "r+b") as file:
                file.write(b"n")
            leave_behind(other, HEADER + marker(99))
            for name in os.listdir(other.name("spool")):
                os.rename(other.name("spool/" + name), folder.name("spool/" + name))
            os.unlink(path)
            os.mkdir(path)
            equal(resume(daemon, folder)[0], 74)
            equal(numbers(daemon), [99])


# ---- No room ------------------------------------------------------------------------------------------

def test_a_full_spool_holds_input_up_and_goes_on():
    with Fake() as fake, Folder() as folder:
        path = folder.write("f", "x = 1\n" + ("z" * 99 + "\n") * 299999)  # 30 MB
        with Running("nvtxt-send", "--socket", fake.path, "-q", "--spool", folder.name("spool"),
                     "--spool-limit", "4M", path) as client:
            spooled_bytes(folder, 3 << 20)
            taken = 1
            with fake.accept(welcome=0) as peer:
                equal(peer.line(), "x = 1")
                for line in iter(peer.line, "#nvtxt-end"):
                    equal(line, "z" * 99)
                    taken += 1
                    if taken % 10000 == 0:
                        total = sum(map(size_of, segments(folder)))
                        assert total <= 4 << 20, total
                        peer.ack(taken)
                equal(taken, 300000)
                peer.end(taken)
                client.expect(0)


def test_dropped_lines_are_counted_and_told_once_even_over_breaks():
    daemon = Daemon(start=False)
    line = 'Marker, 1, "%s"\n' % ("x" * 1000)
    with daemon, Folder() as folder:
        with spooling(daemon.socket, folder, "--spool-limit=4M", "--on-full=drop") as client:
            client.say(HEADER)
            for _ in range(10):
                client.say(line * 1000)
            wait_for(lambda: has_taken_all(client), "all is taken")
            client.signal(signal.SIGKILL)
            client.wait()
        daemon.start()
        killed = Running("nvtxt-send", "--socket", daemon.socket, "--resume", folder.name("spool"))
        with killed:
            wait_for(lambda: ended(daemon), "it has begun")
            killed.signal(signal.SIGKILL)
            killed.wait()
        daemon.kill()
        daemon.start()
        status, _, err = resume(daemon, folder)
        equal(status, 0, err)
        kept = daemon.query("SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 34")[0][0]
        assert 3000 < kept < 4200, kept
        equal(sum(count for _, count in losses(daemon)), 10000 - kept)
        equal({reason for reason, _ in losses(daemon)}, {"full"})
        equal(daemon.query("SELECT sum(errors) FROM NVTXT_SOURCES WHERE kind = 'session'"), [(0,)])


def has_taken_all(client):
    """Its stdin is empty and it waits."""
    waiting = fcntl.ioctl(client.process.stdin.fileno(), termios.FIONREAD, b"\0\0\0\0")
    with open("/proc/%d/stat" % client.process.pid) as file:
        return struct.unpack("i", waiting)[0] == 0 and file.read().split()[2] == "S"


def test_losses_stand_where_the_lines_stood_and_input_goes_on_behind_them():
    with Fake() as fake, Folder() as folder:
        with spooling(fake.path, folder, "--spool-limit=4M", "--on-full=drop", "-q") as client:
            sent = 0
            for _ in range(60):
                client.say("".join("%099d\n" % number for number in range(sent, sent + 1000)))
                sent += 1000
            wait_for(lambda: has_taken_all(client), "all is taken")
            with fake.accept(welcome=0) as peer:
                got = []
                lost = 0
                while True:
                    line = peer.line()
                    if line == "#nvtxt-end":
                        break
                    if line.startswith("#nvtxt-lost"):
                        told = json.loads(line[12:])
                        equal(told["reason"], "full")
                        lost += told["lines"]
                        got.append(told["lines"])
                    else:
                        got.append(line)
                    if len(got) % 1000 == 0:
                        peer.ack(len(got))
                    if len(got) == 20000:
                        client.say("".join("%099d\n" % number for number in range(sent, sent + 10)))
                        sent += 10
                        client.close()
                equal(lost > 0, True)
                at = 0
                for item in got:
                    if isinstance(item, int):
                        at += item
                    else:
                        equal(int(item), at)
                        at += 1
                equal(at, sent)
                peer.end(len(got))
                equal(client.expect(1).splitlines()[-1],
                      "nvtxt-send: %s lines of <stdin> dropped: there was no room" % f"{lost:,}")


def test_without_a_spool_lines_beyond_the_memory_are_dropped_when_asked_to():
    with Fake() as fake, Running("nvtxt-send", "--socket", fake.path, "-q",
                                 "--on-full=drop") as client:
        with fake.accept(welcome=0) as peer:
            text = ("y" * 1023 + "\n") * 1000
            for _ in range(30):  # 30 MB
                client.say(text)
            client.say("last\n")
            wait_for(lambda: has_taken_all(client), "all is taken")
            client.close()
            lines = list(iter(peer.line, "#nvtxt-end"))
            told = [line for line in lines if line.startswith("#nvtxt-lost")]
            equal(len(told) >= 1, True)
            lost = sum(int(line.split(":")[1].split(",")[0]) for line in told)
            equal(len(lines) - len(told) + lost, 30001)
            peer.end(len(lines))
            contains(client.expect(1), "dropped")


def small_disk(size):
    """A command that runs another one with a file system of this size over its first argument."""
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
               'mount -t tmpfs -o size=%s none "$1" && shift && exec "$@"' % size, "sh"]
    with Folder() as folder:
        if subprocess.run([*command, folder.path, "true"], stderr=subprocess.DEVNULL).returncode:
            raise Skip("no right to mount a small file system")
    return command


def answer(fake, **more):
    """A daemon that acknowledges each line: the lines, and how many were told to be lost."""
    with fake.accept(welcome=0, **more) as peer:
        lines, lost = [], 0
        for line in iter(peer.line, "#nvtxt-end"):
            lines.append(line)
            if line.startswith("#nvtxt-lost"):
                lost += json.loads(line[12:])["lines"]
            peer.ack(len(lines))
        peer.end(len(lines))
    return lines, lost


def test_room_of_acknowledged_lines_is_used_again():
    full_disk = small_disk("128k")
    lines = ['x = "%d %050000d"' % (number, 0) for number in range(12)]
    with Fake() as fake, Folder() as mount, Folder() as folder:
        path = folder.write("all", "".join(line + "\n" for line in lines))
        command = [*full_disk, mount.path, program("client", "nvtxt-send"), "--socket", fake.path,
                   "--spool", mount.path]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as client:
            with fake.accept(welcome=0) as peer:
                for number, line in enumerate(lines, 1):  # one by one: the last write finds no room
                    client.stdin.write(line.encode() + b"\n")
                    client.stdin.flush()
                    equal(peer.line(), line)
                    peer.ack(number)
                client.stdin.close()
                equal(peer.line(), "#nvtxt-end")
                peer.end(len(lines))
            equal((client.stderr.read(), client.wait(DEADLINE)), (b"", 0))
        # At once: what is read is more than the disk.
        with subprocess.Popen([*command, path], stderr=subprocess.PIPE) as client:
            equal(answer(fake), (lines, 0))
            equal(client.wait(DEADLINE), 0)
            equal(client.stderr.read().count(b"input has to wait"), 1)


def test_where_files_cannot_grow_there_are_more_of_them():
    lines = ['x = "%d %099d"' % (number, 0) for number in range(3000)]
    limited = ["sh", "-c", 'ulimit -f 40 && exec "$@"', "sh", program("client", "nvtxt-send")]
    with Fake() as fake, Folder() as folder:
        spool = folder.name("spool")
        path = folder.write("all", "".join(line + "\n" for line in lines))
        done = subprocess.run([*limited, "--socket", folder.name("none"), "--timeout=0", "--spool",
                               spool, path], stderr=subprocess.PIPE, timeout=DEADLINE)
        equal(done.returncode, 75, done.stderr)
        contains(done.stderr.decode(), "3,000 lines of")
        with Running("nvtxt-send", "--socket", fake.path, "--resume", spool) as client:
            equal(answer(fake), (lines, 0))
            client.expect(0)
        command = ["seq", "20000"]
        done = subprocess.run([*limited, "--socket", folder.name("none"), "--spool", spool, "--",
                               *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=DEADLINE)
        equal((done.returncode, len(done.stdout.split())), (0, 20000), done.stderr)
        with Running("nvtxt-send", "--socket", fake.path, "--resume", spool) as client:
            said = [line for line in answer(fake)[0] if line.startswith("Marker,")]
            equal(len(said), 20000)
            client.expect(0)


def test_a_full_disk_is_said_and_input_waits():
    full_disk = small_disk("2m")
    with Folder() as folder:
        for args in ([], ["--on-full=drop"]):
            with Fake() as fake, Folder() as mount:
                client = subprocess.Popen([*full_disk, mount.path, program("client", "nvtxt-send"),
                                           "--socket", fake.path, "--spool", mount.path, *args],
                                          stdin=subprocess.PIPE, stderr=subprocess.PIPE)
                writer = threading.Thread(target=feed, args=(client.stdin, 50000))
                writer.start()
                said = client.stderr.readline()
                contains(said.decode(), "No space left on device; ")
                with fake.accept(welcome=0) as peer:
                    got = lost = 0
                    for line in iter(peer.line, "#nvtxt-end"):
                        got += 1
                        if line.startswith("#nvtxt-lost"):
                            lost += json.loads(line[12:])["lines"] - 1
                        peer.ack(got)  # as a daemon does: in the end, all that was sent
                    equal(got + lost, 50000)
                    equal(lost > 0, bool(args))
                    peer.end(got)
                    equal(client.wait(DEADLINE), int(bool(args)))
                writer.join()
                client.stderr.close()


def test_on_a_full_disk_it_is_said_what_is_kept_lost_and_not_read():
    full_disk = small_disk("1m")
    with Folder() as folder, Folder() as mount:
        path = folder.write("lines", "".join("x = '%093d'\n" % number for number in range(50000)))
        for args, unread in (([path], None), (["--text", path], None), (["--on-full=drop", path], 0),
                             ([], "the rest of <stdin> was not read")):
            with open(path, "rb") as file, subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE) as cat:
                done = subprocess.run([*full_disk, mount.path, program("client", "nvtxt-send"), "--socket",
                                       folder.name("none"), "--spool", mount.path, "--timeout", "0.2", *args],
                                      stdin=cat.stdout, stderr=subprocess.PIPE, timeout=DEADLINE, check=False)
                cat.stdout.close()
            err = done.stderr.decode()
            equal(done.returncode, 75, err)
            kept, lost, rest = (counted(err, "are kept in"), counted(err, "found no room in"),
                                counted(err, "were not read"))
            equal(min(kept, lost) > 0, True, err)
            if unread is None:
                equal(kept + lost + rest, 50000, err)
            elif unread:
                contains(err, unread)
            else:
                equal((rest, kept + lost >= 50000), (0, True), err)


def counted(err, what):
    found = re.search(r"([\d,]+) lines of \S+ %s" % what, err)
    return int(found.group(1).replace(",", "")) if found else 0


def feed(pipe, count):
    for number in range(count):
        pipe.write(b"x = '%093d'\n" % number)
    pipe.close()


# ---- Leaving ------------------------------------------------------------------------------------------

def test_a_timeout_leaves_the_rest_in_the_spool_and_says_how_to_go_on():
    daemon = Daemon(start=False)
    with daemon, Folder() as folder:
        status, _, err = run_client("nvtxt-send", "--socket", daemon.socket, "--timeout", "0.2",
                                    "--spool", folder.name("spool"), stdin=HEADER + markers(1, 5))
        equal(status, 75)
        contains(err, "6 lines of <stdin> not acknowledged")
        contains(err, "nvtxt-send --resume %s" % folder.name("spool"))
        one = folder.write("one", HEADER + marker(6))
        two = folder.write("two", HEADER + marker(7))
        status, _, err = run_client("nvtxt-send", "-q", "--socket", daemon.socket, "--timeout", "0",
                                    "--spool", folder.name("spool"), one, two)
        equal(status, 75)
        equal(len(segments(folder)), 3)
        daemon.start()
        equal(resume(daemon, folder), (0, "", ""))
        equal(sorted(numbers(daemon)), [1, 2, 3, 4, 5, 6, 7])


def test_without_any_daemon_what_is_in_the_spool_is_left_there():
    daemon = Daemon(start=False)
    with daemon, Folder() as folder:
        one = folder.write("one", HEADER + marker(1))
        two = folder.write("two", HEADER + marker(2))
        zero = folder.write("zero", HEADER + marker(0))
        busy, connected = full_listener(folder.name("busy.sock"))
        with spooling(folder.name("busy.sock"), folder, zero) as other:
            spooled_bytes(folder, len(HEADER + marker(0)))
            status, out, err = run_client("nvtxt-send", "--socket", daemon.socket, "--spool",
                                          folder.name("spool"), one, two)
            equal((status, out), (0, ""), err)
            for path in (one, two):
                contains(err, "the rest of %s is kept: 'nvtxt-send --resume" % path)
            equal(other.process.poll(), None, "a daemon that has no time is one")
            busy.close()
            connected.close()
            contains(other.expect(0), "the rest of %s is kept" % zero)
        status, _, err = run_client("nvtxt-send", "--socket", daemon.socket, "--wait=0.1", "--spool",
                                    folder.name("spool"), stdin=HEADER + marker(3))
        equal(status, 0, err)
        contains(err, "the rest of <stdin> is kept")
        daemon.start()
        equal(resume(daemon, folder), (0, "", ""))
        equal(sorted(numbers(daemon)), [0, 1, 2, 3])


def test_a_daemon_that_was_told_to_be_waited_for_is():
    daemon = Daemon(start=False)
    with daemon, Folder() as folder, spooling(daemon.socket, folder, "--wait") as client:
        client.say(HEADER + marker(1))
        client.close()
        spooled_bytes(folder, len(HEADER + marker(1)))
        daemon.start()
        client.expect(0)
        equal(numbers(daemon), [1])


def test_a_timeout_does_not_count_while_input_can_be_taken():
    daemon = Daemon(start=False)
    with daemon, Folder() as folder:
        with spooling(daemon.socket, folder, "--timeout", "0.1") as client:
            client.say(HEADER)
            wait_for(lambda: "waiting" in client.stderr(), "it waits")
            for number in range(1, 6):
                client.say(marker(number))
                spooled_bytes(folder, len(HEADER + markers(1, number)))
            daemon.start()
            wait_for(lambda: numbers(daemon) == [1, 2, 3, 4, 5], "all is committed")
            client.close()
            client.expect(0)


def test_a_connected_daemon_that_says_nothing_is_given_up():
    with Fake() as fake, Running("nvtxt-send", "--socket", fake.path, "--timeout=0.1") as client:
        client.say("1\n")
        with fake.accept(welcome=0) as peer:
            equal(peer.line(), "1")
            contains(client.expect(75), "it acknowledges nothing): 1 line of <stdin> not ackn")


def test_a_signal_leaves_what_was_read_in_the_spool():
    with Folder() as folder, spooling(folder.name("none"), folder) as client:
        client.say("1\n2\n")
        spooled_bytes(folder, 4)
        halt(client.process)
        client.say("3\n4")  # waits in the pipe; half a line is none
        client.signal(signal.SIGTERM)
        client.signal(signal.SIGCONT)
        equal(client.wait(), 128 + signal.SIGTERM)
        contains(client.stderr(), "3 lines of <stdin> not acknowledged")
        contains(client.stderr(), "3 lines of <stdin> are kept in %s: 'nvtxt-send --resume %s' sends them"
                 % (folder.name("spool"), folder.name("spool")))
        contains(client.stderr(), "the rest of <stdin> was not read")
        with Fake() as fake, Running("nvtxt-send", "--socket", fake.path, "--resume",
                                     folder.name("spool")) as again:
            with fake.accept(welcome=0) as peer:
                equal(peer.lines(4), ["1", "2", "3", "#nvtxt-end"])
                peer.end(3)
                again.expect(0)


def test_at_a_signal_lines_without_room_are_sent_without_the_spool():
    lines = ["%d %0900000d" % (number, 0) for number in range(5)]
    for breaks in (False, True):
        with Fake() as fake, Folder() as folder:
            with spooling(fake.path, folder, "--spool-limit=4M") as client:
                with fake.accept(welcome=0) as peer:
                    client.say("".join(line + "\n" for line in lines[:4]))
                    assert peer.lines(4) == lines[:4]
                    client.say(lines[4] + "\n")
                    client.signal(signal.SIGTERM)
                    assert peer.lines(2) == [lines[4], "#nvtxt-end"], client.stderr()
                    if not breaks:
                        peer.end(5)
                equal(client.wait(), 128 + signal.SIGTERM)
                equal("1 line of <stdin> found no room" in client.stderr(), breaks)
            if breaks:  # the daemon may have taken it
                with Running("nvtxt-send", "--socket", fake.path, "--resume",
                             folder.name("spool")) as again, fake.accept(welcome=5) as peer:
                    equal(peer.line(), "#nvtxt-end")
                    peer.end(5)
                    again.expect(0)
            equal(os.listdir(folder.name("spool")), [])


def test_nothing_read_leaves_nothing_behind():
    with Folder() as folder:
        with spooling(folder.name("none"), folder) as client:
            wait_for(lambda: os.path.isdir(folder.name("spool")) and segments(folder), "it has begun")
            wait_for(lambda: "waiting" in client.stderr(), "it waits")
            client.signal(signal.SIGINT)
            equal(client.wait(), 128 + signal.SIGINT)
            equal(os.listdir(folder.name("spool")), [])


def test_bad_usage_is_status_64_and_what_cannot_be_made_73():
    for args in (["--on-full"], ["--on-full=often"], ["--spool-limit", "3M"], ["--spool-limit=x"],
                 ["--spool-sync=-1"], ["--resume", "d", "f"], ["--resume", "d", "--spool", "d"],
                 ["--resume", "d", "--name", "n"], ["--resume", "d", "--pid", "1"],
                 ["--spool", ""], ["--resume", ""]):
        status, out, err = run_client("nvtxt-send", *args)
        equal((status, out), (64, ""), args)
        contains(err, "nvtxt-send: ")
    with Folder() as folder:
        equal(run_client("nvtxt-send", "--resume", folder.name("no")),
              (66, "", "nvtxt-send: %s: No such file or directory\n" % folder.name("no")))
        status, _, err = run_client("nvtxt-send", "--spool", folder.name("no/no"), stdin="1\n")
        equal(status, 73)
        contains(err, folder.name("no/no") + ": No such file or directory")
        path = folder.write("file", "")
        equal(run_client("nvtxt-send", "--spool", path, stdin="1\n")[0], 73)


if __name__ == "__main__":
    run(globals())
