# SPDX-License-Identifier: Apache-2.0
"""The daemon dies at points with a name: before a commit, after it and before its acknowledgement,
in the middle of a commit, in the middle of a checkpoint, and at every step of a rotation.
NVTXT_TEST_LONG takes more of each."""
import os
import signal

import recorder
from recorder import lib

LONG = bool(os.environ.get("NVTXT_TEST_LONG"))
MANY = 30000  # lines: three segments of a megabyte
SOME = MANY if LONG else 10000  # at least five commits, and a checkpoint a commit


def die_at(point, numbers, lines=SOME, keys="", sender=recorder.Recorder):
    for number in list(numbers)[-1:] if lib.SHORT else numbers:
        with lib.FaultyDaemon("%s:%d" % (point, number),
                              "CommitInterval=5ms\nCheckpointPages=100\n" + keys) as daemon:
            client = sender(daemon, lines, number)
            daemon.tell_fault()
            client.start()
            lib.equal(daemon.process.wait(lib.DEADLINE), -signal.SIGKILL, point)
            client.check()
            daemon.restart_without()
            client.check_all()
            # In each segment; it may begin another one at any time.
            lib.equal(set(daemon.everywhere("SELECT count(*) FROM NVTXT_LOSSES")), {(0,)}, "losses")


def test_before_a_commit():
    die_at("before-commit", range(1, 12) if LONG else (1, 3))


def test_after_a_commit_and_before_its_acknowledgement():
    die_at("after-commit", range(1, 12) if LONG else (1, 3))


def test_in_the_middle_of_a_commit():
    die_at("wal-write", range(1, 60, 3) if LONG else (2, 33))


def test_in_the_middle_of_a_checkpoint():
    die_at("main-write", range(1, 60, 3) if LONG else (1, 20))


def test_in_the_middle_of_a_rotation():
    # Renaming, linking, removing, synchronizing: about a dozen calls a rotation.
    die_at("file-call", range(1, 30) if LONG else (8, 11), MANY, "RotateSize=1M\n")


def test_while_a_new_segment_is_written():
    die_at("new-write", range(1, 40, 3) if LONG else (30,), MANY, "RotateSize=1M\n")


def test_while_a_state_is_saved_and_folded():
    for point, numbers in (("before-commit", (2, 4)), ("after-commit", (3,)), ("wal-write", (20, 51))):
        die_at(point, range(1, 90, 4) if LONG else numbers, sender=recorder.Keeper)
    die_at("main-write", range(1, 60, 7) if LONG else (9,), sender=recorder.Keeper)
    die_at("file-call", range(1, 30, 2) if LONG else (9,), MANY, "RotateSize=1M\n", recorder.Keeper)
    die_at("new-write", range(1, 90, 7) if LONG else (25,), MANY, "RotateSize=1M\n", recorder.Keeper)


lib.run(globals())
