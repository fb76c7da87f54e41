// SPDX-License-Identifier: Apache-2.0
//
// How a session's files are made, found again, and removed. Nothing that is read here is trusted:
// names, heads and line numbers must fit together. Where they do not, the session is left as it is,
// and a sentence says what does not fit.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/spool/spool.h"

#define SESSION_SUFFIX ".session"
#define SEGMENT_SUFFIX ".segment"
#define FIRST_LINE "nvtxt-spool 1\n"
#define RENEWED "renewed "
#define SESSION_FILE_BYTES (sizeof(FIRST_LINE) + NVTXT_HELLO_BYTES + 1 + 80)

static int refuse(struct spool *spool, int result) {
    spool_fault(spool, "%s: %s", spool->dir, strerror(-result));
    return result;
}

static int init(struct spool *spool, const char *dir, const char *session, uint64_t limit) {
    *spool = (struct spool){.dir_fd = -1, .session_fd = -1, .tail_fd = -1, .reader_fd = -1};
    spool->limit = limit;
    crc32c_init(&spool->crc);
    snprintf(spool->session, sizeof(spool->session), "%s", session);
    spool->dir = strdup(dir);
    if (!spool->dir) {
        spool_fault(spool, "out of memory");
        return -ENOMEM;
    }
    return 0;
}

static int open_folder(struct spool *spool) {
    spool->dir_fd = open(spool->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return spool->dir_fd < 0 ? refuse(spool, -errno) : 0;
}

static void session_name(const struct spool *spool, char *name, size_t size) {
    snprintf(name, size, "%s" SESSION_SUFFIX, spool->session);
}

// ---- A new session ------------------------------------------------------------------------------

// Some network file systems cannot sync a folder; nothing more can be done there.
static int sync_folder(int fd) {
    return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : -errno;
}

// Puts the folder's own name onto the disk: syncs the folder around it or, where that cannot be
// opened, the whole file system. Returns 0 or -errno with `fault`.
static int sync_parent(struct spool *spool) {
    int fd = openat(spool->dir_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int result = fd >= 0 ? sync_folder(fd) : syncfs(spool->dir_fd) == 0 ? 0 : -errno;
    if (fd >= 0) {
        close(fd);
    }
    if (result < 0) {
        spool_fault(spool, "%s/..: cannot be synced: %s", spool->dir, strerror(-result));
    }
    return result;
}

static void hidden_name(const struct spool *spool, char *name, size_t size) {
    snprintf(name, size, ".%s.new", spool->session);
}

// Makes a whole and locked session file under a hidden name. Returns its descriptor or -errno.
static int make_hidden(struct spool *spool, const char *text, size_t len, bool sync) {
    char hidden[SPOOL_NAME_BYTES];
    hidden_name(spool, hidden, sizeof(hidden));
    (void)unlinkat(spool->dir_fd, hidden, 0); // of a process that was killed in here
    int fd = openat(spool->dir_fd, hidden, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        return -errno;
    }
    ssize_t n = write(fd, text, len);
    int result = n == (ssize_t)len ? 0 : n < 0 ? -errno : -ENOSPC;
    if (result == 0 && (flock(fd, LOCK_EX | LOCK_NB) != 0 || (sync && fdatasync(fd) != 0))) {
        result = -errno;
    }
    if (result < 0) {
        unlinkat(spool->dir_fd, hidden, 0);
        close(fd);
    }
    return result < 0 ? result : fd;
}

// Puts the hidden file under the session's name, in place of an older one. Returns 0, or -errno
// when the older one stays.
static int show_hidden(struct spool *spool) {
    char hidden[SPOOL_NAME_BYTES];
    char name[SPOOL_NAME_BYTES];
    hidden_name(spool, hidden, sizeof(hidden));
    session_name(spool, name, sizeof(name));
    return renameat(spool->dir_fd, hidden, spool->dir_fd, name) == 0 ? 0 : -errno;
}

static void remove_hidden(struct spool *spool) {
    char hidden[SPOOL_NAME_BYTES];
    hidden_name(spool, hidden, sizeof(hidden));
    (void)unlinkat(spool->dir_fd, hidden, 0);
}

static int put_session_file(struct spool *spool, const char *text, size_t len, bool sync) {
    int fd = make_hidden(spool, text, len, sync);
    if (fd < 0) {
        return fd;
    }
    int result = show_hidden(spool);
    if (result < 0) {
        remove_hidden(spool);
        close(fd);
        return result;
    }
    if (spool->session_fd >= 0) {
        close(spool->session_fd);
    }
    spool->session_fd = fd;
    return sync ? sync_folder(spool->dir_fd) : 0;
}

static int write_session_file(struct spool *spool, const struct nvtxt_hello *hello) {
    struct nvtxt_buf text = {0};
    nvtxt_buf_add_string(&text, FIRST_LINE);
    nvtxt_hello_format(&text, hello);
    int result = nvtxt_buf_failed(&text)
                     ? -ENOMEM
                     : put_session_file(spool, text.data, text.len, spool->lasting);
    nvtxt_buf_deinit(&text);
    return result < 0 ? refuse(spool, result) : 0;
}

// Always synced: after a loss of power the lines would be sent in yet another session, and be
// stored twice.
int spool_renew(struct spool *spool, const char *session, uint64_t base) {
    char text[SESSION_FILE_BYTES];
    ssize_t n = pread(spool->session_fd, text, sizeof(text), 0);
    if (n < 0) {
        return refuse(spool, -errno);
    }
    const char *hello = memchr(text, '\n', (size_t)n);
    const char *end = hello ? memchr(hello + 1, '\n', (size_t)(text + n - hello - 1)) : NULL;
    size_t len = end ? (size_t)(end + 1 - text) : 0;
    int more = snprintf(text + len, sizeof(text) - len, RENEWED "%s %llu\n", session,
                        (unsigned long long)base);
    if (!end || more >= (int)(sizeof(text) - len)) {
        return refuse(spool, -EIO);
    }
    int result = put_session_file(spool, text, len + (size_t)more, true);
    if (result < 0) {
        return refuse(spool, result);
    }
    snprintf(spool->renewed, sizeof(spool->renewed), "%s", session);
    spool->base = base;
    return 0;
}

int spool_create(struct spool *spool, const char *dir, const struct nvtxt_hello *hello,
                 uint64_t limit, bool lasting) {
    char name[SPOOL_NAME_BYTES];
    int result = init(spool, dir, hello->session, limit);
    spool->lasting = lasting;
    if (result == 0 && mkdir(dir, 0700) != 0 && errno != EEXIST) {
        result = refuse(spool, -errno);
    }
    if (result == 0) {
        result = open_folder(spool);
    }
    if (result == 0 && lasting) {
        result = sync_parent(spool);
    }
    if (result == 0) {
        result = write_session_file(spool, hello);
        result = result < 0 ? result : spool_begin(spool);
        if (result != 0) {
            session_name(spool, name, sizeof(name));
            (void)unlinkat(spool->dir_fd, name, 0);
        }
    }
    return result;
}

// ---- A session that nobody has ------------------------------------------------------------------

// The line "renewed" of a session file, if there is one; it ends with its line end.
static bool read_renewed(struct spool *spool, const char *line, size_t len) {
    size_t prefix = sizeof(RENEWED) - 1;
    uint64_t base = 0;
    if (len == 0) {
        return true;
    }
    const char *id = line + prefix;
    const char *blank =
        len > prefix && memcmp(line, RENEWED, prefix) == 0 ? memchr(id, ' ', len - prefix) : NULL;
    if (!blank || blank == id || blank - id > NVTXT_SESSION_ID_BYTES) {
        return false;
    }
    const char *at = blank + 1;
    for (; *at >= '0' && *at <= '9' && base < INT64_MAX / 16; at++) {
        base = base * 10 + (uint64_t)(*at - '0');
    }
    spool->base = base;
    snprintf(spool->renewed, sizeof(spool->renewed), "%.*s", (int)(blank - id), id);
    return at > blank + 1 && at == line + len - 1;
}

// Reads and checks the session file. Returns 0, SPOOL_BAD or -errno.
static int read_session_file(struct spool *spool, struct nvtxt_hello *hello) {
    char text[SESSION_FILE_BYTES];
    char why[256] = "it does not begin with \"nvtxt-spool 1\"";
    size_t first = sizeof(FIRST_LINE) - 1;
    ssize_t n = pread(spool->session_fd, text, sizeof(text), 0);
    if (n < 0) {
        return refuse(spool, -errno);
    }
    size_t len = (size_t)n;
    if (len > first && len < sizeof(text) && memcmp(text, FIRST_LINE, first) == 0) {
        const char *end = memchr(text + first, '\n', len - first);
        struct nvtxt_slice line = {text + first, end ? (size_t)(end - text) - first : 0};
        bool whole = text[len - 1] == '\n';
        why[0] = '\0';
        int parsed =
            whole ? nvtxt_hello_parse(line, hello, why, sizeof(why)) : NVTXT_HELLO_MALFORMED;
        if (parsed == 0 && !read_renewed(spool, end + 1, len - first - line.len - 1)) {
            snprintf(why, sizeof(why), "its third line is no \"" RENEWED "\" with id and line");
            parsed = NVTXT_HELLO_MALFORMED;
        }
        if (parsed < 0) {
            return refuse(spool, parsed);
        }
        if (parsed == 0 && strcmp(hello->session, spool->session) == 0) {
            return 0;
        }
        if (!whole || !*why) {
            snprintf(why, sizeof(why), "%s", whole ? "it is of another session" : "it was cut");
        }
    }
    spool_fault(spool, "%s/%s" SESSION_SUFFIX ": %s", spool->dir, spool->session, why);
    return SPOOL_BAD;
}

static int find_segments(struct spool *spool);
static int check_owners(struct spool *spool);

// There is no session file. It is removed last, so where segments are left it was lost, or somebody
// adopts them.
static int miss_session(struct spool *spool) {
    char hidden[SPOOL_NAME_BYTES];
    hidden_name(spool, hidden, sizeof(hidden));
    if (faccessat(spool->dir_fd, hidden, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        return SPOOL_BUSY;
    }
    int result = find_segments(spool);
    if (result < 0 || spool->count == 0) {
        return result < 0 ? result : SPOOL_BUSY;
    }
    result = check_owners(spool);
    if (result != 0) {
        return result;
    }
    spool_fault(spool, "%s/%s" SESSION_SUFFIX ": it is missing, and lines of it are left",
                spool->dir, spool->session);
    return SPOOL_BAD;
}

// Another user's lines are not ours to send, nor the files ours to remove, not even for root: the
// daemon would take the lines for ours, or refuse the session.
static int leave_to_owner(struct spool *spool, const char *name, uid_t uid) {
    const struct passwd *owner = getpwuid(uid);
    spool_fault(spool,
                "%s/%s belongs to user %s (uid %u): it was left alone; that user can send it",
                spool->dir, name, owner ? owner->pw_name : "?", (unsigned)uid);
    return SPOOL_OTHERS;
}

static int lock_session(struct spool *spool) {
    char name[SPOOL_NAME_BYTES];
    struct stat status;
    session_name(spool, name, sizeof(name));
    if (fstatat(spool->dir_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        status.st_uid != geteuid()) {
        return leave_to_owner(spool, name, status.st_uid);
    }
    spool->session_fd = openat(spool->dir_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (spool->session_fd < 0) {
        return errno == ENOENT ? miss_session(spool) : refuse(spool, -errno);
    }
    if (flock(spool->session_fd, LOCK_EX | LOCK_NB) != 0) {
        return errno == EWOULDBLOCK ? SPOOL_BUSY : refuse(spool, -errno);
    }
    // The process that had it may have removed it before we got the lock.
    if (fstat(spool->session_fd, &status) != 0) {
        return refuse(spool, -errno);
    }
    if (status.st_uid != geteuid()) {
        return leave_to_owner(spool, name, status.st_uid);
    }
    return status.st_nlink > 0 ? 0 : SPOOL_BUSY;
}

// The number in the name of a segment of this session; 0 when it is none.
static uint64_t segment_number(const struct spool *spool, const char *name) {
    size_t len = strlen(spool->session);
    uint64_t number = 0;
    if (strncmp(name, spool->session, len) != 0 || name[len] != '.') {
        return 0;
    }
    const char *at = name + len + 1;
    for (; *at >= '0' && *at <= '9' && number < UINT64_MAX / 16; at++) {
        number = number * 10 + (uint64_t)(*at - '0');
    }
    return strcmp(at, SEGMENT_SUFFIX) == 0 ? number : 0;
}

static int by_number(const void *a, const void *b) {
    const struct spool_segment *one = a;
    const struct spool_segment *other = b;
    return (one->number > other->number) - (one->number < other->number);
}

// A second descriptor: fdopendir() takes the one that it is given.
static DIR *open_list(int dir_fd) {
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    if (!list && fd >= 0) {
        close(fd);
    }
    return list;
}

// The next entry, or NULL with `*result` -errno unless that was the last one.
static struct dirent *next_entry(DIR *list, int *result) {
    errno = 0;
    struct dirent *entry = readdir(list);
    if (!entry && errno != 0) {
        *result = -errno;
    }
    return entry;
}

static int find_segments(struct spool *spool) {
    DIR *list = open_list(spool->dir_fd);
    if (!list) {
        return refuse(spool, -errno);
    }
    int result = 0;
    for (struct dirent *entry; result == 0 && (entry = next_entry(list, &result));) {
        uint64_t number = segment_number(spool, entry->d_name);
        if (number > 0 && spool->count == spool->cap) {
            size_t cap = spool->cap ? spool->cap * 2 : 64;
            struct spool_segment *more = realloc(spool->segments, cap * sizeof(*more));
            result = more ? 0 : -ENOMEM;
            spool->segments = more ? more : spool->segments;
            spool->cap = more ? cap : spool->cap;
        }
        if (number > 0 && result == 0) {
            spool->segments[spool->count++] = (struct spool_segment){.number = number};
        }
    }
    closedir(list);
    if (spool->count > 0) {
        qsort(spool->segments, spool->count, sizeof(*spool->segments), by_number);
    }
    return result < 0 ? refuse(spool, result) : 0;
}

// Each segment must be ours before one is read. Returns 0, SPOOL_OTHERS or -errno.
static int check_owners(struct spool *spool) {
    char name[SPOOL_NAME_BYTES];
    struct stat status;
    for (size_t i = 0; i < spool->count; i++) {
        spool_segment_name(spool, spool->segments[i].number, name, sizeof(name));
        if (fstatat(spool->dir_fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
            return refuse(spool, -errno);
        }
        if (status.st_uid != geteuid()) {
            return leave_to_owner(spool, name, status.st_uid);
        }
    }
    return 0;
}

static int bad_segment(struct spool *spool, uint64_t number, const char *what) {
    char name[SPOOL_NAME_BYTES];
    spool_segment_name(spool, number, name, sizeof(name));
    spool_fault(spool, "%s/%s: %s", spool->dir, name, what);
    return SPOOL_BAD;
}

static int open_segment(const struct spool *spool, uint64_t number) {
    char name[SPOOL_NAME_BYTES];
    spool_segment_name(spool, number, name, sizeof(name));
    return openat(spool->dir_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

// Writes the sentence for the bytes from `offset` on, which cannot be used.
static void leave_out(struct spool *spool, uint64_t number, uint64_t size, uint64_t offset) {
    char what[128];
    snprintf(what, sizeof(what), "%llu bytes from offset %llu on are no whole record: left out",
             (unsigned long long)(size - offset), (unsigned long long)offset);
    (void)bad_segment(spool, number, what);
}

// Counts the records of the last segment. What stands after the last whole one is left out, with a
// sentence. The descriptor stays open as the tail.
static int recover_tail(struct spool *spool, struct spool_segment *segment) {
    struct segment_record record;
    struct stat status;
    int result;
    segment_reader_start(&spool->reader, spool->tail_fd, SEGMENT_HEAD_BYTES, segment->first);
    do {
        result = segment_next(&spool->reader, &spool->crc, &record);
    } while (result == 0);
    segment->lines = spool->reader.line - segment->first;
    segment->size = spool->reader.at;
    if (result == SEGMENT_DAMAGED) {
        result = segment_judge(&spool->reader, &spool->crc);
    }
    if (result == SEGMENT_DAMAGED) {
        return spool_bad_record(spool, segment->number, segment->size, "damaged");
    }
    if (result < 0 || fstat(spool->tail_fd, &status) != 0) {
        return bad_segment(spool, segment->number, strerror(result < 0 ? -result : errno)), -EIO;
    }
    if (result == SEGMENT_CUT) {
        leave_out(spool, segment->number, (uint64_t)status.st_size, segment->size);
    }
    return 0;
}

// The head of segment i. The last one may have none: its writer was killed before it had written
// it, or the machine lost power. Then `*none` is set and it does not count.
static int read_head(struct spool *spool, size_t i, bool *none) {
    struct spool_segment *segment = &spool->segments[i];
    struct segment_head head;
    struct stat status = {0};
    int fd = open_segment(spool, segment->number);
    int result =
        fd < 0 || fstat(fd, &status) != 0 ? -errno : segment_read_head(fd, &spool->crc, &head);
    bool is_last = i + 1 == spool->count;
    *none = is_last && result == SEGMENT_CUT;
    if (*none && status.st_size > 0) {
        leave_out(spool, segment->number, (uint64_t)status.st_size, 0);
    }
    if (fd >= 0 && is_last && result == 0) {
        spool->tail_fd = fd;
    } else if (fd >= 0) {
        close(fd);
    }
    if (*none) {
        return 0;
    }
    if (result < 0) {
        (void)bad_segment(spool, segment->number, strerror(-result));
        return result;
    }
    if (result > 0) {
        return bad_segment(spool, segment->number, "the head, bytes 0 to 79, is damaged");
    }
    if (strcmp(head.session, spool->session) != 0) {
        return bad_segment(spool, segment->number, "it is of another session");
    }
    segment->first = head.first;
    segment->lost = head.lost;
    segment->size = (uint64_t)status.st_size;
    return 0;
}

// Finds how many lines a segment has by the first line of the next one.
static int count_lines(struct spool *spool, struct spool_segment *segment) {
    const struct spool_segment *next = segment + 1;
    uint64_t lost = segment->lost > 0;
    if (next->number != segment->number + 1) {
        return bad_segment(spool, segment->number + 1, "it is missing");
    }
    if (next->first < segment->first + lost) {
        return bad_segment(spool, next->number, "it begins before the one before it");
    }
    segment->lines = next->first - segment->first - lost;
    return 0;
}

static int read_segments(struct spool *spool) {
    bool none = false;
    int result = find_segments(spool);
    result = result == 0 ? check_owners(spool) : result;
    for (size_t i = 0; result == 0 && i < spool->count; i++) {
        result = read_head(spool, i, &none);
    }
    if (result == 0 && none) { // its file is removed in the end
        spool->stray = spool->segments[--spool->count].number;
        if (spool->count > 0) {
            result = read_head(spool, spool->count - 1, &none);
            none = false;
        }
    }
    for (size_t i = 0; result == 0 && i + 1 < spool->count; i++) {
        result = count_lines(spool, &spool->segments[i]);
    }
    if (result == 0 && spool->count > 0) {
        struct spool_segment *end = &spool->segments[spool->count - 1];
        result = recover_tail(spool, end);
        spool->last = end->first + end->lines - (end->lost == 0);
    }
    return result;
}

int spool_open(struct spool *spool, const char *dir, const char *session,
               struct nvtxt_hello *hello) {
    int result = init(spool, dir, session, SPOOL_LIMIT);
    if (result == 0) {
        result = open_folder(spool);
    }
    if (result == 0) {
        result = lock_session(spool);
    }
    if (result == 0) {
        result = read_session_file(spool, hello);
    }
    if (result == 0) {
        result = read_segments(spool);
    }
    return result == 0 && spool->last == 0 ? SPOOL_NONE : result;
}

// ---- Lines of other files -----------------------------------------------------------------------

static int remove_file(struct spool *spool, const char *name) {
    if (unlinkat(spool->dir_fd, name, 0) == 0 || errno == ENOENT) {
        return 0;
    }
    int result = -errno;
    spool_fault(spool, "%s/%s: cannot be removed: %s", spool->dir, name, strerror(-result));
    return result;
}

// What a process left that was killed while it adopted the session.
static int remove_segments(struct spool *spool) {
    char name[SPOOL_NAME_BYTES];
    int result = find_segments(spool);
    for (size_t i = 0; result == 0 && i < spool->count; i++) {
        spool_segment_name(spool, spool->segments[i].number, name, sizeof(name));
        result = remove_file(spool, name);
    }
    spool->count = 0;
    return result;
}

static int make_adopted(struct spool *spool, const struct nvtxt_hello *hello) {
    struct nvtxt_buf text = {0};
    nvtxt_buf_add_string(&text, FIRST_LINE);
    nvtxt_hello_format(&text, hello);
    int fd = nvtxt_buf_failed(&text) ? -ENOMEM : make_hidden(spool, text.data, text.len, false);
    nvtxt_buf_deinit(&text);
    spool->session_fd = fd < 0 ? -1 : fd;
    return fd < 0 ? refuse(spool, fd) : 0;
}

// The hidden session file is there as long as the segments are, so that nobody takes them for a
// spool that lost its session file.
int spool_adopt(struct spool *spool, const char *dir, const struct nvtxt_hello *hello,
                uint64_t first) {
    char name[SPOOL_NAME_BYTES];
    int result = init(spool, dir, hello->session, INT64_MAX);
    result = result == 0 ? open_folder(spool) : result;
    if (result != 0) {
        return result;
    }
    session_name(spool, name, sizeof(name));
    if (faccessat(spool->dir_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        return SPOOL_BUSY;
    }
    result = make_adopted(spool, hello);
    result = result == 0 ? remove_segments(spool) : result;
    spool->last = first - 1;
    return result == 0 ? spool_begin(spool) : result;
}

int spool_publish(struct spool *spool) {
    int result = show_hidden(spool);
    return result < 0 ? refuse(spool, result) : 0;
}

void spool_abandon(struct spool *spool) {
    if (spool->session_fd >= 0) {
        (void)remove_segments(spool);
        remove_hidden(spool);
    }
}

// ---- What there is ------------------------------------------------------------------------------

static int by_text(const void *a, const void *b) {
    const char *const *one = a;
    const char *const *other = b;
    return strcmp(*one, *other);
}

// The length of the session's id in a file's name; 0: it is no file of a session.
static size_t id_length(const char *name) {
    static const char session[] = SESSION_SUFFIX;
    static const char segment[] = SEGMENT_SUFFIX;
    size_t suffix = sizeof(session) - 1;
    size_t len = strlen(name);
    _Static_assert(sizeof(session) == sizeof(segment), "suffixes of one length");
    if (*name == '.' || len <= suffix) {
        return 0;
    }
    len -= suffix;
    if (strcmp(name + len, segment) == 0) {
        while (len > 0 && name[len - 1] >= '0' && name[len - 1] <= '9') {
            len--;
        }
        len = len > 0 && name[len - 1] == '.' ? len - 1 : 0;
    } else if (strcmp(name + len, session) != 0) {
        return 0;
    }
    return len <= NVTXT_SESSION_ID_BYTES ? len : 0;
}

// Keeps one of each text in a sorted array. Returns their number.
static size_t drop_duplicates(char **texts, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && strcmp(texts[kept - 1], texts[i]) == 0) {
            free(texts[i]);
        } else {
            texts[kept++] = texts[i];
        }
    }
    return kept;
}

int spool_list(const char *dir, char ***sessions) {
    DIR *list = opendir(dir);
    size_t count = 0;
    int result = list ? 0 : -errno;
    *sessions = NULL;
    for (struct dirent *entry; list && result == 0 && (entry = next_entry(list, &result));) {
        size_t len = id_length(entry->d_name);
        if (len == 0) {
            continue;
        }
        char **more = realloc(*sessions, (count + 1) * sizeof(*more));
        *sessions = more ? more : *sessions;
        char *name = more ? strndup(entry->d_name, len) : NULL;
        if (name) {
            more[count++] = name;
        } else {
            result = -ENOMEM;
        }
    }
    if (list) {
        closedir(list);
    }
    if (result < 0) {
        while (count > 0) {
            free((*sessions)[--count]);
        }
        free(*sessions);
        *sessions = NULL;
        return result;
    }
    if (count > 0) {
        qsort(*sessions, count, sizeof(**sessions), by_text);
    }
    return (int)drop_duplicates(*sessions, count);
}

// ---- The end ------------------------------------------------------------------------------------

bool spool_is_there(const struct spool *spool) {
    struct stat dir, named, session;
    char name[SPOOL_NAME_BYTES];
    if (fstat(spool->dir_fd, &dir) != 0 || stat(spool->dir, &named) != 0 ||
        dir.st_dev != named.st_dev || dir.st_ino != named.st_ino ||
        fstat(spool->session_fd, &session) != 0 || session.st_nlink == 0) {
        return false;
    }
    for (size_t i = 0; i < spool->count; i++) {
        spool_segment_name(spool, spool->segments[i].number, name, sizeof(name));
        if (faccessat(spool->dir_fd, name, F_OK, 0) != 0) {
            return false;
        }
    }
    return true;
}

// Removes in this order and stops at a failure, so that what is left can be resumed.
int spool_remove(struct spool *spool) {
    char name[SPOOL_NAME_BYTES];
    int result = 0;
    for (size_t i = 0; result == 0 && i < spool->count; i++) {
        spool_segment_name(spool, spool->segments[i].number, name, sizeof(name));
        result = remove_file(spool, name);
    }
    if (result == 0 && spool->stray > 0) {
        spool_segment_name(spool, spool->stray, name, sizeof(name));
        result = remove_file(spool, name);
    }
    if (result == 0) {
        session_name(spool, name, sizeof(name));
        result = remove_file(spool, name);
        spool->count = 0;
    }
    return result;
}

static void close_fd(int fd) {
    if (fd >= 0) {
        close(fd);
    }
}

void spool_close(struct spool *spool) {
    if (!spool->dir) {
        return; // nothing was opened
    }
    segment_reader_deinit(&spool->reader);
    nvtxt_buf_deinit(&spool->lost_line);
    close_fd(spool->reader_fd);
    close_fd(spool->tail_fd);
    close_fd(spool->session_fd); // and gives the lock back
    close_fd(spool->dir_fd);
    free(spool->segments);
    free(spool->dir);
    *spool = (struct spool){.dir_fd = -1};
}
