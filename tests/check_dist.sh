#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Fails on a source file that its folder's Makefile.am does not name: it would be missing from the
# tarball of a release. A program that has no other source may stand there by its own name.
set -eu
cd "${top_srcdir:-.}"
bad=0 total=0
for file in protocol/*.[ch] store/*.[ch] daemon/*.[ch] client/*.[ch] man/*.[ch] bench/*.[ch]; do
    [ -f "$file" ] || continue
    total=$((total + 1))
    folder=${file%/*} name=${file##*/}
    tr ' \t' '\n\n' <"$folder/Makefile.am" | grep -Fxq -e "$name" -e "${name%.c}" ||
        { echo "$folder/Makefile.am does not name $name"; bad=$((bad + 1)); }
done
echo "$total files looked at, $bad missing"
[ "$bad" = 0 ] && [ "$total" -gt 0 ]
