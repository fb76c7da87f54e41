// SPDX-License-Identifier: Apache-2.0
//
// A table has a function for each command that prints its result. The numbers of `status` need no
// table: the end of a name (_ns, _bytes) says how to print the number, and two short ones share a
// line.
#include "client/ctl/ctl.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "client/common/term.h"
#include "client/ctl/ctl_format.h"
#include "protocol/base/slice.h"
#include "protocol/text/shown.h"
#include "protocol/wire/ctlmsg.h"
#include "protocol/wire/ctlmsg_args.h"

#define WIDTH 80
#define NAME_COLUMNS 20
#define LABEL_WIDTH 21
#define CELL_WIDTH 40 // half a screen
#define VALUE_SIZE 4096

static bool is_true(const json_t *object, const char *name) {
    return json_is_true(json_object_get(object, name));
}

// ---- status -------------------------------------------------------------------------------------

// Makes a label of a name, without its unit: the value is printed with the unit. A name that ends
// in _ns is a moment: "at".
static void write_label(char *label, size_t size, const char *name) {
    int name_len = (int)strlen(name);
    bool moment = nvtxt_ends_with(name, "_ns");
    name_len -= moment ? 3 : nvtxt_ends_with(name, "_s") ? 2 : 0;
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
    if (nvtxt_ends_with(name, "bytes") || strcmp(name, "bytes_in_flight") == 0) {
        snprintf(value, VALUE_SIZE, "%s", format_bytes(text, figure));
    } else if (nvtxt_ends_with(name, "_ns")) {
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

// Prints a short value in the left half of a line, the next in the right half. Returns the columns
// that the line has now; 0: the next value begins a line.
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

// The watched folders, a line each.
static size_t print_folders(FILE *out, size_t used, const char *name, const json_t *list) {
    size_t index;
    json_t *folder;
    char path[VALUE_SIZE - 128], value[VALUE_SIZE], over[64];
    json_array_foreach(list, index, folder) {
        format_fit(path, sizeof(path), format_text(folder, "path"), 0);
        int64_t files = format_integer(folder, "files");
        int64_t passed_over = format_integer(folder, "passed_over");
        snprintf(over, sizeof(over), ", %" PRId64 " empty ones passed over", passed_over);
        snprintf(value, sizeof(value), "%s (%" PRId64 " file%s%s%s)", path, files,
                 files == 1 ? "" : "s", passed_over > 0 ? over : "",
                 is_true(folder, "watched") ? "" : ", not there");
        fprintf(out, "%s%-*s %s\n", index == 0 && used > 0 ? "\n" : "", LABEL_WIDTH,
                index == 0 ? "folders:" : "", value);
    }
    return index > 0 ? 0 : print_pair(out, used, name, "none");
}

static void print_status(FILE *out, const json_t *result) {
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

// ---- The other commands -------------------------------------------------------------------------

static void print_bytes(FILE *out, int64_t bytes) {
    char text[FORMAT_SIZE];
    fprintf(out, "%s\n", format_bytes(text, bytes));
}

static void print_sources(FILE *out, const json_t *result) {
    const json_t *list = json_object_get(result, "sources");
    size_t index;
    json_t *source;
    if (json_array_size(list) == 0) {
        fputs("nothing is connected\n", out);
        return;
    }
    fprintf(out, "%8s %-7s %9s %9s %6s %6s %7s %s\n", "SOURCE", "KIND", "LINES", "EVENTS", "WARN",
            "ERR", "PID", "NAME");
    json_array_foreach(list, index, source) {
        const char *name = nvtxt_ctl_string(source, "name")
                               ?: nvtxt_ctl_string(source, "display_name")
                               ?: nvtxt_ctl_string(source, "comm");
        const char *kind = nvtxt_ctl_string(source, "kind");
        char text[128];
        if (kind && name && strcmp(kind, "file") == 0 && strrchr(name, '/')) {
            name = strrchr(name, '/') + 1; // there is no room for the folder
        }
        format_fit(text, sizeof(text), name ?: "-", 20);
        fprintf(out,
                "%8" PRId64 " %-7s %9" PRId64 " %9" PRId64 " %6" PRId64 " %6" PRId64 " %7" PRId64
                " %s\n",
                format_integer(source, "source"), kind ?: "-", format_integer(source, "lines"),
                format_integer(source, "events"), format_integer(source, "warnings"),
                format_integer(source, "errors"), format_integer(source, "pid"), text);
    }
}

static void print_commands(FILE *out, const json_t *list, bool operators) {
    size_t index;
    json_t *command;
    json_array_foreach(list, index, command) {
        if ((strcmp(format_text(command, "for"), "operators") == 0) == operators) {
            fprintf(out, "  %-12s %s\n", format_text(command, "name"),
                    format_text(command, "help"));
        }
    }
}

static void print_help(FILE *out, const json_t *result) {
    const json_t *list = json_object_get(result, "commands");
    fputs("For who may read the store:\n", out);
    print_commands(out, list, false);
    fputs("For root and the user that the daemon runs as:\n", out);
    print_commands(out, list, true);
}

static size_t columns_of(const char *text, size_t len) {
    char word[2048];
    snprintf(word, sizeof(word), "%.*s", (int)len, text);
    return format_columns(word);
}

// Printable text, broken at blanks into lines of at most WIDTH columns that begin with `indent`.
static void print_wrapped(FILE *out, const char *indent, const char *text) {
    size_t used = 0;
    while (*text) {
        size_t len = strcspn(text, " ");
        size_t width = columns_of(text, len);
        if (used > 0 && used + 1 + width <= WIDTH) {
            fprintf(out, " %.*s", (int)len, text);
            used += 1 + width;
        } else {
            fprintf(out, "%s%s%.*s", used > 0 ? "\n" : "", indent, (int)len, text);
            used = strlen(indent) + width;
        }
        text += len + strspn(text + len, " ");
    }
    fputs(used > 0 ? "\n" : "", out);
}

static void print_diagnostic(FILE *out, const json_t *diag) {
    char when[NVTXT_SHOWN_TIME], name[128], text[2048], shown[2048];
    const char *source = format_text(diag, "name");
    const char *slash = strrchr(source, '/');
    bool cut = format_columns(source) > NAME_COLUMNS && slash && slash[1];
    source = cut ? slash + 1 : source; // the end of a long path
    format_fit(name, sizeof(name), *source ? source : "-", NAME_COLUMNS);
    fprintf(out, "%-19s %s:%" PRId64 ":%" PRId64 ": %s, source %" PRId64 "\n",
            nvtxt_shown_moment(when, format_integer(diag, "at_ns"), false), name,
            format_integer(diag, "line"), format_integer(diag, "column"),
            format_text(diag, "severity"), format_integer(diag, "source"));
    snprintf(text, sizeof(text), "%s [%s]", format_text(diag, "message"),
             format_text(diag, "code"));
    format_fit(shown, sizeof(shown), text, 0);
    print_wrapped(out, "    ", shown);
}

static void print_diagnostics(FILE *out, const json_t *result) {
    const json_t *list = json_object_get(result, "diagnostics");
    size_t index;
    json_t *diag;
    if (json_array_size(list) == 0) {
        fputs("no diagnostics\n", out);
    }
    json_array_foreach(list, index, diag) {
        print_diagnostic(out, diag);
    }
}

static void print_checkpoint(FILE *out, const json_t *result) {
    char pages[TERM_COUNT_SIZE], moved[TERM_COUNT_SIZE];
    int64_t all = format_integer(result, "pages");
    fputs("write-ahead log before: ", out);
    print_bytes(out, format_integer(result, "wal_bytes_before"));
    fputs("write-ahead log now:    ", out);
    print_bytes(out, format_integer(result, "wal_bytes"));
    if (is_true(result, "pinned") && all < 0) {
        fputs("Another process holds a lock of the log: nothing was moved now. The log goes on\n"
              "growing until that lock is released; 'lsof' or 'fuser' on the store's -shm\n"
              "file names the processes that have it open.\n",
              out);
    } else if (is_true(result, "pinned")) {
        fprintf(out,
                "A reader holds on to it: %s of %s pages are in the main file. It goes on\n"
                "growing until that reader ends its transaction; 'lsof' or 'fuser' on the\n"
                "store's -shm file names the processes that have it open.\n",
                term_count(moved, (uint64_t)format_integer(result, "pages_moved")),
                term_count(pages, (uint64_t)all));
    }
}

static void print_disconnect(FILE *out, const json_t *result) {
    const json_t *source = json_object_get(result, "source");
    char count[TERM_COUNT_SIZE];
    fprintf(
        out, "source %" PRId64 " is disconnected at line %s%s\n", format_integer(source, "source"),
        term_count(count, (uint64_t)format_integer(source, "lines")),
        strcmp(format_text(source, "kind"), "session") == 0 ? "; its session can be resumed" : "");
}

static void print_log_level(FILE *out, const json_t *result) {
    const char *level = format_text(result, "level"), *before = format_text(result, "before");
    bool same = strcmp(level, before) == 0;
    fprintf(out, "%s%s%s%s\n", level, same ? "" : " (was ", same ? "" : before, same ? "" : ")");
}

static void print_loss(FILE *out, const json_t *loss) {
    const char *reason = nvtxt_ctl_string(loss, "reason");
    const char *name = nvtxt_ctl_string(loss, "name");
    char when[NVTXT_SHOWN_TIME], why[16], text[128];
    term_printable(why, sizeof(why), reason ?: "-");
    format_fit(text, sizeof(text), name ?: "-", 16);
    fprintf(out, "%-19s %-15s %9" PRId64 " %8" PRId64 " %7" PRId64 " %s\n",
            nvtxt_shown_moment(when, format_integer(loss, "at_ns"), false), why,
            format_integer(loss, "count"), format_integer(loss, "source"),
            format_integer(loss, "pid"), text);
}

// The losses that the daemon counts but does not list.
static void print_rest(FILE *out, int64_t rest, size_t listed) {
    const char *what = rest == 1 ? "loss" : "losses";
    if (listed >= NVTXT_CTL_LOSSES) {
        fprintf(out, "%" PRId64 " older %s\n", rest, what);
    } else {
        fprintf(out, "%" PRId64 " %s%s, in segments that are not kept any more\n", rest,
                listed > 0 ? "more " : "", what);
    }
}

static void print_health(FILE *out, const json_t *result) {
    const json_t *list = json_object_get(result, "losses");
    int64_t total = format_integer(result, "total");
    int64_t rest = total - (int64_t)json_array_size(list);
    const char *error = nvtxt_ctl_string(result, "last_error");
    char text[4096];
    size_t index;
    json_t *loss;
    if (error) {
        term_printable(text, sizeof(text), error);
        fprintf(out, "the store cannot be written: %s\n", text);
    }
    if (is_true(result, "healthy")) {
        fputs("nothing was lost\n", out);
    }
    if (!json_is_array(list)) {
        fprintf(out, "losses: %" PRId64 "; the store cannot be asked for them now\n", total);
    }
    if (json_array_size(list) > 0) {
        fprintf(out, "%-19s %-15s %9s %8s %7s %s\n", "WHEN", "REASON", "COUNT", "SOURCE", "PID",
                "NAME");
    }
    json_array_foreach(list, index, loss) {
        print_loss(out, loss);
    }
    if (json_is_array(list) && total < 0) {
        fputs("the losses cannot be counted now\n", out);
    } else if (json_is_array(list) && rest > 0) {
        print_rest(out, rest, json_array_size(list));
    }
}

static void print_health_and_notes(FILE *out, const json_t *result) {
    const json_t *removed = json_object_get(result, "removed");
    char text[512], when[NVTXT_SHOWN_TIME];
    print_health(out, result);
    if (format_removed(text, sizeof(text), removed)) {
        fprintf(out, "note: retention removed %s, last %s\n", text,
                nvtxt_shown_moment(when, format_integer(removed, "last_ns"), false));
    }
    int64_t rotations = format_integer(result, "rotations");
    if (rotations > 0) {
        fprintf(out, "note: the store was rotated %" PRId64 " time%s, last %s\n", rotations,
                rotations == 1 ? "" : "s",
                nvtxt_shown_moment(when, format_integer(result, "rotated_ns"), false));
    }
    const char *aside = nvtxt_ctl_string(result, "put_aside");
    if (aside) {
        char files[4096];
        term_printable(files, sizeof(files), aside);
        fprintf(out,
                "note: put aside: %s\n"
                "      Sessions that may be in such a file do not begin while it cannot be read.\n",
                files);
    }
}

static void print_nothing(FILE *out, const json_t *result) {
    (void)out;
    (void)result;
}

static void print_names(FILE *out, const char *label, const json_t *names) {
    size_t index;
    json_t *name;
    json_array_foreach(names, index, name) {
        fprintf(out, "%s%s", index ? ", " : label, json_string_value(name));
    }
    if (json_array_size(names) > 0) {
        fputc('\n', out);
    }
}

static void print_reload(FILE *out, const json_t *result) {
    const json_t *applied = json_object_get(result, "applied");
    const json_t *waiting = json_object_get(result, "needs_restart");
    if (json_array_size(applied) == 0 && json_array_size(waiting) == 0) {
        fputs("nothing has changed\n", out);
    }
    print_names(out, "in force now: ", applied);
    print_names(out, "after a restart: ", waiting);
}

static void print_rotate(FILE *out, const json_t *result) {
    const char *previous = nvtxt_ctl_string(result, "previous");
    if (!previous) {
        fprintf(out, "nothing to leave: %s has no events yet\n", format_text(result, "segment"));
        return;
    }
    fprintf(out, "the store goes on in %s; %s was left%s\n", format_text(result, "segment"),
            previous,
            is_true(result, "previous_removed") ? ", and retention has removed it already" : "");
}

static void print_snapshot(FILE *out, const json_t *result) {
    char file[4096];
    term_printable(file, sizeof(file), format_text(result, "file"));
    fprintf(out, "%s: ", file);
    char bytes[FORMAT_SIZE], user[256];
    term_printable(user, sizeof(user), format_text(result, "user"));
    fprintf(out, "%s%s%s\n", format_bytes(bytes, format_integer(result, "bytes")),
            *user ? ", written by the daemon's user " : "", user);
}

static void print_lines(FILE *out, const char *label, const json_t *list) {
    size_t index;
    json_t *line;
    json_array_foreach(list, index, line) {
        char text[1024];
        term_printable(text, sizeof(text), json_string_value(line));
        fprintf(out, "%s%s\n", label, text);
    }
}

static void print_verify(FILE *out, const json_t *result) {
    char events[TERM_COUNT_SIZE];
    int64_t problems = format_integer(result, "problems_total");
    print_lines(out, "", json_object_get(result, "problems"));
    print_lines(out, "advice: ", json_object_get(result, "advice"));
    fprintf(out, "%s: %" PRId64 " problem%s; segments: %" PRId64 ", events: %s\n",
            problems ? "not sound" : "sound", problems, problems == 1 ? "" : "s",
            format_integer(result, "segments"),
            term_count(events, (uint64_t)format_integer(result, "events")));
}

static const struct {
    const char *command;
    void (*print)(FILE *out, const json_t *result);
} layouts[] = {
    {"help", print_help},
    {"status", print_status},
    {"sources", print_sources},
    {"health", print_health_and_notes},
    {"flush", print_nothing},
    {"reload", print_reload},
    {"diagnostics", print_diagnostics},
    {"checkpoint", print_checkpoint},
    {"disconnect", print_disconnect},
    {"rotate", print_rotate},
    {"snapshot", print_snapshot},
    {"verify", print_verify},
    {"log-level", print_log_level},
};

void ctl_print(FILE *out, const char *command, const json_t *result) {
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        if (strcmp(layouts[i].command, command) == 0) {
            layouts[i].print(out, result);
            return;
        }
    }
    json_dumpf(result, out, JSON_INDENT(2) | JSON_ENSURE_ASCII);
    fputc('\n', out);
}
