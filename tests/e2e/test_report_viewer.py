# SPDX-License-Identifier: Apache-2.0
"""The page of nvtxt-report html as a viewer, in Chromium: spans, the table of names, folding, colours, callers,
copying, the theme; by keys alone and by the pointer. Skipped without Chromium, its driver or selenium."""
import csv
import io
import math
import os
import re

import browser
from client import Folder
from lib import equal, run
from report import f1
from report_window import HOSTILE, export_of, opened, range_lines, store_of

browser.need()
Keys = browser.Keys

ROWS = "return [...document.querySelectorAll('#names-table tbody tr')].map((row) => row.cells[0].textContent)"
COPIES = "navigator.clipboard.writeText = async (text) => { window.copied = text; };"
PIXEL = """nvtxtReport.redraw(); const canvas = document.getElementById('timeline-canvas'); const sharp = canvas.width / canvas.clientWidth;
return [...canvas.getContext('2d').getImageData(Math.round(arguments[0] * canvas.width), Math.round(arguments[1] * sharp), 1, 1).data]"""


def press(at, *keys):
    """Keys where the focus is; what the live region says after the last one."""
    at.press(*keys)
    return at.text("live")


def tab_to(at, wanted, most=80):
    """Goes on by Tab alone until the focus is on an element that the selector takes."""
    for _ in range(most):
        if at.run("return document.activeElement.matches(arguments[0])", wanted):
            return
        at.press(Keys.TAB)
    raise AssertionError("Tab does not reach " + wanted)


def waited(at, text):
    at.wait("return document.getElementById('live').textContent.startsWith(%r)" % text)
    return at.text("live")


# ---- Keys alone ---------------------------------------------------------------------------------

def test_everything_is_done_by_keys_alone():
    with Folder() as folder:
        at = opened(folder, f1(folder))
        at.run(COPIES)
        at.driver.find_element("tag name", "body").send_keys(Keys.TAB)
        tab_to(at, "#timeline-canvas")
        # A span from the beginning of compute to the end of the second step.
        press(at, Keys.HOME, Keys.ARROW_DOWN, Keys.ARROW_RIGHT, "[")
        equal(waited(at, "span from 30"), "span from 30 ns to 261 ns, 231 ns long: 13 events in the span")
        press(at, Keys.ARROW_UP, Keys.ARROW_RIGHT, "]")
        equal(waited(at, "span from 30 ns to 260"), "span from 30 ns to 260 ns, 230 ns long: 13 events in the span")
        equal(at.run("return nvtxtReport.span"), {"start": "30", "end": "260"})
        press(at, "f")
        assert int(at.view()["start"]) <= 30 and int(at.view()["end"]) >= 260 and int(at.view()["start"]) > 0, at.view()
        equal(press(at, "x"), "folded: process 100")
        equal(press(at, "x"), "unfolded: process 100")
        # Names by p99, and through the ranges of one.
        tab_to(at, "#names-table button[data-sort=p99]")
        equal(press(at, Keys.ENTER), "sorted by p99, descending; first: step")
        equal(at.run("return document.querySelector('[data-sort=p99]').closest('th').ariaSort"), "descending")
        equal(press(at, Keys.ENTER), "sorted by p99, ascending; first: tick")
        press(at, Keys.ENTER)
        tab_to(at, "#names-table tbody button")
        press(at, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
        names = at.run(ROWS)
        third = at.run("return document.activeElement.textContent")
        equal(third, names[2])
        while at.run("return document.activeElement.textContent") != "kernel":
            press(at, Keys.ARROW_DOWN)
        equal(press(at, Keys.ENTER), "kernel, start 150 ns, duration 50 ns, depth 2, thread 1; the longest of 3")
        equal(press(at, "p"), "kernel, start 60 ns, duration 20 ns, depth 2, thread 1; number 2 of 3 in order of time")
        equal(press(at, "p"), "kernel, start 40 ns, duration 20 ns, depth 2, thread 1; number 1 of 3 in order of time")
        equal(press(at, "n"), "kernel, start 60 ns, duration 20 ns, depth 2, thread 1; number 2 of 3 in order of time")
        equal(press(at, "P"), "kernel, start 40 ns, duration 20 ns, depth 2, thread 1; number 2 of 3 in order of length")
        equal(press(at, "P"), "kernel, start 150 ns, duration 50 ns, depth 2, thread 1; number 1 of 3 in order of length")
        # On the canvas n goes on with the name, until something is searched for.
        equal(at.run("document.getElementById('timeline-canvas').focus()"), None)
        equal(press(at, "n"), "kernel, start 40 ns, duration 20 ns, depth 2, thread 1; number 1 of 3 in order of time")
        at.search("load")
        at.run("document.getElementById('timeline-canvas').focus()")
        assert press(at, "n").startswith("load, start 130 ns"), at.text("live")
        # Who calls it stands beside the flame graph, of the span.
        equal(at.run("return document.querySelector('#callers table tbody').rows[0].cells[0].textContent"), "step")
        at.run("document.getElementById('names-copy').focus()")
        equal(waited_after(at, Keys.ENTER, "7 rows"), "7 rows in the clipboard")
        lines = at.run("return window.copied").splitlines()
        equal(lines[0], "Name\tKind\tCount\tTotal (ns)\tSelf (ns)\tShare (%)\tAvg (ns)\tMed (ns)\tp90 (ns)\tp99 (ns)\tMin (ns)\tMax (ns)\tStdDev (ns)")
        equal(len(lines), 8)
        # Escape takes away one thing after the other.
        at.run("document.getElementById('timeline-canvas').focus()")
        press(at, "m")
        equal([press(at, Keys.ESCAPE) for _ in range(3)], ["nothing is measured", "nothing is selected", "there is no span"])
        equal(at.run("return [nvtxtReport.selected, nvtxtReport.span]"), [None, None])
        at.quiet()


def waited_after(at, key, text):
    at.press(key)
    return waited(at, text)


def test_the_tree_of_accessibility_has_names_for_all_of_it():
    with Folder() as folder:
        at = opened(folder, f1(folder))
        at.run("document.getElementById('lanes').open = true; nvtxtReport.setSpan('10', '100'); nvtxtReport.select(9)")
        nodes = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in at.ask("Accessibility.getFullAXTree")["nodes"]
                 if not node["ignored"]]
        for role, name in (("button", "process 100"), ("button", "Fold all"), ("button", "p99"), ("button", "kernel"), ("button", "Copy"),
                           ("button", "Save"), ("searchbox", "Filter"), ("checkbox", "Only matches"), ("combobox", "Theme"), ("combobox", "Colours"),
                           ("combobox", "Order"), ("button", "Span starts here"), ("button", "Fit span"), ("button", "No span"),
                           ("region", "Callers and callees"), ("region", "Names"), ("table", "Figures by name"), ("button", "All")):
            assert (role, name) in nodes, (role, name, sorted(set(nodes)))
        unnamed = [node for node in nodes if node[0] in ("button", "combobox", "checkbox", "searchbox", "textbox", "image", "region", "link") and not node[1].strip()]
        equal(unnamed, [])


# ---- The pointer --------------------------------------------------------------------------------

class Hand:
    """A mouse or a finger on the timeline: places are a share of its width, and pixels from its top."""

    def __init__(self, at):
        self.at = at
        self.box = at.run("const c = document.getElementById('timeline-canvas'); c.scrollIntoView({ block: 'center' }); "
                          "const b = c.getBoundingClientRect(); return [b.left, b.top, b.width]")

    def place(self, share, down):
        return {"x": self.box[0] + share * self.box[2], "y": self.box[1] + down}

    def mouse(self, kind, share, down, **more):
        self.at.ask("Input.dispatchMouseEvent", type=kind, **self.place(share, down), **{"button": "none", **more})

    def drag(self, start, end, down, **more):
        self.mouse("mousePressed", start, down, button="left", clickCount=1, **more)
        for share in ((start + end) / 2, end):
            self.mouse("mouseMoved", share, down, button="left", buttons=1, **more)
        self.mouse("mouseReleased", end, down, button="left", clickCount=1, **more)

    def touch(self, kind, share, down):
        self.at.ask("Input.dispatchTouchEvent", type=kind, touchPoints=[] if kind == "touchEnd" else [self.place(share, down)])


def span_of(at):
    found = at.run("return nvtxtReport.span")
    return found and (int(found["start"]), int(found["end"]))


def near(got, wanted, most=3):
    assert all(abs(one - other) <= most for one, other in zip(got, wanted)), (got, wanted)


def test_the_pointer_chooses_spans():
    with Folder() as folder:
        at = opened(folder, f1(folder))
        hand = Hand(at)
        time = lambda share: -4 + 268 * share  # noqa: E731
        hand.drag(0.2, 0.6, 30)
        near(span_of(at), (time(0.2), time(0.6)))
        equal(at.view(), {"start": "-4", "end": "264"}, "the view stays")
        hand.drag(0.6, 0.8, 36)  # its end has a handle
        near(span_of(at), (time(0.2), time(0.8)))
        hand.drag(0.2, 0.9, 36)  # and its beginning, which may go past the end
        near(span_of(at), (time(0.8), time(0.9)))
        hand.drag(0.3, 0.4, 200, modifiers=8)
        near(span_of(at), (time(0.3), time(0.4)))
        span = span_of(at)
        hand.drag(0.5, 0.4, 200)
        equal(span_of(at), span, "a drag without Shift pans")
        at.key("0")
        at.driver.find_element("id", "clear-span").click()
        equal(span_of(at), None)
        # A long press begins one, and a finger alone pans.
        at.ask("Emulation.setTouchEmulationEnabled", enabled=True)
        hand = Hand(at)
        at.key("w", "w")
        before = at.view()
        hand.touch("touchStart", 0.5, 120)
        hand.touch("touchMove", 0.4, 120)
        hand.touch("touchMove", 0.3, 120)
        hand.touch("touchEnd", 0, 0)
        assert int(at.view()["start"]) > int(before["start"]) and span_of(at) is None, (before, at.view(), span_of(at))
        hand.touch("touchStart", 0.3, 120)
        at.run("return new Promise((done) => setTimeout(done, 700))")
        hand.touch("touchMove", 0.4, 120)
        hand.touch("touchMove", 0.5, 120)
        hand.touch("touchEnd", 0, 0)
        assert span_of(at), "a long press begins a span"
        at.ask("Emulation.setTouchEmulationEnabled", enabled=False)
        at.quiet()


def test_a_process_folds_into_one_row():
    with Folder() as folder:
        lines = ["@RangePush, Time, ThreadId, ProcessId, Message", "@RangePop, Time, ThreadId, ProcessId"]
        lines += [line for pid in (5, 6) for thread in (1, 2) for line in (f'RangePush, {pid}, {thread}, {pid}, "r"', f"RangePop, 900, {thread}, {pid}")]
        at = opened(folder, store_of(folder, *lines))
        tall = "nvtxtReport.redraw(); return Number(document.getElementById('timeline-spacer').getAttribute('height'))"
        whole = at.run(tall)
        at.driver.find_element("id", "fold-all").click()
        equal(at.text("live"), "folded: 2 processes")
        folded = at.run(tall)
        assert folded < whole - 60, (whole, folded)
        equal(at.run("return nvtxtReport.select(1)"), True)
        at.driver.find_element("id", "unfold-all").click()
        equal(at.run(tall), whole)
        # By the column of names.
        box = at.run("const c = document.getElementById('lane-names'); c.scrollIntoView({ block: 'center' }); const b = c.getBoundingClientRect(); return [b.left, b.top, b.width]")
        click = {"x": box[0] + 20, "y": box[1] + 44 + 10}
        for kind in "mousePressed", "mouseReleased":
            at.ask("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **click)
        equal(at.text("live"), "folded: process 5")
        # Its edge makes it wider, up to 40 %.
        for kind, x in (("mousePressed", box[0] + box[2] - 2), ("mouseMoved", 400), ("mouseMoved", 1200), ("mouseReleased", 1200)):
            at.ask("Input.dispatchMouseEvent", type=kind, x=x, y=box[1] + 100, button="left", buttons=1, clickCount=1)
        at.run("nvtxtReport.redraw()")
        share = at.run("return document.getElementById('lane-names').clientWidth / document.getElementById('timeline-scroll').clientWidth")
        assert 0.38 < share <= 0.401, share
        at.quiet()


# ---- Colours ------------------------------------------------------------------------------------

def linear(channel):
    part = channel / 255
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


# How people see who lack one kind of cones: Machado, Oliveira and Fernandes, 2009, severity 1.
SIGHTS = (((1, 0, 0), (0, 1, 0), (0, 0, 1)),
          ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
          ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
          ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)))


def oklab(rgb):
    red, green, blue = (min(max(part, 0), 1) for part in rgb)
    cones = [0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue, 0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue,
             0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue]
    one, two, three = (cone ** (1 / 3) for cone in cones)
    return (0.2104542553 * one + 0.7936177850 * two - 0.0040720468 * three, 1.9779984951 * one - 2.4285922050 * two + 0.4505937099 * three,
            0.0259040371 * one + 0.7827717662 * two - 0.8086757660 * three)


def test_the_twelve_colours_differ_for_all_eyes():
    with open(os.path.join(os.environ["top_srcdir"], "report", "page", "assets", "colors.js"), encoding="utf-8") as file:
        found = re.search(r"const COLORS = \[(.*)\]", file.read()).group(1)
    colors = [[linear(int(color[at:at + 2], 16)) for at in (0, 2, 4)] for color in re.findall(r"#(\w{6})", found)]
    equal(len(colors), 12)
    for sight in SIGHTS:
        seen = [oklab([sum(row[k] * color[k] for k in range(3)) for row in sight]) for color in colors]
        nearest = min(math.dist(one, other) for i, one in enumerate(seen) for other in seen[:i])
        assert nearest > 0.1, nearest
    for color in colors:  # black or white, whichever is easier to read
        light = 0.2126 * color[0] + 0.7152 * color[1] + 0.0722 * color[2]
        assert max(1.05 / (light + 0.05), (light + 0.05) / 0.05) >= 4.5, color


def test_zoomed_out_one_sees_where_the_work_is_and_what_it_is():
    """Quarters of many short ranges: the first is busy nine tenths of the time, the second a third, the third is idle,
    and of the fourth one name has most, though another one comes last."""
    with Folder() as folder:
        lines = []
        for i in range(10000):
            lines += range_lines(i * 100, i * 100 + 90, "full") + range_lines(10**6 + i * 100, 10**6 + i * 100 + 30, "part")
            lines += range_lines(3 * 10**6 + i * 100, 3 * 10**6 + i * 100 + 55, "most") + range_lines(3 * 10**6 + i * 100 + 70, 3 * 10**6 + i * 100 + 90, "last")
        at = opened(folder, store_of(folder, *sorted(lines, key=lambda line: (int(line.split(",")[1]), "Push" in line))))
        column = 44 + 20 + 4 + 10  # the ruler, the heading, the gap, the middle of the row
        paper, full, part = at.run(PIXEL, 0.65, column), at.run(PIXEL, 0.15, column), at.run(PIXEL, 0.4, column)
        fills = dict(zip(at.run(ROWS), at.run("return [...document.querySelectorAll('#names-table .swatch rect')].map((r) => r.getAttribute('fill'))")))
        color = lambda name: [int(part) for part in re.findall(r"\d+", fills[name])]  # noqa: E731
        equal(paper[:3], [255, 255, 255])
        near(full[:3], color("full"))
        # A third of the time is the second of five steps: 0.4375 of the colour.
        near(part[:3], [255 - 0.4375 * (255 - one) for one in color("part")])
        near(at.run(PIXEL, 0.9, column)[:3], [255 - 0.8125 * (255 - one) for one in color("most")])
        # By domain all have one colour, by category none has one.
        at.run("const s = document.getElementById('colors'); s.value = 'category'; s.dispatchEvent(new Event('change'))")
        near(at.run(PIXEL, 0.15, column)[:3], [0x9a, 0xa3, 0xad])
        # What the search finds is seen, and only what it does not find is dim.
        at.search("part")
        dim = at.run(PIXEL, 0.15, column)
        assert dim[:3] != [0x9a, 0xa3, 0xad], dim
        at.driver.find_element("id", "only-matches").click()
        near(at.run(PIXEL, 0.15, column)[:3], [0x9a, 0xa3, 0xad])


# ---- Names --------------------------------------------------------------------------------------

def test_texts_of_others_are_harmless_in_every_new_place():
    with Folder() as folder:
        odd = ["=1+2", "\t=2", "+1", "-1", "@x", 'quote " and, comma', "tab\tand\nline"] + HOSTILE
        at = opened(folder, "--title", '</title><script>alert(1)</script>"&', export_of(folder, [(i * 100, i * 100 + 90, 1, text) for i, text in enumerate(odd)]))
        equal(at.driver.title, '</title><script>alert(1)</script>"&')
        equal(at.driver.find_element("tag name", "h1").text, '</title><script>alert(1)</script>"&')
        at.run(COPIES)
        at.run("document.getElementById('names-copy').click()")
        lines = [line.split("\t") for line in at.run("return window.copied").split("\n")[1:-1]]
        equal([len(line) for line in lines], [13] * len(odd))
        copied = {line[0] for line in lines}
        for text in "'=1+2", "'+1", "'-1", "'@x", "' =2", "tab and line":
            assert text in copied, (text, copied)
        assert all(not line[3].startswith("'") for line in lines), "numbers stay"
        # A file: the same, quoted.
        at.run("URL.createObjectURL = (blob) => { window.blob = blob; return 'blob:none'; }; HTMLAnchorElement.prototype.click = function () { window.saved = this.download; };")
        at.run("document.getElementById('names-save').click()")
        text = at.run("return window.blob.text()")
        equal(at.run("return window.saved"), "names.csv")
        cells = {row[0] for row in csv.reader(io.StringIO(text, newline=""))}
        for wanted in "'=1+2", 'quote " and, comma', "tab\tand\nline", "</script><b id=evil>x":
            assert wanted in cells, (wanted, cells)
        # Where the browser refuses, the rows are selected in a field.
        at.run("navigator.clipboard.writeText = async () => { throw new Error('no'); }")
        at.run("document.getElementById('names-copy').click()")
        at.wait("return !document.getElementById('names-field').hidden")
        equal(at.run("const f = document.getElementById('names-field'); return [document.activeElement === f, f.selectionStart, f.selectionEnd === f.value.length]"), [True, 0, True])
        assert at.text("live").startswith("The browser keeps the clipboard closed"), at.text("live")
        for index in range(len(odd)):
            at.run("document.querySelectorAll('#names-table tbody button')[arguments[0]].click()", index)
        equal(at.run("return document.querySelectorAll('#evil, #evil2, img').length"), 0)
        equal(at.run("return document.querySelectorAll('script').length"), 2)
        equal(at.run("return document.querySelectorAll('[style],[onclick],[onload]').length"), 0)
        at.quiet()


def test_names_are_filtered_and_shown_a_hundred_at_a_time():
    with Folder() as folder:
        at = opened(folder, store_of(folder, *(line for i in range(250) for line in range_lines(i * 10, i * 10 + 1 + i % 9, "name %d" % i))))
        count = "return document.querySelectorAll('#names-table tbody tr').length"
        equal(at.run(count), 100)
        more = at.driver.find_element("id", "names-more")
        more.click()
        equal([at.run(count), at.text("live")], [200, "200 of 250 names are shown"])
        more.click()
        equal([at.run(count), more.is_displayed()], [250, False])
        at.driver.find_element("id", "names-filter").send_keys("NAME 24")
        equal([at.run(count), at.text("live")], [11, "11 names"])
        # One column has one unit.
        texts = at.run("return [...document.querySelectorAll('#names-table tbody tr')].map((row) => row.cells[3].textContent.trim())")
        equal({text.split()[-1] for text in texts}, {"ns"})
        equal(at.run("return document.querySelector('#names-table thead .unit').textContent"), "ns")
        at.quiet()


def test_a_theme_is_chosen_and_kept():
    with Folder() as folder:
        at = opened(folder, f1(folder))
        paper = "return getComputedStyle(document.documentElement).backgroundColor"
        light = at.run(paper)
        choose = "const s = document.getElementById('theme'); s.value = arguments[0]; s.dispatchEvent(new Event('change'))"
        at.run(choose, "dark")
        dark = at.run(paper)
        assert dark != light, dark
        at.open(folder.name("page.html"))
        equal(at.run(paper), dark, "kept where the browser keeps things")
        colours = ("const s = getComputedStyle(document.documentElement); "
                   "return ['--paper', '--error', '--ok'].map((name) => s.getPropertyValue(name).trim())")
        chosen = at.run(colours)
        at.run(choose, "")
        at.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        equal((at.run(paper), at.run(colours)), (dark, chosen), "the palette is one")
        at.run(choose, "light")
        equal(at.run(paper), light)
        at.ask("Emulation.setEmulatedMedia", features=[])
        bright = at.run(colours)
        equal(all(a != b for a, b in zip(chosen, bright)), True, (chosen, bright))
        at.run(choose, "dark")
        for features in [], [{"name": "prefers-color-scheme", "value": "dark"}]:
            at.ask("Emulation.setEmulatedMedia", media="print", features=features)
            equal(at.run(colours), bright, "paper is light")
        at.ask("Emulation.setEmulatedMedia", media="", features=[])
        at.run(choose, "")
        equal(at.run(paper), light)
        at.quiet()


def test_nothing_is_scrolled_on_paper():
    """A table of many names takes the room that it needs, and nothing is printed over it."""
    with Folder() as folder:
        lines = (line for i in range(200) for line in range_lines(i * 10, i * 10 + 9, "name %d" % i))
        at = opened(folder, store_of(folder, *lines))
        at.ask("Emulation.setEmulatedMedia", media="print")
        equal(at.run("return document.querySelectorAll('#names-static tbody tr').length"), 200)
        equal(at.run("""return [...document.querySelectorAll('main *')].filter((part) => part.clientHeight
            && part.scrollHeight > part.clientHeight + 4 && getComputedStyle(part).display === 'block').map((part) => part.outerHTML.slice(0, 99))"""), [])
        at.ask("Emulation.setEmulatedMedia", media="")


def test_paper_and_narrow_windows_have_all_figures():
    with Folder() as folder:
        at = opened(folder, f1(folder))
        at.ask("Emulation.setEmulatedMedia", media="print")
        equal(at.run("return ['names-static', 'names-table'].map((name) => document.getElementById(name).offsetHeight > 0)"), [True, False])
        equal(at.run("return document.querySelectorAll('#names-static tbody tr').length"), 6)
        at.ask("Emulation.setEmulatedMedia", media="")
        at.ask("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1, mobile=False)
        for args in ((f1(folder, "again.sqlite"),), (export_of(folder, [(0, 9, 1, "x" * 60000)]),)):
            at = opened(folder, *args)
            at.run("nvtxtReport.select(1); nvtxtReport.setSpan('0', '8')")
            equal(at.run("return document.documentElement.scrollWidth"), 390, args)
            equal(at.run("nvtxtReport.redraw(); return document.getElementById('lane-names').hidden"), True, "names stand above their lanes")
        at.ask("Emulation.clearDeviceMetricsOverride")


def test_the_flame_graph_is_zoomed_and_goes_back():
    with Folder() as folder:
        at = opened(folder, f1(folder))
        at.key(Keys.HOME, Keys.ARROW_DOWN, Keys.ENTER, picture="flame-graph")
        equal(at.texts("#flame-path button"), ["All", "step", "compute"])
        at.key(Keys.ESCAPE, picture="flame-graph")
        equal(at.texts("#flame-path button"), ["All", "step"])
        at.driver.find_element("css selector", "#flame-path button").click()
        equal(at.texts("#flame-path button"), ["All"])
        callers = "return [...document.querySelectorAll('#callers table')].map((t) => [...t.querySelectorAll('tbody tr')].map((r) => [...r.cells].map((c) => c.textContent.trim())))"
        equal(at.run(callers), [[["step", "2", "170 ns", "100.0 %"]], [["kernel", "3", "90 ns", "52.9 %"]]])
        at.driver.find_element("css selector", "#callers table:last-child button").click()
        assert at.text("live").startswith("kernel, total 90 ns"), at.text("live")
        equal(at.run(callers)[0], [["compute", "3", "90 ns", "100.0 %"]])
        # Of a span: 50 to 70 has the end of one kernel, and the beginning of another.
        at.run("nvtxtReport.setSpan('50', '70')")
        at.wait("return document.querySelector('#callers tbody td').textContent === '2'")
        equal(at.run(callers)[0], [["compute", "2", "20 ns", "100.0 %"]])
        at.quiet()


def test_a_row_says_its_rank_and_what_it_lies_in():
    with Folder() as folder:
        at = opened(folder, f1(folder))
        at.search("kernel")
        at.key("n", "n", "n")
        text = at.run("return document.querySelector('#selection .stack-above').textContent")
        equal(text, "step › compute › kernel")
        assert "Ranklongest of 3" in at.text("selection"), at.text("selection")
        at.key("p")
        assert "Rankshortest of 3" in at.text("selection"), at.text("selection")
        hand = Hand(at)
        for down in range(44, 300, 4):
            hand.mouse("mouseMoved", 0.65, down)
            if at.text("tip").startswith("kernel"):
                break
        tip = at.text("tip").replace("\u202f", "")
        equal(tip, "kernel · 50 ns · 12.9 % · longest of 3 · in step › compute")


def test_a_span_keeps_its_figures_far_from_the_first_event():
    """A short view far from the first event makes all times count from elsewhere."""
    day = 86400 * 10**9
    for far in (30 * day, 300 * day):  # within what doubles tell apart, and beyond
        with Folder() as folder:
            lines = range_lines(0, 10, "first")
            for at_ns, length in ((0, 100), (200, 300), (700, 200)):
                lines += range_lines(far + at_ns, far + at_ns + length, "far")
            at = opened(folder, store_of(folder, *lines))
            at.run("nvtxtReport.setSpan(arguments[0], arguments[1])", str(far + 50), str(far + 1000))
            at.search("far")
            at.key("n", "n", Keys.ENTER, "w", "w")
            assert int(at.view()["end"]) - int(at.view()["start"]) < 1000, at.view()
            for key in ("w", "0", "p", "n"):
                at.key(key)
                assert "Ranklongest of 3" in at.text("selection") or key == "p", (far, key, at.text("selection"))
            figures = "return [...document.querySelectorAll('#names-table tbody td[data-value]')].map((cell) => cell.dataset.value)"
            wanted = ["3", "550", "550", "100", "183.33333333333334", "200", "300", "300", "50", "300"]
            equal(at.run(figures)[:-1], wanted)
            at.key(Keys.ENTER, "w")
            at.run("nvtxtReport.setSpan(arguments[0], arguments[1])", str(far + 50), str(far + 1000))
            equal(at.run(figures)[:-1], wanted)
            waited(at, "span from")
            at.key(Keys.HOME, picture="flame-graph")
            equal(at.text("live"), "far, total 550 ns (100.0 %), self 550 ns, 3 ranges, depth 0")
            at.quiet()


if __name__ == "__main__":
    run(globals())
