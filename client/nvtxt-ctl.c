// SPDX-License-Identifier: Apache-2.0
//
// nvtxt-ctl: one question to a daemon's control socket, one answer. The daemon's table of commands
// is the only one; what it does not know is refused by it.
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "client/nvtxt-ctl_link.h"
#include "client/nvtxt-ctl_metrics.h"
#include "client/nvtxt-ctl_options.h"
#include "client/nvtxt-ctl_tail.h"
#include "client/nvtxt-ctl_text.h"
#include "client/nvtxt-ctl_top.h"
#include "client/paths.h"
#include "client/term.h"

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

static int print_result(const struct ctl_options *options, struct term *term,
                        const json_t *result) {
    if (!options->json && strcmp(options->command, "metrics") == 0) {
        return ctl_metrics_print(term, result, options->output);
    }
    if (options->json) {
        json_dumpf(result, stdout, JSON_COMPACT);
        fputc('\n', stdout);
    } else {
        ctl_print(stdout, options->command, result);
    }
    if (fflush(stdout) != 0) {
        term_say(term, "cannot write: %s", strerror(errno));
        return EX_IOERR;
    }
    bool bad = json_is_false(json_object_get(result, "healthy")) ||
               json_is_false(json_object_get(result, "sound"));
    return bad ? 1 : 0;
}

static int conclude(const struct ctl_options *options, struct term *term,
                    const struct nvtxt_ctl_reply *reply) {
    if (reply->ok) {
        return print_result(options, term, reply->result);
    }
    term_say(term, "%s: %s", options->command, reply->message);
    return strcmp(reply->code, NVTXT_CTL_UNKNOWN_COMMAND) == 0 ||
                   strcmp(reply->code, NVTXT_CTL_BAD_ARGUMENT) == 0
               ? EX_USAGE
               : 1;
}

static int ask(struct ctl_link *link, const struct ctl_options *options, struct term *term) {
    struct nvtxt_ctl_reply reply = {0};
    json_t *arguments = ctl_options_arguments(options);
    int result = arguments ? ctl_link_ask(link, options->command, arguments,
                                          (int)options->timeout_ms, &reply)
                           : -ENOMEM;
    int status = EX_UNAVAILABLE;
    if (result == 0) {
        status = conclude(options, term, &reply);
    } else if (result == -EPROTO) {
        term_say(term, "the daemon's answer is not understood");
        status = EX_PROTOCOL;
    } else if (result == -ETIMEDOUT) {
        term_say(term,
                 "the daemon at %s has not answered for %g s: it is stopped or stuck; --timeout "
                 "waits longer",
                 link->path, (double)options->timeout_ms / 1000);
    } else {
        term_say(term, "the daemon did not answer: %s", strerror(-result));
    }
    json_decref(arguments);
    nvtxt_ctl_reply_deinit(&reply);
    return status;
}

int main(int argc, char **argv) {
    struct term term;
    struct ctl_options options;
    struct ctl_link link;
    char buffer[PATH_MAX];
    term_init(&term, "nvtxt-ctl");
    int status = ctl_options_parse(&options, &term, argc, argv);
    if (status != 0) {
        return status < 0 ? 0 : status;
    }
    const char *path = control_path(options.socket, buffer, sizeof buffer);
    if (!paths_socket_fits(path)) {
        term_say(&term, "the socket path '%s' is too long: %zu bytes, a Unix socket takes %d", path,
                 strlen(path), PATHS_SOCKET_MAX);
        return EX_USAGE;
    }
    ctl_link_init(&link, path);
    int result = ctl_link_open(&link);
    if (result < 0) {
        term_say(&term, "no daemon at %s: %s; %s", path, strerror(-result),
                 result == -EACCES
                     ? "only root and the user that it runs as may use its control socket"
                     : "start one with 'nvtxtd' or name its control socket with --socket");
        return EX_UNAVAILABLE;
    }
    status = strcmp(options.command, "tail") == 0  ? ctl_tail(&link, &options, &term)
             : strcmp(options.command, "top") == 0 ? ctl_top(&link, &options, &term)
                                                   : ask(&link, &options, &term);
    ctl_link_close(&link);
    return status;
}
