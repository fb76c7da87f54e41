// SPDX-License-Identifier: Apache-2.0
//
// Templates of manual pages: lines of mdoc with names of tables in double braces, "{{limit depth}}"
// or "{{config}}". What a table prints replaces them. For fill-page and fill-report-page.
#pragma once

#include <stdbool.h>

struct template_table {
    const char *name;
    bool takes_name;                // "{{limit depth}}"; else `fill` gets NULL
    void (*fill)(const char *name); // prints to stdout
};

// Prints the template that is the one argument. `tables` ends with a row without a name. Returns
// the exit status; a fault in the template ends the program.
int template_fill(int argc, char **argv, const struct template_table *tables);

// Says what is wrong at this line of the template, and exits.
void template_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

// Prints text for roff: hyphens that can be copied, each sentence on a line of its own, no request
// at the start of a line.
void template_put(const char *text);
