# SPDX-License-Identifier: Apache-2.0
"""A store of several segments: what goes on across a rotation, what is removed, what is refused."""
import contextlib
import glob
import os
import re
import shutil
import sqlite3
import stat
import subprocess
import tempfile
import time
import uuid

import lib

HEADER = 'TimeBase = Manual\n@Marker, Time, Message\n'
RANGES = '@RangePush, Time, Message\n@RangePop, Time\n@RangeStart, Time, RangeId, Message\n' \
         '@RangeEnd, Time, RangeId\n'


def rotate(daemon):
    answer = daemon.control("rotate")
    folder = os.path.realpath(os.path.dirname(daemon.store))
    lib.equal(os.path.realpath(daemon.store), os.path.join(folder, answer["segment"]))
    return answer


def left(daemon, path):
    """Waits until a segment that was left is complete: nothing goes on in it, its log is empty."""
    lib.wait_for(lambda: os.path.getsize(path + "-wal") == 0
                 and lib.rows(path, "SELECT count(*) FROM NVTXT_SOURCES WHERE closedNs IS NULL") == [(0,)],
                 "%s is complete" % path)


def store_id(path):
    (value,), = lib.rows(path, "SELECT value FROM META_DATA_EXPORT WHERE name = 'STORE_ID'")
    lib.equal(str(uuid.UUID(value)), value)
    return value


def test_all_segments_of_a_store_have_its_id():
    with lib.Daemon() as daemon, lib.Daemon() as other:
        daemon.send(HEADER + 'Marker, 1, "first"\n')
        given = store_id(daemon.store)
        assert given != store_id(other.store)
        rotate(daemon)
        daemon.send(HEADER + 'Marker, 2, "second"\n')
        rotate(daemon)
        lib.equal([store_id(path) for path in daemon.segments()], [given] * 3)
        copy = os.path.join(daemon.folder, "copy")
        daemon.control("snapshot", file=copy)
        lib.equal(store_id(copy), given)
        daemon.stop()
        with sqlite3.connect(daemon.store) as db:
            db.execute("DELETE FROM META_DATA_EXPORT WHERE name = 'STORE_ID'")
        daemon.start()
        added = store_id(daemon.store)
        assert added != given
        daemon.stop()
        daemon.start()
        lib.equal(store_id(daemon.store), added)


def test_the_store_is_a_link_to_its_first_segment():
    with lib.Daemon() as daemon:
        assert os.path.islink(daemon.store)
        target = os.readlink(daemon.store)
        lib.equal([os.path.basename(path) for path in daemon.segments()], [target])
        assert target.startswith("store-2") and target.endswith("Z-1.sqlite"), target
        for ending in ("", "-wal", "-shm"):
            lib.equal(stat.S_IMODE(os.stat(os.path.realpath(daemon.store) + ending).st_mode), 0o640)
        daemon.stop()
        daemon.start()
        lib.equal(os.readlink(daemon.store), target)


def test_everything_goes_on_in_the_next_segment():
    with lib.Daemon() as daemon:
        with daemon.session() as session, daemon.session() as other:
            session.send(HEADER + RANGES + 'SetFileDisplayName, "shown"\nSetProcessName, 4, "proc"\n'
                         'SetThreadName, 4, 5, "thread"\nSetCategoryName, 7, "seven"\n'
                         'ProcessId = 4\nThreadId = 5\nCategoryId = 7\nx = 21\n'
                         'RangePush, 10, "pushed"\nRangeStart, 11, 3, "started"\nMarker, 12, "one"\n')
            session.ack(17)
            other.send(HEADER + 'Marker, 1, "other"\nbad\n')
            lib.equal(len(other.ack(4)), 1)
            first = daemon.segments()[0]
            answer = rotate(daemon)
            lib.equal((answer["previous"], len(daemon.segments())), (os.path.basename(first), 2))
            lib.equal(daemon.query("SELECT text, start, domainId FROM NVTXT_OPEN_RANGES ORDER BY seq"),
                      [("pushed", 10, 1), ("started", 11, 1)])
            left(daemon, first)
            lib.equal(lib.rows(first, "SELECT count(*) FROM NVTXT_OPEN_RANGES UNION ALL"
                           " SELECT count(*) FROM NVTXT_SESSIONS"), [(0,), (0,)])
            session.send('Marker, $x, "two"\nRangePop, 22\nRangeEnd, 23, 3\n')
            session.ack(20)
            lib.equal(daemon.query(
                "SELECT message, start, end, category, process, thread, domain FROM NVTXT_TIMELINE"
                " ORDER BY start"),
                [("pushed", 10, 22, "seven", "proc", "thread", "shown"),
                 ("started", 11, 23, "seven", "proc", "thread", "shown"),
                 ("two", 21, 21, "seven", "proc", "thread", "shown")])
            lib.equal(session.end()["events"], 4)
            other.end()
        lib.equal(sorted(daemon.everywhere("SELECT text FROM NVTX_EVENTS WHERE eventType IN"
                                    " (34, 59, 60)")),
                  [("one",), ("other",), ("pushed",), ("started",), ("two",)])
        for path in daemon.segments():
            lib.equal(lib.rows(path, "SELECT count(*) FROM NVTX_EVENTS e LEFT JOIN StringIds s"
                           " ON s.id = e.textId WHERE s.value IS NOT e.text"), [(0,)])
            lib.equal(lib.rows(path, "SELECT eventType, text FROM NVTX_EVENTS WHERE eventType IN"
                           " (33, 39, 75) ORDER BY 1"),
                      [(33, "seven"), (39, "thread"), (75, "shown")])
            lib.equal(lib.rows(path, "PRAGMA integrity_check"), [("ok",)])
        lib.equal(daemon.everywhere("SELECT events, priorEvents, ended FROM NVTXT_SOURCES"
                             " WHERE id = ?", session.welcome["source"]),
                  [(1, None, "rotated"), (4, 1, "end")])
        lib.equal(daemon.query("SELECT count(*) FROM NVTXT_OPEN_RANGES"), [(0,)])


def test_range_ids_and_source_ids_are_given_once():
    with lib.Daemon() as daemon:
        text = 'TimeBase = Manual\n' + RANGES + "".join(
            'RangeStart, %d, %d, "r"\nRangeEnd, %d, %d\n' % (n, n, n + 1, n) for n in range(1, 11))
        for _ in range(3):
            daemon.send(text)
            rotate(daemon)
            daemon.stop()
            daemon.start()
        daemon.send(text)
        ids = daemon.everywhere("SELECT rangeId FROM NVTX_EVENTS WHERE eventType = 60")
        lib.equal((len(ids), len(set(ids))), (40, 40))
        sources = daemon.everywhere("SELECT id FROM NVTXT_SOURCES")
        lib.equal(len(sources), len(set(sources)))


def test_a_session_that_ended_before_a_rotation_stays_known():
    with lib.Daemon() as daemon:
        with daemon.session() as session:
            session.send(HEADER + 'Marker, 1, "one"\nbad\n')
            end = session.end()
        for _ in range(2):
            rotate(daemon)
            daemon.send(HEADER + 'Marker, 1, "later"\n')
            with daemon.session(session.id, acked=0) as again:
                lib.equal(again.welcome["line"], 4)
                replies = again.replies()
                lib.equal([reply["type"] for reply in replies], ["diagnostic", "end"])
                lib.equal({**replies[-1]}, end)
        lib.equal(len(daemon.everywhere("SELECT 1 FROM NVTX_EVENTS WHERE text = 'one'")), 1)


def indexed(daemon):
    """How many segments are in the index of ended sessions."""
    try:
        return lib.rows(daemon.store + ".ended", "SELECT count(*) FROM segments")[0][0]
    except sqlite3.Error:
        return 0


def test_sessions_that_ended_long_ago_stay_known_with_an_index_and_without():
    with lib.Daemon(config="RotateSize=1M\n") as daemon:  # 128 ended sessions go along
        sessions = [daemon.session() for _ in range(40)]
        first = sessions[0].id
        ends = []
        for number in range(140):
            session = sessions.pop(0)
            session.send(HEADER + 'Marker, 1, "one of %d"\n' % number)
            ends.append(session.end())
            session.close()
            if len(ends) + len(sessions) < 140:
                sessions.append(daemon.session())

        def ended_are_known():
            for number, known in ((0, first), (1, None)):
                with daemon.session(known) as again:
                    lib.equal(again.welcome["line"], 3 if known else 0, again.welcome)
                    if known:
                        lib.equal(again.replies(), [ends[number]])

        for _ in range(5):
            rotate(daemon)
            daemon.send(HEADER + 'Marker, 1, "later"\n')
            ended_are_known()
        rotate(daemon)
        lib.wait_for(lambda: indexed(daemon) >= 5, "the old segments are in the index")
        ended_are_known()
        daemon.kill()
        with open(daemon.store + ".ended", "r+b") as file:
            file.write(b"no database")
        daemon.start()
        ended_are_known()
        lib.wait_for(lambda: indexed(daemon) >= 5, "the index is made anew")
        ended_are_known()
        lib.equal(len(daemon.everywhere("SELECT 1 FROM NVTX_EVENTS WHERE text = 'one of 0'")), 1)


def test_a_break_around_a_rotation_hides_no_diagnostics():
    with lib.Daemon() as daemon:
        with daemon.session() as session:
            session.send(HEADER + 'bad one\n')
            session.ack(3)
        rotate(daemon)
        with daemon.session(session.id, acked=2) as session:
            session.send('bad two\n')
            lib.equal([row["line"] for row in session.ack(4)], [3, 4])
        rotate(daemon)
        daemon.kill()
        daemon.start()
        with daemon.session(session.id, acked=0) as session:
            session.send('bad three\n')
            lib.equal([row["line"] for row in session.ack(5)], [3, 4, 5])


def note_loss(daemon):
    store = sqlite3.connect(daemon.store, isolation_level=None, timeout=lib.DEADLINE)
    store.execute("INSERT INTO NVTXT_LOSSES VALUES (1, 1, 1, 1, 'memory', 12)")
    store.close()


def test_losses_are_told_whatever_segment_they_stand_in():
    with lib.Daemon(shared=True) as daemon:
        note_loss(daemon)
        for _ in range(2):
            rotate(daemon)
            daemon.send(HEADER + 'Marker, 1, "x"\n')
            health = daemon.control("health")
            lib.equal((health["healthy"], health["total"], health["losses"][0]["count"]),
                      (False, 1, 12))


def test_the_oldest_segments_are_removed():
    # Three with events, and the one in use has none.
    with lib.Daemon(config="KeepFiles=3\n") as daemon:
        seen = daemon.segments()
        for number in range(5):
            daemon.send(HEADER + 'Marker, %d, "x"\n' % number)
            lib.equal(rotate(daemon)["previous_removed"], False)
            seen.append(os.path.realpath(daemon.store))
            lib.wait_for(lambda: daemon.segments() == [os.path.join(daemon.folder, os.path.basename(p))
                                                      for p in seen[-4:]], "four are left")
        lib.wait_for(lambda: len(glob.glob(daemon.store[:-7] + "-2*")) == 12, "their logs are gone")
        lib.wait_for(lambda: daemon.control("status")["old_segments"] == 3, "status says so")
        daemon.send(HEADER + 'Marker, 9, "x"\n')
        lib.wait_for(lambda: len(daemon.segments()) == 3, "it counts with its first event")
        lib.wait_for(lambda: daemon.control("status")["removed"]["segments"] == 3, "status says so")


def shipped(daemon, number, whose=None, name="position"):
    path = os.path.join(daemon.folder, name)
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write("%s %d\n" % (whose or store_id(daemon.store), number))
    os.rename(path + ".new", path)


def fill_segment(daemon):
    """One more segment; returns how many are left with the one in use, which is empty."""
    daemon.send(HEADER + 'Marker, 1, "x"\n')
    rotate(daemon)  # answers when the keeper has looked at them
    return len(daemon.segments())


WAITING = "[nvtxtd]\nKeepFiles=1\nKeepFree=0\nShippedFile=%s/%s\nKeepUnshipped=%s\n"


def test_segments_wait_for_a_shipper_up_to_a_size():
    with lib.Daemon(config="", start=False) as daemon:
        def configure(size, name="position"):
            with open(daemon.folder + "/nvtxtd.conf", "w", encoding="utf-8") as file:
                file.write(WAITING % (daemon.folder, name, size))
        configure("64M")
        daemon.start()
        lib.equal([fill_segment(daemon), fill_segment(daemon)], [2, 2], "no file: nothing waits")
        shipped(daemon, 1, "00000000-0000-4000-8000-000000000000")
        lib.equal(fill_segment(daemon), 2, "a file of another store")
        lib.equal(daemon.log_text().count("no old segment waits for the shipper: "), 1)
        shipped(daemon, 3)
        lib.equal([fill_segment(daemon), fill_segment(daemon)], [3, 4])
        shipped(daemon, 5)
        lib.equal(fill_segment(daemon), 3, "of 5, 6 and 7 none was shipped")
        configure("1K")
        daemon.control("reload")
        lib.wait_for(lambda: len(daemon.segments()) == 2, "all together take more than that")
        configure("64M")
        daemon.control("reload")
        os.unlink(daemon.folder + "/position")
        lib.equal(fill_segment(daemon), 2)
        lib.equal(daemon.log_text().count("no old segment waits for the shipper: "), 2)
        configure("64M", "elsewhere")
        lib.equal(daemon.control("reload"), {"applied": ["ShippedFile"], "needs_restart": []})
        lib.wait_for(lambda: re.search("no old segment waits .*/elsewhere$", daemon.log_text(),
                                       re.MULTILINE), "the other file is not there")
        shipped(daemon, 1, name="elsewhere")
        lib.equal([fill_segment(daemon), fill_segment(daemon)], [3, 4], "it counts without a restart")


def test_what_retention_removed_is_told():
    with lib.Daemon(config="KeepFiles=1\n") as daemon:
        lib.equal(daemon.control("status")["removed"]["by"]["KeepFree"],
                  {"segments": 0, "events": 0, "bytes": 0})
        before = time.time_ns()
        for number in range(3):
            daemon.send(HEADER + 'Marker, 1, "x"\nMarker, 2, "y"\n')
            answer = rotate(daemon)
            assert "reason=asked segment=%s left=%s" % (answer["segment"], answer["previous"]) in \
                daemon.log_text(), daemon.log_text()
        daemon.send(HEADER + 'Marker, 1, "x"\nMarker, 2, "y"\n')
        lib.wait_for(lambda: daemon.control("status")["removed"]["segments"] == 3, "all but the last")
        removed = daemon.control("status")["removed"]
        lib.equal((removed["segments"], removed["events"]), (3, 6))
        assert before < removed["last_ns"] < time.time_ns() and removed["bytes"] > 3 << 12, removed
        lib.equal({key: by["events"] for key, by in removed["by"].items()},
                  {"KeepFiles": 6, "KeepSize": 0, "KeepAge": 0, "KeepFree": 0})
        health = daemon.control("health")
        lib.equal((health["healthy"], health["losses"], health["removed"]), (True, [], removed))
        metrics = daemon.control("metrics")["text"]
        for name in ("segments", "events", "bytes"):
            for key in ("KeepFiles", "KeepFree"):
                sample = 'nvtxtd_removed_%s_total{by="%s"} %d\n' % (name, key, removed["by"][key][name])
                assert sample in metrics, (sample, metrics)
        log = re.findall(r"removed by=KeepFiles segments=(\d+) events=(\d+) bytes=(\d+)",
                         daemon.log_text())
        lib.equal([sum(int(row[i]) for row in log) for i in range(3)],
                  [removed["segments"], removed["events"], removed["bytes"]])
        text = ctl(daemon, "health").splitlines()
        lib.equal(text[0], "nothing was lost")
        assert text[1].startswith("note: retention removed 3 segments, 6 events, ") and \
            "(KeepFiles 3), last 20" in text[1], text
        lib.equal(daemon.control("status")["rotations"], 3)
        lib.equal(health["rotations"], 3)
        assert before < health["rotated_ns"] < time.time_ns(), health
        assert "nvtxtd_rotations_total 3\n" in metrics, metrics
        assert text[2].startswith("note: the store was rotated 3 times, last 20"), text
        assert re.search(r"\brotations: +3\b", ctl(daemon, "status")), ctl(daemon, "status")
        assert re.search(r"^removed: +3 segments, 6 events, [0-9.]+ .iB \(KeepFiles 3\)$",
                         ctl(daemon, "status"), re.MULTILINE), ctl(daemon, "status")


def ctl(daemon, *words):
    done = subprocess.run([lib.program("client", "nvtxt-ctl"), "--socket", daemon.control_socket, *words],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          timeout=lib.DEADLINE)
    lib.equal(done.returncode, 0, done.stdout)
    return done.stdout


def test_an_empty_segment_is_not_left():
    with lib.Daemon(shared=True) as daemon:
        name = os.path.basename(os.path.realpath(daemon.store))
        lib.equal(rotate(daemon), {"segment": name, "previous": None, "previous_removed": False})
        with daemon.session() as session:
            session.send(HEADER)
            session.ack(2)
            lib.equal(ctl(daemon, "rotate"), "nothing to leave: %s has no events yet\n" % name)
            lib.equal(len(daemon.segments()), 1)
            session.send("bad\n")  # a diagnostic is something
            session.ack(3)
            lib.equal(rotate(daemon)["previous"], name)
            session.end()
        lib.equal(len(daemon.segments()), 2)
        note_loss(daemon)
        lib.equal(rotate(daemon)["previous"], os.path.basename(daemon.segments()[1]))


def test_a_rotation_says_when_what_it_left_is_gone():
    # What the next one and its log will take is more already: the one that was left goes at once.
    with lib.Daemon(config="RotateSize=1M\nKeepSize=2M\n") as daemon:
        daemon.send(HEADER + 'Marker, 1, "x"\n')
        answer = rotate(daemon)
        lib.equal((answer["previous_removed"], len(daemon.segments())), (True, 1))
        daemon.send(HEADER + 'Marker, 1, "x"\n')
        assert ctl(daemon, "rotate").endswith(" was left, and retention has removed it already\n")
        lib.equal(daemon.control("status")["removed"]["by"]["KeepSize"]["events"], 2)


def test_what_sessions_keep_open_does_not_remove_history():
    with lib.Daemon(config="RotateSize=1M\nKeepSize=12M\n") as daemon:
        with daemon.session() as session:
            session.send("TimeBase = Manual\n@RangeStart, Time, RangeId, Message\n" +
                         "".join('RangeStart, 1, %d, "%s"\n' % (number, "r" * 450)
                                 for number in range(6000)))
            lib.equal(session.ack(6002), [])
        for number in range(6):  # each takes 3 MB along
            daemon.send(HEADER + 'Marker, %d, "x"\n' % number)
            path = daemon.segments()[-1]
            lib.equal(rotate(daemon)["previous_removed"], False)
            left(daemon, path)
        assert sum(map(os.path.getsize, daemon.segments())) > 16 << 20, daemon.segments()
        daemon.send(HEADER + 'Marker, 6, "x"\n')
        daemon.stop()
        daemon.start()
        lib.wait_for(lambda: daemon.control("status")["old_segments"] > 0, "they were looked at")
        lib.equal(sorted(daemon.everywhere("SELECT start FROM NVTX_EVENTS")),
                  [(number,) for number in range(7)])
        lib.equal(daemon.control("status")["removed"]["segments"], 0)
        with daemon.session(session.id) as again:
            lib.equal((again.welcome["line"], again.end()["events"]), (6002, 6000))


def test_a_full_disk_does_not_cost_the_store_its_history():
    """A disk that others fill: not even all segments would make the room that is asked for."""
    with folder_on_a_used_disk() as folder, \
            lib.Daemon(config="KeepFree=99\nKeepAtLeast=0\n", start=False) as daemon:
        daemon.store = os.path.join(folder, "store.sqlite")
        daemon.start()
        for number in range(4):
            daemon.send(HEADER + 'Marker, %d, "x"\n' % number)
            if number < 3:
                lib.equal(rotate(daemon)["previous_removed"], False)
        lib.wait_for(lambda: daemon.control("status")["old_segments"] == 3, "they were looked at")
        lib.equal(sorted(daemon.everywhere("SELECT start FROM NVTX_EVENTS")), [(0,), (1,), (2,), (3,)])
        lib.equal(daemon.control("status")["removed"]["segments"], 0)


def test_a_segment_that_was_left_long_enough_ago_is_removed():
    with lib.Daemon(config="KeepAge=1s\nKeepFree=0\n") as daemon:
        for _ in range(2):
            daemon.send(HEADER + 'Marker, 1, "x"\n')
            rotate(daemon)
        lib.wait_for(lambda: len(daemon.segments()) == 1, "both became too old")


def test_a_bound_that_is_reloaded_is_in_force():
    with lib.Daemon(config="KeepFiles=0\n") as daemon:
        for number in range(4):
            daemon.send(HEADER + 'Marker, %d, "x"\n' % number)
            if number < 3:
                rotate(daemon)
        lib.equal(len(daemon.segments()), 4)
        with open(daemon.folder + "/nvtxtd.conf", "w", encoding="utf-8") as file:
            file.write("[nvtxtd]\nKeepFiles=2\n")
        daemon.control("reload")
        lib.wait_for(lambda: len(daemon.segments()) == 2, "two are left")


def test_a_segment_with_events_is_left_at_its_age_and_an_empty_one_is_not():
    with lib.Daemon(config="RotateAge=300ms\n") as daemon:
        first = daemon.segments()[0]
        daemon.send(HEADER + 'Marker, 1, "x"\n')
        lib.wait_for(lambda: len(daemon.segments()) == 2, "it is left")
        left(daemon, first)
        second = os.path.realpath(daemon.store)
        lib.equal(lib.rows(second, "SELECT count(*) FROM NVTXT_BATCHES"), [(0,)])
        daemon.send(HEADER + 'Marker, 2, "y"\n')
        lib.wait_for(lambda: len(daemon.segments()) == 3, "it is left")


def writer_ticks(daemon):
    folder = "/proc/%d/task" % daemon.process.pid
    for thread in os.listdir(folder):
        with contextlib.suppress(OSError), \
                open(os.path.join(folder, thread, "stat"), encoding="utf-8") as file:  # it may have ended
            name, rest = file.read().split("(", 1)[1].rsplit(")", 1)
            if name == "writer":
                return sum(int(ticks) for ticks in rest.split()[11:13])
    raise AssertionError("no writer")


def test_the_writer_sleeps_while_what_it_holds_is_in_the_way_of_a_rotation():
    with lib.Daemon(config="CommitInterval=60s\nMemoryBudget=1M\n") as daemon:
        daemon.send(HEADER + 'Marker, 1, "x"\n')
        daemon.flush()
        with daemon.plain() as plain:
            plain.send(HEADER + 'Marker, 2, "%s"\n' % ("y" * 60000))
            lib.wait_for(lambda: daemon.control("status")["bytes_in_flight"] > 0, "it is held")
            with open(daemon.folder + "/nvtxtd.conf", "a", encoding="utf-8") as file:
                file.write("RotateAge=1ms\n")
            daemon.control("reload")

            def sleeps():
                before = writer_ticks(daemon)
                time.sleep(0.3)
                return writer_ticks(daemon) == before
            lib.wait_for(sleeps, "the writer sleeps")
            lib.equal(len(daemon.segments()), 1)
            daemon.flush()
            lib.wait_for(lambda: len(daemon.segments()) == 2, "the segment is left")


def disk_use(daemon):
    total = 0
    for path in glob.glob(daemon.store[:-len(".sqlite")] + "-2*"):
        try:
            total += os.stat(path).st_size
        except FileNotFoundError:  # just removed
            pass
    return total


def test_the_bound_of_the_size_is_kept_while_it_is_written():
    keep, segment = 6 << 20, 1 << 20
    with lib.Daemon(config="RotateSize=1M\nKeepSize=6M\nCommitInterval=10ms\n") as daemon:
        most = 0
        for _ in range(12):  # about a segment each
            with daemon.plain() as connection:
                connection.send(HEADER + "".join('Marker, %d, "%s"\n' % (n, "x" * 40)
                                                 for n in range(10000)))
            lib.wait_for(lambda: daemon.control("status")["connections"] == 0, "it is read")
            most = max(most, disk_use(daemon))
        daemon.flush()
        number = int(daemon.control("status")["segment"].rsplit("-", 1)[1][:-len(".sqlite")])
        assert number > 7, number
        # Beside the bound: a segment whose log is on its way into its main file.
        assert most <= keep + segment, most
        lib.wait_for(lambda: disk_use(daemon) <= keep, "in the end")


def test_a_reader_that_pins_the_log_is_warned_of_and_left_behind():
    with lib.Daemon(config="RotateWal=1M\nCheckpointPages=100\nCommitInterval=5ms\n") as daemon:
        daemon.send(HEADER + 'Marker, 1, "first"\n')
        first = os.path.realpath(daemon.store)
        reader = sqlite3.connect("file:%s?mode=ro" % daemon.store, uri=True, isolation_level=None)
        reader.execute("BEGIN")
        lib.equal(reader.execute("SELECT count(*) FROM NVTX_EVENTS").fetchone(), (1,))
        with daemon.session() as session:
            session.send(HEADER)
            line, sent = 2, 1
            while os.path.realpath(daemon.store) == first:
                session.send("".join('Marker, %d, "event %d"\n' % (n, n) for n in range(500)))
                line, sent = line + 500, sent + 500
                session.ack(line)
                assert os.path.getsize(first + "-wal") < 8 << 20, "the log is bounded"
            lib.equal(reader.execute("SELECT count(*) FROM NVTX_EVENTS").fetchone(), (1,))
            lib.equal(daemon.log_text().count("keeps the write-ahead log growing"), 1)
            session.send('Marker, 1, "after"\n')
            lib.equal(session.end()["events"], sent)
        reader.close()
        lib.equal(len(daemon.everywhere("SELECT 1 FROM NVTX_EVENTS WHERE eventType = 34")), sent + 1)
        daemon.stop()
        daemon.start()  # what the reader was in the way of is done by now
        left(daemon, first)


def test_a_big_commit_is_not_taken_for_a_reader():
    config = "RotateWal=1M\nCheckpointPages=100\nCommitInterval=10s\nMemoryBudget=64M\n" \
             "MaxBytesPerUser=64M\n"
    with lib.Daemon(config=config) as daemon:
        with daemon.session() as session:
            session.send(HEADER + "".join('Marker, %d, "%s"\n' % (n, "x" * 4000)
                                          for n in range(1000)))
            lib.equal(session.end()["events"], 1000)
        daemon.flush()
        assert os.path.getsize(os.path.realpath(daemon.store) + "-wal") > 1 << 20
        daemon.send(HEADER + 'Marker, 1, "after"\n')
        log = daemon.log_text()
        assert "keeps the write-ahead log growing" not in log, log
        lib.equal(len(daemon.segments()), 1)


def test_what_was_left_can_be_copied_when_the_answer_is_there():
    with lib.Daemon(config="CommitInterval=5ms\n") as daemon:
        for number in range(3):
            daemon.send(HEADER + "".join('Marker, %d, "x"\n' % n for n in range(500)))
            previous = os.path.join(daemon.folder, rotate(daemon)["previous"])
            lib.equal(os.path.getsize(previous + "-wal"), 0, number)
            alone = sqlite3.connect("file:%s?immutable=1" % previous, uri=True)
            lib.equal(alone.execute("SELECT count(*) FROM NVTX_EVENTS").fetchall(), [(500,)], number)
            alone.close()


def test_a_stop_completes_what_a_reader_was_in_the_way_of():
    with lib.Daemon() as daemon:
        daemon.send(HEADER + 'Marker, 1, "first"\n')
        first = os.path.realpath(daemon.store)
        reader = sqlite3.connect("file:%s?mode=ro" % first, uri=True, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM NVTX_EVENTS").fetchone()
        rotate(daemon)
        lib.wait_for(lambda: daemon.control("status")["old_segments"] == 1, "it was looked at")
        assert os.path.getsize(first + "-wal") > 0
        reader.close()
        daemon.stop()
        lib.equal([os.path.getsize(path + "-wal") for path in daemon.segments()], [0, 0])
        alone = sqlite3.connect("file:%s?immutable=1" % first, uri=True)
        lib.equal(alone.execute("SELECT text FROM NVTX_EVENTS").fetchall(), [("first",)])
        alone.close()


@contextlib.contextmanager
def folder_on_a_used_disk():
    """KeepFree=99 asks for too much room there. An empty tmpfs has it; then the folder of the build."""
    for place in (tempfile.gettempdir(), "."):
        disk = os.statvfs(place)
        if disk.f_bavail < disk.f_blocks * 0.98:
            with tempfile.TemporaryDirectory(prefix="nvtxtd-test-", dir=os.path.abspath(place)) as folder:
                yield folder
            return
    raise lib.Skip("no disk here has less than 98 % of room")


def test_a_disk_without_enough_room_is_told_once_and_old_segments_go():
    with folder_on_a_used_disk() as folder, \
            lib.Daemon(config="KeepFree=99\nKeepFiles=1\n", start=False) as daemon:
        daemon.store = os.path.join(folder, "store.sqlite")
        daemon.start()
        log = daemon.log_text()
        lib.equal(log.count("less room than KeepFree asks for"), 1, log)
        assert daemon.store in log and "make room, or lower KeepFree" in log, log
        precious = os.path.join(folder, "store-precious.sqlite")
        with open(precious, "w", encoding="utf-8") as file:
            file.write("precious")
        for number in range(3):
            daemon.send(HEADER + 'Marker, %d, "x"\n' % number)
            if number < 2:
                rotate(daemon)
        lib.wait_for(lambda: len(daemon.segments()) == 1, "only the one in use is left")
        assert os.path.exists(precious)
        lib.equal(daemon.log_text().count("less room than KeepFree asks for"), 1)


# ---- Starts --------------------------------------------------------------------------------------

def test_a_plain_store_becomes_the_first_segment():
    with lib.Daemon() as daemon:
        daemon.send(HEADER + 'Marker, 1, "old"\n')
        daemon.kill()
        segment = os.path.realpath(daemon.store)
        os.unlink(daemon.store)
        for ending in ("", "-wal", "-shm"):  # as an older version left it, killed
            os.rename(segment + ending, daemon.store + ending)
        reader = sqlite3.connect("file:%s?mode=ro" % daemon.store, uri=True)
        reader.execute("SELECT count(*) FROM NVTX_EVENTS").fetchall()
        daemon.start()
        daemon.send(HEADER + 'Marker, 2, "new"\n')
        assert os.path.islink(daemon.store)
        lib.equal(len(daemon.segments()), 1)
        lib.equal(daemon.query("SELECT text FROM NVTX_EVENTS ORDER BY start"), [("old",), ("new",)])
        lib.equal(reader.execute("SELECT text FROM NVTX_EVENTS ORDER BY start").fetchall(),
                  [("old",), ("new",)])  # the same file, the same locks
        reader.close()
        for ending in ("-wal", "-shm"):
            lib.equal(os.path.exists(daemon.store + ending), False)
        lib.equal(os.stat(daemon.segments()[0]).st_nlink, 1)


def test_a_plain_store_gets_the_mode_of_the_store():
    for config, mode in (("", 0o640), ("StoreMode=0600\n", 0o600)):
        with lib.Daemon(config=config) as daemon:
            daemon.send(HEADER + 'Marker, 1, "old"\n')
            daemon.kill()
            segment = os.path.realpath(daemon.store)
            os.unlink(daemon.store)
            for ending in ("", "-wal", "-shm"):
                os.rename(segment + ending, daemon.store + ending)
                os.chmod(daemon.store + ending, 0o664)
            daemon.start()
            for ending in ("", "-wal", "-shm"):
                path = os.path.realpath(daemon.store) + ending
                lib.equal(stat.S_IMODE(os.stat(path).st_mode), mode, path)


def test_a_take_over_that_was_killed_is_done_again():
    with lib.Daemon() as daemon:
        daemon.send(HEADER + 'Marker, 1, "old"\n')
        daemon.stop()
        segment = os.path.realpath(daemon.store)
        os.unlink(daemon.store)
        for ending in ("", "-wal", "-shm"):  # second names, and no link yet
            os.link(segment + ending, daemon.store + ending)
        daemon.start()
        lib.equal(len(daemon.segments()), 1)
        lib.equal(daemon.query("SELECT text FROM NVTX_EVENTS"), [("old",)])


def test_what_a_killed_rotation_left_is_cleared_away():
    with lib.Daemon() as daemon:
        daemon.send(HEADER + 'Marker, 1, "x"\n')
        rotate(daemon)
        daemon.stop()
        first, second = daemon.segments()
        # The second was made, and the link had not swung.
        os.unlink(daemon.store)
        os.symlink(os.path.basename(first), daemon.store)
        shutil.copy(first, second + ".new")
        daemon.start()
        lib.equal(daemon.segments(), [first])
        lib.equal(sorted(glob.glob(daemon.store[:-7] + "-2*")),
                  [first, first + "-shm", first + "-wal"])
        lib.equal(daemon.query("SELECT text FROM NVTX_EVENTS"), [("x",)])


def test_a_link_that_is_missing_is_made_again():
    with lib.Daemon() as daemon:
        daemon.send(HEADER + 'Marker, 1, "x"\n')
        daemon.stop()
        os.unlink(daemon.store)
        daemon.start()
        lib.equal((len(daemon.segments()), daemon.query("SELECT text FROM NVTX_EVENTS")),
                  (1, [("x",)]))


def test_a_segment_that_is_missing_is_noted_and_replaced():
    with lib.Daemon() as daemon:
        daemon.send(HEADER + 'Marker, 1, "x"\n')
        rotate(daemon)
        daemon.stop()
        for path in glob.glob(os.path.realpath(daemon.store) + "*"):
            os.unlink(path)
        daemon.start()
        lib.equal(daemon.query("SELECT reason FROM NVTXT_LOSSES"), [("store-vanished",)])
        lib.equal(len(daemon.segments()), 2)


def refused(daemon, *words):
    before = sorted(os.listdir(daemon.folder))
    try:
        daemon.start()
    except AssertionError:
        pass
    assert daemon.process.wait(lib.DEADLINE) in (65, 73), daemon.process.returncode
    told = [line for line in daemon.log_text().splitlines() if line.startswith("nvtxtd: ")]
    lib.equal(len(told), 1, told)
    for word in words + (daemon.store,):
        assert word in told[0], told
    lib.equal(sorted(os.listdir(daemon.folder)), before)


def test_links_to_what_is_no_segment_are_refused_and_left_alone():
    for make, words in ((lambda path: None, ("link to nowhere", "remove the link")),
                        (lambda path: open(path, "w").close(), ("not a store of ours",)),
                        (lambda path: sqlite3.connect(path).execute("CREATE TABLE a (b)"),
                         ("not a store of ours", "left alone"))):
        with lib.Daemon(start=False) as daemon:
            other = os.path.join(daemon.folder, "other.sqlite")
            make(other)
            os.symlink("other.sqlite", daemon.store)
            refused(daemon, "other.sqlite", *words)
            lib.equal(os.readlink(daemon.store), "other.sqlite")
    with lib.Daemon() as daemon:
        daemon.stop()
        elsewhere = os.path.join(daemon.folder, "elsewhere")
        os.mkdir(elsewhere)
        name = os.path.basename(daemon.segments()[0])
        os.rename(daemon.segments()[0], os.path.join(elsewhere, name))
        os.unlink(daemon.store)
        os.symlink(os.path.join(elsewhere, name), daemon.store)
        os.truncate(daemon.log, 0)
        refused(daemon, "name that file itself")


def test_a_rotation_that_fails_leaves_everything_as_it_is():
    with lib.Daemon() as daemon:
        with daemon.session() as session:
            session.send(HEADER + 'Marker, 1, "x"\n')
            session.ack(3)
            blocked = daemon.store + ".link.new"
            os.mkdir(blocked)  # the link cannot be made there
            reply = daemon.control_raw(b'{"command":"rotate"}')
            lib.equal(reply["ok"], False)
            assert daemon.store in reply["error"]["message"], reply
            lib.equal(len(glob.glob(daemon.store[:-7] + "-2*")), 3)
            session.send('Marker, 2, "y"\n')
            session.ack(4)
            os.rmdir(blocked)
            rotate(daemon)
            session.send('Marker, 3, "z"\n')
            lib.equal(session.end()["events"], 3)
        lib.equal(daemon.everywhere("SELECT text FROM NVTX_EVENTS WHERE eventType = 34"),
                  [("x",), ("y",), ("z",)])
        lib.equal(daemon.log_text().count("goes on in the segment that it has"), 1)


lib.run(globals())
