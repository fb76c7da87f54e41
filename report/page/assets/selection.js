// SPDX-License-Identifier: Apache-2.0
//
// The selection bar: facts of the selected item, figures of the items of the same name in view, and
// their histogram with the selected one marked.

class SelectionBar {
    constructor(element, capture, view, asked) {
        Object.assign(this, { element, capture, view, asked });
        this.timer = 0;
        view.listen((what) => {
            if (what === "selected") this.show();
            else if (["view", "span"].includes(what) && view.selected !== NONE) this.later();
        });
        this.show();
    }

    // While the view moves nothing is counted.
    later() {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.show(), 120);
    }

    show() {
        clearTimeout(this.timer);
        const { selected } = this.view;
        if (selected === NONE) {
            this.element.replaceChildren(make("p", "Nothing is selected. Click an event, or press Home in the timeline.", { class: "hint" }));
            return;
        }
        const title = make("h3");
        title.append(make("bdi", titleOf(this.capture, selected).slice(0, 2000)));
        const stack = make("p", undefined, { class: "stack-above" });
        if (this.capture.parent[selected] !== NONE) isolate(stack, stackParts(this.capture, selected));
        const parts = [title, stack, this.facts(selected)];
        if (!this.capture.merged[selected]) parts.push(...this.equalNames(selected));
        if (this.capture.hasMerged) parts.push(this.sayMerged(selected));
        this.element.replaceChildren(...parts);
    }

    // What the figures of a page that is cut leave out.
    sayMerged(item) {
        const { capture } = this;
        const count = capture.merged[item];
        const stands = `This stands for ${grouped(count)} events, from the start of the first to the last end. The first one: `;
        const rest = `${grouped(capture.mergedEvents)} events of this page are merged and not among these; the sections count all.`;
        const said = make("p", undefined, { class: "hint" });
        if (count) said.append(stands, make("bdi", shortened(capture.message(item), 200)));
        else said.append(rest);
        return said;
    }

    facts(item) {
        const { capture } = this;
        const list = make("dl", undefined, { class: "facts" });
        const add = (name, text) => {
            const group = make("div");
            const value = make("dd");
            value.append(make("bdi", text));
            group.append(make("dt", name), value);
            list.append(group);
        };
        add("Kind", kindText(capture, item));
        if (capture.merged[item]) add("Events", grouped(capture.merged[item]));
        add("Start", exactLength(capture.offsetNs(item)));
        if (capture.utcBase !== null) add("UTC", utcText(capture.startNs(item) + capture.utcBase));
        if (capture.kind(item) !== MARK) add("Duration", exactLength(capture.lengthNs(item)) + (capture.flags[item] & OPEN ? " so far" : ""));
        if (capture.kind(item) === PUSH_POP) {
            if (!(capture.flags[item] & OPEN) && !capture.merged[item]) add("Self time", exactLength(capture.selfNs(item)));
            add("Depth", String(capture.depth[item]));
            add("Children", grouped(countChildren(capture, item)));
        }
        const among = amongEquals(this.asked, item);
        if (among) {
            add("Rank", among.rank);
            add(this.view.span ? "Name’s share of all ranges in the span" : "Name’s share of all ranges", `${among.share.toFixed(1)} %`);
        }
        const gap = this.gap(item);
        if (gap) add("Gap", gap);
        add(capture.kind(item) === START_END ? "Begun on" : "Thread", ownerLabel(capture, item));
        add("Process", processLabel(capture, processOf(capture, item)));
        const domain = capture.names[capture.name[item]][0];
        if (domain) add("Domain", capture.domains[domain]);
        const category = capture.category[item] && capture.categories[capture.category[item] - 1];
        if (category) add("Category", category.name === null ? String(category.id) : `${category.name} (${category.id})`);
        add("Row", capture.rowKey(item));
        return list;
    }

    // To the next sibling, or neighbour in the lane.
    gap(item) {
        const { capture } = this;
        const next = capture.next[item];
        if (next === NONE) return "";
        const length = capture.startNs(next) - capture.endNs(item);
        return length < 0n ? `overlaps the next by ${exactLength(-length)}` : `${exactLength(length)} to the next`;
    }

    equalNames(item) {
        const { capture, view } = this;
        const lengths = [];
        let count = 0;
        for (let i = 0; i < capture.count; i++) {
            if (capture.name[i] !== capture.name[item] || capture.start[i] > view.end || capture.end[i] < view.start || capture.merged[i]) continue;
            if (capture.kind(i) !== capture.kind(item)) continue;
            count++;
            if (!(capture.flags[i] & OPEN)) lengths.push(capture.duration[i]);
        }
        const head = make("p", `${grouped(count)} of this name${capture.hasMerged ? ", drawn singly," : ""} in view`, { class: "equal" });
        if (capture.kind(item) === MARK || !lengths.length) return [head];
        const sorted = Float64Array.from(lengths).sort();
        const figures = [
            ["shortest", sorted[0]],
            ["median", median(sorted)],
            ["mean", sorted.reduce((sum, value) => sum + value, 0) / sorted.length],
            ["90 %", sorted[Math.ceil(0.9 * sorted.length) - 1]],
            ["longest", sorted[sorted.length - 1]],
        ];
        if (lengths.length > 1) head.textContent += ": " + figures.map(([name, value]) => `${name} ${shortLength(value)}`).join(", ");
        return [head, this.histogram(sorted, item)];
    }

    histogram(sorted, item) {
        const { capture } = this;
        const low = sorted[0];
        const high = sorted[sorted.length - 1];
        const place = (length) => Math.floor(((length - low) / (high - low)) * HISTOGRAM_BINS);
        const binOf = (length) => (high > low ? Math.min(HISTOGRAM_BINS - 1, place(length)) : HISTOGRAM_BINS / 2);
        const counts = new Array(HISTOGRAM_BINS).fill(0);
        for (const length of sorted) counts[binOf(length)]++;
        const most = Math.max(...counts);
        const own = capture.flags[item] & OPEN ? NONE : binOf(capture.duration[item]);
        const text = `Durations from ${shortLength(low)} to ${shortLength(high)}; the selected one is in part ${own + 1} of ${HISTOGRAM_BINS}`;
        const svg = makeSvg("svg", { viewBox: `0 0 ${HISTOGRAM_BINS * 10} 56`, class: "histogram", role: "img", "aria-label": text });
        counts.forEach((count, bin) => {
            const tall = count ? Math.max(2, (Math.sqrt(count) / Math.sqrt(most)) * 44) : 0;
            svg.append(rectangle(bin * 10 + 1, 46 - tall, 8, tall, bin === own ? "own" : ""));
            if (bin === own) svg.append(rectangle(bin * 10 + 3.5, 49, 3, 6, "own"));
        });
        return svg;
    }
}

function rectangle(x, y, width, height, name) {
    return makeSvg("rect", { x, y, width, height, class: name });
}

function median(sorted) {
    const middle = sorted.length >> 1;
    return sorted.length % 2 ? sorted[middle] : sorted[middle - 1] + (sorted[middle] - sorted[middle - 1]) / 2;
}
