// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the text format: what is told is in the order of its places, which are in the text.
#define NVTXT_REPLAY_ALSO "tests/report/text"
#include "tests/fuzz/replay.h"

#include "report/text/lexer.h"
#include "tests/unit/report_text_kit.h"

static void check_messages(const struct report_messages *messages, size_t size) {
    struct report_place last = {0};
    for (size_t i = 0; i < messages->count; i++) {
        struct report_place at = messages->items[i].at;
        must(at.line >= 1 && at.column >= 1 && at.line <= size + 1 && at.column <= size + 1);
        must(at.line > last.line || (at.line == last.line && at.column >= last.column));
        last = at;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct store_arena arena = {0};
    struct report_messages messages = {0};
    struct nvtxt_buf out = {0};
    void *message;
    struct nvtxt_slice text = {(const char *)data, size};
    int r = report_text_parse(&kit_type, text, "file", &arena, &messages, &message);
    must(r == (messages.errors > 0 ? NVTXT_WRONG : 0));
    check_messages(&messages, size);
    if (r == 0) {
        kit_dump(&out, &kit_type, message, 0);
    }
    for (size_t i = 0; i < messages.count; i++) {
        report_message_write(&out, &messages.items[i]);
    }
    nvtxt_buf_deinit(&out);
    report_messages_deinit(&messages);
    store_arena_deinit(&arena);
    return 0;
}
