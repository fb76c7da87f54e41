# SPDX-License-Identifier: Apache-2.0
"""Files of facts: what an interface was when somebody wrote it down, a fact a line, "key: value",
sorted, so that a diff of them reads itself. compare() says what kind each difference is:

  added    fine, when NEWS names it in the part of the version that is being built; then the file is
           written again
  changed  } not within 1.x
  gone     }

A value "at least N bytes" may grow: that is an addition, too.

    facts.py COMMIT

prints what differs between the files of a commit, such as a release, and those of the tree. Exit
status 1: something changed or is gone, and the major version is the same; or something was added that
no part of NEWS after that version names."""
import collections
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.environ.get("top_srcdir") or os.path.join(HERE, "..", "..")
HEAD = "# SPDX-License-Identifier: Apache-2.0\n# %s\n# test_compat.py makes and compares this file.\n"
AT_LEAST = re.compile(r"at least ([0-9]+) bytes")

Change = collections.namedtuple("Change", "kind key was now")


def path_of(interface, folder=HERE):
    return os.path.join(folder, interface + ".facts")


def parse(text):
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return dict(line.split(": ", 1) for line in lines)


def read(path):
    with open(path, encoding="utf-8") as file:
        return parse(file.read())


def write(path, title, facts):
    for key, value in facts.items():
        assert ": " not in key and "\n" not in key + value and key and value, (key, value)
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEAD % title + "".join("%s: %s\n" % fact for fact in sorted(facts.items())))


def has_grown(was, now):
    sizes = AT_LEAST.fullmatch(was), AT_LEAST.fullmatch(now)
    return all(sizes) and int(sizes[0][1]) < int(sizes[1][1])


def compare(was, now):
    changes = []
    for key in sorted(was.keys() | now.keys()):
        old, new = was.get(key), now.get(key)
        if old is None or (new is not None and has_grown(old, new)):
            changes.append(Change("added", key, old, new))
        elif new is None:
            changes.append(Change("gone", key, old, new))
        elif old != new:
            changes.append(Change("changed", key, old, new))
    return changes


# ---- NEWS ---------------------------------------------------------------------------------------

def version_in(configure):
    return re.search(r"^AC_INIT\(\[nvtxtd\], \[([^]]*)\]", configure, re.M)[1]


def text_of(name):
    with open(os.path.join(TOP, name), encoding="utf-8") as file:
        return file.read()


def version():
    return version_in(text_of("configure.ac"))


def number(text):
    """1.0 and 1.0.0 are one version."""
    return re.sub(r"(\.0)+$", "", text)


def major(text):
    return int(text.split(".")[0])


def place_in_news(text, wanted):
    """Where the part of a version begins and ends; None: there is none."""
    heads = list(re.finditer(r"^([0-9]+(?:\.[0-9]+)+) \(.*$", text, re.M))  # "1.1 (not released yet)"
    for head, end in zip(heads, heads[1:] + [None]):
        if number(head[1]) == number(wanted):
            return head.start(), end.start() if end else len(text)
    return None


def news_of(text, wanted):
    """The part of a version: its head line and what stands below it; None: there is none."""
    place = place_in_news(text, wanted)
    return text[slice(*place)] if place else None


def parts(key):
    """store NVTX_EVENTS.text: three parts. What is in quotes is one part."""
    return re.findall(r'"[^"]*"|[^ ."]+', key)


def names(key, was):
    """What NEWS may call an addition: its own name; or that of what it is a part of, if that is new
    as a whole."""
    words, old = parts(key), [parts(other) for other in was]
    found = [words[-1]]
    for length in range(len(words) - 1, 0, -1):
        if any(other[:length] == words[:length] for other in old):
            break
        found.append(words[length - 1])
    return [word.strip('"').replace("[]", "") for word in found]


def is_named(word, text):
    return re.search(r"(?<![\w-])%s(?![\w-])" % re.escape(word), text) is not None


def fault_of_news(change, was, news, built):
    """Why an addition is not fine yet; "" if it is."""
    part = news_of(news, built)
    if part is None:
        return "NEWS has no part of version %s" % built
    if re.search(r"\b[0-9]{4}\b", part.split("\n", 1)[0]):
        return "version %s is released: an addition needs another one in configure.ac" % built
    return fault_of_names(change, was, part, "in its part of %s" % built)


def fault_of_names(change, was, part, where):
    words = names(change.key, was)
    if any(is_named(word, part) for word in words):
        return ""
    return "NEWS does not name %s %s" % (" or ".join(words), where)


# ---- Sentences ----------------------------------------------------------------------------------

def sentence(interface, change, built):
    was = "it was '%s'" % change.was
    now = "it is '%s'" % change.now
    facts = {"added": now, "gone": was, "changed": was + ", " + now}[change.kind]
    end = "" if change.kind == "added" else ". Not within %d.x" % max(1, major(built))
    return "%s: %s: %s: %s%s" % (interface, change.kind, change.key, facts, end)


def faults(interface, was, now, news=None, built=None):
    """A sentence for each difference; and those that keep the file from being written again."""
    news, built = news or text_of("NEWS"), built or version()
    told, final = [], []
    for change in compare(was, now):
        text = sentence(interface, change, built)
        if change.kind == "added":
            why = fault_of_news(change, was, news, built)
            text += ": " + (why or "NEWS names it, so write the file again: test_compat.py --write")
            final += [text] if why else []
        else:
            final.append(text)
        told.append(text)
    return told, final


# ---- Since a commit -----------------------------------------------------------------------------

def git(*command):
    return subprocess.run(["git", "-C", TOP, *command], stdout=subprocess.PIPE, text=True, check=True).stdout


def tell_since(commit):
    """Prints each difference; returns whether one of them may not be."""
    release = version_in(git("show", commit + ":configure.ac"))
    place = place_in_news(text_of("NEWS"), release)
    newer = text_of("NEWS")[:place[0] if place else None]
    same_major = major(release) == major(version())
    bad = False
    for name in git("ls-tree", "--name-only", commit, "tests/compat/").split():
        interface, kind = os.path.splitext(os.path.basename(name))
        if kind != ".facts":
            continue
        was = parse(git("show", "%s:%s" % (commit, name)))
        for change in compare(was, read(path_of(interface)) if os.path.exists(path_of(interface)) else {}):
            why = ""
            if change.kind == "added":
                why = fault_of_names(change, was, newer, "after its part of %s" % release)
            print(sentence(interface, change, release) + (": %s" % why if why else ""))
            bad = bad or bool(why) or (same_major and change.kind != "added")
    return bad


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    sys.exit(tell_since(sys.argv[1]))
