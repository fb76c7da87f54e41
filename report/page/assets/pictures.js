// SPDX-License-Identifier: Apache-2.0
//
// What pointers do on the timeline and on the flame graph, and what the pictures say of themselves.

function describePictures(capture, canvas, flame) {
    const processes = plural(countProcesses(capture), "process", "processes");
    const ranges = `${plural(capture.total, "event")} on ${plural(capture.lanes.length, "lane")} of ${processes}`;
    const length = exactLength(capture.lastNs - capture.firstNs);
    const sum = shortLength(flame.root.width);
    const { leftOut } = flame.data;
    const left = leftOut ? `, the ${grouped(flame.nodes.length - 1)} widest paths; ${grouped(leftOut)} others are left out` : "";
    const keys = "Home selects the first event, arrows walk, question mark shows all keys.";
    canvas.setAttribute("aria-label", `Timeline: ${ranges}, ${length} long. ${keys}`);
    const paths = `push/pop ranges merged by path, ${sum} together${left}`;
    flame.canvas.setAttribute("aria-label", `Flame graph: ${paths}. ${keys} The table has the figures.`);
}

// Those that have events here.
function countProcesses(capture) {
    const { lanes, laneFirst, laneItems } = capture;
    const seen = new Set();
    lanes.forEach((lane, index) => {
        if (lane.build === undefined) seen.add(lane.process);
        else for (const item of laneItems.subarray(laneFirst[index], laneFirst[index + 1])) seen.add(processOf(capture, item));
    });
    return seen.size;
}

// What the pointer is on, in a line: its name, length, share and rank, and what it lies in.
function hoverParts(capture, asked, item) {
    const among = asked.isReady ? amongEquals(asked, item) : null;
    const figures = among ? ` · ${among.share.toFixed(1)} % · ${among.rank}` : "";
    const up = capture.parent[item];
    const above = up === NONE ? [] : stackParts(capture, up);
    return [shortened(titleOf(capture, item), 200), ` · ${exactLength(capture.lengthNs(item))}${figures}${above.length ? " · in " : ""}`, ...above];
}

function usePointer(timeline, { capture, view, asked, go, live }) {
    const tip = byId("tip");
    const { canvas } = timeline;
    tip.textContent = "";
    const hover = (time, parts) => {
        timeline.hover = time;
        isolate(tip, parts);
        if (view.points.length === 1) timeline.later();
    };
    new Pointer(canvas, byId("timeline-scroll"), view, {
        click(x, y, event) {
            canvas.focus();
            const item = timeline.at(x, y);
            const index = timeline.rowAt(y);
            if (event.shiftKey) {
                measureAt(view, live, timeline.snap(x, y));
            } else if (item !== NONE) {
                go(item, false);
            } else if (timeline.inline && timeline.layout.blockOf.has(index)) {
                timeline.onFold(timeline.layout.blockOf.get(index));
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
            canvas.classList.toggle("handle", handleAt(timeline, x, y) !== null);
            hover(timeline.snap(x, y), item === NONE ? [] : hoverParts(capture, asked, item));
        },
        take(x, y, event, isLong) {
            const handle = handleAt(timeline, x, y);
            const isSpan = handle || isLong || event.shiftKey || y < timeline.rulerHeight;
            return isSpan ? spanDrag(timeline, view, x, y, handle) : null;
        },
        leave: () => hover(null, []),
    });
}

// A drag makes a span, or moves one end of it. It is small until the hand stops.
function spanDrag(timeline, view, x, y, handle) {
    const fixed = handle ? (handle === "from" ? view.span.to : view.span.from) : timeline.snap(x, y);
    return {
        move: (nowX, nowY) => view.setSpan(fixed, timeline.snap(nowX, nowY)),
        end() {},
    };
}

// The path that fills the flame graph, as buttons: each leads back to where it names.
function showPath(element, flame, zoom) {
    const ids = [];
    for (let node = flame.nodes[flame.zoomed]; node && node.parent; node = node.parent) ids.unshift(node.id);
    const step = (text, id) => {
        const button = make("button", undefined, { type: "button", class: "name" });
        button.append(make("bdi", text));
        button.addEventListener("click", () => zoom(id));
        return button;
    };
    const names = ids.map((id) => step(shortened(flame.capture.names[flame.nodes[id].name][1], 60), id));
    element.replaceChildren(step("All", 0), ...names.flatMap((button) => [" › ", button]));
}

// The flame graph has the keys and the pointer of the timeline; its view is one of summed time.
function useFlame(flame, { help, search, live, callers }) {
    const { canvas, view } = flame;
    const said = byId("flame-selected");
    const path = byId("flame-path");
    said.textContent = "";
    const go = (id) => {
        const parts = flame.parts(id);
        view.select(id);
        view.reveal(id);
        flame.revealRow(id);
        live.sayParts(parts);
        isolate(said, parts);
        callers.show(flame.nodes[id].name);
    };
    const zoom = (id) => {
        flame.zoom(id);
        showPath(path, flame, zoom);
        live.say(`${shortLength(view.length)} in view`);
    };
    const back = () => {
        if (flame.zoomed) return zoom(flame.nodes[flame.zoomed].parent.id);
        view.select(NONE);
        said.textContent = "";
        return live.say("nothing is selected");
    };
    showPath(path, flame, zoom);
    view.listen(() => {
        if (flame.isZooming || !view.isWhole()) return;
        flame.zoomed = 0;
        showPath(path, flame, zoom);
    });
    new Keys(canvas, {
        view, live, help, search, go,
        unmark: back,
        enter: zoom,
        walk: flame.walk(),
        step: (by) => search.stepIn(flame.found(), by, view.selected, go),
        measure: () => live.say("widths are sums here; the timeline measures"),
    });
    new Pointer(canvas, byId("flame-scroll"), view, {
        click(x, y) {
            canvas.focus();
            const id = flame.at(x, y);
            if (id === NONE) return back();
            go(id);
            return zoom(id);
        },
        double() {},
        move(x, y) {
            const id = flame.at(x, y);
            if (id !== NONE) isolate(said, flame.parts(id));
        },
        leave: () => isolate(said, view.selected === NONE ? [] : flame.parts(view.selected)),
    });
    return { go, zoom };
}

// A link to an event or a time leads to the timeline.
function followLinks(canvas) {
    document.addEventListener("click", (event) => {
        const link = event.target.closest?.("a[href^='#t='], a[href^='#sel='], a[href^='#span=']");
        if (!link) return;
        canvas.focus();
        byId("timeline").scrollIntoView();
    });
}
