// SPDX-License-Identifier: Apache-2.0
//
// Texts are interned: one table from bytes to their place, with open addressing, serves strings,
// domains and names alike. The two tables of hash values double when they are half full, so that a
// program with few names takes few pages; all other memory is reserved once as address space and
// taken by the kernel page by page.
#include "lib/ring/catalog.h"

#include <pthread.h>
#include <sys/mman.h>

#include "protocol/base/origin.h"
#include "protocol/base/slice.h"

#define STRING_TEXT_BYTES (16u << 20) // beyond this, texts are kept only for domains and names
#define FIRST_BYTES 4096u             // of a table of hash values

struct text_slot { // what stands for a text; 0: nothing
    struct region_text text;
    uint32_t string, domain; // number + 1
};

struct slots { // of text_slot, or of the number + 1 of a name's entry
    void *at;
    uint32_t size, used; // a power of two, or 0
};

static struct {
    pthread_mutex_t lock;
    struct region_tables tables;
    struct slots texts, names;
    struct nvtxt_domain *domain_handles;
    struct nvtxt_string *string_handles;
    uint64_t text_bytes;
    uint32_t strings, domain_count, name_count;
    struct region *region;
    bool (*is_excluded)(const char *name);
    _Atomic uint64_t version;
} catalog = {.lock = PTHREAD_MUTEX_INITIALIZER, .domain_count = 1};

struct nvtxt_domain catalog_no_domain = {0, DOMAIN_UNDECIDED};

static struct nvtxt_domain excluded_domain = {0, DOMAIN_EXCLUDED}; // of those beyond the table

static void *reserve(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static bool reserve_all(void) {
    struct region_tables *tables = &catalog.tables;
    return (tables->strings = reserve(REGION_STRINGS * sizeof(*tables->strings))) &&
           (tables->domains = reserve(REGION_DOMAINS * sizeof(*tables->domains))) &&
           (tables->names = reserve(REGION_NAMES * sizeof(*tables->names))) &&
           (tables->text = reserve(REGION_TEXT_BYTES)) &&
           (catalog.domain_handles = reserve(REGION_DOMAINS * sizeof(*catalog.domain_handles))) &&
           (catalog.string_handles = reserve(REGION_STRINGS * sizeof(*catalog.string_handles)));
}

static void give_back(void *memory, size_t bytes) {
    if (memory) {
        munmap(memory, bytes);
    }
}

int catalog_init(void) {
    catalog_lock();
    if (!catalog.string_handles && !reserve_all()) {
        struct region_tables *tables = &catalog.tables;
        give_back(tables->strings, REGION_STRINGS * sizeof(*tables->strings));
        give_back(tables->domains, REGION_DOMAINS * sizeof(*tables->domains));
        give_back(tables->names, REGION_NAMES * sizeof(*tables->names));
        give_back(tables->text, REGION_TEXT_BYTES);
        give_back(catalog.domain_handles, REGION_DOMAINS * sizeof(*catalog.domain_handles));
        catalog.tables = (struct region_tables){0};
        catalog.domain_handles = NULL;
    }
    int r = catalog.string_handles ? 0 : nvtxt_origin(-ENOMEM);
    catalog_unlock();
    return r;
}

void catalog_set_filter(bool (*is_excluded)(const char *name)) {
    catalog.is_excluded = is_excluded;
}

bool catalog_decide(void) {
    uint8_t state = atomic_load_explicit(&catalog_no_domain.state, memory_order_relaxed);
    if (state == DOMAIN_UNDECIDED && catalog.is_excluded) {
        state = catalog.is_excluded("default") ? DOMAIN_EXCLUDED : DOMAIN_RECORDED;
        atomic_store_explicit(&catalog_no_domain.state, state, memory_order_relaxed);
    }
    return state == DOMAIN_EXCLUDED;
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
    return catalog.region && catalog.region->is_file;
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

static void put_u16(uint16_t *to, uint16_t value) {
    __atomic_store_n(to, value, __ATOMIC_RELAXED);
}

static void put_u64(uint64_t *to, uint64_t value) {
    __atomic_store_n(to, value, __ATOMIC_RELAXED);
}

static void put_text(struct region_text *to, struct region_text value) {
    __atomic_store_n(&to->at, value.at, __ATOMIC_RELAXED);
    __atomic_store_n(&to->len, value.len, __ATOMIC_RELAXED);
}

// Fills an entry that the sender may be reading.
static void put_name(struct region_name *to, const struct region_name *from) {
    uint32_t version = atomic_load_explicit(&to->version, memory_order_relaxed);
    atomic_store_explicit(&to->version, version + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    put_u16(&to->kind, from->kind);
    put_u16(&to->domain, from->domain);
    put_u64(&to->key, from->key);
    put_text(&to->what, from->what);
    put_text(&to->text, from->text);
    put_text(&to->json, from->json);
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

// `is_child`: names of threads are the parent's, and say nothing here.
static int copy_all(bool is_child) {
    int r = copy_text(0, catalog.text_bytes);
    for (uint32_t i = 0; r == 0 && i < catalog.strings; i++) {
        r = copy_string(i);
    }
    for (uint32_t i = 1; r == 0 && i < catalog.domain_count; i++) {
        r = copy_domain(i);
    }
    for (uint32_t i = 0; r == 0 && i < catalog.name_count; i++) {
        r = copy_name(i);
        if (r == 0 && is_child && catalog.tables.names[i].kind == NAME_THREAD) {
            struct region_name *copy = &catalog.region->names[i];
            copy->sent[0].version = atomic_load(&copy->version);
        }
    }
    return r;
}

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
    if (!region->is_file) {
        region_borrow(region, &catalog.tables);
    } else if ((r = copy_all(is_child)) < 0) {
        catalog.region = NULL;
    }
    publish();
    atomic_fetch_add(&catalog.version, 1);
    return r;
}

// ---- Texts --------------------------------------------------------------------------------------

static bool is_text(struct region_text text, const char *data, size_t len) {
    return text.len == len && memcmp(catalog.tables.text + text.at, data, len) == 0;
}

static struct text_slot *find_text(const struct slots *slots, const char *data, size_t len) {
    struct text_slot *all = slots->at, *slot;
    uint64_t i = hash_bytes(data, len, HASH_START);
    while ((slot = &all[i & (slots->size - 1)])->text.at && !is_text(slot->text, data, len)) {
        i++;
    }
    return slot;
}

// Has room for one more, half of the slots being empty then. Returns false without memory, or when
// `most` are used.
static bool grow_slots(struct slots *slots, size_t entry, uint32_t most,
                       void (*move)(const struct slots *from, const struct slots *to)) {
    if (slots->used < slots->size / 2 || slots->used >= most) {
        return slots->used < most;
    }
    struct slots larger = *slots;
    larger.size = slots->size ? 2 * slots->size : FIRST_BYTES / (uint32_t)entry;
    larger.at = reserve(larger.size * entry);
    if (!larger.at) {
        return false;
    }
    move(slots, &larger);
    give_back(slots->at, slots->size * entry);
    *slots = larger;
    return true;
}

static void move_texts(const struct slots *from, const struct slots *to) {
    const struct text_slot *all = from->at;
    for (uint32_t i = 0; i < from->size; i++) {
        if (all[i].text.at) {
            *find_text(to, catalog.tables.text + all[i].text.at, all[i].text.len) = all[i];
        }
    }
}

// The slot of a text, which is added when it is new. NULL: no room for it below `most`.
static struct text_slot *text_slot(const char *data, size_t len, uint64_t most) {
    struct text_slot *slot = catalog.texts.size ? find_text(&catalog.texts, data, len) : NULL;
    if (slot && slot->text.at) {
        return slot;
    }
    uint64_t at = catalog.text_bytes ?: 1; // 0: no text
    if (at + len > most ||
        !grow_slots(&catalog.texts, sizeof(*slot), 4 * REGION_STRINGS, move_texts)) {
        return NULL;
    }
    memcpy(catalog.tables.text + at, data, len);
    if (has_copy() && copy_text(at, at + len) < 0) {
        return NULL;
    }
    slot = find_text(&catalog.texts, data, len);
    slot->text = (struct region_text){(uint32_t)at, (uint32_t)len};
    catalog.text_bytes = at + len + (len == 0); // each text has a place of its own
    catalog.texts.used++;
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
        return excluded ? &excluded_domain : NULL;
    }
    catalog.tables.domains[number] = slot->text;
    if (has_copy() && copy_domain(number) < 0) {
        return excluded ? &excluded_domain : NULL;
    }
    catalog.domain_handles[number].number = number;
    atomic_init(&catalog.domain_handles[number].state,
                excluded ? DOMAIN_EXCLUDED : DOMAIN_RECORDED);
    slot->domain = number + 1;
    catalog.domain_count++;
    publish();
    return &catalog.domain_handles[number];
}

struct nvtxt_domain *catalog_domain(const char *name) {
    bool excluded = catalog.is_excluded && catalog.is_excluded(name);
    catalog_lock();
    struct text_slot *slot = text_slot(name, text_len(name, RECORD_TEXT_MAX), REGION_TEXT_BYTES);
    struct nvtxt_domain *domain = !slot          ? (excluded ? &excluded_domain : NULL)
                                  : slot->domain ? &catalog.domain_handles[slot->domain - 1]
                                                 : add_domain(slot, excluded);
    catalog_unlock();
    return domain;
}

// NULL: the tables are full.
static struct nvtxt_string *add_string(struct text_slot *slot) {
    uint32_t number = catalog.strings;
    if (number == REGION_STRINGS) {
        return NULL;
    }
    catalog.tables.strings[number] = slot->text;
    if (has_copy() && copy_string(number) < 0) {
        return NULL;
    }
    catalog.string_handles[number] =
        (struct nvtxt_string){number, slot->text.len, catalog.tables.text + slot->text.at, 0, NULL};
    slot->string = number + 1;
    catalog.strings++;
    publish();
    return &catalog.string_handles[number];
}

struct nvtxt_string *catalog_string(const char *text) {
    size_t len = text_len(text, RECORD_TEXT_MAX);
    catalog_lock();
    struct nvtxt_string *string = more_strings_find(text, len);
    struct text_slot *slot = string ? NULL : text_slot(text, len, STRING_TEXT_BYTES);
    if (slot) {
        string = slot->string ? &catalog.string_handles[slot->string - 1] : add_string(slot);
    }
    string = string ?: more_strings_add(text, len);
    catalog_unlock();
    return string;
}

// ---- Names --------------------------------------------------------------------------------------

static bool intern(const char *text, size_t most, struct region_text *to) {
    struct text_slot *slot =
        text && *text ? text_slot(text, text_len(text, most), REGION_TEXT_BYTES) : NULL;
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
static uint32_t *find_name(const struct slots *slots, const struct region_name *name) {
    uint64_t key[3] = {(uint64_t)name->kind << 32 | name->domain, name->key, name->what.at};
    uint64_t i = hash_bytes((const char *)key, sizeof(key), HASH_START);
    uint32_t *all = slots->at, *slot;
    while (*(slot = &all[i & (slots->size - 1)]) &&
           !names_same(&catalog.tables.names[*slot - 1], name)) {
        i++;
    }
    return slot;
}

static void move_names(const struct slots *from, const struct slots *to) {
    const uint32_t *all = from->at;
    for (uint32_t i = 0; i < from->size; i++) {
        if (all[i]) {
            *find_name(to, &catalog.tables.names[all[i] - 1]) = all[i];
        }
    }
}

static void change_name(uint32_t number, const struct region_name *name) {
    struct region_name *entry = &catalog.tables.names[number];
    if (!says_same(entry, name)) {
        put_name(entry, name);
        if (!has_copy() || copy_name(number) == 0) {
            atomic_fetch_add(&catalog.version, 1);
        }
    }
}

static void set_name(const struct region_name *name) {
    uint32_t *slot = catalog.names.size ? find_name(&catalog.names, name) : NULL;
    if (slot && *slot) {
        change_name(*slot - 1, name);
        return;
    }
    uint32_t number = catalog.name_count;
    if (!grow_slots(&catalog.names, sizeof(*slot), REGION_NAMES, move_names)) {
        return;
    }
    put_name(&catalog.tables.names[number], name);
    if (has_copy() && copy_name(number) < 0) {
        return;
    }
    *find_name(&catalog.names, name) = number + 1;
    catalog.names.used++;
    catalog.name_count++;
    publish();
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

// `what` makes it another name than that which the program gives, which is said after it.
void catalog_name_thread(uint32_t tid, const char *text) {
    struct region_name name = {.kind = NAME_THREAD, .key = tid};
    catalog_lock();
    bool is_named = catalog.names.size && *find_name(&catalog.names, &name);
    if (!is_named && catalog.name_count < REGION_NAMES / 2 &&
        intern("system", RECORD_TEXT_MAX, &name.what) &&
        intern(text, RECORD_TEXT_MAX, &name.text)) {
        set_name(&name);
    }
    catalog_unlock();
}

void catalog_name_counter(uint32_t domain, const struct nvtxt_string *counter) {
    struct region_name name = {.kind = NAME_COUNTER, .domain = (uint16_t)domain};
    catalog_lock();
    const struct text_slot *slot = text_slot(counter->text, counter->len, REGION_TEXT_BYTES);
    if (slot) {
        name.what = name.text = slot->text;
        if (!catalog.names.size || !*find_name(&catalog.names, &name)) {
            set_name(&name);
        }
    }
    catalog_unlock();
}
