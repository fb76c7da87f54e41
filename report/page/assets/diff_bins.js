// SPDX-License-Identifier: Apache-2.0
//
// How the durations of a name are spread: BASE above NEW over one axis, which is logarithmic. The
// program has counted; what is drawn stands in a table, too.

const SIDES = ["BASE", "NEW"];
const WIDE = 20; // of a bin, of a picture that is stretched
const TALL = 60;

// `of`: { low, high, counts: [of BASE, of NEW] }; see report_diff_bins in report/diff/diff.h.
class Bins {
    constructor({ low, high, counts }) {
        Object.assign(this, { low, high, counts });
        this.count = counts[0].length;
        this.sums = counts.map((side) => side.reduce((sum, one) => sum + one, 0));
        // Both sides are as tall as their share, so that a side with more ranges is no taller.
        this.tallest = Math.max(...counts.map((side, i) => Math.max(...side) / this.sums[i]));
    }

    // Where a bin begins.
    edge(bin) {
        if (this.low === this.high) return this.low;
        if (bin === 0) return this.low;
        return Math.max(this.low, 1) * (this.high / Math.max(this.low, 1)) ** (bin / this.count);
    }

    range(bin) {
        return this.low === this.high ? shortLength(this.low) : `${shortLength(this.edge(bin))} to ${shortLength(this.edge(bin + 1))}`;
    }

    picture(side) {
        const counts = this.counts[side];
        const most = counts.indexOf(Math.max(...counts));
        const text = `${SIDES[side]}: ${plural(this.sums[side], "range")}; most, ${grouped(counts[most])}, take ${this.range(most)}`;
        const svg = makeSvg("svg", {
            viewBox: `0 0 ${this.count * WIDE} ${TALL}`, class: `bins ${SIDES[side].toLowerCase()}`, role: "img",
            preserveAspectRatio: "none", "aria-label": text,
        });
        counts.forEach((count, bin) => {
            if (!count) return;
            const height = Math.max(1.5, (count / this.sums[side] / this.tallest) * (TALL - 2));
            const title = `${this.range(bin)}: ${grouped(count)} of ${grouped(this.sums[side])}`;
            const attributes = { x: bin * WIDE + 1, y: TALL - height, width: WIDE - 2, height };
            svg.append(makeSvg("rect", attributes, makeSvg("title", {}, title)));
        });
        return svg;
    }

    table() {
        const table = make("table", undefined, { class: "bin-counts" });
        const head = make("tr");
        for (const title of ["Duration", ...SIDES]) head.append(make("th", title, { scope: "col", class: title === "Duration" ? "" : "n" }));
        const body = make("tbody");
        this.counts[0].forEach((count, bin) => {
            const counts = [count, this.counts[1][bin]];
            if (!counts[0] && !counts[1]) return;
            const row = make("tr");
            row.append(make("th", this.range(bin), { scope: "row" }));
            row.append(...counts.map((one) => make("td", grouped(one), { class: "n", "data-value": one })));
            body.append(row);
        });
        const first = make("thead");
        first.append(head);
        table.append(first, body);
        return table;
    }
}

// Shows a name with its histograms; `bins` undefined: there are none, and why.
function showDurations(element, name, bins, why) {
    const title = make("h3");
    title.append("Durations of ", make("bdi", shortened(name)));
    const open = element.querySelector("details")?.open;
    if (!bins) {
        element.replaceChildren(title, make("p", why, { class: "hint" }));
        return;
    }
    const pictures = make("div", undefined, { class: "both-bins" });
    SIDES.forEach((side, i) => {
        pictures.append(make("span", `${side}, ${grouped(bins.sums[i])}`, { class: "side" }), bins.picture(i));
    });
    const axis = make("p", undefined, { class: "axis hint", "aria-hidden": "true" });
    const middle = bins.low === bins.high ? [] : [make("span", shortLength(bins.edge(bins.count / 2)))];
    axis.append(make("span", shortLength(bins.low)), ...middle, make("span", shortLength(bins.high)));
    const numbers = make("details");
    if (open) numbers.open = true;
    numbers.append(make("summary", "Numbers of the histograms"), bins.table());
    element.replaceChildren(title, pictures, axis, numbers);
}
