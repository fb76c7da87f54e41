// SPDX-License-Identifier: Apache-2.0
//
// Checks go from the outside to the inside: the directory entry, the head, the process, then the
// tables, the window, and each record of each ring. A file is sparse, so it is read stretch by
// stretch as lseek(2) finds data in it.
//
// Whether the process still has it: /proc/PID/maps names each mapping with inode and path. Where
// that cannot be read, or the process belongs to another name space of process ids, the kernel is
// asked for a lease, which it gives only if nobody has the file open, or mapped, for writing.
#include "client/nvtx/ring_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/ring/line.h"
#include "lib/ring/ring.h"
#include "protocol/base/limits.h"
#include "protocol/base/origin.h"

#define RING_LEAST (64u << 10)
#define RING_MOST (64u << 20)
#define WINDOW_LEAST (1u << 20)
#define WINDOW_MOST (UINT64_C(16) << 30)

__attribute__((format(printf, 3, 4))) static bool refuse(char *fault, size_t size,
                                                         const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(fault, size, format, args);
    va_end(args);
    return false;
}

#define REFUSE(file, ...) (refuse((file)->fault, sizeof((file)->fault), __VA_ARGS__), RING_FILE_BAD)

// ---- Whose it is --------------------------------------------------------------------------------

static int failed(struct ring_file *file, const char *what) {
    int error = errno;
    snprintf(file->fault, sizeof(file->fault), "cannot be %s: %s", what, strerror(error));
    return nvtxt_origin(-error);
}

static int check_entry(struct ring_file *file, const struct stat *status) {
    if (S_ISLNK(status->st_mode)) {
        return REFUSE(file, "is a link, which is not followed");
    }
    if (!S_ISREG(status->st_mode)) {
        return REFUSE(file, "is no file");
    }
    if (status->st_uid != geteuid()) {
        return REFUSE(file, "belongs to another user (uid %u), who can send it",
                      (unsigned)status->st_uid);
    }
    return 0;
}

// The entry is looked at first, so that nothing but a file is ever opened.
static int open_entry(struct ring_file *file, int dir_fd, const char *name) {
    struct stat status;
    if (fstatat(dir_fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
        return errno == ENOENT ? RING_FILE_BUSY : failed(file, "looked at");
    }
    int r = check_entry(file, &status);
    if (r != 0) {
        return r;
    }
    file->fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file->fd < 0) {
        return errno == ENOENT ? RING_FILE_BUSY : failed(file, "opened");
    }
    if (flock(file->fd, LOCK_EX | LOCK_NB) != 0) {
        return errno == EWOULDBLOCK ? RING_FILE_BUSY : failed(file, "locked");
    }
    if (fstat(file->fd, &status) != 0) {
        return failed(file, "looked at");
    }
    r = check_entry(file, &status); // it may be another one by now
    return r == 0 && status.st_nlink == 0 ? RING_FILE_BUSY : r;
}

// ---- Its process --------------------------------------------------------------------------------

// Whether a line of /proc/PID/maps is a mapping of this inode under this name: "start-end perms
// offset device inode path". The device is left out: some file systems say another one here.
static bool is_mapping(char *line, uint64_t inode, const char *name) {
    char *at = line;
    for (int field = 0; field < 4; field++) {
        at = strchr(at, ' ');
        if (!at) {
            return false;
        }
        at++;
    }
    char *rest;
    const char *slash = strrchr(at, '/');
    return strtoull(at, &rest, 10) == inode && slash && strncmp(slash + 1, name, strlen(name)) == 0;
}

enum use { USE_NONE, USE_MAPPED, USE_UNKNOWN };

static enum use look_at_maps(uint32_t pid, uint64_t inode, const char *name) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/%u/maps", pid);
    FILE *maps = fopen(path, "re");
    if (!maps) {
        return errno == ENOENT || errno == ESRCH ? USE_NONE : USE_UNKNOWN;
    }
    char *line = NULL;
    size_t size = 0;
    enum use use = USE_NONE;
    while (use == USE_NONE && getline(&line, &size, maps) > 0) {
        use = is_mapping(line, inode, name) ? USE_MAPPED : USE_NONE;
    }
    use = use == USE_NONE && ferror(maps) && errno != ESRCH ? USE_UNKNOWN : use;
    free(line);
    fclose(maps);
    return use;
}

static bool is_open_elsewhere(int fd) {
    if (fcntl(fd, F_SETLEASE, F_RDLCK) != 0) {
        return true; // or nobody can tell
    }
    (void)fcntl(fd, F_SETLEASE, F_UNLCK);
    return false;
}

static bool is_in_use(const struct ring_file *file, uint32_t pid, bool is_here, const char *name) {
    struct stat status;
    bool known = is_here && fstat(file->fd, &status) == 0;
    enum use use = known ? look_at_maps(pid, status.st_ino, name) : USE_UNKNOWN;
    return use == USE_MAPPED || (use == USE_UNKNOWN && is_open_elsewhere(file->fd));
}

static int check_process(struct ring_file *file, const struct region_head *head, const char *name) {
    uint32_t pid = atomic_load(&head->pid);
    uint32_t space = region_pid_space();
    bool is_here = head->pid_space == 0 || space == 0 || head->pid_space == space;
    if (pid == 0) {
        return RING_FILE_EMPTY;
    }
    if (!is_in_use(file, pid, is_here, name)) {
        return 0;
    }
    refuse(file->fault, sizeof(file->fault), "is still in use by process %u%s", pid,
           is_here ? "" : " of another container");
    return RING_FILE_IN_USE;
}

// ---- Head ---------------------------------------------------------------------------------------

static bool is_power(uint64_t number, uint64_t least, uint64_t most) {
    return number >= least && number <= most && (number & (number - 1)) == 0;
}

static bool is_zero(const void *bytes, size_t len) {
    const char *at = bytes;
    return len == 0 || (at[0] == 0 && memcmp(at, at + 1, len - 1) == 0);
}

// A file without a head is of a process that is just making it, or that was killed in there.
static int check_unborn(struct ring_file *file) {
    if (!is_open_elsewhere(file->fd)) {
        return RING_FILE_EMPTY;
    }
    refuse(file->fault, sizeof(file->fault), "is still in use: a process is making it");
    return RING_FILE_IN_USE;
}

// Version 1 had no parent, which is the last of the head; all else stands where it stood.
static bool is_known_version(const struct region_head *head) {
    return (head->version == REGION_VERSION && head->head_bytes == sizeof(*head)) ||
           (head->version == 1 && head->head_bytes == offsetof(struct region_head, parent));
}

static int check_head(struct ring_file *file, const struct region_head *head) {
    struct stat status;
    ssize_t got = pread(file->fd, (void *)(uintptr_t)head, sizeof(*head), 0);
    if (got < 0 || fstat(file->fd, &status) != 0) {
        return failed(file, "read");
    }
    uint64_t size = (uint64_t)status.st_size;
    if (is_zero(head, (size_t)got)) {
        return check_unborn(file);
    }
    size_t least = offsetof(struct region_head, head_bytes) + sizeof(head->head_bytes);
    bool named = memcmp(head->magic, REGION_MAGIC, sizeof(head->magic)) == 0;
    if ((size_t)got >= sizeof(head->magic) && !named) {
        return REFUSE(file, "was overwritten: it does not begin as a ring file");
    }
    if ((size_t)got >= least && !is_known_version(head)) {
        return REFUSE(file,
                      "is of version %u (%u bytes of head) of ring files; this program "
                      "reads up to version %u (%zu)%s",
                      head->version, head->head_bytes, REGION_VERSION, sizeof(*head),
                      head->version > REGION_VERSION ? ": install a newer package nvtxt-tools"
                                                     : "");
    }
    if ((size_t)got < sizeof(*head)) {
        return REFUSE(file, "was cut: it has %" PRIu64 " bytes, its head alone %zu", size,
                      sizeof(*head));
    }
    if (head->uid != status.st_uid) {
        return REFUSE(file, "was overwritten: it says that it belongs to uid %u", head->uid);
    }
    if (!is_power(head->ring_bytes, RING_LEAST, RING_MOST) ||
        !is_power(head->window_bytes, WINDOW_LEAST, WINDOW_MOST)) {
        return REFUSE(file, "was overwritten: its sizes are impossible");
    }
    uint64_t whole = region_file_bytes(head->ring_bytes, head->window_bytes);
    if (size != whole) {
        return REFUSE(file, "was %s: it has %" PRIu64 " bytes of %" PRIu64,
                      size < whole ? "cut" : "overwritten", size, whole);
    }
    return 0;
}

int ring_file_open(struct ring_file *file, int dir_fd, const char *name) {
    struct region_head head = {.version = 0};
    *file = (struct ring_file){.fd = -1};
    int r = open_entry(file, dir_fd, name);
    r = r ?: check_head(file, &head);
    return r ?: check_process(file, &head, name);
}

void ring_file_close(struct ring_file *file) {
    region_unmap(&file->region);
    if (file->fd >= 0) {
        close(file->fd);
    }
    file->fd = -1;
}

// ---- Into memory --------------------------------------------------------------------------------

// Where a byte of the file is in the region, and how many follow it there. NULL: nowhere.
static char *place_of(const struct region *region, uint64_t at, uint64_t *room) {
    uint64_t chunk_bytes = REGION_CHUNK_RINGS * region->head->ring_bytes;
    if (at < region->chunk_at) {
        *room = region->chunk_at - at;
        return region->base + at;
    }
    uint64_t chunk = (at - region->chunk_at) / chunk_bytes;
    uint64_t offset = (at - region->chunk_at) % chunk_bytes;
    char *data = chunk < REGION_CHUNKS ? atomic_load(&region->chunks[chunk]) : NULL;
    *room = chunk_bytes - offset;
    return data ? data + offset : NULL;
}

static int read_stretch(struct ring_file *file, uint64_t at, uint64_t end) {
    while (at < end) {
        uint64_t room;
        char *to = place_of(&file->region, at, &room);
        room = room < end - at ? room : end - at;
        room = room < (1u << 30) ? room : 1u << 30;
        ssize_t got = to ? pread(file->fd, to, room, (off_t)at) : (ssize_t)room;
        if (got < 0 && errno != EINTR) {
            return failed(file, "read");
        }
        if (got == 0) {
            return 0; // it was cut just now: the rest is zeros
        }
        at += got > 0 ? (uint64_t)got : 0;
    }
    return 0;
}

static int read_stretches(struct ring_file *file) {
    off_t whole =
        (off_t)region_file_bytes(file->region.head->ring_bytes, file->region.head->window_bytes);
    int r = 0;
    for (off_t end = 0; r == 0 && end < whole;) {
        off_t at = lseek(file->fd, end, SEEK_DATA);
        end = at < 0 ? -1 : lseek(file->fd, at, SEEK_HOLE);
        if (at < 0 || end < 0) {
            return errno == ENXIO ? 0 : failed(file, "read");
        }
        r = read_stretch(file, (uint64_t)at, (uint64_t)end);
    }
    return r;
}

int ring_file_read(struct ring_file *file) {
    static const uint32_t counts[] = {
        [TABLE_STRINGS] = REGION_STRINGS, [TABLE_DOMAINS] = REGION_DOMAINS,
        [TABLE_NAMES] = REGION_NAMES,     [TABLE_OPENS] = REGION_OPEN,
        [TABLE_LATES] = REGION_LATE,      [TABLE_TEXT] = REGION_TEXT_BYTES,
    };
    struct region_head head;
    struct region *region = &file->region;
    if (pread(file->fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head)) {
        return failed(file, "read");
    }
    uint32_t chunks = atomic_load(&head.chunks);
    if (chunks > REGION_CHUNKS || !is_power(head.ring_bytes, RING_LEAST, RING_MOST) ||
        !is_power(head.window_bytes, WINDOW_LEAST, WINDOW_MOST)) {
        return REFUSE(file, "was overwritten: its sizes are impossible");
    }
    int r = region_make(region, NULL, head.ring_bytes, head.window_bytes);
    for (uint32_t i = 0; r == 0 && i < chunks; i++) {
        r = region_chunk(region, i);
    }
    for (size_t i = 0; r == 0 && i < sizeof(counts) / sizeof(counts[0]); i++) {
        r = region_grant(region, (enum region_table)i, counts[i]);
    }
    if (r < 0 || (r = region_grant_window(region, head.window_bytes)) < 0) {
        errno = -r;
        return failed(file, "read");
    }
    r = read_stretches(file);
    if (r != 0) {
        return r;
    }
    // The sizes are those of the memory, whatever was read now.
    region->head->ring_bytes = head.ring_bytes;
    region->head->window_bytes = head.window_bytes;
    atomic_store(&region->head->chunks, chunks);
    return ring_file_check(region, file->fault, sizeof(file->fault)) ? 0 : RING_FILE_BAD;
}

// ---- Contents -----------------------------------------------------------------------------------

static bool is_text(struct region_text text, uint32_t most) {
    return text.len <= most && text.at <= REGION_TEXT_BYTES - text.len;
}

static bool check_tables(const struct region *region, char *fault, size_t size) {
    struct region_head *head = region->head;
    uint32_t strings = atomic_load(&head->strings), domains = atomic_load(&head->domains);
    uint32_t names = atomic_load(&head->names);
    if (strings > REGION_STRINGS || domains > REGION_DOMAINS || names > REGION_NAMES) {
        return refuse(fault, size, "was overwritten: its tables are too long");
    }
    for (uint32_t i = 0; i < strings; i++) {
        if (!is_text(region->strings[i], REGION_TEXT_BYTES)) {
            return refuse(fault, size, "was overwritten: string %u has no text", i);
        }
    }
    for (uint32_t i = 0; i < domains; i++) {
        if (!is_text(region->domains[i], REGION_TEXT_BYTES)) {
            return refuse(fault, size, "was overwritten: domain %u has no text", i);
        }
    }
    for (uint32_t i = 0; i < names; i++) {
        const struct region_name *name = &region->names[i];
        if (atomic_load(&name->version) % 2 == 1) {
            continue; // its process died while it wrote it: it is left out
        }
        if (name->kind > NAME_COUNTER || (name->domain > 0 && name->domain >= domains) ||
            !is_text(name->what, RECORD_TEXT_MAX) || !is_text(name->text, RECORD_TEXT_MAX) ||
            !is_text(name->json, RECORD_JSON_MAX)) {
            return refuse(fault, size, "was overwritten: name %u is none", i);
        }
    }
    return true;
}

static bool check_session(const struct region *region, char *fault, size_t size) {
    const struct region_session *session = region_session(region);
    struct region_state state = region_state(region);
    bool good = memchr(session->id, '\0', sizeof(session->id)) &&
                strspn(session->id, "0123456789abcdef-") == strlen(session->id) &&
                (strlen(session->id) == NVTXT_SESSION_ID_BYTES || !*session->id) &&
                memchr(region->head->name, '\0', sizeof(region->head->name)) &&
                session->preamble_bytes <= sizeof(session->preamble) &&
                state.lines <= INT64_MAX / 2 && session->preamble_lines <= REGION_PREAMBLE &&
                session->first >= -(int64_t)session->preamble_lines &&
                session->first <= (int64_t)state.lines - session->preamble_lines &&
                (session->preamble_lines > 0 || session->first == 0);
    uint32_t lines = 0;
    for (uint32_t i = 0; good && i < session->preamble_bytes; i++) {
        lines += session->preamble[i] == '\n';
    }
    good = good && lines == session->preamble_lines &&
           (lines == 0 || session->preamble[session->preamble_bytes - 1] == '\n');
    return good || refuse(fault, size, "was overwritten: its session is none");
}

static bool check_window(const struct region *region, char *fault, size_t size) {
    struct region_state state = region_state(region);
    uint64_t window = region->head->window_bytes;
    if (state.acked > state.end || state.end - state.acked > window ||
        state.acked_lines > state.lines || state.end > UINT64_MAX / 2) {
        return refuse(fault, size, "was overwritten: its lines have impossible places");
    }
    uint64_t lines = 0;
    for (uint64_t at = state.acked; at < state.end;) {
        uint64_t offset = at & (window - 1);
        uint64_t most = window - offset < state.end - at ? window - offset : state.end - at;
        const char *lf = memchr(region->window + offset, '\n', most);
        lines += lf != NULL;
        at += lf ? (uint64_t)(lf - (region->window + offset)) + 1 : most;
    }
    bool ends = state.end == state.acked || region->window[(state.end - 1) & (window - 1)] == '\n';
    if (lines != state.lines - state.acked_lines || !ends) {
        return refuse(fault, size,
                      "was overwritten: it says that %" PRIu64 " lines wait, and has %" PRIu64,
                      state.lines - state.acked_lines, lines);
    }
    return true;
}

static bool check_record(const struct region *region, const struct record_view *view) {
    return (view->domain == 0 || view->domain < atomic_load(&region->head->domains)) &&
           (!view->has_string || view->string < atomic_load(&region->head->strings)) &&
           view->value_kind <= RECORD_F32;
}

static bool check_ring(const struct region *region, uint32_t number, char *fault, size_t size) {
    const struct ring_head *head = &region->rings[number];
    uint64_t tail = region_tail(region, number), at = atomic_load(&head->at);
    uint64_t granted = atomic_load(&head->granted), bytes = region->head->ring_bytes;
    uint64_t lap_from = atomic_load(&head->lap_from);
    // An empty ring begins a lap with all of its bytes free.
    if (tail > at || at - tail > 2 * bytes || ring_used(tail, at, lap_from, bytes) > bytes ||
        granted > bytes || granted % 8 || tail % 8 || at % 8 || at > UINT64_MAX / 2) {
        return refuse(fault, size, "was overwritten: ring %u has impossible places", number);
    }
    struct ring_reader reader;
    struct record_view view;
    int r;
    ring_reader_init(&reader, region, number, tail);
    while ((r = ring_next(&reader, &view)) > 0) {
        if (!check_record(region, &view)) {
            r = nvtxt_origin(-EIO);
            break;
        }
    }
    return r == 0 || refuse(fault, size, "was overwritten: ring %u has no record at %" PRIu64,
                            number, reader.at & (bytes - 1));
}

bool ring_file_check(const struct region *region, char *fault, size_t size) {
    bool good = check_tables(region, fault, size) && check_session(region, fault, size) &&
                check_window(region, fault, size);
    uint32_t rings = atomic_load(&region->head->chunks) * REGION_CHUNK_RINGS;
    for (uint32_t i = 0; good && i < rings; i++) {
        good = check_ring(region, i, fault, size);
    }
    return good;
}
