// SPDX-License-Identifier: Apache-2.0
//
// Colours: one of each name, or that of the event; the text on it is black or white, whichever is
// easier to read. The colours of the page itself come from report.css.

const forcedColors = matchMedia("(forced-colors: active)");
const darkScheme = matchMedia("(prefers-color-scheme: dark)");

const PRINTED = { paper: "#ffffff", ink: "#1b1f24", soft: "#59636e", line: "#d5dae0", band: "#eef1f4", accent: "#0b5cad" };

// What report.css says, as the canvases need it.
class Theme {
    constructor(element, printing) {
        const style = getComputedStyle(element);
        this.forced = forcedColors.matches && !printing;
        this.dark = darkScheme.matches && !printing;
        this.size = parseFloat(style.fontSize);
        this.inkRgb = style.color;
        this.family = style.fontFamily;
        const own = (name) => style.getPropertyValue(name).trim();
        for (const [name, onPaper] of Object.entries(PRINTED)) this[name] = printing ? onPaper : own("--" + name);
        if (!this.forced) return;
        Object.assign(this, { paper: "Canvas", ink: "CanvasText", soft: "CanvasText", line: "GrayText", band: "Canvas", accent: "Highlight" });
    }

    font(scale = 1, weight = "") {
        return `${weight} ${this.size * scale}px ${this.family}`;
    }
}

function channel(value) {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
}

function luminance([red, green, blue]) {
    return 0.2126 * channel(red) + 0.7152 * channel(green) + 0.0722 * channel(blue);
}

// Contrast is (lighter + 0.05) / (darker + 0.05); black and white are equally good at 0.179.
function textOn(rgb) {
    return luminance(rgb) > 0.179 ? "#000000" : "#ffffff";
}

function rgbOfHue(hue, saturation, lightness) {
    const part = (n) => {
        const k = (n + hue / 30) % 12;
        const spread = saturation * Math.min(lightness, 1 - lightness);
        return Math.round(255 * (lightness - spread * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
    };
    return [part(0), part(8), part(4)];
}

// The same name has the same colour in every page: it comes from the bytes of the name.
function hashOf(text) {
    let hash = 0x811c9dc5;
    for (let i = 0; i < Math.min(text.length, 256); i++) {
        hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
    }
    // Names that differ in one letter only get hues that are far from each other, too.
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    return (hash ^ (hash >>> 16)) >>> 0;
}

// Fill and text of items, made when they are first asked for. Calm: little saturation, and hues that
// differ in lightness as well, so that neighbours differ without colours.
class Palette {
    constructor(capture) {
        this.capture = capture;
        this.names = [];
        this.colors = [];
        this.dark = null;
    }

    use(theme) {
        if (this.dark !== theme.dark) this.names = [];
        this.dark = theme.dark;
    }

    // What is drawn without a colour of its own, or null: nothing has one in forced colours, nor what
    // a search does not find.
    shown(theme, dim) {
        if (theme.forced) return { fill: theme.paper, edge: theme.ink, text: theme.ink };
        return dim ? { fill: theme.band, edge: theme.line, text: theme.soft } : null;
    }

    ofName(name) {
        const made = this.names[name];
        if (made) return made;
        const hash = hashOf(this.capture.names[name][1]);
        const lightness = (this.dark ? 0.36 : 0.7) + ((hash >>> 9) % 4) * 0.045;
        return (this.names[name] = this.pair(rgbOfHue(((hash % 24) * 15 + 7) % 360, this.dark ? 0.28 : 0.42, lightness)));
    }

    of(item) {
        const color = this.capture.color[item];
        if (!color) return this.ofName(this.capture.name[item]);
        const made = this.colors[color];
        if (made) return made;
        const hex = this.capture.colors[color - 1];
        return (this.colors[color] = this.pair([3, 5, 7].map((at) => parseInt(hex.slice(at, at + 2), 16))));
    }

    pair(rgb) {
        const edge = rgb.map((part) => Math.round(part * (this.dark ? 1.25 : 0.6))).map((part) => Math.min(part, 255));
        return { fill: `rgb(${rgb})`, edge: `rgb(${edge})`, edgeRgb: edge, text: textOn(rgb) };
    }
}
