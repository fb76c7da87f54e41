// SPDX-License-Identifier: Apache-2.0
//
// Two hash tables find threads and started ranges; lists join the ranges of a stack and all ranges.
// A thread stays in its table when its stack is empty, because the next push is likely to come from
// it. When there are many empty ones they are removed: the threads that have open ranges bound the
// table.
#include "protocol/interp/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"

#define USUAL_BYTES                                                                                \
    192 // message, JSON and excerpt of a usual range; such ranges are kept for reuse
#define SPARE_RANGES 16 // kept at most, so an idle source holds little
#define FEW_THREADS 64  // with fewer, empty threads are not removed

struct nvtxt_thread {
    struct nvtxt_hash_node node;
    uint64_t global_tid;
    struct nvtxt_refstr *domain; // NULL: none, or stacks are not by domain
    struct nvtxt_range *top;     // NULL: empty
    uint32_t depth;
};

static void thread_free(struct nvtxt_thread *thread) {
    nvtxt_refstr_unref(thread->domain);
    free(thread);
}

static void free_threads(struct nvtxt_ranges *ranges) {
    for (size_t i = 0; i < ranges->threads.bucket_count; i++) {
        struct nvtxt_hash_node *node = ranges->threads.buckets[i], *next;
        for (; node; node = next) {
            next = node->next;
            thread_free(NVTXT_CONTAINER_OF(node, struct nvtxt_thread, node));
        }
    }
    nvtxt_hash_deinit(&ranges->threads);
}

static void free_list(struct nvtxt_range *range) {
    struct nvtxt_range *newer;
    for (; range; range = newer) {
        newer = range->newer;
        nvtxt_refstr_unref(range->domain_ref);
        free(range);
    }
}

void nvtxt_ranges_deinit(struct nvtxt_ranges *ranges) {
    free_list(ranges->oldest);
    free_list(ranges->spare);
    free_threads(ranges);
    nvtxt_hash_deinit(&ranges->ids);
    *ranges = (struct nvtxt_ranges){0};
}

static bool is_stack(const struct nvtxt_thread *thread, uint64_t global_tid,
                     struct nvtxt_slice domain) {
    return thread->global_tid == global_tid &&
           nvtxt_slice_equal(nvtxt_refstr_slice(thread->domain), domain);
}

static uint64_t hash_of_stack(uint64_t global_tid, struct nvtxt_slice domain) {
    return domain.len > 0 ? nvtxt_hash_pair(global_tid, domain) : nvtxt_hash_number(global_tid);
}

static struct nvtxt_thread *thread_find(struct nvtxt_ranges *ranges, uint64_t global_tid,
                                        struct nvtxt_slice domain) {
    if (ranges->last_thread && is_stack(ranges->last_thread, global_tid, domain)) {
        return ranges->last_thread;
    }
    struct nvtxt_thread *thread;
    NVTXT_HASH_FIND(thread, node, &ranges->threads, hash_of_stack(global_tid, domain),
                    is_stack(thread, global_tid, domain));
    ranges->last_thread = thread ?: ranges->last_thread;
    return thread;
}

static void sweep_threads(struct nvtxt_ranges *ranges) {
    for (size_t i = 0; i < ranges->threads.bucket_count; i++) {
        struct nvtxt_hash_node **at = &ranges->threads.buckets[i];
        while (*at) {
            struct nvtxt_thread *thread = NVTXT_CONTAINER_OF(*at, struct nvtxt_thread, node);
            if (thread->top) {
                at = &(*at)->next;
                continue;
            }
            *at = thread->node.next;
            ranges->threads.count--;
            thread_free(thread);
        }
    }
    ranges->last_thread = NULL;
}

static struct nvtxt_thread *thread_get(struct nvtxt_ranges *ranges, uint64_t global_tid,
                                       struct nvtxt_refstr *domain) {
    struct nvtxt_slice name = nvtxt_refstr_slice(domain);
    struct nvtxt_thread *thread = thread_find(ranges, global_tid, name);
    if (thread) {
        return thread;
    }
    if (ranges->threads.count >= FEW_THREADS && ranges->threads.count >= 2 * ranges->open_threads) {
        sweep_threads(ranges);
    }
    thread = calloc(1, sizeof(*thread));
    if (!thread) {
        return NULL;
    }
    thread->global_tid = global_tid;
    if (nvtxt_hash_add(&ranges->threads, &thread->node, hash_of_stack(global_tid, name)) < 0) {
        free(thread);
        return NULL;
    }
    thread->domain = nvtxt_refstr_ref(domain);
    return ranges->last_thread = thread;
}

// The bytes that a range copies.
static size_t copied_bytes(const struct nvtxt_open_range *range) {
    return range->text.len + range->json.len + range->excerpt.len;
}

size_t nvtxt_ranges_memory(const struct nvtxt_open_range *range) {
    size_t bytes = copied_bytes(range);
    return sizeof(struct nvtxt_range) + (bytes < USUAL_BYTES ? USUAL_BYTES : bytes) +
           range->domain.len;
}

// A range with room for `bytes`; uninitialised but for byte_cap.
static struct nvtxt_range *range_new(struct nvtxt_ranges *ranges, size_t bytes) {
    if (bytes <= USUAL_BYTES && ranges->spare) {
        struct nvtxt_range *range = ranges->spare;
        ranges->spare = range->newer;
        ranges->spare_count--;
        return range;
    }
    size_t cap = bytes < USUAL_BYTES ? USUAL_BYTES : bytes;
    struct nvtxt_range *range = malloc(sizeof(*range) + cap);
    if (range) {
        range->byte_cap = cap;
    }
    return range;
}

static void range_free(struct nvtxt_ranges *ranges, struct nvtxt_range *range) {
    nvtxt_refstr_unref(range->domain_ref);
    range->domain_ref = NULL;
    if (range->byte_cap == USUAL_BYTES && ranges->spare_count < SPARE_RANGES) {
        range->newer = ranges->spare;
        ranges->spare = range;
        ranges->spare_count++;
        return;
    }
    free(range);
}

static struct nvtxt_slice copy_to(char *to, struct nvtxt_slice from) {
    if (from.len > 0) {
        memcpy(to, from.data, from.len);
    }
    return (struct nvtxt_slice){to, from.len};
}

static void range_fill(struct nvtxt_range *range, const struct nvtxt_open_range *attributes,
                       struct nvtxt_refstr *domain) {
    range->view = *attributes;
    range->view.text = copy_to(range->bytes, attributes->text);
    char *at = range->bytes + attributes->text.len;
    range->view.excerpt = copy_to(at, attributes->excerpt);
    range->view.json = copy_to(at + attributes->excerpt.len, attributes->json);
    range->domain_ref = nvtxt_refstr_ref(domain);
    range->view.domain = nvtxt_refstr_slice(domain);
    range->announced = false;
    range->thread = NULL;
    range->below = NULL;
}

static void link_newest(struct nvtxt_ranges *ranges, struct nvtxt_range *range) {
    range->newer = NULL;
    range->older = ranges->newest;
    if (ranges->newest) {
        ranges->newest->newer = range;
    } else {
        ranges->oldest = range;
    }
    ranges->newest = range;
    if (!ranges->unannounced) {
        ranges->unannounced = range;
    }
    range->view.seq = ++ranges->last_seq;
}

static void stack_push(struct nvtxt_ranges *ranges, struct nvtxt_thread *thread,
                       struct nvtxt_range *range) {
    range->thread = thread;
    range->below = thread->top;
    range->view.depth = thread->depth++;
    if (!thread->top) {
        ranges->open_threads++;
    }
    thread->top = range;
}

static int check_push(const struct nvtxt_ranges *ranges, const struct nvtxt_limits *limits,
                      const struct nvtxt_thread *thread) {
    if (thread->depth >= limits->push_depth) {
        return NVTXT_RANGES_TOO_DEEP;
    }
    if (!thread->top && ranges->open_threads >= limits->open_threads) {
        return NVTXT_RANGES_TOO_MANY_THREADS;
    }
    return NVTXT_RANGES_DONE;
}

int nvtxt_ranges_open(struct nvtxt_ranges *ranges, const struct nvtxt_limits *limits,
                      const struct nvtxt_open_range *attributes, struct nvtxt_refstr *domain) {
    if (ranges->bytes + nvtxt_ranges_memory(attributes) > limits->open_bytes) {
        return NVTXT_RANGES_TOO_LARGE;
    }
    bool pushed = attributes->type == NVTXT_EVENT_PUSH_POP;
    struct nvtxt_thread *thread = NULL;
    if (pushed) {
        thread = thread_get(ranges, nvtxt_global_tid(attributes->pid, attributes->tid),
                            ranges->by_domain ? domain : NULL);
        if (!thread) {
            return nvtxt_origin(-ENOMEM);
        }
        int r = check_push(ranges, limits, thread);
        if (r != NVTXT_RANGES_DONE) {
            return r;
        }
    } else if (ranges->ids.count >= limits->open_ranges) {
        return NVTXT_RANGES_TOO_MANY;
    }

    struct nvtxt_range *range = range_new(ranges, copied_bytes(attributes));
    if (!range) {
        return nvtxt_origin(-ENOMEM);
    }
    range_fill(range, attributes, domain);
    if (pushed) {
        stack_push(ranges, thread, range);
    } else if (nvtxt_hash_add(&ranges->ids, &range->node,
                              nvtxt_hash_number((uint64_t)attributes->range_id)) < 0) {
        range_free(ranges, range);
        return nvtxt_origin(-ENOMEM);
    }
    ranges->bytes += nvtxt_ranges_memory(&range->view);
    link_newest(ranges, range);
    return NVTXT_RANGES_DONE;
}

struct nvtxt_range *nvtxt_ranges_top(struct nvtxt_ranges *ranges, uint32_t pid, uint32_t tid,
                                     struct nvtxt_slice domain) {
    domain.len = ranges->by_domain ? domain.len : 0;
    struct nvtxt_thread *thread = thread_find(ranges, nvtxt_global_tid(pid, tid), domain);
    return thread ? thread->top : NULL;
}

struct nvtxt_range *nvtxt_ranges_find(const struct nvtxt_ranges *ranges, int64_t range_id) {
    struct nvtxt_range *range;
    NVTXT_HASH_FIND(range, node, &ranges->ids, nvtxt_hash_number((uint64_t)range_id),
                    range->view.range_id == range_id);
    return range;
}

// An empty stack is kept for the next push, unless the name of its domain takes much memory: only
// what is open counts towards a limit.
static void stack_emptied(struct nvtxt_ranges *ranges, struct nvtxt_thread *thread) {
    ranges->open_threads--;
    if (thread->domain && thread->domain->len > USUAL_BYTES) {
        nvtxt_hash_remove(&ranges->threads, &thread->node);
        ranges->last_thread = NULL;
        thread_free(thread);
    }
}

void nvtxt_ranges_close(struct nvtxt_ranges *ranges, struct nvtxt_range *range) {
    if (!range->thread) {
        nvtxt_hash_remove(&ranges->ids, &range->node);
    } else if (range->thread->top == range) {
        range->thread->top = range->below;
        range->thread->depth--;
        if (!range->thread->top) {
            stack_emptied(ranges, range->thread);
        }
    }
    if (ranges->unannounced == range) {
        ranges->unannounced = range->newer;
    }
    if (range->older) {
        range->older->newer = range->newer;
    } else {
        ranges->oldest = range->newer;
    }
    if (range->newer) {
        range->newer->older = range->older;
    } else {
        ranges->newest = range->older;
    }
    ranges->bytes -= nvtxt_ranges_memory(&range->view);
    range_free(ranges, range);
}

const char *nvtxt_ranges_limit_name(int r) {
    switch (r) {
    case NVTXT_RANGES_TOO_DEEP:
        return "the push depth of a thread";
    case NVTXT_RANGES_TOO_MANY:
        return "the number of open start/end ranges";
    case NVTXT_RANGES_TOO_MANY_THREADS:
        return "the number of threads with open ranges";
    default:
        return "the memory that open ranges may take";
    }
}
