// SPDX-License-Identifier: Apache-2.0
//
// The state of the page in the fragment of its address: #t=START..END&sel=ROW&q=TEXT. Times are
// those of the store, in ns.

function isPlace(fragment) {
    try {
        return fragment !== "" && document.getElementById(decodeURIComponent(fragment)) !== null;
    } catch {
        return false;
    }
}

class Fragment {
    constructor(capture, view, search, live, go) {
        Object.assign(this, { capture, view, search, live, go });
        this.timer = 0;
        this.written = "";
        addEventListener("hashchange", () => {
            if (location.hash !== this.written) this.read();
            this.written = location.hash;
        });
        view.listen((what) => what !== "points" && this.later());
    }

    start() {
        if (location.hash) this.read();
    }

    later() {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.write(), 200);
    }

    text() {
        const parts = [];
        const { view, capture } = this;
        const chosen = view.selected !== NONE || this.search.text || !view.isWhole();
        if (chosen) parts.push(`t=${capture.timeNs(view.start)}..${capture.timeNs(view.end)}`);
        if (view.selected !== NONE) parts.push(`sel=${capture.rowKey(view.selected)}`);
        if (this.search.text) parts.push(`q=${encodeURIComponent(this.search.text.toWellFormed?.() ?? this.search.text)}`);
        if (location.hash.slice(1).split("&").includes("follow=off")) parts.push("follow=off");
        return parts.length ? "#" + parts.join("&") : "";
    }

    write() {
        clearTimeout(this.timer);
        try {
            this.written = this.text();
            if (location.hash === this.written) return;
            history.replaceState(null, "", this.written || location.href.split("#")[0]);
        } catch {
            // Browsers allow a limited number of changes in some seconds; the next one is written.
        }
    }

    // A fragment is a state, or the name of a place in the page, which changes nothing here.
    read() {
        const text = location.hash.slice(1);
        if (isPlace(text)) return;
        try {
            const state = this.parse(text);
            this.search.set(state.q ?? "");
            if (state.t) this.view.showExactly(...state.t);
            else this.view.all();
            if (state.sel === undefined) {
                this.view.select(NONE);
                this.live.say("");
            } else if (state.sel === NONE) {
                this.view.select(NONE);
                this.live.say(this.sayMerged());
            } else {
                this.go(state.sel, !state.t);
            }
        } catch (error) {
            this.search.set("");
            this.view.select(NONE);
            this.view.all();
            this.live.say(`${error.message}; the whole view is shown.`);
        }
    }

    parse(text) {
        const state = {};
        for (const part of text ? text.split("&") : []) {
            const [key, value] = [part.slice(0, Math.max(part.indexOf("="), 0)), part.slice(part.indexOf("=") + 1)];
            if (!["t", "sel", "q", "follow"].includes(key) || key in state) throw new Error("The link to a view is damaged");
            state[key] = this[key](value);
        }
        return state;
    }

    t(value) {
        const parts = /^(-?\d{1,20})\.\.(-?\d{1,20})$/.exec(value);
        if (!parts) throw new Error("The link to a view is damaged");
        const [start, end] = [BigInt(parts[1]), BigInt(parts[2])];
        const { firstNs } = this.capture;
        const [first, last] = this.view.wholeAtFirst;
        if (start > end || Number(end - firstNs) < first || Number(start - firstNs) > last) {
            throw new Error("The link names a time that is not here");
        }
        // A link to a moment shows what is around it.
        const room = start === end ? BigInt(Math.ceil((last - first) / 40)) : 0n;
        return [start - firstNs - room, end - firstNs + room];
    }

    sel(value) {
        const item = this.capture.find(value);
        const mayBeMerged = this.capture.hasMerged && /^(\d+:)?-?\d+$/.test(value);
        if (item === NONE && !mayBeMerged) throw new Error("The link names an event that is not here");
        return item; // NONE: it may be one of those that are merged
    }

    sayMerged() {
        const merged = `merged with its neighbours, as ${plural(this.capture.mergedEvents, "event")} of this page are`;
        return `The event of the link is not drawn singly: it is ${merged}, or it is not in this report.`;
    }

    // Whether the page stays as it is; see follow.js.
    follow(value) {
        if (value !== "off") throw new Error("The link to a view is damaged");
        return value;
    }

    q(value) {
        try {
            return decodeURIComponent(value);
        } catch {
            throw new Error("The link to a view is damaged");
        }
    }
}
