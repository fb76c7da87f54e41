// SPDX-License-Identifier: Apache-2.0
//
// The blocks are a ring. Who is free takes the next block of rows that nobody has, and fills it;
// the loading thread takes the blocks from the other end. It fills blocks, too, as long as the one
// that it needs is not ready. A block that could not be filled is left as it is: the loading thread
// goes on behind its rows with its own connection, and says what is wrong if something is.
#include "report/load/load_ahead.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#define BLOCK_ROWS 2048 // fits the second level of a processor's cache, with its texts
#define BLOCK_TEXT ((size_t)512 * 1024) // the text that ends a block early
#define LEAST_ROWS (16 * BLOCK_ROWS)    // of a file: fewer are read in the time that threads take
#define READERS_MOST 15
#define ASK_EVERY 20000 // instructions of SQLite's machine: well below a millisecond
#define NEAR 256        // a power of two

struct block {
    struct report_ahead_block shown;
    struct report_raw raws[BLOCK_ROWS];
    struct store_arena texts;
    uint16_t near[NEAR]; // by text id: 1 + the index of the row that had one last
    bool ready;
};

struct reader {
    struct report_ahead *ahead;
    pthread_t thread;
    sqlite3 *db; // owned
    struct report_raw_rows rows;
};

struct report_ahead {
    const struct report_load_state *load;
    struct report_raw_rows *own;
    struct reader readers[READERS_MOST];
    size_t reader_count;
    struct block *blocks; // owned
    size_t block_count;
    pthread_mutex_t lock;   // of all below, and of `ready`
    pthread_cond_t changed; // something below
    int64_t next, last;     // rowids of the span that nobody reads yet
    uint64_t begun, taken;  // blocks
    bool has_taken;         // the block `taken` is in use
    bool over;
};

// ---- A block ------------------------------------------------------------------------------------

// Most texts are those of a row shortly before.
static int keep_text(struct block *block, struct report_raw *kept) {
    uint16_t *near = &block->near[(uint64_t)kept->text_id % NEAR];
    const struct report_raw *like = *near > 0 ? &block->raws[*near - 1] : NULL;
    if (!kept->text.data) {
        return SQLITE_OK;
    }
    if (like && like->text_id == kept->text_id && nvtxt_slice_equal(like->text, kept->text)) {
        kept->text = like->text;
        return SQLITE_OK;
    }
    kept->text.data = store_arena_copy(&block->texts, kept->text.data, kept->text.len);
    *near = (uint16_t)(block->shown.count + 1);
    return kept->text.data ? SQLITE_OK : SQLITE_NOMEM;
}

static bool keep(void *context, const struct report_raw *raw) {
    struct block *block = context;
    struct report_raw *kept = &block->raws[block->shown.count];
    *kept = *raw;
    int rc = keep_text(block, kept);
    if (rc == SQLITE_OK && kept->json.len > 0) {
        kept->json.data = store_arena_copy(&block->texts, kept->json.data, kept->json.len);
        rc = kept->json.data ? SQLITE_OK : SQLITE_NOMEM;
    }
    if (rc != SQLITE_OK) {
        return true;
    }
    block->shown.count++;
    block->shown.read = raw->row;
    return store_arena_used(&block->texts) >= BLOCK_TEXT;
}

// A text that is longer than all of a block is not read: one would lie in memory for each thread
// and each block.
static void fill(struct block *block, struct report_raw_rows *rows) {
    sqlite3 *db = sqlite3_db_handle(rows->stmt);
    int most = sqlite3_limit(db, SQLITE_LIMIT_LENGTH, BLOCK_TEXT);
    store_arena_reset(&block->texts, BLOCK_TEXT);
    memset(block->near, 0, sizeof(block->near));
    rows->take = keep;
    rows->context = block;
    int rc = report_raw_begin(rows, block->shown.first, block->shown.last);
    bool stopped = store_sql_next(rows->stmt, &rc);
    rc = store_sql_done(rows->stmt, rc);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, most);
    block->shown.failed = rows->rc != SQLITE_OK || (rc != SQLITE_OK && rc != SQLITE_TOOBIG);
    if (rc == SQLITE_OK && !stopped) {
        block->shown.read = block->shown.last;
    }
}

// ---- The ring -----------------------------------------------------------------------------------

// The next block to fill; NULL: there is none now.
static struct block *begin_block(struct report_ahead *ahead) {
    if (ahead->next > ahead->last || ahead->begun - ahead->taken >= ahead->block_count) {
        return NULL;
    }
    struct block *block = &ahead->blocks[ahead->begun++ % ahead->block_count];
    int64_t first = ahead->next;
    uint64_t rest = (uint64_t)ahead->last - (uint64_t)first;
    int64_t last = rest < BLOCK_ROWS ? ahead->last : first + BLOCK_ROWS - 1;
    block->shown = (struct report_ahead_block){first, last, first - 1, block->raws, 0, false};
    block->ready = false;
    ahead->next = last + 1;
    return block;
}

// Called with the lock.
static void fill_unlocked(struct report_ahead *ahead, struct block *block,
                          struct report_raw_rows *rows) {
    pthread_mutex_unlock(&ahead->lock);
    fill(block, rows);
    pthread_mutex_lock(&ahead->lock);
    block->ready = true;
    pthread_cond_broadcast(&ahead->changed);
}

static void *read_blocks(void *context) {
    struct reader *reader = context;
    struct report_ahead *ahead = reader->ahead;
    pthread_mutex_lock(&ahead->lock);
    while (!ahead->over) {
        struct block *block = begin_block(ahead);
        if (block) {
            fill_unlocked(ahead, block, &reader->rows);
        } else {
            pthread_cond_wait(&ahead->changed, &ahead->lock);
        }
    }
    pthread_mutex_unlock(&ahead->lock);
    return NULL;
}

void report_ahead_span(struct report_ahead *ahead, const struct store_span *span) {
    pthread_mutex_lock(&ahead->lock);
    ahead->next = span->first;
    ahead->last = span->last;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
}

static void give_back(struct report_ahead *ahead) {
    if (ahead->has_taken) {
        ahead->has_taken = false;
        ahead->taken++;
        pthread_cond_broadcast(&ahead->changed);
    }
}

const struct report_ahead_block *report_ahead_next(struct report_ahead *ahead) {
    pthread_mutex_lock(&ahead->lock);
    give_back(ahead);
    struct block *block = &ahead->blocks[ahead->taken % ahead->block_count];
    bool more = ahead->taken < ahead->begun || ahead->next <= ahead->last;
    while (more && (ahead->taken == ahead->begun || !block->ready)) {
        struct block *other = begin_block(ahead);
        if (other) {
            fill_unlocked(ahead, other, ahead->own);
        } else {
            pthread_cond_wait(&ahead->changed, &ahead->lock);
        }
    }
    ahead->has_taken = more;
    pthread_mutex_unlock(&ahead->lock);
    return more ? &block->shown : NULL;
}

// ---- Threads ------------------------------------------------------------------------------------

static int on_progress(void *load) {
    return report_load_interrupted(load);
}

// False: no more readers than there are.
static bool add_reader(struct report_ahead *ahead, const struct report_load_file *file) {
    struct reader *reader = &ahead->readers[ahead->reader_count];
    reader->ahead = ahead;
    int rc = store_read_connect_again(file->reader, &reader->db);
    rc = rc ?: report_raw_prepare(&reader->rows, ahead->load, file, reader->db);
    if (rc == SQLITE_OK) {
        sqlite3_progress_handler(reader->db, ASK_EVERY, on_progress, (void *)ahead->load);
        rc = pthread_create(&reader->thread, NULL, read_blocks, reader);
    }
    ahead->reader_count += rc == 0;
    if (rc != 0) {
        sqlite3_finalize(reader->rows.stmt);
        sqlite3_close(reader->db);
    }
    return rc == 0;
}

// Signals are for the thread that waits for the load.
static void start_readers(struct report_ahead *ahead, const struct report_load_file *file,
                          size_t readers) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (ahead->reader_count < readers && add_reader(ahead, file)) {
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static bool are_many(const struct store_span *spans, size_t count) {
    double rows = 0; // the difference of two rowids need not fit into an int64_t
    for (size_t i = 0; i < count; i++) {
        rows += (double)spans[i].last - (double)spans[i].first + 1;
    }
    return rows >= LEAST_ROWS;
}

// Threads take much address space for their stacks and heaps, which the load itself may need where
// somebody gave it a bound.
static bool has_room(void) {
    struct rlimit space, data;
    return getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur == RLIM_INFINITY &&
           getrlimit(RLIMIT_DATA, &data) == 0 && data.rlim_cur == RLIM_INFINITY;
}

struct report_ahead *report_ahead_begin(const struct report_load_state *load,
                                        const struct report_load_file *file,
                                        const struct store_span *spans, size_t count,
                                        struct report_raw_rows *own) {
    if (load->readers < 2 || !file->ours || !are_many(spans, count) || !has_room()) {
        return NULL;
    }
    size_t readers = (size_t)nvtxt_min(load->readers - 1, READERS_MOST);
    struct report_ahead *ahead = calloc(1, sizeof(*ahead));
    struct block *blocks = ahead ? calloc(2 * readers + 2, sizeof(*blocks)) : NULL;
    if (!blocks) {
        free(ahead);
        return NULL;
    }
    *ahead = (struct report_ahead){.load = load,
                                   .own = own,
                                   .blocks = blocks,
                                   .block_count = 2 * readers + 2,
                                   .lock = PTHREAD_MUTEX_INITIALIZER,
                                   .changed = PTHREAD_COND_INITIALIZER,
                                   .last = -1};
    start_readers(ahead, file, readers);
    if (ahead->reader_count == 0) {
        report_ahead_end(ahead);
        return NULL;
    }
    return ahead;
}

void report_ahead_end(struct report_ahead *ahead) {
    if (!ahead) {
        return;
    }
    pthread_mutex_lock(&ahead->lock);
    ahead->over = true;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
    for (size_t i = 0; i < ahead->reader_count; i++) {
        pthread_join(ahead->readers[i].thread, NULL);
        sqlite3_finalize(ahead->readers[i].rows.stmt);
        sqlite3_close(ahead->readers[i].db);
    }
    for (size_t i = 0; i < ahead->block_count; i++) {
        store_arena_deinit(&ahead->blocks[i].texts);
    }
    free(ahead->blocks);
    free(ahead);
}
