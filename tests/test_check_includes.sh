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
newline='
'

tap() { # tap STATUS TEXT
    count=$((count + 1))
    if [ "$1" = 0 ]; then echo "ok $count - $2"; else echo "not ok $count - $2"; fi
}

# Two rooms below low/, one at the root of top/, and a folder that may include what it likes.
mkdir -p "$work/good/low/base" "$work/good/low/mid" "$work/good/top" "$work/good/tests"
cd "$work/good" || exit 99
for name in a b c d e; do
    for room in low/base low/mid top; do echo '#include <stdio.h>' >$room/$name.c; done
done
echo '#include <jansson.h>' >low/base/a.c
echo '#include "low/base/a.h"' >low/mid/a.c
printf '%s\n' '#include "config.h"' '#include "low/mid/a.h"' ' # include <uv.h>' >top/a.c
printf '%s\n' '#include "any.h"' '#include <any.h>' >tests/a.c
echo '#include <math.h>' >>low/mid/a.c
cat >tests/rooms <<'EOF'
# A comment.
pure = stdio.h
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
    "$1$newline"*" 1 faults") tap 0 "fails on $3" ;;
    *) printf '%s\n' "$out" | sed 's/^/# /'; tap 1 "names $3, and only that" ;;
    esac
}

add() { # add FILE LINE
    mkdir -p "${1%/*}"
    printf '%s\n' "$2" >>"$1"
}

passes : "a good tree"

# Includes that stand twice.
names 'low/base/b.c:3: a header of its room, which it includes, brings math.h' \
    "add low/base/x.h '#include \"low/base/y.h\"'; add low/base/y.h '#include <math.h>'
    add low/base/b.c '#include \"low/base/x.h\"'; add low/base/b.c '#include <math.h>'" \
    "an include that a header of the room brings"
passes "add low/mid/x.h '#include <math.h>'; add low/mid/b.c '#include <math.h>'" "a file that includes no header"

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
    "sed -i 1d low/mid/a.c" "an arrow that no include uses"
names 'tests/rooms:6: low/mid may include low/none, which is no room' \
    "sed -i '6s/ |/ low\/none |/' tests/rooms" "an arrow to no room"
names 'tests/rooms:6: low/mid names low/base twice' "sed -i '6s/ |/ low\/base |/' tests/rooms" \
    "an arrow that stands twice"
names 'top/b.c:2: tests/rooms does not let top/ include "top/deep/a.h"' \
    "mkdir top/deep && for n in a b c d e; do echo '#include <stdio.h>' >top/deep/\$n.c; done &&
     add tests/rooms 'top/deep: | pure' && add top/b.c '#include \"top/deep/a.h\"'" \
    "an include of a room below the folder of the room"
names 'a circle of rooms in tests/rooms: low/base low/mid top' \
    "sed -i 's/low.base: /&top /' tests/rooms && add low/base/b.c '#include \"top/a.h\"'" \
    "a circle in the table"

# Rooms.
passes "for n in f g h i j k l m n o p q r s t u v w x; do touch top/\$n.c; done" "a room of 24 files"
names 'tests/rooms:7: top has 4 files, a room has 5 to 24' "rm top/e.c" "a room of 4 files"
names 'tests/rooms:7: top has 25 files, a room has 5 to 24' \
    "for n in f g h i j k l m n o p q r s t u v w x y; do touch top/\$n.h; done" "a room of 25 files"
names 'top/deep/x.c: tests/rooms has no room top/deep' "mkdir top/deep && touch top/deep/x.c" \
    "a file in no room"
names 'lib/x.h: tests/rooms has no room lib' "mkdir lib && touch lib/x.h lib/y.h" \
    "a new top folder without a room"
names 'lib/x.s: tests/rooms has no room lib' "mkdir lib && touch lib/x.s" \
    "a new top folder without C"
names 'lib: tests/rooms does not name this folder' "mkdir lib && touch lib/README" \
    "a new top folder with no source"
names 'tests/rooms:9: no file is in etc' "add tests/rooms 'no C: etc'" "a folder without C and files"
names 'tests/rooms:9: tests has C' "add tests/rooms 'no C: tests' && touch tests/x" \
    "a folder without C that has C"
passes "mkdir etc && touch etc/x && add tests/rooms 'no C: etc'" "a folder without C"
names 'x.c: tests/rooms has no room for the top folder' "touch x.c" "a file in the top folder"
names 'config.h: tests/rooms has no room for the top folder' "touch config.h" \
    "a config.h that configure has not made"
for suffix in cc C cpp hpp hh c++ inc inl def S s m y; do
    names "top/near.$suffix: a room has only .c and .h files" "touch top/near.$suffix" ".$suffix in a room"
done
passes "touch top/near.o top/near.c~ top/near.c.orig top/Makefile.am top/near" "what is no source in a room"
passes "touch config.h config.status" "a tree that is built in its own folder"
passes "mkdir -p _build/sub/top && touch _build/x.c _build/sub/config.status _build/sub/top/y.c" \
    "build folders in a top folder"
passes "mkdir top/build && touch top/build/x.c top/build/config.status" "a build folder in a room"
names 'top/z/x.c: tests/rooms has no room top/z' \
    "mkdir top/build top/z && touch top/build/config.status top/z/x.c" "a file beside a build folder"
passes "mkdir -p .git/top && touch .git/top/x.c .x.c" "what has a dot in front"
names 'tests/rooms:8: no source is in bench' "sed -i '8s/$/ bench/' tests/rooms" \
    "a folder without rooms and without a source"
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
passes "add tests/rooms 'top/b.c: | time.h' && add top/b.c '#include <time.h>'" "the header of one file"
names 'top/c.c:2: tests/rooms does not let top/ include <time.h>' \
    "add tests/rooms 'top/b.c: | time.h' &&
     add top/b.c '#include <time.h>' && add top/c.c '#include <time.h>'" "the header of another file"
names 'tests/rooms:7: nothing in top needs uv.h' "sed -i 3d top/a.c" \
    "a header in the table that nothing includes"
names 'tests/rooms:7: top names uv.h twice' "sed -i '7s/$/ uv.h/' tests/rooms" "a header that stands twice"
names 'tests/rooms:7: nothing in top needs stdio.h' "sed -i '7s/$/ stdio.h/' tests/rooms" \
    "a header that the room has by a set"
names 'tests/rooms:7: nothing in top needs pure' "echo >top/b.c; cd top; cp b.c c.c; cp b.c d.c; cp b.c e.c" \
    "a set that the room does not need"
names 'tests/rooms:9: nothing in top/b.c needs pure' "add tests/rooms 'top/b.c: | pure'" \
    "a set that the room of the file has"
names 'tests/rooms:9: nothing in top/b.* needs time.h' "add tests/rooms 'top/b.*: | time.h'" \
    "a header that its file does not include"
names 'tests/rooms:9: nothing needs time.h in pure' "add tests/rooms 'pure = time.h'" \
    "a header of a set that nothing includes"
names 'tests/rooms:9: pure has math.h twice' "add tests/rooms 'pure = math.h'" \
    "a header that stands twice in a set"
names 'tests/rooms:9: there is no top/x.c' "add tests/rooms 'top/x.c: | pure'" \
    "a line for a file that is not there"
names 'tests/rooms:9: there is no top/x.*' "add tests/rooms 'top/x.*: | uv.h'" \
    "a line for a module that is not there"
names 'tests/rooms:9: low/base/a.* stands twice' "add tests/rooms 'low/base/a.*: |'" \
    "a file that stands twice"

# Spellings. Only a whole "#include" that begins its line is read, so nothing else may be one.
names 'top/b.c:2: tests/rooms does not let top/ include "low/mid/a.c"' \
    "add top/b.c '#include \"low/mid/a.c\"'" "an include of a .c of another room"
names 'top/b.c:2: tests/rooms does not let top/ include "top/a.c"' \
    "add top/b.c '#include \"top/a.c\"'" "an include of a .c of the room"
names 'top/b.c:2: tests/rooms does not let top/ include "top/x.table"' \
    "add top/b.c '#include \"top/x.table\"'" "an include of what is no header"
for line in '/* */ #include <stdio.h>' '*/ #include <stdio.h>' '/ #include <stdio.h>' '#\' '#inc\' \
    '#include\' '#/*' '#/**/include <stdio.h>' '#include<stdio.h>' '#import <stdio.h>' \
    '#include_next <stdio.h>' '#embed "top/x.bin"' '%:include <stdio.h>' '??=include <stdio.h>' \
    ' %: include <stdio.h>' '*/ #\' '%:\' '#??/'; do
    names "top/b.c:2: this spelling is not allowed: $line" "add top/b.c '$line'" "$line"
done
for rest in '\' '/* */ <stdio.h>' '/*' '<stdio\' '"low/mid/\' '??/'; do
    names "top/b.c:2: tests/rooms does not let top/ include $rest" "add top/b.c '#include $rest'" \
        "#include $rest"
done
passes "printf '%s\n' '#if !defined(A) // b' '# define X(a, ...) #a \\' '    f(a)' '#endif' >>top/b.c" \
    "other directives"

# Modules of a room.
two_know_each_other='add top/b.c "#include \"top/c.h\"" && add top/c.c "#include \"top/b.h\""'
names 'a circle of modules in top: top/b top/c' "$two_know_each_other" "a circle of modules"
names 'a circle of modules in top: top/b top/c top/d' \
    'add top/b.c "#include \"top/c.h\"" && add top/c.c "#include \"top/d.h\"" &&
     add top/d.c "#include \"top/b.h\""' "a circle of three modules"
names 'a circle of modules in top: top/b top/c' \
    "$two_know_each_other && add top/a.c '#include \"top/b.h\"' && add top/b.c '#include \"top/d.h\"' &&
     add top/e.c '#include \"top/b.h\"'" \
    "a circle of modules, without those before and after it"
passes 'add top/b.c "#include \"top/c.h\"" && add top/c.c "#include \"top/d.h\""' "modules in a row"
names 'a circle of modules in top: top/b top/c' \
    'add top/b.c "#include \"top/in.h\"" && add top/in.h "#include \"top/c.h\"" &&
     add top/c.c "#include \"top/b.h\""' "a circle of modules through a header"
passes 'add top/b.c "#include \"top/in.h\"" && add top/in.h "#include \"top/b.h\""' \
    "a module with an inner header"
names 'a circle of headers in top: top/in.h top/out.h' \
    'add top/in.h "#include \"top/out.h\"" && add top/out.h "#include \"top/in.h\""' \
    "a circle of headers"
names 'a circle of headers in top: top/b.h top/in.h' \
    'add top/b.h "#include \"top/in.h\"" && add top/in.h "#include \"top/b.h\""' \
    "a circle of the header of a module and an inner header"
names 'a circle of headers in top: top/b.h' 'add top/b.h "#include \"top/b.h\""' \
    "the header of a module that includes itself"
names 'a circle of headers in top: top/in.h' 'add top/in.h "#include \"top/in.h\""' \
    "an inner header that includes itself"
passes "$two_know_each_other && add tests/rooms 'one object: top/b top/c'" "the modules of one object"
names 'a circle of modules in top: top/b top/d' \
    "$two_know_each_other && add tests/rooms 'one object: top/b top/c' &&
     add top/b.c '#include \"top/d.h\"' && add top/d.c '#include \"top/c.h\"'" \
    "a circle of one object and another module"
names 'a circle of modules in top: top/b top/d' \
    "$two_know_each_other && add tests/rooms 'one object: top/b top/c' &&
     add top/c.c '#include \"top/d.h\"' && add top/d.c '#include \"top/b.h\"'" \
    "a circle of another module and one object"
names 'tests/rooms:9: there is no module top/x' "add tests/rooms 'one object: top/b top/x'" \
    "a module of an object that is not there"

# The table itself.
names 'tests/rooms:9: what is "top low"?' "add tests/rooms 'top low'" "a line that means nothing"
names 'tests/rooms:9: no "|" between rooms and headers' "add tests/rooms 'top/x: pure'" \
    "a line without its bar"
names 'tests/rooms:9: "pur" is neither a set nor a header' "add tests/rooms 'top/a.c: | pur'" \
    "a set that is not there"
names 'tests/rooms:9: a file has the arrows of its room' "add tests/rooms 'top/a.c: top |'" \
    "a file with arrows of its own"
if try "rm tests/rooms"; then tap 1 "fails without a table"; else tap 0 "fails without a table"; fi
if try "rm -r low top"; then tap 1 "fails without a source"; else tap 0 "fails without a source"; fi

# What the table of this tree must keep apart, whatever rooms there will be.
rm -rf "$work/tree"
while read -r file include; do
    mkdir -p "$work/tree/${file%/*}"
    echo "#include $include" >>"$work/tree/$file"
done <<'EOF'
protocol/base/frame.c <uv.h>
protocol/base/frame.c <sqlite3.h>
protocol/base/frame.c <jansson.h>
protocol/base/frame.c <time.h>
protocol/base/frame.c <unistd.h>
protocol/base/frame.c <sys/random.h>
protocol/table/hash_value.c <unistd.h>
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
