// SPDX-License-Identifier: Apache-2.0
//
// A state is written by hand, piece by piece, because every commit of every session writes one. It
// is read with jansson, once a reconnect. The members of the object, all required:
//
//   version       2; 1 when the four members that else stand in parts (state_parts.c) stand here
//   parts         [number of the parts], not in version 1
//   config        [default pid, opened_ns, origin_ns]
//   mapping       [mode, ns_a, ns_b, nvtxt_a, nvtxt_b, freq]
//   escapes       [1], or left out without escapes
//   levels        [1], or left out without levels
//   nvtx          [1], or left out without the extension nvtx
//   expiry        [seconds], or left out when the session did not say
//   counters      [lines, events, warnings, errors, has_time, first_ns, last_ns]
//   parent        [token], or left out when the session has none
//   next          [key, parent] of the range of the next line, or left out
//   diagnostics   [handed on, a time base had its warning, a clock had its warning, a name of
//                 another's process had its warning, a parent had its warning]; older versions had
//                 three or four
//   latest        [has_latest, latest, raw_smallest, raw_largest]
//   event         [has_event, start, pid, tid]
//   last_seq      number of the newest range
//   ranges        [[seq, announced, type, pid, tid, depth, range_id, start, category, color,
//                  payload kind, payload bits, line, column, text, domain, excerpt], …], only in
//                 version 1; with the extension nvtx the JSON is after the excerpt
//
// Doubles are kept as the integer of their bits, so that every value survives.
#include "protocol/interp/state.h"

#include <string.h>

#include "protocol/base/origin.h"
#include "protocol/interp/state_json.h"

#define VERSION_IN_PARTS NVTXT_STATE_VERSION
#define VERSION_IN_ONE 1

// ---- Saving ------------------------------------------------------------------------------------

static int64_t payload_bits(const struct nvtxt_payload *payload) {
    int64_t bits = 0;
    if (nvtxt_payload_is_real(payload->kind)) {
        memcpy(&bits, &payload->real, sizeof(bits));
    } else if (payload->kind != NVTXT_PAYLOAD_NONE) {
        bits = payload->int64;
    }
    return bits;
}

static void save_ranges(struct nvtxt_buf *out, const struct nvtxt_ranges *ranges, bool nvtx) {
    nvtxt_buf_add_string(out, ",\"ranges\":[");
    const struct nvtxt_range *range = ranges->oldest;
    for (; range; range = range->newer) {
        const struct nvtxt_open_range *view = &range->view;
        begin_ints(out, range == ranges->oldest ? "" : ",", 14, (int64_t)view->seq,
                   (int64_t)range->announced, (int64_t)view->type, (int64_t)view->pid,
                   (int64_t)view->tid, (int64_t)view->depth, view->range_id, view->start,
                   (int64_t)view->category, (int64_t)view->color, (int64_t)view->payload.kind,
                   payload_bits(&view->payload), (int64_t)view->line, (int64_t)view->column);
        add_text(out, view->text);
        add_text(out, view->domain);
        add_text(out, view->excerpt);
        if (nvtx) {
            add_text(out, view->json);
        }
        nvtxt_buf_add_string(out, "]");
    }
    nvtxt_buf_add_string(out, "]");
}

static void save_head(const struct nvtxt_interp *interp, int64_t version, struct nvtxt_buf *out) {
    const struct nvtxt_source_config *config = &interp->config;
    const struct nvtxt_mapping *mapping = &config->mapping;
    const struct nvtxt_counters *counters = &interp->counters;
    nvtxt_buf_add_string(out, "{\"version\":");
    nvtxt_buf_add_int(out, version);
    add_ints(out, ",\"config\":", 3, (int64_t)config->default_pid, config->opened_ns,
             config->origin_ns);
    add_ints(out, ",\"mapping\":", 6, (int64_t)mapping->mode, mapping->ns_a, mapping->ns_b,
             mapping->nvtxt_a, mapping->nvtxt_b, mapping->freq);
    if (config->escapes) {
        add_ints(out, ",\"escapes\":", 1, (int64_t)1);
    }
    if (config->levels) {
        add_ints(out, ",\"levels\":", 1, (int64_t)1);
    }
    if (config->nvtx) {
        add_ints(out, ",\"nvtx\":", 1, (int64_t)1);
    }
    if (config->expiry_s) {
        add_ints(out, ",\"expiry\":", 1, config->expiry_s);
    }
    if (*config->parent) {
        nvtxt_buf_add_pair_text(out, ",\"parent\":[", config->parent);
        nvtxt_buf_add_string(out, "]");
    }
    if (*interp->next_key) {
        nvtxt_buf_add_pair_text(out, ",\"next\":[", interp->next_key);
        nvtxt_buf_add_pair_text(out, ",", interp->next_parent);
        nvtxt_buf_add_string(out, "]");
    }
    add_ints(out, ",\"counters\":", 7, (int64_t)counters->lines, (int64_t)counters->events,
             (int64_t)counters->warnings, (int64_t)counters->errors, (int64_t)counters->has_time,
             counters->first_ns, counters->last_ns);
    add_ints(out, ",\"diagnostics\":", 5, (int64_t)interp->diagnostics,
             (int64_t)interp->warned_timebase, (int64_t)interp->warned_clock,
             (int64_t)interp->warned_name, (int64_t)interp->warned_parent);
    add_ints(out, ",\"latest\":", 4, (int64_t)interp->has_latest, interp->latest,
             interp->raw_smallest, interp->raw_largest);
    add_ints(out, ",\"event\":", 4, (int64_t)interp->has_event, interp->event_start,
             (int64_t)interp->event_pid, (int64_t)interp->event_tid);
    nvtxt_buf_add_string(out, ",\"last_seq\":");
    nvtxt_buf_add_uint(out, interp->ranges.last_seq);
}

int nvtxt_state_save(const struct nvtxt_interp *interp, struct nvtxt_buf *out) {
    save_head(interp, VERSION_IN_PARTS, out);
    add_ints(out, ",\"parts\":", 1, (int64_t)interp->saved.parts);
    nvtxt_buf_add_string(out, "}");
    return nvtxt_buf_failed(out) ? nvtxt_origin(-ENOMEM) : 0;
}

int nvtxt_state_save_in_one(const struct nvtxt_interp *interp, bool with_open_ranges,
                            struct nvtxt_buf *out) {
    save_head(interp, VERSION_IN_ONE, out);
    nvtxt_state_put_parts(interp, out);
    if (with_open_ranges) {
        save_ranges(out, &interp->ranges, interp->config.nvtx);
    } else {
        nvtxt_buf_add_string(out, ",\"ranges\":[]");
    }
    nvtxt_buf_add_string(out, "}");
    return nvtxt_buf_failed(out) ? nvtxt_origin(-ENOMEM) : 0;
}

// ---- Restoring ---------------------------------------------------------------------------------

// [1], or left out.
static int restore_flag(const json_t *state, const char *key, bool *flag) {
    struct state_reader in = member(state, key);
    *flag = in.array && read_flag(&in);
    return in.array ? finished(&in) : 0;
}

// The next element, which has at most `longest` bytes.
static void read_token(struct state_reader *in, size_t longest, char *to) {
    struct nvtxt_slice text = read_text(in);
    if (text.len > longest) {
        in->bad = true;
        text.len = 0;
    }
    memcpy(to, text.data ?: "", text.len);
    to[text.len] = '\0';
}

static int restore_parent(struct nvtxt_source_config *config, const json_t *state) {
    struct state_reader in = member(state, "parent");
    if (!in.array) {
        config->parent[0] = '\0';
        return 0;
    }
    read_token(&in, NVTXT_PARENT_BYTES, config->parent);
    return finished(&in);
}

static int restore_next(struct nvtxt_interp *interp, const json_t *state) {
    struct state_reader in = member(state, "next");
    if (!in.array) {
        return 0;
    }
    read_token(&in, NVTXT_KEY_BYTES, interp->next_key);
    read_token(&in, NVTXT_PARENT_BYTES, interp->next_parent);
    return finished(&in);
}

static int restore_config(struct nvtxt_source_config *config, const json_t *state) {
    struct state_reader in = member(state, "config");
    config->default_pid = read_id(&in);
    config->opened_ns = read_any(&in);
    config->origin_ns = read_any(&in);
    if (finished(&in) != 0) {
        return NVTXT_RESTORE_BAD;
    }
    in = member(state, "mapping");
    struct nvtxt_mapping *mapping = &config->mapping;
    mapping->mode = (enum nvtxt_mapping_mode)read_int(&in, NVTXT_MAPPING_NONE, NVTXT_MAPPING_LIN);
    mapping->ns_a = read_any(&in);
    mapping->ns_b = read_any(&in);
    mapping->nvtxt_a = read_any(&in);
    mapping->nvtxt_b = read_any(&in);
    mapping->freq = read_any(&in);
    if (finished(&in) != 0 || nvtxt_mapping_fault(mapping)) {
        return NVTXT_RESTORE_BAD;
    }
    int r = restore_flag(state, "escapes", &config->escapes);
    r = r ?: restore_flag(state, "levels", &config->levels);
    r = r ?: restore_flag(state, "nvtx", &config->nvtx);
    r = r ?: restore_parent(config, state);
    in = member(state, "expiry");
    config->expiry_s = in.array ? read_int(&in, 1, INT64_MAX) : 0;
    return r || !in.array ? r : finished(&in);
}

static int restore_counters(struct nvtxt_interp *interp, const json_t *state) {
    struct state_reader in = member(state, "counters");
    struct nvtxt_counters *counters = &interp->counters;
    counters->lines = read_count(&in);
    counters->events = read_count(&in);
    counters->warnings = read_count(&in);
    counters->errors = read_count(&in);
    counters->has_time = read_flag(&in);
    counters->first_ns = read_any(&in);
    counters->last_ns = read_any(&in);
    if (finished(&in) != 0) {
        return NVTXT_RESTORE_BAD;
    }
    in = member(state, "diagnostics");
    interp->diagnostics = read_count(&in);
    interp->warned_timebase = read_flag(&in);
    interp->warned_clock = read_flag(&in);
    interp->warned_name = in.at < json_array_size(in.array) && read_flag(&in);
    interp->warned_parent = in.at < json_array_size(in.array) && read_flag(&in);
    return finished(&in);
}

static int restore_times(struct nvtxt_interp *interp, const json_t *state) {
    struct state_reader in = member(state, "latest");
    interp->has_latest = read_flag(&in);
    interp->latest = read_any(&in);
    interp->raw_smallest = read_any(&in);
    interp->raw_largest = read_any(&in);
    if (finished(&in) != 0) {
        return NVTXT_RESTORE_BAD;
    }
    in = member(state, "event");
    interp->has_event = read_flag(&in);
    interp->event_start = read_any(&in);
    interp->event_pid = read_id(&in);
    interp->event_tid = read_id(&in);
    return finished(&in);
}

static struct nvtxt_payload payload_of(enum nvtxt_payload_kind kind, int64_t bits) {
    struct nvtxt_payload payload = {.kind = kind};
    if (nvtxt_payload_is_real(kind)) {
        memcpy(&payload.real, &bits, sizeof(bits));
    } else if (kind != NVTXT_PAYLOAD_NONE) {
        payload.int64 = bits;
    }
    return payload;
}

static int restore_range(struct nvtxt_interp *interp, const json_t *list) {
    struct state_reader in = {.array = list, .bad = !json_is_array(list)};
    struct nvtxt_open_range range = {.seq = read_count(&in)};
    bool announced = read_flag(&in);
    range.type = (enum nvtxt_event_type)read_int(&in, 0, INT32_MAX);
    range.pid = read_id(&in);
    range.tid = read_id(&in);
    range.depth = read_u32(&in);
    range.range_id = read_any(&in);
    range.start = read_any(&in);
    range.category = read_u32(&in);
    range.color = read_u32(&in);
    bool nvtx = interp->config.nvtx;
    int64_t largest_kind = nvtx ? NVTXT_PAYLOAD_FLOAT : NVTXT_PAYLOAD_DOUBLE;
    enum nvtxt_payload_kind kind =
        (enum nvtxt_payload_kind)read_int(&in, NVTXT_PAYLOAD_NONE, largest_kind);
    range.payload = payload_of(kind, read_any(&in));
    range.line = read_count(&in);
    range.column = read_u32(&in);
    range.text = read_text(&in);
    range.domain = read_text(&in);
    range.excerpt = read_text(&in);
    if (nvtx) {
        range.json = read_text(&in);
    }
    if (finished(&in) != 0) {
        return NVTXT_RESTORE_BAD;
    }
    struct nvtxt_ranges *ranges = &interp->ranges;
    struct nvtxt_range *unannounced = ranges->unannounced;
    int r = nvtxt_interp_restore_open(interp, &range);
    if (r != 0) {
        return r;
    }
    ranges->newest->announced = announced;
    ranges->unannounced = unannounced ?: announced ? NULL : ranges->newest;
    return announced && unannounced ? NVTXT_RESTORE_BAD : 0; // announced ones are the older ones
}

static int restore_in_one(struct nvtxt_interp *interp, const json_t *state) {
    int r = nvtxt_state_take_parts(interp, state, true);
    return r ?: nvtxt_state_restore_each(interp, state, "ranges", restore_range);
}

static int restore_parts(struct nvtxt_interp *interp, const json_t *state,
                         const struct nvtxt_slice *parts, size_t count) {
    struct state_reader in = member(state, "parts");
    uint64_t wanted = read_count(&in);
    if (finished(&in) != 0 || wanted != count) {
        return NVTXT_RESTORE_BAD; // some are missing, or are of another time
    }
    return nvtxt_state_take_texts(interp, parts, count);
}

static int restore_head(struct nvtxt_interp *interp, const json_t *state) {
    const json_t *last_seq = json_object_get(state, "last_seq");
    if (!json_is_integer(last_seq) || json_integer_value(last_seq) < 0) {
        return NVTXT_RESTORE_BAD;
    }
    interp->ranges.last_seq = (uint64_t)json_integer_value(last_seq);
    int r = restore_counters(interp, state);
    r = r ?: restore_next(interp, state);
    return r ?: restore_times(interp, state);
}

int nvtxt_state_restore(struct nvtxt_interp **interp, const struct nvtxt_source_config *config,
                        struct nvtxt_slice state, const struct nvtxt_slice *parts, size_t count) {
    json_t *root;
    int r = nvtxt_json_read(state, JSON_REJECT_DUPLICATES, &root, NULL);
    if (r != 0) {
        return r < 0 ? r : NVTXT_RESTORE_BAD;
    }
    struct nvtxt_source_config merged = *config;
    struct nvtxt_interp *restored = NULL;
    r = NVTXT_RESTORE_BAD;
    int64_t version = json_integer_value(json_object_get(root, "version")); // 0: it is no integer
    if (version != VERSION_IN_PARTS && version != VERSION_IN_ONE) {
        r = version > NVTXT_STATE_VERSION ? NVTXT_RESTORE_NEWER : r;
        goto done;
    }
    r = restore_config(&merged, root);
    if (r != 0) {
        goto done;
    }
    merged.limits = nvtxt_no_limits;
    restored = nvtxt_interp_new(&merged);
    r = restored ? restore_head(restored, root) : nvtxt_origin(-ENOMEM);
    if (r == 0) {
        r = version == VERSION_IN_ONE ? restore_in_one(restored, root)
                                      : restore_parts(restored, root, parts, count);
    }
    if (r == 0) {
        restored->config.limits = config->limits;
        *interp = restored;
        restored = NULL;
    }
done:
    nvtxt_interp_free(restored);
    json_decref(root);
    return r;
}
