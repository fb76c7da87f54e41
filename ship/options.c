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

#include "protocol/conf/conf_files.h"
#include "protocol/text/times.h"
#include "ship/engine/target.h"
#include "ship/say.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unknown"
#endif

enum { // values of getopt_long(); those of keys are KEYS and their index
    HELP = 256,
    TELL_VERSION,
    CONFIG,
    CHECK_CONFIG,
    ONCE,
    DRY_RUN,
    JSON,
    PRINT,
    NO_ROLES,
    NO_OWN_ROWS,
    PLAIN_EVENTS,
    KEEP_DAYS,
    OUTPUT,
    SINCE,
    UNTIL,
    KEYS = 512,
};

static const struct option own_options[] = {
    {"help", no_argument, NULL, HELP},
    {"version", no_argument, NULL, TELL_VERSION},
    {"config", required_argument, NULL, CONFIG},
    {"check-config", no_argument, NULL, CHECK_CONFIG},
    {"once", no_argument, NULL, ONCE},
    {"dry-run", no_argument, NULL, DRY_RUN},
    {"json", no_argument, NULL, JSON},
    {"print", no_argument, NULL, PRINT},
    {"no-roles", no_argument, NULL, NO_ROLES},
    {"no-own-rows", no_argument, NULL, NO_OWN_ROWS},
    {"plain-events", no_argument, NULL, PLAIN_EVENTS},
    {"keep-days", required_argument, NULL, KEEP_DAYS},
    {"output", required_argument, NULL, OUTPUT},
    {"since", required_argument, NULL, SINCE},
    {"until", required_argument, NULL, UNTIL},
};
#define OWN_COUNT (sizeof(own_options) / sizeof(own_options[0]))
#define OPTIONS_MAX 40

static const char *const commands[] = {[SHIP_INIT] = "init",
                                       [SHIP_STATUS] = "status",
                                       [SHIP_METRICS] = "metrics",
                                       [SHIP_PULL] = "pull",
                                       [SHIP_MAINTAIN] = "maintain"};

static const char help[] =
    "Usage: nvtxt-ship [OPTION]... [COMMAND]\n"
    "Brings the rows of a store into a PostgreSQL database, each exactly once.\n"
    "Without a command it follows the store until it is stopped.\n"
    "  init           makes the schema, or brings it up: --keep-days N, --print,\n"
    "                 --host NAME=ROLE, --no-roles, --no-own-rows, --plain-events\n"
    "  status         how far this host's store is shipped: --json\n"
    "  metrics        the same for Prometheus: --output FILE\n"
    "  pull           a host's rows as a store: --host NAME, --since TIME,\n"
    "                 --until TIME, -o FILE\n"
    "  maintain       removes old days, makes the next ones, ends what holds that up\n"
    "  --once, --dry-run  ships what is there now; says what that would be\n"
    "  --store PATH       the store (default: see 'nvtxt-ctl where')\n"
    "  --target CONNINFO, --schema NAME   the database, without a password\n"
    "  --host NAME, --label KEY=VALUE     this host there\n"
    "  --store-id UUID    the identity of the store (default: its own)\n"
    "  --from WHERE       of a new store: beginning (the default), now, or a time\n"
    "  --interval TIME, --lease TIME, --connect-timeout TIME  (1s, 30s, 10s)\n"
    "  -c, --config FILE  the configuration; --check-config only checks it\n"
    "  --help, --version  see nvtxt-ship(1)\n"
    "Exit status: 0 done; 1 nothing is shipped yet; 64 usage; 65 no store of ours, or\n"
    "a clone; 66 no store; 69 no database; 71 memory; 73 no output; 74 I/O error;\n"
    "75 another shipper; 76 no schema; 77 refused; 78 configuration.\n";

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

static void fill(struct option *table) {
    size_t n = 0;
    for (; n < OWN_COUNT; n++) {
        table[n] = own_options[n];
    }
    for (size_t i = 0; i < ship_key_count; i++) {
        if (ship_keys[i].option) {
            table[n++] =
                (struct option){ship_keys[i].option, required_argument, NULL, (int)(KEYS + i)};
        }
    }
    table[n] = (struct option){0};
}

// ---- Values -------------------------------------------------------------------------------------

static enum outcome set_key(struct ship_options *options, struct term *term, size_t index) {
    char why[256];
    const struct ship_key *key = &ship_keys[index];
    if (strcmp(key->option, "host") == 0) {
        nvtxt_buf_add(&options->hosts, optarg, strlen(optarg) + 1);
    }
    bool may_be_empty = key->type == SHIP_LIST || (key->type == SHIP_TEXT && !key->is_good);
    if (!*optarg && !may_be_empty) { // from a variable that a script did not set
        return refuse(term, "bad value '' for --%s: leave the option out, or give it a value",
                      key->option);
    }
    int r = ship_conf_set(&options->conf, key, optarg, why, sizeof(why));
    if (r < 0) {
        term_say(term, "%s", strerror(-r));
        return OUTCOME_SYSTEM;
    }
    return r ? refuse(term, "bad value '%.128s' for --%s: %s", optarg, key->option, why)
             : OUTCOME_DONE;
}

static enum outcome set_keep_days(struct ship_options *options, struct term *term) {
    size_t digits = strspn(optarg, "0123456789");
    int64_t days = digits > 0 && digits < 10 && !optarg[digits] ? strtoll(optarg, NULL, 10) : 0;
    if (days < 1 || days > SCHEMA_KEEP_DAYS_MAX) {
        return refuse(term, "bad value '%.128s' for --keep-days: a number from 1 to %d is expected",
                      optarg, SCHEMA_KEEP_DAYS_MAX);
    }
    options->wishes.keep_days = days;
    return OUTCOME_DONE;
}

static enum outcome set_time(const char **field, struct term *term, const char *name) {
    int64_t ns;
    *field = optarg;
    return nvtxt_time_parse(optarg, &ns)
               ? OUTCOME_DONE
               : refuse(term, "bad value '%.128s' for --%s: a time is expected", optarg, name);
}

static enum outcome check_span(const struct ship_options *options, struct term *term) {
    int64_t since, until;
    bool wrong = options->since && options->until && nvtxt_time_parse(options->since, &since) &&
                 nvtxt_time_parse(options->until, &until) && since > until;
    return wrong ? refuse(term, "--since is later than --until") : OUTCOME_DONE;
}

static enum outcome set_own(struct ship_options *options, struct term *term, int option) {
    bool *flags[] = {[ONCE - HELP] = &options->once,
                     [DRY_RUN - HELP] = &options->dry_run,
                     [JSON - HELP] = &options->json,
                     [PRINT - HELP] = &options->print,
                     [NO_ROLES - HELP] = &options->wishes.no_roles,
                     [NO_OWN_ROWS - HELP] = &options->wishes.no_own_rows,
                     [PLAIN_EVENTS - HELP] = &options->wishes.plain_events,
                     [CHECK_CONFIG - HELP] = &options->check_config};
    switch (option) {
    case CONFIG:
    case 'c':
        return OUTCOME_DONE; // the first walk has it
    case KEEP_DAYS:
        return set_keep_days(options, term);
    case OUTPUT:
    case 'o':
        options->output = optarg;
        return *optarg ? OUTCOME_DONE
                       : refuse(term, "bad value '' for --output: a file is expected");
    case SINCE:
        return set_time(&options->since, term, "since");
    case UNTIL:
        return set_time(&options->until, term, "until");
    default:
        *flags[option - HELP] = true;
        return OUTCOME_DONE;
    }
}

// ---- The command line ---------------------------------------------------------------------------

static enum outcome bad_option(struct term *term, char **argv, const struct option *table) {
    if (optopt > 0 && optopt < HELP) {
        bool known = strchr("co", optopt) != NULL;
        return refuse(term, "option '-%c' %s; see --help", optopt,
                      known ? "lacks its value" : "is not known");
    }
    while (table->name && table->val != optopt) {
        table++;
    }
    return refuse(term, "option '%.128s' %s; see --help", argv[optind - 1],
                  !table->name                          ? "is not known"
                  : table->has_arg == required_argument ? "lacks its value"
                                                        : "takes no value");
}

static enum outcome answer(struct term *term, const char *text) {
    return ship_print(term, text, strlen(text)) ?: OUTCOME_ANSWERED;
}

// The first walk: -c, --help and --version.
static enum outcome find_file(struct term *term, int argc, char **argv, const struct option *table,
                              const char **file) {
    optind = 0;
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, "c:o:h", table, NULL)) != -1;) {
        switch (option) {
        case '?':
            return bad_option(term, argv, table);
        case HELP:
        case 'h':
            return answer(term, help);
        case TELL_VERSION:
            return answer(term, "nvtxt-ship " PACKAGE_VERSION "\n");
        case CONFIG:
        case 'c':
            *file = optarg;
        }
    }
    return OUTCOME_DONE;
}

static enum outcome take_options(struct ship_options *options, struct term *term, int argc,
                                 char **argv, const struct option *table) {
    enum outcome outcome = OUTCOME_DONE;
    optind = 0;
    for (int option; outcome == OUTCOME_DONE &&
                     (option = getopt_long(argc, argv, "c:o:h", table, NULL)) != -1;) {
        outcome = option >= KEYS ? set_key(options, term, (size_t)(option - KEYS))
                                 : set_own(options, term, option);
    }
    return outcome;
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
    for (size_t i = SHIP_INIT; i <= SHIP_MAINTAIN; i++) {
        if (strcmp(commands[i], argv[optind]) == 0) {
            options->command = (enum ship_command)i;
            return OUTCOME_DONE;
        }
    }
    return refuse(term,
                  "'%.128s' is no command: there are init, status, metrics, pull and maintain",
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

static void complain(void *context, const char *sentence) {
    term_say(context, "%s", sentence);
}

static enum outcome read_files(struct ship_options *options, struct term *term, const char *file) {
    char path[PATH_MAX];
    const struct nvtxt_faults faults = {.complain = complain, .context = term};
    ship_conf_path(path, sizeof(path));
    if (!file && nvtxt_conf_is_hidden(path)) {
        return OUTCOME_DONE;
    }
    int r = ship_conf_load(&options->conf, file ? file : path, file != NULL, &faults);
    if (r < 0) {
        term_say(term, "%s", strerror(-r));
    }
    return r < 0                     ? OUTCOME_SYSTEM
           : r == SHIP_CONF_FAULTY   ? OUTCOME_CONFIG
           : r == SHIP_CONF_PASSWORD ? OUTCOME_USAGE
                                     : OUTCOME_DONE;
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
    struct option table[OPTIONS_MAX];
    const char *file = NULL;
    *options = (struct ship_options){0};
    fill(table);
    enum outcome outcome = find_file(term, argc, argv, table, &file);
    if (outcome) {
        return outcome;
    }
    if (ship_conf_init(&options->conf) < 0) {
        term_say(term, "%s", strerror(ENOMEM));
        return OUTCOME_SYSTEM;
    }
    outcome = read_files(options, term, file);
    outcome = outcome ?: take_options(options, term, argc, argv, table);
    outcome = outcome ?: take_command(options, term, argc, argv);
    outcome = outcome ?: take_hosts(options, term);
    outcome = outcome ?: check_span(options, term);
    return outcome ?: check_target(options, term);
}

void ship_options_deinit(struct ship_options *options) {
    ship_conf_deinit(&options->conf);
    nvtxt_buf_deinit(&options->hosts);
    nvtxt_buf_deinit(&options->wishes.hosts);
}
