# SPDX-License-Identifier: Apache-2.0
"""Opens a page of nvtxt-report html --follow in Chromium and prints how old its newest event is while it
is shown, as JSON.

    follow_times.py PAGE SECONDS

The age is looked at again and again, also just before the page loads itself again, when it is oldest.
"bound": two intervals, and the time that it took to write the page: the part of the interval that the
follower gives to it, or less; and what the browser needs to load it."""
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "e2e"))
import browser  # pylint: disable=wrong-import-position

try:
    from selenium.common.exceptions import WebDriverException
except ImportError:
    WebDriverException = None  # browser.need() says so

SAMPLE = """if (!window.nvtxtReport || !nvtxtReport.ready) return null;
const data = window.nvtxtData ??= JSON.parse(document.getElementById("nvtxt-data").textContent);
if (!data.items) return null;
return [performance.timeOrigin, Date.now(), Number(BigInt(data.last) / 1000n) / 1000, data.follow.interval,
    performance.getEntriesByName("nvtxt-ready")[0].startTime, Number(BigInt(data.follow.written) / 1000n) / 1000];"""


def samples(at, seconds):
    found, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            found.append(at.run(SAMPLE))
        except WebDriverException:
            pass  # it loads itself
        time.sleep(0.02)
    return [sample for sample in found if sample]


def measure(path, seconds):
    with browser.Browser() as at:
        at.open(path)
        found = samples(at, seconds)
    ages = sorted((now - last) / 1000 for _, now, last, _, _, _ in found)
    interval = max(sample[3] for sample in found) / 1000
    return {"pages": len({sample[0] for sample in found}), "median": ages[len(ages) // 2], "most": ages[-1], "interval": interval,
            "bound": 2 * interval + interval / 10, "ready": max(sample[4] for sample in found) / 1000}


if __name__ == "__main__":
    browser.need()
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
