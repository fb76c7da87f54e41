// SPDX-License-Identifier: Apache-2.0
//
// Calls of the C library that fail on request. FAILING(int, -1, fsync, (int fd), (fd)) puts a
// function before that of the library: good_fsync is the number of calls that still work, after
// which each fails with EIO; -1: all work.
#pragma once

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>

static inline bool call_fails(int *good) {
    if (*good == 0) {
        errno = EIO;
    }
    return *good == 0 || (*good > 0 && (*good)-- < 0);
}

#define FAILING(type, failure, name, parameters, arguments)                                        \
    static int good_##name = -1;                                                                   \
    type name parameters {                                                                         \
        type(*real) parameters;                                                                    \
        *(void **)&real = dlsym(RTLD_NEXT, #name);                                                 \
        return call_fails(&good_##name) ? (failure) : real arguments;                              \
    }
