// SPDX-License-Identifier: Apache-2.0
//
// Tables whose rows stand in the page can be sorted: each title with data-sort ("text" or "number")
// becomes a button. A number is what data-value of the cell says. The first click on a number puts
// the largest first, the next one the smallest, the third one brings back the order of the page.
// Rows without a value stay at the end. Each body of a table is sorted for itself.

const SORTED = ["descending", "ascending", null]; // of numbers; texts begin with ascending

class SortTable {
    // `say` gets a sentence after each change; may be left out.
    constructor(table, say = () => {}) {
        Object.assign(this, { table, say });
        this.bodies = [...table.tBodies].map((body) => [body, [...body.rows]]); // as they came
        this.titles = [...table.tHead.querySelectorAll("th[data-sort]")];
        for (const title of this.titles) this.makeButton(title);
    }

    makeButton(title) {
        const saved = title.querySelector("button.sort"); // of a page that was saved with it
        saved?.replaceWith(...saved.firstChild.childNodes);
        title.removeAttribute("aria-sort");
        const button = make("button", undefined, { type: "button", class: "sort" });
        const text = make("span");
        text.append(...title.childNodes);
        button.append(text, make("span", "", { class: "order", "aria-hidden": "true" }));
        title.append(button);
        button.addEventListener("click", () => this.turn(title));
    }

    turn(title) {
        const orders = title.dataset.sort === "text" ? [SORTED[1], SORTED[0], null] : SORTED;
        const now = title.getAttribute("aria-sort");
        this.sort(title, orders[(orders.indexOf(now) + 1) % orders.length]);
    }

    // `order`: "ascending", "descending" or null.
    sort(title, order) {
        for (const one of this.titles) {
            const set = one === title && order;
            if (set) one.setAttribute("aria-sort", order);
            else one.removeAttribute("aria-sort");
            one.querySelector(".order").textContent = set ? { ascending: " ▲", descending: " ▼" }[order] : "";
        }
        for (const [body, rows] of this.bodies) {
            const sorted = document.createDocumentFragment(); // a call takes fewer arguments than a table may have rows
            for (const row of order ? this.inOrder(rows, title, order) : rows) sorted.append(row);
            body.append(sorted);
        }
        const what = title.querySelector("button span").textContent;
        this.say(order ? `sorted by ${what}, ${order}` : "in the order of the page");
    }

    inOrder(rows, title, order) {
        const column = Number(title.dataset.column ?? title.cellIndex);
        const valueOf = title.dataset.sort === "text" ? (cell) => cell.textContent : numberOf;
        const keyed = rows.map((row, place) => ({ row, place, value: valueOf(row.cells[column]) }));
        const sign = order === "ascending" ? 1 : -1;
        keyed.sort((a, b) => compareValues(a.value, b.value, sign) || a.place - b.place);
        return keyed.map(({ row }) => row);
    }
}

function numberOf(cell) {
    const { value } = cell.dataset;
    return value === undefined || value === "" ? null : Number(value.replace("inf", "Infinity"));
}

function compareValues(a, b, sign) {
    if (a === null || b === null) return (a === null) - (b === null);
    return a < b ? -sign : Number(a > b) * sign;
}
