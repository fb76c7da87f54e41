# SPDX-License-Identifier: Apache-2.0
# The whole suite under valgrind: `make check-valgrind`. Not the interpreters of the tests: only our
# programs, whichever way a test starts them. What valgrind says lands in the folder of findings,
# and run-test fails the test for it. valgrind.out lists what is left out, and why.
EXTRA_DIST += valgrind.supp valgrind.out

valgrind = valgrind -q --vgdb=no --error-exitcode=9 --leak-check=full --num-callers=25 \
	--suppressions=$(abs_srcdir)/valgrind.supp --log-file=%q{NVTXT_TEST_FINDINGS}/%p

# The longest first.
VALGRIND_TESTS = $(python_tests) $(serial_tests) $(later_tests) $(plain_programs) $(serial_programs) \
	$(fuzz_programs) $(unit_programs)

check-valgrind: plain-criterion $(check_PROGRAMS)
	@tests=; \
	for test in $(VALGRIND_TESTS); do \
	  grep -q "^$$test:" '$(srcdir)/valgrind.out' || tests="$$tests $$test"; \
	done; \
	NVTXT_TEST_WRAPPER='$(valgrind)'; export NVTXT_TEST_WRAPPER; \
	NVTXT_TEST_DEADLINE=300; export NVTXT_TEST_DEADLINE; \
	$(MAKE) $(AM_MAKEFLAGS) check TESTS="$$tests"

.PHONY: check-valgrind
