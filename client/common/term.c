// SPDX-License-Identifier: Apache-2.0
//
// Each message is built in a buffer and written with one call, so that the lines of several
// processes on one terminal do not mix.
#include "client/common/term.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "protocol/base/utf8.h"

#define SAY_BYTES 6144  // a path of PATH_MAX bytes and a sentence round it
#define WIPE "\r\033[K" // to the first column, then clear to the end of the line

static void put(const char *text, size_t len) {
    while (len > 0) {
        ssize_t n = write(STDERR_FILENO, text, len);
        if (n <= 0) {
            return; // nobody can read it
        }
        text += n;
        len -= (size_t)n;
    }
}

// Whoever started us may have closed stderr. Then a socket or a store would get that descriptor,
// and our sentences.
static void occupy_standard_descriptors(void) {
    int fd;
    do {
        fd = open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO) {
        close(fd);
    }
}

static bool is_dumb(void) {
    const char *kind = getenv("TERM");
    return !kind || strcmp(kind, "dumb") == 0;
}

bool term_has_colour(int fd) {
    const char *no_colour = getenv("NO_COLOR");
    return isatty(fd) && !is_dumb() && !(no_colour && *no_colour);
}

size_t term_columns(int fd) {
    const char *given = getenv("COLUMNS");
    struct winsize window = {0};
    char *end = NULL;
    unsigned long columns = given ? strtoul(given, &end, 10) : 0;
    if (!isatty(fd)) {
        return 0;
    }
    if (columns > 0 && columns <= UINT16_MAX && !*end) {
        return columns;
    }
    return ioctl(fd, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 ? window.ws_col : 80;
}

void term_init(struct term *term, const char *program) {
    occupy_standard_descriptors();
    *term = (struct term){.program = program};
    term->is_terminal = isatty(STDERR_FILENO) && !is_dumb();
    term->colour = term_has_colour(STDERR_FILENO);
}

void term_wipe(struct term *term) {
    if (term->drawn) {
        put(WIPE, sizeof(WIPE) - 1);
        term->drawn = false;
    }
}

void term_printable(char *out, size_t size, const char *text) {
    (void)nvtxt_utf8_show(out, size, nvtxt_slice_of(text));
}

bool term_print(const char *text, size_t len) {
    struct nvtxt_slice left = {text, len}, shown = left;
    bool is_terminal = isatty(STDOUT_FILENO);
    for (size_t taken = len; left.len > 0; left.data += taken, left.len -= taken) {
        taken = is_terminal ? nvtxt_utf8_shown_in_lines(left, &shown) : left.len;
        if (fwrite(shown.data, 1, shown.len, stdout) != shown.len) {
            return false;
        }
    }
    return fflush(stdout) == 0;
}

void term_begin_round(struct term *term, struct term_round rounds[2]) {
    struct term_round *before = term->now ?: &rounds[1];
    term->now = before == &rounds[0] ? &rounds[1] : &rounds[0];
    term->before = before;
    term->now->count = 0;
    term->now->has_more = false;
}

static bool has_line(const struct term_round *round, uint64_t line) {
    for (size_t i = 0; i < round->count; i++) {
        if (round->lines[i] == line) {
            return true;
        }
    }
    return false;
}

// FNV-1a: only lines of this program are compared.
static uint64_t hash_line(const char *line) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *line; line++) {
        hash = (hash ^ (unsigned char)*line) * UINT64_C(0x100000001b3);
    }
    return hash;
}

// Whether the round has the line, from now on if there is room.
static bool keeps_line(struct term_round *round, uint64_t line) {
    bool has = has_line(round, line);
    if (!has && round->count < TERM_HEARD) {
        round->lines[round->count++] = line;
        has = true;
    }
    return has;
}

static void say_more(struct term *term) {
    struct term_round *now = term->now;
    if (!now->has_more && !term->before->has_more) {
        term->now = NULL; // so that this line is shown
        term_say(term, "there are more than %d different messages: the others are not shown",
                 TERM_HEARD);
        term->now = now;
    }
    now->has_more = true;
}

// Whether a line is not to be shown: it was in the round before, or this round has no room for it.
static bool is_hidden(struct term *term, const char *line) {
    uint64_t hash = hash_line(line);
    if (!term->now) {
        return false;
    }
    if (!keeps_line(term->now, hash)) {
        say_more(term);
        return true;
    }
    return has_line(term->before, hash);
}

void term_line(struct term *term, const char *line) {
    if (is_hidden(term, line)) {
        return;
    }
    term_wipe(term);
    size_t len = strlen(line);
    char *copy = malloc(len + 1);
    if (!copy) {
        put(line, len);
        put("\n", 1);
        return;
    }
    memcpy(copy, line, len);
    copy[len] = '\n';
    put(copy, len + 1);
    free(copy);
}

void term_say(struct term *term, const char *format, ...) {
    char text[SAY_BYTES], shown[SAY_BYTES];
    int named = snprintf(text, sizeof(text), "%s: ", term->program);
    va_list args;
    va_start(args, format);
    vsnprintf(text + named, sizeof(text) - (size_t)named, format, args);
    va_end(args);
    term_printable(shown, sizeof(shown), text);
    term_line(term, shown);
}

void term_progress(struct term *term, int64_t now_ms, const char *format, ...) {
    if (!term->is_terminal || (term->drawn && now_ms - term->drawn_ms < TERM_PROGRESS_MS)) {
        return;
    }
    struct winsize window = {0};
    size_t width = 80;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0) {
        width = window.ws_col;
    }
    char text[1024], shown[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    term_printable(shown, width < sizeof(shown) ? width : sizeof(shown), text);
    put(WIPE, sizeof(WIPE) - 1);
    put(shown, strlen(shown));
    term->drawn = true;
    term->drawn_ms = now_ms;
}

const char *term_count(char out[TERM_COUNT_SIZE], uint64_t value) {
    char digits[24];
    int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
    int at = 0;
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0) {
            out[at++] = ',';
        }
        out[at++] = digits[i];
    }
    out[at] = '\0';
    return out;
}
