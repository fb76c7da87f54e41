// SPDX-License-Identifier: Apache-2.0
//
// A command is one function of options and terminal.
#include "ship/command.h"

#include <stdio.h>
#include <string.h>

#include "client/common/signals.h"
#include "protocol/base/buf.h"

enum outcome ship_outcome_of(enum failure_class class) {
    switch (class) {
    case FAILURE_NONE:
        return OUTCOME_DONE;
    case FAILURE_MEMORY:
        return OUTCOME_SYSTEM;
    case FAILURE_TARGET:
        return OUTCOME_USAGE;
    case FAILURE_REFUSED:
    case FAILURE_NOT_OURS:
        return OUTCOME_FORBIDDEN;
    case FAILURE_NO_SCHEMA:
    case FAILURE_NEWER_SCHEMA:
    case FAILURE_ENCODING:
        return OUTCOME_PROTOCOL;
    case FAILURE_OTHER:
        return OUTCOME_LATER;
    case FAILURE_CLONE:
        return OUTCOME_BAD_DATA;
    default:
        return OUTCOME_NO_DAEMON;
    }
}

enum outcome ship_say_failure(struct term *term, const struct failure *failure) {
    if (signals_came()) {
        return OUTCOME_DONE; // whoever stops us cuts the waits short
    }
    const char *before = failure->class == FAILURE_GONE ? "the engine cannot be reached: " : "";
    term_say(term, "%s%s", before, failure->sentence);
    return ship_outcome_of(failure->class);
}

enum outcome ship_connect(const struct ship_options *options, struct term *term, const char *role,
                          struct pg **pg) {
    struct failure failure;
    const struct pg_settings settings = {.target = options->conf.target,
                                         .schema = options->conf.schema,
                                         .role = role,
                                         .timeout_ms = options->conf.connect_timeout_ms,
                                         .stop_fd = signals_fd()};
    return pg_open(pg, &settings, &failure) ? ship_say_failure(term, &failure) : OUTCOME_DONE;
}

// ---- init ---------------------------------------------------------------------------------------

static enum outcome print_schema(const struct ship_options *options, struct term *term) {
    struct nvtxt_buf sql = {0};
    enum outcome outcome = OUTCOME_DONE;
    schema_write(&sql, options->conf.schema, &options->wishes);
    if (nvtxt_buf_failed(&sql)) {
        term_say(term, "out of memory");
        outcome = OUTCOME_SYSTEM;
    } else if (fwrite(sql.data, 1, sql.len, stdout) != sql.len || fflush(stdout) != 0) {
        term_say(term, "cannot write to stdout: %m");
        outcome = OUTCOME_IO;
    }
    nvtxt_buf_deinit(&sql);
    return outcome;
}

static enum outcome init(const struct ship_options *options, struct term *term) {
    struct pg *pg;
    struct failure failure;
    if (options->print) {
        return print_schema(options, term);
    }
    enum outcome outcome = ship_connect(options, term, NULL, &pg);
    if (outcome == OUTCOME_DONE && pg) {
        if (schema_init(pg, options->conf.schema, &options->wishes, &failure)) {
            outcome = ship_say_failure(term, &failure);
        }
        pg_close(pg);
    }
    return outcome;
}

enum outcome ship_run(const struct ship_options *options, struct term *term) {
    if (options->check_config) {
        return OUTCOME_DONE;
    }
    switch (options->command) {
    case SHIP_INIT:
        return init(options, term);
    default:
        term_say(term, "this version has only the command init");
        return OUTCOME_USAGE;
    }
}
