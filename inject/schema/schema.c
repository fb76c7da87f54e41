// SPDX-License-Identifier: Apache-2.0
//
// A copy is one piece of memory: the schema, its entries, then their names. Entries that hold the
// lengths of others get a slot, so that one walk over a payload finds each length again.
#include "inject/schema/schema.h"

#include <stdalign.h>
#include <string.h>
#include <wchar.h>

static size_t name_bytes(const char *name) {
    return name ? strnlen(name, SCHEMA_NAME_MOST) + 1 : 0;
}

// Returns the copy of a name; `*room` goes on after it.
static const char *copy_name(const char *name, char **room) {
    if (!name || !*name) {
        return NULL;
    }
    size_t len = strnlen(name, SCHEMA_NAME_MOST);
    char *copy = *room;
    memcpy(copy, name, len); // the NUL is there: the memory is zeroed
    *room += len + 1;
    return copy;
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

static size_t entry_count(const struct abi_schema *from) {
    uint64_t both = ABI_SCHEMA_HAS_ENTRIES | ABI_SCHEMA_HAS_COUNT;
    bool has_entries = (from->fields & both) == both && from->entries;
    return has_entries ? least(from->count, SCHEMA_ENTRIES_MOST) : 0;
}

size_t schema_bytes(const struct abi_schema *from) {
    if (!from) {
        return 0;
    }
    size_t count = entry_count(from);
    size_t bytes = sizeof(struct schema) + count * sizeof(struct schema_entry);
    for (size_t i = 0; i < count; i++) {
        bytes += name_bytes(from->entries[i].name);
    }
    return bytes;
}

static void give_slots(struct schema *schema) {
    int8_t slots = 0;
    for (size_t i = 0; i < schema->count; i++) {
        const struct schema_entry *entry = &schema->entries[i];
        if (schema_array_of(entry->flags) == ABI_ARRAY_LENGTH_INDEX && entry->detail < i &&
            schema->entries[entry->detail].slot < 0 && slots < SCHEMA_SLOTS) {
            schema->entries[entry->detail].slot = slots++;
        }
    }
}

static enum schema_kind kind_of(const struct abi_schema *from) {
    uint64_t type = from->fields & ABI_SCHEMA_HAS_TYPE ? from->type : ABI_SCHEMA_STATIC;
    bool is_union = type == ABI_SCHEMA_UNION || type == ABI_SCHEMA_UNION_SELECTED;
    return is_union ? SCHEMA_UNION : type == ABI_SCHEMA_DYNAMIC ? SCHEMA_DYNAMIC : SCHEMA_STATIC;
}

struct schema *schema_copy(const struct abi_schema *from, void *memory) {
    struct schema *schema = memory;
    schema->id = from->fields & ABI_SCHEMA_HAS_ID ? from->id : 0;
    schema->kind = kind_of(from);
    schema->size = from->fields & ABI_SCHEMA_HAS_SIZE ? from->size : 0;
    schema->align = from->fields & ABI_SCHEMA_HAS_ALIGN ? from->align : 0;
    schema->count = entry_count(from);
    schema->entries = (struct schema_entry *)(schema + 1);
    char *names = (char *)(schema->entries + schema->count);
    for (size_t i = 0; i < schema->count; i++) {
        const struct abi_entry *entry = &from->entries[i];
        schema->entries[i] = (struct schema_entry){entry->flags,
                                                   entry->type,
                                                   entry->detail,
                                                   entry->offset,
                                                   copy_name(entry->name, &names),
                                                   -1};
    }
    give_slots(schema);
    return schema;
}

static size_t value_count(const struct abi_enum *from) {
    uint64_t both = ABI_ENUM_HAS_ENTRIES | ABI_ENUM_HAS_COUNT;
    bool has_entries = (from->fields & both) == both && from->entries;
    return has_entries ? least(from->count, SCHEMA_ENTRIES_MOST) : 0;
}

size_t schema_enum_bytes(const struct abi_enum *from) {
    if (!from) {
        return 0;
    }
    size_t count = value_count(from);
    size_t bytes = sizeof(struct schema) + count * sizeof(struct schema_value);
    for (size_t i = 0; i < count; i++) {
        bytes += name_bytes(from->entries[i].name);
    }
    return bytes;
}

struct schema *schema_enum_copy(const struct abi_enum *from, void *memory) {
    struct schema *schema = memory;
    schema->id = from->fields & ABI_ENUM_HAS_ID ? from->id : 0;
    schema->kind = SCHEMA_ENUM;
    size_t size = from->fields & ABI_ENUM_HAS_SIZE ? from->size : 0;
    schema->size = size == 1 || size == 2 || size == 8 ? size : sizeof(int);
    schema->count = value_count(from);
    schema->values = (struct schema_value *)(schema + 1);
    char *names = (char *)(schema->values + schema->count);
    for (size_t i = 0; i < schema->count; i++) {
        const struct abi_enumerator *value = &from->entries[i];
        schema->values[i] = (struct schema_value){copy_name(value->name, &names), value->value};
        schema->is_signed = schema->is_signed || (int64_t)value->value < 0;
    }
    return schema;
}

// ---- What is the same ---------------------------------------------------------------------------

static bool is_name(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool entry_equal(const struct schema_entry *a, const struct schema_entry *b) {
    return a->flags == b->flags && a->type == b->type && a->detail == b->detail &&
           a->offset == b->offset && is_name(a->name, b->name);
}

bool schema_equal(const struct schema *a, const struct schema *b) {
    if (a->id != b->id || a->kind != b->kind || a->size != b->size || a->align != b->align ||
        a->count != b->count) {
        return false;
    }
    for (size_t i = 0; i < a->count; i++) {
        bool is_same = a->kind == SCHEMA_ENUM ? a->values[i].value == b->values[i].value &&
                                                    is_name(a->values[i].name, b->values[i].name)
                                              : entry_equal(&a->entries[i], &b->entries[i]);
        if (!is_same) {
            return false;
        }
    }
    return true;
}

static uint64_t mixed(uint64_t hash, uint64_t value) {
    return (hash ^ value) * 0x9E3779B97F4A7C15u + (hash >> 29);
}

static uint64_t mixed_name(uint64_t hash, const char *name) {
    for (; name && *name; name++) {
        hash = mixed(hash, (unsigned char)*name);
    }
    return mixed(hash, 256);
}

uint64_t schema_hash(const struct schema *schema) {
    uint64_t hash = mixed(mixed(schema->id, (uint64_t)schema->kind), schema->size);
    for (size_t i = 0; i < schema->count; i++) {
        if (schema->kind == SCHEMA_ENUM) {
            hash = mixed_name(mixed(hash, schema->values[i].value), schema->values[i].name);
        } else {
            const struct schema_entry *entry = &schema->entries[i];
            hash = mixed(mixed(hash, entry->flags), entry->type);
            hash = mixed_name(mixed(mixed(hash, entry->detail), entry->offset), entry->name);
        }
    }
    return hash;
}

// ---- NVTX's types -------------------------------------------------------------------------------

#define SHAPE(type)                                                                                \
    { sizeof(type), alignof(type) }

struct schema_shape schema_type_shape(uint64_t type) {
    static const struct schema_shape shapes[] = {
        [ABI_TYPE_CHAR] = SHAPE(char),
        [ABI_TYPE_UCHAR] = SHAPE(unsigned char),
        [ABI_TYPE_SHORT] = SHAPE(short),
        [ABI_TYPE_USHORT] = SHAPE(unsigned short),
        [ABI_TYPE_INT] = SHAPE(int),
        [ABI_TYPE_UINT] = SHAPE(unsigned),
        [ABI_TYPE_LONG] = SHAPE(long),
        [ABI_TYPE_ULONG] = SHAPE(unsigned long),
        [ABI_TYPE_LONG_LONG] = SHAPE(long long),
        [ABI_TYPE_ULONG_LONG] = SHAPE(unsigned long long),
        [ABI_TYPE_INT8] = SHAPE(int8_t),
        [ABI_TYPE_UINT8] = SHAPE(uint8_t),
        [ABI_TYPE_INT16] = SHAPE(int16_t),
        [ABI_TYPE_UINT16] = SHAPE(uint16_t),
        [ABI_TYPE_INT32] = SHAPE(int32_t),
        [ABI_TYPE_UINT32] = SHAPE(uint32_t),
        [ABI_TYPE_INT64] = SHAPE(int64_t),
        [ABI_TYPE_UINT64] = SHAPE(uint64_t),
        [ABI_TYPE_FLOAT] = SHAPE(float),
        [ABI_TYPE_DOUBLE] = SHAPE(double),
        [ABI_TYPE_LONG_DOUBLE] = SHAPE(long double),
        [ABI_TYPE_SIZE] = SHAPE(size_t),
        [ABI_TYPE_ADDRESS] = SHAPE(void *),
        [ABI_TYPE_WCHAR] = SHAPE(wchar_t),
        [ABI_TYPE_CHAR8] = SHAPE(char),
        [ABI_TYPE_CHAR16] = SHAPE(uint16_t),
        [ABI_TYPE_CHAR32] = SHAPE(uint32_t),
        [ABI_TYPE_BYTE] = SHAPE(uint8_t),
        [ABI_TYPE_INT128] = {16, 16},
        [ABI_TYPE_UINT128] = {16, 16},
        [ABI_TYPE_FLOAT16] = SHAPE(uint16_t),
        [ABI_TYPE_FLOAT32] = SHAPE(float),
        [ABI_TYPE_FLOAT64] = SHAPE(double),
        [ABI_TYPE_FLOAT128] = {16, 16},
        [ABI_TYPE_BF16] = SHAPE(uint16_t),
        [ABI_TYPE_TF32] = SHAPE(float),
        [ABI_TYPE_RANGE_ID] = SHAPE(uint64_t),
        [ABI_TYPE_CATEGORY] = SHAPE(uint32_t),
        [ABI_TYPE_COLOR] = SHAPE(uint32_t),
        [ABI_TYPE_SCOPE] = SHAPE(uint64_t),
        [ABI_TYPE_PID32] = SHAPE(uint32_t),
        [ABI_TYPE_PID64] = SHAPE(uint64_t),
        [ABI_TYPE_TID32] = SHAPE(uint32_t),
        [ABI_TYPE_TID64] = SHAPE(uint64_t),
        [ABI_TYPE_STRING] = SHAPE(char),
        [ABI_TYPE_STRING_UTF8] = SHAPE(char),
        [ABI_TYPE_STRING_UTF16] = SHAPE(uint16_t),
        [ABI_TYPE_STRING_UTF32] = SHAPE(uint32_t),
        [ABI_TYPE_REGISTERED_STRING] = SHAPE(void *),
    };
    return type < sizeof(shapes) / sizeof(*shapes) ? shapes[type] : (struct schema_shape){0};
}
