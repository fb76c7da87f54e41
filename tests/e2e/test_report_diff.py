# SPDX-License-Identifier: Apache-2.0
"""nvtxt-report diff: what changed between two captures, how sure that is, and the exit status."""
import json
import os
import sqlite3
import subprocess
import xml.etree.ElementTree as ElementTree

from client import ENV, Folder, contains, small_files
from lib import DEADLINE, equal, program, run
from report import f1, make_store, report

FAST = (100, 101, 102, 103, 104)
SLOW = (150, 151, 152, 153, 154)


def runs(folder, name, **lengths):
    """A store with ranges of these names: one after the other, with these lengths."""
    path, time = folder.name(name + ".nvtxt"), 0
    with open(path, "w", encoding="utf-8") as file:
        file.write("ProcessId = 7\n@RangeStartEnd, Start, End, ThreadId, Message\n")
        for range_name, of_name in lengths.items():
            for length in of_name:
                file.write('RangeStartEnd, %d, %d, 3, "%s"\n' % (time, time + length, range_name))
                time += length
    return make_store(folder, name + ".sqlite", path)


def compared(status, *args):
    got, text, errors = report("diff", "--format", "json", *args)
    equal((got, errors), (status, ""), text)
    return json.loads(text)


def test_a_diff_against_itself_is_neutral():
    with Folder() as folder:
        store = f1(folder)
        status, text, errors = report("diff", "--format", "json", store, store)
        document = json.loads(text)
        equal((status, errors),
              (0, "nvtxt-report: warning: BASE and NEW are the same file\n"))
        equal(list(document), ["schema", "command", "base", "new", "gate", "verdict", "reason",
                               "rows", "warnings"])
        equal((document["base"], document["new"], document["verdict"], document["warnings"]),
              (store, store, "neutral", ["BASE and NEW are the same file"]))
        equal([row["verdict"] for row in document["rows"]], ["same"] * 6)


def test_any_number_of_threads_gives_the_same():
    with Folder() as folder:
        base, new = runs(folder, "base", work=FAST, load=SLOW), runs(folder, "new", work=SLOW)
        for args in ((base, new), (new, base), (base, base), ("--pid", "8", base, new),
                     (base, folder.name("none")), (folder.name("none"), new),
                     ("--max-memory", "1", base, new)):
            one = report("diff", "--threads", "1", *args)
            for threads in "2", "256":
                equal(report("diff", "--threads", threads, *args), one)
            equal(report("diff", *args), one)


def test_a_base_that_cannot_be_read_ends_the_reading_of_new():
    # Whoever asks for the first row of such a table waits for ever: where NEW is opened, and later.
    for table, columns in (("StringIds", "i AS id, '' AS value"),
                           ("NVTXT_LOSSES", "i AS atNs, i AS sourceId, i AS count, '' AS reason")):
        with Folder() as folder:
            new = runs(folder, "new", work=SLOW)
            with sqlite3.connect(new) as database:
                database.executescript(
                    "DROP TABLE %s; CREATE VIEW %s AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i "
                    "FROM n) SELECT %s FROM n WHERE i > 1" % (table, table, columns))
            database.close()
            base = folder.write("base.sqlite", "no store")
            got, out, errors = report("diff", "--threads", "2", base, new)
            equal((got, out), (65, ""), errors)
            contains(errors, base + " is not a database")


def test_runs_that_are_longer_are_a_regression():
    with Folder() as folder:
        base, new = runs(folder, "base", work=FAST), runs(folder, "new", work=SLOW)
        document = compared(0, base, new)
        row = document["rows"][0]
        equal((document["verdict"], row["name"], row["kind"], row["verdict"], row["deltaPct"],
               row["z"], row["runsNeeded"]),
              ("regression", ":work", "start/end", "slower", 100 * 50 / 102, None, None))
        equal(row["base"], {"count": 5, "total": 510, "avg": 102.0, "med": 102.0, "self": 510})
        equal(row["new"], {"count": 5, "total": 760, "avg": 152.0, "med": 152.0, "self": 760})
        equal(document["reason"], ":work got slower (+49.0 %)")
        equal(report("diff", "--gate", "2", base, new)[0], 2)
        equal(report("diff", "--gate", "60", base, new)[0], 0)
        text = report("diff", "--format", "markdown", base, new)[1]
        equal(text.startswith("**regression**: :work got slower"), True)
        text = report("diff", new, base)[1]
        equal((text.startswith("improvement: :work got faster"), "Runs Needed" in text), (True, False))


def test_a_kind_is_a_name_of_its_own():
    with Folder() as folder:
        rows = compared(3, f1(folder), runs(folder, "new", step=(50, 50)))["rows"]
        equal([(one["kind"], one["verdict"]) for one in rows if one["name"] == ":step"],
              [("start/end", "added"), ("push/pop", "removed")])


def test_few_runs_that_may_be_chance_are_inconclusive():
    """Three runs of gzip and three others, one of which was disturbed."""
    with Folder() as folder:
        base = runs(folder, "base", gzip=(1000, 1020, 1015))
        new = runs(folder, "new", gzip=(1010, 1195, 1205))
        document = compared(3, "--gate", "2", base, new)
        row = document["rows"][0]
        equal((document["verdict"], row["verdict"], row["runsNeeded"]),
              ("inconclusive", "inconclusive", 10))
        equal(document["reason"], ":gzip differs by +17.7 %, which may be chance: it ran 3 and 3 "
                                  "times, 10 on each side would decide")
        text = report("diff", base, new)[1].splitlines()
        equal(("Runs Needed" in text[2], text[-1].split()[-3:]), (True, ["10", "start/end", ":gzip"]))


def test_a_diff_without_ranges_is_inconclusive():
    with Folder() as folder:
        status, text, errors = report("diff", "--gate", "2", "--kind", "mark", f1(folder),
                                      f1(folder, "new.sqlite"))
        equal((status, errors, text.splitlines()[0]), (3, "", "inconclusive: BASE has no ranges"))


def test_names_that_differ_are_told():
    with Folder() as folder:
        base = runs(folder, "base", one=(100,), two=(90,), three=(80,), four=(70,))
        document = compared(3, base, runs(folder, "new", other=(100,)))
        equal(document["reason"],
              "the names that both have are 0.0 % of the time of BASE: less than 50 %; only BASE "
              "has :one, :two and 2 more; only NEW has :other")


# ---- Baselines ----------------------------------------------------------------------------------

def refuses(status, part, *args):
    got, text, errors = report("diff", *args)
    equal((got, text), (status, ""), errors)
    contains(errors, part)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def saved(folder, store, name="baseline.json", *args):
    path = folder.name(name)
    equal(report("diff", "--save-baseline", path, *args, store), (0, "", ""))
    return path


def test_a_baseline_is_as_good_as_its_store():
    """Names of all kinds, ranges in each other, and domains: the same in each format."""
    with Folder() as folder:
        odd = runs(folder, "odd", **{"caf\u00e9 \U0001f600 '\\x": FAST, "A:b": SLOW})
        news = (f1(folder, "other.sqlite"), odd, runs(folder, "new", work=SLOW))
        for store in (f1(folder), odd):
            baseline = saved(folder, store)
            for new in (path for path in news if path != store):
                for form in ("text", "json", "markdown"):
                    wanted = report("diff", "--format", form, store, new)
                    got = report("diff", "--format", form, "--baseline", baseline, new)
                    equal((got[0], got[1].replace(baseline, store)), wanted[:2])


def test_a_baseline_takes_the_selection_and_the_usual_store():
    with Folder() as folder:
        store = runs(folder, "base", work=FAST, other=SLOW)
        baseline = saved(folder, store, "some.json", "--match", "work")
        equal([one["name"] for one in json.loads(read(baseline))["names"]], [":work"])
        env = {**ENV, "NVTXT_STORE": store}
        for words in (("--baseline", baseline), ("--save-baseline", folder.name("again.json"))):
            done = subprocess.run([program("client", "nvtxt-report"), "diff", "--match=work", *words],
                                  env=env, stdout=subprocess.PIPE, timeout=DEADLINE)
            equal((done.returncode, done.stdout.startswith(b"neutral: ")),
                  (0, words[0] == "--baseline"))
        equal(read(folder.name("again.json")), read(baseline))


def test_new_is_saved_when_it_was_compared_but_not_a_regression():
    with Folder() as folder:
        fast, slow = runs(folder, "fast", work=FAST), runs(folder, "slow", work=SLOW)
        baseline = saved(folder, fast)
        of_fast, words = read(baseline), ("--baseline", baseline, "--save-baseline", baseline)
        status, text, errors = report("diff", "--gate=5", *words, slow)
        equal((status, errors), (2, "nvtxt-report: %s is not written: NEW is a regression\n" % baseline))
        equal(read(baseline), of_fast)
        equal(report("diff", *words, slow)[0], 0)
        equal(read(baseline) != of_fast, True)
        equal(report("diff", "--save-baseline", baseline, slow, fast)[0], 0)
        equal(read(baseline), of_fast)


def test_a_good_baseline_stays_when_another_cannot_be_written():
    with Folder() as folder:
        store = runs(folder, "base", work=FAST)
        baseline = saved(folder, store)
        good = read(baseline)
        refuses(1, "is not written: NEW has no ranges", "--save-baseline", baseline, "--kind=mark", store)

        done = subprocess.run([program("client", "nvtxt-report"), "diff", "--save-baseline", baseline,
                               store], env=ENV, stderr=subprocess.PIPE, preexec_fn=small_files,
                              timeout=DEADLINE)
        equal(done.returncode, 74, done.stderr)
        equal((read(baseline), [name for name in os.listdir(folder.path) if "json" in name]),
              (good, ["baseline.json"]))


def test_a_new_baseline_has_the_permissions_of_a_result():
    with Folder() as folder:
        before = os.umask(0o027)
        try:
            path = saved(folder, runs(folder, "base", work=FAST))
            equal(os.stat(path).st_mode & 0o777, 0o640)
            os.chmod(path, 0o600)
            saved(folder, folder.name("base.sqlite"))
            equal(os.stat(path).st_mode & 0o777, 0o600)
        finally:
            os.umask(before)


def test_a_baseline_of_another_program_is_inconclusive():
    with Folder() as folder:
        baseline = saved(folder, runs(folder, "base", parse=FAST, link=FAST))
        new = runs(folder, "new", train=SLOW)
        status, text, _ = report("diff", "--baseline", baseline, new)
        equal((status, text.splitlines()[0]),
              (3, "inconclusive: the names that both have are 0.0 % of the time of BASE: less than "
                  "50 %; only BASE has :link, :parse; only NEW has :train"))


def test_files_that_are_no_baseline():
    good = {"schema": "nvtxt-baseline/1", "kernels": False, "names": [
        {"name": ":a", "domain": "", "kind": "push/pop", "self": 3, "durations": [1, 2]}]}
    one = good["names"][0]
    with Folder() as folder:
        new, path = runs(folder, "new", work=FAST), folder.name("bad.json")
        for document, part in (
                ("", "it is no baseline: line 1"), ("{", "it is no baseline: line 1"),
                ("SQLite format 3\0", "it is no baseline"), ("[]", "it is no baseline"),
                ({**good, "schema": "nvtxt-report/1"}, "--save-baseline makes one"),
                ({**good, "schema": "nvtxt-baseline/2"},
                 "a baseline of version 2, and this program knows version 1"),
                ({**good, "names": {}}, 'has no "names"'),
                ({**good, "names": [5]}, 'name 1 has no "name"'),
                ({**good, "names": [one, {**one, "domain": None}]}, 'name 2 has no "name" or no "domain"'),
                ({**good, "names": [{**one, "kind": "mark"}]}, 'name 1 has no "kind"'),
                ({**good, "names": [{**one, "durations": []}]}, 'name 1 has no "durations"'),
                ({**good, "names": [{**one, "durations": 7}]}, 'name 1 has no "durations"'),
                ({**good, "names": [{**one, "self": -1}]}, 'or no "self"'),
                ({**good, "names": [{**one, "durations": [1, -2]}]}, "duration 2 is no integer"),
                ({**good, "names": [{**one, "durations": [1.5]}]}, "duration 1 is no integer"),
                ({**good, "names": [{**one, "durations": ["99999999999999999999"]}]}, "duration 1 is no"),
                ({**good, "names": [one, one]}, "it has a name twice"),
                ({**good, "kernels": True}, None)):
            text = document if isinstance(document, str) else json.dumps(document)
            folder.write("bad.json", text)
            refuses(65 if part else 64, part or "is a baseline of kernels, and ", "--baseline", path, new)
        whole = json.dumps(good)
        for end in range(len(whole)):
            folder.write("bad.json", whole[:end])
            if end % 7 == 0:
                refuses(65, "it is no baseline", "--baseline", path, new)
        folder.write("bad.json", json.dumps({**good, "names": [{**one, "durations": ["18446744073709551615"],
                                                                "self": "18446744073709551615"}]}))
        equal(report("diff", "--baseline", path, new)[0], 3)


def test_what_does_not_go_with_a_baseline():
    with Folder() as folder:
        store = runs(folder, "base", work=FAST)
        baseline = saved(folder, store)
        refuses(66, "cannot read", "--baseline", folder.name("absent"), store)
        refuses(66, "cannot read", "--baseline", folder.path, store)
        refuses(64, "takes NEW with --baseline; '%s' is too much" % store, "--baseline", baseline, store,
                store)
        refuses(64, "nothing to compare NEW with", "--save-baseline", baseline, "--gate=2", store)
        refuses(64, "nothing to compare NEW with", "--save-baseline", baseline, "--format=json", store)
        refuses(64, "belongs to the store itself", "--save-baseline", store, store)
        refuses(73, "cannot create", "--save-baseline", folder.name("no/such"), store)
        refuses(64, "diff needs BASE NEW", store)


# ---- Continuous integration ---------------------------------------------------------------------

HOSTILE = ("]]></failure>&amp;<!--", 'say "no"', "::error::stop", "50 %25, a: b", "two\nlines\r\x01\x1b[0m",
           "\ufffe\uffff \u2028 \u202e", "::stop-commands::x")


def hostile(folder, name, length, texts=HOSTILE):
    """Ten ranges of each name, of about that length."""
    store = runs(folder, name, **{"n%d" % index: (length, length + 1, length + 2) * 4
                                  for index in range(len(texts))})
    base = sqlite3.connect(store)
    with base:
        for index, text in enumerate(texts):
            base.execute("UPDATE NVTX_EVENTS SET text = ? WHERE text = ?", (text, "n%d" % index))
    base.close()
    return store


def cases(document):
    root = ElementTree.fromstring(document.encode())
    suite = root[0]
    equal((root.tag, suite.tag, len(root)), ("testsuites", "testsuite", 1))
    found = suite.findall("testcase")
    counts = [len(suite.findall("testcase/" + tag)) for tag in ("failure", "error", "skipped")]
    equal([int(suite.get(name)) for name in ("tests", "failures", "errors", "skipped")],
          [len(found), *counts])
    return suite, found


def test_junit_has_a_case_for_each_name():
    with Folder() as folder:
        base = runs(folder, "base", slow=FAST, fast=SLOW, same=FAST, few=(100, 100), gone=FAST)
        new = runs(folder, "new", slow=SLOW, fast=FAST, same=FAST, few=(150, 150), new=FAST)
        for options, wanted in ((), 0), (("--gate", "2"), 2):
            status, text, errors = report("diff", "--format=junit", *options, base, new)
            equal((status, errors), (wanted, ""))
        suite, found = cases(text)
        equal({one.get("name"): one[0].tag for one in found},
              {":slow": "failure", ":fast": "system-out", ":same": "system-out", ":few": "skipped",
               ":gone": "skipped", ":new": "skipped"})
        equal({one.get("classname") for one in found}, {"start/end"})
        equal({one.get("name"): one.get("value") for one in suite.find("properties")},
              {"base": base, "new": new, "verdict": "regression",
               "reason": ":slow got slower (+49.0 %)"})
        messages = {one.get("name"): one[0].get("message") for one in found}
        equal(messages[":slow"], "slower: the median of 5 and 5 is 102 ns and 152 ns (+49.0 %)")
        equal(messages[":few"], "inconclusive: the median of 2 and 2 is 100 ns and 150 ns (+50.0 %), "
                                "which may be chance: 5 on each side would decide")
        equal(messages[":gone"], "only BASE has it")


def test_github_has_a_command_for_each_name_that_got_slower():
    with Folder() as folder:
        base = runs(folder, "base", slow=FAST, few=(100, 100), same=FAST)
        new = runs(folder, "new", slow=SLOW, few=(150, 150), same=FAST)
        end = [" title=%3Aslow::slower: the median of 5 and 5 is 102 ns and 152 ns (+49.0 %25)",
               "::notice title=%3Afew::inconclusive: the median of 2 and 2 is 100 ns and 150 ns "
               "(+50.0 %25), which may be chance: 5 on each side would decide",
               "::notice title=nvtxt-report diff::regression: :slow got slower (+49.0 %25)"]
        status, text, _ = report("diff", "--format=github", base, new)
        equal((status, text.splitlines()), (0, ["::warning" + end[0], *end[1:]]))
        status, text, _ = report("diff", "--format=github", "--gate=5", base, new)
        equal((status, text.splitlines()), (2, ["::error" + end[0], *end[1:]]))
        equal(report("diff", "--format=github", new, base)[1].startswith("::notice title=%3Afew"), True)


def test_names_cannot_write_in_these_formats():
    with Folder() as folder:
        base, new = hostile(folder, "base", 100), hostile(folder, "new", 200)
        _, found = cases(report("diff", "--format=junit", base, new)[1])
        names = sorted(one.get("name") for one in found)
        equal(([one[0].tag for one in found], len(names)), (["failure"] * len(HOSTILE), len(HOSTILE)))
        equal([name for name in names if name[1:] in HOSTILE],
              sorted(":" + name for name in (*HOSTILE[:4], HOSTILE[6])))
        text = report("diff", "--format=github", base, new)[1]
        equal(text.count("\n"), len(HOSTILE) + 1, text)
        for line in text.splitlines():
            equal(line.startswith(("::warning title=", "::notice title=nvtxt-report diff::")), True, line)
            contains(line[2:].replace("::notice", ""), "::")
        contains(text, "title=%3Atwo%0Alines%0D")
        contains(text, "title=%3A50 %2525%2C a%3A b::")
        equal(any(char in text for char in "\r\x01\x1b\u2028\u202e"), False)


def test_check_has_a_case_and_commands_for_each_rule():
    with Folder() as folder:
        store = f1(folder)
        document = json.loads(report("check", "--format=json", store)[1])
        for level, failing in (("optimization", ("optimization", "warning", "error")),
                               ("error", ("error",))):
            status, text, _ = report("check", "--format=junit", "--fail-on", level, store)
            equal(status, report("check", "--fail-on", level, store)[0])
            _, found = cases(text)
            equal([one.get("name") for one in found],
                  [rule["identifier"] for rule in document["rules"]])
            worst = {rule["identifier"]: {message["type"] for message in rule["messages"]}
                     for rule in document["rules"]}
            equal([one.get("name") for one in found if one.find("failure") is not None],
                  [name for name, levels in worst.items() if levels & set(failing)])
            equal({one.get("classname") for one in found}, {store})
            contains(text, "optimization: Load imbalance: The busiest of the 2 threads of process 100 works for")
            lines = report("check", "--format=github", "--fail-on", level, store)[1].splitlines()
            equal(len([line for line in lines if line.startswith("::error ")]),
                  sum(message["type"] in failing for rule in document["rules"]
                      for message in rule["messages"]))
            equal(all(line.startswith(("::error ", "::warning ", "::notice ")) for line in lines), True)
        equal(any(levels & {"optimization"} for levels in worst.values()), True)


if __name__ == "__main__":
    run(globals())
