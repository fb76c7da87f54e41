# SPDX-License-Identifier: Apache-2.0
"""Pages of nvtxt-report html in a window of Chromium, for tests: what they show, their keys, and the stores
that they are made of."""
import atexit
import sqlite3

import browser
from lib import equal
from report import make_export, make_store, report

Keys = browser.Keys

HOSTILE = ["</script><b id=evil>x", "<!--<script>", "\"quotes' & <i id=evil2>", "line\u2028separator\u2029", "\u202eright to left",
           "\u0645\u0631\u062d\u0628\u0627", "<img src=x onerror=alert(1)>", "x" * 60000, "\x1b[31mred"]
HEAD = """\
#nvtxt-session {"protocol":1,"nvtx":1,"escapes":1}
ProcessId = 100
@RangePush, Time, ThreadId, Message
@RangePop, Time, ThreadId
@Marker, Time, ThreadId, Message
"""


class Page(browser.Browser):
    def key(self, *keys, picture="timeline"):
        self.run("document.querySelector(arguments[0]).focus()", "#%s canvas" % picture)
        self.press(*keys)

    def text(self, name):
        return self.run("return document.getElementById(arguments[0]).textContent", name)

    def texts(self, selector):
        return self.run("return [...document.querySelectorAll(arguments[0])].map((at) => at.textContent)", selector)

    def selected(self):
        return self.run("return nvtxtReport.selected")

    def view(self):
        return self.run("return nvtxtReport.view")

    def search(self, text):
        field = self.driver.find_element("id", "search")
        field.clear()
        field.send_keys(text)

    def quiet(self):
        """Nothing in the console, and no request but for the file."""
        equal(self.said(), [])

    def walk(self, *steps):
        """Each step: a key and the live region's text after it."""
        for key, said in steps:
            self.key(key)
            equal(self.text("live"), said, repr(key))


THE_PAGE = []


def page():
    """One window for all tests."""
    if not THE_PAGE:
        THE_PAGE.append(Page())
        atexit.register(THE_PAGE[0].quit)
    return THE_PAGE[0]


def write(folder, *args, name="page.html"):
    """The path of a page that the program wrote."""
    path = folder.name(name)
    status, out, err = report("html", "-o", path, *args)
    equal((status, out), (0, ""), err)
    return path


def opened(folder, *args, fragment=""):
    at = page()
    at.open(write(folder, *args), fragment)
    return at


def store_of(folder, *lines):
    return make_store(folder, "made.sqlite", folder.write("made.nvtxt", HEAD + "".join(line + "\n" for line in lines)))


def export_of(folder, ranges):
    """An export with push/pop ranges: (start, end, thread, message)."""
    path = make_export(folder, "export.sqlite", store_of(folder))
    store = sqlite3.connect(path)
    store.executemany("INSERT INTO NVTX_EVENTS (start, end, eventType, globalTid, text, domainId) VALUES (?, ?, 59, ?, ?, 0)",
                      [(start, end, 100 << 24 | thread, text) for start, end, thread, text in ranges])
    store.commit()
    store.close()
    return path


def range_lines(start, end, name, thread=1):
    return ['RangePush, %d, %d, "%s"' % (start, thread, name), "RangePop, %d, %d" % (end, thread)]


# Keys in the page itself: thousands of them, each of which would be half a dozen messages to the browser.
FLAME_WALK = """
const canvas = document.querySelector("#flame-graph canvas"), live = document.getElementById("live"), said = [];
const press = (key) => {
    canvas.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    return live.textContent;
};
let depth = 1;
press("Home");
while (depth > 0) {
    said.push(live.textContent);
    if (press("ArrowDown") !== "no child") {
        depth++;
        continue;
    }
    while (depth > 0 && press("ArrowRight") === "no next one here") {
        press("ArrowUp");
        depth--;
    }
}
return said;
"""


def flame_walk(at):
    """What the flame graph says of each path."""
    return at.run(FLAME_WALK)
