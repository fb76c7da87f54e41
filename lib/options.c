// SPDX-License-Identifier: Apache-2.0
//
// Numbers are read by hand: strtoull takes signs and blanks, and printf a point of the locale's.
// The texts of the environment are copied, since the program may change it at any time. Who reads
// it first is known by its process, so that a child of a fork meanwhile does not wait for a thread
// that it does not have.
#include "lib/options.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/base/limits.h"
#include "protocol/base/origin.h"
#include "protocol/base/utf8.h"
#include "protocol/text/forms.h"

#define KIB 1024u
#define MIB (1024u * 1024u)
#define RING_LEAST (64u * KIB)
#define RING_MOST (64u * MIB)
#define WINDOW_LEAST (1u * MIB) // room for a few of the largest records
#define WINDOW_MOST ((uint64_t)16 * 1024 * MIB)
#define EXIT_MOST_MS 60000u

struct lib_options lib_options = {.ring_bytes = MIB, .window_bytes = 32 * MIB, .exit_ms = 500};

static _Atomic bool is_read;
static _Atomic int reader; // the process that reads

// What the environment says.
static struct {
    bool ring, window, exit, socket, name, spool;
} has;

// Adds a sentence to a line of `len` bytes, with '?' for what people are not shown as it is.
// Returns its new length, which is below `size`.
__attribute__((format(printf, 4, 0))) static size_t add_shown(char *line, size_t len, size_t size,
                                                              const char *format, va_list args) {
    char sentence[600];
    int printed = vsnprintf(sentence, sizeof(sentence), format, args);
    struct nvtxt_slice text = nvtxt_slice_of(printed < 0 ? "" : sentence), shown;
    for (size_t taken; text.len > 0; text.data += taken, text.len -= taken) {
        taken = nvtxt_utf8_shown(text, &shown);
        shown = shown.data == text.data ? shown : NVTXT_SLICE("?");
        if (len + shown.len >= size) {
            break;
        }
        memcpy(line + len, shown.data, shown.len);
        len += shown.len;
    }
    return len;
}

void options_complain(const char *format, va_list args) {
    char line[400] = "nvtxt: ";
    size_t end = add_shown(line, strlen(line), sizeof(line) - 1, format, args);
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
        number = number * 10 + (uint64_t)(*at - '0');
        if (number > WINDOW_MOST) { // more than any size here
            return false;
        }
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

static bool is_ring_size(uint64_t bytes) {
    return is_power_of_two(bytes) && bytes >= RING_LEAST && bytes <= RING_MOST;
}

static bool is_window_size(uint64_t bytes) {
    return bytes >= WINDOW_LEAST && bytes <= WINDOW_MOST;
}

static void read_ring(const char *text) {
    char used[32];
    uint64_t bytes;
    describe(lib_options.ring_bytes, used, sizeof(used));
    if (!read_size(text, &bytes)) {
        complain("NVTXT_RING", text, "size", used);
    } else if (!is_ring_size(bytes)) {
        complain("NVTXT_RING", text, "power of two from 64K to 64M", used);
    } else {
        lib_options.ring_bytes = bytes;
        has.ring = true;
    }
}

static void read_window(const char *text) {
    char used[32];
    uint64_t bytes;
    describe(lib_options.window_bytes, used, sizeof(used));
    if (!read_size(text, &bytes)) {
        complain("NVTXT_WINDOW", text, "size", used);
    } else if (!is_window_size(bytes)) {
        complain("NVTXT_WINDOW", text, "size from 1M to 16G", used);
    } else {
        lib_options.window_bytes = power_above(bytes);
        has.window = true;
    }
}

// "0.5": no more decimals than it needs.
static void describe_seconds(uint32_t ms, char *to, size_t size) {
    int len = snprintf(to, size, "%u.%03u", ms / 1000, ms % 1000);
    while (to[len - 1] == '0') {
        to[--len] = '\0';
    }
    if (to[len - 1] == '.') {
        to[len - 1] = '\0';
    }
}

static void read_exit(const char *text) {
    char used[32];
    uint32_t ms;
    if (read_seconds(text, &ms)) {
        lib_options.exit_ms = ms;
        has.exit = true;
    } else {
        describe_seconds(lib_options.exit_ms, used, sizeof(used));
        complain("NVTXT_EXIT_WAIT", text, "number of seconds from 0 to 60", used);
    }
}

// The folder of a relative path may change: a path is kept from the root on, where there is room.
static void keep_path(char *to, size_t size, const char *path) {
    char folder[PATH_MAX];
    bool is_relative = *path != '/' && getcwd(folder, sizeof(folder));
    size_t len = is_relative ? strlen(folder) + 1 : 0;
    if (len + strlen(path) >= size) {
        len = 0;
    }
    memcpy(to, folder, len > 0 ? len - 1 : 0);
    if (len > 0) {
        to[len - 1] = '/';
    }
    memcpy(to + len, path, strlen(path) + 1);
}

static const char *environment(const char *variable) {
    const char *text = getenv(variable);
    return text && *text ? text : NULL;
}

static bool read_path(char *to, size_t size, const char *variable, const char *what) {
    const char *text = environment(variable);
    if (text && strlen(text) >= size) {
        complain(variable, text, what, *to ? to : "none");
    } else if (text) {
        keep_path(to, size, text);
        return true;
    }
    return false;
}

// A path that no socket can have is like a daemon that is not there.
static bool read_socket(void) {
    const char *text = environment("NVTXT_SOCKET");
    if (!text) {
        return false;
    }
    lib_options.has_no_socket = strlen(text) > NVTXT_SOCKET_BYTES;
    if (!lib_options.has_no_socket) {
        keep_path(lib_options.socket, sizeof(lib_options.socket), text);
    }
    return true;
}

// The hello is JSON: a name is UTF-8 there.
static void keep_name(const char *name) {
    char repaired[NVTXT_UTF8_GROWTH * sizeof(lib_options.name)];
    struct nvtxt_slice text = {repaired, 0};
    text.len = nvtxt_utf8_repair(
        repaired, (struct nvtxt_slice){name, strnlen(name, sizeof(lib_options.name) - 1)});
    text = nvtxt_slice_cut(text, sizeof(lib_options.name) - 1);
    memcpy(lib_options.name, text.data, text.len);
    lib_options.name[text.len] = '\0';
}

static bool read_name(void) {
    const char *text = environment("NVTXT_NAME");
    if (text && strlen(text) >= sizeof(lib_options.name)) {
        complain("NVTXT_NAME", text, "name of at most 255 bytes", lib_options.name);
        return false;
    }
    if (text) {
        keep_name(text);
    }
    return text != NULL;
}

static void read_parent(void) {
    const char *text = environment(NVTXT_PARENT_VARIABLE);
    if (text && !nvtxt_parent_read(nvtxt_slice_of(text), lib_options.parent)) {
        lib_options.parent[0] = '\0';
        say(NVTXT_PARENT_VARIABLE "=%.60s cannot be read: what is recorded has no parent", text);
    }
}

// A list may have any length.
static const char *copy_list(const char *variable) {
    const char *text = environment(variable);
    size_t size = text ? strlen(text) + 1 : 0;
    char *copy = text ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                      : MAP_FAILED;
    return copy == MAP_FAILED ? NULL : memcpy(copy, text, size);
}

int options_give(const struct nvtxt_options *given) {
    struct nvtxt_options all = {0};
    if (!given || given->size < sizeof(given->size)) {
        return given ? nvtxt_origin(-EINVAL) : 0;
    }
    memcpy(&all, given, given->size < sizeof(all) ? given->size : sizeof(all));
    bool good = (!all.ring_bytes || is_ring_size(all.ring_bytes)) &&
                (!all.window_bytes || is_window_size(all.window_bytes)) &&
                all.exit_ms <= EXIT_MOST_MS && all.levels <= 1 &&
                (!all.socket || strlen(all.socket) <= NVTXT_SOCKET_BYTES) &&
                (!all.name || strlen(all.name) < sizeof(lib_options.name)) &&
                (!all.spool || strlen(all.spool) < sizeof(lib_options.spool));
    if (!good) {
        return nvtxt_origin(-EINVAL);
    }
    if (!has.socket && all.socket) {
        keep_path(lib_options.socket, sizeof(lib_options.socket), all.socket);
    }
    if (!has.name && all.name && *all.name) {
        keep_name(all.name);
    }
    if (!has.spool && all.spool) {
        keep_path(lib_options.spool, sizeof(lib_options.spool), all.spool);
    }
    if (!has.ring && all.ring_bytes) {
        lib_options.ring_bytes = all.ring_bytes;
    }
    if (!has.window && all.window_bytes) {
        lib_options.window_bytes = power_above(all.window_bytes);
    }
    if (!has.exit && all.exit_ms) {
        lib_options.exit_ms = all.exit_ms;
    }
    lib_options.levels = lib_options.levels || all.levels;
    return 0;
}

static void read_all(void) {
    const char *text;
    lib_options.is_secure = getauxval(AT_SECURE) != 0;
    if (!*lib_options.name) {
        keep_name(program_invocation_short_name);
    }
    if (lib_options.is_secure) {
        return;
    }
    has.socket = read_socket();
    has.name = read_name();
    read_parent();
    has.spool =
        read_path(lib_options.spool, sizeof(lib_options.spool), "NVTXT_SPOOL", "path of a folder");
    text = environment("NVTXT_LOG");
    if (text && strcmp(text, "stderr") == 0) {
        strcpy(lib_options.log, text);
    } else {
        read_path(lib_options.log, sizeof(lib_options.log), "NVTXT_LOG", "path of a file");
    }
    if ((text = environment("NVTXT_RING"))) {
        read_ring(text);
    }
    if ((text = environment("NVTXT_WINDOW"))) {
        read_window(text);
    }
    if ((text = environment("NVTXT_EXIT_WAIT"))) {
        read_exit(text);
    }
    lib_options.include = copy_list("NVTXT_DOMAIN_INCLUDE");
    lib_options.exclude = copy_list("NVTXT_DOMAIN_EXCLUDE");
    if (lib_options.has_no_socket) {
        options_log("NVTXT_SOCKET has more than the %d bytes that the path of a socket may have",
                    NVTXT_SOCKET_BYTES);
    }
}

void options_read(void) {
    int self = 0;
    while (!atomic_load_explicit(&is_read, memory_order_acquire)) {
        self = self ?: getpid();
        int other = atomic_load(&reader);
        if (other == self) {
            sched_yield();
        } else if (atomic_compare_exchange_strong(&reader, &other, self)) {
            read_all();
            atomic_store_explicit(&is_read, true, memory_order_release);
        }
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
    options_read();
    return lib_options.is_secure ||
           (lib_options.include && !is_listed(lib_options.include, name)) ||
           is_listed(lib_options.exclude, name);
}

// A folder in /tmp can be anybody's.
static bool is_mine(const char *folder) {
    struct stat what;
    return lstat(folder, &what) == 0 && S_ISDIR(what.st_mode) && what.st_uid == geteuid() &&
           !(what.st_mode & 022);
}

static uint32_t add_own(char paths[SENDER_PATHS][108], uint32_t count) {
    const char *runtime = environment("XDG_RUNTIME_DIR");
    char folder[64];
    if (runtime && *runtime == '/' && strlen(runtime) < 80) {
        snprintf(paths[count++], 108, NVTXT_RUNTIME_SOCKETS "/" NVTXT_DATA_SOCKET, runtime);
    }
    snprintf(folder, sizeof(folder), NVTXT_TMP_SOCKETS, (unsigned)geteuid());
    if (is_mine(folder)) {
        snprintf(paths[count++], 108, "%s/" NVTXT_DATA_SOCKET, folder);
    }
    return count;
}

uint32_t options_paths(char paths[SENDER_PATHS][108]) {
    uint32_t count = 0;
    bool is_root = geteuid() == 0;
    if (lib_options.has_no_socket) {
        return 0;
    }
    if (*lib_options.socket) {
        strcpy(paths[0], lib_options.socket);
        return 1;
    }
    count = is_root ? 0 : add_own(paths, count);
    strcpy(paths[count++], NVTXT_SYSTEM_SOCKETS "/" NVTXT_DATA_SOCKET);
    return is_root ? add_own(paths, count) : count;
}

void options_vlog(const char *format, va_list args) {
    if (!*lib_options.log) {
        return;
    }
    char line[600];
    int start = snprintf(line, sizeof(line), "nvtxt[%u]: ", (unsigned)getpid());
    size_t len = add_shown(line, (size_t)start, sizeof(line) - 1, format, args);
    line[len++] = '\n';
    bool to_stderr = strcmp(lib_options.log, "stderr") == 0;
    int fd = to_stderr ? STDERR_FILENO
                       : open(lib_options.log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY,
                              0600);
    if (fd < 0) {
        return;
    }
    if (write(fd, line, len) < 0 && to_stderr) {
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
