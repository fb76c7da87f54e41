// SPDX-License-Identifier: Apache-2.0
//
// The lock moves to the new file before the new file takes the name. Who opened the old one in
// between gets its lock when we close it, sees that the name stands for another file, and looks
// again.
#include "client/journal/journal_state.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/base/origin.h"
#include "protocol/base/scan.h"

#define KIND "nvtxt-journal "
#define HEAD KIND "1\n"
#define SESSION "session "
#define SIZE_MOST ((uint64_t)64 << 20) // of a file that is read
#define SIZE_AGAIN ((uint64_t)8 << 20) // of a file that is written anew

static struct journal_place *place_at(const struct journal_state *state, size_t i) {
    return &state->places[(state->first + i) % JOURNAL_PLACES];
}

// Returns `r`, a negative errno, and makes a sentence of it.
static int fail(struct journal_state *state, const char *what, int r) {
    snprintf(state->fault, sizeof(state->fault), "%s %s: %s", state->path, what, strerror(-r));
    return r;
}

// ---- Writing ------------------------------------------------------------------------------------

static void format_place(struct nvtxt_buf *out, const struct journal_place *place) {
    nvtxt_buf_add_uint(out, place->line);
    nvtxt_buf_add(out, " ", 1);
    nvtxt_buf_add_uint(out, place->taken);
    nvtxt_buf_add(out, " ", 1);
    nvtxt_buf_add_uint(out, place->usec);
    nvtxt_buf_add(out, " ", 1);
    nvtxt_buf_add_string(out, *place->cursor ? place->cursor : "-");
    nvtxt_buf_add(out, "\n", 1);
}

static int write_all(int fd, const struct nvtxt_buf *data) {
    for (size_t at = 0; at < data->len;) {
        ssize_t n = write(fd, data->data + at, data->len - at);
        if (n < 0 && errno != EINTR) {
            return nvtxt_origin(-errno);
        }
        at += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static void format_all(const struct journal_state *state, struct nvtxt_buf *out) {
    nvtxt_buf_add_string(out, HEAD SESSION);
    nvtxt_buf_add_string(out, state->session);
    nvtxt_buf_add(out, "\n", 1);
    for (size_t i = 0; i < state->count; i++) {
        format_place(out, place_at(state, i));
    }
}

// The name of the new file goes onto the disk, too.
static int sync_folder(const char *path) {
    char folder[PATH_MAX];
    snprintf(folder, sizeof(folder), "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash) {
        slash[slash == folder] = '\0';
    }
    int fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int r = fd < 0 || fsync(fd) < 0 ? nvtxt_origin(-errno) : 0;
    if (fd >= 0) {
        close(fd);
    }
    return r;
}

// Writes, syncs and locks a file under a name of ours. Returns its descriptor or -errno.
static int write_temp(const char *temp, const struct nvtxt_buf *all) {
    (void)unlink(temp); // a killed process left it: the lock of the file is ours
    int fd = open(temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        return nvtxt_origin(-errno);
    }
    int r = write_all(fd, all);
    r = r ?: fsync(fd) < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 ? nvtxt_origin(-errno) : 0;
    if (r < 0) {
        close(fd);
        (void)unlink(temp);
        return r;
    }
    return fd;
}

static int replace_file(struct journal_state *state, const struct nvtxt_buf *all) {
    char temp[PATH_MAX];
    if (snprintf(temp, sizeof(temp), "%s.nvtxt-new", state->path) >= (int)sizeof(temp)) {
        return nvtxt_origin(-ENAMETOOLONG);
    }
    int fd = write_temp(temp, all);
    if (fd < 0) {
        return fd;
    }
    int r = rename(temp, state->path) < 0 ? nvtxt_origin(-errno) : sync_folder(state->path);
    if (r < 0) {
        close(fd);
        (void)unlink(temp);
        return r;
    }
    close(state->fd);
    state->fd = fd;
    state->size = all->len;
    return 0;
}

static int write_anew(struct journal_state *state) {
    struct nvtxt_buf all = {0};
    nvtxt_buf_clear(&state->unwritten);
    if (!state->path) {
        return 0;
    }
    format_all(state, &all);
    int r = nvtxt_buf_failed(&all) ? nvtxt_origin(-ENOMEM) : replace_file(state, &all);
    nvtxt_buf_deinit(&all);
    return r < 0 ? fail(state, "cannot be written", r) : 0;
}

// ---- Reading ------------------------------------------------------------------------------------

static bool take_number(struct nvtxt_scan *scan, uint64_t *value) {
    return nvtxt_scan_is(scan, NVTXT_CHAR_DIGIT) && nvtxt_scan_take_uint(scan, value) &&
           nvtxt_scan_take(scan, ' ');
}

static bool parse_place(struct nvtxt_slice line, struct journal_place *place) {
    struct nvtxt_scan scan = nvtxt_scan(line);
    *place = (struct journal_place){0};
    if (!take_number(&scan, &place->line) || !take_number(&scan, &place->taken) ||
        !take_number(&scan, &place->usec)) {
        return false;
    }
    size_t left = nvtxt_scan_left(&scan);
    if (left == 0 || left >= JOURNAL_CURSOR_SIZE || memchr(scan.at, '\0', left) ||
        memchr(scan.at, ' ', left)) {
        return false;
    }
    if (left > 1 || *scan.at != '-') {
        memcpy(place->cursor, scan.at, left);
    }
    return true;
}

// Cuts the next line off. False when there is no whole one.
static bool take_line(struct nvtxt_scan *text, struct nvtxt_slice *line) {
    const char *lf = nvtxt_scan_find(text, '\n');
    if (!lf || lf == text->end) {
        return false;
    }
    *line = nvtxt_slice_between(text->at, lf);
    text->at = lf + 1;
    return true;
}

static bool parse_head(struct journal_state *state, struct nvtxt_scan *text) {
    char session[NVTXT_UUID_SIZE];
    struct nvtxt_slice line;
    if (!nvtxt_scan_take_text(text, HEAD SESSION) || !take_line(text, &line) ||
        line.len != sizeof(session) - 1) {
        return false;
    }
    memcpy(session, line.data, line.len);
    session[line.len] = '\0';
    return nvtxt_uuid_read(session, state->session);
}

// A line that cannot be read is damage, unless nothing follows that can be: then a crash left it.
static bool parse(struct journal_state *state, struct nvtxt_slice all) {
    struct nvtxt_scan text = nvtxt_scan(all);
    struct nvtxt_slice line;
    struct journal_place place;
    bool cut = false;
    if (!parse_head(state, &text)) {
        return false;
    }
    while (take_line(&text, &line)) {
        bool good = parse_place(line, &place);
        if ((cut && good) ||
            (good && state->count > 0 && place.line < journal_state_last(state)->line)) {
            return false;
        }
        cut = cut || !good;
        if (!cut) {
            if (state->count == JOURNAL_PLACES) {
                journal_state_acked(state, place_at(state, 1)->line);
            }
            *place_at(state, state->count++) = place;
        }
    }
    return state->count > 0;
}

static int read_text(struct journal_state *state, struct nvtxt_buf *text) {
    char data[16384];
    ssize_t n;
    while ((n = read(state->fd, data, sizeof(data))) != 0 && text->len <= SIZE_MOST) {
        if (n < 0 && errno != EINTR) {
            return nvtxt_origin(-errno);
        }
        nvtxt_buf_add(text, data, n > 0 ? (size_t)n : 0);
    }
    return nvtxt_buf_failed(text) ? nvtxt_origin(-ENOMEM) : 0;
}

// Writes why the text is no state for this program.
static int refuse(struct journal_state *state, struct nvtxt_slice all) {
    struct nvtxt_scan text = nvtxt_scan(all);
    uint64_t version = 0;
    bool is_newer =
        nvtxt_scan_take_text(&text, KIND) && nvtxt_scan_take_uint(&text, &version) && version > 1;
    if (is_newer) {
        snprintf(state->fault, sizeof(state->fault),
                 "%s is a state of a journal of version %" PRIu64 ", and this program reads up to "
                 "version 1: install a newer package nvtxt-tools",
                 state->path, version);
    } else {
        snprintf(state->fault, sizeof(state->fault),
                 "%s is damaged, or is no state of a journal: it stays as it is", state->path);
    }
    return NVTXT_WRONG;
}

static int load(struct journal_state *state) {
    struct nvtxt_buf text = {0};
    int r = read_text(state, &text);
    bool empty = text.len == 0;
    bool good =
        r == 0 && text.len <= SIZE_MOST && parse(state, (struct nvtxt_slice){text.data, text.len});
    state->size = text.len;
    if (r < 0) {
        (void)fail(state, "cannot be read", r);
    } else if (!good) {
        r = empty ? JOURNAL_STATE_NEW : refuse(state, (struct nvtxt_slice){text.data, text.len});
    }
    nvtxt_buf_deinit(&text);
    return r;
}

// ---- Opening ------------------------------------------------------------------------------------

// The file that has the name, locked. Returns 0, NVTXT_WRONG: it is no regular file,
// JOURNAL_STATE_BUSY or -errno.
static int lock_file(struct journal_state *state) {
    struct stat ours, named;
    do {
        if (state->fd >= 0) {
            close(state->fd);
        }
        state->fd = open(state->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
        if (state->fd < 0) {
            return nvtxt_origin(-errno);
        }
        if (flock(state->fd, LOCK_EX | LOCK_NB) < 0) {
            return errno == EWOULDBLOCK ? JOURNAL_STATE_BUSY : nvtxt_origin(-errno);
        }
        if (fstat(state->fd, &ours) < 0) {
            return nvtxt_origin(-errno);
        }
    } while (stat(state->path, &named) < 0 || ours.st_ino != named.st_ino ||
             ours.st_dev != named.st_dev);
    return S_ISREG(ours.st_mode) ? 0 : NVTXT_WRONG;
}

// Whether something else than a file has the name: a new state would take its place.
static bool is_no_file(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

int journal_state_open(struct journal_state *state, const char *path) {
    *state = (struct journal_state){.path = path, .fd = -1};
    state->places = calloc(JOURNAL_PLACES, sizeof(*state->places));
    if (!state->places) {
        state->path = path ?: "the state";
        return fail(state, "cannot be kept", nvtxt_origin(-ENOMEM));
    }
    if (!path) {
        return JOURNAL_STATE_NEW;
    }
    int r = is_no_file(path) ? NVTXT_WRONG : lock_file(state);
    if (r == NVTXT_WRONG) {
        snprintf(state->fault, sizeof(state->fault),
                 "%s is no regular file: --state takes the name of a file, which need not be there",
                 path);
        return NVTXT_WRONG;
    }
    if (r < 0) {
        return fail(state, "cannot be used", r);
    }
    return r ?: load(state);
}

void journal_state_close(struct journal_state *state) {
    if (state->fd >= 0) {
        close(state->fd);
    }
    free(state->places);
    nvtxt_buf_deinit(&state->unwritten);
    *state = (struct journal_state){.fd = -1};
}

// ---- Places -------------------------------------------------------------------------------------

int journal_state_begin(struct journal_state *state, const char session[NVTXT_UUID_SIZE],
                        const struct journal_place *place) {
    struct journal_place only = *place; // it may be one of ours
    only.line = 0;
    memcpy(state->session, session, sizeof(state->session));
    state->first = 0;
    state->count = 1;
    state->places[0] = only;
    return write_anew(state);
}

int journal_state_go_on(struct journal_state *state, uint64_t line) {
    journal_state_acked(state, line);
    if (journal_state_first(state)->line > line) {
        snprintf(state->fault, sizeof(state->fault),
                 "the daemon has %llu lines of session %s, and %s knows only later ones",
                 (unsigned long long)line, state->session, state->path ?: "this process");
        return NVTXT_WRONG;
    }
    state->count = 1;
    place_at(state, 0)->line = line;
    return write_anew(state);
}

const struct journal_place *journal_state_last(const struct journal_state *state) {
    return place_at(state, state->count - 1);
}

const struct journal_place *journal_state_first(const struct journal_state *state) {
    return place_at(state, 0);
}

bool journal_state_has_room(const struct journal_state *state) {
    return state->count < JOURNAL_PLACES;
}

int journal_state_add(struct journal_state *state, const struct journal_place *place) {
    *place_at(state, state->count++) = *place;
    if (state->path) {
        format_place(&state->unwritten, place);
    }
    return nvtxt_buf_failed(&state->unwritten)
               ? fail(state, "cannot be written", nvtxt_origin(-ENOMEM))
               : 0;
}

int journal_state_sync(struct journal_state *state) {
    if (state->unwritten.len == 0) {
        return 0;
    }
    if (state->size + state->unwritten.len > SIZE_AGAIN) {
        return write_anew(state);
    }
    int r = write_all(state->fd, &state->unwritten);
    r = r ?: fdatasync(state->fd) < 0 ? nvtxt_origin(-errno) : 0;
    state->size += state->unwritten.len;
    nvtxt_buf_clear(&state->unwritten);
    return r < 0 ? fail(state, "cannot be written", r) : 0;
}

void journal_state_acked(struct journal_state *state, uint64_t line) {
    while (state->count > 1 && place_at(state, 1)->line <= line) {
        state->first = (state->first + 1) % JOURNAL_PLACES;
        state->count--;
    }
}
