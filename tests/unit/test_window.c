// SPDX-License-Identifier: Apache-2.0
//
// The window of unacknowledged lines: whatever the sizes of reads, writes and acknowledgements,
// what goes out is what came in. After a return to a line everything after it goes out again.
#include "client/session/window.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "protocol/base/buf.h"
#include "protocol/base/slice.h"

// Feeds `text` in reads of at most `step` bytes. Returns the bytes taken before it was full.
static size_t feed(struct window *window, const char *text, size_t len, size_t step) {
    size_t done = 0;
    while (done < len) {
        char *at;
        size_t size;
        int result = window_space(window, &at, &size);
        if (result == WINDOW_FULL) {
            break;
        }
        cr_assert_eq(result, 0);
        cr_assert_gt(size, 0);
        size = size < step ? size : step;
        size = size < len - done ? size : len - done;
        memcpy(at, text + done, size);
        cr_assert_eq(window_filled(window, size), 0);
        done += size;
    }
    return done;
}

// Takes out all that is ready, in writes of at most `step` bytes.
static void drain(struct window *window, struct nvtxt_buf *out, size_t step) {
    struct iovec pieces[4];
    int count;
    while ((count = window_peek(window, pieces, 4)) > 0) {
        size_t left = step;
        size_t wrote = 0;
        for (int i = 0; i < count && left > 0; i++) {
            size_t n = pieces[i].iov_len < left ? pieces[i].iov_len : left;
            nvtxt_buf_add(out, pieces[i].iov_base, n);
            wrote += n;
            left -= n;
        }
        cr_assert_leq(wrote, window_ready(window));
        window_take(window, wrote);
    }
    cr_assert_eq(window_ready(window), 0);
}

static void expect(struct nvtxt_buf *out, const char *text) {
    cr_assert_eq(out->len, strlen(text), "%.*s", (int)out->len, out->data);
    cr_assert_arr_eq(out->data, text, out->len);
    nvtxt_buf_deinit(out);
}

Test(window, gives_out_whole_lines_only) {
    struct window window;
    struct nvtxt_buf out = {0};
    window_init(&window, 4096, 64, 1000);
    feed(&window, "one\ntw", 6, 100);
    drain(&window, &out, 100);
    expect(&out, "one\n");
    cr_assert_eq(window.last, 1);
    feed(&window, "o\nthree", 7, 100);
    drain(&window, &out, 100);
    expect(&out, "two\n");
    cr_assert_eq(window_finish(&window), 0);
    drain(&window, &out, 1);
    expect(&out, "three\n");
    cr_assert_eq(window.last, 3);
    cr_assert_eq(window_finish(&window), 0, "finishing twice adds nothing");
    cr_assert_eq(window_ready(&window), 0);
    window_deinit(&window);
}

Test(window, of_no_input_is_empty) {
    struct window window;
    window_init(&window, 4096, 64, 1000);
    cr_assert_eq(window_finish(&window), 0);
    cr_assert_eq(window.last, 0);
    cr_assert_eq(window_ready(&window), 0);
    cr_assert_eq(window_rewind(&window, 0), 0);
    window_ack(&window, 10);
    cr_assert_eq(window.last - window.acked, 0);
    window_deinit(&window);
    window_deinit(&window);
}

Test(window, puts_a_blank_before_reserved_lines) {
    static const char input[] = "#nvtxt-end\n#nvtxt\n##nvtxt-\n #nvtxt-x\n#nvtxt-\n\n"
                                "a #nvtxt-\n#nvtxt-session {}\n#nvtxt-end";
    static const char output[] = " #nvtxt-end\n#nvtxt\n##nvtxt-\n #nvtxt-x\n #nvtxt-\n\n"
                                 "a #nvtxt-\n #nvtxt-session {}\n #nvtxt-end\n";
    for (size_t step = 1; step < sizeof(input); step++) {
        for (size_t chunk = 4; chunk < 80; chunk += 7) {
            struct window window;
            struct nvtxt_buf out = {0};
            window_init(&window, 4096, chunk, 1000);
            cr_assert_eq(feed(&window, input, sizeof(input) - 1, step), sizeof(input) - 1);
            cr_assert_eq(window_finish(&window), 0);
            cr_assert_eq(window.last, 9);
            drain(&window, &out, step);
            expect(&out, output);
            window_deinit(&window);
        }
    }
}

Test(window, does_not_make_a_long_reserved_line_longer) {
    for (int crlf = 0; crlf < 2; crlf++) {
        struct window window;
        struct nvtxt_buf in = {0};
        struct nvtxt_buf out = {0};
        nvtxt_buf_add_string(&in, "#nvtxt-");
        while (in.len < 65536) {
            nvtxt_buf_add(&in, "xyz", in.len + 3 < 65536 ? 3 : 65536 - in.len);
        }
        nvtxt_buf_add_string(&in, crlf ? "\r\n" : "\n");
        window_init(&window, 1 << 20, 4096, 100000);
        feed(&window, in.data, in.len, 1000);
        drain(&window, &out, 4096);
        cr_assert_eq(out.len, in.len);
        cr_assert_arr_eq(out.data, " #nvtxt-xyz", 11);
        cr_assert_arr_eq(out.data + 11, in.data + 10, 65536 - 11);
        cr_assert_str_eq(crlf ? "\r\n" : "\n", (nvtxt_buf_add(&out, "", 1), out.data + 65536));
        nvtxt_buf_deinit(&in);
        nvtxt_buf_deinit(&out);
        window_deinit(&window);
    }
}

Test(window, has_room_for_nothing_but_reserved_lines) {
    struct window window;
    struct nvtxt_buf in = {0};
    struct nvtxt_buf out = {0};
    window_init(&window, 1 << 20, 4096, 1000);
    for (int i = 0; i < 5000; i++) {
        nvtxt_buf_add_string(&in, "#nvtxt-\n");
    }
    feed(&window, in.data, in.len, 4096);
    drain(&window, &out, 4096);
    cr_assert_eq(out.len, 5000 * 9);
    for (size_t i = 0; i < out.len; i += 9) {
        cr_assert_arr_eq(out.data + i, " #nvtxt-\n", 9);
    }
    nvtxt_buf_deinit(&in);
    nvtxt_buf_deinit(&out);
    window_deinit(&window);
}

Test(window, is_full_until_lines_are_acknowledged) {
    struct window window;
    struct nvtxt_buf out = {0};
    char text[4000];
    for (size_t i = 0; i < sizeof(text); i++) {
        text[i] = i % 10 == 9 ? '\n' : 'x';
    }
    window_init(&window, 1024, 128, 1000);
    size_t taken = feed(&window, text, sizeof(text), 4000);
    cr_assert_lt(taken, 1100);
    cr_assert_gt(taken, 700);
    cr_assert_leq(window.used, 1024);
    drain(&window, &out, 4000);
    char *at;
    size_t size;
    cr_assert_eq(window_space(&window, &at, &size), WINDOW_FULL, "written is not acknowledged");
    window_ack(&window, window.last - 3);
    cr_assert_eq(window.last - window.acked, 3);
    cr_assert_eq(window_space(&window, &at, &size), 0);
    nvtxt_buf_deinit(&out);
    window_deinit(&window);
}

Test(window, takes_a_line_that_is_longer_than_everything) {
    // 100,000 bytes of one line through a window of 2,000: its first 500 bytes are kept.
    struct window window;
    struct nvtxt_buf out = {0};
    char *text = malloc(100000);
    memset(text, 'y', 100000);
    window_init(&window, 2000, 256, 500);
    feed(&window, "a\n", 2, 2);
    cr_assert_eq(feed(&window, text, 100000, 777), 100000);
    cr_assert_leq(window.used, 2000);
    cr_assert_eq(window.last, 1);
    feed(&window, "tail\nb\n", 7, 7);
    cr_assert_eq(window.last, 3);
    drain(&window, &out, 10000);
    cr_assert_eq(out.len, 2 + 500 + 1 + 2);
    cr_assert_arr_eq(out.data, "a\nyyy", 5);
    cr_assert_arr_eq(out.data + 501, "y\nb\n", 4);
    nvtxt_buf_deinit(&out);
    free(text);
    window_deinit(&window);
}

Test(window, ends_a_cut_line_at_the_end_of_input) {
    struct window window;
    struct nvtxt_buf out = {0};
    char text[3000];
    memset(text, 'y', sizeof(text));
    window_init(&window, 4000, 256, 500);
    feed(&window, text, sizeof(text), 100);
    cr_assert_eq(window_finish(&window), 0);
    drain(&window, &out, 10000);
    cr_assert_eq(out.len, 501);
    cr_assert_eq(window.last, 1);
    nvtxt_buf_deinit(&out);
    window_deinit(&window);
}

Test(window, does_not_grow_for_a_slow_producer) {
    struct window window;
    struct nvtxt_buf out = {0};
    window_init(&window, 1 << 20, 4096, 1000);
    for (uint64_t i = 1; i <= 20000; i++) {
        feed(&window, "Marker, 1\nMar", 10 + i % 4, 100);
        feed(&window, "\n", i % 4 ? 1 : 0, 1);
        drain(&window, &out, 100);
        nvtxt_buf_clear(&out);
        window_ack(&window, window.last);
    }
    cr_assert_leq(window.used, 4096 + 64);
    nvtxt_buf_deinit(&out);
    window_deinit(&window);
}

Test(window, refuses_to_go_where_nothing_is_held) {
    struct window window;
    struct nvtxt_buf out = {0};
    window_init(&window, 4096, 64, 1000);
    feed(&window, "1\n2\n3\n", 6, 6);
    window_ack(&window, 2);
    cr_assert_eq(window_rewind(&window, 1), -EINVAL);
    cr_assert_eq(window_rewind(&window, 4), -EINVAL);
    cr_assert_eq(window_rewind(&window, 2), 0);
    drain(&window, &out, 100);
    expect(&out, "3\n");
    cr_assert_eq(window_rewind(&window, 3), 0);
    cr_assert_eq(window_ready(&window), 0);
    window_deinit(&window);
}

// ---- Against a model ---------------------------------------------------------------------------

static uint64_t seed;

static unsigned pick(unsigned below) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % below;
}

struct model {
    struct nvtxt_buf wire; // what must go over the wire, all of it
    size_t *ends;          // end of each line in it
    size_t lines;
};

static void add_line(struct model *model, struct nvtxt_buf *in, bool last) {
    char line[128];
    static const char *const begins[] = {"", "#nvtxt-", "#nvtx", " #nvtxt-", "Marker, ", "\r"};
    const char *begin = begins[pick(6)];
    int len = snprintf(line, sizeof(line), "%s%.*s", begin, (int)pick(60),
                       "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl");
    nvtxt_buf_add(in, line, (size_t)len);
    bool cut = last && len > 0 && pick(2);
    nvtxt_buf_add(in, "\n", cut ? 0 : 1);
    nvtxt_buf_add_string(&model->wire, strncmp(line, "#nvtxt-", 7) == 0 ? " " : "");
    nvtxt_buf_add(&model->wire, line, (size_t)len);
    nvtxt_buf_add(&model->wire, "\n", 1);
    model->ends[model->lines++] = model->wire.len;
}

// Random reads, writes, acknowledgements and breaks in any order. `out` is how much the receiver
// has read, `committed` what it has kept.
static void live(uint64_t number) {
    enum { LINES = 400 };
    struct model model = {.ends = calloc(LINES, sizeof(size_t))};
    struct nvtxt_buf in = {0};
    struct window window;
    seed = number;
    for (int i = 0; i < LINES; i++) {
        add_line(&model, &in, i == LINES - 1);
    }
    window_init(&window, 400 + pick(4000), 16 + pick(300), 1000);
    size_t fed = 0;
    size_t out = 0;
    size_t committed = 0; // lines
    bool finished = false;
    for (int turns = 0; committed < LINES; turns++) {
        cr_assert_lt(turns, 100000, "stuck in life %llu", (unsigned long long)number);
        unsigned what = pick(10);
        if (what < 4 && fed < in.len) {
            size_t most = 1 + pick(500);
            most = most < in.len - fed ? most : in.len - fed;
            fed += feed(&window, in.data + fed, most, 1 + pick(100));
        } else if (what < 7) {
            struct iovec piece;
            if (window_peek(&window, &piece, 1) > 0) {
                size_t n = 1 + pick((unsigned)piece.iov_len);
                cr_assert_leq(out + n, model.wire.len);
                cr_assert_arr_eq(piece.iov_base, model.wire.data + out, n);
                window_take(&window, n);
                out += n;
            }
        } else if (what < 9) { // the receiver commits some of the whole lines that it has
            size_t whole = committed;
            while (whole < LINES && model.ends[whole] <= out && pick(8)) {
                whole++;
            }
            committed = whole;
            if (pick(4)) {
                window_ack(&window, committed);
            }
        } else { // a break: it goes on after what is committed
            cr_assert_eq(window_rewind(&window, committed), 0);
            out = committed ? model.ends[committed - 1] : 0;
        }
        if (fed == in.len && !finished) {
            finished = true;
            cr_assert_eq(window_finish(&window), 0);
            cr_assert_eq(window.last, LINES);
        }
    }
    window_deinit(&window);
    nvtxt_buf_deinit(&in);
    nvtxt_buf_deinit(&model.wire);
    free(model.ends);
}

Test(window, keeps_the_stream_through_any_life) {
    for (uint64_t number = 1; number <= 2000; number++) {
        live(number);
    }
}

Test(window, takes_whole_lines_as_they_are_also_beyond_its_limit) {
    struct window window;
    struct nvtxt_buf out = {0};
    static char big[300];
    memset(big, 'x', sizeof(big));
    big[sizeof(big) - 1] = '\n';
    window_init(&window, 128, 64, 64);
    cr_assert_not(window_is_full(&window));
    cr_assert_eq(window_append(&window, "#nvtxt-lost 1\n2\n", 16, 2), 0);
    cr_assert_eq(window_append(&window, big, sizeof(big), 1), 0);
    cr_assert(window_is_full(&window));
    cr_assert_eq(window_append(&window, "4\n", 2, 1), 0);
    cr_assert_eq(window.last, 4);
    drain(&window, &out, 7);
    cr_assert_eq(out.len, 16 + sizeof(big) + 2);
    cr_assert_eq(memcmp(out.data, "#nvtxt-lost 1\n2\n", 16), 0);
    nvtxt_buf_clear(&out);
    window_ack(&window, 3);
    cr_assert_eq(window_rewind(&window, 3), 0);
    drain(&window, &out, 7);
    cr_assert_eq(out.len, 2);
    window_restart(&window, 9);
    cr_assert_eq(window_append(&window, "10\n", 3, 1), 0);
    cr_assert_eq(window_rewind(&window, 8), -EINVAL);
    cr_assert_eq(window_rewind(&window, 9), 0);
    cr_assert_eq(window.last, 10);
    nvtxt_buf_deinit(&out);
    window_deinit(&window);
}

Test(window, gives_its_first_lines_as_a_block) {
    struct window window;
    struct iovec block;
    uint64_t lines;
    window_init(&window, 1024, 64, 64);
    cr_assert_not(window_block(&window, &block, &lines));
    feed(&window, "1\n2\n3", 5, 5);
    cr_assert(window_block(&window, &block, &lines));
    cr_assert_eq(block.iov_len, 4);
    cr_assert_eq(lines, 2);
    window_ack(&window, 1);
    cr_assert(window_block(&window, &block, &lines));
    cr_assert_eq(lines, 1, "a part of them may go");
    cr_assert_eq(block.iov_len, 2);
    cr_assert_eq(memcmp(block.iov_base, "2\n", 2), 0);
    window_ack(&window, 2);
    cr_assert_not(window_block(&window, &block, &lines), "the third has no end yet");
    feed(&window, "3\n", 2, 2);
    cr_assert(window_block(&window, &block, &lines));
    cr_assert_eq(memcmp(block.iov_base, "33\n", 3), 0);
    window_deinit(&window);
}
