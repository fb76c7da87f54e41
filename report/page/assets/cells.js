// SPDX-License-Identifier: Apache-2.0
//
// Cells of tables with a small picture in them, and tables as text for other programs.

function swatch(fill) {
    const rect = makeSvg("rect", { width: 12, height: 12, fill });
    return makeSvg("svg", { class: "swatch", width: 12, height: 12, "aria-hidden": "true" }, rect);
}

// A bar behind the number.
function shareCell(group, figures) {
    if (group.kind === MARK) return make("td", "", { class: "n" });
    const share = figures.share(group);
    const cell = make("td", undefined, { class: "n share", "data-value": String(share), title: "of the time of all ranges" });
    const attributes = { class: "bar", viewBox: "0 0 60 12", width: 60, height: 12, "aria-hidden": "true" };
    const bar = makeSvg("svg", attributes, makeSvg("rect", { width: (share * 0.6).toFixed(1), height: 12 }));
    cell.append(bar, ` ${share.toFixed(1).padStart(5, "\u2007")} %`);
    return cell;
}

// 24 bins by the logarithm of the length, as one path.
function histogramCell(group) {
    const cell = make("td");
    if (group.kind === MARK) return cell;
    const { counts, low, high } = group.histogram;
    const most = Math.max(...counts);
    const path = counts.map((count, bin) => {
        const tall = count ? Math.max(2, Math.sqrt(count / most) * 18) : 0;
        return tall ? `M${bin * 4} 18v${-tall.toFixed(1)}h3v${tall.toFixed(1)}z` : "";
    });
    const label = `lengths from ${shortLength(low)} to ${shortLength(high)}`;
    const attributes = { class: "bins", viewBox: "0 0 96 18", width: 96, height: 18, role: "img", "aria-label": label };
    cell.append(makeSvg("svg", attributes, makeSvg("title", {}, label), makeSvg("path", { d: path.join("") })));
    return cell;
}

// A number of nanoseconds, all its digits, without an exponent.
function exactNumber(value) {
    if (typeof value === "bigint" || Number.isInteger(value)) return String(BigInt(value));
    return value < 1e-6 ? value.toFixed(20) : String(value);
}

// A spreadsheet takes a text that begins like this for a formula.
function guarded(text) {
    return /^\s*[=+\-@]/.test(text) ? "'" + text : text;
}

function tsvOf(rows) {
    return rows.map((row) => row.map((cell) => cell.replace(/[\t\r\n]+/g, " ")).join("\t") + "\n").join("");
}

function csvOf(rows) {
    const quoted = (cell) => (/[",\r\n]/.test(cell) ? `"${cell.replace(/"/g, '""')}"` : cell);
    return rows.map((row) => row.map(quoted).join(",") + "\r\n").join("");
}

// Offers what a table has: `copy` puts it into the clipboard, `save` makes a file of it. Where the browser
// refuses, the text is selected in a text field.
class TableText {
    constructor({ copy, save, field, live, texts, name }) {
        Object.assign(this, { field, live });
        field.hidden = true;
        copy.addEventListener("click", () => this.copy(texts()));
        save.addEventListener("click", () => this.save(texts(), name));
    }

    async copy(rows) {
        const text = tsvOf(rows);
        try {
            await navigator.clipboard.writeText(text);
            this.field.hidden = true;
            this.live.say(`${plural(rows.length - 1, "row")} in the clipboard`);
        } catch {
            this.offer(text, "The browser keeps the clipboard closed");
        }
    }

    save(rows, name) {
        const text = csvOf(rows);
        try {
            const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
            make("a", undefined, { href: address, download: name }).click();
            setTimeout(() => URL.revokeObjectURL(address), 60000);
            this.live.say(`${plural(rows.length - 1, "row")} offered as ${name}`);
        } catch {
            this.offer(text, "The browser saves no file");
        }
    }

    offer(text, why) {
        this.field.value = text;
        this.field.hidden = false;
        this.field.focus();
        this.field.select();
        this.live.say(`${why}: the rows are selected in the text field, copy them from there`);
    }
}
