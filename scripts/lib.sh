# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2034,SC2046,SC2086 # lists of words are split on purpose
#
# Functions of scripts/demo, scripts/test, scripts/check-full and scripts/bench: packages, out-of-tree
# builds, counts of test results. Sourced with `top` set to the top folder.
#
# Builds go to $NVTXT_BUILD_DIR (default: build/ at the top), one folder a configuration.

build_root=${NVTXT_BUILD_DIR:-$top/build}
jobs=${NVTXT_JOBS:-$(nproc 2>/dev/null || echo 2)}
test_jobs=${NVTXT_TEST_JOBS:-$((jobs * 4))} # most tests wait most of the time
log=$build_root/setup.log
unset MAKEFLAGS MFLAGS MAKELEVEL

say() { printf '== %s\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# ---- Releases -----------------------------------------------------------------------------------

# What older programs are when there was no release yet: those of the last commit before 1.0 was promised.
before_promise=a3f8c2ed9f27ff9ac0d15c7c0f58e6ef329d71bd

# last_release COMMIT: the tag of the last release up to there; nothing, and not 0, before the first. HEAD^
# is for what compares this tree with an older one: HEAD may be a release itself.
last_release() { git -C "$top" describe --tags --abbrev=0 --match 'v[0-9]*' --exclude '*-*' "$1" 2>/dev/null; }

# ---- Packages -----------------------------------------------------------------------------------

have_command() { command -v "$1" >/dev/null 2>&1; }
have_module() { pkg-config --exists "$1" 2>/dev/null; }

# has PACKAGE: whether the files of the Debian package exist, whoever installed them.
has() {
    case $1 in
    automake) have_command automake && have_command aclocal ;;
    autoconf) have_command autoreconf ;;
    libtool) have_command libtoolize ;;
    libc6-dev) printf '#include <stdio.h>\n' | gcc -E - >/dev/null 2>&1 ;;
    libuv1-dev) have_module 'libuv >= 1.44' ;;
    libsqlite3-dev) have_module 'sqlite3 >= 3.40' ;;
    libjansson-dev) have_module 'jansson >= 2.14' ;;
    libpcre2-dev) have_module 'libpcre2-8 >= 10.32' ;;
    zlib1g-dev) have_module zlib ;;
    libpq-dev) have_module 'libpq >= 14' ;;
    postgresql) set -- /usr/lib/postgresql/*/bin/initdb && [ -x "$1" ] ;;
    libzstd-dev) have_module 'libzstd >= 1.4' ;;
    libinih-dev) have_module 'inih >= 53' ;;
    libcriterion-dev) have_module 'criterion >= 2.4' ;;
    libsystemd-dev) have_module 'libsystemd >= 240' ;;
    libclang-rt-dev)
        echo 'int LLVMFuzzerTestOneInput(const void *, unsigned long);
            int LLVMFuzzerTestOneInput(const void *d, unsigned long n) { return !d && n; }' |
            clang -fsanitize=fuzzer -x c - -o /dev/null 2>/dev/null
        ;;
    bubblewrap) have_command bwrap ;;
    protobuf-compiler) have_command protoc ;;
    systemd-container) have_command systemd-nspawn ;;
    dpkg-dev) have_command dpkg-buildpackage ;;
    debhelper) have_command dh ;;
    dh-python) have_command dh_python3 ;;
    systemd) have_command systemd-socket-activate && have_command systemd-analyze ;;
    systemd-journal-remote) [ -x /lib/systemd/systemd-journal-remote ] ;;
    chromium-driver) have_command chromedriver ;;
    python3) python3 -c 'import sqlite3' >/dev/null 2>&1 ;;
    python3-selenium) /usr/bin/python3 -c 'import selenium' >/dev/null 2>&1 ;; # as tests/e2e/browser.py
    python3-yaml) python3 -c 'import yaml' >/dev/null 2>&1 ;;
    *) have_command "$1" ;;
    esac
}

lacking() { # lacking PACKAGE...: prints those that are missing
    lacking_list=
    for package; do
        has "$package" || lacking_list="$lacking_list $package"
    done
    echo "${lacking_list# }"
}

# known PACKAGE...: prints those that this release of Debian has.
known() {
    for package; do
        apt-cache show "$package" >/dev/null 2>&1 && echo "$package"
    done
}

packages_build='autoconf automake libtool make gcc libc6-dev pkg-config libuv1-dev libsqlite3-dev
    libjansson-dev libinih-dev libpcre2-dev zlib1g-dev'
packages_optional='libsystemd-dev libzstd-dev libpq-dev postgresql pgbouncer systemd
    systemd-journal-remote bubblewrap chromium chromium-driver python3-selenium
    clang-format-16 mandoc strace valgrind zstd g++ protobuf-compiler'

# need PACKAGE...: installs missing packages (as root), or names them and exits.
# Optional packages are only installed along with others; without them some checks skip.
need() {
    missing=$(lacking "$@")
    [ "$(id -u)" = 0 ] && have_command apt-get && {
        extra=
        [ "${want_optional:-no}" = yes ] &&
            extra=$(lacking $packages_optional)
        [ -z "$missing$extra" ] && return
        say "installing $missing${extra:+ $extra}"
        mkdir -p "$build_root"
        DEBIAN_FRONTEND=noninteractive
        export DEBIAN_FRONTEND
        {
            apt-get -o DPkg::Lock::Timeout=300 update -q &&
                apt-get -o DPkg::Lock::Timeout=300 install -q -y --no-install-recommends \
                    $missing $(known $extra)
        } >"$log" 2>&1 </dev/null || {
            tail -n 20 "$log" >&2
            missing=$(lacking "$@")
            [ -z "$missing" ] || die "apt-get could not install: $missing"
        }
        missing=$(lacking "$@")
    }
    [ -z "$missing" ] || die "these Debian packages are missing, please install them: $missing"
}

# ---- Signs of life ------------------------------------------------------------------------------

# tell_while TELL COMMAND...: runs a command, and every 30 seconds TELL, which prints what it does. It
# is silent when the command, or this script, has ended.
tell_while() {
    tell=$1
    shift
    begun=$(date +%s)
    while sleep 30 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
        $tell
    done &
    telling=$!
    "$@"
    told_status=$?
    kill "$telling" 2>/dev/null
    wait "$telling" 2>/dev/null
    return "$told_status"
}

spent() { echo "$(($(date +%s) - begun)) s"; }

# The log of a command, and what it last wrote there.
tell_last() { say "  $(spent): ${quiet_log##*/}: $(tail -n 1 "$quiet_log" 2>/dev/null | cut -c 1-80)"; }

# Which tests have ended, and which run: those have a log, and no result yet. Before the first one
# their programs are compiled.
tell_tests() {
    tests=$build_root/$name/tests
    ended=$(find "$tests" -name '*.trs' | wc -l)
    [ "$ended" -gt 0 ] || { quiet_log=$build_root/$name/check.log && tell_last && return; }
    say "  $(spent): $ended tests have ended; now:" \
        $(find "$tests" -name '*.log' ! -name test-suite.log -newer "$build_root/$name/began" | while read -r file; do
            [ -f "${file%.log}.trs" ] || echo "${file#"$tests/"}"
        done | sed 's/\.log$//')
}

# ---- Builds -------------------------------------------------------------------------------------

# quietly LOG COMMAND...: writes output to a file, and shows it only if the command fails.
quietly() {
    quiet_log=$1
    shift
    tell_while tell_last in_silence "$@" && return
    tail -n 60 "$quiet_log"
    return 1
}

in_silence() { "$@" >"$quiet_log" 2>&1 </dev/null; }

make_configure() {
    # Later changes of its inputs are make's matter.
    [ -x "$top/configure" ] && [ -f "$top/Makefile.in" ] && return
    say 'autogen.sh'
    mkdir -p "$build_root"
    quietly "$build_root/autogen.log" "$top/autogen.sh"
}

# build NAME [CONFIGURE-ARGUMENT...]: configures once and builds in $build_root/NAME, with ccache if it is
# there and nobody has chosen a compiler.
build() {
    dir=$build_root/$1
    shift
    if have_command ccache && [ -z "${CC:-}" ]; then
        case " $*" in *' CC='*) ;; *) set -- 'CC=ccache gcc' "$@" ;; esac
    fi
    make_configure || return 1
    mkdir -p "$dir"
    if [ ! -f "$dir/Makefile" ] || [ "$(cat "$dir/.arguments" 2>/dev/null)" != "$*" ]; then
        say "configure in ${dir#"$top"/}${*:+ with $*}"
        rm -f "$dir/.arguments"
        (cd "$dir" && quietly configure.log "$top/configure" -q "$@") || return 1
        echo "$*" >"$dir/.arguments"
    fi
    say "make in ${dir#"$top"/}"
    quietly "$dir/make.log" make -C "$dir" -k -j "$jobs"
}

# ---- Tests --------------------------------------------------------------------------------------

passed=0 failed=0 skipped=0
citus='did not run here (--all runs them)' # of its tests, for the last lines

# The programs of tests are many, and most run for a moment: they are compiled without optimization,
# and linked by gold, where it is there, which takes a third of the time.
test_ldflags=
have_command ld.gold && test_ldflags=-fuse-ld=gold

# count_results DIR: adds the cases of all .trs files below DIR, prints the logs of failed tests.
count_results() {
    for trs in $(find "$1" -name '*.trs' | LC_ALL=C sort); do
        set -- $(awk '/^:test-result: / { n[$2]++ }
            END { print n["PASS"] + n["XFAIL"] + 0, n["FAIL"] + n["XPASS"] + n["ERROR"] + 0,
                        n["SKIP"] + 0 }' "$trs")
        passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
        case $trs:$3 in
        *test_citus*.trs:0) citus=ran ;;
        *test_citus*.trs:*) citus='were skipped: it is not installed' ;;
        esac
        [ "$2" = 0 ] && [ $(($1 + $2 + $3)) -gt 0 ] && continue
        [ $(($1 + $2 + $3)) -gt 0 ] || failed=$((failed + 1))
        printf -- '-- %s\n' "${trs%.trs}.log"
        tail -n 200 "${trs%.trs}.log" 2>/dev/null
    done
}

run_tests() {
    make -C "$build_root/$name/tests" -k -j "$test_jobs" CFLAGS='-O0 -g1' \
        ${test_ldflags:+LDFLAGS="$test_ldflags"} "$target" >"$build_root/$name/check.log" 2>&1 </dev/null
}

# suite TITLE NAME TARGET [CONFIGURE-ARGUMENT...]: builds in $build_root/NAME, runs
# `make TARGET` in its tests/ and counts the results. A failed build counts as one failure.
suite() {
    title=$1 name=$2 target=$3
    shift 3
    say "$title"
    started=$(date +%s)
    before="$passed $failed $skipped"
    if build "$name" "$@"; then
        find "$build_root/$name/tests" -name '*.trs' -exec rm -f {} +
        : >"$build_root/$name/began"
        tell_while tell_tests run_tests
        status=$?
        failed_before=$failed
        results_before=$((passed + failed + skipped))
        count_results "$build_root/$name/tests"
        if [ "$status" != 0 ] && [ "$failed" = "$failed_before" ]; then
            failed=$((failed + 1))
            tail -n 60 "$build_root/$name/check.log"
        elif [ "$results_before" = $((passed + failed + skipped)) ]; then
            say "$title: there is no such test"
        fi
    else
        failed=$((failed + 1))
    fi
    set -- $before
    say "$title: $((passed - $1)) passed, $((failed - $2)) failed, $((skipped - $3)) skipped" \
        "($(($(date +%s) - started)) s)"
}

# one TITLE LOG COMMAND...: runs a command that is one case.
one() {
    title=$1 one_log=$2
    shift 2
    say "$title"
    mkdir -p "${one_log%/*}"
    if quietly "$one_log" "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        say "$title: failed"
    fi
}

# The last lines of every test script, and its exit status.
summary() {
    [ -z "$citus" ] || printf 'Tests of several machines (Citus) %s\n' "$citus"
    printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
    [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}
