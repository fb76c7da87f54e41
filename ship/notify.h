// SPDX-License-Identifier: Apache-2.0
//
// What a service manager is told: ready, alive, stopping. Without libsystemd nothing is.
#pragma once

#include <stdint.h>

void notify_ready(void);
void notify_alive(void); // for its watchdog
void notify_stopping(void);

// How often it wants a sign of life, in ms; INT64_MAX: never.
int64_t notify_interval_ms(void);
