// SPDX-License-Identifier: Apache-2.0
//
// The rows of a source are sorted, and the events of the file are compared with them one by one
// while they come. The first pair says how far the times are apart; all others must agree. Of a
// store of which only a window was loaded, all rows are loaded here.
#include "report/load/load.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "protocol/base/origin.h"
#include "report/load/load.h"
#include "report/load/replay.h"

#define WHY_BYTES 512

struct resolving {
    const struct report_capture *all; // has every row of the source
    const struct report_event **rows; // of the source, ascending; owned
    size_t count;
    uint32_t *lines; // of the capture
    size_t seen;     // events of the file so far
    uint64_t shift;  // from the times of the file to those of the rows
    bool (*interrupted)(void);
    char why[WHY_BYTES];
};

// ---- One event ----------------------------------------------------------------------------------

static int differ(struct resolving *resolving, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int differ(struct resolving *resolving, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(resolving->why, sizeof(resolving->why), format, list);
    va_end(list);
    return REPORT_RESOLVE_DIFFERS;
}

static const char *kind_name(enum report_kind kind) {
    return kind == REPORT_MARK       ? "mark"
           : kind == REPORT_PUSH_POP ? "push/pop range"
                                     : "start/end range";
}

static bool same_times(const struct resolving *resolving, const struct report_event *row,
                       const struct report_replayed *event) {
    if ((uint64_t)event->start + resolving->shift != (uint64_t)row->start) {
        return false;
    }
    if (row->kind == REPORT_MARK || (event->unclosed && row->flags & REPORT_UNCLOSED)) {
        return true;
    }
    return row->flags & REPORT_BACKWARD
               ? event->end < event->start
               : (uint64_t)event->end + resolving->shift == (uint64_t)row->end;
}

static int shown(struct nvtxt_slice text) {
    return (int)nvtxt_slice_cut(text, 80).len;
}

static int on_event(void *context, const struct report_replayed *event) {
    struct resolving *resolving = context;
    if (resolving->seen % 4096 == 0 && resolving->interrupted && resolving->interrupted()) {
        return REPORT_RESOLVE_STOPPED;
    }
    if (resolving->seen >= resolving->count) {
        resolving->seen++; // counted on, for the reason
        return 0;
    }
    const struct report_event *row = resolving->rows[resolving->seen];
    struct nvtxt_slice message = report_event_text(resolving->all, row);
    if (resolving->seen == 0) {
        resolving->shift = (uint64_t)row->start - (uint64_t)event->start;
    }
    resolving->lines[resolving->seen] = event->line;
    resolving->seen++;
    if (event->kind != row->kind) {
        return differ(resolving, "event %zu, line %u, is a %s, and row %" PRId64 " a %s",
                      resolving->seen, event->line, kind_name(event->kind), row->row,
                      kind_name(row->kind));
    }
    if (!nvtxt_slice_equal(message, event->message)) {
        return differ(resolving,
                      "the message of event %zu, line %u, is '%.*s', and that of row "
                      "%" PRId64 " '%.*s'",
                      resolving->seen, event->line, shown(event->message), event->message.data,
                      row->row, shown(message), message.data);
    }
    if (!same_times(resolving, row, event)) {
        return differ(resolving, "the times of event %zu, line %u, and of row %" PRId64 " differ",
                      resolving->seen, event->line, row->row);
    }
    return 0;
}

// ---- One source ---------------------------------------------------------------------------------

static int by_row(const void *a, const void *b) {
    const struct report_event *x = *(const struct report_event *const *)a;
    const struct report_event *y = *(const struct report_event *const *)b;
    return NVTXT_ORDER(x->row, y->row);
}

// The rows of the source in `all`, where its index is `source`.
static int collect(struct resolving *resolving, uint32_t source) {
    const struct report_capture *all = resolving->all;
    size_t count = 0;
    for (size_t i = 0; i < all->event_count; i++) {
        count += all->events[i].source == source && !(all->events[i].flags & REPORT_OPEN);
    }
    resolving->rows = malloc((count + 1) * sizeof(struct report_event *));
    if (!resolving->rows) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < all->event_count; i++) {
        if (all->events[i].source == source && !(all->events[i].flags & REPORT_OPEN)) {
            resolving->rows[resolving->count++] = &all->events[i];
        }
    }
    qsort(resolving->rows, count, sizeof(struct report_event *), by_row);
    return 0;
}

static int compare_file(struct report_capture *capture, struct resolving *resolving,
                        const struct report_source *source, const char *file) {
    size_t room = resolving->count + 1;
    const struct report_replay replay = {.levels = source->has_levels,
                                         .ended = source->has_closed,
                                         .on_event = on_event,
                                         .context = resolving};
    resolving->lines = report_capture_take(capture, room * sizeof(uint32_t));
    int r = resolving->lines ? report_replay(file, &replay) : nvtxt_origin(-ENOMEM);
    if (r == 0 && resolving->seen != resolving->count) {
        r = differ(resolving, "it has %zu event%s, and the source %zu", resolving->seen,
                   resolving->seen == 1 ? "" : "s", resolving->count);
    }
    return r;
}

static int keep(struct report_capture *capture, const struct resolving *resolving,
                struct report_source *source, const char *file) {
    size_t len = strlen(file);
    int64_t *rows = report_capture_take(capture, (resolving->count + 1) * sizeof(*rows));
    char *name = report_capture_take(capture, len + 1);
    if (!rows || !name) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < resolving->count; i++) {
        rows[i] = resolving->rows[i]->row;
    }
    memcpy(name, file, len + 1);
    source->file = (struct nvtxt_slice){name, len};
    source->line_rows = rows;
    source->line_numbers = resolving->lines;
    source->line_row_count = resolving->count;
    return 0;
}

// The index of a source in another capture of its store alone.
static uint32_t index_of(const struct report_capture *all, int64_t id) {
    for (uint32_t i = 0; i < all->source_count; i++) {
        if (all->sources[i].id == id) {
            return i;
        }
    }
    return REPORT_NONE;
}

struct request {
    struct report_capture *capture;
    const char *file;
    uint64_t max_memory; // 0: no bound
    bool (*interrupted)(void);
    void (*complain)(void *context, const char *sentence);
    void *context;
};

static int say(const struct request *request, int r, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int say(const struct request *request, int r, const char *format, ...) {
    char sentence[REPORT_RESOLVE_BYTES];
    va_list list;
    va_start(list, format);
    vsnprintf(sentence, sizeof(sentence), format, list);
    va_end(list);
    request->complain(request->context, sentence);
    return r;
}

static int resolve_in(const struct request *request, const struct report_capture *all,
                      uint32_t index, struct report_source *source) {
    struct resolving resolving = {.all = all, .interrupted = request->interrupted};
    int r = collect(&resolving, index);
    r = r ?: compare_file(request->capture, &resolving, source, request->file);
    if (r == 0) {
        r = keep(request->capture, &resolving, source, request->file);
    } else if (r == REPORT_RESOLVE_DIFFERS) {
        r = say(request, r, "%s does not match source %" PRId64 ": %s", request->file, source->id,
                resolving.why);
    } else if (r < 0 && r != -ENOMEM) {
        r = say(request, REPORT_RESOLVE_NO_INPUT, "cannot read %s: %s", request->file,
                strerror(-r));
    }
    free(resolving.rows);
    return r;
}

// Of a capture of a window: loads all of the store.
static int resolve_windowed(const struct request *request, struct report_source *source) {
    char sentence[REPORT_SENTENCE_BYTES];
    const char *path = request->capture->stores[source->store].path.data; // ends with a NUL
    struct report_load_options options = REPORT_LOAD_ALL;
    struct report_capture *all;
    options.interrupted = request->interrupted;
    options.max_memory = request->max_memory;
    options.taken_memory = report_capture_bytes(request->capture);
    int r = report_load(&all, &path, 1, &options, sentence);
    if (r == REPORT_TOO_LARGE) {
        return say(request, REPORT_RESOLVE_TOO_LARGE, "%s; --resolve-source-file reads all of it",
                   sentence);
    }
    if (r != 0) {
        return r < 0                     ? r
               : r == REPORT_INTERRUPTED ? REPORT_RESOLVE_STOPPED
                                         : say(request, REPORT_RESOLVE_NO_INPUT, "%s", sentence);
    }
    r = resolve_in(request, all, index_of(all, source->id), source);
    report_capture_free(all);
    return r;
}

static int resolve_source(const struct request *request, uint32_t index) {
    struct report_capture *capture = request->capture;
    struct report_source *source = &capture->sources[index];
    return capture->windowed ? resolve_windowed(request, source)
                             : resolve_in(request, capture, index, source);
}

// ---- Which sources ------------------------------------------------------------------------------

static bool is_called(const struct report_source *source, struct nvtxt_slice name) {
    return (source->name.data && nvtxt_slice_equal(source->name, name)) ||
           (source->display_name.data && nvtxt_slice_equal(source->display_name, name));
}

static bool ends_with(const struct report_source *source, struct nvtxt_slice name) {
    return source->name.data && // ends with a NUL
           nvtxt_slice_equal(nvtxt_slice_of(nvtxt_base_name(source->name.data)), name);
}

static int resolve_named(const struct request *request, struct nvtxt_slice name,
                         bool (*is_it)(const struct report_source *source,
                                       struct nvtxt_slice name)) {
    const struct report_capture *capture = request->capture;
    int worst = REPORT_RESOLVE_NOTHING;
    bool any = false;
    for (uint32_t i = 0; i < capture->source_count; i++) {
        if (!is_it(&capture->sources[i], name)) {
            continue;
        }
        int r = resolve_source(request, i);
        if (r < 0 || r == REPORT_RESOLVE_STOPPED) {
            return r;
        }
        worst = !any || r > worst ? r : worst;
        any = true;
    }
    return worst;
}

// Where the name ends; NULL: there is none. A file may have a = in its name, too.
static const char *equals_sign(const struct report_capture *capture, const char *what) {
    const char *sign = strchr(what, '=');
    for (; sign; sign = strchr(sign + 1, '=')) {
        struct nvtxt_slice name = {what, (size_t)(sign - what)};
        for (size_t i = 0; i < capture->source_count; i++) {
            if (is_called(&capture->sources[i], name)) {
                return sign;
            }
        }
    }
    return NULL;
}

int report_resolve(struct report_capture *capture, const char *what, uint64_t max_memory,
                   bool (*interrupted)(void), void (*complain)(void *context, const char *sentence),
                   void *context) {
    const char *sign = equals_sign(capture, what);
    const struct request request = {
        capture, sign ? sign + 1 : what, max_memory, interrupted, complain, context};
    if (sign) {
        return resolve_named(&request, (struct nvtxt_slice){what, (size_t)(sign - what)},
                             is_called);
    }
    struct nvtxt_slice last = nvtxt_slice_of(nvtxt_base_name(what));
    int r = resolve_named(&request, nvtxt_slice_of(what), is_called);
    r = r == REPORT_RESOLVE_NOTHING ? resolve_named(&request, last, is_called) : r;
    r = r == REPORT_RESOLVE_NOTHING ? resolve_named(&request, last, ends_with) : r;
    const char *first = strchr(what, '=');
    if (r == REPORT_RESOLVE_NOTHING && first && access(what, F_OK) != 0) {
        say(&request, r, "no source is called '%.*s'", (int)(first - what), what);
    } else if (r == REPORT_RESOLVE_NOTHING && access(what, R_OK) != 0) {
        r = say(&request, REPORT_RESOLVE_NO_INPUT, "cannot read %s: %s", what, strerror(errno));
    } else if (r == REPORT_RESOLVE_NOTHING) {
        say(&request, r, "no source is called '%s': write the name of one as NAME=%s", what, what);
    }
    return r;
}
