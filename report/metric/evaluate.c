// SPDX-License-Identifier: Apache-2.0
//
// Runs the program of an expression: operands are metrics on a stack. The first operand that is
// N/A, or a text where a number is needed, ends it.
#include "report/metric/evaluate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/metric/arithmetic.h"

struct machine {
    const struct report_expression *expression;
    struct report_metrics *metrics;
    const struct report_lookup *lookup;
    struct store_arena *arena;
    bool from_operands;
    const struct report_metric **stack;
    size_t depth;
    struct report_metric *result; // of a step, or of all when something is N/A
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
    machine->result = blank(machine);
    if (machine->result) {
        machine->result->type = REPORT_DOUBLE;
        machine->result->na = store_arena_copy(machine->arena, text, kept);
    }
    return machine->result && machine->result->na ? 0 : -ENOMEM;
}

static int push_number(struct machine *machine, struct report_value number) {
    struct report_metric *metric = blank(machine);
    if (!metric) {
        return -ENOMEM;
    }
    metric->type = number.type;
    metric->value = number;
    machine->stack[machine->depth++] = metric;
    return 0;
}

static int push_name(struct machine *machine, const char *name) {
    const struct report_metric *metric = NULL;
    const struct report_lookup *lookup = machine->lookup;
    if (lookup && lookup->find) {
        metric = lookup->find(lookup->context, name);
    }
    int result = metric ? 0 : report_metrics_get(machine->metrics, name, &metric);
    if (result) {
        return result;
    }
    machine->stack[machine->depth++] = metric;
    bool alone = machine->expression->count == 1;
    return !alone && (metric->na || metric->type == REPORT_STRING) ? say_needed(machine, name) : 0;
}

static int operate(struct machine *machine, const struct report_step *step) {
    struct report_metric *metric = blank(machine);
    if (!metric) {
        return -ENOMEM;
    }
    const struct report_metric **top = &machine->stack[machine->depth];
    int result;
    if (step->kind <= REPORT_STEP_DIVIDE) {
        result =
            report_combine(metric, step, top[-2], top[-1], machine->from_operands, machine->arena);
        machine->depth--;
    } else {
        result = report_apply(metric, step, top[-1], machine->arena);
    }
    machine->stack[machine->depth - 1] = metric;
    machine->result = metric->na ? metric : NULL;
    return result;
}

static int run(struct machine *machine) {
    int result = 0;
    for (size_t i = 0; !result && !machine->result && i < machine->expression->count; i++) {
        const struct report_step *step = &machine->expression->steps[i];
        if (step->kind == REPORT_STEP_NUMBER) {
            result = push_number(machine, step->number);
        } else if (step->kind == REPORT_STEP_NAME) {
            result = push_name(machine, machine->expression->names[step->name]->text);
        } else {
            result = operate(machine, step);
        }
    }
    return result;
}

int report_expression_run(const struct report_expression *expression,
                          struct report_metrics *metrics, struct store_arena *arena,
                          const struct report_lookup *lookup, enum report_aggregate aggregate,
                          const struct report_metric **result) {
    struct machine machine = {.expression = expression,
                              .metrics = metrics,
                              .lookup = lookup,
                              .arena = arena,
                              .from_operands = aggregate == REPORT_AGGREGATE_OPERANDS};
    machine.stack = malloc(expression->count * sizeof(void *));
    int status = machine.stack ? run(&machine) : -ENOMEM;
    if (!status) {
        *result = machine.result ? machine.result : machine.stack[0];
    }
    free(machine.stack);
    return status;
}
