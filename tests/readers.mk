# SPDX-License-Identifier: Apache-2.0
# Tests of who reads the store; see Makefile.am for what a line looks like.
EXTRA_DIST += readers/pages.py readers/story.py
serial_tests += readers/test_contract.py
serial_tests += readers/test_dashboards.py
serial_tests += readers/test_queries.py
