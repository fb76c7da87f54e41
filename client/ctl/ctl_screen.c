// SPDX-License-Identifier: Apache-2.0
//
// Writes ANSI sequences to the terminal, and reads keys without the line mode of the terminal. The
// signal handlers only set flags; screen_signalled() reads them, between two drawings.
#include "client/ctl/ctl_screen.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define ENTER "\033[?1049h\033[?25l" // alternate screen, no cursor
#define LEAVE "\033[?25h\033[?1049l"
#define HOME "\033[H"
#define CLEAR_LINE "\033[K"
#define CLEAR_REST "\033[J"

static volatile sig_atomic_t resized, suspended, hung_up;

static void on_signal(int number) {
    if (number == SIGWINCH) {
        resized = 1;
    } else if (number == SIGTSTP) {
        suspended = 1;
    } else {
        hung_up = 1;
    }
}

static void catch (int number, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

static void put(const char *data, size_t len) {
    while (len > 0) {
        ssize_t n = write(STDOUT_FILENO, data, len);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return; // the terminal is gone; a signal says so too
        }
        data += n;
        len -= (size_t)n;
    }
}

void screen_enter(struct screen *screen) {
    static const int signals[] = {SIGWINCH, SIGTSTP, SIGHUP, SIGQUIT};
    if (screen->entered) {
        return;
    }
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        catch (signals[i], on_signal);
    }
    screen->entered = true;
    screen->has_keys = tcgetattr(STDIN_FILENO, &screen->saved) == 0;
    if (screen->has_keys) {
        struct termios keys = screen->saved;
        keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG); // Ctrl-C and Ctrl-Z come as keys
        keys.c_cc[VMIN] = 1;
        keys.c_cc[VTIME] = 0;
        tcsetattr(STDIN_FILENO, TCSADRAIN, &keys);
    }
    put(ENTER, sizeof(ENTER) - 1);
}

void screen_leave(struct screen *screen) {
    if (!screen->entered) {
        return;
    }
    screen->entered = false;
    put(LEAVE, sizeof(LEAVE) - 1);
    if (screen->has_keys) {
        tcsetattr(STDIN_FILENO, TCSADRAIN, &screen->saved);
    }
}

void screen_suspend(struct screen *screen) {
    screen_leave(screen);
    catch (SIGTSTP, SIG_DFL);
    raise(SIGTSTP);
    screen_enter(screen);
}

void screen_measure(struct screen *screen) {
    struct winsize window = {0};
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0;
    screen->rows = known && window.ws_row > 0 ? window.ws_row : 24;
    screen->columns = known && window.ws_col > 0 ? window.ws_col : 80;
}

enum screen_key screen_read_key(const struct screen *screen) {
    char key;
    ssize_t n = screen->has_keys ? read(STDIN_FILENO, &key, 1) : -1;
    if (n < 0) {
        return errno == EINTR ? SCREEN_NONE : SCREEN_QUIT;
    }
    switch (n == 0 ? 'q' : key) {
    case 'q':
    case 'Q':
    case 3: // Ctrl-C
    case 4: // Ctrl-D
        return SCREEN_QUIT;
    case 26: // Ctrl-Z
        return SCREEN_SUSPEND;
    case ' ':
    case 12: // Ctrl-L
        return SCREEN_REDRAW;
    default:
        return SCREEN_NONE;
    }
}

enum screen_key screen_signalled(void) {
    enum screen_key key = hung_up     ? SCREEN_QUIT
                          : suspended ? SCREEN_SUSPEND
                          : resized   ? SCREEN_REDRAW
                                      : SCREEN_NONE;
    suspended = suspended && key != SCREEN_SUSPEND;
    resized = 0;
    return key;
}

void screen_draw(const struct screen *screen, const struct nvtxt_buf *lines) {
    struct nvtxt_buf out = {0};
    const char *at = lines->data, *end = lines->data + lines->len;
    nvtxt_buf_add(&out, HOME, sizeof(HOME) - 1);
    for (size_t row = 0; at < end && row < screen->rows; row++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t len = stop ? (size_t)(stop - at) : (size_t)(end - at);
        if (row > 0) {
            nvtxt_buf_add(&out, "\r\n", 2);
        }
        nvtxt_buf_add(&out, at, len);
        nvtxt_buf_add(&out, CLEAR_LINE, sizeof(CLEAR_LINE) - 1);
        at += len + 1;
    }
    nvtxt_buf_add(&out, CLEAR_REST, sizeof(CLEAR_REST) - 1);
    if (!nvtxt_buf_failed(&out)) {
        put(out.data, out.len);
    }
    nvtxt_buf_deinit(&out);
}
