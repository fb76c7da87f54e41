// SPDX-License-Identifier: Apache-2.0
//
// NVTX's calls without a domain. Each records, then passes the call on. What the program gets back
// is ours; the ids of ranges are paired with those of the library behind us.
#include <wchar.h>

#include "inject/chain.h"
#include "inject/core/core.h"
#include "inject/text.h"

typedef void (*mark_ex_function)(const struct abi_event *);
typedef uint64_t (*start_ex_function)(const struct abi_event *);
typedef int (*push_ex_function)(const struct abi_event *);
typedef void (*bytes_function)(const char *);
typedef void (*wide_function)(const wchar_t *);

static __attribute__((noinline)) void chain_mark(abi_function next, const struct abi_event *event) {
    struct event_copy copy;
    ((mark_ex_function)next)(event_chained(NULL, event, &copy));
}

static void mark_ex(const struct abi_event *event) {
    event_record(EVENT_MARK, NULL, event);
    abi_function next = chain_find(ABI_CORE, ABI_MARK_EX);
    if (next) {
        chain_mark(next, event);
    }
}

static void mark_a(const char *text) {
    nvtxt_mark(text);
    CHAIN(ABI_CORE, ABI_MARK_A, bytes_function, text);
}

static void mark_w(const wchar_t *text) {
    nvtxt_mark(TEXT_OF_WIDE(text));
    CHAIN(ABI_CORE, ABI_MARK_W, wide_function, text);
}

// ---- Start and end ------------------------------------------------------------------------------

static __attribute__((noinline)) uint64_t chain_start(abi_function next,
                                                      const struct abi_event *event, uint64_t id) {
    struct event_copy copy;
    return chain_range_put(id, ((start_ex_function)next)(event_chained(NULL, event, &copy)));
}

static uint64_t start_ex(const struct abi_event *event) {
    uint64_t id = event_record(EVENT_START, NULL, event);
    abi_function next = chain_find(ABI_CORE, ABI_RANGE_START_EX);
    return next ? chain_start(next, event, id) : id;
}

static uint64_t start_a(const char *text) {
    uint64_t id = nvtxt_start(text);
    abi_function next = chain_find(ABI_CORE, ABI_RANGE_START_A);
    return next ? chain_range_put(id, ((uint64_t(*)(const char *))next)(text)) : id;
}

static uint64_t start_w(const wchar_t *text) {
    uint64_t id = nvtxt_start(TEXT_OF_WIDE(text));
    abi_function next = chain_find(ABI_CORE, ABI_RANGE_START_W);
    return next ? chain_range_put(id, ((uint64_t(*)(const wchar_t *))next)(text)) : id;
}

static void end(uint64_t id) {
    uint64_t its;
    nvtxt_end(id);
    if (chain_is_loaded() && chain_range_take(id, &its)) {
        CHAIN(ABI_CORE, ABI_RANGE_END, void (*)(uint64_t), its);
    }
}

// ---- Push and pop -------------------------------------------------------------------------------

static __attribute__((noinline)) void chain_push(abi_function next, const struct abi_event *event) {
    struct event_copy copy;
    ((push_ex_function)next)(event_chained(NULL, event, &copy));
}

static int push_ex(const struct abi_event *event) {
    int level = (int)event_record(EVENT_PUSH, NULL, event);
    abi_function next = chain_find(ABI_CORE, ABI_RANGE_PUSH_EX);
    if (next) {
        chain_push(next, event);
    }
    return inject_level(level);
}

static int push_a(const char *text) {
    int level = nvtxt_push(text);
    CHAIN(ABI_CORE, ABI_RANGE_PUSH_A, int (*)(const char *), text);
    return inject_level(level);
}

static int push_w(const wchar_t *text) {
    int level = nvtxt_push(TEXT_OF_WIDE(text));
    CHAIN(ABI_CORE, ABI_RANGE_PUSH_W, int (*)(const wchar_t *), text);
    return inject_level(level);
}

static int pop(void) {
    int level = nvtxt_pop();
    CHAIN(ABI_CORE, ABI_RANGE_POP, int (*)(void), );
    return inject_level(level);
}

// ---- Names --------------------------------------------------------------------------------------

static void name_category_a(uint32_t category, const char *name) {
    nvtxt_name_category(NULL, category, name);
    CHAIN(ABI_CORE, ABI_NAME_CATEGORY_A, void (*)(uint32_t, const char *), category, name);
}

static void name_category_w(uint32_t category, const wchar_t *name) {
    nvtxt_name_category(NULL, category, TEXT_OF_WIDE(name));
    CHAIN(ABI_CORE, ABI_NAME_CATEGORY_W, void (*)(uint32_t, const wchar_t *), category, name);
}

static void name_os_thread_a(uint32_t tid, const char *name) {
    naming_thread(tid, name);
    CHAIN(ABI_CORE, ABI_NAME_OS_THREAD_A, void (*)(uint32_t, const char *), tid, name);
}

static void name_os_thread_w(uint32_t tid, const wchar_t *name) {
    naming_thread(tid, TEXT_OF_WIDE(name));
    CHAIN(ABI_CORE, ABI_NAME_OS_THREAD_W, void (*)(uint32_t, const wchar_t *), tid, name);
}

const abi_function core_functions[ABI_CORE_COUNT] = {
    [ABI_MARK_EX] = (abi_function)mark_ex,
    [ABI_MARK_A] = (abi_function)mark_a,
    [ABI_MARK_W] = (abi_function)mark_w,
    [ABI_RANGE_START_EX] = (abi_function)start_ex,
    [ABI_RANGE_START_A] = (abi_function)start_a,
    [ABI_RANGE_START_W] = (abi_function)start_w,
    [ABI_RANGE_END] = (abi_function)end,
    [ABI_RANGE_PUSH_EX] = (abi_function)push_ex,
    [ABI_RANGE_PUSH_A] = (abi_function)push_a,
    [ABI_RANGE_PUSH_W] = (abi_function)push_w,
    [ABI_RANGE_POP] = (abi_function)pop,
    [ABI_NAME_CATEGORY_A] = (abi_function)name_category_a,
    [ABI_NAME_CATEGORY_W] = (abi_function)name_category_w,
    [ABI_NAME_OS_THREAD_A] = (abi_function)name_os_thread_a,
    [ABI_NAME_OS_THREAD_W] = (abi_function)name_os_thread_w,
};
