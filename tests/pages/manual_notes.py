# SPDX-License-Identifier: Apache-2.0
"""Notes about the EXAMPLES of the manual pages; page_notes.py says what a note is."""
from page_notes import (ANY, BACKUP, COMPILE, DAEMON, FLAMEGRAPH, FOLLOWED, LOGGER, MACHINE_JOURNAL, MAIL, MAKEFILE, RECORDS,
                        SHELL, SOLVED, Note, Page, prints, saved_as, shell, skip)

# Steps with their loading, a kernel in each, one kernel alone; a request that is open meanwhile.
RUN = """TimeBase = Manual
ProcessId = 1
ThreadId = 1
@RangeStartEnd, Start, End, Message
@RangePush, Time, Message
@RangePop, Time
RangeStartEnd, 100, 900, "request"
RangePush, 200, "step"
RangePush, 210, "load"
RangePop, 400
RangePush, 410, "kernel"
RangePop, 490
RangePop, 500
RangePush, 1000, "kernel"
RangePop, 1100
"""
LAYERS = """SetFileDisplayName, "libnet"
TimeBase = Manual
ProcessId = 1
ThreadId = 1
@RangePush, Time, Message
@RangePop, Time
RangePush, 2000, "layer 7"
RangePop, 2100
"""
TWO_TIMES = """TimeBase = ClockRealtime
@Marker, Time, Message
Marker, %d, "a"
Marker, %d, "b"
"""
SHOP = """SetFileDisplayName, "shop"
TimeBase = ClockRealtime
@RangeStartEnd, Start, End, Message
"""
LOAD = "nvtxt-import create -n run.nvtxt layers.nvtxt -o run.sqlite"
STORED = DAEMON + "; nvtxt-send run.nvtxt; nvtxt-send --range now -- true"

# A unit: what systemd would start is run.
EXEC_START = "sed -n '/^ExecStart=/,$ {s/^ExecStart=//; p}' {} >exec-start; . ./exec-start"

PAGES = {
    "man/nvtxt-check.1": Page({
        "nvtxt-check trace.nvtxt": Note(status=1),
    }, files={"trace.nvtxt": "RangePop, 1\n"}),

    "man/nvtxt-ctl.1": Page({
        "nvtxt-ctl --json status": prints(r"^\d+$", needs=["jq"]),
        "nvtxt-ctl tail": Note(until="a kernel", meanwhile=(
            "until printed || [ \"$SECONDS\" -ge \"$SPAN\" ]; do nvtxt-send gpu.nvtxt; sleep 0.1; done")),
        "nvtxt-ctl health": Note(),
    }, before=DAEMON, programs={"mail": MAIL}, files={"gpu.nvtxt": (
        "TimeBase = Manual\nProcessId = 1844\nSetCategoryName, 1, \"gpu\"\n"
        "@Marker, Time, CategoryId, Message\nMarker, 1, 1, \"a kernel\"\n")}),

    "man/nvtxt-export.1": Page({
        "nvtxt-export --store nvtxt.sqlite": prints("\"GET /\"", needs=["jq"], before=(
            "nvtxt-import create -n shop.nvtxt -o nvtxt.sqlite")),
    }, before=DAEMON + "; nvtxt-send --range now -- true", files={"shop.nvtxt": SHOP + (
        "RangeStartEnd, 1795250000000000000, 1795250000000000900, \"GET /\"\n")}),

    "man/nvtxt-filter.7": Page({
        "nvtxt-report stats --nvtx-include step/": shell(r"(?s)\A(?!.*load).*:step$"),
        "nvtxt-report events": shell(r"(?s)\A(?!.*1,000).*\b410 .*:kernel"),
        "nvtxt-report stats \\": shell("libnet:layer 7$"),
    }, before=LOAD, files={"run.nvtxt": RUN, "layers.nvtxt": LAYERS}),

    "man/nvtxt-import.1": Page({
        "nvtxt-import create -n ticks.nvtxt": Note(),
        "nsys": skip("needs Nsight Systems; report.sqlite is made as it would make it"),
    }, before="python3 $TOP/tests/nsight/make-export.py 2026 report.sqlite",
        files={"a.nvtxt": TWO_TIMES % (515251367655304, 515252000000000),
               "b.nvtxt": TWO_TIMES % (515253000000000, 515256007484357),
               "ticks.nvtxt": "TimeBase = Manual\n@Marker, Time, Message\nMarker, 77, \"a\"\n",
               "service.nvtxt": TWO_TIMES % (1795242240001000000, 1795242240002000000)}),

    "man/nvtxt-inject.7": Page({
        "nvtxt-send --nvtx": prints(SOLVED),
        "sqlite3": prints(r"^all rounds\|\d+$"),
        "NVTXT_DOMAIN_INCLUDE": prints(SOLVED),
        "[Service]": skip("a unit for a service of the reader; the tests of e2e/test_inject.py kill such programs"),
    }, before=DAEMON + "; " + COMPILE),

    "man/nvtxt-metrics.7.in": Page({
        "nvtxt-report metrics --csv": shell(":load"),
        "nvtxt-report metrics --print": shell(":load"),
    }, before=LOAD, places={"STORE": "run.sqlite"}, files={"run.nvtxt": RUN, "layers.nvtxt": LAYERS}),

    "man/nvtxt-protocol.7": Page({
        "> #nvtxt-session": Note(run="python3 $TOP/tests/pages/talk.py {} $SOCKET"),
    }, before=DAEMON),

    "man/nvtxt-report.1.in": Page({
        "nvtxt-report stats --percentiles": prints(":kernel$"),
        "nvtxt-report stats -r nvtx_folded": Note(),
        "nvtxt-report stats -r step_tree": prints("there is no build"),
        "[Unit]\nDescription=Rules": prints("no issue", run=EXEC_START),
        "[Unit]\nDescription=A page": Note(run=EXEC_START, before="mkdir -p pages"),
        "[Timer]": skip("a timer of systemd"),
        "nvtxt-report html --follow": FOLLOWED,
        "nvtxt-report diff --save-baseline": Note(before="nvtxt-import create -n bench.nvtxt -o release.sqlite"),
        "nvtxt-import create": Note(),
        "nvtxt-report check --format github": prints("^::notice title=Idle gaps::"),
    }, before=STORED, files={"run.nvtxt": RUN, "bench.nvtxt": RUN}, programs={"flamegraph.pl": FLAMEGRAPH},
        places={"/var/lib/nvtxt-pages": "pages"}),

    "man/nvtxt-rule.5.in": Page({
        "Identifier: ": prints("^ *warning: Loading is slow: Loading takes 190 ns\\.$", status=2, run=(
            "mkdir -m 755 rules; cp {} rules/slow.rule; nvtxt-report check --section-folder=rules run.sqlite")),
    }, before="nvtxt-import create -n run.nvtxt -o run.sqlite", files={"run.nvtxt": RUN}),

    "man/nvtxt-send.1": Page({
        "nvtxt-send build.nvtxt": Note(status=1),
        "nvtxt-send --range": prints("^error: a saved backup$"),
        "nvtxt-send --steps": prints("^made two$"),
        "nvtxt-send --repeat": prints("gzip: 5 runs, after 1 for warm-up$"),
        "nvtxt-send --resume": Note(before="mkdir -m 700 spool"),
        "nvtxt-send --journal": skip(MACHINE_JOURNAL),
        "nvtxt-send -- make": prints("^made two$"),
        "nvtxt-send --nvtx": prints(SOLVED, before=COMPILE + "; cp solver train"),
    }, before=DAEMON, programs={"logger": LOGGER},
        places={"/var/spool/logger": "spool", "/var/log/syslog.1": "syslog.1"},
        files={"build.nvtxt": "@Marker, Time, ProcessId, Message\nMarker, 1, $Pid, \"a\"\nMarker, 2, 42, \"b\"\n",
               "data": "some data\n", "backup.sh": BACKUP, "Makefile": MAKEFILE, "syslog.1": "Nov 20 10:00:00 host kernel: booted\n",
               "access.log": "127.0.0.1 - - [21/Nov/2026:08:00:00 +0000] \"GET / HTTP/1.1\" 200 5\n"}),

    "man/nvtxt-ship.1": Page({
        "nvtxt-ship init": skip("needs a PostgreSQL of another host; e2e/test_ship_page.py runs these of doc/fleet.md"),
        "nvtxt-ship simulate": skip("takes five minutes; e2e/test_ship_simulate.py runs shorter ones"),
    }),

    "man/nvtxt-store.5": Page({
        "SELECT globalTid": prints(r"^1\|1\|step$", run="sqlite3 -readonly $STORE <{}"),
        "SELECT message, count": prints(r"^request\|1\|", run="sqlite3 -readonly $STORE <{}"),
        "SELECT text, unixepoch": prints(r"^open\|\d+$", run="sqlite3 -readonly $STORE <{}"),
        "SELECT * FROM NVTXT_TIMELINE ORDER": prints(r"\|now\|", run="sqlite3 -readonly $STORE <{}"),
        "SELECT * FROM NVTXT_TIMELINE WHERE": prints(r"\|now\|", run="sqlite3 -readonly $STORE <{}"),
        "SELECT e.*": prints(r"\|now\|", run="sqlite3 -readonly $STORE <{}"),
        "SELECT format": prints(r"^wrong.nvtxt:1:1: error: .*\[unknown-command\]$",
                                run="sqlite3 -readonly $STORE <{}"),
    }, before=STORED + "; nvtxt-send wrong.nvtxt; nvtxt-send --mark now; "
       "mkfifo lines; nvtxt-send <lines & exec 7>lines; printf '%s\\n' 'TimeBase = ClockRealtime' "
       "'@RangeStart, Time, RangeId, Message' \"RangeStart, $(date +%s%N), 1, 'open'\" >&7; "
       "until [ \"$(sqlite3 -readonly $STORE 'SELECT count(*) FROM NVTXT_OPEN_RANGES')\" = 1 ]; do sleep 0.1; done",
        files={"run.nvtxt": RUN, "wrong.nvtxt": "Wrong, 1\nTimeBase = Manual\n"}),

    "man/nvtxt-python.7": Page({
        "import logging": saved_as("job.py"),
        "NVTXT_NAME=job python3 job.py": Note(),
        "nvtxt-report": prints(":load "),
    }, before=DAEMON, places={"job python3": "job " + RECORDS}),

    "man/nvtxt.3": Page({
        "#include <nvtxt.h>": prints(r'^load\|.*17', run=(
            "cp {} job.c; cc $SANITIZE -I$TOP/lib job.c -o job -L$BUILD/lib/.libs -lnvtxt -Wl,-rpath,$BUILD/lib/.libs && "
            "NVTXT_EXIT_WAIT=60 ./job && sqlite3 -readonly $STORE 'SELECT text, jsonText FROM NVTX_EVENTS'")),
    }, before=DAEMON),

    "man/nvtxt.5.in": Page({
        "@RangeStartEnd": prints("0 errors|^$", run="nvtxt-check {}"),
        "{": SHELL,
        "SetFileDisplayName": prints("0 errors|^$", run="nvtxt-check {}"),
    }, before=DAEMON + "; mkdir home; touch home/a", places={"/home /backup": "home backup"}),

    "man/nvtxtd.1": Page({
        "nvtxtd &": prints("^started "),
        "[nvtxtd]": prints("^ok$", run="nvtxtd --check-config -c {}"),
    }, places={"/srv/traces": "$WORK"}),

    "man/nvtxtd.conf.5.in": Page({
        "[nvtxtd]": prints("^ok$", run="nvtxtd --check-config -c {}"),
    }),
}
