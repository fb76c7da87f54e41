# SPDX-License-Identifier: Apache-2.0
"""Watched files that grow under a daemon that is killed again and again: every line takes effect
exactly once.

    watched.py [--files N] [--lines N] [--kills N] [--seed N]

The files grow by pieces that are cut anywhere, are renamed now and then, and are replaced by a new
file of the same name when they are whole; the streams in them are those of storm.py. The daemon is
killed with SIGKILL at random moments and started again, also in the middle of what it catches up
with. NVTXT_TEST_LONG takes more of all of it."""
import argparse
import collections
import os
import random
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import storm  # noqa: E402
from storm import lib  # noqa: E402

LONG = bool(os.environ.get("NVTXT_TEST_LONG"))
PIECE = 4000


class Writer(threading.Thread):
    """Writes streams, one after the other, to files of one name each; the next one replaces the
    last, which is not read at once always."""

    def __init__(self, folder, number, streams, daemon, seed):
        super().__init__()
        self.folder = folder
        self.number = number
        self.streams = streams
        self.daemon_ = daemon
        self.rng = random.Random(seed)
        self.failed = None
        self.pace = threading.Event()

    def run(self):
        try:
            for turn, stream in enumerate(self.streams):
                self.write(turn, ("\n".join(stream.text) + "\n").encode())
        except Exception as failure:  # looked at by the main thread
            self.failed = failure

    def write(self, turn, text):
        path = os.path.join(self.folder, "w%d.nvtxt" % self.number)
        new = os.path.join(self.folder, "w%d-new" % self.number)
        with open(new, "wb") as file:
            os.rename(new, path)
            renames = 0
            while text:
                piece = self.rng.randrange(1, PIECE)
                file.write(text[:piece])
                file.flush()
                text = text[piece:]
                self.pace.wait(self.rng.uniform(0, 0.004))  # so that there is growth to be killed in
                if self.rng.random() < 0.1:
                    renames += 1
                    to = os.path.join(self.folder, "w%d-%d-%d.nvtxt" % (self.number, turn, renames))
                    os.rename(path, to)
                    path = to
            if turn + 1 < len(self.streams):
                self.wait_for_reader(os.fstat(file.fileno()))
                os.rename(path, os.path.join(self.folder, "w%d.nvtxt" % self.number))

    def wait_for_reader(self, stat):
        """What goes before it was read is gone for ever."""
        lib.wait_for(lambda: self.daemon_.query(
            "SELECT 1 FROM NVTXT_FILES WHERE inode = ? AND offset = ?", stat.st_ino, stat.st_size),
            "the file is read")


def check(daemon, streams):
    wanted = sum((stream.events for stream in streams), collections.Counter())
    lib.wait_for(lambda: daemon.query(
        "SELECT count(*) FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60)")[0][0]
        >= sum(wanted.values()), "all events are there", 300)
    got = storm.stored_events(daemon)
    lost, doubled = wanted - got, got - wanted
    lib.equal((sum(lost.values()), sum(doubled.values())), (0, 0),
              "lost %r doubled or wrong %r" % (list(lost)[:3], list(doubled)[:3]))
    lib.equal(daemon.query("SELECT count(*) FROM NVTXT_DIAGNOSTICS"),
              [(sum(len(stream.bad_lines) for stream in streams),)], "diagnostics")
    lib.equal(daemon.query("SELECT count(*), sum(lines) FROM NVTXT_SOURCES"),
              [(len(streams), sum(len(stream.text) for stream in streams))], "sources and lines")
    lib.equal(daemon.query("SELECT count(*) FROM NVTXT_OPEN_RANGES"), [(0,)], "open ranges")
    lib.equal(daemon.query("SELECT count(*) FROM NVTXT_LOSSES"), [(0,)], "losses")
    lib.equal(daemon.query("PRAGMA integrity_check"), [("ok",)], "the store is sound")


def run(files, lines, kills, seed):
    rng = random.Random(seed)
    streams = [storm.Stream(number, lines, rng) for number in range(2 * files)]
    with lib.Daemon(config="", start=False) as daemon:
        folder = os.path.join(daemon.folder, "in")
        os.mkdir(folder)
        with open(os.path.join(daemon.folder, "nvtxtd.conf"), "a", encoding="utf-8") as file:
            file.write("WatchDirectory=%s\nCommitInterval=10ms\nMemoryBudget=2M\n" % folder)
        daemon.start()
        writers = [Writer(folder, number, streams[2 * number:2 * number + 2], daemon, rng.random())
                   for number in range(files)]
        for writer in writers:
            writer.start()
        for _ in range(kills):
            writers[0].join(rng.uniform(0.01, 0.2))
            daemon.kill()
            daemon.start()
        for writer in writers:
            writer.join()
            if writer.failed:
                raise writer.failed
        check(daemon, streams)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=8 if LONG else 3)
    parser.add_argument("--lines", type=int, default=40000 if LONG else 10000)
    parser.add_argument("--kills", type=int, default=60 if LONG else 6)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    options = parser.parse_args()
    print("# seed %d" % options.seed, flush=True)
    run(options.files, options.lines, options.kills, options.seed)
    print("1..1\nok 1 - every line of a watched file takes effect exactly once")


if __name__ == "__main__":
    main()
