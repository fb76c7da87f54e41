# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2046,SC2086 # lists of words are split on purpose
#
# Which tests belong to a room. Sourced with `top` set to the top folder. A program of tests/ belongs to
# the rooms whose headers its source includes; tests/room_tests says it of all other tests.

# rooms: prints the rooms and the top folders.
rooms() {
    (cd "$top" && . tests/top_folders.sh && {
        sed -n 's/^\([a-z][a-z_/]*\):.*|.*/\1/p' tests/rooms
        all_folders | tr -s ' ' '\n'
    } | sed '/^$/d' | LC_ALL=C sort -u)
}

is_room() { rooms | grep -qxF -e "$1"; }

# test_programs: prints those that are tests, a name a line.
test_programs() {
    sed -n 's/^\(unit\|plain\|serial\|waiting\|fuzz\)_programs += *//p' "$top"/tests/*.mk |
        tr -s ' ' '\n' | LC_ALL=C sort -u
}

# test_scripts: prints all other tests.
test_scripts() {
    sed -n 's/^\(python\|serial\|script\|unbuilt\|waiting\|later\)_tests += *//p' "$top"/tests/*.mk |
        tr -s ' ' '\n' | LC_ALL=C sort -u
}

# tests_of ROOM...: prints their tests, a name a line; the scripts first, since they take longer.
tests_of() {
    ${AWK:-awk} -v rooms="$*" '
        function is_of(word, room) {
            return word == "all" || index(word "/", room "/") == 1 || index(room "/", word "/") == 1
        }
        BEGIN { count = split(rooms, wanted, " ") }
        !/^#/ && NF {
            for (i = 2; i <= NF; i++)
                for (j = 1; j <= count; j++)
                    if (is_of($i, wanted[j])) {
                        print substr($1, 1, length($1) - 1)
                        next
                    }
        }' "$top/tests/room_tests"
    (
        cd "$top/tests" || exit
        sources=$(test_programs | sed 's/$/.c/')
        for room; do
            grep -lE "^#include \"$room/" $sources
        done | sed 's/\.c$//' | LC_ALL=C sort -u
    )
}
