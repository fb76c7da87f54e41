// SPDX-License-Identifier: Apache-2.0
//
// Puts the page of nvtxt-report diff together. The static part is complete without it: here tables
// get an order, a filter, a selected row with its histograms, and the flame graph.

class DiffPage {
    constructor(json) {
        this.json = json;
        this.live = new Live(byId("live"));
        this.tables = [...document.querySelectorAll("table.names")];
        this.rows = this.tables.flatMap((table) => [...table.tBodies[0].rows]);
        this.bins = new Map(json.histograms.map(([row, low, high, ...counts]) => [String(row), new Bins({ low, high, counts })]));
        this.selected = null; // a row
        this.flame = null;
    }

    start() {
        for (const table of document.querySelectorAll("table.sortable")) new SortTable(table, (text) => this.live.say(text));
        for (const table of this.tables) this.listen(table);
        for (const row of this.rows) row.removeAttribute("aria-current");
        const help = byId("help");
        byId("show-help").addEventListener("click", () => help.showModal());
        byId("help-close").addEventListener("click", () => help.close());
        this.input = byId("filter");
        this.input.value = "";
        this.input.addEventListener("input", () => this.filter(this.input.value));
        if (this.json.flame) this.startFlame(help);
        this.filter("");
        addEventListener("hashchange", () => this.readFragment());
        if (this.rows.length) this.select(this.rows[0], false);
        this.readFragment();
    }

    // ---- Rows -------------------------------------------------------------------------------------

    // One row of a table is in the order of Tab; keys go to the others.
    listen(table) {
        const [body] = table.tBodies;
        for (const row of body.rows) row.tabIndex = -1;
        if (body.rows.length) body.rows[0].tabIndex = 0;
        body.addEventListener("click", (event) => {
            const row = event.target.closest("tr");
            if (!getSelection().toString()) this.select(row);
        });
        body.addEventListener("keydown", (event) => {
            const row = event.target.closest("tr");
            if (event.target !== row || event.ctrlKey || event.metaKey || event.altKey) return;
            const shown = [...body.rows].filter((one) => !one.hidden);
            const at = shown.indexOf(row);
            const last = shown[shown.length - 1];
            const ways = { ArrowDown: shown[at + 1], ArrowUp: shown[at - 1], Home: shown[0], End: last, Enter: row, " ": row };
            const to = ways[event.key];
            if (event.key === "?") byId("help").showModal();
            else if (event.key === "/") this.input.focus();
            else if (!to) return;
            else if (to === row) this.select(row);
            else to.focus();
            event.preventDefault();
        });
        body.addEventListener("focusin", (event) => {
            const row = event.target.closest("tr");
            for (const one of body.rows) one.tabIndex = one === row ? 0 : -1;
        });
    }

    select(row, speak = true) {
        if (this.selected) this.selected.removeAttribute("aria-current");
        this.selected = row;
        row.setAttribute("aria-current", "true");
        const { name, verdict } = row.dataset;
        const bins = this.bins.get(row.dataset.row);
        const lonely = { added: "Only NEW has this name.", removed: "Only BASE has this name." };
        showDurations(byId("durations"), name, bins, lonely[verdict] ?? "The page has no histograms of this name: it has too many names.");
        if (!speak) return;
        const percent = row.dataset.value === undefined ? "" : `, ${changeText(Number(row.dataset.value))}`;
        this.live.sayParts([shortened(name), `: ${verdict}${percent}`]);
    }

    find(name) {
        return this.rows.find((row) => row.dataset.name === name);
    }

    // A link to a row selects it.
    readFragment() {
        const row = location.hash.startsWith("#row-") ? document.getElementById(location.hash.slice(1)) : null;
        if (row && this.rows.includes(row)) this.select(row);
        else if (location.hash.startsWith("#row-")) this.live.say("The link names a row that is not here.");
    }

    // ---- The filter -------------------------------------------------------------------------------

    filter(text) {
        const wanted = text.toLowerCase();
        const matches = (name) => name.toLowerCase().includes(wanted);
        let count = 0;
        for (const row of this.rows) {
            row.hidden = !matches(row.dataset.name);
            count += row.hidden ? 0 : 1;
        }
        for (const table of this.tables) this.keepInOrder(table);
        byId("filter-count").textContent = text ? `${plural(count, "name")} of ${grouped(this.rows.length)}` : "";
        if (!this.flame) return;
        this.flame.matches = text ? this.json.flame.names.map(([name]) => matches(name)) : null;
        this.flame.later();
    }

    // A row that is hidden cannot be reached by Tab.
    keepInOrder(table) {
        const rows = [...table.tBodies[0].rows];
        const shown = rows.filter((row) => !row.hidden);
        if (!shown.length || shown.some((row) => row.tabIndex === 0)) return;
        for (const row of rows) row.tabIndex = row === shown[0] ? 0 : -1;
    }

    // ---- The flame graph ----------------------------------------------------------------------------

    startFlame(help) {
        const flame = new DiffFlame(byId("flame-canvas"), byId("flame-scroll"), byId("flame-spacer"), this.json.flame);
        const { canvas, view } = flame;
        const said = byId("flame-selected");
        this.flame = flame;
        said.textContent = "";
        flame.note = byId("flame-note");
        const count = plural(this.json.flame.paths.length, "path");
        const keys = "Arrow keys walk along it; question mark lists all keys.";
        canvas.setAttribute("aria-label", `Flame graph of NEW, ${count}. ${keys} The table has the figures.`);
        const go = (id) => {
            const parts = flame.parts(id);
            view.select(id);
            view.reveal(id);
            flame.revealRow(id);
            const row = this.find(flame.nameOf(id));
            if (row) this.select(row, false);
            this.live.sayParts(parts);
            isolate(said, parts);
        };
        const unmark = () => {
            view.select(NONE);
            said.textContent = "";
            this.live.say("nothing is selected");
        };
        new Keys(canvas, {
            view, help, go, unmark,
            live: this.live,
            search: { input: this.input },
            walk: flame.walk(),
            step: (by) => this.step(by, go),
            measure: () => this.live.say("widths are sums here, and cannot be measured"),
        });
        new Pointer(canvas, byId("flame-scroll"), view, {
            click(x, y) {
                canvas.focus();
                const id = flame.at(x, y);
                if (id === NONE) unmark();
                else go(id);
            },
            double(x, y) {
                const id = flame.at(x, y);
                if (id !== NONE) view.fit(id);
            },
            move(x, y) {
                const id = flame.at(x, y);
                if (id !== NONE) isolate(said, flame.parts(id));
            },
            leave: () => isolate(said, view.selected === NONE ? [] : flame.parts(view.selected)),
        });
    }

    // To the next path that matches the filter, or the one before.
    step(by, go) {
        const found = this.flame.found();
        if (!found.length) return this.live.say(this.input.value ? "no path matches the filter" : "there is no filter: press / to write one");
        const at = found.indexOf(this.flame.view.selected);
        return go(found[at < 0 ? (by > 0 ? 0 : found.length - 1) : (at + by + found.length) % found.length]);
    }
}

function startPage() {
    byId("help").close();
    const json = JSON.parse(byId("nvtxt-data").textContent);
    const diff = new DiffPage(json);
    showPictures(true);
    byId("flame-picture").hidden = !json.flame;
    diff.start();
    useTheme(byId("theme"), () => diff.flame?.later());
    diff.flame?.draw();
    // For tests and bookmarklets.
    window.nvtxtReport = {
        version: 1,
        ready: true,
        get selected() {
            return diff.selected?.dataset.name ?? null;
        },
        select(name) {
            const row = diff.find(name);
            if (row) diff.select(row);
            return Boolean(row);
        },
        flame: diff.flame,
        changeText,
    };
    page.dataset.ready = "1";
}

try {
    startPage();
} catch (error) {
    sayFailure(error);
}
