// SPDX-License-Identifier: Apache-2.0
//
// A line that is read by its shape is the same as one that is lexed and parsed: 10,000 random
// streams (stream_kit.h), with NVTXT_TEST_SHORT 2,500, run through an interpreter of each kind
// (tests/fuzz/plan_kit.h). In every fourth line something is changed: a byte more, less or other,
// odd blanks, a variable in the place of a value or of the command. The bytes come in pieces that
// end anywhere in a line, down to one byte, and the first interpreter is saved and restored in the
// middle of its streams.
//
// `plan_streams SEED` runs one stream and prints it.
#include <stdio.h>

#include "protocol/base/frame.h"
#include "tests/fuzz/plan_kit.h"
#include "tests/plain/stream_kit.h"

#define STREAMS 10000
#define SHORT_STREAMS 2500
#define SLOW_STREAMS 300 // under valgrind
#define STREAM_LINES 60  // of each

static void insert(struct nvtxt_buf *text, size_t at, const char *piece) {
    struct nvtxt_buf whole = {0};
    nvtxt_buf_add(&whole, text->data, at);
    nvtxt_buf_add_string(&whole, piece);
    nvtxt_buf_add(&whole, text->data + at, text->len - at);
    nvtxt_buf_deinit(text);
    *text = whole;
}

static void cut(struct nvtxt_buf *text, size_t from, size_t to) {
    memmove(text->data + from, text->data + to, text->len - to);
    text->len -= to - from;
}

// Puts a variable in the place of what is between two commas.
static void put_variable(struct chance *chance, struct nvtxt_buf *line) {
    static const char *const names[] = {"$A", "$B", "$T", "$Message", "$Time", "$Undefined"};
    size_t from = below(chance, (unsigned)line->len);
    while (from > 0 && line->data[from - 1] != ',') {
        from--;
    }
    size_t to = from;
    while (to < line->len && line->data[to] != ',') {
        to++;
    }
    cut(line, from, to);
    insert(line, from, PICK(chance, names));
}

static void change(struct chance *chance, struct nvtxt_buf *line) {
    static const char *const pieces[] = {" ", "\t", ",", "\"", "'",  "\\",   "-", "0",
                                         "7", "x",  "#", "@",  "\r", "\xff", "=", "\xc3\xa9"};
    size_t at = line->len > 0 ? below(chance, (unsigned)line->len) : 0;
    switch (line->len > 0 ? below(chance, 5) : 0) {
    case 0:
        insert(line, at, PICK(chance, pieces));
        break;
    case 1:
        cut(line, at, at + 1);
        break;
    case 2:
        line->data[at] = (char)below(chance, 256);
        break;
    case 3:
        insert(line, line->len, PICK(chance, pieces));
        break;
    default:
        put_variable(chance, line);
    }
}

static void add_line(struct chance *chance, struct nvtxt_slice line, struct nvtxt_buf *bytes) {
    struct nvtxt_buf changed = {0};
    nvtxt_buf_add(&changed, line.data, line.len);
    if (one_in(chance, 4)) {
        change(chance, &changed);
    }
    nvtxt_buf_add(bytes, changed.data, changed.len);
    nvtxt_buf_add_string(bytes, one_in(chance, 10) ? "\r\n" : "\n");
    if (nvtxt_buf_failed(&changed) || nvtxt_buf_failed(bytes)) {
        errx(71, "out of memory");
    }
    nvtxt_buf_deinit(&changed);
}

static void take_lines(struct both *both, struct nvtxt_frame *frame, struct chance *chance,
                       struct nvtxt_slice input) {
    struct nvtxt_slice line;
    int kind;
    while ((kind = nvtxt_frame_next(frame, &input, &line)) != NVTXT_FRAME_MORE) {
        // A copy of just its size, freed at once: nothing may be read after a line, or point there.
        char *copy = malloc(line.len ?: 1);
        if (!copy) {
            errx(71, "out of memory");
        }
        memcpy(copy, line.data, line.len);
        both_line(both, kind == NVTXT_FRAME_OVERLONG, (struct nvtxt_slice){copy, line.len});
        free(copy);
        if (one_in(chance, 30)) {
            both_interrupt(both);
        }
    }
}

static uint64_t run(uint64_t seed, bool show) {
    static struct stream stream;
    struct nvtxt_buf bytes = {0};
    struct nvtxt_frame frame;
    struct both both;
    make_stream(&stream, seed);
    struct chance *chance = &stream.chance;
    for (size_t i = 0; i < STREAM_LINES; i++) {
        add_line(chance, stream_line(&stream, i), &bytes);
    }
    if (show) {
        fwrite(bytes.data, 1, bytes.len, stdout);
        fflush(stdout);
    }
    struct nvtxt_source_config config = make_config(chance);
    config.nvtx = stream.nvtx;
    config.escapes = stream.nvtx || one_in(chance, 2);
    config.levels = one_in(chance, 4);
    both_start(&both, &config);
    nvtxt_frame_init(&frame, config.limits.line_bytes);
    for (size_t at = 0, piece; at < bytes.len; at += piece) {
        piece = nvtxt_min(seed % 4 ? 1 + below(chance, 200) : 1, bytes.len - at);
        take_lines(&both, &frame, chance, (struct nvtxt_slice){bytes.data + at, piece});
    }
    nvtxt_frame_deinit(&frame);
    uint64_t fitting = both.fitting;
    both_finish(&both);
    nvtxt_buf_deinit(&bytes);
    nvtxt_buf_deinit(&stream.text);
    return fitting;
}

int main(int argc, char **argv) {
    if (argc > 1) {
        run(strtoull(argv[1], NULL, 10), true);
        return 0;
    }
    uint64_t fitting = 0;
    uint64_t streams = getenv("NVTXT_TEST_WRAPPER") ? SLOW_STREAMS
                       : getenv("NVTXT_TEST_SHORT") ? SHORT_STREAMS
                                                    : STREAMS;
    for (uint64_t seed = 0; seed < streams; seed++) {
        fitting += run(seed, false);
    }
    printf("# %llu of %llu lines were read by their shape\n", (unsigned long long)fitting,
           (unsigned long long)streams * STREAM_LINES);
    return fitting < streams * STREAM_LINES / 5; // else there is nothing to compare
}
