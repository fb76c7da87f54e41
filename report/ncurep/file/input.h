// SPDX-License-Identifier: Apache-2.0
//
// report/ncurep/file: the bytes of report files of Nsight Compute (.ncu-rep, version 7): read,
// decompressed and checked as a whole, then given out as blocks, entries and fields. It owns
// nothing but the bytes that it reads, until its caller takes them. One thread. It knows the
// numbers of fields, not what they mean.
//
// This header reads a file into memory, decompressed if it is compressed.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "report/ncurep/file/refusal.h"

// Reads all of a file. Returns 0 (the bytes are owned by the caller, from malloc()), a code of
// enum report_ncurep_result_code with a fault, or -errno.
int report_ncurep_read(const char *path, const struct report_ncurep_options *options, char **bytes,
                       size_t *len, struct report_ncurep_fault *fault);
