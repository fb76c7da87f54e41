// SPDX-License-Identifier: Apache-2.0
//
// The thread writes into memory, and takes no signals: those are for the thread that waits. Items
// are freed as soon as the data has what they say.
#include "report/page/timeline.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#define MANY 50000 // events that are worth a thread

struct page_drawing {
    const struct report_model *model;
    size_t most, single;
    struct nvtxt_out out; // to memory
    uint32_t *names;      // owned; of page_data()
    int result;
    pthread_t thread;
    bool is_running;
};

static void *draw(void *context) {
    struct page_drawing *drawing = context;
    struct page_items items;
    int r = page_items_init(&items, drawing->model, drawing->most);
    r = r ?: page_data(&drawing->out, drawing->model, &items, &drawing->names);
    drawing->single = items.single;
    drawing->result = r ?: drawing->out.error;
    page_items_deinit(&items);
    return NULL;
}

static bool start(struct page_drawing *drawing) {
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) {
        return false;
    }
    drawing->is_running = pthread_create(&drawing->thread, NULL, draw, drawing) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return drawing->is_running;
}

struct page_drawing *page_drawing_begin(const struct report_model *model, size_t most) {
    struct page_drawing *drawing = calloc(1, sizeof(*drawing));
    if (!drawing || nvtxt_out_init(&drawing->out, -1) != 0) {
        free(drawing);
        return NULL;
    }
    drawing->model = model;
    drawing->most = most;
    if (model->selected < MANY || !start(drawing)) {
        draw(drawing);
    }
    return drawing;
}

static void wait_for(struct page_drawing *drawing) {
    if (drawing->is_running) {
        pthread_join(drawing->thread, NULL);
        drawing->is_running = false;
    }
}

int page_drawing_end(struct page_drawing *drawing, struct nvtxt_slice *data, size_t *single) {
    wait_for(drawing);
    *data = (struct nvtxt_slice){drawing->out.data, drawing->out.len};
    *single = drawing->single;
    return drawing->result;
}

uint32_t *page_drawing_names(struct page_drawing *drawing) {
    return drawing->names;
}

void page_drawing_free(struct page_drawing *drawing) {
    if (drawing) {
        wait_for(drawing);
        nvtxt_out_deinit(&drawing->out);
        free(drawing->names);
        free(drawing);
    }
}
