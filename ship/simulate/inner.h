// SPDX-License-Identifier: Apache-2.0
//
// Inside this room: the run, its hosts, and what is measured of it.
#pragma once

#include "ship/engine/cursor.h"
#include "ship/engine/lease.h"
#include "ship/rows/small.h"
#include "ship/simulate/simulate.h"

// ---- Hosts (ship/simulate/hosts.c) --------------------------------------------------------------

struct host {
    int32_t store_id;    // 0: not registered yet
    uint32_t generation; // as of which its place is known; see struct run
    bool is_busy;        // a connection has it
    bool is_leased;      // also when the answer was lost
    bool is_told;        // what does not change was written
    struct store_place place;
    int64_t first;      // event_row when the run began
    int64_t due_ms;     // the next round
    int64_t renew_ms;   // when its lease is renewed
    int64_t changes_ms; // when what changes is written
};

struct measure { // of times in ns; see result.c
    uint32_t counts[40 * 32];
    int64_t count, max;
};

// Servers of this machine; see cpu.c. Each process that listens at a Unix socket is one.
#define SERVERS_MAX 64
struct cpu {
    int64_t servers[SERVERS_MAX];
    size_t count;
    bool is_unknown; // one of them is elsewhere
};

#define REASONS_MAX 16 // reasons of failures that a run tells

struct run {
    const struct simulate_wishes *wishes;
    const struct pg_settings *settings;
    struct schema_facts facts;
    char self[LEASE_HOLDER_SIZE];
    char machine[IDENTITY_MACHINE_SIZE];
    struct nvtxt_buf labels;
    size_t entrances;       // hosts of the target
    struct host *hosts;     // owned
    struct worker *workers; // owned
    // Goes up with each connection that breaks: then what is remembered of places counts for
    // nothing, as the engine may have fallen back.
    uint32_t generation;
    int64_t next;                           // host; of the phase
    int64_t in_rounds;                      // connections that are not behind the rounds yet
    int64_t present;                        // hosts that were registered in this run
    int64_t started_ns, begun_ns, ended_ns; // of the rounds: CLOCK_MONOTONIC; 0: not yet
    int64_t registered_ns;                  // when the last host was; before: started_ns
    int64_t begun_real_ns;
    struct cpu cpu;
    int64_t engine_cpu_ns, own_cpu_ns; // when the rounds began
    bool is_stopped;                   // by a signal, or a failure that does not pass
    bool was_heard;                    // a signal
    struct failure fatal;
    char reasons[REASONS_MAX][FAILURE_SENTENCE]; // those that it has told
    size_t reason_count;
    struct measure rounds, lags;
    struct simulate_result *result;
};

struct worker { // a connection
    struct run *run;
    struct pg *pg; // NULL: not connected
    struct small small;
    struct nvtxt_buf bytes;
    size_t entrance;  // of the target's hosts, the next one
    int64_t delay_ms; // after the last failure; 0: none
    struct failure failure;
};

#define UUID_OF_STORES "6e767478-7473-8000-8000-" // and twelve digits of the host's number

// Takes the connection's failure over; returns `class`.
enum failure_class worker_failed(struct worker *worker, enum failure_class class);

// Registers the host where it is new, and takes its lease; or reads its place anew.
enum failure_class host_bring(struct worker *worker, struct host *host);
enum failure_class host_give_back(struct worker *worker, struct host *host);

// ---- Rounds (ship/simulate/rounds.c) ------------------------------------------------------------

// How many rows the host's store has. Rows are numbered on where the last run ended.
int64_t host_made(const struct run *run, const struct host *host, int64_t now_ns);

// Ships what there is, up to the limits of a round. After a failure the transaction is rolled back.
enum failure_class host_round(struct worker *worker, struct host *host);

// ---- The check (ship/simulate/check.c) ----------------------------------------------------------

// Whether there are only stores of simulated hosts. FAILURE_TARGET: there are others.
enum failure_class check_stores(struct pg *pg, const char *schema, struct failure *failure);

// Looks at each row of the run's hosts.
enum failure_class check_rows(struct pg *pg, struct run *run, struct failure *failure);

// ---- What is measured (ship/simulate/result.c, ship/simulate/cpu.c) -----------------------------

void measure_add(struct measure *measure, int64_t ns);
int64_t measure_quantile(const struct measure *measure, int64_t percent);

void cpu_add_server(struct cpu *cpu, int fd); // the one at the other end of a socket

int64_t cpu_peak_kib(void); // of the memory of this process; 0: it is not known

// What all processes of these servers have used. False: it cannot be known.
bool cpu_of_engine(const struct cpu *cpu, int64_t *ns);

// ---- Fibers (ship/simulate/fibers.c) ------------------------------------------------------------
//
// Several pieces of work that wait in turns, in one thread: each has a stack of its own, and leaves
// it where it would wait, until what it waits for has come. So functions that wait, such as those
// of ship/engine, are called as they are, and many connections are waited for in one poll(2).

// Runs work(context, 0) to work(context, count - 1) until all have returned. Each time that
// `heard_fd` is readable, hear(context) is called, outside of all work, before anybody learns of
// it; then all sleep ends. It says whether to listen on. Returns 0 or a negative errno: nothing was
// run, or poll(2) failed and the work was left where it was. The soft limit of open files is raised
// where it is too low; -EMFILE: the hard one is, too.
struct fibers_plan {
    size_t count;
    void (*work)(void *context, size_t index);
    void *context;
    int heard_fd;
    bool (*hear)(void *context);
};
int fibers_run(const struct fibers_plan *plan);

// How many open files a process must be allowed to have for so many pieces of work.
size_t fibers_descriptors(size_t count);

// For the work: poll(2), of at most two descriptors, while others go on. Returns 0 once `ms` are
// over.
int fibers_poll(struct pollfd *fds, nfds_t count, int ms);

// The same for a time alone. It may end earlier.
void fibers_sleep(int ms);
