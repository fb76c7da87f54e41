// SPDX-License-Identifier: Apache-2.0
//
// What is looked at: a window of time, the selected item, the measured points. Parts of the page
// listen to it; all that changes goes through here.

class View {
    constructor(capture) {
        this.capture = capture;
        this.listeners = [];
        this.selected = NONE;
        this.points = []; // of a measurement: none, one or two times
        // A little room at both ends; a capture without a length has some, too.
        const room = Math.ceil(capture.span / 100) + 1;
        this.whole = [-room, capture.span + room];
        this.least = Math.max(1, capture.span * 2 ** -44); // doubles tell no less apart
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
        const middle = (start + end) / 2;
        this.start = Math.min(Math.max(middle - length / 2, this.whole[0]), this.whole[1] - length);
        this.end = this.start + length;
        this.changed("view");
    }

    all() {
        this.show(...this.whole);
    }

    // Times beyond 1 shorten the view; `at` stays where it is.
    zoom(times, at = this.focus()) {
        const length = Math.max(this.length / times, this.least);
        const share = (at - this.start) / this.length;
        const start = at - share * length;
        this.show(start, start + length);
    }

    pan(share) {
        const by = this.length * share;
        const start = Math.min(Math.max(this.start + by, this.whole[0]), this.whole[1] - this.length);
        this.show(start, start + this.length);
    }

    // Where keys zoom: at the selection if it is in view, else in the middle.
    focus() {
        const { start, end } = this.capture;
        const item = this.selected;
        if (item !== NONE && end[item] >= this.start && start[item] <= this.end) {
            return (Math.max(start[item], this.start) + Math.min(end[item], this.end)) / 2;
        }
        return (this.start + this.end) / 2;
    }

    select(item) {
        this.selected = item;
        this.changed("selected");
    }

    // The selection is brought into view if it is not there; the length of the view stays.
    reveal(item) {
        const { start, end } = this.capture;
        if (start[item] >= this.start && start[item] <= this.end) return;
        if (start[item] < this.start && end[item] > this.end) return;
        const at = start[item];
        this.show(at - this.length / 4, at + (this.length * 3) / 4);
    }

    fit(item) {
        const { start, duration } = this.capture;
        const room = duration[item] ? duration[item] * 0.05 : this.length * 0.05;
        this.show(start[item] - room, start[item] + duration[item] + room);
    }

    measure(at) {
        this.points = this.points.length === 1 ? [this.points[0], at] : [at];
        this.changed("points");
    }
}
