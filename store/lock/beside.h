// SPDX-License-Identifier: Apache-2.0
//
// A private copy of a segment that stays locked by somebody else, so that what goes on can be read
// from it: a reader of the segment itself would need its locks. What the copy lacks, because
// somebody wrote meanwhile, was not the daemon's.
#pragma once

// Copies the main file of `segment` and its log to `copy` and `copy`-wal, new files that only their
// owner may read, and which are the caller's to remove. Nobody in this process may have the segment
// open. Returns 0 or -errno.
int store_beside_copy(const char *segment, const char *copy);
