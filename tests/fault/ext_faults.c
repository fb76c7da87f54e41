// SPDX-License-Identifier: Apache-2.0
//
// A program that uses NVTX's extensions, in which the n-th mapping of memory fails, for n = 1, 2, 3
// … until none does: once, or from then on. The program goes on each time: a number that it gets is
// kept or is REGISTRY_LOST, levels are in order, and errno is as it was.
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inject/ext/abi_ext.h"
#include "inject/ext/extension.h"
#include "inject/ext/registry.h"
#include "tests/fault/fault_kit.h"

#define FAIL(...) (printf("# " __VA_ARGS__), puts(""), fflush(stdout), _exit(1))
#define UNTOUCHED 2  // status of a child in which nothing failed
#define MAPPINGS 500 // more than there are
#define CALL(module, callback, type) ((type)extension_##module.functions[callback])

void *__real_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);

static unsigned left;
static bool is_lasting, has_struck;

void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset) {
    bool now = (left > 0 && --left == 0) || (is_lasting && has_struck);
    has_struck = has_struck || now;
    if (now) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return __real_mmap(at, bytes, protection, flags, fd, offset);
}

static void check_number(enum registry_kind kind, uint64_t number, const char *what) {
    if (number != REGISTRY_LOST && !registry_find(kind, NULL, number)) {
        FAIL("the number of a %s is not kept", what);
    }
    if (errno != 77) {
        FAIL("a %s changed errno to %d", what, errno);
    }
}

static uint64_t register_all(uint64_t i) {
    static char name[900];
    memset(name, 'n', sizeof(name) - 1);
    const struct abi_entry entries[] = {{.type = ABI_TYPE_INT64, .name = name, .offset = i * 8},
                                        {.type = ABI_TYPE_STRING, .name = name, .detail = 1200}};
    const struct abi_schema schema = {
        .fields = UINT64_MAX, .type = ABI_SCHEMA_STATIC, .entries = entries, .count = 2};
    uint64_t id = CALL(payload, ABI_PAYLOAD_SCHEMA_REGISTER,
                       uint64_t(*)(void *, const void *))(NULL, &schema);
    check_number(REGISTRY_SCHEMA, id, "schema");
    const struct abi_scope scope = {sizeof(scope), name, 0, 0};
    check_number(
        REGISTRY_SCOPE,
        CALL(payload, ABI_PAYLOAD_SCOPE_REGISTER, uint64_t(*)(void *, const void *))(NULL, &scope),
        "scope");
    const struct abi_counter counter = {.size = sizeof(counter), .name = name, .description = name};
    uint64_t number =
        CALL(counters, ABI_COUNTER_REGISTER, uint64_t(*)(void *, const void *))(NULL, &counter);
    check_number(REGISTRY_COUNTER, number, "counter");
    CALL(counters, ABI_COUNTER_SAMPLE_I64, void (*)(void *, uint64_t, int64_t))(NULL, number, 1);
    return id;
}

static void send(uint64_t schema) {
    static char data[2048];
    memset(data, 'x', sizeof(data));
    const struct abi_payload payload = {schema, sizeof(data), data};
    typedef int (*range)(void *, const struct abi_payload *, size_t);
    int level = CALL(payload, ABI_PAYLOAD_RANGE_PUSH, range)(NULL, &payload, 1);
    int end = CALL(payload, ABI_PAYLOAD_RANGE_POP, range)(NULL, &payload, 1);
    if (level != end && (level >= 0 || end != ABI_NONE_OPEN)) {
        FAIL("a push returned %d and its pop %d", level, end);
    }
}

static void use_memory(void) {
    CALL(mem, ABI_MEM_HEAP_REGISTER, void *(*)(void *, const void *))(NULL, NULL);
    void *handles[3] = {NULL};
    const struct abi_regions regions = {.size = sizeof(regions), .count = 3, .handles = handles};
    CALL(mem, ABI_MEM_REGIONS_REGISTER, void (*)(void *, const void *))(NULL, &regions);
    CALL(mem, ABI_MEM_PERMISSIONS_CREATE, void *(*)(void *, int32_t))(NULL, 0);
}

static void run(unsigned n) {
    left = n;
    errno = 77;
    for (uint64_t i = 0; i < 60; i++) {
        send(register_all(i));
        use_memory();
        if (errno != 77) {
            FAIL("errno became %d", errno);
        }
    }
    fflush(stdout);
    _exit(has_struck ? 0 : UNTOUCHED);
}

int main(void) {
#ifdef __SANITIZE_THREAD__
    puts("ThreadSanitizer does not know threads in a child");
    return 77;
#endif
    setenv("NVTXT_SOCKET", "/nonexistent/socket", 1);
    setenv("NVTXT_EXIT_WAIT", "0", 1);
    for (int lasting = 0; lasting < 2; lasting++) {
        is_lasting = lasting;
        int status = 0;
        unsigned n = 1, stride = fault_stride(1, 9);
        for (; n < MAPPINGS && status == 0; n += stride) {
            pid_t child = fork();
            if (child == 0) {
                run(n);
            }
            if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
                printf("mapping %u: the program was killed\n", n);
                return 1;
            }
            status = WEXITSTATUS(status);
        }
        n -= stride;
        printf("# %u mappings, every %u. fails\n", n - 1, stride);
        fflush(stdout);
        if (status != UNTOUCHED || n < 5) {
            printf("mapping %u: status %d\n", n, status);
            return 1;
        }
    }
    return 0;
}
