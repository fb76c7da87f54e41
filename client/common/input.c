// SPDX-License-Identifier: Apache-2.0
//
// Plain read(2). stdin's descriptor keeps its flags, because other processes may share it; so a
// caller that must not block polls before it reads.
#include "client/common/input.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/common/outcome.h"
#include "protocol/base/buf.h"
#include "protocol/base/clock.h"
#include "protocol/base/origin.h"

#define READ_ALL 65536 // bytes of one read
#define COUNT_MS 1000  // who sent a signal waits for the end

int input_open(struct input *input, const char *path) {
    *input = (struct input){.fd = -1};
    bool is_stdin = strcmp(path, "-") == 0;
    input->name = is_stdin ? INPUT_STDIN_NAME : path;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0) {
        int error = errno;
        if (fd > STDIN_FILENO) {
            close(fd);
        }
        return nvtxt_origin(-error);
    }
    if (S_ISDIR(status.st_mode)) {
        if (!is_stdin) {
            close(fd);
        }
        return INPUT_IS_FOLDER;
    }
    input->fd = fd;
    input->is_regular = S_ISREG(status.st_mode);
    input->size = input->is_regular ? (uint64_t)status.st_size : 0;
    return 0;
}

bool input_is_same(const char *a, const char *b) {
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

const char *input_why(int r) {
    return strerror(r == INPUT_IS_FOLDER ? EISDIR : -r);
}

void input_close(struct input *input) {
    if (input->fd > STDIN_FILENO) {
        close(input->fd);
    }
    input->fd = -1;
}

int input_read(struct input *input, char *data, size_t size, size_t *got) {
    if (input->limited && size > input->limit) {
        size = (size_t)input->limit;
    }
    ssize_t n = 0;
    if (size > 0 && !input->ended) {
        do {
            n = read(input->fd, data, size);
        } while (n < 0 && errno == EINTR);
    }
    *got = 0;
    if (n < 0) {
        return errno == EAGAIN ? INPUT_NOTHING : nvtxt_origin(-errno);
    }
    *got = (size_t)n;
    input->ended |= n == 0 && size > 0;
    if (input->on_read && size > 0) {
        input->on_read(input->context, data, (size_t)n);
    }
    input->taken += (uint64_t)n;
    input->limit -= input->limited ? (uint64_t)n : 0;
    return n > 0 ? 0 : INPUT_END;
}

int input_read_all(struct input *input, struct nvtxt_buf *text, size_t most) {
    for (;;) {
        size_t got;
        int r = nvtxt_buf_reserve(text, READ_ALL);
        r = r ?: input_read(input, text->data + text->len, READ_ALL, &got);
        if (r != 0) {
            return r == INPUT_END ? 0 : r < 0 ? r : nvtxt_origin(-EAGAIN);
        }
        text->len += got;
        if (text->len > most) {
            return nvtxt_origin(-EFBIG);
        }
    }
}

void input_stop(struct input *input) {
    int waiting = 0;
    if (input->limited) {
        return;
    }
    if (input->is_regular || ioctl(input->fd, FIONREAD, &waiting) != 0 || waiting < 0) {
        waiting = 0;
    }
    input->limited = true;
    input->limit = (uint64_t)waiting;
}

bool input_at_end(const struct input *input) {
    if (input->ended || input->is_regular) {
        return input->ended || input->taken >= input->size;
    }
    struct pollfd fd = {.fd = input->fd, .events = POLLIN};
    return poll(&fd, 1, 0) == 1 && (fd.revents & POLLHUP) && !(fd.revents & POLLIN);
}

// An end of a line that was read in part counts for it, so one of the rest only.
int64_t input_count_rest(struct input *input) {
    char data[65536], last = '\n';
    ssize_t got = -1;
    int64_t lines = 0;
    int signals = signals_count();
    int64_t until = signals > 0 ? nvtxt_monotonic_ms() + COUNT_MS : INT64_MAX;
    if (!input->is_regular || input->fd < 0) {
        return -1;
    }
    while (signals_count() == signals && nvtxt_monotonic_ms() < until &&
           (got = read(input->fd, data, sizeof(data))) > 0) {
        for (const char *at = data; (at = memchr(at, '\n', (size_t)(data + got - at))); at++) {
            lines++;
        }
        last = data[got - 1];
    }
    return got == 0 ? lines + (last != '\n') : -1;
}

void input_raise_descriptors(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}
