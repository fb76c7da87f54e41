// SPDX-License-Identifier: Apache-2.0
//
// A store gets a batch when it has grown to BATCH_BYTES, and at the very end; small files share
// one. A batch is empty after it was written, so the current file gets a new share of it then. An
// export gets its rows one by one.
#include "client/import/import.h"

#include <limits.h>
#include <string.h>

#include "client/common/out_file.h"
#include "protocol/base/clock.h"
#include "protocol/base/origin.h"
#include "protocol/lang/timebase.h"
#include "store/copy/copy.h"
#include "store/db/header.h"

#define BATCH_BYTES ((size_t)16 << 20) // some hundred thousand events a transaction

enum outcome import_open(struct import *import, const char *path,
                         const struct load_options *options, struct term *term) {
    const struct store_options how = {.plain = true, .file_mode = out_file_mode(), .new_id = true};
    char why[1024];
    *import = (struct import){.options = options, .term = term};
    int r = store_open(&import->store, path, &how, why, sizeof(why));
    if (r != STORE_DONE && signals_count() > 0) {
        return OUTCOME_STOPPED;
    }
    if (r != STORE_DONE) {
        term_say(term, "%s", why);
        return r == STORE_CORRUPT ? OUTCOME_BAD_DATA : OUTCOME_NO_OUTPUT;
    }
    import->next_id = store_next_source_id(import->store);
    import->batch = store_batch_new();
    const struct clock_here *clocks = &options->clocks;
    for (size_t i = 0; import->batch && i < clocks->count && r == 0; i++) {
        const struct clock_here_reading *reading = &clocks->readings[i];
        r = store_batch_clock(import->batch, nvtxt_timebase_name(reading->base), reading->clock_ns,
                              reading->realtime_ns, reading->uncertainty_ns);
    }
    if (!import->batch || r != 0) {
        term_say(term, "out of memory");
        import_abandon(import);
        return OUTCOME_SYSTEM;
    }
    return 0;
}

void import_open_export_take(struct import *import, struct store_nsys *nsys,
                             const struct load_options *options, struct term *term) {
    *import = (struct import){.options = options, .term = term, .nsys = nsys};
}

void import_abandon(struct import *import) {
    store_batch_free(import->batch);
    store_close(import->store);
    store_nsys_close(import->nsys);
    import->batch = NULL;
    import->store = NULL;
    import->nsys = NULL;
}

// Writes the batch. Returns 0, or -errno after a message; there is none when a signal caused it.
static int flush(struct import *import) {
    int r = store_begin(import->store);
    r = r ?: store_write(import->store, import->batch);
    r = r ?: store_commit(import->store);
    if (r != STORE_DONE && signals_count() > 0) {
        return nvtxt_origin(-EINTR);
    }
    if (r != STORE_DONE) {
        term_say(import->term, "%s", store_error(import->store));
        return nvtxt_origin(-EIO);
    }
    store_batch_reset(import->batch);
    import->share = NULL;
    return 0;
}

// The share of the current file in the current batch; an export has no batches.
static int take_share(struct import *import) {
    if (import->nsys) {
        store_nsys_sink(import->nsys, &import->target.sink);
        return 0;
    }
    if (!import->share) {
        import->share = store_batch_source(import->batch, &import->source);
        if (!import->share) {
            return nvtxt_origin(-ENOMEM);
        }
        store_batch_sink(import->share, &import->target.sink);
    }
    return 0;
}

static void take_display_name(struct import *import, const struct nvtxt_interp *interp) {
    struct nvtxt_slice name =
        nvtxt_slice_cut(nvtxt_interp_display_name(interp), sizeof(import->display_name) - 1);
    memcpy(import->display_name, name.len ? name.data : "", name.len);
    import->display_name[name.len] = '\0';
}

static int on_pause(void *context, const struct nvtxt_interp *interp) {
    struct import *import = context;
    take_display_name(import, interp);
    if (import->nsys) {
        return 0;
    }
    if (nvtxt_interp_has_nvtx(interp)) {
        store_batch_nvtx(import->share);
    }
    int r = store_batch_progress(import->share, nvtxt_interp_counters(interp),
                                 nvtxt_interp_display_name(interp));
    if (r == 0 && store_batch_bytes(import->batch) >= BATCH_BYTES) {
        r = flush(import);
        r = r ?: take_share(import);
    }
    return r;
}

// The file was read: `r` is OUTCOME_DONE, or OUTCOME_NO_INPUT when it could not be read to its
// end. Returns OUTCOME_DONE, OUTCOME_FAULTS or -ENOMEM.
static int end_input(struct import *import, struct diag_print *report, int r) {
    const struct nvtxt_counters *counters = &import->counters;
    diag_print_summary(report, counters->lines, counters->events, counters->errors,
                       counters->warnings);
    if (counters->events == 0 && counters->errors > counters->lines / 2) {
        term_say(import->term,
                 "%s: nothing came of it, and most of its lines are wrong: is it NVTXT?",
                 report->name);
    }
    if (!import->nsys) {
        const char *how = r == 0 ? "end" : "read-error";
        int ended = store_batch_end_source(import->share, how, nvtxt_realtime_ns());
        if (ended < 0) {
            return ended;
        }
    }
    return r != 0 || counters->errors > 0 ? OUTCOME_FAULTS : OUTCOME_DONE;
}

static enum outcome say_failure(const struct import *import, int r) {
    if (signals_count() > 0) {
        return OUTCOME_STOPPED;
    }
    enum outcome outcome = outcome_of_error(r, OUTCOME_IO);
    if (outcome == OUTCOME_SYSTEM) {
        term_say(import->term, "out of memory");
    } else if (import->nsys) {
        term_say(import->term, "%s", store_nsys_error(import->nsys));
    }
    return outcome;
}

enum outcome import_input(struct import *import, struct input *input) {
    struct diag_print report = {.term = import->term,
                                .name = input->name,
                                .quiet = import->quiet,
                                .file = import->messages};
    import->source = (struct store_source){.id = import->next_id++,
                                           .kind = STORE_SOURCE_FILE,
                                           .name = input->name,
                                           .opened_ns = nvtxt_realtime_ns()};
    import->target = (struct load_target){
        .opened_ns = import->source.opened_ns, .on_pause = on_pause, .context = import};
    import->share = NULL;
    import->counters = (struct nvtxt_counters){0};
    import->display_name[0] = '\0';
    int r = take_share(import);
    r = r ?: load_input(input, import->options, &report, &import->target, &import->counters);
    if (r == 0 || r == OUTCOME_NO_INPUT) {
        r = end_input(import, &report, r);
    }
    return r < 0 ? say_failure(import, r) : (enum outcome)r;
}

enum outcome import_finish(struct import *import) {
    if (import->nsys) {
        int r = store_nsys_finish(import->nsys);
        return r == STORE_DONE ? OUTCOME_DONE : say_failure(import, nvtxt_origin(-EIO));
    }
    int r = store_batch_is_empty(import->batch) ? 0 : flush(import);
    import_abandon(import);
    return r == 0 ? OUTCOME_DONE : signals_count() > 0 ? OUTCOME_STOPPED : OUTCOME_IO;
}

enum outcome import_check_replaced(const char *path, bool exports, struct term *term) {
    enum store_file_kind kind;
    int64_t first_ns;
    int64_t last_ns;
    char why[1024];
    if (store_file_look(path, INT_MAX, &kind, NULL) != 0 || kind != STORE_FILE_FOREIGN) {
        return 0;
    }
    if (exports &&
        store_copy_export_span(path, &first_ns, &last_ns, why, sizeof(why)) == STORE_DONE) {
        return 0;
    }
    term_say(term, "%s is another program's database; it is not replaced", path);
    return OUTCOME_NO_OUTPUT;
}
