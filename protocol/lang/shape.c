// SPDX-License-Identifier: Apache-2.0
//
// Each value is read by its first byte, and must end at a comma or at the end of the line. Digits
// are taken eight at a time, as one number; the ends of Strings are found by memchr().
#include "protocol/lang/shape.h"

#include "protocol/base/scan.h"
#include "protocol/base/utf8.h"

#define FITTING_DIGITS 19 // that always fit into 64 bits

void nvtxt_shape_init(struct nvtxt_shape *shape, const struct nvtxt_cmddef *definitions,
                      unsigned extensions, bool escapes) {
    *shape = (struct nvtxt_shape){
        .definitions = definitions, .extensions = extensions, .escapes = escapes};
    for (unsigned arg = 0; arg < NVTXT_ARG_COUNT; arg++) {
        enum nvtxt_arg_type type = nvtxt_args[arg].type;
        bool is_text = type == NVTXT_TAKES_TEXT || type == NVTXT_TAKES_COLOR;
        if (is_text || type == NVTXT_TAKES_STRING) {
            shape->takes[NVTXT_STRING] |= nvtxt_arg_bit(arg);
        }
        if (is_text || type == NVTXT_TAKES_INTEGER || type == NVTXT_TAKES_PAYLOAD) {
            shape->takes[NVTXT_INTEGER] |= nvtxt_arg_bit(arg);
        }
    }
}

// ---- Values -------------------------------------------------------------------------------------

static bool load_eight(const char *at, const char *end, uint64_t *word) {
    if (end - at < (ptrdiff_t)sizeof(*word)) {
        return false;
    }
    memcpy(word, at, sizeof(*word));
    return true;
}

// The value of eight bytes if all are decimal digits: of pairs, of fours, of all.
static bool eight_digits(uint64_t word, uint64_t *value) {
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    word -= UINT64_C(0x3030303030303030);
    if ((word | (word + UINT64_C(0x7676767676767676))) & UINT64_C(0x8080808080808080)) {
        return false;
    }
    word = word * (10 << 8 | 1) >> 8;
    word = (word & UINT64_C(0x00FF00FF00FF00FF)) * (100 << 16 | 1) >> 16;
    *value = (word & UINT64_C(0x0000FFFF0000FFFF)) * (UINT64_C(10000) << 32 | 1) >> 32;
    return true;
}

static bool first_eight(struct nvtxt_shape *shape, uint64_t word) {
    bool is_known = word == shape->eight;
    if (!is_known && eight_digits(word, &shape->eight_value)) {
        shape->eight = word;
        is_known = true;
    }
    return is_known;
}

static const char *read_integer(struct nvtxt_shape *shape, const char *at, const char *end,
                                struct nvtxt_value *value) {
    const char *digits = at;
    uint64_t sum = 0, word, part;
    unsigned digit;
    if (load_eight(at, end, &word) && first_eight(shape, word)) {
        sum = shape->eight_value;
        at += 8;
        if (load_eight(at, end, &word) && eight_digits(word, &part)) {
            sum = sum * 100000000 + part;
            at += 8;
        }
    }
    for (; at < end && (digit = (unsigned)*at - '0') <= 9; at++) {
        sum = sum * 10 + digit;
    }
    if (at - digits > FITTING_DIGITS || sum > (uint64_t)INT64_MAX) {
        return NULL;
    }
    value->type = NVTXT_INTEGER;
    value->integer = (int64_t)sum;
    return at;
}

static const char *read_string(const struct nvtxt_shape *shape, const char *at, const char *end,
                               struct nvtxt_value *value) {
    const char *text = at + 1, *close = memchr(text, *at, (size_t)(end - text));
    if (!close) {
        return NULL;
    }
    value->type = NVTXT_STRING;
    value->string = nvtxt_slice_between(text, close);
    if ((shape->escapes && *at == '"' && memchr(text, '\\', value->string.len)) ||
        (!nvtxt_is_plain_ascii(value->string) &&
         (memchr(text, '\0', value->string.len) || !nvtxt_utf8_valid(value->string)))) {
        return NULL;
    }
    return close + 1;
}

// Returns the byte after the value at the cursor, or NULL when it is another one.
static inline const char *read_value(struct nvtxt_shape *shape, const char *at, const char *end,
                                     struct nvtxt_token *token) {
    if (nvtxt_char_is(*at, NVTXT_CHAR_DIGIT)) {
        token->kind = NVTXT_TOKEN_INTEGER;
        return read_integer(shape, at, end, &token->value);
    }
    if (nvtxt_char_is(*at, NVTXT_CHAR_WORD_START)) {
        const char *word = at;
        while (++at < end && nvtxt_char_is(*at, NVTXT_CHAR_WORD)) {
        }
        token->kind = NVTXT_TOKEN_WORD;
        token->value.type = NVTXT_STRING;
        token->value.string = nvtxt_slice_between(word, at);
        return at;
    }
    token->kind = NVTXT_TOKEN_STRING;
    return *at == '"' || *at == '\'' ? read_string(shape, at, end, &token->value) : NULL;
}

// ---- Lines --------------------------------------------------------------------------------------

static inline bool takes(const struct nvtxt_shape *shape, enum nvtxt_arg arg,
                         const struct nvtxt_value *value) {
    enum nvtxt_diag_code fault;
    return (shape->takes[value->type] >> arg & 1) ||
           nvtxt_check_type(arg, value, shape->extensions, &fault) == 0;
}

static bool is_call_of(struct nvtxt_slice line, struct nvtxt_slice name) {
    return line.len >= name.len && memcmp(line.data, name.data, name.len) == 0 &&
           (line.len == name.len || line.data[name.len] == ',');
}

static enum nvtxt_command find_command(struct nvtxt_shape *shape, struct nvtxt_slice line) {
    uint8_t *guess = &shape->next[shape->last];
    if (!is_call_of(line, nvtxt_commands[*guess].name)) {
        struct nvtxt_scan scan = nvtxt_scan(line);
        const char *comma = nvtxt_scan_find(&scan, ',');
        struct nvtxt_slice name = {line.data, comma ? (size_t)(comma - line.data) : line.len};
        enum nvtxt_command command = nvtxt_command_find(name);
        if (!nvtxt_command_known(command, shape->extensions)) {
            return NVTXT_CMD_COUNT;
        }
        *guess = (uint8_t)command;
    }
    shape->last = *guess;
    return (enum nvtxt_command) * guess;
}

bool nvtxt_shape_read(struct nvtxt_shape *shape, struct nvtxt_slice line,
                      struct nvtxt_tokens *tokens, struct nvtxt_stmt *stmt) {
    enum nvtxt_command command = find_command(shape, line);
    if (command == NVTXT_CMD_COUNT) {
        return false;
    }
    struct nvtxt_token *token = tokens->items;
    const char *at = line.data + nvtxt_commands[command].name.len, *end = line.data + line.len;
    token->column = 1;
    stmt->kind = NVTXT_STMT_CALL;
    stmt->command = command;
    stmt->name = token;
    const struct nvtxt_cmddef *definition = &shape->definitions[command];
    unsigned count = definition->count;
    for (unsigned i = 0; i < count; i++) {
        if (end - at < 3 || *at++ != ',') { // one that is shorter is rare
            return false;
        }
        at += *at == ' ';
        const char *after = read_value(shape, at, end, ++token);
        if (!after || !takes(shape, (enum nvtxt_arg)definition->args[i], &token->value)) {
            return false;
        }
        token->column = (uint32_t)(at - line.data) + 1;
        token->source = nvtxt_slice_between(at, after);
        stmt->values[i] = token;
        at = after;
    }
    stmt->end_column = (uint32_t)(at - line.data) + 1;
    tokens->repaired = 0;
    return at == end;
}
