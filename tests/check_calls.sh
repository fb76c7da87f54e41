#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# No modules of a room call each other, in a circle of any length, except those that tests/rooms
# calls one object; and none calls a module of a room above it, except where tests/rooms says so.
# Headers cannot show that, because several modules share one and any may declare what another room
# has: so this looks at the symbols of the objects that were built.
set -eu
top=$(cd "${top_srcdir:-.}" && pwd)
nm=${NM:-nm}
command -v "$nm" >/dev/null || { echo "there is no $nm"; exit 77; }
rooms=$(sed -n 's/^\([a-z][a-z_/]*\):.*|.*/\1/p' "$top/tests/rooms")
{
    cd "$top"
    for room in $rooms; do
        printf 'source %s\n' "$room"/*.c
    done
    cd - >/dev/null
    cd "${top_builddir:-.}"
    for room in $rooms; do
        "$nm" -AP "$room"/*.o 2>/dev/null || true # a room that was left out has no objects
    done
} | ${AWK:-awk} -v table="$top/tests/rooms" '
function folder_of(path) { sub(/\/[^\/]*$/, "", path); return path }
function object_of(module) { return module in object ? object[module] : module }
function fault(text) { print text; faults++ }

# A target may stand before the name of a module: store/db/libnvtxt_store_a-sql.o.
function module_of(path,    room, name) {
    sub(/\.o:$/, "", path)
    room = folder_of(path)
    name = substr(path, length(room) + 2)
    if (!((room "/" name) in sources)) sub(/^[^-]*-/, "", name)
    return (room "/" name) in sources ? room "/" name : ""
}

function add_room(line,    room, n, word, i, known, key, part) {
    room = substr(line, 1, index(line, ":") - 1)
    line = substr(line, index(line, ":") + 1)
    n = split(substr(line, 1, index(line, "|") - 1), word, " ")
    for (i = 1; i <= n; i++) {
        below[room, word[i]] = 1
        for (known in is_room) if ((word[i], known) in below) below[room, known] = 1
    }
    is_room[room] = 1
}

function read_table(    line, n, word, i) {
    while ((getline line <table) > 0) {
        sub(/#.*/, "", line)
        n = split(substr(line, index(line, ":") + 1), word, " ")
        if (line ~ /^one object:/) for (i = 1; i <= n; i++) object[word[i]] = word[1]
        else if (line ~ /^calls above:/) for (i = 1; i <= n; i++) calls_above[word[i]] = 1
        else if (line ~ /^[a-z][a-z_\/]*:.*\|/) add_room(line)
    }
}

# Modules of several programs may have functions of one name: who has one at hand needs no other.
function add_need(from, symbol,    n, owners, i, room, at_hand) {
    room = folder_of(from)
    n = split(has[symbol], owners, " ")
    for (i = 1; i <= n; i++)
        if (folder_of(owners[i]) == room || (room, folder_of(owners[i])) in below) at_hand = 1
    for (i = 1; i <= n; i++) {
        if (folder_of(owners[i]) == room && object_of(owners[i]) != object_of(from))
            calls[object_of(from), object_of(owners[i])] = symbol
        else if (!at_hand && (folder_of(owners[i]), room) in below && !(from in calls_above))
            fault(from " needs " symbol " of " owners[i] ", which is above it")
    }
}

# Leaves the calls of circles: a module that calls none, or that none calls, is in no circle.
function drop_calls(    key, part, calling, called, dropped) {
    do {
        split("", calling)
        split("", called)
        for (key in calls) {
            split(key, part, SUBSEP)
            calling[part[1]] = called[part[2]] = 1
        }
        dropped = 0
        for (key in calls) {
            split(key, part, SUBSEP)
            if (part[1] in called && part[2] in calling) continue
            delete calls[key]
            dropped = 1
        }
    } while (dropped)
}

BEGIN { read_table() }
$1 == "source" { sources[substr($2, 1, length($2) - 2)] = 1; next }
$1 != last_path { last_path = $1; module = module_of($1) }
module == "" { next }
$3 == "U" { needs[module, $2] = 1; next }
$3 ~ /^[A-Z]$/ { has[$2] = has[$2] " " module; count += !(module in modules); modules[module] = 1 }
END {
    for (key in needs) {
        split(key, part, SUBSEP)
        if (part[2] in has) add_need(part[1], part[2])
    }
    drop_calls()
    for (key in calls) {
        split(key, part, SUBSEP)
        fault("in a circle: " part[1] " needs " calls[key] " of " part[2])
    }
    print count + 0 " modules looked at, " faults + 0 " faults"
    exit faults > 0 || !count
}'
