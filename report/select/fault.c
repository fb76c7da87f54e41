// SPDX-License-Identifier: Apache-2.0
//
// The line with the caret has one blank for each column that the value takes before the place: none
// for a combining character, two for a wide one. The table of both has the blocks that a terminal
// draws so, not every character of Unicode.
#include "report/select/fault.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include "protocol/base/utf8.h"

struct block {
    uint32_t first, last;
    int columns;
};

static const struct block blocks[] = {
    {0x0300, 0x036F, 0},   {0x1AB0, 0x1AFF, 0},   {0x1100, 0x115F, 2},   {0x1DC0, 0x1DFF, 0},
    {0x200B, 0x200F, 0},   {0x20D0, 0x20FF, 0},   {0x2E80, 0x303E, 2},   {0x3041, 0x4DBF, 2},
    {0x4E00, 0xA4CF, 2},   {0xA960, 0xA97F, 2},   {0xAC00, 0xD7A3, 2},   {0xF900, 0xFAFF, 2},
    {0xFE00, 0xFE0F, 0},   {0xFE20, 0xFE2F, 0},   {0xFE30, 0xFE6F, 2},   {0xFF00, 0xFF60, 2},
    {0xFFE0, 0xFFE6, 2},   {0x1F300, 0x1F64F, 2}, {0x1F680, 0x1F6FF, 2}, {0x1F900, 0x1FAFF, 2},
    {0x20000, 0x3FFFD, 2},
};

static int columns_of(const char *data, size_t len) {
    uint32_t point = nvtxt_utf8_point(data, len);
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
        if (point >= blocks[i].first && point <= blocks[i].last) {
            return blocks[i].columns;
        }
    }
    return 1;
}

// Writes the text so that each character takes the columns that this returns for the first `until`
// bytes.
static size_t write_text(struct nvtxt_buf *to, struct nvtxt_slice text, size_t until) {
    size_t columns = 0;
    struct nvtxt_slice shown;
    for (size_t i = 0; i < text.len;) {
        bool is_character = nvtxt_utf8_sequence(text.data + i, text.len - i) > 0;
        i += nvtxt_utf8_shown((struct nvtxt_slice){text.data + i, text.len - i}, &shown);
        shown = is_character ? shown : NVTXT_SLICE("?");
        nvtxt_buf_add(to, shown.data, shown.len);
        columns += i <= until && shown.len > 0 ? (size_t)columns_of(shown.data, shown.len) : 0;
    }
    return columns;
}

void report_fault_write(const struct report_fault *fault, struct nvtxt_buf *message) {
    nvtxt_buf_add_string(message, "--");
    nvtxt_buf_add_string(message, fault->option);
    nvtxt_buf_add_string(message, " '");
    write_text(message, fault->text, 0);
    nvtxt_buf_add_string(message, "': ");
    write_text(message, nvtxt_slice_of(fault->sentence), 0);
    if (fault->column == 0) {
        return;
    }
    nvtxt_buf_add_string(message, "\n  ");
    size_t columns = write_text(message, fault->text, fault->column - 1);
    nvtxt_buf_add_string(message, "\n  ");
    for (size_t i = 0; i < columns; i++) {
        nvtxt_buf_add_string(message, " ");
    }
    nvtxt_buf_add_string(message, "^");
}

void report_fault_set(struct report_fault *fault, size_t column, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(fault->sentence, sizeof(fault->sentence), format, args);
    va_end(args);
    fault->column = column;
}
