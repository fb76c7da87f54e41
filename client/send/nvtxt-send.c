// SPDX-License-Identifier: Apache-2.0
//
// nvtxt-send: sends files or stdin to a daemon and waits until they are committed. Here are the
// order of the files, or of the spools of earlier processes, and the exit status. send_options
// reads the options, command runs a command, transfer does the rest.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/locate/find.h"
#include "client/locate/probe.h"
#include "client/locate/search.h"
#include "client/nvtx/nvtx_run.h"
#include "client/send/command.h"
#include "client/send/send_options.h"
#include "client/send/session_folder.h"
#include "client/text/sniff.h"
#include "config.h"
#include "protocol/base/clock.h"
#include "protocol/text/forms.h"

// ---- New sessions -------------------------------------------------------------------------------

static enum outcome send_session(struct send_arguments *args, struct term *term,
                                 struct input *input, const struct nvtxt_hello *hello) {
    struct spool spool = {.dir_fd = -1};
    if (!args->spool) {
        return transfer_run(&args->transfer, input, NULL, hello, term);
    }
    int r =
        spool_create(&spool, args->spool, hello, args->spool_limit, args->transfer.sync_ms >= 0);
    enum outcome outcome = OUTCOME_NO_OUTPUT;
    if (r != 0) {
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
        .escapes = (args->is_text || args->command || args->mark) && !args->nvtx,
        .levels = args->is_text || has_lines(args),
        .nvtx = args->nvtx || args->steps ? NVTXT_NVTX_VERSION : 0,
        .nvtx_optional = !args->nvtx,
        .diagnostics = !args->transfer.quiet,
    };
    snprintf(hello->name, sizeof(hello->name), "%s", args->name ?: name);
    memcpy(hello->parent, args->parent, sizeof(hello->parent));
    bool is_given = *args->session && !args->command; // a run is another one each time
    memcpy(hello->session, args->session, sizeof(hello->session));
    int r = is_given ? 0 : nvtxt_uuid_make(hello->session);
    if (r < 0) {
        term_say(term, "no random numbers for a session id: %s", strerror(-r));
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

static enum outcome send_input(struct send_arguments *args, struct term *term, struct input *input,
                               bool is_file) {
    struct log_check check;
    struct nvtxt_hello hello;
    enum outcome outcome = begin_log_check(&check, args, term, input, is_file);
    outcome = outcome ?: make_hello(args, term, input->name, args->pid, &hello);
    if (outcome == OUTCOME_DONE) {
        outcome = send_session(args, term, input, &hello);
    }
    sniff_deinit(&check.sniff);
    return outcome;
}

static enum outcome send_file(struct send_arguments *args, struct term *term, const char *path) {
    struct input input;
    int r = input_open(&input, path);
    if (r != 0) {
        term_say(term, "%s: %s", input.name, input_why(r));
        return OUTCOME_NO_INPUT;
    }
    enum outcome outcome =
        send_input(args, term, &input, input.is_regular && strcmp(path, "-") != 0);
    input_close(&input);
    return outcome;
}

// Sends one marker as a whole session.
static enum outcome send_mark_once(struct send_arguments *args, struct term *term,
                                   const struct mark *mark) {
    struct input input;
    struct nvtxt_hello hello;
    int r = mark_open(&input, mark);
    if (r < 0) {
        term_say(term, "the mark cannot be made: %s", strerror(-r));
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
                        .time_ns = nvtxt_realtime_ns()};
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
        enum outcome r = send_file(args, term, *path);
        bool kept = args->spool && r == OUTCOME_LATER;
        if (r > OUTCOME_FAULTS && r != OUTCOME_NO_INPUT && r != OUTCOME_IO && !kept) {
            return r;
        }
        status = r > status ? r : status;
        if (signals_count() > 0 && path[1]) {
            term_say(term, "stopped before %s", path[1]);
            return OUTCOME_STOPPED;
        }
    }
    return status;
}

// ---- The files of a session's folder ------------------------------------------------------------

// The arguments for the files of the folder: they are NVTXT, and stay where they are.
static struct send_arguments arguments_of_files(const struct send_arguments *args,
                                                const struct session_folder *folder) {
    struct send_arguments files = *args;
    files.command = NULL;
    files.name = NULL;
    files.is_text = files.nvtx = files.steps = false;
    memcpy(files.parent, folder->run.parent, sizeof(files.parent));
    files.transfer.text = NULL;
    files.pid = folder->run.pid;
    files.transfer.drop = files.transfer.resume = false;
    files.transfer.stays = true;
    files.transfer.timeout_ms =
        args->transfer.timeout_ms < 0 ? COMMAND_PATIENCE_MS : args->transfer.timeout_ms;
    return files;
}

// Sets `*all` to whether the daemon or the spool has all of the file.
static enum outcome send_session_file(struct send_arguments *files, struct term *term,
                                      const struct session_folder *folder, const char *name,
                                      bool *all) {
    char path[PATH_MAX + NAME_MAX + 2];
    struct input input;
    snprintf(path, sizeof(path), "%s/%s", folder->path, name);
    int r = session_folder_open(folder, path, &input, term);
    r = r ?: session_folder_id(folder, path, files->session);
    enum outcome outcome = OUTCOME_DONE;
    if (r < 0) {
        term_say(term, "%s: %s", path, strerror(-r));
        outcome = OUTCOME_NO_INPUT;
        *all = false;
    } else if (r == 0) {
        files->transfer.spooled = false;
        outcome = send_input(files, term, &input, true);
        *all = (outcome <= OUTCOME_FAULTS || files->transfer.spooled) &&
               session_folder_sent(folder, &input);
    }
    input_close(&input);
    return outcome;
}

// Sends them one after the other. If one cannot be sent, the others still are, unless the reason is
// the daemon. The worst outcome counts; `*all`: nothing is left.
static enum outcome send_session_files(struct send_arguments *files, struct term *term,
                                       const struct session_folder *folder, bool *all) {
    struct dirent **list = NULL;
    int count = session_folder_list(folder, &list);
    enum outcome status = count < 0 ? OUTCOME_IO : OUTCOME_DONE;
    bool stopped = !*folder->run.session;
    *all = count >= 0;
    for (int i = 0; i < count; i++) {
        stopped = stopped || signals_count() > 0 || (files->transfer.given_up && !files->spool);
        if (files->transfer.given_up) { // into the spool, without waiting
            files->transfer.timeout_ms = 0;
        }
        bool sent = !stopped;
        if (!stopped) {
            enum outcome r = send_session_file(files, term, folder, list[i]->d_name, &sent);
            stopped = r > OUTCOME_FAULTS && r != OUTCOME_BAD_DATA && r != OUTCOME_NO_INPUT &&
                      r != OUTCOME_IO && !(files->spool && r == OUTCOME_LATER);
            status = r > status ? r : status;
        }
        *all = *all && sent;
        free(list[i]);
    }
    free(list);
    return signals_count() > 0 ? OUTCOME_STOPPED : status;
}

// Sends what is left in the spools, ring files and files of a folder.
static enum outcome resume(struct send_arguments *args, struct term *term) {
    struct session_folder folder;
    enum outcome status = resume_folder(&args->transfer, args->resume, term);
    bool all;
    if (signals_count() > 0 || !session_folder_find(&folder, args->resume, term)) {
        return status;
    }
    struct send_arguments files = arguments_of_files(args, &folder);
    files.transfer.repeat = true;
    enum outcome r = send_session_files(&files, term, &folder, &all);
    session_folder_end(&folder, all, term);
    return r > status ? r : status;
}

// ---- A command ----------------------------------------------------------------------------------

// Notes whose files those of the folder will be: what they record has the run as its parent.
static void note_run(const struct send_arguments *args, struct session_folder *folder,
                     const struct nvtxt_hello *hello) {
    struct nvtxt_hello run = *hello;
    parent_token(run.parent, hello->session, PARENT_RUN);
    session_folder_note(folder, &run, *args->session ? args->session : hello->session);
}

// The command runs already: a failure here only keeps it from being recorded. A hello without a
// session: it cannot be.
static void run_command(struct send_arguments *args, struct term *term, struct child *child,
                        struct runs *runs, struct steps *steps, struct session_folder *folder,
                        struct nvtxt_hello *hello) {
    struct spool spool = {.dir_fd = -1};
    struct command_record record = {.transfer = &args->transfer,
                                    .text = &args->text,
                                    .hello = hello,
                                    .begun_ns = runs->begun_ns,
                                    .label = args->range,
                                    .has_color = args->range && args->has_color,
                                    .steps = args->steps ? steps : NULL,
                                    .records_itself = args->nvtx};
    bool good = *hello->session != '\0';
    if (good && runs->wanted == 0) {
        hello->pid = (uint32_t)child->pid;
        note_run(args, folder, hello);
    }
    if (good && args->spool) {
        record.spool = &spool;
        good = spool_create(&spool, args->spool, hello, args->spool_limit,
                            args->transfer.sync_ms >= 0) == 0;
        if (!good) {
            term_say(term, "no spool can be made: %s; %s runs on without being recorded",
                     spool.fault, args->command[0]);
        }
    }
    command_run(child, args->command, good ? &record : NULL, runs->wanted > 0 ? runs : NULL, term);
    spool_close(&spool);
}

// Sends the files that the command put into the folder. Returns whether nothing is left.
static bool send_folder(struct send_arguments *args, struct term *term,
                        struct session_folder *folder, bool goes_on) {
    struct send_arguments files = arguments_of_files(args, folder);
    bool all;
    files.transfer.repeat = *args->session;
    files.transfer.given_up = args->transfer.given_up || !send_has_daemon(args);
    if (!goes_on) {
        folder->run.session[0] = '\0'; // a signal came: none is sent now
    }
    (void)send_session_files(&files, term, folder, &all);
    return all;
}

// What the command records has its run as the parent, if that will be recorded.
static void begin_run(struct send_arguments *args, struct runs *runs, struct nvtxt_hello *hello,
                      struct term *term) {
    if (make_hello(args, term, args->command[0], args->pid, hello) != 0) {
        hello->session[0] = '\0';
    } else if (args->spool || args->transfer.wait || probe_is_there(args->transfer.search)) {
        runs->session = hello->session;
    }
}

// Returns the exit status.
static int fail_to_start(const struct send_arguments *args, struct term *term, int r) {
    term_say(term, r > 0 ? "%s: %s" : "%s cannot be started: %s", args->command[0],
             strerror(r > 0 ? r : -r));
    return r == ENOENT ? 127 : r > 0 ? 126 : outcome_exit_status(OUTCOME_SYSTEM);
}

// How the command ended: by its status, or as it was ended.
static int end_likewise(const struct runs *runs, struct child *child) {
    if (runs->wanted > 0 && !runs->left_out) {
        return child->asked_to_end ? 128 + child->asked_to_end : 0; // between two runs; or all done
    }
    child_die_likewise(child);
    return child_exit_code(child);
}

// With --repeat: what comes before the runs that are recorded. Returns as child_start().
static int begin_runs(struct runs *runs, struct child *child, const struct send_arguments *args,
                      struct term *term) {
    *runs = (struct runs){.wanted = (size_t)args->repeat,
                          .warm_ups = (size_t)args->warm_ups,
                          .ignore_failure = args->ignore_failure};
    *child = (struct child){.out = -1, .err = -1, .signals = -1};
    int r = runs->wanted > 0 ? runs_begin(runs) : 0;
    return r ?: runs_warm_up(runs, child, args->command, term);
}

// Says what the runs took, and how to see each of them.
static void say_runs(const struct runs *runs, const struct child *child,
                     const struct send_arguments *args, struct term *term) {
    if (runs->wanted == 0 || args->transfer.quiet) {
        return;
    }
    runs_print(runs, child, args->range, term);
    if (runs->count > 1 && (args->transfer.connected_before || args->spool)) {
        runs_print_hint(args->range, term);
    }
}

// Runs it with what it needs to be recorded. Returns the exit status.
static int record_command(struct send_arguments *args, struct term *term, struct child *child,
                          struct runs *runs) {
    struct steps steps = {.fd = -1};
    struct nvtx_run nvtx = {.is_private = false};
    struct session_folder folder;
    struct nvtxt_hello hello;
    bool all = true;
    session_folder_begin(&folder, args->session_folder, term);
    begin_run(args, runs, &hello, term);
    if (*hello.session) { // with our pid: a kill may come before that of the command is known
        note_run(args, &folder, &hello);
    }
    if (args->steps && *hello.session) { // without it the command runs all the same
        (void)steps_begin(&steps, hello.session, term);
    }
    args->steps = *steps.folder;
    if (args->nvtx) {
        nvtx_command_begin(args, &nvtx, term);
    }
    int r = runs_start(runs, child, args->command, has_lines(args));
    if (r == 0) {
        run_command(args, term, child, runs, &steps, &folder, &hello);
        say_runs(runs, child, args, term);
    }
    steps_end(&steps);
    child_close(child);
    bool goes_on = r == 0 && signals_init() == 0 && !child->interrupted;
    if (goes_on) {
        child_release_signals(child);
    }
    if (r == 0 && *nvtx.folder) {
        nvtx_command_end(args, term, &nvtx, goes_on);
    }
    if (r == 0 && *folder.path) {
        all = send_folder(args, term, &folder, goes_on);
    }
    session_folder_end(&folder, all, term);
    if (r != 0) {
        (void)nvtx_run_leave_folder(&nvtx);
    }
    if (r != 0 || runs->error != 0) {
        return fail_to_start(args, term, r ?: runs->error);
    }
    int code = end_likewise(runs, child);
    bool lacks = args->nvtx && args->transfer.too_old && code == 0;
    return lacks ? outcome_exit_status(OUTCOME_PROTOCOL) : code;
}

// Returns the exit status.
static int send_command(struct send_arguments *args, struct term *term) {
    struct child child;
    struct runs runs;
    int status;
    int r = begin_runs(&runs, &child, args, term);
    if (r == 0 && !runs.stopped) {
        status = record_command(args, term, &child, &runs);
    } else {
        child_close(&child);
        status = r != 0 ? fail_to_start(args, term, r) : end_likewise(&runs, &child);
    }
    runs_deinit(&runs);
    return status;
}

static enum outcome send_inputs(struct send_arguments *args, struct term *term) {
    int r = signals_init();
    if (r < 0) {
        term_say(term, "cannot catch signals: %s", strerror(-r));
        return OUTCOME_SYSTEM;
    }
    if (args->mark) {
        return send_mark(args, term);
    }
    if (args->is_journal) {
        return send_journal(args, term);
    }
    return args->resume ? resume(args, term) : send_files(args, term, args->files);
}

// Returns the exit status.
static int run_sender(struct send_arguments *args, struct term *term) {
    struct search search;
    search_data(&search, args->socket);
    enum outcome outcome = find_check_path(term, &search);
    if (outcome != OUTCOME_DONE) {
        return outcome_exit_status(outcome);
    }
    args->transfer.search = &search;
    if (args->print) {
        return outcome_exit_status(nvtx_command_print(args, term));
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
    if (outcome == OUTCOME_DONE && !args.resume && !args.print) {
        parent_take(args.parent, &term);
    }
    args.transfer.text = args.is_text ? &args.text : NULL;
    int status = outcome == OUTCOME_DONE ? run_sender(&args, &term) : outcome_exit_status(outcome);
    levels_deinit(&args.text.levels);
    free(args.units.words);
    return status;
}
