# SPDX-License-Identifier: Apache-2.0
"""Which cases of a file are the same in a build with sanitizers: those that come to none of the names in
ASKED, by way of the functions and values of the file and of the modules beside it. Names are compared, not
what they stand for, so at worst a case that is the same is not found. `rest.py FILE...` prints the others."""
import ast
import functools
import os
import sys

ASKED = {"SANITIZERS", "SHORT"}
OTHERS = {"lib"}  # it waits in another way there, and the case is the same
FOLDERS = ("", "../e2e", "../crash", "../report")  # where modules are, from the folder of the file


def words(tree):
    """The names in a piece of a program, and its texts: one may be that of a variable of the environment."""
    for node in ast.walk(tree):
        for name in ("id", "attr", "name", "value"):
            word = getattr(node, name, None)
            if isinstance(word, str):
                yield word


def modules(piece):
    if isinstance(piece, ast.ImportFrom):
        return [piece.module]
    return [alias.name for alias in piece.names] if isinstance(piece, ast.Import) else []


@functools.cache
def parts(path):
    """The modules that a file imports; and of each piece at its left the names that it makes, and the words
    in it."""
    with open(path, encoding="utf-8") as file:
        body = ast.parse(file.read()).body
    imported, made = [], []
    for piece in body:
        imported += modules(piece)
        if isinstance(piece, (ast.FunctionDef, ast.ClassDef)):
            made.append(({piece.name}, set(words(piece))))
        elif not modules(piece):
            names = {node.id for node in ast.walk(piece) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
            made.append((names, set(words(piece)) - names))
    return imported, made


def pieces(path, seen):
    """Those of a file and of the modules that it imports."""
    seen.add(path)
    imported, made = parts(path)
    for name in imported:
        for folder in FOLDERS:
            module = os.path.normpath(os.path.join(os.path.dirname(path), folder, str(name) + ".py"))
            if os.path.exists(module) and name not in OTHERS and module not in seen:
                yield from pieces(module, seen)
    yield from made


def cases(path):
    """The names of the cases that a file defines, and those of them that are another one with sanitizers."""
    path = os.path.abspath(path)
    left = list(pieces(path, set()))
    found, known = set(ASKED), 0
    while len(found) > known:
        known = len(found)
        for names, mentioned in left:
            if not mentioned.isdisjoint(found):
                found |= names
    own = {name for names, _ in parts(path)[1] for name in names if name.startswith("test_")}
    return own, own & found


def same(path):
    """The cases that are the same; none in a file without another one: it asks in a way of its own."""
    own, others = cases(path)
    return own - others if others else set()


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        for case in sorted(cases(argument)[1]):
            print("%s: %s" % (os.path.basename(argument), case))
