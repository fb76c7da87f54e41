// SPDX-License-Identifier: Apache-2.0
//
// What nvtxt.h promises, without a daemon: the lines that wait in the window are what a daemon
// would get, and an interpreter reads them. Each case is a process of its own.
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/life.h"
#include "lib/nvtxt.h"
#include "lib/private.h"
#include "lib/ring/thread.h"
#include "protocol/base/limits.h"
#include "tests/unit/lib_kit.h"

static void start(void) {
    setenv("NVTXT_SOCKET", "/nonexistent/nvtxtd.sock", 1);
    setenv("NVTXT_RING", "64K", 1);
    setenv("NVTXT_EXIT_WAIT", "0", 1);
    unsetenv("NVTXT_SPOOL");
    unsetenv("NVTXT_DOMAIN_EXCLUDE");
    unsetenv("NVTXT_DOMAIN_INCLUDE");
    unsetenv("NVTXT_LOG");
}

TestSuite(api, .init = start);

static struct nvtxt_stats stats(void) {
    struct nvtxt_stats now = {.size = sizeof(now)};
    nvtxt_get_stats(&now);
    return now;
}

// Reads all that was recorded, and ends the source.
static void read_window(void) {
    struct nvtxt_source_config config = {
        .limits = NVTXT_LIMITS_DEFAULT, .escapes = true, .nvtx = true};
    config.default_pid = (uint32_t)getpid();
    nvtxt_interp_free(kit.interp); // of the window that was read before
    kit.interp = nvtxt_interp_new(&config);
    cr_assert_not_null(kit.interp);
    uint64_t passes = atomic_load(&life_sender.passes) + 2;
    while (atomic_load(&life_sender.passes) < passes) {
        nvtxt_flush(20); // makes lines; there is nobody to take them
    }
    struct region *region = &recorder.region;
    const char *at = region->window, *end = at + region_state(region).end;
    cr_assert_leq(region_state(region).end, region->head->window_bytes);
    for (const char *newline; at < end; at = newline + 1) {
        newline = memchr(at, '\n', (size_t)(end - at));
        struct nvtxt_slice line = {at, (size_t)(newline - at)};
        cr_assert_eq(nvtxt_interp_line(kit.interp, line, &kit_sink), 0);
    }
}

static struct nvtxt_attr text_attr(const char *message) {
    return (struct nvtxt_attr){.size = sizeof(struct nvtxt_attr), .message = message};
}

// ---- Push and pop -------------------------------------------------------------------------------

Test(api, returns_the_levels_of_each_domain) {
    struct nvtxt_domain *domain = nvtxt_domain_get("d");
    cr_assert_eq(nvtxt_domain_get("d"), domain);
    cr_assert_eq(nvtxt_push("a"), 0);
    cr_assert_eq(nvtxt_push("b"), 1);
    cr_assert_eq(nvtxt_push_ex(domain, NULL), 0);
    cr_assert_eq(nvtxt_pop(), 1);
    cr_assert_eq(nvtxt_pop_ex(domain, NULL), 0);
    cr_assert_eq(nvtxt_pop_ex(domain, NULL), -ENOENT);
    cr_assert_eq(nvtxt_pop(), 0);
    cr_assert_eq(nvtxt_pop(), -ENOENT);
    read_window();
    cr_assert_eq(kit.events, 3);
    cr_assert_eq(stats().recorded, 3);
    cr_assert_eq(stats().ignored, 2);
    cr_assert_eq(stats().dropped, 0);
}

Test(api, begins_nothing_for_a_pop_without_a_push) {
    cr_assert_eq(nvtxt_pop(), -ENOENT);
    nvtxt_end(0);
    nvtxt_end(5);
    cr_assert_eq(stats().ignored, 2);
    cr_assert(!atomic_load(&recorder.has_region));
}

Test(api, counts_levels_beyond_the_depth) {
    for (int i = 0; i < 1100; i++) {
        cr_assert_eq(nvtxt_push("deep"), i);
        nvtxt_flush(0);
    }
    for (int i = 1099; i >= 0; i--) {
        cr_assert_eq(nvtxt_pop(), i);
    }
    struct nvtxt_stats now = stats();
    cr_assert_eq(now.recorded + now.dropped, 1100);
    cr_assert_geq(now.dropped, 1100 - STACK_LEVELS);
    read_window();
    cr_assert_eq(kit.events, now.recorded);
}

Test(api, tears_no_range_when_the_ring_is_full) {
    setenv("NVTXT_WINDOW", "1M", 1);
    static char text[600];
    memset(text, 't', sizeof(text) - 1);
    for (int i = 0; i < 3000; i++) {
        cr_assert_eq(nvtxt_push(text), 0);
        cr_assert_eq(nvtxt_push("inner"), 1);
        nvtxt_mark(text);
        cr_assert_eq(nvtxt_pop(), 1);
        cr_assert_eq(nvtxt_pop_ex(NULL, "{}"), 0);
    }
    struct nvtxt_stats now = stats();
    cr_assert_gt(now.dropped, 0);
    cr_assert_eq(now.recorded + now.dropped, 9000);
}

// ---- Start and end ------------------------------------------------------------------------------

Test(api, counts_ranges_up_in_twos_from_3) {
    uint64_t first = nvtxt_start("a"), second = nvtxt_start_ex(NULL, NULL);
    cr_assert_eq(first, 3);
    cr_assert_eq(second, 5);
    nvtxt_end_ex(second, "[1]");
    nvtxt_end(first);
    nvtxt_end(first); // once more
    nvtxt_end(7);     // was never given
    nvtxt_end(1);     // nor was this
    nvtxt_end(UINT64_MAX);
    nvtxt_end(4); // not recorded
    read_window();
    cr_assert_eq(kit.events, 2);
    cr_assert_eq(stats().ignored, 4);
}

Test(api, bears_ranges_that_are_ended_twice_without_end) {
    atomic_store(&recorder.open_most, 4);
    for (int i = 0; i < 10; i++) {
        uint64_t range = nvtxt_start("r");
        cr_assert_eq(range % 2, 1, "%d", i);
        nvtxt_end(range);
        nvtxt_end(range);
        while (atomic_load(&recorder.region.closed) <= (uint64_t)i) {
            nvtxt_flush(20);
        }
    }
    uint64_t open[5];
    for (int i = 0; i < 5; i++) {
        open[i] = nvtxt_start("o");
    }
    cr_assert_eq(open[3] % 2, 1);
    cr_assert_eq(open[4] % 2, 0, "the fifth at once");
    cr_assert_neq(open[4], 0);
    cr_assert_eq(stats().dropped, 1);
    cr_assert_eq(stats().ignored, 10);
}

// ---- What is left out ---------------------------------------------------------------------------

Test(api, records_nothing_of_excluded_domains) {
    setenv("NVTXT_DOMAIN_EXCLUDE", "default,x", 1);
    struct nvtxt_domain *out = nvtxt_domain_get("x");
    struct nvtxt_attr attr = text_attr("m");
    nvtxt_mark("m");
    cr_assert_eq(nvtxt_push("p"), -ENOTSUP);
    cr_assert_eq(nvtxt_pop(), -ENOTSUP);
    nvtxt_mark_ex(out, &attr);
    cr_assert_eq(nvtxt_push_ex(out, &attr), -ENOTSUP);
    cr_assert_eq(nvtxt_start("s") % 2, 0);
    cr_assert_neq(nvtxt_start("s"), 0);
    nvtxt_end(nvtxt_start_ex(out, &attr));
    nvtxt_sample_i64(out, nvtxt_string_get("c"), 1);
    cr_assert(!atomic_load(&recorder.has_region), "nothing has begun");
    nvtxt_mark_ex(nvtxt_domain_get("y"), &attr);
    read_window();
    cr_assert_eq(kit.events, 1);
    kit_is(kit.event.domain, "y");
}

// ---- Attributes ---------------------------------------------------------------------------------

Test(api, reads_nothing_behind_the_size_of_attributes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(pages != MAP_FAILED && mprotect(pages + page, page, PROT_NONE) == 0);
    struct nvtxt_attr attr = {.message = "m",
                              .string = nvtxt_string_get("s"),
                              .json = "[]",
                              .category = 5,
                              .color = 6,
                              .value_kind = NVTXT_U64,
                              .value.u64 = 7};
    for (attr.size = sizeof(size_t); attr.size <= sizeof(attr); attr.size += 8) {
        char *at = pages + page - attr.size;
        memcpy(at, &attr, attr.size);
        nvtxt_mark_ex(NULL, (struct nvtxt_attr *)at);
    }
    attr.size = 1000; // of a later version
    nvtxt_mark_ex(NULL, &attr);
    read_window();
    cr_assert_eq(kit.events, (sizeof(attr) - sizeof(size_t)) / 8 + 2);
    kit_is(kit.event.text, "s");
    kit_is(kit.event.json, "[]");
    cr_assert_eq(kit.event.category, 5);
    cr_assert_eq(kit.event.color, 6);
    cr_assert_eq(kit.event.payload.int64, 7);
}

Test(api, takes_only_what_lies_inside_the_size) {
    struct nvtxt_attr attr = text_attr("m");
    attr.category = 5;
    attr.color = 6;
    attr.value_kind = NVTXT_F32;
    attr.value.f32 = 1.5f;
    attr.size = offsetof(struct nvtxt_attr, color);
    nvtxt_mark_ex(NULL, &attr);
    read_window();
    kit_is(kit.event.text, "m");
    cr_assert_eq(kit.event.category, 5);
    cr_assert_eq(kit.event.color, 0);
    cr_assert_eq(kit.event.payload.kind, NVTXT_PAYLOAD_NONE);
}

Test(api, takes_a_value_of_no_kind_for_none) {
    struct nvtxt_attr attr = text_attr(NULL);
    attr.value_kind = NVTXT_F32 + 1;
    nvtxt_mark_ex(NULL, &attr);
    attr.value_kind = UINT32_MAX;
    nvtxt_mark_ex(NULL, &attr);
    nvtxt_mark(NULL);
    nvtxt_sample_f64(NULL, NULL, 0.5);
    read_window();
    cr_assert_eq(kit.events, 4);
    kit_is(kit.event.text, "");
}

Test(api, cuts_a_text_at_a_character) {
    static char text[3 * RECORD_TEXT_MAX];
    memset(text, 'a', sizeof(text) - 1);
    memcpy(text + RECORD_TEXT_MAX - 2, "\xe2\x82\xac", 3);
    nvtxt_mark(text);
    read_window();
    cr_assert_eq(kit.event.text.len, RECORD_TEXT_MAX - 2);
}

Test(api, says_how_long_json_was_that_is_too_long) {
    static char json[RECORD_JSON_MAX + 2];
    memset(json, 'j', sizeof(json) - 1);
    json[0] = json[sizeof(json) - 2] = '"';
    struct nvtxt_attr attr = text_attr("m");
    attr.json = json;
    nvtxt_mark_ex(NULL, &attr);
    read_window();
    kit_is(kit.event.json, "{\"truncated\":24577}");
}

// ---- Strings, domains, names --------------------------------------------------------------------

Test(api, sends_strings_beyond_the_table) {
    char text[32];
    const struct nvtxt_string *string = NULL, *first = nvtxt_string_get("string 0");
    for (int i = 0; i < 70000; i++) {
        snprintf(text, sizeof(text), "string %d", i);
        string = nvtxt_string_get(text);
        cr_assert_not_null(string);
        cr_assert_eq(nvtxt_string_get(text), string);
    }
    cr_assert_eq(nvtxt_string_get("string 0"), first);
    struct nvtxt_attr attr = {.size = sizeof(attr), .string = string};
    nvtxt_mark_ex(NULL, &attr);
    nvtxt_name_process("still has room");
    read_window();
    kit_is(kit.event.text, "string 69999");
    kit_is(kit.name.text, "still has room");
}

Test(api, sends_strings_beyond_their_memory) {
    static char text[RECORD_TEXT_MAX + 1];
    const struct nvtxt_string *string = NULL;
    memset(text, 's', RECORD_TEXT_MAX);
    for (int i = 0; i < 1200; i++) {
        memcpy(
            text,
            &(char[4]){(char)('a' + i % 26), (char)('a' + i / 26 % 26), (char)('a' + i / 676), '-'},
            4);
        cr_assert_not_null(string = nvtxt_string_get(text));
    }
    nvtxt_sample_i64(NULL, string, -1);
    struct nvtxt_attr attr = text_attr("m");
    nvtxt_mark_ex(nvtxt_domain_get("still has room"), &attr);
    nvtxt_sample_i64(NULL, string, -1);
    read_window();
    cr_assert_eq(kit.event.text.len, RECORD_TEXT_MAX);
    cr_assert_eq(memcmp(kit.event.text.data, text, RECORD_TEXT_MAX), 0);
    cr_assert_eq(kit.event.payload.int64, -1);
}

Test(api, keeps_so_much_of_strings_and_counts_the_others) {
    static char text[RECORD_TEXT_MAX + 1];
    struct nvtxt_stats stats = {.size = sizeof(stats)};
    int kept = 0, most = 96 * 1024 / 16; // 96 MiB
    memset(text, 's', RECORD_TEXT_MAX);
    for (; kept < most; kept++) {
        memcpy(text,
               &(char[3]){(char)('a' + kept % 26), (char)('a' + kept / 26 % 26),
                          (char)('a' + kept / 676)},
               3);
        if (!nvtxt_string_get(text)) {
            break;
        }
    }
    cr_assert_gt(kept, 78 * 1024 / 16);
    cr_assert_lt(kept, 81 * 1024 / 16);
    cr_assert_null(nvtxt_string_get(text));
    text[0] = text[1] = text[2] = 'a';
    cr_assert_not_null(nvtxt_string_get(text));
    nvtxt_get_stats(&stats);
    cr_assert_eq(stats.ignored, 2);
}

Test(api, has_no_domain_beyond_the_table) {
    setenv("NVTXT_DOMAIN_EXCLUDE", "last", 1);
    char name[32];
    for (int i = 1; i < 4096; i++) {
        snprintf(name, sizeof(name), "domain %d", i);
        cr_assert_not_null(nvtxt_domain_get(name));
    }
    cr_assert_null(nvtxt_domain_get("one more"));
    cr_assert_eq(nvtxt_push_ex(nvtxt_domain_get("last"), NULL), -ENOTSUP, "it stays left out");
    cr_assert_null(nvtxt_domain_get(NULL));
    cr_assert_null(nvtxt_domain_get(""));
}

Test(api, names_only_what_the_daemon_takes) {
    nvtxt_mark("first");
    nvtxt_name_resource(NULL, "a_word_of_as_many_as_31_bytes_x", 1, NULL);
    nvtxt_name_thread(NVTXT_ID_MAX, "t");
    nvtxt_name_category(NULL, UINT32_MAX, "c");
    cr_assert_eq(stats().ignored, 0);
    nvtxt_name_resource(NULL, "a_word_of_as_many_as_32_bytes_xx", 1, "n");
    nvtxt_name_resource(NULL, "two words", 1, "n");
    nvtxt_name_resource(NULL, "1st", 1, "n");
    nvtxt_name_resource(NULL, "", 1, "n");
    nvtxt_name_resource(NULL, NULL, 1, "n");
    nvtxt_name_thread(NVTXT_ID_MAX + 1, "t");
    cr_assert_eq(stats().ignored, 6);
    read_window();
    cr_assert_eq(kit.names, 3);
}

Test(api, sends_the_newest_of_thousands_of_names) {
    char name[32];
    nvtxt_mark("first");
    for (int i = 0; i < 5000; i++) {
        snprintf(name, sizeof(name), "name %d", i);
        nvtxt_name_category(NULL, (uint32_t)i % 1000 + 1, name);
    }
    read_window();
    cr_assert_geq(kit.names, 1000);
    kit_is(kit.name.text, "name 4999");
}

// ---- Options, errno, signals, fork --------------------------------------------------------------

Test(api, names_a_counter_at_its_first_sample) {
    const struct nvtxt_string *counter = nvtxt_string_get("queue");
    struct nvtxt_domain *domain = nvtxt_domain_get("a domain");
    nvtxt_private_name_counter(domain, "queue", "{\"unit\":\"jobs\"}");
    nvtxt_sample_i64(domain, counter, 1);
    read_window();
    cr_assert_eq(kit.name.kind, NVTXT_NAME_COUNTER);
    kit_is(kit.name.json, "{\"unit\":\"jobs\"}"); // what was said of it stays
    nvtxt_sample_i64(NULL, counter, 2);
    nvtxt_sample_f64(NULL, counter, 3);
    read_window();
    cr_assert_eq(kit.name.kind, NVTXT_NAME_COUNTER);
    kit_is(kit.name.text, "queue");
    kit_is(kit.name.domain, "");
    kit_is(kit.name.json, "");
}

Test(api, takes_options_before_the_first_event_only) {
    struct nvtxt_options options = {.size = sizeof(options), .ring_bytes = 5};
    cr_assert_eq(nvtxt_init(&options), -EINVAL);
    options.ring_bytes = 0;
    options.name = "given";
    cr_assert_eq(nvtxt_init(&options), 0);
    cr_assert_eq(nvtxt_init(NULL), 0);
    nvtxt_mark("m");
    cr_assert_eq(nvtxt_init(&options), -EALREADY);
    cr_assert_eq(recorder.region.head->ring_bytes, 64 << 10, "the environment wins");
}

Test(api, knows_colours_by_name_and_by_number) {
    cr_assert_eq(nvtxt_color("DarkOrange"), 0xFFFF8C00);
    cr_assert_eq(nvtxt_color("#102030"), 0xFF102030);
    cr_assert_eq(nvtxt_color("#40102030"), 0x40102030);
    cr_assert_eq(nvtxt_color("no colour"), 0);
    cr_assert_eq(nvtxt_color(""), 0);
    cr_assert_eq(nvtxt_color(NULL), 0);
}

Test(api, leaves_errno_as_it_is) {
    errno = 4711;
    cr_assert_eq(nvtxt_init(NULL), 0);
    struct nvtxt_domain *domain = nvtxt_domain_get("d");
    const struct nvtxt_string *string = nvtxt_string_get("s");
    cr_assert_eq(errno, 4711);
    for (int i = 0; i < 2000; i++) {
        nvtxt_mark("mark");
        nvtxt_push_ex(domain, NULL);
        nvtxt_sample_i64(domain, string, i);
        nvtxt_end(nvtxt_start("r"));
        nvtxt_name_category(domain, (uint32_t)i, "c");
        nvtxt_name_thread(0, "t");
        nvtxt_pop_ex(domain, "x");
        cr_assert_eq(errno, 4711);
    }
    nvtxt_flush(1);
    stats();
    cr_assert_eq(errno, 4711);
}

Test(api, drops_calls_inside_of_a_call) {
    nvtxt_mark("first");
    cr_assert_eq(nvtxt_push("outer"), 0);
    thread_busy = 1; // as if a signal came in the middle of a call
    nvtxt_mark("m");
    cr_assert_eq(nvtxt_push("inner"), -ENOTSUP);
    cr_assert_eq(nvtxt_pop(), -ENOTSUP);
    cr_assert_eq(nvtxt_start("s") % 2, 0);
    cr_assert_null(nvtxt_domain_get("d"));
    cr_assert_null(nvtxt_string_get("s"));
    cr_assert_eq(nvtxt_flush(0), -ETIMEDOUT);
    cr_assert_eq(nvtxt_init(NULL), -EALREADY);
    struct nvtxt_stats now = stats();
    cr_assert_eq(now.dropped, 3, "the mark, the push and the start");
    cr_assert_eq(now.recorded, 2);
    cr_assert_eq(thread_busy, 1);
    thread_busy = 0;
    cr_assert_eq(nvtxt_pop(), 0);
}

static _Atomic unsigned handled;
static pthread_t signalled;

static void handler(int signal) {
    (void)signal;
    nvtxt_push("in the handler");
    nvtxt_mark("in the handler");
    nvtxt_pop();
    stats();
    atomic_fetch_add(&handled, 1);
}

// To the one thread: other threads of the test's framework would take signals of the process.
static void *send_signals(void *unused) {
    for (unsigned i = 1; i <= 2000; i++) {
        usleep(20);
        pthread_kill(signalled, SIGUSR1);
        while (atomic_load(&handled) < i) {
            sched_yield();
        }
    }
    return unused;
}

Test(api, bears_signals_in_the_middle_of_calls) {
    struct sigaction action = {.sa_handler = handler};
    pthread_t sender;
    sigaction(SIGUSR1, &action, NULL);
    signalled = pthread_self();
    cr_assert_eq(pthread_create(&sender, NULL, send_signals, NULL), 0);
    unsigned calls = 0;
    while (atomic_load(&handled) < 2000) {
        cr_assert_eq(nvtxt_push("outer"), 0);
        nvtxt_mark("m");
        cr_assert_eq(nvtxt_pop(), 0);
        calls += 2;
    }
    pthread_join(sender, NULL);
    calls += 2 * handled;
    struct nvtxt_stats now = stats();
    cr_assert_eq(now.recorded + now.dropped, calls, "%llu recorded and %llu dropped of %u",
                 (unsigned long long)now.recorded, (unsigned long long)now.dropped, calls);
}

static void in_child(void) {
    alarm(300);
    cr_assert_not_null(nvtxt_string_get("a string before its first event"));
    cr_assert_not_null(nvtxt_domain_get("a domain"));
    cr_assert_eq(stats().recorded, 0);
    cr_assert_eq(nvtxt_push("the child's"), 1, "it knows its parent's");
    cr_assert_eq(nvtxt_pop(), 1);
    cr_assert_eq(nvtxt_pop(), 0);
    cr_assert_eq(nvtxt_pop(), -ENOENT);
    nvtxt_end(3);
    read_window();
    cr_assert_eq(kit.events, 1);
    kit_is(kit.event.text, "the child's");
    cr_assert_eq(stats().recorded, 1);
    cr_assert_eq(stats().ignored, 2);
    kit_is(kit.name.text, "a category");
}

Test(api, records_a_child_on_its_own) {
    cr_assert_eq(nvtxt_push("the parent's"), 0);
    cr_assert_eq(nvtxt_start("the parent's"), 3);
    nvtxt_name_category(NULL, 1, "a category");
    nvtxt_name_thread(0, "the parent's thread");
    while (atomic_load(&life_sender.passes) == 0) {
        nvtxt_flush(20); // a sanitizer has locks while a thread begins
    }
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        in_child();
        _exit(0);
    }
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%d", status);
    cr_assert_eq(nvtxt_pop(), 0);
    nvtxt_end(3);
    read_window();
    cr_assert_eq(kit.events, 2);
}
