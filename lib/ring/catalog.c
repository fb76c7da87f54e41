// SPDX-License-Identifier: Apache-2.0
//
// Texts are interned: one table from bytes to their place, with open addressing and numbers of
// entries, serves strings, domains and names alike. Memory is reserved once as address space and
// taken by the kernel page by page.
#include "lib/ring/catalog.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "protocol/base/slice.h"

#define SLOTS (4u * REGION_STRINGS) // of each table: a power of two, never more than half full

struct text_slot { // what stands for a text; 0: nothing
    struct region_text text;
    uint32_t string, domain; // number + 1
};

static struct {
    pthread_mutex_t lock;
    struct region_tables tables;
    struct text_slot *texts;
    uint32_t *names; // number + 1 of the entry, by hash of what it names
    struct nvtxt_domain *domain_handles;
    struct nvtxt_string *string_handles;
    uint64_t text_bytes;
    uint32_t text_count, strings, domain_count, name_count;
    struct region *region;
    bool (*is_excluded)(const char *name);
    _Atomic uint64_t version;
} catalog = {.lock = PTHREAD_MUTEX_INITIALIZER, .domain_count = 1};

struct nvtxt_domain catalog_no_domain;

static void *reserve(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

int catalog_init(void) {
    if (catalog.string_handles) {
        return 0;
    }
    struct region_tables *tables = &catalog.tables;
    bool all =
        (tables->strings = reserve(REGION_STRINGS * sizeof(*tables->strings))) &&
        (tables->domains = reserve(REGION_DOMAINS * sizeof(*tables->domains))) &&
        (tables->names = reserve(REGION_NAMES * sizeof(*tables->names))) &&
        (tables->text = reserve(REGION_TEXT_BYTES)) &&
        (catalog.texts = reserve(SLOTS * sizeof(*catalog.texts))) &&
        (catalog.names = reserve(SLOTS * sizeof(*catalog.names))) &&
        (catalog.domain_handles = reserve(REGION_DOMAINS * sizeof(*catalog.domain_handles))) &&
        (catalog.string_handles = reserve(REGION_STRINGS * sizeof(*catalog.string_handles)));
    return all ? 0 : -ENOMEM;
}

void catalog_set_filter(bool (*is_excluded)(const char *name)) {
    catalog.is_excluded = is_excluded;
    catalog_no_domain.excluded = is_excluded("default");
}

void catalog_lock(void) {
    pthread_mutex_lock(&catalog.lock);
}

void catalog_unlock(void) {
    pthread_mutex_unlock(&catalog.lock);
}

void catalog_renew_lock(void) {
    pthread_mutex_init(&catalog.lock, NULL);
}

uint64_t catalog_version(void) {
    return atomic_load(&catalog.version);
}

// ---- Into the region ----------------------------------------------------------------------------

static bool has_copy(void) {
    return catalog.region && catalog.region->fd >= 0;
}

static int copy_text(uint64_t from, uint64_t end) {
    int r = region_grant(catalog.region, TABLE_TEXT, end);
    if (r == 0) {
        memcpy(catalog.region->text + from, catalog.tables.text + from, end - from);
    }
    return r;
}

static int copy_string(uint32_t number) {
    int r = region_grant(catalog.region, TABLE_STRINGS, number + 1);
    if (r == 0) {
        catalog.region->strings[number] = catalog.tables.strings[number];
    }
    return r;
}

static int copy_domain(uint32_t number) {
    int r = region_grant(catalog.region, TABLE_DOMAINS, number + 1);
    if (r == 0) {
        catalog.region->domains[number] = catalog.tables.domains[number];
    }
    return r;
}

// Fills an entry that the sender may be reading.
static void put_name(struct region_name *to, const struct region_name *from) {
    uint32_t version = atomic_load_explicit(&to->version, memory_order_relaxed);
    atomic_store_explicit(&to->version, version + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    to->kind = from->kind;
    to->domain = from->domain;
    to->key = from->key;
    to->what = from->what;
    to->text = from->text;
    to->json = from->json;
    atomic_store_explicit(&to->version, version + 2, memory_order_release);
}

static int copy_name(uint32_t number) {
    int r = region_grant(catalog.region, TABLE_NAMES, number + 1);
    if (r == 0) {
        put_name(&catalog.region->names[number], &catalog.tables.names[number]);
    }
    return r;
}

// The counts say how much of the tables there is.
static void publish(void) {
    if (!catalog.region) {
        return;
    }
    struct region_head *head = catalog.region->head;
    atomic_store_explicit(&head->text_bytes, catalog.text_bytes, memory_order_release);
    atomic_store_explicit(&head->strings, catalog.strings, memory_order_release);
    atomic_store_explicit(&head->domains, catalog.domain_count, memory_order_release);
    atomic_store_explicit(&head->names, catalog.name_count, memory_order_release);
}

static int copy_all(void) {
    int r = copy_text(0, catalog.text_bytes);
    for (uint32_t i = 0; r == 0 && i < catalog.strings; i++) {
        r = copy_string(i);
    }
    for (uint32_t i = 1; r == 0 && i < catalog.domain_count; i++) {
        r = copy_domain(i);
    }
    for (uint32_t i = 0; r == 0 && i < catalog.name_count; i++) {
        r = copy_name(i);
    }
    return r;
}

// A name that is marked as a thread's of the parent says nothing here.
static void forget_sent(bool is_child) {
    for (uint32_t i = 0; i < catalog.name_count; i++) {
        struct region_name *name = &catalog.tables.names[i];
        memset(name->sent, 0, sizeof(name->sent));
        if (is_child && name->kind == NAME_THREAD) {
            name->sent[0].version = atomic_load(&name->version);
        }
    }
}

int catalog_use(struct region *region, bool is_child) {
    catalog.region = region;
    if (!region) {
        return 0;
    }
    forget_sent(is_child);
    int r = 0;
    if (region->fd < 0) {
        region_borrow(region, &catalog.tables);
    } else if ((r = copy_all()) < 0) {
        catalog.region = NULL;
    }
    publish();
    atomic_fetch_add(&catalog.version, 1);
    return r;
}

// ---- Texts --------------------------------------------------------------------------------------

static uint64_t hash_bytes(const char *data, size_t len, uint64_t hash) {
    for (size_t i = 0; i < len; i++) {
        hash = (hash ^ (unsigned char)data[i]) * 0x100000001b3u;
    }
    return hash ^ hash >> 29;
}

static bool is_text(struct region_text text, const char *data, size_t len) {
    return text.len == len && memcmp(catalog.tables.text + text.at, data, len) == 0;
}

// The slot of a text, which is added when it is new. NULL: no room.
static struct text_slot *text_slot(const char *data, size_t len) {
    uint64_t i = hash_bytes(data, len, 0xcbf29ce484222325u);
    struct text_slot *slot;
    while ((slot = &catalog.texts[i & (SLOTS - 1)])->text.at || slot->text.len) {
        if (is_text(slot->text, data, len)) {
            return slot;
        }
        i++;
    }
    uint64_t at = catalog.text_bytes ? catalog.text_bytes : 1; // 0: no text
    if (at + len > REGION_TEXT_BYTES || catalog.text_count == SLOTS / 2) {
        return NULL;
    }
    memcpy(catalog.tables.text + at, data, len);
    if (has_copy() && copy_text(at, at + len) < 0) {
        return NULL;
    }
    slot->text = (struct region_text){(uint32_t)at, (uint32_t)len};
    catalog.text_bytes = at + len;
    catalog.text_count++;
    publish();
    return slot;
}

// At most `most` bytes, up to a whole character.
static size_t text_len(const char *text, size_t most) {
    return nvtxt_slice_cut((struct nvtxt_slice){text, strnlen(text, most + 1)}, most).len;
}

static struct nvtxt_domain *add_domain(struct text_slot *slot, bool excluded) {
    uint32_t number = catalog.domain_count;
    if (number == REGION_DOMAINS) {
        return NULL;
    }
    catalog.tables.domains[number] = slot->text;
    if (has_copy() && copy_domain(number) < 0) {
        return NULL;
    }
    catalog.domain_handles[number] = (struct nvtxt_domain){number, excluded};
    slot->domain = number + 1;
    catalog.domain_count++;
    publish();
    return &catalog.domain_handles[number];
}

struct nvtxt_domain *catalog_domain(const char *name) {
    bool excluded = catalog.is_excluded && catalog.is_excluded(name);
    catalog_lock();
    struct text_slot *slot = text_slot(name, text_len(name, RECORD_TEXT_MAX));
    struct nvtxt_domain *domain = !slot          ? NULL
                                  : slot->domain ? &catalog.domain_handles[slot->domain - 1]
                                                 : add_domain(slot, excluded);
    catalog_unlock();
    return domain;
}

static struct nvtxt_string *add_string(struct text_slot *slot) {
    uint32_t number = catalog.strings;
    if (number == REGION_STRINGS) {
        return NULL;
    }
    catalog.tables.strings[number] = slot->text;
    if (has_copy() && copy_string(number) < 0) {
        return NULL;
    }
    catalog.string_handles[number].number = number;
    slot->string = number + 1;
    catalog.strings++;
    publish();
    return &catalog.string_handles[number];
}

struct nvtxt_string *catalog_string(const char *text) {
    catalog_lock();
    struct text_slot *slot = text_slot(text, text_len(text, RECORD_TEXT_MAX));
    struct nvtxt_string *string = !slot          ? NULL
                                  : slot->string ? &catalog.string_handles[slot->string - 1]
                                                 : add_string(slot);
    catalog_unlock();
    return string;
}

// ---- Names --------------------------------------------------------------------------------------

static bool intern(const char *text, size_t most, struct region_text *to) {
    struct text_slot *slot = text && *text ? text_slot(text, text_len(text, most)) : NULL;
    *to = slot ? slot->text : (struct region_text){0, 0};
    return slot || !text || !*text;
}

static bool names_same(const struct region_name *a, const struct region_name *b) {
    return a->kind == b->kind && a->domain == b->domain && a->key == b->key &&
           a->what.at == b->what.at;
}

static bool says_same(const struct region_name *a, const struct region_name *b) {
    return a->text.at == b->text.at && a->json.at == b->json.at;
}

// The slot of what is named: the number + 1 of its entry, or 0.
static uint32_t *name_slot(const struct region_name *name) {
    uint64_t key[3] = {(uint64_t)name->kind << 32 | name->domain, name->key, name->what.at};
    uint64_t i = hash_bytes((const char *)key, sizeof(key), 0xcbf29ce484222325u);
    while (catalog.names[i & (SLOTS - 1)] &&
           !names_same(&catalog.tables.names[catalog.names[i & (SLOTS - 1)] - 1], name)) {
        i++;
    }
    return &catalog.names[i & (SLOTS - 1)];
}

static void set_name(const struct region_name *name) {
    uint32_t *slot = name_slot(name);
    uint32_t number = *slot ? *slot - 1 : catalog.name_count;
    struct region_name *entry = &catalog.tables.names[number];
    if (number == REGION_NAMES || (*slot && says_same(entry, name))) {
        return;
    }
    put_name(entry, name);
    if (has_copy() && copy_name(number) < 0) {
        return;
    }
    if (!*slot) {
        *slot = number + 1;
        catalog.name_count++;
        publish();
    }
    atomic_fetch_add(&catalog.version, 1);
}

void catalog_name(enum name_kind kind, uint32_t domain, uint64_t key, const char *what,
                  const char *text, const char *json) {
    struct region_name name = {.kind = (uint16_t)kind, .domain = (uint16_t)domain, .key = key};
    catalog_lock();
    if (intern(what, RECORD_TEXT_MAX, &name.what) && intern(text, RECORD_TEXT_MAX, &name.text) &&
        intern(json, RECORD_JSON_MAX, &name.json)) {
        set_name(&name);
    }
    catalog_unlock();
}
