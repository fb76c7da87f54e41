// SPDX-License-Identifier: Apache-2.0
//
// The timeline: a ruler and the rows of the layout. Ranges that are wider than two pixels are drawn
// singly, narrower ones by pixel (strips.js). The names of lanes stand in a column of their own
// (lanes.js), or, on paper and in narrow windows, above their rows.

const ROW = 20; // pixels, where a rem has 16

class Timeline extends Picture {
    constructor(canvas, scroller, spacer, capture, view, palette) {
        super(canvas);
        Object.assign(this, { scroller, spacer, capture, view, palette });
        this.layout = new Layout(capture);
        this.matches = null; // by name: whether the search finds it
        this.onlyMatches = true; // what it does not find is dimmed
        this.hover = null; // the time under the pointer, exact
        this.followers = []; // pictures that show the same rows
        this.placeIterations();
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

    // Names stand above their lanes where they have no column.
    get inline() {
        return this.printing || !this.followers.some((column) => column.isShown());
    }

    // Heights follow the size of the text.
    contentHeight() {
        const unit = this.theme.size / 16;
        this.rowHeight = Math.round(ROW * unit);
        this.rulerHeight = Math.round(this.theme.size * 2.75);
        const { inline, layout } = this;
        const stacked = `${inline} ${unit} ${layout.version}`;
        if (this.stacked !== stacked) {
            const label = Math.round(inline ? ROW * unit : 4 * unit);
            const heading = (block) => (inline && block.folded ? 2 : 1) * this.rowHeight;
            layout.stack((row, block) => (row.level === 0 ? heading(block) : row.level === 1 ? label : this.rowHeight));
            this.stacked = stacked;
        }
        return layout.height + this.rulerHeight + this.theme.size / 2;
    }

    // Where a page may end: between rows.
    breaks() {
        return this.layout.shown.map((i) => this.layout.tops[i] + this.rulerHeight);
    }

    x(time) {
        return (time - this.view.start) * this.scale;
    }

    time(x) {
        return this.view.start + x / this.scale;
    }

    draw() {
        for (const column of this.followers) column.fit();
        if (!this.begin()) return;
        this.palette.use(this.theme);
        this.scale = this.width / this.view.length;
        this.top = this.rulerHeight - this.scrolled;
        drawIterations(this);
        this.drawRows();
        drawRuler(this);
        drawSpan(this);
        this.drawNames();
        drawPoints(this);
        for (const picture of this.followers) picture.draw();
    }

    drawRows() {
        const { layout } = this;
        const shown = layout.shownBetween(this.scrolled, this.scrolled + this.height - this.rulerHeight);
        this.names = [];
        const strips = new Strips(this, shown.length);
        const rows = shown.map((i) => layout.rows[i]);
        const wide = rows.map((row, line) => (row.level === 2 && row.kind > MARK ? strips.sortOut(row, line) : []));
        strips.finish();
        this.setFont(this.theme.font(0.75));
        rows.forEach((row, line) => {
            const y = this.top + layout.tops[shown[line]];
            const height = this.rowHeight - 2;
            if (row.level < 2) this.drawHeading(row, shown[line], y);
            else {
                if (row.kind === MARK && isStrip(this, row)) drawLines(this, row, y + 1, height);
                else if (row.kind === MARK) this.drawMarks(row, y + 1, height);
                else strips.draw(this.context, line, y + 1, height);
                for (const item of wide[line]) this.drawRange(item, y + 1, height);
            }
            this.drawSelected(row, shown[line], y + 1, height);
        });
    }

    // A band for a process, a thin line for a lane.
    drawHeading(row, index, y) {
        const { context, theme, layout, inline } = this;
        const height = layout.heights[index];
        if (row.level === 0) {
            const block = layout.blockOf.get(index);
            context.fillStyle = theme.band;
            context.fillRect(0, y, this.width, height);
            if (block.folded) this.drawCount(block, y + height - this.rowHeight);
            if (inline) this.names.push([block.label, y, theme.font(0.875, "600"), theme.ink]);
        } else if (inline) {
            this.names.push([layout.lanes[row.lane].label, y, theme.font(0.75), theme.soft]);
        }
        context.fillStyle = theme.line;
        context.fillRect(0, Math.round(y), this.width, 1);
    }

    // Names of lanes that have no column, over lines and what a span dims.
    drawNames() {
        for (const [text, y, font, color] of this.names) {
            if (y < this.rulerHeight - this.rowHeight / 2) continue;
            this.setFont(font);
            this.label(text, 6, y + this.rowHeight / 2 + 1, this.width - 12, color);
        }
    }

    // How many lanes of a folded process are busy, pixel by pixel.
    drawCount(block, y) {
        const { context, theme } = this;
        const count = this.layout.busyCount(block);
        const tall = this.rowHeight - 4;
        context.fillStyle = theme.forced ? theme.ink : theme.accent;
        const means = count.means(this.view.start, 1 / this.scale, Math.ceil(this.width));
        for (let x = 0; x < means.length; x++) {
            const high = Math.min(means[x] / Math.max(count.most, 1), 1) * tall;
            if (high > 0.01) context.fillRect(x, y + 2 + tall - Math.max(high, 1), 1, Math.max(high, 1));
        }
    }

    // The name whose ranges are outlined, if it is of that kind.
    isNamed(kind) {
        const { named } = this.view;
        return named && named.kind === kind ? named.name : NONE;
    }

    isDim(name) {
        return this.onlyMatches && this.matches !== null && !this.matches[name];
    }

    // Looks at a few only: the picture of a search in a full pixel is a hint.
    anyMatch(row, from, to) {
        if (!this.onlyMatches || !this.matches) return true;
        const step = Math.max(1, Math.floor((to - from) / 8));
        for (let i = from; i < to; i += step) if (this.matches[this.capture.name[row.items[i]]]) return true;
        return false;
    }

    drawRange(item, y, height) {
        const { context, capture, theme } = this;
        const left = Math.max(this.x(capture.start[item]), -2);
        const right = Math.min(this.x(capture.end[item]), this.width + 2);
        const width = Math.max(right - left - 0.5, 1);
        const dim = this.isDim(capture.name[item]);
        const colors = this.palette.shown(theme, dim) || this.palette.of(item);
        context.fillStyle = theme.forced && width <= 4 ? colors.edge : colors.fill; // there it has no border to be seen by
        context.fillRect(left, y, width, height);
        if (width > 4) {
            context.strokeStyle = colors.edge;
            context.lineWidth = 1;
            context.strokeRect(left + 0.5, y + 0.5, width - 1, height - 1);
        }
        if (capture.flags[item] & OPEN) this.hatch(left, y, width, height, colors.text);
        if (width > 6 && this.isOutlier(item)) this.drawOutlier(left, y, width, height, colors.text);
        if (this.matches?.[capture.name[item]]) {
            context.fillStyle = colors.text;
            context.fillRect(left, y + height - 2, width, 2);
        }
        if (this.isNamed(capture.kind(item)) === capture.name[item]) this.outline(left, y, width, height, theme.ink, 2);
        const inset = Math.max(left, 0);
        this.label(titleOf(capture, item), inset + 4, y + height / 2 + 0.5, left + width - inset - 7, colors.text);
    }

    outline(x, y, width, height, color, line) {
        this.context.lineWidth = line;
        this.context.strokeStyle = color;
        this.context.strokeRect(x + line / 2, y + line / 2, Math.max(width - line, 1), height - line);
    }

    // A mark is a small flag; those of two pixels are one with their number. Its text stands at the right
    // where the next one leaves room.
    drawMarks(row, y, height) {
        const { context, capture, view, theme } = this;
        const [from, to] = row.between(view.start - 4 / this.scale, view.end + 4 / this.scale);
        const size = Math.min(5, height / 3);
        for (let i = from; i < to; ) {
            const x = this.x(row.start[i]);
            const after = lowerBound(row.start, row.start[i] + 2 / this.scale, i + 1, to);
            const item = row.items[i];
            const dim = !this.anyMatch(row, i, after);
            context.fillStyle = dim ? theme.line : theme.forced ? theme.ink : this.palette.of(item).edge;
            context.beginPath();
            context.moveTo(x, y + height);
            context.lineTo(x - size, y + height / 2);
            context.lineTo(x, y);
            context.lineTo(x + size, y + height / 2);
            context.fill();
            const count = capture.hasMerged ? mergedIn(capture, row, i, after) : after - i;
            const next = after < row.items.length ? this.x(row.start[after]) : this.width;
            const text = count > 1 ? `${grouped(count)} marks` : titleOf(capture, item);
            this.label(text, x + size + 3, y + height / 2 + 0.5, Math.min(next, this.width) - x - 2 * size - 6, dim ? theme.soft : theme.ink);
            i = after;
        }
    }

    // The selection is outlined twice, so that the line is seen on any colour. In a folded process it
    // stands on the row of that.
    drawSelected(row, index, y, height) {
        const { context, capture, view, theme, layout } = this;
        const item = view.selected;
        if (item === NONE || layout.rowSeen(item) !== index) return;
        const mark = capture.kind(item) === MARK;
        const top = row.level === 0 ? y + layout.heights[index] - this.rowHeight : y;
        const left = Math.max(this.x(capture.start[item]) - (mark ? 6 : 0), -4);
        const right = Math.min(this.x(capture.end[item]) + (mark ? 6 : 0), this.width + 4);
        if (right < 0 || left > this.width) return;
        const width = Math.max(right - left, 3);
        if (!mark && width < NARROW * 3 && row.level === 2) {
            context.fillStyle = theme.accent;
            context.fillRect(left, top, width, height);
        }
        context.lineWidth = 4;
        context.strokeStyle = theme.paper;
        context.strokeRect(left, top, width, height);
        context.lineWidth = theme.forced ? 4 : 2;
        context.strokeStyle = theme.accent;
        context.strokeRect(left, top, width, height);
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
        context.setLineDash(DASHES);
        this.outline(left + 1, y + 1, width - 2, height - 2, color, 2);
        context.setLineDash([]);
    }

    // The row at a height of the canvas, or undefined: its index.
    rowAt(y) {
        return y < this.rulerHeight ? undefined : this.layout.rowAt(y - this.top);
    }

    // The item at a place of the canvas, or NONE.
    at(x, y) {
        const index = this.rowAt(y);
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
        const { scroller, layout } = this;
        const index = layout.rowSeen(item);
        const room = this.height - this.rulerHeight;
        const [top, bottom] = [layout.tops[index], layout.tops[index] + layout.heights[index]];
        if (bottom + this.rowHeight / 2 > scroller.scrollTop + room) scroller.scrollTop = bottom - room + this.rowHeight;
        if (top - this.rowHeight < scroller.scrollTop) scroller.scrollTop = Math.max(0, top - 2 * this.rowHeight);
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
