// SPDX-License-Identifier: Apache-2.0
//
// A link ends at the next `@`; so its text has none. Where its target ends differs: numbers and
// identifiers have no colon, a file has its line after it, and an address may have the colons of a
// scheme and of a port. An address is before its text or, as NVIDIA writes it, behind it: that with
// the scheme is the address. What has no text is shown by its target.
#include "report/table/links.h"

#include <stddef.h>
#include <string.h>

#include "protocol/base/scan.h"

static const struct {
    const char *word;
    enum report_link_kind kind;
} words[] = {
    {"url:", REPORT_LINK_URL},   {"section:", REPORT_LINK_SECTION}, {"range:", REPORT_LINK_RANGE},
    {"time:", REPORT_LINK_TIME}, {"source:", REPORT_LINK_SOURCE},   {"sass:", REPORT_LINK_NONE},
};

// What a link leads to, and its text; the target without one.
static void set(struct report_link *link, struct nvtxt_slice target, struct nvtxt_slice text) {
    link->target = target;
    link->text = text.len > 0 ? text : target;
}

// A target that ends at a colon; NULL: it is all there is.
static void set_ended(struct report_link *link, const struct nvtxt_scan *in, const char *colon) {
    set(link, nvtxt_slice_between(in->begin, colon ?: in->end),
        nvtxt_slice_between(colon ? colon + 1 : in->end, in->end));
}

// Moves over a scheme and its `://`.
static bool take_scheme(struct nvtxt_scan *in) {
    return nvtxt_scan_take_run(in, NVTXT_CHAR_DOTTED).len > 0 && nvtxt_scan_take_text(in, "://");
}

// Where an address ends, after its scheme: at the first colon that begins no port. NULL: nowhere.
static const char *address_end(struct nvtxt_scan *in) {
    const char *colon;
    while ((colon = nvtxt_scan_find(in, ':'))) {
        in->at = colon + 1;
        bool digits = nvtxt_scan_take_run(in, NVTXT_CHAR_DIGIT).len > 0;
        char after = nvtxt_scan_byte(in, 0);
        if (!digits || after == '\0' || !strchr("/?#:", after)) {
            break; // it begins no port
        }
    }
    return colon;
}

// The colon behind which an address with a scheme stands, or NULL.
static const char *address_begin(const struct nvtxt_scan *body) {
    struct nvtxt_scan in = *body;
    const char *colon;
    while ((colon = nvtxt_scan_find(&in, ':'))) {
        in.at = colon + 1;
        struct nvtxt_scan behind = in;
        if (take_scheme(&behind)) {
            break;
        }
    }
    return colon;
}

// `ADDRESS:TEXT` or `TEXT:ADDRESS`; one without a scheme ends at the last colon.
static void read_address(struct nvtxt_scan *in, struct report_link *link) {
    const struct nvtxt_scan body = *in;
    bool first = take_scheme(in);
    const char *colon = first ? NULL : address_begin(&body);
    if (colon) {
        set(link, nvtxt_slice_between(colon + 1, body.end), nvtxt_slice_between(body.begin, colon));
    } else {
        set_ended(link, &body,
                  first ? address_end(in) : memrchr(body.at, ':', nvtxt_scan_left(&body)));
    }
    struct nvtxt_scan target = nvtxt_scan(link->target);
    bool web =
        nvtxt_scan_take_text(&target, "https://") || nvtxt_scan_take_text(&target, "http://");
    link->kind = web ? REPORT_LINK_URL : REPORT_LINK_NONE;
}

static const char *number_end(struct nvtxt_scan *in) {
    (void)nvtxt_scan_take(in, '-');
    bool digits = nvtxt_scan_take_run(in, NVTXT_CHAR_DIGIT).len > 0;
    return digits && nvtxt_scan_byte(in, 0) == ':' ? in->at : NULL;
}

// `FILE:LINE:TEXT` or `FILE:LINE`: the first line number counts.
static void read_source(struct nvtxt_scan *in, struct report_link *link) {
    const char *colon;
    while ((colon = nvtxt_scan_find(in, ':'))) {
        in->at = colon + 1;
        link->line = nvtxt_scan_take_run(in, NVTXT_CHAR_DIGIT);
        const char *end = in->at;
        bool ends = in->at == in->end || nvtxt_scan_take(in, ':');
        if (colon > in->begin && link->line.len > 0 && ends) {
            link->target = nvtxt_slice_between(in->begin, colon);
            link->text = nvtxt_slice_between(in->at, in->end);
            link->text = link->text.len > 0 ? link->text : nvtxt_slice_between(in->begin, end);
            return;
        }
    }
    *link = (struct report_link){.kind = REPORT_LINK_NONE};
    set_ended(link, in, NULL);
}

// False: it is text, such as that between two addresses of people.
static bool read_body(struct nvtxt_slice body, struct report_link *link) {
    struct nvtxt_scan in = nvtxt_scan(body);
    const char *end = NULL;
    if (body.len == 0 || *body.data == ':') {
        return false;
    }
    switch (link->kind) {
    case REPORT_LINK_SOURCE:
        read_source(&in, link);
        return true;
    case REPORT_LINK_URL:
        read_address(&in, link);
        return true;
    case REPORT_LINK_RANGE:
    case REPORT_LINK_TIME:
        end = number_end(&in);
        if (!end) {
            return false;
        }
        break;
    case REPORT_LINK_SECTION:
    case REPORT_LINK_NONE:
        end = nvtxt_scan_find(&in, ':');
        break;
    }
    set_ended(link, &in, end);
    return true;
}

// `inside`: what stands between two at signs.
static bool read_link(struct nvtxt_slice inside, struct report_link *link) {
    struct nvtxt_scan in = nvtxt_scan(inside);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (nvtxt_scan_take_text(&in, words[i].word)) {
            *link = (struct report_link){.kind = words[i].kind};
            return read_body(nvtxt_slice_between(in.at, in.end), link);
        }
    }
    return false;
}

bool report_link_next(struct nvtxt_slice *rest, struct nvtxt_slice *before,
                      struct report_link *link) {
    struct nvtxt_scan in = nvtxt_scan(*rest);
    const char *open;
    while ((open = nvtxt_scan_find(&in, '@'))) {
        in.at = open + 1;
        const char *close = nvtxt_scan_find(&in, '@');
        if (close && read_link(nvtxt_slice_between(in.at, close), link)) {
            *before = nvtxt_slice_between(in.begin, open);
            *rest = nvtxt_slice_between(close + 1, in.end);
            return true;
        }
    }
    *before = *rest;
    *rest = (struct nvtxt_slice){NULL, 0};
    return false;
}

void report_link_put(struct nvtxt_out *out, struct nvtxt_slice text,
                     void (*put)(struct nvtxt_out *out, struct nvtxt_slice text)) {
    struct nvtxt_scan in = nvtxt_scan(text);
    const char *sign;
    while ((sign = nvtxt_scan_find(&in, REPORT_LINK_AT))) {
        put(out, nvtxt_slice_between(in.at, sign));
        put(out, NVTXT_SLICE("@"));
        in.at = sign + 1;
    }
    put(out, nvtxt_slice_between(in.at, in.end));
}

void report_link_write(struct nvtxt_out *out, struct nvtxt_slice text,
                       void (*put)(struct nvtxt_out *out, struct nvtxt_slice text)) {
    struct nvtxt_slice before;
    struct report_link link;
    while (report_link_next(&text, &before, &link)) {
        report_link_put(out, before, put);
        report_link_put(out, link.text, put);
    }
    report_link_put(out, before, put);
}
