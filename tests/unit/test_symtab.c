// SPDX-License-Identifier: Apache-2.0
//
// Variables: values, aliases, limits by number and by bytes, and their memory.
#include "protocol/lang/symtab.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static struct nvtxt_symtab symtab;
static struct nvtxt_limits limits = NVTXT_LIMITS_DEFAULT;

static int set_text(const char *name, struct nvtxt_slice text) {
    struct nvtxt_value value = {.type = NVTXT_STRING, .string = text};
    return nvtxt_symtab_set(&symtab, &limits, nvtxt_slice_of(name), &value);
}

static int set_string(const char *name, const char *text) {
    return set_text(name, nvtxt_slice_of(text));
}

static int set_integer(const char *name, int64_t integer) {
    struct nvtxt_value value = {.type = NVTXT_INTEGER, .integer = integer};
    return nvtxt_symtab_set(&symtab, &limits, nvtxt_slice_of(name), &value);
}

static const struct nvtxt_value *get(const char *name) {
    return nvtxt_symtab_find(&symtab, nvtxt_slice_of(name));
}

static void is_string(const char *name, const char *wanted) {
    const struct nvtxt_value *value = get(name);
    cr_assert_not_null(value, "%s", name);
    cr_assert_eq(value->type, NVTXT_STRING);
    cr_assert(nvtxt_slice_equal(value->string, nvtxt_slice_of(wanted)), "%s", name);
}

static void is_integer(const char *name, int64_t wanted) {
    const struct nvtxt_value *value = get(name);
    cr_assert_not_null(value, "%s", name);
    cr_assert_eq(value->type, NVTXT_INTEGER);
    cr_assert_eq(value->integer, wanted);
}

static char *filler(size_t len) {
    char *text = malloc(len + 1);
    cr_assert_not_null(text);
    memset(text, 'x', len);
    text[len] = '\0';
    return text;
}

Test(symtab, knows_nothing_at_first) {
    cr_assert_null(get("A"));
    cr_assert_null(get(""));
    nvtxt_symtab_deinit(&symtab);
}

Test(symtab, keeps_a_copy_of_names_and_values) {
    char name[] = "Name", text[] = "text";
    cr_assert_eq(set_string(name, text), NVTXT_SYMTAB_SET);
    memset(name, '!', 4);
    memset(text, '!', 4);
    is_string("Name", "text");
    cr_assert_null(get("name"));
    cr_assert_null(get("Nam"));
    nvtxt_symtab_deinit(&symtab);
    cr_assert_null(get("Name"), "an empty table again");
}

Test(symtab, changes_values_and_types) {
    set_integer("A", INT64_MIN);
    is_integer("A", INT64_MIN);
    set_string("A", "now a text");
    is_string("A", "now a text");
    set_string("A", "");
    is_string("A", "");
    set_integer("A", 0);
    is_integer("A", 0);
    cr_assert_eq(symtab.table.count, 1);
    cr_assert_eq(symtab.string_bytes, 0);
    nvtxt_symtab_deinit(&symtab);
}

Test(symtab, assigns_a_variable_to_itself_and_to_others) {
    char *text = filler(300);
    set_string("A", text);
    struct nvtxt_value own = *get("A");
    cr_assert_eq(nvtxt_symtab_set(&symtab, &limits, NVTXT_SLICE("A"), &own), 0);
    is_string("A", text);
    own = *get("A");
    cr_assert_eq(nvtxt_symtab_set(&symtab, &limits, NVTXT_SLICE("B"), &own), 0);
    is_string("B", text);
    set_string("A", "other");
    is_string("B", text);
    // A part of its own, which needs less storage, and then one that fits in place.
    own = *get("B");
    own.string = (struct nvtxt_slice){own.string.data + 297, 3};
    cr_assert_eq(nvtxt_symtab_set(&symtab, &limits, NVTXT_SLICE("B"), &own), 0);
    is_string("B", "xxx");
    set_string("B", "abcdef");
    own = *get("B");
    own.string = (struct nvtxt_slice){own.string.data + 1, 5};
    cr_assert_eq(nvtxt_symtab_set(&symtab, &limits, NVTXT_SLICE("B"), &own), 0);
    is_string("B", "bcdef");
    free(text);
    nvtxt_symtab_deinit(&symtab);
}

Test(symtab, takes_a_name_that_is_a_view_of_the_variable_itself) {
    set_string("Self", "Self");
    struct nvtxt_value value = {.type = NVTXT_INTEGER, .integer = 3};
    cr_assert_eq(nvtxt_symtab_set(&symtab, &limits, get("Self")->string, &value), 0);
    is_integer("Self", 3);
    nvtxt_symtab_deinit(&symtab);
}

Test(symtab, refuses_one_variable_too_many_and_keeps_the_others) {
    limits.variables = 100;
    char name[16];
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "V%d", i);
        cr_assert_eq(set_integer(name, i), NVTXT_SYMTAB_SET);
    }
    cr_assert_eq(set_integer("One", 1), NVTXT_SYMTAB_TOO_MANY);
    cr_assert_null(get("One"));
    cr_assert_eq(set_integer("V7", -7), NVTXT_SYMTAB_SET, "old ones may change");
    is_integer("V7", -7);
    is_integer("V99", 99);
    nvtxt_symtab_deinit(&symtab);
}

Test(symtab, refuses_one_byte_too_many_and_keeps_the_old_value) {
    limits.variable_bytes = 10;
    cr_assert_eq(set_string("A", "123456"), NVTXT_SYMTAB_SET);
    cr_assert_eq(set_string("B", "1234"), NVTXT_SYMTAB_SET);
    cr_assert_eq(set_string("B", "12345"), NVTXT_SYMTAB_TOO_LARGE);
    is_string("B", "1234");
    cr_assert_eq(set_string("C", "1"), NVTXT_SYMTAB_TOO_LARGE);
    cr_assert_null(get("C"));
    cr_assert_eq(set_string("C", ""), NVTXT_SYMTAB_SET);
    cr_assert_eq(set_integer("D", 1), NVTXT_SYMTAB_SET, "integers take no bytes");
    cr_assert_eq(set_string("A", "1234"), NVTXT_SYMTAB_SET);
    cr_assert_eq(symtab.string_bytes, 8);
    cr_assert_eq(set_string("B", "123456"), NVTXT_SYMTAB_SET);
    cr_assert_eq(set_integer("A", 1), NVTXT_SYMTAB_SET);
    cr_assert_eq(symtab.string_bytes, 6);
    nvtxt_symtab_deinit(&symtab);
}

// The limit of bytes is there to bound memory, so storage must not outgrow what it counts.
Test(symtab, gives_storage_back_when_a_value_shrinks) {
    char *text = filler(60000);
    set_string("A", text);
    set_string("A", "small");
    cr_assert_lt(symtab.first->string_cap, 100);
    set_string("A", text);
    set_string("A", "");
    cr_assert_lt(symtab.first->string_cap, 100);
    set_string("A", text);
    set_integer("A", 1);
    cr_assert_lt(symtab.first->string_cap, 100);
    is_integer("A", 1);
    set_string("A", text);
    is_string("A", text);
    free(text);
    nvtxt_symtab_deinit(&symtab);
}

Test(symtab, has_a_slot_for_each_static_argument) {
    for (unsigned arg = 0; arg < NVTXT_ARG_COUNT; arg++) {
        cr_assert_null(nvtxt_symtab_static(&symtab, (enum nvtxt_arg)arg));
    }
    for (unsigned arg = 0; arg < NVTXT_ARG_COUNT; arg++) {
        set_integer(nvtxt_args[arg].name.data, 100 + (int)arg);
    }
    for (unsigned arg = 0; arg < NVTXT_ARG_COUNT; arg++) {
        const struct nvtxt_value *value = nvtxt_symtab_static(&symtab, (enum nvtxt_arg)arg);
        cr_assert_not_null(value);
        cr_assert_eq(value->integer, 100 + arg);
        cr_assert_eq(value, get(nvtxt_args[arg].name.data));
    }
    nvtxt_symtab_deinit(&symtab);
    cr_assert_null(nvtxt_symtab_static(&symtab, NVTXT_ARG_TIME));
}

Test(symtab, counts_changes_of_static_arguments_only) {
    uint64_t before = symtab.static_changes;
    set_integer("Other", 1);
    set_integer("time", 1);
    cr_assert_eq(symtab.static_changes, before);
    set_integer("Time", 1);
    cr_assert_neq(symtab.static_changes, before);
    before = symtab.static_changes;
    set_integer("Time", 1);
    cr_assert_neq(symtab.static_changes, before, "storage may have moved");
    before = symtab.static_changes;
    limits.variable_bytes = 0;
    cr_assert_eq(set_string("Time", "x"), NVTXT_SYMTAB_TOO_LARGE);
    cr_assert_eq(symtab.static_changes, before);
    nvtxt_symtab_deinit(&symtab);
}

Test(symtab, keeps_the_order_of_first_assignments) {
    set_integer("C", 1);
    set_integer("A", 1);
    set_integer("B", 1);
    set_integer("C", 2);
    char order[8] = "";
    for (const struct nvtxt_variable *v = symtab.first; v; v = v->next) {
        strncat(order, v->name, v->name_len);
    }
    cr_assert_str_eq(order, "CAB");
    nvtxt_symtab_deinit(&symtab);
}

Test(symtab, counts_what_changed_once) {
    cr_assert_eq(set_string("Name", "text"), 0);
    cr_assert_eq(set_string("Name", "a longer text"), 0);
    cr_assert_eq(set_integer("Other", 7), 0);
    cr_assert_eq(symtab.changed_bytes,
                 strlen("Name") + strlen("a longer text") + strlen("Other") + sizeof(int64_t));
    nvtxt_symtab_settle(&symtab);
    cr_assert_eq(symtab.changed_bytes, 0);
    nvtxt_symtab_deinit(&symtab);
}
