// SPDX-License-Identifier: Apache-2.0
//
// The layout is a list of tables after the head, each on pages of its own, then the window, then
// the chunks of rings. A file is sparse: ftruncate gives it its length, MADV_POPULATE_WRITE its
// blocks (before Linux 5.14: fallocate), table by table in steps of GRANT_STEP. Private memory is
// given by the kernel when it is touched.
//
// The file is opened when a part of it is mapped, and closed again: a descriptor that stays would
// be one of the program's, which may close it and use its number for a file of its own.
//
// Mappings are MADV_DONTFORK: a child has none of its parent's rings, and makes its own. A call
// that a handler interrupted to fork goes on in the child all the same; the whole region is covered
// then, since nobody knows what of it the call is about to touch.
#include "lib/ring/region.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/base/origin.h"

#define GRANT_STEP (64u << 10)
#define RING_FIRST (64u << 10) // a ring begins with so much

const char *const region_loss_names[LOSSES] = {"full", "threads", "depth", "reentrant",
                                               "unsupported"};

static const struct {
    uint32_t entry, count;
} tables[] = {
    [TABLE_STRINGS] = {sizeof(struct region_text), REGION_STRINGS},
    [TABLE_DOMAINS] = {sizeof(struct region_text), REGION_DOMAINS},
    [TABLE_NAMES] = {sizeof(struct region_name), REGION_NAMES},
    [TABLE_OPENS] = {sizeof(struct region_open), REGION_OPEN},
    [TABLE_LATES] = {sizeof(struct region_late), REGION_LATE},
    [TABLE_TEXT] = {1, REGION_TEXT_BYTES},
};

#define TABLES (sizeof(tables) / sizeof(tables[0]))

static uint64_t pages(uint64_t bytes) {
    return (bytes + REGION_PAGE - 1) & ~(uint64_t)(REGION_PAGE - 1);
}

// Offset of a table in the region; of TABLES: of the window.
static uint64_t table_at(size_t table) {
    uint64_t at =
        pages(sizeof(struct region_head)) + pages(REGION_RINGS * sizeof(struct ring_head));
    for (size_t i = 0; i < table; i++) {
        at += pages((uint64_t)tables[i].entry * tables[i].count);
    }
    return at;
}

static uint64_t chunk_bytes(const struct region *region) {
    return REGION_CHUNK_RINGS * region->head->ring_bytes;
}

// Opens the region's file, if its path still stands for it.
static int open_file(const struct region *region) {
    struct stat what;
    int fd = open(region->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return nvtxt_origin(-errno);
    }
    if (fstat(fd, &what) < 0 || what.st_dev != region->device || what.st_ino != region->inode) {
        close(fd);
        return nvtxt_origin(-ESTALE);
    }
    return fd;
}

static int allocate(const struct region *region, uint64_t at, uint64_t bytes) {
    int fd = open_file(region), r;
    if (fd < 0) {
        return fd;
    }
    do {
        r = fallocate(fd, 0, (off_t)at, (off_t)bytes) < 0 ? nvtxt_origin(-errno) : 0;
    } while (r == -EINTR);
    close(fd);
    return r;
}

// Lets `bytes` bytes at `memory`, which are at `at` of the file, be touched.
static int give(const struct region *region, char *memory, uint64_t at, uint64_t bytes) {
    if (!region->is_file) {
        return 0;
    }
    int r;
    do {
        r = madvise(memory, bytes, MADV_POPULATE_WRITE) < 0 ? nvtxt_origin(-errno) : 0;
    } while (r == -EINTR || r == -EAGAIN);
    if (r == -EINVAL || r == -ENOSYS || r == -EPERM) {
        return allocate(region, at, bytes);
    }
    return r == -EFAULT ? nvtxt_origin(-ENOSPC) : r; // to touch it would be SIGBUS
}

// Its place is kept before madvise(MADV_DONTFORK): a child has it then, or knows what to cover.
static char *map(uint64_t bytes, int fd, uint64_t at) {
    int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, (off_t)at);
    return memory == MAP_FAILED ? NULL : memory;
}

uint64_t region_file_bytes(uint64_t ring_bytes, uint64_t window_bytes) {
    return table_at(TABLES) + window_bytes + (uint64_t)REGION_RINGS * ring_bytes;
}

// A process may be forbidden to make long files, and a signal would tell it.
static int size_file(int fd, uint64_t bytes) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) < 0 ||
        (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < bytes)) {
        return nvtxt_origin(-EFBIG);
    }
    return ftruncate(fd, (off_t)bytes) < 0 ? nvtxt_origin(-errno) : 0;
}

// Maps the fixed part, of which the head may be touched.
static int map_fixed(struct region *region, int fd, uint64_t bytes) {
    uint64_t fixed = region->chunk_at;
    struct stat what;
    int r = fd < 0 ? 0 : size_file(fd, bytes);
    if (r == 0 && fd >= 0) {
        r = fstat(fd, &what) < 0 ? nvtxt_origin(-errno) : 0;
        region->device = what.st_dev;
        region->inode = what.st_ino;
    }
    if (r == 0 && !(region->base = map(fixed, fd, 0))) {
        r = nvtxt_origin(-errno);
    }
    if (r < 0) {
        return r;
    }
    madvise(region->base, fixed, MADV_DONTFORK);
    return give(region, region->base, 0, pages(sizeof(struct region_head)));
}

static void place(struct region *region) {
    char *base = region->base;
    region->head = (struct region_head *)base;
    region->rings = (struct ring_head *)(base + pages(sizeof(struct region_head)));
    region->strings = (struct region_text *)(base + table_at(TABLE_STRINGS));
    region->domains = (struct region_text *)(base + table_at(TABLE_DOMAINS));
    region->names = (struct region_name *)(base + table_at(TABLE_NAMES));
    region->opens = (struct region_open *)(base + table_at(TABLE_OPENS));
    region->lates = (struct region_late *)(base + table_at(TABLE_LATES));
    region->text = base + table_at(TABLE_TEXT);
    region->window = base + region->window_at;
}

uint32_t region_pid_space(void) {
    struct stat space;
    return stat("/proc/self/ns/pid", &space) == 0 ? (uint32_t)space.st_ino : 0;
}

int region_make(struct region *region, const char *path, uint64_t ring_bytes,
                uint64_t window_bytes) {
    *region = (struct region){.is_file = path != NULL, .window_at = table_at(TABLES)};
    region->chunk_at = region->window_at + window_bytes;
    region->chunk_len = REGION_CHUNK_RINGS * ring_bytes;
    int fd = -1;
    if (path) {
        if (*path != '/' || strlen(path) >= sizeof(region->path)) {
            return nvtxt_origin(-ENAMETOOLONG);
        }
        strcpy(region->path, path);
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0) {
            return nvtxt_origin(-errno);
        }
    }
    int r = map_fixed(region, fd, region_file_bytes(ring_bytes, window_bytes));
    if (fd >= 0) {
        close(fd);
    }
    if (r < 0) {
        region_unmap(region);
        if (path) {
            unlink(path);
        }
        return r;
    }
    place(region);
    struct region_head *head = region->head;
    *head = (struct region_head){.version = REGION_VERSION, .head_bytes = sizeof(*head)};
    head->uid = (uint32_t)geteuid();
    head->process = (uint32_t)getpid();
    head->pid_space = path ? region_pid_space() : 0;
    head->ring_bytes = ring_bytes;
    head->window_bytes = window_bytes;
    atomic_store(&head->pid, head->process);
    memcpy(head->magic, REGION_MAGIC, sizeof(head->magic)); // last: now it is a region
    return 0;
}

void region_unmap(struct region *region) {
    if (region->base) {
        for (uint32_t i = 0; i < REGION_CHUNKS; i++) {
            char *chunk = atomic_load(&region->chunks[i]);
            if (chunk) {
                munmap(chunk, chunk_bytes(region));
            }
        }
        munmap(region->base, region->chunk_at);
    }
    *region = (struct region){0};
}

static void cover(void *at, uint64_t bytes) {
    mmap(at, bytes, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
}

void region_cover(const struct region *region) {
    if (region->base) {
        cover(region->base, region->chunk_at);
        for (uint32_t i = 0; i < REGION_CHUNKS; i++) {
            char *chunk = atomic_load(&region->chunks[i]);
            if (chunk) {
                cover(chunk, region->chunk_len);
            }
        }
    }
}

void region_borrow(struct region *region, const struct region_tables *borrowed) {
    region->strings = borrowed->strings;
    region->domains = borrowed->domains;
    region->names = borrowed->names;
    region->text = borrowed->text;
}

char *region_ring(const struct region *region, uint32_t ring) {
    char *chunk =
        atomic_load_explicit(&region->chunks[ring / REGION_CHUNK_RINGS], memory_order_acquire);
    return chunk ? chunk + (ring % REGION_CHUNK_RINGS) * region->head->ring_bytes : NULL;
}

int region_chunk(struct region *region, uint32_t chunk) {
    if (atomic_load(&region->chunks[chunk])) {
        return 0;
    }
    uint64_t heads = REGION_CHUNK_RINGS * sizeof(struct ring_head);
    uint64_t bytes = chunk_bytes(region);
    char *first = (char *)&region->rings[chunk * REGION_CHUNK_RINGS];
    int r = give(region, first, (uint64_t)(first - region->base), heads);
    if (r < 0) {
        return r;
    }
    int fd = region->is_file ? open_file(region) : -1;
    if (region->is_file && fd < 0) {
        return fd;
    }
    char *memory = map(bytes, fd, region->chunk_at + chunk * bytes);
    r = memory ? 0 : nvtxt_origin(-errno);
    if (fd >= 0) {
        close(fd);
    }
    if (r < 0) {
        return r;
    }
    atomic_store_explicit(&region->chunks[chunk], memory, memory_order_release);
    madvise(memory, bytes, MADV_DONTFORK);
    atomic_store(&region->head->chunks, chunk + 1);
    return 0;
}

int region_grant_ring(struct region *region, uint32_t ring, uint64_t bytes) {
    struct ring_head *head = &region->rings[ring];
    uint64_t had = atomic_load_explicit(&head->granted, memory_order_relaxed);
    bytes = bytes < RING_FIRST ? RING_FIRST : bytes;
    bytes = !region->is_file || bytes > region->head->ring_bytes ? region->head->ring_bytes : bytes;
    if (bytes <= had) {
        return 0;
    }
    uint64_t at = region->chunk_at + ring * region->head->ring_bytes + had;
    int r = give(region, region_ring(region, ring) + had, at, bytes - had);
    while (r == 0 && had < bytes &&
           !atomic_compare_exchange_weak_explicit(&head->granted, &had, bytes, memory_order_release,
                                                  memory_order_relaxed)) {
    }
    return r;
}

int region_grant_window(struct region *region, uint64_t bytes) {
    uint64_t had = atomic_load_explicit(&region->window_granted, memory_order_relaxed);
    bytes = (bytes + GRANT_STEP - 1) & ~(uint64_t)(GRANT_STEP - 1);
    bytes = bytes > region->head->window_bytes ? region->head->window_bytes : bytes;
    if (bytes <= had) {
        return 0;
    }
    int r = give(region, region->window + had, region->window_at + had, bytes - had);
    if (r == 0) {
        atomic_store_explicit(&region->window_granted, bytes, memory_order_relaxed);
    }
    return r;
}

int region_grant(struct region *region, enum region_table table, uint64_t count) {
    if (count > tables[table].count) {
        return nvtxt_origin(-ENOSPC);
    }
    uint64_t whole = pages((uint64_t)tables[table].entry * tables[table].count);
    uint64_t bytes = count * tables[table].entry, had = region->granted[table];
    if (bytes <= had) {
        return 0;
    }
    bytes = (bytes + GRANT_STEP - 1) & ~(uint64_t)(GRANT_STEP - 1);
    bytes = bytes > whole ? whole : bytes;
    uint64_t at = table_at(table) + had;
    int r = give(region, region->base + at, at, bytes - had);
    if (r == 0) {
        region->granted[table] = bytes;
    }
    return r;
}

// ---- Passes -------------------------------------------------------------------------------------

static int tail_in_force(const struct region *region, uint32_t ring) {
    const struct ring_tail *tails = region->rings[ring].tails;
    uint64_t done = atomic_load_explicit(&region->head->pass, memory_order_relaxed);
    return region_in_force(atomic_load_explicit(&tails[0].pass, memory_order_relaxed),
                           atomic_load_explicit(&tails[1].pass, memory_order_relaxed), done);
}

uint64_t region_tail(const struct region *region, uint32_t ring) {
    const struct ring_tail *tails = region->rings[ring].tails;
    return atomic_load_explicit(&tails[tail_in_force(region, ring)].at, memory_order_relaxed);
}

// The position comes before the number: whoever sees the number sees the position.
void region_move_tail(struct region *region, uint32_t ring, uint64_t at) {
    uint64_t next = atomic_load_explicit(&region->head->pass, memory_order_relaxed) + 1;
    struct ring_tail *to = &region->rings[ring].tails[!tail_in_force(region, ring)];
    atomic_store_explicit(&to->at, at, memory_order_relaxed);
    atomic_store_explicit(&to->pass, next, memory_order_release);
}

// 0 is the number of no pass: a place with it counts only before the first pass, when it is the
// first of the two, which the first pass does not write.
static void take_back(_Atomic uint64_t *pass, uint64_t done) {
    if (atomic_load(pass) > done) {
        atomic_store(pass, 0);
    }
}

static uint64_t entries(const struct region *region, enum region_table table) {
    return region->granted[table] / tables[table].entry;
}

void region_drop_unfinished(struct region *region) {
    uint64_t done = atomic_load(&region->head->pass);
    uint32_t names = atomic_load(&region->head->names);
    for (uint32_t i = 0; i < atomic_load(&region->head->chunks) * REGION_CHUNK_RINGS; i++) {
        take_back(&region->rings[i].tails[0].pass, done);
        take_back(&region->rings[i].tails[1].pass, done);
    }
    for (uint32_t i = 0; i < names; i++) {
        take_back(&region->names[i].sent[0].pass, done);
        take_back(&region->names[i].sent[1].pass, done);
    }
    for (uint64_t i = 0; i < entries(region, TABLE_OPENS); i++) {
        struct region_open *open = &region->opens[i];
        if (atomic_load(&open->opened) > done) {
            atomic_store(&open->closed, 0);
            atomic_store(&open->opened, 0);
        } else if (atomic_load(&open->closed) > done) {
            atomic_store(&open->closed, UINT64_MAX);
        }
    }
    for (uint64_t i = 0; i < entries(region, TABLE_LATES); i++) {
        if (atomic_load(&region->lates[i].taken) > done) {
            atomic_store(&region->lates[i].taken, UINT64_MAX);
        }
    }
}

const struct region_session *region_session(const struct region *region) {
    uint32_t number = atomic_load_explicit(&region->head->session, memory_order_acquire);
    return &region->head->sessions[number & 1];
}

void region_set_session(struct region *region, const struct region_session *session) {
    uint32_t next = atomic_load_explicit(&region->head->session, memory_order_relaxed) + 1;
    region->head->sessions[next & 1] = *session;
    atomic_store_explicit(&region->head->session, next, memory_order_release);
}

struct region_state region_state(const struct region *region) {
    uint64_t pass = atomic_load_explicit(&region->head->pass, memory_order_acquire);
    return region->head->states[pass & 1];
}

void region_commit(struct region *region, const struct region_state *state) {
    uint64_t next = atomic_load_explicit(&region->head->pass, memory_order_relaxed) + 1;
    region->head->states[next & 1] = *state;
    atomic_store_explicit(&region->head->pass, next, memory_order_release);
}
