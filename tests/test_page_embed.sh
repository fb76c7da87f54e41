#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What report/page/embed makes of a folder: only what belongs to its pages, and no style of which a
# part is lost. And the sizes of texts that the styles have: those of one scale.
set -u
top=$(cd "${top_srcdir:-.}" && pwd) || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
count=0

result() { # result STATUS TEXT: of the last case, with what it says in $work/said
    count=$((count + 1))
    [ "$1" = 0 ] && echo "ok $count - $2" && return
    sed 's/^/# /' "$work/said"
    echo "not ok $count - $2"
}

fresh() {
    rm -rf "$work/assets"
    cp -r "$top/report/page/assets" "$work/assets"
    chmod -R u+w "$work/assets"
}

embed() { sh "$top/report/page/embed" "$work/assets" >"$work/made" 2>"$work/said"; }

refuses() { # refuses FILE STYLE WORDS WHAT: with the style at its end
    fresh
    printf '%s\n' "$2" >>"$work/assets/$1"
    ! embed && grep -q "^embed: $1.*$3" "$work/said"
    result $? "$4 is refused"
}

fresh
embed
result $? "the pages are made"
cp "$work/made" "$work/whole"
cp "$work/assets/order.diff" "$work/assets/order.diff~"
cp "$work/assets/report.css" "$work/assets/report.css~"
echo none.js >"$work/assets/order.orig"
embed && cmp "$work/made" "$work/whole" >"$work/said"
result $? "files that an editor or a patch leaves are no pages"

fresh
printf '/* one */\n  /* two\n    lines */\n\n' >>"$work/assets/diff.css"
embed && cmp "$work/made" "$work/whole" >"$work/said"
result $? "comments at the start of lines are left out"
refuses diff.css '/* one */ a { color: red; }' 'a line of its own' "a rule behind a comment"
refuses report.css '/* two
   lines */ a { color: red; }' 'a line of its own' "a rule behind a comment of two lines"
refuses findings.css '/* no end' 'does not end' "a comment without an end"

# 12, 14, 16, 20 and 28 px; on paper all are smaller.
grep -n 'font-size:' "$top"/report/page/assets/*.css |
    grep -v -e ' 0\.75rem;' -e ' 0\.875rem;' -e ' 1rem;' -e ' 1\.25rem;' -e ' 1\.75rem;' \
        -e 'media\.css:.* 80%;' >"$work/said"
[ ! -s "$work/said" ]
result $? "texts have the sizes of one scale"
echo "1..$count"
