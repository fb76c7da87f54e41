// SPDX-License-Identifier: Apache-2.0
//
// First the sources of all files are read, and each token that something has, once for each user.
// Then each token is looked up. What it means may be what another token means, so a search notes
// its way, and everything on it gets what was found at its end.
#include "store/read/reader_parents.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"
#include "store/read/reader_state.h"
#include "store/read/reader_tables.h"
#include "store/value/codes.h"

#define RUN NVTXT_SLICE("run") // the key of the range of a session's command

struct range { // a parent; its token is the first one that meant it
    struct store_parent parent;
    struct nvtxt_hash_node node; // if it is known
    struct token *above;         // its own one; NULL: none
    uint32_t way;                // of the search for circles that came here last
    struct range *next;
};

struct token { // what a user said
    struct nvtxt_hash_node node;
    struct nvtxt_slice text;
    struct store_maybe uid;
    struct range *range; // NULL: not looked up
    uint32_t way;        // of the search that came here last
    struct token *next, *before;
};

struct source {
    struct nvtxt_hash_node node; // by its session
    int64_t id;
    struct store_maybe uid;
    struct nvtxt_slice session; // data NULL: none
    struct token *parent;       // NULL: none
};

struct place { // of a source in a file
    int64_t id;
    struct source *source;
};

struct file {
    struct store_reader *reader;
    bool has_keys;
    struct place *places; // owned, in the order of ids
    size_t count;
    int64_t *ids; // owned, of sources of which something has a parent
    size_t id_count;
    int64_t from, next;  // no row between them has a key; next does
    struct token *token; // that of the row `next`; NULL: its source's
};

struct store_parents {
    struct file *files; // owned
    size_t count;
    struct store_arena memory; // of all that follow
    struct nvtxt_hash sources, tokens, ranges;
    struct token *first_token;
    struct range *first_range;
    uint32_t ways, numbers;
    bool were_cut;
};

void store_parents_free(struct store_parents *parents) {
    if (!parents) {
        return;
    }
    for (size_t i = 0; parents->files && i < parents->count; i++) {
        free(parents->files[i].places);
        free(parents->files[i].ids);
    }
    free(parents->files);
    nvtxt_hash_deinit(&parents->sources);
    nvtxt_hash_deinit(&parents->tokens);
    nvtxt_hash_deinit(&parents->ranges);
    store_arena_deinit(&parents->memory);
    free(parents);
}

bool store_parents_were_cut(const struct store_parents *parents) {
    return parents->were_cut;
}

// ---- Sources and tokens -------------------------------------------------------------------------

static bool same_user(struct store_maybe one, struct store_maybe other) {
    return one.is_set == other.is_set && (!one.is_set || one.value == other.value);
}

static int keep(struct store_parents *parents, struct nvtxt_slice *text) {
    text->data = store_arena_copy(&parents->memory, text->data, text->len);
    return text->data ? SQLITE_OK : SQLITE_NOMEM;
}

// The token of this text that this user said; made when there is none yet. NULL: memory is short.
static struct token *token_of(struct store_parents *parents, struct nvtxt_slice text,
                              struct store_maybe uid) {
    struct token *token;
    uint64_t hash = nvtxt_hash_bytes(text);
    NVTXT_HASH_FIND(token, node, &parents->tokens, hash,
                    nvtxt_slice_equal(token->text, text) && same_user(token->uid, uid));
    if (token) {
        return token;
    }
    token = store_arena_make(&parents->memory, sizeof(*token));
    if (!token || keep(parents, &text) != SQLITE_OK ||
        nvtxt_hash_add(&parents->tokens, &token->node, hash) < 0) {
        return NULL;
    }
    token->text = text;
    token->uid = uid;
    token->next = parents->first_token;
    return parents->first_token = token;
}

static uint64_t source_hash(const struct source *source) {
    return source->session.data ? nvtxt_hash_bytes(source->session)
                                : nvtxt_hash_number((uint64_t)source->id);
}

// A source that goes on in another segment has its id and session there.
static struct source *source_of(struct store_parents *parents, const struct source *wanted) {
    struct source *source;
    uint64_t hash = source_hash(wanted);
    NVTXT_HASH_FIND(source, node, &parents->sources, hash,
                    source->id == wanted->id && same_user(source->uid, wanted->uid) &&
                        nvtxt_slice_equal(source->session, wanted->session));
    if (source) {
        return source;
    }
    source = store_arena_make(&parents->memory, sizeof(*source));
    if (!source) {
        return NULL;
    }
    *source = *wanted;
    if ((source->session.data && keep(parents, &source->session) != SQLITE_OK) ||
        nvtxt_hash_add(&parents->sources, &source->node, hash) < 0) {
        return NULL;
    }
    return source;
}

static int take_source(struct store_parents *parents, struct file *file, sqlite3_stmt *stmt) {
    struct source wanted = {.id = sqlite3_column_int64(stmt, 0)};
    struct nvtxt_slice parent;
    wanted.uid = (struct store_maybe){sqlite3_column_type(stmt, 2) != SQLITE_NULL,
                                      sqlite3_column_int64(stmt, 2)};
    int rc = store_sql_view(stmt, 1, &wanted.session);
    rc = rc ?: store_sql_view(stmt, 3, &parent);
    struct source *source = rc == SQLITE_OK ? source_of(parents, &wanted) : NULL;
    struct place *place = source ? nvtxt_add(&file->places, &file->count, sizeof(*place)) : NULL;
    if (!place) {
        return rc ?: SQLITE_NOMEM;
    }
    *place = (struct place){wanted.id, source};
    if (parent.data) {
        source->parent = token_of(parents, parent, source->uid);
        int64_t *id = nvtxt_add(&file->ids, &file->id_count, sizeof(*id));
        rc = source->parent && id ? SQLITE_OK : SQLITE_NOMEM;
        *(id ?: &wanted.id) = wanted.id;
    }
    return rc;
}

static int by_id(const void *one, const void *other) {
    return NVTXT_ORDER(((const struct place *)one)->id, ((const struct place *)other)->id);
}

static struct source *source_in(const struct file *file, int64_t id) {
    const struct place wanted = {.id = id};
    const struct place *place =
        file->count ? bsearch(&wanted, file->places, file->count, sizeof(wanted), by_id) : NULL;
    return place ? place->source : NULL;
}

static int take_key(struct store_parents *parents, struct file *file, sqlite3_stmt *stmt) {
    struct nvtxt_slice text;
    int64_t id = sqlite3_column_int64(stmt, 0);
    const struct source *source = source_in(file, id);
    int rc = store_sql_view(stmt, 1, &text);
    if (rc != SQLITE_OK || !text.data || !source) {
        return rc;
    }
    if (!token_of(parents, text, source->uid)) {
        return SQLITE_NOMEM;
    }
    int64_t *last = file->id_count ? &file->ids[file->id_count - 1] : NULL;
    if (!source->parent && (!last || *last != id)) { // their rows come by sources
        last = nvtxt_add(&file->ids, &file->id_count, sizeof(*last));
        rc = last ? SQLITE_OK : SQLITE_NOMEM;
        *(last ?: &id) = id;
    }
    return rc;
}

static int each_row(struct store_parents *parents, struct file *file, const char *query,
                    int (*take)(struct store_parents *parents, struct file *file,
                                sqlite3_stmt *stmt)) {
    sqlite3_stmt *stmt = NULL;
    int rc = store_sql_prepare(file->reader->db, &stmt, query);
    while (store_sql_next(stmt, &rc)) {
        rc = take(parents, file, stmt);
    }
    sqlite3_finalize(stmt);
    return rc;
}

static int load_file(struct store_parents *parents, struct file *file) {
    int rc = each_row(parents, file,
                      "SELECT id, sessionId, peerUid, parent FROM NVTXT_SOURCES WHERE "
                      "coalesce(sessionId, parent) IS NOT NULL ORDER BY id",
                      take_source);
    return rc
               ?: each_row(parents, file,
                           "SELECT DISTINCT sourceId, parent FROM NVTXT_RANGE_KEYS WHERE parent IS "
                           "NOT NULL ORDER BY sourceId",
                           take_key);
}

// ---- What a token means -------------------------------------------------------------------------

static uint64_t place_hash(size_t file, int64_t row) {
    return nvtxt_hash_number((uint64_t)row ^ (uint64_t)file << 48);
}

static struct range *range_at(const struct store_parents *parents, size_t file, int64_t row) {
    struct range *range;
    NVTXT_HASH_FIND(range, node, &parents->ranges, place_hash(file, row),
                    range->parent.file == file && range->parent.row == row);
    return range;
}

static struct range *new_range(struct store_parents *parents, struct nvtxt_slice token) {
    struct range *range = store_arena_make(&parents->memory, sizeof(*range));
    if (range) {
        range->parent.token = token;
        range->parent.number = ++parents->numbers;
        range->next = parents->first_range;
        parents->first_range = range;
    }
    return range;
}

// The row of a statement that found a key: row, its token, start, end, text.
static int take_range(struct store_parents *parents, size_t at, const struct source *source,
                      struct nvtxt_slice token, sqlite3_stmt *stmt, struct range **found) {
    struct file *file = &parents->files[at];
    int64_t row = sqlite3_column_int64(stmt, 0);
    struct nvtxt_slice above, text;
    int rc = store_sql_view(stmt, 1, &above);
    rc = rc ?: store_sql_view(stmt, 4, &text);
    struct range *range = *found = rc == SQLITE_OK ? range_at(parents, at, row) : NULL;
    if (rc != SQLITE_OK || range) {
        return rc;
    }
    range = new_range(parents, token);
    text = text.data ? text : NVTXT_SLICE("");
    if (!range || keep(parents, &text) != SQLITE_OK) {
        return SQLITE_NOMEM;
    }
    range->above = above.data ? token_of(parents, above, source->uid) : source->parent;
    const char *slash = strrchr(file->reader->path, '/');
    const uint32_t number = range->parent.number;
    range->parent = (struct store_parent){
        .token = token,
        .number = number,
        .is_known = true,
        .file = at,
        .name = slash ? slash + 1 : file->reader->path,
        .row = row,
        .start = store_reader_time(file->reader, sqlite3_column_int64(stmt, 2)),
        .end = store_reader_time(file->reader, sqlite3_column_int64(stmt, 3)),
        .text = text};
    bool is_short = (above.data && !range->above) ||
                    nvtxt_hash_add(&parents->ranges, &range->node, place_hash(at, row)) < 0;
    *found = range;
    return is_short ? SQLITE_NOMEM : SQLITE_OK;
}

static const char find_text[] =
    "SELECT k.eventRow, k.parent, e.start, coalesce(e.\"end\", e.start), e.text FROM "
    "NVTXT_RANGE_KEYS k JOIN NVTX_EVENTS e ON e.rowid = k.eventRow WHERE k.sourceId = ?1 AND "
    "k.key = ?2 AND e.eventType IN (59, 60) ORDER BY k.eventRow LIMIT 1";

// Finds a key of a source, in any file.
static int find_key(struct store_parents *parents, const struct source *source,
                    struct nvtxt_slice key, struct nvtxt_slice token, struct range **found,
                    size_t *failed) {
    int rc = SQLITE_OK;
    for (size_t i = 0; i < parents->count && rc == SQLITE_OK && !*found; i++) {
        struct file *file = &parents->files[i];
        if (!file->has_keys || source_in(file, source->id) != source) {
            continue;
        }
        sqlite3_stmt **stmt = &file->reader->stmts[STORE_READ_KEY];
        *failed = i;
        rc = store_sql_prepare(file->reader->db, stmt, find_text);
        rc = rc ?: store_sql_bind(*stmt, "is", source->id, key.data, key.len);
        if (store_sql_next(*stmt, &rc)) {
            rc = take_range(parents, i, source, token, *stmt, found);
        }
        rc = *stmt ? store_sql_done(*stmt, rc) : rc;
    }
    return rc;
}

// `*next`: nothing has the key, but this is what the session began under.
static int find_range(struct store_parents *parents, const struct token *token,
                      struct range **found, struct token **next, size_t *failed) {
    char text[NVTXT_PARENT_BYTES + 1];
    if (!token->uid.is_set || !nvtxt_parent_read(token->text, text)) {
        return SQLITE_OK; // nobody is the same user as one who is not known
    }
    const char *colon = strchr(text, ':');
    struct nvtxt_slice session = {text, (size_t)(colon - text)};
    struct nvtxt_slice keys[] = {nvtxt_slice_of(colon + 1), RUN};
    int rc = SQLITE_OK;
    for (size_t i = 0; i < 2 && rc == SQLITE_OK && !*found; i++) {
        struct nvtxt_hash_node *node =
            nvtxt_hash_find(&parents->sources, nvtxt_hash_bytes(session));
        for (; node && rc == SQLITE_OK && !*found; node = nvtxt_hash_next(node)) {
            const struct source *source = NVTXT_CONTAINER_OF(node, struct source, node);
            if (source->session.data && nvtxt_slice_equal(source->session, session) &&
                same_user(source->uid, token->uid)) {
                rc = find_key(parents, source, keys[i], token->text, found, failed);
                *next = *next ? *next : source->parent;
            }
        }
    }
    return rc;
}

// Looks a token up. What is on the way gets the same range; each that leads nowhere is unknown.
static int look_up(struct store_parents *parents, struct token *token, size_t *failed) {
    uint32_t way = ++parents->ways;
    struct token *last = NULL;
    struct range *found = NULL;
    int rc = SQLITE_OK;
    while (token && token->way != way && !found && rc == SQLITE_OK) {
        struct token *next = NULL;
        token->way = way;
        token->before = last;
        last = token;
        found = token->range;
        rc = found ? SQLITE_OK : find_range(parents, token, &found, &next, failed);
        token = next;
    }
    for (; last && rc == SQLITE_OK; last = last->before) {
        bool is_known = found && found->parent.is_known;
        last->range = last->range ?: is_known ? found : new_range(parents, last->text);
        rc = last->range ? SQLITE_OK : SQLITE_NOMEM;
    }
    return rc;
}

// ---- Circles ------------------------------------------------------------------------------------

// Each range is gone through once: a way ends where one was before.
static void cut_circles(struct store_parents *parents) {
    for (struct range *first = parents->first_range; first; first = first->next) {
        uint32_t way = ++parents->ways;
        struct range *last = NULL;
        for (struct range *at = first->way ? NULL : first; at;
             at = at->above ? at->above->range : NULL) {
            if (at->way != 0) {
                bool is_circle = at->way == way;
                parents->were_cut |= is_circle;
                last->above = is_circle ? NULL : last->above;
                break;
            }
            at->way = way;
            last = at;
        }
    }
    for (struct range *range = parents->first_range; range; range = range->next) {
        range->parent.up = range->above ? &range->above->range->parent : NULL;
    }
}

// ---- Loading ------------------------------------------------------------------------------------

static int has_parents(struct file *file, bool *has) {
    int64_t some = 0;
    int rc = SQLITE_OK;
    file->has_keys = file->reader->ours &&
                     store_reader_has_column(file->reader, "NVTXT_RANGE_KEYS", "parent", &rc) &&
                     store_reader_has_column(file->reader, "NVTXT_SOURCES", "parent", &rc);
    if (file->has_keys) {
        rc = store_sql_int(file->reader->db,
                           "SELECT EXISTS (SELECT 1 FROM NVTXT_SOURCES WHERE parent IS NOT NULL) "
                           "OR EXISTS (SELECT 1 FROM NVTXT_RANGE_KEYS WHERE parent IS NOT NULL)",
                           &some);
    }
    *has |= some != 0;
    return rc;
}

static int load_all(struct store_parents *parents, size_t *failed) {
    int rc = SQLITE_OK;
    for (size_t i = 0; i < parents->count && rc == SQLITE_OK; i++) {
        *failed = i;
        rc = parents->files[i].has_keys ? load_file(parents, &parents->files[i]) : SQLITE_OK;
    }
    // What is found may say tokens of its own: those are put before the others, and come later.
    for (bool more = true; more && rc == SQLITE_OK;) {
        more = false;
        for (struct token *token = parents->first_token; token && rc == SQLITE_OK;
             token = token->next) {
            more |= !token->range;
            rc = token->range ? SQLITE_OK : look_up(parents, token, failed);
        }
    }
    return rc;
}

int store_parents_load(struct store_parents **out, struct store_reader *const *readers,
                       size_t count, size_t *failed) {
    struct store_parents *parents = calloc(1, sizeof(*parents));
    bool has = false;
    int rc = SQLITE_OK;
    *failed = 0;
    *out = NULL;
    if (!parents || !(parents->files = calloc(count + 1, sizeof(*parents->files)))) {
        free(parents);
        return nvtxt_origin(-ENOMEM);
    }
    parents->count = count;
    for (size_t i = 0; i < count && rc == SQLITE_OK; i++) {
        *failed = i;
        parents->files[i].reader = readers[i];
        rc = has_parents(&parents->files[i], &has);
    }
    rc = rc ?: has ? load_all(parents, failed) : SQLITE_OK;
    if (rc != SQLITE_OK || !has) {
        store_parents_free(parents);
        return rc ? store_reader_result(readers[*failed], rc) : STORE_DONE;
    }
    cut_circles(parents);
    *out = parents;
    return STORE_DONE;
}

// ---- Rows ---------------------------------------------------------------------------------------

const int64_t *store_parents_sources(const struct store_parents *parents, size_t file,
                                     size_t *count) {
    *count = parents->files[file].id_count;
    return parents->files[file].ids;
}

const struct store_parent *store_parents_at(const struct store_parents *parents, size_t file,
                                            int64_t row) {
    const struct range *range = range_at(parents, file, row);
    return range ? &range->parent : NULL;
}

// The first row from this one on that has a key.
static int find_next(struct store_parents *parents, struct file *file, int64_t row) {
    sqlite3_stmt **stmt = &file->reader->stmts[STORE_READ_KEY_AFTER];
    struct nvtxt_slice text = {NULL, 0};
    const struct source *source = NULL;
    int rc = store_sql_prepare(file->reader->db, stmt,
                               "SELECT eventRow, sourceId, parent FROM NVTXT_RANGE_KEYS WHERE "
                               "eventRow >= ?1 ORDER BY eventRow LIMIT 1");
    rc = rc ?: store_sql_bind(*stmt, "i", row);
    file->from = row;
    file->next = INT64_MAX;
    file->token = NULL;
    if (store_sql_next(*stmt, &rc)) {
        file->next = sqlite3_column_int64(*stmt, 0);
        source = source_in(file, sqlite3_column_int64(*stmt, 1));
        rc = store_sql_view(*stmt, 2, &text);
    }
    if (rc == SQLITE_OK && text.data && source) {
        NVTXT_HASH_FIND(file->token, node, &parents->tokens, nvtxt_hash_bytes(text),
                        nvtxt_slice_equal(file->token->text, text) &&
                            same_user(file->token->uid, source->uid));
    }
    return *stmt ? store_sql_done(*stmt, rc) : rc;
}

const struct store_parent *store_parents_of(struct store_parents *parents, size_t at, int64_t row,
                                            int64_t source_id) {
    struct file *file = &parents->files[at];
    if (!file->has_keys) {
        return NULL;
    }
    const struct range *range = range_at(parents, at, row);
    if (range) { // without the circles
        return range->parent.up;
    }
    if (file->next < row || row < file->from || file->reader->stmts[STORE_READ_KEY_AFTER] == NULL) {
        int rc = find_next(parents, file, row);
        if (rc != SQLITE_OK && file->reader->failed == STORE_DONE) {
            file->reader->failed = store_reader_result(file->reader, rc);
        }
    }
    const struct source *source = source_in(file, source_id);
    const struct token *token = file->next == row && file->token ? file->token
                                : source                         ? source->parent
                                                                 : NULL;
    return token && token->range ? &token->range->parent : NULL;
}
