// SPDX-License-Identifier: Apache-2.0
//
// All files of all stores are opened first, so that none goes away any more. Then each is read in
// one transaction, oldest first: what a daemon adds meanwhile goes into the last one, whose
// transaction begins last. After it nothing but memory is used.
#include "report/load/load.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/load/load_finish.h"
#include "report/load/load_names.h"
#include "report/load/load_rows.h"
#include "report/load/load_tables.h"
#include "store/db/sql.h"
#include "store/read/reader.h"
#include "store/segment/segments.h"
#include "store/value/codes.h"

#define STORES_MAX 255
#define EVENTS_MAX (UINT32_MAX - 1)
#define FIRST_ROOM 16
#define MODEL_BYTES 24  // what report/model adds to an event
#define ASK_EVERY 20000 // instructions of SQLite's machine: well below a millisecond
#define SOME_ROWS 4096u
#define MIB (UINT64_C(1) << 20)

struct files {
    struct report_load_file *rows; // owned, with their readers
    size_t count, room;
};

static int say(char *sentence, int result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int say(char *sentence, int result, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(sentence, REPORT_SENTENCE_BYTES, format, list);
    va_end(list);
    return result;
}

static int no_memory(char *sentence) {
    return say(sentence, -ENOMEM, "out of memory");
}

// A result of store/read. Below 0: memory and descriptors are passed on.
static int result_of(int result) {
    switch (result) {
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
        return result > 0 ? REPORT_IO : result;
    }
}

// ---- Memory -------------------------------------------------------------------------------------

int report_load_grow(void **array, size_t *room, size_t count, size_t size) {
    if (count < *room) {
        return SQLITE_OK;
    }
    size_t more = *room ? *room + *room / 2 : FIRST_ROOM;
    void *grown = count < EVENTS_MAX ? realloc(*array, more * size) : NULL;
    if (!grown) {
        return SQLITE_NOMEM;
    }
    *array = grown;
    *room = more;
    return SQLITE_OK;
}

static double bytes_of_rows(double rows) {
    return rows * (sizeof(struct report_event) + MODEL_BYTES);
}

static uint64_t whole(double bytes) {
    return bytes < 9e18 ? (uint64_t)bytes : UINT64_MAX / 2;
}

static double at_least(int64_t rows, size_t events) {
    return rows > (int64_t)events ? (double)rows : (double)events;
}

// What the load takes at least: it is refused when that is too much. The rows to come count when
// some were read, for they say how long texts are, and so what to allow.
static uint64_t bytes_taken(const struct report_load_state *load) {
    size_t events = load->capture->event_count;
    double rows =
        at_least(load->rows_counted && events >= SOME_ROWS ? load->rows_expected : 0, events);
    return whole(bytes_of_rows(rows) + (double)report_load_texts(load) +
                 (double)load->taken_memory);
}

// What it will take if the texts of the rows to come are like those of the rows before, or longer
// by a sixteenth.
static uint64_t bytes_needed(const struct report_load_state *load) {
    size_t events = load->capture->event_count;
    double rows = at_least(load->rows_expected, events), texts = (double)report_load_texts(load);
    double of_rows = (double)load->row_texts;
    of_rows += load->rows_began < UINT64_MAX ? texts - (double)load->rows_began : 0;
    double share = events > 0 ? rows / (double)events : 1;
    of_rows *= (share - 1) * 17 / 16;
    return whole(bytes_of_rows(rows) + texts + of_rows + (double)load->taken_memory);
}

static bool is_too_large(struct report_load_state *load) {
    load->too_large = load->max_memory > 0 && bytes_taken(load) > load->max_memory;
    return load->too_large;
}

static bool is_interrupted(const struct report_load_state *load) {
    return load->interrupted && load->interrupted();
}

int report_load_check(struct report_load_state *load) {
    return is_too_large(load) || is_interrupted(load) ? SQLITE_INTERRUPT : SQLITE_OK;
}

static int on_progress(void *load) {
    return is_interrupted(load);
}

static void close_files(struct files *files) {
    for (size_t i = 0; i < files->count; i++) {
        store_read_close(files->rows[i].reader);
    }
    free(files->rows);
}

void report_capture_free(struct report_capture *capture) {
    if (!capture) {
        return;
    }
    for (size_t i = 0; i < capture->store_count; i++) {
        free(capture->stores[i].segments);
        free(capture->stores[i].tables);
    }
    void *arrays[] = {capture->stores,  capture->events,  capture->more,       capture->messages,
                      capture->names,   capture->domains, capture->scopes,     capture->processes,
                      capture->threads, capture->sources, capture->categories, capture->losses,
                      capture->kernels};
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
        free(arrays[i]);
    }
    struct report_memory *memory = capture->memory;
    if (memory) {
        store_arena_deinit(&memory->bytes);
    }
    free(memory);
    free(capture);
}

uint64_t report_capture_bytes(const struct report_capture *capture) {
    const struct report_memory *memory = capture->memory;
    return whole(bytes_of_rows((double)capture->event_count) +
                 (double)store_arena_used(&memory->bytes));
}

void *report_capture_take(struct report_capture *capture, size_t size) {
    struct report_memory *memory = capture->memory;
    return store_arena_take(&memory->bytes, size, 16);
}

// ---- Opening ------------------------------------------------------------------------------------

static int add_file(struct report_load_state *load, struct files *files, const char *path,
                    bool may_be_gone, char *sentence) {
    struct report_store *store = &load->capture->stores[load->capture->store_count - 1];
    struct nvtxt_slice name;
    if (report_load_grow((void **)&files->rows, &files->room, files->count, sizeof(*files->rows)) !=
            SQLITE_OK ||
        report_load_word(load, nvtxt_slice_of(path), &name) != SQLITE_OK) {
        return no_memory(sentence);
    }
    struct report_load_file *file = &files->rows[files->count];
    *file = (struct report_load_file){.store = (uint32_t)load->capture->store_count - 1,
                                      .segment = (int64_t)store->segment_count};
    int result = store_read_connect(&file->reader, path, sentence, REPORT_SENTENCE_BYTES);
    if (result < 0 && may_be_gone && access(path, F_OK) != 0) {
        *sentence = '\0';
        return REPORT_LOADED; // removed for its age since it was listed
    }
    if (result != STORE_DONE) {
        return result == -ENOMEM || result == -EMFILE || result == -ENFILE ? result
               : result < 0                                                ? REPORT_NO_INPUT
                                                                           : result_of(result);
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
    int result = store->segments ? REPORT_LOADED : no_memory(sentence);
    for (size_t i = 0; i < list.count && result == REPORT_LOADED; i++) {
        result = add_file(load, files, list.rows[i].path, list.count > 1, sentence);
    }
    if (result == REPORT_LOADED && store->segment_count == 0) {
        result = add_file(load, files, path, false, sentence);
    }
    if (result == REPORT_LOADED) {
        files->rows[files->count - 1].newest = true;
    }
    store_segments_deinit(&list);
    return result;
}

// ---- Reading ------------------------------------------------------------------------------------

static int read_file(struct report_load_state *load, struct report_load_file *file) {
    int rc = store_read_offset(file->reader, &file->offset_ns);
    load->capture->stores[file->store].utc_base_ns = file->offset_ns;
    rc = rc ?: report_load_names_file(load, file);
    rc = rc ?: report_load_facts(load, file);
    rc = rc ?: report_load_sources(load, file);
    rc = rc ?: report_load_rows(load, file);
    rc = rc ?: report_load_open_ranges(load, file);
    rc = rc ?: report_load_bearers(load, file);
    return rc ?: report_load_kernels(load, file);
}

static int size_refused(const struct report_load_state *load, char *sentence) {
    uint64_t bytes = bytes_needed(load);
    uint64_t most = load->max_memory;
    bool small = bytes < MIB;
    unsigned long long figure =
        (unsigned long long)(small ? bytes / 1024 + 1 : (bytes + MIB - 1) / MIB);
    struct nvtxt_slice path = load->capture->stores[0].path;
    return say(sentence, REPORT_TOO_LARGE,
               "%.*s%s needs %llu %s of memory and may have %llu KiB: allow more with "
               "--max-memory %llu%s%s",
               (int)(path.len < 600 ? path.len : 600), path.data,
               load->capture->store_count > 1 ? " and the others" : "", figure,
               small ? "KiB" : "MiB", (unsigned long long)(most / 1024), figure, small ? "K" : "M",
               load->taken_memory > 0 ? "" : ", or take a part with --since or --last");
}

static int fail(const struct report_load_state *load, const struct report_load_file *file, int rc,
                char *sentence) {
    if (load->too_large) {
        return size_refused(load, sentence);
    }
    if (is_interrupted(load)) {
        return say(sentence, REPORT_INTERRUPTED, "interrupted");
    }
    int result = store_read_result(file->reader, rc);
    return say(sentence, result_of(result), "%s", store_read_error(file->reader));
}

// One transaction, which is over when this returns.
static int load_file(struct report_load_state *load, struct report_load_file *file,
                     char *sentence) {
    sqlite3_progress_handler(file->db, ASK_EVERY, on_progress, load);
    int rc = store_sql_exec(file->db, "PRAGMA temp_store = MEMORY; BEGIN");
    rc = rc ?: read_file(load, file);
    report_load_names_leave(load);
    int result = rc == SQLITE_OK ? REPORT_LOADED : fail(load, file, rc, sentence);
    if (!sqlite3_get_autocommit(file->db)) {
        store_sql_exec(file->db, "COMMIT");
    }
    store_read_close(file->reader);
    file->reader = NULL;
    return result;
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
    int result = count_rows(load, files, false, sentence);
    if (result == REPORT_LOADED && load->windowed && bytes_needed(load) > load->max_memory) {
        result = count_rows(load, files, true, sentence);
    }
    return result;
}

static int load_all(struct report_load_state *load, const char *const *paths, size_t count,
                    struct files *files, char *sentence) {
    uint32_t default_domain;
    int result = report_load_domain(load, (struct nvtxt_slice){"", 0}, &default_domain) == SQLITE_OK
                     ? REPORT_LOADED
                     : no_memory(sentence);
    for (size_t i = 0; i < count && result == REPORT_LOADED; i++) {
        result = open_store(load, files, paths[i], sentence);
    }
    result = result == REPORT_LOADED ? expect_rows(load, files, sentence) : result;
    for (size_t i = 0; i < files->count && result == REPORT_LOADED; i++) {
        if (i == 0 || files->rows[i].store != files->rows[i - 1].store) {
            report_load_names_store(load);
        }
        result = load_file(load, &files->rows[i], sentence);
    }
    if (result == REPORT_LOADED && report_load_finish(load) < 0) {
        result = no_memory(sentence);
    }
    return result;
}

int report_load(struct report_capture **capture, const char *const *paths, size_t count,
                const struct report_load_options *options, char *sentence) {
    struct report_load_state load = {.window = STORE_READ_ALL,
                                     .rows_began = UINT64_MAX,
                                     .max_memory = options->max_memory,
                                     .taken_memory = options->taken_memory,
                                     .interrupted = options->interrupted};
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
    int result = load_all(&load, paths, count, &files, sentence);
    close_files(&files);
    report_load_names_deinit(&load);
    free(load.diagnostics);
    if (result != REPORT_LOADED) {
        report_capture_free(load.capture);
        return result;
    }
    *capture = load.capture;
    return REPORT_LOADED;
}
