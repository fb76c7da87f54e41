#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_dist.sh must be able to fail, at any depth.
set -u
check=${top_srcdir:?}/tests/check_dist.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0

mkdir -p "$work/top/room/deep" "$work/other"
cd "$work" || exit 99
cat >top/Makefile.am <<'EOF'
a_SOURCES = \
	main.c room/a.c \
	room/deep/b.h
# room/c.c room/forgotten.c
EOF
echo 'programs += room/test_c' >top/more.mk
echo 'b_SOURCES = room/forgotten.c' >other/Makefile.am
touch top/main.c top/room/a.c top/room/deep/b.h top/room/test_c.c

check_says() { # check_says STATUS LINE TEXT
    count=$((count + 1))
    out=$(sh "$check" "$work")
    if [ $? = "$1" ] && printf '%s\n' "$out" | grep -Fxq "$2"; then
        echo "ok $count - $3"
    else
        printf '%s\n' "$out" | sed 's/^/# /'
        echo "not ok $count - $3"
    fi
}

check_says 0 '4 files looked at, 0 missing' "passes sources that are named"
for file in top/forgotten.c top/room/forgotten.c top/room/forgotten.h top/room/deep/a.c; do
    touch $file
    check_says 1 "$file: not named in the build files of top/" "fails on $file"
    rm $file
done
rm -r top/main.c top/room
check_says 1 '0 files looked at, 0 missing' "fails without a source"
echo "1..$count"
