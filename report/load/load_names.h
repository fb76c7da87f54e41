// SPDX-License-Identifier: Apache-2.0
//
// What events refer to, each once: messages, names, domains, scopes, processes, threads. Functions
// return an SQLite result code and add what is not there yet.
#pragma once

#include "report/load/load_state.h"

// Begins with a store, and with a file of it; leaves the file before it is closed.
void report_load_names_store(struct report_load_state *load);
int report_load_names_file(struct report_load_state *load, const struct report_load_file *file);
void report_load_names_leave(struct report_load_state *load);
void report_load_names_deinit(struct report_load_state *load);

// A text that lives as long as the capture, kept once.
int report_load_word(struct report_load_state *load, struct nvtxt_slice text,
                     struct nvtxt_slice *word);
int report_load_message(struct report_load_state *load, struct nvtxt_slice text, uint32_t *index);
int report_load_domain(struct report_load_state *load, struct nvtxt_slice name, uint32_t *index);
int report_load_name(struct report_load_state *load, uint32_t domain, uint32_t message,
                     uint32_t *index);

// The message of a row: `text`, or where that is NULL the string of `textId`.
int report_load_text(struct report_load_state *load, sqlite3_stmt *row, int text, int text_id,
                     uint32_t *index);

// The thread, and the scope of the domain of that id in its process. `global_tid` is without what
// an export has above PID and TID.
int report_load_bearer(struct report_load_state *load, const struct report_load_file *file,
                       uint64_t global_tid, int64_t domain_id, uint32_t *thread, uint32_t *scope);

// The scope if the capture has it. The id of the process is its PID.
bool report_load_find_scope(const struct report_load_state *load, uint64_t pid, int64_t domain_id,
                            uint32_t *index);
