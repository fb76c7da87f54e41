// SPDX-License-Identifier: Apache-2.0
//
// Losses of one source and one reason are one note. When all notes are taken, the last one counts
// every further loss, and says no more whose they are.
#include "daemon/base/loss_notes.h"

#include <string.h>

#include "store/value/batch.h"

void losses_note(struct losses *losses, const struct loss *loss) {
    for (size_t i = 0; i < losses->count; i++) {
        struct loss *other = &losses->waiting[i];
        if (other->source_id == loss->source_id && other->uid == loss->uid &&
            other->pid == loss->pid && strcmp(other->reason, loss->reason) == 0) {
            other->count += loss->count;
            return;
        }
    }
    if (losses->count < LOSSES_WAITING) {
        losses->waiting[losses->count++] = *loss;
        return;
    }
    struct loss *last = &losses->waiting[LOSSES_WAITING - 1];
    last->source_id = last->pid = 0;
    last->uid = -1;
    last->count += loss->count;
}

int losses_write(struct losses *losses, struct store_batch *batch) {
    size_t done = 0;
    int r = 0;
    for (; done < losses->count; done++) {
        const struct loss *loss = &losses->waiting[done];
        r = store_batch_loss(batch, loss->at_ns, loss->source_id, loss->uid, loss->pid,
                             loss->reason, loss->count);
        if (r < 0) {
            break;
        }
    }
    losses->count -= done;
    memmove(losses->waiting, losses->waiting + done, losses->count * sizeof(losses->waiting[0]));
    return r;
}
