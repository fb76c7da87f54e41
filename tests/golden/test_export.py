# SPDX-License-Identifier: Apache-2.0
"""A quarter of the corpus; all of it with NVTXT_TEST_LONG set."""
import os
import sys

import corpus
import run

step = 1 if os.environ.get("NVTXT_TEST_LONG") else 4
names = [case.name for case in corpus.load(run.HERE) if case.why_not("export") is None]
sys.exit(run.main("export", names[::step]))
