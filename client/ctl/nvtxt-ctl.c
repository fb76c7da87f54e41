// SPDX-License-Identifier: Apache-2.0
//
// nvtxt-ctl: sends one request to a daemon's control socket and prints the answer; top, tail and
// where are modules of their own. Only the daemon knows all commands: it refuses unknown ones.
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/common/out_file.h"
#include "client/common/result_file.h"
#include "client/common/term.h"
#include "client/ctl/ctl.h"
#include "client/ctl/ctl_format.h"
#include "client/ctl/ctl_options.h"
#include "client/locate/control_link.h"
#include "client/locate/find.h"
#include "client/locate/probe.h"
#include "client/locate/search.h"
#include "protocol/base/origin.h"

#define FILE_MODE 0644     // the collector is another user
#define SNAPSHOT_MODE 0640 // as of a store, less what the umask takes away

// ---- Metrics ------------------------------------------------------------------------------------

static int write_text(int fd, const char *text) {
    size_t len = strlen(text);
    while (len > 0) {
        ssize_t n = write(fd, text, len);
        if (n < 0 && errno != EINTR) {
            return nvtxt_origin(-errno);
        }
        text += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

// A reader sees the old file or the new one. Whatever the umask is, all may read it.
static enum outcome put_file(struct term *term, const char *path, const char *text) {
    struct result_file file;
    struct stat status;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        term_say(term, "%s is no regular file; it is not replaced", path);
        return OUTCOME_NO_OUTPUT;
    }
    int r = signals_init();
    enum outcome outcome = r < 0 ? OUTCOME_SYSTEM : result_file_open(&file, term, path);
    if (outcome != 0) {
        return outcome;
    }
    r = write_text(file.fd, text);
    if (r == 0 && file.temp[0] && fchmod(file.fd, FILE_MODE) != 0) {
        r = nvtxt_origin(-errno);
    }
    if (r < 0) {
        result_file_discard(&file);
        if (r == -EPIPE) { // it has all that it wanted
            return OUTCOME_DONE;
        }
        term_say(term, "cannot write %s: %s", path, strerror(-r));
        return outcome_of_write(r);
    }
    return result_file_publish(&file, term);
}

// Prints the daemon's text for Prometheus unchanged, to stdout or to the file `output`. The file
// appears whole: before that it has a name that no collector reads.
static enum outcome print_metrics(struct term *term, const json_t *result, const char *output) {
    const char *text = json_string_value(json_object_get(result, "text"));
    if (!text) {
        term_say(term, "the daemon's answer is not understood");
        return OUTCOME_PROTOCOL;
    }
    if (!output) {
        if (term_print(text, strlen(text))) {
            return 0;
        }
        term_say(term, "cannot write: %s", strerror(errno));
        return OUTCOME_IO;
    }
    return put_file(term, output, text);
}

// ---- One question -------------------------------------------------------------------------------

static bool print_text(const char *command, const json_t *result) {
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (!out) {
        return false;
    }
    ctl_print(out, command, result);
    bool done = fclose(out) == 0 && term_print(text, len);
    free(text);
    return done;
}

static enum outcome print_result(const struct ctl_options *options, struct term *term,
                                 const json_t *result) {
    if (!options->json && strcmp(options->command, "metrics") == 0) {
        return print_metrics(term, result, options->output);
    }
    if (options->json) {
        format_json(result);
    }
    if (options->json ? fflush(stdout) != 0 : !print_text(options->command, result)) {
        term_say(term, "cannot write: %s", strerror(errno));
        return OUTCOME_IO;
    }
    bool bad = json_is_false(json_object_get(result, "healthy")) ||
               json_is_false(json_object_get(result, "sound"));
    return bad ? OUTCOME_FAULTS : OUTCOME_DONE;
}

// Prints the daemon's message, a line for each of its lines.
static void say_lines(struct term *term, const char *command, const char *message) {
    while (*message) {
        size_t len = strcspn(message, "\n");
        term_say(term, "%s: %.*s", command, (int)len, message);
        message += len + (message[len] == '\n');
    }
}

// `made`: what the daemon has written into it is complete; NULL: there is no file.
static enum outcome conclude(const struct ctl_options *options, struct term *term,
                             const struct nvtxt_ctl_reply *reply, struct out_file *made) {
    if (reply->ok) {
        enum outcome outcome = made ? out_file_publish(made, term) : OUTCOME_DONE;
        if (made) {
            json_object_set_new(reply->result, "file", json_string(made->path));
        }
        return outcome ?: print_result(options, term, reply->result);
    }
    if (made && strstr(reply->message, "takes no argument")) { // as 0.1.0 says it
        term_say(term,
                 "the daemon is too old for 'snapshot -o': '%s' is not made; without -o the "
                 "daemon makes the file itself",
                 made->path);
        return OUTCOME_PROTOCOL;
    }
    if (made) {
        term_say(term, "snapshot: %s is not made", made->path);
    }
    say_lines(term, options->command, reply->message);
    if (strcmp(reply->code, NVTXT_CTL_FORBIDDEN) == 0) {
        return OUTCOME_FORBIDDEN;
    }
    if (strcmp(reply->code, NVTXT_CTL_BUSY) == 0) {
        return OUTCOME_LATER;
    }
    return strcmp(reply->code, NVTXT_CTL_UNKNOWN_COMMAND) == 0 ||
                   strcmp(reply->code, NVTXT_CTL_BAD_ARGUMENT) == 0
               ? OUTCOME_USAGE
               : OUTCOME_FAULTS;
}

static enum outcome say_stuck(const struct ctl_options *options, struct term *term,
                              const char *path) {
    term_say(term,
             "the daemon at %s has not answered for %g s: it is stopped or stuck; --timeout waits "
             "longer",
             path, (double)options->timeout_ms / 1000);
    return OUTCOME_NO_DAEMON;
}

static enum outcome ask(struct control_link *link, const struct ctl_options *options,
                        struct term *term, struct out_file *made) {
    struct nvtxt_ctl_reply reply = {0};
    json_t *arguments = ctl_options_arguments(options);
    int r = arguments ? control_link_ask(link, options->command, arguments,
                                         (int)options->timeout_ms, &reply)
                      : nvtxt_origin(-ENOMEM);
    enum outcome outcome = OUTCOME_NO_DAEMON;
    if (r == 0) {
        outcome = conclude(options, term, &reply, made);
    } else if (r == CONTROL_LINK_BAD_ANSWER) {
        term_say(term, "the daemon's answer is not understood");
        outcome = OUTCOME_PROTOCOL;
    } else if (r == CONTROL_LINK_TIMEOUT) {
        outcome = say_stuck(options, term, link->path);
    } else {
        term_say(term, "the daemon did not answer: %s", control_link_why(r));
    }
    json_decref(arguments);
    nvtxt_ctl_reply_deinit(&reply);
    return outcome;
}

// The daemon that is used has a data socket, but its control socket cannot be used.
static enum outcome say_no_control(const struct ctl_options *options, struct term *term,
                                   const struct found *found) {
    const struct search_place *data = &found->data.places[found->won];
    const struct search_place *control = &found->control.places[found->won];
    if (found->silent == CONTROL_LINK_TIMEOUT && data->is_named) {
        return say_stuck(options, term, data->path);
    }
    if (control->state != SEARCH_FORBIDDEN) {
        term_say(term, "no control socket of the daemon at %s (%s) at %s: %s", data->path,
                 data->whose, control->path,
                 found->silent ? control_link_why(found->silent) : search_why(control));
        return OUTCOME_NO_DAEMON;
    }
    const struct search one = {.places = {*control}, .count = 1, .won = -1};
    return find_say_none(term, &one);
}

// Uses the daemon that was named, or the first that accepts.
static enum outcome connect_daemon(struct control_link *link, const struct ctl_options *options,
                                   struct found *found, struct term *term) {
    bool named = search_is_named(&found->data);
    int timeout_ms = (int)options->timeout_ms;
    struct find_how how = {.named = options->socket,
                           .wait = true,
                           .no_store = true,
                           .timeout_ms = named || (timeout_ms >= 0 && timeout_ms < PROBE_ASK_MS)
                                             ? timeout_ms
                                             : PROBE_ASK_MS};
    find_daemon(found, &how);
    if (found->won < 0) {
        return find_say_none(term, named ? &found->data : &found->control);
    }
    if (found->control.won < 0) {
        return say_no_control(options, term, found);
    }
    control_link_init(link, found->control.places[found->won].path);
    int r = control_link_open(link, true);
    if (r != 0) {
        term_say(term, "no daemon at %s: %s", link->path, control_link_why(r));
    }
    return r == 0 ? OUTCOME_DONE : OUTCOME_NO_DAEMON;
}

// The file is made here, with this user's rights, and its descriptor goes to the daemon.
static enum outcome make_snapshot(struct control_link *link, const struct ctl_options *options,
                                  struct term *term) {
    struct out_file made;
    struct stat status;
    if (lstat(options->output, &status) == 0) {
        term_say(term, "%s exists already: name another file, or move that one away",
                 options->output);
        return OUTCOME_NO_OUTPUT;
    }
    enum outcome outcome = out_file_init(&made, term, options->output, false);
    if (outcome != OUTCOME_DONE) {
        return outcome;
    }
    out_file_sweep(&made);
    int fd = open(made.temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, SNAPSHOT_MODE);
    if (fd < 0) {
        int error = errno;
        term_say(term, "cannot create %s: %s", options->output, strerror(error));
        return outcome_of_write(nvtxt_origin(-error));
    }
    int held = out_file_hold(&made);
    link->passed = fd;
    outcome = ask(link, options, term, &made);
    out_file_discard(&made);
    close(fd);
    if (held >= 0) {
        close(held);
    }
    return outcome;
}

static enum outcome run_command(struct control_link *link, const struct ctl_options *options,
                                struct term *term) {
    if (strcmp(options->command, "tail") == 0) {
        return ctl_tail(link, options, term);
    }
    if (strcmp(options->command, "top") == 0) {
        return ctl_top(link, options, term);
    }
    if (strcmp(options->command, "snapshot") == 0 && options->output) {
        return make_snapshot(link, options, term);
    }
    return ask(link, options, term, NULL);
}

static enum outcome run_program(const struct ctl_options *options, struct term *term) {
    struct control_link link;
    struct found found;
    search_data(&found.data, options->socket);
    enum outcome outcome = find_check_path(term, &found.data);
    if (outcome != OUTCOME_DONE) {
        return outcome;
    }
    if (strcmp(options->command, "where") == 0) {
        return ctl_where(options, term);
    }
    outcome = connect_daemon(&link, options, &found, term);
    if (outcome != OUTCOME_DONE) {
        return outcome;
    }
    outcome = run_command(&link, options, term);
    control_link_close(&link);
    return outcome;
}

int main(int argc, char **argv) {
    struct term term;
    struct ctl_options options;
    term_init(&term, "nvtxt-ctl");
    enum outcome outcome = ctl_options_parse(&options, &term, argc, argv);
    return outcome_exit_status(outcome == OUTCOME_DONE ? run_program(&options, &term) : outcome);
}
