// SPDX-License-Identifier: Apache-2.0
//
// Texts of several stores are joined; numbers of stores are added, of versions the largest counts.
// Threads, processes and domains are those that the events of the scope name.
#include "report/catalogue/figures.h"

#include <string.h>

#include "protocol/base/buf.h"
#include "protocol/base/origin.h"
#include "protocol/text/out.h"

static const char *const not_in_export = "not in an export";

static void set_number(struct report_metric *metric, uint64_t number) {
    metric->value = (struct report_value){REPORT_U64, .u64 = number};
}

static struct nvtxt_slice text_of(const struct report_store *store, enum report_catalogue_id id) {
    if (id == REPORT_M_PRODUCT_VERSION) {
        return store->version;
    }
    struct nvtxt_slice path = store->path;
    const char *slash =
        path.len && id == REPORT_M_DISPLAY_NAME ? memrchr(path.data, '/', path.len) : NULL;
    size_t cut = slash ? (size_t)(slash + 1 - path.data) : 0;
    return (struct nvtxt_slice){path.data + cut, path.len - cut};
}

static int keep_text(struct report_figures *figures, struct report_metric *metric, const char *text,
                     size_t len) {
    const char *copy = store_arena_copy(&figures->arena, text, len);
    metric->value = (struct report_value){REPORT_STRING, .string = {copy, len}};
    return copy ? 0 : nvtxt_origin(-ENOMEM);
}

static int texts(struct report_figures *figures, enum report_catalogue_id id,
                 struct report_metric *metric) {
    const struct report_capture *capture = figures->model->capture;
    struct nvtxt_buf buf = {NULL, 0, 0, false};
    for (size_t i = 0; i < capture->store_count; i++) {
        struct nvtxt_slice text = text_of(&capture->stores[i], id);
        metric->na = text.data ? metric->na : not_in_export;
        nvtxt_buf_add(&buf, ", ", i > 0 ? 2 : 0);
        nvtxt_buf_add(&buf, text.data ?: "", text.len);
    }
    int r = nvtxt_buf_failed(&buf) ? nvtxt_origin(-ENOMEM)
                                   : keep_text(figures, metric, buf.len ? buf.data : "", buf.len);
    nvtxt_buf_deinit(&buf);
    return r;
}

// The smallest time of all stores; what an export has of its own timeline is moved to UTC.
static int start_time(struct report_figures *figures, struct report_metric *metric) {
    const struct report_capture *capture = figures->model->capture;
    int64_t base = capture->store_count ? capture->stores[0].utc_base_ns : 0, at;
    if (capture->event_count == 0 || __builtin_add_overflow(capture->first_ns, base, &at)) {
        metric->na = "fewer than 1 instances";
        return 0;
    }
    if (!capture->stores[0].ours && base == 0) {
        metric->na = not_in_export;
        return 0;
    }
    struct nvtxt_out out;
    int r = nvtxt_out_init(&out, -1);
    if (!r) {
        nvtxt_out_utc(&out, at);
        r = out.error ? nvtxt_origin(-ENOMEM) : keep_text(figures, metric, out.data, out.len);
        nvtxt_out_deinit(&out);
    }
    return r;
}

static void store_number(const struct report_capture *capture, enum report_catalogue_id id,
                         struct report_metric *metric) {
    uint64_t number = 0;
    bool ours = false;
    for (size_t i = 0; i < capture->store_count; i++) {
        const struct report_store *store = &capture->stores[i];
        uint64_t version = store->schema_version > 0 ? (uint64_t)store->schema_version : 0;
        ours = ours || store->ours;
        number = id == REPORT_M_SEGMENTS ? number + store->segment_count
                 : version > number      ? version
                                         : number;
    }
    metric->na = id == REPORT_M_STORE_VERSION && !ours ? not_in_export : NULL;
    set_number(metric, number);
}

static int part_number(struct report_figures *figures, enum report_key key,
                       struct report_metric *metric) {
    size_t count;
    int r = report_group_count(figures->model, figures->scope->events, figures->scope->event_count,
                               key, &count);
    set_number(metric, count);
    return r;
}

int report_attribute(struct report_figures *figures, enum report_catalogue_id id,
                     struct report_metric *metric) {
    switch (id) {
    case REPORT_M_START_TIME:
        return start_time(figures, metric);
    case REPORT_M_STORE_VERSION:
    case REPORT_M_SEGMENTS:
        store_number(figures->model->capture, id, metric);
        return 0;
    case REPORT_M_THREADS:
        return part_number(figures, REPORT_KEY_THREAD, metric);
    case REPORT_M_PROCESSES:
        return part_number(figures, REPORT_KEY_PROCESS, metric);
    case REPORT_M_DOMAINS:
        return part_number(figures, REPORT_KEY_DOMAIN, metric);
    default:
        return texts(figures, id, metric);
    }
}
