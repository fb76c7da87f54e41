// SPDX-License-Identifier: Apache-2.0
//
// The first few stacks lie in the thread itself; further ones in an array that doubles. They are
// searched from the newest on: a thread has few domains.
#include "lib/ring/stacks.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define MORE_FIRST 29u // with its neighbours: a page of 4 KiB

static struct stack *at(struct stacks *stacks, uint32_t index) {
    return index < STACKS_INLINE ? &stacks->first[index] : &stacks->more[index - STACKS_INLINE];
}

static bool grow(struct stacks *stacks) {
    int saved = errno;
    uint32_t room = stacks->room ? stacks->room * 2 : MORE_FIRST;
    struct stack *more = mmap(NULL, room * sizeof(*more), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (more == MAP_FAILED) {
        errno = saved;
        return false;
    }
    if (stacks->more) {
        memcpy(more, stacks->more, stacks->room * sizeof(*more));
        munmap(stacks->more, stacks->room * sizeof(*more));
    }
    stacks->more = more;
    stacks->room = room;
    return true;
}

struct stack *stacks_find(struct stacks *stacks, uint32_t domain) {
    for (uint32_t i = stacks->count; i-- > 0;) {
        if (at(stacks, i)->domain == domain) {
            return stacks->last = at(stacks, i);
        }
    }
    if (stacks->count == STACKS_INLINE + stacks->room && !grow(stacks)) {
        return NULL;
    }
    struct stack *stack = at(stacks, stacks->count++);
    memset(stack, 0, sizeof(*stack));
    stack->domain = domain;
    return stacks->last = stack;
}

void stacks_forget_recorded(struct stacks *stacks) {
    for (uint32_t i = 0; i < stacks->count; i++) {
        memset(at(stacks, i)->recorded, 0, sizeof(at(stacks, i)->recorded));
    }
}

void stacks_deinit(struct stacks *stacks) {
    if (stacks->more) {
        munmap(stacks->more, stacks->room * sizeof(*stacks->more));
    }
    memset(stacks, 0, sizeof(*stacks));
}
