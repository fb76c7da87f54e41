// SPDX-License-Identifier: Apache-2.0
#include "client/report/options.h"

#include <string.h>

static const struct ncu_option {
    const char *name;
    const char *value; // NULL: it takes none, or any
    const char *use;   // of nvtxt-report
    bool named;        // the value stands behind `use`
} ncu_options[] = {
    {"list-sections", NULL, "list sections", false},
    {"list-sets", NULL, "list sets", false},
    {"list-rules", NULL, "list rules", false},
    {"list-metrics", NULL, "list metrics", false},
    {"query-metrics", NULL, "list metrics", false},
    {"import", NULL, "report", true},
    {"page", "details", "report", false},
    {"page", "raw", "metrics", false},
    {"page", "source", "source", false},
    {"page", "session", "summary", false},
    {"page", NULL, "report", false},
};

static const struct ncu_option *find_option(const char *name, size_t len, const char *value) {
    for (size_t i = 0; i < sizeof(ncu_options) / sizeof(ncu_options[0]); i++) {
        const struct ncu_option *option = &ncu_options[i];
        bool is_it = strlen(option->name) == len && memcmp(option->name, name, len) == 0;
        if (is_it && (!option->value || (value && strcmp(option->value, value) == 0))) {
            return option;
        }
    }
    return NULL;
}

bool report_ncu_option(struct term *term, const char *word, const char *next) {
    const char *name = strncmp(word, "--", 2) == 0 ? word + 2 : word;
    size_t len = strcspn(name, "=");
    const char *value = name[len] == '=' ? name + len + 1 : next;
    const struct ncu_option *option = find_option(name, len, value);
    if (!option) {
        return false;
    }
    bool named = option->named && value && value[0] != '-';
    term_say(term, "that is an option of ncu; use '%s %s%s%s'", term->program, option->use,
             named ? " " : "",
             named           ? value
             : option->named ? " FILE"
                             : "");
    return true;
}
