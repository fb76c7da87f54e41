// SPDX-License-Identifier: Apache-2.0
//
// The overview: how many items start in each part of the whole time, and where the view is in it.
// A drag moves the view, or takes a new one.

const PARTS = 1024;

class Overview extends Picture {
    constructor(canvas, capture, view) {
        super(canvas);
        Object.assign(this, { capture, view });
        this.counts = new Float64Array(PARTS);
        const [from, to] = view.whole;
        for (let i = 0; i < capture.count; i++) {
            const part = Math.floor(((capture.start[i] - from) / (to - from)) * PARTS);
            this.counts[Math.min(Math.max(part, 0), PARTS - 1)] += capture.merged[i] || 1;
        }
        this.most = Math.max(...this.counts);
        view.listen((what) => what === "view" && this.later());
        canvas.addEventListener("pointerdown", (event) => this.grab(event));
        canvas.addEventListener("pointermove", (event) => this.drag(event));
        for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => (this.from = null));
        this.from = null;
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
