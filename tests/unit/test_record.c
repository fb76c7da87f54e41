// SPDX-License-Identifier: Apache-2.0
//
// What is written into a record is read from it; and bytes that are no record are refused, with no
// read outside of what may be read.
#include "lib/ring/record.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static uint64_t seed = 1;

static uint32_t random_below(uint32_t most) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % most;
}

static struct record_view random_view(const char *texts) {
    struct record_view view = {.kind = RECORD_MARK + random_below(RECORD_KINDS - RECORD_MARK),
                               .domain = random_below(4096),
                               .time = seed,
                               .value_kind = random_below(RECORD_F32 + 1),
                               .text = texts + random_below(64),
                               .text_len = random_below(3) ? random_below(100) : 0,
                               .json = texts + random_below(64),
                               .json_len = random_below(3) ? 0 : random_below(100)};
    view.id = view.kind >= RECORD_START ? seed * 3 : 0;
    view.category = random_below(3) ? 0 : (uint32_t)seed;
    view.color = random_below(3) ? 0 : (uint32_t)(seed >> 5);
    view.value = view.value_kind ? seed * 7 : 0;
    if (random_below(4) == 0) {
        view.has_string = true;
        view.string = random_below(65536);
        view.text_len = 0;
    }
    return view;
}

// Memory that ends where the record ends: the sanitizer finds a read behind it.
static char *written(const struct record_view *view, uint32_t *bytes) {
    uint32_t flags = record_flags(view);
    *bytes = record_bytes(view->kind >= RECORD_START, flags, view->text_len, view->json_len);
    char *memory = calloc(1, *bytes);
    cr_assert_not_null(memory);
    record_write(memory, view, flags, *bytes);
    return memory;
}

static void is_same(const struct record_view *a, const struct record_view *b) {
    cr_assert_eq(a->kind, b->kind);
    cr_assert_eq(a->domain, b->domain);
    cr_assert_eq(a->time, b->time);
    cr_assert_eq(a->id, b->id);
    cr_assert_eq(a->category, b->category);
    cr_assert_eq(a->color, b->color);
    cr_assert_eq(a->value_kind, b->value_kind);
    cr_assert_eq(a->value, b->value);
    cr_assert_eq(a->has_string, b->has_string);
    cr_assert_eq(a->string, b->string);
    cr_assert_eq(a->text_len, b->text_len);
    cr_assert_eq(memcmp(a->text, b->text, a->text_len), 0);
    cr_assert_eq(a->json_len, b->json_len);
    cr_assert_eq(memcmp(a->json, b->json, a->json_len), 0);
}

Test(record, gives_back_what_was_written) {
    char texts[200];
    for (size_t i = 0; i < sizeof(texts); i++) {
        texts[i] = (char)i;
    }
    for (int i = 0; i < 10000; i++) {
        struct record_view view = random_view(texts), read;
        uint32_t bytes;
        char *memory = written(&view, &bytes);
        cr_assert_eq(bytes % 8, 0);
        cr_assert_eq(record_read(memory, bytes, &read), bytes);
        is_same(&view, &read);
        free(memory);
    }
}

Test(record, has_16_bytes_for_a_pop) {
    struct record_view view = {.kind = RECORD_POP};
    uint32_t bytes;
    free(written(&view, &bytes));
    cr_assert_eq(bytes, RECORD_POP_BYTES);
}

Test(record, refuses_a_record_that_is_cut) {
    char texts[200] = "";
    for (int i = 0; i < 300; i++) {
        struct record_view view = random_view(texts), read;
        uint32_t bytes;
        char *memory = written(&view, &bytes);
        for (uint32_t most = 0; most < bytes; most++) {
            char *cut = malloc(most ? most : 1);
            cr_assert_not_null(cut);
            memcpy(cut, memory, most);
            cr_assert_eq(record_read(cut, most, &read), 0);
            free(cut);
        }
        free(memory);
    }
}

Test(record, believes_no_byte) {
    char texts[200] = "";
    for (int i = 0; i < 20000; i++) {
        struct record_view view = random_view(texts), read;
        uint32_t bytes;
        char *memory = written(&view, &bytes);
        for (uint32_t wrong = random_below(4) + 1; wrong > 0; wrong--) {
            memory[random_below(bytes)] = (char)seed;
        }
        uint32_t length = record_read(memory, bytes, &read);
        cr_assert_leq(length, bytes);
        if (length > 0) {
            cr_assert(read.text >= memory && read.text + read.text_len <= memory + bytes);
            cr_assert(read.json_len == 0 || read.json + read.json_len <= memory + bytes);
            cr_assert_leq(read.value_kind, RECORD_F32);
        }
        free(memory);
    }
}
