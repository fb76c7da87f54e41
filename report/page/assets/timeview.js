// SPDX-License-Identifier: Apache-2.0
//
// The view of the timeline. Times may lie 2^64 ns apart, more than a double tells. So a short view far
// from the first event has a base of its own, a whole second near it, after which all times of the
// page are counted; see Capture.setBase().

const COARSE = 2 ** 24; // ns; a longer view needs no base
const SECOND = 1000000000n;

class TimeView extends View {
    constructor(capture) {
        super(capture.span, Math.ceil(capture.span / 100) + 1, (item) => [capture.start[item], capture.end[item]]);
        this.capture = capture;
        this.least = 1;
        this.wholeAtFirst = this.whole; // after the first event
        this.points = []; // of a measurement: none, one or two exact times
        this.span = null; // {from, to}: exact times; what begins at `to` is not in it
        this.named = null; // {name, kind}: ranges of that name are outlined
    }

    // Exact times in any order, after the first event. A span has a length.
    setSpan(one, other) {
        const [from, to] = one < other ? [one, other] : [other, one];
        const last = this.capture.lastNs - this.capture.firstNs + 1n; // what begins at the last moment is in it
        const begins = from < 0n ? 0n : from >= last ? last - 1n : from;
        const ends = to > last ? last : to;
        this.span = { from: begins, to: ends > begins ? ends : begins + 1n };
        this.changed("span");
    }

    clearSpan() {
        this.span = null;
        this.changed("span");
    }

    fitSpan() {
        const { from, to } = this.span;
        const room = (to - from) / 20n + 1n;
        this.showExactly(from - room, to + room);
    }

    name(group) {
        this.named = group;
        this.changed("named");
    }

    // Exact times, after the first event.
    showExactly(from, to) {
        this.approach(from, Number(to - from));
        const { base } = this.capture;
        this.show(Number(from - base), Number(to - base));
    }

    moveTo(start, length = this.length) {
        const { base } = this.capture;
        this.approach(base + BigInt(Math.round(start)), length);
        super.moveTo(start - Number(this.capture.base - base), length);
    }

    all() {
        this.setBase(0n);
        super.all();
    }

    reveal(item) {
        if (!this.sees(item)) this.approach(this.capture.offsetNs(item), this.length);
        super.reveal(item);
    }

    fit(item) {
        const { capture } = this;
        this.approach(capture.offsetNs(item), Number(capture.lengthNs(item)) || this.length / 16);
        super.fit(item);
    }

    // Sees to it that doubles can tell the times of a view apart that begins about at `offset`.
    approach(offset, length) {
        const away = Math.abs(Number(offset - this.capture.base));
        if (length > COARSE) this.setBase(0n);
        else if (Math.max(length, 1) < away * FINEST) this.setBase((offset / SECOND) * SECOND);
    }

    // Listeners hear by how much all times become smaller.
    setBase(base) {
        const by = Number(base - this.capture.base);
        if (!by) return;
        this.capture.setBase(base);
        this.start -= by;
        this.whole = this.wholeAtFirst.map((edge) => edge - Number(base));
        for (const listener of this.listeners) listener("base", by);
    }

    // At an exact time, after the first event.
    measure(at) {
        this.points = this.points.length === 1 ? [this.points[0], at] : [at];
        this.changed("points");
    }
}
