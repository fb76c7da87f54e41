// SPDX-License-Identifier: Apache-2.0
//
// The variables of one source. A variable keeps its value until the next assignment to it; its
// string is a copy that the table owns. nvtxt_symtab_static() finds a variable that has the name of
// an argument (a static argument of calls) without a search. Variables that got another value are
// listed until nvtxt_symtab_settle(), so that what is saved of a source costs what has changed.
#pragma once

#include "protocol/base/limits.h"
#include "protocol/lang/commands.h"
#include "protocol/lang/value.h"
#include "protocol/table/hash.h"

struct nvtxt_variable {
    struct nvtxt_hash_node node;
    struct nvtxt_variable *next;         // in the order of their first assignment
    struct nvtxt_variable *next_changed; // in the order of their first change
    bool changed;
    struct nvtxt_value value;
    char *string; // owned storage of value.string
    size_t string_cap;
    size_t name_len;
    char name[]; // not terminated
};

struct nvtxt_symtab {
    struct nvtxt_hash table;
    struct nvtxt_variable *first, *last;
    struct nvtxt_variable *statics[NVTXT_ARG_COUNT]; // NULL: never assigned
    size_t string_bytes;                             // of all values together
    size_t name_bytes;                               // of all names
    uint64_t static_changes;                         // counts assignments to static arguments
    struct nvtxt_variable *first_changed, *last_changed;
    size_t changed_bytes; // of the names and values of those
};

void nvtxt_symtab_deinit(struct nvtxt_symtab *symtab); // a zeroed table is an empty one

// NULL when the name was never assigned. The value lives until the next assignment.
const struct nvtxt_value *nvtxt_symtab_find(const struct nvtxt_symtab *symtab,
                                            struct nvtxt_slice name);

static inline const struct nvtxt_value *nvtxt_symtab_static(const struct nvtxt_symtab *symtab,
                                                            enum nvtxt_arg arg) {
    return symtab->statics[arg] ? &symtab->statics[arg]->value : NULL;
}

enum nvtxt_symtab_result {
    NVTXT_SYMTAB_SET = 0,
    NVTXT_SYMTAB_TOO_MANY = 1,  // limits.variables
    NVTXT_SYMTAB_TOO_LARGE = 2, // limits.variable_bytes
};

// Assigns; `value` may be a view of the same or another variable. Returns an nvtxt_symtab_result
// or -ENOMEM; the old value stays unless the result is SET. The name must be within name_bytes.
int nvtxt_symtab_set(struct nvtxt_symtab *symtab, const struct nvtxt_limits *limits,
                     struct nvtxt_slice name, const struct nvtxt_value *value);

// From now on no variable counts as changed.
void nvtxt_symtab_settle(struct nvtxt_symtab *symtab);
