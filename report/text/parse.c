// SPDX-License-Identifier: Apache-2.0
//
// By recursive descent, one token ahead; the field tables say what may come and where it goes. What
// is not kept (an unknown field, one of another program's widgets) is skipped token by token, with
// a stack of the brackets that have to be closed.
#include "report/text/parse.h"

#include <math.h>

#include "protocol/base/origin.h"
#include "protocol/base/utf8.h"
#include "report/text/lexer.h"

struct parser {
    struct report_lexer lexer;
    struct report_token token; // the next one
    struct store_arena *arena;
    unsigned depth;
};

#define QUOTED(slice) (int)(slice).len, (slice).data

#define FAULT(parser, at, code, ...)                                                               \
    (report_messages_add((parser)->lexer.messages, (parser)->lexer.file, at, REPORT_FILE_ERROR,    \
                         code, __VA_ARGS__),                                                       \
     NVTXT_WRONG)

static int advance(struct parser *parser) {
    return report_lexer_next(&parser->lexer, &parser->token);
}

static bool is_sign(const struct parser *parser, char sign) {
    const struct report_token *token = &parser->token;
    return token->kind == REPORT_TOKEN_SIGN && token->text.len == 1 && token->text.data[0] == sign;
}

static bool is_opening(const struct parser *parser) {
    return is_sign(parser, '{') || is_sign(parser, '<');
}

// What stands there instead of what was expected.
static int unexpected(struct parser *parser, const char *expected) {
    const struct report_token *token = &parser->token;
    if (token->kind == REPORT_TOKEN_END) {
        return FAULT(parser, token->at, "syntax", "the file ends, expected %s", expected);
    }
    if (token->kind == REPORT_TOKEN_STRING) {
        return FAULT(parser, token->at, "syntax", "a string, expected %s", expected);
    }
    struct nvtxt_slice text = nvtxt_slice_cut(token->text, 40);
    return FAULT(parser, token->at, "syntax", "'%.*s', expected %s", QUOTED(text), expected);
}

static int take_sign(struct parser *parser, char sign) {
    char expected[] = {'\'', sign, '\'', '\0'};
    return is_sign(parser, sign) ? advance(parser) : unexpected(parser, expected);
}

static int take_if(struct parser *parser, char sign, bool *taken) {
    *taken = is_sign(parser, sign);
    return *taken ? advance(parser) : 0;
}

static int go_deeper(struct parser *parser) {
    if (++parser->depth > REPORT_TEXT_DEPTH) {
        return FAULT(parser, parser->token.at, "too-deep", "more than %d messages in each other",
                     REPORT_TEXT_DEPTH);
    }
    return 0;
}

// --- skipping

static char closing_of(char opening) {
    return opening == '{' ? '}' : opening == '<' ? '>' : ']';
}

static bool ends_skipping(char sign) {
    return sign == '}' || sign == '>' || sign == ']';
}

// From an opening bracket to the one that closes it.
static int skip_brackets(struct parser *parser) {
    char open[2 * REPORT_TEXT_DEPTH + 2];
    size_t count = 0;
    unsigned depth = parser->depth;
    do {
        const struct report_token *token = &parser->token;
        char sign = token->kind == REPORT_TOKEN_SIGN ? token->text.data[0] : '\0';
        int r = 0;
        if (sign == '{' || sign == '<' || sign == '[') {
            r = sign == '[' ? 0 : go_deeper(parser);
            if (r == 0 && count == sizeof(open)) {
                r = FAULT(parser, token->at, "too-deep", "too many brackets in each other");
            }
            if (r == 0) {
                open[count++] = closing_of(sign);
            }
        } else if (token->kind == REPORT_TOKEN_END ||
                   (ends_skipping(sign) && sign != open[count - 1])) {
            char expected[] = {'\'', open[count - 1], '\'', '\0'};
            return unexpected(parser, expected);
        } else if (ends_skipping(sign)) {
            parser->depth -= open[--count] != ']';
        }
        r = r ?: advance(parser);
        if (r != 0) {
            return r;
        }
    } while (count > 0);
    parser->depth = depth;
    return 0;
}

static bool is_scalar(const struct parser *parser) {
    enum report_token_kind kind = parser->token.kind;
    return kind != REPORT_TOKEN_END && (kind != REPORT_TOKEN_SIGN || is_sign(parser, '-'));
}

static int skip_scalar(struct parser *parser) {
    if (!is_scalar(parser)) {
        return unexpected(parser, "a value");
    }
    int r = 0;
    if (parser->token.kind == REPORT_TOKEN_STRING) {
        while (r == 0 && parser->token.kind == REPORT_TOKEN_STRING) {
            r = advance(parser);
        }
        return r;
    }
    bool minus = is_sign(parser, '-');
    r = minus ? advance(parser) : 0;
    if (r == 0 && minus && (!is_scalar(parser) || parser->token.kind == REPORT_TOKEN_STRING)) {
        return unexpected(parser, "a number");
    }
    return r ?: advance(parser);
}

// The value of a field that is not kept.
static int skip_value(struct parser *parser) {
    bool colon;
    int r = take_if(parser, ':', &colon);
    if (r != 0) {
        return r;
    }
    if (is_opening(parser) || is_sign(parser, '[')) {
        return skip_brackets(parser);
    }
    return colon ? skip_scalar(parser) : unexpected(parser, "':' or '{'");
}

// --- scalars

// Neighbours are joined in memory that doubles: a file may have very many of them.
static int read_string(struct parser *parser, struct report_scalar *value) {
    struct nvtxt_slice text = parser->token.text;
    char *joined = NULL;
    size_t room = 0;
    value->plain = parser->token.plain;
    int r = advance(parser);
    while (r == 0 && parser->token.kind == REPORT_TOKEN_STRING) {
        struct nvtxt_slice more = parser->token.text;
        if (text.len + more.len + 1 > room) {
            room = 2 * (text.len + more.len + 1);
            joined = store_arena_take(parser->arena, room, 1);
            if (!joined) {
                return nvtxt_origin(-ENOMEM);
            }
            memcpy(joined, text.data, text.len);
        }
        memcpy(joined + text.len, more.data, more.len + 1);
        text = (struct nvtxt_slice){joined, text.len + more.len};
        value->plain = false;
        r = advance(parser);
    }
    if (r == 0 && !nvtxt_utf8_valid(text)) {
        return FAULT(parser, value->at, "not-utf8", "the string is not UTF-8");
    }
    value->text = text;
    return r;
}

static bool fits(const struct report_token *token, bool minus, enum report_field_type type,
                 int64_t *value) {
    uint64_t most = type == REPORT_FIELD_UINT32  ? UINT32_MAX
                    : type == REPORT_FIELD_INT64 ? (uint64_t)INT64_MAX
                                                 : (uint64_t)INT32_MAX;
    uint64_t least = type == REPORT_FIELD_UINT32 ? 0 : most + 1; // without its sign
    if (token->too_large || token->integer > (minus ? least : most)) {
        return false;
    }
    *value = minus ? (int64_t)(0 - token->integer) : (int64_t)token->integer;
    return true;
}

static bool is_word(const struct report_token *token, const char *word) {
    return token->kind == REPORT_TOKEN_WORD && nvtxt_equal_any_case(token->text, word);
}

// False: the token is no value of a double.
static bool double_of(const struct report_token *token, double *value) {
    if (is_word(token, "inf") || is_word(token, "infinity")) {
        *value = (double)INFINITY;
    } else if (is_word(token, "nan")) {
        *value = (double)NAN;
    } else if (token->kind == REPORT_TOKEN_FLOAT ||
               (token->kind == REPORT_TOKEN_INTEGER && token->decimal)) {
        *value = token->real;
    } else {
        return false;
    }
    return true;
}

static bool bool_of(const struct report_token *token, int64_t *value) {
    static const char *const words[] = {"false", "False", "f", "true", "True", "t"};
    for (size_t i = 0; token->kind == REPORT_TOKEN_WORD && i < 6; i++) {
        if (nvtxt_slice_equal(token->text, nvtxt_slice_of(words[i]))) {
            *value = i >= 3;
            return true;
        }
    }
    *value = (int64_t)token->integer;
    return token->kind == REPORT_TOKEN_INTEGER && token->integer <= 1 && !token->too_large;
}

// CC_75 is 75.
static bool arch_of(const struct report_token *token, int64_t *value) {
    struct nvtxt_scan scan = nvtxt_scan(token->text);
    uint64_t number = 0;
    bool good = token->text.len >= 4 && token->text.len <= 8 &&
                nvtxt_scan_take_text(&scan, "CC_") && nvtxt_scan_take_uint(&scan, &number);
    *value = (int64_t)number;
    return good && scan.at == scan.end;
}

static const char *enum_name_at(const void *values, size_t index) {
    return ((const struct report_enum_value *)values)[index].name;
}

static int unknown_enum(struct parser *parser, const struct report_field *field,
                        struct report_place at, struct nvtxt_slice text, bool minus) {
    const char *near =
        field->type == REPORT_FIELD_ENUM ? nvtxt_near(text, enum_name_at, field->values) : NULL;
    text = nvtxt_slice_cut(text, 80);
    return FAULT(parser, at, "unknown-enum", "unknown value '%s%.*s' of %s%s%s%s", minus ? "-" : "",
                 QUOTED(text), field->name, near ? "; did you mean '" : "", near ?: "",
                 near ? "'?" : "");
}

static int read_enum(struct parser *parser, const struct report_field *field, bool minus,
                     struct report_scalar *value) {
    const struct report_token *token = &parser->token;
    bool number = token->kind == REPORT_TOKEN_INTEGER, found = false;
    int64_t integer = 0;
    if (number && !fits(token, minus, REPORT_FIELD_ENUM, &integer)) {
        return FAULT(parser, value->at, "number-out-of-range", "%s takes 32 bits", field->name);
    }
    if (field->type == REPORT_FIELD_ARCH) {
        value->integer = integer;
        found = number ? integer >= 0 && !minus : arch_of(token, &value->integer);
    } else {
        for (const struct report_enum_value *each = field->values; each->name && !found; each++) {
            found = number ? each->number == integer
                           : nvtxt_slice_equal(token->text, nvtxt_slice_of(each->name));
            value->integer = each->number;
        }
    }
    return found ? 0 : unknown_enum(parser, field, value->at, token->text, minus);
}

static const char *const type_names[] = {
    [REPORT_FIELD_STRING] = "a string",
    [REPORT_FIELD_UINT32] = "an integer",
    [REPORT_FIELD_INT64] = "an integer",
    [REPORT_FIELD_DOUBLE] = "a number",
    [REPORT_FIELD_BOOL] = "a bool",
    [REPORT_FIELD_ENUM] = "a name of its values",
    [REPORT_FIELD_ARCH] = "CC_NN or a number",
    [REPORT_FIELD_MESSAGE] = "a message",
};

static int wrong_type(struct parser *parser, const struct report_field *field,
                      struct report_place at) {
    return FAULT(parser, at, "wrong-type", "%s takes %s", field->name, type_names[field->type]);
}

// A value of one token. `minus`: there was one before it.
static int read_token(struct parser *parser, const struct report_field *field, bool minus,
                      struct report_scalar *value) {
    const struct report_token *token = &parser->token;
    bool good = false;
    switch (field->type) {
    case REPORT_FIELD_UINT32:
    case REPORT_FIELD_INT64:
        good = token->kind == REPORT_TOKEN_INTEGER;
        if (good && !fits(token, minus, field->type, &value->integer)) {
            return FAULT(parser, value->at, "number-out-of-range", "%s takes %s", field->name,
                         field->type == REPORT_FIELD_UINT32 ? "0 to 4294967295"
                                                            : "a signed integer of 64 bits");
        }
        break;
    case REPORT_FIELD_DOUBLE:
        good = double_of(token, &value->real);
        value->real = minus ? -value->real : value->real;
        break;
    case REPORT_FIELD_BOOL:
        good = !minus && bool_of(token, &value->integer);
        break;
    case REPORT_FIELD_ENUM:
    case REPORT_FIELD_ARCH:
        good = token->kind == REPORT_TOKEN_INTEGER || (token->kind == REPORT_TOKEN_WORD && !minus);
        if (good) {
            int r = read_enum(parser, field, minus, value);
            return r ?: advance(parser);
        }
        break;
    case REPORT_FIELD_STRING:
    case REPORT_FIELD_MESSAGE:
    case REPORT_FIELD_SKIPPED:
        break;
    }
    return good ? advance(parser) : wrong_type(parser, field, value->at);
}

static int read_any_token(struct parser *parser, const struct report_field *field,
                          struct report_scalar *value) {
    if (is_opening(parser) || is_sign(parser, '[')) {
        return wrong_type(parser, field, value->at);
    }
    if (!is_scalar(parser)) {
        return unexpected(parser, type_names[field->type]);
    }
    if (parser->token.kind == REPORT_TOKEN_STRING && field->type == REPORT_FIELD_STRING) {
        return read_string(parser, value);
    }
    bool minus;
    int r = take_if(parser, '-', &minus);
    if (r != 0) {
        return r;
    }
    if (minus && (!is_scalar(parser) || is_sign(parser, '-'))) {
        return unexpected(parser, "a number");
    }
    return read_token(parser, field, minus, value);
}

// What cannot be read is not there afterwards: its fault is said, and nobody checks it again.
static int read_scalar(struct parser *parser, const struct report_field *field,
                       struct report_scalar *value) {
    value->at = parser->token.at;
    int r = read_any_token(parser, field, value);
    if (r != 0) {
        *value = (struct report_scalar){0};
    }
    return r;
}

// --- fields

static const struct report_field *find_field(const struct report_message_type *type,
                                             struct nvtxt_slice name) {
    for (size_t i = 0; i < type->field_count; i++) {
        const struct report_field *field = &type->fields[i];
        if (nvtxt_slice_equal(nvtxt_slice_of(field->name), name)) {
            return field;
        }
    }
    return NULL;
}

static const char *field_name_at(const void *type, size_t index) {
    const struct report_message_type *of = type;
    return index < of->field_count ? of->fields[index].name : NULL;
}

static int list_add(struct parser *parser, struct report_list *list, void *item) {
    if (list->count == list->room) {
        size_t room = list->room ? list->room * 2 : 4;
        void **items = store_arena_take(parser->arena, room * sizeof(*items), 8);
        if (!items) {
            return nvtxt_origin(-ENOMEM);
        }
        if (list->count > 0) {
            memcpy(items, list->items, list->count * sizeof(*items));
        }
        list->items = items;
        list->room = room;
    }
    list->items[list->count++] = item;
    return 0;
}

static int read_message(struct parser *parser, const struct report_message_type *type,
                        void *message, char closing);

static int read_submessage(struct parser *parser, const struct report_field *field,
                           struct report_place at, void *message) {
    if (!is_opening(parser)) {
        return is_scalar(parser) ? wrong_type(parser, field, parser->token.at)
                                 : unexpected(parser, "'{'");
    }
    char closing = closing_of(parser->token.text.data[0]);
    int r = go_deeper(parser);
    r = r ?: advance(parser);
    if (r != 0) {
        return r;
    }
    *(struct report_place *)message = at;
    r = read_message(parser, field->message, message, closing);
    parser->depth--;
    return r ?: advance(parser);
}

// One value into the member of the field; a second one of a singular field is read and forgotten.
static int read_value(struct parser *parser, const struct report_field *field,
                      struct report_place at, char *member, bool keep) {
    bool is_message = field->type == REPORT_FIELD_MESSAGE;
    void *value = member;
    if (is_message || field->repeated || !keep) {
        size_t size = is_message ? field->message->size : sizeof(struct report_scalar);
        value = store_arena_make(parser->arena, size);
        if (!value) {
            return nvtxt_origin(-ENOMEM);
        }
    }
    int r;
    if (field->repeated) {
        r = list_add(parser, (struct report_list *)(void *)member, value);
        if (r < 0) {
            return r;
        }
    } else if (is_message && keep) {
        *(void **)(void *)member = value;
    }
    return is_message ? read_submessage(parser, field, at, value)
                      : read_scalar(parser, field, value);
}

// `[a, b]`, with the bracket as the next token.
static int read_list(struct parser *parser, const struct report_field *field,
                     struct report_place at, char *member) {
    if (!field->repeated) {
        return FAULT(parser, parser->token.at, "wrong-type", "%s is not repeated: it takes no list",
                     field->name);
    }
    int r = advance(parser);
    bool more = !is_sign(parser, ']');
    while (r == 0 && more) {
        // Each message of a list has its own place.
        r = read_value(parser, field, is_opening(parser) ? parser->token.at : at, member, true);
        r = r ?: take_if(parser, ',', &more);
    }
    return r ?: take_sign(parser, ']');
}

static bool is_there(const struct report_field *field, const char *member) {
    if (field->repeated) {
        return ((const struct report_list *)(const void *)member)->count > 0;
    }
    if (field->type == REPORT_FIELD_MESSAGE) {
        return *(void *const *)(const void *)member != NULL;
    }
    return report_has((const struct report_scalar *)(const void *)member);
}

static int read_known(struct parser *parser, const struct report_field *field,
                      const struct report_message_type *type, struct report_place at,
                      void *message) {
    char *member = (char *)message + field->offset;
    bool again = !field->repeated && is_there(field, member);
    if (again) {
        (void)FAULT(parser, at, "duplicate-field", "a second '%s' in %s", field->name, type->name);
    }
    if (field->type == REPORT_FIELD_SKIPPED) {
        ((struct report_scalar *)(void *)member)->at = at;
        return skip_value(parser);
    }
    bool colon;
    int r = take_if(parser, ':', &colon);
    if (r != 0) {
        return r;
    }
    bool list = is_sign(parser, '[');
    if (!colon && !is_opening(parser) && !(list && field->type == REPORT_FIELD_MESSAGE)) {
        return unexpected(parser, field->type == REPORT_FIELD_MESSAGE ? "'{'" : "':'");
    }
    return list ? read_list(parser, field, at, member)
                : read_value(parser, field, at, member, !again);
}

// A field whose name is the next token.
static int read_field(struct parser *parser, const struct report_message_type *type,
                      void *message) {
    struct nvtxt_slice name = parser->token.text;
    struct report_place at = parser->token.at;
    const struct report_field *field = find_field(type, name);
    if (!field) {
        const char *near = nvtxt_near(name, field_name_at, type);
        struct nvtxt_slice shown = nvtxt_slice_cut(name, 80);
        (void)FAULT(parser, at, "unknown-field", "unknown field '%.*s' in %s%s%s%s", QUOTED(shown),
                    type->name, near ? "; did you mean '" : "", near ?: "", near ? "'?" : "");
    }
    int r = advance(parser);
    r = r ?: field ? read_known(parser, field, type, at, message) : skip_value(parser);
    bool taken = false;
    r = r ?: take_if(parser, ',', &taken);
    return r != 0 || taken ? r : take_if(parser, ';', &taken);
}

static void tell_missing(struct parser *parser, const struct report_message_type *type,
                         const void *message) {
    for (size_t i = 0; i < type->field_count; i++) {
        const struct report_field *field = &type->fields[i];
        if (field->required && !is_there(field, (const char *)message + field->offset)) {
            (void)FAULT(parser, *(const struct report_place *)message, "missing-field",
                        "%s has no '%s'", type->name, field->name);
        }
    }
}

// The place where the brace stands that is missing.
static int unclosed(struct parser *parser, const struct report_message_type *type,
                    const void *message, char closing) {
    return FAULT(parser, parser->token.at, "syntax",
                 "the file ends, expected '%c' that closes the %s of line %u", closing, type->name,
                 (unsigned)((const struct report_place *)message)->line);
}

// All fields up to the closing bracket, which stays the next token; '\0': up to the end.
static int read_message(struct parser *parser, const struct report_message_type *type,
                        void *message, char closing) {
    for (;;) {
        const struct report_token *token = &parser->token;
        if (closing ? is_sign(parser, closing) : token->kind == REPORT_TOKEN_END) {
            tell_missing(parser, type, message);
            return 0;
        }
        if (token->kind == REPORT_TOKEN_END) {
            return unclosed(parser, type, message, closing);
        }
        if (is_sign(parser, '[')) {
            return FAULT(parser, token->at, "extension", "extensions and Any are not supported");
        }
        int r = token->kind == REPORT_TOKEN_WORD ? read_field(parser, type, message)
                                                 : unexpected(parser, "the name of a field");
        if (r != 0) {
            return r;
        }
    }
}

int report_text_parse(const struct report_message_type *type, struct nvtxt_slice text,
                      const char *file, struct store_arena *arena, struct report_messages *messages,
                      void **message) {
    struct parser parser = {.arena = arena};
    size_t first = messages->count, errors = messages->errors;
    *message = store_arena_make(arena, type->size);
    if (!*message) {
        return nvtxt_origin(-ENOMEM);
    }
    *(struct report_place *)*message = (struct report_place){1, 1};
    int r = report_lexer_init(&parser.lexer, text, file, arena, messages);
    r = r ?: advance(&parser);
    r = r ?: read_message(&parser, type, *message, '\0');
    report_messages_sort(messages, first);
    if (r < 0 || messages->failed) {
        return r < 0 ? r : nvtxt_origin(-ENOMEM);
    }
    return messages->errors > errors ? NVTXT_WRONG : 0;
}
