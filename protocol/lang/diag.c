// SPDX-License-Identifier: Apache-2.0
//
// The X-macro becomes one table. Messages are written with vsnprintf() and then copied character by
// character, so that everything of a peer is printable and valid UTF-8 when it leaves this file.
#include "protocol/lang/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "protocol/base/utf8.h"

static const struct {
    const char *name;
    const char *meaning;
    enum nvtxt_stage stage;
    enum nvtxt_severity severity;
} codes[NVTXT_DIAG_CODE_COUNT] = {
#define X(id, code, stage, severity, meaning)                                                      \
    [NVTXT_DIAG_##id] = {code, meaning, NVTXT_##stage, NVTXT_##severity},
    NVTXT_DIAG_CODES(X)
#undef X
};

const char *nvtxt_diag_code_name(enum nvtxt_diag_code code) {
    return codes[code].name;
}

enum nvtxt_stage nvtxt_diag_stage(enum nvtxt_diag_code code) {
    return codes[code].stage;
}

enum nvtxt_severity nvtxt_diag_severity(enum nvtxt_diag_code code) {
    return codes[code].severity;
}

const char *nvtxt_diag_meaning(enum nvtxt_diag_code code) {
    return codes[code].meaning;
}

const char *nvtxt_stage_name(enum nvtxt_stage stage) {
    static const char *const names[] = {"lexing", "parsing", "loading"};
    return names[stage];
}

const char *nvtxt_severity_name(enum nvtxt_severity severity) {
    static const char *const names[] = {"error", "warning"};
    return names[severity];
}

// Whether people are shown something else for the first character.
static bool is_hidden(struct nvtxt_slice text) {
    struct nvtxt_slice shown;
    (void)nvtxt_utf8_shown(text, &shown);
    return shown.data != text.data;
}

// Copies `text` to `out`, at most `size - 1` bytes and never a part of a character. Bytes outside
// UTF-8 become U+FFFD, and so does NUL; when `one_line` also what people are not shown as it is.
static void copy_clean(char *out, size_t size, struct nvtxt_slice text, bool one_line) {
    size_t written = 0;
    for (size_t i = 0; i < text.len;) {
        size_t n = nvtxt_utf8_sequence(text.data + i, text.len - i);
        bool bad = n == 0 || text.data[i] == '\0' ||
                   (one_line && is_hidden((struct nvtxt_slice){text.data + i, text.len - i}));
        const char *from = bad ? "\xEF\xBF\xBD" : text.data + i;
        size_t len = bad ? 3 : n;
        if (written + len >= size) {
            break;
        }
        memcpy(out + written, from, len);
        written += len;
        i += n ?: 1;
    }
    out[written] = '\0';
}

void nvtxt_diag_set(struct nvtxt_diag *diag, enum nvtxt_diag_code code, uint32_t column,
                    const char *format, ...) {
    char raw[NVTXT_DIAG_MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(raw, sizeof(raw), format, args);
    va_end(args);
    size_t kept = length < 0 ? 0 : (size_t)length < sizeof(raw) ? (size_t)length : sizeof(raw) - 1;
    diag->code = code;
    diag->column = column;
    diag->line = 0;
    diag->excerpt[0] = '\0';
    copy_clean(diag->message, sizeof(diag->message), (struct nvtxt_slice){raw, kept}, true);
}

void nvtxt_diag_suggest(struct nvtxt_diag *diag, const char *near) {
    size_t len = strlen(diag->message);
    if (near) {
        snprintf(diag->message + len, sizeof(diag->message) - len, "; did you mean '%s'?", near);
    }
}

// The start of the line, as long as an excerpt may be. A valid character that the cut would split
// is left out.
static struct nvtxt_slice cut(struct nvtxt_slice line) {
    if (line.len <= NVTXT_EXCERPT_BYTES) {
        return line;
    }
    size_t end = NVTXT_EXCERPT_BYTES;
    for (size_t back = 1; back <= 3; back++) {
        size_t n = nvtxt_utf8_sequence(line.data + end - back, line.len - end + back);
        if (n > back) {
            end -= back;
        }
        if (n > 0) {
            break;
        }
    }
    return (struct nvtxt_slice){line.data, end};
}

struct nvtxt_slice nvtxt_excerpt(struct nvtxt_slice line, char buffer[NVTXT_DIAG_EXCERPT_SIZE]) {
    line = cut(line);
    size_t i = 0;
    while (i < line.len && (signed char)line.data[i] > 0) {
        i++;
    }
    if (i == line.len) {
        return line;
    }
    copy_clean(buffer, NVTXT_DIAG_EXCERPT_SIZE, line, false);
    return nvtxt_slice_of(buffer);
}

void nvtxt_diag_set_excerpt(struct nvtxt_diag *diag, struct nvtxt_slice line) {
    copy_clean(diag->excerpt, sizeof(diag->excerpt), cut(line), false);
}

int nvtxt_diag_format(char *buffer, size_t size, const char *source, uint64_t line, uint32_t column,
                      const char *severity, const char *message, const char *code) {
    return snprintf(buffer, size, "%s:%llu:%u: %s: %s [%s]", source, (unsigned long long)line,
                    column, severity, message, code);
}
