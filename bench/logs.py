# SPDX-License-Identifier: Apache-2.0
"""nvtxt-report logs against the same masking by sed, sort and uniq."""
import json
import os
import random
import subprocess
import threading
import time

import kit as shared

# What sed can say of the rules: enough for the lines below.
MASKS = [r's/"[^"]*"/"#"/g', r"s/'[^']*'/'#'/g", r"s/[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+Z?/#/g",
         r"s/\b[0-9]{1,3}(\.[0-9]{1,3}){3}\b/#/g", r"s/\b[0-9a-f]{7,}\b/#/g", r"s/[0-9]+(\.[0-9]+)?/#/g"]


def line(chance, number):
    kind = chance.randrange(6)
    if kind == 0:
        return "INFO: request %d took %.3f ms from 10.0.%d.%d" % (number, chance.random() * 100,
                                                                   chance.randrange(256), chance.randrange(256))
    if kind == 1:
        return "WARNING: slow query 1%030xa in table 't%d'" % (chance.getrandbits(120), chance.randrange(40))
    if kind == 2:
        return "2026-11-24T01:02:%02d.%03dZ ERROR: cannot open \"/var/lib/x%d/y\": No such file" % (
            chance.randrange(60), chance.randrange(1000), chance.randrange(10000))
    if kind == 3:
        return "sshd[%d]: Accepted publickey for user%d from 192.168.1.%d port %d" % (
            chance.randrange(65536), chance.randrange(30), chance.randrange(256), chance.randrange(65536))
    if kind == 4:
        return "DEBUG: cache hit ratio %.4f, %d entries" % (chance.random(), chance.randrange(10 ** 6))
    return "level=info job done id=1%014xa ms=%d" % (chance.getrandbits(56), chance.randrange(1000))


def pipeline(text):
    """Seconds, the KiB of its three programs together, and what it counted."""
    environment = {**os.environ, "LC_ALL": "C"}
    masks = [word for mask in MASKS for word in ("-e", mask)]
    started = time.monotonic()
    sed = subprocess.Popen(["sed", "-E", *masks, text], stdout=subprocess.PIPE, env=environment)
    sort = subprocess.Popen(["sort"], stdin=sed.stdout, stdout=subprocess.PIPE, env=environment)
    uniq = subprocess.Popen(["uniq", "-c"], stdin=sort.stdout, stdout=subprocess.PIPE, env=environment)
    sed.stdout.close()
    sort.stdout.close()
    most = [0, 0, 0]

    def watch():
        while uniq.poll() is None:
            for at, process in enumerate((sed, sort, uniq)):
                most[at] = max(most[at], shared.high_water(process.pid))
            time.sleep(0.02)

    watcher = threading.Thread(target=watch)
    watcher.start()
    said = uniq.stdout.read().decode()
    for process in (sed, sort, uniq):
        process.wait()
    watcher.join()
    seconds = time.monotonic() - started
    return seconds, sum(most), {row.split(None, 1)[1]: int(row.split(None, 1)[0]) for row in said.splitlines()}


def processor():
    """Seconds that all programs took which have ended."""
    times = os.times()
    return times.children_user + times.children_system


def logs(kit):
    """nvtxt-report logs against sed, sort and uniq -c: time and memory"""
    text = kit.path("log.txt")
    chance = random.Random(1)
    with open(text, "w", encoding="ascii") as file:
        for number in range(kit.events):
            file.write(line(chance, number) + "\n")
    program = kit.program("nvtxt-report")
    found = {name: [] for name in ("report", "report KiB", "pipe", "pipe KiB", "report CPU", "pipe CPU")}
    with kit.daemon() as daemon:
        kit.seconds([kit.program("nvtxt-send"), "--socket", daemon.socket, "--text", text])
        said = subprocess.run([program, "logs", "--format", "json", daemon.store], capture_output=True, text=True,
                              check=True)
        counted = {one["pattern"]: one["count"] for one in json.loads(said.stdout)["patterns"]}
        if counted != pipeline(text)[2]:
            raise RuntimeError("nvtxt-report and the pipeline do not agree")
        with open(os.devnull, "wb") as null:
            for _ in range(kit.rounds):
                begun = processor()
                seconds, most = kit.watched([program, "logs", daemon.store], stdout=null)
                found["report CPU"].append(processor() - begun)
                found["report"].append(seconds)
                found["report KiB"].append(most / 1024)
                begun = processor()
                seconds, most, _ = pipeline(text)
                found["pipe CPU"].append(processor() - begun)
                found["pipe"].append(seconds)
                found["pipe KiB"].append(most / 1024)
    os.unlink(text)
    note = "{:,} lines of six formats; locale C".format(kit.events)
    kit.compare("logs: patterns", "s", ("nvtxt-report", found["report"]), ("sed, sort, uniq", found["pipe"]), note)
    kit.compare("logs: patterns, time of processors", "s", ("nvtxt-report", found["report CPU"]),
                ("sed, sort, uniq", found["pipe CPU"]), note)
    kit.compare("logs: memory", "MiB", ("nvtxt-report", found["report KiB"]),
                ("sed, sort, uniq", found["pipe KiB"]), note + ", VmHWM of all")
