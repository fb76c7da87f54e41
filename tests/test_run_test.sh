#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run-test decides what counts as passed: it is tested like any other program.
set -u
run=$top_srcdir/tests/run-test
count=0

umask 077

says() { # says STATUS PATTERN TEXT COMMAND...
    status=$1 pattern=$2 text=$3
    shift 3
    count=$((count + 1))
    out=$(sh "$run" "$@" 2>/dev/null)
    code=$?
    if [ "$code" = "$status" ] && printf '%s\n' "$out" | grep -q "$pattern"; then
        echo "ok $count - $text"
    else
        printf '%s\n' "exit status $code" "$out" | sed 's/^/# /'
        echo "not ok $count - $text"
    fi
}

says 0 '^ok 1 - true' "takes exit status 0 as passed" true
says 0 '^not ok 1 - false' "takes exit status 1 as failed" false
says 0 '^ok 1 .*# SKIP' "takes exit status 77 as skipped" sh -c 'exit 77'
says 0 '^not ok 1 ' "takes a signal as failed" sh -c 'kill -SEGV $$'
says 0 '^not ok 1 ' "takes a missing program as failed" ./no-such-program
says 0 '^ok 1 - inner' "passes a plan through" sh -c 'echo "ok 1 - inner"; echo 1..1'
says 3 '^ok 1 - inner' "passes the exit status beside a plan on" \
    sh -c 'echo 1..1; echo "ok 1 - inner"; exit 3'
says 0 '^not ok 1 - inner' "counts a failed case beside exit status 1 once" \
    sh -c 'echo 1..1; echo "not ok 1 - inner"; exit 1'
says 3 '^not ok 1 - inner' "passes another exit status beside a failed case on" \
    sh -c 'echo 1..1; echo "not ok 1 - inner"; exit 3'
says 0 '^ok 1 - ' "gives a test the usual umask" sh -c '[ "$(umask)" = 0022 ]'
says 0 '^ok 1 - sleep' "ends what a command leaves behind" sh -c 'sleep 600 & exit 0'
says 0 '^not ok 1 ' "takes what was found besides as a failure" \
    sh -c 'echo lost >"$NVTXT_TEST_FINDINGS/7"'
says 9 '^# lost' "shows what was found, also beside a plan" \
    sh -c 'echo 1..1; echo "ok 1 - inner"; echo lost >"$NVTXT_TEST_FINDINGS/7"'
says 0 '^ok 1 ' "takes an empty finding for none" sh -c ': >"$NVTXT_TEST_FINDINGS/7"'
NVTXT_TEST_TIMEOUT=1
export NVTXT_TEST_TIMEOUT
says 0 '^not ok 1 ' "ends a command that hangs" sh -c 'sleep 600'
echo "1..$count"
