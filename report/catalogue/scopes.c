// SPDX-License-Identifier: Apache-2.0
//
// The parts of a capture are the groups of its selected events by a key. The capture itself is one
// group that has them all.
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "report/catalogue/group.h"

struct report_scopes {
    struct store_arena arena;
    struct report_scope *scopes; // of the arena
    size_t count;
};

static const struct {
    const char *word;
    enum report_key key;
} kinds[] = {
    [REPORT_SCOPE_CAPTURE] = {"capture", REPORT_KEY_NONE},
    [REPORT_SCOPE_PROCESS] = {"process", REPORT_KEY_PROCESS},
    [REPORT_SCOPE_THREAD] = {"thread", REPORT_KEY_THREAD},
    [REPORT_SCOPE_NAME] = {"name", REPORT_KEY_NAME},
    [REPORT_SCOPE_ITERATION] = {"iteration", REPORT_KEY_ITERATION},
    [REPORT_SCOPE_RESULT] = {"result", REPORT_KEY_NONE},
};

static const uint32_t *selected_events(struct report_scopes *scopes,
                                       const struct report_model *model, size_t *count) {
    uint32_t *events = store_arena_take(&scopes->arena, (model->count + 1) * sizeof(*events), 4);
    *count = 0;
    for (size_t i = 0; events && i < model->count; i++) {
        if (model->capture->events[i].flags & REPORT_SELECTED) {
            events[(*count)++] = (uint32_t)i;
        }
    }
    return events;
}

static int add_scopes(struct report_scopes *scopes, enum report_scope_kind kind,
                      const struct report_key_groups *groups) {
    scopes->scopes =
        store_arena_take(&scopes->arena, (groups->count + 1) * sizeof(*scopes->scopes), 8);
    if (!scopes->scopes) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < groups->count; i++) {
        if (groups->starts[i] == groups->starts[i + 1]) {
            continue;
        }
        scopes->scopes[scopes->count++] = (struct report_scope){
            .kind = kind,
            .kind_word = kinds[kind].word,
            .has_id = true,
            .id = groups->ids[i],
            .events = groups->items + groups->starts[i],
            .event_count = groups->starts[i + 1] - groups->starts[i],
        };
    }
    return 0;
}

static int fill_scopes(struct report_scopes *scopes, struct report_model *model,
                       enum report_scope_kind kind) {
    size_t count;
    const uint32_t *events = selected_events(scopes, model, &count);
    if (!events) {
        return nvtxt_origin(-ENOMEM);
    }
    if (kind != REPORT_SCOPE_CAPTURE) {
        struct report_key_groups groups;
        int r = report_group(&groups, model, events, count, kinds[kind].key, &scopes->arena);
        return r ?: add_scopes(scopes, kind, &groups);
    }
    scopes->scopes = store_arena_make(&scopes->arena, sizeof(*scopes->scopes));
    if (!scopes->scopes) {
        return nvtxt_origin(-ENOMEM);
    }
    scopes->scopes[0] = (struct report_scope){
        .kind = kind, .kind_word = kinds[kind].word, .events = events, .event_count = count};
    scopes->count = 1;
    return 0;
}

int report_scopes_new(struct report_scopes **scopes, struct report_model *model,
                      enum report_scope_kind kind) {
    *scopes = calloc(1, sizeof(**scopes));
    int r = *scopes ? fill_scopes(*scopes, model, kind) : nvtxt_origin(-ENOMEM);
    if (r) {
        report_scopes_free(*scopes);
        *scopes = NULL;
    }
    return r;
}

int report_scopes_of_results(struct report_scopes **scopes,
                             const struct report_given *const *results, size_t count) {
    struct report_scopes *made = calloc(1, sizeof(*made));
    *scopes = NULL;
    if (made) {
        made->scopes = store_arena_make(&made->arena, (count + 1) * sizeof(*made->scopes));
    }
    if (!made || !made->scopes) {
        report_scopes_free(made);
        return nvtxt_origin(-ENOMEM);
    }
    for (; made->count < count; made->count++) {
        made->scopes[made->count] = (struct report_scope){
            .kind = REPORT_SCOPE_RESULT,
            .kind_word = kinds[REPORT_SCOPE_RESULT].word,
            .has_id = true,
            .id = {.number = results[made->count]->number},
            .given = results[made->count],
        };
    }
    *scopes = made;
    return 0;
}

void report_scopes_free(struct report_scopes *scopes) {
    if (scopes) {
        store_arena_deinit(&scopes->arena);
        free(scopes);
    }
}

size_t report_scopes_count(const struct report_scopes *scopes) {
    return scopes->count;
}

const struct report_scope *report_scopes_at(const struct report_scopes *scopes, size_t index) {
    return &scopes->scopes[index];
}
