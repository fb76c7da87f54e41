// SPDX-License-Identifier: Apache-2.0
//
// A command is one function of options and terminal.
#include "ship/command.h"

#include <stdio.h>
#include <string.h>

#include "client/common/signals.h"
#include "protocol/base/buf.h"
#include "ship/follow.h"
#include "ship/say.h"

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
    case SHIP_FOLLOW:
        return options->dry_run ? follow_dry_run(options, term)
               : options->once  ? follow_once(options, term)
                                : follow_run(options, term);
    default:
        term_say(term, "this version has no command but init");
        return OUTCOME_USAGE;
    }
}
