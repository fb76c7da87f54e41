# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2086 # lists of words are split on purpose
#
# The suites of both scripts/test and scripts/check-full. Sourced after lib.sh.

NVTXT_TEST_TIMEOUT=${NVTXT_TEST_TIMEOUT:-600}
export NVTXT_TEST_TIMEOUT

need_for_tests() { # need_for_tests PACKAGE...: these and the usual ones
    want_optional=yes
    need $packages_build libcriterion-dev python3 sqlite3 "$@"
}

# Builds take less time with -g1, which still names lines, and those of the sanitizers with -O1; their
# programs run as fast. nvtxt-report in ThreadSanitizer is left to scripts/check-full, and nvtxt-ship has
# no threads.
asan_suite() { # asan_suite TITLE TARGET. Programs that need not be moved start faster.
    suite "$1" asan "$2" --enable-sanitizers=address,undefined --enable-werror 'CFLAGS=-O1 -g1' \
        LDFLAGS=-no-pie
}

# One build, with the sanitizers that find most: all tests that do not wait, and of each kind one.
short_suite() {
    asan_suite 'AddressSanitizer and UndefinedBehaviorSanitizer' check-short
}

# The same build with the tests in $room_tests, those that wait too.
room_suite() {
    NVTXT_ROOM_TESTS=$(echo $room_tests)
    export NVTXT_ROOM_TESTS
    asan_suite 'AddressSanitizer and UndefinedBehaviorSanitizer' check-rooms
}

# The demo is done when it ends well, within 60 lines, and has left what it names.
demo() {
    env NVTXT_BUILT="$build_root/test" timeout --kill-after=10 180 "$top/scripts/demo" >"$build_root/demo.out" 2>&1 ||
        { cat "$build_root/demo.out"; return 1; }
    lines=$(wc -l <"$build_root/demo.out")
    [ "$lines" -le 60 ] || { echo "the demo prints $lines lines"; return 1; }
    for left in nvtxt.sqlite demo-report.html demo-diff.html trace.json; do
        [ -s "$build_root/demo/$left" ] || { echo "the demo leaves no $left"; return 1; }
    done
}

tsan_suite() {
    suite 'ThreadSanitizer' tsan check --enable-sanitizers=thread --disable-report --with-libpq=no \
        'CFLAGS=-O1 -g1'
}

# scripts/check-full: every test whole.
suites() {
    suite 'plain build' test check --enable-werror 'CFLAGS=-O2 -g1'
    asan_suite 'AddressSanitizer and UndefinedBehaviorSanitizer' check
    tsan_suite
    one 'demo' "$build_root/demo.log" demo
}

# scripts/test --all: each case runs once at least. What a sanitizer build runs, the plain build runs as
# well only if it is whole there alone (whole_tests in tests/Makefile.am, and of those in Python the cases
# that tests/e2e/rest.py finds), and what has a short form runs that under sanitizers. scripts/check-full
# runs the whole suite plain.
all_suites() {
    suite 'plain build' test check-plain --enable-werror 'CFLAGS=-O2 -g1'
    NVTXT_TEST_SHORT=1
    export NVTXT_TEST_SHORT
    asan_suite 'AddressSanitizer and UndefinedBehaviorSanitizer' check
    tsan_suite
    unset NVTXT_TEST_SHORT
    one 'demo' "$build_root/demo.log" demo
}
