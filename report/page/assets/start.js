// SPDX-License-Identifier: Apache-2.0
//
// How pages start: what needs JavaScript is hidden until it works, and where it does not the page says why.

const page = document.documentElement;

function tell(text) {
    for (const place of document.querySelectorAll(".picture-message")) place.textContent = text;
}

function showPictures(shown) {
    for (const part of document.querySelectorAll(".picture")) part.hidden = !shown;
}

function sayFailure(error) {
    showPictures(false);
    tell(`The pictures cannot be shown: ${error.message}. All tables are complete.`);
    console.error(error);
}
