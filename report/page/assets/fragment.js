// SPDX-License-Identifier: Apache-2.0
//
// The state of the page in the fragment of its address: #t=START..END&span=START..END&sel=ROW&q=TEXT.
// Times are those of the store, in ns. What a link names and is not there is said; the nearest is shown.

function isPlace(fragment) {
    try {
        return fragment !== "" && document.getElementById(decodeURIComponent(fragment)) !== null;
    } catch {
        return false;
    }
}

// Without a step in the history.
function replaceFragment(text) {
    if (location.hash === text) return;
    try {
        history.replaceState(null, "", text || location.href.split("#")[0]);
    } catch {
        // Browsers allow a limited number of changes in some seconds; the next one is written.
    }
}

class Fragment {
    constructor(capture, view, search, live, go) {
        Object.assign(this, { capture, view, search, live, go });
        this.timer = 0;
        this.written = "";
        addEventListener("hashchange", () => {
            if (this.isLink) this.read();
            this.written = location.hash;
        });
        view.listen((what) => what !== "points" && this.later());
    }

    start() {
        if (location.hash) this.read();
        this.written = location.hash;
    }

    // Somebody set the fragment, and hashchange has not told it yet.
    get isLink() {
        return location.hash !== this.written;
    }

    later() {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.write(), 200);
    }

    text() {
        const parts = [];
        const { view, capture } = this;
        const { span } = view;
        const chosen = view.selected !== NONE || this.search.text || span || !view.isWhole();
        if (chosen) parts.push(`t=${capture.timeNs(view.start)}..${capture.timeNs(view.end)}`);
        if (span) parts.push(`span=${capture.firstNs + span.from}..${capture.firstNs + span.to}`);
        if (view.selected !== NONE) parts.push(`sel=${capture.rowKey(view.selected)}`);
        if (this.search.text) parts.push(`q=${encodeURIComponent(this.search.text.toWellFormed?.() ?? this.search.text)}`);
        if (location.hash.slice(1).split("&").includes(FOLLOW_OFF)) parts.push(FOLLOW_OFF);
        return parts.length ? "#" + parts.join("&") : "";
    }

    write() {
        clearTimeout(this.timer);
        if (!this.isLink) this.replace(this.text());
    }

    replace(text) {
        replaceFragment(text);
        this.written = location.hash;
    }

    // A fragment is a state, or the name of a place in the page, which changes nothing here.
    read() {
        const text = location.hash.slice(1);
        if (isPlace(text)) return;
        this.missing = [];
        try {
            this.show(this.parse(text));
        } catch (error) {
            this.show({});
            this.live.say(`${error.message}; the whole view is shown.`);
        }
    }

    show(state) {
        const { view, live } = this;
        this.search.set(state.q ?? "");
        if (state.t) view.showExactly(...state.t);
        else view.all();
        if (state.span) view.setSpan(...state.span);
        else if (view.span) view.clearSpan();
        const found = (state.sel ?? NONE) !== NONE;
        if (found) this.go(state.sel, !state.t);
        else view.select(NONE);
        const shown = view.isWhole() && !found && !state.span ? "the whole view" : "the nearest";
        if (this.missing.length) live.say(`${this.missing.join("; ")}; ${shown} is shown.`);
        else if (!found) live.say("");
    }

    parse(text) {
        const state = {};
        for (const part of text ? text.split("&") : []) {
            const [key, value] = [part.slice(0, Math.max(part.indexOf("="), 0)), part.slice(part.indexOf("=") + 1)];
            if (!["t", "span", "sel", "q", "follow"].includes(key) || key in state) throw new Error("The link to a view is damaged");
            state[key] = this[key](value);
        }
        return state;
    }

    // Two times after the first event.
    times(value) {
        const parts = /^(-?\d{1,20})\.\.(-?\d{1,20})$/.exec(value);
        if (!parts || BigInt(parts[1]) > BigInt(parts[2])) throw new Error("The link to a view is damaged");
        const { firstNs } = this.capture;
        const [start, end] = [BigInt(parts[1]) - firstNs, BigInt(parts[2]) - firstNs];
        const [first, last] = this.view.wholeAtFirst;
        const isHere = Number(end) >= first && Number(start) <= last;
        if (!isHere) this.missing.push(`The time ${parts[1]} to ${parts[2]} of the link is not here`);
        return { start, end, isHere };
    }

    // A time that is not here leads to the events that are nearest to it.
    t(value) {
        const { start, end, isHere } = this.times(value);
        const last = this.capture.lastNs - this.capture.firstNs;
        // A link to a moment shows what is around it.
        const room = start === end ? last / 40n + 1n : 0n;
        if (isHere) return [start - room, end + room];
        const length = end - start > last / 20n ? end - start : last / 20n + 1n;
        return end < 0n ? [0n, length] : [last - length, last];
    }

    span(value) {
        const { start, end, isHere } = this.times(value);
        return isHere ? [start, end] : null;
    }

    sel(value) {
        const item = this.capture.find(value);
        if (item !== NONE) return item;
        if (!/^(\d+:)?-?\d+$/.test(value)) throw new Error("The link to a view is damaged");
        const merged = `merged with its neighbours, as ${plural(this.capture.mergedEvents, "event")} of this page are`;
        if (this.capture.hasMerged) this.missing.push(`The event of the link is not drawn singly: it is ${merged}, or it is not in this report`);
        else this.missing.push(`The event ${value} of the link is not here`);
        return NONE;
    }

    // Whether the page stays as it is; see follow.js.
    follow(value) {
        if (`follow=${value}` !== FOLLOW_OFF) throw new Error("The link to a view is damaged");
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
