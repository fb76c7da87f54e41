// SPDX-License-Identifier: Apache-2.0
#include "daemon/leftover.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/losses.h"
#include "store/store.h"

#define NOTES_BYTES 16384 // a note has fewer than 48: more than 300 stops that gave up in a row

static void file_of(const char *store_path, char *path, size_t size) {
    snprintf(path, size, "%s.lost", store_path);
}

int leftover_note(const char *store_path, int64_t at_ns, uint64_t events) {
    char path[PATH_MAX], note[64];
    struct stat stat;
    file_of(store_path, path, sizeof(path));
    int len = snprintf(note, sizeof(note), "%" PRId64 " %" PRIu64 "\n", at_ns, events);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd < 0 || fstat(fd, &stat) < 0) {
        int error = errno;
        if (fd >= 0)
            close(fd);
        return -error;
    }
    ssize_t n = -1;
    errno = EFBIG;
    if (S_ISREG(stat.st_mode) && stat.st_size + len <= NOTES_BYTES)
        n = write(fd, note, (size_t)len);
    int r = n == len ? 0 : n < 0 ? -errno : -ENOSPC;
    if (close(fd) < 0 && r == 0)
        r = -errno;
    return r;
}

// The notes as they stand; "" when there are none. Returns 0 or -errno.
static int read_notes(const char *path, char *notes, size_t size) {
    notes[0] = '\0';
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT ? 0 : -errno;
    ssize_t n = read(fd, notes, size - 1);
    int r = n < 0 ? -errno : 0;
    close(fd);
    notes[n < 0 ? 0 : n] = '\0';
    return r;
}

static int add_losses(struct store_batch *batch, const char *notes) {
    int r = 0;
    for (const char *at = notes; *at && r == 0;) {
        int64_t at_ns = 0;
        uint64_t events = 0;
        int len = 0;
        if (sscanf(at, "%" SCNd64 " %" SCNu64 "%n", &at_ns, &events, &len) != 2 || events == 0 ||
            events > INT64_MAX)
            events = 1;
        r = store_batch_loss(batch, at_ns, 0, -1, 0, LOSS_UNWRITTEN, events);
        at += len;
        while (*at && *at++ != '\n')
            ;
    }
    return r;
}

int leftover_move(const char *store_path, struct store *store) {
    char path[PATH_MAX], notes[NOTES_BYTES + 1];
    file_of(store_path, path, sizeof(path));
    int r = read_notes(path, notes, sizeof(notes));
    if (r < 0 || !*notes)
        return r;
    struct store_batch *batch = store_batch_new();
    r = batch ? add_losses(batch, notes) : -ENOMEM;
    r = r ? r : store_begin(store);
    r = r ? r : store_write(store, batch);
    r = r ? r : store_commit(store);
    if (r)
        store_rollback(store);
    else
        unlink(path);
    store_batch_free(batch);
    return r;
}
