// SPDX-License-Identifier: Apache-2.0
//
// One pass. `\` and the byte after it are one unit: the byte is never special.
#include "report/select/filter_text.h"

#include <string.h>

static bool is_one_of(const char *set, char byte) {
    return byte != '\0' && strchr(set, byte);
}

size_t report_chars_read(struct nvtxt_slice text, size_t begin, bool is_regex,
                         struct report_char *chars, size_t *hanging) {
    const char *escapable = is_regex ? "@,/" : "@,[]/*+\\";
    size_t count = 0;
    *hanging = 0;
    for (size_t i = begin; i < text.len; i++) {
        bool escape = text.data[i] == '\\';
        if (escape && i + 1 == text.len) {
            *hanging = i + 1;
        } else if (escape && is_one_of(escapable, text.data[i + 1])) {
            i++;
            chars[count++] = (struct report_char){text.data[i], false, i};
            continue;
        } else if (escape && is_regex) {
            chars[count++] = (struct report_char){text.data[i], false, i + 1};
            i++;
        }
        bool special = !escape && is_one_of("@,[]/*+", text.data[i]);
        chars[count++] = (struct report_char){text.data[i], special, i + 1};
    }
    return count;
}
