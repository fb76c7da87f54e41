# SPDX-License-Identifier: Apache-2.0
# Tests of the golden corpus; see Makefile.am for what a line looks like.
serial_tests += golden/test_check.py
python_tests += golden/test_daemon.py
serial_tests += golden/test_export.py
serial_tests += golden/test_import.py
serial_tests += golden/test_interp.py
serial_tests += golden/test_lines.py
serial_tests += golden/test_plain.py
serial_tests += golden/test_send.py
serial_tests += golden/test_split.py
serial_tests += golden/test_watch.py
whole_tests += $(sampled_tests)
sampled_tests = golden/test_check.py golden/test_export.py golden/test_import.py golden/test_lines.py \
	golden/test_send.py golden/test_split.py
helper_programs += golden/interp_dump
golden_record = golden/record.c golden/record.h
golden_interp_dump_SOURCES = golden/interp_dump.c $(golden_record)

serial_programs += plain/state_property
plain_state_property_SOURCES = plain/state_property.c $(golden_record)
serial_programs += plain/plan_streams
plain_plan_streams_SOURCES = plain/plan_streams.c $(golden_record)
EXTRA_DIST += plain/stream_kit.h fuzz/source_kit.h fuzz/plan_kit.h

fuzz_programs += fuzz/fuzz_interp
fuzz_fuzz_interp_SOURCES = fuzz/fuzz_interp.c $(golden_record)
fuzz_programs += fuzz/fuzz_plan
fuzz_fuzz_plan_SOURCES = fuzz/fuzz_plan.c $(golden_record)
