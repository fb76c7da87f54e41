// SPDX-License-Identifier: Apache-2.0
//
// Writes down what an interpreter hands on as text, one line each: so a test compares it with text.
// What is zero or empty is left out:
//
//   mark 7.8 100..100 'text' category=1 color=FF000000 domain='D' int=1 real=1.5
//   push 7.8 100..200 'text' unclosed seq=1          start 7.8 100..200 'text' by=7.9
//   name category 5 'text' domain='D' at 100 7.8     name thread 7.8 'text' at 100 7.8
//   name process 7 'text'                            name domain 'text' at 100 7.8
//   3:9 error loading end-without-start
#pragma once

#include "protocol/interp/interp.h"

struct recorder {
    struct nvtxt_sink sink; // for the interpreter; its context is the recorder
    char text[1 << 16];     // what was handed on since the last recorder_take
    size_t len;
    unsigned fail_after; // when not 0: the call of the sink that returns -EIO, counted down
};

void recorder_init(struct recorder *recorder);

// Asserts that the text is `wanted` and forgets it. `where` is for the message.
void recorder_take(struct recorder *recorder, const char *where, const char *wanted);

// Runs lines, separated by LF, through an interpreter; asserts that each returns 0.
void recorder_run(struct recorder *recorder, struct nvtxt_interp *interp, const char *lines);
