// SPDX-License-Identifier: Apache-2.0
//
// The linker puts the __wrap_ functions in place of the C library's. Atomic counters say which call
// fails. SQLite gets a head of its own before each block, because it asks for the size.
#include "tests/fault/alloc.h"

#include <errno.h>
#include <jansson.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *string);
char *__real_strndup(const char *string, size_t most);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);
char *__wrap_strdup(const char *string);
char *__wrap_strndup(const char *string, size_t most);
void __wrap_free(void *memory);

static atomic_uint left, every, count;
static atomic_bool lasting_fault, struck;
static atomic_long live;

void alloc_arm(unsigned n, bool lasting) {
    atomic_store(&struck, false);
    atomic_store(&lasting_fault, lasting);
    atomic_store(&left, n);
}

void alloc_arm_every(unsigned n) {
    atomic_store(&every, n);
}

long alloc_live(void) {
    return atomic_load(&live);
}

unsigned alloc_each(unsigned stride, bool lasting, int (*act)(const void *context),
                    void (*check)(const void *context, int result), const void *context) {
    unsigned n = 1;
    for (bool failed = true; failed; n += stride) {
        long before = alloc_live();
        alloc_arm(n, lasting);
        int r = act(context);
        failed = atomic_load(&struck);
        alloc_arm(0, false);
        if ((r != 0 && (r != -ENOMEM || !failed)) || alloc_live() != before) {
            printf("# allocation %u: result %d, %ld left\n", n, r, alloc_live() - before);
            exit(1);
        }
        check(context, r);
    }
    return n - stride;
}

static bool strikes(void) {
    unsigned period = atomic_load(&every);
    if (period && atomic_fetch_add(&count, 1) % period == period - 1) {
        return true;
    }
    if (atomic_load(&left) > 0 && atomic_fetch_sub(&left, 1) == 1) {
        atomic_store(&struck, true);
        return true;
    }
    return atomic_load(&struck) && atomic_load(&lasting_fault);
}

static void *counted(void *memory) {
    if (memory) {
        atomic_fetch_add(&live, 1);
    }
    return memory;
}

void *__wrap_malloc(size_t size) {
    return strikes() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t number, size_t size) {
    return strikes() ? NULL : counted(__real_calloc(number, size));
}

void *__wrap_realloc(void *old, size_t size) {
    if (strikes()) {
        return NULL;
    }
    void *memory = __real_realloc(old, size);
    return old ? memory : counted(memory);
}

void *__wrap_reallocarray(void *old, size_t number, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(number, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return __wrap_realloc(old, bytes);
}

char *__wrap_strdup(const char *string) {
    return strikes() ? NULL : counted(__real_strdup(string));
}

char *__wrap_strndup(const char *string, size_t most) {
    return strikes() ? NULL : counted(__real_strndup(string, most));
}

void __wrap_free(void *memory) {
    if (memory) {
        atomic_fetch_sub(&live, 1);
    }
    __real_free(memory);
}

// ---- SQLite ------------------------------------------------------------------------------------

#define HEAD 16 // SQLite asks for the size of what it allocated

static void *sql_malloc(int size) {
    char *memory = __wrap_malloc((size_t)size + HEAD);
    if (!memory) {
        return NULL;
    }
    memcpy(memory, &size, sizeof(size));
    return memory + HEAD;
}

static void sql_free(void *memory) {
    __wrap_free(memory ? (char *)memory - HEAD : NULL);
}

static void *sql_realloc(void *old, int size) {
    char *memory = __wrap_realloc((char *)old - HEAD, (size_t)size + HEAD);
    if (!memory) {
        return NULL;
    }
    memcpy(memory, &size, sizeof(size));
    return memory + HEAD;
}

static int sql_size(void *memory) {
    int size;
    memcpy(&size, (char *)memory - HEAD, sizeof(size));
    return size;
}

static int sql_roundup(int size) {
    return (size + 7) & ~7;
}

static int sql_init(void *context) {
    (void)context;
    return SQLITE_OK;
}

static void sql_shutdown(void *context) {
    (void)context;
}

// libuv grows its table of descriptors with realloc, and ends the process when it cannot: that one
// call does not fail.
static void *uv_grow(void *old, size_t size) {
    void *memory = __real_realloc(old, size);
    return old ? memory : counted(memory);
}

void alloc_install(void) {
    static const sqlite3_mem_methods sql = {
        .xMalloc = sql_malloc,
        .xFree = sql_free,
        .xRealloc = sql_realloc,
        .xSize = sql_size,
        .xRoundup = sql_roundup,
        .xInit = sql_init,
        .xShutdown = sql_shutdown,
    };
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &sql) != SQLITE_OK) {
        abort();
    }
    json_set_alloc_funcs(__wrap_malloc, __wrap_free);
    if (uv_replace_allocator(__wrap_malloc, uv_grow, __wrap_calloc, __wrap_free) != 0) {
        abort();
    }
}
