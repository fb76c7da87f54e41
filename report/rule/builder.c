// SPDX-License-Identifier: Apache-2.0
//
// Lists grow by doubling in the arena: a list has room for the next power of two of its length, so
// only a length that is one needs new memory.
#include "report/rule/builder.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "protocol/text/shown.h"
#include "report/load/capture.h"
#include "report/table/links.h"
#include "store/value/arena.h"

#define LINK_BYTES 200 // of the text of a link

// Room for `more` entries after `count` of them; the list may move. NULL on failure.
static void *grow(struct report_builder *builder, const void *list, size_t count, size_t more,
                  size_t size) {
    size_t room = 1;
    size_t needed;
    while (room < count) {
        room *= 2;
    }
    if (count > 0 && count + more <= room) {
        return (void *)(uintptr_t)list;
    }
    while (room < count + more) {
        room *= 2;
    }
    void *grown = builder->failed || __builtin_mul_overflow(room, size, &needed)
                      ? NULL
                      : store_arena_take(builder->arena, needed, 8);
    builder->failed = !grown;
    return grown && count > 0 ? memcpy(grown, list, count * size) : grown;
}

// Adds one entry to a list of the result; `entry` is an lvalue of its type.
#define ADD(builder, list, count, entry)                                                           \
    do {                                                                                           \
        __typeof__(entry) *grown_ =                                                                \
            grow(builder, (builder)->result->list, (builder)->result->count, 1, sizeof(entry));    \
        if (grown_) {                                                                              \
            grown_[(builder)->result->count++] = entry;                                            \
            (builder)->result->list = grown_;                                                      \
        }                                                                                          \
    } while (0)

void report_build_begin(struct report_builder *builder, struct store_arena *arena,
                        struct report_result *result) {
    *builder = (struct report_builder){.arena = arena, .result = result};
    result->status = REPORT_RULE_NO_ISSUE;
}

struct nvtxt_slice report_build_copy(struct report_builder *builder, struct nvtxt_slice text) {
    const char *copy = builder->failed
                           ? NULL
                           : store_arena_copy(builder->arena, text.len ? text.data : "", text.len);
    builder->failed = !copy;
    return copy ? (struct nvtxt_slice){copy, text.len} : (struct nvtxt_slice){"", 0};
}

struct nvtxt_slice report_build_format(struct report_builder *builder, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    struct nvtxt_slice whole = nvtxt_slice_of(text);
    return report_build_copy(
        builder, whole.len + 1 == sizeof(text) ? nvtxt_slice_cut(whole, whole.len - 1) : whole);
}

struct nvtxt_slice report_build_time(struct report_builder *builder, double ns) {
    struct nvtxt_shown_unit unit = nvtxt_shown_unit(ns);
    char digits[NVTXT_SHOWN_TIME];
    if (unit.ns == 1 && ns == round(ns)) {
        snprintf(digits, sizeof(digits), "%.0f", ns);
    } else {
        nvtxt_shown_digits(digits, ns / unit.ns);
    }
    return report_build_format(builder, "%s %s", digits, unit.name);
}

// Characters that turn the direction of a text (Unicode, UAX 9), of three bytes each. What a name
// begins has to end with it, or the words after the name are turned, too. The end of an isolate
// ends the embeddings in it.
struct directions {
    size_t isolates, embeddings; // that are open; of these only those outside of isolates
};

#define DIRECTION_BYTES 3
static const char end_of_isolate[] = "\xE2\x81\xA9", end_of_embedding[] = "\xE2\x80\xAC";

static struct directions open_directions(struct nvtxt_slice text) {
    struct directions open = {0, 0};
    for (size_t i = 0; i + DIRECTION_BYTES <= text.len; i++) {
        const unsigned char *at = (const unsigned char *)text.data + i;
        if (at[0] != 0xE2 || (at[1] | 1) != 0x81) {
            continue;
        }
        if (memcmp(at, end_of_isolate, DIRECTION_BYTES) == 0) {
            open.isolates -= open.isolates > 0;
        } else if (memcmp(at, end_of_embedding, DIRECTION_BYTES) == 0) {
            open.embeddings -= open.isolates == 0 && open.embeddings > 0;
        } else if (at[1] == 0x81) {
            open.isolates += at[2] >= 0xA6 && at[2] <= 0xA8;
        } else {
            open.embeddings += open.isolates == 0 && at[2] >= 0xAA && at[2] <= 0xAE;
        }
    }
    return open;
}

struct nvtxt_slice report_build_name(struct report_builder *builder, struct nvtxt_slice text,
                                     size_t most) {
    struct nvtxt_slice cut = nvtxt_slice_cut(text, most);
    struct directions open = open_directions(cut);
    size_t len = cut.len + (open.isolates + open.embeddings) * DIRECTION_BYTES;
    char *name = builder->failed ? NULL : store_arena_take(builder->arena, len + 1, 1);
    builder->failed = !name;
    for (size_t i = 0; name && i < cut.len; i++) {
        name[i] = report_link_harmless(cut.data[i]);
    }
    for (size_t at = cut.len; name && at < len; at += DIRECTION_BYTES) {
        bool isolate = open.isolates > 0;
        memcpy(name + at, isolate ? end_of_isolate : end_of_embedding, DIRECTION_BYTES);
        open.isolates -= isolate;
    }
    return name ? (struct nvtxt_slice){name, len} : (struct nvtxt_slice){"", 0};
}

// Rows are those of the first store: in another one the time of the event has to do.
struct nvtxt_slice report_build_range(struct report_builder *builder,
                                      const struct report_capture *capture, uint32_t event,
                                      struct nvtxt_slice text) {
    const struct report_event *of = &capture->events[event];
    struct nvtxt_slice shown = report_build_name(builder, text, LINK_BYTES);
    if (shown.len == 0) {
        return shown;
    }
    return report_build_format(builder, "@%s:%" PRId64 ":%.*s@", of->store == 0 ? "range" : "time",
                               of->store == 0 ? of->row : of->start, (int)shown.len, shown.data);
}

struct nvtxt_slice report_build_text_of(struct report_builder *builder,
                                        const struct report_capture *capture, uint32_t event,
                                        size_t most) {
    return report_build_name(builder, report_event_text(capture, &capture->events[event]), most);
}

struct nvtxt_slice report_build_length_of(struct report_builder *builder,
                                          const struct report_capture *capture, uint32_t event) {
    return report_build_time(builder, (double)report_duration(&capture->events[event]));
}

size_t report_build_message(struct report_builder *builder, enum report_level level,
                            struct nvtxt_slice title, struct nvtxt_slice text) {
    struct report_rule_message message = {
        .level = level,
        .title = report_build_copy(builder, title),
        .text = report_build_copy(builder, text),
    };
    ADD(builder, messages, message_count, message);
    return builder->failed ? 0 : builder->result->message_count - 1;
}

void report_build_speedup(struct report_builder *builder, size_t message, bool global,
                          double percent) {
    struct report_speedup speedup = {message, global, percent};
    ADD(builder, speedups, speedup_count, speedup);
}

void report_build_focus(struct report_builder *builder, size_t message,
                        const struct report_focus_metric *focus) {
    struct report_focus_metric copy = *focus;
    copy.message = message;
    copy.name = report_build_copy(builder, focus->name);
    copy.info = report_build_copy(builder, focus->info);
    if (focus->has_value && focus->value.type == REPORT_STRING) {
        copy.value.string = report_build_copy(builder, focus->value.string);
    }
    ADD(builder, focus, focus_count, copy);
}

void report_build_marker(struct report_builder *builder,
                         const struct report_source_marker *marker) {
    struct report_source_marker copy = *marker;
    copy.file = report_build_copy(builder, marker->file);
    copy.text = report_build_copy(builder, marker->text);
    ADD(builder, markers, marker_count, copy);
}

struct report_rule_table *report_build_table(struct report_builder *builder, size_t message,
                                             struct nvtxt_slice title,
                                             const struct nvtxt_slice *header, size_t columns) {
    struct report_column *named =
        builder->failed ? NULL
                        : store_arena_take(builder->arena, (columns + 1) * sizeof(*named), 8);
    builder->failed = !named;
    for (size_t i = 0; named && i < columns; i++) {
        named[i] =
            (struct report_column){report_build_copy(builder, header[i]).data, REPORT_COLUMN_MIXED};
    }
    struct report_rule_table table = {
        .message = message,
        .title = report_build_copy(builder, title),
        .description = {"", 0},
    };
    report_table_init(&table.table, NULL, named, columns);
    ADD(builder, tables, table_count, table);
    return builder->failed ? NULL
                           : (struct report_rule_table *)(uintptr_t)&builder->result
                                 ->tables[builder->result->table_count - 1];
}

void report_build_kinds(struct report_rule_table *of, const enum report_column_kind *kinds) {
    for (size_t i = 0; of && i < of->table.column_count; i++) {
        ((struct report_column *)(uintptr_t)of->table.columns)[i].kind = kinds[i];
    }
}

void report_build_row(struct report_builder *builder, struct report_rule_table *of,
                      const struct report_cell *cells) {
    struct report_table *table = &of->table;
    size_t count = table->row_count * table->column_count;
    struct report_cell *grown =
        grow(builder, table->cells, count, table->column_count, sizeof(*cells));
    if (!grown) {
        return;
    }
    for (size_t i = 0; i < table->column_count; i++) {
        grown[count + i] = cells[i];
        if (cells[i].kind == REPORT_CELL_TEXT) {
            grown[count + i] =
                report_cell_text(report_build_copy(builder, report_cell_slice(&cells[i])));
        }
    }
    table->cells = grown;
    table->row_count++;
}

void report_build_proposal(struct report_builder *builder, struct nvtxt_slice identifier) {
    struct nvtxt_slice copy = report_build_copy(builder, identifier);
    ADD(builder, proposals, proposal_count, copy);
}

void report_build_output(struct report_builder *builder, struct nvtxt_slice output) {
    builder->result->output = report_build_copy(builder, output);
}

void report_build_status(struct report_builder *builder, enum report_rule_status status,
                         struct nvtxt_slice reason) {
    struct report_result *result = builder->result;
    result->status = status;
    result->reason = report_build_copy(builder, reason);
    result->message_count = result->speedup_count = result->focus_count = 0;
    result->table_count = result->marker_count = result->proposal_count = 0;
}

int report_build_end(struct report_builder *builder) {
    if (builder->result->status == REPORT_RULE_NO_ISSUE &&
        report_result_worst(builder->result) >= REPORT_LEVEL_OPTIMIZATION) {
        builder->result->status = REPORT_RULE_FINDINGS;
    }
    return builder->failed ? nvtxt_origin(-ENOMEM) : 0;
}
