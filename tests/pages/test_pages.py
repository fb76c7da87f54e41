# SPDX-License-Identifier: Apache-2.0
"""Every command of README.md and of doc/, and every EXAMPLES part of the manual pages, runs: in a
clean folder, in the order of the page; and what the page shows is what is printed. The notes
(page_notes.py, manual_notes.py) say what is not run, and why."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "e2e")]

import pages  # noqa: E402  (the path above comes first)
from lib import equal, run  # noqa: E402
from manual_notes import PAGES as MANUALS  # noqa: E402
from page_notes import PAGES as TEXTS  # noqa: E402
from page_run import run_page  # noqa: E402

NOTES = {**TEXTS, **MANUALS}


def case(name):
    return lambda: run_page(name, NOTES[name])


def test_every_page_with_commands_has_notes():
    without = [name for name in pages.names()
               if name not in NOTES and any(block.is_session or block.language == "sh" or name.startswith("man/")
                                            for block in pages.blocks(name))]
    equal(without, [], "write a Page for them in tests/pages/page_notes.py or manual_notes.py")
    equal(sorted(set(NOTES) - set(pages.names())), [], "pages that are not there")


for page in pages.names():
    if page in NOTES:
        globals()["test_" + page] = case(page)
run(globals())
