// SPDX-License-Identifier: Apache-2.0
//
// A copy as Nsight Systems exports it: store/nsys makes the file, so nothing goes into the output.
#include <stdio.h>
#include <stdlib.h>

#include "client/format/export_fmt.h"
#include "protocol/base/origin.h"

struct nsys_export {
    struct store_nsys_copy *copy;        // owned
    struct store_read_identity identity; // of the segment
};

static int told(struct export_writer *writer, int r) {
    const struct nsys_export *state = writer->state;
    if (r != 0) {
        snprintf(writer->error, sizeof(writer->error), "%s", store_nsys_copy_error(state->copy));
    }
    return r;
}

static int begin_nsys(struct export_writer *writer) {
    struct nsys_export *state = calloc(1, sizeof(*state));
    writer->state = state;
    if (state) {
        state->copy = store_nsys_copy_new(writer->path, writer->name);
    }
    return state && state->copy ? 0 : nvtxt_origin(-ENOMEM);
}

static int on_name(void *context, const struct store_read_name *name) {
    struct export_writer *writer = context;
    const struct nsys_export *state = writer->state;
    return told(writer, store_nsys_copy_name(state->copy, name));
}

static int segment_nsys(struct export_writer *writer, struct store_reader *reader) {
    struct nsys_export *state = writer->state;
    int r = store_read_identity(reader, &state->identity);
    r = r ?: store_read_range_ids(reader);
    writer->copy.source = state->identity.is_store ? NULL : &state->identity;
    return r ?: store_read_names(reader, on_name, writer);
}

static int row_nsys(struct export_writer *writer, const struct store_named_event *row) {
    const struct nsys_export *state = writer->state;
    return told(writer, store_nsys_copy_event(state->copy, row->event, state->identity.is_store));
}

static int end_nsys(struct export_writer *writer) {
    const struct nsys_export *state = writer->state;
    writer->copy.all_names = writer->all;
    return told(writer, store_nsys_copy_finish(state->copy, &writer->copy));
}

static void free_nsys(struct export_writer *writer) {
    struct nsys_export *state = writer->state;
    if (state) {
        store_nsys_copy_free(state->copy);
        free(state);
    }
}

const struct export_format export_nsys = {.name = "nsys",
                                          .makes_file = true,
                                          .begin = begin_nsys,
                                          .segment = segment_nsys,
                                          .row = row_nsys,
                                          .end = end_nsys,
                                          .free = free_nsys};
