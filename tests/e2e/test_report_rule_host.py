# SPDX-License-Identifier: Apache-2.0
"""rule_host.py and nvtxt_rules.py: what a rule in Python can call, against nvtxt-report played here."""
import ast
import glob
import inspect
import json
import os
import py_compile
import socket
import subprocess
import sys

from client import Folder, contains
from lib import DEADLINE, equal, run

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
MODULES = os.path.join(TOP, "report", "python")
HOST = os.path.join(MODULES, "rule_host.py")
sys.dont_write_bytecode = True
sys.path.insert(0, MODULES)

import nvtxt_rules  # noqa: E402  after the path of the tree

LOST = 76  # the exit status when the program is gone

HEAD = """\
import NvRules
def get_identifier(): return "R"
def get_name(): return "Rule"
def get_description(): return "What it says."
"""
APPLY = HEAD + """\
def apply(handle):
    ctx = NvRules.get_context(handle)
    action = ctx.range_by_idx(0).action_by_idx(0)
    fe = ctx.frontend()
"""


class Refused(Exception):
    """A reply with an error: code, message."""


def metric(name, value=None, na=None, kind="u64", instances=None):
    return {"name": name, "label": None, "unit": "ns", "type": kind, "value": value, "na": na,
            "instances": instances, "notes": [], "description": "D", "metricType": "counter",
            "subtype": None, "rollup": "sum"}


class Program:
    """The part of nvtxt-report: replies, and the requests that came."""

    METRICS = {"a.sum": metric("a.sum", 7), "gone": metric("gone", None, "no ranges"),
               "per.sum": metric("per.sum", 3, instances=[{"id": "x", "value": 1},
                                                          {"id": "y", "value": 2}])}

    def __init__(self, task, **replies):
        self.replies = {"rule_begin": {"task": task, "file": "F", "version": "9.8",
                                       "identifier": None},
                        "rule_evaluated": {"go": True}, "require_metrics": {"na": []},
                        "require_rules": {"missing": []},
                        "hello": {"protocol": 1, "version": "9.8", "path": "s.sqlite",
                                  "kind": "nvtxt", "ranges": 2}, **replies}
        self.calls = []
        self.messages = 0

    def reply(self, method, params):
        self.calls.append((method, params))
        if method in self.replies:
            reply = self.replies[method]
            if isinstance(reply, Exception):
                raise reply
            return reply(params) if callable(reply) else reply
        return getattr(self, "do_" + method, lambda _: {})(params)

    def do_message(self, _):
        self.messages += 1
        return {"id": self.messages - 1}

    def do_action(self, params):
        equal(params, {"range": None, "action": None})
        return {"name": "capture", "metricNames": list(self.METRICS)}

    def do_metrics(self, params):
        return {"metrics": [self.METRICS.get(name, metric(name, None, "no such metric"))
                            for name in params["names"]]}

    def answer(self, line):
        request = json.loads(line)
        try:
            return {"id": request["id"], "result": self.reply(request["method"],
                                                              request["params"])}
        except Refused as refused:
            return {"id": request["id"], "error": {"code": refused.args[0],
                                                   "message": refused.args[1]}}

    def serve(self, link):
        with link, link.makefile("rwb") as lines:
            for line in lines:
                lines.write(json.dumps(self.answer(line)).encode() + b"\n")
                lines.flush()

    def run(self, file):
        """Exit status, standard output, standard error of the process."""
        ours, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen([sys.executable, "-I", HOST, str(theirs.fileno()), file],
                                       pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       env={"PATH": os.environ["PATH"]})
        self.serve(ours)
        out, err = process.communicate(timeout=DEADLINE)
        return process.returncode, out.decode(), err.decode()

    def of(self, method):
        """The parameters of all requests of a method."""
        return [params for name, params in self.calls if name == method]


def described(text, folder):
    program = Program("describe")
    equal(program.run(folder.write("rule.py", text)), (0, "", ""))
    return program.of("rule_describe")[0]


def applied(body, head=APPLY, **replies):
    """Applies a rule with this body; nothing may go wrong."""
    with Folder() as folder:
        program = Program("apply", **replies)
        text = head + "".join("    %s\n" % line for line in body.splitlines())
        status = program.run(folder.write("rule.py", text))
        equal((status, program.of("rule_raised")), ((0, "", ""), []))
        equal(program.calls[-1][0], "rule_done")
        return program


def raised(body, head=APPLY, **replies):
    """Applies a rule with this body; what it raised: type and text."""
    with Folder() as folder:
        program = Program("apply", **replies)
        text = head + "".join("    %s\n" % line for line in body.splitlines())
        file = folder.write("rule.py", text)
        equal(program.run(file)[0], 1)
        said = program.of("rule_raised")[0]
        equal(said["file"], file)
        equal(program.of("rule_done"), [])
        return said["type"], said["text"], said["line"] - head.count("\n")


# ---- Tasks --------------------------------------------------------------------------------------

def test_a_rule_says_what_it_is():
    with Folder() as folder:
        equal(described(HEAD + "def apply(handle): pass\n", folder),
              {"helper": False, "identifier": "R", "name": "Rule", "description": "What it says.",
               "section": None, "parents": [], "missing": []})
        full = described(HEAD + "def apply(handle): pass\n"
                         "def get_section_identifier(): return 'S'\n"
                         "def get_parent_rules_identifiers(): return ('P', 'Q')\n", folder)
        equal((full["section"], full["parents"]), ("S", ["P", "Q"]))
        none = described(HEAD + "def apply(handle): pass\n"
                         "def get_section_identifier(): return ''\n", folder)
        equal(none["section"], None)


def test_missing_functions_are_told():
    with Folder() as folder:
        guide = described("def get_identifier(): return 'G'\ndef apply(handle): pass\n", folder)
        equal((guide["name"], guide["description"], guide["missing"]),
              ("G", "", ["get_name", "get_description"]))
        equal(described("def get_name(): return 'N'\n", folder)["helper"], True)
        alone = described("def apply(handle): pass\n", folder)
        equal((alone["helper"], alone["identifier"], alone["missing"]),
              (False, None, ["get_identifier", "get_name", "get_description"]))
        other = described(HEAD, folder)
        equal((other["identifier"], other["missing"]), ("R", ["apply"]))


def test_what_a_rule_says_of_itself_is_a_text():
    with Folder() as folder:
        for text, line, said in (
                (HEAD.replace('"R"', "7"), 2, "get_identifier() returns int, not a text"),
                (HEAD + "def get_parent_rules_identifiers(): return 'P'\n", 5,
                 "get_parent_rules_identifiers() returns str, not a list of texts"),
                (HEAD + "def get_parent_rules_identifiers(): return [1]\n", 5,
                 "get_parent_rules_identifiers() returns list, not a list of texts")):
            program = Program("describe")
            file = folder.write("rule.py", text + "def apply(handle): pass\n")
            equal(program.run(file)[0], 1)
            equal(program.of("rule_raised"),
                  [{"type": "TypeError", "text": said, "file": file, "line": line}])
        program = Program("describe")
        file = folder.write("rule.py", HEAD.replace('"Rule"', r'"a\0b"') + "def apply(h): pass\n")
        equal(program.run(file)[0], 1)
        equal(program.of("rule_raised"),
              [{"type": "ValueError", "text": "what get_name() returns has a NUL character",
                "file": file, "line": 3}])


def test_nothing_is_applied_that_is_not_applicable():
    with Folder() as folder:
        text = HEAD + "def evaluate(handle): NvRules.require_metrics(handle, ('gone',))\n" \
            "def apply(handle): raise ValueError\n"
        program = Program("apply", rule_evaluated={"go": False})
        equal(program.run(folder.write("rule.py", text)), (0, "", ""))
        equal([name for name, _ in program.calls],
              ["rule_begin", "require_metrics", "rule_evaluated"])
        equal(program.of("require_metrics"), [{"names": ["gone"]}])


def test_the_rules_of_the_guide_say_their_message():
    guide = """\
import NvRules

def get_identifier():
  return "GpuArch"

def apply(handle):
  ctx = NvRules.get_context(handle)
  action = ctx.range_by_idx(0).action_by_idx(0)
  ccMajor = action.metric_by_name("a.sum").as_uint64()
  ctx.frontend().message("Running on major compute capability " + str(ccMajor))
"""
    program = applied("", guide)
    equal(program.of("message"), [{"type": "none", "title": None,
                                   "text": "Running on major compute capability 7"}])


# ---- What goes wrong ----------------------------------------------------------------------------

def test_exceptions_have_the_place_in_the_rule():
    equal(raised("x = 1\nraise ValueError('no: %d' % x)"), ("ValueError", "no: 1", 2))
    equal(raised("import json\n\njson.loads('{')")[0::2], ("JSONDecodeError", 3))
    equal(raised("import sys\nsys.exit(3)"), ("SystemExit", "3", 2))
    equal(raised("raise KeyboardInterrupt"), ("KeyboardInterrupt", "", 1))
    text = raised("raise OSError('a' + 'é\\0\\ud800' * 4096)")[1]
    equal((text[:5], len(text.encode()) in range(4094, 4097)), ("aé\\0?", True))
    equal(raised("class E(Exception):\n    def __str__(self): return 1 / 0\nraise E")[:2],
          ("E", ""))
    equal(raised("def f(n): return f(n + 1)\nf(0)")[0], "RecursionError")
    equal(raised("", HEAD + "def apply(): pass\n")[0::2], ("TypeError", 0))


def test_exceptions_in_helpers_have_their_place():
    with Folder() as folder:
        helper = folder.write("helper.py", "def fail():\n    raise RuntimeError('in helper')\n")
        program = Program("apply")
        equal(program.run(folder.write("rule.py", "import helper\n" + HEAD +
                                       "def apply(handle): helper.fail()\n"))[0], 1)
        equal(program.of("rule_raised"), [{"type": "RuntimeError", "text": "in helper",
                                           "file": helper, "line": 2}])
        folder.write("helper.py", "x = (\n")
        program = Program("apply")
        program.run(os.path.join(folder.path, "rule.py"))
        said = program.of("rule_raised")[0]
        equal((said["type"], said["file"], said["line"]), ("SyntaxError", helper, 1))
        equal(os.path.exists(os.path.join(folder.path, "__pycache__")), False)


def test_modules_that_others_may_write_are_not_imported():
    with Folder() as folder:
        helper = folder.write("helper.py", "import sub.deep\n")
        os.mkdir(os.path.join(folder.path, "sub"), mode=0o755)
        folder.write("sub/__init__.py", "")
        deep = folder.write("sub/deep.py", "X = 1\n")
        file = folder.write("rule.py", HEAD + "def apply(handle):\n    import helper, sub.deep\n"
                            "    import json.tool, email.message\n")
        for path, mode in ((helper, 0o664), (deep, 0o646), (os.path.dirname(deep), 0o777), (None, 0)):
            before = os.stat(path).st_mode if path else 0
            if path:
                os.chmod(path, mode)
            program = Program("apply")
            program.run(file)
            equal([(one["type"], one["text"]) for one in program.of("rule_raised")],
                  [("ImportError", "others may write to " + path)] if path else [])
            if path:
                os.chmod(path, before)


def test_nothing_is_taken_from_caches_in_the_folder():
    with Folder() as folder:
        helper = folder.write("helper.py", "raise ValueError('cached')\n")
        py_compile.compile(helper, doraise=True,
                           invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
        folder.write("helper.py", "X = 1\n")
        program = Program("apply")
        equal(program.run(folder.write("rule.py", "import helper\n" + HEAD +
                                       "def apply(handle): print(helper.X)\n")), (0, "1\n", ""))


def test_syntax_errors_have_their_place():
    with Folder() as folder:
        for text, line in ((HEAD + "def apply(handle)\n", 5), ("x = '\xff'\n", 1), ("x\0y", 1)):
            program = Program("describe")
            file = os.path.join(folder.path, "rule.py")
            with open(file, "wb") as out:
                out.write(text.encode("latin-1"))
            equal(program.run(file)[0], 1)
            said = program.of("rule_raised")[0]
            equal((said["type"] in ("SyntaxError", "ValueError"), said["file"], said["line"]),
                  (True, file, line))
            equal(file in said["text"], False)


def test_short_memory_is_told():
    body = "import resource\nresource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))\n"
    equal(raised(body + "x = b'x' * (1 << 30)"), ("MemoryError", "", 3))
    equal(raised(body + "x = []\nwhile True: x.append([0])")[0], "MemoryError")


def test_a_rule_may_end_its_process():
    with Folder() as folder:
        program = Program("apply")
        file = folder.write("rule.py", APPLY + "    print('so far')\n    import os; os._exit(3)\n")
        equal(program.run(file), (3, "so far\n", ""))
        program = Program("apply")
        equal(program.run(folder.write("rule.py", APPLY + "    import os; os.closerange(3, 99)\n"
                                       "    fe.message('x')\n"))[0], LOST)


def test_what_a_rule_prints_is_there_in_order():
    with Folder() as folder:
        program = Program("apply")
        file = folder.write("rule.py", APPLY + "    import sys, atexit\n"
                            "    atexit.register(print, 'never')\n"
                            "    print('é\\udc80'); print('err', file=sys.stderr)\n"
                            "    sys.stdout.write('no end'); sys.stdout = None\n")
        equal(program.run(file), (0, "é\\udc80\nno end", "err\n"))


def test_children_have_no_connection():
    program = applied("""\
import os, subprocess
child = os.fork()
if child == 0:
    fe.message("of a child")
equal = os.waitpid(child, 0)[1]
fe.message("%d" % (os.WEXITSTATUS(equal) != 0))
child = os.fork()
if child == 0:
    return
os.waitpid(child, 0)
fe.message(subprocess.check_output(["ls", "/proc/self/fd"]).decode())""")
    says = [one["text"] for one in program.of("message")]
    equal((says[0], says[1].split(), len(says)), ("1", ["0", "1", "2", "3"], 2))


def test_threads_take_turns():
    program = applied("""\
import threading
def say(): [fe.message("m") for _ in range(200)]
threads = [threading.Thread(target=say) for _ in range(4)]
[one.start() for one in threads]
[one.join() for one in threads]
threading.Thread(target=threading.Event().wait).start()""")
    equal(program.messages, 800)


# ---- Module and context -------------------------------------------------------------------------

def test_the_functions_of_the_module():
    program = applied("""\
import nvtxt_rules
assert nvtxt_rules is NvRules
assert NvRules.get_version(handle) == "9.8"
assert NvRules.get_context(handle) is ctx
evaluator = NvRules.get_evaluator(handle)
evaluator.require_metric("m"); evaluator.require_rule("r")
evaluator.require_metrics(["m"]); evaluator.require_rules(["r"])
NvRules.require_metrics(handle, ["a", "b"])
NvRules.require_rules(handle, iter(["c"]))""")
    equal(program.of("require_metrics"), [{"names": ["m"]}, {"names": ["m"]},
                                          {"names": ["a", "b"]}])
    equal(program.of("require_rules"), [{"ids": ["r"]}, {"ids": ["r"]}, {"ids": ["c"]}])
    for call in ("NvRules.get_context(1)", "NvRules.get_version(None)",
                 "NvRules.require_metrics(ctx, [])", "NvRules.require_metrics(handle, 'a')",
                 "NvRules.require_rules(handle, [1])", "NvRules.require_rules(handle, 5)"):
        equal((call, raised(call)[0::2]), (call, ("TypeError", 1)))


def test_a_context_has_one_range_with_the_scope():
    applied("""\
assert isinstance(ctx, NvRules.IContext) and isinstance(action, NvRules.IAction)
assert ctx.num_ranges() == len(ctx) == 1 and ctx[0] is ctx.range_by_idx(0) is ctx[-1]
assert list(ctx) == [ctx[0]] and ctx[:] == (ctx[0],) and ctx[1:] == ()
r = ctx[0]
assert isinstance(r, NvRules.IRange)
assert r.num_actions() == len(r) == 1 and r[0] is action is r[-1]
assert list(r) == [action] and r[::-1] == (action,)
assert r.name() == action.name() == str(action) == "capture"
assert action.name(NvRules.IAction.NameBase_DEMANGLED) == "capture"
assert r.values("a.sum") == [7] and r.values("nothing") == [None] and list(r.events()) == []
assert ctx.summary() is action
assert (ctx.path(), ctx.kind(), ctx.version()) == ("s.sqlite", "nvtxt", "9.8")
with ctx: ctx.close()
assert repr(ctx) and repr(r) and repr(action)""")
    applied("assert ctx.range_by_idx(1) is ctx[0].action_by_idx(-2) is None")
    for call in ("ctx[1]", "ctx[-2]", "ctx[0][1]"):
        equal((call, raised(call)[0]), (call, "IndexError"))
    for call in ("ctx['0']", "ctx.range_by_idx(None)", "ctx[0][1.0]", "ctx.range_by_idx(True)"):
        equal((call, raised(call)[0]), (call, "TypeError"))


def test_the_range_asks_filters_of_the_scope():
    program = applied("""\
assert ctx[0].actions_by_nvtx(["*/"], ()) == (0,)
assert ctx[0].actions_by_nvtx(["A/"], ["B"]) == ()""",
                      actions_by_nvtx=lambda params:
                      {"actions": [0] if params["include"] == ["*/"] else []})
    equal(program.of("actions_by_nvtx")[1], {"range": None, "include": ["A/"], "exclude": ["B"]})
    equal(raised("ctx[0].actions_by_nvtx('A/', [])")[0], "TypeError")
    equal(raised("ctx[0].actions_by_nvtx(['A,'], [])",
                 actions_by_nvtx=Refused("bad-params", "include 'A,': empty name")),
          ("Error", "include 'A,': empty name", 1))


def test_the_scope_has_metrics():
    applied("""\
assert action.metric_names() == tuple(action) == ("a.sum", "gone", "per.sum")
assert len(action) == 3 and "a.sum" in action and "b" not in action
m = action["a.sum"]
assert isinstance(m, NvRules.IMetric)
assert (m.name(), m.value(), m.as_uint64(), m.as_double(), m.as_string()) == \\
    ("a.sum", 7, 7, 7.0, "7")
assert (m.unit(), m.description()) == ("ns", "D")
assert action.metric_by_name("nothing") is None
assert not action["gone"].has_value()
assert action["per.sum"].values() == [1, 2] and action["per.sum"].ids() == ["x", "y"]
assert action.workload_type() == NvRules.IAction.WorkloadType_RANGE
assert action.nvtx_state() is None""")
    applied("""\
assert action.add_integer_metric("own", 1 << 63).as_uint64() == action["own"].value() == 1 << 63
assert action.add_double_metric("real", 1).value() == 1.0
assert action.add_string_metric("text", "x") is not None and action["text"].as_string() == "x"
new = action.add_metric("none")
assert isinstance(new, NvRules.IMetric) and not new.has_value()
assert len(action) == 7 and set(action) > {"own", "real", "text", "none"}
fe.focus_metric(fe.message("m"), "own", action["own"].value(), 0, "")""")
    for call in ("add_metric(1)", "add_integer_metric('n', 1.5)", "add_double_metric('n', '1')",
                 "add_string_metric('n', 1)", "add_string_metric(1, '')"):
        equal((call, raised("action." + call)[0]), (call, "TypeError"))
    equal(raised("action['nothing']")[:2], ("KeyError", "'nothing'"))
    equal(raised("action[1]")[0], "TypeError")
    for call in ("action.sass_by_pc(0)", "action.ptx_by_pc(0)"):
        equal(raised(call)[0], "NotImplementedError")


def test_rules_see_the_results_so_far():
    applied("assert action.rule_results_as_dicts() == [{'identifier': 'X'}]",
            rule_results={"rules": [{"identifier": "X"}]})
    applied("assert action.rule_results_as_dicts() == []",
            rule_results=Refused("unknown-method", "there is no method"))


def test_the_capture_has_threads_and_events():
    program = applied("""\
capture = ctx.capture()
assert capture is ctx.capture() and isinstance(capture, NvRules.nvtxt_report.IContext)
assert len(capture) == 2 and capture[1].name() == "1" and len(capture[1]) == 4
capture.close()
assert capture[1].name() == "1" and capture[0].name() == "0"
fe.message("still open")""", range=lambda params: {"actions": 4, "name": str(params["range"])})
    equal((len(program.of("hello")), len(program.of("message"))), (1, 1))


# ---- Frontend -----------------------------------------------------------------------------------

def test_messages_have_types_and_titles():
    program = applied("""\
F = NvRules.IFrontend
assert [fe.message("a"), fe.message("b", "T"), fe.message(F.MsgType_OK, "c"),
        fe.message(F.MsgType_MSG_WARNING, "d", "T"), fe.message(4, text="e", title="T"),
        fe.message(text="f", type=F.MsgType_OPTIMIZATION), fe.message("g", title="T"),
        fe.message("h\\ud800", type=fe.MsgType_ERROR)] == list(range(8))""")
    equal([(one["type"], one["text"], one["title"]) for one in program.of("message")],
          [("none", "a", None), ("none", "b", "T"), ("ok", "c", None), ("warning", "d", "T"),
           ("error", "e", "T"), ("optimization", "f", None), ("none", "g", "T"),
           ("error", "h?", None)])
    for call in ("fe.message()", "fe.message(1)", "fe.message(1, 2)", "fe.message(None, 'x')",
                 "fe.message('x', 1)", "fe.message(True, 'x')", "fe.message(b'x')",
                 "fe.message(1, 'a', 'b', 'c')", "fe.message(1.0, 'x')"):
        equal((call, raised(call)[0]), (call, "TypeError"))
    for call in ("fe.message(5, 'x')", "fe.message(-1, 'x')", "fe.message('x\\0')"):
        equal((call, raised(call)[0]), (call, "ValueError"))


def test_the_constants_are_those_of_the_manual():
    frontend = nvtxt_rules.IFrontend
    for number, name in enumerate(("NONE", "OK", "OPTIMIZATION", "WARNING", "ERROR")):
        equal((getattr(frontend, "MsgType_" + name), getattr(frontend, "MsgType_MSG_" + name),
               getattr(nvtxt_rules.MsgType, name)), (number,) * 3)
    equal((int(frontend.SpeedupType_LOCAL), int(frontend.SpeedupType_GLOBAL)), (1, 2))
    for number, name in enumerate(("DEFAULT", "LOW", "HIGH")):
        equal(getattr(frontend, "Severity_SEVERITY_" + name), number)


def test_what_belongs_to_a_message():
    program = applied("""\
first, second = fe.message("a"), fe.message("b")
assert fe.speedup(first, fe.SpeedupType_LOCAL, 12.5) is True
fe.speedup(id=second, type=fe.SpeedupType_GLOBAL, percent=3)
assert fe.focus_metric(second, "a.sum", 1 << 64, fe.Severity_SEVERITY_HIGH, "decrease it") is True
for other in 2, -1, 1 << 70:
    assert fe.speedup(other, fe.SpeedupType_LOCAL, 5) is False
    assert fe.focus_metric(other, "a.sum", 7, 0, "") is False
fe.focus_metric(first, "a.sum", 7, fe.Severity_SEVERITY_DEFAULT, "")
fe.source_marker(second, "a.nvtxt", 3, "here")""")
    equal(program.of("speedup"), [{"message": 0, "global": False, "percent": 12.5},
                                  {"message": 1, "global": True, "percent": 3}])
    equal(program.of("focus_metric"),
          [{"message": 1, "name": "a.sum", "value": 2.0 ** 64, "severity": "high",
            "info": "decrease it"},
           {"message": 0, "name": "a.sum", "value": 7, "severity": "default", "info": ""}])
    equal(program.of("source_marker"), [{"message": 1, "file": "a.nvtxt", "line": 3,
                                         "text": "here"}])
    for call, kind in (
            ("fe.speedup('0', 1, 5)", "TypeError"),
            ("fe.speedup(0, 3, 5)", "ValueError"), ("fe.speedup(0, 1, '5')", "TypeError"),
            ("fe.speedup(0, 1, float('nan'))", "ValueError"),
            ("fe.speedup(0, 'local', 5)", "TypeError"),
            ("fe.focus_metric(0, 'n', True, 0, '')", "TypeError"),
            ("fe.focus_metric(0, 'n', float('inf'), 0, '')", "ValueError"),
            ("fe.focus_metric(0, 'n', 1, 3, '')", "ValueError"),
            ("fe.focus_metric(0, 1, 1, 0, '')", "TypeError"),
            ("fe.focus_metric(0, 'n', 1, 0, None)", "TypeError"),
            ("fe.source_marker(0, 'f', 0, 't')", "ValueError"),
            ("fe.source_marker(0, 'f', '1', 't')", "TypeError"),
            ("fe.source_marker(0, None, 1, 't')", "TypeError"),
            ("fe.source_marker(2, 'f', 1, 't')", "IndexError")):
        equal((call, raised("fe.message('m')\n" + call)[0::2]), (call, (kind, 2)))


def test_tables_have_one_type_a_column():
    program = applied("""\
m = fe.message("m")
class Own:
    def __str__(self): return "own"
fe.generate_table(m, ["n", "x", "t"], [[1, 0.5, "a"], (1 << 63, float("inf"), "@url:u:t@")])
fe.generate_table(m, ("o",), [[Own()]], {"title": "T", "description": "D", "sort_by": {}})
fe.generate_table(m, ["only a header"], [], None)
fe.generate_table(id=m, header=["b"], rows=[[True], [False]], config={})""")
    equal(program.of("table"),
          [{"message": 0, "title": "", "description": "", "header": ["n", "x", "t"],
            "rows": [[1, 0.5, "a"], [str(1 << 63), None, "@url:u:t@"]]},
           {"message": 0, "title": "T", "description": "D", "header": ["o"], "rows": [["own"]]},
           {"message": 0, "title": "", "description": "", "header": ["only a header"], "rows": []},
           {"message": 0, "title": "", "description": "", "header": ["b"],
            "rows": [["True"], ["False"]]}])
    for call, kind in (
            ("['a'], [[1], [1.0]]", "TypeError"), ("['a'], [[1], ['1']]", "TypeError"),
            ("['a'], [[1], [True]]", "TypeError"), ("['a', 'b'], [[1, 2], [3]]", "ValueError"),
            ("['a'], [[1, 2]]", "ValueError"), ("[], []", "ValueError"),
            ("'a', [[1]]", "TypeError"), ("[1], [[1]]", "TypeError"), ("['a'], [1]", "TypeError"),
            ("['a'], None", "TypeError"), ("['a'], [[1]], 5", "TypeError"),
            ("['a'], [[1]], {'title': 5}", "TypeError")):
        equal((call, raised("fe.generate_table(fe.message('m'), %s)" % call)[0]), (call, kind))
    equal(raised("fe.generate_table(0, ['a'], [])")[0], "IndexError")


def test_charts_are_files_beside_the_rule():
    equal(applied("fe.load_chart_from_file('bars.chart')").of("chart"), [{"name": "bars.chart"}])
    equal(raised("fe.load_chart_from_file('c')", chart=Refused("not-found", "no file c")),
          ("FileNotFoundError", "no file c", 1))
    equal(raised("fe.load_chart_from_file('c')", chart=Refused("bad-params", "c:1: no")),
          ("ValueError", "c:1: no", 1))
    equal(raised("fe.load_chart_from_file(1)")[0], "TypeError")


# ---- Other rules --------------------------------------------------------------------------------

class Left:
    """What rules leave, as the program keeps it."""

    def __init__(self):
        self.dicts = {}

    def get(self, params):
        return {"dict": self.dicts.get(params["id"])}

    def put(self, params):
        self.dicts[params.get("id")] = params["dict"]
        return {}


def test_dictionaries_go_from_parents_to_children():
    left = Left()
    program = applied("""\
fe.send_dict_to_children({"a": 1, "b": float("inf")})
fe.send_dict_to_children({"b": 1 << 70, "c": ["\\ud800", None]})
got = fe.receive_dict_from_parent("P")
assert got == {}, got""", send_dict=left.put, receive_dict=left.get)
    equal(len(program.of("send_dict")), 2)
    left.dicts["P"] = left.dicts.pop(None)
    applied("""\
got = fe.receive_dict_from_parent("P")
assert got == {"a": 1, "b": 1 << 70, "c": ["\\ud800", None]}, got""", receive_dict=left.get)
    applied("assert fe.receive_dict_from_parent('Q') == {}",
            receive_dict=Refused("not-found", "no parent"))
    for call in ("fe.send_dict_to_children([1])", "fe.send_dict_to_children({1: 2})",
                 "fe.send_dict_to_children({'a': ctx})", "fe.receive_dict_from_parent(1)"):
        equal((call, raised(call)[0]), (call, "TypeError"))


def test_the_vault_merges_what_rules_put():
    left = Left()
    applied("""\
vault = ctx.controller().get_message_vault()
assert vault.Get("R") == {}
vault.Put("R", {"a": 1, "b": 2})
vault.Put("R", {"b": 3})
assert vault.Get("R") == {"a": 1, "b": 3}""", vault_get=left.get, vault_put=left.put)
    for call in ("Get(1)", "Put('R', 5)", "Put(None, {})", "Put('R', {5: 5})"):
        equal((call, raised("ctx.controller().get_message_vault().%s" % call,
                            vault_get=left.get)[0]), (call, "TypeError"))


def test_only_required_rules_are_proposed():
    head = APPLY.replace("def apply", "def evaluate(h): NvRules.require_rules(h, ['O'])\ndef apply")
    equal(applied("ctx.controller().propose_rule('O')", head).of("propose"), [{"id": "O"}])
    equal(raised("ctx.controller().propose_rule('P')", head)[:2], ("KeyError", "'P'"))
    equal(raised("NvRules.require_rules(handle, ['O'])\nctx.controller().propose_rule('O')")[0],
          "KeyError")
    equal(raised("ctx.controller().propose_rule(1)", head)[0], "TypeError")


# ---- The modules --------------------------------------------------------------------------------

def test_every_public_name_says_what_it_is():
    assert nvtxt_rules.__doc__
    for name in nvtxt_rules.__all__:
        kind = getattr(nvtxt_rules, name)
        if kind.__module__ != "nvtxt_rules":
            continue  # of scripts
        assert inspect.getdoc(kind), name
        for member, value in vars(kind).items() if inspect.isclass(kind) else ():
            if not member.startswith("_") and callable(value):
                said = inspect.getdoc(getattr(kind, member))
                assert said, "%s.%s" % (name, member)
                wide = [line for line in said.splitlines() if len(line) > 72]  # help() indents
                equal((name, member, wide), (name, member, []))


def test_help_can_be_read():
    done = subprocess.run([sys.executable, "-c", "import nvtxt_rules; help(nvtxt_rules)"],
                          env={"PYTHONPATH": MODULES, "PATH": os.environ["PATH"],
                               "PYTHONDONTWRITEBYTECODE": "1"}, stdout=subprocess.PIPE)
    said = done.stdout.decode()
    for text in ("generate_table(self, id: int, header: 'Texts'",
                 "message([type,] text[, title]): adds a message", "class IMessageVault"):
        contains(said, text)


def test_the_modules_are_python_3_7():
    files = glob.glob(os.path.join(MODULES, "*.py")) + \
        glob.glob(os.path.join(TOP, "doc", "examples", "report", "**", "*.py"), recursive=True)
    assert len(files) > 5, files
    for file in files:
        with open(file, encoding="utf-8") as text:
            ast.parse(text.read(), file, feature_version=(3, 7))


def test_nothing_called_nvrules_is_on_the_default_path():
    equal(glob.glob(os.path.join(TOP, "report", "**", "NvRules*"), recursive=True),
          [os.path.join(MODULES, "compat", "NvRules.py")])


if __name__ == "__main__":
    run(globals())
