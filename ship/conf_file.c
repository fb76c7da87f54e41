// SPDX-License-Identifier: Apache-2.0
//
// Reads line by line, so that each fault has its line; reading goes on after a fault. The rules are
// those of nvtxtd's files: a comment is a line with # or ; first, or what stands after a blank and
// a ; in any other.
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "protocol/base/near.h"
#include "ship/conf.h"

#define SECTION "[nvtxt-ship]"
#define BLANKS " \t\r\n\v\f"
#define LINE_BYTES 198

struct reader {
    const char *path;
    unsigned line;
    bool in_section;
    bool unknown_section; // it was complained of
    bool faulty, no_memory;
    struct ship_conf *conf;
    const struct ship_complaints *complaints;
};

static void fault(struct reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void fault(struct reader *reader, const char *format, ...) {
    char sentence[PATH_MAX + NAME_MAX + 512];
    va_list args;
    int n = snprintf(sentence, sizeof(sentence), "%s:%u: ", reader->path, reader->line);
    va_start(args, format);
    if (n > 0 && (size_t)n < sizeof(sentence)) {
        vsnprintf(sentence + n, sizeof(sentence) - (size_t)n, format, args);
    }
    va_end(args);
    reader->faulty = true;
    reader->complaints->complain(reader->complaints->context, sentence);
}

static const char *name_at(const void *context, size_t index) {
    (void)context;
    return index < ship_key_count ? ship_keys[index].name : NULL;
}

static void unknown_key(struct reader *reader, const char *name) {
    const char *near = nvtxt_near(nvtxt_slice_of(name), name_at, NULL);
    if (near) {
        fault(reader, "unknown key '%.64s': did you mean '%s'?", name, near);
    } else {
        fault(reader, "unknown key '%.64s': nvtxt-ship.conf(5) lists what is allowed", name);
    }
}

static void take_key(struct reader *reader, const char *name, const char *value) {
    char why[256];
    const struct ship_key *key = ship_conf_find(name);
    if (!key) {
        unknown_key(reader, name);
        return;
    }
    if (key->type == SHIP_PATH && *value && *value != '/') {
        fault(reader, "bad value '%.64s' for %s: an absolute path is expected", value, name);
        return;
    }
    int r = ship_conf_set(reader->conf, key, value, why, sizeof(why));
    reader->no_memory = reader->no_memory || r < 0;
    if (r > 0) {
        fault(reader, "bad value '%.64s' for %s: %s", value, name, why);
    }
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

static void take_line(struct reader *reader, char *line) {
    line = trimmed(line);
    if (*line == '\0' || *line == '#' || *line == ';') {
        return;
    }
    if (strlen(line) > LINE_BYTES) {
        fault(reader, "the line is too long: at most %d bytes are allowed", LINE_BYTES);
        return;
    }
    cut_comment(line);
    line = trimmed(line);
    if (*line == '[') {
        reader->in_section = strcmp(line, SECTION) == 0;
        reader->unknown_section = !reader->in_section;
        if (reader->unknown_section) {
            fault(reader, "unknown section '%.64s': only " SECTION " is known", line);
        }
        return;
    }
    char *equal = strchr(line, '=');
    if (!equal) {
        fault(reader, "a line of the form Key=Value is expected");
        return;
    }
    *equal = '\0';
    const char *name = trimmed(line);
    if (reader->in_section) {
        take_key(reader, name, trimmed(equal + 1));
    } else if (!reader->unknown_section) {
        fault(reader, "'%.64s' stands before the section " SECTION, name);
    }
}

static int read_file(struct reader *reader, const char *path, bool must_exist) {
    FILE *file = fopen(path, "re");
    if (!file) {
        return errno == ENOENT && !must_exist ? 0 : -errno;
    }
    char *text = NULL;
    size_t size = 0;
    ssize_t n;
    reader->path = path;
    reader->line = 0;
    reader->in_section = reader->unknown_section = false;
    errno = 0;
    while ((n = getline(&text, &size, file)) >= 0) {
        bool has_mark = reader->line++ == 0 && strncmp(text, "\xEF\xBB\xBF", 3) == 0;
        if (strlen(text) != (size_t)n) {
            fault(reader, "the line has a NUL byte");
        } else {
            take_line(reader, text + (has_mark ? 3 : 0));
        }
        errno = 0;
    }
    int r = ferror(file) || errno == ENOMEM ? -(errno ?: EIO) : 0;
    free(text);
    fclose(file);
    return r;
}

static void cannot_read(struct reader *reader, const char *path, int r) {
    char sentence[PATH_MAX + NAME_MAX + 512];
    snprintf(sentence, sizeof(sentence), "the configuration '%s' cannot be read: %s", path,
             strerror(-r));
    reader->faulty = true;
    reader->complaints->complain(reader->complaints->context, sentence);
}

static int is_drop_in(const struct dirent *entry) {
    size_t len = strlen(entry->d_name);
    return entry->d_name[0] != '.' && len > 5 && strcmp(entry->d_name + len - 5, ".conf") == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
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
        free(drop_ins[i]);
    }
    free(drop_ins);
}

int ship_conf_load(struct ship_conf *conf, const char *path, bool must_exist,
                   const struct ship_complaints *complaints) {
    struct reader reader = {.conf = conf, .complaints = complaints};
    int r = strlen(path) + 2 >= PATH_MAX ? -ENAMETOOLONG : read_file(&reader, path, must_exist);
    if (r < 0) {
        cannot_read(&reader, path, r);
    } else {
        read_drop_ins(&reader, path);
    }
    return reader.no_memory ? -ENOMEM : reader.faulty;
}

void ship_conf_path(char *path, size_t size) {
    const char *given = getenv("CONFIGURATION_DIRECTORY");
    const char *own = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    if (given && *given == '/') {
        snprintf(path, size, "%.*s/nvtxt-ship.conf", (int)strcspn(given, ":"), given);
    } else if (geteuid() == 0 || !((own && *own == '/') || (home && *home == '/'))) {
        snprintf(path, size, "/etc/nvtxtd/nvtxt-ship.conf");
    } else if (own && *own == '/') {
        snprintf(path, size, "%s/nvtxtd/nvtxt-ship.conf", own);
    } else {
        snprintf(path, size, "%s/.config/nvtxtd/nvtxt-ship.conf", home);
    }
}
