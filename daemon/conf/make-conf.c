// SPDX-License-Identifier: Apache-2.0
//
// Writes the configuration file that is installed, at build time: every key of the table with its
// meaning and its default, commented out. So the file and the program always agree. Not installed.
#include <stdio.h>
#include <string.h>

#include "daemon/conf/conf.h"

#define COLUMNS 80

static const char head[] =
    "# nvtxtd.conf, the configuration of nvtxtd(1). nvtxtd.conf(5) describes it.\n"
    "#\n"
    "# This file has every key with its default. Remove the # to change a value. It\n"
    "# is better to put your values into a file nvtxtd.conf.d/NAME.conf beside this\n"
    "# one: the daemon reads such files after this one, in the order of their names.\n"
    "#\n"
    "# 'nvtxtd -c FILE --check-config' says whether a file is good. 'systemctl reload\n"
    "# nvtxtd' or 'nvtxt-ctl reload' applies what can change while the daemon runs.\n"
    "#\n"
    "# A size is a number of bytes, or a number with a unit K, M or G. A time has a\n"
    "# unit ms, s, min, h or d, and is in seconds without one. A mode is octal.\n"
    "\n"
    "[nvtxtd]\n";

// A comment of several lines; words are not broken.
static void put_comment(const char *text) {
    size_t column = 1;
    putchar('#');
    while (*text) {
        size_t len = strcspn(text, " ");
        if (column + 1 + len > COLUMNS) {
            fputs("\n#", stdout);
            column = 1;
        }
        printf(" %.*s", (int)len, text);
        column += 1 + len;
        text += len;
        text += *text == ' ';
    }
    putchar('\n');
}

static const char *change_words(const struct nvtxt_conf_key *key) {
    switch ((enum conf_change)key->change) {
    case CONF_AT_ONCE:
        return "";
    case CONF_NEW_SOURCES:
        return " A reload applies it to new sources.";
    case CONF_RESTART:
        return " Needs a restart.";
    }
    return "";
}

static void put_key(const struct nvtxt_conf_key *key) {
    char text[1024], choices[128] = "";
    if (key->choices) {
        snprintf(choices, sizeof(choices), " One of %s.", key->choices);
    }
    snprintf(text, sizeof(text), "%s%s%s", key->help, choices, change_words(key));
    putchar('\n');
    put_comment(text);
    printf("#%s=%s\n", key->name, key->initial);
}

int main(void) {
    const char *topic = "";
    fputs(head, stdout);
    for (size_t i = 0; i < conf_table.count; i++) {
        if (strcmp(topic, conf_table.keys[i].topic) != 0) {
            printf("\n# ---- %s ----\n", conf_table.keys[i].topic);
        }
        topic = conf_table.keys[i].topic;
        put_key(&conf_table.keys[i]);
    }
    return ferror(stdout) || fflush(stdout) != 0;
}
