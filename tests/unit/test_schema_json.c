// SPDX-License-Identifier: Apache-2.0
//
// Payloads by their schemas as JSON: each type, each kind of array, nesting, what is missing, what
// is too long or too deep. Payloads lie in memory of exactly their size, so that AddressSanitizer
// sees each byte read behind them; each is also cut at every byte.
#include "inject/schema/schema_json.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>

#include "tests/unit/schema_kit.h"

#define ID(n) (UINT64_C(0x1000000) + (n))
#define ARRAY(kind) ((uint64_t)ABI_ARRAY_##kind << ABI_ENTRY_ARRAY_SHIFT)
#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define ALL_FIELDS UINT64_MAX
#define SCHEMA(number, kind, ...)                                                                  \
    do {                                                                                           \
        const struct abi_entry entries_[] = {__VA_ARGS__};                                         \
        kit_add(&kit, &(struct abi_schema){.fields = ALL_FIELDS,                                   \
                                           .type = ABI_SCHEMA_##kind,                              \
                                           .entries = entries_,                                    \
                                           .count = COUNT(entries_),                               \
                                           .id = ID(number)});                                     \
    } while (0)

static struct kit kit;
static struct schema_event event;
static char text[SCHEMA_JSON_MOST + 1];
static bool is_whole;

static void set_up(void) {
    kit_init(&kit);
}
static void tear_down(void) {
    kit_free(&kit);
}
TestSuite(schema_json, .init = set_up, .fini = tear_down);

static const char *json_of(const struct abi_payload *payloads, size_t count, size_t room) {
    struct json_out out = {text, room, 0, false};
    memset(&event, 0, sizeof(event));
    is_whole = schema_json(&out, &kit.world, payloads, count, &event);
    cr_assert(!out.is_full);
    cr_assert_leq(out.len, room);
    text[out.len] = '\0';
    size_t at;
    if (out.len > 0 && nvtxt_json_fault((struct nvtxt_slice){text, out.len}, &at)) {
        cr_assert_fail("no JSON: %s", text);
    }
    return text;
}

// One payload, from memory of exactly its size.
static const char *json(uint64_t schema, const void *data, size_t size) {
    void *exact = malloc(size ? size : 1);
    memcpy(exact, data, size);
    for (size_t cut = 0; cut < size && size < 300; cut++) {
        void *less = malloc(cut ? cut : 1);
        memcpy(less, data, cut);
        json_of(&(struct abi_payload){schema, cut, less}, 1, SCHEMA_JSON_MOST);
        free(less);
    }
    json_of(&(struct abi_payload){schema, size, exact}, 1, SCHEMA_JSON_MOST);
    free(exact);
    return text;
}

#define JSON(schema, value) json(schema, &(value), sizeof(value))
#define IS(schema, value, expected) cr_expect_str_eq(JSON(schema, value), expected)
#define TYPE_IS(type, ctype, value, expected)                                                      \
    do {                                                                                           \
        ctype value_ = value;                                                                      \
        IS(type, value_, expected);                                                                \
    } while (0)

Test(schema_json, writes_integers_of_all_types) {
    TYPE_IS(ABI_TYPE_CHAR, char, 65, "65");
    TYPE_IS(ABI_TYPE_UCHAR, unsigned char, 255, "255");
    TYPE_IS(ABI_TYPE_SHORT, short, -32768, "-32768");
    TYPE_IS(ABI_TYPE_USHORT, unsigned short, 65535, "65535");
    TYPE_IS(ABI_TYPE_INT, int, -1, "-1");
    TYPE_IS(ABI_TYPE_UINT, unsigned, 4294967295u, "4294967295");
    TYPE_IS(ABI_TYPE_LONG, long, -5, "-5");
    TYPE_IS(ABI_TYPE_ULONG_LONG, unsigned long long, UINT64_MAX, "18446744073709551615");
    TYPE_IS(ABI_TYPE_INT8, int8_t, -128, "-128");
    TYPE_IS(ABI_TYPE_UINT8, uint8_t, 200, "200");
    TYPE_IS(ABI_TYPE_INT16, int16_t, -2, "-2");
    TYPE_IS(ABI_TYPE_UINT16, uint16_t, 2, "2");
    TYPE_IS(ABI_TYPE_INT32, int32_t, INT32_MIN, "-2147483648");
    TYPE_IS(ABI_TYPE_INT64, int64_t, INT64_MIN, "-9223372036854775808");
    TYPE_IS(ABI_TYPE_UINT64, uint64_t, 0, "0");
    TYPE_IS(ABI_TYPE_SIZE, size_t, 12, "12");
    TYPE_IS(ABI_TYPE_PID32, uint32_t, 4711, "4711");
    TYPE_IS(ABI_TYPE_TID64, uint64_t, 4712, "4712");
    TYPE_IS(ABI_TYPE_RANGE_ID, uint64_t, 3, "3");
}

Test(schema_json, writes_integers_of_128_bits) {
    const uint64_t most[] = {UINT64_MAX, UINT64_MAX};
    IS(ABI_TYPE_UINT128, most, "340282366920938463463374607431768211455");
    IS(ABI_TYPE_INT128, most, "-1");
    const uint64_t least[] = {0, UINT64_C(1) << 63};
    IS(ABI_TYPE_INT128, least, "-170141183460469231731687303715884105728");
    const uint64_t ten[] = {0, 10};
    IS(ABI_TYPE_UINT128, ten, "184467440737095516160");
}

Test(schema_json, writes_floats_that_are_read_back_as_the_same) {
    TYPE_IS(ABI_TYPE_DOUBLE, double, 0.1, "0.1");
    TYPE_IS(ABI_TYPE_FLOAT64, double, 1e300, "1e+300");
    TYPE_IS(ABI_TYPE_DOUBLE, double, 5e-324, "4.94065645841247e-324");
    TYPE_IS(ABI_TYPE_DOUBLE, double, 0.1 + 0.2, "0.30000000000000004");
    TYPE_IS(ABI_TYPE_FLOAT, float, 0.1f, "0.1");
    TYPE_IS(ABI_TYPE_TF32, float, 16777216.0f, "16777216");
    TYPE_IS(ABI_TYPE_DOUBLE, double, NAN, "null");
    TYPE_IS(ABI_TYPE_FLOAT, float, INFINITY, "9e999");
    TYPE_IS(ABI_TYPE_DOUBLE, double, -INFINITY, "-9e999");
    TYPE_IS(ABI_TYPE_LONG_DOUBLE, long double, 2.5L, "2.5");
    TYPE_IS(ABI_TYPE_FLOAT16, uint16_t, 0x3C00, "1");
    TYPE_IS(ABI_TYPE_FLOAT16, uint16_t, 0xC100, "-2.5");
    TYPE_IS(ABI_TYPE_FLOAT16, uint16_t, 0x0001, "5.9604645e-08");
    TYPE_IS(ABI_TYPE_FLOAT16, uint16_t, 0x7C00, "9e999");
    TYPE_IS(ABI_TYPE_FLOAT16, uint16_t, 0x7E00, "null");
    TYPE_IS(ABI_TYPE_BF16, uint16_t, 0x4049, "3.140625");
}

Test(schema_json, writes_short_decimals_as_such) {
    TYPE_IS(ABI_TYPE_DOUBLE, double, 0.0, "0");
    TYPE_IS(ABI_TYPE_DOUBLE, double, -0.0, "-0");
    TYPE_IS(ABI_TYPE_DOUBLE, double, -12.5, "-12.5");
    TYPE_IS(ABI_TYPE_DOUBLE, double, 0.000001, "0.000001");
    TYPE_IS(ABI_TYPE_DOUBLE, double, -0.05, "-0.05");
    TYPE_IS(ABI_TYPE_DOUBLE, double, 1000000, "1000000");
    TYPE_IS(ABI_TYPE_DOUBLE, double, 8999999999.123456, "8999999999.123456");
    TYPE_IS(ABI_TYPE_DOUBLE, double, 9000000001.5, "9000000001.5");
    TYPE_IS(ABI_TYPE_DOUBLE, double, 0.1234567, "0.1234567");
    TYPE_IS(ABI_TYPE_FLOAT, float, -99.25f, "-99.25");
    TYPE_IS(ABI_TYPE_FLOAT, float, 3.14159274f, "3.1415927");
}

static double random_double(void) {
    uint64_t bits = (uint64_t)random() << 42 ^ (uint64_t)random() << 21 ^ (uint64_t)random();
    double value;
    memcpy(&value, &bits, sizeof(value));
    return random() % 2 ? value : (double)(random() % 2000000000 - 1000000000) / 1e4;
}

Test(schema_json, writes_floats_so_that_they_are_read_back) {
    for (int i = 0; i < 20000; i++) {
        double value = random_double();
        float single = (float)value;
        char digits[48] = {0};
        struct json_out out = {digits, sizeof(digits) - 1, 0, false};
        if (isfinite(value)) {
            json_out_f64(&out, value);
            cr_assert_eq(strtod(digits, NULL), value, "%s", digits);
        }
        memset(digits, 0, sizeof(digits));
        out.len = 0;
        if (isfinite(single)) {
            json_out_f32(&out, single);
            cr_assert_eq(strtof(digits, NULL), single, "%s", digits);
        }
    }
}

Test(schema_json, writes_floats_of_128_bits) {
    const uint64_t half[] = {0, UINT64_C(0x3FFE) << 48},
                   minus_ten[] = {0, UINT64_C(0xC002400000000000)};
    const uint64_t infinite[] = {0, UINT64_C(0x7FFF) << 48}, none[] = {1, UINT64_C(0x7FFF) << 48};
    const uint64_t zero[] = {0, 0};
    IS(ABI_TYPE_FLOAT128, half, "0.5");
    IS(ABI_TYPE_FLOAT128, minus_ten, "-10");
    IS(ABI_TYPE_FLOAT128, infinite, "9e999");
    IS(ABI_TYPE_FLOAT128, none, "null");
    IS(ABI_TYPE_FLOAT128, zero, "0");
}

Test(schema_json, writes_a_full_stop_in_every_locale) {
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8")) {
        cr_skip_test("no locale with a decimal comma");
    }
    TYPE_IS(ABI_TYPE_DOUBLE, double, 1.5, "1.5");
    TYPE_IS(ABI_TYPE_FLOAT, float, 0.25f, "0.25");
}

Test(schema_json, writes_addresses_characters_and_bytes) {
    TYPE_IS(ABI_TYPE_ADDRESS, void *, (void *)0x1F, "\"0x1f\"");
    TYPE_IS(ABI_TYPE_ADDRESS, void *, NULL, "null");
    TYPE_IS(ABI_TYPE_CHAR8, char, 'x', "\"x\"");
    TYPE_IS(ABI_TYPE_CHAR16, uint16_t, 0x20AC, "\"€\"");
    TYPE_IS(ABI_TYPE_CHAR32, uint32_t, 0x1F600, "\"😀\"");
    TYPE_IS(ABI_TYPE_WCHAR, wchar_t, L'"', "\"\\\"\"");
    TYPE_IS(ABI_TYPE_BYTE, uint8_t, 0xAB, "\"ab\"");
}

Test(schema_json, writes_what_is_registered_by_its_name) {
    TYPE_IS(ABI_TYPE_REGISTERED_STRING, uint64_t, 7, "\"regis\\\"tered\"");
    TYPE_IS(ABI_TYPE_REGISTERED_STRING, uint64_t, 8, "\"0x8\"");
    TYPE_IS(ABI_TYPE_REGISTERED_STRING, uint64_t, 0, "null");
    TYPE_IS(ABI_TYPE_SCOPE, uint64_t, 99, "\"node/gpu\"");
    TYPE_IS(ABI_TYPE_SCOPE, uint64_t, 1, "1");
}

Test(schema_json, takes_several_values_of_a_type_as_an_array) {
    const int32_t three[] = {1, -2, 3};
    IS(ABI_TYPE_INT32, three, "[1,-2,3]");
    IS(ABI_TYPE_CHAR, "text\n", "\"text\\n\"");
    IS(ABI_TYPE_BYTE, "\x01\xFF", "\"01ff00\"");
}

Test(schema_json, takes_texts_with_and_without_an_end) {
    cr_expect_str_eq(json(ABI_TYPE_STRING, "ab\0c", 4), "\"ab\"");
    cr_expect_str_eq(json(ABI_TYPE_STRING_UTF8, "\x1F\\é", 4), "\"\\u001f\\\\é\"");
    cr_expect_str_eq(json(ABI_TYPE_STRING_UTF16, (uint16_t[]){'h', 0x20AC}, 4), "\"h€\"");
    cr_expect_str_eq(json(ABI_TYPE_STRING_UTF32, (uint32_t[]){'h', 0, 'x'}, 12), "\"h\"");
    struct abi_payload payload = {ABI_TYPE_STRING, SIZE_MAX, "no size"};
    cr_expect_str_eq(json_of(&payload, 1, SCHEMA_JSON_MOST), "\"no size\"");
}

Test(schema_json, lays_members_out_as_a_compiler_does) {
    struct {
        char c;
        double d;
        int16_t s;
        int64_t l;
    } value = {1, 2.5, -3, 4};
    SCHEMA(1, STATIC, {.type = ABI_TYPE_CHAR, .name = "c"}, {.type = ABI_TYPE_DOUBLE, .name = "d"},
           {.type = ABI_TYPE_INT16, .name = "s"}, {.type = ABI_TYPE_INT64, .name = "l"});
    IS(ID(1), value, "{\"c\":1,\"d\":2.5,\"s\":-3,\"l\":4}");
}

Test(schema_json, packs_members_when_the_schema_says_so) {
    struct __attribute__((packed, aligned(2))) {
        char c;
        char fill;
        int32_t i;
        int64_t l;
    } value = {1, 0, 2, 3};
    const struct abi_entry entries[] = {{.type = ABI_TYPE_CHAR, .name = "c"},
                                        {.type = ABI_TYPE_INT32, .name = "i"},
                                        {.type = ABI_TYPE_INT64, .name = "l"}};
    kit_add(&kit, &(struct abi_schema){.fields = ALL_FIELDS,
                                       .type = ABI_SCHEMA_STATIC,
                                       .entries = entries,
                                       .count = 3,
                                       .align = 2,
                                       .id = ID(1)});
    IS(ID(1), value, "{\"c\":1,\"i\":2,\"l\":3}");
}

Test(schema_json, takes_offsets_that_are_given) {
    const int32_t values[] = {1, 2, 3, 4};
    SCHEMA(1, STATIC, {.type = ABI_TYPE_INT32, .name = "last", .offset = 12},
           {.type = ABI_TYPE_INT32, .name = "second", .offset = 4},
           {.type = ABI_TYPE_INT32, .name = "third"});
    IS(ID(1), values, "{\"last\":4,\"second\":2,\"third\":3}");
}

Test(schema_json, names_members_without_a_name_by_their_number) {
    const int32_t values[] = {1, 2, 3};
    SCHEMA(1, STATIC, {.type = ABI_TYPE_INT32}, {.type = ABI_TYPE_INT32, .name = ""},
           {.type = ABI_TYPE_INT32, .name = "\"\n"});
    IS(ID(1), values, "{\"0\":1,\"1\":2,\"\\\"\\n\":3}");
}

Test(schema_json, heeds_the_mask_of_fields) {
    const struct abi_entry entries[] = {{.type = ABI_TYPE_INT32, .name = "a"}};
    const int32_t value = 5;
    kit_add(&kit, &(struct abi_schema){.fields = ABI_SCHEMA_HAS_ENTRIES | ABI_SCHEMA_HAS_COUNT |
                                                 ABI_SCHEMA_HAS_ID,
                                       .type = ABI_SCHEMA_UNION,
                                       .entries = entries,
                                       .count = 1,
                                       .id = ID(1)});
    IS(ID(1), value, "{\"a\":5}");
    kit_add(&kit, &(struct abi_schema){.fields = ABI_SCHEMA_HAS_ENTRIES | ABI_SCHEMA_HAS_ID,
                                       .entries = entries,
                                       .count = 1,
                                       .id = ID(2)});
    IS(ID(2), value, "{}");
}

// ---- Nesting, enums, unions ---------------------------------------------------------------------

Test(schema_json, nests_schemas_and_arrays_of_them) {
    struct point {
        float x, y;
    };
    struct {
        char tag;
        struct point one, many[2];
        char end;
    } value = {'t', {1, 2}, {{3, 4}, {5, 6.5f}}, 'e'};
    SCHEMA(1, STATIC, {.type = ABI_TYPE_FLOAT, .name = "x"}, {.type = ABI_TYPE_FLOAT, .name = "y"});
    SCHEMA(2, STATIC, {.type = ABI_TYPE_CHAR8, .name = "tag"}, {.type = ID(1), .name = "one"},
           {.type = ID(1), .name = "many", .flags = ARRAY(FIXED), .detail = 2},
           {.type = ABI_TYPE_CHAR8, .name = "end"});
    IS(ID(2), value,
       "{\"tag\":\"t\",\"one\":{\"x\":1,\"y\":2},\"many\":[{\"x\":3,\"y\":4},{\"x\":5,\"y\":6.5}],"
       "\"end\":\"e\"}");
}

Test(schema_json, keeps_an_unknown_number_and_what_stands_at_known_places) {
    const int32_t values[] = {1, 2, 3, 4};
    SCHEMA(1, STATIC, {.type = ABI_TYPE_INT32, .name = "a"}, {.type = ID(9), .name = "b"},
           {.type = ABI_TYPE_INT32, .name = "lost"},
           {.type = ABI_TYPE_INT32, .name = "d", .offset = 12});
    IS(ID(1), values, "{\"a\":1,\"b\":{\"schema\":16777225},\"d\":4}");
    IS(ID(9), values, "{\"schema\":16777225}");
    IS(UINT64_C(1) << 40, values, "{\"schema\":1099511627776}");
    IS(0, values, "{\"schema\":0}");
    IS(29, values, "{\"schema\":29}");
}

Test(schema_json, writes_enums_by_name_else_by_number) {
    const struct abi_enumerator small[] = {{"red", 1, 0}, {"blue", 2, 0}, {NULL, 3, 0}};
    const struct abi_enumerator negative[] = {{"none", (uint64_t)-1, 0}, {"some", 1, 0}};
    kit_add_enum(&kit, &(struct abi_enum){ALL_FIELDS, "color", small, 3, 1, ID(1), NULL});
    kit_add_enum(&kit, &(struct abi_enum){ALL_FIELDS, "sign", negative, 2, 4, ID(2), NULL});
    kit_add_enum(&kit, &(struct abi_enum){ALL_FIELDS, "odd", negative, 2, 3, ID(3), NULL});
    TYPE_IS(ID(1), uint8_t, 2, "\"blue\"");
    TYPE_IS(ID(1), uint8_t, 3, "3");
    TYPE_IS(ID(1), uint8_t, 255, "255");
    TYPE_IS(ID(2), int32_t, -1, "\"none\"");
    TYPE_IS(ID(2), int32_t, -7, "-7");
    TYPE_IS(ID(3), int32_t, 1, "\"some\"");
    SCHEMA(4, STATIC, {.type = ID(1), .name = "each", .flags = ARRAY(FIXED), .detail = 3},
           {.type = ID(2), .name = "sign"});
    struct {
        uint8_t each[3];
        int32_t sign;
    } value = {{1, 2, 4}, -1};
    IS(ID(4), value, "{\"each\":[\"red\",\"blue\",4],\"sign\":\"none\"}");
}

Test(schema_json, writes_unions_and_raw_payloads_as_hex) {
    SCHEMA(1, UNION, {.type = ABI_TYPE_INT32, .name = "i"}, {.type = ABI_TYPE_DOUBLE, .name = "d"});
    SCHEMA(2, STATIC, {.type = ABI_TYPE_INT32, .name = "which"},
           {.type = ID(1), .name = "u", .detail = 0}, {.type = ABI_TYPE_UINT8, .name = "end"});
    struct {
        int32_t which;
        union {
            int32_t i;
            double d;
        } u;
        uint8_t end;
    } value = {0, {.d = 1.0}, 7};
    IS(ID(2), value, "{\"which\":0,\"u\":{\"raw\":\"000000000000f03f\"},\"end\":7}");
    IS(ID(1), value.u, "{\"raw\":\"000000000000f03f\"}");
    cr_expect_str_eq(json(ABI_TYPE_RAW, "\x01\x02", 2), "{\"raw\":\"0102\"}");
    struct abi_payload endless = {ABI_TYPE_RAW, SIZE_MAX, "x"};
    cr_expect_str_eq(json_of(&endless, 1, SCHEMA_JSON_MOST), "{\"schema\":1023}");
}

// ---- Arrays -------------------------------------------------------------------------------------

Test(schema_json, takes_arrays_of_a_fixed_length) {
    struct {
        int16_t three[3];
        char name[8];
        uint8_t bytes[2];
        uint64_t none[1];
    } value = {{1, 2, 3}, "job", {0xDE, 0xAD}, {9}};
    SCHEMA(1, STATIC, {.type = ABI_TYPE_INT16, .name = "three", .flags = ARRAY(FIXED), .detail = 3},
           {.type = ABI_TYPE_CHAR, .name = "name", .flags = ARRAY(FIXED), .detail = 8},
           {.type = ABI_TYPE_BYTE, .name = "bytes", .flags = ARRAY(FIXED), .detail = 2},
           {.type = ABI_TYPE_UINT64, .name = "none", .flags = ARRAY(FIXED), .detail = 0});
    IS(ID(1), value, "{\"three\":[1,2,3],\"name\":\"job\",\"bytes\":\"dead\",\"none\":[]}");
}

Test(schema_json, takes_arrays_that_a_zero_ends) {
    struct __attribute__((packed)) {
        uint16_t values[4];
        uint32_t after;
    } value = {{5, 6, 7, 0}, 8};
    SCHEMA(1, DYNAMIC, {.type = ABI_TYPE_UINT16, .name = "values", .flags = ARRAY(ZERO_TERMINATED)},
           {.type = ABI_TYPE_UINT32, .name = "after"});
    IS(ID(1), value, "{\"values\":[5,6,7],\"after\":8}");
    const uint16_t endless[] = {1, 2};
    IS(ID(1), endless, "{\"values\":[1,2]}");
    const uint16_t empty[] = {0, 0, 3, 0};
    IS(ID(1), empty, "{\"values\":[],\"after\":3}");
}

Test(schema_json, takes_arrays_whose_length_is_an_entry) {
    struct {
        uint8_t count;
        int32_t values[3];
        char after;
    } value = {3, {10, 20, 30}, 'z'};
    SCHEMA(1, DYNAMIC, {.type = ABI_TYPE_UINT8, .name = "count"},
           {.type = ABI_TYPE_INT32, .name = "values", .flags = ARRAY(LENGTH_INDEX), .detail = 0},
           {.type = ABI_TYPE_CHAR8, .name = "after"});
    IS(ID(1), value, "{\"count\":3,\"values\":[10,20,30],\"after\":\"z\"}");
    value.count = 0;
    IS(ID(1), value, "{\"count\":0,\"values\":[],\"after\":\"\\n\"}");
    value.count = 200;
    cr_expect_str_eq(json(ID(1), &value, 18), "{\"count\":200,\"values\":[10,20,30]}");
}

Test(schema_json, takes_negative_lengths_as_0) {
    const int32_t value[] = {-1, 2};
    SCHEMA(1, DYNAMIC, {.type = ABI_TYPE_INT32, .name = "n"},
           {.type = ABI_TYPE_INT8, .name = "v", .flags = ARRAY(LENGTH_INDEX), .detail = 0},
           {.type = ABI_TYPE_INT32, .name = "after"});
    IS(ID(1), value, "{\"n\":-1,\"v\":[],\"after\":2}");
}

Test(schema_json, takes_arrays_of_several_dimensions) {
    struct {
        uint32_t size[2];
        uint8_t values[6];
    } value = {{2, 3}, {1, 2, 3, 4, 5, 6}};
    SCHEMA(1, DYNAMIC,
           {.type = ABI_TYPE_UINT32, .name = "size", .flags = ARRAY(FIXED), .detail = 2},
           {.type = ABI_TYPE_UINT8, .name = "v", .flags = ARRAY(LENGTH_INDEX), .detail = 0});
    IS(ID(1), value, "{\"size\":[2,3],\"v\":[[1,2,3],[4,5,6]]}");
    value.size[0] = 9;
    cr_expect_str_eq(json(ID(1), &value, 14), "{\"size\":[9,3],\"v\":[[1,2,3],[4,5,6]]}");
    const uint16_t ended[] = {1, 2, 0, 7, 8};
    SCHEMA(2, DYNAMIC, {.type = ABI_TYPE_UINT16, .name = "n", .flags = ARRAY(ZERO_TERMINATED)},
           {.type = ABI_TYPE_UINT16, .name = "v", .flags = ARRAY(LENGTH_INDEX), .detail = 0});
    IS(ID(2), ended, "{\"n\":[1,2],\"v\":[[7,8]]}");
}

Test(schema_json, leaves_out_arrays_whose_length_is_none) {
    const int32_t value[] = {1, 2, 3};
    SCHEMA(1, DYNAMIC, {.type = ABI_TYPE_FLOAT, .name = "f"},
           {.type = ABI_TYPE_INT32, .name = "by_float", .flags = ARRAY(LENGTH_INDEX), .detail = 0});
    IS(ID(1), value, "{\"f\":1.4013e-45}");
    SCHEMA(2, DYNAMIC, {.type = ABI_TYPE_INT32, .name = "n"},
           {.type = ABI_TYPE_INT32, .name = "by_later", .flags = ARRAY(LENGTH_INDEX), .detail = 2},
           {.type = ABI_TYPE_INT32, .name = "m"});
    IS(ID(2), value, "{\"n\":1}");
    SCHEMA(
        3, DYNAMIC,
        {.type = ABI_TYPE_INT32, .name = "by_nobody", .flags = ARRAY(LENGTH_INDEX), .detail = 77});
    IS(ID(3), value, "{}");
}

Test(schema_json, takes_lengths_of_another_payload) {
    const double values[] = {1, 2, 3, 4};
    const uint32_t sizes[] = {2, 2};
    const uint8_t count = 3;
    SCHEMA(1, DYNAMIC,
           {.type = ABI_TYPE_DOUBLE, .name = "v", .flags = ARRAY(LENGTH_PAYLOAD), .detail = 1});
    SCHEMA(2, STATIC, {.type = ABI_TYPE_UINT32, .name = "n", .flags = ARRAY(FIXED), .detail = 2});
    struct abi_payload both[] = {{ID(1), sizeof(values), values}, {ID(2), sizeof(sizes), sizes}};
    cr_expect_str_eq(json_of(both, 2, SCHEMA_JSON_MOST), "[{\"v\":[[1,2],[3,4]]},{\"n\":[2,2]}]");
    both[1] = (struct abi_payload){ABI_TYPE_UINT8, 1, &count};
    cr_expect_str_eq(json_of(both, 2, SCHEMA_JSON_MOST), "[{\"v\":[1,2,3]},3]");
    cr_expect_str_eq(json_of(both, 1, SCHEMA_JSON_MOST), "{}");
    both[1].data = NULL;
    cr_expect_str_eq(json_of(both, 2, SCHEMA_JSON_MOST), "[{},null]");
}

// ---- Texts in schemas ---------------------------------------------------------------------------

Test(schema_json, takes_texts_of_every_kind) {
    struct {
        char fixed[6];
        uint8_t length;
        char counted[3];
        char ended[5];
        char array[3][2];
    } value = {"abc", 3, {'x', 'y', 'z'}, "end", {"p", "q", ""}};
    SCHEMA(
        1, DYNAMIC, {.type = ABI_TYPE_STRING, .name = "fixed", .detail = 6},
        {.type = ABI_TYPE_UINT8, .name = "n"},
        {.type = ABI_TYPE_STRING, .name = "counted", .flags = ARRAY(LENGTH_INDEX), .detail = 1},
        {.type = ABI_TYPE_STRING, .name = "ended", .flags = ARRAY(ZERO_TERMINATED)},
        {.type = ABI_TYPE_STRING,
         .name = "array",
         .flags = ARRAY(ZERO_TERMINATED),
         .detail = 2,
         .offset = 15},
        {.type = ABI_TYPE_STRING, .name = "more", .flags = ARRAY(FIXED), .detail = 1, .offset = 2});
    IS(ID(1), value,
       "{\"fixed\":\"abc\",\"n\":3,\"counted\":\"xyz\",\"ended\":\"end\",\"array\":[\"p\",\"q\"],"
       "\"more\":\"c\"}");
}

Test(schema_json, takes_texts_of_every_width) {
    struct {
        uint16_t two[3];
        uint32_t four[2];
    } value = {{'a', 0x20AC, 0}, {0x1F600, 'b'}};
    SCHEMA(1, STATIC, {.type = ABI_TYPE_STRING_UTF16, .name = "two", .detail = 3},
           {.type = ABI_TYPE_STRING_UTF32, .name = "four", .detail = 2});
    IS(ID(1), value, "{\"two\":\"a€\",\"four\":\"😀b\"}");
}

Test(schema_json, follows_pointers_to_texts) {
    static const char message[] = "over there";
    static const uint32_t wide[] = {'w', 0};
    struct {
        const char *plain, *null;
        const uint32_t *wide;
        const char *cut;
        int32_t after;
    } value = {message, NULL, wide, message, 1};
    kit_may_read(&kit, message, sizeof(message));
    kit_may_read(&kit, wide, sizeof(wide));
    SCHEMA(1, STATIC, {.type = ABI_TYPE_STRING, .name = "plain"},
           {.type = ABI_TYPE_STRING_UTF8, .name = "null"},
           {.type = ABI_TYPE_STRING_UTF32, .name = "wide"},
           {.type = ABI_TYPE_STRING, .name = "cut", .flags = ABI_ENTRY_POINTER, .detail = 4},
           {.type = ABI_TYPE_INT32, .name = "after"});
    IS(ID(1), value,
       "{\"plain\":\"over there\",\"null\":null,\"wide\":\"w\",\"cut\":\"over\",\"after\":1}");
}

// An injection does not know what may be read.
Test(schema_json, knows_that_a_text_without_an_address_is_none) {
    struct {
        const char *plain, *null;
    } value = {"there", NULL};
    kit.world.readable = NULL;
    SCHEMA(1, STATIC, {.type = ABI_TYPE_STRING, .name = "plain"},
           {.type = ABI_TYPE_STRING, .name = "null"});
    IS(ID(1), value, "{\"plain\":\"there\",\"null\":null}");
}

// ---- Pointers and offsets -----------------------------------------------------------------------

Test(schema_json, writes_pointers_out_of_the_payloads_as_addresses) {
    int32_t elsewhere = 5;
    struct {
        int32_t *to, *null;
        int32_t *copied;
    } value = {(int32_t *)0x1000, NULL, &elsewhere};
    kit_may_read(&kit, &elsewhere, sizeof(elsewhere));
    SCHEMA(1, STATIC, {.type = ABI_TYPE_INT32, .name = "to", .flags = ABI_ENTRY_POINTER},
           {.type = ABI_TYPE_INT32, .name = "null", .flags = ABI_ENTRY_POINTER},
           {.type = ABI_TYPE_INT32,
            .name = "copied",
            .flags = ABI_ENTRY_POINTER | ABI_ENTRY_DEEP_COPY});
    IS(ID(1), value, "{\"to\":\"0x1000\",\"null\":null,\"copied\":5}");
}

Test(schema_json, follows_pointers_into_payloads_of_the_event) {
    int32_t *numbers = malloc(3 * sizeof(*numbers));
    memcpy(numbers, (int32_t[]){7, 8, 9}, 3 * sizeof(*numbers));
    struct {
        const int32_t *all, *last, *behind;
        uint64_t count;
    } value = {numbers, numbers + 2, numbers + 3, 5};
    SCHEMA(1, STATIC, {.type = ABI_TYPE_UINT64, .name = "count", .offset = 24},
           {.type = ABI_TYPE_INT32,
            .name = "all",
            .flags = ABI_ENTRY_POINTER | ARRAY(LENGTH_INDEX),
            .detail = 0,
            .offset = 0},
           {.type = ABI_TYPE_INT32, .name = "last", .flags = ABI_ENTRY_POINTER, .offset = 8});
    kit.schemas[0]->entries[1].offset = 0;
    const struct abi_payload both[] = {{ID(1), sizeof(value), &value},
                                       {ABI_TYPE_REFERENCED, 12, numbers}};
    // The second entry has no offset, so it stands after the first, at the end.
    cr_expect_str_eq(json_of(both, 2, SCHEMA_JSON_MOST), "{\"count\":5,\"last\":9}");
    SCHEMA(2, STATIC, {.type = ABI_TYPE_INT32, .name = "first", .flags = ABI_ENTRY_POINTER},
           {.type = ABI_TYPE_INT32, .name = "last", .flags = ABI_ENTRY_POINTER},
           {.type = ABI_TYPE_INT32, .name = "behind", .flags = ABI_ENTRY_POINTER},
           {.type = ABI_TYPE_UINT64, .name = "count"},
           {.type = ABI_TYPE_INT32,
            .name = "all",
            .flags = ABI_ENTRY_POINTER | ARRAY(FIXED),
            .detail = 50,
            .offset = 8});
    const struct abi_payload more[] = {{ID(2), sizeof(value), &value},
                                       {ABI_TYPE_REFERENCED, 12, numbers}};
    char expected[128];
    snprintf(expected, sizeof(expected),
             "{\"first\":7,\"last\":9,\"behind\":\"%p\",\"count\":5,\"all\":[9]}",
             (void *)(numbers + 3));
    cr_expect_str_eq(json_of(more, 2, SCHEMA_JSON_MOST), expected);
    free(numbers);
}

Test(schema_json, follows_offsets_inside_of_the_payload) {
    struct {
        uint64_t base, here, zero, far;
        char text[4];
        int32_t number;
    } value = {32, 20, 0, 1000, "abc", 77};
    SCHEMA(1, STATIC,
           {.type = ABI_TYPE_STRING,
            .name = "base",
            .flags = ABI_ENTRY_OFFSET_FROM_BASE | ARRAY(ZERO_TERMINATED)},
           {.type = ABI_TYPE_INT32, .name = "here", .flags = ABI_ENTRY_OFFSET_FROM_HERE},
           {.type = ABI_TYPE_INT32, .name = "zero", .flags = ABI_ENTRY_OFFSET_FROM_BASE},
           {.type = ABI_TYPE_INT32, .name = "far", .flags = ABI_ENTRY_OFFSET_FROM_HERE});
    IS(ID(1), value, "{\"base\":\"abc\",\"here\":77,\"zero\":null,\"far\":null}");
}

// ---- What is missing, too long or too deep ------------------------------------------------------

Test(schema_json, writes_the_members_that_are_there) {
    SCHEMA(1, STATIC, {.type = ABI_TYPE_INT32, .name = "a"}, {.type = ABI_TYPE_INT64, .name = "b"},
           {.type = ABI_TYPE_STRING, .name = "s", .detail = 8},
           {.type = ABI_TYPE_INT16, .name = "v", .flags = ARRAY(FIXED), .detail = 4});
    struct {
        int32_t a;
        int64_t b;
        char s[8];
        int16_t v[4];
    } value = {1, 2, "abcdefg", {3, 4, 5, 6}};
    cr_expect_str_eq(json(ID(1), &value, 0), "{}");
    cr_expect_str_eq(json(ID(1), &value, 3), "{}");
    cr_expect_str_eq(json(ID(1), &value, 4), "{\"a\":1}");
    cr_expect_str_eq(json(ID(1), &value, 15), "{\"a\":1}");
    cr_expect_str_eq(json(ID(1), &value, 16), "{\"a\":1,\"b\":2}");
    cr_expect_str_eq(json(ID(1), &value, 18), "{\"a\":1,\"b\":2,\"s\":\"ab\"}");
    cr_expect_str_eq(json(ID(1), &value, 25), "{\"a\":1,\"b\":2,\"s\":\"abcdefg\"}");
    cr_expect_str_eq(json(ID(1), &value, 29), "{\"a\":1,\"b\":2,\"s\":\"abcdefg\",\"v\":[3,4]}");
}

Test(schema_json, writes_null_for_a_payload_that_is_null_or_too_short_for_its_type) {
    struct abi_payload payload = {ABI_TYPE_INT32, 4, NULL};
    cr_expect_str_eq(json_of(&payload, 1, SCHEMA_JSON_MOST), "null");
    cr_expect_str_eq(json(ABI_TYPE_INT32, "abc", 3), "null");
    cr_expect_str_eq(json_of(NULL, 3, SCHEMA_JSON_MOST), "");
    cr_expect_str_eq(json_of(&payload, 0, SCHEMA_JSON_MOST), "");
}

Test(schema_json, takes_the_size_of_the_schema_when_a_payload_has_none) {
    const int32_t values[] = {1, 2};
    SCHEMA(1, STATIC, {.type = ABI_TYPE_INT32, .name = "a"}, {.type = ABI_TYPE_INT32, .name = "b"});
    SCHEMA(2, DYNAMIC, {.type = ABI_TYPE_INT32, .name = "a"});
    struct abi_payload payload = {ID(1), SIZE_MAX, values};
    cr_expect_str_eq(json_of(&payload, 1, SCHEMA_JSON_MOST), "{\"a\":1,\"b\":2}");
    payload.schema = ID(2);
    cr_expect_str_eq(json_of(&payload, 1, SCHEMA_JSON_MOST), "{\"schema\":16777218}");
    payload.schema = ABI_TYPE_INT32;
    cr_expect_str_eq(json_of(&payload, 1, SCHEMA_JSON_MOST), "1");
}

Test(schema_json, leaves_out_what_is_only_referred_to) {
    const int32_t value = 1;
    const struct abi_payload payloads[] = {{ABI_TYPE_REFERENCED, 4, &value},
                                           {ABI_TYPE_INT32, 4, &value},
                                           {ABI_TYPE_REFERENCED, 4, &value}};
    cr_expect_str_eq(json_of(payloads, 1, SCHEMA_JSON_MOST), "");
    cr_expect_str_eq(json_of(payloads, 3, SCHEMA_JSON_MOST), "1");
}

Test(schema_json, replaces_what_is_too_long_by_its_length) {
    char *long_text = malloc(30000);
    memset(long_text, 'x', 29999);
    long_text[29999] = '\0';
    const int32_t one = 1;
    struct abi_payload payloads[] = {
        {ABI_TYPE_INT32, 4, &one}, {ABI_TYPE_STRING, 30000, long_text}, {ABI_TYPE_INT32, 4, &one}};
    cr_expect_str_eq(json_of(payloads, 3, SCHEMA_JSON_MOST), "[1,{\"truncated\":30000},1]");
    cr_expect(!is_whole);
    cr_expect_str_eq(json_of(payloads + 1, 1, SCHEMA_JSON_MOST), "{\"truncated\":30000}");
    payloads[1].size = SIZE_MAX;
    cr_expect_str_eq(json_of(payloads + 1, 1, SCHEMA_JSON_MOST), "{\"truncated\":29999}");
    payloads[1].size = SCHEMA_JSON_MOST - 2;
    cr_expect_eq(strlen(json_of(payloads + 1, 1, SCHEMA_JSON_MOST)), SCHEMA_JSON_MOST);
    cr_expect(is_whole);
    payloads[1].size++;
    cr_expect_str_eq(json_of(payloads + 1, 1, SCHEMA_JSON_MOST), "{\"truncated\":24575}");
    free(long_text);
}

Test(schema_json, fits_into_every_room) {
    const int32_t values[] = {1, -2, 3};
    const struct abi_payload payloads[] = {
        {ABI_TYPE_INT32, 12, values}, {ABI_TYPE_STRING, 5, "abcde"}, {ABI_TYPE_INT32, 4, values}};
    for (size_t room = 64; room < 256; room++) {
        json_of(payloads, 3, room);
    }
    cr_expect_str_eq(json_of(payloads, 3, 64), "{\"truncated\":21}");
    cr_expect_str_eq(text, "{\"truncated\":21}");
}

Test(schema_json, replaces_what_is_too_deep_by_its_length) {
    const int32_t value = 5;
    SCHEMA(1, STATIC, {.type = ABI_TYPE_INT32, .name = "v"});
    for (uint64_t i = 2; i <= 70; i++) {
        SCHEMA(i, STATIC, {.type = ID(i - 1), .name = "n"});
    }
    cr_expect_neq(strstr(JSON(ID(64), value), "{\"v\":5}"), NULL);
    cr_expect(is_whole);
    IS(ID(65), value, "{\"truncated\":4}");
    const struct abi_payload two[] = {{ID(64), 4, &value}, {ID(63), 4, &value}};
    json_of(two, 2, SCHEMA_JSON_MOST);
    cr_expect_eq(strncmp(text, "[{\"truncated\":4},{\"n\":", 22), 0);
}

Test(schema_json, ends_with_schemas_that_nest_themselves) {
    const int64_t values[] = {1, 2, 3, 4};
    SCHEMA(1, STATIC, {.type = ABI_TYPE_INT64, .name = "v"}, {.type = ID(1), .name = "again"});
    IS(ID(1), values, "{\"truncated\":32}");
    SCHEMA(2, DYNAMIC, {.type = ID(2), .name = "a"}, {.type = ID(2), .name = "b"});
    IS(ID(2), values, "{\"truncated\":32}");
    SCHEMA(3, STATIC, {.type = ID(4), .name = "a"}, {.type = ID(4), .name = "b"});
    SCHEMA(4, STATIC, {.type = ID(3), .name = "a"}, {.type = ID(3), .name = "b"});
    IS(ID(3), values, "{\"truncated\":32}");
    // Each level has the one below it twice.
    SCHEMA(10, STATIC, {.type = ABI_TYPE_INT8, .name = "v"});
    for (uint64_t i = 11; i < 60; i++) {
        SCHEMA(i, STATIC, {.type = ID(i - 1), .name = "a"}, {.type = ID(i - 1), .name = "b"});
    }
    IS(ID(59), values, "{\"truncated\":32}");
}

Test(schema_json, ends_with_offsets_in_a_circle) {
    struct node {
        int64_t v;
        int64_t next;
    };
    const struct node nodes[] = {{1, 16}, {2, 16}};
    SCHEMA(1, STATIC, {.type = ABI_TYPE_INT64, .name = "v"},
           {.type = ID(1), .name = "next", .flags = ABI_ENTRY_OFFSET_FROM_BASE});
    IS(ID(1), nodes, "{\"truncated\":32}");
    const struct node list[] = {{1, 16}, {2, 32}, {3, 0}};
    IS(ID(1), list, "{\"v\":1,\"next\":{\"v\":2,\"next\":{\"v\":3,\"next\":null}}}");
}

Test(schema_json, ends_with_arrays_of_nothing) {
    const uint64_t value[] = {UINT64_MAX, 5};
    SCHEMA(1, STATIC, {.type = ABI_TYPE_INT8, .name = "n", .flags = ARRAY(FIXED), .detail = 0});
    SCHEMA(2, DYNAMIC, {.type = ABI_TYPE_UINT64, .name = "n"},
           {.type = ID(1), .name = "v", .flags = ARRAY(LENGTH_INDEX), .detail = 0});
    IS(ID(2), value, "{\"truncated\":16}");
}

// ---- What payloads say of their event -----------------------------------------------------------

Test(schema_json, finds_message_category_and_color) {
    struct {
        char message[8];
        uint32_t category, color;
    } value = {"hello", 12, 0xFF00FF00};
    SCHEMA(1, STATIC,
           {.type = ABI_TYPE_STRING, .name = "m", .flags = ABI_ENTRY_MESSAGE, .detail = 8},
           {.type = ABI_TYPE_CATEGORY, .name = "c"}, {.type = ABI_TYPE_COLOR, .name = "rgb"});
    struct abi_payload payload = {ID(1), sizeof(value), &value};
    cr_expect_str_eq(json_of(&payload, 1, SCHEMA_JSON_MOST),
                     "{\"m\":\"hello\",\"c\":12,\"rgb\":4278255360}");
    char message[16];
    cr_assert(event.has_message && event.has_category && event.has_color);
    code_units_copy(event.message, message, sizeof(message));
    cr_expect_str_eq(message, "hello");
    cr_expect_eq(event.category, 12);
    cr_expect_eq(event.color, 0xFF00FF00);
}

Test(schema_json, takes_the_last_of_several_messages) {
    struct {
        uint64_t registered;
        char text[4];
    } value = {7, "abc"};
    SCHEMA(1, STATIC,
           {.type = ABI_TYPE_STRING, .flags = ABI_ENTRY_MESSAGE, .detail = 4, .offset = 8},
           {.type = ABI_TYPE_INT8, .name = "none", .flags = ABI_ENTRY_MESSAGE});
    SCHEMA(2, STATIC, {.type = ABI_TYPE_REGISTERED_STRING, .flags = ABI_ENTRY_MESSAGE});
    const struct abi_payload payloads[] = {{ID(1), sizeof(value), &value},
                                           {ID(2), sizeof(value), &value}};
    char message[16];
    json_of(payloads, 2, SCHEMA_JSON_MOST);
    code_units_copy(event.message, message, sizeof(message));
    cr_expect_str_eq(message, "regis\"tered");
    json_of(payloads, 1, SCHEMA_JSON_MOST);
    code_units_copy(event.message, message, sizeof(message));
    cr_expect_str_eq(message, "abc");
}

// ---- Copies -------------------------------------------------------------------------------------

static struct schema *copy_of(const char *name, uint64_t type, uint64_t id) {
    const struct abi_entry entries[] = {{.type = type, .name = "a"}, {.type = type, .name = name}};
    const struct abi_schema attr = {
        .fields = ALL_FIELDS, .type = ABI_SCHEMA_STATIC, .entries = entries, .count = 2, .id = id};
    return schema_copy(&attr, calloc(1, schema_bytes(&attr)));
}

Test(schema_json, knows_copies_that_say_the_same) {
    struct schema *one = copy_of("b", 5, 0);
    struct schema *others[] = {copy_of("b", 5, 0), copy_of("c", 5, 0), copy_of(NULL, 5, 0),
                               copy_of("b", 6, 0), copy_of("b", 5, ID(1))};
    for (size_t i = 0; i < COUNT(others); i++) {
        cr_expect_eq(schema_equal(one, others[i]), i == 0);
        cr_expect_eq(schema_hash(one) == schema_hash(others[i]), i == 0);
        free(others[i]);
    }
    free(one);
}

Test(schema_json, copies_no_more_than_it_says) {
    char *name = malloc(SCHEMA_NAME_MOST + 100);
    memset(name, 'n', SCHEMA_NAME_MOST + 99);
    name[SCHEMA_NAME_MOST + 99] = '\0';
    struct schema *schema = copy_of(name, 5, 0); // AddressSanitizer looks
    cr_expect_eq(strlen(schema->entries[1].name), SCHEMA_NAME_MOST);
    free(schema);
    free(name);
    cr_expect_eq(schema_bytes(NULL), 0);
    cr_expect_eq(schema_enum_bytes(NULL), 0);
}
