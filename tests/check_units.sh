#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What systemd says of the units: `verify` has nothing to say, `security` finds next to no exposure,
# and sysusers and tmpfiles can be read. The units are looked at as they are built, with the built
# daemon in the place of the installed one. Skips without systemd-analyze.
set -u
top=${top_srcdir:-.}
build=$(cd "${top_builddir:-.}" && pwd) || exit 1
command -v systemd-analyze >/dev/null 2>&1 || { echo "systemd-analyze is not installed"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/check_units.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
bad=0

fault() {
    echo "$*"
    bad=$((bad + 1))
}

for folder in '' user/; do
    mkdir -p "$work/$folder"
    cp "$top/systemd/$folder"*.socket "$work/$folder"
    sed "s|^ExecStart=.*/nvtxtd|ExecStart=$build/daemon/nvtxtd|" \
        "$build/systemd/${folder}nvtxtd.service" >"$work/${folder}nvtxtd.service"
done

# The examples: a template as an instance of it. Jobs of one's own are wherever they are.
mkdir -p "$work/examples"
example() { # example UNIT INSTANCE
    sed -e "s|@bindir@/nvtxt-send|$build/client/nvtxt-send|" \
        -e 's|/usr/local/lib/jobs/%i|/bin/true|' "$top/systemd/examples/$1.in" >"$work/examples/$2"
    grep -q "^Exec.*/nvtxt-send\|^ .*/nvtxt-send" "$work/examples/$2" ||
        fault "$1 does not use nvtxt-send"
    ! grep '@[a-z]*@' "$build/systemd/examples/$1" || fault "$1 is not filled in"
}
example nvtxt-journal.service nvtxt-journal.service
example nvtxt-log@.service nvtxt-log@var-log-one.service
example nvtxt-run@.service nvtxt-run@one.service
cp "$work/nvtxtd.socket" "$work/nvtxtd.service" "$work/nvtxtd-control.socket" "$work/examples"

# Only what concerns our units: the machine may have others that are not perfect. That the pages
# are not installed is no fault.
verify() { # verify OPTION... UNIT...
    LC_ALL=C SYSTEMD_LOG_LEVEL=warning systemd-analyze verify --man=no "$@" >"$work/said" 2>&1 ||
        grep -q nvtxt "$work/said" || return 0
    ! grep nvtxt "$work/said" || fault "systemd-analyze verify has something to say"
}
verify "$work"/nvtxtd.service "$work"/nvtxtd.socket "$work"/nvtxtd-control.socket
verify --user "$work"/user/nvtxtd.service "$work"/user/nvtxtd.socket \
    "$work"/user/nvtxtd-control.socket

verify "$work"/examples/nvtxt-*.service

systemd-analyze security --offline=true --threshold=8 "$work/nvtxtd.service" \
    >"$work/security" 2>&1 || {
    grep -v '✓' "$work/security"
    fault "the service is exposed by more than 0.8"
}
tail -n 1 "$work/security"

# The shipper has a network, and a wrong configuration ends it for good.
[ ! -f "$build/systemd/nvtxt-ship.service" ] || {
    for name in nvtxt-ship nvtxt-ship-maintain; do
        sed "s|^ExecStart=.*/nvtxt-ship|ExecStart=$build/ship/nvtxt-ship|" \
            "$build/systemd/$name.service" >"$work/$name.service"
        systemd-analyze security --offline=true --threshold=15 "$work/$name.service" \
            >"$work/security" 2>&1 || {
            grep -v '✓' "$work/security"
            fault "$name is exposed by more than 1.5"
        }
        tail -n 1 "$work/security"
    done
    cp "$top/systemd/nvtxt-ship-maintain.timer" "$work"
    verify "$work"/nvtxt-ship.service "$work"/nvtxt-ship-maintain.service \
        "$work"/nvtxt-ship-maintain.timer
    grep -qx 'RestartPreventExitStatus=64 65 66 78' "$work/nvtxt-ship.service" ||
        fault "what only a person mends does not end nvtxt-ship.service"
}
# A disk that is full for a while must not end it for good; what only a person mends must.
for unit in "$work/nvtxtd.service" "$work/user/nvtxtd.service"; do
    for line in StartLimitIntervalSec=0 Restart=on-failure RestartSec=1s \
        'RestartPreventExitStatus=64 65 66 78'; do
        grep -qx "$line" "$unit" || fault "$unit has no $line"
    done
done
for setting in PrivateUsers ProtectProc ProcSubset; do
    ! grep -q "^$setting=" "$work/nvtxtd.service" ||
        fault "$setting= hides the processes behind connections"
done

# What the units say of the sockets is what the daemon takes.
for name in data control; do
    grep -lx "FileDescriptorName=$name" "$top"/systemd/*.socket >/dev/null ||
        fault "no socket unit hands over '$name'"
done

# Else a connection starts a daemon that refuses its store for ever, and waits for ever.
for unit in "$top"/systemd/*.socket "$top"/systemd/user/*.socket; do
    grep -qx 'TriggerLimitIntervalSec=10min' "$unit" && grep -qx 'TriggerLimitBurst=20' "$unit" ||
        fault "$unit does not fail with its service"
done

if [ "$(id -u)" = 0 ] && command -v systemd-sysusers >/dev/null 2>&1; then
    mkdir -p "$work/root/etc"
    systemd-sysusers --root="$work/root" "$top/systemd/sysusers.d/nvtxtd.conf" >"$work/said" 2>&1 ||
        fault "sysusers.d: $(cat "$work/said")"
    grep -q '^nvtxt:' "$work/root/etc/passwd" || fault "sysusers.d makes no user"
fi

echo "$bad faults"
[ "$bad" = 0 ]
