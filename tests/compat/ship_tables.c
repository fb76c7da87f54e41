// SPDX-License-Identifier: Apache-2.0
//
// Prints what the tables of ship/ promise (nvtxt-compat(7)), as core_tables.c does: the keys of its
// configuration, what its status is in JSON, and its metrics, whose text follows a line
// "prometheus".
#include "ship/conf.h"
#include "ship/tools/tools.h"
#include "tests/compat/keys.h"

int main(void) {
    struct nvtxt_buf out = {0};
    print_keys("nvtxt-ship.conf", &ship_conf_table);
    const struct status status = {
        .store = "s", .has_lag = true, .shipper = "h", .node = "n", .is_known = true};
    status_write(&out, &status, true);
    printf("messages\tstatus: %.*s", (int)out.len, out.data);
    nvtxt_buf_clear(&out);
    metrics_write(&out, &status);
    printf("prometheus\n%.*s", (int)out.len, out.data);
    nvtxt_buf_deinit(&out);
    return 0;
}
