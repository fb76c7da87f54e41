# SPDX-License-Identifier: Apache-2.0
# Tests of what nvtxt-compat(7) promises; see Makefile.am for what a line looks like.
EXTRA_DIST += compat/codes.facts compat/conf.facts compat/csv.facts compat/files.facts compat/fleet.facts \
	compat/json_ctl.facts compat/json_report.facts compat/json_ship.facts compat/language.facts compat/library.facts \
	compat/metrics.facts compat/options.facts compat/python.facts compat/statuses.facts \
	compat/store.facts compat/wire.facts
EXTRA_DIST += compat/facts.py compat/interfaces.py compat/keys.h
script_tests += compat/test_breaks.py
script_tests += compat/test_compat.py
helper_programs += compat/core_tables
compat_core_tables_SOURCES = compat/core_tables.c
if ENABLE_REPORT
helper_programs += compat/report_tables
compat_report_tables_SOURCES = compat/report_tables.c
endif
if ENABLE_SHIP
helper_programs += compat/ship_tables
compat_ship_tables_SOURCES = compat/ship_tables.c
endif
