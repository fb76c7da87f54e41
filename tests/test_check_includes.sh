#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# check_includes.sh must be able to fail: each forbidden arrow is put into a small tree of its own.
set -u
check=$top_srcdir/tests/check_includes.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
count=0

tap() { # tap STATUS TEXT
    count=$((count + 1))
    if [ "$1" = 0 ]; then echo "ok $count - $2"; else echo "not ok $count - $2"; fi
}

plant() { # plant FILE INCLUDE: a tree with that one line
    rm -rf "$tree/protocol" "$tree/store" "$tree/daemon" "$tree/client"
    mkdir "$tree/protocol" "$tree/store" "$tree/daemon" "$tree/client"
    printf '// line one\n%s\n' "$2" >"$tree/$1"
}

forbids() {
    plant "$@"
    out=$(sh "$check" "$tree") && { tap 1 "forbids $2 in $1"; return; }
    case $out in
    "$1:2: "*) tap 0 "forbids $2 in $1" ;;
    *) echo "# $out"; tap 1 "names the line of $2 in $1" ;;
    esac
}

allows() {
    plant "$@"
    sh "$check" "$tree" >/dev/null
    tap $? "allows $2 in $1"
}

forbids protocol/frame.c '#include <uv.h>'
forbids protocol/frame.c '#include <sqlite3.h>'
forbids protocol/frame.c '#include <jansson.h>'
forbids protocol/frame.c '#include <time.h>'
forbids protocol/frame.c '#include <unistd.h>'
forbids protocol/frame.c '#include <sys/random.h>'
forbids protocol/hash_value.c '#include <unistd.h>'
forbids protocol/frame.h '#include "store/store.h"'
forbids store/store.c '#include "daemon/conn.h"'
forbids store/store.c '#include <uv.h>'
forbids store/store.h '  #  include <jansson.h>'
forbids daemon/conn.c '#include "client/sender.h"'
forbids daemon/conn.c '#include <sqlite3.h>'
forbids daemon/conn.c '#include <jansson.h>'
forbids daemon/conn.c '#include <ini.h>'
forbids daemon/conn.c '#include "conn.h"'
forbids daemon/conn.c '#include "../store/store.h"'
forbids client/nvtxt-send.c '#include "store/store.h"'
forbids client/nvtxt-send.c '#include "daemon/conn.h"'
forbids client/nvtxt-import.c '#include <sqlite3.h>'
forbids client/sender.c '#include <jansson.h>'
forbids client/sender.c '#include <curl/curl.h>'
forbids client/sender.c '#include MACRO'
allows daemon/daemon.c '#include <config.h>'
allows protocol/reply.c '#include <jansson.h>'
allows protocol/hash_value.c '#include <sys/random.h>'
allows protocol/lost.c '#include <jansson.h>'
allows protocol/frame.c '#include <string.h>'
allows store/store.c '#include <sqlite3.h>'
allows store/store.c '#include "protocol/slice.h"'
allows daemon/conn.c '#include <uv.h>'
allows daemon/activation.c '#include <systemd/sd-daemon.h>'
allows daemon/control_cmds.c '#include <jansson.h>'
allows client/nvtxt-import.c '#include "store/store.h"'
allows client/sender.c '#include <sys/socket.h>'

rm -rf "$tree/protocol" "$tree/store" "$tree/daemon" "$tree/client"
if sh "$check" "$tree" >/dev/null 2>&1; then tap 1 "fails when it finds no source"; else
    tap 0 "fails when it finds no source"
fi
echo "1..$count"
