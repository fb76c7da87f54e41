// SPDX-License-Identifier: Apache-2.0
//
// A VFS that reads a store whose log was left without its -shm file: a copy of both files, or what
// a machine that went down left. Nothing is made beside the store, and no right to write is needed.
#pragma once

// The name of the VFS, for sqlite3_open_v2(), read-only; NULL without memory. The connection has to
// say `PRAGMA locking_mode = EXCLUSIVE` before it reads: then SQLite keeps the index of the log in
// its own memory. As soon as somebody else opens the store (a -shm is there) reading it fails with
// SQLITE_BUSY, because no lock protects this reader.
const char *store_privatelog_vfs(void);
