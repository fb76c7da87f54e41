// SPDX-License-Identifier: Apache-2.0
//
// The file is another program's: at most some bytes of a regular file are read, and a number must
// be one to the last digit.
#include "store/segment/store_id.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/base/origin.h"
#include "store/segment/store_id.h"

#define ID_LEN (STORE_ID_SIZE - 1)
#define DIGITS_MAX 18 // as in the name of a segment

enum store_shipped store_shipped_parse(struct nvtxt_slice text, const char *store_id,
                                       uint64_t *number) {
    uint64_t value = 0;
    size_t at = ID_LEN + 1;
    *number = 0;
    if (text.len <= at || text.data[ID_LEN] != ' ') {
        return STORE_SHIPPED_WRONG;
    }
    for (; at < text.len && text.data[at] >= '0' && text.data[at] <= '9'; at++) {
        value = value * 10 + (uint64_t)(text.data[at] - '0');
    }
    size_t digits = at - ID_LEN - 1;
    if (digits == 0 || digits > DIGITS_MAX || at + 1 != text.len || text.data[at] != '\n') {
        return STORE_SHIPPED_WRONG;
    }
    if (strlen(store_id) != ID_LEN || memcmp(text.data, store_id, ID_LEN) != 0) {
        return STORE_SHIPPED_OTHER;
    }
    *number = value;
    return STORE_SHIPPED_KNOWN;
}

int store_shipped_read(const char *file, const char *store_id, uint64_t *number) {
    char text[ID_LEN + DIGITS_MAX + 4];
    struct stat status;
    *number = 0;
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return nvtxt_origin(-errno);
    }
    bool is_file = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    ssize_t got = is_file ? read(fd, text, sizeof(text)) : 0;
    int r = got < 0 ? nvtxt_origin(-errno) : 0;
    close(fd);
    return r ?: (int)store_shipped_parse((struct nvtxt_slice){text, (size_t)got}, store_id, number);
}
