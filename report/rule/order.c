// SPDX-License-Identifier: Apache-2.0
//
// The list is sorted by identifier, those of files before the program's own, so that the first of
// one identifier counts, and an identifier is found by halves. Parents are looked up once. Then
// rules are visited in the order of the list, and the parents of each before it. The same visit
// finds the strongly connected components (Tarjan, "Depth-first search and linear graph
// algorithms"): rules that are their own ancestors. Only for these the way back is looked for, and
// only within their component.
#include "report/rule/rules_state.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "report/rule/runner.h"

const struct nvtxt_slice *report_rule_parent(const struct report_rule *rule, size_t index) {
    if (rule->program) {
        return index < rule->program->parent_count ? &rule->program->parents[index] : NULL;
    }
    const struct report_list *parents =
        rule->declarative ? &report_declarative_file(rule->declarative)->parents : NULL;
    const struct report_scalar *parent =
        parents && index < parents->count ? parents->items[index] : NULL;
    return parent ? &parent->text : NULL;
}

static int by_identifier(const void *a, const void *b) {
    const struct report_rule *x = a, *y = b;
    int order = nvtxt_slice_order(x->identifier, y->identifier);
    // The program's own come after files.
    order = order ?: NVTXT_ORDER(x->builtin != NULL, y->builtin != NULL);
    return order ?: NVTXT_ORDER(x->place, y->place);
}

size_t report_rules_find(const struct report_rules *rules, struct nvtxt_slice identifier) {
    size_t low = 0, high = rules->count; // the first of the identifier is in here
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (nvtxt_slice_order(rules->list[middle].identifier, identifier) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < rules->count && nvtxt_slice_equal(rules->list[low].identifier, identifier);
    return found ? low : REPORT_NO_RULE;
}

// Puts the list into its order and hides what comes twice.
static void arrange(struct report_rules *rules) {
    if (rules->count > 0) {
        qsort(rules->list, rules->count, sizeof(*rules->list), by_identifier);
    }
    for (size_t i = 0; i < rules->count; i++) {
        struct report_rule *rule = &rules->list[i];
        struct report_rule *before = i > 0 ? &rules->list[i - 1] : NULL;
        bool same = before && nvtxt_slice_equal(before->identifier, rule->identifier);
        rule->hidden_by = !same ? NULL : before->hidden_by ?: before;
    }
}

// ---- Parents ------------------------------------------------------------------------------------

// Looks up the parents that there are.
static int find_parents(struct report_rules *rules) {
    const struct nvtxt_slice *parent;
    size_t count = 0;
    for (size_t i = 0; i < rules->count; i++) {
        for (size_t k = 0; report_rule_parent(&rules->list[i], k); k++) {
            count++;
        }
    }
    size_t *parents = realloc(rules->parents, (count + 1) * sizeof(*parents));
    if (!parents) {
        return nvtxt_origin(-ENOMEM);
    }
    rules->parents = parents;
    for (size_t i = 0; i < rules->count; i++) {
        struct report_rule *rule = &rules->list[i];
        rule->parents = parents;
        for (size_t k = 0; (parent = report_rule_parent(rule, k)); k++) {
            *parents = report_rules_find(rules, *parent);
            parents += *parents != REPORT_NO_RULE;
        }
        rule->parent_count = (size_t)(parents - rule->parents);
    }
    return 0;
}

// The state of a visit of all rules. Numbers begin with 1.
struct visit {
    struct report_rules *rules;
    size_t visited;  // how many rules; the newest one has this number
    size_t *waiting; // rules whose component is not known yet
    size_t wait_count;
};

// Ends the component whose oldest rule is `first`.
static void end_component(struct visit *visit, size_t first) {
    struct report_rule *list = visit->rules->list;
    size_t rule, count = 0;
    do {
        rule = visit->waiting[--visit->wait_count];
        list[rule].component = list[first].number;
        count++;
    } while (rule != first);
    list[first].in_cycle = count > 1;
    for (size_t i = 0; i < list[first].parent_count; i++) {
        list[first].in_cycle |= list[first].parents[i] == first;
    }
    for (size_t i = 0; i < count; i++) {
        list[visit->waiting[visit->wait_count + i]].in_cycle = list[first].in_cycle;
    }
}

// Visits a rule after its parents. Returns the lowest number of a rule without a component that
// leads here. A rule is on the way once, so the way is at most as deep as there are files.
static size_t visit_rule(struct visit *visit, size_t index) {
    struct report_rule *rule = &visit->rules->list[index];
    rule->number = ++visit->visited;
    rule->component = 0;
    visit->waiting[visit->wait_count++] = index;
    size_t lowest = rule->number;
    for (size_t i = 0; i < rule->parent_count; i++) {
        const struct report_rule *parent = &visit->rules->list[rule->parents[i]];
        size_t number = parent->number == 0      ? visit_rule(visit, rule->parents[i])
                        : parent->component == 0 ? parent->number
                                                 : lowest;
        lowest = number < lowest ? number : lowest;
    }
    if (lowest == rule->number) {
        end_component(visit, index);
    }
    visit->rules->order[visit->rules->order_count++] = index;
    return lowest;
}

static int visit_all(struct report_rules *rules) {
    size_t *order = realloc(rules->order, (rules->count + 1) * sizeof(*order));
    struct visit visit = {rules, .waiting = calloc(rules->count + 1, sizeof(*visit.waiting))};
    rules->order = order ?: rules->order;
    rules->order_count = 0;
    for (size_t i = 0; i < rules->count; i++) {
        rules->list[i].number = 0;
        rules->list[i].in_cycle = false;
    }
    for (size_t i = 0; i < rules->count && order && visit.waiting; i++) {
        if (!rules->list[i].hidden_by && rules->list[i].number == 0) {
            visit_rule(&visit, i);
        }
    }
    int r = order && visit.waiting ? 0 : nvtxt_origin(-ENOMEM);
    free(visit.waiting);
    return r;
}

// ---- Cycles -------------------------------------------------------------------------------------

// Whether a way leads from `at` over parents to `target`; the identifiers on it go into `way`.
// A rule is tried once.
static bool leads_to(struct report_rules *rules, size_t at, size_t target, struct nvtxt_buf *way) {
    const struct report_rule *rule = &rules->list[at];
    for (size_t i = 0; i < rule->parent_count; i++) {
        struct report_rule *next = &rules->list[rule->parents[i]];
        if (next->component != rule->component ||
            (rule->parents[i] != target && next->way_to == target)) {
            continue;
        }
        size_t len = way->len;
        nvtxt_buf_add_string(way, " -> ");
        nvtxt_buf_add(way, next->identifier.data, next->identifier.len);
        next->way_to = target;
        if (rule->parents[i] == target || leads_to(rules, rule->parents[i], target, way)) {
            return true;
        }
        way->len = nvtxt_buf_failed(way) ? way->len : len;
    }
    return false;
}

static int find_cycle(struct report_rules *rules, size_t index) {
    struct report_rule *rule = &rules->list[index];
    struct nvtxt_buf way = {0};
    nvtxt_buf_add_string(&way,
                         rule->program ? "a cycle of parent rules: " : "a cycle of ParentRules: ");
    nvtxt_buf_add(&way, rule->identifier.data, rule->identifier.len);
    leads_to(rules, index, index, &way);
    nvtxt_buf_add(&way, "", 1);
    rule->cycle = nvtxt_buf_failed(&way) ? NULL : strdup(way.data);
    nvtxt_buf_deinit(&way);
    return rule->cycle ? 0 : nvtxt_origin(-ENOMEM);
}

static int find_cycles(struct report_rules *rules) {
    int r = 0;
    for (size_t i = 0; i < rules->count; i++) {
        free(rules->list[i].cycle);
        rules->list[i].cycle = NULL;
        rules->list[i].way_to = REPORT_NO_RULE;
    }
    for (size_t i = 0; i < rules->count && r == 0; i++) {
        r = rules->list[i].in_cycle ? find_cycle(rules, i) : 0;
    }
    return r;
}

int report_rules_put_in_order(struct report_rules *rules) {
    arrange(rules);
    int r = find_parents(rules);
    r = r ?: visit_all(rules);
    return r ?: find_cycles(rules);
}
