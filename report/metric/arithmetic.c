// SPDX-License-Identifier: Apache-2.0
//
// First the instances of both operands are paired by their ids. Then, of two integers, every result
// is computed exactly, and the largest and the negative ones decide the type of the whole; only
// then are they put into it. Otherwise double does all.
#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "report/metric/program.h"

// One result: of two operands, or of one that is copied (the other is NULL).
struct pair {
    const struct report_id *id;
    const struct report_value *left, *right;
};

struct work {
    enum report_step_kind op;
    struct pair *pairs;
    size_t count;
    struct pair of_values; // the values of the operands
    bool sums;             // the value is the sum of the instances
    bool divided_by_zero;
    enum report_type type;
};

static double as_real(const struct report_value *value) {
    return report_type_is_integer(value->type) ? (double)value->u64 : value->real;
}

static struct report_value make_real(enum report_type type, double real) {
    return (struct report_value){type, .real = type == REPORT_FLOAT ? (double)(float)real : real};
}

// ---- Pairs --------------------------------------------------------------------------------------

struct found {
    struct nvtxt_hash_node node;
    const struct report_instance *instance;
    bool used;
};

static uint64_t id_hash(const struct report_id *id) {
    return id->is_text ? nvtxt_hash_bytes(id->text) : nvtxt_hash_number(id->number);
}

static void add_pair(struct work *work, const struct report_instance *left,
                     const struct report_instance *right) {
    work->pairs[work->count++] = (struct pair){
        left ? &left->id : &right->id, left ? &left->value : NULL, right ? &right->value : NULL};
}

// Both have the same ids in the same order, as metrics of the catalogue with one key have.
static bool same_ids(const struct report_metric *left, const struct report_metric *right) {
    bool same = left->instance_count == right->instance_count;
    for (size_t i = 0; same && i < left->instance_count; i++) {
        same = report_id_equal(&left->instances[i].id, &right->instances[i].id);
    }
    return same;
}

static int put_into(struct nvtxt_hash *table, struct found *founds,
                    const struct report_metric *metric) {
    int r = 0;
    for (size_t i = 0; !r && i < metric->instance_count; i++) {
        founds[i] = (struct found){.instance = &metric->instances[i]};
        r = nvtxt_hash_add(table, &founds[i].node, id_hash(&metric->instances[i].id));
    }
    return r;
}

static int join(struct work *work, const struct report_metric *left,
                const struct report_metric *right) {
    bool all = work->op == REPORT_STEP_ADD || work->op == REPORT_STEP_SUBTRACT;
    struct nvtxt_hash table = {NULL, 0, 0};
    struct found *founds = malloc((right->instance_count + 1) * sizeof(*founds)), *found;
    int r = founds ? put_into(&table, founds, right) : nvtxt_origin(-ENOMEM);
    for (size_t i = 0; !r && i < left->instance_count; i++) {
        const struct report_instance *instance = &left->instances[i];
        uint64_t hash = id_hash(&instance->id);
        NVTXT_HASH_FIND(found, node, &table, hash,
                        !found->used && report_id_equal(&found->instance->id, &instance->id));
        if (found || all) {
            add_pair(work, instance, found ? found->instance : NULL);
        }
        if (found) {
            found->used = true;
        }
    }
    for (size_t i = 0; !r && all && i < right->instance_count; i++) {
        if (!founds[i].used) {
            add_pair(work, NULL, founds[i].instance);
        }
    }
    nvtxt_hash_deinit(&table);
    free(founds);
    return r;
}

static int make_pairs(struct work *work, const struct report_metric *left,
                      const struct report_metric *right) {
    size_t most = (left->instanced ? left->instance_count : 0) +
                  (right->instanced ? right->instance_count : 0);
    work->of_values = (struct pair){NULL, &left->value, &right->value};
    work->pairs = malloc((most + 1) * sizeof(*work->pairs));
    if (!work->pairs) {
        return nvtxt_origin(-ENOMEM);
    }
    if (left->instanced && right->instanced && !same_ids(left, right)) {
        return join(work, left, right);
    }
    size_t count = left->instanced    ? left->instance_count
                   : right->instanced ? right->instance_count
                                      : 0;
    for (size_t i = 0; i < count; i++) {
        work->pairs[i] =
            (struct pair){left->instanced ? &left->instances[i].id : &right->instances[i].id,
                          left->instanced ? &left->instances[i].value : &left->value,
                          right->instanced ? &right->instances[i].value : &right->value};
    }
    work->count = count;
    return 0;
}

// ---- Integers -----------------------------------------------------------------------------------

static struct report_exact exact_of(struct work *work, const struct pair *pair) {
    if (!pair->left || !pair->right) {
        return (struct report_exact){false, (pair->left ?: pair->right)->u64};
    }
    unsigned __int128 a = pair->left->u64, b = pair->right->u64;
    switch (work->op) {
    case REPORT_STEP_ADD:
        return (struct report_exact){false, a + b};
    case REPORT_STEP_SUBTRACT:
        return a >= b ? (struct report_exact){false, a - b} : (struct report_exact){true, b - a};
    case REPORT_STEP_MULTIPLY:
        return (struct report_exact){false, a * b};
    default:
        work->divided_by_zero = work->divided_by_zero || b == 0;
        return (struct report_exact){false, b ? a / b : a};
    }
}

static enum report_type type_for(enum report_type type, const struct report_wide *value) {
    if (type == REPORT_DOUBLE || report_wide_is_negative(value) || !report_wide_fits_64(value)) {
        return REPORT_DOUBLE;
    }
    return value->words[0] > UINT32_MAX ? REPORT_U64 : type;
}

static struct report_wide wide_of(struct report_exact value) {
    struct report_wide wide = {{0}};
    report_wide_add(&wide, value);
    return wide;
}

// A number that fits into the type, as type_for() has seen to it.
static struct report_value integer_value(enum report_type type, const struct report_wide *value) {
    if (type == REPORT_DOUBLE) {
        return (struct report_value){type, .real = report_wide_double(value)};
    }
    return (struct report_value){type, .u64 = value->words[0]};
}

static int with_integers(struct work *work, struct report_metric *result,
                         struct report_instance *instances) {
    struct report_exact *exact = malloc((work->count + 1) * sizeof(*exact));
    if (!exact) {
        return nvtxt_origin(-ENOMEM);
    }
    struct report_wide sum = {{0}}, one;
    for (size_t i = 0; i < work->count; i++) {
        exact[i] = exact_of(work, &work->pairs[i]);
        one = wide_of(exact[i]);
        work->type = type_for(work->type, &one);
        report_wide_add(&sum, exact[i]);
    }
    if (!work->sums) {
        sum = wide_of(exact_of(work, &work->of_values));
    }
    work->type = type_for(work->type, &sum);
    for (size_t i = 0; i < work->count; i++) {
        one = wide_of(exact[i]);
        instances[i] =
            (struct report_instance){*work->pairs[i].id, integer_value(work->type, &one)};
    }
    result->value = integer_value(work->type, &sum);
    free(exact);
    return 0;
}

// ---- Reals --------------------------------------------------------------------------------------

static double real_of(const struct work *work, const struct pair *pair) {
    if (!pair->left || !pair->right) {
        return as_real(pair->left ?: pair->right);
    }
    double a = as_real(pair->left), b = as_real(pair->right);
    switch (work->op) {
    case REPORT_STEP_ADD:
        return a + b;
    case REPORT_STEP_SUBTRACT:
        return a - b;
    case REPORT_STEP_MULTIPLY:
        return a * b;
    default:
        return a / b;
    }
}

static void with_reals(const struct work *work, struct report_metric *result,
                       struct report_instance *instances) {
    double sum = 0;
    for (size_t i = 0; i < work->count; i++) {
        instances[i].id = *work->pairs[i].id;
        instances[i].value = make_real(work->type, real_of(work, &work->pairs[i]));
        sum += instances[i].value.real;
    }
    result->value = make_real(work->type, work->sums ? sum : real_of(work, &work->of_values));
}

// ---- Operators ----------------------------------------------------------------------------------

static int add_notes(struct report_metric *result, const char *const *notes, size_t count,
                     struct store_arena *arena) {
    if (count == 0) {
        return 0;
    }
    const char **all = store_arena_take(arena, (result->note_count + count) * sizeof(*all), 8);
    if (!all) {
        return nvtxt_origin(-ENOMEM);
    }
    size_t used = result->note_count;
    memcpy(all, used ? result->notes : notes, used * sizeof(*all));
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        while (at < used && strcmp(all[at], notes[i]) != 0) {
            at++;
        }
        all[at] = notes[i];
        used += at == used;
    }
    result->notes = all;
    result->note_count = used;
    return 0;
}

static int note(const struct work *work, const struct report_step *step, bool both,
                struct report_metric *result, struct store_arena *arena) {
    const char *notes[3];
    size_t count = 0;
    if (work->divided_by_zero) {
        notes[count++] = "division by zero";
    }
    if (result->instanced && work->count == 0) {
        notes[count++] = "no common instances";
    }
    if (both && work->sums && step->kind == REPORT_STEP_DIVIDE && !step->revised) {
        notes[count++] = "sum of ratios; consider revise_avg()";
    }
    return add_notes(result, notes, count, arena);
}

static int compute(struct work *work, struct report_metric *result, struct store_arena *arena) {
    struct report_instance *instances =
        store_arena_take(arena, (work->count + 1) * sizeof(*instances), 8);
    if (!instances) {
        return nvtxt_origin(-ENOMEM);
    }
    int status = 0;
    if (report_type_is_integer(work->type)) {
        status = with_integers(work, result, instances);
    } else {
        with_reals(work, result, instances);
    }
    result->type = work->type;
    result->instances = result->instanced ? instances : NULL;
    result->instance_count = work->count;
    return status;
}

int report_combine(struct report_metric *result, const struct report_step *step,
                   const struct report_metric *left, const struct report_metric *right,
                   bool from_operands, struct store_arena *arena) {
    bool both = left->instanced && right->instanced;
    result->instanced = left->instanced || right->instanced;
    struct work work = {.op = step->kind,
                        .sums = result->instanced && !from_operands,
                        .type = left->type > right->type ? left->type : right->type};
    int status = make_pairs(&work, left, right);
    status = status ?: compute(&work, result, arena);
    free(work.pairs);
    status = status ?: add_notes(result, left->notes, left->note_count, arena);
    status = status ?: add_notes(result, right->notes, right->note_count, arena);
    return status ?: note(&work, step, both, result, arena);
}

// ---- Functions ----------------------------------------------------------------------------------

static int compare_values(const struct report_value *a, const struct report_value *b) {
    return report_type_is_integer(a->type) ? NVTXT_ORDER(a->u64, b->u64)
                                           : NVTXT_ORDER(a->real, b->real);
}

static struct report_value extreme(const struct report_metric *metric, int sign) {
    const struct report_value *best = &metric->instances[0].value;
    for (size_t i = 1; i < metric->instance_count; i++) {
        const struct report_value *value = &metric->instances[i].value;
        best = compare_values(value, best) * sign > 0 ? value : best;
    }
    return *best;
}

struct sums { // of instances: of the integers, and of the others
    struct report_wide wide;
    double real;
};

static struct sums sums_of(const struct report_metric *metric) {
    struct sums sums = {.real = 0};
    for (size_t i = 0; i < metric->instance_count; i++) {
        const struct report_value *value = &metric->instances[i].value;
        if (report_type_is_integer(value->type)) {
            report_wide_add(&sums.wide, (struct report_exact){false, value->u64});
        } else {
            sums.real += value->real;
        }
    }
    return sums;
}

// The sum of the instances; an integer one that does not fit is double.
static struct report_value total(const struct report_metric *metric) {
    struct sums sums = sums_of(metric);
    return report_type_is_integer(metric->type)
               ? integer_value(type_for(metric->type, &sums.wide), &sums.wide)
               : make_real(metric->type, sums.real);
}

// Without instances it is the value, as a double.
static struct report_value average(const struct report_metric *metric) {
    if (metric->instance_count == 0) {
        return make_real(REPORT_DOUBLE, as_real(&metric->value));
    }
    struct sums sums = sums_of(metric);
    double sum = report_type_is_integer(metric->type) ? report_wide_double(&sums.wide) : sums.real;
    return make_real(REPORT_DOUBLE, sum / (double)metric->instance_count);
}

// Gives all instances the type of the value.
static int settle_type(struct report_metric *metric, struct store_arena *arena) {
    enum report_type type = metric->value.type;
    if (type == metric->type) {
        return 0;
    }
    size_t count = metric->instance_count;
    struct report_instance *instances =
        store_arena_take(arena, (count + 1) * sizeof(*instances), 8);
    if (!instances) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < count; i++) {
        const struct report_value *value = &metric->instances[i].value;
        instances[i].id = metric->instances[i].id;
        instances[i].value = report_type_is_integer(type)
                                 ? (struct report_value){type, .u64 = value->u64}
                                 : make_real(type, as_real(value));
    }
    metric->instances = instances;
    metric->type = type;
    return 0;
}

static int revise(struct report_metric *result, enum report_step_kind kind,
                  struct store_arena *arena) {
    bool none = result->instance_count == 0 && kind != REPORT_STEP_REVISE_AVG;
    if (!result->instanced || none) {
        return 0;
    }
    result->value = kind == REPORT_STEP_REVISE_MIN   ? extreme(result, -1)
                    : kind == REPORT_STEP_REVISE_MAX ? extreme(result, 1)
                    : kind == REPORT_STEP_REVISE_AVG ? average(result)
                                                     : total(result);
    return settle_type(result, arena);
}

static void make_single(struct report_metric *metric) {
    metric->instanced = false;
    metric->instances = NULL;
    metric->instance_count = 0;
}

// One figure of the instances, which has none itself.
static void pick(struct report_metric *result, const struct report_step *step) {
    const struct report_value *found = NULL;
    struct report_value value = result->value;
    for (size_t i = 0; i < result->instance_count; i++) {
        if (!found && report_id_equal(&result->instances[i].id, &step->id)) {
            found = &result->instances[i].value;
        }
    }
    bool none = result->instance_count == 0, instanced = result->instanced;
    if (step->kind == REPORT_STEP_COUNT) {
        none = !result->instanced;
        value = (struct report_value){REPORT_U64, .u64 = result->instance_count};
    } else if (step->kind == REPORT_STEP_AT) {
        none = !found;
        value = found ? *found : value;
    } else if (!none) {
        value = extreme(result, step->kind == REPORT_STEP_MAX ? 1 : -1);
    }
    make_single(result);
    result->na = !none ? NULL : instanced ? "no such instance" : "it has no instances";
    result->value = value;
    result->type = value.type;
}

int report_apply(struct report_metric *result, const struct report_step *step,
                 const struct report_metric *operand, struct store_arena *arena) {
    *result = *operand;
    switch (step->kind) {
    case REPORT_STEP_REVISE_MIN:
    case REPORT_STEP_REVISE_MAX:
    case REPORT_STEP_REVISE_AVG:
    case REPORT_STEP_REVISE_SUM:
        return revise(result, step->kind, arena);
    case REPORT_STEP_SIMPLIFY:
        make_single(result);
        return 0;
    default:
        pick(result, step);
        return 0;
    }
}
