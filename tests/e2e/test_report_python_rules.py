# SPDX-License-Identifier: Apache-2.0
"""Rules that are Python files, from outside: what a rule may do to itself, and what it cannot do to
the others. What rules may call is in test_report_rule_host.py."""
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from client import ENV, Folder
from lib import Skip, equal, program, run, wait_for
from report import f1, report
from schema import INSTALLED, Schema, parse

RULE = """\
import NvRules
import os, signal, sys, time
def get_identifier():
    return "%s"
def get_name():
    return "A name"
def get_description():
    return "A description"
def apply(handle):
    frontend = NvRules.get_context(handle).frontend()
%s
"""
GOOD = "frontend.message(NvRules.IFrontend.MsgType_OPTIMIZATION, 'a text', 'A title')"
DECLARED = ("Identifier: 'declared' DisplayName: 'N' "
            "Findings { Condition: '1' Type: Optimization Message: 'm' }")
PYTHON = "--python=" + sys.executable


def bubblewrap():
    got = subprocess.run(["bwrap", "--ro-bind", "/", "/", "--unshare-all", "true"],
                         stderr=subprocess.DEVNULL) if shutil.which("bwrap") else None
    return got is not None and got.returncode == 0


SANDBOXES = ["never"] + ["always"] * bubblewrap()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o644)
    return path


def folder_of(folder, **bodies):
    """A folder with a rule for each body of apply(), and a declarative one; its option."""
    path = folder.name("python-rules")
    shutil.rmtree(path, ignore_errors=True)
    os.mkdir(path, 0o755)
    write(os.path.join(path, "declared.rule"), DECLARED)
    for name, body in bodies.items():
        lines = "".join("    %s\n" % line for line in body.split("\n"))
        write(os.path.join(path, name + ".py"), RULE % (name, lines))
    return "--section-folder=" + path


def checked(status, *args, env=None):
    """The document of `check --format json`, and the rules in it by identifier."""
    got = report("check", "--format", "json", *args, env=env)
    equal(got[0], status, got)
    document = parse(got[1])
    equal(Schema(INSTALLED).faults(document), [])
    return document, {rule["identifier"]: rule for rule in document["rules"]}


def looks_good(rule):
    equal((rule["status"], rule["reason"], rule["kind"]), ("findings", None, "python"), rule)
    equal(rule["messages"],
          [{"id": 0, "type": "optimization", "title": "A title", "text": "a text"}])


ENDS = {
    "exits": ("os._exit(3)", "ended by itself with status 3"),
    "exits_with_zero": ("os._exit(0)", "ended by itself with status 0"),
    "kills_itself": ("os.kill(os.getpid(), signal.SIGKILL)", "killed by signal 9"),
    "raises": ("raise ValueError('a text')", "raised ValueError: a text (%s:11)"),
    "ends_the_program": ("sys.exit(3)", "raised SystemExit: 3 (%s:11)"),
    "eats_memory": ("kept = bytearray(1 << 30)", "raised MemoryError (%s:11)"),
    "says_garbage": ("os.write(3, b'{]\\n')\ntime.sleep(600)", "wrote no valid reply"),
    "says_too_much": ("os.write(3, b'x' * (2 << 20) + b'\\n')\ntime.sleep(600)",
                      "wrote no valid reply"),
    "has_no_line_feed": ("os.write(3, b'x' * (2 << 20))\ntime.sleep(600)", "wrote no valid reply"),
    "raises_nothing": ("os.write(3, b'{\"id\":1,\"method\":\"rule_raised\"}\\n')\n"
                       "os.read(3, 1000)\nos._exit(3)", "ended by itself with status 3"),
    "closes_the_socket": ("os.close(3)\ntime.sleep(600)", "wrote no valid reply"),
    "closes_and_goes_on": ("os.close(3)\nfrontend.message('x')", "wrote no valid reply"),
}


def test_what_goes_wrong_in_a_rule_is_its_reason():
    with Folder() as folder:
        store = f1(folder)
        bodies = {name: body for name, (body, _) in ENDS.items()}
        option = folder_of(folder, good=GOOD, zz_good=GOOD, **bodies)
        for sandbox in SANDBOXES:
            _, rules = checked(1, option, store, PYTHON, "--rule-timeout=600",
                               "--sandbox=" + sandbox)
            equal(sorted(rules), sorted([*ENDS, "good", "zz_good", "declared",
                                         *(name for name in rules
                                           if rules[name]["kind"] == "builtin")]))
            for name, (_, reason) in ENDS.items():
                reason = reason.replace("%s", rules[name]["file"])
                equal((rules[name]["status"], rules[name]["reason"], rules[name]["messages"]),
                      ("failed", reason, []), (sandbox, name, rules[name]))
            looks_good(rules["good"])
            looks_good(rules["zz_good"])
            equal(rules["declared"]["status"], "findings")


LATE = {
    "loops": "while True: pass",
    "sleeps": "time.sleep(600)",
    "prints": "while True: print('x' * 1000)",
    "never_reads": ("import json\n"
                    "line = json.dumps({'id': 1, 'method': 'action', 'params': {}}) + '\\n'\n"
                    "while True: os.write(3, line.encode())"),
    "stops_all_signals": ("for n in (signal.SIGTERM, signal.SIGINT, signal.SIGXCPU):\n"
                          "    signal.signal(n, signal.SIG_IGN)\n"
                          "time.sleep(600)"),
}


def test_a_rule_has_so_much_time():
    with Folder() as folder:
        store = f1(folder)
        for sandbox in SANDBOXES:
            names = LATE if sandbox == "never" else ["loops", "sleeps"]
            option = folder_of(folder, **{name: LATE[name] for name in names})
            _, rules = checked(1, option, store, PYTHON, "--rule-timeout=1.5",
                               "--sandbox=" + sandbox)
            for name in names:
                equal((rules[name]["status"], rules[name]["reason"]),
                      ("failed", "timed out after 1.5 s"), (sandbox, rules[name]))
                assert len(rules[name]["output"]) <= 65536
            equal(rules["declared"]["status"], "findings")


def test_a_rule_has_so_much_memory_for_what_it_says():
    with Folder() as folder:
        store = f1(folder)
        option = folder_of(folder, talks="while True: frontend.message('x' * 500000)")
        _, rules = checked(1, option, store, PYTHON, "--rule-timeout=600")
        equal(rules["talks"]["status"], "failed")
        equal(rules["talks"]["reason"],
              "raised ValueError: the rule says more than 67108864 bytes (%s:11)"
              % rules["talks"]["file"])
        equal(rules["talks"]["messages"], [])


def test_what_a_rule_prints_is_kept_up_to_a_limit():
    with Folder() as folder:
        store = f1(folder)
        option = folder_of(folder, prints="print('out')\nprint('err', file=sys.stderr)\n"
                                          "os.write(1, b'\\xff' * 3)\n" + GOOD,
                           much="sys.stdout.write('x' * 1000000)\n" + GOOD)
        _, rules = checked(0, option, store, PYTHON, "--rule-timeout=600")
        looks_good(rules["prints"])
        assert "out\n" in rules["prints"]["output"] and "err\n" in rules["prints"]["output"]
        equal(rules["much"]["output"], "x" * 65536)
        looks_good(rules["much"])


ALONE = """\
import json
def listed(path):
    try:
        return sorted(int(name) for name in os.listdir(path) if name.isdigit())
    except OSError:
        return []
print(json.dumps({"env": sorted(os.environ), "fds": listed("/proc/self/fd"),
                  "cwd": os.getcwd(), "pids": len(listed("/proc")),
                  "group": os.getpgrp() == os.getpid(), "tmp": os.listdir("/tmp"),
                  "devices": sorted(os.listdir("/sys/class/net"))
                  if os.path.isdir("/sys/class/net") else []}))
import socket
for path in ("/usr/nvtxt-was-here", "/dev/tty"):
    try:
        open(path, "w").close()
        print("wrote", path)
    except OSError:
        pass
os.path.exists("/usr/nvtxt-was-here") and os.unlink("/usr/nvtxt-was-here")
"""


def test_a_rule_sees_little():
    env = {"SECRET": "x", "PYTHONPATH": "/nonexistent", "LANG": "C", "HOME": "/nonexistent"}
    with Folder() as folder:
        store = f1(folder)
        for sandbox in SANDBOXES:
            _, rules = checked(0, folder_of(folder, alone=ALONE), store, PYTHON, "--rule=alone",
                               "--sandbox=" + sandbox, env=env)
            lines = rules["alone"]["output"].splitlines()
            seen = json.loads(lines[0])
            equal(seen["env"], ["HOME", "LANG", "PATH"])
            # The last one is that of the list itself.
            equal(seen["fds"], [0, 1, 2, 3, 4])
            equal(seen["cwd"], "/")
            assert "wrote /dev/tty" not in lines, lines
            if sandbox == "always":
                assert seen["pids"] < 10, seen
                equal(len(lines), 1)
                assert len(seen["tmp"]) <= 3, seen
            else:
                equal(seen["group"], True)


def test_a_rule_has_no_terminal():
    with Folder() as folder:
        store = f1(folder)
        body = "open('/dev/tty', 'w').write('on the terminal')"
        option = folder_of(folder, writes=body)
        for sandbox in SANDBOXES:
            words = [program("client", "nvtxt-report"), "check", option, store, PYTHON,
                     "--rule=writes", "--rule-timeout=600", "--sandbox=" + sandbox]
            child, ours = pty.fork()
            if child == 0:
                os.execve(words[0], words, {**os.environ, **ENV})
            said = b""
            with os.fdopen(ours, "rb", buffering=0) as terminal:
                while True:
                    try:
                        said += terminal.read(65536)
                    except OSError:  # nobody has it any more
                        break
            equal(os.WEXITSTATUS(os.waitpid(child, 0)[1]), 1)
            assert b"raised OSError" in said and b"on the terminal" not in said, said


def is_there(word):
    """Whether a process has that word in its command line."""
    for name in os.listdir("/proc"):
        try:
            with open("/proc/%s/cmdline" % name, "rb") as file:
                if name.isdigit() and word.encode() in file.read():
                    return True
        except OSError:
            pass
    return False


def test_what_a_rule_starts_ends_with_it():
    with Folder() as folder:
        store = f1(folder)
        word = "nvtxt-left-%d" % os.getpid()
        start = ("import subprocess\n"
                 "code = 'import time; time.sleep(600)'\n"
                 "subprocess.Popen([sys.executable, '-c', code, '%s'], "
                 "start_new_session=%s)\n" + GOOD)
        fork = "if os.fork() == 0:\n    time.sleep(600)\n" + GOOD
        for sandbox in SANDBOXES:
            option = folder_of(folder, starts=start % (word, False), leaves=start % (word, True),
                               forks=fork)
            _, rules = checked(0, option, store, PYTHON, "--rule-timeout=600",
                               "--sandbox=" + sandbox)
            for name in ("starts", "leaves", "forks"):
                looks_good(rules[name])
            wait_for(lambda: not is_there(word), "the processes of rules to end")


def test_children_of_the_caller_are_left_alone():
    with Folder() as folder:
        store = f1(folder)
        option = folder_of(folder, good=GOOD)
        # The shell becomes nvtxt-report, and keeps its child.
        script = "sleep 600 >/dev/null 2>&1 & echo $!; exec \"$@\" >/dev/null"
        got = subprocess.run(["sh", "-c", script, "sh", program("client", "nvtxt-report"), "check",
                              option, store, PYTHON, "--rule=good", "--rule-timeout=600"],
                             env={**os.environ, **ENV}, stdout=subprocess.PIPE)
        equal(got.returncode, 0)
        os.kill(int(got.stdout), signal.SIGKILL)  # it is there


def test_a_signal_ends_the_rule_too():
    with Folder() as folder:
        store = f1(folder)
        word = "nvtxt-waits-%d" % os.getpid()
        for number in (signal.SIGINT, signal.SIGTERM):
            for sandbox in SANDBOXES:
                option = folder_of(folder, **{word: "time.sleep(600)"})
                child = subprocess.Popen(
                    [program("client", "nvtxt-report"), "check", option, store, PYTHON,
                     "--rule=" + word, "--rule-timeout=600", "--sandbox=" + sandbox],
                    env={**os.environ, **ENV}, stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL)
                wait_for(lambda: is_there("rule_host.py\0003\0" + option.split("=")[1]),
                         "the rule to run")
                child.send_signal(number)
                equal(child.wait(600), 128 + number)
                wait_for(lambda: not is_there(word + ".py"), "the rule to end")


def test_a_rule_that_cannot_be_read_fails():
    with Folder() as folder:
        store = f1(folder)
        option = folder_of(folder, good=GOOD, broken="frontend.message('a' 1)")
        path = os.path.join(option.split("=")[1], "loops.py")
        write(path, "import time\ndef get_identifier():\n    return 'at_import'\n"
                    "print('so far', flush=True)\ntime.sleep(600)\n")
        for seconds in (10, 60):  # on a busy machine Python needs long to start in the sandbox
            _, rules = checked(1, option, store, PYTHON, "--rule-timeout=%d" % seconds, "--rule=at_import")
            if rules["at_import"]["output"]:
                break
        equal((rules["at_import"]["reason"], rules["at_import"]["output"]),
              ("timed out after %d s" % seconds, "so far\n"))
        got = report("list", "rules", "--format", "json", option, PYTHON, "--rule-timeout=1")
        equal(got[0], 1)
        late = {os.path.basename(each["file"]): each for each in json.loads(got[1])["messages"]}
        equal((late["loops.py"]["code"], late["loops.py"]["message"]), ("bad-rule", "timed out after 1 s"))
        equal((late["loops.py"]["line"], late["loops.py"]["column"]), (1, 1))
        os.remove(path)  # the others have all the time that they need
        _, rules = checked(1, option, store, PYTHON, "--rule-timeout=600", "--rule=good,broken")
        looks_good(rules["good"])
        equal(rules["broken"]["status"], "failed")
        assert rules["broken"]["reason"].startswith("raised SyntaxError: "), rules["broken"]
        assert rules["broken"]["reason"].endswith("(%s:11)" % rules["broken"]["file"])
        equal((rules["broken"]["name"], rules["broken"]["description"]),
              ("A name", "A description"))
        got = report("list", "rules", "--format", "json", option, PYTHON, "--rule-timeout=600")
        equal(got[0], 1)
        messages = {os.path.basename(each["file"]): each for each in
                    json.loads(got[1])["messages"]}
        equal((messages["broken.py"]["code"], messages["broken.py"]["line"]), ("bad-rule", 11))
        equal(Schema(INSTALLED).faults(parse(got[1])), [])


def test_a_file_is_a_rule_or_a_helper():
    with Folder() as folder:
        store = f1(folder)
        option = folder_of(folder)
        path = option.split("=")[1]
        write(os.path.join(path, "least.py"),
              "def get_identifier():\n    return 'Least'\ndef apply(handle):\n    pass\n")
        write(os.path.join(path, "helper.py"), "VALUE = 1\n")
        write(os.path.join(path, "named.py"), "def get_identifier():\n    return 'Named'\n")
        write(os.path.join(path, "blank.py"),
              "def get_identifier():\n    return 'a b'\ndef apply(handle):\n    pass\n")
        write(os.path.join(path, "nameless.py"), "def apply(handle):\n    pass\n")
        got = report("list", "rules", "--format", "json", option, PYTHON, "--rule-timeout=600")
        equal(got[0], 1)
        document = json.loads(got[1])
        items = {item["identifier"]: item for item in document["items"]
                 if item["kind"] == "python"}
        equal(list(items), ["Least"])
        equal((items["Least"]["name"], items["Least"]["description"], items["Least"]["section"]),
              ("Least", "", None))
        said = [(os.path.basename(each["file"]), each["severity"], each["code"])
                for each in document["messages"]]
        equal(said, [("blank.py", "warning", "bad-rule"), ("blank.py", "warning", "bad-rule"),
                     ("blank.py", "error", "bad-identifier"),
                     ("least.py", "warning", "bad-rule"), ("least.py", "warning", "bad-rule"),
                     ("named.py", "error", "bad-rule"), ("nameless.py", "error", "bad-rule")])
        _, rules = checked(1, option, store, PYTHON, "--rule=Least", "--rule-timeout=600")
        equal(rules["Least"]["status"], "no-issue")


def test_files_that_others_may_write_are_refused():
    with Folder() as folder:
        store = f1(folder)
        option = folder_of(folder, good=GOOD, bad=GOOD)
        path = option.split("=")[1]
        for target, mode, refused in ((os.path.join(path, "bad.py"), 0o664, 1),
                                      (os.path.join(path, "bad.py"), 0o646, 1),
                                      (path, 0o775, 2), (path, 0o757, 2)):
            os.chmod(target, mode)
            got = report("check", "--format", "json", option, store, PYTHON,
                         "--rule-timeout=600")
            os.chmod(target, mode & ~0o022)
            rules = {rule["identifier"] for rule in json.loads(got[1])["rules"]}
            equal((got[0], "declared" in rules, "bad" in rules, "good" in rules),
                  (1, True, False, refused == 1))
            equal(got[2].count("[unsafe-folder]"), refused, got[2])
            equal(got[2].count(".py:1:1: error: "), refused, got[2])
        # A link is as safe as the folder that it leads to.
        elsewhere = folder.name("elsewhere")
        os.mkdir(elsewhere)
        os.rename(os.path.join(path, "bad.py"), os.path.join(elsewhere, "bad.py"))
        os.symlink(os.path.join(elsewhere, "bad.py"), os.path.join(path, "bad.py"))
        for mode, refused in ((0o755, 0), (0o777, 1)):
            os.chmod(elsewhere, mode)
            got = report("check", option, store, PYTHON, "--rule-timeout=600")
            equal((got[0], got[2].count("[unsafe-folder]")), (refused, refused), got)
        os.chmod(elsewhere, 0o755)
        if os.geteuid() == 0:
            os.chown(os.path.join(path, "bad.py"), 65534, 65534)
            got = report("check", option, store, PYTHON, "--rule-timeout=600")
            equal((got[0], got[2].count("[unsafe-folder]")), (1, 1))


def test_folders_above_a_rule_are_safe_too():
    with Folder() as folder:
        store, above = f1(folder), folder.name("above")
        elsewhere = folder.name("elsewhere")
        os.mkdir(above)
        path = folder_of(folder, good=GOOD).split("=")[1]
        inner = os.path.join(above, "rules")
        os.rename(path, inner)
        os.mkdir(elsewhere)
        os.symlink(inner, os.path.join(elsewhere, "link"))
        os.mkdir(os.path.join(elsewhere, "links"))
        os.symlink(os.path.join(inner, "good.py"), os.path.join(elsewhere, "links", "good.py"))
        for mode, refused in ((0o755, 0), (0o775, 1), (0o757, 1), (0o1777, 0)):
            os.chmod(above, mode)
            for given in (inner, os.path.join(elsewhere, "link"),
                          os.path.join(elsewhere, "links")):
                got = report("check", "--section-folder=" + given, store, PYTHON,
                             "--rule-timeout=600")
                equal((got[0], got[2].count("others may write to %s, a folder above it "
                                            "[unsafe-folder]" % os.path.realpath(above))),
                      (refused, refused), (oct(mode), given, got))
        os.chmod(above, 0o755)


def test_a_rule_is_what_was_looked_at():
    """What is changed after the files were found is seen, for each is looked at once it is open."""
    with Folder() as folder, tempfile.TemporaryDirectory() as flags:
        store = f1(folder)
        os.chmod(flags, 0o777) # the user nobody, if root starts the rule
        option = folder_of(folder, b=GOOD)
        path = option.split("=")[1]
        write(os.path.join(path, "a.py"),
              "import os, time\nopen(%r, 'w').close()\nwhile not os.path.exists(%r):\n"
              "    time.sleep(0.01)\n" % (os.path.join(flags, "runs"), os.path.join(flags, "go")))
        check = subprocess.Popen([program("client", "nvtxt-report"), "check", option, store,
                                  PYTHON, "--sandbox=never", "--rule-timeout=600"], env=ENV,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        wait_for(lambda: os.path.exists(os.path.join(flags, "runs")), "the first rule")
        os.chmod(os.path.join(path, "b.py"), 0o646)
        open(os.path.join(flags, "go"), "w").close()
        errors = check.communicate(timeout=600)[1]
        equal((check.returncode, errors.count("[unsafe-folder]")), (1, 1), errors)


def test_without_python_nothing_is_run():
    with Folder() as folder:
        store = f1(folder)
        option = folder_of(folder, good=GOOD)
        empty = folder.name("empty")
        os.mkdir(empty)
        _, rules = checked(0, option, store, env={"PATH": empty})
        equal((rules["good"]["status"], rules["good"]["reason"]),
              ("not-run", "python3 not found"))
        equal((rules["good"]["name"], rules["declared"]["status"]), ("A name", "findings"))
        got = report("check", option, store, "--rule=good", env={"PATH": empty})
        equal(got[:2], (69, ""), got)
        for command in ("report", "html"):
            got = report(command, "-o", folder.name("out"), option, store, "--rule=good",
                         "--python=/nonexistent/python")
            equal(got[:2], (69, ""), got)


def test_a_sandbox_that_is_wanted_has_to_be_there():
    with Folder() as folder:
        store = f1(folder)
        option = folder_of(folder, good=GOOD)
        empty = folder.name("empty")
        os.mkdir(empty)
        got = report("check", option, store, PYTHON, "--sandbox=always", env={"PATH": empty})
        equal(got[:2], (69, ""), got)
        write(os.path.join(empty, "bwrap"), "#!/bin/sh\nexit 1\n")
        os.chmod(os.path.join(empty, "bwrap"), 0o755)
        got = report("check", option, store, PYTHON, "--sandbox=always", env={"PATH": empty})
        equal(got[:2], (69, ""), got)
        _, rules = checked(0, option, store, PYTHON, "--rule-timeout=600", env={"PATH": empty})
        looks_good(rules["good"])
        equal(report("check", option, store, "--sandbox=maybe")[0], 64)
        equal(report("check", option, store, "--rule-timeout=0")[0], 64)


def test_a_sandbox_shows_what_is_needed_of_tmp():
    if not bubblewrap():
        raise Skip("no bubblewrap")
    with Folder() as folder:
        store = f1(folder)
        option = folder_of(folder, good="import helper\nhelper.say(frontend)")
        write(os.path.join(option.split("=")[1], "helper.py"),
              "import NvRules\ndef say(frontend):\n    " + GOOD + "\n")
        data = folder.name("data")
        shutil.copytree(os.path.join(os.environ["NVTXT_REPORT_DATA"], "python"),
                        os.path.join(data, "python"))
        made = subprocess.run([sys.executable, "-m", "venv", "--without-pip",
                               folder.name("venv")], stderr=subprocess.DEVNULL)
        if made.returncode != 0:
            raise Skip("no venv")
        _, rules = checked(0, option, store, "--python=" + folder.name("venv") + "/bin/python3",
                           "--rule-timeout=600", "--sandbox=always",
                           env={"NVTXT_REPORT_DATA": os.path.relpath(data)})
        looks_good(rules["good"])
        equal(sorted(name for name in rules if rules[name]["kind"] == "python"), ["good"])


PARENT = """\
def get_identifier():
    return "%s"
def get_name():
    return "N"
def get_description():
    return ""
def get_parent_rules_identifiers():
    return %r
def apply(handle):
    pass
"""


def test_parents_come_first_and_cycles_fail():
    with Folder() as folder:
        store = f1(folder)
        option = folder_of(folder)
        path = option.split("=")[1]
        for name, parents in (("A", ["B"]), ("B", ["C"]), ("C", []), ("X", ["Y"]), ("Y", ["X"])):
            write(os.path.join(path, name + ".py"), PARENT % (name, parents))
        document, rules = checked(1, option, store, PYTHON, "--rule-timeout=600",
                                  "--rule=regex:^[ABCXY]$")
        names = [rule["identifier"] for rule in document["rules"]]
        equal(names[:3], ["C", "B", "A"])
        equal((rules["X"]["status"], rules["Y"]["status"]), ("failed", "failed"))
        assert "X -> Y -> X" in rules["X"]["reason"], rules["X"]


def test_rules_are_in_every_format_and_scope():
    with Folder() as folder:
        store = f1(folder)
        option = folder_of(folder, good=GOOD)
        for args in (("report",), ("report", "--format=markdown"), ("check",),
                     ("check", "--format=markdown"), ("html", "-o", "-")):
            got = report(*args, option, store, PYTHON, "--rule=good", "--rule-timeout=600",
                         "--section-folder=builtin")
            assert "A title" in got[1] and "a text" in got[1], (args, got)
        got = report("report", "--format=json", "--scope=thread", option, store, PYTHON,
                     "--rule=good", "--rule-timeout=600")
        scopes = json.loads(got[1])["scopes"]
        assert len(scopes) == 2
        for scope in scopes:
            looks_good(scope["rules"][0])
        got = report("check", option, store, PYTHON, "--rule=good", "--apply-rules=no",
                     "--format=json")
        equal(json.loads(got[1])["rules"][0]["status"], "not-run")


CHARTS = """\
frontend.load_chart_from_file('bars.chart')
frontend.message(NvRules.IFrontend.MsgType_OK, 'the newest')
frontend.load_chart_from_file('bins.chart')
frontend.load_chart_from_file('top.chart')
for name in ('none.chart', 'bad.chart', '../bars.chart', ''):
    try:
        frontend.load_chart_from_file(name)
    except (OSError, ValueError) as error:
        print(type(error).__name__)
action = NvRules.get_context(handle)[0][0]
print(action.name(), len(action.rule_results_as_dicts()))
print(NvRules.get_context(handle)[0].actions_by_nvtx(['step/'], []))"""
PER_NAME = "range__time_duration_per_name.sum"


def test_charts_are_tables_of_messages():
    with Folder() as folder:
        store = f1(folder)
        option = folder_of(folder, charts=CHARTS, a_good=GOOD)
        path = option.split("=")[1]
        write(os.path.join(path, "bars.chart"),
              "BarChart { Label: 'Bars' Metrics { Name: '%s' Label: 'Duration' } }" % PER_NAME)
        write(os.path.join(path, "bins.chart"),
              "HistogramChart { Label: 'Bins' HistogramAxis { BinCount: 3 } "
              "Metric { Name: 'range__time_duration_per_event.sum' } }")
        write(os.path.join(path, "top.chart"),
              "TopTable { Label: 'Top' Rows: 2 Metrics { Name: '%s' Label: 'T' } "
              "Metrics { Name: 'range__count_per_name.sum' Label: 'N' } }" % PER_NAME)
        write(os.path.join(path, "bad.chart"), "TopTable {")
        _, rules = checked(0, option, store, PYTHON, "--rule=charts,a_good",
                           "--rule-timeout=600")
        rule = rules["charts"]
        equal(rule["status"], "no-issue", rule)
        equal([(message["type"], message["text"]) for message in rule["messages"]],
              [("none", "Bars"), ("ok", "the newest")])
        equal([(table["message"], table["title"]) for table in rule["tables"]],
              [(0, "Bars"), (1, "Bins"), (1, "Top")])
        equal(rule["tables"][0]["rows"][:2],
              [["Duration", None, 700, "ns"], ["Duration", ":compute", 170, "ns"]])
        equal([row[2] for row in rule["tables"][1]["rows"]], [7, 1, 4])
        equal((rule["tables"][2]["header"], rule["tables"][2]["rows"]),
              (["Id", "T", "N"], [[":step", 240, 2], [":compute", 170, 2]]))
        equal(rule["output"].split("\n")[:6],
              ["FileNotFoundError", "ValueError", "FileNotFoundError", "FileNotFoundError",
               "capture 1", "()"])


if __name__ == "__main__":
    run(globals())
