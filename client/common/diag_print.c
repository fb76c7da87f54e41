// SPDX-License-Identifier: Apache-2.0
//
// The only place that knows how diagnostics and summaries look; nvtxt_diag_format() knows the order
// of what is in a line.
#include "client/common/term.h"

#include <limits.h>
#include <string.h>

#include "protocol/lang/diag.h"

#define BOLD "\033[1m"
#define RED "\033[1;31m"
#define MAGENTA "\033[1;35m"
#define PLAIN "\033[0m"
#define MESSAGE_BYTES 1280 // the longest of a diagnostic, and of a daemon's reply

static void print(const struct diag_print *report, const char *line) {
    if (report->file) {
        fprintf(report->file, "%s\n", line);
    } else {
        term_line(report->term, line);
    }
}

void diag_print_line(struct diag_print *report, uint64_t line, uint32_t column,
                     const char *severity, const char *message, const char *code) {
    report->printed++;
    if (report->quiet) {
        return;
    }
    char name[PATH_MAX + 16];
    char kind[48];
    char text[PATH_MAX + 1536], shown[MESSAGE_BYTES];
    bool colour = report->term->colour && !report->file;
    bool is_error = strcmp(severity, nvtxt_severity_name(NVTXT_ERROR)) == 0;
    snprintf(kind, sizeof(kind), "%s%.16s%s",
             !colour    ? ""
             : is_error ? RED
                        : MAGENTA,
             severity, colour ? PLAIN : "");
    memcpy(name, BOLD, sizeof(BOLD));
    size_t at = colour ? sizeof(BOLD) - 1 : 0;
    term_printable(name + at, PATH_MAX, report->name);
    if (colour) {
        strcat(name, PLAIN);
    }
    term_printable(shown, sizeof(shown), message);
    nvtxt_diag_format(text, sizeof(text), name, line, column, kind, shown, code);
    print(report, text);
}

static const char *plural(uint64_t count) {
    return count == 1 ? "" : "s";
}

// "3 errors and 1 warning", without a kind that there is none of.
static void count_faults(char *text, size_t size, uint64_t errors, uint64_t warnings) {
    char count[2][TERM_COUNT_SIZE];
    char first[64] = "";
    if (errors > 0) {
        snprintf(first, sizeof(first), "%s error%s%s", term_count(count[0], errors), plural(errors),
                 warnings > 0 ? " and " : "");
    }
    if (warnings > 0) {
        snprintf(text, size, "%s%s warning%s", first, term_count(count[1], warnings),
                 plural(warnings));
    } else {
        snprintf(text, size, "%s", first);
    }
}

void diag_print_summary(struct diag_print *report, uint64_t lines, uint64_t events, uint64_t errors,
                        uint64_t warnings) {
    if (report->quiet || errors + warnings == 0) {
        return;
    }
    char name[PATH_MAX];
    char faults[128];
    char count[3][TERM_COUNT_SIZE];
    char shown[64] = "";
    char text[PATH_MAX + 320];
    term_printable(name, sizeof(name), report->name);
    count_faults(faults, sizeof(faults), errors, warnings);
    if (report->printed < errors + warnings) {
        snprintf(shown, sizeof(shown), " (%s shown)", term_count(count[0], report->printed));
    }
    snprintf(text, sizeof(text), "%s: %s%s in %s line%s, %s event%s", name, faults, shown,
             term_count(count[1], lines), plural(lines), term_count(count[2], events),
             plural(events));
    print(report, text);
}
