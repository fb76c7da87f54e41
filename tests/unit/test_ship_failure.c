// SPDX-License-Identifier: Apache-2.0
#include <criterion/criterion.h>

#include "ship/engine/failure.h"

Test(ship_failure, gives_sqlstates_their_classes) {
    static const struct {
        const char *state;
        bool is_gone;
        enum failure_class class;
    } cases[] = {
        {"28P01", true, FAILURE_REFUSED},       {"28000", true, FAILURE_REFUSED},
        {"42501", false, FAILURE_REFUSED},      {"3D000", true, FAILURE_REFUSED},
        {"42P01", false, FAILURE_NO_SCHEMA},    {"3F000", false, FAILURE_NO_SCHEMA},
        {"23514", false, FAILURE_NO_PARTITION}, {"08006", false, FAILURE_AWAY},
        {"08006", true, FAILURE_GONE},          {"23505", false, FAILURE_ENGINE},
        {"53100", false, FAILURE_ENGINE},       {"57P01", true, FAILURE_GONE},
        {"40001", false, FAILURE_ENGINE},       {"P0001", false, FAILURE_ENGINE},
        {"42703", false, FAILURE_ENGINE},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cr_assert_eq(failure_of_state(cases[i].state, cases[i].is_gone), cases[i].class, "%s",
                     cases[i].state);
    }
}

static void expect(const char *message, bool needs_password, enum failure_class class,
                   const char *sentence) {
    struct failure failure;
    cr_assert_eq(failure_of_connect(&failure, message, needs_password), class, "%s", message);
    cr_assert_eq(failure.class, class);
    cr_assert_str_eq(failure.sentence, sentence);
}

Test(ship_failure, takes_the_sqlstate_out_of_what_a_connection_said) {
    expect("connection to server at \"127.0.0.1\", port 5 failed: FATAL:  28P01: password "
           "authentication failed for user \"u\"\nLOCATION:  auth_failed, auth.c:335\n",
           false, FAILURE_REFUSED,
           "connection to server at \"127.0.0.1\", port 5 failed: FATAL: password authentication "
           "failed for user \"u\"");
    expect("connection to server on socket \"/s\" failed: FATAL:  57P03: the database system is "
           "starting up\n",
           false, FAILURE_GONE,
           "connection to server on socket \"/s\" failed: FATAL: the database system is starting "
           "up");
}

Test(ship_failure, keeps_every_address_and_no_advice) {
    expect("connection to server at \"h\" (::1), port 5 failed: Connection refused\n"
           "\tIs the server running on that host and accepting TCP/IP connections?\n"
           "connection to server at \"h\" (127.0.0.1), port 5 failed: Connection refused\n",
           false, FAILURE_GONE,
           "connection to server at \"h\" (::1), port 5 failed: Connection refused; connection to "
           "server at \"h\" (127.0.0.1), port 5 failed: Connection refused");
}

Test(ship_failure, says_nothing_twice_and_no_part_of_a_statement) {
    expect("connection to server at \"h\", port 5 failed: FATAL:  28P01: wrong password\n"
           "LOCATION:  auth_failed, auth.c:335\n"
           "connection to server at \"h\", port 5 failed: FATAL:  28P01: wrong password\n"
           "LOCATION:  auth_failed, auth.c:335\n",
           false, FAILURE_REFUSED,
           "connection to server at \"h\", port 5 failed: FATAL: wrong password");
    expect("FATAL:  terminating connection due to administrator command\n"
           "LINE 1: INSERT INTO \"nvtxt\".segments AS s (store_id, segment, name, ...\n"
           "                    ^\n"
           "server closed the connection unexpectedly\n",
           false, FAILURE_GONE,
           "FATAL:  terminating connection due to administrator command; server closed the "
           "connection unexpectedly");
}

Test(ship_failure, knows_a_refusal_of_this_side) {
    expect(
        "connection to server at \"192.0.2.2\", port 5 failed: host name must be specified for a "
        "verified SSL connection\n",
        false, FAILURE_REFUSED,
        "connection to server at \"192.0.2.2\", port 5 failed: host name must be specified for a "
        "verified SSL connection");
    expect("channel binding required, but server authenticated client without channel binding\n",
           false, FAILURE_REFUSED,
           "channel binding required, but server authenticated client without channel binding");
    expect("connection to server at \"h\", port 5 failed: SSL error: certificate verify failed\n",
           false, FAILURE_REFUSED,
           "connection to server at \"h\", port 5 failed: SSL error: certificate verify failed");
    expect("connection to server at \"h\", port 5 failed: fe_sendauth: no password supplied\n",
           true, FAILURE_REFUSED,
           "connection to server at \"h\", port 5 failed: fe_sendauth: no password supplied");
}

Test(ship_failure, cuts_what_is_too_long) {
    char message[4 * FAILURE_SENTENCE];
    for (size_t len = FAILURE_SENTENCE - 20; len < FAILURE_SENTENCE + 20; len++) {
        struct failure failure;
        memset(message, 'x', len);
        strcpy(message + len, ":  28P01: y\nz\nz\n");
        failure_of_connect(&failure, message, false);
        cr_assert_leq(strlen(failure.sentence), FAILURE_SENTENCE - 1);
    }
}

Test(ship_failure, tells_a_wrong_target_from_a_name_that_does_not_resolve) {
    struct failure failure;
    cr_assert_eq(failure_of_start(&failure, "invalid port number: \"x\"\n"), FAILURE_TARGET);
    cr_assert_eq(failure_of_start(&failure, "could not translate host name \"h\" to address: no\n"),
                 FAILURE_GONE);
}
