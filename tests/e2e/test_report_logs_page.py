# SPDX-License-Identifier: Apache-2.0
"""Logs on the page of nvtxt-report html, in Chromium: strips of density, lines that a search finds, and
the patterns without JavaScript. Skipped without Chromium, its driver or selenium."""
import atexit

import browser
from client import Folder
from lib import Daemon, equal, run
from report import f1, report
from report_page import Parser
from test_report_logs import send_lines

browser.need()
PAGE = browser.Browser()
atexit.register(PAGE.quit)
# The colours of the strip: how many pixels of the canvas have each.
COUNT = """
const canvas = document.getElementById("timeline-canvas");
const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
const counts = {};
for (let i = 0; i < data.length; i += 4) {
    const name = [data[i], data[i + 1], data[i + 2]].join();
    counts[name] = (counts[name] || 0) + 1;
}
return counts;
"""
ERR, INFO = "211,38,43", "47,114,184"


def opened(folder, store, *args):
    path = folder.name("page.html")
    status, _, err = report("html", "-o", path, *args, store)
    equal((status, err), (0, ""))
    PAGE.open(path)
    return PAGE, path


def many_lines():
    lines = [(at * 1000, 6, "request %d done" % at) for at in range(20000)]
    lines[10000:10100] = [(at * 1000, 3, "request %d failed" % at) for at in range(10000, 10100)]
    return lines


def test_lines_are_a_strip_in_the_colour_of_the_worst():
    with Daemon() as daemon, Folder() as folder:
        send_lines(daemon, many_lines())
        at, path = opened(folder, daemon.store, "--apply-rules", "no")
        equal(at.said(), [])
        counts = at.run(COUNT)
        equal((counts.get(INFO, 0) > 2000, 0 < counts.get(ERR, 0) < counts[INFO] / 20), (True, True), counts)
        at.run("location.hash = '#t=10000000..10050000'")
        at.wait("return nvtxtReport.view.start === '10000000'")
        at.run("nvtxtReport.redraw()")
        equal(at.run(COUNT).get(INFO, 0), 0, "errors alone are in view")
        with open(path, encoding="utf-8") as file:
            page = Parser(file.read()).root
        rows = [[cell.text() for cell in row.all("td")] for row in page.one("logs").all("tr")][1:]
        equal([[row[0], row[1], row[7]] for row in rows],
              [["19,900", "info", "request # done"], ["100", "err", "request # failed"]])


def test_merged_lines_have_the_level_of_the_worst():
    with Daemon() as daemon, Folder() as folder:
        lines = [(at, 6, "request %d done" % at) for at in range(20000)]
        lines[10001] = (10001, 2, "disk is gone")
        send_lines(daemon, lines)
        path = folder.name("page.html")
        equal(report("html", "--max-events", "5000", "--apply-rules", "no", "-o", path, daemon.store)[0], 0)
        PAGE.open(path)
        equal(PAGE.run(COUNT).get("163,18,63", 0) > 0, True, "the pixel of crit")


def test_a_search_shows_the_lines():
    with Daemon() as daemon, Folder() as folder:
        send_lines(daemon, many_lines())
        at, _ = opened(folder, daemon.store)
        lines = "return [...document.querySelectorAll('#search-lines li')].map((at) => at.textContent)"
        equal(at.run(lines), [])
        at.driver.find_element("id", "search").send_keys("failed")
        at.wait("return document.querySelectorAll('#search-lines li').length === 20")
        equal(at.run(lines)[0].split(" ", 2)[2], "err request 10000 failed")
        at.driver.find_element("css selector", "#search-lines li:nth-child(3) button").click()
        equal(at.run("return nvtxtReport.selected.message"), "request 10002 failed")
        equal(at.run("return document.querySelector('#search-lines [aria-current]').textContent.includes('10002')"), True)


def test_a_page_without_logs_does_not_speak_of_them():
    with Folder() as folder:
        at, path = opened(folder, f1(folder))
        with open(path, encoding="utf-8") as file:
            equal('id="logs"' in file.read(), False)
        at.driver.find_element("id", "search").send_keys("tick")
        equal(at.run("return document.getElementById('search-lines').hidden"), True)


if __name__ == "__main__":
    run(globals())
