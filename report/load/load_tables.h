// SPDX-License-Identifier: Apache-2.0
//
// What a file has beside its events: sources, diagnostics, losses, names, facts about the file.
// Functions return an SQLite result code.
#pragma once

#include "report/load/load_state.h"

// Before the events: facts, sources, diagnostics, losses. Counters of a source are totals, so those
// of a later file of the store replace them.
int report_load_facts(struct report_load_state *load, const struct report_load_file *file);
int report_load_sources(struct report_load_state *load, const struct report_load_file *file);

// After them: names of the processes, threads and categories that events have.
int report_load_bearers(struct report_load_state *load, const struct report_load_file *file);

// The kernels of an export, after the events.
int report_load_kernels(struct report_load_state *load, const struct report_load_file *file);
