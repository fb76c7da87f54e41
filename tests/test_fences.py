# SPDX-License-Identifier: Apache-2.0
"""The checks of the tree notice what they are for, in each top folder with rooms: a copy of the tree is
broken in one way at a time, in all of these folders at once, and each broken file must be named."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.abspath(os.environ.get("top_srcdir", "."))
SKIPPED = 77
KINDS = []


def kind(check, *, formats=False):
    """`formats`: the check reads each file slowly, so only the broken files are there."""
    def add(function):
        KINDS.append((function, check, formats))
        return function
    return add


def rooms():
    with open(os.path.join(TOP, "tests", "rooms"), encoding="utf-8") as table:
        return [match[1] for match in re.finditer(r"^([a-z][a-z_/]*):.*\|", table.read(), re.MULTILINE)]


def a_room_of_each():
    """Top folder -> a room in it, and two headers and a source of that room."""
    found = {}
    for room in rooms():
        names = sorted(os.listdir(os.path.join(TOP, room)))
        headers = [room + "/" + name for name in names if name.endswith(".h")]
        sources = [room + "/" + name for name in names if name.endswith(".c")]
        top = room.split("/")[0]
        if top not in found and len(headers) > 1 and sources:
            found[top] = (headers[0], headers[1], sources[0])
    return found


EACH = a_room_of_each()


class Tree:
    """A copy of what the checks look at, which a kind of fault breaks; `broken` files must be named."""

    def __init__(self, folder, only=None):
        self.folder, self.broken = folder, []
        for top in [only] if only else ["tests", *{room.split("/")[0] for room in rooms()}]:
            for here, folders, names in os.walk(os.path.join(TOP, top)):
                folders[:] = [name for name in folders if name not in ("corpus", "golden", ".deps", ".libs")]
                to = os.path.join(folder, os.path.relpath(here, TOP))
                os.makedirs(to, exist_ok=True)
                for name in names:
                    if name.endswith((".c", ".h", ".sh")) or name == "rooms":
                        shutil.copyfile(os.path.join(here, name), os.path.join(to, name))
        for top in self.named("no rooms") + self.named("no C"):  # each has to have something in it
            os.makedirs(os.path.join(folder, top), exist_ok=True)
            if top != "tests":
                name = "x.c" if top in self.named("no rooms") else "x"
                with open(os.path.join(folder, top, name), "w", encoding="utf-8"):
                    pass
        shutil.copyfile(os.path.join(TOP, ".clang-format"), os.path.join(folder, ".clang-format"))

    @staticmethod
    def named(key):
        with open(os.path.join(TOP, "tests", "rooms"), encoding="utf-8") as table:
            return re.search("^%s:(.*)" % key, table.read(), re.MULTILINE)[1].split()

    def add(self, path, text):
        """Text at the end of a file of the tree, which is broken then."""
        full = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        if not os.path.exists(full) and os.path.exists(os.path.join(TOP, path)):
            shutil.copyfile(os.path.join(TOP, path), full)
        with open(full, "a", encoding="utf-8") as file:
            file.write(text)
        self.broken.append(path)

    def restore(self):
        for path in self.broken:
            full = os.path.join(self.folder, path)
            if os.path.exists(os.path.join(TOP, path)):
                shutil.copyfile(os.path.join(TOP, path), full)
            else:
                os.remove(full)
                while not os.listdir(os.path.dirname(full)):
                    os.rmdir(os.path.dirname(full))
                    full = os.path.dirname(full)
        self.broken = []

    def check(self, name):
        """Exit status and output of a check of this tree."""
        path = os.path.join(TOP, "tests", name)
        done = subprocess.run([sys.executable if name.endswith(".py") else "sh", path, self.folder], cwd=self.folder,
                              env={**os.environ, "top_srcdir": self.folder}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout


@kind("check_format.sh", formats=True)
def a_line_that_is_not_formatted(tree):
    for _, _, source in EACH.values():
        tree.add(source, "int  not_formatted( void ) ;\n")


@kind("check_format.sh", formats=True)
def a_sizeof_without_parentheses(tree):
    for _, _, source in EACH.values():
        tree.add(source, "int size_of = sizeof not_formatted;\n")


@kind("check_dialect.sh")
def a_choice_that_is_not_in_the_dialect(tree):
    for _, _, source in EACH.values():
        tree.add(source, "static int choose(int a, int b) {\n    return a ? a : b;\n}\n")


@kind("check_dialect.sh")
def a_call_after_another_that_compares(tree):
    for _, _, source in EACH.values():
        tree.add(source, "static int call(int r) {\n    return r < 0 ? r : call(r);\n}\n")


@kind("check_includes.sh")
def a_folder_that_is_no_room(tree):
    for top in EACH:
        tree.add(top + "/strange/strange.c", "int strange;\n")


@kind("check_includes.sh")
def a_new_top_folder(tree):
    tree.add("strange/strange.c", "int strange;\n")


@kind("check_includes.sh")
def a_room_above(tree):
    for top, (header, _, _) in EACH.items():
        above = [other for other in EACH if other != top][-1] if top != list(EACH)[-1] else "bench"
        tree.add(header, '#include "%s"\n' % (EACH[above][0] if above in EACH else "bench/x.h"))


@kind("check_includes.sh")
def headers_that_include_each_other(tree):
    for one, other, _ in EACH.values():
        tree.add(one, '#include "%s"\n' % other)
        tree.add(other, '#include "%s"\n' % one)


@kind("check_includes.sh")
def what_a_header_of_the_room_brings(tree):
    for header, _, source in EACH.values():
        with open(os.path.join(TOP, header), encoding="utf-8") as file:
            brought = re.findall(r"^#include .*\n", file.read(), re.MULTILINE)
        if brought:
            tree.add(source, '#include "%s"\n%s' % (header, brought[0]))


@kind("check_dialect.sh")
def a_header_of_a_few_lines(tree):
    for _, _, source in EACH.values():
        tree.add(source[:-2] + "_small.h", "#pragma once\n")


@kind("check_dialect.sh")
def a_file_that_is_too_long(tree):
    for _, _, source in EACH.values():
        tree.add(source, "".join("extern int number_%d;\n" % i for i in range(501)))


@kind("check_dialect.sh")
def a_function_that_is_too_long(tree):
    for _, _, source in EACH.values():
        tree.add(source, "static int sum(int a) {\n%s    return a;\n}\n" % ("    a++;\n" * 58))


@kind("check_names.py")
def a_struct_that_is_defined_twice(tree):
    for top, (one, other, _) in EACH.items():
        text = "struct %s_that_is_twice {\n    int x;\n};\n" % top
        tree.add(one, text)
        tree.add(other, text)


@kind("check_names.py")
def a_function_with_the_name_of_a_struct(tree):
    for top, (one, _, _) in EACH.items():
        tree.add(one, "struct %s_word {\n    int x;\n};\nint %s_word(int x);\n" % (top, top))


def result(number, good, sentence, output):
    if not good:
        print("".join("# %s\n" % line for line in output.splitlines()[-40:]), end="")
    print("%s %d - %s" % ("ok" if good else "not ok", number, sentence), flush=True)


def is_named(path, output):
    return re.search(r"(^|[\s/])%s\b" % re.escape(path), output, re.MULTILINE) is not None


def main():
    number = 0
    with tempfile.TemporaryDirectory(prefix="nvtxt-fences-") as folder:
        whole, few = Tree(os.path.join(folder, "whole")), Tree(os.path.join(folder, "few"), "tests")
        few_c = os.path.join(few.folder, "tests")
        for here, _, names in os.walk(few_c):
            for name in names:
                if name.endswith((".c", ".h")):
                    os.remove(os.path.join(here, name))
        for check in sorted({check for _, check, formats in KINDS if not formats}):
            status, output = whole.check(check)
            number += 1
            result(number, status == 0, "%s passes on a copy" % check, output)
        for function, check, formats in KINDS:
            tree = few if formats else whole
            function(tree)
            status, output = tree.check(check)
            unseen = [path for path in dict.fromkeys(tree.broken) if not is_named(path, output)]
            tree.restore()
            number += 1
            sentence = "%s: %s" % (check, function.__name__.replace("_", " "))
            if status == SKIPPED:
                print("ok %d - %s # SKIP %s" % (number, sentence, output.strip().splitlines()[-1]))
            else:
                result(number, status == 1 and not unseen, sentence,
                       output + "exit status %d; not named: %s" % (status, unseen))
    print("1..%d" % number)


main()
