# SPDX-License-Identifier: Apache-2.0
"""What the test of the pages has to know beside them: for each page what must be there before, what
a block is for, what a command prints that the page does not show, and what is not run, and why.

A note belongs to the block or command that begins with its words; the longest words win. Whoever
adds a command to a page adds a note here if it prints something that the page does not show. The
words of a note that nothing begins with any more are a fault.
"""


class Note:
    """skip: why it is not run. needs, modules: programs, or modules of Python, without which it is not
    run. status: its exit status. prints: an expression that what it prints has; without one, and when
    the page shows nothing, it must print nothing. before: shell that runs before it. until: it does not
    end; it is ended when it has printed this, and `meanwhile` runs beside it.
    For a block: shell: its lines are commands; run: this is run, with {} for a file that has the text."""

    def __init__(self, skip=None, needs=(), modules=(), status=0, prints=None, before=None, until=None,
                 meanwhile=None, shell=False, run=None):
        self.skip, self.needs, self.modules, self.status, self.prints = skip, needs, modules, status, prints
        self.before, self.until, self.meanwhile, self.shell, self.run = before, until, meanwhile, shell, run


def skip(reason):
    return Note(skip=reason)


def prints(expression, **more):
    return Note(prints=expression, **more)


def saved_as(name):
    return Note(run="cp {} " + name)


def shell(expression=None, **more):
    return Note(shell=True, prints=expression, **more)


SHELL = shell()
ANY = "^"  # what is printed does not matter
FOLLOWED = Note(until="^there is a page$", meanwhile=(
    "await test -s now.html; echo there is a page >>\"$STEPS/$n.out\""))
LANGUAGES = {"sql": prints(ANY, run="sqlite3 -readonly -header $STORE <{}"), "python": Note(run="python3 {}"),
             "sh": SHELL}


class Page:
    """before: shell that runs first, such as a daemon. files, programs: what a reader has: in the
    folder, and on the path; `real` ones are only for machines without the program. places, differs:
    texts of the page and what stands for them here: before it runs; in what it shows."""

    def __init__(self, notes, before=None, files=None, programs=None, real=(), places=None, differs=None,
                 others=None):
        self.notes, self.before, self.real = notes, before, real
        self.files, self.programs = files or {}, programs or {}
        self.places, self.differs = places or {}, differs or {}
        self.languages, self.others = LANGUAGES, others or Note()


DAEMON = "nvtxtd & until nvtxt-ctl status >/dev/null 2>&1; do sleep 0.1; done"
SYSTEMD = "needs systemd, and changes the machine"
TWO_RUNS = """printf '%s\n' 'ProcessId = 7' '@RangeStartEnd, Start, End, ThreadId, Message' \
    'RangeStartEnd, 0, 9, 1, "step"' >run.nvtxt
for name in before after; do nvtxt-import create -n run.nvtxt -o $name.sqlite; done"""
GRAFANA = "needs Grafana, and changes the machine"
COMPILE = "cc $SANITIZE $NVTX $TOP/doc/examples/nvtx.c -o solver -ldl"
SOLVED = "^333833500$"  # what doc/examples/nvtx.c computes

# An interpreter that finds libnvtxt of the build; PRELOAD: what a sanitizer in it needs.
RECORDS = "env LD_LIBRARY_PATH=$BUILD/lib/.libs $PRELOAD python3"

BACKUP = "#!/bin/sh\necho error: a saved backup\n"
MAKEFILE = "all: one two\none two:\n\t@echo made $@\n"
LOGGER = "#!/bin/sh\nprintf '@Marker, Time, Message\\nTimeBase = Manual\\nMarker, 1, \"logged\"\\n'\n"
MACHINE_JOURNAL = "reads the journal of the machine; e2e/test_journal.py reads journals that it makes"
FLAMEGRAPH = "#!/bin/sh\ncat ${3:-}\n"
MAIL = "#!/bin/sh\ncat >mail\n"
TRAIN = "import subprocess\nsubprocess.run(['./solver'], check=True)\n"


PAGES = {
    "README.md": Page({
        "./my-service | nvtxt-send": skip("says what it is about; pack.sh below is run"),
        "scripts/test store/db client": skip("a test that runs tests would not end"),
        "scripts/demo ": skip("scripts/test --all runs the demo; a test that runs all tests would not end"),
        "apt install autoconf": skip("installs packages, and builds all: scripts/test does that"),
        "apt install dpkg-dev": skip("builds and installs packages: scripts/test-packages does that"),
        "systemd-sysusers": skip(SYSTEMD),
        "adduser YOU": skip("changes the users of the machine"),
        "systemctl ": skip(SYSTEMD),
        'echo "ProcessId = $$"': saved_as("pack.sh"),
        "sqlite3 -readonly -column -header": prints(r"^ *\d+ +\d+ +\d+ +/etc/\S+\.conf"),
        "nvtxt-send -- make -j8": prints("^made two$"),
        "nvtxt-send --range 'nightly backup'": prints("^error: a saved backup$"),
        "nvtxt-send --steps": prints("^made two$"),
        'sqlite3 -readonly "$(nvtxt-ctl': prints(r"Z\|\d*\|.*\|"),
        "nvtxt-report": prints(r"^ *:make -j8 .*(?s:.*)^ *:/etc/\S+\.conf "),
        "nvtxt-report stats --percentiles": prints(r" P99 \(ns\) (?s:.*) PushPop +:/etc/\S+\.conf$"),
        "nvtxt-report stats --nvtx-include": prints("^ *100.0 .* StartEnd .*:nightly backup$"),
        "nvtxt-report stats -r step_tree": prints(r" make -j8$"),
        "nvtxt-report html": Note(),
        "nvtxt-report html --follow": FOLLOWED,
        "nvtxt-report diff --format html": Note(before=TWO_RUNS),
        "import nvtxt_report": prints(r"^nightly backup \d+$", run="python3 {}",
                                      before="sqlite3 -readonly $STORE '.backup events.sqlite'"),
        "import logging": Note(run="{ cat {}; echo 'load(1)'; } | " + RECORDS + " -"),
        "nvtxt-ctl status": prints(r"^events .*\d"),
        "nvtxt-ctl where --store": prints(r"^/\S*/nvtxt\.sqlite$"),
        "nvtxt-ctl where": prints(r"^store .*nvtxt\.sqlite"),
        "nvtxt-send --journal": skip(MACHINE_JOURNAL),
        "nvtxt-send --nvtx -- python3 train.py": prints(SOLVED, before=COMPILE),
        'sqlite3 -readonly -column "$(nvtxt-ctl': prints(r"^python3 train.py +1 +\d"),
        "cc -I/usr/local/cuda/include": prints(SOLVED),
        "nvtxt-send --nvtx --print": prints("^export NVTX_INJECTION64_PATH='.*libnvtxt-inject.so'$"),
    }, files={"backup.sh": BACKUP, "Makefile": MAKEFILE, "train.py": TRAIN},
        places={"-I/usr/local/cuda/include doc": "$SANITIZE $NVTX $TOP/doc"},
        differs={"/run/user/1000/nvtxtd": r"\S*/nvtxtd", "/home/you/.local/state": r"\S*", "4711": r"\d+"}),

    "doc/beside.md": Page({
        "nvtxt-send -- ./backup.sh": prints("^error: a saved backup$"),
        "nvtxt-export --level=err": prints(r"^utcTime,.*\n.*,error: a saved backup,"),
        "nvtxt-send -- make": prints("^made two$"),
        "nvtxt-send --nvtx": prints(SOLVED, before=COMPILE),
        "nvtxt-send --steps": prints("^made two$"),
    }, before=DAEMON, files={"backup.sh": BACKUP, "Makefile": MAKEFILE}, programs={"flamegraph.pl": FLAMEGRAPH}),

    "doc/dashboards.md": Page({
        "usermod": skip("changes the users of the machine"),
        "grafana-cli": skip(GRAFANA),
        "systemctl": skip(GRAFANA),
        "sqlite3 -readonly -header -column": prints("^utcTime .*(?s:.*)a range"),
        "sqlite> .parameter": prints("a range", run="sed 's/^sqlite> //' {} | sqlite3 -readonly $STORE"),
        "datasette serve": skip("Datasette is in no package of Debian"),
        "databases:": skip("settings of Datasette, which is in no package of Debian"),
        "import sqlite3": Note(run="python3 {}", modules=["pandas"]),
        "INSTALL sqlite": skip("DuckDB gets its extension from the network"),
        "nvtxt-export": Note(before="cd $WORK"),
        "SELECT message, count(*)": skip("DuckDB is in no package of Debian"),
        "sqlite3 -readonly /var": prints(
            r"^42\|", before="cd $TOP/doc/queries; nvtxt-ctl rotate && "
            "cp $(ls ${STORE%.sqlite}-*-1.sqlite) $WORK/older.sqlite"),
        "-- One query over two segments": skip("the session before it runs this file"),
        "import glob": Note(modules=["pandas"], run="{ cat {}; echo \"print(ask_all('${STORE%/*}', 'SELECT 1'))\"; "
                                                    "} | python3 -", prints="1"),
    }, before=DAEMON + "\nprintf '%s\\n' 'TimeBase = ClockRealtime' 'ProcessId = 42' 'ThreadId = 42' "
       "'@RangePush, Time, Message' '@RangePop, Time' \"RangePush, $(date +%s%N), 'a range'\" "
       "\"RangePop, $(date +%s%N)\" | nvtxt-send",
        places={"/var/lib/nvtxtd/nvtxt-20261121T062400Z-1.sqlite": "$WORK/older.sqlite"}),

    "doc/nsight.md": Page({
        "SetFileDisplayName": saved_as("service.nvtxt"),
        "nvtxt-export --store": Note(before="cp service.nvtxt kept.nvtxt", prints=ANY),
        "nsys profile": skip("needs Nsight Systems; report.sqlite is made as it would make it"),
        "nvtxt-import info": Note(before="cp kept.nvtxt service.nvtxt"),
        "SELECT coalesce": saved_as("gpu-time.sql"),
        "sqlite3 -column both.sqlite": prints(r"(?s)^serve +9000000 +4 +7500000 *$.*^rank +300000 +2 +4000000"),
        "CREATE INDEX": Note(run="sqlite3 both.sqlite <{}"),
    }, before=DAEMON + "; python3 $TOP/tests/nsight/make-export.py 2026 report.sqlite && "
       "python3 $TOP/tests/nsight/make-export.py old old.sqlite"),

    "doc/readers.md": Page({}, before=DAEMON + "; nvtxt-send --range now -- true"),

    "doc/traces.md": Page({
        "npm install": skip("needs a network"),
        "receivers:": skip("needs a collector"),
        "while IFS=": skip("needs Jaeger or Tempo; e2e/test_export_otlp.py reads the requests"),
        "speedscope": skip("opens a browser; e2e/test_speedscope.py reads the file with speedscope"),
        "awk ": prints(r"^[1-9]\d* a range"),
    }, before=DAEMON + "\nprintf '%s\\n' '@RangePush, Time, Message' '@RangePop, Time' 'TimeBase = Manual' "
       "'RangePush, 5, \"a range\"' 'RangePop, 9' | nvtxt-send",
        programs={"flamegraph.pl": FLAMEGRAPH}),

    "doc/fleet.md": Page({
        "./autogen.sh": skip("builds everything"),
        **{words: skip("e2e/test_ship_page.py runs the ten commands, and looks at what they print")
           for words in ("F=$(mktemp", "export PGHOST", "pg_ctl -D", "nvtxt-ship init", "for h in a b",
                         "psql -v message", "kill $(jobs -p)")},
        **{words: skip("changes the users and databases of the machine; scripts/test-packages does it in a "
                       "root of its own")
           for words in ("runuser", "su -s /bin/sh", "mkdir -p /etc", "printf '[nvtxt-ship]")},
        "systemctl": skip(SYSTEMD),
        "[nvtxt-ship]": Note(run="nvtxt-ship --check-config -c {}"),
        "ShippedFile=": prints("^ok$", run="sed '1i [nvtxtd]' {} >shipped.conf; nvtxtd --check-config -c shipped.conf"),
        "psql nvtxt -v": skip("e2e/test_ship_page.py runs it after the ten commands"),
        "nvtxt-ship pull": skip("e2e/test_ship_page.py runs it after the ten commands"),
        "nvtxt-report report": skip("e2e/test_ship_page.py runs it after the ten commands"),
    }),
}
