#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What bash completes: options of every program, commands, words of options, each once; that every
# option is one, and that each program finds the file where it is installed. Skips without bash.
set -u
top=${top_srcdir:-.}
build=${top_builddir:-.}
command -v bash >/dev/null 2>&1 || { echo "bash is not installed"; exit 77; }
bad=0 total=0

# completed PROGRAM-PATH WORD...: what may stand for the last word, in one line; "no-files" when
# bash may not take a file instead.
completed() {
    NVTXT_SOCKET=/nonexistent/s bash -c '
        . "$0" || exit 1
        compopt() { [ "$*" = "+o default" ] && COMPREPLY+=(no-files); }
        program=$1
        shift
        COMP_WORDS=("$program" "$@") COMP_CWORD=$#
        _nvtxt "$program"
        echo "${COMPREPLY[*]}"' "$top/completion/nvtxt.bash" "$@"
}

check() { # check WANTED PROGRAM-PATH WORD...
    wanted=$1
    shift
    total=$((total + 1))
    got=$(completed "$@" | tr ' ' '\n' | LC_ALL=C sort | tr '\n' ' ')
    [ "$got" = "$wanted " ] && return
    echo "$*: got '$got', wanted '$wanted'"
    bad=$((bad + 1))
}

# check_options PROGRAM-PATH: all of --help and no other, and the program knows each.
check_options() {
    options=$("$1" --help | grep -oE -e '--[a-z][a-z-]*' | LC_ALL=C sort -u | tr '\n' ' ')
    check "${options% }" "$1" --
    for option in $(completed "$1" --); do
        "$1" "$option" 1 --help 2>&1 </dev/null | grep -qE 'unrecognized|not known|unknown' || continue
        echo "${1##*/} does not know $option"
        bad=$((bad + 1))
    done
}

# The file is installed once for each package that has programs.
check_installed() {
    root=$(mktemp -d) || exit 1
    make -C "$build/completion" install DESTDIR="$root" >"$root/log" 2>&1 || cat "$root/log"
    for program in "$build"/daemon/nvtxtd "$build"/client/nvtxt-* "$build"/ship/nvtxt-ship; do
        { [ -f "$program" ] && [ -x "$program" ]; } || continue
        file=$(find "$root" -name "${program##*/}")
        { [ -n "$file" ] && cmp -s "$file" "$top/completion/nvtxt.bash"; } || {
            echo "${program##*/} finds no completion"
            bad=$((bad + 1))
        }
    done
    files=$(find "$root" -type f -name 'nvtxt*' | sed 's|.*/||' | LC_ALL=C sort | tr '\n' ' ')
    case $files in
    'nvtxt-send nvtxtd ' | 'nvtxt-send nvtxt-ship nvtxtd ') ;;
    *)
        echo "installed as files: $files"
        bad=$((bad + 1))
        ;;
    esac
    rm -rf "$root"
}

check_report() { # check_report PROGRAM: each command has options of its own, and lists of words
    for command in $("$1" --help | sed -n '/^Commands/,/^$/s/^  \([a-z-]*\) .*/\1/p'); do
        check "$command" "$1" "$command"
        check "$command" "$1" --csv "$command"
        options=$("$1" "$command" --help | grep -oE -e '--[a-z][a-z-]*' | LC_ALL=C sort -u | tr '\n' ' ')
        check "${options% }" "$1" "$command" --
        for option in $options; do
            "$1" "$command" "$option" 1 --help 2>&1 </dev/null | grep -q 'unrecognized' || continue
            echo "nvtxt-report $command does not know $option"
            bad=$((bad + 1))
        done
    done
    check 'markdown' "$1" stats --format m
    check 'json jsonl junit' "$1" events --format = j
    check 'usec' "$1" stats --timeunit u
    check '' "$1" stats --timeunit usec eve
    check 'reports rules' "$1" list r
    check 'warning' "$1" check --fail-on w
    check 'nvtx_pushpop_sum nvtx_pushpop_trace' "$1" stats -r nvtx_push
    check 'nvtx_sum,nvtx_tree' "$1" stats -r nvtx_sum,nvtx_tr
}

for program in "$build"/daemon/nvtxtd "$build"/client/nvtxt-* "$build"/ship/nvtxt-ship; do
    { [ -f "$program" ] && [ -x "$program" ]; } || continue
    check '--help' "$program" --he
    check '--version' "$program" --vers
    check_options "$program"
    grep -qw "${program##*/}" "$top/completion/nvtxt.bash" || {
        echo "${program##*/} is not completed"
        bad=$((bad + 1))
    }
done
check_installed
[ ! -x "$build/ship/nvtxt-ship" ] || {
    check 'init maintain metrics pull simulate status' "$build/ship/nvtxt-ship" ''
    check 'maintain' "$build/ship/nvtxt-ship" --target here ma
    check '' "$build/ship/nvtxt-ship" status ma
    check 'beginning no-files now' "$build/ship/nvtxt-ship" --from ''
    check 'beginning no-files' "$build/ship/nvtxt-ship" --from = b
    check 'no-files' "$build/ship/nvtxt-ship" --label ma
    check 'no-files' "$build/ship/nvtxt-ship" pull --since ma
    check '' "$build/ship/nvtxt-ship" -c ma
    check '' "$build/ship/nvtxt-ship" --store ma
    check '' "$build/ship/nvtxt-ship" pull -o ma
}
[ ! -x "$build/client/nvtxt-report" ] || check_report "$build/client/nvtxt-report"
check '--check-config --config --control-socket' "$build/daemon/nvtxtd" --c
check 'info' "$build/daemon/nvtxtd" --log-level inf
check 'debug' "$build/daemon/nvtxtd" --log-level = d
check 'lerp lin' "$build/client/nvtxt-send" --mode ''
check '' "$build/client/nvtxt-send" -- ls --he
check 'printenv' "$build/client/nvtxt-send" -- printen
check 'iso' "$build/client/nvtxt-send" --text --time-format i
check 'block drop' "$build/client/nvtxt-send" --on-full = ''
check '' "$build/client/nvtxt-send" some
check 'create' "$build/client/nvtxt-import" cr
check 'collect create info merge' "$build/client/nvtxt-import" ''
check '--target' "$build/client/nvtxt-import" merge --tar
check '--update-report-time' "$build/client/nvtxt-import" merge --up
check '' "$build/client/nvtxt-import" merge -i cr
check '' "$build/client/nvtxt-import" create cr
check 'chrome csv folded jsonl nsys nvtxt otlp perfetto speedscope' "$build/client/nvtxt-export" --format ''
check 'jsonl' "$build/client/nvtxt-export" --format = j
check 'reload' "$build/client/nvtxt-ctl" rel
check 'status' "$build/client/nvtxt-ctl" --json stat
check 'diagnostics disconnect' "$build/client/nvtxt-ctl" di
check 'log-level' "$build/client/nvtxt-ctl" log
check 'warning' "$build/client/nvtxt-ctl" log-level w
check 'top' "$build/client/nvtxt-ctl" to
check 'range' "$build/client/nvtxt-ctl" tail --kind r
check '--output' "$build/client/nvtxt-ctl" metrics --o
check '' "$build/client/nvtxt-ctl" metrics --output stat
check 'status' "$build/client/nvtxt-ctl" --socket here stat
check '' "$build/client/nvtxt-ctl" --socket stat
check '' "$build/client/nvtxt-ctl" status stat

echo "$total looked at, $bad faults"
[ "$bad" = 0 ]
