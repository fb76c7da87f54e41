// SPDX-License-Identifier: Apache-2.0
//
// The picture has the widest paths of NEW; the table has those of both sides whose self time
// changed most.
#include "report/diffpage/diff_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "protocol/table/hash.h"
#include "report/page/html.h"

// ---- The table ----------------------------------------------------------------------------------

#define LONGEST 4096 // bytes of the text of a path; the first steps of longer ones are left out

static unsigned __int128 distance(const struct report_diff_path *path) {
    return path->base.self > path->new.self ? path->base.self - path->new.self
                                            : path->new.self - path->base.self;
}

static int changed_most(const void *left, const void *right) {
    const struct report_diff_path *const *a = left, *const *b = right;
    return NVTXT_ORDER(distance(*b), distance(*a)) ?: NVTXT_ORDER(*a, *b);
}

static enum report_diff_change change_of(const struct report_diff_path *path) {
    if (!report_diff_path_has(&path->base)) {
        return REPORT_DIFF_ADDED;
    }
    if (!report_diff_path_has(&path->new)) {
        return REPORT_DIFF_REMOVED;
    }
    return path->new.self > path->base.self   ? REPORT_DIFF_SLOWER
           : path->new.self < path->base.self ? REPORT_DIFF_FASTER
                                              : REPORT_DIFF_SAME;
}

// The last steps that fit into `text`, from its end; returns where they begin.
static const char *write_path(char text[LONGEST], const struct report_diff_path *list,
                              const struct report_diff_path *path) {
    static const char cut[] = "\xE2\x80\xA6;";
    char *at = text + LONGEST;
    for (bool first = true; path; first = false) {
        struct nvtxt_slice step = nvtxt_slice_cut(path->step, LONGEST / 2);
        if (step.len + 1 + strlen(cut) > (size_t)(at - text)) {
            at -= strlen(cut);
            memcpy(at, cut, strlen(cut));
            break;
        }
        if (!first) {
            *--at = ';';
        }
        at -= step.len;
        memcpy(at, step.data, step.len);
        path = path->parent == REPORT_NONE ? NULL : &list[path->parent];
    }
    return at;
}

static void put_path_row(struct nvtxt_out *out, const struct report_diff_page *page,
                         const struct report_diff_path *path, const struct diff_page_look *look) {
    char text[LONGEST];
    double percent;
    const bool has = report_diff_path_change(path, &percent);
    const enum report_diff_change change = change_of(path);
    static const char *const words[] = {"same", "more", "less", "", "new", "gone"};
    const char *at = write_path(text, page->paths->list, path);
    nvtxt_out_format(out, "<tr data-change=\"%s\"><td class=\"change %s\">%s</td>", words[change],
                     report_diff_change_name(change), words[change]);
    if (has) {
        diff_page_begin_cell(out, percent);
        diff_page_change(out, percent);
        diff_page_end_cell(out);
    } else {
        diff_page_no_cell(out);
    }
    diff_page_sum_cell(out, path->base.self, look);
    diff_page_sum_cell(out, path->new.self, look);
    page_cell_uint(out, path->base.count);
    page_cell_uint(out, path->new.count);
    page_cell(out, (struct nvtxt_slice){at, (size_t)(text + LONGEST - at)});
    page_raw(out, "</tr>\n");
}

static void put_table(struct nvtxt_out *out, const struct report_diff_page *page,
                      const struct report_diff_path **sorted, size_t count) {
    struct diff_page_look look = {.most = 0};
    const size_t shown = nvtxt_min(count, REPORT_DIFF_PAGE_TREE_ROWS);
    for (size_t i = 0; i < 2 * shown; i++) {
        const struct report_diff_path *path = sorted[i / 2];
        diff_page_look_at(&look, (double)(i % 2 ? path->base.self : path->new.self));
    }
    diff_page_look_begin(&look);
    for (size_t i = 0; i < 2 * shown; i++) {
        const struct report_diff_path *path = sorted[i / 2];
        diff_page_look_fit(&look, (double)(i % 2 ? path->base.self : path->new.self));
    }
    const struct diff_page_column columns[] = {
        {"Self time", NULL, "text", NULL, true},
        {"Change", NULL, "number", NULL, false},
        {"Self", look.unit.name, "number", "BASE", false},
        {"Self", look.unit.name, "number", "NEW", false},
        {"Count", NULL, "number", "BASE", false},
        {"Count", NULL, "number", "NEW", false},
        {"Path", NULL, "text", NULL, true},
    };
    page_begin_region(out, "Paths", "paths sortable");
    diff_page_titles(out, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < shown && !out->error; i++) {
        put_path_row(out, page, sorted[i], &look);
    }
    page_end_table(out);
    if (shown < count) {
        nvtxt_out_format(out, "<p>%zu more rows are not shown here.</p>\n", count - shown);
    }
}

int diff_page_paths(struct nvtxt_out *out, const struct report_diff_page *page) {
    const struct report_diff_paths *paths = page->paths;
    size_t count = 0;
    if (!paths) {
        return 0;
    }
    const struct report_diff_path **sorted = malloc((paths->count + 1) * sizeof(const void *));
    if (!sorted) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < paths->count; i++) {
        const struct report_diff_path *path = &paths->list[i];
        if (report_diff_path_has(&path->base) || report_diff_path_has(&path->new)) {
            sorted[count++] = path;
        }
    }
    if (count > 0) {
        qsort(sorted, count, sizeof(const void *), changed_most);
        put_table(out, page, sorted, count);
    }
    free(sorted);
    return 0;
}

// ---- The picture --------------------------------------------------------------------------------

#define LONGEST_NAME 1000 // bytes: no picture shows more

// Writes the names of the first paths, and the number of the name of each.
static int put_names(struct report_json *json, const struct report_diff_paths *paths, size_t shown,
                     uint32_t *numbers) {
    struct nvtxt_map known = {0};
    uint32_t count = 0;
    int r = 0;
    report_json_array(json, "names");
    for (size_t i = 0; r == 0 && i < shown; i++) {
        const struct report_diff_path *path = &paths->list[i];
        const uint64_t key = (uint64_t)(uintptr_t)path->name.data;
        if (nvtxt_map_get(&known, key, &numbers[i])) {
            continue;
        }
        numbers[i] = count++;
        r = nvtxt_map_set(&known, key, numbers[i]);
        report_json_array(json, NULL);
        report_json_slice(json, NULL, nvtxt_slice_cut(path->name, LONGEST_NAME));
        report_json_slice(json, NULL, nvtxt_slice_cut(path->step, LONGEST_NAME));
        report_json_end_array(json);
    }
    report_json_end_array(json);
    nvtxt_map_deinit(&known);
    return r;
}

static void put_path(struct report_json *json, const struct report_diff_path *path, uint32_t name) {
    report_json_array(json, NULL);
    report_json_uint(json, NULL, path->parent == REPORT_NONE ? 0 : (uint64_t)path->parent + 1);
    report_json_uint(json, NULL, name);
    report_json_uint(json, NULL, path->new.count);
    report_json_uint(json, NULL, path->new.open);
    report_json_double(json, NULL, (double)path->new.total);
    report_json_double(json, NULL, (double)path->new.self);
    report_json_uint(json, NULL, path->base.count + path->base.open);
    report_json_double(json, NULL, (double)path->base.self);
    report_json_end_array(json);
}

int diff_page_flame(struct report_json *json, const struct report_diff_page *page) {
    const struct report_diff_paths *paths = page->paths;
    if (!paths || paths->new_count == 0) {
        return 0;
    }
    const size_t shown = nvtxt_min(paths->new_count, REPORT_DIFF_PAGE_PATHS);
    uint32_t *numbers = malloc((shown + 1) * sizeof(*numbers));
    if (!numbers) {
        return nvtxt_origin(-ENOMEM);
    }
    report_json_object(json, "flame");
    report_json_double(json, "total", (double)paths->width);
    report_json_uint(json, "leftOut", paths->new_count - shown);
    int r = put_names(json, paths, shown, numbers);
    report_json_array(json, "paths");
    for (size_t i = 0; r == 0 && i < shown; i++) {
        put_path(json, &paths->list[i], numbers[i]);
    }
    report_json_end_array(json);
    report_json_end_object(json);
    free(numbers);
    return r;
}
