# SPDX-License-Identifier: Apache-2.0
"""What doc/dashboards gives to Grafana, and the shell: files that parse, queries that run."""
import json
import os
import re
import shutil
import subprocess

import pages
from story import TOP, Told, tell_log
from lib import Skip, equal, run

try:
    import yaml
except ImportError:
    yaml = None

FOLDER = os.path.join(TOP, "doc", "dashboards")
PLUGIN = "frser-sqlite-datasource"


def board():
    return json.loads(pages.read(pages.DASHBOARD))


def provisioned(name):
    if yaml is None:
        raise Skip("PyYAML is not installed")
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return yaml.safe_load(file)


def test_page_and_panels_hold_the_queries_as_they_are():
    equal(pages.dashboard(pages.read(pages.DASHBOARD)), pages.read(pages.DASHBOARD),
          "run tests/readers/pages.py")
    equal(pages.page(pages.read(pages.PAGE)), pages.read(pages.PAGE), "run tests/readers/pages.py")
    shown = [found[2] for found in pages.SHOWN.finditer(pages.read(pages.PAGE))]
    equal(sorted(shown), pages.names(), "each file stands once in doc/dashboards.md")


def test_every_file_is_installed():
    listed = set(re.findall(r"\bdoc/\S+", pages.read(os.path.join(TOP, "Makefile.am"))))
    for folder in ("queries", "dashboards"):
        for name in os.listdir(os.path.join(TOP, "doc", folder)):
            assert "doc/%s/%s" % (folder, name) in listed, name


def test_panels_have_places_of_their_own():
    taken = set()
    for panel in board()["panels"]:
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                 for y in range(place["y"], place["y"] + place["h"])}
        equal((max(x for x, _ in cells) < 24, taken & cells), (True, set()), panel["title"])
        taken |= cells
    ids = [panel["id"] for panel in board()["panels"]]
    equal(len(set(ids)), len(ids))


def test_panels_ask_the_provisioned_source():
    source, = provisioned("grafana-datasource.yaml")["datasources"]
    equal(source["type"], PLUGIN)
    for panel in board()["panels"]:
        for asked in [panel["datasource"]] + [target["datasource"] for target in panel["targets"]]:
            equal(asked, {"type": PLUGIN, "uid": source["uid"]})
    options = source["jsonData"]["pathOptions"].split("&")
    equal("mode=ro" in options and not any("immutable" in option for option in options), True)
    equal(source["jsonData"]["pathPrefix"], "file:")
    provider, = provisioned("grafana-dashboards.yaml")["providers"]
    equal(provider["type"], "file")


def ask_panel(told, panel):
    """As Grafana does: variables are put into the text, the answer has columns of one type each."""
    text = panel["targets"][0]["queryText"]
    for name, value in (("$__from", told.at(0) // 10**6), ("$__to", told.at(100) // 10**6),
                        ("$rows", 100)):
        text = text.replace(name, str(value))
    equal(re.findall(r"[$:]\w+", re.sub(r"'[^']*'", "", text)), [], panel["title"])
    reader = told.reader()
    try:
        cursor = reader.execute(text)
        return [column[0] for column in cursor.description], cursor.fetchall()
    finally:
        reader.close()


def test_every_panel_shows_something():
    with Told() as told:
        tell_log(told)
        for panel in board()["panels"]:
            columns, rows = ask_panel(told, panel)
            assert rows, panel["title"]
            for name, values in zip(columns, zip(*rows)):
                kinds = {type(value) for value in values if value is not None}
                assert len(kinds) <= 1, (panel["title"], name, kinds)
            for name in panel["targets"][0]["timeColumns"]:
                for value in (row[columns.index(name)] for row in rows):
                    assert isinstance(value, int) or re.fullmatch(
                        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", value), (name, value)
            for override in panel["fieldConfig"]["overrides"]:
                assert override["matcher"]["options"] in columns, override


def shell(told, *commands):
    done = subprocess.run(["sqlite3", "-readonly", told.daemon.store], input="\n".join(commands),
                          capture_output=True, text=True, check=False)
    equal((done.returncode, done.stderr), (0, ""))
    return done.stdout.splitlines()


def test_the_shell_runs_the_files():
    if not shutil.which("sqlite3"):
        raise Skip("sqlite3 is not installed")
    with Told() as told:
        path = os.path.join(TOP, "doc", "queries", "%s.sql")
        parameters = [".parameter set :from_ns %d" % told.at(0), ".parameter set :rows 3"]
        for name in pages.names():
            if name != "over_segments":
                shell(told, ".read " + path % name)
        equal(len(shell(told, *parameters, ".read " + path % "nesting")), 3)
        equal(shell(told, *parameters, ".read " + path % "busy")[0],
              "web|worker one|100|101|2|60.0|70.0")
        equal(shell(told, "ATTACH 'file:%s?mode=ro' AS older;" % told.daemon.store,
                    ".read " + path % "over_segments")[0].split("|")[:3], ["100", "web", "20"])


if __name__ == "__main__":
    run(globals())
