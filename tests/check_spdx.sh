#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Fails on a source, script or build file without its licence line.
set -eu
cd "${top_srcdir:-.}"
. tests/top_folders.sh
tag='SPDX-License-Identifier: Apache-2''.0'
list=$(
    for file in autogen.sh configure.ac Makefile.am tests/run-test scripts/* .ci/*; do
        [ -f "$file" ] && echo "$file"
    done
    # Those of doc/queries stand in pages and dashboards word for word.
    find $(all_folders) -path doc/queries -prune -o -type f \
        \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.sh' -o -name '*.py' -o -name '*.mk' -o -name Makefile.am \
        -o -name '*.sql' -o -name '*.js' -o -name '*.css' -o -path 'report/*.section' -o -path 'report/*.rule' -o -name '*.awk' -o -name '*.service.in' -o -name '*.socket' \
        -o -name '*.bash' -o -path 'systemd/*.conf' \) -print \
        2>/dev/null
) || :
# shellcheck disable=SC2086 # no name in these folders has a blank
awk -v tag="$tag" '
    FNR > 5 { nextfile }
    index($0, tag) { found[FILENAME] = 1 }
    END {
        for (i = 1; i < ARGC; i++)
            if (!(ARGV[i] in found)) { print ARGV[i] ": no line \047" tag "\047"; bad++ }
        print ARGC - 1 " files looked at, " bad + 0 " without the line"
        exit bad || ARGC < 2
    }' $list </dev/null
