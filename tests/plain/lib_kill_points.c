// SPDX-License-Identifier: Apache-2.0
//
// A process that is killed in the middle of a pass, at each instruction that changes its region:
// who goes on with the region sends every call that had returned, once. The process is run step by
// step. Each time that something changed it stands still, as a killed one would, and a copy of its
// region is gone on with. What the daemon has by then is modelled: all lines that were
// acknowledged.
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/ring/catalog.h"
#include "lib/ring/pass.h"
#include "lib/ring/ring.h"

#define RING_BYTES (64u << 10)
#define WINDOW_BYTES (512u << 10)
#define RINGS 2
#define ROUNDS 3
#define PASSES 4 // that go on

static struct region region; // of the process that is killed
static struct region copy;

// What the two processes tell each other.
static struct told {
    uint64_t acked;      // lines that the daemon has
    uint64_t given_lost; // dropped calls
    uint32_t calls;
    char texts[200][64]; // of each call so far: what its line says
} *told;

// ---- The process --------------------------------------------------------------------------------

static struct ring_writer writers[RINGS];
static uint64_t next_time = 1000;

static void record(int ring, enum record_kind kind, const char *text, uint64_t id) {
    struct record_view view = {.kind = kind, .time = next_time++, .id = id, .text = text};
    view.text_len = text ? (uint32_t)strlen(text) : 0;
    uint32_t flags = record_flags(&view);
    uint32_t bytes = record_bytes(id != 0, flags, view.text_len, 0);
    char *room = ring_reserve(&writers[ring], bytes, 0);
    if (!room) {
        errx(1, "no room");
    }
    record_write(room, &view, flags, bytes);
    ring_publish(&writers[ring], bytes);
    char *line = told->texts[told->calls++];
    if (text) {
        snprintf(line, sizeof(told->texts[0]), "\"%s\"\n", text);
    } else if (id) {
        snprintf(line, sizeof(told->texts[0]), "RangeEnd,%llu,%llu\n",
                 (unsigned long long)view.time, (unsigned long long)id);
    } else {
        snprintf(line, sizeof(told->texts[0]), "RangePop,%llu\n", (unsigned long long)view.time);
    }
}

static void end_late(uint32_t at, uint64_t id) {
    region_grant(&region, TABLE_LATES, at + 1);
    struct region_late *late = &region.lates[at];
    uint64_t given = atomic_load(&late->given);
    late->id = id;
    late->time = next_time++;
    atomic_store(&late->taken, UINT64_MAX);
    atomic_store(&late->given, given + 2);
    snprintf(told->texts[told->calls++], sizeof(told->texts[0]), "RangeEnd,%llu,%llu\n",
             (unsigned long long)late->time, (unsigned long long)id);
}

static void name(int round) {
    char text[32];
    snprintf(text, sizeof(text), "name %d", round);
    catalog_name(NAME_CATEGORY, 0, 7, NULL, text, NULL);
    snprintf(told->texts[told->calls++], sizeof(told->texts[0]), "SetCategoryName,7,\"%s\"\n",
             text);
}

// The calls of a round: a range in a range, ends in the other ring and before their start is read,
// one without room in its ring, a name and losses.
static void call(int round) {
    char text[32];
    uint64_t id = 3 + 8 * (uint64_t)round;
    name(round);
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof(text), "push %d %d", round, i);
        record(i, RECORD_PUSH, text, 0);
    }
    for (uint64_t i = 0; i < 3; i++) {
        snprintf(text, sizeof(text), "start %d %d", round, (int)i);
        record(1, RECORD_START, text, id + 2 * i);
    }
    record(0, RECORD_POP, NULL, 0);
    record(0, RECORD_END, NULL, id);
    record(0, RECORD_END, NULL, id + 2);
    end_late(0, id + 4);
    record(1, RECORD_POP, NULL, 0);
    told->given_lost += 5;
    atomic_fetch_add(&region.head->lost[LOSS_FULL], 5);
}

// The process, or who goes on, hears of an acknowledgement.
static void acknowledge(struct pass *pass, const struct region *from) {
    uint64_t position = pass->next.acked;
    for (; pass->next.acked_lines < told->acked; pass->next.acked_lines++) {
        while (from->window[position++ & (WINDOW_BYTES - 1)] != '\n') {
        }
    }
    pass->next.acked = position;
}

// Passes are stepped through, from one stop to the next; the calls between them are not.
static int be_killed(bool is_full) {
    struct pass *pass = calloc(1, sizeof(*pass));
    if (!pass || ptrace(PTRACE_TRACEME, 0, 0, 0) < 0) {
        return 77;
    }
    for (int i = 0; i < RINGS; i++) {
        ring_writer_init(&writers[i], &region, (uint32_t)i);
    }
    pass_init(pass, &region);
    for (int round = 0; round < ROUNDS; round++) {
        call(round);
        if (round > 0 || is_full) { // all but the last few lines
            told->acked = pass->next.lines - (is_full && round == 0 ? 0 : 3);
            acknowledge(pass, &region);
        }
        raise(SIGSTOP);
        pass_run(pass, true, NULL);
        raise(SIGSTOP);
    }
    return 0;
}

// ---- Who goes on with it ------------------------------------------------------------------------

static const struct part {
    size_t at, bytes;
} *parts(size_t *count) {
    static struct part all[8];
    const char *base = region.base;
    all[0] = (struct part){0, sizeof(struct region_head)};
    all[1] = (struct part){(size_t)((char *)region.rings - base), RINGS * sizeof(*region.rings)};
    all[2] = (struct part){(size_t)((char *)region.names - base), 4 * sizeof(*region.names)};
    all[3] = (struct part){(size_t)((char *)region.opens - base), 64 * sizeof(*region.opens)};
    all[4] = (struct part){(size_t)((char *)region.lates - base), 4 * sizeof(*region.lates)};
    all[5] = (struct part){(size_t)(region.text - base), 4096};
    all[6] = (struct part){region.window_at, WINDOW_BYTES};
    *count = 7;
    return all;
}

static void take_copy(void) {
    size_t count;
    const struct part *all = parts(&count);
    for (size_t i = 0; i < count; i++) {
        memcpy(copy.base + all[i].at, region.base + all[i].at, all[i].bytes);
    }
    memcpy(region_ring(&copy, 0), region_ring(&region, 0), RINGS * RING_BYTES);
    copy.granted[TABLE_OPENS] = 64 * sizeof(*region.opens);
    copy.granted[TABLE_LATES] = 4 * sizeof(*region.lates);
}

// Whether anything but the bytes of the window is another than at the last call.
static bool has_changed(void) {
    static char last[1 << 20];
    size_t count, at = 0;
    const struct part *all = parts(&count);
    bool changed = false;
    for (size_t i = 0; i + 2 < count; i++) {
        if (memcmp(last + at, region.base + all[i].at, all[i].bytes) != 0) {
            memcpy(last + at, region.base + all[i].at, all[i].bytes);
            changed = true;
        }
        at += all[i].bytes;
    }
    return changed;
}

// The lines that the daemon has in the end, but for one that fills the window: those that it had
// when the process was killed, and those that are sent after them.
static char *lines_had;
static size_t lines_had_len;
static uint64_t lines_had_count;

static size_t add_lines(const struct region *from, uint64_t first, char *to, size_t len) {
    struct region_state state = region_state(from);
    uint64_t position = state.acked;
    for (uint64_t line = state.acked_lines + 1; line <= state.lines; line++) {
        char byte;
        do {
            byte = from->window[position++ & (WINDOW_BYTES - 1)];
            if (line >= first) {
                to[len++] = byte;
            }
        } while (byte != '\n');
    }
    to[len] = '\0';
    return len;
}

// Before a round: what is acknowledged from now on stands in the file now.
static void keep_what_daemon_has(void) {
    struct region_state state = region_state(&region);
    uint64_t position = state.acked;
    for (uint64_t line = state.acked_lines + 1; line <= told->acked; line++) {
        char byte;
        do {
            byte = region.window[position++ & (WINDOW_BYTES - 1)];
            if (line > lines_had_count && byte != 'x') {
                lines_had[lines_had_len++] = byte;
            }
        } while (byte != '\n');
    }
    lines_had_count = told->acked;
}

static unsigned count_of(const char *text, const char *what) {
    unsigned count = 0;
    for (const char *at = text; (at = strstr(at, what)); at++) {
        count++;
    }
    return count;
}

static void check(void) {
    static char text[2 * WINDOW_BYTES];
    static struct pass pass;
    take_copy();
    pass_init(&pass, &copy);
    acknowledge(&pass, &copy);
    for (int i = 0; i < PASSES; i++) {
        pass_run(&pass, true, NULL);
    }
    memcpy(text, lines_had, lines_had_len);
    add_lines(&copy, told->acked + 1, text, lines_had_len);
    for (uint32_t i = 0; i < told->calls; i++) {
        unsigned count = count_of(text, told->texts[i]);
        if (count != 1) {
            errx(1, "%u times in the lines: %s\n%s", count, told->texts[i], text);
        }
    }
    uint64_t lost = 0;
    for (const char *at = text; (at = strstr(at, "{\"lines\":")); at++) {
        lost += strtoull(at + strlen("{\"lines\":"), NULL, 10);
    }
    if (lost != told->given_lost) {
        errx(1, "%llu calls were lost, the lines say %llu", (unsigned long long)told->given_lost,
             (unsigned long long)lost);
    }
}

// Steps through one pass. Returns how many changes there were.
static unsigned follow(pid_t child) {
    unsigned changes = 0;
    int status;
    keep_what_daemon_has();
    has_changed();
    for (;;) {
        if (ptrace(PTRACE_SINGLESTEP, child, 0, 0) < 0 || waitpid(child, &status, 0) < 0) {
            err(1, "step");
        }
        if (!WIFSTOPPED(status)) {
            errx(1, "the process ended in a pass");
        }
        if (WSTOPSIG(status) == SIGSTOP) {
            return changes;
        }
        if (has_changed()) {
            changes++;
            check();
        }
    }
}

// A line that leaves no room for others before it is acknowledged.
static void fill_window(void) {
    uint32_t bytes = WINDOW_BYTES - 200;
    region_grant_window(&region, WINDOW_BYTES);
    memset(region.window, 'x', bytes - 1);
    region.window[bytes - 1] = '\n';
    struct region_state state = {.lines = 1, .end = bytes};
    region_commit(&region, &state);
}

static unsigned kill_everywhere(const char *path, bool is_full) {
    unsigned changes = 0;
    int status;
    catalog_init();
    if (region_make(&region, path, RING_BYTES, WINDOW_BYTES) < 0 || region_chunk(&region, 0) < 0 ||
        region_grant_ring(&region, 0, RING_BYTES) < 0 ||
        region_grant_ring(&region, 1, RING_BYTES) < 0 ||
        region_make(&copy, NULL, RING_BYTES, WINDOW_BYTES) < 0 || region_chunk(&copy, 0) < 0) {
        errx(1, "no region");
    }
    catalog_use(&region, false);
    catalog_name(NAME_CATEGORY, 0, 7, NULL, "first", NULL); // so that the tables are there
    region_grant(&region, TABLE_OPENS, 64);
    region_grant(&region, TABLE_LATES, 4);
    region_grant(&region, TABLE_TEXT, 4096);
    if (is_full) {
        fill_window();
    }
    madvise(region.base, region.chunk_at, MADV_DOFORK);
    madvise(region_ring(&region, 0), REGION_CHUNK_RINGS * RING_BYTES, MADV_DOFORK);
    lines_had_len = lines_had_count = 0;
    *told = (struct told){0};
    pid_t child = fork();
    if (child == 0) {
        _exit(be_killed(is_full));
    }
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        changes += follow(child);
        ptrace(PTRACE_CONT, child, 0, 0);
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    }
    unlink(path);
    region_unmap(&region);
    region_unmap(&copy);
    catalog_use(NULL, false);
    return changes;
}

int main(void) {
#ifdef __SANITIZE_THREAD__
    return 77; // there is one thread, and each step is a hundred
#endif
    char folder[] = "/tmp/nvtxt-kill-XXXXXX", path[64];
    told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    lines_had = malloc(2 * WINDOW_BYTES);
    if (told == MAP_FAILED || !lines_had || !mkdtemp(folder)) {
        err(1, "set-up");
    }
    snprintf(path, sizeof(path), "%s/ring", folder);
    for (int is_full = 0; is_full < 2; is_full++) {
        unsigned changes = kill_everywhere(path, is_full);
        printf("# killed at %u changes\n", changes);
        if (changes < 50) {
            errx(1, "too few changes were seen");
        }
    }
    rmdir(folder);
    return 0;
}
