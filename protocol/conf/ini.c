// SPDX-License-Identifier: Apache-2.0
//
// inih parses, but gets its lines from next_line(). In the build that Debian ships it gives its
// handler no line numbers, so next_line() counts: the handler runs while the line read last is
// parsed. inih also accepts without a word, or understands otherwise, what we refuse: long lines,
// continuations, keys without value. next_line() sees these too, and gives inih an empty line
// instead.
#include "protocol/conf/ini.h"

#include <ini.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"

#define BLANKS " \t\r\n\v\f"
// A key of a later version gets this, too.
#define REFUSED(things) " (unknown " things " are refused so that a typing error is seen)"
#define BYTE_ORDER_MARK "\xEF\xBB\xBF"

void nvtxt_ini_fault(struct nvtxt_ini *ini, const char *format, ...) {
    char sentence[2 * PATH_MAX];
    va_list args;
    int n = snprintf(sentence, sizeof(sentence), "%s:%u: ", ini->path, ini->line);
    va_start(args, format);
    if (n > 0 && (size_t)n < sizeof(sentence)) {
        vsnprintf(sentence + n, sizeof(sentence) - (size_t)n, format, args);
    }
    va_end(args);
    ini->faulty = true;
    ini->faults->complain(ini->faults->context, sentence);
}

void nvtxt_ini_unknown_key(struct nvtxt_ini *ini, const char *name, const char *near) {
    if (near) {
        nvtxt_ini_fault(ini, "unknown key '%.64s': did you mean '%s'?" REFUSED("keys"), name, near);
    } else {
        nvtxt_ini_fault(ini, "unknown key '%.64s': %s lists what is allowed" REFUSED("keys"), name,
                        ini->manual);
    }
}

void nvtxt_ini_bad_value(struct nvtxt_ini *ini, const char *name, const char *value,
                         const char *why) {
    nvtxt_ini_fault(ini, "bad value '%.64s' for %s: %s", value, name, why);
}

// The text without blanks round it, within itself.
static char *trimmed(char *text) {
    text += strspn(text, BLANKS);
    size_t len = strlen(text);
    while (len > 0 && strchr(BLANKS, text[len - 1])) {
        text[--len] = '\0';
    }
    return text;
}

static void expect_key(struct nvtxt_ini *ini) {
    nvtxt_ini_fault(ini, "a line of the form Key=Value is expected");
}

// What stands after the ] of a section; "": nothing, or a comment.
static const char *after_section(const char *end) {
    size_t blanks = strspn(end, BLANKS);
    return blanks > 0 && end[blanks] == ';' ? "" : end + blanks;
}

static void check_section(struct nvtxt_ini *ini, const char *line) {
    size_t len = strcspn(line + 1, "]");
    bool closed = line[1 + len] == ']';
    const char *rest = closed ? after_section(line + 2 + len) : "";
    bool known = closed && len == strlen(ini->section) && memcmp(line + 1, ini->section, len) == 0;
    ini->at = known ? NVTXT_INI_INSIDE : NVTXT_INI_ELSEWHERE;
    if (!closed) {
        nvtxt_ini_fault(ini, "a section of the form [%s] is expected", ini->section);
    } else if (!known) {
        nvtxt_ini_fault(ini, "unknown section '[%.*s]': only [%s] is known" REFUSED("sections"),
                        len > 64 ? 64 : (int)len, line + 1, ini->section);
    } else if (*rest) {
        nvtxt_ini_fault(ini, "'%.64s' stands after the section [%s], on its line", rest,
                        ini->section);
    }
}

struct reader {
    struct nvtxt_ini *ini;
    FILE *file;
    char *text; // of getline()
    size_t size;
    bool is_parsed; // the last line: inih found a key in it, or there was none to find
    int result;     // below 0 ends the reading
};

// Returns whether inih has to see the line.
static bool check_line(struct nvtxt_ini *ini, const char *line) {
    if (*line == '\0' || *line == '#' || *line == ';') {
        return false;
    }
    if (strlen(line) > NVTXT_INI_LINE_BYTES) {
        nvtxt_ini_fault(ini, "the line is too long: at most %d bytes are allowed",
                        NVTXT_INI_LINE_BYTES);
        return false;
    }
    if (*line == '[') {
        check_section(ini, line);
        return false;
    }
    if (line[strcspn(line, "=:")] != '=') {
        expect_key(ini);
        return false;
    }
    return true;
}

static const char *read_line(struct reader *reader) {
    struct nvtxt_ini *ini = reader->ini;
    ssize_t n = getline(&reader->text, &reader->size, reader->file);
    if (n < 0) {
        reader->result = feof(reader->file) ? 0 : nvtxt_origin(-errno);
        return NULL;
    }
    bool marked = ++ini->line == 1 && strncmp(reader->text, BYTE_ORDER_MARK, 3) == 0;
    if (strlen(reader->text) != (size_t)n) {
        nvtxt_ini_fault(ini, "the line has a NUL byte");
        return "";
    }
    return trimmed(reader->text + (marked ? 3 : 0));
}

static char *next_line(char *buffer, int size, void *stream) {
    struct reader *reader = stream;
    if (!reader->is_parsed) {
        expect_key(reader->ini); // the = was in a comment
    }
    reader->is_parsed = true;
    const char *line = reader->result < 0 ? NULL : read_line(reader);
    if (!line) {
        return NULL;
    }
    reader->is_parsed = !check_line(reader->ini, line);
    snprintf(buffer, (size_t)size, "%s\n", reader->is_parsed ? "" : line);
    return buffer;
}

static int on_key(void *user, const char *section, const char *name, const char *value) {
    struct reader *reader = user;
    struct nvtxt_ini *ini = reader->ini;
    (void)section; // check_section() has seen it
    reader->is_parsed = true;
    if (ini->at == NVTXT_INI_BEFORE) {
        nvtxt_ini_fault(ini, "'%.64s' stands before the section [%s]", name, ini->section);
    } else if (ini->at == NVTXT_INI_INSIDE) {
        reader->result = ini->take(ini, name, value);
    }
    return 1;
}

int nvtxt_ini_read(struct nvtxt_ini *ini, FILE *file, const char *path) {
    struct reader reader = {.ini = ini, .file = file, .is_parsed = true};
    ini->path = path;
    ini->line = 0;
    ini->at = NVTXT_INI_BEFORE;
    int r = ini_parse_stream(next_line, &reader, on_key, &reader);
    free(reader.text);
    return r < 0 ? nvtxt_origin(-ENOMEM) : reader.result;
}
