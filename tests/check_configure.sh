#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What README says to install is what the build needs, libsystemd-dev included; what a libc has is
# asked by configure, and not taken from the version of one libc; and, with
# NVTXT_TEST_LONG=1, because configure takes its time: without libsystemd no units are installed,
# and it is said; without libzstd another file stands for it; --enable-hardening, --enable-coverage
# and --enable-origins do what they say.
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

# Other libcs do not know the macro; AC_CHECK_FUNCS asks for what it would stand for.
found=$(cd "$top" && grep -rn --include='*.[ch]' __GLIBC_PREREQ -- */)
[ -z "$found" ] || fault "configure should ask for the function: $found"

[ -n "${NVTXT_TEST_LONG:-}" ] || {
    [ "$bad" = 0 ] || exit 1
    echo "configure is run with NVTXT_TEST_LONG=1"
    exit 0
}
configure() { # configure ARGUMENT...: in $work; what it says is in $work/out
    (cd "$work" && "$top/configure" --disable-dependency-tracking "$@") >"$work/out" 2>&1
}
configure --with-libsystemd=no || fault "configure fails without libsystemd"
grep -q '^  units  *no: there is no libsystemd' "$work/out" || fault "the summary has no word of it"
grep -q 'WARNING: no units are installed' "$work/out" || fault "there is no warning"
grep -q "^INSTALL_UNITS_TRUE='#'" "$work/config.log" || fault "units would be installed"
! grep -q "^NVTXT_CFLAGS=.*\(-fstack-protector\|--coverage\)" "$work/config.log" ||
    fault "hardening or coverage without a word of it"

configure --with-libzstd=no || fault "configure fails without libzstd"
grep -q '^  libzstd  *no ' "$work/out" || fault "the summary has no word of libzstd"
grep -q "^HAVE_ZSTD_TRUE='#'" "$work/config.log" || fault "libzstd would be used"

configure --enable-hardening || fault "--enable-hardening fails"
hardened=$(sed -n 's/^  hardening  *//p' "$work/out")
[ "${hardened:-no}" != no ] || fault "the compiler knows no way of hardening"
for flag in $hardened; do
    grep -qE "^NVTXT_(C|LD)FLAGS=.* $flag\>" "$work/config.log" || fault "$flag is not used"
done
! configure --enable-hardening --enable-sanitizers || fault "hardening beside sanitizers"
! grep -q "^NVTXT_CPPFLAGS=.*-DNVTXT_ORIGINS" "$work/config.log" || fault "origins without a word of it"
configure --enable-origins || fault "--enable-origins fails"
grep -q "^NVTXT_CPPFLAGS=.*-DNVTXT_ORIGINS" "$work/config.log" || fault "no origins"
configure --enable-coverage || fault "--enable-coverage fails"
grep -q '^NVTXT_CFLAGS=.* --coverage' "$work/config.log" || fault "no coverage"
[ "$bad" = 0 ]
