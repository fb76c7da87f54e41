// SPDX-License-Identifier: Apache-2.0
//
// The n-th allocation fails while an export is copied and events are added to the copy. The merge
// must end, free all that it took, and report short memory. The input must be as it was.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "store/copy/copy.h"
#include "store/db/sql.h"
#include "store/nsys/nsys.h"
#include "store/store.h"
#include "tests/fault/alloc.h"
#include "tests/fault/fault_kit.h"

#define EVENTS 4

static char in[64], out[64];

static const char schema[] =
    "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);"
    "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);"
    "CREATE TABLE ANALYSIS_DETAILS (globalVid, duration, startTime, stopTime);"
    "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);"
    "CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL,"
    " rangeId INTEGER, category INTEGER, color INTEGER, text TEXT, globalTid INTEGER,"
    " endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, int64Value INTEGER,"
    " floatValue REAL, jsonTextId INTEGER, jsonText TEXT);"
    "INSERT INTO StringIds VALUES (0, 'known'), (1, 'worker');"
    "INSERT INTO ThreadNames VALUES (1, 0, (1 << 48) | (7 << 24) | 7);"
    "INSERT INTO PROCESSES VALUES ((1 << 48) | (7 << 24), 7, 'service');"
    "INSERT INTO ANALYSIS_DETAILS VALUES (1 << 48, 10, 0, 10);"
    "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1000);"
    "INSERT INTO NVTX_EVENTS VALUES (1, NULL, 75, NULL, NULL, NULL, NULL, (1 << 48) | (7 << 24) | "
    "7,"
    " NULL, 0, 1, NULL, NULL, NULL, NULL), (1, 2, 59, NULL, 1, 2, 'old', (1 << 48) | (7 << 24) | "
    "7, NULL, NULL, 1, "
    "3, NULL, NULL, NULL);";

static const char *const lines[] = {
    "TimeBase = Manual",
    "@Marker, Time, ThreadId, Message, Payload",
    "@RangeStart, Time, RangeId, ThreadId",
    "@RangeEnd, Time, RangeId, ThreadId",
    "SetThreadName, 7, 7, \"front\"",
    "SetThreadName, 7, 8, \"back\"",
    "SetProcessName, 7, \"another\"",
    "SetProcessName, 9, \"nine\"",
    "SetCategoryName, 3, \"three\"",
    "SetFileDisplayName, \"known\"",
    "Marker, 1001, 7, \"one\", 5",
    "SetFileDisplayName, \"new\"",
    "Json = \"[1, 2]\"",
    "Marker, 1002, 8, \"two\", 'f32:2.5'",
    "SetResourceName, cuStream, 1, \"stream\"",
    "SetCategoryName, 3, \"drei\"",
    "RangeStart, 1003, 1, 8",
    "RangeEnd, 1004, 1, 9",
    "Marker, 1020, 9, \"outside\", 1",
    "SetThreadName, 7, 8, \"rear\"",
    "Marker, 1005, 9, \"three\", 1",
};

static void make_export(void) {
    sqlite3 *db = NULL;
    must(sqlite3_open(in, &db) == SQLITE_OK, "open");
    must(sqlite3_exec(db, schema, NULL, NULL, NULL) == SQLITE_OK, "schema");
    sqlite3_close(db);
}

static size_t content(char *data, size_t size) {
    int fd = open(in, O_RDONLY);
    ssize_t n = fd < 0 ? -1 : read(fd, data, size);
    close(fd);
    must(n > 0 && (size_t)n < size, "the input is there");
    return (size_t)n;
}

static int feed(struct store_nsys *nsys) {
    const struct nvtxt_source_config config = {
        .limits = NVTXT_LIMITS_DEFAULT, .default_pid = 7, .escapes = true, .nvtx = true};
    struct nvtxt_interp *interp = nvtxt_interp_new(&config);
    struct nvtxt_sink sink;
    int r = interp ? 0 : -ENOMEM;
    store_nsys_sink(nsys, &sink);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]) && r == 0; i++) {
        r = nvtxt_interp_line(interp, nvtxt_slice_of(lines[i]), &sink);
    }
    r = r ? r : nvtxt_interp_end(interp, &sink);
    nvtxt_interp_free(interp);
    return r;
}

// 0, or a failure that memory explains.
static int merge(const void *context) {
    (void)context;
    const struct store_nsys_place place = {.target = 1, .zero_ns = 1000};
    struct store_nsys *nsys = NULL;
    enum store_copy_kind kind;
    char why[512];
    int r = store_copy(in, out, 0600, NULL, &kind, why, sizeof(why));
    must(r != 0 || kind == STORE_COPY_EXPORT, "it is an export");
    r = r ? r : store_nsys_open(&nsys, out, in, why, sizeof(why));
    r = r ? r : store_nsys_place(nsys, &place);
    r = r ? r : feed(nsys);
    r = r ? r : store_nsys_finish(nsys);
    if (r == 0) {
        must(store_nsys_counts(nsys)->events == EVENTS, "all events are added");
        must(store_nsys_counts(nsys)->outside == 1, "one is outside");
        must(store_nsys_counts(nsys)->resources == 1, "one name has no table");
    }
    store_nsys_close(nsys);
    return r;
}

static void check_output(void) {
    sqlite3 *db = NULL;
    int64_t events = 0;
    must(sqlite3_open(out, &db) == SQLITE_OK, "open");
    must(store_sql_int(db, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType IN (34, 60)",
                       &events) == SQLITE_OK &&
             events == EVENTS,
         "the events are in the file");
    must(store_sql_int(db,
                       "SELECT count(*) FROM NVTX_EVENTS e JOIN StringIds s ON s.id = e.jsonTextId "
                       "WHERE s.value = e.jsonText",
                       &events) == SQLITE_OK &&
             events == 3,
         "and their JSON");
    sqlite3_close(db);
}

static char before[1 << 20]; // the input
static size_t before_len;

static void check_files(const void *context, int result) {
    static char after[1 << 20];
    (void)context;
    if (result == 0) {
        check_output();
    }
    unlink(out);
    must(content(after, sizeof(after)) == before_len && memcmp(before, after, before_len) == 0,
         "the input is as it was");
}

static void all_allocations(bool lasting, unsigned stride) {
    unsigned count = alloc_each(stride, lasting, merge, check_files, NULL);
    printf("# %u allocations, every %u. failed %s\n", count, stride, lasting ? "for ever" : "once");
}

int main(void) {
    unsigned stride = fault_stride(29, 499);
    alloc_install();
    const char *folder = make_folder();
    snprintf(in, sizeof(in), "%s/in", folder);
    snprintf(out, sizeof(out), "%s/out", folder);
    make_export();
    before_len = content(before, sizeof(before));
    must(merge(NULL) == 0, "without a fault"); // SQLite keeps some of its first time
    check_output();
    unlink(out);
    all_allocations(false, stride);
    all_allocations(true, stride);
    unlink(in);
    rmdir(folder);
    return 0;
}
