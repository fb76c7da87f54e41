// SPDX-License-Identifier: Apache-2.0
//
// nvtxt-report without libzstd, whatever this build has: a compressed report file is refused with
// the reason, a plain one is read.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/ncurep/ncurep.h"

#include "report/ncurep/zstd_none.c" // in place of zstd.c

static int open_bytes(const char *bytes, size_t len, struct report_ncurep_fault *fault) {
    const struct report_ncurep_options options = {.max_memory = 0};
    struct report_ncurep *report;
    char path[] = "/tmp/nvtxt-no-zstd-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0 || write(fd, bytes, len) != (ssize_t)len || close(fd) != 0) {
        perror(path);
        exit(1);
    }
    int rc = report_ncurep_open(&report, path, &options, fault);
    report_ncurep_free(report);
    unlink(path);
    return rc;
}

int main(void) {
    struct report_ncurep_fault fault;
    int plain = open_bytes("NVR\0\x02\0\0\0\x08\x07", 10, &fault);
    int packed = open_bytes("\x28\xB5\x2F\xFD rest", 9, &fault);
    printf("# %d, %d: offset %llu: %s\n", plain, packed, (unsigned long long)fault.offset,
           fault.what);
    return plain == 0 && packed == REPORT_NCUREP_BROKEN && fault.offset == 0 &&
                   strstr(fault.what, "built without libzstd")
               ? 0
               : 1;
}
