// SPDX-License-Identifier: Apache-2.0
//
// Peer text in the log: what is escaped, and how it is cut.
#include "daemon/base/log.h"

#include <criterion/criterion.h>
#include <string.h>

static const char *escape(size_t size, struct nvtxt_slice text) {
    static char buffer[256];
    memset(buffer, '~', sizeof(buffer));
    log_escape(buffer, size, text);
    cr_assert(size == 0 || memchr(buffer, '\0', size));
    cr_assert_eq(buffer[size], '~', "wrote past its end");
    return buffer;
}

Test(log, leaves_plain_text_as_it_is) {
    cr_assert_str_eq(escape(64, NVTXT_SLICE("a b-c/d=e")), "a b-c/d=e");
}

Test(log, escapes_control_quote_backslash_and_high_bytes) {
    cr_assert_str_eq(escape(64, NVTXT_SLICE("a\nb\"c\\d\0\xff\x1b")),
                     "a\\x0ab\\x22c\\x5cd\\x00\\xff\\x1b");
}

Test(log, cuts_at_every_size_with_dots) {
    for (size_t size = 1; size < 40; size++) {
        const char *text = escape(size, NVTXT_SLICE("\n\n\n\n\n\n\n\n\n\n"));
        cr_assert_lt(strlen(text), size);
        if (size > 8) {
            cr_assert_str_eq(text + strlen(text) - 3, "...");
        }
    }
}
