# SPDX-License-Identifier: Apache-2.0
"""Pages of nvtxt-report html in Chromium: what they show, by keys, by search, by links, saved, without
JavaScript. Skipped without Chromium, its driver or selenium."""
import os
import re

import browser
from client import Folder
from lib import equal, run
from report import f1, make_export, make_segments
from report_window import HOSTILE, Page, export_of, flame_walk, opened, page, range_lines, store_of, write

browser.need()
Keys = browser.Keys

WHOLE = {"start": "-4", "end": "264"}  # of F1
LINE = re.compile(r"(.*), start ([\d.]+ [µm]?n?s), duration ([\d.]+ [µm]?n?s), depth (\d+), (.+)", re.DOTALL)
DAMAGED = ("#t=1..x", "#sel=999", "#q=%E0%A4", "#t=5..1", "#t=1..2&t=3..4", "#nothing", "#=", "#sel=", "#span=1", "#span=9..8",
           "#t=1..2&", "#sel=1&x=2", "#t=" + "9" * 30 + "..1")
# What is said of what is not here, and the view that is shown: the nearest.
MISSING = (("#t=99999..100000", "The time 99999 to 100000 of the link is not here; the nearest is shown.", {"start": "246", "end": "260"}),
           ("#t=-500..-300", "The time -500 to -300 of the link is not here; the nearest is shown.", {"start": "0", "end": "200"}),
           ("#t=40..60&sel=999", "The event 999 of the link is not here; the nearest is shown.", {"start": "40", "end": "60"}),
           ("#span=900..950&sel=1", "The time 900 to 950 of the link is not here; the nearest is shown.", {"start": "-4", "end": "264"}))


# ---- What a page is -----------------------------------------------------------------------------

def test_opens_offline_and_silent():
    with Folder() as folder:
        at = opened(folder, f1(folder))
        equal(at.run("return [nvtxtReport.version, nvtxtReport.ready, nvtxtReport.events, nvtxtReport.selected]"), [1, True, 15, None])
        equal(at.view(), WHOLE)
        equal(at.run("return document.documentElement.dataset.ready"), "1")
        equal(at.run("const c = document.querySelector('#timeline canvas'); return [c.tabIndex, c.getAttribute('role')]"), [0, "img"])
        assert "15 events" in at.run("return document.querySelector('#timeline canvas').getAttribute('aria-label')")
        at.quiet()


def test_a_page_without_events_says_so():
    with Folder() as folder:
        at = opened(folder, store_of(folder))
        equal(at.run("return [nvtxtReport.events, nvtxtReport.selected, nvtxtReport.select(1)]"), [0, None, False])
        equal(at.texts(".picture-message"), ["This report has no events."] * 2)
        equal(at.run("return [...document.querySelectorAll('.picture')].every((part) => part.hidden)"), True)
        at.open(folder.name("page.html"), "#sel=3")
        equal(at.driver.find_element("id", "live").text, "This report has no events, so there is nothing to select.")
        at.quiet()


def test_stores_of_all_kinds_have_a_page():
    with Folder() as folder:
        store, (segments, _) = f1(folder), make_segments(folder)
        export = make_export(folder, "export.sqlite", store, text=False, text_id=True)
        cases = (((store, f1(folder, "again.sqlite")), 30, 4), ((export,), 15, 2), ((segments,), 15, 2),
                 (("--iterations", "step", store), 15, 2), (("--nvtx-include", "compute/", store), 5, 0))
        for args, events, steps in cases:
            at = opened(folder, *args)
            equal(at.run("return nvtxtReport.events"), events, args)
            at.search("step")
            equal(at.text("search-count"), "%d matches" % steps, args)
            at.key(Keys.ESCAPE, Keys.HOME)
            start, length = ("30", "60") if steps == 0 else ("0", "100")
            equal(LINE.fullmatch(at.text("live")).groups()[2], length + " ns", args)
            equal(at.selected()["start"], start)
            # Each row is found, and leads to itself.
            rows = at.run("return [...document.querySelectorAll('#event-grid tr[data-row]')].map((r) => r.dataset.row)")
            equal([len(rows), len(set(rows))], [events, events])
            for row in rows:
                equal(at.run("return nvtxtReport.select(arguments[0])", row), True, row)
                equal(str(at.selected()["row"]), row)
            at.quiet()


def test_events_of_a_second_store_have_links_of_their_own():
    with Folder() as folder:
        path = write(folder, f1(folder), f1(folder, "again.sqlite"))
        at = page()
        at.open(path)
        at.run("nvtxtReport.select('1:9')")
        at.wait("return location.hash === '#t=-4..264&sel=1:9'")
        said = at.text("live")
        assert said.endswith("of process 100, store 2"), said
        at.open(path, "#sel=1:9")
        equal(at.text("live"), said)
        at.key(Keys.ESCAPE)
        at.wait("return location.hash === ''")


def test_more_events_than_wanted_are_merged():
    with Folder() as folder:
        lines = [line for i in range(20000) for line in range_lines(1000 + i * 100, 1060 + i * 100, "name %d" % (i % 20), 9)]
        at = opened(folder, "--max-events", "5000", f1(folder), store_of(folder, *lines))
        equal(at.run("return nvtxtReport.events"), 20015)
        assert re.search(r"\d+ of 20015 events are drawn singly", at.text("banner")), at.text("banner")
        at.key(Keys.END, "w", "w", Keys.HOME)
        row = at.run("return [...document.querySelectorAll('#event-grid tr')].find((r) => r.textContent.includes('ranges merged'))?.dataset.row")
        assert row, at.text("event-grid")
        # The flame graph is that of all events: it has the sums of its table.
        at.key(Keys.HOME, picture="flame-graph")
        equal(at.text("live").split(" (")[0], "name 0, total 60 µs")
        at.quiet()


# ---- Keys ---------------------------------------------------------------------------------------

def test_walks_f1_by_keys():
    with Folder() as folder:
        at = opened(folder, f1(folder))
        at.walk((Keys.HOME, "step, start 0 ns, duration 100 ns, depth 0, thread 1"),
                (Keys.ARROW_UP, "no parent"),
                (Keys.ARROW_LEFT, "no previous one here"),
                (Keys.ARROW_DOWN, "load, start 10 ns, duration 20 ns, depth 1, thread 1"),
                (Keys.ARROW_DOWN, "no child"),
                (Keys.ARROW_LEFT, "no previous one here"),
                (Keys.ARROW_RIGHT, "compute, start 30 ns, duration 60 ns, depth 1, thread 1"),
                (Keys.ARROW_RIGHT, "no next one here"),
                (Keys.ARROW_DOWN, "kernel, start 40 ns, duration 20 ns, depth 2, thread 1"),
                (Keys.ARROW_RIGHT, "kernel, start 60 ns, duration 20 ns, depth 2, thread 1"),
                (Keys.ARROW_LEFT, "kernel, start 40 ns, duration 20 ns, depth 2, thread 1"),
                (Keys.ARROW_UP, "compute, start 30 ns, duration 60 ns, depth 1, thread 1"),
                (Keys.ARROW_UP, "step, start 0 ns, duration 100 ns, depth 0, thread 1"),
                (Keys.ARROW_RIGHT, "step, start 120 ns, duration 140 ns, depth 0, thread 1"))
        equal({**at.selected(), "row": None}, {"row": None, "name": ":step", "message": "step", "store": 0, "start": "120", "end": "260", "depth": 0})
        at.key(Keys.ARROW_RIGHT)
        equal(at.selected()["start"], "120", "where there is none the selection stays")
        at.key(Keys.ENTER)
        equal(at.view(), {"start": "110", "end": "264"})
        for key in "0", "+", "-", "w", "s", "a", "d":
            at.key(key)
            view = at.view()
            length = int(view["end"]) - int(view["start"])
            expected = {"0": 268, "+": 134, "-": 268, "w": 179, "s": 268, "a": 268, "d": 268}[key]
            assert abs(length - expected) <= 2, (key, view)
        at.key("w", "w", "a")
        view = at.view()
        at.key("d")
        assert int(at.view()["start"]) > int(view["start"]), (view, at.view())
        at.key("0")
        equal(at.view(), WHOLE)
        at.key(Keys.ESCAPE)
        equal(at.selected(), None)
        at.key(Keys.ARROW_RIGHT)
        equal(at.selected()["start"], "0", "without a selection every arrow begins at the first event")
        at.key("?")
        equal(at.run("return document.getElementById('help').open"), True)
        at.press(Keys.ESCAPE)
        equal(at.run("return document.getElementById('help').open"), False)
        at.quiet()


def test_walks_marks_and_start_end_ranges_in_their_lanes():
    with Folder() as folder:
        at = opened(folder, f1(folder))
        at.key("/")
        equal(at.run("return document.activeElement.id"), "search")
        at.driver.switch_to.active_element.send_keys("TICK")
        equal(at.text("search-count"), "3 matches")
        at.walk(("n", "tick, start 20 ns, duration 0 ns, depth 0, thread 2"),
                (Keys.ARROW_RIGHT, "tick, start 60 ns, duration 0 ns, depth 0, thread 2"),
                ("p", "tick, start 20 ns, duration 0 ns, depth 0, thread 2"),
                ("p", "tick, start 120 ns, duration 0 ns, depth 0, thread 2"),
                (Keys.ARROW_RIGHT, "no next one here"),
                (Keys.ARROW_DOWN, "no child"),
                (Keys.ARROW_UP, "no parent"))
        at.search("request")
        equal(at.text("search-count"), "2 matches")
        at.walk((Keys.ESCAPE, "nothing is selected"),
                ("n", "request, start 5 ns, duration 100 ns, depth 0, thread 1"),
                (Keys.ARROW_RIGHT, "request, start 50 ns, duration 20 ns, depth 0, thread 2"))
        at.key("m")
        at.key(Keys.ARROW_LEFT)
        at.walk(("m", "45 ns from 5 ns to 50 ns"))
        at.search("nowhere")
        equal(at.text("search-count"), "0 matches")
        at.walk(("n", "0 matches"))
        at.driver.find_element("id", "search").send_keys(Keys.BACKSPACE * 7)
        equal(at.text("search-count"), "")


def test_the_flame_graph_has_the_same_keys():
    with Folder() as folder:
        at = opened(folder, f1(folder))
        for key, said in ((Keys.HOME, "step, total 240 ns (82.8 %), self 40 ns, 2 ranges, depth 0"),
                          (Keys.ARROW_DOWN, "compute, total 170 ns (58.6 %), self 80 ns, 2 ranges, depth 1"),
                          (Keys.ARROW_RIGHT, "load, total 30 ns (10.3 %), self 30 ns, 2 ranges, depth 1"),
                          (Keys.ARROW_RIGHT, "no next one here"), (Keys.ARROW_DOWN, "no child"),
                          (Keys.ARROW_UP, "step, total 240 ns (82.8 %), self 40 ns, 2 ranges, depth 0"),
                          (Keys.ARROW_UP, "no parent"), (Keys.ENTER, "264 ns in view"), ("+", "132 ns in view"), ("0", "290 ns in view")):
            at.key(key, picture="flame-graph")
            equal(at.text("live"), said, repr(key))
        at.search("kernel")
        at.key("n", picture="flame-graph")
        equal(at.text("live"), "kernel, total 90 ns (31.0 %), self 90 ns, 3 ranges, depth 2")
        at.key(Keys.ESCAPE, picture="flame-graph")
        equal([at.text("flame-selected"), at.text("live")], ["", "nothing is selected"])
        at.quiet()


def test_the_flame_graph_has_the_stacks_of_what_is_selected():
    with Folder() as folder:
        at = opened(folder, "--match", "kernel", f1(folder))
        equal(flame_walk(at), ["step, total 0 ns, self 0 ns, 0 ranges, depth 0, not selected; 90 ns (100.0 %) below it",
                               "compute, total 0 ns, self 0 ns, 0 ranges, depth 1, not selected; 90 ns (100.0 %) below it",
                               "kernel, total 90 ns (100.0 %), self 90 ns, 3 ranges, depth 2"])
        # In the timeline, siblings have one parent, which is not here.
        at.walk((Keys.HOME, "kernel, start 0 ns, duration 20 ns, depth 2, thread 1"),
                (Keys.ARROW_RIGHT, "kernel, start 20 ns, duration 20 ns, depth 2, thread 1"), (Keys.ARROW_RIGHT, "no next one here"))
        at.run("nvtxtReport.select(arguments[0])", at.run("return document.querySelector('#event-grid tr[data-row]:last-child').dataset.row"))
        at.walk((Keys.ARROW_LEFT, "no previous one here"),)
        at.search("compute")
        equal(at.text("search-count"), "0 matches")
        at.key("n", picture="flame-graph")
        equal(at.text("live"), "compute, total 0 ns, self 0 ns, 0 ranges, depth 1, not selected; 90 ns (100.0 %) below it")
        at.quiet()


def cut_lines():
    lines = []
    for i in range(3000):
        at = i * 1000
        lines += ['RangePush, %d, 1, "step %d"' % (at, i % 3), 'RangePush, %d, 1, "op %d"' % (at + 100, i % 5), "RangePop, %d, 1" % (at + 300 + i % 7),
                  "RangePop, %d, 1" % (at + 600)]
    return lines + range_lines(3000000, 100000000, "long", 2) + range_lines(3000010, 90000000, "long", 2)


def test_the_flame_graph_is_of_all_events():
    with Folder() as folder:
        store = store_of(folder, *cut_lines())
        whole = flame_walk(opened(folder, store))
        at = opened(folder, "--max-events", "100", store)
        equal(flame_walk(at), whole)
        equal(len(whole), 2 + 3 + 15)
        at.quiet()


def test_says_what_merged_events_are():
    with Folder() as folder:
        path = write(folder, "--max-events", "100", store_of(folder, *cut_lines()))
        at = page()
        at.open(path)
        single = int(re.match(r"\d+", at.text("banner")).group())
        merged = at.run("return nvtxtReport.events") - single
        rest = re.sub(r"\B(?=(\d{3})+$)", "\u202f", str(merged))
        # Merged events are counted by name: `op 3` is every fifth of the inner ones, `step 1` every third of the outer ones.
        for text, wanted, span in (("op 3", 600, "from 3.1 µs to 2.998302 ms"), ("STEP 1", 1000, "from 1 µs to 2.9986 ms"),
                                   ("long", 2, ""), ("nobody", 0, "")):
            at.search(text)
            got = at.text("search-count").replace("\u202f", "")
            matches, hidden, at_times = re.fullmatch(r"(\d+) matches(?:; (\d+) merged events of such names, (from .* to .*))?", got).groups()
            equal([int(matches) + int(hidden or 0), at_times or ""], [wanted, span], got)
            if not int(matches):
                at.key("n")
                equal(at.text("live"), at.text("search-count"))
        at.search("")
        row = at.run("nvtxtReport.select(1); return nvtxtReport.selected")
        assert row["merged"] > 1, row
        assert "Self time" not in at.text("selection") and "Events" + str(row["merged"]) in at.text("selection"), at.text("selection")
        at.search("long")
        at.key("n")
        assert "%s events of this page are merged" % rest in at.text("selection"), at.text("selection")
        at.open(path, "#t=2000..5000&sel=5&q=long")
        equal([at.view(), at.selected()], [{"start": "2000", "end": "5000"}, None])
        assert at.text("live").startswith("The event of the link is not drawn singly"), at.text("live")
        equal(at.text("search-count").split(";")[0], "2 matches")
        at.quiet()


# ---- The pointer --------------------------------------------------------------------------------

def test_follows_the_pointer():
    with Folder() as folder:
        at = opened(folder, f1(folder))
        box = at.run("const c = document.getElementById('timeline-canvas'); c.scrollIntoView(); const b = c.getBoundingClientRect(); "
                     "return [b.left, b.top, b.width]")

        def mouse(kind, share, down=150, **more):
            at.ask("Input.dispatchMouseEvent", type=kind, x=box[0] + share * box[2], y=box[1] + down, **{"button": "none", **more})

        def pointed(share):
            view = at.view()
            return int(view["start"]) + share * (int(view["end"]) - int(view["start"]))

        mouse("mouseWheel", 0.25, deltaX=0, deltaY=-600, modifiers=2)
        at.wait("return nvtxtReport.view.start !== '-4'")
        assert abs(pointed(0.25) - 63) <= 2, at.view()
        mouse("mousePressed", 0.5, button="left", clickCount=1)
        before = pointed(0.5)
        mouse("mouseMoved", 0.4, button="left", buttons=1)
        mouse("mouseMoved", 0.3, button="left", buttons=1)
        mouse("mouseReleased", 0.3, button="left", clickCount=1)
        assert abs(pointed(0.3) - before) <= 2, (before, at.view())
        at.key("0")
        # A click on the row of compute and load, in the part of compute; none selects nothing.
        for name, share, down in (("step", 0.2, None), (None, 0.42, None)):
            at.run("nvtxtReport.select(1)")
            top = down or next(y for y in range(40, 400, 4) if hits(at, share if name else 0.2, y, "step"))
            mouse("mousePressed", share, top, button="left", clickCount=1)
            mouse("mouseReleased", share, top, button="left", clickCount=1)
            equal(at.selected() and at.selected()["message"], name)
        at.quiet()


def hits(at, share, down, name):
    """Whether the name is under that place, by what the page says of the pointer there."""
    at.run("const c = document.getElementById('timeline-canvas'); const b = c.getBoundingClientRect(); c.dispatchEvent(new PointerEvent("
           "'pointermove', { clientX: b.left + arguments[0] * b.width, clientY: b.top + arguments[1] }))", share, down)
    return at.text("tip").startswith(name + " ·")


# ---- Links --------------------------------------------------------------------------------------

def test_opens_the_view_of_a_link():
    with Folder() as folder:
        path = write(folder, f1(folder))
        at = page()
        at.open(path)
        row = at.run("nvtxtReport.select(1); return nvtxtReport.selected.row")
        equal(row, 1)
        at.key(Keys.ENTER, "s", "s")
        view = at.view()
        at.wait("return location.hash === '#t=' + nvtxtReport.view.start + '..' + nvtxtReport.view.end + '&sel=1'")
        at.open(path, at.run("return location.hash"))
        equal([at.view(), at.selected()["row"]], [view, row])
        at.open(path, "#t=40..60&q=kern%%65l&sel=%d" % row)
        equal([at.view(), at.text("search-count"), at.selected()["row"]], [{"start": "40", "end": "60"}, "3 matches", row])
        # Another one while the page is open, and none.
        at.run("location.hash = '#t=100..200&sel=2'")
        at.wait("return nvtxtReport.selected?.row === 2")
        equal([at.view(), at.text("search-count")], [{"start": "100", "end": "200"}, ""])
        at.run("location.hash = ''")
        at.wait("return nvtxtReport.selected === null")
        equal(at.view(), WHOLE)
        at.run("location.hash = '#t=100..200'")
        at.wait("return nvtxtReport.view.start === '100'")
        at.run("location.hash = '#findings'")
        at.run("return new Promise((done) => setTimeout(done, 50))")
        equal(at.view(), {"start": "100", "end": "200"}, "a place in the page is no view")
        at.quiet()


def test_says_that_a_link_is_damaged():
    with Folder() as folder:
        path = write(folder, f1(folder))
        at = page()
        for damaged in DAMAGED:
            at.open(path, damaged)
            equal([at.view(), at.selected()], [WHOLE, None], damaged)
            assert at.text("live").endswith("; the whole view is shown."), (damaged, at.text("live"))
            at.quiet()
        at.open(path, "#t=100..200&sel=2&q=step")
        at.run("location.hash = '#sel=nobody'")
        at.wait("return nvtxtReport.selected === null")
        equal([at.view(), at.text("search-count")], [WHOLE, ""])
        assert at.text("live").endswith("; the whole view is shown."), at.text("live")
        at.run("location.hash = '#t=100..200'")
        at.wait("return nvtxtReport.view.start === '100'")
        equal(at.text("live"), "")


def test_what_a_link_names_and_is_not_there_is_said():
    with Folder() as folder:
        path = write(folder, f1(folder))
        at = page()
        for fragment, said, view in MISSING:
            at.open(path, fragment)
            equal([at.text("live"), at.view()], [said, view], fragment)
            at.quiet()


def test_works_again_when_it_was_saved():
    with Folder() as folder:
        at = opened(folder, f1(folder))
        at.key(Keys.HOME, Keys.ARROW_DOWN, "w")
        at.search("kernel")
        at.wait("return document.querySelectorAll('#event-grid tbody tr').length > 0")
        at.key("?")
        saved = folder.name("saved.html")
        with open(saved, "w", encoding="utf-8") as file:
            file.write("<!DOCTYPE html>\n" + at.run("return document.documentElement.outerHTML"))
        at.open(saved)
        at.quiet()
        equal(at.run("return [nvtxtReport.events, nvtxtReport.selected]"), [15, None])
        equal([at.text("search-count"), at.text("live"), at.run("return document.getElementById('help').open")], ["", "", False])
        equal(at.run("return document.querySelectorAll('#event-grid tbody tr').length"), 15)
        at.walk((Keys.HOME, "step, start 0 ns, duration 100 ns, depth 0, thread 1"))


# ---- Reading without seeing ---------------------------------------------------------------------

def test_has_a_treegrid():
    with Folder() as folder:
        at = opened(folder, f1(folder))
        rows = at.run("return [...document.querySelectorAll('#event-grid tr[data-row]')].map((r) => "
                      "[r.querySelector('bdi').textContent, r.ariaLevel, r.ariaExpanded])")
        equal(rows[:4], [["request", "1", None], ["request", "1", None], ["step", "1", "true"], ["load", "2", None]])
        equal(at.run("const g = document.getElementById('event-grid'); return [g.getAttribute('role'), g.ariaRowCount]"), ["treegrid", "16"])
        row = at.driver.find_element("css selector", "#event-grid tr[aria-expanded]")
        row.send_keys(Keys.ARROW_LEFT)
        equal(at.run("return document.querySelectorAll('#event-grid tr[data-row]').length"), 11)
        at.press(Keys.ENTER)
        equal(at.selected()["message"], "step")
        at.press(Keys.ARROW_RIGHT)
        equal(at.run("return document.querySelectorAll('#event-grid tr[data-row]').length"), 15)
        # It has what is in view: step, load, wait and the first request.
        at.run("location.hash = '#t=12..18'")
        at.wait("return document.querySelectorAll('#event-grid tr[data-row]').length === 4")


def test_the_treegrid_has_at_most_200_events():
    with Folder() as folder:
        at = opened(folder, store_of(folder, *(line for i in range(500) for line in range_lines(i * 10, i * 10 + 8, "r"))))
        equal(at.run("return [document.querySelectorAll('#event-grid tr[data-row]').length, "
                     "document.getElementById('event-grid').getAttribute('aria-rowcount')]"), [200, "501"])
        at.run("nvtxtReport.select(400)")
        at.wait("return document.querySelector('#event-grid tr[aria-selected=true]')?.dataset.row === '400'")
        equal(at.run("return [document.querySelectorAll('#event-grid tr[data-row]').length, "
                     "document.querySelector('#event-grid tr[aria-selected=true]').ariaRowIndex]"), [200, "401"])


def test_names_every_control():
    with Folder() as folder:
        at = opened(folder, f1(folder))
        tree = at.ask("Accessibility.getFullAXTree")["nodes"]
        roles = ("button", "searchbox", "textbox", "link", "image", "img", "treegrid", "toolbar", "region", "dialog", "row", "status",
                 "DisclosureTriangle", "table", "figure", "navigation")
        nodes = [(node["role"]["value"], node.get("name", {}).get("value", ""), node) for node in tree if not node["ignored"]]
        named = [node for node in nodes if node[0] in roles or any(p["name"] == "focusable" for p in node[2].get("properties", ()))]
        equal([node[2] for node in named if not node[1].strip() and node[0] not in ("table", "row", "status", "main")], [])
        for role in ("button", "searchbox", "link", "treegrid", "image"):
            assert any(node[0] == role for node in named), (role, [node[:2] for node in named])
        equal(at.run("return document.querySelectorAll('[style],[onclick],[onload]').length"), 0)


# ---- Bad input ----------------------------------------------------------------------------------

def test_shows_hostile_texts_as_text():
    with Folder() as folder:
        at = opened(folder, export_of(folder, [(i * 100, i * 100 + 90, 1, text) for i, text in enumerate(HOSTILE)]))
        seen = []
        for row in at.run("return [...document.querySelectorAll('#event-grid tr[data-row]')].map((r) => r.dataset.row)"):
            at.run("nvtxtReport.select(arguments[0])", row)
            seen.append(at.selected()["message"])
            assert LINE.fullmatch(at.text("live")), at.text("live")
            equal(at.run("return document.querySelector('#live bdi').textContent"), at.text("live").split(", start ")[0])
        equal(seen, HOSTILE)
        equal(at.run("return document.querySelectorAll('#evil, #evil2, img').length"), 0)
        equal(at.run("return document.querySelectorAll('script').length"), 2)
        for text in HOSTILE[:4]:
            at.run("const s = document.getElementById('search'); s.value = arguments[0]; s.dispatchEvent(new Event('input'))", text)
            equal(at.text("search-count"), "1 matches", text)
        at.quiet()


def test_has_exact_times_at_the_ends_of_int64():
    with Folder() as folder:
        low, high = -(1 << 63), (1 << 63) - 1
        at = opened(folder, export_of(folder, [
            (low, high, 1, "all time"), (low, low, 1, "empty"), (0, 10, 2, "crossing a"), (5, 15, 2, "crossing b"), (12, 20, 2, "crossing c"),
            (100, None, 2, "open"), (200, 190, 2, "backward"), (high - 3, high, 3, "three ns")]))
        at.key(Keys.HOME)
        equal([at.selected()["start"], at.selected()["end"]], ["-9223372036854775808", "9223372036854775807"])
        at.walk((Keys.HOME, "all time, start 0 ns, duration 18446744073.709551615 s, depth 0, thread 1"),
                (Keys.ARROW_DOWN, "empty, start 0 ns, duration 0 ns, depth 1, thread 1"),
                (Keys.ARROW_UP, "all time, start 0 ns, duration 18446744073.709551615 s, depth 0, thread 1"))
        assert "Self time18446744073.709551615 s" in at.text("selection"), at.text("selection")

        def look_for(name):
            at.search(name)
            at.key("n")
            return at.selected()
        equal(look_for("crossing c")["depth"], 1)
        at.key(Keys.ARROW_UP)
        equal(at.selected()["message"], "crossing b")
        equal([look_for("three")["start"], at.selected()["end"]], ["9223372036854775804", "9223372036854775807"])
        equal(look_for("open")["end"], "9223372036854775807")
        assert at.text("live").endswith(", open") and "open" in at.text("selection"), at.text("live")
        look_for("backward")
        assert ", duration 0 ns, " in at.text("live") and "its end lay before its start" in at.text("selection"), at.text("selection")
        at.key(Keys.ENTER, "w", "w")
        at.quiet()


FAR = 1795000000000000000


def far_store(folder):
    """One mark at 0, and what follows it after 57 years."""
    times = ((0, 1000, "outer"), (100, 200, "alpha"), (217, 300, "beta"), (90 * 86400 * 10**9, 90 * 86400 * 10**9 + 1000, "later"))
    lines = ['Marker, 0, 1, "stray"'] + [line for start, end, name in times for line in range_lines(FAR + start, FAR + end, name)]
    lines = lines[:2] + lines[3:7] + lines[2:3] + lines[7:]  # alpha and beta lie in outer
    lines += ["@RangeStartEnd, Start, End, ThreadId, Message"]
    lines += ['RangeStartEnd, %d, %d, 1, "request"' % (FAR + start, FAR + start + 100) for start in (0, 10, 110)]
    return store_of(folder, *lines)


def length_of(view):
    return int(view["end"]) - int(view["start"])


def test_an_event_far_from_the_others_leaves_them_all_digits():
    """Doubles after the first event would have steps of 256 ns here."""
    with Folder() as folder:
        path = write(folder, far_store(folder))
        at = page()
        at.open(path)
        whole = at.view()

        def go(name):
            at.search(name)
            at.key("n")
        go("alpha")
        at.key(Keys.ENTER)
        equal(at.view(), {"start": str(FAR + 95), "end": str(FAR + 205)})
        for _ in range(7):
            at.key("w")
        assert 5 <= length_of(at.view()) <= 8, at.view()
        assert FAR + 100 < int(at.view()["start"]) < FAR + 200, at.view()
        at.walk((Keys.ARROW_RIGHT, "beta, start 1795000000.000000217 s, duration 83 ns, depth 1, thread 1"))
        assert int(at.view()["start"]) <= FAR + 217 <= int(at.view()["end"]), at.view()
        # To another place that is as far from here, and back to the first event.
        go("later")
        at.key(Keys.ENTER)
        equal(at.view(), {"start": str(FAR + 90 * 86400 * 10**9 - 50), "end": str(FAR + 90 * 86400 * 10**9 + 1050)})
        go("stray")
        assert int(at.view()["start"]) <= 0 <= int(at.view()["end"]) and length_of(at.view()) in (1099, 1100, 1101), at.view()
        # What was measured keeps its digits while the view goes on.
        at.key("m")
        go("beta")
        at.walk(("m", "1795000000.000000217 s from 0 ns to 1795000000.000000217 s"))
        at.key("0")
        equal(at.view(), whole)
        at.driver.find_element("id", "search").send_keys(Keys.BACKSPACE * 4)
        at.walk((Keys.ESCAPE, "nothing is measured"), (Keys.ESCAPE, "nothing is selected"))
        at.wait("return location.hash === ''")
        at.quiet()


def test_a_link_opens_a_short_view_far_from_the_first_event():
    with Folder() as folder:
        path = write(folder, far_store(folder))
        at = page()
        fragment = "#t=%d..%d&sel=2" % (FAR + 90, FAR + 310)
        at.open(path, fragment)
        equal([at.view(), at.selected()["message"], at.text("live")[:8]], [{"start": str(FAR + 90), "end": str(FAR + 310)}, "alpha", "alpha, s"])
        at.run("return new Promise((done) => setTimeout(done, 300))")
        equal(at.run("return location.hash"), fragment)
        equal(at.run("return [...document.querySelectorAll('#event-grid tr[data-row] bdi')].map((r) => r.textContent)"),
              ["request", "request", "request", "outer", "alpha", "beta"])
        at.run("location.hash = '#t=-1000..1000'")
        at.wait("return nvtxtReport.view.start === '-1000'")
        equal(at.view(), {"start": "-1000", "end": "1000"})
        at.quiet()


def test_every_range_of_the_whole_int64_can_be_looked_at():
    low, high, middle = -(1 << 63), (1 << 63) - 1, 9007199254740993
    with Folder() as folder:
        at = opened(folder, export_of(folder, [(low, high, 1, "all"), (-5, 5, 1, "small"), (middle, middle + 2, 2, "two"), (high - 7, high, 3, "late")]))
        for name, start, end in (("two", middle, middle + 2), ("late", high - 7, high), ("small", -5, 5), ("all", low, high)):
            at.search(name)
            at.key("n", Keys.ENTER)
            view = at.view()
            room = (end - start) // 20 + 1
            assert abs(int(view["start"]) - start) <= room and abs(int(view["end"]) - end) <= room, (name, view)
        at.run("location.hash = '#t=-20..20'")
        at.wait("return nvtxtReport.view.start === '-20'")
        equal(at.view(), {"start": "-20", "end": "20"})
        at.quiet()


def test_the_pointer_is_exact_far_from_the_first_event():
    with Folder() as folder:
        path = write(folder, far_store(folder))
        at = page()
        at.open(path, "#t=%d..%d" % (FAR, FAR + 1000))
        box = at.run("const c = document.getElementById('timeline-canvas'); c.scrollIntoView(); const b = c.getBoundingClientRect(); "
                     "return [b.left, b.top, b.width]")

        def mouse(kind, share, down=150, **more):
            at.ask("Input.dispatchMouseEvent", type=kind, x=box[0] + share * box[2], y=box[1] + down, **{"button": "none", **more})

        def click(share, down, **more):
            mouse("mousePressed", share, down, button="left", clickCount=1, **more)
            mouse("mouseReleased", share, down, button="left", clickCount=1, **more)
        top = next(y for y in range(40, 400, 4) if hits(at, 0.15, y, "alpha"))
        click(0.15, top)
        equal(at.selected()["message"], "alpha")
        rows = [y for y in range(40, 400, 4) if hits(at, 0.05, y, "request")]
        assert len(rows) > 9, "ranges that overlap stand in rows of their own: %s" % rows
        click(0.1, top, modifiers=8)
        click(0.3, top, modifiers=8)
        equal(at.text("live"), "200 ns from 1795000000.0000001 s to 1795000000.0000003 s")
        # The wheel keeps what lies under it, from the whole time down to nanoseconds.
        at.key("0")
        before = int(at.view()["start"]) + 0.25 * length_of(at.view())
        for _ in range(100):
            mouse("mouseWheel", 0.25, deltaX=0, deltaY=-600, modifiers=2)
        at.wait("return nvtxtReport.view.end - nvtxtReport.view.start < 2000 && BigInt(nvtxtReport.view.end) - BigInt(nvtxtReport.view.start) <= 2n")
        assert abs(int(at.view()["start"]) - before) < 2**52, (before, at.view())
        held = int(at.view()["start"])
        mouse("mousePressed", 0.75, button="left", clickCount=1)
        mouse("mouseMoved", 0.5, button="left", buttons=1)
        mouse("mouseMoved", 0.25, button="left", buttons=1)
        mouse("mouseReleased", 0.25, button="left", clickCount=1)
        assert held <= int(at.view()["start"]) <= held + 2, (held, at.view())
        at.quiet()


def test_is_readable_without_javascript():
    with Folder() as folder, Page("--blink-settings=scriptEnabled=false") as at:
        at.load(write(folder, f1(folder)))
        equal(at.driver.find_element("css selector", "#timeline .picture-message").text,
              "The timeline needs JavaScript; all tables are here without it.")
        for name in ("names", "report-summary", "findings", "flame-graph", "sections", "source", "session-summary", "about"):
            assert at.driver.find_element("id", name).text, name


def test_says_that_it_cannot_inflate():
    with Folder() as folder, Page() as at:
        at.ask("Page.addScriptToEvaluateOnNewDocument", source="delete window.DecompressionStream")
        at.open(write(folder, f1(folder)))
        said = at.driver.find_element("css selector", "#timeline .picture-message").text
        assert "DecompressionStream" in said, said
        equal(at.run("return [...document.querySelectorAll('.picture')].every((part) => part.hidden)"), True)
        equal(at.run("return nvtxtReport.events"), 15)
        assert at.driver.find_element("css selector", "#report-summary table").text
        at.quiet()


def test_is_drawn_in_the_colours_that_are_wanted():
    with Folder() as folder:
        at = opened(folder, "--iterations", "step", f1(folder))
        picture = "nvtxtReport.redraw(); return document.getElementById('timeline-canvas').toDataURL()"
        seen = [at.run(picture)]
        for name, value in (("prefers-color-scheme", "dark"), ("forced-colors", "active")):
            at.ask("Emulation.setEmulatedMedia", features=[{"name": name, "value": value}])
            seen.append(at.run(picture))
        at.ask("Emulation.setEmulatedMedia", features=[])
        equal([len(set(seen)), at.run(picture) == seen[0]], [3, True])
        equal(at.ask("Page.printToPDF")["data"][:6], "JVBERi", "%PDF in base64")
        equal(at.run(picture), seen[0], "as before it was printed")
        at.quiet()


def test_is_as_wide_as_the_window():
    with Folder() as folder:
        at = opened(folder, f1(folder))
        for width, size in ((1280, "100%"), (1280, "200%"), (360, "100%")):
            at.ask("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False)
            at.run("document.documentElement.style.fontSize = arguments[0]", size)
            equal(at.run("return [document.documentElement.scrollWidth, innerWidth]"), [width, width], (width, size))
        at.ask("Emulation.clearDeviceMetricsOverride")


def test_draws_many_events():
    """No limit of time: figures are those of bench/. It is drawn, and zooming changes the picture."""
    with Folder() as folder:
        lines = []
        for i in range(20000):
            lines += [f'RangePush, {i * 50}, {i % 4 + 1}, "outer {i % 7}"', f'RangePush, {i * 50 + 5 + i % 9}, {i % 4 + 1}, "inner"',
                      f"RangePop, {i * 50 + 20}, {i % 4 + 1}", f"RangePop, {i * 50 + 190}, {i % 4 + 1}"]
        at = opened(folder, store_of(folder, *lines))
        picture = "return document.getElementById('timeline-canvas').toDataURL()"
        before = at.run("nvtxtReport.redraw(); " + picture)
        at.key("w", "w", "w")
        after = at.run("nvtxtReport.redraw(); " + picture)
        assert before != after and len(after) > 5000, (len(before), len(after))
        at.quiet()


# What scripts/test runs of them: the page opens, is walked through by keys, and keeps hostile texts texts.
SHORT = (test_opens_offline_and_silent, test_walks_f1_by_keys, test_shows_hostile_texts_as_text)

if __name__ == "__main__":
    run({case.__name__: case for case in SHORT} if os.environ.get("NVTXT_TEST_SHORT") else globals())
