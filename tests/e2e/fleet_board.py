# SPDX-License-Identifier: Apache-2.0
"""Grafana's dashboard of a fleet, made of the queries in ship/queries. Run as a program it writes
doc/dashboards/grafana-fleet.json."""
import json
import os
import re

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
QUERIES = os.path.join(TOP, "ship", "queries")
BOARD = os.path.join(TOP, "doc", "dashboards", "grafana-fleet.json")
SOURCE = {"type": "grafana-postgresql-datasource", "uid": "nvtxt-fleet"}

# What stands in a panel for a variable of psql.
GRAFANA = {":'host'": "${host:sqlstring}", ":'message'": "${message:sqlstring}",
           ":'label'": "${label:sqlstring}", ":'since'": "$__timeFrom()", ":'until'": "$__timeTo()"}

# File, kind of panel, place.
PANELS = (("events_per_minute", "timeseries", (0, 0, 16, 8)), ("hosts_by_lag", "table", (16, 0, 8, 8)),
          ("slow_hosts", "table", (0, 8, 12, 8)), ("percentiles_by_host", "table", (12, 8, 12, 8)),
          ("running_now", "table", (0, 16, 12, 8)), ("losses", "table", (12, 16, 12, 8)),
          ("timeline", "table", (0, 24, 16, 10)), ("diagnostics", "table", (16, 24, 8, 10)),
          ("find_message", "table", (0, 34, 24, 6)))


def names():
    return sorted(name[:-len(".sql")] for name in os.listdir(QUERIES) if name.endswith(".sql"))


def read(name):
    with open(os.path.join(QUERIES, name + ".sql"), encoding="utf-8") as file:
        return file.read()


def panel_sql(name):
    """The query as Grafana runs it."""
    lines = [line for line in read(name).splitlines() if not re.match(r"--|\\", line)]
    text = "\n".join(lines).strip().rstrip(";")
    for variable, macro in GRAFANA.items():
        text = text.replace(variable, macro)
    return text


def panel(number, name, kind, place):
    head = [line[3:] for line in read(name).splitlines() if line.startswith("-- ")]
    title, about = head[1].split(": ", 1)
    target = {"refId": "A", "datasource": SOURCE, "editorMode": "code", "rawQuery": True,
              "format": "time_series" if kind == "timeseries" else "table", "rawSql": panel_sql(name)}
    defaults = {"unit": "short", "custom": {"drawStyle": "bars", "fillOpacity": 60}} \
        if kind == "timeseries" else {}
    return {"id": number, "title": title, "description": "%s.sql: %s" % (name, about), "type": kind,
            "datasource": SOURCE, "gridPos": dict(zip("xywh", place)),
            "fieldConfig": {"defaults": defaults, "overrides": []}, "options": {},
            "targets": [target]}


# Panels take a pattern of LIKE.
HOSTS = ("SELECT DISTINCT host AS __text, regexp_replace(host, '([\\\\%_])', '\\\\\\1', 'g') AS __value "
         "FROM nvtxt.stores ORDER BY 1")


def variable(name, label, query):
    return {"type": "query", "name": name, "label": label, "datasource": SOURCE, "query": query,
            "refresh": 1, "sort": 1, "hide": 0}


def board():
    templating = [
        {**variable("host", "Host", HOSTS),
         "includeAll": True, "allValue": "'%'", "current": {"text": "All", "value": "$__all"}},
        variable("label", "Label", "SELECT DISTINCT jsonb_object_keys(CASE jsonb_typeof(labels) "
                 "WHEN 'object' THEN labels END) FROM nvtxt.stores ORDER BY 1"),
        {"type": "textbox", "name": "message", "label": "Message", "query": "", "hide": 0,
         "current": {"text": "", "value": ""}}]
    return {"title": "NVTXT fleet", "uid": "nvtxt-fleet", "tags": ["nvtxt"], "schemaVersion": 36,
            "version": 1, "editable": True, "refresh": "1m", "timezone": "",
            "time": {"from": "now-1h", "to": "now"}, "annotations": {"list": []},
            "templating": {"list": templating},
            "panels": [panel(number + 1, *row) for number, row in enumerate(PANELS)]}


def text():
    return json.dumps(board(), indent=2) + "\n"


if __name__ == "__main__":
    with open(BOARD, "w", encoding="utf-8") as written:
        written.write(text())
