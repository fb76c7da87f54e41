# SPDX-License-Identifier: Apache-2.0
"""The JSON of every command of nvtxt-ctl fits its schema, which has a definition for each command."""
import json
import os
import sys

import lib
from client import run_client
from lib import equal
from schema import CONTROL, Schema, parse

SCHEMA = Schema(CONTROL)
OWN = ("top", "tail", "where")  # commands of nvtxt-ctl itself
HEAD = "TimeBase = ClockRealtime\nProcessId = %d\nThreadId = 1\n" % os.getpid()
WATCHED = HEAD + """@Marker, Time, Message, CategoryId, Color, Payload
Marker, 1000, "seen", 3, "red", 7
Marker, 1001
"""
LOG = HEAD + """SetFileDisplayName, "log"
@Marker, Time, Message, Payload
Marker, 2000, "warned", 4
@SetThreadName, ThreadId, Name
SetThreadName, 1, "main"
@RangeStartEnd, Start, End, Message
RangeStartEnd, 2000, 2500, "ran"
"""
NVTX = HEAD + """@Marker, Time, Message, Payload, Json
Marker, 3000, "typed", 'f64:0.5', '{"a":[1]}'
"""


class Full(lib.Daemon):
    """A daemon that has something to say to every command: sources of each kind, a watched folder,
    diagnostics, a loss."""

    def __init__(self):
        super().__init__(start=False)
        self.inside = os.path.join(self.folder, "in")
        os.mkdir(self.inside)
        with open(os.path.join(self.inside, "seen.nvtxt"), "w", encoding="utf-8") as file:
            file.write(WATCHED)
        conf = os.path.join(self.folder, "nvtxtd.conf")
        with open(conf, "w", encoding="utf-8") as file:
            file.write("[nvtxtd]\nWatchDirectory = %s\n" % self.inside)
        self.options += ["-c", conf]
        self.sessions, self.open = [], None
        try:
            self.start()
            self.say_much()
        except BaseException:  # nobody else ends the daemon
            self.__exit__(*sys.exc_info())
            raise

    def say_much(self):
        self.sessions = [self.session(name="log", levels=True, client="test"),
                         self.session(nvtx=1, pid=os.getpid())]
        for session, text in zip(self.sessions, (LOG, NVTX)):
            session.send(text + '#nvtxt-lost {"lines":2,"reason":"full"}\n')
            session.ack(text.count("\n") + 1)
        self.open = self.plain()
        self.open.send(WATCHED)
        self.flush()
        lib.wait_for(lambda: len(self.control("sources")["sources"]) == 4, "all sources are there")
        lib.wait_for(lambda: self.control("status")["errors"] == 2, "the faults of two sources are there")
        self.flush()
        equal(self.query("SELECT count(*) FROM NVTXT_TIMELINE"), [(5,)])

    def __exit__(self, kind, value, trace):
        for connection in self.sessions + ([self.open] if self.open else []):
            connection.close()
        super().__exit__(kind, value, trace)

    def ctl(self, definition, *arguments, status=0):
        """The lines of nvtxt-ctl --json; each fits."""
        code, out, err = run_client("nvtxt-ctl", "--socket", self.control_socket, "--json", *arguments)
        equal((code, err), (status, ""), (arguments, out))
        values = [parse(line) for line in out.splitlines(True)]
        for value in values:
            SCHEMA.must_fit(value, definition)
            assert SCHEMA.accepts(value), value
        return values


def test_every_command_has_a_definition_and_no_other():
    with lib.Daemon() as daemon:
        known = [row["name"] for row in daemon.control("help")["commands"]] + list(OWN)
    wanted = [part["$ref"].rsplit("/", 1)[1] for part in SCHEMA.root["anyOf"]]
    equal(sorted(set(wanted) - {"snapshotOutput", "whereStore"}), sorted(known))
    equal(set(wanted) - set(SCHEMA.root["$defs"]), set(), "definitions that are missing")


def test_what_asks_fits():
    with Full() as daemon:
        for command in ("help", "status", "sources", "diagnostics", "events", "metrics", "flush",
                        "verify", "log-level", "reload", "checkpoint"):
            values = daemon.ctl(command, command)
            equal(len(values), 1, command)
        status = daemon.ctl("status", "status")[0]
        equal([folder["files"] for folder in status["folders"]], [1])
        equal({row["kind"] for row in daemon.ctl("sources", "sources")[0]["sources"]},
              {"plain", "session", "file"})
        health = daemon.ctl("health", "health", status=1)[0]
        equal([(row["reason"], row["count"]) for row in health["losses"]], [("full", 2)] * 2)


def test_lines_of_tail_and_top_fit():
    with Full() as daemon:
        rows = daemon.ctl("tail", "tail", "-n", "5", "--count", "5")  # all, whichever source came first
        equal({row["kind"] for row in rows}, {"mark", "start/end"})
        assert {row["level"] for row in rows} == {None, "warning"} and \
            {row["payload_type"] for row in rows} >= {None, "f64"}, rows
        samples = daemon.ctl("top", "top", "--interval", "0.1", "--count", "2")
        equal([len(one["sources"]) for one in samples], [4, 4])


def test_what_does_something_fits():
    with Full() as daemon:
        path = os.path.join(daemon.folder, "copy.sqlite")
        daemon.ctl("snapshot", "snapshot", path)
        daemon.ctl("snapshotOutput", "snapshot", "-o", path + ".mine")
        session = str(daemon.sessions[0].welcome["source"])
        daemon.ctl("disconnect", "disconnect", session)
        for _ in range(2):
            daemon.ctl("rotate", "rotate")  # the second time there is nothing to rotate
        daemon.ctl("log-level", "log-level", "debug")
        status = daemon.ctl("status", "status")[0]
        equal(status["rotations"], 1)


def test_a_store_in_trouble_fits():
    with lib.Daemon(shared=True) as daemon:
        lock = lib.LockedStore(daemon)
        with daemon.plain() as connection:
            connection.send("bad\n")
            lib.wait_for(lambda: daemon.control("status")["in_trouble"], "commits fail")
            for command, code in (("status", 0), ("health", 1)):
                got = run_client("nvtxt-ctl", "--socket", daemon.control_socket, "--json", command)
                equal((got[0], got[2]), (code, ""), command)
                SCHEMA.must_fit(parse(got[1]), command)
                assert json.loads(got[1])["last_error"], got
            lock.release()
            lib.wait_for(lambda: not daemon.control("status")["in_trouble"], "commits work")


def test_where_fits_with_and_without_a_daemon():
    with Full() as daemon:
        value = daemon.ctl("where", "where")[0]
        assert value["sockets"][0]["wins"], value
        equal(daemon.ctl("whereStore", "where", "--store"), [{"store": daemon.store}])
    code, out, err = run_client("nvtxt-ctl", "--json", "where",
                                env={"NVTXT_SOCKET": daemon.socket, "NVTXT_STORE": daemon.store})
    equal((code, err), (69, ""), out)
    SCHEMA.must_fit(parse(out), "where")
    assert parse(out)["sockets"][0]["why"], out


def test_a_member_that_is_missing_or_new_is_found():
    with lib.Daemon() as daemon:
        good = daemon.control("status")
    SCHEMA.must_fit(good, "status")
    for change, wanted in ((lambda o: o.pop("pid"), "no member 'pid'"),
                           (lambda o: o.update(more=1), "the schema has no member 'more'"),
                           (lambda o: o.update(pid="1"), "'1' is no integer")):
        bad = dict(good)
        change(bad)
        faults = SCHEMA.look(bad, {"$ref": "#/$defs/status"}, "$")
        assert any(wanted in fault for fault in faults), (wanted, faults)


def sample(schema):
    """The least value that fits."""
    schema = SCHEMA.resolve(schema)
    if "properties" in schema:
        return {name: sample(schema["properties"][name]) for name in schema.get("required", ())}
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema["type"] if isinstance(schema["type"], str) else schema["type"][0]
    text = "#01234567" if "pattern" in schema else "x"  # a colour alone has one
    return {"array": [], "string": text, "integer": 1, "number": 1, "boolean": True}[kind]


def test_what_fits_no_definition_is_refused():
    """With and without the definition's name: for any validator, the schema as a whole tells what is
    wrong from what a later version adds."""
    for value in ({"frob": 1}, {"version": 7, "pid": "x"}, {"healthy": "maybe"}, [], "x", 1, None):
        assert not SCHEMA.accepts(value), value
    assert SCHEMA.accepts({}), "flush"
    parts = [SCHEMA.resolve(part) for part in SCHEMA.root["anyOf"]]
    parts += [SCHEMA.resolve(part) for part in parts.pop(parts.index(SCHEMA.root["$defs"]["tail"]))["anyOf"]]
    count = 0
    for part in parts:
        good = sample(part)
        assert SCHEMA.accepts(good), good
        if not good:
            continue
        assert SCHEMA.accepts({**good, "frob": 1}), (good, "a later version adds it")
        for name, value in good.items():
            bad = {**good, name: [value]}
            assert not SCHEMA.accepts(bad), bad
            bad = {key: other for key, other in good.items() if key != name}
            of_another = not bad or (name == "user" and part is SCHEMA.root["$defs"]["snapshot"])  # flush; -o
            equal(SCHEMA.accepts(bad), of_another, bad)
            count += 1
    assert count > 100, count


if __name__ == "__main__":
    lib.run(globals())
