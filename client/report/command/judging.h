// SPDX-License-Identifier: Apache-2.0
//
// What the options of a command ask of the rules, for `report`, `html` and `check`; and a sheet:
// the sections of a scope, laid out, with what rules say of them.
#pragma once

#include "client/report/command/loaded.h"

// What --rule, --apply-rules and the span ask for; all sections count as shown. The caller may set
// `shown`. Says it when --rule names nothing, or a rule that there is nothing to run with. Returns
// 0, OUTCOME_USAGE, OUTCOME_NO_DAEMON, or -errno.
int report_judging_begin(struct report_job *job, const struct report_rules *rules,
                         struct report_rules_wanted *wanted);

// Whether --rule names rules, before anything is written. If not, it says why, with the messages of
// the files. Returns as above.
int report_judging_check(const struct report_job *job, const struct report_loaded *loaded);

// Applies the rules. Returns 0, OUTCOME_STOPPED after a signal, or -errno. The exit status becomes
// at least that of FAULTS when a rule failed.
int report_judging_apply(struct report_job *job, const struct report_rules *rules,
                         struct report_metrics *metrics, const struct report_rules_wanted *wanted,
                         struct report_results *results);

// All sections are laid out first, since rules see the metrics of the whole sheet.
struct report_sheet {
    struct report_job *job; // these are borrowed, and set by the caller
    struct report_loaded *loaded;
    const struct report_chosen *chosen;
    const struct report_scope *scope;
    struct report_metrics *metrics; // these are owned
    struct store_arena arena;
    struct report_shown_section *sections; // of the arena
    size_t count;
    struct report_results results;
};

// Returns as report_judging_begin() and report_judging_apply() do. Deinit is fine after all of it.
int report_sheet_fill(struct report_sheet *sheet);
void report_sheet_deinit(struct report_sheet *sheet);

// ---- Without a command --------------------------------------------------------------------------

// What a terminal shows instead of the sections: what the stores are, what took longest, what is
// wrong, what to ask next. Returns as report_sheet_fill() does.
int report_overview_write(struct report_job *job);
