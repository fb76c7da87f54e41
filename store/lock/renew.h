// SPDX-License-Identifier: Apache-2.0
//
// A new -shm for a store whose log is empty. The first process that opens a store makes its -shm
// anew from the log, with the locks for recovery (locks.h). With an empty log there is nothing to
// recover: the file holds nothing that anybody needs, only the locks of who is in the way. A file
// that takes its place has no locks.
#pragma once

// Replaces the -shm of the store at `file` by an empty one that only its owner may open: nobody can
// lock it before the caller has recovered from it. The caller gives it its mode then. Returns 0; 1
// when it stays as it is, because the log is not empty or somebody has the store open; or -errno.
int store_shm_renew(const char *file);
