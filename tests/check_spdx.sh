#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Fails on a source, script or build file without its licence line.
set -eu
cd "${top_srcdir:-.}"
tag='SPDX-License-Identifier: Apache-2''.0'
list=$(
    for file in autogen.sh configure.ac Makefile.am tests/run-test scripts/* .ci/*; do
        [ -f "$file" ] && echo "$file"
    done
    find protocol lib inject store report daemon client man doc/examples tests bench systemd completion -type f \
        \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.sh' -o -name '*.py' -o -name '*.mk' -o -name Makefile.am \
        -o -name '*.sql' -o -name '*.js' -o -name '*.css' -o -path 'report/*.section' -o -path 'report/*.rule' -o -name '*.awk' -o -name '*.service.in' -o -name '*.socket' \
        -o -name '*.bash' -o -path 'systemd/*.conf' \) \
        2>/dev/null
) || :
bad=0 total=0
for file in $list; do
    total=$((total + 1))
    head -n 5 "$file" | grep -q "$tag" || { echo "$file: no line '$tag'"; bad=$((bad + 1)); }
done
echo "$total files looked at, $bad without the line"
[ "$bad" = 0 ] && [ "$total" -gt 0 ]
