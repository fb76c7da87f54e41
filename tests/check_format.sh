#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Fails on C code that clang-format would write differently. Releases of the tool disagree with
# each other, so any other than the one that CONTRIBUTING.md names skips.
set -eu
cd "${top_srcdir:-.}"
wanted=14
tool=
for name in clang-format-$wanted clang-format; do
    command -v $name >/dev/null 2>&1 && tool=$name && break
done
[ -n "$tool" ] || { echo "clang-format is not installed"; exit 77; }
case $($tool --version) in
*"version $wanted."*) ;;
*) echo "needs clang-format $wanted, found $($tool --version)"; exit 77 ;;
esac
bad=0 total=0
for file in $(find protocol store daemon client man tests bench -type f -name '*.[ch]' |
    LC_ALL=C sort); do
    total=$((total + 1))
    $tool --dry-run -Werror "$file" 2>/dev/null || {
        bad=$((bad + 1))
        echo "$file: run $tool -i on it"
    }
done
echo "$total files looked at, $bad to format"
[ "$bad" = 0 ] && [ "$total" -gt 0 ]
