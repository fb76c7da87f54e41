# SPDX-License-Identifier: Apache-2.0
"""A file system that is soon full: a small tmpfs, which only root may mount."""
import errno
import os
import subprocess

from lib import Skip


class SmallDisk:
    """Mounted at FOLDER/disk; a context manager. `options` are those of tmpfs."""

    def __init__(self, folder, options="size=2m"):
        self.folder, self.options = os.path.join(folder, "disk"), options

    def mount(self, options):
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", self.folder],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        return done.returncode == 0

    def __enter__(self):
        os.mkdir(self.folder)
        if os.getuid() != 0 or not self.mount(self.options):
            raise Skip("no right to mount a tmpfs")
        return self

    def __exit__(self, kind, value, trace):
        subprocess.run(["umount", "-l", self.folder], check=False)

    def fill(self):
        """Takes all room that there is now. What others give back later is room again: who waits for
        something that needs a full disk fills it again each time it looks."""
        try:
            with open(os.path.join(self.folder, "filler"), "ab", buffering=0) as file:
                while True:
                    file.write(b"x" * 4096)
        except OSError as reason:
            if reason.errno != errno.ENOSPC:
                raise

    def room(self):
        found = os.statvfs(self.folder)
        return found.f_bavail * found.f_frsize

    def empty(self):
        os.remove(os.path.join(self.folder, "filler"))

    def grow(self):
        assert self.mount("remount,size=256m")
