// SPDX-License-Identifier: Apache-2.0
//
// Bytes to lines: the same lines however the bytes arrive, and no memory held between lines.
#include "protocol/base/frame.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "protocol/base/limits.h"

// What came out, one line each: "[line]", or "!first bytes!" for an overlong one.
static char seen[4096];
static size_t seen_len;

static void note(int result, struct nvtxt_slice line) {
    char mark = result == NVTXT_FRAME_LINE ? '[' : '!';
    cr_assert(result == NVTXT_FRAME_LINE || result == NVTXT_FRAME_OVERLONG, "%d", result);
    cr_assert_lt(seen_len + line.len + 2, sizeof(seen));
    seen[seen_len++] = mark;
    if (line.len > 0) {
        memcpy(seen + seen_len, line.data, line.len);
    }
    seen_len += line.len;
    seen[seen_len++] = mark == '[' ? ']' : '!';
}

// Feeds a copy of the piece, so that the sanitizer finds a view past its end or after its life.
static void feed(struct nvtxt_frame *frame, const char *data, size_t len) {
    char *copy = malloc(len ? len : 1);
    cr_assert_not_null(copy);
    memcpy(copy, data, len);
    struct nvtxt_slice input = {copy, len}, line;
    int result;
    while ((result = nvtxt_frame_next(frame, &input, &line)) != NVTXT_FRAME_MORE) {
        note(result, line);
    }
    cr_assert_eq(input.len, 0);
    free(copy);
}

static void finish(struct nvtxt_frame *frame) {
    struct nvtxt_slice line;
    int result;
    while ((result = nvtxt_frame_finish(frame, &line)) != NVTXT_FRAME_MORE) {
        note(result, line);
    }
    cr_assert_null(frame->partial);
    nvtxt_frame_deinit(frame);
}

static void gives(const char *wanted) {
    cr_assert_eq(seen_len, strlen(wanted), "%.*s", (int)seen_len, seen);
    cr_assert_arr_eq(seen, wanted, seen_len);
    seen_len = 0;
}

// The same lines whole, cut in two at every byte, cut in three, and byte by byte.
static void frames(size_t limit, struct nvtxt_slice input, const char *wanted) {
    struct nvtxt_frame frame;
    for (size_t first = 0; first <= input.len; first++) {
        for (size_t second = first; second <= input.len; second++) {
            nvtxt_frame_init(&frame, limit);
            feed(&frame, input.data, first);
            feed(&frame, input.data + first, second - first);
            feed(&frame, input.data + second, input.len - second);
            finish(&frame);
            gives(wanted);
        }
    }
    nvtxt_frame_init(&frame, limit);
    for (size_t i = 0; i < input.len; i++) {
        feed(&frame, input.data + i, 1);
    }
    finish(&frame);
    gives(wanted);
}

Test(frame, splits_at_line_ends_however_the_input_is_cut) {
    frames(100, NVTXT_SLICE(""), "");
    frames(100, NVTXT_SLICE("\n"), "[]");
    frames(100, NVTXT_SLICE("one\ntwo\n"), "[one][two]");
    frames(100, NVTXT_SLICE("one\n\n\ntwo"), "[one][][][two]");
}

Test(frame, drops_one_carriage_return_before_the_end_of_a_line) {
    frames(100, NVTXT_SLICE("a\r\nb\r\r\n\r\nc\rd\r"), "[a][b\r][][c\rd]");
    frames(100, NVTXT_SLICE("\r"), "[]");
}

Test(frame, counts_a_last_line_without_its_end) {
    frames(100, NVTXT_SLICE("a\nlast"), "[a][last]");
    frames(100, NVTXT_SLICE("a\n"), "[a]");
}

Test(frame, keeps_every_other_byte) {
    struct nvtxt_frame frame;
    nvtxt_frame_init(&frame, 100);
    feed(&frame, "a\0\xFF\tb\n", 6);
    cr_assert_eq(seen_len, 7);
    cr_assert_arr_eq(seen, "[a\0\xFF\tb]", 7);
    nvtxt_frame_deinit(&frame);
}

Test(frame, reports_a_line_beyond_the_limit_once_and_goes_on) {
    frames(5, NVTXT_SLICE("12345\n123456\nnext\n"), "[12345]!123456![next]");
    frames(5, NVTXT_SLICE("1234567890123\n\n"), "!1234567890123![]");
    frames(5, NVTXT_SLICE("1234567"), "!1234567!");
    frames(5, NVTXT_SLICE("1234567\r\n123456\r"), "!1234567\r!!123456\r!");
    frames(1, NVTXT_SLICE("1\n22\n3\n"), "[1]!22![3]");
}

Test(frame, counts_the_carriage_return_towards_the_limit) {
    frames(5, NVTXT_SLICE("1234\r\n12345\r\n"), "[1234]!12345\r!");
}

// Enough for an excerpt of 200 bytes after a byte order mark, with a whole last character.
Test(frame, hands_out_the_start_of_an_overlong_line_for_its_excerpt) {
    char line[1001];
    for (size_t i = 0; i < 1000; i++) {
        line[i] = (char)('a' + i % 26);
    }
    line[1000] = '\n';
    size_t length = 0;
    for (size_t cut = 0; cut <= 1000; cut++) {
        struct nvtxt_frame frame;
        nvtxt_frame_init(&frame, 500);
        feed(&frame, line, cut);
        cr_assert_eq(seen_len, 0, "nothing before the end of the line was seen");
        feed(&frame, line + cut, sizeof(line) - cut);
        cr_assert_geq(seen_len, 2 + NVTXT_EXCERPT_BYTES + 6);
        cr_assert_leq(seen_len, 2 + 500);
        cr_assert_arr_eq(seen + 1, line, seen_len - 2);
        cr_assert(cut == 0 || length == seen_len, "as much wherever the input was cut");
        length = seen_len;
        seen_len = 0;
        nvtxt_frame_deinit(&frame);
    }
}

Test(frame, holds_little_of_an_overlong_line) {
    struct nvtxt_frame frame;
    char piece[1000];
    memset(piece, 'x', sizeof(piece));
    nvtxt_frame_init(&frame, 65536);
    for (unsigned i = 0; i < 1000; i++) {
        feed(&frame, piece, sizeof(piece));
    }
    cr_assert_lt(frame.partial_cap, 1000);
    cr_assert_eq(seen_len, 0);
    finish(&frame);
    cr_assert_eq(seen[0], '!');
}

Test(frame, holds_no_memory_between_lines) {
    struct nvtxt_frame frame;
    nvtxt_frame_init(&frame, 100);
    feed(&frame, "par", 3);
    cr_assert_not_null(frame.partial);
    feed(&frame, "tial\nwhole\n", 11);
    gives("[partial][whole]");
    cr_assert_null(frame.partial);
    nvtxt_frame_deinit(&frame);
}

Test(frame, gives_views_of_the_input_where_it_can) {
    struct nvtxt_frame frame;
    struct nvtxt_slice input = NVTXT_SLICE("one\ntwo\n"), line;
    const char *begin = input.data;
    nvtxt_frame_init(&frame, 100);
    cr_assert_eq(nvtxt_frame_next(&frame, &input, &line), NVTXT_FRAME_LINE);
    cr_assert_eq(line.data, begin);
    cr_assert_eq(input.data, begin + 4, "the rest stays with the caller");
    cr_assert_eq(nvtxt_frame_next(&frame, &input, &line), NVTXT_FRAME_LINE);
    cr_assert_eq(line.data, begin + 4);
    cr_assert_null(frame.partial);
    nvtxt_frame_deinit(&frame);
}

Test(frame, shows_what_is_pending) {
    struct nvtxt_frame frame;
    nvtxt_frame_init(&frame, 100);
    cr_assert_eq(nvtxt_frame_pending(&frame).len, 0);
    feed(&frame, "done\nhal", 8);
    cr_assert(nvtxt_slice_equal(nvtxt_frame_pending(&frame), NVTXT_SLICE("hal")));
    struct nvtxt_slice input = NVTXT_SLICE("f\nrest"), line;
    cr_assert_eq(nvtxt_frame_next(&frame, &input, &line), NVTXT_FRAME_LINE);
    cr_assert(nvtxt_slice_equal(line, NVTXT_SLICE("half")));
    cr_assert_eq(nvtxt_frame_pending(&frame).len, 0, "a line handed out is not pending");
    nvtxt_frame_deinit(&frame);
    nvtxt_frame_deinit(&frame);
}
