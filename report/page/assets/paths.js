// SPDX-License-Identifier: Apache-2.0
//
// Paths of a span, merged by the names of their ranges, in the form in which the program gives those of
// everything: [parent, name, count, open, total, self], where parent is 0, or 1 and the index of its
// parent. And who calls a name, and what it calls.

const MOST_PATHS = 2000; // as the program has them

class PathTree {
    constructor(figures) {
        const { capture } = figures;
        Object.assign(this, { figures, capture, nodes: [], roots: new Map() });
        this.nodeOf = new Int32Array(capture.count).fill(NONE);
        const cut = figures.cut.filter((item) => capture.kind(item) === PUSH_POP);
        this.cut = cutSelfTimes(capture, figures, cut, figures.from, figures.to);
        this.own = capture.under ? this.ownTimes() : null;
        for (const lane of capture.crossed) this.walkLane(lane);
        for (const group of figures.groups) this.addGroup(group);
        this.addOpen();
    }

    isIn(item) {
        return this.capture.kind(item) === PUSH_POP || Boolean(this.capture.inTree?.[item]);
    }

    addGroup({ kind, count, items, values }) {
        if (kind === MARK) return;
        for (let i = 0; i < count; i++) {
            if (!this.isIn(items[i])) continue;
            const node = this.nodes[this.node(items[i])];
            node.count++;
            node.total += values[i];
            node.self += this.selfOf(items[i], values[i]);
        }
    }

    selfOf(item, length) {
        if (this.capture.kind(item) !== PUSH_POP) return length - (this.own?.get(item)?.covered ?? 0);
        return (this.cut.size ? this.cut.get(item) : undefined) ?? this.capture.wholeSelfs[item];
    }

    // Of start/end ranges in the tree: how much of the span is covered by what stands under them.
    ownTimes() {
        const { capture, figures } = this;
        const own = new Map();
        for (let i = 0; i < capture.count; i++) {
            const up = capture.parent[i] === NONE ? capture.under[i] : NONE;
            if (up === NONE || !this.isIn(i) || figures.groupOf[i] === NONE) continue;
            const entry = own.get(up) ?? { covered: 0, reached: Math.max(figures.start[up], figures.from) };
            const until = Math.min(figures.end[i], figures.end[up], figures.to);
            const since = Math.max(figures.start[i], entry.reached);
            if (until > since) Object.assign(entry, { covered: entry.covered + until - since, reached: until });
            own.set(up, entry);
        }
        return own;
    }

    addOpen() {
        const { capture, figures } = this;
        if (!figures.open) return;
        for (let i = 0; i < capture.count; i++) {
            const counts = capture.flags[i] & OPEN && figures.start[i] < figures.to && figures.end[i] > figures.from;
            if (counts && this.isIn(i)) this.nodes[this.node(i)].open++;
        }
    }

    // What an item is shown under: the range under it in its lane, else that of another process.
    above(item) {
        const { parent, under } = this.capture;
        return parent[item] === NONE && under ? under[item] : parent[item];
    }

    // The node of the path of an item; what lies under it may have ended before the span.
    node(item) {
        const { nodeOf, capture } = this;
        const missing = [];
        let up = item;
        for (; up !== NONE && nodeOf[up] === NONE && missing.length < capture.count; up = this.above(up)) missing.push(up);
        let index = up === NONE ? NONE : nodeOf[up];
        while (missing.length) {
            const next = missing.pop();
            index = this.child(index, capture.name[next]);
            nodeOf[next] = index;
        }
        return index;
    }

    // Where ranges cross, the stack is more than a chain of parents.
    walkLane(lane) {
        const { capture, nodeOf } = this;
        const { start, end } = capture.exact ?? capture;
        let open = [];
        for (let i = capture.laneFirst[lane]; i < capture.laneFirst[lane + 1]; i++) {
            const item = capture.laneItems[i];
            open = open.filter((other) => end[other] > start[item]);
            const outside = capture.under ? capture.under[open.length ? open[0] : item] : NONE;
            let index = outside === NONE ? NONE : this.node(outside);
            for (const other of open) index = this.child(index, capture.name[other]);
            nodeOf[item] = this.child(index, capture.name[item]);
            open.push(item);
        }
    }

    child(parent, name) {
        const children = parent === NONE ? this.roots : (this.nodes[parent].children ||= new Map());
        let index = children.get(name);
        if (index === undefined) {
            index = this.nodes.length;
            children.set(name, index);
            this.nodes.push({ parent, name, count: 0, open: 0, total: 0, self: 0, children: null });
        }
        return index;
    }

    // The widest paths. A parent stands before its children, and is there if they are.
    paths() {
        const { nodes } = this;
        const width = nodes.map((node) => node.total);
        for (let i = nodes.length - 1; i >= 0; i--) {
            const { parent } = nodes[i];
            if (parent !== NONE) nodes[parent].below = (nodes[parent].below ?? 0) + Math.max(width[i], nodes[i].below ?? 0);
        }
        nodes.forEach((node, i) => (width[i] = Math.max(width[i], node.below ?? 0)));
        const total = nodes.reduce((sum, node, i) => sum + (node.parent === NONE ? width[i] : 0), 0);
        let chosen = Array.from(nodes.keys());
        if (nodes.length > MOST_PATHS) {
            chosen = chosen.sort((a, b) => width[b] - width[a] || a - b).slice(0, MOST_PATHS).sort((a, b) => a - b);
        }
        const place = new Map();
        const paths = [];
        for (const i of chosen) {
            const { parent, name, count, open, total: length, self } = nodes[i];
            if (parent !== NONE && !place.has(parent)) continue;
            place.set(i, paths.length);
            paths.push([parent === NONE ? 0 : place.get(parent) + 1, name, count, open, length, self]);
        }
        return { total, paths, leftOut: nodes.length - paths.length };
    }
}

// Callers and callees of a name, all its paths merged: {name, count, total} each, the longest first. A
// caller that is NONE: nobody, it is outermost. Where a name lies in itself, the inner range counts, but
// its time is already that of the outer one.
function callersOf(nodes, name) {
    const [callers, callees] = [new Map(), new Map()];
    const add = (to, key, { count, total }) => {
        const entry = to.get(key) ?? { name: key, count: 0, total: 0 };
        entry.count += count;
        entry.total += total;
        to.set(key, entry);
    };
    const isInside = (node, is) => {
        let up = node.parent;
        while (up && !is(up)) up = up.parent;
        return Boolean(up);
    };
    let [count, total] = [0, 0];
    for (const node of nodes) {
        if (node.name !== name || !node.parent) continue;
        const own = { count: node.count, total: isInside(node, (up) => up.name === name) ? 0 : node.total };
        count += own.count;
        total += own.total;
        add(callers, node.parent.parent ? node.parent.name : NONE, own);
        for (const child of node.children) {
            const isCounted = child.name === name || isInside(child, (up) => up.name === child.name && up.parent?.name === name);
            add(callees, child.name, { count: child.count, total: isCounted ? 0 : child.total });
        }
    }
    const sorted = (entries) => [...entries.values()].sort((a, b) => b.total - a.total || b.count - a.count);
    return { count, total, callers: sorted(callers), callees: sorted(callees) };
}
