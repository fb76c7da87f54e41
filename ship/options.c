// SPDX-License-Identifier: Apache-2.0
//
// The options that are keys come from the table of keys; the others have a row here. The command
// line is walked twice: the first time for -c, then the files are read, and then the keys are set
// over theirs. Each fault is one sentence.
#include "ship/options.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/conf/options.h"
#include "protocol/text/forms.h"
#include "ship/ship.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unknown"
#endif

static const char *const commands[] = {
    [SHIP_INIT] = "init", [SHIP_STATUS] = "status",     [SHIP_METRICS] = "metrics",
    [SHIP_PULL] = "pull", [SHIP_MAINTAIN] = "maintain", [SHIP_SIMULATE] = "simulate"};

static const char help[] =
    "Usage: nvtxt-ship [OPTION]... [COMMAND]\n"
    "Brings the rows of a store into a PostgreSQL database, each exactly once.\n"
    "Without a command it follows the store until it is stopped.\n"
    "  init           makes the schema, or brings it up: --keep-days N, --print,\n"
    "                 --host NAME=ROLE, --no-roles, --no-own-rows, --plain-events,\n"
    "                 --distributed, --shards N\n"
    "  status         how far this host's store is shipped: --json\n"
    "  metrics        the same for Prometheus: --output FILE\n"
    "  pull           a host's rows as a store: --host NAME, --since TIME,\n"
    "                 --until TIME, -o FILE\n"
    "  maintain       removes old days, makes the next ones, ends what holds that up\n"
    "  simulate       hosts that are none, to size a fleet: --hosts N, --rate R,\n"
    "                 --for TIME, --connections N, --mixed, --json\n"
    "  --once, --dry-run  ships what is there now; says what that would be\n"
    "  --store PATH, --store-id UUID      the store, its identity (default: its own)\n"
    "  --target CONNINFO, --schema NAME   the database, without a password\n"
    "  --host NAME, --label KEY=VALUE     this host there\n"
    "  --from WHERE       of a new store: beginning (the default), now, or a time\n"
    "  --interval TIME, --lease TIME, --connect-timeout TIME  (1s, 30s, 10s)\n"
    "  -c, --config FILE  the configuration; --check-config only checks it\n"
    "  --help, --version  see nvtxt-ship(1)\n"
    "Exit status: 0 done; 1 nothing is shipped yet, or not once; 64 usage; 65 no\n"
    "store of ours, or a clone; 66 no store; 69 no database; 71 memory; 73 no output;\n"
    "74 I/O error; 75 another shipper; 76 no schema; 77 refused; 78 configuration.\n";

static enum outcome refuse(struct term *term, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static enum outcome refuse(struct term *term, const char *format, ...) {
    char sentence[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    term_say(term, "%s", sentence);
    return OUTCOME_USAGE;
}

struct command_line {
    struct nvtxt_options options; // its functions return outcomes
    struct ship_options *values;
    struct term *term;
};

// ---- Values -------------------------------------------------------------------------------------

// Each --host is kept, too: init has names of several.
static int hear_key(const struct nvtxt_option_value *value) {
    const struct command_line *line = value->context;
    if (strcmp(value->row->name, "host") == 0) {
        nvtxt_buf_add(&line->values->hosts, value->text, strlen(value->text) + 1);
    }
    return 0;
}

static int take_count(const struct nvtxt_option_value *value, int64_t most) {
    size_t digits = strspn(value->text, "0123456789");
    bool good = digits > 0 && digits < 10 && !value->text[digits];
    int64_t count = good ? strtoll(value->text, NULL, 10) : 0;
    *(int64_t *)value->field = count;
    return count >= 1 && count <= most ? 0 : NVTXT_WRONG;
}

static int take_keep_days(const struct nvtxt_option_value *value) {
    return take_count(value, SCHEMA_KEEP_DAYS_MAX);
}

// More than machines will ever be; a server that has so many tables has no use for more.
#define SHARDS_MOST 4096

static int take_shards(const struct nvtxt_option_value *value) {
    return take_count(value, SHARDS_MOST);
}

static int take_time(const struct nvtxt_option_value *value) {
    int64_t ns;
    *(const char **)value->field = value->text;
    return nvtxt_time_parse(value->text, &ns) ? 0 : NVTXT_WRONG;
}

static int take_duration(const struct nvtxt_option_value *value) {
    int64_t ns;
    bool good = nvtxt_duration_parse(value->text, &ns) && ns >= INT64_C(1000000000) &&
                ns / 1000000 <= SIMULATE_FOR_MAX_MS;
    *(int64_t *)value->field = good ? ns / 1000000 : 0;
    return good ? 0 : NVTXT_WRONG;
}

static enum outcome check_simulation(const struct ship_options *options, struct term *term) {
    const struct simulate_wishes *wishes = &options->simulation;
    bool lacks = !wishes->hosts || !wishes->rate || !wishes->for_ms;
    return options->command == SHIP_SIMULATE && lacks
               ? refuse(term, "simulate needs --hosts N, --rate R and --for TIME")
               : OUTCOME_DONE;
}

static enum outcome check_span(const struct ship_options *options, struct term *term) {
    int64_t since, until;
    bool wrong = options->since && options->until && nvtxt_time_parse(options->since, &since) &&
                 nvtxt_time_parse(options->until, &until) && since > until;
    return wrong ? refuse(term, "--since is later than --until") : OUTCOME_DONE;
}

// ---- The command line ---------------------------------------------------------------------------

static void complain(void *context, const char *sentence) {
    term_say(context, "%s", sentence);
}

static int read_files(struct nvtxt_options *parser) {
    struct command_line *line = parser->context;
    struct ship_options *options = line->values;
    struct term *term = line->term;
    const char *file = options->file;
    char path[PATH_MAX];
    const struct nvtxt_faults faults = {.complain = complain, .context = term};
    ship_conf_path(path, sizeof(path));
    if (!file && nvtxt_conf_is_hidden(path)) {
        return OUTCOME_DONE;
    }
    int r = ship_conf_load(&options->conf, file ?: path, file != NULL, &faults);
    if (r < 0) {
        term_say(term, "%s", strerror(-r));
    }
    return r < 0                     ? OUTCOME_SYSTEM
           : r == NVTXT_WRONG        ? OUTCOME_CONFIG
           : r == SHIP_CONF_PASSWORD ? OUTCOME_USAGE
                                     : OUTCOME_DONE;
}

#define AT(field) .at = offsetof(struct ship_options, field)
#define TEXT_OF(number) #number
#define COUNT_UP_TO(most) "a number from 1 to " TEXT_OF(most)

static const struct nvtxt_option rows[] = {
    {"config", 'c', NVTXT_OPTION_TEXT, AT(file), .early = true},
    {"check-config", 0, NVTXT_OPTION_FLAG, AT(check_config)},
    {"once", 0, NVTXT_OPTION_FLAG, AT(once)},
    {"dry-run", 0, NVTXT_OPTION_FLAG, AT(dry_run)},
    {"json", 0, NVTXT_OPTION_FLAG, AT(json)},
    {"print", 0, NVTXT_OPTION_FLAG, AT(print)},
    {"no-roles", 0, NVTXT_OPTION_FLAG, AT(wishes.no_roles)},
    {"no-own-rows", 0, NVTXT_OPTION_FLAG, AT(wishes.no_own_rows)},
    {"plain-events", 0, NVTXT_OPTION_FLAG, AT(wishes.plain_events)},
    {"distributed", 0, NVTXT_OPTION_FLAG, AT(wishes.distributed)},
    {"shards", 0, NVTXT_OPTION_OTHER, AT(wishes.shards), .take = take_shards,
     .wanted = COUNT_UP_TO(SHARDS_MOST)},
    {"keep-days", 0, NVTXT_OPTION_OTHER, AT(wishes.keep_days), .take = take_keep_days,
     .wanted = COUNT_UP_TO(SCHEMA_KEEP_DAYS_MAX)},
    {"output", 'o', NVTXT_OPTION_TEXT, AT(output), .wanted = "a file"},
    {"since", 0, NVTXT_OPTION_OTHER, AT(since), .wanted = "a time", .take = take_time},
    {"until", 0, NVTXT_OPTION_OTHER, AT(until), .wanted = "a time", .take = take_time},
    {"hosts", 0, NVTXT_OPTION_NUMBER, AT(simulation.hosts),
     .wanted = COUNT_UP_TO(SIMULATE_HOSTS_MAX), .least = 1, .most = SIMULATE_HOSTS_MAX},
    {"rate", 0, NVTXT_OPTION_NUMBER, AT(simulation.rate), .wanted = COUNT_UP_TO(SIMULATE_RATE_MAX),
     .least = 1, .most = SIMULATE_RATE_MAX},
    {"connections", 0, NVTXT_OPTION_NUMBER, AT(simulation.connections),
     .wanted = COUNT_UP_TO(SIMULATE_CONNECTIONS_MAX), .least = 1, .most = SIMULATE_CONNECTIONS_MAX},
    {"for", 0, NVTXT_OPTION_OTHER, AT(simulation.for_ms), .take = take_duration,
     .wanted = "a time from 1s to 1000h"},
    {"mixed", 0, NVTXT_OPTION_FLAG, AT(simulation.mixed)},
    {.kind = NVTXT_OPTION_KEYS, AT(conf), .keys = &ship_conf_table, .take = hear_key},
    {0},
};

static int answer(struct nvtxt_options *options, bool wants_help) {
    const struct command_line *line = options->context;
    char version[64];
    snprintf(version, sizeof(version), "nvtxt-ship %s%s\n", PACKAGE_VERSION,
             nvtxt_options_commit());
    const char *text = wants_help ? help : version;
    return (int)(ship_print(line->term, text, strlen(text)) ?: OUTCOME_ANSWERED);
}

static enum outcome refuse_option(struct term *term, const struct nvtxt_option_fault *fault,
                                  const char *why) {
    return fault->letter > 0 ? refuse(term, "option '-%c' %s; see --help", fault->letter, why)
                             : refuse(term, "option '%.128s' %s; see --help", fault->word, why);
}

static int refuse_fault(struct nvtxt_options *options, const struct nvtxt_option_fault *fault) {
    const struct command_line *line = options->context;
    struct term *term = line->term;
    switch (fault->kind) {
    case NVTXT_OPTION_UNKNOWN:
        return (int)refuse_option(term, fault, "is not known");
    case NVTXT_OPTION_NO_VALUE:
        return (int)refuse_option(term, fault, "lacks its value");
    case NVTXT_OPTION_HAS_VALUE:
        return (int)refuse_option(term, fault, "takes no value");
    case NVTXT_OPTION_BAD_VALUE:
        return (int)refuse(term, "bad value '%.128s' for --%s: %s%s", fault->text, fault->row->name,
                           fault->why ?: fault->row->wanted, fault->why ? "" : " is expected");
    case NVTXT_OPTION_NO_MEMORY:
        break;
    }
    term_say(term, "%s", strerror(ENOMEM));
    return OUTCOME_SYSTEM;
}

static enum outcome take_command(struct ship_options *options, struct term *term, int argc,
                                 char **argv) {
    if (optind == argc) {
        return OUTCOME_DONE;
    }
    if (argc - optind > 1) {
        return refuse(term, "'%.128s' is one word too many: a command is one word",
                      argv[optind + 1]);
    }
    for (size_t i = SHIP_INIT; i <= SHIP_SIMULATE; i++) {
        if (strcmp(commands[i], argv[optind]) == 0) {
            options->command = (enum ship_command)i;
            return OUTCOME_DONE;
        }
    }
    return refuse(
        term,
        "'%.128s' is no command: there are init, status, metrics, pull, maintain and simulate",
        argv[optind]);
}

// init gives names of hosts to roles. It has no use for a name alone: options that all commands get
// may have one. As in a label, the first = ends the name.
static enum outcome take_hosts(struct ship_options *options, struct term *term) {
    struct nvtxt_buf *hosts = &options->wishes.hosts;
    for (size_t at = 0; options->command == SHIP_INIT && at < options->hosts.len;) {
        const char *text = options->hosts.data + at, *equals = strchr(text, '=');
        at += strlen(text) + 1;
        if (!equals) {
            continue;
        }
        if (equals == text || !equals[1]) {
            return refuse(term, "bad value '%.128s' for --host: init expects NAME=ROLE", text);
        }
        nvtxt_buf_add(hosts, text, (size_t)(equals - text));
        nvtxt_buf_add(hosts, "", 1);
        nvtxt_buf_add(hosts, equals + 1, strlen(equals + 1) + 1);
    }
    if (nvtxt_buf_failed(hosts) || nvtxt_buf_failed(&options->hosts)) {
        term_say(term, "%s", strerror(ENOMEM));
        return OUTCOME_SYSTEM;
    }
    return OUTCOME_DONE;
}

// A password would be in the list of processes. Of files it is said with their lines.
static enum outcome check_target(const struct ship_options *options, struct term *term) {
    struct failure failure;
    switch (target_check(options->conf.target, &failure)) {
    case FAILURE_NONE:
        return OUTCOME_DONE;
    case FAILURE_MEMORY:
        term_say(term, "%s", failure.sentence);
        return OUTCOME_SYSTEM;
    default:
        return refuse(term, "%s", failure.sentence);
    }
}

enum outcome ship_options_read(struct ship_options *options, struct term *term, int argc,
                               char **argv) {
    struct command_line line = {.values = options, .term = term};
    line.options = (struct nvtxt_options){rows,
                                          options,
                                          &line,
                                          .help = 'h',
                                          .answer = answer,
                                          .refuse = refuse_fault,
                                          .prepare = read_files};
    *options = (struct ship_options){0};
    if (ship_conf_init(&options->conf) < 0) {
        term_say(term, "%s", strerror(ENOMEM));
        return OUTCOME_SYSTEM;
    }
    enum outcome r = (enum outcome)nvtxt_options_read(&line.options, argc, argv);
    r = r ?: take_command(options, term, argc, argv);
    r = r ?: take_hosts(options, term);
    r = r ?: check_span(options, term);
    r = r ?: check_simulation(options, term);
    return r ?: check_target(options, term);
}

void ship_options_deinit(struct ship_options *options) {
    ship_conf_deinit(&options->conf);
    nvtxt_buf_deinit(&options->hosts);
    nvtxt_buf_deinit(&options->wishes.hosts);
}
