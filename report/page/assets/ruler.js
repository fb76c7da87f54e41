// SPDX-License-Identifier: Apache-2.0
//
// What lies over the rows of the timeline: the ruler, the chosen span with its handles, measured points,
// and where iterations begin and end.

const DASHES = [6, 3];
const HANDLE = 6; // pixels around the end of a span in which it can be taken

function drawRuler(picture) {
    const { context, theme, view, capture, width, scale, rulerHeight: height } = picture;
    picture.setFont(theme.font(0.75));
    context.fillStyle = theme.paper;
    context.fillRect(0, 0, width, height);
    const step = rulerStep((theme.size * 6.5) / scale);
    const from = capture.utcBase === null ? "relative to the first event" : `${utcText(capture.timeNs(view.start) + capture.utcBase)} UTC`;
    const utc = capture.base ? `${from}; counted from ${exactLength(capture.base)} on` : from;
    const wide = shortLength(view.length);
    picture.label(utc, 6, height * 0.27, width - picture.widthOf(wide) - 20, theme.soft);
    context.textAlign = "right";
    picture.label(wide, width - 6, height * 0.27, width * 0.25, theme.soft);
    context.textAlign = "left";
    for (let at = Math.ceil(view.start / step) * step; at <= view.end; at += step) {
        const x = Math.round((at - view.start) * scale);
        context.fillStyle = theme.line;
        context.fillRect(x, height * 0.55, 1, height * 0.45);
        const text = rulerLabel(at, step);
        if (x + picture.widthOf(text) + 4 < width) picture.label(text, x + 4, height * 0.75, step * scale, theme.ink);
    }
    context.fillStyle = theme.line;
    context.fillRect(0, height - 1, width, 1);
}

// The ends of the span as places of the picture.
function spanPlaces({ view, capture, scale }) {
    return [view.span.from, view.span.to].map((at) => (Number(at - capture.base) - view.start) * scale);
}

// What is beside the span is dimmed; its ends have handles in the ruler.
function drawSpan(picture) {
    const { context, theme, view, width, height, rulerHeight } = picture;
    if (!view.span) return;
    const [left, right] = spanPlaces(picture);
    if (!theme.forced) {
        context.globalAlpha = 0.55;
        context.fillStyle = theme.paper;
        if (left > 0) context.fillRect(0, rulerHeight, Math.min(left, width), height);
        if (right < width) context.fillRect(Math.max(right, 0), rulerHeight, width, height);
        context.globalAlpha = 0.25;
        context.fillStyle = theme.accent;
        context.fillRect(Math.max(left, 0), rulerHeight * 0.55, Math.min(right, width) - Math.max(left, 0), rulerHeight * 0.45);
        context.globalAlpha = 1;
    }
    context.fillStyle = theme.accent;
    for (const x of [left, right]) {
        context.fillRect(Math.round(x) - 1, rulerHeight * 0.5, 2, height);
        context.fillRect(Math.round(x) - 3, rulerHeight * 0.5, 7, rulerHeight * 0.5);
    }
}

// Which end of the span lies at a place of the ruler: "from", "to" or null.
function handleAt(picture, x, y) {
    if (!picture.view.span || y > picture.rulerHeight) return null;
    const away = spanPlaces(picture).map((place) => Math.abs(place - x));
    const nearest = away[0] < away[1] ? 0 : 1;
    return away[nearest] <= HANDLE ? ["from", "to"][nearest] : null;
}

// Where iterations begin and end, below all else; an outlier stands between dashed lines.
function drawIterations({ context, theme, view, iterations, scale, rulerHeight, height }) {
    for (const { from, to, outlier } of iterations) {
        if (to < view.start || from > view.end || (to - from) * scale < 3) continue;
        context.strokeStyle = outlier ? theme.accent : theme.line;
        context.lineWidth = outlier ? 2 : 1;
        context.setLineDash(outlier ? DASHES : []);
        context.strokeRect(Math.round((from - view.start) * scale) + 0.5, rulerHeight, (to - from) * scale, height);
    }
    context.setLineDash([]);
}

// One or two points of a measurement; while there is one, the other is under the pointer.
function drawPoints(picture) {
    const { context, theme, view, width, height, rulerHeight, hover } = picture;
    const points = view.points.length === 1 && hover !== null ? [view.points[0], hover] : view.points;
    if (!points.length) return;
    const places = points.map((at) => picture.x(Number(at - picture.capture.base))).sort((a, b) => a - b);
    const [left, right] = [places[0], places[places.length - 1]];
    context.fillStyle = theme.accent;
    if (!theme.forced) {
        context.globalAlpha = 0.12;
        context.fillRect(left, rulerHeight, right - left, height);
        context.globalAlpha = 1;
    }
    for (const x of places) context.fillRect(Math.round(x) - 1, 0, 2, height);
    if (points.length < 2) return;
    picture.setFont(theme.font(0.875, "600"));
    const text = shortLength(Math.abs(Number(points[1] - points[0])));
    const wide = picture.widthOf(text) + 12;
    const x = Math.min(Math.max((left + right - wide) / 2, 2), width - wide - 2);
    const y = rulerHeight + 4;
    context.fillStyle = theme.paper;
    context.fillRect(x, y, wide, theme.size * 1.5);
    context.strokeStyle = theme.accent;
    context.lineWidth = 1;
    context.strokeRect(x + 0.5, y + 0.5, wide, theme.size * 1.5);
    context.fillStyle = theme.ink;
    context.fillText(text, x + 6, y + theme.size * 0.78);
}
