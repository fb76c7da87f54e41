# SPDX-License-Identifier: Apache-2.0
"""The server of the tests ends with the test that started it, however that is ended."""
import os
import shutil
import signal
import subprocess
import sys

from lib import equal, run, wait_for
from postgres import Postgres, processes

TEST = """
import signal, postgres
with postgres.Postgres() as server:
    print(server.started[-1].pid, server.folder, flush=True)
    signal.pause()
"""


def ends_with_a_test(number):
    Postgres()  # or skips
    with subprocess.Popen([sys.executable, "-c", TEST], stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "PYTHONPATH": os.path.dirname(__file__)}) as test:
        said = test.stdout.readline().split()
        equal(len(said), 2, "the server is ready")
        first = int(said[0])
        pids = {first, *(pid for pid, parent in processes().items() if parent == first)}
        equal(len(pids) > 1, True, pids)
        test.send_signal(number)
        equal(test.wait(), -number)
        wait_for(lambda: pids.isdisjoint(processes()), "the server has ended")
        shutil.rmtree(said[1])


def test_a_test_that_is_terminated_leaves_no_server():
    ends_with_a_test(signal.SIGTERM)


def test_a_test_that_is_killed_leaves_no_server():
    ends_with_a_test(signal.SIGKILL)


run(globals())
