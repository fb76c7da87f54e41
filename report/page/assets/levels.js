// SPDX-License-Identifier: Apache-2.0
//
// Lines of logs: marks with a level, 1 to 8 for emerg to debug and 9 for none; 0 is no line. Where many
// stand close together, a row is a strip: each pixel as high as it has lines, in the colour of the
// worst. Levels of err and worse have a cap, so that the colour is not all that tells.

const LEVELS = ["", "emerg", "alert", "crit", "err", "warning", "notice", "info", "debug", ""];
const LEVEL_COLORS = ["", "#8f1d8f", "#8f1d8f", "#a3123f", "#d3262b", "#d98200", "#a88a00", "#2f72b8", "#808890", "#808890"];
const WORST_PLAIN = 5; // from here on no cap
const CLOSE = 8; // pixels a line, on average, where flags would still be told apart
const BLOCK = 64;

// The worst level of lines from one place of a row to another, from the worst of each block.
class WorstLevels {
    constructor(capture, row) {
        this.levels = Uint8Array.from(row.items, (item) => capture.level[item]);
        this.any = this.levels.some((level) => level > 0);
        this.blocks = new Uint8Array(Math.ceil(row.count / BLOCK));
        for (let i = 0; i < this.blocks.length; i++) this.blocks[i] = this.scan(i * BLOCK, Math.min((i + 1) * BLOCK, row.count));
    }

    scan(from, to, levels = this.levels) {
        let worst = 0;
        for (let i = from; i < to; i++) if (levels[i] && (!worst || levels[i] < worst)) worst = levels[i];
        return worst;
    }

    between(from, to) {
        const first = Math.ceil(from / BLOCK);
        const last = Math.floor(to / BLOCK);
        if (first >= last) return this.scan(from, to);
        const found = [this.scan(from, first * BLOCK), this.scan(first, last, this.blocks), this.scan(last * BLOCK, to)];
        return Math.min(...found.filter((level) => level > 0), LEVELS.length) % LEVELS.length;
    }
}

// "2 crit, 5 err of 1,200 lines": of what is a warning or worse, for the label of a lane.
function levelCounts(capture, items) {
    const counts = new Array(LEVELS.length).fill(0);
    for (const item of items) counts[capture.level[item]] += capture.merged[item] || 1;
    const all = counts.reduce((sum, count, level) => sum + (level ? count : 0), 0);
    if (!all) return "";
    const bad = counts.slice(0, WORST_PLAIN + 1).map((count, level) => (level && count ? `${grouped(count)} ${LEVELS[level]}` : ""));
    const said = bad.filter((text) => text).join(", ");
    return `${said ? `${said} of ` : ""}${plural(all, "line")}`;
}

// Draws a row as a strip. Its highest pixel is that of most lines; the others go by the logarithm.
function drawLines(picture, row, y, height) {
    const { context, capture, view, theme, width } = picture;
    const [from, to] = row.between(view.start, view.end);
    const pixels = [];
    let most = 1;
    for (let i = from; i < to; ) {
        const column = Math.floor(picture.x(row.start[i]));
        const after = lowerBound(row.start, picture.time(column + 1), i + 1, to);
        const count = capture.hasMerged ? mergedIn(capture, row, i, after) : after - i;
        pixels.push([column, i, after, count]);
        most = Math.max(most, count);
        i = after;
    }
    for (const [column, first, after, count] of pixels) {
        if (column < 0 || column > width) continue;
        const level = row.worst.between(first, after);
        const dim = !picture.anyMatch(row, first, after);
        const high = Math.max(2, (height * Math.log1p(count)) / Math.log1p(most));
        context.fillStyle = theme.forced ? theme.ink : dim ? theme.line : LEVEL_COLORS[level];
        context.fillRect(column, y + height - high, 1, high);
        if (level && level < WORST_PLAIN && !dim) {
            context.fillStyle = theme.ink;
            context.fillRect(column, y + height - high, 1, 2);
        }
    }
}

function mergedIn(capture, row, from, to) {
    let count = 0;
    for (let i = from; i < to; i++) count += capture.merged[row.items[i]] || 1;
    return count;
}

// Whether a row is a strip in this view.
function isStrip(picture, row) {
    const [from, to] = row.between(picture.view.start, picture.view.end);
    if (!picture.capture.hasLines || (to - from) * CLOSE < picture.width) return false;
    row.worst ||= new WorstLevels(picture.capture, row);
    return row.worst.any;
}

// The lines that a search finds, at most MOST_LINES from the selected one on, as a list.
const MOST_LINES = 20;

class FoundLines {
    constructor(list, capture, view, go) {
        Object.assign(this, { list, capture, view, go, lines: [] });
        list.replaceChildren();
        list.hidden = true;
        list.addEventListener("click", (event) => {
            const button = event.target.closest("button");
            if (button) go(button.item);
        });
        view.listen((what) => what === "selected" && this.show());
    }

    set(matches) {
        const { level } = this.capture;
        this.lines = matches && this.capture.hasLines ? matches.filter((item) => level[item] > 0) : [];
        this.show();
    }

    show() {
        const { lines, capture, view } = this;
        const at = view.selected === NONE ? 0 : lowerBound(lines, view.selected);
        const shown = Array.from(lines.slice(at, at + MOST_LINES));
        this.list.hidden = !shown.length;
        this.list.start = at + 1;
        this.list.replaceChildren(
            ...shown.map((item) => {
                const button = make("button", undefined, { type: "button", "data-row": capture.rowKey(item) });
                button.item = item;
                const level = LEVELS[capture.level[item]];
                button.append(exactLength(capture.offsetNs(item)), level ? ` ${level} ` : " ", make("bdi", titleOf(capture, item).slice(0, 300)));
                if (item === view.selected) button.setAttribute("aria-current", "true");
                const entry = make("li");
                entry.append(button);
                return entry;
            }),
        );
    }
}
