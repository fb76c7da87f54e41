// SPDX-License-Identifier: Apache-2.0
//
// What is looked at: a window of a line, the selected item, the measured points. The line is time for
// the timeline, and summed time for the flame graph. Parts of the page listen; all that changes goes
// through here.

const FINEST = 2 ** -44; // of what lies beside it; that leaves doubles some digits of a pixel

class View {
    // From 0 to `span`, with a little room at both ends; bounds(item) are the ends of an item.
    constructor(span, room, bounds) {
        this.bounds = bounds;
        this.listeners = [];
        this.selected = NONE;
        this.whole = [-room, span + room];
        this.least = Math.max(1, span * FINEST); // doubles tell no less apart
        this.start = this.whole[0];
        this.length = this.wholeLength;
    }

    get end() {
        return this.start + this.length;
    }

    get wholeLength() {
        return this.whole[1] - this.whole[0];
    }

    isWhole() {
        return this.start === this.whole[0] && this.length === this.wholeLength;
    }

    listen(listener) {
        this.listeners.push(listener);
    }

    changed(what) {
        for (const listener of this.listeners) listener(what);
    }

    // Moves to start..end, kept within the whole; the length is kept rather than the place.
    show(start, end) {
        const length = this.possible(end - start);
        const middle = start + (end - start) / 2;
        this.moveTo(middle - length / 2, length);
    }

    moveTo(start, length = this.length) {
        const [first, last] = this.whole;
        this.start = length >= this.wholeLength ? first : Math.min(Math.max(start, first), last - length);
        this.length = length;
        this.changed("view");
    }

    possible(length) {
        return Math.min(Math.max(length, this.least), this.wholeLength);
    }

    all() {
        this.show(...this.whole);
    }

    // Times beyond 1 shorten the view; `at` stays where it is.
    zoom(times, at = this.focus()) {
        const length = this.possible(this.length / times);
        const share = (at - this.start) / this.length;
        this.moveTo(at - share * length, length);
    }

    pan(share) {
        this.moveTo(this.start + this.length * share);
    }

    // Where keys zoom: at the selection if it is in view, else in the middle.
    focus() {
        if (this.selected !== NONE && this.sees(this.selected)) {
            const [start, end] = this.bounds(this.selected);
            return (Math.max(start, this.start) + Math.min(end, this.end)) / 2;
        }
        return (this.start + this.end) / 2;
    }

    select(item) {
        this.selected = item;
        this.changed("selected");
    }

    // The selection is brought into view if it is not there; the length of the view stays.
    reveal(item) {
        if (!this.sees(item)) this.moveTo(this.bounds(item)[0] - this.length / 4);
    }

    sees(item) {
        const [start, end] = this.bounds(item);
        return end >= this.start && start <= this.end;
    }

    fit(item) {
        const [start, end] = this.bounds(item);
        const room = (end > start ? end - start : this.length) * 0.05;
        this.show(start - room, end + room);
    }
}
