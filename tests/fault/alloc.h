// SPDX-License-Identifier: Apache-2.0
//
// An allocator that counts and fails on request. The linker gives it to all of our own code in
// programs that have alloc_ldflags (fault.mk); alloc_install() gives it to SQLite, jansson and
// libuv too. Any thread may use it.
#pragma once

#include <stdbool.h>

void alloc_install(void); // before SQLite, jansson or libuv was used

// The n-th allocation from now on fails, with `lasting` all after it; 0: none.
void alloc_arm(unsigned n, bool lasting);

// Every n-th allocation fails from now on; 0: none.
void alloc_arm_every(unsigned n);

long alloc_live(void); // allocations that were not freed

// Calls `act` with the n-th allocation failing, for n = 1, 1 + stride, … until no allocation fails.
// It returns 0, or -ENOMEM if an allocation has failed; anything else ends the program, and so does
// memory that it does not free. `check` is called after each act, without a fault. Returns the
// largest n.
unsigned alloc_each(unsigned stride, bool lasting, int (*act)(const void *context),
                    void (*check)(const void *context, int result), const void *context);
