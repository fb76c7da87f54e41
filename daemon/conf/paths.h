// SPDX-License-Identifier: Apache-2.0
//
// Where the daemon's files are and which groups they get: the defaults for root and for other
// users, and the creation of folders. Folders that a service manager names in the environment
// (systemd.exec(5)) come first. The sentence of a fault names the path.
#pragma once

#include <sys/types.h>

#include "daemon/conf/conf.h"

// The configuration that is read without -c: nvtxtd.conf in the service manager's folder for it
// (CONFIGURATION_DIRECTORY), else in the system's folder for root, or in the user's. It need not
// exist.
void paths_config_file(char *path, size_t size);

// Sets the paths that the configuration does not set, and creates their folders. Returns 0, or an
// exit status of sysexits.h with a sentence in `why`.
int paths_resolve(struct conf *config, char *why, size_t size);

// Whether a Unix socket can have this path. Returns 0 or an exit status with a sentence in `why`.
int paths_check_socket(const char *path, char *why, size_t size);

// The group `name`, which is the value of `key`; if that is "", the group nvtxt for root, if it
// exists. -1: none. Returns 0 or an exit status with a sentence in `why`.
int paths_group(const char *name, const char *key, gid_t *gid, char *why, size_t size);

// Whether the groups that the configuration names exist. Returns 0 or an exit status with a
// sentence in `why`.
int paths_check_groups(const struct conf *config, char *why, size_t size);

// The group of the store's files: StoreGroup, else that of the store's folder if new files get it
// (set-group-ID); 0: the one that the system gives. Returns 0, or an exit status with a sentence in
// `why`.
int paths_store_group(const struct conf *config, int64_t *group, char *why, size_t size);

// The watched folders, one a line: those of the configuration, else the one in the environment.
const char *paths_watched(const struct conf *config);

// Whether the capture folders in a watched folder are watched, too; no slash is at its end.
bool paths_has_captures(const struct conf *config, const char *folder);

// Creates the folder of the store if it does not exist. Returns 0 or an exit status.
int paths_make_store_folder(const char *store);

// ---- Lock files (daemon/conf/lock_file.c) -------------------------------------------------------
//
// `<path>.lock` lets only one daemon use a socket's path or a store. Called at the start, before
// anything of the path is opened, and by the writer when it has to make a new store.

// Locks `<path>.lock` for this process; `what` is a word for `path`. Returns a descriptor to keep
// open, or -1 with a sentence in `why` when another process has the lock or the file cannot be
// created.
int lock_file_take(const char *path, const char *what, char *why, size_t size);

// Whether `store` may be used: it may not be a segment of a store that another daemon has locked.
// Returns 0, or an exit status with a sentence in `why`.
int lock_file_check_segment(const char *store, char *why, size_t size);

bool lock_file_is_ours(const char *path, int fd); // whether the lock file is still that of `fd`
void lock_file_release(const char *path, int fd); // removes the lock file; does nothing for fd -1
