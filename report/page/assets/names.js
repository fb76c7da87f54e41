// SPDX-License-Identifier: Apache-2.0
//
// The table of names: figures of the chosen span, or of everything, name by name. It is sorted by any
// column, filtered as one types, and shows 100 rows at a time. A row selects the longest of its ranges.

const PAGE_ROWS = 100;

// Columns: key, title, and what it is: text, count, time or share.
const NAME_COLUMNS = [
    ["name", "Name", "text"],
    ["kind", "Kind", "text"],
    ["count", "Count", "count"],
    ["total", "Total", "time"],
    ["self", "Self", "time"],
    ["share", "Share", "share"],
    ["avg", "Avg", "time"],
    ["med", "Med", "time"],
    ["p90", "p90", "time"],
    ["p99", "p99", "time"],
    ["min", "Min", "time"],
    ["max", "Max", "time"],
    ["deviation", "StdDev", "time"],
    ["histogram", "Histogram", "picture"],
];
const KIND_WORDS = ["mark", "push/pop", "start/end"];
const MERGED_IN_SPAN =
    "Some events of the span are merged, so its figures are not in this page. Choose a span in which all events are drawn " +
    "singly, or make the page with a larger --max-events or a smaller part of the store.";
const MERGED_ELSE =
    "Some events of this page are merged; the table has the figures of all events. A span in which all are drawn singly has " +
    "figures of its own.";
const UNKNOWN_SELF = "self times are not known where a clipped range has parts that are not selected";

class NameTable {
    // `parts`: table, filter, more, message, copy, save, live, go, asked, view, palette, search
    constructor(parts, capture) {
        Object.assign(this, parts, { capture, sort: "total", down: true, limit: PAGE_ROWS, timer: 0 });
        Object.assign(this, { rows: [], count: 0, titles: [], lower: [], current: null }); // titles by name
        this.body = this.table.tBodies[0];
        this.makeHead();
        this.filter.value = "";
        this.filter.addEventListener("input", () => this.filterChanged());
        this.more.addEventListener("click", () => this.showMore());
        this.body.addEventListener("click", (event) => this.click(event));
        this.body.addEventListener("keydown", (event) => this.key(event));
        this.view.listen((what) => {
            if (what === "span") this.later();
        });
    }

    makeHead() {
        const line = make("tr");
        for (const [key, title, what] of NAME_COLUMNS) {
            const head = make("th", undefined, { scope: "col", class: what === "text" || what === "picture" ? "" : "n" });
            if (what === "picture") head.textContent = title;
            else {
                const button = make("button", title, { type: "button", "data-sort": key });
                button.addEventListener("click", () => this.sortBy(key));
                head.append(button);
                if (what === "time") head.append(make("span", "", { class: "unit" }));
            }
            line.append(head);
        }
        this.table.tHead.replaceChildren(line);
    }

    sortBy(key) {
        this.down = this.sort === key ? !this.down : key !== "name" && key !== "kind";
        this.sort = key;
        this.limit = PAGE_ROWS;
        this.show();
        const [, title] = NAME_COLUMNS.find(([of]) => of === key);
        const first = this.rows[0];
        const said = `sorted by ${title}, ${this.down ? "descending" : "ascending"}`;
        this.live.sayParts(first ? ["", `${said}; first: `, this.title(first)] : ["", said]);
    }

    filterChanged() {
        this.limit = PAGE_ROWS;
        this.show();
        this.live.say(plural(this.count, "name"));
    }

    showMore() {
        this.limit += PAGE_ROWS;
        this.show();
        this.live.say(`${grouped(this.rows.length)} of ${plural(this.count, "name")} are shown`);
    }

    later() {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.show(), 60);
    }

    // DOMAIN:MESSAGE as the statistics have it, shortened.
    title({ name }) {
        const [domain, message] = this.capture.names[name];
        this.titles[name] ??= shortened(domain ? `${this.capture.domains[domain]}:${message}` : message, 300);
        return this.titles[name];
    }

    isWanted({ name }, text) {
        this.lower[name] ??= this.title({ name }).toLowerCase();
        return this.lower[name].includes(text);
    }

    // As a number that sorts; names by their text.
    value(group) {
        if (this.sort === "name") return this.title(group);
        if (this.sort === "kind") return KIND_WORDS[group.kind];
        return group[this.sort === "share" ? "total" : this.sort] ?? -1;
    }

    // The first rows in the order that was asked for; there may be a million more. Equal ones are in the
    // order of their names.
    firstRows(groups) {
        const up = this.down ? -1 : 1;
        const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
        const compare = (a, b) => up * order(a.key, b.key) || order(this.title(a.group), this.title(b.group)) || a.group.kind - b.group.kind;
        const rows = [];
        for (const group of groups) {
            const row = { group, key: this.value(group) };
            const isFull = rows.length === this.limit;
            if (isFull && compare(row, rows[rows.length - 1]) >= 0) continue;
            if (isFull) rows.pop();
            let [low, high] = [0, rows.length];
            while (low < high) {
                const middle = (low + high) >>> 1;
                if (compare(rows[middle], row) <= 0) low = middle + 1;
                else high = middle;
            }
            rows.splice(low, 0, row);
        }
        return rows.map((row) => row.group);
    }

    show() {
        clearTimeout(this.timer);
        const figures = this.asked.current;
        const text = this.filter.value.toLowerCase();
        const wanted = figures.merged ? [] : text ? figures.groups.filter((group) => this.isWanted(group, text)) : figures.groups;
        this.count = wanted.length;
        this.rows = this.firstRows(wanted);
        const focused = this.body.contains(document.activeElement) ? document.activeElement.group : null;
        this.columns = Object.fromEntries(NAME_COLUMNS.filter(([, , what]) => what === "time").map(([key]) => [
            key, new LengthColumn(this.rows.map((group) => Number(group[key] ?? 0))),
        ]));
        this.body.replaceChildren(...this.rows.map((group) => this.line(group, figures)));
        for (const head of this.table.tHead.rows[0].cells) {
            const key = head.firstElementChild?.dataset.sort;
            const unit = head.querySelector(".unit");
            if (unit) unit.textContent = this.columns[key].unit;
            if (key) head.setAttribute("aria-sort", key !== this.sort ? "none" : this.down ? "descending" : "ascending");
        }
        this.more.hidden = this.count <= this.limit;
        this.table.closest("[role=region]").hidden = Boolean(figures.merged);
        this.message.textContent = this.said(figures);
        this.mark(focused);
    }

    said(figures) {
        const { view } = this;
        if (figures.merged) {
            return view.span ? MERGED_IN_SPAN : MERGED_ELSE;
        }
        const parts = [view.span ? `${this.asked.said}, ${exactLength(view.span.to - view.span.from)} long` : this.asked.said];
        if (this.count < figures.groups.length) parts.push(`${plural(this.count, "name")} of ${grouped(figures.groups.length)}`);
        if (figures.clipped) parts.push("clipped at the span's ends");
        if (figures.open) parts.push(`${plural(figures.open, "open range")} left out of durations`);
        if (figures.groups.some((group) => group.kind === PUSH_POP && group.self === null)) parts.push(UNKNOWN_SELF);
        return parts.join(" · ");
    }

    line(group, figures) {
        const line = make("tr");
        line.group = group;
        const colors = this.palette.ofName(group.name);
        const name = make("th", undefined, { scope: "row" });
        const button = make("button", undefined, { type: "button", tabindex: "-1", class: "name", title: this.title(group) });
        button.group = group;
        button.append(make("bdi", this.title(group)));
        name.append(swatch(colors.fill), button);
        line.append(name, make("td", KIND_WORDS[group.kind]), make("td", grouped(group.count), { class: "n", "data-value": String(group.count) }));
        for (const [key, , what] of NAME_COLUMNS.slice(3)) {
            if (what === "time") line.append(this.timeCell(group, key));
            else if (what === "share") line.append(shareCell(group, figures));
            else line.append(histogramCell(group));
        }
        return line;
    }

    timeCell(group, key) {
        const value = group[key];
        const isEmpty = group.kind === MARK || value === undefined || (key === "self" && group.kind !== PUSH_POP);
        if (isEmpty) return make("td", "", { class: "n" });
        if (value === null) return make("td", "–", { class: "n", title: "not known" });
        const exact = exactNumber(value);
        const cell = make("td", this.columns[key].text(Number(value)), { class: "n", "data-value": exact, title: `${exact} ns` });
        cell.append(make("span", ` ${this.columns[key].unit}`, { class: "unseen" })); // seen once, in the head
        return cell;
    }

    click(event) {
        const group = event.target.closest("tr")?.group;
        if (group) this.choose(group);
    }

    // Selects the longest range of a name, or its first mark, and outlines all.
    choose(group) {
        this.current = { name: group.name, kind: group.kind };
        this.view.name(this.current);
        this.search.asked("name");
        this.mark(group);
        const item = group.kind === MARK ? group.items[0] : group.longest;
        this.go(item);
        this.tellPlace(group, item, group.kind === MARK ? "the first" : "the longest");
    }

    tellPlace(group, item, place, order = "") {
        this.live.sayParts([...spokenParts(this.capture, item), `; ${place} of ${grouped(group.count)}${order}`]);
    }

    // One button of the table can be reached by Tab.
    mark(group) {
        const buttons = [...this.body.querySelectorAll("button")];
        const isSame = (button) => isSameName(button.group, group ?? this.current);
        const found = buttons.find((button) => button.group === group) ?? buttons.find(isSame) ?? buttons[0];
        for (const button of buttons) {
            button.tabIndex = button === found ? 0 : -1;
            button.closest("tr").classList.toggle("current", isSameName(button.group, this.view.named));
        }
        if (group && found && document.activeElement !== found) found.focus({ preventScroll: true });
    }

    // Steps through the ranges of the name that was chosen last: in order of time, or of length.
    step(by, byLength) {
        const group = this.view.named && this.asked.current.byName?.get(this.view.named.name * KINDS + this.view.named.kind);
        if (!group) return this.live.say("no name is chosen: press Enter in a row of the names");
        const order = byLength ? (group.byLength ||= lengthOrder(group)) : group.items;
        const { selected } = this.view;
        const at = byLength ? order.indexOf(selected) : lowerBound(order, selected);
        const isOn = order[at] === selected;
        const next = by > 0 ? (isOn ? at + 1 : Math.max(at, 0)) : (at < 0 ? order.length : at) - 1;
        const place = (next + order.length) % order.length;
        this.go(order[place]);
        return this.tellPlace(group, order[place], `number ${grouped(place + 1)}`, ` in order of ${byLength ? "length" : "time"}`);
    }

    key(event) {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const row = event.target.closest("tr");
        const actions = {
            ArrowDown: () => row.nextElementSibling && this.mark(row.nextElementSibling.group),
            ArrowUp: () => row.previousElementSibling && this.mark(row.previousElementSibling.group),
            Home: () => this.mark(this.body.rows[0].group),
            End: () => this.mark(this.body.rows[this.body.rows.length - 1].group),
            n: () => this.step(1, false),
            p: () => this.step(-1, false),
            N: () => this.step(1, true),
            P: () => this.step(-1, true),
        };
        if (!row || !Object.hasOwn(actions, event.key)) return;
        event.preventDefault();
        if (event.key.length === 1 && !isSameName(row.group, this.view.named)) {
            this.view.name({ name: row.group.name, kind: row.group.kind });
            this.mark(row.group);
        }
        actions[event.key]();
    }

    // What a page that loads itself again keeps.
    get state() {
        const { named } = this.view;
        const [domain, message] = named ? this.capture.names[named.name] : [];
        return {
            sort: this.sort, down: this.down, limit: this.limit, filter: this.filter.value,
            named: named && { domain: this.capture.domains[domain], message, kind: named.kind },
        };
    }

    set state({ sort, down, limit, filter, named }) {
        Object.assign(this, { sort, down, limit });
        this.filter.value = filter;
        const isNamed = ([domain, message]) => message === named.message && this.capture.domains[domain] === named.domain;
        const name = named ? this.capture.names.findIndex(isNamed) : NONE;
        if (name !== NONE) this.view.name({ name, kind: named.kind });
        this.show();
    }

    // The rows that are shown, as texts: a header, then a line a row, with exact numbers.
    texts() {
        const units = { time: " (ns)", share: " (%)" };
        const header = NAME_COLUMNS.filter(([, , what]) => what !== "picture").map(([, title, what]) => title + (units[what] ?? ""));
        return [header, ...this.rows.map((group) => this.textsOf(group))];
    }

    textsOf(group) {
        const [domain, message] = this.capture.names[group.name];
        return NAME_COLUMNS.filter(([, , what]) => what !== "picture").map(([key, , what]) => {
            if (key === "name") return guarded(domain ? `${this.capture.domains[domain]}:${message}` : message);
            if (key === "kind") return KIND_WORDS[group.kind];
            if (what === "count") return String(group.count);
            if (group.kind === MARK) return "";
            if (what === "share") return this.asked.current.share(group).toFixed(6);
            return group[key] === null || group[key] === undefined ? "" : exactNumber(group[key]);
        });
    }
}

function isSameName(one, other) {
    return Boolean(one && other && one.name === other.name && one.kind === other.kind);
}

// Places of the longest items first; equal ones in order of time.
function lengthOrder({ items, values }) {
    const order = Uint32Array.from(items.keys()).sort((a, b) => values[b] - values[a] || a - b);
    return order.map((i) => items[i]);
}
