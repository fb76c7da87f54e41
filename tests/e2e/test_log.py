# SPDX-License-Identifier: Apache-2.0
"""Standard error that nobody reads, or that is not there."""
import fcntl
import os
import signal
import subprocess

import lib

F_SETPIPE_SZ = 1031
RELOADS = 3000  # lines of more than 64 KiB in all


class Unread(lib.Daemon):
    """A daemon whose standard error is a pipe that is full, and that nobody reads."""

    def start(self):
        self.pipe, writer = os.pipe()
        fcntl.fcntl(writer, F_SETPIPE_SZ, 4096)
        os.set_blocking(writer, False)
        try:
            while os.write(writer, b"full\n" * 100):
                pass
        except BlockingIOError:
            pass
        os.set_blocking(writer, True)
        self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=writer,
                                        stderr=writer)
        os.close(writer)
        lib.wait_for(self.is_ready, "the daemon is ready")

    def read(self, wanted):
        """Reads the log until it has all of `wanted`."""
        text = b""
        os.set_blocking(self.pipe, False)

        def read():
            nonlocal text
            try:
                text += os.read(self.pipe, 65536)
            except BlockingIOError:
                pass
            return all(word in text for word in wanted)
        lib.wait_for(read, "the log has %r" % (wanted,))
        return text


def test_a_log_that_nobody_reads_stops_nothing():
    with Unread(config="") as daemon:
        daemon.send("@Marker, Time, Message\nMarker, 1, 'one'\n")
        lib.equal(daemon.query("SELECT text FROM NVTX_EVENTS"), [("one",)])
        with lib.Connection(daemon.control_socket) as connection:
            for number in range(RELOADS):
                connection.send(b'{"id":1,"command":"reload"}\n')
                assert connection.reply()["ok"]
        text = daemon.read([b"started version", b"log lines are lost", b"lines="])
        assert text.count(b"configuration") < RELOADS
        daemon.control("reload")
        daemon.read([b"configuration"])  # it goes on
        os.close(daemon.pipe)


def test_a_log_that_nobody_reads_does_not_hold_up_the_stop():
    with Unread(config="") as daemon:
        daemon.process.send_signal(signal.SIGTERM)
        daemon.wait()
        os.close(daemon.pipe)


def test_standard_descriptors_that_are_closed_do_not_become_files_of_ours():
    def close_them():
        for fd in range(3):
            os.close(fd)

    class Closed(lib.Daemon):
        def start(self):
            self.process = subprocess.Popen(self.command(), preexec_fn=close_them)
            lib.wait_for(self.is_ready, "the daemon is ready")

    with Closed(config="") as daemon:
        daemon.send("@Marker, Time, Message\nMarker, 1, 'one'\n")
        daemon.control("reload")
        for fd in range(3):
            lib.equal(os.readlink("/proc/%d/fd/%d" % (daemon.process.pid, fd)), "/dev/null")
        for name in os.listdir(daemon.folder):
            if name.endswith(".lock"):
                with open(os.path.join(daemon.folder, name), encoding="utf-8") as file:
                    lib.equal(file.read().strip(), str(daemon.process.pid), name)
        lib.equal(daemon.query("SELECT text FROM NVTX_EVENTS"), [("one",)])
        daemon.process.send_signal(signal.SIGTERM)
        daemon.wait()


lib.run(globals())
