// SPDX-License-Identifier: Apache-2.0
//
// What the two parts of the tests' own injection have in common: chain_tool.c is the core and
// chain_tool_ext.c the extensions.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "inject/abi.h"

enum { DOMAINS = 'D', STRINGS = 'S', RESOURCES = 'R', SYNCS = 'L', HEAPS = 'H', KINDS = 128 };

// One line of the log.
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

int is_mode(const char *mode);

// A handle of ours, which is no address; and how the log calls it: "D1", "none", "FOREIGN".
void *new_handle(int kind);
const char *show(const void *handle, int kind, char *text);
#define SHOW(handle, kind) show(handle, kind, (char[16]){0})

const char *message(int32_t type, union abi_message message, char *text, size_t size);

// Writes our functions into the slots of a module of the extension.
void chain_tool_ext_hook(unsigned module, intptr_t *slots);
