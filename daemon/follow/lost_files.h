// SPDX-License-Identifier: Apache-2.0
//
// The search for followed files that lost their names. A file whose name is gone may have another
// one, also in another folder: it is believed gone only when a list of all folders that was made
// since then, and every event up to that list, do not show it. A search makes such a list of all
// folders. A file that loses its name during a search waits for the next one. Loop thread only.
#pragma once

struct lost_files;
struct watch;

// Sets the callbacks of the watch that folders call.
void lost_files_init(struct lost_files *lost, struct watch *watch);
void lost_files_close(struct lost_files *lost);

void lost_files_search(struct lost_files *lost); // lists all folders, unless a search is under way
