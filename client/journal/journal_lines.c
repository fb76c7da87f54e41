// SPDX-License-Identifier: Apache-2.0
//
// The machine is the domain, as SetFileDisplayName sets it. Categories are of a process and a
// domain, so their names go out once for each.
#include "client/journal/journal_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/clock.h"
#include "protocol/base/origin.h"

#define NAMES_MOST 65536u // that are remembered; then all go out once more
#define UNIT_MOST 256u    // bytes of a unit's name

int journal_lines_init(struct journal_lines *lines, const struct textlog_options *options,
                       size_t line_max, bool fresh) {
    *lines = (struct journal_lines){
        .options = options, .line_max = line_max, .knows_machine = fresh, .over = true};
    lines->out = malloc(line_max + 1);
    return lines->out ? 0 : nvtxt_origin(-ENOMEM);
}

void journal_lines_deinit(struct journal_lines *lines) {
    free(lines->out);
    nvtxt_map_deinit(&lines->named);
    nvtxt_buf_deinit(&lines->machine);
    *lines = (struct journal_lines){0};
}

void journal_lines_begin(struct journal_lines *lines, const struct journal_entry *entry,
                         uint64_t taken) {
    lines->entry = entry;
    lines->taken = taken < entry->message.len ? (size_t)taken : entry->message.len;
    lines->over = !entry->has_message || (taken > 0 && taken >= entry->message.len);
}

int64_t journal_time_ns(uint64_t usec) {
    return usec > INT64_MAX / 1000 ? INT64_MAX : (int64_t)(usec * 1000);
}

static struct nvtxt_slice machine_of(const struct journal_lines *lines) {
    return (struct nvtxt_slice){lines->machine.data ?: "", lines->machine.len};
}

static bool name_machine(struct journal_lines *lines, struct nvtxt_slice *line) {
    struct nvtxt_slice machine = lines->entry->machine;
    if (lines->knows_machine && nvtxt_slice_equal(machine, machine_of(lines))) {
        return false;
    }
    nvtxt_buf_clear(&lines->machine);
    nvtxt_buf_add(&lines->machine, machine.data, machine.len);
    lines->knows_machine = true;
    line->data = lines->out;
    line->len =
        textlog_call(lines->out, lines->line_max + 1, "SetFileDisplayName,", machine_of(lines), "");
    return true;
}

// The name of the entry's category, a C string, "": it has none.
static void name_of(const struct journal_lines *lines, char name[UNIT_MOST]) {
    struct nvtxt_slice unit =
        lines->options->category ? nvtxt_slice_of(lines->options->category) : lines->entry->unit;
    size_t len = unit.len < UNIT_MOST - 1 ? unit.len : UNIT_MOST - 1;
    memcpy(name, unit.data, len);
    name[len] = '\0';
}

// Without memory there is no name.
static bool name_category(struct journal_lines *lines, const char *name, uint32_t category,
                          struct nvtxt_slice *line) {
    char head[64];
    uint32_t pid = lines->entry->pid;
    uint64_t key = nvtxt_hash_pair((uint64_t)pid << 32 | category, machine_of(lines));
    uint32_t known;
    if (category == 0 || nvtxt_map_get(&lines->named, key, &known)) {
        return false;
    }
    if (lines->named.count >= NAMES_MOST) {
        nvtxt_map_clear(&lines->named);
    }
    if (!lines->knows_pid || lines->pid != pid) {
        lines->knows_pid = true;
        lines->pid = pid;
        line->data = lines->out;
        line->len = (size_t)snprintf(lines->out, lines->line_max, "ProcessId = %u\n", pid);
        return true;
    }
    if (nvtxt_map_set(&lines->named, key, 1) != 0) {
        return false;
    }
    snprintf(head, sizeof(head), "SetCategoryName,%u,", category);
    line->data = lines->out;
    line->len = textlog_call(lines->out, lines->line_max + 1, head, nvtxt_slice_of(name), "");
    return true;
}

static void mark(struct journal_lines *lines, uint32_t category, struct nvtxt_slice *line) {
    const struct journal_entry *entry = lines->entry;
    struct nvtxt_slice rest = {entry->message.data + lines->taken,
                               entry->message.len - lines->taken};
    struct textlog_marker marker = {.time_ns = journal_time_ns(entry->usec),
                                    .pid = entry->pid,
                                    .tid = entry->tid,
                                    .category = category,
                                    .color = lines->options->color,
                                    .level = entry->level};
    levels_paint(&lines->options->levels, entry->message, entry->level, &marker.color);
    line->data = lines->out;
    lines->taken += textlog_mark(lines->out, lines->line_max, &marker, rest, &line->len);
    lines->over = lines->taken == entry->message.len;
}

bool journal_lines_next(struct journal_lines *lines, struct nvtxt_slice *line) {
    char name[UNIT_MOST];
    lines->said = false;
    if (lines->over) {
        return false;
    }
    if (name_machine(lines, line)) {
        return true;
    }
    name_of(lines, name);
    uint32_t category = *name ? textlog_category(name) : 0;
    if (name_category(lines, name, category, line)) {
        return true;
    }
    mark(lines, category, line);
    lines->said = true;
    return true;
}
