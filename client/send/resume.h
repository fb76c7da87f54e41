// SPDX-License-Identifier: Apache-2.0
//
// Sends the sessions of processes that are gone: spools, and ring files of programs with NVTX.
#pragma once

#include "client/send/transfer.h"

// Sends all spools of the folder `dir`. What cannot be sent stays, after a sentence, and does not
// stop the rest, unless there is no daemon. The worst outcome counts; a file that was damaged is
// BAD_DATA. The signals are those of client/common/signals.
enum outcome resume_sessions(struct transfer_options *options, const char *dir, struct term *term);

// The same after its ring files have become spools. A private folder of a run (client/nvtx) is
// removed when it is empty then.
enum outcome resume_folder(struct transfer_options *options, const char *dir, struct term *term);
