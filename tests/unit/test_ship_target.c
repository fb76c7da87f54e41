// SPDX-License-Identifier: Apache-2.0
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ship/engine/pg.h"

// The value of a key word as libpq gets it; "": it is left to the target.
static const char *word(const struct target_words *words, const char *key) {
    for (size_t i = 0; i < words->count; i++) {
        if (strcmp(words->keys[i], key) == 0) {
            return words->values[i];
        }
    }
    return "";
}

static void expect(const char *target, const char *spread, size_t only, const char *hosts,
                   const char *ports) {
    struct target_words words;
    struct failure failure;
    const struct pg_settings settings = {.target = target, .spread = spread, .only = only};
    cr_assert_eq(target_words(&words, &settings, &failure), FAILURE_NONE);
    cr_assert_str_eq(word(&words, "host"), hosts, "%s", word(&words, "host"));
    cr_assert_str_eq(word(&words, "port"), ports, "%s", word(&words, "port"));
    target_words_deinit(&words);
}

Test(ship_target, leaves_alone_what_has_no_choice) {
    unsetenv("PGHOST");
    expect("host=a", "s", 0, "", "");
    expect("host=a,b", NULL, 0, "", "");
    expect("host=a,b port=1,2,3", "s", 0, "", ""); // libpq says what is wrong
    expect("dbname=d", "s", 0, "", "");
}

Test(ship_target, takes_one_of_several) {
    expect("host=a,b port=1,2", NULL, 2, "b", "2");
    expect("host=a,b port=7", NULL, 1, "a", "7");
    expect("host=a,,c", NULL, 2, "", "5432");
}

// The first host of each store.
static void first_of(const char *target, int store, char *first) {
    char spread[16];
    struct target_words words;
    struct failure failure;
    snprintf(spread, sizeof(spread), "store%d", store);
    const struct pg_settings settings = {.target = target, .spread = spread};
    cr_assert_eq(target_words(&words, &settings, &failure), FAILURE_NONE);
    cr_assert_eq(strlen(word(&words, "host")), strlen(strstr(target, "a,")));
    // Each host keeps its port.
    cr_assert_eq(word(&words, "port")[0] - '1', word(&words, "host")[0] - 'a');
    *first = *word(&words, "host");
    target_words_deinit(&words);
}

Test(ship_target, spreads_stores_over_the_hosts) {
    int count[256] = {0}, moved = 0;
    for (int store = 0; store < 400; store++) {
        char of_three, of_four, again;
        first_of("port=1,2,3 host=a,b,c", store, &of_three);
        first_of("port=1,2,3 host=a,b,c", store, &again);
        first_of("port=1,2,3,4 host=a,b,c,d", store, &of_four);
        cr_assert_eq(of_three, again);
        cr_assert(of_four == of_three || of_four == 'd', "a host more takes only its own");
        count[(unsigned char)of_three]++;
        moved += of_four == 'd';
    }
    for (int host = 'a'; host <= 'c'; host++) {
        cr_assert(count[host] > 90 && count[host] < 180, "%c has %d", host, count[host]);
    }
    cr_assert(moved > 60 && moved < 140, "%d", moved);
}
