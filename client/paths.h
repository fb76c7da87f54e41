// SPDX-License-Identifier: Apache-2.0
//
// Where a client finds its daemon when nobody says: the system's sockets, else the person's.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define PATHS_SOCKET_MAX 107 // bytes that sockaddr_un holds before its NUL (unix(7))
#define PATHS_DATA_SOCKET "nvtxtd.sock"
#define PATHS_CONTROL_SOCKET "control.sock"

// Writes the default path of the socket `name`: /run/nvtxtd/NAME as root or where that file exists,
// else $XDG_RUNTIME_DIR/nvtxtd/NAME, else /tmp/nvtxtd-UID/NAME. Cut when `size` is too small; call
// with PATH_MAX, then look at paths_socket_fits().
void paths_default_socket(char *path, size_t size, const char *name);

// The data socket's path: `option` when it is not NULL, else NVTXT_SOCKET when that is set and not
// empty, else the default. The result is `option`, the environment's text, or `buffer`.
const char *paths_data_socket(const char *option, char *buffer, size_t size);

// False for a path that no Unix socket can have: empty, or longer than PATHS_SOCKET_MAX bytes.
bool paths_socket_fits(const char *path);
