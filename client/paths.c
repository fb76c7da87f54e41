// SPDX-License-Identifier: Apache-2.0
//
// The default places of the sockets. They are the daemon's own defaults, asked from the other side:
// the system's socket counts when it is there, because a person without a daemon of their own
// wants the machine's.
#include "client/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYSTEM_FOLDER "/run/nvtxtd"

void paths_default_socket(char *path, size_t size, const char *name) {
    snprintf(path, size, SYSTEM_FOLDER "/%s", name);
    if (geteuid() == 0 || access(path, F_OK) == 0) {
        return;
    }
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    if (runtime && runtime[0] == '/') {
        snprintf(path, size, "%s/nvtxtd/%s", runtime, name);
    } else {
        snprintf(path, size, "/tmp/nvtxtd-%lu/%s", (unsigned long)geteuid(), name);
    }
}

const char *paths_data_socket(const char *option, char *buffer, size_t size) {
    const char *path = option ? option : getenv("NVTXT_SOCKET");
    if (path && (option || *path)) {
        return path;
    }
    paths_default_socket(buffer, size, PATHS_DATA_SOCKET);
    return buffer;
}

bool paths_socket_fits(const char *path) {
    return *path && strlen(path) <= PATHS_SOCKET_MAX;
}
