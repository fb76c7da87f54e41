// SPDX-License-Identifier: Apache-2.0
//
// Search: events whose message contains the text, upper and lower case alike. Of merged ones the page
// knows the names, how many events each has, and when; none of them can be gone to.

class Search {
    constructor(parts, capture, found) {
        Object.assign(this, parts, { capture, found });
        this.text = "";
        this.names = null; // by name: 1 where it matches
        this.lower = null;
        this.input.value = "";
        this.input.addEventListener("input", () => {
            this.set(this.input.value);
            this.asked("search");
        });
        this.input.addEventListener("keydown", (event) => {
            if (event.key === "Enter") this.step(event.shiftKey ? -1 : 1);
            else if (event.key === "Escape") this.canvas.focus();
            else return;
            event.preventDefault();
        });
        this.next.addEventListener("click", () => this.step(1));
        this.previous.addEventListener("click", () => this.step(-1));
        this.set("");
    }

    set(text) {
        this.text = text;
        if (this.input.value !== text) this.input.value = text;
        this.names = text ? this.matching(text.toLowerCase()) : null;
        this.matches = this.names ? this.items() : null;
        this.count.textContent = text ? `${this.matches.length} matches${this.mergedMatches()}` : "";
        for (const button of [this.next, this.previous]) button.disabled = !this.matches || !this.matches.length;
        this.found(this);
    }

    // What a page that is cut can say of the events that it cannot show.
    mergedMatches() {
        const { hidden, firstNs } = this.capture;
        const found = hidden.names.filter(([name]) => this.names[name]);
        const count = found.reduce((sum, [, events]) => sum + events, 0);
        let said = "";
        if (count) {
            const from = found.map(([, , first]) => BigInt(first)).reduce((a, b) => (a < b ? a : b));
            const to = found.map(([, , , last]) => BigInt(last)).reduce((a, b) => (a > b ? a : b));
            said += `; ${plural(count, "merged event")} of such names, from ${exactLength(from - firstNs)} to ${exactLength(to - firstNs)}`;
        }
        if (hidden.left) said += `; ${grouped(hidden.left)} events are merged and were not searched`;
        return said;
    }

    matching(text) {
        this.lower ||= this.capture.names.map(([, message]) => message.toLowerCase());
        return Uint8Array.from(this.lower, (message) => (message.includes(text) ? 1 : 0));
    }

    items() {
        const { name, merged, count } = this.capture;
        const items = new Uint32Array(count);
        let length = 0;
        for (let i = 0; i < count; i++) {
            if (this.names[name[i]] && !merged[i]) items[length++] = i;
        }
        return items.subarray(0, length);
    }

    step(by) {
        this.asked("search");
        if (this.text && !this.matches.length) return this.live.say(this.count.textContent);
        return this.stepIn(this.matches, by, this.view.selected, this.go);
    }

    // Goes to the next of the sorted matches after the selected one, or to the one before it; after the
    // last comes the first.
    stepIn(matches, by, selected, go) {
        if (!matches || !matches.length) return this.live.say(this.text ? "0 matches" : "nothing is searched for");
        const { length } = matches;
        const at = by > 0 ? upperBound(matches, selected) : (selected === NONE ? length : lowerBound(matches, selected)) - 1;
        return go(matches[(at + length) % length]);
    }
}
