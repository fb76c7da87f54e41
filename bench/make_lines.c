// SPDX-License-Identifier: Apache-2.0
//
//   make_lines KIND EVENTS      a source of NVTXT on the standard output
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>

#include "bench/workload.h"

#define USAGE "make_lines KIND EVENTS"
#define PIECE UINT64_C(10000)

static void put(struct workload_text text) {
    if (fwrite(text.data, 1, text.len, stdout) != text.len) {
        err(EX_IOERR, "standard output");
    }
    free(text.data);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        errx(EX_USAGE, "usage: %s", USAGE);
    }
    enum workload_kind kind = workload_kind_of(argv[1]);
    uint64_t events = workload_number(argv[2], USAGE);
    put(workload_head(kind));
    for (uint64_t i = 0; i < events; i += PIECE) {
        put(workload_lines(kind, i, events - i < PIECE ? events - i : PIECE));
    }
    if (fclose(stdout) != 0) {
        err(EX_IOERR, "standard output");
    }
    return 0;
}
