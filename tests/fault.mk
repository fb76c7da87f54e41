# SPDX-License-Identifier: Apache-2.0
# Tests that make calls fail; see Makefile.am for what a line looks like.
serial_programs += fault/io_faults
fault_io_faults_SOURCES = fault/io_faults.c fault/fault_kit.h fault/vfs_shim.c fault/vfs_shim.h

alloc_ldflags = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup \
	-Wl,--wrap=strndup,--wrap=free,--wrap=reallocarray
alloc_kit = fault/alloc.c fault/alloc.h fault/fault_kit.h
serial_programs += fault/alloc_faults
fault_alloc_faults_SOURCES = fault/alloc_faults.c $(alloc_kit)
fault_alloc_faults_LDFLAGS = $(alloc_ldflags)

serial_programs += fault/alloc_merge
fault_alloc_merge_SOURCES = fault/alloc_merge.c $(alloc_kit)
fault_alloc_merge_LDFLAGS = $(alloc_ldflags)
serial_programs += fault/alloc_export
fault_alloc_export_SOURCES = fault/alloc_export.c $(alloc_kit)
fault_alloc_export_LDFLAGS = $(alloc_ldflags)

helper_programs += fault/nvtxtd-faulty
fault_nvtxtd_faulty_SOURCES = fault/nvtxtd-faulty.c fault/alloc.c fault/alloc.h \
	fault/vfs_shim.c fault/vfs_shim.h
fault_nvtxtd_faulty_LDFLAGS = $(alloc_ldflags) -Wl,--wrap=store_commit,--wrap=clock_gettime \
	-Wl,--wrap=rename,--wrap=symlink,--wrap=unlink,--wrap=fsync
EXTRA_DIST += crash/recorder.py
EXTRA_DIST += crash/soak.py
python_tests += crash/acks.py
python_tests += crash/points.py
whole_tests += crash/points.py
python_tests += fault/test_memory.py
python_tests += fault/test_clock.py
python_tests += fault/test_enospc.py

# What takes longer with NVTXT_TEST_LONG set; scripts/check-full does.
long_tests = fault/io_faults fault/alloc_faults fault/alloc_merge fault/alloc_export \
	$(long_report_tests) $(long_ship_tests) \
	crash/acks.py crash/points.py crash/storm.py crash/watched.py \
	e2e/test_bad_peers.py e2e/test_collect.py e2e/test_command.py e2e/test_merge.py \
	fault/test_enospc.py e2e/test_export.py e2e/test_speedscope.py golden/test_export.py
check-long: $(check_PROGRAMS)
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(long_tests)'

.PHONY: check-long
fuzz_programs += fuzz/fuzz_control
fuzz_programs += fuzz/fuzz_state
