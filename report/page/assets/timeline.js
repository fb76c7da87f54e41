// SPDX-License-Identifier: Apache-2.0
//
// The timeline: a ruler and the rows of the layout. Items that are wider than a pixel are drawn
// singly. Narrower ones are drawn by pixel: from one pixel to the next by binary search, as dark as
// the pixel is busy; so the work is bounded by the pixels of the picture, not by the events.

const NARROW = 1.5; // pixels
const DASHES = [6, 3];

class Timeline extends Picture {
    constructor(canvas, scroller, spacer, capture, view, palette) {
        super(canvas);
        Object.assign(this, { scroller, spacer, capture, view, palette });
        this.layout = new Layout(capture);
        this.matches = null; // by name: whether the search finds it
        this.hover = null; // the time under the pointer, exact
        this.placeIterations();
        this.tops = new Float64Array(this.layout.rows.length + 1);
        scroller.addEventListener("scroll", () => this.later(), { passive: true });
        view.listen((what) => {
            if (what === "base") this.place();
            this.later();
        });
    }

    // By the times that the capture has now.
    place() {
        this.layout.place();
        this.placeIterations();
    }

    placeIterations() {
        const { iterations, firstNs, base } = this.capture;
        const time = (ns) => Number(BigInt(ns) - firstNs - base);
        this.iterations = (iterations?.items ?? []).map(([, start, end, outlier]) => ({ from: time(start), to: time(end), outlier }));
        this.outliers = new Map(this.iterations.filter((one) => one.outlier).map((one) => [one.from, one.to]));
    }

    // Heights follow the size of the text.
    contentHeight() {
        const { size } = this.theme;
        this.rowHeight = Math.round(size * 1.45);
        this.rulerHeight = Math.round(size * 2.9);
        const heights = [size * 1.9, size * 1.55, this.rowHeight];
        this.layout.rows.forEach((row, i) => {
            this.tops[i + 1] = this.tops[i] + Math.round(heights[row.level]);
        });
        return this.tops[this.layout.rows.length] + this.rulerHeight + size / 2;
    }

    // Where a page may end: between rows.
    breaks() {
        return Array.from(this.tops, (top) => top + this.rulerHeight);
    }

    x(time) {
        return (time - this.view.start) * this.scale;
    }

    time(x) {
        return this.view.start + x / this.scale;
    }

    draw() {
        if (!this.begin()) return;
        this.palette.use(this.theme);
        this.scale = this.width / this.view.length;
        this.top = this.rulerHeight - this.scrolled;
        this.drawIterations();
        this.drawRows();
        this.drawRuler();
        this.drawPoints();
    }

    drawRows() {
        const { rows } = this.layout;
        const shown = [];
        const first = Math.max(0, lowerBound(this.tops, this.scrolled + 1) - 1);
        for (let i = first; i < rows.length && this.top + this.tops[i] < this.height; i++) shown.push(i);
        const strips = new Strips(Math.ceil(this.width), shown.length, this.theme);
        const wide = shown.map((i, line) => (rows[i].kind > MARK ? this.sortOut(rows[i], strips, line) : []));
        strips.finish();
        shown.forEach((i, line) => {
            const y = this.top + this.tops[i];
            const height = this.rowHeight - 2;
            if (rows[i].level < 2) this.drawHeading(rows[i], y, this.tops[i + 1] - this.tops[i]);
            else {
                this.setFont(this.theme.font(0.82));
                if (rows[i].kind === MARK && isStrip(this, rows[i])) drawLines(this, rows[i], y + 1, height);
                else if (rows[i].kind === MARK) this.drawMarks(rows[i], y + 1, height);
                else strips.draw(this.context, line, y + 1, height);
                for (const item of wide[line]) this.drawRange(item, y + 1, height);
                this.drawSelectedOf(rows[i], y + 1, height);
            }
        });
    }

    drawHeading(row, y, height) {
        const { context, theme } = this;
        if (row.level === 0) {
            context.fillStyle = theme.band;
            context.fillRect(0, y, this.width, height);
        }
        context.fillStyle = theme.line;
        context.fillRect(0, Math.round(y), this.width, 1);
        this.setFont(theme.font(row.level ? 0.8 : 0.9, row.level ? "" : "600"));
        this.label(row.label, 6, y + height / 2 + 1, this.width - 12, row.level ? theme.soft : theme.ink);
    }

    // Puts the narrow ranges of a row into its strip. Returns the wide ones.
    sortOut(row, strips, line) {
        const { view, capture } = this;
        const narrow = NARROW / this.scale;
        const [from, to] = row.between(view.start, view.end);
        const wide = [];
        for (let i = from; i < to; ) {
            const item = row.items[i];
            if (capture.duration[item] >= narrow) {
                if (capture.end[item] >= view.start) wide.push(item);
                i++;
                continue;
            }
            // Those of one pixel; only the last one can be wide.
            const column = Math.floor(this.x(row.start[i]));
            const after = lowerBound(row.start, this.time(column + 1), i + 1, to);
            const busy = (row.busy[after] - row.busy[i]) * this.scale;
            const dim = this.matches && !this.anyMatch(row, i, after);
            strips.put(column, line, dim ? null : this.palette.of(item).edgeRgb, busy);
            i = after - 1 > i && capture.duration[row.items[after - 1]] >= narrow ? after - 1 : after;
        }
        return wide;
    }

    // Looks at a few only: the picture of a search in a full pixel is a hint.
    anyMatch(row, from, to) {
        const step = Math.max(1, Math.floor((to - from) / 8));
        for (let i = from; i < to; i += step) if (this.matches[this.capture.name[row.items[i]]]) return true;
        return false;
    }

    drawRange(item, y, height) {
        const { context, capture, theme } = this;
        const left = Math.max(this.x(capture.start[item]), -2);
        const right = Math.min(this.x(capture.end[item]), this.width + 2);
        const width = Math.max(right - left - 0.5, 1);
        const dim = this.matches && !this.matches[capture.name[item]];
        const colors = this.palette.shown(theme, dim) || this.palette.of(item);
        context.fillStyle = colors.fill;
        context.fillRect(left, y, width, height);
        if (width > 4) {
            context.strokeStyle = colors.edge;
            context.lineWidth = 1;
            context.strokeRect(left + 0.5, y + 0.5, width - 1, height - 1);
        }
        if (capture.flags[item] & OPEN) this.hatch(left, y, width, height, colors.text);
        if (width > 6 && this.isOutlier(item)) this.drawOutlier(left, y, width, height, colors.text);
        if (this.matches && !dim) {
            context.fillStyle = colors.text;
            context.fillRect(left, y + height - 2, width, 2);
        }
        const text = titleOf(capture, item);
        const inset = Math.max(left, 0);
        this.label(text, inset + 4, y + height / 2 + 0.5, left + width - inset - 7, colors.text);
    }

    // A mark is a line with a small flag; its text stands at the right where the next mark leaves room.
    drawMarks(row, y, height) {
        const { context, capture, view, theme } = this;
        const [from, to] = row.between(view.start - 4 / this.scale, view.end + 4 / this.scale);
        const size = Math.min(5, height / 3);
        for (let i = from; i < to; ) {
            const x = this.x(row.start[i]);
            const after = lowerBound(row.start, this.time(Math.floor(x) + 1), i + 1, to);
            const item = row.items[i];
            const dim = this.matches && !this.anyMatch(row, i, after);
            context.fillStyle = dim ? theme.line : theme.forced ? theme.ink : this.palette.of(item).edge;
            context.beginPath();
            context.moveTo(x, y + height);
            context.lineTo(x - size, y + height / 2);
            context.lineTo(x, y);
            context.lineTo(x + size, y + height / 2);
            context.fill();
            const next = after < row.items.length ? this.x(row.start[after]) : this.width;
            const text = after - i > 1 ? `${grouped(after - i)} marks` : titleOf(capture, item);
            this.label(text, x + size + 3, y + height / 2 + 0.5, Math.min(next, this.width) - x - 2 * size - 6, dim ? theme.soft : theme.ink);
            i = after;
        }
    }

    // The selection is outlined twice, so that the line is seen on any colour.
    drawSelectedOf(row, y, height) {
        const { context, capture, view, theme } = this;
        const item = view.selected;
        if (item === NONE || this.layout.rows[this.layout.rowOf[item]] !== row) return;
        const mark = row.kind === MARK;
        const left = Math.max(this.x(capture.start[item]) - (mark ? 6 : 0), -4);
        const right = Math.min(this.x(capture.end[item]) + (mark ? 6 : 0), this.width + 4);
        if (right < 0 || left > this.width) return;
        const width = Math.max(right - left, 3);
        if (!mark && width < NARROW * 3) {
            context.fillStyle = theme.accent;
            context.fillRect(left, y, width, height);
        }
        context.lineWidth = 4;
        context.strokeStyle = theme.paper;
        context.strokeRect(left, y, width, height);
        context.lineWidth = theme.forced ? 4 : 2;
        context.strokeStyle = theme.accent;
        context.strokeRect(left, y, width, height);
    }

    drawRuler() {
        const { context, theme, view, capture } = this;
        const height = this.rulerHeight;
        context.fillStyle = theme.paper;
        context.fillRect(0, 0, this.width, height);
        this.setFont(theme.font(0.78));
        const step = rulerStep((theme.size * 6.5) / this.scale);
        context.fillStyle = theme.soft;
        const from = capture.utcBase === null ? "relative to the first event" : `${utcText(capture.timeNs(view.start) + capture.utcBase)} UTC`;
        const utc = capture.base ? `${from}; counted from ${exactLength(capture.base)} on` : from;
        const wide = shortLength(view.length);
        this.label(utc, 6, height * 0.27, this.width - this.widthOf(wide) - 20, theme.soft);
        context.textAlign = "right";
        this.label(wide, this.width - 6, height * 0.27, this.width * 0.25, theme.soft);
        context.textAlign = "left";
        for (let at = Math.ceil(view.start / step) * step; at <= view.end; at += step) {
            const x = Math.round(this.x(at));
            context.fillStyle = theme.line;
            context.fillRect(x, height * 0.55, 1, height * 0.45);
            const text = rulerLabel(at, step);
            if (x + this.widthOf(text) + 4 < this.width) this.label(text, x + 4, height * 0.75, step * this.scale, theme.ink);
        }
        context.fillStyle = theme.line;
        context.fillRect(0, height - 1, this.width, 1);
    }

    // Where iterations begin and end, behind all else; an outlier stands between dashed lines.
    drawIterations() {
        const { context, theme, view } = this;
        for (const { from, to, outlier } of this.iterations) {
            if (to < view.start || from > view.end || (to - from) * this.scale < 3) continue;
            context.strokeStyle = outlier ? theme.accent : theme.line;
            context.lineWidth = outlier ? 2 : 1;
            context.setLineDash(outlier ? DASHES : []);
            context.strokeRect(Math.round(this.x(from)) + 0.5, this.rulerHeight, (to - from) * this.scale, this.height);
        }
        context.setLineDash([]);
    }

    // Its range is outlined by dashes, too, inside and in the colour of its text.
    isOutlier(item) {
        const { capture } = this;
        if (this.outliers.get(capture.start[item]) !== capture.end[item]) return false;
        const { name } = capture.iterations; // NAME or NAME@DOMAIN
        return name === capture.message(item) || name.startsWith(capture.message(item) + "@");
    }

    drawOutlier(left, y, width, height, color) {
        const { context } = this;
        context.strokeStyle = color;
        context.lineWidth = 2;
        context.setLineDash(DASHES);
        context.strokeRect(left + 2, y + 2, width - 4, height - 4);
        context.setLineDash([]);
    }

    drawPoints() {
        const { context, theme, view } = this;
        const points = view.points.length === 1 && this.hover !== null ? [view.points[0], this.hover] : view.points;
        if (!points.length) return;
        const places = points.map((at) => this.x(Number(at - this.capture.base))).sort((a, b) => a - b);
        const left = places[0];
        const right = places[places.length - 1];
        context.fillStyle = theme.accent;
        if (!theme.forced) {
            context.globalAlpha = 0.12;
            context.fillRect(left, this.rulerHeight, right - left, this.height);
            context.globalAlpha = 1;
        }
        for (const x of places) context.fillRect(Math.round(x) - 1, 0, 2, this.height);
        if (points.length < 2) return;
        this.setFont(theme.font(0.85, "600"));
        const text = shortLength(Math.abs(Number(points[1] - points[0])));
        const width = this.widthOf(text) + 12;
        const x = Math.min(Math.max((left + right - width) / 2, 2), this.width - width - 2);
        const y = this.rulerHeight + 4;
        context.fillStyle = theme.paper;
        context.fillRect(x, y, width, theme.size * 1.5);
        context.strokeStyle = theme.accent;
        context.lineWidth = 1;
        context.strokeRect(x + 0.5, y + 0.5, width, theme.size * 1.5);
        context.fillStyle = theme.ink;
        context.fillText(text, x + 6, y + theme.size * 0.78);
    }

    // The item at a place of the canvas, or NONE.
    at(x, y) {
        if (y < this.rulerHeight) return NONE;
        const index = lowerBound(this.tops, y - this.top + 1e-9) - 1;
        const row = this.layout.rows[index];
        if (!row || row.level < 2) return NONE;
        const near = (row.kind === MARK ? 6 : 2) / this.scale;
        const time = this.time(x);
        const [from, to] = row.between(time - near, time + near);
        let best = NONE;
        let distance = Infinity;
        for (let i = to - 1; i >= from && i > to - 200; i--) {
            const item = row.items[i];
            const away = Math.max(this.capture.start[item] - time, time - this.capture.end[item], 0);
            if (away < distance && away <= near) [best, distance] = [item, away];
        }
        return best;
    }

    // Scrolls so that the row of an item is seen.
    revealRow(item) {
        const index = this.layout.rowOf[item];
        const room = this.height - this.rulerHeight;
        const { scroller } = this;
        if (this.tops[index + 1] + this.rowHeight / 2 > scroller.scrollTop + room) scroller.scrollTop = this.tops[index + 1] - room + this.rowHeight;
        if (this.tops[index] - this.rowHeight < scroller.scrollTop) scroller.scrollTop = Math.max(0, this.tops[index] - 2 * this.rowHeight);
    }

    // The edge of an item of the same row that is at most 6 pixels away, or the time itself; exact.
    snap(x, y) {
        const { capture } = this;
        const item = this.at(x, y);
        const time = this.time(x);
        const isNear = (edge) => item !== NONE && Math.abs(edge - time) * this.scale <= 6;
        if (isNear(capture.start[item])) return capture.offsetNs(item);
        return isNear(capture.end[item]) ? capture.offsetNs(item) + capture.lengthNs(item) : capture.offsetAt(time);
    }
}
