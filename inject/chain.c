// SPDX-License-Identifier: Apache-2.0
//
// The library behind us is given a function that finds tables, as a program gives it to us. The
// tables point to slots of ours, which are NULL until it writes them and which every call reads.
// When it refuses, what it wrote is taken out again; it stays mapped, for a call of another thread
// may still be in it.
#include "inject/chain.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "inject/handles.h"
#include "lib/private.h"

#define OUR_FILE "libnvtxt-inject.so"
#define EXTENSIONS 8u                        // module numbers that may come
#define UNRECORDED_FIRST (UINT64_C(1) << 63) // ids of ranges that were not recorded

abi_function chain_slots[ABI_MODULES][ABI_SLOTS_MOST];

static abi_function *slot_pointers[ABI_MODULES][ABI_SLOTS_MOST + 1];
static _Atomic bool is_loaded;
static abi_initialize_extension initialize_extension;
static struct {
    _Atomic bool asked;
    intptr_t slots[ABI_EXTENSION_SLOTS];
} extensions[EXTENSIONS];
static struct pairs ranges;

_Static_assert(ABI_CORE_COUNT <= ABI_SLOTS_MOST && ABI_CORE2_COUNT <= ABI_SLOTS_MOST &&
                   ABI_CUDA_COUNT <= ABI_SLOTS_MOST && ABI_CUDART_COUNT <= ABI_SLOTS_MOST &&
                   ABI_OPENCL_COUNT <= ABI_SLOTS_MOST && ABI_SYNC_COUNT <= ABI_SLOTS_MOST,
               "all callbacks have slots");

// ---- What it sees -------------------------------------------------------------------------------

static int get_slots(uint32_t module, abi_function ***slots, unsigned *count) {
    if (abi_count(module) == 0) {
        return 0;
    }
    if (slots) {
        *slots = slot_pointers[module];
    }
    if (count) {
        *count = abi_count(module);
    }
    return 1;
}

static void set_tool_version(uint32_t version) {
    (void)version;
}

static const void *get_export(uint32_t table) {
    static const struct abi_callbacks callbacks = {sizeof(callbacks), get_slots};
    static const struct abi_version version = {sizeof(version), ABI_VERSION, 0, set_tool_version};
    switch (table) {
    case ABI_EXPORT_CALLBACKS:
        return &callbacks;
    case ABI_EXPORT_VERSION:
        return &version;
    default:
        return NULL;
    }
}

static void point_to_slots(void) {
    for (unsigned module = ABI_CORE; module < ABI_MODULES; module++) {
        for (unsigned i = 1; i < abi_count(module); i++) {
            slot_pointers[module][i] = &chain_slots[module][i];
        }
    }
}

static void empty_slots(void) {
    for (unsigned module = 0; module < ABI_MODULES; module++) {
        for (unsigned i = 0; i < ABI_SLOTS_MOST; i++) {
            __atomic_store_n(&chain_slots[module][i], (abi_function)NULL, __ATOMIC_RELAXED);
        }
    }
}

// ---- Loading ------------------------------------------------------------------------------------

// What dlerror() says, without the path, which the line names already.
static const char *loader_reason(const char *path) {
    const char *text = dlerror();
    size_t len = strlen(path);
    if (!text) {
        return "it cannot be loaded";
    }
    return strncmp(text, path, len) == 0 && strncmp(text + len, ": ", 2) == 0 ? text + len + 2
                                                                              : text;
}

static const char *name_in_file(void *library) {
    struct link_map *map = NULL;
    const char *texts = NULL;
    size_t name = 0;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || !map) {
        return "";
    }
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_SONAME) {
            name = entry->d_un.d_val;
        } else if (entry->d_tag == DT_STRTAB) { // some loaders write an address there, some do not
            uintptr_t at = entry->d_un.d_ptr;
            texts = (const char *)(at < map->l_addr ? at + map->l_addr : at);
        }
    }
    return texts && name ? texts + name : "";
}

// A copy of our file under any name is ourselves as well, also when we are linked into the program.
static bool is_ours(void *library, abi_initialize entry, abi_initialize ours) {
    return entry == ours || strcmp(name_in_file(library), OUR_FILE) == 0;
}

// Returns why it does not work; NULL: it does.
static const char *load(const char *path, abi_initialize ours) {
    void *library = dlopen(path, RTLD_LAZY);
    if (!library) {
        return loader_reason(path);
    }
    abi_initialize entry = (abi_initialize)dlsym(library, "InitializeInjectionNvtx2");
    if (!entry) {
        return "it has no InitializeInjectionNvtx2";
    }
    if (is_ours(library, entry, ours)) {
        return "it is this library itself";
    }
    point_to_slots();
    if (!entry(get_export)) {
        empty_slots();
        return "it refused to start";
    }
    initialize_extension =
        (abi_initialize_extension)dlsym(library, "InitializeInjectionNvtxExtension");
    atomic_store(&is_loaded, true);
    return NULL;
}

void chain_load(abi_initialize ours) {
    int saved = errno;
    const char *path = getenv("NVTXT_CHAIN");
    const char *reason = path && *path ? load(path, ours) : NULL;
    if (reason) {
        nvtxt_private_complain("NVTXT_CHAIN=%s: %s; going on without it", path, reason);
    }
    errno = saved;
}

bool chain_is_loaded(void) {
    return atomic_load(&is_loaded);
}

// ---- Extension ----------------------------------------------------------------------------------

void chain_load_extension(const struct abi_extension *module) {
    if (!chain_is_loaded() || !initialize_extension || module->module >= EXTENSIONS ||
        atomic_exchange(&extensions[module->module].asked, true)) {
        return;
    }
    intptr_t *slots = extensions[module->module].slots;
    struct abi_segment segment = {.count = ABI_EXTENSION_SLOTS, .slots = slots};
    struct abi_extension given = {
        .version = module->version,
        .size = sizeof(given),
        .module = module->module,
        .compat = module->compat,
        .segment_count = 1,
        .segments = &segment,
    };
    if (module->size >= sizeof(given)) {
        given.get_export = module->get_export;
        given.info = module->info;
    }
    if (!initialize_extension(&given)) {
        for (size_t i = 0; i < ABI_EXTENSION_SLOTS; i++) {
            __atomic_store_n(&slots[i], 0, __ATOMIC_RELAXED);
        }
    }
}

abi_function chain_find_extension(uint16_t module, unsigned callback) {
    intptr_t slot = 0;
    if (module < EXTENSIONS && callback < ABI_EXTENSION_SLOTS) {
        slot = __atomic_load_n(&extensions[module].slots[callback], __ATOMIC_ACQUIRE);
    }
    return slot > ABI_SLOT_STATES || slot < 0 ? (abi_function)slot : NULL;
}

// ---- Ranges -------------------------------------------------------------------------------------

// An even number is of a range that was not recorded, and may be that of all such ranges: it is
// replaced by an even one that libnvtxt never reaches.
uint64_t chain_range_put(uint64_t ours, uint64_t its) {
    static _Atomic uint64_t unrecorded = UNRECORDED_FIRST;
    uint64_t id = ours % 2 == 0 ? atomic_fetch_add(&unrecorded, 2) : ours;
    pairs_put(&ranges, id, its);
    return id;
}

bool chain_range_take(uint64_t ours, uint64_t *its) {
    return pairs_take(&ranges, ours, its);
}
