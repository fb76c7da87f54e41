// SPDX-License-Identifier: Apache-2.0
//
// Connections are read in turns, and at the stop one may go while the server goes over all of them.
#include "daemon/conn/server.h"

#include "tests/unit/server_kit.h"

#define LINE "#0123456789012345678901234567890\n" // a comment

// libuv reads a socket again and again while it fills the buffer; a first line's buffer is small.
Test(server, reads_a_connection_once_a_turn_of_the_loop) {
    struct kit kit;
    char text[4 * CONN_FIRST_READ_BYTES];
    kit_open(&kit);
    for (size_t i = 0; i < sizeof(text); i++) {
        text[i] = LINE[i % (sizeof(LINE) - 1)];
    }
    int client = kit_connect(&kit);
    cr_assert_eq(write(client, text, sizeof(text)), (ssize_t)sizeof(text));
    uv_run(&kit.loop, UV_RUN_NOWAIT);
    cr_assert_eq(kit.server.hub.stats.bytes, CONN_FIRST_READ_BYTES);
    uv_run(&kit.loop, UV_RUN_NOWAIT);
    cr_assert_eq(kit.server.hub.stats.bytes, sizeof(text), "the rest in its next turn");
    close(client);
    kit_close(&kit);
}

Test(server, a_stop_reads_the_others_when_the_connection_closes_whose_turn_it_is) {
    struct kit kit;
    int clients[3];
    kit_open(&kit);
    for (int i = 0; i < 3; i++) {
        clients[i] = kit_connect(&kit);
        kit_send(clients[i], LINE);
    }
    kit.server.hub.batcher.pressed = true; // as with a full budget: nothing is read yet
    server_stop(&kit.server);
    struct conn *first = kit.server.conns, *second = first->next;
    cr_assert_eq(kit.server.cursor, first);
    conn_close(first);
    cr_assert_eq(kit.server.cursor, second);
    kit.server.hub.batcher.pressed = false;
    uv_async_send(&kit.server.hub.doorbell);
    while (kit.server.stage == SERVER_READING) {
        uv_run(&kit.loop, UV_RUN_ONCE);
    }
    cr_assert_eq(kit.server.hub.stats.bytes, 2 * strlen(LINE));
    for (int i = 0; i < 3; i++) {
        close(clients[i]);
    }
    kit_close(&kit);
}
