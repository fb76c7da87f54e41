// SPDX-License-Identifier: Apache-2.0
//
// One walk over all metrics of a section serves whoever wants to see each of them.
#include "report/section/check.h"

#include "protocol/base/scan.h"
#include "report/select/filter.h"

struct walk {
    int (*visit)(void *context, const struct report_section_metric *metric,
                 enum report_metric_place place);
    void *context;
};

static int walk_list(const struct walk *walk, const struct report_list *metrics,
                     enum report_metric_place place) {
    int r = 0;
    for (size_t i = 0; i < metrics->count && r == 0; i++) {
        r = walk->visit(walk->context, metrics->items[i], place);
    }
    return r;
}

static int walk_timeline(const struct walk *walk, const struct report_timeline *timeline) {
    int r = 0;
    for (size_t i = 0; i < timeline->groups.count; i++) {
        const struct report_timeline_group *group = timeline->groups.items[i];
        for (size_t j = 0; j < group->rows.count && r == 0; j++) {
            const struct report_metric_row *row = group->rows.items[j];
            r = walk_list(walk, &row->metrics, REPORT_IN_BODY);
        }
    }
    return r;
}

static int walk_item(const struct walk *walk, const struct report_section_item *item) {
    const struct report_list *lists[] = {
        item->table ? &item->table->metrics : NULL,
        item->bar_chart ? &item->bar_chart->metrics : NULL,
        item->line_chart ? &item->line_chart->metrics : NULL,
        item->line_chart && item->line_chart->highlight_x ? &item->line_chart->highlight_x->metrics
                                                          : NULL,
        item->top_table ? &item->top_table->metrics : NULL,
    };
    int r = 0;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]) && r == 0; i++) {
        r = lists[i] ? walk_list(walk, lists[i], REPORT_IN_BODY) : 0;
    }
    if (r == 0 && item->histogram_chart && item->histogram_chart->metric) {
        r = walk->visit(walk->context, item->histogram_chart->metric, REPORT_IN_BODY);
    }
    return r == 0 && item->timeline ? walk_timeline(walk, item->timeline) : r;
}

static int walk_groups(const struct walk *walk, const struct report_list *groups) {
    int r = 0;
    for (size_t i = 0; i < groups->count && r == 0; i++) {
        const struct report_metric_group *group = groups->items[i];
        r = walk_list(walk, &group->metrics, REPORT_IN_GROUP);
    }
    return r;
}

int report_section_each_metric(const struct report_section *section,
                               int (*visit)(void *context,
                                            const struct report_section_metric *metric,
                                            enum report_metric_place place),
                               void *context) {
    struct walk walk = {visit, context};
    int r = section->header ? walk_list(&walk, &section->header->metrics, REPORT_IN_HEADER) : 0;
    for (size_t i = 0; i < section->bodies.count && r == 0; i++) {
        const struct report_section_body *body = section->bodies.items[i];
        for (size_t j = 0; j < body->items.count && r == 0; j++) {
            r = walk_item(&walk, body->items.items[j]);
        }
    }
    r = r ?: walk_groups(&walk, &section->metrics);
    return r ?: walk_groups(&walk, &section->source_metrics);
}

const char *report_metric_prefix(struct nvtxt_slice name, struct nvtxt_slice *rest) {
    static const char *const prefixes[] = {"regex:", "group:", "breakdown:", "pmsampling:"};
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        size_t len = strlen(prefixes[i]);
        if (name.len >= len && memcmp(name.data, prefixes[i], len) == 0) {
            *rest = (struct nvtxt_slice){name.data + len, name.len - len};
            return prefixes[i];
        }
    }
    *rest = name;
    return "";
}

bool report_is_identifier(struct nvtxt_slice text) {
    for (size_t i = 0; i < text.len; i++) {
        if (!nvtxt_char_is(text.data[i], NVTXT_CHAR_WORD) && text.data[i] != '-' &&
            text.data[i] != '.') {
            return false;
        }
    }
    return text.len > 0;
}

bool report_identifier_check(struct nvtxt_slice text, const char *file, struct report_place at,
                             struct report_messages *messages) {
    bool good = report_is_identifier(text);
    if (!good) {
        struct nvtxt_slice shown = nvtxt_slice_cut(text, 80);
        report_messages_add(messages, file, at, REPORT_FILE_ERROR, "bad-identifier",
                            "'%.*s' is no identifier: letters, digits, '_', '-' and '.' are",
                            (int)shown.len, shown.data);
    }
    return good;
}

struct check {
    const char *file;
    struct report_messages *messages;
};

static void check_identifier(const struct check *check, const struct report_scalar *identifier) {
    if (report_has(identifier)) {
        report_identifier_check(identifier->text, check->file, identifier->at, check->messages);
    }
}

static int check_regex(const struct check *check, const struct report_scalar *name,
                       struct nvtxt_slice pattern) {
    char sentence[REPORT_REGEX_SENTENCE];
    size_t offset;
    struct report_regex *regex;
    int r = report_regex_new(&regex, pattern, sentence, &offset);
    if (r > 0) {
        struct report_place at = report_place_in(name, (size_t)(pattern.data - name->text.data));
        at.column += name->plain ? (uint32_t)offset : 0;
        report_messages_add(check->messages, check->file, at, REPORT_FILE_ERROR, "bad-regex", "%s",
                            sentence);
    } else if (r == 0) {
        report_regex_free(regex);
    }
    return r < 0 ? r : 0;
}

static int check_name(const struct check *check, const struct report_scalar *name,
                      enum report_metric_place place) {
    struct nvtxt_slice rest;
    if (strcmp(report_metric_prefix(name->text, &rest), "regex:") != 0) {
        return 0;
    }
    if (place == REPORT_IN_BODY) {
        return check_regex(check, name, rest);
    }
    report_messages_add(check->messages, check->file, name->at, REPORT_FILE_ERROR, "regex-not-here",
                        "'regex:' is for tables and charts of a Body");
    return 0;
}

static int check_metric(void *context, const struct report_section_metric *metric,
                        enum report_metric_place place) {
    int r = report_has(&metric->name) ? check_name(context, &metric->name, place) : 0;
    for (size_t i = 0; i < metric->options.count && r == 0; i++) {
        const struct report_metric_option *option = metric->options.items[i];
        r = report_has(&option->name) ? check_name(context, &option->name, place) : 0;
    }
    return r;
}

static void check_size(const struct check *check, const struct report_scalar *size, int64_t least,
                       int64_t most) {
    if (report_has(size) && (size->integer < least || size->integer > most)) {
        report_messages_add(check->messages, check->file, size->at, REPORT_FILE_ERROR,
                            "number-out-of-range", "%lld to %lld are possible", (long long)least,
                            (long long)most);
    }
}

// Tables have at most a million cells; each row of a top table is looked for in all instances.
static void check_sizes(const struct check *check, const struct report_section_item *item) {
    if (item->table) {
        check_size(check, &item->table->columns, 1, 100);
        check_size(check, &item->table->rows, 0, 10000);
    }
    if (item->top_table) {
        check_size(check, &item->top_table->rows, 0, 10000);
    }
    if (item->histogram_chart && item->histogram_chart->histogram_axis) {
        check_size(check, &item->histogram_chart->histogram_axis->bin_count, 1, 10000);
    }
}

int report_section_check(const struct report_section *section, const char *file,
                         struct report_messages *messages) {
    struct check check = {file, messages};
    check_identifier(&check, &section->identifier);
    for (size_t i = 0; i < section->sets.count; i++) {
        const struct report_section_set *set = section->sets.items[i];
        check_identifier(&check, &set->identifier);
    }
    for (size_t i = 0; i < section->groups.count; i++) {
        const struct report_section_group *group = section->groups.items[i];
        check_identifier(&check, &group->identifier);
    }
    for (size_t i = 0; i < section->bodies.count; i++) {
        const struct report_section_body *body = section->bodies.items[i];
        for (size_t j = 0; j < body->items.count; j++) {
            check_sizes(&check, body->items.items[j]);
        }
    }
    return report_section_each_metric(section, check_metric, &check);
}

int report_item_check(struct report_section_item *item, const char *file,
                      struct report_messages *messages) {
    void *items[] = {item};
    struct report_section_body body = {.items = {.items = items, .count = 1}};
    void *bodies[] = {&body};
    const struct report_section section = {.bodies = {.items = bodies, .count = 1}};
    return report_section_check(&section, file, messages);
}
