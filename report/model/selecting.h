// SPDX-License-Identifier: Apache-2.0
//
// Applies a selection to a model, and says in words why an option selects nothing.
#pragma once

#include "protocol/base/buf.h"
#include "report/model/model.h"
#include "report/select/selection.h"

// Sets REPORT_SELECTED of each event and counts them (report_model_count_selected). `since_ns` and
// `until_ns` are those of report_selection_span(). Writes one line, ended by LF, to `notes` for
// each option that selects nothing: `--nvtx-include 'step' selects nothing: …`, without `note: `.
// Returns 0; REPORT_SELECT_WRONG with a fault for an expression that is too costly and for a
// --source that names nothing; or -ENOMEM.
int report_select(struct report_model *model, const struct report_selection *selection,
                  int64_t since_ns, int64_t until_ns, struct nvtxt_buf *notes,
                  struct report_fault *fault);
