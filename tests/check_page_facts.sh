#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Fails where the scripts of the pages and the program disagree on what both have: how many paths a
# flame graph has, and how many bins a histogram.
set -u
cd "${top_srcdir:-.}" || exit 1
bad=0

# The number that stands behind a name in a file.
number_of() { # number_of FILE NAME
    sed -n "s/^\(#define\|const\) $2 *=* *\([0-9]\{1,\}\).*/\2/p" "$1"
}

compare() { # compare FILE NAME OTHER-FILE OTHER-NAME
    one=$(number_of "$1" "$2")
    other=$(number_of "$3" "$4")
    if [ -z "$one" ] || [ "$one" != "$other" ]; then
        echo "$2 of $1 is '$one', $4 of $3 is '$other'"
        bad=1
    fi
}

assets=report/page/assets
compare "$assets/paths.js" MOST_PATHS report/page/page.h REPORT_PAGE_PATHS
compare "$assets/paths.js" MOST_PATHS report/diffpage/diffpage.h REPORT_DIFF_PAGE_PATHS
compare "$assets/figures.js" HISTOGRAM_BINS report/diff/diff.h REPORT_DIFF_BINS
exit "$bad"
