// SPDX-License-Identifier: Apache-2.0
//
// Where an errno was born. A function that fails passes a negative errno on, so the place that made
// it is far from the one that tells of it. Each of those places says so:
//
//     return nvtxt_origin(-ENOMEM);
//     int r = fsync(fd) < 0 ? nvtxt_origin(-errno) : 0;
//
// Usually that is its argument and nothing else. In a build of `configure --enable-origins`, for
// those who look for a fault, it also tells stderr in one line what was born, where, and the
// functions on the way up from there:
//
//     origin: -ENOENT in open_folder (client/spool/spool_dir.c:52) < spool_open < resume < main
//
// A place tells the first time, the tenth, the hundredth and so on, so that what is no fault (a
// file that need not be there) does not fill a terminal. Comparisons with an errno are no births.
//
// It allocates nothing, uses no stdio and leaves errno. But it asks the loader which file an
// address is of, so in a signal handler that interrupts dlopen() it may wait for ever: such a build
// is not for programs of others.
//
// Whoever makes errnos includes this header instead of errno.h.
#pragma once

#include <errno.h>

#ifdef NVTXT_ORIGINS

struct nvtxt_origin_place {
    const char *file, *function;
    int line;
    _Atomic unsigned long count;
};

// Returns `r`.
int nvtxt_origin_tell(struct nvtxt_origin_place *place, int r);

#define nvtxt_origin(error)                                                                        \
    ({                                                                                             \
        static struct nvtxt_origin_place place_ = {__FILE__, __func__, __LINE__, 0};               \
        nvtxt_origin_tell(&place_, (error));                                                       \
    })

#else
#define nvtxt_origin(error) (error)
#endif
