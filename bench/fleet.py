# SPDX-License-Identifier: Apache-2.0
"""The queries of a fleet: how long they take over the rows of a thousand hosts."""
import sys
import time

import ship

HOSTS = 1000


def asked(server, board, name, explain=False):
    """Seconds, or the plan, of a query of the dashboard over the last hour."""
    text = board.panel_sql(name)
    for macro, value in (("${host:sqlstring}", "'%'"), ("${message:sqlstring}", "'GET /'"),
                         ("${label:sqlstring}", "'rack'"), ("$__timeFrom()", "now() - interval '1 hour'"),
                         ("$__timeTo()", "now()")):
        text = text.replace(macro, value)
    if name == "find_message":
        text = text.replace("'GET /'", "'nowhere'")
    if name == "timeline":  # of one host, for five minutes
        text = text.replace("LIKE '%'", "= 'host17'").replace("1 hour", "5 minutes")
    started = time.monotonic()
    rows = server.rows(("EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) " if explain else "") + text)
    return "\n".join(row[0] for row in rows) if explain else time.monotonic() - started


def fleet(kit):
    """The queries of the dashboard over a thousand hosts"""
    rows = 600 if kit.quick else 6000
    with ship.server_of(kit.top) as server:
        import fleet_board
        import fleet_rows
        kit.run("nvtxt-ship", "init", "--target", server.target())
        fleet_rows.generate(server, HOSTS, rows)
        size = int(server.one("SELECT sum(pg_table_size(relid)) FROM pg_partition_tree('nvtxt.events')"))
        found = {}
        for name in fleet_board.names():
            asked(server, fleet_board, name)
            found[name] = [asked(server, fleet_board, name) for _ in range(kit.rounds)]
            kit.tell("fleet: " + name, "s", ("PostgreSQL", found[name]),
                     note="{:,} hosts, {:,} rows".format(HOSTS, HOSTS * rows))
        kit.tell("fleet: size of a row", "bytes", ("PostgreSQL", [size / HOSTS / rows]))
        for name in sorted(found, key=lambda name: -min(found[name]))[:2]:
            print("%s:\n%s" % (name, asked(server, fleet_board, name, explain=True)), file=sys.stderr)
