#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Fails on C code that clang-format would write differently, and on a sizeof without parentheses,
# which clang-format leaves alone. Releases of the tool disagree with each other, so any other than
# the one that CONTRIBUTING.md names skips.
set -eu
cd "${top_srcdir:-.}"
. tests/top_folders.sh
wanted=16
tool=
for name in clang-format-$wanted clang-format; do
    command -v $name >/dev/null 2>&1 && tool=$name && break
done
[ -n "$tool" ] || { echo "clang-format is not installed"; exit 77; }
case $($tool --version) in
*"version $wanted."*) ;;
*) echo "needs clang-format $wanted, found $($tool --version)"; exit 77 ;;
esac
# shellcheck disable=SC2046 # no name has a blank
set -- $(find $(folders_with_c) -type f -name '*.[ch]' | LC_ALL=C sort)
bad=0
grep -nE '\bsizeof( |$)' "$@" && bad=1 && echo "write sizeof(x)"
$tool --dry-run -Werror "$@" || { bad=1; echo "run $tool -i on the files that are named"; }
echo "$# files looked at"
[ "$bad" = 0 ] && [ $# -gt 0 ]
