# SPDX-License-Identifier: Apache-2.0
# Tests of report/ and client/report; see Makefile.am for what a line looks like.
EXTRA_DIST += e2e/report.py e2e/schema.py report/f1.nvtxt
serial_tests += e2e/test_report.py
serial_tests += e2e/test_report_tables.py
serial_tests += e2e/test_report_schema.py

report_kit = unit/report_kit.c unit/report_kit.h

unit_programs += unit/test_model
unit_test_model_SOURCES = unit/test_model.c $(report_kit)
EXTRA_DIST += unit/report_text_kit.h
unit_programs += unit/test_report_text
fuzz_programs += fuzz/fuzz_text_format
unit_programs += unit/test_report_json
unit_programs += unit/test_report_spread
unit_programs += unit/test_report_sql
unit_programs += unit/test_spans
unit_test_spans_SOURCES = unit/test_spans.c $(report_kit)
unit_programs += unit/test_stats
unit_test_stats_SOURCES = unit/test_stats.c $(report_kit)
unit_programs += unit/test_report_tables
unit_test_report_tables_SOURCES = unit/test_report_tables.c $(report_kit)
unit_programs += unit/test_iterations
unit_test_iterations_SOURCES = unit/test_iterations.c $(report_kit)
unit_programs += unit/test_metrics
unit_test_metrics_SOURCES = unit/test_metrics.c $(report_kit)
EXTRA_DIST += report/filters/errors.tsv report/filters/f1.tsv report/filters/states.tsv
EXTRA_DIST += report/filters/notes.tsv report/filters/truth.tsv
unit_programs += unit/test_report_filter
unit_test_report_filter_SOURCES = unit/test_report_filter.c $(report_kit)
unit_programs += unit/test_report_load
unit_programs += unit/test_expression
unit_test_expression_SOURCES = unit/test_expression.c $(report_kit)
EXTRA_DIST += report/slow.py
serial_tests += e2e/test_report_slow.py
unit_programs += unit/test_condition unit/test_report_links
unit_test_condition_SOURCES = unit/test_condition.c $(report_kit)
unit_programs += unit/test_report_rules
unit_test_report_rules_SOURCES = unit/test_report_rules.c $(report_kit)
serial_tests += e2e/test_report_sections.py
serial_tests += e2e/test_report_rules.py
EXTRA_DIST += e2e/report_random.py report/slow_metrics.py
serial_tests += e2e/test_report_metrics.py

plain_programs += fault/alloc_report
fault_alloc_report_SOURCES = fault/alloc_report.c $(alloc_kit)
fault_alloc_report_LDFLAGS = $(alloc_ldflags)
long_report_tests = fault/alloc_report
fuzz_programs += fuzz/fuzz_rule
fuzz_fuzz_rule_SOURCES = fuzz/fuzz_rule.c $(report_kit)
unit_programs += unit/test_report_sweep
unit_test_report_sweep_SOURCES = unit/test_report_sweep.c $(report_kit)
fuzz_programs += fuzz/fuzz_expression
python_tests += e2e/test_report_load.py
serial_tests += e2e/test_report_source.py
unit_programs += unit/test_report_diff
unit_test_report_diff_SOURCES = unit/test_report_diff.c $(report_kit)
