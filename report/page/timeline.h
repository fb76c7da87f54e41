// SPDX-License-Identifier: Apache-2.0
//
// The data of the pictures: what the script draws, as one JSON object inside a script element. The
// way: `lanes` and `items` are what is drawn; `data` writes them, in columns (`column`), with the
// names of merged events (`hidden`); `drawing` is the thread that does so; `flame` comes after it,
// as the last member. Only this room includes it.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"
#include "protocol/table/hash.h"
#include "protocol/text/out.h"
#include "report/model/builds.h"
#include "report/stats/reports.h"
#include "report/table/json.h"

// ---- Lanes --------------------------------------------------------------------------------------

// The lanes that the page draws: the steps of a job slot of a build, the marks of a thread, the
// push/pop ranges of a thread and domain, other start/end ranges of a process and category. They
// stand in the order of the picture: process, which of a build is that of its run; in it the builds
// by job; then start/end ranges by category; then by thread its marks, then its push/pop ranges by
// domain.
struct page_lane {
    uint8_t kind;      // enum report_kind
    uint32_t process;  // index in the capture
    uint32_t thread;   // the same; of start/end ranges not used
    uint32_t domain;   // of push/pop ranges
    uint32_t category; // of start/end ranges: an index of page_category; REPORT_NONE: none
    uint32_t build;    // of steps and runs: its index; REPORT_NONE: of no build
    uint32_t job;      // of steps: the slot; 0: of the run, and of steps with steps below them
};

// A category of events that are drawn: its number, and its name in a scope.
struct page_category {
    uint32_t scope, id;
};

struct page_lanes {
    const struct report_capture *capture; // borrowed
    struct report_builds builds;
    struct page_lane *lanes; // owned; in their order after page_lanes_sort()
    size_t count;
    uint32_t *place; // owned: from the number of page_lanes_of() to the place in the order
    struct page_category *categories; // owned; as they came
    size_t category_count;
    struct nvtxt_map marks, push_pop, start_end, jobs, by_category;
    struct { // the one that was found last
        const struct nvtxt_map *map;
        uint64_t key;
        uint32_t number;
    } near;
};

// Returns 0 or -ENOMEM; deinit is fine after both.
int page_lanes_init(struct page_lanes *lanes, const struct report_model *model);
void page_lanes_deinit(struct page_lanes *lanes); // fine when zeroed

// The index of the category of an event; REPORT_NONE: it has none. Returns 0 or -ENOMEM.
int page_category_of(struct page_lanes *lanes, const struct report_event *event, uint32_t *index);

// The number of the lane of an event; a new lane has the next number. Returns 0 or -ENOMEM.
int page_lanes_of(struct page_lanes *lanes, const struct report_event *event, uint32_t *number);

// Sorts the lanes, once all are there. Returns 0 or -ENOMEM.
int page_lanes_sort(struct page_lanes *lanes);

// ---- Items --------------------------------------------------------------------------------------

// The items of the timeline: selected events in their order, and when there are more of them than
// the page takes, short ones merged: those of one lane and depth that begin in one of 4,096 parts
// of the whole span, and are shorter than it, stand as one item where the first of them stands.
struct page_item {
    uint32_t event;  // its index in the order; of a merged item that of the first
    uint32_t lane;   // a number of page_lanes_of()
    uint32_t merged; // how many events it stands for; 0: it is one
    uint32_t parent; // index of an item, or REPORT_NONE
    uint32_t guess;  // the parent that the depth alone lets one guess, or REPORT_NONE
    int64_t end;     // of the last of them
    // Of lines of logs: 1 to 8 is emerg to debug, the worst of merged ones, 9 none. 0: it is no
    // line.
    uint8_t level;
};

struct page_items {
    struct page_item *items; // owned
    uint32_t *item_of;       // owned; by event: the item that it is, or is in; REPORT_NONE: none
    size_t count;
    size_t single;       // items that are one event
    int64_t first, last; // smallest start, largest end; both 0 without items
    struct page_lanes lanes;
};

// Merges when more than `most` events are selected. Returns 0 or -ENOMEM; deinit is fine after
// both.
int page_items_init(struct page_items *items, const struct report_model *model, size_t most);
void page_items_deinit(struct page_items *items);

// ---- Columns ------------------------------------------------------------------------------------

// A column of the page's data: unsigned numbers as LEB128 (seven bits a byte, low ones first), in
// one raw deflate stream, in base64, as a member of a JSON object. It is written while numbers
// come. A column of zeros alone is not written at all. One column is written after the other.
struct page_columns;

// Writes to `out`, which is borrowed. NULL when memory is short.
struct page_columns *page_columns_new(struct nvtxt_out *out);
void page_columns_free(struct page_columns *columns); // NULL is fine

// Begins the member `name`, and ends it. A failure of the output is in `out`.
void page_column_begin(struct page_columns *columns, const char *name);
void page_column_add(struct page_columns *columns, const uint64_t *values, size_t count);
void page_column_end(struct page_columns *columns);

// Small for numbers near 0 of both signs.
static inline uint64_t page_zigzag(uint64_t value) {
    return (value << 1) ^ (value >> 63 ? UINT64_MAX : 0);
}

// ---- The object ---------------------------------------------------------------------------------

// Names and tables are JSON; what each item has is in columns. No text of others can end the
// element: `<`, `>`, `&`, U+2028 and U+2029 are written as \u and four digits. The members:
// version, events, loaded (selected or not), items, first, last, utcBase, domains, names, colors,
// categories, processes, threads, builds (if there are any), lanes, iterations, hidden (if events
// are merged), columns; flame stands after them. assets/data.js reads it.

// Whether all times of the page count from the base of the first store, which is known.
bool page_has_utc_base(const struct report_capture *capture);

// `*names`, which the caller frees, is the number of each name of the capture in `names`, or
// REPORT_NONE. Returns 0 or -ENOMEM; a failure of the output is in `out`.
int page_data(struct nvtxt_out *out, const struct report_model *model,
              const struct page_items *items, uint32_t **names);

// ---- The thread ---------------------------------------------------------------------------------

// The data of the pictures, made by a thread of its own while others compute what the page says:
// packing it takes about as long as that. The thread only reads the model.

struct page_drawing;

// Begins; `most`: see page_items_init(). The model is borrowed, and does not change until the end.
// Where there is no thread to be had, or little to do, all is done here. NULL when memory is short.
struct page_drawing *page_drawing_begin(const struct report_model *model, size_t most);

// Waits for the data, which is JSON that may stand in a script element, and lives as long as the
// drawing. `*single`: how many events are drawn singly. Returns 0 or -ENOMEM.
int page_drawing_end(struct page_drawing *drawing, struct nvtxt_slice *data, size_t *single);
// After the end: the numbers of names in the data, as page_data() has them.
uint32_t *page_drawing_names(struct page_drawing *drawing);

void page_drawing_free(struct page_drawing *drawing); // waits, too; NULL is fine

// ---- The flame graph ----------------------------------------------------------------------------

// "flame", the last member of the object.
// Members: total, leftOut, names, paths. A path is [parent, name, count, open, total, self]; parent
// is 0, or 1 and the index of its parent. Its names are those that no item has; their numbers
// follow those of the object's. `numbers`: of page_data(); own names get theirs. A failure of the
// output is in `out`, which is in memory.
void page_flame(struct nvtxt_out *out, const struct report_capture *capture,
                const struct report_paths *paths, uint32_t *numbers);

// ---- Merged events ------------------------------------------------------------------------------

// Names of the events that merged items stand for: how many there are of each, and when. The page
// cannot show these events one by one, but a search finds their names.
struct page_hidden_name {
    uint32_t name;
    uint64_t count;      // merged events of that name
    int64_t first, last; // smallest start, largest end of them
};

struct page_hidden {
    struct page_hidden_name *names; // owned; those of most events come first
    size_t count;
    uint64_t events; // that are merged
    uint64_t left;   // of these: events of names that are too many or too long for the page
};

// Returns 0 or -ENOMEM; deinit is fine after both.
int page_hidden_init(struct page_hidden *hidden, const struct report_model *model,
                     const struct page_items *items);
void page_hidden_deinit(struct page_hidden *hidden);

// The member "hidden", if events are merged: {"left":N,"names":[[number,count,"first","last"],…]}
// with the numbers of the names in `numbers`.
void page_hidden_put(struct report_json *json, const struct page_hidden *hidden,
                     const uint32_t *numbers);
