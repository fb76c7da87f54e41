// SPDX-License-Identifier: Apache-2.0
//
// NVTX's calls about locks that a program makes itself. Waiting for one is a range `acquire NAME`,
// having it `hold NAME`. Several threads may do both at once with one lock, so the open range is
// found by the lock's number and the thread; a lock that another thread releases than the one that
// got it is released for that one.
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "inject/chain.h"
#include "inject/core/core.h"
#include "inject/text.h"

struct sync {
    const struct inject_domain *domain;
    const struct inject_string *acquire, *hold; // what the ranges are called
    uint32_t number;
    _Atomic uint32_t holder; // the thread that got it last
    void *chained;
};

static struct pairs acquires, holds; // number << 32 | thread: id of the range
static _Atomic uint32_t last_number;

static const struct inject_string *title(const char *verb, const char *name) {
    size_t len = strlen(name), verb_len = strlen(verb) - (len == 0); // without a name no space
    len = len <= TEXT_BYTES_MOST ? len : TEXT_BYTES_MOST;
    char *text = __builtin_alloca(verb_len + len + 1);
    memcpy(text, verb, verb_len);
    memcpy(text + verb_len, name, len);
    text[verb_len + len] = '\0';
    return inject_string_new(text, false);
}

static const struct abi_sync *chained_attributes(const struct abi_sync *sync,
                                                 struct abi_sync *copy) {
    if (!sync || !ABI_HAS(sync, message) || sync->message_type != ABI_MESSAGE_REGISTERED) {
        return sync;
    }
    *copy = *sync;
    copy->size = sizeof(*copy);
    copy->message = text_chained(sync->message_type, sync->message);
    return copy;
}

static struct sync *new_sync(const struct inject_domain *domain, const struct abi_sync *from) {
    struct sync *sync = inject_alloc(sizeof(*sync));
    if (!sync) {
        return NULL;
    }
    const char *name = NULL;
    if (from && ABI_HAS(from, message)) {
        name = TEXT_OF(from->message_type, from->message);
    }
    sync->domain = domain;
    sync->acquire = title("acquire ", name ?: "");
    sync->hold = title("hold ", name ?: "");
    sync->number = atomic_fetch_add(&last_number, 1) + 1;
    return sync;
}

static struct sync *create(const struct inject_domain *domain, const struct abi_sync *from) {
    struct sync *sync = new_sync(domain, from);
    abi_function next = chain_find(ABI_SYNC, ABI_SYNC_CREATE);
    if (next) {
        struct abi_sync copy;
        void *its = ((void *(*)(void *, const struct abi_sync *))next)(
            inject_domain_chained(domain), chained_attributes(from, &copy));
        if (sync) {
            sync->chained = its;
        }
    }
    return sync;
}

// ---- Ranges -------------------------------------------------------------------------------------

static uint64_t key_of(const struct sync *sync, uint32_t tid) {
    return (uint64_t)sync->number << 32 | tid;
}

static void start(struct pairs *open, const struct sync *sync, const struct inject_string *text) {
    if (!text) {
        return;
    }
    struct nvtxt_attr attr = {.size = sizeof(attr), .message = text->text, .string = text->string};
    uint64_t id = nvtxt_start_ex(inject_domain_of(sync->domain), &attr);
    if (!pairs_put(open, key_of(sync, (uint32_t)gettid()), id)) {
        nvtxt_end(id);
    }
}

static bool end(struct pairs *open, const struct sync *sync, uint32_t tid) {
    uint64_t id;
    bool found = pairs_take(open, key_of(sync, tid), &id);
    if (found) {
        nvtxt_end(id);
    }
    return found;
}

static void chain(unsigned callback, const struct sync *sync) {
    CHAIN(ABI_SYNC, callback, void (*)(void *), sync ? sync->chained : NULL);
}

static void acquire_start(struct sync *sync) {
    if (sync) {
        end(&acquires, sync, (uint32_t)gettid()); // one that was not said to have ended
        start(&acquires, sync, sync->acquire);
    }
    chain(ABI_SYNC_ACQUIRE_START, sync);
}

static void acquire_failed(struct sync *sync) {
    if (sync) {
        end(&acquires, sync, (uint32_t)gettid());
    }
    chain(ABI_SYNC_ACQUIRE_FAILED, sync);
}

static void acquire_success(struct sync *sync) {
    if (sync) {
        uint32_t tid = (uint32_t)gettid();
        end(&acquires, sync, tid);
        start(&holds, sync, sync->hold);
        atomic_store(&sync->holder, tid);
    }
    chain(ABI_SYNC_ACQUIRE_SUCCESS, sync);
}

static void releasing(struct sync *sync) {
    if (sync && !end(&holds, sync, (uint32_t)gettid())) {
        end(&holds, sync, atomic_load(&sync->holder));
    }
    chain(ABI_SYNC_RELEASING, sync);
}

static void destroy(struct sync *sync) {
    chain(ABI_SYNC_DESTROY, sync);
}

const abi_function sync_functions[ABI_SYNC_COUNT] = {
    [ABI_SYNC_CREATE] = (abi_function)create,
    [ABI_SYNC_DESTROY] = (abi_function)destroy,
    [ABI_SYNC_ACQUIRE_START] = (abi_function)acquire_start,
    [ABI_SYNC_ACQUIRE_FAILED] = (abi_function)acquire_failed,
    [ABI_SYNC_ACQUIRE_SUCCESS] = (abi_function)acquire_success,
    [ABI_SYNC_RELEASING] = (abi_function)releasing,
};
