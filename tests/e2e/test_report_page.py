# SPDX-License-Identifier: Apache-2.0
"""The page of nvtxt-report html in Chromium: what it shows, by keys, by search, saved, without
JavaScript. Skipped without Chromium, its driver or selenium."""
import os
import shutil
import subprocess
import sys
import time

from client import Folder
from lib import DEADLINE, equal, run
from report import f1, report

DEBIAN_PYTHON = "/usr/bin/python3"  # has Debian's selenium, whichever python3 comes first in PATH

try:
    from selenium import webdriver
    from selenium.webdriver.common.keys import Keys
except ImportError:
    if os.path.realpath(sys.executable) != os.path.realpath(DEBIAN_PYTHON) and not os.environ.get("NVTXT_PAGE_PYTHON"):
        if subprocess.run([DEBIAN_PYTHON, "-c", "import selenium"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            os.execve(DEBIAN_PYTHON, [DEBIAN_PYTHON, *sys.argv], {**os.environ, "NVTXT_PAGE_PYTHON": "1"})
    print("no selenium")
    sys.exit(77)

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
if not CHROMIUM or not DRIVER:
    print("no chromium or no chromedriver")
    sys.exit(77)

MAKE_PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "page", "make_page.py")


class Browser:
    """Chromium without a network. Every request it makes is in its log."""

    def __init__(self, *arguments):
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                         "--disable-background-networking", "--disable-component-update", "--window-size=1280,900",
                         "--host-resolver-rules=MAP * ~NOTFOUND", *arguments):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=webdriver.chrome.service.Service(DRIVER), options=options)
        self.driver.set_script_timeout(DEADLINE)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.driver.quit()

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def open(self, path, fragment=""):
        self.driver.get("about:blank")
        self.driver.get_log("performance")
        self.driver.get_log("browser")
        self.driver.get("file://" + path + fragment)
        self.wait("return Boolean(window.nvtxtReport && nvtxtReport.ready)")

    def wait(self, script):
        end = time.monotonic() + DEADLINE
        while not self.run(script):
            assert time.monotonic() < end, "waited in vain for: " + script
            time.sleep(0.02)

    def quiet(self):
        """Nothing in the console, and no request but for the file."""
        equal(self.driver.get_log("browser"), [])
        requests = [entry["message"] for entry in self.driver.get_log("performance")
                    if '"Network.requestWillBeSent"' in entry["message"]]
        equal([one for one in requests if '"url":"file:' not in one and '"url":"data:' not in one], [])

    def key(self, *keys):
        canvas = self.driver.find_element("id", "timeline-canvas")
        for key in keys:
            canvas.send_keys(key)

    def live(self):
        return self.text("live")

    def text(self, name):
        return self.run("return document.getElementById(arguments[0]).textContent", name)

    def selected(self):
        return self.run("return nvtxtReport.selected")


def make(folder, what):
    path = folder.name(what + ".html")
    subprocess.run([sys.executable, "-B", MAKE_PAGE, what, path], check=True, stdout=subprocess.DEVNULL)
    return path


def walk(browser, *steps):
    """Each step: a key and the live region's text after it."""
    for key, said in steps:
        browser.key(key)
        equal(browser.live(), said, repr(key))


def test_opens_offline_and_silent():
    with Folder() as folder, Browser() as browser:
        for what, events in (("f1", 15), ("hostile", 9), ("ends", 9), ("empty", 0)):
            browser.open(make(folder, what))
            equal(browser.run("return [nvtxtReport.version, nvtxtReport.events]"), [1, events], what)
            equal(browser.run("return document.documentElement.dataset.ready"), "1")
            browser.quiet()
        equal(browser.run("return [...document.querySelectorAll('.picture-message')].map((p) => p.textContent)"), ["No events."] * 2)


def test_walks_f1_by_keys():
    with Folder() as folder, Browser() as browser:
        browser.open(make(folder, "f1"))
        walk(browser,
             (Keys.HOME, "step, start 0 ns, duration 100 ns, depth 0, thread 1"),
             (Keys.ARROW_UP, "no parent"),
             (Keys.ARROW_LEFT, "no previous event here"),
             (Keys.ARROW_DOWN, "load, start 10 ns, duration 20 ns, depth 1, thread 1"),
             (Keys.ARROW_DOWN, "no child"),
             (Keys.ARROW_RIGHT, "compute, start 30 ns, duration 60 ns, depth 1, thread 1"),
             (Keys.ARROW_RIGHT, "no next event here"),
             (Keys.ARROW_DOWN, "kernel, start 40 ns, duration 20 ns, depth 2, thread 1"),
             (Keys.ARROW_RIGHT, "kernel, start 60 ns, duration 20 ns, depth 2, thread 1"),
             (Keys.ARROW_LEFT, "kernel, start 40 ns, duration 20 ns, depth 2, thread 1"),
             (Keys.ARROW_UP, "compute, start 30 ns, duration 60 ns, depth 1, thread 1"),
             (Keys.ARROW_UP, "step, start 0 ns, duration 100 ns, depth 0, thread 1"),
             (Keys.ARROW_RIGHT, "step, start 120 ns, duration 140 ns, depth 0, thread 1"))
        selected = browser.selected()
        equal({**selected, "row": None}, {"row": None, "name": ":step", "message": "step", "start": "120", "end": "260", "depth": 0})
        browser.key(Keys.ENTER)
        equal(browser.run("return nvtxtReport.view"), {"start": "110", "end": "264"})
        browser.key("0")
        equal(browser.run("return nvtxtReport.view"), {"start": "-4", "end": "264"})
        browser.key(Keys.ESCAPE)
        equal(browser.selected(), None)
        browser.quiet()


def test_shows_the_events_of_the_store():
    with Folder() as folder, Browser() as browser:
        page = folder.name("page.html")
        status, out, err = report("html", "-o", page, f1(folder))
        equal((status, out), (0, ""), err)
        browser.open(page)
        equal(browser.run("return nvtxtReport.events"), 15)
        browser.key(Keys.HOME, Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
        assert browser.live().startswith("kernel, start 40 ns, duration 20 ns, depth 2, thread 1"), browser.live()
        browser.quiet()


def test_walks_marks_and_start_end_ranges_in_their_lanes():
    with Folder() as folder, Browser() as browser:
        browser.open(make(folder, "f1"))
        browser.key("/")
        equal(browser.run("return document.activeElement.id"), "search")
        browser.driver.switch_to.active_element.send_keys("TICK")
        equal(browser.text("search-count"), "3 matches")
        walk(browser, ("n", "tick, start 20 ns, duration 0 ns, depth 0, thread 2"),
             (Keys.ARROW_RIGHT, "tick, start 60 ns, duration 0 ns, depth 0, thread 2"),
             ("p", "tick, start 20 ns, duration 0 ns, depth 0, thread 2"),
             ("p", "tick, start 120 ns, duration 0 ns, depth 0, thread 2"),
             (Keys.ARROW_RIGHT, "no next event here"))
        browser.run("const s = document.getElementById('search'); s.value = 'request'; s.dispatchEvent(new Event('input'))")
        equal(browser.text("search-count"), "2 matches")
        walk(browser, (Keys.ESCAPE, "nothing is selected"),
             ("n", "request, start 5 ns, duration 100 ns, depth 0, process 100"),
             (Keys.ARROW_RIGHT, "request, start 50 ns, duration 20 ns, depth 0, process 100"))
        browser.key("m")
        browser.key(Keys.ARROW_LEFT)
        walk(browser, ("m", "45 ns from 5 ns to 50 ns"))


def test_opens_the_view_of_a_link():
    with Folder() as folder, Browser() as browser:
        path = make(folder, "f1")
        browser.open(path)
        row = browser.run("nvtxtReport.select(1); return nvtxtReport.selected.row")
        equal(row, 1)
        browser.key(Keys.ENTER, "s", "s")
        view = browser.run("return nvtxtReport.view")
        browser.wait("return location.hash.includes('t=') && location.hash.includes('sel=1')")
        browser.wait("return location.hash.includes('t=' + nvtxtReport.view.start + '..' + nvtxtReport.view.end)")
        fragment = browser.run("return location.hash")
        browser.open(path, fragment)
        equal(browser.run("return nvtxtReport.view"), view)
        equal(browser.selected()["row"], row)
        for damaged in ("#t=1..x", "#sel=999", "#q=%E0%A4", "#t=5..1", "#t=99999..100000", "#t=1..2&t=3..4"):
            browser.open(path, damaged)
            equal(browser.run("return nvtxtReport.view"), {"start": "-4", "end": "264"}, damaged)
            assert browser.live().endswith("; the whole view is shown."), browser.live()
            browser.quiet()
        browser.open(path, "#q=kern%%65l&sel=%d" % row)
        equal(browser.text("search-count"), "3 matches")


def test_works_again_when_it_was_saved():
    with Folder() as folder, Browser() as browser:
        browser.open(make(folder, "f1"))
        browser.run("document.getElementById('events').open = true")
        browser.key(Keys.HOME, Keys.ARROW_DOWN, "w")
        browser.wait("return document.querySelectorAll('#event-grid tbody tr').length > 0")
        saved = folder.name("saved.html")
        with open(saved, "w", encoding="utf-8") as file:
            file.write("<!DOCTYPE html>\n" + browser.run("return document.documentElement.outerHTML"))
        browser.open(saved)
        browser.quiet()
        equal(browser.run("return nvtxtReport.events"), 15)
        equal(browser.selected(), None)
        equal(browser.run("return document.querySelectorAll('#event-grid tbody tr').length"), 15)
        walk(browser, (Keys.HOME, "step, start 0 ns, duration 100 ns, depth 0, thread 1"))


def test_has_a_treegrid():
    with Folder() as folder, Browser() as browser:
        browser.open(make(folder, "f1"))
        browser.run("document.getElementById('events').open = true")
        rows = browser.run("return [...document.querySelectorAll('#event-grid tr[data-row]')].map((r) => "
                           "[r.querySelector('bdi').textContent, r.ariaLevel, r.ariaExpanded])")
        equal(rows[:4], [["request", "1", None], ["request", "1", None], ["step", "1", "true"], ["load", "2", None]])
        equal(browser.run("return document.getElementById('event-grid').ariaRowCount"), "16")
        row = browser.driver.find_element("css selector", "#event-grid tr[aria-expanded]")
        row.send_keys(Keys.ARROW_LEFT)
        equal(browser.run("return document.querySelectorAll('#event-grid tr[data-row]').length"), 11)
        browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
        equal(browser.selected()["message"], "step")


def test_names_every_control():
    with Folder() as folder, Browser() as browser:
        browser.open(make(folder, "f1"))
        browser.run("document.getElementById('events').open = true")
        tree = browser.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
        roles = ("button", "searchbox", "textbox", "link", "image", "img", "treegrid", "toolbar", "region", "dialog", "row", "DisclosureTriangle")
        nodes = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in tree if not node["ignored"]]
        shown = [node for node in nodes if node[0] in roles]
        equal([node for node in shown if not node[1].strip()], [])
        for role in ("button", "searchbox", "link", "treegrid"):
            assert any(node[0] == role for node in shown), (role, shown)
        equal(browser.run("return document.querySelectorAll('[style],[onclick],[onload]').length"), 0)


def test_shows_hostile_texts_as_text():
    with Folder() as folder, Browser() as browser:
        browser.open(make(folder, "hostile"))
        browser.run("document.getElementById('events').open = true")
        seen = []
        browser.key(Keys.HOME)
        for row in browser.run("return [...document.querySelectorAll('#event-grid tr[data-row]')].map((r) => r.dataset.row)"):
            browser.run("nvtxtReport.select(arguments[0])", row)
            seen.append(browser.selected()["message"])
        equal(sorted(map(len, seen)), [0, 5, 9, 12, 14, 15, 21, 23, 60000])
        assert "</script><b id=evil>x" in seen and "line\u2028separator\u2029" in seen, seen
        equal(browser.run("return document.querySelectorAll('#evil, #evil2').length"), 0)
        equal(browser.run("return document.querySelectorAll('script').length"), 2)
        browser.quiet()


def test_has_exact_times_at_the_ends_of_int64():
    with Folder() as folder, Browser() as browser:
        browser.open(make(folder, "ends"))
        browser.key(Keys.HOME)
        equal(browser.selected()["start"], "-9223372036854775808")
        equal(browser.selected()["end"], "9223372036854775807")
        equal(browser.live(), "all time, start 0 ns, duration 18446744073.709551615 s, depth 0, thread 1")
        walk(browser, (Keys.ARROW_DOWN, "empty, start 0 ns, duration 0 ns, depth 1, thread 1"))
        browser.run("const s = document.getElementById('search'); s.value = 'crossing c'; s.dispatchEvent(new Event('input'))")
        browser.key("n")
        equal(browser.selected()["depth"], 1)
        browser.key(Keys.ARROW_UP)
        equal(browser.selected()["message"], "crossing b")
        browser.quiet()


def test_is_readable_without_javascript():
    with Folder() as folder, Browser("--blink-settings=scriptEnabled=false") as browser:
        browser.driver.get("file://" + make(folder, "f1"))
        equal(browser.driver.find_element("css selector", "#timeline .picture-message").text, "The timeline needs JavaScript.")
        for name in ("report-summary", "findings", "flame-graph", "sections", "source", "session-summary", "about"):
            assert browser.driver.find_element("id", name).text, name


def test_says_that_it_cannot_inflate():
    with Folder() as folder, Browser() as browser:
        browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": "delete window.DecompressionStream"})
        browser.open(make(folder, "f1"))
        said = browser.driver.find_element("css selector", "#timeline .picture-message").text
        assert "DecompressionStream" in said, said
        browser.quiet()


def test_draws_many_events():
    """No limit of time: figures are those of bench/. It is drawn, and zooming changes the picture."""
    with Folder() as folder, Browser() as browser:
        browser.open(make(folder, "random:20000"))
        picture = "return document.getElementById('timeline-canvas').toDataURL()"
        before = browser.run("nvtxtReport.redraw(); " + picture)
        browser.key("w", "w", "w")
        after = browser.run("nvtxtReport.redraw(); " + picture)
        assert before != after and len(after) > 5000, (len(before), len(after))
        browser.quiet()


if __name__ == "__main__":
    run(globals())
