// SPDX-License-Identifier: Apache-2.0
//
// The temporary file is in the folder of the final one, so that a rename is enough. A link is
// followed: its target is replaced, not the link. A stranger's link is not followed. A link that
// appears meanwhile does no harm: a rename follows none. Temporary files of killed exports and
// imports are removed; a lock shows which files are still in use.
#include "client/common/result_file.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/common/input.h"
#include "client/common/out_file.h"
#include "client/common/term.h"
#include "protocol/base/origin.h"

#define WAIT_MS 100 // between looks for a reader

static enum outcome refuse(const struct result_file *file, struct term *term, int error) {
    term_say(term, "cannot create %s: %s", file->name, strerror(error));
    return OUTCOME_NO_OUTPUT;
}

static enum outcome open_temp(struct result_file *file, struct term *term, mode_t mode) {
    if (!out_file_name_temp(file->temp, file->path)) {
        return refuse(file, term, ENAMETOOLONG);
    }
    file->fd = open(file->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file->fd < 0) {
        file->temp[0] = '\0';
        return refuse(file, term, errno);
    }
    signals_remove(file->temp);
    (void)flock(file->fd, LOCK_SH | LOCK_NB); // so that no other program removes it
    out_file_sweep(&(struct out_file){.path = file->path});
    if (mode) {
        (void)fchmod(file->fd, mode); // that of the file that it replaces
    }
    return 0;
}

// The programs' own descriptors are used as they are: opened anew, a file would begin at its start.
static enum outcome open_again(struct result_file *file, struct term *term, int fd) {
    int flags = fcntl(fd, F_GETFL);
    file->fd = flags < 0 || (flags & O_ACCMODE) == O_RDONLY ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
    return file->fd < 0 ? refuse(file, term, flags < 0 ? errno : EBADF) : OUTCOME_DONE;
}

// A pipe without a reader is waited for; this looks now and then, so that a signal ends it.
static enum outcome open_as_it_is(struct result_file *file, struct term *term, bool is_pipe) {
    const int flags = O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC;
    bool told = false;
    while ((file->fd = open(file->path, flags)) < 0 && is_pipe && errno == ENXIO) {
        if (!told) {
            term_say(term, "waiting for a reader of %s", file->name);
        }
        told = true;
        struct pollfd signal = {.fd = signals_fd(), .events = POLLIN};
        (void)poll(&signal, 1, WAIT_MS);
        if (signals_came()) {
            return OUTCOME_STOPPED;
        }
    }
    if (file->fd < 0 || fcntl(file->fd, F_SETFL, 0) != 0) {
        return refuse(file, term, errno);
    }
    return OUTCOME_DONE;
}

static enum outcome open_found(struct result_file *file, struct term *term) {
    struct stat status;
    if (lstat(file->path, &status) != 0) {
        return errno == ENOENT ? open_temp(file, term, 0) : refuse(file, term, errno);
    }
    switch (status.st_mode & S_IFMT) {
    case S_IFDIR:
        return refuse(file, term, EISDIR);
    case S_IFIFO:
    case S_IFCHR:
    case S_IFBLK:
        return open_as_it_is(file, term, S_ISFIFO(status.st_mode));
    case S_IFREG:
        break;
    default: // a socket, or a link that was not there before
        return refuse(file, term, S_ISLNK(status.st_mode) ? ELOOP : ENXIO);
    }
    if (status.st_size > 0 && out_file_is_database(file->path)) {
        term_say(term, "%s is a database; it is not replaced: choose another name", file->name);
        return OUTCOME_NO_OUTPUT;
    }
    return open_temp(file, term, status.st_mode & 0777);
}

enum outcome result_file_open(struct result_file *file, struct term *term, const char *name) {
    int fd;
    *file = (struct result_file){.fd = -1, .name = name};
    if (!*name || strlen(name) >= sizeof(file->path)) {
        term_say(term, "'%s' cannot be a file's name", name);
        return OUTCOME_USAGE;
    }
    int r = out_file_resolve(name, file->path, &fd);
    if (r < 0) {
        return refuse(file, term, -r);
    }
    return r == OUT_FILE_STRANGER ? out_file_refuse_link(term, name, file->path)
           : r == OUT_FILE_OPEN   ? open_again(file, term, fd)
                                  : open_found(file, term);
}

// Only here a full disk may become known.
static int settle(struct result_file *file) {
    int r = fsync(file->fd) == 0 || errno == EINVAL || errno == EROFS ? 0 : nvtxt_origin(-errno);
    if (close(file->fd) != 0 && r == 0) {
        r = nvtxt_origin(-errno);
    }
    file->fd = -1;
    return r;
}

enum outcome result_file_publish(struct result_file *file, struct term *term) {
    int r = settle(file);
    if (r != 0) {
        term_say(term, "cannot write to %s: %s", file->name, strerror(-r));
        result_file_discard(file);
        return OUTCOME_IO;
    }
    if (file->temp[0] && rename(file->temp, file->path) != 0) {
        enum outcome refused = refuse(file, term, errno);
        result_file_discard(file);
        return refused;
    }
    if (file->temp[0]) {
        out_file_sync_name(file->path);
    }
    signals_remove(NULL);
    file->temp[0] = '\0';
    return 0;
}

void result_file_discard(struct result_file *file) {
    if (file->fd >= 0) {
        close(file->fd);
        file->fd = -1;
    }
    if (file->temp[0]) {
        (void)unlink(file->temp);
        signals_remove(NULL);
        file->temp[0] = '\0';
    }
}

bool result_file_is_of(const char *path, const char *store) {
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    char theirs[PATH_MAX + 16];
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        snprintf(theirs, sizeof(theirs), "%s%s", store, suffixes[i]);
        if (input_is_same(path, theirs)) {
            return true;
        }
    }
    return false;
}
