#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Fails on a row of tests/mutants.tsv that scripts/mutants could not apply: its old text does not
# stand exactly once in its file, or a test of it is gone. Fails also on a room of tests/rooms with C
# code that has fewer than LEAST rows, and when the rooms of the reports together have fewer than
# LEAST_OF_REPORTS.
set -eu
cd "${top_srcdir:-.}"
LEAST=5
LEAST_OF_REPORTS=110
bad=0

"${PYTHON3:-python3}" scripts/mutants --check || bad=1
for room in $(sed -n 's/^\([a-z][a-z_/]*\):.*|.*/\1/p' tests/rooms); do
    rows=$(grep -c "^$room/[^/	]*	" tests/mutants.tsv) || : # none is no fault of grep
    if [ "$(echo "$room"/*.c)" != "$room/*.c" ] && [ "$rows" -lt "$LEAST" ]; then
        echo "tests/mutants.tsv: $room has $rows rows; a room has at least $LEAST"
        bad=1
    fi
done
rows=$(grep -c '^report/' tests/mutants.tsv) || :
if [ "$rows" -lt "$LEAST_OF_REPORTS" ]; then
    echo "tests/mutants.tsv: report/ has $rows rows; it has at least $LEAST_OF_REPORTS"
    bad=1
fi
exit "$bad"
