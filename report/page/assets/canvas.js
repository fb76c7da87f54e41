// SPDX-License-Identifier: Apache-2.0
//
// What all pictures share: a canvas as sharp as the screen, texts cut where they end, hatching.

const LONGEST_LABEL = 160; // characters that are looked at; more never fit

// Control characters and those that turn the direction are drawn as a mark, not obeyed.
function plainText(text) {
    return text.slice(0, LONGEST_LABEL).replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, "·");
}

class Picture {
    constructor(canvas) {
        this.canvas = canvas;
        this.context = canvas.getContext("2d");
        this.widths = new Map();
        this.pending = false;
        this.printing = false;
        new ResizeObserver(() => this.later()).observe(canvas);
        for (const query of [forcedColors, darkScheme]) query.addEventListener("change", () => this.later());
        addEventListener("beforeprint", () => this.print(true));
        addEventListener("afterprint", () => this.print(false));
    }

    print(printing) {
        this.printing = printing;
        this.draw();
    }

    later() {
        if (this.pending) return;
        this.pending = true;
        requestAnimationFrame(() => {
            if (this.pending) this.draw();
        });
    }

    // Makes the bitmap as large as the canvas is on the screen. Returns false if it is not shown.
    begin() {
        this.pending = false;
        const { canvas, context } = this;
        const sharp = Math.min(devicePixelRatio || 1, 3);
        this.width = canvas.clientWidth;
        this.height = canvas.clientHeight;
        if (!this.width || !this.height) return false;
        const [width, height] = [Math.round(this.width * sharp), Math.round(this.height * sharp)];
        if (canvas.width !== width) canvas.width = width;
        if (canvas.height !== height) canvas.height = height;
        this.theme = new Theme(canvas, this.printing);
        context.setTransform(sharp, 0, 0, sharp, 0, 0);
        context.direction = "ltr";
        context.textBaseline = "middle";
        context.globalAlpha = 1;
        context.fillStyle = this.theme.paper;
        context.fillRect(0, 0, this.width, this.height);
        return true;
    }

    setFont(font) {
        if (this.font !== font) this.widths.clear();
        this.font = font;
        this.context.font = font;
    }

    widthOf(text) {
        let width = this.widths.get(text);
        if (width === undefined) {
            width = this.context.measureText(text).width;
            if (this.widths.size > 20000) this.widths.clear();
            this.widths.set(text, width);
        }
        return width;
    }

    // The text if it fits, else its beginning and an ellipsis, else nothing.
    cut(text, room) {
        if (room < 8) return "";
        text = plainText(text);
        if (this.widthOf(text) <= room) return text;
        const letters = Array.from(text);
        let low = 0;
        let high = Math.min(letters.length, Math.ceil(room / 2));
        while (low < high) {
            const middle = (low + high + 1) >> 1;
            if (this.context.measureText(letters.slice(0, middle).join("") + "…").width <= room) low = middle;
            else high = middle - 1;
        }
        return low ? letters.slice(0, low).join("") + "…" : "";
    }

    label(text, x, y, room, color) {
        const shown = this.cut(text, room);
        if (!shown) return;
        this.context.fillStyle = color;
        this.context.fillText(shown, x, y);
    }

    // Lines from the lower left to the upper right: an open range, not known by its colour alone.
    hatch(x, y, width, height, color) {
        const { context } = this;
        const left = Math.max(x, -height);
        const right = Math.min(x + width, this.width);
        context.save();
        context.beginPath();
        context.rect(x, y, width, height);
        context.clip();
        context.beginPath();
        for (let at = left - height - (left % 6); at < right; at += 6) {
            context.moveTo(at, y + height);
            context.lineTo(at + height, y);
        }
        context.strokeStyle = color;
        context.globalAlpha = 0.45;
        context.lineWidth = 1;
        context.stroke();
        context.restore();
    }
}
