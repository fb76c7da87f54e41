// SPDX-License-Identifier: Apache-2.0
//
// The order in which places are tried, for root and for others, and the sentences about them.
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/common/outcome.h"
#include "client/locate/search.h"

static struct search search;

static void forget(void) {
    unsetenv("NVTXT_SOCKET");
    unsetenv("NVTXT_STORE");
    setenv("XDG_RUNTIME_DIR", "/r", 1);
    setenv("XDG_STATE_HOME", "/s", 1);
}

static size_t find(const char *path) {
    size_t i = 0;
    while (i < search.count && strcmp(search.places[i].path, path) != 0) {
        i++;
    }
    cr_assert_lt(i, search.count, "%s is not searched", path);
    return i;
}

Test(search, an_option_is_the_only_place) {
    forget();
    setenv("NVTXT_SOCKET", "/e/nvtxtd.sock", 1);
    search_data(&search, "/o");
    cr_assert_eq(search.count, 1);
    cr_assert_str_eq(search.places[0].path, "/o");
    cr_assert(search_is_named(&search));
    search_stores(&search, "/p");
    cr_assert(search_is_named(&search));
    cr_assert_str_eq(search.places[0].path, "/p");
}

Test(search, what_the_environment_names_is_the_only_place) {
    struct search control;
    forget();
    setenv("NVTXT_SOCKET", "/e/data.sock", 1);
    search_data(&search, NULL);
    cr_assert(search_is_named(&search));
    cr_assert_str_eq(search.places[0].path, "/e/data.sock");
    cr_assert_str_eq(search.places[0].whose, "$NVTXT_SOCKET");
    search_control(&control, &search);
    cr_assert_eq(control.count, 1);
    cr_assert_str_eq(control.places[0].path, "/e/control.sock");
    setenv("NVTXT_STORE", "/e", 1);
    search_stores(&search, NULL);
    cr_assert(search_is_named(&search));
    cr_assert_str_eq(search.places[0].whose, "$NVTXT_STORE");
}

Test(search, an_empty_variable_names_nothing) {
    forget();
    setenv("NVTXT_SOCKET", "", 1);
    setenv("NVTXT_STORE", "", 1);
    search_data(&search, NULL);
    cr_assert_eq(search.count, 3);
    cr_assert_not(search_is_named(&search));
    search_stores(&search, NULL);
    cr_assert_eq(search.count, 2);
}

Test(search, ones_own_comes_before_the_systems_and_for_root_after) {
    forget();
    bool root = geteuid() == 0;
    search_data(&search, NULL);
    size_t own = find("/r/nvtxtd/nvtxtd.sock");
    cr_assert_eq(find("/run/nvtxtd/nvtxtd.sock") < own, root);
    cr_assert_eq(search.places[own].is_named, false);
    search_stores(&search, NULL);
    cr_assert_eq(find("/var/lib/nvtxtd/nvtxt.sqlite") < find("/s/nvtxtd/nvtxt.sqlite"), root);
    unsetenv("XDG_RUNTIME_DIR");
    search_data(&search, NULL);
    cr_assert_eq(search.count, 2);
}

Test(search, what_a_daemon_says_comes_first_or_alone) {
    forget();
    search_stores(&search, NULL);
    search_put_store(&search, "/d", false);
    cr_assert_eq(search.count, 3);
    cr_assert_eq(find("/d"), 0);
    search_stores(&search, NULL);
    search_put_store(&search, "/var/lib/nvtxtd/nvtxt.sqlite", false);
    cr_assert_eq(search.count, 2);
    cr_assert_eq(find("/var/lib/nvtxtd/nvtxt.sqlite"), 0);
    cr_assert_eq(find("/s/nvtxtd/nvtxt.sqlite"), 1);
    search_put_store(&search, "/d", true);
    cr_assert_eq(search.count, 1);
    cr_assert_eq(find("/d"), 0);
}

Test(search, what_was_tried_is_in_one_sentence) {
    char text[4096], advice[512];
    forget();
    search_data(&search, "/o");
    search_note(&search.places[0], -ENOENT);
    cr_assert_eq(search_explain(&search, text, sizeof(text), advice, sizeof(advice)),
                 OUTCOME_NO_DAEMON);
    cr_assert_str_eq(text, "no daemon at /o: No such file or directory (--socket names it)");
    cr_assert_str_eq(advice, "");
    search_data(&search, NULL);
    cr_assert_eq(search.count, 3);
    for (size_t i = 0; i < search.count; i++) {
        strcpy(search.places[i].path, i == 0 ? "/a" : i == 1 ? "/b" : "/c");
        search_note(&search.places[i], i == 1 ? -ECONNREFUSED : -ENOENT);
    }
    cr_assert_eq(search_explain(&search, text, sizeof(text), advice, sizeof(advice)),
                 OUTCOME_NO_DAEMON);
    cr_assert_str_eq(text,
                     "no daemon at /a (No such file or directory), /b (Connection refused) or "
                     "/c (No such file or directory)");
    search_note(&search.places[2], -EACCES);
    cr_assert_eq(search_explain(&search, text, sizeof(text), advice, sizeof(advice)),
                 OUTCOME_FORBIDDEN);
    cr_assert_str_eq(text, "you may not use the daemon at /c: Permission denied; there is none at "
                           "/a (No such file or directory) or /b (Connection refused)");
    cr_assert_str_eq(advice, "start one of your own with 'nvtxtd &'"); // /c tells nothing of itself
    search_note(&search.places[0], -EACCES);
    cr_assert_eq(search_explain(&search, text, sizeof(text), advice, sizeof(advice)),
                 OUTCOME_FORBIDDEN);
    cr_assert_str_eq(text, "you may not use the daemon at /a (Permission denied) or /c (Permission "
                           "denied); there is none at /b (Connection refused)");
}

Test(search, paths_must_fit_a_socket_address) {
    char path[200];
    memset(path, 'a', sizeof(path));
    path[108] = '\0';
    cr_assert_not(search_socket_fits(path));
    path[107] = '\0';
    cr_assert(search_socket_fits(path));
    cr_assert_not(search_socket_fits(""));
}
