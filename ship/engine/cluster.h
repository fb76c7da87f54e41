// SPDX-License-Identifier: Apache-2.0
//
// A database of several machines (Citus; nvtxt-fleet(7), "SEVERAL MACHINES"): whether this is one,
// and which of its machines. Tables are made and removed on one of them, the coordinator.
#pragma once

#include "ship/engine/pg.h"

// The oldest release that this program was run with.
#define CLUSTER_TRIED "13.0.3"

struct cluster {
    bool has_extension;
    bool can_have_it; // it is installed in the server
    bool is_worker;   // connected to another machine than the coordinator
    bool has_schema;
    bool is_cut;  // the schema's events are on several machines
    bool is_half; // not all of its tables are, or all, but without the keys, which come last
    bool is_old;  // older than CLUSTER_TRIED
    char version[32];
    char coordinator[300]; // NAME:PORT, as the machines know it; "": it is not known
};

// What the database is that `pg` is connected to.
enum failure_class cluster_look(struct pg *pg, struct cluster *cluster);

// Connects to the coordinator, which may be any of the target's hosts. `*pg` is NULL after a
// failure, which is in `failure`. FAILURE_TARGET: it is not among them.
enum failure_class cluster_open(struct pg **pg, const struct pg_settings *settings,
                                struct cluster *cluster, struct failure *failure);

// Whether the extension is there that cuts tables; a sentence says what to run. FAILURE_NO_SCHEMA.
enum failure_class cluster_check(const struct cluster *cluster, struct failure *failure);

// Cuts the tables of the schema, which is of this program's version, one after the other: after a
// break a second call goes on. `shards`: how many parts each has; 0: as the database says.
// `hear`: what is done, while it goes; NULL: nobody wants to know.
enum failure_class cluster_cut(struct pg *pg, const char *schema, int64_t shards,
                               void (*hear)(const char *table, size_t number, size_t count));
