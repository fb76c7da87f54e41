// SPDX-License-Identifier: Apache-2.0
//
// An array in order of addition, and a table by name. A cycle is found by going along the names
// that expressions use, depth first; each definition is looked at once, and knows then how many
// others it needs one after the other.
#include "report/metric/definitions.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"
#include "report/metric/defined.h"

// So many definitions may need each other one after the other: each one more costs stack.
#define HEIGHT_MAX 256

int report_definition_fault(struct report_expression_fault *fault, unsigned column,
                            const char *code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    *fault = (struct report_expression_fault){.column = column, .code = code};
    vsnprintf(fault->text, sizeof(fault->text), format, args);
    va_end(args);
    return NVTXT_WRONG;
}

static int list_catalogue(struct report_definitions *definitions) {
    struct report_catalogue_cursor cursor = {.entry = 0};
    size_t count = 0;
    while (report_catalogue_next(&cursor)) {
        count++;
    }
    definitions->listed = malloc(count * sizeof(*definitions->listed));
    if (!definitions->listed) {
        return nvtxt_origin(-ENOMEM);
    }
    cursor = (struct report_catalogue_cursor){.entry = 0};
    while (report_catalogue_next(&cursor)) {
        memcpy(definitions->listed[definitions->listed_count++], cursor.name, sizeof(cursor.name));
    }
    return 0;
}

int report_definitions_new(struct report_definitions **definitions) {
    *definitions = calloc(1, sizeof(**definitions));
    int r = *definitions ? list_catalogue(*definitions) : nvtxt_origin(-ENOMEM);
    if (r) {
        report_definitions_free(*definitions);
        *definitions = NULL;
    }
    return r;
}

static void free_defined(struct report_defined *defined) {
    report_expression_free(defined->expression);
    free(defined);
}

void report_definitions_free(struct report_definitions *definitions) {
    if (definitions) {
        for (size_t i = 0; i < definitions->count; i++) {
            free_defined(definitions->all[i]);
        }
        nvtxt_hash_deinit(&definitions->table);
        store_arena_deinit(&definitions->arena);
        free(definitions->all);
        free(definitions->listed);
        free(definitions);
    }
}

void report_definitions_set_aggregate(struct report_definitions *definitions,
                                      enum report_aggregate aggregate) {
    definitions->aggregate = aggregate;
}

struct report_defined *report_definitions_find(const struct report_definitions *definitions,
                                               struct nvtxt_slice name) {
    struct report_defined *found = NULL;
    if (definitions) {
        NVTXT_HASH_FIND(found, node, &definitions->table, nvtxt_hash_bytes(name),
                        nvtxt_slice_equal(nvtxt_slice_of(found->name), name));
    }
    return found;
}

void report_definitions_set_given(struct report_definitions *definitions,
                                  const struct report_given *given) {
    definitions->given = given;
}

bool report_metric_exists(const struct report_definitions *definitions, const char *name) {
    const struct report_given *given = definitions ? definitions->given : NULL;
    struct report_catalogue_metric which;
    return (given ? given->get(given, name, NULL, NULL) == 0
                  : report_catalogue_find(nvtxt_slice_of(name), &which)) ||
           report_definitions_find(definitions, nvtxt_slice_of(name));
}

bool report_metric_is_known(const struct report_definitions *definitions, const char *name) {
    const struct report_given *given = definitions ? definitions->given : NULL;
    return (given && given->known(given, name)) || report_metric_exists(definitions, name);
}

int report_definitions_put(struct report_definitions *definitions, struct nvtxt_slice name,
                           struct report_defined **defined, struct report_expression_fault *fault) {
    struct report_catalogue_metric which;
    struct nvtxt_slice shown = nvtxt_slice_cut(name, 128);
    if (name.len == 0 || memchr(name.data, '\0', name.len)) {
        return report_definition_fault(fault, 0, "bad-expression", "a metric needs a name");
    }
    if (report_catalogue_find(name, &which)) {
        return report_definition_fault(fault, 0, "duplicate-definition",
                                       "'%.*s' is a metric of the catalogue", (int)shown.len,
                                       shown.data);
    }
    if (report_definitions_find(definitions, name)) {
        return report_definition_fault(fault, 0, "duplicate-definition",
                                       "'%.*s' is defined already", (int)shown.len, shown.data);
    }
    bool has_room = nvtxt_grow(&definitions->all, &definitions->room, definitions->count + 1,
                               sizeof(*definitions->all)) == 0;
    struct report_defined *made = has_room ? calloc(1, sizeof(*made)) : NULL;
    const char *copy = made ? store_arena_copy(&definitions->arena, name.data, name.len) : NULL;
    if (!copy || nvtxt_hash_add(&definitions->table, &made->node, nvtxt_hash_bytes(name))) {
        free(made);
        return nvtxt_origin(-ENOMEM);
    }
    made->name = copy;
    made->unit = made->description = "";
    made->number = definitions->added++;
    definitions->all[definitions->count++] = made;
    *defined = made;
    return 0;
}

void report_definitions_take_back(struct report_definitions *definitions) {
    struct report_defined *defined = definitions->all[--definitions->count];
    nvtxt_hash_remove(&definitions->table, &defined->node);
    free_defined(defined);
}

static const char *keep(struct report_definitions *definitions, struct nvtxt_slice text) {
    return text.data ? store_arena_copy(&definitions->arena, text.data, text.len) : "";
}

int report_definitions_add(struct report_definitions *definitions,
                           const struct report_definition *definition,
                           struct report_expression_fault *fault) {
    struct report_defined *defined;
    struct report_expression *expression;
    int r = report_expression_parse(&expression, definition->expression, REPORT_EXPRESSION_DERIVED,
                                    fault);
    if (r) {
        return r;
    }
    r = report_definitions_put(definitions, definition->name, &defined, fault);
    if (r) {
        report_expression_free(expression);
        return r;
    }
    defined->expression = expression;
    defined->origin = definition->origin;
    defined->aggregate = definition->aggregate;
    defined->owner = definition->owner;
    defined->unit = keep(definitions, definition->unit);
    defined->description = keep(definitions, definition->description);
    if (!defined->unit || !defined->description) {
        report_definitions_take_back(definitions);
        return nvtxt_origin(-ENOMEM);
    }
    return 0;
}

static struct nvtxt_slice trimmed(struct nvtxt_slice text) {
    while (text.len > 0 && memchr(" \t", text.data[0], 2)) {
        text.data++;
        text.len--;
    }
    while (text.len > 0 && memchr(" \t", text.data[text.len - 1], 2)) {
        text.len--;
    }
    return text;
}

int report_definitions_add_option(struct report_definitions *definitions, struct nvtxt_slice text,
                                  struct report_expression_fault *fault) {
    const char *equals = text.len ? memchr(text.data, '=', text.len) : NULL;
    if (!equals) {
        return report_definition_fault(fault, (unsigned)text.len + 1, "bad-expression",
                                       "NAME=EXPR is expected");
    }
    size_t name_len = (size_t)(equals - text.data);
    struct report_definition definition = {
        .name = trimmed((struct nvtxt_slice){text.data, name_len}),
        .expression = {equals + 1, text.len - name_len - 1},
        .origin = REPORT_FROM_OPTION,
    };
    int r = report_definitions_add(definitions, &definition, fault);
    if (r == NVTXT_WRONG) {
        fault->column = fault->column ? fault->column + (unsigned)name_len + 1 : 1;
    }
    return r;
}

// ---- Names --------------------------------------------------------------------------------------

const char *report_definitions_name(const struct report_definitions *definitions, size_t n) {
    for (int origin = REPORT_FROM_FILE; origin <= REPORT_FROM_SECTION; origin++) {
        for (size_t i = 0; i < definitions->count; i++) {
            if ((int)definitions->all[i]->origin == origin && n-- == 0) {
                return definitions->all[i]->name;
            }
        }
    }
    return NULL;
}

const char *report_name_next(struct report_name_cursor *cursor,
                             const struct report_definitions *definitions) {
    const struct report_given *given = definitions ? definitions->given : NULL;
    const char *name = NULL;
    if (!cursor->past_first && given) {
        name = given->name_at(given, cursor->given++);
    } else if (!cursor->past_first && report_catalogue_next(&cursor->catalogue)) {
        name = cursor->catalogue.name;
    }
    cursor->past_first = !name;
    while (!name && definitions &&
           (name = report_definitions_name(definitions, cursor->defined++)) && given &&
           given->get(given, name, NULL, NULL) == 0) {
        name = NULL; // the result has it
    }
    return name;
}

// The catalogue, then the definitions; these first if there is a result in its place.
static const char *near_name(const void *context, size_t index) {
    const struct report_definitions *definitions = context;
    const struct report_given *given = definitions->given;
    size_t before = given ? 0 : definitions->listed_count;
    if (index < before) {
        return definitions->listed[index];
    }
    index -= before;
    return index < definitions->count ? definitions->all[index]->name
           : given                    ? given->name_at(given, index - definitions->count)
                                      : NULL;
}

const char *report_metric_near(const struct report_definitions *definitions,
                               struct nvtxt_slice name) {
    return definitions ? nvtxt_near(name, near_name, definitions) : NULL;
}

int report_definitions_leave_out(struct report_definitions *definitions, struct nvtxt_slice name) {
    struct report_left_out *one =
        store_arena_take(&definitions->arena, sizeof(*one), sizeof(void *));
    const char *copy = store_arena_copy(&definitions->arena, name.data, name.len);
    if (!one || !copy) {
        return nvtxt_origin(-ENOMEM);
    }
    *one = (struct report_left_out){{copy, name.len}, definitions->left_out};
    definitions->left_out = one;
    return 0;
}

bool report_definitions_left_out(const struct report_definitions *definitions,
                                 struct nvtxt_slice name) {
    const struct report_left_out *one = definitions ? definitions->left_out : NULL;
    while (one && !nvtxt_slice_equal(one->name, name)) {
        one = one->next;
    }
    return one != NULL;
}

// ---- Cycles -------------------------------------------------------------------------------------

struct path {
    const struct report_definitions *definitions;
    struct report_defined *steps[HEIGHT_MAX + 1];
    size_t count;
    struct report_expression_fault *fault;
    const struct report_defined *first; // the first one in order of addition of what is wrong
};

static size_t put_cut(char *text, size_t size, size_t at, const char *piece) {
    int len = snprintf(text + at, size - at, "%s", piece);
    return at + (size_t)len < size ? at + (size_t)len : size - 1;
}

// The path from `from` on leads back to its beginning.
static int name_cycle(struct path *path, size_t from) {
    size_t length = path->count - from, first = 0;
    for (size_t i = 1; i < length; i++) {
        first = path->steps[from + i]->number < path->steps[from + first]->number ? i : first;
    }
    path->first = path->steps[from + first];
    struct report_expression_fault *fault = path->fault;
    *fault = (struct report_expression_fault){.code = "definition-cycle"};
    size_t at = put_cut(fault->text, sizeof(fault->text), 0, "cycle of definitions: ");
    for (size_t i = 0; i <= length; i++) {
        const struct report_defined *step = path->steps[from + (first + i) % length];
        at = put_cut(fault->text, sizeof(fault->text), at, i > 0 ? " -> " : "");
        at = put_cut(fault->text, sizeof(fault->text), at, step->name);
    }
    return NVTXT_WRONG;
}

static int too_high(struct path *path, const struct report_defined *defined) {
    path->first = defined;
    return report_definition_fault(path->fault, 0, "bad-expression",
                                   "'%.128s' needs more than %d definitions one after the other",
                                   defined->name, HEIGHT_MAX);
}

static int look_at(struct path *path, struct report_defined *defined) {
    if (defined->on_path) {
        size_t from = 0;
        while (path->steps[from] != defined) {
            from++;
        }
        return name_cycle(path, from);
    }
    if (defined->height > 0 || !defined->expression) {
        return 0;
    }
    if (path->count == HEIGHT_MAX) {
        return too_high(path, path->steps[0]);
    }
    path->steps[path->count++] = defined;
    defined->on_path = true;
    unsigned height = 0;
    int r = 0;
    const char *name;
    for (size_t i = 0; !r && (name = report_expression_name(defined->expression, i)); i++) {
        struct report_defined *used =
            report_definitions_find(path->definitions, nvtxt_slice_of(name));
        r = used ? look_at(path, used) : 0;
        height = used && used->height > height ? used->height : height;
    }
    path->count--;
    defined->on_path = false;
    defined->height = r ? 0 : height + 1;
    return !r && defined->height > HEIGHT_MAX ? too_high(path, defined) : r;
}

int report_definitions_cycle(const struct report_definitions *definitions,
                             struct report_expression_fault *fault, const char **name,
                             const void **owner) {
    struct path path = {.definitions = definitions, .fault = fault};
    for (size_t i = 0; i < definitions->count; i++) {
        definitions->all[i]->height = 0;
    }
    for (size_t i = 0; i < definitions->count; i++) {
        int r = look_at(&path, definitions->all[i]);
        if (r) {
            *name = path.first->name;
            *owner = path.first->owner;
            return r;
        }
    }
    return 0;
}

void report_definitions_drop(struct report_definitions *definitions, const void *owner) {
    size_t kept = 0;
    for (size_t i = 0; i < definitions->count; i++) {
        struct report_defined *defined = definitions->all[i];
        if (defined->owner == owner) {
            nvtxt_hash_remove(&definitions->table, &defined->node);
            free_defined(defined);
        } else {
            definitions->all[kept++] = defined;
        }
    }
    definitions->count = kept;
}
