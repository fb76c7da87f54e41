# SPDX-License-Identifier: Apache-2.0
"""The disk is full for a while: a small tmpfs, which only root may mount. It lasts a second, with
NVTXT_TEST_LONG a minute."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "crash"))
import recorder  # noqa: E402
from recorder import lib  # noqa: E402
from small_disk import SmallDisk  # noqa: E402

SECONDS = 60 if os.environ.get("NVTXT_TEST_LONG") else 1
LINES = 30000


def full_for_a_while(seconds):
    with lib.Daemon(start=False) as daemon:
        with SmallDisk(daemon.folder) as disk:
            daemon.store = os.path.join(disk.folder, "store.sqlite")
            daemon.start()
            client = recorder.Recorder(daemon, LINES, 1)
            client.start()
            status = lib.wait_for(lambda: (lambda s: s["in_trouble"] and s)
                                  (daemon.control("status")), "the disk is full")
            disk.fill()
            assert "no room" in status["last_error"], status
            health = daemon.control("health")
            lib.equal((health["healthy"], health["in_trouble"]), (False, True))
            client.check()
            (stored,), = daemon.query("SELECT line FROM NVTXT_SESSIONS")
            time.sleep(seconds)  # it is this time that is tested
            lib.equal(daemon.process.poll(), None, "the daemon lives")
            lib.equal(daemon.query("SELECT line FROM NVTXT_SESSIONS"), [(stored,)], "nothing is stored")
            assert client.acked <= stored, (client.acked, stored)  # nor acknowledged
            client.check()
            lib.equal(daemon.control("status")["in_trouble"], True)
            disk.grow()
            client.check_all()
            lib.equal(daemon.control("status")["in_trouble"], False)
            lib.equal(daemon.query("SELECT count(*) FROM NVTXT_LOSSES"), [(0,)])
            log = daemon.log_text()
            lib.equal((log.count("trying again"), log.count("written again")), (1, 1), log)
            daemon.stop()


def test_a_full_disk_is_waited_for():
    full_for_a_while(SECONDS)


def test_a_daemon_killed_on_a_full_disk_loses_nothing():
    with lib.Daemon(start=False) as daemon:
        with SmallDisk(daemon.folder) as disk:
            daemon.store = os.path.join(disk.folder, "store.sqlite")
            daemon.start()
            client = recorder.Recorder(daemon, LINES, 2)
            client.start()
            lib.wait_for(lambda: daemon.control("status")["in_trouble"], "the disk is full")
            daemon.kill()
            client.check()
            disk.grow()
            daemon.start()
            client.check_all()
            daemon.stop()


def test_what_a_stop_on_a_full_disk_gives_up_is_told():
    with lib.Daemon(config="StopTimeout=200ms\nKeepFree=0\n", start=False) as daemon:
        with SmallDisk(daemon.folder) as disk:
            daemon.store = os.path.join(disk.folder, "store.sqlite")
            for total in (100, 200):
                daemon.start()
                disk.fill()
                with daemon.plain() as plain:
                    plain.send("".join('Marker, %d, Manual, 1, 1, 0, 0, "lost", 0\n' % i
                                       for i in range(100)))
                lib.wait_for(lambda: daemon.control("status")["in_trouble"], "the disk is full")
                daemon.stop(status=74)
                last = daemon.log_text().splitlines()[-1]
                assert last.endswith("stopped lines=100 events=0 uncommitted=100"), last
                assert "are lost events=100" in daemon.log_text(), daemon.log_text()
                assert "cannot be kept" not in daemon.log_text(), daemon.log_text()
                disk.empty()
                daemon.start()
                lib.equal(daemon.control("health")["healthy"], False)
                lib.equal(daemon.query("SELECT total(count) FROM NVTXT_LOSSES "
                                       "WHERE reason = 'unwritten'"), [(total,)])
                daemon.stop()
            lib.equal(os.path.lexists(daemon.store + ".lost"), False)


lib.run(globals())
