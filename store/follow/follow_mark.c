// SPDX-License-Identifier: Apache-2.0
//
// Two questions of a caller that reads the store by itself: is there anything new, and how much is
// there. Each opens a segment, asks in one transaction, and closes it: nothing of a segment is in
// use in between, so one that was removed gives its room back at once.
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/base/origin.h"
#include "store/follow/follow.h"
#include "store/follow/follow_state.h"
#include "store/value/codes.h"

// Ids only grow. An open range comes or goes without a batch.
static const char *const newest_rows[] = {
    "SELECT ifnull(max(id), 0) FROM NVTXT_BATCHES",
    "SELECT ifnull((SELECT committedNs FROM NVTXT_BATCHES ORDER BY id DESC LIMIT 1), 0)",
    "SELECT ifnull(max(rowid), 0) FROM NVTXT_DIAGNOSTICS",
    "SELECT ifnull(max(rowid), 0) FROM NVTXT_LOSSES",
    "SELECT count(*) FROM NVTXT_OPEN_RANGES",
    "SELECT ifnull(max(start), 0) FROM NVTXT_OPEN_RANGES",
};
#define NEWEST_ROWS (sizeof(newest_rows) / sizeof(newest_rows[0]))

// Marks, push/pop and start/end ranges; the other rows are names.
static const char *const events_of_segment[] = {
    "SELECT count(*) FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60)"};

int store_follow_mark(struct store_follow *follow, struct store_mark *mark) {
    struct store_follow_facts facts;
    struct stat status;
    int64_t found[NEWEST_ROWS];
    *mark = (struct store_mark){0};
    int r = store_follow_refresh(follow);
    if (r != STORE_DONE) {
        return r;
    }
    const struct store_segment *newest = &follow->list.rows[follow->list.count - 1];
    r = store_follow_ask(follow, newest, newest_rows, NEWEST_ROWS, found, &facts);
    if (r != STORE_DONE || stat(newest->path, &status) < 0) {
        return access(newest->path, F_OK) < 0 ? STORE_NOT_FOUND : r ?: STORE_IO;
    }
    *mark = (struct store_mark){
        .committed_ns = found[1],
        .file = {(int64_t)newest->number, (int64_t)status.st_dev, (int64_t)status.st_ino},
        .rows = {found[0], found[2], found[3], found[4], found[5]},
    };
    return STORE_DONE;
}

int store_follow_count(struct store_follow *follow, int64_t *events) {
    struct store_follow_facts facts;
    *events = 0;
    int r = store_follow_refresh(follow);
    for (size_t i = 0; r == STORE_DONE && i < follow->list.count; i++) {
        const struct store_segment *segment = &follow->list.rows[i];
        int64_t count = 0;
        r = store_follow_ask(follow, segment, events_of_segment, 1, &count, &facts);
        r = r != STORE_DONE && access(segment->path, F_OK) < 0 ? STORE_DONE : r; // retention
        *events += r == STORE_DONE ? count : 0;
    }
    return r;
}
