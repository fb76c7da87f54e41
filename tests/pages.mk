# SPDX-License-Identifier: Apache-2.0
# The test of what README.md, doc/ and the manual pages print; see Makefile.am for what a line looks like.
EXTRA_DIST += pages/manual_notes.py pages/page_notes.py pages/page_run.py pages/pages.py pages/talk.py
later_tests += pages/test_pages.py
