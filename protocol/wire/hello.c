// SPDX-License-Identifier: Apache-2.0
//
// The lines are built by hand into a buffer and read with jansson. Reading trusts nothing: for any
// bytes a hello ends in a value or in a sentence that says what is wrong, and a report of dropped
// lines is a value or an ordinary comment. The range of every number is checked before the number
// is narrowed.
#include "protocol/wire/hello.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "protocol/base/json.h"
#include "protocol/base/scan.h"
#include "protocol/base/utf8.h"
#include "protocol/text/forms.h"

// Bytes that the two names of a hello may take as escaped JSON. Together with the other members
// (fewer than 900 bytes) the line stays below NVTXT_HELLO_BYTES whatever the names hold.
#define CLIENT_JSON_BYTES 1024u
#define NAME_JSON_BYTES 2048u

static int fault(char *why, size_t size, int code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static int fault(char *why, size_t size, int code, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (size) {
        struct nvtxt_slice cut = nvtxt_slice_cut(nvtxt_slice_of(text), size - 1);
        memcpy(why, cut.data, cut.len);
        why[cut.len] = '\0';
    }
    return code;
}

// ---- Reading a hello ----------------------------------------------------------------------------

// Whether a line is the prefix, with a blank or nothing after it. Then `*text` is what follows.
static bool strip(struct nvtxt_slice line, struct nvtxt_slice prefix, struct nvtxt_slice *text) {
    if (line.len < prefix.len || memcmp(line.data, prefix.data, prefix.len) != 0) {
        return false;
    }
    *text = (struct nvtxt_slice){line.data + prefix.len, line.len - prefix.len};
    return text->len == 0 || text->data[0] == ' ' || text->data[0] == '\t';
}

bool nvtxt_hello_is(struct nvtxt_slice line) {
    struct nvtxt_slice text;
    return strip(line, NVTXT_SLICE(NVTXT_HELLO_PREFIX), &text);
}

// With hyphens or without, as it was written.
static bool read_session(const char *text, size_t len, char *session) {
    char usual[NVTXT_UUID_SIZE];
    if (strlen(text) != len || !nvtxt_uuid_read(text, usual)) {
        return false;
    }
    for (size_t i = 0; i <= len; i++) {
        session[i] = nvtxt_lower(text[i]);
    }
    return true;
}

// One integer of the mapping, which must be there.
static int read_mapping_int(const json_t *object, const char *key, int64_t *value, char *why,
                            size_t size) {
    const json_t *member = json_object_get(object, key);
    if (!json_is_integer(member)) {
        return fault(why, size, NVTXT_HELLO_MALFORMED,
                     member ? "'%s' of the hello's 'mapping' must be an integer"
                            : "the hello's 'mapping' lacks '%s'",
                     key);
    }
    *value = json_integer_value(member);
    return 0;
}

static int read_mapping(const json_t *object, struct nvtxt_mapping *mapping, char *why,
                        size_t size) {
    if (!object) {
        return 0;
    }
    if (!json_is_object(object)) {
        return fault(why, size, NVTXT_HELLO_MALFORMED, "'mapping' of the hello must be an object");
    }
    const char *mode = json_string_value(json_object_get(object, "mode"));
    bool lerp = mode && strcmp(mode, "lerp") == 0;
    if (!lerp && !(mode && strcmp(mode, "lin") == 0)) {
        return fault(why, size, NVTXT_HELLO_MALFORMED,
                     "'mode' of the hello's 'mapping' must be \"lerp\" or \"lin\"");
    }
    struct nvtxt_mapping read = {.mode = lerp ? NVTXT_MAPPING_LERP : NVTXT_MAPPING_LIN};
    if (read_mapping_int(object, "ns_a", &read.ns_a, why, size) ||
        read_mapping_int(object, "nvtxt_a", &read.nvtxt_a, why, size) ||
        (lerp && read_mapping_int(object, "ns_b", &read.ns_b, why, size)) ||
        (lerp && read_mapping_int(object, "nvtxt_b", &read.nvtxt_b, why, size)) ||
        (!lerp && read_mapping_int(object, "freq", &read.freq, why, size))) {
        return NVTXT_HELLO_MALFORMED;
    }
    const char *impossible = nvtxt_mapping_fault(&read);
    if (impossible) {
        return fault(why, size, NVTXT_HELLO_MALFORMED, "the hello's 'mapping' is impossible: %s",
                     impossible);
    }
    *mapping = read;
    return 0;
}

static int read_name(const json_t *root, const char *key, char *to, char *why, size_t size) {
    const json_t *member = json_object_get(root, key);
    if (member && !json_is_string(member)) {
        return fault(why, size, NVTXT_HELLO_MALFORMED, "'%s' of the hello must be a string", key);
    }
    if (member) {
        struct nvtxt_slice name = {json_string_value(member), json_string_length(member)};
        name = nvtxt_slice_cut(name, NVTXT_SOURCE_NAME_BYTES);
        memcpy(to, name.data, name.len);
        to[name.len] = '\0';
    }
    return 0;
}

// An integer that may be missing.
static int read_number(const json_t *root, const char *key, int64_t largest, bool *has,
                       int64_t *value, char *why, size_t size) {
    const json_t *member = json_object_get(root, key);
    *has = member != NULL;
    if (!member) {
        return 0;
    }
    *value = json_integer_value(member);
    if (!json_is_integer(member) || *value < 0 || *value > largest) {
        return fault(why, size, NVTXT_HELLO_MALFORMED,
                     "'%s' of the hello must be an integer from 0 to %lld", key,
                     (long long)largest);
    }
    return 0;
}

// The token of a parent that may be missing or empty. What cannot be read is none, and is cut.
static void read_parent(const json_t *member, char parent[NVTXT_PARENT_BYTES + 1], bool *bad) {
    struct nvtxt_slice text = {json_string_value(member) ?: "", json_string_length(member)};
    bool given = member && !(json_is_string(member) && text.len == 0);
    *bad = given && !nvtxt_parent_read(text, parent);
    if (!given || *bad) {
        text = nvtxt_slice_cut(text, NVTXT_PARENT_BYTES);
        memcpy(parent, text.data, text.len);
        parent[text.len] = '\0';
    }
}

// A flag that keeps its value when it is missing.
static int read_flag(const json_t *root, const char *key, bool *flag, char *why, size_t size) {
    const json_t *member = json_object_get(root, key);
    if (member && !json_is_boolean(member)) {
        return fault(why, size, NVTXT_HELLO_MALFORMED, "'%s' of the hello must be true or false",
                     key);
    }
    *flag = member ? json_is_true(member) : *flag;
    return 0;
}

// An integer from 1 that may be missing, then it is 0. `what` says what it is.
static int read_positive(const json_t *root, const char *key, const char *what, int64_t *value,
                         char *why, size_t size) {
    const json_t *member = json_object_get(root, key);
    *value = json_integer_value(member);
    if (member && *value < 1) {
        return fault(why, size, NVTXT_HELLO_MALFORMED,
                     "'%s' of the hello must be an integer of 1 or more: %s", key, what);
    }
    return 0;
}

static int read_extension(const json_t *root, struct nvtxt_hello *hello, char *why, size_t size) {
    if (read_flag(root, "escapes", &hello->escapes, why, size) ||
        read_positive(root, "nvtx", "the highest version of the extension that the client knows",
                      &hello->nvtx, why, size)) {
        return NVTXT_HELLO_MALFORMED;
    }
    hello->nvtx_optional = hello->escapes && hello->nvtx > 0;
    hello->escapes = hello->escapes || hello->nvtx > 0;
    return 0;
}

static int read_protocol(const json_t *root, struct nvtxt_hello *hello, char *why, size_t size) {
    const json_t *member = json_object_get(root, "protocol");
    if (!json_is_integer(member)) {
        return fault(why, size, NVTXT_HELLO_MALFORMED,
                     member ? "'protocol' of the hello must be an integer"
                            : "the hello lacks 'protocol'");
    }
    hello->protocol = json_integer_value(member);
    if (hello->protocol != NVTXT_PROTOCOL_VERSION) {
        return fault(why, size, NVTXT_HELLO_UNSUPPORTED, "protocol %lld is not supported",
                     (long long)hello->protocol);
    }
    return 0;
}

static int read_hello(const json_t *root, struct nvtxt_hello *hello, char *why, size_t size) {
    // The protocol is first: it decides what the other members mean.
    int r = read_protocol(root, hello, why, size);
    if (r != 0) {
        return r;
    }
    int64_t probe = 0;
    if (read_positive(root, "probe", "1 asks for a welcome and no session", &probe, why, size)) {
        return NVTXT_HELLO_MALFORMED;
    }
    hello->is_probe = probe > 0;
    const json_t *member = json_object_get(root, "session");
    if (!member && hello->is_probe) {
        hello->session[0] = '\0';
    } else if (!json_is_string(member) ||
               !read_session(json_string_value(member), json_string_length(member),
                             hello->session)) {
        return fault(why, size, NVTXT_HELLO_MALFORMED,
                     member ? "'session' of the hello must be a UUID: 32 hexadecimal digits, with "
                              "the usual dashes or without"
                            : "the hello lacks 'session', a UUID that the client makes");
    }
    int64_t pid = 0;
    int64_t acked = 0;
    if (read_name(root, "client", hello->client, why, size) ||
        read_name(root, "name", hello->name, why, size) ||
        read_number(root, "pid", NVTXT_ID_MAX, &hello->has_pid, &pid, why, size) ||
        read_number(root, "acked", INT64_MAX, &hello->has_acked, &acked, why, size)) {
        return NVTXT_HELLO_MALFORMED;
    }
    hello->pid = (uint32_t)pid;
    hello->acked = (uint64_t)acked;
    if (read_flag(root, "diagnostics", &hello->diagnostics, why, size) ||
        read_flag(root, "levels", &hello->levels, why, size) ||
        read_extension(root, hello, why, size) ||
        read_positive(root, "expiry", "seconds that the session can be resumed", &hello->expiry,
                      why, size)) {
        return NVTXT_HELLO_MALFORMED;
    }
    read_parent(json_object_get(root, "parent"), hello->parent, &hello->bad_parent);
    return read_mapping(json_object_get(root, "mapping"), &hello->mapping, why, size);
}

// Reads the object of a hello line and gives it to `take`.
static int read_line(struct nvtxt_slice line, struct nvtxt_hello *hello, char *why, size_t size,
                     int (*take)(const json_t *root, struct nvtxt_hello *hello, char *why,
                                 size_t size)) {
    *hello = (struct nvtxt_hello){.diagnostics = true};
    if (line.len > NVTXT_HELLO_BYTES) {
        return fault(why, size, NVTXT_HELLO_MALFORMED, "the hello is longer than %d bytes",
                     NVTXT_HELLO_BYTES);
    }
    struct nvtxt_slice text;
    if (!strip(line, NVTXT_SLICE(NVTXT_HELLO_PREFIX), &text)) {
        return fault(why, size, NVTXT_HELLO_MALFORMED,
                     "the hello does not begin with " NVTXT_HELLO_PREFIX);
    }
    json_error_t error = {0};
    json_t *root;
    int r = nvtxt_json_read(text, JSON_REJECT_DUPLICATES, &root, &error);
    if (r < 0) {
        return r;
    }
    if (!json_is_object(root)) {
        bool no_reason = root || text.len == 0;
        json_decref(root);
        return fault(why, size, NVTXT_HELLO_MALFORMED,
                     no_reason ? "what follows " NVTXT_HELLO_PREFIX " is not a JSON object"
                               : "what follows " NVTXT_HELLO_PREFIX " is not a JSON object: %s",
                     error.text);
    }
    r = take(root, hello, why, size);
    json_decref(root);
    return r;
}

int nvtxt_hello_parse(struct nvtxt_slice line, struct nvtxt_hello *hello, char *why, size_t size) {
    return read_line(line, hello, why, size, read_hello);
}

static int read_hello_of_file(const json_t *root, struct nvtxt_hello *hello, char *why,
                              size_t size) {
    int r = read_protocol(root, hello, why, size);
    return r ?: read_extension(root, hello, why, size);
}

int nvtxt_hello_of_file(struct nvtxt_slice line, bool *escapes, bool *nvtx) {
    struct nvtxt_hello hello;
    char why[1];
    *escapes = *nvtx = false;
    int r = nvtxt_hello_is(line) ? read_line(line, &hello, why, 0, read_hello_of_file) : 1;
    if (r == 0) {
        *escapes = hello.escapes;
        *nvtx = hello.nvtx > 0;
    }
    return r < 0 ? r : r == 0;
}

// ---- Building a hello ---------------------------------------------------------------------------

// A member whose text may be any bytes, cut so that it takes at most `most` bytes as JSON.
static void add_name(struct nvtxt_buf *out, const char *key, const char *text, size_t most) {
    if (!*text) {
        return;
    }
    nvtxt_buf_add_string(out, ",\"");
    nvtxt_buf_add_string(out, key);
    nvtxt_buf_add_string(out, "\":\"");
    struct nvtxt_buf one = {0};
    size_t used = 0;
    for (size_t left = strlen(text); left > 0;) {
        size_t len = nvtxt_utf8_sequence(text, left);
        struct nvtxt_slice character =
            len ? (struct nvtxt_slice){text, len} : NVTXT_SLICE("\xef\xbf\xbd");
        nvtxt_buf_clear(&one);
        nvtxt_buf_add_json_string(&one, character);
        if (nvtxt_buf_failed(&one)) {
            out->failed = true;
            break;
        }
        if (used + one.len - 2 > most) {
            break;
        }
        nvtxt_buf_add(out, one.data + 1, one.len - 2); // without its quotes
        used += one.len - 2;
        text += len ?: 1;
        left -= len ?: 1;
    }
    nvtxt_buf_deinit(&one);
    nvtxt_buf_add_string(out, "\"");
}

void nvtxt_hello_format(struct nvtxt_buf *out, const struct nvtxt_hello *hello) {
    nvtxt_buf_add_pair_int(out, NVTXT_HELLO_PREFIX " {\"protocol\":", hello->protocol);
    if (hello->is_probe) {
        nvtxt_buf_add_pair_int(out, ",\"probe\":", 1);
    }
    if (*hello->session) {
        nvtxt_buf_add_pair_text(out, ",\"session\":", hello->session);
    }
    add_name(out, "client", hello->client, CLIENT_JSON_BYTES);
    add_name(out, "name", hello->name, NAME_JSON_BYTES);
    if (hello->has_pid) {
        nvtxt_buf_add_pair_uint(out, ",\"pid\":", hello->pid);
    }
    const struct nvtxt_mapping *mapping = &hello->mapping;
    if (mapping->mode != NVTXT_MAPPING_NONE) {
        bool lerp = mapping->mode == NVTXT_MAPPING_LERP;
        nvtxt_buf_add_pair_text(out, ",\"mapping\":{\"mode\":", lerp ? "lerp" : "lin");
        nvtxt_buf_add_pair_int(out, ",\"ns_a\":", mapping->ns_a);
        nvtxt_buf_add_pair_int(out, ",\"nvtxt_a\":", mapping->nvtxt_a);
        if (lerp) {
            nvtxt_buf_add_pair_int(out, ",\"ns_b\":", mapping->ns_b);
            nvtxt_buf_add_pair_int(out, ",\"nvtxt_b\":", mapping->nvtxt_b);
        } else {
            nvtxt_buf_add_pair_int(out, ",\"freq\":", mapping->freq);
        }
        nvtxt_buf_add_string(out, "}");
    }
    if (hello->nvtx) {
        nvtxt_buf_add_pair_int(out, ",\"nvtx\":", hello->nvtx);
    }
    if (hello->expiry) {
        nvtxt_buf_add_pair_int(out, ",\"expiry\":", hello->expiry);
    }
    if (hello->escapes && (!hello->nvtx || hello->nvtx_optional)) {
        nvtxt_buf_add_string(out, ",\"escapes\":true");
    }
    if (hello->levels) {
        nvtxt_buf_add_string(out, ",\"levels\":true");
    }
    if (!hello->diagnostics) {
        nvtxt_buf_add_string(out, ",\"diagnostics\":false");
    }
    if (*hello->parent && !hello->bad_parent) {
        nvtxt_buf_add_pair_text(out, ",\"parent\":", hello->parent);
    }
    if (hello->has_acked) {
        nvtxt_buf_add_pair_uint(out, ",\"acked\":", hello->acked);
    }
    nvtxt_buf_add_string(out, "}\n");
}

// ---- Dropped lines ------------------------------------------------------------------------------

// The object of a line of a session: 1, 0 for a line that is an ordinary comment, or -ENOMEM. The
// object is the caller's.
static int read_object(struct nvtxt_slice line, size_t longest, struct nvtxt_slice prefix,
                       json_t **root) {
    struct nvtxt_slice text;
    *root = NULL;
    if (line.len > longest || !strip(line, prefix, &text)) {
        return 0;
    }
    int r = nvtxt_json_read(text, JSON_REJECT_DUPLICATES, root, NULL);
    return r < 0 ? r : r == NVTXT_JSON_READ;
}

int nvtxt_lost_parse(struct nvtxt_slice line, struct nvtxt_lost *lost) {
    *lost = (struct nvtxt_lost){0};
    json_t *root;
    int r = read_object(line, NVTXT_LOST_BYTES, NVTXT_SLICE(NVTXT_LOST_PREFIX), &root);
    if (r <= 0) {
        return r;
    }
    const json_t *lines = json_object_get(root, "lines");
    const json_t *reason = json_object_get(root, "reason");
    size_t len = json_string_length(reason);
    bool good = json_is_integer(lines) && json_integer_value(lines) > 0 && len > 0 &&
                len < sizeof(lost->reason);
    for (size_t i = 0; good && i < len; i++) {
        char byte = json_string_value(reason)[i];
        good = (byte >= 'a' && byte <= 'z') || byte == '-';
    }
    if (good) {
        lost->lines = (uint64_t)json_integer_value(lines);
        memcpy(lost->reason, json_string_value(reason), len);
    }
    json_decref(root);
    return good;
}

void nvtxt_lost_format(struct nvtxt_buf *out, const struct nvtxt_lost *lost) {
    nvtxt_buf_add_string(out, NVTXT_LOST_PREFIX " {\"lines\":");
    nvtxt_buf_add_uint(out, lost->lines);
    nvtxt_buf_add_string(out, ",\"reason\":");
    nvtxt_buf_add_json_string(out, nvtxt_slice_of(lost->reason));
    nvtxt_buf_add_string(out, "}\n");
}

// ---- Keys of ranges -----------------------------------------------------------------------------

int nvtxt_keyed_parse(struct nvtxt_slice line, struct nvtxt_keyed *keyed) {
    *keyed = (struct nvtxt_keyed){0};
    json_t *root;
    int r = read_object(line, NVTXT_RANGE_BYTES, NVTXT_SLICE(NVTXT_RANGE_PREFIX), &root);
    if (r <= 0) {
        return r;
    }
    const json_t *member = json_object_get(root, "key");
    struct nvtxt_slice key = {json_string_value(member), json_string_length(member)};
    bool good = nvtxt_key_is(key);
    if (good) {
        memcpy(keyed->key, key.data, key.len);
        read_parent(json_object_get(root, "parent"), keyed->parent, &keyed->bad_parent);
    }
    json_decref(root);
    return good;
}

void nvtxt_keyed_format(struct nvtxt_buf *out, const struct nvtxt_keyed *keyed) {
    nvtxt_buf_add_pair_text(out, NVTXT_RANGE_PREFIX " {\"key\":", keyed->key);
    if (*keyed->parent && !keyed->bad_parent) {
        nvtxt_buf_add_pair_text(out, ",\"parent\":", keyed->parent);
    }
    nvtxt_buf_add_string(out, "}\n");
}
