// SPDX-License-Identifier: Apache-2.0
//
// Messages about files of sections, rules and metrics, as the JSON of nvtxt-report(1).
#pragma once

#include "report/render/kit/json.h"
#include "report/text/message.h"

// The member "messages": an array with an object each.
void report_render_messages_json(struct report_json *json, const struct report_messages *messages);
