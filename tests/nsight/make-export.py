#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make-export.py SHAPE OUT: a small SQLite export as Nsight Systems makes them, of a made-up service.

SHAPE is one of
    old     the documented schema: every column NOT NULL, no table about the session
    2022    columns that may be NULL, textId, tables about the session and the processes
    2026    the same with more columns, some of them NOT NULL, and more tables

The service (process 4242) handled two requests on thread 4243: each launches two kernels, the first
also copies and clears memory. A helper thread (4250) launched one kernel of its own. Kernels run
after the calls that launched them have returned. Times are nanoseconds since the session began, which
was at SESSION_NS of Unix time.
"""
import os
import sqlite3
import sys

SHAPES = ("old", "2022", "2026")
SESSION_NS = 1795242240000000000
TARGET = 0x0001  # hardware 0, VM 1
PID = 4242
WORKER = 4243
HELPER = 4250
STOP_NS = 20000000


def global_id(target, pid=0, tid=0):
    value = target << 48 | pid << 24 | tid
    return value - (1 << 64) if value >= 1 << 63 else value


SCHEMA_OLD = """
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE ThreadNames (nameId INTEGER PRIMARY KEY, globalTid INT NOT NULL);
CREATE TABLE NVTX_EVENTS (start INT NOT NULL, end INT NOT NULL, eventType INT NOT NULL,
    rangeId INT NOT NULL, text TEXT NOT NULL, category INT NOT NULL, color INT NOT NULL,
    globalTid INT NOT NULL, domainId INT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT NOT NULL, end INT NOT NULL,
    globalTid INT NOT NULL, correlationId INT NOT NULL, nameId INT NOT NULL,
    returnValue INT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT NOT NULL, end INT NOT NULL, deviceId INT NOT NULL,
    contextId INT NOT NULL, streamId INT NOT NULL, correlationId INT NOT NULL,
    globalPid INT NOT NULL, demangledName INT NOT NULL, shortName INT NOT NULL,
    launchType INT NOT NULL, cacheConfig INT NOT NULL, registersPerThread INT NOT NULL,
    gridX INT NOT NULL, gridY INT NOT NULL, gridZ INT NOT NULL, blockX INT NOT NULL,
    blockY INT NOT NULL, blockZ INT NOT NULL, staticSharedMemory INT NOT NULL,
    dynamicSharedMemory INT NOT NULL, localMemoryPerThread INT NOT NULL,
    localMemoryTotal INT NOT NULL, gridId INT NOT NULL, sharedMemoryExecuted INT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INT NOT NULL, end INT NOT NULL, deviceId INT NOT NULL,
    contextId INT NOT NULL, streamId INT NOT NULL, correlationId INT NOT NULL,
    globalPid INT NOT NULL, value INT NOT NULL, bytes INT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT NOT NULL, end INT NOT NULL, deviceId INT NOT NULL,
    contextId INT NOT NULL, streamId INT NOT NULL, correlationId INT NOT NULL,
    globalPid INT NOT NULL, copyKind INT NOT NULL, srcKind INT NOT NULL, bytes INT NOT NULL);
CREATE TABLE OSRT_API (start INT NOT NULL, end INT NOT NULL, globalTid INT NOT NULL,
    nameId INT NOT NULL, returnValue INT NOT NULL, callchainId INT NOT NULL);
CREATE TABLE OSRT_CALLCHAINS (id INT NOT NULL, stackDepth INT NOT NULL, symbol INT NOT NULL,
    module INT NOT NULL, PRIMARY KEY (id, stackDepth));
CREATE TABLE PROFILER_OVERHEAD (start INT NOT NULL, end INT NOT NULL, globalTid INT NOT NULL,
    nameId INT NOT NULL, returnValue INT NOT NULL);
CREATE TABLE UnwindMethodType (number INTEGER PRIMARY KEY, name TEXT NOT NULL);
"""

EVENT_TYPES = ((33, "NvtxCategory"), (34, "NvtxMark"), (39, "NvtxThread"),
               (59, "NvtxPushPopRange"), (60, "NvtxStartEndRange"), (75, "NvtxDomainCreate"))


def schema_2022(more):
    """Columns that may be NULL; `more` is what the years since have added."""
    def extra(columns):
        return columns if more else ""
    return """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);
CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
CREATE TABLE ANALYSIS_DETAILS (globalVid INTEGER NOT NULL, duration INTEGER NOT NULL,
    startTime INTEGER NOT NULL, stopTime INTEGER NOT NULL);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT%s);
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
CREATE TABLE ENUM_NSYS_EVENT_TYPE (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL,
    rangeId INTEGER, category INTEGER, color INTEGER, text TEXT, globalTid INTEGER,
    endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER,
    int64Value INTEGER, doubleValue REAL, uint32Value INTEGER, int32Value INTEGER,
    floatValue REAL, jsonTextId INTEGER, jsonText TEXT%s);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL,
    eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER,
    nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL,
    deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, %sstreamId INTEGER NOT NULL,
    correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL,
    shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER, cacheConfig INTEGER,
    registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL,
    gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL,
    blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL,
    dynamicSharedMemory INTEGER NOT NULL, localMemoryPerThread INTEGER NOT NULL,
    localMemoryTotal INTEGER NOT NULL, gridId INTEGER NOT NULL, sharedMemoryExecuted INTEGER,
    graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, end INTEGER NOT NULL,
    deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, %sstreamId INTEGER NOT NULL,
    correlationId INTEGER, globalPid INTEGER, value INTEGER NOT NULL, bytes INTEGER NOT NULL,
    graphNodeId INTEGER, memKind INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL,
    deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, %sstreamId INTEGER NOT NULL,
    correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL,
    srcKind INTEGER, dstKind INTEGER);
CREATE TABLE OSRT_API (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
    globalTid INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL,
    nestingLevel INTEGER, callchainId INTEGER NOT NULL);
CREATE TABLE OSRT_CALLCHAINS (id INTEGER NOT NULL, symbol INTEGER, module INTEGER,
    unresolved INTEGER, originalIP INTEGER, stackDepth INTEGER NOT NULL,
    PRIMARY KEY (id, stackDepth));
CREATE TABLE PROFILER_OVERHEAD (start INTEGER NOT NULL, end INTEGER NOT NULL, globalTid INTEGER,
    correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL);
""" % (extra(", systemClockNs INTEGER, sessionStartCntVctNs INTEGER"),
       extra(", binaryData TEXT, schemaId INTEGER NOT NULL, sourceName TEXT NOT NULL"),
       *[extra("greenContextId INTEGER, ")] * 3)


class Export:
    """The tables, filled row by row; a column that a table has and nobody names is 0 or NULL."""

    def __init__(self, path, shape, target=TARGET):
        if os.path.exists(path):
            os.unlink(path)
        self.db = sqlite3.connect(path)
        self.shape = shape
        self.target = target
        self.strings = {}
        self.db.executescript(SCHEMA_OLD if shape == "old" else schema_2022(shape == "2026"))

    def string(self, value):
        if value not in self.strings:
            self.strings[value] = len(self.strings)
            self.db.execute("INSERT INTO StringIds VALUES (?, ?)", (self.strings[value], value))
        return self.strings[value]

    def tid(self, tid):
        return global_id(self.target, PID, tid)

    def add(self, table, **values):
        columns = self.db.execute("SELECT name, type, \"notnull\" FROM pragma_table_info(?)",
                                  (table,)).fetchall()
        row = {name: values.get(name, ("" if kind == "TEXT" else 0) if required else None)
               for name, kind, required in columns}
        self.db.execute("INSERT INTO %s (%s) VALUES (%s)" % (
            table, ", ".join('"%s"' % name for name in row), ", ".join("?" * len(row))),
            list(row.values()))

    def nvtx(self, event_type, start, end, text, tid, **more):
        """A row as exports write them: a text that was registered stands in StringIds alone."""
        registered = more.pop("registered", False) and self.shape != "old"
        row = {"start": start, "end": end, "eventType": event_type, "globalTid": self.tid(tid),
               "text": None if registered else text}
        if registered:
            row["textId"] = self.string(text)
        if self.shape == "old" and end is None:
            row["end"] = start
        self.add("NVTX_EVENTS", **row, **more)

    def launch(self, correlation, call, tid, start, kernel, kernel_start, kernel_end):
        self.add("CUPTI_ACTIVITY_KIND_RUNTIME", start=start, end=start + 10000,
                 globalTid=self.tid(tid), correlationId=correlation, nameId=self.string(call))
        common = {"start": kernel_start, "end": kernel_end, "contextId": 1, "streamId": 7,
                  "correlationId": correlation, "globalPid": self.tid(0)}
        if call.startswith("cudaLaunchKernel"):
            self.add("CUPTI_ACTIVITY_KIND_KERNEL", demangledName=self.string(kernel + "(float*)"),
                     shortName=self.string(kernel), gridX=128, gridY=1, gridZ=1, blockX=256,
                     blockY=1, blockZ=1, registersPerThread=32, gridId=correlation, **common)
        elif call.startswith("cudaMemset"):
            self.add("CUPTI_ACTIVITY_KIND_MEMSET", value=0, bytes=4096, **common)
        else:
            self.add("CUPTI_ACTIVITY_KIND_MEMCPY", copyKind=1, srcKind=1, bytes=65536, **common)

    def session(self):
        if self.shape == "old":
            self.db.execute("INSERT INTO UnwindMethodType VALUES (0, 'Unknown')")
            return
        self.add("TARGET_INFO_SESSION_START_TIME", utcEpochNs=SESSION_NS,
                 utcTime="2026-11-21T06:24:00", localTime="2026-11-21T07:24:00")
        self.add("ANALYSIS_DETAILS", globalVid=global_id(self.target), duration=STOP_NS, startTime=0,
                 stopTime=STOP_NS)
        self.add("PROCESSES", globalPid=self.tid(0), pid=PID, name="service")
        self.add("META_DATA_EXPORT", name="EXPORT_SCHEMA_VERSION", value="3.%s" % self.shape[2:])
        for number, name in EVENT_TYPES:
            self.add("ENUM_NSYS_EVENT_TYPE", id=number, name=name, label=name)

    def fill(self):
        self.string("[Unknown]")
        self.session()
        for tid, name in ((WORKER, "worker"), (HELPER, "helper")):
            self.add("ThreadNames", nameId=self.string(name), globalTid=self.tid(tid))
        # The service's own NVTX: a domain with a category, a registered name, a mark.
        self.nvtx(75, 10, None, "app", WORKER, domainId=1)
        self.nvtx(33, 20, None, "phase", WORKER, domainId=1, category=1)
        self.nvtx(59, 500000, 9500000, "serve", WORKER, domainId=1, category=1, color=0xFF00FF00)
        self.nvtx(60, 600000, 9000000, "batch", WORKER, rangeId=3, registered=True)
        self.nvtx(34, 700000, None, "ready", WORKER)
        self.launch(101, "cudaMemcpyAsync_v3020", WORKER, 1100000, "", 1200000, 1300000)
        self.launch(102, "cudaMemsetAsync_v3020", WORKER, 1150000, "", 1300000, 1350000)
        self.launch(103, "cudaLaunchKernel_v7000", WORKER, 1200000, "embed", 1400000, 2400000)
        self.launch(104, "cudaLaunchKernel_v7000", WORKER, 1300000, "attend", 2400000, 5400000)
        self.launch(105, "cudaLaunchKernel_v7000", WORKER, 6100000, "embed", 6200000, 7000000)
        self.launch(106, "cudaLaunchKernel_v7000", WORKER, 6200000, "attend", 7000000, 9700000)
        self.launch(107, "cudaLaunchKernel_v7000", HELPER, 1250000, "warm", 9700000, 9800000)
        self.add("OSRT_API", start=3000000, end=5500000, globalTid=self.tid(WORKER),
                 nameId=self.string("poll"), returnValue=1, callchainId=1)
        for depth, symbol in enumerate(("poll", "wait_for_request", "main")):
            self.add("OSRT_CALLCHAINS", id=1, stackDepth=depth, symbol=self.string(symbol),
                     module=self.string("/usr/bin/service"))
        self.add("PROFILER_OVERHEAD", start=100, end=90000, globalTid=self.tid(WORKER),
                 nameId=self.string("CUDA profiling initialization"))


def make(path, shape, target=TARGET, change=""):
    """Writes the export; `change` is SQL that is run on it at the end."""
    export = Export(path, shape, target)
    export.fill()
    export.db.executescript(change)
    export.db.commit()
    export.db.close()
    return path


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in SHAPES:
        sys.exit("usage: make-export.py %s OUT" % "|".join(SHAPES))
    make(sys.argv[2], sys.argv[1])
