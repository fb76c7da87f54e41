// SPDX-License-Identifier: Apache-2.0
//
// A table has one row an option, with the function that reads its value. Each value is copied
// first: what is read from it are views of the copy.
#include "report/select/selection.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/base/limits.h"
#include "protocol/base/origin.h"
#include "protocol/base/scan.h"
#include "protocol/table/arrays.h"
#include "protocol/text/forms.h"
#include "report/select/filter.h"

// ---- Lists --------------------------------------------------------------------------------------

#define ADD(selection, list)                                                                       \
    nvtxt_add(&(selection)->list, &(selection)->list##_count, sizeof(*(selection)->list))

static char *copy_text(struct report_selection *selection, const char *text) {
    char *copy = strdup(text);
    char **place = copy ? ADD(selection, texts) : NULL;
    if (!place) {
        free(copy);
        return NULL;
    }
    return *place = copy;
}

static void free_filters(struct report_filter **filters, size_t count) {
    for (size_t i = 0; i < count; i++) {
        report_filter_free(filters[i]);
    }
    free(filters);
}

void report_selection_deinit(struct report_selection *selection) {
    free_filters(selection->includes, selection->includes_count);
    free_filters(selection->excludes, selection->excludes_count);
    for (size_t i = 0; i < selection->texts_count; i++) {
        free(selection->texts[i]);
    }
    report_regex_free(selection->match);
    free(selection->domain_includes);
    free(selection->domain_excludes);
    free(selection->within);
    free(selection->pids);
    free(selection->tids);
    free(selection->sources);
    free(selection->categories);
    free(selection->colors);
    free(selection->payloads);
    free(selection->texts);
    *selection = (struct report_selection){0};
}

// ---- Values -------------------------------------------------------------------------------------

struct value {
    struct report_selection *selection;
    char *text; // a copy of the selection's
    void *at;   // the field
    struct report_fault *fault;
};

#define WRONG(value, ...) (report_fault_set((value)->fault, 0, __VA_ARGS__), NVTXT_WRONG)

static int take_filter(struct value *value) {
    bool include = value->at == &value->selection->includes;
    struct report_filter *filter;
    int r = report_filter_parse(&filter, nvtxt_slice_of(value->text), value->fault);
    if (r != 0) {
        return r;
    }
    struct report_filter **place =
        include ? ADD(value->selection, includes) : ADD(value->selection, excludes);
    if (!place) {
        report_filter_free(filter);
        return nvtxt_origin(-ENOMEM);
    }
    *place = filter;
    return 0;
}

static int take_domains(struct value *value) {
    bool include = value->at == &value->selection->domain_includes;
    int r = 0;
    for (char *at = value->text; at && r == 0;) {
        struct nvtxt_slice domain;
        r = report_domain_next(value->text, &at, &domain, value->fault);
        if (r == 0) {
            struct nvtxt_slice *place = include ? ADD(value->selection, domain_includes)
                                                : ADD(value->selection, domain_excludes);
            if (!place) {
                return nvtxt_origin(-ENOMEM);
            }
            *place = domain;
        }
    }
    return r;
}

// The text of a marker is what messages quote, so another copy is changed.
static int read_marker(struct value *value, struct report_marker *marker) {
    char *copy = copy_text(value->selection, value->text);
    *marker = (struct report_marker){.text = value->text};
    return copy ? report_marker_parse(copy, marker, value->fault) : nvtxt_origin(-ENOMEM);
}

static int take_within(struct value *value) {
    if (strcmp(value->text, "none") == 0) {
        value->selection->within_none = true;
        return 0;
    }
    struct report_marker marker;
    int r = read_marker(value, &marker);
    struct report_marker *place = r == 0 ? ADD(value->selection, within) : NULL;
    if (!place) {
        return r ?: nvtxt_origin(-ENOMEM);
    }
    *place = marker;
    return 0;
}

static int take_iterations(struct value *value) {
    value->selection->has_iterations = true;
    return read_marker(value, value->at);
}

static int take_time(struct value *value) {
    return nvtxt_time_parse(value->text, value->at)
               ? 0
               : WRONG(value, "no time, such as 2026-11-21T06:24:00Z, @1795242240 or nanoseconds");
}

static int take_length(struct value *value) {
    return nvtxt_duration_parse(value->text, value->at)
               ? 0
               : WRONG(value, "no length of time, such as 90s, 5m or 1.5h");
}

// Decimal, or hexadecimal after 0x.
static bool read_number(const char *text, uint64_t *number) {
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    text += hex ? 2 : 0;
    const char *begin = text;
    *number = 0;
    for (; nvtxt_char_is(*text, hex ? NVTXT_CHAR_HEX : NVTXT_CHAR_DIGIT); text++) {
        if (__builtin_mul_overflow(*number, hex ? 16u : 10u, number) ||
            __builtin_add_overflow(*number, nvtxt_hex_digit(*text), number)) {
            return false;
        }
    }
    return text > begin && !*text;
}

static int take_id(struct value *value) {
    bool is_pid = value->at == &value->selection->pids;
    uint64_t number;
    if (!read_number(value->text, &number) || number > NVTXT_ID_MAX) {
        return WRONG(value, "no number from 0 to 16777215");
    }
    uint32_t *place = is_pid ? ADD(value->selection, pids) : ADD(value->selection, tids);
    if (!place) {
        return nvtxt_origin(-ENOMEM);
    }
    *place = (uint32_t)number;
    return 0;
}

static int take_word(struct value *value) {
    bool is_source = value->at == &value->selection->sources;
    uint64_t number = 0;
    bool is_number = read_number(value->text, &number) && number <= INT64_MAX;
    if (!*value->text) {
        return WRONG(value, "a name or a number is missing");
    }
    struct report_word *place =
        is_source ? ADD(value->selection, sources) : ADD(value->selection, categories);
    if (!place) {
        return nvtxt_origin(-ENOMEM);
    }
    *place = (struct report_word){value->text, is_number, is_number ? (int64_t)number : 0};
    return 0;
}

static const char *const kinds[] = {
    [REPORT_MARK] = "mark",
    [REPORT_PUSH_POP] = "push/pop",
    [REPORT_START_END] = "start/end",
};

static const char *kind_name(const void *context, size_t index) {
    (void)context;
    return index < sizeof(kinds) / sizeof(kinds[0]) ? kinds[index] : NULL;
}

static int take_kind(struct value *value) {
    for (size_t i = 0; kind_name(NULL, i); i++) {
        if (strcmp(value->text, kinds[i]) == 0) {
            value->selection->kinds |= 1u << i;
            return 0;
        }
    }
    const char *near = nvtxt_near(nvtxt_slice_of(value->text), kind_name, NULL);
    return WRONG(value, "there is no such kind; there are mark, push/pop and start/end%s%s%s",
                 near ? "; did you mean '" : "", near ?: "", near ? "'?" : "");
}

static int take_color(struct value *value) {
    uint64_t number;
    uint32_t color;
    struct nvtxt_slice text = nvtxt_slice_of(value->text);
    if (read_number(value->text, &number) && number <= UINT32_MAX) {
        color = (uint32_t)number;
    } else if (!nvtxt_color_parse(text, &color)) {
        const char *near = nvtxt_near(text, nvtxt_color_name, NULL);
        return WRONG(value, "no colour, such as Blue, #0000FF, #FF0000FF or 0xFF0000FF%s%s%s",
                     near ? "; did you mean '" : "", near ?: "", near ? "'?" : "");
    }
    uint32_t *place = ADD(value->selection, colors);
    if (!place) {
        return nvtxt_origin(-ENOMEM);
    }
    *place = color;
    return 0;
}

static int take_level(struct value *value) {
    struct nvtxt_slice text = nvtxt_slice_of(value->text);
    return nvtxt_level_span_parse(text, value->at)
               ? 0
               : WRONG(value, "there is no such level; " NVTXT_LEVELS_THERE);
}

static int take_match(struct value *value) {
    struct report_selection *selection = value->selection;
    char sentence[REPORT_REGEX_SENTENCE];
    size_t offset;
    if (selection->match) {
        return WRONG(value, "can be given once; 'a|b' matches both");
    }
    selection->match_text = value->text;
    int r = report_regex_new(&selection->match, nvtxt_slice_of(value->text), sentence, &offset);
    if (r > 0) {
        report_fault_set(value->fault, offset > 0 ? offset : 1, "%s", sentence);
        return NVTXT_WRONG;
    }
    return r;
}

static int take_payload(struct value *value) {
    struct report_payload_condition condition = {.text = value->text};
    int r = report_payload_parse(nvtxt_slice_of(value->text), &condition, value->fault);
    struct report_payload_condition *place = r == 0 ? ADD(value->selection, payloads) : NULL;
    if (!place) {
        return r ?: nvtxt_origin(-ENOMEM);
    }
    *place = condition;
    return 0;
}

static int take_count(struct value *value) {
    return read_number(value->text, value->at) ? 0 : WRONG(value, "no number from 0");
}

static int take_flag(struct value *value) {
    *(bool *)value->at = true;
    return 0;
}

// ---- Options ------------------------------------------------------------------------------------

#define AT(field) offsetof(struct report_selection, field)

static const struct row {
    const char *name;
    size_t at, has; // the field, and a bool that becomes true; 0: none
    int (*take)(struct value *value);
} rows[] = {
    {"nvtx-include", AT(includes), 0, take_filter},
    {"nvtx-exclude", AT(excludes), 0, take_filter},
    {"nvtx-domain-include", AT(domain_includes), 0, take_domains},
    {"nvtx-domain-exclude", AT(domain_excludes), 0, take_domains},
    {"within", AT(within), 0, take_within},
    {"since", AT(since_ns), AT(has_since), take_time},
    {"until", AT(until_ns), AT(has_until), take_time},
    {"last", AT(last_ns), AT(has_last), take_length},
    {"pid", AT(pids), 0, take_id},
    {"tid", AT(tids), 0, take_id},
    {"source", AT(sources), 0, take_word},
    {"kind", AT(kinds), 0, take_kind},
    {"category", AT(categories), 0, take_word},
    {"color", AT(colors), 0, take_color},
    {"level", AT(level), AT(has_level), take_level},
    {"match", AT(match), 0, take_match},
    {"payload", AT(payloads), 0, take_payload},
    {"min-duration", AT(min_ns), AT(has_min), take_length},
    {"max-duration", AT(max_ns), AT(has_max), take_length},
    {"iterations", AT(iterations), 0, take_iterations},
    {"skip-iterations", AT(skip_iterations), 0, take_count},
    {"expect-some", AT(expect_some), 0, take_flag},
    {0},
};

int report_selection_take(struct report_selection *selection, const char *option, const char *text,
                          struct report_fault *fault) {
    const struct row *row = rows;
    while (row->name && strcmp(row->name, option) != 0) {
        row++;
    }
    *fault = (struct report_fault){.option = row->name, .text = nvtxt_slice_of(text)};
    if (!row->name) {
        return nvtxt_origin(-EINVAL);
    }
    struct value value = {selection, copy_text(selection, text ?: ""), (char *)selection + row->at,
                          fault};
    if (!value.text) {
        return nvtxt_origin(-ENOMEM);
    }
    int r = row->take(&value);
    if (r == 0 && row->has > 0) {
        *(bool *)((char *)selection + row->has) = true;
    }
    return r;
}

int report_selection_check(const struct report_selection *selection, struct report_fault *fault) {
    *fault = (struct report_fault){0};
    const char *sentence = NULL;
    if (selection->domain_includes_count > 0 && selection->domain_excludes_count > 0) {
        sentence = "--nvtx-domain-include and --nvtx-domain-exclude exclude each other";
    } else if (selection->has_since && selection->has_last) {
        sentence = "--since and --last say the same: give one of them";
    } else if (selection->has_since && selection->has_until &&
               selection->since_ns > selection->until_ns) {
        sentence = "--since is later than --until";
    }
    if (!sentence) {
        return 0;
    }
    report_fault_set(fault, 0, "%s", sentence);
    return NVTXT_WRONG;
}

void report_selection_span(const struct report_selection *selection, int64_t now_ns,
                           int64_t *since_ns, int64_t *until_ns) {
    *since_ns = selection->has_since ? selection->since_ns : INT64_MIN;
    *until_ns = selection->has_until ? selection->until_ns : INT64_MAX;
    int64_t end = selection->has_until ? selection->until_ns : now_ns;
    if (selection->has_last && __builtin_sub_overflow(end, selection->last_ns, since_ns)) {
        *since_ns = INT64_MIN;
    }
}

bool report_selection_looks_at_values(const struct report_selection *selection) {
    return selection->categories_count + selection->colors_count + selection->payloads_count > 0 ||
           selection->has_level;
}

bool report_selection_looks_at_events(const struct report_selection *selection) {
    const struct report_selection *s = selection;
    return s->includes_count + s->excludes_count + s->domain_includes_count +
                   s->domain_excludes_count + s->pids_count + s->tids_count + s->categories_count +
                   s->colors_count + s->payloads_count >
               0 ||
           (s->within_count > 0 && !s->within_none) || s->kinds != 0 || s->match || s->has_min ||
           s->has_max || s->has_level;
}

bool report_selection_is_all(const struct report_selection *selection) {
    const struct report_selection *s = selection;
    return !report_selection_looks_at_events(s) && s->sources_count == 0 && !s->has_since &&
           !s->has_until && !s->has_last;
}
