// SPDX-License-Identifier: Apache-2.0
//
// The table of the program's own rules. What they say of themselves is shown by `list rules` and in
// nvtxt-rule(5).
#include "report/rule/rules_state.h"

const struct report_builtin report_builtins[] = {
    {"Builds", "Builds",
     "Builds that nvtxt-send --steps recorded: slots that were idle for 10 % of the time or more "
     "while one step ran alone, the ten longest of more than ten steps, and steps that ran twice "
     "with the same command, target and folder.",
     report_rule_builds},
    {"ClockSuspicion", "Suspicious clocks",
     "Ranges that end before they start, and events more than a day outside the session of their "
     "source.",
     report_rule_clock_suspicion},
    {"DominantRange", "Dominant range",
     "A name whose self time is more than 50 % of the time of all threads, each from its first "
     "event to its last.",
     report_rule_dominant_range},
    {"ErrorBurst", "Error burst",
     "Patterns of lines of logs of level err or worse that are new in the span, or come at least 5 "
     "times as often as before. The span is that of --since or --last, and the time before it at "
     "most ten times as long; without these options it is the last tenth of the time. More is "
     "meant for real: if a line came at any time with the same chance, so many or more of them "
     "would lie in the span in at most 0.1 % of cases (binomial distribution). It is an error if "
     "one is crit or worse.",
     report_rule_error_burst},
    {"HighVariation", "High variation",
     "Names with at least 10 ranges whose standard deviation is more than 25 % of their average. "
     "The estimate is what would be saved if no range of the name lasted longer than the median.",
     report_rule_high_variation},
    {"IdleGaps", "Idle gaps",
     "Times without a push/pop range, of all threads, are more than 20 % of the elapsed time.",
     report_rule_idle_gaps},
    {"LoadImbalance", "Load imbalance",
     "The busy times of at least 2 threads of one process differ: (max - avg) / max is more than "
     "0.25. With --within all threads that work in its ranges are compared.",
     report_rule_load_imbalance},
    {"MixedKinds", "Mixed kinds",
     "Names that are used for push/pop ranges and for start/end ranges.", report_rule_mixed_kinds},
    {"NoIterations", "No iterations",
     "A hint where no iterations are declared: the option --iterations names the range that is "
     "one.",
     report_rule_no_iterations},
    {"OutlierIterations", "Outlier iterations",
     "Iterations that last longer than 1.5 x their median.", report_rule_outlier_iterations},
    {"Serialized", "Serialized threads",
     "At least 2 threads have push/pop ranges, and never two of them at the same time.",
     report_rule_serialized},
    {"TinyRanges", "Tiny ranges",
     "More than 20 % of at least 1,000 ranges last less than 1 us: what they measure is mostly "
     "their own cost.",
     report_rule_tiny_ranges},
    {"WarmUp", "Warm-up", "The first iteration lasts longer than 1.5 x the median of the others.",
     report_rule_warm_up},
    {0},
};
