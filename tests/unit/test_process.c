// SPDX-License-Identifier: Apache-2.0
//
// What the kernel says of a process: alive, a zombie, gone, of another user, not dumpable; and who
// started it.
#include "daemon/base/process.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

// A child that waits until it is killed. It writes what `grow` returns to `pipe` when it is ready.
static pid_t child_of(pid_t (*grow)(void), pid_t *result) {
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        pid_t value = grow();
        (void)!write(ends[1], &value, sizeof(value));
        pause();
        _exit(0);
    }
    cr_assert_eq(read(ends[0], result, sizeof(*result)), (ssize_t)sizeof(*result));
    close(ends[0]);
    close(ends[1]);
    return pid;
}

static void end(pid_t pid) {
    siginfo_t info;
    cr_assert_eq(kill(pid, SIGKILL), 0);
    cr_assert_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

static pid_t none(void) {
    return 0;
}

static pid_t another_user(void) {
    return getuid() == 0 &&
           (setgid(65534) != 0 || setuid(65534) != 0 || prctl(PR_SET_DUMPABLE, 0) != 0);
}

Test(process, is_its_effective_users_also_as_a_zombie_and_not_dumpable) {
    pid_t result;
    int64_t uid = -1;
    pid_t pid = child_of(another_user, &result);
    int64_t wanted = getuid() == 0 ? 65534 : (int64_t)getuid();
    cr_assert_eq(result, 0);
    cr_assert_eq(process_look(pid, &uid), PROCESS_ALIVE);
    cr_assert_eq(uid, wanted);
    end(pid);
    uid = -1;
    cr_assert_eq(process_look(pid, &uid), PROCESS_ALIVE, "a zombie has its number");
    cr_assert_eq(uid, wanted);
    cr_assert_eq(waitpid(pid, NULL, 0), pid);
    cr_assert_eq(process_look(pid, &uid), PROCESS_GONE);
    cr_assert_eq(process_look(0, &uid), PROCESS_GONE);
    cr_assert_eq(process_look(-1, &uid), PROCESS_GONE);
    cr_assert_eq(process_look(0xFFFFFF, &uid), PROCESS_GONE);
}

static pid_t grandchild(void) {
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pause();
        _exit(0);
    }
    return pid;
}

Test(process, descends_from_who_started_it) {
    struct process_stat self, stat;
    pid_t inner, unused;
    cr_assert(process_read_stat(getpid(), &self));
    cr_assert_eq(self.parent, getppid());
    pid_t child = child_of(grandchild, &inner);
    pid_t sibling = child_of(none, &unused);
    cr_assert(process_read_stat(child, &stat));
    cr_assert(process_descends(child, getpid(), self.start));
    cr_assert(process_descends(inner, getpid(), self.start));
    cr_assert(process_descends(inner, child, stat.start));
    cr_assert_not(process_descends(sibling, child, stat.start));
    cr_assert_not(process_descends(child, inner, stat.start));
    cr_assert_not(process_descends(child, getpid(), self.start + 1),
                  "another one with that number");
    cr_assert_not(process_descends(getpid(), getpid(), self.start));
    cr_assert_not(process_descends(0xFFFFFF, getpid(), self.start));
    cr_assert_not(process_descends(child, 0, 0));
    cr_assert_not(process_descends(child, 1, 0), "it began later than the machine");
    end(child);
    cr_assert(process_descends(child, getpid(), self.start), "a zombie");
    end(sibling);
}

Test(process, is_here_if_it_has_no_namespace_of_its_own) {
    cr_assert_not(process_is_elsewhere(getpid()));
    cr_assert_not(process_is_elsewhere(0xFFFFFF));
}
