// SPDX-License-Identifier: Apache-2.0
//
// What is looked at: a window of a line, the selected item, the measured points. The line is time for
// the timeline, and summed time for the flame graph. Parts of the page listen; all that changes goes
// through here.

class View {
    // From 0 to `span`, with a little room at both ends; bounds(item) are the ends of an item.
    constructor(span, room, bounds) {
        this.bounds = bounds;
        this.listeners = [];
        this.selected = NONE;
        this.points = []; // of a measurement: none, one or two places
        this.whole = [-room, span + room];
        this.least = Math.max(1, span * 2 ** -44); // doubles tell no less apart
        [this.start, this.end] = this.whole;
    }

    get length() {
        return this.end - this.start;
    }

    isWhole() {
        return this.start === this.whole[0] && this.end === this.whole[1];
    }

    listen(listener) {
        this.listeners.push(listener);
    }

    changed(what) {
        for (const listener of this.listeners) listener(what);
    }

    // Moves to start..end, kept within the whole; the length is kept rather than the place.
    show(start, end) {
        const whole = this.whole[1] - this.whole[0];
        const length = Math.min(Math.max(end - start, this.least), whole);
        const middle = start + (end - start) / 2;
        this.moveTo(middle - length / 2, length);
    }

    moveTo(start, length = this.length) {
        this.start = Math.min(Math.max(start, this.whole[0]), this.whole[1] - length);
        this.end = this.start + length;
        this.changed("view");
    }

    all() {
        this.show(...this.whole);
    }

    // Times beyond 1 shorten the view; `at` stays where it is.
    zoom(times, at = this.focus()) {
        const whole = this.whole[1] - this.whole[0];
        const length = Math.min(Math.max(this.length / times, this.least), whole);
        const share = (at - this.start) / this.length;
        this.moveTo(at - share * length, length);
    }

    pan(share) {
        this.moveTo(this.start + this.length * share);
    }

    // Where keys zoom: at the selection if it is in view, else in the middle.
    focus() {
        if (this.selected !== NONE) {
            const [start, end] = this.bounds(this.selected);
            if (end >= this.start && start <= this.end) return (Math.max(start, this.start) + Math.min(end, this.end)) / 2;
        }
        return (this.start + this.end) / 2;
    }

    select(item) {
        this.selected = item;
        this.changed("selected");
    }

    // The selection is brought into view if it is not there; the length of the view stays.
    reveal(item) {
        const [start, end] = this.bounds(item);
        if (end >= this.start && start <= this.end) return;
        this.moveTo(start - this.length / 4);
    }

    fit(item) {
        const [start, end] = this.bounds(item);
        const room = (end > start ? end - start : this.length) * 0.05;
        this.show(start - room, end + room);
    }

    measure(at) {
        this.points = this.points.length === 1 ? [this.points[0], at] : [at];
        this.changed("points");
    }
}
