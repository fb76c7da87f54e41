// SPDX-License-Identifier: Apache-2.0
//
// Sessions of roles that ship, which the owner of the schema may have to end: a transaction that
// one leaves open holds up who removes old days.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ship/engine/pg.h"

#define SESSIONS_OLD_MS 60000
#define SESSIONS_MOST 64 // that are watched; any more have their turn when these are gone

struct sessions {
    struct sessions_open {
        int64_t pid;
        char transaction[32]; // its number as the engine has it
        char role[64];
        char host[64];   // "": not known
        int64_t age_ms;  // at least
        int64_t seen_ms; // CLOCK_MONOTONIC, when it was first seen
        bool may_end;
    } open[SESSIONS_MOST];
    size_t count;
};

// Looks at the open transactions of shippers' sessions. Who may not see how old one is learns it by
// looking again later, with the same `sessions`, which begins zeroed. Those that are older than
// SESSIONS_OLD_MS are ended where this role may end them, and left out.
enum failure_class sessions_look(struct pg *pg, const char *schema, struct sessions *sessions);

// Adds to a sentence which transaction is open for the longest time, and what to do about it;
// nothing if there is none of `least_ms`. `before` stands before it.
void sessions_name(const struct sessions *sessions, int64_t least_ms, const char *before,
                   char *sentence, size_t size);

// Adds which transaction is prepared (PREPARE TRANSACTION) for the longest time, and what to do
// about it; nothing if there is none that is old. It keeps its locks, and belongs to no session.
enum failure_class sessions_name_prepared(struct pg *pg, const char *before, char *sentence,
                                          size_t size);

// Ends all sessions of shippers that this role may end: they connect anew. Gives the others.
enum failure_class sessions_renew(struct pg *pg, const char *schema, struct sessions *others);

// Waits for these to end, for a time. Those that are there still are left.
enum failure_class sessions_wait(struct pg *pg, struct sessions *sessions, int64_t most_ms);

// Adds who they are to a sentence.
void sessions_list(const struct sessions *sessions, char *sentence, size_t size);
