# SPDX-License-Identifier: Apache-2.0
#
# The options that a manual page in mdoc marks with .Fl, one a line, with their dashes.
/^\./ {
    flag = 0
    n = split(substr($0, 2), word, " ")
    for (i = 1; i <= n; i++)
        if (word[i] ~ /^[A-Z][a-z]$/)
            flag = word[i] == "Fl"
        else if (flag && word[i] ~ /^(\\-)?[A-Za-z]/) {
            gsub(/\\-/, "-", word[i])
            print "-" word[i]
        }
}
