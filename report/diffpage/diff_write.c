// SPDX-License-Identifier: Apache-2.0
//
// The page is a text with places. What may fail for lack of memory is remembered, and the page ends
// early then; nobody gets to see it.
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "report/diffpage/diff_parts.h"
#include "report/page/html.h"
#include "report/page/parts.h"

struct writer {
    struct nvtxt_out *out;
    const struct report_diff_page *page;
    char *whole[2];              // owned: paths of both sides; NULL: they are as they were given
    struct nvtxt_slice names[2]; // of both sides: the last names of their paths
    int result;
};

// ---- The title ----------------------------------------------------------------------------------

// As many names as tell both sides apart.
static void name_sides(struct writer *writer) {
    const char *paths[2];
    unsigned least = 1;
    for (size_t side = 0; side < 2; side++) {
        writer->whole[side] = page_whole_path(writer->page->sides[side].path);
        paths[side] = writer->whole[side] ?: writer->page->sides[side].path;
    }
    const bool same = strcmp(paths[0], paths[1]) == 0;
    do {
        writer->names[0] = page_short_path(paths[0], least);
        writer->names[1] = page_short_path(paths[1], least);
        least++;
    } while (!same && nvtxt_slice_equal(writer->names[0], writer->names[1]));
}

static void put_title(struct writer *writer) {
    if (writer->page->title) {
        page_text(writer->out, nvtxt_slice_of(writer->page->title));
        return;
    }
    page_text(writer->out, writer->names[1]);
    page_raw(writer->out, " against ");
    page_text(writer->out, writer->names[0]);
    page_raw(writer->out, ": nvtxt-report diff");
}

static void put_headline(struct writer *writer) {
    if (writer->page->title) {
        page_name(writer->out, nvtxt_slice_of(writer->page->title));
        return;
    }
    page_name(writer->out, writer->names[1]);
    page_raw(writer->out, " against ");
    page_name(writer->out, writer->names[0]);
}

// ---- Places -------------------------------------------------------------------------------------

static void put_policy(struct writer *writer) {
    page_policy(writer->out, page_assets_diff_script_hash, page_assets_diff_style_hash);
}

static void put_style(struct writer *writer) {
    nvtxt_out_slice(writer->out, page_assets_diff_style);
}

static void put_script(struct writer *writer) {
    nvtxt_out_slice(writer->out, page_assets_diff_script);
}

static void put_head(struct writer *writer) {
    diff_page_head(writer->out, writer->page);
}

static void put_facts(struct writer *writer) {
    writer->result = writer->result ?: diff_page_facts(writer->out, writer->page);
}

static void put_names(struct writer *writer) {
    diff_page_names(writer->out, writer->page);
}

static void put_flame_message(struct writer *writer) {
    const struct report_diff_page *page = writer->page;
    if (page->diff->of_kernels) {
        page_raw(writer->out, "Kernels of report files have no paths, so there is no flame graph.");
    } else if (!page->paths) {
        page_raw(writer->out, "A baseline has no paths, so there is no flame graph: compare with "
                              "the store that it was made of.");
    } else if (page->paths->new_count == 0) {
        page_raw(writer->out, "NEW has no push/pop ranges.");
    } else {
        page_raw(writer->out, "The flame graph needs JavaScript; the table below has its figures.");
    }
}

static void put_paths(struct writer *writer) {
    const struct report_diff_paths *paths = writer->page->paths;
    if (paths && paths->new_count > REPORT_DIFF_PAGE_PATHS) {
        nvtxt_out_format(writer->out,
                         "<p>The picture has the %d widest of %zu paths; where others would be, it "
                         "is empty.</p>\n",
                         REPORT_DIFF_PAGE_PATHS, paths->new_count);
    }
    writer->result = writer->result ?: diff_page_paths(writer->out, writer->page);
}

static void put_about(struct writer *writer) {
    struct nvtxt_out *out = writer->out;
    page_raw(out, "<dl class=\"facts\">");
    page_begin_fact(out, "Made by");
    page_raw(out, "nvtxt-report " PACKAGE_VERSION);
    page_end_fact(out);
    page_raw(out, "</dl>\n");
    nvtxt_out_format(out,
                     "<p>nvtxt-report(1), DIFF, says when a name has changed, and how the verdict "
                     "comes about. Of names there are at most %d histograms, of paths %d in the "
                     "flame graph and %d in its table.</p>\n",
                     REPORT_DIFF_PAGE_HISTOGRAMS, REPORT_DIFF_PAGE_PATHS,
                     REPORT_DIFF_PAGE_TREE_ROWS);
}

// One JSON object: version, gate, histograms, flame (if there are paths).
static void put_data(struct writer *writer) {
    struct nvtxt_out text;
    struct report_json json;
    if (writer->result != 0) {
        return;
    }
    writer->result = nvtxt_out_init(&text, -1);
    if (writer->result != 0) {
        return;
    }
    report_json_init(&json, &text);
    report_json_object(&json, NULL);
    report_json_uint(&json, "version", 1);
    report_json_double(&json, "gate", writer->page->view->gate);
    diff_page_histograms(&json, writer->page);
    writer->result = diff_page_flame(&json, writer->page);
    report_json_end_object(&json);
    page_script_json(writer->out, (struct nvtxt_slice){text.data, text.len});
    writer->result = writer->result ?: text.error;
    nvtxt_out_deinit(&text);
}

static const struct {
    const char *name;
    void (*put)(struct writer *writer);
} places[] = {
    {"about", put_about},
    {"csp", put_policy},
    {"data", put_data},
    {"facts", put_facts},
    {"flame-graph-message", put_flame_message},
    {"head", put_head},
    {"headline", put_headline},
    {"names", put_names},
    {"paths", put_paths},
    {"script", put_script},
    {"style", put_style},
    {"title", put_title},
};

static void put_place(void *context, struct nvtxt_slice name) {
    struct writer *writer = context;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        if (nvtxt_slice_equal(nvtxt_slice_of(places[i].name), name)) {
            places[i].put(writer);
        }
    }
}

int report_diff_page_write(struct nvtxt_out *out, const struct report_diff_page *page) {
    struct writer writer = {.out = out, .page = page};
    name_sides(&writer);
    page_fill(out, page_assets_diff_page, put_place, &writer);
    free(writer.whole[0]);
    free(writer.whole[1]);
    return writer.result;
}
