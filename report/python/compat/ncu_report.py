# SPDX-License-Identifier: Apache-2.0
import os, sys; sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from nvtxt_report import *  # noqa: F401,F403  scripts for ncu_report: nvtxt-report(1), "SCRIPTS"
