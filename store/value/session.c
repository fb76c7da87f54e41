// SPDX-License-Identifier: Apache-2.0
//
// Frees what these values own. Every text was allocated on its own.
#include "store/value/session.h"

#include <stdlib.h>

void store_ranges_free(struct nvtxt_open_range *ranges, size_t count) {
    for (size_t i = 0; i < count; i++) {
        free((char *)ranges[i].text.data);
        free((char *)ranges[i].excerpt.data);
        free((char *)ranges[i].domain.data);
        free((char *)ranges[i].json.data);
    }
    free(ranges);
}

void store_session_deinit(struct store_session *session) {
    free(session->name);
    free(session->display_name);
    free(session->state);
    for (size_t i = 0; i < session->part_count; i++) {
        free((char *)session->parts[i].data);
    }
    free(session->parts);
    store_ranges_free(session->ranges, session->range_count);
    free(session->diags);
    *session = (struct store_session){0};
}

void store_file_deinit(struct store_file *file) {
    free(file->path);
    *file = (struct store_file){0};
}

void store_files_free(struct store_file_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        store_file_deinit(&list->files[i]);
    }
    free(list->files);
    *list = (struct store_file_list){0};
}
