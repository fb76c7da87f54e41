// SPDX-License-Identifier: Apache-2.0
//
// A table has what each variable takes. Numbers are read by hand: strtoull takes signs and blanks,
// and depends on nothing that should matter here.
#include "lib/options.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define KIB 1024u
#define MIB (1024u * 1024u)
#define RING_LEAST (64u * KIB)
#define RING_MOST (64u * MIB)
#define WINDOW_LEAST (1u * MIB) // room for a few of the largest records
#define WINDOW_MOST ((uint64_t)16 * 1024 * MIB)
#define EXIT_MOST_MS 60000u

static bool has_read;

struct lib_options lib_options = {.ring_bytes = MIB, .window_bytes = 32 * MIB, .exit_ms = 500};

void options_complain(const char *format, va_list args) {
    char line[400] = "nvtxt: ";
    size_t start = strlen(line);
    int len = vsnprintf(line + start, sizeof(line) - start - 1, format, args);
    size_t end = len < 0 ? start : start + (size_t)len;
    end = end < sizeof(line) - 1 ? end : sizeof(line) - 2;
    line[end++] = '\n';
    if (write(STDERR_FILENO, line, end) < 0) {
        return; // nobody reads it
    }
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...) {
    va_list args;
    va_start(args, format);
    options_complain(format, args);
    va_end(args);
}

static void complain(const char *variable, const char *value, const char *what, const char *used) {
    say("%s=%.100s is no %s; %s is used", variable, value, what, used);
}

// Digits with K, M or G behind them. Returns false for anything else.
static bool read_size(const char *text, uint64_t *bytes) {
    uint64_t number = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (number > ((uint64_t)1 << 40)) {
            return false;
        }
        number = number * 10 + (uint64_t)(*at - '0');
    }
    unsigned shift = *at == 'K' ? 10 : *at == 'M' ? 20 : *at == 'G' ? 30 : 0;
    *bytes = number << shift;
    return at > text && at[shift ? 1 : 0] == '\0';
}

static bool is_power_of_two(uint64_t number) {
    return number && !(number & (number - 1));
}

static uint64_t power_above(uint64_t number) {
    uint64_t power = 1;
    while (power < number) {
        power *= 2;
    }
    return power;
}

// Seconds with up to three decimals.
static bool read_seconds(const char *text, uint32_t *ms) {
    uint32_t whole = 0, part = 0, scale = 100;
    const char *at = text;
    for (; *at >= '0' && *at <= '9' && whole <= EXIT_MOST_MS; at++) {
        whole = whole * 10 + (uint32_t)(*at - '0');
    }
    bool has_digit = at > text;
    if (*at == '.') {
        for (at++; *at >= '0' && *at <= '9'; at++) {
            part += scale * (uint32_t)(*at - '0');
            scale /= 10;
            has_digit = true;
        }
    }
    *ms = whole * 1000 + part;
    return has_digit && *at == '\0' && whole <= EXIT_MOST_MS / 1000 && *ms <= EXIT_MOST_MS;
}

static void describe(uint64_t bytes, char *to, size_t size) {
    if (bytes % MIB == 0) {
        snprintf(to, size, "%lluM", (unsigned long long)(bytes / MIB));
    } else {
        snprintf(to, size, "%lluK", (unsigned long long)(bytes / KIB));
    }
}

static void read_ring(const char *text) {
    char used[32];
    uint64_t bytes;
    describe(lib_options.ring_bytes, used, sizeof(used));
    if (!read_size(text, &bytes)) {
        complain("NVTXT_RING", text, "size", used);
    } else if (!is_power_of_two(bytes) || bytes < RING_LEAST || bytes > RING_MOST) {
        complain("NVTXT_RING", text, "power of two from 64K to 64M", used);
    } else {
        lib_options.ring_bytes = bytes;
    }
}

static void read_window(const char *text) {
    char used[32];
    uint64_t bytes;
    describe(lib_options.window_bytes, used, sizeof(used));
    if (!read_size(text, &bytes)) {
        complain("NVTXT_WINDOW", text, "size", used);
    } else if (bytes < WINDOW_LEAST || bytes > WINDOW_MOST) {
        complain("NVTXT_WINDOW", text, "size from 1M to 16G", used);
    } else {
        lib_options.window_bytes = power_above(bytes);
    }
}

static void read_exit(const char *text) {
    char used[32];
    uint32_t ms;
    snprintf(used, sizeof(used), "%g", lib_options.exit_ms / 1000.0);
    if (read_seconds(text, &ms)) {
        lib_options.exit_ms = ms;
    } else {
        complain("NVTXT_EXIT_WAIT", text, "number of seconds from 0 to 60", used);
    }
}

static void keep(char *to, size_t size, const char *variable, const char *what) {
    const char *text = getenv(variable);
    if (!text || !*text) {
        return;
    }
    if (strlen(text) >= size) {
        complain(variable, text, what, *to ? to : "none");
        return;
    }
    strcpy(to, text);
}

int options_give(const struct nvtxt_options *given) {
    struct nvtxt_options all = {0};
    if (!given || given->size < sizeof(given->size)) {
        return given ? -EINVAL : 0;
    }
    memcpy(&all, given, given->size < sizeof(all) ? given->size : sizeof(all));
    bool good =
        (!all.ring_bytes || (is_power_of_two(all.ring_bytes) && all.ring_bytes >= RING_LEAST &&
                             all.ring_bytes <= RING_MOST)) &&
        (!all.window_bytes ||
         (all.window_bytes >= WINDOW_LEAST && all.window_bytes <= WINDOW_MOST)) &&
        all.exit_ms <= EXIT_MOST_MS && !all.reserved &&
        (!all.socket || strlen(all.socket) < sizeof(lib_options.socket)) &&
        (!all.name || strlen(all.name) < sizeof(lib_options.name)) &&
        (!all.spool || strlen(all.spool) < sizeof(lib_options.spool));
    if (!good) {
        return -EINVAL;
    }
    strcpy(lib_options.socket, all.socket ? all.socket : "");
    strcpy(lib_options.name, all.name ? all.name : "");
    strcpy(lib_options.spool, all.spool ? all.spool : "");
    lib_options.ring_bytes = all.ring_bytes ? all.ring_bytes : lib_options.ring_bytes;
    lib_options.window_bytes =
        all.window_bytes ? power_above(all.window_bytes) : lib_options.window_bytes;
    lib_options.exit_ms = all.exit_ms ? all.exit_ms : lib_options.exit_ms;
    return 0;
}

void options_read(void) {
    if (has_read) {
        return;
    }
    has_read = true;
    lib_options.is_secure = getauxval(AT_SECURE) != 0;
    if (lib_options.is_secure) {
        return;
    }
    keep(lib_options.socket, sizeof(lib_options.socket), "NVTXT_SOCKET", "path of a socket");
    keep(lib_options.name, sizeof(lib_options.name), "NVTXT_NAME", "name");
    keep(lib_options.spool, sizeof(lib_options.spool), "NVTXT_SPOOL", "path of a folder");
    keep(lib_options.log, sizeof(lib_options.log), "NVTXT_LOG", "path of a file");
    const char *text;
    if ((text = getenv("NVTXT_RING")) && *text) {
        read_ring(text);
    }
    if ((text = getenv("NVTXT_WINDOW")) && *text) {
        read_window(text);
    }
    if ((text = getenv("NVTXT_EXIT_WAIT")) && *text) {
        read_exit(text);
    }
    lib_options.include = getenv("NVTXT_DOMAIN_INCLUDE");
    lib_options.exclude = getenv("NVTXT_DOMAIN_EXCLUDE");
    if (!*lib_options.name) {
        snprintf(lib_options.name, sizeof(lib_options.name), "%s", program_invocation_short_name);
    }
}

static bool is_listed(const char *list, const char *name) {
    size_t len = strlen(name);
    for (const char *at = list; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        size_t item = strcspn(at, ",");
        if (item == len && memcmp(at, name, len) == 0) {
            return true;
        }
    }
    return false;
}

bool options_is_excluded(const char *name) {
    bool wants = lib_options.include && *lib_options.include;
    return (wants && !is_listed(lib_options.include, name)) || is_listed(lib_options.exclude, name);
}

// The folder of one's own daemon in /tmp counts only when it is one's own.
static bool is_mine(const char *folder) {
    struct stat what;
    return lstat(folder, &what) == 0 && S_ISDIR(what.st_mode) && what.st_uid == geteuid();
}

static uint32_t own_paths(char paths[SENDER_PATHS][108], uint32_t count) {
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    char folder[64];
    if (geteuid() == 0) {
        return count;
    }
    if (runtime && *runtime == '/' && strlen(runtime) < 80) {
        snprintf(paths[count++], 108, "%s/nvtxtd/nvtxtd.sock", runtime);
    }
    snprintf(folder, sizeof(folder), "/tmp/nvtxtd-%u", (unsigned)geteuid());
    if (is_mine(folder)) {
        snprintf(paths[count++], 108, "%s/nvtxtd.sock", folder);
    }
    return count;
}

uint32_t options_paths(char paths[SENDER_PATHS][108]) {
    uint32_t count = 0;
    if (*lib_options.socket) {
        strcpy(paths[0], lib_options.socket);
        return 1;
    }
    count = own_paths(paths, count);
    strcpy(paths[count++], "/run/nvtxtd/nvtxtd.sock");
    return count;
}

void options_vlog(const char *format, va_list args) {
    if (!*lib_options.log) {
        return;
    }
    char line[600];
    int len = snprintf(line, sizeof(line), "nvtxt[%u]: ", (unsigned)getpid());
    len += vsnprintf(line + len, sizeof(line) - (size_t)len - 1, format, args);
    len = len < (int)sizeof(line) - 1 ? len : (int)sizeof(line) - 2;
    line[len++] = '\n';
    bool to_stderr = strcmp(lib_options.log, "stderr") == 0;
    int fd = to_stderr ? STDERR_FILENO
                       : open(lib_options.log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY,
                              0600);
    if (fd < 0) {
        return;
    }
    if (write(fd, line, (size_t)len) < 0 && to_stderr) {
        return;
    }
    if (!to_stderr) {
        close(fd);
    }
}

void options_log(const char *format, ...) {
    va_list args;
    va_start(args, format);
    options_vlog(format, args);
    va_end(args);
}
