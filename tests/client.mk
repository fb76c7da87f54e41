# SPDX-License-Identifier: Apache-2.0
# Tests of client/; see Makefile.am for what a line looks like.
EXTRA_DIST += unit/export_kit.h
unit_programs += unit/test_export_fmt
unit_programs += unit/test_export_lanes
unit_programs += unit/test_export_out
unit_programs += unit/test_export_time
unit_programs += unit/test_input
unit_programs += unit/test_options
unit_programs += unit/test_out_file
unit_programs += unit/test_sender
unit_programs += unit/test_spool
unit_programs += unit/test_window
EXTRA_DIST += e2e/client.py
python_tests += e2e/test_send.py
python_tests += e2e/test_spool.py
python_tests += e2e/test_check.py
python_tests += e2e/test_import.py
python_tests += e2e/test_export.py
EXTRA_DIST += e2e/test_speedscope.py
python_tests += e2e/test_merge.py
python_tests += e2e/test_collect.py
python_tests += e2e/test_nsight.py
EXTRA_DIST += nsight/make-export.py nsight/exports.py
fuzz_programs += fuzz/fuzz_reply
fuzz_programs += fuzz/fuzz_spool
