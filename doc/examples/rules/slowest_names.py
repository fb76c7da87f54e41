# SPDX-License-Identifier: Apache-2.0
"""Which names take the most time: a table, an estimate, and a dictionary for another rule."""
import NvRules
from NvRules import IFrontend

LIMIT = 30  # percent of the time of all ranges
TOTAL = "range__time_duration.sum"
PER_NAME = "range__time_duration_per_name.sum"


def get_identifier():
    return "SlowestNames"


def get_name():
    return "Slowest names"


def get_description():
    return "Looks for a name whose ranges take more than %d %% of the time of all ranges." % LIMIT


def evaluate(handle):
    NvRules.require_metrics(handle, [TOTAL, PER_NAME])  # else the rule is not applicable


def apply(handle):
    ctx = NvRules.get_context(handle)
    action = ctx.range_by_idx(0).action_by_idx(0)
    frontend = ctx.frontend()
    total = action[TOTAL].as_uint64()
    metric = action[PER_NAME]
    slowest = sorted(zip(metric.values(), metric.ids()), reverse=True)[:5]
    percents = [100 * time / total if total else 0.0 for time, _ in slowest]
    if not slowest or percents[0] <= LIMIT:
        frontend.message(IFrontend.MsgType_OK, "No name takes more than %d %%" % LIMIT)
        return
    time, name = slowest[0]
    message = frontend.message(IFrontend.MsgType_OPTIMIZATION,
                               "%s takes %.1f %% of the time of all ranges." % (name, percents[0]),
                               "One name takes much of the time")
    frontend.generate_table(message, ["Name", "Time (ns)", "Time (%)"],
                            [[name, time, round(percent, 1)]
                             for (time, name), percent in zip(slowest, percents)],
                            {"title": "The slowest names"})
    frontend.focus_metric(message, PER_NAME, time, IFrontend.Severity_SEVERITY_HIGH,
                          "Less of it makes everything faster")
    frontend.speedup(message, IFrontend.SpeedupType_GLOBAL, round(percents[0] / 2, 1))
    frontend.send_dict_to_children({"name": name})
