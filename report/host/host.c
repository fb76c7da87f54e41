// SPDX-License-Identifier: Apache-2.0
//
// Each use of a file: a command line, a process, an exchange, and a reason when it went wrong. Each
// process gets what was read of the file once, before the first. The objects that capture() gives
// are made once, when a rule first asks for them.
#include "report/host/host.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "report/host/child.h"
#include "report/host/exchange.h"
#include "report/host/sandbox.h"
#include "report/host/use.h"
#include "report/launch/launches.h"
#include "report/metric/metric.h"
#include "report/serve/objects.h"
#include "report/text/files.h"
#include "store/value/arena.h"

#define REASON_BYTES 1024

struct host {
    struct report_runner runner; // first
    struct report_host_options options;
    struct report_interpreter python;
    bool looked;                         // for bubblewrap
    char bubblewrap[PATH_MAX];           // empty: without it
    char bubblewrap_folder[PATH_MAX];    // of it
    char missing[REPORT_SANDBOX_REASON]; // why it is without it; empty: it is not, or nobody asked
    char folder[PATH_MAX];               // of rule_host.py
    char script[PATH_MAX + 16];
    struct report_left left;
    const void *objects_of;         // the model or the launches of `objects`
    struct report_objects *objects; // of capture(); NULL: nobody asked yet
    struct report_serve *serve;
};

static struct host *host_of(struct report_runner *runner) {
    return (struct host *)runner;
}

// ---- Requests -----------------------------------------------------------------------------------

static int answer_with(struct report_use *use, const struct report_use_method *methods,
                       struct report_request *request, struct nvtxt_out *out, bool *found) {
    for (; methods->name; methods++) {
        if (strcmp(methods->name, request->method) == 0) {
            *found = true;
            return methods->run(use, request, out);
        }
    }
    return 0;
}

static int answer(void *context, struct report_request *request, struct nvtxt_out *out) {
    struct report_use *use = context;
    bool found = false;
    int r = answer_with(use, report_use_begin_methods, request, out, &found);
    if (!found && use->call) {
        r = answer_with(use, report_use_control_methods, request, out, &found);
    }
    if (!found && use->call) {
        r = answer_with(use, report_use_frontend_methods, request, out, &found);
    }
    if (!found && use->call) {
        return report_serve_request(use->serve, request, out);
    }
    return found ? r
                 : report_request_refuse(request, REPORT_UNKNOWN_METHOD, "there is no method '%s'",
                                         request->method);
}

// ---- The end ------------------------------------------------------------------------------------

__attribute__((format(printf, 2, 3))) static void because(char *reason, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(reason, REASON_BYTES, format, args);
    va_end(args);
}

static const char *raised_text(const struct report_use *use, const char *name) {
    const char *text = json_string_value(json_object_get(use->raised, name));
    return text ?: "";
}

static void reason_of_exception(struct report_use *use, char *reason) {
    const char *text = raised_text(use, "text"), *file = raised_text(use, "file");
    json_int_t line = json_integer_value(json_object_get(use->raised, "line"));
    char place[PATH_MAX + 32] = "";
    if (strcmp(file, use->real) == 0) {
        file = use->file;
        use->at = (struct report_place){line > 0 && line < UINT32_MAX ? (uint32_t)line : 1, 1};
    }
    if (*file) {
        snprintf(place, sizeof(place), " (%.*s:%lld)", PATH_MAX, file, (long long)line);
    }
    int room = REASON_BYTES - 128 - (int)strlen(place);
    because(reason, "raised %.100s%s%.*s%s", raised_text(use, "type"), *text ? ": " : "",
            room > 0 ? room : 0, text, place);
}

static void reason_of_end(const struct host *host, const struct report_child *child, char *reason) {
    int signal = child->signal, status = child->status;
    if (host->bubblewrap[0] && signal == 0 && status > 128) {
        signal = status - 128; // it says so of the program in it
    }
    if (child->too_much && signal == SIGKILL) {
        because(reason, "killed by signal 9: more than %zu MiB of memory, or processes without end",
                REPORT_CHILD_MEMORY >> 20);
    } else if (signal == SIGXCPU) {
        because(reason, "timed out after %g s", host->options.timeout_s);
    } else if (signal != 0) {
        because(reason, "killed by signal %d", signal);
    } else if (status == REPORT_EXCHANGE_LOST_STATUS) {
        because(reason, "wrote no valid reply");
    } else {
        because(reason, "ended by itself with status %d", status);
    }
}

// Why the use failed; empty when it did not.
static void find_reason(const struct host *host, struct report_use *use,
                        const struct report_child *child, int end, char *reason) {
    *reason = '\0';
    if (use->said == REPORT_USE_RAISED) {
        reason_of_exception(use, reason);
    } else if (end == REPORT_EXCHANGE_LATE) {
        because(reason, "timed out after %g s", host->options.timeout_s);
    } else if (end == REPORT_EXCHANGE_ENDED) {
        reason_of_end(host, child, reason);
    } else if (end == REPORT_EXCHANGE_BAD) {
        because(reason, "wrote no valid reply");
    }
}

// ---- A use --------------------------------------------------------------------------------------

// What the process has to see, and to go to.
static void find_folders(const struct host *host, const char *folder,
                         const char *folders[REPORT_CHILD_FOLDERS + 1]) {
    size_t count = 0;
    for (; count < host->python.count; count++) {
        folders[count] = host->python.folders[count];
    }
    folders[count++] = host->folder;
    folders[count++] = folder;
    folders[count] = NULL;
}

static void make_command(const struct host *host, const char *const *folders, const char *real,
                         const char *processes, struct report_command_line *line) {
    *line = (struct report_command_line){.count = 0};
    if (host->bubblewrap[0]) {
        report_sandbox_begin(line, host->bubblewrap, folders);
    }
    report_sandbox_add(line, host->python.program);
    report_sandbox_add(line, "-I");
    report_sandbox_add(line, "-B");
    report_sandbox_add(line, host->script);
    report_sandbox_add(line, REPORT_SANDBOX_TEXT(REPORT_CHILD_SOCKET));
    report_sandbox_add(line, real);
    report_sandbox_add(line, REPORT_SANDBOX_TEXT(REPORT_CHILD_TEXT));
    report_sandbox_add(line, processes);
}

// Starts the process of a use.
static int start(struct host *host, const struct report_use *use, struct report_child *child) {
    char folder[PATH_MAX], processes[16];
    const char *folders[REPORT_CHILD_FOLDERS + 1];
    struct report_command_line line;
    bool confined = host->bubblewrap[0] != '\0';
    uid_t uid = report_child_changes_user() ? REPORT_CHILD_USER : geteuid();
    snprintf(processes, sizeof(processes), "%u", report_watch_processes(uid, confined));
    report_sandbox_folder_of(use->real, folder);
    find_folders(host, folder, folders);
    make_command(host, folders, use->real, processes, &line);
    if (confined) { // it is started from outside
        size_t count = 0;
        while (folders[count]) {
            count++;
        }
        folders[count++] = host->bubblewrap_folder;
        folders[count] = NULL;
    }
    const struct report_child_wish wish = {
        .argv = line.words,
        .folders = folders,
        .text = use->text,
        .confined = confined,
        .timeout_s = host->options.timeout_s,
        .interrupt_fd = host->options.interrupt_fd,
    };
    return report_child_start(child, &wish);
}

static void reason_of_start(const struct host *host, const char *real, int error, char *reason) {
    char program[PATH_MAX], rule[PATH_MAX], closed[PATH_MAX];
    bool changes = report_child_changes_user();
    report_sandbox_folder_of(host->python.program, program);
    report_sandbox_folder_of(real, rule);
    bool is_closed = changes && (report_start_finds_closed(program, closed) ||
                                 report_start_finds_closed(rule, closed));
    because(reason, "cannot be started%s: %s%.*s%s%s", changes ? " as the user nobody" : "",
            strerror(nvtxt_origin(-error)), is_closed ? 2 : 0, " (", is_closed ? closed : "",
            is_closed ? " is closed to others)" : "");
}

// Runs the process of a use. Sets `reason`, empty when all went well, and takes what was printed
// into `output`. Returns 0, -EINTR, or -ENOMEM.
static int run_use(struct host *host, struct report_use *use, char *reason,
                   struct nvtxt_buf *output) {
    struct report_child child;
    int end = 0, started = start(host, use, &child);
    if (started == 0) {
        const struct report_exchange exchange = {&child, answer, use};
        end = report_exchange_run(&exchange);
    }
    report_child_end(&child);
    find_reason(host, use, &child, end, reason);
    json_decref(use->raised);
    use->raised = NULL;
    *output = child.output;
    if (started < 0 && started != -ENOMEM) {
        reason_of_start(host, use->real, started, reason);
    }
    end = started < 0 ? started : end;
    return end == -EINTR || end == -ENOMEM ? end : 0;
}

// Once, and only when it is needed: looking for it starts a process.
static void find_sandbox(struct host *host) {
    bool wanted = host->options.sandbox != REPORT_SANDBOX_NEVER && !host->looked;
    host->looked = true;
    if (!wanted) {
        return;
    }
    if (!report_sandbox_find("bwrap", host->bubblewrap)) {
        host->bubblewrap[0] = '\0';
        snprintf(host->missing, sizeof(host->missing), "bubblewrap (bwrap) is not installed");
    } else if (!report_sandbox_starts(host->bubblewrap, host->missing)) {
        host->bubblewrap[0] = '\0';
    }
    report_sandbox_folder_of(host->bubblewrap, host->bubblewrap_folder);
}

// ---- Asking a file what it is -------------------------------------------------------------------

static int copy(struct nvtxt_slice *text, struct store_arena *arena) {
    text->data = store_arena_copy(arena, text->data ?: "", text->len);
    return text->data ? 0 : nvtxt_origin(-ENOMEM);
}

// The name of the file without its end.
static struct nvtxt_slice stem_of(const char *path) {
    const char *name = nvtxt_base_name(path);
    return (struct nvtxt_slice){name, strlen(name) - strlen(".py")};
}

// A rule that could not say what it is: its text tells, or the name of its file.
static int describe_without(struct report_program *program, const struct report_file *file,
                            struct store_arena *arena, const char *reason) {
    struct nvtxt_slice text = program->text.bytes, none;
    *program = (struct report_program){.text = program->text, .reason = nvtxt_slice_of(reason)};
    bool has_identifier = report_peek(text, "get_identifier", &program->identifier);
    if (!has_identifier && !report_peek(text, "apply", &none)) {
        return REPORT_PROGRAM_IS_HELPER;
    }
    report_peek(text, "get_name", &program->name);
    report_peek(text, "get_description", &program->description);
    bool has_section = report_peek(text, "get_section_identifier", &program->section);
    program->identifier = program->identifier.data ? program->identifier : stem_of(file->path);
    program->name = program->name.data ? program->name : program->identifier;
    int r = copy(&program->identifier, arena);
    r = r ?: copy(&program->name, arena);
    r = r ?: copy(&program->description, arena);
    r = r || !has_section || !program->section.data ? r : copy(&program->section, arena);
    return r ?: copy(&program->reason, arena);
}

static int describe(struct report_runner *runner, const struct report_file *file,
                    struct store_arena *arena, struct report_program *program,
                    struct report_messages *messages) {
    struct host *host = host_of(runner);
    struct report_use use = {.file = file->path,
                             .real = program->text.real,
                             .text = program->text.bytes,
                             .at = REPORT_FILE_BEGIN,
                             .version = host->options.version,
                             .arena = arena,
                             .program = program,
                             .messages = messages};
    struct nvtxt_buf output = {0};
    char reason[REASON_BYTES];
    if (!host->python.program[0]) {
        because(reason, "%s not found", host->options.python);
        int r = describe_without(program, file, arena, reason);
        program->not_run = true;
        return r;
    }
    find_sandbox(host);
    int r = run_use(host, &use, reason, &output);
    if (r == 0 && reason[0]) {
        report_messages_add(messages, file->path, use.at, REPORT_FILE_ERROR, "bad-rule", "%s",
                            reason);
        r = describe_without(program, file, arena, reason);
        program->output = (struct nvtxt_slice){output.data, output.len};
        r = r ?: copy(&program->output, arena);
        r = r == REPORT_PROGRAM_IS_HELPER ? NVTXT_WRONG : r;
        use.bad = use.helper = false;
    }
    nvtxt_buf_deinit(&output);
    return r ?: use.bad ? NVTXT_WRONG : use.helper ? REPORT_PROGRAM_IS_HELPER : 0;
}

// ---- Applying -----------------------------------------------------------------------------------

static void begin_run(struct report_runner *runner) {
    struct host *host = host_of(runner);
    json_object_clear(host->left.parents);
    json_object_clear(host->left.vault);
    host->left.bytes = 0;
}

// The objects of the capture, or of the report file, with the metrics of the scope for everything.
static int make_objects(struct host *host, const struct report_program_call *call) {
    struct report_model *model = report_metrics_model(call->metrics);
    const struct report_given *given = report_metrics_scope(call->metrics)->given;
    struct report_launches *launches = given ? ((const struct report_launch *)given)->all : NULL;
    const void *of = given ? (const void *)launches : model;
    int r = 0;
    if (host->objects_of != of) {
        report_serve_free(host->serve);
        report_objects_free(host->objects);
        host->serve = NULL;
        host->objects = NULL;
        host->objects_of = NULL;
        r = given ? report_profiled_new(&host->objects, launches)
                  : report_captured_new(&host->objects, model);
        r = r ?: report_serve_new(&host->serve, host->objects, host->options.version);
        host->objects_of = r == 0 ? of : NULL;
    }
    if (r == 0) {
        report_objects_set_scope(host->objects, call->metrics, host->options.definitions);
    }
    return r;
}

static int apply(struct report_runner *runner, const struct report_program_call *call) {
    struct host *host = host_of(runner);
    const struct report_show show = {.definitions = host->options.definitions,
                                     .sections = host->options.sections,
                                     .view = host->options.view};
    struct report_use use = {.show = &show,
                             .file = call->file,
                             .real = call->program->text.real,
                             .text = call->program->text.bytes,
                             .version = host->options.version,
                             .call = call,
                             .left = &host->left,
                             .arena_before = store_arena_used(call->builder->arena)};
    struct nvtxt_buf output = {0};
    char reason[REASON_BYTES];
    int r = make_objects(host, call);
    use.serve = host->serve;
    r = r ?: run_use(host, &use, reason, &output);
    if (r == 0 && reason[0]) {
        report_build_status(call->builder, REPORT_RULE_FAILED, nvtxt_slice_of(reason));
        json_object_del(host->left.parents, call->program->identifier.data);
    } else if (r == 0 && use.stopped) {
        report_build_status(call->builder, REPORT_RULE_NOT_APPLICABLE,
                            nvtxt_slice_of(use.not_applicable));
    }
    if (r == 0) {
        report_build_output(call->builder, (struct nvtxt_slice){output.data, output.len});
    }
    nvtxt_buf_deinit(&output);
    return r;
}

// ---- All ----------------------------------------------------------------------------------------

int report_host_new(struct report_runner **runner, const struct report_host_options *options) {
    struct host *host = calloc(1, sizeof(*host));
    *runner = NULL;
    if (!host) {
        return nvtxt_origin(-ENOMEM);
    }
    host->runner = (struct report_runner){describe, begin_run, apply};
    host->options = *options;
    host->left.parents = json_object();
    host->left.vault = json_object();
    // The process starts in another folder.
    if (!realpath(options->folder, host->folder)) {
        snprintf(host->folder, sizeof(host->folder), "%s", options->folder);
    }
    snprintf(host->script, sizeof(host->script), "%s/rule_host.py", host->folder);
    report_sandbox_find_interpreter(&host->python, options->python);
    int r = host->left.parents && host->left.vault ? 0 : nvtxt_origin(-ENOMEM);
    if (r == 0 && options->sandbox == REPORT_SANDBOX_ALWAYS) {
        find_sandbox(host);
        r = host->bubblewrap[0] ? 0 : REPORT_HOST_NO_SANDBOX;
        if (options->why) {
            snprintf(options->why, REPORT_HOST_WHY, "%s", host->missing);
        }
    }
    if (r) {
        report_host_free(&host->runner);
        return r;
    }
    *runner = &host->runner;
    return 0;
}

const char *report_host_missing(struct report_runner *runner) {
    const struct host *host = host_of(runner);
    return host->missing[0] ? host->missing : NULL;
}

void report_host_free(struct report_runner *runner) {
    struct host *host = runner ? host_of(runner) : NULL;
    if (host) {
        json_decref(host->left.parents);
        json_decref(host->left.vault);
        report_serve_free(host->serve);
        report_objects_free(host->objects);
    }
    free(host);
}
