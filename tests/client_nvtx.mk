# SPDX-License-Identifier: Apache-2.0
# Tests of client/nvtx; see Makefile.am for what a line looks like.
EXTRA_DIST += unit/region_kit.h
unit_programs += unit/test_ring_file
unit_test_ring_file_LDADD = $(core_ldadd)
unit_programs += unit/test_salvage
unit_test_salvage_LDADD = $(core_ldadd)
fuzz_programs += fuzz/fuzz_ring_file
fuzz_fuzz_ring_file_LDADD = $(core_ldadd)
helper_programs += nvtx/run_client
nvtx_run_client_LDADD = $(lib_shared)
nvtx_run_client_LDFLAGS = $(lib_shared_ldflags)
python_tests += e2e/test_nvtx_run.py
whole_tests += e2e/test_nvtx_run.py
