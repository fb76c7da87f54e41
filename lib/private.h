// SPDX-License-Identifier: Apache-2.0
//
// What libnvtxt gives to libnvtxt-inject of the same build besides nvtxt.h. These symbols have the
// version NVTXT_PRIVATE and may change with each release: nothing else may use them.
#pragma once

#include <stdbool.h>

#include "lib/nvtxt.h"

// Whether this process may not be recorded at all, because it has other rights than its caller
// (AT_SECURE). The first call reads the environment.
bool nvtxt_private_is_secure(void);

// Whether events of the domain (NULL: none) are left out.
bool nvtxt_private_is_excluded(const struct nvtxt_domain *domain);

// Where libnvtxt-inject keeps its handle of a string.
_Atomic(void *) *nvtxt_private_handle_of(const struct nvtxt_string *string);

// The clock of the records, in nanoseconds.
uint64_t nvtxt_private_now(void);

// Counts calls whose meaning the store cannot hold; they are told to the daemon as `unsupported`.
void nvtxt_private_unsupported(uint64_t calls);

// Gives a counter a row of NVTXT_COUNTERS. `json` is one JSON value with what is known of it
// (description, unit, limits), or NULL. Both are copied.
void nvtxt_private_name_counter(struct nvtxt_domain *domain, const char *name, const char *json);

// One line on stderr, "nvtxt: " before it, for what a person asked for and cannot have.
void nvtxt_private_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

// One line into NVTXT_LOG.
void nvtxt_private_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
