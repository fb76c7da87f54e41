// SPDX-License-Identifier: Apache-2.0
//
// The head of the page. The title is what the user calls it; else the host and the last two names
// of each store's path, without a folder that is temporary, and so says nothing. The figures of the
// capture are those of the Report Summary, in words.
#include "report/page/parts.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "protocol/base/clock.h"
#include "report/page/html.h"
#include "report/page/timeline.h"
#include "report/table/number.h"
#include "report/table/screen.h"

// ---- The title ----------------------------------------------------------------------------------

static bool begins_with(struct nvtxt_slice path, const char *folder) {
    size_t len = folder ? strlen(folder) : 0;
    while (len > 1 && folder[len - 1] == '/') {
        len--;
    }
    return len > 0 && path.len > len && memcmp(path.data, folder, len) == 0 &&
           path.data[len] == '/';
}

static bool is_temporary(struct nvtxt_slice path) {
    static const char *const folders[] = {"/tmp", "/var/tmp", "/dev/shm", "/run", "/var/run"};
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        if (begins_with(path, folders[i])) {
            return true;
        }
    }
    return begins_with(path, getenv("TMPDIR"));
}

// The last `count` names of a path.
static struct nvtxt_slice last_names(struct nvtxt_slice path, unsigned count) {
    for (size_t i = path.len; i > 0; i--) {
        if (path.data[i - 1] == '/' && --count == 0) {
            return (struct nvtxt_slice){path.data + i, path.len - i};
        }
    }
    return path;
}

char *page_whole_path(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char relative[PATH_MAX], folder[PATH_MAX];
    snprintf(relative, sizeof(relative), "./%.*s", (int)(name - path), path);
    if (path[0] == '/' || !realpath(relative, folder)) {
        return NULL;
    }
    size_t size = strlen(folder) + strlen(name) + sizeof("/");
    char *whole = malloc(size);
    if (whole) {
        snprintf(whole, size, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, name);
    }
    return whole;
}

struct nvtxt_slice page_short_path(const char *path, unsigned least) {
    const struct nvtxt_slice whole = nvtxt_slice_of(path);
    const unsigned count = is_temporary(whole) ? 1 : 2;
    return last_names(whole, count > least ? count : least);
}

void page_title(struct nvtxt_out *out, const struct report_page *page) {
    const struct report_capture *capture = page->model->capture;
    char host[256] = "";
    if (page->title) {
        page_text(out, nvtxt_slice_of(page->title));
        return;
    }
    if (gethostname(host, sizeof(host) - 1) == 0 && *host) {
        page_text(out, nvtxt_slice_of(host));
        page_raw(out, ": ");
    }
    for (size_t i = 0; i < capture->store_count; i++) {
        const char *path = capture->stores[i].path.data; // paths end with NUL
        char *whole = page_whole_path(path);
        page_raw(out, i > 0 ? ", " : "");
        page_text(out, page_short_path(whole ?: path, 1));
        free(whole);
    }
}

// ---- The capture in words -----------------------------------------------------------------------

// "23 Nov 2026 07:28:48 UTC", where the page knows from when times count; not of times that count
// from a beginning of their own.
static void put_beginning(struct nvtxt_out *out, const struct report_model *model) {
    static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const struct report_capture *capture = model->capture;
    if (!page_has_utc_base(capture)) {
        return;
    }
    int64_t ns = nvtxt_time_plus(model->selected_first_ns, capture->stores[0].utc_base_ns);
    time_t seconds = (time_t)(ns / NVTXT_NS_A_SECOND);
    struct tm at;
    if (ns >= REPORT_SCREEN_YEAR_1980_NS && gmtime_r(&seconds, &at)) {
        nvtxt_out_format(out, ", <time data-ns=\"%" PRId64 "\">%d %s %d %02d:%02d:%02d UTC</time>",
                         model->selected_first_ns, at.tm_mday, months[at.tm_mon], at.tm_year + 1900,
                         at.tm_hour, at.tm_min, at.tm_sec);
    }
}

static void put_count(struct nvtxt_out *out, uint64_t count, const char *word, const char *words,
                      const char *target) {
    char number[REPORT_NUMBER];
    report_number_uint(number, count);
    nvtxt_out_format(out, " · <a href=\"#%s\">%s %s</a>", target, number,
                     count == 1 ? word : words);
}

void page_capture(struct nvtxt_out *out, const struct report_page *page) {
    const struct report_model *model = page->model;
    struct report_overview sum = {0};
    for (size_t i = 0; i < model->capture->store_count; i++) {
        const struct report_overview *of = &page->overviews[i];
        sum.processes += of->processes;
        sum.threads += of->threads;
        sum.losses += of->losses;
        sum.errors += of->errors;
    }
    if (model->selected > 0) {
        page_length(out, model->elapsed_ns);
        put_beginning(out, model);
    } else {
        page_raw(out, "no events");
    }
    if (model->selected > 0) {
        put_count(out, model->selected, "event", "events", "names");
        put_count(out, sum.processes, "process", "processes", "timeline");
        put_count(out, sum.threads, "thread", "threads", "timeline");
    }
    if (sum.errors > 0) {
        put_count(out, sum.errors, "error", "errors", "session-summary");
    }
    if (sum.losses > 0) {
        put_count(out, sum.losses, "lost", "lost", "report-summary");
    }
}
