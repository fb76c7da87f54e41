#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What README says to install is what the build needs, libsystemd-dev included; and, with
# NVTXT_TEST_LONG=1, because configure takes its time: without libsystemd no units are installed,
# and it is said.
set -u
top=$(cd "${top_srcdir:-.}" && pwd) || exit 1
work=$(mktemp -d "${TMPDIR:-/tmp}/check_configure.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
bad=0

fault() {
    echo "$*"
    bad=$((bad + 1))
}

. "$top/scripts/lib.sh"
sed -n '/^    apt install autoconf/,/^    \.\/autogen/p' "$top/README.md" >"$work/list"
# shellcheck disable=SC2154,SC2086 # of lib.sh, and a list of words
for package in $packages_build libsystemd-dev; do
    grep -qw -e "$package" "$work/list" || fault "README's list of packages lacks $package"
done

[ -n "${NVTXT_TEST_LONG:-}" ] || {
    [ "$bad" = 0 ] || exit 1
    echo "configure is run with NVTXT_TEST_LONG=1"
    exit 0
}
(cd "$work" && "$top/configure" --with-libsystemd=no --disable-dependency-tracking) \
    >"$work/out" 2>&1 || fault "configure fails without libsystemd"
grep -q '^  units  *no: there is no libsystemd' "$work/out" || fault "the summary has no word of it"
grep -q 'WARNING: no units are installed' "$work/out" || fault "there is no warning"
grep -q "^INSTALL_UNITS_TRUE='#'" "$work/config.log" || fault "units would be installed"
[ "$bad" = 0 ]
