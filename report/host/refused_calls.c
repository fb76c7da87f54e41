// SPDX-License-Identifier: Apache-2.0
//
// What a rule in a sandbox may not ask the kernel for, as a program of seccomp(2). Namespaces keep
// a rule from the files, the processes and the network of the host; this keeps it from
// - sockets of the host that lie in a folder that it is shown, such as its own, or that are of no
//   network;
// - memory that no process of it is seen to have: files without a name, System V's, rings, what
//   waits in sockets;
// - keys, which no namespace parts; other processes' memory; what a terminal takes as typed.
// All of it gets EPERM. A processor that is not known here has no filter; calls of another
// architecture than its own are refused altogether.
#include "report/host/child.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__) && !defined(__ILP32__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#define FIRST_OF_OTHERS 0x40000000 // calls of x32, which have the same architecture
#elif defined(__aarch64__) && defined(__LP64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#define FIRST_OF_OTHERS 0x40000000
#endif

#ifdef ARCHITECTURE

#define REFUSED (SECCOMP_RET_ERRNO | EPERM)
#define WORD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
// Goes on after `skip` instructions if the word is not `value`.
#define UNLESS(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, skip)
#define REFUSE(call) UNLESS(call, 1), RETURN(REFUSED)
// Refuses a call with this value as an argument. The low half of it is the value: little endian.
#define REFUSE_WITH(call, argument, value)                                                         \
    UNLESS(call, 4), WORD(args[argument]), UNLESS(value, 1), RETURN(REFUSED), WORD(nr)

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

static const struct sock_filter filter[] = {
    WORD(arch),
    UNLESS(ARCHITECTURE, 3),
    WORD(nr),
    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FIRST_OF_OTHERS, 1, 0),
    BPF_STMT(BPF_JMP | BPF_JA, 1),
    RETURN(REFUSED),
    REFUSE(SYS_socket), // pairs are another call
    REFUSE_WITH(SYS_ioctl, 1, TIOCSTI),
    REFUSE_WITH(SYS_ioctl, 1, TIOCLINUX),
    REFUSE(SYS_memfd_create),
    REFUSE(SYS_memfd_secret),
    REFUSE(SYS_shmget),
    REFUSE(SYS_msgget),
    REFUSE(SYS_semget),
    REFUSE(SYS_mq_open),
    REFUSE(SYS_io_uring_setup),
    REFUSE(SYS_userfaultfd),
    REFUSE(SYS_perf_event_open),
    REFUSE(SYS_bpf),
    REFUSE(SYS_add_key),
    REFUSE(SYS_request_key),
    REFUSE(SYS_keyctl),
    REFUSE(SYS_ptrace),
    REFUSE(SYS_process_vm_readv),
    REFUSE(SYS_process_vm_writev),
    REFUSE(SYS_pidfd_getfd),
    REFUSE(SYS_unshare),
    REFUSE(SYS_setns),
    REFUSE(SYS_mount),
    RETURN(SECCOMP_RET_ALLOW),
};

bool report_refused_calls_exist(void) {
    return true;
}

int report_refused_calls_open(void) {
    int fd = memfd_create("filter", MFD_CLOEXEC);
    if (fd >= 0 && (write(fd, filter, sizeof(filter)) != (ssize_t)sizeof(filter) ||
                    lseek(fd, 0, SEEK_SET) != 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

#else

bool report_refused_calls_exist(void) {
    return false;
}

int report_refused_calls_open(void) {
    return -1;
}

#endif
