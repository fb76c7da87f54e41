// SPDX-License-Identifier: Apache-2.0
//
// Puts the page together. The static part is complete without it; what is here shows the two
// pictures and what belongs to them. A page that was saved while it ran starts as a new one does.

const page = document.documentElement;

function tell(text) {
    for (const place of document.querySelectorAll(".picture-message")) place.textContent = text;
}

function showPictures(shown) {
    for (const part of document.querySelectorAll(".picture")) part.hidden = !shown;
}

async function startPage() {
    // A saved page has what it had when it was saved.
    delete page.dataset.ready;
    byId("help").close();
    showPictures(false);
    const json = JSON.parse(byId("nvtxt-data").textContent);
    const view = { start: json.first, end: json.last };
    const api = { version: 1, ready: false, events: json.events, selected: null, view, select: () => false, redraw() {} };
    window.nvtxtReport = api;
    if (json.items && !canInflate()) {
        tell("This browser cannot unpack the events (it has no DecompressionStream), so the pictures are left out. All tables are complete.");
    } else if (json.items) {
        const capture = await Capture.read(json);
        showPictures(true);
        build(json, capture, api);
    } else {
        sayNothingIsHere(api);
        const follow = new Follow({ json });
        follow.begin();
        follow.start();
    }
    api.ready = true;
    page.dataset.ready = "1";
    performance.mark("nvtxt-ready");
}

// A page without events has no view to open.
function sayNothingIsHere(api) {
    const live = new Live(byId("live"));
    const say = () => live.say("This report has no events, so there is nothing to select.");
    const read = () => location.hash.length > 1 && location.hash !== "#follow=off" && !isPlace(location.hash.slice(1)) && say();
    api.select = () => {
        say();
        return false;
    };
    addEventListener("hashchange", read);
    read();
}

function build(json, capture, api) {
    const live = new Live(byId("live"));
    const help = byId("help");
    const palette = new Palette(capture);
    const view = new TimeView(capture);
    const canvas = byId("timeline-canvas");
    const timeline = new Timeline(canvas, byId("timeline-scroll"), byId("timeline-spacer"), capture, view, palette);
    const overview = new Overview(byId("overview"), capture, view);
    const flame = new Flame(byId("flame-canvas"), byId("flame-scroll"), byId("flame-spacer"), capture, palette);
    timeline.note = byId("timeline-note");
    flame.note = byId("flame-note");
    const go = (item, reveal = true) => {
        view.select(item);
        if (reveal) view.reveal(item);
        timeline.revealRow(item);
        live.sayParts(spokenParts(capture, item));
    };
    const found = new FoundLines(byId("search-lines"), capture, view, go);
    const search = new Search(
        { input: byId("search"), count: byId("search-count"), next: byId("search-next"), previous: byId("search-previous"), canvas, view, live, go },
        capture,
        ({ names, matches }) => {
            found.set(matches);
            for (const picture of [timeline, flame]) {
                picture.matches = names;
                picture.later();
            }
            view.changed("search");
        },
    );
    describePictures(capture, canvas, flame);
    new SelectionBar(byId("selection"), capture, view);
    new Grid(byId("event-grid"), byId("event-grid-caption"), capture, view, go);
    const fragment = new Fragment(capture, view, search, live, go);
    const keys = new Keys(canvas, {
        view, live, help, search, go,
        walk: walkOf(capture),
        step: (by) => search.step(by),
        measure: () => measureHere(capture, view, timeline, live),
        unmark() {
            view.points = [];
            view.select(NONE);
            live.say("nothing is selected");
        },
    });
    usePointer(timeline, { capture, view, go, live });
    useFlame(flame, { help, search, live });
    for (const button of document.querySelectorAll("[data-key]")) {
        button.addEventListener("click", () => keys.actions[button.dataset.key]());
    }
    byId("help-close").addEventListener("click", () => help.close());
    followLinks(canvas);
    openTo(api, capture, view, go, () => timeline.draw());
    const follow = new Follow({ json, capture, view, fragment, live });
    timeline.draw(); // rows have places now, so a fragment can scroll to them
    follow.begin();
    fragment.start();
    for (const picture of [timeline, overview, flame]) picture.draw();
    follow.start();
}

// window.nvtxtReport: for tests and bookmarklets.
function openTo(api, capture, view, go, redraw) {
    Object.defineProperty(api, "selected", { get: () => selectedFacts(capture, view.selected) });
    Object.defineProperty(api, "view", {
        get: () => ({ start: String(capture.timeNs(view.start)), end: String(capture.timeNs(view.end)) }),
    });
    api.select = (row) => {
        const item = row === null || row === undefined ? NONE : capture.find(row);
        if (item === NONE) view.select(NONE);
        else go(item);
        return item !== NONE;
    };
    api.redraw = redraw;
}

function selectedFacts(capture, item) {
    if (item === NONE) return null;
    const row = capture.rowKey(item);
    return {
        row: Number.isSafeInteger(Number(row)) ? Number(row) : row, // what select() takes
        store: capture.storeOf(item),
        name: capture.fullName(item),
        message: capture.message(item),
        start: String(capture.startNs(item)),
        end: String(capture.endNs(item)),
        depth: capture.depth[item],
        ...(capture.merged[item] ? { merged: capture.merged[item] } : {}), // how many it stands for
    };
}

function walkOf(capture) {
    return {
        first: () => (capture.count ? 0 : NONE),
        child: (item) => capture.firstChild[item],
        parent: (item) => capture.parent[item],
        previous: (item) => capture.previous[item],
        next: (item) => capture.next[item],
    };
}

function describePictures(capture, canvas, flame) {
    const processes = capture.processes.length === 1 ? "1 process" : `${grouped(capture.processes.length)} processes`;
    const ranges = `${plural(capture.total, "event")} on ${plural(capture.lanes.length, "lane")} of ${processes}`;
    const length = exactLength(capture.lastNs - capture.firstNs);
    const sum = shortLength(flame.root.width);
    const { leftOut } = capture.flame;
    const left = leftOut ? `, the ${grouped(flame.nodes.length - 1)} widest paths; ${grouped(leftOut)} others are left out` : "";
    const keys = "Home selects the first event, arrows walk, question mark shows all keys.";
    canvas.setAttribute("aria-label", `Timeline: ${ranges}, ${length} long. ${keys}`);
    const paths = `push/pop ranges merged by path, ${sum} together${left}`;
    flame.canvas.setAttribute("aria-label", `Flame graph: ${paths}. ${keys} The table has the figures.`);
}

function usePointer(timeline, { capture, view, go, live }) {
    const tip = byId("tip");
    tip.textContent = "";
    const hover = (time, parts) => {
        timeline.hover = time;
        isolate(tip, parts);
        if (view.points.length === 1) timeline.later();
    };
    new Pointer(timeline.canvas, byId("timeline-scroll"), view, {
        click(x, y, event) {
            timeline.canvas.focus();
            const item = timeline.at(x, y);
            if (event.shiftKey) {
                measureAt(view, live, timeline.snap(x, y));
            } else if (item !== NONE) {
                go(item, false);
            } else {
                view.select(NONE);
                live.say("");
            }
        },
        double(x, y) {
            const item = timeline.at(x, y);
            if (item !== NONE) view.fit(item);
        },
        move(x, y) {
            const item = timeline.at(x, y);
            const parts = item === NONE ? [] : [shortened(titleOf(capture, item), 200), ` · ${exactLength(capture.lengthNs(item))}`];
            hover(timeline.snap(x, y), parts);
        },
        leave: () => hover(null, []),
    });
}

// The flame graph has the keys and the pointer of the timeline; its view is one of summed time.
function useFlame(flame, { help, search, live }) {
    const { canvas, view } = flame;
    const said = byId("flame-selected");
    said.textContent = "";
    const go = (id) => {
        const parts = flame.parts(id);
        view.select(id);
        view.reveal(id);
        flame.revealRow(id);
        live.sayParts(parts);
        isolate(said, parts);
    };
    const unmark = () => {
        view.select(NONE);
        said.textContent = "";
        live.say("nothing is selected");
    };
    new Keys(canvas, {
        view, live, help, search, go, unmark,
        walk: flame.walk(),
        step: (by) => search.stepIn(flame.found(), by, view.selected, go),
        measure: () => live.say("widths are sums here; the timeline measures"),
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

// A link to an event or a time leads to the timeline.
function followLinks(canvas) {
    document.addEventListener("click", (event) => {
        const link = event.target.closest?.("a[href^='#t='], a[href^='#sel=']");
        if (!link) return;
        canvas.focus();
        byId("timeline").scrollIntoView();
    });
}

startPage().catch((error) => {
    showPictures(false);
    tell(`The pictures cannot be shown: ${error.message}. All tables are complete.`);
    console.error(error);
});
