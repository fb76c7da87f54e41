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
import re
import select
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


def place():
    """A server makes and removes very many files, so where memory abounds, it has them there."""
    with contextlib.suppress(OSError):
        found = os.statvfs("/dev/shm")
        if found.f_bavail * found.f_frsize > 4 << 30 and os.access("/dev/shm", os.W_OK):
            return "/dev/shm"
    return tempfile.gettempdir()


def held_port():
    """A socket of 127.0.0.1 that does not listen, and its port. For as long as the socket is open the
    kernel gives the port to nobody who asks for any; a server that asks for this one gets it."""
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do
    holder.bind(("127.0.0.1", 0))
    return holder, holder.getsockname()[1]


def processes():
    """The parent of each process that has not ended."""
    found = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
            state, parent = file.read().rsplit(")", 1)[1].split()[:2]
            if state not in "ZX":
                found[int(path.split("/")[2])] = int(parent)
    return found


def rows_of(text):
    """The rows of psql's CSV."""
    return [tuple(None if value == NULL else value for value in row)
            for row in csv.reader(io.StringIO(text.decode(), newline=""))]


class Asker:
    """A psql that answers one question after the other, until one fails."""
    END = uuid.uuid4().hex.encode() + b"\n"

    def __init__(self, command, env):
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, bufsize=0)

    def rows(self, sql):
        """The rows; None when it ended instead."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(sql.encode() + b"\n;\n\\echo " + self.END)
        text = b""
        while not text.endswith(self.END):
            if not select.select([self.process.stdout], [], [], DEADLINE)[0]:
                raise AssertionError("no answer: " + sql)
            part = self.process.stdout.read(1 << 20)
            if not part:
                return None
            text += part
        return rows_of(text[:-len(self.END)])

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


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
        self.folder = os.path.join(place(), "nvtxt-pg-" + uuid.uuid4().hex[:12])
        self.data = os.path.join(self.folder, "data")
        self.tcp, self.port, self.holder = tcp, 5432, None
        self.settings, self.hba, self.init = list(settings), hba, list(init)
        self.database = "postgres"
        self.started = []  # its processes, one after the other; copies share them
        self.askers = {}  # not in use; copies share them
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
        while self.askers:
            self.askers.popitem()[1].close()
        if self.runs():
            self.stop()
        if self.holder:
            self.holder.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def make(self):
        os.mkdir(self.folder)
        os.chmod(self.folder, 0o755)
        if self.as_server:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        if self.init:
            self.initialize(self.data)
        else:
            subprocess.run(["cp", "-a", self.template(), self.data], check=True)
        lines = ["listen_addresses = ''", "unix_socket_directories = '%s'" % self.folder,
                 "fsync = off", "shared_buffers = 32MB", "max_connections = 60", *self.settings]
        if self.tcp:
            self.holder, self.port = held_port()
            lines += ["listen_addresses = '127.0.0.1'", "port = %d" % self.port]
            self.env["PGPORT"] = str(self.port)
        with open(os.path.join(self.data, "postgresql.conf"), "a", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        if self.hba:
            with open(os.path.join(self.data, "pg_hba.conf"), "w", encoding="utf-8") as file:
                file.write("\n".join(self.hba) + "\n")

    def initialize(self, data):
        made = subprocess.run([*self.as_server, os.path.join(self.bin, "initdb"), "--no-sync", "-D",
                               data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C",
                               *self.init], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, cwd="/", timeout=DEADLINE, check=False)
        lib.equal(made.returncode, 0, made.stdout)

    def template(self):
        """A folder of data that all tests copy: initdb takes ten times as long."""
        made = os.stat(os.path.join(self.bin, "initdb")).st_mtime_ns
        path = os.path.abspath(os.path.join(lib.TOP_BUILD, "tests", "postgres", "%d-%d" % (os.geteuid(), made)))
        if not os.path.exists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            fresh = os.path.join(self.folder, "fresh")
            self.initialize(fresh)
            own = "%s.%d" % (path, os.getpid())
            subprocess.run(["cp", "-a", fresh, own], check=True)
            try:
                os.rename(own, path)
            except OSError:  # another test was faster
                shutil.rmtree(own)
            shutil.rmtree(fresh)
        return path

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

    def psql_command(self, user="postgres", database=None):
        return [os.path.join(self.bin, "psql"), "-X", "-q", "--csv", "-t", "-v", "ON_ERROR_STOP=1", "-P",
                "null=" + NULL, "-U", user, "-d", database or self.database, "-f", "-"]

    def psql(self, sql, **more):
        """Runs SQL; returns psql's status, rows of texts, and what it said."""
        done = subprocess.run(self.psql_command(**more), env=self.env, input=sql.encode(),
                              timeout=DEADLINE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=False)
        return done.returncode, rows_of(done.stdout), done.stderr.decode()

    def asked(self, sql, **more):
        """The rows of a query on a connection that stays open for the next one; None without."""
        command = self.psql_command(**more)
        key = (self.env["PGHOST"], self.env["PGPORT"], *command)
        asker = self.askers.pop(key, None) or Asker(command, self.env)
        try:
            found = asker.rows(sql)
        except BaseException:
            asker.close()
            raise
        if found is None or key in self.askers:  # of another thread
            asker.close()
        else:
            self.askers[key] = asker
        return found

    def forget(self):
        """Closes the connections to the own database."""
        for key in [key for key in self.askers if self.database in key]:
            self.askers.pop(key).close()

    def rows(self, sql, **more):
        """A query is asked on a connection that stays open; if that fails, like anything else, on
        one of its own: only then it has failed."""
        found = self.asked(sql, **more) if re.match(r"\s*SELECT\b", sql) else None
        if found is not None:
            return found
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


def is_fleet():
    """Whether the tests of shippers have a distributed database, not one server: the same tests."""
    return os.environ.get("NVTXT_TEST_FLEET") == "citus"


cluster_folders = set()  # of the servers that are one database then; of no others


def one_server(why):
    """For a case that asks or disturbs the server in a way of its own, which several do not have."""
    if is_fleet():
        raise Skip("on several machines: " + why)


@contextlib.contextmanager
def database(tcp=False):
    """A database of its own on a server that all cases of a file share. Roles are the server's, so
    the next case finds those of the one before."""
    if is_fleet():
        import citus  # pylint: disable=import-outside-toplevel
        with citus.distributed_database(tcp) as server:
            yield server
        return
    if not shared:
        atexit.register(end_shared)
    if tcp not in shared:
        shared[tcp] = Postgres(tcp=tcp).__enter__()
    server = copy.copy(shared[tcp])
    server.database = "case%d" % next(numbers)
    server.rows("CREATE DATABASE %s TEMPLATE template0" % server.database, database="postgres")
    yield server
    server.forget()
    with contextlib.suppress(AssertionError):  # a failed case may have left the server stopped
        server.rows("DROP DATABASE %s WITH (FORCE)" % server.database, database="postgres")
