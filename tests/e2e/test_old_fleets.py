# SPDX-License-Identifier: Apache-2.0
"""Old stores (tests/compat/old) come into a fleet, and old fleets are brought up with their rows."""
import lzma
import os

import lib
from kept import OLD, SCHEMAS, events_of, go_on, kept, of, store_of
from lib import equal, rows
from postgres import Postgres
from ship import good

TIMES = "SELECT start, end, text FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60)"


def timeline(server, fleet="nvtxt"):
    return sorted((int(row[0]), int(row[1]), row[2]) for row in server.rows(
        "SELECT start_ns, end_ns, message FROM %s.timeline" % fleet))


def recorded_times(recorded):
    return sorted(of(recorded, "timeline", ("start", "end", "message")))


def times_in(segments):
    return sorted(row for path in segments for row in rows(path, TIMES))


def test_old_stores_are_shipped_as_they_are_and_after_a_daemon_went_on():
    with Postgres() as server:
        for schema in SCHEMAS:
            fleet = "f%d" % schema
            good("init", "--target", server.target(), "--schema", fleet)
            with kept(schema, "closed" if schema % 2 else "killed") as (folder, recorded):
                ship = ["--once", "--store", store_of(folder), "--target", server.target(), "--schema", fleet,
                        "--store-id", "00000000-0000-4000-8000-%012d" % schema, "--host", "h"]
                good(*ship)
                equal(len(timeline(server, fleet)), len(events_of(recorded)))
                equal(timeline(server, fleet), recorded_times(recorded))
                segments = go_on(folder, recorded)
                good(*ship)
                equal(timeline(server, fleet), times_in(segments))


def test_old_fleets_are_brought_up_with_their_rows():
    with Postgres() as server:
        for version in (1, 2, 3, 4):
            with lzma.open(os.path.join(OLD, "fleet-%d.sql.xz" % version), "rt", encoding="utf-8") as file:
                server.rows("DROP SCHEMA IF EXISTS nvtxt CASCADE")
                server.rows(file.read())
            equal(server.one("SELECT version FROM nvtxt.meta"), str(version))
            with kept(7, "killed") as (folder, recorded):
                ship = ["--once", "--store", store_of(folder), "--target", server.target(), "--host", "h"]
                good(*ship)
                equal(timeline(server), recorded_times(recorded))
                good("init", "--target", server.target())
                equal(server.one("SELECT version FROM nvtxt.meta"), "4")
                equal(timeline(server), recorded_times(recorded))
                segments = go_on(folder, recorded)
                good(*ship)
                equal(timeline(server), times_in(segments))


lib.run(globals())
