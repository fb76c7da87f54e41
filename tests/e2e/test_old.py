# SPDX-License-Identifier: Apache-2.0
"""What older versions left behind, and what their clients said: tests/compat/old/make has made it with
programs of their time. The programs of today read it, go on with it, and lose none of its rows."""
import json
import os
import re
import struct
import subprocess

import lib
import older
from client import Folder, contains, files, run_client
from kept import MINE, OLD, SCHEMAS, WAYS, events_of, go_on, kept, store_of, unpack
from lib import Connection, Daemon, equal, program, rows


def run(folder, name, *args, status=0, stdin=b""):
    done = subprocess.run([program(folder, name), *args], input=stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=lib.DEADLINE, check=False)
    equal(done.returncode, status, done.stderr.decode())
    return done.stdout.decode()


# ---- Readers ----------------------------------------------------------------------------------------

def exported(store):
    """Each event that nvtxt-export writes, whatever columns there are."""
    lines = run("client", "nvtxt-export", "--format", "jsonl", "--store", store).splitlines()
    return sorted((row["start"], row["end"], row["message"], row["pid"], row["tid"])
                  for row in map(json.loads, lines) if row.get("type", "event") != "meta" and "start" in row)


def check_readers(folder, recorded):
    store = store_of(folder)
    before = files(folder, older.NO_DATA)
    wanted = events_of(recorded)
    equal(exported(store), wanted, "nvtxt-export")
    if os.path.exists(program("client", "nvtxt-report")):
        out = run("client", "nvtxt-report", "events", "--csv", store)
        for message in {row[2] for row in wanted}:
            contains(out, message)
        summary = run("client", "nvtxt-report", "summary", store)
        contains(summary, ": %d events (" % (len(wanted) + len(recorded["open"])))
    lines = os.path.join(folder, "more.nvtxt")
    with open(lines, "w", encoding="utf-8") as file:
        file.write(older.HEAD + 'Marker, 999, "merged"\n')
    merged = os.path.join(folder, "merged.sqlite")
    last = older.segments_of(folder)[-1]
    run("client", "nvtxt-import", "merge", "-q", "-i", last, "-n", lines, "-o", merged)
    segment = max(row[0] for row in recorded["timeline"])
    here = [row[1:] for row in recorded["timeline"] if row[0] == segment]
    equal([row[2] for row in older.rows_of(merged, "timeline")], [row[2] for row in here] + ["merged"])
    os.unlink(lines)
    os.unlink(merged)
    equal(files(folder, older.NO_DATA), before, "readers change nothing")


def test_readers_of_today_read_old_stores_and_leave_them_alone():
    for schema in SCHEMAS:
        for way in WAYS:
            with kept(schema, way) as (folder, recorded):
                check_readers(folder, recorded)


# ---- The daemon goes on -----------------------------------------------------------------------------

def test_a_daemon_goes_on_with_old_stores_and_senders_with_their_sessions():
    for schema in SCHEMAS:
        for way in WAYS:
            with kept(schema, way) as (folder, recorded):
                segments = go_on(folder, recorded)
                equal(rows(segments[-1], "PRAGMA user_version"), [(max(SCHEMAS),)])
                wanted = len(events_of(recorded)) + 6
                equal(len(exported(store_of(folder))), wanted)


# ---- Sections and rules -----------------------------------------------------------------------------

def ending(names, with_what):
    return sorted(name for name in names if name.endswith(with_what))


def test_old_sections_and_rules_are_read():
    if not os.path.exists(program("client", "nvtxt-report")):
        raise lib.Skip("built without nvtxt-report")
    for name in ("sections-1", "sections-2"):
        with Folder() as folder, kept(7, "killed") as (place, _):
            unpack(name, folder.path)
            names = os.listdir(folder.path)
            status, out, said = run_client("nvtxt-report", "report", "--format", "json", "--section", "regex:.*",
                                           "--section-folder", folder.path, store_of(place))
            equal((status, said), (0, ""))
            equal(sorted(os.path.basename(section["file"]) for section in json.loads(out)["scopes"][0]["sections"]),
                  sorted(set(ending(names, ".section")) - {"KernelStats.section"}))  # for kernels alone
            out = run_client("nvtxt-report", "check", "--format", "json", "--section-folder", folder.path,
                             store_of(place))[1]
            used = [rule for rule in json.loads(out)["rules"] if rule["kind"] == "declarative"]
            equal(sorted(os.path.basename(rule["file"]) for rule in used), ending(names, ".rule"))
            equal({rule["status"] for rule in used} & {"failed"}, set())


# ---- Rings ------------------------------------------------------------------------------------------

def unpack_ring(name, folder):
    unpack(name, folder)
    path, = [os.path.join(folder, each) for each in os.listdir(folder) if each.endswith(".ring")]
    with open(path, "r+b") as file:  # it belongs to who runs this now
        file.seek(16)
        file.write(struct.pack("=I", MINE))
    return path


def test_old_rings_are_adopted():
    for name in ("ring-1", "ring-2"):
        with Folder() as folder, Daemon() as daemon:
            unpack_ring(name, folder.path)
            equal(run_client("nvtxt-send", "-q", "--socket", daemon.socket, "--resume", folder.path), (0, "", ""))
            equal(os.listdir(folder.path), [])
            found = daemon.query("SELECT message, kind, process, thread, domain, category, color, payload FROM "
                                 "NVTXT_TIMELINE ORDER BY message")
            equal([row[:2] for row in found], [("counter", "mark"), ("inside", "mark"), ("never ended", "start/end"),
                                               ("of a library", "mark"), ("outer", "push/pop"),
                                               ("started", "start/end")])
            equal({row[2:4] for row in found}, {("old program", "old thread")})
            equal(found[0][4:], ("library", None, None, 7))
            equal(found[3][4:], ("library", "old category", "#FF00FF00", -9))


def test_a_ring_whose_head_no_version_says_is_refused_and_stays():
    with Folder() as folder, Daemon() as daemon:
        path = unpack_ring("ring-1-early", folder.path)
        before = older.data_of(path)
        status, _, said = run_client("nvtxt-send", "--socket", daemon.socket, "--resume", folder.path)
        equal(status, 65)
        assert re.fullmatch(r"nvtxt-send: %s is of version 1 \(\d+ bytes of head\) of ring files; this program "
                            r"reads up to version 2 \(\d+\)\n" % re.escape(path), said), said
        equal(older.data_of(path), before)


# ---- The wire ---------------------------------------------------------------------------------------

def exchange(name):
    """What a client sent, and the replies that it got."""
    said = {"C": [], "D": []}
    with open(os.path.join(OLD, name), "rb") as file:
        for line in file:
            said[line[:1].decode()].append(line[3:])
    return b"".join(said["C"]), [json.loads(line) for line in said["D"]]


def check_members(now, then, at):
    """Each member that was there then has a value of its type, in members of it, too."""
    for key, value in then.items():
        assert key in now, "%s: %s is gone: %r" % (at, key, now)
        equal(type(now[key]), type(value), "%s: %s" % (at, key))
        if isinstance(value, dict):
            check_members(now[key], value, at)


def test_what_old_clients_say_is_answered_as_they_expect():
    names = [name for name in sorted(os.listdir(OLD)) if name.startswith("wire-")]
    equal(len(names), 6)
    for name in names:
        said, then = exchange(name)
        with Daemon() as daemon:
            with Connection(daemon.socket) as client:
                client.send(said)
                now = client.replies()
            first = {**then[0], **{key: now[0].get(key) for key in ("source", "line")}}
            check_members(now[0], then[0], name)
            for key in ("type", "protocol", "session", "line"):
                equal(now[0][key], first[key])
            what = [reply for reply in now if reply["type"] == "diagnostic"]
            equal(sorted((reply["line"], reply["code"], reply["severity"]) for reply in what),
                  sorted((reply["line"], reply["code"], reply["severity"]) for reply in then
                         if reply["type"] == "diagnostic"))
            for reply, old in zip(what, (reply for reply in then if reply["type"] == "diagnostic")):
                check_members(reply, old, name)
            equal({key: now[-1][key] for key in then[-1]}, then[-1], name)
            assert {reply["type"] for reply in now} <= {"welcome", "diagnostic", "ack", "end"}, now
            daemon.settled()
            equal(daemon.query("SELECT count(*) FROM NVTXT_TIMELINE"), [(then[-1]["events"],)])


lib.run(globals())
