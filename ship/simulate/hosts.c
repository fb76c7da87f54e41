// SPDX-License-Identifier: Apache-2.0
//
// A host that is none: its identity, and its row of cursors. A later run goes on with the same
// stores, from where they are.
#include <inttypes.h>
#include <stdio.h>

#include "protocol/base/clock.h"
#include "ship/simulate/inner.h"

#define HOST_SIZE 32
#define STORE_SIZE 40

enum failure_class worker_failed(struct worker *worker, enum failure_class class) {
    if (class && class != FAILURE_MOVED) {
        worker->failure = *pg_failure(worker->pg);
    } else if (class) {
        failure_set(&worker->failure, class, "the cursor of a simulated host was moved");
    }
    return class;
}

static enum failure_class read_cursor(struct worker *worker, const char *store,
                                      struct cursor *cursor) {
    return worker_failed(worker, cursor_read(worker->pg, store, cursor));
}

static enum failure_class add(struct worker *worker, const struct identity *identity,
                              struct cursor *cursor) {
    const struct store_place first = {.segment = 1};
    enum failure_class class =
        cursor_add(worker->pg, worker->run->facts.version, identity, &first, &worker->failure);
    return class ?: read_cursor(worker, identity->store, cursor);
}

static enum failure_class take(struct worker *worker, struct host *host,
                               const struct identity *identity, struct cursor *cursor) {
    const struct run *run = worker->run;
    host->is_leased = true;
    enum failure_class class = lease_take(worker->pg, cursor->store_id, run->self,
                                          run->wishes->lease_ms, identity->host, &worker->failure);
    class = class ?: read_cursor(worker, identity->store, cursor); // it may have moved until then
    return class
               ?: worker_failed(worker, cursor_describe(worker->pg, run->facts.version,
                                                        cursor->store_id, identity));
}

enum failure_class host_bring(struct worker *worker, struct host *host) {
    struct run *run = worker->run;
    uint32_t generation = run->generation;
    int64_t number = host - run->hosts + 1;
    char name[HOST_SIZE], store[STORE_SIZE];
    struct cursor cursor;
    snprintf(name, sizeof(name), "simulated-%" PRId64, number);
    snprintf(store, sizeof(store), UUID_OF_STORES "%012" PRIx64, (uint64_t)number);
    const struct identity identity = {.store = store,
                                      .host = name,
                                      .labels = run->labels.data,
                                      .machine = *run->machine ? run->machine : NULL,
                                      .product = "nvtxt-ship simulate"};
    pg_say_what(worker->pg, "to register a simulated host");
    enum failure_class class = read_cursor(worker, store, &cursor);
    if (class == FAILURE_NONE && cursor.store_id && !cursor.is_ours && run->facts.keeps_owners) {
        class = cursor_refuse(worker->pg, store, &worker->failure);
    }
    if (class == FAILURE_NONE && cursor.store_id == 0) {
        class = add(worker, &identity, &cursor);
    }
    class = class ?: take(worker, host, &identity, &cursor);
    if (class) {
        return class;
    }
    if (host->store_id == 0) {
        run->present++;
        host->first = cursor.place.event_row;
    }
    host->store_id = (int32_t)cursor.store_id;
    host->place = cursor.place;
    host->generation = generation;
    host->renew_ms = nvtxt_monotonic_ms() + run->wishes->lease_ms / 3;
    return FAILURE_NONE;
}

enum failure_class host_give_back(struct worker *worker, struct host *host) {
    enum failure_class class = FAILURE_NONE;
    if (host->is_leased && host->store_id) {
        class =
            worker_failed(worker, lease_give_back(worker->pg, host->store_id, worker->run->self));
    }
    host->is_leased = false;
    return class;
}
