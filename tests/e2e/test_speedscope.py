# SPDX-License-Identifier: Apache-2.0
"""Exports in a real viewer: speedscope in a headless Chromium. Long; skips without them.

speedscope is the npm package: in the folder $NVTXT_SPEEDSCOPE, among npm's global ones, or it is
fetched for this run. What it complains of is on the browser's console; what it draws is looked at
in a screenshot, in the overview at its top, which has no text: a column of pixels shows how deep
the ranges nest at a time. NVTXT_TEST_KEEP=FILE keeps the screenshot.
"""
import base64
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import zlib

from client import Folder, run_client
from lib import equal, run

WIDTH, HEIGHT = 1200, 700
TIMEOUT = 300
START = 1795242240000000000

NESTED = """\
@RangePush, Time, ProcessId, ThreadId, Color, Message
@RangePop, Time, ProcessId, ThreadId
@RangeStartEnd, Start, End, ProcessId, ThreadId, Color, Message
@Marker, Time, ProcessId, ThreadId, Message
SetProcessName, 7, "shop"
SetThreadName, 7, 8, "worker"
RangePush, {0}, 7, 8, Red, "request"
RangePush, {100}, 7, 8, Blue, "parse"
RangePop, {300}, 7, 8
RangePush, {300}, 7, 8, Green, "query"
RangePush, {350}, 7, 8, Green, "wait"
RangePop, {600}, 7, 8
Marker, {650}, 7, 8, "half way"
RangePop, {900}, 7, 8
RangePop, {1000}, 7, 8
RangeStartEnd, {500}, {1200}, 7, 8, Orange, "crosses the request"
RangePush, {1100}, 7, 8, Red, "request"
RangePop, {1500}, 7, 8
RangeStartEnd, {200}, {800}, 7, 9, Orange, "of another thread"
"""
# Microseconds and how many ranges nest on the worker then; the whole takes 1,500.
DEPTHS = ((50, 1), (230, 2), (450, 3), (750, 2), (950, 1), (1050, 0), (1300, 1))


def skip(why):
    print("1..0 # SKIP " + why)
    sys.exit(77)


def find_speedscope(folder):
    """The page of the npm package, or None."""
    places = [os.environ.get("NVTXT_SPEEDSCOPE", "")]
    if shutil.which("npm"):
        listed = subprocess.run(["npm", "root", "-g"], capture_output=True, text=True)
        places.append(os.path.join(listed.stdout.strip(), "speedscope"))
        if not any(page_of(place) for place in places):
            subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund",
                            "--ignore-scripts", "--prefix", folder, "speedscope"],
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, timeout=TIMEOUT)
        places.append(os.path.join(folder, "node_modules", "speedscope"))
    return next(filter(None, map(page_of, places)), None)


def page_of(package):
    page = os.path.join(package, "dist", "release", "index.html")
    return page if os.path.exists(page) else None


def export(folder, text, form="chrome"):
    source, store, out = folder.write("a.nvtxt", text), folder.name("store"), folder.name("t.json")
    status, _, err = run_client("nvtxt-import", "create", "--force", "-q", "-n", source, "-o", store)
    equal(status, 0, err)
    status, _, err = run_client("nvtxt-export", "--store", store, "--format", form, "-o", out)
    equal(status, 0, err)
    with open(out, "rb") as file:
        return file.read()


def chromium(folder, trace, how, view=""):
    """Opens a trace in the page; the program's end."""
    script = folder.write("t.js", "speedscope.loadFileFromBase64('t.json', %s)" %
                          json.dumps(base64.b64encode(trace).decode()))
    return subprocess.run(
        ["chromium", "--headless=new", "--no-sandbox", "--use-gl=angle",
         "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--hide-scrollbars",
         "--no-first-run", "--disable-background-networking", "--disable-sync",
         "--user-data-dir=" + folder.name("profile"), "--allow-file-access-from-files",
         "--enable-logging=stderr", "--window-size=%d,%d" % (WIDTH, HEIGHT),
         "--virtual-time-budget=10000", how,
         "file://%s#localProfilePath=%s%s" % (PAGE, script, view)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        timeout=TIMEOUT, cwd=folder.path)


def browse(folder, trace, view=""):
    """Opens a trace; returns what the page said, and the screenshot's rows of (r, g, b)."""
    shot = folder.name("shot.png")
    done = chromium(folder, trace, "--screenshot=" + shot, view)
    said = [line for line in done.stderr.decode(errors="replace").splitlines() if "CONSOLE" in line]
    if os.environ.get("NVTXT_TEST_KEEP"):
        shutil.copy(shot, os.environ["NVTXT_TEST_KEEP"])
    with open(shot, "rb") as file:
        return "\n".join(said), pixels(file.read())


def pixels(png):
    """The rows of a PNG of 8 bits a channel."""
    at, data = 8, b""
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", png[at + 8:at + 18])
        elif kind == b"IDAT":
            data += png[at + 8:at + 8 + length]
        at += length + 12
    equal((depth, colour in (2, 6)), (8, True), "kind of PNG")
    size = 4 if colour == 6 else 3
    data, line, rows = zlib.decompress(data), width * size, []
    before = bytearray(line)
    for y in range(height):
        start = y * (line + 1)
        row = bytearray(data[start + 1:start + 1 + line])
        unfilter(data[start], row, before, size)
        rows.append([tuple(row[x:x + 3]) for x in range(0, line, size)])
        before = row
    return rows


def unfilter(kind, row, up, size):
    for i in range(len(row)):
        a = row[i - size] if i >= size else 0
        b, c = up[i], up[i - size] if i >= size else 0
        nearest = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
        row[i] = (row[i] + (0, a, b, (a + b) // 2, nearest)[kind]) & 255


def bands(rows, x):
    """How many stretches of one colour a column of the overview has."""
    found, run_of = 0, None
    for y in range(40, 120):
        colour = rows[y][x]
        grey = max(colour) - min(colour) < 12  # white, lines of the grid
        run_of = None if grey else (colour, run_of[1] + 1 if run_of and run_of[0] == colour else 1)
        found += bool(run_of and run_of[1] == 12)
    return found


def no_complaint(said):
    equal([word for word in ("Tried to end", "still open", "ERROR") if word in said], [], said)


def test_ranges_are_drawn_as_they_nest():
    with Folder() as folder:
        text = NESTED
        for number in sorted({int(part.split("}")[0]) for part in NESTED.split("{")[1:]}):
            text = text.replace("{%d}" % number, str(START + number * 1000))
        said, rows = browse(folder, export(folder, text))
        no_complaint(said)
        equal("Importing as Trace Event Format" in said, True, said)
        equal([(us, bands(rows, us * WIDTH // 1500)) for us, _ in DEPTHS], list(DEPTHS))


def test_ranges_that_cross_at_random_do_not_disturb():
    rng = random.Random(1)
    lines = ["@RangeStartEnd, Start, End, ProcessId, ThreadId, Message"]
    for number in range(3000):
        start = START + rng.randrange(10**9)
        lines.append('RangeStartEnd, %d, %d, 7, %d, "range %d"' % (
            start, start + rng.choice([0, rng.randrange(10**4), rng.randrange(10**8)]),
            rng.randrange(3), number))
    with Folder() as folder:
        said, _ = browse(folder, export(folder, "\n".join(lines) + "\n"))
        no_complaint(said)


def test_two_hundred_ranges_of_three_messages_are_three_rows():
    lines = ["@RangeStartEnd, Start, End, ProcessId, ThreadId, Color, Payload, Message"]
    for number in range(100):  # microseconds: 6 or 10 of which 4 are inside
        at, text = START + number * 100000, ("load", "draw")[number % 2]
        lines += ["RangeStartEnd, %d, %d, 7, 8, Red, %d, %s" % (at, at + 10000, number, text),
                  "RangeStartEnd, %d, %d, 7, 8, Blue, %d, 'wait'" % (at + 3000, at + 7000, number)]
    with Folder() as folder:
        trace = export(folder, "\n".join(lines) + "\n", "speedscope")
        page = chromium(folder, trace, "--dump-dom", "&view=sandwich").stdout.decode()
        cells = [re.sub("<[^>]*>", " ", row).split() for row in re.findall("<tr.*?</tr>", page)]
        equal(sorted(cells[1:]), sorted([
            ["500.00µs", "(50%)", "300.00µs", "(30%)", "load"],
            ["500.00µs", "(50%)", "300.00µs", "(30%)", "draw"],
            ["400.00µs", "(40%)", "400.00µs", "(40%)", "wait"]]), cells)
        browse(folder, trace, "&view=sandwich")


if __name__ == "__main__":
    if not os.environ.get("NVTXT_TEST_LONG"):
        skip("takes long: set NVTXT_TEST_LONG")
    if not shutil.which("chromium"):
        skip("chromium is not installed")
    with Folder() as place:
        PAGE = find_speedscope(place.path)
        if not PAGE:
            skip("the npm package speedscope cannot be had")
        run(globals())
