// SPDX-License-Identifier: Apache-2.0
//
// Puts the page together. The static part is complete without it; what is here shows the two
// pictures and what belongs to them. A page that was saved while it ran starts as a new one does.

const page = document.documentElement;

function tell(text) {
    for (const place of document.querySelectorAll(".picture-message")) place.textContent = text;
}

async function start() {
    const json = JSON.parse(byId("nvtxt-data").textContent);
    const api = { version: 1, ready: false, events: json.events, selected: null, view: null, select() {}, redraw() {} };
    window.nvtxtReport = api;
    if (!json.items) {
        tell("No events.");
    } else if (!canInflate()) {
        tell("This browser cannot unpack the events (it has no DecompressionStream), so the pictures are left out. All tables are complete.");
    } else {
        const capture = await Capture.read(json);
        tell("");
        for (const part of document.querySelectorAll(".picture")) part.hidden = false;
        for (const place of document.querySelectorAll(".picture-message")) place.hidden = true;
        build(capture, api);
    }
    api.ready = true;
    page.dataset.ready = "1";
}

function build(capture, api) {
    const live = new Live(byId("live"));
    const view = new View(capture);
    const palette = new Palette(capture);
    const canvas = byId("timeline-canvas");
    const timeline = new Timeline(canvas, byId("timeline-scroll"), byId("timeline-spacer"), capture, view, palette);
    const overview = new Overview(byId("overview"), capture, view);
    const go = (item, reveal = true) => {
        view.select(item);
        if (reveal) view.reveal(item);
        timeline.revealRow(item);
        live.say(spokenText(capture, item));
    };
    const search = new Search(
        { input: byId("search"), count: byId("search-count"), next: byId("search-next"), previous: byId("search-previous"), canvas, view, live, go },
        capture,
        (found) => {
            timeline.matches = found.names;
            timeline.later();
            view.changed("search");
        },
    );
    const flame = new Flame(byId("flame-canvas"), byId("flame-scroll"), byId("flame-spacer"), capture, palette, live);
    flame.said = byId("flame-selected");
    describePictures(capture, canvas, flame);
    new SelectionBar(byId("selection"), capture, view);
    new Grid(byId("event-grid"), byId("event-grid-caption"), capture, view, go);
    const fragment = new Fragment(capture, view, search, live, go);
    const keys = new Keys(canvas, { capture, view, timeline, search, live, help: byId("help"), go });
    usePointer(canvas, { capture, view, timeline, go, live });
    for (const button of document.querySelectorAll("[data-key]")) {
        button.addEventListener("click", () => keys.actions[button.dataset.key]());
    }
    byId("help-close").addEventListener("click", () => byId("help").close());
    followLinks(canvas);
    Object.defineProperty(api, "selected", { get: () => selectedFacts(capture, view.selected) });
    Object.defineProperty(api, "view", {
        get: () => ({ start: String(capture.timeNs(view.start)), end: String(capture.timeNs(view.end)) }),
    });
    api.select = (row) => {
        const item = row === null ? NONE : capture.find(row);
        if (item === NONE) view.select(NONE);
        else go(item);
        return item !== NONE;
    };
    api.redraw = () => timeline.draw();
    timeline.draw();
    fragment.read();
    for (const picture of [timeline, overview, flame]) picture.draw();
}

function selectedFacts(capture, item) {
    if (item === NONE) return null;
    const row = capture.rowText(item);
    return {
        row: Number.isSafeInteger(Number(row)) ? Number(row) : row,
        name: capture.fullName(item),
        message: capture.message(item),
        start: String(capture.startNs(item)),
        end: String(capture.endNs(item)),
        depth: capture.depth[item],
    };
}

function describePictures(capture, canvas, flame) {
    const ranges = `${plural(capture.total, "event")} on ${plural(capture.lanes.length, "lane")} of ${plural(capture.processes.length, "process").replace("processs", "processes")}`;
    const length = exactLength(capture.lastNs - capture.firstNs);
    canvas.setAttribute("aria-label", `Timeline: ${ranges}, ${length} long. Home selects the first event, arrows walk, question mark shows all keys.`);
    flame.canvas.setAttribute("aria-label", `Flame graph: push/pop ranges merged by path, ${shortLength(flame.root.width)} together. Home selects the longest, arrows walk; the table has the figures.`);
}

function usePointer(canvas, { capture, view, timeline, go, live }) {
    const tip = byId("tip");
    tip.textContent = "";
    new Pointer(canvas, byId("timeline-scroll"), view, {
        click(x, y, event) {
            canvas.focus();
            if (event.shiftKey) {
                view.measure(timeline.snap(x, y));
                return;
            }
            const item = timeline.at(x, y);
            if (item !== NONE) go(item, false);
            else {
                view.select(NONE);
                live.say("");
            }
        },
        double(x, y) {
            const item = timeline.at(x, y);
            if (item !== NONE) view.fit(item);
        },
        move(x, y) {
            timeline.hover = timeline.snap(x, y);
            const item = timeline.at(x, y);
            tip.textContent = item === NONE ? "" : `${titleOf(capture, item).slice(0, 200)} · ${exactLength(capture.lengthNs(item))}`;
            if (view.points.length === 1) timeline.later();
        },
        leave() {
            timeline.hover = null;
            tip.textContent = "";
            if (view.points.length === 1) timeline.later();
        },
    });
}

// A link to an event or a time leads to the timeline.
function followLinks(canvas) {
    document.addEventListener("click", (event) => {
        const link = event.target.closest?.("a[href^='#t='], a[href^='#sel=']");
        if (!link) return;
        canvas.focus();
        byId("timeline").scrollIntoView();
    });
}

start().catch((error) => {
    tell(`The pictures cannot be shown: ${error.message}. All tables are complete.`);
    console.error(error);
});
