// SPDX-License-Identifier: Apache-2.0
//
// Replies are built by hand into a buffer and read with jansson. A client does not trust its
// daemon: for any bytes reading ends in a value or in "no reply". The range of a number is checked
// before the number is narrowed. A string is cut to its field between two characters, and its
// control characters become blanks, because it will be shown on a terminal.
#include "protocol/wire/reply.h"

#include <jansson.h>
#include <string.h>

#include "protocol/base/json.h"
#include "protocol/base/utf8.h"
#include "protocol/wire/hello.h"

// ---- Building -----------------------------------------------------------------------------------

static void add_path(struct nvtxt_buf *out, const char *before, const char *path) {
    size_t start = out->len;
    struct nvtxt_slice text = nvtxt_slice_of(path);
    if (*path != '/' || !nvtxt_utf8_valid(text)) {
        return;
    }
    nvtxt_buf_add_pair_text(out, before, path);
    if (out->len - start > strlen(before) + NVTXT_REPLY_PATH_BYTES) {
        out->len = start;
    }
}

void nvtxt_reply_welcome(struct nvtxt_buf *out, const struct nvtxt_welcome *welcome) {
    const struct nvtxt_limits *limits = welcome->limits;
    nvtxt_buf_add_pair_int(out, "{\"type\":\"welcome\",\"protocol\":", NVTXT_PROTOCOL_VERSION);
    nvtxt_buf_add_pair_text(out, ",\"session\":", welcome->session);
    nvtxt_buf_add_pair_int(out, ",\"source\":", welcome->source);
    nvtxt_buf_add_pair_uint(out, ",\"line\":", welcome->line);
    nvtxt_buf_add_pair_uint(out, ",\"limits\":{\"line\":", limits->line_bytes);
    nvtxt_buf_add_pair_uint(out, ",\"variables\":", limits->variables);
    nvtxt_buf_add_pair_uint(out, ",\"variable_bytes\":", limits->variable_bytes);
    nvtxt_buf_add_pair_uint(out, ",\"name\":", limits->name_bytes);
    nvtxt_buf_add_pair_uint(out, ",\"push_depth\":", limits->push_depth);
    nvtxt_buf_add_pair_uint(out, ",\"open_ranges\":", limits->open_ranges);
    nvtxt_buf_add_pair_uint(out, ",\"open_threads\":", limits->open_threads);
    nvtxt_buf_add_pair_uint(out, ",\"diagnostics\":", limits->diagnostics);
    nvtxt_buf_add_pair_text(out, "},\"synchronous\":", welcome->synchronous);
    nvtxt_buf_add_pair_text(out, ",\"version\":", welcome->version);
    add_path(out, ",\"control\":", welcome->control);
    add_path(out, ",\"store\":", welcome->store);
    if (welcome->nvtx) {
        nvtxt_buf_add_pair_int(out, ",\"nvtx\":", NVTXT_NVTX_VERSION);
    }
    if (welcome->levels) {
        nvtxt_buf_add_string(out, ",\"levels\":true");
    }
    if (welcome->escapes) {
        nvtxt_buf_add_string(out, ",\"escapes\":true");
    }
    nvtxt_buf_add_string(out, "}\n");
}

void nvtxt_reply_ack(struct nvtxt_buf *out, uint64_t line) {
    nvtxt_buf_add_pair_uint(out, "{\"type\":\"ack\",\"line\":", line);
    nvtxt_buf_add_string(out, "}\n");
}

void nvtxt_reply_diagnostic(struct nvtxt_buf *out, uint64_t line, uint32_t column,
                            const char *severity, const char *stage, const char *code,
                            const char *message) {
    nvtxt_buf_add_pair_uint(out, "{\"type\":\"diagnostic\",\"line\":", line);
    nvtxt_buf_add_pair_uint(out, ",\"column\":", column);
    nvtxt_buf_add_pair_text(out, ",\"severity\":", severity);
    nvtxt_buf_add_pair_text(out, ",\"stage\":", stage);
    nvtxt_buf_add_pair_text(out, ",\"code\":", code);
    nvtxt_buf_add_pair_text(out, ",\"message\":", message);
    nvtxt_buf_add_string(out, "}\n");
}

void nvtxt_reply_end(struct nvtxt_buf *out, uint64_t line, uint64_t events, uint64_t warnings,
                     uint64_t errors, const char *how) {
    nvtxt_buf_add_pair_uint(out, "{\"type\":\"end\",\"line\":", line);
    nvtxt_buf_add_pair_uint(out, ",\"events\":", events);
    nvtxt_buf_add_pair_uint(out, ",\"warnings\":", warnings);
    nvtxt_buf_add_pair_uint(out, ",\"errors\":", errors);
    if (*how) {
        nvtxt_buf_add_pair_text(out, ",\"how\":", how);
    }
    nvtxt_buf_add_string(out, "}\n");
}

void nvtxt_reply_error(struct nvtxt_buf *out, const char *code, const char *message) {
    nvtxt_buf_add_pair_text(out, "{\"type\":\"error\",\"code\":", code);
    nvtxt_buf_add_pair_text(out, ",\"message\":", message);
    nvtxt_buf_add_string(out, "}\n");
}

// ---- Reading ------------------------------------------------------------------------------------

// A string member; "" when it is missing. False when it is of another type.
static bool read_text(const json_t *root, const char *key, char *to, size_t size) {
    const json_t *member = json_object_get(root, key);
    to[0] = '\0';
    if (!member) {
        return true;
    }
    if (!json_is_string(member)) {
        return false;
    }
    struct nvtxt_slice text = {json_string_value(member), json_string_length(member)};
    (void)nvtxt_utf8_show(to, size, text);
    return true;
}

// An integer member that must be there, from 0 to `largest`.
static bool read_uint(const json_t *root, const char *key, uint64_t largest, uint64_t *value) {
    const json_t *member = json_object_get(root, key);
    if (!json_is_integer(member) || json_integer_value(member) < 0) {
        return false;
    }
    *value = (uint64_t)json_integer_value(member);
    return *value <= largest;
}

static bool read_welcome(const json_t *root, struct nvtxt_reply *reply) {
    uint64_t protocol = 0;
    uint64_t source = 0;
    uint64_t line_bytes = 0;
    if (!read_uint(root, "protocol", INT64_MAX, &protocol) ||
        !read_uint(root, "source", INT64_MAX, &source) ||
        !read_uint(root, "line", INT64_MAX, &reply->line)) {
        return false;
    }
    uint64_t nvtx = 0;
    if (json_object_get(root, "nvtx") && !read_uint(root, "nvtx", INT64_MAX, &nvtx)) {
        return false;
    }
    // A daemon may leave out the limits: they are advice.
    (void)read_uint(json_object_get(root, "limits"), "line", SIZE_MAX, &line_bytes);
    reply->protocol = (int64_t)protocol;
    reply->source = (int64_t)source;
    reply->line_bytes = line_bytes;
    reply->nvtx = (int64_t)nvtx;
    reply->levels = json_is_true(json_object_get(root, "levels"));
    reply->escapes = json_is_true(json_object_get(root, "escapes"));
    return read_text(root, "version", reply->version, sizeof(reply->version)) &&
           read_text(root, "session", reply->session, sizeof(reply->session)) &&
           read_text(root, "synchronous", reply->synchronous, sizeof(reply->synchronous));
}

static bool read_diagnostic(const json_t *root, struct nvtxt_reply *reply) {
    uint64_t column = 0;
    if (!read_uint(root, "line", INT64_MAX, &reply->line) ||
        !read_uint(root, "column", UINT32_MAX, &column)) {
        return false;
    }
    reply->column = (uint32_t)column;
    return read_text(root, "severity", reply->severity, sizeof(reply->severity)) &&
           read_text(root, "stage", reply->stage, sizeof(reply->stage)) &&
           read_text(root, "code", reply->code, sizeof(reply->code)) &&
           read_text(root, "message", reply->message, sizeof(reply->message));
}

static bool read_ack(const json_t *root, struct nvtxt_reply *reply) {
    return read_uint(root, "line", INT64_MAX, &reply->line);
}

static bool read_end(const json_t *root, struct nvtxt_reply *reply) {
    return read_uint(root, "line", INT64_MAX, &reply->line) &&
           read_uint(root, "events", INT64_MAX, &reply->events) &&
           read_uint(root, "warnings", INT64_MAX, &reply->warnings) &&
           read_uint(root, "errors", INT64_MAX, &reply->errors) &&
           (!json_object_get(root, "how") ||
            read_text(root, "how", reply->how, sizeof(reply->how)));
}

static bool read_error(const json_t *root, struct nvtxt_reply *reply) {
    return read_text(root, "code", reply->code, sizeof(reply->code)) &&
           read_text(root, "message", reply->message, sizeof(reply->message));
}

static bool read_reply(const json_t *root, struct nvtxt_reply *reply) {
    static const struct {
        const char *name;
        enum nvtxt_reply_type type;
        bool (*read)(const json_t *root, struct nvtxt_reply *reply);
    } kinds[] = {
        {"welcome", NVTXT_REPLY_WELCOME, read_welcome},
        {"ack", NVTXT_REPLY_ACK, read_ack},
        {"diagnostic", NVTXT_REPLY_DIAGNOSTIC, read_diagnostic},
        {"end", NVTXT_REPLY_END, read_end},
        {"error", NVTXT_REPLY_ERROR, read_error},
    };
    const char *name = json_string_value(json_object_get(root, "type"));
    if (!name) {
        return false;
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(name, kinds[i].name) == 0) {
            reply->type = kinds[i].type;
            return kinds[i].read(root, reply);
        }
    }
    return true; // a type of a later version
}

int nvtxt_reply_parse(struct nvtxt_slice line, struct nvtxt_reply *reply) {
    *reply = (struct nvtxt_reply){.type = NVTXT_REPLY_OTHER};
    json_t *root = line.len ? json_loadb(line.data, line.len, 0, NULL) : NULL;
    bool is_reply = json_is_object(root) && read_reply(root, reply);
    json_decref(root);
    return is_reply ? 0 : 1;
}

// Exactly as it stands there: it will be opened.
static void read_path(const json_t *root, const char *key, char *to) {
    const json_t *member = json_object_get(root, key);
    size_t len = json_string_length(member);
    const char *path = json_string_value(member);
    bool good = len > 0 && len < NVTXT_REPLY_PATH_BYTES && *path == '/';
    memcpy(to, good ? path : "", good ? len + 1 : 1);
}

int nvtxt_reply_paths(struct nvtxt_slice line, char *control, char *store) {
    json_t *root = line.len ? json_loadb(line.data, line.len, 0, NULL) : NULL;
    const char *type = json_string_value(json_object_get(root, "type"));
    bool is_welcome = type && strcmp(type, "welcome") == 0;
    read_path(root, "control", control);
    read_path(root, "store", store);
    json_decref(root);
    return is_welcome ? 0 : 1;
}
