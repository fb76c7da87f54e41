# SPDX-License-Identifier: Apache-2.0
"""How long a line is on its way, at a rate that is held."""

RATES = (1000, 50_000, 300_000)


def latency(kit):
    """Line to ack and line to visible at 1 k, 50 k and 300 k events/s, commit interval 100 ms"""
    seconds = 2 if kit.quick else 5
    for rate in RATES:
        found = {"ack": [], "visible": []}
        reached = []
        for _ in range(2 if kit.quick else 3):
            with kit.daemon() as daemon:
                words = list(map(float, kit.run("pace", daemon.socket, daemon.store, rate,
                                                seconds)))
                daemon.check(rate * seconds)
            found["ack"].append(words[0:4])
            found["visible"].append(words[4:8])
            reached.append(words[8])
        for what, rounds in found.items():
            columns = zip(("median", "p99", "p99.9"), map(list, zip(*rounds)))
            kit.tell("latency: line to %s, %s events/s" % (what, "{:,}".format(rate)), "ms",
                     *columns, note="written: %.0f events/s for %d s" % (min(reached), seconds))
