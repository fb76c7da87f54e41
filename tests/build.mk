# SPDX-License-Identifier: Apache-2.0
# Tests of the tree itself; see Makefile.am for what a line looks like.
script_tests += check_includes.sh
script_tests += test_check_includes.sh
script_tests += check_architecture.sh
script_tests += check_format.sh
script_tests += check_spdx.sh
script_tests += check_wire.sh
script_tests += check_dist.sh
script_tests += test_check_dist.sh
script_tests += check_manuals.sh
script_tests += check_mutants.sh
script_tests += check_units.sh
script_tests += check_configure.sh
script_tests += check_completion.sh
script_tests += check_packages.sh
script_tests += test_run_test.sh
script_tests += test_coverage.sh
script_tests += test_rooms_picture.sh
EXTRA_DIST += asan.supp lsan.supp tsan.supp
EXTRA_DIST += samples
EXTRA_DIST += fuzz/replay.h
EXTRA_DIST += mutants.tsv
EXTRA_DIST += rooms
EXTRA_DIST += top_folders.sh
EXTRA_DIST += wire
