// SPDX-License-Identifier: Apache-2.0
//
// The status as text for Prometheus.
#pragma once

#include "protocol/base/buf.h"
#include "ship/tools/status.h"

// NULL: it could not be read; then there is nvtxt_ship_up alone, 0.
void metrics_write(struct nvtxt_buf *out, const struct status *status);
