// SPDX-License-Identifier: Apache-2.0
//
// The part that needs no libsystemd: whether a descriptor is a socket that the daemon can listen
// on, by options of the socket, and which path it is bound to.
#include "daemon/socket/activation.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sysexits.h>

#include "daemon/base/log.h"
#include "protocol/base/origin.h"

static int option(int fd, int name) {
    int value;
    socklen_t len = sizeof(value);
    return getsockopt(fd, SOL_SOCKET, name, &value, &len) < 0 ? nvtxt_origin(-errno) : value;
}

// Why the daemon cannot listen on it; NULL when it can.
static const char *fault_of(int fd) {
    int domain = option(fd, SO_DOMAIN);
    if (domain < 0) {
        return "no socket";
    }
    if (domain != AF_UNIX) {
        return "no Unix socket";
    }
    if (option(fd, SO_TYPE) != SOCK_STREAM) {
        return "no stream socket (ListenStream=)";
    }
    return option(fd, SO_ACCEPTCONN) != 1 ? "not listening (Accept=no is needed)" : NULL;
}

int activation_assign(struct activation *activation, int fd, const char *name, char *why,
                      size_t size) {
    char escaped[80];
    int *place = strcmp(name, "data") == 0      ? &activation->data
                 : strcmp(name, "control") == 0 ? &activation->control
                                                : NULL;
    log_escape(escaped, sizeof(escaped), (struct nvtxt_slice){name, strlen(name)});
    const char *fault = fault_of(fd);
    if (!place) {
        snprintf(why, size,
                 "a descriptor '%s' was handed over: only 'data' and 'control' are known "
                 "(FileDescriptorName=)",
                 escaped);
    } else if (*place >= 0) {
        snprintf(why, size, "two descriptors '%s' were handed over: one is wanted", escaped);
    } else if (fault) {
        snprintf(why, size, "the descriptor '%s' that was handed over is %s", escaped, fault);
    } else {
        *place = fd;
    }
    return place && *place == fd ? 0 : EX_CONFIG;
}

int activation_path(int fd, char *path, size_t size) {
    struct sockaddr_un address = {0};
    socklen_t len = sizeof(address);
    if (getsockname(fd, (struct sockaddr *)&address, &len) < 0) {
        return nvtxt_origin(-errno);
    }
    size_t used = len - offsetof(struct sockaddr_un, sun_path);
    if (used > 0 && address.sun_path[0] == '\0') {
        address.sun_path[0] = '@';
    }
    snprintf(path, size, "%.*s", (int)used, address.sun_path);
    return 0;
}
