// SPDX-License-Identifier: Apache-2.0
//
// The command line of nvtxtd: its options set keys of the configuration. The file of -c, or the
// usual one, is read first, so an option overrides the file wherever it stands.
#pragma once

#include "daemon/conf/conf.h"
#include "daemon/conf/conf_file.h"

enum options_result {
    OPTIONS_RUN = 0,
    OPTIONS_DONE = 1,  // --help, --version, --check-config: the answer is printed
    OPTIONS_FAULT = 2, // a sentence is on standard error
};

// `*status` is the exit status for DONE and FAULT.
enum options_result options_read(int argc, char **argv, struct conf *config, int *status);

// For a reload: reads file and options again, into a configuration that has its defaults. Returns
// 0, 1 for faults, or -errno; `faults` has got a sentence for each.
int options_read_again(int argc, char **argv, struct conf *config,
                       const struct nvtxt_faults *faults);
