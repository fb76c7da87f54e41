// SPDX-License-Identifier: Apache-2.0
//
// Parents, children, siblings and neighbours of items. The columns tell a
// parent only where it is not the last range of the lane that is one less deep.

// Sets capture.laneItems and laneFirst (items by lane, in order), and parent, firstChild, next, previous
// (siblings: same parent, same lane; of items without a parent the neighbours in the lane).
function linkFamily(capture, told, kin) {
    sortByLane(capture);
    const { count, laneFirst, laneItems } = capture;
    const empty = () => new Int32Array(count).fill(NONE);
    const family = { parent: empty(), firstChild: empty(), next: empty(), previous: empty() };
    const lastChild = empty();
    capture.lanes.forEach((lane, index) => {
        const items = laneItems.subarray(laneFirst[index], laneFirst[index + 1]);
        if (lane.kind === PUSH_POP) linkRanges(items, capture.depth, told, kin, family, lastChild);
        else linkNeighbours(items, family);
    });
    Object.assign(capture, family);
}

function linkNeighbours(items, { next, previous }) {
    for (let i = 1; i < items.length; i++) {
        previous[items[i]] = items[i - 1];
        next[items[i - 1]] = items[i];
    }
}

function linkRanges(items, depth, told, kin, { parent, firstChild, next, previous }, lastChild) {
    const latest = []; // by depth
    let lastRoot = NONE;
    for (let i = 0; i < items.length; i++) {
        const item = items[i];
        const deep = depth[item];
        let up = NONE;
        if (told[item] > 1) up = item - (told[item] - 1);
        else if (!told[item] && deep > 0 && deep <= latest.length) up = latest[deep - 1];
        while (latest.length < deep) latest.push(NONE);
        latest[deep] = item;
        let before = up === NONE ? lastRoot : lastChild[up];
        if (kin[item]) before = kin[item] > 1 ? item - (kin[item] - 1) : NONE; // below one that is not here
        if (before !== NONE) {
            previous[item] = before;
            next[before] = item;
        } else if (up !== NONE) {
            firstChild[up] = item;
        }
        if (up !== NONE) lastChild[up] = item;
        else if (!kin[item]) lastRoot = item;
        parent[item] = up;
    }
}

function sortByLane(capture) {
    const { count, lane } = capture;
    const first = new Uint32Array(capture.lanes.length + 1);
    for (let i = 0; i < count; i++) first[lane[i] + 1]++;
    for (let i = 1; i < first.length; i++) first[i] += first[i - 1];
    const place = first.slice();
    const items = new Uint32Array(count);
    for (let i = 0; i < count; i++) items[place[lane[i]]++] = i;
    capture.laneFirst = first;
    capture.laneItems = items;
}

// Lanes in which a range ends after the one under it.
function crossedLanes(capture) {
    const { count, parent, lane } = capture;
    const { end } = capture.exact ?? capture;
    const lanes = new Set();
    for (let i = 0; i < count; i++) if (parent[i] !== NONE && end[i] > end[parent[i]]) lanes.add(lane[i]);
    return lanes;
}

function countChildren(capture, item) {
    let count = 0;
    for (let child = capture.firstChild[item]; child !== NONE; child = capture.next[child]) count++;
    return count;
}
