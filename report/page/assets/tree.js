// SPDX-License-Identifier: Apache-2.0
//
// Parents, children, siblings and neighbours of items, and their self times. The columns tell a
// parent only where it is not the last range of the lane that is one less deep.

// Sets capture.parent, firstChild, next, previous (siblings: same parent, same lane; of items without
// a parent the neighbours in the lane), and laneItems, laneFirst (items by lane, in order).
function linkFamily(capture, told) {
    const { count, lane, depth, kinds } = capture;
    const parent = new Int32Array(count).fill(NONE);
    const firstChild = new Int32Array(count).fill(NONE);
    const lastChild = new Int32Array(count).fill(NONE);
    const next = new Int32Array(count).fill(NONE);
    const previous = new Int32Array(count).fill(NONE);
    const latest = capture.lanes.map(() => []); // by lane and depth
    const lastRoot = new Int32Array(capture.lanes.length).fill(NONE);
    for (let i = 0; i < count; i++) {
        const l = lane[i];
        if (kinds[l] === PUSH_POP) {
            const level = latest[l];
            const d = depth[i];
            if (told[i] === 0) parent[i] = d > 0 && level[d - 1] !== undefined ? level[d - 1] : NONE;
            else if (told[i] > 1) parent[i] = i - (told[i] - 1);
            level[d] = i;
        }
        const up = parent[i];
        const before = up === NONE ? lastRoot[l] : lastChild[up];
        if (before !== NONE) {
            previous[i] = before;
            next[before] = i;
        } else if (up !== NONE) {
            firstChild[up] = i;
        }
        if (up === NONE) lastRoot[l] = i;
        else lastChild[up] = i;
    }
    Object.assign(capture, { parent, firstChild, next, previous });
    sortByLane(capture);
}

function sortByLane(capture) {
    const first = new Uint32Array(capture.lanes.length + 1);
    for (const lane of capture.lane) first[lane + 1]++;
    for (let i = 1; i < first.length; i++) first[i] += first[i - 1];
    const place = first.slice();
    const items = new Uint32Array(capture.count);
    for (let i = 0; i < capture.count; i++) items[place[capture.lane[i]]++] = i;
    capture.laneFirst = first;
    capture.laneItems = items;
}

// The column has what the durations of the children do not explain. Exact below 2^53, as durations.
function selfTimes(capture, correction) {
    const self = new Float64Array(capture.count);
    for (let i = 0; i < capture.count; i++) {
        if (capture.kind(i) !== PUSH_POP || capture.flags[i] & OPEN || capture.merged[i]) continue;
        self[i] += capture.duration[i] + correction.doubles[i];
    }
    for (let i = 0; i < capture.count; i++) {
        const up = capture.parent[i];
        if (up !== NONE && !(capture.flags[up] & OPEN)) self[up] -= capture.duration[i];
    }
    return self;
}

function children(capture, item) {
    let count = 0;
    for (let child = capture.firstChild[item]; child !== NONE; child = capture.next[child]) count++;
    return count;
}
