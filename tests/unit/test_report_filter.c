// SPDX-License-Identifier: Apache-2.0
//
// Filter expressions and the other options of a selection, by the tables in tests/report/filters.
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/model.h"
#include "report/select/filter.h"
#include "tests/unit/report_kit.h"

#define FIELDS 8
#define STATES 10
#define PROBE "probe"

// ---- Tables -------------------------------------------------------------------------------------

struct table {
    FILE *file;
    char line[4096];
    char *fields[FIELDS];
    size_t count;
};

static struct table open_file(const char *name) {
    char path[4096];
    struct table table = {0};
    const char *top = getenv("top_srcdir");
    snprintf(path, sizeof(path), "%s/%s", top ? top : ".", name);
    table.file = fopen(path, "r");
    cr_assert_not_null(table.file, "%s", path);
    return table;
}

static struct table open_table(const char *name) {
    char path[256];
    snprintf(path, sizeof(path), "tests/report/filters/%s", name);
    return open_file(path);
}

static bool next_row(struct table *table) {
    do {
        if (!fgets(table->line, sizeof(table->line), table->file)) {
            fclose(table->file);
            return false;
        }
    } while (table->line[0] == '#');
    table->line[strcspn(table->line, "\n")] = '\0';
    table->count = 0;
    for (char *at = table->line; at && table->count < FIELDS; table->count++) {
        table->fields[table->count] = at;
        at = strchr(at, '\t');
        if (at) {
            *at++ = '\0';
        }
    }
    return true;
}

static void take(struct report_selection *selection, const char *option, const char *text) {
    struct report_fault fault;
    int result = report_selection_take(selection, option, text, &fault);
    cr_assert_eq(result, 0, "--%s '%s': column %zu: %s", option, text, fault.column,
                 fault.sentence);
}

static void apply(struct report_model *model, struct report_selection *selection) {
    struct report_fault fault = {0};
    struct nvtxt_buf notes = {0};
    int64_t since, until;
    report_selection_span(selection, 1000, &since, &until);
    int result = report_select(model, selection, since, until, &notes, &fault);
    cr_assert_eq(result, 0, "%s", fault.sentence);
    report_selection_deinit(selection);
    nvtxt_buf_deinit(&notes);
}

// ---- The truth table ----------------------------------------------------------------------------

// Each state is a process: its ranges, then a mark when all of them are open.
static struct report_model *states_model(void) {
    static struct report_kit_event events[64];
    static char names[64][64];
    struct table table = open_table("states.tsv");
    size_t count = 0;
    while (next_row(&table)) {
        uint32_t pid = (uint32_t)atoi(table.fields[0] + 1);
        enum report_kind kind =
            strcmp(table.fields[1], "push/pop") == 0 ? REPORT_PUSH_POP : REPORT_START_END;
        snprintf(names[count], sizeof(names[0]), "%s:%s", table.fields[2], table.fields[3]);
        events[count] = (struct report_kit_event){
            KIT_EVENT(kind, 1, names[count], (int64_t)count, 1000 - (int64_t)count), .pid = pid};
        count++;
    }
    for (uint32_t pid = 1; pid <= STATES; pid++) {
        events[count++] =
            (struct report_kit_event){KIT_EVENT(REPORT_MARK, 1, PROBE, 500, 500), .pid = pid};
    }
    return report_kit_model(events, count);
}

static void states_selected(const struct report_model *model, char *out, size_t size) {
    size_t len = 0;
    out[0] = '\0';
    for (unsigned pid = 1; pid <= STATES; pid++) {
        for (size_t i = 0; i < model->count; i++) {
            const struct report_event *event = &model->capture->events[i];
            uint32_t process = model->capture->threads[event->thread].process;
            if (event->kind == REPORT_MARK && event->flags & REPORT_SELECTED &&
                model->capture->processes[process].pid == pid) {
                len += (size_t)snprintf(out + len, size - len, "%ss%u", len > 0 ? " " : "", pid);
            }
        }
    }
}

Test(report_filter, has_the_truth_table) {
    struct report_model *model = states_model();
    struct table table = open_table("truth.tsv");
    while (next_row(&table)) {
        struct report_selection selection = {0};
        char found[256];
        if (*table.fields[0]) {
            take(&selection, "nvtx-include", table.fields[0]);
        }
        if (*table.fields[1]) {
            take(&selection, "nvtx-exclude", table.fields[1]);
        }
        apply(model, &selection);
        states_selected(model, found, sizeof(found));
        cr_expect_str_eq(found, table.fields[2], "include '%s' exclude '%s': %s, not %s",
                         table.fields[0], table.fields[1], found, table.fields[2]);
    }
    report_kit_free(model);
}

// The rows of the page: .It So "EXPRESSION" Sc Ta s1 s2, with \e for a backslash.
Test(report_filter, has_the_truth_table_of_its_page) {
    struct report_model *model = states_model();
    struct table page = open_file("man/nvtxt-filter.7");
    size_t rows = 0;
    while (next_row(&page)) {
        static const char begin[] = ".It So \"", middle[] = "\" Sc Ta ";
        char expression[128], found[256];
        char *states = strstr(page.line, middle);
        size_t len = 0;
        if (strncmp(page.line, begin, sizeof(begin) - 1) != 0 || !states) {
            continue;
        }
        for (char *at = page.line + sizeof(begin) - 1; at < states; at++) {
            expression[len++] = *at;
            at += at[0] == '\\' && at[1] == 'e';
        }
        expression[len] = '\0';
        struct report_selection selection = {0};
        take(&selection, "nvtx-include", expression);
        apply(model, &selection);
        states_selected(model, found, sizeof(found));
        cr_expect_str_eq(found, states + sizeof(middle) - 1, "%s: %s", page.line, found);
        rows++;
    }
    cr_expect_eq(rows, 19);
    report_kit_free(model);
}

Test(report_filter, counts_events_of_f1) {
    struct report_model *model = report_kit_f1();
    struct table table = open_table("f1.tsv");
    while (next_row(&table)) {
        struct report_selection selection = {0};
        size_t wanted = (size_t)atoi(table.fields[table.count - 1]);
        char options[512] = "";
        for (size_t i = 0; i + 1 < table.count; i++) {
            strcat(strcat(options, " --"), table.fields[i]);
            char *text = strchr(table.fields[i], '=');
            if (text) {
                *text++ = '\0';
                take(&selection, table.fields[i], text);
            }
        }
        apply(model, &selection);
        cr_expect_eq(model->selected, wanted, "%s: %zu, not %zu", options, model->selected, wanted);
    }
    report_kit_free(model);
}

Test(report_filter, says_where_a_fault_is) {
    struct table table = open_table("errors.tsv");
    while (next_row(&table)) {
        struct report_selection selection = {0};
        struct report_fault fault;
        int result = report_selection_take(&selection, "nvtx-include", table.fields[0], &fault);
        cr_expect_eq(result, NVTXT_WRONG, "'%s'", table.fields[0]);
        cr_expect_eq(fault.column, (size_t)atoi(table.fields[1]), "'%s': column %zu, not %s",
                     table.fields[0], fault.column, table.fields[1]);
        cr_expect_str_eq(fault.sentence, table.fields[2], "'%s': %s", table.fields[0],
                         fault.sentence);
        report_selection_deinit(&selection);
    }
}

// ---- Notes --------------------------------------------------------------------------------------

static struct report_model *notes_model(void) {
    static const struct report_kit_event events[] = {
        KIT_RANGE(1, "step", 0, 100),        KIT_RANGE(1, "load", 10, 20),
        KIT_RANGE(1, "kernel", 30, 40),      KIT_RANGE(1, "D:copy/x", 30, 40),
        KIT_RANGE(1, "step", 120, 160),      KIT_START_END(1, "request", 5, 50),
        KIT_START_END(1, "D:reply", 60, 70), KIT_MARK(1, "tick", 60),
        KIT_RANGE(1, "load", 130, 140),      KIT_RANGE(1, "compute", 132, 138),
    };
    return report_kit_model(events, sizeof(events) / sizeof(events[0]));
}

Test(report_filter, says_why_an_option_selects_nothing) {
    struct report_model *model = notes_model();
    struct table table = open_table("notes.tsv");
    while (next_row(&table)) {
        struct report_selection selection = {0};
        struct report_fault fault = {0};
        struct nvtxt_buf notes = {0};
        int64_t since, until;
        for (size_t i = 0; i + 1 < table.count; i++) {
            char *text = strchr(table.fields[i], '=');
            *text++ = '\0';
            take(&selection, table.fields[i], text);
        }
        report_selection_span(&selection, 1000, &since, &until);
        cr_expect_eq(report_select(model, &selection, since, until, &notes, &fault), 0);
        nvtxt_buf_add(&notes, "", 1);
        char *end = strrchr(notes.data, '\n');
        if (end) {
            *end = '\0';
        }
        cr_expect_str_eq(notes.data, table.fields[table.count - 1]);
        report_selection_deinit(&selection);
        nvtxt_buf_deinit(&notes);
    }
    report_kit_free(model);
}

// ---- Faults -------------------------------------------------------------------------------------

static void expect_message(const char *option, const char *text, const char *wanted) {
    struct report_selection selection = {0};
    struct report_fault fault;
    struct nvtxt_buf message = {0};
    cr_expect_eq(report_selection_take(&selection, option, text, &fault), NVTXT_WRONG);
    report_fault_write(&fault, &message);
    nvtxt_buf_add(&message, "", 1);
    cr_expect_str_eq(message.data, wanted);
    nvtxt_buf_deinit(&message);
    report_selection_deinit(&selection);
}

Test(report_filter, points_at_the_place) {
    expect_message("nvtx-include", "A/,B",
                   "--nvtx-include 'A/,B': ',' in a push/pop expression; write '\\,' if it belongs "
                   "to the name\n  A/,B\n    ^");
    expect_message("nvtx-include", "\xc3\xa4\xe6\x97\xa5\t\xff/,B",
                   "--nvtx-include '\xc3\xa4\xe6\x97\xa5 ?/,B': ',' in a push/pop expression; "
                   "write '\\,' if it belongs to the name\n  \xc3\xa4\xe6\x97\xa5 ?/,B\n"
                   "        ^");
    expect_message("nvtx-exclude", "",
                   "--nvtx-exclude '': empty expression; write '*/' for every event\n  \n  ^");
    expect_message("within", "a@b@c",
                   "--within 'a@b@c': a second '@'; write '\\@' if it belongs to the name\n"
                   "  a@b@c\n     ^");
    expect_message("payload", "~ 5",
                   "--payload '~ 5': an operator is missing: there are < <= = != >= and >, as in "
                   "'> 5'\n  ~ 5\n  ^");
    expect_message("kind", "marc",
                   "--kind 'marc': there is no such kind; there are mark, push/pop and start/end; "
                   "did you mean 'mark'?");
}

Test(report_filter, refuses_values) {
    static const char *const values[][2] = {
        {"within", ""},
        {"within", "@D"},
        {"within", "a@"},
        {"iterations", "a@"},
        {"pid", "-1"},
        {"pid", "16777216"},
        {"tid", "1x"},
        {"tid", ""},
        {"source", ""},
        {"category", ""},
        {"kind", "pushpop"},
        {"color", "Blu"},
        {"color", "4294967296"},
        {"match", "("},
        {"payload", "5"},
        {"payload", ">"},
        {"payload", "> x"},
        {"payload", "=> 5"},
        {"min-duration", "long"},
        {"max-duration", ""},
        {"since", "yesterday"},
        {"last", "5x"},
        {"until", ""},
        {"skip-iterations", "-1"},
        {"nvtx-domain-include", ""},
        {"nvtx-domain-exclude", "a,,b"},
        {"nvtx-domain-exclude", "a,"},
    };
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct report_selection selection = {0};
        struct report_fault fault;
        cr_expect_eq(report_selection_take(&selection, values[i][0], values[i][1], &fault),
                     NVTXT_WRONG, "--%s '%s'", values[i][0], values[i][1]);
        cr_expect(fault.sentence[0] != '\0');
        report_selection_deinit(&selection);
    }
}

Test(report_filter, refuses_what_is_too_costly, .timeout = 600) {
    static const struct report_kit_event events[] = {
        KIT_RANGE(1, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", 0, 10),
        KIT_MARK(1, "b", 5),
    };
    static const char *const values[][2] = {
        {"nvtx-include", "regex:(a+)+$/"},
        {"nvtx-exclude", "regex:b@(a+)+$"},
        {"nvtx-include", "regex:b/(x+x+)+y,^(([a-z])+.)+[A-Z]([a-z])+$"},
        {"match", "(a+)+$"},
    };
    struct report_model *model = report_kit_model(events, 2);
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct report_selection selection = {0};
        struct report_fault fault = {0};
        struct nvtxt_buf notes = {0};
        if (report_selection_take(&selection, values[i][0], values[i][1], &fault) != 0) {
            report_selection_deinit(&selection);
            continue; // it cannot even be read
        }
        cr_expect_eq(report_select(model, &selection, INT64_MIN, INT64_MAX, &notes, &fault),
                     NVTXT_WRONG, "%s", values[i][1]);
        cr_expect_str_eq(fault.option, values[i][0]);
        cr_expect(strncmp(fault.sentence, "too costly", 10) == 0, "%s", fault.sentence);
        report_selection_deinit(&selection);
        nvtxt_buf_deinit(&notes);
    }
    report_kit_free(model);
}

Test(report_filter, searches_any_bytes) {
    static const struct report_kit_event events[] = {
        KIT_RANGE(1,
                  "\xff\xfeGr\xc3\xbc\xc3\x9f"
                  "e\xff",
                  0, 10),
        KIT_RANGE(1, "", 0, 10),
    };
    struct report_model *model = report_kit_model(events, 2);
    struct report_selection selection = {0};
    take(&selection, "nvtx-include", "regex:Gr\xc3\xbc.e]");
    apply(model, &selection);
    cr_expect_eq(model->selected, 1);
    report_kit_free(model);
}

// ---- Payloads, spans ----------------------------------------------------------------------------

static size_t count_with(struct report_model *model, const char *option, const char *text) {
    struct report_selection selection = {0};
    take(&selection, option, text);
    apply(model, &selection);
    return model->selected;
}

Test(report_filter, compares_payloads_in_their_type) {
    static const struct report_kit_event events[] = {
        {KIT_EVENT(REPORT_MARK, 1, "a", 0, 0), .payload_kind = NVTXT_PAYLOAD_UINT64, .payload = -1},
        {KIT_EVENT(REPORT_MARK, 1, "b", 1, 1), .payload_kind = NVTXT_PAYLOAD_INT64, .payload = -1},
        {KIT_EVENT(REPORT_MARK, 1, "c", 2, 2), .payload_kind = NVTXT_PAYLOAD_INT64,
         .payload = INT64_MIN},
        {KIT_EVENT(REPORT_MARK, 1, "d", 3, 3), .payload_kind = NVTXT_PAYLOAD_DOUBLE},
        {KIT_EVENT(REPORT_MARK, 1, "e", 4, 4), .payload_kind = NVTXT_PAYLOAD_DOUBLE},
        KIT_MARK(1, "f", 5),
    };
    struct report_model *model = report_kit_model(events, 6);
    model->capture->events[3].payload.real = 9007199254740992.0; // 2^53
    model->capture->events[4].payload.real = -1.5;
    static const struct {
        const char *text;
        size_t wanted;
    } rows[] = {
        {"> 0", 2},
        {"< 0", 3},
        {"= -1", 1},
        {"= 18446744073709551615", 1},
        {"!= -1", 4},
        {">-1", 2},
        {"<= -1", 3},
        {">= 9007199254740992", 2},
        {"= 9007199254740993", 0},
        {"=-1.5", 1},
        {"< -1.25", 2},
        {"= -9223372036854775808", 1},
        {"< 1e300", 5},
        {"> -1e300", 5},
        {">= 1.8446744073709552e19", 0},
        {"< 1.8446744073709552e19", 5},
        {" = -1.0 ", 1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t found = count_with(model, "payload", rows[i].text);
        cr_expect_eq(found, rows[i].wanted, "'%s': %zu", rows[i].text, found);
    }
    report_kit_free(model);
}

Test(report_filter, counts_last_from_until_or_now) {
    struct report_selection selection = {0};
    int64_t since, until;
    take(&selection, "last", "5ns");
    report_selection_span(&selection, 1000, &since, &until);
    cr_expect_eq(since, 995);
    cr_expect_eq(until, INT64_MAX);
    take(&selection, "until", "100");
    report_selection_span(&selection, 1000, &since, &until);
    cr_expect_eq(since, 95);
    cr_expect_eq(until, 100);
    report_selection_deinit(&selection);
}

Test(report_filter, refuses_options_that_exclude_each_other) {
    static const char *const pairs[][4] = {
        {"nvtx-domain-include", "a", "nvtx-domain-exclude", "b"},
        {"since", "5", "last", "5"},
        {"since", "5", "until", "4"},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        struct report_selection selection = {0};
        struct report_fault fault;
        take(&selection, pairs[i][0], pairs[i][1]);
        cr_expect_eq(report_selection_check(&selection, &fault), 0);
        take(&selection, pairs[i][2], pairs[i][3]);
        cr_expect_eq(report_selection_check(&selection, &fault), NVTXT_WRONG);
        report_selection_deinit(&selection);
    }
}

Test(report_filter, reads_markers_with_a_domain) {
    static const struct report_kit_event events[] = {
        KIT_RANGE(1, "a@b", 0, 10),    KIT_RANGE(1, "D:a", 20, 30), KIT_RANGE(1, "x@y:a", 40, 50),
        KIT_START_END(2, "a", 60, 60), KIT_MARK(3, "m", 5),         KIT_MARK(3, "m", 25),
        KIT_MARK(3, "m", 45),          KIT_MARK(3, "m", 60),        KIT_RANGE(1, "a", 70, 80),
    };
    struct report_model *model = report_kit_model(events, 9);
    cr_expect_eq(count_with(model, "within", "a\\@b"), 2);
    cr_expect_eq(count_with(model, "within", "a@D"), 2);
    cr_expect_eq(count_with(model, "within", "a@x\\@y"), 2);
    cr_expect_eq(count_with(model, "within", "a"), 1);
    cr_expect_eq(count_with(model, "within", "a@*"), 5);
    report_kit_free(model);
}
