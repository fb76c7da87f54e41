// SPDX-License-Identifier: Apache-2.0
//
// Ranges narrower than two pixels, of many rows, one line of pixels a row: each pixel has the colour that
// takes most of its time, as strong as the pixel is busy, in five steps. The lines are written as bytes,
// then stretched to the height of the row: thousands of small rectangles would take longer than all the rest.

const NARROW = 2; // pixels; wider ranges are drawn singly
const STEPS = 5;

class Strips {
    constructor(picture, lines) {
        this.picture = picture;
        this.width = Math.ceil(picture.width);
        this.image = lines && this.width ? new ImageData(this.width, lines) : null;
        this.used = new Uint8Array(lines);
        this.named = [];
        const { theme } = picture;
        this.ink = rgbOfText(theme.inkRgb);
        this.dim = rgbOfText(theme.forced ? theme.inkRgb : theme.line);
        const room = picture.palette.rgb.length + 1;
        this.time = new Float64Array(room); // of the pixel, by the key of a colour; the last one is dim
        this.touched = new Uint32Array(room);
        this.count = 0; // of touched keys
    }

    // Puts the narrow ranges of a row into its line. Returns the wide ones.
    sortOut(row, line) {
        const { picture } = this;
        const { view, capture, scale, matches } = picture;
        const { start, duration } = row;
        const { name } = capture;
        const narrow = NARROW / scale;
        const [from, to] = row.between(view.start, view.end);
        const keys = row.keys(picture.palette);
        const named = picture.isNamed(row.kind);
        const dim = this.time.length - 1;
        const wide = [];
        let [column, columnEnd, isNamed] = [NONE, -Infinity, false];
        for (let i = from; i < to; i++) {
            let begins = start[i];
            let rest = duration[i];
            if (rest >= narrow) {
                if (begins + rest >= view.start) wide.push(row.items[i]);
                continue;
            }
            if (begins >= columnEnd) {
                if (this.count) this.put(column, line, isNamed);
                column = Math.floor((begins - view.start) * scale);
                columnEnd = view.start + (column + 1) / scale;
                isNamed = false;
            }
            const key = matches && picture.onlyMatches && !matches[name[row.items[i]]] ? dim : keys[i];
            if (named !== NONE && name[row.items[i]] === named) isNamed = true;
            // What reaches into the next pixels counts there.
            for (let over = begins + rest - columnEnd; over > 0; over = begins + rest - columnEnd) {
                this.add(key, rest - over);
                this.put(column, line, isNamed);
                begins = columnEnd;
                rest = over;
                columnEnd = view.start + (++column + 1) / scale;
            }
            this.add(key, rest);
        }
        if (this.count) this.put(column, line, isNamed);
        return wide;
    }

    add(key, time) {
        if (!this.time[key]) this.touched[this.count++] = key;
        this.time[key] += time || Number.MIN_VALUE;
    }

    // What the search finds is seen, however short it is.
    put(x, line, isNamed) {
        const { time, touched } = this;
        const dim = time.length - 1;
        let [best, busy] = [dim, 0];
        for (let i = 0; i < this.count; i++) {
            const key = touched[i];
            busy += time[key];
            if (best === dim || (key !== dim && time[key] > time[best])) best = key;
        }
        for (let i = 0; i < this.count; i++) time[touched[i]] = 0;
        this.count = 0;
        if (x < 0 || x >= this.width) return;
        const { data } = this.image;
        const [red, green, blue] = this.picture.theme.forced ? this.ink : best === dim ? this.dim : this.picture.palette.rgb[best];
        const step = Math.max(Math.ceil(Math.min(busy * this.picture.scale, 1) * STEPS - 1e-9), 1);
        const at = (line * this.width + x) * 4;
        data[at] = red;
        data[at + 1] = green;
        data[at + 2] = blue;
        data[at + 3] = Math.round(255 * (0.25 + (0.75 * (step - 1)) / (STEPS - 1)));
        this.used[line] = 1;
        if (isNamed) this.named.push([x, line]);
    }

    finish() {
        if (!this.used.includes(1)) return;
        this.canvas = document.createElement("canvas");
        this.canvas.width = this.width;
        this.canvas.height = this.used.length;
        this.canvas.getContext("2d").putImageData(this.image, 0, 0);
    }

    draw(context, line, y, height) {
        if (!this.used[line]) return;
        context.imageSmoothingEnabled = false;
        context.drawImage(this.canvas, 0, line, this.width, 1, 0, y, this.width, height);
        context.fillStyle = this.picture.theme.ink;
        for (const [x, of] of this.named) if (of === line) context.fillRect(x, y + height - 2, 1, 2);
    }
}

// Of "#rrggbb" and "rgb(r, g, b)".
function rgbOfText(text) {
    if (text.startsWith("#")) return rgbOfHex(text);
    return text.match(/\d+/g).slice(0, 3).map(Number);
}
