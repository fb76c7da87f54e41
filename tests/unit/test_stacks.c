// SPDX-License-Identifier: Apache-2.0
//
// Stacks of many domains, and what each remembers of its levels.
#include "lib/ring/stacks.h"

#include <criterion/criterion.h>

Test(stacks, has_one_stack_for_each_domain) {
    static struct stacks stacks;
    for (uint32_t domain = 0; domain < 4096; domain++) {
        struct stack *stack = stacks_get(&stacks, domain);
        cr_assert_not_null(stack);
        cr_assert_eq(stack->depth, 0);
        stack->depth = domain + 1;
        stack_set_recorded(stack, domain % STACK_LEVELS, true);
    }
    for (uint32_t domain = 4096; domain-- > 0;) {
        struct stack *stack = stacks_get(&stacks, domain);
        cr_assert_eq(stack->domain, domain);
        cr_assert_eq(stack->depth, domain + 1);
        cr_assert(stack_is_recorded(stack, domain % STACK_LEVELS));
        cr_assert(!stack_is_recorded(stack, (domain + 1) % STACK_LEVELS));
    }
    stacks_forget_recorded(&stacks);
    cr_assert(!stack_is_recorded(stacks_get(&stacks, 5), 5));
    cr_assert_eq(stacks_get(&stacks, 5)->depth, 6, "the depth stays");
    stacks_deinit(&stacks);
    cr_assert_eq(stacks_get(&stacks, 5)->depth, 0);
    stacks_deinit(&stacks);
}

Test(stacks, forgets_a_level_that_is_not_recorded_again) {
    static struct stacks stacks;
    struct stack *stack = stacks_get(&stacks, 0);
    for (uint32_t level = 0; level < STACK_LEVELS; level++) {
        stack_set_recorded(stack, level, true);
    }
    stack_set_recorded(stack, 63, false);
    cr_assert(stack_is_recorded(stack, 62));
    cr_assert(!stack_is_recorded(stack, 63));
    cr_assert(stack_is_recorded(stack, 64));
    stack_set_recorded(stack, STACK_LEVELS, true); // beyond: never
    cr_assert(!stack_is_recorded(stack, STACK_LEVELS));
    cr_assert(!stack_is_recorded(stack, UINT32_MAX));
    stacks_deinit(&stacks);
}
