// SPDX-License-Identifier: Apache-2.0
//
// Figures of a span of time, name by name, without the DOM. The rules are those of nvtxt-report(1), "THE
// PAGE": of a span [from, to) an event counts when it starts before its end and ends after its start (a
// mark, or a range without length: when it starts in it), with the part of its duration that lies in the
// span. Open ranges count in no duration. Without a span the figures are those of nvtxt-report stats.
//
// A length is exact up to 2^53 ns, which are 104 days; sums are exact whatever they are.

const KINDS = 3; // of events
const CHUNK = 2 ** 52; // what is summed as a double, before it goes into a BigInt
const HISTOGRAM_BINS = 24;
const FEW_VALUES = 600; // that are sorted rather than searched

// A sum of lengths.
class Sum {
    constructor() {
        this.chunks = 0;
        this.rest = 0;
        this.more = 0n;
    }

    add(length) {
        if (length > Number.MAX_SAFE_INTEGER) this.more += BigInt(length);
        else this.rest += length;
        if (this.rest < CHUNK) return;
        this.rest -= CHUNK;
        this.chunks++;
    }

    get exact() {
        return BigInt(this.chunks) * BigInt(CHUNK) + BigInt(this.rest) + this.more;
    }
}

// The value of a rank, from 0. Afterwards none before it is larger, and none after it is smaller.
function nthValue(values, rank, low = 0, high = values.length - 1) {
    while (high - low > FEW_VALUES) {
        const [a, b, c] = [values[low], values[(low + high) >> 1], values[high]];
        const pivot = Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
        let left = low;
        let right = high;
        while (left <= right) {
            while (values[left] < pivot) left++;
            while (values[right] > pivot) right--;
            if (left > right) break;
            const value = values[left];
            values[left++] = values[right];
            values[right--] = value;
        }
        if (rank <= right) high = right;
        else if (rank >= left) low = left;
        else return values[rank];
    }
    values.subarray(low, high + 1).sort();
    return values[rank];
}

// Nearest rank: the ceil(percent / 100 x count)-th smallest.
function rankOfPercent(count, percent) {
    return Math.max(Math.ceil((percent * count) / 100), 1) - 1;
}

function sampleDeviation(values, mean) {
    let squares = 0;
    for (let i = 0; i < values.length; i++) squares += (values[i] - mean) ** 2;
    return values.length < 2 ? 0 : Math.sqrt(squares / (values.length - 1));
}

// Lengths by logarithm: counts of bins, and the least and the largest length.
function logHistogram(values, low, high) {
    const counts = new Array(HISTOGRAM_BINS).fill(0);
    const bottom = Math.log2(Math.max(low, 1));
    const scale = HISTOGRAM_BINS / (Math.log2(Math.max(high, 1)) - bottom);
    const bin = (length) => {
        const place = Number.isFinite(scale) ? Math.floor((Math.log2(Math.max(length, 1)) - bottom) * scale) : 0;
        return Math.min(Math.max(place, 0), HISTOGRAM_BINS - 1);
    };
    for (let i = 0; i < values.length; i++) counts[bin(values[i])]++;
    return { counts, low, high, bin };
}

// The figures of one name and kind. `values` are the lengths of its items in order; both are views of
// arrays that all groups share.
class Group {
    constructor(name, kind, count) {
        Object.assign(this, { name, kind, count, self: null, total: 0n });
    }

    // Works out what a table shows. `scratch` has room for all values.
    work(scratch) {
        const { values, count } = this;
        if (this.kind === MARK) return;
        const sum = new Sum();
        let [min, max, longest] = [Infinity, -1, 0];
        for (let i = 0; i < count; i++) {
            const value = values[i];
            sum.add(value);
            if (value < min) min = value;
            if (value > max) [max, longest] = [value, i];
        }
        this.total = sum.exact;
        this.avg = Number(this.total) / count;
        Object.assign(this, { min, max, longest: this.items[longest], deviation: sampleDeviation(values, this.avg) });
        const sorted = scratch.subarray(0, count);
        sorted.set(values);
        const middle = count >> 1;
        const upper = nthValue(sorted, middle);
        let lower = upper;
        if (count % 2 === 0) for (let i = (lower = 0); i < middle; i++) if (sorted[i] > lower) lower = sorted[i];
        this.med = lower + (upper - lower) / 2;
        const p90 = rankOfPercent(count, 90);
        this.p90 = nthValue(sorted, p90, Math.min(middle, p90));
        const p99 = rankOfPercent(count, 99);
        this.p99 = nthValue(sorted, p99, Math.min(p90, p99));
    }

    get histogram() {
        this.bins ||= logHistogram(this.values, this.min, this.max);
        return this.bins;
    }

    // How long an item of the group is, of `length`: its rank from the longest, and its percentile.
    rank(length) {
        let [longer, atMost] = [0, 0];
        for (let i = 0; i < this.count; i++) {
            if (this.values[i] > length) longer++;
            else atMost++;
        }
        return { longer, percent: Math.ceil((100 * atMost) / this.count) };
    }
}

// The self times of push/pop ranges that a span cuts: the time of the span in which a range is the last,
// in order, of the open ranges of its lane.
function cutSelfTimes(capture, times, cut, from, to) {
    const selfs = new Map();
    const crossed = cut.filter((item) => capture.crossed.has(capture.lane[item]));
    for (const item of crossed) selfs.set(item, 0);
    for (const lane of new Set(crossed.map((item) => capture.lane[item]))) walkCrossed(capture, times, lane, { selfs, from, to });
    for (const item of cut) if (!selfs.has(item)) selfs.set(item, selfWithin(capture, times, item, from, to));
    return selfs;
}

// Where ranges do not cross, it is what its children leave.
function selfWithin({ firstChild, next }, { start, end }, item, from, to) {
    let self = Math.min(end[item], to) - Math.max(start[item], from);
    for (let child = firstChild[item]; child !== NONE && start[child] < to; child = next[child]) {
        self -= Math.max(Math.min(end[child], to) - Math.max(start[child], from), 0);
    }
    return self;
}

function walkCrossed(capture, { start, end }, lane, { selfs, from, to }) {
    const open = [];
    let at = from;
    const leave = (until) => {
        while (open.length) {
            const top = open[open.length - 1];
            const reached = Math.min(end[top], until);
            if (reached > at) {
                if (selfs.has(top)) selfs.set(top, selfs.get(top) + reached - at);
                at = reached;
            }
            if (end[top] > until) return;
            open.pop();
        }
    };
    for (let i = capture.laneFirst[lane]; i < capture.laneFirst[lane + 1]; i++) {
        const item = capture.laneItems[i];
        if (start[item] >= to) break;
        if (end[item] <= from) continue;
        leave(Math.max(start[item], from));
        at = Math.max(start[item], at);
        open.push(item);
    }
    leave(to);
}

// Self times of whole ranges, as doubles: that of the program, which knows what is not in the page.
function wholeSelfTimes(capture) {
    const { count, duration, parent, corrections } = capture;
    const selfs = duration.slice();
    for (let i = 0; i < count; i++) if (parent[i] !== NONE) selfs[parent[i]] -= duration[i];
    for (let i = 0; i < count; i++) selfs[i] += corrections.doubles[i];
    if (corrections.exact || capture.exact) for (let i = 0; i < count; i++) if (capture.kind(i) === PUSH_POP) selfs[i] = Number(capture.selfNs(i));
    return selfs;
}

// All figures of a span, or of everything if `span` is null: {from, to}, exact, after the first event.
class SpanFigures {
    constructor(capture, span) {
        Object.assign(this, { capture, span, groups: [], events: 0, open: 0, merged: 0, clipped: false });
        this.times(span);
        this.count();
        if (this.merged) return;
        this.place();
        const scratch = new Float64Array(this.groups.reduce((most, group) => Math.max(most, group.count), 0));
        for (const group of this.groups) group.work(scratch);
        this.total = this.groups.reduce((sum, group) => sum + group.total, 0n);
        this.byName = new Map(this.groups.map((group) => [group.name * KINDS + group.kind, group]));
    }

    // Times in which the ends of the span are exact.
    times(span) {
        const { capture } = this;
        const { base, exact } = capture;
        Object.assign(this, { start: capture.start, end: capture.end, from: -Infinity, to: Infinity });
        if (!span) return;
        const zero = exact ? span.from : base;
        if (exact) Object.assign(this, { start: doublesAfter(zero, exact.start), end: doublesAfter(zero, exact.end) });
        this.from = Number(span.from - zero);
        this.to = Number(span.to - zero);
    }

    // Which items count: `groupOf` has the index of the group, or NONE.
    count() {
        const { capture, start, end, from, to, groups } = this;
        const { name, lane, kinds, flags, merged, count, hasMerged } = capture;
        const known = new Int32Array(capture.names.length * KINDS).fill(NONE);
        const groupOf = (this.groupOf = new Int32Array(count).fill(NONE));
        for (let i = 0; i < count; i++) {
            const [begins, ends] = [start[i], end[i]];
            if (begins < ends ? begins >= to || ends <= from : begins < from || begins >= to) continue;
            if (hasMerged && merged[i]) {
                this.merged += merged[i];
                continue;
            }
            this.events++;
            if (flags[i] & OPEN) {
                this.open++;
                continue;
            }
            const key = name[i] * KINDS + kinds[lane[i]];
            let index = known[key];
            if (index === NONE) {
                index = known[key] = groups.length;
                groups.push(new Group(name[i], kinds[lane[i]], 0));
            }
            groups[index].count++;
            groupOf[i] = index;
        }
    }

    // Gives each group its items and their lengths.
    place() {
        const { capture, start, end, from, to, groups, groupOf } = this;
        const total = groups.reduce((sum, group) => sum + group.count, 0);
        const values = new Float64Array(total);
        const items = new Uint32Array(total);
        const next = new Uint32Array(groups.length);
        let at = 0;
        groups.forEach((group, i) => {
            next[i] = at;
            group.values = values.subarray(at, at + group.count);
            group.items = items.subarray(at, at + group.count);
            at += group.count;
        });
        const cut = (this.cut = []);
        const { duration, count, wholeSelfs } = capture;
        const selfs = new Float64Array(groups.length);
        const chunks = new Float64Array(groups.length);
        for (let i = 0; i < count; i++) {
            const index = groupOf[i];
            if (index === NONE) continue;
            const place = next[index]++;
            items[place] = i;
            if (start[i] >= from && end[i] <= to) {
                values[place] = duration[i];
                selfs[index] += wholeSelfs[i];
                if (selfs[index] >= CHUNK) {
                    selfs[index] -= CHUNK;
                    chunks[index]++;
                }
            } else {
                values[place] = Math.min(end[i], to) - Math.max(start[i], from);
                cut.push(i);
            }
        }
        groups.forEach((group, i) => {
            if (group.kind === PUSH_POP) group.self = BigInt(chunks[i]) * BigInt(CHUNK) + BigInt(selfs[i]);
        });
        this.clipped = cut.length > 0;
        this.addCut(cut.filter((item) => capture.kind(item) === PUSH_POP));
    }

    // Where what lies in a range that is cut is not in the page, nobody knows its self time.
    addCut(cut) {
        const { capture, groups, groupOf } = this;
        for (const [item, self] of cutSelfTimes(capture, this, cut, this.from, this.to)) {
            const group = groups[groupOf[item]];
            const isKnown = group.self !== null && !(capture.leavesOut && capture.corrections.doubles[item]);
            group.self = isKnown ? group.self + BigInt(self) : null;
        }
    }

    // The group of an item, or undefined.
    of(item) {
        return this.byName?.get(this.capture.name[item] * KINDS + this.capture.kind(item));
    }

    // The part of an item that lies in the span.
    lengthOf(item) {
        return Math.min(this.end[item], this.to) - Math.max(this.start[item], this.from);
    }

    share(group) {
        return this.total ? (100 * Number(group.total)) / Number(this.total) : 0;
    }
}
