# SPDX-License-Identifier: Apache-2.0
"""A page of nvtxt-report html --follow in Chromium: it loads itself again and looks as it did, stays
when somebody reads it, and says since when nothing new came. Skipped without Chromium, its driver or
selenium."""
import atexit
import os
import re
import signal
import sys
import time

import browser
from client import Folder, Running, run_client
from lib import Daemon, equal, run, wait_for
from report import FIXTURES

browser.need()
from selenium.common.exceptions import WebDriverException  # noqa: E402

HEAD = """\
#nvtxt-session {"protocol":1,"nvtx":1,"escapes":1}
ProcessId = 100
@RangePush, Time, ThreadId, Message
@RangePop, Time, ThreadId
"""
INTERVAL = 0.5  # seconds
READY = "return window.nvtxtReport && nvtxtReport.ready ? performance.timeOrigin : 0"
GO_ON = "if (window.testClock && performance.timeOrigin === arguments[0]) testClock.now += arguments[1]; "
LAST = "return JSON.parse(document.getElementById('nvtxt-data').textContent).last"
HIDE = """Object.defineProperty(document, "hidden", { value: arguments[0], configurable: true });
document.dispatchEvent(new Event("visibilitychange"));"""
# The clocks of the page are the test's, so it loads itself again when the test says so, and only then: the clock
# of a page begins with 0 and goes on by Shown.stays() and loads(). Times of day stand still, and go where
# Shown.at_time() wants them, on the next pages, too.
CLOCKS = """{
    const clock = (window.testClock = { now: 0 });
    const mark = performance.mark.bind(performance);
    performance.now = () => clock.now;
    Date.now = () => {
        try {
            return Number(sessionStorage.getItem("test-now") ?? NOW);
        } catch {
            return NOW;
        }
    };
    performance.mark = (...given) => {
        window.testLive = document.getElementById("live")?.getAttribute("aria-live");
        return mark(...given);
    };
}
"""
TURNS = """const seen = (window.testTurns = { count: 0 });
seen.timer = setInterval(() => ++seen.count > 2 && clearInterval(seen.timer), 250);"""
NO_STORAGE = """Object.defineProperty(window, "sessionStorage", {
    get() { throw new DOMException("refused", "SecurityError"); } });"""


WINDOW = browser.Browser()
atexit.register(WINDOW.quit)


class Shown:
    """A store, a page that follows it, and a tab that shows the page."""

    def __init__(self, events=20, interval=INTERVAL, fragment="", before="", options=()):
        self.number, self.interval, self.fragment, self.before = 0, interval, fragment, before
        self.events, self.options = events, options
        self.parts = []
        self.newest = time.time_ns()

    def __enter__(self):
        try:
            self.folder = self.begin(Folder())
            self.daemon = self.begin(Daemon())
            self.path = self.folder.name("page.html")
            self.add(self.events)
            self.follower = self.begin(Running(
                "nvtxt-report", "html", "--follow=%gs" % self.interval, "-o", self.path, *self.options, self.daemon.store,
                env={"NVTXT_REPORT_DATA": os.path.join(FIXTURES, "..", "..", "report")}))
            wait_for(lambda: os.path.exists(self.path) or self.follower.process.poll() is not None, "there is a page")
            self.window = WINDOW
            self.window.renew()
            clocks = CLOCKS.replace("NOW", str(self.newest // 1000000))
            self.window.ask("Page.addScriptToEvaluateOnNewDocument", source=clocks + self.before)
            self.window.open(self.path, self.fragment)
        except BaseException:
            self.__exit__(BaseException, None, None)
            raise
        return self

    def begin(self, part):
        self.parts.append(part)
        return part.__enter__()

    def __exit__(self, kind, value, trace):
        for part in reversed(self.parts):
            part.__exit__(kind, value, trace)

    def add(self, count):
        """Ranges of a millisecond, the last of which ended just now."""
        now = time.time_ns()
        lines = [HEAD]
        for i in range(count):
            start = now - (count - i) * 2000000
            lines.append('RangePush, %d, 1, "range %d"\nRangePop, %d, 1\n' % (start, self.number + i, start + 1000000))
        self.number += count
        self.newest = now
        got = run_client("nvtxt-send", "--socket", self.daemon.socket, self.folder.write("more.nvtxt", "".join(lines)))
        equal(got[0], 0, got)

    def run(self, script, *arguments):
        return self.window.run(script, *arguments)

    def keys(self, name, *keys):
        self.window.driver.find_element("id", name).send_keys(*keys)

    def next(self, before, ms=0):
        """Waits until the page that was loaded then has gone and the next one is ready. While it is there, its time
        goes on by so much at each look: what keeps it, as a place that it scrolled to, is over some time."""
        def is_ready():
            try:
                return self.run(GO_ON + READY, before, ms) not in (0, before)
            except WebDriverException:  # it is neither here nor there
                return False
        wait_for(is_ready, "the page loads itself again")

    def loads(self, times=1):
        """It is time, and nothing keeps it from loading itself again."""
        for _ in range(times):
            self.next(self.run(READY), 2000 * self.interval)

    def refresh(self):
        before = self.run(READY)
        self.window.driver.refresh()
        self.next(before)

    def shows(self, count):
        """The follower writes when it wants: its next pages are loaded until one has so many events."""
        wait_for(lambda: self.run("return nvtxtReport.events") == count or self.loads(), "the page has %d events" % count)

    def says(self):
        return self.run("return document.getElementById('follow-status').textContent")

    def comes_to_say(self, pattern):
        wait_for(lambda: re.fullmatch(pattern, self.says()), "the page says " + pattern)

    def at_time(self, ns):
        """The time of day in the page is this from now on."""
        self.run("sessionStorage.setItem('test-now', arguments[0])", str(ns // 1000000))

    def stays(self, intervals=3):
        """So many intervals are over, it looked at its clock, and it is still the same page."""
        before = self.run(READY)
        self.run("testClock.now += arguments[0] * 1000; " + TURNS, intervals * self.interval)
        wait_for(lambda: self.run("return !window.testTurns || testTurns.count > 2"), "the page looks at its clock")
        equal(self.run(READY), before, "loaded")

    def view(self):
        return self.run("return [nvtxtReport.view.start, nvtxtReport.view.end].map(Number)")

    def look_at(self, before_last, length):
        """A view that ends so many ns before the newest event; returns its ends."""
        end = int(self.run(LAST)) - before_last
        self.run("location.hash = arguments[0]", "t=%d..%d" % (end - length, end))
        wait_for(lambda: self.is_view(end - length, end), "the view is there")
        return end - length, end

    def is_view(self, start, end):
        return all(abs(a - b) < 1000 for a, b in zip(self.view(), (start, end)))

    def button(self):
        return self.run("return document.getElementById('follow-button').textContent")


def test_it_shows_what_came():
    with Shown() as shown:
        equal((shown.says(), shown.button()), ("follows", "Pause"))
        shown.shows(20)
        shown.add(10)
        shown.shows(30)
        shown.loads()
        first, last = shown.view()
        equal(last >= int(shown.run(LAST)), True, "the whole view is whole again")
        equal(shown.run("return location.hash"), "")
        equal(shown.window.said(), [])
        shown.follower.signal(signal.SIGTERM)
        equal(shown.follower.wait(), 0)
        shown.loads()
        equal(shown.run("return document.getElementById('follow').hidden"), True, "it does not follow any more")
        shown.stays()


def test_selection_view_and_places_stay():
    with Shown() as shown:
        shown.look_at(15000000, 10000000)
        row = shown.run("nvtxtReport.select(arguments[0]); return nvtxtReport.selected.row", shown.run(
            "return Number(document.querySelector('#event-grid tr[data-row]').dataset.row)"))
        shown.run("document.getElementById('events').open = false; document.getElementById('timeline-canvas').focus();"
                  "scrollTo(0, 321)")
        start, end = shown.view()
        said = shown.run("return document.getElementById('live').textContent")
        shown.add(5)
        shown.shows(25)
        equal(shown.run("return testLive"), "off", "nothing is read aloud")
        equal(shown.run("return nvtxtReport.selected.row"), row)
        equal(shown.run("return document.getElementById('live').textContent"), said)
        equal(shown.is_view(start, end), True, (shown.view(), (start, end)))
        equal(shown.run("return [document.activeElement.id, document.getElementById('events').open, scrollY]"),
              ["timeline-canvas", False, 321])
        shown.loads(2)
        equal(shown.run("return [nvtxtReport.selected.row, document.activeElement.id, scrollY]"), [row, "timeline-canvas", 321])


def test_the_first_events_come_into_an_empty_page():
    with Shown(events=0) as shown:
        equal(shown.run("return nvtxtReport.events"), 0)
        shown.loads()
        shown.add(5)
        shown.shows(5)
        equal(shown.run("return document.getElementById('timeline-canvas').getBoundingClientRect().width > 0"), True)
        equal(shown.window.said(), [])


def test_who_loads_it_again_sees_the_same():
    with Shown(interval=60) as shown:
        shown.look_at(15000000, 10000000)
        shown.run("scrollTo(0, 321)")
        wait_for(lambda: "t=" in shown.run("return location.hash"), "the address has the view")
        view = shown.view()
        shown.refresh()
        equal(shown.is_view(*view), True)
        equal(shown.run("return scrollY"), 321)


def test_a_view_at_the_newest_event_goes_with_it():
    with Shown() as shown:
        start, end = shown.look_at(0, 8000000)
        shown.add(5)
        shown.shows(25)
        newest = int(shown.run(LAST))
        equal(newest > end, True)
        equal(shown.is_view(newest - (end - start), newest), True)


def test_a_link_that_nobody_has_read_yet_is_not_written_over():
    with Shown() as shown:
        start, end = shown.look_at(5000000, 10000000)
        start, end = start - 3000000, end - 3000000
        # What writes the fragment of a page that goes away also does so before hashchange is told.
        shown.run("location.hash = arguments[0]; dispatchEvent(new Event('pagehide'))", "t=%d..%d" % (start, end))
        wait_for(lambda: shown.is_view(start, end), "the view of the link")
        shown.loads()
        equal(shown.is_view(start, end), True, shown.view())


def test_it_stays_while_somebody_points_or_types():
    with Shown() as shown:
        for _ in range(4):
            browser.webdriver.ActionChains(shown.window.driver).move_by_offset(1, 1).perform()
            shown.stays(0.8)
            equal(shown.says(), "paused")
        shown.loads()
        for letter in "e 1":
            shown.keys("search", letter)
            shown.stays(0.6)
        shown.loads()
        equal(shown.run("return [document.getElementById('search').value, document.activeElement.id]"), ["e 1", "search"])
        shown.keys("timeline-canvas", "?")
        shown.stays()


def test_the_button_is_remembered():
    with Shown() as shown:
        shown.keys("follow-button", browser.Keys.ENTER)
        equal((shown.says(), shown.button()), ("paused", "Follow"))
        shown.stays()
        wait_for(lambda: shown.run("return location.hash") == "#follow=off", "the address has it")
        shown.look_at(15000000, 10000000)
        shown.run("history.replaceState(null, '', location.hash + '&follow=off')")
        shown.refresh()
        shown.comes_to_say("paused")
        shown.run("nvtxtReport.select(null)")
        shown.stays()
        equal(shown.run("return location.hash").split("&")[-1], "follow=off")
        shown.run("document.getElementById('follow-button').click()")
        equal(shown.button(), "Pause")
        shown.loads()
        equal("follow" in shown.run("return location.hash"), False)


def test_it_stays_for_a_span():
    with Shown() as shown:
        last = int(shown.run(LAST))
        shown.run("nvtxtReport.setSpan(arguments[0], arguments[1])", str(last - 9000000), str(last))
        shown.comes_to_say("paused")
        shown.stays()
        equal(shown.run("return nvtxtReport.span"), {"start": str(last - 9000000), "end": str(last)})
        shown.run("nvtxtReport.setSpan(null)")
        shown.loads()


def test_it_says_since_when_nothing_came():
    with Shown() as shown:
        shown.at_time(shown.newest + int(9 * INTERVAL * 1e9))
        shown.comes_to_say("follows")
        shown.at_time(shown.newest + int(11 * INTERVAL * 1e9))
        when = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime((shown.newest - 1000000) // 1000000000))
        shown.comes_to_say("no new events since " + when)
        shown.loads()
        equal(shown.says(), "no new events since " + when)
        shown.add(5)
        shown.at_time(shown.newest)
        shown.shows(25)
        equal(shown.says(), "follows")


def test_names_folds_and_choices_stay():
    choose = ("const [id, value] = arguments, element = document.getElementById(id); element.value = value;"
              "element.dispatchEvent(new Event(element.type === 'search' ? 'input' : 'change'))")
    state = """const ids = ["names-filter", "colors", "order"].map((id) => document.getElementById(id).value);
        const only = document.getElementById("only-matches").checked;
        const sorted = document.querySelector("#names-table th[aria-sort=ascending] button").dataset.sort;
        const rows = [...document.querySelectorAll("#names-table tbody tr")].map((row) => row.cells[0].textContent);
        const folded = [...document.querySelectorAll("#lane-table button")].map((button) => button.ariaExpanded === "false");
        const current = document.querySelector("#names-table tr.current")?.cells[0].textContent ?? null;
        return [...ids, only, sorted, folded, current, rows]"""
    with Shown() as shown:
        shown.run("""document.getElementById("lanes").open = true;
            document.querySelector("#names-table button[data-sort=name]").click();
            if (document.querySelector("#names-table th[aria-sort=descending]")) document.querySelector("#names-table button[data-sort=name]").click();
            document.getElementById("fold-all").click();
            document.getElementById("only-matches").click();""")
        for name, value in (("names-filter", "range 1"), ("colors", "name"), ("order", "busy")):
            shown.run(choose, name, value)
        shown.run("document.querySelector('#names-table tbody button').click()")
        before = shown.run(state)
        names = ["range %d" % number for number in (1, *range(10, 20))]
        equal(before, ["range 1", "name", "busy", False, "name", [True], names[0], names])
        shown.loads(2)
        equal(shown.run(state), before)
        shown.run(choose, "names-filter", "range 2")
        shown.add(5)
        shown.shows(25)
        equal(shown.run(state)[-1], ["range %d" % number for number in (2, 20, 21, 22, 23, 24)], "of the new page")


def test_it_does_not_load_itself_unseen():
    with Shown() as shown:
        shown.run(HIDE, True)
        shown.stays()
        before = shown.run(READY)
        shown.run(HIDE, False)
        shown.next(before)


def test_without_storage_there_is_the_fragment():
    with Shown(before=NO_STORAGE) as shown:
        start, end = shown.look_at(15000000, 10000000)
        shown.loads(2)
        equal(shown.is_view(start, end), True)
        equal(shown.says() == "paused", False)


def test_what_is_gone_is_not_selected_any_more():
    with Shown(options=("--last", "5s")) as shown:
        wait_for(lambda: shown.run("return nvtxtReport.events") > 0 or shown.add(20) or shown.loads(), "some are not too old")
        shown.run("nvtxtReport.select(Number(document.querySelector('#event-grid tr[data-row]').dataset.row))")
        wait_for(lambda: "sel=" in shown.run("return location.hash"), "the address has the selection")
        wait_for(lambda: shown.add(1) or shown.loads() or shown.run("return nvtxtReport.events > 0 && nvtxtReport.selected === null"),
                 "it is too old")
        equal("sel=" in shown.run("return location.hash"), False)


def test_a_saved_page_stays():
    with Shown() as shown:
        saved = shown.folder.write("saved.html", "<!DOCTYPE html>" + shown.run("return document.documentElement.outerHTML"))
        shown.window.open(saved)
        equal(shown.run("return document.getElementById('follow').hidden"), True)
        shown.stays()


# Where nobody asks for the long form.
USUAL = (test_selection_view_and_places_stay, test_the_first_events_come_into_an_empty_page,
         test_a_view_at_the_newest_event_goes_with_it, test_a_link_that_nobody_has_read_yet_is_not_written_over,
         test_it_stays_for_a_span, test_without_storage_there_is_the_fragment, test_a_saved_page_stays)

if __name__ == "__main__":
    run(globals() if os.environ.get("NVTXT_TEST_LONG") or sys.argv[1:] else {case.__name__: case for case in USUAL})
