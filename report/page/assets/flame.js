// SPDX-License-Identifier: Apache-2.0
//
// The flame graph: push/pop ranges merged by their path of names, over all threads. The outermost are
// at the top; the width is the summed duration. The table beside it, which is static, has the figures.

class FlameNode {
    constructor(id, name, parent) {
        this.id = id;
        this.name = name;
        this.parent = parent;
        this.depth = parent ? parent.depth + 1 : -1;
        this.children = [];
        this.total = this.self = this.count = this.open = 0;
        this.at = this.width = 0;
    }
}

function flameTree(capture) {
    const root = new FlameNode(0, NONE, null);
    const nodes = new Array(capture.count);
    const known = new Map();
    for (let i = 0; i < capture.count; i++) {
        if (capture.kind(i) !== PUSH_POP) continue;
        const up = capture.parent[i] === NONE ? root : nodes[capture.parent[i]];
        const key = up.id * capture.names.length + capture.name[i];
        let node = known.get(key);
        if (!node) {
            node = new FlameNode(known.size + 1, capture.name[i], up);
            known.set(key, node);
            up.children.push(node);
        }
        nodes[i] = node;
        if (capture.flags[i] & OPEN) node.open++;
        else {
            node.count += capture.merged[i] || 1;
            node.total += capture.duration[i];
            node.self += capture.self[i];
        }
    }
    return root;
}

// Widths: a node is at least as wide as its children together. Returns the deepest depth.
function placeFlame(root) {
    const order = [root];
    for (let i = 0; i < order.length; i++) order.push(...order[i].children);
    for (const node of order.slice().reverse()) {
        const below = node.children.reduce((sum, child) => sum + child.width, 0);
        node.width = Math.max(node.parent ? node.total : 0, below);
        node.children.sort((a, b) => b.width - a.width);
    }
    let deepest = 0;
    for (const node of order) {
        let at = node.at;
        for (const child of node.children) {
            child.at = at;
            at += child.width;
        }
        deepest = Math.max(deepest, node.depth);
    }
    return deepest;
}

class Flame extends Picture {
    constructor(canvas, scroller, spacer, capture, palette, live) {
        super(canvas);
        Object.assign(this, { scroller, spacer, capture, palette, live });
        this.root = flameTree(capture);
        this.deepest = placeFlame(this.root);
        this.zoomed = this.root;
        this.selected = null;
        canvas.addEventListener("click", (event) => this.choose(this.hit(event.offsetX, event.offsetY)));
        canvas.addEventListener("dblclick", () => this.selected && this.zoom(this.selected));
        canvas.addEventListener("keydown", (event) => this.key(event));
        scroller.addEventListener("scroll", () => this.later(), { passive: true });
    }

    place(node) {
        const scale = this.width / Math.max(this.zoomed.width, 1);
        return [(node.at - this.zoomed.at) * scale, node.width * scale];
    }

    draw() {
        if (!this.begin()) return;
        this.palette.use(this.theme);
        this.rowHeight = Math.round(this.theme.size * 1.5);
        const spare = String(Math.max(0, (this.deepest + 1) * this.rowHeight - Math.floor(this.height)));
        if (this.spacer.getAttribute("height") !== spare) this.spacer.setAttribute("height", spare);
        this.setFont(this.theme.font(0.82));
        for (const child of this.root.children) this.drawNode(child);
        if (this.selected) this.outline(this.selected);
    }

    drawNode(node) {
        const stack = [node];
        while (stack.length) {
            const one = stack.pop();
            const [x, width] = this.place(one);
            if (x > this.width || x + width < 0 || width < 0.4) continue;
            const y = one.depth * this.rowHeight - this.scroller.scrollTop;
            if (y > this.height) continue;
            if (y + this.rowHeight >= 0) this.drawBox(one, x, y, width);
            stack.push(...one.children);
        }
    }

    drawBox(node, x, y, width) {
        const { context, theme } = this;
        const colors = theme.forced ? { fill: theme.paper, edge: theme.ink, text: theme.ink } : this.palette.ofName(node.name);
        const left = Math.max(x, 0);
        const right = Math.min(x + width, this.width);
        context.fillStyle = colors.fill;
        context.fillRect(left, y + 1, Math.max(right - left - 1, 0.5), this.rowHeight - 2);
        if (right - left > 4) {
            context.strokeStyle = colors.edge;
            context.lineWidth = 1;
            context.strokeRect(left + 0.5, y + 1.5, right - left - 2, this.rowHeight - 3);
        }
        if (node.open) this.hatch(left, y + 1, right - left - 1, this.rowHeight - 2, colors.text);
        this.label(this.capture.names[node.name][1], left + 4, y + this.rowHeight / 2 + 0.5, right - left - 8, colors.text);
    }

    outline(node) {
        const { context, theme } = this;
        const [x, width] = this.place(node);
        const y = node.depth * this.rowHeight - this.scroller.scrollTop;
        const left = Math.max(x, 1);
        const wide = Math.max(Math.min(x + width, this.width - 1) - left, 3);
        for (const [line, color] of [[4, theme.paper], [2, theme.accent]]) {
            context.lineWidth = line;
            context.strokeStyle = color;
            context.strokeRect(left, y + 2, wide, this.rowHeight - 4);
        }
    }

    hit(x, y) {
        const depth = Math.floor((y + this.scroller.scrollTop) / this.rowHeight);
        let nodes = this.root.children;
        for (let level = 0; nodes.length; level++) {
            const found = nodes.find((node) => {
                const [left, width] = this.place(node);
                return x >= left && x < left + width;
            });
            if (!found || level === depth) return found || null;
            nodes = found.children;
        }
        return null;
    }

    choose(node) {
        this.selected = node;
        if (node) {
            this.live.say(this.text(node));
            this.canvas.setAttribute("aria-label", `Flame graph; selected: ${this.text(node)}`);
            const y = node.depth * this.rowHeight;
            if (y < this.scroller.scrollTop) this.scroller.scrollTop = y;
            if (y + this.rowHeight > this.scroller.scrollTop + this.height) this.scroller.scrollTop = y + this.rowHeight - this.height;
        }
        this.said.textContent = node ? this.text(node) : "";
        this.draw();
    }

    text(node) {
        const share = this.root.width ? ` (${((100 * node.width) / this.root.width).toFixed(1)} %)` : "";
        const open = node.open ? `, ${node.open} open` : "";
        return `${this.capture.names[node.name][1].slice(0, 500)}, total ${shortLength(node.total)}${share}, self ${shortLength(node.self)}, ${plural(node.count, "range")}, depth ${node.depth}${open}`;
    }

    zoom(node) {
        this.zoomed = node;
        this.draw();
    }

    key(event) {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const { selected } = this;
        const brothers = selected ? selected.parent.children : [];
        const beside = (by) => brothers[brothers.indexOf(selected) + by];
        const moves = {
            Home: () => [this.root.children[0], "no ranges"],
            ArrowDown: () => [selected ? selected.children[0] : this.root.children[0], "no child"],
            ArrowUp: () => [selected && selected.parent !== this.root ? selected.parent : undefined, "no parent"],
            ArrowLeft: () => [beside(-1), "no previous sibling"],
            ArrowRight: () => [beside(1), "no next sibling"],
        };
        if (moves[event.key]) {
            const [node, without] = moves[event.key]();
            if (node) this.choose(node);
            else this.live.say(without);
        } else if (event.key === "Enter") {
            if (selected) this.zoom(selected);
        } else if (event.key === "Escape" || event.key === "0") {
            if (event.key === "Escape") this.choose(null);
            this.zoom(this.root);
        } else {
            return;
        }
        event.preventDefault();
    }
}
