# SPDX-License-Identifier: Apache-2.0
"""No workload takes more instructions than bench/instructions.tsv says, and 5 % more.

The figures hold for one compiler with its options, and for one version of each library: elsewhere
there is nothing to compare with.
"""
import os
import shutil
import sys

from lib import SANITIZERS, TOP_BUILD, WRAPPER, Skip, run

TOP = os.environ.get("top_srcdir") or os.path.join(os.path.dirname(__file__), "..", "..")
sys.path.insert(1, os.path.join(TOP, "bench"))

import instructions  # noqa: E402 of that folder
import kit as shared  # noqa: E402

MORE = 1.05


def test_no_event_takes_more_instructions_than_recorded():
    if SANITIZERS or WRAPPER:
        raise Skip("a sanitizer or valgrind has instructions of its own")
    if not shutil.which("valgrind"):
        raise Skip("valgrind is not installed")
    bound, figures = instructions.recorded()
    for what, value in instructions.bound_to(TOP_BUILD).items():
        if bound[what] != value:
            raise Skip("the figures are of %s %s, here it is %s" % (what, bound[what], value))
    kit = shared.Kit(os.path.abspath(TOP_BUILD), True, top=TOP)
    try:
        for name, workload in instructions.EXACT.items():
            if workload[0] is instructions.report and not has_report():
                continue
            (found,) = instructions.an_event(kit, [], workload).values()
            print("# %s: %.1f instructions an event, %.1f recorded" % (name, found["Ir"], figures[name]))
            assert found["Ir"] <= MORE * figures[name], \
                "%s: %.1f instructions an event; bench/instructions.tsv has %.1f" % (
                    name, found["Ir"], figures[name])
    finally:
        kit.close()


def has_report():
    return os.access(os.path.join(TOP_BUILD, "client", "nvtxt-report"), os.X_OK)


if __name__ == "__main__":
    run(globals())
