// SPDX-License-Identifier: Apache-2.0
//
// Runs the program of an expression: operands are metrics on a stack. The first operand that is
// N/A, or a text where a number is needed, ends it.
#include <stdio.h>
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "report/metric/expression.h"
#include "report/metric/program.h"

struct machine {
    const struct report_expression *expression;
    report_metric_getter *get;
    struct report_metrics *metrics;
    const struct report_lookup *lookup;
    struct store_arena *arena;
    bool from_operands;
    const struct report_metric **stack;
    size_t depth;
    size_t at;                          // the step
    size_t operand;                     // the one where what is compared begins, or the first
    const struct report_metric *result; // when something is N/A
    struct report_lack *lack;           // NULL: nobody asks
};

static struct report_metric *blank(struct machine *machine) {
    struct report_metric *metric = store_arena_make(machine->arena, sizeof(*metric));
    if (metric) {
        *metric = (struct report_metric){.name = "", .unit = "", .description = ""};
    }
    return metric;
}

static int say_needed(struct machine *machine, const char *name) {
    char text[256];
    int len = snprintf(text, sizeof(text), "needs %s", name);
    size_t kept = len < (int)sizeof(text) ? (size_t)len : sizeof(text) - 1;
    struct report_metric *metric = blank(machine);
    if (metric) {
        metric->type = REPORT_DOUBLE;
        metric->na = store_arena_copy(machine->arena, text, kept);
    }
    machine->result = metric;
    return metric && metric->na ? 0 : nvtxt_origin(-ENOMEM);
}

static int push_value(struct machine *machine, struct report_value value) {
    struct report_metric *metric = blank(machine);
    if (!metric) {
        return nvtxt_origin(-ENOMEM);
    }
    metric->type = value.type;
    metric->value = value;
    machine->stack[machine->depth++] = metric;
    return 0;
}

// ---- Names --------------------------------------------------------------------------------------

static int find_metric(struct machine *machine, const char *name,
                       const struct report_metric **metric) {
    const struct report_lookup *lookup = machine->lookup;
    *metric = lookup && lookup->find ? lookup->find(lookup->context, name) : NULL;
    return *metric ? 0 : machine->get(machine->metrics, name, metric);
}

// Whether what is compared, or the whole, ends before that step.
static bool ends_before(const struct machine *machine, size_t step) {
    return step == machine->expression->count ||
           machine->expression->steps[step].kind >= REPORT_STEP_OPERAND;
}

// A name alone gives the metric itself.
static int push_name(struct machine *machine, const char *name) {
    const struct report_metric *metric;
    int r = find_metric(machine, name, &metric);
    if (r != 0) {
        return r;
    }
    bool begins = machine->at == 0 || ends_before(machine, machine->at - 1);
    machine->stack[machine->depth++] = metric;
    if (begins && ends_before(machine, machine->at + 1)) {
        machine->result = metric->na ? metric : NULL;
        return 0;
    }
    return metric->na || metric->type == REPORT_STRING ? say_needed(machine, name) : 0;
}

// Of the names of what is compared, the first that has no value; of all that have one, the first.
static int find_lack(struct machine *machine) {
    struct report_lack *lack = machine->lack;
    lack->why = machine->result->na;
    for (size_t i = machine->operand; i == machine->operand || !ends_before(machine, i); i++) {
        const struct report_step *step = &machine->expression->steps[i];
        const struct report_metric *metric;
        if (step->kind != REPORT_STEP_NAME) {
            continue;
        }
        const char *name = machine->expression->names[step->name]->text;
        int r = find_metric(machine, name, &metric);
        if (r != 0) {
            return r;
        }
        if (metric->na) {
            *lack = (struct report_lack){name, metric->na};
            return 0;
        }
        lack->name = lack->name ?: name;
    }
    lack->name = lack->name ?: "an expression";
    return 0;
}

// ---- Steps --------------------------------------------------------------------------------------

static int operate(struct machine *machine, const struct report_step *step) {
    struct report_metric *metric = blank(machine);
    if (!metric) {
        return nvtxt_origin(-ENOMEM);
    }
    const struct report_metric **top = &machine->stack[machine->depth];
    int r;
    if (step->kind <= REPORT_STEP_DIVIDE) {
        r = report_combine(metric, step, top[-2], top[-1], machine->from_operands, machine->arena);
        machine->depth--;
    } else {
        r = report_apply(metric, step, top[-1], machine->arena);
    }
    machine->stack[machine->depth - 1] = metric;
    machine->result = metric->na ? metric : NULL;
    return r;
}

static const struct report_value *pop(struct machine *machine) {
    return &machine->stack[--machine->depth]->value;
}

// Of a condition: what puts a truth.
static int test(struct machine *machine, enum report_step_kind kind) {
    const struct report_value *right = pop(machine);
    const char *why;
    bool holds = false;
    if (kind < REPORT_STEP_TRUTH) {
        why = report_compare(kind, pop(machine), right, &holds);
    } else {
        why = report_hold(right, &holds);
        holds = holds != (kind == REPORT_STEP_NOT);
    }
    int r = push_value(machine, (struct report_value){REPORT_U32, .u64 = holds});
    if (why && r == 0) {
        *machine->lack = (struct report_lack){.why = why};
        machine->result = machine->stack[machine->depth - 1];
    }
    return r;
}

// Of AND and OR: takes the truth from the stack, or lets it stay and goes on after the rest.
static void skip_rest(struct machine *machine, const struct report_step *step) {
    bool decides = (pop(machine)->u64 != 0) == (step->kind == REPORT_STEP_OR);
    if (decides) {
        machine->depth++;
        machine->at = step->next - 1;
    }
}

static int run_step(struct machine *machine, const struct report_step *step) {
    switch (step->kind) {
    case REPORT_STEP_NUMBER:
        return push_value(machine, step->number);
    case REPORT_STEP_TEXT:
        return push_value(machine, (struct report_value){REPORT_STRING, .string = step->id.text});
    case REPORT_STEP_NAME:
        return push_name(machine, machine->expression->names[step->name]->text);
    case REPORT_STEP_OPERAND:
        machine->operand = machine->at;
        return 0;
    case REPORT_STEP_AND:
    case REPORT_STEP_OR:
        skip_rest(machine, step);
        return 0;
    default:
        return step->kind < REPORT_STEP_OPERAND ? operate(machine, step)
                                                : test(machine, step->kind);
    }
}

static int run_program(struct machine *machine) {
    const struct report_expression *expression = machine->expression;
    int r = 0;
    for (; r == 0 && !machine->result && machine->at < expression->count; machine->at++) {
        r = run_step(machine, &expression->steps[machine->at]);
    }
    bool asks = machine->result && machine->lack && !machine->lack->why;
    return r == 0 && asks ? find_lack(machine) : r;
}

int report_expression_run(const struct report_expression *expression, report_metric_getter *get,
                          struct report_metrics *metrics, struct store_arena *arena,
                          const struct report_lookup *lookup, enum report_aggregate aggregate,
                          struct report_lack *lack, const struct report_metric **result) {
    struct machine machine = {.expression = expression,
                              .get = get,
                              .metrics = metrics,
                              .lookup = lookup,
                              .arena = arena,
                              .from_operands = aggregate == REPORT_AGGREGATE_OPERANDS,
                              .lack = lack};
    if (lack) {
        *lack = (struct report_lack){NULL, NULL};
    }
    machine.stack = malloc(expression->count * sizeof(void *));
    int r = machine.stack ? run_program(&machine) : nvtxt_origin(-ENOMEM);
    if (r == 0) {
        *result = machine.result ?: machine.stack[0];
    }
    free(machine.stack);
    return r;
}
