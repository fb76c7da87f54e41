// SPDX-License-Identifier: Apache-2.0
//
// nvtxt-ctl: one question to a daemon's control socket, one answer. The daemon's table of commands
// is the only one; what it does not know is refused by it.
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sysexits.h>
#include <unistd.h>

#include "client/nvtxt-ctl_text.h"
#include "client/options.h"
#include "client/paths.h"
#include "client/term.h"
#include "config.h"
#include "protocol/ctlmsg.h"

enum { OPT_SOCKET = OPTIONS_OWN, OPT_JSON };

struct arguments {
    const char *socket; // NULL: derived
    bool json;
    const char *command;
};

static void print_help(void) {
    fputs("Usage: nvtxt-ctl [OPTION]... COMMAND\n"
          "Asks a running nvtxtd over its control socket.\n"
          "\n"
          "      --socket PATH   the control socket (default: control.sock beside\n"
          "                      $NVTXT_SOCKET, else the system's, else yours)\n"
          "      --json          print the result as JSON\n"
          "      --help, --version\n"
          "\n"
          "Commands: status, sources, health, flush, reload; 'nvtxt-ctl help' lists\n"
          "what the daemon knows.\n"
          "\n"
          "Exit status: 0 done; 1 the daemon reports an error, or its health\n"
          "is not good; 64 usage; 69 no daemon.\n",
          stdout);
}

// Returns 0, EX_USAGE, or -1 when there is nothing more to do.
static int parse_arguments(struct arguments *args, struct term *term, int argc, char **argv) {
    static const struct option table[] = {
        {"socket", required_argument, NULL, OPT_SOCKET},
        {"control-socket", required_argument, NULL, OPT_SOCKET},
        {"json", no_argument, NULL, OPT_JSON},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    int option;
    while ((option = getopt_long(argc, argv, "", table, NULL)) != -1) {
        switch (option) {
        case OPT_SOCKET:
            args->socket = optarg;
            break;
        case OPT_JSON:
            args->json = true;
            break;
        case 'h':
            print_help();
            return -1;
        case 'V':
            options_version(term);
            return -1;
        default:
            return options_refuse(term);
        }
    }
    if (argc - optind != 1) {
        term_say(term, argc == optind ? "a command is missing; 'nvtxt-ctl --help' lists them"
                                      : "one command is expected");
        return EX_USAGE;
    }
    args->command = argv[optind];
    return 0;
}

// control.sock in the folder of the data socket that NVTXT_SOCKET names, else the default.
// Who names the data socket by its usual name means the control socket beside it.
static const char *control_path(const char *option, char *buffer, size_t size) {
    const char *data = option ? option : getenv("NVTXT_SOCKET");
    const char *slash = data ? strrchr(data, '/') : NULL;
    if (option && strcmp(slash ? slash + 1 : option, PATHS_DATA_SOCKET) != 0) {
        return option;
    }
    if (!data || !*data) {
        paths_default_socket(buffer, size, PATHS_CONTROL_SOCKET);
        return buffer;
    }
    int folder = slash ? (int)(slash - data) + 1 : 0;
    snprintf(buffer, size, "%.*s%s", folder, data, PATHS_CONTROL_SOCKET);
    return buffer;
}

static int connect_to(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -errno;
    }
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) < 0) {
        int error = errno;
        close(fd);
        return -error;
    }
    return fd;
}

static int write_all(int fd, const char *data, size_t len) {
    while (len > 0) {
        ssize_t n = send(fd, data, len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return -errno;
        }
        data += n;
        len -= (size_t)n;
    }
    return 0;
}

// Reads up to the first LF. Returns 0, or -errno; the line is without LF.
static int read_line(int fd, struct nvtxt_buf *line) {
    for (;;) {
        char chunk[16384];
        ssize_t n = read(fd, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return n < 0 ? -errno : -EPIPE;
        }
        const char *end = memchr(chunk, '\n', (size_t)n);
        nvtxt_buf_add(line, chunk, end ? (size_t)(end - chunk) : (size_t)n);
        if (nvtxt_buf_failed(line)) {
            return -ENOMEM;
        }
        if (end) {
            return 0;
        }
    }
}

static int print_reply(const struct arguments *args, struct term *term,
                       const struct nvtxt_ctl_reply *reply) {
    if (!reply->ok) {
        term_say(term, "%s: %s", args->command, reply->message);
        return strcmp(reply->code, NVTXT_CTL_UNKNOWN_COMMAND) == 0 ? EX_USAGE : 1;
    }
    if (args->json) {
        json_dumpf(reply->result, stdout, JSON_COMPACT);
        fputc('\n', stdout);
    } else {
        ctl_print(stdout, args->command, reply->result);
    }
    if (fflush(stdout) != 0) {
        term_say(term, "cannot write: %s", strerror(errno));
        return EX_IOERR;
    }
    return json_is_false(json_object_get(reply->result, "healthy")) ? 1 : 0;
}

static int ask(int fd, const struct arguments *args, struct term *term) {
    struct nvtxt_buf request = {0}, line = {0};
    struct nvtxt_ctl_reply reply = {0};
    nvtxt_ctl_request_format(&request, 1, args->command, NULL);
    int result = nvtxt_buf_failed(&request) ? -ENOMEM : write_all(fd, request.data, request.len);
    // A daemon that refuses before it reads has left its reason.
    if (result == 0 || result == -EPIPE) {
        result = read_line(fd, &line);
    }
    int status = EX_UNAVAILABLE;
    if (result < 0) {
        term_say(term, "the daemon did not answer: %s", strerror(-result));
    } else if (nvtxt_ctl_reply_parse((struct nvtxt_slice){line.data, line.len}, &reply) != 0) {
        term_say(term, "the daemon's answer is not understood");
        status = EX_PROTOCOL;
    } else {
        status = print_reply(args, term, &reply);
    }
    nvtxt_ctl_reply_deinit(&reply);
    nvtxt_buf_deinit(&request);
    nvtxt_buf_deinit(&line);
    return status;
}

int main(int argc, char **argv) {
    struct term term;
    struct arguments args = {0};
    char buffer[PATH_MAX];
    term_init(&term, "nvtxt-ctl");
    int status = parse_arguments(&args, &term, argc, argv);
    if (status != 0) {
        return status < 0 ? 0 : status;
    }
    const char *path = control_path(args.socket, buffer, sizeof buffer);
    if (!paths_socket_fits(path)) {
        term_say(&term, "the socket path '%s' is too long: %zu bytes, a Unix socket takes %d", path,
                 strlen(path), PATHS_SOCKET_MAX);
        return EX_USAGE;
    }
    int fd = connect_to(path);
    if (fd < 0) {
        term_say(&term,
                 "no daemon at %s: %s; start one with 'nvtxtd' or name its control socket "
                 "with --socket",
                 path, strerror(-fd));
        return EX_UNAVAILABLE;
    }
    status = ask(fd, &args, &term);
    close(fd);
    return status;
}
