// SPDX-License-Identifier: Apache-2.0
//
// All is done by the descriptor of the folder, so nobody can put another one in its place. A file
// is opened without following a link and without waiting, and looked at after that.
#include "client/send/session_folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/session/sender.h"
#include "protocol/base/origin.h"

#define PRIVATE "nvtxt-traces-"
#define MARK ".nvtxt-session"
#define MARK_BYTES (NVTXT_HELLO_BYTES + 1) // the hello and its LF

static void close_folder(struct session_folder *folder) {
    int *const own[] = {&folder->mark, &folder->fd};
    for (size_t i = 0; i < 2; i++) {
        if (*own[i] >= 0) {
            close(*own[i]);
        }
        *own[i] = -1;
    }
    folder->path[0] = '\0';
}

// Whether it is a regular file of this user.
static bool is_ours(int fd, struct stat *status) {
    return fstat(fd, status) == 0 && S_ISREG(status->st_mode) && status->st_uid == geteuid();
}

// Opens the folder and locks its hidden file; `flags` may make that. Returns 0, -errno, or
// NVTXT_WRONG when another process has it.
static int take_folder(struct session_folder *folder, int flags) {
    struct stat status;
    folder->fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->fd >= 0) {
        folder->mark =
            openat(folder->fd, MARK,
                   flags | O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
    }
    if (folder->mark < 0) {
        return nvtxt_origin(-errno);
    }
    if (flock(folder->mark, LOCK_EX | LOCK_NB) != 0) {
        return errno == EWOULDBLOCK ? NVTXT_WRONG : nvtxt_origin(-errno);
    }
    if (!is_ours(folder->mark, &status)) {
        return nvtxt_origin(-EPERM);
    }
    return status.st_nlink > 0 ? 0 : NVTXT_WRONG; // who had it has just removed it
}

static const char *reason_of(int r) {
    return r == NVTXT_WRONG ? "another nvtxt-send uses it" : strerror(-r);
}

// ---- The run ------------------------------------------------------------------------------------

static int make_private(struct session_folder *folder) {
    const char *base = getenv("TMPDIR");
    folder->is_private = true;
    snprintf(folder->path, sizeof(folder->path), "%s/" PRIVATE "XXXXXX",
             base && *base == '/' ? base : "/tmp");
    return mkdtemp(folder->path) ? 0 : nvtxt_origin(-errno);
}

static int make_named(struct session_folder *folder, const char *named) {
    bool there = mkdir(named, 0700) == 0 || errno == EEXIST;
    snprintf(folder->path, sizeof(folder->path), "%s", named);
    return there && realpath(named, folder->path) ? 0 : nvtxt_origin(-errno);
}

void session_folder_begin(struct session_folder *folder, const char *named, struct term *term) {
    const char *set = getenv(NVTXT_SESSION_VARIABLE);
    *folder = (struct session_folder){.fd = -1, .mark = -1};
    if (!named && set && *set) {
        return;
    }
    int r = named ? make_named(folder, named) : make_private(folder);
    r = r ?: take_folder(folder, O_CREAT);
    if (r == 0 && setenv(NVTXT_SESSION_VARIABLE, folder->path, 1) != 0) {
        r = nvtxt_origin(-errno);
    }
    if (r == 0) {
        return;
    }
    term_say(term, "warning: %s cannot be the session folder: %s; the command runs without it",
             folder->path, reason_of(r));
    if (folder->is_private) {
        (void)rmdir(folder->path);
    }
    close_folder(folder);
}

void session_folder_note(struct session_folder *folder, const struct nvtxt_hello *run,
                         const char *session) {
    struct nvtxt_buf line = {0};
    if (folder->mark < 0) {
        return;
    }
    folder->run = *run;
    snprintf(folder->run.session, sizeof(folder->run.session), "%s", session);
    nvtxt_hello_format(&line, &folder->run);
    if (!nvtxt_buf_failed(&line) && pwrite(folder->mark, line.data, line.len, 0) > 0) {
        (void)!ftruncate(folder->mark, (off_t)line.len); // a full disk: the run goes on
    }
    nvtxt_buf_deinit(&line);
}

bool session_folder_find(struct session_folder *folder, const char *dir, struct term *term) {
    char text[MARK_BYTES], fault[256];
    *folder = (struct session_folder){.fd = -1, .mark = -1};
    int r = realpath(dir, folder->path) ? take_folder(folder, 0) : nvtxt_origin(-errno);
    if (r == NVTXT_WRONG) {
        term_say(term, "%s: %s", dir, reason_of(r));
    }
    folder->is_private = nvtxt_starts_with(nvtxt_slice_of(nvtxt_base_name(folder->path)), PRIVATE);
    ssize_t n = r == 0 ? pread(folder->mark, text, sizeof(text), 0) : 0;
    const char *end =
        n > 0 ? memchr(text, '\n', (size_t)n) : NULL; // behind it: a longer note's rest
    struct nvtxt_slice line = {text, end ? (size_t)(end - text) : 0};
    if (end && nvtxt_hello_parse(line, &folder->run, fault, sizeof(fault)) == NVTXT_HELLO_OK) {
        return true;
    }
    close_folder(folder);
    return false;
}

// ---- Its files ----------------------------------------------------------------------------------

static int is_wanted(const struct dirent *entry) {
    return nvtxt_is_file_name(entry->d_name);
}

int session_folder_list(const struct session_folder *folder, struct dirent ***files) {
    int count = scandirat(folder->fd, ".", files, is_wanted, alphasort);
    return count < 0 ? nvtxt_origin(-errno) : count;
}

int session_folder_open(const struct session_folder *folder, const char *path, struct input *input,
                        struct term *term) {
    const char *name = nvtxt_base_name(path);
    struct stat status = {0};
    *input = (struct input){.name = path, .is_regular = true};
    input->fd = openat(folder->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (input->fd >= 0 && is_ours(input->fd, &status)) {
        input->size = (uint64_t)status.st_size;
        return 0;
    }
    int r = nvtxt_origin(-errno);
    bool there = fstatat(folder->fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
    input_close(input);
    if (!there || (S_ISREG(status.st_mode) && status.st_uid == geteuid())) {
        return r;
    }
    bool is_file = S_ISREG(status.st_mode);
    term_say(term, "%s is left out: it is %s", path,
             is_file                   ? "another user's"
             : S_ISLNK(status.st_mode) ? "a link"
                                       : "no regular file");
    if (folder->is_private && !is_file) {
        (void)unlinkat(folder->fd, name, 0); // it holds nothing; a folder stays
    }
    return NVTXT_WRONG;
}

int session_folder_id(const struct session_folder *folder, const char *path,
                      char session[NVTXT_SESSION_ID_BYTES + 1]) {
    char name[NVTXT_SESSION_ID_BYTES + NAME_MAX + 2];
    snprintf(name, sizeof(name), "%s/%s", folder->run.session, nvtxt_base_name(path));
    return session_id_of_name(name, geteuid(), session);
}

bool session_folder_sent(const struct session_folder *folder, const struct input *input) {
    struct stat status;
    bool all = fstat(input->fd, &status) == 0 && (uint64_t)status.st_size <= input->taken;
    if (all && folder->is_private) {
        (void)unlinkat(folder->fd, nvtxt_base_name(input->name), 0);
    }
    return all;
}

void session_folder_end(struct session_folder *folder, bool all, struct term *term) {
    if (folder->mark < 0) {
        return;
    }
    if (!all) {
        term_say(term, "not all files in %s are sent: 'nvtxt-send --resume %s' sends the rest",
                 folder->path, folder->path);
    } else {
        (void)unlinkat(folder->fd, MARK, 0);
    }
    if (all && folder->is_private && rmdir(folder->path) != 0 && errno != ENOENT) {
        term_say(term, "%s stays: %s; its files *.nvtxt are sent", folder->path,
                 errno == ENOTEMPTY ? "it has other files" : strerror(errno));
    }
    close_folder(folder);
}
