// SPDX-License-Identifier: Apache-2.0
//
// An SQLite VFS that calls that of the system and makes the n-th call fail, once or from then on,
// as SQLite's own tests do. It is the default VFS once it is installed. Any thread may use it.
#pragma once

#include <stdbool.h>

enum vfs_shim_fault {
    VFS_SHIM_IO,   // SQLITE_IOERR of the kind that the call has
    VFS_SHIM_FULL, // writes: SQLITE_FULL; other calls as above
    VFS_SHIM_KILL, // the process kills itself with SIGKILL before the call
};

enum vfs_shim_calls { // what is counted
    VFS_SHIM_ALL,
    VFS_SHIM_MAIN_WRITES, // writes to a main file: a checkpoint under way
    VFS_SHIM_WAL_WRITES,  // writes to a write-ahead log: a commit under way
    VFS_SHIM_NEW_WRITES,  // writes to a segment that is being made
};

void vfs_shim_install(void);

// The n-th call from now on fails, and with `lasting` all after it. 0: none.
void vfs_shim_arm(enum vfs_shim_calls calls, unsigned n, bool lasting, enum vfs_shim_fault fault);

// From now on each sync of a write-ahead log takes so much longer: what was written before it is in
// the file and not committed yet.
void vfs_shim_slow_sync(unsigned ms);

// Whether a call has failed since it was armed.
bool vfs_shim_has_struck(void);
