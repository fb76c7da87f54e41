// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the export's writers share: an output whose bytes a test can read.
#pragma once

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "protocol/text/out.h"

struct output {
    struct nvtxt_out out;
    char *text; // what was written, with a NUL after it
    size_t len;
};

static inline void output_open(struct output *output) {
    memset(output, 0, sizeof(*output));
    int fd = memfd_create("output", MFD_CLOEXEC);
    cr_assert_geq(fd, 0);
    cr_assert_eq(nvtxt_out_init(&output->out, fd), 0);
}

// Everything up to now, as text; the output goes on after it.
static inline const char *output_text(struct output *output) {
    cr_assert_eq(nvtxt_out_flush(&output->out), 0);
    output->len = (size_t)output->out.written;
    free(output->text);
    output->text = calloc(1, output->len + 1);
    cr_assert_not_null(output->text);
    cr_assert_eq(pread(output->out.fd, output->text, output->len, 0), (ssize_t)output->len);
    return output->text;
}

static inline void output_clear(struct output *output) {
    (void)output_text(output);
    cr_assert_eq(ftruncate(output->out.fd, 0), 0);
    cr_assert_eq(lseek(output->out.fd, 0, SEEK_SET), 0);
    output->out.written = 0;
}

static inline void output_close(struct output *output) {
    int fd = output->out.fd;
    nvtxt_out_deinit(&output->out);
    close(fd);
    free(output->text);
}
