// SPDX-License-Identifier: Apache-2.0
//
// The daemon as a whole: start order and its reverse, in one place.
#pragma once

// Runs nvtxtd with its command line. Returns the exit status (sysexits.h).
int daemon_main(int argc, char **argv);
