// SPDX-License-Identifier: Apache-2.0
//
// Figures of a span of time, name by name, without the DOM. The rules are those of nvtxt-report(1), "THE
// PAGE": of a span [from, to) an event counts when it starts before its end and ends after its start (a
// mark, or a range without length: when it starts in it), with the part of its duration that lies in the
// span. Open ranges count in no duration. Without a span the figures are those of nvtxt-report stats.
//
// A length is exact up to 2^53 ns, which are 104 days; sums of such lengths are exact whatever they are.

const KINDS = 3; // of events
const CHUNK = 2 ** 52; // what is summed as a double, before it goes into a BigInt
const HISTOGRAM_BINS = 24;
const FEW_VALUES = 600; // that are sorted rather than searched

// Many sums of lengths, by index.
class Sums {
    constructor(count) {
        this.rests = new Float64Array(count);
        this.chunks = new Float64Array(count);
        this.more = new Map();
    }

    add(index, length) {
        if (length >= CHUNK) {
            this.more.set(index, (this.more.get(index) ?? 0n) + BigInt(length));
            return;
        }
        this.rests[index] += length;
        if (this.rests[index] < CHUNK) return;
        this.rests[index] -= CHUNK;
        this.chunks[index]++;
    }

    // A number, or a BigInt where a number has not all digits.
    at(index) {
        const sum = this.chunks[index] * CHUNK + this.rests[index];
        if (sum <= Number.MAX_SAFE_INTEGER && !this.more.has(index)) return sum;
        return BigInt(this.chunks[index]) * BigInt(CHUNK) + BigInt(this.rests[index]) + (this.more.get(index) ?? 0n);
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

// One name and kind. Its lengths and items stand side by side in arrays that all groups share, in order.
// What a table shows is worked out when it is asked for: there may be a million names.
class Group {
    constructor(figures, name, kind) {
        Object.assign(this, { figures, name, kind, first: 0, count: 0, total: 0, self: null, found: null });
    }

    get values() {
        return this.figures.values.subarray(this.first, this.first + this.count);
    }

    get items() {
        return this.figures.items.subarray(this.first, this.first + this.count);
    }

    // { avg, min, max, longest, deviation, med, p90, p99 }; of marks nothing.
    work() {
        if (!this.found) this.found = this.kind === MARK ? {} : this.count === 1 ? this.alone() : this.ofMany();
        return this.found;
    }

    alone() {
        const value = this.figures.values[this.first];
        const longest = this.figures.items[this.first];
        return { avg: value, min: value, max: value, longest, deviation: 0, med: value, p90: value, p99: value };
    }

    ofMany() {
        const { values, count } = this;
        let [min, max, longest] = [Infinity, -1, 0];
        for (let i = 0; i < count; i++) {
            const value = values[i];
            if (value < min) min = value;
            if (value > max) [max, longest] = [value, i];
        }
        const avg = Number(this.total) / count;
        const sorted = values.slice();
        const middle = count >> 1;
        const upper = nthValue(sorted, middle);
        let lower = upper;
        if (count % 2 === 0) for (let i = (lower = 0); i < middle; i++) if (sorted[i] > lower) lower = sorted[i];
        const rank90 = rankOfPercent(count, 90);
        const p90 = nthValue(sorted, rank90, Math.min(middle, rank90));
        const rank99 = rankOfPercent(count, 99);
        const p99 = nthValue(sorted, rank99, Math.min(rank90, rank99));
        const deviation = sampleDeviation(values, avg);
        return { avg, min, max, longest: this.items[longest], deviation, med: lower + (upper - lower) / 2, p90, p99 };
    }

    get histogram() {
        const { min, max } = this.work();
        this.bins ||= logHistogram(this.values, min, max);
        return this.bins;
    }

    // How long an item of the group is, of `length`: its rank from the longest, and its percentile.
    rank(length) {
        const { values } = this;
        let [longer, atMost] = [0, 0];
        for (let i = 0; i < values.length; i++) {
            if (values[i] > length) longer++;
            else atMost++;
        }
        return { longer, percent: Math.ceil((100 * atMost) / this.count) };
    }
}

for (const key of ["avg", "min", "max", "longest", "deviation", "med", "p90", "p99"]) {
    Object.defineProperty(Group.prototype, key, { get() { return this.work()[key]; } });
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
// They count from the base that the capture has now: they end when that changes (Capture.setBase()).
class SpanFigures {
    constructor(capture, span) {
        Object.assign(this, { capture, span, groups: [], events: 0, open: 0, merged: 0, clipped: false });
        this.times(span);
        this.count();
        if (this.merged) return;
        this.place();
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
                groups.push(new Group(this, name[i], kinds[lane[i]]));
            }
            groups[index].count++;
            groupOf[i] = index;
        }
    }

    // Gives each group its items and their lengths, and sums these.
    place() {
        const { capture, start, end, from, to, groups, groupOf } = this;
        const next = new Uint32Array(groups.length);
        let at = 0;
        groups.forEach((group, i) => {
            next[i] = group.first = at;
            at += group.count;
        });
        const values = (this.values = new Float64Array(at));
        const items = (this.items = new Uint32Array(at));
        const cut = (this.cut = []);
        const { duration, count, wholeSelfs } = capture;
        const [totals, selfs] = [new Sums(groups.length), new Sums(groups.length)];
        for (let i = 0; i < count; i++) {
            const index = groupOf[i];
            if (index === NONE) continue;
            const place = next[index]++;
            items[place] = i;
            if (start[i] >= from && end[i] <= to) {
                values[place] = duration[i];
                selfs.add(index, wholeSelfs[i]);
            } else {
                values[place] = Math.min(end[i], to) - Math.max(start[i], from);
                cut.push(i);
            }
            totals.add(index, values[place]);
        }
        this.clipped = cut.length > 0;
        const unknown = this.addCut(selfs);
        const all = new Sums(1);
        groups.forEach((group, i) => {
            group.total = totals.at(i);
            if (group.kind === PUSH_POP && !unknown.has(i)) group.self = selfs.at(i);
            if (typeof group.total === "number") all.add(0, group.total);
        });
        this.total = groups.reduce((sum, group) => (typeof group.total === "bigint" ? BigInt(sum) + group.total : sum), all.at(0));
    }

    // Adds the self times of ranges that the span cuts. Where what lies in one is not in the page, nobody
    // knows its self time: returns the groups of such ranges.
    addCut(selfs) {
        const { capture, groupOf } = this;
        const unknown = new Set();
        const cut = this.cut.filter((item) => capture.kind(item) === PUSH_POP);
        for (const [item, self] of cutSelfTimes(capture, this, cut, this.from, this.to)) {
            selfs.add(groupOf[item], self);
            if (capture.leavesOut && capture.corrections.doubles[item]) unknown.add(groupOf[item]);
        }
        return unknown;
    }

    // The group of an item, or undefined.
    of(item) {
        return this.byName?.get(this.capture.name[item] * KINDS + this.capture.kind(item));
    }

    // The part of an item that lies in the span.
    lengthOf(item) {
        const [begins, ends] = [this.start[item], this.end[item]];
        if (begins >= this.from && ends <= this.to) return this.capture.duration[item];
        return Math.min(ends, this.to) - Math.max(begins, this.from);
    }

    share(group) {
        return this.total ? (100 * Number(group.total)) / Number(this.total) : 0;
    }
}
