# SPDX-License-Identifier: Apache-2.0
"""What the tests of nvtxt-ship share."""
import contextlib
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile

from lib import DEADLINE, equal, halt, program
from postgres import cluster_folders

ERROR = "nvtxt-ship: error: "
HEAD = "TimeBase = Manual\n@Marker, Time, ProcessId, ThreadId, Message\n"


def marker(text):
    """A source of one event."""
    return HEAD + 'Marker, 1, 7, 8, "%s"\n' % text


def write(folder, name, text):
    """Writes a file; returns its path."""
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


# What AddressSanitizer says when a program changes its stack for the first time, whatever it does.
OF_SANITIZER = re.compile(r"==\d+==WARNING: ASan doesn't fully support makecontext.*\n")


def run_ship(*args, env=None, timeout=DEADLINE):
    """Runs nvtxt-ship without a configuration: its status, stdout and stderr."""
    if args[:1] == ("init",) and any(folder in arg for arg in args for folder in cluster_folders):
        args += ("--distributed",)
    with tempfile.TemporaryDirectory(prefix="nvtxt-ship-") as empty:
        done = subprocess.run([program("ship", "nvtxt-ship"), *args], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout,
                              env={**os.environ, "CONFIGURATION_DIRECTORY": empty, **(env or {})},
                              check=False)
    said = OF_SANITIZER.sub("", done.stderr.decode(errors="replace"))
    return done.returncode, done.stdout.decode(), said


def good(*args, **more):
    """The same for a run that must succeed, without a word on stderr; its stdout."""
    status, out, said = run_ship(*args, **more)
    equal((status, said), (0, ""), args)
    return out


def refused(status, words, *args, **more):
    """A run must end with this status and one sentence that has these words."""
    got, out, said = run_ship(*args, **more)
    equal((got, out), (status, ""), said)
    if not (said.startswith(ERROR) and said.count("\n") == 1 and said.endswith("\n")):
        raise AssertionError("not one sentence: %r" % said)
    if words not in said:
        raise AssertionError("%r is not in %r" % (words, said))
    return said


def register(server, role, host, store="gen_random_uuid()"):
    """A store of this role, as a shipper registers it."""
    server.rows("SELECT nvtxt.register_store(%s, '%s', '{}', NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0)"
                % (store, host), user=role)


def role(server, name, of="nvtxt_ship"):
    """A role that may ship, or another one."""
    server.rows('DROP ROLE IF EXISTS "%s"; CREATE ROLE "%s" LOGIN IN ROLE %s' % (name, name, of))


# ---- Schemas of older programs -------------------------------------------------------------------

HERE = os.path.dirname(os.path.abspath(__file__))
TODAY = "(now() AT TIME ZONE 'UTC')::date"


def text_of(*path):
    with open(os.path.join(HERE, *path), encoding="utf-8") as file:
        return file.read()


def sql_of(*names):
    return "".join(text_of("..", "..", "ship", "sql", name) for name in names)


def version_1():
    """The schema of version 1, as its own program made it."""
    return sql_of("1.sql") + text_of("fleet_roles_v1.sql")


def version_3():
    """That of version 3."""
    return sql_of("1.sql", "2.sql", "3.sql") + text_of("fleet_roles_v3.sql")


def version_2():
    """That of version 2."""
    return sql_of("1.sql", "2.sql") + text_of("fleet_roles_v2.sql")


# ---- A store, and what the engine has of it ------------------------------------------------------

def us(ns):
    """A time of the store as the engine has it: cut to microseconds, as text of an integer."""
    return None if ns is None else str(int(ns / abs(ns)) * (abs(ns) // 1000) if ns else 0)


def clean(value):
    """A text as the engine can hold it."""
    if value is None:
        return None
    if isinstance(value, bytes):
        value = "".join(value_of_bytes(value))
    return value.replace("\0", "\ufffd")


def value_of_bytes(data):
    """Each byte that is not UTF-8 becomes U+FFFD."""
    while data:
        for length in range(1, 5):
            with contextlib.suppress(UnicodeDecodeError):
                yield data[:length].decode()
                data = data[length:]
                break
        else:
            yield "\ufffd"
            data = data[1:]


def segment_number(path):
    found = re.search(r"Z-(\d+)\.sqlite$", path)
    return int(found.group(1)) if found else 0


def rows_of(path, sql):
    """Rows of a store; a text that is not UTF-8 comes as its bytes."""
    store = sqlite3.connect("file:%s?mode=ro" % path, uri=True, timeout=DEADLINE)
    store.text_factory = lambda data: data.decode() if is_utf8(data) else data
    try:
        return store.execute(sql).fetchall()
    finally:
        store.close()


def is_utf8(data):
    try:
        data.decode()
        return True
    except UnicodeDecodeError:
        return False


def texts(found):
    """Rows of any values as psql gives them."""
    def text(value):
        if isinstance(value, bytes) or isinstance(value, str):
            return clean(value)
        return None if value is None else str(value)
    return [tuple(text(value) for value in row) for row in found]


PAYLOADS = ("uint64Value", "int64Value", "doubleValue", "uint32Value", "int32Value", "floatValue")
EVENTS = """
SELECT e.rowid, (SELECT b.committedNs FROM NVTXT_BATCHES b WHERE e.rowid BETWEEN b.firstRow AND
b.lastRow), e.start, e."end", e.globalTid, (SELECT x.sourceId FROM NVTXT_EVENT_SOURCES x WHERE e.rowid
BETWEEN x.firstRow AND x.lastRow), nullif(e.rangeId, 0), nullif(e.domainId, 0), nullif(e.category, 0),
nullif(e.color, 0), e.endGlobalTid, coalesce(e.uint64Value, e.int64Value, e.uint32Value, e.int32Value),
coalesce(e.doubleValue, e.floatValue), CASE %s END, e.jsonText, e.eventType,
CASE WHEN u.eventRow IS NULL THEN 'f' ELSE 't' END, e.text FROM NVTX_EVENTS e LEFT JOIN NVTXT_UNCLOSED u
ON u.eventRow = e.rowid WHERE e.eventType IN (34, 59, 60) ORDER BY e.rowid
""" % " ".join("WHEN e.%s IS NOT NULL THEN %d" % (name, number + 1)
               for number, name in enumerate(PAYLOADS))


def events_in(path):
    def row(found):
        row_id, committed, *rest = found
        real = rest[10]
        rest = texts([rest])[0]
        return (str(row_id), us(committed), *rest[:10], None if real is None else float(real),
                *rest[11:])
    return [row(found) for found in rows_of(path, EVENTS)]


def events_there(server, segment, schema="nvtxt"):
    found = server.rows(
        "SELECT row_id, %s, start_ns, end_ns, global_tid, source_id, range_id, domain_id, category, "
        "color, end_global_tid, int64_value, double_value, payload_type, json_text, event_type, "
        "unclosed, text FROM %s.events WHERE segment = %d ORDER BY row_id"
        % (there("committed"), schema, segment))
    return [(*row[:12], None if row[12] is None else float(row[12]), *row[13:]) for row in found]


def there(column):
    """A time of the engine as microseconds."""
    return "(extract(epoch FROM %s) * 1000000)::bigint" % column


SOURCES = ("kind", "sessionId", "name", "displayName", "peerPid", "peerUid", "peerGid", "peerComm",
           "openedNs", "closedNs", "ended", "lines", "events", "warnings", "errors", "firstNs",
           "lastNs")


def sources_in(paths):
    found = {}
    for path in paths:
        for row in rows_of(path, "SELECT id, %s FROM NVTXT_SOURCES" % ", ".join(SOURCES)):
            row = list(row)
            row[9], row[10] = us(row[9]), us(row[10])
            found[row[0]] = (segment_number(path), *row[1:])
    return texts((key, *value) for key, value in sorted(found.items()))


NAMES = {
    "processes": ("pid", "SELECT n.key, p.name FROM NVTXT_NAME_ROWS n JOIN PROCESSES p ON p.rowid = "
                         "n.row WHERE n.kind = 1 ORDER BY 1"),
    "threads": ("global_tid", "SELECT n.key, s.value FROM NVTXT_NAME_ROWS n JOIN StringIds s ON s.id "
                              "= n.row WHERE n.kind = 2 ORDER BY 1"),
    "categories": ("domain_id, pid, category",
                   "SELECT n.domainId, n.key / 4294967296, n.key % 4294967296, e.text FROM "
                   "NVTXT_NAME_ROWS n JOIN NVTX_EVENTS e ON e.rowid = n.row WHERE n.kind = 3 "
                   "ORDER BY 1, 2, 3"),
}
DIAGNOSTICS = ('SELECT rowid, sourceId, line, "column", severity, stage, code, message, excerpt, atNs '
               'FROM NVTXT_DIAGNOSTICS ORDER BY rowid')
KEYS = "SELECT eventRow, sourceId, key, parent FROM NVTXT_RANGE_KEYS ORDER BY eventRow"
LOSSES = "SELECT rowid, atNs, sourceId, uid, pid, reason, count FROM NVTXT_LOSSES ORDER BY rowid"


def compare_segment(server, path):
    segment = segment_number(path)
    equal(events_there(server, segment), events_in(path), "events of %s" % path)
    for table, (keys, sql) in NAMES.items():
        equal(server.rows("SELECT %s, name FROM nvtxt.%s WHERE segment = %d ORDER BY %s"
                          % (keys, table, segment, keys)), texts(rows_of(path, sql)), table)
    wanted = [(*row[:9], us(row[9])) for row in rows_of(path, DIAGNOSTICS)]
    equal(server.rows("SELECT row_id, source_id, line, col, severity, stage, code, message, excerpt, "
                      "%s FROM nvtxt.diagnostics WHERE segment = %d ORDER BY row_id"
                      % (there("at"), segment)), texts(wanted), "diagnostics")
    wanted = [(row[0], us(row[1]), *row[2:]) for row in rows_of(path, LOSSES)]
    equal(server.rows("SELECT row_id, %s, source_id, uid, pid, reason, count FROM nvtxt.losses WHERE "
                      "segment = %d ORDER BY row_id" % (there("at"), segment)), texts(wanted), "losses")
    equal(server.rows("SELECT row_id, source_id, key, parent FROM nvtxt.range_keys WHERE segment = %d "
                      "ORDER BY row_id" % segment), texts(rows_of(path, KEYS)), "keys")


def compare_store(server, paths):
    """The engine has every row of these segments, the last of which is in use."""
    for path in paths:
        compare_segment(server, path)
    equal(server.rows("SELECT segment, name, events, complete FROM nvtxt.segments ORDER BY segment"),
          [(str(segment_number(path)), os.path.basename(path), str(len(events_in(path))),
            "f" if path == paths[-1] else "t") for path in paths], "segments")
    equal(server.rows("SELECT source_id, segment, kind, session, name, display_name, peer_pid, "
                      "peer_uid, peer_gid, peer_comm, %s, %s, ended, lines, events, warnings, errors, "
                      "first_ns, last_ns FROM nvtxt.sources ORDER BY source_id"
                      % (there("opened"), there("closed"))), sources_in(paths), "sources")
    parents = {row for path in paths for row in rows_of(
        path, "SELECT id, parent FROM NVTXT_SOURCES WHERE parent IS NOT NULL")}
    equal(server.rows("SELECT source_id, parent FROM nvtxt.source_parents ORDER BY source_id"),
          texts(sorted(parents)), "parents")
    domains = {row for path in paths for row in rows_of(path, "SELECT id, name FROM NVTXT_DOMAINS")}
    equal(server.rows("SELECT domain_id, name FROM nvtxt.domains ORDER BY domain_id"),
          texts(sorted(domains)), "domains")
    equal(server.rows("SELECT source_id, seq, global_tid, event_type, start_ns, domain_id, category, "
                      "color, text FROM nvtxt.running ORDER BY source_id, seq"),
          texts(rows_of(paths[-1], "SELECT sourceId, seq, globalTid, kind, start, domainId, category, "
                                   "color, text FROM NVTXT_OPEN_RANGES ORDER BY sourceId, seq")),
          "open ranges")
    total = sum(len(events_in(path)) for path in paths)
    equal(server.one("SELECT count(*) FROM nvtxt.timeline"), str(total), "one row an event")
    equal(server.one("SELECT events FROM nvtxt.cursors"), str(total), "the cursor's count")


TABLES = ("meta", "stores", "cursors", "segments", "events", "sources", "domains", "categories",
          "threads", "processes", "diagnostics", "losses", "logs", "source_parents", "range_keys",
          "open_ranges", "hosts")


def snapshot(server, but=("seen",)):
    """All rows of all tables, without these columns of cursors."""
    return [(table, sorted(server.rows(
        "SELECT (to_jsonb(t) - '{%s}'::text[])::text FROM nvtxt.%s AS t" % (",".join(but), table))))
        for table in TABLES]


class Shipper:
    """A shipper that follows; a context manager. It is ended by its own process id. `under`: a
    command that becomes the shipper."""

    def __init__(self, *args, env=None, under=()):
        self.folder = tempfile.mkdtemp(prefix="nvtxt-ship-")
        self.log = os.path.join(self.folder, "log")
        self.command = [*under, program("ship", "nvtxt-ship"), *args]
        self.env = {**os.environ, "CONFIGURATION_DIRECTORY": self.folder, **(env or {})}
        self.process = None
        self.start()

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command, env=self.env, stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        try:
            if self.process.poll() is None:
                if kind:
                    self.kill()
                else:
                    equal(self.stop(), 0, self.said())
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def said(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return OF_SANITIZER.sub("", file.read())

    @contextlib.contextmanager
    def stopped(self):
        """It does nothing for as long as the context."""
        halt(self.process)
        yield
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(DEADLINE)
