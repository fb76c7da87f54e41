# SPDX-License-Identifier: Apache-2.0
"""Programs in Python that annotate themselves with the module nvtxt of the source tree, over the
library of the build."""
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap

from lib import DEADLINE, SANITIZERS, TOP_BUILD, Skip, equal

TOP = os.environ.get("top_srcdir") or os.path.join(os.path.dirname(__file__), "..", "..")
MODULES = os.path.abspath(os.path.join(TOP, "lib", "python"))
LIBRARY = os.path.abspath(os.path.join(TOP_BUILD, "lib", ".libs"))

# AddressSanitizer does not keep its locks over a fork. A child would wait for ever for a lock that
# another thread held while it began. So in that build no thread may begin when a program forks.
FORKS_AT_ANY_TIME = "address" not in SANITIZERS
# Written into a program before it forks.
SETTLED = "pass" if FORKS_AT_ANY_TIME else "nvtxt.flush(100)"

# What a test looks at of an event: kind, text, domain, category, colour, payload.
EVENTS = """
    SELECT e.eventType, e.text, d.text, c.text, printf('%08X', e.color),
           coalesce(e.int64Value, e.uint64Value, e.doubleValue, e.jsonText)
    FROM NVTX_EVENTS e
    LEFT JOIN NVTX_EVENTS d ON d.eventType = 75 AND d.domainId = e.domainId AND e.domainId <> 0
    LEFT JOIN NVTX_EVENTS c ON c.eventType = 33 AND c.domainId = e.domainId
                               AND c.category = e.category AND e.category <> 0
    WHERE e.eventType IN (34, 59, 60) ORDER BY e.start, e.rowid"""


class Folder:
    """A folder of its own, with a library that is none in it."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="nvtxtd-test-")
        with open(os.path.join(self.path, "libnvtxt.so.0"), "wb"):
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def files(self):
        return [name for name in os.listdir(self.path) if name != "libnvtxt.so.0"]


def preloaded():
    """The interpreter is built without the sanitizer that the library needs."""
    if "address" not in SANITIZERS:
        return {}
    if "clang" in os.environ.get("CC", ""):
        raise Skip("the sanitizer of clang is not preloaded here")
    found = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True)
    return {"LD_PRELOAD": found.stdout.strip(),  # LeakSanitizer would report the interpreter's own
            "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}


def start(daemon, code, *arguments, library=LIBRARY, stdin=None, **variables):
    """Runs a program, which is a file as `multiprocessing` needs it."""
    if "thread" in SANITIZERS:
        raise Skip("the interpreter has no ThreadSanitizer")
    path = os.path.join(daemon.folder, "program.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(textwrap.dedent(code))
    return subprocess.Popen(
        [sys.executable, path, *arguments], stdin=stdin, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": MODULES, "PYTHONDONTWRITEBYTECODE": "1",
             "LD_LIBRARY_PATH": library, "NVTXT_SOCKET": daemon.socket, "NVTXT_EXIT_WAIT": "60",
             **preloaded(), **variables})


def run_python(daemon, code, *arguments, status=0, errors="", **variables):
    """What such a program prints, when it has ended."""
    process = start(daemon, code, *arguments, **variables)
    try:
        out, err = process.communicate(timeout=DEADLINE)
    finally:
        process.kill()  # one that waits for ever
    equal((process.returncode, err), (status, errors), "exit status and stderr; it said " + out)
    return out


def events(daemon):
    """All events, in the order of their starts, when all is committed."""
    daemon.settled()
    equal(daemon.query("SELECT code, message FROM NVTXT_DIAGNOSTICS"), [])
    equal(daemon.query("SELECT reason, count FROM NVTXT_LOSSES WHERE count > 0"), [])
    return daemon.query(EVENTS)
