// SPDX-License-Identifier: Apache-2.0
//
// All files of all stores are opened first, so that none goes away any more. Then each is read in
// one transaction, oldest first: what a daemon adds meanwhile goes into the last one, whose
// transaction begins last. After it nothing but memory is used.
#include "report/load/load.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "protocol/base/origin.h"
#include "report/load/load_state.h"
#include "store/db/sql.h"
#include "store/read/reader.h"
#include "store/segment/segments.h"
#include "store/value/codes.h"

#define STORES_MAX 255
#define ASK_EVERY 20000 // instructions of SQLite's machine: well below a millisecond
#define MIB (UINT64_C(1) << 20)
#define PATH_SHOWN 600 // bytes of a path in a sentence, which has 1,024

struct files {
    struct report_load_file *rows; // owned, with their readers
    size_t count, room;
};

static int say(char *sentence, int r, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int say(char *sentence, int r, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(sentence, REPORT_SENTENCE_BYTES, format, list);
    va_end(list);
    return r;
}

static int no_memory(char *sentence) {
    return say(sentence, nvtxt_origin(-ENOMEM), "out of memory");
}

// A result of store/read. Below 0: memory and descriptors are passed on.
static int result_of(int r) {
    switch (r) {
    case STORE_NEWER:
    case STORE_FOREIGN:
    case STORE_CORRUPT:
    case STORE_EMPTY:
    case STORE_FAILED:
    case STORE_LACKING:
        return REPORT_BAD_DATA;
    case STORE_BUSY:
        return REPORT_LOCKED;
    case STORE_DONE:
        return REPORT_LOADED;
    default:
        return r > 0 ? REPORT_IO : r;
    }
}

static int on_progress(void *load) {
    return report_load_interrupted(load);
}

static void close_files(struct files *files) {
    for (size_t i = 0; i < files->count; i++) {
        store_read_close(files->rows[i].reader);
    }
    free(files->rows);
}

// ---- Opening ------------------------------------------------------------------------------------

static int add_file(struct report_load_state *load, struct files *files, const char *path,
                    bool may_be_gone, char *sentence) {
    struct report_store *store = &load->capture->stores[load->capture->store_count - 1];
    struct nvtxt_slice name;
    if (report_load_grow(&files->rows, &files->room, files->count, sizeof(*files->rows)) !=
            SQLITE_OK ||
        report_load_word(load, nvtxt_slice_of(path), &name) != SQLITE_OK) {
        return no_memory(sentence);
    }
    struct report_load_file *file = &files->rows[files->count];
    *file = (struct report_load_file){.store = (uint32_t)load->capture->store_count - 1,
                                      .segment = (int64_t)store->segment_count};
    int r = store_read_connect(&file->reader, path, sentence, REPORT_SENTENCE_BYTES);
    if (r < 0 && may_be_gone && access(path, F_OK) != 0) {
        *sentence = '\0';
        return REPORT_LOADED; // removed for its age since it was listed
    }
    if (r != STORE_DONE) {
        return r == -ENOMEM || r == -EMFILE || r == -ENFILE ? r
               : r < 0                                      ? REPORT_NO_INPUT
                                                            : result_of(r);
    }
    file->db = store_read_database(file->reader, &file->ours);
    store->ours = file->ours;
    store->segments[store->segment_count++] = name;
    files->count++;
    return REPORT_LOADED;
}

static int open_store(struct report_load_state *load, struct files *files, const char *path,
                      char *sentence) {
    struct report_capture *capture = load->capture;
    struct store_segments list = {0};
    struct nvtxt_slice name;
    // A path that is no store has no list: the reader says what is wrong with it.
    if (store_segments_list(path, &list) == -ENOMEM ||
        report_load_word(load, nvtxt_slice_of(path), &name) != SQLITE_OK ||
        REPORT_GROW(load, stores, store_count) != SQLITE_OK) {
        store_segments_deinit(&list);
        return no_memory(sentence);
    }
    struct report_store *store = &capture->stores[capture->store_count++];
    *store = (struct report_store){.path = name};
    store->segments = calloc(list.count + 1, sizeof(*store->segments));
    int r = store->segments ? REPORT_LOADED : no_memory(sentence);
    for (size_t i = 0; i < list.count && r == REPORT_LOADED; i++) {
        r = add_file(load, files, list.rows[i].path, list.count > 1, sentence);
    }
    if (r == REPORT_LOADED && store->segment_count == 0) {
        r = add_file(load, files, path, false, sentence);
    }
    if (r == REPORT_LOADED) {
        files->rows[files->count - 1].newest = true;
    }
    store_segments_deinit(&list);
    return r;
}

// ---- Reading ------------------------------------------------------------------------------------

static int read_file(struct report_load_state *load, struct report_load_file *file) {
    int r = store_read_offset(file->reader, &file->offset_ns);
    load->capture->stores[file->store].utc_base_ns = file->offset_ns;
    r = r ?: report_load_names_file(load, file);
    r = r ?: report_load_facts(load, file);
    r = r ?: report_load_sources(load, file);
    r = r ?: report_load_rows(load, file);
    r = r ?: report_load_open_ranges(load, file);
    r = r ?: report_load_keys(load, file);
    r = r ?: report_load_bearers(load, file);
    return r ?: report_load_kernels(load, file);
}

static int size_refused(const struct report_load_state *load, char *sentence) {
    uint64_t bytes = report_load_needs(load);
    uint64_t most = load->max_memory;
    bool small = bytes < MIB;
    unsigned long long figure =
        (unsigned long long)(small ? bytes / 1024 + 1 : (bytes + MIB - 1) / MIB);
    struct nvtxt_slice path = load->capture->stores[0].path;
    return say(sentence, REPORT_TOO_LARGE,
               "%.*s%s needs %llu %s of memory and may have %llu KiB: allow more with "
               "--max-memory %llu%s%s",
               (int)nvtxt_min(path.len, PATH_SHOWN), path.data,
               load->capture->store_count > 1 ? " and the others" : "", figure,
               small ? "KiB" : "MiB", (unsigned long long)(most / 1024), figure, small ? "K" : "M",
               load->taken_memory > 0 ? "" : ", or take a part with --since or --last");
}

static int fail(const struct report_load_state *load, const struct report_load_file *file, int rc,
                char *sentence) {
    if (load->too_large) {
        return size_refused(load, sentence);
    }
    if (report_load_interrupted(load)) {
        return say(sentence, REPORT_INTERRUPTED, "interrupted");
    }
    int r = store_read_result(file->reader, rc);
    return say(sentence, result_of(r), "%s", store_read_error(file->reader));
}

// One transaction, which is over when this returns.
static int load_file(struct report_load_state *load, struct report_load_file *file,
                     char *sentence) {
    sqlite3_progress_handler(file->db, ASK_EVERY, on_progress, load);
    int rc = store_sql_exec(file->db, "PRAGMA temp_store = MEMORY; BEGIN");
    rc = rc ?: read_file(load, file);
    report_load_names_leave(load);
    int r = rc == SQLITE_OK ? REPORT_LOADED : fail(load, file, rc, sentence);
    if (!sqlite3_get_autocommit(file->db)) {
        store_sql_exec(file->db, "COMMIT");
    }
    store_read_close(file->reader);
    file->reader = NULL;
    return r;
}

static int count_rows(struct report_load_state *load, const struct files *files, bool exactly,
                      char *sentence) {
    load->rows_expected = 0;
    load->rows_counted = exactly || !load->windowed;
    for (size_t i = 0; i < files->count; i++) {
        int64_t rows = 0;
        sqlite3_progress_handler(files->rows[i].db, ASK_EVERY, on_progress, load);
        int rc = report_load_count(load, &files->rows[i], exactly, &rows);
        if (rc != SQLITE_OK) {
            return fail(load, &files->rows[i], rc, sentence);
        }
        if (__builtin_add_overflow(load->rows_expected, rows, &load->rows_expected)) {
            load->rows_expected = INT64_MAX;
        }
    }
    return REPORT_LOADED;
}

// With a bound of memory: how many rows there will be. Those of a window are looked at one by one
// only if whole batches, or the whole export, would be too large.
static int expect_rows(struct report_load_state *load, const struct files *files, char *sentence) {
    if (load->max_memory == 0) {
        return REPORT_LOADED;
    }
    int r = count_rows(load, files, false, sentence);
    if (r == REPORT_LOADED && load->windowed && report_load_needs(load) > load->max_memory) {
        r = count_rows(load, files, true, sentence);
    }
    return r;
}

static int load_all(struct report_load_state *load, const char *const *paths, size_t count,
                    struct files *files, char *sentence) {
    uint32_t default_domain;
    int r = report_load_domain(load, (struct nvtxt_slice){"", 0}, &default_domain) == SQLITE_OK
                ? REPORT_LOADED
                : no_memory(sentence);
    for (size_t i = 0; i < count && r == REPORT_LOADED; i++) {
        r = open_store(load, files, paths[i], sentence);
    }
    r = r == REPORT_LOADED ? expect_rows(load, files, sentence) : r;
    for (size_t i = 0; i < files->count && r == REPORT_LOADED; i++) {
        if (i == 0 || files->rows[i].store != files->rows[i - 1].store) {
            report_load_names_store(load);
        }
        r = load_file(load, &files->rows[i], sentence);
    }
    if (r == REPORT_LOADED && report_load_part(load) != SQLITE_OK) {
        r = no_memory(sentence);
    }
    if (r == REPORT_LOADED && report_load_finish(load) < 0) {
        r = no_memory(sentence);
    }
    return r;
}

int report_load(struct report_capture **capture, const char *const *paths, size_t count,
                const struct report_load_options *options, char *sentence) {
    struct report_load_state load = {.window = STORE_READ_ALL,
                                     .rows_began = UINT64_MAX,
                                     .max_memory = options->max_memory,
                                     .taken_memory = options->taken_memory,
                                     .readers = (size_t)options->threads,
                                     .brief = options->brief,
                                     .interrupted = options->interrupted,
                                     .part = options->part,
                                     .context = options->context};
    struct files files = {0};
    *capture = NULL;
    *sentence = '\0';
    if (count > STORES_MAX) {
        return say(sentence, REPORT_TOO_LARGE, "at most %d stores can be read together",
                   STORES_MAX);
    }
    load.window.since_ns = options->since_ns;
    load.window.until_ns = options->until_ns;
    load.windowed = options->since_ns != INT64_MIN || options->until_ns != INT64_MAX;
    load.capture = calloc(1, sizeof(*load.capture));
    load.memory = calloc(1, sizeof(*load.memory));
    if (!load.capture || !load.memory) {
        free(load.capture);
        free(load.memory);
        return no_memory(sentence);
    }
    load.capture->memory = load.memory;
    load.capture->windowed = load.windowed;
    int r = load_all(&load, paths, count, &files, sentence);
    close_files(&files);
    report_load_names_deinit(&load);
    free(load.diagnostics);
    if (r != REPORT_LOADED) {
        report_capture_free(load.capture);
        return r;
    }
    *capture = load.capture;
    return REPORT_LOADED;
}
