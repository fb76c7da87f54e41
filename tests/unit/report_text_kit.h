// SPDX-License-Identifier: Apache-2.0
//
// A message with a field of each type, and what was read as text again, for tests of the text
// format.
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "protocol/base/json.h"
#include "report/text/parse.h"

struct kit_inner {
    struct report_place at;
    struct report_scalar name;
    struct report_list inners;
};

struct kit_message {
    struct report_place at;
    struct report_scalar name, order, size, ratio, show, kind, arch, widget;
    struct report_list names, orders, sizes, ratios, shows, kinds, arches, inners;
    struct kit_inner *inner;
};

static const struct report_enum_value kit_kinds[] = {
    {"RowMajor", 0}, {"ColumnMajor", 1}, {"Negative", -5}, {0}};

static const struct report_message_type kit_inner_type;
static const struct report_field kit_inner_fields[] = {
    {"Name", 1, REPORT_FIELD_STRING, true, false, offsetof(struct kit_inner, name), {NULL}},
    {"Inners",
     2,
     REPORT_FIELD_MESSAGE,
     false,
     true,
     offsetof(struct kit_inner, inners),
     {&kit_inner_type}},
};
static const struct report_message_type kit_inner_type = {
    "Inner", sizeof(struct kit_inner), kit_inner_fields,
    sizeof(kit_inner_fields) / sizeof(kit_inner_fields[0])};

#define KIT_FIELD(name, type, repeated, member, ...)                                               \
    {                                                                                              \
        name, 0, REPORT_FIELD_##type, false, repeated, offsetof(struct kit_message, member), {     \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define KIT_VALUES(list) .values = list

static const struct report_field kit_fields[] = {
    {"Name", 1, REPORT_FIELD_STRING, true, false, offsetof(struct kit_message, name), {NULL}},
    KIT_FIELD("Order", UINT32, false, order, NULL),
    KIT_FIELD("Size", INT64, false, size, NULL),
    KIT_FIELD("Ratio", DOUBLE, false, ratio, NULL),
    KIT_FIELD("Show", BOOL, false, show, NULL),
    KIT_FIELD("Kind", ENUM, false, kind, .values = kit_kinds),
    KIT_FIELD("Arch", ARCH, false, arch, NULL),
    KIT_FIELD("Widget", SKIPPED, false, widget, NULL),
    KIT_FIELD("Names", STRING, true, names, NULL),
    KIT_FIELD("Orders", UINT32, true, orders, NULL),
    KIT_FIELD("Sizes", INT64, true, sizes, NULL),
    KIT_FIELD("Ratios", DOUBLE, true, ratios, NULL),
    KIT_FIELD("Shows", BOOL, true, shows, NULL),
    KIT_FIELD("Kinds", ENUM, true, kinds, .values = kit_kinds),
    KIT_FIELD("Arches", ARCH, true, arches, NULL),
    KIT_FIELD("Inners", MESSAGE, true, inners, .message = &kit_inner_type),
    KIT_FIELD("Inner", MESSAGE, false, inner, .message = &kit_inner_type),
};
static const struct report_message_type kit_type = {"Test", sizeof(struct kit_message), kit_fields,
                                                    sizeof(kit_fields) / sizeof(kit_fields[0])};

static void kit_dump(struct nvtxt_buf *out, const struct report_message_type *type,
                     const void *message, unsigned depth);

static void kit_place(struct nvtxt_buf *out, struct report_place at) {
    char text[32];
    snprintf(text, sizeof(text), " # %u:%u\n", at.line, at.column);
    nvtxt_buf_add_string(out, text);
}

static void kit_value(struct nvtxt_buf *out, const struct report_field *field, const void *value,
                      unsigned depth) {
    const struct report_scalar *scalar = value;
    char text[64];
    for (unsigned i = 0; i < depth; i++) {
        nvtxt_buf_add_string(out, "  ");
    }
    nvtxt_buf_add_string(out, field->name);
    nvtxt_buf_add_string(out, field->type == REPORT_FIELD_MESSAGE ? " {" : ": ");
    switch (field->type) {
    case REPORT_FIELD_STRING:
        nvtxt_buf_add_json_string(out, scalar->text);
        break;
    case REPORT_FIELD_DOUBLE:
        snprintf(text, sizeof(text), "%.17g", scalar->real);
        nvtxt_buf_add_string(out, text);
        break;
    case REPORT_FIELD_MESSAGE:
    case REPORT_FIELD_SKIPPED:
        break;
    default:
        nvtxt_buf_add_int(out, scalar->integer);
    }
    kit_place(out, scalar->at); // a message begins with it too
    if (field->type == REPORT_FIELD_MESSAGE) {
        kit_dump(out, field->message, value, depth + 1);
    }
}

// Every value with its place; in order of the table.
static void kit_dump(struct nvtxt_buf *out, const struct report_message_type *type,
                     const void *message, unsigned depth) {
    for (size_t at = 0; at < type->field_count; at++) {
        const struct report_field *field = &type->fields[at];
        const char *member = (const char *)message + field->offset;
        const struct report_list *list = (const struct report_list *)(const void *)member;
        for (size_t i = 0; field->repeated && i < list->count; i++) {
            kit_value(out, field, list->items[i], depth);
        }
        const void *value = field->type == REPORT_FIELD_MESSAGE
                                ? *(void *const *)(const void *)member
                                : (const void *)member;
        if (!field->repeated && value && ((const struct report_scalar *)value)->at.line > 0) {
            kit_value(out, field, value, depth);
        }
    }
}
