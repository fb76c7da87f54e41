// SPDX-License-Identifier: Apache-2.0
//
// Search: events whose message contains the text, upper and lower case alike. Merged ones have no
// message of their own and are not found.

class Search {
    constructor(parts, capture, found) {
        Object.assign(this, parts, { capture, found });
        this.text = "";
        this.names = null; // by name: 1 where it matches
        this.lower = null;
        this.input.value = "";
        this.input.addEventListener("input", () => this.set(this.input.value));
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
        this.count.textContent = text ? `${this.matches.length} matches` : "";
        for (const button of [this.next, this.previous]) button.disabled = !this.matches || !this.matches.length;
        this.found(this);
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

    // The next match after the selection, or the one before it; after the last comes the first.
    step(by) {
        if (!this.matches || !this.matches.length) {
            this.live.say(this.text ? "0 matches" : "Nothing is searched for");
            return;
        }
        const { length } = this.matches;
        const selected = this.view.selected;
        let at = by > 0 ? upperBound(this.matches, selected) : lowerBound(this.matches, selected === NONE ? length : selected) - 1;
        if (selected === NONE && by < 0) at = length - 1;
        this.go(this.matches[(at + length) % length]);
    }
}
