# SPDX-License-Identifier: Apache-2.0
"""`scripts/release --agree` takes a tree in which everything agrees, and refuses each disagreement with a
sentence that names the file. The tree is a copy of the files that it reads, as a version of its own."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.abspath(os.environ.get("top_srcdir", "."))
SKIPPED = 77
READ = ["NEWS", "README.md", "configure.ac", "debian/changelog", "debian/control", "lib/Makefile.am", "lib/nvtxt.map",
        "man/*.[1-9]", "man/*.[1-9].in", "protocol/wire/hello.h", "schema/*", "scripts/lib.sh", "scripts/release*",
        "ship/engine/schema.h", "ship/sql/*", "store/db/schema.h", "tests/compat/facts.py"]
VERSION = "7.1.0"
FACTS = "tests/compat/options.facts"
KINDS = []


class Tree:
    """A repository with the files, as they are for a release of VERSION on 2 January 2026 after v7.0.9."""

    def __init__(self, folder):
        self.folder = folder
        for pattern in READ:
            for path in glob.glob(os.path.join(TOP, pattern)):
                copy = os.path.join(folder, os.path.relpath(path, TOP))
                os.makedirs(os.path.dirname(copy), exist_ok=True)
                shutil.copy(path, copy)
                os.chmod(copy, 0o755 if copy.endswith("/release") else 0o644)  # of a tarball, read-only
        was = re.search(r"^AC_INIT\(\[nvtxtd\], \[(.*?)\]", self.read("configure.ac"), re.M)[1]
        for path in ("configure.ac", "README.md"):
            self.write(path, self.read(path).replace(was, VERSION))
        self.write("NEWS", "Noteworthy changes\n\n%s (2026-01-02)\n\n* New: --brighter.\n\n7.0.9 (2025-12-01)\n\n"
                           "* --older.\n" % VERSION)
        self.write("debian/changelog", "nvtxtd (%s) unstable; urgency=medium\n\n  * New.\n\n -- A <a@b.invalid>  "
                                       "Fri, 02 Jan 2026 10:00:00 +0100\n" % VERSION)
        for path in glob.glob(os.path.join(folder, "man", "*")):
            page = os.path.relpath(path, folder)
            self.write(page, re.sub(r"^\.Dd .*", ".Dd January 2, 2026", self.read(page), flags=re.M))
        self.write(FACTS, "nvtxt-tool --old: no argument\n")
        self.change("configure.ac", "[%s]" % VERSION, "[7.0.9]")
        self.git("init", "-q")
        self.commit()
        self.git("tag", "v7.0.9")
        self.change("configure.ac", "[7.0.9]", "[%s]" % VERSION)
        self.write(FACTS, "nvtxt-tool --brighter: no argument\nnvtxt-tool --old: no argument\n")
        self.commit()

    def read(self, path):
        with open(os.path.join(self.folder, path), encoding="utf-8") as file:
            return file.read()

    def write(self, path, text):
        full = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)

    def change(self, path, old, new):
        text = self.read(path)
        assert old in text, (path, old)
        self.write(path, text.replace(old, new))

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "commit.gpgsign=false",
                        *words], cwd=self.folder, check=True, stdin=subprocess.DEVNULL)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "x")

    def release(self, *words):
        done = subprocess.run([os.path.join(self.folder, "scripts", "release"), *words], cwd=self.folder, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout


def kind(*expected, version=VERSION):
    """What the function breaks is refused once, with a sentence that has the words."""
    def add(function):
        KINDS.append((function, expected, version))
        return function
    return add


@kind("configure.ac has the version 7.0.9")
def another_version_in_configure(tree):
    tree.change("configure.ac", "[%s]" % VERSION, "[7.0.9]")


@kind("README.md does not say 7.1.0")
def another_version_in_the_readme(tree):
    tree.change("README.md", "version=" + VERSION, "version=7.0.9")


@kind("NEWS begins with '7.1.0 (not released yet)'")
def news_without_a_day(tree):
    tree.change("NEWS", "(2026-01-02)", "(not released yet)")
    tree.day_is_missing = True


@kind("NEWS says nothing about 7.1.0")
def news_that_says_nothing(tree):
    tree.change("NEWS", "* New: --brighter.", "")
    tree.write(FACTS, "nvtxt-tool --old: no argument\n")


@kind("debian/changelog says UNRELEASED")
def a_changelog_that_is_open(tree):
    tree.change("debian/changelog", "unstable", "UNRELEASED")


@kind("debian/changelog begins with 'nvtxtd (7.0.9)")
def a_changelog_of_another_version(tree):
    tree.change("debian/changelog", VERSION, "7.0.9")


@kind("debian/changelog has the time 'Fri, 02 Jan 2026 00:30:00 +0100', NEWS has the day '2026-01-02'")
def a_changelog_of_the_day_before(tree):
    tree.change("debian/changelog", "10:00:00", "00:30:00")


@kind("is to come")
def a_day_to_come(tree):
    tree.change("NEWS", "2026-01-02", "2999-01-02")
    tree.change("debian/changelog", "Fri, 02 Jan 2026", "Wed, 02 Jan 2999")
    for path in os.listdir(os.path.join(tree.folder, "man")):
        tree.change("man/" + path, ".Dd January 2, 2026", ".Dd January 2, 2999")


@kind("man/nvtxt-send.1 has the date 'January 1, 2026': put '.Dd January 2, 2026' there")
def a_page_of_another_day(tree):
    tree.change("man/nvtxt-send.1", ".Dd January 2, 2026", ".Dd January 1, 2026")


@kind("man/nvtxt.5.in has the date")
def a_made_page_of_another_day(tree):
    tree.change("man/nvtxt.5.in", ".Dd January 2, 2026", ".Dd January 1, 2026")


@kind("writes user_version 99, man/nvtxt-store.5")
def a_schema_that_the_page_does_not_know(tree):
    text = tree.read("store/db/schema.h")
    tree.write("store/db/schema.h", re.sub(r"(STORE_SCHEMA_VERSION) \d+", r"\1 99", text))


@kind("speaks protocol 99, man/nvtxt-protocol.7")
def a_protocol_that_the_page_does_not_know(tree):
    text = tree.read("protocol/wire/hello.h")
    tree.write("protocol/wire/hello.h", re.sub(r"(NVTXT_PROTOCOL_VERSION) \d+", r"\1 99", text))


@kind("ship/engine/schema.h has version 99 of a fleet")
def a_fleet_without_its_step(tree):
    text = tree.read("ship/engine/schema.h")
    tree.write("ship/engine/schema.h", re.sub(r"(define SCHEMA_VERSION) \d+", r"\1 99", text))


@kind("schema/nvtxt-report-1.schema.json has not the $id urn:nvtxt-report:1")
def a_schema_of_json_with_another_number(tree):
    tree.change("schema/nvtxt-report-1.schema.json", "urn:nvtxt-report:1", "urn:nvtxt-report:2")


@kind("makes libnvtxt.so.9, debian/control has no package libnvtxt9")
def a_library_without_its_package(tree):
    text = tree.read("lib/Makefile.am")
    tree.write("lib/Makefile.am", re.sub(r"-version-info \S+", "-version-info 9:0:0", text))


@kind("lib/nvtxt.map has NVTXT_7.2, which is newer")
def symbols_of_a_version_to_come(tree):
    tree.change("lib/nvtxt.map", "NVTXT_0.1 {", "NVTXT_7.2 {")


@kind("tests/compat: an interface is not what v7.0.9 promised")
def an_interface_that_is_gone(tree):
    tree.change(FACTS, "nvtxt-tool --old: no argument\n", "")


@kind("tests/compat: an interface is not what v7.0.9 promised")
def an_interface_without_a_word(tree):
    tree.change(FACTS, "nvtxt-tool --old: no argument\n", "nvtxt-tool --old: no argument\nnvtxt-tool --secret: word\n")


@kind("'NEWS' is not as in the commit")
def a_change_that_is_not_committed(tree):
    tree.uncommitted = True
    tree.change("NEWS", "* New", "* Very new")


@kind("the tag v7.1.0 is there")
def a_release_that_was_made(tree):
    tree.git("tag", "v" + VERSION)


@kind("v7.1.1 was released: 7.1.0 is older")
def a_release_after_a_newer_one(tree):
    tree.git("tag", "v7.1.1")


@kind("NEWS says that 7.0.9 was released, and there is no tag v7.0.9")
def a_checkout_without_the_tags(tree):
    tree.git("update-ref", "-d", "refs/tags/v7.0.9")


def usage(tree):
    """Command lines that are refused with status 64."""
    for words, said in (((), "'' is no version"), (("7.1",), "'7.1' is no version"),
                        (("--loud", VERSION), "no option --loud"), ((VERSION, "7.2.0"), "takes one version"),
                        (("--without-check-full", VERSION), "goes with --dry-run only")):
        status, out = tree.release(*words)
        if status != 64 or said not in out:
            return "%s: status %d: %s" % (words, status, out)
    return None


def spdx(tree):
    """The list has what the daemon is linked with, in a package of the test's own."""
    if not all(map(shutil.which, ("dpkg-deb", "dpkg-query", "readelf"))):
        return None
    daemon = os.path.join(os.path.abspath(os.environ.get("top_builddir", ".")), "daemon", "nvtxtd")
    root = os.path.join(tree.folder, "root")
    tree.write("root/DEBIAN/control", "Package: a\nVersion: 1\nArchitecture: all\nMaintainer: a\nDescription: a\n")
    os.makedirs(os.path.join(root, "usr", "bin"))
    shutil.copy(daemon, os.path.join(root, "usr", "bin"))
    deb, tarball = os.path.join(tree.folder, "a_1_all.deb"), os.path.join(tree.folder, "NEWS")
    subprocess.run(["dpkg-deb", "--root-owner-group", "--build", root, deb], check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run([os.path.join(TOP, "scripts", "spdx-list"), VERSION, tarball, deb], stdout=subprocess.PIPE,
                          env={**os.environ, "SOURCE_DATE_EPOCH": "86400"}, check=True)
    listed = json.loads(done.stdout)
    names = {package["SPDXID"]: package for package in listed["packages"]}
    linked = {names[link["relatedSpdxElement"]]["name"] for link in listed["relationships"]
              if link["relationshipType"] == "DYNAMIC_LINK" and names[link["spdxElementId"]]["name"] == "a"}
    has = subprocess.run(["dpkg-query", "--show", "--showformat", "${Version}", "libuv1"], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True, check=False).stdout
    if listed["creationInfo"]["created"] != "1970-01-02T00:00:00Z" or not {"libc6", "libuv1"} <= linked:
        return "the list is %s" % listed
    return None if names["SPDXRef-Package-libuv1"]["versionInfo"] == has else "libuv1 is not %s: %s" % (has, listed)


def broken(tree, function, expected, version):
    function(tree)
    if not getattr(tree, "uncommitted", False):
        tree.commit()
    status, out = tree.release("--agree", version)
    told = [line for line in out.splitlines() if line.startswith("release: ")]
    if status != 1 or not all(any(words in line for line in told) for words in expected):
        return "status %d: %s" % (status, out)
    if not getattr(tree, "day_is_missing", False) and len(told) != len(expected) + 1:
        return "more was refused than was broken: " + out
    return None


def main():
    if not shutil.which("git"):
        print("1..0 # SKIP git is not installed")
        sys.exit(SKIPPED)
    os.environ.update(GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null")
    failed = 0
    print("1..%d" % (len(KINDS) + 3), flush=True)
    with tempfile.TemporaryDirectory() as above:
        whole = Tree(os.path.join(above, "whole"))
        cases = [("what agrees is taken", lambda tree: None if tree.release("--agree", VERSION)[0] == 0
                  else tree.release("--agree", VERSION)[1]), ("usage", usage),
                 ("what is linked", spdx)]
        cases += [(function.__name__.replace("_", " "), lambda tree, row=(function, *rest): broken(tree, *row))
                  for function, *rest in KINDS]
        for number, (title, case) in enumerate(cases, 1):
            tree = object.__new__(Tree)
            tree.folder = os.path.join(above, str(number))
            shutil.copytree(whole.folder, tree.folder)
            fault = case(tree)
            failed += fault is not None
            print("%s %d - %s" % ("not ok" if fault else "ok", number, title))
            if fault:
                print("# " + fault.replace("\n", "\n# "))
            sys.stdout.flush()
    sys.exit(failed > 0)


main()
