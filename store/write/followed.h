// SPDX-License-Identifier: Apache-2.0
//
// NVTXT_FILES: what a daemon needs to go on with a followed file where it stopped. A row is written
// with the batch whose events it belongs to. It stays when its source ends, so that a file that
// grows again, or that is found again, is not read twice. The public side is store_file_load().
//
// Functions return SQLite result codes. Used by the thread that owns the store.
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/db/sql.h"
#include "store/value/record.h"
#include "store/value/session.h"

#define STORE_FILES_STMTS 4

struct store_files {
    struct store_txn *txn;
    sqlite3_stmt *stmts[STORE_FILES_STMTS];
};

void store_files_init(struct store_files *files, struct store_txn *txn);
void store_files_deinit(struct store_files *files);

// Writes the files of the batch and deletes those that it forgets. The rows of its sources must be
// written before: a source that had ended is opened again.
int store_files_write(struct store_files *files, const struct store_batch *batch);

// As store_file_load(), without the open ranges.
int store_files_load(struct store_files *files, int64_t source_id, struct store_file *file,
                     struct store_session *session, bool *found);

// See store_file_list().
int store_files_read(sqlite3 *db, struct store_file_list *list);
