// SPDX-License-Identifier: Apache-2.0
//
// The command line of nvtxtd: options into the configuration. The file of -c, or the usual one, is
// read first, so that the command line beats it, wherever -c stands.
#pragma once

#include "daemon/conf/conf.h"
#include "daemon/conf/conf_file.h"

enum options_result {
    OPTIONS_RUN = 0,
    OPTIONS_DONE = 1,  // --help, --version, --check-config: everything was said
    OPTIONS_FAULT = 2, // the fault was said
};

// `*status` is the exit status of DONE and FAULT.
enum options_result options_read(int argc, char **argv, struct conf *config, int *status);

// For a reload: the same again into a configuration that has its defaults, with the faults told to
// the caller. Returns 0, 1 for faults, or -errno; all was told.
int options_read_again(int argc, char **argv, struct conf *config,
                       const struct conf_faults *faults);
