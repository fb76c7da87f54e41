// SPDX-License-Identifier: Apache-2.0
//
// The flame graph: push/pop ranges merged by their path of names, over all threads. The outermost are
// at the top; the width is the summed duration. Its figures come from the program, as those of the
// table beside it do: they are of all selected events, whatever the timeline draws. Those of a span are
// made here (paths.js).

const THINNEST = 0.4; // pixels; what is thinner is drawn together with its thinner siblings

class FlameNode {
    constructor(id, name, parent) {
        this.id = id;
        this.name = name;
        this.parent = parent;
        this.depth = parent ? parent.depth + 1 : -1;
        this.children = []; // the widest first
        this.index = 0; // among them
        this.total = this.self = this.count = this.open = 0;
        this.at = this.width = 0;
    }
}

// All nodes by id; the first one is the root, and parents come before their children.
function flameNodes({ total, paths }) {
    const nodes = [new FlameNode(0, NONE, null)];
    nodes[0].total = total;
    for (const [parent, name, count, open, length, self] of paths) {
        const node = new FlameNode(nodes.length, name, nodes[parent]);
        Object.assign(node, { count, open, total: length, self });
        nodes[parent].children.push(node);
        nodes.push(node);
    }
    placeFlame(nodes);
    return nodes;
}

// A node is as wide as its total, or as its children together if they are wider.
function placeFlame(nodes) {
    for (let i = nodes.length - 1; i >= 0; i--) {
        const node = nodes[i];
        const below = node.children.reduce((sum, child) => sum + child.width, 0);
        node.width = Math.max(node.total, below);
        node.children.sort((a, b) => b.width - a.width);
    }
    for (const node of nodes) {
        let at = node.at;
        node.children.forEach((child, index) => {
            child.index = index;
            child.at = at;
            at += child.width;
        });
    }
}

class Flame extends Picture {
    constructor(canvas, scroller, spacer, capture, palette) {
        super(canvas);
        Object.assign(this, { scroller, spacer, capture, palette });
        this.matches = null; // by name: whether the search finds it
        this.onlyMatches = true;
        this.read(capture.flame);
        this.view = new View(this.root.width, 0, (id) => [this.nodes[id].at, this.nodes[id].at + this.nodes[id].width]);
        this.view.listen(() => this.later());
        scroller.addEventListener("scroll", () => this.later(), { passive: true });
    }

    read(flame) {
        this.data = flame;
        this.nodes = flameNodes(flame);
        this.root = this.nodes[0];
        this.deepest = this.nodes.reduce((deepest, node) => Math.max(deepest, node.depth), 0);
        this.zoomed = 0; // the node that fills the picture
    }

    // Other paths; the whole is in view. The selection goes to the same path, if it is there.
    setData(flame) {
        const names = this.view.selected === NONE ? null : this.namesOf(this.view.selected);
        this.read(flame);
        this.view.whole = [0, this.root.width];
        this.view.least = Math.max(1, this.root.width * FINEST);
        this.view.selected = names ? this.find(names) : NONE;
        this.view.all();
    }

    // From the outermost name to that of the node.
    namesOf(id) {
        const names = [];
        for (let node = this.nodes[id]; node.parent; node = node.parent) names.unshift(node.name);
        return names;
    }

    find(names) {
        let node = this.root;
        for (const name of names) node = node?.children.find((child) => child.name === name);
        return node && node.parent ? node.id : NONE;
    }

    // The widest path that ends in a name, or NONE.
    widest(name) {
        let best = NONE;
        for (const node of this.nodes) {
            if (node.parent && node.name === name && (best === NONE || node.width > this.nodes[best].width)) best = node.id;
        }
        return best;
    }

    zoom(id) {
        this.zoomed = id;
        this.isZooming = true; // the whole may be as wide
        if (id) this.view.fit(id);
        else this.view.all();
        this.isZooming = false;
    }

    place(node) {
        const scale = this.width / this.view.length;
        return [(node.at - this.view.start) * scale, node.width * scale];
    }

    contentHeight() {
        this.rowHeight = Math.round(this.theme.size * 1.5);
        return Math.max(1, this.deepest + 1) * this.rowHeight + 2;
    }

    breaks() {
        return this.nodes.map((node) => Math.max(node.depth, 0) * this.rowHeight).sort((a, b) => a - b);
    }

    draw() {
        if (!this.begin()) return;
        this.palette.use(this.theme);
        this.setFont(this.theme.font(0.82));
        this.drawChildren(this.root);
        if (this.view.selected !== NONE) this.outline(this.nodes[this.view.selected]);
    }

    drawChildren(node) {
        const parents = [node];
        while (parents.length) {
            const parent = parents.pop();
            const y = (parent.depth + 1) * this.rowHeight - this.scrolled;
            if (y > this.height) continue;
            for (const child of parent.children) {
                const [x, width] = this.place(child);
                if (x > this.width) break;
                if (width < THINNEST) {
                    this.drawRest(parent, x, y);
                    break;
                }
                if (x + width < 0) continue;
                if (y + this.rowHeight >= 0) this.drawBox(child, x, y, width);
                if (child.children.length) parents.push(child);
            }
        }
    }

    // The children from x on are too many and too thin to be told apart.
    drawRest(parent, x, y) {
        const last = parent.children[parent.children.length - 1];
        const [left, width] = this.place(last);
        this.context.fillStyle = this.theme.line;
        this.context.fillRect(x, y + 1, Math.max(left + width - x, 0.5), this.rowHeight - 2);
    }

    // What is in a box and on it; another picture of paths has its own.
    colorsOf(node) {
        const dim = (!node.count && !node.open) || (this.onlyMatches && this.matches && !this.matches[node.name]);
        return this.palette.shown(this.theme, dim) || this.palette.ofName(node.name);
    }

    labelOf(node) {
        return this.capture.names[node.name][1];
    }

    drawBox(node, x, y, width) {
        const { context } = this;
        const colors = this.colorsOf(node);
        const left = Math.max(x, -2);
        const right = Math.min(x + width, this.width + 2);
        context.fillStyle = colors.fill;
        context.fillRect(left, y + 1, Math.max(right - left - 1, 0.5), this.rowHeight - 2);
        if (right - left > 4) {
            context.strokeStyle = colors.edge;
            context.lineWidth = 1;
            context.strokeRect(left + 0.5, y + 1.5, right - left - 2, this.rowHeight - 3);
        }
        if (node.open) this.hatch(left, y + 1, right - left - 1, this.rowHeight - 2, colors.text);
        const inset = Math.max(left, 0);
        this.label(this.labelOf(node), inset + 4, y + this.rowHeight / 2 + 0.5, right - inset - 8, colors.text);
    }

    outline(node) {
        const { context, theme } = this;
        const [x, width] = this.place(node);
        const y = node.depth * this.rowHeight - this.scrolled;
        const left = Math.max(x, 1);
        const wide = Math.max(Math.min(x + width, this.width - 1) - left, 3);
        for (const [line, color] of [[4, theme.paper], [2, theme.accent]]) {
            context.lineWidth = line;
            context.strokeStyle = color;
            context.strokeRect(left, y + 2, wide, this.rowHeight - 4);
        }
    }

    // The id of the node at a place of the canvas, or NONE.
    at(x, y) {
        const depth = Math.floor((y + this.scrolled) / this.rowHeight);
        let { children } = this.root;
        for (let level = 0; children.length; level++) {
            const found = children.find((node) => {
                const [left, width] = this.place(node);
                return x >= left && x < left + width;
            });
            if (!found) return NONE;
            if (level === depth) return found.id;
            children = found.children;
        }
        return NONE;
    }

    // Scrolls so that the row of a node is seen.
    revealRow(id) {
        const y = this.nodes[id].depth * this.rowHeight;
        const { scroller } = this;
        if (y < scroller.scrollTop) scroller.scrollTop = y;
        if (y + this.rowHeight > scroller.scrollTop + this.height) scroller.scrollTop = y + this.rowHeight - this.height;
    }

    // A name, and what is said of it; see isolate().
    parts(id) {
        const node = this.nodes[id];
        const share = this.root.width ? ` (${((100 * node.width) / this.root.width).toFixed(1)} %)` : "";
        const open = node.open ? `, ${node.open} open` : "";
        const name = shortened(this.capture.names[node.name][1]);
        const below = `, 0 ranges, depth ${node.depth}, not selected; ${shortLength(node.width)}${share} below it`;
        if (!node.count && !node.open) return [name, `, total 0 ns, self 0 ns${below}`];
        const figures = `total ${shortLength(node.total)}${share}, self ${shortLength(node.self)}`;
        return [name, `, ${figures}, ${plural(node.count, "range")}, depth ${node.depth}${open}`];
    }

    // Where keys go; see Keys.
    walk() {
        const node = (id) => this.nodes[id];
        const idOf = (found) => (found && found.parent ? found.id : NONE);
        return {
            first: () => idOf(this.root.children[0]),
            child: (id) => idOf(node(id).children[0]),
            parent: (id) => idOf(node(id).parent),
            previous: (id) => idOf(node(id).parent.children[node(id).index - 1]),
            next: (id) => idOf(node(id).parent.children[node(id).index + 1]),
        };
    }

    // Ids of what the search finds.
    found() {
        return this.matches ? this.nodes.filter((node) => node.parent && this.matches[node.name]).map((node) => node.id) : [];
    }
}
