// SPDX-License-Identifier: Apache-2.0
//
// The way back: a plain store of rows that a follower handed out and that were kept elsewhere, as
// nvtxt-import makes one. Rows get new numbers, and the store a STORE_ID of its own. Sources and
// domains keep their ids, and events their order. Memory does not grow with the rows.
//
// Events come first, in their order; then everything else, once each, and threads before
// categories. What a follower does not hand out is not there: sessions, open ranges, clocks, and
// names of resources and counters.
//
// Functions return what those of follow.h do; the sentence is in store_rebuild_error().
#pragma once

#include "store/follow/follow_rows.h"

struct store_rebuild;

// Makes the file, which must not exist or be empty, with this mode. On failure `*rebuild` is NULL.
int store_rebuild_open(struct store_rebuild **rebuild, const char *path, uint32_t mode, char *error,
                       size_t size);
// After a failure, or before store_rebuild_finish(), the file is of no use. NULL is fine.
void store_rebuild_close(struct store_rebuild *rebuild);
const char *store_rebuild_error(const struct store_rebuild *rebuild);

// Its row and batch do not count.
int store_rebuild_event(struct store_rebuild *rebuild, const struct store_follow_event *event);

// The key of the event that was added last; its row does not count.
int store_rebuild_key(struct store_rebuild *rebuild, const struct store_follow_key *key);

int store_rebuild_source(struct store_rebuild *rebuild, const struct store_follow_source *source);
int store_rebuild_diagnostic(struct store_rebuild *rebuild,
                             const struct store_follow_diagnostic *row);
int store_rebuild_loss(struct store_rebuild *rebuild, const struct store_follow_loss *row);
int store_rebuild_domain(struct store_rebuild *rebuild, const struct store_follow_domain *row);
int store_rebuild_process(struct store_rebuild *rebuild, const struct store_follow_name *row);
int store_rebuild_thread(struct store_rebuild *rebuild, const struct store_follow_name *row);
int store_rebuild_category(struct store_rebuild *rebuild, const struct store_follow_category *row);

// Makes the store complete: threads and processes without a name get their default names, and
// sources count the events that are there. `only_used`: sources without any row go. The caller
// syncs the file.
int store_rebuild_finish(struct store_rebuild *rebuild, bool only_used);
