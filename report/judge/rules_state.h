// SPDX-License-Identifier: Apache-2.0
//
// All rules of a run as they are kept. Only this room includes it.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "protocol/base/slice.h"
#include "store/value/arena.h"

struct report_builtin;
struct report_declarative;
struct report_file;
struct report_program;
struct report_runner;

struct report_rule {
    struct nvtxt_slice identifier, name, description, section;
    const struct report_file *file;         // NULL: part of the program
    struct report_declarative *declarative; // owned; NULL: `program` or `builtin`
    const struct report_program *program;   // of the arena
    const struct report_builtin *builtin;
    const struct report_rule *hidden_by; // NULL: it counts
    size_t place;                        // as found: files in their order, then the program's
    const size_t *parents; // indexes of those that there are, in `parents` of all rules
    size_t parent_count;
    size_t number, component; // of the visit that finds the order: see order.c
    size_t way_to;            // the rule to which a way was looked for from here
    bool in_cycle;
    char *cycle; // owned; what its parents have to do with itself; NULL: nothing
};

struct report_rules {
    struct report_rule *list;
    size_t count, room;
    size_t *order;   // indexes of those that count
    size_t *parents; // indexes of all parents, rule by rule
    size_t order_count;
    size_t failed;
    struct report_runner *runner; // borrowed; NULL: programs are no rules
    struct store_arena arena;     // owns what files say
};
