// SPDX-License-Identifier: Apache-2.0
//
// The state of the page in the fragment of its address: #t=START..END&sel=ROW&q=TEXT. Times are
// those of the store, in ns.

class Fragment {
    constructor(capture, view, search, live, go) {
        Object.assign(this, { capture, view, search, live, go });
        this.timer = 0;
        this.written = "";
        addEventListener("hashchange", () => {
            if (location.hash !== this.written) this.read();
        });
        view.listen((what) => what !== "points" && this.later());
    }

    later() {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.write(), 200);
    }

    text() {
        const parts = [];
        const { view, capture } = this;
        if (!view.isWhole()) parts.push(`t=${capture.timeNs(view.start)}..${capture.timeNs(view.end)}`);
        if (view.selected !== NONE) parts.push(`sel=${capture.rowKey(view.selected)}`);
        if (this.search.text) parts.push(`q=${encodeURIComponent(this.search.text.toWellFormed?.() ?? this.search.text)}`);
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

    // Returns whether the fragment is a state of the page at all; others are places in it.
    read() {
        const text = location.hash.slice(1);
        if (!text || !text.includes("=")) return false;
        try {
            const state = this.parse(text);
            this.search.set(state.q ?? "");
            if (state.t) this.view.show(...state.t);
            else if (state.sel !== undefined) this.view.all();
            if (state.sel !== undefined) this.go(state.sel, !state.t);
            else this.view.select(NONE);
        } catch (error) {
            this.search.set("");
            this.view.select(NONE);
            this.view.all();
            this.live.say(`${error.message}; the whole view is shown.`);
        }
        return true;
    }

    parse(text) {
        const state = {};
        for (const part of text.split("&")) {
            const [key, value] = [part.slice(0, part.indexOf("=")), part.slice(part.indexOf("=") + 1)];
            if (!["t", "sel", "q"].includes(key) || key in state) throw new Error("The link to a view is damaged");
            state[key] = this[key](value);
        }
        return state;
    }

    t(value) {
        const parts = /^(-?\d{1,20})\.\.(-?\d{1,20})$/.exec(value);
        if (!parts) throw new Error("The link to a view is damaged");
        const [start, end] = [BigInt(parts[1]), BigInt(parts[2])];
        const { firstNs } = this.capture;
        const times = [Number(start - firstNs), Number(end - firstNs)];
        if (start > end || times[1] < this.view.whole[0] || times[0] > this.view.whole[1]) {
            throw new Error("The link names a time that is not here");
        }
        return times;
    }

    sel(value) {
        const item = this.capture.find(value);
        if (item === NONE) throw new Error("The link names an event that is not here");
        return item;
    }

    q(value) {
        try {
            return decodeURIComponent(value);
        } catch {
            throw new Error("The link to a view is damaged");
        }
    }
}
