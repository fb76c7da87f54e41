// SPDX-License-Identifier: Apache-2.0
//
// Small pictures in SVG. They have attributes and no style, which the policy of the page would refuse.

const SVG = "http://www.w3.org/2000/svg";

function makeSvg(name, attributes, ...parts) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...parts);
    return made;
}
