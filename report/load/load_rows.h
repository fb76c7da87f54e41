// SPDX-License-Identifier: Apache-2.0
//
// The events of a file. Functions return an SQLite result code.
#pragma once

#include "report/load/load_state.h"

// The rows of NVTX_EVENTS that lie in the window. The sources of the file are known.
int report_load_rows(struct report_load_state *load, const struct report_load_file *file);

// The open ranges of the newest file of a store.
int report_load_open_ranges(struct report_load_state *load, const struct report_load_file *file);

// How many events report_load_rows() will take: exactly, which looks at each row of the window, or
// at most.
int report_load_count(const struct report_load_state *load, struct report_load_file *file,
                      bool exactly, int64_t *rows);
