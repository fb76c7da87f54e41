// SPDX-License-Identifier: Apache-2.0
//
// The session file. It appears whole and locked, and is replaced whole. What is read of it is not
// trusted.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/spool/spool_inner.h"
#include "protocol/base/origin.h"
#include "protocol/base/scan.h"

#define BEGINNING "nvtxt-spool "
#define SESSION_FILE_VERSION 1
#define FIRST_LINE BEGINNING "1\n"
#define RENEWED "renewed "
#define SESSION_FILE_BYTES (sizeof(FIRST_LINE) + NVTXT_HELLO_BYTES + 1 + 80)

void spool_session_name(const struct spool *spool, char *name, size_t size) {
    snprintf(name, size, "%s" SESSION_SUFFIX, spool->session);
}

// ---- Written ------------------------------------------------------------------------------------

// Some network file systems cannot sync a folder; nothing more can be done there.
int spool_sync_folder(int fd) {
    return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : nvtxt_origin(-errno);
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
        return nvtxt_origin(-errno);
    }
    ssize_t n = write(fd, text, len);
    int r = n == (ssize_t)len ? 0 : n < 0 ? nvtxt_origin(-errno) : nvtxt_origin(-ENOSPC);
    if (r == 0 && (flock(fd, LOCK_EX | LOCK_NB) != 0 || (sync && fdatasync(fd) != 0))) {
        r = nvtxt_origin(-errno);
    }
    if (r < 0) {
        unlinkat(spool->dir_fd, hidden, 0);
        close(fd);
    }
    return r < 0 ? r : fd;
}

int session_file_show(struct spool *spool) {
    char hidden[SPOOL_NAME_BYTES];
    char name[SPOOL_NAME_BYTES];
    hidden_name(spool, hidden, sizeof(hidden));
    spool_session_name(spool, name, sizeof(name));
    return renameat(spool->dir_fd, hidden, spool->dir_fd, name) == 0 ? 0 : nvtxt_origin(-errno);
}

void session_file_drop(struct spool *spool) {
    char hidden[SPOOL_NAME_BYTES];
    hidden_name(spool, hidden, sizeof(hidden));
    (void)unlinkat(spool->dir_fd, hidden, 0);
}

static int put_session_file(struct spool *spool, const char *text, size_t len, bool sync) {
    int fd = make_hidden(spool, text, len, sync);
    if (fd < 0) {
        return fd;
    }
    int r = session_file_show(spool);
    if (r < 0) {
        session_file_drop(spool);
        close(fd);
        return r;
    }
    if (spool->session_fd >= 0) {
        close(spool->session_fd);
    }
    spool->session_fd = fd;
    return sync ? spool_sync_folder(spool->dir_fd) : 0;
}

static void format_session(struct nvtxt_buf *text, const struct nvtxt_hello *hello) {
    nvtxt_buf_add_string(text, FIRST_LINE);
    nvtxt_hello_format(text, hello);
}

int session_file_write(struct spool *spool, const struct nvtxt_hello *hello) {
    struct nvtxt_buf text = {0};
    format_session(&text, hello);
    int r = nvtxt_buf_failed(&text) ? nvtxt_origin(-ENOMEM)
                                    : put_session_file(spool, text.data, text.len, spool->lasting);
    nvtxt_buf_deinit(&text);
    return r < 0 ? spool_refuse(spool, r) : 0;
}

int session_file_write_hidden(struct spool *spool, const struct nvtxt_hello *hello) {
    struct nvtxt_buf text = {0};
    format_session(&text, hello);
    int fd = nvtxt_buf_failed(&text) ? nvtxt_origin(-ENOMEM)
                                     : make_hidden(spool, text.data, text.len, false);
    nvtxt_buf_deinit(&text);
    spool->session_fd = fd < 0 ? -1 : fd;
    return fd < 0 ? spool_refuse(spool, fd) : 0;
}

// Always synced: after a loss of power the lines would be sent in yet another session, and be
// stored twice.
int spool_renew(struct spool *spool, const char *session, uint64_t base) {
    char text[SESSION_FILE_BYTES];
    ssize_t n = pread(spool->session_fd, text, sizeof(text), 0);
    if (n < 0) {
        return spool_refuse(spool, nvtxt_origin(-errno));
    }
    const char *hello = memchr(text, '\n', (size_t)n);
    const char *end = hello ? memchr(hello + 1, '\n', (size_t)(text + n - hello - 1)) : NULL;
    size_t len = end ? (size_t)(end + 1 - text) : 0;
    int more = snprintf(text + len, sizeof(text) - len, RENEWED "%s %llu\n", session,
                        (unsigned long long)base);
    if (!end || more >= (int)(sizeof(text) - len)) {
        return spool_refuse(spool, nvtxt_origin(-EIO));
    }
    int r = put_session_file(spool, text, len + (size_t)more, true);
    if (r < 0) {
        return spool_refuse(spool, r);
    }
    snprintf(spool->renewed, sizeof(spool->renewed), "%s", session);
    spool->base = base;
    return 0;
}

// ---- Read ---------------------------------------------------------------------------------------

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

// The version in the first line; 0 when it is none.
static uint64_t version_of(const char *text, size_t len) {
    struct nvtxt_scan scan = nvtxt_scan((struct nvtxt_slice){text, len});
    uint64_t version = 0;
    bool has_one = nvtxt_scan_take_text(&scan, BEGINNING) &&
                   nvtxt_scan_take_uint(&scan, &version) && nvtxt_scan_take(&scan, '\n');
    return has_one ? version : 0;
}

// Says why it cannot be used: a newer version wrote it, or it is damaged.
static int refuse_file(struct spool *spool, uint64_t version, const struct nvtxt_hello *hello,
                       const char *why) {
    char newer[SPOOL_NEWER_BYTES];
    char package[96] = "";
    if (version > SESSION_FILE_VERSION) {
        why = spool_newer(version, SESSION_FILE_VERSION, newer);
    } else if (hello->protocol > NVTXT_PROTOCOL_VERSION) {
        snprintf(package, sizeof(package),
                 "; this program speaks protocol %d: install a newer package nvtxt-tools",
                 NVTXT_PROTOCOL_VERSION);
    }
    spool_fault(spool, "%s/%s" SESSION_SUFFIX ": %s%s", spool->dir, spool->session, why, package);
    return SPOOL_BAD;
}

int session_file_read(struct spool *spool, struct nvtxt_hello *hello) {
    char text[SESSION_FILE_BYTES];
    char why[256] = "it does not begin with \"nvtxt-spool 1\"";
    size_t first = sizeof(FIRST_LINE) - 1;
    ssize_t n = pread(spool->session_fd, text, sizeof(text), 0);
    if (n < 0) {
        return spool_refuse(spool, nvtxt_origin(-errno));
    }
    size_t len = (size_t)n;
    *hello = (struct nvtxt_hello){.protocol = 0};
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
            return spool_refuse(spool, parsed);
        }
        if (parsed == 0 && strcmp(hello->session, spool->session) == 0) {
            return 0;
        }
        if (!whole || !*why) {
            snprintf(why, sizeof(why), "%s", whole ? "it is of another session" : "it was cut");
        }
    }
    return refuse_file(spool, version_of(text, len), hello, why);
}

// There is no session file. It is removed last, so where segments are left it was lost, or somebody
// adopts them.
static int miss_session(struct spool *spool) {
    char hidden[SPOOL_NAME_BYTES];
    hidden_name(spool, hidden, sizeof(hidden));
    if (faccessat(spool->dir_fd, hidden, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        return SPOOL_BUSY;
    }
    int r = spool_find_segments(spool);
    if (r < 0 || spool->count == 0) {
        return r < 0 ? r : SPOOL_BUSY;
    }
    r = spool_check_owners(spool);
    if (r != 0) {
        return r;
    }
    spool_fault(spool, "%s/%s" SESSION_SUFFIX ": it is missing, and lines of it are left",
                spool->dir, spool->session);
    return SPOOL_BAD;
}

int session_file_lock(struct spool *spool) {
    char name[SPOOL_NAME_BYTES];
    struct stat status;
    spool_session_name(spool, name, sizeof(name));
    if (fstatat(spool->dir_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        status.st_uid != geteuid()) {
        return spool_leave_to_owner(spool, name, status.st_uid);
    }
    spool->session_fd = openat(spool->dir_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (spool->session_fd < 0) {
        return errno == ENOENT ? miss_session(spool) : spool_refuse(spool, nvtxt_origin(-errno));
    }
    if (flock(spool->session_fd, LOCK_EX | LOCK_NB) != 0) {
        return errno == EWOULDBLOCK ? SPOOL_BUSY : spool_refuse(spool, nvtxt_origin(-errno));
    }
    // The process that had it may have removed it before we got the lock.
    if (fstat(spool->session_fd, &status) != 0) {
        return spool_refuse(spool, nvtxt_origin(-errno));
    }
    if (status.st_uid != geteuid()) {
        return spool_leave_to_owner(spool, name, status.st_uid);
    }
    return status.st_nlink > 0 ? 0 : SPOOL_BUSY;
}
