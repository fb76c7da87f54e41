#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_includes.sh [TOP]: holds the tree to the table of rooms, TOP/tests/rooms. Names each file
# that is in no room, each include that the table does not allow, each room of the wrong size, each
# line of the table that nothing needs, and each circle: of rooms in the table, of modules in a room.
set -eu
cd "${1:-${top_srcdir:-.}}"

# Production code is in the folders that are built.
set --
for makefile in */Makefile.am; do
    [ ! -f "$makefile" ] || set -- "$@" "${makefile%/*}"
done
[ $# -gt 0 ] || { echo "no folder with a Makefile.am"; exit 1; }

find "$@" -type f -name '*.[ch]' | LC_ALL=C sort | ${AWK:-awk} '
function fault(text) { print text; faults++ }
function folder_of(path) { sub(/\/[^\/]*$/, "", path); return path }
function module_of(path) { sub(/\.[ch*]$/, "", path); return path }
function trimmed(text) { gsub(/^[ \t]+|[ \t]+$/, "", text); return text }

# --- the table

function bad_line(text) { fault(table ":" line_number ": " text) }

function add_set(name, words,    n, word) {
    for (n = split(words, word, " "); n > 0; n--) set_has[name, word[n]] = 1
    is_set[name] = 1
}

# Lets OWNER, a room or a file, include the headers that WORDS name.
function let_include(owner, words,    n, word) {
    for (n = split(words, word, " "); n > 0; n--) {
        if (word[n] ~ /\.h$/) single[owner, word[n]] = line_number
        else if (word[n] in is_set) sets[owner] = sets[owner] " " word[n]
        else bad_line("\"" word[n] "\" is neither a set nor a header")
    }
}

function add_room(name, rest,    n, word) {
    if (name in room_line) bad_line(name " stands twice")
    room_line[name] = line_number
    rooms[++room_count] = name
    for (n = split(before_bar(rest), word, " "); n > 0; n--)
        arrow_line[name, word[n]] = line_number
    let_include(name, after_bar(rest))
}

function add_file(path, rest) {
    if (before_bar(rest) != "") bad_line("a file has the arrows of its room")
    file_line[path] = line_number
    let_include(path, after_bar(rest))
}

function before_bar(rest) { return trimmed(substr(rest, 1, index(rest, "|") - 1)) }
function after_bar(rest) { return trimmed(substr(rest, index(rest, "|") + 1)) }

function add_line(key, rest,    n, word) {
    n = split(rest, word, " ")
    if (key == "no rooms") while (n > 0) no_rooms[word[n--]] = 1
    else if (key == "one object") while (n > 0) object[word[n--]] = word[1]
    else if (index(rest, "|") == 0) bad_line("no \"|\" between rooms and headers")
    else if (key ~ /\.[ch*]$/) add_file(key, rest)
    else add_room(key, rest)
}

function read_table(    line, at) {
    while ((getline line <table) > 0) {
        line_number++
        sub(/#.*/, "", line)
        line = trimmed(line)
        if (line == "") continue
        if (line ~ /^[a-z]+ =/) {
            at = index(line, "=")
            add_set(trimmed(substr(line, 1, at - 1)), substr(line, at + 1))
        } else if ((at = index(line, ":")) > 0) {
            add_line(substr(line, 1, at - 1), substr(line, at + 1))
        } else {
            bad_line("what is \"" line "\"?")
        }
    }
    close(table)
}

# --- the sources

function may_include(owner, header,    n, word) {
    if ((owner, header) in single) {
        used[owner, header] = 1
        return 1
    }
    for (n = split(sets[owner], word, " "); n > 0; n--)
        if ((word[n], header) in set_has) return 1
    return 0
}

function allowed_header(path, room, header,    star) {
    star = module_of(path) ".*"
    return header == "config.h" || may_include(room, header) || may_include(path, header) ||
           may_include(star, header)
}

function allowed_arrow(path, room, target,    to) {
    to = folder_of(target)
    if (target == "config.h") return 1
    if (to == room) {
        inside[module_of(path), module_of(target)] = 1
        return 1
    }
    used[room, to] = 1
    return (room, to) in arrow_line
}

function look_at_line(path, room, line,    mark, name) {
    sub(/^[ \t]*#[ \t]*include[ \t]*/, "", line)
    mark = substr(line, 1, 1)
    name = substr(line, 2)
    sub(/[">].*/, "", name)
    includes++
    if (mark == "<" && allowed_header(path, room, name)) return
    if (mark == "\"" && allowed_arrow(path, room, name)) return
    fault(path ":" file_lines ": " table " does not let " room "/ include " line)
}

function look_at_file(path,    room, line) {
    room = folder_of(path)
    files[path] = 1
    modules[room] = modules[room] " " module_of(path)
    if (path ~ /\.c$/) has_code[module_of(path)] = 1
    file_count[room]++
    if (!(room in room_line)) {
        if (!(room in unknown)) fault(path ": " table " has no room " room)
        unknown[room] = 1
        return
    }
    for (file_lines = 1; (getline line <path) > 0; file_lines++)
        if (line ~ /^[ \t]*#[ \t]*include/) look_at_line(path, room, line)
    close(path)
}

# --- what the table says against what there is

function check_rooms(    i, room) {
    for (i = 1; i <= room_count; i++) {
        room = rooms[i]
        line_number = room_line[room]
        if (!(room in file_count)) bad_line("no file is in " room)
        else if (file_count[room] < 5 || file_count[room] > 20)
            bad_line(room " has " file_count[room] " files, a room has 5 to 20")
    }
}

function check_uses(    key, part, stem) {
    for (key in arrow_line) {
        split(key, part, SUBSEP)
        line_number = arrow_line[key]
        if (!(part[2] in room_line)) bad_line(part[1] " may include " part[2] ", which is no room")
        else if (!(key in used))
            bad_line("no file of " part[1] " includes one of " part[2])
    }
    for (key in single) {
        split(key, part, SUBSEP)
        line_number = single[key]
        if (!(key in used)) bad_line("nothing in " part[1] " includes " part[2])
    }
    for (key in file_line) {
        line_number = file_line[key]
        stem = module_of(key)
        if (key ~ /\*$/ ? !((stem ".c") in files || (stem ".h") in files) : !(key in files))
            bad_line("there is no " key)
    }
}

# --- circles: REACHES has (a, b) when a way leads from a to b

# Adds the ways between NODES that lead through VIA, which are some of them.
function close_over(reaches, nodes, count, via, via_count,    i, j, k) {
    for (k = 1; k <= via_count; k++) {
        for (i = 1; i <= count; i++) {
            if (!((nodes[i], via[k]) in reaches)) continue
            for (j = 1; j <= count; j++)
                if ((via[k], nodes[j]) in reaches) reaches[nodes[i], nodes[j]] = 1
        }
    }
}

# Names the nodes that reach each other, all of one circle in one line.
function name_circles(reaches, nodes, count, what,    i, j, line, named) {
    for (i = 1; i <= count; i++) {
        line = ""
        for (j = i + 1; j <= count; j++) {
            if (nodes[j] in named || !((nodes[i], nodes[j]) in reaches)) continue
            if (!((nodes[j], nodes[i]) in reaches)) continue
            line = line " " nodes[j]
            named[nodes[j]] = 1
        }
        if (line != "") fault(what ": " nodes[i] line)
    }
}

function check_table_circles(    key, reaches) {
    for (key in arrow_line) reaches[key] = 1
    close_over(reaches, rooms, room_count, rooms, room_count)
    name_circles(reaches, rooms, room_count, "a circle of rooms in " table)
}

# A header without a .c is the inside of the modules that include it, so it only passes on what it
# includes: X.c may include X_inner.h and that one X.h. Modules of one object count as one.
function check_module_circles(room,    i, n, count, word, nodes, code, codes, header, headers, seen, key,
                              part, reaches, a, b) {
    count = split(modules[room], word, " ")
    for (i = 1; i <= count; i++) {
        a = word[i] in object ? object[word[i]] : word[i]
        if (a in seen) continue
        seen[a] = 1
        nodes[++n] = a
        if (a in has_code) code[++codes] = a
        else header[++headers] = a
    }
    for (key in inside) {
        split(key, part, SUBSEP)
        a = part[1] in object ? object[part[1]] : part[1]
        b = part[2] in object ? object[part[2]] : part[2]
        if (a in seen && a != b) reaches[a, b] = 1
    }
    close_over(reaches, nodes, n, header, headers)
    name_circles(reaches, header, headers, "a circle of headers in " room)
    close_over(reaches, code, codes, code, codes)
    name_circles(reaches, code, codes, "a circle of modules in " room)
}

BEGIN {
    table = "tests/rooms"
    read_table()
    while ((getline path) > 0)
        if (!(substr(path, 1, index(path, "/") - 1) in no_rooms)) look_at_file(path)
    check_rooms()
    check_uses()
    check_table_circles()
    for (i = 1; i <= room_count; i++) check_module_circles(rooms[i])
    printf "%d rooms, %d includes looked at, %d faults\n", room_count, includes, faults
    exit faults > 0 || includes == 0
}'
