// SPDX-License-Identifier: Apache-2.0
//
// Page 1 has the header and the rows of sqlite_schema; then comes a root for each table; then the
// leaves, in the order in which they were given, each followed by the overflow pages of its event
// if that is too large for a page. The root of a table is a page of links to its leaves, or the
// only leaf itself.
//
// Which events stand in a leaf is known before SQLite reads the first page, from the most bytes
// that each can take. So leaves are not full, which matters to nobody: they are never stored.
//
// All begins again when SQLite locks the file, as it does once in a transaction. The change counter
// in the header is another one then, so it forgets the pages of the last one. A transaction in
// which the lock was never given back, because a statement still reads, goes on with pages and
// tables that were not given yet.
#include "store/write/event_pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/table/arrays.h"
#include "store/db/schema.h"
#include "store/write/event_record.h"

#define NAME "nvtxt_batch"
#define PAGE ((size_t)65536)
#define PAGES 0x100000                    // that the file says to have, far more than are ever read
#define LOCK_PAGE (0x40000000 / PAGE + 1) // SQLite's own, of which it reads nothing
#define FIRST_ROOT 2
#define FIRST_LEAF (FIRST_ROOT + STORE_EVENT_TABLES)

// A page of a table, after its head: cells, and a list of their places.
enum page_kind { LINKS = 5, LEAF = 13 };
#define HEADER_BYTES 100 // of page 1, before its head
#define LEAF_HEAD 8
#define LINKS_HEAD 12
#define PLACE 2                   // bytes of a cell's place in that list
#define LINK_MOST (4 + 5 + PLACE) // a page and a row
#define LEAVES_MOST ((PAGE - LINKS_HEAD) / LINK_MOST)
#define CELL_MOST (9 + 5 + 4 + PLACE) // of a record's cell: its size, its row, a page, its place
#define GAP_LEAST 4                   // a shorter one is a number in the head

// How many bytes of a record stay in its leaf ("Cell Payload Overflow Pages").
#define LOCAL_MOST (PAGE - 35)
#define LOCAL_LEAST ((PAGE - 12) * 32 / 255 - 23)
#define OVERFLOW_BYTES (PAGE - 4)

struct store_event_leaf {
    uint32_t page;
    uint32_t count;
    const struct store_share *share; // of the first event, with its run and its place there
    const struct store_run *run;
    size_t index;
    int64_t row; // its rowid in NVTX_EVENTS
};

struct file {
    sqlite3_file base; // first, as SQLite wants it
    struct store_event_pages *pages;
};

// ---- A walk over the events of a batch ----------------------------------------------------------

// The next event, or NULL. `walk` stands at one that may be behind its run.
static const struct store_event *next_event(struct store_event_leaf *walk) {
    while (walk->run == NULL || walk->index == walk->run->count) {
        walk->run = walk->run ? walk->run->next : NULL;
        walk->index = 0;
        if (!walk->run) {
            walk->share = store_share_next(walk->share);
            if (!walk->share) {
                return NULL;
            }
            walk->run = walk->share->runs;
        }
    }
    walk->row++;
    return &walk->run->events[walk->index++];
}

// ---- Cells ------------------------------------------------------------------------------------

static void make_record(const struct store_event_pages *pages, const struct store_event *event,
                        int64_t row, struct store_event_record *record) {
    int64_t range_id = event->type == NVTXT_EVENT_START_END ? row + pages->txn->range_base : 0;
    int64_t domain_id = event->domain ? pages->batch->domains[event->domain]->store_id : 0;
    store_event_record_make(record, event, range_id, domain_id);
}

static size_t local_bytes(size_t size) {
    size_t rest = LOCAL_LEAST + (size - LOCAL_LEAST) % OVERFLOW_BYTES;
    return size <= LOCAL_MOST ? size : rest <= LOCAL_MOST ? rest : LOCAL_LEAST;
}

// Makes the whole record of an event that does not fit into its leaf.
static int make_large(struct store_event_pages *pages, const struct store_event *event,
                      const struct store_event_record *record) {
    if (pages->large_of == event) {
        return SQLITE_OK;
    }
    if (nvtxt_grow(&pages->large, &pages->large_room, store_event_record_size(record), 1) < 0) {
        return SQLITE_IOERR_NOMEM;
    }
    store_event_record_put(record, pages->large);
    pages->large_of = event;
    return SQLITE_OK;
}

// Writes the cell of an event at `*out` and moves it behind that.
static int put_cell(struct store_event_pages *pages, const struct store_event_leaf *leaf,
                    const struct store_event *event, int64_t row, uint32_t key,
                    unsigned char **out) {
    struct store_event_record record;
    make_record(pages, event, row, &record);
    size_t size = store_event_record_size(&record);
    unsigned char *at = store_put_varint(*out, size);
    at = store_put_varint(at, key);
    if (size <= LOCAL_MOST) {
        store_event_record_put(&record, at);
        *out = at + size;
        return SQLITE_OK;
    }
    size_t local = local_bytes(size);
    int rc = make_large(pages, event, &record);
    if (rc == SQLITE_OK) {
        memcpy(at, pages->large, local);
        *out = store_put_number(at + local, leaf->page + 1, 4);
    }
    return rc;
}

// ---- Pages ------------------------------------------------------------------------------------

// The head of a page whose cells begin behind the list of their places and end at `end`.
static void put_head(unsigned char *page, size_t offset, enum page_kind kind, size_t cells,
                     size_t end) {
    unsigned char *head = page + offset;
    size_t first = offset + (kind == LINKS ? LINKS_HEAD : LEAF_HEAD) + cells * PLACE;
    size_t gap = PAGE - end;
    head[0] = (unsigned char)kind;
    store_put_number(head + 1, gap >= GAP_LEAST ? end : 0, 2);
    store_put_number(head + 3, cells, 2);
    store_put_number(head + 5, first, 2);
    head[7] = gap >= GAP_LEAST ? 0 : (unsigned char)gap;
    if (gap >= GAP_LEAST) {
        store_put_number(store_put_number(page + end, 0, 2), gap, 2);
    }
}

static int put_leaf(struct store_event_pages *pages, const struct store_event_leaf *leaf,
                    unsigned char *page) {
    struct store_event_leaf walk = *leaf;
    unsigned char *place = page + LEAF_HEAD, *at = place + walk.count * PLACE;
    uint32_t key = (uint32_t)(leaf->row - pages->leaves->row);
    int rc = SQLITE_OK;
    for (uint32_t i = 0; i < leaf->count && rc == SQLITE_OK; i++) {
        int64_t row = walk.row;
        const struct store_event *event = next_event(&walk);
        place = store_put_number(place, (uint64_t)(at - page), PLACE);
        rc = put_cell(pages, leaf, event, row, ++key, &at);
    }
    put_head(page, 0, LEAF, leaf->count, (size_t)(at - page));
    return rc;
}

static void put_links(const struct store_event_pages *pages, unsigned char *page) {
    size_t count = pages->leaf_count - 1; // the last one stands in the head
    unsigned char *place = page + LINKS_HEAD, *at = place + count * PLACE;
    int64_t rows = 0;
    for (size_t i = 0; i < count; i++) {
        rows += pages->leaves[i].count;
        place = store_put_number(place, (uint64_t)(at - page), PLACE);
        at = store_put_number(at, pages->leaves[i].page, 4);
        at = store_put_varint(at, (uint64_t)rows);
    }
    put_head(page, 0, LINKS, count, (size_t)(at - page));
    store_put_number(page + LEAF_HEAD, pages->leaves[count].page, 4);
}

static int put_overflow(struct store_event_pages *pages, const struct store_event_leaf *leaf,
                        uint32_t number, unsigned char *page) {
    struct store_event_record record;
    struct store_event_leaf walk = *leaf;
    const struct store_event *event = next_event(&walk);
    make_record(pages, event, leaf->row, &record);
    size_t size = store_event_record_size(&record), local = local_bytes(size);
    size_t before = local + (size_t)(number - leaf->page - 1) * OVERFLOW_BYTES;
    if (size <= local || before >= size) {
        return SQLITE_IOERR_READ;
    }
    int rc = make_large(pages, event, &record);
    if (rc == SQLITE_OK) {
        bool last = size - before <= OVERFLOW_BYTES;
        unsigned char *at = store_put_number(page, last ? 0 : number + 1, 4);
        memcpy(at, pages->large + before, last ? size - before : OVERFLOW_BYTES);
    }
    return rc;
}

// ---- Page 1 -------------------------------------------------------------------------------------

#define EVENTS_BEGIN "CREATE TABLE NVTX_EVENTS "

// The row of a table in sqlite_schema: type, name, name of its table, root, SQL.
static unsigned char *put_schema_row(unsigned char *out, unsigned table) {
    char name[8], sql[1024];
    int name_len = snprintf(name, sizeof(name), "e%u", table);
    int sql_len = snprintf(sql, sizeof(sql), "CREATE TABLE %s %.*s", name,
                           (int)(strlen(store_schema_events_sql) - sizeof(EVENTS_BEGIN)),
                           store_schema_events_sql + sizeof(EVENTS_BEGIN) - 1);
    unsigned char head[16], *types = head + 1;
    types = store_put_text_type(types, 5);
    types = store_put_text_type(types, (size_t)name_len);
    types = store_put_text_type(types, (size_t)name_len);
    *types++ = 1; // an integer of one byte
    types = store_put_text_type(types, (size_t)sql_len);
    size_t head_len = (size_t)(types - head);
    head[0] = (unsigned char)head_len;
    out = store_put_varint(out, head_len + 5 + (size_t)name_len * 2 + 1 + (size_t)sql_len);
    out = store_put_varint(out, table + 1);
    out = mempcpy(out, head, head_len);
    out = mempcpy(out, "table", 5);
    out = mempcpy(out, name, (size_t)name_len);
    out = mempcpy(out, name, (size_t)name_len);
    *out++ = (unsigned char)(FIRST_ROOT + table);
    return mempcpy(out, sql, (size_t)sql_len);
}

// Writes what of page 1 stays as it is; returns how many bytes that are.
static size_t put_schema(unsigned char *page) {
    memset(page, 0, HEADER_BYTES);
    memcpy(page, "SQLite format 3", 16);
    memcpy(page + 16, "\0\1\1\1\0\100\40\40", 8); // 65536 bytes a page, no WAL, fixed fractions
    store_put_number(page + 28, PAGES, 4);
    store_put_number(page + 40, 1, 4); // the version of the schema
    store_put_number(page + 44, 4, 4); // of the schema's format
    store_put_number(page + 56, SQLITE_UTF8, 4);
    store_put_number(page + 96, SQLITE_VERSION_NUMBER, 4);
    unsigned char *place = page + HEADER_BYTES + LEAF_HEAD;
    unsigned char *at = place + (size_t)STORE_EVENT_TABLES * PLACE;
    for (unsigned table = 0; table < STORE_EVENT_TABLES; table++) {
        place = store_put_number(place, (uint64_t)(at - page), PLACE);
        at = put_schema_row(at, table);
    }
    put_head(page, HEADER_BYTES, LEAF, STORE_EVENT_TABLES, (size_t)(at - page));
    return (size_t)(at - page) + GAP_LEAST;
}

static int make_first(struct store_event_pages *pages) {
    unsigned char *page = malloc(PAGE);
    if (!page) {
        return SQLITE_NOMEM;
    }
    pages->first_size = put_schema(page);
    pages->first = realloc(page, pages->first_size) ?: page;
    return SQLITE_OK;
}

// All tables are empty, and page 1 says that it is another one.
static void begin_again(struct store_event_pages *pages) {
    pages->changes++;
    store_put_number(pages->first + 24, pages->changes, 4);
    store_put_number(pages->first + 92, pages->changes, 4); // when the version at 96 was written
    pages->next_page = FIRST_LEAF;
    pages->tables = pages->leaf_count = 0;
}

// ---- The VFS ------------------------------------------------------------------------------------

// The leaf with this page, or with this overflow page.
static const struct store_event_leaf *find_leaf(const struct store_event_pages *pages,
                                                uint32_t number) {
    size_t low = 0, high = pages->leaf_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (pages->leaves[middle].page <= number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 ? &pages->leaves[low - 1] : NULL;
}

static int put_page(struct store_event_pages *pages, uint32_t number, unsigned char *page) {
    if (number == 1) {
        memcpy(page, pages->first, pages->first_size);
        return SQLITE_OK;
    }
    if (number < FIRST_LEAF) {
        if (number - FIRST_ROOT + 1 != pages->tables || pages->leaf_count == 0) {
            return SQLITE_IOERR_READ; // a table that was not filled, or was read already
        }
        if (pages->leaf_count == 1) {
            return put_leaf(pages, pages->leaves, page);
        }
        put_links(pages, page);
        return SQLITE_OK;
    }
    const struct store_event_leaf *leaf = find_leaf(pages, number);
    return !leaf                  ? SQLITE_IOERR_READ
           : leaf->page == number ? put_leaf(pages, leaf, page)
                                  : put_overflow(pages, leaf, number, page);
}

// SQLite reads pages, and parts of the header.
static int on_read(sqlite3_file *file, void *data, int size, sqlite3_int64 at) {
    struct store_event_pages *pages = ((struct file *)file)->pages;
    if ((size_t)size == PAGE && at % (sqlite3_int64)PAGE == 0) {
        return put_page(pages, (uint32_t)(at / (sqlite3_int64)PAGE + 1), data);
    }
    if (at + size > HEADER_BYTES) {
        return SQLITE_IOERR_READ;
    }
    memcpy(data, pages->first + at, (size_t)size);
    return SQLITE_OK;
}

static int on_size(sqlite3_file *file, sqlite3_int64 *size) {
    (void)file;
    *size = (sqlite3_int64)PAGES * (sqlite3_int64)PAGE;
    return SQLITE_OK;
}

static int on_write(sqlite3_file *file, const void *data, int size, sqlite3_int64 at) {
    (void)file, (void)data, (void)size, (void)at;
    return SQLITE_READONLY;
}

static int on_truncate(sqlite3_file *file, sqlite3_int64 size) {
    (void)file, (void)size;
    return SQLITE_READONLY;
}

static int on_flags(sqlite3_file *file, int flags) { // syncs, unlocks
    (void)file, (void)flags;
    return SQLITE_OK;
}

// To read is all that SQLite may want of a file of which it can only read.
static int on_lock(sqlite3_file *file, int level) {
    (void)level;
    begin_again(((struct file *)file)->pages);
    return SQLITE_OK;
}

static int on_reserved(sqlite3_file *file, int *reserved) {
    (void)file;
    *reserved = 0;
    return SQLITE_OK;
}

static int on_control(sqlite3_file *file, int what, void *value) {
    (void)file, (void)what, (void)value;
    return SQLITE_NOTFOUND;
}

static int on_nothing(sqlite3_file *file) { // closes; and the sectors' size, the features: none
    (void)file;
    return 0;
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = on_nothing,
    .xRead = on_read,
    .xWrite = on_write,
    .xTruncate = on_truncate,
    .xSync = on_flags,
    .xFileSize = on_size,
    .xLock = on_lock,
    .xUnlock = on_flags,
    .xCheckReservedLock = on_reserved,
    .xFileControl = on_control,
    .xSectorSize = on_nothing,
    .xDeviceCharacteristics = on_nothing,
};

static int on_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out) {
    (void)name, (void)flags;
    *(struct file *)file = (struct file){{&methods}, vfs->pAppData};
    if (out) {
        *out = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB;
    }
    return SQLITE_OK;
}

static int on_access(sqlite3_vfs *vfs, const char *name, int flags, int *found) {
    (void)vfs, (void)name, (void)flags;
    *found = 0; // no journal
    return SQLITE_OK;
}

static int on_full_path(sqlite3_vfs *vfs, const char *name, int size, char *path) {
    (void)vfs;
    snprintf(path, (size_t)size, "%s", name);
    return SQLITE_OK;
}

// ---- Life ---------------------------------------------------------------------------------------

static void make_vfs(struct store_event_pages *pages, const sqlite3_vfs *system) {
    snprintf(pages->vfs_name, sizeof(pages->vfs_name), "nvtxt-batch-%p", (void *)pages);
    pages->vfs = *system;
    pages->vfs.zName = pages->vfs_name;
    pages->vfs.pAppData = pages;
    pages->vfs.szOsFile = sizeof(struct file);
    pages->vfs.xOpen = on_open;
    pages->vfs.xAccess = on_access;
    pages->vfs.xFullPathname = on_full_path;
}

int store_event_pages_init(struct store_event_pages *pages, struct store_txn *txn) {
    char sql[160];
    const sqlite3_vfs *system = sqlite3_vfs_find(NULL);
    *pages = (struct store_event_pages){.txn = txn, .leaves_most = LEAVES_MOST};
    if (!system || make_first(pages) != SQLITE_OK) {
        return SQLITE_NOMEM;
    }
    begin_again(pages);
    make_vfs(pages, system);
    snprintf(sql, sizeof(sql),
             "ATTACH 'file:batch?vfs=%s' AS " NAME "; PRAGMA " NAME ".cache_size = 2; PRAGMA " NAME
             ".locking_mode = NORMAL",
             pages->vfs_name);
    int rc = sqlite3_vfs_register(&pages->vfs, 0);
    return rc ?: store_sql_exec(txn->db, sql);
}

void store_event_pages_deinit(struct store_event_pages *pages) {
    store_sql_finalize(pages->stmts, STORE_EVENT_TABLES);
    if (pages->vfs.zName) {
        store_sql_exec(pages->txn->db, "DETACH " NAME);
        sqlite3_vfs_unregister(&pages->vfs);
    }
    free(pages->first);
    free(pages->leaves);
    free(pages->large);
    pages->first = pages->large = NULL;
    pages->leaves = NULL;
}

// ---- Writing ----------------------------------------------------------------------------------

// The most bytes that the event takes in a leaf.
static size_t most_bytes(const struct store_event *event) {
    size_t json = event->flags & STORE_EVENT_JSON ? event->payload.extra->json.len : 0;
    return STORE_EVENT_RECORD_MOST + CELL_MOST + event->text_len + json;
}

// The first one of `count` pages in a row.
static uint32_t take_pages(struct store_event_pages *pages, uint32_t count) {
    if (pages->next_page <= LOCK_PAGE && pages->next_page + count > LOCK_PAGE) {
        pages->next_page = LOCK_PAGE + 1;
    }
    pages->next_page += count;
    return pages->next_page - count;
}

// Adds a leaf that begins with the next event of `*walk`, which it moves behind the last one that
// fits.
static int add_leaf(struct store_event_pages *pages, struct store_event_leaf *walk) {
    if (nvtxt_grow(&pages->leaves, &pages->leaf_room, pages->leaf_count + 1,
                   sizeof(*pages->leaves)) < 0) {
        return SQLITE_NOMEM;
    }
    struct store_event_leaf *leaf = &pages->leaves[pages->leaf_count];
    *leaf = *walk;
    leaf->count = 0;
    uint32_t count = 1;
    size_t room = PAGE - LEAF_HEAD;
    struct store_event_leaf next = *walk;
    const struct store_event *event;
    while ((event = next_event(&next)) != NULL) {
        size_t most = most_bytes(event);
        if (most > room && leaf->count > 0) {
            break;
        }
        leaf->count++;
        *walk = next;
        room -= most < room ? most : room;
        if (most > PAGE - LEAF_HEAD) { // alone, with the pages that it may need
            count += (uint32_t)(most / OVERFLOW_BYTES + 1);
            break;
        }
    }
    if (leaf->count == 0) { // the batch counts more events than it has
        return SQLITE_INTERNAL;
    }
    leaf->page = take_pages(pages, count);
    pages->leaf_count++;
    return SQLITE_OK;
}

// Only without names of columns SQLite copies whole records, each value into the column that has
// its place. But somebody may have given the table a column more, or put them into another order.
int store_event_pages_look(struct store_event_pages *pages) {
    char names[sizeof(pages->names)] = "";
    sqlite3_stmt *stmt = NULL;
    int64_t schema = 0;
    int rc = store_sql_int(pages->txn->db, "PRAGMA main.schema_version", &schema);
    if (rc != SQLITE_OK || schema == pages->schema) {
        return rc;
    }
    rc = sqlite3_prepare_v2(
        pages->txn->db,
        "SELECT iif(ours.names = theirs.names, '', '(' || ours.names || ')') FROM "
        "(SELECT group_concat('\"' || name || '\"') AS names FROM "
        "pragma_table_info('e0', '" NAME "')) ours, "
        "(SELECT group_concat('\"' || name || '\"') AS names FROM "
        "pragma_table_info('NVTX_EVENTS', 'main')) theirs",
        -1, &stmt, NULL);
    if (store_sql_next(stmt, &rc)) {
        store_sql_text(stmt, 0, names, sizeof(names));
    }
    sqlite3_finalize(stmt);
    pages->schema = rc == SQLITE_OK ? schema : 0;
    if (rc == SQLITE_OK && strcmp(names, pages->names) != 0) {
        memcpy(pages->names, names, sizeof(names));
        store_sql_finalize(pages->stmts, STORE_EVENT_TABLES);
    }
    return rc;
}

static int insert_table(struct store_event_pages *pages) {
    char sql[sizeof(pages->names) + 80];
    size_t table = pages->tables - 1;
    sqlite3_stmt **stmt = &pages->stmts[table];
    snprintf(sql, sizeof(sql), "INSERT INTO main.NVTX_EVENTS %s SELECT * FROM " NAME ".e%zu",
             pages->names, table);
    int rc = store_sql_prepare(pages->txn->db, stmt, sql);
    return rc ?: store_sql_run(*stmt);
}

int store_event_pages_write(struct store_event_pages *pages, const struct store_batch *batch) {
    struct store_event_leaf walk = {
        .share = batch->first, .run = batch->first->runs, .row = pages->txn->next_row};
    int64_t end = walk.row + (int64_t)batch->events;
    int rc = SQLITE_OK;
    pages->batch = batch;
    while (walk.row < end && rc == SQLITE_OK) {
        if (pages->tables == STORE_EVENT_TABLES) {
            return SQLITE_MISUSE;
        }
        pages->tables++;
        pages->leaf_count = 0;
        pages->large_of = NULL;
        while (walk.row < end && pages->leaf_count < pages->leaves_most && rc == SQLITE_OK) {
            rc = add_leaf(pages, &walk);
        }
        rc = rc ?: insert_table(pages);
    }
    free(pages->large);
    pages->large = NULL;
    pages->large_room = 0;
    return rc;
}
