# SPDX-License-Identifier: Apache-2.0
# Tests that kill; see Makefile.am for what a line looks like.
python_tests += crash/storm.py
python_tests += crash/watched.py
