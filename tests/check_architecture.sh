#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_architecture.sh [TOP]: compares doc/ARCHITECTURE.md with the tree. Fails when its picture is
# not what scripts/rooms-picture draws; when a room has no row, or the row lacks its lead header or a
# module, or names a module that is not in the room; when the prose of a lead header does not begin
# with its room's name; when this page or CONTRIBUTING.md names a path that does not exist.
set -eu
cd "${1:-${top_srcdir:-.}}"
. tests/top_folders.sh
page=doc/ARCHITECTURE.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

fault() {
    echo "$*"
    bad=$((bad + 1))
}

sh scripts/rooms-picture . >"$work/drawn"
awk '/^<!-- scripts\/rooms-picture -->/ { found = 1; next }
    /^```/ { if (inside) exit; inside = found; next }
    inside' "$page" >"$work/shown"
diff -u "$work/shown" "$work/drawn" || fault "$page: run scripts/rooms-picture --write"

# One row a room: | `ROOM` | `HEADER` | ... `MODULE` ... |
rooms=$(sed -n 's/^\([a-z][a-z_/]*\):.*|.*/\1/p' tests/rooms)
for room in $rooms; do
    row=$(grep -F "| \`$room\` |" "$page") || { fault "$page: no row for $room"; continue; }
    lead=${row#*"| \`$room\` | \`"}
    lead=${lead%%\`*}
    if [ -f "$room/$lead" ]; then
        { read -r _ && read -r _ && read -r line; } <"$room/$lead" || line=
        case $line in
        "// $room: "*) ;;
        *) fault "$room/$lead: line 3 does not begin with \"// $room: \"" ;;
        esac
    else
        fault "$page: there is no $room/$lead"
    fi
    for file in "$room"/*.[ch]; do
        module=${file##*/}
        module=${module%.[ch]}
        case $row in
        *"\`$module\`"*) ;;
        *) fault "$page: the row of $room lacks \`$module\`" ;;
        esac
    done
    row=${row#*"| \`$room\` | \`$lead\` |"}
    while [ "$row" != "${row#*\`}" ]; do # each word between two backticks
        row=${row#*\`}
        module=${row%%\`*}
        row=${row#*\`}
        [ "${module#-}" != "$module" ] || [ -f "$room/$module.c" ] || [ -f "$room/$module.h" ] ||
            fault "$page: the row of $room names \`$module\`, which is not in it"
    done
done

# What stands in backticks and begins with a folder of the tree is a path, or a module without its
# ending, or both with a "*".
tops=$(all_folders | tr -s ' \n' '|')
grep -ohE '`('"${tops%|}"')/[^` <]*`' \
    "$page" CONTRIBUTING.md | tr -d '`' | LC_ALL=C sort -u >"$work/paths"
while read -r path; do
    for found in $path $path.[ch] $path.*; do
        [ ! -e "$found" ] || continue 2
    done
    fault "there is no $path"
done <"$work/paths"
echo "$(echo "$rooms" | wc -w) rooms and $(wc -l <"$work/paths") paths looked at, $bad faults"
[ "$bad" = 0 ] && [ -n "$rooms" ]
