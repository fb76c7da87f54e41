// SPDX-License-Identifier: Apache-2.0
//
// The first bytes tell a report file from a store; a pipe is not asked for them.
#include "client/report/profile.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/common/signals.h"
#include "protocol/base/slice.h"
#include "report/ncurep/file/input.h"

static bool begins_as_one(const char *path) {
    struct stat stat;
    char bytes[REPORT_NCUREP_FIRST];
    bool is_one = false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode) &&
        read(fd, bytes, sizeof(bytes)) == sizeof(bytes)) {
        is_one = report_ncurep_begins((struct nvtxt_slice){bytes, sizeof(bytes)});
    }
    if (fd >= 0) {
        close(fd);
    }
    return is_one;
}

bool profile_is(const char *path) {
    return nvtxt_ends_with(path, ".ncu-rep") || nvtxt_ends_with(path, ".ncu-repz") ||
           begins_as_one(path);
}

static enum outcome refuse(struct term *term, const char *path, int code,
                           const struct report_ncurep_fault *fault) {
    switch (code) {
    case REPORT_NCUREP_STOPPED:
        return OUTCOME_STOPPED;
    case REPORT_NCUREP_BROKEN:
        term_say(term, "%s: offset %" PRIu64 ": %s", path, fault->offset, fault->what);
        return OUTCOME_BAD_DATA;
    default:
        term_say(term, "cannot read %s: %s", path, code < 0 ? strerror(-code) : fault->what);
        return code == REPORT_NCUREP_NO_INPUT                ? OUTCOME_NO_INPUT
               : code == REPORT_NCUREP_TOO_LARGE || code < 0 ? OUTCOME_SYSTEM
                                                             : OUTCOME_IO;
    }
}

enum outcome profile_open(struct report_ncurep **profile, struct term *term, const char *path,
                          uint64_t max_memory) {
    const struct report_ncurep_options options = {.max_memory = max_memory,
                                                  .interrupted = signals_came};
    struct report_ncurep_fault fault;
    int result = report_ncurep_open(profile, path, &options, &fault);
    return result == 0 ? OUTCOME_DONE : refuse(term, path, result, &fault);
}
