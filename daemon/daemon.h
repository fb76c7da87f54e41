// SPDX-License-Identifier: Apache-2.0
//
// daemon: the program nvtxtd, assembled from its rooms. Here are the order of the start and its
// reverse (daemon.c), a reload of the configuration (reload.h), the watchdog of the service manager
// (watchdog.h), and the log lines that have to wait (log_pump.h). It owns one of everything: loop,
// locks, store until the writer has it, sockets, server, watch, control. It does no work of a room:
// what is decided here is who calls whom. Loop thread only.
#pragma once

// Runs nvtxtd with its command line. Returns the exit status (sysexits.h).
int daemon_main(int argc, char **argv);
