// SPDX-License-Identifier: Apache-2.0
//
// Asks the engine to break off the statement that a connection runs. That takes a connection of its
// own, for which libpq waits as long as it likes; so a child process asks, and nobody waits for it.
#pragma once

struct pg_conn; // libpq's PGconn

void cancel_statement(struct pg_conn *conn);
