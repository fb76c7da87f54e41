// SPDX-License-Identifier: Apache-2.0
//
// nvtxtd: everything but this file is the library that tests link.
#include "daemon/daemon.h"

int main(int argc, char **argv) {
    return daemon_main(argc, argv);
}
