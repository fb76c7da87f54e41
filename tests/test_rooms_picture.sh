#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# scripts/rooms-picture on a table of three rooms, and its options.
set -u
script=$(cd "${top_srcdir:-.}" && pwd)/scripts/rooms-picture
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0

gives() { # gives STATUS OUTPUT TEXT ARG...: runs the script with ARG...
    status=$1 want=$2 text=$3
    shift 3
    count=$((count + 1))
    out=$(sh "$script" "$@" 2>&1)
    code=$?
    if [ $code = "$status" ] && [ "$out" = "$want" ]; then
        echo "ok $count - $text"
    else
        printf 'exit status %s\n%s\n' $code "$out" | sed 's/^/# /'
        echo "not ok $count - $text"
    fi
}

mkdir "$work/tests" "$work/doc"
printf '%s\n' 'low: | x.h' 'mid: low |' 'top: low mid |' >"$work/tests/rooms"
picture='top -o
 mid *-o
   low *'
gives 0 "$picture" "draws no arrow that others make up" "$work"
mark='<!-- scripts/rooms-picture -->'
printf '%s\n' "$mark" '```' old '```' end >"$work/doc/ARCHITECTURE.md"
gives 0 "" "writes without a word" --write "$work"
want=$(printf '%s\n' "$mark" '```' "$picture" '```' end)
count=$((count + 1))
if [ "$(cat "$work/doc/ARCHITECTURE.md")" = "$want" ]; then
    echo "ok $count - puts the picture below its mark"
else
    sed 's/^/# /' "$work/doc/ARCHITECTURE.md"
    echo "not ok $count - puts the picture below its mark"
fi
gives 0 "usage: scripts/rooms-picture [--write] [TOP]
  --write  puts the picture into TOP/doc/ARCHITECTURE.md, below its mark
  TOP      the top folder of the tree (default: the one of this script)" "has a help" --help
gives 64 "rooms-picture: there is no option --wirte here, see --help" "a wrong option" --wirte
gives 64 "rooms-picture: there is no option --help here, see --help" "a second option" --write --help
gives 64 "rooms-picture: more than one TOP, see --help" "two folders" "$work" "$work"
echo end >"$work/doc/ARCHITECTURE.md"
gives 65 "doc/ARCHITECTURE.md has no mark for the picture" "a page without the mark" --write "$work"
echo "1..$count"
