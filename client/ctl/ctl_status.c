// SPDX-License-Identifier: Apache-2.0
#include "client/ctl/ctl_status.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "client/common/term.h"
#include "client/ctl/ctl_format.h"

#define LABEL_WIDTH 21
#define CELL_WIDTH 40 // half a screen
#define VALUE_SIZE 4096

static bool ends_with(const char *name, const char *end) {
    size_t name_len = strlen(name), end_len = strlen(end);
    return name_len >= end_len && strcmp(name + name_len - end_len, end) == 0;
}

// The name without its unit: the value is printed with one. What ends in _ns is a moment: "at".
static void write_label(char *label, size_t size, const char *name) {
    int name_len = (int)strlen(name);
    bool moment = ends_with(name, "_ns");
    name_len -= moment ? 3 : ends_with(name, "_s") ? 2 : 0;
    snprintf(label, size, "%.*s%s:", name_len, name, moment ? " at" : "");
    for (char *c = label; *c; c++) {
        if (*c == '_') {
            *c = ' ';
        }
    }
}

static void write_duration(char *value, int64_t seconds) {
    size_t len = 0;
    static const struct {
        int64_t seconds;
        int64_t most;
        const char *unit;
    } parts[] = {{86400, INT64_MAX, "d"}, {3600, 24, "h"}, {60, 60, "min"}};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (seconds >= parts[i].seconds) {
            len += (size_t)snprintf(value + len, VALUE_SIZE - len, "%" PRId64 " %s ",
                                    seconds / parts[i].seconds % parts[i].most, parts[i].unit);
        }
    }
    snprintf(value + len, VALUE_SIZE - len, "%" PRId64 " s", seconds % 60);
}

static void write_moment(char *value, int64_t ns) {
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm tm;
    if (ns <= 0 || !localtime_r(&seconds, &tm) ||
        strftime(value, VALUE_SIZE, "%Y-%m-%d %H:%M:%S %z", &tm) == 0) {
        snprintf(value, VALUE_SIZE, "never");
    }
}

static void write_figure(char *value, const char *name, int64_t figure) {
    char text[FORMAT_SIZE];
    if (ends_with(name, "bytes") || strcmp(name, "bytes_in_flight") == 0) {
        snprintf(value, VALUE_SIZE, "%s", format_bytes(text, figure));
    } else if (ends_with(name, "_ns")) {
        write_moment(value, figure);
    } else if (strcmp(name, "uptime_s") == 0) {
        write_duration(value, figure);
    } else if (strcmp(name, "pid") == 0 || figure < 0) {
        snprintf(value, VALUE_SIZE, "%" PRId64, figure);
    } else {
        snprintf(value, VALUE_SIZE, "%s", term_count(text, (uint64_t)figure));
    }
}

static void write_value(char *value, const char *name, const json_t *object) {
    switch (json_typeof(object)) {
    case JSON_INTEGER:
        write_figure(value, name, json_integer_value(object));
        break;
    case JSON_STRING:
        format_fit(value, VALUE_SIZE, json_string_value(object), 0);
        break;
    case JSON_OBJECT:
        if (!format_removed(value, VALUE_SIZE, object)) {
            snprintf(value, VALUE_SIZE, "nothing");
        }
        break;
    default:
        snprintf(value, VALUE_SIZE, "%s",
                 json_is_true(object)    ? "yes"
                 : json_is_false(object) ? "no"
                                         : "none");
    }
}

// Short ones stand in the left half of a line and then in the right one. Returns the columns that
// the line has now; 0: the next one begins it.
static size_t print_pair(FILE *out, size_t used, const char *name, const char *value) {
    char label[64];
    write_label(label, sizeof(label), name);
    size_t width = LABEL_WIDTH + 1 + format_columns(value);
    bool is_short = width < CELL_WIDTH;
    if (used > 0 && is_short) {
        fprintf(out, "%*s%-*s %s\n", (int)(CELL_WIDTH - used), "", LABEL_WIDTH, label, value);
        return 0;
    }
    fprintf(out, "%s%-*s %s%s", used > 0 ? "\n" : "", LABEL_WIDTH, label, value,
            is_short ? "" : "\n");
    return is_short ? width : 0;
}

// Folders that are watched, a line each.
static size_t print_folders(FILE *out, size_t used, const char *name, const json_t *list) {
    size_t index;
    json_t *folder;
    char path[VALUE_SIZE - 64], value[VALUE_SIZE];
    json_array_foreach(list, index, folder) {
        format_fit(path, sizeof(path), format_text(folder, "path"), 0);
        int64_t files = format_integer(folder, "files");
        snprintf(value, sizeof(value), "%s (%" PRId64 " file%s%s)", path, files,
                 files == 1 ? "" : "s",
                 json_is_true(json_object_get(folder, "watched")) ? "" : ", not there");
        fprintf(out, "%s%-*s %s\n", index == 0 && used > 0 ? "\n" : "", LABEL_WIDTH,
                index == 0 ? "folders:" : "", value);
    }
    return index > 0 ? 0 : print_pair(out, used, name, "none");
}

void ctl_print_status(FILE *out, const json_t *result) {
    const char *name;
    json_t *object;
    size_t used = 0;
    json_object_foreach((json_t *)(uintptr_t)result, name, object) {
        char value[VALUE_SIZE];
        if (json_is_array(object)) {
            used = print_folders(out, used, name, object);
            continue;
        }
        write_value(value, name, object);
        used = print_pair(out, used, name, value);
    }
    fputs(used > 0 ? "\n" : "", out);
}
