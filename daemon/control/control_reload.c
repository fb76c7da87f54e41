// SPDX-License-Identifier: Apache-2.0
//
// The control command `reload`.
#include "daemon/control/control.h"
#include "daemon/reload.h"

static json_t *names(const struct conf_key *const *keys, size_t count) {
    json_t *list = json_array();
    for (size_t i = 0; list && i < count; i++) {
        json_array_append_new(list, json_string(keys[i]->name));
    }
    return list;
}

void control_reload(struct control_call *call) {
    struct reload_result result;
    if (reload_run(call->server->reload, &result) != 0) {
        control_fail(call, NVTXT_CTL_FAILED, result.why);
        return;
    }
    control_reply(call,
                  json_pack("{s:o, s:o}", "applied", names(result.applied, result.applied_count),
                            "needs_restart", names(result.waiting, result.waiting_count)));
}
