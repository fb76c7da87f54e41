// SPDX-License-Identifier: Apache-2.0
//
// Who calls the selected name, and what it calls: two tables beside the flame graph, all its paths merged.
// A row leads to that name.

const MOST_CALLERS = 100;

class Callers {
    // `go` leads to a name.
    constructor(element, capture, flame, go) {
        Object.assign(this, { element, capture, flame, go, name: NONE });
        element.addEventListener("click", (event) => {
            const button = event.target.closest("button");
            if (button) this.go(button.ofName);
        });
        this.show(NONE);
    }

    show(name = this.name) {
        this.name = name;
        if (name === NONE) {
            this.element.replaceChildren(make("p", "Callers and callees: select a name.", { class: "hint" }));
            return;
        }
        const found = callersOf(this.flame.nodes, name);
        const title = make("h3");
        title.append("Callers and callees of ", make("bdi", shortened(this.capture.names[name][1], 300)));
        const tables = make("div", undefined, { class: "both" });
        tables.append(this.table("Callers", found.callers, found.total), this.table("Callees", found.callees, found.total));
        this.element.replaceChildren(title, tables);
    }

    table(title, entries, total) {
        const table = make("table");
        const head = make("tr");
        head.append(make("th", title === "Callers" ? "Called by" : "Calls", { scope: "col" }));
        head.append(...["Count", "Total", "Share"].map((text) => make("th", text, { scope: "col", class: "n" })));
        const more = entries.length - MOST_CALLERS;
        const [above, body] = [make("thead"), make("tbody")];
        above.append(head);
        const column = new LengthColumn(entries.map((entry) => entry.total));
        body.append(...entries.slice(0, MOST_CALLERS).map((entry) => this.line(entry, total, column)));
        const count = entries.length ? grouped(entries.length) : "none";
        table.append(make("caption", `${title}: ${count}${more > 0 ? `, the first ${MOST_CALLERS}` : ""}`), above, body);
        if (!entries.length) above.remove();
        return table;
    }

    line({ name, count, total: length }, total, column) {
        const line = make("tr");
        const head = make("th", undefined, { scope: "row" });
        if (name === NONE) head.textContent = "nobody: it is outermost";
        else {
            const button = make("button", undefined, { type: "button", class: "name" });
            button.ofName = name;
            button.append(make("bdi", shortened(this.capture.names[name][1], 300)));
            head.append(button);
        }
        const exact = exactNumber(length);
        const share = total ? `${((100 * length) / total).toFixed(1)} %` : "";
        line.append(
            head,
            make("td", grouped(count), { class: "n", "data-value": String(count) }),
            make("td", `${column.text(length)} ${column.unit}`, { class: "n", "data-value": exact, title: `${exact} ns` }),
            make("td", share, { class: "n" }),
        );
        return line;
    }
}
