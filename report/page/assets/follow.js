// SPDX-License-Identifier: Apache-2.0
//
// A page of `html --follow` is a file that is written again and again. It cannot ask whether there is
// something new, so it loads itself again every interval, and then looks as it did: what the fragment
// has not is in sessionStorage for that moment. It stays as it is while somebody points, types, reads a
// span or has pressed the button.

const FOLLOW_OFF = "follow=off"; // in the fragment
const FOLLOW_SILENT = 10; // intervals without an event, after which the page says so
const FOLLOW_TICK = 250; // ms
const FOLLOW_HUSH = 1000; // ms after which the live region speaks again
const IS_SAVED = "ready" in document.documentElement.dataset; // while it ran: nobody writes it any more

// Milliseconds since 1970 of ns as a text.
function msOf(ns) {
    return Number(BigInt(ns) / 1000000n);
}

class Follow {
    // `json`: the data of the page. Of a page with events also `capture`, `view`, `fragment` and `live`.
    // `holds`, if there: whether something is looked at that another page would take away. `state`, if
    // there: save() returns an object for JSON.stringify(), which restore() of the next page gets.
    constructor(hooks) {
        Object.assign(this, { state: {}, holds: () => false }, hooks);
        this.follows = Boolean(this.json.follow && document.documentElement.dataset.follows && !IS_SAVED);
        byId("follow").hidden = !this.follows;
        this.before = null; // what the page before this one left
        this.lost = false; // what was selected is not here any more
        if (!this.follows) return;
        this.interval = this.json.follow.interval;
        this.busyUntil = 0; // in ms of performance.now()
        this.isDown = false;
        this.top = 0;
        this.newest = this.newestMs();
        this.key = `nvtxt-follow:${location.pathname}`;
    }

    // ---- The page before this one -------------------------------------------------------------------

    // Before the fragment is read: it gets the view that this page is to have.
    begin() {
        if (!this.follows) return;
        this.before = this.take();
        if (!this.before || !this.view) return;
        this.live.element.setAttribute("aria-live", "off"); // what is said now was said before
        if (isPlace(location.hash.slice(1))) return;
        const parts = location.hash.slice(1).split("&").filter((part) => part && !part.startsWith("t="));
        const kept = parts.filter((part) => !part.startsWith("sel=") || this.capture.find(part.slice(4)) !== NONE);
        this.lost = kept.length < parts.length;
        const [start, end] = this.wanted() ?? [];
        if (start !== undefined) kept.unshift(`t=${start}..${end}`);
        this.address(kept);
    }

    // After the fragment was read and the pictures are drawn: the rest. Then the clock starts.
    start() {
        if (!this.follows) return;
        try {
            if (this.before) this.restore(this.before);
        } catch {
            // Storage had something else: the page begins as a new one.
        }
        this.show();
        this.top = scrollY;
        this.due = Math.max(this.interval, performance.now() + this.interval / 2); // there is time to look
        this.listen();
        this.wind();
    }

    take() {
        try {
            const text = sessionStorage.getItem(this.key);
            sessionStorage.removeItem(this.key);
            history.scrollRestoration = "manual";
            const before = text && JSON.parse(text);
            return before && before.hash === location.hash ? before : null;
        } catch {
            return null; // storage was refused: the fragment is all there is
        }
    }

    // Times of the store: where the view of the page before is now. null: the whole.
    wanted() {
        const { whole, start, end, last } = this.before.view ?? { whole: true }; // it had no events
        if (whole) return null;
        const { firstNs, lastNs } = this.capture;
        const length = BigInt(end) - BigInt(start);
        const room = BigInt(end) - BigInt(last); // after what was the newest event
        if (room >= 0n) return [lastNs + room - length, lastNs + room];
        if (BigInt(end) < firstNs) return [firstNs, firstNs + length];
        if (BigInt(start) > lastNs) return [lastNs - length, lastNs];
        return [BigInt(start), BigInt(end)];
    }

    restore(before) {
        const { view, capture } = this;
        if (view) {
            const [start, end] = this.wanted() ?? [];
            // The fragment has no room for it when it names a place of the page.
            if (isPlace(location.hash.slice(1))) {
                if (start !== undefined) view.showExactly(start - capture.firstNs, end - capture.firstNs);
                const item = before.selected ? capture.find(before.selected) : NONE;
                if (item !== NONE) view.select(item);
                else this.lost = Boolean(before.selected);
            }
            view.points = (before.points ?? []).map((at) => BigInt(at) - capture.firstNs);
            if (view.points.length) view.changed("points");
        }
        this.pointer = before.pointer;
        this.state.restore?.(before.state);
        for (const part of document.querySelectorAll("details[id]")) {
            if (part.id in before.open) part.open = before.open[part.id];
        }
        scrollers().forEach((part, i) => before.scrolls[i] && part.scrollTo(...before.scrolls[i]));
        scrollTo(...before.scroll);
        this.focus(before.focus);
        setTimeout(() => this.speak(), FOLLOW_HUSH);
    }

    // The live region says again what is new.
    speak() {
        if (!this.live) return;
        this.live.element.setAttribute("aria-live", "polite");
        if (this.lost) this.live.say("The selected event is not in the page any more.");
        this.lost = false;
    }

    focus(place) {
        const parent = place && (place.id ? document.getElementById(place.id) : document.body);
        const element = place?.index === undefined ? parent : parent?.querySelectorAll(place.tag)[place.index];
        element?.focus({ preventScroll: true });
        if (place?.caret && element?.setSelectionRange) element.setSelectionRange(...place.caret);
    }

    // ---- The page after this one --------------------------------------------------------------------

    save() {
        const { view, capture } = this;
        this.fragment?.write();
        const before = {
            hash: this.fragment?.isLink ? null : location.hash, // a link that nobody has read yet beats all this
            scroll: [scrollX, scrollY],
            scrolls: scrollers().map((part) => [part.scrollLeft, part.scrollTop]),
            open: Object.fromEntries([...document.querySelectorAll("details[id]")].map((part) => [part.id, part.open])),
            pointer: this.pointer,
            focus: placeOf(document.activeElement),
            state: this.state.save?.() ?? null,
        };
        if (view) {
            before.view = {
                whole: view.isWhole(),
                start: String(capture.timeNs(view.start)),
                end: String(capture.timeNs(view.end)),
                last: String(capture.lastNs),
            };
            before.points = view.points.map((at) => String(at + capture.firstNs));
            before.selected = view.selected === NONE ? null : capture.rowKey(view.selected);
        }
        return before;
    }

    keep() {
        try {
            sessionStorage.setItem(this.key, JSON.stringify(this.save()));
        } catch {
            // The next page has the fragment.
        }
    }

    reload() {
        clearInterval(this.timer);
        this.isGone = true;
        this.keep();
        location.reload();
    }

    // ---- When ---------------------------------------------------------------------------------------

    get isOff() {
        return location.hash.slice(1).split("&").includes(FOLLOW_OFF);
    }

    get isBusy() {
        return this.isDown || performance.now() < this.busyUntil || !getSelection().isCollapsed || document.querySelector("dialog[open]") !== null;
    }

    get isPaused() {
        return this.isOff || this.isBusy || this.holds() || /[#&]span=/.test(location.hash);
    }

    tick() {
        if (scrollY !== this.top) this.busy();
        this.top = scrollY;
        this.show();
        if (performance.now() >= this.due && !document.hidden && !this.isPaused) this.reload();
    }

    // No clock runs while nobody can see the page.
    wind() {
        clearInterval(this.timer);
        if (document.hidden || this.isGone) return;
        this.timer = setInterval(() => this.tick(), Math.min(FOLLOW_TICK, this.interval / 2));
        this.tick();
    }

    busy() {
        this.busyUntil = performance.now() + this.interval;
    }

    listen() {
        const act = (event) => {
            if (event.type === "pointermove") {
                const at = `${event.screenX} ${event.screenY}`;
                if (at === this.pointer) return; // browsers say where a pointer is that rests
                this.pointer = at;
            }
            this.busy();
        };
        for (const type of ["pointermove", "pointerdown", "wheel", "keydown", "input", "touchmove"]) {
            addEventListener(type, act, { capture: true, passive: true });
        }
        addEventListener("pointerdown", () => (this.isDown = true), true);
        for (const type of ["pointerup", "pointercancel", "blur"]) addEventListener(type, () => (this.isDown = false), true);
        document.addEventListener("visibilitychange", () => this.wind());
        addEventListener("pagehide", () => this.isGone || this.keep()); // somebody else loads it again
        byId("follow-button").addEventListener("click", () => this.press());
    }

    press() {
        const parts = location.hash.slice(1).split("&").filter((part) => part && part !== FOLLOW_OFF);
        const isOff = !this.isOff;
        if (isOff) parts.push(FOLLOW_OFF);
        // A place in the page cannot stand beside it.
        this.address(isOff && isPlace(location.hash.slice(1)) ? [FOLLOW_OFF] : parts);
        this.busyUntil = 0;
        this.show();
        this.live?.say(isOff ? "The page stays as it is." : "The page follows its stores.");
        this.fragment?.later();
    }

    address(parts) {
        const text = parts.length ? `#${parts.join("&")}` : "";
        if (this.fragment) this.fragment.replace(text);
        else replaceFragment(text);
    }

    // ---- What it says -------------------------------------------------------------------------------

    // When something came last. Times of events need not be times of day; when they came is known.
    newestMs() {
        const { follow, last, items, utcBase } = this.json;
        const written = msOf(follow.written);
        const came = msOf(follow.newest) || written;
        if (!items || utcBase === null) return came;
        const event = msOf(BigInt(last) + BigInt(utcBase));
        const day = 86400e3;
        return event > written - 3650 * day && event < written + day ? event : came;
    }

    text() {
        if (this.isPaused) return "paused";
        const isSilent = Date.now() - this.newest > FOLLOW_SILENT * this.interval;
        return isSilent ? `no new events since ${utcText(BigInt(this.newest) * 1000000n).slice(0, 19)} UTC` : "follows";
    }

    show() {
        const [status, button] = [byId("follow-status"), byId("follow-button")];
        const [text, name] = [this.text(), this.isOff ? "Follow" : "Pause"];
        if (status.textContent !== text) status.textContent = text;
        if (button.textContent !== name) button.textContent = name;
    }
}

// Parts of the page that scroll in themselves, in order.
function scrollers() {
    return [...document.querySelectorAll(".scroll-picture, .scroll")];
}

// Where the focus is: an element with an id, or one of its kind below such an element.
function placeOf(element) {
    if (!element || element === document.body) return null;
    const caret = element.selectionStart === null || element.selectionStart === undefined ? null : [element.selectionStart, element.selectionEnd];
    if (element.id) return { id: element.id, caret };
    const parent = element.closest("[id]");
    const tag = element.tagName.toLowerCase();
    return { id: parent?.id ?? "", tag, index: [...(parent ?? document.body).querySelectorAll(tag)].indexOf(element), caret };
}
