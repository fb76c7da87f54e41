// SPDX-License-Identifier: Apache-2.0
//
// What depends on a message, a domain, a thread or a source only is found out once for each. Ranges
// of --within need one number while the events go by: the latest end of those that have started.
#include "report/select/conditions.h"

#include <stdio.h>
#include <stdlib.h>

#include "protocol/base/clock.h"
#include "protocol/base/origin.h"
#include "report/select/filter.h"

// ---- Domains, threads ---------------------------------------------------------------------------

static bool has_domain(const struct nvtxt_slice *list, size_t count, struct nvtxt_slice name) {
    for (size_t i = 0; i < count; i++) {
        if (nvtxt_slice_equal(list[i], name)) {
            return true;
        }
    }
    return false;
}

static void look_at_domains(struct report_conditions *conditions) {
    const struct report_selection *selection = conditions->selection;
    for (size_t i = 0; i < conditions->capture->domain_count; i++) {
        struct nvtxt_slice name = conditions->capture->domains[i];
        bool fits =
            (selection->domain_includes_count == 0 ||
             has_domain(selection->domain_includes, selection->domain_includes_count, name)) &&
            !has_domain(selection->domain_excludes, selection->domain_excludes_count, name);
        conditions->domains[i] = fits ? REPORT_FITS_DOMAINS : 0;
    }
}

static bool has_number(const uint32_t *list, size_t count, uint32_t number) {
    for (size_t i = 0; i < count; i++) {
        if (list[i] == number) {
            return true;
        }
    }
    return count == 0;
}

static void look_at_threads(struct report_conditions *conditions) {
    const struct report_selection *selection = conditions->selection;
    const struct report_capture *capture = conditions->capture;
    for (size_t i = 0; i < capture->thread_count; i++) {
        const struct report_thread *thread = &capture->threads[i];
        bool pid = has_number(selection->pids, selection->pids_count,
                              capture->processes[thread->process].pid);
        bool tid = has_number(selection->tids, selection->tids_count, report_tid(thread));
        conditions->threads[i] =
            (uint16_t)((pid ? REPORT_FITS_PIDS : 0) | (tid ? REPORT_FITS_TIDS : 0));
    }
}

static void look_at_stores(struct report_conditions *conditions, int64_t since_ns,
                           int64_t until_ns) {
    for (size_t i = 0; i < conditions->capture->store_count; i++) {
        int64_t base = conditions->capture->stores[i].utc_base_ns;
        conditions->since_ns[i] =
            since_ns == INT64_MIN ? since_ns : nvtxt_time_minus(since_ns, base);
        conditions->until_ns[i] =
            until_ns == INT64_MAX ? until_ns : nvtxt_time_minus(until_ns, base);
    }
}

// ---- Sources ------------------------------------------------------------------------------------

// Whether a source bears the word: its id, name, display name, or the name of its process.
static bool is_word_of(const struct report_source *source, const struct report_word *word) {
    struct nvtxt_slice text = nvtxt_slice_of(word->text);
    return (word->is_number && word->number == source->id) ||
           (source->name.data && nvtxt_slice_equal(source->name, text)) ||
           (source->display_name.data && nvtxt_slice_equal(source->display_name, text)) ||
           (source->peer_comm.data && nvtxt_slice_equal(source->peer_comm, text));
}

// The names of sources as nvtxt_near() asks for them: three of each.
struct source_names {
    const struct report_capture *capture;
    char (*texts)[64];
};

static const char *source_name(const void *context, size_t index) {
    const struct source_names *names = context;
    size_t source = index / 3;
    if (source >= names->capture->source_count) {
        return NULL;
    }
    const struct report_source *of = &names->capture->sources[source];
    struct nvtxt_slice name = index % 3 == 0   ? of->name
                              : index % 3 == 1 ? of->display_name
                                               : of->peer_comm;
    if (name.len >= sizeof(names->texts[0])) {
        return "";
    }
    snprintf(names->texts[index], sizeof(names->texts[0]), "%.*s", (int)name.len, name.data ?: "");
    return names->texts[index];
}

static int refuse_source(const struct report_conditions *conditions, const struct report_word *word,
                         struct report_fault *fault) {
    const struct report_capture *capture = conditions->capture;
    struct source_names names = {capture, calloc(3 * capture->source_count + 1, 64)};
    if (!names.texts) {
        return nvtxt_origin(-ENOMEM);
    }
    *fault = (struct report_fault){.option = "source", .text = nvtxt_slice_of(word->text)};
    const char *near = nvtxt_near(fault->text, source_name, &names);
    int len = snprintf(fault->sentence, sizeof(fault->sentence), "there is no such source%s%s%s",
                       near ? ", did you mean '" : "", near ?: "", near ? "'?" : "");
    // A few of those that are there.
    size_t room = sizeof(fault->sentence), count = 0;
    for (size_t i = 0; !near && i < capture->source_count && count < 5; i++, count++) {
        struct nvtxt_slice name = capture->sources[i].name;
        name = name.data ? name : capture->sources[i].display_name;
        size_t at = (size_t)len;
        if (at + name.len + 40 < room) {
            len += snprintf(fault->sentence + at, room - at, "%s%lld%s%.*s%s",
                            count == 0 ? "; there are " : ", ", (long long)capture->sources[i].id,
                            name.len > 0 ? " '" : "", (int)name.len, name.len > 0 ? name.data : "",
                            name.len > 0 ? "'" : "");
        }
    }
    if (capture->source_count == 0) {
        snprintf(fault->sentence + len, room - (size_t)len, "; there are none");
    } else if (!near && capture->source_count > count) {
        snprintf(fault->sentence + len, room - (size_t)len, " and others");
    }
    free(names.texts);
    return NVTXT_WRONG;
}

static int look_at_sources(struct report_conditions *conditions, bool part,
                           struct report_fault *fault) {
    const struct report_selection *selection = conditions->selection;
    const struct report_capture *capture = conditions->capture;
    for (size_t i = 0; i < selection->sources_count; i++) {
        bool found = false;
        for (size_t j = 0; j < capture->source_count; j++) {
            if (is_word_of(&capture->sources[j], &selection->sources[i])) {
                conditions->sources[j] = 1;
                found = true;
            }
        }
        if (!found && !part) {
            return refuse_source(conditions, &selection->sources[i], fault);
        }
    }
    return 0;
}

// ---- Messages -----------------------------------------------------------------------------------

static int look_at_messages(struct report_conditions *conditions, struct report_fault *fault) {
    const struct report_selection *selection = conditions->selection;
    const struct report_capture *capture = conditions->capture;
    if (!selection->match) {
        return 0;
    }
    conditions->messages = calloc(capture->message_count + 1, 1);
    for (size_t i = 0; conditions->messages && i < capture->message_count; i++) {
        int r = report_regex_search(selection->match, capture->messages[i]);
        if (r == REPORT_REGEX_COSTLY) {
            *fault = (struct report_fault){.option = "match",
                                           .text = nvtxt_slice_of(selection->match_text)};
            report_fault_set(fault, 1, "too costly: it takes too many steps");
            return NVTXT_WRONG;
        }
        if (r < 0) {
            return r;
        }
        conditions->messages[i] = r == REPORT_REGEX_YES;
    }
    return conditions->messages ? 0 : nvtxt_origin(-ENOMEM);
}

static bool is_marker(const struct report_capture *capture, const struct report_marker *marker,
                      const struct report_name *name) {
    return nvtxt_slice_equal(marker->name, capture->messages[name->message]) &&
           (marker->any_domain ||
            nvtxt_slice_equal(marker->domain, capture->domains[name->domain]));
}

static int look_at_names(struct report_conditions *conditions) {
    const struct report_selection *selection = conditions->selection;
    const struct report_capture *capture = conditions->capture;
    if (selection->within_count == 0 || selection->within_none) {
        return 0;
    }
    conditions->names = calloc(capture->name_count + 1, 1);
    for (size_t i = 0; conditions->names && i < capture->name_count; i++) {
        for (size_t j = 0; j < selection->within_count; j++) {
            conditions->names[i] |= is_marker(capture, &selection->within[j], &capture->names[i]);
        }
    }
    return conditions->names ? 0 : nvtxt_origin(-ENOMEM);
}

// ---- The whole ----------------------------------------------------------------------------------

int report_conditions_init(struct report_conditions *conditions,
                           const struct report_capture *capture,
                           const struct report_selection *selection, int64_t since_ns,
                           int64_t until_ns, bool part, struct report_fault *fault) {
    *conditions = (struct report_conditions){
        .capture = capture,
        .selection = selection,
        .since_ns = calloc(capture->store_count + 1, sizeof(*conditions->since_ns)),
        .until_ns = calloc(capture->store_count + 1, sizeof(*conditions->until_ns)),
        .domains = calloc(capture->domain_count + 1, sizeof(*conditions->domains)),
        .threads = calloc(capture->thread_count + 1, sizeof(*conditions->threads)),
        .sources = calloc(capture->source_count + 1, sizeof(*conditions->sources)),
        .within_until = INT64_MIN,
    };
    if (!conditions->since_ns || !conditions->until_ns || !conditions->domains ||
        !conditions->threads || !conditions->sources) {
        return nvtxt_origin(-ENOMEM);
    }
    look_at_stores(conditions, since_ns, until_ns);
    look_at_domains(conditions);
    look_at_threads(conditions);
    int r = look_at_sources(conditions, part, fault);
    r = r ?: look_at_messages(conditions, fault);
    return r ?: look_at_names(conditions);
}

void report_conditions_deinit(struct report_conditions *conditions) {
    free(conditions->since_ns);
    free(conditions->until_ns);
    free(conditions->domains);
    free(conditions->threads);
    free(conditions->sources);
    free(conditions->names);
    free(conditions->messages);
    *conditions = (struct report_conditions){0};
}

// ---- Events -------------------------------------------------------------------------------------

static bool fits_within(struct report_conditions *conditions, size_t event) {
    if (!conditions->names) {
        return true;
    }
    const struct report_event *events = conditions->capture->events;
    int64_t now = events[event].start;
    size_t *at = &conditions->at;
    for (; *at < conditions->capture->event_count && events[*at].start <= now; ++*at) {
        if (conditions->names[events[*at].name] && report_is_range(&events[*at]) &&
            events[*at].end > conditions->within_until) {
            conditions->within_until = events[*at].end;
        }
    }
    return now < conditions->within_until;
}

static bool is_category(const struct report_conditions *conditions,
                        const struct report_event *event) {
    const struct report_selection *selection = conditions->selection;
    struct nvtxt_slice name =
        report_category_name(conditions->capture, event->scope, event->category);
    for (size_t i = 0; i < selection->categories_count; i++) {
        const struct report_word *word = &selection->categories[i];
        if (word->is_number ? word->number == (int64_t)event->category
                            : name.data && nvtxt_slice_equal(name, nvtxt_slice_of(word->text))) {
            return true;
        }
    }
    return false;
}

// Most events are of the category of the one before.
static bool fits_category(struct report_conditions *conditions, const struct report_event *event) {
    if (conditions->selection->categories_count == 0) {
        return true;
    }
    if (!conditions->has_category || conditions->scope != event->scope ||
        conditions->category != event->category) {
        conditions->has_category = true;
        conditions->scope = event->scope;
        conditions->category = event->category;
        conditions->category_fits = is_category(conditions, event);
    }
    return conditions->category_fits;
}

static bool fits_payload(const struct report_selection *selection,
                         const struct report_event *event) {
    for (size_t i = 0; i < selection->payloads_count; i++) {
        if (!report_payload_fits(&selection->payloads[i], event)) {
            return false;
        }
    }
    return true;
}

// An open range is as long as it has been open.
static bool fits_duration(const struct report_selection *selection,
                          const struct report_event *event) {
    if (!selection->has_min && !selection->has_max) {
        return true;
    }
    uint64_t length = (uint64_t)event->end - (uint64_t)event->start;
    return report_is_range(event) &&
           (!selection->has_min || length >= (uint64_t)selection->min_ns) &&
           (!selection->has_max || length <= (uint64_t)selection->max_ns);
}

// Only a mark of a source with levels can have one.
static bool fits_level(const struct report_conditions *conditions,
                       const struct report_event *event) {
    const struct report_selection *selection = conditions->selection;
    return !selection->has_level ||
           nvtxt_level_span_has(&selection->level, report_line_level(conditions->capture, event));
}

unsigned report_conditions_fit(struct report_conditions *conditions, size_t index) {
    const struct report_selection *selection = conditions->selection;
    const struct report_capture *capture = conditions->capture;
    const struct report_event *event = &capture->events[index];
    const struct report_name *name = &capture->names[event->name];
    bool in_span = event->end >= conditions->since_ns[event->store] &&
                   event->start <= conditions->until_ns[event->store];
    bool source = selection->sources_count == 0 ||
                  (event->source != REPORT_NONE && conditions->sources[event->source]);
    bool kind = selection->kinds == 0 || (selection->kinds >> event->kind & 1);
    bool color = has_number(selection->colors, selection->colors_count, event->color);
    bool match = !conditions->messages || conditions->messages[name->message];
    return conditions->domains[name->domain] | conditions->threads[event->thread] |
           (fits_within(conditions, index) ? REPORT_FITS_WITHIN : 0u) |
           (in_span ? REPORT_FITS_SPAN : 0u) | (source ? REPORT_FITS_SOURCES : 0u) |
           (kind ? REPORT_FITS_KINDS : 0u) | (color ? REPORT_FITS_COLORS : 0u) |
           (match ? REPORT_FITS_MATCH : 0u) |
           (fits_category(conditions, event) ? REPORT_FITS_CATEGORIES : 0u) |
           (fits_payload(selection, event) ? REPORT_FITS_PAYLOADS : 0u) |
           (fits_level(conditions, event) ? REPORT_FITS_LEVEL : 0u) |
           (fits_duration(selection, event) ? REPORT_FITS_DURATIONS : 0u);
}
