// SPDX-License-Identifier: Apache-2.0
//
// The flame graph of NEW with the changes of self times against BASE: less is blue, more is orange,
// in steps; the change stands in front of the name. Blue and orange differ for all common kinds of
// colour blindness, and no frame is known by its colour alone.

const STEPS = [2, 10, 25, 50]; // percent; each is a step further from the neutral colour
const UNCHANGED = { light: [222, 226, 231], dark: [58, 66, 75] };
const MORE = { light: [232, 126, 14], dark: [224, 124, 22] };
const LESS = { light: [62, 134, 222], dark: [70, 140, 226] };

// "+12 %", "−3.4 %", "0 %": as the tables of the page have it.
function changeText(percent) {
    const size = Math.abs(percent);
    const sign = percent > 0 ? "+" : percent < 0 ? "−" : "";
    if (size > 0 && size < 0.05) return `${sign}<0.1 %`;
    return `${sign}${size >= 9.95 ? grouped(Math.round(size), ",") : size ? size.toFixed(1) : "0"} %`;
}

// What became of the self time of a frame: { percent }, { isNew } or nothing to tell. A range that is
// only there as a parent of others has none.
function changeOf(node) {
    if (!node.count && !node.open) return {};
    if (!node.baseCount) return { isNew: true };
    if (node.baseSelf > 0) return { percent: (100 * (node.self - node.baseSelf)) / node.baseSelf };
    return node.self > 0 ? { fromNothing: true } : { percent: 0 };
}

// Colours of frames; the part of a palette that Flame needs.
class ChangeColors {
    use(theme) {
        this.kind = theme.dark ? "dark" : "light";
    }

    shown(theme, dim) {
        if (theme.forced) return { fill: theme.paper, edge: theme.ink, text: theme.ink };
        return dim ? { fill: theme.band, edge: theme.line, text: theme.soft } : null;
    }

    of({ percent = 0, isNew, fromNothing }) {
        const size = isNew || fromNothing ? Infinity : Math.abs(percent);
        const strength = STEPS.filter((least) => size >= least).length / STEPS.length;
        const target = (percent < 0 ? LESS : MORE)[this.kind];
        const rgb = UNCHANGED[this.kind].map((part, i) => Math.round(part + (target[i] - part) * strength));
        const edge = rgb.map((part) => Math.min(255, Math.round(part * (this.kind === "dark" ? 1.25 : 0.6))));
        return { fill: `rgb(${rgb})`, edge: `rgb(${edge})`, text: textOn(rgb) };
    }
}

class DiffFlame extends Flame {
    // `flame`: as diff_flame.c writes it.
    constructor(canvas, scroller, spacer, flame) {
        super(canvas, scroller, spacer, { flame, names: flame.names }, new ChangeColors());
        flame.paths.forEach((path, i) => Object.assign(this.nodes[i + 1], { baseCount: path[6], baseSelf: path[7] }));
    }

    colorsOf(node) {
        const dim = this.matches && !this.matches[node.name];
        return this.palette.shown(this.theme, dim) || this.palette.of(changeOf(node));
    }

    labelOf(node) {
        const name = this.capture.names[node.name][1];
        const { percent, isNew, fromNothing } = changeOf(node);
        if (isNew) return `new ${name}`;
        if (fromNothing) return `from 0 ${name}`;
        return percent ? `${changeText(percent)} ${name}` : name;
    }

    // DOMAIN:MESSAGE of the last step.
    nameOf(id) {
        return this.capture.names[this.nodes[id].name][0];
    }

    parts(id) {
        const [name, said] = super.parts(id);
        const node = this.nodes[id];
        const { percent, isNew, fromNothing } = changeOf(node);
        if (isNew) return [name, `${said}; new: BASE has no such path`];
        if (fromNothing) return [name, `${said}; self time of BASE was 0`];
        if (percent === undefined) return [name, said];
        return [name, `${said}; self time ${changeText(percent)}, ${shortLength(node.baseSelf)} in BASE`];
    }
}
