// SPDX-License-Identifier: Apache-2.0
//
// The inside of struct store, shared by the files that are the store: store.c (life, transactions),
// store_query.c (what it is asked) and recover.c; rotation.c uses its clock. Nobody else includes
// it.
//
// The rooms below return SQLite's codes; store_translate() makes them codes of the store, with a
// sentence that says what failed.
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/db/header.h"
#include "store/db/wal.h"
#include "store/segment/ended.h"
#include "store/segment/store_id.h"
#include "store/value/arena.h"
#include "store/value/codes.h"
#include "store/write/bulk.h"
#include "store/write/domains.h"
#include "store/write/followed.h"
#include "store/write/name_rows.h"
#include "store/write/names.h"
#include "store/write/owners.h"
#include "store/write/sessions.h"

#define STORE_ERROR_SIZE 512
#define STORE_OWN_STMTS 5

struct store {
    sqlite3 *db;
    char *path; // what sentences call it
    struct store_options options;
    struct store_txn txn;
    struct store_intern intern;
    struct store_domains domains;
    struct store_name_rows name_rows;
    struct store_names names;
    struct store_owners owners;
    struct store_catalog catalog;
    struct store_bulk bulk;
    struct store_sessions sessions;
    char unreadable[PATH_MAX]; // see store_unreadable()
    struct store_files files;
    struct store_wal wal;
    struct store_main_file main_file;
    struct store_ended ended;
    sqlite3_stmt *stmts[STORE_OWN_STMTS]; // of transactions
    sqlite3_stmt *pages;                  // of store_content_bytes()
    char id[STORE_ID_SIZE];               // STORE_ID
    int64_t data_version;                 // when the ids and caches were right
    int64_t next_source_id;               // as read when the store was opened
    int64_t losses;                       // rows of NVTXT_LOSSES, with those of earlier segments
    bool losses_known;
    bool released_lock;    // the write lock, until the next transaction
    int64_t committed_row; // of NVTX_EVENTS, while a transaction is open
    bool ids_known;
    bool in_transaction;
    bool batch_row_written;
    int failed; // result of the failed write of this transaction, which can only be rolled back
    char error[STORE_ERROR_SIZE];
};

// Remembers a sentence, "cannot <what> the store ...", and returns our code for SQLite's `rc`.
int store_translate(struct store *store, int rc, const char *what);
