# SPDX-License-Identifier: Apache-2.0
"""Runs what stands in a page, in order: all of it in one bash, in a clean folder with a home of its
own, and then compares what each command printed with what the page shows, or with the note.

Programs of the build are found by their names, and so is what stands for the programs of others.
Nothing meets a daemon of the machine: to root, whose daemon is the system's, an own /run and /var/lib
are shown."""
import contextlib
import os
import re
import shutil
import subprocess
import tempfile

import page_notes
import pages
from lib import DEADLINE, SANITIZERS, TOP_BUILD, Skip, program
from python_program import preloaded

TOP = os.path.abspath(pages.TOP)
BUILD = os.path.abspath(TOP_BUILD)
OURS = {"nvtxtd": "daemon", "nvtxt-check": "client", "nvtxt-ctl": "client", "nvtxt-export": "client",
        "nvtxt-import": "client", "nvtxt-report": "client", "nvtxt-send": "client", "nvtxt-ship": "ship"}

# Each step is a file N.sh; it runs in the shell of the page, so that folders, variables and jobs
# stay. A step whose last word is "&" is waited for until the daemon answers, and one with a file
# N.until until it has printed that; then it is ended.
BASH = r"""
cd "$WORK" || exit
status=0
await() { # await CONDITION...
    until "$@"; do
        [ "$SECONDS" -lt "$SPAN" ] || { echo "not within $SPAN s: $*" >>"$STEPS/$n.out" && finish; }
        sleep 0.1
    done
}
finish() {
    kill $(jobs -p) 2>/dev/null
    wait
    exit
}
answers() { nvtxt-ctl status >/dev/null 2>&1; }
printed() { grep -qEf "$STEPS/$n.until" "$STEPS/$n.out"; }
back() { return "$status"; }
for step in "$STEPS"/*.sh; do
    n=${step##*/} n=${n%.sh} command=$(cat "$step")
    [ ! -f "$STEPS/$n.before" ] || . "$STEPS/$n.before" >"$STEPS/$n.said" 2>&1 </dev/null ||
        { echo "what comes before it ended with status $?" && cat "$STEPS/$n.said"; } >"$STEPS/$n.out"
    input=/dev/null
    [ ! -f "$STEPS/$n.in" ] || input=$STEPS/$n.in
    if [ -f "$STEPS/$n.until" ]; then
        set -m
        eval "$command" >>"$STEPS/$n.out" 2>&1 <"$input" &
        set +m
        [ ! -f "$STEPS/$n.meanwhile" ] || . "$STEPS/$n.meanwhile"
        await printed
        kill -s TERM -- "-$!" && wait "$!"
        status=0
    else
        back
        eval "$command" >>"$STEPS/$n.out" 2>&1 <"$input"
        status=$?
        case $command in *'&') await answers ;; esac
    fi
    echo "$status" >"$STEPS/$n.status"
done
finish
"""


class Step:
    """`where`: the page and the line; `text`: the command, or the head of the block."""

    def __init__(self, where, text, note, shown="", given=None):
        self.where, self.text, self.note, self.shown, self.given = where, text, note, shown, given


def note_of(page, text, used):
    """The note whose words the text begins with, the longest one."""
    found = [key for key in page.notes if text.startswith(key)]
    if not found:
        return None
    key = max(found, key=len)
    used.add(key)
    return page.notes[key]


def steps_of(name, page):
    """What is to be done, and what is wrong with the notes."""
    steps, faults, used = [], [], set()
    for block in pages.blocks(name):
        where = "%s:%d" % (name, block.line)
        note = None if block.is_session else note_of(page, block.text, used) or page.languages.get(block.language)
        if block.is_session or block.language == "sh" or (note and note.shell):
            for command in pages.commands(block):
                own = note_of(page, command.text, used) or page.others
                steps.append(Step("%s:%d" % (name, command.line), command.text, own, command.shown))
        elif not note:
            faults.append("%s: what is the block that begins with %r? Say it in tests/pages/page_notes.py" %
                          (where, block.text.split("\n")[0]))
        else:
            steps.append(Step(where, block.text.split("\n")[0], note, given=block.text))
    faults += ["%s: nothing begins with %r, which tests/pages/page_notes.py has a note about" % (name, key)
               for key in set(page.notes) - used]
    return steps, faults


def lacks(step):
    """Why the step is not run; None: it is."""
    note, text = step.note, step.given or step.text
    if note.skip:
        return note.skip
    for name in OURS:
        if re.search(r"\b%s\b" % name, text + (note.run or "")) and not built(name):
            return name + " is not built"
    missing = [name for name in note.needs if not shutil.which(name)]
    missing += [name for name in note.modules if subprocess.run(
        ["python3", "-c", "import " + name], stderr=subprocess.DEVNULL, check=False).returncode != 0]
    return "%s is not installed" % missing[0] if missing else None


def built(name):
    return os.access(os.path.join(TOP_BUILD, OURS[name], name), os.X_OK)


class Place:
    """The clean folder, with all that a page expects; a context manager."""

    def __init__(self, page):
        self.page = page

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="nvtxtd-test-")
        for name in ("home", "work", "run", "bin", "steps", "nvtx"):
            os.mkdir(self.name(name), 0o700)
        self.inside = Inside.wanted()
        self.env = {**{key: value for key, value in os.environ.items() if not re.match(
            r"NVTXT_(?!TEST_)|XDG_|MAKE|MFLAGS|(RUNTIME|STATE)_DIRECTORY", key)},
            "HOME": self.name("home"), "WORK": self.name("work"), "STEPS": self.name("steps"),
            "XDG_RUNTIME_DIR": self.name("run"), "LC_ALL": "C.UTF-8", "SPAN": str(int(DEADLINE)), "TOP": TOP, "BUILD": BUILD,
            "PATH": self.name("bin") + ":" + os.environ["PATH"], "NVTXT_REPORT_DATA": TOP + "/report",
            "PYTHONPATH": TOP + "/report/python:" + TOP + "/lib/python", "NVTX": self.nvtx(),
            "SANITIZE": "-fsanitize=" + SANITIZERS if SANITIZERS else "",
            "PRELOAD": " ".join("%s=%s" % pair for pair in preloaded().items()),
            "SOCKET": "/run/nvtxtd/nvtxtd.sock" if self.inside else self.name("run/nvtxtd/nvtxtd.sock"),
            "STORE": "/var/lib/nvtxtd/nvtxt.sqlite" if self.inside
                     else self.name("home/.local/state/nvtxtd/nvtxt.sqlite")}
        for name in filter(built, OURS):
            os.symlink(os.path.abspath(program(OURS[name], name)), self.name("bin/" + name))
        for name, text in self.page.files.items():
            self.write("work/" + name, text)
        for name, text in self.page.programs.items():
            if not (name in self.page.real and shutil.which(name)):
                self.write("bin/" + name, text)
        return self

    def __exit__(self, kind, value, trace):
        shutil.rmtree(self.folder, ignore_errors=True)

    def name(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.name(name)), exist_ok=True)
        with open(self.name(name), "w", encoding="utf-8") as file:
            file.write(text)
        if text.startswith("#!"):
            os.chmod(self.name(name), 0o755)

    def nvtx(self):
        """What a compiler needs for NVTX: its headers, as configure found them, or what does the
        same for machines without them."""
        flags = os.environ.get("NVTX3_CFLAGS", "")
        probe = subprocess.run(["cc", *flags.split(), "-E", "-x", "c", "-", "-o", os.devnull],
                               input=b"#include <nvtx3/nvToolsExt.h>\n", stderr=subprocess.DEVNULL,
                               check=False)
        if probe.returncode == 0:
            return flags
        self.write("nvtx/nvtx3/nvToolsExt.h", '#include "tests/nvtx/stand_in.h"\n')
        return "-D_GNU_SOURCE -I%s -I%s %s/tests/nvtx/stand_in.c" % (self.name("nvtx"), TOP, TOP)

    def adapted(self, text):
        """A text of the page with the places of this folder; $NAME is of the environment."""
        for said, means in {**self.page.places, **PLACES}.items():
            text = text.replace(said, re.sub(r"\$(\w+)", lambda found: self.env[found[1]], means))
        return text


# What pages say, and where it is here.
PLACES = {
    "~/.local/state/nvtxtd/nvtxt.sqlite": "$STORE",
    "/var/lib/nvtxtd/nvtxt.sqlite": "$STORE",
    "/usr/share/nvtxtd/queries": "$TOP/doc/queries",
    "/usr/bin/": "",
}


class Inside:
    """Root gets folders of its own where the system's daemon has its sockets and its store."""
    MOUNTS = "mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /var/lib"

    @staticmethod
    def wanted():
        """The command before bash; empty: nothing is needed."""
        if os.geteuid() != 0:
            return []
        for path in (TOP, BUILD, tempfile.gettempdir()):
            if os.path.realpath(path).startswith(("/run/", "/var/lib/")):
                raise Skip("root's pages need a /run and a /var/lib of their own, and %s is there" % path)
        done = subprocess.run(["unshare", "--mount", "sh", "-c", Inside.MOUNTS], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise Skip("root's pages need a /run of their own: " + done.stdout.decode(errors="replace"))
        return ["unshare", "--mount", "sh", "-c", Inside.MOUNTS + ' && exec "$@"', "sh"]


def write_step(place, number, step):
    """The files of a step; see BASH."""
    stem, note = "steps/%03d" % number, step.note
    text, session = step.text, ""
    if step.given is not None:
        place.write(stem + ".given", place.adapted(step.given) + "\n")
        text = note.run.replace("{}", place.name(stem + ".given"))
    elif step.shown.startswith("sqlite> "):  # what is typed into the program
        session = re.sub("^sqlite> ", "", step.shown, flags=re.M)
        step.shown = ""
    place.write(stem + ".sh", place.adapted(text))
    for kind, more in (("before", note.before), ("meanwhile", note.meanwhile), ("until", note.until),
                       ("in", session)):
        if more:
            place.write("%s.%s" % (stem, kind), place.adapted(more) + "\n")


def one_line(text):
    return " ".join(text.split())


def pattern(page, step):
    """What the page shows as an expression: an ellipsis is anything, what differs from run to run is
    in the notes, and a long line may be broken. What runs on prints more later."""
    found = re.escape(one_line(step.shown)).replace("…", ".*?")
    for said, means in page.differs.items():
        found = found.replace(re.escape(said), means)
    return "^" + found + ("" if step.text.endswith("&") else "$")


def fault_of(page, place, number, step):
    """What is wrong with what a step printed and with its status; None: nothing."""
    stem = place.name("steps/%03d" % number)
    printed = ""
    with contextlib.suppress(FileNotFoundError), open(stem + ".out", encoding="utf-8", errors="replace") as file:
        printed = file.read()
    try:
        with open(stem + ".status", encoding="utf-8") as file:
            status = int(file.read())
    except FileNotFoundError:
        return "the page has not come here in time; so far it printed:\n" + printed
    if re.search(r"AddressSanitizer|LeakSanitizer|runtime error:", printed):
        return "a sanitizer's finding:\n" + printed
    if status != step.note.status:
        return "exit status %d, not %d; it printed:\n%s" % (status, step.note.status, printed)
    if step.shown and not re.search(pattern(page, step), one_line(printed)):
        return "the page shows:\n%sit printed:\n%s" % (step.shown, printed)
    wanted = step.note.prints or step.note.until
    if wanted and not re.search(wanted, printed, re.M):
        return "it does not print %r:\n%s" % (wanted, printed)
    if printed and not step.shown and not wanted:
        return "the page shows nothing of it, and no note says what it prints:\n" + printed
    return None


def run_page(name, page):
    """Runs a page; raises AssertionError with all that is wrong."""
    steps, faults = steps_of(name, page)
    if faults:
        raise AssertionError("\n".join(faults))
    with Place(page) as place:
        if page.before:
            place.write("steps/000.sh", place.adapted(page.before))
        chosen = []
        for number, step in enumerate(steps, 1):
            reason = lacks(step)
            if reason:
                print("# %s: not run: %s: %s" % (step.where, step.text.split("\n")[0], reason))
            else:
                chosen.append((number, step))
                write_step(place, number, step)
        if not chosen:
            if all(step.note.skip for step in steps):
                return
            raise Skip("nothing of it can be run here")
        try:
            subprocess.run([*place.inside, "bash", "-c", BASH, "page"], env=place.env, check=False,
                           stdin=subprocess.DEVNULL, timeout=DEADLINE + 30)
        except subprocess.TimeoutExpired:
            faults.append("%s: what it starts does not end" % name)
        first = [(0, Step(name, page.before, page_notes.prints(page_notes.ANY)))] if page.before else []
        for number, step in first + chosen:
            fault = fault_of(page, place, number, step)
            if fault:
                faults.append("%s: $ %s\n%s" % (step.where, step.text, fault))
    if faults:
        raise AssertionError("\n".join(faults))
