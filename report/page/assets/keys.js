// SPDX-License-Identifier: Apache-2.0
//
// The keys of the timeline when its canvas has the focus. Where there is nothing to go to, the
// selection stays and the live region says so.

class Keys {
    constructor(canvas, { capture, view, timeline, search, live, help, go }) {
        const first = () => (capture.count ? 0 : NONE);
        const move = (item, without) => (item === NONE ? live.say(without) : go(item));
        const from = (array, without) => () => move(view.selected === NONE ? first() : array[view.selected], without);
        const zoomText = () => live.say(`${shortLength(view.length)} in view`);
        const zoom = (times) => () => {
            view.zoom(times);
            zoomText();
        };
        this.actions = {
            Home: () => move(first(), "no events"),
            ArrowDown: from(capture.firstChild, "no child"),
            ArrowUp: from(capture.parent, "no parent"),
            ArrowLeft: from(capture.previous, "no previous event here"),
            ArrowRight: from(capture.next, "no next event here"),
            Enter: () => {
                if (view.selected === NONE) return live.say("nothing is selected");
                view.fit(view.selected);
                zoomText();
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
            n: () => search.step(1),
            p: () => search.step(-1),
            m: () => measureHere(capture, view, timeline, live),
            "?": () => help.showModal(),
            Escape: () => {
                view.points = [];
                view.select(NONE);
                live.say("nothing is selected");
            },
        };
        canvas.addEventListener("keydown", (event) => {
            if (event.ctrlKey || event.metaKey || event.altKey) return;
            const action = this.actions[event.key];
            if (!action) return;
            event.preventDefault();
            action();
        });
    }
}

// From the pointer if it is over the picture, else from the start of the selection.
function measureHere(capture, view, timeline, live) {
    const { selected } = view;
    const at = timeline.hover ?? (selected === NONE ? null : capture.start[selected]);
    if (at === null) return live.say("point at a time, or select an event, to measure from");
    view.measure(at);
    if (view.points.length < 2) return live.say(`measuring from ${exactLength(Math.round(at))}`);
    const [from, to] = view.points.map(Math.round).sort((a, b) => a - b);
    return live.say(`${exactLength(to - from)} from ${exactLength(from)} to ${exactLength(to)}`);
}
