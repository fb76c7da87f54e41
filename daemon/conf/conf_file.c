// SPDX-License-Identifier: Apache-2.0
//
// inih parses, but gets its lines from read_line(). In the build that Debian ships it gives its
// handler no line numbers, so read_line() counts: the handler runs while the line read last is
// parsed. inih also accepts without a word, or understands otherwise, what we refuse: long lines,
// continuations, keys without value. read_line() sees these too, and gives inih an empty line
// instead.
#include "daemon/conf/conf_file.h"

#include <dirent.h>
#include <errno.h>
#include <ini.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define SECTION "nvtxtd"
#define BLANKS " \t\r\n\v\f"

// Where a key was set last, for faults that only all files together show.
struct origin {
    size_t file; // number of the file in the order of reading, from 1; 0: the key was not set
    unsigned line;
};

struct reader {
    FILE *file;
    const char *path;
    size_t number; // of the file
    unsigned line;
    bool known_section;
    bool faulty;
    bool no_memory;
    char *text; // of getline()
    size_t text_size;
    struct conf *config;
    struct origin *origins; // one for each key
    const struct conf_faults *faults;
};

static void fault(struct reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void fault(struct reader *reader, const char *format, ...) {
    char sentence[PATH_MAX + 512];
    va_list args;
    int n = snprintf(sentence, sizeof(sentence), "%s:%u: ", reader->path, reader->line);
    va_start(args, format);
    if (n > 0 && (size_t)n < sizeof(sentence)) {
        vsnprintf(sentence + n, sizeof(sentence) - (size_t)n, format, args);
    }
    va_end(args);
    reader->faulty = true;
    reader->faults->complain(reader->faults->context, sentence);
}

// ---- Lines -------------------------------------------------------------------------------------

static void check_section(struct reader *reader, const char *line) {
    size_t len = strcspn(line + 1, "]");
    reader->known_section = len == strlen(SECTION) && memcmp(line + 1, SECTION, len) == 0;
    if (line[1 + len] != ']') {
        fault(reader, "a section of the form [nvtxtd] is expected");
    } else if (!reader->known_section) {
        fault(reader, "unknown section '[%.*s]': only [nvtxtd] is known", len > 64 ? 64 : (int)len,
              line + 1);
    }
}

// Returns whether inih has to see the line.
static bool check_line(struct reader *reader, const char *line, size_t len) {
    if (*line == '\0' || *line == '#' || *line == ';') {
        return false;
    }
    if (len > CONF_FILE_LINE_BYTES) {
        fault(reader, "the line is too long: at most %d bytes are allowed", CONF_FILE_LINE_BYTES);
        return false;
    }
    if (*line == '[') {
        check_section(reader, line);
        return true;
    }
    if (line[strcspn(line, "=:")] != '=') {
        fault(reader, "a line of the form Key=Value is expected");
        return false;
    }
    return true;
}

static char *read_line(char *buffer, int size, void *stream) {
    struct reader *reader = stream;
    ssize_t n = getline(&reader->text, &reader->text_size, reader->file);
    if (n < 0) {
        return NULL;
    }
    reader->line++;
    const char *line = reader->text;
    if (reader->line == 1 && strncmp(line, "\xEF\xBB\xBF", 3) == 0) {
        line += 3;
    }
    bool nul = strlen(reader->text) != (size_t)n;
    line += strspn(line, BLANKS);
    size_t len = strlen(line);
    while (len > 0 && strchr(BLANKS, line[len - 1])) {
        reader->text[line - reader->text + (ssize_t)--len] = '\0';
    }
    if (nul) {
        fault(reader, "the line has a NUL byte");
    }
    bool wanted = !nul && check_line(reader, line, len) && len + 1 < (size_t)size;
    snprintf(buffer, (size_t)size, "%s\n", wanted ? line : "");
    return buffer;
}

static void unknown_key(struct reader *reader, const char *name) {
    const char *near = conf_near(name);
    if (near) {
        fault(reader, "unknown key '%.64s': did you mean '%s'?", name, near);
    } else {
        fault(reader, "unknown key '%.64s': nvtxtd.conf(5) lists what is allowed", name);
    }
}

// A path in a file must be absolute and not too long. Returns whether it is.
static bool check_path(struct reader *reader, const struct conf_key *key, const char *value) {
    if (*value && *value != '/') {
        fault(reader, "bad value '%.64s' for %s: an absolute path is expected", value, key->name);
    } else if (key->max > 0 && strlen(value) > (size_t)key->max) {
        fault(reader, "bad value '%.64s' for %s: a path of at most %lld bytes is expected", value,
              key->name, (long long)key->max);
    } else {
        return true;
    }
    return false;
}

static int on_key(void *user, const char *section, const char *name, const char *value) {
    struct reader *reader = user;
    char why[256];
    if (!*section) {
        fault(reader, "'%.64s' stands before the section [nvtxtd]", name);
    }
    if (!reader->known_section) {
        return 1; // check_section() has reported it
    }
    const struct conf_key *key = conf_find(name);
    if (!key) {
        unknown_key(reader, name);
        return 1;
    }
    bool is_path = key->type == CONF_PATH || key->type == CONF_PATHS;
    if (is_path && !check_path(reader, key, value)) {
        return 1;
    }
    int r = conf_set(reader->config, key, value, why, sizeof(why));
    if (r < 0) {
        reader->no_memory = true;
    }
    if (r > 0) {
        fault(reader, "bad value '%.64s' for %s: %s", value, name, why);
    }
    if (r == 0) {
        reader->origins[key - conf_keys] =
            (struct origin){.file = reader->number, .line = reader->line};
    }
    return 1;
}

static int read_file(struct reader *reader, const char *path, bool must_exist) {
    reader->path = path;
    reader->number++;
    reader->line = 0;
    reader->known_section = false;
    reader->file = fopen(path, "re");
    if (!reader->file) {
        return errno == ENOENT && !must_exist ? 0 : -errno;
    }
    errno = 0;
    int r = ini_parse_stream(read_line, reader, on_key, reader);
    int unreadable = ferror(reader->file) ? errno : 0;
    fclose(reader->file);
    if (unreadable) {
        return -unreadable;
    }
    return r < 0 || reader->no_memory ? -ENOMEM : 0;
}

// ---- Files -------------------------------------------------------------------------------------

static int is_drop_in(const struct dirent *entry) {
    size_t len = strlen(entry->d_name);
    return entry->d_name[0] != '.' && len > 5 && strcmp(entry->d_name + len - 5, ".conf") == 0;
}

// By bytes, in any locale.
static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void cannot_read(struct reader *reader, const char *path, int r) {
    char sentence[PATH_MAX + NAME_MAX + 512];
    snprintf(sentence, sizeof(sentence), "the configuration '%s' cannot be read: %s", path,
             strerror(-r));
    reader->faulty = true;
    reader->faults->complain(reader->faults->context, sentence);
}

// Checks what the files say together. The fault is reported where the second of the two keys was
// set.
static void check_whole(struct reader *reader, const char *path, const char *folder,
                        struct dirent **drop_ins) {
    const struct conf_key *keys[2];
    char why[256], name[PATH_MAX + NAME_MAX + 2];
    if (reader->faulty || conf_check(reader->config, keys, why, sizeof(why)) == 0) {
        return;
    }
    struct origin at = {0};
    for (size_t i = 0; i < 2; i++) {
        const struct origin *origin = &reader->origins[keys[i] - conf_keys];
        if (origin->file > at.file || (origin->file == at.file && origin->line > at.line)) {
            at = *origin;
        }
    }
    snprintf(name, sizeof(name), "%s%s%s", at.file > 1 ? folder : path, at.file > 1 ? "/" : "",
             at.file > 1 ? drop_ins[at.file - 2]->d_name : "");
    reader->path = name;
    reader->line = at.line;
    fault(reader, "%s", why);
}

static void read_drop_ins(struct reader *reader, const char *path) {
    char folder[PATH_MAX], file[PATH_MAX + NAME_MAX + 2];
    struct dirent **drop_ins = NULL;
    snprintf(folder, sizeof(folder), "%s.d", path);
    int count = scandir(folder, &drop_ins, is_drop_in, by_name);
    if (count < 0 && errno != ENOENT && errno != ENOTDIR) {
        cannot_read(reader, folder, -errno);
    }
    for (int i = 0; i < count; i++) {
        snprintf(file, sizeof(file), "%s/%s", folder, drop_ins[i]->d_name);
        int r = read_file(reader, file, true);
        if (r < 0) {
            cannot_read(reader, file, r);
        }
    }
    check_whole(reader, path, folder, drop_ins);
    for (int i = 0; i < count; i++) {
        free(drop_ins[i]);
    }
    free(drop_ins);
}

int conf_file_load(struct conf *config, const char *path, bool must_exist,
                   const struct conf_faults *faults) {
    struct origin origins[CONF_KEYS_MAX] = {0};
    struct reader reader = {.config = config, .origins = origins, .faults = faults};
    int r = strlen(path) + 2 >= PATH_MAX ? -ENAMETOOLONG : read_file(&reader, path, must_exist);
    if (r < 0) {
        cannot_read(&reader, path, r);
    } else {
        read_drop_ins(&reader, path);
    }
    free(reader.text);
    return r < 0 ? r : reader.faulty;
}
