# SPDX-License-Identifier: Apache-2.0
"""What an older program says to something newer: one sentence with both versions and the package to
install, a status, and the files as they were. Fleets are in test_ship_init.py."""
import contextlib
import glob
import json
import os
import re
import shutil
import sqlite3
import struct
import subprocess

import lib
from client import Fake, Folder, Running, contains, files, run_client
from lib import DEADLINE, Daemon, equal, program, wait_for
from ship import run_ship

HEADER = "@Marker, Time, Message\n"
LINES = HEADER + 'Marker, 1, "one"\nMarker, 2, "two"\n'
SCHEMA = re.compile(r"was written by a newer version \(schema 9999; this is [0-9.]+, which reads "
                    r"schemas up to \d+\): install a newer package ([a-z-]+)(, or name another store)?$")


def holds(folder, text):
    return any(text in data for data in files(folder.path).values())


def one_sentence(said, name):
    assert said.startswith(name + ": ") and said.count("\n") == 1 and said.endswith("\n"), said
    return said[:-1]


def newer_store(folder, killed):
    """A store of schema 9999. `killed`: its version is still in its log."""
    with Daemon() as daemon:
        daemon.send(LINES)
        daemon.stop()
        path = os.path.realpath(daemon.store)
        for name in (path, path + "-wal"):
            if os.path.exists(name):
                shutil.copy(name, folder.path)
        os.symlink(os.path.basename(path), folder.name("store.sqlite"))
    path = folder.name(os.path.basename(path))
    script = ("import os, sqlite3, sys; db = sqlite3.connect(sys.argv[1]); "
              "db.execute('PRAGMA wal_autocheckpoint = 0'); db.execute('PRAGMA user_version = 9999'); "
              + ("os._exit(0)" if killed else "db.execute('PRAGMA wal_checkpoint(TRUNCATE)'); db.close()"))
    subprocess.run(["python3", "-c", script, path], check=True)
    if os.path.exists(path + "-shm"):
        os.unlink(path + "-shm")  # after a start of the machine it may be gone, too
    return folder.name("store.sqlite")


def compare(before, folder):
    """All files are as they were; where the log has to be read its index may be new."""
    after = {name: data for name, data in files(folder).items() if name in before or not name.endswith("-shm")}
    equal(sorted(after), sorted(before))
    equal([name for name in before if after[name] != before[name]], [])


def lists_as_refused(store):
    """The list of places, to people and to programs, says what `where --store` says."""
    env = {"NVTXT_STORE": store, "NVTXT_SOCKET": "/nonexistent/s"}
    status, out, said = run_client("nvtxt-ctl", "where", "--store", env=env)
    equal((status, out), (65, ""), said)
    why = one_sentence(said, "nvtxt-ctl").split(store + " ")[1]
    assert SCHEMA.search(why), why
    out = run_client("nvtxt-ctl", "where", env=env)[1]
    line = r"^store +\* %s +\$NVTXT_STORE +refused: %s$" % (re.escape(store), re.escape(why))
    assert re.search(line, out, re.M), out
    place, = json.loads(run_client("nvtxt-ctl", "--json", "where", env=env)[1])["stores"]
    equal((place["state"], place["why"], place["wins"]), ("refused", why, True))


def test_a_store_is_refused_by_each_program_and_stays_as_it_is():
    for killed in (False, True):
        with Folder() as folder, Folder() as other:
            store = newer_store(folder, killed)
            before = files(folder.path)
            lines = other.write("lines.nvtxt", LINES)
            commands = [
                (["client", "nvtxt-export", "--format", "csv", "--store", store], "nvtxt-tools"),
                (["client", "nvtxt-import", "merge", "-i", store, "-n", lines, "-o", other.name("out")], "nvtxt-tools"),
                (["client", "nvtxt-import", "info", "-i", store], "nvtxt-tools"),
                (["client", "nvtxt-report", "summary", store], "nvtxt-tools"),
                (["daemon", "nvtxtd", "--socket", other.name("s"), "--control-socket", other.name("c"),
                  "--store", store], "nvtxtd")]
            for command, package in commands:
                if command[1] == "nvtxt-report" and not os.path.exists(program(*command[:2])):
                    continue
                done = subprocess.run([program(*command[:2]), *command[2:]], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, timeout=DEADLINE, check=False)
                said = done.stderr.decode()
                equal((done.returncode, done.stdout), (65, b""), said)
                said = SCHEMA.search(one_sentence(said, command[1]))
                assert said and said[1] == package, done.stderr
                compare(before, folder.path)
            if os.path.exists(program("ship", "nvtxt-ship")):
                status, out, said = run_ship("--store", store, "--target", "host=/nowhere", "--once")
                equal((status, out), (65, ""), said)
                equal(SCHEMA.search(one_sentence(said, "nvtxt-ship"))[1], "nvtxt-ship")
                compare(before, folder.path)
            lists_as_refused(store)
            compare(before, folder.path)
            if not killed:
                equal([name for name in files(folder.path) if name.endswith(("-wal", "-shm"))], [])
            equal(os.listdir(other.path), ["lines.nvtxt"], "no socket, no output")


def files_of(segment):
    """Names and bytes of a segment and of what stands beside it."""
    found = {}
    for name in glob.glob(segment + "*"):
        with contextlib.suppress(FileNotFoundError), open(name, "rb") as file:  # gone since
            found[name] = file.read()
    return found


def has_open(daemon, path):
    """Whether the daemon has a file or what stands beside it open."""
    folder = "/proc/%d/fd" % daemon.process.pid
    return any(os.path.realpath(os.path.join(folder, fd)).startswith(path) for fd in os.listdir(folder))


def test_verify_names_a_segment_of_a_newer_version_and_leaves_it_as_it_is():
    """With its folder: it gets no log and no index that it had not."""
    with Daemon() as daemon:
        daemon.send(LINES)
        daemon.control("rotate")
        first = daemon.segments()[0]
        # Who closes it last removes its log: that is to be this test.
        wait_for(lambda: not files_of(first).get(first + "-wal") and not has_open(daemon, first),
                 "it is complete without its log, and closed")
        db = sqlite3.connect(first)
        db.execute("PRAGMA user_version = 9999")
        db.close()
        before = files_of(first)
        equal(list(before), [first], "SQLite removed its log")
        problem, = daemon.control("verify")["problems"]
        contains(problem, os.path.basename(first) + ": was written by a newer version (schema 9999; this is ")
        equal(list(files_of(first)), [first])
        equal(files_of(first), before)


def test_senders_of_a_downgraded_daemon_keep_what_they_have():
    with Daemon() as daemon, Folder() as folder:
        daemon.send(LINES)
        daemon.stop()
        db = sqlite3.connect(daemon.store)
        version, = db.execute("PRAGMA user_version").fetchone()
        db.execute("PRAGMA user_version = 9999")
        db.close()
        before = files(daemon.folder)
        refused = subprocess.run(daemon.command(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 timeout=DEADLINE, check=False)
        equal((refused.returncode, os.path.exists(daemon.socket)), (65, False), refused.stderr)
        compare(before, daemon.folder)
        status, _, said = run_client("nvtxt-send", "--socket", daemon.socket, stdin=LINES)
        equal(status, 69, said)
        spool = folder.name("spool")
        with Running("nvtxt-send", "--socket", daemon.socket, "--spool", spool) as sender:
            sender.say(HEADER + 'Marker, 3, "kept"\n')
            wait_for(lambda: any(b"kept" in data for data in files(spool).values()), "it is in the spool")
            sender.process.kill()
        db = sqlite3.connect(daemon.store)
        db.execute("PRAGMA user_version = %d" % version)
        db.close()
        daemon.start()  # of the version that was before
        equal(run_client("nvtxt-send", "--socket", daemon.socket, "--resume", spool)[0], 0)
        equal(daemon.query("SELECT text FROM NVTX_EVENTS WHERE eventType = 34 ORDER BY rowid"),
              [("one",), ("two",), ("kept",)])


def crc32c(data):
    rest = 0xFFFFFFFF
    for byte in data:
        rest ^= byte
        for _ in range(8):
            rest = rest >> 1 ^ (0x82F63B78 if rest & 1 else 0)
    return rest ^ 0xFFFFFFFF


def spooled(folder, text):
    """A spool of a sender that was killed while no daemon was there."""
    spool = folder.name("spool")
    before = set(os.listdir(spool)) if os.path.exists(spool) else set()
    with Running("nvtxt-send", "--socket", folder.name("none"), "--spool", spool) as sender:
        sender.say(HEADER + 'Marker, 1, "%s"\n' % text)
        wait_for(lambda: any(text.encode() in data for data in files(spool).values()), "it is in the spool")
        sender.process.kill()
    return sorted(os.path.join(spool, name) for name in set(os.listdir(spool)) - before)


def rewrite(path, change):
    with open(path, "r+b") as file:
        data = change(file.read())
        file.seek(0)
        file.write(data)


def of_version_2(head):
    head = head[:8] + struct.pack("<I", 2) + head[12:60]
    return head + struct.pack("<I", crc32c(head))


def test_a_spool_is_refused_and_the_others_are_sent():
    ways = [(".segment", lambda data: of_version_2(data[:64]) + data[64:],
             "it is of version 2 of spools, and this program reads up to version 1: install a newer "
             "package nvtxt-tools"),
            (".session", lambda data: data.replace(b"nvtxt-spool 1", b"nvtxt-spool 2"),
             "it is of version 2 of spools, and this program reads up to version 1: install a newer "
             "package nvtxt-tools"),
            (".session", lambda data: data.replace(b'"protocol":1', b'"protocol":2'),
             "protocol 2 is not supported; this program speaks protocol 1: install a newer package "
             "nvtxt-tools")]
    for ending, change, sentence in ways:
        with Daemon() as daemon, Folder() as folder:
            newer = spooled(folder, "newer")
            spooled(folder, "sent")
            path, = [path for path in newer if path.endswith(ending)]
            rewrite(path, change)
            before = {name: files(folder.path)[name] for name in newer}
            status, _, said = run_client("nvtxt-send", "--socket", daemon.socket, "--resume",
                                         folder.name("spool"))
            equal((status, said), (65, "nvtxt-send: %s: %s\n" % (path, sentence)))
            equal(files(folder.path), before)
            equal(daemon.query("SELECT text FROM NVTX_EVENTS WHERE eventType = 34"), [("sent",)])


def test_a_head_that_is_only_damaged_is_not_called_newer():
    with Daemon() as daemon, Folder() as folder:
        path, = [path for path in spooled(folder, "damaged") if path.endswith(".segment")]
        rewrite(path, lambda data: data[:8] + struct.pack("<I", 2) + data[12:])
        status, _, said = run_client("nvtxt-send", "--socket", daemon.socket, "--resume",
                                     folder.name("spool"))
        equal((status, said), (65, "nvtxt-send: %s: the head, bytes 0 to 79, is damaged\n" % path))


def test_a_ring_is_refused():
    with Folder() as folder, Daemon() as daemon:
        path = folder.write("process.ring", b"nvtxtrng" + struct.pack("<II", 3, 99999) + bytes(200000))
        before = files(folder.path)
        status, _, said = run_client("nvtxt-send", "--socket", daemon.socket, "--resume", folder.path)
        equal(status, 65)
        assert re.fullmatch(r"nvtxt-send: %s is of version 3 \(99999 bytes of head\) of ring files; this "
                            r"program reads up to version 2 \(\d+\): install a newer package nvtxt-tools\n"
                            % re.escape(path), said), said
        equal(files(folder.path), before)


def test_a_sender_of_a_newer_protocol_is_refused():
    with Daemon() as daemon:
        with daemon.session(protocol=2) as session:
            equal((session.welcome["type"], session.welcome["code"]), ("error", "unsupported-protocol"))
            message = session.welcome["message"]
        assert re.fullmatch(r"protocol 2 is not supported; this daemon \([0-9.]+\) speaks protocol 1: "
                            "install a newer package nvtxtd", message), message
        with daemon.session(protocol=0) as session:
            assert session.welcome["message"].endswith(") speaks protocol 1"), session.welcome
        with Fake() as fake, Folder() as folder:  # what an older daemon says to a newer sender
            with Running("nvtxt-send", "--socket", fake.path, "--spool", folder.name("spool")) as sender:
                sender.say(LINES)
                sender.close()
                with fake.accept() as peer:
                    wait_for(lambda: holds(folder, b"one"), "it is in the spool")
                    peer.reply(type="error", code="unsupported-protocol", message=message)
                    said = sender.expect(76)
            contains(said, message)
            assert holds(folder, b"one"), "the spool stays"


def test_a_daemon_of_a_newer_protocol_is_not_understood():
    with Fake() as fake, Folder() as folder:
        with Running("nvtxt-send", "--socket", fake.path, "--spool", folder.name("spool")) as sender:
            sender.say(LINES)
            sender.close()
            with fake.accept() as peer:
                wait_for(lambda: holds(folder, b"one"), "it is in the spool")
                peer.reply(type="welcome", protocol=2, session=peer.hello["session"], source=1, line=0,
                           limits={})
                said = sender.expect(76)
        contains(said, "it speaks protocol 2, this program protocol 1: install a newer package nvtxt-tools\n")
        assert holds(folder, b"one"), "the spool stays"


def change_state(daemon, before, after):
    db = sqlite3.connect(daemon.store)
    db.execute("UPDATE NVTXT_SESSIONS SET state = replace(state, ?, ?)",
               ('"version":%d' % before, '"version":%d' % after))
    db.commit()
    db.close()


def test_a_session_that_a_newer_daemon_saved_waits_for_it():
    with Daemon() as daemon, Folder() as folder:
        with daemon.session() as session:
            session.send(HEADER + 'Kept = "kept"\nMarker, 1, "one"\n')
            session.ack(3)
        daemon.stop()
        change_state(daemon, 2, 3)
        rows = daemon.query("SELECT * FROM NVTXT_SESSIONS")
        assert '"version":3' in str(rows), rows
        daemon.start()
        with daemon.session(session.id) as again:
            equal((again.welcome["type"], again.welcome["code"]), ("error", "unreadable-session"))
            assert re.fullmatch(r"a daemon of a newer version has saved this session; this one \([0-9.]+\) "
                                r"reads states up to version 2: install a newer package nvtxtd, and resume "
                                "it then", again.welcome["message"]), again.welcome
        equal(daemon.query("SELECT * FROM NVTXT_SESSIONS"), rows)
        equal(daemon.query("SELECT count(*) FROM NVTXT_LOSSES"), [(0,)])
        daemon.stop()
        change_state(daemon, 3, 2)
        daemon.start()
        with daemon.session(session.id) as again:
            equal(again.welcome["line"], 3)
            again.send("Marker, 2, $Kept\n")
            equal(again.end()["errors"], 0)
        equal(daemon.query("SELECT text FROM NVTX_EVENTS WHERE eventType = 34"), [("one",), ("kept",)])


def newer_state(daemon, table, what):
    with contextlib.closing(sqlite3.connect(daemon.store)) as db, db:
        db.execute("UPDATE %s SET state = replace(state, '\"version\":2', '\"version\":3') WHERE %s" % (table, what))


def sentence(what, then):
    return (r"a daemon of a newer version has saved %s; this one \([0-9.]+\) reads states up to version 2: "
            "install a newer package nvtxtd; %s" % (what, then))


def test_an_expired_session_that_a_newer_daemon_saved_stays():
    for config in ("SessionExpiry=1s\n", ""):  # the time of all sessions; that of these two
        with Daemon(config=config) as daemon:
            expiry = {} if config else {"expiry": 1}
            with daemon.session(**expiry) as session, daemon.session(**expiry) as other:
                for each in (session, other):
                    each.send(HEADER + 'Marker, 1, "one"\n')
                    each.ack(2)
                daemon.stop()
            newer_state(daemon, "NVTXT_SESSIONS", "sessionId = '%s'" % session.id)
            with contextlib.closing(sqlite3.connect(daemon.store)) as db, db:  # it is found first
                db.execute("UPDATE NVTXT_SESSIONS SET seenNs = 1 WHERE sessionId = ?", (session.id,))
            daemon.start()
            wait_for(lambda: daemon.query("SELECT ended FROM NVTXT_SOURCES WHERE sessionId = ?", other.id)
                     == [("expired",)], "the other one expires")
            said = re.compile(sentence("an expired session", "it stays until then session=" + session.id))
            wait_for(lambda: said.search(daemon.log_text()), "the log names the session")
            equal(daemon.query("SELECT sessionId FROM NVTXT_SESSIONS"), [(session.id,)])


def test_a_followed_file_whose_state_a_newer_daemon_saved_waits_for_it():
    with Daemon(start=False, config="") as daemon:
        inside = os.path.join(daemon.folder, "in")
        os.mkdir(inside)
        with open(os.path.join(daemon.folder, "nvtxtd.conf"), "w", encoding="utf-8") as file:
            file.write("[nvtxtd]\nWatchDirectory=%s\n" % inside)

        def append(name, text):
            with open(os.path.join(inside, name), "a", encoding="utf-8") as file:
                file.write(text)

        def messages():
            return sorted(daemon.query("SELECT text FROM NVTX_EVENTS WHERE eventType = 34"))

        daemon.start()
        append("a.nvtxt", HEADER + 'Kept = "kept"\nMarker, 1, "one"\n')
        append("b.nvtxt", HEADER + 'Marker, 1, "other"\n')
        wait_for(lambda: messages() == [("one",), ("other",)], "both are read")
        daemon.stop()
        newer_state(daemon, "NVTXT_FILES", "path GLOB '*/a.nvtxt'")
        rows = daemon.query("SELECT * FROM NVTXT_FILES WHERE path GLOB '*/a.nvtxt'")
        assert '"version":3' in str(rows), rows
        append("a.nvtxt", "Marker, 2, $Kept\n")
        daemon.start()
        said = re.compile(sentence("the state of a followed file", r"the file is not read until then path=\"%s\""
                                   % re.escape(os.path.join(inside, "a.nvtxt"))))
        wait_for(lambda: said.search(daemon.log_text()), "the log names the file")
        append("a.nvtxt", 'Marker, 3, "more"\n')
        append("b.nvtxt", 'Marker, 2, "goes on"\n')
        wait_for(lambda: messages() == [("goes on",), ("one",), ("other",)], "the other file goes on")
        daemon.stop()
        equal(len(said.findall(daemon.log_text())), 1, "it is said once")
        equal(daemon.query("SELECT * FROM NVTXT_FILES WHERE path GLOB '*/a.nvtxt'"), rows)
        equal(daemon.query("SELECT count(*) FROM NVTXT_LOSSES"), [(0,)])
        with contextlib.closing(sqlite3.connect(daemon.store)) as db, db:
            db.execute("""UPDATE NVTXT_FILES SET state = replace(state, '"version":3', '"version":2')""")
        daemon.start()
        wait_for(lambda: messages() == [("goes on",), ("kept",), ("more",), ("one",), ("other",)],
                 "a daemon that reads it goes on")


def test_a_key_of_a_future_version_is_refused_with_its_line():
    with Folder() as folder:
        path = folder.write("nvtxtd.conf", "[nvtxtd]\n\nTeleport=yes\n[teleport]\n")
        done = subprocess.run([program("daemon", "nvtxtd"), "--check-config", "-c", path],
                              stderr=subprocess.PIPE, timeout=DEADLINE, check=False)
        equal(done.returncode, 78)
        contains(done.stderr.decode(), path + ":4: unknown section '[teleport]': only [nvtxtd] is known "
                 "(unknown sections are refused so that a typing error is seen)\n")
        contains(done.stderr.decode(), path + ":3: unknown key 'Teleport': nvtxtd.conf(5) lists what is "
                 "allowed (unknown keys are refused so that a typing error is seen)\n")


lib.run(globals())
