// SPDX-License-Identifier: Apache-2.0
//
// Which of many lanes takes a range, without asking each of them: a tree over the lanes of a thread
// that knows of any stretch of them the largest end that one takes, and the earliest moment from
// which what is known of one is out of date. All times are ns.
#pragma once

#include <stdint.h>

#define LANE_TREE_NONE UINT32_MAX

struct lane_tree_node {
    int64_t until; // what is known holds for ranges that start before it
    int64_t limit; // a range that ends later crosses another one
};

struct lane_tree {
    struct lane_tree_node *nodes; // owned; 1 is the root, the lanes stand from `room` on
    uint32_t room;                // a power of two; 0: empty
};

void lane_tree_deinit(struct lane_tree *tree); // a zeroed struct is an empty one

// What is known of a lane; those that were never set take nothing. Returns 0 or -ENOMEM.
int lane_tree_set(struct lane_tree *tree, uint32_t lane, int64_t until, int64_t limit);

// As lane_tree_set() for a lane that was set before, of which only `limit` still holds.
void lane_tree_outdate(struct lane_tree *tree, uint32_t lane);

// The first lane from `from` on that takes a range with this end, or LANE_TREE_NONE.
uint32_t lane_tree_first(const struct lane_tree *tree, uint32_t from, int64_t end);

// A lane of which nothing is known for a range that starts at `start`, or LANE_TREE_NONE.
uint32_t lane_tree_outdated(const struct lane_tree *tree, int64_t start);
