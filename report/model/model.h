// SPDX-License-Identifier: Apache-2.0
//
// report/model: what events say together: their order, lanes, stacks, parents, self times, gaps,
// how many are open at a time, iterations, the blocking chain; and which events are selected. It
// owns arrays beside those of the capture. One thread, no I/O. The rules are those of
// nvtxt-report(1), "THE MODEL". It makes no tables and no metrics.
//
// This header is the model of a capture: figures of each event, by its index in the order.
#pragma once

#include "protocol/base/buf.h"
#include "report/model/iterations.h"
#include "report/select/selection.h"

struct report_conditions;

// Parents of ranges in other processes: nvtxt-report(1), "Parents". An outermost event of a source
// that was given a token, or of a key that was, is shown under the event that the token names. This
// changes no stack, no depth and no self time of a lane; it only says where trees show an event.
struct report_parents {
    // By event; all NULL when no source and no key of the capture has a token.
    // The event that an outermost one is shown under, or REPORT_NONE; of what lies in a lane, that
    // of the outermost range there.
    uint32_t *under;
    // Of start/end ranges in trees: the time without any range under them; else 0.
    uint64_t *own_ns;
    uint8_t *in_tree; // of start/end ranges: whether trees show them
    size_t unknown;   // outermost events whose token leads nowhere
    bool was_cycle;   // of a stranger's store; it was cut
};

struct report_model {
    struct report_capture *capture; // borrowed; its events are in order now
    size_t count;                   // of events
    // Of push/pop ranges; of marks and start/end ranges REPORT_NONE, 0, 0, 0. Stacks come from all
    // that is loaded, selected or not.
    uint32_t *parent;      // index of the range under it in its lane, or REPORT_NONE
    uint32_t *depth;       // ranges under it; from 0
    uint32_t *child_count; // ranges whose parent it is
    uint64_t *self_ns;     // the time in which it is the last open one of its lane
    struct report_parents parents;
    size_t selected;     // events with REPORT_SELECTED; all of them until report_select()
    uint64_t elapsed_ns; // largest start or end - smallest start, of the selected events
    int64_t selected_first_ns, selected_last_ns; // both 0 without a selected event
    size_t open_selected;                        // open ranges among them
    struct report_iterations iterations;         // none until report_iterations_init()
};

// Orders the events of the capture (start, store, globalTid, end descending, row), then computes
// the arrays. All events are selected. Returns 0 or -ENOMEM.
int report_model_build(struct report_model **model, struct report_capture *capture);
void report_model_free(struct report_model *model); // not the capture; NULL is fine

// Counts `selected` and what comes of it, after flags were changed.
void report_model_count_selected(struct report_model *model);

// A range that figures of durations count: selected, and not open.
static inline bool report_is_timed(const struct report_event *event) {
    return event->kind != REPORT_MARK && (event->flags & REPORT_SELECTED) &&
           !(event->flags & REPORT_OPEN);
}

// Whether an event, an index in the order, is a range that lasts longer than another one;
// REPORT_NONE: than none.
static inline bool report_is_longer(const struct report_capture *capture, uint32_t event,
                                    uint32_t other) {
    const struct report_event *events = capture->events;
    return report_is_timed(&events[event]) &&
           (other == REPORT_NONE ||
            report_duration(&events[event]) > report_duration(&events[other]));
}

// ---- Trees --------------------------------------------------------------------------------------

// Finds them for a capture in order, `lane_parents` being the parents of its events in their lanes,
// and sets `event` of the keys. Returns 0 or -ENOMEM; deinit is fine after both.
int report_parents_init(struct report_parents *parents, struct report_capture *capture,
                        const uint32_t *lane_parents);
void report_parents_deinit(struct report_parents *parents); // fine when zeroed

// The event that an event is shown under: the range under it in its lane, else that of another
// process; REPORT_NONE: it is outermost.
static inline uint32_t report_shown_under(const struct report_model *model, uint32_t event) {
    uint32_t parent = model->parent[event];
    return parent == REPORT_NONE && model->parents.under ? model->parents.under[event] : parent;
}

// Whether trees have a node for it: push/pop ranges, and start/end ranges that have a token of a
// parent in another process, wherever it leads, or are such a parent.
static inline bool report_is_in_tree(const struct report_model *model, uint32_t event) {
    uint8_t kind = model->capture->events[event].kind;
    return kind == REPORT_PUSH_POP ||
           (kind == REPORT_START_END && model->parents.in_tree && model->parents.in_tree[event]);
}

// The time of a node of a tree that no range directly below it has.
static inline uint64_t report_tree_self(const struct report_model *model, uint32_t event) {
    bool is_pushed = model->capture->events[event].kind == REPORT_PUSH_POP;
    return is_pushed ? model->self_ns[event] : model->parents.own_ns[event];
}

// ---- The order of events ------------------------------------------------------------------------

// Puts the events of the capture into order. Returns 0 or -ENOMEM; then they stand as before.
int report_order(struct report_capture *capture);

// ---- Names of events ----------------------------------------------------------------------------

// Names as tables and ids of instances have them: DOMAIN:MESSAGE, and :MESSAGE in the default
// domain. One text for each of capture->names, in their order. It is one block of memory: free()
// it. NULL when memory is short.
struct nvtxt_slice *report_name_texts(const struct report_capture *capture);

// A path as trees have it: the message, and DOMAIN:MESSAGE outside the default domain.
static inline struct nvtxt_slice report_step_of(const struct report_capture *capture, uint32_t name,
                                                const struct nvtxt_slice *texts) {
    bool plain = capture->names[name].domain == 0;
    return (struct nvtxt_slice){texts[name].data + plain, texts[name].len - plain};
}

// ---- Selecting ----------------------------------------------------------------------------------

// Sets REPORT_SELECTED of each event and counts them (report_model_count_selected). `since_ns` and
// `until_ns` are those of report_selection_span(). Writes one line, ended by LF, to `notes` for
// each option that selects nothing: `--nvtx-include 'step' selects nothing: …`, without `note: `.
// Returns 0; NVTXT_WRONG with a fault for an expression that is too costly and for a --source that
// names nothing; or -ENOMEM.
int report_select(struct report_model *model, const struct report_selection *selection,
                  int64_t since_ns, int64_t until_ns, struct nvtxt_buf *notes,
                  struct report_fault *fault);

// Whether each event alone says if it is selected: not what is open around it, nor a name that is
// read after all events.
bool report_selects_alone(const struct report_selection *selection);

// For report_select(), after the events are marked: leaves out the sources that the selection does
// not take, and of the others the diagnostics, errors, warnings and losses of other times than
// those of the span. Returns 0 or -ENOMEM.
int report_bad_lines_select(struct report_capture *capture,
                            const struct report_conditions *conditions, int64_t since_ns,
                            int64_t until_ns);

// Leaves out the texts of bad lines, which may be secret: of a diagnostic its code stands for its
// message, which may quote the line.
void report_bad_lines_hide(struct report_capture *capture);

// The same for events that are read in parts (report_load_options.part), with such a selection: no
// order, no model, no notes. `part` is false after the last one, when all sources are known: then a
// --source that names nothing is a fault.
int report_select_part(struct report_capture *capture, const struct report_selection *selection,
                       int64_t since_ns, int64_t until_ns, bool part, struct report_fault *fault);
