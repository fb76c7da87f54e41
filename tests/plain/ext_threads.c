// SPDX-License-Identifier: Apache-2.0
//
// Threads register schemas, scopes and counters and send events of them, all at once and without a
// daemon. Each finds what it registered, numbers are given once, and a table that is full refuses
// what comes and still finds the rest.
#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "inject/ext/abi_ext.h"
#include "inject/ext/extension.h"
#include "inject/ext/registry.h"

#define THREADS 4
#define ROUNDS 500
#define OWN(thread, i) (UINT64_C(0x2000000) + (uint64_t)(thread)*ROUNDS + (uint64_t)(i))

static uint64_t given[THREADS][ROUNDS];

static void must(int condition, const char *what) {
    if (!condition) {
        errx(1, "%s", what);
    }
}

#define CALL(module, callback, type) ((type)extension_##module.functions[callback])

static uint64_t register_schema(uint64_t own, uint64_t offset) {
    const struct abi_entry entry = {.type = ABI_TYPE_INT64, .name = "value", .offset = offset};
    const struct abi_schema schema = {
        .fields = UINT64_MAX, .type = ABI_SCHEMA_STATIC, .entries = &entry, .count = 1, .id = own};
    return CALL(payload, ABI_PAYLOAD_SCHEMA_REGISTER,
                uint64_t(*)(void *, const struct abi_schema *))(NULL, &schema);
}

static void send(uint64_t schema, int64_t value) {
    const struct abi_payload payload = {schema, sizeof(value), &value};
    typedef void (*mark)(void *, const struct abi_payload *, size_t);
    typedef int (*range)(void *, const struct abi_payload *, size_t);
    CALL(payload, ABI_PAYLOAD_MARK, mark)(NULL, &payload, 1);
    CALL(payload, ABI_PAYLOAD_RANGE_PUSH, range)(NULL, &payload, 1);
    CALL(payload, ABI_PAYLOAD_RANGE_POP, range)(NULL, &payload, 1);
}

static void *run(void *number) {
    size_t thread = (size_t)number;
    for (size_t i = 0; i < ROUNDS; i++) {
        uint64_t own = OWN(thread, i);
        must(register_schema(own, 0) == own, "a number of the program's own is kept");
        given[thread][i] = register_schema(0, thread * ROUNDS + i);
        must(register_schema(0, thread * ROUNDS + i) == given[thread][i],
             "what is registered again has its number");
        must(given[thread][i] >= ABI_ID_OURS, "a number of ours is 2^32 or more");
        must(registry_find(REGISTRY_SCHEMA, NULL, own) != NULL, "a schema is found");
        send(given[thread][i], (int64_t)i);
        send(own, (int64_t)i);
        const struct abi_counter counter = {.size = sizeof(counter), .name = "c", .id = own};
        must(CALL(counters, ABI_COUNTER_REGISTER,
                  uint64_t(*)(void *, const struct abi_counter *))(NULL, &counter) == own,
             "a counter is kept");
        CALL(counters, ABI_COUNTER_SAMPLE_I64, void (*)(void *, uint64_t, int64_t))(NULL, own, 1);
    }
    return NULL;
}

static int compare(const void *a, const void *b) {
    uint64_t one = *(const uint64_t *)a, two = *(const uint64_t *)b;
    return (one > two) - (one < two);
}

static void fill(void) {
    static const char thing[] = "scope";
    size_t kept = 0;
    while (registry_put(REGISTRY_SCOPE, NULL, OWN(0, kept), thing)) {
        kept++;
    }
    must(kept == REGISTRY_MOST, "a table takes as many as it says");
    must(!registry_has_room(REGISTRY_SCOPE), "a full table says so");
    must(registry_find(REGISTRY_SCOPE, NULL, OWN(0, 0)) == thing &&
             registry_find(REGISTRY_SCOPE, NULL, OWN(0, kept - 1)) == thing,
         "a full table finds what it has");
    must(!registry_find(REGISTRY_SCOPE, NULL, OWN(0, kept)), "and nothing else");
}

int main(void) {
    pthread_t threads[THREADS];
    setenv("NVTXT_SOCKET", "/nonexistent/socket", 1);
    setenv("NVTXT_EXIT_WAIT", "0", 1);
    for (size_t i = 0; i < THREADS; i++) {
        must(pthread_create(&threads[i], NULL, run, (void *)i) == 0, "a thread");
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    uint64_t *all = given[0];
    qsort(all, (size_t)THREADS * ROUNDS, sizeof(*all), compare);
    for (size_t i = 1; i < (size_t)THREADS * ROUNDS; i++) {
        must(all[i - 1] < all[i], "each number is given once");
    }
    fill();
    puts("schemas, scopes and counters of all threads are found");
    return 0;
}
