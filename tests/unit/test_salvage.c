// SPDX-License-Identifier: Apache-2.0
//
// Ring files become spools: of the same session, from the line on that was not acknowledged, with
// the first lines of a session that took the place of another one; each file once.
#include "client/nvtx/nvtx_run.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/spool/spool.h"
#include "tests/unit/region_kit.h"

static char dir[64], path[128];
static struct region_kit kit;
static struct spool spool;
static struct nvtxt_hello hello;
static struct term term;
static char text[8 << 20]; // all lines of a spool

static void begin(void) {
    term_init(&term, "test");
    snprintf(dir, sizeof(dir), "/tmp/test_salvage.XXXXXX");
    cr_assert(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/nvtxt-1-2.ring", dir);
    cr_assert_eq(region_kit_make(&kit, path), 0);
}

// The process is gone; what is left is salvaged. Returns the first line of the spool.
static uint64_t salvage(void) {
    struct segment_record record;
    size_t len = 0;
    region_kit_free(&kit);
    cr_assert_eq(salvage_in_use(dir), 0);
    cr_assert_eq(salvage_folder(dir, false, &term), OUTCOME_DONE);
    cr_assert_neq(access(path, F_OK), 0, "the ring file is gone");
    cr_assert_eq(spool_open(&spool, dir, KIT_SESSION, &hello), 0, "%s", spool.fault);
    for (uint64_t line = spool_first(&spool) - 1; spool_next(&spool, line, &record) == 0;) {
        memcpy(text + len, record.data, record.len);
        len += record.len;
        line += record.lines;
    }
    text[len] = '\0';
    return spool_first(&spool);
}

static void end(void) {
    spool_remove(&spool);
    spool_close(&spool);
    cr_assert_eq(rmdir(dir), 0, "nothing else is left");
}

static struct region_state *state(void) {
    return &kit.region.head->states[atomic_load(&kit.region.head->pass) & 1];
}

// The first `lines` lines of the window are acknowledged.
static void acknowledge(uint64_t lines) {
    struct region_state *of = state();
    while (of->acked_lines < lines) {
        of->acked_lines += kit.region.window[of->acked++] == '\n';
    }
}

static const char *line_of_window(uint64_t number) {
    const char *at = kit.region.window;
    while (--number > 0) {
        at = strchr(at, '\n') + 1;
    }
    static char line[200];
    snprintf(line, sizeof(line), "%.*s\n", (int)strcspn(at, "\n"), at);
    return line;
}

// AddressSanitizer's strstr() would measure all that is left each time.
static unsigned count(const char *part) {
    size_t len = strlen(part);
    unsigned found = 0;
    for (const char *at = text; (at = strchr(at, *part));) {
        bool is_here = strncmp(at, part, len) == 0;
        found += is_here;
        at += is_here ? len : 1;
    }
    return found;
}

Test(salvage, has_the_lines_of_the_window_and_those_of_all_records) {
    begin();
    cr_assert_eq(salvage(), 1);
    cr_assert_eq(strncmp(text, "TimeBase=ClockRealtime\n@Marker", 30), 0);
    cr_assert_eq(count("\"a mark\""), 2);
    cr_assert_eq(count("\"b\""), 2 * (KIT_RECORDS - 2));
    cr_assert_eq(count("\nRangeStart,"), 4);
    cr_assert_eq(count("\nRangeEnd,"), 3, "also that of the round before");
    cr_assert_eq(count("SetCategoryName,4,\"a category\"\n"), 1);
    cr_assert_eq(count("\nDomain=\"a domain\"\n"), 2, "who goes on says it again");
    cr_assert_str_eq(hello.name, "kit");
    cr_assert_str_eq(hello.client, "libnvtxt");
    cr_assert(hello.nvtx == 1 && hello.escapes && !hello.diagnostics && hello.has_pid);
    cr_assert_eq(hello.pid, getpid());
    end();
}

Test(salvage, goes_on_after_the_last_line_that_was_acknowledged) {
    begin();
    acknowledge(7);
    const char *line = line_of_window(8);
    cr_assert_eq(salvage(), 8);
    cr_assert_eq(strncmp(text, line, strlen(line)), 0, "%s", text);
    end();
}

Test(salvage, takes_what_had_no_room_in_the_window) {
    unsigned rounds = 2;
    begin();
    while (!pass_run(kit.pass, true, NULL).is_full) {
        for (int i = 0; i < 100; i++, rounds++) {
            kit_record_round(&kit);
        }
    }
    salvage();
    cr_assert_eq(count("\"a mark\""), rounds);
    cr_assert_eq(count("\"b\""), rounds * (KIT_RECORDS - 2));
    cr_assert_eq(count("\nRangeEnd,"), 2 * rounds - 1);
    end();
}

// A long string takes a few bytes of the ring and many of the window.
Test(salvage, makes_more_lines_than_the_window_holds) {
    static char long_text[4001];
    begin();
    memset(long_text, 'x', 4000);
    kit.region.strings[1] = kit_put_text(&kit, long_text);
    atomic_store(&kit.region.head->strings, 2);
    for (int i = 0; i < 1000; i++) {
        kit_put_record(&kit, 1,
                       (struct record_view){.kind = RECORD_MARK, .has_string = true, .string = 1});
    }
    salvage();
    cr_assert_eq(count(long_text), 1000);
    cr_assert_eq(count("\nRangeEnd,"), 3);
    end();
}

Test(salvage, ends_a_session_that_has_nothing_left) {
    begin();
    pass_run(kit.pass, true, NULL);
    acknowledge(state()->lines);
    uint64_t lines = state()->lines;
    cr_assert_eq(salvage(), lines + 1);
    cr_assert_str_eq(text, "");
    end();
}

// Lines up to 6 are of another session; of this one the daemon may have none.
static void renew_after_six(void) {
    struct region_session session = {.id = KIT_SESSION, .first = 4, .preamble_lines = 2};
    strcpy(session.preamble, "ThreadId=1\nDomain=\"x\"\n");
    session.preamble_bytes = (uint32_t)strlen(session.preamble);
    strcpy(kit.region.head->sessions[0].id, "7f0c1a2b-0000-4000-8000-000000000000");
    strcpy(kit.region.head->sessions[1].id, "7f0c1a2b-0000-4000-8000-000000000000");
    region_set_session(&kit.region, &session);
}

Test(salvage, begins_a_session_that_took_the_place_of_another_as_its_process_did) {
    for (uint64_t known = 3; known <= 6; known += 3) { // its process knew this when it was killed
        char wanted[300];
        begin();
        renew_after_six();
        acknowledge(known);
        snprintf(wanted, sizeof(wanted), "ThreadId=1\nDomain=\"x\"\n%s", line_of_window(7));
        cr_assert_eq(salvage(), 1);
        cr_assert_eq(strncmp(text, wanted, strlen(wanted)), 0, "%s", text);
        end();
    }
}

Test(salvage, leaves_out_first_lines_that_the_daemon_has) {
    begin();
    renew_after_six();
    acknowledge(9);
    const char *line = line_of_window(10);
    cr_assert_eq(salvage(), 6, "lines 1 and 2 were the first ones, 3 was line 7 of the window");
    cr_assert_eq(strncmp(text, line, strlen(line)), 0, "%s", text);
    end();
}

Test(salvage, of_a_file_whose_spool_is_there_only_removes_it) {
    char kept[160];
    begin();
    snprintf(kept, sizeof(kept), "%s.kept", path);
    region_kit_free(&kit);
    cr_assert_eq(link(path, kept), 0);
    cr_assert_eq(salvage_folder(dir, false, &term), OUTCOME_DONE);
    cr_assert_eq(rename(kept, path), 0);
    cr_assert_eq(region_kit_make(&kit, NULL), 0);
    cr_assert_eq(salvage(), 1);
    cr_assert_eq(count("\"a mark\""), 2);
    end();
}

Test(salvage, of_a_process_that_had_no_session_yet_has_nothing) {
    begin();
    memset(kit.region.head->sessions, 0, sizeof(kit.region.head->sessions));
    region_kit_free(&kit);
    cr_assert_eq(salvage_folder(dir, false, &term), OUTCOME_DONE);
    cr_assert_eq(rmdir(dir), 0);
}

Test(salvage, leaves_files_in_use_alone) {
    begin();
    cr_assert_eq(salvage_in_use(dir), 1);
    cr_assert_eq(salvage_folder(dir, true, &term), OUTCOME_DONE);
    cr_assert_eq(salvage_folder(dir, false, &term), OUTCOME_BAD_DATA);
    salvage();
    end();
}
