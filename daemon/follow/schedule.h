// SPDX-License-Identifier: Apache-2.0
//
// Which followed file is worked on next. A file that may have changed is wanted: it waits until
// others before it had a step, and is busy until its own is over. A file at its end rests: it stays
// open for a while, in case it goes on. One that could not be worked on for want of something is
// wanted again soon. Knows files only as what waits, is busy or rests; what a step is, is the
// callback watch->run. Loop thread only.
#pragma once

#include <stdbool.h>

struct follow;
struct watch;

void schedule_start(struct watch *watch); // its callbacks are set before
void schedule_stop(struct watch *watch);

void schedule_want(struct follow *follow); // it may have changed

// A step is over. `more`: there is more to do at once. The follow may be freed.
void schedule_done(struct follow *follow, bool more);
void schedule_retry(struct follow *follow);
void schedule_rest(struct follow *follow); // it is at its end
void schedule_unrest(struct follow *follow);

// While all follows are walked over none of them is to go: what becomes ready waits until the end.
// What hold returns is for let_go.
bool schedule_hold(struct watch *watch);
void schedule_let_go(struct watch *watch, bool before);
