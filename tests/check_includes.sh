#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_includes.sh [TOP]: holds the tree to the table of rooms, TOP/tests/rooms. Names each source
# that is in no room or is neither .c nor .h, each include that the table does not allow or that is
# spelled in an unusual way, each room of the wrong size, each top folder that the table does not
# name, each word of the table that nothing needs, each include of what a header of the same room
# brings already, and each circle: of rooms in the table, of modules or headers in a room. Skips
# build folders, what autogen.sh makes, and what has a dot in front.
set -eu
cd "${1:-${top_srcdir:-.}}"

find . \( -name '.?*' -o -name autom4te.cache -o -name build-aux -o -name __pycache__ \) -prune -o \
    ! -type d -print | LC_ALL=C sort | ${AWK:-awk} '
function fault(text) { print text; faults++ }
function folder_of(path) { sub(/\/[^\/]*$/, "", path); return path }
function top_of(path) { return substr(path, 1, index(path, "/") - 1) }
function module_of(path) { sub(/\.[ch*]$/, "", path); return path }
function trimmed(text) { gsub(/^[ \t]+|[ \t]+$/, "", text); return text }

# --- the table

function bad_line(text) { fault(table ":" line_number ": " text) }

function add_set(name, words,    n, word) {
    for (n = split(words, word, " "); n > 0; n--) {
        if ((name, word[n]) in set_line) bad_line(name " has " word[n] " twice")
        set_line[name, word[n]] = line_number
    }
    is_set[name] = 1
}

# Lets OWNER, a room or a file, include the headers that WORDS name.
function let_include(owner, words,    n, word) {
    for (n = split(words, word, " "); n > 0; n--) {
        if (word[n] in is_set) sets[owner] = sets[owner] " " word[n]
        else if (word[n] !~ /\.h$/) {
            bad_line("\"" word[n] "\" is neither a set nor a header")
            continue
        }
        if ((owner, word[n]) in let_line) bad_line(owner " names " word[n] " twice")
        let_line[owner, word[n]] = line_number
    }
}

function add_room(name, rest,    n, word) {
    if (name in room_line) {
        bad_line(name " stands twice")
        return
    }
    room_line[name] = line_number
    rooms[++room_count] = name
    tops[top_of(name "/")] = 1
    for (n = split(before_bar(rest), word, " "); n > 0; n--) {
        if ((name, word[n]) in arrow_line) bad_line(name " names " word[n] " twice")
        arrow_line[name, word[n]] = line_number
    }
    let_include(name, after_bar(rest))
}

function add_file(path, rest) {
    if (path in file_line) bad_line(path " stands twice")
    if (before_bar(rest) != "") bad_line("a file has the arrows of its room")
    file_line[path] = line_number
    let_include(path, after_bar(rest))
}

function add_object(modules, n) {
    for (; n > 0; n--) {
        object[modules[n]] = modules[1]
        object_line[modules[n]] = line_number
    }
}

function before_bar(rest) { return trimmed(substr(rest, 1, index(rest, "|") - 1)) }
function after_bar(rest) { return trimmed(substr(rest, index(rest, "|") + 1)) }

function add_line(key, rest,    n, word) {
    n = split(rest, word, " ")
    if (key == "no rooms") while (n > 0) no_rooms_line[word[n--]] = line_number
    else if (key == "no C") while (n > 0) no_c_line[word[n--]] = line_number
    else if (key == "one object") add_object(word, n)
    else if (key == "calls above") while (n > 0) object_line[word[n--]] = line_number
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

# A header that a set of OWNER has needs no mention of its own.
function may_include(owner, header,    n, word, found) {
    for (n = split(sets[owner], word, " "); n > 0; n--) {
        if (!((word[n], header) in set_line)) continue
        found = used[owner, word[n]] = used_in_set[word[n], header] = 1
    }
    if (!found && (owner, header) in let_line) found = used[owner, header] = 1
    return found
}

function allowed_header(path, room, header,    star) {
    star = module_of(path) ".*"
    return header == "config.h" || may_include(room, header) || may_include(path, header) ||
           may_include(star, header)
}

function allowed_arrow(path, room, target,    to) {
    to = folder_of(target)
    if (target == "config.h") return 1
    if (target !~ /\.h$/) return 0
    if (to == room) {
        inside[module_of(path), module_of(target)] = 1
        if (path ~ /\.h$/) between_headers[path, target] = 1
        return 1
    }
    used[room, to] = 1
    return (room, to) in arrow_line
}

function look_at_include(path, room, line,    mark, name) {
    sub(/^[ \t]*#[ \t]*include[ \t]*/, "", line)
    mark = substr(line, 1, 1)
    name = substr(line, 2)
    sub(/[">].*/, "", name)
    includes++
    included[path] = included[path] " " mark name
    include_line[path, mark name] = file_lines
    if (mark == "<" && allowed_header(path, room, name)) return
    if (mark == "\"" && allowed_arrow(path, room, name)) return
    fault(path ":" file_lines ": " table " does not let " room "/ include " line)
}

# A directive is "#" and a whole word at the beginning of a line, so that no include can hide.
function look_at_line(path, room, line) {
    if (line ~ /^[ \t]*#[ \t]*include[ \t]/) look_at_include(path, room, line)
    else if (line ~ /^[ \t]*#[ \t]*(define|undef|if|ifdef|ifndef|elif|else|endif|error|pragma)([ \t]|$)/)
        return
    else if (line ~ /^(.*\*\/)?[ \t\v\f\r]*(#|%:|\?\?=)/ ||
             line ~ /(#|%:|\?\?=).*(include|import|embed)/)
        fault(path ":" file_lines ": this spelling is not allowed: " line)
}

function look_at_source(path,    room, line) {
    room = path ~ /\// ? folder_of(path) : "for the top folder"
    if (!(room in room_line)) {
        if (!(room in unknown)) fault(path ": " table " has no room " room)
        unknown[room] = unknown[top_of(path)] = 1
        return
    }
    if (path !~ /\.[ch]$/) {
        fault(path ": a room has only .c and .h files")
        return
    }
    files[path] = 1
    modules[room] = modules[room] " " module_of(path)
    if (path ~ /\.c$/) has_code[module_of(path)] = 1
    else headers_of[room] = headers_of[room] " " path
    file_count[room]++
    for (file_lines = 1; (getline line <path) > 0; file_lines++)
        if (line ~ /#|%:|\?\?=/) look_at_line(path, room, line)
    close(path)
}

# What a compiler takes, and what is usually included.
function is_source(path) {
    return path ~ /\.([CHMSchilmsy]|cc|cp|[ch]pp|[ch]xx|[ch]\+\+|[CH]PP|hh|hp)$/ ||
           path ~ /\.(ii|ll|mii?|mm|sx|yy|def|inc|inl|tcc)$/
}

# A folder with config.status is a build folder. So is its top folder, except the table names that.
function add_build(folder) {
    is_build[folder] = 1
    if (!(top_of(folder "/") in tops)) is_build[top_of(folder "/")] = 1
}

function in_build(path) {
    while (path ~ /\//) if ((path = folder_of(path)) in is_build) return 1
    return 0
}

function look_at_top(top) {
    if (top in has_files) return
    has_files[top] = 1
    if (!(top in tops) && !(top in no_rooms_line) && !(top in no_c_line) && !(top in unknown))
        fault(top ": " table " does not name this folder")
}

function look_at_files(    path, paths, others, count, other_count, i) {
    while ((getline path) > 0) {
        sub(/^\.\//, "", path)
        if (path == "config.status") built_here = 1
        else if (path ~ /\/config\.status$/) add_build(folder_of(path))
        else if (is_source(path)) paths[++count] = path
        else if (path ~ /\//) others[++other_count] = path
    }
    for (i = 1; i <= count; i++) {
        path = paths[i]
        if (in_build(path) || built_here && path == "config.h") continue
        if (top_of(path) in no_rooms_line) has_sources[top_of(path)] = 1
        else look_at_source(path)
    }
    for (i = 1; i <= other_count; i++) if (!in_build(others[i])) look_at_top(top_of(others[i]))
}

# --- what the table says against what there is

function check_rooms(    i, room) {
    for (i = 1; i <= room_count; i++) {
        room = rooms[i]
        line_number = room_line[room]
        if (!(room in file_count)) bad_line("no file is in " room)
        else if (file_count[room] == 1 && (room "/" room ".h") in files) continue # a face
        else if (file_count[room] < 5 || file_count[room] > 24)
            bad_line(room " has " file_count[room] " files, a room has 5 to 24")
    }
}

# NAME is a path, perhaps with "*" for c and h.
function exists(name,    stem) {
    stem = module_of(name)
    return name ~ /\*$/ ? (stem ".c") in files || (stem ".h") in files : name in files
}

function check_arrows(    key, part) {
    for (key in arrow_line) {
        split(key, part, SUBSEP)
        line_number = arrow_line[key]
        if (!(part[2] in room_line)) bad_line(part[1] " may include " part[2] ", which is no room")
        else if (!(key in used))
            bad_line("no file of " part[1] " includes one of " part[2])
    }
}

function check_headers(    key, part) {
    for (key in let_line) {
        split(key, part, SUBSEP)
        line_number = let_line[key]
        if (part[1] in room_line ? part[1] in file_count : exists(part[1]))
            if (!(key in used)) bad_line("nothing in " part[1] " needs " part[2])
    }
    for (key in set_line) {
        split(key, part, SUBSEP)
        line_number = set_line[key]
        if (!(key in used_in_set)) bad_line("nothing needs " part[2] " in " part[1])
    }
}

function check_names(    name) {
    for (name in file_line) {
        line_number = file_line[name]
        if (!exists(name)) bad_line("there is no " name)
    }
    for (name in object_line) {
        line_number = object_line[name]
        if (!exists(name ".*")) bad_line("there is no module " name)
    }
    for (name in no_rooms_line) {
        line_number = no_rooms_line[name]
        if (!(name in has_sources)) bad_line("no source is in " name)
    }
    for (name in no_c_line) {
        line_number = no_c_line[name]
        if (!(name in has_files)) bad_line("no file is in " name)
        if (name in tops || name in no_rooms_line) bad_line(name " has C")
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

# Names the nodes that reach themselves, all of one circle in one line.
function name_circles(reaches, nodes, count, what,    i, j, line, named) {
    for (i = 1; i <= count; i++) {
        if (nodes[i] in named || !((nodes[i], nodes[i]) in reaches)) continue
        line = what ":"
        for (j = i; j <= count; j++) {
            if (!((nodes[i], nodes[j]) in reaches)) continue
            if (!((nodes[j], nodes[i]) in reaches)) continue
            line = line " " nodes[j]
            named[nodes[j]] = 1
        }
        fault(line)
    }
}

function check_table_circles(    key, reaches) {
    for (key in arrow_line) reaches[key] = 1
    close_over(reaches, rooms, room_count, rooms, room_count)
    name_circles(reaches, rooms, room_count, "a circle of rooms in " table)
}

function check_header_circles(room,    key, reaches, count, nodes) {
    for (key in between_headers) reaches[key] = 1
    count = split(headers_of[room], nodes, " ")
    close_over(reaches, nodes, count, nodes, count)
    name_circles(reaches, nodes, count, "a circle of headers in " room)
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
        if (a in seen) reaches[a, b] = 1
    }
    close_over(reaches, nodes, n, header, headers)
    for (i = 1; i <= codes; i++) delete reaches[code[i], code[i]] # X.c and X.h by an inner header
    close_over(reaches, code, codes, code, codes)
    name_circles(reaches, code, codes, "a circle of modules in " room)
}

# --- includes that stand twice: a header brings what the headers of its room that it includes bring

function bring(path, room, brought, to,    n, item) {
    for (n = split(included[path], item, " "); n > 0; n--) {
        if (item[n] in brought) continue
        brought[item[n]] = 1
        if (folder_of(substr(item[n], 2)) == room && substr(item[n], 2) != to)
            bring(substr(item[n], 2), room, brought, to)
    }
}

function check_twice(path,    room, n, item, brought) {
    room = folder_of(path)
    for (n = split(included[path], item, " "); n > 0; n--)
        if (folder_of(substr(item[n], 2)) == room) bring(substr(item[n], 2), room, brought, path)
    for (n = split(included[path], item, " "); n > 0; n--)
        if (item[n] in brought && item[n] != "\"" module_of(path) ".h")
            fault(path ":" include_line[path, item[n]] ": a header of its room, which it includes, " \
                  "brings " substr(item[n], 2))
}

BEGIN {
    table = "tests/rooms"
    read_table()
    look_at_files()
    check_rooms()
    check_arrows()
    check_headers()
    check_names()
    check_table_circles()
    for (path in files) check_twice(path)
    for (i = 1; i <= room_count; i++) {
        check_header_circles(rooms[i])
        check_module_circles(rooms[i])
    }
    printf "%d rooms, %d includes looked at, %d faults\n", room_count, includes, faults
    exit faults > 0 || includes == 0
}'
