// SPDX-License-Identifier: Apache-2.0
//
// How a session's files are made, found again, and removed.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/spool/spool_inner.h"
#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"

static int init_spool(struct spool *spool, const char *dir, const char *session, uint64_t limit) {
    *spool = (struct spool){.dir_fd = -1, .session_fd = -1, .tail_fd = -1, .reader_fd = -1};
    spool->limit = limit;
    crc32c_init(&spool->crc);
    snprintf(spool->session, sizeof(spool->session), "%s", session);
    spool->dir = strdup(dir);
    if (!spool->dir) {
        spool_fault(spool, "out of memory");
        return nvtxt_origin(-ENOMEM);
    }
    return 0;
}

static int open_folder(struct spool *spool) {
    spool->dir_fd = open(spool->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return spool->dir_fd < 0 ? spool_refuse(spool, nvtxt_origin(-errno)) : 0;
}

// ---- A session begins ---------------------------------------------------------------------------

// Puts the folder's own name onto the disk: syncs the folder around it or, where that cannot be
// opened, the whole file system. Returns 0 or -errno with `fault`.
static int sync_parent(struct spool *spool) {
    int fd = openat(spool->dir_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int r = fd >= 0 ? spool_sync_folder(fd) : syncfs(spool->dir_fd) == 0 ? 0 : nvtxt_origin(-errno);
    if (fd >= 0) {
        close(fd);
    }
    if (r < 0) {
        spool_fault(spool, "%s/..: cannot be synced: %s", spool->dir, strerror(-r));
    }
    return r;
}

int spool_create(struct spool *spool, const char *dir, const struct nvtxt_hello *hello,
                 uint64_t limit, bool lasting) {
    char name[SPOOL_NAME_BYTES];
    int r = init_spool(spool, dir, hello->session, limit);
    spool->lasting = lasting;
    if (r == 0 && mkdir(dir, 0700) != 0 && errno != EEXIST) {
        r = spool_refuse(spool, nvtxt_origin(-errno));
    }
    r = r ?: open_folder(spool);
    if (r == 0 && lasting) {
        r = sync_parent(spool);
    }
    if (r == 0) {
        r = session_file_write(spool, hello);
        r = r ?: spool_begin(spool);
        if (r != 0) {
            spool_session_name(spool, name, sizeof(name));
            (void)unlinkat(spool->dir_fd, name, 0);
        }
    }
    return r;
}

int spool_open(struct spool *spool, const char *dir, const char *session,
               struct nvtxt_hello *hello) {
    int r = init_spool(spool, dir, session, SPOOL_LIMIT);
    r = r ?: open_folder(spool);
    r = r ?: session_file_lock(spool);
    r = r ?: session_file_read(spool, hello);
    r = r ?: spool_read_segments(spool);
    return r == 0 && spool->last == 0 ? SPOOL_NONE : r;
}

// ---- Lines of other files -----------------------------------------------------------------------

static int remove_file(struct spool *spool, const char *name) {
    if (unlinkat(spool->dir_fd, name, 0) == 0 || errno == ENOENT) {
        return 0;
    }
    int r = nvtxt_origin(-errno);
    spool_fault(spool, "%s/%s: cannot be removed: %s", spool->dir, name, strerror(-r));
    return r;
}

// What a process left that was killed while it adopted the session.
static int remove_segments(struct spool *spool) {
    char name[SPOOL_NAME_BYTES];
    int r = spool_find_segments(spool);
    for (size_t i = 0; r == 0 && i < spool->count; i++) {
        spool_segment_name(spool, spool->segments[i].number, name, sizeof(name));
        r = remove_file(spool, name);
    }
    spool->count = 0;
    return r;
}

// The hidden session file is there as long as the segments are, so that nobody takes them for a
// spool that lost its session file.
int spool_adopt(struct spool *spool, const char *dir, const struct nvtxt_hello *hello,
                uint64_t first) {
    char name[SPOOL_NAME_BYTES];
    int r = init_spool(spool, dir, hello->session, INT64_MAX);
    r = r ?: open_folder(spool);
    if (r != 0) {
        return r;
    }
    spool_session_name(spool, name, sizeof(name));
    if (faccessat(spool->dir_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        return SPOOL_BUSY;
    }
    r = session_file_write_hidden(spool, hello);
    r = r ?: remove_segments(spool);
    spool->last = first - 1;
    return r ?: spool_begin(spool);
}

int spool_publish(struct spool *spool) {
    int r = session_file_show(spool);
    return r < 0 ? spool_refuse(spool, r) : 0;
}

void spool_abandon(struct spool *spool) {
    if (spool->session_fd >= 0) {
        (void)remove_segments(spool);
        session_file_drop(spool);
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
    int r = list ? 0 : nvtxt_origin(-errno);
    *sessions = NULL;
    for (struct dirent *entry; list && r == 0 && (entry = spool_next_entry(list, &r));) {
        size_t len = id_length(entry->d_name);
        if (len == 0) {
            continue;
        }
        char *name = strndup(entry->d_name, len);
        char **session = name ? nvtxt_add(sessions, &count, sizeof(*session)) : NULL;
        if (session) {
            *session = name;
        } else {
            free(name);
            r = nvtxt_origin(-ENOMEM);
        }
    }
    if (list) {
        closedir(list);
    }
    if (r < 0) {
        while (count > 0) {
            free((*sessions)[--count]);
        }
        free(*sessions);
        *sessions = NULL;
        return r;
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
    int r = 0;
    for (size_t i = 0; r == 0 && i < spool->count; i++) {
        spool_segment_name(spool, spool->segments[i].number, name, sizeof(name));
        r = remove_file(spool, name);
    }
    if (r == 0 && spool->stray > 0) {
        spool_segment_name(spool, spool->stray, name, sizeof(name));
        r = remove_file(spool, name);
    }
    if (r == 0) {
        spool_session_name(spool, name, sizeof(name));
        r = remove_file(spool, name);
        spool->count = 0;
    }
    return r;
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
