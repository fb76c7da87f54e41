// SPDX-License-Identifier: Apache-2.0
//
// The frame of a use: what the process is to do, what a file says of itself, and the end. After the
// last request there is no reply: the process is ended.
#include <string.h>

#include "protocol/base/origin.h"
#include "report/host/exchange.h"
#include "report/host/use.h"
#include "report/section/check.h"
#include "store/value/arena.h"

int report_use_done(struct report_request *request, struct nvtxt_out *out) {
    report_request_begin(request, out);
    report_request_end(request);
    return 0;
}

int report_use_text(struct report_request *request, const char *name, struct nvtxt_slice *text) {
    const json_t *value = report_request_param(request, name);
    *text = (struct nvtxt_slice){0};
    if (value && !json_is_string(value)) {
        return report_request_refuse(request, REPORT_BAD_PARAMS, "'%s' is not a text", name);
    }
    if (value) {
        *text = (struct nvtxt_slice){json_string_value(value), json_string_length(value)};
    }
    return 0;
}

static int run_begin(struct report_use *use, struct report_request *request,
                     struct nvtxt_out *out) {
    struct report_json *json = &request->out;
    report_request_begin(request, out);
    report_json_text(json, "task", use->call ? "apply" : "describe");
    report_json_text(json, "file", use->real);
    report_json_text(json, "version", use->version);
    report_json_slice(json, "identifier",
                      use->call ? use->call->program->identifier : (struct nvtxt_slice){0});
    report_request_end(request);
    return 0;
}

// ---- What it is ---------------------------------------------------------------------------------

static void say(struct report_use *use, enum report_file_severity severity, const char *function,
                const char *what) {
    report_messages_add(use->messages, use->file, REPORT_FILE_BEGIN, severity, "bad-rule",
                        "%s() %s", function, what);
}

// The functions that are not there: without its name and description a rule is still one.
static void take_missing(struct report_use *use, const json_t *missing) {
    const json_t *name;
    size_t i;
    bool no_name = false, no_description = false;
    json_array_foreach(missing, i, name) {
        const char *text = json_string_value(name);
        if (text && strcmp(text, "get_name") == 0) {
            no_name = true;
        } else if (text && strcmp(text, "get_description") == 0) {
            no_description = true;
        } else if (text) {
            say(use, REPORT_FILE_ERROR, text, "is missing");
            use->bad = true;
        }
    }
    if (no_name && !use->bad) {
        say(use, REPORT_FILE_WARNING, "get_name", "is missing: the name is the identifier");
    }
    if (no_description && !use->bad) {
        say(use, REPORT_FILE_WARNING, "get_description", "is missing: the description is empty");
    }
}

static void check_identifier(struct report_use *use, struct nvtxt_slice identifier) {
    use->bad |= !report_identifier_check(identifier, use->file, REPORT_FILE_BEGIN, use->messages);
}

static int copy_text(struct report_use *use, struct report_request *request, const char *name,
                     struct nvtxt_slice *text) {
    int r = report_use_text(request, name, text);
    if (r == 0 && text->data) {
        text->data = store_arena_copy(use->arena, text->data, text->len);
        r = text->data ? 0 : nvtxt_origin(-ENOMEM);
    }
    return r;
}

static int copy_parents(struct report_use *use, struct report_request *request) {
    const json_t *texts, *text;
    size_t i;
    int r = report_request_texts(request, "parents", &texts);
    if (r) {
        return r;
    }
    struct nvtxt_slice *parents =
        store_arena_make(use->arena, (json_array_size(texts) + 1) * sizeof(*parents));
    if (!parents) {
        return nvtxt_origin(-ENOMEM);
    }
    json_array_foreach(texts, i, text) {
        size_t len = json_string_length(text);
        parents[i] =
            (struct nvtxt_slice){store_arena_copy(use->arena, json_string_value(text), len), len};
        if (!parents[i].data) {
            return nvtxt_origin(-ENOMEM);
        }
    }
    use->program->parents = parents;
    use->program->parent_count = json_array_size(texts);
    return 0;
}

static int run_describe(struct report_use *use, struct report_request *request,
                        struct nvtxt_out *out) {
    struct report_program *program = use->program;
    (void)out;
    if (use->call) {
        return report_request_refuse(request, REPORT_BAD_REQUEST, "it is applied");
    }
    use->helper = json_is_true(report_request_param(request, "helper"));
    take_missing(use, report_request_param(request, "missing"));
    int r = copy_text(use, request, "identifier", &program->identifier);
    r = r ?: copy_text(use, request, "name", &program->name);
    r = r ?: copy_text(use, request, "description", &program->description);
    r = r ?: copy_text(use, request, "section", &program->section);
    r = r ?: copy_parents(use, request);
    if (r == 0 && !use->helper && !use->bad) {
        check_identifier(use, program->identifier);
    }
    use->said = r == 0 ? REPORT_USE_ALL : use->said;
    return r ?: REPORT_EXCHANGE_NO_MORE;
}

// ---- The end ------------------------------------------------------------------------------------

static int run_done(struct report_use *use, struct report_request *request, struct nvtxt_out *out) {
    (void)out;
    if (!use->call) {
        return report_request_refuse(request, REPORT_BAD_REQUEST, "it is asked what it is");
    }
    use->said = REPORT_USE_ALL;
    return REPORT_EXCHANGE_NO_MORE;
}

static int run_raised(struct report_use *use, struct report_request *request,
                      struct nvtxt_out *out) {
    struct nvtxt_slice text;
    int r = report_use_text(request, "type", &text);
    r = r ?: report_use_text(request, "text", &text);
    r = r ?: report_use_text(request, "file", &text);
    (void)out;
    if (r == 0 && !request->params) {
        r = report_request_refuse(request, REPORT_BAD_PARAMS, "'params' is not there");
    }
    if (r == 0) {
        use->raised = json_deep_copy(request->params);
        use->said = REPORT_USE_RAISED;
        r = use->raised ? REPORT_EXCHANGE_NO_MORE : nvtxt_origin(-ENOMEM);
    }
    return r;
}

const struct report_use_method report_use_begin_methods[] = {
    {"rule_begin", run_begin},
    {"rule_describe", run_describe},
    {"rule_done", run_done},
    {"rule_raised", run_raised},
    {NULL, NULL},
};
