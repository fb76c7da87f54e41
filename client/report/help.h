// SPDX-License-Identifier: Apache-2.0
//
// What --help says: one screen on the program, or all that a command takes.
#pragma once

// `values` is the struct report_options so far: the help of the command that is its first word, or
// that of the program.
void report_help_print(const void *values);
