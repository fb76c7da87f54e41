// SPDX-License-Identifier: Apache-2.0
//
// The order of a pass: names, what was dropped, then ring after ring up to the position that each
// writer had at the start. An end whose start is in another ring may come up before it; then its
// ring waits, the others go on, and the round is made again. The program had the range's number
// before it could end it, so a fresh look at all rings finds the start; when even that moves
// nothing, the oldest end that waits is of no open range, and is nothing in the store.
//
// Nothing counts before region_commit(). Before each record there is room for the most that one can
// become, so no record is ever half in the window.
#include "lib/ring/pass.h"

#include "lib/ring/ring.h"
#include "protocol/base/origin.h"

#define NO_PASS UINT64_MAX
#define WINDOW_LAP_BYTES (64u << 10)

static uint64_t next_pass(const struct pass *pass) {
    return atomic_load_explicit(&pass->region->head->pass, memory_order_relaxed) + 1;
}

void pass_init(struct pass *pass, struct region *region) {
    memset(pass, 0, offsetof(struct pass, buf));
    pass->buf.len = 0;
    pass->buf.lines = 0;
    pass->region = region;
    region_drop_unfinished(region);
    pass->lines.limit = LINE_LIMIT;
    pass->lines.variables = LINE_VARIABLES;
    pass->offset_ns = atomic_load(&region->head->offset_ns);
    pass->next = region_state(region);
    clock_map_init(&pass->clock, region->head->is_tsc, pass->next.clock, pass->next.clock_rate);
    if (pass->next.lines > 0) { // of a process that is gone: what it set is not known
        pass->lines.has_domain = true;
        pass->lines.domain = UINT32_MAX;
    }
}

// ---- The window ---------------------------------------------------------------------------------

// Whether the lines of one more record fit, whatever it is.
static bool has_room(struct pass *pass) {
    uint64_t size = pass->region->head->window_bytes;
    uint64_t touched = (pass->next.end & (size - 1)) + LINES_BYTES;
    bool fits = pass->next.end + LINES_BYTES - pass->kept <= size &&
                region_grant_window(pass->region, touched < size ? touched : size) == 0;
    pass->is_full = pass->is_full || !fits;
    return fits;
}

// What is acknowledged is committed before it is overwritten. An empty window begins again at its
// start, so that it uses few pages.
static void free_window(struct pass *pass) {
    uint64_t size = pass->region->head->window_bytes;
    if (pass->next.acked == pass->next.end && (pass->next.end & (size - 1)) >= WINDOW_LAP_BYTES) {
        pass->next.acked = pass->next.end = (pass->next.end | (size - 1)) + 1;
    }
    if (pass->next.acked != region_state(pass->region).acked) {
        region_commit(pass->region, &pass->next);
    }
    pass->kept = pass->next.acked;
}

static void put(struct pass *pass) {
    uint64_t size = pass->region->head->window_bytes;
    uint64_t at = pass->next.end & (size - 1);
    size_t len = pass->buf.len, first = len < size - at ? len : (size_t)(size - at);
    memcpy(pass->region->window + at, pass->buf.data, first);
    memcpy(pass->region->window, pass->buf.data + first, len - first);
    pass->next.end += len;
    pass->next.lines += pass->buf.lines;
    pass->buf.len = 0;
    pass->buf.lines = 0;
}

// ---- Open ranges --------------------------------------------------------------------------------

static bool is_open(const struct region_open *open, uint64_t pass) {
    return atomic_load(&open->id) != 0 && atomic_load(&open->opened) <= pass &&
           atomic_load(&open->closed) > pass;
}

// Entries are looked for from the place where the id's number points: ids count up by two, so as a
// rule each has a place of its own.
static struct region_open *find_open(struct pass *pass, uint64_t id) {
    for (uint32_t i = 0; i < REGION_OPEN; i++) {
        uint32_t at = (uint32_t)(id / 2 + i) % REGION_OPEN;
        struct region_open *open = &pass->region->opens[at];
        if (pass->region->granted[TABLE_OPENS] <= at * sizeof(*open)) {
            return NULL; // no start ever came so far
        }
        uint64_t there = atomic_load(&open->id);
        if (there == 0) {
            return NULL;
        }
        if (there == id && is_open(open, next_pass(pass))) {
            return open;
        }
    }
    return NULL;
}

static bool add_open(struct pass *pass, uint64_t id, uint64_t time) {
    uint64_t next = next_pass(pass);
    for (uint32_t i = 0; i < REGION_OPEN; i++) {
        uint32_t at = (uint32_t)(id / 2 + i) % REGION_OPEN;
        if (region_grant(pass->region, TABLE_OPENS, at + 1) < 0) {
            return false;
        }
        struct region_open *open = &pass->region->opens[at];
        bool used = atomic_load(&open->id) != 0 && atomic_load(&open->closed) >= next &&
                    atomic_load(&open->opened) < next;
        bool fresh = atomic_load(&open->id) != 0 && atomic_load(&open->opened) == next;
        if (used || fresh) {
            continue;
        }
        open->time = time;
        atomic_store(&open->opened, next);
        atomic_store(&open->closed, NO_PASS);
        atomic_store(&open->id, id);
        return true;
    }
    return false;
}

static void close_open(struct pass *pass, struct region_open *open) {
    atomic_store(&open->closed, next_pass(pass));
    atomic_fetch_add_explicit(&pass->region->closed, 1, memory_order_relaxed);
}

// ---- Names and losses ---------------------------------------------------------------------------

static int sent_in_force(const struct region_name *name, uint64_t done) {
    return region_in_force(atomic_load(&name->sent[0].pass), atomic_load(&name->sent[1].pass),
                           done);
}

static void set_sent(struct region_name *name, uint64_t done, uint32_t version) {
    int to = !sent_in_force(name, done);
    name->sent[to].version = version;
    atomic_store_explicit(&name->sent[to].pass, done + 1, memory_order_release);
}

static struct region_text read_text(const struct region_text *from) {
    return (struct region_text){__atomic_load_n(&from->at, __ATOMIC_RELAXED),
                                __atomic_load_n(&from->len, __ATOMIC_RELAXED)};
}

// An entry that is being written is left for the next pass.
static bool read_name(const struct region_name *from, struct region_name *name, uint32_t *version) {
    *version = atomic_load_explicit(&from->version, memory_order_acquire);
    name->kind = __atomic_load_n(&from->kind, __ATOMIC_RELAXED);
    name->domain = __atomic_load_n(&from->domain, __ATOMIC_RELAXED);
    name->key = __atomic_load_n(&from->key, __ATOMIC_RELAXED);
    name->what = read_text(&from->what);
    name->text = read_text(&from->text);
    name->json = read_text(&from->json);
    atomic_thread_fence(memory_order_acquire);
    return *version % 2 == 0 &&
           atomic_load_explicit(&from->version, memory_order_relaxed) == *version;
}

static bool put_name(struct pass *pass, uint32_t number, bool again) {
    uint64_t done = next_pass(pass) - 1;
    struct region_name *entry = &pass->region->names[number], name;
    uint32_t version;
    if (!has_room(pass)) {
        return false;
    }
    if (read_name(entry, &name, &version) &&
        (again || version != entry->sent[sent_in_force(entry, done)].version)) {
        line_name(&pass->buf, &pass->lines, pass->region, &name);
        put(pass);
        set_sent(entry, done, version);
    }
    return true;
}

static void put_names(struct pass *pass, bool changed) {
    uint32_t count = atomic_load_explicit(&pass->region->head->names, memory_order_acquire);
    while (pass->repeated < pass->to_repeat && put_name(pass, pass->repeated, true)) {
        pass->repeated++;
    }
    for (uint32_t i = 0; changed && i < count && put_name(pass, i, false); i++) {
    }
}

void pass_repeat_names(struct pass *pass) {
    pass->repeated = 0;
    pass->to_repeat = atomic_load_explicit(&pass->region->head->names, memory_order_acquire);
}

static void put_losses(struct pass *pass) {
    for (int why = 0; why < LOSSES && has_room(pass); why++) {
        uint64_t count = atomic_load_explicit(&pass->region->head->lost[why], memory_order_relaxed);
        if (count != pass->next.told[why]) {
            line_lost(&pass->buf, count - pass->next.told[why], (enum region_loss)why);
            put(pass);
            pass->next.told[why] = count;
        }
    }
}

// ---- Rings --------------------------------------------------------------------------------------

enum reading { READ_WHOLE, READ_WAITS, READ_STOPS };

// Where this pass goes on with a ring.
static uint64_t position(const struct pass *pass, uint32_t number) {
    const struct ring_tail *tails = pass->region->rings[number].tails;
    for (int i = 0; i < 2; i++) {
        if (atomic_load_explicit(&tails[i].pass, memory_order_relaxed) == next_pass(pass)) {
            return atomic_load_explicit(&tails[i].at, memory_order_relaxed);
        }
    }
    return region_tail(pass->region, number);
}

// The end of all those that wait that is the oldest.
struct waiting {
    uint32_t ring; // NO_RING: none waits
    uint64_t time;
};

#define NO_RING UINT32_MAX

// The counters of two processors may differ by some ticks: a range does not end before its start.
static uint64_t later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

// Whether the record is said now. An end says so once for its start, or, when `give_up`, is
// ignored.
static enum reading take_record(struct pass *pass, struct record_view *view, uint32_t tid,
                                bool *give_up) {
    if (view->kind == RECORD_END) {
        struct region_open *open = find_open(pass, view->id);
        if (!open && !*give_up) {
            return READ_WAITS;
        }
        if (!open) {
            *give_up = false;
            pass->ignored++;
            return READ_WHOLE;
        }
        view->time = later(view->time, open->time);
        close_open(pass, open);
    }
    if (view->kind == RECORD_START && !add_open(pass, view->id, view->time)) {
        return READ_STOPS;
    }
    line_record(&pass->buf, &pass->lines, pass->region, view, tid, pass->offset_ns);
    put(pass);
    return READ_WHOLE;
}

// Reads a ring up to where this pass reads. `give_up`: its first end without a start is ignored.
static void read_ring(struct pass *pass, uint32_t number, bool give_up, struct waiting *waiting) {
    struct ring_reader reader;
    uint64_t from = position(pass, number), to = from;
    ring_reader_init(&reader, pass->region, number, from);
    reader.end = pass->ends[number];
    uint32_t tid = atomic_load_explicit(&pass->region->rings[number].tid, memory_order_relaxed);
    enum reading state = READ_WHOLE;
    struct record_view view;
    while (state == READ_WHOLE) {
        int r = has_room(pass) ? ring_next(&reader, &view) : nvtxt_origin(-ENOSPC);
        if (r <= 0) {
            to = r == 0 ? reader.at : to;
            break;
        }
        view.time = later(clock_map_ns(&pass->clock, view.time), pass->last[number]);
        pass->last[number] = view.time;
        state = take_record(pass, &view, tid, &give_up);
        to = state == READ_WHOLE ? reader.at : to;
    }
    if (to != from) {
        region_move_tail(pass->region, number, to);
    }
    if (state == READ_WAITS && (waiting->ring == NO_RING || view.time < waiting->time)) {
        *waiting = (struct waiting){number, view.time};
    }
}

static void look_at_rings(struct pass *pass, uint64_t *ends) {
    const struct region *region = pass->region;
    pass->rings = atomic_load(&region->head->chunks) * REGION_CHUNK_RINGS;
    for (uint32_t i = 0; i < pass->rings; i++) {
        ends[i] = atomic_load_explicit(&region->rings[i].at, memory_order_acquire);
    }
    bool is_same_clock = clock_is_tsc == (region->head->is_tsc != 0);
    if (pass->is_live || (pass->next.clock_rate == 0 && is_same_clock)) {
        clock_map_add(&pass->clock, clock_now());
    }
    pass->next.clock = pass->clock.points[pass->clock.count - 1];
    pass->next.clock_rate = pass->clock.is_rough ? 0 : pass->clock.rate;
}

// Rounds over the rings, until nothing moves. `give_up`: the ring whose next end is ignored.
static struct waiting read_rings(struct pass *pass, uint32_t give_up) {
    struct waiting waiting;
    bool moved;
    do {
        moved = false;
        waiting = (struct waiting){NO_RING, 0};
        for (uint32_t i = 0; i < pass->rings; i++) {
            uint64_t from = position(pass, i);
            if (from < pass->ends[i]) {
                read_ring(pass, i, i == give_up, &waiting);
                moved = moved || position(pass, i) != from;
            }
        }
        give_up = NO_RING;
    } while (moved && waiting.ring != NO_RING && !pass->is_full);
    return waiting;
}

// The start of a waiting end is nowhere, or after another waiting end in its ring, which is older.
// So the oldest one that was there at the first look has no start, since the second look came after
// it. One that came later waits for the next pass.
static void put_rings(struct pass *pass) {
    look_at_rings(pass, pass->seen);
    memcpy(pass->ends, pass->seen, pass->rings * sizeof(pass->ends[0]));
    struct waiting waiting = read_rings(pass, NO_RING);
    if (waiting.ring != NO_RING && !pass->is_full) {
        look_at_rings(pass, pass->ends);
        waiting = read_rings(pass, NO_RING);
    }
    while (waiting.ring != NO_RING && !pass->is_full &&
           position(pass, waiting.ring) < pass->seen[waiting.ring]) {
        waiting = read_rings(pass, waiting.ring);
    }
    pass->waits = waiting.ring != NO_RING;
}

// Ends that had no room in their ring. One without a start waits for a pass that read all rings
// after it came.
static void put_lates(struct pass *pass) {
    struct region *region = pass->region;
    bool is_blocked = pass->waits;
    uint64_t done = next_pass(pass) - 1;
    uint64_t entries = region->granted[TABLE_LATES] / sizeof(*region->lates);
    for (uint64_t i = 0; i < entries && i < REGION_LATE; i++) {
        struct region_late *late = &region->lates[i];
        uint64_t given = atomic_load_explicit(&late->given, memory_order_acquire);
        if (given % 2 == 1 || given == 0 || atomic_load(&late->taken) <= done || !has_room(pass)) {
            continue;
        }
        struct region_open *open = find_open(pass, late->id);
        if (!open && (pass->is_full || is_blocked || late->looked_at != given)) {
            late->looked_at = given;
            pass->waits = true;
            continue;
        }
        atomic_store(&late->taken, done + 1);
        if (!open) {
            pass->ignored++;
            continue;
        }
        close_open(pass, open);
        uint64_t time = later(clock_map_ns(&pass->clock, late->time), open->time);
        line_end(&pass->buf, late->id, (int64_t)time + pass->offset_ns);
        put(pass);
    }
}

// What was read may be written again, and rings are asked to grow before they are full.
static bool free_rings(struct pass *pass, void (*on_empty)(uint32_t ring)) {
    bool hurry = false;
    for (uint32_t i = 0; i < pass->rings; i++) {
        struct ring_head *ring = &pass->region->rings[i];
        uint64_t tail = region_tail(pass->region, i);
        uint64_t at = atomic_load_explicit(&ring->at, memory_order_acquire);
        uint64_t freed = atomic_load_explicit(&ring->freed, memory_order_relaxed);
        uint64_t granted = atomic_load_explicit(&ring->granted, memory_order_relaxed);
        if (freed != tail) {
            uint64_t lap_from = atomic_load_explicit(&ring->lap_from, memory_order_relaxed);
            if (ring_used(freed, at, lap_from, pass->region->head->ring_bytes) > granted / 2) {
                hurry = true;
                region_grant_ring(pass->region, i, 4 * granted);
            }
            atomic_store_explicit(&ring->freed, tail, memory_order_release);
        }
        if (on_empty && at == tail &&
            atomic_load_explicit(&ring->state, memory_order_acquire) == RING_LEFT) {
            on_empty(i);
        }
    }
    return hurry;
}

bool pass_should_hurry(const struct pass *pass) {
    uint32_t rings = atomic_load(&pass->region->head->chunks) * REGION_CHUNK_RINGS;
    for (uint32_t i = 0; i < rings; i++) {
        const struct ring_head *ring = &pass->region->rings[i];
        uint64_t at = atomic_load_explicit(&ring->at, memory_order_relaxed);
        if (at - atomic_load_explicit(&ring->freed, memory_order_relaxed) >
            atomic_load_explicit(&ring->granted, memory_order_relaxed) / 4) {
            return true;
        }
    }
    return false;
}

static void put_begin(struct pass *pass) {
    if (pass->next.lines == 0 && has_room(pass)) {
        line_begin(&pass->buf);
        put(pass);
    }
}

struct pass_result pass_run(struct pass *pass, bool with_names, void (*on_empty)(uint32_t ring)) {
    pass->is_full = false;
    free_window(pass);
    uint64_t before = pass->next.end;
    put_begin(pass);
    put_names(pass, with_names);
    put_rings(pass);
    put_lates(pass);
    put_losses(pass);
    region_commit(pass->region, &pass->next);
    bool hurry = free_rings(pass, on_empty);
    return (struct pass_result){pass->next.end != before || pass->waits, pass->is_full, hurry};
}
