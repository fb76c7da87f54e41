// SPDX-License-Identifier: Apache-2.0
//
// The calls of nvtxt.h that give names and handles. They take the lock of the catalog, which is
// held for moments.
#include <errno.h>
#include <string.h>
#include <unistd.h>

#pragma GCC visibility push(default)
#include "lib/private.h"
#pragma GCC visibility pop

#include "lib/life.h"
#include "lib/options.h"
#include "lib/ring/thread.h"
#include "protocol/base/limits.h"
#include "protocol/lang/names.h"

// Handles can be had before the first event, and in a signal handler not at all: the lock may be
// held by what it interrupted.
static bool catalog_enter(void) {
    if (thread_busy) {
        return false;
    }
    thread_busy = 1;
    recorder_renew_locks();
    options_read();
    recorder_leave_region();
    if (lib_options.is_secure || catalog_init() < 0) {
        thread_busy = 0;
        return false;
    }
    return true;
}

// What is named begins the recording: a program that only names itself is stored as well. A name is
// kept also when that cannot be, for a later time.
static void name(enum name_kind kind, const struct nvtxt_domain *domain, uint64_t key,
                 const char *what, const char *text, const char *json) {
    if (kind >= NAME_CATEGORY && api_is_excluded(domain)) {
        return;
    }
    int saved = errno;
    if (catalog_enter()) {
        catalog_name(kind, domain ? domain->number : 0, key, what, text, json);
        thread_begin_for_name();
        thread_leave();
    } else {
        api_ignore();
    }
    errno = saved;
}

void nvtxt_name_category(struct nvtxt_domain *domain, uint32_t category, const char *text) {
    name(NAME_CATEGORY, domain, category, NULL, text, NULL);
}

void nvtxt_name_thread(uint32_t tid, const char *text) {
    if (tid > NVTXT_ID_MAX) { // no thread of Linux
        api_ignore();
        return;
    }
    name(NAME_THREAD, NULL, tid ?: (uint32_t)gettid(), NULL, text, NULL);
}

void nvtxt_name_process(const char *text) {
    name(NAME_PROCESS, NULL, 0, NULL, text, NULL);
}

// As the daemon takes it: letters, digits and underscores, no digit first.
static bool is_word(const char *kind) {
    size_t len =
        kind ? strspn(kind, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") : 0;
    return len > 0 && len <= NVTXT_RESOURCE_KIND_BYTES && !kind[len] &&
           !(kind[0] >= '0' && kind[0] <= '9');
}

void nvtxt_name_resource(struct nvtxt_domain *domain, const char *kind, uint64_t handle,
                         const char *text) {
    if (!is_word(kind)) {
        api_ignore();
        return;
    }
    name(NAME_RESOURCE, domain, handle, kind, text, NULL);
}

uint32_t nvtxt_color(const char *text) {
    uint32_t argb;
    return text && nvtxt_color_parse(nvtxt_slice_of(text), &argb) ? argb : 0;
}

struct nvtxt_domain *nvtxt_domain_get(const char *text) {
    int saved = errno;
    struct nvtxt_domain *domain = NULL;
    if (text && *text && catalog_enter()) {
        domain = catalog_domain(text);
        thread_leave();
    }
    errno = saved;
    return domain;
}

const struct nvtxt_string *nvtxt_string_get(const char *text) {
    int saved = errno;
    struct nvtxt_string *string = NULL;
    if (catalog_enter()) {
        string = catalog_string(text ?: "");
        if (!string) {
            recorder_lose(LOSS_UNSUPPORTED, 1);
        }
        thread_leave();
    }
    errno = saved;
    return string;
}

// Loses nothing silently: what was lost is told also if nothing else is recorded.
void nvtxt_private_unsupported(uint64_t calls) {
    if (thread_busy) {
        recorder_lose(LOSS_UNSUPPORTED, calls);
        return;
    }
    int saved = errno;
    thread_busy = 1;
    recorder_lose(LOSS_UNSUPPORTED, calls);
    thread_begin_for_name();
    thread_leave();
    errno = saved;
}

void nvtxt_private_name_counter(struct nvtxt_domain *domain, const char *counter,
                                const char *json) {
    if (counter && *counter) {
        name(NAME_COUNTER, domain, 0, counter, counter, json);
    }
}

// The string knows the domain that it was sampled in last: the lock is taken when that changes.
void api_name_counter(const struct nvtxt_domain *domain, const struct nvtxt_string *counter) {
    uint32_t number = domain ? domain->number : 0;
    _Atomic uint32_t *named = &((struct nvtxt_string *)counter)->counter_in;
    if (atomic_load_explicit(named, memory_order_relaxed) == number + 1) {
        return;
    }
    int saved = errno;
    if (counter->len > 0 && catalog_enter()) {
        catalog_name_counter(number, counter);
        atomic_store_explicit(named, number + 1, memory_order_relaxed);
        thread_begin_for_name();
        thread_leave();
    }
    errno = saved;
}
