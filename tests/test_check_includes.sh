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
    mkdir -p "$tree/${1%/*}"
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

forbids protocol/base/frame.c '#include <uv.h>'
forbids protocol/base/frame.c '#include <sqlite3.h>'
forbids protocol/base/frame.c '#include <jansson.h>'
forbids protocol/base/frame.c '#include <time.h>'
forbids protocol/base/frame.c '#include <unistd.h>'
forbids protocol/base/frame.c '#include <sys/random.h>'
forbids protocol/base/hash_value.c '#include <unistd.h>'
forbids protocol/base/frame.h '#include "store/store.h"'
forbids store/store.c '#include "daemon/conn/conn.h"'
forbids store/store.c '#include <uv.h>'
forbids store/store.h '  #  include <jansson.h>'
forbids daemon/conn/conn.c '#include "client/session/sender.h"'
forbids daemon/conn/conn.c '#include <sqlite3.h>'
forbids daemon/conn/conn.c '#include <jansson.h>'
forbids daemon/conn/conn.c '#include <ini.h>'
forbids daemon/conn/conn.c '#include "conn.h"'
forbids daemon/conn/conn.c '#include "../store/store.h"'
forbids client/send/nvtxt-send.c '#include "store/store.h"'
forbids client/send/nvtxt-send.c '#include "daemon/conn/conn.h"'
forbids client/import/nvtxt-import.c '#include <sqlite3.h>'
forbids client/session/sender.c '#include <jansson.h>'
forbids client/session/sender.c '#include <curl/curl.h>'
forbids client/session/sender.c '#include MACRO'
allows daemon/daemon.c '#include <config.h>'
allows protocol/wire/reply.c '#include <jansson.h>'
allows protocol/base/hash_value.c '#include <sys/random.h>'
allows protocol/wire/lost.c '#include <jansson.h>'
allows protocol/base/frame.c '#include <string.h>'
allows store/store.c '#include <sqlite3.h>'
allows store/store.c '#include "protocol/base/slice.h"'
allows daemon/conn/conn.c '#include <uv.h>'
allows daemon/socket/activation.c '#include <systemd/sd-daemon.h>'
allows daemon/control/control_cmds.c '#include <jansson.h>'
allows client/import/nvtxt-import.c '#include "store/store.h"'
allows client/session/sender.c '#include <sys/socket.h>'

rm -rf "$tree/protocol" "$tree/store" "$tree/daemon" "$tree/client"
if sh "$check" "$tree" >/dev/null 2>&1; then tap 1 "fails when it finds no source"; else
    tap 0 "fails when it finds no source"
fi
echo "1..$count"
