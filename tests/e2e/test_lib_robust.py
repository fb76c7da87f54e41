# SPDX-License-Identifier: Apache-2.0
"""A program with libnvtxt does what it does without it, whatever the system refuses: output, exit
status, descriptors, signals; and none of our bytes is in its files."""
import os
import shutil
import signal
import subprocess

from client import Folder
from lib import DEADLINE, SANITIZERS, SHORT, Daemon, Skip, equal, halt, program, run, wait_for
from lib_program import (NO_LEAKS, PATH, PATIENT, Program, dropped, needs_a_table_of_the_sender,
                         needs_threads_in_children, no_diagnostics, texts)

HANDLER = program("tests/nvtx", "lib_handler")

ONCE = {"refused": 1, "range": 1}


def files(folder):
    return sorted(os.listdir(folder))


# ---- Descriptors ----------------------------------------------------------------------------------

def test_all_descriptors_are_closed_and_their_numbers_used_again():
    needs_a_table_of_the_sender()
    with Daemon() as daemon, Folder() as folder, Folder() as spool:
        for environment in ({}, {"NVTXT_SPOOL": spool.path}):
            with Program(daemon.socket, "closes", folder.path, **environment) as program:
                equal(program.end(), [])
        got = texts(daemon)
        equal((got["before"], got["after 0"], sum(got.values()) + dropped(daemon)), (2, 2, 10002))
        equal(files(spool.path), [])
        no_diagnostics(daemon)


def test_four_descriptors_are_enough():
    needs_a_table_of_the_sender()
    with Daemon() as daemon:
        with Program(daemon.socket, "few", **NO_LEAKS) as program:
            equal(program.end(), ["recorded 1 dropped 0"])
        equal(texts(daemon), {"few": 1})


# ---- What the kernel refuses ----------------------------------------------------------------------

def refused(calls, wanted, **environment):
    with Daemon() as daemon:
        with Program(daemon.socket, "refused", *calls, patient=wanted is not None,
                     **NO_LEAKS, **environment) as program:
            out, errors = program.process.communicate()
            if program.process.returncode == 77:
                raise Skip("no seccomp here")
            equal((program.process.returncode, out, errors), (0, "done\n", ""), calls)
        got = texts(daemon)
        if wanted is not None:
            equal(got, wanted, calls)
        no_diagnostics(daemon)


def test_without_calls_that_only_help_all_is_recorded():
    for calls in (["close_range"], ["membarrier"], ["madvise"], ["getrandom"], ["prctl"],
                  ["clone3"], ["process_vm_readv"],
                  ["close_range", "membarrier", "madvise", "getrandom", "prctl", "process_vm_readv"]):
        refused(calls, ONCE)


def test_without_calls_that_it_needs_the_program_is_as_it_was():
    for calls in (["socket"], ["connect"], ["sendto"], ["recvfrom"], ["clone", "clone3"],
                  ["close_range", "fcntl"]):
        refused(calls, None)


def test_a_file_that_cannot_be_made_is_done_without():
    for calls in (["openat"], ["ftruncate"], ["madvise", "fallocate"]):
        with Folder() as spool:
            refused(calls, ONCE, NVTXT_SPOOL=spool.path)
            equal(files(spool.path), [])


# ---- A first event in a signal handler ------------------------------------------------------------

def needs_handlers_of_the_kernel():
    if "thread" in SANITIZERS:
        raise Skip("ThreadSanitizer calls handlers itself, outside of what they interrupt")


def handlers(daemon, *arguments):
    with Program(daemon.socket, command=[HANDLER, *map(str, arguments)], **NO_LEAKS) as process:
        equal(process.end(), [], arguments)


def test_no_thread_is_started_in_a_signal_handler():
    needs_handlers_of_the_kernel()
    kinds = ["plain", "alternate", "disarmed", "unblocked", "once", "reset", "blocked", "thread",
             "child", "flushes", "init", "flush", "ends", "exits"]
    with Daemon() as daemon:
        for kind in kinds:
            handlers(daemon, "one", kind)
        equal(texts(daemon), {"in the handler": len(kinds), "outside": len(kinds) - 3,
                              "of the parent": 1})
        no_diagnostics(daemon)


def test_who_blocks_signals_and_is_in_no_handler_has_a_sender_at_once():
    needs_handlers_of_the_kernel()
    places = ["main", "thread"]
    if "address" not in SANITIZERS:  # it warns of other stacks
        places.append("coroutine")
    with Daemon() as daemon:
        for place in places:
            handlers(daemon, "outside", place)


def test_handlers_that_interrupt_malloc_break_nothing():
    needs_handlers_of_the_kernel()
    with Folder() as folder:
        for runs, threads, parent_records in ((60, 0, 0), (30, 3, 0), (40, 0, 1)):
            runs = runs // 4 if SHORT or SANITIZERS else runs
            done = subprocess.run([HANDLER, "storm", *map(str, (runs, threads, parent_records))],
                                  env={**os.environ, **PATIENT, **NO_LEAKS,
                                       "NVTXT_SOCKET": folder.name("none")},
                                  check=False, capture_output=True, text=True, timeout=DEADLINE)
            equal((done.returncode, done.stdout, done.stderr), (0, "", ""))


# ---- The spool folder -----------------------------------------------------------------------------

def test_a_ring_file_is_gone_after_an_orderly_end():
    needs_threads_in_children()
    with Daemon() as daemon, Folder() as spool:
        with Program(daemon.socket, "steps", NVTXT_SPOOL=spool.path) as program:
            program.do("mark one", "flush")
            equal(len(files(spool.path)), 1)
            equal(os.stat(os.path.join(spool.path, files(spool.path)[0])).st_mode & 0o777, 0o600)
            program.end()
        equal(files(spool.path), [])
        with Program(daemon.socket, "storm", 20, "fork", "exit", NVTXT_SPOOL=spool.path,
                     **NO_LEAKS) as program:
            program.end()
        equal(files(spool.path), [])
        equal(texts(daemon), {**{"child %d" % i: 1 for i in range(20)}, "own": 20, "parent": 1,
                              "after the storm": 1, "one": 1})


def shared_files(process):
    """What it has mapped so that others may change it."""
    with open("/proc/%d/maps" % process.pid, encoding="utf-8") as file:
        return [line.split(maxsplit=5)[5].strip() for line in file if line.split()[1][3] == "s"]


def catches_bus_errors(process):
    with open("/proc/%d/status" % process.pid, encoding="utf-8") as file:
        caught = next(line.split()[1] for line in file if line.startswith("SigCgt"))
    return int(caught, 16) >> (signal.SIGBUS - 1) & 1


def test_memory_is_shared_only_with_a_spool_folder_and_no_bus_error_is_caught():
    with Daemon() as daemon, Folder() as spool:
        for environment, shared in (({}, 0), ({"NVTXT_SPOOL": spool.path}, 1)):
            with Program(daemon.socket, "steps", **environment) as client:
                client.do("nothing")
                before = shared_files(client.process), catches_bus_errors(client.process)
                client.do("mark one", "flush")
                files_now = [path for path in shared_files(client.process) if path not in before[0]]
                equal({os.path.dirname(path) for path in files_now}, {spool.path} if shared else set())
                equal(catches_bus_errors(client.process), before[1])
                client.end()


def test_a_ring_file_stays_when_not_all_was_taken():
    with Daemon(start=False) as daemon, Folder() as spool:
        with Program(daemon.socket, "one", NVTXT_SPOOL=spool.path) as program:
            program.end()
        equal(len(files(spool.path)), 1)


def test_a_spool_folder_that_cannot_be_used_is_done_without():
    with Daemon() as daemon, Folder() as folder:
        log = folder.name("log")
        for spool in (folder.name("missing"), folder.write("file", "text"), "/proc/self"):
            with Program(daemon.socket, "one", NVTXT_SPOOL=spool, NVTXT_LOG=log) as program:
                program.end()
        equal(texts(daemon), {"one": 3})
        with open(log, encoding="utf-8") as file:
            equal(file.read().count("they are kept in memory"), 3)


def small_folder(size, *command):
    """A command that runs with a file system of `size` bytes on the folder $SPOOL."""
    script = 'mount -t tmpfs -o size=%s,mode=700 none "$NVTXT_SPOOL" && exec "$@"' % size
    command = ["unshare", "-rm", "sh", "-c", script, "sh", *command]
    with Folder() as folder:
        environment = {**os.environ, "NVTXT_SPOOL": folder.path}
        if shutil.which("unshare") is None or subprocess.run(
                command[:6] + ["true"], env=environment, check=False, capture_output=True).returncode:
            raise Skip("no file system can be mounted here")
    return command


def test_a_full_spool_folder_kills_nobody():
    for size in ("8k", "64k", "200k", "1m"):
        with Daemon() as daemon, Folder() as spool:
            command = small_folder(size, PATH, "pairs", "2", "20000", "500", "50")
            with Program(daemon.socket, command=command, NVTXT_SPOOL=spool.path) as program:
                lines = program.end()
            rows = len(texts(daemon))
            equal(lines[-1].split()[-1], str(dropped(daemon)))
            equal(rows + dropped(daemon), 40000, size)
            no_diagnostics(daemon)


# ---- Sockets --------------------------------------------------------------------------------------

def test_what_is_no_socket_of_a_daemon_is_as_no_daemon():
    with Folder() as folder:
        log = folder.name("log")
        pipe = folder.name("pipe")
        os.mkfifo(pipe)
        paths = ["x" * 200, folder.write("file", "text"), pipe, folder.path, "/dev/null"]
        for path in paths:
            with Program(path, "one", NVTXT_LOG=log, patient=False) as program:
                out, errors = program.process.communicate()
                equal((program.process.returncode, out), (0, ""), path)
        with open(log, encoding="utf-8") as file:
            text = file.read()
        for path in paths[1:]:
            assert "no daemon at %s" % path in text, text
        equal(text.count("NVTXT_SOCKET has more than the 107 bytes"), 1, text)
        equal(text.count("no daemon at "), len(paths) - 1, text)


# ---- Rights and signals ---------------------------------------------------------------------------

def test_a_program_with_other_rights_than_its_caller_records_nothing():
    if os.geteuid() != 0 or "address" in os.environ.get("SANITIZERS", ""):
        raise Skip("needs root, and a program without a sanitizer")
    with Daemon() as daemon, Folder() as folder:
        path = folder.name("client")
        shutil.copy(PATH, path)
        os.chmod(path, 0o4755)
        for place in (folder.path, daemon.folder):
            os.chmod(place, 0o755)
        os.chmod(daemon.socket, 0o666)
        done = subprocess.run([path, "one"], user=65534, check=False, capture_output=True, text=True,
                              env={**os.environ, "NVTXT_SOCKET": daemon.socket})
        equal((done.returncode, done.stdout, done.stderr), (0, "", ""))
        equal(daemon.query("SELECT count(*) FROM NVTXT_SOURCES"), [(0,)])


def test_a_signal_ends_the_program_as_without_us():
    with Daemon() as daemon:
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGPIPE):
            with Program(daemon.socket, "killed", int(number)) as program:
                program.end(-number)
        equal(texts(daemon)["first"], 3)


def test_a_daemon_that_goes_away_sends_no_signal():
    with Daemon() as daemon:
        with Program(daemon.socket, "pairs", 2, 0, 500, 5) as program:
            program.line("started")
            for _ in range(5):
                seen = daemon.query("SELECT count(*) FROM NVTX_EVENTS")[0][0]
                wait_for(lambda: daemon.query("SELECT count(*) FROM NVTX_EVENTS")[0][0] > seen,
                         "events come")
                daemon.stop()
                daemon.start()
            lines = program.end()
        made = sum(int(line.split()[-1]) for line in lines[:2])
        equal(len(texts(daemon)) + dropped(daemon), made)
        no_diagnostics(daemon)


# ---- Floods and quiet -----------------------------------------------------------------------------

def test_a_flood_that_nothing_can_take_is_counted():
    with Daemon() as daemon:
        with Program(daemon.socket, "pairs", 4, 0, 0, 1, NVTXT_RING="64K", NVTXT_WINDOW="1M") as program:
            program.line("started")
            wait_for(lambda: daemon.query("SELECT count(*) FROM NVTX_EVENTS")[0][0] > 1000, "events")
            halt(daemon.process)
            daemon.process.send_signal(signal.SIGCONT)
            wait_for(lambda: daemon.query("SELECT count(*) FROM NVTXT_LOSSES")[0][0] > 0, "losses")
            lines = program.end()
        made = sum(int(line.split()[-1]) for line in lines[:4])
        daemon.settled()
        rows, closed = daemon.query("SELECT count(*), count(end) FROM NVTX_EVENTS WHERE eventType = 59")[0]
        equal((rows, rows + dropped(daemon)), (closed, made))
        equal(daemon.query("SELECT DISTINCT reason FROM NVTXT_LOSSES"), [("full",)])
        no_diagnostics(daemon)


def test_a_quiet_program_is_not_woken():
    with Daemon() as daemon:
        with Program(daemon.socket, "quiet") as program:
            first, woken = map(int, program.end())
        assert woken <= 4, woken
        # A look each 10 ms would be 100. On a busy machine a thread waits for more than events.
        assert first <= 60, "%d times in the first second, for one event" % first
        equal(texts(daemon), {"open": 1})


if __name__ == "__main__":
    run(globals())
