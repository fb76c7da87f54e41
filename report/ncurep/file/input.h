// SPDX-License-Identifier: Apache-2.0
//
// report/ncurep/file: the bytes of report files of Nsight Compute (.ncu-rep, version 7): read,
// decompressed and checked as a whole, then given out as blocks, entries and fields. It owns
// nothing but the bytes that it reads, until its caller takes them. One thread. It knows the
// numbers of fields, not what they mean.
//
// This header reads a file into memory, decompressed if it is compressed.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"
#include "report/ncurep/file/refusal.h"

// Whether bytes begin as those of a report file, plain or compressed: the first four say it.
#define REPORT_NCUREP_FIRST 4
bool report_ncurep_begins(struct nvtxt_slice bytes);

// Reads all of a file. Returns 0 (the bytes are owned by the caller, from malloc()), a code of
// enum report_ncurep_result_code with a fault, or -errno.
int report_ncurep_read(const char *path, const struct report_ncurep_options *options, char **bytes,
                       size_t *len, struct report_ncurep_fault *fault);
