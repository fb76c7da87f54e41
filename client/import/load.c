// SPDX-License-Identifier: Apache-2.0
//
// Bytes go from the file through frame and interp into the target. A mapping without nvtxt_a or
// nvtxt_b needs a first pass, which only finds the smallest and the largest time. An input that
// cannot be read twice is copied to an unlinked file for that.
#include "client/import/load.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/common/outcome.h"
#include "protocol/base/clock.h"
#include "protocol/base/frame.h"
#include "protocol/base/origin.h"
#include "protocol/wire/hello.h"

#define READ_BYTES ((size_t)256 << 10)
#define PROGRESS_AFTER_MS 1000

struct load {
    struct input *input;
    const struct load_options *options;
    struct diag_print *report; // NULL in the first pass, which only finds times
    const struct load_target *target;
    struct nvtxt_sink sink; // of the interpreter
    struct nvtxt_interp *interp;
    struct nvtxt_frame frame;
    char *buffer; // of READ_BYTES
    int64_t begun_ms;
};

static int take_clock(const struct nvtxt_option_value *value) {
    clock_here_measure(value->field);
    return strcmp(value->text, "here") == 0 ? 0 : NVTXT_WRONG;
}

#define AT(field) offsetof(struct load_options, field)

const struct nvtxt_option load_rows[] = {
    {.kind = NVTXT_OPTION_GROUP, .at = AT(mapping), .group = arguments_mapping_rows},
    {"pid", 0, NVTXT_OPTION_PID, .at = AT(default_pid), .wanted = NVTXT_OPTION_A_PID},
    {"origin", 0, NVTXT_OPTION_NUMBER, .at = AT(origin_ns), .has = AT(has_origin),
     .wanted = "nanoseconds since 1970", .least = INT64_MIN},
    {"clock", 0, NVTXT_OPTION_OTHER, .at = AT(clocks), .wanted = "the word here",
     .take = take_clock},
    {0},
};

static int on_event(void *context, const struct nvtxt_event *event) {
    const struct load *load = context;
    return load->target ? load->target->sink.on_event(load->target->sink.context, event) : 0;
}

static int on_name(void *context, const struct nvtxt_name *name) {
    const struct load *load = context;
    return load->target ? load->target->sink.on_name(load->target->sink.context, name) : 0;
}

static int on_diag(void *context, const struct nvtxt_diag *diag) {
    const struct load *load = context;
    if (load->report) {
        diag_print_line(load->report, diag->line, diag->column,
                        nvtxt_severity_name(nvtxt_diag_severity(diag->code)), diag->message,
                        nvtxt_diag_code_name(diag->code));
    }
    return load->target ? load->target->sink.on_diag(load->target->sink.context, diag) : 0;
}

// ---- One pass -----------------------------------------------------------------------------------

// A hello on the first line says what the lines after it may hold. It is still a comment.
static int take_hello(const struct load *load, struct nvtxt_slice line) {
    bool escapes;
    bool nvtx;
    int r = nvtxt_hello_of_file(line, &escapes, &nvtx);
    if (r > 0) {
        nvtxt_interp_extend(load->interp, escapes, nvtx);
    }
    return r < 0 ? r : 0;
}

static int take_line(struct load *load, int kind, struct nvtxt_slice line) {
    int r = 0;
    if (nvtxt_interp_counters(load->interp)->lines == 0 && kind == NVTXT_FRAME_LINE) {
        r = take_hello(load, line);
    }
    if (r < 0) {
        return r;
    }
    if (kind == NVTXT_FRAME_LINE) {
        return nvtxt_interp_line(load->interp, line, &load->sink);
    }
    return nvtxt_interp_overlong(load->interp, line, &load->sink);
}

static int take_bytes(struct load *load, struct nvtxt_slice bytes) {
    struct nvtxt_slice line;
    int kind;
    int r = 0;
    while (r == 0 && (kind = nvtxt_frame_next(&load->frame, &bytes, &line)) != 0) {
        if (kind < 0) {
            return kind;
        }
        r = take_line(load, kind, line);
    }
    return r;
}

static int take_end(struct load *load) {
    struct nvtxt_slice line;
    int kind = nvtxt_frame_finish(&load->frame, &line);
    int r = kind > 0 ? take_line(load, kind, line) : kind;
    return r ?: nvtxt_interp_end(load->interp, &load->sink);
}

static void show_progress(struct load *load) {
    const struct input *input = load->input;
    int64_t now = nvtxt_monotonic_ms();
    char count[TERM_COUNT_SIZE];
    char rate[TERM_COUNT_SIZE];
    char share[16] = "";
    if (!load->report || load->report->quiet || now - load->begun_ms < PROGRESS_AFTER_MS) {
        return;
    }
    if (input->is_regular && input->size > 0) {
        snprintf(share, sizeof(share), "%.0f%% ",
                 100.0 * (double)input->taken / (double)input->size);
    }
    uint64_t lines = nvtxt_interp_counters(load->interp)->lines;
    uint64_t per_second = lines * 1000 / (uint64_t)(now - load->begun_ms);
    // The name last: a long one is cut at the terminal's edge.
    term_progress(load->report->term, now, "%s%s lines, %s a second: %s", share,
                  term_count(count, lines), term_count(rate, per_second), input->name);
}

// Waits for input or for a signal. Returns DONE or STOPPED.
static enum outcome wait_for_input(const struct input *input) {
    struct pollfd fds[] = {{.fd = signals_fd(), .events = POLLIN},
                           {.fd = input->fd, .events = POLLIN}};
    if (!input->is_regular) {
        (void)poll(fds, 2, -1);
    }
    return signals_count() > 0 ? OUTCOME_STOPPED : OUTCOME_DONE;
}

static int pause_target(const struct load *load) {
    const struct load_target *target = load->target;
    return target ? target->on_pause(target->context, load->interp) : 0;
}

// Reads the input to its end. `*error` is the -errno of a read that failed, or 0. Returns STOPPED,
// or the result of the interpreter or the target.
static int pass(struct load *load, int *error) {
    *error = 0;
    int r = 0;
    while (r == 0) {
        r = wait_for_input(load->input);
        if (r != 0) {
            break;
        }
        size_t got;
        int read = input_read(load->input, load->buffer, READ_BYTES, &got);
        if (read == INPUT_NOTHING) {
            continue;
        }
        if (read != 0) {
            *error = read < 0 ? read : 0;
            r = take_end(load);
            return r ?: pause_target(load);
        }
        r = take_bytes(load, (struct nvtxt_slice){load->buffer, got});
        r = r ?: pause_target(load);
        show_progress(load);
    }
    return r;
}

// ---- The mapping from the file's own times ------------------------------------------------------

// Makes sure that the input can be read again: copies a pipe or the like to an unlinked file.
static int make_rereadable(struct input *input, char *buffer) {
    if (lseek(input->fd, 0, SEEK_CUR) >= 0) {
        return 0;
    }
    FILE *copy = tmpfile();
    if (!copy) {
        return nvtxt_origin(-errno);
    }
    int r = 0;
    bool ended = false;
    while (r == 0 && !ended) {
        size_t got = 0;
        r = wait_for_input(input);
        int read = r == 0 ? input_read(input, buffer, READ_BYTES, &got) : 0;
        ended = read == INPUT_END;
        if (read < 0) {
            r = read;
        } else if (fwrite(buffer, 1, got, copy) != got) {
            r = nvtxt_origin(-errno);
        }
    }
    int fd = -1;
    if (r == 0 && (fflush(copy) != 0 || (fd = fcntl(fileno(copy), F_DUPFD_CLOEXEC, 3)) < 0)) {
        r = nvtxt_origin(-errno);
    }
    fclose(copy);
    if (r != 0) {
        return r;
    }
    input_close(input);
    input->fd = fd;
    input->is_regular = true;
    input->size = input->taken;
    input->taken = 0;
    input->ended = false;
    return lseek(fd, 0, SEEK_SET) == 0 ? 0 : nvtxt_origin(-errno);
}

static int start(struct load *load, const struct nvtxt_mapping *mapping) {
    const struct load_options *options = load->options;
    const struct nvtxt_source_config config = {
        .limits = NVTXT_LIMITS_DEFAULT,
        .default_pid = options->default_pid,
        .opened_ns = load->target ? load->target->opened_ns : 0,
        .origin_ns = options->origin_ns,
        .mapping = *mapping,
    };
    load->sink = (struct nvtxt_sink){on_event, on_name, on_diag, load};
    load->interp = nvtxt_interp_new(&config);
    if (!load->interp) {
        return nvtxt_origin(-ENOMEM);
    }
    clock_here_apply(&options->clocks, load->interp);
    nvtxt_frame_init(&load->frame, config.limits.line_bytes);
    return 0;
}

static void end(struct load *load) {
    nvtxt_interp_free(load->interp);
    nvtxt_frame_deinit(&load->frame);
    load->interp = NULL;
}

static enum outcome refuse_mapping(const struct load *load, const char *fault, bool flat) {
    term_say(load->report->term, "%s: the time mapping is impossible: %s%s", load->input->name,
             fault,
             flat ? "; all times of the file are the same, so give --nvtxt-a and --nvtxt-b" : "");
    return OUTCOME_USAGE;
}

// The first pass: finds the values that the command line left out.
static int find_mapping(struct load *load, struct nvtxt_mapping *mapping) {
    const struct nvtxt_mapping none = {.mode = NVTXT_MAPPING_NONE};
    const struct arguments_mapping *given = &load->options->mapping;
    off_t begin = 0;
    int r = make_rereadable(load->input, load->buffer);
    if (r == 0) {
        begin = lseek(load->input->fd, 0, SEEK_CUR);
        r = start(load, &none);
    }
    if (r != 0) {
        return r;
    }
    struct load looking = *load;
    int64_t smallest = 0;
    int64_t largest = 0;
    int error;
    looking.report = NULL;
    looking.target = NULL;
    looking.sink.context = &looking;
    r = pass(&looking, &error);
    load->frame = looking.frame;
    bool any = nvtxt_interp_raw_times(load->interp, &smallest, &largest);
    end(load);
    if (r != 0) {
        return r;
    }
    load->input->ended = false;
    load->input->taken = 0;
    if (lseek(load->input->fd, begin, SEEK_SET) < 0) {
        return nvtxt_origin(-errno);
    }
    mapping->nvtxt_a = given->has_nvtxt_a ? given->mapping.nvtxt_a : smallest;
    mapping->nvtxt_b = given->has_nvtxt_b ? given->mapping.nvtxt_b : largest;
    if (!any) {
        *mapping = none; // there is nothing to map
    }
    const char *fault = nvtxt_mapping_fault(mapping);
    if (fault) {
        return refuse_mapping(load, fault, smallest == largest);
    }
    return OUTCOME_DONE;
}

static void warn_mapped_clock(const struct load *load) {
    enum nvtxt_timebase base = nvtxt_interp_mapped_clock(load->interp);
    bool matters = base != NVTXT_TIMEBASE_MANUAL && !load->options->no_clock;
    if (matters && load->report && !load->report->quiet) {
        term_say(load->report->term,
                 "%s: warning: --mode maps times of %s, too, whose clock is known; leave it out to "
                 "use the clock",
                 load->input->name, nvtxt_timebase_name(base));
    }
}

static enum outcome say_failure(const struct load *load, int error) {
    enum outcome outcome = outcome_of_error(error, OUTCOME_NO_INPUT);
    term_say(load->report->term, "%s: %s", load->input->name,
             outcome == OUTCOME_SYSTEM ? "out of memory" : strerror(nvtxt_origin(-error)));
    return outcome;
}

int load_input(struct input *input, const struct load_options *options, struct diag_print *report,
               const struct load_target *target, struct nvtxt_counters *counters) {
    struct load load = {.input = input,
                        .options = options,
                        .report = report,
                        .target = target,
                        .begun_ms = nvtxt_monotonic_ms()};
    struct nvtxt_mapping mapping = options->mapping.mapping;
    int error = 0;
    *counters = (struct nvtxt_counters){0};
    load.buffer = malloc(READ_BYTES);
    int r = load.buffer ? 0 : nvtxt_origin(-ENOMEM);
    if (r == 0 && arguments_mapping_needs_times(&options->mapping)) {
        r = find_mapping(&load, &mapping);
    }
    r = r ?: start(&load, &mapping);
    bool ours = r < 0; // otherwise a negative result is the target's
    if (r == 0) {
        r = pass(&load, &error);
        *counters = *nvtxt_interp_counters(load.interp);
        warn_mapped_clock(&load);
        end(&load);
    }
    free(load.buffer);
    term_wipe(report->term);
    if (ours || outcome_of_error(r, OUTCOME_DONE) != OUTCOME_DONE) {
        return say_failure(&load, r);
    }
    if (r == 0 && error) {
        return say_failure(&load, error);
    }
    return r;
}
