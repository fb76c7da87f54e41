# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL of the test's own: in a private folder, on a Unix socket in it, ended by the test.

The server's programs refuse to run as root: then they run as the user postgres. Without them, or
without that user, the tests skip. What the server holds is asked for with psql. The server is a child
of the test, and the kernel ends it when the thread that started it ends, however that comes."""
import atexit
import contextlib
import copy
import csv
import glob
import io
import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import uuid

import lib
from lib import DEADLINE, Skip

NULL = "\x01"  # psql writes it for NULL; no text of a test has it


def bin_folder():
    """The folder of the newest server's programs."""
    folders = []
    with_config = shutil.which("pg_config")
    if with_config:
        folders.append(subprocess.run([with_config, "--bindir"], stdout=subprocess.PIPE, text=True,
                                      check=True).stdout.strip())
    folders += sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True,
                      key=lambda path: int(path.split("/")[-2]) if path.split("/")[-2].isdigit()
                      else 0)
    for folder in folders:
        if all(os.access(os.path.join(folder, name), os.X_OK)
               for name in ("initdb", "postgres", "psql")):
            return folder
    raise Skip("there is no PostgreSQL server (package postgresql)")


def processes():
    """The parent of each process that has not ended."""
    found = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
            state, parent = file.read().rsplit(")", 1)[1].split()[:2]
            if state not in "ZX":
                found[int(path.split("/")[2])] = int(parent)
    return found


class Postgres:
    """A server; a context manager. `settings` are lines of postgresql.conf; `tcp`: it listens on
    127.0.0.1, too, on a free port."""

    def __init__(self, settings=(), tcp=False, hba=None, init=()):
        self.bin = bin_folder()
        self.as_server = []
        if not shutil.which("setpriv"):
            raise Skip("setpriv is missing (package util-linux)")
        if os.geteuid() == 0:
            try:
                pwd.getpwnam("postgres")
            except KeyError as reason:
                raise Skip("there is no user postgres to run the server as") from reason
            self.as_server = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
        self.folder = os.path.join(tempfile.gettempdir(), "nvtxt-pg-" + uuid.uuid4().hex[:12])
        self.data = os.path.join(self.folder, "data")
        self.tcp, self.port = tcp, 5432
        self.settings, self.hba, self.init = list(settings), hba, list(init)
        self.database = "postgres"
        self.started = []  # its processes, one after the other; copies share them
        self.env = {**os.environ, "PGHOST": self.folder, "PGPORT": "5432", "PGUSER": "postgres",
                    "PGDATABASE": "postgres", "PGPASSFILE": "/nonexistent", "LC_ALL": "C"}

    def __enter__(self):
        try:
            self.make()
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind, value, trace):
        if self.runs():
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def make(self):
        os.mkdir(self.folder)
        os.chmod(self.folder, 0o755)
        if self.as_server:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        made = subprocess.run([*self.as_server, os.path.join(self.bin, "initdb"), "--no-sync", "-D",
                               self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C",
                               *self.init], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, cwd="/", timeout=DEADLINE, check=False)
        lib.equal(made.returncode, 0, made.stdout)
        lines = ["listen_addresses = ''", "unix_socket_directories = '%s'" % self.folder,
                 "fsync = off", "shared_buffers = 32MB", "max_connections = 60", *self.settings]
        if self.tcp:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                self.port = free.getsockname()[1]
            lines += ["listen_addresses = '127.0.0.1'", "port = %d" % self.port]
            self.env["PGPORT"] = str(self.port)
        with open(os.path.join(self.data, "postgresql.conf"), "a", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        if self.hba:
            with open(os.path.join(self.data, "pg_hba.conf"), "w", encoding="utf-8") as file:
                file.write("\n".join(self.hba) + "\n")

    def as_child(self, signal_name):
        """What runs a command as the server's user; it gets this signal when the test has ended."""
        return [*(self.as_server or ["setpriv"]), "--pdeathsig=" + signal_name]

    def start(self):
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.started.append(subprocess.Popen(
                [*self.as_child("QUIT"), os.path.join(self.bin, "postgres"), "-D", self.data],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", start_new_session=True,
                env={**os.environ, "LC_ALL": "C"}))
        lib.wait_for(self.is_ready, "the server is ready")

    def runs(self):
        return bool(self.started) and self.started[-1].poll() is None

    def is_ready(self):
        """What it writes of itself: its process id first, in line 8 how far its start is."""
        if not self.runs():
            with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as log:
                raise AssertionError("the server ended at its start:\n" + log.read())
        with contextlib.suppress(FileNotFoundError), \
                open(os.path.join(self.data, "postmaster.pid"), encoding="utf-8") as file:
            lines = [line.strip() for line in file]
            return len(lines) > 7 and (lines[0], lines[7]) == (str(self.started[-1].pid), "ready")
        return False

    def stop(self, number=signal.SIGQUIT):
        self.started[-1].send_signal(number)
        self.started[-1].wait(DEADLINE)

    def kill(self):
        """Ends all of its processes at once, with SIGKILL."""
        first = self.started[-1].pid
        os.kill(first, signal.SIGSTOP)  # it starts no more
        pids = {first, *(pid for pid, parent in processes().items() if parent == first)}
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.started[-1].wait(DEADLINE)
        lib.wait_for(lambda: pids.isdisjoint(processes()), "the server has ended")

    def target(self, **more):
        """The value of --target; a value that is None is left out."""
        words = {"host": self.folder, "port": self.port, "user": "postgres", "dbname": self.database,
                 **more}
        return " ".join("%s=%s" % pair for pair in words.items() if pair[1] is not None)

    def psql(self, sql, user="postgres", database=None):
        """Runs SQL; returns psql's status, rows of texts, and what it said."""
        done = subprocess.run([os.path.join(self.bin, "psql"), "-X", "-q", "--csv", "-t", "-v",
                               "ON_ERROR_STOP=1", "-P", "null=" + NULL, "-U", user, "-d",
                               database or self.database,
                               "-f", "-"], env=self.env, input=sql.encode(), timeout=DEADLINE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        text = io.StringIO(done.stdout.decode(), newline="")
        found = [tuple(None if value == NULL else value for value in row)
                 for row in csv.reader(text)]
        return done.returncode, found, done.stderr.decode()

    def rows(self, sql, **more):
        status, found, said = self.psql(sql, **more)
        lib.equal(status, 0, said)
        return found

    @contextlib.contextmanager
    def held(self, sql, end="ROLLBACK"):
        """Runs SQL in a transaction that stays open for as long as the context, or until what it
        gives is called."""
        with subprocess.Popen([os.path.join(self.bin, "psql"), "-XAtq", self.target()],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as client:
            client.stdin.write("BEGIN; %s; \\echo held\n" % sql)
            client.stdin.flush()
            while client.stdout.readline() not in ("held\n", ""):
                pass

            def finish():
                if client.poll() is None:
                    client.communicate(end + ";\n", DEADLINE)
            try:
                yield finish
            finally:
                finish()

    def one(self, sql, **more):
        """The only value of the only row."""
        found = self.rows(sql, **more)
        lib.equal((len(found), len(found[0]) if found else 0), (1, 1), sql)
        return found[0][0]


shared = {}
numbers = itertools.count(1)


def end_shared():
    for server in shared.values():
        server.__exit__(None, None, None)


@contextlib.contextmanager
def database(tcp=False):
    """A database of its own on a server that all cases of a file share. Roles are the server's, so
    the next case finds those of the one before."""
    if not shared:
        atexit.register(end_shared)
    if tcp not in shared:
        shared[tcp] = Postgres(tcp=tcp).__enter__()
    server = copy.copy(shared[tcp])
    server.database = "case%d" % next(numbers)
    server.rows("CREATE DATABASE %s TEMPLATE template0" % server.database, database="postgres")
    yield server
    with contextlib.suppress(AssertionError):  # a failed case may have left the server stopped
        server.rows("DROP DATABASE %s WITH (FORCE)" % server.database, database="postgres")
