// SPDX-License-Identifier: Apache-2.0
//
// A link ends at the next `@`; so its text has none. Where its target ends differs: numbers and
// identifiers have no colon, a file has its line after it, and an address may have the colons of a
// scheme and of a port.
#include "report/rule/links.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *word;
    enum report_link_kind kind;
} words[] = {
    {"url:", REPORT_LINK_URL},   {"section:", REPORT_LINK_SECTION}, {"range:", REPORT_LINK_RANGE},
    {"time:", REPORT_LINK_TIME}, {"source:", REPORT_LINK_SOURCE},
};

static struct nvtxt_slice cut(struct nvtxt_slice text, size_t from, size_t to) {
    return (struct nvtxt_slice){text.data + from, to - from};
}

static bool starts_with(struct nvtxt_slice text, const char *word) {
    size_t len = strlen(word);
    return text.len >= len && memcmp(text.data, word, len) == 0;
}

static size_t digits_at(struct nvtxt_slice text, size_t at) {
    size_t n = 0;
    while (at + n < text.len && text.data[at + n] >= '0' && text.data[at + n] <= '9') {
        n++;
    }
    return n;
}

// The place of the next colon, or the length.
static size_t colon(struct nvtxt_slice text, size_t at) {
    const char *found = at < text.len ? memchr(text.data + at, ':', text.len - at) : NULL;
    return found ? (size_t)(found - text.data) : text.len;
}

static bool is_port(struct nvtxt_slice text, size_t at) {
    size_t digits = digits_at(text, at + 1);
    size_t after = at + 1 + digits;
    return digits > 0 && after < text.len && strchr("/?#:", text.data[after]);
}

// Where the address of `ADDRESS:TEXT` ends.
static size_t address_end(struct nvtxt_slice body, bool *is_web) {
    size_t scheme = starts_with(body, "https://")  ? sizeof("https://") - 1
                    : starts_with(body, "http://") ? sizeof("http://") - 1
                                                   : 0;
    *is_web = scheme > 0;
    if (!*is_web) {
        size_t end = body.len;
        for (size_t at = colon(body, 0); at < body.len; at = colon(body, at + 1)) {
            end = at;
        }
        return end;
    }
    size_t at = colon(body, scheme);
    while (at < body.len && is_port(body, at)) {
        at = colon(body, at + 1);
    }
    return at;
}

static bool read_number(struct nvtxt_slice body, bool sign, size_t *end) {
    size_t from = sign && starts_with(body, "-") ? 1 : 0;
    size_t digits = digits_at(body, from);
    *end = from + digits;
    return digits > 0 && *end < body.len && body.data[*end] == ':';
}

// `FILE:LINE:TEXT`: the first line number counts.
static bool read_source(struct nvtxt_slice body, struct report_link *link) {
    for (size_t at = colon(body, 0); at < body.len; at = colon(body, at + 1)) {
        size_t digits = digits_at(body, at + 1);
        size_t end = at + 1 + digits;
        if (at > 0 && digits > 0 && end < body.len && body.data[end] == ':') {
            link->target = cut(body, 0, at);
            link->line = cut(body, at + 1, end);
            link->text = cut(body, end + 1, body.len);
            return true;
        }
    }
    return false;
}

static bool read_body(struct nvtxt_slice body, struct report_link *link) {
    size_t end = colon(body, 0);
    bool is_web = true;
    switch (link->kind) {
    case REPORT_LINK_SOURCE:
        return read_source(body, link);
    case REPORT_LINK_URL:
        end = address_end(body, &is_web);
        link->kind = is_web ? REPORT_LINK_URL : REPORT_LINK_NONE;
        break;
    case REPORT_LINK_RANGE:
    case REPORT_LINK_TIME:
        if (!read_number(body, true, &end)) {
            return false;
        }
        break;
    default:
        break;
    }
    if (end == 0 || end >= body.len) {
        return false;
    }
    link->target = cut(body, 0, end);
    link->text = cut(body, end + 1, body.len);
    return true;
}

// `inside`: what stands between two at signs.
static bool read_link(struct nvtxt_slice inside, struct report_link *link) {
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (starts_with(inside, words[i].word)) {
            *link = (struct report_link){.kind = words[i].kind};
            return read_body(cut(inside, strlen(words[i].word), inside.len), link);
        }
    }
    return false;
}

static size_t at_sign(struct nvtxt_slice text, size_t from) {
    const char *found = from < text.len ? memchr(text.data + from, '@', text.len - from) : NULL;
    return found ? (size_t)(found - text.data) : text.len;
}

bool report_link_next(struct nvtxt_slice *rest, struct nvtxt_slice *before,
                      struct report_link *link) {
    struct nvtxt_slice text = *rest;
    size_t open = at_sign(text, 0);
    while (open < text.len) {
        size_t close = at_sign(text, open + 1);
        if (close >= text.len) {
            break;
        }
        if (read_link(cut(text, open + 1, close), link)) {
            *before = cut(text, 0, open);
            *rest = cut(text, close + 1, text.len);
            return true;
        }
        open = close;
    }
    *before = text;
    *rest = (struct nvtxt_slice){NULL, 0};
    return false;
}
