// SPDX-License-Identifier: Apache-2.0
//
// Prints what the tables of ship/ promise (nvtxt-compat(7)), as core_tables.c does: the keys of its
// configuration, and its metrics, whose text follows a line "prometheus".
#include "ship/conf.h"
#include "ship/tools/tools.h"
#include "tests/compat/keys.h"

int main(void) {
    struct nvtxt_buf out = {0};
    print_keys("nvtxt-ship.conf", &ship_conf_table);
    metrics_write(&out, &(struct status){.store = "s"});
    printf("prometheus\n%.*s", (int)out.len, out.data);
    nvtxt_buf_deinit(&out);
    return 0;
}
