# SPDX-License-Identifier: Apache-2.0
# Tests of lib/; see Makefile.am for what a line looks like.
core_ldadd = $(lib_core) $(LDADD)
EXTRA_DIST += unit/lib_kit.h
unit_programs += unit/test_line
unit_test_line_LDADD = $(core_ldadd)
unit_programs += unit/test_options
unit_test_options_LDADD = $(core_ldadd)
unit_programs += unit/test_api
unit_test_api_LDADD = $(core_ldadd)
serial_tests += e2e/test_examples.py
whole_tests += e2e/test_examples.py
unit_programs += unit/test_record
unit_test_record_LDADD = $(core_ldadd)
unit_programs += unit/test_ring
unit_test_ring_LDADD = $(core_ldadd)
unit_programs += unit/test_stacks
unit_test_stacks_LDADD = $(core_ldadd)
plain_programs += plain/lib_property
plain_lib_property_LDADD = $(core_ldadd)
serial_programs += fault/lib_faults
fault_lib_faults_LDADD = $(core_ldadd)
fault_lib_faults_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=mmap,--wrap=madvise,--wrap=fallocate \
	-Wl,--wrap=ftruncate,--wrap=open,--wrap=fcntl,--wrap=socket,--wrap=pthread_attr_init \
	-Wl,--wrap=pthread_create
unit_programs += unit/test_clock
unit_test_clock_LDADD = $(core_ldadd)
