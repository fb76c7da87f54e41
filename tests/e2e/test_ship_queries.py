# SPDX-License-Identifier: Apache-2.0
"""The queries of a fleet and its dashboard: all of them run, and say what a plain computation says."""
import contextlib
import json
import os
import random
import re
import shutil
import subprocess
import tempfile

import fleet_board
import fleet_rows
from client import run_client
from lib import DEADLINE, equal, run
from postgres import NULL, database, one_server
from ship import good

HOSTS = ("alpha", "beta", "it's")
HEAD = "TimeBase = Manual\nProcessId = 7\nThreadId = 8\n@RangeStartEnd, Start, End, Message\n" \
       "@Marker, Time, Message\n"


def ranges(host):
    """(start, end, message) of each range of a host: some overlap, one is odd."""
    chance = random.Random(host)
    found = [(n, n + chance.randrange(1000, 100000), "GET /" if n % 2 else "PUT /")
             for n in range(200)]
    return found + [(9 * 10**18, -9 * 10**18, "GET /")]


@contextlib.contextmanager
def fleet():
    """A database with three hosts in two racks."""
    folder = tempfile.mkdtemp(prefix="nvtxt-fleet-")
    try:
        with database() as server:
            good("init", "--target", server.target())
            for number, host in enumerate(HOSTS):
                text = os.path.join(folder, "text")
                with open(text, "w", encoding="utf-8") as file:
                    file.write(HEAD + "".join('RangeStartEnd, %d, %d, "%s"\n' % row for row in ranges(host))
                               + 'Marker, 5, "only %s"\nnonsense\n' % host)
                store = os.path.join(folder, "store%d" % number)
                equal(run_client("nvtxt-import", "create", "-q", "-n", text, "-o", store)[0], 1)
                good("--once", "--target", server.target(), "--store", store, "--host", host,
                     *(() if number == 2 else ("--label", "rack=%d" % number)))
            yield server
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def asked(server, name, **variables):
    """What psql says to a file of queries: rows of texts."""
    words = [word for pair in variables.items() for word in ("-v", "%s=%s" % pair)]
    done = subprocess.run([os.path.join(server.bin, "psql"), "-X", "-q", "--csv", "-t", "-v",
                           "ON_ERROR_STOP=1", "-P", "null=" + NULL, "-d", server.database, *words, "-f",
                           os.path.join(fleet_board.QUERIES, name + ".sql")],
                          env=server.env, timeout=DEADLINE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    equal((done.returncode, done.stderr.decode()), (0, ""), name)
    return [line.split(",") for line in done.stdout.decode().splitlines()]


def took(host, message):
    return [end - start for start, end, text in ranges(host) if end >= start and text == message]


def test_percentiles_and_slow_hosts_are_those_of_a_plain_computation():
    with fleet() as server:
        found = {row[0]: [float(cell) * 1e6 for cell in row[-4:]]
                 for row in asked(server, "percentiles_by_host", message="GET /")}
        equal(sorted(found), sorted(HOSTS))
        for host in HOSTS:
            values = took(host, "GET /")
            wanted = [fleet_rows.percentile(values, part) for part in (0.5, 0.9, 0.99)] + [max(values)]
            equal([round(value) for value in found[host]], wanted, host)
        everywhere = [(host, value) for host in HOSTS for value in took(host, "GET /")]
        limit = fleet_rows.percentile([value for _, value in everywhere], 0.99)
        wanted = {}
        for host, value in everywhere:
            if value > limit:
                wanted[host] = wanted.get(host, 0) + 1
        slow = asked(server, "slow_hosts", message="GET /")
        equal({row[0]: int(row[-3]) for row in slow}, wanted)
        equal({round(float(row[-1]) * 1e6) for row in slow}, {limit})


def test_every_query_says_something_true():
    with fleet() as server:
        equal(sorted(row[0] for row in asked(server, "hosts_by_lag")), sorted(HOSTS))
        equal([row[0] for row in asked(server, "hosts_by_lag", host="al%")], ["alpha"])
        by_label = {}
        for row in asked(server, "events_per_minute"):
            by_label[row[1]] = by_label.get(row[1], 0) + int(row[2])
        equal(by_label, {"0": 202, "1": 202, "none": 202})
        equal(asked(server, "events_per_minute", until="2001-01-01"), [])
        equal(asked(server, "running_now"), [])
        equal(asked(server, "losses"), [])
        equal({row[0] for row in asked(server, "diagnostics")}, set(HOSTS))
        equal([row[0] for row in asked(server, "find_message", message="only it's")], ["it's"])
        equal(asked(server, "find_message", message="nowhere"), [])
        equal(len(asked(server, "timeline", host="beta")), 202)
        equal(len(asked(server, "timeline", message="PUT /")), 300)
        for name in fleet_board.names():
            asked(server, name)


# What a role that ships may write for a store of its own.
ODD_ROWS = """
SELECT nvtxt.register_store(gen_random_uuid(), '%s', '%s', NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0);
CREATE TEMP TABLE own AS SELECT store_id FROM nvtxt.stores;
UPDATE nvtxt.cursors SET seen = '%s', committed = '%s', behind_rows = %d;
INSERT INTO nvtxt.losses SELECT store_id, 1, n, '%s', NULL, NULL, NULL, 'x', %d
    FROM own, generate_series(1, 3) AS n;
INSERT INTO nvtxt.diagnostics (store_id, segment, row_id, at) SELECT store_id, 1, 1, '%s' FROM own;
INSERT INTO nvtxt.open_ranges (store_id, source_id, seq, global_tid, start_ns)
    SELECT store_id, 1, 1, %d, %d FROM own"""
LARGEST = 2**63 - 1


def test_rows_of_one_host_break_no_query():
    one_server("rows come from a query of its own")
    odd = [("[1]", "infinity", 0, LARGEST, ""), ('"x"', "-infinity", 1, -LARGEST - 1, ""),
           ("{}", "infinity", LARGEST, LARGEST, ""), ("null", "-infinity", -LARGEST, 0, ""),
           ("1", "294276-12-31 23:59:59+00", 1, 1, "t"), ("{}", "4713-01-01 00:00:00+00 BC", 0, 1, "t")]
    with fleet() as server:
        server.rows("CREATE ROLE reader LOGIN IN ROLE nvtxt_read")
        for number, (labels, time, behind, count, lag) in enumerate(odd):
            role = "odd%d" % number
            server.rows("CREATE ROLE %s LOGIN IN ROLE nvtxt_ship; GRANT TEMP ON DATABASE postgres TO %s"
                        % (role, role))
            server.rows(ODD_ROWS % (role, labels, time, time, behind, time, count, time, count, count),
                        user=role)
            lost = min(max(3 * count, 0), LARGEST)
            equal(server.rows("SELECT lost, lag_seconds IS NOT NULL FROM nvtxt.fleet "
                              "WHERE host = '%s'" % role, user="reader"),
                  [(str(lost), "t" if lag else "f")], role)
        for view in ("fleet", "running", "timeline"):
            server.rows("SELECT * FROM nvtxt." + view, user="reader")
        for name in fleet_board.names():
            asked(server, name)
        equal(len(asked(server, "hosts_by_lag")), len(HOSTS) + len(odd))
        for row in json.loads(fleet_board.text())["templating"]["list"]:
            if row["type"] == "query":
                server.rows(row["query"], user="reader")


def test_a_thousand_hosts_are_what_a_plain_computation_says():
    one_server("rows come from a query of its own")
    hosts, rows = 1000, 120
    with database() as server:
        good("init", "--target", server.target())
        fleet_rows.generate(server, hosts, rows)
        since = server.one("SELECT max(committed) - interval '58 minutes 30 seconds' FROM nvtxt.events")
        found = {row[0]: [int(row[-5]), *(round(float(cell) * 1e6) for cell in row[-4:])]
                 for row in asked(server, "percentiles_by_host", message="GET /", since=since)}
        equal(found, fleet_rows.percentiles(hosts, rows, "GET /"))
        limit, wanted = fleet_rows.slow_hosts(hosts, rows, "flush")
        slow = asked(server, "slow_hosts", message="flush", since=since)
        equal(({row[0]: int(row[-3]) for row in slow}, {round(float(row[-1]) * 1e6) for row in slow}),
              (wanted, {limit}))
        racks = {}
        for row in asked(server, "events_per_minute", since=since):
            racks[row[1]] = racks.get(row[1], 0) + int(row[2])
        equal(racks, {str(rack): 100 * len(fleet_rows.last_hour(rows)) for rack in range(10)})
        lagging = asked(server, "hosts_by_lag")
        equal((len(lagging), sum(row[-6] == "0" for row in lagging)), (hosts, 333))
        equal([row[0] for row in asked(server, "running_now")][:2], ["host1000", "host999"])
        equal(asked(server, "find_message", message="nowhere"), [])


def interpolated(text, **values):
    """As Grafana makes SQL of a panel."""
    for name, value in {"host": "%", "message": "GET /", "label": "rack", **values}.items():
        text = text.replace("${%s:sqlstring}" % name, "'%s'" % value.replace("'", "''"))
    text = text.replace("$__timeFrom()", "'2001-01-01T00:00:00Z'")
    text = text.replace("$__timeTo()", "'2099-01-01T00:00:00Z'")
    assert "$" not in text, text
    return text


def test_every_panel_and_variable_of_the_dashboard_runs():
    with open(fleet_board.BOARD, encoding="utf-8") as file:
        text = file.read()
    equal(text, fleet_board.text(), "run tests/e2e/fleet_board.py")
    board = json.loads(text)
    equal(sorted(panel["description"].split(".sql: ")[0] for panel in board["panels"]),
          fleet_board.names(), "each file stands once in the dashboard")
    taken = set()
    with fleet() as server:
        for panel in board["panels"]:
            place = panel["gridPos"]
            cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                     for y in range(place["y"], place["y"] + place["h"])}
            equal((max(x for x, _ in cells) < 24, taken & cells), (True, set()), panel["title"])
            taken |= cells
            for target in panel["targets"]:
                server.rows(interpolated(target["rawSql"]))
                server.rows(interpolated(target["rawSql"], host="it's", message="it's"))
        hosts, labels = (server.rows(row["query"]) for row in board["templating"]["list"]
                         if row["type"] == "query")
        equal(sorted(row[0] for row in hosts), sorted(HOSTS))
        equal(labels, [("rack",)])
        odd = ("web_3", "webx3", "back\\slash")
        server.rows("".join("UPDATE nvtxt.stores SET host = '%s' WHERE host = '%s';"
                            % (name, host.replace("'", "''")) for name, host in zip(odd, HOSTS)))
        for text, value in server.rows(board["templating"]["list"][0]["query"]):
            equal([row[0] for row in server.rows(interpolated(
                fleet_board.panel_sql("hosts_by_lag"), host=value))], [text])


def test_every_query_is_installed():
    with open(os.path.join(fleet_board.TOP, "ship", "Makefile.am"), encoding="utf-8") as file:
        listed = re.findall(r"queries/(\S+)\.sql", file.read())
    equal(sorted(set(listed)), fleet_board.names())


run(globals())
