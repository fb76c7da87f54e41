# SPDX-License-Identifier: Apache-2.0
"""Rules from outside: nvtxt-report check, rules of files, and queries, which never change a store."""
import json
import os
import sqlite3

from client import Folder, contains, run_client
from lib import Daemon, equal, run
from report import f1, make_store, report

HEAD = "Identifier: '%s' DisplayName: 'N'\n"
ALWAYS = HEAD + "Findings { Condition: '1' Type: %s Message: 'm' %s }"
STATUSES = {"findings", "no-issue", "not-applicable", "failed", "not-run"}
PACKAGE = ["Builds", "ClockSuspicion", "DeepNesting", "DominantRange", "ErrorBurst", "HighVariation", "IdleGaps",
           "InputErrors", "LoadImbalance", "LossPresent", "MixedKinds", "NoIterations",
           "OutlierIterations", "Serialized", "TinyRanges", "UnclosedRanges", "WarmUp"]


def rules_of(folder, **texts):
    """A folder with rule files; returns the option that reads it and nothing else."""
    path = folder.name("rules")
    os.makedirs(path, exist_ok=True)
    for name in os.listdir(path):
        os.unlink(os.path.join(path, name))
    for name, text in texts.items():
        with open(os.path.join(path, name + ".rule"), "w") as file:
            file.write(text)
    return "--section-folder=" + path


def checked(status, *args):
    """The document of `check --format json`, and the rules in it by identifier."""
    got = report("check", "--format", "json", *args)
    equal(got[0], status, got[2])
    document = json.loads(got[1])
    return document, {rule["identifier"]: rule for rule in document["rules"]}


def test_the_package_has_its_rules():
    with Folder() as folder:
        document, rules = checked(0, f1(folder))
        equal(sorted(rules), PACKAGE)
        equal(list(document), ["schema", "command", "failOn", "worst", "rules"])
        equal((document["failOn"], document["worst"]), ("warning", "optimization"))
        equal(list(rules["LoadImbalance"]),
              ["identifier", "name", "description", "section", "kind", "file", "status", "reason",
               "messages", "speedups", "focusMetrics", "tables", "sourceMarkers", "proposals",
               "output"])
        equal(rules["LoadImbalance"]["status"], "findings")
        equal(rules["LoadImbalance"]["kind"], "builtin")
        equal(rules["DeepNesting"]["kind"], "declarative")
        equal(rules["WarmUp"]["status"], "not-applicable")
        for rule in rules.values():
            assert rule["status"] in STATUSES
            equal(rule["reason"] is None, rule["status"] in ("findings", "no-issue"))


def test_the_same_bytes_come_twice():
    with Folder() as folder:
        store = f1(folder)
        for form in "json", "text", "markdown":
            first = report("check", "--format", form, store)
            equal(first, report("check", "--format", form, store))


def test_the_level_decides_the_exit_status():
    with Folder() as folder:
        store = f1(folder)
        for level, statuses in (("Ok", (2, 0, 0, 0)), ("Optimization", (2, 2, 0, 0)),
                                ("Warning", (2, 2, 2, 0)), ("Error", (2, 2, 2, 2))):
            rules = rules_of(folder, a=ALWAYS % ("A", level, ""))
            for wanted, status in zip(("ok", "optimization", "warning", "error"), statuses):
                document, _ = checked(status, "--rule=A", "--fail-on", wanted, rules, store)
                equal((document["failOn"], document["worst"]), (wanted, level.lower()))
        rules = rules_of(folder, a=HEAD % "A")
        document, _ = checked(0, "--rule=A", "--fail-on=ok", rules, store)
        equal(document["worst"], None)


def test_errors_in_the_input_fail_a_check():
    with Folder() as folder:
        path = folder.name("bad.nvtxt")
        with open(path, "w") as file:
            file.write("@ nonsense )\n")
        store = make_store(folder, "bad.sqlite", path, status=1)
        _, rules = checked(2, "--rule=InputErrors", store)
        equal(rules["InputErrors"]["status"], "findings")
        equal(rules["InputErrors"]["messages"][0]["type"], "error")


def test_rules_are_not_run_on_demand():
    with Folder() as folder:
        _, rules = checked(0, "--apply-rules=no", f1(folder))
        equal({rule["status"] for rule in rules.values()}, {"not-run"})


def test_a_rule_that_is_not_there_is_a_usage_error():
    with Folder() as folder:
        status, out, error = report("check", "--rule", "DominantRage", f1(folder))
        equal((status, out), (64, ""))
        assert "did you mean 'DominantRange'?" in error, error
        equal(report("check", "--rule", "regex:(", f1(folder, "b"))[0], 64)
        _, rules = checked(0, "--rule", "regex:^D,WarmUp", f1(folder, "c"))
        equal(sorted(rules), ["DeepNesting", "DominantRange", "WarmUp"])


def test_a_broken_file_is_told_and_the_others_work():
    with Folder() as folder:
        option = rules_of(folder, a=HEAD % "A" + "Findings { Condition: '1 <' }",
                          b=ALWAYS % ("B", "Ok", ""),
                          c=ALWAYS % ("C", "Ok", "Query { Sql: 'DELETE FROM NVTX_EVENTS' }"))
        path = option.split("=")[1]
        status, out, error = report("check", "--format=json", option, f1(folder))
        equal(status, 1, error)
        rules = {rule["identifier"] for rule in json.loads(out)["rules"]}
        assert "B" in rules and "A" not in rules and "C" not in rules
        lines = error.splitlines()
        assert "%s/a.rule:2:27: error: " % path in error, error
        assert any(line.endswith("[missing-field]") for line in lines), error
        assert "c.rule:2:62: error: a query is one SELECT: it only reads [bad-sql]" in error, error


def ranges(*rows):
    """NVTXT of push/pop ranges (thread, name, start, end), none of which crosses another."""
    lines = ["ProcessId = 100", "@RangePush, Time, ThreadId, Message", "@RangePop, Time, ThreadId",
             "@RangeStart, Time, RangeId, ThreadId, Message", "@RangeEnd, Time, RangeId, ThreadId"]
    calls = []
    for thread, name, start, end in rows:
        calls.append((start, 2, -end, 'RangePush, %d, %d, "%s"' % (start, thread, name)))
        calls.append((end, 1, -start, "RangePop, %d, %d" % (end, thread)))
    return lines + [call[3] for call in sorted(calls, key=lambda call: call[:3])]


def result(rule, lines, *options, sql=None):
    """What one rule says of a store of these lines, after a change of the store in SQL."""
    with Folder() as folder:
        path = folder.name("x.nvtxt")
        with open(path, "w") as file:
            file.write("\n".join(lines) + "\n")
        store = folder.name("x.sqlite")
        run_client("nvtxt-import", "create", "-n", path, "-o", store)
        if sql:
            with sqlite3.connect(store) as db:
                db.execute(sql)
            db.close()
        got = report("check", "--format=json", "--fail-on=error", "--rule", rule, *options, store)
        equal(got[0], 2 if rule == "InputErrors" and "findings" in got[1] else 0, got[2])
        return json.loads(got[1])["rules"][0]


def judged(rule, lines, *options, sql=None):
    """The status of one rule; of what only gives a hint, the type of its message."""
    found = result(rule, lines, *options, sql=sql)
    hint = [message["type"] for message in found["messages"]] == ["none"]
    equal(found["status"] == "findings", any(message["type"] in ("optimization", "warning", "error")
                                             for message in found["messages"]))
    return "hint" if hint else found["status"]


STEPS = [(1, "step", i * 100, i * 100 + 10) for i in range(4)]
US = 1000


def test_a_log_with_times_of_its_own_is_no_fault_of_a_clock():
    def check(*args, **more):
        with Daemon() as daemon:
            equal(run_client("nvtxt-send", "--socket", daemon.socket, *args, **more)[0], 0)
            found = json.loads(report("check", "--format=json", daemon.store)[1])["rules"]
            return [rule["status"] for rule in found if rule["identifier"] == "ClockSuspicion"]

    lines = "2025-11-21T13:00:00Z a\n2025-11-22T13:00:00Z b\n"
    equal(check("--text", "--time-format", "auto", stdin=lines), ["no-issue"])
    equal(check(stdin="@Marker, Time, TimeBase, Message\nMarker, 1763730000000000000, Manual, a\n"), ["findings"])


def test_each_rule_of_the_package_finds_what_it_is_for():
    one = ranges((1, "a", 0, 100))
    start_end = ['RangeStart, 0, 1, 1, "a"', "RangeEnd, 5, 1, 1"]
    loss = ("INSERT INTO NVTXT_LOSSES (atNs, reason, count) VALUES (1, 'overflow', 3)")
    cases = [
        ("ClockSuspicion", one, (), "UPDATE NVTX_EVENTS SET end = start - 1 WHERE eventType = 59",
         one, (), None),
        ("DeepNesting", ranges(*((1, "a", i, 1000 - i) for i in range(66))), (), None,
         ranges(*((1, "a", i, 1000 - i) for i in range(65))), (), None),
        ("DominantRange", ranges((1, "a", 0, 51), (1, "b", 51, 100)), (), None,
         ranges((1, "a", 0, 50), (1, "b", 50, 100)), (), None),
        ("HighVariation", ranges(*((1, "a", i * 1000, i * 1000 + (500 if i == 9 else 100))
                                   for i in range(10))), (), None,
         ranges(*((1, "a", i * 1000, i * 1000 + (500 if i == 8 else 100))
                  for i in range(9))), (), None),
        ("IdleGaps", ranges((1, "a", 0, 50), (1, "b", 71, 100)), (), None,
         ranges((1, "a", 0, 50), (1, "b", 70, 100)), (), None),
        ("InputErrors", one + ["RangePop, 200, 1", "x )"], (), None, one, (), None),
        ("LoadImbalance", ranges((1, "a", 0, 100), (2, "a", 0, 49)), (), None,
         ranges((1, "a", 0, 100), (2, "a", 0, 50)), (), None),
        ("LossPresent", one, (), loss, one, (), None),
        ("MixedKinds", one + start_end, (), None, ranges((1, "b", 0, 9)) + start_end, (), None),
        ("NoIterations", ranges(*STEPS), (), None, ranges(*STEPS), ("--iterations=step",), None),
        ("OutlierIterations", ranges(*STEPS, (1, "step", 900, 916)), ("--iterations=step",), None,
         ranges(*STEPS, (1, "step", 900, 915)), ("--iterations=step",), None),
        ("Serialized", ranges((1, "a", 0, 50), (2, "a", 50, 100)), (), None,
         ranges((1, "a", 0, 51), (2, "a", 50, 100)), (), None),
        ("TinyRanges", ranges(*((1, "a", i * 9 * US, i * 9 * US + US - (i < 201))
                                for i in range(1000))), (), None,
         ranges(*((1, "a", i * 9 * US, i * 9 * US + US - (i < 200)) for i in range(1000))), (),
         None),
        ("UnclosedRanges", ranges((1, "a", 0, 5)) + ['RangePush, 50, 1, "left"'], (), None, one, (), None),
        ("WarmUp", ranges((1, "step", 0, 16), *STEPS[1:]), ("--iterations=step",), None,
         ranges((1, "step", 0, 15), *STEPS[1:]), ("--iterations=step",), None),
    ]
    elsewhere = ["Builds", "ErrorBurst"]  # test_report_builds.py, test_report_logs.py
    equal(sorted(elsewhere + [case[0] for case in cases]), PACKAGE)
    for rule, lines, options, sql, other, other_options, other_sql in cases:
        equal((rule, judged(rule, lines, *options, sql=sql)),
              (rule, "hint" if rule == "NoIterations" else "findings"))
        # A title is not said again in its text.
        for message in result(rule, lines, *options, sql=sql)["messages"]:
            equal(message["title"].lower() in message["text"].lower(), False, message)
        equal((rule, judged(rule, other, *other_options, sql=other_sql)), (rule, "no-issue"))


def processes(*rows):
    """NVTXT of push/pop ranges (process, thread, name, start, end)."""
    lines = ["@RangePush, Time, ProcessId, ThreadId, Message", "@RangePop, Time, ProcessId, ThreadId"]
    calls = [(start, 1, 'RangePush, %d, %d, %d, "%s"' % (start, pid, tid, name)) for pid, tid, name, start, end in rows]
    calls += [(end, 0, "RangePop, %d, %d, %d" % (end, pid, tid)) for pid, tid, name, start, end in rows]
    return lines + [call[2] for call in sorted(calls)]


def row_of(lines, name):
    """The row of the longest range of a name, as events has it."""
    with Folder() as folder:
        store = make_store(folder, "x.sqlite", folder.write("x.nvtxt", "\n".join(lines) + "\n"))
        events = json.loads(report("events", "--format=json", store)[1])["events"]
        return max((event for event in events if event["message"] == name),
                   key=lambda event: int(event["duration"]))["row"]


def test_threads_are_compared_with_those_of_their_process():
    # Strangers that share a store have no load to share, unless somebody names what they do together.
    strangers = processes((7, 1, "step", 0, 100), (8, 2, "step", 0, 10))
    equal(judged("LoadImbalance", strangers), "no-issue")
    found = result("LoadImbalance", strangers, "--within", "step")
    equal(found["status"], "findings")
    contains(found["messages"][0]["text"], "The busiest of the 2 threads in the ranges of --within works for 100 ns, "
             "their average is 55 ns")
    equal((found["speedups"][0]["type"], found["speedups"][0]["percent"]), ("global", 45))
    equal(judged("LoadImbalance", strangers, "--within", "none"), "no-issue")
    # One process: a message and no table.
    lines = processes((7, 1, "long", 0, 100), (7, 2, "short", 0, 20), (8, 3, "alone", 0, 200))
    found = result("LoadImbalance", lines)
    equal((len(found["messages"]), found["tables"]), (1, []))
    text = found["messages"][0]["text"]
    contains(text, "The busiest of the 2 threads of process 7 works for 100 ns, their average is 60 ns")
    contains(text, "@range:%d:longest range@, 'long' (100 ns)" % row_of(lines, "long"))
    # The estimate is of the elapsed time of all, 200 ns.
    equal(found["speedups"], [{"message": 0, "type": "global", "percent": 20}])
    named = result("LoadImbalance", ["@SetProcessName, ProcessId, Name", "SetProcessName, 7, trainer"] + lines)
    contains(named["messages"][0]["text"], "threads of process 7 'trainer' works")
    # Several: one message with a table, the worst first.
    lines += processes((9, 4, "worst", 0, 150), (9, 5, "short", 0, 10))[2:]
    found = result("LoadImbalance", lines)
    equal(len(found["messages"]), 1)
    contains(found["messages"][0]["text"], "In 2 processes some threads have much more to do than the others. "
             "The worst: the busiest of the 2 threads of process 9 works for 150 ns")
    table, = found["tables"]
    equal(table["header"], ["Process", "Threads", "Busiest (ns)", "Average (ns)", "Estimate (%)"])
    equal([row[1:] for row in table["rows"]], [[2, 150, 80, 35], [2, 100, 60, 20]])
    equal(table["rows"][0][0], "@range:%d:9@" % row_of(lines, "worst"))
    equal(found["speedups"], [{"message": 0, "type": "global", "percent": 35}])


def varying(names):
    """Ten ranges of each name: nine of 100 ns, and one that is the longer the later the name."""
    rows, at = [], 0
    for number in range(names):
        for i in range(10):
            length = 200 + 100 * number if i == 9 else 100
            rows.append((7, 1, "n%02d" % number, at, at + length))
            at += length
    return processes(*rows), at


def test_names_that_vary_are_one_finding():
    lines, elapsed = varying(12)
    found = result("HighVariation", lines)
    equal((len(found["messages"]), len(found["speedups"])), (1, 1))
    contains(found["messages"][0]["text"], "12 names have ranges of very different length; most is to be saved at "
             "':n11': the longest of its 10 ranges lasts 1.30 us, their median is 100 ns")
    contains(found["messages"][0]["text"], "@range:%d:the longest one@" % row_of(lines, "n11"))
    table, = found["tables"]
    equal(table["header"], ["Name", "Count", "Median (ns)", "Longest (ns)", "Variation (%)", "Estimate (%)"])
    equal(len(table["rows"]), 10)
    equal(table["rows"][0][0], "@range:%d::n11@" % row_of(lines, "n11"))
    equal([row[1:4] for row in table["rows"]], [[10, 100, 1300 - 100 * i] for i in range(10)])
    for row, saved in zip(table["rows"], range(1200, 200, -100)):
        equal(abs(row[5] - 100 * saved / elapsed) < 1e-9, True, row)
    equal(found["speedups"][0]["percent"], table["rows"][0][5])
    found = result("HighVariation", varying(1)[0])
    contains(found["messages"][0]["text"], "':n00': the longest of its 10 ranges lasts 200 ns")
    equal([row[0].split(":", 2)[2] for row in found["tables"][0]["rows"]], [":n00@"])
    # An at sign does not end the link (test_report_links.py).
    found = result("HighVariation", [line.replace("n00", "n@0") for line in varying(1)[0]])
    contains(found["tables"][0]["rows"][0][0], "::n@0@")


def test_what_could_be_faster_leads_to_a_range():
    for rule, lines, options, name in (
            ("IdleGaps", ranges((1, "a", 0, 50), (1, "b", 90, 100)), (), "b"),
            ("Serialized", ranges((1, "a", 0, 60), (2, "b", 60, 100)), (), "a"),
            ("DominantRange", ranges((1, "a", 0, 51), (1, "b", 51, 100)), (), "a"),
            ("OutlierIterations", ranges(*STEPS, (1, "step", 900, 916)), ("--iterations=step",), "step"),
            ("WarmUp", ranges((1, "step", 0, 16), *STEPS[1:]), ("--iterations=step",), "step")):
        message, = result(rule, lines, *options)["messages"]
        contains(message["text"], "@range:%d:" % row_of(lines, name))


def test_rows_of_another_store_are_times():
    """The rows of a link are those of the first store."""
    with Folder() as folder:
        lines = "\n".join(ranges((1, "a", 1000, 1060), (2, "b", 1060, 1100))) + "\n"
        first = make_store(folder, "a.sqlite", folder.write("a.nvtxt", "ProcessId = 1\n"))
        second = make_store(folder, "b.sqlite", folder.write("b.nvtxt", lines))
        _, rules = checked(0, "--rule=Serialized", first, second)
        contains(rules["Serialized"]["messages"][0]["text"], "Look at @time:1000:the longest range@")


def test_a_hint_is_no_finding():
    with Folder() as folder:
        store = make_store(folder, "x.sqlite", folder.write("x.nvtxt", "\n".join(ranges(*STEPS)) + "\n"))
        for level in "optimization", "ok":
            document, rules = checked(0, "--rule=NoIterations", "--fail-on", level, store)
            equal(document["worst"], None)
            equal((rules["NoIterations"]["status"], rules["NoIterations"]["messages"][0]["type"]), ("no-issue", "none"))
        for form, line in (("text", "    hint: No iterations: Figures by iteration need"),
                           ("markdown", "  - hint: **No iterations** Figures by iteration need")):
            contains(report("check", "--rule=NoIterations", "--format", form, store)[1], line)
        equal(report("check", "--rule=NoIterations", "--format=github", store)[1], "")


QUERIES = [
    ("never", "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
              "SELECT count(*) FROM c", "the query was stopped after 5 s"),
    ("rows", "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c",
     "the query gives more than 1,000 rows"),
    ("table", "SELECT * FROM nowhere", "no such table: nowhere"),
]


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def test_queries_never_change_a_store():
    with Folder() as folder:
        store = f1(folder)
        before = contents(store), sorted(os.listdir(os.path.dirname(store)))
        texts = {name: ALWAYS % (name, "Error", 'Query { Sql: "%s" }' % sql)
                 for name, sql, _ in QUERIES}
        texts["good"] = ALWAYS % ("good", "Ok", 'Query { Title: "T" Sql: "SELECT text, count(*) AS n'
                                  ' FROM NVTX_EVENTS WHERE start >= :since AND start < :until AND'
                                  ' text = \'kernel\' GROUP BY text" }')
        option = rules_of(folder, **texts)
        names = sorted(os.listdir(os.path.dirname(store)))
        _, rules = checked(1, "--rule=never,rows,table,good", option, store)
        for name, _, reason in QUERIES:
            equal((rules[name]["status"], rules[name]["reason"]), ("failed", reason))
            equal(rules[name]["messages"], [])
        equal(rules["good"]["tables"],
              [{"message": 0, "title": "T", "description": "", "header": ["text", "n"],
                "rows": [["kernel", 3]]}])
        equal(contents(store), before[0])
        equal(sorted(os.listdir(os.path.dirname(store))), names)


def test_queries_ask_every_store():
    with Folder() as folder:
        option = rules_of(folder, a=ALWAYS % ("A", "Ok", "Query { Sql: 'SELECT count(*) AS n FROM "
                                              "NVTX_EVENTS WHERE eventType = 34' }"))
        stores = [f1(folder, "a.sqlite"), f1(folder, "b.sqlite")]
        _, rules = checked(0, "--rule=A", option, *stores)
        table = rules["A"]["tables"][0]
        equal(table["header"], ["Store", "n"])
        equal(table["rows"], [[stores[0], 3], [stores[1], 3]])


def test_queries_work_where_nothing_may_be_written():
    with Folder() as folder:
        store = f1(folder)
        option = rules_of(folder, a=ALWAYS % ("A", "Ok", "Query { Sql: 'SELECT 1' }"))
        os.chmod(store, 0o444)
        os.chmod(os.path.dirname(store), 0o555)
        try:
            _, rules = checked(0, "--rule=A", option, store)
            equal(rules["A"]["tables"][0]["rows"], [[1]])
        finally:
            os.chmod(os.path.dirname(store), 0o755)


def test_a_report_has_its_rules():
    with Folder() as folder:
        status, out, error = report("report", "--format=json", f1(folder))
        equal(status, 0, error)
        rules = [rule["identifier"] for rule in json.loads(out)["scopes"][0]["rules"]]
        equal(sorted(rules), PACKAGE)


def test_rules_are_listed():
    status, out, error = report("list", "rules", "--format=json")
    equal(status, 0, error)
    items = json.loads(out)["items"]
    equal(sorted(item["identifier"] for item in items), PACKAGE)
    equal(list(items[0]), ["identifier", "name", "description", "section", "kind", "file",
                           "hiddenBy"])


def test_named_folders_stand_in_place_of_the_rules_in_the_program():
    with Folder() as folder:
        os.mkdir(folder.name("own"))
        folder.write("own/own.rule", 'Identifier: "Own" DisplayName: "N"\n'
                     'Findings { Condition: "1" Type: Ok Message: "m" }\n')
        option, store = "--section-folder=" + folder.name("own"), f1(folder)
        for words in (["check", store], ["report", store], ["list", "rules"]):
            kinds = {}
            for more in ([], [option], [option, "--section-folder", "builtin"]):
                document = json.loads(report(*words, "--format=json", *more)[1])
                rules = document.get("items") or document.get("rules") or \
                    document["scopes"][0]["rules"]
                kinds[len(more)] = {rule["kind"] for rule in rules}, \
                    "Own" in [rule["identifier"] for rule in rules]
            equal(kinds[1], ({"declarative"}, True), words)
            for count in (0, 3):
                contains(kinds[count][0], "builtin")


if __name__ == "__main__":
    run(globals())
