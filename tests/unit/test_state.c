// SPDX-License-Identifier: Apache-2.0
//
// A saved state: a restored interpreter saves the same text and goes on as the first one would
// have; text that was not saved is refused and leaks nothing.
#include "protocol/interp/state.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>

#include "tests/unit/recorder.h"

// There only under AddressSanitizer.
int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

static struct recorder rec;
static struct nvtxt_source_config config = {
    .limits = NVTXT_LIMITS_DEFAULT, .default_pid = 7, .opened_ns = 5000, .origin_ns = 1000};

// Everything that a state can hold.
static const char full[] = "A = 1\nB = \"text \xC3\xA4 \\ '\"\nMin = -9223372036854775808\n"
                           "ProcessId = 9\n@Marker, Time, Message, TimeBase\n@RangePop, Time\n"
                           "SetFileDisplayName, D\nSetCategoryName, 3, c\n"
                           "SetThreadName, 1, 2, t\n"
                           "RangePush, 10, Manual, 8, 9, 3, Red, a, \"1e-3\"\n"
                           "RangePush, 11, ClockBoottime, 8, 9, 3, Red, 'b \xFF', -5\n"
                           "SetFileDisplayName, E\n"
                           "RangeStart, 12, -4, Qpc, 8, 9, 0, nocolor, s, 5\n?\n";

// What is run after it, in both interpreters.
static const char rest[] = "Marker, 20, $A, Other\nMarker, 21, $B, ClockBoottime\n"
                           "Marker, $Min, m, Manual\nRangePop, 22\nThreadId = 9\nProcessId = 8\n"
                           "RangePop, 23\nRangeStart, 1, -4, Manual, 1, 1, 1, 1, x, 1\n"
                           "RangePush, 30, Manual, 8, 9, 3, Red, p, 1\nMarker, 24, n, Relative\n"
                           "SetThreadName, 1, 2, u\n";

static struct nvtxt_interp *run(const char *lines) {
    struct nvtxt_interp *interp = nvtxt_interp_new(&config);
    cr_assert_not_null(interp);
    recorder_init(&rec);
    recorder_run(&rec, interp, lines);
    rec.len = 0;
    return interp;
}

static struct nvtxt_buf save(const struct nvtxt_interp *interp) {
    struct nvtxt_buf buf = {0};
    cr_assert_eq(nvtxt_state_save_in_one(interp, true, &buf), 0);
    return buf;
}

static int restore(struct nvtxt_interp **interp, const char *text, size_t len) {
    // With the copy the sanitizer finds a read past the end of the text.
    char *copy = malloc(len ? len : 1);
    cr_assert_not_null(copy);
    memcpy(copy, text, len);
    int r = nvtxt_state_restore(interp, &config, (struct nvtxt_slice){copy, len}, NULL, 0);
    free(copy);
    return r;
}

static void no_leak(void) {
    if (__lsan_do_recoverable_leak_check) {
        cr_assert_eq(__lsan_do_recoverable_leak_check(), 0, "a leak was reported");
    }
}

static void survives(const char *lines) {
    struct nvtxt_interp *first = run(lines), *second = NULL;
    struct nvtxt_buf saved = save(first);
    cr_assert_eq(restore(&second, saved.data, saved.len), 0, "%.*s", (int)saved.len, saved.data);
    struct nvtxt_buf again = save(second);
    cr_assert_eq(again.len, saved.len, "%.*s", (int)again.len, again.data);
    cr_assert_arr_eq(again.data, saved.data, saved.len);

    static char wanted[sizeof(rec.text)];
    recorder_run(&rec, first, rest);
    cr_assert_eq(nvtxt_interp_end(first, &rec.sink), 0);
    memcpy(wanted, rec.text, rec.len);
    wanted[rec.len] = '\0';
    rec.len = 0;
    recorder_run(&rec, second, rest);
    cr_assert_eq(nvtxt_interp_end(second, &rec.sink), 0);
    recorder_take(&rec, lines, wanted);
    cr_assert_eq(memcmp(nvtxt_interp_counters(first), nvtxt_interp_counters(second),
                        sizeof(struct nvtxt_counters)),
                 0);

    nvtxt_interp_free(first);
    nvtxt_interp_free(second);
    nvtxt_buf_deinit(&saved);
    nvtxt_buf_deinit(&again);
}

// ---- Round trips --------------------------------------------------------------------------------

Test(state, of_a_fresh_source_survives) {
    survives("");
    no_leak();
}

Test(state, of_a_full_source_survives) {
    survives(full);
    survives("A = ''\nA = 5\n@Marker\n@SetProcessName, Name, ProcessId\n");
    no_leak();
}

Test(state, survives_at_every_line_of_a_stream) {
    char lines[sizeof(full)];
    for (size_t i = 0; i < sizeof(full); i++) {
        if (full[i] != '\n') {
            continue;
        }
        memcpy(lines, full, i + 1);
        lines[i + 1] = '\0';
        survives(lines);
    }
}

Test(state, holds_mapping_origin_and_default_process) {
    config.mapping = (struct nvtxt_mapping){.mode = NVTXT_MAPPING_LIN, .ns_a = 1, .freq = 1000};
    struct nvtxt_interp *interp = run("@Marker, Time\n");
    struct nvtxt_buf saved = save(interp);
    nvtxt_interp_free(interp);
    config = (struct nvtxt_source_config){.limits = NVTXT_LIMITS_DEFAULT, .default_pid = 99};
    cr_assert_eq(restore(&interp, saved.data, saved.len), 0);
    recorder_run(&rec, interp, "Marker, 2\n");
    recorder_take(&rec, "mapped", "mark 7.7 2000001..2000001 ''\n");
    nvtxt_interp_free(interp);
    nvtxt_buf_deinit(&saved);
}

Test(state, holds_whether_strings_have_escapes) {
    config.escapes = true;
    struct nvtxt_interp *interp = run("@Marker, Time, Message\n");
    struct nvtxt_buf saved = save(interp);
    nvtxt_interp_free(interp);
    config.escapes = false;
    cr_assert_eq(restore(&interp, saved.data, saved.len), 0);
    recorder_run(&rec, interp, "Marker, 2, \"a\\\"b\"\n");
    recorder_take(&rec, "unescaped", "mark 7.7 2..2 'a\"b'\n");
    nvtxt_interp_free(interp);
    nvtxt_buf_deinit(&saved);
}

Test(state, holds_whether_payloads_are_levels) {
    config.levels = true;
    struct nvtxt_interp *interp = run("@Marker, Time, Payload\n");
    cr_assert(nvtxt_interp_has_levels(interp));
    struct nvtxt_buf saved = save(interp);
    nvtxt_interp_free(interp);
    config.levels = false;
    cr_assert_eq(restore(&interp, saved.data, saved.len), 0);
    cr_assert(nvtxt_interp_has_levels(interp));
    recorder_run(&rec, interp, "Marker, 2, ''\nMarker, 3, 4\n");
    recorder_take(&rec, "levels", "mark 7.7 2..2 ''\nmark 7.7 3..3 '' int=4\n");
    nvtxt_interp_free(interp);
    nvtxt_buf_deinit(&saved);
}

// What only the extension nvtx brings in.
static const char extended[] =
    "Domain = A\nJson = \"{\\\"x\\\":[1,\\\"\xC3\xA4\\\"]}\"\n@RangePush, Time, Payload, Message\n"
    "@RangePop, Time, Domain\n@Marker, Time, Json, Domain, Payload\n@SetCounter, Name, Json\n"
    "@SetResourceName, Kind, Handle, Name, ProcessId\n@SetCategoryName, CategoryId, Name, Domain\n"
    "SetCategoryName, 1, c, Z\nSetCounter, n, ''\n"
    "RangePush, 1, 'u64:18446744073709551615', u\nRangePush, 2, 'i32:-5', i\n"
    "RangePush, 3, 'u32:4294967295', v\nRangePush, 4, 'f32:0.1', f\nRangePush, 5, 'f64:nan', g\n"
    "SetFileDisplayName, D\nDomain = ''\nRangePush, 6, '', d\nDomain = B\nRangePush, 7, '', b\n"
    "@RangeStart, Time, RangeId, Json\nRangeStart, 8, 1, '[2]'\nRangeStart, 9, 2, ''\n";

Test(state, holds_the_extension_nvtx) {
    config.nvtx = config.escapes = true;
    survives("");
    survives(extended);
    char lines[sizeof(extended)];
    for (size_t i = 0; i < sizeof(extended); i++) {
        if (extended[i] == '\n') {
            memcpy(lines, extended, i + 1);
            lines[i + 1] = '\0';
            survives(lines);
        }
    }
    no_leak();
}

Test(state, goes_on_with_stacks_and_values_of_the_extension_nvtx) {
    config.nvtx = config.escapes = true;
    struct nvtxt_interp *interp = run(extended);
    struct nvtxt_buf saved = save(interp);
    nvtxt_interp_free(interp);
    config.nvtx = config.escapes = false;
    cr_assert_eq(restore(&interp, saved.data, saved.len), 0);
    cr_assert(nvtxt_interp_has_nvtx(interp));
    recorder_run(&rec, interp,
                 "Json = '7'\nRangePop, 10, A\nJson = ''\nRangePop, 11, A\nRangePop, 12, ''\n"
                 "RangePop, 13, A\nRangePop, 14, A\n@RangeEnd, Time, RangeId, Json\n"
                 "RangeEnd, 15, 1, '{}'\nRangePop, 16, C\n");
    recorder_take(
        &rec, "nvtx",
        "push 7.7 5..10 'g' domain='A' real=nan "
        "json='{\"begin\":{\"x\":[1,\"\xC3\xA4\"]},\"end\":7}'\n"
        "name category 1 'c' domain='Z' at 5 7.7\nname domain 'D' at 5 7.7\n"
        "push 7.7 4..11 'f' domain='A' float=0.100000001 json='{\"x\":[1,\"\xC3\xA4\"]}'\n"
        "push 7.7 6..12 'd' domain='D' json='{\"x\":[1,\"\xC3\xA4\"]}'\n"
        "push 7.7 3..13 'v' domain='A' u32=4294967295 json='{\"x\":[1,\"\xC3\xA4\"]}'\n"
        "push 7.7 2..14 'i' domain='A' i32=-5 json='{\"x\":[1,\"\xC3\xA4\"]}'\n"
        "start 7.7 8..15 '' domain='B' json='{\"begin\":[2],\"end\":{}}'\n"
        "33:1 error loading pop-without-push\n");
    nvtxt_interp_free(interp);
    nvtxt_buf_deinit(&saved);
}

Test(state, holds_the_expiry_of_a_session) {
    config.expiry_s = 60;
    survives(full);
    struct nvtxt_interp *interp = run("");
    struct nvtxt_buf saved = save(interp);
    nvtxt_interp_free(interp);
    config.expiry_s = 0;
    cr_assert_eq(restore(&interp, saved.data, saved.len), 0);
    cr_assert_eq(nvtxt_interp_expiry(interp), 60);
    nvtxt_interp_free(interp);
    nvtxt_buf_add(&saved, "", 1);
    memcpy(strstr(saved.data, "\"expiry\":[60]"), "\"expiry\":[-1]", 13);
    cr_assert_eq(restore(&interp, saved.data, saved.len - 1), NVTXT_RESTORE_BAD);
    nvtxt_buf_deinit(&saved);
}

Test(state, holds_the_parent_of_a_source) {
    snprintf(config.parent, sizeof(config.parent), "s:run");
    survives(full);
    struct nvtxt_interp *interp = run("");
    struct nvtxt_buf saved = save(interp);
    nvtxt_interp_free(interp);
    config.parent[0] = '\0';
    cr_assert_eq(restore(&interp, saved.data, saved.len), 0);
    cr_assert_str_eq(nvtxt_interp_parent(interp), "s:run");
    nvtxt_interp_free(interp);
    nvtxt_buf_add(&saved, "", 1);
    memcpy(strstr(saved.data, "[\"s:run\"]"), "[1234567]", 9);
    cr_assert_eq(restore(&interp, saved.data, saved.len - 1), NVTXT_RESTORE_BAD);
    nvtxt_buf_deinit(&saved);
}

// The line of the key is the last one before the break.
Test(state, holds_the_key_of_the_next_range) {
    struct nvtxt_interp *interp = run("@RangeStartEnd, Start, End\n");
    nvtxt_interp_next_range(interp, "k", "s:run");
    struct nvtxt_buf saved = save(interp);
    nvtxt_interp_free(interp);
    cr_assert_eq(restore(&interp, saved.data, saved.len), 0);
    recorder_run(&rec, interp, "RangeStartEnd, 1, 2\nRangeStartEnd, 3, 4\n");
    recorder_take(&rec, "keyed", "start 7.7 1..2 '' key=k parent=s:run\nstart 7.7 3..4 ''\n");
    nvtxt_interp_free(interp);
    nvtxt_buf_deinit(&saved);
}

Test(state, of_the_extension_nvtx_needs_its_mark) {
    config.nvtx = config.escapes = true;
    struct nvtxt_interp *interp = run(extended);
    struct nvtxt_buf saved = save(interp);
    nvtxt_interp_free(interp);
    static const char mark[] = ",\"nvtx\":[1]";
    nvtxt_buf_add(&saved, "", 1);
    char *at = strstr(saved.data, mark);
    cr_assert_not_null(at);
    memmove(at, at + sizeof(mark) - 1, strlen(at) - (sizeof(mark) - 1) + 1);
    cr_assert_eq(restore(&interp, saved.data, strlen(saved.data)), NVTXT_RESTORE_BAD);
    nvtxt_buf_deinit(&saved);
}

Test(state, takes_limits_and_claim_from_the_configuration) {
    struct nvtxt_interp *interp = run("@Marker, Time\n");
    struct nvtxt_buf saved = save(interp);
    nvtxt_interp_free(interp);
    config.limits.variables = 0;
    config.claim = true;
    config.claimed_pid = 3;
    cr_assert_eq(restore(&interp, saved.data, saved.len), 0);
    recorder_run(&rec, interp, "Marker, 2\nA = 1");
    recorder_take(&rec, "refused",
                  "2:1 error loading foreign-process\n3:1 error loading limit-exceeded\n");
    nvtxt_interp_free(interp);
    nvtxt_buf_deinit(&saved);
}

static int put_back(void *context, const struct nvtxt_open_range *range) {
    return nvtxt_interp_restore_open(context, range);
}

Test(state, leaves_open_ranges_out_unless_asked_but_counts_on) {
    struct nvtxt_interp *first = run(full), *second = NULL;
    struct nvtxt_buf saved = {0};
    cr_assert_eq(nvtxt_state_save_in_one(first, false, &saved), 0);
    cr_assert_eq(restore(&second, saved.data, saved.len), 0);
    struct nvtxt_open_range range;
    while (nvtxt_interp_take_opened(first, &range) == 1) {
        continue;
    }
    cr_assert_eq(nvtxt_interp_each_open(first, put_back, second), 0);
    struct nvtxt_buf one = save(first), two = save(second);
    cr_assert_eq(one.len, two.len, "%.*s\n%.*s", (int)one.len, one.data, (int)two.len, two.data);
    cr_assert_arr_eq(one.data, two.data, one.len);
    nvtxt_interp_free(first);
    nvtxt_interp_free(second);
    nvtxt_buf_deinit(&saved);
    nvtxt_buf_deinit(&one);
    nvtxt_buf_deinit(&two);
}

Test(state, remembers_which_ranges_were_announced) {
    struct nvtxt_interp *first = run(full), *second = NULL;
    struct nvtxt_open_range range;
    cr_assert_eq(nvtxt_interp_take_opened(first, &range), 1);
    struct nvtxt_buf saved = save(first);
    cr_assert_eq(restore(&second, saved.data, saved.len), 0);
    cr_assert_eq(nvtxt_interp_take_opened(second, &range), 1);
    cr_assert_eq(range.seq, 2);
    cr_assert_eq(nvtxt_interp_take_opened(second, &range), 1);
    cr_assert_eq(range.seq, 3);
    cr_assert_eq(nvtxt_interp_take_opened(second, &range), 0);
    nvtxt_interp_free(first);
    nvtxt_interp_free(second);
    nvtxt_buf_deinit(&saved);
}

Test(state, gives_no_number_of_a_closed_range_again) {
    struct nvtxt_interp *interp =
        run("@RangePush, Time\n@RangePop, Time\nRangePush, 1\nRangePop, 2");
    struct nvtxt_buf saved = save(interp);
    nvtxt_interp_free(interp);
    cr_assert_eq(restore(&interp, saved.data, saved.len), 0);
    recorder_run(&rec, interp, "RangePush, 3");
    struct nvtxt_open_range range;
    cr_assert_eq(nvtxt_interp_take_opened(interp, &range), 1);
    cr_assert_eq(range.seq, 2);
    nvtxt_interp_free(interp);
    nvtxt_buf_deinit(&saved);
}

Test(state, knows_whose_a_waiting_category_is) {
    struct nvtxt_interp *interp =
        run("SetCategoryName, 1, here\nProcessId = 5\nSetCategoryName, 1, there");
    struct nvtxt_buf saved = save(interp);
    nvtxt_interp_free(interp);
    cr_assert_eq(restore(&interp, saved.data, saved.len), 0);
    recorder_run(&rec, interp, "@Marker, Time, ProcessId, ThreadId\nMarker, 60, 8, 9");
    recorder_take(&rec, "whose",
                  "mark 8.9 60..60 ''\nname category 1 'here' at 60 8.9\n"
                  "name category 1 'there' of 5 at 60 8.9\n");
    nvtxt_interp_free(interp);
    nvtxt_buf_deinit(&saved);
}

Test(state, counts_waiting_names_towards_their_limits) {
    struct nvtxt_interp *interp = run("SetCategoryName, 1, 12345\nSetCategoryName, 2, 12345");
    struct nvtxt_buf saved = save(interp);
    nvtxt_interp_free(interp);
    config.limits.waiting_names = 3;
    config.limits.variable_bytes = 12;
    cr_assert_eq(restore(&interp, saved.data, saved.len), 0);
    recorder_run(&rec, interp,
                 "SetCategoryName, 3, abc\nSetCategoryName, 3, ab\n"
                 "SetCategoryName, 4, ''");
    recorder_take(&rec, "limits",
                  "3:1 error loading limit-exceeded\n"
                  "5:1 error loading limit-exceeded\n");
    nvtxt_interp_free(interp);
    nvtxt_buf_deinit(&saved);
}

// ---- Refusals -----------------------------------------------------------------------------------

static json_t *good(void) {
    struct nvtxt_interp *interp = run(full);
    struct nvtxt_open_range range;
    nvtxt_interp_take_opened(interp, &range);
    struct nvtxt_buf saved = save(interp);
    nvtxt_interp_free(interp);
    json_t *state = json_loadb(saved.data, saved.len, 0, NULL);
    cr_assert_not_null(state);
    nvtxt_buf_deinit(&saved);
    return state;
}

static int restore_json(const json_t *state) {
    struct nvtxt_interp *interp = NULL;
    char *text = json_dumps(state, JSON_COMPACT);
    cr_assert_not_null(text);
    int r = restore(&interp, text, strlen(text));
    cr_assert(r == 0 || !interp, "set only on success");
    nvtxt_interp_free(interp);
    free(text);
    return r;
}

static void refuses(const json_t *state, const char *where, size_t index) {
    cr_assert_eq(restore_json(state), NVTXT_RESTORE_BAD, "%s [%zu]", where, index);
}

// Takes a value out of an array, puts others in its place, and puts it back.
static void mutate_element(const json_t *state, json_t *array, size_t index, const char *where) {
    json_t *kept = json_incref(json_array_get(array, index));
    json_t *others[] = {json_null(),
                        json_true(),
                        json_real(1.5),
                        json_object(),
                        json_is_array(kept) ? json_integer(1) : json_array(),
                        json_is_string(kept) ? json_object() : json_string("no such thing")};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        bool value_of_variable = strcmp(where, "variables") == 0 && index == 1;
        json_array_set_new(array, index, others[i]);
        if (!(value_of_variable && json_is_string(json_array_get(array, index)))) {
            refuses(state, where, index);
        }
    }
    json_array_set_new(array, index, kept);
}

static void mutate_array(const json_t *state, json_t *array, const char *where) {
    for (size_t i = 0; i < json_array_size(array); i++) {
        mutate_element(state, array, i, where);
        json_t *element = json_array_get(array, i);
        if (json_is_array(element)) {
            mutate_array(state, element, where);
        }
    }
    json_array_append_new(array, json_null());
    refuses(state, where, json_array_size(array));
    json_array_remove(array, json_array_size(array) - 1);
}

Test(state, refuses_an_element_of_another_type_anywhere) {
    json_t *state = good(), *value;
    const char *key;
    cr_assert_eq(restore_json(state), 0);
    void *next;
    json_object_foreach_safe(state, next, key, value) {
        if (json_is_array(value)) {
            mutate_array(state, value, key);
        }
    }
    cr_assert_eq(restore_json(state), 0, "as it was");
    json_decref(state);
    no_leak();
}

Test(state, refuses_a_member_that_is_missing_or_of_another_type) {
    json_t *state = good();
    static const char *const keys[] = {
        "version",  "config", "mapping",     "variables", "waiting",  "definitions", "display",
        "counters", "latest", "diagnostics", "event",     "last_seq", "ranges"};
    cr_assert_eq(json_object_size(state), sizeof(keys) / sizeof(keys[0]));
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        json_t *kept = json_incref(json_object_get(state, keys[i]));
        json_t *others[] = {json_null(), json_false(), json_real(1), json_object(),
                            json_is_string(kept) ? json_integer(1) : json_string("")};
        cr_assert_not_null(kept, "%s", keys[i]);
        json_object_del(state, keys[i]);
        refuses(state, keys[i], 0);
        for (size_t o = 0; o < sizeof(others) / sizeof(others[0]); o++) {
            json_object_set_new(state, keys[i], others[o]);
            refuses(state, keys[i], o);
        }
        json_object_set_new(state, keys[i], kept);
    }
    cr_assert_eq(restore_json(state), 0, "as it was");
    json_decref(state);
    no_leak();
}

Test(state, refuses_a_list_that_is_too_short) {
    static const char *const keys[] = {"config",      "mapping", "counters",
                                       "diagnostics", "latest",  "event"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        json_t *state = good(), *array = json_object_get(state, keys[i]);
        json_array_remove(array, json_array_size(array) - 1);
        for (int older = 0; strcmp(keys[i], "diagnostics") == 0 && older < 2; older++) {
            cr_assert_eq(restore_json(state), 0, "as older versions saved it");
            json_array_remove(array, json_array_size(array) - 1);
        }
        refuses(state, keys[i], 0);
        json_decref(state);
    }
    static const char *const lists[] = {"variables", "waiting", "ranges"};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        json_t *state = good(), *array = json_array_get(json_object_get(state, lists[i]), 0);
        json_array_remove(array, json_array_size(array) - 1);
        refuses(state, lists[i], 1);
        json_decref(state);
    }
}

// Sets `key[at][in]` of a state (`in` < 0: `key[at]`) to a JSON text: restoring refuses it.
static void refuses_value(const char *key, size_t at, int in, const char *text) {
    json_t *state = good(), *array = json_object_get(state, key);
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    cr_assert_not_null(value, "%s", text);
    if (in < 0) {
        json_array_set_new(array, at, value);
    } else {
        json_array_set_new(json_array_get(array, at), (size_t)in, value);
    }
    cr_assert_eq(restore_json(state), NVTXT_RESTORE_BAD, "%s[%zu][%d] = %s", key, at, in, text);
    json_decref(state);
}

Test(state, refuses_values_out_of_range) {
    refuses_value("config", 0, -1, "-1");
    refuses_value("config", 0, -1, "16777216");
    refuses_value("mapping", 0, -1, "3");
    refuses_value("mapping", 0, -1, "2"); // lin without a frequency
    refuses_value("mapping", 0, -1, "1"); // lerp with nvtxt_a = nvtxt_b
    refuses_value("variables", 0, 0, "\"\"");
    refuses_value("variables", 0, 0, "\"1a\"");
    refuses_value("definitions", 0, 0, "\"NoCommand\"");
    refuses_value("definitions", 0, 1, "\"NoArgument\"");
    refuses_value("definitions", 0, 1, "\"Start\"");   // Marker takes none
    refuses_value("definitions", 0, 1, "\"Message\""); // twice
    refuses_value("waiting", 0, 0, "2");               // names of processes do not wait
    refuses_value("waiting", 0, 0, "4");
    refuses_value("waiting", 0, 1, "4294967296");
    refuses_value("waiting", 0, 2, "16777216");
    refuses_value("counters", 0, -1, "-1");
    refuses_value("counters", 4, -1, "2");
    refuses_value("diagnostics", 1, -1, "-1");
    refuses_value("latest", 0, -1, "2");
    refuses_value("event", 0, -1, "2");
    refuses_value("event", 3, -1, "16777216");
    refuses_value("ranges", 0, 0, "0");
    refuses_value("ranges", 1, 0, "1"); // the number of the one before it
    refuses_value("ranges", 0, 1, "2");
}

Test(state, refuses_ranges_that_cannot_be_open) {
    refuses_value("ranges", 2, 1, "1"); // announced though an older one was not
    refuses_value("ranges", 0, 2, "34");
    refuses_value("ranges", 0, 3, "16777216");
    refuses_value("ranges", 0, 5, "1");
    refuses_value("ranges", 1, 5, "0");
    refuses_value("ranges", 0, 8, "4294967296");
    refuses_value("ranges", 0, 9, "-1");
    refuses_value("ranges", 0, 10, "3");
    json_t *state = good(), *ranges = json_object_get(state, "ranges");
    json_t *twice = json_deep_copy(json_array_get(ranges, 2));
    json_array_set_new(twice, 0, json_integer(4));
    json_array_append_new(ranges, twice);
    refuses(state, "the same RangeId twice", 0);
    json_decref(state);
    no_leak();
}

Test(state, refuses_text_that_is_cut_anywhere) {
    struct nvtxt_interp *interp = run(full);
    struct nvtxt_buf saved = save(interp);
    nvtxt_interp_free(interp);
    for (size_t len = 0; len < saved.len; len++) {
        interp = NULL;
        cr_assert_eq(restore(&interp, saved.data, len), NVTXT_RESTORE_BAD, "%zu bytes", len);
        cr_assert_null(interp);
    }
    nvtxt_buf_deinit(&saved);
    no_leak();
}

Test(state, refuses_text_that_is_no_state) {
    static const char *const texts[] = {
        "", "{}", "[]", "null", "1", "x", "{\"version\":1}", "{\"version\":1,\"version\":1}"};
    struct nvtxt_interp *interp = NULL;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        cr_assert_eq(restore(&interp, texts[i], strlen(texts[i])), NVTXT_RESTORE_BAD, "%s",
                     texts[i]);
    }
    json_t *state = good();
    json_object_set_new(state, "version", json_integer(2));
    refuses(state, "version", 2);
    json_decref(state);
    cr_assert_null(interp);
}

Test(state, is_restored_though_the_limits_were_lowered_since) {
    struct nvtxt_interp *interp = run("A = 1\nB = text\n");
    struct nvtxt_buf saved = save(interp);
    nvtxt_interp_free(interp);
    config.limits.variables = 1;
    cr_assert_eq(restore(&interp, saved.data, saved.len), 0);
    recorder_init(&rec);
    recorder_run(&rec, interp, "A = 2\nC = 1");
    recorder_take(&rec, "the lower limit holds from now on", "4:1 error loading limit-exceeded\n");
    nvtxt_interp_free(interp);
    nvtxt_buf_deinit(&saved);
}
