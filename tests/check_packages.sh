#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What is installed and which Debian package has it. Fails when a page, a query, an example or a
# dashboard is in no package or in two, when a line of debian/*.install fits nothing, and when a
# page, or an example, whose subject is a program is in the package that has not got that program;
# when a library, a header or a file of pkg-config is in none or in two; and when the symbols file of
# libnvtxt0 has other functions than the library's map; when a package lacks NEWS, or nvtxt-tools the
# pages of the store and of the sockets, which its programs work with, also without a daemon; and when
# README's command takes a package of debug symbols, or leaves out one of ours.
set -u
top=${top_srcdir:-.}
build=${top_builddir:-.}
[ -d "$top/debian" ] || { echo "no debian folder here"; exit 77; }
root=$(mktemp -d) || exit 1
trap 'rm -rf "$root"' EXIT
bad=0 total=0

fault() {
    echo "$*"
    bad=$((bad + 1))
}

all_packages=$(sed -n 's/^Package: //p' "$top/debian/control")

packages_of() { # packages_of FILE: the packages that have it, one a line
    for package in $all_packages; do
        while read -r pattern _; do
            # shellcheck disable=SC2254 # a pattern
            case $1 in $pattern) echo $package; break ;; esac
        done <"$top/debian/$package.install"
    done
}

package_of_program() { # two have a package of their own
    case $1 in
    nvtxtd | nvtxt-ship) echo "$1" ;;
    *) echo nvtxt-tools ;;
    esac
}

# The program whose page or example it is; nothing for what is about the store or the wire.
subject() {
    case $1 in
    */man1/*) basename "$1" .1 ;;
    */examples/*) sed -n 's|^ExecStart=.*/\(nvtxt[a-z-]*\).*|\1|p' "$root/$1" | head -n 1 ;;
    *.md) grep -oE '(^|[ `])nvtxt-(send|export|import) ' "$root/$1" | tr -d ' `' | head -n 1 ;;
    esac
}

install() { # install FOLDER TARGET...
    folder=$1
    shift
    make -C "$build/$folder" "$@" prefix=/usr docdir=/usr/share/doc/nvtxtd DESTDIR="$root" \
        >"$root/log" 2>&1 || fault "$(cat "$root/log")"
}

install man install-data
install systemd install-examplesDATA
install . install-docDATA install-examplesDATA install-ruleexamplesDATA install-queriesDATA \
    install-dashboardsDATA install-dist_schemaDATA
[ ! -x "$build/client/nvtxt-report" ] || install report install-data
[ ! -x "$build/ship/nvtxt-ship" ] || install ship install-fleetDATA
# libtool installs a library only where configure said, so it is moved. It links libnvtxt-inject.so
# again for that, in place, under the tests that use it: a name stands for the file.
moved() {
    make -C "$build/$1" "$2" DESTDIR="$root/moved" >"$root/log" 2>&1 || fault "$(cat "$root/log")"
}
moved lib install
install lib install-dist_modulesDATA install-dist_compatDATA
moved inject install-nodist_archiveDATA
moved inject install-pkgconfigDATA
libdir=$(dirname "$(find "$root/moved" -name libnvtxt.a)")
mkdir -p "$root/usr/lib/here" "$root/usr/include"
rm -f "$libdir"/*.la # debian/not-installed
mv "$libdir"/* "$root/usr/lib/here" || fault 'no libraries are installed'
: >"$root/usr/lib/here/libnvtxt-inject.so"
mv "$(find "$root/moved" -name nvtxt.h)" "$root/usr/include"

for file in $(cd "$root" && find usr -type f -o -type l | LC_ALL=C sort); do
    total=$((total + 1))
    packages=$(packages_of "$file" | tr '\n' ' ')
    case $packages in
    '') fault "$file is in no package" ;;
    *' '*' ') fault "$file is in more than one package: $packages" ;;
    esac
    program=$(subject "$file")
    # About the store, and about a fleet: what other programs do there is by the way.
    case $file in */dashboards.md | */fleet.md) continue ;; esac
    [ -z "$program" ] || [ "$packages" = "$(package_of_program "$program") " ] ||
        fault "$file is about $program and in $packages"
done
for list in "$top"/debian/*.install; do
    case $list in */nvtxt-ship.install) [ -x "$build/ship/nvtxt-ship" ] || continue ;; esac
    while read -r pattern _; do
        case $pattern in
        usr/share/doc/* | usr/share/man/* | usr/share/nvtxtd/* | usr/include/* | usr/lib/\**) ;;
        *) continue ;;
        esac
        # shellcheck disable=SC2086 # a pattern
        (cd "$root" && ls -d $pattern) >/dev/null 2>&1 || fault "${list##*/}: nothing is $pattern"
    done <"$list"
done

functions() { sed -n 's/^ *\(nvtxt_[a-z0-9_]*\)[;@].*/\1/p' "$1" | grep -v _private_ | LC_ALL=C sort -u; }
[ "$(functions "$top/lib/nvtxt.map")" = "$(functions "$top/debian/libnvtxt0.symbols")" ] ||
    fault "libnvtxt0.symbols and lib/nvtxt.map name different functions"

for page in usr/share/man/man5/nvtxt-store.5 usr/share/man/man7/nvtxt-protocol.7 \
    usr/share/man/man7/nvtxt-compat.7; do
    [ "$(packages_of $page)" = nvtxt-tools ] || fault "nvtxt-tools lacks $page"
done
patterns=$(sed -n '/^    apt install \.\.\//,/[^\\]$/p' "$top/README.md" | grep -o '[^ /]*\*\.deb')
taken() { # taken FILE: whether the command of README takes it
    set -f
    for pattern in $patterns; do
        # shellcheck disable=SC2254 # a pattern
        case $1 in $pattern) return ;; esac
    done
    return 1
}
for package in $all_packages; do
    grep -qx NEWS "$top/debian/$package.docs" || fault "$package lacks NEWS"
    [ $package = nvtxt-ship ] || taken "${package}_1_all.deb" || fault "README.md does not install $package"
    ! taken "$package-dbgsym_1_all.deb" || fault "README.md installs $package-dbgsym"
done

echo "$total files looked at, $bad faults"
[ "$bad" = 0 ] && [ "$total" -gt 20 ]
