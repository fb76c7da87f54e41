# SPDX-License-Identifier: Apache-2.0
"""nvtxt-import collect: the NVTXT files of report folders into a store, and the two summaries."""
import os
import random
import signal
import subprocess

from client import Folder, Running, contains, run_client
from lib import DEADLINE, equal, program, run
from test_import import MARKER, query

SESSION = "NSIGHT_ANALYSIS_SESSION_OUTPUT_PATH"


def collect(*args, session=None, **more):
    env = {SESSION: session or ""}
    return run_client("nvtxt-import", "collect", *args, env=env, **more)


class Report(Folder):
    """A session folder with two capture folders, as a profiler leaves them."""

    def __enter__(self):
        super().__enter__()
        for name in ("project", "project/project_Capture_000", "project/project_Capture_001"):
            os.mkdir(self.name(name))
        self.session = self.name("project")
        self.first = self.name("project/project_Capture_000")
        self.second = self.name("project/project_Capture_001")
        self.write("project/all.nvtxt", "SetFileDisplayName, 'of the session'\n" + MARKER % (1, "s"))
        self.write("project/project_Capture_000/one.nvtxt", MARKER % (2, "one"))
        self.write("project/project_Capture_001/two.nvtxt", MARKER % (3, "two") + "nonsense\n")
        self.write("project/notes.txt", "no NVTXT")
        self.write("project/.hidden.nvtxt", MARKER % (9, "hidden"))
        self.out = self.name("out")
        return self

    def texts(self):
        return [text for text, in query(self.out, "SELECT text FROM NVTX_EVENTS "
                                                  "WHERE eventType = 34 ORDER BY start")]


def rows(text):
    """The words of the lines of the Report Summary."""
    lines = text.split("\n\n")[0].splitlines()
    equal(lines[0], "Report Summary")
    return [line.split() for line in lines[1:]]


def test_a_capture_folder_has_the_files_of_its_session():
    with Report() as report:
        status, out, said = collect(report.first, "-o", report.out)
        equal((status, said), (0, ""))
        equal(report.texts(), ["s", "one"])
        equal(rows(out), [
            ["file", "display", "name", "events", "warnings", "errors"],
            [report.first + "/one.nvtxt", "-", "1", "0", "0"],
            [report.session + "/all.nvtxt", "of", "the", "session", "1", "0", "0"]])
        equal(out.split("\n\n")[1:], ["Session Summary\nNo messages.", "Folders\n%s: 1 file\n%s: 1 file\n"
                                      % (report.first, report.session)])
        equal(query(report.out, "SELECT kind, name, displayName FROM NVTXT_SOURCES"),
              [("file", report.first + "/one.nvtxt", None),
               ("file", report.session + "/all.nvtxt", "of the session")])


def test_a_session_folder_has_the_files_of_its_captures():
    with Report() as report:
        status, out, said = collect(report.session, "--output", report.out)
        equal((status, said), (1, ""))
        equal(report.texts(), ["s", "one", "two"])
        contains(out, "Warning: 1 file has errors; see the Session Summary.\n")
        name = report.second + "/two.nvtxt"
        contains(out, "\nSession Summary\n%s:2:1: error: unknown command 'nonsense' "
                      "[unknown-command]\n%s: 1 error in 2 lines, 1 event\n" % (name, name))


def test_a_file_is_loaded_once_however_it_is_found():
    with Report() as report:
        os.link(report.session + "/all.nvtxt", report.first + "/same.nvtxt")
        os.symlink("../all.nvtxt", report.second + "/same.nvtxt")
        status, _, _ = collect(report.first, report.second, report.session + "//", report.first, "-o",
                               report.out)
        equal(status, 1)
        equal(report.texts(), ["s", "one", "two"])


def test_the_session_s_files_can_be_left_out():
    with Report() as report:
        status, out, said = collect("--no-session-files", report.first, "-o", report.out)
        equal((status, said), (0, ""))
        equal(report.texts(), ["one"])
        contains(out, "\nFolders\n%s: 1 file\n" % report.first)
        equal(report.session + "/all.nvtxt" in out, False)
        status, out, said = collect(report.session, "--no-session-files", "-q", "--force", "-o", report.out)
        equal((status, said), (1, ""))
        equal(report.texts(), ["one", "two"])
        equal(out.split("\n\n")[1], "Folders\n%s: 1 file\n%s: 1 file\n" % (report.first, report.second))
        for name in ("one", "two"):
            os.remove(report.name("project/project_Capture_00%d/%s.nvtxt" % (name == "two", name)))
        for folder in (report.first, report.session):
            status, out, said = collect(folder, "--no-session-files", "-o", report.name("none"))
            equal((status, out), (66, ""))
            contains(said, "%s: no *.nvtxt file of a capture is in it\n" % folder)
        equal(collect(report.name("no"), "--no-session-files", "-o", report.name("none"))[0], 66)


def test_a_folder_is_named_once_also_when_it_is_empty():
    with Report() as report:
        os.remove(report.session + "/all.nvtxt")
        _, out, _ = collect(report.first, report.session + "/", report.second, "-o", report.out)
        equal(out.split("\n\n")[2], "Folders\n%s: 1 file\n%s: 0 files\n%s: 1 file\n"
              % (report.first, report.session, report.session + "//project_Capture_001"))


def test_folders_are_found_from_within():
    for cwd, args in (("project/project_Capture_000", ["."]), ("project", ["project_Capture_000"]),
                      ("project", ["project_Capture_000/"]),
                      ("project/project_Capture_000", ["../project_Capture_000"])):
        with Report() as report:
            equal(collect(*args, "-o", report.out, cwd=report.name(cwd))[0], 0, args)
            equal(report.texts(), ["s", "one"], args)


def test_the_session_of_the_environment_is_the_default():
    with Report() as report:
        equal(collect("-o", report.out, session=report.session)[0], 1)
        equal(report.texts(), ["s", "one", "two"])
        equal(collect(report.first, "-o", report.out, "--force", session="/nonexistent")[0], 0)
        equal(collect("-o", report.out)[0], 64)


def test_what_cannot_be_read_does_not_keep_the_others_out():
    with Report() as report:
        os.mkdir(report.first + "/folder.nvtxt")
        os.mkfifo(report.first + "/pipe.nvtxt")
        os.symlink("nowhere", report.first + "/link.nvtxt")
        status, out, said = collect(report.first, report.name("none"), report.name("project/notes.txt"),
                                    "-o", report.out)
        equal(status, 1, said)
        equal(report.texts(), ["s", "one"])
        for part in ("%s/folder.nvtxt is no file: it is left out" % report.first,
                     "%s/pipe.nvtxt is no file: it is left out" % report.first,
                     "%s/link.nvtxt: No such file or directory" % report.first,
                     "%s: No such file or directory" % report.name("none"),
                     "%s is no folder: name files with" % report.name("project/notes.txt")):
            contains(said, "nvtxt-import: %s" % part)
        equal([row[-3:] for row in rows(out)[1:6]],
              [["cannot", "be", "read"]] * 2 + [["1", "0", "0"], ["cannot", "be", "read"],
                                                ["1", "0", "0"]])
        contains(out, "%s/pipe.nvtxt: error: it cannot be read\n" % report.first)
        contains(out, "Warning: 3 files have errors")


def test_nothing_is_made_of_nothing():
    with Folder() as folder:
        os.mkdir(folder.name("empty"))
        status, out, said = collect(folder.name("empty"), "-o", folder.name("out"))
        equal((status, out), (66, ""))
        contains(said, "%s: no *.nvtxt file is in it, nor in its session folder\n"
                 % folder.name("empty"))
        os.symlink("nowhere", folder.name("empty/a.nvtxt"))
        equal(collect(folder.name("empty"), "-o", folder.name("out"))[0], 66)
        equal(os.listdir(folder.path), ["empty"])


def test_quiet_prints_the_table_alone():
    with Report() as report:
        status, out, said = collect("-q", report.second, "-o", report.out)
        equal((status, said), (1, ""))
        equal(len(rows(out)), 4)
        equal("Session Summary\n" in out, False)


def test_bad_usage_is_status_64_and_a_sentence():
    for args in (["a"], ["-n", "a", "-o", "b"], ["a", "-i", "x", "-o", "b"],
                 ["a", "-o", "b", "--mode", "lin"]):
        status, out, said = collect(*args)
        equal((status, out), (64, ""), args)
        contains(said, "nvtxt-import: ")
    status, _, said = run_client("nvtxt-import", "create", "-n", "a", "-o", "b", "--no-session-files")
    equal((status, said), (64, "nvtxt-import: --no-session-files belongs to collect\n"
                               "Try 'nvtxt-import --help'.\n"))


def test_a_full_stdout_is_an_error():
    with Report() as report, open("/dev/full", "wb") as full:
        done = subprocess.run([program("client", "nvtxt-import"), "collect", report.first, "-o",
                               report.out], stdout=full, stderr=subprocess.PIPE)
        equal(done.returncode, 74)
        contains(done.stderr.decode(), "cannot write the summaries")


def test_a_kill_leaves_no_half_file():
    with Report() as report:
        for number in range(6):
            report.write("project/project_Capture_000/m%d.nvtxt" % number,
                         "".join(MARKER % (i, "%d-%d" % (number, i)) for i in range(9000)))
        dice = random.Random(3)
        finished = 0
        for number in range(100 if os.environ.get("NVTXT_TEST_LONG") else 6):
            out = report.name("out%d" % number)
            with Running("nvtxt-import", "collect", report.first, "-o", out) as client:
                try:
                    client.process.wait(dice.random() * 0.15 if number else DEADLINE)
                except subprocess.TimeoutExpired:
                    client.signal(dice.choice((signal.SIGKILL, signal.SIGINT)))
                client.wait()
            if os.path.exists(out):
                finished += 1
                equal(query(out, "SELECT count(*), count(DISTINCT text) FROM NVTX_EVENTS "
                                 "WHERE eventType = 34"), [(54002, 54002)])
        equal(finished > 0, True)


if __name__ == "__main__":
    run(globals())
