// SPDX-License-Identifier: Apache-2.0
//
// The table of configuration keys, and nothing else.
#include "daemon/conf/conf.h"

#include <stddef.h>

#include "daemon/conf/paths.h"

#define AT(member) offsetof(struct conf, member)
#define KIB (INT64_C(1) << 10)
#define MIB (INT64_C(1) << 20)
#define DAY_MS INT64_C(86400000)

#define SOCKETS "Sockets"
#define STORE "Store"
#define SEGMENTS "Segments of the store"
#define SOURCE "Limits of a source"
#define USERS "Users and sessions"
#define WATCH "Watched folders"
#define DAEMON "Daemon"

// Row: name, type, when a reload applies it, place, smallest, largest, choices, default, topic,
// meaning.
const struct conf_key conf_keys[] = {
    {"Socket", CONF_PATH, CONF_RESTART, AT(socket), 0, PATHS_SOCKET_MAX, NULL, "", SOCKETS,
     "The data socket, a path of at most 107 bytes. Default: nvtxtd.sock in /run/nvtxtd, or in a "
     "person's runtime folder. A "
     "socket that the service manager hands over is used instead."},
    {"SocketMode", CONF_MODE, CONF_RESTART, AT(socket_mode), 0, 0777, NULL, "", SOCKETS,
     "Mode of the data socket. Default: 0660 as root, 0600 for a person."},
    {"SocketGroup", CONF_TEXT, CONF_RESTART, AT(socket_group), 0, 0, NULL, "", SOCKETS,
     "Group of the data socket. Default: nvtxt as root when there is that group."},
    {"ControlSocket", CONF_PATH, CONF_RESTART, AT(control_socket), 0, PATHS_SOCKET_MAX, NULL, "",
     SOCKETS,
     "The control socket, mode 0600; a path of at most 107 bytes. Default: control.sock beside the "
     "data socket."},

    {"Store", CONF_PATH, CONF_RESTART, AT(store), 0, 0, NULL, "", STORE,
     "The store's file. Default: nvtxt.sqlite in /var/lib/nvtxtd, or in a person's state folder."},
    {"StoreMode", CONF_MODE, CONF_RESTART, AT(store_mode), 0600, 0777, NULL, "0640", STORE,
     "Mode of a store that is made, or that becomes the first segment."},
    {"StoreGroup", CONF_TEXT, CONF_RESTART, AT(store_group), 0, 0, NULL, "", STORE,
     "Group that may read the store: its files get it, and its folder if that is the default one. "
     "Default: that of the folder; the default folder is made for nvtxt, as root, if there is that "
     "group."},
    {"LockTimeout", CONF_DURATION, CONF_RESTART, AT(lock_timeout_ms), 0, 600000, NULL, "30s", STORE,
     "How long a start waits for a lock that another process has on the store; then it goes on in "
     "a "
     "new segment beside the locked one, with all that was open there."},
    {"Synchronous", CONF_CHOICE, CONF_RESTART, AT(synchronous), 0, 0, "full|normal", "full", STORE,
     "full: a commit survives power loss; normal: it survives a killed process."},
    {"CommitInterval", CONF_DURATION, CONF_AT_ONCE, AT(commit_interval_ms), 1, 60000, NULL, "100ms",
     STORE, "Age at which what came in is committed at the latest."},
    {"MemoryBudget", CONF_SIZE, CONF_RESTART, AT(memory_budget), MIB, 4096 * MIB, NULL, "16M",
     STORE, "Bytes on their way to the store; at more, reading stops until they are written."},
    {"CheckpointPages", CONF_INTEGER, CONF_RESTART, AT(checkpoint_pages), 100, 10000000, NULL,
     "8000", STORE, "Pages of the write-ahead log at which they are moved into the store's file."},
    {"CuptiViews", CONF_CHOICE, CONF_RESTART, AT(cupti_views), 0, 0, "no|yes", "yes", STORE,
     "yes: a new store has the two views that some trace converters do not work without."},

    {"RotateSize", CONF_SIZE, CONF_AT_ONCE, AT(rotate_size), MIB, 1024 * 1024 * MIB, NULL, "1G",
     SEGMENTS, "Size at which the store goes on in a new file, a segment."},
    {"RotateAge", CONF_DURATION, CONF_AT_ONCE, AT(rotate_age_ms), 0, 3650 * DAY_MS, NULL, "0",
     SEGMENTS, "Age at which it does; a segment without events stays. 0: any age."},
    {"RotateWal", CONF_SIZE, CONF_AT_ONCE, AT(rotate_wal), MIB, 1024 * 1024 * MIB, NULL, "256M",
     SEGMENTS,
     "Size of the write-ahead log at which it does: a reader that keeps a transaction open keeps "
     "the log from being used again. At least what twice CheckpointPages take."},
    {"KeepFiles", CONF_INTEGER, CONF_AT_ONCE, AT(keep_files), 0, 1000000, NULL, "0", SEGMENTS,
     "Segments that are kept, with the one in use; older ones are removed. One that has no events, "
     "no diagnostics and no losses does not count. 0: any number."},
    {"KeepSize", CONF_SIZE, CONF_AT_ONCE, AT(keep_size), 0, 1024 * 1024 * MIB, NULL, "8G", SEGMENTS,
     "What all segments may take together, without what each only took over from the one before "
     "(open ranges, sessions); the oldest are removed. 0: any size."},
    {"KeepAge", CONF_DURATION, CONF_AT_ONCE, AT(keep_age_ms), 0, 3650 * DAY_MS, NULL, "0", SEGMENTS,
     "A segment that was left so long ago is removed. 0: any age."},
    {"KeepFree", CONF_SHARE, CONF_AT_ONCE, AT(keep_free), 0, 99, NULL, "10%,4G", SEGMENTS,
     "Percentage of the disk that stays free, and behind a comma the size that it is at most; the "
     "oldest segments are removed for it. Not for it: the segment that was left last, what "
     "KeepAtLeast keeps, and anything at all when all that may go would not make enough room. 0: "
     "no "
     "bound."},
    {"KeepAtLeast", CONF_SIZE, CONF_AT_ONCE, AT(keep_at_least), 0, 1024 * 1024 * MIB, NULL, "1G",
     SEGMENTS,
     "What all segments together keep, whatever KeepFree asks for: a disk that others fill does "
     "not "
     "cost the store its history."},

    {"MaxLine", CONF_SIZE, CONF_NEW_SOURCES, AT(max_line), 4096, 16 * MIB, NULL, "64K", SOURCE,
     "Longest line, without its line end."},
    {"MaxVariables", CONF_INTEGER, CONF_NEW_SOURCES, AT(max_variables), 16, 1000000, NULL, "4096",
     SOURCE, "Variables."},
    {"MaxVariableBytes", CONF_SIZE, CONF_NEW_SOURCES, AT(max_variable_bytes), 4 * KIB, 256 * MIB,
     NULL, "1M", SOURCE, "Bytes of the text values of all variables together."},
    {"MaxNameBytes", CONF_SIZE, CONF_NEW_SOURCES, AT(max_name_bytes), 32, 4096, NULL, "255", SOURCE,
     "Longest name of a variable."},
    {"MaxPushDepth", CONF_INTEGER, CONF_NEW_SOURCES, AT(max_push_depth), 1, 1000000, NULL, "1024",
     SOURCE, "Ranges pushed and not popped, of a thread."},
    {"MaxOpenRanges", CONF_INTEGER, CONF_NEW_SOURCES, AT(max_open_ranges), 1, 10000000, NULL,
     "65536", SOURCE, "Ranges started and not ended."},
    {"MaxOpenThreads", CONF_INTEGER, CONF_NEW_SOURCES, AT(max_open_threads), 1, 10000000, NULL,
     "65536", SOURCE, "Threads that have pushed ranges."},
    {"MaxOpenBytes", CONF_SIZE, CONF_NEW_SOURCES, AT(max_open_bytes), 64 * KIB, 4096 * MIB, NULL,
     "32M", SOURCE, "Memory of all open ranges together."},
    {"MaxWaitingNames", CONF_INTEGER, CONF_NEW_SOURCES, AT(max_waiting_names), 1, 1000000, NULL,
     "65536", SOURCE, "Names given before the first event."},
    {"DiagnosticsPerSource", CONF_INTEGER, CONF_NEW_SOURCES, AT(diagnostics_per_source), 0, 1000000,
     NULL, "1000", SOURCE, "Diagnostics kept; all are counted."},

    {"MaxConnectionsPerUser", CONF_INTEGER, CONF_AT_ONCE, AT(max_connections_per_user), 1, 1000000,
     NULL, "4096", USERS, "Data connections that one user may have at once."},
    {"MaxBytesPerUser", CONF_SIZE, CONF_AT_ONCE, AT(max_bytes_per_user), MIB / 4, 4096 * MIB, NULL,
     "8M", USERS,
     "Of the memory budget, what one user's lines may take; at more, this user's connections are "
     "not read until they are written. As much again for lines whose end has not come."},
    {"MaxOpenBytesPerUser", CONF_SIZE, CONF_AT_ONCE, AT(max_open_bytes_per_user), MIB, 65536 * MIB,
     NULL, "64M", USERS,
     "Memory that open ranges, variables and names before the first event may take on all "
     "connections of one user and in its sessions that wait to be resumed; the line that would "
     "pass it is a loading error, limit-exceeded."},
    {"MaxSessionsPerUser", CONF_INTEGER, CONF_AT_ONCE, AT(max_sessions_per_user), 1, 1000000, NULL,
     "10000", USERS, "Sessions of one user that can be resumed; a new one is refused then."},
    {"MaxEventsPerSecond", CONF_INTEGER, CONF_AT_ONCE, AT(max_events_per_second), 0, 1000000000,
     NULL, "0", USERS,
     "Events, names, diagnostics and sources that one user may send in a second; at more, this "
     "user's connections are not read for a while. 0: any number."},
    {"SessionExpiry", CONF_DURATION, CONF_AT_ONCE, AT(session_expiry_ms), 1000, 3650 * DAY_MS, NULL,
     "24h", USERS, "A session that was not seen for so long is closed."},
    {"Claim", CONF_CHOICE, CONF_NEW_SOURCES, AT(claim), 0, 0, "none|peer", "none", USERS,
     "peer: events that carry another process than the sender's are refused."},

    {"WatchDirectory", CONF_PATHS, CONF_AT_ONCE, AT(watch_directory), 0, 0, NULL, "", WATCH,
     "A folder whose files *.nvtxt are followed, each a source of its own. May be given several "
     "times; an empty value forgets those before it. Default: the folder that "
     "NSIGHT_ANALYSIS_SESSION_OUTPUT_PATH names in the environment, if it does."},
    {"FileExpiry", CONF_DURATION, CONF_AT_ONCE, AT(file_expiry_ms), 1000, 3650 * DAY_MS, NULL,
     "24h", WATCH,
     "The source of a file that did not change for so long ends; it goes on when the file grows. "
     "What is known of a file that has gone is kept for so long."},

    {"LogLevel", CONF_CHOICE, CONF_AT_ONCE, AT(log_level), 0, 0, "error|warning|info|debug", "info",
     DAEMON, "What is logged."},
    {"StopTimeout", CONF_DURATION, CONF_AT_ONCE, AT(stop_timeout_ms), 100, 600000, NULL, "10s",
     DAEMON, "How long an orderly stop may take before connections are cut."},
};
const size_t conf_key_count = sizeof(conf_keys) / sizeof(conf_keys[0]);

_Static_assert(sizeof(conf_keys) / sizeof(conf_keys[0]) <= CONF_KEYS_MAX, "too many keys");
