// SPDX-License-Identifier: Apache-2.0
//
// The push/pop stacks of a thread, one for each domain: how deep each is, and of each level whether
// its push was recorded, since only then its pop is. Memory comes from mmap, never from malloc,
// because the program may be inside of it. Used by the one thread only.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define STACK_LEVELS 1024u // deeper levels are counted, never recorded
#define STACKS_INLINE 3u

struct stack {
    uint32_t domain, depth;
    uint64_t recorded[STACK_LEVELS / 64];
};

struct stacks {
    struct stack *last; // the one that was used last
    struct stack first[STACKS_INLINE];
    struct stack *more;   // further ones
    uint32_t count, room; // of all; of `more`
};

// The stack of a domain, made when there is none. NULL when there is no memory.
struct stack *stacks_find(struct stacks *stacks, uint32_t domain);

static inline struct stack *stacks_get(struct stacks *stacks, uint32_t domain) {
    return stacks->last && stacks->last->domain == domain ? stacks->last
                                                          : stacks_find(stacks, domain);
}

// In a child: what is open was recorded by the parent; here nothing of it is.
void stacks_forget_recorded(struct stacks *stacks);

void stacks_deinit(struct stacks *stacks);

static inline bool stack_is_recorded(const struct stack *stack, uint32_t level) {
    return level < STACK_LEVELS && stack->recorded[level / 64] >> (level % 64) & 1;
}

static inline void stack_set_recorded(struct stack *stack, uint32_t level, bool recorded) {
    if (level < STACK_LEVELS) {
        uint64_t bit = (uint64_t)1 << (level % 64);
        stack->recorded[level / 64] = (stack->recorded[level / 64] & ~bit) | (recorded ? bit : 0);
    }
}
