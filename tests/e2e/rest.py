# SPDX-License-Identifier: Apache-2.0
"""Which cases of a file are the same in a build with sanitizers: those that come to none of the names in
ASKED, by way of the functions and values of the file and of the modules beside it. Names are compared, not
what they stand for, so at worst a case that is the same is not found. `rest.py FILE` prints the others."""
import ast
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


def pieces(path, seen):
    """Of each piece at the left of a file, and of the modules that it imports: the names that it makes, and
    the words in it."""
    seen.add(path)
    with open(path, encoding="utf-8") as file:
        body = ast.parse(file.read()).body
    for piece in body:
        for name in modules(piece):
            for folder in FOLDERS:
                module = os.path.normpath(os.path.join(os.path.dirname(path), folder, str(name) + ".py"))
                if os.path.exists(module) and name not in OTHERS and module not in seen:
                    yield from pieces(module, seen)
        if isinstance(piece, (ast.FunctionDef, ast.ClassDef)):
            yield {piece.name}, set(words(piece))
        elif not modules(piece):
            made = {node.id for node in ast.walk(piece) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
            yield made, set(words(piece)) - made


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
    with open(path, encoding="utf-8") as file:
        defined = {piece.name for piece in ast.parse(file.read()).body if isinstance(piece, ast.FunctionDef)}
    own = {name for name in defined if name.startswith("test_")}
    return own, own & found


def same(path):
    """The cases that are the same; none in a file without another one: it asks in a way of its own."""
    own, others = cases(path)
    return own - others if others else set()


if __name__ == "__main__":
    print("\n".join(sorted(cases(sys.argv[1])[1])))
