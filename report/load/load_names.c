// SPDX-License-Identifier: Apache-2.0
//
// Texts are found by their bytes in hash tables. Rows mostly give a number for a text that was seen
// before, so the numbers of a file are kept as well: then a row costs a comparison, or nothing.
// Strings, threads and domains are looked up in the file when a row first names them.
#include "report/load/load_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/db/sql.h"

#define KEPT_BYTES ((size_t)2 << 20) // of memory for the next messages
#define DOMAIN_BITS 40               // of an id that fits into a key together with its PID

struct text_node {
    struct nvtxt_hash_node node;
    struct nvtxt_slice text;
    uint32_t index; // of a message; of a word: its domain, or REPORT_NONE
};

struct scope_node {
    struct nvtxt_hash_node node;
    uint32_t index;
};

// ---- Texts --------------------------------------------------------------------------------------

// The node of the text, made with the index REPORT_NONE when it is new. NULL without memory.
static struct text_node *node_of(struct report_load_state *load, struct nvtxt_hash *table,
                                 struct nvtxt_slice text) {
    struct text_node *found;
    uint64_t hash = nvtxt_hash_bytes(text);
    NVTXT_HASH_FIND(found, node, table, hash, nvtxt_slice_equal(found->text, text));
    if (found) {
        return found;
    }
    bool message = table == &load->messages;
    struct store_arena *bytes = message ? &load->memory->texts : &load->memory->bytes;
    found = store_arena_make(message ? &load->message_nodes : &load->nodes, sizeof(*found));
    const char *data = found ? store_arena_copy(bytes, text.len ? text.data : "", text.len) : NULL;
    if (!data || nvtxt_hash_add(table, &found->node, hash) < 0) {
        return NULL;
    }
    found->text = (struct nvtxt_slice){data, text.len};
    found->index = REPORT_NONE;
    return found;
}

int report_load_word(struct report_load_state *load, struct nvtxt_slice text,
                     struct nvtxt_slice *word) {
    const struct text_node *node = node_of(load, &load->words, text);
    if (node) {
        *word = node->text;
    }
    return node ? SQLITE_OK : SQLITE_NOMEM;
}

static int find_message(struct report_load_state *load, struct nvtxt_slice text, uint32_t *index) {
    struct text_node *node = node_of(load, &load->messages, text);
    if (!node) {
        return SQLITE_NOMEM;
    }
    if (node->index == REPORT_NONE) {
        if (REPORT_GROW(load, messages, message_count) != SQLITE_OK ||
            report_load_grow(&load->last_names, &load->last_name_room, load->capture->message_count,
                             sizeof(uint32_t)) != SQLITE_OK) {
            return SQLITE_NOMEM;
        }
        node->index = (uint32_t)load->capture->message_count;
        load->last_names[node->index] = REPORT_NONE;
        load->capture->messages[load->capture->message_count++] = node->text;
    }
    *index = node->index;
    return SQLITE_OK;
}

int report_load_domain(struct report_load_state *load, struct nvtxt_slice name, uint32_t *index) {
    struct text_node *node = node_of(load, &load->words, name);
    if (!node) {
        return SQLITE_NOMEM;
    }
    if (node->index == REPORT_NONE) {
        if (REPORT_GROW(load, domains, domain_count) != SQLITE_OK) {
            return SQLITE_NOMEM;
        }
        node->index = (uint32_t)load->capture->domain_count;
        load->capture->domains[load->capture->domain_count++] = node->text;
    }
    *index = node->index;
    return SQLITE_OK;
}

static int add_name(struct report_load_state *load, uint32_t domain, uint32_t message,
                    uint32_t *index) {
    struct report_capture *capture = load->capture;
    *index = (uint32_t)capture->name_count;
    if (REPORT_GROW(load, names, name_count) != SQLITE_OK) {
        return SQLITE_NOMEM;
    }
    capture->names[capture->name_count++] = (struct report_name){domain, message};
    return SQLITE_OK;
}

static uint64_t key_of_name(uint32_t domain, uint32_t message) {
    return (uint64_t)domain << 32 | message;
}

// Of a message that has a name already, `*index`, in another domain. Only such names are in the
// table.
static int find_name(struct report_load_state *load, uint32_t domain, uint32_t message,
                     uint32_t *index) {
    uint64_t first = key_of_name(load->capture->names[*index].domain, message);
    uint64_t key = key_of_name(domain, message);
    if (nvtxt_map_set(&load->names, first, *index) < 0) {
        return SQLITE_NOMEM;
    }
    if (nvtxt_map_get(&load->names, key, index)) {
        return SQLITE_OK;
    }
    int rc = add_name(load, domain, message, index);
    return rc ?: nvtxt_map_set(&load->names, key, *index) < 0 ? SQLITE_NOMEM : SQLITE_OK;
}

// Most messages have one domain, so the name that a message had last is tried first.
int report_load_name(struct report_load_state *load, uint32_t domain, uint32_t message,
                     uint32_t *index) {
    const struct report_capture *capture = load->capture;
    *index = load->last_names[message];
    if (*index != REPORT_NONE && capture->names[*index].domain == domain) {
        return SQLITE_OK;
    }
    int rc = *index != REPORT_NONE ? find_name(load, domain, message, index)
                                   : add_name(load, domain, message, index);
    load->last_names[message] = rc == SQLITE_OK ? *index : REPORT_NONE;
    return rc;
}

// ---- Of rows ------------------------------------------------------------------------------------

static int text_of_id(struct report_load_state *load, int64_t id, uint32_t *index) {
    if (nvtxt_map_get(&load->strings, (uint64_t)id, index)) {
        return SQLITE_OK;
    }
    struct nvtxt_slice text = {"", 0};
    int rc = store_sql_bind(load->find_string, "i", id);
    if (store_sql_next(load->find_string, &rc)) {
        text.data = (const char *)sqlite3_column_text(load->find_string, 0);
        text.len = (size_t)sqlite3_column_bytes(load->find_string, 0);
    }
    rc = rc ?: find_message(load, text, index);
    rc = store_sql_done(load->find_string, rc);
    return rc ?: nvtxt_map_set(&load->strings, (uint64_t)id, *index) < 0 ? SQLITE_NOMEM : rc;
}

int report_load_text(struct report_load_state *load, struct nvtxt_slice text,
                     const int64_t *text_id, uint32_t *index) {
    int64_t id = text_id ? *text_id : 0;
    if (!text.data) {
        return text_id && load->find_string
                   ? text_of_id(load, id, index)
                   : find_message(load, (struct nvtxt_slice){"", 0}, index);
    }
    struct report_load_near_text *near = &load->near_texts[(uint64_t)id % REPORT_NEAR];
    if (near->set && near->id == id &&
        nvtxt_slice_equal(load->capture->messages[near->message], text)) {
        *index = near->message;
        return SQLITE_OK;
    }
    int rc = find_message(load, text, index);
    *near = (struct report_load_near_text){rc == SQLITE_OK, id, *index};
    return rc;
}

int report_load_text_column(struct report_load_state *load, sqlite3_stmt *row, int column,
                            uint32_t *index) {
    struct nvtxt_slice text;
    int64_t id = sqlite3_column_int64(row, column + 1);
    bool has_id = sqlite3_column_type(row, column + 1) != SQLITE_NULL;
    int rc = store_sql_view(row, column, &text);
    return rc ?: report_load_text(load, text, has_id ? &id : NULL, index);
}

static int find_process(struct report_load_state *load, const struct report_load_file *file,
                        uint32_t pid, uint32_t *index) {
    struct report_capture *capture = load->capture;
    if (nvtxt_map_get(&load->processes, pid, index)) {
        return SQLITE_OK;
    }
    *index = (uint32_t)capture->process_count;
    if (REPORT_GROW(load, processes, process_count) != SQLITE_OK ||
        nvtxt_map_set(&load->processes, pid, *index) < 0) {
        return SQLITE_NOMEM;
    }
    capture->processes[capture->process_count++] =
        (struct report_process){.store = file->store, .pid = pid};
    return SQLITE_OK;
}

static int find_thread(struct report_load_state *load, const struct report_load_file *file,
                       uint64_t global_tid, uint32_t *index) {
    struct report_capture *capture = load->capture;
    uint32_t process;
    if (nvtxt_map_get(&load->threads, global_tid, index)) {
        return SQLITE_OK;
    }
    *index = (uint32_t)capture->thread_count;
    int rc = find_process(load, file, (uint32_t)(global_tid >> 24), &process);
    if (rc != SQLITE_OK || REPORT_GROW(load, threads, thread_count) != SQLITE_OK ||
        nvtxt_map_set(&load->threads, global_tid, *index) < 0) {
        return SQLITE_NOMEM;
    }
    capture->threads[capture->thread_count++] =
        (struct report_thread){.store = file->store, .process = process, .global_tid = global_tid};
    return SQLITE_OK;
}

// ---- Domains ------------------------------------------------------------------------------------

static uint64_t key_of(uint64_t pid, int64_t domain_id) {
    return pid << DOMAIN_BITS | (uint64_t)domain_id;
}

static bool has_key(int64_t domain_id) {
    return (uint64_t)domain_id >> DOMAIN_BITS == 0;
}

// The name of a domain that nobody named.
static int default_domain(struct report_load_state *load, int64_t id, uint32_t *index) {
    char name[32];
    int len = snprintf(name, sizeof(name), "Domain %lld", (long long)id);
    return report_load_domain(load, (struct nvtxt_slice){name, (size_t)len}, index);
}

// Of a store: ids are the same in all processes.
static int domain_of_store(struct report_load_state *load, int64_t id, uint32_t *index) {
    int rc = store_sql_bind(load->find_domain, "i", id);
    if (store_sql_next(load->find_domain, &rc) && sqlite3_column_bytes(load->find_domain, 0) > 0) {
        struct nvtxt_slice name = {(const char *)sqlite3_column_text(load->find_domain, 0),
                                   (size_t)sqlite3_column_bytes(load->find_domain, 0)};
        rc = report_load_domain(load, name, index);
    } else {
        rc = rc ?: default_domain(load, id, index);
    }
    return store_sql_done(load->find_domain, rc);
}

static int find_domain(struct report_load_state *load, const struct report_load_file *file,
                       uint64_t pid, int64_t id, uint32_t *index) {
    if (id == 0) {
        *index = 0;
        return SQLITE_OK;
    }
    if ((has_key(id) && nvtxt_map_get(&load->process_domains, key_of(pid, id), index)) ||
        nvtxt_map_get(&load->file_domains, (uint64_t)id, index)) {
        return SQLITE_OK;
    }
    int rc = file->ours ? domain_of_store(load, id, index) : default_domain(load, id, index);
    if (rc == SQLITE_OK && nvtxt_map_set(&load->file_domains, (uint64_t)id, *index) < 0) {
        rc = SQLITE_NOMEM;
    }
    return rc;
}

// The rows of an export that name domains; the last of a process counts, and the first of all.
static int load_domains(struct report_load_state *load, const struct report_load_file *file) {
    sqlite3_stmt *row = NULL;
    char sql[320];
    int rc = SQLITE_OK;
    bool has_id = store_read_has_column(file->reader, "NVTX_EVENTS", "domainId", &rc);
    bool has_text = store_read_has_column(file->reader, "NVTX_EVENTS", "text", &rc);
    bool has_text_id = store_read_has_column(file->reader, "NVTX_EVENTS", "textId", &rc);
    if (rc != SQLITE_OK || !has_id) {
        return rc;
    }
    snprintf(sql, sizeof(sql),
             "SELECT globalTid, domainId, %s, %s FROM NVTX_EVENTS WHERE eventType = 75",
             has_text ? "text" : "NULL", has_text_id ? "textId" : "NULL");
    rc = store_sql_prepare(file->db, &row, sql);
    while (store_sql_next(row, &rc)) {
        uint64_t pid = ((uint64_t)sqlite3_column_int64(row, 0) & REPORT_TID_BITS) >> 24;
        int64_t id = sqlite3_column_int64(row, 1);
        uint32_t message, domain, known;
        rc = report_load_text_column(load, row, 2, &message);
        struct nvtxt_slice name = rc ? (struct nvtxt_slice){0} : load->capture->messages[message];
        if (rc != SQLITE_OK || name.len == 0) {
            continue;
        }
        rc = report_load_domain(load, name, &domain);
        if (rc == SQLITE_OK &&
            ((has_key(id) && nvtxt_map_set(&load->process_domains, key_of(pid, id), domain) < 0) ||
             (!nvtxt_map_get(&load->file_domains, (uint64_t)id, &known) &&
              nvtxt_map_set(&load->file_domains, (uint64_t)id, domain) < 0))) {
            rc = SQLITE_NOMEM;
        }
    }
    sqlite3_finalize(row);
    return rc;
}

// ---- Scopes -------------------------------------------------------------------------------------

static uint64_t hash_of_scope(const struct report_domain_scope *scope) {
    const uint64_t numbers[] = {scope->domain, (uint64_t)scope->id};
    return nvtxt_hash_pair(scope->process,
                           (struct nvtxt_slice){(const char *)numbers, sizeof(numbers)});
}

static bool is_scope(const struct report_load_state *load, uint32_t index,
                     const struct report_domain_scope *wanted) {
    const struct report_domain_scope *scope = &load->capture->scopes[index];
    return scope->process == wanted->process && scope->domain == wanted->domain &&
           scope->id == wanted->id;
}

static int add_scope(struct report_load_state *load, const struct report_domain_scope *scope,
                     uint32_t *index) {
    struct scope_node *found;
    uint64_t hash = hash_of_scope(scope);
    NVTXT_HASH_FIND(found, node, &load->scopes, hash, is_scope(load, found->index, scope));
    if (!found) {
        found = store_arena_make(&load->nodes, sizeof(*found));
        if (!found || REPORT_GROW(load, scopes, scope_count) != SQLITE_OK ||
            nvtxt_hash_add(&load->scopes, &found->node, hash) < 0) {
            return SQLITE_NOMEM;
        }
        found->index = (uint32_t)load->capture->scope_count;
        load->capture->scopes[load->capture->scope_count++] = *scope;
    }
    *index = found->index;
    return SQLITE_OK;
}

bool report_load_find_scope(const struct report_load_state *load, uint64_t pid, int64_t domain_id,
                            uint32_t *index) {
    return has_key(domain_id) && nvtxt_map_get(&load->file_scopes, key_of(pid, domain_id), index);
}

static int find_scope(struct report_load_state *load, const struct report_load_file *file,
                      uint32_t thread, int64_t domain_id, uint32_t *index) {
    uint64_t pid = load->capture->threads[thread].global_tid >> 24;
    if (report_load_find_scope(load, pid, domain_id, index)) {
        return SQLITE_OK;
    }
    struct report_domain_scope scope = {.process = load->capture->threads[thread].process,
                                        .id = domain_id};
    int rc = find_domain(load, file, pid, domain_id, &scope.domain);
    rc = rc ?: add_scope(load, &scope, index);
    if (rc == SQLITE_OK && has_key(domain_id) &&
        nvtxt_map_set(&load->file_scopes, key_of(pid, domain_id), *index) < 0) {
        rc = SQLITE_NOMEM;
    }
    return rc;
}

int report_load_bearer(struct report_load_state *load, const struct report_load_file *file,
                       uint64_t global_tid, int64_t domain_id, uint32_t *thread, uint32_t *scope) {
    struct report_load_near *near = &load->near[global_tid % REPORT_NEAR];
    if (near->set && near->global_tid == global_tid && near->domain_id == domain_id) {
        *thread = near->thread;
        *scope = near->scope;
        return SQLITE_OK;
    }
    int rc = find_thread(load, file, global_tid, thread);
    rc = rc ?: find_scope(load, file, *thread, domain_id, scope);
    *near = (struct report_load_near){rc == SQLITE_OK, global_tid, *thread, domain_id, *scope};
    return rc;
}

// ---- Stores and files ---------------------------------------------------------------------------

void report_load_names_store(struct report_load_state *load) {
    nvtxt_map_clear(&load->processes);
    nvtxt_map_clear(&load->threads);
    nvtxt_map_clear(&load->sources);
}

int report_load_names_file(struct report_load_state *load, const struct report_load_file *file) {
    nvtxt_map_clear(&load->file_scopes);
    nvtxt_map_clear(&load->process_domains);
    nvtxt_map_clear(&load->file_domains);
    memset(load->near, 0, sizeof(load->near));
    memset(load->near_texts, 0, sizeof(load->near_texts));
    nvtxt_map_clear(&load->strings);
    int rc = SQLITE_OK;
    if (store_read_has_column(file->reader, "StringIds", "value", &rc)) {
        rc = store_sql_prepare(file->db, &load->find_string,
                               "SELECT value FROM StringIds WHERE id = ?");
    }
    if (rc == SQLITE_OK && file->ours) {
        return store_sql_prepare(file->db, &load->find_domain,
                                 "SELECT name FROM NVTXT_DOMAINS WHERE id = ?");
    }
    return rc ?: load_domains(load, file);
}

void report_load_names_leave(struct report_load_state *load) {
    sqlite3_finalize(load->find_domain);
    sqlite3_finalize(load->find_string);
    load->find_domain = load->find_string = NULL;
}

void report_load_names_forget(struct report_load_state *load) {
    load->capture->message_count = load->capture->name_count = 0;
    nvtxt_hash_reset(&load->messages);
    nvtxt_map_clear(&load->names);
    nvtxt_map_clear(&load->strings);
    memset(load->near_texts, 0, sizeof(load->near_texts));
    store_arena_reset(&load->message_nodes, KEPT_BYTES);
    store_arena_reset(&load->memory->texts, KEPT_BYTES);
}

void report_load_names_deinit(struct report_load_state *load) {
    struct nvtxt_map *maps[] = {&load->names,        &load->processes,   &load->threads,
                                &load->sources,      &load->file_scopes, &load->process_domains,
                                &load->file_domains, &load->strings};
    for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
        nvtxt_map_deinit(maps[i]);
    }
    nvtxt_hash_deinit(&load->messages);
    nvtxt_hash_deinit(&load->words);
    nvtxt_hash_deinit(&load->scopes);
    store_arena_deinit(&load->nodes);
    store_arena_deinit(&load->message_nodes);
    free(load->last_names);
}
