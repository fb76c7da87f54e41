// SPDX-License-Identifier: Apache-2.0
//
// Makes a result piece by piece: what declarative and built-in rules call while they are applied.
// All texts are copied. After a failed allocation every call does nothing; report_build_end() says
// it.
#pragma once

#include "report/rule/result.h"

struct report_capture;
struct store_arena;

struct report_builder {
    struct store_arena *arena; // borrowed: it owns what the result has
    struct report_result *result;
    bool failed; // memory was short
};

void report_build_begin(struct report_builder *builder, struct store_arena *arena,
                        struct report_result *result);

// A copy of a text, and a text of a format (at most 1,024 bytes) in the arena; empty on failure.
struct nvtxt_slice report_build_copy(struct report_builder *builder, struct nvtxt_slice text);
struct nvtxt_slice report_build_format(struct report_builder *builder, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// A length of time for people, with three digits and a unit: "4.98 ms".
struct nvtxt_slice report_build_time(struct report_builder *builder, double ns);

// A text of others, at most so many bytes of it, for a place that may have links (nvtxt-rule(5),
// "LINKS"): readers see it as it is, none of it begins or ends a link, and what it begins to turn
// round ends with it (Unicode, UAX 9), so it may have more bytes than that.
struct nvtxt_slice report_build_name(struct report_builder *builder, struct nvtxt_slice text,
                                     size_t most);

// A text of others that leads to an event, an index in the order: its first 200 bytes as a link.
struct nvtxt_slice report_build_range(struct report_builder *builder,
                                      const struct report_capture *capture, uint32_t event,
                                      struct nvtxt_slice text);

// Of an event, an index in the order: its text as report_build_name() makes it, and its length.
struct nvtxt_slice report_build_text_of(struct report_builder *builder,
                                        const struct report_capture *capture, uint32_t event,
                                        size_t most);
struct nvtxt_slice report_build_length_of(struct report_builder *builder,
                                          const struct report_capture *capture, uint32_t event);

// Each returns, or takes, the id of a message.
size_t report_build_message(struct report_builder *builder, enum report_level level,
                            struct nvtxt_slice title, struct nvtxt_slice text);
void report_build_speedup(struct report_builder *builder, size_t message, bool global,
                          double percent);
void report_build_focus(struct report_builder *builder, size_t message,
                        const struct report_focus_metric *focus);
void report_build_marker(struct report_builder *builder, const struct report_source_marker *marker);

// An empty table; then its rows, each with a cell for every column. The table that is returned is
// valid until the next one is made; NULL on failure. Its columns are MIXED, or of those kinds.
struct report_rule_table *report_build_table(struct report_builder *builder, size_t message,
                                             struct nvtxt_slice title,
                                             const struct nvtxt_slice *header, size_t columns);
void report_build_kinds(struct report_rule_table *table, const enum report_column_kind *kinds);
void report_build_row(struct report_builder *builder, struct report_rule_table *table,
                      const struct report_cell *cells);

// A rule that would say more, by its identifier; and what the rule printed.
void report_build_proposal(struct report_builder *builder, struct nvtxt_slice identifier);
void report_build_output(struct report_builder *builder, struct nvtxt_slice output);

// The statuses that say why there is nothing; messages and all else that was said so
// far are forgotten, the output is not. `reason` is copied.
void report_build_status(struct report_builder *builder, enum report_rule_status status,
                         struct nvtxt_slice reason);

// Sets "findings" or "no issue" by the messages, unless a status was set. Returns 0 or -ENOMEM.
int report_build_end(struct report_builder *builder);
