# SPDX-License-Identifier: Apache-2.0
"""What the module nvtxt costs a program in Python, beside NVIDIA's package nvtx and logging."""
import os
import subprocess
import sys

# Prints a line a figure: its name, and thread CPU time in ns of the fastest of many short loops.
PROGRAM = """
import logging, sys, time, timeit
spelling, loops = sys.argv[1], int(sys.argv[2])
if spelling == "nvtx":
    import nvtx
else:
    import nvtxt
    import nvtxt.compat.nvtx as nvtx

def say(name, statement, number=1000, **names):
    times = timeit.repeat(statement, globals=names, number=number, repeat=loops,
                          timer=time.thread_time_ns)
    print(name, min(times) / number)

@nvtx.annotate("decorated")
def spelled():
    pass
say("annotate", "with nvtx.annotate('step'): pass", nvtx=nvtx)
say("spelled", "spelled()", spelled=spelled)
say("spelled_mark", "nvtx.mark('mark')", nvtx=nvtx)
if spelling == "nvtxt":
    @nvtxt.annotate
    def decorated():
        pass
    say("range", "with nvtxt.range('step'): pass", nvtxt=nvtxt)
    say("full", "with nvtxt.range('step', color='red', category='c', payload=1, domain='d'): pass",
        nvtxt=nvtxt)
    say("decorated", "decorated()", decorated=decorated)
    say("mark", "nvtxt.mark('mark')", nvtxt=nvtxt)
    for name, handler in (("file", logging.FileHandler(sys.argv[3])), ("log", nvtxt.Handler())):
        log = logging.getLogger(name)
        log.propagate = False
        log.setLevel(logging.INFO)
        log.addHandler(handler)
        say(name, "log.info('line %d', 1)", log=log)
"""


def figures(kit, spelling, daemon, library=None):
    """{name: ns}; nothing where the program does not run, as without nvtx."""
    variables = {"NVTXT_SOCKET": daemon.socket, "PYTHONDONTWRITEBYTECODE": "1",
                 "LD_LIBRARY_PATH": library or os.path.join(kit.build, "lib", ".libs")}
    if spelling == "nvtx":
        variables["NVTX_INJECTION64_PATH"] = os.path.join(kit.build, "inject", ".libs",
                                                          "libnvtxt-inject.so")
    else:
        variables["PYTHONPATH"] = os.path.join(kit.top, "lib", "python")
    done = subprocess.run([sys.executable, "-c", PROGRAM, spelling, "30" if kit.quick else "200",
                           os.devnull], capture_output=True, text=True,
                          env={**os.environ, **variables})
    return {name: float(ns) for name, ns in map(str.split, done.stdout.splitlines())}


def python(kit):
    """Calls of the module for Python against NVIDIA's package nvtx, if it is there, and logging"""
    none = kit.path("none")
    os.makedirs(none, exist_ok=True)
    with open(os.path.join(none, "libnvtxt.so.0"), "wb"):  # a library that is none
        pass
    rounds = {"nvtxt": [], "nvtx": [], "none": []}
    with kit.daemon() as daemon:
        for _ in range(3):
            rounds["nvtxt"].append(figures(kit, "nvtxt", daemon))
            rounds["nvtx"].append(figures(kit, "nvtx", daemon))
            rounds["none"].append(figures(kit, "nvtxt", daemon, none))

    def of(source, name):
        return [found[name] for found in rounds[source]]
    if all(rounds["nvtx"]):
        for what, ours, theirs in (
                ("a range of a with statement", "range", "annotate"),
                ("a decorated function", "decorated", "spelled"), ("a mark", "mark", "spelled_mark"),
                ("the spelling of nvtx", "annotate", "annotate")):
            kit.compare("python: " + what, "ns", ("nvtxt", of("nvtxt", ours)),
                        ("nvtx", of("nvtx", theirs)), "nvtx calls libnvtxt-inject")
    else:
        kit.tell("python: against nvtx", "ns", ("range", of("nvtxt", "range")),
                 ("decorated", of("nvtxt", "decorated")), ("mark", of("nvtxt", "mark")),
                 note="left out: the package nvtx is not installed")
    kit.compare("python: a line of a log", "ns", ("nvtxt.Handler", of("nvtxt", "log")),
                ("FileHandler", of("nvtxt", "file")), "logging, into /dev/null")
    kit.tell("python: without the library", "ns", ("range", of("none", "range")),
             ("full", of("none", "full")), ("mark", of("none", "mark")))
