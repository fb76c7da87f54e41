// SPDX-License-Identifier: Apache-2.0
//
// Mouse, pen and fingers on a picture with a view: drag pans, two fingers or Ctrl and the wheel zoom
// where they are, a wheel to the side pans, a click selects, a double click fits. The plain wheel
// stays with the page, so that nobody is caught in the picture. A picture may take a drag for itself,
// and one that begins with a long press.

const CLICK = 4; // pixels that a hand moves without meaning it
const LONG_PRESS = 500; // ms

class Pointer {
    // `actions`: click(x, y, event), double(x, y), move(x, y), leave(), and take(x, y, event, isLong), which
    // gives what a drag from there does, or null: {move(x, y), end()}
    constructor(canvas, scroller, view, actions) {
        Object.assign(this, { canvas, scroller, view, actions });
        this.down = new Map();
        this.moved = false;
        const on = (type, listener, options) => canvas.addEventListener(type, listener, options);
        on("pointerdown", (event) => this.press(event));
        on("pointermove", (event) => this.move(event));
        on("pointerup", (event) => this.release(event, true));
        on("pointercancel", (event) => this.release(event, false));
        on("pointerleave", () => actions.leave());
        on("wheel", (event) => this.wheel(event), { passive: false });
        on("dblclick", (event) => actions.double(event.offsetX, event.offsetY));
        view.listen((what, by) => {
            if (what === "base") this.held -= by;
        });
    }

    press(event) {
        if (event.button !== 0) return;
        this.canvas.setPointerCapture(event.pointerId);
        this.down.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
        this.held = this.placeOf(event.offsetX);
        clearTimeout(this.timer);
        if (this.down.size > 1) return;
        this.moved = false;
        this.taken = this.actions.take?.(event.offsetX, event.offsetY, event, false) ?? null;
        if (event.pointerType === "touch" && !this.taken) {
            this.timer = setTimeout(() => {
                if (!this.moved) this.taken = this.actions.take?.(event.offsetX, event.offsetY, event, true) ?? null;
            }, LONG_PRESS);
        }
    }

    move(event) {
        const before = this.down.get(event.pointerId);
        if (!before) {
            this.actions.move(event.offsetX, event.offsetY);
            return;
        }
        const now = { x: event.offsetX, y: event.offsetY };
        if (!this.moved && Math.hypot(now.x - before.x, now.y - before.y) < CLICK) return;
        this.moved = true;
        if (this.taken && this.down.size === 1) this.taken.move(now.x, now.y);
        else if (this.down.size === 2) this.pinch(event.pointerId, now);
        else {
            this.view.moveTo(this.held - (now.x / this.canvas.clientWidth) * this.view.length);
            if (this.scroller && event.pointerType === "mouse") this.scroller.scrollTop += before.y - now.y;
        }
        this.down.set(event.pointerId, now);
    }

    pinch(id, now) {
        const [other] = [...this.down].filter(([key]) => key !== id).map(([, place]) => place);
        const before = this.down.get(id);
        const was = Math.max(Math.abs(before.x - other.x), 10);
        const is = Math.max(Math.abs(now.x - other.x), 10);
        const middle = (now.x + other.x) / 2 / this.canvas.clientWidth;
        this.view.zoom(is / was, this.view.start + middle * this.view.length);
        this.held = this.placeOf(now.x);
    }

    // What lies under a pixel of the canvas; a drag keeps it there.
    placeOf(x) {
        return this.view.start + (x / this.canvas.clientWidth) * this.view.length;
    }

    release(event, meant) {
        if (!this.down.delete(event.pointerId)) return;
        clearTimeout(this.timer);
        if (this.taken && this.moved) this.taken.end();
        this.taken = null;
        for (const [, place] of this.down) this.held = this.placeOf(place.x);
        if (meant && !this.moved) this.actions.click(event.offsetX, event.offsetY, event);
    }

    wheel(event) {
        const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
        if (event.ctrlKey || event.metaKey) {
            this.view.zoom(Math.exp(-event.deltaY / (event.deltaMode ? 8 : 300)), this.placeOf(event.offsetX));
        } else if (event.shiftKey || Math.abs(sideways) > Math.abs(event.deltaY)) {
            this.view.pan((sideways * (event.deltaMode ? 20 : 1)) / this.canvas.clientWidth);
        } else {
            return;
        }
        event.preventDefault();
    }
}
