// SPDX-License-Identifier: Apache-2.0
//
// Steps and names are arrays that grow; a hash finds a name that is there already.
#include "report/metric/program.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"

int report_program_add(struct report_expression *expression, struct report_step step) {
    if (nvtxt_grow(&expression->steps, &expression->room, expression->count + 1, sizeof(step)) <
        0) {
        free(step.owned);
        return nvtxt_origin(-ENOMEM);
    }
    expression->steps[expression->count++] = step;
    return 0;
}

static int add_name(struct report_expression *expression, struct nvtxt_hash *names,
                    struct nvtxt_slice name, uint64_t hash) {
    struct report_operand_name *made = calloc(1, sizeof(*made) + name.len + 1);
    struct report_operand_name **added =
        made ? nvtxt_add(&expression->names, &expression->name_count, sizeof(*added)) : NULL;
    if (!added) {
        free(made);
        return nvtxt_origin(-ENOMEM);
    }
    *added = made;
    memcpy(made->text, name.data, name.len);
    made->index = expression->name_count - 1;
    return nvtxt_hash_add(names, &made->node, hash);
}

int report_program_name(struct report_expression *expression, struct nvtxt_hash *names,
                        struct nvtxt_slice name, size_t *index) {
    uint64_t hash = nvtxt_hash_bytes(name);
    struct report_operand_name *found;
    NVTXT_HASH_FIND(found, node, names, hash, nvtxt_slice_equal(nvtxt_slice_of(found->text), name));
    *index = found ? found->index : expression->name_count;
    return found ? 0 : add_name(expression, names, name, hash);
}
