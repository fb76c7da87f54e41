# SPDX-License-Identifier: Apache-2.0
"""What the tests of nvtxt-report share: the fixture F1 and other stores, and running the program."""
import os
import sqlite3

from client import run_client
from lib import equal

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "report")
F1 = os.path.join(FIXTURES, "f1.nvtxt")

# Sections and rules of the tree; none of whoever runs the tests.
os.environ["NVTXT_REPORT_DATA"] = os.path.join(FIXTURES, "..", "..", "report")
os.environ["XDG_CONFIG_HOME"] = "/nonexistent"
os.environ.pop("NVTXT_SECTIONS", None)


def report(*args, **more):
    """Runs nvtxt-report; returns (exit status, stdout, stderr)."""
    return run_client("nvtxt-report", *args, **more)


def make_store(folder, name, *inputs, status=0):
    """A store with the events of the inputs: files of NVTXT."""
    path = folder.name(name)
    got = run_client("nvtxt-import", "create", "-n", *inputs, "-o", path)
    equal(got[:2], (status, ""), got[2])
    return path


def f1(folder, name="f1.sqlite"):
    return make_store(folder, name, F1)


def query(path, sql, *values):
    store = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    try:
        return store.execute(sql, values).fetchall()
    finally:
        store.close()
