#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_includes.sh [TOP]: fails on an #include that the folder table of doc/ARCHITECTURE.md does
# not allow, and names its file and line. The table is the function allowed() below. Tests and
# benches may include what they like.
set -eu
top=${1:-${top_srcdir:-.}}
cd "$top"

files=$(find protocol store daemon client -type f -name '*.[ch]' 2>/dev/null | LC_ALL=C sort)
[ -n "$files" ] || { echo "no sources in $top"; exit 1; }

# shellcheck disable=SC2086 # no name in these folders has a blank
exec ${AWK:-awk} '
BEGIN {
    # Pure C: what protocol/ may use. No I/O, no clock, no threads, no locale.
    split("assert errno float inttypes limits math stdalign stdarg stdbool stddef stdint stdio " \
          "stdlib string", words, " ")
    for (i in words) pure[words[i] ".h"] = 1
    split("ctype dirent endian err fcntl getopt grp locale poll pthread pwd regex sched signal " \
          "stdatomic strings sysexits termios time unistd wchar", words, " ")
    for (i in words) libc[words[i] ".h"] = 1
}

function is_libc(name) { return name in pure || name in libc || name ~ /^(sys|linux)\// }

# Only the files that build and read JSON know jansson.
function knows_json(path) {
    return path ~ /^protocol\/(base\/json|wire\/[a-z_]*|interp\/state)\.[ch]$/ ||
           path ~ /^daemon\/(control\/[a-z_]*|base\/stats)\.[ch]$/ ||
           path ~ /^client\/(ctl|locate)\/[a-z_-]*\.[ch]$/
}

# The key of the hash values comes from the kernel.
function draws_key(path, name) {
    return path == "protocol/base/hash_value.c" && (name == "sys/random.h" || name == "sys/auxv.h")
}

function allowed(path, folder, name, quoted) {
    if (name == "config.h") return 1 # what configure found out
    if (quoted) {
        if (name ~ /^protocol\//) return 1
        if (name ~ /^store\//)
            return folder == "store" || folder == "daemon" ||
                   path ~ /^client\/(import|export|format)\/[a-z_-]*\.[ch]$/
        return name ~ ("^" folder "/")
    }
    if (name == "jansson.h") return knows_json(path)
    if (name == "sqlite3.h") return folder == "store"
    if (name == "ini.h") return path ~ /^daemon\/conf\/conf_file\.c$/
    if (name == "uv.h") return folder == "daemon"
    if (name ~ /^systemd\//) return folder == "daemon"
    if (folder != "protocol") return is_libc(name)
    return name in pure || draws_key(path, name)
}

/^[ \t]*#[ \t]*include/ {
    total++
    line = $0
    sub(/^[ \t]*#[ \t]*include[ \t]*/, "", line)
    mark = substr(line, 1, 1)
    name = substr(line, 2)
    sub(/[">].*/, "", name)
    folder = FILENAME
    sub(/\/.*/, "", folder)
    if ((mark != "\"" && mark != "<") || !allowed(FILENAME, folder, name, mark == "\"")) {
        print FILENAME ":" FNR ": " folder "/ may not include " line
        bad++
    }
}

END {
    printf "%d includes looked at, %d not allowed\n", total, bad
    exit bad > 0 || total == 0
}' $files
