// SPDX-License-Identifier: Apache-2.0
//
// An expression as a program for a machine with a stack, and what its steps do. Only the parser and
// the evaluation know it. The rules are those of nvtxt-metrics(7), "DERIVED METRICS", and of
// nvtxt-rule(5), "CONDITIONS".
#pragma once

#include "protocol/table/hash.h"
#include "report/metric/metric.h"
#include "store/value/arena.h"

enum report_step_kind {
    REPORT_STEP_NUMBER, // puts it on the stack
    REPORT_STEP_TEXT,
    REPORT_STEP_NAME,
    REPORT_STEP_ADD, // takes two, puts one
    REPORT_STEP_SUBTRACT,
    REPORT_STEP_MULTIPLY,
    REPORT_STEP_DIVIDE,
    REPORT_STEP_NOTHING,    // of parentheses; no program has it
    REPORT_STEP_REVISE_MIN, // takes one, puts one
    REPORT_STEP_REVISE_MAX,
    REPORT_STEP_REVISE_AVG,
    REPORT_STEP_REVISE_SUM,
    REPORT_STEP_SIMPLIFY,
    REPORT_STEP_MIN,
    REPORT_STEP_MAX,
    REPORT_STEP_COUNT,
    REPORT_STEP_AT,
    REPORT_STEP_OPERAND, // of a condition: what is compared begins
    REPORT_STEP_LESS,    // takes two, puts a truth
    REPORT_STEP_LESS_EQUAL,
    REPORT_STEP_GREATER,
    REPORT_STEP_GREATER_EQUAL,
    REPORT_STEP_EQUAL,
    REPORT_STEP_NOT_EQUAL,
    REPORT_STEP_TRUTH, // takes a number, puts whether it is not 0
    REPORT_STEP_NOT,   // takes a truth, puts one
    REPORT_STEP_AND,   // takes a truth that holds; another one stays, and all up to `next` is left
                       // out
    REPORT_STEP_OR,    // takes one that does not hold; another one stays in the same way
};

struct report_step {
    enum report_step_kind kind;
    bool revised;  // of an operator: it stands in a revise_ or simplify()
    size_t column; // of a name: bytes from 0
    size_t name;   // index in the names
    size_t next;   // of AND and OR
    struct report_value number;
    struct report_id id; // of AT; of TEXT the text
    char *owned;         // its text
};

struct report_operand_name {
    struct nvtxt_hash_node node; // of the parser
    size_t index;                // in the names
    char text[];                 // ends with a NUL
};

struct report_expression {
    struct report_step *steps;
    size_t count, room;
    struct report_operand_name **names; // different ones, as they came
    size_t name_count;
};

// Adds a step. Takes what it owns, also when it fails. Returns 0 or -ENOMEM.
int report_program_add(struct report_expression *expression, struct report_step step);

// The index of a name, which is added if it is not there. `names`, zeroed at first, knows those
// that are; the parser empties it at the end. Returns 0 or -ENOMEM.
int report_program_name(struct report_expression *expression, struct nvtxt_hash *names,
                        struct nvtxt_slice name, size_t *index);

struct report_lookup;
struct report_lack;

// Finds a metric, as report_metrics_get() does.
typedef int report_metric_getter(struct report_metrics *metrics, const char *name,
                                 const struct report_metric **metric);

// report_expression_evaluate() with the memory of its metrics, which `get` finds.
int report_expression_run(const struct report_expression *expression, report_metric_getter *get,
                          struct report_metrics *metrics, struct store_arena *arena,
                          const struct report_lookup *lookup, enum report_aggregate aggregate,
                          struct report_lack *lack, const struct report_metric **result);

// ---- Steps --------------------------------------------------------------------------------------

// Both set type, value, instances and notes of `result`, which was zeroed; they are of the arena,
// or those of the operands, of which none is N/A or a text. Both return 0 or -ENOMEM.
//
// An operator. from_operands: the value comes of the operands' values.
int report_combine(struct report_metric *result, const struct report_step *step,
                   const struct report_metric *left, const struct report_metric *right,
                   bool from_operands, struct store_arena *arena);

// A function.
int report_apply(struct report_metric *result, const struct report_step *step,
                 const struct report_metric *operand, struct store_arena *arena);

// A comparison, REPORT_STEP_LESS to _NOT_EQUAL. What is no number is only not equal to all. Returns
// why they cannot be compared, or NULL.
const char *report_compare(enum report_step_kind comparison, const struct report_value *left,
                           const struct report_value *right, bool *holds);

// Whether a value alone holds: when it is not 0. Returns why it cannot be told, or NULL.
const char *report_hold(const struct report_value *value, bool *holds);

// ---- Integers that are wider than 64 bits -------------------------------------------------------

// The exact result of one operation on two of 64 bits; there are exact sums of any number of these.
struct report_exact {
    bool negative; // never of 0
    unsigned __int128 magnitude;
};

// A sum: two's complement, lowest word first. 2^64 results do not make it overflow.
struct report_wide {
    uint64_t words[4];
};

void report_wide_add(struct report_wide *sum, struct report_exact value);
bool report_wide_is_negative(const struct report_wide *sum);
bool report_wide_fits_64(const struct report_wide *sum); // is in 0 ... 2^64 - 1

// The nearest double, ties to even: rounded once.
double report_wide_double(const struct report_wide *sum);
