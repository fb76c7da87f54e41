# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Bash completion for all programs of nvtxtd. It reads options from the --help of the program, and
# control commands also from the daemon if one runs, so this file need not list them. Where nothing
# else fits, it completes file names.

_nvtxt_words() { # _nvtxt_words WORD...: those that begin with the current word
    mapfile -t COMPREPLY < <(compgen -W "$*" -- "$cur" | sort -u)
}

# The help of nvtxt-report COMMAND if there is one on the line; else that of the program.
_nvtxt_help() {
    local word
    if [[ $program == nvtxt-report ]]; then
        for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
            [[ $word == [a-z]* ]] && { "$1" "$word" --help 2>/dev/null; return; }
        done
    fi
    "$1" --help 2>/dev/null
}

_nvtxt_commands() { # the commands of a program that has some
    case $program in
    nvtxt-ctl)
        "$1" help 2>/dev/null | sed -n 's/^\([a-z][a-z-]*\)  *.*/\1/p'
        "$1" --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z]\)/\1/p' |
            sed 's/  .*//' | grep -oE '(^|, )[a-z][a-z-]+' | tr -d ', '
        ;;
    nvtxt-report)
        "$1" --help 2>/dev/null | sed -n '/^Commands/,/^$/s/^  \([a-z-]*\) .*/\1/p'
        ;;
    nvtxt-ship)
        "$1" --help 2>/dev/null | sed -n 's/^  \([a-z]*\)  .*/\1/p'
        ;;
    nvtxt-import)
        "$1" --help 2>/dev/null | sed -n 's/^\(Usage:\|      \) *nvtxt-import \([a-z]*\) .*/\2/p'
        ;;
    esac
}

_nvtxt_takes_value() { # whether the word is an option whose value is the next word
    [[ $2 == -* ]] && _nvtxt_help "$1" | grep -qE -e "(^|[ ,[])$2(, --[a-z-]+)? ['[A-Za-z]"
}

# _nvtxt_list WHAT: one of the names that nvtxt-report lists, after the last comma of the word.
_nvtxt_list() {
    local before="" last=${cur##*,}
    [[ $cur == *,* ]] && before=${cur%,*},
    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$(
        "${COMP_WORDS[0]}" list "$1" --format json 2>/dev/null |
            grep -oE '"(identifier|name)":"[A-Za-z0-9_.-]+"' | sed 's/.*:"//; s/"$//'
    )" -- "$last" | sort -u)
}

_nvtxt_report_value() { # the values of an option of nvtxt-report; false: it has no list of them
    case $prev in
    --format) _nvtxt_words text csv tsv json jsonl markdown junit github html ;;
    -r | --report) _nvtxt_list reports ;;
    --section) _nvtxt_list sections ;;
    --set) _nvtxt_list sets ;;
    --rule) _nvtxt_list rules ;;
    --metrics) _nvtxt_list metrics ;;
    --kind) _nvtxt_words mark push/pop start/end ;;
    --section-folder) compgen -W builtin -- "$cur" >/dev/null && _nvtxt_words builtin ;;
    --derived-aggregate) _nvtxt_words instances operands ;;
    --scope) _nvtxt_words capture process thread name iteration ;;
    --apply-rules) _nvtxt_words yes no ;;
    --sandbox) _nvtxt_words auto always never ;;
    --timeunit) _nvtxt_words nsec usec msec sec ;;
    --print-units) _nvtxt_words auto base ;;
    --print-details) _nvtxt_words header body all ;;
    --print-metric-instances) _nvtxt_words none values details ;;
    --print-metric-name) _nvtxt_words label name label-name ;;
    --fail-on) _nvtxt_words ok optimization warning error ;;
    list) [[ $cur != -* ]] && _nvtxt_words sections sets rules metrics reports ;;
    *) return 1 ;;
    esac
}

_nvtxt_ship_value() { # the values of an option of nvtxt-ship; false: commands, options or files
    case $prev in
    --from) _nvtxt_words beginning now ;;
    --label | --target | --schema | --host | --store-id | --interval | --lease | --connect-timeout | \
        --keep-days | --shards | --since | --until | --hosts | --rate | --for | --connections) ;;
    *) return 1 ;;
    esac
    compopt +o default 2>/dev/null # none of them is a file
    return 0
}

_nvtxt_has_command() {
    local i
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} == [a-z]* ]] && ! _nvtxt_takes_value "$1" "${COMP_WORDS[i - 1]}" &&
            return 0
    done
    return 1
}

_nvtxt_command_line() { # _nvtxt_command_line I: a command and its arguments begin at the I-th word
    if declare -F _command_offset >/dev/null; then
        _command_offset "$1"
    elif ((COMP_CWORD == $1)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$cur" | sort -u)
    fi
}

_nvtxt() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    local program=${1##*/} i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do # after "--" comes another program's command line
        [[ ${COMP_WORDS[i]} == -- ]] && {
            [[ $program == nvtxt-send ]] && _nvtxt_command_line $((i + 1))
            return
        }
    done
    if [[ $prev == = ]]; then
        prev=${COMP_WORDS[COMP_CWORD - 2]}
    elif [[ $cur == = ]]; then
        cur=
    fi
    [[ $program == nvtxt-report ]] && _nvtxt_report_value && return
    [[ $program == nvtxt-ship ]] && _nvtxt_ship_value && return
    case $prev in
    --mode) _nvtxt_words lerp lin ;;
    --clock) _nvtxt_words here ;;
    --on-full) _nvtxt_words block drop ;;
    --time-format) _nvtxt_words auto iso syslog epoch ;;
    --log-level | log-level) _nvtxt_words error warning info debug ;;
    --unit) _nvtxt_words "$(systemctl list-units --all --plain --no-legend 2>/dev/null | cut -d ' ' -f 1)" ;;
    --level | --priority) _nvtxt_words emerg alert crit err warning notice info debug ;;
    --kind) _nvtxt_words mark range push/pop start/end ;;
    --format) _nvtxt_words chrome perfetto speedscope folded csv jsonl nvtxt otlp nsys ;;
    *)
        if [[ $cur == -* ]]; then
            _nvtxt_words "$(_nvtxt_help "$1" | grep -oE -e '--[a-z][a-z-]*' | sort -u)"
        elif ! _nvtxt_takes_value "$1" "$prev" && ! _nvtxt_has_command "$1"; then
            _nvtxt_words "$(_nvtxt_commands "$1")"
        fi
        ;;
    esac
}

complete -o default -F _nvtxt nvtxtd nvtxt-send nvtxt-check nvtxt-ctl nvtxt-import nvtxt-export nvtxt-report \
    nvtxt-ship
