# SPDX-License-Identifier: Apache-2.0
# Tests of report/ and client/report; see Makefile.am for what a line looks like.
EXTRA_DIST += e2e/report.py report/f1.nvtxt
serial_tests += e2e/test_report.py
