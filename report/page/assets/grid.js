// SPDX-License-Identifier: Apache-2.0
//
// The events in view as a treegrid, at most 200: what the picture shows, for those who read. Lane by
// lane, as in the picture; in a lane in order, so that children follow their parents.

const MOST = 200;

class Grid {
    constructor(table, caption, capture, layout, view, go) {
        Object.assign(this, { table, caption, capture, layout, view, go });
        this.body = table.tBodies[0];
        this.folded = new Set();
        this.timer = 0;
        this.body.replaceChildren();
        this.body.addEventListener("click", (event) => {
            const row = event.target.closest("tr");
            if (!row) return;
            if (event.target.closest(".fold")) this.fold(row);
            else this.choose(row);
        });
        this.body.addEventListener("keydown", (event) => this.key(event));
        view.listen((what) => {
            if (what === "view") this.later();
            else if (what === "selected") this.select();
        });
        this.show();
    }

    // The selected item is in the table if it is in view.
    select() {
        const { selected } = this.view;
        if (selected === NONE || [...this.body.rows].some((row) => row.item === selected)) this.mark();
        else this.later();
    }

    later() {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.show(), 150);
    }

    hidden(item) {
        for (let up = this.capture.parent[item]; up !== NONE; up = this.capture.parent[up]) {
            if (this.folded.has(up)) return true;
        }
        return false;
    }

    show() {
        const [shown, count, first] = this.collect();
        const focused = this.body.contains(document.activeElement) ? document.activeElement.item : NONE;
        this.body.replaceChildren(...shown.map((item, at) => this.line(item, first + at)));
        this.table.setAttribute("aria-rowcount", String(count + 1));
        const part = `${shown.length} of ${grouped(count)} from number ${grouped(first + 1)} on`;
        const more = count > shown.length ? `: ${part}; zoom in for the others` : ` (${grouped(count)})`;
        this.caption.textContent = `Events in view${more}`;
        this.mark();
        const again = [...this.body.rows].find((row) => row.item === focused);
        if (again) again.focus();
    }

    // The first items in view, or those around the selected one, and how many there are.
    collect() {
        const [shown, count, at] = this.collectFrom(0);
        if (at < MOST) return [shown, count, 0];
        const first = Math.max(0, Math.min(at - MOST / 2, count - MOST));
        return [this.collectFrom(first)[0], count, first];
    }

    collectFrom(first) {
        const { laneItems, laneFirst, start, end } = this.capture;
        const { start: from, end: to } = this.view;
        const shown = [];
        let count = 0;
        let selected = NONE; // its place among those in view
        for (const lane of this.layout.order.flatMap((block) => block.lanes)) {
            const stop = laneFirst[lane + 1];
            for (let i = laneFirst[lane]; i < stop && start[laneItems[i]] <= to; i++) {
                const item = laneItems[i];
                if (end[item] < from || (this.folded.size && this.hidden(item))) continue;
                if (item === this.view.selected) selected = count;
                if (count >= first && shown.length < MOST) shown.push(item);
                count++;
            }
        }
        return [shown, count, selected];
    }

    line(item, at) {
        const { capture } = this;
        const row = make("tr", undefined, {
            "data-row": capture.rowKey(item),
            "aria-level": String(capture.depth[item] + 1),
            "aria-rowindex": String(at + 2),
            tabindex: "-1",
        });
        row.item = item;
        const name = make("td", undefined, { class: `name level-${Math.min(capture.depth[item], 12)}` });
        if (capture.firstChild[item] !== NONE) {
            row.setAttribute("aria-expanded", String(!this.folded.has(item)));
            name.append(make("span", this.folded.has(item) ? "▸ " : "▾ ", { class: "fold", "aria-hidden": "true" }));
        }
        name.append(make("bdi", titleOf(capture, item).slice(0, 300)));
        row.append(
            name,
            make("td", kindText(capture, item)),
            make("td", exactLength(capture.offsetNs(item)), { class: "n" }),
            make("td", exactLength(capture.lengthNs(item)), { class: "n" }),
            make("td", String(capture.depth[item]), { class: "n" }),
            make("td", ownerLabel(capture, item)),
        );
        for (const cell of row.cells) cell.setAttribute("role", "gridcell");
        row.setAttribute("role", "row");
        return row;
    }

    // One row can be reached by Tab: the selected one, else the first.
    mark() {
        let reached = null;
        for (const row of this.body.rows) {
            const selected = row.item === this.view.selected;
            row.setAttribute("aria-selected", String(selected));
            row.tabIndex = -1;
            if (selected) reached = row;
        }
        reached ||= this.body.rows[0];
        if (reached) reached.tabIndex = 0;
    }

    choose(row) {
        this.go(row.item);
    }

    fold(row, wanted = !this.folded.has(row.item)) {
        if (this.capture.firstChild[row.item] === NONE) return;
        if (wanted) this.folded.add(row.item);
        else this.folded.delete(row.item);
        const { item } = row;
        this.show();
        this.focus([...this.body.rows].find((other) => other.item === item));
    }

    focus(row) {
        if (!row) return;
        for (const other of this.body.rows) other.tabIndex = -1;
        row.tabIndex = 0;
        row.focus();
    }

    key(event) {
        const row = event.target.closest("tr");
        if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
        const { capture, body } = this;
        const folds = capture.firstChild[row.item] !== NONE;
        const folded = this.folded.has(row.item);
        const keys = {
            ArrowDown: () => this.focus(row.nextElementSibling),
            ArrowUp: () => this.focus(row.previousElementSibling),
            Home: () => this.focus(body.rows[0]),
            End: () => this.focus(body.rows[body.rows.length - 1]),
            ArrowRight: () => (folds && folded ? this.fold(row, false) : folds && this.focus(row.nextElementSibling)),
            ArrowLeft: () =>
                folds && !folded ? this.fold(row, true) : this.focus([...body.rows].find((other) => other.item === capture.parent[row.item])),
            Enter: () => this.choose(row),
            " ": () => this.choose(row),
        };
        if (!keys[event.key]) return;
        keys[event.key]();
        event.preventDefault();
    }
}
