// SPDX-License-Identifier: Apache-2.0
//
// The table of configuration keys. Keys of one topic stand together, in the order in which the
// manual page and the installed file show them.
#include "daemon/conf/conf.h"

#define AT(member) .offset = offsetof(struct conf, member)
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
static const struct nvtxt_conf_key keys[] = {
    {"Socket", NVTXT_CONF_PATH, CONF_RESTART, AT(socket), 0, NVTXT_SOCKET_BYTES, NULL, "", SOCKETS,
     "The data socket, a path of at most 107 bytes. Default: nvtxtd.sock in /run/nvtxtd for root, "
     "else in the user's runtime folder. If the service manager passes a socket, the daemon uses "
     "that one.",
     .option = "socket"},
    {"SocketMode", NVTXT_CONF_MODE, CONF_RESTART, AT(socket_mode), 0, 0777, NULL, "", SOCKETS,
     "Mode of the data socket. Default: 0660 for root, 0600 for others."},
    {"SocketGroup", NVTXT_CONF_TEXT, CONF_RESTART, AT(socket_group), 0, 0, NULL, "", SOCKETS,
     "Group of the data socket. Default for root: nvtxt, if this group exists."},
    {"ControlSocket", NVTXT_CONF_PATH, CONF_RESTART, AT(control_socket), 0, NVTXT_SOCKET_BYTES,
     NULL, "", SOCKETS,
     "The control socket, a path of at most 107 bytes. Its group is that of the store and its mode "
     "0660 for root or if StoreGroup is set; else its mode is 0600. Default: control.sock beside "
     "the data socket.",
     .option = "control-socket"},

    {"Store", NVTXT_CONF_PATH, CONF_RESTART, AT(store), 0, 0, NULL, "", STORE,
     "The store's file. Default: nvtxt.sqlite in /var/lib/nvtxtd for root, else in the user's "
     "state folder.",
     .option = "store"},
    {"StoreMode", NVTXT_CONF_MODE, CONF_RESTART, AT(store_mode), 0600, 0777, NULL, "0640", STORE,
     "Mode of a new store, and of a store that becomes the first segment."},
    {"StoreGroup", NVTXT_CONF_TEXT, CONF_RESTART, AT(store_group), 0, 0, NULL, "", STORE,
     "Group that may read the store. The store's files get it, and so does the store's folder if "
     "it is the default one. Default: the group of the folder; root makes the default folder for "
     "nvtxt, if this group exists."},
    {"LockTimeout", NVTXT_CONF_DURATION, CONF_RESTART, AT(lock_timeout_ms), 0, 600000, NULL, "30s",
     STORE,
     "How long a start waits for a lock that another process has on the store. Then the daemon "
     "begins a new segment beside the locked one, with all ranges and sessions that were open "
     "there."},
    {"Synchronous", NVTXT_CONF_CHOICE, CONF_RESTART, AT(synchronous), 0, 0, "full|normal", "full",
     STORE, "full: a commit survives power loss; normal: it survives a killed process."},
    {"CommitInterval", NVTXT_CONF_DURATION, CONF_AT_ONCE, AT(commit_interval_ms), 1, 60000, NULL,
     "100ms", STORE, "Longest time from the arrival of a line to its commit."},
    {"MemoryBudget", NVTXT_CONF_SIZE, CONF_RESTART, AT(memory_budget), MIB, 4096 * MIB, NULL, "16M",
     STORE,
     "Bytes on their way to the store. At more, the daemon stops reading until they are written."},
    {"CheckpointPages", NVTXT_CONF_INTEGER, CONF_RESTART, AT(checkpoint_pages), 100, 10000000, NULL,
     "8000", STORE,
     "Pages of the write-ahead log at which the daemon moves them into the store's file."},
    {"CuptiViews", NVTXT_CONF_CHOICE, CONF_RESTART, AT(cupti_views), 0, 0, "no|yes", "yes", STORE,
     "yes: a new store has the two views that some trace converters need."},

    {"RotateSize", NVTXT_CONF_SIZE, CONF_AT_ONCE, AT(rotate_size), MIB, 1024 * 1024 * MIB, NULL,
     "1G", SEGMENTS, "Size of the store at which the daemon begins a new file, a segment."},
    {"RotateAge", NVTXT_CONF_DURATION, CONF_AT_ONCE, AT(rotate_age_ms), 0, 3650 * DAY_MS, NULL, "0",
     SEGMENTS,
     "Age of a segment at which the daemon begins a new one; a segment without events stays in "
     "use. 0: any age."},
    {"RotateWal", NVTXT_CONF_SIZE, CONF_AT_ONCE, AT(rotate_wal), MIB, 1024 * 1024 * MIB, NULL,
     "256M", SEGMENTS,
     "Size of the write-ahead log at which the daemon begins a new segment. The log grows while a "
     "reader keeps a transaction open. At least the size of twice CheckpointPages."},
    {"KeepFiles", NVTXT_CONF_INTEGER, CONF_AT_ONCE, AT(keep_files), 0, 1000000, NULL, "0", SEGMENTS,
     "Number of segments that are kept, with the one in use; older ones are removed, also those "
     "that a newer version wrote. A segment without events, diagnostics and losses does not count. "
     "0: any number."},
    {"KeepSize", NVTXT_CONF_SIZE, CONF_AT_ONCE, AT(keep_size), 0, 1024 * 1024 * MIB, NULL, "8G",
     SEGMENTS,
     "What all segments may take together; at more, the oldest are removed. What a segment only "
     "took over from the one before (open ranges, sessions) does not count. 0: any size."},
    {"KeepAge", NVTXT_CONF_DURATION, CONF_AT_ONCE, AT(keep_age_ms), 0, 3650 * DAY_MS, NULL, "0",
     SEGMENTS,
     "A segment is removed when it has been out of use for so long, also one that a newer version "
     "wrote. 0: any age."},
    {"KeepFree", NVTXT_CONF_SHARE, CONF_AT_ONCE, AT(keep_free), 0, 99, NULL, "10%,4G", SEGMENTS,
     "Percentage of the disk that stays free; after a comma, a size that bounds it. The oldest "
     "segments are removed for it, but never the one before the segment in use, nor what "
     "KeepAtLeast keeps. If removing all others would not make enough room, none is removed. 0: no "
     "bound."},
    {"KeepAtLeast", NVTXT_CONF_SIZE, CONF_AT_ONCE, AT(keep_at_least), 0, 1024 * 1024 * MIB, NULL,
     "1G", SEGMENTS,
     "What all segments together keep, whatever KeepFree asks for. So other programs that fill the "
     "disk do not cost the store its history."},
    {"ShippedFile", NVTXT_CONF_PATH, CONF_AT_ONCE, AT(shipped_file), 0, 0, NULL, "", SEGMENTS,
     "File in which nvtxt-ship says how far it has come, its Position=. Segments from there on "
     "wait "
     "for it as KeepUnshipped says. Without such a file, or with that of another store, none "
     "waits. Empty: none waits."},
    {"KeepUnshipped", NVTXT_CONF_SIZE, CONF_AT_ONCE, AT(keep_unshipped), 0, 1024 * 1024 * MIB, NULL,
     "0", SEGMENTS,
     "KeepFiles, KeepSize and KeepAge remove no segment that nvtxt-ship has not shipped whole, as "
     "long as all segments together take less than this. KeepFree does not wait."},

    {"MaxLine", NVTXT_CONF_SIZE, CONF_NEW_SOURCES, AT(max_line), 4096, 16 * MIB, NULL, "64K",
     SOURCE, "Longest line, without its line end."},
    {"MaxVariables", NVTXT_CONF_INTEGER, CONF_NEW_SOURCES, AT(max_variables), 16, 1000000, NULL,
     "4096", SOURCE, "Number of variables."},
    {"MaxVariableBytes", NVTXT_CONF_SIZE, CONF_NEW_SOURCES, AT(max_variable_bytes), 4 * KIB,
     256 * MIB, NULL, "1M", SOURCE, "Bytes of the text values of all variables together."},
    {"MaxNameBytes", NVTXT_CONF_SIZE, CONF_NEW_SOURCES, AT(max_name_bytes), 32, 4096, NULL, "255",
     SOURCE, "Longest name of a variable."},
    {"MaxPushDepth", NVTXT_CONF_INTEGER, CONF_NEW_SOURCES, AT(max_push_depth), 1, 1000000, NULL,
     "1024", SOURCE, "Ranges of one thread that are pushed and not popped."},
    {"MaxOpenRanges", NVTXT_CONF_INTEGER, CONF_NEW_SOURCES, AT(max_open_ranges), 1, 10000000, NULL,
     "65536", SOURCE, "Ranges that are started and not ended."},
    {"MaxOpenThreads", NVTXT_CONF_INTEGER, CONF_NEW_SOURCES, AT(max_open_threads), 1, 10000000,
     NULL, "65536", SOURCE, "Threads that have pushed ranges."},
    {"MaxOpenBytes", NVTXT_CONF_SIZE, CONF_NEW_SOURCES, AT(max_open_bytes), 64 * KIB, 4096 * MIB,
     NULL, "32M", SOURCE, "Memory of all open ranges together."},
    {"MaxWaitingNames", NVTXT_CONF_INTEGER, CONF_NEW_SOURCES, AT(max_waiting_names), 1, 1000000,
     NULL, "65536", SOURCE, "Names given before the first event."},
    {"DiagnosticsPerSource", NVTXT_CONF_INTEGER, CONF_NEW_SOURCES, AT(diagnostics_per_source), 0,
     1000000, NULL, "1000", SOURCE, "Diagnostics that are kept; all are counted."},

    {"MaxConnectionsPerUser", NVTXT_CONF_INTEGER, CONF_AT_ONCE, AT(max_connections_per_user), 1,
     1000000, NULL, "4096", USERS, "Data connections that one user may have at once."},
    {"MaxBytesPerUser", NVTXT_CONF_SIZE, CONF_AT_ONCE, AT(max_bytes_per_user), MIB / 4, 4096 * MIB,
     NULL, "8M", USERS,
     "What one user's lines, and what is saved of this user's sessions, may take of MemoryBudget. "
     "At more, the daemon does not read this "
     "user's connections until the lines are written. Unfinished lines may take as much again, or "
     "one line of MaxLine."},
    {"MaxOpenBytesPerUser", NVTXT_CONF_SIZE, CONF_AT_ONCE, AT(max_open_bytes_per_user), MIB,
     65536 * MIB, NULL, "64M", USERS,
     "Memory that open ranges, variables, names before the first event and display names may take "
     "on all connections of one user and in this user's sessions that can be resumed. A line that "
     "would exceed it is a loading error, limit-exceeded; the session continues."},
    {"MaxSessionsPerUser", NVTXT_CONF_INTEGER, CONF_AT_ONCE, AT(max_sessions_per_user), 1, 1000000,
     NULL, "10000", USERS,
     "Sessions of one user that can be resumed; at this number the daemon refuses a new one."},
    {"MaxEventsPerSecond", NVTXT_CONF_INTEGER, CONF_AT_ONCE, AT(max_events_per_second), 0,
     1000000000, NULL, "0", USERS,
     "Events, names, diagnostics and sources that one user may send in a second; 256 bytes that "
     "are saved of a session's variables count as one. At more, the daemon does not read this "
     "user's connections for a while. 0: any number."},
    {"SessionExpiry", NVTXT_CONF_DURATION, CONF_AT_ONCE, AT(session_expiry_ms), 1000, 3650 * DAY_MS,
     NULL, "24h", USERS, "The daemon closes a session that has had no connection for so long."},
    {"Claim", NVTXT_CONF_CHOICE, CONF_NEW_SOURCES, AT(claim), 0, 0, "none|peer", "none", USERS,
     "peer: the daemon refuses events of living processes other than the sender and its "
     "descendants, "
     "and of those that are gone and were another user's."},

    {"WatchDirectory", NVTXT_CONF_PATHS, CONF_AT_ONCE, AT(watch_directory), 0, 0, NULL, "", WATCH,
     "A folder whose files *.nvtxt are followed, each as a source of its own. May be given several "
     "times; an empty value clears the list. Default: the folder that "
     "NSIGHT_ANALYSIS_SESSION_OUTPUT_PATH names in the environment, if it is set."},
    {"WatchCaptures", NVTXT_CONF_CHOICE, CONF_AT_ONCE, AT(watch_captures), 0, 0, "no|yes", "",
     WATCH,
     "yes: a watched folder is the folder of a session of Nsight; the files *.nvtxt of the capture "
     "folders in it, whose names contain \"capture\", are followed, too. Default: no, but yes for "
     "the folder that NSIGHT_ANALYSIS_SESSION_OUTPUT_PATH names."},
    {"FileExpiry", NVTXT_CONF_DURATION, CONF_AT_ONCE, AT(file_expiry_ms), 1000, 3650 * DAY_MS, NULL,
     "24h", WATCH,
     "The source of a file ends when the file has not changed for so long, and goes on when the "
     "file grows. The daemon remembers a removed file for so long."},

    {"LogLevel", NVTXT_CONF_CHOICE, CONF_AT_ONCE, AT(log_level), 0, 0, "error|warning|info|debug",
     "info", DAEMON, "The lowest level that is logged.", .option = "log-level"},
    {"StopTimeout", NVTXT_CONF_DURATION, CONF_AT_ONCE, AT(stop_timeout_ms), 100, 600000, NULL,
     "10s", DAEMON,
     "How long an orderly stop may take. A quarter of it, 2 s at most, is for writing: before "
     "that, connections are cut."},
};
#define KEY_COUNT (sizeof(keys) / sizeof(keys[0]))
_Static_assert(KEY_COUNT <= CONF_KEYS_MAX, "too many keys");

const struct nvtxt_conf_table conf_table = {keys, KEY_COUNT, "a path is expected"};
