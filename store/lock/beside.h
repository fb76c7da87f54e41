// SPDX-License-Identifier: Apache-2.0
//
// A private copy of a segment that another process keeps locked, so that the next segment can take
// over what goes on. A reader of the segment itself would need its locks. What the other process
// writes during the copy may be missing in it. The daemon's own data are complete: the daemon
// writes nothing meanwhile.
#pragma once

// Copies the main file of `segment` and its log to `copy` and `copy`-wal, new files that only their
// owner may read, and which are the caller's to remove. Nobody in this process may have the segment
// open. Returns 0 or -errno.
int store_beside_copy(const char *segment, const char *copy);
