#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_dist.sh [TOP]: fails on a source file, at any depth, that the Makefile.am of its top folder
# and the .mk files beside that do not name: it would be missing from the tarball of a release. They
# name it by its path from there; a program that has no other source may stand there by its own name.
set -eu
cd "${1:-${top_srcdir:-.}}"

set --
for makefile in */Makefile.am; do
    [ ! -f "$makefile" ] || set -- "$@" "${makefile%/*}"
done
[ $# -gt 0 ] || { echo "no folder with a Makefile.am"; exit 1; }

find "$@" -type f \( -name '*.[ch]' -o -path '*/Makefile.am' -o -name '*.mk' \) | LC_ALL=C sort |
    ${AWK:-awk} '
function read_names(folder, path,    line, n, word) {
    while ((getline line <path) > 0) {
        if (line ~ /^[ \t]*#/) continue
        for (n = split(line, word, " "); n > 0; n--) named[folder "/" word[n]] = 1
    }
    close(path)
}

{
    folder = substr($0, 1, index($0, "/") - 1)
    if ($0 ~ /\.[ch]$/) sources[++total] = $0
    else read_names(folder, $0)
}

END {
    for (i = 1; i <= total; i++) {
        path = program = sources[i]
        sub(/\.c$/, "", program)
        if (path in named || program in named) continue
        print path ": not named in the build files of " substr(path, 1, index(path, "/") - 1) "/"
        missing++
    }
    printf "%d files looked at, %d missing\n", total, missing
    exit missing > 0 || total == 0
}'
