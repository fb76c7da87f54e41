// SPDX-License-Identifier: Apache-2.0
//
// Colours of events: their own, or by name, domain or category one of twelve; the text on it is black or
// white, whichever is easier to read. The colours of the page itself come from report.css.

const forcedColors = matchMedia("(forced-colors: active)");
const darkScheme = matchMedia("(prefers-color-scheme: dark)");

const PRINTED = { paper: "#ffffff", ink: "#1b1f24", soft: "#59636e", line: "#d5dae0", band: "#eef1f4", accent: "#0b5cad" };

// As the reader chose in the page, else as the system has it.
function isDark() {
    const { theme } = document.documentElement.dataset;
    return theme ? theme === "dark" : darkScheme.matches;
}

// What report.css says, as the canvases need it.
class Theme {
    constructor(element, printing) {
        const style = getComputedStyle(element);
        this.forced = forcedColors.matches && !printing;
        this.dark = isDark() && !printing;
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

// They differ for people who see all colours, and in the three common kinds of colour blindness.
const COLORS = ["#f7d644", "#b191ea", "#c7d8f9", "#3759a6", "#a9531e", "#70f6aa", "#735263", "#6873de", "#f4a25c", "#7bcaac", "#de6e29", "#94758c"];
const NEUTRAL = COLORS.length; // the key of what has no category
const OWN = NEUTRAL + 1; // from here on those of events

const rgbOfHex = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

// The colour of an item is known by a key: a small number. `mode`: own, name, domain, category.
class Palette {
    constructor(capture) {
        this.capture = capture;
        this.mode = "own";
        this.rgb = [...COLORS, "#9aa3ad"].map(rgbOfHex).concat(capture.colors.map((hex) => rgbOfHex("#" + hex.slice(3))));
        this.pairs = [];
        this.dark = null;
        this.nameKeys = new Uint8Array(capture.names.length); // 1 + the key; 0: not asked yet
    }

    use(theme) {
        if (this.dark !== theme.dark) this.pairs = [];
        this.dark = theme.dark;
    }

    setMode(mode) {
        this.mode = mode;
    }

    // What is drawn without a colour of its own, or null: nothing has one in forced colours, nor what
    // a search does not find.
    shown(theme, dim) {
        if (theme.forced) return { fill: theme.paper, edge: theme.ink, text: theme.ink };
        return dim ? { fill: theme.band, edge: theme.line, text: theme.soft } : null;
    }

    keyOfText(text) {
        return hashOf(text) % COLORS.length;
    }

    keyOfName(name) {
        if (!this.nameKeys[name]) this.nameKeys[name] = 1 + this.keyOfText(this.capture.names[name][1]);
        return this.nameKeys[name] - 1;
    }

    keyOfCategory(item) {
        const category = this.capture.categories[this.capture.category[item] - 1];
        return category ? this.keyOfText(category.name ?? String(category.id)) : NEUTRAL;
    }

    key(item) {
        const { capture } = this;
        if (this.mode === "own") return capture.color[item] ? OWN + capture.color[item] - 1 : this.keyOfName(capture.name[item]);
        if (this.mode === "name") return this.keyOfName(capture.name[item]);
        if (this.mode === "domain") return this.keyOfText(capture.domains[capture.names[capture.name[item]][0]]);
        return this.keyOfCategory(item);
    }

    // The keys of many items.
    keysOf(items) {
        const keys = new (this.rgb.length > 65536 ? Uint32Array : Uint16Array)(items.length);
        for (let i = 0; i < items.length; i++) keys[i] = this.key(items[i]);
        return keys;
    }

    // A path, or a row of a table, has the colour of the first item of its name.
    ofName(name) {
        if (this.mode === "name") return this.pair(this.keyOfName(name));
        this.firstItems ||= firstItems(this.capture);
        const item = this.firstItems[name];
        return item === undefined || item === NONE ? this.pair(this.keyOfName(name)) : this.of(item);
    }

    of(item) {
        return this.pair(this.key(item));
    }

    pair(key) {
        this.pairs[key] ||= this.makePair(this.rgb[key]);
        return this.pairs[key];
    }

    makePair(rgb) {
        const edge = rgb.map((part) => Math.min(Math.round(part * (this.dark ? 1.25 : 0.6)), 255));
        return { fill: `rgb(${rgb})`, edge: `rgb(${edge})`, text: textOn(rgb) };
    }
}

// By name: its first item, or NONE.
function firstItems({ names, name, count }) {
    const first = new Int32Array(names.length).fill(NONE);
    for (let i = count - 1; i >= 0; i--) first[name[i]] = i;
    return first;
}
