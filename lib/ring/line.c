// SPDX-License-Identifier: Apache-2.0
//
// Lines are put together in a buffer that holds the largest record, so nothing here can run out of
// room. A text is repaired and escaped in one walk; the walk stops at the character that would take
// the line past its limit.
#include "lib/ring/line.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "protocol/base/utf8.h"
#include "protocol/lang/value.h"

#define LINE_ROOM 512u // of a line, for all but its longest text

static void add_plain(struct line_buf *out, const char *text) {
    size_t len = strlen(text);
    memcpy(out->data + out->len, text, len);
    out->len += len;
}

static void add_byte(struct line_buf *out, char byte) {
    out->data[out->len++] = byte;
}

static void addf(struct line_buf *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void addf(struct line_buf *out, const char *format, ...) {
    va_list args;
    va_start(args, format);
    out->len += (size_t)vsnprintf(out->data + out->len, LINES_BYTES - out->len, format, args);
    va_end(args);
}

// Two digits at a time: these numbers are most of what the sender writes.
static void add_number(struct line_buf *out, uint64_t number) {
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    char digits[20], *at = digits + sizeof(digits);
    for (; number >= 100; number /= 100) {
        memcpy(at -= 2, &pairs[number % 100 * 2], 2);
    }
    if (number >= 10) {
        memcpy(at -= 2, &pairs[number * 2], 2);
    } else {
        *--at = (char)('0' + number);
    }
    size_t len = (size_t)(digits + sizeof(digits) - at);
    memcpy(out->data + out->len, at, len);
    out->len += len;
}

static void add_signed(struct line_buf *out, int64_t number) {
    if (number < 0) {
        add_byte(out, '-');
    }
    add_number(out, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

static void end_line(struct line_buf *out) {
    add_byte(out, '\n');
    out->lines++;
}

static bool is_plain(unsigned char byte) {
    return byte < 0x80 && byte != '"' && byte != '\\' && byte != '\n';
}

// Writes the character at `text` as it stands in quotes, at most 4 bytes. Returns how many bytes of
// the text it was; U+FFFD stands for a byte that is of none.
static size_t put_char(char *to, size_t *put, const char *text, size_t len) {
    size_t bytes = nvtxt_utf8_sequence(text, len);
    if (bytes == 0) {
        memcpy(to, "\xef\xbf\xbd", *put = 3);
        return 1;
    }
    if (bytes > 1 || is_plain((unsigned char)*text)) {
        memcpy(to, text, *put = bytes);
        return bytes;
    }
    to[0] = '\\';
    to[1] = *text == '\n' ? 'n' : *text;
    *put = 2;
    return 1;
}

// In double quotes, with at most `most` bytes between them. Returns whether all of it is there.
static bool add_text(struct line_buf *out, const char *text, size_t len, size_t most) {
    add_byte(out, '"');
    char *to = out->data + out->len;
    size_t i = 0, at = 0;
    while (i < len) {
        size_t plain = 0, fits = len - i < most - at ? len - i : most - at;
        while (plain < fits && is_plain((unsigned char)text[i + plain])) {
            to[at + plain] = text[i + plain];
            plain++;
        }
        i += plain;
        at += plain;
        if (i == len || most - at < 4) {
            break;
        }
        size_t put;
        i += put_char(to + at, &put, text + i, len - i);
        at += put;
    }
    out->len += at;
    add_byte(out, '"');
    return i == len;
}

static size_t text_room(const struct line_state *state) {
    return state->limit - LINE_ROOM;
}

// The values of Domain and Json together stay below the limit of variables.
static size_t domain_room(const struct line_state *state) {
    return nvtxt_min(text_room(state), state->variables / 4);
}

static size_t json_room(const struct line_state *state) {
    return nvtxt_min(text_room(state), state->variables / 2);
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
        add_plain(out, lines[i]);
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
    add_plain(out, "Domain=");
    add_text(out, region->text + name.at, name.len, domain_room(state));
    end_line(out);
    state->domain = domain;
    state->has_domain = true;
}

// ---- Events -------------------------------------------------------------------------------------

static void add_float(struct line_buf *out, double value, int digits) {
    if (isnan(value) || isinf(value)) {
        add_plain(out, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    char number[64];
    snprintf(number, sizeof(number), "%.*g", digits, value);
    size_t whole = strspn(number, "+-0123456789"), part = strcspn(number + whole, "0123456789e");
    addf(out, "%.*s%s%s", (int)whole, number, part ? "." : "", // the locale's point
         number + whole + part);
}

static void add_value(struct line_buf *out, uint32_t kind, uint64_t bits) {
    double f64;
    float f32;
    uint32_t low = (uint32_t)bits;
    memcpy(&f64, &bits, sizeof(f64));
    memcpy(&f32, &low, sizeof(f32));
    add_byte(out, '"');
    switch (kind) {
    case RECORD_U64:
        add_plain(out, "u64:");
        add_number(out, bits);
        break;
    case RECORD_I64:
        add_plain(out, "i64:");
        add_signed(out, (int64_t)bits);
        break;
    case RECORD_F64:
        add_plain(out, "f64:");
        add_float(out, f64, 17);
        break;
    case RECORD_U32:
        add_plain(out, "u32:");
        add_number(out, low);
        break;
    case RECORD_I32:
        add_plain(out, "i32:");
        add_signed(out, (int32_t)low);
        break;
    case RECORD_F32:
        add_plain(out, "f32:");
        add_float(out, (double)f32, 9);
        break;
    default:
        break;
    }
    add_byte(out, '"');
}

// JSON goes before its event as a variable, and is empty again after it. What cannot be sent says
// how long it was. Bytes that are no UTF-8 can only be in a string of it, and are repaired.
static void set_json(struct line_buf *out, const struct line_state *state, const char *json,
                     uint32_t len) {
    size_t at;
    bool valid = !nvtxt_json_fault((struct nvtxt_slice){json, len}, &at);
    add_plain(out, "Json=");
    size_t from = out->len;
    if (!valid || !add_text(out, json, len, json_room(state))) {
        out->len = from;
        addf(out, "\"{\\\"%s\\\":%u}\"", valid ? "truncated" : "invalid", len);
    }
    end_line(out);
}

static void clear_json(struct line_buf *out) {
    add_plain(out, "Json=\"\"");
    end_line(out);
}

static void add_call(struct line_buf *out, const struct line_state *state,
                     const struct region *region, const struct record_view *view) {
    struct region_text string = {0, 0};
    if (view->has_string && view->string < atomic_load(&region->head->strings)) {
        string = region->strings[view->string];
    }
    const char *text = view->has_string ? region->text + string.at : view->text;
    add_byte(out, ',');
    add_number(out, view->category);
    add_byte(out, ',');
    add_number(out, view->color);
    add_byte(out, ',');
    add_value(out, view->value_kind, view->value);
    add_byte(out, ',');
    add_text(out, text, view->has_string ? string.len : view->text_len, text_room(state));
}

void line_record(struct line_buf *out, struct line_state *state, const struct region *region,
                 const struct record_view *view, uint32_t tid, int64_t offset_ns) {
    static const char *const calls[RECORD_KINDS] = {
        [RECORD_MARK] = "Marker,",      [RECORD_PUSH] = "RangePush,", [RECORD_POP] = "RangePop,",
        [RECORD_START] = "RangeStart,", [RECORD_END] = "RangeEnd,",
    };
    set_thread(out, state, tid);
    if (view->kind != RECORD_END) {
        set_domain(out, state, region, view->domain);
    }
    if (view->json_len) {
        set_json(out, state, view->json, view->json_len);
    }
    add_plain(out, calls[view->kind]);
    add_signed(out, (int64_t)view->time + offset_ns);
    if (view->kind == RECORD_START || view->kind == RECORD_END) {
        add_byte(out, ',');
        add_number(out, view->id);
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
        add_plain(out, "SetResourceName,");
        add_region_text(out, state, region, name->what);
        addf(out, ",\"0x%llx\",", (unsigned long long)name->key);
        break;
    default:
        add_plain(out, "SetCounter,");
    }
    add_region_text(out, state, region, name->kind == NAME_COUNTER ? name->what : name->text);
    end_line(out);
    if (name->kind == NAME_COUNTER && name->json.len) {
        clear_json(out);
    }
}
