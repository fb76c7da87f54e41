#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What `scripts/test ROOM...` would run: each test belongs to a room, and each room has a test.
set -u
top=$(cd "${top_srcdir:-.}" && pwd) || exit 1
. "$top/scripts/rooms.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
count=0

result() { # result STATUS TEXT: of the last case, with what it says in $work/said
    count=$((count + 1))
    [ "$1" = 0 ] && echo "ok $count - $2" && return
    sed 's/^/# /' "$work/said"
    echo "not ok $count - $2"
}

is_empty() { # is_empty TEXT: nothing may be in $work/said
    [ ! -s "$work/said" ]
    result $? "$1"
}

listed() { sed -n 's/^\([^# ][^ ]*\):.*/\1/p' "$top/tests/room_tests"; }

listed | LC_ALL=C sort >"$work/listed"
test_scripts | diff "$work/listed" - >"$work/said"
is_empty "tests/room_tests has each script that is a test, once"
rooms >"$work/rooms"
echo all >>"$work/rooms"
sed -n 's/^[^# ][^ ]*: *//p' "$top/tests/room_tests" | tr -s ' ' '\n' | LC_ALL=C sort -u |
    grep -vxF -f "$work/rooms" >"$work/said"
is_empty "it names only rooms and top folders"
grep -nE '^[^# ][^ ]*: *$' "$top/tests/room_tests" >"$work/said"
is_empty "it says of each where it belongs"

tests_of $(rooms) | LC_ALL=C sort -u >"$work/of_rooms"
{ test_scripts && test_programs; } | LC_ALL=C sort -u | diff "$work/of_rooms" - >"$work/said"
is_empty "each program includes a header of a room"
sed -n 's/^\(.*\): all$/\1/p' "$top/tests/room_tests" >"$work/always"
for room in $(sed -n 's/^\([a-z][a-z_/]*\):.*|.*/\1/p' "$top/tests/rooms"); do
    tests_of "$room" | grep -vxF -f "$work/always" | grep -q . || echo "$room has no test"
done >"$work/said"
is_empty "each room has a test"

# What looks whether there is a sanitizer, or whether it is to be short, is whole in a plain build only.
list_of() { sed -n "s/^\($1\) += *//p" "$top"/tests/*.mk | tr ' ' '\n' | grep '/'; }
list_of 'whole_tests\|waiting_tests\|later_tests\|unbuilt_tests\|script_tests' >"$work/plain"
others() { python3 "$top/tests/e2e/rest.py" "$@"; }
list_of 'python_tests\|serial_tests' | sort -u | grep -vxF -f "$work/plain" >"$work/sanitized"
(cd "$top/tests" && others $(cat "$work/sanitized")) >"$work/said"
is_empty "scripts/test --all runs the whole of each test"

cat >"$work/kit.py" <<'EOF'
import os
from lib import SHORT
COUNT = 3 if SHORT else 5
class Kit:
    def many(self):
        return COUNT
EOF
cat >"$work/test_it.py" <<'EOF'
import os
import kit
def helped():
    return kit.Kit().many()
def test_by_a_helper():
    helped()
def test_by_the_environment():
    os.environ.get("SANITIZERS")
def test_by_a_value():
    print(kit.COUNT)
def test_alone():
    print("SANITIZERS and SHORT")
EOF
others "$work/test_it.py" >"$work/said"
[ "$(sed 's/^test_it.py: test_by_//' "$work/said" | tr '\n' ' ')" = "a_helper a_value the_environment " ]
result $? "the cases that are another one with sanitizers are found"

has() { # has ROOM TEST TEXT
    tests_of "$1" >"$work/said"
    grep -qxF -e "$2" "$work/said"
    result $? "$3"
}
has protocol/base unit/test_frame "a program is of the room whose header it includes"
has protocol unit/test_frame "and of its top folder"
has store/lock e2e/test_locks.py "a script is of the rooms of its line"
has store e2e/test_locks.py "and of their top folder"
has store/copy e2e/test_rotation.py "a top folder in a line stands for its rooms"
has daemon check_format.sh "the checks of the tree run with any room"
tests_of protocol/lang | grep -E '^(e2e/test_ship|unit/test_report_load$)' >"$work/said"
is_empty "other tests do not"

sh "$top/scripts/test" --list report/host store/lock >"$work/said" 2>&1
[ $? = 0 ] && grep -qx unit/test_report_host "$work/said" && grep -qx e2e/test_locks.py "$work/said"
result $? "--list prints the tests of several rooms"

sh "$top/scripts/test" --list store/lock/ >"$work/with_slash" 2>&1
sh "$top/scripts/test" --list store/lock | diff - "$work/with_slash" >"$work/said"
is_empty "a room may end with a slash"

refuses() { # refuses WORDS TEXT ARGUMENT...: with status 64
    words=$1 text=$2
    shift 2
    NVTXT_BUILD_DIR=/nonexistent sh "$top/scripts/test" "$@" >"$work/said" 2>&1
    [ $? = 64 ] && grep -qF -e "$words" "$work/said"
    result $? "$text"
}
refuses "there is no option or room 'store/rooms'; the rooms and folders are:" \
    "a room that is not there is refused" store store/rooms
refuses " store/read " "what is there is named" store/rooms
refuses "'--nothing'" "an option that is not there is refused" --nothing
refuses "there is no option or room ''" "nothing is no room" ""
refuses "--list needs a room" "--list needs a room" --list
refuses "--all takes no room" "--all takes none" --all store
echo "1..$count"
