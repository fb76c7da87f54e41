#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Each row of the table in SECURITY.md names tests, and those are there. Fails when a file, or a case of
# it, does not exist, when no fragment (*.mk) runs the file, and when a row names none. At its end it
# breaks a copy of the page in these ways, and must notice.
#
# A test is written as in mutants.tsv, PATH or PATH:CASE,CASE, but a program of C by its source.
set -u
top=${top_srcdir:-.}
page=$top/SECURITY.md
[ -f "$page" ] || { echo "no SECURITY.md"; exit 1; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

table() { sed -n 's/^| *\(.*[^ ]\) *|$/\1/p' "$1" | grep -vE '^(who \||---)'; }
# shellcheck disable=SC2016 # marks of code
tests_of() { table "$1" | grep -oE '`[a-z0-9]+/[a-z0-9_]+\.(py|c|sh)(:[A-Za-z0-9_,]+)?`' | tr -d '`' | sort -u; }

# Whether a file of tests/ is a test that `make check` runs, and not only there.
is_run() {
    name=$1
    case $1 in *.c) name=${1%.c} ;; esac
    grep -qE "^[a-z_]+_(programs|tests) \+=(.* )?$name( |\$)" "$top"/tests/*.mk
}
has_case() { # has_case FILE CASE
    case $1 in
    *.py) grep -q "^def $2(" "$top/tests/$1" ;;
    *) grep -qE "^Test\([a-z0-9_]+, $2[,)]" "$top/tests/$1" ;;
    esac
}
faults() { # faults PAGE: one a line
    for test in $(tests_of "$1"); do
        file=${test%%:*}
        [ -f "$top/tests/$file" ] || { echo "there is no tests/$file"; continue; }
        is_run "$file" || echo "no fragment runs tests/$file"
        case $test in *:*) ;; *) continue ;; esac
        for case in $(echo "${test#*:}" | tr , ' '); do
            has_case "$file" "$case" || echo "tests/$file has no case $case"
        done
    done
    table "$1" | awk -F '|' 'NF != 3 || $3 !~ /`/ { print "names no test: " $0 }'
}

faults "$page" >"$work/faults"
sed 's/^/SECURITY.md: /' "$work/faults"
bad=$(wc -l <"$work/faults")

notices() { # notices WORDS SCRIPT: what sed's SCRIPT makes of the page has one more fault, with WORDS in it
    sed "$2" "$page" >"$work/page"
    faults "$work/page" | diff "$work/faults" - | grep -q "^>.*$1" ||
        { echo "a broken page is not noticed: $2"; bad=$((bad + 1)); }
}
notices "has no case runs_no_triggers" 's/runs_no_trigger,/runs_no_triggers,/'
notices "has no case test_a_flood_ends$" 's/test_a_flood_ends_the_connection/test_a_flood_ends/'
notices "no tests/e2e/test_quotas.py" 's/test_quota\.py/test_quotas.py/'
# shellcheck disable=SC2016
notices "no fragment runs tests/e2e/lib.py" 's/`fuzz\/fuzz_serve\.c`/`e2e\/lib.py`/'
notices "names no test" 's/^\(| \*\*Roles of a fleet\*\*.*\) | `e2e.*/\1 | to come |/'

count=$(tests_of "$page" | tr , '\n' | wc -l)
echo "$count tests and cases looked at, $bad faults"
[ "$bad" -eq 0 ] && [ "$count" -gt 20 ]
