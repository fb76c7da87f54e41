// SPDX-License-Identifier: Apache-2.0
//
// The n-th allocation fails while a store, one of a source with the extension nvtx, one whose
// ranges have parents in other processes, or an export of Nsight Systems, is written in each of the
// formats. The program must end, free all that it took, and either report short memory or write the
// same text as without a fault.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <sqlite3.h>

#include "client/export/export.h"
#include "store/store.h"
#include "tests/fault/alloc.h"
#include "tests/fault/fault_kit.h"

static char ours[64], theirs[64], extended[64], related[64], made[64];
static struct term term;

static const char schema[] =
    "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);"
    "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);"
    "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);"
    "CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL,"
    " category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, textId INTEGER, domainId "
    "INTEGER, jsonText TEXT);"
    "INSERT INTO StringIds VALUES (0, 'known'), (1, 'worker');"
    "INSERT INTO ThreadNames VALUES (1, 0, (1 << 48) | (7 << 24) | 8);"
    "INSERT INTO PROCESSES VALUES ((1 << 48) | (7 << 24), 7, 'service');"
    "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1000);"
    "INSERT INTO NVTX_EVENTS VALUES (1, NULL, 75, 0, 0, 'shop', (1 << 48) | (7 << 24) | 8, NULL, "
    "1, NULL), (1, NULL, 33, 3, 0, 'io', (1 << 48) | (7 << 24) | 8, NULL, 1, NULL),"
    " (2, 5, 59, 3, 1, NULL, (1 << 48) | (7 << 24) | 8, 0, 1, '{}'),"
    " (4, 7, 60, 0, 0, 'crosses', (1 << 48) | (7 << 24) | 8, NULL, 0, NULL);";

static const char *const lines[] = {
    "@Marker, Time, ProcessId, ThreadId, CategoryId, Message",
    "@RangeStartEnd, Start, End, ProcessId, ThreadId, Message",
    "SetFileDisplayName, \"shop\"",
    "SetCategoryName, 3, \"io\"",
    "SetThreadName, 7, 8, \"worker\"",
    "SetProcessName, 7, \"service\"",
    "Marker, 5, 7, 8, 3, \"mark\"",
    "RangeStartEnd, 1, 5, 7, 8, \"range\"",
    "RangeStartEnd, 4, 7, 7, 8, \"crosses\"",
    "SetFileDisplayName, \"\"",
    "Marker, 9, 9, 9, 0, \"other\"",
};

static const char *const extended_lines[] = {
    "@Marker, Time, ProcessId, ThreadId, Message, Payload, Domain, Json",
    "@RangePush, Time, ProcessId, ThreadId, Message, Json",
    "@RangePop, Time, ProcessId, ThreadId, Json",
    "@SetCounter, Name, Domain, Json",
    "@SetResourceName, ProcessId, Kind, Handle, Name",
    "ProcessId = 7",
    "Marker, 5, 7, 8, \"loss\", \"u32:1\", \"gpu\", \"\"",
    "SetCategoryName, 3, \"io\"",
    "RangePush, 6, 7, 8, \"crosses\", \"[1]\"",
    "RangePop, 7, 7, 8, \"2\"",
    "Marker, 8, 7, 8, \"loss\", \"\", \"gpu\", '{\"a\":1}'",
    "SetCounter, \"loss\", \"gpu\", '{\"unit\":\"J\"}'",
    "SetResourceName, 7, generic, 5, \"lock\"",
};

static const char *const related_lines[] = {
    "@Marker, Time, ProcessId, ThreadId, Message",
    "@RangePush, Time, ProcessId, ThreadId, Message",
    "@RangePop, Time, ProcessId, ThreadId",
    "@RangeStartEnd, Start, End, ProcessId, ThreadId, Message",
    "RangePush, 3, 7, 8, \"outer\"",
    "RangePush, 4, 7, 8, \"inner\"",
    "RangePop, 5, 7, 8",
    "RangePop, 6, 7, 8",
    "Marker, 7, 7, 8, \"crosses\"",
    "RangeStartEnd, 2, 8, 9, 9, \"step\"",
    "RangeStartEnd, 2, 3, 9, 10, \"lost\"",
    "RangeStartEnd, 1, 9, 9, 11, \"run\"",
};

// The source is below its own step, and the step below the run.
#define SESSION "00000001-0000-4000-8000-000000000000"
static const char relations[] =
    "UPDATE NVTXT_SOURCES SET sessionId = '" SESSION "', peerUid = 0, parent = '" SESSION ":step';"
    "INSERT INTO NVTXT_RANGE_KEYS SELECT rowid, 1, text, CASE text WHEN 'step' THEN '" SESSION
    ":run' WHEN 'run' THEN 'nowhere' ELSE '00000002' || substr('" SESSION
    "', 9) || ':run' END FROM NVTX_EVENTS WHERE eventType = 60";

static void make_store(const char *path, const char *const *text, size_t count, bool nvtx) {
    const struct store_options how = {.plain = true, .file_mode = 0600};
    const struct nvtxt_source_config config = {
        .limits = NVTXT_LIMITS_DEFAULT, .default_pid = 7, .nvtx = nvtx, .escapes = nvtx};
    const struct store_source source = {
        .id = 1, .kind = STORE_SOURCE_FILE, .name = "a.nvtxt", .nvtx = nvtx};
    struct store *store;
    struct nvtxt_sink sink;
    must(store_open(&store, path, &how, NULL, 0) == 0, "a store");
    struct store_batch *batch = store_batch_new();
    struct nvtxt_interp *interp = nvtxt_interp_new(&config);
    store_batch_sink(store_batch_source(batch, &source), &sink);
    for (size_t i = 0; i < count; i++) {
        must(nvtxt_interp_line(interp, nvtxt_slice_of(text[i]), &sink) == 0, text[i]);
    }
    must(nvtxt_interp_counters(interp)->errors == 0, path);
    must(nvtxt_interp_end(interp, &sink) == 0, "the end");
    must(store_begin(store) == 0 && store_write(store, batch) == 0 && store_commit(store) == 0,
         "a commit");
    nvtxt_interp_free(interp);
    store_batch_free(batch);
    store_close(store);
}

static void make_export(void) {
    sqlite3 *db = NULL;
    must(sqlite3_open(theirs, &db) == SQLITE_OK, "open");
    must(sqlite3_exec(db, schema, NULL, NULL, NULL) == SQLITE_OK, "schema");
    sqlite3_close(db);
}

static void relate(void) {
    sqlite3 *db = NULL;
    must(sqlite3_open(related, &db) == SQLITE_OK, "open");
    must(sqlite3_exec(db, relations, NULL, NULL, NULL) == SQLITE_OK, sqlite3_errmsg(db));
    sqlite3_close(db);
}

struct text { // an output; `perfetto` has NULs in it
    size_t len;
    char data[16384];
};

// Returns the exit status.
static int run(const struct export_options *options, struct text *text) {
    int fd = options->format->makes_file ? open(made, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)
                                         : memfd_create("out", MFD_CLOEXEC);
    must(fd >= 0, "a file");
    int status = export_run(options, &term, fd, made, "out");
    ssize_t n = pread(fd, text->data, sizeof(text->data), 0);
    must(n >= 0, "the output");
    text->len = (size_t)n;
    close(fd);
    return status;
}

// What stands in the database that was made.
static void read_made(struct text *text) {
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    must(sqlite3_open(made, &db) == SQLITE_OK, "open");
    must(sqlite3_prepare_v2(db,
                            "SELECT group_concat(start || text || ifnull(jsonText, '-')) || "
                            "(SELECT group_concat(value) FROM StringIds) FROM NVTX_EVENTS",
                            -1, &stmt, NULL) == SQLITE_OK,
         "its tables");
    must(sqlite3_step(stmt) == SQLITE_ROW, "a row");
    text->len = (size_t)snprintf(text->data, sizeof(text->data), "%s",
                                 (const char *)sqlite3_column_text(stmt, 0));
    sqlite3_finalize(stmt);
    sqlite3_close(db);
}

static struct text wanted, got;
static int usual; // the exit status without a fault

static int export_again(const void *context) {
    int status = run(context, &got);
    return status == OUTCOME_SYSTEM ? -ENOMEM : status - usual;
}

static void check_text(const void *context, int result) {
    const struct export_options *options = context;
    if (result == 0 && options->format->makes_file) {
        read_made(&got);
    }
    must(result != 0 || (got.len == wanted.len && memcmp(got.data, wanted.data, got.len) == 0),
         options->format->name);
}

static void all_allocations(const struct export_options *options, unsigned stride) {
    usual = run(options, &wanted);
    must(usual == 0 || usual == 1, "without a fault");
    if (options->format->makes_file) {
        read_made(&wanted);
    }
    must(memmem(wanted.data, wanted.len, "crosses", 7) != NULL, options->format->name);
    printf("# %s of %s\n", options->format->name, options->store);
    unsigned once = alloc_each(stride, false, export_again, check_text, options);
    unsigned lasting = alloc_each(stride, true, export_again, check_text, options);
    printf("# %u and %u allocations, every %u. failed\n", once, lasting, stride);
}

int main(void) {
    static const char *const formats[] = {"chrome", "csv",      "jsonl", "nvtxt",
                                          "otlp",   "perfetto", "nsys"};
    unsigned stride = fault_stride(47, 499);
    alloc_install();
    term_init(&term, "test");
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(null, STDERR_FILENO); // thousands of "out of memory"
    close(null);
    const char *folder = make_folder();
    snprintf(ours, sizeof(ours), "%s/ours.sqlite", folder);
    snprintf(theirs, sizeof(theirs), "%s/theirs.sqlite", folder);
    snprintf(extended, sizeof(extended), "%s/extended.sqlite", folder);
    snprintf(related, sizeof(related), "%s/related.sqlite", folder);
    snprintf(made, sizeof(made), "%s/made.sqlite", folder);
    make_store(ours, lines, sizeof(lines) / sizeof(lines[0]), false);
    make_store(extended, extended_lines, sizeof(extended_lines) / sizeof(extended_lines[0]), true);
    make_store(related, related_lines, sizeof(related_lines) / sizeof(related_lines[0]), false);
    relate();
    make_export();
    const char *const stores[] = {theirs, ours, extended, related};
    for (size_t i = 0; i < 28; i++) {
        struct export_options options = {.store = stores[i % 4],
                                         .format = export_format_find(formats[i / 4])};
        if (i % 4 == 3 && !options.format->wants_parents) {
            continue;
        }
        all_allocations(&options, stride);
    }
    unlink(ours);
    unlink(theirs);
    unlink(extended);
    unlink(related);
    unlink(made);
    rmdir(folder);
    return 0;
}
