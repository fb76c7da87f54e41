// SPDX-License-Identifier: Apache-2.0
//
// Open addressing: four of five places are taken at most, and a pair stands at the first free place
// from that of its hash value on.
#include "report/ncurep/numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/hash.h"

void report_numbers_deinit(struct report_numbers *numbers) {
    free(numbers->places);
    *numbers = (struct report_numbers){.places = NULL};
}

int report_numbers_reset(struct report_numbers *numbers, size_t count) {
    size_t wanted = count + count / 4 + 1;
    if (wanted > numbers->room) {
        report_numbers_deinit(numbers);
        numbers->places = calloc(wanted, sizeof(*numbers->places));
        numbers->room = numbers->places ? wanted : 0;
        numbers->count = numbers->room;
        return numbers->places ? 0 : -ENOMEM;
    }
    numbers->count = wanted;
    memset(numbers->places, 0, wanted * sizeof(*numbers->places));
    return 0;
}

static struct report_number *place_of(const struct report_numbers *numbers, uint32_t group,
                                      uint64_t key) {
    const uint64_t both[2] = {group, key};
    size_t at =
        nvtxt_hash_bytes((struct nvtxt_slice){(const char *)both, sizeof(both)}) % numbers->count;
    while (numbers->places[at].value != 0 &&
           (numbers->places[at].key != key || numbers->places[at].group != group)) {
        at = at + 1 < numbers->count ? at + 1 : 0;
    }
    return &numbers->places[at];
}

uint32_t *report_numbers_at(struct report_numbers *numbers, uint32_t group, uint64_t key) {
    struct report_number *place = place_of(numbers, group, key);
    place->key = key;
    place->group = group;
    return &place->value;
}

uint32_t report_numbers_find(const struct report_numbers *numbers, uint32_t group, uint64_t key) {
    return numbers->count > 0 ? place_of(numbers, group, key)->value : 0;
}
