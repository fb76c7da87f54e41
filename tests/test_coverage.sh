#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# scripts/coverage on two small programs of two rooms: a line that none of them ran is counted, one
# that either ran is not; and without gcov or without counts it says so.
set -u
unset GCOV
top=$(cd "${top_srcdir:-.}" && pwd) || exit 1
command -v gcov >/dev/null 2>&1 && command -v gcc >/dev/null 2>&1 ||
    { echo "gcc or gcov is not installed"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/test_coverage.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
count=0

says() { # says STATUS PATTERN TEXT: of the last run
    count=$((count + 1))
    if [ "$status" = "$1" ] && grep -qE "$2" "$work/out"; then
        echo "ok $count - $3"
    else
        echo "# exit status $status"
        sed 's/^/# /' "$work/out"
        echo "not ok $count - $3"
    fi
}

coverage() {
    "${PYTHON3:-python3}" "$top/scripts/coverage" "$@" >"$work/out" 2>&1
    status=$?
}

mkdir -p "$work/client/text" "$work/store/db" "$work/b/client/text" "$work/b/store/db"
printf 'static int f(int x) {\n    if (x > 1) {\n        return 1;\n    }\n    return 0;\n}\n' \
    >"$work/client/text/f.h"
coverage "$work/b" "$work"
says 1 'configure with --enable-coverage' "says that there are no counts"
for file in client/text/one store/db/two; do
    printf '#include "client/text/f.h"\nint main(void) {\n    return f(0);\n}\n' >"$work/$file.c"
    (cd "$work/b/${file%/*}" && gcc --coverage -I"$work" -c "$work/$file.c" &&
        gcc --coverage "${file##*/}.o" && ./a.out) || echo "# gcc fails"
done
coverage --files "$work/b" "$work"
says 0 '^client/text +6 +5 +83\.3 %$' "counts the lines of a room, a header's once"
says 0 '^store/db +2 +2 +100\.0 %$' "counts the lines of the other room"
says 0 '^  f\.h +4 +3 +75\.0 %$' "counts the lines of a file"
says 0 '^all +8 +7 +87\.5 %$' "counts all"
"${PYTHON3:-python3}" "$top/scripts/coverage" --files "$work/b" "$work" 2>"$work/errors" | :
status=0
[ ! -s "$work/errors" ] || status=1
mv "$work/errors" "$work/out"
echo end >>"$work/out"
says 0 '^end$' "ends without a word when nobody reads"
GCOV=/nonexistent/gcov
export GCOV
coverage "$work/b" "$work"
says 1 'is not installed' "says that gcov is missing"
echo "1..$count"
