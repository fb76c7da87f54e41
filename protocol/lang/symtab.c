// SPDX-License-Identifier: Apache-2.0
//
// A hash table by name, a list in the order of the first assignments, and one pointer for each
// static argument. The storage of a string is kept for the next string if it is not much too large.
#include "protocol/lang/symtab.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"

// Storage may be larger than twice its string by these bytes. So limits.variable_bytes also bounds
// the memory.
#define SPARE_BYTES 64

void nvtxt_symtab_deinit(struct nvtxt_symtab *symtab) {
    struct nvtxt_variable *variable = symtab->first, *next;
    for (; variable; variable = next) {
        next = variable->next;
        free(variable->string);
        free(variable);
    }
    nvtxt_hash_deinit(&symtab->table);
    *symtab = (struct nvtxt_symtab){0};
}

static struct nvtxt_variable *find_variable(const struct nvtxt_symtab *symtab,
                                            struct nvtxt_slice name, uint64_t hash) {
    struct nvtxt_variable *variable;
    NVTXT_HASH_FIND(
        variable, node, &symtab->table, hash,
        nvtxt_slice_equal(name, (struct nvtxt_slice){variable->name, variable->name_len}));
    return variable;
}

const struct nvtxt_value *nvtxt_symtab_find(const struct nvtxt_symtab *symtab,
                                            struct nvtxt_slice name) {
    struct nvtxt_variable *variable = find_variable(symtab, name, nvtxt_hash_bytes(name));
    return variable ? &variable->value : NULL;
}

// A variable that is in no list yet and has the value 0.
static struct nvtxt_variable *variable_new(struct nvtxt_slice name) {
    struct nvtxt_variable *variable = calloc(1, sizeof(*variable) + name.len);
    if (!variable) {
        return NULL;
    }
    variable->name_len = name.len;
    memcpy(variable->name, name.data, name.len);
    return variable;
}

static void drop_storage(struct nvtxt_variable *variable) {
    free(variable->string);
    variable->string = NULL;
    variable->string_cap = 0;
}

static int variable_assign(struct nvtxt_variable *variable, const struct nvtxt_value *value) {
    if (value->type == NVTXT_INTEGER) {
        if (variable->string_cap > SPARE_BYTES) {
            drop_storage(variable);
        }
        variable->value = *value;
        variable->value.string = (struct nvtxt_slice){NULL, 0};
        return 0;
    }
    size_t len = value->string.len;
    if (len > variable->string_cap || variable->string_cap > 2 * len + SPARE_BYTES) {
        // Not realloc: the value may be a view of the old string.
        char *string = malloc(len ?: 1);
        if (!string) {
            return nvtxt_origin(-ENOMEM);
        }
        if (len > 0) {
            memcpy(string, value->string.data, len);
        }
        free(variable->string);
        variable->string = string;
        variable->string_cap = len;
    } else if (len > 0) {
        memmove(variable->string, value->string.data, len);
    }
    variable->value = (struct nvtxt_value){.type = NVTXT_STRING, .string = {variable->string, len}};
    return 0;
}

static void link_last(struct nvtxt_symtab *symtab, struct nvtxt_variable *variable,
                      enum nvtxt_arg arg) {
    symtab->name_bytes += variable->name_len;
    NVTXT_APPEND(symtab->first, symtab->last, next, variable);
    if (arg != NVTXT_ARG_COUNT) {
        symtab->statics[arg] = variable;
    }
}

static size_t bytes_of(const struct nvtxt_value *value) {
    return value->type == NVTXT_STRING ? value->string.len : sizeof(value->integer);
}

static bool is_same(const struct nvtxt_value *one, const struct nvtxt_value *other) {
    if (one->type != other->type) {
        return false;
    }
    return one->type == NVTXT_STRING ? nvtxt_slice_equal(one->string, other->string)
                                     : one->integer == other->integer;
}

// It has got another value; the one before took `before` bytes.
static void mark(struct nvtxt_symtab *symtab, struct nvtxt_variable *variable, size_t before) {
    symtab->changed_bytes += bytes_of(&variable->value);
    if (variable->changed) {
        symtab->changed_bytes -= before;
        return;
    }
    symtab->changed_bytes += variable->name_len;
    variable->changed = true;
    variable->next_changed = NULL;
    NVTXT_APPEND(symtab->first_changed, symtab->last_changed, next_changed, variable);
}

void nvtxt_symtab_settle(struct nvtxt_symtab *symtab) {
    struct nvtxt_variable *variable = symtab->first_changed;
    for (; variable; variable = variable->next_changed) {
        variable->changed = false;
    }
    symtab->first_changed = symtab->last_changed = NULL;
    symtab->changed_bytes = 0;
}

int nvtxt_symtab_set(struct nvtxt_symtab *symtab, const struct nvtxt_limits *limits,
                     struct nvtxt_slice name, const struct nvtxt_value *value) {
    uint64_t hash = nvtxt_hash_bytes(name);
    struct nvtxt_variable *variable = find_variable(symtab, name, hash);
    size_t old = variable ? variable->value.string.len : 0;
    size_t new = value->type == NVTXT_STRING ? value->string.len : 0;
    if (!variable && symtab->table.count >= limits->variables) {
        return NVTXT_SYMTAB_TOO_MANY;
    }
    if (new > old && symtab->string_bytes - old + new > limits->variable_bytes) {
        return NVTXT_SYMTAB_TOO_LARGE;
    }

    enum nvtxt_arg arg = nvtxt_arg_find(name);
    bool same = variable && is_same(&variable->value, value);
    size_t before = variable ? bytes_of(&variable->value) : 0;
    if (variable) {
        int r = same ? 0 : variable_assign(variable, value);
        if (r < 0) {
            return r;
        }
    } else {
        variable = variable_new(name);
        if (!variable) {
            return nvtxt_origin(-ENOMEM);
        }
        if (variable_assign(variable, value) < 0 ||
            nvtxt_hash_add(&symtab->table, &variable->node, hash) < 0) {
            free(variable->string);
            free(variable);
            return nvtxt_origin(-ENOMEM);
        }
        link_last(symtab, variable, arg);
    }
    symtab->string_bytes += new - old;
    if (!same) {
        mark(symtab, variable, before);
    }
    if (arg != NVTXT_ARG_COUNT) {
        symtab->static_changes++;
    }
    return NVTXT_SYMTAB_SET;
}
