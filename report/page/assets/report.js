// SPDX-License-Identifier: Apache-2.0
//
// Puts the page together. The static part is complete without it; what is here shows the pictures, the
// table of names and what belongs to them. A page that was saved while it ran starts as a new one does.

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
    const read = () => location.hash.length > 1 && location.hash !== `#${FOLLOW_OFF}` && !isPlace(location.hash.slice(1)) && say();
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
    const asked = new CurrentFigures(capture, view);
    const canvas = byId("timeline-canvas");
    const timeline = new Timeline(canvas, byId("timeline-scroll"), byId("timeline-spacer"), capture, view, palette);
    const column = new LaneColumn(byId("lane-names"), timeline);
    const overview = new Overview(byId("overview"), capture, view);
    const flame = new Flame(byId("flame-canvas"), byId("flame-scroll"), byId("flame-spacer"), capture, palette);
    timeline.note = byId("timeline-note");
    flame.note = byId("flame-note");
    const pictures = [timeline, overview, flame];
    const later = () => pictures.forEach((picture) => picture.later());
    const go = (item, reveal = true) => {
        view.select(item);
        if (reveal) view.reveal(item);
        timeline.revealRow(item);
        live.sayParts(spokenParts(capture, item));
        if (capture.kind(item) === PUSH_POP && !capture.merged[item]) callers.show(capture.name[item]);
    };
    const found = new FoundLines(byId("search-lines"), capture, view, go);
    let asks = "search"; // what n and p step through: what was asked for last
    const search = new Search(
        {
            input: byId("search"), count: byId("search-count"), next: byId("search-next"), previous: byId("search-previous"), canvas, view, live, go,
            asked: (what) => (asks = what),
        },
        capture,
        ({ names, matches }) => {
            found.set(matches);
            overview.setMatches(matches);
            for (const picture of [timeline, flame]) picture.matches = names;
            later();
            view.changed("search");
        },
    );
    const flameParts = { help, search, live };
    const callers = new Callers(byId("callers"), capture, flame, (name) => {
        const id = flame.widest(name);
        if (id !== NONE) flameParts.go(id);
        else callers.show(name);
    });
    Object.assign(flameParts, { callers });
    describePictures(capture, canvas, flame);
    new SelectionBar(byId("selection"), capture, view, asked);
    new Grid(byId("event-grid"), byId("event-grid-caption"), capture, timeline.layout, view, go);
    const names = nameTable(capture, { live, go, asked, view, palette, search });
    const fragment = new Fragment(capture, view, search, live, go);
    const lanes = new LaneTable(byId("lane-table"), timeline, live, () => view.changed("folds"));
    timeline.onFold = column.onFold = (block) => lanes.fold(block);
    const keys = new Keys(canvas, {
        view, live, help, search, go,
        walk: walkOf(capture),
        step: (by) => (asks === "name" && view.named ? names.step(by, false) : search.step(by)),
        measure: () => measureHere(capture, view, timeline, live),
        unmark: () => takeAway(view, live),
        more: {
            ...spanKeys(capture, view, live),
            N: () => names.step(1, true),
            P: () => names.step(-1, true),
            x: () => {
                if (view.selected === NONE) live.say("select an event first: its process is folded");
                else lanes.fold(timeline.layout.blockOfItem(view.selected));
            },
            X: () => lanes.foldAll(timeline.layout.blocks.some((block) => !block.folded)),
        },
    });
    usePointer(timeline, { capture, view, asked, go, live });
    Object.assign(flameParts, useFlame(flame, flameParts));
    useSpan(capture, { view, live, asked, flame, callers, canvas });
    useChoices({ palette, timeline, flame, lanes, names, callers, later, live });
    for (const button of document.querySelectorAll("[data-key]")) {
        button.addEventListener("click", () => keys.actions[button.dataset.key]());
    }
    byId("help-close").addEventListener("click", () => help.close());
    followLinks(canvas);
    openTo(api, capture, view, go, () => timeline.draw());
    openSpanTo(api, capture, view, names);
    const follow = new Follow({ json, capture, view, fragment, live, state: pageState({ timeline, column, lanes, names }) });
    timeline.draw(); // rows have places now, so a fragment can scroll to them
    follow.begin();
    fragment.start();
    for (const picture of pictures) picture.draw();
    if (capture.count <= SOON) names.show();
    else setTimeout(() => names.show());
    follow.start();
}

const SOON = 50000; // events whose names are ready with the first picture

function nameTable(capture, parts) {
    const elements = { table: byId("names-table"), filter: byId("names-filter"), more: byId("names-more"), message: byId("names-said") };
    const names = new NameTable({ ...parts, ...elements }, capture);
    new TableText({
        copy: byId("names-copy"), save: byId("names-save"), field: byId("names-field"), live: parts.live,
        texts: () => names.texts(),
        name: "names.csv",
    });
    return names;
}

// Escape takes away the measure first, then the selection, then the span.
function takeAway(view, live) {
    if (view.points.length) {
        view.points = [];
        view.changed("points");
        return live.say("nothing is measured");
    }
    if (view.selected !== NONE || view.named) {
        view.name(null);
        view.select(NONE);
        return live.say("nothing is selected");
    }
    if (view.span) {
        view.clearSpan();
        return live.say("there is no span");
    }
    return live.say("nothing is selected");
}

// An empty picture is a sentence.
function sayFlame(flame, text) {
    const isEmpty = flame.nodes.length < 2;
    for (const id of ["flame-scroll", "flame-path", "callers"]) byId(id).hidden = isEmpty;
    byId("flame-said").textContent = isEmpty ? `${text ? "The span" : "This report"} has no push/pop ranges.` : text;
}

// What follows a span: the sentence, and the flame graph, once the hand that draws it stops.
function useSpan(capture, { view, live, asked, flame, callers, canvas }) {
    const said = byId("span-said");
    let timer = 0;
    const show = () => {
        const { span } = view;
        said.textContent = span ? asked.said : "";
        if (span) live.say(`span from ${exactLength(span.from)} to ${exactLength(span.to)}, ${exactLength(span.to - span.from)} long: ${asked.said}`);
        const whole = !span || asked.current.merged;
        flame.setData(whole ? capture.flame : { ...new PathTree(asked.current).paths(), names: [] });
        sayFlame(flame, !span ? "" : whole ? "Of all events: those of the span are merged." : `Of the span: ${asked.said}.`);
        callers.show();
        isolate(byId("flame-selected"), flame.view.selected === NONE ? [] : flame.parts(flame.view.selected));
        describePictures(capture, canvas, flame);
    };
    view.listen((what) => {
        if (what !== "span") return;
        clearTimeout(timer);
        timer = setTimeout(show, 120);
    });
    said.textContent = "";
    sayFlame(flame, "");
    byId("clear-span").addEventListener("click", () => {
        view.clearSpan();
        live.say("there is no span");
    });
}

// What the page keeps over a load beside what stands in the fragment.
function pageState({ timeline, column, lanes, names }) {
    const choices = ["colors", "order", "only-matches"].map(byId);
    const read = (choice) => (choice.type === "checkbox" ? choice.checked : choice.value);
    return {
        save: () => ({ folded: lanes.state, width: column.asked, names: names.state, choices: choices.map(read) }),
        restore(state) {
            choices.forEach((choice, i) => {
                if (read(choice) === state.choices[i]) return;
                choice[choice.type === "checkbox" ? "checked" : "value"] = state.choices[i];
                choice.dispatchEvent(new Event("change"));
            });
            column.asked = state.width;
            lanes.state = state.folded;
            names.state = state.names;
            timeline.draw();
        },
    };
}

// Theme, colours, order, folding, and whether the search dims what it does not find.
function useChoices({ palette, timeline, flame, lanes, names, callers, later, live }) {
    useTheme(byId("theme"), later);
    const colors = byId("colors");
    colors.value = palette.mode;
    colors.addEventListener("change", () => {
        palette.setMode(colors.value);
        later();
        names.show();
        callers.show();
    });
    const order = byId("order");
    order.value = "first";
    order.addEventListener("change", () => {
        lanes.setOrder(order.value);
        live.say(`processes by ${order.selectedOptions[0].textContent}`);
    });
    byId("fold-all").addEventListener("click", () => lanes.foldAll(true));
    byId("unfold-all").addEventListener("click", () => lanes.foldAll(false));
    const only = byId("only-matches");
    only.checked = true;
    only.addEventListener("change", () => {
        timeline.onlyMatches = flame.onlyMatches = only.checked;
        later();
    });
}

// The span, as texts of ns of the store, for tests and bookmarklets; setSpan() shows its names at once.
function openSpanTo(api, capture, view, names) {
    const time = (offset) => String(capture.firstNs + offset);
    Object.defineProperty(api, "span", {
        get: () => view.span && { start: time(view.span.from), end: time(view.span.to) },
    });
    api.setSpan = (start, end) => {
        if (start === undefined || start === null) view.clearSpan();
        else view.setSpan(BigInt(start) - capture.firstNs, BigInt(end) - capture.firstNs);
        names.show();
    };
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

startPage().catch(sayFailure);
