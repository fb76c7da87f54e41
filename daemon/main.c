// SPDX-License-Identifier: Apache-2.0
//
// main() of nvtxtd. Everything else is in a library, which the tests link too.
#include "daemon/daemon.h"

int main(int argc, char **argv) {
    return daemon_main(argc, argv);
}
