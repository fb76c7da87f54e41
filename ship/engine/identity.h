// SPDX-License-Identifier: Apache-2.0
//
// Who ships what: the store's identity, and what this host and machine are called. Reads files of
// the system only.
#pragma once

#include <stddef.h>

#include "protocol/base/buf.h"

#define IDENTITY_MACHINE_SIZE 64
#define IDENTITY_HOST_SIZE 256

// What is written of a store when it is registered, and when it has changed. Borrowed texts.
struct identity {
    const char *store; // its UUID
    const char *host;
    const char *labels; // a JSON object
    const char *machine;
    const char *path;
    const char *product;
};

// The id of this machine for this program alone, "" when there is none.
void identity_machine(char machine[IDENTITY_MACHINE_SIZE]);

// The id of this boot; "" when it cannot be read.
void identity_boot(char *boot, size_t size);

void identity_host(char host[IDENTITY_HOST_SIZE]); // the host name

// KEY=VALUE lines as a JSON object, with a NUL after it.
void identity_labels(struct nvtxt_buf *json, const char *lines);
