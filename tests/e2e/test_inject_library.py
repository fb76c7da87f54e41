# SPDX-License-Identifier: Apache-2.0
"""What libnvtxt-inject is to a loader and a linker."""
import os
import re
import shutil
import subprocess

from inject import INJECTION, LIBRARIES, TOP_BUILD
from lib import SANITIZERS, Skip, equal, run

ENTRIES = ["InitializeInjectionNvtx", "InitializeInjectionNvtx2", "InitializeInjectionNvtxExtension"]
ARCHIVE = os.path.join(TOP_BUILD, "inject", "libnvtxt-inject.a")


def output(*command):
    if not shutil.which(command[0]):
        raise Skip("no %s" % command[0])
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def test_it_exports_what_nvtx_looks_up():
    names = [line.split()[-1] for line in output("nm", "-D", "--defined-only", INJECTION).splitlines()]
    if SANITIZERS or "gcov" in output("nm", INJECTION):
        names = [name for name in names if name in ENTRIES]
    equal(sorted(names), ENTRIES)


def test_it_needs_libnvtxt_and_libc_and_stays():
    dynamic = output("readelf", "-dW", INJECTION)
    equal(re.findall(r"SONAME.*\[(.*)\]", dynamic), ["libnvtxt-inject.so"])
    assert re.search("FLAGS_1.*NODELETE", dynamic), dynamic
    needed = re.findall(r"NEEDED.*\[(.*)\]", dynamic)
    assert "libnvtxt.so.0" in needed, needed
    if not SANITIZERS:
        equal(sorted(set(needed) - {"ld-linux-x86-64.so.2", "libdl.so.2", "libpthread.so.0"}),
              ["libc.so.6", "libnvtxt.so.0"])


def test_it_has_no_variables_of_threads_that_allocate():
    relocations = output("readelf", "-rW", INJECTION) + output("readelf", "-rW", ARCHIVE)
    if not SANITIZERS:
        assert "DTPMOD" not in relocations and "TLSGD" not in relocations, relocations


def test_nobody_can_take_the_place_of_what_a_library_defines():
    for library in INJECTION, os.path.join(LIBRARIES, "libnvtxt.so"):
        defined = {line.split()[-1].partition("@")[0]
                   for line in output("nm", "-D", "--defined-only", library).splitlines()
                   if "nvtx" in line.lower()}  # a sanitizer's own symbols are meant to be found elsewhere
        assert defined, library
        used = {line.split()[4].partition("@")[0]
                for line in output("readelf", "-rW", library).splitlines() if len(line.split()) > 4}
        equal(used & defined, set(), library)


def test_all_that_it_uses_of_libnvtxt_is_versioned():
    used = [line.split()[-1] for line in output("nm", "-D", "--undefined-only", INJECTION).splitlines()
            if " nvtxt_" in line]
    assert used, "nothing is used"
    for name in used:
        version = "NVTXT_PRIVATE" if name.startswith("nvtxt_private_") else "NVTXT_0.1"
        equal(name.partition("@")[2].lstrip("@"), version, name)


def test_the_archive_defines_the_pointers_and_libnvtxt():
    defined = {line.split()[-1] for line in output("nm", "--defined-only", ARCHIVE).splitlines()
               if re.search(" [TDB] ", line)}
    for name in ENTRIES + ["InitializeInjectionNvtx2_fnptr", "InitializeInjectionNvtxExtension_fnptr",
                           "nvtxt_push"]:
        assert name in defined, name


def test_pkg_config_says_how_it_is_linked_in():
    env = dict(os.environ, PKG_CONFIG_PATH=os.path.join(TOP_BUILD, "inject"))
    if not shutil.which("pkg-config"):
        raise Skip("no pkg-config")

    def pkg_config(*args):
        return subprocess.run(["pkg-config", *args, "nvtxt-inject"], env=env, check=True, text=True,
                              stdout=subprocess.PIPE).stdout.split()
    equal(pkg_config("--libs"), [])
    libs = pkg_config("--static", "--libs")
    assert libs[0] == "-Wl,--whole-archive" and libs[1].endswith("/libnvtxt-inject.a"), libs
    equal(libs[2], "-Wl,--no-whole-archive")
    equal(os.path.basename(pkg_config("--variable=injection")[0]), "libnvtxt-inject.so")


if __name__ == "__main__":
    run(globals())
