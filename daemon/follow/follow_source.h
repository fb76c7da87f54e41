// SPDX-License-Identifier: Apache-2.0
//
// The source of a followed file: a new one, or with its state from the store; and its release.
// While it is in memory it is live->source. Loop thread only.
#pragma once

struct follow;
struct job;

int follow_source_open(struct follow *follow); // a new one; returns 0 or -ENOMEM

// Writes its state and counters into the open batch and frees it. Does nothing when there is none.
void follow_source_drop(struct follow *follow);

// Asks the store for the state of `source_id`. Calls `on_loaded` with a job whose context is the
// follow and whose result is that of store_file_load(); on_loaded frees it by
// follow_source_loaded(). Returns 0 or -ENOMEM.
int follow_source_load(struct follow *follow, void (*on_loaded)(struct job *job));

// The source and the place from a job that is STORE_DONE. Returns an nvtxt_restore_result or
// -errno.
int follow_source_restore(struct follow *follow, const struct job *job);

// After NVTXT_RESTORE_BAD: the follow is stuck. Its source ends with what its rows say, and that is
// written down as a loss, if an earlier run has not done so. Returns 0 or -ENOMEM (nothing was
// done).
int follow_source_give_up(struct follow *follow, const struct job *job);

void follow_source_loaded(struct job *job); // frees it

// Closes the file and puts the source's state into the open batch. Not while it is busy.
void follow_release(struct follow *follow);

// Memory ran out for its source: frees it; what the store has of it counts.
void follow_fail(struct follow *follow);
