// SPDX-License-Identifier: Apache-2.0
//
// A library for LD_PRELOAD: it writes down what a program does to files, folders and sockets, in
// the order of the calls, so that a test knows what was on the disk when. crash/order.py checks the
// order; crash/power.py makes from it what a disk could hold at any moment.
//
// After each call that succeeded it writes one line, with one write(2), to the file that
// NVTXT_IO_LOG names. Tabs separate the fields; paths are absolute:
//
//   PID write DEVICE:INODE PATH OFFSET LENGTH HEX
//       LENGTH bytes were written to a file
//   PID send DEVICE:INODE PATH 0 LENGTH HEX
//       the same to something else
//   PID truncate DEVICE:INODE PATH LENGTH
//   PID sync DEVICE:INODE PATH
//       fsync or fdatasync, of a file or a folder
//   PID create DEVICE:INODE PATH
//       a new file, folder or symbolic link
//   PID rename DEVICE:INODE PATH FROM
//       link as well
//   PID unlink - PATH
//   PID exit
//
// HEX is cut to NVTXT_IO_DATA bytes (default 80). If a call of one thread waited for that
// of another, its line comes later.
//
// NVTXT_IO_FAIL="CALL PART N": the N-th fsync, fdatasync or rename whose path has PART in it fails
// with EIO.
//
// It does not see what is written through a mapping (-shm).
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) (*(__typeof__(&name))real_of(#name))
#define LINE_HEAD (2 * PATH_MAX + 256)

static int log_fd = -1;
static size_t data_most = 80;
static char fail_call[16], fail_part[64];
static atomic_int fail_left;

static void *real_of(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) {
        abort();
    }
    return function;
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("NVTXT_IO_LOG");
    const char *most = getenv("NVTXT_IO_DATA");
    const char *fail = getenv("NVTXT_IO_FAIL");
    int left = 0;
    if (path) {
        int fd = REAL(open)(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
        log_fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 200); // out of the way
        if (fd >= 0) {
            close(fd);
        }
    }
    data_most = most ? strtoul(most, NULL, 10) : data_most;
    if (fail && sscanf(fail, "%15s %63s %d", fail_call, fail_part, &left) == 3) {
        atomic_store(&fail_left, left);
    }
}

// ---- Lines --------------------------------------------------------------------------------------

static void path_of_fd(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, PATH_MAX - 1);
    path[len < 0 ? 0 : len] = '\0';
}

static void path_at(int dir_fd, const char *name, char *path) {
    char folder[PATH_MAX] = "";
    if (*name != '/' && dir_fd == AT_FDCWD) {
        (void)!getcwd(folder, sizeof(folder));
    } else if (*name != '/') {
        path_of_fd(dir_fd, folder);
    }
    const char *slash = *name != '/' ? "/" : "";
    if (snprintf(path, PATH_MAX, "%s%s%s", folder, slash, name) >= PATH_MAX) {
        *path = '\0';
    }
}

__attribute__((format(printf, 3, 4))) static void line(const struct iovec *pieces, size_t len,
                                                       const char *format, ...) {
    static const char digits[] = "0123456789abcdef";
    size_t most = len < data_most ? len : data_most;
    char *text = log_fd < 0 ? NULL : malloc(LINE_HEAD + 2 * most + 1);
    if (!text) {
        return;
    }
    va_list args;
    va_start(args, format);
    size_t at = (size_t)snprintf(text, LINE_HEAD, "%d\t", getpid());
    at += (size_t)vsnprintf(text + at, LINE_HEAD - at, format, args);
    va_end(args);
    for (size_t done = 0; done < most; pieces++) {
        const unsigned char *byte = pieces->iov_base;
        for (size_t i = 0; i < pieces->iov_len && done < most; i++, done++) {
            text[at++] = digits[byte[i] >> 4];
            text[at++] = digits[byte[i] & 15];
        }
    }
    text[at++] = '\n';
    (void)!REAL(write)(log_fd, text, at);
    free(text);
}

static void id_of(const struct stat *status, char *id, size_t size) {
    snprintf(id, size, "%llu:%llu", (unsigned long long)status->st_dev,
             (unsigned long long)status->st_ino);
}

static void say_name(const char *what, const char *path, const char *from) {
    struct stat status = {0};
    char id[48] = "-";
    int before = errno;
    if (strcmp(what, "unlink") != 0 && lstat(path, &status) == 0) {
        id_of(&status, id, sizeof(id));
    }
    line(NULL, 0, "%s\t%s\t%s\t%s", what, id, path, from ? from : "");
    errno = before;
}

static void say_fd(const char *what, int fd, off_t offset, size_t len, const struct iovec *pieces) {
    struct stat status;
    char id[48], path[PATH_MAX];
    int before = errno;
    if (fd != log_fd && fstat(fd, &status) == 0) {
        id_of(&status, id, sizeof(id));
        path_of_fd(fd, path);
        if (strcmp(what, "write") == 0 && !S_ISREG(status.st_mode)) {
            what = "send";
            offset = 0;
        }
        line(pieces, pieces ? len : 0, "%s\t%s\t%s\t%lld\t%zu\t", what, id, path, (long long)offset,
             len);
    }
    errno = before;
}

// ---- Bytes --------------------------------------------------------------------------------------

// After a write at the descriptor's own position.
static ssize_t wrote_on(int fd, const struct iovec *pieces, ssize_t n) {
    if (n > 0) {
        off_t end = lseek(fd, 0, SEEK_CUR);
        say_fd("write", fd, end < 0 ? 0 : end - n, (size_t)n, pieces);
    }
    return n;
}

static ssize_t wrote_at(int fd, const struct iovec *pieces, ssize_t n, off_t offset) {
    if (n > 0) {
        say_fd("write", fd, offset, (size_t)n, pieces);
    }
    return n;
}

#define PIECE(data, len) (&(struct iovec){(void *)(uintptr_t)(data), len})

ssize_t write(int fd, const void *data, size_t len) {
    return wrote_on(fd, PIECE(data, len), REAL(write)(fd, data, len));
}

ssize_t writev(int fd, const struct iovec *pieces, int count) {
    return wrote_on(fd, pieces, REAL(writev)(fd, pieces, count));
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t offset) {
    return wrote_at(fd, PIECE(data, len), REAL(pwrite)(fd, data, len, offset), offset);
}

ssize_t pwrite64(int fd, const void *data, size_t len, off64_t offset) {
    return wrote_at(fd, PIECE(data, len), REAL(pwrite64)(fd, data, len, offset), offset);
}

ssize_t pwritev(int fd, const struct iovec *pieces, int count, off_t offset) {
    return wrote_at(fd, pieces, REAL(pwritev)(fd, pieces, count, offset), offset);
}

ssize_t send(int fd, const void *data, size_t len, int flags) {
    return wrote_on(fd, PIECE(data, len), REAL(send)(fd, data, len, flags));
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    return wrote_on(fd, message->msg_iov, REAL(sendmsg)(fd, message, flags));
}

ssize_t recv(int fd, void *data, size_t len, int flags) {
    ssize_t n = REAL(recv)(fd, data, len, flags);
    if (n > 0) {
        say_fd("receive", fd, 0, (size_t)n, PIECE(data, (size_t)n));
    }
    return n;
}

int ftruncate(int fd, off_t len) {
    int r = REAL(ftruncate)(fd, len);
    if (r == 0) {
        say_fd("truncate", fd, len, 0, NULL);
    }
    return r;
}

int ftruncate64(int fd, off64_t len) {
    return ftruncate(fd, len);
}

// ---- Onto the disk ------------------------------------------------------------------------------

static bool fails(const char *call, const char *path) {
    if (strcmp(call, fail_call) != 0 || !strstr(path, fail_part) ||
        atomic_fetch_sub(&fail_left, 1) != 1) {
        return false;
    }
    errno = EIO;
    return true;
}

static bool fd_fails(const char *call, int fd) {
    char path[PATH_MAX];
    path_of_fd(fd, path);
    return fails(call, path);
}

int fsync(int fd) {
    int r = fd_fails("fsync", fd) ? -1 : REAL(fsync)(fd);
    if (r == 0) {
        say_fd("sync", fd, 0, 0, NULL);
    }
    return r;
}

int fdatasync(int fd) {
    int r = fd_fails("fdatasync", fd) ? -1 : REAL(fdatasync)(fd);
    if (r == 0) {
        say_fd("sync", fd, 0, 0, NULL);
    }
    return r;
}

// ---- Names --------------------------------------------------------------------------------------

static int opened(int dir_fd, const char *name, int flags, mode_t mode) {
    char path[PATH_MAX];
    struct stat status;
    path_at(dir_fd, name, path);
    bool is_new = (flags & O_CREAT) && lstat(path, &status) != 0;
    int fd = REAL(openat)(dir_fd, name, flags, mode);
    if (fd >= 0 && is_new) {
        say_name("create", path, NULL);
    } else if (fd >= 0 && (flags & O_TRUNC)) {
        say_fd("truncate", fd, 0, 0, NULL);
    }
    return fd;
}

#define MODE_OF(flags)                                                                             \
    mode_t mode = 0;                                                                               \
    if ((flags) & (O_CREAT | __O_TMPFILE)) {                                                       \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        mode = va_arg(args, mode_t);                                                               \
        va_end(args);                                                                              \
    }

int open(const char *name, int flags, ...) {
    MODE_OF(flags)
    return opened(AT_FDCWD, name, flags, mode);
}

int open64(const char *name, int flags, ...) {
    MODE_OF(flags)
    return opened(AT_FDCWD, name, flags, mode);
}

int openat(int dir_fd, const char *name, int flags, ...) {
    MODE_OF(flags)
    return opened(dir_fd, name, flags, mode);
}

int openat64(int dir_fd, const char *name, int flags, ...) {
    MODE_OF(flags)
    return opened(dir_fd, name, flags, mode);
}

static int named(int r, const char *what, int dir_fd, const char *name) {
    char path[PATH_MAX];
    if (r == 0) {
        path_at(dir_fd, name, path);
        say_name(what, path, NULL);
    }
    return r;
}

static int named_anew(int r, const char *what, int from_fd, const char *from, int to_fd,
                      const char *to) {
    char old[PATH_MAX], path[PATH_MAX];
    if (r == 0) {
        path_at(from_fd, from, old);
        path_at(to_fd, to, path);
        say_name(what, path, old);
    }
    return r;
}

int mkdir(const char *name, mode_t mode) {
    return named(REAL(mkdir)(name, mode), "create", AT_FDCWD, name);
}

int symlink(const char *target, const char *name) {
    return named(REAL(symlink)(target, name), "create", AT_FDCWD, name);
}

int unlink(const char *name) {
    return named(REAL(unlink)(name), "unlink", AT_FDCWD, name);
}

int unlinkat(int dir_fd, const char *name, int flags) {
    return named(REAL(unlinkat)(dir_fd, name, flags), "unlink", dir_fd, name);
}

int rename(const char *from, const char *to) {
    int r = fails("rename", to) ? -1 : REAL(rename)(from, to);
    return named_anew(r, "rename", AT_FDCWD, from, AT_FDCWD, to);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to) {
    return named_anew(REAL(renameat)(from_fd, from, to_fd, to), "rename", from_fd, from, to_fd, to);
}

int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags) {
    int r = REAL(renameat2)(from_fd, from, to_fd, to, flags);
    return named_anew(r, "rename", from_fd, from, to_fd, to);
}

int link(const char *from, const char *to) {
    return named_anew(REAL(link)(from, to), "link", AT_FDCWD, from, AT_FDCWD, to);
}

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags) {
    int r = REAL(linkat)(from_fd, from, to_fd, to, flags);
    return named_anew(r, "link", from_fd, from, to_fd, to);
}

__attribute__((destructor)) static void end(void) {
    line(NULL, 0, "exit");
}
