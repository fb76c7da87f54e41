# SPDX-License-Identifier: Apache-2.0
"""doc/nsight.md: its file, its commands and its query do what the page says, on exports of every
shape."""
import os
import re
import sqlite3
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "nsight"))

from client import ENV, Folder  # noqa: E402
from exports import SHAPES, make, query  # noqa: E402
from lib import TOP_BUILD, equal, run  # noqa: E402

PAGE = os.path.join(HERE, "..", "..", "doc", "nsight.md")


def page():
    with open(PAGE, encoding="utf-8") as file:
        return file.read()


def blocks(language=""):
    """The code blocks of that language, without what the list that they stand in indents them by."""
    found = re.findall(r"^( *)```(\w*)\n(.*?)^ *```$", page(), re.S | re.M)
    return [re.sub("^" + indent, "", text, flags=re.M) for indent, kind, text in found
            if kind == language]


def commands():
    """(command, what it prints) for each line behind a dollar."""
    found = []
    for block in blocks():
        for part in re.findall(r"^\$ ((?:.*\\\n)*.*\n)((?:[^$].*\n)*)", block, re.M):
            found.append(part)
    return found


def table():
    """The table that the page shows for its query."""
    lines = re.search(r"\| range .*?\n\n", page(), re.S).group().splitlines()[2:-1]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [(row[0],) + tuple(int(cell) for cell in row[1:]) for row in rows]


def walk_through(folder, shape):
    """A folder as the page's reader has it; every command is run there."""
    make(folder.name("report.sqlite"), shape)
    make(folder.name("old.sqlite"), "old")
    folder.write("service.nvtxt", blocks()[0])
    env = {**ENV, "PATH": os.path.join(os.path.abspath(TOP_BUILD), "client") + ":" + ENV["PATH"]}
    for command, wanted in commands():
        done = subprocess.run(["sh", "-ec", command], cwd=folder.path, env=env,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        equal((done.returncode, done.stdout.decode()), (0, wanted), command)


def ask(path, sql):
    database = sqlite3.connect(path)
    try:
        return database.execute(sql).fetchall()
    finally:
        database.close()


def test_the_page_is_true_of_exports_since_2022():
    equal(len(commands()), 4)
    for shape in SHAPES[1:]:
        with Folder() as folder:
            walk_through(folder, shape)
            sql, indexes = blocks("sql")
            equal(ask(folder.name("both.sqlite"), sql), table(), shape)
            database = sqlite3.connect(folder.name("both.sqlite"))
            database.executescript(indexes)
            database.close()
            equal(ask(folder.name("both.sqlite"), sql), table(), "with indexes")


def test_the_page_is_true_of_an_old_export():
    with Folder() as folder:
        walk_through(folder, "2022")
        sql = re.sub(r"LEFT JOIN StringIds.*\n", "", blocks("sql")[0])
        sql = sql.replace("coalesce(n.text, s.value)", "n.text")
        for name in ("both-old.sqlite", "both-mapped.sqlite"):
            equal(ask(folder.name(name), sql), table(), name)


def test_other_readers_of_cuda_rows_are_not_disturbed():
    """Recipes of the export's documentation: names of kernels on API ranges, call chains."""
    recipe = """SELECT r.start, value FROM CUPTI_ACTIVITY_KIND_RUNTIME r
                JOIN CUPTI_ACTIVITY_KIND_KERNEL k ON k.correlationId = r.correlationId
                JOIN StringIds ON id = shortName ORDER BY r.start"""
    chains = """SELECT o.start, stackDepth, value FROM OSRT_API o
                JOIN OSRT_CALLCHAINS c ON c.id = o.callchainId JOIN StringIds s ON s.id = symbol
                ORDER BY stackDepth"""
    with Folder() as folder:
        walk_through(folder, "2026")
        for sql in (recipe, chains):
            rows = query(folder.name("report.sqlite"), sql)
            equal(query(folder.name("both.sqlite"), sql), rows)
            equal(len(rows) > 2, True)


if __name__ == "__main__":
    run(globals())
