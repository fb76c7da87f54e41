// SPDX-License-Identifier: Apache-2.0
//
// An allocator that counts and fails on request. Programs that are linked with alloc_ldflags (see
// fault.mk) use it for all of our own code; alloc_install() gives it to SQLite, jansson and libuv
// too. Any thread may use it.
#pragma once

#include <stdbool.h>

void alloc_install(void); // before SQLite, jansson or libuv was used

// The n-th allocation from now on fails, with `lasting` all after it; 0: none.
void alloc_arm(unsigned n, bool lasting);

// Every n-th allocation fails from now on; 0: none.
void alloc_arm_every(unsigned n);

bool alloc_has_struck(void); // since it was armed
long alloc_live(void);       // allocations that were not freed
