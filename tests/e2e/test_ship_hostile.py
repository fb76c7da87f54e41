# SPDX-License-Identifier: Apache-2.0
"""A database that is none: it answers too much, for ever, or something else than it was asked for. The
shipper's memory is bounded, and it ends with 69, one sentence, and a closed connection."""
import contextlib
import itertools
import os
import socket
import struct
import subprocess
import tempfile
import threading

from lib import DEADLINE, Daemon, equal, program, run
from ship import ERROR, marker

MOST_KIB = 64 << 10
MOST_KIB_OF_PULL = 128 << 10  # a row may have 32 MiB
CLOSED = ": the connection was closed\n"
TOO_MUCH = ERROR + "the engine answers with more than is expected" + CLOSED
NO_ANSWER = ERROR + "the engine answers with something else than it was asked for" + CLOSED


def message(kind, body=b""):
    return kind + struct.pack("!I", len(body) + 4) + body


def fields(*texts):
    """A notice or an error."""
    return b"".join(texts) + b"\0"


READY = message(b"Z", b"I")
HELLO = message(b"R", struct.pack("!I", 0)) + message(b"S", b"server_version\x0015.0\0") + \
    message(b"S", b"client_encoding\0UTF8\0") + message(b"K", b"\0" * 8)
COLUMN = b"a\0" + struct.pack("!IHIHIH", 0, 0, 25, 65535, 0, 0)
NOTICE = message(b"N", fields(b"SNOTICE\0", b"VNOTICE\0", b"C00000\0", b"M", b"x" * 1000, b"\0"))


def rows(*texts):
    return b"".join(message(b"D", struct.pack("!HI", 1, len(text)) + text) for text in texts)


def answer(*texts):
    """A whole answer of one row."""
    row = b"".join(struct.pack("!I", len(text)) + text for text in texts)
    return message(b"1") + message(b"2") + \
        message(b"T", struct.pack("!H", len(texts)) + COLUMN * len(texts)) + \
        message(b"D", struct.pack("!H", len(texts)) + row) + message(b"C", b"SELECT 1\0") + READY


class Engine:
    """A server on a Unix socket; a context manager. Whoever connects gets the first of these `answers`,
    and the next one after each statement; after the last one the pieces `again` until it closes the
    connection. They are small: what a program took includes what began it."""

    def __init__(self, *answers, again=()):
        self.answers, self.again = answers, again
        self.folder = tempfile.mkdtemp(prefix="nvtxt-hostile-")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(os.path.join(self.folder, ".s.PGSQL.5432"))
        self.listener.listen()
        self.closed = threading.Event()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                client = self.listener.accept()[0]
                with contextlib.suppress(OSError), client:
                    for text in self.answers:
                        if client.recv(65536):
                            client.sendall(text)
                    for piece in itertools.cycle(self.again):
                        client.sendall(piece)
                    while client.recv(65536):
                        continue
                self.closed.set()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.listener.close()
        os.remove(os.path.join(self.folder, ".s.PGSQL.5432"))
        os.rmdir(self.folder)

    def asked(self, *args, most=MOST_KIB):
        """What a command says that ends with 69, within bounds."""
        target = "host=%s port=5432 user=u dbname=d sslmode=disable" % self.folder
        with subprocess.Popen([program("ship", "nvtxt-ship"), *args, "--target", target],
                              env={**os.environ, "CONFIGURATION_DIRECTORY": self.folder},
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            ender = threading.Timer(DEADLINE, process.kill)
            ender.start()
            said = process.stderr.read().decode()
            status, usage = os.wait4(process.pid, 0)[1:]
            process.returncode = os.waitstatus_to_exitcode(status)
            ender.cancel()
        if not os.environ.get("SANITIZERS"):  # a sanitizer takes memory of its own
            equal(usage.ru_maxrss <= most, True, "%d KiB" % usage.ru_maxrss)
        equal((process.returncode, said.count("\n")), (69, 1), said)
        equal(self.closed.wait(DEADLINE), True)
        return said


HEAD = message(b"1") + message(b"2") + message(b"T", b"\0\1" + COLUMN)
BLOCK = 64  # a message again and again, in one piece
PIECE = b"x" * 65536
ERROR_TEXT = b"SERROR\0VERROR\0C53100\0M"
FLOODS = {
    "notices": (b"", [NOTICE * BLOCK]),
    "notifications": (b"", [message(b"A", struct.pack("!I", 1) + b"c\0" + PIECE[:1000] + b"\0") * BLOCK]),
    "parameters": (b"", [b"".join(message(b"S", b"p%d\0" % n + PIECE[:1000] + b"\0")
                                  for n in range(BLOCK))]),
    "rows": (HEAD, [rows(PIECE[:1000]) * BLOCK]),
    "rows of nothing": (HEAD, [message(b"D", struct.pack("!Hi", 1, -1)) * 4096]),
    "rows of 8 MiB": (HEAD, [b"D" + struct.pack("!IHI", (8 << 20) + 10, 1, 8 << 20), *[PIECE] * 128]),
    "a row of 1 GB": (HEAD + b"D" + struct.pack("!I", 1 << 30), [PIECE]),
    "an error of 1 GB": (b"E" + struct.pack("!I", 1 << 30) + ERROR_TEXT, [PIECE]),
    "errors": (b"", [message(b"E", ERROR_TEXT + PIECE[:1000] + b"\0\0") * BLOCK]),
    "results": (b"", [message(b"C", b"SELECT 0\0") * 1000]),
    "columns": (message(b"1") + message(b"2"), [message(b"T", struct.pack("!H", 1000) + COLUMN * 1000),
                                                message(b"C", b"SELECT 0\0")]),
}


def test_a_flood_ends_the_connection():
    with Daemon() as daemon:
        daemon.send(marker("a"))
        for name, (once, again) in FLOODS.items():
            for args in (("--once", "--store", daemon.store), ("init",)):
                with Engine(HELLO + READY, once, again=again) as engine:
                    equal(engine.asked(*args), TOO_MUCH, name)


def test_a_flood_at_the_beginning_ends_the_connection():
    for name in ("notices", "parameters", "notifications"):
        with Engine(HELLO, again=FLOODS[name][1]) as engine:
            equal(engine.asked("init"), TOO_MUCH, name)


def test_rows_that_are_pulled_are_bounded():
    before = (HELLO + READY, answer(*[b"2", b"2", b"30", b"0", b"0", b"1", b"1", b"1"]),
              message(b"C", b"SELECT 0\0") + READY, answer(b"1", b"1"),
              message(b"C", b"BEGIN\0") + message(b"C", b"SET\0") + READY, answer(b"1"),
              message(b"H", b"\1\0\0"))
    row = b"d" + struct.pack("!I", (20 << 20) + 4)
    with tempfile.TemporaryDirectory(prefix="nvtxt-hostile-") as folder:
        args = ("pull", "--host", "h", "-o", os.path.join(folder, "a"))
        for again in ([b"d" + struct.pack("!I", 1 << 30), *[PIECE] * 1000], [NOTICE * BLOCK],
                      [b"d" + struct.pack("!I", 60 << 20), *[PIECE] * 1000]):
            with Engine(*before, again=again) as engine:
                equal(engine.asked(*args, most=MOST_KIB_OF_PULL), TOO_MUCH)
        with Engine(*before, again=[row, *[PIECE] * 320]) as engine:  # one that could be
            said = engine.asked(*args, most=MOST_KIB_OF_PULL)
            equal(said, ERROR + "the engine gave a row that is not one of this schema\n")
        equal(os.listdir(folder), [])


def test_a_long_error_is_cut():
    size = 3 << 20
    head = b"E" + struct.pack("!I", 4 + len(ERROR_TEXT) + size + 2) + ERROR_TEXT
    with Engine(HELLO + READY, head, again=[*[PIECE] * (size // len(PIECE)), b"\0\0" + READY]) as engine:
        said = engine.asked("init")
        equal((len(said) < 1200, "xxx" in said), (True, True), said)


def test_what_is_no_answer_ends_the_connection():
    for once in (message(b"G", b"\0\0\0"), message(b"H", b"\0\0\0"), message(b"W", b"\0\0\0"),
                 message(b"1") + message(b"I") + READY):
        with Engine(HELLO + READY, once) as engine:
            equal(engine.asked("init"), NO_ANSWER, once)


def test_answers_of_nothing_crash_no_command():
    """NULL, nothing, and what is no number, for whatever is asked."""
    null = HEAD + message(b"D", struct.pack("!Hi", 1, -1)) + message(b"C", b"SELECT 1\0") + READY
    with Daemon() as daemon:
        daemon.send(marker("a"))
        for one in (answer(b"x"), null, READY, message(b"C", b"SELECT 0\0") + READY):
            for args in (("--once",), ("status",), ("init",), ("maintain",),
                         ("pull", "--host", "h", "-o", daemon.store + ".pulled")):
                with Engine(HELLO + READY, *[one] * 40) as engine:
                    target = "host=%s port=5432 user=u dbname=d sslmode=disable" % engine.folder
                    done = subprocess.run([program("ship", "nvtxt-ship"), *args, "--store", daemon.store,
                                           "--target", target], stdin=subprocess.DEVNULL, timeout=DEADLINE,
                                          env={**os.environ, "CONFIGURATION_DIRECTORY": engine.folder},
                                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
                    equal(done.returncode in (0, 1, 64, 66, 69, 74, 75, 76, 77), True,
                          "%r: %d %r" % (args, done.returncode, done.stderr))


run(globals())
