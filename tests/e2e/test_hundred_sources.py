# SPDX-License-Identifier: Apache-2.0
"""A hundred concurrent sources of three kinds: nothing leaks from one to another."""
import threading

import lib

SOURCES = 102
ROUNDS = 40


def lines_of(number):
    """The lines of one source, and the events they must give. Each source has its own argument
    order, variables, display name, ids and nesting."""
    out, events = [], []
    order = ["Time", "Message", "Payload"]
    order = order[number % 3:] + order[:number % 3]
    out += ['TimeBase = Manual', 'ProcessId = %d' % (1000 + number), 'ThreadId = %d' % (number + 1),
            'CategoryId = %d' % number, 'Color = %d' % (number * 257), 'Tag = "tag%d"' % number,
            'SetFileDisplayName, "file%d"' % number, '@Marker, ' + ", ".join(order),
            '@RangePush, Time, Message', '@RangePop, Time', '@RangeStart, Time, RangeId, Message',
            '@RangeEnd, Time, RangeId']
    for turn in range(ROUNDS):
        time = number * 100000 + turn * 10
        out.append('Message = "m%d.%d"' % (number, turn))
        values = {"Time": str(time), "Message": "$Message", "Payload": str(number * turn)}
        out.append("Marker, " + ", ".join(values[name] for name in order))
        events.append((34, time, time, "m%d.%d" % (number, turn), number * turn))
        out.append("RangePush, %d, $Tag" % (time + 1))
        out.append('RangeStart, %d, 7, "id%d"' % (time + 2, number))
        out.append("RangePop, %d" % (time + 3))
        events.append((59, time + 1, time + 3, "tag%d" % number, None))
        out.append("RangeEnd, %d, 7" % (time + 4))
        events.append((60, time + 2, time + 4, "id%d" % number, None))
        if turn % 10 == number % 10:
            out.append("$Missing%d" % number)
    return "".join(line + "\n" for line in out), sorted(events)


def write_plain(daemon, text):
    with daemon.plain() as connection:
        connection.send(text)


def write_session(daemon, text, failures):
    """In three connections of one session, cut at any byte; each goes on at the welcome's line."""
    lines = text.splitlines(True)
    session = None
    for part in (0.3, 0.7, 1.0):
        with daemon.session(session) as connection:
            session = connection.id
            rest = "".join(lines[connection.welcome["line"]:])
            if part < 1:
                connection.send(rest[:int(len(rest) * part)])
                continue
            connection.send(rest)
            end = connection.end()
            if end["line"] != len(lines):
                failures.append(end)


def write_bytewise(daemon, texts):
    """Several sources in turn, one byte each."""
    connections = [daemon.plain() for _ in texts]
    data = [text.encode() for text in texts]
    for at in range(max(map(len, data))):
        for connection, bytes_ in zip(connections, data):
            if at < len(bytes_):
                connection.send(bytes_[at:at + 1])
    for connection in connections:
        connection.close()


def test_nothing_leaks_from_one_source_to_another():
    sources = {number: lines_of(number) for number in range(SOURCES)}
    failures = []
    with lib.Daemon() as daemon:
        threads = []
        for number in range(0, SOURCES, 3):
            threads.append(threading.Thread(target=write_plain, args=(daemon, sources[number][0])))
            threads.append(threading.Thread(target=write_session,
                                            args=(daemon, sources[number + 1][0], failures)))
        bytewise = list(range(2, SOURCES, 3))
        for group in range(4):
            threads.append(threading.Thread(target=write_bytewise, args=(
                daemon, [sources[number][0] for number in bytewise[group::4]])))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        lib.equal(failures, [])
        daemon.settled()
        names = dict(daemon.query("SELECT id, displayName FROM NVTXT_SOURCES WHERE lines > 0"))
        lib.equal(len(names), SOURCES)
        ids = {name: source for source, name in names.items()}
        for number, (text, events) in sources.items():
            check_source(daemon, number, ids["file%d" % number], text, events)
        lib.equal(daemon.query("PRAGMA integrity_check"), [("ok",)])
        lib.equal(daemon.query("SELECT * FROM NVTXT_OPEN_RANGES"), [])
        lib.equal(daemon.query("SELECT * FROM NVTXT_LOSSES"), [])


def check_source(daemon, number, source, text, events):
    rows = daemon.query(
        'SELECT e.eventType, e.start, e."end", e.text, e.int64Value, e.globalTid, e.category, '
        "e.color, d.text FROM NVTXT_EVENT_SOURCES s JOIN NVTX_EVENTS e "
        "ON e.rowid BETWEEN s.firstRow AND s.lastRow "
        "LEFT JOIN NVTX_EVENTS d ON d.eventType = 75 AND d.domainId = e.domainId "
        "WHERE s.sourceId = ? AND e.eventType IN (34, 59, 60)", source)
    lib.equal(sorted(row[:5] for row in rows), events, "source %d" % number)
    lib.equal({row[5:] for row in rows},
              {((1000 + number) << 24 | number + 1, number, number * 257, "file%d" % number)})
    lines = text.splitlines()
    bad = [at for at, line in enumerate(lines, 1) if line.startswith("$")]
    lib.equal(daemon.query("SELECT line, code FROM NVTXT_DIAGNOSTICS WHERE sourceId = ? "
                           "ORDER BY line", source), [(at, "undefined-variable") for at in bad])
    lib.equal(daemon.query("SELECT lines, events, errors, warnings FROM NVTXT_SOURCES WHERE id = ?",
                           source), [(len(lines), len(events), len(bad), 0)])


def test_a_thousand_connections_at_once():
    with lib.Daemon() as daemon:
        connections = [daemon.plain() for _ in range(900)]
        for number, connection in enumerate(connections):
            connection.send("TimeBase = Manual\n@Marker, Time\nMarker, %d\n" % number)
        for connection in connections:
            connection.close()
        daemon.settled()
        lib.equal(daemon.query("SELECT count(*), count(DISTINCT start) FROM NVTX_EVENTS"),
                  [(900, 900)])


lib.run(globals())
