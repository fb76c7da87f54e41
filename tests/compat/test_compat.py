# SPDX-License-Identifier: Apache-2.0
"""Each interface of nvtxt-compat(7) is what its file in this folder says: a case an interface.

    test_compat.py --write [INTERFACE...]

writes the files again, if what differs was only added and NEWS names it. What changed, or is gone,
is not within 1.x: a file is made anew when it is not there. In a build's folder `tests`, with
top_srcdir and top_builddir, as any test."""
import os
import re
import shutil
import sys

from facts import TOP, faults, path_of, read, write
from interfaces import ALL_INTERFACES, layout, offsets_of_abidw
from lib import Skip, equal, run


def check(name):
    told, _ = faults(name, read(path_of(name)), ALL_INTERFACES[name][0]())
    if told:
        raise AssertionError("\n  ".join(["what differs from tests/compat/%s.facts:" % name] + told))


def test_libabigail_sees_the_same_members_and_offsets():
    if not shutil.which("abidw"):
        raise Skip("there is no abidw (package abigail-tools)")
    ours = {match[1]: int(match[2]) for match in
            (re.fullmatch(r"struct ([^:]*): offset ([0-9]+), .*", ": ".join(fact))
             for fact in layout(os.path.join(TOP, "lib")).items()) if match}
    equal(ours, offsets_of_abidw(os.path.join(TOP, "lib")))


def test_codes():
    check("codes")


def test_conf():
    check("conf")


def test_csv():
    check("csv")


def test_files():
    check("files")


def test_fleet():
    check("fleet")


def test_json_ctl():
    check("json_ctl")


def test_json_report():
    check("json_report")


def test_json_ship():
    check("json_ship")


def test_language():
    check("language")


def test_library():
    check("library")


def test_metrics():
    check("metrics")


def test_options():
    check("options")


def test_python():
    check("python")


def test_statuses():
    check("statuses")


def test_store():
    check("store")


def test_wire():
    check("wire")


def test_every_interface_has_a_case():
    equal([name for name in ALL_INTERFACES if "test_" + name not in globals()], [])


def rewrite(names):
    bad = 0
    for name in names or ALL_INTERFACES:
        make, title = ALL_INTERFACES[name]
        now, path = make(), path_of(name)
        final = faults(name, read(path), now)[1] if os.path.exists(path) else []
        if final:
            bad += 1
            print("\n".join(final + ["%s is not written" % path]))
        else:
            write(path, title, now)
    return bad > 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        sys.exit(rewrite(sys.argv[2:]))
    run(globals())
