# SPDX-License-Identifier: Apache-2.0
"""Where -o leads, for each program that has it: links of others, pipes, devices and descriptors."""
import os
import signal
import socket
import stat
import subprocess
import threading

import lib
from client import ENV, Folder, contains
from lib import Skip, equal, program, run
from report import f1

OTHER = 65533


class Programs(lib.Daemon):
    """A daemon, for nvtxt-ctl, and a store: (name, words before -o, how its output begins)."""

    def start_all(self, folder):
        store = f1(folder)
        return [("nvtxt-export", ["--store", store, "--format", "csv", "-o"], "utcTime"),
                ("nvtxt-report", ["stats", "--csv", store, "-o"], "Time"),
                ("nvtxt-report", ["html", store, "-o"], "<!DOCTYPE html>"),
                ("nvtxt-ctl", ["--socket", self.control_socket, "metrics", "--output"], "# HELP")]


def words_of(name, words):
    return [program("client", name), *words]


def started(words, **more):
    more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    return subprocess.Popen(words, env={**os.environ, **ENV}, stdin=subprocess.DEVNULL, **more)


def ended(words, **more):
    with started(words, **more) as child:
        out, err = child.communicate()
    return child.returncode, (out or b"").decode(), (err or b"").decode()


def stranger(target, path):
    os.symlink(target, path)
    os.lchown(path, OTHER, OTHER)


def test_links_of_others_are_not_followed():
    if os.geteuid() != 0:
        raise Skip("only root can make another user's link")
    with Folder() as folder, Programs() as daemon:
        programs = daemon.start_all(folder) + [
            ("nvtxt-import", ["create", "-n", folder.write("in", "TimeBase = Manual\n"), "-o"], "")]
        shared = folder.name("shared")
        os.mkdir(shared)
        os.chmod(shared, 0o1777)
        target, deep = folder.write("target", "mine"), folder.name("deep")
        os.mkdir(deep)
        stranger(target, os.path.join(shared, "link"))
        stranger(folder.name("none"), os.path.join(shared, "nowhere"))
        stranger(deep, os.path.join(shared, "folder"))
        os.symlink("shared/link", folder.name("mine"))  # leads to it
        for name, words, _ in programs:
            for link in ("shared/link", "shared/nowhere", "shared/folder/out", "mine"):
                if name == "nvtxt-import" and link != "shared/folder/out":
                    continue  # it replaces no link at all
                status, out, err = ended(words_of(name, [*words, folder.name(link)]))
                equal((status, out), (73, ""), (name, link, err))
                contains(err, "is a link of another user (%d)" % OTHER)
                equal(err.count("\n"), 1)
            equal((open(target).read(), os.listdir(deep), os.path.exists(folder.name("none"))),
                  ("mine", [], False), name)
        equal(sorted(os.listdir(shared)), ["folder", "link", "nowhere"])
        # In a folder that only its owner writes to, it was put there by the owner.
        os.chmod(shared, 0o755)
        for name, words, begin in programs[:4]:
            equal(ended(words_of(name, [*words, os.path.join(shared, "link")]))[0], 0, name)
            equal(open(target, encoding="utf-8").read(len(begin)), begin)
        # A stranger who owns the folder may write to it, too.
        os.chown(shared, OTHER, OTHER)
        equal(ended(words_of(programs[0][0], [*programs[0][1], os.path.join(shared, "link")]))[0], 73)


def test_links_of_ones_own_are_followed():
    with Folder() as folder, Programs() as daemon:
        shared = folder.name("shared")
        os.mkdir(shared)
        os.chmod(shared, 0o1777)
        os.symlink("../target", os.path.join(shared, "link"))
        os.symlink("..", os.path.join(shared, "folder"))
        for name, words, begin in daemon.start_all(folder):
            for link, target in (("shared/link", "target"), ("shared/folder/other", "other"),
                                 ("shared/folder/shared/link", "target")):
                status, _, err = ended(words_of(name, [*words, folder.name(link)]))
                equal((status, err), (0, ""), (name, link))
                equal(open(folder.name(target), encoding="utf-8").read(len(begin)), begin)
                os.unlink(folder.name(target))
            equal(os.path.islink(os.path.join(shared, "link")), True)
        os.symlink("round", folder.name("round"))
        status, _, err = ended(words_of(name, [*words, folder.name("round")]))
        equal(status, 73)
        contains(err, "Too many levels of symbolic links")


def test_a_pipe_is_written_to_and_its_reader_is_waited_for():
    with Folder() as folder, Programs() as daemon:
        pipe = folder.name("pipe")
        os.mkfifo(pipe)
        for name, words, begin in daemon.start_all(folder):
            child = started(words_of(name, [*words, pipe]))
            line = child.stderr.readline().decode()
            equal(line, "%s: waiting for a reader of %s\n" % (name, pipe))
            with open(pipe, "rb") as reader:
                got = reader.read()
            equal((child.wait(600), child.stderr.read()), (0, b""), name)
            equal(got[:len(begin)].decode(), begin)
            child.stdout.close()
            child.stderr.close()
            equal(stat.S_ISFIFO(os.lstat(pipe).st_mode), True)
            child = started(words_of(name, [*words, pipe]))
            child.stderr.readline()
            child.send_signal(signal.SIGTERM)
            equal(child.wait(600), 128 + signal.SIGTERM, name)
            child.stdout.close()
            child.stderr.close()
        equal([one for one in os.listdir(folder.path) if "part" in one], [])


def test_devices_and_descriptors_are_written_to_as_they_are():
    with Folder() as folder, Programs() as daemon:
        for name, words, begin in daemon.start_all(folder):
            command = words_of(name, [*words, "/dev/stdout"])
            status, out, err = ended(command)
            equal((status, out[:len(begin)], err), (0, begin, ""), name)
            # A file is not begun anew, and stays the one that the shell has opened.
            path = folder.write("log", "before\n")
            with open(path, "ab") as log:
                equal(ended(command, stdout=log)[0], 0)
                equal(os.fstat(log.fileno()).st_ino, os.stat(path).st_ino)
            with open(path, encoding="utf-8") as log:
                equal((log.readline(), log.read(len(begin))), ("before\n", begin), name)
            # What a shell makes of >(COMMAND).
            reads, writes = os.pipe()
            got = []
            reader = threading.Thread(target=lambda: got.append(os.fdopen(reads, "rb").read()))
            reader.start()
            equal(ended(words_of(name, [*words, "/dev/fd/%d" % writes]), pass_fds=[writes])[0], 0)
            os.close(writes)
            reader.join()
            equal(got[0][:len(begin)].decode(), begin, name)
            equal(ended(words_of(name, [*words, "/dev/null"])), (0, "", ""), name)
            equal(stat.S_ISCHR(os.stat("/dev/null").st_mode), True)
            reads, writes = os.pipe()
            equal(ended(words_of(name, [*words, "/dev/fd/%d" % reads]), pass_fds=[reads])[0], 73)
            os.close(reads)
            os.close(writes)
            bound = socket.socket(socket.AF_UNIX)
            bound.bind(folder.name("socket"))
            status, _, err = ended(words_of(name, [*words, folder.name("socket")]))
            equal(status, 73, err)
            bound.close()
            os.unlink(folder.name("socket"))


if __name__ == "__main__":
    run(globals())
