# SPDX-License-Identifier: Apache-2.0
"""Puts the queries of doc/queries where they are shown: into doc/dashboards.md and into the panels
of the Grafana dashboard. Run as a program it writes both; the tests only look whether it would."""
import json
import os
import re

TOP = os.environ.get("top_srcdir") or os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                                   "..", "..")
PAGE = os.path.join(TOP, "doc", "dashboards.md")
DASHBOARD = os.path.join(TOP, "doc", "dashboards", "nvtxt.json")
SHOWN = re.compile(r"(`queries/(\w+)\.sql`\n\n```sql\n)(.*?)(```\n)", re.S)

# What Grafana has in place of parameters: the range of the dashboard in ms, and its variable.
MACROS = {":from_ns": "$__from * 1000000", ":to_ns": "$__to * 1000000", ":rows": "$rows"}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def query(name):
    return read(os.path.join(TOP, "doc", "queries", name + ".sql"))


def names():
    return sorted(name[:-4] for name in os.listdir(os.path.join(TOP, "doc", "queries"))
                  if name.endswith(".sql"))


def page(text):
    return SHOWN.sub(lambda found: found[1] + query(found[2]) + found[4], text)


def macros(name):
    """A query as Grafana gets it: without its head, with macros."""
    lines = [line for line in query(name).splitlines() if not line.startswith("-- ")]
    text = "\n".join(lines).rstrip(";")
    return re.sub(r":(from_ns|to_ns|rows)\b", lambda found: MACROS[found[0]], text)


def name_of(panel):
    """A panel's description begins with the name of its query's file."""
    return panel["description"].partition(".sql: ")[0]


def dashboard(text):
    board = json.loads(text)
    for panel in board["panels"]:
        name = name_of(panel)
        panel["description"] = "%s.sql: %s" % (name, query(name).splitlines()[0][3:])
        target, = panel["targets"]
        target["rawQueryText"] = target["queryText"] = macros(name)
    return json.dumps(board, indent=2) + "\n"


def main():
    for path, made in ((PAGE, page(read(PAGE))), (DASHBOARD, dashboard(read(DASHBOARD)))):
        with open(path, "w", encoding="utf-8") as file:
            file.write(made)


if __name__ == "__main__":
    main()
