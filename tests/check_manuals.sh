#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Compares the manual pages with what they describe. Fails when
#   a program has no page, or a page no program;
#   an option of --help is not in the page, or the program does not know an option of the page;
#   an exit status of --help is not in the page;
#   a help text does not fit a screen of 24 lines and 80 columns;
#   a page has a line that is wider than 80 columns;
#   a page refers to a page of ours that does not exist;
#   a control command, a total of `status`, a table or a view is in the code and not in its page;
#   `mandoc -Tlint` has a warning.
# Without mandoc the widths and warnings are left out, and the test skips when all else is well.
set -u
top=${top_srcdir:-.}
build=${top_builddir:-.}
work=$(mktemp -d "${TMPDIR:-/tmp}/check_manuals.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
bad=0 total=0

fault() {
    echo "$*"
    bad=$((bad + 1))
}

page_of() { # page_of NAME: the page's path, in the source or, for one that is made, in the build
    for folder in "$top" "$build"; do
        [ -f "$folder/man/$1" ] && { echo "$folder/man/$1"; return; }
    done
}

options_of_page() {
    awk -f "$top/tests/options_of_page.awk" "$1" | LC_ALL=C sort -u
}

options_of_help() {
    grep -oE -e "(^|[ '[])--?[A-Za-z][A-Za-z0-9_-]*" "$1" | tr -d " '[" | LC_ALL=C sort -u
}

# The help of a program, and of its commands where "COMMAND --help" has more.
print_helps() { # PROGRAM
    timeout 10 "$1" --help </dev/null
    grep -q 'COMMAND --help' "$work/help" || return
    for command in $(sed -n '/^Commands/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p' "$work/help"); do
        timeout 10 "$1" "$command" --help </dev/null
    done
}

check_options() { # NAME PROGRAM PAGE
    print_helps "$2" >"$work/helps"
    awk -v name="$1" 'length($0) > 80 { print name ": wider than 80 columns: " $0; bad++ }
        END { exit bad > 0 }' "$work/helps" || bad=$((bad + 1))
    options_of_help "$work/helps" | LC_ALL=C sort -u >"$work/in-help"
    options_of_page "$3" >"$work/in-page"
    for option in $(LC_ALL=C comm -23 "$work/in-help" "$work/in-page"); do
        fault "$1: $option is in --help and not in the page"
    done
    for option in $(LC_ALL=C comm -13 "$work/in-help" "$work/in-page"); do
        # --help ends it whatever the option does
        timeout 10 "$2" "$option" 1 --help >"$work/out" 2>&1 </dev/null
        grep -qE 'unrecognized|invalid option|not known' "$work/out" &&
            fault "$1: $option is in the page and the program does not know it"
    done
}

check_statuses() { # NAME PAGE
    sed -n '/^Exit status/,$p' "$work/help" | tr ';:' '[\n*]' |
        sed -n 's/^ *\([0-9][0-9]*\) .*/\1/p' >"$work/statuses"
    while read -r status; do
        grep -q "^\\.It $status\$" "$2" ||
            fault "$1: exit status $status is in --help and not in the page"
    done <"$work/statuses"
}

check_screen() { # NAME
    awk -v name="$1" '
        length($0) > 80 { print name ": --help has a line of more than 80 columns: " $0; bad++ }
        END {
            if (NR > 24) { print name ": --help has " NR " lines, a screen 24"; bad++ }
            exit bad > 0
        }' "$work/help" || bad=$((bad + 1))
}

check_words() { # PAGE WHAT WORD...: each word stands in the page
    page=$(page_of "$1") what=$2
    shift 2
    [ $# -gt 0 ] || fault "no $what found in the code"
    for word; do
        total=$((total + 1))
        grep -qwF -e "$word" "$page" || fault "${page##*/} lacks the $what '$word'"
    done
}

check_width() { # NAME PAGE: in ASCII, a byte is a column
    mandoc -T ascii -O width=80 "$2" | awk -v name="$1" '
        { gsub(/.\b/, "") } # bold and underlined characters
        length($0) > 80 { print name ": wider than 80 columns: " $0; bad++ }
        END { exit bad > 0 }' || bad=$((bad + 1))
}

# ---- Programs -----------------------------------------------------------------------------------

for program in "$build"/daemon/nvtxtd "$build"/client/nvtxt-* "$build"/ship/nvtxt-ship; do
    { [ -f "$program" ] && [ -x "$program" ]; } || continue
    name=${program##*/}
    page=$(page_of "$name.1")
    total=$((total + 1))
    [ -n "$page" ] || { fault "$name has no page"; continue; }
    timeout 10 "$program" --help >"$work/help" </dev/null || fault "$name --help fails"
    check_options "$name" "$program" "$page"
    check_statuses "$name" "$page"
    check_screen "$name"
done

# ---- Pages --------------------------------------------------------------------------------------

linted=yes
command -v mandoc >/dev/null 2>&1 || linted=no
for name in $(cd "$top/man" && ls ./*.[1357]) $(cd "$build/man" && ls ./*.[1357]); do
    echo "${name#./}"
done 2>/dev/null | LC_ALL=C sort -u >"$work/pages"
while read -r name; do
    page=$(page_of "$name")
    total=$((total + 1))
    case $name in
    *.1)
        [ -x "$build/daemon/${name%.1}" ] || [ -x "$build/client/${name%.1}" ] ||
            [ -x "$build/ship/${name%.1}" ] || [ "$name" = nvtxt-ship.1 ] ||
            fault "$name: there is no such program"
        ;;
    esac
    for other in $(sed -n 's/^\.Xr \(nvtxt[^ ]*\) \([1-8]\).*/\1.\2/p' "$page" | LC_ALL=C sort -u); do
        [ -n "$(page_of "$other")" ] || [ -f "$top/man/$other.in" ] ||
            fault "$name: there is no page $other"
    done
    [ "$linted" = no ] && continue
    check_width "$name" "$page"
    mandoc -T lint -W warning "$page" >"$work/lint" 2>&1
    # pages that are referred to need not be installed
    ! grep -v 'mandoc.db lacks' "$work/lint" || bad=$((bad + 1))
done <"$work/pages"

# ---- What the code holds in tables --------------------------------------------------------------

names() { # names SCRIPT FILE...: what a sed script finds
    script=$1
    shift
    sed -n "$script" "$@" | LC_ALL=C sort -u
}
commands=$(names 's/^ *{"\([a-z-]*\)", *RIGHTS_.*/\1/p' "$top/daemon/control/control_cmds.c")
# shellcheck disable=SC2046,SC2086 # lists of words
{
    check_words nvtxt-ctl.1 command $commands
    check_words nvtxt-protocol.7 command $commands
    check_words nvtxt-protocol.7 total $(names 's/^ *X(\([a-z_]*\), ".*/\1/p' "$top/daemon/base/stats.h")
    check_words nvtxt-store.5 table \
        $(names 's/.*CREATE TABLE \([A-Za-z_]*\) .*/\1/p' "$top/store/db/schema.c")
    check_words nvtxt-store.5 view \
        $(names 's/.*CREATE VIEW \([A-Z_]*\) .*/\1/p' "$top/store/db/schema.c")
}

echo "$total things looked at, $bad faults"
[ "$bad" = 0 ] || exit 1
[ "$linted" = yes ] || { echo "mandoc is not installed: the pages were not linted"; exit 77; }
