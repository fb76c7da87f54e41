// SPDX-License-Identifier: Apache-2.0
//
// The rows of the timeline from top to bottom: headings, and for each lane one row a depth. A row's
// items are sorted by start; `reach` is the largest end so far, so that the items that a window of
// time touches are found by two binary searches, and `busy` the length of all before.

const MOST_PACKED = 64; // rows of start/end ranges that overlap; those that find no room share the last

class Row {
    constructor(lane, label, level) {
        Object.assign(this, { lane, label, level, items: [], kind: NONE });
    }

    seal(capture) {
        const { length } = this.items;
        this.items = Uint32Array.from(this.items);
        this.start = new Float64Array(length);
        this.reach = new Float64Array(length);
        this.busy = new Float64Array(length + 1);
        const { items, start, reach, busy } = this;
        let latest = -Infinity;
        for (let i = 0; i < length; i++) {
            const item = items[i];
            start[i] = capture.start[item];
            latest = Math.max(latest, capture.end[item]);
            reach[i] = latest;
            busy[i + 1] = busy[i] + capture.duration[item];
        }
    }

    // Places of the items that touch from..to.
    between(from, to) {
        return [lowerBound(this.reach, from), upperBound(this.start, to)];
    }
}

function threadLabel(capture, index) {
    const thread = capture.threads[index];
    return thread.name ? `thread ${thread.tid} “${thread.name}”` : `thread ${thread.tid}`;
}

function processLabel(capture, index) {
    const process = capture.processes[index];
    const many = capture.processes.some((other) => other.store !== process.store);
    return `process ${process.pid}${process.name ? ` “${process.name}”` : ""}${many ? `, store ${process.store + 1}` : ""}`;
}

function laneLabel(capture, index) {
    const lane = capture.lanes[index];
    if (lane.kind === START_END) {
        const category = lane.category === undefined ? null : capture.categories[lane.category];
        if (!category) return "start/end ranges";
        return `start/end ranges, category ${category.name === null ? category.id : `“${category.name}”`}`;
    }
    const thread = threadLabel(capture, lane.thread);
    if (lane.kind === MARK) return `${thread}, marks`;
    return lane.domain ? `${thread}, domain “${capture.domains[lane.domain]}”` : thread;
}

// Who an item belongs to, for sentences.
function ownerLabel(capture, item) {
    const lane = capture.lanes[capture.lane[item]];
    return lane.kind === START_END ? processLabel(capture, lane.process) : threadLabel(capture, lane.thread);
}

class Layout {
    constructor(capture) {
        this.capture = capture;
        this.rows = [];
        this.rowOf = new Uint32Array(capture.count);
        let process = NONE;
        capture.lanes.forEach((lane, index) => {
            if (lane.process !== process) this.rows.push(new Row(NONE, processLabel(capture, lane.process), 0));
            process = lane.process;
            this.rows.push(new Row(NONE, laneLabel(capture, index), 1));
            this.addLane(index, lane.kind);
        });
        for (const row of this.rows) row.seal(capture);
    }

    addLane(index, kind) {
        const { laneFirst, laneItems, depth } = this.capture;
        const items = laneItems.subarray(laneFirst[index], laneFirst[index + 1]);
        const base = this.rows.length;
        const busyUntil = [];
        for (const item of items) {
            const at = kind === PUSH_POP ? depth[item] : kind === START_END ? this.pack(busyUntil, item) : 0;
            while (this.rows.length <= base + at) {
                this.rows.push(Object.assign(new Row(index, "", 2), { kind }));
            }
            this.rows[base + at].items.push(item);
            this.rowOf[item] = base + at;
        }
    }

    pack(busyUntil, item) {
        const { start, end } = this.capture;
        let at = busyUntil.findIndex((until) => until <= start[item]);
        if (at === NONE) at = Math.min(busyUntil.length, MOST_PACKED - 1);
        busyUntil[at] = Math.max(end[item], start[item] + 1);
        return at;
    }
}
