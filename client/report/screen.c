// SPDX-License-Identifier: Apache-2.0
//
// The terminal is asked; $COLUMNS is not, because shells seldom export it.
#include "client/report/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

size_t report_screen_width(int fd) {
    struct winsize size = {0};
    return isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}
