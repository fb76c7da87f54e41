#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Fails when the members of the messages on the sockets change, but not the version that --version
# and welcomes give: by it clients and daemons of different age tell people who is too old. The
# members are those that protocol/wire writes and reads; tests/wire lists them for each version.
set -eu
cd "${top_srcdir:-.}"

members() { # FILE: the names of members in it, in order
    tr '\n' ' ' <"$1" |
        grep -oE '\\"[a-z_]+\\":|(read_[a-z_]+|json_object_get|add_name)\( *[a-z_]+, *"[a-z_]+"' |
        grep -oE '"[a-z_]+\\?"' | tr -d '\\"' | sort -u | tr '\n' ' ' | sed 's/ $//'
}

version=$(sed -n 's/^AC_INIT(\[nvtxtd\], \[\([^]]*\)\].*/\1/p' configure.ac)
now=$(for file in hello reply ctlmsg; do
    echo "$version $file: $(members protocol/wire/$file.c)"
done)
known=$(grep -v '^#' tests/wire | tail -n 3)
if [ "$now" != "$known" ]; then
    echo "The messages have these members now:"
    echo "$now"
    echo "tests/wire ends with:"
    echo "$known"
    echo "Members that changed need another version in configure.ac, and its lines at the end of tests/wire."
    exit 1
fi
echo "the members of version $version are those of the messages"
