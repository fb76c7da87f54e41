# SPDX-License-Identifier: Apache-2.0
# Tests of inject/ext; see Makefile.am for what a line looks like.
injext_ldadd = $(inject_core) $(lib_core) $(LDADD)
EXTRA_DIST += unit/schema_kit.h
unit_programs += unit/test_code_units
unit_programs += unit/test_schema_json
unit_test_code_units_LDADD = $(injext_ldadd)
unit_test_schema_json_LDADD = $(injext_ldadd)
fuzz_programs += fuzz/fuzz_schema
fuzz_fuzz_schema_LDADD = $(injext_ldadd)

# The client of the extensions, with the stand-in and with the real headers.
EXTRA_DIST += nvtx/stand_in_ext.h nvtx/abi_ext_compare.c
helper_programs += nvtx/extensions
nvtx_extensions_SOURCES = nvtx/extensions.c nvtx/stand_in.c nvtx/stand_in.h nvtx/stand_in_ext.h
nvtx_extensions_CFLAGS = $(nvtx_flags)
nvtx_extensions_LDADD = -ldl
if HAVE_NVTX3
helper_programs += nvtx/extensions_real
nvtx_extensions_real_SOURCES = nvtx/extensions.c
nvtx_extensions_real_CPPFLAGS = $(nvtx_calls_real_CPPFLAGS)
nvtx_extensions_real_CFLAGS = $(nvtx_flags)
nvtx_extensions_real_LDADD = -ldl
serial_programs += nvtx/abi_ext_compare
nvtx_abi_ext_compare_CPPFLAGS = $(nvtx_calls_real_CPPFLAGS)
nvtx_abi_ext_compare_LDADD = -ldl
endif
python_tests += e2e/test_inject_ext.py
whole_tests += e2e/test_inject_ext.py
plain_programs += plain/ext_threads
plain_ext_threads_LDADD = $(injext_ldadd)
serial_programs += fault/ext_faults
fault_ext_faults_LDADD = $(injext_ldadd)
fault_ext_faults_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=mmap
