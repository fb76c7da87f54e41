# SPDX-License-Identifier: Apache-2.0
"""How many threads there are. The shortest rule: nvtxt-rule(5), "PYTHON RULES"."""
import NvRules


def get_identifier():
    return "Threads"


def get_name():
    return "Number of threads"


def get_description():
    return "Says how many threads there are."


def apply(handle):
    ctx = NvRules.get_context(handle)
    action = ctx.range_by_idx(0).action_by_idx(0)
    threads = action.metric_by_name("capture__attribute_threads").as_uint64()
    ctx.frontend().message("Events of %d threads" % threads)
