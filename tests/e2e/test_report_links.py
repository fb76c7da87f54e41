# SPDX-License-Identifier: Apache-2.0
"""Names of others in what rules say: shown as they are, and never a link, nor the end of one."""
import json

from builds import Build, Store
from client import Folder, contains
from lib import Daemon, equal, run
from report import make_store, report
from report_page import page
from test_report_logs import HOUR, send_lines, spread
from test_report_rules import STEPS, processes, ranges, varying

EVIL = "@url:https://evil.example/x:see the fix here@"
OPEN = "x@section:Foo"  # swallows the next link, if it is read as one
TINY = [(1, EVIL, 10 * i, 10 * i + 5) for i in range(1000)]
NAMED = ["@SetProcessName, ProcessId, Name", 'SetProcessName, 7, "%s"' % OPEN]


# A rule, its lines, the options; names in what it says, and the texts of its links.
SAID = (
    ("DominantRange", ranges((1, EVIL, 0, 51), (1, OPEN, 51, 100)), (), ["':%s' alone" % EVIL], ["the longest one"]),
    ("IdleGaps", ranges((1, OPEN, 0, 50), (1, EVIL, 90, 100)), (), ["from '%s' to '%s'" % (OPEN, EVIL)],
     ["the range after it"]),
    ("Serialized", ranges((1, EVIL, 0, 60), (2, "b", 60, 100)), (), [", '%s' (60 ns)" % EVIL], ["the longest range"]),
    ("LoadImbalance", NAMED + processes((7, 1, EVIL, 0, 100), (7, 2, "short", 0, 20)), (),
     ["of process 7 '%s' works" % OPEN, ", '%s' (100 ns)" % EVIL], ["longest range"]),
    ("LoadImbalance", NAMED + processes((7, 1, EVIL, 0, 100), (7, 2, "short", 0, 20), (8, 4, "worst", 0, 150),
                                        (8, 5, "short", 0, 10)), (), ["process 8"], ["longest range", "8", "7 " + OPEN]),
    ("HighVariation", [line.replace("n01", OPEN).replace("n00", EVIL) for line in varying(2)[0]], (),
     ["':%s': the longest" % OPEN, "of ':%s'" % OPEN], ["the longest one", ":" + OPEN, ":" + EVIL]),
    ("TinyRanges", ranges(*TINY), (), ["Most of them are '%s' (1000)" % EVIL], ["such a one"]),
    ("MixedKinds", ranges((1, EVIL, 0, 10)) + ['RangeStart, 20, 5, 1, "%s"' % EVIL, "RangeEnd, 30, 5, 1"], (),
     ["':%s' is the name" % EVIL], []),
    ("NoIterations", ranges(*((1, OPEN, start, start + 1) for start in range(0, 50, 10))), (),
     ["--iterations '%s' (5 ranges)" % OPEN.replace("@", "\\@")], []),
    ("WarmUp", ranges((1, OPEN, 0, 16), *((1, OPEN, start, end) for _, _, start, end in STEPS[1:])),
     ("--iterations=" + OPEN.replace("@", "\\@"),), [], ["what it does"]),
)


def links_of(article):
    return {at.text(): at["href"] for at in article.all("a", href=True)}


def check_page(article, texts, links):
    for text in texts:
        contains(article.text(), text)
    found = links_of(article)
    equal(sorted(found), sorted(links))
    for href in found.values():
        equal(href.startswith(("#sel=", "#t=")), True, href)


def texts_of(document):
    """All strings of a JSON document."""
    if isinstance(document, str):
        yield document
    for member in document.values() if isinstance(document, dict) else document if isinstance(document, list) else ():
        yield from texts_of(member)


def check_forms(rule, store, texts, *options):
    for form in "text", "markdown", "json", "junit", "github":
        status, out, err = report("check", "--rule", rule, "--fail-on", "error", "--format", form, *options, store)
        equal((status, err), (0, ""))
        equal("\ufffd" in out, False, form)
        said = "\n".join(texts_of(json.loads(out))) if form == "json" else out
        for text in texts if form in ("text", "json") else ():
            contains(said, text)


def test_a_name_in_a_finding_is_no_link():
    for rule, lines, options, texts, links in SAID:
        with Folder() as folder:
            store = make_store(folder, "x.sqlite", folder.write("x.nvtxt", "\n".join(lines) + "\n"))
            check_page(page("--rule", rule, *options, store)[1].one("rule-" + rule), texts, links)
            # The key metrics are details, which check does not print.
            check_forms(rule, store, [text for text in texts if not text.startswith("of ':")], *options)


def test_a_name_turns_no_words_but_its_own():
    """What a name begins ends with it: an override by its own end, isolates with all that is in them."""
    closed = (("\u202epng.top", "\u202c"), ("\u2067a\u202eb", "\u2069"), ("\u202aa\u2066b\u2068c", "\u2069\u2069\u202c"),
              ("\u202ea\u202c", ""), ("\u2067a\u202eb\u2069", ""), ("\u202c\u2069a", ""), ("\u2026 \u2039a", ""))
    for name, end in closed:
        with Folder() as folder:
            text = "\n".join(ranges((1, name, 0, 90), (1, "b", 90, 100)))
            store = make_store(folder, "x.sqlite", folder.write("x.nvtxt", text + "\n"))
            status, out, err = report("check", "--rule", "DominantRange", "--format", "json", store)
            equal((status, err), (0, ""))
            contains("\n".join(texts_of(json.loads(out))), "':%s%s' alone" % (name, end))


def test_a_line_of_a_log_is_no_link():
    with Daemon() as daemon:
        send_lines(daemon, spread(900, 0, 9 * HOUR, 6, "job %d done")
                   + spread(9, 9 * HOUR + 1, 10 * HOUR, 3, EVIL + " %d"))
        window = ("--since", "@%d" % (9 * 3600), "--until", "@%d" % (10 * 3600))
        article = page("--rule", "ErrorBurst", *window, daemon.store)[1].one("rule-ErrorBurst")
        check_page(article, ["one: '" + EVIL, "err90" + EVIL], [])
        check_forms("ErrorBurst", daemon.store, ["one: '" + EVIL], *window)


def test_a_step_of_a_build_is_no_link():
    with Folder() as folder:
        store = Store()
        Build(store, 4, jobs=3, text=OPEN)
        path = store.save(folder, "a.sqlite")
        article = page("--rule", "Builds", path)[1].one("rule-Builds")
        contains(article.text(), "'%s': " % OPEN)
        equal({href.split("=")[0] for href in links_of(article).values()}, {"#sel"})
        check_forms("Builds", path, ["'%s': " % OPEN])


def test_a_text_of_a_metric_is_no_link():
    rule = """Identifier: "Told" DisplayName: "Told" Description: ""
Findings { Condition: "1" Type: Warning Message: "{capture__attribute_path} @range:1:the first@" }
"""
    with Folder() as folder:
        folder.write("told.rule", rule)
        folder.write("x.nvtxt", "ProcessId = 1\n@Marker, Time, Message\nMarker, 1, a\n")
        store = make_store(folder, OPEN, folder.name("x.nvtxt"))
        options = ("--section-folder", folder.path)
        check_page(page("--rule", "Told", *options, store)[1].one("rule-Told"), [OPEN + " the first"], ["the first"])
        check_forms("Told", store, [], *options)


if __name__ == "__main__":
    run(globals())
