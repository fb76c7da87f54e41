// SPDX-License-Identifier: Apache-2.0
//
// The names at the left of the timeline: processes, which fold, and lanes, each with the share of the view
// in which it is busy. It shows the rows that the timeline shows. And the same as a table of processes, for
// those who read.

const NARROW_PAGE = 600; // pixels; below it names stand above their lanes
const WIDEST = 0.4; // of the picture
const NARROWEST = 40; // pixels
const EDGE = 8;
const BAR = 36; // pixels across
const FIRST_WIDTH = 216;
const MOST_PROCESSES = 200; // of the table

class LaneColumn extends Picture {
    constructor(canvas, timeline) {
        super(canvas);
        Object.assign(this, { timeline, layout: timeline.layout, view: timeline.view, asked: FIRST_WIDTH });
        timeline.followers.push(this);
        canvas.addEventListener("pointerdown", (event) => this.press(event));
        canvas.addEventListener("pointermove", (event) => this.drag(event));
        for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => this.release(event, end === "pointerup"));
    }

    later() {
        this.timeline?.later();
    }

    isShown() {
        return this.shownWidth > EDGE && !this.timeline.printing;
    }

    // As wide as was asked for, where the picture has room for it; of what is too narrow to read only the
    // edge stays, to be dragged again.
    fit() {
        const room = this.timeline.scroller.clientWidth;
        const width = Math.round(Math.min(this.asked, room * WIDEST));
        const shown = room < NARROW_PAGE ? 0 : width < NARROWEST ? EDGE : width;
        if (shown === this.shownWidth || this.timeline.printing) return;
        this.shownWidth = shown;
        this.canvas.hidden = !shown;
        this.sheet ||= laneWidthSheet();
        this.sheet.replaceSync(`:root { --lane-width: ${shown}px }`);
    }

    draw() {
        if (this.timeline.printing || !this.begin()) return;
        const { context, theme, timeline, layout } = this;
        if (!this.isShown()) return;
        const { rulerHeight, top } = timeline;
        const lanes = new Set();
        for (const index of layout.shownBetween(timeline.scrolled, timeline.scrolled + this.height - rulerHeight)) {
            const row = layout.rows[index];
            if (row.level === 0) this.drawBlock(layout.blockOf.get(index), top + layout.tops[index]);
            else lanes.add(row.lane);
        }
        for (const lane of lanes) this.drawLane(lane);
        context.fillStyle = theme.paper;
        context.fillRect(0, 0, this.width, rulerHeight);
        context.fillStyle = theme.line;
        context.fillRect(0, rulerHeight - 1, this.width, 1);
        context.fillRect(this.width - 1, 0, 1, this.height);
        this.setFont(theme.font(0.75));
        this.label("thread, busy in view", 6, rulerHeight / 2, this.width - 12, theme.soft);
    }

    drawBlock(block, y) {
        const { context, theme, timeline, view } = this;
        const height = timeline.rowHeight;
        context.fillStyle = theme.band;
        context.fillRect(0, y, this.width, height);
        context.fillStyle = theme.line;
        context.fillRect(0, Math.round(y), this.width, 1);
        this.setFont(theme.font(0.8125, "600"));
        this.label(`${block.folded ? "▸" : "▾"} ${block.label}`, 4, y + height / 2 + 1, this.width - 8, theme.ink);
        const { selected } = view;
        if (selected !== NONE && block.folded && this.layout.blockOfItem(selected) === block) this.markRow(y, height);
    }

    markRow(y, height) {
        this.context.fillStyle = this.theme.accent;
        this.context.fillRect(0, y, 3, height);
    }

    // The name stands in the first row of the lane that is seen.
    drawLane(index) {
        const { context, theme, timeline, layout, view } = this;
        const lane = layout.lanes[index];
        const height = timeline.rowHeight;
        const first = timeline.top + layout.tops[lane.first];
        const bottom = timeline.top + layout.tops[lane.after - 1] + height;
        const y = Math.min(Math.max(first, timeline.rulerHeight), bottom - height);
        context.fillStyle = theme.line;
        context.fillRect(0, Math.round(timeline.top + layout.tops[lane.first - 1]), this.width, 1);
        const busy = layout.busyOf(index);
        this.setFont(theme.font(0.75));
        this.label(lane.short, 14, y + height / 2 + 1, this.width - 14 - (busy ? BAR + 14 : 6), theme.ink);
        if (busy) this.drawBar(busy.between(view.start, view.end) / view.length, y + height / 2);
        const { selected } = view;
        if (selected === NONE || layout.capture.lane[selected] !== index) return;
        this.markRow(timeline.top + layout.tops[layout.rowOf[selected]], height);
    }

    drawBar(share, y) {
        const { context, theme } = this;
        const left = this.width - BAR - 7;
        context.fillStyle = theme.line;
        context.fillRect(left, y - 3, BAR, 6);
        context.fillStyle = theme.forced ? theme.ink : theme.soft;
        context.fillRect(left, y - 3, Math.min(share, 1) * BAR, 6);
    }

    // A drag of the right edge makes the column wider; a click on a process folds it.
    press(event) {
        if (event.button !== 0) return;
        this.canvas.setPointerCapture(event.pointerId);
        this.held = this.isEdge(event) ? this.shownWidth - event.clientX : null;
        this.pressed = true;
    }

    isEdge(event) {
        return event.offsetX > this.shownWidth - EDGE - 2;
    }

    drag(event) {
        if (!this.pressed) this.canvas.classList.toggle("handle", this.isEdge(event));
        if (!this.pressed || this.held === null) return;
        this.asked = Math.max(this.held + event.clientX, 0);
        this.later();
    }

    release(event, meant) {
        const block = this.layout.blockOf.get(this.timeline.rowAt(event.offsetY));
        if (meant && this.pressed && this.held === null && block) this.onFold(block);
        this.pressed = false;
    }
}

// A sheet of its own, so that no element gets a style of its own, which a saved page would keep.
function laneWidthSheet() {
    const sheet = new CSSStyleSheet();
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    return sheet;
}

// Processes as a table with a button each; folding, unfolding and the order of processes.
class LaneTable {
    constructor(table, timeline, live, changed) {
        Object.assign(this, { table, timeline, layout: timeline.layout, view: timeline.view, live, changed });
        this.body = table.tBodies[0];
        this.timer = 0;
        this.body.addEventListener("click", (event) => {
            const button = event.target.closest("button");
            if (button) this.fold(button.block);
        });
        this.view.listen((what) => what === "view" && this.later());
        this.around = table.closest("details");
        this.around.addEventListener("toggle", () => this.show());
        this.show();
    }

    later() {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.show(), 150);
    }

    // Nothing is counted for a table that is closed.
    show() {
        clearTimeout(this.timer);
        if (!this.around.open) return;
        const { layout } = this;
        const focused = this.body.contains(document.activeElement) ? document.activeElement.block : null;
        this.body.replaceChildren(...layout.order.slice(0, MOST_PROCESSES).map((block) => this.line(block)));
        const left = layout.order.length - MOST_PROCESSES;
        this.table.caption.textContent = `Processes${left > 0 ? `: the first ${MOST_PROCESSES} of ${grouped(layout.order.length)}` : ""}`;
        if (focused) [...this.body.querySelectorAll("button")].find((button) => button.block === focused)?.focus();
    }

    line(block) {
        const { layout, view } = this;
        const button = make("button", undefined, { type: "button", "aria-expanded": String(!block.folded) });
        button.block = block;
        button.append(make("bdi", block.label));
        const name = make("th", undefined, { scope: "row" });
        name.append(button);
        const line = make("tr");
        const lanes = block.lanes.map((lane) => layout.busyOf(lane)).filter((busy) => busy);
        const busy = lanes.reduce((sum, lane) => sum + lane.between(view.start, view.end), 0) / (view.length * (lanes.length || 1));
        const share = lanes.length ? `${(100 * busy).toFixed(1)} %` : "";
        line.append(name, make("td", grouped(block.lanes.length), { class: "n" }), make("td", share, { class: "n" }));
        return line;
    }

    fold(block, folded = !block.folded) {
        this.layout.fold(block, folded);
        this.live.sayParts(["", folded ? "folded: " : "unfolded: ", shortened(block.label, 200)]);
        this.after();
    }

    foldAll(folded) {
        for (const block of this.layout.blocks) this.layout.fold(block, folded);
        this.live.say(`${folded ? "folded" : "unfolded"}: ${plural(this.layout.blocks.length, "process", "processes")}`);
        this.after();
    }

    setOrder(by) {
        this.layout.setOrder(by);
        this.after();
    }

    after() {
        this.show();
        this.timeline.later();
        this.changed();
    }

    // What a page that loads itself again keeps: the folded ones.
    get state() {
        return this.layout.blocks.filter((block) => block.folded).map((block) => block.label);
    }

    set state(labels) {
        const folded = new Set(labels);
        for (const block of this.layout.blocks) this.layout.fold(block, folded.has(block.label));
        this.after();
    }
}
