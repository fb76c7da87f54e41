// SPDX-License-Identifier: Apache-2.0
//
// The process of a rule: started with limits, watched, and ended with all of its group. It gets one
// end of a socket as descriptor REPORT_CHILD_SOCKET, its text as REPORT_CHILD_TEXT, and what it
// prints is kept. When root starts it, it runs as another user.
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "protocol/base/buf.h"
#include "protocol/base/slice.h"

#define REPORT_CHILD_SOCKET 3
#define REPORT_CHILD_TEXT 4
#define REPORT_CHILD_FILTER 5                   // of system calls, for bubblewrap
#define REPORT_CHILD_STATUS 6                   // says why it could not be started
#define REPORT_CHILD_USER 65534                 // "nobody": owns nothing, is nobody's login
#define REPORT_CHILD_MEMORY ((size_t)512 << 20) // of its address space; of all its processes
#define REPORT_CHILD_FILES 256                  // open at once: the kernel holds memory for each
#define REPORT_CHILD_PROCESSES 128              // also threads: libraries start one a processor
#define REPORT_CHILD_FOLDERS 16                 // that it needs
#define REPORT_CHILD_WATCH_MS 100               // how often the memory of all is looked at
#define REPORT_CHILD_OUTPUT ((size_t)64 * 1024) // bytes of what it prints that are kept
#define REPORT_CHILD_TICK_MS 20                 // how often it is looked at without a pidfd

// Whoever started this program by exec has a few children, if any. With as many as these, what left
// the group of a rule is not ended.
#define REPORT_CHILD_OTHERS 64

// A control group of its processes; `path` empty: there is none.
struct report_cgroup {
    char path[PATH_MAX];
    int fd; // takes processes in; -1: closed
};
#define REPORT_GROUP_MORE ((size_t)96 << 20) // for /tmp, and for what starts the rule

struct report_child {
    pid_t pid;  // leads its group; 0: none
    int pidfd;  // -1: there is none
    int socket; // our end; does not block
    int prints; // what stdout and stderr write to; -1: closed
    int64_t deadline_ns;
    struct nvtxt_buf output;
    int64_t watch_ns; // when its memory is looked at next
    struct report_cgroup group;
    bool confined;
    bool too_much; // it was killed for what all its processes had
    bool ended;
    int status, signal; // once it ended: its exit status, or the signal that killed it, else 0
    int interrupt_fd;
    // Children that this process had before, of whoever it was before exec; not ours to end.
    pid_t others[REPORT_CHILD_OTHERS];
    size_t other_count; // as many as there is room for: some may be missing
};

struct report_child_wish {
    const char *const *argv;    // argv[0] is a path
    const char *const *folders; // that it needs, at most REPORT_CHILD_FOLDERS; ends with NULL
    struct nvtxt_slice text;    // what it reads; data NULL: nothing
    bool confined;              // by bubblewrap
    double timeout_s;
    int interrupt_fd;
};

// Returns 0 or -errno, also when the program itself could not be started. report_child_end() in
// each case.
int report_child_start(struct report_child *child, const struct report_child_wish *wish);

// Whether the processes that this program starts become another user.
bool report_child_changes_user(void);

// What there is to do; a set of bits.
enum report_child_event {
    REPORT_CHILD_READ = 1,    // the socket may be read
    REPORT_CHILD_WRITE = 2,   // ... written
    REPORT_CHILD_ENDED = 4,   // the process ended; `status` and `signal` say how
    REPORT_CHILD_LATE = 8,    // its time is over
    REPORT_CHILD_SIGNAL = 16, // a signal came for us
};

// Waits until there is something to do, and reads what the process prints. `reads`, `writes`: what
// the socket is asked for. Returns a set of bits above 0, or -errno.
int report_child_wait(struct report_child *child, bool reads, bool writes);

// Gives it so many milliseconds more, or what is left of its time if that is less.
void report_child_hurry(struct report_child *child, int64_t ms);

// Kills the group and what left it, waits for the process and takes what it had printed; frees all
// but `output`.
void report_child_end(struct report_child *child);

// ---- Parts of it, for this room -----------------------------------------------------------------

// start.c: between fork() and exec, of a program with one thread. A descriptor of -1 is none.
struct report_start {
    const char *const *argv, *const *folders;
    char *const *environment;
    int null, prints, socket, text, filter, status, group;
    rlim_t seconds;
    pid_t parent;
    bool changes; // the user, to `uid`
    uid_t uid;
    bool confined;
};
_Noreturn void report_start_run(struct report_start *start);

// The first folder on the way to `path`, or itself, that is closed to others. False: there is none.
bool report_start_finds_closed(const char *path, char closed[PATH_MAX]);

// group.c

// Makes one, if that is possible.
void report_cgroup_open(struct report_cgroup *group);

// Whether a process in it was killed for its memory.
bool report_cgroup_ran_out(const struct report_cgroup *group);

void report_cgroup_close(struct report_cgroup *group); // once its processes are gone

// refused_calls.c: a file with the filter of system calls; -1: there is none for this processor, or
// no memory for it. Whether there is one at all is the same for the whole run.
int report_refused_calls_open(void);
bool report_refused_calls_exist(void);

// watch.c

// The children of a process, at most `most`.
size_t report_watch_children(pid_t parent, pid_t *children, size_t most);

// A child of ours that was not there before, the next one after `after` (0: the first); 0: there is
// none, or the kernel does not tell.
pid_t report_watch_orphan(const struct report_child *child, pid_t after);

// Whether all its processes together have more memory, or are more, than they may.
bool report_watch_is_too_much(const struct report_child *child);

// The most processes of that user, for setrlimit(), so that a rule gets REPORT_CHILD_PROCESSES.
unsigned report_watch_processes(uid_t uid, bool confined);
