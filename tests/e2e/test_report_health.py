# SPDX-License-Identifier: Apache-2.0
"""What went wrong with sources is told of those that are selected and of the span alone."""
import json
import time

from client import Folder, contains
from lib import Daemon, equal, rows, run, wait_for
from parents import changed
from report import make_store, report

BAD = "Nonsense, secret%d\n"


def ok(got):
    status, out, error = got
    equal(status, 0, error)
    return out


def rules(*args):
    out = json.loads(report("check", "--format=json", *args)[1])
    return {rule["identifier"]: rule["status"] for rule in out["rules"]}


def summary(*args):
    return json.loads(ok(report("summary", "--format=json", *args)))


def write(folder, name, text):
    with open(folder.name(name), "w", encoding="utf-8") as file:
        file.write(text)
    return folder.name(name)


def ranges(pid, threads=1):
    """Ranges that fill their threads."""
    lines = ["TimeBase = Manual\n@RangePush, Time, ProcessId, ThreadId, Message\n"
             "@RangePop, Time, ProcessId, ThreadId\n"]
    for thread in range(threads):
        for n in range(4):
            lines.append("RangePush, %d, %d, %d, work\nRangePop, %d, %d, %d\n" % (
                1000 * n, pid, thread, 1000 * n + 900, pid, thread))
    return "".join(lines)


def good_and_bad(folder, bad=30):
    good = write(folder, "good.nvtxt", ranges(1))
    wrong = write(folder, "bad.nvtxt", ranges(2) + "".join(BAD % n for n in range(bad)))
    return make_store(folder, "x.sqlite", good, wrong, status=1)


def test_a_check_of_a_span_forgets_bad_lines_before_it():
    with Daemon() as daemon, daemon.session() as session:
        session.send("@Marker, Time, TimeBase, Message\n" + BAD % 1)
        session.send('#nvtxt-lost {"lines":3,"reason":"full"}\n')
        wait_for(lambda: daemon.query("SELECT 1 FROM NVTXT_LOSSES"), "the loss is stored")
        daemon.flush()
        at = time.time_ns()
        session.send("Marker, %d, Manual, m\n" % (at + 1))
        wait_for(lambda: daemon.query("SELECT 1 FROM NVTX_EVENTS WHERE eventType = 34"), "it is stored")
        since = "@%d.%09d" % divmod(at, 10 ** 9)
        equal(rules(daemon.store)["InputErrors"], "findings")
        equal(rules(daemon.store)["LossPresent"], "findings")
        got = rules("--since", since, daemon.store)
        equal((got["InputErrors"], got["LossPresent"]), ("no-issue", "no-issue"))
        equal(rules("--until", since, daemon.store)["InputErrors"], "findings")
        found = summary("--since", since, daemon.store)
        equal([(one["errors"], one["diagnostics"]) for one in found["sources"]], [(0, [])])
        equal(found["losses"], [])
        session.send(BAD % 2)
        wait_for(lambda: daemon.query("SELECT count(*) FROM NVTXT_DIAGNOSTICS") == [(2,)], "it is told")
        equal(rules("--since", since, daemon.store)["InputErrors"], "findings")
        equal([one["errors"] for one in summary("--since", since, daemon.store)["sources"]], [1])


def test_more_errors_than_a_store_keeps_count_where_they_came():
    with Daemon() as daemon, daemon.session() as session:
        before = time.time_ns()
        session.send("".join(BAD % n for n in range(1100)))
        wait_for(lambda: daemon.query("SELECT errors FROM NVTXT_SOURCES") == [(1100,)], "all are counted")
        kept = len(daemon.query("SELECT 1 FROM NVTXT_DIAGNOSTICS"))
        assert kept < 1100, kept
        equal([one["errors"] for one in summary("--since", "@%d" % (before // 10 ** 9),
                                                daemon.store)["sources"]], [1100])
        equal(summary("--until", "@%d" % (before // 10 ** 9 - 1), daemon.store)["sources"], [])


def test_sources_that_are_not_selected_are_left_out():
    with Folder() as folder:
        store = good_and_bad(folder)
        good, bad = folder.name("good.nvtxt"), folder.name("bad.nvtxt")
        for args in (["--source", good], ["--pid", "1"]):
            equal(rules(*args, store)["InputErrors"], "no-issue")
            equal([one["name"] for one in summary(*args, store)["sources"]], [good])
            text = ok(report("summary", *args, store))
            assert "bad.nvtxt" not in text, text
        equal(rules("--source", bad, store)["InputErrors"], "findings")
        equal(rows(store, "SELECT count(*) FROM NVTXT_DIAGNOSTICS"), [(30,)])


def test_losses_of_sources_that_are_not_selected_are_left_out():
    with Folder() as folder:
        stores = []
        for store in "ab":  # ids of sources are the same in both
            files = [write(folder, "%s%d.nvtxt" % (store, n), ranges(n)) for n in range(1, 6)]
            stores.append(make_store(folder, store + ".sqlite", *files))
            with changed(stores[-1]) as there:
                there.execute("INSERT INTO NVTXT_LOSSES SELECT firstNs, id, 1, 1, name, id FROM NVTXT_SOURCES")
                there.execute("INSERT INTO NVTXT_LOSSES VALUES (1000, NULL, 1, 1, 'of nobody', 9)")
                there.execute("INSERT INTO NVTXT_LOSSES VALUES (1000, 99, 1, 1, 'of one that went', 9)")

        def lost(*args):
            return [one["reason"] for one in summary(*args, *stores)["losses"]]
        equal(len(lost()), 14)
        for names in (["a1"], ["a3"], ["b5"], ["a2", "b1", "b4"]):
            files = [folder.name(name + ".nvtxt") for name in names]
            equal(lost(*("--source=" + file for file in files)), files)
        equal(lost("--pid=2", "--pid=4"), [folder.name(name + ".nvtxt") for name in ("a2", "a4", "b2", "b4")])


def test_people_see_twenty_bad_lines_of_a_source_and_their_number():
    with Folder() as folder:
        store, page = good_and_bad(folder), folder.name("page.html")
        text = ok(report("summary", store))
        equal(text.count("unknown command"), 20)
        contains(text, "... 10 more (--format json has all)")
        equal(len(summary(store)["sources"][1]["diagnostics"]), 30)
        report("html", "-o", page, store)
        with open(page, encoding="utf-8") as file:
            html = file.read()
        contains(html, "20 of 30 are shown")
        equal(html.count("<tr data-line="), 20)
        report("html", "-o", page, "--resolve-source-file", folder.name("bad.nvtxt"), store)
        with open(page, encoding="utf-8") as file:
            html = file.read()
        lines = html[html.index('<ul class="diagnostics">'):]
        equal(lines[:lines.index("</ul>")].count("<li>"), 20)
        contains(html, "secret1")


def test_texts_of_bad_lines_can_be_left_out():
    with Folder() as folder:
        store, page = good_and_bad(folder), folder.name("page.html")
        report("html", "--no-excerpts", "-o", page, store)
        with open(page, encoding="utf-8") as file:
            html = file.read()
        for text in (html, ok(report("summary", "--no-excerpts", store)),
                     ok(report("summary", "--no-excerpts", "--format=json", store))):
            assert "secret" not in text and "Nonsense" not in text
            contains(text, "unknown-command")


def test_sources_with_errors_have_names_and_errors():
    with Folder() as folder:
        text = ok(report("report", "--section=SourceHealth", "--apply-rules=no", good_and_bad(folder)))
        table = text[text.index("Sources with Errors"):]
        contains(table, "bad.nvtxt")
        assert "good.nvtxt" not in table, table


def test_where_no_source_has_errors_there_is_none():
    with Folder() as folder:
        page = folder.name("page.html")
        store = make_store(folder, "x.sqlite", write(folder, "good.nvtxt", ranges(1)))
        section = ("--section=SourceHealth", "--apply-rules=no", store)
        contains(ok(report("report", *section)), "  Sources with Errors\n    none\n")
        contains(ok(report("report", "--format=markdown", *section)), "#### Sources with Errors\n\nnone\n")
        ok(report("html", "-o", page, *section))
        with open(page, encoding="utf-8") as file:
            assert "Sources with Errors</bdi></p>\n<p>none</p>" in file.read()


def test_a_rule_of_the_package_without_issue_has_no_message():
    with Folder() as folder:
        store = make_store(folder, "x.sqlite", write(
            folder, "x.nvtxt", "@RangePush, Time, TimeBase, Message\n@RangePop, Time, TimeBase\n"
                               "RangePush, 0, Manual, once\nRangePop, 9, Manual\n"))
        found = json.loads(ok(report("check", "--format=json", store)))["rules"]
        without = [rule for rule in found if rule["status"] == "no-issue"]
        contains([rule["identifier"] for rule in without], "NoIterations")
        equal([rule["messages"] for rule in without], [[]] * len(without))


def test_a_range_takes_no_more_than_all_of_the_time():
    with Folder() as folder:
        store = make_store(folder, "x.sqlite", write(folder, "x.nvtxt", ranges(1, threads=3)))
        message = [rule for rule in json.loads(report("check", "--format=json", store)[1])["rules"]
                   if rule["identifier"] == "DominantRange"][0]["messages"][0]["text"]
        contains(message, "takes 92.3% of the time of all threads")  # 4 times 900 of 3900


def test_rules_that_nobody_wants_are_one_line():
    with Folder() as folder:
        store = good_and_bad(folder)
        for command in ("report", "check"):
            text = ok(report(command, "--apply-rules=no", store))
            equal(text.count("--apply-rules no"), 1)
            assert "not run" not in text, text


def test_iterations_that_were_asked_for_are_shown():
    with Folder() as folder:
        store = good_and_bad(folder)
        assert "(IterationStats)" not in ok(report("report", store))
        contains(ok(report("report", "--iterations", "work", store)), "(IterationStats)")
        assert "(IterationStats)" not in ok(report("report", "--iterations=work", "--set=basic", store))


run(globals())
