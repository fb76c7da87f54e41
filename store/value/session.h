// SPDX-License-Identifier: Apache-2.0
//
// What a store knows of a session or of a followed file, so that somebody can go on with it.
#pragma once

#include "store/value/source.h"

// The place of a session in the order of a search: the one that was seen longest ago is the first.
// Zeroed: before all.
struct store_session_place {
    int64_t seen_ns, row;
};

// What the store knows of a session. Deinit frees what it owns.
struct store_session {
    bool ended;   // the store has no state of it any more, only `counters` and `line`
    char how[16]; // how it ended, as in NVTXT_SOURCES.ended
    int64_t source_id;
    int64_t uid;   // -1 when not known
    int64_t pid;   // of the process that began it; 0 when not known
    uint64_t line; // last committed line
    int64_t opened_ns;
    struct nvtxt_counters counters;
    char *name, *display_name; // owned, may be NULL
    char *state;               // owned JSON text; NULL when ended
    struct nvtxt_slice *parts; // owned with their texts: the parts of the state, in order
    size_t part_count;
    bool elsewhere;                  // the active segment does not have it: an earlier one has
    struct nvtxt_open_range *ranges; // owned with their texts, in the order of seq
    size_t range_count;
    struct store_session_diag {
        uint64_t line;
        uint32_t column;
        char severity[16], stage[16], code[64];
        char message[NVTXT_DIAG_MESSAGE_SIZE];
    } *diags; // owned: diagnostics of lines after `acked`, in order
    size_t diag_count;
};
void store_session_deinit(struct store_session *session);

// Frees ranges with texts of their own, such as those of a session.
void store_ranges_free(struct nvtxt_open_range *ranges, size_t count);

// What the store knows of a followed file. Deinit frees what it owns.
struct store_file {
    int64_t source_id;
    struct store_followed at; // its path is NULL
    char *path;               // owned
    bool ended;               // its source is closed; it is open again when the file grows
    int64_t opened_ns, closed_ns;
    struct nvtxt_counters counters;
};
void store_file_deinit(struct store_file *file);

struct store_file_list {
    struct store_file *files; // owned, by source id
    size_t count;
};
void store_files_free(struct store_file_list *list);
