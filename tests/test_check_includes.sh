#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_includes.sh must be able to fail. Each case changes one thing in a small tree that is good,
# and expects just the one fault that this makes.
set -u
check=${top_srcdir:?}/tests/check_includes.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0

tap() { # tap STATUS TEXT
    count=$((count + 1))
    if [ "$1" = 0 ]; then echo "ok $count - $2"; else echo "not ok $count - $2"; fi
}

# Two rooms below low/, one at the root of top/, and a folder that may include what it likes.
mkdir -p "$work/good/low/base" "$work/good/low/mid" "$work/good/top" "$work/good/tests"
cd "$work/good" || exit 99
touch low/Makefile.am top/Makefile.am tests/Makefile.am
for name in a b c d e; do
    for room in low/base low/mid top; do echo '#include <stdio.h>' >$room/$name.c; done
done
echo '#include <jansson.h>' >low/base/a.c
echo '#include "low/base/a.h"' >low/mid/a.c
printf '%s\n' '#include "config.h"' '#include "low/mid/a.h"' ' # include <uv.h>' >top/a.c
printf '%s\n' '#include "any.h"' '#include <any.h>' >tests/a.c
cat >tests/rooms <<'EOF'
# A comment.
pure = stdio.h string.h
pure = math.h
low/base: | pure
low/base/a.*: | jansson.h # a comment
low/mid: low/base | pure
top: low/mid | pure uv.h
no rooms: tests
EOF

try() { # try CHANGE: runs the check on the good tree with the change of the sh command CHANGE
    rm -rf "$work/tree"
    cp -r "$work/good" "$work/tree"
    (cd "$work/tree" && eval "$1")
    out=$(sh "$check" "$work/tree")
}

passes() { # passes CHANGE TEXT
    try "$1"
    code=$?
    [ $code = 0 ] || printf '%s\n' "$out" | sed 's/^/# /'
    tap $code "passes $2"
}

names() { # names LINE CHANGE TEXT: fails with LINE and no other fault
    if try "$2"; then tap 1 "fails on $3"; return; fi
    case $out in
    "$1"*" 1 faults") tap 0 "fails on $3" ;;
    *) printf '%s\n' "$out" | sed 's/^/# /'; tap 1 "names $3, and only that" ;;
    esac
}

add() { # add FILE LINE
    mkdir -p "${1%/*}"
    echo "$2" >>"$1"
}

passes : "a good tree"

# Arrows.
names 'low/base/b.c:2: tests/rooms does not let low/base/ include "low/mid/a.h"' \
    "add low/base/b.c '#include \"low/mid/a.h\"'" "an arrow that is not in the table"
names 'top/b.c:2: tests/rooms does not let top/ include "low/base/a.h"' \
    "add top/b.c '#include \"low/base/a.h\"'" "a way of two arrows taken at once"
names 'top/b.c:2: tests/rooms does not let top/ include "b.h"' \
    "add top/b.c '#include \"b.h\"'" "a path that does not begin at the top of the tree"
names 'low/mid/b.c:2: tests/rooms does not let low/mid/ include "../base/a.h"' \
    "add low/mid/b.c '#include \"../base/a.h\"'" "a path that goes up"
names 'top/b.c:2: tests/rooms does not let top/ include MACRO' \
    "add top/b.c '#include MACRO'" "an include that a macro names"
names 'tests/rooms:6: no file of low/mid includes one of low/base' \
    "echo >low/mid/a.c" "an arrow that no include uses"
names 'tests/rooms:6: low/mid may include low/none, which is no room' \
    "sed -i '6s/ |/ low\/none |/' tests/rooms" "an arrow to no room"
names 'a circle of rooms in tests/rooms: low/base low/mid top' \
    "sed -i 's/low.base: /&top /' tests/rooms && add low/base/b.c '#include \"top/a.h\"'" \
    "a circle in the table"

# Rooms.
passes "for n in f g h i j k l m n o p q r s t; do touch top/\$n.c; done" "a room of 20 files"
names 'tests/rooms:7: top has 4 files, a room has 5 to 20' "rm top/e.c" "a room of 4 files"
names 'tests/rooms:7: top has 21 files, a room has 5 to 20' \
    "for n in f g h i j k l m n o p q r s t u; do touch top/\$n.h; done" "a room of 21 files"
names 'top/deep/x.c: tests/rooms has no room top/deep' "mkdir top/deep && touch top/deep/x.c" \
    "a file in no room"
names 'lib/x.h: tests/rooms has no room lib' "mkdir lib && touch lib/x.h lib/y.h lib/Makefile.am" \
    "a new top folder without a room"
names 'tests/rooms:9: no file is in low/empty' "add tests/rooms 'low/empty: | pure'" \
    "a room without a folder"
names 'tests/rooms:9: top stands twice' "add tests/rooms 'top: low/mid | pure uv.h'" \
    "a room that stands twice"

# Headers from outside.
names 'low/base/b.c:2: tests/rooms does not let low/base/ include <uv.h>' \
    "add low/base/b.c '#include <uv.h>'" "a foreign header out of place"
names 'low/base/b.c:2: tests/rooms does not let low/base/ include <jansson.h>' \
    "add low/base/b.c '  #  include <jansson.h>'" "the header of another file of the room"
names 'low/base/b.c:2: tests/rooms does not let low/base/ include <time.h>' \
    "add low/base/b.c '#include <time.h>'" "a header that is in no set of the room"
passes "add low/base/a.h '#include <jansson.h>' && echo >low/base/a.c" "the header of a module in its .h"
names 'tests/rooms:7: nothing in top includes uv.h' "echo '#include \"low/mid/a.h\"' >top/a.c" \
    "a header in the table that nothing includes"
names 'tests/rooms:9: there is no top/x.c' "add tests/rooms 'top/x.c: | pure'" \
    "a line for a file that is not there"

# Modules of a room.
two_know_each_other='add top/b.c "#include \"top/c.h\"" && add top/c.c "#include \"top/b.h\""'
names 'a circle of modules in top: top/b top/c' "$two_know_each_other" "a circle of modules"
names 'a circle of modules in top: top/b top/c' \
    'add top/b.c "#include \"top/in.h\"" && add top/in.h "#include \"top/c.h\"" &&
     add top/c.c "#include \"top/b.h\""' "a circle of modules through a header"
passes 'add top/b.c "#include \"top/in.h\"" && add top/in.h "#include \"top/b.h\""' \
    "a module with an inner header"
names 'a circle of headers in top: top/in top/out' \
    'add top/in.h "#include \"top/out.h\"" && add top/out.h "#include \"top/in.h\""' \
    "a circle of headers"
passes "$two_know_each_other && add tests/rooms 'one object: top/b top/c'" "the modules of one object"
names 'a circle of modules in top: top/b top/d' \
    "$two_know_each_other && add tests/rooms 'one object: top/b top/c' &&
     add top/b.c '#include \"top/d.h\"' && add top/d.c '#include \"top/c.h\"'" \
    "a circle of one object and another module"

# The table itself.
names 'tests/rooms:9: what is "top low"?' "add tests/rooms 'top low'" "a line that means nothing"
names 'tests/rooms:9: no "|" between rooms and headers' "add tests/rooms 'top/x: pure'" \
    "a line without its bar"
names 'tests/rooms:9: "pur" is neither a set nor a header' "add tests/rooms 'top/a.c: | pur'" \
    "a set that is not there"
names 'tests/rooms:9: a file has the arrows of its room' "add tests/rooms 'top/a.c: top | pure'" \
    "a file with arrows of its own"
if try "rm tests/rooms"; then tap 1 "fails without a table"; else tap 0 "fails without a table"; fi
if try "rm -r low top"; then tap 1 "fails without a source"; else tap 0 "fails without a source"; fi
if try "rm */Makefile.am"; then tap 1 "fails without folders"; else tap 0 "fails without folders"; fi

# What the table of this tree must keep apart, whatever rooms there will be.
rm -rf "$work/tree"
while read -r file include; do
    mkdir -p "$work/tree/${file%/*}"
    touch "$work/tree/${file%%/*}/Makefile.am"
    echo "#include $include" >>"$work/tree/$file"
done <<'EOF'
protocol/base/frame.c <uv.h>
protocol/base/frame.c <sqlite3.h>
protocol/base/frame.c <jansson.h>
protocol/base/frame.c <time.h>
protocol/base/frame.c <unistd.h>
protocol/base/frame.c <sys/random.h>
protocol/base/hash_value.c <unistd.h>
protocol/base/frame.h "store/store.h"
protocol/lang/lexer.c "protocol/interp/interp.h"
store/store.c "daemon/conn/conn.h"
store/store.c <uv.h>
store/store.h <sqlite3.h>
store/store.h <jansson.h>
store/value/batch.c <sqlite3.h>
daemon/base/log.c <uv.h>
daemon/conf/conf.h <uv.h>
daemon/conn/conn.c "client/session/sender.h"
daemon/conn/conn.c "daemon/control/control.h"
daemon/conn/conn.c <sqlite3.h>
daemon/conn/conn.c <jansson.h>
daemon/conn/conn.c <ini.h>
daemon/source/source.c "daemon/conn/server.h"
client/send/nvtxt-send.c "store/store.h"
client/send/nvtxt-send.c "daemon/conn/conn.h"
client/import/nvtxt-import.c <sqlite3.h>
client/session/sender.c <jansson.h>
client/session/sender.c <getopt.h>
client/session/sender.c <signal.h>
client/spool/spool.c <termios.h>
client/spool/spool.c <sys/ioctl.h>
client/ctl/nvtxt-ctl.c <curl/curl.h>
EOF
mkdir "$work/tree/tests"
cp "$top_srcdir/tests/rooms" "$work/tree/tests/"
planted=$(cat "$work"/tree/*/*.[ch] "$work"/tree/*/*/*.[ch] | wc -l)
found=$(sh "$check" "$work/tree" | grep -c 'does not let')
[ "$found" = "$planted" ]
tap $? "forbids $found of $planted includes that this tree must not have"
echo "1..$count"
