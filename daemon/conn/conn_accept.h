// SPDX-License-Identifier: Apache-2.0
//
// A new data connection: which user it is of, and whether that user may have one more. Loop thread
// only.
#pragma once

struct server;

// Owns the descriptor of an accepted connection, after conn_prepare(). Logs what is wrong with it.
// A user that may not have one more is refused before anything that costs time.
void conn_accept(struct server *server, int fd_take);
