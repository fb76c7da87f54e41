// SPDX-License-Identifier: Apache-2.0
//
// The buffer is looked at line by line; the end of a line that is not there yet stays in it. Styles
// are bytes that no text of people has: REPORT_STYLE_BOLD and the like. Where a stranger's text has
// them, too, it has a colour to its end.
#include "report/table/screen.h"

#include <string.h>

#include "protocol/base/utf8.h"
#include "protocol/text/shown.h"

#define LONGEST_LINE 65536 // a longer one is folded in pieces
#define HANG 2             // blanks before what is folded, beside those of the line

void report_screen_style(struct nvtxt_out *out, enum report_style style) {
    const char mark = (char)style;
    nvtxt_out_bytes(out, &mark, out->show != NULL);
}

void report_screen_styled(struct nvtxt_out *out, enum report_style style, const char *text) {
    report_screen_style(out, style);
    nvtxt_out_slice(out, nvtxt_slice_of(text));
    report_screen_style(out, REPORT_STYLE_NONE);
}

void report_screen_moment(struct nvtxt_out *out, int64_t ns, const int64_t *before) {
    const struct report_screen *screen = report_screen_of(out);
    char day[NVTXT_SHOWN_TIME], day_before[NVTXT_SHOWN_TIME] = "", clock[NVTXT_SHOWN_TIME];
    if (!screen) {
        nvtxt_out_utc(out, ns);
        return;
    }
    nvtxt_shown_day(day, ns, screen->utc);
    if (before) {
        nvtxt_shown_day(day_before, *before, screen->utc);
    }
    bool same = strcmp(day, day_before) == 0;
    nvtxt_shown_clock(clock, ns, screen->utc, 3);
    nvtxt_out_format(out, "%s%s%s", same ? "" : day, same ? "" : " ", clock);
}

// ---- Lines --------------------------------------------------------------------------------------

struct line {
    struct nvtxt_out *out;
    const struct report_screen *screen;
    char shown[512]; // what is not written yet
    size_t len;
    size_t column, hang;
    bool styled;
};

static void put(struct line *line, const char *data, size_t len) {
    if (line->len + len > sizeof(line->shown)) {
        nvtxt_out_put(line->out, line->shown, line->len);
        line->len = 0;
    }
    memcpy(line->shown + line->len, data, len);
    line->len += len;
}

static void put_style(struct line *line, unsigned char style) {
    static const char *const codes[] = {
        [REPORT_STYLE_NONE] = "\033[0m",    [REPORT_STYLE_BOLD] = "\033[1m",
        [REPORT_STYLE_DIM] = "\033[2m",     [REPORT_STYLE_RED] = "\033[31m",
        [REPORT_STYLE_YELLOW] = "\033[33m", [REPORT_STYLE_GREEN] = "\033[32m",
        [REPORT_STYLE_BLUE] = "\033[34m",
    };
    if (line->screen->colour && (line->styled || style != REPORT_STYLE_NONE)) {
        put(line, codes[style], strlen(codes[style]));
        line->styled = style != REPORT_STYLE_NONE;
    }
}

static bool is_style(char byte) {
    return byte >= REPORT_STYLE_NONE && byte <= REPORT_STYLE_BLUE;
}

// The columns of a text, and of its part that fits into so many: as many bytes of it.
static size_t columns_of(struct nvtxt_slice text, size_t most, size_t *bytes) {
    size_t used = 0, at = 0;
    while (at < text.len) {
        struct nvtxt_slice shown;
        size_t taken = 1, columns = 0;
        if (!is_style(text.data[at])) {
            taken = nvtxt_utf8_shown((struct nvtxt_slice){text.data + at, text.len - at}, &shown);
            columns =
                shown.len > 0 ? nvtxt_utf8_columns(nvtxt_utf8_point(shown.data, shown.len)) : 0;
        }
        if (used + columns > most) {
            break;
        }
        used += columns;
        at += taken;
    }
    *bytes = at;
    return used;
}

static void put_text(struct line *line, struct nvtxt_slice text) {
    while (text.len > 0) {
        struct nvtxt_slice shown;
        size_t taken = 1;
        if (is_style(*text.data)) {
            put_style(line, (unsigned char)*text.data);
        } else {
            taken = nvtxt_utf8_shown(text, &shown);
            put(line, shown.data, shown.len);
        }
        text.data += taken;
        text.len -= taken;
    }
}

// The end of a piece that fits: after the last blank that is not at its beginning, if there is one.
static size_t end_of_words(struct nvtxt_slice text, size_t bytes, size_t least) {
    size_t end = bytes;
    if (text.data[bytes] == ' ') {
        return bytes;
    }
    while (end > least && text.data[end - 1] != ' ') {
        end--;
    }
    return end > least ? end : bytes;
}

static size_t blanks_of(struct nvtxt_slice text) {
    size_t count = 0;
    while (count < text.len && text.data[count] == ' ') {
        count++;
    }
    return count;
}

static void put_blanks(struct line *line, size_t count) {
    for (size_t i = 0; i < count; i++) {
        put(line, " ", 1);
    }
}

// Takes from `text` what fits into a line, with the blanks after it. Returns false if all of it
// does.
static bool cut_piece(const struct report_screen *screen, struct nvtxt_slice *text, size_t indent,
                      size_t before, struct nvtxt_slice *piece) {
    size_t bytes;
    columns_of(*text, screen->width - before, &bytes);
    if (screen->full_names || bytes == text->len) {
        return false;
    }
    size_t end = end_of_words(*text, nvtxt_max(bytes, 1), before > 0 ? 0 : indent);
    *piece = (struct nvtxt_slice){text->data, end};
    while (piece->len > 0 && piece->data[piece->len - 1] == ' ') {
        piece->len--;
    }
    text->data += end;
    text->len -= end;
    size_t blanks = blanks_of(*text);
    text->data += blanks;
    text->len -= blanks;
    return true;
}

static size_t hang_of(const struct report_screen *screen, size_t indent) {
    return nvtxt_min(indent + HANG, screen->width / 2);
}

static void show_line(struct line *line, struct nvtxt_slice text) {
    size_t indent = blanks_of(text), hang = hang_of(line->screen, indent), before = 0;
    struct nvtxt_slice piece;
    while (cut_piece(line->screen, &text, indent, before, &piece)) {
        put_text(line, piece);
        if (text.len == 0) {
            break;
        }
        put(line, "\n", 1);
        put_blanks(line, hang);
        before = hang;
    }
    put_text(line, text);
    put_style(line, REPORT_STYLE_NONE);
}

size_t report_screen_lines(const struct report_screen *screen, struct nvtxt_slice text) {
    size_t count = 0;
    while (text.len > 0) {
        const char *end = memchr(text.data, '\n', text.len);
        struct nvtxt_slice line = {text.data, end ? (size_t)(end - text.data) : text.len}, piece;
        size_t indent = blanks_of(line), hang = hang_of(screen, indent), before = 0;
        text.data += line.len + (end != NULL);
        text.len -= line.len + (end != NULL);
        for (count++; cut_piece(screen, &line, indent, before, &piece) && line.len > 0; count++) {
            before = hang;
        }
    }
    return count;
}

static size_t show(struct nvtxt_out *out, struct nvtxt_slice text, bool last) {
    struct line line = {.out = out, .screen = out->screen};
    size_t taken = 0;
    while (taken < text.len && out->error == 0) {
        const char *begin = text.data + taken, *end = memchr(begin, '\n', text.len - taken);
        size_t len = end ? (size_t)(end - begin) : text.len - taken;
        if (!end && !last && len < LONGEST_LINE) {
            break;
        }
        show_line(&line, (struct nvtxt_slice){begin, len});
        put(&line, "\n", end != NULL);
        taken += len + (end != NULL);
    }
    nvtxt_out_put(out, line.shown, line.len);
    return taken;
}

void report_screen_attach(struct nvtxt_out *out, struct report_screen *screen) {
    screen->width = nvtxt_max(nvtxt_min(screen->width, REPORT_SCREEN_MOST), REPORT_SCREEN_LEAST);
    out->screen = screen;
    out->show = show;
}
