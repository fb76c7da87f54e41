// SPDX-License-Identifier: Apache-2.0
//
// Keeps the engine at the days that are kept: for a timer on one machine, as the schema's owner.
#pragma once

#include "ship/engine/pg.h"
#include "ship/engine/schema.h"

// Removes partitions, names, diagnostics and losses that are older, and makes the next two days.
// Events that are no partitions, and their names, stay.
enum failure_class maintain_run(struct pg *pg, const struct schema_facts *facts);
