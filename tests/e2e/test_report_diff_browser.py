# SPDX-License-Identifier: Apache-2.0
"""The page of nvtxt-report diff in Chromium: sorting, the filter, keys, the flame graph with its changes,
histograms, colours. Skipped without Chromium, its driver or selenium."""
import atexit
import json

import browser
from client import Folder, contains
from lib import equal, run
from report import f1, report
from test_report_diff import FAST, SLOW, hostile, runs
from test_report_diff_page import flame_of, made, nested, page as page_of

browser.need()
Keys = browser.Keys

HOSTILE = ("</script><b id=evil>x", "<img src=x onerror=alert(1)>", "\u202eright to left", "line\u2028separator", "x" * 60000, "=1+1", "-2")


class Page(browser.Browser):
    def text(self, name):
        return self.run("return document.getElementById(arguments[0]).textContent", name)

    def quiet(self):
        """Nothing in the console, and no request but for the file."""
        equal(self.said(), [])

    def names(self, group):
        """Of the rows that are shown, in their order."""
        return self.run("return [...document.querySelectorAll('#' + arguments[0] + ' tbody tr:not([hidden])')].map((row) => row.dataset.name)",
                        group)

    def title(self, group, text):
        """The title of a column, which is a button."""
        found = self.run("return [...document.querySelectorAll('#' + arguments[0] + ' th button')].filter("
                         "(button) => button.textContent.startsWith(arguments[1]))", group, text)
        return found[0]

    def labels(self):
        """What the flame graph says in its frames, in the order in which they are drawn."""
        return self.run("""
            const { flame } = nvtxtReport, seen = [], label = flame.label;
            flame.label = (text) => seen.push(text);
            flame.draw();
            flame.label = label;
            flame.draw();
            return seen""")


THE_PAGE = []


def opened(folder, *args, fragment="", status=0):
    """One window for all tests."""
    path = folder.name("diff.html")
    got = report("diff", "--format", "html", "-o", path, *args)
    equal(got[:2], (status, ""), got[2])
    if not THE_PAGE:
        THE_PAGE.append(Page())
        atexit.register(THE_PAGE[0].quit)
    THE_PAGE[0].open(path, fragment)
    return THE_PAGE[0]


def stacks(folder):
    base = nested(folder, "base", (0, 100000, "all"), (10000, 50000, "a"), (60000, 80000, "gone"), (85000, 95000, "same"))
    new = nested(folder, "new", (0, 150000, "all"), (10000, 90000, "a"), (100000, 110000, "fresh"), (120000, 130000, "same"))
    return base, new


def test_opens_offline_and_silent():
    with Folder() as folder:
        at = opened(folder, *made(folder))
        equal(at.run("return [nvtxtReport.version, nvtxtReport.ready, document.documentElement.dataset.ready]"), [1, True, "1"])
        equal(at.run("return getComputedStyle(document.querySelector('.verdict')).fontSize >= '28px'"), True)
        contains(at.run("return document.querySelector('.verdict').innerText"), "Regression")
        equal(at.run("return document.querySelectorAll('[style],[onclick],[onload]').length"), 0)
        at.quiet()


def test_tables_are_sorted_by_their_titles():
    with Folder() as folder:
        base, new = made(folder)
        at = opened(folder, base, new)
        first = at.names("compared")
        rows = {row["name"]: row for row in json.loads(report("diff", "--format", "json", base, new)[1])["rows"]}
        by_change = sorted(first, key=lambda name: -rows[name]["deltaPct"])
        for order, wanted in (("descending", by_change), ("ascending", by_change[::-1]), (None, first), ("descending", by_change)):
            at.title("compared", "Change").click()
            equal(at.names("compared"), wanted, order)
            equal(at.run("return [...document.querySelectorAll('#compared th')].map((th) => th.ariaSort).filter(Boolean)"),
                  [order] if order else [])
        equal(at.text("live"), "sorted by Change, descending")
        at.title("compared", "Range").click()
        equal(at.names("compared"), sorted(first))
        equal(at.text("live"), "sorted by Range, ascending")
        at.title("compared", "NEW").send_keys(Keys.ENTER)  # of Count: all are equal
        equal(at.names("compared"), first)
        equal(at.run("return document.querySelectorAll('#inconclusive [aria-sort]').length"), 0)
        at.quiet()


def test_a_number_is_sorted_as_one():
    """From 5 ns to 2 s; one row has no z."""
    with Folder() as folder:
        lengths = {"n%d" % size: (size,) * 10 for size in (5, 70, 800, 2000000000)}
        at = opened(folder, runs(folder, "base", few=(3,), **lengths), runs(folder, "new", few=(3,), **lengths))
        at.title("compared", "Median").click()
        equal(at.names("compared"), [":n2000000000", ":n800", ":n70", ":n5", ":few"])
        for _ in "ad":
            at.title("compared", "z").click()
            equal(at.names("compared")[-1], ":few", "rows without a value stay at the end")


def test_a_large_table_is_sorted():
    """With more rows than a call may have arguments."""
    with Folder() as folder:
        base, new = stacks(folder)
        text = report("diff", "--format", "html", base, new)[1]
        before, after = text.split("paths sortable", 1)
        rows = "".join('<tr hidden><td></td><td data-value="%d"></td></tr>' % number for number in range(1000, 201000))
        opened(folder, base, new, status=report("diff", base, new)[0])
        at = THE_PAGE[0]
        at.open(folder.write("large.html", before + "paths sortable" + after.replace("</tbody>", rows + "</tbody>", 1)))
        at.run("[...document.querySelectorAll('table.paths th button')].find((one) => one.textContent.startsWith('Change')).click()")
        equal(at.text("live"), "sorted by Change, descending")
        equal(at.run("return [...document.querySelector('table.paths').tBodies[0].rows].slice(0, 2).map((row) => row.cells[1].dataset.value)"),
              ["200999", "200998"])
        at.quiet()


def test_a_theme_is_chosen_and_kept():
    with Folder() as folder:
        base, new = stacks(folder)
        status = report("diff", base, new)[0]
        at = opened(folder, base, new, status=status)
        at.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
        look = ("const { flame } = nvtxtReport, style = getComputedStyle(document.documentElement); flame.draw();"
                "return [style.backgroundColor, style.getPropertyValue('--neutral'), flame.colorsOf(flame.nodes[1]).fill]")
        choose = "const s = document.getElementById('theme'); s.value = arguments[0]; s.dispatchEvent(new Event('change'))"
        light = at.run(look)
        at.run(choose, "dark")
        dark = at.run(look)
        equal([one == other for one, other in zip(light, dark)], [False, False, False], (light, dark))
        at = opened(folder, base, new, status=status)
        equal(at.run(look), dark, "kept where the browser keeps things")
        at.run(choose, "")
        at.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        equal(at.run(look), dark)
        at.run(choose, "light")
        equal(at.run(look), light)
        at.run(choose, "")
        at.ask("Emulation.setEmulatedMedia", features=[])
        at.quiet()


def test_keys_walk_along_the_names():
    with Folder() as folder:
        at = opened(folder, *made(folder))
        names = at.names("compared")
        equal([at.run("return nvtxtReport.selected"), at.run("return document.querySelectorAll('#compared tr[tabindex=\"0\"]').length")],
              [names[0], 1])
        at.run("document.querySelector('#compared tr[tabindex=\"0\"]').focus()")

        def key(key):
            at.driver.switch_to.active_element.send_keys(key)
            return at.run("return [document.activeElement.dataset.name, nvtxtReport.selected]")
        equal(key(Keys.ARROW_DOWN), [names[1], names[0]])
        equal(key(Keys.ENTER), [names[1], names[1]])
        contains(at.text("live"), names[1] + ": ")
        equal([key(Keys.END)[0], key(Keys.HOME)[0], key(Keys.ARROW_UP)[0]], [names[-1], names[0], names[0]])
        equal(at.run("return [...document.querySelectorAll('tr[aria-current]')].map((row) => row.dataset.name)"), [names[1]])
        key("?")
        equal(at.run("return document.getElementById('help').open"), True)
        at.run("document.getElementById('help-close').click()")
        at.quiet()


def test_both_histograms_of_the_selected_name():
    with Folder() as folder:
        at = opened(folder, *made(folder))
        for name, of_base, of_new in ((":slow", 5, 5), (":few", 2, 2)):
            equal(at.run("return nvtxtReport.select(arguments[0])", name), True)
            bars = at.run("return [...document.querySelectorAll('svg.bins')].map((svg) => [svg.getAttribute('aria-label'), "
                          "[...svg.querySelectorAll('rect')].map((rect) => [+rect.getAttribute('x'), rect.textContent])])")
            equal([label.split(";")[0] for label, _ in bars], ["BASE: %d ranges" % of_base, "NEW: %d ranges" % of_new])
            for (_, rects), count in zip(bars, (of_base, of_new)):
                equal(sum(int(title.split(": ")[1].split(" of ")[0]) for _, title in rects), count)
            # All of BASE are shorter: one axis for both.
            equal(max(x for x, _ in bars[0][1]) < min(x for x, _ in bars[1][1]), True, name)
            cells = at.run("return [...document.querySelectorAll('#durations td')].map((cell) => +cell.dataset.value)")
            equal([sum(cells[0::2]), sum(cells[1::2])], [of_base, of_new])
        equal(at.run("return nvtxtReport.select(':new')"), True)
        contains(at.text("durations"), "Only NEW has this name.")
        equal(at.run("return nvtxtReport.select('no such name')"), False)
        at.quiet()


def test_a_filter_leaves_names_out():
    with Folder() as folder:
        base, new = stacks(folder)
        at = opened(folder, base, new, status=report("diff", base, new)[0])
        field = at.driver.find_element("id", "filter")
        field.send_keys("A")
        shown = [name for group in ("compared", "inconclusive", "added", "removed") for name in at.names(group)]
        equal(sorted(shown), [":a", ":all", ":same"])
        equal(at.text("filter-count"), "3 names of 5")
        equal(at.run("return nvtxtReport.flame.found().length"), 3)
        equal(at.run("return [...document.querySelectorAll('table.names')].every((table) => {"
                     "const rows = [...table.tBodies[0].rows].filter((row) => !row.hidden);"
                     "return !rows.length || rows.filter((row) => row.tabIndex === 0).length === 1 })"), True)
        canvas = at.driver.find_element("id", "flame-canvas")
        canvas.send_keys("n")
        equal(at.text("live").split(",")[0], "all")
        canvas.send_keys("n")
        equal(at.text("live").split(",")[0], "a")
        canvas.send_keys("p")
        equal(at.text("live").split(",")[0], "all")
        field.clear()
        field.send_keys("x", Keys.BACKSPACE)
        equal(at.text("filter-count"), "")
        at.quiet()


def test_frames_say_how_their_self_time_changed():
    with Folder() as folder:
        base, new = stacks(folder)
        status = report("diff", base, new)[0]
        at = opened(folder, base, new, status=status)
        paths = flame_of(page_of(base, new, status=status)[1])
        equal(paths["all;a"][1::2], (80000, 40000))
        # all: 30,000 to 50,000; a is twice as long; same is the same.
        equal(sorted(at.labels()), sorted(["+67 % all", "+100 % a", "new fresh", "same"]))
        colours = at.run("const { flame } = nvtxtReport; return flame.nodes.slice(1).map((node) => flame.colorsOf(node).fill)")
        equal(len(set(colours)), 2, "more and new; the same")
        back = opened(folder, new, base, status=report("diff", new, base)[0])
        equal(sorted(back.labels()), sorted(["\u221240 % all", "\u221250 % a", "new gone", "same"]))
        blue = back.run("const { flame } = nvtxtReport; return flame.colorsOf(flame.nodes.slice(1).find((node) => flame.labelOf(node).endsWith(' a'))).fill")
        equal(blue in colours, False)
        back.quiet()


def test_changes_are_written_as_in_the_tables():
    with Folder() as folder:
        base, new = made(folder)
        at = opened(folder, base, new)
        tables = at.run("return [...document.querySelectorAll('#compared tbody tr, #inconclusive tbody tr')].map("
                        "(row) => [row.cells[2].textContent, nvtxtReport.changeText(Number(row.dataset.value))])")
        equal([one for one, _ in tables], [other for _, other in tables])
        equal(at.run("return [0, 0.01, -0.01, 0.06, -3.44, 9.94, 9.96, -12.5, 1234567].map(nvtxtReport.changeText)"),
              ["0 %", "+<0.1 %", "\u2212<0.1 %", "+0.1 %", "\u22123.4 %", "+9.9 %", "+10 %", "\u221213 %", "+1,234,567 %"])


def test_the_flame_graph_has_keys():
    with Folder() as folder:
        base, new = stacks(folder)
        at = opened(folder, base, new, status=report("diff", base, new)[0])
        canvas = at.driver.find_element("id", "flame-canvas")
        for key, said in ((Keys.HOME, "all, total 150 µs (100.0 %), self 50 µs, 1 range, depth 0; self time +67 %, 30 µs in BASE"),
                          (Keys.ARROW_DOWN, "a, total 80 µs (53.3 %), self 80 µs, 1 range, depth 1; self time +100 %, 40 µs in BASE"),
                          (Keys.ARROW_RIGHT, "fresh, total 10 µs (6.7 %), self 10 µs, 1 range, depth 1; new: BASE has no such path"),
                          (Keys.ARROW_UP, "all, total 150 µs (100.0 %), self 50 µs, 1 range, depth 0; self time +67 %, 30 µs in BASE")):
            canvas.send_keys(key)
            equal(at.text("live"), said)
            equal(at.text("flame-selected"), said)
        equal(at.run("return nvtxtReport.selected"), ":all", "the row of its name")
        for key, said in (("m", "widths are sums here, and cannot be measured"), ("n", "there is no filter: press / to write one"),
                          (Keys.ESCAPE, "nothing is selected")):
            canvas.send_keys(key)
            equal(at.text("live"), said)
        canvas.send_keys("/")
        equal(at.run("return document.activeElement.id"), "filter")
        at.quiet()


def test_a_link_leads_to_a_row():
    with Folder() as folder:
        base, new = made(folder)
        at = opened(folder, base, new, fragment="#row-2")
        equal(at.run("return nvtxtReport.selected === document.getElementById('row-2').dataset.name"), True)
        at.run("location.hash = '#row-999'")
        at.wait("return document.getElementById('live').textContent !== ''")
        at.wait("return document.getElementById('live').textContent === 'The link names a row that is not here.'")


def test_shows_hostile_texts_as_text():
    with Folder() as folder:
        at = opened(folder, *(hostile(folder, name, length, HOSTILE) for name, length in (("base", 100), ("new", 200))))
        names = at.names("compared")
        equal(set(names), {":" + text for text in HOSTILE})
        for name in names:
            equal(at.run("return nvtxtReport.select(arguments[0])", name), True)
            equal(at.run("return document.querySelector('#live bdi').textContent.slice(0, 400)"), name[:400])
        equal(at.run("return document.querySelectorAll('#evil, img').length"), 0)
        equal(at.run("return document.querySelectorAll('script').length"), 2)
        at.quiet()


def test_sides_without_a_flame_graph():
    with Folder() as folder:
        base, new = made(folder)
        baseline = folder.name("baseline.json")
        equal(report("diff", "--save-baseline", baseline, base)[0], 0)
        at = opened(folder, "--baseline", baseline, new)
        equal(at.run("return [document.getElementById('flame-picture').hidden, nvtxtReport.flame]"), [True, None])
        contains(at.run("return document.querySelector('.picture-message').innerText"), "A baseline has no paths")
        at = opened(folder, "--kind", "mark", base, new, status=3)
        equal(at.run("return [nvtxtReport.ready, nvtxtReport.selected]"), [True, None])
        at.quiet()


def test_works_again_when_it_was_saved():
    with Folder() as folder:
        at = opened(folder, *made(folder))
        at.title("compared", "Change").click()
        at.run("document.getElementById('filter').value = 'x'; document.getElementById('filter').dispatchEvent(new Event('input'))")
        saved = folder.write("saved.html", at.run("return '<!DOCTYPE html>' + document.documentElement.outerHTML"))
        at.open(saved)
        equal(len(at.names("compared")), 3)
        equal(at.run("return [document.querySelectorAll('th[data-sort] button').length === document.querySelectorAll('th[data-sort]').length,"
                     "document.querySelectorAll('[aria-sort]').length, document.querySelectorAll('[aria-current]').length]"), [True, 0, 1])
        at.title("compared", "Change").click()
        equal(at.text("live"), "sorted by Change, descending")
        at.quiet()


def test_names_every_control():
    with Folder() as folder:
        base, new = stacks(folder)
        at = opened(folder, base, new, status=report("diff", base, new)[0])
        tree = at.ask("Accessibility.getFullAXTree")["nodes"]
        nodes = [(node["role"]["value"], node.get("name", {}).get("value", ""), node) for node in tree if not node["ignored"]]
        named = [node for node in nodes if node[0] in ("button", "searchbox", "link", "image", "img", "region", "toolbar", "dialog",
                 "rowheader", "columnheader") or any(p["name"] == "focusable" for p in node[2].get("properties", ()))]
        equal([node[:2] for node in named if not node[1].strip() and node[0] not in ("row", "main")], [])
        for name in ("BASE: 1 range; most, 1, ", "Flame graph of NEW, 4 paths. ", "Durations of the selected name", "Change"):
            equal(any(node[1].startswith(name) for node in named), True, (name, [node[:2] for node in named]))


def test_is_as_wide_as_the_window():
    with Folder() as folder:
        base, new = (hostile(folder, name, length, HOSTILE) for name, length in (("base", 100), ("new", 200)))
        at = opened(folder, base, new)
        for width, size in ((1280, "100%"), (1280, "200%"), (390, "100%")):
            at.ask("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False)
            at.run("document.documentElement.style.fontSize = arguments[0]", size)
            equal(at.run("return [document.documentElement.scrollWidth, innerWidth]"), [width, width], (width, size))
        at.ask("Emulation.clearDeviceMetricsOverride")


def test_is_drawn_in_the_colours_that_are_wanted():
    with Folder() as folder:
        base, new = stacks(folder)
        at = opened(folder, base, new, status=report("diff", base, new)[0])
        picture = "nvtxtReport.flame.draw(); return document.getElementById('flame-canvas').toDataURL()"
        seen = [at.run(picture)]
        for name, value in (("prefers-color-scheme", "dark"), ("forced-colors", "active")):
            at.ask("Emulation.setEmulatedMedia", features=[{"name": name, "value": value}])
            seen.append(at.run(picture))
            equal(len(at.labels()), 4, "the changes are there without their colours")
        at.ask("Emulation.setEmulatedMedia", features=[])
        equal([len(set(seen)), at.run(picture) == seen[0]], [3, True])
        equal(at.ask("Page.printToPDF")["data"][:6], "JVBERi", "%PDF in base64")
        at.quiet()


def test_is_readable_without_javascript():
    with Folder() as folder, Page("--blink-settings=scriptEnabled=false") as at:
        path = folder.name("diff.html")
        store = f1(folder)
        equal(report("diff", "--format", "html", "-o", path, store, runs(folder, "new", step=FAST, work=SLOW))[0], 3)
        at.load(path)
        equal(at.driver.find_element("css selector", "#flame-graph .picture-message").text, "NEW has no push/pop ranges.")
        contains(at.driver.find_element("css selector", ".verdict").text, "Inconclusive")
        for name in ("verdict", "added", "removed", "flame-graph", "about"):
            assert at.driver.find_element("id", name).text, name
        equal(at.driver.find_elements("css selector", "th button"), [])
        equal(at.driver.find_element("id", "filter").is_displayed(), False)


if __name__ == "__main__":
    run(globals())
