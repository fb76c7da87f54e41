#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Fails on C code that says in its own way what the tree says in one way (CONTRIBUTING.md, "Style").
set -eu
cd "${top_srcdir:-.}"
. tests/top_folders.sh
# shellcheck disable=SC2046 # no name has a blank
set -- $(find $(folders_with_rooms) -type f -name '*.[ch]' | LC_ALL=C sort)
bad=0
# refuse SENTENCE PATTERN FILE...: a line that matches is wrong.
refuse() {
    sentence=$1 pattern=$2
    shift 2
    if grep -nP "$pattern" "$@" /dev/null; then
        bad=1
        echo "$sentence"
    fi
}
refuse 'write a ?: b' '(^ +|[^=!<>]= |return |\(|, )([A-Za-z_][\w.>-]*) (!= 0 )?\? \2 :' "$@"
refuse 'write r ?: f()' '(= |return )r == 0 \? .*: r;' "$@"
refuse 'write r ?: f(), or an if where r may be above 0' \
    '\b(\w+) < 0 \? \1( : (?!nvtxt_origin\()(\(int\))?[a-z_][\w.>-]*\(|$)' "$@"
# shellcheck disable=SC2046 # in the store, a result is a code of the store's
refuse 'the result of a call is r' '^    +int (result|ret|err) = ' $(grep -LE '"store/' "$@")
# shellcheck disable=SC2046
refuse "rc is a code of SQLite's: no file here includes sqlite3.h or a header of the store's" '\bint rc( = |;)' \
    $(grep -LE 'sqlite3\.h|"store/|"report/load/load_(state|raw|ahead)\.h"' "$@")
# refuse_macros DEFINING FILE...: results above 0 (CONTRIBUTING.md, "Style"). A macro of a small number
# that a function returns is one.
refuse_macros() {
    # shellcheck disable=SC2086 # no name has a blank
    names=$(sed -nE 's/^#define ([A-Z][A-Z0-9_]*) \(?[1-4]\)?( *\/\/.*)?$/\1/p' $1 | grep -v '_MS$' |
        paste -sd '|' -)
    shift
    [ -z "$names" ] || refuse 'a result above 0 is NVTXT_WRONG, or of an enum' \
        "\\breturn ([^;]*(\\? |: ))?($names)(;| :)" "$@"
}
refuse_macros "$(printf '%s\n' "$@" | grep '\.h$')" "$@"
for file in $(grep -lE '^#define [A-Z0-9_]+ \(?[1-4]\)?( |$)' "$@" | grep '\.c$'); do
    refuse_macros "$file" "$file"
done
# A birth is neither compared nor a case; text and comments are passed over.
refuse 'write nvtxt_origin(-ENAME) where an errno is born' \
    '^(?!\s*(/[/*]|\*|#))(?:"(?:[^"\\]|\\.)*"|(?!//)[^"])*?(?<!nvtxt_origin\()(?<![=!<>]= )(?<![<>] )(?<!case )(?<=[ (])-(errno|error|E[A-Z][A-Z0-9]+)\b(?! [=!]=)' \
    "$@"
for file; do
    case $file in *.h) [ "$(wc -l <"$file")" -gt 30 ] && continue ;; *) continue ;; esac
    bad=1
    echo "$file: a header of at most 30 lines is part of another one of its room"
done
# What is neither blank nor a comment counts; a function ends with a "}" in the first column.
${AWK:-awk} -v MOST_LINES=500 -v MOST_OF_FUNCTION=60 '
    FNR == 1 { lines = 0 }
    /^[ \t]*(\/\/.*)?$/ { next }
    { lines++ }
    /^[A-Za-z_]/ && !/:$/ { start = lines }
    /^}$/ && lines - start >= MOST_OF_FUNCTION {
        print FILENAME ":" FNR ": a function of more than " MOST_OF_FUNCTION " lines"
        bad = 1
    }
    lines == MOST_LINES + 1 { print FILENAME ": a file of more than " MOST_LINES " lines"; bad = 1 }
    END { exit bad }' "$@" || bad=1
echo "$# files looked at"
[ "$bad" = 0 ] && [ $# -gt 0 ]
