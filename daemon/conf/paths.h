// SPDX-License-Identifier: Apache-2.0
//
// Where things are: the default folders of the system service and of a person, and the folders and
// lock files that must be there before anything starts. Everything that decides a path is here.
// Folders that a service manager names in the environment (systemd.exec(5)) come first.
// Faults come back as a sentence that names the path.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "daemon/conf/conf.h"

// The configuration that is read without -c: nvtxtd.conf of the service manager's folder for it
// (CONFIGURATION_DIRECTORY), of the system for root, else of a person. Need not be there.
void paths_config_file(char *path, size_t size);

// Whether that path is in a home that this user may not look into: then there is no configuration.
bool paths_config_is_hidden(const char *path);

// Fills the paths that the configuration leaves open and makes the folders of defaults. Returns 0,
// or an exit status of sysexits.h with a sentence in `why`.
int paths_resolve(struct conf *config, char *why, size_t size);

// Whether a Unix socket can have this path. Returns 0 or an exit status with a sentence in `why`.
int paths_check_socket(const char *path, char *why, size_t size);

// Whether the groups that the configuration names are there. Returns 0 or an exit status with a
// sentence in `why`.
int paths_check_groups(const struct conf *config, char *why, size_t size);

// The group of the store's files (StoreGroup): StoreGroup, else that of a folder that gives its own
// to new files; 0: what the system gives. Returns 0, or an exit status with a sentence in `why`.
int paths_store_group(const struct conf *config, int64_t *group, char *why, size_t size);

// The watched folders, a line each: those of the configuration, else that of the environment.
const char *paths_watched(const struct conf *config);

// Makes the folder of the store when it is not there. Returns 0 or an exit status.
int paths_make_store_folder(const char *store);

// Takes `<path>.lock` for this process. Returns a descriptor to keep open, or -1 with a sentence
// in `why` when another process has it or it cannot be made (`*status`: the exit status).
int paths_lock(const char *path, const char *what, int *status, char *why, size_t size);

// Whether `store` may be used as a store as far as other stores go: a segment of one that another
// daemon has locked may not. Returns 0, or an exit status with a sentence in `why`.
int paths_check_segment(const char *store, char *why, size_t size);

bool paths_is_locked(const char *path, int fd); // whether the lock file is still the one of `fd`
void paths_unlock(const char *path, int fd);    // removes the lock file; fine for fd -1
