# SPDX-License-Identifier: Apache-2.0
"""nvtxt-report reads stores of every state, and exports of Nsight Systems of every version: the
same events have the same figures."""
import json
import os
import re
import sqlite3
import threading
import time

from client import Folder, contains
from lib import Daemon, equal, run, wait_for
from report import F1, OLD_EXPORT, f1, make_export, make_segments, make_store, query, report

REPORTS = ("nvtx_sum,nvtx_pushpop_sum,nvtx_startend_sum,nvtx_mark_sum,nvtx_tree,nvtx_folded,"
           "nvtx_gap_sum,nvtx_concurrency")
MACHINE = 0x0102 << 48 # hardware and VM, above PID and TID
NEW_TYPES = {34: 65, 59: 70, 60: 71}


def figures(*stores, reports=REPORTS):
    status, out, err = report("stats", "-r", reports, "--percentiles", "50,99", "--format", "json",
                              *stores)
    equal((status, err), (0, ""))
    return json.loads(out)["tables"]


def totals(*stores):
    """Instances of nvtx_sum by name."""
    table = figures(*stores, reports="nvtx_sum")[0]
    name, count = (table["columns"].index(title) for title in ("Range", "Instances"))
    return {row[name]: row[count] for row in table["rows"]}


def test_exports_of_all_versions_have_the_figures_of_the_store():
    with Folder() as folder:
        store = f1(folder)
        wanted = figures(store)
        variants = {
            "text only": {},
            "text and textId": {"text_id": True},
            "textId only": {"text": False, "text_id": True},
            "marks without end": {"mark_ends": False},
            "new types": {"types": NEW_TYPES, "text": False, "text_id": True},
            "the oldest columns": {"columns": OLD_EXPORT},
            "ids of a machine": {"machine": MACHINE, "text_id": True},
        }
        for number, (what, variant) in enumerate(variants.items()):
            path = make_export(folder, "export%d.sqlite" % number, store, **variant)
            equal(figures(path), wanted, what)


def test_an_export_without_ranges_has_empty_tables():
    with Folder() as folder:
        path = make_export(folder, "export.sqlite", f1(folder))
        db = sqlite3.connect(path)
        db.execute("DELETE FROM NVTX_EVENTS")
        db.commit()
        db.close()
        status, out, _ = report("stats", "-r", REPORTS, "--format", "json", path)
        equal(status, 0)
        equal([table["rows"] for table in json.loads(out)["tables"]], [[]] * 8)


def test_a_summary_has_the_schema_of_an_export():
    with Folder() as folder:
        path = make_export(folder, "export.sqlite", f1(folder))

        def version():
            return json.loads(report("summary", "--format", "json", path)[1])["stores"][0]["schemaVersion"]
        equal(version(), None)
        db = sqlite3.connect(path)
        db.execute("CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT)")
        db.execute("INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.11.0')")
        db.commit()
        db.close()
        equal(version(), "3.11.0")


def test_kernels_belong_to_the_range_of_their_call():
    with Folder() as folder:
        path = make_export(folder, "export.sqlite", f1(folder))
        db = sqlite3.connect(path)
        db.executescript(
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, correlationId INT, "
            "globalPid INT, demangledName INT);"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, globalTid INT, "
            "correlationId INT);"
            "INSERT INTO StringIds VALUES (100, 'gemm');"
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (500, 530, 1, 100 << 24, 100);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (45, 46, 100 << 24 | 1, 1)")
        db.close()
        table, = figures(path, reports="nvtx_kern_sum")
        name, kernel, time = (table["columns"].index(title) for title in
                              ("NVTX Range", "Kernel Name", "Total Time (ns)"))
        equal(sorted((row[name], row[kernel], row[time]) for row in table["rows"]),
              [(":compute", "gemm", 30), (":kernel", "gemm", 30), (":step", "gemm", 30)])


def test_segments_are_one_store():
    with Folder() as folder:
        link, names = make_segments(folder)
        equal(figures(link), figures(f1(folder)))
        os.unlink(names[0])
        equal(totals(link), {":step": 1, ":load": 1, ":compute": 1, ":kernel": 1})
        os.unlink(names[1])
        equal(report("stats", link)[0], 66)


def test_two_stores_are_taken_together():
    with Folder() as folder:
        equal(totals(f1(folder), f1(folder, "again.sqlite"))[":step"], 4)


def test_stores_that_are_none():
    with Folder() as folder:
        def refused(path, status, part):
            got, out, err = report("stats", path)
            equal((got, out), (status, ""))
            contains(err, part)
            contains(err, path)
        refused(folder.name("none"), 66, "does not exist")
        refused(folder.path, 66, "is a folder")
        refused(folder.write("text", "hello" * 100), 65, "is not a database")
        refused(folder.write("empty", ""), 65, "is empty")
        good = f1(folder)
        data = open(good, "rb").read()
        refused(folder.write("cut", data[:len(data) // 2]), 65, "broken or cut off")
        newer = bytearray(data)
        newer[60:64] = (99).to_bytes(4, "big")
        refused(folder.write("newer", bytes(newer)), 65, "newer version")
        lock = sqlite3.connect(good, isolation_level=None)
        lock.execute("BEGIN EXCLUSIVE")
        refused(good, 75, "is locked by another process")
        lock.close()
        equal(sorted(name for name in os.listdir(folder.path) if "-" in name), [],
              "nothing was made beside them")


def test_memory_has_a_bound():
    with Folder() as folder:
        store = f1(folder)
        status, out, err = report("stats", "--max-memory", "1K", store)
        equal((status, out), (71, ""))
        contains(err, "KiB of memory")
        equal(report("stats", "--max-memory", "1M", store)[0], 0)


def marks(folder, count=50000):
    """A file of marks, each with another text, at 1, 2, 3, ..."""
    lines = "".join('Marker, %d, "request %d has a text of its own"\n' % (at, at)
                    for at in range(1, count + 1))
    return folder.write("marks.nvtxt", "TimeBase = ClockRealtime\n@Marker, Time, Message\n" + lines)


def cells_of(data, page):
    """Where the rows of a table stand in the file of a database."""
    base = (page - 1) * 4096
    leaf = data[base] != 5
    first = base + (8 if leaf else 12)
    places = [base + int.from_bytes(data[first + 2 * i:first + 2 * i + 2], "big")
              for i in range(int.from_bytes(data[base + 3:base + 5], "big"))]
    if leaf:
        return places
    return [row for at in places + [base + 8]
            for row in cells_of(data, int.from_bytes(data[at:at + 4], "big"))]


def refused_with_wrong_rowids(instead, which=lambda row: False, page_of=None):
    """Any number of threads refuses a store with the rowid `instead` for rows, if `which` says so, and for
    all of a page."""
    with Folder() as folder:
        store = make_store(folder, "marks.sqlite", marks(folder))
        (root,), = query(store, "SELECT rootpage FROM sqlite_master WHERE name = 'NVTX_EVENTS'")
        data = bytearray(open(store, "rb").read())
        cells = {}
        for cell in cells_of(data, root):  # a byte of size, then the rowid, in groups of seven bits
            if data[cell + 1] >= 128 and data[cell + 2] < 128:
                cells[(data[cell + 1] & 127) << 7 | data[cell + 2]] = cell
        for row, cell in cells.items():
            if which(row) or cells[row] // 4096 == cells.get(page_of, -1) // 4096:
                data[cell + 1:cell + 3] = 128 | instead >> 7, instead & 127
        broken = folder.write("broken.sqlite", bytes(data))
        for threads in "1", "2", "16":
            status, out, err = report("stats", "--threads", threads, broken)
            equal((status, out), (65, ""), err)
            contains(err, "is broken or cut off")


def test_rows_that_come_again_and_again_are_damage():
    refused_with_wrong_rowids(2000, lambda row: row > 2000)


def test_a_row_that_comes_too_early_is_damage():
    refused_with_wrong_rowids(16000, lambda row: row == 5000)  # no row of the block that 5,000 is in


def test_rows_that_come_too_late_are_damage():
    refused_with_wrong_rowids(200, page_of=5000)  # who seeks the first of them goes on with the next page


def test_a_window_that_fits_is_loaded_alone():
    with Folder() as folder:
        store = make_store(folder, "marks.sqlite", marks(folder))
        window = ("--since", "40001", "--until", "40100")
        for path in store, make_export(folder, "export.sqlite", store):
            whole = report("events", "--format", "csv", *window, path)
            equal((whole[0], whole[1].count("\n")), (0, 101))
            equal(report("events", "--format", "csv", "--max-memory", "64K", *window, path), whole)
            figures = []
            for more in (), ("--since", "20001"):
                status, out, err = report("stats", "--max-memory", "1M", *more, path)
                equal((status, out), (71, ""))
                contains(err, "or take a part with --since or --last")
                figures.append(int(re.search("--max-memory ([0-9]+)M", err).group(1)))
                equal(report("stats", "--max-memory", "%dM" % figures[-1], *more, path)[0], 0, err)
            assert figures[1] < figures[0], figures


def test_lines_of_a_window_are_found_within_the_bound():
    with Folder() as folder:
        file = marks(folder)
        store = make_store(folder, "marks.sqlite", file)
        command = ("source", store, "--since", "7", "--until", "8", "--resolve-source-file", file)
        found = report(*command)
        equal((found[0], "request 7" in found[1]), (0, True), found)
        def enough(bound, *command):
            status, out, err = report(*command, "--max-memory", bound)
            equal((status, out), (71, ""), err)
            contains(err, "; --resolve-source-file reads all of it")
            return int(re.search("--max-memory ([0-9]+)M", err).group(1))
        alone = enough("1M", *command)
        equal(report(*command, "--max-memory", "%dM" % alone), found)
        half = ("source", store, "--since", "20001", "--resolve-source-file", file)
        both = enough("%dM" % alone, *half)  # the half that is selected counts as well
        assert both > alone, (alone, both)
        equal(report(*half, "--max-memory", "%dM" % both)[0], 0)


def test_nothing_is_made_where_nothing_can_be_written():
    with Folder() as folder:
        store = f1(folder)
        wanted = figures(store)
        place = folder.name("place")
        os.mkdir(place)
        alone = os.path.join(place, "alone.sqlite")
        os.rename(store, alone)
        os.chmod(alone, 0o444)
        os.chmod(place, 0o555)
        try:
            equal(figures(alone), wanted)
            equal(os.listdir(place), ["alone.sqlite"])
        finally:
            os.chmod(place, 0o755)


LINES = "@RangeStartEnd, Start, End, ProcessId, ThreadId, Message\n" + "".join(
    'RangeStartEnd, %d, %d, 7, 8, "r"\n' % (i, i + 5) for i in range(2000))


class Producer(threading.Thread):
    """Sends as fast as the daemon takes it, MOST times: a slow reader would never see the end."""

    MOST = 100

    def __init__(self, daemon):
        super().__init__()
        self.daemon_under_test = daemon
        self.over = threading.Event()
        self.sent = 0

    def run(self):
        while not self.over.is_set() and self.sent < self.MOST:
            try:
                with self.daemon_under_test.plain() as connection:
                    connection.send(LINES)
            except OSError:  # refused, since too many before it are not gone yet
                time.sleep(0.01)
                continue
            self.sent += 1

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, value, trace):
        self.over.set()
        self.join()


def test_beside_a_daemon_at_full_rate():
    with Daemon() as daemon:
        daemon.send(LINES)
        with Producer(daemon) as producer:
            before = 0
            for _ in range(2):
                sent = producer.sent
                wait_for(lambda: producer.sent > sent + 1 or not producer.is_alive(), "the daemon goes on")
                count = totals(daemon.store)[":r"]
                equal(count >= 2000 and count >= before, True, "%d ranges" % count)
                before = count
        daemon.settled()
        equal(totals(daemon.store)[":r"], 2000 * (producer.sent + 1))
        wait_for(lambda: not daemon.control("checkpoint")["pinned"], "the log can be emptied")
        names = sorted(os.listdir(daemon.folder))
        figures(daemon.store)
        equal(sorted(os.listdir(daemon.folder)), names, "nothing was made beside the store")


def test_a_store_that_rotates_while_it_is_read():
    with Daemon() as daemon:
        daemon.send(LINES)
        with Producer(daemon):
            before = 0
            for _ in range(3):
                daemon.control("rotate")
                count = totals(daemon.store)[":r"]
                equal(count >= before, True, "%d ranges, then %d" % (before, count))
                before = count

def test_a_page_of_many_names_needs_memory_for_them():
    with Folder() as folder:
        store = make_store(folder, "many.sqlite", marks(folder, 80000))
        page = folder.name("page.html")
        status, out, err = report("html", "--max-memory", "60M", "-o", page, store)
        equal((status, out, os.path.exists(page)), (71, "", False), err)
        contains(err, "a page of 80000 names")
        figure = re.search("--max-memory ([0-9]+)M", err).group(1)
        equal(report("html", "--max-memory", figure + "M", "-o", page, store)[0], 0)


def test_names_that_are_not_selected_are_none_of_the_page():
    with Folder() as folder:
        few = folder.write("few.nvtxt", "TimeBase = ClockRealtime\n@RangePush, Time, Message\n@RangePop, Time\n"
                                        'RangePush, 1, "few"\nRangePop, 9\n')
        store = make_store(folder, "many.sqlite", marks(folder, 80000), few)
        page = folder.name("page.html")
        equal(report("html", "--max-memory", "60M", "--source", few, "-o", page, store), (0, "", ""))
        status, _, err = report("html", "--max-memory", "60M", "--kind", "mark", "-o", page, store)
        equal(status, 71)
        contains(err, "a page of 80000 names")



if __name__ == "__main__":
    run(globals())
