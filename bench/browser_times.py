# SPDX-License-Identifier: Apache-2.0
"""Opens a page of nvtxt-report html in Chromium and prints how long that takes, as JSON.

    browser_times.py ROUNDS PAGE [OLDER]

"ready": milliseconds from the navigation to the drawn pictures, one a round. "whole", "zoomed" and
"close": medians of 20 redraws of the timeline in a row, at the whole time, a hundredth and a ten
thousandth of it. "frames": the median time between two frames while the zoomed view is panned.
"names": the median of 20 spans by chance, each new to the page, until the names table is there;
"most": the median of 20 that are nine tenths of the time; "first": the first span of a page. OLDER is a
page that is opened in turns with the other one: "older", as "ready"."""
import json
import os
import random
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "e2e"))
import browser  # pylint: disable=wrong-import-position

REDRAWS = SPANS = 20
SPAN = """const times = [];
for (const [start, end] of arguments[0]) {
    const started = performance.now();
    nvtxtReport.setSpan(start, end);
    times.push(performance.now() - started);
}
return times;"""
REDRAW = """const times = [];
for (let i = 0; i < arguments[0]; i++) {
    const started = performance.now();
    nvtxtReport.redraw();
    times.push(performance.now() - started);
}
return times;"""
FRAMES = """const canvas = document.querySelector("#timeline canvas");
return new Promise((done) => {
    const times = [];
    let last = 0;
    function next(now) {
        if (last) times.push(now - last);
        last = now;
        canvas.dispatchEvent(new KeyboardEvent("keydown", { key: times.length % 2 ? "a" : "d", bubbles: true }));
        if (times.length < arguments[0]) requestAnimationFrame(next);
        else done(times);
    }
    requestAnimationFrame(next);
});""".replace("arguments[0]", str(REDRAWS))


def zoom(at, whole, part):
    start, end = int(whole["start"]), int(whole["end"])
    length = (end - start) // part
    first = start + (end - start) * 2 // 5
    at.run("location.hash = '#t=%d..%d'" % (first, first + length))
    at.wait("return nvtxtReport.view.start === '%d'" % first)
    # What is counted after a view stands still is not part of a redraw.
    at.run("return new Promise((done) => setTimeout(done, 500))")


def opened(at, path):
    """What the page before left is gone when the clock starts."""
    at.driver.get("about:blank")
    at.ask("HeapProfiler.collectGarbage")
    at.open(path)
    return at.run("return performance.getEntriesByName('nvtxt-ready')[0].startTime")


def spans(at, whole, found, chance):
    """A span of the page takes one call, which ends when the table is drawn."""
    start, end = int(whole["start"]), int(whole["end"])
    any_two = [sorted(chance.sample(range(start, end), 2)) for _ in range(SPANS + 1)]
    tenth = (end - start) // 10
    most = [(first, first + tenth * 9) for first in (start + chance.randrange(tenth) for _ in range(SPANS))]
    times = at.run(SPAN, [[str(first), str(last)] for first, last in any_two + most])
    found["first"].append(times[0])
    found["names"].append(statistics.median(times[1:SPANS + 1]))
    found["most"].append(statistics.median(times[SPANS + 1:]))


def measure(rounds, path, older):
    found = {name: [] for name in ("ready", "older", "whole", "zoomed", "close", "frames", "names", "most", "first")}
    chance = random.Random(1)
    with browser.Browser() as at:
        for number in range(rounds):
            turns = [("older", older), ("ready", path)] if older else [("ready", path)]
            for name, one in turns if number % 2 == 0 else turns[::-1]:
                found[name].append(opened(at, one))
            if number % 2 and older:  # then the older one is open
                opened(at, path)
            whole = at.run("return nvtxtReport.view")
            found["whole"].append(statistics.median(at.run(REDRAW, REDRAWS)))
            zoom(at, whole, 100)
            found["zoomed"].append(statistics.median(at.run(REDRAW, REDRAWS)))
            found["frames"].append(statistics.median(at.run(FRAMES)))
            zoom(at, whole, 10000)
            found["close"].append(statistics.median(at.run(REDRAW, REDRAWS)))
            spans(at, whole, found, chance)
    return found


if __name__ == "__main__":
    browser.need()
    print(json.dumps(measure(int(sys.argv[1]), sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None)))
