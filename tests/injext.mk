# SPDX-License-Identifier: Apache-2.0
# Tests of inject/ext; see Makefile.am for what a line looks like.
injext_ldadd = $(top_builddir)/inject/libnvtxt-inject-core.la \
	$(top_builddir)/lib/libnvtxt-core.la $(LDADD)
EXTRA_DIST += unit/schema_kit.h
unit_programs += unit/test_code_units
unit_programs += unit/test_schema_json
unit_test_code_units_LDADD = $(injext_ldadd)
unit_test_schema_json_LDADD = $(injext_ldadd)
fuzz_programs += fuzz/fuzz_schema
fuzz_fuzz_schema_LDADD = $(injext_ldadd)
