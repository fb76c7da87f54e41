// SPDX-License-Identifier: Apache-2.0
//
// The events of the page: columns of varints, deflated, in base64. A value that a double cannot hold
// exactly makes its column a pair: doubles to draw with, and BigInts to print.

const MARK = 0;
const PUSH_POP = 1;
const START_END = 2;
const OPEN = 1;
const BACKWARD = 2;
const UNCLOSED = 4;

function canInflate() {
    try {
        return Boolean(new DecompressionStream("deflate-raw"));
    } catch {
        return false;
    }
}

function bytesOfBase64(text) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const raw = atob(text);
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return bytes;
}

async function inflate(text) {
    const stream = new DecompressionStream("deflate-raw");
    const writer = stream.writable.getWriter();
    const written = writer.write(bytesOfBase64(text)).then(() => writer.close());
    const [bytes] = await Promise.all([new Response(stream.readable).arrayBuffer(), written]);
    return new Uint8Array(bytes);
}

// Small numbers: indexes, depths, flags.
function smallColumn(bytes, count, Type) {
    const values = new Type(count);
    if (!bytes) return values;
    for (let i = 0, at = 0; i < count; i++) {
        let byte = bytes[at++];
        let value = byte & 127;
        for (let scale = 128; byte & 128; scale *= 128) {
            byte = bytes[at++];
            value += (byte & 127) * scale;
        }
        values[i] = value;
    }
    return values;
}

// 64-bit numbers, of which each is added to the one before if `sum`. `doubles` are exact unless there
// are `exact` ones.
function wideColumn(bytes, count, { signed, sum }) {
    const doubles = new Float64Array(count);
    if (!bytes) return { doubles, exact: null };
    let total = 0;
    for (let i = 0, at = 0; i < count; i++) {
        let byte = bytes[at++];
        let value = byte & 127;
        for (let scale = 128; byte & 128; scale *= 128) {
            byte = bytes[at++];
            value += (byte & 127) * scale;
        }
        if (value > Number.MAX_SAFE_INTEGER) return exactColumn(bytes, count, { signed, sum });
        if (signed) value = value % 2 ? -(value + 1) / 2 : value / 2;
        total = sum ? total + value : value;
        if (Math.abs(total) > Number.MAX_SAFE_INTEGER) return exactColumn(bytes, count, { signed, sum });
        doubles[i] = total;
    }
    return { doubles, exact: null };
}

function exactColumn(bytes, count, { signed, sum }) {
    const exact = signed ? new BigInt64Array(count) : new BigUint64Array(count);
    let total = 0n;
    for (let i = 0, at = 0; i < count; i++) {
        let value = 0n;
        for (let shift = 0n, more = true; more; shift += 7n) {
            const byte = bytes[at++];
            value |= BigInt(byte & 127) << shift;
            more = byte >= 128;
        }
        if (signed) value = (value >> 1n) ^ -(value & 1n);
        total = sum ? total + value : value;
        exact[i] = total; // modulo 2^64, as it was written
    }
    return { doubles: Float64Array.from(exact, Number), exact };
}

function sums(one, other) {
    const sum = new Float64Array(one.length);
    for (let i = 0; i < sum.length; i++) sum[i] = one[i] + other[i];
    return sum;
}

// The starts and ends of items if doubles cannot hold them, else null.
function exactTimes(span, starts, durations) {
    if (span <= Number.MAX_SAFE_INTEGER) return null;
    const of = ({ exact, doubles }) => exact ?? BigUint64Array.from(doubles, BigInt);
    const [start, length] = [of(starts), of(durations)];
    return { start, end: start.map((time, i) => time + length[i]) };
}

const LOW_FIRST = new Uint8Array(Uint16Array.of(1).buffer)[0]; // 1: of 64 bits, the low half comes first

// How far each of 64-bit times lies after `base`, from their halves: BigInts would be slow.
function doublesAfter(base, times, doubles = new Float64Array(times.length)) {
    const halves = new Uint32Array(times.buffer);
    const low = Number(base & 0xffffffffn);
    const high = Number(base >> 32n);
    for (let i = 0; i < doubles.length; i++) {
        doubles[i] = (halves[2 * i + LOW_FIRST] - high) * 2 ** 32 + (halves[2 * i + 1 - LOW_FIRST] - low);
    }
    return doubles;
}

// Of outermost items: the item of another process that trees show them under, or NONE.
function itemsUnder(told) {
    const signed = (value) => (value % 2 ? -(value + 1) / 2 : value / 2);
    return Int32Array.from(told, (value, item) => (value ? item - signed(value - 1) : NONE));
}

// Everything that the page knows of the events, read once. Names of members are those of the JSON.
class Capture {
    static async read(json) {
        const columns = {};
        await Promise.all(
            Object.entries(json.columns).map(async ([name, text]) => {
                columns[name] = await inflate(text);
            }),
        );
        return new Capture(json, columns);
    }

    constructor(json, columns) {
        const count = json.items;
        this.count = count;
        this.total = json.events;
        this.leavesOut = json.loaded > json.events; // events that are not selected
        for (const table of ["domains", "colors", "categories", "processes", "threads", "lanes"]) {
            this[table] = json[table];
        }
        this.builds = json.builds ?? [];
        this.flame = json.flame;
        this.names = json.names.concat(json.flame.names); // those of items, and others of paths
        this.firstNs = BigInt(json.first);
        this.utcBase = json.utcBase === null ? null : BigInt(json.utcBase);
        this.iterations = json.iterations;
        this.hasStores = this.processes.some((process) => process.store > 0); // more than one
        this.columns = columns;
        const starts = wideColumn(columns.start, count, { sum: true });
        const durations = wideColumn(columns.duration, count, {});
        this.base = 0n; // the start and end of items are doubles after it; it is after the first event
        this.start = starts.doubles;
        this.duration = durations.doubles;
        this.span = Number(BigInt(json.last) - this.firstNs); // in doubles: for drawing
        this.exact = exactTimes(this.span, starts, durations);
        this.end = this.exact ? doublesAfter(0n, this.exact.end) : sums(this.start, this.duration);
        this.name = smallColumn(columns.name, count, Uint32Array);
        this.lane = smallColumn(columns.lane, count, Uint32Array);
        this.flags = smallColumn(columns.flags, count, Uint8Array);
        this.depth = smallColumn(columns.depth, count, Uint32Array);
        this.category = smallColumn(columns.category, count, Uint32Array);
        this.color = smallColumn(columns.color, count, Uint32Array);
        this.level = smallColumn(columns.level, count, Uint8Array); // of lines of logs; see levels.js
        this.hasLines = Boolean(columns.level);
        this.merged = smallColumn(columns.merged, count, Uint32Array);
        this.begunOn = smallColumn(columns.thread, count, Uint32Array); // of start/end ranges; 0: not known
        this.hasMerged = Boolean(columns.merged);
        this.inTree = columns.tree ? smallColumn(columns.tree, count, Uint8Array) : null; // start/end ranges that trees show
        this.under = columns.under ? itemsUnder(smallColumn(columns.under, count, Float64Array)) : null;
        this.hidden = json.hidden ?? { left: 0, names: [] }; // names of merged events
        this.kinds = Uint8Array.from(this.lanes, (lane) => lane.kind);
        this.lastNs = BigInt(json.last);
        linkFamily(this, smallColumn(columns.parent, count, Uint32Array), smallColumn(columns.kin, count, Uint32Array));
    }

    // What the first picture does not need is read when it is asked for.
    get rows() {
        const rows = wideColumn(this.columns.row, this.count, { signed: true, sum: true });
        return this.keep("rows", rows.exact || rows.doubles);
    }

    get corrections() {
        return this.keep("corrections", wideColumn(this.columns.self, this.count, { signed: true }));
    }

    get crossed() {
        return this.keep("crossed", crossedLanes(this));
    }

    get wholeSelfs() {
        return this.keep("wholeSelfs", wholeSelfTimes(this));
    }

    // Events that merged items stand for.
    get mergedEvents() {
        return this.keep("mergedEvents", this.merged.reduce((sum, count) => sum + count, 0));
    }

    keep(name, value) {
        Object.defineProperty(this, name, { value });
        return value;
    }

    kind(item) {
        return this.kinds[this.lane[item]];
    }

    message(item) {
        return this.names[this.name[item]][1];
    }

    // DOMAIN:MESSAGE
    fullName(item) {
        const [domain, message] = this.names[this.name[item]];
        return `${this.domains[domain]}:${message}`;
    }

    lengthNs(item) {
        return this.exact ? this.exact.end[item] - this.exact.start[item] : BigInt(this.duration[item]);
    }

    selfNs(item) {
        const { exact } = this.corrections;
        let self = this.lengthNs(item) + (exact ? exact[item] : BigInt(this.corrections.doubles[item]));
        for (let child = this.firstChild[item]; child !== NONE; child = this.next[child]) self -= this.lengthNs(child);
        return BigInt.asUintN(64, self);
    }

    // After the first event.
    offsetNs(item) {
        return this.exact ? this.exact.start[item] : this.base + BigInt(this.start[item]);
    }

    // Counts starts and ends from another base. They are exact within 2^53 of it.
    setBase(base) {
        const by = Number(base - this.base);
        this.base = base;
        for (const edge of ["start", "end"]) {
            const times = this[edge];
            if (this.exact) doublesAfter(base, this.exact[edge], times);
            else for (let i = 0; i < times.length; i++) times[i] -= by;
        }
    }

    // A time of the view, which is a double, as ns after the first event.
    offsetAt(time) {
        return this.base + BigInt(Math.round(time));
    }

    startNs(item) {
        return this.firstNs + this.offsetNs(item);
    }

    endNs(item) {
        return this.startNs(item) + this.lengthNs(item);
    }

    // The same as ns of the store.
    timeNs(time) {
        return this.firstNs + this.offsetAt(time);
    }

    rowText(item) {
        return String(this.rows[item]);
    }

    storeOf(item) {
        return this.processes[this.lanes[this.lane[item]].process].store;
    }

    // The item of a row: "42" of the first store, "1:42" of the second. NONE if there is none.
    find(text) {
        const parts = /^(?:(\d+):)?(-?\d+)$/.exec(String(text));
        if (!parts) return NONE;
        const { rows } = this;
        const wanted = rows instanceof BigInt64Array ? BigInt(parts[2]) : Number(parts[2]);
        const store = parts[1] === undefined ? null : Number(parts[1]);
        for (let item = rows.indexOf(wanted); item !== NONE; item = rows.indexOf(wanted, item + 1)) {
            if (store === null || this.storeOf(item) === store) return item;
        }
        return NONE;
    }

    rowKey(item) {
        const store = this.storeOf(item);
        return store ? `${store}:${this.rowText(item)}` : this.rowText(item);
    }
}
