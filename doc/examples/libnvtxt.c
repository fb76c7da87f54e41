// SPDX-License-Identifier: Apache-2.0
//
// A program that annotates itself with libnvtxt, nvtxt(3):
//
//   cc libnvtxt.c -o example $(pkg-config --cflags --libs nvtxt)
//   ./example
#include <nvtxt.h>
#include <stdio.h>

static struct nvtxt_domain *domain;

static unsigned long sum_of_squares(unsigned count) {
    struct nvtxt_attr attr = {.size = sizeof(attr)};
    attr.message = "sum of squares";
    attr.category = 1;
    attr.color = 0xFF00A000;
    attr.value_kind = NVTXT_U32;
    attr.value.u32 = count;
    nvtxt_push_ex(domain, &attr);
    unsigned long sum = 0;
    for (unsigned i = 1; i <= count; i++) {
        sum += (unsigned long)i * i;
    }
    nvtxt_pop_ex(domain, "{\"method\":\"loop\"}");
    return sum;
}

int main(void) {
    domain = nvtxt_domain_get("example");
    nvtxt_name_category(domain, 1, "arithmetic");
    const struct nvtxt_string *counter = nvtxt_string_get("rounds");
    uint64_t all = nvtxt_start("all rounds"); // any thread may end it
    for (unsigned round = 1; round <= 3; round++) {
        printf("%lu\n", sum_of_squares(round * 1000));
        nvtxt_sample_i64(domain, counter, round);
    }
    nvtxt_mark("the last round is done");
    nvtxt_end(all);
    return 0;
}
