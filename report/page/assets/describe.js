// SPDX-License-Identifier: Apache-2.0
//
// Sentences about items, and the live region that speaks them.

// Elements with text in them: make("td", "12 ns"), make("bdi", text).
function make(name, text, attributes = {}) {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
}

function byId(id) {
    return document.getElementById(id);
}

function kindText(capture, item) {
    const words = [["mark", "push/pop range", "start/end range"][capture.kind(item)]];
    const flags = capture.flags[item];
    if (flags & OPEN) words.push("open");
    if (flags & BACKWARD) words.push("its end lay before its start");
    if (flags & UNCLOSED) words.push("closed when its source ended");
    return words.join(", ");
}

function titleOf(capture, item) {
    const count = capture.merged[item];
    if (count) return `${grouped(count)} ${capture.kind(item) === MARK ? "marks" : "ranges"} merged`;
    return capture.message(item);
}

const LONGEST_SPOKEN = 500; // characters

// A text that is not spoken for an hour. No half of a pair of code units is left.
function shortened(text, most = LONGEST_SPOKEN) {
    return text.length <= most ? text : text.slice(0, most).replace(/[\ud800-\udbff]$/, "") + "…";
}

// MESSAGE, start T, duration T, depth N, THREAD: names, and what stands between them.
function spokenParts(capture, item) {
    const times = `, start ${exactLength(capture.offsetNs(item))}, duration ${exactLength(capture.lengthNs(item))}`;
    const parts = [shortened(titleOf(capture, item)), `${times}, depth ${capture.depth[item]}, `, ownerLabel(capture, item)];
    if (capture.flags[item] & OPEN) parts.push(", open");
    return parts;
}

// Shows names of others, which cannot turn the direction of what stands between them: the first part,
// the third and so on are names.
function isolate(element, parts) {
    element.replaceChildren(...parts.map((part, i) => (i % 2 ? part : make("bdi", part))));
}

class Live {
    constructor(element) {
        this.element = element;
        element.textContent = "";
    }

    say(text) {
        this.element.textContent = text;
    }

    sayParts(parts) {
        isolate(this.element, parts);
    }
}
