// SPDX-License-Identifier: Apache-2.0
//
// Each text is one piece of memory with its node. The list finds it by its number.
#include "protocol/table/hash.h"

#include <stdlib.h>

#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"

struct nvtxt_text {
    struct nvtxt_hash_node node;
    uint32_t number;
    size_t len;
    char data[];
};

void nvtxt_texts_deinit(struct nvtxt_texts *texts) {
    for (size_t i = 0; i < texts->count; i++) {
        free(texts->list[i]);
    }
    nvtxt_hash_deinit(&texts->by_text);
    free(texts->list);
    *texts = (struct nvtxt_texts){0};
}

static int add_text(struct nvtxt_texts *texts, struct nvtxt_slice text, uint64_t hash) {
    if (texts->count == UINT32_MAX ||
        nvtxt_grow(&texts->list, &texts->room, texts->count + 1, sizeof(struct nvtxt_text *)) < 0) {
        return nvtxt_origin(-ENOMEM);
    }
    struct nvtxt_text *added = malloc(sizeof(*added) + text.len);
    if (!added || nvtxt_hash_add(&texts->by_text, &added->node, hash) < 0) {
        free(added);
        return nvtxt_origin(-ENOMEM);
    }
    added->number = (uint32_t)texts->count;
    added->len = text.len;
    memcpy(added->data, text.len ? text.data : "", text.len);
    texts->list[texts->count++] = added;
    texts->bytes += text.len;
    return NVTXT_TEXTS_NEW;
}

int nvtxt_texts_number(struct nvtxt_texts *texts, struct nvtxt_slice text, uint32_t *number) {
    uint64_t hash = nvtxt_hash_bytes(text);
    struct nvtxt_text *known;
    NVTXT_HASH_FIND(known, node, &texts->by_text, hash,
                    nvtxt_slice_equal((struct nvtxt_slice){known->data, known->len}, text));
    *number = known ? known->number : (uint32_t)texts->count;
    return known ? 0 : add_text(texts, text, hash);
}

struct nvtxt_slice nvtxt_texts_at(const struct nvtxt_texts *texts, uint32_t number) {
    return (struct nvtxt_slice){texts->list[number]->data, texts->list[number]->len};
}
