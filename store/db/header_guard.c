// SPDX-License-Identifier: Apache-2.0
//
// A file that got shorter proves nothing: when another process runs VACUUM, a checkpoint cuts the
// file, and its header says so. A file that is shorter than its header says proves nothing either:
// a checkpoint writes the header first. Only both together prove that somebody cut it.
#include "store/db/header.h"

#include <string.h>

static int look(sqlite3_file *file, unsigned char *head, int64_t *bytes) {
    sqlite3_int64 size = 0;
    int rc = file->pMethods->xFileSize(file, &size);
    rc = rc ?: file->pMethods->xRead(file, head, STORE_FILE_HEAD_BYTES, 0);
    *bytes = size;
    return rc == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : rc; // SQLite fills the rest with 0
}

void store_main_file_init(struct store_main_file *main_file, sqlite3 *db) {
    unsigned char head[STORE_FILE_HEAD_BYTES];
    sqlite3_file *file = NULL;
    *main_file = (struct store_main_file){0};
    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK && file &&
        file->pMethods && look(file, head, &main_file->bytes) == SQLITE_OK) {
        memcpy(main_file->fixed, head, sizeof(main_file->fixed));
        main_file->file = file;
    }
}

bool store_main_file_is_broken(struct store_main_file *main_file) {
    unsigned char head[STORE_FILE_HEAD_BYTES];
    int64_t bytes;
    if (!main_file->file || look(main_file->file, head, &bytes) != SQLITE_OK) {
        return false;
    }
    bool cut = bytes < main_file->bytes && bytes < store_file_claimed_bytes(head);
    if (cut || memcmp(head, main_file->fixed, sizeof(main_file->fixed)) != 0) {
        return true;
    }
    main_file->bytes = bytes;
    return false;
}
