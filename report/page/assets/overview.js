// SPDX-License-Identifier: Apache-2.0
//
// The overview: how many items start in each part of the whole time, where the view is in it, the chosen
// span, and where the search finds something. A drag moves the view, or takes a new one.

const PARTS = 1024;

class Overview extends Picture {
    constructor(canvas, capture, view) {
        super(canvas);
        Object.assign(this, { capture, view });
        this.counts = new Float64Array(PARTS);
        for (let i = 0; i < capture.count; i++) this.counts[this.partOf(i)] += capture.merged[i] || 1;
        this.most = Math.max(...this.counts);
        this.found = null; // by part: whether the search finds something
        view.listen((what) => ["view", "span"].includes(what) && this.later());
        canvas.addEventListener("pointerdown", (event) => this.grab(event));
        canvas.addEventListener("pointermove", (event) => this.drag(event));
        for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => (this.from = null));
        this.from = null;
    }

    // The part in which an item starts.
    partOf(item) {
        const [from, to] = this.view.whole;
        const part = Math.floor(((this.capture.start[item] - from) / (to - from)) * PARTS);
        return Math.min(Math.max(part, 0), PARTS - 1);
    }

    // Items that the search finds, or null.
    setMatches(items) {
        this.found = items && new Uint8Array(PARTS);
        for (const item of items ?? []) this.found[this.partOf(item)] = 1;
        this.later();
    }

    // A tick each at the lower edge, and a line for the span at the upper one.
    drawMarks() {
        const { context, theme, width, height, view, found } = this;
        context.fillStyle = theme.accent;
        if (found) for (let i = 0; i < PARTS; i++) if (found[i]) context.fillRect((i * width) / PARTS, height - 5, Math.max(width / PARTS, 2), 5);
        if (!view.span) return;
        const [from, to] = [view.span.from, view.span.to].map((at) => this.x(Number(at - this.capture.base)));
        context.fillRect(from, 0, Math.max(to - from, 2), 4);
    }

    draw() {
        if (!this.begin()) return;
        const { context, theme, width, height, view } = this;
        context.fillStyle = theme.soft;
        for (let x = 0; x < width; x++) {
            const part = Math.floor((x * PARTS) / width);
            const most = Math.max(...this.counts.subarray(part, Math.max(part + 1, Math.floor(((x + 1) * PARTS) / width))));
            if (!most) continue;
            const tall = Math.max(2, (Math.log1p(most) / Math.log1p(this.most)) * (height - 6));
            context.fillRect(x, height - tall, 1, tall);
        }
        this.drawMarks();
        const left = this.x(view.start);
        const right = Math.max(this.x(view.end), left + 3);
        context.globalAlpha = 0.6;
        context.fillStyle = theme.paper;
        context.fillRect(0, 0, left, height);
        context.fillRect(right, 0, width - right, height);
        context.globalAlpha = 1;
        context.strokeStyle = theme.accent;
        context.lineWidth = 2;
        context.strokeRect(left + 1, 1, Math.max(right - left - 2, 1), height - 2);
    }

    x(time) {
        const [from, to] = this.view.whole;
        return ((time - from) / (to - from)) * this.width;
    }

    time(event) {
        const [from, to] = this.view.whole;
        return from + (event.offsetX / this.width) * (to - from);
    }

    // Inside the window of the view: moves it. Beside it: takes a new one.
    grab(event) {
        const at = this.time(event);
        const inside = at >= this.view.start && at <= this.view.end && !this.view.isWhole();
        this.from = { x: event.offsetX, moved: inside ? at - this.view.start : null };
        this.canvas.setPointerCapture(event.pointerId);
    }

    drag(event) {
        if (!this.from) return;
        const at = this.time(event);
        const { view } = this;
        if (this.from.moved !== null) view.show(at - this.from.moved, at - this.from.moved + view.length);
        else if (Math.abs(event.offsetX - this.from.x) > 3) {
            const from = this.time({ offsetX: this.from.x });
            view.show(Math.min(at, from), Math.max(at, from));
        }
    }
}
