// SPDX-License-Identifier: Apache-2.0
//
// Lines are put together in a buffer that holds the largest record, so nothing here can run out of
// room. A text is repaired and escaped in one walk; the walk stops at the character that would take
// the line past its limit.
#include "lib/ring/line.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "protocol/base/utf8.h"
#include "protocol/lang/jsontext.h"

#define LINE_ROOM 512u // of a line, for all but its longest text

static void add(struct line_buf *out, const char *text) {
    size_t len = strlen(text);
    memcpy(out->data + out->len, text, len);
    out->len += len;
}

static void addf(struct line_buf *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void addf(struct line_buf *out, const char *format, ...) {
    va_list args;
    va_start(args, format);
    out->len += (size_t)vsnprintf(out->data + out->len, LINES_BYTES - out->len, format, args);
    va_end(args);
}

static void end_line(struct line_buf *out) {
    out->data[out->len++] = '\n';
    out->lines++;
}

// In double quotes, with at most `most` bytes between them. Returns whether all of it is there.
static bool add_text(struct line_buf *out, const char *text, size_t len, size_t most) {
    out->data[out->len++] = '"';
    size_t stop = out->len + most, i = 0;
    while (i < len) {
        size_t bytes = nvtxt_utf8_sequence(text + i, len - i);
        char *to = out->data + out->len;
        if (out->len + (bytes == 0 ? 3 : bytes + 1) > stop) {
            break;
        }
        if (bytes == 0) {
            memcpy(to, "\xef\xbf\xbd", 3);
            out->len += 3;
            i++;
            continue;
        }
        bool escaped = text[i] == '"' || text[i] == '\\' || text[i] == '\n';
        if (escaped) {
            *to++ = '\\';
            *to = text[i] == '\n' ? 'n' : text[i];
            out->len += 2;
        } else {
            memcpy(to, text + i, bytes);
            out->len += bytes;
        }
        i += bytes;
    }
    out->data[out->len++] = '"';
    return i == len;
}

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

static size_t text_room(const struct line_state *state) {
    return state->limit - LINE_ROOM;
}

// The values of Domain and Json together stay below the limit of variables.
static size_t domain_room(const struct line_state *state) {
    return smaller(text_room(state), state->variables / 4);
}

static size_t json_room(const struct line_state *state) {
    return smaller(text_room(state), state->variables / 2);
}

// ---- What a session begins with -----------------------------------------------------------------

void line_begin(struct line_buf *out) {
    static const char *const lines[] = {
        "TimeBase=ClockRealtime",
        "@Marker,Time,CategoryId,Color,Payload,Message",
        "@RangePush,Time,CategoryId,Color,Payload,Message",
        "@RangePop,Time",
        "@RangeStart,Time,RangeId,CategoryId,Color,Payload,Message",
        "@RangeEnd,Time,RangeId",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        add(out, lines[i]);
        end_line(out);
    }
}

static void set_thread(struct line_buf *out, struct line_state *state, uint32_t tid) {
    if (!state->has_tid || state->tid != tid) {
        addf(out, "ThreadId=%u", tid);
        end_line(out);
        state->tid = tid;
        state->has_tid = true;
    }
}

static void set_domain(struct line_buf *out, struct line_state *state, const struct region *region,
                       uint32_t domain) {
    if (state->has_domain ? state->domain == domain : domain == 0) {
        return;
    }
    struct region_text name = domain ? region->domains[domain] : (struct region_text){0, 0};
    add(out, "Domain=");
    add_text(out, region->text + name.at, name.len, domain_room(state));
    end_line(out);
    state->domain = domain;
    state->has_domain = true;
}

// ---- Events -------------------------------------------------------------------------------------

static void add_float(struct line_buf *out, const char *prefix, double value, int digits) {
    if (isnan(value)) {
        addf(out, "\"%snan\"", prefix);
        return;
    }
    if (isinf(value)) {
        addf(out, "\"%s%sinf\"", prefix, value < 0 ? "-" : "");
        return;
    }
    char number[64];
    snprintf(number, sizeof(number), "%.*g", digits, value);
    size_t whole = strspn(number, "+-0123456789"), part = strcspn(number + whole, "0123456789e");
    addf(out, "\"%s%.*s%s%s\"", prefix, (int)whole, number, part ? "." : "", // the locale's point
         number + whole + part);
}

static void add_value(struct line_buf *out, uint32_t kind, uint64_t bits) {
    double f64;
    float f32;
    uint32_t low = (uint32_t)bits;
    memcpy(&f64, &bits, sizeof(f64));
    memcpy(&f32, &low, sizeof(f32));
    switch (kind) {
    case RECORD_U64:
        addf(out, "\"u64:%llu\"", (unsigned long long)bits);
        break;
    case RECORD_I64:
        addf(out, "\"i64:%lld\"", (long long)bits);
        break;
    case RECORD_F64:
        add_float(out, "f64:", f64, 17);
        break;
    case RECORD_U32:
        addf(out, "\"u32:%u\"", low);
        break;
    case RECORD_I32:
        addf(out, "\"i32:%d\"", (int)low);
        break;
    case RECORD_F32:
        add_float(out, "f32:", (double)f32, 9);
        break;
    default:
        add(out, "\"\"");
    }
}

// JSON goes before its event as a variable, and is empty again after it. What cannot be sent says
// how long it was. Bytes that are no UTF-8 can only be in a string of it, and are repaired.
static void set_json(struct line_buf *out, const struct line_state *state, const char *json,
                     uint32_t len) {
    size_t at;
    bool valid = !nvtxt_json_fault((struct nvtxt_slice){json, len}, &at);
    add(out, "Json=");
    size_t from = out->len;
    if (!valid || !add_text(out, json, len, json_room(state))) {
        out->len = from;
        addf(out, "\"{\\\"%s\\\":%u}\"", valid ? "truncated" : "invalid", len);
    }
    end_line(out);
}

static void clear_json(struct line_buf *out) {
    add(out, "Json=\"\"");
    end_line(out);
}

static void add_call(struct line_buf *out, const struct line_state *state,
                     const struct region *region, const struct record_view *view) {
    struct region_text string = {0, 0};
    if (view->has_string && view->string < atomic_load(&region->head->strings)) {
        string = region->strings[view->string];
    }
    const char *text = view->has_string ? region->text + string.at : view->text;
    addf(out, ",%u,%u,", view->category, view->color);
    add_value(out, view->value_kind, view->value);
    add(out, ",");
    add_text(out, text, view->has_string ? string.len : view->text_len, text_room(state));
}

void line_record(struct line_buf *out, struct line_state *state, const struct region *region,
                 const struct record_view *view, uint32_t tid, int64_t offset_ns) {
    static const char *const calls[RECORD_KINDS] = {
        [RECORD_MARK] = "Marker",      [RECORD_PUSH] = "RangePush", [RECORD_POP] = "RangePop",
        [RECORD_START] = "RangeStart", [RECORD_END] = "RangeEnd",
    };
    set_thread(out, state, tid);
    if (view->kind != RECORD_END) {
        set_domain(out, state, region, view->domain);
    }
    if (view->json_len) {
        set_json(out, state, view->json, view->json_len);
    }
    addf(out, "%s,%lld", calls[view->kind], (long long)view->time + offset_ns);
    if (view->kind == RECORD_START || view->kind == RECORD_END) {
        addf(out, ",%llu", (unsigned long long)view->id);
    }
    if (view->kind != RECORD_POP && view->kind != RECORD_END) {
        add_call(out, state, region, view);
    }
    end_line(out);
    if (view->json_len) {
        clear_json(out);
    }
}

void line_end(struct line_buf *out, uint64_t id, int64_t time_ns) {
    addf(out, "RangeEnd,%lld,%llu", (long long)time_ns, (unsigned long long)id);
    end_line(out);
}

void line_lost(struct line_buf *out, uint64_t count, enum region_loss why) {
    addf(out, "#nvtxt-lost {\"lines\":%llu,\"reason\":\"%s\"}", (unsigned long long)count,
         region_loss_names[why]);
    end_line(out);
}

// ---- Names --------------------------------------------------------------------------------------

static void add_region_text(struct line_buf *out, const struct line_state *state,
                            const struct region *region, struct region_text text) {
    add_text(out, region->text + text.at, text.len, text_room(state));
}

void line_name(struct line_buf *out, struct line_state *state, const struct region *region,
               const struct region_name *name) {
    if (name->kind >= NAME_CATEGORY) {
        set_domain(out, state, region, name->domain);
    }
    if (name->kind == NAME_COUNTER && name->json.len) {
        set_json(out, state, region->text + name->json.at, name->json.len);
    }
    switch (name->kind) {
    case NAME_PROCESS:
        addf(out, "SetProcessName,%u,", region->head->process);
        break;
    case NAME_THREAD:
        addf(out, "SetThreadName,%u,%llu,", region->head->process, (unsigned long long)name->key);
        break;
    case NAME_CATEGORY:
        addf(out, "SetCategoryName,%llu,", (unsigned long long)name->key);
        break;
    case NAME_RESOURCE:
        add(out, "SetResourceName,");
        add_region_text(out, state, region, name->what);
        addf(out, ",\"0x%llx\",", (unsigned long long)name->key);
        break;
    default:
        add(out, "SetCounter,");
    }
    add_region_text(out, state, region, name->kind == NAME_COUNTER ? name->what : name->text);
    end_line(out);
    if (name->kind == NAME_COUNTER && name->json.len) {
        clear_json(out);
    }
}
