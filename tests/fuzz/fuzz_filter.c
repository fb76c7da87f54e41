// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as options of a selection, one a line: its name, '=', its value. A fault has a place in
// the value. What can be read is applied to a few events.
#include "tests/fuzz/replay.h"

#include <string.h>

#include "report/model/model.h"

#define EVENT(kind_, thread_, name_, start_, end_)                                                 \
    {                                                                                              \
        .kind = (kind_), .thread = (thread_), .name = (name_), .start = (start_), .end = (end_),   \
        .row = (start_), .source = REPORT_NONE, .more = REPORT_NONE,                               \
    }

static struct nvtxt_slice messages[] = {
    NVTXT_SLICE("step"),
    NVTXT_SLICE("load"),
    NVTXT_SLICE("a/b"),
    NVTXT_SLICE("\xff\xc3\xa4["),
    NVTXT_SLICE("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"),
};
static struct nvtxt_slice domains[] = {NVTXT_SLICE(""), NVTXT_SLICE("D")};
static struct report_name names[] = {{0, 0}, {0, 1}, {0, 2}, {1, 3}, {1, 0}, {0, 4}};
static struct report_process processes[] = {{.pid = 1}};
static struct report_thread threads[] = {{.global_tid = 1 << 24 | 1}, {.global_tid = 1 << 24 | 2}};
static struct report_domain_scope scopes[] = {{0, 0, 0}};
static struct report_category categories[] = {{0, 7, NVTXT_SLICE("io")}};
static struct report_store stores[] = {{.path = NVTXT_SLICE("store"), .ours = true}};
static struct report_source sources[] = {{.id = 1, .name = NVTXT_SLICE("source")}};

static struct report_event events[] = {
    EVENT(REPORT_PUSH_POP, 0, 0, 0, 100), EVENT(REPORT_PUSH_POP, 0, 1, 10, 50),
    EVENT(REPORT_PUSH_POP, 0, 2, 40, 90), EVENT(REPORT_PUSH_POP, 0, 4, 40, 40),
    EVENT(REPORT_START_END, 1, 1, 5, 40), EVENT(REPORT_START_END, 1, 3, 40, 40),
    EVENT(REPORT_MARK, 0, 5, 40, 40),     EVENT(REPORT_MARK, 1, 1, 60, 60),
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void apply(const struct report_selection *selection) {
    struct report_event ordered[COUNT(events)];
    memcpy(ordered, events, sizeof(events));
    struct report_capture capture = {
        .stores = stores,
        .store_count = COUNT(stores),
        .events = ordered,
        .event_count = COUNT(events),
        .messages = messages,
        .message_count = COUNT(messages),
        .names = names,
        .name_count = COUNT(names),
        .domains = domains,
        .domain_count = COUNT(domains),
        .scopes = scopes,
        .scope_count = COUNT(scopes),
        .processes = processes,
        .process_count = COUNT(processes),
        .threads = threads,
        .thread_count = COUNT(threads),
        .categories = categories,
        .category_count = COUNT(categories),
        .sources = sources,
        .source_count = COUNT(sources),
        .last_ns = 100,
    };
    struct report_model *model;
    struct report_fault fault;
    struct nvtxt_buf text = {0};
    int64_t since, until;
    must(report_model_build(&model, &capture) == 0);
    report_selection_span(selection, 1000, &since, &until);
    int result = report_select(model, selection, since, until, &text, &fault);
    must(result == 0 || result == NVTXT_WRONG);
    must(model->selected <= COUNT(events));
    must(text.len == 0 || text.data[text.len - 1] == '\n');
    if (result != 0) {
        must(fault.column <= fault.text.len + 1);
        report_fault_write(&fault, &text);
    }
    nvtxt_buf_deinit(&text);
    report_model_free(model);
}

static void take(struct report_selection *selection, char *line) {
    struct report_fault fault;
    struct nvtxt_buf message = {0};
    char *value = strchr(line, '=');
    if (!value) {
        return;
    }
    *value++ = '\0';
    int result = report_selection_take(selection, line, value, &fault);
    if (result == NVTXT_WRONG) {
        must(fault.column <= strlen(value) + 1 && fault.sentence[0] != '\0');
        report_fault_write(&fault, &message);
        must(message.len > strlen(line));
        nvtxt_buf_deinit(&message);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct report_selection selection = {0};
    char *text = malloc(size + 1);
    must(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next) {
            *next++ = '\0';
        }
        take(&selection, line);
    }
    apply(&selection);
    report_selection_deinit(&selection);
    free(text);
    return 0;
}
