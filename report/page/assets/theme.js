// SPDX-License-Identifier: Apache-2.0
//
// Light or dark, as the system has it or as the reader chose. The choice is kept where the browser keeps
// anything for pages; else it lasts as long as the page is open.

const THEME_KEY = "nvtxt-report-theme";

function keptTheme() {
    try {
        return localStorage.getItem(THEME_KEY) ?? "";
    } catch {
        return "";
    }
}

function useTheme(select, changed) {
    const show = (theme) => {
        if (theme) page.dataset.theme = theme;
        else delete page.dataset.theme;
        changed();
    };
    select.value = ["light", "dark"].includes(keptTheme()) ? keptTheme() : "";
    show(select.value);
    select.addEventListener("change", () => {
        show(select.value);
        try {
            localStorage.setItem(THEME_KEY, select.value);
        } catch {
            // Then it is not kept.
        }
    });
}
