// SPDX-License-Identifier: Apache-2.0
//
// A binary tree in an array: the children of node i are 2i and 2i + 1. A lane that was never set
// has limits that no range meets, so it is never found.
#include "client/lane/lane_tree.h"

#include <stdlib.h>

#include "protocol/base/origin.h"

static const struct lane_tree_node unset = {.until = INT64_MAX, .limit = INT64_MIN};

void lane_tree_deinit(struct lane_tree *tree) {
    free(tree->nodes);
    *tree = (struct lane_tree){0};
}

static void sum_up(struct lane_tree_node *nodes, uint32_t at) {
    const struct lane_tree_node *left = &nodes[2 * at];
    const struct lane_tree_node *right = &nodes[2 * at + 1];
    nodes[at].until = left->until < right->until ? left->until : right->until;
    nodes[at].limit = left->limit > right->limit ? left->limit : right->limit;
}

static int make_room(struct lane_tree *tree, uint32_t lane) {
    uint32_t room = tree->room ?: 1;
    while (room <= lane) {
        room *= 2;
    }
    if (room == tree->room) {
        return 0;
    }
    struct lane_tree_node *nodes = malloc((size_t)2 * room * sizeof(*nodes));
    if (!nodes) {
        return nvtxt_origin(-ENOMEM);
    }
    for (uint32_t i = 0; i < room; i++) {
        nodes[room + i] = i < tree->room ? tree->nodes[tree->room + i] : unset;
    }
    for (uint32_t at = room - 1; at > 0; at--) {
        sum_up(nodes, at);
    }
    free(tree->nodes);
    tree->nodes = nodes;
    tree->room = room;
    return 0;
}

static void put_node(struct lane_tree *tree, uint32_t lane, struct lane_tree_node known) {
    uint32_t at = tree->room + lane;
    tree->nodes[at] = known;
    while (at > 1) {
        at /= 2;
        sum_up(tree->nodes, at);
    }
}

int lane_tree_set(struct lane_tree *tree, uint32_t lane, int64_t until, int64_t limit) {
    if (make_room(tree, lane) < 0) {
        return nvtxt_origin(-ENOMEM);
    }
    put_node(tree, lane, (struct lane_tree_node){.until = until, .limit = limit});
    return 0;
}

void lane_tree_outdate(struct lane_tree *tree, uint32_t lane) {
    struct lane_tree_node known = tree->nodes[tree->room + lane];
    known.until = INT64_MIN;
    put_node(tree, lane, known);
}

uint32_t lane_tree_first(const struct lane_tree *tree, uint32_t from, int64_t end) {
    const struct lane_tree_node *nodes = tree->nodes;
    if (from >= tree->room) {
        return LANE_TREE_NONE;
    }
    uint32_t at = tree->room + from;
    while (nodes[at].limit < end) { // to the next group on the right, as large as possible
        while (at & 1) {
            at /= 2;
        }
        if (at == 0) {
            return LANE_TREE_NONE;
        }
        at++;
    }
    while (at < tree->room) {
        at = nodes[2 * at].limit >= end ? 2 * at : 2 * at + 1;
    }
    return at - tree->room;
}

uint32_t lane_tree_outdated(const struct lane_tree *tree, int64_t start) {
    const struct lane_tree_node *nodes = tree->nodes;
    uint32_t at = 1;
    if (tree->room == 0 || nodes[1].until > start) {
        return LANE_TREE_NONE;
    }
    while (at < tree->room) {
        at = nodes[2 * at].until <= start ? 2 * at : 2 * at + 1;
    }
    return at - tree->room;
}
