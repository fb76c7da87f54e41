// SPDX-License-Identifier: Apache-2.0
//
// Opens all segments of the store first, so that none is removed meanwhile and the exported events
// are fixed. Then it reads chunk after chunk, filters each, adds the names, and calls the format.
#include "client/export/export.h"

#include <stdlib.h>
#include <unistd.h>

#include "client/common/input.h"
#include "client/common/result_file.h"
#include "protocol/base/clock.h"
#include "protocol/base/origin.h"
#include "store/segment/segments.h"
#include "store/store.h"

#define FLUSH_BYTES ((size_t)128 * 1024)

struct names { // of the event before; the next event mostly has the same
    bool known;
    uint64_t global_tid;
    int64_t domain_id;
    uint32_t category;
    bool category_wanted; // by --category
};

struct export {
    const struct export_options *options;
    struct term *term;
    struct export_writer writer;
    struct store_reader **readers; // owned, oldest first; NULL after its events were written
    size_t count;
    bool has_events; // before the filters; the time is the end of the last of them
    int64_t last_ns;
    struct store_read_window window;
    size_t sources; // found, of --source
    uint32_t *pids; // owned, of --pid
    struct store_named_event row;
    struct export_parents
        *parents; // owned; NULL: no event has one, or the format has no use for it
    struct names names;
    // What gets the rows: look() or row() of the format.
    int (*on_row)(struct export_writer *writer, const struct store_named_event *row);
    uint64_t rows; // that were written
    int64_t started_ms;
};

static enum outcome outcome_of(int r) {
    switch (r) {
    case STORE_BUSY:
        return OUTCOME_LATER;
    case STORE_NEWER:
    case STORE_FOREIGN:
    case STORE_CORRUPT:
    case STORE_EMPTY:
    case STORE_UNFIT:
        return OUTCOME_BAD_DATA;
    default:
        return r < 0 ? outcome_of_open(r) : OUTCOME_IO;
    }
}

// Prints the store's failure, unless a signal caused it.
static enum outcome fail(struct term *term, int r, const char *why) {
    if (signals_count() > 0) {
        return OUTCOME_STOPPED;
    }
    bool short_of_memory = outcome_of_error(r, OUTCOME_DONE) == OUTCOME_SYSTEM;
    term_say(term, "%s", short_of_memory || !*why ? "out of memory" : why);
    return outcome_of(r);
}

static enum outcome no_memory(struct term *term) {
    term_say(term, "out of memory");
    return OUTCOME_SYSTEM;
}

// ---- Files of the store -------------------------------------------------------------------------

// Lists the files. A path that is not a store is listed too: the reader says what is wrong with it.
static enum outcome list_files(const char *store, struct store_segments *segments) {
    return outcome_of_error(store_segments_list(store, segments), OUTCOME_DONE);
}

static enum outcome open_one(struct export *export, const char *path, bool may_be_gone) {
    char why[PATH_MAX + 256];
    int r = store_read_open(&export->readers[export->count], path, why, sizeof(why));
    if (r < 0 && may_be_gone && access(path, F_OK) != 0) {
        return OUTCOME_DONE; // removed for its age since it was listed
    }
    if (r != STORE_DONE) {
        return fail(export->term, r, why);
    }
    export->count++;
    return 0;
}

static enum outcome open_files(struct export *export) {
    struct store_segments segments = {0};
    input_raise_descriptors();
    if (list_files(export->options->store, &segments) != OUTCOME_DONE) {
        return no_memory(export->term);
    }
    export->readers = calloc(segments.count + 1, sizeof(struct store_reader *));
    enum outcome r = export->readers ? OUTCOME_DONE : no_memory(export->term);
    for (size_t i = 0; i < segments.count && r == 0; i++) {
        r = open_one(export, segments.rows[i].path, segments.count > 1);
    }
    if (r == 0 && export->count == 0) {
        r = open_one(export, export->options->store, false);
    }
    store_segments_deinit(&segments);
    return r;
}

enum outcome export_check_output(const struct export_options *options, struct term *term,
                                 const char *path) {
    struct store_segments segments = {0};
    enum outcome r = OUTCOME_DONE;
    if (access(path, F_OK) != 0) {
        return 0;
    }
    if (list_files(options->store, &segments) != OUTCOME_DONE) {
        return no_memory(term);
    }
    for (size_t i = 0; i < segments.count && r == 0; i++) {
        if (result_file_is_of(path, segments.rows[i].path)) {
            term_say(term, "%s belongs to the store itself: choose another name", path);
            r = OUTCOME_USAGE;
        }
    }
    store_segments_deinit(&segments);
    return r;
}

// ---- Which events -------------------------------------------------------------------------------

// The window in one file: the sources have their ids there.
static int select_rows(struct export *export, struct store_reader *reader, size_t *found) {
    const struct nvtxt_option_list *sources = &export->options->sources;
    struct store_read_window window = export->window;
    int64_t *all = NULL;
    int r = STORE_DONE;
    for (size_t i = 0; i < sources->count && r == STORE_DONE; i++) {
        int64_t *ids;
        size_t count;
        r = store_read_find_sources(reader, sources->words[i], &ids, &count);
        int64_t *more = realloc(all, (window.source_count + count + 1) * sizeof(*all));
        if (!more) {
            free(ids);
            free(all);
            return nvtxt_origin(-ENOMEM);
        }
        all = more;
        memcpy(all + window.source_count, ids ?: all, count * sizeof(*all));
        window.source_count += count;
        free(ids);
    }
    *found += window.source_count;
    window.sources = sources->count > 0 ? all : NULL;
    r = r ?: store_read_select(reader, &window);
    free(all);
    return r;
}

// ---- Events -------------------------------------------------------------------------------------

static void find_names(struct export *export, struct store_reader *reader,
                       const struct store_read_event *event) {
    struct names *names = &export->names;
    struct store_named_event *row = &export->row;
    bool new_thread = !names->known || names->global_tid != event->global_tid;
    bool new_domain = new_thread || names->domain_id != event->domain_id;
    if (new_thread) {
        row->process = store_read_process(reader, event->global_tid);
        row->thread = store_read_thread(reader, event->global_tid);
    }
    if (new_domain) {
        row->domain = store_read_domain(reader, event->global_tid, event->domain_id);
    }
    if (new_domain || names->category != event->category) {
        row->category =
            store_read_category(reader, event->global_tid, event->domain_id, event->category);
        names->category_wanted =
            export_wants_category(export->options, event->category, row->category);
    }
    names->known = true;
    names->global_tid = event->global_tid;
    names->domain_id = event->domain_id;
    names->category = event->category;
}

// Whether the event is written. Then the row has its names.
static bool choose(struct export *export, struct store_reader *reader,
                   const struct store_read_event *event) {
    struct store_named_event *row = &export->row;
    if (!export_wants_text(export->options, event)) {
        return false;
    }
    find_names(export, reader, event);
    if (!export->names.category_wanted) {
        return false;
    }
    if (export->writer.format->wants_sources || export->options->has_level) {
        row->source_id = store_read_source(reader, event->row, &row->source);
        row->level = store_read_level(reader, event);
    }
    return export_wants_level(export->options, row);
}

static void find_parent(struct export *export, struct store_reader *reader) {
    if (export->parents) {
        export_parents_set(export->parents, reader, export->writer.file, &export->row);
    }
}

static int write_event(struct export *export, struct store_reader *reader,
                       const struct store_read_event *event) {
    struct export_writer *writer = &export->writer;
    export->row.event = event;
    if (!export_wants_process(export->options, event)) {
        return 0;
    }
    writer->is_wanted = choose(export, reader, event);
    export->rows += writer->is_wanted;
    bool looks_at_it =
        writer->looks && writer->format->looks_at_all && event->type == NVTXT_EVENT_PUSH_POP;
    if (!writer->is_wanted && !looks_at_it) {
        return 0;
    }
    find_parent(export, reader);
    return export->on_row(writer, &export->row);
}

static void show_progress(struct export *export, size_t file) {
    if (!export->options->progress) {
        return;
    }
    char count[2][TERM_COUNT_SIZE];
    double share = store_read_progress(export->readers[file]);
    int64_t ms = nvtxt_monotonic_ms() - export->started_ms;
    uint64_t rate = ms > 0 ? export->rows * 1000 / (uint64_t)ms : 0;
    share = ((double)file + share) / (double)export->count;
    term_progress(export->term, nvtxt_monotonic_ms(), "%3.0f %%, %s events, %s a second",
                  share * 100, term_count(count[0], export->rows), term_count(count[1], rate));
}

// Returns what a function of a format, or store_read_chunk(), returned.
static int write_chunk(struct export *export, struct store_reader *reader) {
    const struct store_read_event *events;
    size_t count;
    int r = store_read_chunk(reader, &events, &count);
    for (size_t i = 0; i < count && r == STORE_DONE; i++) {
        r = write_event(export, reader, &events[i]);
    }
    struct nvtxt_out *out = &export->writer.out;
    if (out->len >= FLUSH_BYTES) {
        (void)nvtxt_out_flush(out);
    }
    return r;
}

static bool is_over(const struct export *export) {
    const struct export_writer *writer = &export->writer;
    return signals_count() > 0 || writer->out.error != 0 || (writer->looks && writer->nvtx);
}

static enum outcome write_file(struct export *export, size_t file) {
    struct store_reader *reader = export->readers[file];
    const struct export_format *format = export->writer.format;
    export->writer.file = file;
    int r = format->segment ? format->segment(&export->writer, reader) : STORE_DONE;
    export->names.known = false;
    while (r == STORE_DONE && !is_over(export)) {
        r = write_chunk(export, reader);
        show_progress(export, file);
    }
    if (r != STORE_NOT_FOUND && r != STORE_DONE) {
        const char *own = export->writer.error;
        return fail(export->term, r, *own ? own : store_read_error(reader));
    }
    r = format->settle && !is_over(export) ? format->settle(&export->writer) : 0;
    return r < 0 ? no_memory(export->term) : OUTCOME_DONE;
}

// ---- The whole ----------------------------------------------------------------------------------

static void find_bounds(struct export *export) {
    struct export_writer *writer = &export->writer;
    for (size_t i = 0; i < export->count; i++) {
        const struct store_totals *totals = store_read_totals(export->readers[i]);
        if (totals->events == 0) {
            continue;
        }
        if (!export->has_events || totals->first_ns < writer->base_ns) {
            writer->base_ns = totals->first_ns;
        }
        if (!export->has_events || totals->last_ns > export->last_ns) {
            export->last_ns = totals->last_ns;
        }
        export->has_events = true;
    }
}

static enum outcome find_parents(struct export *export) {
    const struct export_format *format = export->writer.format;
    size_t failed = 0;
    if (!format->wants_parents) {
        return OUTCOME_DONE;
    }
    int r = export_parents_find(&export->parents, export->readers, export->count,
                                format->looks_at_all, &failed);
    if (r != STORE_DONE) {
        return fail(export->term, r, store_read_error(export->readers[failed]));
    }
    if (export->parents && export_parents_were_cut(export->parents)) {
        term_say(export->term, "%s: parents of ranges go round in a circle, which is cut",
                 export->options->store);
    }
    return OUTCOME_DONE;
}

static enum outcome select_all(struct export *export) {
    export->sources = 0;
    for (size_t i = 0; i < export->count; i++) {
        int r = select_rows(export, export->readers[i], &export->sources);
        if (r != STORE_DONE) {
            return fail(export->term, r, store_read_error(export->readers[i]));
        }
    }
    return 0;
}

static void warn_of_sources(const struct export *export) {
    if (export->options->sources.count > 0 && export->sources == 0) {
        term_say(export->term,
                 "%s has no such source; 'nvtxt-ctl sources' lists those that are "
                 "open, the table NVTXT_SOURCES all",
                 export->options->store);
    }
}

// Whether a file may have what needs the extension `nvtx`.
static enum outcome find_nvtx(struct export *export, bool *found) {
    *found = false;
    for (size_t i = 0; i < export->count && !*found; i++) {
        int r = store_read_has_nvtx(export->readers[i], found);
        if (r != STORE_DONE) {
            return fail(export->term, r, store_read_error(export->readers[i]));
        }
    }
    return OUTCOME_DONE;
}

// Shows the rows to a format that wants to know what is in them, until it has seen enough.
static enum outcome look_ahead(struct export *export) {
    struct export_writer *writer = &export->writer;
    const struct export_format *format = writer->format;
    bool wanted = format->looks_at_all;
    enum outcome status = format->look && !wanted ? find_nvtx(export, &wanted) : OUTCOME_DONE;
    if (status != OUTCOME_DONE || !wanted) {
        return status;
    }
    writer->looks = true;
    export->on_row = format->look;
    int r = format->begin(writer);
    for (size_t i = 0; i < export->count && r == 0 && status == 0 && !is_over(export); i++) {
        status = write_file(export, i);
    }
    if (r == 0 && status == 0 && !is_over(export)) {
        r = format->look(writer, NULL);
    }
    if (!format->looks_at_all) {
        format->free(writer);
        writer->state = NULL;
    }
    writer->looks = false;
    export->rows = 0;
    if (r < 0) {
        return no_memory(export->term);
    }
    return status == OUTCOME_DONE ? select_all(export) : status;
}

static enum outcome write_all(struct export *export) {
    struct export_writer *writer = &export->writer;
    enum outcome status = OUTCOME_DONE;
    int r = writer->format->begin ? writer->format->begin(writer) : 0;
    export->on_row = writer->format->row;
    for (size_t i = 0; i < export->count && r == 0 && status == 0 && !is_over(export); i++) {
        status = write_file(export, i);
        store_read_close(export->readers[i]);
        export->readers[i] = NULL;
    }
    if (r == 0 && status == 0 && !is_over(export) && writer->format->end) {
        r = writer->format->end(writer);
    }
    return r != 0 ? fail(export->term, r, writer->error) : status;
}

static void format_time(char text[32], int64_t ns) {
    struct nvtxt_out out;
    text[0] = '\0';
    if (nvtxt_out_init(&out, -1) == 0) { // never flushed
        nvtxt_out_utc(&out, ns);
        memcpy(text, out.data, out.len);
        text[out.len] = '\0';
        nvtxt_out_deinit(&out);
    }
}

static void say_nothing_found(struct export *export) {
    char from[32], to[32];
    if (!export->has_events) {
        term_say(export->term, "%s holds no event", export->options->store);
        return;
    }
    format_time(from, export->writer.base_ns);
    format_time(to, export->last_ns);
    term_say(export->term, "no event is as you asked for; those of %s are from %s to %s",
             export->options->store, from, to);
}

// The messages when everything is written.
static enum outcome finish(struct export *export, const char *name) {
    struct export_writer *writer = &export->writer;
    char count[TERM_COUNT_SIZE];
    int error = nvtxt_out_flush(&writer->out);
    term_wipe(export->term);
    if (signals_count() > 0) {
        return OUTCOME_STOPPED;
    }
    if (error == NVTXT_OUT_CLOSED) {
        return OUTCOME_NO_READER;
    }
    if (error != 0) {
        term_say(export->term, "cannot write to %s: %s", name, strerror(nvtxt_origin(-error)));
        return outcome_of_error(error, OUTCOME_IO);
    }
    if (export->rows == 0 && !export_wants_all(export->options)) {
        say_nothing_found(export);
    }
    if (export->rows > 0 && writer->note) {
        term_say(export->term, "%s", writer->note);
    }
    if (writer->changed > 0) {
        term_say(export->term, "%s %s", term_count(count, writer->changed), writer->format->loss);
        return OUTCOME_FAULTS;
    }
    return 0;
}

static void close_all(struct export *export) {
    export_parents_free(export->parents);
    if (export->writer.format->free) {
        export->writer.format->free(&export->writer);
    }
    for (size_t i = 0; i < export->count; i++) {
        store_read_close(export->readers[i]);
    }
    nvtxt_out_deinit(&export->writer.out);
    free(export->readers);
}

enum outcome export_run(const struct export_options *options, struct term *term, int fd,
                        const char *path, const char *name) {
    struct export export = {.options = options, .term = term, .started_ms = nvtxt_monotonic_ms()};
    char host[HOST_NAME_MAX + 1] = "";
    export.writer.format = options->format;
    export.writer.host = gethostname(host, sizeof(host) - 1) == 0 ? host : NULL;
    export.writer.path = path;
    export.writer.name = name;
    export.writer.copy = options->copy;
    export.writer.all = export_wants_all(options);
    export.window = export_window(options);
    enum outcome status = open_files(&export);
    status = status ?: find_parents(&export);
    status = status ?: select_all(&export);
    if (status == 0) {
        warn_of_sources(&export);
        status = look_ahead(&export);
    }
    if (status == 0 && nvtxt_out_init(&export.writer.out, fd) < 0) {
        status = no_memory(term);
    }
    export.writer.out.interrupted = signals_came;
    if (status == 0) {
        find_bounds(&export);
        status = write_all(&export);
        enum outcome finished = finish(&export, name);
        status = status ?: finished;
    }
    close_all(&export);
    return status;
}
