// SPDX-License-Identifier: Apache-2.0
//
// The rows of the timeline: headings, and for each lane one row a depth. A row's items are sorted by
// start; `reach` is the largest end so far, so that the items that a window of time touches are found by
// two binary searches. Lanes of a process, or of a build, are a block, which can be folded, and stands
// where the order of blocks says.

const MOST_PACKED = 64; // rows of start/end ranges that overlap; those that find no room share the last

class Row {
    constructor(lane, label, level, kind = NONE) {
        Object.assign(this, { lane, label, level, kind, count: 0 });
    }

    // Takes `count` places from `at` on of arrays that all rows share; add() and place() fill them.
    use(shared, at) {
        const from = (array, length) => array.subarray(at, at + length);
        this.items = from(shared.items, this.count);
        this.start = from(shared.start, this.count);
        this.reach = from(shared.reach, this.count);
        this.duration = from(shared.duration, this.count);
        this.length = 0;
    }

    add(item, duration) {
        this.items[this.length] = item;
        this.duration[this.length++] = duration;
    }

    // The keys of its colours, side by side: a picture looks at all of them.
    keys(palette) {
        if (this.keysOf !== palette.mode) this.ownKeys = palette.keysOf(this.items);
        this.keysOf = palette.mode;
        return this.ownKeys;
    }

    place({ start, end }) {
        let latest = -Infinity;
        for (let at = 0; at < this.count; at++) {
            const item = this.items[at];
            if (end[item] > latest) latest = end[item];
            this.start[at] = start[item];
            this.reach[at] = latest;
        }
    }

    // Places of the items that touch from..to.
    between(from, to) {
        return [lowerBound(this.reach, from), upperBound(this.start, to)];
    }
}

function inQuotes(name) {
    return `“${plainText(name)}”`;
}

// A store names what has no name of its own "Thread 1" and "Process 100"; that is not said twice.
function labelOf(kind, number, name) {
    const label = `${kind} ${number}`;
    return !name || name.toLowerCase() === label ? label : `${label} ${inQuotes(name)}`;
}

function threadLabel(capture, index) {
    const thread = capture.threads[index];
    return labelOf("thread", thread.tid, thread.name);
}

function processLabel(capture, index) {
    const process = capture.processes[index];
    return labelOf("process", process.pid, process.name) + (capture.hasStores ? `, store ${process.store + 1}` : "");
}

function laneLabel(capture, index) {
    const lane = capture.lanes[index];
    if (lane.build !== undefined) return lane.job ? `job ${lane.job}` : "makes";
    if (lane.kind === START_END) {
        const category = lane.category === undefined ? null : capture.categories[lane.category];
        if (!category) return "start/end ranges";
        return `start/end ranges, category ${category.name === null ? category.id : inQuotes(category.name)}`;
    }
    const thread = threadLabel(capture, lane.thread);
    if (lane.kind === MARK) return `${thread}, marks`;
    return lane.domain ? `${thread}, domain ${inQuotes(capture.domains[lane.domain])}` : thread;
}

// The same beside other lanes of its process, where there is little room: what differs comes first.
function shortLaneLabel(capture, index) {
    const lane = capture.lanes[index];
    if (lane.build !== undefined || lane.kind === START_END) return laneLabel(capture, index).replace("start/end ranges, category ", "");
    const { tid, name } = capture.threads[lane.thread];
    const thread = name && name.toLowerCase() !== `thread ${tid}` ? `${name} (${tid})` : `thread ${tid}`;
    if (lane.kind === MARK) return `${thread} · marks`;
    return lane.domain ? `${thread} · ${capture.domains[lane.domain]}` : thread;
}

// What the lines of a log in a lane are, by level.
function linesOfLane(capture, index) {
    const { laneFirst, laneItems } = capture;
    const isLog = capture.hasLines && capture.lanes[index].kind === MARK;
    const said = isLog ? levelCounts(capture, laneItems.subarray(laneFirst[index], laneFirst[index + 1])) : "";
    return said && `: ${said}`;
}

// The process of an item: the lane of a step has that of its build's run.
function processOf(capture, item) {
    const lane = capture.lanes[capture.lane[item]];
    const thread = lane.build === undefined ? NONE : capture.begunOn[item] - 1;
    return thread < 0 ? lane.process : capture.threads[thread].process;
}

// The lanes of a build have a heading of their own.
function headingLabel(capture, lane) {
    return lane.build === undefined ? processLabel(capture, lane.process) : capture.builds[lane.build];
}

// The thread of an item, for sentences: of a start/end range the one that began it.
function ownerLabel(capture, item) {
    const lane = capture.lanes[capture.lane[item]];
    const thread = lane.kind === START_END ? capture.begunOn[item] - 1 : lane.thread;
    const process = processOf(capture, item);
    if (thread < 0) return processLabel(capture, process);
    const of = capture.processes.length > 1 ? ` of ${processLabel(capture, process)}` : "";
    return threadLabel(capture, thread) + of;
}

// The lanes of a process, or those of a build.
class Block {
    constructor(capture, lane, heading) {
        Object.assign(this, { heading, lanes: [], folded: false, process: lane.process, isBuild: lane.build !== undefined });
        this.label = headingLabel(capture, lane);
        this.number = capture.processes[lane.process].pid;
        this.name = this.isBuild ? this.label : capture.processes[lane.process].name;
    }
}

const ORDERS = {
    first: (layout) => (block) => layout.firstItem(block),
    busy: (layout) => (block) => -layout.busyTime(block),
    number: () => (block) => block.number,
    name: () => (block) => block.name ?? "",
};

class Layout {
    constructor(capture) {
        this.capture = capture;
        this.rows = [];
        this.blocks = [];
        this.lanes = []; // of each: its block, its label, and its rows
        this.rowOf = new Uint32Array(capture.count);
        this.version = 0; // of what is folded, and of the order
        let before = {};
        capture.lanes.forEach((lane, index) => {
            if (lane.process !== before.process || lane.build !== before.build) {
                this.blocks.push(new Block(capture, lane, this.rows.length));
                this.rows.push(new Row(NONE, "", 0));
            }
            before = lane;
            const block = this.blocks[this.blocks.length - 1];
            block.lanes.push(index);
            const label = laneLabel(capture, index) + linesOfLane(capture, index);
            this.rows.push(new Row(index, label, 1, lane.kind));
            const first = this.rows.length;
            this.addLane(index, lane.kind);
            this.lanes.push({ block, label, short: shortLaneLabel(capture, index), first, after: this.rows.length });
        });
        this.blockOf = new Map(this.blocks.map((block) => [block.heading, block]));
        this.fill();
        this.place();
        this.setOrder("first");
    }

    setOrder(by) {
        const key = ORDERS[by](this);
        const keys = new Map(this.blocks.map((block) => [block, key(block)]));
        const compare = (a, b) => (keys.get(a) < keys.get(b) ? -1 : keys.get(a) > keys.get(b) ? 1 : a.heading - b.heading);
        this.order = [...this.blocks].sort(compare);
        this.version++;
    }

    // The rows from the top to the bottom; `height` of a row may be 0. Fills `tops` by row.
    stack(height) {
        this.tops = new Float64Array(this.rows.length);
        this.heights = new Float64Array(this.rows.length);
        this.shown = []; // rows that have a height
        let top = 0;
        for (const block of this.order) {
            const lanes = block.lanes.map((lane) => this.lanes[lane]);
            const after = lanes[lanes.length - 1].after;
            for (let i = block.heading; i < after; i++) {
                this.tops[i] = top;
                this.heights[i] = i > block.heading && block.folded ? 0 : height(this.rows[i], block);
                if (this.heights[i]) this.shown.push(i);
                top += this.heights[i];
            }
        }
        this.bottoms = Float64Array.from(this.shown, (i) => this.tops[i] + this.heights[i]);
        this.height = top;
    }

    fold(block, folded) {
        block.folded = folded;
        this.version++;
    }

    // The places in `shown` that a window of heights touches.
    shownBetween(from, to) {
        const first = upperBound(this.bottoms, from);
        let after = first;
        while (after < this.shown.length && this.tops[this.shown[after]] < to) after++;
        return this.shown.slice(first, after);
    }

    // The row at a height, or undefined.
    rowAt(height) {
        const index = this.shown[upperBound(this.bottoms, height)];
        return height < 0 ? undefined : index;
    }

    // The row in which an item is seen: that of its block if it is folded.
    rowSeen(item) {
        const block = this.blockOfItem(item);
        return block.folded ? block.heading : this.rowOf[item];
    }

    blockOfItem(item) {
        return this.lanes[this.capture.lane[item]].block;
    }

    firstItem({ lanes }) {
        const { laneFirst, laneItems } = this.capture;
        return Math.min(...lanes.map((lane) => laneItems[laneFirst[lane]] ?? Infinity));
    }

    busyTime({ lanes }) {
        return lanes.reduce((sum, lane) => sum + (this.busyOf(lane)?.between(-Infinity, Infinity) ?? 0), 0);
    }

    // When a lane is busy; of marks: undefined.
    busyOf(lane) {
        const { capture } = this;
        if (capture.kinds[lane] === MARK) return undefined;
        const items = () => capture.laneItems.subarray(capture.laneFirst[lane], capture.laneFirst[lane + 1]);
        return (this.busy[lane] ||= new Busy(capture, items()));
    }

    busyCount(block) {
        if (!this.counts.has(block)) {
            const lanes = block.lanes.map((lane) => this.busyOf(lane)).filter((busy) => busy);
            this.counts.set(block, new BusyCount(lanes));
        }
        return this.counts.get(block);
    }

    // Gives each item of a lane its row.
    addLane(index, kind) {
        const { laneFirst, laneItems, depth } = this.capture;
        const { rows, rowOf } = this;
        const base = rows.length;
        const busyUntil = [];
        for (let i = laneFirst[index]; i < laneFirst[index + 1]; i++) {
            const item = laneItems[i];
            const at = base + (kind === PUSH_POP ? depth[item] : kind === START_END ? this.pack(busyUntil, item) : 0);
            while (rows.length <= at) rows.push(new Row(index, "", 2, kind));
            rows[at].count++;
            rowOf[item] = at;
        }
    }

    pack(busyUntil, item) {
        const { start, end } = this.capture.exact ?? this.capture;
        let at = busyUntil.findIndex((until) => until <= start[item]);
        if (at === NONE) at = Math.min(busyUntil.length, MOST_PACKED - 1);
        busyUntil[at] = end[item];
        if (end[item] === start[item]) busyUntil[at]++;
        return at;
    }

    fill() {
        const { rows, rowOf } = this;
        const { count, laneItems, duration } = this.capture;
        const numbers = () => new Float64Array(count);
        const shared = { items: new Uint32Array(count), start: numbers(), reach: numbers(), duration: numbers() };
        let at = 0;
        for (const row of rows) {
            row.use(shared, at);
            at += row.count;
        }
        for (let i = 0; i < count; i++) {
            const item = laneItems[i];
            rows[rowOf[item]].add(item, duration[item]);
        }
    }

    // By the times that the capture has now.
    place() {
        for (const row of this.rows) row.place(this.capture);
        this.busy = [];
        this.counts = new Map();
    }
}
