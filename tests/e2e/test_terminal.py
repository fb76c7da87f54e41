# SPDX-License-Identifier: Apache-2.0
"""What somebody writes into a name or a message does not act on the terminal of who reads it, in any
program; in a pipe formats are exact."""
import os
import pty
import subprocess

import lib
from client import ENV, Folder, run_client, run_in_terminal
from lib import Daemon, Skip, equal, program, run

# A control of 8 bits, separators of lines, what turns the direction, what nobody sees.
HIDDEN = ("\u009b", "\u2028", "\u2029", "\u061c", "\u200e", "\u200f", "\u202a", "\u202e", "\u2066",
          "\u2069", "\u00ad", "\u200b", "\u200c", "\u200d", "\u2060", "\u180e", "\ufeff", "\ufff9",
          "\U000e0041", "\ufe0f")
NAME = "begin" + "x".join(HIDDEN) + "end"
GOOD = ('TimeBase = Manual\n@RangePush, Time, Message\n@RangePop, Time\n@Marker, Time, Message\n'
        'RangePush, 1, "%s"\nRangePop, 2\nMarker, 3, "%s"\n' % (NAME, NAME))
BAD = "%s\n" % NAME


def clean(shown, what):
    """Of the name, what can be seen; a long one may be cut."""
    seen = shown.replace("\r\n", "\n")
    assert "begin" in seen, (what, shown)
    for character in HIDDEN + ("\033",):
        assert character not in seen, (what, hex(ord(character)), shown)


def no_colour():
    return {"NO_COLOR": "1"}


def store_of(folder):
    path = folder.name("store.sqlite")
    source = folder.write("a.nvtxt", GOOD)
    equal(run_client("nvtxt-import", "create", "-n", source, "-o", path)[0], 0)
    return path


def test_the_formats_of_an_export():
    with Folder() as folder:
        store = store_of(folder)
        for kind in ("csv", "jsonl", "chrome", "nvtxt", "speedscope", "folded", "otlp"):
            args = ("nvtxt-export", "--store", store, "--format", kind)
            status, shown = run_in_terminal(*args, "-q", env=no_colour())
            equal(status, 0, shown)
            clean(shown, kind)
            piped = run_client(*args)[1]
            assert NAME in piped or kind == "folded" and "\u202e" in piped, (kind, piped)


def test_the_formats_of_a_report():
    if not os.path.exists(program("client", "nvtxt-report")):
        raise Skip("nvtxt-report was left out")
    with Folder() as folder:
        store = store_of(folder)
        for kind in ("text", "csv", "tsv", "json", "jsonl"):
            args = ("nvtxt-report", "events", store, "--format", kind)
            status, shown = run_in_terminal(*args, env=no_colour())
            equal(status, 0, shown)
            clean(shown, kind)
            piped = run_client(*args)[1]
            if kind == "text":
                clean(piped, kind)
            else:
                assert NAME in piped, (kind, piped)
        status, shown = run_in_terminal("nvtxt-report", "events", store, "--nvtx-include",
                                        NAME + "/,", env=no_colour())
        clean(shown, "a condition that is wrong")


def test_the_diagnostics_of_files_and_of_a_daemon():
    with Daemon() as daemon, Folder() as folder:
        path = folder.write(NAME + ".nvtxt", GOOD + BAD)
        for args in (("nvtxt-check", path), ("nvtxt-send", "--socket", daemon.socket, path)):
            status, shown = run_in_terminal(*args, env=no_colour())
            equal(status, 1, shown)
            clean(shown, args)
        for args in (("diagnostics",), ("--json", "diagnostics")):
            shown = run_in_terminal("nvtxt-ctl", "--socket", daemon.control_socket, *args)[1]
            assert "begin" in shown or "nvtxt" in shown, shown
            assert not any(character in shown for character in HIDDEN), shown


def test_what_a_daemon_is_asked_for():
    with Daemon() as daemon:
        with daemon.session(name=NAME) as session:
            session.send(GOOD)
            session.ack(7)
            for args in (["sources"], ["--json", "sources"], ["tail", "-n", "5", "--count", "2"],
                         ["--json", "tail", "-n", "5", "--count", "2"]):
                status, shown = run_in_terminal("nvtxt-ctl", "--socket", daemon.control_socket, *args)
                equal(status, 0, shown)
                clean(shown, args)
            piped = run_client("nvtxt-ctl", "--socket", daemon.control_socket, "--json", "sources")[1]
            assert NAME in piped, piped


def test_a_sentence_of_each_program():
    path = "/nonexistent/" + NAME
    for args in (("nvtxt-check", path), ("nvtxt-send", path),
                 ("nvtxt-export", "--store", path, "--format", "csv"),
                 ("nvtxt-import", "create", "-n", path, "-o", path),
                 ("nvtxt-ctl", "--socket", path, "status"),
                 ("nvtxt-report", "events", path)):
        if os.path.exists(program("client", args[0])):
            shown = run_in_terminal(*args, env=no_colour())[1]
            clean(shown, args)


def test_options_that_a_program_does_not_know():
    for name in ("nvtxt-send", "nvtxt-import", "nvtxt-check", "nvtxt-export", "nvtxt-ctl",
                 "nvtxt-report"):
        if os.path.exists(program("client", name)):
            for option, wanted in (("--" + NAME, "unrecognized option '--begin"),
                                   ("--help=" + NAME, "option '--help' doesn't allow an argument"),
                                   ("--he=" + NAME, "option '--help' doesn't allow an argument"),
                                   ("-\033", "invalid option -- ' '")):
                status, _, shown = run_client(name, option)
                equal(status, 64, (name, shown))
                assert shown.startswith("%s: %s" % (name, wanted)), (name, shown)
                clean(shown + "begin", name)


def test_the_log_of_the_daemon_and_of_the_library():
    with Folder() as folder:
        conf = folder.write("conf", "[nvtxtd]\n%s=1\n" % NAME)
        client = program("tests/nvtx", "lib_client")
        for args, env in (([program("daemon", "nvtxtd"), "--socket", "/nonexistent/" + NAME], {}),
                          ([program("daemon", "nvtxtd"), "--log-level", NAME], {}),
                          ([program("daemon", "nvtxtd"), "-c", conf, "--check-config"], {}),
                          ([client, "one"], {"NVTXT_RING": NAME}),
                          ([client, "one"], {"NVTXT_NAME": NAME, "NVTXT_LOG": "stderr",
                                             "NVTXT_SOCKET": "/nonexistent/" + NAME})):
            ours, theirs = pty.openpty()
            done = subprocess.run(args, env={**ENV, **env}, stdout=theirs, stderr=theirs,
                                  stdin=subprocess.DEVNULL, timeout=lib.DEADLINE, check=False)
            os.close(theirs)
            shown = os.read(ours, 65536).decode()
            os.close(ours)
            assert done.returncode >= 0, (args, shown)
            clean(shown, args)


if __name__ == "__main__":
    run(globals())
