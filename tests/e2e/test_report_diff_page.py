# SPDX-License-Identifier: Apache-2.0
"""The page of nvtxt-report diff --format html without a browser: its elements, its data, its policy, and
how it is written."""
import base64
import csv
import hashlib
import io
import json
import math
import os
import random
import re
import subprocess

from client import ENV, Folder, contains, program
from lib import DEADLINE, equal, run
from report import f1, make_export, make_store, on_terminal, query, report
from report_page import Element, Parser
from test_report_diff import FAST, HOSTILE, SLOW, hostile, runs, saved
from test_report_launches import launch, write

GROUPS = {"slower": "compared", "faster": "compared", "same": "compared", "inconclusive": "inconclusive",
          "added": "added", "removed": "removed"}
BINS = 24


def page(*args, status=0):
    """The page of `diff --format html ARGS` as text and as a tree."""
    got = report("diff", "--format", "html", *args)
    equal(got[0], status, got[2])
    check_shape(got[1])
    return got[1], Parser(got[1]).root


def said(*args, status=0):
    got = report("diff", "--format", "json", *args)
    equal(got[0], status, got[2])
    return json.loads(got[1])


def digest(element):
    return "'sha256-%s'" % base64.b64encode(hashlib.sha256(element.text().encode()).digest()).decode()


def check_shape(text):
    """Nothing runs, and nothing is asked for, but what the page itself has."""
    root = Parser(text).root
    scripts, styles = root.all("script"), root.all("style")
    equal((len(scripts), len(styles), scripts[0]["type"]), (2, 1, "application/json"))
    equal(root.all("meta", http_equiv="Content-Security-Policy")[0]["content"],
          "default-src 'none'; script-src %s; style-src %s; img-src data:; base-uri 'none'; form-action 'none'"
          % (digest(scripts[1]), digest(styles[0])))
    ids = [at["id"] for at in root.walk() if at["id"] is not None]
    equal(len(ids), len(set(ids)), "an id stands twice")
    level = 0
    for at in root.walk():
        equal([name for name in at.attributes if name in ("style", "src") or name.startswith("on")], [])
        if at["href"] and at.tag == "a":
            root.one(at["href"].removeprefix("#"))
        if re.fullmatch("h[1-6]", at.tag) and at.parent.tag != "dialog":
            equal(int(at.tag[1]) <= level + 1, True, "a headline skips a level: " + at.text())
            level = int(at.tag[1])


def data_of(root):
    text = root.one("nvtxt-data").text()
    for byte in "<>&\u2028\u2029":
        equal(byte in text, False, repr(byte))
    return json.loads(text)


def cells(row):
    return [part for part in row.parts if isinstance(part, Element)]


def number(text):
    """What data-value says, as JSON does; a sum above 2^63 is a text there."""
    return None if text is None else float(text) if re.search("[.ein]", text) else int(text)


def figure(value):
    return int(value) if isinstance(value, str) else value


def compare_row(row, wanted, place):
    """A row of a table of names, and one of the JSON."""
    equal((row["id"], row["data-row"], row["data-name"], row["data-kind"], row["data-verdict"]),
          ("row-%d" % place, str(place), wanted["name"], wanted["kind"], wanted["verdict"]))
    equal(number(row["data-value"]), wanted["deltaPct"])
    sides = [wanted[side] for side in ("base", "new") if wanted[side]]
    at = cells(row)
    equal((at[0].text(), at[-1].text()), (wanted["name"], wanted["kind"]))
    if len(sides) == 2:
        contains(at[1].text(), wanted["verdict"])
        equal(number(at[2]["data-value"]), wanted["deltaPct"])
        certain = wanted["runsNeeded"] if wanted["verdict"] == "inconclusive" else wanted["z"]
        equal(number(at[-2]["data-value"]), certain)
        at = at[2:-1]
    pairs = at[1].all("span", data_value=True)
    equal([number(pair["data-value"]) for pair in pairs], [side["med"] for side in sides])
    equal(len(at[1].all("svg")), len(sides), "bars")
    figures = [number(cell["data-value"]) for cell in at[2:2 + 4 * len(sides)]]
    equal(figures, [figure(side[name]) for name in ("count", "avg", "self", "total") for side in sides])


def compare(root, document):
    """The page says what the JSON says."""
    verdict = root.all("p", data_verdict=True)[0]
    equal(verdict["data-verdict"], document["verdict"])
    contains(verdict.text().lower(), document["verdict"])
    equal([at.text() for at in root.all("p", **{"class": "reason"})], [document["reason"]])
    isolated = [at.text() for at in root.all("p", **{"class": "reason"})[0].all("bdi")]
    assert isolated or document["verdict"] != "regression", "its names keep their direction to themselves"
    assert all(any(name in row["name"] for row in document["rows"]) for name in isolated), isolated
    equal([at.text() for at in root.all("p", role="note")], ["Warning: " + one for one in document["warnings"]])
    found = {int(row["data-row"]): row for row in root.all("tr", data_row=True)}
    equal(sorted(found), list(range(len(document["rows"]))))
    for place, row in enumerate(document["rows"]):
        compare_row(found[place], row, place)
        group = root.one(GROUPS[row["verdict"]])
        equal(any(at is found[place] for at in group.walk()), True, row["name"])
    for group in sorted(set(GROUPS.values())):
        places = [int(row["data-row"]) for at in root.all("section", id=group) for row in at.all("tr", data_row=True)]
        equal(places, sorted(places), "the order of diff")
    counts = {text.split()[-1]: int(text.split()[0]) for text in
              (at.text() for at in root.all("ul", **{"class": "counts"})[0].all("li"))}
    equal(counts, {name: sum(row["verdict"] == name for row in document["rows"])
                   for name in GROUPS if any(row["verdict"] == name for row in document["rows"])})


def made(folder):
    """Two stores with names of each verdict."""
    base = runs(folder, "base", slow=FAST, fast=SLOW, same=FAST, few=(100, 100), gone=FAST)
    return base, runs(folder, "new", slow=SLOW, fast=FAST, same=FAST, few=(150, 150), new=FAST)


def test_the_page_says_what_the_json_says():
    with Folder() as folder:
        base, new = made(folder)
        store = f1(folder)
        for args, status in (((base, new), 0), (("--gate", "2", base, new), 2), ((new, base), 0),
                             ((store, store), 0), ((store, base), 3), ((base, store), 3),
                             (("--kind", "mark", base, new), 3), (("--match", "slow", base, new), 0)):
            document = said(*args, status=status)
            compare(page(*args, status=status)[1], document)
        sides = page(base, new)[1].all("tr", data_side=True)
        equal([[cell.text() for cell in cells(row)[:5]] for row in sides],
              [["BASE", base, "store", "5", "22"], ["NEW", new, "store", "5", "22"]])


def test_random_stores():
    """Many names, so that each column has values of all sizes."""
    chance = random.Random(30)
    with Folder() as folder:
        for index in range(4):
            sides = [{"n%d" % name: [int(10 ** chance.uniform(0, 9)) for _ in range(chance.randint(1, 14))]
                      for name in range(60) if chance.random() < 0.9} for _ in "bn"]
            base, new = (runs(folder, "%s%d" % (side, index), **lengths) for side, lengths in zip("bn", sides))
            got = report("diff", "--format", "json", base, new)
            root = page(base, new, status=got[0])[1]
            document = json.loads(got[1])
            compare(root, document)
            compare_bins(root, document, sides)


def compare_bins(root, document, sides):
    histograms = {row: (low, high, counts) for row, low, high, *counts in data_of(root)["histograms"]}
    both = [place for place, row in enumerate(document["rows"]) if row["base"] and row["new"]]
    equal(sorted(histograms), both)
    for place in both:
        name = document["rows"][place]["name"].removeprefix(":")
        lengths = [side[name] for side in sides]
        low, high = min(map(min, lengths)), max(map(max, lengths))
        wanted = [[0] * BINS, [0] * BINS]
        for side, of_side in zip(wanted, lengths):
            for length in of_side:
                place_of = BINS / 2 if low == high else BINS * math.log(length / low) / math.log(high / low)
                side[min(BINS - 1, int(place_of))] += 1
        equal(histograms[place], (low, high, wanted), name)


def test_exports_of_nsight_systems_have_a_page():
    with Folder() as folder:
        store = f1(folder)
        root = page(store, make_export(folder, "export.sqlite", store))[1]
        equal([cells(row)[2].text() for row in root.all("tr", data_side=True)], ["store", "export of Nsight Systems"])
        equal([row["data-verdict"] for row in root.all("tr", data_row=True)], ["same"] * 6)


# ---- The flame graph ----------------------------------------------------------------------------

HEAD = """\
ProcessId = 7
@RangePush, Time, ThreadId, Message
@RangePop, Time, ThreadId
"""


def nested(folder, name, *ranges):
    """A store with ranges (start, end, message), which are in each other."""
    lines = [(start, 0, 'RangePush, %d, 1, "%s"\n' % (start, text)) for start, end, text in ranges]
    lines += [(end, 1, "RangePop, %d, 1\n" % end) for start, end, text in ranges]
    text = HEAD + "".join(line for _, _, line in sorted(lines, key=lambda line: line[:2]))
    return make_store(folder, name, folder.write(name + ".nvtxt", text))


def paths_of(store):
    """{path: (count, self)}, as nvtx_tree has them."""
    text = report("stats", "-r", "nvtx_tree", "--format", "csv", store)[1]
    return {row["Path"]: (int(row["Instances"]), int(row["Self Time (ns)"])) for row in csv.DictReader(io.StringIO(text))}


def flame_of(root):
    """The same of the data: {path: (count, self, count of BASE, self of BASE)}."""
    flame = data_of(root)["flame"]
    texts, found = [""], {}
    for parent, name, count, _, _, own, base_count, base_own in flame["paths"]:
        step = flame["names"][name][1].replace(";", ",")
        texts.append((texts[parent] + ";" if parent else "") + step)
        found[texts[-1]] = (count, int(own), base_count, int(base_own))
    return found


def rows_of_paths(root):
    """The same of the table of both sides, with the change in percent."""
    found = {}
    for row in root.all("tr", data_change=True):
        at = cells(row)
        values = [number(cell["data-value"]) for cell in at[1:6]]
        found[at[6].text()] = (row["data-change"], values[0], values[4], values[2], values[3], values[1])
    return found


def test_the_flame_graph_has_the_paths_of_both_sides():
    with Folder() as folder:
        base = nested(folder, "base", (0, 100, "all"), (10, 50, "a"), (20, 30, "b;c"), (60, 80, "gone"), (200, 200, "zero"))
        new = nested(folder, "new", (0, 150, "all"), (10, 70, "a"), (20, 25, "b;c"), (80, 90, "fresh"), (200, 201, "zero"))
        got = report("diff", "--format", "json", base, new)
        root = page(base, new, status=got[0])[1]
        before, after = paths_of(base), paths_of(new)
        equal(flame_of(root), {path: (*after[path], *before.get(path, (0, 0))) for path in after})
        rows = rows_of_paths(root)
        equal(set(rows), set(before) | set(after))
        for path, (change, percent, *figures) in rows.items():
            was, now = before.get(path), after.get(path)
            equal(figures, [*(now or (0, 0)), *(was or (0, 0))], path)
            equal(change, "new" if not was else "gone" if not now else "more" if now[1] > was[1]
                  else "less" if now[1] < was[1] else "same", path)
            equal(percent, 100 * (now[1] - was[1]) / was[1] if was and now and was[1] else None, path)
        changes = [abs(now - was) for _, _, _, now, _, was in rows.values()]
        equal(changes, sorted(changes, reverse=True), "the largest change first")
        equal(list(rows)[:3], ["all", "all;a", "all;gone"])


def test_long_and_deep_paths_are_cut():
    with Folder() as folder:
        depth = 300
        deep = [(i, 2 * depth + 10 - i, "step %d %s" % (i, "x" * 40)) for i in range(depth)]
        store = nested(folder, "deep", *deep, (1000, 1010, "y" * 60000))
        text, root = page(store, store)
        for path in rows_of_paths(root):
            equal(len(path.encode()) <= 4096, True)
        equal(any(path.startswith("\u2026;") and path.endswith("step 299 " + "x" * 40) for path in rows_of_paths(root)), True)
        equal(max(len(name) for pair in data_of(root)["flame"]["names"] for name in pair), 1000)
        equal(len(text) < 3000000, True, len(text))


def test_many_names_and_paths():
    """Tables are cut where they say so; --limit says where."""
    with Folder() as folder:
        lengths = {"n%d" % index: (100, 101) for index in range(1200)}
        base = runs(folder, "base", **lengths)
        new = nested(folder, "new", *((i * 10, i * 10 + 5, "p%d" % i) for i in range(2500)))
        root = page(base, base)[1]
        equal((len(root.all("tr", data_row=True)), len(data_of(root)["histograms"])), (1200, 1000))
        root = page("--limit", "7", base, new, status=3)[1]
        equal([len(root.one(group).all("tr", data_row=True)) for group in ("added", "removed")], [7, 7])
        contains(root.one("added").text(), "2493 more rows are not shown here.")
        equal((len(data_of(root)["flame"]["paths"]), data_of(root)["flame"]["leftOut"], len(root.all("tr", data_change=True))),
              (2000, 500, 1000))
        contains(root.one("flame-graph").text(), "The picture has the 2000 widest of 2500 paths")
        equal(len(page("--limit", "0", base, new, status=3)[1].all("tr", data_row=True)), 3700)


# ---- Sides that are no stores -------------------------------------------------------------------

def test_a_baseline_has_no_paths():
    with Folder() as folder:
        base, new = made(folder)
        baseline = saved(folder, base)
        root = page("--baseline", baseline, new)[1]
        compare(root, said("--baseline", baseline, new))
        equal([cells(row)[2].text() for row in root.all("tr", data_side=True)], ["baseline", "store"])
        contains(root.one("flame-graph").text(), "A baseline has no paths")
        equal(("flame" in data_of(root), root.all("tr", data_change=True)), (False, []))


def test_kernels_of_report_files_have_no_paths():
    with Folder() as folder:
        base = write(folder, launch("a", time=("uint64", 1000)), launch("a", time=("uint64", 1001)),
                     launch("without", time=None))
        new = write(folder, launch("a", time=("uint64", 1000)), launch("b"), name="b.ncu-rep")
        document = said(base, new)
        root = page(base, new)[1]
        compare(root, document)
        equal((document["warnings"], [row["data-kind"] for row in root.all("tr", data_row=True)]),
              (["results without gpu__time_duration.sum are left out: 1 of BASE, 0 of NEW"], ["kernel", "kernel"]))
        equal([[cell.text() for cell in cells(row)[1:5]] for row in root.all("tr", data_side=True)],
              [[base, "report file of Nsight Compute", "1", "2"], [new, "report file of Nsight Compute", "2", "2"]])
        contains(root.one("flame-graph").text(), "Kernels of report files have no paths")
        contains(root.one("compared").all("thead")[0].text(), "Kernel")


# ---- Texts of others ----------------------------------------------------------------------------

def test_names_cannot_be_elements():
    texts = (*HOSTILE, "</script><b id=evil>", "</td></table><img src=x>", '" onclick="x', "<!--", "{{data}}", "=1+1")
    with Folder() as folder:
        base, new = (hostile(folder, name, length, texts) for name, length in (("base", 100), ("new", 200)))
        document = said(base, new)
        _, root = page(base, new)
        compare(root, document)
        equal({row["name"] for row in document["rows"]}, {":" + text for text in texts})
        equal((root.all("b"), root.all("img")), ([], []))
        odd = folder.name("<i>&\u202e'\"{{about}}.sqlite")
        os.rename(new, odd)
        root = page(base, odd)[1]
        equal(root.all("title")[0].text(), os.path.basename(odd) + " against base.sqlite: nvtxt-report diff")
        equal([at.text() for at in root.all("h1")[0].all("bdi")], [os.path.basename(odd), "base.sqlite"])


def test_the_title_tells_both_sides_apart():
    def titles(*args):
        _, root = page(*args)
        return root.all("title")[0].text(), root.all("h1")[0].text()
    with Folder() as folder:
        paths = {}
        for name, path in zip(("one", "two"), made(folder)):
            os.makedirs(folder.name("a/%s/runs" % name))
            paths[name] = folder.name("a/%s/runs/run.sqlite" % name)
            os.rename(path, paths[name])
        equal(titles(paths["one"], paths["one"])[1], "run.sqlite against run.sqlite", "the same file")
        said = "two/runs/run.sqlite against one/runs/run.sqlite"
        equal(titles(paths["one"], paths["two"]), (said + ": nvtxt-report diff", said))
        other = folder.name("a/other.sqlite")
        os.rename(paths["two"], other)
        said = "other.sqlite against run.sqlite"
        equal(titles(paths["one"], other)[1], said, "a temporary folder is not named")
        title = "Tuesday's <run>"
        equal(titles("--title", title, paths["one"], other), (title, title))
        plain = report("diff", "--format", "json", paths["one"], other)
        equal(report("diff", "--format", "json", "--title", title, paths["one"], other), plain, "other formats have no title")


# ---- How it is written --------------------------------------------------------------------------

def test_a_page_is_written_whole_or_not_at_all():
    with Folder() as folder:
        base, new = made(folder)
        path = folder.name("diff.html")
        equal(report("diff", "--format", "html", "-o", path, base, new)[:2], (0, ""))
        with open(path, encoding="utf-8") as file:
            written = file.read()
        check_shape(written)
        again = report("diff", "--format", "html", "-o", "-", base, new)[1]
        equal(re.sub("<code>.*</code>|-o [^ ]* ", "", again), re.sub("<code>.*</code>|-o [^ ]* ", "", written))
        equal(report("diff", "--format", "html", "-o", path, base, folder.name("absent"))[0], 66)
        equal(report("diff", "--format", "html", "-o", base, base, new)[0], 64)
        equal(report("diff", "--format", "html", "-o", folder.name("no/such"), base, new)[0], 73)
        with open(path, encoding="utf-8") as file:
            equal(file.read(), written)
        equal(query(base, "SELECT count(*) FROM NVTX_EVENTS"), [(22,)])
        if os.path.exists("/dev/full"):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([program("client", "nvtxt-report"), "diff", "--format", "html", base, new], env=ENV,
                                      stdout=full, stderr=subprocess.PIPE, timeout=DEADLINE)
            equal(done.returncode, 74, done.stderr)


def test_a_terminal_gets_no_page():
    with Folder() as folder:
        base, new = made(folder)
        for more in ((), ("-o", "-")):
            text = on_terminal(80, "diff", "--format", "html", *more, base, new, status=64)
            contains(text.replace("\n", " "), "write it to a file, as in 'nvtxt-report diff --format html -o diff.html BASE NEW'")
            equal("<html" in text, False)
        path = folder.name("diff.html")
        equal(on_terminal(80, "diff", "--format", "html", "-o", path, base, new), "")
        equal(os.path.getsize(path) > 10000, True)


def test_other_commands_have_no_page():
    with Folder() as folder:
        store = f1(folder)
        for command in ("stats", "check", "report"):
            status, text, errors = report(command, "--format", "html", store)
            equal((status, text), (64, ""))
            contains(errors, "has no format html; it is for diff")
        status, _, errors = report("diff", "--format", "html", "--save-baseline", folder.name("b"), store)
        equal(status, 64)
        contains(errors, "nothing to compare NEW with")
        contains(report("diff", "--help")[1], "junit, github, html.")


def test_the_page_of_the_fixture_is_small():
    with Folder() as folder:
        store = f1(folder)
        text = page(store, store)[0]
        equal(len(text.encode()) < 120 << 10, True, len(text.encode()))


if __name__ == "__main__":
    run(globals())
