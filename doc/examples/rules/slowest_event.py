# SPDX-License-Identifier: Apache-2.0
"""The longest range of the slowest name: a rule with a parent that looks at single events."""
import NvRules
from NvRules import IFrontend

PARENT = "SlowestNames"
NAME = "event__attribute_name"
TIME = "range__time_duration.sum"


def get_identifier():
    return "SlowestEvent"


def get_name():
    return "Slowest event"


def get_description():
    return "Finds the longest range of the name that %s found." % PARENT


def get_parent_rules_identifiers():
    return [PARENT]


def evaluate(handle):
    NvRules.require_rules(handle, [PARENT])


def longest(capture, name):
    """The duration in ns, the thread and the index of the longest range of a name; or None."""
    found = None
    for thread in capture:
        # values() asks for all events at once.
        for index, (of, time) in enumerate(zip(thread.values(NAME), thread.values(TIME))):
            if of == name and time is not None and (found is None or time > found[0]):
                found = time, thread, index
    return found


def apply(handle):
    ctx = NvRules.get_context(handle)
    name = ctx.frontend().receive_dict_from_parent(PARENT).get("name")
    found = longest(ctx.capture(), name)
    if found is None:
        return  # the parent found nothing
    time, thread, index = found
    event = thread[index]
    row = event["event__attribute_row"].value()
    open_ranges = [text for domain in event.nvtx_state().domains()
                   for text in event.nvtx_state()[domain].push_pop_ranges()]
    ctx.frontend().message(IFrontend.MsgType_WARNING,
                           "@range:%d:The longest %s@ takes %d ns; it is in %s of %s." %
                           (row, name, time, "/".join(open_ranges), thread.name()))
    ctx.controller().propose_rule(PARENT)
