// SPDX-License-Identifier: Apache-2.0
//
// A command is one function of options and terminal.
#include "ship/ship.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/common/out_file.h"
#include "client/common/result_file.h"
#include "ship/engine/cluster.h"
#include "ship/session.h"
#include "ship/tools/sessions.h"
#include "ship/tools/tools.h"

// Connects as the options say; a failure is said. `role` as in struct pg_settings.
static enum outcome open_connection(const struct ship_options *options, struct term *term,
                                    const char *role, struct pg **pg) {
    struct failure failure;
    const struct pg_settings settings = session_settings(options, role);
    return pg_open(pg, &settings, &failure) ? ship_say_failure(term, &failure) : OUTCOME_DONE;
}

// The same for what is done on one machine of several.
static enum outcome open_coordinator(const struct ship_options *options, struct term *term,
                                     struct pg **pg, struct cluster *cluster) {
    struct failure failure;
    const struct pg_settings settings = session_settings(options, NULL);
    return cluster_open(pg, &settings, cluster, &failure) ? ship_say_failure(term, &failure)
                                                          : OUTCOME_DONE;
}

static enum outcome print(struct term *term, const struct nvtxt_buf *text) {
    if (nvtxt_buf_failed(text)) {
        term_say(term, "out of memory");
        return OUTCOME_SYSTEM;
    }
    return ship_print(term, text->data, text->len);
}

// ---- init ---------------------------------------------------------------------------------------

static enum outcome print_schema(const struct ship_options *options, struct term *term) {
    struct nvtxt_buf sql = {0};
    schema_write(&sql, options->conf.schema, &options->wishes);
    enum outcome outcome = print(term, &sql);
    nvtxt_buf_deinit(&sql);
    return outcome;
}

static bool is_lock_timeout(const struct failure *failure, enum failure_class class) {
    return class && strcmp(failure->state, FAILURE_LOCK_TIMEOUT) == 0;
}

#define TAKE_BACK_MS 10000 // for leases whose rows are in use, each for the length of a round
#define LEAVE_MS 3000      // for shippers that have rows to ship

static void warn(const char *sentence) {
    struct term term;
    term_init(&term, "nvtxt-ship: warning");
    term_say(&term, "%s", sentence);
}

// Those that may be too old, and are connected still: without its lease a shipper adds no more
// rows.
static void warn_of_connected(const struct sessions *others, size_t kept) {
    char sentence[FAILURE_SENTENCE] = "these were connected before the schema was brought up: ";
    sessions_list(others, sentence, sizeof(sentence));
    size_t len = strlen(sentence);
    len +=
        (size_t)snprintf(sentence + len, sizeof(sentence) - len,
                         "; a shipper that is too old adds no more rows, and ends within a third "
                         "of its LeaseTime");
    if (kept > 0) {
        len += (size_t)snprintf(sentence + len, sizeof(sentence) - len,
                                ", but not one whose cursor was locked (%zu)", kept);
    }
    snprintf(sentence + len, sizeof(sentence) - len,
             "; to end one now, call pg_terminate_backend(PROCESS) as a superuser or a member of "
             "pg_signal_backend");
    warn(sentence);
}

// Shippers of an older version learn that they are too old, and others lose nothing: who has no
// lease connects anew before its next rows. Sessions that may be ended learn it at once.
static void renew_shippers(struct pg *pg, const char *schema) {
    size_t kept = 0;
    struct sessions others = {0};
    enum failure_class class = sessions_renew(pg, schema, &others);
    class = class ?: lease_take_back(pg, TAKE_BACK_MS, &kept);
    class = class ?: sessions_wait(pg, &others, LEAVE_MS);
    if (class) {
        warn(pg_failure(pg)->sentence);
    } else if (others.count > 0) {
        warn_of_connected(&others, kept);
    }
}

static enum outcome make_schema(struct pg *pg, const struct ship_options *options,
                                struct term *term) {
    bool brought_up;
    struct failure failure;
    struct sessions sessions = {0};
    const char *schema = options->conf.schema;
    enum failure_class class = schema_init(pg, schema, &options->wishes, &brought_up, &failure);
    if (is_lock_timeout(&failure, class) && sessions_look(pg, schema, &sessions) == FAILURE_NONE) {
        class = schema_init(pg, schema, &options->wishes, &brought_up, &failure);
    }
    if (is_lock_timeout(&failure, class)) {
        sessions_name(&sessions, 0, "; ", failure.sentence, sizeof(failure.sentence));
    }
    if (class) {
        return ship_say_failure(term, &failure);
    }
    if (brought_up) {
        renew_shippers(pg, schema);
    }
    return OUTCOME_DONE;
}

static void hear_table(const char *table, size_t number, size_t count) {
    printf("%s: on all machines (%zu of %zu)\n", table, number, count);
    fflush(stdout);
}

// Of a new schema nobody wants to know it: there are no rows to wait for.
// Rights to what has come to the other machines are given last.
static enum outcome cut_schema(struct pg *pg, const struct ship_options *options,
                               const struct cluster *cluster, struct term *term) {
    const char *schema = options->conf.schema;
    if (cluster->is_old) {
        char sentence[128];
        snprintf(sentence, sizeof(sentence),
                 "Citus %s is older than " CLUSTER_TRIED ", which this program was run with",
                 cluster->version);
        warn(sentence);
    }
    if (cluster_cut(pg, schema, options->wishes.shards, cluster->has_schema ? hear_table : NULL)) {
        struct failure failure = *pg_failure(pg);
        schema_add_grant(pg, schema, &failure);
        return ship_say_failure(term, &failure);
    }
    return make_schema(pg, options, term);
}

static enum outcome init_with(struct pg *pg, const struct ship_options *options,
                              const struct cluster *cluster, struct term *term) {
    struct failure failure;
    if (options->wishes.distributed && cluster_check(cluster, &failure)) {
        return ship_say_failure(term, &failure);
    }
    enum outcome outcome = make_schema(pg, options, term);
    if (outcome == OUTCOME_DONE && options->wishes.distributed) {
        outcome = cut_schema(pg, options, cluster, term);
    } else if (outcome == OUTCOME_DONE && cluster->has_extension &&
               (cluster->is_half || !cluster->is_cut)) {
        warn(cluster->is_half
                 ? "the schema is half way from this machine to all: run nvtxt-ship init "
                   "--distributed, which goes on"
                 : "the database has the extension citus, but the schema is on this machine alone: "
                   "run nvtxt-ship init --distributed to have it on all");
    }
    return outcome;
}

static enum outcome init(const struct ship_options *options, struct term *term) {
    struct pg *pg;
    struct cluster cluster;
    if (options->print) {
        return print_schema(options, term);
    }
    enum outcome outcome = open_coordinator(options, term, &pg, &cluster);
    if (outcome == OUTCOME_DONE && pg) {
        outcome = init_with(pg, options, &cluster, term);
        pg_close(pg);
    }
    return outcome;
}

// ---- status, metrics, maintain ------------------------------------------------------------------

// What store and engine say; the sentence of a failure is said.
static enum outcome look(const struct ship_options *options, struct term *term,
                         struct session *session, struct status *status) {
    int64_t behind = 0;
    enum outcome outcome = session_init(session, options, term);
    if (outcome) {
        return outcome;
    }
    enum failure_class class = session_connect(session, SESSION_LOOK);
    class = class ?: session_store_failure(session, store_follow_refresh(session->follow));
    class = class ?: session_store_failure(session, store_follow_behind(session->follow, &behind));
    *status = (struct status){.store = session->store};
    if (class == FAILURE_NONE) {
        class = session_pg_failure(
            session, status_read(session->pg, session->cursor.store_id, behind, status));
    }
    return class ? ship_say_failure(term, &session->failure) : OUTCOME_DONE;
}

static void leave(struct session *session) {
    session_disconnect(session); // without a lease there is none to give back
    session_deinit(session);
}

static enum outcome status(const struct ship_options *options, struct term *term) {
    struct session session;
    struct status status;
    struct nvtxt_buf text = {0};
    enum outcome outcome = look(options, term, &session, &status);
    if (outcome == OUTCOME_DONE) {
        status_write(&text, &status, options->json);
        outcome = print(term, &text);
    }
    if (outcome == OUTCOME_DONE && (!status.is_known || status.events == 0)) {
        outcome = OUTCOME_FAULTS;
    }
    nvtxt_buf_deinit(&text);
    leave(&session);
    return outcome;
}

static enum outcome put(const char *path, struct term *term, const struct nvtxt_buf *text) {
    struct result_file file;
    enum outcome outcome = result_file_open(&file, term, path);
    if (outcome) {
        return outcome;
    }
    ssize_t n = write(file.fd, text->data, text->len);
    if (n != (ssize_t)text->len || (file.temp[0] && fchmod(file.fd, 0644) != 0)) {
        term_say(term, "cannot write to %s: %s", path, strerror(n < 0 ? errno : EIO));
        result_file_discard(&file);
        return OUTCOME_IO;
    }
    return result_file_publish(&file, term);
}

static enum outcome metrics(const struct ship_options *options, struct term *term) {
    struct session session;
    struct status status;
    struct nvtxt_buf text = {0};
    enum outcome looked = look(options, term, &session, &status);
    metrics_write(&text, looked ? NULL : &status);
    enum outcome outcome = looked == OUTCOME_STOPPED ? looked
                           : options->output && !nvtxt_buf_failed(&text)
                               ? put(options->output, term, &text)
                               : print(term, &text);
    nvtxt_buf_deinit(&text);
    leave(&session);
    return outcome ?: looked;
}

// All was done, and yet somebody should know.
static enum outcome warn_of_old(struct pg *pg, const struct sessions *sessions) {
    char open[FAILURE_SENTENCE] = "", prepared[FAILURE_SENTENCE] = "";
    sessions_name(sessions, SESSIONS_OLD_MS, "", open, sizeof(open));
    if (*open) {
        warn(open);
    }
    if (sessions_name_prepared(pg, "", prepared, sizeof(prepared))) {
        warn(pg_failure(pg)->sentence);
    } else if (*prepared) {
        warn(prepared);
    }
    return OUTCOME_DONE;
}

static enum outcome maintain(const struct ship_options *options, struct term *term) {
    struct pg *pg;
    struct failure failure;
    struct schema_facts facts;
    struct sessions sessions = {0};
    struct cluster cluster;
    enum outcome outcome = open_coordinator(options, term, &pg, &cluster);
    if (!pg) {
        return outcome;
    }
    enum failure_class class = schema_check(pg, options->conf.schema, &facts, &failure);
    facts.is_cut = cluster.is_cut;
    if (class == FAILURE_NONE) {
        class = maintain_run(pg, &facts, options->conf.schema, &sessions);
        failure = *pg_failure(pg);
    }
    if (class) {
        schema_add_grant(pg, options->conf.schema, &failure);
    }
    if (is_lock_timeout(&failure, class)) {
        sessions_name(&sessions, 0, "; ", failure.sentence, sizeof(failure.sentence));
        (void)sessions_name_prepared(pg, "; ", failure.sentence, sizeof(failure.sentence));
    }
    outcome = class ? ship_say_failure(term, &failure) : warn_of_old(pg, &sessions);
    pg_close(pg);
    return outcome;
}

// ---- pull ---------------------------------------------------------------------------------------

static struct pull_span span_of(const struct ship_options *options) {
    struct pull_span span = {.has_since = options->since, .has_until = options->until};
    if (options->since) {
        nvtxt_time_parse(options->since, &span.since_ns);
    }
    if (options->until) {
        nvtxt_time_parse(options->until, &span.until_ns);
    }
    return span;
}

// Without a host and an identity it is this host's store.
static enum outcome pull_into(const struct ship_options *options, struct term *term, struct pg *pg,
                              const char *file) {
    char here[IDENTITY_HOST_SIZE];
    const char *host = options->conf.host;
    const struct pull_span span = span_of(options);
    struct schema_facts facts;
    struct failure failure;
    int64_t store_id = 0;
    if (!*host && !*options->conf.store_id) {
        identity_host(here);
        host = here;
    }
    pg_say_what(pg, "to give the rows of the store");
    enum failure_class class = schema_check(pg, options->conf.schema, &facts, &failure);
    class = class ?: pull_find(pg, host, options->conf.store_id, &store_id, &failure);
    class = class ?: pull_store(pg, &facts, store_id, &span, file, out_file_mode(), &failure);
    return class ? ship_say_failure(term, &failure) : OUTCOME_DONE;
}

static bool is_there(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0;
}

static enum outcome pull(const struct ship_options *options, struct term *term) {
    struct out_file out;
    struct pg *pg;
    if (!options->output || strcmp(options->output, "-") == 0) {
        term_say(term, "pull needs a file to make: -o FILE");
        return OUTCOME_USAGE;
    }
    if (is_there(options->output)) {
        term_say(term, "%s exists; choose another name", options->output);
        return OUTCOME_NO_OUTPUT;
    }
    enum outcome outcome = out_file_init(&out, term, options->output, false);
    if (outcome) {
        return outcome;
    }
    out_file_sweep(&out);
    outcome = open_connection(options, term, "read", &pg);
    if (pg) {
        outcome = pull_into(options, term, pg, out.temp);
    }
    if (outcome == OUTCOME_DONE) {
        outcome = signals_came() ? OUTCOME_STOPPED : out_file_publish(&out, term);
    }
    out_file_discard(&out);
    pg_close(pg);
    return outcome;
}

// ---- simulate -----------------------------------------------------------------------------------

static enum outcome report(const struct ship_options *options, struct term *term,
                           const struct simulate_result *result) {
    struct nvtxt_buf text = {0};
    simulate_write(&text, result, options->json);
    enum outcome outcome = print(term, &text);
    nvtxt_buf_deinit(&text);
    return outcome;
}

static enum outcome simulate(const struct ship_options *options, struct term *term) {
    struct simulate_wishes wishes = options->simulation;
    struct simulate_result result;
    struct failure failure;
    const struct pg_settings settings = session_settings(options, "ship");
    wishes.schema = options->conf.schema;
    wishes.labels = options->conf.labels;
    wishes.interval_ms = options->conf.interval_ms;
    wishes.lease_ms = options->conf.lease_ms;
    wishes.warn = warn;
    enum failure_class class = simulate_run(&settings, &wishes, &result, &failure);
    enum outcome outcome = result.run_ns ? report(options, term, &result) : OUTCOME_DONE;
    if (class) {
        return ship_say_failure(term, &failure);
    }
    return outcome ?: simulate_is_good(&result) ? OUTCOME_DONE : OUTCOME_FAULTS;
}

// Shipping may be ended at any moment.
static enum outcome ship(const struct ship_options *options, struct term *term) {
    enum outcome outcome = options->once ? follow_once(options, term) : follow_run(options, term);
    return outcome == OUTCOME_STOPPED ? OUTCOME_DONE : outcome;
}

enum outcome ship_run(const struct ship_options *options, struct term *term) {
    if (options->check_config) {
        return OUTCOME_DONE;
    }
    switch (options->command) {
    case SHIP_INIT:
        return init(options, term);
    case SHIP_FOLLOW:
        return options->dry_run ? follow_dry_run(options, term) : ship(options, term);
    case SHIP_STATUS:
        return status(options, term);
    case SHIP_METRICS:
        return metrics(options, term);
    case SHIP_MAINTAIN:
        return maintain(options, term);
    case SHIP_SIMULATE:
        return simulate(options, term);
    case SHIP_PULL:
        break;
    }
    return pull(options, term);
}
