// SPDX-License-Identifier: Apache-2.0
//
// The figures that the page shows now: those of the chosen span, or of everything. They are computed when
// somebody asks for them, and kept until the span changes.

class CurrentFigures {
    constructor(capture, view) {
        Object.assign(this, { capture, view, of: null, figures: null, everything: null });
        view.listen((what) => {
            if (what === "base") this.of = null; // times count from elsewhere now
        });
    }

    get current() {
        const { span } = this.view;
        if (!span) return (this.everything ||= new SpanFigures(this.capture, null));
        if (this.of !== span) Object.assign(this, { of: span, figures: new SpanFigures(this.capture, span) });
        return this.figures;
    }

    // Computed already; else a hover does not wait for it.
    get isReady() {
        const { span } = this.view;
        return span ? this.of === span : this.everything !== null;
    }

    // What a sentence says of the events: "1,204 events in the span".
    get said() {
        const { current, view } = this;
        if (current.merged) return `${grouped(current.merged)} events of the span are merged: their figures are not in this page`;
        return `${plural(current.events, "event")} ${view.span ? "in the span" : "in this report"}`;
    }
}

// "longest of 4,347", "p93 of 4,347": how long an item is among those of its name.
function rankText(group, length) {
    if (group.count < 2) return "the only one of its name";
    const { longer, percent } = group.rank(length);
    if (!longer) return `longest of ${grouped(group.count)}`;
    return length === group.min ? `shortest of ${grouped(group.count)}` : `p${percent} of ${grouped(group.count)}`;
}

// The names of what an item lies in, from the outside to itself: names and what stands between them, for
// isolate(). Of a deep stack the outermost and the innermost ones.
const MOST_NAMES = 12;

function stackParts(capture, item) {
    const stack = [];
    for (let at = item; at !== NONE; at = capture.parent[at]) stack.push(at);
    stack.reverse();
    const isDeep = stack.length > MOST_NAMES;
    if (isDeep) stack.splice(MOST_NAMES / 2, stack.length - MOST_NAMES);
    const names = stack.map((at) => shortened(titleOf(capture, at), 60));
    if (isDeep) names.splice(MOST_NAMES / 2, 0, "…");
    return names.flatMap((name, i) => (i ? [" › ", name] : [name]));
}

// What a hover or a selection says of an item beside its own figures: its share and its rank.
function amongEquals(asked, item) {
    const group = asked.capture.kind(item) === MARK || asked.capture.merged[item] ? undefined : asked.current.of(item);
    const isIn = group && asked.current.groupOf[item] !== NONE;
    return isIn ? { share: asked.current.share(group), rank: rankText(group, asked.current.lengthOf(item)) } : null;
}
