// SPDX-License-Identifier: Apache-2.0
//
// The steps: open (and compare with what is known), load the state of the source from the store,
// read a chunk and interpret it, end. next_step() decides which one is next. Open and read run in
// the thread pool, with one of the steps of the watch; a load is a job of the writer.
#include "daemon/follow/follow.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "daemon/follow/follow_source.h"
#include "daemon/follow/watch_state.h"
#include "daemon/source/source.h"
#include "protocol/base/clock.h"
#include "protocol/base/origin.h"

const char follow_idle[] = "idle";
const char follow_unwatched[] = "unwatched";

static void next_step(struct follow *follow);

struct follow *follow_new(struct watch *watch, const char *path, int64_t device, int64_t inode) {
    struct follow *follow = calloc(1, sizeof(*follow));
    if (!follow) {
        return NULL;
    }
    follow->watch = watch;
    follow->at.device = device;
    follow->at.inode = inode;
    follow->uid = follow->gid = -1;
    follow->path = strdup(path);
    if (follow->path) {
        return follow;
    }
    free(follow);
    return NULL;
}

void follow_free(struct follow *follow) {
    free(follow->path);
    free(follow);
}

bool follow_is_blank(const struct follow *follow) {
    return follow->source_id == 0 && follow->size == 0;
}

// There is no memory or descriptor for a step; there may be soon.
static void give_up(struct follow *follow) {
    follow_release(follow);
    schedule_retry(follow);
    schedule_done(follow, false);
}

// ---- The end ------------------------------------------------------------------------------------

// Its place is at the start again; what was known of its bytes is not.
static void rewind_place(struct follow *follow) {
    struct store_followed *at = &follow->at;
    *at = (struct store_followed){
        .device = at->device, .inode = at->inode, .changed_ns = at->changed_ns};
    follow->source_id = 0;
    follow->ended = follow->stuck = false;
    follow->counters = (struct nvtxt_counters){0};
    if (follow->live) {
        follow->live->compared = true; // no bytes are like any others
        follow->live->position = 0;
        follow->live->recent_len = 0;
        follow->live->look_back = false;
    }
}

static void forget_place(struct follow *follow) {
    struct store_batch *batch =
        follow->source_id ? batcher_open_batch(&follow->watch->hub->batcher) : NULL;
    if (batch) {
        store_batch_forget_file(batch, follow->source_id);
    }
}

// The file begins anew: its bytes have nothing to do with those that were read.
static void begin_anew(struct follow *follow) {
    struct follow_live *live = follow->live;
    char text[512];
    log_limited(watch_log_of(follow->watch, follow->path), LOG_LEVEL_WARNING,
                "a followed file begins anew: it was %s path=\"%s\"", follow->ending,
                watch_escaped(follow->path, text, sizeof(text)));
    forget_place(follow);
    nvtxt_frame_deinit(&live->frame);
    nvtxt_frame_init(&live->frame, follow->watch->hub->limits.line_bytes);
    follow->anew = false;
    follow->ending = NULL;
    rewind_place(follow);
    next_step(follow);
}

static int take_line(struct follow *follow, struct nvtxt_slice line, bool overlong) {
    struct follow_live *live = follow->live;
    if (!live->source && follow_source_open(follow) < 0) {
        return nvtxt_origin(-ENOMEM);
    }
    follow->ended = false;
    return overlong ? source_overlong(live->source, line) : source_line(live->source, line);
}

// Takes the last line if it has no end.
static int take_rest(struct follow *follow) {
    struct follow_live *live = follow->live;
    struct nvtxt_slice line;
    int r = nvtxt_frame_finish(&live->frame, &line);
    if (r <= 0) {
        return r;
    }
    r = take_line(follow, line, r == NVTXT_FRAME_OVERLONG);
    follow->at.offset = live->position;
    follow->at.tail_bytes = (uint32_t)live->recent_len;
    memcpy(live->tail, live->recent, live->recent_len);
    return r;
}

// All that can be read was read.
static void finish(struct follow *follow) {
    struct follow_live *live = follow->live;
    struct hub *hub = follow->watch->hub;
    bool whole = !follow->anew && !live->gone && follow->ending != follow_unwatched;
    int r = whole ? take_rest(follow) : 0;
    if (r == 0 && live->source && (!follow->ended || follow->anew)) {
        r = source_end(live->source, follow->ending);
    }
    if (r < 0) {
        follow_fail(follow);
        give_up(follow);
        return;
    }
    if (live->source) {
        follow->ended = true;
        follow->closed_ns = nvtxt_realtime_ns();
        hub->stats.files_ended++;
        follow_source_drop(follow);
    }
    if (follow->anew) {
        begin_anew(follow);
        return;
    }
    bool over = follow->names == 0 && live->fd >= 0 && live->links == 0;
    if (over) {
        forget_place(follow);
    }
    follow->ending = NULL;
    follow_release(follow);
    if (over) {
        follow->source_id = 0; // it has no place any more
    }
    schedule_done(follow, false);
}

// ---- Opening ------------------------------------------------------------------------------------

// The file cannot be opened or read. It is tried again after its next event.
static void cannot_read(struct follow *follow, int error) {
    char text[512];
    bool absent = error == WATCH_IO_ABSENT;
    if (absent && follow->ending == follow_idle) {
        follow->live->gone = true;
        next_step(follow);
        return;
    }
    follow_release(follow);
    if (error == WATCH_IO_SHORT) {
        schedule_retry(follow);
    } else if (!absent && !follow->logged_unreadable) { // when it is there again, there is an event
        follow->logged_unreadable = true;
        log_limited(watch_log_of(follow->watch, follow->path), LOG_LEVEL_WARNING,
                    "a followed file cannot be read: %s path=\"%s\"",
                    strerror(nvtxt_origin(-error)),
                    watch_escaped(follow->path, text, sizeof(text)));
    }
    schedule_done(follow, false);
}

static void on_opened(struct follow *follow, struct follow_step *step) {
    struct follow_live *live = follow->live;
    const struct watch_opened *opened = &step->opened;
    if (opened->fd < 0) {
        cannot_read(follow, opened->stat.error);
        return;
    }
    live->fd = opened->fd;
    follow->watch->open_count++;
    follow->logged_unreadable = false;
    follow->verified = true;
    follow->uid = opened->stat.uid;
    follow->gid = opened->stat.gid;
    follow->size = live->size = opened->stat.size;
    live->links = opened->stat.links;
    follow->at.changed_ns = opened->stat.changed_ns;
    if (!opened->same) {
        follow->ending = (uint64_t)live->size < follow->at.offset ? "truncated" : "replaced";
        follow->anew = true;
    } else {
        live->compared = true;
        live->position = follow->at.offset;
        live->recent_len = follow->at.tail_bytes;
        memcpy(live->tail, opened->tail, live->recent_len);
        memcpy(live->recent, opened->tail, live->recent_len);
    }
    next_step(follow);
}

// ---- The state from the store -------------------------------------------------------------------

// Without its variables and definitions its lines would make other events.
static void cannot_go_on(struct follow *follow, const struct job *job) {
    char text[512];
    if (follow_source_give_up(follow, job) < 0) {
        give_up(follow);
        return;
    }
    log_error("the saved state of a followed file cannot be read: it is not read on after byte "
              "%" PRIu64 "; a copy of it is read from its start path=\"%s\"",
              follow->at.offset, watch_escaped(follow->path, text, sizeof(text)));
    next_step(follow);
}

// Its source stays as it is. No other try here can find another version.
static void wait_for_newer(struct follow *follow) {
    char text[512];
    if (!follow->logged_newer) {
        follow->logged_newer = true;
        log_limited(&follow->watch->log_files, LOG_LEVEL_ERROR,
                    SOURCE_NEWER("the state of a followed file") "; the file is not read until "
                                                                 "then path=\"%s\"",
                    NVTXT_STATE_VERSION, watch_escaped(follow->path, text, sizeof(text)));
    }
    follow_release(follow);
    schedule_done(follow, false);
}

static void on_loaded(struct job *job) {
    struct follow *follow = job->context;
    char text[512];
    int r = job->result;
    if (follow->watch->stopping) {
        follow_release(follow);
        schedule_done(follow, false);
    } else if (r == STORE_NOT_FOUND) { // it was in another store
        rewind_place(follow);
        next_step(follow);
    } else {
        bool found = r == STORE_DONE;
        r = found ? follow_source_restore(follow, job) : r;
        if (found && r == NVTXT_RESTORE_BAD) {
            cannot_go_on(follow, job);
        } else if (found && r == NVTXT_RESTORE_NEWER) {
            wait_for_newer(follow);
        } else if (r == 0) {
            next_step(follow);
        } else {
            log_limited(&follow->watch->log_files, LOG_LEVEL_ERROR,
                        "the state of a followed file cannot be loaded from the store path=\"%s\" "
                        "result=%d",
                        watch_escaped(follow->path, text, sizeof(text)), r);
            give_up(follow);
        }
    }
    follow_source_loaded(job);
}

// ---- Reading ------------------------------------------------------------------------------------

// The start of the file, by which it is known again.
static void hash_head(struct follow *follow, const char *data, size_t len) {
    struct store_followed *at = &follow->at;
    uint64_t position = follow->live->position;
    if (at->head_bytes >= WATCH_IO_HEAD_BYTES || position > at->head_bytes ||
        position + len <= at->head_bytes) {
        return;
    }
    size_t skip = at->head_bytes - (size_t)position;
    size_t more = WATCH_IO_HEAD_BYTES - at->head_bytes;
    more = more < len - skip ? more : len - skip;
    at->head_hash = nvtxt_hash_stored(at->head_hash, (struct nvtxt_slice){data + skip, more});
    at->head_bytes += (uint32_t)more;
}

static void remember(char *place, const char *end, size_t len) {
    memcpy(place, end - len, len);
}

static size_t tail_of(size_t len) {
    return len < WATCH_IO_TAIL_BYTES ? len : (size_t)WATCH_IO_TAIL_BYTES;
}

static int feed(struct follow *follow, const char *data, size_t len) {
    struct follow_live *live = follow->live;
    struct batcher *batcher = &follow->watch->hub->batcher;
    struct nvtxt_slice input = {data, len}, line;
    follow->watch->hub->stats.bytes += len;
    hash_head(follow, data, len);
    int r;
    while ((r = nvtxt_frame_next(&live->frame, &input, &line)) > 0) {
        r = take_line(follow, line, r == NVTXT_FRAME_OVERLONG);
        if (r < 0) {
            return r;
        }
        size_t bytes = (size_t)(input.data - data);
        follow->at.offset = live->position + bytes;
        follow->at.tail_bytes = (uint32_t)tail_of(bytes);
        remember(live->tail, input.data, follow->at.tail_bytes);
        batcher_check(batcher);
        if (!live->source) {
            return nvtxt_origin(-ENOMEM); // it failed when the batch was full
        }
    }
    live->position += len;
    live->recent_len = tail_of(len);
    remember(live->recent, data + len, live->recent_len);
    return r;
}

// There is no more to read now.
static void at_end(struct follow *follow) {
    int64_t idle_ns = follow->watch->hub->config->file_expiry_ms * 1000000;
    follow->live->look_back = true;
    if (follow->ending == follow_idle &&
        follow->at.changed_ns > nvtxt_realtime_ns() - idle_ns) { // its date may be any
        follow->ending = NULL;
    }
    if (follow->again) {
        schedule_done(follow, true);
    } else if (follow->ending) {
        finish(follow);
    } else {
        schedule_rest(follow);
        schedule_done(follow, false);
    }
}

enum read_outcome { READ_MORE, READ_END, READ_FAILED, READ_ANOTHER };

// Interprets what was read.
static enum read_outcome digest(struct follow *follow, struct follow_step *step) {
    struct follow_live *live = follow->live;
    const struct watch_read *result = &step->result;
    size_t n = result->n, back = step->look_back;
    live->links = result->stat.links;
    follow->size = live->size = result->stat.size;
    follow->at.changed_ns = result->stat.changed_ns;
    live->look_back = false;
    if (n < back || memcmp(step->buffer, live->recent, back) != 0) {
        return READ_ANOTHER;
    }
    if (n > back && feed(follow, step->buffer + back, n - back) < 0) {
        return READ_FAILED;
    }
    return n < FOLLOW_READ_BYTES ? READ_END : READ_MORE;
}

static void on_read(struct follow *follow, struct follow_step *step) {
    int error = step->result.stat.error;
    enum read_outcome outcome = error ? READ_FAILED : digest(follow, step);
    step->follow = NULL;
    if (error) {
        cannot_read(follow, error);
    } else if (outcome == READ_FAILED) {
        if (!follow->retry) { // else this was done already
            follow_fail(follow);
        }
        give_up(follow);
    } else if (outcome == READ_ANOTHER) {
        follow->ending = "truncated";
        follow->anew = true;
        next_step(follow);
    } else if (outcome == READ_END) {
        at_end(follow);
    } else {
        schedule_done(follow, true);
    }
}

// ---- Steps --------------------------------------------------------------------------------------

static void work(uv_work_t *req) {
    struct follow_step *step = NVTXT_CONTAINER_OF(req, struct follow_step, work);
    if (step->read) {
        watch_io_read(step->fd, step->buffer, FOLLOW_READ_BYTES, step->offset, &step->result);
    } else {
        watch_io_open(step->path, &step->known, &step->opened);
    }
}

static void on_worked(uv_work_t *req, int status) {
    struct follow_step *step = NVTXT_CONTAINER_OF(req, struct follow_step, work);
    struct follow *follow = step->follow;
    bool read = step->read;
    (void)status; // nothing is ever cancelled
    free(step->path);
    step->path = NULL;
    bool failed = follow->watch->stopping || (read && follow->retry); // memory ran out for it
    if (failed && !read && step->opened.fd >= 0) {
        close(step->opened.fd);
    }
    if (failed || !read) {
        step->follow = NULL;
    }
    if (failed) {
        give_up(follow);
    } else if (read) {
        on_read(follow, step);
    } else {
        on_opened(follow, step);
    }
}

// NULL when memory is short.
static struct follow_step *free_step(struct watch *watch) {
    for (size_t i = 0; i < WATCH_STEPS; i++) {
        struct follow_step *step = &watch->steps[i];
        if (step->follow) {
            continue;
        }
        if (!step->buffer) {
            step->buffer = malloc(FOLLOW_READ_BYTES);
        }
        return step->buffer ? step : NULL;
    }
    return NULL;
}

static void begin_step(struct follow *follow, bool read) {
    struct follow_live *live = follow->live;
    struct follow_step *step = free_step(follow->watch);
    if (step && !read) {
        step->path = strdup(follow->path);
    }
    if (!step || (!read && !step->path)) {
        give_up(follow);
        return;
    }
    step->follow = follow;
    step->read = read;
    step->fd = live->fd;
    step->known = follow->at;
    step->look_back = live->look_back ? live->recent_len : 0;
    step->offset = live->position - step->look_back;
    if (uv_queue_work(follow->watch->hub->loop, &step->work, work, on_worked) < 0) {
        step->follow = NULL;
        give_up(follow);
    }
}

// Whether what comes next is done with the source in memory.
static bool needs_source(const struct follow *follow) {
    const struct follow_live *live = follow->live;
    if (follow->source_id == 0 || follow->stuck) {
        return false;
    }
    if (follow->ending && !follow->ended) {
        return true;
    }
    return !live->gone && !follow->anew && (uint64_t)live->size > follow->at.offset;
}

static bool is_done(const struct follow *follow) {
    const struct follow_live *live = follow->live;
    return follow->source_id && !live->source && !follow->ending &&
           (uint64_t)live->size == follow->at.offset;
}

static void next_step(struct follow *follow) {
    struct follow_live *live = follow->live;
    if (live->fd < 0 && !live->gone) {
        if (follow->names > 0) {
            begin_step(follow, false);
            return;
        }
        live->gone = true;
    }
    if (!live->source && needs_source(follow)) {
        if (follow_source_load(follow, on_loaded) < 0) {
            give_up(follow);
        }
    } else if (live->gone || follow->anew || follow->stuck) {
        finish(follow);
    } else if (is_done(follow)) {
        follow_release(follow);
        schedule_done(follow, false);
    } else {
        begin_step(follow, true);
    }
}

void follow_run(struct follow *follow) {
    follow->again = false;
    schedule_unrest(follow);
    if (!follow->live) {
        follow->live = calloc(1, sizeof(*follow->live));
        if (!follow->live) {
            give_up(follow);
            return;
        }
        follow->live->fd = -1;
        nvtxt_frame_init(&follow->live->frame, follow->watch->hub->limits.line_bytes);
    }
    next_step(follow);
}
