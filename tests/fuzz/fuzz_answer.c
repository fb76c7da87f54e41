// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a reply of the daemon. What is read is within the bytes, and is the same whatever
// lies behind them. Whole replies of the daemon itself are read as its own clients read them.
#include "tests/fuzz/replay.h"

#include <stdlib.h>
#include <string.h>

#include "lib/send/session.h"
#include "protocol/wire/reply.h"

static enum answer_type type_of(const struct nvtxt_reply *reply) {
    switch (reply->type) {
    case NVTXT_REPLY_WELCOME:
        return ANSWER_WELCOME;
    case NVTXT_REPLY_ACK:
        return ANSWER_ACK;
    case NVTXT_REPLY_END:
        return ANSWER_END;
    case NVTXT_REPLY_ERROR:
        return ANSWER_ERROR;
    default:
        return ANSWER_OTHER;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct answer answer, again;
    struct nvtxt_reply reply;
    char *copy = malloc(size ? size : 1); // of its own: to read behind it is a fault
    must(copy != NULL);
    memcpy(copy, data, size);
    bool is_one = answer_read(copy, size, &answer);
    must(answer.type <= ANSWER_ERROR && memchr(answer.code, '\0', sizeof(answer.code)));
    must(answer_read(copy, size, &again) == is_one && memcmp(&answer, &again, sizeof(answer)) == 0);
    if (is_one && nvtxt_reply_parse((struct nvtxt_slice){copy, size}, &reply) == 0 &&
        type_of(&reply) != ANSWER_OTHER && answer.type == type_of(&reply)) {
        must(answer.line == reply.line || answer.line > INT64_MAX);
    }
    free(copy);
    return 0;
}
