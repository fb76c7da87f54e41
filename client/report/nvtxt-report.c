// SPDX-License-Identifier: Apache-2.0
//
// nvtxt-report: its end: messages and exit status.
#include "client/common/term.h"

int main(void) {
    struct term term;
    term_init(&term, "nvtxt-report");
    return 0;
}
