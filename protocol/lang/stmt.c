// SPDX-License-Identifier: Apache-2.0
//
// Every function goes over the tokens from left to right and stops at the first fault, so the
// leftmost fault is the one that is reported. Only when a call has the right number of values are
// their types checked.
#include "protocol/lang/stmt.h"

static int fault(struct nvtxt_diag *diag, enum nvtxt_diag_code code,
                 const struct nvtxt_token *token, const char *wanted) {
    if (token->kind == NVTXT_TOKEN_END) {
        nvtxt_diag_set(diag, code, token->column, "expected %s at the end of the line", wanted);
    } else {
        nvtxt_diag_set(diag, code, token->column, "expected %s before '%.*s'", wanted,
                       NVTXT_QUOTED(token->source));
    }
    return NVTXT_WRONG;
}

// The name of a command, "" if the session does not have it. The context is its extensions.
static const char *command_name(const void *context, size_t index) {
    const unsigned *extensions = context;
    if (index == NVTXT_CMD_COUNT) {
        return NULL;
    }
    bool known = nvtxt_command_known((enum nvtxt_command)index, *extensions);
    return known ? nvtxt_commands[index].name.data : "";
}

// The name of an argument, "" if it is not in the bit set that the context is.
static const char *argument_name(const void *context, size_t index) {
    const uint16_t *accepted = context;
    return index == NVTXT_ARG_COUNT                     ? NULL
           : *accepted & nvtxt_arg_bit((unsigned)index) ? nvtxt_args[index].name.data
                                                        : "";
}

static int parse_command(const struct nvtxt_token *name, unsigned extensions,
                         enum nvtxt_command *command, struct nvtxt_diag *diag) {
    if (name->kind != NVTXT_TOKEN_WORD) {
        return fault(diag, NVTXT_DIAG_EXPECTED_NAME, name, "the name of a command");
    }
    *command = nvtxt_command_find(name->value.string);
    if (!nvtxt_command_known(*command, extensions)) {
        nvtxt_diag_set(diag, NVTXT_DIAG_UNKNOWN_COMMAND, name->column, "unknown command '%.*s'",
                       NVTXT_QUOTED(name->value.string));
        nvtxt_diag_suggest(diag, nvtxt_near(name->value.string, command_name, &extensions));
        return NVTXT_WRONG;
    }
    return 0;
}

static int parse_argument(const struct nvtxt_token *token, unsigned extensions,
                          struct nvtxt_stmt *stmt, struct nvtxt_diag *diag) {
    if (token->kind != NVTXT_TOKEN_WORD) {
        return fault(diag, NVTXT_DIAG_EXPECTED_NAME, token, "the name of an argument");
    }
    const struct nvtxt_command_info *info = &nvtxt_commands[stmt->command];
    uint16_t accepted = nvtxt_command_accepts(info, extensions);
    enum nvtxt_arg arg = nvtxt_arg_find(token->value.string);
    if (arg == NVTXT_ARG_COUNT || !(accepted & nvtxt_arg_bit(arg))) {
        nvtxt_diag_set(diag, NVTXT_DIAG_UNKNOWN_ARGUMENT, token->column,
                       "'%s' takes no argument '%.*s'", info->name.data,
                       NVTXT_QUOTED(token->value.string));
        nvtxt_diag_suggest(diag, nvtxt_near(token->value.string, argument_name, &accepted));
        return NVTXT_WRONG;
    }
    if (stmt->definition.listed & nvtxt_arg_bit(arg)) {
        nvtxt_diag_set(diag, NVTXT_DIAG_DUPLICATE_ARGUMENT, token->column,
                       "argument '%s' is listed twice", nvtxt_args[arg].name.data);
        return NVTXT_WRONG;
    }
    nvtxt_cmddef_add(&stmt->definition, arg);
    return 0;
}

static int parse_definition(const struct nvtxt_token *token, unsigned extensions,
                            struct nvtxt_stmt *stmt, struct nvtxt_diag *diag) {
    stmt->kind = NVTXT_STMT_DEFINE;
    stmt->name = ++token;
    stmt->definition = (struct nvtxt_cmddef){0};
    int r = parse_command(token, extensions, &stmt->command, diag);
    while (r == 0 && (++token)->kind != NVTXT_TOKEN_END) {
        if (token->kind != NVTXT_TOKEN_COMMA) {
            return fault(diag, NVTXT_DIAG_EXPECTED_COMMA, token, "a comma");
        }
        r = parse_argument(++token, extensions, stmt, diag);
    }
    return r;
}

static int parse_assignment(const struct nvtxt_token *token, struct nvtxt_stmt *stmt,
                            struct nvtxt_diag *diag) {
    stmt->kind = NVTXT_STMT_ASSIGN;
    stmt->name = token;
    stmt->value = token + 2;
    if (!nvtxt_token_is_value(token + 2)) {
        return fault(diag, NVTXT_DIAG_EXPECTED_VALUE, token + 2, "a value");
    }
    if (token[3].kind != NVTXT_TOKEN_END) {
        nvtxt_diag_set(diag, NVTXT_DIAG_TRAILING_TEXT, token[3].column,
                       "'%.*s' follows the value of '%.*s'", NVTXT_QUOTED(token[3].source),
                       NVTXT_QUOTED(token->value.string));
        return NVTXT_WRONG;
    }
    return 0;
}

static int wrong_count(const struct nvtxt_token *token, const struct nvtxt_stmt *stmt,
                       unsigned wanted, unsigned found, struct nvtxt_diag *diag) {
    const char *name = nvtxt_commands[stmt->command].name.data;
    if (token->kind == NVTXT_TOKEN_END) {
        nvtxt_diag_set(diag, NVTXT_DIAG_WRONG_VALUE_COUNT, token->column,
                       "'%s' takes %u value%s here, not %u", name, wanted, wanted == 1 ? "" : "s",
                       found);
    } else {
        nvtxt_diag_set(diag, NVTXT_DIAG_WRONG_VALUE_COUNT, token->column,
                       "'%s' takes %u value%s here; '%.*s' is one too many", name, wanted,
                       wanted == 1 ? "" : "s", NVTXT_QUOTED(token->source));
    }
    return NVTXT_WRONG;
}

static int check_payload(struct nvtxt_slice text, unsigned extensions) {
    struct nvtxt_number typed;
    if (extensions && text.len == 0) {
        return 0;
    }
    int r = extensions & NVTXT_NVTX ? nvtxt_number_parse(text, &typed) : 1;
    return r == 1 && nvtxt_is_decimal(text) ? 0 : r;
}

int nvtxt_check_type(enum nvtxt_arg arg, const struct nvtxt_value *value, unsigned extensions,
                     enum nvtxt_diag_code *fault) {
    const struct nvtxt_slice *text = value->type == NVTXT_STRING ? &value->string : NULL;
    uint64_t handle;
    size_t at;
    *fault = NVTXT_DIAG_WRONG_TYPE;
    switch (nvtxt_args[arg].type) {
    case NVTXT_TAKES_INTEGER:
        return text != NULL;
    case NVTXT_TAKES_STRING:
        return text == NULL;
    case NVTXT_TAKES_WORD:
        return !text || !nvtxt_is_word(*text);
    case NVTXT_TAKES_HANDLE:
        return text && !nvtxt_handle_parse(*text, &handle);
    case NVTXT_TAKES_PAYLOAD:
        *fault = NVTXT_DIAG_BAD_PAYLOAD;
        return text ? check_payload(*text, extensions) : 0;
    case NVTXT_TAKES_JSON:
        *fault = text ? NVTXT_DIAG_BAD_JSON : NVTXT_DIAG_WRONG_TYPE;
        return !text || (text->len > 0 && nvtxt_json_fault(*text, &at));
    case NVTXT_TAKES_TEXT:
    case NVTXT_TAKES_COLOR:
        break;
    }
    return 0;
}

static const char *type_words(enum nvtxt_arg_type takes) {
    switch (takes) {
    case NVTXT_TAKES_STRING:
    case NVTXT_TAKES_JSON:
        return "a String";
    case NVTXT_TAKES_WORD:
        return "a word";
    case NVTXT_TAKES_HANDLE:
        return "an Integer or \"0x\" with 1 to 16 hexadecimal digits";
    case NVTXT_TAKES_INTEGER:
    case NVTXT_TAKES_TEXT:
    case NVTXT_TAKES_COLOR:
    case NVTXT_TAKES_PAYLOAD:
        break;
    }
    return "an Integer";
}

static void set_type_fault(struct nvtxt_diag *diag, enum nvtxt_diag_code code, enum nvtxt_arg arg,
                           const struct nvtxt_token *token, unsigned extensions) {
    size_t at;
    if (code == NVTXT_DIAG_BAD_JSON) {
        const char *why = nvtxt_json_fault(token->value.string, &at);
        nvtxt_diag_set(diag, code, token->column, "Json %.*s is not one JSON value: %s at byte %zu",
                       NVTXT_QUOTED(token->source), why, at + 1);
    } else if (code == NVTXT_DIAG_BAD_PAYLOAD && (extensions & NVTXT_NVTX)) {
        nvtxt_diag_set(diag, code, token->column,
                       "Payload %.*s is no decimal number, and no typed one in its range",
                       NVTXT_QUOTED(token->source));
    } else if (code == NVTXT_DIAG_BAD_PAYLOAD) {
        nvtxt_diag_set(diag, code, token->column, "Payload %.*s is no decimal number",
                       NVTXT_QUOTED(token->source));
    } else {
        nvtxt_diag_set(diag, code, token->column, "argument '%s' takes %s, not %.*s",
                       nvtxt_args[arg].name.data, type_words(nvtxt_args[arg].type),
                       NVTXT_QUOTED(token->source));
    }
}

static int check_types(const struct nvtxt_cmddef *definition, unsigned extensions,
                       const struct nvtxt_stmt *stmt, struct nvtxt_diag *diag) {
    for (unsigned i = 0; i < definition->count; i++) {
        enum nvtxt_arg arg = (enum nvtxt_arg)definition->args[i];
        const struct nvtxt_token *token = stmt->values[i];
        enum nvtxt_diag_code code;
        int r = nvtxt_check_type(arg, &token->value, extensions, &code);
        if (r != 0) {
            if (r > 0) {
                set_type_fault(diag, code, arg, token, extensions);
            }
            return r;
        }
    }
    return 0;
}

static int parse_call(const struct nvtxt_token *token, const struct nvtxt_cmddef *definitions,
                      unsigned extensions, struct nvtxt_stmt *stmt, struct nvtxt_diag *diag) {
    stmt->kind = NVTXT_STMT_CALL;
    stmt->name = token;
    int r = parse_command(token, extensions, &stmt->command, diag);
    if (r != 0) {
        return r;
    }
    const struct nvtxt_cmddef *definition = &definitions[stmt->command];
    unsigned count = 0;
    for (token++; token->kind != NVTXT_TOKEN_END; token++) {
        if (token->kind != NVTXT_TOKEN_COMMA) {
            return fault(diag, NVTXT_DIAG_EXPECTED_COMMA, token, "a comma");
        }
        token++;
        if (!nvtxt_token_is_value(token)) {
            return fault(diag, NVTXT_DIAG_EXPECTED_VALUE, token, "a value");
        }
        if (count == definition->count) {
            return wrong_count(token, stmt, definition->count, count + 1, diag);
        }
        stmt->values[count++] = token;
    }
    if (count < definition->count) {
        return wrong_count(token, stmt, definition->count, count, diag);
    }
    stmt->end_column = token->column;
    return check_types(definition, extensions, stmt, diag);
}

int nvtxt_parse(const struct nvtxt_tokens *tokens, const struct nvtxt_cmddef *definitions,
                unsigned extensions, struct nvtxt_stmt *stmt, struct nvtxt_diag *diag) {
    const struct nvtxt_token *first = &tokens->items[0];
    if (first->kind == NVTXT_TOKEN_AT) {
        return parse_definition(first, extensions, stmt, diag);
    }
    if (first->kind != NVTXT_TOKEN_WORD) {
        return fault(diag, NVTXT_DIAG_EXPECTED_NAME, first, "the name of a command or a variable");
    }
    if (first[1].kind == NVTXT_TOKEN_EQUALS) {
        return parse_assignment(first, stmt, diag);
    }
    return parse_call(first, definitions, extensions, stmt, diag);
}
