# SPDX-License-Identifier: Apache-2.0
"""doc/beside.md: what people type today, and ours: never more words, and each of ours runs."""
import os
import re
import subprocess

from client import ENV, Folder
from lib import DEADLINE, Daemon, equal, program, run

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(os.environ.get("top_srcdir") or os.path.join(HERE, "..", ".."))


def rows():
    """(theirs, ours) of each row of the table."""
    with open(os.path.join(TOP, "doc", "beside.md"), encoding="utf-8") as file:
        lines = [line for line in file if line.startswith("| `")]
    found = [re.match(r"\| `((?:[^`])+)` \| `((?:[^`])+)` \|", line) for line in lines]
    return [tuple(cell.replace("\\|", "|") for cell in row.groups()) for row in found]


def words(command):
    return [word for word in command.split() if re.search(r"[A-Za-z0-9]", word)]


def test_the_six_are_there_and_ours_have_no_more_words():
    found = rows()
    equal([theirs.split()[0] for theirs, _ in found],
          ["logger", "systemd-cat", "journalctl", "time", "nsys", "perf"])
    for theirs, ours in found:
        assert len(words(ours)) <= len(words(theirs)), (ours, theirs)


def test_each_of_ours_runs_and_is_in_the_store():
    with Folder() as folder, Daemon() as daemon:
        os.mkdir(folder.name("bin"))
        for name in ("nvtxt-send", "nvtxt-export"):
            os.symlink(os.path.abspath(program("client", name)), folder.name("bin/" + name))
        for name, text in (("backup.sh", "#!/bin/sh\necho error: a saved backup\n"),
                           ("solver", "#!/bin/sh\nexit 0\n"), ("bin/make", "#!/bin/sh\necho made\n"),
                           ("bin/flamegraph.pl", "#!/bin/sh\nexec cat\n")):
            os.chmod(folder.write(name, text), 0o755)
        env = {**ENV, "PATH": folder.name("bin") + ":" + os.environ["PATH"],
               "NVTXT_SOCKET": daemon.socket, "NVTXT_STORE": daemon.store}
        out = {}
        for _, ours in rows():
            done = subprocess.run(["sh", "-c", ours], cwd=folder.path, env=env, timeout=DEADLINE,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
            equal((done.returncode, done.stderr), (0, b""), ours)
            out[ours.split()[0], ours] = done.stdout.decode()
        printed = list(out.values())
        equal((printed[0], printed[1], printed[3]), ("", "error: a saved backup\n", "made\n"))
        equal(len(printed[2].splitlines()), 2, printed[2])  # a head, and the line
        assert "a saved backup" in printed[2], printed[2]
        stored = [text for text, in daemon.query("SELECT text FROM NVTX_EVENTS"
                                                 " WHERE eventType IN (34, 60)")]
        for text in ("deployed", "./backup.sh", "error: a saved backup", "make", "made", "./solver"):
            assert text in stored, stored
        files = set(os.listdir(folder.path)) - {"bin", "backup.sh", "solver"}
        equal(files, {"make.svg"})
        with open(folder.name("make.svg"), encoding="utf-8") as file:
            text = file.read()
        assert re.search(r";make \d+$", text, re.M), text


run(globals())
