// SPDX-License-Identifier: Apache-2.0
//
// Narrow items of many rows, one line of pixels a row: written as bytes, then stretched to the height
// of the row. Thousands of small rectangles would take longer than all the rest.

class Strips {
    constructor(width, lines, theme) {
        this.width = width;
        this.theme = theme;
        this.image = lines && width ? new ImageData(width, lines) : null;
        this.used = new Uint8Array(lines);
        this.ink = rgbOfText(theme.inkRgb);
        this.dim = rgbOfText(theme.forced ? theme.inkRgb : theme.line);
    }

    // `rgb` null: what the search does not find. The busier the pixel is, the less is seen through it.
    put(x, line, rgb, busy) {
        if (x < 0 || x >= this.width) return;
        const { data } = this.image;
        const [red, green, blue] = this.theme.forced ? this.ink : rgb || this.dim;
        const at = (line * this.width + x) * 4;
        data[at] = red;
        data[at + 1] = green;
        data[at + 2] = blue;
        data[at + 3] = this.theme.forced ? 255 : 128 + 127 * Math.min(busy, 1);
        this.used[line] = 1;
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
    }
}

// Of "#rrggbb" and "rgb(r, g, b)".
function rgbOfText(text) {
    if (text.startsWith("#")) return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
    return text.match(/\d+/g).slice(0, 3).map(Number);
}
