// SPDX-License-Identifier: Apache-2.0
#include <criterion/criterion.h>
#include <unistd.h>

#include "ship/engine/identity.h"
#include "ship/engine/lease.h"

static bool alive(int64_t pid, const char *start) {
    return pid == 7 && strcmp(start, "100") == 0;
}

static enum lease_state judge(const char *holder, int64_t age_ms) {
    return lease_judge(holder, "m:b:4026531836:9:200", age_ms, 30000, alive);
}

Test(ship_lease, is_free_without_a_holder_and_ours_for_ourselves) {
    cr_assert_eq(judge(NULL, 0), LEASE_FREE);
    cr_assert_eq(judge("m:b:4026531836:9:200", 99999), LEASE_OURS);
}

Test(ship_lease, of_a_process_that_is_gone_is_free_at_once) {
    cr_assert_eq(judge("m:b:4026531836:7:100", 0), LEASE_TAKEN);
    cr_assert_eq(judge("m:b:4026531836:8:100", 0), LEASE_DEAD);
    cr_assert_eq(judge("m:b:4026531836:7:101", 0), LEASE_DEAD); // its pid came again
}

Test(ship_lease, of_another_machine_boot_or_namespace_is_waited_for) {
    static const char *const holders[] = {"n:b:4026531836:8:100",   "m:c:4026531836:8:100",
                                          "m:b:4026531837:8:100",   "mm:b:4026531836:8:100",
                                          "m:b:4026531836:8:100:1", "m:b:4026531836:8",
                                          "m:b:4026531836:x:100",   "",
                                          "m:b:4026531836::100",    "somebody"};
    for (size_t i = 0; i < sizeof(holders) / sizeof(holders[0]); i++) {
        cr_assert_eq(judge(holders[i], 29999), LEASE_TAKEN, "%s", holders[i]);
        cr_assert_eq(judge(holders[i], 30000), LEASE_OLD, "%s", holders[i]);
    }
}

Test(ship_lease, names_this_process) {
    char self[LEASE_HOLDER_SIZE];
    lease_self(self);
    cr_assert_eq(lease_pid(self), getpid());
    const char *start = strrchr(self, ':') + 1;
    cr_assert(lease_is_alive(getpid(), start), "%s", self);
    cr_assert_not(lease_is_alive(getpid(), "1"));
    cr_assert_not(lease_is_alive(INT64_MAX, start));
    cr_assert_eq(lease_pid("a:b:c:d:e"), 0);
    cr_assert_eq(lease_pid("a:b:c:99999999999999999999:1"), 0);
}

Test(ship_identity, makes_an_object_of_labels) {
    struct nvtxt_buf json = {0};
    identity_labels(&json, "");
    cr_assert_str_eq(json.data, "{}");
    nvtxt_buf_clear(&json);
    identity_labels(&json, "a=1\nb=\"x\"=y\nc=");
    cr_assert_str_eq(json.data, "{\"a\":\"1\",\"b\":\"\\\"x\\\"=y\",\"c\":\"\"}");
    nvtxt_buf_deinit(&json);
}
