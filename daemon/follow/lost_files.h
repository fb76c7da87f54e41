// SPDX-License-Identifier: Apache-2.0
//
// The search for followed files that lost their names. One whose name went may have another one,
// also in another folder: it is believed gone only when a list of all folders that was made since
// then, and every event that came until it was made, do not show it. A round is such a list. What
// was lost while one was made waits for the next.
//
// Part of a watch. Loop thread only.
#pragma once

struct search;
struct watch;

// Sets the callbacks of the watch that folders call.
void search_init(struct search *search, struct watch *watch);
void search_close(struct search *search); // once, after search_init()

void search_begin(struct search *search); // looks everywhere, unless it does so already
