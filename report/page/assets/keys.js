// SPDX-License-Identifier: Apache-2.0
//
// The keys of a picture when its canvas has the focus. Where there is nothing to go to, the selection
// stays and the live region says so.

class Keys {
    // `walk`: first(), and child, parent, previous and next of an item, each an item or NONE.
    // `go` selects an item and speaks of it; `step` goes to the next match, or to the one before.
    // `more`: keys of this picture alone.
    constructor(canvas, { view, walk, live, help, search, go, step, measure, unmark, enter, more = {} }) {
        const move = (item, without) => (item === NONE ? live.say(without) : go(item));
        const from = (to, without) => () => move(view.selected === NONE ? walk.first() : to(view.selected), without);
        const zoomText = () => live.say(`${shortLength(view.length)} in view`);
        const zoom = (times) => () => {
            view.zoom(times);
            zoomText();
        };
        this.actions = {
            Home: () => move(walk.first(), "no events"),
            ArrowDown: from(walk.child, "no child"),
            ArrowUp: from(walk.parent, "no parent"),
            ArrowLeft: from(walk.previous, "no previous one here"),
            ArrowRight: from(walk.next, "no next one here"),
            Enter: () => {
                if (view.selected === NONE) return live.say("nothing is selected");
                if (enter) return enter(view.selected);
                view.fit(view.selected);
                return zoomText();
            },
            w: zoom(1.5),
            s: zoom(1 / 1.5),
            a: () => view.pan(-0.2),
            d: () => view.pan(0.2),
            "+": zoom(2),
            "=": zoom(2),
            "-": zoom(0.5),
            0: () => {
                view.all();
                zoomText();
            },
            "/": () => {
                search.input.focus();
                search.input.select();
            },
            n: () => step(1),
            p: () => step(-1),
            m: measure,
            "?": () => help.showModal(),
            Escape: unmark,
            ...more,
        };
        canvas.addEventListener("keydown", (event) => {
            if (event.ctrlKey || event.metaKey || event.altKey) return;
            if (!Object.hasOwn(this.actions, event.key)) return;
            event.preventDefault();
            this.actions[event.key]();
        });
    }
}

// A span between the start of the selection and the end of another one: each key sets one end of it.
function spanKeys(capture, view, live) {
    const last = capture.lastNs - capture.firstNs + 1n;
    const set = (end) => () => {
        const { selected, span } = view;
        if (selected === NONE) return live.say("select an event first: the span begins or ends there");
        const from = capture.offsetNs(selected);
        if (end === "from") return view.setSpan(from, span && span.to > from ? span.to : last);
        const to = from + capture.lengthNs(selected);
        return view.setSpan(span && span.from < to ? span.from : 0n, to);
    };
    return {
        "[": set("from"),
        "]": set("to"),
        f: () => (view.span ? view.fitSpan() : live.say("there is no span")),
    };
}

// From the pointer if it is over the picture, else from the start of the selection.
function measureHere(capture, view, timeline, live) {
    const { selected } = view;
    const at = timeline.hover ?? (selected === NONE ? null : capture.offsetNs(selected));
    if (at === null) return live.say("point at a time, or select an event, to measure from");
    return measureAt(view, live, at);
}

// `at`: exact, after the first event.
function measureAt(view, live, at) {
    view.measure(at);
    if (view.points.length < 2) return live.say(`measuring from ${exactLength(at)}`);
    const [one, other] = view.points;
    const [from, to] = one < other ? [one, other] : [other, one];
    return live.say(`${exactLength(to - from)} from ${exactLength(from)} to ${exactLength(to)}`);
}
