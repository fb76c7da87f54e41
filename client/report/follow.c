// SPDX-License-Identifier: Apache-2.0
//
// A turn of the loop looks at each store: what is newest in it (store/follow, from NVTXT_BATCHES
// and the like). If that is new, there is a page. Then it waits until the folder of a store
// changes, and for the rest of the interval. A watch of a folder begins before the store is looked
// at, so no change is missed, and ends with the first change, so the daemon pays for it once an
// interval.
//
// A commit is seen coming before it is there: the daemon writes it, waits for the disk, and only
// then makes it visible, which no watch tells. So a change is looked for again after longer and
// longer steps, and then no more. Where no watch tells anything, each interval looks.
//
// What fails is tried again after the interval, for as long as it takes, and said once. Only the
// first page must succeed, unless it is the disk that is full.
#include "client/report/job.h"

#include <limits.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "protocol/base/clock.h"
#include "protocol/base/origin.h"
#include "store/follow/follow.h"
#include "store/value/codes.h"

#define PAGE_SHARE 10    // a page takes at most this part of the time
#define FIRST_STEP_MS 20 // to the next look for a commit whose bytes were seen coming
#define STEP_GROWTH 4
#define LAST_STEP_MS 10000 // no disk takes so long

struct followed {
    const char *path;
    struct store_follow *store;   // NULL: it could not be opened
    struct store_mark mark, next; // of the last page; as it is now
    int fd;                       // of its watch; -1: there is none
    bool is_there, was_there;
};

struct following {
    const struct report_options *options;
    struct term *term;
    struct followed *stores; // owned
    size_t count;
    const char **words; // owned: paths of the stores that are there
    struct pollfd *fds; // owned: those of the stores, and the signal
    struct report_round round;
    struct term_round said[2];
    int64_t interval_ms;
    int64_t turn_ms;      // when the last turn began
    int64_t page_ms;      // when the last page was begun
    int64_t again_ms;     // when it looks once more; 0: only after a change
    int64_t step_ms;      // from the last turn to again_ms; 0: not again
    bool changed;         // since the last turn began
    bool fails;           // the last page
    bool wrote;           // any page
    enum outcome outcome; // of the last page
};

// ---- Looking ------------------------------------------------------------------------------------

// File systems of other machines, and of programs: what others write there is not told.
static bool tells_of_changes(const char *folder) {
    static const unsigned silent[] = {NFS_SUPER_MAGIC,  SMB_SUPER_MAGIC,  CIFS_SUPER_MAGIC,
                                      SMB2_SUPER_MAGIC, FUSE_SUPER_MAGIC, V9FS_MAGIC,
                                      CEPH_SUPER_MAGIC, AFS_SUPER_MAGIC};
    struct statfs system;
    bool tells = statfs(folder, &system) == 0;
    for (size_t i = 0; tells && i < sizeof(silent) / sizeof(silent[0]); i++) {
        tells = (unsigned)system.f_type != silent[i];
    }
    return tells;
}

static void watch(struct followed *store) {
    char folder[PATH_MAX];
    size_t len = (size_t)(nvtxt_base_name(store->path) - store->path);
    int fd = -1;
    snprintf(folder, sizeof(folder), "%.*s", (int)len, store->path);
    bool watches = store->store && tells_of_changes(len ? folder : ".") &&
                   store_follow_watch(store->store, &fd) == 0;
    store->fd = watches ? fd : -1;
}

static void open_store(struct followed *store) {
    char sentence[PATH_MAX + 256];
    if (!store->store) {
        (void)store_follow_open(&store->store, store->path, sentence, sizeof(sentence));
    }
}

// Each time that it is so; nothing of the pages is said again meanwhile.
static struct term plainly(const struct following *following) {
    struct term term = *following->term;
    term.before = term.now = NULL;
    return term;
}

static void say_gone(const struct following *following, const struct followed *store,
                     bool is_last) {
    struct term term = plainly(following);
    term_say(&term, "the store %s is not there at the moment: %s %s until it is back", store->path,
             following->options->output, is_last ? "stays as it is" : "is made of the others");
}

// What is no store of a daemon, an export of Nsight Systems, is a file that may be replaced.
static int mark_file(const char *path, struct store_mark *mark) {
    struct stat status;
    if (stat(path, &status) != 0) {
        return STORE_NOT_FOUND;
    }
    *mark = (struct store_mark){
        .file = {(int64_t)status.st_dev, (int64_t)status.st_ino, (int64_t)status.st_size},
        .rows = {(int64_t)status.st_mtim.tv_sec, (int64_t)status.st_mtim.tv_nsec},
    };
    return STORE_DONE;
}

// Whether there is something new in a store. What cannot be read is: who makes the page says why.
static bool look_at(struct followed *store) {
    int r = store->store ? store_follow_mark(store->store, &store->next)
                         : mark_file(store->path, &store->next);
    store->is_there = r != STORE_NOT_FOUND;
    return store->is_there && (r != STORE_DONE || !store->was_there ||
                               memcmp(&store->next, &store->mark, sizeof(store->mark)) != 0);
}

// Begins a turn. Returns whether there is to be a page, of the stores that are in `words` then.
static bool look(struct following *following, size_t *there) {
    bool is_new = following->fails;
    *there = 0;
    following->turn_ms = nvtxt_monotonic_ms();
    following->changed = false;
    for (size_t i = 0; i < following->count; i++) {
        struct followed *store = &following->stores[i];
        open_store(store);
        watch(store);
        is_new = look_at(store) || is_new;
        if (store->is_there) {
            following->words[(*there)++] = store->path;
        }
    }
    for (size_t i = 0; i < following->count; i++) {
        struct followed *store = &following->stores[i];
        if (!store->is_there && store->was_there) {
            say_gone(following, store, *there == 0);
            is_new = true;
        }
        store->was_there = store->is_there;
    }
    return is_new && *there > 0;
}

// ---- Pages --------------------------------------------------------------------------------------

static int64_t newest(const struct following *following) {
    int64_t newest = 0;
    for (size_t i = 0; i < following->count; i++) {
        int64_t ns = following->stores[i].next.committed_ns;
        newest = following->stores[i].is_there && ns > newest ? ns : newest;
    }
    return newest;
}

static enum outcome write_page(struct following *following, size_t there, bool is_last) {
    struct report_options options = *following->options;
    options.words = (struct nvtxt_option_list){following->words, there};
    following->round.interval_ms = is_last ? 0 : following->interval_ms;
    following->round.newest_ns = newest(following);
    following->round.output_failed = false;
    following->round.is_first = !following->wrote;
    term_begin_round(following->term, following->said);
    following->page_ms = nvtxt_monotonic_ms();
    enum outcome outcome = report_job_run(&options, following->term, &following->round);
    report_job_give_memory();
    int64_t least_ms = PAGE_SHARE * (nvtxt_monotonic_ms() - following->page_ms);
    int64_t asked_ms = following->options->follow_ms;
    following->interval_ms = least_ms > asked_ms ? least_ms : asked_ms;
    return outcome;
}

// Returns what ends the program, or DONE.
static enum outcome make_page(struct following *following, size_t there) {
    enum outcome outcome = write_page(following, there, false);
    bool failed = outcome >= OUTCOME_USAGE;
    bool may_pass = following->wrote || (following->round.output_failed && outcome == OUTCOME_IO);
    if (signals_came() || (failed && !may_pass)) {
        return signals_came() ? OUTCOME_DONE : outcome;
    }
    if (!failed && following->fails) {
        struct term term = plainly(following);
        term_say(&term, "%s is written again", following->options->output);
    }
    for (size_t i = 0; !failed && i < following->count; i++) {
        following->stores[i].mark = following->stores[i].next;
    }
    following->outcome = outcome;
    following->fails = failed;
    following->wrote = following->wrote || !failed;
    return OUTCOME_DONE;
}

// If nothing is new, a page with --last that is there is the last one: a new one would have less,
// because that counts from now.
static enum outcome make_last_page(struct following *following) {
    size_t there;
    signals_begin_last_work();
    bool is_new = look(following, &there);
    if (!is_new && there > 0 && following->wrote && following->options->selection.has_last) {
        enum outcome ended = report_follow_end_page(following->options, following->term);
        return ended ?: following->outcome;
    }
    enum outcome outcome = there > 0 ? write_page(following, there, true) : OUTCOME_NO_INPUT;
    bool unread = outcome >= OUTCOME_USAGE && !following->round.output_failed && !signals_came();
    return unread ? report_follow_end_page(following->options, following->term) : outcome;
}

// ---- Waiting ------------------------------------------------------------------------------------

static void look_again_later(struct following *following, bool was_told) {
    following->step_ms = was_told ? FIRST_STEP_MS : following->step_ms * STEP_GROWTH;
    following->step_ms = following->step_ms <= LAST_STEP_MS ? following->step_ms : 0;
    following->again_ms = following->step_ms ? following->turn_ms + following->step_ms : 0;
}

static void take_changes(struct following *following) {
    for (size_t i = 0; i < following->count; i++) {
        bool is_told = following->fds[i].revents != 0;
        following->changed =
            (is_told && store_follow_changed(following->stores[i].store)) || following->changed;
    }
}

// When the next turn is, if no store changes before. There is no page before the interval is over,
// so nobody looks before.
static int64_t next_turn(const struct following *following) {
    int64_t due = following->page_ms + following->interval_ms;
    bool polls = false;
    for (size_t i = 0; i < following->count; i++) {
        polls = polls || following->stores[i].fd < 0;
    }
    int64_t next = polls ? following->turn_ms + following->interval_ms : INT64_MAX;
    next = following->again_ms && following->again_ms < next ? following->again_ms : next;
    next = following->changed ? due : next;
    return next > due ? next : due;
}

// Until the next turn.
static void wait_for_turn(struct following *following) {
    size_t count = following->count;
    for (int64_t next, now; !signals_came();) {
        next = next_turn(following);
        now = nvtxt_monotonic_ms();
        if (now >= next) {
            return;
        }
        for (size_t i = 0; i < count; i++) {
            int fd = following->changed ? -1 : following->stores[i].fd;
            following->fds[i] = (struct pollfd){.fd = fd, .events = POLLIN};
        }
        following->fds[count] = (struct pollfd){.fd = signals_fd(), .events = POLLIN};
        int64_t left = next - now < INT_MAX ? next - now : INT_MAX;
        if (poll(following->fds, count + 1, next == INT64_MAX ? -1 : (int)left) > 0) {
            take_changes(following);
        }
    }
}

// ---- The beginning ------------------------------------------------------------------------------

enum outcome report_follow_refuse(struct term *term, uint64_t events) {
    char text[TERM_COUNT_SIZE], most[TERM_COUNT_SIZE];
    term_say(term,
             "--follow needs --last or --max-events: there are %s events, more than %s; say what "
             "each page is to show, such as --last 10s, or --max-events %d to draw no more singly",
             term_count(text, events), term_count(most, REPORT_OPTIONS_FOLLOW_EVENTS),
             REPORT_OPTIONS_FOLLOW_EVENTS);
    return OUTCOME_USAGE;
}

// What cannot be opened is left to the first page, which says why.
static enum outcome check_stores(struct following *following) {
    int64_t sum = 0;
    for (size_t i = 0; i < following->count; i++) {
        struct followed *store = &following->stores[i];
        int64_t events = 0;
        open_store(store);
        if (store->store && store_follow_count(store->store, &events) == STORE_DONE) {
            sum += events;
        }
    }
    bool is_small = following->options->follow_bounded || sum <= REPORT_OPTIONS_FOLLOW_EVENTS;
    return is_small ? OUTCOME_DONE : report_follow_refuse(following->term, (uint64_t)sum);
}

static enum outcome begin(struct following *following, const char *const *paths, size_t count) {
    following->stores = calloc(count, sizeof(*following->stores));
    following->words = calloc(count, sizeof(*following->words));
    following->fds = calloc(count + 1, sizeof(*following->fds));
    if (!following->stores || !following->words || !following->fds) {
        term_say(following->term, "%s", strerror(ENOMEM));
        return OUTCOME_SYSTEM;
    }
    for (size_t i = 0; i < count; i++) {
        following->stores[i] = (struct followed){.path = paths[i], .fd = -1};
    }
    following->count = count;
    following->interval_ms = following->options->follow_ms;
    return check_stores(following);
}

static enum outcome run(struct following *following) {
    enum outcome outcome = OUTCOME_DONE;
    size_t there;
    while (outcome == OUTCOME_DONE && !signals_came()) {
        bool was_told = following->changed;
        bool is_new = look(following, &there);
        if (!following->wrote && there < following->count) { // who reads them says so
            there = following->count;
            for (size_t i = 0; i < there; i++) {
                following->words[i] = following->stores[i].path;
            }
            is_new = true;
        }
        outcome = is_new ? make_page(following, there) : OUTCOME_DONE;
        look_again_later(following, is_new || was_told); // after a failure for as long as it lasts
        if (outcome == OUTCOME_DONE) {
            wait_for_turn(following);
        }
    }
    outcome = outcome ?: make_last_page(following);
    following->term->now = following->term->before = NULL;
    return outcome;
}

enum outcome report_follow(const struct report_options *options, struct term *term) {
    char found[PATH_MAX];
    const char *path = found;
    bool has_word = options->words.count > 0;
    struct following following = {.options = options, .term = term};
    signals_allow_last_work();
    enum outcome outcome = report_follow_check_output(options, term);
    if (outcome == OUTCOME_DONE && !has_word) {
        outcome = report_job_find(options, term, found, sizeof(found));
    }
    outcome = outcome
                  ?: begin(&following, has_word ? options->words.words : &path,
                           has_word ? options->words.count : 1);
    outcome = outcome ?: run(&following);
    for (size_t i = 0; i < following.count; i++) {
        store_follow_close(following.stores[i].store);
    }
    free(following.stores);
    free(following.words);
    free(following.fds);
    return outcome;
}
