// SPDX-License-Identifier: Apache-2.0
//
// What is open in a domain of a result, as an object of JSON.
#pragma once

#include <stdbool.h>

#include "report/ncurep/state.h"
#include "report/render/kit/json.h"

// {"id","name","pushPop":[RANGE],"startEnd":[RANGE]}: "nvtx-state" of nvtxt-report(1). With `serve`
// each RANGE has the members of "SERVE", too: "row" (null), "message" and "hasAttributes".
void report_render_state_json(struct report_json *json, const struct report_state *state,
                              const struct report_state_domain *domain, bool serve);
