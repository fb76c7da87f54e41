// SPDX-License-Identifier: Apache-2.0
//
// The data of the pictures, made by a thread of its own while others compute what the page says:
// packing it takes about as long as that. The thread only reads the model.
#pragma once

#include "protocol/base/slice.h"
#include "report/model/model.h"

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
