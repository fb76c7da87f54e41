// SPDX-License-Identifier: Apache-2.0
//
// Lines of one session: appended, read back, acknowledged, dropped. Invariants: segments are in the
// order of their numbers and lines, without a hole; only the last one is written to; an open loss
// belongs to the last one, and a settled loss of it exists only when no line will come any more.
// A last segment whose lines are all acknowledged begins anew when its bytes are worth something:
// on a full disk there might be no room for another one. Where a file cannot grow (EFBIG, say of
// ulimit -f) another one has room.
#include "client/spool/spool_inner.h"

#include <assert.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"
#define BLOCK_BYTES 4096u                  // what a file costs at least
#define SEGMENT_MOST ((uint64_t)4 << 20)   // acknowledged lines go in pieces of this size
#define ROOM_TO_GO_ON ((uint64_t)64 << 10) // free bytes that end a loss

void spool_fault(struct spool *spool, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(spool->fault, sizeof(spool->fault), format, args);
    va_end(args);
}

void spool_segment_name(const struct spool *spool, uint64_t number, char *name, size_t size) {
    snprintf(name, size, "%s.%06llu" SEGMENT_SUFFIX, spool->session, (unsigned long long)number);
}

// Writes the sentence for `r`, which is SEGMENT_NO_… or -errno. Returns the spool's code.
static int segment_fault(struct spool *spool, uint64_t number, const char *what, int r) {
    static const struct {
        int error, result;
    } conditions[] = {
        [SEGMENT_NO_DISK] = {ENOSPC, SPOOL_NO_DISK},
        [SEGMENT_NO_QUOTA] = {EDQUOT, SPOOL_NO_DISK},
        [SEGMENT_NO_GROWTH] = {EFBIG, SPOOL_NO_GROWTH},
    };
    char name[SPOOL_NAME_BYTES];
    spool_segment_name(spool, number, name, sizeof(name));
    spool_fault(spool, "%s/%s: %s: %s", spool->dir, name, what,
                strerror(r < 0 ? -r : conditions[r].error));
    return r < 0 ? r : conditions[r].result;
}

static bool is_disk_full(int r) {
    return r == SPOOL_NO_DISK || r == SPOOL_NO_GROWTH;
}

static uint64_t cost(uint64_t size) {
    return size > BLOCK_BYTES ? size : BLOCK_BYTES;
}

static struct spool_segment *tail(const struct spool *spool) {
    return spool->count ? &spool->segments[spool->count - 1] : NULL;
}

static uint64_t last_of(const struct spool_segment *segment) {
    return segment->first + segment->lines - (segment->lost == 0);
}

uint64_t spool_first(const struct spool *spool) {
    return spool->count ? spool->segments[0].first : spool->last + 1;
}

// ---- Writing ------------------------------------------------------------------------------------

// A failure counts for ever, a full disk's too: see spool.h.
static int sync_fault(struct spool *spool) {
    spool->unsynced = true;
    return nvtxt_origin(-EIO);
}

int spool_sync(struct spool *spool) {
    if (spool->unsynced) {
        return nvtxt_origin(-EIO); // `fault` may say something newer
    }
    if (spool->dirty && fdatasync(spool->tail_fd) != 0) {
        (void)segment_fault(spool, tail(spool)->number, "cannot be synced", nvtxt_origin(-errno));
        return sync_fault(spool);
    }
    if (spool->dirty_dir && fsync(spool->dir_fd) != 0 && errno != EINVAL && errno != ENOTSUP) {
        spool_fault(spool, "%s: cannot be synced: %s", spool->dir, strerror(errno));
        return sync_fault(spool);
    }
    spool->dirty = spool->dirty_dir = false;
    return 0;
}

// A new last segment that begins with line `first`. The one before it goes onto the disk first:
// spool_sync() reaches the last one only, and after a loss of power none may be missing in between.
// Returns 0, SPOOL_NO_DISK, SPOOL_NO_GROWTH or -errno.
static int add_segment(struct spool *spool, uint64_t first) {
    uint64_t number = spool->count ? tail(spool)->number + 1 : 1;
    int r = spool->count ? spool_sync(spool) : 0;
    if (r < 0) {
        return r;
    }
    if (nvtxt_grow(&spool->segments, &spool->cap, spool->count + 1, sizeof(*spool->segments)) < 0) {
        spool_fault(spool, "out of memory");
        return nvtxt_origin(-ENOMEM);
    }
    char name[SPOOL_NAME_BYTES];
    spool_segment_name(spool, number, name, sizeof(name));
    struct segment_head head = {.first = first};
    memcpy(head.session, spool->session, sizeof(head.session));
    int fd = openat(spool->dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    r = fd < 0 ? segment_write_error(errno) : segment_write_head(fd, &spool->crc, &head);
    if (r != 0) {
        if (fd >= 0) {
            close(fd);
            unlinkat(spool->dir_fd, name, 0);
        }
        return segment_fault(spool, number, "cannot be made", r);
    }
    if (spool->tail_fd >= 0) {
        close(spool->tail_fd);
    }
    spool->tail_fd = fd;
    spool->dirty = spool->dirty_dir = true;
    spool->segments[spool->count++] =
        (struct spool_segment){.number = number, .first = first, .size = SEGMENT_HEAD_BYTES};
    spool->used += BLOCK_BYTES;
    return 0;
}

int spool_begin(struct spool *spool) {
    int r = add_segment(spool, spool->last + 1);
    return is_disk_full(r) ? SPOOL_FULL : r;
}

static uint64_t segment_most(const struct spool *spool) {
    uint64_t most = spool->limit / 8 < SEGMENT_MOST ? spool->limit / 8 : SEGMENT_MOST;
    return spool->file_most && spool->file_most < most ? spool->file_most : most;
}

static int settle_here(struct spool *spool) {
    int r = add_segment(spool, spool->last + 2);
    if (r == 0) {
        spool->last++;
        spool->open_loss = false;
    }
    return r;
}

// A segment that takes `size` bytes more, when there is room for it.
static int make_room(struct spool *spool, uint64_t size) {
    const struct spool_segment *end = tail(spool);
    bool new_one = spool->open_loss || (end->lines > 0 && end->size + size > segment_most(spool));
    uint64_t before = new_one ? 0 : end->size;
    uint64_t more = cost((before ?: SEGMENT_HEAD_BYTES) + size) - (before ? cost(before) : 0);
    if (spool->used + more > spool->limit) {
        return SPOOL_FULL;
    }
    if (spool->open_loss) {
        return settle_here(spool);
    }
    return new_one ? add_segment(spool, spool->last + 1) : 0;
}

// Removes segments before the last one whose lines are all acknowledged. Returns whether there were
// any.
static bool remove_acked(struct spool *spool) {
    size_t gone = 0;
    while (gone + 1 < spool->count && last_of(&spool->segments[gone]) <= spool->acked) {
        const struct spool_segment *segment = &spool->segments[gone];
        char name[SPOOL_NAME_BYTES];
        spool_segment_name(spool, segment->number, name, sizeof(name));
        if (unlinkat(spool->dir_fd, name, 0) != 0 && errno != ENOENT) {
            break; // tried again with the next one, and in the end
        }
        gone++;
        spool->used -= cost(segment->size);
        if (spool->reader_number == segment->number) {
            spool->reader_number = 0;
        }
    }
    if (gone > 0) {
        spool->dirty_dir = true;
        spool->count -= gone;
        memmove(spool->segments, spool->segments + gone, spool->count * sizeof(*spool->segments));
    }
    return gone > 0;
}

// Where a sync fails, so does the next append.
static bool settled(struct spool *spool) {
    return !spool->lasting || spool_sync(spool) == 0;
}

// Begins the last segment anew, if all its lines are acknowledged. The head is written first: when
// we are killed after that, the old records do not fit it. For a loss of power the order on the
// disk counts: the segments before this one are gone before the head is written, the head is there
// before the records are cut off, and that is done before new lines come, which could stand among
// old ones. Returns whether it did.
static bool recycle(struct spool *spool) {
    struct spool_segment *end = tail(spool);
    struct segment_head head = {.first = spool->last + 1, .lost = end->lost};
    struct segment_head before = {.first = end->first, .lost = end->lost};
    if (spool->count > 1 || end->lines == 0 || spool->acked < spool->last ||
        (end->lost > 0 && !spool->open_loss)) {
        return false;
    }
    memcpy(head.session, spool->session, sizeof(head.session));
    memcpy(before.session, spool->session, sizeof(before.session));
    if (!settled(spool) || segment_write_head(spool->tail_fd, &spool->crc, &head) != 0) {
        return false; // a full disk allows this; any other fault shows at the next append
    }
    spool->dirty = true;
    if (!settled(spool)) {
        return false;
    }
    if (ftruncate(spool->tail_fd, SEGMENT_HEAD_BYTES) != 0) {
        // The records stay, so their head must stay. If this fails too, the next append fails.
        (void)segment_write_head(spool->tail_fd, &spool->crc, &before);
        return false;
    }
    spool->used -= cost(end->size) - BLOCK_BYTES;
    end->first = head.first;
    end->lines = 0;
    end->size = SEGMENT_HEAD_BYTES;
    spool->reader_number = spool->seen.number = 0;
    spool->dirty = true;
    (void)settled(spool);
    return true;
}

// As spool_append(), but says which of the disk and the file cannot grow.
static int append(struct spool *spool, const char *data, size_t len, uint32_t lines) {
    int r = spool->unsynced ? nvtxt_origin(-EIO) : make_room(spool, SEGMENT_RECORD_BYTES + len);
    if (r != 0) {
        return r;
    }
    struct spool_segment *end = tail(spool);
    r = segment_append(spool->tail_fd, &spool->crc, end->size, spool->last + 1, data, len, lines);
    if (r != 0) {
        spool->reader.data_len = 0; // may hold bytes that are gone
        return segment_fault(spool, end->number, "cannot be written", r);
    }
    uint64_t before = cost(end->size);
    end->size += SEGMENT_RECORD_BYTES + len;
    end->lines += lines;
    spool->used += cost(end->size) - before;
    spool->last += lines;
    spool->dirty = true;
    return 0;
}

// There was no room for `size` bytes more. True when acknowledged lines gave some back, or when
// only this file must not grow: then the next one has room.
static bool found_room(struct spool *spool, int r, uint64_t size) {
    if (is_disk_full(r) && (remove_acked(spool) || recycle(spool))) {
        return true;
    }
    const struct spool_segment *end = tail(spool);
    if (r != SPOOL_NO_GROWTH || end->lines == 0) {
        return false;
    }
    spool->file_most = end->size + size - 1;
    return true;
}

int spool_append(struct spool *spool, const char *data, size_t len, uint32_t lines) {
    int r = append(spool, data, len, lines);
    if (r != 0 && found_room(spool, r, SEGMENT_RECORD_BYTES + len)) {
        r = append(spool, data, len, lines);
    }
    spool->disk_full = is_disk_full(r);
    return spool->disk_full ? SPOOL_FULL : r;
}

bool spool_wants_less(const struct spool *spool) {
    return spool->disk_full && !spool->open_loss && tail(spool)->lines == 0;
}

void spool_seen(struct spool *spool) {
    const struct spool_segment *end = tail(spool);
    spool->seen = (struct segment_place){end->number, end->size, spool->last + 1};
}

int spool_lose(struct spool *spool, uint64_t lines) {
    struct spool_segment *end = tail(spool);
    end->lost += lines;
    spool->dropped += lines;
    spool->open_loss = true;
    spool->dirty = true;
    int r = segment_write_lost(spool->tail_fd, &spool->crc, end->lost);
    if (r != 0) {
        r = segment_fault(spool, end->number, "cannot be written", r);
    }
    return is_disk_full(r) ? SPOOL_FULL : r;
}

int spool_settle(struct spool *spool, bool over) {
    if (!spool->open_loss) {
        return 0;
    }
    if (over) {
        spool->last++;
        spool->open_loss = false;
        return 0;
    }
    int r = spool->used + ROOM_TO_GO_ON > spool->limit ? 0 : settle_here(spool);
    return is_disk_full(r) ? 0 : r;
}

// ---- Reading back -------------------------------------------------------------------------------

// The segment that has line `line`, which is one that is held.
static const struct spool_segment *find_segment(const struct spool *spool, uint64_t line) {
    size_t low = 0;
    for (size_t high = spool->count; high - low > 1;) {
        size_t middle = low + (high - low) / 2;
        if (spool->segments[middle].first <= line) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &spool->segments[low];
}

static int open_reader(struct spool *spool, const struct spool_segment *segment) {
    char name[SPOOL_NAME_BYTES];
    if (spool->reader_number == segment->number) {
        return 0;
    }
    if (spool->reader_fd >= 0) {
        close(spool->reader_fd);
    }
    spool->reader_number = 0;
    spool_segment_name(spool, segment->number, name, sizeof(name));
    spool->reader_fd = openat(spool->dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (spool->reader_fd < 0) {
        return segment_fault(spool, segment->number, "cannot be opened", nvtxt_origin(-errno));
    }
    spool->reader_number = segment->number;
    segment_reader_start(&spool->reader, spool->reader_fd, SEGMENT_HEAD_BYTES, segment->first);
    return 0;
}

// Puts the reader at the place nearest to `line`, and not after it, that is known.
static int place_reader(struct spool *spool, const struct spool_segment *segment, uint64_t line) {
    int r = open_reader(spool, segment);
    const struct segment_place *seen = &spool->seen;
    if (r < 0) {
        return r;
    }
    if (spool->reader.line > line) {
        segment_reader_start(&spool->reader, spool->reader_fd, SEGMENT_HEAD_BYTES, segment->first);
    }
    if (seen->number == segment->number && seen->line <= line && seen->line > spool->reader.line) {
        segment_reader_start(&spool->reader, spool->reader_fd, seen->at, seen->line);
    }
    return 0;
}

int spool_bad_record(struct spool *spool, uint64_t number, uint64_t at, const char *what) {
    char name[SPOOL_NAME_BYTES];
    spool_segment_name(spool, number, name, sizeof(name));
    spool_fault(spool, "%s/%s: the record at offset %llu is %s", spool->dir, name,
                (unsigned long long)at, what);
    spool->damaged = true;
    return SPOOL_BAD;
}

static int next_record(struct spool *spool, const struct spool_segment *segment,
                       struct segment_record *record) {
    int r = segment_next(&spool->reader, &spool->crc, record);
    if (r < 0) {
        return segment_fault(spool, segment->number, "cannot be read", r);
    }
    return r == 0 ? 0
                  : spool_bad_record(spool, segment->number, spool->reader.at,
                                     r == SEGMENT_END ? "missing" : "damaged");
}

static int lost_record(struct spool *spool, const struct spool_segment *segment,
                       struct segment_record *record) {
    struct nvtxt_lost lost = {.lines = segment->lost, .reason = NVTXT_LOST_FULL};
    nvtxt_buf_clear(&spool->lost_line);
    nvtxt_lost_format(&spool->lost_line, &lost);
    *record = (struct segment_record){spool->lost_line.data, spool->lost_line.len, 1};
    if (nvtxt_buf_failed(&spool->lost_line)) {
        spool_fault(spool, "out of memory");
        return nvtxt_origin(-ENOMEM);
    }
    return 0;
}

int spool_next(struct spool *spool, uint64_t after, struct segment_record *record) {
    uint64_t line = after + 1;
    *record = (struct segment_record){.lines = 0};
    if (line > spool->last || line < spool_first(spool)) {
        return SPOOL_NONE;
    }
    const struct spool_segment *segment = find_segment(spool, line);
    if (line >= segment->first + segment->lines) {
        return lost_record(spool, segment, record);
    }
    int r = place_reader(spool, segment, line);
    uint64_t first = 0;
    while (r == 0 && first + record->lines <= line) {
        first = spool->reader.line;
        r = next_record(spool, segment, record);
    }
    for (; r == 0 && first < line; first++) { // a daemon knows lines, not records
        const char *lf = memchr(record->data, '\n', record->len);
        assert(lf);
        record->len -= (size_t)(lf + 1 - record->data);
        record->data = lf + 1;
        record->lines--;
    }
    return r;
}

void spool_ack(struct spool *spool, uint64_t line) {
    spool->acked = line > spool->acked ? line : spool->acked;
    (void)remove_acked(spool);
    if (spool->count == 1 &&
        (spool->disk_full || spool->open_loss || tail(spool)->size > segment_most(spool) / 4)) {
        (void)recycle(spool);
    }
}
