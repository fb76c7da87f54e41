# SPDX-License-Identifier: Apache-2.0
"""Chosen RangeIds cost what any others do: in nvtxt-check, in the daemon, and when a session that
has them open comes back. They are chosen to meet in one bucket of the unkeyed hash that tables were
built on before. What is compared is CPU time, with that of ids that were not chosen."""
import os
import resource

from client import Folder, run_client
from lib import WRAPPER, Daemon, equal, run, wait_for

COUNT = 32768
MASK = (1 << 64) - 1
GOLDEN, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9
# The former hash took 40 times as long and more. Beside a loaded machine CPU time varies by a third.
RATIO = 8
FLOOR_S = 0.05  # shorter times are taken for this


def unshift(number, bits):
    result = number
    for _ in range(64 // bits):
        result = number ^ result >> bits
    return result


def chosen(value):
    """The number that the former hash made this value of."""
    value = unshift(value, 32) * pow(SECOND, -1, 1 << 64) & MASK
    value = unshift(value, 29) * pow(GOLDEN, -1, 1 << 64) & MASK
    value = unshift(value, 32)
    return value - (1 << 64) if value >> 63 else value


def chosen_ids():
    return [chosen(number << 32) for number in range(COUNT)]


def other_ids():
    """As long in the text as those that are chosen, so that reading them costs the same."""
    return [(number * GOLDEN & MASK) - (1 << 63) for number in range(COUNT)]


def text_of(ids):
    return "@RangeStart, RangeId\n" + "".join("RangeStart, %d\n" % number for number in ids)


HEADER = 'TimeBase = Manual\nTime = 1\nProcessId = 7\nThreadId = 8\nMessage = "m"\n'
HEADER_LINES = HEADER.count("\n") + 1


def compare(costs):
    plain, attack = costs
    print("# plain %.3f s, chosen %.3f s of CPU" % (plain, attack))
    if attack > RATIO * max(plain, FLOOR_S):
        raise AssertionError("chosen ids cost %.3f s of CPU, others %.3f s" % (attack, plain))


def cost_of_check(path):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    status, _, err = run_client("nvtxt-check", path)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    equal(status, 0, err)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_a_file_with_chosen_ids_is_checked_as_fast_as_another():
    with Folder() as folder:
        compare([cost_of_check(folder.write("f", HEADER + text_of(ids)))
                 for ids in (other_ids(), chosen_ids())])


def cpu_of(process):
    with open("/proc/%d/stat" % process.pid, encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cost_of_session(ids):
    """CPU time for taking the lines, and for a hello that resumes the session."""
    with Daemon() as daemon:
        with daemon.session() as session:
            before = cpu_of(daemon.process)
            session.send(HEADER + text_of(ids))
            session.ack(HEADER_LINES + COUNT)
            taken = cpu_of(daemon.process) - before
        wait_for(lambda: daemon.control("status")["connections"] == 0, "it is parked")
        before = cpu_of(daemon.process)
        with daemon.session(session.id) as again:
            equal((again.welcome["type"], again.welcome["line"]),
                  ("welcome", HEADER_LINES + COUNT), again.welcome)
            resumed = cpu_of(daemon.process) - before
            daemon.kill()  # to close so many ranges is no part of this
        return taken, resumed


def test_chosen_ids_hold_up_the_daemon_no_longer_than_others():
    plain = cost_of_session(other_ids())
    attack = cost_of_session(chosen_ids())
    compare((plain[0], attack[0]))
    compare((plain[1], attack[1]))


if WRAPPER:
    raise SystemExit(77)  # valgrind: times say nothing
run(globals())
