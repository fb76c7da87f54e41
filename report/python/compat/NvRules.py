# SPDX-License-Identifier: Apache-2.0
import os, sys; sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from nvtxt_rules import *  # noqa: F401,F403  rules: nvtxt-rule(5), "PYTHON RULES"
