// SPDX-License-Identifier: Apache-2.0
//
// Lines are copied as they are; what stands between two braces is looked up in the tables.
#include "man/template.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 4096

static const char *template_name;
static unsigned template_line;

void template_fail(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s:%u: ", template_name, template_line);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(1);
}

void template_put(const char *text) {
    bool starts = true;
    for (; *text; text++) {
        if (starts && (*text == '.' || *text == '\'')) {
            fputs("\\&", stdout);
        }
        starts = text[0] == '.' && text[1] == ' ';
        if (*text == '\\') {
            fputs("\\e", stdout);
        } else if (*text == '-') {
            fputs("\\-", stdout);
        } else {
            putchar(*text);
        }
        if (starts) {
            putchar('\n');
            text++;
        }
    }
}

// Replaces the words between two braces.
static void fill(const struct template_table *tables, char *words) {
    char *name = strchr(words, ' ');
    if (name) {
        *name++ = '\0';
    }
    for (; tables->name; tables++) {
        if (strcmp(tables->name, words) == 0 && tables->takes_name == (name != NULL)) {
            tables->fill(name);
            return;
        }
    }
    template_fail("there is no table '%s'", words);
}

// If a line has only a table, its line end is left out: the table ends its own lines.
static void copy_line(const struct template_table *tables, char *line) {
    char *open, *close;
    char *at = line;
    while ((open = strstr(at, "{{")) && (close = strstr(open, "}}"))) {
        printf("%.*s", (int)(open - at), at);
        *close = '\0';
        fill(tables, open + 2);
        at = close + 2;
    }
    bool whole = at != line && strcmp(at, "\n") == 0 && strncmp(line, "{{", 2) == 0;
    fputs(whole ? "" : at, stdout);
}

int template_fill(int argc, char **argv, const struct template_table *tables) {
    char line[LINE_BYTES];
    template_name = argc == 2 ? argv[1] : argv[0];
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!file) {
        template_fail("one template that can be read is expected");
    }
    while (fgets(line, sizeof(line), file)) {
        template_line++;
        copy_line(tables, line);
    }
    bool broken = ferror(file) || fflush(stdout) != 0;
    fclose(file);
    return broken ? 1 : 0;
}
