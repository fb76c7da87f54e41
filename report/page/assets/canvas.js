// SPDX-License-Identifier: Apache-2.0
//
// What all pictures share: a canvas as sharp as the screen, texts cut where they end, hatching.

const LONGEST_LABEL = 160; // characters that are looked at; more never fit
const TALLEST_PRINTED = 8000; // pixels; that is some pages
const PAGE = 1.25; // height of a page of paper by its width, with room for a headline
const FEWEST_LETTERS = 3; // of a text that is cut

// Control characters and those that turn the direction are a mark, not obeyed: what stands around the
// text stays where it is.
function plainText(text) {
    return text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, "·");
}

function labelText(text) {
    return plainText(text.slice(0, LONGEST_LABEL));
}

class Picture {
    constructor(canvas) {
        this.canvas = canvas;
        this.context = canvas.getContext("2d");
        this.fonts = {}; // widths of letters, by font
        this.fontTexts = {}; // texts that were measured, by font
        this.pending = false;
        this.printing = false;
        this.slices = [];
        new ResizeObserver(() => this.later()).observe(canvas);
        for (const query of [forcedColors, darkScheme]) query.addEventListener("change", () => this.later());
        addEventListener("beforeprint", () => this.print(true));
        addEventListener("afterprint", () => this.print(false));
    }

    print(printing) {
        this.printing = printing;
        this.draw();
        for (const slice of this.slices) slice.remove();
        this.slices = printing && this.breaks && this.height > this.width * PAGE ? this.slice() : [];
        this.canvas.classList.toggle("sliced", this.slices.length > 0);
        if (this.slices.length) this.canvas.after(...this.slices);
    }

    // A canvas is never broken over pages: a tall one becomes several, which end between rows.
    slice() {
        const slices = [];
        const sharp = this.canvas.height / this.height;
        for (let from = 0, to; from < this.height; from = to) {
            to = Math.min(this.height, from + this.width * PAGE);
            const end = to;
            if (to < this.height) to = this.breaks().filter((at) => at > from && at <= end).pop() ?? to;
            const slice = make("canvas", undefined, { class: "slice", "aria-hidden": "true" });
            slice.width = this.canvas.width;
            slice.height = Math.max(1, Math.round((to - from) * sharp));
            slice.getContext("2d").drawImage(this.canvas, 0, Math.round(-from * sharp));
            slices.push(slice);
        }
        return slices;
    }

    later() {
        if (this.pending) return;
        this.pending = true;
        requestAnimationFrame(() => {
            if (this.pending) this.draw();
        });
    }

    // Makes the bitmap as large as the canvas is on the screen: as tall as its content, up to what
    // report.css allows; the rest is scrolled. Returns false if it is not shown.
    begin() {
        this.pending = false;
        const { canvas, context } = this;
        this.theme = new Theme(canvas, this.printing);
        const content = this.spacer ? Math.ceil(this.contentHeight()) : 0;
        if (content) this.setContent(String(content));
        const sharp = Math.min(devicePixelRatio || 1, 3);
        this.width = canvas.clientWidth;
        this.height = content && this.printing ? Math.min(content, TALLEST_PRINTED) : canvas.clientHeight;
        if (this.note) this.note.textContent = content > TALLEST_PRINTED ? "Not all rows are on paper: there are too many." : "";
        if (!this.width || !this.height) return false;
        const [width, height] = [Math.round(this.width * sharp), Math.round(this.height * sharp)];
        if (canvas.width !== width) canvas.width = width;
        if (canvas.height !== height) canvas.height = height;
        context.setTransform(sharp, 0, 0, sharp, 0, 0);
        context.direction = "ltr";
        context.textBaseline = "middle";
        context.globalAlpha = 1;
        context.fillStyle = this.theme.paper;
        context.fillRect(0, 0, this.width, this.height);
        return true;
    }

    // Paper has all rows, whatever is seen on the screen.
    get scrolled() {
        return this.printing ? 0 : this.scroller.scrollTop;
    }

    setContent(height) {
        if (this.spacer.getAttribute("height") !== height) this.spacer.setAttribute("height", height);
    }

    setFont(font) {
        if (this.font !== font) {
            this.widths = this.fonts[font] ||= new Map();
            this.texts = this.fontTexts[font] ||= new Map();
        }
        this.font = font;
        this.context.font = font;
    }

    // A text as it is drawn, its letters, and where each of them ends. Letters are measured one by
    // one and only once, because a picture may have thousands of texts.
    measured(text) {
        let known = this.texts.get(text);
        if (known) return known;
        const plain = labelText(text);
        const letters = Array.from(plain);
        const ends = new Float64Array(letters.length);
        letters.forEach((letter, i) => (ends[i] = (i ? ends[i - 1] : 0) + this.letterWidth(letter)));
        known = { plain, letters, ends, width: ends.length ? ends[ends.length - 1] : 0 };
        if (this.texts.size > 5000) this.texts.clear();
        this.texts.set(text, known);
        return known;
    }

    letterWidth(letter) {
        let width = this.widths.get(letter);
        if (width === undefined) {
            width = this.context.measureText(letter).width;
            this.widths.set(letter, width);
        }
        return width;
    }

    widthOf(text) {
        return this.measured(text).width;
    }

    // The text if it fits, else its beginning and an ellipsis, else nothing: a letter alone is no name.
    cut(text, room) {
        if (room < 8) return "";
        const { plain, letters, ends, width } = this.measured(text);
        if (width <= room) return plain;
        const count = upperBound(ends, room - this.letterWidth("…"));
        return count < FEWEST_LETTERS ? "" : letters.slice(0, count).join("") + "…";
    }

    label(text, x, y, room, color) {
        const shown = this.cut(text, room);
        if (!shown) return;
        this.context.fillStyle = color;
        this.context.fillText(shown, x, y, room); // joined letters may be wider than single ones
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
