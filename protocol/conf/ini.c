// SPDX-License-Identifier: Apache-2.0
//
// A line is trimmed and judged in its own buffer. It is a comment with # or ; first; in any other
// line a comment begins at a ; after a blank. There are no continuations and no keys without a
// value, so each line stands for itself.
#include "protocol/conf/ini.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n\v\f"
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
        nvtxt_ini_fault(ini, "unknown key '%.64s': did you mean '%s'?", name, near);
    } else {
        nvtxt_ini_fault(ini, "unknown key '%.64s': %s lists what is allowed", name, ini->manual);
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

static void cut_comment(char *line) {
    for (char *at = strchr(line, ';'); at; at = strchr(at + 1, ';')) {
        if (at > line && strchr(BLANKS, at[-1])) {
            *at = '\0';
            return;
        }
    }
}

static void take_section(struct nvtxt_ini *ini, const char *line) {
    size_t len = strcspn(line + 1, "]");
    bool closed = line[1 + len] == ']';
    bool known = closed && len == strlen(ini->section) && memcmp(line + 1, ini->section, len) == 0;
    ini->at = known ? NVTXT_INI_INSIDE : NVTXT_INI_ELSEWHERE;
    if (!closed) {
        nvtxt_ini_fault(ini, "a section of the form [%s] is expected", ini->section);
    } else if (!known) {
        nvtxt_ini_fault(ini, "unknown section '[%.*s]': only [%s] is known",
                        len > 64 ? 64 : (int)len, line + 1, ini->section);
    }
}

static int take_key(struct nvtxt_ini *ini, char *line) {
    char *equal = line + strcspn(line, "=:");
    if (*equal != '=') {
        nvtxt_ini_fault(ini, "a line of the form Key=Value is expected");
        return 0;
    }
    *equal = '\0';
    const char *name = trimmed(line);
    if (ini->at == NVTXT_INI_BEFORE) {
        nvtxt_ini_fault(ini, "'%.64s' stands before the section [%s]", name, ini->section);
    }
    return ini->at == NVTXT_INI_INSIDE ? ini->take(ini, name, trimmed(equal + 1)) : 0;
}

static int take_line(struct nvtxt_ini *ini, char *line) {
    line = trimmed(line);
    if (*line == '\0' || *line == '#' || *line == ';') {
        return 0;
    }
    if (strlen(line) > NVTXT_INI_LINE_BYTES) {
        nvtxt_ini_fault(ini, "the line is too long: at most %d bytes are allowed",
                        NVTXT_INI_LINE_BYTES);
        return 0;
    }
    cut_comment(line);
    if (*line == '[') {
        take_section(ini, line);
        return 0;
    }
    return take_key(ini, line);
}

int nvtxt_ini_read(struct nvtxt_ini *ini, FILE *file, const char *path) {
    char *text = NULL;
    size_t size = 0;
    ssize_t n;
    int r = 0;
    ini->path = path;
    ini->line = 0;
    ini->at = NVTXT_INI_BEFORE;
    while (r == 0 && (n = getline(&text, &size, file)) >= 0) {
        bool marked = ++ini->line == 1 && strncmp(text, BYTE_ORDER_MARK, 3) == 0;
        if (strlen(text) != (size_t)n) {
            nvtxt_ini_fault(ini, "the line has a NUL byte");
        } else {
            r = take_line(ini, text + (marked ? 3 : 0));
        }
    }
    if (r == 0 && !feof(file)) {
        r = -errno;
    }
    free(text);
    return r;
}
