// SPDX-License-Identifier: Apache-2.0
//
// Times as people read them. A time inside the page is a double: nanoseconds after the first event, or
// after the base of the view (see timeview.js), exact below 2^53. Exact times are BigInt (see data.js)
// and come out as decimal strings.

const THIN = "\u202f";
const MOST_DIGITS = 5; // after the point
const NONE = -1; // no item, no row, no name

// A length with its unit, no digit lost: "40 ns", "1.5 ms", "2.000000001 s".
function exactLength(ns) {
    const value = BigInt(ns);
    const size = value < 0n ? -value : value;
    for (const [unit, digits] of [["s", 9], ["ms", 6], ["µs", 3]]) {
        const one = 10n ** BigInt(digits);
        if (size < one) continue;
        const rest = (size % one).toString().padStart(digits, "0").replace(/0+$/, "");
        return `${value < 0n ? "-" : ""}${size / one}${rest ? "." + rest : ""} ${unit}`;
    }
    return `${value} ns`;
}

// The same with three digits: as people read it. Where it stands the exact one is to be had, too.
function shortLength(ns) {
    const [unit, size] = unitOf(Math.abs(ns), 999.5);
    return `${trimmed(ns / size)} ${unit}`;
}

// The smallest unit in which a length is below `most`.
function unitOf(ns, most) {
    return UNITS.find(([, size]) => ns < size * most) ?? UNITS[UNITS.length - 1];
}

function trimmed(value) {
    return Math.abs(value) >= 1000 ? grouped(Math.round(value)) : String(Number(value.toPrecision(3)));
}

function grouped(count, between = THIN) {
    return String(count).replace(/\B(?=(\d{3})+$)/g, between);
}

const UNITS = [["ns", 1], ["µs", 1e3], ["ms", 1e6], ["s", 1e9], ["min", 60e9], ["h", 3600e9], ["d", 86400e9]];

// The lengths of a column, all in one unit: three digits each, at most three of them after the point,
// which stands below the point of the line above.
class LengthColumn {
    // The smallest unit in which the longest has at most four digits before the point.
    constructor(lengths) {
        const longest = lengths.reduce((most, length) => Math.max(most, length), 0);
        [this.unit, this.size] = unitOf(longest, 9999.5);
        this.digits = lengths.reduce((most, length) => Math.max(most, length ? this.digitsOf(length) : 0), 0);
    }

    digitsOf(length) {
        const value = length / this.size;
        const digits = Math.max(0, Math.min(MOST_DIGITS, 2 - Math.floor(Math.log10(value)))); // three that count
        return Number.isInteger(length) && this.size === 1 ? 0 : digits;
    }

    // Without the unit.
    text(length) {
        const digits = length ? this.digitsOf(length) : 0;
        const shown = (length / this.size).toFixed(digits);
        if (length && !Number(shown)) return `<${(10 ** -MOST_DIGITS).toFixed(MOST_DIGITS)}`;
        const [whole, rest = ""] = shown.split(".");
        const room = this.digits ? (rest ? "" : "\u2008") + "\u2007".repeat(this.digits - rest.length) : "";
        return `${grouped(whole)}${rest ? "." + rest : ""}${room}`;
    }
}

function plural(count, word, words = `${word}s`) {
    return `${grouped(count)} ${count === 1 ? word : words}`;
}

// UTC with nanoseconds, of a BigInt: "2026-11-22 16:45:08.000000040". Years that Date cannot hold
// are left as a number of nanoseconds.
function utcText(ns) {
    let seconds = ns / 1000000000n;
    let rest = ns % 1000000000n;
    if (rest < 0n) {
        rest += 1000000000n;
        seconds -= 1n;
    }
    const date = new Date(Number(seconds) * 1000);
    if (Number.isNaN(date.getTime())) return `${ns} ns`;
    return date.toISOString().slice(0, -5).replace("T", " ") + "." + rest.toString().padStart(9, "0");
}

// Distances of ruler lines: 1, 2 or 5 times a power of ten, at least `least` nanoseconds.
function rulerStep(least) {
    const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
    return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least);
}

// A ruler's label: relative to the first event, as short as the step allows.
function rulerLabel(ns, step) {
    const [unit, size] = step >= 1e9 ? ["s", 1e9] : step >= 1e6 ? ["ms", 1e6] : step >= 1e3 ? ["µs", 1e3] : ["ns", 1];
    const value = Math.round(ns / size);
    const [bigger, times] = { s: ["s", 1], ms: ["s", 1000], "µs": ["ms", 1000], ns: ["µs", 1000] }[unit];
    const digits = Math.max(0, Math.ceil(Math.log10((size * times) / step) - 1e-9)); // that differ from line to line
    if (times > 1 && Math.abs(value) >= 10000) return `${(value / times).toFixed(digits)} ${bigger}`;
    return `${grouped(value)} ${unit}`;
}

// The first index of a sorted array, from `low` to before `high`, whose value is not below `wanted`.
function lowerBound(array, wanted, low = 0, high = array.length) {
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (array[middle] < wanted) low = middle + 1;
        else high = middle;
    }
    return low;
}

// The first index whose value is above `wanted`.
function upperBound(array, wanted, low = 0, high = array.length) {
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (array[middle] <= wanted) low = middle + 1;
        else high = middle;
    }
    return low;
}
