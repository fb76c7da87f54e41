// SPDX-License-Identifier: Apache-2.0
//
// The daemon with faults: linked from the same library, with some calls wrapped by the linker.
// After SIGUSR1 it does what NVTXT_FAULT says, and writes a line to stderr:
//   before-commit:N after-commit:N   kills itself at the N-th commit from then on
//   wal-write:N main-write:N         kills itself at the N-th write to the log, to the main file
//   new-write:N                      the same at the N-th write to a segment that is being made
//   file-call:N                      kills itself at the N-th rename, link, removal or fsync
//   alloc-every:N                    every N-th allocation fails, until the next SIGUSR1
//   slow-sync:MS                     each sync of the log takes so much longer
//   clock:S                          CLOCK_REALTIME is S seconds (may be negative) off from then on
// With NVTXT_SHARED_STORE in its environment it gives the store's write lock back after each
// transaction, so that a test can write to the store, or lock it, while the daemon runs.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/daemon.h"
#include "store/lock/writelock.h"
#include "store/store.h"
#include "tests/fault/alloc.h"
#include "tests/fault/vfs_shim.h"

int __real_store_commit(struct store *store);
int __real_clock_gettime(clockid_t id, struct timespec *now);
int __wrap_store_commit(struct store *store);
int __wrap_clock_gettime(clockid_t id, struct timespec *now);

int __real_rename(const char *from, const char *to);
int __real_symlink(const char *target, const char *path);
int __real_unlink(const char *path);
int __real_fsync(int fd);
int __wrap_rename(const char *from, const char *to);
int __wrap_symlink(const char *target, const char *path);
int __wrap_unlink(const char *path);
int __wrap_fsync(int fd);

static char fault[32]; // without its number
static int number;
static atomic_bool begun;
static atomic_int commits;

static bool is(const char *name) {
    return atomic_load(&begun) && strcmp(fault, name) == 0;
}

int __wrap_store_commit(struct store *store) {
    bool last = atomic_load(&begun) && atomic_fetch_add(&commits, 1) + 1 == number;
    if (last && is("before-commit")) {
        kill(getpid(), SIGKILL);
    }
    int r = __real_store_commit(store);
    if (last && is("after-commit")) {
        kill(getpid(), SIGKILL);
    }
    return r;
}

int __wrap_clock_gettime(clockid_t id, struct timespec *now) {
    int r = __real_clock_gettime(id, now);
    if (id == CLOCK_REALTIME && is("clock")) {
        now->tv_sec += number;
    }
    return r;
}

static void count_file_call(void) {
    static atomic_int calls;
    if (is("file-call") && atomic_fetch_add(&calls, 1) + 1 == number) {
        kill(getpid(), SIGKILL);
    }
}

int __wrap_rename(const char *from, const char *to) {
    count_file_call();
    return __real_rename(from, to);
}

int __wrap_symlink(const char *target, const char *path) {
    count_file_call();
    return __real_symlink(target, path);
}

int __wrap_unlink(const char *path) {
    count_file_call();
    return __real_unlink(path);
}

int __wrap_fsync(int fd) {
    count_file_call();
    return __real_fsync(fd);
}

static void begin(void) {
    static const char line[] = "nvtxtd-faulty: SIGUSR1\n";
    bool again = atomic_exchange(&begun, true);
    if (strcmp(fault, "wal-write") == 0) {
        vfs_shim_arm(VFS_SHIM_WAL_WRITES, (unsigned)number, false, VFS_SHIM_KILL);
    }
    if (strcmp(fault, "main-write") == 0) {
        vfs_shim_arm(VFS_SHIM_MAIN_WRITES, (unsigned)number, false, VFS_SHIM_KILL);
    }
    if (strcmp(fault, "new-write") == 0) {
        vfs_shim_arm(VFS_SHIM_NEW_WRITES, (unsigned)number, false, VFS_SHIM_KILL);
    }
    if (strcmp(fault, "slow-sync") == 0) {
        vfs_shim_slow_sync((unsigned)number);
    }
    if (strcmp(fault, "alloc-every") == 0) {
        alloc_arm_every(again ? 0 : (unsigned)number);
    }
    bool written = write(STDERR_FILENO, line, sizeof(line) - 1) > 0;
    (void)written;
}

// A thread that waits for the signal, not a handler: ThreadSanitizer may hold a handler back for
// ever. SIGUSR2 ends it.
static void *wait_for_signals(void *signals) {
    int taken;
    while (sigwait(signals, &taken) == 0 && taken == SIGUSR1) {
        begin();
    }
    return NULL;
}

int main(int argc, char **argv) {
    const char *wanted = getenv("NVTXT_FAULT");
    store_writelock_shared = getenv("NVTXT_SHARED_STORE") != NULL;
    if (!wanted ? !store_writelock_shared : sscanf(wanted, "%31[a-z-]:%d", fault, &number) != 2) {
        fputs("nvtxtd-faulty: NVTXT_FAULT says nothing that it knows\n", stderr);
        return 64;
    }
    alloc_install();
    vfs_shim_install();
    sigset_t signals;
    pthread_t waiter;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    sigaddset(&signals, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    if (pthread_create(&waiter, NULL, wait_for_signals, &signals)) {
        fputs("nvtxtd-faulty: no thread\n", stderr);
        return 71;
    }
    int status = daemon_main(argc, argv);
    pthread_kill(waiter, SIGUSR2);
    pthread_join(waiter, NULL);
    return status;
}
