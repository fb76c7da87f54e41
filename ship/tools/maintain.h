// SPDX-License-Identifier: Apache-2.0
//
// Keeps the engine at the days that are kept: for a timer on one machine, as the schema's owner.
#pragma once

#include "ship/engine/pg.h"
#include "ship/engine/schema.h"
#include "ship/tools/sessions.h"

// Makes the next seven days, and removes partitions, names, diagnostics and losses that are older
// than what is kept. Events that are no partitions, and their names, stay. `sessions`, zeroed
// before, are then shippers' transactions that are open and were not ended.
enum failure_class maintain_run(struct pg *pg, const struct schema_facts *facts, const char *schema,
                                struct sessions *sessions);
