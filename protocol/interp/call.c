// SPDX-License-Identifier: Apache-2.0
//
// The plan is made first, then what the call lists is put over a copy of it. Of several faults the
// leftmost is reported. A bad variable has the column of the command, which is before everything
// that the call lists; a missing argument has the column after the last token.
#include "protocol/interp/call.h"

#include "protocol/lang/names.h"
#include "protocol/lang/value.h"

uint32_t nvtxt_call_column(const struct nvtxt_stmt *stmt, const struct nvtxt_cmddef *definition,
                           enum nvtxt_arg arg) {
    for (unsigned i = 0; i < definition->count; i++) {
        if (definition->args[i] == arg) {
            return stmt->values[i]->column;
        }
    }
    return stmt->name->column;
}

// The texts of colours are few, so those that were read last are known again.
static bool find_color(struct nvtxt_plan *plan, struct nvtxt_slice text, uint32_t *color) {
    size_t last = text.len - 1; // too large if there is no text
    if (last >= sizeof(plan->colors[0].text)) {
        return nvtxt_color_parse(text, color);
    }
    struct nvtxt_known_color *known =
        &plan->colors[((unsigned char)text.data[last] + last) % NVTXT_KNOWN_COLORS];
    if (known->len != text.len || memcmp(known->text, text.data, text.len) != 0) {
        if (!nvtxt_color_parse(text, &known->color)) {
            return false;
        }
        known->len = text.len;
        memcpy(known->text, text.data, text.len);
    }
    *color = known->color;
    return true;
}

static void set_color(struct nvtxt_plan *plan, struct nvtxt_call *call,
                      const struct nvtxt_value *value) {
    call->color = 0;
    if (value->type == NVTXT_INTEGER) {
        call->bad_color = value->integer < 0 || value->integer > UINT32_MAX;
        if (!call->bad_color) {
            call->color = (uint32_t)value->integer;
        }
        return;
    }
    call->bad_color = !find_color(plan, value->string, &call->color);
}

// Its data is set when the call is where it stays; see nvtxt_call_resolve().
static void set_text(const struct nvtxt_value *value, struct nvtxt_slice *text, bool *is_digits,
                     char *digits) {
    *is_digits = value->type == NVTXT_INTEGER;
    *text = value->string;
    if (*is_digits) {
        *text = (struct nvtxt_slice){NULL, nvtxt_integer_text(value->integer, digits)};
    }
}

static void set_typed_payload(struct nvtxt_payload *payload, const struct nvtxt_number *number) {
    static const enum nvtxt_payload_kind kinds[] = {
        [NVTXT_U64] = NVTXT_PAYLOAD_UINT64, [NVTXT_I64] = NVTXT_PAYLOAD_INT64,
        [NVTXT_U32] = NVTXT_PAYLOAD_UINT32, [NVTXT_I32] = NVTXT_PAYLOAD_INT32,
        [NVTXT_F64] = NVTXT_PAYLOAD_DOUBLE, [NVTXT_F32] = NVTXT_PAYLOAD_FLOAT,
    };
    payload->kind = kinds[number->type];
    if (number->type >= NVTXT_F64) {
        payload->real = number->real;
    } else {
        payload->int64 = number->integer;
    }
}

// The value has passed nvtxt_check_type(), so its form says what it is.
static int set_payload(struct nvtxt_call *call, const struct nvtxt_value *value) {
    struct nvtxt_number number;
    if (value->type == NVTXT_INTEGER) {
        call->payload = (struct nvtxt_payload){NVTXT_PAYLOAD_INT64, {.int64 = value->integer}};
        return 0;
    }
    if (value->string.len == 0) { // only of a session with an extension
        call->payload = (struct nvtxt_payload){.kind = NVTXT_PAYLOAD_NONE};
        return 0;
    }
    int r = nvtxt_number_parse(value->string, &number);
    if (r != 1) {
        set_typed_payload(&call->payload, &number);
        return r;
    }
    call->payload.kind = NVTXT_PAYLOAD_DOUBLE;
    return nvtxt_decimal_parse(value->string, &call->payload.real);
}

static int set_id(uint32_t *id, const struct nvtxt_value *value, int64_t max) {
    if (value->integer < 0 || value->integer > max) {
        return 1;
    }
    *id = (uint32_t)value->integer;
    return 0;
}

// Where the Integers are that may have any value; 0: of others.
static const uint16_t integers[NVTXT_ARG_COUNT] = {
    [NVTXT_ARG_TIME] = offsetof(struct nvtxt_call, raw_time),
    [NVTXT_ARG_START] = offsetof(struct nvtxt_call, raw_time),
    [NVTXT_ARG_END] = offsetof(struct nvtxt_call, raw_end),
    [NVTXT_ARG_RANGE_ID] = offsetof(struct nvtxt_call, range_id),
};

static void set_integer(struct nvtxt_call *call, enum nvtxt_arg arg,
                        const struct nvtxt_value *value) {
    memcpy((char *)call + integers[arg], &value->integer, sizeof(value->integer));
}

// Takes a value of the right type. Returns 0, 1 with `*fault` set when it is out of range, or
// -ENOMEM.
static int set_argument(struct nvtxt_plan *plan, struct nvtxt_call *call, enum nvtxt_arg arg,
                        const struct nvtxt_value *value, enum nvtxt_diag_code *fault) {
    switch (arg) {
    case NVTXT_ARG_TIME:
    case NVTXT_ARG_START:
    case NVTXT_ARG_END:
    case NVTXT_ARG_RANGE_ID:
        set_integer(call, arg, value);
        return 0;
    case NVTXT_ARG_TIME_BASE:
        call->timebase = (uint8_t)nvtxt_timebase_find(value->string);
        call->timebase_name = value->string;
        return 0;
    case NVTXT_ARG_PROCESS_ID:
        *fault = NVTXT_DIAG_ID_OUT_OF_RANGE;
        return set_id(&call->pid, value, NVTXT_ID_MAX);
    case NVTXT_ARG_THREAD_ID:
        *fault = NVTXT_DIAG_ID_OUT_OF_RANGE;
        return set_id(&call->tid, value, NVTXT_ID_MAX);
    case NVTXT_ARG_CATEGORY_ID:
        *fault = NVTXT_DIAG_CATEGORY_OUT_OF_RANGE;
        return set_id(&call->category, value, NVTXT_CATEGORY_MAX);
    case NVTXT_ARG_COLOR:
        set_color(plan, call, value);
        return 0;
    case NVTXT_ARG_PAYLOAD:
        return set_payload(call, value);
    case NVTXT_ARG_MESSAGE:
    case NVTXT_ARG_NAME:
        set_text(value, &call->text, &call->text_is_digits, call->digits);
        return 0;
    case NVTXT_ARG_DOMAIN:
        set_text(value, &call->domain, &call->domain_is_digits, call->domain_digits);
        return 0;
    case NVTXT_ARG_JSON:
        call->json = value->string;
        return 0;
    case NVTXT_ARG_KIND:
        call->resource_kind = value->string;
        *fault = NVTXT_DIAG_LIMIT_EXCEEDED;
        return value->string.len > NVTXT_RESOURCE_KIND_BYTES;
    case NVTXT_ARG_HANDLE:
        call->handle = (uint64_t)value->integer;
        return value->type == NVTXT_STRING && !nvtxt_handle_parse(value->string, &call->handle);
    case NVTXT_ARG_COUNT:
        break;
    }
    return 0;
}

static int plan_argument(const struct nvtxt_call_context *context, enum nvtxt_arg arg,
                         const struct nvtxt_value *value) {
    struct nvtxt_plan *plan = context->plan;
    enum nvtxt_diag_code fault;
    int r = nvtxt_check_type(arg, value, nvtxt_source_extensions(context->config), &fault);
    if (r > 0) {
        fault = NVTXT_DIAG_STATIC_WRONG_TYPE;
    }
    plan->call.given |= nvtxt_arg_bit(arg);
    r = r ?: set_argument(plan, &plan->call, arg, value, &fault);
    if (r > 0 && !plan->faulty) {
        plan->faulty = true;
        plan->fault = fault;
        plan->fault_arg = arg;
    }
    return r < 0 ? r : 0;
}

static int plan_make(const struct nvtxt_call_context *context,
                     const struct nvtxt_command_info *info) {
    struct nvtxt_plan *plan = context->plan;
    *plan = (struct nvtxt_plan){.static_changes = context->symtab->static_changes};
    plan->call.pid = context->config->default_pid;
    plan->call.timebase = NVTXT_TIMEBASE_MANUAL;
    plan->call.given = context->definition->listed;
    unsigned count = nvtxt_command_arg_count(info, nvtxt_source_extensions(context->config));
    for (unsigned i = 0; i < count; i++) {
        enum nvtxt_arg arg = (enum nvtxt_arg)info->args[i];
        if (context->definition->listed & nvtxt_arg_bit(arg)) {
            continue;
        }
        const struct nvtxt_value *value = nvtxt_symtab_static(context->symtab, arg);
        if (value) {
            int r = plan_argument(context, arg, value);
            if (r < 0) {
                return r;
            }
        } else if (info->required & nvtxt_arg_bit(arg)) {
            plan->missing |= nvtxt_arg_bit(arg);
        }
    }
    plan->made = true;
    return 0;
}

static void range_fault(struct nvtxt_diag *diag, enum nvtxt_diag_code code, uint32_t column,
                        enum nvtxt_arg arg, int64_t value) {
    const char *name = nvtxt_args[arg].name.data;
    if (code == NVTXT_DIAG_LIMIT_EXCEEDED) {
        nvtxt_diag_set(diag, code, column,
                       "the line would pass the limit of the length of a resource's %s (%d bytes)",
                       name, NVTXT_RESOURCE_KIND_BYTES);
    } else if (code == NVTXT_DIAG_ID_OUT_OF_RANGE) {
        nvtxt_diag_set(diag, code, column, "%s %lld is not in 0 to %u", name, (long long)value,
                       NVTXT_ID_MAX);
    } else {
        nvtxt_diag_set(diag, code, column, "%s %lld is not in 0 to %u", name, (long long)value,
                       NVTXT_CATEGORY_MAX);
    }
}

static int static_fault(const struct nvtxt_call_context *context, const struct nvtxt_stmt *stmt,
                        struct nvtxt_diag *diag) {
    const struct nvtxt_plan *plan = context->plan;
    const struct nvtxt_value *value = nvtxt_symtab_static(context->symtab, plan->fault_arg);
    size_t at;
    if (plan->fault_arg == NVTXT_ARG_JSON && value->type == NVTXT_STRING) {
        const char *why = nvtxt_json_fault(value->string, &at);
        nvtxt_diag_set(diag, plan->fault, stmt->name->column,
                       "variable 'Json' is not one JSON value: %s at byte %zu", why, at + 1);
    } else if (plan->fault == NVTXT_DIAG_STATIC_WRONG_TYPE) {
        nvtxt_diag_set(diag, plan->fault, stmt->name->column,
                       "variable '%s' is %s, which '%s' cannot take as this argument",
                       nvtxt_args[plan->fault_arg].name.data,
                       value->type == NVTXT_STRING ? "a String" : "an Integer",
                       nvtxt_commands[stmt->command].name.data);
    } else {
        range_fault(diag, plan->fault, stmt->name->column, plan->fault_arg, value->integer);
    }
    return 1;
}

static int missing_fault(const struct nvtxt_call_context *context, const struct nvtxt_stmt *stmt,
                         struct nvtxt_diag *diag) {
    unsigned arg = (unsigned)__builtin_ctz(context->plan->missing);
    nvtxt_diag_set(diag, NVTXT_DIAG_MISSING_ARGUMENT, stmt->end_column,
                   "'%s' needs '%s': neither its definition nor a variable gives it",
                   nvtxt_commands[stmt->command].name.data, nvtxt_args[arg].name.data);
    return 1;
}

static inline int to_timeline(const struct nvtxt_call_context *context, enum nvtxt_timebase base,
                              int64_t raw, int64_t *ns) {
    const struct nvtxt_source_config *config = context->config;
    if (config->mapping.mode != NVTXT_MAPPING_NONE) {
        return nvtxt_mapping_apply(&config->mapping, raw, ns);
    }
    if (base == NVTXT_TIMEBASE_RELATIVE) {
        return __builtin_add_overflow(raw, config->origin_ns, ns) ? 1 : 0;
    }
    if (context->clocks[base].known) {
        return nvtxt_clock_apply(&context->clocks[base], raw, ns);
    }
    *ns = raw;
    return 0;
}

static int time_fault(const struct nvtxt_call_context *context, const struct nvtxt_stmt *stmt,
                      enum nvtxt_arg arg, int64_t raw, bool fault_so_far, struct nvtxt_diag *diag) {
    uint32_t column = nvtxt_call_column(stmt, context->definition, arg);
    if (!fault_so_far || column < diag->column) {
        nvtxt_diag_set(diag, NVTXT_DIAG_TIME_OUT_OF_RANGE, column,
                       "%s %lld does not fit the timeline (signed 64-bit nanoseconds)",
                       nvtxt_args[arg].name.data, (long long)raw);
    }
    return 1;
}

// Moves one time. A fault goes into `diag` if it is left of the fault that is there already.
static inline int map_time(const struct nvtxt_call_context *context, const struct nvtxt_stmt *stmt,
                           const struct nvtxt_call *call, enum nvtxt_arg arg, int64_t raw,
                           int64_t *ns, bool fault_so_far, struct nvtxt_diag *diag) {
    int r = to_timeline(context, (enum nvtxt_timebase)call->timebase, raw, ns);
    return r == 0 ? 0 : time_fault(context, stmt, arg, raw, fault_so_far, diag);
}

static int map_times(const struct nvtxt_call_context *context, const struct nvtxt_stmt *stmt,
                     struct nvtxt_call *call, bool fault, struct nvtxt_diag *diag) {
    bool range = (call->given & nvtxt_arg_bit(NVTXT_ARG_START)) != 0;
    bool timed = range || (call->given & nvtxt_arg_bit(NVTXT_ARG_TIME)) != 0;
    bool ended = (call->given & nvtxt_arg_bit(NVTXT_ARG_END)) != 0;
    enum nvtxt_arg begin = range ? NVTXT_ARG_START : NVTXT_ARG_TIME;
    if (timed && map_time(context, stmt, call, begin, call->raw_time, &call->time, fault, diag)) {
        fault = true;
    }
    if (ended &&
        map_time(context, stmt, call, NVTXT_ARG_END, call->raw_end, &call->end, fault, diag)) {
        fault = true;
    }
    return fault;
}

// Takes what the call lists, from left to right, and keeps the first fault.
static int take_listed(const struct nvtxt_call_context *context, const struct nvtxt_stmt *stmt,
                       struct nvtxt_call *call, struct nvtxt_diag *diag) {
    const struct nvtxt_cmddef *definition = context->definition;
    bool fault = false;
    for (unsigned i = 0; i < definition->count; i++) {
        enum nvtxt_arg arg = (enum nvtxt_arg)definition->args[i];
        const struct nvtxt_token *token = stmt->values[i];
        enum nvtxt_diag_code code;
        if (integers[arg]) {
            set_integer(call, arg, &token->value);
            continue;
        }
        int r = set_argument(context->plan, call, arg, &token->value, &code);
        if (r < 0) {
            return r;
        }
        if (r > 0 && !fault) {
            range_fault(diag, code, token->column, arg, token->value.integer);
            fault = true;
        }
    }
    return fault;
}

const char *nvtxt_why_not_claimed(const struct nvtxt_source_config *config,
                                  const struct nvtxt_guard *guard, uint32_t pid) {
    if (!config->claim || pid == config->claimed_pid ||
        (config->began_pid && pid == config->began_pid)) {
        return NULL;
    }
    return guard && guard->why_not_claimed ? guard->why_not_claimed(guard->context, pid)
                                           : "the daemon takes no other";
}

void nvtxt_not_claimed(const struct nvtxt_source_config *config, uint32_t pid, const char *why,
                       uint32_t column, struct nvtxt_diag *diag) {
    nvtxt_diag_set(diag, NVTXT_DIAG_FOREIGN_PROCESS, column,
                   "ProcessId %u is not the sender's own (%u): %s", pid, config->claimed_pid, why);
}

static int check_claim(const struct nvtxt_call_context *context, const struct nvtxt_stmt *stmt,
                       const struct nvtxt_call *call, bool fault, struct nvtxt_diag *diag) {
    const struct nvtxt_source_config *config = context->config;
    uint16_t accepted = nvtxt_commands[stmt->command].accepted;
    if (!config->claim || !(accepted & nvtxt_arg_bit(NVTXT_ARG_PROCESS_ID))) {
        return fault;
    }
    const char *why = nvtxt_why_not_claimed(config, context->guard, call->pid);
    if (!why) {
        return fault;
    }
    uint32_t column = nvtxt_call_column(stmt, context->definition, NVTXT_ARG_PROCESS_ID);
    if (!fault || column < diag->column) {
        nvtxt_not_claimed(config, call->pid, why, column, diag);
    }
    return 1;
}

int nvtxt_call_resolve(const struct nvtxt_call_context *context, const struct nvtxt_stmt *stmt,
                       struct nvtxt_call *call, struct nvtxt_diag *diag) {
    struct nvtxt_plan *plan = context->plan;
    if (!plan->made || plan->static_changes != context->symtab->static_changes) {
        int r = plan_make(context, &nvtxt_commands[stmt->command]);
        if (r < 0) {
            return r;
        }
    }
    if (plan->faulty) {
        return static_fault(context, stmt, diag);
    }
    *call = plan->call;
    int r = take_listed(context, stmt, call, diag);
    if (r < 0) {
        return r;
    }
    r = map_times(context, stmt, call, r > 0, diag);
    r = check_claim(context, stmt, call, r > 0, diag);
    if (r > 0) {
        return r;
    }
    if (plan->missing) {
        return missing_fault(context, stmt, diag);
    }
    if (!(call->given & nvtxt_arg_bit(NVTXT_ARG_THREAD_ID))) {
        call->tid = call->pid;
    }
    if (call->text_is_digits) {
        call->text.data = call->digits;
    }
    if (call->domain_is_digits) {
        call->domain.data = call->domain_digits;
    }
    return 0;
}
