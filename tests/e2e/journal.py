# SPDX-License-Identifier: Apache-2.0
"""Journals for tests: files that systemd-journal-remote writes from entries."""
import mmap
import os
import subprocess

from lib import TOP_BUILD, Skip

REMOTE = "/lib/systemd/systemd-journal-remote"
BOOT = "0123456789abcdef0123456789abcdef"
BEGIN_US = 1700000000 * 10 ** 6


def has_libsystemd():
    """Whether nvtxt-send was built with it."""
    with open(os.path.join(TOP_BUILD, "config.h"), encoding="utf-8") as file:
        return "#define HAVE_LIBSYSTEMD 1" in file.read()


def entry(number, **fields):
    """The number-th entry, a millisecond after the one before; a field that is None is left out."""
    usual = {"__REALTIME_TIMESTAMP": BEGIN_US + number * 1000,
             "__MONOTONIC_TIMESTAMP": 10 ** 6 + number * 1000, "_BOOT_ID": BOOT,
             "_HOSTNAME": os.uname().nodename, "_PID": 4200000 + number % 3,
             "_SYSTEMD_UNIT": "ssh.service", "PRIORITY": 6, "MESSAGE": "entry %d" % number}
    return {name: value for name, value in {**usual, **fields}.items() if value is not None}


def export(entries):
    """The entries in systemd's export format."""
    parts = []
    for fields in entries:
        for name, value in fields.items():
            data = value if isinstance(value, bytes) else str(value).encode()
            plain = data.isascii() and data.replace(b"\t", b" ").decode().isprintable()
            parts.append(b"%s=%s\n" % (name.encode(), data) if plain else
                         name.encode() + b"\n" + len(data).to_bytes(8, "little") + data + b"\n")
        parts.append(b"\n")
    return b"".join(parts)


def write(path, entries):
    """Makes a journal file, or adds to one. Its name ends with .journal."""
    if not has_libsystemd():
        raise Skip("nvtxt-send was built without libsystemd")
    if not os.access(REMOTE, os.X_OK):
        raise Skip("systemd-journal-remote is not installed")
    subprocess.run([REMOTE, "-o", path, "-"], input=export(entries), stdout=subprocess.DEVNULL,
                   stderr=subprocess.PIPE, check=True)
    return path


class Unlinked:
    """A journal whose writer stands still inside its last step, for the field of these bytes: the
    place of the field's first entry is written, the count of its entries is not."""

    def __init__(self, path, field):
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 0)
        compact = self.map[12] & 16  # a flag of the file: objects of data have 8 bytes more
        start = self.map.find(field) - (72 if compact else 64)
        if start < 0 or self.map[start] != 1:
            raise AssertionError("there is no data %r in %s" % (field, path))
        self.count = slice(start + 56, start + 64)
        self.linked = self.map[self.count]
        self.map[self.count] = bytes(8)

    def link(self):
        """The writer goes on."""
        self.map[self.count] = self.linked
        self.map.close()
