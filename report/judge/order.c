// SPDX-License-Identifier: Apache-2.0
//
// The list is sorted by identifier, those of files before the program's own, so that the first of
// one identifier counts. Then rules are visited in that order, and the parents of each before it. A
// way over parents that comes back to where it began is a cycle.
#include "report/judge/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/buf.h"
#include "report/judge/declarative.h"
#include "report/judge/rules_state.h"
#include "report/judge/runner.h"

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

size_t report_rules_find(const struct report_rules *rules, struct nvtxt_slice identifier) {
    for (size_t i = 0; i < rules->count; i++) {
        if (!rules->list[i].hidden_by && nvtxt_slice_equal(rules->list[i].identifier, identifier)) {
            return i;
        }
    }
    return REPORT_NO_RULE;
}

static int by_identifier(const void *a, const void *b) {
    const struct report_rule *x = a, *y = b;
    size_t least = x->identifier.len < y->identifier.len ? x->identifier.len : y->identifier.len;
    int order = least > 0 ? memcmp(x->identifier.data, y->identifier.data, least) : 0;
    order = order
                ? order
                : (x->identifier.len > y->identifier.len) - (x->identifier.len < y->identifier.len);
    // The program's own come after files.
    order = order ? order : (x->builtin != NULL) - (y->builtin != NULL);
    return order ? order : (x->place > y->place) - (x->place < y->place);
}

// Puts the list into its order and hides what comes twice.
static void arrange(struct report_rules *rules) {
    qsort(rules->list, rules->count, sizeof(*rules->list), by_identifier);
    for (size_t i = 0; i < rules->count; i++) {
        struct report_rule *rule = &rules->list[i];
        struct report_rule *before = i > 0 ? &rules->list[i - 1] : NULL;
        bool same = before && nvtxt_slice_equal(before->identifier, rule->identifier);
        rule->hidden_by = !same ? NULL : before->hidden_by ? before->hidden_by : before;
    }
}

// ---- Parents ------------------------------------------------------------------------------------

// Whether a way leads from `at` over parents to `target`; the identifiers on it go into `way`.
static bool leads_to(struct report_rules *rules, size_t at, size_t target, struct nvtxt_buf *way) {
    const struct nvtxt_slice *parent;
    for (size_t i = 0; (parent = report_rule_parent(&rules->list[at], i)); i++) {
        size_t next = report_rules_find(rules, *parent);
        if (next == REPORT_NO_RULE || (next != target && rules->list[next].visited)) {
            continue;
        }
        size_t len = way->len;
        nvtxt_buf_add_string(way, " -> ");
        nvtxt_buf_add(way, parent->data, parent->len);
        if (next == target) {
            return true;
        }
        rules->list[next].visited = true;
        if (leads_to(rules, next, target, way)) {
            return true;
        }
        way->len = nvtxt_buf_failed(way) ? way->len : len;
    }
    return false;
}

static void forget_visits(struct report_rules *rules) {
    for (size_t i = 0; i < rules->count; i++) {
        rules->list[i].visited = false;
    }
}

static int find_cycles(struct report_rules *rules) {
    struct nvtxt_buf way = {0};
    for (size_t i = 0; i < rules->count; i++) {
        struct report_rule *rule = &rules->list[i];
        free(rule->cycle);
        rule->cycle = NULL;
        forget_visits(rules);
        nvtxt_buf_clear(&way);
        nvtxt_buf_add_string(&way, rule->program ? "a cycle of parent rules: "
                                                 : "a cycle of ParentRules: ");
        nvtxt_buf_add(&way, rule->identifier.data, rule->identifier.len);
        if (!rule->hidden_by && leads_to(rules, i, i, &way)) {
            nvtxt_buf_add(&way, "", 1);
            rule->cycle = nvtxt_buf_failed(&way) ? NULL : strdup(way.data);
            if (!rule->cycle) {
                nvtxt_buf_deinit(&way);
                return -ENOMEM;
            }
        }
    }
    nvtxt_buf_deinit(&way);
    return 0;
}

// Files are at most as many as a folder has, and each is on the way once.
static void visit(struct report_rules *rules, size_t index) {
    const struct nvtxt_slice *parent;
    if (rules->list[index].visited) {
        return;
    }
    rules->list[index].visited = true;
    for (size_t i = 0; (parent = report_rule_parent(&rules->list[index], i)); i++) {
        size_t next = report_rules_find(rules, *parent);
        if (next != REPORT_NO_RULE) {
            visit(rules, next);
        }
    }
    rules->order[rules->order_count++] = index;
}

int report_rules_put_in_order(struct report_rules *rules) {
    arrange(rules);
    size_t *order = realloc(rules->order, (rules->count + 1) * sizeof(*order));
    if (!order) {
        return -ENOMEM;
    }
    rules->order = order;
    rules->order_count = 0;
    forget_visits(rules);
    for (size_t i = 0; i < rules->count; i++) {
        if (!rules->list[i].hidden_by) {
            visit(rules, i);
        }
    }
    return find_cycles(rules);
}
