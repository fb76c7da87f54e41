# SPDX-License-Identifier: Apache-2.0
"""What the tests of nvtxt-ship share."""
import os
import subprocess
import tempfile

from lib import DEADLINE, equal, program

ERROR = "nvtxt-ship: error: "


def run_ship(*args, env=None, timeout=DEADLINE):
    """Runs nvtxt-ship without a configuration: its status, stdout and stderr."""
    with tempfile.TemporaryDirectory(prefix="nvtxt-ship-") as empty:
        done = subprocess.run([program("ship", "nvtxt-ship"), *args], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout,
                              env={**os.environ, "CONFIGURATION_DIRECTORY": empty, **(env or {})},
                              check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def good(*args, **more):
    """The same for a run that must succeed, without a word on stderr; its stdout."""
    status, out, said = run_ship(*args, **more)
    equal((status, said), (0, ""), args)
    return out


def refused(status, words, *args, **more):
    """A run must end with this status and one sentence that has these words."""
    got, out, said = run_ship(*args, **more)
    equal((got, out), (status, ""), said)
    if not (said.startswith(ERROR) and said.count("\n") == 1 and said.endswith("\n")):
        raise AssertionError("not one sentence: %r" % said)
    if words not in said:
        raise AssertionError("%r is not in %r" % (words, said))
    return said
