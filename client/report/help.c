// SPDX-License-Identifier: Apache-2.0
//
// The help of a command is printed from the tables of commands and options, two columns on a screen
// of 80.
#include "client/report/options.h"

#include <stdio.h>
#include <string.h>

static void print_program(void) {
    fputs("Usage: nvtxt-report [COMMAND] [OPTION]... [STORE]...\n"
          "Reads stores, exports of Nsight Systems, .ncu-rep files; shows what they say.\n"
          "Commands (the first one when none is named):\n",
          stdout);
    for (const struct report_command *at = report_commands; at->name; at++) {
        printf("  %-10s %-9s %s\n", at->name, at->words, at->what);
    }
    fputs("\n"
          "'nvtxt-report COMMAND --help' has the options of a command. By topic:\n"
          "  which events    --nvtx-include, --within, --last, --pid, ...; nvtxt-filter(7)\n"
          "  output          --format FORMAT, --csv, -o FILE, ...; --help, --version\n"
          "  metrics         --metrics LIST, --define NAME=EXPR, ...; nvtxt-metrics(7)\n"
          "  sections, rules --section LIST, --rule LIST; nvtxt-section(5), nvtxt-rule(5)\n"
          "Exit status: 0 done; 1 faults; 2 a finding or a regression; 3 inconclusive; 64\n"
          "to 75: see nvtxt-report(1). Without a STORE: the one of 'nvtxt-ctl where'.\n",
          stdout);
}

static void print_option(const struct report_option *option) {
    char left[64], letter[8] = "    ";
    if (option->row.letter) {
        snprintf(letter, sizeof(letter), "-%c, ", option->row.letter);
    }
    const char *blank = option->value && !option->row.optional ? " " : "";
    snprintf(left, sizeof(left), "%s--%s%s%s", letter, option->row.name, blank,
             option->value ?: "");
    const char *gap = strlen(left) > 30 ? "\n" : "";
    printf("  %-*s%s%*s%s\n", *gap ? 0 : 31, left, gap, *gap ? 33 : 0, "", option->text);
}

static const char *formats_of(const struct report_command *command) {
    static char out[64];
    size_t len = 0;
    if (command->bit == REPORT_HTML) {
        return "HTML";
    }
    for (int i = REPORT_TEXT; i <= REPORT_PAGE; i++) {
        if (command->formats >> i & 1) {
            len += (size_t)snprintf(out + len, sizeof(out) - len, "%s%s", len ? ", " : "",
                                    report_format_name((enum report_format)i));
        }
    }
    return out;
}

static void print_command(const struct report_command *command) {
    printf("Usage: nvtxt-report %s [OPTION]... %s\n%s.\nFormats: %s.\n\n", command->name,
           command->words, command->what, formats_of(command));
    for (size_t i = 0; report_options_table[i].row.kind != NVTXT_OPTION_END; i++) {
        if (report_options_table[i].commands & command->bit) {
            print_option(&report_options_table[i]);
        }
    }
    fputs("      --help, --version\n", stdout);
}

void report_help_print(const void *values) {
    const struct report_options *options = values;
    const char *word = options->words.count > 0 ? options->words.words[0] : "";
    const struct report_command *command = report_command_find(word);
    if (command) {
        print_command(command);
    } else {
        print_program();
    }
}
