// SPDX-License-Identifier: Apache-2.0
//
// Which followed file is worked on next. A file that may have changed is wanted: it waits until
// others before it had a step, and is busy until its own step is over. A file at its end rests: it
// stays open for a while, in case it grows. A file that could not be worked on, for want of memory
// or descriptors, is wanted again soon. What a step does is not known here: the callback
// watch->run. Loop thread only.
#pragma once

#include <stdbool.h>

struct follow;
struct watch;

void schedule_start(struct watch *watch); // after its callbacks were set
void schedule_stop(struct watch *watch);

void schedule_want(struct follow *follow); // it may have changed

// A step is over. `more`: the next one can begin at once. May free the follow.
void schedule_done(struct follow *follow, bool more);
void schedule_retry(struct follow *follow);
void schedule_rest(struct follow *follow); // its end was reached
void schedule_unrest(struct follow *follow);

// No step begins in between, so no follow is freed while all of them are walked over. The result of
// schedule_pause() is for schedule_resume().
bool schedule_pause(struct watch *watch);
void schedule_resume(struct watch *watch, bool before);
