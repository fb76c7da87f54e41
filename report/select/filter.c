// SPDX-License-Identifier: Apache-2.0
//
// First the expression becomes characters that have lost their escapes: each knows whether it is
// special, and where it stood. Then its parts are found from the outside in: domain, brackets, the
// closing slash. Last it is split. All faults are looked for, and the leftmost one is kept.
#include "report/select/filter.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"

#define PREFIX "regex:"

struct character {
    char byte;
    bool special; // it was not escaped, and is one of @ , [ ] / * +
    size_t column;
};

struct reader {
    struct report_filter *filter;
    struct report_fault *fault;
    struct character *chars;    // all of them
    struct character *at, *end; // the part
    size_t last;                // the column after the last byte
    bool closing;               // the part had a closing slash
    char *bytes;                // free ones for names
};

// Keeps the fault if it is to the left of the one before.
#define FAULT(reader, place, ...)                                                                  \
    do {                                                                                           \
        if ((reader)->fault->column == 0 || (place) < (reader)->fault->column) {                   \
            report_fault_set((reader)->fault, place, __VA_ARGS__);                                 \
        }                                                                                          \
    } while (0)

static size_t column_at(const struct reader *reader, const struct character *at) {
    return at < reader->end ? at->column : reader->last;
}

static inline bool is_special(const struct character *at, char byte) {
    return at->special && at->byte == byte;
}

// ---- Characters --------------------------------------------------------------------------------

static bool is_one_of(const char *set, char byte) {
    return byte != '\0' && strchr(set, byte);
}

// `\` and the byte after it are one unit: the byte is never special. In a regular expression an
// escape stays as it is, except before @ , and /. `chars` has room for all bytes. Returns the
// number of characters. `*hanging` is the column of a `\` at the very end, or 0.
static size_t read_characters(struct nvtxt_slice text, size_t begin, bool is_regex,
                              struct character *chars, size_t *hanging) {
    const char *escapable = is_regex ? "@,/" : "@,[]/*+\\";
    size_t count = 0;
    *hanging = 0;
    for (size_t i = begin; i < text.len; i++) {
        bool escape = text.data[i] == '\\';
        if (escape && i + 1 == text.len) {
            *hanging = i + 1;
        } else if (escape && is_one_of(escapable, text.data[i + 1])) {
            i++;
            chars[count++] = (struct character){text.data[i], false, i};
            continue;
        } else if (escape && is_regex) {
            chars[count++] = (struct character){text.data[i], false, i + 1};
            i++;
        }
        bool special = !escape && is_one_of("@,[]/*+", text.data[i]);
        chars[count++] = (struct character){text.data[i], special, i + 1};
    }
    return count;
}

// ---- Names --------------------------------------------------------------------------------------

static int compile(struct reader *reader, struct report_item *item, const struct character *from) {
    char sentence[REPORT_REGEX_SENTENCE];
    size_t offset = 0;
    if (!reader->filter->is_regex || reader->fault->column > 0) {
        return 0;
    }
    int r = report_regex_new(&item->regex, item->name, sentence, &offset);
    if (r > 0) {
        FAULT(reader, from[offset > 0 ? offset - 1 : 0].column, "%s", sentence);
        return 0;
    }
    return r;
}

static int set_name(struct reader *reader, struct report_item *item, const struct character *from,
                    const struct character *to) {
    item->kind = REPORT_ITEM_NAME;
    item->column = from->column;
    item->name.data = reader->bytes;
    for (; from + item->name.len < to; item->name.len++) {
        *reader->bytes++ = from[item->name.len].byte;
    }
    return compile(reader, item, from);
}

static void check_name(struct reader *reader, const struct character *from,
                       const struct character *to) {
    for (const struct character *at = from; at < to && !reader->filter->is_regex; at++) {
        if (is_special(at, '[') || is_special(at, ']')) {
            FAULT(reader, at->column,
                  "'%c' elsewhere than at the %s; write '\\%c' if it belongs to the name", at->byte,
                  at->byte == '[' ? "start" : "end", at->byte);
        } else if (to - from > 1 && at->special && (at->byte == '*' || at->byte == '+')) {
            FAULT(reader, at->column, "'%c' inside a name; write '\\%c' if it belongs to the name",
                  at->byte, at->byte);
        }
    }
}

static int add_item(struct reader *reader, const struct character *from,
                    const struct character *to) {
    struct report_filter *filter = reader->filter;
    struct report_item *item = &filter->items[filter->count];
    bool wild = to - from == 1 && (is_special(from, '*') || is_special(from, '+'));
    if (from == to) {
        bool slash = filter->is_push_pop;
        FAULT(reader, column_at(reader, from), "empty %s; write '\\%c' if a '%c' belongs to a name",
              slash ? "item" : "name", slash ? '/' : ',', slash ? '/' : ',');
        return 0;
    }
    filter->count++;
    if (wild && filter->is_push_pop) {
        item->kind = from->byte == '*' ? REPORT_ITEM_MANY : REPORT_ITEM_ONE;
        item->column = from->column;
        return 0;
    }
    if (wild) {
        FAULT(reader, from->column,
              "'%c' alone as a start/end name; write '\\%c' if it is the name, '%c/' for push/pop "
              "ranges",
              from->byte, from->byte, from->byte);
    }
    check_name(reader, from, to);
    return set_name(reader, item, from, to);
}

// ---- Parts --------------------------------------------------------------------------------------

static int read_domain(struct reader *reader) {
    struct report_filter *filter = reader->filter;
    struct character *at = reader->at;
    while (at < reader->end && !is_special(at, '@')) {
        at++;
    }
    if (at == reader->end) {
        return 0;
    }
    filter->has_domain = true;
    struct character *from = reader->at;
    reader->at = at + 1;
    if (from == at) {
        FAULT(reader, at->column, "empty domain; write '\\@' if the '@' belongs to the name");
        return 0;
    }
    return set_name(reader, &filter->domain, from, at);
}

// The brackets, each end by itself, and the closing slash. In a regular expression a bracket with a
// slash before it belongs to the expression, and the slash goes.
static void read_ends(struct reader *reader) {
    struct report_filter *filter = reader->filter;
    struct character *at = reader->at, *end = reader->end;
    if (filter->is_regex && end - at >= 2 && is_special(at, '/') && is_special(at + 1, '[')) {
        (++at)->special = false;
    } else if (at < end && is_special(at, '[')) {
        filter->bottom = true;
        at++;
    }
    bool ours = true;
    if (filter->is_regex && end - at >= 2 && is_special(end - 2, '/') && is_special(end - 1, ']')) {
        end--;
        end[-1] = (struct character){']', false, end->column};
        ours = false;
    } else if (at < end && is_special(end - 1, ']')) {
        filter->top = true;
        end--;
    }
    if (ours && !filter->top && at < end && is_special(end - 1, '/')) {
        reader->closing = true;
        end--;
    }
    if (end < reader->end) {
        // Columns at the end of the part are those of what was taken away.
        reader->last = end->column;
    }
    reader->at = at;
    reader->end = end;
}

static void find_kind(struct reader *reader) {
    struct report_filter *filter = reader->filter;
    filter->is_push_pop = filter->bottom || filter->top || reader->closing;
    for (const struct character *at = reader->at; at < reader->end; at++) {
        filter->is_push_pop |= is_special(at, '/');
    }
}

// Separators that do not fit together: whichever comes second is the wrong one.
static void check_separators(struct reader *reader) {
    bool slash = reader->filter->bottom || reader->filter->top, comma = false;
    for (const struct character *at = reader->at; at < reader->end; at++) {
        if (is_special(at, '@')) {
            FAULT(reader, at->column, "a second '@'; write '\\@' if it belongs to the name");
        } else if (is_special(at, ',') && slash) {
            FAULT(reader, at->column,
                  "',' in a push/pop expression; write '\\,' if it belongs to the name");
        } else if (is_special(at, '/') && comma) {
            FAULT(reader, at->column, "'/' beside ','; write '\\/' if it belongs to the name");
        }
        slash |= is_special(at, '/');
        comma |= is_special(at, ',');
    }
    if (reader->closing && comma) {
        FAULT(reader, reader->last, "'/' beside ','; write '\\/' if it belongs to the name");
    }
}

static int read_items(struct reader *reader) {
    struct report_filter *filter = reader->filter;
    char separator = filter->is_push_pop ? '/' : ',';
    int r = 0;
    if (reader->at == reader->end && !reader->closing && !filter->bottom && !filter->top) {
        FAULT(reader, reader->last,
              filter->has_domain ? "empty name; write '\\@' if the '@' belongs to the name"
                                 : "empty expression; write '*/' for every event");
        return 0;
    }
    for (const struct character *from = reader->at; r == 0;) {
        const struct character *to = from;
        while (to < reader->end && !is_special(to, separator)) {
            to++;
        }
        r = add_item(reader, from, to);
        if (to == reader->end) {
            break;
        }
        from = to + 1;
    }
    return r;
}

static int read_all(struct reader *reader, struct nvtxt_slice text) {
    struct report_filter *filter = reader->filter;
    size_t hanging, begin = 0;
    if (nvtxt_starts_with(text, PREFIX)) {
        filter->is_regex = true;
        begin = sizeof(PREFIX) - 1;
    }
    size_t count = read_characters(text, begin, filter->is_regex, reader->chars, &hanging);
    reader->at = reader->chars;
    reader->end = reader->chars + count;
    reader->last = text.len + 1;
    if (hanging > 0) {
        FAULT(reader, hanging, "'\\' at the end; write '\\\\' for a backslash");
    }
    int r = read_domain(reader);
    if (r == 0) {
        read_ends(reader);
        find_kind(reader);
        check_separators(reader);
        r = read_items(reader);
    }
    return r ?: reader->fault->column > 0 ? NVTXT_WRONG : 0;
}

int report_filter_parse(struct report_filter **filter, struct nvtxt_slice text,
                        struct report_fault *fault) {
    struct report_filter *new = calloc(1, sizeof(*new));
    struct reader reader = {.filter = new, .fault = fault};
    reader.chars = calloc(text.len + 1, sizeof(*reader.chars));
    fault->column = 0;
    if (new) {
        new->text = strndup(text.data ?: "", text.len);
        new->items = calloc(text.len + 1, sizeof(*new->items));
        new->bytes = reader.bytes = malloc(text.len + 1);
    }
    bool ready = new &&reader.chars &&new->text &&new->items &&new->bytes;
    int r = ready ? read_all(&reader, text) : nvtxt_origin(-ENOMEM);
    free(reader.chars);
    if (r != 0) {
        report_filter_free(new);
        new = NULL;
    }
    *filter = new;
    return r;
}

void report_filter_free(struct report_filter *filter) {
    if (!filter) {
        return;
    }
    report_regex_free(filter->domain.regex);
    for (size_t i = 0; filter->items && i < filter->count; i++) {
        report_regex_free(filter->items[i].regex);
    }
    free(filter->items);
    free(filter->bytes);
    free(filter->text);
    free(filter);
}

bool report_filter_takes_none(const struct report_filter *filter) {
    size_t i = 0;
    while (i < filter->count && filter->items[i].kind == REPORT_ITEM_MANY) {
        i++;
    }
    return filter->is_push_pop && i == filter->count;
}

int report_item_matches(const struct report_filter *filter, bool exclude,
                        const struct report_item *item, struct nvtxt_slice name,
                        struct report_fault *fault) {
    if (!item->regex) {
        return nvtxt_slice_equal(item->name, name);
    }
    int r = report_regex_search(item->regex, name);
    if (r == REPORT_REGEX_COSTLY) {
        fault->option = exclude ? "nvtx-exclude" : "nvtx-include";
        fault->text = nvtxt_slice_of(filter->text);
        report_fault_set(fault, item->column, "too costly: '%.*s' takes too many steps",
                         (int)(item->name.len < 100 ? item->name.len : 100), item->name.data);
        return nvtxt_origin(-EINVAL);
    }
    return r;
}
