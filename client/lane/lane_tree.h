// SPDX-License-Identifier: Apache-2.0
//
// Finds the first of many lanes that takes a range, without a look at each: a tree over the lanes
// of a thread. Each node knows, for its group of lanes, the largest end that a lane takes, and the
// earliest time from which its knowledge of a lane is out of date. All times are ns.
#pragma once

#include <stdint.h>

#define LANE_TREE_NONE UINT32_MAX

struct lane_tree_node {
    int64_t until; // `limit` is right for ranges that start before this
    int64_t limit; // a range that ends later crosses another one
};

struct lane_tree {
    struct lane_tree_node *nodes; // owned; 1 is the root, the lanes begin at `room`
    uint32_t room;                // a power of two; 0: empty
};

void lane_tree_deinit(struct lane_tree *tree); // a zeroed struct is an empty one

// Sets what is known of a lane; a lane that was never set takes nothing. Returns 0 or -ENOMEM.
int lane_tree_set(struct lane_tree *tree, uint32_t lane, int64_t until, int64_t limit);

// What is known of a lane that was set before is out of date from now on; `limit` stays.
void lane_tree_outdate(struct lane_tree *tree, uint32_t lane);

// The first lane from `from` on that takes a range with this end, or LANE_TREE_NONE.
uint32_t lane_tree_first(const struct lane_tree *tree, uint32_t from, int64_t end);

// A lane whose knowledge is out of date for a range that starts at `start`, or LANE_TREE_NONE.
uint32_t lane_tree_outdated(const struct lane_tree *tree, int64_t start);
