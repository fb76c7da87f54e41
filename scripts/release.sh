# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
#
# What has to agree before a release: scripts/release sources this after lib.sh, with `version` set.
# Each function looks at one thing in the tree below $top, and says for each fault what to do.

faults=0
fault() {
    printf 'release: %s\n' "$*" >&2
    faults=$((faults + 1))
}

# The part of NEWS about $version, without its head, and without blank lines around it.
news() {
    # shellcheck disable=SC2154 # version and top are the caller's
    text=$(awk -v head="$version (" '
        /^[0-9]+\.[0-9]+\.[0-9]+ \(/ { inside = index($0, head) == 1; next }
        inside && (NF > 0 || began) { began = 1; print }' "$top/NEWS")
    [ -z "$text" ] || printf '%s\n' "$text"
}

agree_version() {
    configured=$(sed -n 's/^AC_INIT(\[nvtxtd\], \[\([^]]*\)\].*/\1/p' "$top/configure.ac")
    [ "$configured" = "$version" ] ||
        fault "configure.ac has the version $configured, not $version: change AC_INIT"
    # shellcheck disable=SC2015 # both are one fault
    sed -n '/^## State/,/^## Lic/p' "$top/README.md" | grep -qwF "$version" &&
        grep -qF "started version=$version " "$top/README.md" ||
        fault "README.md does not say $version in 'State' and in the line 'started version='"
}

# NEWS and debian/changelog name the version and one day; sets `day`, and `moment`, its second.
agree_day() {
    head=$(sed -n '/^[0-9][0-9.]* (/{p;q;}' "$top/NEWS")
    day=$(printf '%s\n' "$head" | sed -n 's/^.* (\([0-9]\{4\}-[0-9][0-9]-[0-9][0-9]\))$/\1/p')
    case $head in
    "$version ($day)") [ -n "$(news)" ] || fault "NEWS says nothing about $version" ;;
    *) fault "NEWS begins with '$head': it needs '$version (YYYY-MM-DD)' with the day of the release" ;;
    esac

    entry=$(sed 1q "$top/debian/changelog")
    case $entry in
    "nvtxtd ($version) UNRELEASED;"*)
        fault "debian/changelog says UNRELEASED: put the distribution there, as unstable"
        ;;
    "nvtxtd ($version) "*) ;;
    *) fault "debian/changelog begins with '$entry', not with 'nvtxtd ($version) '" ;;
    esac
    written=$(sed -n 's/^ -- .*>  //p' "$top/debian/changelog" | sed 1q)
    moment=$(date -u -d "$written" +%s) || moment=0
    [ "$(date -u -d "@$moment" +%F)" = "$day" ] ||
        fault "debian/changelog has the time '$written', NEWS has the day '$day': they have to be one day (UTC)"
    [ "$moment" -le "$(date +%s)" ] ||
        fault "the time '$written' of debian/changelog is to come: files of that time confuse make"
}

agree_pages() {
    shown=$(LC_ALL=C date -u -d "$day" '+%B %-d, %Y' 2>/dev/null) || return
    for page in "$top"/man/*.[1-9] "$top"/man/*.[1-9].in; do
        dated=$(sed -n 's/^\.Dd //p' "$page")
        [ "$dated" = "$shown" ] ||
            fault "man/${page##*/} has the date '$dated': put '.Dd $shown' there"
    done
}

number() { sed -n "s/^#define $1 \\([0-9][0-9]*\\).*/\\1/p" "$top/$2"; } # number NAME FILE

# Of the store, of the protocol, of fleets, of JSON, and of the binary interface.
agree_numbers() {
    schema=$(number STORE_SCHEMA_VERSION store/db/schema.h)
    grep -qF "now $schema." "$top/man/nvtxt-store.5" ||
        fault "store/db/schema.h writes user_version $schema, man/nvtxt-store.5 does not say 'now $schema.'"
    protocol=$(number NVTXT_PROTOCOL_VERSION protocol/wire/hello.h)
    shown=$(grep -o '"protocol":[0-9]*' "$top/man/nvtxt-protocol.7" | sort -u | tr '\n' ' ')
    [ "$shown" = "\"protocol\":$protocol " ] ||
        fault "protocol/wire/hello.h speaks protocol $protocol, man/nvtxt-protocol.7 shows $shown"
    fleet=$(number SCHEMA_VERSION ship/engine/schema.h)
    # shellcheck disable=SC2012 # names of ours
    last=$(ls "$top"/ship/sql/ | sed -n 's/^\([0-9]*\)\.sql$/\1/p' | sort -n | tail -n 1)
    [ "$last" = "$fleet" ] ||
        fault "ship/engine/schema.h has version $fleet of a fleet, ship/sql ends with $last.sql"
    for file in "$top"/schema/*.schema.json; do
        name=${file##*/}
        name=${name%.schema.json}
        grep -qF "\"\$id\": \"urn:${name%-*}:${name##*-}\"" "$file" ||
            fault "schema/${file##*/} has not the \$id urn:${name%-*}:${name##*-}"
    done
    so=$(sed -n 's/.*-version-info \([0-9]*\):[0-9]*:\([0-9]*\).*/\1 \2/p' "$top/lib/Makefile.am")
    so=$((${so% *} - ${so#* }))
    grep -qx "Package: libnvtxt$so" "$top/debian/control" ||
        fault "lib/Makefile.am makes libnvtxt.so.$so, debian/control has no package libnvtxt$so"
    newest=$(sed -n 's/^NVTXT_\([0-9][0-9.]*\) {.*/\1/p' "$top/lib/nvtxt.map" | sort -V | tail -n 1)
    [ "$(printf '%s\n' "$newest" "$version" | sort -V | tail -n 1)" = "$version" ] ||
        fault "lib/nvtxt.map has NVTXT_$newest, which is newer than $version"
}

# What others rely on, since the last release: within a major version nothing of it changes or goes, and NEWS
# names what came. Before the first release nothing was promised.
agree_compat() {
    named=$(sed -n 's/^\([1-9][0-9]*\.[0-9.]*\) (20.*/\1/p' "$top/NEWS" | grep -vxF "$version" | sed 1q)
    [ -z "$named" ] || git -C "$top" rev-parse -q --verify "refs/tags/v$named" >/dev/null || {
        fault "NEWS says that $named was released, and there is no tag v$named: git fetch --tags"
        return
    }
    last=$(last_release HEAD)
    [ -n "$last" ] || return 0
    top_srcdir=$top PYTHONDONTWRITEBYTECODE=1 python3 "$top/tests/compat/facts.py" "$last" >&2 ||
        fault "tests/compat: an interface is not what $last promised, see above; or NEWS does not name what came"
}

# The commit is what is released; an older version is not released after a newer one.
agree_commit() {
    git -C "$top" rev-parse -q --verify HEAD >/dev/null || { fault "$top is no checkout of git"; return; }
    changed=$(git -C "$top" status --porcelain | sed 1q)
    [ -z "$changed" ] || fault "'${changed#???}' is not as in the commit: commit it, or remove it"
    ! git -C "$top" rev-parse -q --verify "refs/tags/v$version" >/dev/null ||
        fault "the tag v$version is there: $version was released"
    last=$(last_release HEAD)
    [ "$(printf '%s\n' "${last#v}" "$version" | sort -V | tail -n 1)" = "$version" ] ||
        fault "$last was released: $version is older"
}

agree() {
    agree_version
    agree_day
    agree_pages
    agree_numbers
    agree_compat
    agree_commit
    [ "$faults" = 0 ] || die "$version is no release yet, $faults things do not agree"
    say "$version agrees: NEWS, changelog, pages, numbers, interfaces, commit"
}
