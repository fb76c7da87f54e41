// SPDX-License-Identifier: Apache-2.0
//
// Makes a manual page from its template, at build time: fill-page TEMPLATE >PAGE. It writes tables
// of the code into the page, so the page and the code always agree: commands, arguments, limits and
// diagnostic codes of the language, and the keys of the configuration. A template names a table in
// double braces:
//
//   {{command Marker}}       the arguments of its default definition, optional ones in brackets
//   {{argument ProcessId}}   what the argument takes
//   {{limit line_bytes}}     the default of a limit
//   {{diagnostics LEXING}}   the items of a list of the codes of one stage
//   {{config}}               the keys of the configuration file, a list for each topic
//
// A name that is not in its table is an error. It is also an error if a template names some of the
// commands, arguments, limits or stages, but not all of them. Not installed.
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "daemon/conf/conf.h"
#include "man/template.h"
#include "protocol/base/limits.h"
#include "protocol/lang/commands.h"
#include "protocol/lang/diag.h"

static void put_grouped(uint64_t value) {
    if (value >= 1000) {
        put_grouped(value / 1000);
        printf(",%03" PRIu64, value % 1000);
    } else {
        printf("%" PRIu64, value);
    }
}

// ---- The tables ---------------------------------------------------------------------------------

static void put_command(enum nvtxt_command command) {
    const struct nvtxt_command_info *info = &nvtxt_commands[command];
    for (unsigned i = 0; i < info->arg_count; i++) {
        bool optional = !(info->required & nvtxt_arg_bit(info->args[i]));
        printf(".%sAr %s%s\n", optional ? "Op " : "", nvtxt_args[info->args[i]].name.data,
               i + 1 < info->arg_count ? " ," : "");
    }
}

static const char *type_words(enum nvtxt_arg_type type) {
    switch (type) {
    case NVTXT_TAKES_INTEGER:
        return "Integer";
    case NVTXT_TAKES_STRING:
        return "String";
    case NVTXT_TAKES_TEXT:
    case NVTXT_TAKES_COLOR:
        return "String or Integer";
    case NVTXT_TAKES_PAYLOAD:
        return "Integer, or String of a decimal number";
    case NVTXT_TAKES_JSON:
        return "String of one JSON value";
    case NVTXT_TAKES_WORD:
        return "String that is a word";
    case NVTXT_TAKES_HANDLE:
        return "Integer, or String of hexadecimal digits";
    }
    return NULL;
}

#define LIMITS(X)                                                                                  \
    X(line_bytes)                                                                                  \
    X(variables)                                                                                   \
    X(variable_bytes)                                                                              \
    X(name_bytes)                                                                                  \
    X(push_depth)                                                                                  \
    X(open_ranges)                                                                                 \
    X(open_threads)                                                                                \
    X(open_bytes)                                                                                  \
    X(waiting_names)                                                                               \
    X(diagnostics)

static const struct nvtxt_limits limits = NVTXT_LIMITS_DEFAULT;

#define X(name) {#name, offsetof(struct nvtxt_limits, name)},
static const struct {
    const char *name;
    size_t offset;
} limit_table[] = {LIMITS(X)};
#undef X
#define LIMIT_COUNT (sizeof(limit_table) / sizeof(limit_table[0]))
_Static_assert(LIMIT_COUNT * sizeof(size_t) == sizeof(struct nvtxt_limits),
               "a limit is missing from LIMITS above");

static void put_diagnostics(enum nvtxt_stage stage) {
    for (int i = 0; i < NVTXT_DIAG_CODE_COUNT; i++) {
        enum nvtxt_diag_code code = (enum nvtxt_diag_code)i;
        if (nvtxt_diag_stage(code) != stage) {
            continue;
        }
        fputs(".It Sy ", stdout);
        template_put(nvtxt_diag_code_name(code));
        printf(" Pq %s , %s\n", nvtxt_stage_name(stage),
               nvtxt_severity_name(nvtxt_diag_severity(code)));
        template_put(nvtxt_diag_meaning(code));
        putchar('\n');
    }
}

static void put_value_of(const struct nvtxt_conf_key *key) {
    static const char *const kinds[] = {
        [NVTXT_CONF_TEXT] = "text",     [NVTXT_CONF_INTEGER] = "number", [NVTXT_CONF_SIZE] = "size",
        [NVTXT_CONF_DURATION] = "time", [NVTXT_CONF_MODE] = "mode",      [NVTXT_CONF_PATH] = "path",
        [NVTXT_CONF_PATHS] = "path",    [NVTXT_CONF_SHARE] = "share",
    };
    if (key->type != NVTXT_CONF_CHOICE) {
        printf("Ar %s\n", kinds[key->type]);
        return;
    }
    fputs("Cm ", stdout);
    for (const char *at = key->choices; *at; at++) {
        fputs(*at == '|' ? " | " : (char[]){*at, '\0'}, stdout);
    }
    putchar('\n');
}

// Prints which values are allowed, if the type does not say it.
static void put_range(const struct nvtxt_conf_key *key) {
    switch (key->type) {
    case NVTXT_CONF_INTEGER:
    case NVTXT_CONF_SIZE:
        printf("From %" PRId64 " to %" PRId64 ".\n", key->min, key->max);
        break;
    case NVTXT_CONF_DURATION:
        printf("From %" PRId64 "\\~ms to %" PRId64 "\\~s.\n", key->min, key->max / 1000);
        break;
    case NVTXT_CONF_SHARE:
        printf("The percentage from %" PRId64 " to %" PRId64 ".\n", key->min, key->max);
        break;
    default:
        break;
    }
}

static void put_key(const struct nvtxt_conf_key *key) {
    static const char *const changes[] = {
        [CONF_AT_ONCE] = "A reload applies it.\n",
        [CONF_NEW_SOURCES] = "A reload applies it to new sources.\n",
        [CONF_RESTART] = "",
    };
    printf(".It Cm %s Ns = Ns ", key->name);
    put_value_of(key);
    template_put(key->help);
    putchar('\n');
    put_range(key);
    fputs(changes[key->change], stdout);
    if (*key->initial) {
        printf("Default:\n.Cm %s .\n", key->initial);
    }
}

// Prints the keys, a list for each topic.
static void put_config(const char *name) {
    (void)name;
    const char *topic = "";
    for (size_t i = 0; i < conf_table.count; i++) {
        if (strcmp(topic, conf_table.keys[i].topic) != 0) {
            printf("%s.Ss %s\n.Bl -tag -width Ds\n", i ? ".El\n" : "", conf_table.keys[i].topic);
        }
        topic = conf_table.keys[i].topic;
        put_key(&conf_table.keys[i]);
    }
    puts(".El");
}

// ---- Templates ----------------------------------------------------------------------------------

static uint64_t used_commands, used_args, used_limits, used_stages;

static void check_all_used(const char *what, uint64_t used, unsigned count) {
    for (unsigned i = 0; used && i < count; i++) {
        if (!(used >> i & 1)) {
            template_fail("number %u of the %s is not in this page, though others are", i, what);
        }
    }
}

static struct nvtxt_slice slice_of(const char *text) {
    return (struct nvtxt_slice){text, strlen(text)};
}

static void fill_command(const char *name) {
    enum nvtxt_command command = nvtxt_command_find(slice_of(name));
    if (command == NVTXT_CMD_COUNT) {
        template_fail("there is no command '%s'", name);
    }
    used_commands |= UINT64_C(1) << command;
    put_command(command);
}

static void fill_argument(const char *name) {
    enum nvtxt_arg arg = nvtxt_arg_find(slice_of(name));
    if (arg == NVTXT_ARG_COUNT) {
        template_fail("there is no argument '%s'", name);
    }
    used_args |= UINT64_C(1) << arg;
    fputs(type_words(nvtxt_args[arg].type), stdout);
}

static void fill_limit(const char *name) {
    for (size_t i = 0; i < LIMIT_COUNT; i++) {
        if (strcmp(limit_table[i].name, name) == 0) {
            used_limits |= UINT64_C(1) << i;
            put_grouped(*(const size_t *)((const char *)&limits + limit_table[i].offset));
            return;
        }
    }
    template_fail("there is no limit '%s'", name);
}

static void fill_diagnostics(const char *name) {
    static const char *const stages[] = {
        [NVTXT_LEXING] = "LEXING", [NVTXT_PARSING] = "PARSING", [NVTXT_LOADING] = "LOADING"};
    for (unsigned stage = 0; stage < sizeof(stages) / sizeof(stages[0]); stage++) {
        if (strcmp(stages[stage], name) == 0) {
            used_stages |= UINT64_C(1) << stage;
            put_diagnostics((enum nvtxt_stage)stage);
            return;
        }
    }
    template_fail("there is no stage '%s'", name);
}

static const struct template_table tables[] = {
    {"argument", true, fill_argument}, {"command", true, fill_command},
    {"config", false, put_config},     {"diagnostics", true, fill_diagnostics},
    {"limit", true, fill_limit},       {0},
};

int main(int argc, char **argv) {
    int status = template_fill(argc, argv, tables);
    check_all_used("commands", used_commands, NVTXT_CMD_COUNT);
    check_all_used("arguments", used_args, NVTXT_ARG_COUNT);
    check_all_used("limits", used_limits, LIMIT_COUNT);
    check_all_used("stages", used_stages, 3);
    return status;
}
