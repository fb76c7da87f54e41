// SPDX-License-Identifier: Apache-2.0
//
// What a rule requires, what it proposes, and what it leaves for other rules of the scope. What is
// left are texts: nobody here looks into them.
#include <stdio.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "report/host/exchange.h"
#include "report/host/use.h"
#include "report/metric/metric.h"
#include "report/render/render.h"

// ---- What it requires ---------------------------------------------------------------------------

// The first reason counts.
static void note(struct report_use *use, const char *before, const char *name, const char *after,
                 const char *why) {
    if (!use->evaluated && !use->not_applicable[0]) {
        snprintf(use->not_applicable, sizeof(use->not_applicable), "%s%.300s%s%s", before, name,
                 after, why);
    }
}

static int run_require_metrics(struct report_use *use, struct report_request *request,
                               struct nvtxt_out *out) {
    struct report_json *json = &request->out;
    const json_t *names, *name;
    size_t i;
    int r = report_request_texts(request, "names", &names);
    if (r) {
        return r;
    }
    report_request_begin(request, out);
    report_json_array(json, "na");
    json_array_foreach(names, i, name) {
        const struct report_metric *metric = NULL;
        r = r ?: report_metrics_get(use->call->metrics, json_string_value(name), &metric);
        if (r == 0 && metric->na) {
            note(use, "", json_string_value(name), " N/A: ", metric->na);
            report_json_object(json, NULL);
            report_json_text(json, "name", json_string_value(name));
            report_json_text(json, "reason", metric->na);
            report_json_end_object(json);
        }
    }
    report_json_end_array(json);
    report_request_end(request);
    return r;
}

static int run_require_rules(struct report_use *use, struct report_request *request,
                             struct nvtxt_out *out) {
    struct report_json *json = &request->out;
    const json_t *ids, *id;
    size_t i;
    int r = report_request_texts(request, "ids", &ids);
    if (r) {
        return r;
    }
    report_request_begin(request, out);
    report_json_array(json, "missing");
    json_array_foreach(ids, i, id) {
        const char *text = json_string_value(id);
        if (!use->call->has_rule(use->call->rules, nvtxt_slice_of(text))) {
            note(use, "rule ", text, " is not loaded", "");
            report_json_text(json, NULL, text);
        }
    }
    report_json_end_array(json);
    report_request_end(request);
    return 0;
}

static int run_evaluated(struct report_use *use, struct report_request *request,
                         struct nvtxt_out *out) {
    use->evaluated = true;
    use->stopped = use->not_applicable[0] != '\0';
    if (use->stopped) {
        use->said = REPORT_USE_ALL;
        return REPORT_EXCHANGE_NO_MORE;
    }
    report_request_begin(request, out);
    report_json_bool(&request->out, "go", true);
    report_request_end(request);
    return 0;
}

// All results of the scope so far, without its own.
static int run_results(struct report_use *use, struct report_request *request,
                       struct nvtxt_out *out) {
    report_request_begin(request, out);
    report_json_array(&request->out, "rules");
    for (size_t i = 0; i < use->call->result_count; i++) {
        report_render_rule_json(&request->out, &use->call->results[i], NULL);
    }
    report_json_end_array(&request->out);
    report_request_end(request);
    return 0;
}

static int run_propose(struct report_use *use, struct report_request *request,
                       struct nvtxt_out *out) {
    struct nvtxt_slice id;
    int r = report_use_text(request, "id", &id);
    if (r == 0 && id.data) {
        report_build_proposal(use->call->builder, id);
    }
    return r ?: report_use_done(request, out);
}

// ---- What it leaves -----------------------------------------------------------------------------

static int get(const json_t *texts, const char *id, struct report_request *request,
               struct nvtxt_out *out) {
    struct report_json *json = &request->out;
    const json_t *text = json_object_get(texts, id);
    report_request_begin(request, out);
    if (text) {
        report_json_object(json, "dict");
        report_json_text(json, "json", json_string_value(text));
        report_json_end_object(json);
    } else {
        report_json_null(json, "dict");
    }
    report_request_end(request);
    return 0;
}

static int put_dict(struct report_use *use, json_t *texts, const char *id,
                    struct report_request *request, struct nvtxt_out *out) {
    const json_t *dict = report_request_param(request, "dict");
    json_t *text = json_object_get(dict, "json");
    if (!json_is_string(text)) {
        return report_request_refuse(request, REPORT_BAD_PARAMS, "'dict' has no text 'json'");
    }
    size_t bytes = use->left->bytes + json_string_length(text) + strlen(id);
    if (bytes > REPORT_USE_BYTES) {
        return report_request_refuse(request, REPORT_BAD_PARAMS,
                                     "rules leave more than %zu bytes for each other",
                                     REPORT_USE_BYTES);
    }
    use->left->bytes = bytes;
    return json_object_set(texts, id, text) == 0 ? report_use_done(request, out)
                                                 : nvtxt_origin(-ENOMEM);
}

// The identifier of the rule itself ends with a NUL: it is a copy in an arena.
static int run_send(struct report_use *use, struct report_request *request, struct nvtxt_out *out) {
    return put_dict(use, use->left->parents, use->call->program->identifier.data, request, out);
}

static bool is_parent(const struct report_program *program, struct nvtxt_slice id) {
    for (size_t i = 0; i < program->parent_count; i++) {
        if (nvtxt_slice_equal(program->parents[i], id)) {
            return true;
        }
    }
    return false;
}

// Of a rule that it does not name as a parent there is nothing.
static int run_receive(struct report_use *use, struct report_request *request,
                       struct nvtxt_out *out) {
    struct nvtxt_slice id;
    int r = report_use_text(request, "id", &id);
    bool parent = r == 0 && is_parent(use->call->program, id);
    return r ?: get(use->left->parents, parent ? id.data : "", request, out);
}

static int run_vault_get(struct report_use *use, struct report_request *request,
                         struct nvtxt_out *out) {
    struct nvtxt_slice id;
    int r = report_use_text(request, "id", &id);
    return r ?: get(use->left->vault, id.data ?: "", request, out);
}

static int run_vault_put(struct report_use *use, struct report_request *request,
                         struct nvtxt_out *out) {
    struct nvtxt_slice id;
    int r = report_use_text(request, "id", &id);
    return r ?: put_dict(use, use->left->vault, id.data ?: "", request, out);
}

const struct report_use_method report_use_control_methods[] = {
    {"require_metrics", run_require_metrics},
    {"require_rules", run_require_rules},
    {"rule_evaluated", run_evaluated},
    {"rule_results", run_results},
    {"propose", run_propose},
    {"send_dict", run_send},
    {"receive_dict", run_receive},
    {"vault_get", run_vault_get},
    {"vault_put", run_vault_put},
    {NULL, NULL},
};
