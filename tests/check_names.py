# SPDX-License-Identifier: Apache-2.0
"""check_names.py [TOP]: fails on a name that means two things in a room and those that it may include
(tests/rooms): a struct, enum or union that two headers define, or a header and a source; a function
that two headers declare; and a function that bears the name of a struct or enum and has nothing to do
with it. What stays within one source is its own, and so are programs that never meet."""
import collections
import os
import re
import sys

TOP = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("top_srcdir", ".")
TAG = re.compile(r"^(?:struct|enum|union) (\w+) \{", re.MULTILINE)
FUNCTION = re.compile(r"^(?!typedef|return|else|#)(?:[a-z_]\w*[ *]+)+(\w+)(\([^;{]*\))[^;{()]*[;{]", re.MULTILINE)
PUBLIC = ("lib/nvtxt.h",)  # what others include


def read_rooms():
    """Room -> the rooms that it may include."""
    found = {}
    with open(os.path.join(TOP, "tests", "rooms"), encoding="utf-8") as table:
        for line in table:
            match = re.match(r"([a-z][a-z_/]*):([^|#]*)\|", line)
            if match:
                found[match[1]] = match[2].split()
    return found


def visible(rooms, room):
    """The room, and all that its sources may see."""
    found, left = set(), [room]
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += rooms.get(one, ())
    return found


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)


class Names:
    """The names of one file."""

    def __init__(self, path):
        with open(os.path.join(TOP, path), encoding="utf-8", errors="replace") as file:
            text = without_comments(file.read())
        self.path = path
        self.tags = set(TAG.findall(text))
        self.functions = {match[1]: match[0] for match in FUNCTION.finditer(text)} \
            if path.endswith(".h") else {}


def read_files(rooms):
    files = collections.defaultdict(list)
    for room in rooms:
        for name in sorted(os.listdir(os.path.join(TOP, room))):
            if name.endswith((".c", ".h")) and room + "/" + name not in PUBLIC:
                files[room].append(Names(room + "/" + name))
    return files


def faults_of(rooms, files, room):
    headers = [file for one in visible(rooms, room) for file in files[one] if file.path.endswith(".h")]
    tags, functions = collections.defaultdict(set), collections.defaultdict(set)
    for file in headers:
        for tag in file.tags:
            tags[tag].add(file.path)
        for name in file.functions:
            functions[name].add(file.path)
    for file in files[room]:
        for tag in file.tags & tags.keys() if file.path.endswith(".c") else ():
            tags[tag].add(file.path)
    for what, names in ("struct or enum", tags), ("function", functions):
        for name, paths in names.items():
            if len(paths) > 1:
                yield "%s: the %s %s is in %s, too" % (max(paths), what, name, min(paths))
    for file in headers:
        for name, declaration in file.functions.items():
            if name in tags and not re.search(r"(struct|enum|union) %s\b" % name, declaration):
                yield "%s: the function %s has the name of a struct or enum in %s" % (
                    file.path, name, min(tags[name]))


def main():
    rooms = read_rooms()
    files = read_files(rooms)
    faults = {fault for room in rooms for fault in faults_of(rooms, files, room)}
    for fault in sorted(faults):
        print(fault)
    print("%d files looked at, %d faults" % (sum(map(len, files.values())), len(faults)))
    return bool(faults) or not files


sys.exit(main())
