// SPDX-License-Identifier: Apache-2.0
//
// A program that annotates itself with libnvtxt, for the tests of its sender: what it does is its
// first argument. Each text that it records is there once, so a test can look for each call. It
// ends with 1 and a line on stderr when something is not as a program without the library has it.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/nvtxt.h"

#define FLUSH_MS 200000

__attribute__((noreturn, format(printf, 1, 2))) static void fail(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    _exit(1);
}

static void must(bool condition, const char *what) {
    if (!condition) {
        fail("%s: %s", what, strerror(errno));
    }
}

static void flush(void) {
    int r = nvtxt_flush(FLUSH_MS);
    if (r < 0) {
        fail("flush: %s", strerror(-r));
    }
}

static void mark(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void mark(const char *format, ...) {
    char text[100];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    nvtxt_mark(text);
}

static int number(char **arguments, int index) {
    return arguments[index] ? atoi(arguments[index]) : 0;
}

// The test goes on when it has read this, and the program when the test says so.
static void say(const char *word) {
    printf("%s\n", word);
    fflush(stdout);
}

static void wait_for_test(void) {
    char byte;
    must(read(STDIN_FILENO, &byte, 1) >= 0, "read");
}

static void print_stats(void) {
    struct nvtxt_stats stats = {.size = sizeof(stats)};
    nvtxt_get_stats(&stats);
    printf("recorded %llu dropped %llu\n", (unsigned long long)stats.recorded,
           (unsigned long long)stats.dropped);
    fflush(stdout);
}

// ---- Threads ------------------------------------------------------------------------------------

static atomic_bool stopped;

struct work {
    int thread, pairs, pause_us, burst;
};

static void *make_pairs(void *of) {
    const struct work *work = of;
    char text[64];
    int done = 0;
    for (; !stopped && (work->pairs == 0 || done < work->pairs); done++) {
        snprintf(text, sizeof(text), "thread %d pair %d", work->thread, done);
        nvtxt_push(text);
        nvtxt_pop();
        if (work->pause_us && done % work->burst == 0) {
            usleep((useconds_t)work->pause_us);
        }
    }
    return (void *)(long)done;
}

// THREADS PAIRS PAUSE_US BURST: a pause after each burst of pairs. PAIRS 0: until stdin ends.
// Prints how many each thread made.
static void pairs(char **arguments) {
    int threads = number(arguments, 0);
    pthread_t ids[64];
    struct work works[64];
    for (int i = 0; i < threads; i++) {
        works[i] = (struct work){i, number(arguments, 1), number(arguments, 2),
                                 number(arguments, 3) ? number(arguments, 3) : 1};
        must(pthread_create(&ids[i], NULL, make_pairs, &works[i]) == 0, "pthread_create");
    }
    say("started");
    if (number(arguments, 1) == 0) {
        wait_for_test();
        stopped = true;
    }
    for (int i = 0; i < threads; i++) {
        void *done;
        pthread_join(ids[i], &done);
        printf("thread %d made %ld\n", i, (long)done);
    }
    print_stats();
}

static void *mark_once(void *of) {
    mark("short %ld", (long)of);
    return NULL;
}

// COUNT: threads that end after one event, at most 50 at a time.
static void threads(char **arguments) {
    pthread_t ids[50];
    for (long i = 0; i < number(arguments, 0); i += 50) {
        for (long k = 0; k < 50; k++) {
            must(pthread_create(&ids[k], NULL, mark_once, (void *)(i + k)) == 0, "pthread_create");
        }
        for (long k = 0; k < 50; k++) {
            pthread_join(ids[k], NULL);
        }
    }
    print_stats();
}

// What a thread is called when its first events are sent, what then, and what the program says
// before and after that; NULL: nothing, of itself.
static const struct naming {
    const char *first, *then, *before, *after;
} namings[] = {
    {"early", "lib_client", NULL, NULL},
    {NULL, "late", NULL, NULL},
    {"early too", "late too", NULL, NULL},
    {"ours", "ours again", "before", NULL},
    {"ours too", "ours at last", NULL, "after"},
    {NULL, NULL, NULL, NULL},
    {NULL, "at the end", NULL, NULL},
};

#define NAMINGS (sizeof(namings) / sizeof(namings[0]))

static void call_thread(const char *name) {
    if (name) {
        must(pthread_setname_np(pthread_self(), name) == 0, "pthread_setname_np");
    }
}

static void *be_called(void *of) {
    const struct naming *naming = of;
    call_thread(naming->first);
    if (naming->before) {
        nvtxt_name_thread(0, naming->before);
    }
    mark("%d", gettid());
    flush();
    if (naming->after) {
        nvtxt_name_thread(0, naming->after);
    }
    call_thread(naming->then);
    printf("%d\n", gettid());
    fflush(stdout);
    if (naming == &namings[NAMINGS - 1]) {
        say("stays");
        pause();
    }
    return NULL;
}

// One thread after another; the last one is there when the process ends.
static void names(char **arguments) {
    (void)arguments;
    for (size_t i = 0; i < NAMINGS; i++) {
        pthread_t thread;
        must(pthread_create(&thread, NULL, be_called, (void *)&namings[i]) == 0, "pthread_create");
        if (i + 1 < NAMINGS) {
            pthread_join(thread, NULL);
        }
    }
    wait_for_test();
}

// ---- Processes ----------------------------------------------------------------------------------

// To be called before a fork. AddressSanitizer does not keep its locks over it: the child would
// wait for ever for one that another thread held while it began.
static void settle(void) {
#ifdef __SANITIZE_ADDRESS__
    flush();
#endif
}

// A child without what libc does for one.
static pid_t bare_fork(void) {
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static void child_work(int child) {
    nvtxt_pop(); // of its parent's range: ends nothing
    mark("child %d", child);
    nvtxt_push("own");
    nvtxt_pop();
}

// CHILDREN fork|clone exit|_exit: all at once, each with events of its own, while a range of the
// parent is open.
static void storm(char **arguments) {
    int children = number(arguments, 0);
    bool bare = strcmp(arguments[1], "clone") == 0, orderly = strcmp(arguments[2], "exit") == 0;
    nvtxt_push("parent");
    settle();
    for (int i = 0; i < children; i++) {
        pid_t pid = bare ? bare_fork() : fork();
        must(pid >= 0, "fork");
        if (pid == 0) {
            child_work(i);
            if (orderly) {
                exit(0);
            }
            flush();
            _exit(0);
        }
        printf("child %d is %d\n", i, (int)pid);
    }
    int status, ended = 0;
    while (wait(&status) > 0) {
        must(status == 0, "a child failed");
        ended++;
    }
    must(ended == children, "children");
    mark("after the storm");
    nvtxt_pop();
}

// fork|clone: a child in which another thread records before the one that forked, in whose range
// both are.
static void second(char **arguments) {
    int status;
    nvtxt_push("parent");
    settle();
    pid_t pid = strcmp(arguments[0], "clone") == 0 ? bare_fork() : fork();
    if (pid == 0) {
        pthread_t thread;
        must(pthread_create(&thread, NULL, mark_once, NULL) == 0, "pthread_create");
        pthread_join(thread, NULL);
        child_work(0);
        flush();
        _exit(0);
    }
    must(waitpid(pid, &status, 0) == pid && status == 0, "the child");
    nvtxt_pop();
    printf("%d\n", (int)pid);
}

// vfork, posix_spawn and exec: SELF is the program again.
static void spawn(char **arguments) {
    char *self = arguments[0], *again[] = {self, "one", "spawned", NULL};
    extern char **environ;
    int status;
    pid_t pid;
    mark("before");
    must(posix_spawn(&pid, self, NULL, NULL, again, environ) == 0, "posix_spawn");
    must(waitpid(pid, &status, 0) == pid && status == 0, "spawned");
    pid = vfork();
    if (pid == 0) {
        execl(self, self, "one", "vforked", (char *)NULL);
        _exit(1);
    }
    must(waitpid(pid, &status, 0) == pid && status == 0, "vforked");
    mark("between");
    flush();
    execl(self, self, "one", "execed", (char *)NULL);
    fail("exec");
}

// ---- Descriptors --------------------------------------------------------------------------------

// FOLDER: closes all descriptors and uses the numbers again, with files that must stay empty.
static void closes(char **arguments) {
    char path[4096];
    struct stat what;
    mark("before");
    flush();
    must(syscall(SYS_close_range, 3, ~0u, 0) == 0, "close_range");
    int first = open("/dev/null", O_RDWR | O_CLOEXEC);
    must(first == 3, "the lowest number is 3");
    for (int i = 4; i < 600; i++) {
        snprintf(path, sizeof(path), "%s/file-%d", arguments[0], i);
        must(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) == i, path);
    }
    for (int i = 0; i < 5000; i++) {
        mark("after %d", i);
        if (i % 50 == 0) {
            usleep(1000);
        }
    }
    flush();
    for (int i = 4; i < 600; i++) {
        must(fstat(i, &what) == 0 && what.st_size == 0 && what.st_blocks == 0, "a file is empty");
    }
    must(lseek(first, 0, SEEK_CUR) == 0, "descriptor 3");
}

// Descriptors 0 to 3 at most.
static void few(char **arguments) {
    (void)arguments;
    struct rlimit limit = {4, 4};
    must(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
    mark("few");
    (void)nvtxt_flush(FLUSH_MS);
    must(open("/dev/null", O_RDONLY | O_CLOEXEC) == 3, "the last number is ours");
    print_stats();
}

// ---- The rest -----------------------------------------------------------------------------------

static void one(char **arguments) {
    mark("%s", arguments[0] ? arguments[0] : "one");
}

// Ends as the end of a process does, twice, and then without one.
static void finish(char **arguments) {
    (void)arguments;
    struct nvtxt_options options = {.size = sizeof(options), .levels = 1};
    must(nvtxt_init(&options) == 0, "init");
    for (int i = 0; i < 1000; i++) {
        mark("mark %d", i);
    }
    errno = 7;
    nvtxt_finish();
    nvtxt_finish();
    must(errno == 7, "errno");
    mark("late");
    _exit(0);
}

static void nothing(char **arguments) {
    (void)arguments;
}

// Does what each line of stdin says, and answers "ok". The last domain that was named counts.
static void steps(char **arguments) {
    char line[300];
    struct nvtxt_domain *domain = NULL;
    uint64_t range = 0;
    (void)arguments;
    while (fgets(line, sizeof(line), stdin)) {
        char *text = line + strcspn(line, " \n");
        *text++ = '\0';
        text[strcspn(text, "\n")] = '\0';
        struct nvtxt_attr attr = {.size = sizeof(attr), .message = text, .category = 7};
        if (strcmp(line, "mark") == 0) {
            nvtxt_mark_ex(domain, &attr);
        } else if (strcmp(line, "json") == 0) {
            attr.json = "{\"a\":1}";
            nvtxt_mark_ex(domain, &attr);
        } else if (strcmp(line, "push") == 0) {
            nvtxt_push_ex(domain, &attr);
        } else if (strcmp(line, "pop") == 0) {
            nvtxt_pop_ex(domain, NULL);
        } else if (strcmp(line, "start") == 0) {
            range = nvtxt_start_ex(domain, &attr);
        } else if (strcmp(line, "end") == 0) {
            nvtxt_end(range);
        } else if (strcmp(line, "domain") == 0) {
            domain = nvtxt_domain_get(text);
        } else if (strcmp(line, "category") == 0) {
            nvtxt_name_category(domain, 7, text);
        } else if (strcmp(line, "flush") == 0) {
            flush();
        } else if (strcmp(line, "stats") == 0) {
            print_stats();
        }
        say("ok");
    }
}

// ---- What the kernel refuses ------------------------------------------------------------------

static const struct {
    const char *name;
    int number, error;
} refusals[] = {
    {"clone", SYS_clone, EAGAIN},
    {"clone3", SYS_clone3, ENOSYS},
    {"close_range", SYS_close_range, ENOSYS},
    {"connect", SYS_connect, EPERM},
    {"fallocate", SYS_fallocate, ENOSPC},
    {"fcntl", SYS_fcntl, EPERM},
    {"ftruncate", SYS_ftruncate, EPERM},
    {"getrandom", SYS_getrandom, ENOSYS},
    {"madvise", SYS_madvise, EINVAL},
    {"membarrier", SYS_membarrier, ENOSYS},
    {"openat", SYS_openat, EACCES},
    {"prctl", SYS_prctl, EPERM},
    {"process_vm_readv", SYS_process_vm_readv, EPERM},
    {"recvfrom", SYS_recvfrom, EPERM},
    {"sendto", SYS_sendto, EPERM},
    {"socket", SYS_socket, EPERM},
};

static void refuse(const char *name) {
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        if (strcmp(refusals[i].name, name) != 0) {
            continue;
        }
        struct sock_filter code[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)refusals[i].number, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)refusals[i].error),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog filter = {sizeof(code) / sizeof(code[0]), code};
        if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) < 0) {
            exit(77);
        }
        return;
    }
    fail("%s is not in the table", name);
}

// NAME...: system calls that are refused before the first event.
static void refused(char **arguments) {
    must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "prctl");
    for (; *arguments; arguments++) {
        refuse(*arguments);
    }
    mark("refused");
    nvtxt_push("range");
    must(nvtxt_pop() <= 0, "level");
    say("done");
}

// ---- How often the sender wakes -----------------------------------------------------------------

static long sender_switches(void) {
    long switches = -1;
    char path[300], line[200];
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        snprintf(path, sizeof(path), "/proc/self/task/%s/status", task->d_name);
        FILE *file = fopen(path, "r");
        bool is_sender = false;
        while (file && fgets(line, sizeof(line), file)) {
            is_sender = is_sender || strcmp(line, "Name:\tnvtxt\n") == 0;
            if (is_sender && strncmp(line, "voluntary_ctxt_switches:", 24) == 0) {
                switches = atol(line + 24);
            }
        }
        if (file) {
            fclose(file);
        }
    }
    if (tasks) {
        closedir(tasks);
    }
    return switches;
}

// Prints how often the sender woke up in the first second, after one event, and in four quiet ones.
static void quiet(char **arguments) {
    (void)arguments;
    nvtxt_push("open");
    sleep(1);
    printf("%ld\n", sender_switches());
    flush();
    long before = -1;
    for (long now; (now = sender_switches()) != before; before = now) {
        usleep(500000);
    }
    must(before > 0, "the thread nvtxt");
    sleep(4);
    printf("%ld\n", sender_switches() - before);
    nvtxt_pop();
}

// Each of the calls once; then it is killed by a signal.
static void killed(char **arguments) {
    mark("first");
    flush();
    mark("last");
    raise(number(arguments, 0));
}

// RANGES PAUSE_US: a range after the other, each with such a pause in it, and the end of a program
// of Go: libc is not told of it.
static void gone(char **arguments) {
    char text[40];
    for (int i = 0; i < number(arguments, 0); i++) {
        snprintf(text, sizeof(text), "range %d", i);
        nvtxt_push(text);
        if (number(arguments, 1) > 0) {
            usleep((useconds_t)number(arguments, 1));
        }
        nvtxt_pop();
    }
    syscall(SYS_exit_group, 0);
}

static const struct {
    const char *name;
    void (*run)(char **arguments);
} commands[] = {
    {"closes", closes}, {"few", few},         {"killed", killed}, {"nothing", nothing},
    {"one", one},       {"pairs", pairs},     {"spawn", spawn},   {"storm", storm},
    {"second", second}, {"threads", threads}, {"steps", steps},   {"refused", refused},
    {"quiet", quiet},   {"names", names},     {"gone", gone},     {"finish", finish},
};

int main(int count, char **arguments) {
    call_thread("lib_client"); // valgrind gives its own name to it
    for (size_t i = 0; count > 1 && i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(commands[i].name, arguments[1]) == 0) {
            commands[i].run(arguments + 2);
            return 0;
        }
    }
    fail("no such command");
}
