// SPDX-License-Identifier: Apache-2.0
//
// nvtxt-send: sends files or stdin to a daemon and waits until they are committed. Here are the
// order of the files, or of the spools of earlier processes, and the exit status. send_options
// reads the options, command runs a command, transfer does the rest.
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/common/clock.h"
#include "client/common/input.h"
#include "client/common/outcome.h"
#include "client/common/signals.h"
#include "client/common/term.h"
#include "client/locate/find.h"
#include "client/locate/probe.h"
#include "client/locate/search.h"
#include "client/nvtx/nvtx_run.h"
#include "client/nvtx/salvage.h"
#include "client/send/command.h"
#include "client/send/mark.h"
#include "client/send/resume.h"
#include "client/send/send_options.h"
#include "client/send/steps.h"
#include "client/send/transfer.h"
#include "client/session/window.h"
#include "client/spool/spool.h"
#include "client/text/sniff.h"
#include "config.h"
#include "protocol/text/uuid.h"
#include "protocol/wire/hello.h"

#define PROCESSES_MS 20 // how often it looks whether they have ended

// ---- New sessions -------------------------------------------------------------------------------

static enum outcome send_session(struct send_arguments *args, struct term *term,
                                 struct input *input, const struct nvtxt_hello *hello) {
    struct spool spool = {.dir_fd = -1};
    if (!args->spool) {
        return transfer_run(&args->transfer, input, NULL, hello, term);
    }
    int result =
        spool_create(&spool, args->spool, hello, args->spool_limit, args->transfer.sync_ms >= 0);
    enum outcome outcome = OUTCOME_NO_OUTPUT;
    if (result != 0) {
        term_say(term, "no spool can be made: %s", spool.fault);
    } else {
        outcome = transfer_run(&args->transfer, input, &spool, hello, term);
    }
    spool_close(&spool);
    return outcome;
}

// A command whose lines are read.
static bool has_lines(const struct send_arguments *args) {
    return args->command && !args->range && !args->steps && (!args->nvtx || args->record_output);
}

static enum outcome make_hello(const struct send_arguments *args, struct term *term,
                               const char *name, uint32_t pid, struct nvtxt_hello *hello) {
    *hello = (struct nvtxt_hello){
        .protocol = NVTXT_PROTOCOL_VERSION,
        .client = "nvtxt-send " PACKAGE_VERSION,
        .has_pid = true,
        .pid = pid,
        .mapping = args->mapping.mapping,
        .escapes = args->is_text || args->command || args->mark,
        .levels = args->is_text || has_lines(args),
        .nvtx = args->nvtx ? NVTXT_NVTX_VERSION : 0,
        .diagnostics = !args->transfer.quiet,
    };
    snprintf(hello->name, sizeof(hello->name), "%s", args->name ? args->name : name);
    memcpy(hello->session, args->session, sizeof(hello->session));
    int result = *args->session ? 0 : nvtxt_uuid_make(hello->session);
    if (result < 0) {
        term_say(term, "no random numbers for a session id: %s", strerror(-result));
        return OUTCOME_SYSTEM;
    }
    return 0;
}

// ---- Logs that are not NVTXT --------------------------------------------------------------------

struct log_check {
    struct sniff sniff;
    struct term *term;
    const char *name;
};

static void check_read(void *context, const char *data, size_t len) {
    struct log_check *check = context;
    if (sniff_bytes(&check->sniff, data, len)) {
        term_say(check->term, "%s: no line of its beginning is NVTXT: is it a log? use --text",
                 check->name);
    }
}

// A file is checked before anything of it is sent; other inputs while they are read, with a
// warning.
static enum outcome begin_log_check(struct log_check *check, const struct send_arguments *args,
                                    struct term *term, struct input *input, bool is_file) {
    *check = (struct log_check){.term = term, .name = input->name};
    if (args->is_text || (args->transfer.quiet && !is_file)) {
        return 0;
    }
    if (sniff_init(&check->sniff, &args->mapping.mapping) != 0) {
        term_say(term, "out of memory");
        return OUTCOME_SYSTEM;
    }
    if (!is_file) {
        input->on_read = check_read;
        input->context = check;
    } else if (sniff_file(&check->sniff, input)) {
        term_say(term, "%s: no line of its beginning is NVTXT: is it a log? use --text",
                 input->name);
        return OUTCOME_BAD_DATA;
    }
    return 0;
}

static enum outcome send_file(struct send_arguments *args, struct term *term, const char *path) {
    struct input input;
    struct log_check check;
    int result = input_open(&input, path);
    if (result != 0) {
        term_say(term, "%s: %s", input.name, input_why(result));
        return OUTCOME_NO_INPUT;
    }
    struct nvtxt_hello hello;
    bool is_file = input.is_regular && strcmp(path, "-") != 0;
    enum outcome outcome = begin_log_check(&check, args, term, &input, is_file);
    outcome = outcome ? outcome : make_hello(args, term, input.name, args->pid, &hello);
    if (outcome == OUTCOME_DONE) {
        outcome = send_session(args, term, &input, &hello);
    }
    sniff_deinit(&check.sniff);
    input_close(&input);
    return outcome;
}

// Sends one marker as a whole session.
static enum outcome send_mark_once(struct send_arguments *args, struct term *term,
                                   const struct mark *mark) {
    struct input input;
    struct nvtxt_hello hello;
    int result = mark_open(&input, mark);
    if (result < 0) {
        term_say(term, "the mark cannot be made: %s", strerror(-result));
        input_close(&input);
        return OUTCOME_SYSTEM;
    }
    args->transfer.made_up = true;
    enum outcome outcome = make_hello(args, term, input.name, mark->pid, &hello);
    hello.diagnostics |= args->transfer.tries;
    if (outcome == OUTCOME_DONE) {
        outcome = send_session(args, term, &input, &hello);
    }
    input_close(&input);
    return outcome;
}

// Sends one marker, of now. The process that started us is none of ours: a daemon with Claim=peer
// does not take it. Then the marker is our own process's.
static enum outcome send_mark(struct send_arguments *args, struct term *term) {
    struct mark mark = {.text = args->mark,
                        .category = args->text.category,
                        .payload = args->payload,
                        .color = args->text.color,
                        .pid = args->has_pid ? args->pid : mark_usual_pid(),
                        .time_ns = clock_realtime_ns()};
    args->transfer.tries = !args->has_pid;
    enum outcome outcome = send_mark_once(args, term, &mark);
    if (outcome == OUTCOME_FAULTS && args->transfer.foreign) {
        mark.pid = (uint32_t)getpid();
        args->transfer.tries = args->transfer.foreign = false;
        outcome = send_mark_once(args, term, &mark);
    }
    return outcome;
}

// A file that is missing or has errors does not keep the others from being sent; with a spool a
// missing daemon does not either. Any other trouble with the daemon ends it, as does a file that is
// a log. The worst outcome counts.
static enum outcome send_files(struct send_arguments *args, struct term *term, char **paths) {
    static char *only_stdin[] = {"-", NULL};
    enum outcome status = OUTCOME_DONE;
    for (char **path = *paths ? paths : only_stdin; *path; path++) {
        enum outcome result = send_file(args, term, *path);
        bool kept = args->spool && result == OUTCOME_LATER;
        if (result > OUTCOME_FAULTS && result != OUTCOME_NO_INPUT && result != OUTCOME_IO &&
            !kept) {
            return result;
        }
        status = result > status ? result : status;
        if (signals_count() > 0 && path[1]) {
            term_say(term, "stopped before %s", path[1]);
            return OUTCOME_STOPPED;
        }
    }
    return status;
}

// ---- A command ----------------------------------------------------------------------------------

// The command runs already: a failure here only keeps it from being recorded.
static void run_command(struct send_arguments *args, struct term *term, struct child *child,
                        struct steps *steps, int64_t begun_ns) {
    struct spool spool = {.dir_fd = -1};
    struct nvtxt_hello hello;
    struct command_record record = {.transfer = &args->transfer,
                                    .text = &args->text,
                                    .hello = &hello,
                                    .begun_ns = begun_ns,
                                    .label = args->range,
                                    .has_color = args->range && args->has_color,
                                    .steps = args->steps ? steps : NULL,
                                    .records_itself = args->nvtx};
    bool good = make_hello(args, term, args->command[0], (uint32_t)child->pid, &hello) == 0;
    if (good && args->spool) {
        record.spool = &spool;
        good = spool_create(&spool, args->spool, &hello, args->spool_limit,
                            args->transfer.sync_ms >= 0) == 0;
        if (!good) {
            term_say(term, "no spool can be made: %s; %s runs on without being recorded",
                     spool.fault, args->command[0]);
        }
    }
    command_run(child, args->command, good ? &record : NULL, term);
    spool_close(&spool);
}

// Says where what was not sent is.
static void say_left(const struct send_arguments *args, struct term *term, const char *dir,
                     size_t in_use) {
    char count[TERM_COUNT_SIZE];
    if (in_use == 0) {
        term_say(term, "not all that %s recorded is sent: 'nvtxt-send --resume %s' sends the rest",
                 args->command[0], dir);
        return;
    }
    term_say(term, "%s that %s started still record%s: 'nvtxt-send --resume %s' sends what %s",
             in_use == 1 ? "a process" : term_count(count, in_use), args->command[0],
             in_use == 1 ? "s" : "", dir, in_use == 1 ? "it leaves" : "processes leave");
}

// Whether there is a daemon to send to. One that was there is waited for.
static bool may_send(const struct send_arguments *args) {
    struct search probed = *args->transfer.search;
    if (args->transfer.wait || args->transfer.search->won >= 0) {
        return true;
    }
    probe_sockets(&probed, false);
    return probed.won >= 0;
}

// Processes that the command started may be ending just now. Returns how many of them go on.
static size_t wait_for_processes(const char *dir) {
    int64_t until = clock_monotonic_ms() + COMMAND_LINGER_MS;
    size_t in_use;
    while ((in_use = salvage_in_use(dir)) > 0 && clock_monotonic_ms() < until &&
           signals_count() == 0) {
        struct pollfd signals = {.fd = signals_fd(), .events = POLLIN};
        (void)poll(&signals, 1, PROCESSES_MS);
    }
    return in_use;
}

// Sends what processes of the command left that were killed. A signal ends this, and what is left
// stays.
static void send_rest(struct send_arguments *args, struct term *term, struct child *child,
                      struct nvtx_run *run) {
    struct transfer_options options = args->transfer;
    size_t in_use = 0;
    options.resume = options.one_chance = true;
    options.only_errors = !options.verbose; // a killed process leaves its ranges open
    options.text = NULL;
    options.timeout_ms = options.timeout_ms < 0 ? COMMAND_PATIENCE_MS : options.timeout_ms;
    if (signals_init() == 0 && !child->interrupted) {
        child_release_signals(child);
        in_use = wait_for_processes(run->folder);
        (void)salvage_folder(run->folder, true, term);
        if (!options.given_up && may_send(args)) {
            (void)resume_sessions(&options, run->folder, term);
        }
    }
    args->transfer.too_old |= options.too_old;
    if (nvtx_run_leave_folder(run) || in_use > 0) {
        say_left(args, term, run->folder, in_use);
    }
}

// The daemon that is there: the command's programs need not look for it, whatever their
// environment. Where there is none, the place that was named.
static const char *command_socket(const struct search *search, struct search *probed) {
    const struct search_place *first = &search->places[0];
    *probed = *search;
    if (search->count > 1) {
        probe_sockets(probed, false);
    }
    return probed->won >= 0  ? probed->places[probed->won].path
           : first->is_named ? first->path
                             : NULL;
}

// Prints the variables for programs that somebody else starts.
static enum outcome print_variables(const struct send_arguments *args, struct term *term) {
    struct nvtx_run run;
    struct search probed;
    if (!nvtx_run_find(&run, command_socket(args->transfer.search, &probed), args->spool, term)) {
        return OUTCOME_NO_INPUT;
    }
    if (args->spool) {
        nvtx_run_make_folder(&run, term);
    }
    int result = nvtx_run_print(&run);
    if (result < 0) {
        term_say(term, "stdout: %s", strerror(-result));
        return outcome_of_write(result);
    }
    return OUTCOME_DONE;
}

static void begin_nvtx(const struct send_arguments *args, struct nvtx_run *run, struct term *term) {
    struct search probed;
    (void)nvtx_run_find(run, command_socket(args->transfer.search, &probed), args->spool, term);
    nvtx_run_make_folder(run, term);
    nvtx_run_set(run);
}

// Returns the exit status.
static int fail_to_start(const struct send_arguments *args, struct term *term, int result) {
    term_say(term, result > 0 ? "%s: %s" : "%s cannot be started: %s", args->command[0],
             strerror(result > 0 ? result : -result));
    return result == ENOENT ? 127 : result > 0 ? 126 : outcome_exit_status(OUTCOME_SYSTEM);
}

// Returns the exit status.
static int send_command(struct send_arguments *args, struct term *term) {
    struct child child;
    struct steps steps = {.fd = -1};
    struct nvtx_run nvtx = {.is_private = false};
    bool pipes = has_lines(args);
    if (args->steps) { // without it the command runs all the same
        (void)steps_begin(&steps, term);
        args->steps = *steps.folder;
    }
    if (args->nvtx) {
        begin_nvtx(args, &nvtx, term);
    }
    int64_t begun_ns = clock_realtime_ns();
    int result = child_start(&child, args->command, pipes);
    if (result == 0) {
        run_command(args, term, &child, &steps, begun_ns);
    }
    steps_end(&steps);
    child_close(&child);
    if (result == 0 && *nvtx.folder) {
        send_rest(args, term, &child, &nvtx);
    }
    if (result != 0) {
        (void)nvtx_run_leave_folder(&nvtx);
        return fail_to_start(args, term, result);
    }
    child_die_likewise(&child);
    bool lacks = args->nvtx && args->transfer.too_old && child_exit_code(&child) == 0;
    return lacks ? outcome_exit_status(OUTCOME_PROTOCOL) : child_exit_code(&child);
}

static enum outcome send_inputs(struct send_arguments *args, struct term *term) {
    int result = signals_init();
    if (result < 0) {
        term_say(term, "cannot catch signals: %s", strerror(-result));
        return OUTCOME_SYSTEM;
    }
    if (args->mark) {
        return send_mark(args, term);
    }
    return args->resume ? resume_folder(&args->transfer, args->resume, term)
                        : send_files(args, term, args->files);
}

// Returns the exit status.
static int run(struct send_arguments *args, struct term *term) {
    struct search search;
    search_data(&search, args->socket);
    enum outcome outcome = find_check_path(term, &search);
    if (outcome != OUTCOME_DONE) {
        return outcome_exit_status(outcome);
    }
    args->transfer.search = &search;
    if (args->print) {
        return outcome_exit_status(print_variables(args, term));
    }
    return args->command ? send_command(args, term) : outcome_exit_status(send_inputs(args, term));
}

int main(int argc, char **argv) {
    struct term term;
    if (argc > 2 && strcmp(argv[1], STEPS_OPTION) == 0) {
        return argc > 3 ? steps_run_line(argv + 2) : outcome_exit_status(OUTCOME_USAGE);
    }
    term_init(&term, "nvtxt-send");
    struct send_arguments args = {
        .transfer = {.wait_ms = -1, .timeout_ms = -1, .sync_ms = -1, .window_bytes = WINDOW_LIMIT},
        .pid = (uint32_t)getpid(),
        .spool_limit = SPOOL_LIMIT,
    };
    enum outcome outcome = send_arguments_parse(&args, &term, argc, argv);
    args.transfer.text = args.is_text ? &args.text : NULL;
    int status = outcome == OUTCOME_DONE ? run(&args, &term) : outcome_exit_status(outcome);
    levels_deinit(&args.text.levels);
    return status;
}
