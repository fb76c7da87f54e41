// SPDX-License-Identifier: Apache-2.0
//
// What the options of a command ask of the rules, for `report` and `check`.
#pragma once

#include "client/report/command/loaded.h"
#include "client/report/job.h"
#include "report/judge/rules.h"
#include "report/judge/wanted.h"

// What --rule, --apply-rules and the span ask for; all sections count as shown. The caller may set
// `shown`. Says it when --rule names nothing. Returns 0,
// OUTCOME_USAGE, OUTCOME_NO_DAEMON, or -errno.
int report_judging_begin(const struct report_job *job, const struct report_rules *rules,
                         struct report_rules_wanted *wanted);

// Whether --rule names rules, before anything is written. If not, it says why, with the messages of
// the files. Returns as above.
int report_judging_check(const struct report_job *job, const struct report_loaded *loaded);

// Applies the rules. Returns 0, OUTCOME_STOPPED after a signal, or -errno. The exit status becomes
// at least that of FAULTS when a rule failed.
int report_judging_apply(struct report_job *job, const struct report_rules *rules,
                         struct report_metrics *metrics, const struct report_rules_wanted *wanted,
                         struct report_results *results);
