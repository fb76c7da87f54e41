// SPDX-License-Identifier: Apache-2.0
//
// The passes are those of the process itself (lib/ring/pass), on the copy of its region: names,
// losses, then the rings, until nothing more moves. After each one the lines of the window go into
// the spool, and count as acknowledged in the copy, so that the next pass has room. The same file
// gives the same lines each time, and nothing is sent before all of them are in the spool.
#include "client/nvtx/nvtx_run.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/nvtx/ring_file.h"
#include "client/spool/spool.h"
#include "lib/ring/pass.h"
#include "protocol/base/origin.h"
#include "protocol/text/forms.h"
#include "protocol/wire/hello.h"

#define BLOCK_BYTES (256u << 10) // of one record of the spool; holds several of the longest lines

struct salvage {
    const char *dir, *name; // of the ring file
    int dir_fd;
    bool pass_over;
    struct term *term;
    struct ring_file file;
    struct spool spool;
    struct pass *pass; // owned
    char *block;       // owned
};

// ---- Lines --------------------------------------------------------------------------------------

static int spool_lines(struct salvage *s, const char *data, size_t len) {
    uint32_t lines = 0;
    for (const char *at = data; at < data + len; lines++) {
        at = (const char *)memchr(at, '\n', len - (size_t)(at - data)) + 1;
    }
    return len > 0 ? spool_append(&s->spool, data, len, lines) : 0;
}

// Copies whole lines from position `at` of the window, as many as a block holds.
static size_t copy_block(struct salvage *s, uint64_t at) {
    const struct region *region = &s->file.region;
    uint64_t size = region->head->window_bytes, left = s->pass->next.end - at;
    size_t len = left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES;
    uint64_t offset = at & (size - 1);
    size_t first = len < size - offset ? len : (size_t)(size - offset);
    memcpy(s->block, region->window + offset, first);
    memcpy(s->block + first, region->window, len - first);
    const char *lf = memrchr(s->block, '\n', len);
    return lf ? (size_t)(lf - s->block) + 1 : 0;
}

// Puts the lines of the window into the spool; in the copy they are acknowledged then.
static int move_window(struct salvage *s) {
    struct region_state *state = &s->pass->next;
    int r = 0;
    while (r == 0 && state->acked < state->end) {
        size_t len = copy_block(s, state->acked);
        r = len > 0 ? spool_lines(s, s->block, len) : nvtxt_origin(-EIO);
        state->acked += len;
    }
    state->acked_lines = state->lines;
    return r;
}

// Leaves out lines that the daemon has, as an earlier session: a new one was begun after line
// `line`, and its process had no time to note what was acknowledged before.
static void skip_to(struct salvage *s, uint64_t line) {
    struct region_state *state = &s->pass->next;
    const struct region *region = &s->file.region;
    uint64_t size = region->head->window_bytes;
    while (state->acked_lines < line && state->acked < state->end) {
        state->acked_lines += region->window[state->acked & (size - 1)] == '\n';
        state->acked++;
    }
}

// An end may wait for its start through one pass that moves nothing.
static int run_passes(struct salvage *s) {
    int r = 0;
    for (int quiet = 0; r == 0 && quiet < 2;) {
        struct pass_result pass = pass_run(s->pass, true, NULL);
        r = move_window(s);
        quiet = pass.moved || pass.is_full ? 0 : quiet + 1;
    }
    return r;
}

// ---- Spool --------------------------------------------------------------------------------------

static void describe(const struct region *region, struct nvtxt_hello *hello) {
    const struct region_head *head = region->head;
    *hello = (struct nvtxt_hello){.protocol = NVTXT_PROTOCOL_VERSION,
                                  .client = "libnvtxt",
                                  .has_pid = true,
                                  .pid = head->process,
                                  .escapes = true,
                                  .nvtx = NVTXT_NVTX_VERSION,
                                  .levels = head->levels != 0,
                                  .expiry = atomic_load(&head->expiry)};
    snprintf(hello->name, sizeof(hello->name), "%s", head->name);
    struct nvtxt_slice parent = {head->parent, strnlen(head->parent, NVTXT_PARENT_BYTES)};
    if (!nvtxt_parent_read(parent, hello->parent)) {
        hello->parent[0] = '\0';
    }
    snprintf(hello->session, sizeof(hello->session), "%.*s", NVTXT_SESSION_ID_BYTES,
             region_session(region)->id);
}

static int fill_spool(struct salvage *s, bool with_preamble) {
    const struct region_session *session = region_session(&s->file.region);
    int r = with_preamble ? spool_lines(s, session->preamble, session->preamble_bytes) : 0;
    r = r ?: move_window(s);
    r = r ?: run_passes(s);
    return r ?: spool_publish(&s->spool);
}

// The lines of the session that the daemon may not have, as a spool. Where the session took the
// place of another one, its own first lines are among them, unless the daemon has more than those.
// Returns 0, SPOOL_BUSY when there is such a spool already, another of its codes, or -errno.
static int make_spool(struct salvage *s) {
    const struct region *region = &s->file.region;
    const struct region_session *session = region_session(region);
    struct region_state *state = &s->pass->next;
    struct nvtxt_hello hello;
    int64_t preamble_end = session->first + session->preamble_lines;
    bool with_preamble = session->preamble_lines > 0 && (int64_t)state->acked_lines <= preamble_end;
    if (with_preamble) {
        skip_to(s, (uint64_t)preamble_end);
    }
    int64_t first = with_preamble ? 1 : (int64_t)state->acked_lines - session->first + 1;
    describe(region, &hello);
    int r = spool_adopt(&s->spool, s->dir, &hello, (uint64_t)first);
    r = r ?: fill_spool(s, with_preamble);
    if (r != 0 && r != SPOOL_BUSY) {
        spool_abandon(&s->spool);
    }
    return r;
}

// ---- Files --------------------------------------------------------------------------------------

static enum outcome refuse(struct salvage *s) {
    term_say(s->term, "%s/%s %s", s->dir, s->name, s->file.fault);
    return OUTCOME_BAD_DATA;
}

static enum outcome fail(struct salvage *s, int r, const char *why) {
    term_say(s->term, "%s/%s stays: %s", s->dir, s->name, why);
    return r < 0 ? outcome_of_error(r, OUTCOME_IO) : OUTCOME_IO;
}

static enum outcome remove_ring(struct salvage *s) {
    if (unlinkat(s->dir_fd, s->name, 0) == 0 || errno == ENOENT) {
        return OUTCOME_DONE;
    }
    int error = errno;
    term_say(s->term, "%s/%s cannot be removed: %s", s->dir, s->name, strerror(error));
    return OUTCOME_IO;
}

// The file is removed while the spool is still locked: whoever takes the spool finds no file that
// would make it again.
static enum outcome convert(struct salvage *s) {
    int r = ring_file_read(&s->file);
    if (r != 0) {
        return r > 0 ? refuse(s) : fail(s, r, s->file.fault);
    }
    s->pass = malloc(sizeof(*s->pass));
    s->block = malloc(BLOCK_BYTES);
    if (!s->pass || !s->block) {
        return fail(s, nvtxt_origin(-ENOMEM), strerror(ENOMEM));
    }
    if (s->file.region.head->is_tsc) {
        clock_choose(); // a process that was killed early had not learned the rate
    }
    pass_init(s->pass, &s->file.region);
    if (!*region_session(&s->file.region)->id) {
        return remove_ring(s); // nothing was recorded before there was a session
    }
    r = make_spool(s);
    enum outcome outcome = r == 0 || r == SPOOL_BUSY ? remove_ring(s) : fail(s, r, s->spool.fault);
    spool_close(&s->spool);
    return outcome;
}

static enum outcome take_file(struct salvage *s) {
    int r = ring_file_open(&s->file, s->dir_fd, s->name);
    switch (r) {
    case 0:
        return convert(s);
    case RING_FILE_EMPTY:
        return remove_ring(s);
    case RING_FILE_BUSY:
        return OUTCOME_DONE;
    case RING_FILE_IN_USE:
        return s->pass_over ? OUTCOME_DONE : refuse(s);
    default:
        return r > 0 ? refuse(s) : fail(s, r, s->file.fault);
    }
}

static bool is_ring_file(const char *name) {
    size_t len = strlen(name), suffix = sizeof(RING_FILE_SUFFIX) - 1;
    return *name != '.' && len > suffix && strcmp(name + len - suffix, RING_FILE_SUFFIX) == 0;
}

static int choose(const struct dirent *entry) {
    return is_ring_file(entry->d_name);
}

// The ring files of a folder, in the order of their names. Returns their number, or -1 with `*fd`
// -1 when it cannot be opened.
static int list_files(const char *dir, int *fd, struct dirent ***entries) {
    *fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *fd < 0 ? -1 : scandirat(*fd, ".", entries, choose, alphasort);
}

static void free_files(int fd, struct dirent **entries, int count) {
    for (int i = 0; i < count; i++) {
        free(entries[i]);
    }
    if (count >= 0) {
        free(entries);
    }
    if (fd >= 0) {
        close(fd);
    }
}

enum outcome salvage_folder(const char *dir, bool pass_over, struct term *term) {
    struct dirent **entries;
    enum outcome status = OUTCOME_DONE;
    int dir_fd;
    int count = list_files(dir, &dir_fd, &entries);
    if (dir_fd >= 0 && count < 0) {
        int error = errno;
        term_say(term, "%s: %s", dir, strerror(error));
        status = outcome_of_open(nvtxt_origin(-error));
    }
    for (int i = 0; i < count; i++) {
        struct salvage s = {.dir = dir,
                            .name = entries[i]->d_name,
                            .dir_fd = dir_fd,
                            .pass_over = pass_over,
                            .term = term,
                            .spool = {.dir_fd = -1}};
        enum outcome r = take_file(&s);
        status = r > status ? r : status;
        ring_file_close(&s.file);
        free(s.pass);
        free(s.block);
    }
    free_files(dir_fd, entries, count);
    return status;
}

size_t salvage_in_use(const char *dir) {
    struct dirent **entries;
    size_t in_use = 0;
    int dir_fd;
    int count = list_files(dir, &dir_fd, &entries);
    for (int i = 0; i < count; i++) {
        struct ring_file file;
        in_use += ring_file_open(&file, dir_fd, entries[i]->d_name) == RING_FILE_IN_USE;
        ring_file_close(&file);
    }
    free_files(dir_fd, entries, count);
    return in_use;
}
