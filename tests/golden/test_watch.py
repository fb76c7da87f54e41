# SPDX-License-Identifier: Apache-2.0
import sys

import run

sys.exit(run.main("watch"))
